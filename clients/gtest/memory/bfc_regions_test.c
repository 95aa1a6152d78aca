/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Regions that touch: one where the provider says so, and given back as they were taken. Bytes as
 * rounded up. */

#include "allocator_helper.h"
#include "allocator_model.h"
#include "jtest.h"

#include "jalloc/adaptor.h"
#include "jalloc/policy.h"
#include "jalloc/provider.h"
#include "memory/allocators/bfc/bfc.h"

#include <string.h>
#include <sys/mman.h>

#define MIB ((size_t)1 << 20)

/* A provider that hands out the lowest free pages of a range, so that blocks touch in every order.
 * That they come back as they went is seen by the object, which has their ledger. */
enum { PAGES = 4096, PAGE_BYTES = 4096 };
typedef struct pages {
    char *memory;
    bool taken[PAGES];
    bool coalesces;
} pages_t;

static jstatus_t pages_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    pages_t *pages = context;
    (void)alignment, (void)stream;
    const size_t need = (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES;
    size_t run = 0;
    for (size_t i = 0; i < PAGES; ++i)
        if ((run = pages->taken[i] ? 0 : run + 1) == need) {
            memset(&pages->taken[i + 1 - need], 1, need);
            *pointer = pages->memory + (i + 1 - need) * PAGE_BYTES;
            return JSTATUS_SUCCESS;
        }
    return JSTATUS_MEMORY_ERROR;
}
static jstatus_t pages_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    pages_t *pages = context;
    (void)stream;
    memset(&pages->taken[(size_t)((char *)pointer - pages->memory) / PAGE_BYTES], 0,
           (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES);
    return JSTATUS_SUCCESS;
}
static bool pages_coalesces(void *context) { return ((const pages_t *)context)->coalesces; }

static jallocator_t *make_pages(pages_t *pages, bool coalesces) {
    static const jallocator_ops_t ops = {.struct_size = sizeof ops,
                                         .allocate = pages_allocate,
                                         .deallocate = pages_deallocate,
                                         .coalesces = pages_coalesces};
    memset(pages, 0, sizeof *pages);
    pages->coalesces = coalesces;
    pages->memory = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    jallocator_t *allocator = NULL;
    JEXPECT_OK(jallocator_create(&ops, pages, NULL, &allocator));
    return allocator;
}

static jallocator_t *make_bfc(jallocator_t *below, const char *composition) {
    jallocator_t *allocator = NULL;
    JEXPECT_OK(jallocator_compose_over(below, composition, &allocator));
    return allocator;
}

/* Fifteen regions of 4 MiB in a row, of which all but the last become free. */
JTEST(BfcRegions, WhatTouchesIsOneStretchOverAnArray) {
    enum { REGIONS = 15 };
    const size_t bytes = 64 * MIB;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    JASSERT_TRUE(memory != MAP_FAILED);
    jallocator_t *array, *allocator;
    JASSERT_OK(jallocator_create_array(NULL, memory, bytes, &array));
    allocator = make_bfc(array, "track+bfc"); /* an adaptor passes the question on */
    void *blocks[REGIONS], *whole = NULL;
    for (int i = 0; i < REGIONS; ++i)
        blocks[i] = take(allocator, 4 * MIB);
    for (int i = 0; i + 1 < REGIONS; ++i)
        give(allocator, blocks[i], 4 * MIB);
    JEXPECT_EQ(stats_of(allocator).largest_free_bytes, 56 * MIB);
    JASSERT_OK(jallocator_allocate(allocator, 56 * MIB, 0, NULL, &whole));
    JEXPECT_EQ(whole, blocks[0]);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_trim(allocator, 0)); /* no seam can be parted */
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 60 * MIB);
    give(allocator, whole, 56 * MIB);
    give(allocator, blocks[REGIONS - 1], 4 * MIB);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
    JEXPECT_EQ(stats_of(array).live_count, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jallocator_destroy(array));
    munmap(memory, bytes);
}

/* What is free goes back region by region, around what is live; what touches then is one again. */
JTEST(BfcRegions, TrimGivesBackTheOnesThatAreFree) {
    static pages_t pages;
    jallocator_t *below = make_pages(&pages, true), *allocator = make_bfc(below, "bfc(region=64K)");
    void *blocks[8];
    for (int i = 0; i < 8; ++i)
        blocks[i] = take(allocator, 64 << 10);
    for (int i = 0; i < 8; ++i)
        if (i != 2 && i != 5)
            give(allocator, blocks[i], 64 << 10);
    JEXPECT_EQ(stats_of(allocator).largest_free_bytes, 128 << 10);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 128 << 10);
    JEXPECT_EQ(stats_of(below).live_count, 2);
    /* In the gaps, the lowest first. */
    void *between = take(allocator, 64 << 10), *next = take(allocator, 64 << 10);
    JEXPECT_EQ(between, blocks[0]);
    JEXPECT_EQ(next, blocks[1]);
    give(allocator, between, 64 << 10);
    give(allocator, next, 64 << 10);
    give(allocator, blocks[2], 64 << 10);
    JEXPECT_EQ(stats_of(allocator).largest_free_bytes, 192 << 10);
    give(allocator, blocks[5], 64 << 10);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_EQ(stats_of(below).live_count, 0);
    JEXPECT_OK(jallocator_destroy(below));
    munmap(pages.memory, PAGES * PAGE_BYTES);
}

/* Without the provider's word nothing is handed out across a border. */
/* Parting needs a record where a free chunk lies across a seam: without one what is joined stays,
 * and goes later. */
JTEST(BfcRegions, WithoutMemoryForARecordWhatIsJoinedStays) {
    static pages_t pages;
    jallocator_t *below = make_pages(&pages, true),
                 *allocator = make_bfc(below, "bfc(region=4K,growth=1)");
    void *first = take(allocator, 4096), *second = take(allocator, 4096);
    give(allocator, first, 4096);
    give(allocator, second, 4096);
    JEXPECT_OK(jallocator_check(allocator)); /* one free chunk of both */
    JEXPECT_EQ(stats_of(allocator).largest_free_bytes, 8192);
    bfc_t *bfc = allocator->context;
    const size_t spares = bfc->spare_count;
    bfc->spare_count = 0;
    jtest_fail_metadata_after(1);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_TRUE(jtest_metadata_failed());
    bfc->spare_count += spares;
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 8192);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jallocator_destroy(below));
    munmap(pages.memory, PAGES * PAGE_BYTES);
}

JTEST(BfcRegions, StayApartWhereNobodySaysThatTheyTouch) {
    static pages_t pages;
    jallocator_t *below = make_pages(&pages, false),
                 *allocator = make_bfc(below, "bfc(region=64K)"), *visited, *top;
    void *blocks[4];
    for (int i = 0; i < 4; ++i)
        blocks[i] = take(allocator, 64 << 10);
    for (int i = 0; i < 4; ++i)
        give(allocator, blocks[i], 64 << 10);
    JEXPECT_EQ(stats_of(allocator).largest_free_bytes, 64 << 10);
    JEXPECT_OK(jallocator_destroy(allocator));
    pages.coalesces = true; /* a visitor is told of each block: none is used as two */
    visited = make_bfc(below, "visit");
    top = make_bfc(visited, "bfc(region=64K)");
    for (int i = 0; i < 4; ++i)
        blocks[i] = take(top, 64 << 10);
    for (int i = 0; i < 4; ++i)
        give(top, blocks[i], 64 << 10);
    JEXPECT_EQ(stats_of(top).largest_free_bytes, 64 << 10);
    JEXPECT_OK(jallocator_destroy(top));
    JEXPECT_OK(jallocator_destroy(visited));
    JEXPECT_OK(jallocator_destroy(below));
    munmap(pages.memory, PAGES * PAGE_BYTES);
}

/* Small regions that touch in every order, growth that gives others back, trims: against the
 * model. */
JTEST(BfcRegions, AgreeWithTheModel) {
    static const char *const compositions[] = {"bfc(region=4K,growth=1)", "bfc(region=4K,limit=2M)",
                                               "bfc(region=12K,tight)"};
    for (int c = 0; c < 3; ++c) {
        static pages_t pages;
        static model_t model;
        jallocator_t *below = make_pages(&pages, true),
                     *allocator = make_bfc(below, compositions[c]);
        model_init(&model, allocator);
        model.largest_bytes = 40000;
        model.largest_alignment = 4096;
        for (int64_t i = jtest_iterations(6000); i > 0 && !jtest_has_failure(); --i) {
            model_step(&model);
            if (i % 64 == 0) {
                model_compare(&model);
                JEXPECT_OK(jallocator_check(allocator));
            }
            if (i % 97 == 0)
                JEXPECT_OK(jallocator_trim(allocator, (size_t)jtest_random_between(0, 100000)));
        }
        model_finish(&model);
        JEXPECT_OK(jallocator_trim(allocator, 0));
        JEXPECT_EQ(stats_of(below).live_count, 0);
        JEXPECT_OK(jallocator_destroy(allocator));
        JEXPECT_OK(jallocator_destroy(below));
        munmap(pages.memory, PAGES * PAGE_BYTES);
    }
}

/* TensorFlow counts in use what it granted. The numbers of its test: each size from 1 to 1023
 * once. */
JTEST(BfcRegions, BytesAsRoundedUpAreTensorFlowsBytesInUse) {
    jallocator_t *allocator = make_bfc(jtest_failing_allocator(), "bfc");
    static void *blocks[1024];
    for (size_t size = 1; size < 1024; ++size)
        blocks[size] = take(allocator, size);
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, 523776);
    JEXPECT_EQ(stats_of(allocator).granted_bytes, 654336);
    size_t usable = 0;
    for (size_t size = 1; size < 1024; ++size)
        usable += jallocator_usable_size(allocator, blocks[size], size);
    JEXPECT_EQ(usable, 654336);
    for (size_t size = 1; size < 1024; ++size)
        give(allocator, blocks[size], size);
    JEXPECT_EQ(stats_of(allocator).granted_bytes, 0);
    JEXPECT_EQ(stats_of(allocator).peak_granted_bytes, 654336);
    JEXPECT_OK(jallocator_clear_stats(allocator));
    JEXPECT_EQ(stats_of(allocator).peak_granted_bytes, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}
