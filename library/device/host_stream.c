/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The host's streams: an in-order queue and a thread that serves it.
 *
 *     completed            enqueued
 *         |                    |
 *     ... | running | waiting | free ...      a ring of HOST_STREAM_SLOTS entries
 *
 * An entry is a function and a copy of its arguments; a copy of memory, an event's mark, a wait for
 * another stream are functions too, so there is one kind of entry and nothing is allocated per
 * call. An entry stays in its slot while it runs: a slot is free when its position is completed.
 * One mutex guards the counters; it is not held while an entry runs.
 *
 * Wakeups are the expensive part, so they are rare: a producer wakes the thread only if it sleeps,
 * and the thread wakes waiters only when the nearest position that any of them wants is done. A
 * producer that finds the queue full sleeps until half of it is done.
 *
 * After a fork the child has the memory but not the thread. Nothing here is locked or waited for
 * then: destroying such a stream releases what its unfinished entries hold, and the memory. */

#include <signal.h>
#include <stdalign.h>
#include <string.h>

#include "device/host.h"

#define HOST_STREAM_SLOTS 256 /* a power of two; 74 KiB */

struct ji_host_slot {
    alignas(16) unsigned char arguments[JSTREAM_MAX_ARGUMENT_BYTES];
    void (*function)(void *arguments);
    ji_host_keep_t keep; /* object NULL: nothing */
};

/* The stream that this thread serves; NULL in threads that serve none. */
static _Thread_local ji_host_stream_t *host_stream_served;

static ji_host_slot_t *host_stream_slot(ji_host_stream_t *stream, uint64_t position) {
    return &stream->slots[position % HOST_STREAM_SLOTS];
}

static void host_slot_release(ji_host_slot_t *slot) {
    void *object = slot->keep.object;
    /* First, so that a child forked meanwhile does not release it again. */
    slot->keep.object = NULL;
    if (object != NULL)
        slot->keep.release(object);
}

static void *host_stream_serve(void *argument) {
    ji_host_stream_t *stream = argument;
    host_stream_served = stream;
    pthread_mutex_lock(&stream->mutex);
    for (;;) {
        while (stream->completed == stream->enqueued && !stream->stopping) {
            stream->idle = true;
            pthread_cond_wait(&stream->work, &stream->mutex);
        }
        stream->idle = false;
        if (stream->completed == stream->enqueued)
            break;

        ji_host_slot_t *slot = host_stream_slot(stream, stream->completed + 1);
        pthread_mutex_unlock(&stream->mutex);
        slot->function(slot->arguments);
        host_slot_release(slot);

        pthread_mutex_lock(&stream->mutex);
        if (++stream->completed >= stream->wake_at) {
            stream->wake_at = UINT64_MAX; /* those who want a later one say so again */
            pthread_cond_broadcast(&stream->progress);
        }
    }

    pthread_mutex_unlock(&stream->mutex);
    return NULL;
}

/* With the mutex held. */
static void host_stream_sleep_until(ji_host_stream_t *stream, uint64_t position) {
    while (stream->completed < position) {
        if (position < stream->wake_at)
            stream->wake_at = position;
        pthread_cond_wait(&stream->progress, &stream->mutex);
    }
}

jstatus_t ji_host_stream_enqueue(ji_host_stream_t *stream, void (*function)(void *),
                                 const void *arguments, size_t argument_bytes, ji_host_keep_t keep,
                                 uint64_t *position) {
    pthread_mutex_lock(&stream->mutex);
    while (stream->enqueued - stream->completed == HOST_STREAM_SLOTS) {
        if (host_stream_served == stream) {
            pthread_mutex_unlock(&stream->mutex);
            return ji_fail(
                JSTATUS_BUSY,
                "the stream's queue of %d entries is full, and its own thread cannot wait for room",
                HOST_STREAM_SLOTS);
        }
        host_stream_sleep_until(stream, stream->enqueued - HOST_STREAM_SLOTS / 2);
    }

    uint64_t mine = stream->enqueued + 1;
    ji_host_slot_t *slot = host_stream_slot(stream, mine);
    if (argument_bytes > 0)
        memcpy(slot->arguments, arguments, argument_bytes);
    slot->function = function;
    slot->keep = keep;
    stream->enqueued = mine; /* last: now it is there, also for a child forked at this moment */

    bool wake = stream->idle;
    stream->idle = false;
    pthread_mutex_unlock(&stream->mutex);

    if (wake)
        pthread_cond_signal(&stream->work);
    if (position != NULL)
        *position = mine;
    return JSTATUS_SUCCESS;
}

bool ji_host_stream_has_reached(ji_host_stream_t *stream, uint64_t position) {
    pthread_mutex_lock(&stream->mutex);
    bool reached = stream->completed >= position;
    pthread_mutex_unlock(&stream->mutex);
    return reached;
}

jstatus_t ji_host_stream_wait_for(ji_host_stream_t *stream, uint64_t position) {
    pthread_mutex_lock(&stream->mutex);
    /* Whoever comes from within has seen that it is not reached yet. */
    bool own = host_stream_served == stream;
    if (!own)
        host_stream_sleep_until(stream, position);
    pthread_mutex_unlock(&stream->mutex);
    return own ? ji_fail(JSTATUS_BUSY,
                         "a function in a stream cannot wait for the stream it runs in")
               : JSTATUS_SUCCESS;
}

ji_host_stream_t *ji_host_stream_retain(ji_host_stream_t *stream) {
    atomic_fetch_add_explicit(&stream->references, 1, memory_order_relaxed);
    return stream;
}

void ji_host_stream_release(void *pointer) {
    ji_host_stream_t *stream = pointer;
    if (stream == NULL ||
        atomic_fetch_sub_explicit(&stream->references, 1, memory_order_acq_rel) != 1)
        return;

    /* In a child the locks are in whatever state the parent's threads had them; destroying one
     * might wait for them. */
    if (stream->base.fork_generation == ji_fork_generation) {
        pthread_cond_destroy(&stream->progress);
        pthread_cond_destroy(&stream->work);
        pthread_mutex_destroy(&stream->mutex);
    }
    ji_metadata_free(stream);
}

/* Signals are the program's business: none is handled on a thread that it does not know of. */
static int host_stream_start_thread(ji_host_stream_t *stream) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);

    int error = pthread_create(&stream->thread, NULL, host_stream_serve, stream);
    pthread_sigmask(SIG_SETMASK, &before, NULL);

    if (error == 0)
        (void)pthread_setname_np(stream->thread, "jalloc-stream");
    return error;
}

jstatus_t ji_host_stream_create(jdevice_t *device, jstream_t **out) {
    jstatus_t status = JSTATUS_SUCCESS;
    ji_host_stream_t *stream;
    JTRY_ALLOC(stream = ji_metadata_zalloc(sizeof *stream));
    stream->base = (jstream_t){.device = device, .fork_generation = ji_fork_generation};
    atomic_init(&stream->references, 1);
    stream->wake_at = UINT64_MAX;
    pthread_mutex_init(&stream->mutex, NULL);
    pthread_cond_init(&stream->work, NULL);
    pthread_cond_init(&stream->progress, NULL);

    JTRY_ALLOC(stream->slots = ji_metadata_zalloc(HOST_STREAM_SLOTS * sizeof *stream->slots));
    int error = host_stream_start_thread(stream);
    if (error != 0) {
        status = ji_fail(JSTATUS_MEMORY_ERROR,
                         "jstream_create: no thread for the stream (error %d)", error);
        goto done;
    }

    *out = &stream->base;
    stream = NULL;
done:
    if (stream != NULL) {
        ji_metadata_free(stream->slots);
        ji_host_stream_release(stream);
    }
    return status;
}

jstatus_t ji_host_stream_destroy(jstream_t *base) {
    ji_host_stream_t *stream = (ji_host_stream_t *)base;
    bool forked = base->fork_generation != ji_fork_generation;
    if (forked) {
        for (uint64_t position = stream->completed + 1; position <= stream->enqueued; position++)
            host_slot_release(host_stream_slot(stream, position));
    } else {
        if (host_stream_served == stream)
            return ji_fail(JSTATUS_BUSY,
                           "jstream_destroy: called by a function in the stream itself");
        pthread_mutex_lock(&stream->mutex);
        stream->stopping = true;
        pthread_cond_signal(&stream->work);
        pthread_mutex_unlock(&stream->mutex);
        pthread_join(stream->thread, NULL);
    }

    ji_metadata_free(stream->slots);
    stream->slots = NULL;
    ji_host_stream_release(stream);
    return forked ? ji_fail(JSTATUS_FORKED, "jstream_destroy: the stream was made before a fork")
                  : JSTATUS_SUCCESS;
}

jstatus_t ji_host_launch(jdevice_t *device, jstream_t *stream, void (*function)(void *),
                         const void *arguments, size_t argument_bytes) {
    (void)device;
    if (stream != NULL)
        return ji_host_stream_enqueue((ji_host_stream_t *)stream, function, arguments,
                                      argument_bytes, (ji_host_keep_t){NULL, NULL}, NULL);

    /* The function may change its arguments. */
    alignas(16) unsigned char copy[JSTREAM_MAX_ARGUMENT_BYTES];
    if (argument_bytes > 0)
        memcpy(copy, arguments, argument_bytes);
    function(copy);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_host_stream_synchronize(jdevice_t *device, jstream_t *base) {
    (void)device;
    if (base == NULL)
        return JSTATUS_SUCCESS;

    ji_host_stream_t *stream = (ji_host_stream_t *)base;
    pthread_mutex_lock(&stream->mutex);
    uint64_t last = stream->enqueued;
    pthread_mutex_unlock(&stream->mutex);
    return ji_host_stream_wait_for(stream, last);
}

jstatus_t ji_host_stream_wrap(jdevice_t *device, void *native, jstream_t **stream) {
    (void)native, (void)stream;
    return ji_fail(JSTATUS_NOT_IMPLEMENTED, "%s has no streams but jalloc's", device->name);
}

void *ji_host_stream_native(jdevice_t *device, jstream_t *stream) {
    (void)device, (void)stream;
    return NULL;
}

jstatus_t ji_host_stream_get_capture(jdevice_t *device, jstream_t *stream, uint64_t *capture) {
    (void)device, (void)stream;
    *capture = 0;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_host_stream_keep_in_capture(jdevice_t *device, jstream_t *stream,
                                         void (*release)(void *object), void *object) {
    (void)stream, (void)release, (void)object;
    return ji_fail(JSTATUS_NOT_IMPLEMENTED, "%s has no graphs", device->name);
}
