/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The host's events.
 *
 * An event is a point in a stream (host.h): the stream, kept by a reference, and a position.
 * Recording puts a mark in the queue, which takes the time when it is reached, and then moves the
 * point. Waiting copies the point. So a wait concerns the recording that was the last one when the
 * wait was asked for, whatever happens to the event afterwards.
 *
 * Two threads may record at once. Recordings are numbered, and the latest number wins for the point
 * and for the time. */

#include <time.h>

#include "device/host.h"

typedef struct host_event {
    jevent_t base;
    atomic_uint references; /* one of the owner, one of each mark not reached yet */
    pthread_mutex_t mutex;
    /* Under the mutex: */
    uint64_t next_recording;  /* number of the last one begun */
    uint64_t recording;       /* the one that the point belongs to; 0: never recorded */
    ji_host_stream_t *stream; /* the point; NULL: the NULL stream, where it is reached at once */
    uint64_t position;
    uint64_t timed_recording; /* the one that the time belongs to */
    struct timespec time;
} host_event_t;

typedef struct host_event_mark {
    host_event_t *event;
    uint64_t recording;
} host_event_mark_t;

typedef struct host_event_point {
    ji_host_stream_t *stream;
    uint64_t position;
} host_event_point_t;

static void host_event_release(void *pointer) {
    host_event_t *event = pointer;
    if (atomic_fetch_sub_explicit(&event->references, 1, memory_order_acq_rel) != 1)
        return;

    ji_host_stream_release(event->stream);
    if (event->base.fork_generation == ji_fork_generation)
        pthread_mutex_destroy(&event->mutex);
    ji_metadata_free(event);
}

/* With the mutex held. */
static void host_event_take_time(host_event_t *event, uint64_t recording) {
    if (recording <= event->timed_recording)
        return;
    event->timed_recording = recording;
    clock_gettime(CLOCK_MONOTONIC, &event->time);
}

/* Runs in the stream. */
static void host_event_reach(void *arguments) {
    const host_event_mark_t *mark = arguments;
    pthread_mutex_lock(&mark->event->mutex);
    host_event_take_time(mark->event, mark->recording);
    pthread_mutex_unlock(&mark->event->mutex);
}

/* Runs in the waiting stream. */
static void host_event_await(void *arguments) {
    const host_event_point_t *point = arguments;
    (void)ji_host_stream_wait_for(point->stream, point->position);
}

/* The present point, its stream retained for the caller. */
static host_event_point_t host_event_get_point(host_event_t *event) {
    pthread_mutex_lock(&event->mutex);
    host_event_point_t point = {event->stream, event->position};
    if (point.stream != NULL)
        ji_host_stream_retain(point.stream);
    pthread_mutex_unlock(&event->mutex);
    return point;
}

static bool host_event_is_reached(host_event_point_t point) {
    return point.stream == NULL || ji_host_stream_has_reached(point.stream, point.position);
}

jstatus_t ji_host_event_create(jdevice_t *device, bool timed, jevent_t **out) {
    (void)timed; /* the time is taken when the mark is reached, whoever asks */
    host_event_t *event = ji_metadata_zalloc(sizeof *event);
    if (event == NULL)
        return ji_fail(JSTATUS_MEMORY_ERROR, "jevent_create: no memory for bookkeeping");
    event->base = (jevent_t){.device = device, .fork_generation = ji_fork_generation};
    atomic_init(&event->references, 1);
    pthread_mutex_init(&event->mutex, NULL);
    *out = &event->base;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_host_event_destroy(jevent_t *base) {
    bool forked = base->fork_generation != ji_fork_generation;
    host_event_release(base);
    return forked ? ji_fail(JSTATUS_FORKED, "jevent_destroy: the event was made before a fork")
                  : JSTATUS_SUCCESS;
}

jstatus_t ji_host_event_record(jevent_t *base, jstream_t *base_stream) {
    host_event_t *event = (host_event_t *)base;
    ji_host_stream_t *stream = (ji_host_stream_t *)base_stream;
    uint64_t position = 0;

    pthread_mutex_lock(&event->mutex);
    uint64_t recording = ++event->next_recording;
    pthread_mutex_unlock(&event->mutex);

    if (stream != NULL) {
        /* Without the mutex: for room, the queue may have to reach an older mark of this event. */
        host_event_mark_t mark = {event, recording};
        atomic_fetch_add_explicit(&event->references, 1, memory_order_relaxed);
        jstatus_t status =
            ji_host_stream_enqueue(stream, host_event_reach, &mark, sizeof mark,
                                   (ji_host_keep_t){event, host_event_release}, &position);
        if (status != JSTATUS_SUCCESS) {
            host_event_release(event);
            return status;
        }
    }

    /* The point's old stream, or this one if a later recording was faster. */
    ji_host_stream_t *unused = NULL;
    if (stream != NULL)
        unused = ji_host_stream_retain(stream);

    pthread_mutex_lock(&event->mutex);
    if (recording > event->recording) {
        unused = event->stream;
        event->stream = stream;
        event->position = position;
        event->recording = recording;
    }
    if (stream == NULL)
        host_event_take_time(event, recording);
    pthread_mutex_unlock(&event->mutex);

    ji_host_stream_release(unused);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_host_event_wait(jevent_t *base, jstream_t *base_stream) {
    host_event_point_t point = host_event_get_point((host_event_t *)base);
    ji_host_stream_t *stream = (ji_host_stream_t *)base_stream;
    jstatus_t status = JSTATUS_SUCCESS;

    /* In its own stream a point comes before whatever is enqueued from now on. */
    if (point.stream != stream && !host_event_is_reached(point)) {
        if (stream == NULL) {
            status = ji_host_stream_wait_for(point.stream, point.position);
        } else {
            status = ji_host_stream_enqueue(stream, host_event_await, &point, sizeof point,
                                            (ji_host_keep_t){point.stream, ji_host_stream_release},
                                            NULL);
            if (status == JSTATUS_SUCCESS)
                return status; /* the queue has the reference */
        }
    }

    ji_host_stream_release(point.stream);
    return status;
}

jstatus_t ji_host_event_query(jevent_t *base, bool *reached) {
    host_event_point_t point = host_event_get_point((host_event_t *)base);
    *reached = host_event_is_reached(point);
    ji_host_stream_release(point.stream);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_host_event_synchronize(jevent_t *base) { return ji_host_event_wait(base, NULL); }

/* The time at which the event's last recording was reached. */
static jstatus_t host_event_get_time(jevent_t *base, struct timespec *time) {
    host_event_t *event = (host_event_t *)base;
    pthread_mutex_lock(&event->mutex);
    bool recorded = event->recording != 0, timed = event->timed_recording == event->recording;
    *time = event->time;
    pthread_mutex_unlock(&event->mutex);

    if (!recorded)
        return ji_fail(JSTATUS_INVALID_VALUE, "jevent_get_elapsed_ms: an event was never recorded");
    return timed ? JSTATUS_SUCCESS
                 : ji_fail(JSTATUS_BUSY, "jevent_get_elapsed_ms: an event is not reached yet");
}

jstatus_t ji_host_event_get_elapsed_ms(jevent_t *start, jevent_t *stop, double *milliseconds) {
    struct timespec from, to;
    jstatus_t status = host_event_get_time(start, &from);
    if (status == JSTATUS_SUCCESS)
        status = host_event_get_time(stop, &to);

    if (status == JSTATUS_SUCCESS)
        *milliseconds =
            (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) * 1e-6;
    return status;
}
