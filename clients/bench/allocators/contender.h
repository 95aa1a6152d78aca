/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef CONTENDER_H
#define CONTENDER_H

/* Whoever takes part: a composition of jalloc's, an allocator of another library, or a malloc. Each
 * is called as its user would call it, with nothing in between but a branch that is the same for
 * all. */

#include <stdbool.h>
#include <stddef.h>

#include "../mallocs.h"
#include "../peer.h"
#include "jalloc/allocator.h"
#include "upstream.h"

typedef enum contender_kind_t {
    CONTENDER_JALLOC,
    CONTENDER_PEER,
    CONTENDER_MALLOC
} contender_kind_t;

/* How it is called. Small, so that a loop has a copy at hand: a contender's place in memory must
 * not matter. */
typedef struct contender_call {
    contender_kind_t kind;
    /* That is asked of jalloc; 0: its granule. The others have no choice. */
    size_t alignment;
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

static inline void *contender_allocate(const contender_call_t *c, size_t bytes) {
    if (c->kind == CONTENDER_JALLOC) {
        void *pointer = NULL;
        (void)jallocator_allocate(c->allocator, bytes, c->alignment, NULL, &pointer);
        return pointer;
    }
    return c->kind == CONTENDER_PEER ? c->peer->allocate(c->state, bytes) : c->heap_allocate(bytes);
}

/* False: refused. */
static inline bool contender_deallocate(const contender_call_t *c, void *pointer, size_t bytes) {
    if (c->kind == CONTENDER_JALLOC)
        return jallocator_deallocate(c->allocator, pointer, bytes, NULL) == JSTATUS_SUCCESS;
    if (c->kind == CONTENDER_PEER)
        c->peer->deallocate(c->state, pointer, bytes);
    else
        c->heap_deallocate(pointer);
    return true;
}

#endif
