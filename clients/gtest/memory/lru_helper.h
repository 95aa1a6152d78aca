/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_LRU_HELPER_H
#define JALLOC_CLIENTS_GTEST_LRU_HELPER_H

/* What the tests of the cache of freed blocks share: making one over the test's own allocator, and
 * asking what it keeps. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/policy.h"
#include "jalloc/provider.h"
#include "memory/allocators/lru/lru.h"

static inline jallocator_t *make_lru(jallocator_t *below, size_t layouts, size_t bytes,
                                     size_t nearest) {
    jlru_options_t options = JLRU_OPTIONS_INIT;
    options.capacity_layouts = layouts;
    options.capacity_bytes = bytes;
    options.nearest_percent = nearest;
    jallocator_t *lru = NULL;
    JEXPECT_OK(jallocator_create_lru(below, &options, &lru));
    return lru;
}

static inline jlru_counters_t counters_of(jallocator_t *lru) {
    jlru_counters_t counters = JLRU_COUNTERS_INIT;
    JEXPECT_OK(jallocator_lru_get_counters(lru, &counters));
    return counters;
}

static inline void *take_aligned(jallocator_t *lru, size_t size, size_t alignment) {
    void *pointer = NULL;
    JEXPECT_OK(jallocator_allocate(lru, size, alignment, NULL, &pointer));
    return pointer;
}

/* A kept block of that size that lies apart from those kept before. */
static inline void *keep(jallocator_t *lru, size_t size) {
    void *pointer = take(lru, size);
    give(lru, pointer, size);
    return pointer;
}

/* Whether the block is among those that the cache keeps. */
typedef struct wanted {
    const void *pointer;
    bool live, found;
} wanted_t;
static inline bool look_for(void *context, const jallocation_t *block) {
    wanted_t *wanted = context;
    wanted->found =
        wanted->found || (block->pointer == wanted->pointer && block->live == wanted->live);
    return !wanted->found;
}
static inline bool is_kept(jallocator_t *lru, const void *pointer) {
    wanted_t wanted = {pointer, false, false};
    JEXPECT_OK(jallocator_visit(lru, look_for, &wanted));
    return wanted.found;
}

static inline void destroy_lru(jallocator_t *lru) {
    JEXPECT_OK(jallocator_check(lru));
    JEXPECT_OK(jallocator_destroy(lru));
}

/* ---- An allocator between the test's own and the cache, which passes on what it is asked ---- */

static inline jstatus_t pass_allocate(void *context, size_t size_bytes, size_t alignment,
                                      jstream_t *stream, void **pointer) {
    return jallocator_allocate(context, size_bytes, alignment, stream, pointer);
}

static inline jstatus_t pass_deallocate(void *context, void *pointer, size_t size_bytes,
                                        jstream_t *stream) {
    return jallocator_deallocate(context, pointer, size_bytes, stream);
}

static inline jallocator_t *make_adaptor(jallocator_t *below, jallocator_ops_t ops) {
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    options.below = below;
    ops.struct_size = sizeof ops;
    jallocator_t *adaptor = NULL;
    JEXPECT_OK(jallocator_create(&ops, below, &options, &adaptor));
    return adaptor;
}

/* What an adopted block's function was given, and how often. */
typedef struct given {
    void *pointer;
    size_t size_bytes, count;
} given_t;

static inline void take_back(void *context, void *pointer, size_t size_bytes) {
    given_t *given = context;
    *given = (given_t){pointer, size_bytes, given->count + 1};
}

#endif
