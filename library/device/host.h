/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DEVICE_HOST_H
#define JALLOC_DEVICE_HOST_H

/* What the parts of the host device share: host_stream.c has the queues, host_event.c the marks in
 * them, host_device.c memory, copies and the table.
 *
 * Everything enqueued in a stream has a position, counted from 1. A point in a stream is the stream
 * and a position, and it is reached when as many entries are done. So an event needs no memory for
 * a recording, whoever waits for one keeps what he needs by a reference, and nobody is disturbed
 * when the event is recorded again or destroyed. */

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "device/device.h"

/* ---- Memory of the C library's, aligned ---- */

/* The C library's own way to an alignment cuts a block out of a larger one. With millions of small
 * blocks live, glibc 2.36 takes three times as long for that as for malloc, which is why a block
 * here stands in one of malloc's that is larger by the alignment:
 *
 *     | unused ... | where malloc's block begins | the block, aligned ...
 *     taken                                      pointer
 */

/* Where malloc's block begins; the word before every block. */
static inline void **ji_host_taken(const void *pointer) { return (void **)(uintptr_t)pointer - 1; }

/* NULL: no memory. malloc's alignment leaves room for the word, as that is less. Asked for no more
 * than that alignment posix_memalign is malloc; tests make it fail while bookkeeping does not. */
static inline void *ji_host_take(size_t size_bytes, size_t alignment) {
    void *taken;
    if (alignment < alignof(max_align_t))
        alignment = alignof(max_align_t);
    if (posix_memalign(&taken, alignof(max_align_t), size_bytes + alignment) != 0)
        return NULL;

    void *pointer = (char *)taken + alignment - ((uintptr_t)taken & (alignment - 1));
    *ji_host_taken(pointer) = taken;
    return pointer;
}

static inline void ji_host_give(void *pointer) { free(*ji_host_taken(pointer)); }

/* ---- Streams and events ---- */

typedef struct ji_host_slot ji_host_slot_t;

typedef struct ji_host_stream {
    jstream_t base;
    /* One of the owner, one of each event recorded here and of each wait for it. */
    atomic_uint references;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t work;     /* there is some, or the stream ends */
    pthread_cond_t progress; /* completed has come to wake_at */
    /* Under the mutex: */
    uint64_t enqueued; /* position of the last entry */
    /* Position of the last one done; the queue's content is what lies between. */
    uint64_t completed;
    uint64_t wake_at;      /* nearest position that somebody waits for */
    bool idle;             /* the thread sleeps and must be woken */
    bool stopping;         /* the thread ends when the queue is empty */
    ji_host_slot_t *slots; /* a ring: the entry at a position is in slot position modulo its size */
} ji_host_stream_t;

/* Released when an entry is done; the reference moves to the queue if the call succeeds. */
typedef struct ji_host_keep {
    void *object;
    void (*release)(void *object);
} ji_host_keep_t;

/* Puts a function in the queue; waits for room. Busy if the caller is the stream's own thread and
 * there is no room. */
jstatus_t ji_host_stream_enqueue(ji_host_stream_t *stream, void (*function)(void *),
                                 const void *arguments, size_t argument_bytes, ji_host_keep_t keep,
                                 uint64_t *position);
bool ji_host_stream_has_reached(ji_host_stream_t *stream, uint64_t position);
/* Waits for a position. Busy, instead of for ever, if the caller is the stream's own thread. */
jstatus_t ji_host_stream_wait_for(ji_host_stream_t *stream, uint64_t position);
ji_host_stream_t *ji_host_stream_retain(ji_host_stream_t *stream);
void ji_host_stream_release(void *stream); /* NULL: nothing */

/* Operations of the table. */
jstatus_t ji_host_launch(jdevice_t *device, jstream_t *stream, void (*function)(void *),
                         const void *arguments, size_t argument_bytes);
jstatus_t ji_host_stream_create(jdevice_t *device, jstream_t **stream);
jstatus_t ji_host_stream_destroy(jstream_t *stream);
jstatus_t ji_host_stream_synchronize(jdevice_t *device, jstream_t *stream);
jstatus_t ji_host_stream_wrap(jdevice_t *device, void *native, jstream_t **stream);
void *ji_host_stream_native(jdevice_t *device, jstream_t *stream);
jstatus_t ji_host_stream_get_capture(jdevice_t *device, jstream_t *stream, uint64_t *capture);
jstatus_t ji_host_stream_keep_in_capture(jdevice_t *device, jstream_t *stream,
                                         void (*release)(void *object), void *object);
jstatus_t ji_host_event_create(jdevice_t *device, bool timed, jevent_t **event);
jstatus_t ji_host_event_destroy(jevent_t *event);
jstatus_t ji_host_event_record(jevent_t *event, jstream_t *stream);
jstatus_t ji_host_event_wait(jevent_t *event, jstream_t *stream);
jstatus_t ji_host_event_query(jevent_t *event, bool *reached);
jstatus_t ji_host_event_synchronize(jevent_t *event);
jstatus_t ji_host_event_get_elapsed_ms(jevent_t *start, jevent_t *stop, double *milliseconds);

#endif
