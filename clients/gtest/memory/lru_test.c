/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The cache of freed blocks: what serves a request, what is given back and when, and what it says
 * of itself. What the cache did is seen from below, where the test's own allocator counts, and from
 * a walk over its blocks. Owners and adopted blocks, streams and threads, and failures have files
 * of their own; lru_model_test.c compares it with a list. */

#include "lru_helper.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- Hits ---- */

JTEST(Lru, FreedBlockServesItsLayoutAgain) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
    void *first = keep(lru, 1000);
    JEXPECT_TRUE(is_kept(lru, first));
    void *second = take(lru, 1000);
    JEXPECT_EQ(second, first);
    JEXPECT_FALSE(is_kept(lru, first));
    void *third = take(lru, 1000);
    JEXPECT_NE(third, first);
    JEXPECT_EQ(jtest_allocation_count(), 2);
    const jlru_counters_t counters = counters_of(lru);
    JEXPECT_EQ(counters.hit_count, 1);
    JEXPECT_EQ(counters.nearest_hit_count, 0);
    JEXPECT_EQ(counters.miss_count, 2);
    JEXPECT_EQ(counters.kept_blocks, 0);
    give(lru, second, 1000);
    give(lru, third, 1000);
    JEXPECT_EQ(take(lru, 1000), third); /* the newest first */
    give(lru, third, 1000);
    JEXPECT_EQ(jtest_deallocation_count(), 0);
    destroy_lru(lru);
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

/* What the original could not: any size that rounds to the same granule is the same layout. */
JTEST(Lru, Kept4096Serves4095) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
    void *kept = keep(lru, 4096);
    for (size_t size = 4096; size > 4096 - 64; --size) {
        JEXPECT_EQ(take(lru, size), kept);
        give(lru, kept, size);
    }
    JEXPECT_EQ(counters_of(lru).hit_count, 64);
    void *other = take(lru, 4096 - 64); /* exact only */
    JEXPECT_NE(other, kept);
    give(lru, other, 4096 - 64);
    destroy_lru(lru);
}

JTEST(Lru, AlignmentsBelowTheGranuleAreOneLayout) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
    void *kept = keep(lru, 512);
    for (size_t alignment = 1; alignment <= 64; alignment *= 2) {
        JEXPECT_EQ(take_aligned(lru, 512, alignment), kept);
        give(lru, kept, 512);
    }
    JEXPECT_EQ(counters_of(lru).miss_count, 1);
    destroy_lru(lru);
}

JTEST(Lru, NearestServesWithinThePercentAndNotBeyond) {
    static const struct {
        size_t percent, request, kept;
        bool serves;
    } cases[] = {
        {0, 6400, 7168, true}, /* 12% */
        {0, 6400, 7232, false},
        {25, 4096, 5120, true},
        {25, 4096, 5184, false},
        {JALLOC_NONE, 4096, 4160, false}, /* exact */
        {JALLOC_NONE, 4096, 4096, true},
        {1, 6400, 6464, true}, /* 1% */
        {1, 6400, 6528, false},
        {100, 64, 128, true},
        {100, 64, 192, false},
        {1000000, 64, 640000, true},
        {SIZE_MAX, 640000, (size_t)1 << 20, true}, /* the product overflows: no bound */
        {SIZE_MAX / 64 + 2, 64, 640000, true},     /* that of the rest does */
        {25, 4096, 4032, false},                   /* never a smaller one */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        JSCOPED_TRACE("%zu kept, %zu asked for, %zu%%", cases[i].kept, cases[i].request,
                      cases[i].percent);
        jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, cases[i].percent);
        void *kept = keep(lru, cases[i].kept), *pointer = take(lru, cases[i].request);
        JEXPECT_EQ(pointer == kept, cases[i].serves);
        /* It keeps its true size, and jtest's allocator sees that it is given back with it. */
        if (cases[i].serves)
            JEXPECT_EQ(jallocator_usable_size(lru, pointer, cases[i].request), cases[i].kept);
        JEXPECT_EQ(counters_of(lru).nearest_hit_count,
                   cases[i].serves && cases[i].kept != cases[i].request);
        give(lru, pointer, cases[i].request);
        destroy_lru(lru);
    }
}

/* Of several that would do, the smallest; and it goes back to the layout that it came from. */
JTEST(Lru, NearestTakesTheSmallest) {
    static const size_t sizes[] = {1152, 1088, 1024 + 320, 1600, 1280};
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 50);
    void *pointers[5], *served[5];
    for (size_t i = 0; i < 5; ++i)
        pointers[i] = take(lru, sizes[i]);
    for (size_t i = 0; i < 5; ++i)
        give(lru, pointers[i], sizes[i]);
    static const size_t order[] = {1, 0, 4, 2}; /* 1600 is beyond 1536 */
    for (size_t i = 0; i < 4; ++i) {
        served[i] = take(lru, 1000);
        JEXPECT_EQ(served[i], pointers[order[i]]);
    }
    served[4] = take(lru, 1000);
    JEXPECT_NE(served[4], pointers[3]);
    for (size_t i = 0; i < 5; ++i)
        give(lru, served[i], 1000);
    for (size_t i = 0; i < 5; ++i) {
        JEXPECT_EQ(take(lru, sizes[i]), pointers[i]);
        give(lru, pointers[i], sizes[i]);
    }
    JEXPECT_EQ(counters_of(lru).kept_bytes, 1152 + 1088 + 1344 + 1600 + 1280 + 1024);
    destroy_lru(lru);
}

JTEST(Lru, LargerAlignmentServesSmallerAndNotTheReverse) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
    void *aligned = take_aligned(lru, 1024, 4096);
    JEXPECT_EQ((uintptr_t)aligned % 4096, 0);
    give(lru, aligned, 1024);
    JEXPECT_EQ(take_aligned(lru, 1024, 256), aligned);
    void *plain = take(lru, 1024), *again;
    give(lru, plain, 1024);
    again = take_aligned(lru, 1024, 4096);
    JEXPECT_EQ((uintptr_t)again % 4096, 0);
    JEXPECT_NE(again, plain);
    give(lru, aligned, 1024);
    give(lru, again, 1024);
    JEXPECT_EQ(counters_of(lru).kept_layouts, 2);
    destroy_lru(lru);
}

/* ---- Eviction ---- */

JTEST(Lru, BytesEvictTheBlockKeptLongest) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 3 * 4096, JALLOC_NONE);
    void *blocks[4];
    for (size_t i = 0; i < 4; ++i)
        blocks[i] = take(lru, 4096);
    for (size_t i = 0; i < 3; ++i)
        give(lru, blocks[i], 4096);
    JEXPECT_EQ(counters_of(lru).kept_bytes, 3 * 4096); /* exactly the capacity stays */
    JEXPECT_EQ(jtest_deallocation_count(), 0);
    JEXPECT_EQ(take(lru, 4096), blocks[2]);
    give(lru, blocks[3], 4096);
    JEXPECT_EQ(jtest_deallocation_count(), 0);
    give(lru, blocks[2], 4096); /* one too many: the first */
    JEXPECT_FALSE(is_kept(lru, blocks[0]));
    JEXPECT_TRUE(is_kept(lru, blocks[1]));
    JEXPECT_EQ(jtest_deallocation_count(), 1);
    JEXPECT_EQ(counters_of(lru).eviction_count, 1);
    JEXPECT_EQ(counters_of(lru).kept_bytes, 3 * 4096);
    destroy_lru(lru);
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

/* Used again is no longer the oldest, whatever its layout. */
JTEST(Lru, UseRenewsABlock) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 6 * 1024, JALLOC_NONE);
    void *one = keep(lru, 1024), *two = keep(lru, 2048), *three = keep(lru, 3072);
    JEXPECT_EQ(take(lru, 1024), one);
    give(lru, one, 1024);
    void *four = keep(lru, 128); /* 128 bytes too many: the oldest is now two */
    JEXPECT_TRUE(is_kept(lru, one));
    JEXPECT_FALSE(is_kept(lru, two));
    JEXPECT_TRUE(is_kept(lru, three));
    JEXPECT_TRUE(is_kept(lru, four));
    destroy_lru(lru);
}

JTEST(Lru, LayoutsEvictTheLayoutUsedLongestAgo) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 2, 0, JALLOC_NONE);
    void *old[3], *used[2];
    for (size_t i = 0; i < 3; ++i)
        old[i] = take(lru, 256);
    for (size_t i = 0; i < 2; ++i)
        used[i] = take(lru, 512);
    for (size_t i = 0; i < 2; ++i)
        give(lru, used[i], 512);
    for (size_t i = 0; i < 3; ++i)
        give(lru, old[i], 256);
    /* Now 256 is the one used longest ago, though its blocks are younger. */
    JEXPECT_EQ(take(lru, 512), used[1]);
    JEXPECT_EQ(counters_of(lru).kept_layouts, 2);
    JEXPECT_EQ(jtest_deallocation_count(), 0);
    void *third = keep(lru, 1024);
    for (size_t i = 0; i < 3; ++i)
        JEXPECT_FALSE(is_kept(lru, old[i]));
    JEXPECT_TRUE(is_kept(lru, used[0]));
    JEXPECT_TRUE(is_kept(lru, third));
    JEXPECT_EQ(counters_of(lru).kept_layouts, 2);
    JEXPECT_EQ(counters_of(lru).eviction_count, 3);
    JEXPECT_EQ(jtest_deallocation_count(), 3);
    give(lru, used[1], 512);
    destroy_lru(lru);
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

/* A layout whose last kept block is in use does not count, and does not stand in the way. */
JTEST(Lru, EmptyLayoutsTakeNoCapacity) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 2, 0, JALLOC_NONE);
    void *pointers[20];
    for (size_t i = 0; i < 20; ++i) {
        pointers[i] = keep(lru, 64 * (i + 1));
        JEXPECT_EQ(take(lru, 64 * (i + 1)), pointers[i]);
    }
    JEXPECT_EQ(counters_of(lru).kept_layouts, 0);
    JEXPECT_EQ(jtest_deallocation_count(), 0);
    for (size_t i = 0; i < 20; ++i) {
        give(lru, pointers[i], 64 * (i + 1));
        JEXPECT_EQ(counters_of(lru).kept_layouts, i == 0 ? 1 : 2);
    }
    JEXPECT_EQ(counters_of(lru).eviction_count, 18);
    JEXPECT_TRUE(is_kept(lru, pointers[18]) && is_kept(lru, pointers[19]));
    destroy_lru(lru);
}

JTEST(Lru, BlockAboveTheCapacityDrivesOutNoOther) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 4096, JALLOC_NONE);
    void *small = keep(lru, 1024), *exact = NULL;
    void *large = keep(lru, 4096 + 64);
    JEXPECT_FALSE(is_kept(lru, large));
    JEXPECT_TRUE(is_kept(lru, small));
    exact = keep(lru, 4096);
    JEXPECT_TRUE(is_kept(lru, exact));
    JEXPECT_FALSE(is_kept(lru, small));
    JEXPECT_EQ(jtest_live_bytes(), 4096);
    destroy_lru(lru);
}

JTEST(Lru, TrimGivesBackTheOldestUntilNoMoreIsKept) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
    void *blocks[8];
    for (size_t i = 0; i < 8; ++i)
        blocks[i] = take(lru, 1024);
    for (size_t i = 0; i < 8; ++i)
        give(lru, blocks[i], 1024);
    jallocator_stats_t stats = stats_of(lru);
    JEXPECT_EQ(stats.reserved_bytes, 8 * 1024);
    JEXPECT_EQ(stats.free_bytes, 8 * 1024);
    JEXPECT_EQ(stats.largest_free_bytes, 1024);
    JEXPECT_NEAR(stats.fragmentation, 1.0 - 1.0 / 8, 1e-12);
    JEXPECT_OK(jallocator_trim(lru, 8 * 1024));
    JEXPECT_EQ(jtest_deallocation_count(), 0);
    JEXPECT_OK(jallocator_trim(lru, 3 * 1024 + 1));
    JEXPECT_EQ(jtest_live_bytes(), 3 * 1024);
    for (size_t i = 0; i < 8; ++i)
        JEXPECT_EQ(is_kept(lru, blocks[i]), i >= 5);
    JEXPECT_EQ(counters_of(lru).eviction_count, 0); /* nobody needed the room */
    stats = stats_of(lru);
    JEXPECT_EQ(stats.reserved_bytes, 3 * 1024);
    JEXPECT_EQ(stats.peak_reserved_bytes, 8 * 1024);
    JEXPECT_OK(jallocator_clear_stats(lru));
    JEXPECT_EQ(stats_of(lru).peak_reserved_bytes, 3 * 1024);
    JEXPECT_OK(jallocator_trim(lru, 0));
    JEXPECT_EQ(jtest_live_bytes(), 0);
    destroy_lru(lru);
}

JTEST(Lru, ClearLeavesWhatIsLive) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
    unsigned char *live = take(lru, 1024);
    memset(live, 7, 1024);
    keep(lru, 512);
    keep(lru, 100000);
    JEXPECT_OK(jallocator_lru_clear(lru));
    JEXPECT_EQ(jtest_live_bytes(), 1024);
    JEXPECT_EQ(counters_of(lru).kept_blocks, 0);
    JEXPECT_EQ(live[0] + live[1023], 14);
    JEXPECT_STATUS(jallocator_destroy(lru), JSTATUS_BUSY);
    give(lru, live, 1024);
    destroy_lru(lru);
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

/* ---- Before a request fails ---- */

JTEST(Lru, GivesBackWhatIsKeptBeforeItFails) {
    jallocator_t *array;
    JASSERT_OK(jallocator_create_array(jdevice_host(), jtest_guard_pages(16384), 16384, &array));
    jallocator_t *lru = make_lru(array, 0, 0, JALLOC_NONE);
    void *live = take(lru, 2048), *small = take(lru, 1024), *large = take(lru, 8192);
    give(lru, large, 8192);
    give(lru, small, 1024);
    void *pointer = take(lru, 12288); /* fits when both were given back */
    JEXPECT_EQ(counters_of(lru).kept_blocks, 0);
    JEXPECT_EQ(counters_of(lru).eviction_count, 2);
    void *more = live;
    JEXPECT_STATUS(jallocator_allocate(lru, 12288, 0, NULL, &more), JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(more);
    JEXPECT_SUBSTR(jstatus_last_message(), "\"lru\"");
    JEXPECT_EQ(stats_of(lru).in_use_bytes, 2048 + 12288);
    JEXPECT_EQ(stats_of(lru).failure_count, 1);
    give(lru, pointer, 12288);
    give(lru, live, 2048);
    JEXPECT_OK(jallocator_destroy(lru));
    JEXPECT_OK(jallocator_destroy(array));
}

/* What is not out of memory does not cost the cache what it keeps. */
JTEST(Lru, OtherFailuresLeaveWhatIsKept) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
    void *kept = keep(lru, 1024), *pointer;
    JEXPECT_STATUS(jallocator_allocate(lru, SIZE_MAX, 64, NULL, &pointer), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_allocate(lru, SIZE_MAX / 4, 64, NULL, &pointer),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_allocate(lru, 1024, 65, NULL, &pointer), JSTATUS_INVALID_VALUE);
    JEXPECT_TRUE(is_kept(lru, kept));
    destroy_lru(lru);
}

/* ---- The object around it ---- */

JTEST(Lru, KnowsItsBlocks) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 50);
    jallocation_t block = JALLOCATION_INIT;
    void *kept = keep(lru, 4096), *live;
    {
        JALLOC_TAG("owner");
        live = take(lru, 1000);
    }
    JEXPECT_OK(jallocator_find(lru, (char *)live + 999, &block));
    JEXPECT_EQ(block.pointer, live);
    JEXPECT_EQ(block.size_bytes, 1000);
    JEXPECT_EQ(block.usable_bytes, 1024);
    JEXPECT_STREQ(jtag_name(block.tag), "owner");
    JEXPECT_TRUE(block.live);
    JEXPECT_EQ(block.allocator, lru);
    JEXPECT_STATUS(jallocator_find(lru, kept, &block), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_find(lru, (char *)kept + 100, &block), JSTATUS_NOT_FOUND);
    JEXPECT_TRUE(owns(lru, live));
    JEXPECT_FALSE(owns(lru, kept));
    wanted_t wanted = {live, true, false};
    JEXPECT_OK(jallocator_visit(lru, look_for, &wanted));
    JEXPECT_TRUE(wanted.found);
    give(lru, live, 1000);
    destroy_lru(lru);
}

static jstatus_t pass_check(void *context) {
    (void)context;
    return JSTATUS_CORRUPTED;
}

static jstatus_t pass_find(void *context, const void *pointer, jallocation_t *block) {
    (void)context, (void)pointer, (void)block;
    return JSTATUS_NOT_FOUND;
}

JTEST(Lru, IsFoundThroughAdaptorsAbove) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
    jallocator_ops_t ops = {.allocate = pass_allocate, .deallocate = pass_deallocate};
    jallocator_t *lower = make_adaptor(lru, ops), *top = make_adaptor(lower, ops);
    void *pointer = take(top, 100);
    size_t count = 0;
    JEXPECT_OK(jallocator_lru_retain(top, pointer));
    JEXPECT_OK(jallocator_lru_get_count(top, pointer, &count));
    JEXPECT_EQ(count, 2);
    JEXPECT_OK(jallocator_lru_release(top, pointer, NULL, &count));
    JEXPECT_EQ(count, 1);
    give(top, pointer, 100); /* the last one the way it came */
    JEXPECT_EQ(counters_of(top).kept_blocks, 1);
    JEXPECT_OK(jallocator_lru_clear(top));
    JEXPECT_EQ(counters_of(top).kept_blocks, 0);
    JEXPECT_OK(jallocator_destroy(top));
    JEXPECT_OK(jallocator_destroy(lower));
    destroy_lru(lru);
}

JTEST(Lru, FunctionsRefuseWhatIsNoCache) {
    jallocator_t *other = jtest_failing_allocator();
    jlru_counters_t counters = JLRU_COUNTERS_INIT;
    size_t count = 5;
    JEXPECT_STATUS(jallocator_lru_retain(other, &count), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_lru_release(other, &count, NULL, &count), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_lru_get_count(other, &count, &count), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_lru_adopt(other, &count, 8, 8, NULL, NULL), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_lru_clear(other), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_lru_get_counters(other, &counters), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_lru_clear(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_lru_retain(NULL, &count), JSTATUS_INVALID_POINTER);
    jallocator_t *lru = make_lru(other, 0, 0, 0);
    JEXPECT_STATUS(jallocator_lru_retain(lru, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_lru_release(lru, NULL, NULL, &count), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_lru_get_count(lru, NULL, &count), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_lru_get_count(lru, &count, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_lru_get_counters(lru, NULL), JSTATUS_INVALID_POINTER);
    counters.struct_size = 8;
    JEXPECT_STATUS(jallocator_lru_get_counters(lru, &counters), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(count, 5);
    destroy_lru(lru);
}

JTEST(Lru, Options) {
    jallocator_t *below = jtest_failing_allocator(), *lru = NULL;
    jlru_options_t options = JLRU_OPTIONS_INIT;
    JASSERT_OK(jallocator_create_lru(below, NULL, &lru));
    JEXPECT_STREQ(jallocator_name(lru), "lru");
    JEXPECT_EQ(jallocator_threads(lru), JALLOCATOR_THREADS_LOCK);
    destroy_lru(lru);
    options.name = "cache";
    options.threads = JALLOCATOR_THREADS_NONE;
    JASSERT_OK(jallocator_create_lru(below, &options, &lru));
    JEXPECT_STREQ(jallocator_name(lru), "cache");
    JEXPECT_EQ(jallocator_threads(lru), JALLOCATOR_THREADS_NONE);
    void *pointer = keep(lru, 64);
    JEXPECT_EQ(take(lru, 64), pointer);
    JEXPECT_OK(jallocator_lru_release(lru, pointer, NULL, NULL));
    destroy_lru(lru);
    options.threads = JALLOCATOR_THREADS_SAFE;
    JEXPECT_STATUS(jallocator_create_lru(below, &options, &lru), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "threads");
    JEXPECT_STATUS(jallocator_create_lru(NULL, NULL, &lru), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_lru(below, NULL, NULL), JSTATUS_INVALID_POINTER);
    options = (jlru_options_t){sizeof(size_t), NULL, JALLOCATOR_THREADS_DEFAULT, 0, 0, 0};
    JEXPECT_STATUS(jallocator_create_lru(below, &options, &lru), JSTATUS_INVALID_VALUE);
}

JTEST(Lru, Composed) {
    jallocator_t *lru;
    JASSERT_OK(jallocator_compose(
        NULL, "malloc+lru(layouts=2,bytes=4KiB,nearest=none,threads=none,name=c)", &lru));
    JEXPECT_STREQ(jallocator_name(lru), "c");
    JEXPECT_EQ(jallocator_threads(lru), JALLOCATOR_THREADS_NONE);
    keep(lru, 64);
    keep(lru, 128);
    keep(lru, 192);
    JEXPECT_EQ(counters_of(lru).kept_layouts, 2);
    keep(lru, 4096);
    JEXPECT_EQ(counters_of(lru).kept_bytes, 4096);
    JEXPECT_OK(jallocator_destroy(lru));
}

JTEST(Lru, CheckLooksAtWhatIsBelow) {
    jallocator_ops_t ops = {
        .allocate = pass_allocate, .deallocate = pass_deallocate, .check = pass_check};
    jallocator_t *guard = make_adaptor(jtest_failing_allocator(), ops),
                 *lru = make_lru(guard, 0, 0, 0);
    JEXPECT_STATUS(jallocator_check(lru), JSTATUS_CORRUPTED);
    JEXPECT_OK(jallocator_destroy(lru));
    JEXPECT_OK(jallocator_destroy(guard));
}

JTEST(Lru, CheckFindsWhatWasOverwritten) {
    jallocator_t *allocator = make_lru(jtest_failing_allocator(), 0, 0, 0);
    void *live = take(allocator, 100), *old = take(allocator, 1000), *kept = take(allocator, 1000);
    give(allocator, old, 1000);
    give(allocator, kept, 1000);
    JEXPECT_OK(jallocator_check(allocator));
    lru_t *lru = allocator->context;
    const uint32_t number = ji_ledger_find(&lru->by_address, kept)->number;
    lru_block_t *block = &lru->blocks[number],
                *other = &lru->blocks[ji_ledger_find(&lru->by_address, live)->number];
    lru_layout_t *layout = &lru->layouts[block->layout];
#define SPOILED(what, value)                                                                       \
    do {                                                                                           \
        __typeof__(what) kept_ = what;                                                             \
        what = value;                                                                              \
        JEXPECT_STATUS(jallocator_check(allocator), JSTATUS_CORRUPTED);                            \
        JEXPECT_SUBSTR(jstatus_last_message(), "\"lru\"");                                         \
        what = kept_;                                                                              \
        JEXPECT_OK(jallocator_check(allocator));                                                   \
    } while (0)
    SPOILED(block->address, NULL);
    SPOILED(block->aged, false);
    SPOILED(block->age.older, 0);
    SPOILED(block->age.newer, number); /* a ring without an end */
    SPOILED(block->layout, other->layout);
    SPOILED(block->under, number);
    SPOILED(other->owners, 0);
    SPOILED(layout->listed, false);
    SPOILED(layout->use.newer, block->layout);
    SPOILED(layout->kept_count, 1);
    SPOILED(layout->block_count, 1);
    SPOILED(lru->by_address.table.count, 2);
    SPOILED(lru->reserved_bytes, 1);
    SPOILED(lru->kept_blocks, 1);
    SPOILED(lru->kept_bytes, 1);
    SPOILED(lru->kept_layouts, 2);
    const lru_layout_t kept_layout = *layout; /* it has lost its blocks */
    layout->newest = layout->kept_count = 0;
    JEXPECT_STATUS(jallocator_check(allocator), JSTATUS_CORRUPTED);
    *layout = kept_layout;
#undef SPOILED
    give(allocator, live, 100);
    destroy_lru(allocator);
}

JTEST(Lru, OwnersAreCountedUpTo32Bits) {
    jallocator_t *allocator = make_lru(jtest_failing_allocator(), 0, 0, 0);
    void *pointer = take(allocator, 100);
    lru_t *lru = allocator->context;
    lru_block_t *block = &lru->blocks[ji_ledger_find(&lru->by_address, pointer)->number];
    block->owners = UINT32_MAX;
    JEXPECT_STATUS(jallocator_lru_retain(allocator, pointer), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "2^32 - 1 owners");
    JEXPECT_EQ(block->owners, UINT32_MAX);
    block->owners = 1;
    /* What is not its own is as large as is said. */
    JEXPECT_EQ(jallocator_usable_size(allocator, &lru, 12), 12);
    give(allocator, pointer, 100);
    destroy_lru(allocator);
}

JTEST(Lru, NearestBeyondAllSizesIsAnySize) {
    /* The sum overflows at either addition. */
    static const size_t percents[] = {SIZE_MAX, SIZE_MAX / 16};
    static const size_t sizes[] = {128, 1600};
    for (size_t k = 0; k < 2; ++k) {
        jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, percents[k]);
        void *pointer = keep(lru, 100000);
        JEXPECT_EQ(take(lru, sizes[k]), pointer);
        JEXPECT_EQ(counters_of(lru).nearest_hit_count, 1);
        give(lru, pointer, sizes[k]);
        destroy_lru(lru);
    }
}

static jstatus_t same_allocate(void *context, size_t size_bytes, size_t alignment,
                               jstream_t *stream, void **pointer) {
    (void)size_bytes, (void)alignment, (void)stream;
    *pointer = context;
    return JSTATUS_SUCCESS;
}
static jstatus_t same_deallocate(void *context, void *pointer, size_t size_bytes,
                                 jstream_t *stream) {
    (void)context, (void)pointer, (void)size_bytes, (void)stream;
    return JSTATUS_SUCCESS;
}
JTEST(Lru, OneBlockGivenOutTwiceBelowIsRefused) {
    static _Alignas(256) char memory[256];
    const jallocator_ops_t ops = {.struct_size = sizeof ops,
                                  .allocate = same_allocate,
                                  .deallocate = same_deallocate,
                                  .find = pass_find};
    jallocator_t *below, *lru;
    JASSERT_OK(jallocator_create(&ops, memory, NULL, &below));
    lru = make_lru(below, 0, 0, 0);
    void *pointer = take(lru, 64), *again = NULL;
    JEXPECT_STATUS(jallocator_allocate(lru, 128, 0, NULL, &again), JSTATUS_INTERNAL_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "which is not given back yet");
    JEXPECT_NULL(again);
    JEXPECT_EQ(stats_of(lru).live_count, 1);
    give(lru, pointer, 64);
    destroy_lru(lru);
    JEXPECT_OK(jallocator_destroy(below));
}

JTEST(Lru, MemoryIsNeverTouched) {
    /* Of address space; the array below takes back from its top alone. */
    const size_t bytes = (size_t)1 << 30;
    void *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    JASSERT_NE(memory, MAP_FAILED);
    jallocator_t *array;
    JASSERT_OK(jallocator_create_array(jdevice_host(), memory, bytes, &array));
    jallocator_t *lru = make_lru(array, 3, 65536, 0);
    void *pointers[16];
    for (size_t round = 0; round < 50; ++round) {
        for (size_t i = 0; i < 16; ++i)
            pointers[i] = take(lru, 1000 * (1 + (i + round) % 7));
        for (size_t i = 0; i < 16; ++i)
            give(lru, pointers[i], 1000 * (1 + (i + round) % 7));
    }
    JEXPECT_STATUS(jallocator_lru_release(lru, pointers[0], NULL, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_check(lru));
    JEXPECT_OK(jallocator_lru_clear(lru));
    JEXPECT_OK(jallocator_destroy(lru));
    JEXPECT_OK(jallocator_destroy(array));
    munmap(memory, bytes);
}
