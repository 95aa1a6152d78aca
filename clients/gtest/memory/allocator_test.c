/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The allocator object: what is checked when one is made, what stands between a caller and the
 * allocator's functions, and what is counted. What every provider must do is in provider_test.c. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/allocator.h"
#include "jalloc/policy.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions that do what the test says and remember what they were asked. */
static struct script {
    jstatus_t allocate_status, deallocate_status;
    void *gives; /* NULL: allocates */
    bool gives_null;
    unsigned allocations, deallocations, trims, clears, destroys;
    size_t size, alignment, keep;
    void *given_back;
} script;

static jstatus_t script_allocate(void *context, size_t size_bytes, size_t alignment,
                                 jstream_t *stream, void **pointer) {
    JEXPECT_EQ(context, &script);
    JEXPECT_NULL(stream);
    JEXPECT_GT(size_bytes, 0);
    ++script.allocations;
    script.size = size_bytes;
    script.alignment = alignment;
    if (script.allocate_status == JSTATUS_SUCCESS && !script.gives_null)
        *pointer = script.gives
                       ? script.gives
                       : aligned_alloc(alignment, (size_bytes + alignment - 1) & ~(alignment - 1));
    return script.allocate_status;
}
static jstatus_t script_deallocate(void *context, void *pointer, size_t size_bytes,
                                   jstream_t *stream) {
    JEXPECT_EQ(context, &script);
    JEXPECT_NULL(stream);
    JEXPECT_NOT_NULL(pointer);
    ++script.deallocations;
    script.size = size_bytes;
    script.given_back = pointer;
    if (script.deallocate_status == JSTATUS_SUCCESS && pointer != script.gives)
        free(pointer);
    return script.deallocate_status;
}
static size_t script_usable_size(void *context, const void *pointer, size_t size_bytes) {
    (void)context, (void)pointer;
    return size_bytes + 5;
}
static jstatus_t script_find(void *context, const void *pointer, jallocation_t *block) {
    (void)context;
    block->pointer = &script;
    block->size_bytes = sizeof script;
    return pointer == &script ? JSTATUS_SUCCESS : JSTATUS_NOT_FOUND;
}
static void script_get_stats(void *context, jallocator_stats_t *stats) {
    (void)context;
    stats->limit_bytes = 777;
}
static void script_clear_stats(void *context) { (void)context, ++script.clears; }
static jstatus_t script_trim(void *context, size_t keep_bytes) {
    (void)context, ++script.trims;
    script.keep = keep_bytes;
    return JSTATUS_DEVICE_ERROR;
}
static void script_destroy(void *context) {
    JEXPECT_EQ(context, &script);
    ++script.destroys;
}

static const jallocator_ops_t least = {
    .struct_size = sizeof least, .allocate = script_allocate, .deallocate = script_deallocate};
static const jallocator_ops_t full = {.struct_size = sizeof full,
                                      .allocate = script_allocate,
                                      .deallocate = script_deallocate,
                                      .usable_size = script_usable_size,
                                      .find = script_find,
                                      .get_stats = script_get_stats,
                                      .clear_stats = script_clear_stats,
                                      .trim = script_trim,
                                      .destroy = script_destroy};

static jallocator_t *make(const jallocator_ops_t *ops) {
    jallocator_t *allocator = NULL;
    memset(&script, 0, sizeof script);
    JEXPECT_OK(jallocator_create(ops, &script, NULL, &allocator));
    return allocator;
}

JTEST(Allocator, TableIsCheckedAndNothingIsMade) {
    jallocator_t *const mark = (jallocator_t *)&script, *allocator = mark;
    jallocator_ops_t ops = full;
    JEXPECT_STATUS(jallocator_create(NULL, NULL, NULL, &allocator), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create(&ops, NULL, NULL, NULL), JSTATUS_INVALID_POINTER);
    ops.allocate = NULL;
    JEXPECT_STATUS(jallocator_create(&ops, NULL, NULL, &allocator), JSTATUS_INVALID_POINTER);
    ops = full;
    ops.deallocate = NULL;
    JEXPECT_STATUS(jallocator_create(&ops, NULL, NULL, &allocator), JSTATUS_INVALID_POINTER);
    static const size_t bad_sizes[] = {0, 1, sizeof(size_t),
                                       offsetof(jallocator_ops_t, usable_size) - 1};
    for (size_t i = 0; i < sizeof bad_sizes / sizeof bad_sizes[0]; ++i) {
        ops = full;
        ops.struct_size = bad_sizes[i];
        JEXPECT_STATUS(jallocator_create(&ops, NULL, NULL, &allocator), JSTATUS_INVALID_VALUE);
    }
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    options.struct_size = 0;
    JEXPECT_STATUS(jallocator_create(&full, NULL, &options, &allocator), JSTATUS_INVALID_VALUE);
    options = (jallocator_options_t)JALLOCATOR_OPTIONS_INIT;
    options.name = "a name of thirty-two characters.";
    JEXPECT_EQ(strlen(options.name), JALLOCATOR_NAME_BYTES);
    JEXPECT_STATUS(jallocator_create(&full, NULL, &options, &allocator), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(allocator, mark);
}

static bool visit_nothing(void *context, const jallocation_t *block) {
    (void)context, (void)block;
    return false;
}

JTEST(Allocator, NullIsRefusedWhereverItIsGiven) {
    jallocator_t *allocator = make(&full);
    jallocation_t block = JALLOCATION_INIT;
    JEXPECT_STATUS(jallocator_own_below(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_own_below(allocator), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "has nothing below");
    JEXPECT_STATUS(jallocator_check(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_find(NULL, &script, &block), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_find(allocator, NULL, &block), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_find(allocator, &script, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocation_find(&script, NULL), JSTATUS_INVALID_POINTER);
    block.struct_size = 1;
    JEXPECT_STATUS(jallocator_find(allocator, &script, &block), JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(block.pointer);
    JEXPECT_STATUS(jallocator_visit(NULL, visit_nothing, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_visit(allocator, NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_NULL(jallocator_below(NULL));
    JEXPECT_NULL(jallocator_device(NULL));
    JEXPECT_EQ(jallocator_threads(NULL), JALLOCATOR_THREADS_NONE);
    JEXPECT_OK(jallocator_destroy(allocator));
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    options.threads = (jallocator_threads_t)(JALLOCATOR_THREADS_SAFE + 1);
    JEXPECT_STATUS(jallocator_create(&full, &script, &options, &allocator), JSTATUS_INVALID_VALUE);
}

JTEST(Allocator, WhatIsOwnedAndRetainedStaysAndIsSaid) {
    jallocator_t *below = make(&least), *above;
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    options.below = below;
    JASSERT_OK(jallocator_create(&least, &script, &options, &above));
    JEXPECT_OK(jallocator_own_below(above));
    JEXPECT_OK(jallocator_retain(below));
    JEXPECT_OK(jallocator_destroy(above));
    JEXPECT_SUBSTR(jtest_log_text(), "1 user keeps it: it stays");
    JEXPECT_OK(jallocator_release(below));
    JEXPECT_OK(jallocator_destroy(below));
}

/* What is below an allocator of two parts is below the lower one. */
JTEST(Allocator, WhatIsBelowBothPartsIsOwned) {
    jallocator_t *below = make(&full), *general;
    JASSERT_OK(jallocator_create_general(below, NULL, &general));
    JEXPECT_EQ(jallocator_below(general), below);
    JEXPECT_OK(jallocator_own_below(general));
    JEXPECT_OK(jallocator_destroy(general));
    JEXPECT_EQ(script.destroys, 1);
}

JTEST(Allocator, NameAndDeviceAndTheirDefaults) {
    jallocator_t *allocator = make(&least);
    JEXPECT_STREQ(jallocator_name(allocator), "callbacks");
    JEXPECT_EQ(jallocator_device(allocator), jdevice_host());
    JEXPECT_OK(jallocator_destroy(allocator));
    char name[] = "a name of thirty-one characters";
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    options.name = name;
    JEXPECT_EQ(strlen(name), JALLOCATOR_NAME_BYTES - 1);
    JASSERT_OK(jallocator_create(&least, &script, &options, &allocator));
    name[0] = 'X';
    JEXPECT_STREQ(jallocator_name(allocator), "a name of thirty-one characters");
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_STREQ(jallocator_name(NULL), "(null)");
    JEXPECT_NULL(jallocator_device(NULL));
}

JTEST(Allocator, EmptySlotsHaveDefaults) {
    jallocator_t *allocator = make(&least);
    void *pointer;
    JASSERT_OK(jallocator_allocate(allocator, 100, 0, NULL, &pointer));
    JEXPECT_EQ(script.alignment, 64); /* the granule */
    JEXPECT_EQ(jallocator_usable_size(allocator, pointer, 100), 100);
    JEXPECT_TRUE(owns(allocator, pointer));
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_OK(jallocator_clear_stats(allocator));
    JEXPECT_EQ(stats_of(allocator).limit_bytes, 0);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Allocator, OlderTableHasFewerSlotsAndNewerOneMore) {
    struct {
        jallocator_ops_t ops;
        void *later[4];
    } newer = {.ops = full};
    jallocator_ops_t older = full;
    /* Whatever is behind is not the caller's. */
    older.struct_size = offsetof(jallocator_ops_t, usable_size);
    jallocator_t *allocator = make(&older);
    JEXPECT_FALSE(owns(allocator, &script));
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_EQ(script.destroys, 0);
    newer.ops.struct_size = sizeof newer;
    allocator = make(&newer.ops);
    JEXPECT_TRUE(owns(allocator, &script));
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_EQ(script.destroys, 1);
}

JTEST(Allocator, SlotsAreCalled) {
    jallocator_t *allocator = make(&full);
    JEXPECT_EQ(jallocator_usable_size(allocator, &script, 100), 105);
    JEXPECT_EQ(jallocator_usable_size(allocator, NULL, 100), 0);
    JEXPECT_FALSE(owns(allocator, NULL));
    JEXPECT_EQ(stats_of(allocator).limit_bytes, 777);
    JEXPECT_STATUS(jallocator_trim(allocator, 33), JSTATUS_DEVICE_ERROR);
    JEXPECT_EQ(script.keep, 33);
    JEXPECT_OK(jallocator_clear_stats(allocator));
    JEXPECT_EQ(script.clears, 1);
    JEXPECT_EQ(script.destroys, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_EQ(script.destroys, 1);
}

static void visit_nowhere(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    (void)context;
    jallocation_t block = JALLOCATION_INIT;
    block.size_bytes = 100;
    block.live = true;
    (void)visitor(visitor_context, &block);
}
static bool count_block(void *context, const jallocation_t *block) {
    (void)block;
    ++*(unsigned *)context;
    return true;
}

JTEST(Allocator, ABlockAtNoAddressIsNotShownForOneOfTheLedger) {
    jallocator_ops_t ops = least;
    ops.visit = visit_nowhere;
    jallocator_t *allocator = make(&ops);
    unsigned count = 0;
    void *pointer;
    JASSERT_OK(jallocator_allocate(allocator, 100, 0, NULL, &pointer));
    JEXPECT_OK(jallocator_visit(allocator, count_block, &count));
    JEXPECT_EQ(count, 0);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Allocator, TableIsCopied) {
    jallocator_ops_t ops = full;
    jallocator_t *allocator = make(&ops);
    memset(&ops, 0, sizeof ops);
    JEXPECT_EQ(jallocator_usable_size(allocator, &script, 1), 6);
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Allocator, ArgumentsAreCheckedBeforeTheFunctionsSeeThem) {
    jallocator_t *allocator = make(&full);
    static const size_t bad_alignments[] = {
        3, 5, 48, 65, (size_t)1 << 31, ((size_t)1 << 30) + 1, SIZE_MAX};
    void *pointer;
    for (size_t i = 0; i < sizeof bad_alignments / sizeof bad_alignments[0]; ++i) {
        pointer = &script;
        JEXPECT_STATUS(jallocator_allocate(allocator, 8, bad_alignments[i], NULL, &pointer),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_NULL(pointer);
    }
    for (size_t k = 0; k < 300; ++k) {
        pointer = &script;
        JEXPECT_STATUS(jallocator_allocate(allocator, SIZE_MAX - k, 64, NULL, &pointer),
                       JSTATUS_INVALID_SIZE);
        JEXPECT_NULL(pointer);
    }
    JEXPECT_STATUS(jallocator_allocate(NULL, 8, 64, NULL, &pointer), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_allocate(allocator, 8, 64, NULL, NULL), JSTATUS_INVALID_POINTER);
    pointer = &script;
    JEXPECT_OK(jallocator_allocate(allocator, 0, 64, NULL, &pointer));
    JEXPECT_NULL(pointer);
    JEXPECT_OK(jallocator_deallocate(allocator, NULL, 0, NULL));
    JEXPECT_OK(jallocator_deallocate(allocator, NULL, 100, NULL));
    JEXPECT_STATUS(jallocator_deallocate(NULL, &script, 1, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_EQ(jallocator_usable_size(NULL, &script, 8), 0);
    JEXPECT_STATUS(jallocator_trim(NULL, 0), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_clear_stats(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_retain(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_release(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jallocator_destroy(NULL));
    JEXPECT_EQ(script.allocations, 0);
    JEXPECT_EQ(script.deallocations, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Allocator, LargestAlignmentIsAllowed) {
    jallocator_t *allocator = make(&full);
    void *pointer;
    script.gives = (void *)((uintptr_t)1 << 30); /* never touched */
    JEXPECT_OK(jallocator_allocate(allocator, 1, (size_t)1 << 30, NULL, &pointer));
    JEXPECT_EQ(pointer, script.gives);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 1, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Allocator, StatisticsNeedTheirSize) {
    jallocator_t *allocator = make(&least);
    jallocator_stats_t stats = {0};
    JEXPECT_STATUS(jallocator_get_stats(allocator, &stats), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_get_stats(allocator, NULL), JSTATUS_INVALID_POINTER);
    stats.struct_size = sizeof stats;
    JEXPECT_STATUS(jallocator_get_stats(NULL, &stats), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Allocator, FailureIsPassedOnCountedAndExplained) {
    jallocator_t *allocator = make(&least);
    static const jstatus_t failures[] = {JSTATUS_MEMORY_ERROR, JSTATUS_DEVICE_ERROR, JSTATUS_BUSY};
    void *pointer;
    for (size_t i = 0; i < 3; ++i) {
        pointer = &script;
        script.allocate_status = failures[i];
        JEXPECT_STATUS(jallocator_allocate(allocator, 12345, 64, NULL, &pointer), failures[i]);
        JEXPECT_NULL(pointer);
        JEXPECT_SUBSTR(jstatus_last_message(), "callbacks");
        JEXPECT_SUBSTR(jstatus_last_message(), "12345");
    }
    const jallocator_stats_t stats = stats_of(allocator);
    JEXPECT_EQ(stats.failure_count, 3);
    JEXPECT_EQ(stats.allocation_count, 0);
    JEXPECT_EQ(stats.live_count, 0);
    JEXPECT_EQ(stats.peak_in_use_bytes, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Allocator, RequestsThatNoMachineCanServeAreFailures) {
    static const char *const compositions[] = {"malloc", "malloc+track", "malloc+bfc",
                                               "malloc+bfc(threads=none)", "malloc+general"};
    for (int i = 0; i < 5; ++i) {
        jallocator_t *allocator = NULL;
        void *pointer;
        JASSERT_OK(jallocator_compose(NULL, compositions[i], &allocator));
        JEXPECT_STATUS(jallocator_allocate(allocator, SIZE_MAX, 0, NULL, &pointer),
                       JSTATUS_INVALID_SIZE);
        JEXPECT_STATUS(jallocator_allocate(allocator, 1, 3, NULL, &pointer),
                       JSTATUS_INVALID_VALUE); /* misuse is none */
        jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
        JEXPECT_OK(jallocator_get_stats(allocator, &stats));
        JEXPECT_EQ(stats.failure_count, 1);
        JEXPECT_OK(jallocator_destroy(allocator));
    }
}

JTEST(Allocator, WhatAFunctionGivesIsChecked) {
    alignas(64) static char memory[256];
    jallocator_t *allocator = make(&least);
    void *pointer = &script;
    script.gives = memory + 8; /* misaligned: refused, and given back */
    JEXPECT_STATUS(jallocator_allocate(allocator, 32, 64, NULL, &pointer), JSTATUS_INTERNAL_ERROR);
    JEXPECT_NULL(pointer);
    JEXPECT_EQ(script.deallocations, 1);
    JEXPECT_EQ(script.given_back, memory + 8);
    JEXPECT_EQ(script.size, 32);
    script.gives_null = true; /* success without memory */
    pointer = &script;
    JEXPECT_STATUS(jallocator_allocate(allocator, 32, 64, NULL, &pointer), JSTATUS_INTERNAL_ERROR);
    JEXPECT_NULL(pointer);
    JEXPECT_EQ(script.deallocations, 1);
    script.gives_null = false;
    script.allocate_status = JSTATUS_PERF_DEGRADED; /* no error, and no memory either */
    JEXPECT_TRUE(jstatus_is_error(jallocator_allocate(allocator, 32, 64, NULL, &pointer)));
    JEXPECT_NULL(pointer);
    JEXPECT_EQ(stats_of(allocator).failure_count, 3);
    script.allocate_status = JSTATUS_SUCCESS;
    script.gives = memory; /* usable all the while */
    JEXPECT_OK(jallocator_allocate(allocator, 32, 64, NULL, &pointer));
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 32, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Allocator, FailedDeallocationLeavesTheAllocationLive) {
    jallocator_t *allocator = make(&least);
    void *pointer;
    JASSERT_OK(jallocator_allocate(allocator, 64, 64, NULL, &pointer));
    script.deallocate_status = JSTATUS_NOT_FOUND;
    JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, 64, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(stats_of(allocator).live_count, 1);
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, 64);
    script.deallocate_status = JSTATUS_SUCCESS;
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 64, NULL));
    JEXPECT_EQ(stats_of(allocator).live_count, 0);
    /* Twice: nothing is live. */
    JEXPECT_TRUE(jstatus_is_error(jallocator_deallocate(allocator, pointer, 64, NULL)));
    JEXPECT_EQ(script.deallocations, 2);
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Allocator, DestroyIsRefusedWhileSomethingIsLive) {
    jallocator_t *allocator = make(&full);
    void *pointer;
    JASSERT_OK(jallocator_allocate(allocator, 4711, 64, NULL, &pointer));
    JEXPECT_STATUS(jallocator_destroy(allocator), JSTATUS_BUSY);
    JEXPECT_SUBSTR(jstatus_last_message(), "4711");
    JEXPECT_EQ(script.destroys, 0);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 4711, NULL)); /* it stayed usable */
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_EQ(script.destroys, 1);
}

JTEST(Allocator, DestroyIsRefusedWhileRetained) {
    jallocator_t *allocator = make(&full);
    JEXPECT_STATUS(jallocator_release(allocator), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_retain(allocator));
    JEXPECT_OK(jallocator_retain(allocator));
    JEXPECT_STATUS(jallocator_destroy(allocator), JSTATUS_BUSY);
    JEXPECT_OK(jallocator_release(allocator));
    JEXPECT_STATUS(jallocator_destroy(allocator), JSTATUS_BUSY);
    JEXPECT_OK(jallocator_release(allocator));
    JEXPECT_STATUS(jallocator_release(allocator), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Allocator, PeaksFallToThePresentWhenCleared) {
    jallocator_t *allocator = make(&least);
    void *a, *b;
    JASSERT_OK(jallocator_allocate(allocator, 100, 64, NULL, &a));
    JASSERT_OK(jallocator_allocate(allocator, 300, 64, NULL, &b));
    JEXPECT_OK(jallocator_deallocate(allocator, b, 300, NULL));
    jallocator_stats_t stats = stats_of(allocator);
    JEXPECT_EQ(stats.in_use_bytes, 100);
    JEXPECT_EQ(stats.peak_in_use_bytes, 400);
    JEXPECT_EQ(stats.largest_request_bytes, 300);
    JEXPECT_OK(jallocator_clear_stats(allocator));
    stats = stats_of(allocator);
    JEXPECT_EQ(stats.in_use_bytes, 100);
    JEXPECT_EQ(stats.peak_in_use_bytes, 100);
    JEXPECT_LE(stats.largest_request_bytes, 100);
    JEXPECT_EQ(stats.allocation_count, 2);
    JEXPECT_EQ(stats.live_count, 1);
    JEXPECT_OK(jallocator_deallocate(allocator, a, 100, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}
