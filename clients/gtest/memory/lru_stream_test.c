/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The cache of freed blocks between streams and between threads: no block is used before its last
 * use has passed, and counts stay exact. */

#include "lru_helper.h"

#include <stdatomic.h>
#include <stdlib.h>

/* ---- Streams ---- */

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
    void *other = take_on(lru, 1024, streams.other), *inline_one = take(lru, 1024),
         *nearest = take(lru, 960);
    JEXPECT_NE(other, block);
    JEXPECT_NE(inline_one, block);
    JEXPECT_NE(nearest, block);
    JEXPECT_EQ(take_on(lru, 1024, streams.blocked), block); /* on its own at once */
    give_on(lru, block, 1024, streams.blocked);
    streams_pass(&streams);
    /* Asking may put an event behind the release, which is reached a little later. */
    void *asked = take(lru, 1024);
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

/* The block is looked for past those that are behind a fence, from the newest and from the
 * oldest. */
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
    /* Beyond the capacity rather than too early below. */
    JEXPECT_EQ(counters_of(lru).kept_bytes, 3072);
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

/* Out of memory, with memory that another stream has not passed: the request's stream waits for it,
 * the host does not. */
JTEST(Lru, StreamWaitsForABlockBeforeTheRequestFails) {
    jallocator_t *array;
    JASSERT_OK(jallocator_create_array(jdevice_host(), jtest_guard_pages(4096), 4096, &array));
    jallocator_t *lru = make_lru(array, 0, 0, 50);
    streams_t streams;
    streams_make(&streams);
    void *block = take_on(lru, 4096, streams.blocked), *pointer = NULL;
    give_on(lru, block, 4096, streams.blocked);
    /* Inline cannot wait. */
    JEXPECT_STATUS(jallocator_allocate(lru, 3000, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
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

/* Freed on the stream, used there again, and given back unused from elsewhere: the fence is still
 * there. */
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

/* How far a stream is behind does not make a call slow: it looks at some of what is behind fences,
 * then lets it be. */
JTEST(Lru, LooksAtSomeOfWhatAStreamStillUses) {
    enum { COUNT = 40 };
    jdevice_t *host = jdevice_host();
    for (int layouts = 1; layouts <= COUNT; layouts += COUNT - 1) {
        /* All of one layout, each of its own. */
        jtest_gate_t gate = JTEST_GATE_INIT;
        jstream_t *stream;
        jallocator_t *lru =
            make_lru(jtest_failing_allocator(), layouts == 1 ? 0 : 2, 0, JALLOC_NONE);
        void *slow[COUNT], *other;
        JASSERT_OK(jstream_create(host, &stream));
        for (int i = 0; i < COUNT; ++i)
            JASSERT_OK(
                jallocator_allocate(lru, 1024 * (size_t)(1 + i % layouts), 0, stream, &slow[i]));
        JASSERT_OK(jtest_gate_block(&gate, host, stream));
        for (int i = 0; i < COUNT; ++i)
            JEXPECT_OK(
                jallocator_deallocate(lru, slow[i], 1024 * (size_t)(1 + i % layouts), stream));
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

/* ---- Threads ---- */

enum { THREADS = 8 };

typedef struct storm {
    jallocator_t *lru;
    pthread_barrier_t *start;
    void *shared;
    uint64_t seed;
    int64_t rounds;
    uint64_t failures, allocations;
} storm_t;

static void run_storm(storm_t storms[THREADS], int threads, void *(*body)(void *),
                      jallocator_t *lru, void *shared, int64_t rounds) {
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
                jallocator_lru_release(storm->lru, storm->shared, NULL, &left) != JSTATUS_SUCCESS ||
                left == 0;
    }
    return NULL;
}
static void *release_all(void *argument) {
    storm_t *storm = argument;
    pthread_barrier_wait(storm->start);
    for (int64_t i = 0; i < storm->rounds / 2; ++i)
        storm->failures +=
            jallocator_lru_release(storm->lru, storm->shared, NULL, NULL) != JSTATUS_SUCCESS;
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
                                    : jallocator_lru_release(storm->lru, pointers[k], NULL,
                                                             NULL)) != JSTATUS_SUCCESS;
            pointers[k] = NULL;
        }
        if (i >= storm->rounds)
            continue;
        void *pointer = NULL;
        sizes[k] = 64 + jtest_random_next(&storm->seed) % 4000;
        storm->failures +=
            jallocator_allocate(storm->lru, sizes[k], 0, NULL, &pointer) != JSTATUS_SUCCESS;
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
