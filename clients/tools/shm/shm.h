/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef TOOL_SHM_H
#define TOOL_SHM_H

/* What the files of jalloc-shm have in common: a segment as it is found from outside, and how it is
 * written. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "../common/json.h"
#include "../common/tool.h"
#include "jalloc/segment.h"

typedef enum shm_state {
    SHM_IN_USE, /* a living process is attached */
    SHM_IDLE,   /* whoever was attached has detached */
    /* A process died in it, and none lives; or the machine was started again since. */
    SHM_STALE,
    SHM_POISONED,   /* it was found not to hold together */
    SHM_DAMAGED,    /* too short, or its constants do not agree with their checksum */
    SHM_FORMAT,     /* of another layout or machine */
    SHM_UNSAFE,     /* of another user, or others may write to it */
    SHM_UNREADABLE, /* the system refuses */
    SHM_MAKING,     /* the temporary name of one that is being made */
    SHM_LEFTOVER,   /* the temporary name of one whose creator died */
    SHM_FOREIGN,    /* not a segment */
    SHM_MISSING,
    SHM_STATES
} shm_state_t;

typedef struct shm_found {
    jsegment_backend_t backend; /* posix or file */
    char *name;                 /* as the library wants it */
    char *path;                 /* where the file is */
    shm_state_t state;
    jstatus_t status; /* of attaching */
    char message[256];
    jsegment_t *segment; /* attached for reading, or NULL */
    bool has_stats;
    jsegment_stats_t stats;
    unsigned alive, dead; /* of the processes attached */
    size_t file_bytes;
    uid_t owner;
    int64_t created_at, changed_at; /* seconds since 1970; 0: not known */
} shm_found_t;

/* ---- find.c ---- */

const char *shm_state_name(shm_state_t state);
const char *shm_state_text(shm_state_t state);

/* Looks at what a user names: "/name" and "name" are POSIX shared memory, whatever else has a slash
 * is a file. */
shm_found_t *shm_look(const char *argument);
void shm_found_free(shm_found_t *found); /* NULL: nothing */
/* All of ours among POSIX shared memory, by name. `hidden`: files that could not be looked into.
 * False: the folder cannot be read. */
bool shm_scan(shm_found_t ***all, size_t *count, size_t *hidden);
void shm_scan_free(shm_found_t **all, size_t count);
/* Whether anybody holds a lock on the file, as whoever is attached for writing does; also where
 * that cannot be told. */
bool shm_is_locked(const char *path);

/* Without the lock, a change half done looks as damage does, so what is found corrupted is looked
 * at again: `do status = ...; while (shm_again(status, &attempt));` from attempt 0. What is sound
 * once is so. */
bool shm_again(jstatus_t status, int *attempt);
jstatus_t shm_get_process(jsegment_t *segment, unsigned slot, jsegment_process_t *process);

/* ---- write.c ---- */

/* Text that anybody may have written: what is not printable becomes a question mark. */
void shm_print_safe(FILE *file, const char *text, int width);
/* An error about a file; `what` may be "". */
void shm_complain(const char *path, const char *what, const char *why);
typedef struct shm_text {
    char text[48];
} shm_text_t;
shm_text_t shm_size_text(uint64_t bytes);
shm_text_t shm_time_text(int64_t seconds);
shm_text_t shm_user_text(uid_t user);

/* ---- show.c ---- */

int shm_show(shm_found_t *found, bool json, bool map, const char *svg);

#endif
