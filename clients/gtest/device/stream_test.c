/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Streams and events of the host: order, and that a call returns before its work is done. Nothing
 * here proves that by time: work stands at a gate which only the test opens, so a call that waited
 * for it would never return. */

#include "jtest.h"

#include "device/device.h"
#include "jalloc/device.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer than any queue. */
#define MANY 5000

typedef struct record {
    atomic_int *order; /* what came so far */
    int *slots;
    int value;
} record_t;
static void note(void *arguments) {
    const record_t *record = arguments;
    record->slots[atomic_fetch_add(record->order, 1)] = record->value;
}

static void count_up(void *arguments) { atomic_fetch_add(*(atomic_int **)arguments, 1); }
static jstatus_t count_in(jstream_t *stream, atomic_int *counter) {
    return jstream_launch(jdevice_host(), stream, count_up, &counter, sizeof counter);
}

JTEST(Stream, NullRunsInline) {
    atomic_int counter = 0;
    JEXPECT_OK(count_in(NULL, &counter));
    JEXPECT_EQ(atomic_load(&counter), 1);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), NULL));
    JEXPECT_OK(jstream_destroy(NULL));
}

JTEST(Stream, WorkIsDoneInOrderThroughAFullQueue) {
    atomic_int order = 0;
    int *slots = malloc(MANY * sizeof *slots);
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    for (int i = 0; i < MANY; ++i) {
        const record_t record = {&order, slots, i};
        JASSERT_OK(jstream_launch(jdevice_host(), stream, note, &record, sizeof record));
    }
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_EQ(atomic_load(&order), MANY);
    for (int i = 0; i < MANY; ++i)
        if (slots[i] != i) {
            JFAIL("place %d was taken by %d", i, slots[i]);
            break;
        }
    JEXPECT_OK(jstream_destroy(stream));
    free(slots);
}

JTEST(Stream, CallsReturnBeforeTheirWork) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    atomic_int counter = 0;
    char from[8] = "source", to[8] = "", filled[8] = "";
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_EQ(jstream_device(stream), jdevice_host());
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), stream));
    JEXPECT_OK(count_in(stream, &counter));
    JEXPECT_OK(jdevice_copy(jdevice_host(), stream, to, from, sizeof from));
    JEXPECT_OK(jdevice_fill(jdevice_host(), stream, filled, "x", 1, sizeof filled));
    jtest_gate_await(&gate);
    JEXPECT_EQ(atomic_load(&counter), 0);
    JEXPECT_EQ(to[0], '\0');
    JEXPECT_EQ(filled[0], '\0');
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_EQ(atomic_load(&counter), 1);
    JEXPECT_STREQ(to, "source");
    JEXPECT_EQ(filled[7], 'x');
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(Stream, StreamsDoNotWaitForEachOther) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    atomic_int counter = 0;
    jstream_t *blocked, *free_one;
    JASSERT_OK(jstream_create(jdevice_host(), &blocked));
    JASSERT_OK(jstream_create(jdevice_host(), &free_one));
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), blocked));
    JEXPECT_OK(count_in(free_one, &counter));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), free_one));
    JEXPECT_EQ(atomic_load(&counter), 1);
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_destroy(blocked));
    JEXPECT_OK(jstream_destroy(free_one));
}

JTEST(Stream, DestroyWaitsForTheWork) {
    atomic_int counter = 0;
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    for (int i = 0; i < 1000; ++i)
        JASSERT_OK(count_in(stream, &counter));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_EQ(atomic_load(&counter), 1000);
}

typedef struct producer {
    jstream_t *stream;
    atomic_int *order;
    int *slots;
    int number;
} producer_t;
#define PER_PRODUCER 1000
static void *produce(void *argument) {
    const producer_t *producer = argument;
    for (int i = 0; i < PER_PRODUCER; ++i) {
        const record_t record = {producer->order, producer->slots,
                                 producer->number * PER_PRODUCER + i};
        JEXPECT_OK(jstream_launch(jdevice_host(), producer->stream, note, &record, sizeof record));
    }
    return NULL;
}
JTEST(Stream, ManyProducersKeepEachTheirOrder) {
    enum { PRODUCERS = 4 };
    atomic_int order = 0;
    int *slots = malloc(PRODUCERS * PER_PRODUCER * sizeof *slots), next[PRODUCERS] = {0};
    producer_t producers[PRODUCERS];
    pthread_t threads[PRODUCERS];
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    for (int i = 0; i < PRODUCERS; ++i) {
        producers[i] = (producer_t){stream, &order, slots, i};
        JASSERT_EQ(pthread_create(&threads[i], NULL, produce, &producers[i]), 0);
    }
    for (int i = 0; i < PRODUCERS; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JASSERT_EQ(atomic_load(&order), PRODUCERS * PER_PRODUCER);
    for (int i = 0; i < PRODUCERS * PER_PRODUCER; ++i) {
        const int producer = slots[i] / PER_PRODUCER;
        if (slots[i] % PER_PRODUCER != next[producer]++) {
            JFAIL("producer %d: entry %d came at place %d", producer, slots[i] % PER_PRODUCER, i);
            break;
        }
    }
    JEXPECT_OK(jstream_destroy(stream));
    free(slots);
}

typedef struct block {
    unsigned char bytes[JSTREAM_MAX_ARGUMENT_BYTES];
} block_t;
static unsigned char seen[JSTREAM_MAX_ARGUMENT_BYTES];
static void see(void *arguments) {
    JEXPECT_EQ((uintptr_t)arguments % 16, 0);
    memcpy(seen, arguments, sizeof seen);
    memset(arguments, 0, sizeof seen); /* its own copy */
}
static void see_nothing(void *arguments) { (void)arguments, ++seen[0]; }

JTEST(Stream, ArgumentsAreCopiedBeforeTheCallReturns) {
    jstream_t *streams[2] = {NULL, NULL};
    JASSERT_OK(jstream_create(jdevice_host(), &streams[1]));
    for (int which = 0; which < 2; ++which) {
        jtest_gate_t gate = JTEST_GATE_INIT;
        block_t block, kept;
        for (size_t i = 0; i < sizeof block; ++i)
            block.bytes[i] = (unsigned char)jtest_random();
        kept = block;
        memset(seen, 0, sizeof seen);
        if (streams[which])
            JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), streams[which]));
        JEXPECT_OK(jstream_launch(jdevice_host(), streams[which], see, &block, sizeof block));
        if (!streams[which])
            JEXPECT_EQ(memcmp(&block, &kept, sizeof block), 0);
        memset(&block, 0, sizeof block);
        jtest_gate_open(&gate);
        JEXPECT_OK(jstream_synchronize(jdevice_host(), streams[which]));
        JEXPECT_EQ(memcmp(seen, &kept, sizeof kept), 0);
        memset(seen, 0, sizeof seen);
        JEXPECT_OK(jstream_launch(jdevice_host(), streams[which], see_nothing, NULL, 0));
        JEXPECT_OK(jstream_synchronize(jdevice_host(), streams[which]));
        JEXPECT_EQ(seen[0], 1);
    }
    JEXPECT_OK(jstream_destroy(streams[1]));
}

JTEST(Stream, ArgumentsAreChecked) {
    jdevice_t *host = jdevice_host();
    block_t block[2];
    uint64_t capture = 1;
    jstream_t *stream;
    JEXPECT_STATUS(jstream_create(NULL, &stream), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jstream_create(host, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jstream_launch(host, NULL, see, block, JSTREAM_MAX_ARGUMENT_BYTES + 1),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jstream_launch(host, NULL, see, block, SIZE_MAX), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jstream_launch(host, NULL, NULL, block, 8), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jstream_launch(host, NULL, see, NULL, 8), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jstream_launch(NULL, NULL, see, block, 8), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jstream_synchronize(NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jstream_get_capture(NULL, NULL, &(uint64_t){0}), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jstream_get_capture(host, NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jstream_wrap(NULL, NULL, &stream), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jstream_wrap(host, NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jstream_wrap(host, NULL, &stream), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_NULL(jstream_native(host, NULL));
    JEXPECT_OK(jstream_get_capture(host, NULL, &capture));
    JEXPECT_EQ(capture, 0);
}

/* What would be a deadlock is an answer. */
static jstatus_t from_inside[3];
static void misuse_own_stream(void *arguments) {
    jstream_t *own = *(jstream_t **)arguments;
    from_inside[0] = jstream_synchronize(jdevice_host(), own);
    from_inside[1] = jstream_destroy(own);
    jevent_t *event;
    from_inside[2] = jevent_create(jdevice_host(), &event);
    if (from_inside[2] == JSTATUS_SUCCESS) {
        jevent_record(event, own);
        from_inside[2] = jevent_synchronize(event);
        jevent_destroy(event);
    }
}
JTEST(Stream, WaitingForTheOwnStreamIsRefused) {
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jstream_launch(jdevice_host(), stream, misuse_own_stream, &stream, sizeof stream));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    for (int i = 0; i < 3; ++i)
        JEXPECT_STATUS(from_inside[i], JSTATUS_BUSY);
    JEXPECT_OK(jstream_destroy(stream));
}

/* A function that fills its own stream's queue: nobody else could make room. */
typedef struct full_queue {
    jstream_t *own;
    jevent_t *event, *unreached; /* of this stream's; of another, which stands still */
} full_queue_t;
static jstatus_t from_full_queue, record_from_full_queue, wait_from_full_queue;
static void fill_own_queue(void *arguments) {
    const full_queue_t *queue = arguments;
    jstream_t *own = queue->own;
    from_full_queue = JSTATUS_SUCCESS;
    for (int i = 0; i < MANY && from_full_queue == JSTATUS_SUCCESS; ++i)
        from_full_queue = jstream_launch(jdevice_host(), own, see_nothing, NULL, 0);
    record_from_full_queue = jevent_record(queue->event, own);
    wait_from_full_queue = jevent_wait(queue->unreached, own);
}
JTEST(Stream, FullQueueIsBusyForItsOwnThread) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    full_queue_t queue;
    jstream_t *other;
    bool reached = false;
    JASSERT_OK(jstream_create(jdevice_host(), &queue.own));
    JASSERT_OK(jstream_create(jdevice_host(), &other));
    JASSERT_OK(jevent_create(jdevice_host(), &queue.event));
    JASSERT_OK(jevent_create(jdevice_host(), &queue.unreached));
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), other));
    JEXPECT_OK(jevent_record(queue.unreached, other));
    JEXPECT_OK(jstream_launch(jdevice_host(), queue.own, fill_own_queue, &queue, sizeof queue));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), queue.own));
    JEXPECT_STATUS(from_full_queue, JSTATUS_BUSY);
    JEXPECT_STATUS(record_from_full_queue, JSTATUS_BUSY);
    JEXPECT_STATUS(wait_from_full_queue, JSTATUS_BUSY);
    JEXPECT_STATUS(jevent_get_elapsed_ms(queue.event, queue.event, &(double){0}),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "never recorded");
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_destroy(other));
    /* The refused wait has given its reference back. */
    JEXPECT_OK(jevent_query(queue.unreached, &reached));
    JEXPECT_TRUE(reached);
    JEXPECT_OK(jevent_destroy(queue.unreached));
    JEXPECT_OK(jevent_destroy(queue.event));
    JEXPECT_OK(jstream_destroy(queue.own));
}

JTEST(Stream, WithoutAThreadThereIsNone) {
    jstream_t *stream = NULL;
    const size_t live = jtest_metadata_live_count();
    jtest_fail_calls("pthread_create", 1, 1, EAGAIN);
    JEXPECT_STATUS(jstream_create(jdevice_host(), &stream), JSTATUS_MEMORY_ERROR);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_SUBSTR(jstatus_last_message(), "no thread for the stream");
    JEXPECT_NULL(stream);
    JEXPECT_EQ(jtest_metadata_live_count(), live);
}

/* What is told of streams that end is told to who asked for it: before any allocator is there, to
 * nobody. */
static unsigned hooked;
static void see_stream_end(jstream_t *stream) { hooked += stream != NULL; }
JTEST(Stream, DestroyTellsTheHookIfThereIsOne) {
    const ji_stream_hook_t before = atomic_exchange(&ji_stream_destroy_hook, NULL);
    for (unsigned i = 0; i < 2; ++i) {
        jstream_t *stream;
        JEXPECT_OK(jstream_create(jdevice_host(), &stream));
        JEXPECT_OK(jstream_destroy(stream));
        JEXPECT_EQ(hooked, i);
        atomic_store(&ji_stream_destroy_hook, see_stream_end);
    }
    atomic_store(&ji_stream_destroy_hook, before);
}

JTEST(Stream, EachFailedAllocationOfCreateLeavesNothing) {
    JFOR_EACH_FAILURE(i) {
        jstream_t *stream = NULL;
        const jstatus_t status = jstream_create(jdevice_host(), &stream);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(stream != NULL, status == JSTATUS_SUCCESS);
        JEXPECT_OK(jstream_destroy(stream));
    }
}

JTEST(Stream, LaunchingAllocatesNothing) {
    atomic_int counter = 0;
    jstream_t *stream;
    jevent_t *event;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JASSERT_OK(jevent_create(jdevice_host(), &event));
    const uint64_t before = jtest_metadata_allocation_count();
    for (int i = 0; i < 1000; ++i) {
        JEXPECT_OK(count_in(stream, &counter));
        JEXPECT_OK(jevent_record(event, stream));
        JEXPECT_OK(jevent_wait(event, stream));
    }
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_EQ(jtest_metadata_allocation_count(), before);
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jstream_destroy(stream));
}

/* ---- Events ---- */

JTEST(Event, NeverRecordedCountsAsReached) {
    jevent_t *event;
    jstream_t *stream;
    atomic_int counter = 0;
    bool reached = false;
    double ms = -1;
    JASSERT_OK(jevent_create(jdevice_host(), &event));
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jevent_query(event, &reached));
    JEXPECT_TRUE(reached);
    JEXPECT_OK(jevent_synchronize(event));
    JEXPECT_OK(jevent_wait(event, stream));
    JEXPECT_OK(count_in(stream, &counter));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_EQ(atomic_load(&counter), 1);
    JEXPECT_STATUS(jevent_get_elapsed_ms(event, event, &ms), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(ms, -1);
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(Event, IsReachedWhenTheStreamHasComeToIt) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    jevent_t *before, *after;
    jstream_t *stream;
    bool reached = true;
    double ms = -1;
    JASSERT_OK(jevent_create(jdevice_host(), &before));
    JASSERT_OK(jevent_create(jdevice_host(), &after));
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jevent_record(before, stream));
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), stream));
    JEXPECT_OK(jevent_record(after, stream));
    JEXPECT_OK(jevent_synchronize(before)); /* does not wait for what is behind it */
    JEXPECT_OK(jevent_query(before, &reached));
    JEXPECT_TRUE(reached);
    JEXPECT_OK(jevent_query(after, &reached));
    JEXPECT_FALSE(reached);
    JEXPECT_STATUS(jevent_get_elapsed_ms(before, after, &ms), JSTATUS_BUSY);
    JEXPECT_EQ(ms, -1);
    jtest_gate_await(&gate);
    jtest_sleep_ms(20);
    jtest_gate_open(&gate);
    JEXPECT_OK(jevent_synchronize(after));
    JEXPECT_OK(jevent_query(after, &reached));
    JEXPECT_TRUE(reached);
    JEXPECT_OK(jevent_get_elapsed_ms(before, after, &ms));
    JEXPECT_GE(ms, 20);
    JEXPECT_LT(ms, 20000);
    JEXPECT_OK(jevent_get_elapsed_ms(after, before, &ms));
    JEXPECT_LE(ms, -20);
    JEXPECT_OK(jevent_destroy(before));
    JEXPECT_OK(jevent_destroy(after));
    JEXPECT_OK(jstream_destroy(stream));
}

static const bool destroyed_early[] = {false, true};

/* Also where the event is destroyed while it is waited for. */
JTEST_P(Event, WaitOrdersOneStreamBehindAnother, bool, destroyed_early) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    atomic_int counter = 0;
    jevent_t *event;
    jstream_t *first, *second;
    JASSERT_OK(jevent_create(jdevice_host(), &event));
    JASSERT_OK(jstream_create(jdevice_host(), &first));
    JASSERT_OK(jstream_create(jdevice_host(), &second));
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), first));
    JEXPECT_OK(jevent_record(event, first));
    JEXPECT_OK(count_in(second, &counter)); /* before the wait: is not held back */
    JEXPECT_OK(jevent_wait(event, second));
    JEXPECT_OK(count_in(second, &counter)); /* behind it: is */
    if (*param)
        JEXPECT_OK(jevent_destroy(event));
    jtest_gate_await(&gate);
    for (int i = 0; i < 1000 && atomic_load(&counter) == 0; ++i)
        jtest_sleep_ms(1);
    jtest_sleep_ms(20); /* time for a mistake to show */
    JEXPECT_EQ(atomic_load(&counter), 1);
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), second));
    JEXPECT_EQ(atomic_load(&counter), 2);
    if (!*param)
        JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
}

JTEST(Event, RecordingAgainMovesTheMarkButNotTheWaitsAskedForBefore) {
    jtest_gate_t gates[2] = {JTEST_GATE_INIT, JTEST_GATE_INIT};
    atomic_int counter = 0;
    jevent_t *event;
    jstream_t *first, *second;
    bool reached = true;
    JASSERT_OK(jevent_create(jdevice_host(), &event));
    JASSERT_OK(jstream_create(jdevice_host(), &first));
    JASSERT_OK(jstream_create(jdevice_host(), &second));
    JEXPECT_OK(jtest_gate_block(&gates[0], jdevice_host(), first));
    JEXPECT_OK(jevent_record(event, first));
    JEXPECT_OK(jevent_wait(event, second));
    JEXPECT_OK(count_in(second, &counter));
    JEXPECT_OK(jtest_gate_block(&gates[1], jdevice_host(), first));
    JEXPECT_OK(jevent_record(event, first)); /* moves the mark behind the second gate */
    jtest_gate_open(&gates[0]);
    /* Waited for the first recording only. */
    JEXPECT_OK(jstream_synchronize(jdevice_host(), second));
    JEXPECT_EQ(atomic_load(&counter), 1);
    JEXPECT_OK(jevent_query(event, &reached));
    JEXPECT_FALSE(reached);
    jtest_gate_open(&gates[1]);
    JEXPECT_OK(jevent_synchronize(event));
    JEXPECT_OK(jevent_query(event, &reached));
    JEXPECT_TRUE(reached);
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
}

JTEST(Event, OutlivesItsStream) {
    jevent_t *event;
    jstream_t *stream;
    bool reached = false;
    JASSERT_OK(jevent_create(jdevice_host(), &event));
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jevent_record(event, stream));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jevent_query(event, &reached));
    JEXPECT_TRUE(reached);
    JEXPECT_OK(jevent_synchronize(event));
    JEXPECT_OK(jevent_destroy(event));
}

JTEST(Event, OfTheNullStreamIsReachedAtOnce) {
    jevent_t *event;
    bool reached = false;
    double ms = -1;
    JASSERT_OK(jevent_create(jdevice_host(), &event));
    JEXPECT_OK(jevent_record(event, NULL));
    JEXPECT_OK(jevent_query(event, &reached));
    JEXPECT_TRUE(reached);
    JEXPECT_OK(jevent_wait(event, NULL));
    JEXPECT_OK(jevent_get_elapsed_ms(event, event, &ms));
    JEXPECT_EQ(ms, 0);
    JEXPECT_OK(jevent_destroy(event));
}

JTEST(Event, MarkLeftBehindByALaterRecordingTakesNoTime) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    jevent_t *event;
    jstream_t *stream;
    double ms = -1;
    JASSERT_OK(jevent_create(jdevice_host(), &event));
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), stream));
    JEXPECT_OK(jevent_record(event, stream)); /* stands in the queue */
    JEXPECT_OK(jevent_record(event, NULL));   /* the last one, reached before it */
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_OK(jevent_get_elapsed_ms(event, event, &ms));
    JEXPECT_EQ(ms, 0);
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(Event, NullStreamWaitsInTheCallingThread) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    atomic_int counter = 0;
    jevent_t *event;
    jstream_t *stream;
    JASSERT_OK(jevent_create(jdevice_host(), &event));
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    for (int i = 0; i < 100; ++i)
        JEXPECT_OK(count_in(stream, &counter));
    JEXPECT_OK(jevent_record(event, stream));
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), stream));
    JEXPECT_OK(jevent_wait(event, NULL)); /* returns although the stream goes on */
    JEXPECT_EQ(atomic_load(&counter), 100);
    jtest_gate_open(&gate);
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(Event, ArgumentsAreChecked) {
    jevent_t *event;
    double ms;
    JEXPECT_STATUS(jevent_create(NULL, &event), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jevent_create(jdevice_host(), NULL), JSTATUS_INVALID_POINTER);
    JASSERT_OK(jevent_create(jdevice_host(), &event));
    JEXPECT_EQ(jevent_device(event), jdevice_host());
    JEXPECT_NULL(jevent_device(NULL));
    JEXPECT_STATUS(jevent_record(NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jevent_wait(NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jevent_query(NULL, &(bool){false}), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jevent_query(event, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jevent_synchronize(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jevent_get_elapsed_ms(NULL, event, &ms), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jevent_get_elapsed_ms(event, NULL, &ms), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jevent_get_elapsed_ms(event, event, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jevent_destroy(NULL));
}

JTEST(Event, EachFailedAllocationOfCreateLeavesNothing) {
    JFOR_EACH_FAILURE(i) {
        jevent_t *event = NULL;
        const jstatus_t status = jevent_create(jdevice_host(), &event);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(event != NULL, status == JSTATUS_SUCCESS);
        JEXPECT_OK(jevent_destroy(event));
    }
}

/* A chain of streams, each waiting for the one before, over events that are recorded again and
 * again. */
JTEST(Event, ChainOfStreamsKeepsOneOrder) {
    enum { STREAMS = 4, ROUNDS = 300 };
    jstream_t *streams[STREAMS];
    jevent_t *events[STREAMS];
    atomic_int order = 0;
    int *slots = malloc(STREAMS * ROUNDS * sizeof *slots);
    for (int i = 0; i < STREAMS; ++i) {
        JASSERT_OK(jstream_create(jdevice_host(), &streams[i]));
        JASSERT_OK(jevent_create(jdevice_host(), &events[i]));
    }
    for (int i = 0; i < STREAMS * ROUNDS; ++i) {
        const int stream = i % STREAMS, before = (i + STREAMS - 1) % STREAMS;
        const record_t record = {&order, slots, i};
        JASSERT_OK(jevent_wait(events[before], streams[stream]));
        JASSERT_OK(jstream_launch(jdevice_host(), streams[stream], note, &record, sizeof record));
        JASSERT_OK(jevent_record(events[stream], streams[stream]));
    }
    for (int i = 0; i < STREAMS; ++i) {
        JEXPECT_OK(jstream_destroy(streams[i]));
        JEXPECT_OK(jevent_destroy(events[i]));
    }
    for (int i = 0; i < STREAMS * ROUNDS; ++i)
        if (slots[i] != i) {
            JFAIL("place %d was taken by %d", i, slots[i]);
            break;
        }
    free(slots);
}

/* ---- After a fork ---- */

typedef struct inherited {
    jstream_t *stream;
    jevent_t *event;
    atomic_int *counter;
} inherited_t;

static void use_inherited(void *argument) {
    const inherited_t *inherited = argument;
    jdevice_t *host = jdevice_host();
    char a[8] = "", b[8] = "";
    JEXPECT_STATUS(count_in(inherited->stream, inherited->counter), JSTATUS_FORKED);
    JEXPECT_STATUS(jdevice_copy(host, inherited->stream, a, b, 8), JSTATUS_FORKED);
    JEXPECT_STATUS(jdevice_fill(host, inherited->stream, a, b, 1, 8), JSTATUS_FORKED);
    JEXPECT_STATUS(jstream_synchronize(host, inherited->stream), JSTATUS_FORKED);
    JEXPECT_STATUS(jevent_record(inherited->event, NULL), JSTATUS_FORKED);
    JEXPECT_STATUS(jevent_wait(inherited->event, NULL), JSTATUS_FORKED);
    JEXPECT_STATUS(jevent_query(inherited->event, &(bool){false}), JSTATUS_FORKED);
    JEXPECT_STATUS(jevent_synchronize(inherited->event), JSTATUS_FORKED);
    jevent_t *own;
    double ms;
    JASSERT_OK(jevent_create(host, &own));
    JEXPECT_STATUS(jevent_get_elapsed_ms(inherited->event, own, &ms), JSTATUS_FORKED);
    JEXPECT_STATUS(jevent_get_elapsed_ms(own, inherited->event, &ms), JSTATUS_FORKED);
    JEXPECT_OK(jevent_destroy(own));
    const size_t live = jtest_metadata_live_count();
    JEXPECT_STATUS(jstream_destroy(inherited->stream), JSTATUS_FORKED);
    jevent_destroy(inherited->event);
    JEXPECT_EQ(live, 3); /* stream, its queue, event */
    JEXPECT_EQ(jtest_metadata_live_count(), 0);
    JEXPECT_OK(count_in(NULL, inherited->counter)); /* inline work goes on */
    JEXPECT_EQ(atomic_load(inherited->counter), 1);
/* Which allows no new threads after the fork of a process with several. */
#ifndef __SANITIZE_THREAD__
    jstream_t *fresh;
    JASSERT_OK(jstream_create(host, &fresh));
    JEXPECT_OK(count_in(fresh, inherited->counter));
    JEXPECT_OK(jstream_synchronize(host, fresh));
    JEXPECT_EQ(atomic_load(inherited->counter), 2);
    JEXPECT_OK(jstream_destroy(fresh));
#endif
}

JTEST(Fork, StreamsAndEventsOfTheParentAreForkedInTheChild) {
    atomic_int counter = 0;
    inherited_t inherited = {NULL, NULL, &counter};
    JASSERT_OK(jstream_create(jdevice_host(), &inherited.stream));
    JASSERT_OK(jevent_create(jdevice_host(), &inherited.event));
    JEXPECT_OK(jevent_record(inherited.event, inherited.stream));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), inherited.stream));
    jtest_in_child(20, use_inherited, &inherited);
    JEXPECT_OK(count_in(inherited.stream, &counter)); /* the parent's work as ever */
    JEXPECT_OK(jstream_synchronize(jdevice_host(), inherited.stream));
    JEXPECT_EQ(atomic_load(&counter), 1);
    JEXPECT_OK(jevent_destroy(inherited.event));
    JEXPECT_OK(jstream_destroy(inherited.stream));
}

/* The queue is full of work, an event is waited for, and the thread stands in the middle of it. */
JTEST(Fork, OfABusyQueueLeavesNothingBehindInTheChild) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    atomic_int counter = 0;
    inherited_t inherited = {NULL, NULL, &counter};
    JASSERT_OK(jstream_create(jdevice_host(), &inherited.stream));
    JASSERT_OK(jevent_create(jdevice_host(), &inherited.event));
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), inherited.stream));
    jtest_gate_await(&gate);
    JEXPECT_OK(jevent_record(inherited.event, inherited.stream));
    JEXPECT_OK(count_in(inherited.stream, &counter));
    jtest_in_child(20, use_inherited, &inherited);
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), inherited.stream));
    JEXPECT_EQ(atomic_load(&counter), 1);
    JEXPECT_OK(jevent_destroy(inherited.event));
    JEXPECT_OK(jstream_destroy(inherited.stream));
}
