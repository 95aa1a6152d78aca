/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef SEGMENT_CONTENDER_H
#define SEGMENT_CONTENDER_H

/* Whoever takes part: an allocator in a segment, Boost's, or a heap of each process's own. Each is
 * called as its user would call it, with nothing in between but a branch that is the same for all.
 *
 * The program makes a contender once, before its workers exist; each worker then joins it: it
 * attaches to the segment (by descriptor, as any process would), while Boost's mapping and the
 * heaps come with the fork. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../mallocs.h"
#include "boost_heap.h"
#include "jalloc/allocator.h"
#include "jalloc/segment.h"

/* Of a segment: four times what the largest workload has live. */
enum { CONTENDER_BYTES = 64 << 20 };

typedef enum contender_kind_t {
    CONTENDER_SEGMENT,   /* jshared_t, offsets */
    CONTENDER_ALLOCATOR, /* jallocator_t over one, pointers */
    CONTENDER_BOOST,
    CONTENDER_HEAP
} contender_kind_t;

/* How it is called. Small, so that a loop has a copy at hand: a contender's place in memory must
 * not matter. */
typedef struct contender_call {
    contender_kind_t kind;
    char *base; /* a block is base + its name: an offset's segment; 0 where names are addresses */
    jshared_t *shared;
    jallocator_t *allocator;
    boost_heap_t *boost;
    void *(*heap_allocate)(size_t);
    void (*heap_deallocate)(void *);
} contender_call_t;

typedef struct contender {
    const char *name;
    jallocator_threads_t threads; /* of the attachments to a segment */
    contender_call_t call;        /* as the worker that joined has it */
    jsegment_t *segment;          /* the worker's; in the program, its own */
    int descriptor;               /* of the segment, for those who join */
} contender_t;

/* Names of blocks in a contender: offsets, or addresses. 0 is none. */
typedef uint64_t block_t;

/* The program's side. False: it could not be made, and stderr says why. */
bool contender_make(contender_t *contender);
void contender_unmake(contender_t *contender);
/* Bytes that are allocated in it, by whomever; SIZE_MAX where that cannot be told. */
size_t contender_live_bytes(contender_t *contender);
/* Whether it holds together. */
bool contender_is_sound(contender_t *contender);

/* A worker's side. */
bool contender_join(contender_t *contender);
bool contender_leave(contender_t *contender);

static inline block_t contender_allocate(const contender_call_t *c, size_t bytes) {
    if (c->kind == CONTENDER_SEGMENT) {
        joffset_t offset = JOFFSET_NULL;
        (void)jshared_allocate(c->shared, bytes, 0, &offset);
        return offset;
    }
    void *pointer = NULL;
    if (c->kind == CONTENDER_ALLOCATOR)
        (void)jallocator_allocate(c->allocator, bytes, 0, NULL, &pointer);
    else
        pointer = c->kind == CONTENDER_HEAP ? c->heap_allocate(bytes)
                                            : boost_heap_allocate(c->boost, bytes);
    return (uintptr_t)pointer;
}

/* False: refused. */
static inline bool contender_deallocate(const contender_call_t *c, block_t block, size_t bytes) {
    if (c->kind == CONTENDER_SEGMENT)
        return jshared_deallocate(c->shared, block) == JSTATUS_SUCCESS;
    void *pointer = (void *)(uintptr_t)block;
    if (c->kind == CONTENDER_ALLOCATOR)
        return jallocator_deallocate(c->allocator, pointer, bytes, NULL) == JSTATUS_SUCCESS;
    if (c->kind == CONTENDER_HEAP)
        c->heap_deallocate(pointer);
    else
        boost_heap_deallocate(c->boost, pointer);
    return true;
}

static inline uint64_t *contender_memory(const contender_call_t *c, block_t block) {
    return (uint64_t *)(void *)(c->base + block);
}

#endif
