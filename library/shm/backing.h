/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SHM_BACKING_H
#define JALLOC_SHM_BACKING_H

/* Where a segment's bytes are, and who is alive: the part that knows the operating system. It knows
 * the constants of the header (they say how large the segment is and whether it is one) and nothing
 * else of what is in it. */

#include "core/core.h"
#include "jalloc/segment.h"
#include "shm/layout.h"

typedef struct shm_backing {
    jsegment_backend_t backend;
    char *path;      /* posix, file: where it is to be found; owned. NULL otherwise */
    char *name;      /* posix, file: as given; lies in the path. NULL otherwise */
    char *temporary; /* a name that it has until it is published; owned. NULL: none */
    /* An open file description of this attachment alone: its locks say "alive". -1: none. */
    int descriptor;
    char *base;            /* the mapping, or the array */
    size_t reserved_bytes; /* of address space at base: max_bytes, or the array's */
    size_t alignment;      /* of base: a power of two, at most 2^30 */
    bool read_only;
    bool has_file;
    uint64_t pid_namespace;         /* of this process; 0: not known */
    uint64_t segment_pid_namespace; /* of the segment's creator */
} shm_backing_t;

/* Fills in the constants of a new segment: those for max_bytes and the number of slots, boot id,
 * ids, checksum. All offsets follow from the options. False: does not fit (size below
 * JSEGMENT_MIN_BYTES or no page left for data in size_bytes), or the process has no descriptor left
 * to ask for the boot id. size_bytes, max_bytes: multiples of the page. */
bool shm_constants_make(shm_constants_t *constants, size_t size_bytes, size_t max_bytes,
                        unsigned slots, bool has_file);
/* Judges a copy of constants that may be anything: success; not a segment; incompatible; corrupted;
 * stale; memory error (no descriptor to ask for the boot id). */
jstatus_t shm_constants_check(const shm_constants_t *constants);

/* Makes the memory of a new segment, reserved and mapped, but not yet under its name:
 * shm_backing_publish() does that, so that it is seen complete or not at all. All bytes of [0, the
 * first page that is handed out) are zero (an array's are zeroed here). */
jstatus_t shm_backing_create(const jsegment_options_t *options, const shm_constants_t *constants,
                             size_t size_bytes, shm_backing_t *backing);
/* posix, file: gives it its name: success; exists; ... Others: success. */
jstatus_t shm_backing_publish(shm_backing_t *backing);

/* Opens and maps one that exists, after judging file and constants (copied to *constants). The
 * statuses of jsegment_attach but no slot, busy. */
jstatus_t shm_backing_attach(const jsegment_options_t *options, shm_constants_t *constants,
                             shm_backing_t *backing);

/* Unmaps, closes: also one half made (zeroed, descriptor -1, is nothing). Takes away a temporary
 * name alone. */
void shm_backing_close(shm_backing_t *backing);

/* For removing. Opens without mapping what has the name, if it is a file that attach would take or
 * refuse only as corrupted, truncated or stale. What attach returns otherwise. */
jstatus_t shm_backing_find(jsegment_backend_t backend, const char *name, shm_backing_t *backing);
/* posix, file: takes the name away, if it still is this file's: success; not found; permission; io
 * error. With the gate taken exclusively nobody else does so meanwhile. Others: success. */
jstatus_t shm_backing_unlink(const shm_backing_t *backing);

/* Bytes of the file now; of the array; of a private segment what is reserved. 0: cannot be told. */
size_t shm_backing_size(const shm_backing_t *backing);
/* Makes [from_bytes, to_bytes) of the file usable and reserved, and the part of the page table for
 * it (the constants say where): success; memory error (no space, a limit), and then nothing has
 * changed but perhaps the file's length. A process limit (RLIMIT_FSIZE) is a status, never a
 * signal. Under the segment's lock, and the range is not in use yet, for its bytes are lost on
 * failure: whoever takes the lock over from a dead process may do it again. */
jstatus_t shm_backing_extend(shm_backing_t *backing, const shm_constants_t *constants,
                             size_t from_bytes, size_t to_bytes);
/* A new description of the same file, close-on-exec. */
jstatus_t shm_backing_reopen(const shm_backing_t *backing, int *descriptor);

/* What the system is taken to lack, so that tests see what happens then: an or of these. */
#define SHM_WITHOUT_TMPFILE 1u   /* unnamed files */
#define SHM_WITHOUT_FALLOCATE 2u /* files whose space can be reserved */
extern unsigned shm_backing_without;

/* Reads the beginning of a small file of the system's, as a text. False, and errno, where it cannot
 * be read. */
bool shm_system_read(const char *path, char *text, size_t bytes);
/* This process's pid namespace; 0: not known. */
uint64_t shm_pid_namespace(void);

/* ---- Life ---- */

/* Slots are numbers from 1. "Identity" is what a slot's claim holds without a file. */

/* With a file: takes the lock on the slot's byte: true if no other description has it. It is held
 * until the description is closed or the process dies. Safe to ask again for one that is held. */
bool shm_life_take(const shm_backing_t *backing, unsigned slot);
void shm_life_release(const shm_backing_t *backing, unsigned slot);
/* This process as a claim: pid and start time; never 0. */
uint64_t shm_life_identity(const shm_backing_t *backing, const shm_constants_t *constants);
typedef enum shm_life { SHM_ALIVE, SHM_DEAD_PROCESS, SHM_LIFE_UNKNOWN } shm_life_t;
/* Whether another process has the slot. With a file: whether somebody has its lock (asking for
 * one's own slot answers dead). Without: by the claim (0: dead). */
shm_life_t shm_life_of(const shm_backing_t *backing, unsigned slot, uint64_t claim);
/* With a file: whether anybody else has any slot. */
bool shm_life_of_any(const shm_backing_t *backing);

/* With a file: keeps attaching and removing apart. exclusive: for removing. Held until released, or
 * closed. False: could not be had within the time. Without a file: true. */
bool shm_gate_take(const shm_backing_t *backing, bool exclusive, uint64_t timeout_ms);
void shm_gate_release(const shm_backing_t *backing);

#endif
