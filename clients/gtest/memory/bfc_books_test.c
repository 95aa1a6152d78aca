/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What best fit with coalescing counts, whichever way a call takes: the short one from and to quick
 * lists, the one through the bins, those of other threads and streams, and refusals. */

#include "bfc_helper.h"

#include "memory/call_traces.h"

#include <pthread.h>

/* ---- One thread ---- */

typedef struct sums {
    uint64_t allocation_count, live_count, failure_count;
    size_t in_use, peak_in_use, granted, peak_granted, largest;
} sums_t;

static void expect_sums(jallocator_t *allocator, const sums_t *sums) {
    const jallocator_stats_t stats = stats_of(allocator);
    JEXPECT_EQ(stats.allocation_count, sums->allocation_count);
    JEXPECT_EQ(stats.live_count, sums->live_count);
    JEXPECT_EQ(stats.failure_count, sums->failure_count);
    JEXPECT_EQ(stats.in_use_bytes, sums->in_use);
    JEXPECT_EQ(stats.peak_in_use_bytes, sums->peak_in_use);
    JEXPECT_EQ(stats.granted_bytes, sums->granted);
    JEXPECT_EQ(stats.peak_granted_bytes, sums->peak_granted);
    JEXPECT_EQ(stats.largest_request_bytes, sums->largest);
}

static void raise_to(size_t *peak, size_t value) { *peak = *peak < value ? value : *peak; }

static const struct threads {
    const char *name;
    jallocator_threads_t threads;
} classes[] = {{"None", JALLOCATOR_THREADS_NONE}, {"Lock", JALLOCATOR_THREADS_LOCK}};

/* Asking for statistics empties the quick lists, so they are asked for seldom: the peaks of all
 * calls between are in them. */
JTEST_P(Bfc, BooksAgreeWithAModelWhicheverWayACallTakes, struct threads, classes) {
    enum { HELD = 100 };
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.threads = param->threads;
    options.limit_bytes = 512 * G;
    jallocator_t *allocator;
    make(&script, &options, &allocator);

    struct {
        void *pointer;
        size_t size, usable;
    } held[HELD] = {{0}};
    sums_t sums = {0};

    for (int64_t i = 0; i < jtest_iterations(60000); ++i) {
        const size_t k = jtest_random() % HELD;
        const size_t size = jtest_random() % 8 != 0 ? (jtest_random() % 6 + 1) * 300
                                                    : jtest_random() % (30 * G) + 1;
        if (held[k].pointer == NULL) {
            const jstatus_t status = jallocator_allocate(
                allocator, size, jtest_random() % 16 != 0 ? 0 : 1024, NULL, &held[k].pointer);
            if (status == JSTATUS_SUCCESS) {
                held[k].size = size;
                held[k].usable = jallocator_usable_size(allocator, held[k].pointer, size);
                ++sums.allocation_count;
                ++sums.live_count;
                raise_to(&sums.peak_in_use, sums.in_use += size);
                raise_to(&sums.peak_granted, sums.granted += held[k].usable);
                raise_to(&sums.largest, size);
            } else {
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                ++sums.failure_count;
            }
        } else {
            JEXPECT_STATUS(
                jallocator_deallocate(allocator, held[k].pointer, held[k].size + 1, NULL),
                JSTATUS_INVALID_SIZE);
            give(allocator, held[k].pointer, held[k].size);
            JEXPECT_STATUS(jallocator_deallocate(allocator, held[k].pointer, held[k].size, NULL),
                           JSTATUS_NOT_FOUND);
            --sums.live_count;
            sums.in_use -= held[k].size;
            sums.granted -= held[k].usable;
            held[k].pointer = NULL;
        }

        if (i % 200 == 0)
            expect_sums(allocator, &sums);
        if (i % 5000 == 0) {
            JEXPECT_OK(jallocator_check(allocator));
            JEXPECT_OK(jallocator_clear_stats(allocator));
            sums.peak_in_use = sums.in_use;
            sums.peak_granted = sums.granted;
            sums.largest = 0;
            expect_sums(allocator, &sums);
        }
    }

    for (size_t k = 0; k < HELD; ++k)
        if (held[k].pointer != NULL)
            give(allocator, held[k].pointer, held[k].size);
    end(allocator);
}

/* A block of the same size from a quick list is shown with the call that took it, not with an
 * earlier one. */
JTEST_ONLY_WITH("JALLOC_TEST_LEAKS", LeaksOnPurpose, QuickBlocksOfBfc) {
    script_t script = {0};
    jallocator_t *allocator;
    make(&script, NULL, &allocator);
    for (int i = 0; i < 2; ++i)
        give(allocator, take(allocator, G), G);
    void *first, *second;
    JEXPECT_OK(jallocator_allocate(allocator, G, 0, NULL, &first));
    const ji_call_trace_t before = ji_call_traces_get(allocator->call_traces, first);
    give(allocator, first, G);
    JEXPECT_OK(jallocator_allocate(allocator, G, 0, NULL, &second));
    const ji_call_trace_t after = ji_call_traces_get(allocator->call_traces, second);
    JEXPECT_EQ(first, second);
    JEXPECT_GT(before.count, 0);
    JEXPECT_GT(after.count, 0);
    JEXPECT_NE(memcmp(before.frames, after.frames, sizeof before.frames), 0);
    give(allocator, second, G);
    end(allocator);
}
JTEST(Bfc, CallTracesAreOfTheLatestCall) {
    static char output[8192];
    static const char *const environment[] = {"JALLOC_TEST_LEAKS=1", "JALLOC_TEST_KEEP=1",
                                              "JALLOC_LEAK_REPORT=stacks", NULL};
    if (jtest_run_self("LeaksOnPurpose.QuickBlocksOfBfc", environment, output, sizeof output) != 0)
        JFAIL("%s", output);
}

/* ---- Several ---- */

#define ROUNDS 20000

static pthread_barrier_t start;

static void *come_and_go(void *argument) {
    jallocator_t *allocator = argument;
    pthread_barrier_wait(&start);
    for (size_t i = 0; i < ROUNDS; ++i) {
        const size_t size = (i % 5 + 1) * 300;
        give(allocator, take(allocator, size), size);
    }
    return NULL;
}

/* The lock is the first thread's by its bias until the second comes, in the midst of calls. */
JTEST(Bfc, BooksAreExactWhenAnotherThreadComes) {
    for (int64_t round = jtest_iterations(10); round > 0; --round) {
        script_t script = {0};
        jallocator_t *allocator;
        make(&script, NULL, &allocator);
        void *kept = take(allocator, 1000);

        pthread_t other;
        JASSERT_EQ(pthread_barrier_init(&start, NULL, 2), 0);
        JASSERT_EQ(pthread_create(&other, NULL, come_and_go, allocator), 0);
        come_and_go(allocator);
        JASSERT_EQ(pthread_join(other, NULL), 0);
        (void)pthread_barrier_destroy(&start);

        const jallocator_stats_t stats = stats_of(allocator);
        JEXPECT_EQ(stats.allocation_count, 2 * ROUNDS + 1);
        JEXPECT_EQ(stats.live_count, 1);
        JEXPECT_EQ(stats.in_use_bytes, 1000);
        JEXPECT_LE(stats.peak_in_use_bytes, 4000);
        give(allocator, kept, 1000);
        end(allocator);
    }
}
