/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_TRACE_TRACE_FILE_H
#define JALLOC_MEMORY_TRACE_TRACE_FILE_H

/* What both recorders write with: the library's (trace.c) and the preloaded one
 * (clients/tools/record), which has a copy of its own. It needs libc alone, allocates nothing, and
 * is made to stand inside programs that know nothing of it:
 *
 *   file   No descriptor is kept, so a program that closes or reuses every number it knows of meets
 *          none of ours. Each append opens the file by its absolute path, makes sure that it is the
 *          one that was begun (device, inode, and as long as it was left), writes and closes.
 *          Meanwhile the thread takes no signal and cannot be cancelled, and SIGPIPE and SIGXFSZ of
 *          the write itself are taken back.
 *   lock   Nothing is held across a fork: the lock lies in memory that a child finds zeroed. A
 *          signal handler that comes in while its thread has the lock is turned away, not kept
 *          waiting; and nobody waits for ever. */

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- Memory that a forked child finds zeroed ---- */

/* NULL: there is none. A child by fork or clone finds zeros in it, whatever its parent's threads
 * were doing; a child by vfork shares it. Linux before 4.14 cannot: there a child has a copy. */
void *ji_trace_map(size_t bytes);

/* ---- The lock ---- */

/* All zero: free, as it is in a child. */
typedef struct ji_trace_lock {
    _Atomic(uintptr_t) owner; /* a thread; 0: nobody */
    atomic_bool stuck;        /* somebody has waited in vain: from then on waits are short */
    atomic_size_t missed;     /* how often it was not had */
} ji_trace_lock_t;

/* False: this thread has it already, so this is a signal handler; or it was waited for in vain. */
bool ji_trace_lock_acquire(ji_trace_lock_t *lock);
void ji_trace_lock_release(ji_trace_lock_t *lock);
bool ji_trace_lock_is_mine(const ji_trace_lock_t *lock);

/* ---- The file ---- */

typedef struct ji_trace_file {
    char pattern[PATH_MAX]; /* as it was named, absolute; "": standard error */
    char path[PATH_MAX];    /* the pattern with "%p" replaced by the process's number */
    dev_t device;           /* of what was begun */
    ino_t inode;
    off_t size; /* as it was left, of a regular file */
} ji_trace_file_t;

/* Errors are values of errno; 0: none. This one: somebody else has the file now. */
#define JI_TRACE_NOT_OURS ESTALE

/* Names the file, relative to the present working directory. */
int ji_trace_file_name(ji_trace_file_t *file, const char *name);
bool ji_trace_file_is_per_process(const ji_trace_file_t *file); /* its name has a "%p" */
/* Opens or makes the file, empties it when it is to be begun anew, and writes the header if it is
 * empty. `child`: without a "%p" in the name, its path is the name, '.', and the process's
 * number. */
int ji_trace_file_begin(ji_trace_file_t *file, bool child, bool anew);
/* All of the bytes, or none where the file can be shortened again. */
int ji_trace_file_append(ji_trace_file_t *file, const char *bytes, size_t count);
const char *ji_trace_error_text(int error);

/* ---- Lines ---- */

typedef struct ji_trace_line {
    unsigned thread;
    uint64_t time_ns;
    /* "allocate", "allocate failure", "free"; "stopped": the last, tag says why */
    const char *action;
    uintptr_t pointer;
    size_t size_bytes;
    uintptr_t stream;
    size_t alignment;
    const char *allocator, *tag; /* the tag's first JI_TRACE_MAX_TAG characters */
} ji_trace_line_t;

#define JI_TRACE_MAX_NAME 47 /* characters of an allocator */
#define JI_TRACE_MAX_TAG 120
#define JI_TRACE_LINE_BYTES 512 /* the longest: 123 for numbers, 16 + 8, twice the names, quotes */

uint64_t ji_trace_now_ns(void);
/* Writes a line of at most JI_TRACE_LINE_BYTES, its end included; the length. */
size_t ji_trace_format(char *to, const ji_trace_line_t *line);

#endif
