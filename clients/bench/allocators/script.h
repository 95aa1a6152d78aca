/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef SCRIPT_H
#define SCRIPT_H

/* What is asked of an allocator, written down beforehand, so that nothing but the asking is timed:
 * every workload is a list of allocations and frees, which one loop goes through. A script ends
 * with nothing live. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contender.h"

/* Eight bytes, so that the list itself hardly shows in the caches. */
typedef struct event {
    /* Which of the blocks that are live at the same time; SCRIPT_FREE: it is freed. */
    uint32_t slot;
    uint32_t bytes; /* of a free as well */
} event_t;

#define SCRIPT_FREE ((uint32_t)1 << 31)

typedef struct script {
    char name[40];
    event_t *events;
    size_t count, capacity;
    size_t slots;                  /* most blocks that are live at the same time */
    size_t played;                 /* of a trace: events before what lives at its end is freed */
    size_t live_bytes, peak_bytes; /* as asked for; live: while it is written */
    uint32_t *live;                /* by slot, bytes of the block; 0: none. While it is written */
} script_t;

/* Allocate one, free it, again. */
script_t script_pair(size_t bytes);
/* Allocate `blocks`, free them in random order, again with another. */
script_t script_random_order(size_t bytes, size_t blocks);
/* Allocate `blocks`, free them in the same order, again. */
script_t script_burst(size_t bytes, size_t blocks);
/* The two halves of a cache's life: `blocks` of `layouts` sizes, in turn, allocated; and freed.
 * These two alone do not end as they began. */
void script_halves(size_t bytes, size_t layouts, size_t blocks, script_t *allocate,
                   script_t *release);
/* `blocks` live blocks of log-uniform size, one of which, whichever it is, is replaced again and
 * again. */
script_t script_mix(const char *name, size_t least_bytes, size_t most_bytes, size_t blocks);
/* A recorded trace, what lives at its end freed there; without requests that failed. False: it
 * cannot be played, and stderr says why. Exits where the file cannot be understood. */
bool script_read(const char *path, script_t *script);
void script_free(script_t *script);

static inline __attribute__((always_inline)) bool script_run_as(const script_t *script,
                                                                const contender_t *contender,
                                                                void **live,
                                                                contender_kind_t kind) {
    const contender_call_t call = contender->call;
    bool good = true;
    for (const event_t *e = script->events, *end = e + script->count; e < end; e++) {
        if (e->slot & SCRIPT_FREE) {
            void *pointer = live[e->slot & ~SCRIPT_FREE];
            if (__builtin_expect(pointer == NULL, 0))
                continue;
            good &= contender_deallocate(&call, pointer, e->bytes, kind);
        } else {
            void *pointer = contender_allocate(&call, e->bytes, kind);
            good &= pointer != NULL;
            live[e->slot] = pointer;
        }
    }
    return good;
}

/* Goes through a script. False: an allocation was refused (what follows of its block is left out),
 * or a free. */
static inline bool script_run(const script_t *script, const contender_t *contender, void **live) {
    return CONTENDER_LOOP(contender->call.kind, script_run_as, script, contender, live);
}

#endif
