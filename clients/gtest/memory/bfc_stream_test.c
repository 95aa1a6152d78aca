/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Best fit with coalescing between streams: what one has freed serves another when its work is
 * done, or waits for it. */

#include "bfc_helper.h"
#include "pretend_gpu.h"

#include <stdlib.h>

typedef struct two_streams {
    jallocator_t *allocator, *below;
    jstream_t *first, *second;
    jtest_gate_t gate; /* closed: `first` stands at it */
} two_streams_t;

static void streams_start(two_streams_t *two, size_t limit_bytes) {
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = 16 * G;
    options.limit_bytes = limit_bytes;
    *two = (two_streams_t){.gate = JTEST_GATE_INIT};
    JASSERT_OK(jallocator_create_device(jdevice_host(), JMEMORY_DEVICE, &two->below));
    JASSERT_OK(jallocator_create_bfc(two->below, &options, &two->allocator));
    JASSERT_OK(jstream_create(jdevice_host(), &two->first));
    JASSERT_OK(jstream_create(jdevice_host(), &two->second));
    JASSERT_OK(jtest_gate_block(&two->gate, jdevice_host(), two->first));
}
static void streams_end(two_streams_t *two) {
    jtest_gate_open(&two->gate);
    JEXPECT_OK(jstream_destroy(two->first));
    JEXPECT_OK(jstream_destroy(two->second));
    end(two->allocator);
    JEXPECT_OK(jallocator_destroy(two->below));
}

JTEST(Bfc, CheckFindsWhatWasOverwrittenOfStreams) {
    two_streams_t two;
    streams_start(&two, 0);
    jallocator_t *allocator = two.allocator;
    void *a = take_on(allocator, 4 * G, two.first);
    JEXPECT_OK(jallocator_deallocate(allocator, a, 4 * G, two.first));
    JEXPECT_OK(jallocator_check(allocator));
    bfc_t *bfc = allocator->context;
    bfc_chunk_t *freed = JI_LIST_FIRST(&bfc->regions, bfc_chunk_t, link)->right;
    bfc_stream_t *of = bfc->streams[freed->where];
    JASSERT_EQ(freed->where, 1);
    SPOILED(freed->serial, 99);                   /* never issued */
    SPOILED(of->absorbed, freed->serial);         /* who is to give it to all thinks that it has */
    SPOILED(freed->where, bfc->stream_count - 1); /* a stream that was never seen */
    of->absorbed = UINT64_MAX;                    /* and will look again */
    JEXPECT_OK(jallocator_check(allocator));
    of->absorbed = 0;
    const unsigned bin = bfc_bin_of(freed->size_bytes);
    bfc_bins_remove(&of->bins, freed, bin);
    bfc_bins_insert(&bfc->ready->bins, freed, bin);
    JEXPECT_STATUS(jallocator_check(allocator), JSTATUS_CORRUPTED);
    bfc_bins_remove(&bfc->ready->bins, freed, bin);
    bfc_bins_insert(&of->bins, freed, bin);
    streams_end(&two);
}
#undef SPOILED

/* Where a free cannot be noted for want of memory it waits, and where that fails too it fails: the
 * block stays. What other streams have freed is not mixed up by the place that is missing. */
JTEST(Bfc, AFreeThatCanNeitherBeNotedNorWaitedForFails) {
    for (uint64_t n = 1; n <= 3; ++n) {
        pretend_gpu_t *gpu = pretend_gpu_make();
        jstream_t *first, *second;
        jallocator_t *allocator;
        void *block = NULL, *other = NULL;
        JASSERT_OK(jstream_create(&gpu->device, &first));
        JASSERT_OK(jstream_create(&gpu->device, &second));
        JASSERT_OK(jallocator_compose(&gpu->device, "bfc", &allocator));
        JASSERT_OK(jallocator_allocate(allocator, 1000, 0, second, &block));
        jtest_fail_metadata_after(n);
        gpu->fail_in = 1;
        gpu->failed = false;
        const jstatus_t status = jallocator_deallocate(allocator, block, 1000, first);
        JEXPECT_EQ(status, gpu->failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
        gpu->fail_in = 0;
        jtest_fail_metadata_after(0);
        for (int i = 0; i < 4; ++i) { /* through a quick list */
            JASSERT_OK(jallocator_allocate(allocator, 1000, 0, second, &other));
            JEXPECT_OK(jallocator_deallocate(allocator, other, 1000, second));
        }
        JEXPECT_OK(jallocator_check(allocator));
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_EQ(stats_of(allocator).live_count, 1);
            JEXPECT_OK(jallocator_deallocate(allocator, block, 1000, first));
        }
        end(allocator);
        JEXPECT_OK(jstream_destroy(first));
        JEXPECT_OK(jstream_destroy(second));
        JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
    }
}

JTEST(Bfc, SameStreamReusesAtOnceAnotherOnlyAfterTheEvent) {
    two_streams_t two;
    streams_start(&two, 0);
    for (size_t size = 8 * G; size <= 16 * G; size += 8 * G) {
        /* A part of a region, and a whole one. */
        JSCOPED_TRACE("%zu bytes", size);
        void *pointer = take_on(two.allocator, size, two.first), *others[8];
        JEXPECT_OK(jallocator_deallocate(two.allocator, pointer, size, two.first));
        for (int i = 0; i < 3; ++i) {
            JEXPECT_EQ(take_on(two.allocator, size, two.first), pointer);
            JEXPECT_OK(jallocator_deallocate(two.allocator, pointer, size, two.first));
        }
        for (int i = 0; i < 8; ++i) { /* many, on another stream and inline: never that one */
            others[i] = take_on(two.allocator, size, i % 2 ? two.second : NULL);
            JEXPECT_NE(others[i], pointer);
        }
        JEXPECT_OK(jallocator_check(two.allocator));
        for (int i = 0; i < 8; ++i)
            JEXPECT_OK(
                jallocator_deallocate(two.allocator, others[i], size, i % 2 ? two.second : NULL));
    }
    streams_end(&two);
}

JTEST(Bfc, AnotherStreamGetsTheMemoryWhenTheEventIsReached) {
    two_streams_t two;
    streams_start(&two, 16 * G);
    void *pointer = take_on(two.allocator, 16 * G, two.first);
    JEXPECT_OK(jallocator_deallocate(two.allocator, pointer, 16 * G, two.first));
    jtest_gate_open(&two.gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), two.first));
    JEXPECT_EQ(take(two.allocator, 16 * G), pointer); /* no wait is needed; it is all there is */
    give(two.allocator, pointer, 16 * G);
    streams_end(&two);
}

typedef struct ordered {
    atomic_bool *flag;
    atomic_int *wrong;
} ordered_t;
static void set_flag(void *argument) { atomic_store(((ordered_t *)argument)->flag, true); }
static void expect_flag(void *argument) {
    if (!atomic_load(((ordered_t *)argument)->flag))
        atomic_fetch_add(((ordered_t *)argument)->wrong, 1);
}

/* Before a request fails, its stream waits for another's memory: the stream, not the caller. */
JTEST(Bfc, WhenThereIsNothingElseTheStreamWaitsAndNotTheCaller) {
    for (int pieces = 1; pieces <= 4; ++pieces) {
        JSCOPED_TRACE("%d pieces", pieces);
        two_streams_t two;
        atomic_bool flag = false;
        atomic_int wrong = 0;
        const ordered_t ordered = {&flag, &wrong};
        void *pointers[4];
        streams_start(&two, 16 * G);
        const size_t size = 16 * G / (size_t)pieces / G * G;
        for (int i = 0; i < pieces; ++i)
            pointers[i] = take_on(two.allocator, size, two.first);
        JEXPECT_OK(jstream_launch(jdevice_host(), two.first, set_flag, &ordered, sizeof ordered));
        /* The odd ones on the second: free behind different streams, one run. */
        for (int i = 0; i < pieces; ++i)
            JEXPECT_OK(jallocator_deallocate(two.allocator, pointers[i], size,
                                             i % 2 ? two.second : two.first));
        void *all = take_on(two.allocator, 16 * G, two.second);
        JEXPECT_EQ(all, pointers[0]);
        JEXPECT_FALSE(atomic_load(&flag)); /* the gate is closed, and the call has returned */
        JEXPECT_OK(
            jstream_launch(jdevice_host(), two.second, expect_flag, &ordered, sizeof ordered));
        JEXPECT_OK(jallocator_deallocate(two.allocator, all, 16 * G, two.second));
        JEXPECT_OK(jallocator_check(two.allocator));
        jtest_gate_open(&two.gate);
        JEXPECT_OK(jstream_synchronize(jdevice_host(), two.second));
        JEXPECT_EQ(atomic_load(&wrong), 0);
        streams_end(&two);
    }
}

JTEST(Bfc, NeighboursBehindDifferentStreamsMergeWhenBothHavePassed) {
    two_streams_t two;
    streams_start(&two, 16 * G);
    void *a = take_on(two.allocator, 8 * G, two.first),
         *b = take_on(two.allocator, 8 * G, two.second);
    JEXPECT_OK(jallocator_deallocate(two.allocator, a, 8 * G, two.first));
    JEXPECT_OK(jallocator_deallocate(two.allocator, b, 8 * G, two.second));
    JEXPECT_EQ(view_of(two.allocator).free_count, 2);
    JEXPECT_EQ(stats_of(two.allocator).largest_free_bytes, 8 * G);
    jtest_gate_open(&two.gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), two.first));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), two.second));
    JEXPECT_EQ(take(two.allocator, 16 * G), a);
    give(two.allocator, a, 16 * G);
    JEXPECT_EQ(view_of(two.allocator).free_count, 1);
    streams_end(&two);
}

/* What a stream freed and what nobody used yet are one place for that stream, though not for
 * others. */
JTEST(Bfc, AStreamUsesItsOwnAndFreshMemoryAsOne) {
    two_streams_t two;
    streams_start(&two, 0);
    void *part = take_on(two.allocator, 6 * G, two.first);
    JEXPECT_OK(jallocator_deallocate(two.allocator, part, 6 * G, two.first));
    JEXPECT_EQ(view_of(two.allocator).free_count, 2);
    JEXPECT_EQ(take_on(two.allocator, 16 * G, two.first), part);
    JEXPECT_EQ(stats_of(two.allocator).reserved_bytes, 16 * G); /* it did not grow for that */
    JEXPECT_OK(jallocator_deallocate(two.allocator, part, 16 * G, two.first));
    streams_end(&two);
}

/* The same, where behind that place lies more of the stream's own: what is left of it has no free
 * neighbour behind the same stream. */
JTEST(Bfc, WhatIsLeftOfAPlaceMergesWithWhatLiesBehind) {
    two_streams_t two;
    streams_start(&two, 16 * G);
    end(two.allocator);
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.limit_bytes = options.region_bytes = 16 * G;
    options.split_tightly = true;
    JASSERT_OK(jallocator_create_bfc(two.below, &options, &two.allocator));
    void *front = take_on(two.allocator, 4 * G, two.first), *middle = take(two.allocator, 4 * G),
         *back = take_on(two.allocator, 4 * G, two.first), *rest = take(two.allocator, 4 * G);
    JEXPECT_OK(jallocator_deallocate(two.allocator, front, 4 * G, two.first));
    JEXPECT_OK(jallocator_deallocate(two.allocator, back, 4 * G, two.first));
    give(two.allocator, middle, 4 * G);
    JEXPECT_EQ(take_on(two.allocator, 7 * G, two.first), front);
    JEXPECT_OK(jallocator_check(two.allocator));
    JEXPECT_EQ(stats_of(two.allocator).largest_free_bytes, 5 * G);
    JEXPECT_OK(jallocator_deallocate(two.allocator, front, 7 * G, two.first));
    give(two.allocator, rest, 4 * G);
    streams_end(&two);
}

/* Two frees of one stream with an event between them: what the event tells is true of the first
 * alone, whether the blocks were merged since, from the left or from the right, or not. */
JTEST(Bfc, AnEventTellsOfTheFreesBeforeItAlone) {
    for (int order = 0; order < 3; ++order) {
        JSCOPED_TRACE("order %d", order);
        two_streams_t two;
        jtest_gate_t later = JTEST_GATE_INIT;
        streams_start(&two, 0);
        char *left = take_on(two.allocator, 4 * G, two.first);
        void *middle = take_on(two.allocator, 4 * G, two.first);
        char *right = take_on(two.allocator, 8 * G, two.first);
        if (order > 0) { /* the middle one is merged with whom is freed first */
            JEXPECT_OK(jallocator_deallocate(two.allocator, middle, 4 * G, two.first));
            middle = NULL;
        }
        if (order == 2)
            JEXPECT_OK(jallocator_deallocate(two.allocator, right, 8 * G, two.first));
        else
            JEXPECT_OK(jallocator_deallocate(two.allocator, left, 4 * G, two.first));
        void *other = take_on(two.allocator, 32 * G, two.second); /* grows; the event is recorded */
        JEXPECT_OK(jtest_gate_block(&later, jdevice_host(), two.first));
        if (order == 2)
            JEXPECT_OK(jallocator_deallocate(two.allocator, left, 4 * G, two.first));
        else
            JEXPECT_OK(jallocator_deallocate(two.allocator, right, 8 * G, two.first));
        JEXPECT_OK(jallocator_check(two.allocator));
        jtest_gate_open(&two.gate);
        jtest_gate_await(&later);
        char *small = take_on(two.allocator, 4 * G, two.second),
             *large = take_on(two.allocator, 8 * G, two.second);
        JEXPECT_EQ(small == left, order == 0);
        JEXPECT_EQ(small >= left && small < left + 16 * G, order == 0);
        JEXPECT_FALSE(large >= left && large < left + 16 * G);
        JEXPECT_OK(jallocator_check(two.allocator));
        jtest_gate_open(&later);
        give(two.allocator, small, 4 * G);
        give(two.allocator, large, 8 * G);
        give(two.allocator, other, 32 * G);
        give(two.allocator, middle, 4 * G);
        streams_end(&two);
    }
}

/* Below may be a policy that orders memory with the stream it was asked for: nobody else may have
 * the rest of a region at once. Of a provider, which knows no streams, everybody may. */
JTEST(Bfc, FreshMemoryIsForAllWhereBelowIsAProvider) {
    two_streams_t two;
    streams_start(&two, 0);
    for (int ordered = 0; ordered < 2; ++ordered) {
        jbfc_options_t options = JBFC_OPTIONS_INIT;
        options.region_bytes = 4 * G;
        jallocator_t *upper = NULL, *top = two.allocator;
        if (ordered) {
            JASSERT_OK(jallocator_create_bfc(two.allocator, &options, &upper));
            top = upper;
        }
        void *a = take_on(top, 2 * G, two.first), *b = take_on(top, 2 * G, two.second);
        JEXPECT_EQ(b == (char *)a + 2 * G, !ordered);
        JEXPECT_OK(jallocator_deallocate(top, a, 2 * G, two.first));
        JEXPECT_OK(jallocator_deallocate(top, b, 2 * G, two.second));
        if (ordered)
            jtest_gate_open(&two.gate); /* destroying it waits */
        JEXPECT_OK(jallocator_destroy(upper));
    }
    streams_end(&two);
}

/* What is left of a block that a stream waited for comes after the same event for everybody. */
JTEST(Bfc, TheRestOfABlockThatWasWaitedForIsWaitedForToo) {
    two_streams_t two;
    jstream_t *third;
    atomic_bool flag = false;
    atomic_int wrong = 0;
    const ordered_t ordered = {&flag, &wrong};
    streams_start(&two, 16 * G);
    JASSERT_OK(jstream_create(jdevice_host(), &third));
    void *all = take_on(two.allocator, 16 * G, two.first);
    JEXPECT_OK(jstream_launch(jdevice_host(), two.first, set_flag, &ordered, sizeof ordered));
    JEXPECT_OK(jallocator_deallocate(two.allocator, all, 16 * G, two.first));
    void *part = take_on(two.allocator, 4 * G, two.second);
    const uint64_t fence_of_rest =
        bfc_slot_find(two.allocator->context, part)->chunk->right->serial;
    void *rest = take_on(two.allocator, 12 * G, third);
    JEXPECT_EQ(part, all);
    JEXPECT_NE(fence_of_rest, 0);
    JEXPECT_OK(jstream_launch(jdevice_host(), third, expect_flag, &ordered, sizeof ordered));
    jtest_gate_open(&two.gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), third));
    JEXPECT_EQ(atomic_load(&wrong), 0);
    JEXPECT_OK(jallocator_deallocate(two.allocator, part, 4 * G, two.second));
    JEXPECT_OK(jallocator_deallocate(two.allocator, rest, 12 * G, third));
    JEXPECT_OK(jstream_destroy(third));
    streams_end(&two);
}

JTEST(Bfc, MemoryOfADestroyedStreamIsFreeForAll) {
    two_streams_t two;
    streams_start(&two, 16 * G);
    void *pointer = take_on(two.allocator, 5 * G, two.second);
    JEXPECT_OK(jallocator_deallocate(two.allocator, pointer, 5 * G, two.second));
    JEXPECT_EQ(view_of(two.allocator).free_count, 2);
    JEXPECT_OK(jstream_destroy(two.second));
    JEXPECT_EQ(view_of(two.allocator).free_count, 1);
    JEXPECT_EQ(take(two.allocator, 16 * G), pointer);
    give(two.allocator, pointer, 16 * G);
    /* Takes the place of the one that is gone. */
    JEXPECT_OK(jstream_create(jdevice_host(), &two.second));
    JEXPECT_EQ(take_on(two.allocator, 16 * G, two.second), pointer);
    JEXPECT_OK(jallocator_deallocate(two.allocator, pointer, 16 * G, two.second));
    streams_end(&two);
}

static void *open_later(void *gate) {
    jtest_sleep_ms(20);
    jtest_gate_open(gate);
    return NULL;
}

/* Memory goes back below only when the stream that used it has passed: trim waits for that. */
JTEST(Bfc, TrimWaitsForStreamsBeforeMemoryGoesBack) {
    atomic_bool flag = false;
    atomic_int wrong = 0;
    const ordered_t ordered = {&flag, &wrong};
    script_t script = {.done = &flag};
    jtest_gate_t gate = JTEST_GATE_INIT;
    jallocator_t *allocator;
    jstream_t *stream;
    pthread_t thread;
    make(&script, NULL, &allocator);
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    void *a = take_on(allocator, G, stream), *b = take_on(allocator, G, stream);
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), stream));
    JEXPECT_OK(jstream_launch(jdevice_host(), stream, set_flag, &ordered, sizeof ordered));
    JEXPECT_OK(jallocator_deallocate(allocator, a, G, stream));
    JEXPECT_OK(jallocator_trim(allocator, 0)); /* a block is live: nothing to wait for */
    JEXPECT_FALSE(atomic_load(&flag));
    JEXPECT_OK(jallocator_deallocate(allocator, b, G, stream));
    JASSERT_EQ(pthread_create(&thread, NULL, open_later, &gate), 0);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(script.given_back_count, 1);
    pthread_join(thread, NULL);
    JEXPECT_OK(jstream_destroy(stream));
    end(allocator);
}

JTEST(Bfc, StreamsMixedAtRandomKeepTheirRecordsWhole) {
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = 64 * G;
    jallocator_t *below, *allocator;
    jstream_t *streams[4] = {NULL};
    void *pointers[40] = {NULL};
    size_t sizes[40];
    JASSERT_OK(jallocator_create_device(jdevice_host(), JMEMORY_DEVICE, &below));
    JASSERT_OK(jallocator_create_bfc(below, &options, &allocator));
    for (int i = 1; i < 4; ++i)
        JASSERT_OK(jstream_create(jdevice_host(), &streams[i]));
    for (int64_t i = 0; i < jtest_iterations(20000); ++i) {
        const size_t k = jtest_random() % 40, s = jtest_random() % 4;
        if (pointers[k] != NULL) {
            JEXPECT_OK(jallocator_deallocate(allocator, pointers[k], sizes[k], streams[s]));
            pointers[k] = NULL;
        } else {
            sizes[k] = (jtest_random() % 12 + 1) * G;
            pointers[k] = take_on(allocator, sizes[k], streams[s]);
        }
        if (i % 500 == 0) {
            JEXPECT_OK(jallocator_trim(allocator, 32 * G));
            JASSERT_OK(jallocator_check(allocator));
        }
        if (i % 3000 == 2999) {
            JEXPECT_OK(jstream_destroy(streams[1 + i / 3000 % 3]));
            JASSERT_OK(jstream_create(jdevice_host(), &streams[1 + i / 3000 % 3]));
            JASSERT_OK(jallocator_check(allocator));
        }
    }
    for (int k = 0; k < 40; ++k)
        if (pointers[k] != NULL)
            give(allocator, pointers[k], sizes[k]);
    for (int i = 1; i < 4; ++i)
        JEXPECT_OK(jstream_destroy(streams[i]));
    JEXPECT_EQ(view_of(allocator).free_count, view_of(allocator).count);
    end(allocator);
    JEXPECT_OK(jallocator_destroy(below));
}
