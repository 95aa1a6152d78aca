/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef CONTENDER_H
#define CONTENDER_H

/* Whoever takes part: a composition of jalloc's, an allocator of another library, or a malloc. Each is called as its
 * user would call it, with nothing in between but a branch that is the same for all. */

#include <stdbool.h>
#include <stddef.h>

#include "../mallocs.h"
#include "../peer.h"
#include "jalloc/allocator.h"
#include "upstream.h"

typedef enum contender_kind_t { CONTENDER_JALLOC, CONTENDER_PEER, CONTENDER_MALLOC } contender_kind_t;

typedef struct contender {
    const char *name; /* of jalloc: the composition */
    contender_kind_t kind;
    bool aside;          /* for comparison; no peer */
    size_t alignment;    /* that is asked of jalloc; 0: its granule. The others have no choice */
    bench_malloc_t heap; /* a malloc's functions */
    const bench_peer_t *peer;

    /* While it is made. */
    upstream_t upstream; /* a malloc has its own */
    jallocator_t *below, *allocator;
    void *state; /* the peer's */
} contender_t;

/* A new one, with nothing reserved. False: not to be had, and said so on stderr; with JSTATUS_INVALID_CONFIGURATION in
 * *status where jalloc has no such kind. */
bool contender_make(contender_t *contender, jstatus_t *status);
/* Nothing of it may be live. False: jalloc says that something is. */
bool contender_unmake(contender_t *contender);

static inline void *contender_allocate(const contender_t *c, size_t bytes) {
    if (c->kind == CONTENDER_JALLOC) {
        void *pointer = NULL;
        (void)jallocator_allocate(c->allocator, bytes, c->alignment, NULL, &pointer);
        return pointer;
    }
    return c->kind == CONTENDER_PEER ? c->peer->allocate(c->state, bytes) : c->heap.allocate(bytes);
}

/* False: refused. */
static inline bool contender_deallocate(const contender_t *c, void *pointer, size_t bytes) {
    if (c->kind == CONTENDER_JALLOC)
        return jallocator_deallocate(c->allocator, pointer, bytes, NULL) == JSTATUS_SUCCESS;
    if (c->kind == CONTENDER_PEER)
        c->peer->deallocate(c->state, pointer, bytes);
    else
        c->heap.deallocate(pointer);
    return true;
}

#endif
