/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What only the pool promises: which buffer serves a request, which one goes back, and when the
 * limit grows. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/device.h"
#include "jalloc/policy.h"
#include "jalloc/provider.h"

#include <string.h>

static jallocator_t *make(jpool_rounding_t rounding, size_t limit_count, size_t limit_bytes,
                          bool fixed) {
    jpool_options_t options = JPOOL_OPTIONS_INIT;
    jallocator_t *pool = NULL;
    options.rounding = rounding;
    options.limit_count = limit_count;
    options.limit_bytes = limit_bytes;
    options.fixed = fixed;
    JEXPECT_OK(jallocator_create_pool(jtest_failing_allocator(), &options, &pool));
    return pool;
}
static jpool_counters_t counters_of(jallocator_t *pool) {
    jpool_counters_t counters = JPOOL_COUNTERS_INIT;
    JEXPECT_OK(jallocator_pool_get_counters(pool, &counters));
    return counters;
}

JTEST(AllocPool, RoundsToPowersOfTwoAndUsesTheLatestBufferFirst) {
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 0, 0, false);
    static const size_t cases[][2] = {{1, 64},      {64, 64},     {65, 128},
                                      {1000, 1024}, {1024, 1024}, {1025, 2048}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        void *pointer = take(pool, cases[i][0]);
        JEXPECT_EQ(jallocator_usable_size(pool, pointer, cases[i][0]), cases[i][1]);
        give(pool, pointer, cases[i][0]);
    }
    JEXPECT_OK(jallocator_trim(pool, 0));
    void *a = take(pool, 1000), *b = take(pool, 1001);
    give(pool, a, 1000);
    give(pool, b, 1001);
    JEXPECT_EQ(take(pool, 600), b);
    JEXPECT_EQ(take(pool, 1024), a);
    void *c = take(pool, 512); /* another class */
    JEXPECT_NE(c, a);
    give(pool, c, 512);
    give(pool, a, 1024);
    give(pool, b, 600);
    const jpool_counters_t counters = counters_of(pool);
    JEXPECT_EQ(counters.hit_count, 2 + 2); /* 64 after 1, 1024 after 1000 */
    JEXPECT_EQ(counters.miss_count, 4 + 3);
    JEXPECT_EQ(counters.eviction_count, 0);
    JEXPECT_EQ(counters.limit_count, 64);
    JEXPECT_OK(jallocator_destroy(pool));
}

JTEST(AllocPool, WithoutRoundingOnlyTheSameSizeServes) {
    jallocator_t *pool = make(JPOOL_ROUND_NONE, 0, 0, false);
    void *a = take(pool, 1000);
    JEXPECT_EQ(jtest_live_bytes(), 1000);
    give(pool, a, 1000);
    void *b = take(pool, 999);
    JEXPECT_NE(b, a);
    JEXPECT_EQ(take(pool, 1000), a);
    give(pool, a, 1000);
    give(pool, b, 999);
    JEXPECT_OK(jallocator_destroy(pool));
}

JTEST(AllocPool, AlignmentIsPartOfTheClass) {
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 0, 0, false);
    void *a, *b, *c;
    JASSERT_OK(jallocator_allocate(pool, 4096, 4096, NULL, &a));
    JEXPECT_EQ((uintptr_t)a % 4096, 0);
    give(pool, a, 4096);
    b = take(pool, 4096); /* the granule */
    JEXPECT_NE(b, a);
    JASSERT_OK(jallocator_allocate(pool, 4000, 4096, NULL, &c));
    JEXPECT_EQ(c, a);
    give(pool, b, 4096);
    JASSERT_OK(jallocator_allocate(pool, 4096, 1, NULL, &b)); /* below the granule: all one class */
    JEXPECT_EQ(counters_of(pool).hit_count, 2);
    give(pool, b, 4096);
    give(pool, c, 4000);
    JEXPECT_OK(jallocator_destroy(pool));
}

JTEST(AllocPool, KeepsAtMostSoManyBuffersAndGivesTheOldestBack) {
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 3, 0, true);
    void *pointers[5], *again;
    for (size_t i = 0; i < 5; ++i)
        pointers[i] = take(pool, (size_t)64 << i);
    for (size_t i = 0; i < 3; ++i)
        give(pool, pointers[i], (size_t)64 << i);
    JEXPECT_EQ(jtest_deallocation_count(), 0);
    JEXPECT_EQ(stats_of(pool).free_bytes, 64 + 128 + 256);
    JEXPECT_EQ(stats_of(pool).largest_free_bytes, 256);
    again = take(pool, 64); /* #0 is used: #1 is now the oldest */
    JEXPECT_EQ(again, pointers[0]);
    give(pool, again, 64);
    give(pool, pointers[3], 512); /* #1 goes */
    JEXPECT_EQ(jtest_deallocation_count(), 1);
    JEXPECT_EQ(stats_of(pool).free_bytes, 64 + 256 + 512);
    give(pool, pointers[4], 1024); /* #2 goes */
    JEXPECT_EQ(stats_of(pool).free_bytes, 64 + 512 + 1024);
    JEXPECT_EQ(counters_of(pool).eviction_count, 2);
    JEXPECT_EQ(stats_of(pool).reserved_bytes, 64 + 512 + 1024);
    JEXPECT_EQ(jtest_live_bytes(), 64 + 512 + 1024);
    JEXPECT_EQ(stats_of(pool).peak_reserved_bytes, 64 * 31);
    JEXPECT_OK(jallocator_clear_stats(pool));
    JEXPECT_EQ(stats_of(pool).peak_reserved_bytes, 64 + 512 + 1024);
    JEXPECT_OK(jallocator_destroy(pool));
}

JTEST(AllocPool, KeepsAtMostSoManyBytes) {
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 0, 1024, false);
    void *a = take(pool, 512), *b = take(pool, 512), *c = take(pool, 64), *large = take(pool, 2048);
    give(pool, a, 512);
    give(pool, b, 512); /* exactly the limit */
    JEXPECT_EQ(counters_of(pool).eviction_count, 0);
    give(pool, large, 2048); /* larger than the limit: goes, and drives no other out */
    JEXPECT_EQ(stats_of(pool).free_bytes, 1024);
    JEXPECT_EQ(counters_of(pool).eviction_count, 1);
    give(pool, c, 64); /* a goes */
    JEXPECT_EQ(stats_of(pool).free_bytes, 512 + 64);
    JEXPECT_EQ(counters_of(pool).eviction_count, 2);
    JEXPECT_EQ(take(pool, 512), b);
    give(pool, b, 512);
    JEXPECT_OK(jallocator_destroy(pool));
}

/* The calls of one interval: so many rounds that each evict and miss, after so many that hit. */
static void churn(jallocator_t *pool, size_t hits, size_t evictions) {
    for (size_t i = 0; i < hits; ++i)
        give(pool, take(pool, 64), 64);
    for (size_t i = 0; i < evictions; ++i) {
        /* Two sizes in turn, room for one: each goes when the other comes. */
        const size_t size = i % 2 != 0 ? 64 : 128;
        give(pool, take(pool, size), size);
    }
}

JTEST(AllocPool, LimitGrowsAfterAThousandEvictionsWhereThePoolIsTooSmall) {
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 1, 0, false);
    give(pool, take(pool, 64), 64);
    churn(pool, 0, 999);
    JEXPECT_EQ(counters_of(pool).eviction_count, 999);
    JEXPECT_EQ(counters_of(pool).limit_count, 1);
    churn(pool, 0, 1);                                 /* 128, which evicts one more */
    JEXPECT_EQ(counters_of(pool).eviction_count, 999); /* the same size as the last one: a hit */
    give(pool, take(pool, 64), 64);
    JEXPECT_EQ(counters_of(pool).eviction_count, 1000);
    JEXPECT_EQ(counters_of(pool).limit_count, 100); /* no less */
    JEXPECT_OK(jallocator_destroy(pool));
}

/* Fills a pool beyond its limit by one thousand buffers in one go. */
static void evict_a_thousand(jallocator_t *pool, size_t limit) {
    static void *pointers[3000];
    for (size_t i = 0; i < limit + 1000; ++i)
        pointers[i] = take(pool, 64);
    for (size_t i = 0; i < limit + 1000; ++i)
        give(pool, pointers[i], 64);
}

JTEST(AllocPool, LimitGrowsByTenPercent) {
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 55, 0, false);
    evict_a_thousand(pool, 55);
    JEXPECT_EQ(counters_of(pool).eviction_count, 1000);
    static const size_t limits[] = {100, 110, 121, 133, 146};
    for (size_t i = 0; i < 5; ++i) {
        JEXPECT_EQ(counters_of(pool).limit_count, limits[i]);
        evict_a_thousand(pool, limits[i]);
    }
    JEXPECT_OK(jallocator_destroy(pool));
    pool = make(JPOOL_ROUND_POWER_OF_TWO, 55, 0, true);
    evict_a_thousand(pool, 55);
    JEXPECT_EQ(counters_of(pool).limit_count, 55);
    JEXPECT_OK(jallocator_destroy(pool));
}

/* 1,000 evictions among F frees are more than 0.2% where F < 500,000. */
JTEST(AllocPool, LimitStaysWhereEvictionsAreRare) {
    for (int too_many = 0; too_many < 2; ++too_many) {
        jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 1, 0, false);
        give(pool, take(pool, 64), 64);                        /* 1 free, no eviction */
        churn(pool, 500000 - 1001 - (too_many ? 1 : 0), 1000); /* each evicts: 128, 64, 128, ... */
        JEXPECT_EQ(counters_of(pool).eviction_count, 1000);
        JEXPECT_EQ(counters_of(pool).limit_count, too_many ? 100 : 1);
        JEXPECT_OK(jallocator_destroy(pool));
    }
}

/* Many evictions of buffers that were all taken before the counters were cleared: no request went
 * below since. */
JTEST(AllocPool, LimitStaysWhereFewRequestsGoBelow) {
    enum { COUNT = 55 + 1000 };
    static void *pointers[COUNT];
    for (int clears = 0; clears < 2; ++clears) {
        jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 55, 0, false);
        for (size_t i = 0; i < COUNT; ++i)
            pointers[i] = take(pool, 64);
        if (clears)
            JEXPECT_OK(jallocator_pool_clear_counters(pool));
        for (size_t i = 0; i < COUNT; ++i)
            give(pool, pointers[i], 64);
        const jpool_counters_t counters = counters_of(pool);
        JEXPECT_EQ(counters.eviction_count, 1000);
        JEXPECT_EQ(counters.put_count, COUNT);
        JEXPECT_EQ(counters.miss_count, clears ? 0 : COUNT);
        JEXPECT_EQ(counters.limit_count, clears ? 55 : 100);
        JEXPECT_OK(jallocator_destroy(pool));
    }
}

/* The numbers of TensorFlow's own test of auto_resize: ten sizes in turn through a pool of two. */
JTEST(AllocPool, GrowsAsTensorFlowsDoes) {
    jallocator_t *pool = make(JPOOL_ROUND_NONE, 2, 0, false);
    for (int round = 0; round <= 120; ++round) {
        for (int i = 0; i < 10; ++i)
            give(pool, take(pool, (size_t)64 << i), (size_t)64 << i);
        if (round == 0) {
            const jpool_counters_t counters = counters_of(pool);
            JEXPECT_EQ(counters.hit_count, 0);
            JEXPECT_EQ(counters.miss_count, 10);
            JEXPECT_EQ(counters.put_count, 10);
            JEXPECT_EQ(counters.eviction_count, 8);
            JEXPECT_EQ(counters.limit_count, 2);
        }
    }
    JEXPECT_EQ(counters_of(pool).limit_count, 100);
    JEXPECT_GT(counters_of(pool).hit_count, 0); /* since then */
    JEXPECT_OK(jallocator_destroy(pool));
}

/* And of its pool of size 0: everything passes, nothing is counted. */
JTEST(AllocPool, KeepsNothingWhereThatIsAskedFor) {
    static const char *const stages[] = {"pool(count=none)", "pool(count=none,fixed)"};
    for (int s = 0; s < 3; ++s) {
        jallocator_t *pool = NULL;
        if (s < 2)
            JASSERT_OK(jallocator_compose_over(jtest_failing_allocator(), stages[s], &pool));
        else
            pool = make(JPOOL_ROUND_POWER_OF_TWO, JALLOC_NONE, 0, false);
        for (int i = 0; i < 3000; ++i) {
            give(pool, take(pool, 64), 64);
            JASSERT_EQ(stats_of(pool).reserved_bytes, 0);
        }
        const jpool_counters_t counters = counters_of(pool);
        JEXPECT_EQ(counters.hit_count + counters.miss_count + counters.put_count +
                       counters.eviction_count,
                   0);
        JEXPECT_EQ(counters.limit_count, 0);
        JEXPECT_OK(jallocator_destroy(pool));
    }
}

/* What is granted is what usable sizes say. */
JTEST(AllocPool, CountsWhatIsGranted) {
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 0, 0, false);
    void *a = take(pool, 1000), *b = take(pool, 65);
    JEXPECT_EQ(stats_of(pool).granted_bytes, 1024 + 128);
    give(pool, a, 1000);
    JEXPECT_EQ(stats_of(pool).granted_bytes, 128);
    JEXPECT_EQ(stats_of(pool).peak_granted_bytes, 1024 + 128);
    JEXPECT_OK(jallocator_clear_stats(pool));
    JEXPECT_EQ(stats_of(pool).peak_granted_bytes, 128);
    give(pool, b, 65);
    JEXPECT_OK(jallocator_destroy(pool));
}

JTEST(AllocPool, BytesDoNotMakeTheCountGrow) {
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 4, 128, false);
    for (int i = 0; i < 3000; ++i)
        give(pool, take(pool, i % 2 != 0 ? 64 : 128), i % 2 != 0 ? 64 : 128);
    JEXPECT_GE(counters_of(pool).eviction_count, 2000);
    JEXPECT_EQ(counters_of(pool).limit_count, 4);
    JEXPECT_OK(jallocator_destroy(pool));
}

/* The records of what came and went are used again. */
JTEST(AllocPool, BookkeepingDoesNotGrowWithTheCalls) {
    jallocator_t *pool = make(JPOOL_ROUND_NONE, 2, 0, true);
    for (size_t i = 1; i < 100; ++i)
        give(pool, take(pool, i), i);
    const uint64_t before = jtest_metadata_allocation_count();
    for (size_t i = 100; i < 2000; ++i)
        give(pool, take(pool, i), i);
    JEXPECT_EQ(jtest_metadata_allocation_count(), before);
    JEXPECT_OK(jallocator_destroy(pool));
}

JTEST(AllocPool, KnowsForeignInteriorAndFreedPointersAndWrongSizes) {
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 0, 0, false);
    void *a, *other = take(pool, 5000);
    {
        JALLOC_TAG("solver");
        a = take(pool, 1000);
    }
    JEXPECT_STATUS(jallocator_deallocate(pool, (char *)a + 64, 1000, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "inside the block");
    JEXPECT_SUBSTR(jstatus_last_message(), "solver");
    JEXPECT_STATUS(jallocator_deallocate(pool, &a, 8, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(jallocator_usable_size(pool, &a, 8), 8); /* what it knows nothing of */
    JEXPECT_STATUS(jallocator_deallocate(pool, a, 1024, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_SUBSTR(jstatus_last_message(), "solver");
    jallocation_t block = JALLOCATION_INIT;
    JEXPECT_OK(jallocator_find(pool, (char *)a + 999, &block));
    JEXPECT_EQ(block.pointer, a);
    JEXPECT_EQ(block.size_bytes, 1000);
    JEXPECT_EQ(block.usable_bytes, 1024);
    JEXPECT_STREQ(jtag_name(block.tag), "solver");
    JEXPECT_EQ(stats_of(pool).in_use_bytes, 6000);
    give(pool, a, 1000);
    JEXPECT_STATUS(jallocator_deallocate(pool, a, 1000, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(pool, a, 64, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "given back already");
    JEXPECT_STATUS(jallocator_find(pool, a, &block), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(stats_of(pool).in_use_bytes, 5000);
    JEXPECT_EQ(stats_of(pool).live_count, 1);
    give(pool, other, 5000);
    JEXPECT_OK(jallocator_destroy(pool));
}

static bool count_free(void *context, const jallocation_t *block) {
    size_t *bytes = context;
    bytes[block->live] += block->size_bytes;
    return true;
}

JTEST(AllocPool, TrimGivesTheOldestBackUntilSoMuchIsKept) {
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 0, 0, false);
    void *a = take(pool, 100), *b = take(pool, 200), *c = take(pool, 400), *live = take(pool, 300);
    give(pool, a, 100);
    give(pool, b, 200);
    give(pool, c, 400);
    size_t shown[2] = {0, 0};
    JEXPECT_OK(jallocator_visit(pool, count_free, shown));
    JEXPECT_EQ(shown[0], 128 + 256 + 512);
    JEXPECT_EQ(shown[1], 300);
    JEXPECT_OK(jallocator_trim(pool, 896));
    JEXPECT_EQ(stats_of(pool).free_bytes, 896);
    JEXPECT_OK(jallocator_trim(pool, 700)); /* a, and b: 512 are left */
    JEXPECT_EQ(stats_of(pool).free_bytes, 512);
    JEXPECT_EQ(counters_of(pool).eviction_count, 0); /* not to keep a limit */
    JEXPECT_OK(jallocator_trim(pool, 0));
    JEXPECT_EQ(jtest_live_bytes(), 512); /* the live one's */
    give(pool, live, 300);
    JEXPECT_OK(jallocator_destroy(pool));
}

JTEST(AllocPool, GivesWhatItKeepsBackBeforeARequestFails) {
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 0, 0, false);
    void *pointer = NULL;
    give(pool, take(pool, 64), 64);
    give(pool, take(pool, 128), 128);
    jtest_fail_allocation_after(1);
    JEXPECT_OK(jallocator_allocate(pool, 256, 0, NULL, &pointer));
    JEXPECT_EQ(jtest_live_bytes(), 256);
    JEXPECT_EQ(stats_of(pool).free_bytes, 0);
    JEXPECT_EQ(stats_of(pool).largest_free_bytes, 0);
    jtest_fail_allocation_after(1); /* nothing is kept: it fails */
    void *none = &none;
    JEXPECT_STATUS(jallocator_allocate(pool, 512, 0, NULL, &none), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(stats_of(pool).failure_count, 1);
    JEXPECT_EQ(stats_of(pool).reserved_bytes, 256);
    give(pool, pointer, 256);
    JEXPECT_OK(jallocator_destroy(pool));
    /* Or it is not enough. */
    JASSERT_OK(jallocator_compose(NULL, "malloc+limit(limit=1K)+pool", &pool));
    give(pool, take(pool, 512), 512);
    JEXPECT_STATUS(jallocator_allocate(pool, 2048, 0, NULL, &none), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(stats_of(pool).reserved_bytes, 0);
    JEXPECT_OK(jallocator_destroy(pool));
}

JTEST(AllocPool, SizesThatCannotBeRoundedAreRefused) {
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 0, 0, false);
    void *pointer = NULL;
    JEXPECT_STATUS(jallocator_allocate(pool, SIZE_MAX / 2 + 2, 0, NULL, &pointer),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_allocate(pool, SIZE_MAX / 32 + 1, 0, NULL, &pointer),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(jtest_allocation_count(), 0);
    JEXPECT_OK(jallocator_destroy(pool));
}

JTEST(AllocPool, RefusesOptionsThatItDoesNotKnow) {
    jallocator_t *pool = NULL, *below = jtest_failing_allocator();
    jpool_options_t options = JPOOL_OPTIONS_INIT;
    jpool_counters_t counters = JPOOL_COUNTERS_INIT;
    JEXPECT_STATUS(jallocator_create_pool(NULL, NULL, &pool), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_pool(below, NULL, NULL), JSTATUS_INVALID_POINTER);
    options.threads = JALLOCATOR_THREADS_SAFE;
    JEXPECT_STATUS(jallocator_create_pool(below, &options, &pool), JSTATUS_INVALID_VALUE);
    options.threads = JALLOCATOR_THREADS_NONE;
    options.rounding = (jpool_rounding_t)2;
    JEXPECT_STATUS(jallocator_create_pool(below, &options, &pool), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(),
                   "must be JPOOL_ROUND_POWER_OF_TWO (0) or JPOOL_ROUND_NONE (1)");
    JEXPECT_NULL(pool);
    options.rounding = JPOOL_ROUND_NONE;
    JASSERT_OK(jallocator_create_pool(below, &options, &pool));
    JEXPECT_EQ(jallocator_threads(pool), JALLOCATOR_THREADS_NONE);
    JEXPECT_STATUS(jallocator_pool_get_counters(below, &counters), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_pool_get_counters(NULL, &counters), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_pool_get_counters(pool, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_pool_clear_counters(below), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_pool_clear_counters(NULL), JSTATUS_INVALID_POINTER);
    counters.struct_size = 8;
    JEXPECT_STATUS(jallocator_pool_get_counters(pool, &counters), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jallocator_destroy(pool));
}

/* Whatever bookkeeping is short, a request fails without a trace and a free succeeds. */
JTEST(AllocPool, BookkeepingMayFailAtAnyTime) {
    jallocator_t *below = jtest_failing_allocator();
    JFOR_EACH_FAILURE(i) {
        enum { COUNT = 100 };
        void *pointers[COUNT];
        size_t live = 0, sizes = 0;
        jallocator_t *pool = NULL;
        jstatus_t status = jallocator_create_pool(below, NULL, &pool);
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            continue;
        }
        for (size_t k = 0; k < COUNT; ++k) {
            pointers[k] = NULL;
            status = jallocator_allocate(pool, 64 * (k + 1), 0, NULL, &pointers[k]);
            live += status == JSTATUS_SUCCESS;
            sizes += status == JSTATUS_SUCCESS ? 64 * (k + 1) : 0;
            if (status != JSTATUS_SUCCESS)
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
        }
        JEXPECT_EQ(stats_of(pool).live_count, live);
        JEXPECT_EQ(stats_of(pool).in_use_bytes, sizes);
        JEXPECT_EQ(stats_of(pool).reserved_bytes, jtest_live_bytes());
        for (size_t k = 0; k < COUNT; ++k)
            JEXPECT_OK(pointers[k] != NULL
                           ? jallocator_deallocate(pool, pointers[k], 64 * (k + 1), NULL)
                           : JSTATUS_SUCCESS);
        JEXPECT_EQ(stats_of(pool).reserved_bytes, jtest_live_bytes());
        JEXPECT_OK(jallocator_destroy(pool));
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
}

JTEST(AllocPool, ABufferThatLacksARecordGoesBackBelow) {
    enum { COUNT = 200, BYTES = 4096 };
    void *pointers[COUNT];
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, JALLOC_UNLIMITED, JALLOC_UNLIMITED, true);
    for (size_t i = 0; i < COUNT; ++i)
        pointers[i] = take(pool, BYTES);

    give(pool, pointers[0], BYTES); /* its class is known now: what fails is the records' growth */
    for (size_t i = 1; i < COUNT; ++i) {
        if (i == 2)
            jtest_fail_metadata_after(1);
        give(pool, pointers[i], BYTES);
    }
    JEXPECT_TRUE(jtest_metadata_failed());
    jtest_fail_metadata_after(0);

    JEXPECT_EQ(counters_of(pool).eviction_count, 1);
    JEXPECT_EQ(jtest_live_bytes(), (COUNT - 1) * BYTES);
    JEXPECT_EQ(stats_of(pool).reserved_bytes, jtest_live_bytes());
    JEXPECT_OK(jallocator_destroy(pool));
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

/* A buffer's class follows from what was asked for, at each alignment and both ways to round. */
JTEST(AllocPool, AKeptBufferServesItsClassAgainAtEachAlignment) {
    for (int rounding = JPOOL_ROUND_POWER_OF_TWO; rounding <= JPOOL_ROUND_NONE; ++rounding) {
        jallocator_t *pool = make((jpool_rounding_t)rounding, 0, 0, false);
        for (size_t alignment = 1; alignment <= 1 << 16; alignment *= 4) {
            const size_t reserved = stats_of(pool).reserved_bytes;
            void *first = NULL, *second = NULL;
            JASSERT_OK(jallocator_allocate(pool, 1000, alignment, NULL, &first));
            const size_t usable = jallocator_usable_size(pool, first, 1000);
            JEXPECT_EQ(usable, rounding == JPOOL_ROUND_NONE ? 1000 : 1024);
            JEXPECT_OK(jallocator_deallocate(pool, first, 1000, NULL));
            JASSERT_OK(jallocator_allocate(pool, 1000, alignment, NULL, &second));
            JEXPECT_TRUE(first == second);
            JEXPECT_EQ((uintptr_t)second % alignment, 0);
            JEXPECT_OK(jallocator_deallocate(pool, second, 1000, NULL));
            JEXPECT_LE(stats_of(pool).reserved_bytes, reserved + usable);
        }
        JEXPECT_OK(jallocator_trim(pool, 0));
        JEXPECT_EQ(stats_of(pool).reserved_bytes, 0);
        JEXPECT_EQ(jtest_live_bytes(), 0);
        JEXPECT_OK(jallocator_destroy(pool));
    }
}

JTEST(AllocPool, ABufferGoesToAnotherStreamOnlyAfterItsEvent) {
    jdevice_t *host = jdevice_host();
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *first, *second;
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 0, 0, false);
    void *a, *b, *c;
    JASSERT_OK(jstream_create(host, &first));
    JASSERT_OK(jstream_create(host, &second));
    JASSERT_OK(jallocator_allocate(pool, 256, 0, first, &a));
    JASSERT_OK(jtest_gate_block(&gate, host, first));
    JASSERT_OK(jallocator_deallocate(pool, a, 256, first));
    JEXPECT_OK(jallocator_allocate(pool, 256, 0, first, &b)); /* the same stream: at once */
    JEXPECT_EQ(b, a);
    JASSERT_OK(jallocator_deallocate(pool, a, 256, first));
    JEXPECT_OK(jallocator_allocate(pool, 256, 0, second, &b));
    JEXPECT_NE(b, a);
    c = take(pool, 256); /* the host is one more stream */
    JEXPECT_NE(c, a);
    jtest_gate_open(&gate);
    JASSERT_OK(jstream_synchronize(host, first));
    void *other;
    JEXPECT_OK(jallocator_allocate(pool, 256, 0, second, &other));
    JEXPECT_EQ(other, a);
    give(pool, c, 256);
    JEXPECT_OK(jallocator_deallocate(pool, other, 256, second));
    JEXPECT_OK(jallocator_deallocate(pool, b, 256, second));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
    JEXPECT_OK(jallocator_destroy(pool));
}

/* What is behind a fence is not given to below either: the limit is exceeded for as long. */
JTEST(AllocPool, EvictionPassesOverWhatAStreamStillUses) {
    jdevice_t *host = jdevice_host();
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *stream;
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 2, 0, true);
    void *slow[3], *quick[3];
    JASSERT_OK(jstream_create(host, &stream));
    for (int i = 0; i < 3; ++i) {
        JASSERT_OK(jallocator_allocate(pool, 256, 0, stream, &slow[i]));
        quick[i] = take(pool, 64);
    }
    JASSERT_OK(jtest_gate_block(&gate, host, stream));
    for (int i = 0; i < 3; ++i)
        JEXPECT_OK(jallocator_deallocate(pool, slow[i], 256, stream));
    JEXPECT_EQ(jtest_deallocation_count(), 0);
    JEXPECT_EQ(stats_of(pool).free_bytes, 3 * 256);
    /* The oldest that nobody uses, the limit being exceeded, is this one. */
    give(pool, quick[0], 64);
    JEXPECT_EQ(jtest_deallocation_count(), 1);
    JEXPECT_EQ(stats_of(pool).free_bytes, 3 * 256);
    jtest_gate_open(&gate);
    JASSERT_OK(jstream_synchronize(host, stream));
    give(pool, quick[1], 64); /* two of the slow ones go */
    JEXPECT_EQ(stats_of(pool).free_bytes, 256 + 64);
    give(pool, quick[2], 64);
    JEXPECT_EQ(stats_of(pool).free_bytes, 64 + 64);
    JEXPECT_OK(jallocator_destroy(pool));
    JEXPECT_OK(jstream_destroy(stream));
}

/* How far a stream is behind does not make a call slow: it looks at some of what is behind fences,
 * then lets it be. */
JTEST(AllocPool, LooksAtSomeOfWhatAStreamStillUses) {
    enum { COUNT = 40 };
    jdevice_t *host = jdevice_host();
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *stream;
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 2, 1024, true);
    void *slow[COUNT], *large, *other;
    JASSERT_OK(jstream_create(host, &stream));
    for (int i = 0; i < COUNT; ++i)
        JASSERT_OK(jallocator_allocate(pool, 256, 0, stream, &slow[i]));
    JASSERT_OK(jallocator_allocate(pool, 2048, 0, stream, &large));
    JASSERT_OK(jtest_gate_block(&gate, host, stream));
    /* Too large to be kept, but for as long. */
    JEXPECT_OK(jallocator_deallocate(pool, large, 2048, stream));
    for (int i = 0; i < COUNT; ++i)
        JEXPECT_OK(jallocator_deallocate(pool, slow[i], 256, stream));
    JEXPECT_EQ(stats_of(pool).free_bytes, 2048 + COUNT * 256);
    JEXPECT_EQ(counters_of(pool).eviction_count, 0);
    other = take(pool, 256);
    for (int i = 0; i < COUNT; ++i)
        JEXPECT_NE(other, slow[i]);
    give(pool, other, 256);
    jtest_gate_open(&gate);
    for (int i = 0; i < 2; ++i) { /* the first one may have to ask where the stream is */
        JASSERT_OK(jstream_synchronize(host, stream));
        give(pool, take(pool, 256), 256);
    }
    JEXPECT_EQ(stats_of(pool).free_bytes, 2 * 256);
    JEXPECT_OK(jallocator_destroy(pool));
    JEXPECT_OK(jstream_destroy(stream));
}

typedef struct late_writer {
    jtest_gate_t *gate;
    unsigned char *bytes;
} late_writer_t;
static void write_late(void *argument) {
    const late_writer_t *writer = argument;
    jtest_gate_pass(writer->gate);
    memset(writer->bytes, 1, 256);
}
static void write_at_last(void *argument) {
    const late_writer_t *writer = argument;
    memset(writer->bytes, 2, 256);
}

/* Where there is no other memory, a buffer is handed on with its fence: the second stream waits,
 * the host does not. */
JTEST(AllocPool, WithoutMemoryAStreamWaitsForAKeptBuffer) {
    jdevice_t *host = jdevice_host();
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *first, *second;
    jallocator_t *pool = make(JPOOL_ROUND_POWER_OF_TWO, 0, 0, false);
    void *a, *b;
    JASSERT_OK(jstream_create(host, &first));
    JASSERT_OK(jstream_create(host, &second));
    JASSERT_OK(jallocator_allocate(pool, 256, 0, first, &a));
    late_writer_t writer = {&gate, a};
    JASSERT_OK(jstream_launch(host, first, write_late, &writer, sizeof writer));
    JASSERT_OK(jallocator_deallocate(pool, a, 256, first));
    jtest_fail_allocation_after(1);
    JASSERT_OK(jallocator_allocate(pool, 256, 0, second, &b));
    JEXPECT_EQ(b, a);
    JASSERT_OK(jstream_launch(host, second, write_at_last, &writer, sizeof writer));
    jtest_gate_open(&gate);
    JASSERT_OK(jstream_synchronize(host, second));
    for (int i = 0; i < 256; ++i)
        JEXPECT_EQ(((unsigned char *)b)[i], 2);
    JEXPECT_OK(jallocator_deallocate(pool, b, 256, second));
    JEXPECT_OK(jallocator_destroy(pool));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
}

JTEST(AllocPool, ComposesFromText) {
    jallocator_t *pool;
    JASSERT_OK(jallocator_compose(
        NULL, "malloc+pool(rounding=none,count=8,bytes=1M,fixed,threads=none)", &pool));
    JEXPECT_EQ(counters_of(pool).limit_count, 8);
    void *pointer = take(pool, 77);
    JEXPECT_EQ(jallocator_usable_size(pool, pointer, 77), 77);
    give(pool, pointer, 77);
    JEXPECT_OK(jallocator_destroy(pool));
}
