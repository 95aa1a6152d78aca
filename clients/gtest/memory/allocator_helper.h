/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_ALLOCATOR_HELPER_H
#define JALLOC_CLIENTS_GTEST_ALLOCATOR_HELPER_H

/* Calls of an allocator that are expected to succeed, in one word, and the plainest allocator. */

#include "jalloc/allocator.h"
#include "jtest.h"

#include <stdlib.h>

static inline jallocator_stats_t stats_of(jallocator_t *allocator) {
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(allocator, &stats));
    return stats;
}

static inline void *take(jallocator_t *allocator, size_t size_bytes) {
    void *pointer = NULL;
    JEXPECT_OK(jallocator_allocate(allocator, size_bytes, 0, NULL, &pointer));
    return pointer;
}

static inline void give(jallocator_t *allocator, void *pointer, size_t size_bytes) {
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, size_bytes, NULL));
}

/* Whether one of its live blocks begins there. */
static inline bool owns(const jallocator_t *allocator, const void *pointer) {
    jallocation_t block = JALLOCATION_INIT;
    return jallocator_find(allocator, pointer, &block) == JSTATUS_SUCCESS &&
           block.pointer == pointer;
}

/* A caller's functions (jallocator_ops_t): blocks are the C library's. */
static inline jstatus_t plain_allocate(void *context, size_t size_bytes, size_t alignment,
                                       jstream_t *stream, void **pointer) {
    (void)context, (void)stream;
    *pointer = aligned_alloc(alignment, (size_bytes + alignment - 1) & ~(alignment - 1));
    return *pointer != NULL ? JSTATUS_SUCCESS : JSTATUS_MEMORY_ERROR;
}
static inline jstatus_t plain_deallocate(void *context, void *pointer, size_t size_bytes,
                                         jstream_t *stream) {
    (void)context, (void)size_bytes, (void)stream;
    free(pointer);
    return JSTATUS_SUCCESS;
}

#endif
