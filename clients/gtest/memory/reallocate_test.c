/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Another size for a block, on allocators of every sort. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/adaptor.h"
#include "jalloc/allocator.h"
#include "jalloc/provider.h"

#include <string.h>

static jallocator_t *compose(const char *text) {
    jallocator_t *allocator = NULL;
    JEXPECT_OK(jallocator_compose(NULL, text, &allocator));
    return allocator;
}

JTEST(Reallocate, KeepsWhatBothSizesHold) {
    static const char *const kinds[] = {"malloc", "mmap",      "bfc",       "general",
                                        "pool",   "bfc+guard", "lru+track", "stack"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        jallocator_t *allocator = compose(kinds[k]);
        unsigned char *block = NULL, expected[5000];
        void *pointer = NULL;
        size_t size = 0;
        for (int step = 0; step < 30; ++step) {
            const size_t next = (size_t)jtest_random_between(1, sizeof expected);
            JASSERT_OK(jallocator_reallocate(allocator, size, next, 64, NULL, &pointer));
            block = pointer;
            JEXPECT_EQ((uintptr_t)block % 64, 0);
            JEXPECT_EQ(memcmp(block, expected, size < next ? size : next), 0);
            for (size_t i = 0; i < next; ++i)
                block[i] = expected[i] = (unsigned char)jtest_random();
            size = next;
        }
        JEXPECT_OK(jallocator_reallocate(allocator, size, 0, 0, NULL, &pointer));
        JEXPECT_NULL(pointer);
        JEXPECT_OK(jallocator_reallocate(allocator, 0, 0, 0, NULL, &pointer));
        JEXPECT_OK(jallocator_destroy(allocator)); /* nothing is live */
    }
}

JTEST(Reallocate, WhatIsRefusedLeavesTheBlock) {
    jallocator_t *allocator = compose("malloc+limit(limit=1000)");
    void *pointer, *inside;
    JASSERT_OK(jallocator_allocate(allocator, 400, 0, NULL, &pointer));
    memset(pointer, 7, 400);
    inside = (char *)pointer + 16;
    JEXPECT_STATUS(jallocator_reallocate(NULL, 400, 800, 0, NULL, &pointer),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_reallocate(allocator, 400, 800, 0, NULL, NULL),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_reallocate(allocator, 399, 500, 0, NULL, &pointer),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_reallocate(allocator, 400, 500, 0, NULL, &inside), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_reallocate(allocator, 400, 500, 3, NULL, &pointer),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_reallocate(allocator, 400, 700, 0, NULL, &pointer),
                   JSTATUS_MEMORY_ERROR);
    for (int i = 0; i < 400; ++i)
        JEXPECT_EQ(((unsigned char *)pointer)[i], 7);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 400, NULL));
    JEXPECT_STATUS(jallocator_reallocate(allocator, 400, 500, 0, NULL, &pointer),
                   JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_destroy(allocator));
}

static void *open_later(void *gate) {
    jtest_gate_await(gate);
    jtest_sleep_ms(20);
    jtest_gate_open(gate);
    return NULL;
}

/* Memory that is written over as soon as it is given back, whatever a stream still does with it. */
static jstatus_t scribbling_deallocate(void *context, void *pointer, size_t size_bytes,
                                       jstream_t *stream) {
    memset(pointer, 0xee, size_bytes);
    return plain_deallocate(context, pointer, size_bytes, stream);
}
static jallocator_t *make_scribbler(void) {
    jallocator_ops_t ops = JALLOCATOR_OPS_INIT;
    jallocator_t *allocator = NULL;
    ops.allocate = plain_allocate;
    ops.deallocate = scribbling_deallocate;
    JEXPECT_OK(jallocator_create(&ops, NULL, NULL, &allocator));
    return allocator;
}

/* The stream is held up before the copy: the old block must not be gone by then. */
JTEST(Reallocate, CopiesInTheOrderOfAStream) {
    static const char *const kinds[] = {"scribbler", "bfc", "general"};
    jdevice_t *host = jdevice_host();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        jallocator_t *allocator = k == 0 ? make_scribbler() : compose(kinds[k]);
        jstream_t *stream;
        void *pointer;
        pthread_t opener;
        jtest_gate_t gate = JTEST_GATE_INIT;
        JASSERT_OK(jstream_create(host, &stream));
        JASSERT_OK(jallocator_allocate(allocator, 1 << 20, 0, stream, &pointer));
        memset(pointer, 9, 1 << 20);
        JASSERT_OK(jtest_gate_block(&gate, host, stream));
        JASSERT_EQ(pthread_create(&opener, NULL, open_later, &gate), 0);
        JASSERT_OK(jallocator_reallocate(allocator, 1 << 20, 2 << 20, 0, stream, &pointer));
        JEXPECT_EQ(pthread_join(opener, NULL), 0);
        JASSERT_OK(jstream_synchronize(host, stream));
        for (size_t i = 0; i < 1 << 20; i += 4093)
            JEXPECT_EQ(((unsigned char *)pointer)[i], 9);
        JEXPECT_OK(jallocator_deallocate(allocator, pointer, 2 << 20, stream));
        JEXPECT_OK(jstream_synchronize(host, stream));
        JEXPECT_OK(jstream_destroy(stream));
        JEXPECT_OK(jallocator_destroy(allocator));
    }
}
