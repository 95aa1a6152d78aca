/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef REPLAY_TRACE_H
#define REPLAY_TRACE_H

/* A trace in memory: operations on numbered blocks, in the order of the file. What an operation
 * needs while the clock runs is in its 16 bytes, the rest lies in arrays beside them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum action { ACTION_ALLOCATE, ACTION_FREE, ACTION_FAILURE } action_t;

typedef struct operation {
    size_t size_bytes; /* never 0 */
    uint32_t block;
    uint16_t stream;       /* 0: the default stream */
    uint8_t alignment_log; /* 1 + the logarithm to base 2; 0: not said */
    uint8_t action;        /* action_t */
} operation_t;

#define NEVER UINT32_MAX

/* An allocation of the trace, or a request that failed there. */
typedef struct block {
    uint64_t address; /* in the trace; 0 of a failure */
    size_t size_bytes;
    uint32_t allocated_by, freed_by; /* operations; NEVER: lives at the end */
    uint32_t tag;
    uint16_t allocator;
} block_t;

typedef struct names {
    char **names; /* number 0 is the empty name */
    uint32_t count;
} names_t;

typedef struct trace {
    const char *path;
    operation_t *operations;
    uint64_t *times_ns; /* of each operation, from 0, never falling */
    uint16_t *threads;  /* of each operation */
    size_t operation_count;
    block_t *blocks;
    size_t block_count;

    size_t row_count;                  /* of the file, without its header */
    size_t thread_count, stream_count; /* streams: with the default one */
    names_t tags, allocators;
    bool *chosen; /* of each allocator: whether it is replayed */

    /* Of what is replayed. */
    size_t allocation_count, free_count, failure_count;
    size_t live_count, live_bytes;   /* at the end */
    size_t peak_live_bytes, peak_at; /* most that lived at once; the operation after which it did */
    /* Why the recording ended before the program did; NULL: nothing is said of it. */
    char *stopped;
    /* Rows left out: of size 0; frees of what was allocated before the trace. */
    size_t empty_count, unmatched_count;
} trace_t;

/* Reads a trace, "-" from standard input, and keeps what one allocator did (NULL: those on top of a
 * composition). Exits with a message and the line if it is not understood. */
void trace_read(trace_t *trace, const char *path, const char *allocator);
void trace_free(trace_t *trace);

/* Nanoseconds from the first operation to the last. */
uint64_t trace_duration_ns(const trace_t *trace);

static inline size_t operation_alignment(const operation_t *operation) {
    return operation->alignment_log ? (size_t)1 << (operation->alignment_log - 1) : 0;
}

/* Keeps what `allocator` did, see trace_read: the part of reading that looks at several
 * allocators. */
void trace_choose(trace_t *trace, const char *allocator);

#endif
