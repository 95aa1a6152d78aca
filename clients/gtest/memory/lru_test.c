/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The cache of freed blocks: what serves a request, what is given back and when, reference counts, adoption, streams,
 * failures. What the cache did is seen from below, where the test's own allocator counts, and from a walk over its
 * blocks. The last test compares it, call by call, with a model that is nothing but a list. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/policy.h"
#include "jalloc/provider.h"
#include "memory/allocators/lru/lru.h"
#include "pretend_gpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- What the tests share ------------------------------------------------------------------------------------------- */

static jallocator_t *make_lru(jallocator_t *below, size_t layouts, size_t bytes, size_t nearest) {
    jlru_options_t options = JLRU_OPTIONS_INIT;
    options.capacity_layouts = layouts;
    options.capacity_bytes = bytes;
    options.nearest_percent = nearest;
    jallocator_t *lru = NULL;
    JEXPECT_OK(jallocator_create_lru(below, &options, &lru));
    return lru;
}

static jlru_counters_t counters_of(jallocator_t *lru) {
    jlru_counters_t counters = JLRU_COUNTERS_INIT;
    JEXPECT_OK(jallocator_lru_get_counters(lru, &counters));
    return counters;
}

static void *take_aligned(jallocator_t *lru, size_t size, size_t alignment) {
    void *pointer = NULL;
    JEXPECT_OK(jallocator_allocate(lru, size, alignment, NULL, &pointer));
    return pointer;
}
/* A kept block of that size that lies apart from those kept before. */
static void *keep(jallocator_t *lru, size_t size) {
    void *pointer = take(lru, size);
    give(lru, pointer, size);
    return pointer;
}

typedef struct wanted {
    const void *pointer;
    bool live, found;
} wanted_t;
static bool look_for(void *context, const jallocation_t *block) {
    wanted_t *wanted = context;
    wanted->found = wanted->found || (block->pointer == wanted->pointer && block->live == wanted->live);
    return !wanted->found;
}
static bool is_kept(jallocator_t *lru, const void *pointer) {
    wanted_t wanted = {pointer, false, false};
    JEXPECT_OK(jallocator_visit(lru, look_for, &wanted));
    return wanted.found;
}

static void destroy_lru(jallocator_t *lru) {
    JEXPECT_OK(jallocator_check(lru));
    JEXPECT_OK(jallocator_destroy(lru));
}

/* ---- Hits ----------------------------------------------------------------------------------------------------------- */

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
        {25, 4096, 4032, false},                   /* never a smaller one */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        JSCOPED_TRACE("%zu kept, %zu asked for, %zu%%", cases[i].kept, cases[i].request, cases[i].percent);
        jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, cases[i].percent);
        void *kept = keep(lru, cases[i].kept), *pointer = take(lru, cases[i].request);
        JEXPECT_EQ(pointer == kept, cases[i].serves);
        if (cases[i].serves) /* it keeps its true size, and jtest's allocator sees that it is given back with it */
            JEXPECT_EQ(jallocator_usable_size(lru, pointer, cases[i].request), cases[i].kept);
        JEXPECT_EQ(counters_of(lru).nearest_hit_count, cases[i].serves && cases[i].kept != cases[i].request);
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

/* ---- Eviction ------------------------------------------------------------------------------------------------------- */

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
    JEXPECT_EQ(take(lru, 512), used[1]); /* now 256 is the one used longest ago, though its blocks are younger */
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

/* ---- Before a request fails ----------------------------------------------------------------------------------------- */

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
    JEXPECT_STATUS(jallocator_allocate(lru, SIZE_MAX / 4, 64, NULL, &pointer), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_allocate(lru, 1024, 65, NULL, &pointer), JSTATUS_INVALID_VALUE);
    JEXPECT_TRUE(is_kept(lru, kept));
    destroy_lru(lru);
}

/* ---- Reference counts ----------------------------------------------------------------------------------------------- */

JTEST(Lru, LastOwnerPutsTheBlockIntoTheCache) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
    void *pointer = take(lru, 1000);
    size_t count = 0, left = 99;
    JEXPECT_OK(jallocator_lru_get_count(lru, pointer, &count));
    JEXPECT_EQ(count, 1);
    JEXPECT_OK(jallocator_lru_retain(lru, pointer));
    JEXPECT_OK(jallocator_lru_retain(lru, pointer));
    JEXPECT_OK(jallocator_lru_get_count(lru, pointer, &count));
    JEXPECT_EQ(count, 3);
    JEXPECT_OK(jallocator_lru_release(lru, pointer, NULL, &left));
    JEXPECT_EQ(left, 2);
    give(lru, pointer, 1000); /* the same as release, with the size checked */
    JEXPECT_OK(jallocator_lru_get_count(lru, pointer, &count));
    JEXPECT_EQ(count, 1);
    JEXPECT_FALSE(is_kept(lru, pointer));
    jallocator_stats_t stats = stats_of(lru);
    JEXPECT_EQ(stats.live_count, 1);
    JEXPECT_EQ(stats.in_use_bytes, 1000);
    JEXPECT_EQ(stats.peak_in_use_bytes, 1000);
    JEXPECT_OK(jallocator_lru_release(lru, pointer, NULL, &left));
    JEXPECT_EQ(left, 0);
    JEXPECT_TRUE(is_kept(lru, pointer));
    stats = stats_of(lru);
    JEXPECT_EQ(stats.live_count, 0);
    JEXPECT_EQ(stats.in_use_bytes, 0);
    JEXPECT_EQ(stats.allocation_count, 1);
    JEXPECT_STATUS(jallocator_lru_get_count(lru, pointer, &count), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_lru_retain(lru, pointer), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(take(lru, 1000), pointer); /* one owner again */
    JEXPECT_OK(jallocator_lru_get_count(lru, pointer, &count));
    JEXPECT_EQ(count, 1);
    JEXPECT_OK(jallocator_lru_release(lru, pointer, NULL, NULL));
    destroy_lru(lru);
}

JTEST(Lru, ReleaseOfTheOnlyBlockLetsTheCacheBeDestroyed) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
    void *pointer = take(lru, 64);
    JEXPECT_STATUS(jallocator_destroy(lru), JSTATUS_BUSY);
    JEXPECT_OK(jallocator_lru_release(lru, pointer, NULL, NULL));
    destroy_lru(lru);
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

/* Refused, with the message's parts, and nothing has changed. */
static void expect_refused(jallocator_t *lru, void *pointer, const char *part, const char *tag) {
    char address[32];
    const jallocator_stats_t before = stats_of(lru);
    const jlru_counters_t counters = counters_of(lru);
    snprintf(address, sizeof address, "%p", pointer);
    for (int i = 0; i < 4; ++i) {
        size_t number = 99;
        JEXPECT_STATUS(i == 0   ? jallocator_lru_release(lru, pointer, NULL, &number)
                       : i == 1 ? jallocator_deallocate(lru, pointer, 1000, NULL)
                       : i == 2 ? jallocator_lru_retain(lru, pointer)
                                : jallocator_lru_get_count(lru, pointer, &number),
                       JSTATUS_NOT_FOUND);
        JEXPECT_EQ(number, 99);
        JEXPECT_SUBSTR(jstatus_last_message(), address);
        JEXPECT_SUBSTR(jstatus_last_message(), part);
        JEXPECT_SUBSTR(jstatus_last_message(), tag);
        JEXPECT_SUBSTR(jstatus_last_message(), jallocator_name(lru));
    }
    const jallocator_stats_t after = stats_of(lru);
    JEXPECT_EQ(after.live_count, before.live_count);
    JEXPECT_EQ(after.in_use_bytes, before.in_use_bytes);
    JEXPECT_EQ(after.reserved_bytes, before.reserved_bytes);
    JEXPECT_EQ(counters_of(lru).kept_blocks, counters.kept_blocks);
    JEXPECT_OK(jallocator_check(lru));
}

JTEST(Lru, DoubleReleaseNamesTheAllocation) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
    void *live = take(lru, 2000), *pointer;
    {
        JALLOC_TAG("assemble");
        pointer = take(lru, 1000);
    }
    give(lru, pointer, 1000);
    expect_refused(lru, pointer, "1000 bytes", "assemble");
    expect_refused(lru, pointer, "is kept", "assemble");
    expect_refused(lru, (char *)pointer + 64, "no beginning", "assemble");
    JEXPECT_OK(jallocator_lru_clear(lru));
    expect_refused(lru, pointer, "1000 bytes", "assemble");
    expect_refused(lru, pointer, "given back below", "assemble");
    expect_refused(lru, &pointer, "never handed out", "");
    expect_refused(lru, (char *)live + 64, "lies inside the block", "");
    JEXPECT_STATUS(jallocator_deallocate(lru, live, 1999, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_SUBSTR(jstatus_last_message(), "2000 bytes");
    JEXPECT_OK(jallocator_lru_retain(lru, live)); /* it lives */
    JEXPECT_OK(jallocator_lru_release(lru, live, NULL, NULL));
    give(lru, live, 2000);
    destroy_lru(lru);
}

/* What a message says of a block that was given back below is true of the newest one at that address, for the last 64. */
JTEST(Lru, RemembersTheLastBlocksGivenBack) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
    void *pointers[70], *live = take(lru, 100000);
    for (size_t i = 0; i < 70; ++i)
        pointers[i] = take(lru, 64 * (i + 1));
    for (size_t i = 0; i < 70; ++i)
        give(lru, pointers[i], 64 * (i + 1));
    JEXPECT_OK(jallocator_lru_clear(lru));
    for (size_t i = 0; i < 70; ++i)
        expect_refused(lru, pointers[i], i < 6 ? "long ago" : "given back below", "");
    give(lru, live, 100000);
    destroy_lru(lru);
}

/* A pointer that was freed and handed out again is the next owner's: a stale free of it is refused where the size tells
 * them apart. Where it does not, nothing can: the pointer is all that a free has. */
JTEST(Lru, StaleFreeOfAnotherSizeLeavesTheNextOwner) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 50);
    void *stale = keep(lru, 4096), *owner = take(lru, 3000);
    size_t count = 0;
    JASSERT_EQ(owner, stale);
    JEXPECT_STATUS(jallocator_deallocate(lru, stale, 4096, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_OK(jallocator_lru_get_count(lru, owner, &count));
    JEXPECT_EQ(count, 1);
    JEXPECT_EQ(stats_of(lru).in_use_bytes, 3000);
    give(lru, owner, 3000);
    destroy_lru(lru);
}

/* ---- Adoption ------------------------------------------------------------------------------------------------------- */

typedef struct given {
    void *pointer;
    size_t size_bytes, count;
} given_t;
static void take_back(void *context, void *pointer, size_t size_bytes) {
    given_t *given = context;
    *given = (given_t){pointer, size_bytes, given->count + 1};
}

JTEST(Lru, AdoptedBlockGoesBackToItsOwnFunctionOnce) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
    static _Alignas(64) char foreign[500];
    given_t given = {NULL, 0, 0};
    size_t count = 0;
    JASSERT_OK(jallocator_lru_adopt(lru, foreign, sizeof foreign, 16, take_back, &given));
    JEXPECT_OK(jallocator_lru_get_count(lru, foreign, &count));
    JEXPECT_EQ(count, 1);
    jallocator_stats_t stats = stats_of(lru);
    JEXPECT_EQ(stats.live_count, 1);
    JEXPECT_EQ(stats.in_use_bytes, 500);
    JEXPECT_EQ(stats.reserved_bytes, 500);
    JEXPECT_EQ(jallocator_usable_size(lru, foreign, 500), 500);
    JEXPECT_STATUS(jallocator_destroy(lru), JSTATUS_BUSY);
    JEXPECT_OK(jallocator_lru_retain(lru, foreign));
    JEXPECT_OK(jallocator_lru_release(lru, foreign, NULL, NULL));
    JEXPECT_EQ(given.count, 0);
    give(lru, foreign, 500);
    JEXPECT_EQ(given.count, 1);
    JEXPECT_EQ(given.pointer, (void *)foreign);
    JEXPECT_EQ(given.size_bytes, 500);
    JEXPECT_FALSE(is_kept(lru, foreign));
    stats = stats_of(lru);
    JEXPECT_EQ(stats.live_count, 0);
    JEXPECT_EQ(stats.reserved_bytes, 0);
    JEXPECT_STATUS(jallocator_lru_release(lru, foreign, NULL, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "500 bytes");
    JEXPECT_EQ(given.count, 1);
    JEXPECT_EQ(jtest_allocation_count(), 0);
    JEXPECT_OK(jallocator_lru_adopt(lru, foreign, 100, 0, take_back, &given)); /* again, by release this time */
    JEXPECT_OK(jallocator_lru_release(lru, foreign, NULL, NULL));
    JEXPECT_EQ(given.count, 2);
    JEXPECT_EQ(given.size_bytes, 100);
    destroy_lru(lru);
}

JTEST(Lru, AdoptedWithoutAFunctionJoinsTheCache) {
    jallocator_t *below = jtest_failing_allocator(), *lru = make_lru(below, 0, 0, 0);
    void *pointer = take(below, 1000);
    JASSERT_OK(jallocator_lru_adopt(lru, pointer, 1000, 0, NULL, NULL));
    JEXPECT_OK(jallocator_lru_release(lru, pointer, NULL, NULL));
    JEXPECT_TRUE(is_kept(lru, pointer));
    JEXPECT_EQ(counters_of(lru).kept_bytes, 1000);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, pointer, 1000, 0, NULL, NULL), JSTATUS_EXISTS); /* kept is here too */
    JEXPECT_EQ(take(lru, 1000), pointer); /* 1000 bytes are enough for it, though it has no granule's multiple */
    give(lru, pointer, 1000);
    void *other = take(lru, 1001);
    JEXPECT_NE(other, pointer);
    give(lru, other, 1001);
    destroy_lru(lru); /* with 1000 bytes, or the allocator below complains */
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

JTEST(Lru, AdoptRefusesWhatItCannotTake) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
    static _Alignas(64) char foreign[64];
    given_t given = {NULL, 0, 0};
    void *live = take(lru, 1000);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, live, 1000, 0, take_back, &given), JSTATUS_EXISTS);
    JEXPECT_SUBSTR(jstatus_last_message(), "live");
    JEXPECT_STATUS(jallocator_lru_adopt(lru, foreign, 0, 0, take_back, &given), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, foreign, SIZE_MAX, 0, take_back, &given), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, NULL, 64, 0, take_back, &given), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_lru_adopt(NULL, foreign, 64, 0, take_back, &given), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, foreign, 64, 48, take_back, &given), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, foreign, 64, (size_t)1 << 31, take_back, &given), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, foreign + 8, 32, 64, take_back, &given), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, foreign + 8, 32, 0, take_back, &given), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(given.count, 0);
    JEXPECT_EQ(stats_of(lru).live_count, 1);
    give(lru, live, 1000);
    destroy_lru(lru);
}

/* ---- The object around it ------------------------------------------------------------------------------------------- */

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

static jstatus_t pass_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream, void **pointer) {
    return jallocator_allocate(context, size_bytes, alignment, stream, pointer);
}
static jstatus_t pass_deallocate(void *context, void *pointer, size_t size_bytes, jstream_t *stream) {
    return jallocator_deallocate(context, pointer, size_bytes, stream);
}
static jstatus_t pass_check(void *context) {
    (void)context;
    return JSTATUS_CORRUPTED;
}
static jallocator_t *make_adaptor(jallocator_t *below, jallocator_ops_t ops) {
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    options.below = below;
    ops.struct_size = sizeof ops;
    jallocator_t *adaptor = NULL;
    JEXPECT_OK(jallocator_create(&ops, below, &options, &adaptor));
    return adaptor;
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
    JASSERT_OK(jallocator_compose(NULL, "malloc+lru(layouts=2,bytes=4KiB,nearest=none,threads=none,name=c)", &lru));
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
    jallocator_ops_t ops = {.allocate = pass_allocate, .deallocate = pass_deallocate, .check = pass_check};
    jallocator_t *guard = make_adaptor(jtest_failing_allocator(), ops), *lru = make_lru(guard, 0, 0, 0);
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
    lru_block_t *block = &lru->blocks[number], *other = &lru->blocks[ji_ledger_find(&lru->by_address, live)->number];
    lru_layout_t *layout = &lru->layouts[block->layout];
#define SPOILED(what, value)                                                                                           \
    do {                                                                                                               \
        __typeof__(what) kept_ = what;                                                                                 \
        what = value;                                                                                                  \
        JEXPECT_STATUS(jallocator_check(allocator), JSTATUS_CORRUPTED);                                                \
        JEXPECT_SUBSTR(jstatus_last_message(), "\"lru\"");                                                             \
        what = kept_;                                                                                                  \
        JEXPECT_OK(jallocator_check(allocator));                                                                       \
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
    JEXPECT_EQ(jallocator_usable_size(allocator, &lru, 12), 12); /* what is not its own is as large as is said */
    give(allocator, pointer, 100);
    destroy_lru(allocator);
}

JTEST(Lru, NearestBeyondAllSizesIsAnySize) {
    static const size_t percents[] = {SIZE_MAX, SIZE_MAX / 16}; /* the sum overflows at either addition */
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

static jstatus_t same_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream, void **pointer) {
    (void)size_bytes, (void)alignment, (void)stream;
    *pointer = context;
    return JSTATUS_SUCCESS;
}
static jstatus_t same_deallocate(void *context, void *pointer, size_t size_bytes, jstream_t *stream) {
    (void)context, (void)pointer, (void)size_bytes, (void)stream;
    return JSTATUS_SUCCESS;
}
JTEST(Lru, OneBlockGivenOutTwiceBelowIsRefused) {
    static _Alignas(256) char memory[256];
    const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = same_allocate, .deallocate = same_deallocate, .find = pass_find};
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
    const size_t bytes = (size_t)1 << 30; /* of address space; the array below takes back from its top alone */
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

/* ---- Failures ------------------------------------------------------------------------------------------------------- */

JTEST(Lru, BookkeepingFailureLosesNothing) {
    enum { BLOCKS = 100 };
    static char foreign[BLOCKS];
    jallocator_t *below = jtest_failing_allocator();
    JFOR_EACH_FAILURE(i) {
        given_t given = {NULL, 0, 0};
        size_t adopted = 0, in_use = 0, live = 0;
        jallocator_t *lru = NULL;
        jstatus_t status = jallocator_create_lru(below, NULL, &lru);
        JEXPECT_EQ(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        if (status != JSTATUS_SUCCESS)
            continue;
        void *pointers[BLOCKS] = {NULL};
        for (size_t k = 0; k < BLOCKS; ++k) {
            const bool failed_before = jtest_metadata_failed();
            status = jallocator_allocate(lru, 64 * (k + 1), 0, NULL, &pointers[k]);
            if (status != JSTATUS_SUCCESS)
                JEXPECT_TRUE(status == JSTATUS_MEMORY_ERROR && !failed_before && jtest_metadata_failed());
            in_use += status == JSTATUS_SUCCESS ? 64 * (k + 1) : 0;
            live += status == JSTATUS_SUCCESS;
            status = jallocator_lru_adopt(lru, &foreign[k], 1, 1, take_back, &given);
            if (status != JSTATUS_SUCCESS)
                JEXPECT_TRUE(status == JSTATUS_MEMORY_ERROR && !failed_before && jtest_metadata_failed());
            adopted += status == JSTATUS_SUCCESS;
        }
        JEXPECT_EQ(jtest_live_bytes(), in_use);
        JEXPECT_EQ(stats_of(lru).live_count, live + adopted);
        JEXPECT_EQ(stats_of(lru).in_use_bytes, in_use + adopted);
        JEXPECT_OK(jallocator_check(lru));
        for (size_t k = 0; k < BLOCKS; ++k) {
            if (pointers[k] != NULL)
                give(lru, pointers[k], 64 * (k + 1));
            (void)jallocator_lru_release(lru, &foreign[k], NULL, NULL);
        }
        JEXPECT_EQ(given.count, adopted);
        destroy_lru(lru);
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
}

/* What streams need of bookkeeping can be missing as well: then a free waits, and does not fail. */
JTEST(Lru, BookkeepingFailureWithStreams) {
    jallocator_t *below = jtest_failing_allocator();
    jstream_t *first, *second;
    JASSERT_OK(jstream_create(jdevice_host(), &first));
    JASSERT_OK(jstream_create(jdevice_host(), &second));
    JFOR_EACH_FAILURE(i) {
        jallocator_t *lru = NULL;
        if (jallocator_create_lru(below, NULL, &lru) != JSTATUS_SUCCESS)
            continue;
        void *pointer = NULL;
        for (int k = 0; k < 4; ++k) {
            jstatus_t status = jallocator_allocate(lru, 1000, 0, k % 2 == 0 ? first : second, &pointer);
            if (status == JSTATUS_SUCCESS)
                JEXPECT_OK(jallocator_deallocate(lru, pointer, 1000, k < 2 ? first : second));
            else
                JEXPECT_TRUE(status == JSTATUS_MEMORY_ERROR && jtest_metadata_failed());
        }
        JEXPECT_EQ(stats_of(lru).live_count, 0);
        destroy_lru(lru);
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
}

JTEST(Lru, FailureBelowLosesNothing) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
    void *live = take(lru, 1000), *pointer;
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(jallocator_allocate(lru, 2000, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR); /* nothing to give back */
    JEXPECT_EQ(stats_of(lru).reserved_bytes, 1024);
    JEXPECT_EQ(counters_of(lru).miss_count, 1);
    keep(lru, 3000);
    jtest_fail_allocation_after(1);
    JEXPECT_OK(jallocator_allocate(lru, 2000, 0, NULL, &pointer)); /* after what was kept is gone, it is asked again */
    JEXPECT_EQ(jtest_live_bytes(), 1024 + 2048);
    JEXPECT_EQ(counters_of(lru).kept_blocks, 0);
    give(lru, pointer, 2000);
    give(lru, live, 1000);
    destroy_lru(lru);
}

/* Below refuses what is given back: it stays, and goes later. */
static atomic_bool refuses;
static jstatus_t refuse_deallocate(void *context, void *pointer, size_t size_bytes, jstream_t *stream) {
    return atomic_load(&refuses) ? JSTATUS_DEVICE_ERROR : jallocator_deallocate(context, pointer, size_bytes, stream);
}
JTEST(Lru, WhatBelowRefusesStaysKept) {
    jallocator_ops_t ops = {.allocate = pass_allocate, .deallocate = refuse_deallocate};
    jallocator_t *below = make_adaptor(jtest_failing_allocator(), ops), *lru = make_lru(below, 0, 1024, JALLOC_NONE);
    atomic_store(&refuses, true);
    void *one = take(lru, 1024), *two = take(lru, 1024);
    give(lru, one, 1024);
    give(lru, two, 1024);
    JEXPECT_EQ(counters_of(lru).kept_bytes, 2048);
    JEXPECT_EQ(counters_of(lru).eviction_count, 0);
    JEXPECT_STATUS(jallocator_trim(lru, 0), JSTATUS_DEVICE_ERROR);
    JEXPECT_EQ(counters_of(lru).kept_bytes, 2048);
    JEXPECT_OK(jallocator_check(lru));
    atomic_store(&refuses, false);
    JEXPECT_EQ(take(lru, 1024), two);
    give(lru, two, 1024);
    JEXPECT_EQ(counters_of(lru).kept_bytes, 1024);
    destroy_lru(lru);
    JEXPECT_EQ(jtest_live_bytes(), 0);
    JEXPECT_OK(jallocator_destroy(below));
}

JTEST(Lru, WhatCannotBeGivenBackAtTheEndIsSaid) {
    jallocator_ops_t ops = {.allocate = pass_allocate, .deallocate = refuse_deallocate};
    jallocator_t *below = make_adaptor(jtest_failing_allocator(), ops), *lru = make_lru(below, 0, 0, 0);
    void *pointer = keep(lru, 100);
    const size_t bytes = jallocator_usable_size(below, pointer, 128);
    atomic_store(&refuses, true);
    JEXPECT_OK(jallocator_destroy(lru));
    JEXPECT_SUBSTR(jtest_log_text(), "a kept block cannot be given back");
    atomic_store(&refuses, false);
    give(below, pointer, bytes);
    JEXPECT_OK(jallocator_destroy(below));
}

/* A device whose waits fail: nothing goes back that may still be in use, and what is said to fail has changed nothing. */
JTEST(Lru, WaitsThatFailLeaveEveryBlockWhereItIs) {
    static char foreign[64];
    pretend_gpu_t *gpu = pretend_gpu_make();
    given_t given = {NULL, 0, 0};
    jstream_t *stream;
    jallocator_t *below, *lru;
    JASSERT_OK(jstream_create(&gpu->device, &stream));
    JASSERT_OK(jallocator_create_device(&gpu->device, JMEMORY_DEVICE, &below));
    lru = make_lru(below, 0, 0, 0);
    JEXPECT_OK(jallocator_lru_adopt(lru, foreign, 64, 1, take_back, &given));
    gpu->fail_in = 1;
    JEXPECT_STATUS(jallocator_lru_release(lru, foreign, stream, NULL), JSTATUS_DEVICE_ERROR);
    JEXPECT_TRUE(gpu->failed);
    JEXPECT_EQ(given.count, 0);
    JEXPECT_EQ(stats_of(lru).live_count, 1);
    JEXPECT_OK(jallocator_lru_release(lru, foreign, stream, NULL));
    JEXPECT_EQ(given.count, 1);
    void *pointer = NULL;
    JEXPECT_OK(jallocator_allocate(lru, 512, 0, stream, &pointer));
    JEXPECT_OK(jallocator_deallocate(lru, pointer, 512, stream));
    gpu->fail_in = 1;
    JEXPECT_OK(jallocator_destroy(lru));
    JEXPECT_SUBSTR(jtest_log_text(), "a kept block cannot be given back");
    JEXPECT_OK(jallocator_deallocate(below, pointer, 512, stream));
    JEXPECT_OK(jallocator_destroy(below));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
}

/* ---- Streams -------------------------------------------------------------------------------------------------------- */

static void *take_on(jallocator_t *lru, size_t size, jstream_t *stream) {
    void *pointer = NULL;
    JEXPECT_OK(jallocator_allocate(lru, size, 0, stream, &pointer));
    return pointer;
}
static void give_on(jallocator_t *lru, void *pointer, size_t size, jstream_t *stream) {
    JEXPECT_OK(jallocator_deallocate(lru, pointer, size, stream));
}

/* Two streams; the first one stands at a gate. */
typedef struct streams {
    jstream_t *blocked, *other;
    jtest_gate_t gate;
} streams_t;
static void streams_make(streams_t *streams) {
    *streams = (streams_t){NULL, NULL, JTEST_GATE_INIT};
    JEXPECT_OK(jstream_create(jdevice_host(), &streams->blocked));
    JEXPECT_OK(jstream_create(jdevice_host(), &streams->other));
    JEXPECT_OK(jtest_gate_block(&streams->gate, jdevice_host(), streams->blocked));
}
static void streams_pass(streams_t *streams) {
    jtest_gate_open(&streams->gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), streams->blocked));
}
static void streams_end(streams_t *streams) {
    streams_pass(streams);
    JEXPECT_OK(jstream_destroy(streams->blocked));
    JEXPECT_OK(jstream_destroy(streams->other));
}

JTEST(Lru, BlockIsUsedOnAnotherStreamOnlyAfterItsOwnHasPassed) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 100);
    streams_t streams;
    streams_make(&streams);
    void *block = take_on(lru, 1024, streams.blocked);
    give_on(lru, block, 1024, streams.blocked);
    void *other = take_on(lru, 1024, streams.other), *inline_one = take(lru, 1024), *nearest = take(lru, 960);
    JEXPECT_NE(other, block);
    JEXPECT_NE(inline_one, block);
    JEXPECT_NE(nearest, block);
    JEXPECT_EQ(take_on(lru, 1024, streams.blocked), block); /* on its own at once */
    give_on(lru, block, 1024, streams.blocked);
    streams_pass(&streams);
    void *asked = take(lru, 1024); /* asking may put an event behind the release, which is reached a little later */
    JEXPECT_OK(jstream_synchronize(jdevice_host(), streams.blocked));
    JEXPECT_EQ(asked == block ? asked : take(lru, 1024), block);
    give(lru, block, 1024);
    if (asked != block)
        give(lru, asked, 1024);
    give_on(lru, other, 1024, streams.other);
    give(lru, inline_one, 1024);
    give(lru, nearest, 960);
    destroy_lru(lru);
    streams_end(&streams);
}

/* The block is looked for past those that are behind a fence, from the newest and from the oldest. */
JTEST(Lru, PassedBlocksAreFoundAmongThoseThatAreNot) {
    enum { FENCED = 40 };
    for (int oldest = 0; oldest < 2; ++oldest) {
        jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
        streams_t streams;
        streams_make(&streams);
        void *fenced[FENCED], *free_one = take(lru, 1024);
        for (size_t i = 0; i < FENCED; ++i)
            fenced[i] = take_on(lru, 1024, streams.blocked);
        if (oldest)
            give(lru, free_one, 1024);
        for (size_t i = 0; i < FENCED; ++i) {
            if (!oldest && i == FENCED - 3)
                give(lru, free_one, 1024);
            give_on(lru, fenced[i], 1024, streams.blocked);
        }
        JEXPECT_EQ(take_on(lru, 1024, streams.other), free_one);
        give(lru, free_one, 1024);
        streams_end(&streams);
        destroy_lru(lru);
    }
}

JTEST(Lru, EvictionPassesOverWhatAStreamStillUses) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 2048, JALLOC_NONE);
    streams_t streams;
    streams_make(&streams);
    void *fenced[3], *plain = take(lru, 1024);
    for (size_t i = 0; i < 3; ++i)
        fenced[i] = take(lru, 1024);
    for (size_t i = 0; i < 3; ++i)
        give_on(lru, fenced[i], 1024, streams.blocked);
    JEXPECT_EQ(jtest_deallocation_count(), 0);
    JEXPECT_EQ(counters_of(lru).kept_bytes, 3072); /* beyond the capacity rather than too early below */
    give(lru, plain, 1024);
    JEXPECT_FALSE(is_kept(lru, plain)); /* the only one that could be given back */
    JEXPECT_EQ(counters_of(lru).kept_bytes, 3072);
    streams_pass(&streams);
    keep(lru, 64); /* the next release finds that it has passed */
    JEXPECT_EQ(counters_of(lru).kept_bytes, 1024 + 64);
    JEXPECT_TRUE(is_kept(lru, fenced[2]));
    streams_end(&streams);
    destroy_lru(lru);
}

/* Out of memory, with memory that another stream has not passed: the request's stream waits for it, the host does not. */
JTEST(Lru, StreamWaitsForABlockBeforeTheRequestFails) {
    jallocator_t *array;
    JASSERT_OK(jallocator_create_array(jdevice_host(), jtest_guard_pages(4096), 4096, &array));
    jallocator_t *lru = make_lru(array, 0, 0, 50);
    streams_t streams;
    streams_make(&streams);
    void *block = take_on(lru, 4096, streams.blocked), *pointer = NULL;
    give_on(lru, block, 4096, streams.blocked);
    JEXPECT_STATUS(jallocator_allocate(lru, 3000, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR); /* inline cannot wait */
    JEXPECT_OK(jallocator_allocate(lru, 3000, 0, streams.other, &pointer));
    JEXPECT_EQ(pointer, block);
    JEXPECT_EQ(counters_of(lru).nearest_hit_count, 1);
    jevent_t *reached;
    bool passed = true;
    JASSERT_OK(jevent_create(jdevice_host(), &reached));
    JEXPECT_OK(jevent_record(reached, streams.other));
    jtest_sleep_ms(5);
    JEXPECT_OK(jevent_query(reached, &passed));
    JEXPECT_FALSE(passed); /* what comes on the other stream now stands behind the gate */
    streams_pass(&streams);
    JEXPECT_OK(jevent_synchronize(reached));
    JEXPECT_OK(jevent_destroy(reached));
    give_on(lru, pointer, 3000, streams.other);
    JEXPECT_OK(jallocator_trim(lru, 0)); /* waits */
    streams_end(&streams);
    destroy_lru(lru);
    JEXPECT_OK(jallocator_destroy(array));
}

/* Owners release on different streams: the block is free when all have passed. */
JTEST(Lru, EveryOwnersStreamMustHavePassed) {
    for (int inline_last = 0; inline_last < 2; ++inline_last) {
        jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
        streams_t streams;
        streams_make(&streams);
        void *block = take(lru, 1024), *others[2];
        JEXPECT_OK(jallocator_lru_retain(lru, block));
        JEXPECT_OK(jallocator_lru_release(lru, block, streams.blocked, NULL));
        JEXPECT_OK(jallocator_lru_release(lru, block, inline_last ? NULL : streams.other, NULL));
        for (int i = 0; i < 2; ++i) {
            others[i] = take(lru, 1024);
            JEXPECT_NE(others[i], block);
            jtest_sleep_ms(5); /* an event that the first one asked for could be reached */
        }
        streams_pass(&streams);
        JEXPECT_OK(jstream_synchronize(jdevice_host(), streams.other));
        JEXPECT_EQ(take(lru, 1024), block);
        give(lru, block, 1024);
        for (int i = 0; i < 2; ++i)
            give(lru, others[i], 1024);
        streams_end(&streams);
        destroy_lru(lru);
    }
}

/* Freed on the stream, used there again, and given back unused from elsewhere: the fence is still there. */
JTEST(Lru, FenceOutlivesAUseThatDidNothing) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
    streams_t streams;
    streams_make(&streams);
    void *block = take_on(lru, 1024, streams.blocked), *second;
    give_on(lru, block, 1024, streams.blocked);
    JEXPECT_EQ(take_on(lru, 1024, streams.blocked), block);
    give(lru, block, 1024);
    second = take(lru, 1024);
    JEXPECT_NE(second, block);
    give(lru, second, 1024);
    streams_end(&streams);
    JEXPECT_OK(jallocator_trim(lru, 0));
    destroy_lru(lru);
}

/* A destroyed stream has passed everything. */
JTEST(Lru, DestroyedStreamHasPassed) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    void *block = take_on(lru, 1024, stream);
    give_on(lru, block, 1024, stream);
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_EQ(take(lru, 1024), block);
    give(lru, block, 1024);
    destroy_lru(lru);
}

static void open_later(void *context) {
    jtest_sleep_ms(5);
    atomic_store((atomic_bool *)context, true);
}
static void expect_done(void *context, void *pointer, size_t size_bytes) {
    (void)pointer, (void)size_bytes;
    JEXPECT_TRUE(atomic_load((atomic_bool *)context));
}
static void run_later(void *arguments) { open_later(*(void **)arguments); }

/* An adopted block is given back when its stream has passed. */
JTEST(Lru, GiveBackOfAnAdoptedBlockWaitsForItsStream) {
    static char foreign[64];
    atomic_bool done = false;
    void *argument = &done;
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JASSERT_OK(jallocator_lru_adopt(lru, foreign, sizeof foreign, 1, expect_done, &done));
    JEXPECT_OK(jstream_launch(jdevice_host(), stream, run_later, &argument, sizeof argument));
    JEXPECT_OK(jallocator_lru_release(lru, foreign, stream, NULL));
    JEXPECT_TRUE(atomic_load(&done));
    JEXPECT_OK(jstream_destroy(stream));
    destroy_lru(lru);
}

/* ---- Threads -------------------------------------------------------------------------------------------------------- */

enum { THREADS = 8 };

typedef struct storm {
    jallocator_t *lru;
    pthread_barrier_t *start;
    void *shared;
    uint64_t seed;
    int64_t rounds;
    uint64_t failures, allocations;
} storm_t;

static void run_storm(storm_t storms[THREADS], int threads, void *(*body)(void *), jallocator_t *lru, void *shared,
                      int64_t rounds) {
    pthread_t handles[THREADS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int i = 0; i < threads; ++i) {
        storms[i] = (storm_t){lru, &start, shared, jtest_random() | 1, rounds, 0, 0};
        JEXPECT_EQ(pthread_create(&handles[i], NULL, body, &storms[i]), 0);
    }
    for (int i = 0; i < threads; ++i) {
        pthread_join(handles[i], NULL);
        JEXPECT_EQ(storms[i].failures, 0);
    }
    pthread_barrier_destroy(&start);
}

static void *retain_and_release(void *argument) {
    storm_t *storm = argument;
    pthread_barrier_wait(storm->start);
    for (int64_t i = 0; i < storm->rounds; ++i) {
        size_t left = 0;
        storm->failures += jallocator_lru_retain(storm->lru, storm->shared) != JSTATUS_SUCCESS;
        if (i % 2 == 0)
            storm->failures +=
                jallocator_lru_release(storm->lru, storm->shared, NULL, &left) != JSTATUS_SUCCESS || left == 0;
    }
    return NULL;
}
static void *release_all(void *argument) {
    storm_t *storm = argument;
    pthread_barrier_wait(storm->start);
    for (int64_t i = 0; i < storm->rounds / 2; ++i)
        storm->failures += jallocator_lru_release(storm->lru, storm->shared, NULL, NULL) != JSTATUS_SUCCESS;
    return NULL;
}

JTEST(Lru, CountsAreExactUnderAStorm) {
    storm_t storms[THREADS];
    const int64_t rounds = 2 * jtest_iterations(3000);
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
    void *shared = take(lru, 100);
    size_t count = 0;
    run_storm(storms, THREADS, retain_and_release, lru, shared, rounds);
    JEXPECT_OK(jallocator_lru_get_count(lru, shared, &count));
    JEXPECT_EQ(count, 1 + THREADS * rounds / 2);
    run_storm(storms, THREADS, release_all, lru, shared, rounds);
    JEXPECT_OK(jallocator_lru_get_count(lru, shared, &count));
    JEXPECT_EQ(count, 1);
    JEXPECT_EQ(stats_of(lru).live_count, 1);
    give(lru, shared, 100);
    JEXPECT_EQ(stats_of(lru).live_count, 0);
    destroy_lru(lru);
}

static void *allocate_and_free(void *argument) {
    storm_t *storm = argument;
    unsigned char *pointers[8] = {NULL};
    size_t sizes[8] = {0};
    pthread_barrier_wait(storm->start);
    for (int64_t i = 0; i < storm->rounds + 8; ++i) {
        size_t k = (size_t)(i % 8);
        if (pointers[k] != NULL) {
            storm->failures += pointers[k][0] != (unsigned char)(uintptr_t)storm ||
                               pointers[k][sizes[k] - 1] != (unsigned char)(uintptr_t)storm;
            storm->failures += (jtest_random_next(&storm->seed) & 1
                                    ? jallocator_deallocate(storm->lru, pointers[k], sizes[k], NULL)
                                    : jallocator_lru_release(storm->lru, pointers[k], NULL, NULL)) != JSTATUS_SUCCESS;
            pointers[k] = NULL;
        }
        if (i >= storm->rounds)
            continue;
        void *pointer = NULL;
        sizes[k] = 64 + jtest_random_next(&storm->seed) % 4000;
        storm->failures += jallocator_allocate(storm->lru, sizes[k], 0, NULL, &pointer) != JSTATUS_SUCCESS;
        pointers[k] = pointer;
        pointers[k][0] = pointers[k][sizes[k] - 1] = (unsigned char)(uintptr_t)storm;
        ++storm->allocations;
    }
    return NULL;
}

JTEST(Lru, ThreadsShareACache) {
    storm_t storms[THREADS];
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 16, 100000, 0);
    run_storm(storms, THREADS, allocate_and_free, lru, NULL, jtest_iterations(1500));
    uint64_t allocations = 0;
    for (int i = 0; i < THREADS; ++i)
        allocations += storms[i].allocations;
    const jlru_counters_t counters = counters_of(lru);
    const jallocator_stats_t stats = stats_of(lru);
    JEXPECT_EQ(stats.allocation_count, allocations);
    JEXPECT_EQ(stats.live_count, 0);
    JEXPECT_EQ(stats.in_use_bytes, 0);
    JEXPECT_EQ(counters.hit_count + counters.nearest_hit_count + counters.miss_count, allocations);
    JEXPECT_LE(counters.kept_bytes, 100000);
    JEXPECT_LE(counters.kept_layouts, 16);
    JEXPECT_EQ(jtest_live_bytes(), counters.kept_bytes);
    destroy_lru(lru);
}

/* Where the original's two caches came into being, one of them lost. */
static void *use_first(void *argument) {
    storm_t *storm = argument;
    void *pointer = NULL;
    pthread_barrier_wait(storm->start);
    storm->failures += jallocator_allocate(storm->lru, 256, 0, NULL, &pointer) != JSTATUS_SUCCESS;
    storm->failures += jallocator_lru_retain(storm->lru, pointer) != JSTATUS_SUCCESS;
    storm->failures += jallocator_lru_release(storm->lru, pointer, NULL, NULL) != JSTATUS_SUCCESS;
    storm->shared = pointer;
    return NULL;
}
JTEST(Lru, FirstUseByTwoThreadsAtOnce) {
    for (int64_t i = jtest_iterations(50); i > 0; --i) {
        storm_t storms[THREADS];
        jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
        run_storm(storms, 2, use_first, lru, NULL, 1);
        JEXPECT_NE(storms[0].shared, storms[1].shared);
        JEXPECT_EQ(stats_of(lru).live_count, 2);
        for (int k = 0; k < 2; ++k) {
            size_t count = 0;
            JEXPECT_OK(jallocator_lru_get_count(lru, storms[k].shared, &count));
            JEXPECT_EQ(count, 1);
            give(lru, storms[k].shared, 256);
        }
        JEXPECT_EQ(counters_of(lru).kept_blocks, 2);
        destroy_lru(lru);
    }
}

/* ---- The model ------------------------------------------------------------------------------------------------------ */

enum { MODEL_BLOCKS = 300 };

typedef struct model_block {
    void *pointer;
    size_t size, layout_bytes, alignment, owners; /* owners 0: kept */
    uint64_t kept_at;
} model_block_t;
typedef struct model_layout {
    size_t bytes, alignment;
    uint64_t used_at;
} model_layout_t;

typedef struct model {
    model_block_t blocks[MODEL_BLOCKS]; /* in no order */
    size_t count;
    model_layout_t layouts[MODEL_BLOCKS * 4]; /* all there ever were */
    size_t layout_count;
    uint64_t clock;
    size_t capacity_layouts, capacity_bytes, percent;
    jlru_counters_t counters;
    size_t reserved, in_use, live;
} model_t;

static model_layout_t *model_layout(model_t *model, size_t bytes, size_t alignment) {
    for (size_t i = 0; i < model->layout_count; ++i)
        if (model->layouts[i].bytes == bytes && model->layouts[i].alignment == alignment)
            return &model->layouts[i];
    model->layouts[model->layout_count] = (model_layout_t){bytes, alignment, 0};
    return &model->layouts[model->layout_count++];
}
static void model_use(model_t *model, const model_block_t *block) {
    model_layout(model, block->layout_bytes, block->alignment)->used_at = ++model->clock;
}
static void model_count_kept(model_t *model) {
    jlru_counters_t *counters = &model->counters;
    counters->kept_blocks = counters->kept_bytes = counters->kept_layouts = 0;
    model->reserved = model->in_use = model->live = 0;
    for (size_t i = 0; i < model->count; ++i) {
        const model_block_t *block = &model->blocks[i];
        model->reserved += block->layout_bytes;
        if (block->owners != 0) {
            model->in_use += block->size;
            ++model->live;
            continue;
        }
        ++counters->kept_blocks;
        counters->kept_bytes += block->layout_bytes;
        bool first = true;
        for (size_t k = 0; k < i; ++k)
            first = first && (model->blocks[k].owners != 0 || model->blocks[k].layout_bytes != block->layout_bytes ||
                              model->blocks[k].alignment != block->alignment);
        counters->kept_layouts += first;
    }
}
static void model_evict(model_t *model, size_t i) {
    model->blocks[i] = model->blocks[--model->count];
    ++model->counters.eviction_count;
    model_count_kept(model);
}
static size_t model_oldest(const model_t *model) {
    size_t oldest = MODEL_BLOCKS;
    for (size_t i = 0; i < model->count; ++i)
        if (model->blocks[i].owners == 0 &&
            (oldest == MODEL_BLOCKS || model->blocks[i].kept_at < model->blocks[oldest].kept_at))
            oldest = i;
    return oldest;
}
static void model_evict_oldest_layout(model_t *model) {
    const model_layout_t *oldest = NULL;
    for (size_t i = 0; i < model->count; ++i) {
        const model_block_t *block = &model->blocks[i];
        const model_layout_t *layout = model_layout(model, block->layout_bytes, block->alignment);
        if (block->owners == 0 && (oldest == NULL || layout->used_at < oldest->used_at))
            oldest = layout;
    }
    for (size_t i = model->count; i-- > 0;)
        if (model->blocks[i].owners == 0 && model->blocks[i].layout_bytes == oldest->bytes &&
            model->blocks[i].alignment == oldest->alignment)
            model_evict(model, i);
}
static void model_release(model_t *model, size_t i) {
    model_block_t *block = &model->blocks[i];
    if (--block->owners == 0) {
        block->kept_at = ++model->clock;
        model_use(model, block);
        model_count_kept(model);
        if (block->layout_bytes > model->capacity_bytes)
            model_evict(model, i);
        while (model->counters.kept_layouts > model->capacity_layouts)
            model_evict_oldest_layout(model);
        while (model->counters.kept_bytes > model->capacity_bytes)
            model_evict(model, model_oldest(model));
    }
    model_count_kept(model);
}
/* The kept block that serves the request: of its layout, else of the smallest that will do, the newest; MODEL_BLOCKS:
 * none. */
static size_t model_choose(const model_t *model, size_t size, size_t alignment, size_t bytes, size_t aligned) {
    size_t limit = bytes + bytes * (model->percent == JALLOC_NONE ? 0 : model->percent) / 100, best = MODEL_BLOCKS;
    for (size_t i = 0; i < model->count; ++i) {
        const model_block_t *block = &model->blocks[i], *rival = best != MODEL_BLOCKS ? &model->blocks[best] : NULL;
        if (block->owners != 0 || block->layout_bytes < size || block->layout_bytes > limit ||
            block->alignment < alignment)
            continue;
        bool exact = block->layout_bytes == bytes && block->alignment == aligned;
        bool rival_exact = rival != NULL && rival->layout_bytes == bytes && rival->alignment == aligned;
        if (rival == NULL || (exact && !rival_exact) ||
            (exact == rival_exact && (block->layout_bytes < rival->layout_bytes ||
                                      (block->layout_bytes == rival->layout_bytes &&
                                       (block->alignment < rival->alignment ||
                                        (block->alignment == rival->alignment && block->kept_at > rival->kept_at))))))
            best = i;
    }
    return best;
}

static void model_allocate(model_t *model, jallocator_t *lru, size_t size, size_t alignment) {
    size_t bytes = (size + 63) / 64 * 64, aligned = alignment > 64 ? alignment : 64;
    size_t chosen = model_choose(model, size, alignment, bytes, aligned);
    bool fails = jtest_random_between(0, 49) == 0;
    void *pointer = NULL;
    jtest_fail_allocation_after(fails ? 1 : 0);
    jstatus_t status = jallocator_allocate(lru, size, alignment, NULL, &pointer);
    jtest_fail_allocation_after(0);
    if (chosen != MODEL_BLOCKS) {
        model_block_t *block = &model->blocks[chosen];
        JEXPECT_OK(status);
        JEXPECT_EQ(pointer, block->pointer);
        ++*(block->layout_bytes == bytes && block->alignment == aligned ? &model->counters.hit_count
                                                                        : &model->counters.nearest_hit_count);
        model_use(model, block);
        block->owners = 1;
        block->size = size;
    } else if (fails && model->counters.kept_blocks == 0) {
        JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
    } else {
        JEXPECT_OK(status);
        if (fails)
            for (size_t i = model->count; i-- > 0;)
                if (model->blocks[i].owners == 0)
                    model_evict(model, i);
        for (size_t i = 0; i < model->count; ++i)
            JEXPECT_NE(pointer, model->blocks[i].pointer);
        ++model->counters.miss_count;
        model->blocks[model->count++] = (model_block_t){pointer, size, bytes, aligned, 1, 0};
    }
    model_count_kept(model);
}

static void model_compare(model_t *model, jallocator_t *lru) {
    const jlru_counters_t *expected = &model->counters, actual = counters_of(lru);
    const jallocator_stats_t stats = stats_of(lru);
    JEXPECT_EQ(actual.hit_count, expected->hit_count);
    JEXPECT_EQ(actual.nearest_hit_count, expected->nearest_hit_count);
    JEXPECT_EQ(actual.miss_count, expected->miss_count);
    JEXPECT_EQ(actual.eviction_count, expected->eviction_count);
    JEXPECT_EQ(actual.kept_layouts, expected->kept_layouts);
    JEXPECT_EQ(actual.kept_blocks, expected->kept_blocks);
    JEXPECT_EQ(actual.kept_bytes, expected->kept_bytes);
    JEXPECT_EQ(stats.in_use_bytes, model->in_use);
    JEXPECT_EQ(stats.live_count, model->live);
    JEXPECT_EQ(stats.reserved_bytes, model->reserved);
    JEXPECT_EQ(stats.free_bytes, expected->kept_bytes);
    JEXPECT_EQ(jtest_live_bytes(), model->reserved);
}

/* A live block's place in the model; MODEL_BLOCKS: there is none. */
static size_t model_any_live(const model_t *model) {
    if (model->live == 0)
        return MODEL_BLOCKS;
    size_t i = (size_t)jtest_random_between(0, (int64_t)model->count - 1);
    while (model->blocks[i].owners == 0)
        i = (i + 1) % model->count;
    return i;
}

static const struct model_case {
    const char *label;
    size_t layouts, bytes, nearest, sizes;
} model_cases[] = {
    {"roomy", 256, (size_t)1 << 30, 12, 4000}, {"few_layouts", 3, (size_t)1 << 30, 30, 1000},
    {"few_bytes", 256, 3000, 12, 2000},        {"tight", 2, 1500, JALLOC_NONE, 2500},
    {"any_will_do", 8, 8000, 1000, 4000},
};
static void model_label(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const struct model_case *)parameter)->label);
}

JTEST_P_NAMED(Lru, DoesWhatAListDoes, struct model_case, model_cases, model_label) {
    static model_t model;
    memset(&model, 0, sizeof model);
    model.capacity_layouts = param->layouts;
    model.capacity_bytes = param->bytes;
    model.percent = param->nearest;
    jallocator_t *lru = make_lru(jtest_failing_allocator(), param->layouts, param->bytes, param->nearest);
    for (int64_t step = jtest_iterations(6000); step > 0 && !jtest_has_failure(); --step) {
        size_t live = model_any_live(&model);
        int64_t what = jtest_random_between(0, 99);
        if (what < 45 && model.live < 40 && model.count < MODEL_BLOCKS - 1) {
            model_allocate(&model, lru, (size_t)jtest_random_between(1, (int64_t)param->sizes),
                           jtest_random_between(0, 9) == 0 ? 1024 : (size_t)1 << jtest_random_between(0, 7));
        } else if (what < 85 && live != MODEL_BLOCKS) {
            size_t left = 0;
            if (what % 2 == 0)
                JEXPECT_OK(jallocator_deallocate(lru, model.blocks[live].pointer, model.blocks[live].size, NULL));
            else
                JEXPECT_OK(jallocator_lru_release(lru, model.blocks[live].pointer, NULL, &left));
            if (what % 2 != 0)
                JEXPECT_EQ(left, model.blocks[live].owners - 1);
            model_release(&model, live);
        } else if (what < 95 && live != MODEL_BLOCKS) {
            JEXPECT_OK(jallocator_lru_retain(lru, model.blocks[live].pointer));
            ++model.blocks[live].owners;
        } else if (what == 99) {
            size_t most = (size_t)jtest_random_between(0, (int64_t)(2 * model.counters.kept_bytes));
            JEXPECT_OK(jallocator_trim(lru, most));
            for (const uint64_t evictions = model.counters.eviction_count; model.counters.kept_bytes > most;
                 model.counters.eviction_count = evictions)
                model_evict(&model, model_oldest(&model));
        }
        model_compare(&model, lru);
        if (step % 64 == 0)
            JEXPECT_OK(jallocator_check(lru));
    }
    for (size_t i = 0; i < model.count; ++i)
        for (; model.blocks[i].owners != 0; --model.blocks[i].owners)
            JEXPECT_OK(jallocator_lru_release(lru, model.blocks[i].pointer, NULL, NULL));
    destroy_lru(lru);
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

/* How far a stream is behind does not make a call slow: it looks at some of what is behind fences, then lets it be. */
JTEST(Lru, LooksAtSomeOfWhatAStreamStillUses) {
    enum { COUNT = 40 };
    jdevice_t *host = jdevice_host();
    for (int layouts = 1; layouts <= COUNT; layouts += COUNT - 1) { /* all of one layout, each of its own */
        jtest_gate_t gate = JTEST_GATE_INIT;
        jstream_t *stream;
        jallocator_t *lru = make_lru(jtest_failing_allocator(), layouts == 1 ? 0 : 2, 0, JALLOC_NONE);
        void *slow[COUNT], *other;
        JASSERT_OK(jstream_create(host, &stream));
        for (int i = 0; i < COUNT; ++i)
            JASSERT_OK(jallocator_allocate(lru, 1024 * (size_t)(1 + i % layouts), 0, stream, &slow[i]));
        JASSERT_OK(jtest_gate_block(&gate, host, stream));
        for (int i = 0; i < COUNT; ++i)
            JEXPECT_OK(jallocator_deallocate(lru, slow[i], 1024 * (size_t)(1 + i % layouts), stream));
        JEXPECT_EQ(counters_of(lru).kept_blocks, COUNT); /* more than it should, for as long */
        other = take(lru, 1024);
        for (int i = 0; i < COUNT; ++i)
            JEXPECT_NE(other, slow[i]);
        give(lru, other, 1024);
        jtest_gate_open(&gate);
        for (int i = 0; i < 2; ++i) { /* the first one may have to ask where the stream is */
            JASSERT_OK(jstream_synchronize(host, stream));
            (void)keep(lru, 1024);
        }
        if (layouts == 1)
            JEXPECT_EQ(counters_of(lru).kept_blocks, COUNT + 1);
        else
            JEXPECT_LE(counters_of(lru).kept_blocks, 3);
        destroy_lru(lru);
        JEXPECT_OK(jstream_destroy(stream));
    }
}
