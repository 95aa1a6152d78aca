/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The limit of one allocator: exact, at every moment. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/adaptor.h"
#include "jalloc/provider.h"

#include <stdatomic.h>
#include <stdlib.h>

static jallocator_t *make_limit(jallocator_t *below, size_t limit_bytes) {
    jlimit_options_t options = JLIMIT_OPTIONS_INIT;
    jallocator_t *limit = NULL;
    options.limit_bytes = limit_bytes;
    JEXPECT_OK(jallocator_create_limit(below, &options, &limit));
    return limit;
}

JTEST(Limit, OptionsAreChecked) {
    jallocator_t *limit = NULL;
    jlimit_options_t options = JLIMIT_OPTIONS_INIT;
    JEXPECT_STATUS(jallocator_create_limit(jtest_failing_allocator(), &options, &limit),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "limit_bytes");
    JEXPECT_STATUS(jallocator_create_limit(jtest_failing_allocator(), NULL, &limit),
                   JSTATUS_INVALID_VALUE);
    options.limit_bytes = 100;
    JEXPECT_STATUS(jallocator_create_limit(NULL, &options, &limit), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_limit(jtest_failing_allocator(), &options, NULL),
                   JSTATUS_INVALID_POINTER);
    options.struct_size = 0;
    JEXPECT_STATUS(jallocator_create_limit(jtest_failing_allocator(), &options, &limit),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_compose(NULL, "malloc+limit", &limit), JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(limit);
    JEXPECT_OK(jallocator_compose(NULL, "malloc+limit(limit=3K,name=small)", &limit));
    JEXPECT_STREQ(jallocator_name(limit), "small");
    JEXPECT_EQ(stats_of(limit).limit_bytes, 3072);
    JEXPECT_OK(jallocator_destroy(limit));
}

JTEST(Limit, IsExactAndSaysWhatThereIs) {
    jallocator_t *limit = make_limit(jtest_failing_allocator(), 1000);
    void *a, *b, *c;
    JEXPECT_STATUS(jallocator_allocate(limit, 1001, 0, NULL, &a), JSTATUS_MEMORY_ERROR);
    JASSERT_OK(jallocator_allocate(limit, 600, 0, NULL, &a));
    JEXPECT_STATUS(jallocator_allocate(limit, 401, 0, NULL, &b), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(),
                   "the limit is 1000 bytes, 600 are live and 401 are asked for");
    JASSERT_OK(jallocator_allocate(limit, 400, 0, NULL, &b));
    JEXPECT_STATUS(jallocator_allocate(limit, 1, 0, NULL, &c), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(jtest_allocation_count(), 2); /* below was not asked for what cannot be */
    JEXPECT_OK(jallocator_deallocate(limit, b, 400, NULL));
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(jallocator_allocate(limit, 400, 0, NULL, &b), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jallocator_allocate(limit, 400, 0, NULL, &b)); /* what below refused is not held */
    JEXPECT_OK(jallocator_deallocate(limit, b, 400, NULL));
    JEXPECT_OK(jallocator_deallocate(limit, a, 600, NULL));
    JEXPECT_OK(jallocator_destroy(limit));
}

JTEST(Limit, ABlockOfBelowMakesNoRoom) {
    jallocator_t *below = jtest_failing_allocator(), *limit = make_limit(below, 1000);
    void *own = take(limit, 1000), *foreign = take(below, 1000), *more;
    JEXPECT_STATUS(jallocator_deallocate(limit, foreign, 1000, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_allocate(limit, 1000, 0, NULL, &more), JSTATUS_MEMORY_ERROR);
    give(below, foreign, 1000);
    give(limit, own, 1000);
    JEXPECT_OK(jallocator_destroy(limit));
}

JTEST(Limit, AnErrorOfTheCallerChangesNothing) {
    jallocator_t *below;
    void *pointer, *more;
    JASSERT_OK(jallocator_create_malloc(&below));
    jallocator_t *limit = make_limit(below, 100);
    JASSERT_OK(jallocator_allocate(limit, 100, 0, NULL, &pointer));
    JEXPECT_STATUS(jallocator_deallocate(limit, pointer, 99, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_deallocate(limit, &more, 100, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_allocate(limit, 1, 0, NULL, &more), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jallocator_deallocate(limit, pointer, 100, NULL));
    JEXPECT_STATUS(jallocator_deallocate(limit, pointer, 100, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_destroy(limit));
    JEXPECT_OK(jallocator_destroy(below));
}

/* Counts what is live, from before it is made until after it is gone. */
static atomic_size_t live;
static size_t limit_of_storm;
static jstatus_t watch_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    (void)context, (void)stream;
    const size_t now = atomic_fetch_add(&live, size_bytes) + size_bytes;
    if (now > limit_of_storm)
        JFAIL("%zu bytes are live, the limit is %zu", now, limit_of_storm);
    return posix_memalign(pointer, alignment, size_bytes) == 0 ? JSTATUS_SUCCESS
                                                               : JSTATUS_MEMORY_ERROR;
}
static jstatus_t watch_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    (void)context, (void)stream;
    free(pointer);
    atomic_fetch_sub(&live, size_bytes);
    return JSTATUS_SUCCESS;
}

static atomic_uint refused;
static void *storm(void *argument) {
    jallocator_t *limit = argument;
    uint64_t state = (uint64_t)(uintptr_t)&state;
    void *held[8] = {NULL};
    size_t sizes[8] = {0};
    for (int64_t n = jtest_iterations(3000); n > 0; --n) {
        const size_t i = jtest_random_next(&state) % 8;
        if (held[i] != NULL) {
            JEXPECT_OK(jallocator_deallocate(limit, held[i], sizes[i], NULL));
            held[i] = NULL;
        } else {
            sizes[i] = jtest_random_next(&state) % 2000 + 1;
            if (jallocator_allocate(limit, sizes[i], 64, NULL, &held[i]) != JSTATUS_SUCCESS)
                atomic_fetch_add(&refused, 1);
        }
    }
    for (size_t i = 0; i < 8; ++i)
        JEXPECT_OK(jallocator_deallocate(limit, held[i], sizes[i], NULL));
    return NULL;
}
JTEST(Limit, HoldsAtEveryMomentWithManyThreads) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = watch_allocate, .deallocate = watch_deallocate};
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    jallocator_t *below;
    atomic_store(&live, 0);
    atomic_store(&refused, 0);
    limit_of_storm = 6000;
    JASSERT_OK(jallocator_create(&ops, NULL, NULL, &below));
    jallocator_t *limit = make_limit(below, limit_of_storm);
    for (int i = 0; i < THREADS; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, storm, limit), 0);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_GT(atomic_load(&refused), 0);
    JEXPECT_EQ(stats_of(limit).in_use_bytes, 0);
    void *all;
    /* Nothing is left behind. */
    JEXPECT_OK(jallocator_allocate(limit, limit_of_storm, 0, NULL, &all));
    JEXPECT_OK(jallocator_deallocate(limit, all, limit_of_storm, NULL));
    JEXPECT_OK(jallocator_destroy(limit));
    JEXPECT_OK(jallocator_destroy(below));
}

JTEST(Limit, EachFailedAllocationOfBookkeepingLosesNothing) {
    jallocator_t *below;
    JASSERT_OK(jallocator_create_malloc(&below));
    JFOR_EACH_FAILURE(i) {
        jlimit_options_t options = JLIMIT_OPTIONS_INIT;
        jallocator_t *limit = NULL;
        options.limit_bytes = 100;
        const jstatus_t status = jallocator_create_limit(below, &options, &limit);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_OK(jallocator_destroy(limit));
    }
    JEXPECT_OK(jallocator_destroy(below));
}
