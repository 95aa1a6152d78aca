/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Tracking: totals and records against a model, and the life of a tracking allocator that its owner
 * has let go of. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/adaptor.h"
#include "jalloc/provider.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static jtrack_totals_t totals_of(jallocator_t *track) {
    jtrack_totals_t totals = JTRACK_TOTALS_INIT;
    JEXPECT_OK(jallocator_track_get_totals(track, &totals));
    return totals;
}
static jallocator_t *make_track(jallocator_t *below, size_t record_count) {
    jtrack_options_t options = JTRACK_OPTIONS_INIT;
    jallocator_t *track = NULL;
    options.record_count = record_count;
    JEXPECT_OK(jallocator_create_track(below, &options, &track));
    return track;
}

#define LIVE_MAX 64

JTEST(Track, TotalsAreThoseOfAModel) {
    jallocator_t *track = make_track(jtest_failing_allocator(), 0);
    struct {
        void *pointer;
        size_t size_bytes;
    } live[LIVE_MAX];
    size_t count = 0, total = 0, in_use = 0, peak = 0, allocations = 0, failures = 0, largest = 0;
    for (int64_t i = jtest_iterations(5000); i > 0; --i) {
        if (i % 100 == 0)
            jtest_fail_allocation_after(1);
        if (count == 0 || (count < LIVE_MAX && jtest_random_bool())) {
            size_t size = (size_t)jtest_random_between(1, 5000);
            jstatus_t status = jallocator_allocate(track, size, 0, NULL, &live[count].pointer);
            if (status != JSTATUS_SUCCESS) {
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                ++failures;
                continue;
            }
            live[count++].size_bytes = size;
            total += size;
            in_use += size;
            ++allocations;
            peak = in_use > peak ? in_use : peak;
            largest = size > largest ? size : largest;
        } else {
            size_t place = (size_t)jtest_random_between(0, (int64_t)count - 1);
            JEXPECT_OK(
                jallocator_deallocate(track, live[place].pointer, live[place].size_bytes, NULL));
            in_use -= live[place].size_bytes;
            live[place] = live[--count];
        }
        jtrack_totals_t totals = totals_of(track);
        JASSERT_EQ(totals.total_bytes, total);
        JASSERT_EQ(totals.live_bytes, in_use);
        JASSERT_EQ(totals.high_watermark_bytes, peak);
        JASSERT_EQ(totals.live_count, count);
        JASSERT_EQ(totals.allocation_count, allocations);
    }
    const jallocator_stats_t stats = stats_of(track);
    JEXPECT_EQ(stats.allocation_count, allocations);
    JEXPECT_EQ(stats.live_count, count);
    JEXPECT_EQ(stats.in_use_bytes, in_use);
    JEXPECT_EQ(stats.peak_in_use_bytes, peak);
    JEXPECT_EQ(stats.largest_request_bytes, largest);
    JEXPECT_EQ(stats.failure_count, failures);
    JEXPECT_OK(jallocator_clear_stats(track));
    JEXPECT_EQ(totals_of(track).high_watermark_bytes, in_use);
    JEXPECT_EQ(totals_of(track).total_bytes, total);
    while (count > 0) {
        --count;
        JEXPECT_OK(jallocator_deallocate(track, live[count].pointer, live[count].size_bytes, NULL));
    }
    JEXPECT_OK(jallocator_destroy(track));
}

JTEST(Track, RecordsAreTheLatestInOrderWithTheirTags) {
    jallocator_t *track = make_track(jtest_failing_allocator(), 5);
    jtrack_record_t records[8];
    size_t count = 77;
    JEXPECT_OK(jallocator_track_get_records(track, records, 8, &count));
    JEXPECT_EQ(count, 0);
    void *blocks[4];
    const jtag_t tags[] = {jtag_intern("north"), jtag_intern("south")};
    for (size_t i = 0; i < 4; ++i) {
        const jtag_t before = jtag_set(tags[i % 2]);
        JASSERT_OK(jallocator_allocate(track, 10 * (i + 1), 0, NULL, &blocks[i]));
        jtag_set(before);
    }
    JEXPECT_OK(jallocator_deallocate(track, blocks[1], 20, NULL));
    JEXPECT_OK(jallocator_deallocate(track, blocks[0], 10, NULL));
    /* Made: 10 20 30 40 -20 -10. */
    static const int64_t latest[] = {20, 30, 40, -20, -10};
    JEXPECT_OK(jallocator_track_get_records(track, records, 8, &count));
    JASSERT_EQ(count, 5);
    for (size_t i = 0; i < 5; ++i) {
        JEXPECT_EQ(records[i].bytes, latest[i]);
        if (i > 0)
            JEXPECT_LE(records[i - 1].time_ns, records[i].time_ns);
    }
    JEXPECT_EQ(records[0].tag, tags[1]);
    JEXPECT_EQ(records[1].tag, tags[0]);
    JEXPECT_EQ(records[3].tag, 0);
    JEXPECT_OK(jallocator_track_get_records(track, records, 2, &count)); /* the latest two */
    JASSERT_EQ(count, 2);
    JEXPECT_EQ(records[0].bytes, -20);
    JEXPECT_EQ(records[1].bytes, -10);
    JEXPECT_OK(jallocator_track_get_records(track, NULL, 0, &count));
    JEXPECT_EQ(count, 0);
    JEXPECT_OK(jallocator_deallocate(track, blocks[2], 30, NULL));
    JEXPECT_OK(jallocator_deallocate(track, blocks[3], 40, NULL));
    JEXPECT_OK(jallocator_destroy(track));
}

JTEST(Track, IsFoundThroughWhatStandsOnIt) {
    jallocator_t *track = make_track(jtest_failing_allocator(), 3), *fill, *other;
    JASSERT_OK(jallocator_create_fill(track, NULL, &fill));
    JASSERT_OK(jallocator_create_fill(jtest_failing_allocator(), NULL, &other));
    void *block;
    size_t count;
    jtrack_record_t record;
    JASSERT_OK(jallocator_allocate(fill, 100, 0, NULL, &block));
    JEXPECT_EQ(totals_of(fill).live_bytes, 100);
    JEXPECT_OK(jallocator_track_get_records(fill, &record, 1, &count));
    JEXPECT_EQ(count, 1);
    jtrack_totals_t totals = JTRACK_TOTALS_INIT;
    JEXPECT_STATUS(jallocator_track_get_totals(other, &totals), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_track_get_records(other, &record, 1, &count), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_track_get_totals(NULL, &totals), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_track_get_totals(track, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_track_get_records(track, NULL, 1, &count), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_track_get_records(track, &record, 1, NULL), JSTATUS_INVALID_POINTER);
    totals.struct_size = 1;
    JEXPECT_STATUS(jallocator_track_get_totals(track, &totals), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_track_retire(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_track_retire(other), JSTATUS_INVALID_VALUE); /* none at all */
    JEXPECT_STATUS(jallocator_track_retire(fill), JSTATUS_INVALID_VALUE);  /* below, not itself */
    JEXPECT_STATUS(jallocator_track_retire(track), JSTATUS_BUSY);          /* fill keeps it */
    JEXPECT_OK(jallocator_deallocate(fill, block, 100, NULL));
    JEXPECT_OK(jallocator_destroy(fill));
    JEXPECT_OK(jallocator_destroy(other));
    JEXPECT_OK(jallocator_destroy(track));
}

JTEST(Track, RefusedFreesChangeNothing) {
    jallocator_t *exact, *track;
    JASSERT_OK(jallocator_create_exact(jtest_failing_allocator(), &exact));
    track = make_track(exact, 8);
    char *block, *second;
    JEXPECT_STATUS(jallocator_deallocate(track, &exact, 8, NULL), JSTATUS_NOT_FOUND);
    JASSERT_OK(jallocator_allocate(track, 100, 0, NULL, (void **)&block));
    JASSERT_OK(jallocator_allocate(track, 50, 0, NULL, (void **)&second));
    JEXPECT_STATUS(jallocator_deallocate(track, block, 151, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_deallocate(track, block, 99, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_deallocate(track, block + 1, 100, NULL), JSTATUS_NOT_FOUND);
    const jtrack_totals_t totals = totals_of(track);
    JEXPECT_EQ(totals.live_bytes, 150);
    JEXPECT_EQ(totals.live_count, 2);
    JEXPECT_EQ(totals.high_watermark_bytes, 150);
    JEXPECT_EQ(totals.total_bytes, 150);
    JEXPECT_OK(jallocator_deallocate(track, block, 100, NULL));
    JEXPECT_OK(jallocator_deallocate(track, second, 50, NULL));
    JEXPECT_OK(jallocator_destroy(track));
    JEXPECT_OK(jallocator_destroy(exact));
}

JTEST(Track, NothingIsLostWithoutMemoryForBooks) {
    jallocator_t *below = jtest_failing_allocator();
    JFOR_EACH_FAILURE(i) {
        jtrack_options_t options = JTRACK_OPTIONS_INIT;
        options.record_count = 4;
        options.stacks = true;
        jallocator_t *track = NULL;
        const jstatus_t status = jallocator_create_track(below, &options, &track);
        JEXPECT_EQ(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        if (status == JSTATUS_SUCCESS)
            JEXPECT_OK(jallocator_destroy(track));
    }
    jtrack_options_t options = JTRACK_OPTIONS_INIT;
    jallocator_t *track;
    options.record_count = SIZE_MAX / 8;
    JEXPECT_STATUS(jallocator_create_track(below, &options, &track), JSTATUS_INVALID_VALUE);
    options.record_count = SIZE_MAX / sizeof(jtrack_record_t); /* a size, but of no object */
    JEXPECT_STATUS(jallocator_create_track(below, &options, &track), JSTATUS_INVALID_VALUE);
}

static void keep_report(void *context, const char *text, size_t length) {
    char *report = context;
    strncat(report, text, length < 4000 - strlen(report) ? length : 0);
}

JTEST(Track, StacksAreInTheLeakReport) {
    jtrack_options_t options = JTRACK_OPTIONS_INIT;
    jallocator_t *below, *track;
    options.stacks = true;
    JASSERT_OK(jallocator_create_malloc(&below));
    JASSERT_OK(jallocator_create_track(below, &options, &track));
    void *block;
    static char report[4096];
    JALLOC_TAG("leaker");
    JASSERT_OK(jallocator_allocate(track, 4711, 0, NULL, &block));
    report[0] = '\0';
    JEXPECT_STATUS(jallocator_report_leaks(keep_report, report), JSTATUS_LEAKED);
    JEXPECT_SUBSTR(report, "4711 bytes");
    JEXPECT_SUBSTR(report, "leaker");
    const char *line = strstr(report, "4711 bytes at");
    if (line != NULL)
        JEXPECT_SUBSTR(line, "+0x"); /* a frame of the stack follows */
    JEXPECT_OK(jallocator_deallocate(track, block, 4711, NULL));
    JEXPECT_OK(jallocator_destroy(track));
    JEXPECT_OK(jallocator_destroy(below));
}

/* Where the report at exit keeps call traces already. */
JTEST(Track, StacksAreKeptOnce) {
    static char output[8192];
    const char *const environment[] = {"JALLOC_LEAK_REPORT=stacks", "JALLOC_TEST_KEEP=1", NULL};
    if (jtest_run_self("Track.StacksAreInTheLeakReport", environment, output, sizeof output) != 0)
        JFAIL("%s", output);
}

/* ---- Threads ---- */

#define THREADS 8

typedef struct worker {
    jallocator_t *track;
    uint64_t seed;
    size_t total_bytes, allocation_count;
    void *kept;
} worker_t;

static void *work(void *argument) {
    worker_t *mine = argument;
    for (int64_t i = jtest_iterations(2000); i > 0; --i) {
        const size_t size = 1 + jtest_random_next(&mine->seed) % 1000;
        void *block;
        JEXPECT_OK(jallocator_allocate(mine->track, size, 0, NULL, &block));
        mine->total_bytes += size;
        ++mine->allocation_count;
        JEXPECT_OK(jallocator_deallocate(mine->track, block, size, NULL));
    }
    JEXPECT_OK(jallocator_allocate(mine->track, 64, 0, NULL, &mine->kept));
    return NULL;
}

JTEST(Track, TotalsAreExactOverThreads) {
    jallocator_t *below, *track;
    JASSERT_OK(jallocator_create_malloc(&below));
    track = make_track(below, 100);
    pthread_t threads[THREADS];
    worker_t workers[THREADS];
    for (size_t i = 0; i < THREADS; ++i) {
        workers[i] = (worker_t){track, i, 0, 0, NULL};
        JASSERT_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    size_t total = 0, allocations = 0;
    for (size_t i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
        total += workers[i].total_bytes + 64;
        allocations += workers[i].allocation_count + 1;
    }
    const jtrack_totals_t totals = totals_of(track);
    JEXPECT_EQ(totals.total_bytes, total);
    JEXPECT_EQ(totals.allocation_count, allocations);
    JEXPECT_EQ(totals.live_count, THREADS);
    JEXPECT_EQ(totals.live_bytes, THREADS * 64);
    JEXPECT_LE(totals.high_watermark_bytes, THREADS * 1000);
    for (size_t i = 0; i < THREADS; ++i)
        JEXPECT_OK(jallocator_deallocate(track, workers[i].kept, 64, NULL));
    JEXPECT_OK(jallocator_destroy(track));
    JEXPECT_OK(jallocator_destroy(below));
}

/* ---- Retiring ---- */

JTEST(Track, RetiredWithNothingLiveItIsGone) {
    jallocator_t *track = make_track(jtest_failing_allocator(), 4);
    void *block;
    JASSERT_OK(jallocator_allocate(track, 8, 0, NULL, &block));
    JEXPECT_OK(jallocator_deallocate(track, block, 8, NULL));
    JEXPECT_OK(jallocator_track_retire(track));
    /* Nobody keeps it any more. */
    JEXPECT_STATUS(jallocator_release(jtest_failing_allocator()), JSTATUS_NOT_FOUND);
    /* Nor if it was never used. */
    JEXPECT_OK(jallocator_track_retire(make_track(jtest_failing_allocator(), 0)));
}

typedef struct last_free {
    jallocator_t *track;
    void *block;
    atomic_bool *go;
} last_free_t;
static void *free_last(void *argument) {
    last_free_t *last = argument;
    while (last->go != NULL && !atomic_load(last->go))
        ;
    JEXPECT_OK(jallocator_deallocate(last->track, last->block, 100, NULL));
    return NULL;
}

JTEST(Track, RetiredItServesFreesUntilTheLast) {
    jallocator_t *track = make_track(jtest_failing_allocator(), 0);
    void *blocks[2], *more = &track;
    JASSERT_OK(jallocator_allocate(track, 100, 0, NULL, &blocks[0]));
    JASSERT_OK(jallocator_allocate(track, 100, 0, NULL, &blocks[1]));
    JEXPECT_OK(jallocator_track_retire(track));
    JEXPECT_STATUS(jallocator_allocate(track, 100, 0, NULL, &more), JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(more);
    JEXPECT_SUBSTR(jstatus_last_message(), "retired");
    JEXPECT_STATUS(jallocator_track_retire(track), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_destroy(track), JSTATUS_BUSY);
    JEXPECT_OK(jallocator_deallocate(track, blocks[0], 100, NULL));
    JEXPECT_EQ(totals_of(track).live_count, 1);
    pthread_t thread;
    last_free_t last = {track, blocks[1], NULL};
    JASSERT_EQ(pthread_create(&thread, NULL, free_last, &last), 0);
    pthread_join(thread, NULL);
    JEXPECT_STATUS(jallocator_release(jtest_failing_allocator()), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

JTEST(Track, LastFreesOfManyThreadsRaceWithTheRetirement) {
    jallocator_t *below;
    JASSERT_OK(jallocator_create_malloc(&below));
    void *first;
    JASSERT_OK(jallocator_allocate(below, 8, 0, NULL, &first)); /* so that it has its table */
    const size_t books = jtest_metadata_live_count();
    for (int64_t round = jtest_iterations(60); round > 0; --round) {
        jallocator_t *track = make_track(below, 2);
        pthread_t threads[4];
        last_free_t frees[4];
        atomic_bool go = false;
        for (size_t i = 0; i < 4; ++i) {
            frees[i] = (last_free_t){track, NULL, &go};
            JASSERT_OK(jallocator_allocate(track, 100, 0, NULL, &frees[i].block));
        }
        for (size_t i = 0; i < 4; ++i)
            JASSERT_EQ(pthread_create(&threads[i], NULL, free_last, &frees[i]), 0);
        if (round % 2 == 0)
            JEXPECT_OK(jallocator_track_retire(track));
        atomic_store(&go, true);
        if (round % 2 != 0)
            JEXPECT_OK(jallocator_track_retire(track));
        for (size_t i = 0; i < 4; ++i)
            pthread_join(threads[i], NULL);
        JASSERT_EQ(jtest_metadata_live_count(), books);
        JASSERT_STATUS(jallocator_release(below), JSTATUS_NOT_FOUND);
    }
    JEXPECT_OK(jallocator_deallocate(below, first, 8, NULL));
    JEXPECT_OK(jallocator_destroy(below));
}

/* Below refuses the free of a retired allocator's last block: the block is live, so the allocator
 * must be, too. */
typedef struct refuser {
    char block[256];
    bool refuses;
} refuser_t;
static jstatus_t refuser_allocate(void *context, size_t size_bytes, size_t alignment,
                                  jstream_t *stream, void **pointer) {
    (void)size_bytes, (void)stream;
    *pointer = (void *)(((uintptr_t)((refuser_t *)context)->block + alignment - 1) / alignment *
                        alignment);
    return JSTATUS_SUCCESS;
}
static jstatus_t refuser_deallocate(void *context, void *pointer, size_t size_bytes,
                                    jstream_t *stream) {
    (void)pointer, (void)size_bytes, (void)stream;
    return ((refuser_t *)context)->refuses ? JSTATUS_CORRUPTED : JSTATUS_SUCCESS;
}
JTEST(Track, ARefusedLastFreeIsNotTheLast) {
    static refuser_t refuser;
    refuser.refuses = true;
    const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = refuser_allocate, .deallocate = refuser_deallocate};
    jallocator_t *below, *track;
    JASSERT_OK(jallocator_create(&ops, &refuser, NULL, &below));
    track = make_track(below, 0);
    void *block;
    JASSERT_OK(jallocator_allocate(track, 100, 0, NULL, &block));
    JEXPECT_OK(jallocator_track_retire(track));
    JEXPECT_STATUS(jallocator_deallocate(track, block, 100, NULL), JSTATUS_CORRUPTED);
    JEXPECT_EQ(totals_of(track).live_bytes, 100);
    refuser.refuses = false;
    JEXPECT_OK(jallocator_deallocate(track, block, 100, NULL));
    JEXPECT_OK(jallocator_destroy(below));
}

JTEST(Track, RetiredOnTopOfItsOwnStackAllOfItGoes) {
    jallocator_t *track;
    JASSERT_OK(jallocator_compose(NULL, "malloc+track", &track));
    void *block;
    JASSERT_OK(jallocator_allocate(track, 100, 0, NULL, &block));
    JEXPECT_OK(jallocator_track_retire(track));
    JEXPECT_OK(jallocator_deallocate(track, block, 100, NULL));
    JEXPECT_EQ(jtest_metadata_live_count(), 0);
}
