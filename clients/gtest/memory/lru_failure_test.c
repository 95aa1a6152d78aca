/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The cache of freed blocks where something fails: bookkeeping, the allocator below, waits for
 * streams. */

#include "lru_helper.h"
#include "pretend_gpu.h"

#include <stdatomic.h>
#include <stdlib.h>

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
                JEXPECT_TRUE(status == JSTATUS_MEMORY_ERROR && !failed_before &&
                             jtest_metadata_failed());
            in_use += status == JSTATUS_SUCCESS ? 64 * (k + 1) : 0;
            live += status == JSTATUS_SUCCESS;
            status = jallocator_lru_adopt(lru, &foreign[k], 1, 1, take_back, &given);
            if (status != JSTATUS_SUCCESS)
                JEXPECT_TRUE(status == JSTATUS_MEMORY_ERROR && !failed_before &&
                             jtest_metadata_failed());
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
            jstatus_t status =
                jallocator_allocate(lru, 1000, 0, k % 2 == 0 ? first : second, &pointer);
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
    /* Nothing to give back. */
    JEXPECT_STATUS(jallocator_allocate(lru, 2000, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(stats_of(lru).reserved_bytes, 1024);
    JEXPECT_EQ(counters_of(lru).miss_count, 1);
    keep(lru, 3000);
    jtest_fail_allocation_after(1);
    /* After what was kept is gone, it is asked again. */
    JEXPECT_OK(jallocator_allocate(lru, 2000, 0, NULL, &pointer));
    JEXPECT_EQ(jtest_live_bytes(), 1024 + 2048);
    JEXPECT_EQ(counters_of(lru).kept_blocks, 0);
    give(lru, pointer, 2000);
    give(lru, live, 1000);
    destroy_lru(lru);
}

/* Below refuses what is given back: it stays, and goes later. */
static atomic_bool refuses;
static jstatus_t refuse_deallocate(void *context, void *pointer, size_t size_bytes,
                                   jstream_t *stream) {
    return atomic_load(&refuses) ? JSTATUS_DEVICE_ERROR
                                 : jallocator_deallocate(context, pointer, size_bytes, stream);
}
JTEST(Lru, WhatBelowRefusesStaysKept) {
    jallocator_ops_t ops = {.allocate = pass_allocate, .deallocate = refuse_deallocate};
    jallocator_t *below = make_adaptor(jtest_failing_allocator(), ops),
                 *lru = make_lru(below, 0, 1024, JALLOC_NONE);
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
    jallocator_t *below = make_adaptor(jtest_failing_allocator(), ops),
                 *lru = make_lru(below, 0, 0, 0);
    void *pointer = keep(lru, 100);
    const size_t bytes = jallocator_usable_size(below, pointer, 128);
    atomic_store(&refuses, true);
    JEXPECT_OK(jallocator_destroy(lru));
    JEXPECT_SUBSTR(jtest_log_text(), "a kept block cannot be given back");
    atomic_store(&refuses, false);
    give(below, pointer, bytes);
    JEXPECT_OK(jallocator_destroy(below));
}

/* A device whose waits fail: nothing goes back that may still be in use, and what is said to fail
 * has changed nothing. */
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
