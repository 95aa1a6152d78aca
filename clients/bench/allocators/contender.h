/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef CONTENDER_H
#define CONTENDER_H

/* Whoever takes part: a composition of jalloc's, an allocator of another library, or a malloc. Each
 * is called as its user would call it, with nothing in between: alignment and stream are constants
 * where they are to a user. */

#include <stdbool.h>
#include <stddef.h>

#include "../mallocs.h"
#include "../peer.h"
#include "jalloc/allocator.h"
#include "upstream.h"

typedef enum contender_kind_t {
    CONTENDER_JALLOC,
    CONTENDER_JALLOC_AS_MALLOC, /* aligned as a malloc's blocks are, not to the granule */
    CONTENDER_PEER,
    CONTENDER_MALLOC
} contender_kind_t;

/* How it is called. Small, so that a loop has a copy at hand: a contender's place in memory must
 * not matter. */
typedef struct contender_call {
    contender_kind_t kind;
    jallocator_t *allocator; /* jalloc's, while it is made */
    const bench_peer_t *peer;
    void *state; /* the peer's, while it is made */
    void *(*heap_allocate)(size_t);
    void (*heap_deallocate)(void *);
} contender_call_t;

typedef struct contender {
    const char *name; /* of jalloc: the composition */
    bool aside;       /* for comparison; no peer */
    contender_call_t call;
    upstream_t upstream; /* while it is made; a malloc has its own */
    jallocator_t *below; /* jalloc's face of it */
} contender_t;

/* A new one, with nothing reserved. False: not to be had, and said so on stderr; with
 * JSTATUS_INVALID_CONFIGURATION in *status where jalloc has no such kind. */
bool contender_make(contender_t *contender, jstatus_t *status);
/* Nothing of it may be live. False: jalloc says that something is. */
bool contender_unmake(contender_t *contender);

static inline bool contender_is_ours(const contender_t *c) {
    return c->call.kind == CONTENDER_JALLOC || c->call.kind == CONTENDER_JALLOC_AS_MALLOC;
}

static inline __attribute__((always_inline)) void *
contender_allocate(const contender_call_t *c, size_t bytes, contender_kind_t kind) {
    void *pointer = NULL;
    switch (kind) {
    case CONTENDER_JALLOC:
        (void)jallocator_allocate(c->allocator, bytes, 0, NULL, &pointer);
        return pointer;
    case CONTENDER_JALLOC_AS_MALLOC:
        (void)jallocator_allocate(c->allocator, bytes, _Alignof(max_align_t), NULL, &pointer);
        return pointer;
    case CONTENDER_PEER: return c->peer->allocate(c->state, bytes);
    case CONTENDER_MALLOC: return c->heap_allocate(bytes);
    }
    return NULL;
}

/* False: refused. */
static inline __attribute__((always_inline)) bool contender_deallocate(const contender_call_t *c,
                                                                       void *pointer, size_t bytes,
                                                                       contender_kind_t kind) {
    switch (kind) {
    case CONTENDER_JALLOC:
    case CONTENDER_JALLOC_AS_MALLOC:
        return jallocator_deallocate(c->allocator, pointer, bytes, NULL) == JSTATUS_SUCCESS;
    case CONTENDER_PEER: c->peer->deallocate(c->state, pointer, bytes); return true;
    case CONTENDER_MALLOC: c->heap_deallocate(pointer); return true;
    }
    return false;
}

/* Calls a loop, `loop(..., kind)`, that is written once and compiled for each kind, so that it is
 * not the loop that asks who is called. */
#define CONTENDER_LOOP(kind, loop, ...)                                                            \
    ((kind) == CONTENDER_JALLOC             ? loop(__VA_ARGS__, CONTENDER_JALLOC)                  \
     : (kind) == CONTENDER_JALLOC_AS_MALLOC ? loop(__VA_ARGS__, CONTENDER_JALLOC_AS_MALLOC)        \
     : (kind) == CONTENDER_PEER             ? loop(__VA_ARGS__, CONTENDER_PEER)                    \
                                            : loop(__VA_ARGS__, CONTENDER_MALLOC))

#endif
