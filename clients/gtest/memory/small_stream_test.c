/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Small blocks between streams: a block stays on the stream that freed it until that one has
 * passed. */

#include "small_helper.h"

static bool is_among(void *const pointers[], size_t count, const void *pointer) {
    for (size_t i = 0; i < count; ++i)
        if (pointers[i] == pointer)
            return true;
    return false;
}

/* Blocks freed on a stream that stands at a gate, then asked for on that stream and on others. With
 * a cache of one byte they go through the lists of all threads, else they stay in the thread's
 * cache. */
static void expect_blocks_stay_on_their_stream(size_t cache_bytes) {
    enum { COUNT = 20 };
    void *freed[COUNT], *same[COUNT], *other[COUNT], *host[COUNT];
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *busy, *idle;
    JASSERT_OK(jstream_create(jdevice_host(), &busy));
    JASSERT_OK(jstream_create(jdevice_host(), &idle));
    jallocator_t *allocator = make_small(jtest_failing_allocator(), 0, cache_bytes);
    for (size_t i = 0; i < COUNT; ++i)
        JASSERT_NOT_NULL(freed[i] = try_take(allocator, 1024, busy));
    JASSERT_OK(jtest_gate_block(&gate, jdevice_host(), busy));
    for (size_t i = 0; i < COUNT; ++i)
        JEXPECT_OK(jallocator_deallocate(allocator, freed[i], 1024, busy));
    for (size_t i = 0; i < COUNT; ++i) {
        JASSERT_NOT_NULL(other[i] = try_take(allocator, 1024, idle));
        JEXPECT_FALSE(is_among(freed, COUNT, other[i]));
        JASSERT_NOT_NULL(host[i] = try_take(allocator, 1024, NULL));
        JEXPECT_FALSE(is_among(freed, COUNT, host[i]));
    }
    for (size_t i = 0; i < COUNT; ++i) {
        JASSERT_NOT_NULL(same[i] = try_take(allocator, 1024, busy));
        JEXPECT_TRUE(is_among(freed, COUNT, same[i])); /* at once, though nothing is passed */
    }
    for (size_t i = 0; i < COUNT; ++i) {
        JEXPECT_OK(jallocator_deallocate(allocator, same[i], 1024, busy));
        JEXPECT_OK(jallocator_deallocate(allocator, other[i], 1024, idle));
        JEXPECT_OK(jallocator_deallocate(allocator, host[i], 1024, NULL));
    }
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), busy));
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
    JEXPECT_OK(jstream_destroy(busy));
    JEXPECT_OK(jstream_destroy(idle));
    JEXPECT_OK(jallocator_destroy(allocator));
}
JTEST(Small, BlocksInACacheStayOnTheirStream) { expect_blocks_stay_on_their_stream(0); }
JTEST(Small, BlocksInTheCommonListsStayOnTheirStreamUntilItHasPassed) {
    expect_blocks_stay_on_their_stream(1);
}

JTEST(Small, ASlabTakenOnABusyStreamIsNotCarvedForAnother) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *busy;
    void *first, *second;
    JASSERT_OK(jstream_create(jdevice_host(), &busy));
    jallocator_t *allocator = make_small(jtest_failing_allocator(), 0, 1);
    JASSERT_OK(jtest_gate_block(&gate, jdevice_host(), busy));
    /* The rest of the slab may still be in use there. */
    JASSERT_NOT_NULL(first = try_take(allocator, 64, busy));
    const size_t reserved = stats_of(allocator).reserved_bytes;
    JASSERT_NOT_NULL(second = try_take(allocator, 64, NULL));
    JEXPECT_GT(stats_of(allocator).reserved_bytes, reserved);
    JEXPECT_OK(jallocator_deallocate(allocator, second, 64, NULL));
    JEXPECT_OK(jallocator_deallocate(allocator, first, 64, busy));
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_destroy(busy));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Small, AStreamThatIsDestroyedLeavesItsBlocksToAll) {
    jallocator_t *allocator = make_default();
    const small_t *small = allocator->context;
    for (int round = 0; round < 10; ++round) {
        jstream_t *stream;
        void *pointers[30];
        JASSERT_OK(jstream_create(jdevice_host(), &stream));
        for (size_t i = 0; i < 30; ++i)
            JASSERT_NOT_NULL(pointers[i] = try_take(allocator, 256, stream));
        for (size_t i = 0; i < 30; ++i)
            JEXPECT_OK(jallocator_deallocate(allocator, pointers[i], 256, stream));
        JEXPECT_OK(jstream_destroy(stream));
    }
    JASSERT_FALSE(ji_list_is_empty(&small->caches));
    JEXPECT_EQ(small->caches.ring.next, small->caches.ring.previous); /* one cache, used again */
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* A slab whose memory is behind a stream's work stays, though all of it is free. */
JTEST(Small, ASlabThatAStreamStillUsesIsNotGivenBackWithoutWaiting) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *busy;
    jallocator_t *allocator;
    JASSERT_OK(jstream_create(jdevice_host(), &busy));
    JASSERT_OK(jallocator_compose(NULL, "malloc+limit(limit=20KiB)+small(cache=1)", &allocator));
    JASSERT_OK(jtest_gate_block(&gate, jdevice_host(), busy));
    void *block = try_take(allocator, 1024, busy);
    JASSERT_NOT_NULL(block);
    JEXPECT_OK(jallocator_deallocate(allocator, block, 1024, NULL)); /* the host was done with it */
    JEXPECT_NULL(try_take(allocator, 8 * KIB, NULL));
    JEXPECT_GT(stats_of(allocator).reserved_bytes, 0);
    jtest_gate_open(&gate);
    JASSERT_OK(jstream_synchronize(jdevice_host(), busy));
    block = try_take(allocator, 8 * KIB, NULL);
    JEXPECT_NOT_NULL(block);
    JEXPECT_OK(jallocator_deallocate(allocator, block, 8 * KIB, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jstream_destroy(busy));
}
