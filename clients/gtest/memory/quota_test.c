/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A budget that many have together: that the arithmetic of guarantees is exact, that what is live
 * never exceeds the limit at any moment and from any thread, and that a budget with a name lives as
 * long as its shares. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/provider.h"
#include "jalloc/quota.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A provider that counts: a block is live from before it is made until after it is gone. */
static struct counting {
    atomic_size_t live_bytes, peak_bytes;
    size_t limit_bytes; /* more than this at any moment fails the test; 0: not looked at */
} counting;

static jstatus_t counting_allocate(void *context, size_t size_bytes, size_t alignment,
                                   jstream_t *stream, void **pointer) {
    (void)context, (void)stream;
    const size_t live = atomic_fetch_add(&counting.live_bytes, size_bytes) + size_bytes;
    if (counting.limit_bytes != 0 && live > counting.limit_bytes)
        JFAIL("%zu bytes are live below, the limit is %zu", live, counting.limit_bytes);
    size_t peak = atomic_load(&counting.peak_bytes);
    while (peak < live && !atomic_compare_exchange_weak(&counting.peak_bytes, &peak, live))
        ;
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    return posix_memalign(pointer, alignment, size_bytes) == 0 ? JSTATUS_SUCCESS
                                                               : JSTATUS_MEMORY_ERROR;
}
static jstatus_t counting_deallocate(void *context, void *pointer, size_t size_bytes,
                                     jstream_t *stream) {
    (void)context, (void)stream;
    free(pointer);
    atomic_fetch_sub(&counting.live_bytes, size_bytes);
    return JSTATUS_SUCCESS;
}
static jallocator_t *make_counting(size_t limit_bytes) {
    static const jallocator_ops_t ops = {.struct_size = sizeof ops,
                                         .allocate = counting_allocate,
                                         .deallocate = counting_deallocate};
    jallocator_t *allocator = NULL;
    atomic_store(&counting.live_bytes, 0);
    atomic_store(&counting.peak_bytes, 0);
    counting.limit_bytes = limit_bytes;
    JEXPECT_OK(jallocator_create(&ops, NULL, NULL, &allocator));
    return allocator;
}

static jallocator_t *make_share(jallocator_t *below, jquota_t *quota, size_t guaranteed,
                                size_t maximum) {
    jquota_share_options_t options = JQUOTA_SHARE_OPTIONS_INIT;
    jallocator_t *share = NULL;
    options.guaranteed_bytes = guaranteed;
    options.maximum_bytes = maximum;
    JEXPECT_OK(jallocator_create_quota(below, quota, &options, &share));
    return share;
}

static jquota_stats_t quota_stats_of(jquota_t *quota) {
    jquota_stats_t stats = JQUOTA_STATS_INIT;
    JEXPECT_OK(jquota_get_stats(quota, &stats));
    return stats;
}
static bool is_refused(jallocator_t *allocator, size_t size_bytes) {
    void *pointer = NULL;
    return jallocator_allocate(allocator, size_bytes, 0, NULL, &pointer) == JSTATUS_MEMORY_ERROR &&
           pointer == NULL;
}

JTEST(Quota, ArgumentsAreChecked) {
    jquota_t *quota = NULL;
    jallocator_t *below = jtest_failing_allocator(), *share = NULL;
    JEXPECT_STATUS(jquota_create(100, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jquota_create(0, &quota), JSTATUS_INVALID_SIZE);
    JEXPECT_NULL(quota);
    JASSERT_OK(jquota_create(100, &quota));
    JEXPECT_STATUS(jallocator_create_quota(NULL, quota, NULL, &share), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_quota(below, NULL, NULL, &share), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_quota(below, quota, NULL, NULL), JSTATUS_INVALID_POINTER);
    jquota_share_options_t options = JQUOTA_SHARE_OPTIONS_INIT;
    options.struct_size = 8;
    JEXPECT_STATUS(jallocator_create_quota(below, quota, &options, &share), JSTATUS_INVALID_VALUE);
    options = (jquota_share_options_t)JQUOTA_SHARE_OPTIONS_INIT;
    options.guaranteed_bytes = 51;
    options.maximum_bytes = 50;
    JEXPECT_STATUS(jallocator_create_quota(below, quota, &options, &share), JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(share);
    jquota_stats_t stats = JQUOTA_STATS_INIT;
    JEXPECT_STATUS(jquota_get_stats(NULL, &stats), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jquota_get_stats(quota, NULL), JSTATUS_INVALID_POINTER);
    stats.struct_size = sizeof(size_t);
    JEXPECT_STATUS(jquota_get_stats(quota, &stats), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jquota_set_limit(NULL, 1), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jquota_set_limit(quota, 0), JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(quota_stats_of(quota).share_count, 0);
    JEXPECT_OK(jquota_destroy(quota));
    JEXPECT_OK(jquota_destroy(NULL));
}

JTEST(Quota, GuaranteesAreKeptHoweverFullTheCommonPart) {
    jquota_t *quota;
    JASSERT_OK(jquota_create(1000, &quota));
    jallocator_t *below = jtest_failing_allocator();
    jallocator_t *a = make_share(below, quota, 300, 0), *b = make_share(below, quota, 200, 0);
    jallocator_t *c = make_share(below, quota, 0, 0);
    JEXPECT_EQ(quota_stats_of(quota).guaranteed_bytes, 500);
    JEXPECT_TRUE(is_refused(c, 501)); /* 500 are in common */
    void *all = take(c, 500);
    JEXPECT_TRUE(is_refused(c, 1));
    JEXPECT_TRUE(is_refused(a, 301));
    void *of_a = take(a, 300), *of_b = take(b, 200);
    JEXPECT_EQ(quota_stats_of(quota).in_use_bytes, 1000);
    JEXPECT_TRUE(is_refused(a, 1));
    give(c, all, 500);
    /* A holder of a guarantee takes from the common part as anyone does. */
    void *more = take(a, 500);
    JEXPECT_TRUE(is_refused(c, 1));
    give(a, of_a, 300); /* 500 are left, so 200 come back to the common part */
    JEXPECT_TRUE(is_refused(c, 301));
    void *of_c = take(c, 300);
    JEXPECT_EQ(quota_stats_of(quota).in_use_bytes, 1000);
    give(c, of_c, 300);
    give(a, more, 500);
    give(b, of_b, 200);
    JEXPECT_EQ(quota_stats_of(quota).in_use_bytes, 0);
    JEXPECT_EQ(quota_stats_of(quota).refusal_count, 6);
    JEXPECT_STATUS(jquota_destroy(quota), JSTATUS_BUSY);
    JEXPECT_SUBSTR(jstatus_last_message(), "has 3 shares");
    JEXPECT_OK(jallocator_destroy(a));
    JEXPECT_OK(jallocator_destroy(b));
    JEXPECT_EQ(quota_stats_of(quota).guaranteed_bytes, 0);
    JEXPECT_STATUS(jquota_destroy(quota), JSTATUS_BUSY);
    JEXPECT_STREQ(jstatus_last_message() + strlen(jstatus_last_message()) - 11, "has 1 share");
    JEXPECT_OK(jallocator_destroy(c));
    JEXPECT_OK(jquota_destroy(quota));
}

JTEST(Quota, MaximumBoundsOneShare) {
    jquota_t *quota;
    JASSERT_OK(jquota_create(1000, &quota));
    jallocator_t *share = make_share(jtest_failing_allocator(), quota, 0, 400);
    JEXPECT_EQ(stats_of(share).limit_bytes, 400);
    JEXPECT_TRUE(is_refused(share, 401));
    void *pointer = take(share, 400);
    JEXPECT_TRUE(is_refused(share, 1));
    JASSERT_OK(jquota_set_limit(quota, 300));
    JEXPECT_EQ(stats_of(share).limit_bytes, 300);
    give(share, pointer, 400);
    JEXPECT_OK(jallocator_destroy(share));
    JEXPECT_OK(jquota_destroy(quota));
}

JTEST(Quota, MessagesSayWhatThereIs) {
    jquota_t *quota;
    JASSERT_OK(jquota_create(1000, &quota));
    jquota_share_options_t options = JQUOTA_SHARE_OPTIONS_INIT;
    options.name = "solver";
    options.guaranteed_bytes = 300;
    jallocator_t *share, *other;
    JASSERT_OK(jallocator_create_quota(jtest_failing_allocator(), quota, &options, &share));
    JEXPECT_STREQ(jallocator_name(share), "solver");
    void *pointer = take(share, 450);
    JEXPECT_TRUE(is_refused(share, 777));
    JEXPECT_SUBSTR(jstatus_last_message(), "share \"solver\": 777 bytes asked for; it has 450 of "
                                           "1000, 300 guaranteed; 550 of 700 are left in common");
    options.guaranteed_bytes = 551;
    JEXPECT_STATUS(jallocator_create_quota(jtest_failing_allocator(), quota, &options, &other),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "551 bytes cannot be guaranteed, 550 are left");
    options.guaranteed_bytes = 550; /* exactly what is left */
    JEXPECT_OK(jallocator_create_quota(jtest_failing_allocator(), quota, &options, &other));
    JEXPECT_OK(jallocator_destroy(other));
    JEXPECT_STATUS(jquota_set_limit(quota, 299), JSTATUS_INVALID_SIZE);
    JEXPECT_SUBSTR(jstatus_last_message(), "299");
    JEXPECT_EQ(quota_stats_of(quota).limit_bytes, 1000);
    give(share, pointer, 450);
    JEXPECT_OK(jallocator_destroy(share));
    JEXPECT_OK(jquota_destroy(quota));
}

JTEST(Quota, LoweredLimitGivesNothingUntilItHasShrunk) {
    jquota_t *quota;
    JASSERT_OK(jquota_create(1000, &quota));
    jallocator_t *a = make_share(jtest_failing_allocator(), quota, 100, 0);
    jallocator_t *b = make_share(jtest_failing_allocator(), quota, 0, 0);
    void *first = take(b, 400), *second = take(b, 400);
    JASSERT_OK(jquota_set_limit(quota, 500));
    JEXPECT_TRUE(is_refused(b, 1));
    JEXPECT_TRUE(is_refused(a, 1)); /* even what is guaranteed: 800 are live */
    give(b, first, 400);
    JEXPECT_TRUE(is_refused(b, 1)); /* 400 is all there is in common */
    void *of_a = take(a, 100);
    JASSERT_OK(jquota_set_limit(quota, SIZE_MAX));
    first = take(b, 100);
    give(a, of_a, 100);
    give(b, first, 100);
    give(b, second, 400);
    JEXPECT_OK(jallocator_destroy(a));
    JEXPECT_OK(jallocator_destroy(b));
    JEXPECT_OK(jquota_destroy(quota));
}

/* What must hold said in another way: a request is given exactly when, afterwards, every share
 * could still have its guarantee. */
JTEST(Quota, AgreesWithAModel) {
    enum { SHARES = 4, HELD = 40 };
    static const size_t guaranteed[SHARES] = {0, 300, 120, 0}, maximum[SHARES] = {0, 0, 700, 350};
    size_t limit = 1000, has[SHARES] = {0}, peak = 0, refusals = 0;
    struct {
        void *pointer;
        size_t size;
        int share;
    } held[HELD] = {{NULL, 0, 0}};
    jquota_t *quota;
    JASSERT_OK(jquota_create(limit, &quota));
    jallocator_t *shares[SHARES], *below = make_counting(0);
    for (int i = 0; i < SHARES; ++i)
        shares[i] = make_share(below, quota, guaranteed[i], maximum[i]);
    for (int64_t n = jtest_iterations(20000); n > 0 && !jtest_has_failure(); --n) {
        const int place = (int)jtest_random_between(0, HELD - 1);
        if (held[place].pointer != NULL) {
            give(shares[held[place].share], held[place].pointer, held[place].size);
            has[held[place].share] -= held[place].size;
            held[place].pointer = NULL;
        } else if (jtest_random_between(0, 99) == 0) {
            const size_t wanted = (size_t)jtest_random_between(350, 1200);
            JEXPECT_STATUS(jquota_set_limit(quota, wanted),
                           wanted < 420 ? JSTATUS_INVALID_SIZE : JSTATUS_SUCCESS);
            limit = wanted < 420 ? limit : wanted;
        } else {
            const int share = (int)jtest_random_between(0, SHARES - 1);
            const size_t size = (size_t)jtest_random_between(1, 200);
            size_t before = 0, after = 0, live = 0;
            for (int i = 0; i < SHARES; ++i) {
                const size_t then = has[i] + (i == share ? size : 0);
                live += has[i];
                before += has[i] > guaranteed[i] ? has[i] : guaranteed[i];
                after += then > guaranteed[i] ? then : guaranteed[i];
            }
            const bool given = (maximum[share] == 0 || has[share] + size <= maximum[share]) &&
                               live + size <= limit && (after <= limit || after == before);
            const jstatus_t status =
                jallocator_allocate(shares[share], size, 0, NULL, &held[place].pointer);
            JEXPECT_STATUS(status, given ? JSTATUS_SUCCESS : JSTATUS_MEMORY_ERROR);
            refusals += !given;
            if (status == JSTATUS_SUCCESS) {
                held[place].size = size;
                held[place].share = share;
                has[share] += size;
                peak = live + size > peak ? live + size : peak;
            }
        }
        const jquota_stats_t stats = quota_stats_of(quota);
        JEXPECT_EQ(stats.in_use_bytes, has[0] + has[1] + has[2] + has[3]);
        JEXPECT_EQ(stats.in_use_bytes, atomic_load(&counting.live_bytes));
        JEXPECT_EQ(stats.peak_in_use_bytes, peak);
        JEXPECT_EQ(stats.refusal_count, refusals);
        JEXPECT_EQ(stats.limit_bytes, limit);
    }
    for (int i = 0; i < HELD; ++i)
        if (held[i].pointer != NULL)
            give(shares[held[i].share], held[i].pointer, held[i].size);
    for (int i = 0; i < SHARES; ++i)
        JEXPECT_OK(jallocator_destroy(shares[i]));
    JEXPECT_OK(jallocator_destroy(below));
    JEXPECT_OK(jquota_destroy(quota));
}

/* What below refuses was never live: no peak, no count, and the bytes are there for the next. */
JTEST(Quota, RefusalBelowLeavesNothingBehind) {
    jquota_t *quota;
    JASSERT_OK(jquota_create(1000, &quota));
    jallocator_t *share = make_share(jtest_failing_allocator(), quota, 100, 0);
    void *small = take(share, 10);
    jtest_fail_allocation_after(1);
    JEXPECT_TRUE(is_refused(share, 900));
    JEXPECT_EQ(quota_stats_of(quota).in_use_bytes, 10);
    JEXPECT_EQ(quota_stats_of(quota).peak_in_use_bytes, 10);
    JEXPECT_EQ(quota_stats_of(quota).refusal_count, 0); /* it would have fitted */
    jallocator_stats_t stats = stats_of(share);
    JEXPECT_EQ(stats.peak_in_use_bytes, 10);
    JEXPECT_EQ(stats.largest_request_bytes, 10);
    JEXPECT_EQ(stats.allocation_count, 1);
    JEXPECT_EQ(stats.live_count, 1);
    JEXPECT_EQ(stats.failure_count, 1);
    void *rest = take(share, 990);
    give(share, small, 10);
    stats = stats_of(share);
    JEXPECT_EQ(stats.peak_in_use_bytes, 1000);
    JEXPECT_EQ(stats.in_use_bytes, 990);
    JEXPECT_EQ(stats.largest_request_bytes, 990);
    give(share, rest, 990);
    JEXPECT_OK(jallocator_clear_stats(share));
    JEXPECT_EQ(stats_of(share).peak_in_use_bytes, 0);
    JEXPECT_EQ(stats_of(share).largest_request_bytes, 0);
    /* The budget's is since its creation. */
    JEXPECT_EQ(quota_stats_of(quota).peak_in_use_bytes, 1000);
    JEXPECT_OK(jallocator_destroy(share));
    JEXPECT_OK(jquota_destroy(quota));
}

JTEST(Quota, MisuseChangesNothing) {
    jquota_t *quota;
    JASSERT_OK(jquota_create(1000, &quota));
    jallocator_t *below = make_counting(0);
    jallocator_t *a = make_share(below, quota, 0, 0), *b = make_share(below, quota, 0, 0);
    void *pointer = take(a, 100), *direct = take(below, 300), *as_large = take(below, 100);
    JEXPECT_STATUS(jallocator_deallocate(a, pointer, 99, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_deallocate(a, (char *)pointer + 64, 36, NULL), JSTATUS_NOT_FOUND);
    /* b has nothing. */
    JEXPECT_STATUS(jallocator_deallocate(b, pointer, 100, NULL), JSTATUS_NOT_FOUND);
    /* More than `a` has. */
    JEXPECT_STATUS(jallocator_deallocate(a, direct, 300, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(a, as_large, 100, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_destroy(a), JSTATUS_BUSY);
    JEXPECT_EQ(quota_stats_of(quota).in_use_bytes, 100);
    JEXPECT_EQ(stats_of(a).in_use_bytes, 100);
    JEXPECT_EQ(atomic_load(&counting.live_bytes), 500);
    give(a, pointer, 100);
    give(below, as_large, 100);
    JEXPECT_STATUS(jallocator_deallocate(a, pointer, 100, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(quota_stats_of(quota).in_use_bytes, 0);
    give(below, direct, 300);
    JEXPECT_OK(jallocator_destroy(a));
    JEXPECT_OK(jallocator_destroy(b));
    JEXPECT_OK(jallocator_destroy(below));
    JEXPECT_OK(jquota_destroy(quota));
}

JTEST(Quota, EachFailedAllocationOfBookkeepingLosesNothing) {
    jallocator_t *below;
    JASSERT_OK(jallocator_create_malloc(&below));
    JFOR_EACH_FAILURE(i) {
        jquota_t *quota = NULL;
        jallocator_t *share = NULL, *named = NULL;
        jquota_share_options_t options = JQUOTA_SHARE_OPTIONS_INIT;
        options.guaranteed_bytes = 60;
        jstatus_t status = jquota_create(100, &quota);
        if (status == JSTATUS_SUCCESS)
            status = jallocator_create_quota(below, quota, &options, &share);
        if (status == JSTATUS_SUCCESS)
            status = jallocator_compose(NULL, "malloc+quota(budget=each,limit=100,guaranteed=60)",
                                        &named);
        else if (quota != NULL)
            JEXPECT_EQ(quota_stats_of(quota).guaranteed_bytes, 0);
        if (status != JSTATUS_SUCCESS)
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
        JEXPECT_EQ(status != JSTATUS_SUCCESS, jtest_metadata_failed());
        JEXPECT_OK(jallocator_destroy(named));
        JEXPECT_OK(jallocator_destroy(share));
        JEXPECT_OK(jquota_destroy(quota));
    }
    JEXPECT_OK(jallocator_destroy(below));
}

/* ---- Many threads ---- */

enum { STORM_THREADS = 8, STORM_LIMIT = 20000, STORM_GUARANTEE = 5000 };

typedef struct storm {
    jallocator_t *share;
    jquota_t *quota;
    uint64_t seed;
    bool guaranteed; /* the share has STORM_GUARANTEE, and must get it */
} storm_t;

static void *storm_run(void *argument) {
    const storm_t *storm = argument;
    uint64_t state = storm->seed;
    struct {
        void *pointer;
        size_t size;
    } held[12] = {{NULL, 0}};
    size_t has = 0;
    for (int64_t n = jtest_iterations(4000); n > 0; --n) {
        const size_t i = jtest_random_next(&state) % 12;
        if (held[i].pointer != NULL) {
            has -= held[i].size;
            give(storm->share, held[i].pointer, held[i].size);
            held[i].pointer = NULL;
            continue;
        }
        held[i].size = jtest_random_next(&state) % 4000 + 1;
        const jstatus_t status =
            jallocator_allocate(storm->share, held[i].size, 0, NULL, &held[i].pointer);
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            if (storm->guaranteed && has + held[i].size <= STORM_GUARANTEE)
                JFAIL("refused %zu, with %zu of %d guaranteed", held[i].size, has, STORM_GUARANTEE);
            continue;
        }
        has += held[i].size;
        const jquota_stats_t stats = quota_stats_of(storm->quota);
        if (stats.in_use_bytes > STORM_LIMIT || stats.peak_in_use_bytes > STORM_LIMIT ||
            stats.in_use_bytes < held[i].size)
            JFAIL("%zu bytes in use, peak %zu", stats.in_use_bytes, stats.peak_in_use_bytes);
    }
    for (size_t i = 0; i < 12; ++i)
        if (held[i].pointer != NULL)
            give(storm->share, held[i].pointer, held[i].size);
    return NULL;
}

/* Every thread has its own share, two of them with a guarantee; and two threads have one share
 * together. */
JTEST(Quota, NeverExceedsItsLimitWithManyThreads) {
    jquota_t *quota;
    JASSERT_OK(jquota_create(STORM_LIMIT, &quota));
    jallocator_t *below = make_counting(STORM_LIMIT), *shares[STORM_THREADS - 1];
    pthread_t threads[STORM_THREADS];
    storm_t storms[STORM_THREADS];
    for (int i = 0; i < STORM_THREADS - 1; ++i)
        shares[i] = make_share(below, quota, i < 2 ? STORM_GUARANTEE : 0, 0);
    for (int i = 0; i < STORM_THREADS; ++i) {
        storms[i] =
            (storm_t){shares[i < STORM_THREADS - 1 ? i : i - 1], quota, jtest_random(), i < 2};
        JASSERT_EQ(pthread_create(&threads[i], NULL, storm_run, &storms[i]), 0);
    }
    for (int i = 0; i < STORM_THREADS; ++i)
        pthread_join(threads[i], NULL);
    const jquota_stats_t stats = quota_stats_of(quota);
    JEXPECT_EQ(stats.in_use_bytes, 0);
    JEXPECT_GE(stats.peak_in_use_bytes, atomic_load(&counting.peak_bytes));
    for (int i = 0; i < STORM_THREADS - 1; ++i) {
        JEXPECT_EQ(stats_of(shares[i]).live_count, 0);
        JEXPECT_OK(jallocator_destroy(shares[i]));
    }
    JEXPECT_OK(jallocator_destroy(below));
    JEXPECT_OK(jquota_destroy(quota));
}

/* ---- Budgets with a name ---- */

static jstatus_t compose(const char *text, jallocator_t **allocator) {
    return jallocator_compose(NULL, text, allocator);
}

JTEST(QuotaBudget, IsSharedByNameAndGoesWithItsLastShare) {
    jallocator_t *a = NULL, *b = NULL, *other = NULL;
    JASSERT_OK(compose("malloc+quota(budget=all,limit=1000)", &a));
    JASSERT_OK(compose("malloc+quota(budget=all)", &b));
    JASSERT_OK(compose("malloc+quota(budget=other,limit=1000)", &other));
    void *pointer = take(a, 600);
    JEXPECT_TRUE(is_refused(b, 401));
    void *of_other = take(other, 1000);
    give(a, pointer, 600);
    give(other, of_other, 1000);
    JEXPECT_OK(jallocator_destroy(a));
    JEXPECT_EQ(stats_of(b).limit_bytes, 1000); /* the budget lives with b */
    JEXPECT_OK(compose("malloc+quota(budget=all)", &a));
    JEXPECT_OK(jallocator_destroy(a));
    JEXPECT_OK(jallocator_destroy(b));
    JEXPECT_OK(jallocator_destroy(other));
    JEXPECT_STATUS(compose("malloc+quota(budget=all)", &a), JSTATUS_INVALID_VALUE); /* gone */
    JEXPECT_OK(compose("malloc+quota(budget=all,limit=5)", &a));
    JEXPECT_EQ(stats_of(a).limit_bytes, 5);
    JEXPECT_OK(jallocator_destroy(a));
}

JTEST(QuotaBudget, WhatDoesNotFitIsRefusedAndLeavesNothing) {
    jallocator_t *a = NULL, *b = NULL;
    JEXPECT_STATUS(compose("malloc+quota", &b), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "budget=NAME");
    JEXPECT_STATUS(compose("malloc+quota(budget=x)", &b), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "limit");
    JEXPECT_STATUS(compose("malloc+quota(budget=a name of thirty-two characters.,limit=1)", &b),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(compose("malloc+quota(budget=x,limit=10,guaranteed=11)", &b),
                   JSTATUS_INVALID_VALUE);
    /* The one before made none. */
    JEXPECT_STATUS(compose("malloc+quota(budget=x)", &b), JSTATUS_INVALID_VALUE);
    JASSERT_OK(compose("malloc+quota(budget=x,limit=10,guaranteed=10)", &a));
    JEXPECT_STATUS(compose("malloc+quota(budget=x,limit=11)", &b), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "10 already, and not 11");
    JEXPECT_STATUS(compose("malloc+quota(budget=x,guaranteed=1)", &b), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(compose("malloc+quota(budget=x,limit=10,maximum=3,name=third)", &b));
    JEXPECT_STREQ(jallocator_name(b), "third");
    JEXPECT_OK(jallocator_destroy(b));
    JEXPECT_OK(jallocator_destroy(a));
}

static void *budget_churn(void *argument) {
    (void)argument;
    for (int64_t n = jtest_iterations(200); n > 0; --n) {
        jallocator_t *share = NULL;
        JEXPECT_OK(compose("malloc+quota(budget=churn,limit=1000)", &share));
        void *pointer = NULL;
        const jstatus_t status = jallocator_allocate(share, 400, 0, NULL, &pointer);
        if (status != JSTATUS_SUCCESS)
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
        JEXPECT_OK(jallocator_deallocate(share, pointer, 400, NULL));
        JEXPECT_OK(jallocator_destroy(share));
    }
    return NULL;
}
JTEST(QuotaBudget, IsMadeAndDroppedByManyThreads) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, budget_churn, NULL), 0);
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
}

static void use_in_child(void *argument) {
    jallocator_t *share = argument;
    JEXPECT_TRUE(is_refused(share, 501)); /* the parent's 500 are in the child's books too */
    void *pointer = take(share, 500);
    give(share, pointer, 500);
}
JTEST(QuotaBudget, WorksOnInAForkedChild) {
    jallocator_t *share;
    JASSERT_OK(compose("malloc+quota(budget=fork,limit=1000)", &share));
    void *pointer = take(share, 500);
    jtest_in_child(20, use_in_child, share);
    give(share, pointer, 500);
    JEXPECT_OK(jallocator_destroy(share));
}

JTEST(QuotaBudget, TheNameIsGivenAndNotEmpty) {
    jallocator_t *allocator = NULL;
    JEXPECT_STATUS(compose("malloc+quota(limit=100)", &allocator), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "budget=NAME");
    JEXPECT_STATUS(compose("malloc+quota(budget=,limit=100)", &allocator), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "budget=NAME");
    JEXPECT_NULL(allocator);
}

/* More than any machine has, of addresses that nobody uses: sums stay sums. */
static jstatus_t vast_allocate(void *context, size_t size_bytes, size_t alignment,
                               jstream_t *stream, void **pointer) {
    (void)size_bytes, (void)alignment, (void)stream;
    *pointer = (void *)(uintptr_t)(*(size_t *)context += 4096);
    return JSTATUS_SUCCESS;
}
static jstatus_t vast_deallocate(void *context, void *pointer, size_t size_bytes,
                                 jstream_t *stream) {
    (void)context, (void)pointer, (void)size_bytes, (void)stream;
    return JSTATUS_SUCCESS;
}
JTEST(Quota, WhatNoNumberHoldsIsRefused) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = vast_allocate, .deallocate = vast_deallocate};
    const size_t large = PTRDIFF_MAX - 4096;
    size_t next = 0;
    jquota_t *quota;
    jallocator_t *below, *share;
    void *pointers[2];
    JASSERT_OK(jquota_create(SIZE_MAX, &quota));
    JASSERT_OK(jallocator_create(&ops, &next, NULL, &below));
    share = make_share(below, quota, 0, 0);
    for (int i = 0; i < 2; ++i)
        pointers[i] = take(share, large);
    JEXPECT_TRUE(is_refused(share, large));
    JEXPECT_EQ(quota_stats_of(quota).in_use_bytes, 2 * large);
    for (int i = 0; i < 2; ++i)
        give(share, pointers[i], large);
    JEXPECT_EQ(quota_stats_of(quota).in_use_bytes, 0);
    JEXPECT_OK(jallocator_destroy(share));
    JEXPECT_OK(jallocator_destroy(below));
    JEXPECT_OK(jquota_destroy(quota));
}
