/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_SMALL_HELPER_H
#define JALLOC_CLIENTS_GTEST_SMALL_HELPER_H

/* What the tests of small blocks share: making one over the test's own allocator, and a thread
 * beside the test's. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/policy.h"
#include "memory/allocators/small/small.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static inline jallocator_t *make_small(jallocator_t *below, size_t largest_bytes,
                                       size_t cache_bytes) {
    jsmall_options_t options = JSMALL_OPTIONS_INIT;
    options.largest_bytes = largest_bytes;
    options.cache_bytes = cache_bytes;
    jallocator_t *allocator = NULL;
    JEXPECT_OK(jallocator_create_small(below, &options, &allocator));
    return allocator;
}
static inline jallocator_t *make_default(void) {
    return make_small(jtest_failing_allocator(), 0, 0);
}

static inline void *try_take(jallocator_t *allocator, size_t size_bytes, jstream_t *stream) {
    void *pointer = NULL;
    (void)jallocator_allocate(allocator, size_bytes, 0, stream, &pointer);
    return pointer;
}

/* On a thread of its own, to its end. */
static inline void run_thread(void *(*function)(void *), void *argument) {
    pthread_t thread;
    JASSERT_EQ(pthread_create(&thread, NULL, function, argument), 0);
    pthread_join(thread, NULL);
}

#endif
