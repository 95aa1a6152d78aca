/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the books say while calls are under way: wrong frees, frees that fail, and readers of
 * statistics beside threads that work. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/adaptor.h"
#include "jalloc/policy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A caller's functions that know their blocks ---- */

enum { MOST_KNOWN = 4, KNOWN_BYTES = 64 };

/* Blocks of one size. The next free of what is no block is seen from within, and by then another
 * free, a right one, comes and goes. */
typedef struct known {
    jallocator_t *allocator;
    unsigned char memory[MOST_KNOWN][KNOWN_BYTES] __attribute__((aligned(64)));
    bool live[MOST_KNOWN];
    void *frees_inside; /* NULL: nothing */
    jallocator_stats_t inside;
} known_t;

static int known_index(const known_t *known, const void *pointer) {
    for (int i = 0; i < MOST_KNOWN; ++i)
        if (known->live[i] && pointer == known->memory[i])
            return i;
    return -1;
}
static jstatus_t known_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    known_t *known = context;
    (void)size_bytes, (void)alignment, (void)stream;
    for (int i = 0; i < MOST_KNOWN; ++i)
        if (!known->live[i]) {
            known->live[i] = true;
            *pointer = known->memory[i];
            return JSTATUS_SUCCESS;
        }
    return JSTATUS_MEMORY_ERROR;
}
static jstatus_t known_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    known_t *known = context;
    (void)stream;
    const int i = known_index(known, pointer);
    if (i >= 0 && size_bytes == KNOWN_BYTES) {
        known->live[i] = false;
        return JSTATUS_SUCCESS;
    }
    known->inside = stats_of(known->allocator);
    void *right = known->frees_inside;
    known->frees_inside = NULL;
    if (right != NULL)
        give(known->allocator, right, KNOWN_BYTES);
    return i >= 0 ? JSTATUS_INVALID_SIZE : JSTATUS_NOT_FOUND;
}
static jstatus_t known_find(void *context, const void *pointer, jallocation_t *block) {
    known_t *known = context;
    const int i = known_index(known, pointer);
    if (i < 0)
        return JSTATUS_NOT_FOUND;
    block->pointer = known->memory[i];
    block->size_bytes = block->usable_bytes = KNOWN_BYTES;
    return JSTATUS_SUCCESS;
}

/* A free of what is no block takes nothing off the counts, not even for a moment: a right free that
 * comes meanwhile is counted. */
JTEST(AllocatorBooks, AWrongFreeLeavesTheCountsToARightOneMeanwhile) {
    static const jallocator_ops_t ops = {.struct_size = sizeof ops,
                                         .allocate = known_allocate,
                                         .deallocate = known_deallocate,
                                         .find = known_find};
    static known_t known;
    memset(&known, 0, sizeof known);
    JASSERT_OK(jallocator_create(&ops, &known, NULL, &known.allocator));
    for (int wrong_size = 0; wrong_size < 2; ++wrong_size) {
        JSCOPED_TRACE("%s", wrong_size ? "another size" : "foreign");
        void *const block = take(known.allocator, KNOWN_BYTES);
        void *const wrong = wrong_size ? block : &known;
        known.frees_inside = wrong_size ? NULL : block;
        JEXPECT_STATUS(
            jallocator_deallocate(known.allocator, wrong, KNOWN_BYTES - wrong_size, NULL),
            wrong_size ? JSTATUS_INVALID_SIZE : JSTATUS_NOT_FOUND);
        JEXPECT_EQ(known.inside.live_count, 1);
        JEXPECT_EQ(known.inside.in_use_bytes, KNOWN_BYTES);
        if (wrong_size)
            give(known.allocator, block, KNOWN_BYTES);
        JEXPECT_EQ(stats_of(known.allocator).live_count, 0);
        JEXPECT_EQ(stats_of(known.allocator).in_use_bytes, 0);
    }
    JEXPECT_OK(jallocator_destroy(known.allocator));
}

/* ---- Wrong frees beside right ones ---- */

typedef struct wrong {
    jallocator_t *allocator;
    void *block; /* live all the time, of 64 bytes */
    atomic_bool stop;
} wrong_t;

static void *free_wrongly(void *argument) {
    wrong_t *wrong = argument;
    static char foreign[64];
    while (!atomic_load(&wrong->stop)) {
        JEXPECT_STATUS(jallocator_deallocate(wrong->allocator, foreign, 64, NULL),
                       JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(jallocator_deallocate(wrong->allocator, wrong->block, 65, NULL),
                       JSTATUS_INVALID_SIZE);
    }
    return NULL;
}

/* One thread frees rightly and one wrongly; the counts are those of the first at each moment. */
JTEST(AllocatorBooks, WrongFreesOfAnotherThreadChangeNoCount) {
    static const char *const compositions[] = {
        "fill", "guard", "exact",   "visit", "track", "limit(limit=1G)",          "statistics",
        "lock", "bfc",   "general", "align", "slots", "quota(budget=b,limit=1G)", "small"};
    for (size_t i = 0; i < sizeof compositions / sizeof compositions[0]; ++i) {
        JSCOPED_TRACE("%s", compositions[i]);
        wrong_t wrong = {0};
        JASSERT_OK(jallocator_compose(NULL, compositions[i], &wrong.allocator));
        wrong.block = take(wrong.allocator, 64);
        pthread_t thread;
        JASSERT_EQ(pthread_create(&thread, NULL, free_wrongly, &wrong), 0);
        for (int64_t n = jtest_iterations(2000); n > 0 && !jtest_has_failure(); --n) {
            void *block = take(wrong.allocator, 64);
            JEXPECT_EQ(stats_of(wrong.allocator).live_count, 2);
            give(wrong.allocator, block, 64);
            JEXPECT_EQ(stats_of(wrong.allocator).in_use_bytes, 64);
        }
        atomic_store(&wrong.stop, true);
        pthread_join(thread, NULL);
        give(wrong.allocator, wrong.block, 64);
        JEXPECT_EQ(stats_of(wrong.allocator).live_count, 0);
        JEXPECT_EQ(stats_of(wrong.allocator).in_use_bytes, 0);
        JEXPECT_EQ(stats_of(wrong.allocator).peak_in_use_bytes, 128);
        JEXPECT_OK(jallocator_destroy(wrong.allocator));
    }
}

/* ---- Frees that fail ---- */

/* Below refuses to take one block back, and gives another one meanwhile. */
typedef struct stubborn {
    jallocator_t *above;
    void *meanwhile; /* what was allocated */
    bool refuses;
} stubborn_t;
static jstatus_t stubborn_deallocate(void *context, void *pointer, size_t size_bytes,
                                     jstream_t *stream) {
    stubborn_t *stubborn = context;
    if (stubborn->refuses) {
        stubborn->refuses = false;
        stubborn->meanwhile = take(stubborn->above, 300);
        return JSTATUS_DEVICE_ERROR;
    }
    return plain_deallocate(context, pointer, size_bytes, stream);
}

/* The block was live all the time: so was the sum of both, and it keeps its tag. */
JTEST(AllocatorBooks, AFreeThatFailsWasNeverOutOfThePeak) {
    static const char *const adaptors[] = {"track", "limit(limit=1G)", "fill",  "guard",
                                           "exact", "statistics",      "visit", "retry"};
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = plain_allocate, .deallocate = stubborn_deallocate};
    for (size_t i = 0; i < sizeof adaptors / sizeof adaptors[0]; ++i) {
        JSCOPED_TRACE("%s", adaptors[i]);
        stubborn_t stubborn = {0};
        jallocator_t *below;
        JASSERT_OK(jallocator_create(&ops, &stubborn, NULL, &below));
        JASSERT_OK(jallocator_compose_over(below, adaptors[i], &stubborn.above));
        const bool has_parts = strcmp(adaptors[i], "statistics") == 0;
        if (has_parts)
            JEXPECT_OK(jallocator_statistics_push(stubborn.above));
        const jtag_t before = jtag_set(jtag_intern("stubborn"));
        void *block = take(stubborn.above, 500);
        jtag_set(before);
        stubborn.refuses = true;
        JEXPECT_STATUS(jallocator_deallocate(stubborn.above, block, 500, NULL),
                       JSTATUS_DEVICE_ERROR);
        const jallocator_stats_t stats = stats_of(stubborn.above);
        JEXPECT_EQ(stats.allocation_count, 2);
        JEXPECT_EQ(stats.live_count, 2);
        JEXPECT_EQ(stats.in_use_bytes, 800);
        JEXPECT_EQ(stats.peak_in_use_bytes, 800);
        if (has_parts) {
            jallocator_stats_t part = JALLOCATOR_STATS_INIT;
            JEXPECT_OK(jallocator_statistics_pop(stubborn.above, &part));
            JEXPECT_EQ(part.peak_in_use_bytes, 800);
            JEXPECT_EQ(part.in_use_bytes, 800);
        }
        jallocation_t shown = JALLOCATION_INIT;
        JEXPECT_OK(jallocator_find(stubborn.above, block, &shown));
        JEXPECT_STREQ(jtag_name(shown.tag), "stubborn");
        give(stubborn.above, block, 500);
        give(stubborn.above, stubborn.meanwhile, 300);
        JEXPECT_EQ(stats_of(stubborn.above).in_use_bytes, 0);
        JEXPECT_OK(jallocator_destroy(stubborn.above));
        JEXPECT_OK(jallocator_destroy(below));
    }
}
