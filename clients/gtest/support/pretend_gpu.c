/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "pretend_gpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { STREAMS = 64, EVENTS = 256, BLOCKS = 512, OWNED = 512 };

static pretend_gpu_t gpu;
static ji_device_ops_t ops;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the tables */
static struct {
    const jstream_t *stream;
    uint64_t capture;
} streams[STREAMS];
static struct {
    const jevent_t *event;
    uint64_t capture; /* that it was last recorded in */
} events[EVENTS];
static struct {
    char *pointer;
    size_t size_bytes;
} blocks[BLOCKS];
static struct {
    uint64_t capture;
    void (*release)(void *object);
    void *object;
} owned[OWNED];
static _Thread_local bool releasing; /* in a thread of the runtime, which may call nothing */

static void violate(const char *violation) {
    ++gpu.violations;
    gpu.violation = violation;
}
static jstatus_t enter(bool can_fail) {
    if (releasing)
        violate("a call in a function that the runtime calls");
    const bool behind = can_fail && gpu.fail_behind_metadata && jtest_metadata_failed();
    if (behind)
        gpu.fail_behind_metadata = false;
    else if (!can_fail || gpu.fail_in == 0 || --gpu.fail_in != 0)
        return JSTATUS_SUCCESS;
    gpu.failed = true;
    return ji_fail(gpu.fail_with, "injected");
}
#define ENTER(can_fail)                                                                            \
    do {                                                                                           \
        const jstatus_t entered = enter(can_fail);                                                 \
        if (entered != JSTATUS_SUCCESS)                                                            \
            return entered;                                                                        \
    } while (0)

static uint64_t capture_of(const jstream_t *stream) {
    uint64_t capture = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < STREAMS && stream != NULL; ++i)
        if (streams[i].stream == stream)
            capture = streams[i].capture;
    pthread_mutex_unlock(&lock);
    return capture;
}

/* ---- Operations ---- */

static jstatus_t pretend_get_properties(jdevice_t *device, jdevice_properties_t *properties) {
    ENTER(true);
    const jstatus_t status = ji_host_device.ops->get_properties(device, properties);
    properties->has_stream_ordered = gpu.has_stream_ordered;
    properties->has_capture = gpu.has_capture;
    properties->has_capture_ownership = gpu.has_capture_ownership;
    return status;
}

static void remember(void *pointer, size_t size_bytes) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BLOCKS; ++i)
        if (blocks[i].pointer == NULL) {
            blocks[i].pointer = pointer;
            blocks[i].size_bytes = size_bytes;
            break;
        }
    pthread_mutex_unlock(&lock);
}
static void forget(const void *pointer, size_t size_bytes) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BLOCKS && !found; ++i)
        if (blocks[i].pointer == pointer && blocks[i].size_bytes == size_bytes) {
            blocks[i].pointer = NULL;
            found = true;
        }
    pthread_mutex_unlock(&lock);
    if (!found)
        violate("memory given back that was not taken");
}

static jstatus_t pretend_allocate(jdevice_t *device, jmemory_kind_t kind, size_t size_bytes,
                                  size_t alignment, void **pointer) {
    ENTER(true);
    ++gpu.allocations;
    const jstatus_t status =
        ji_host_device.ops->allocate(device, kind, size_bytes, alignment, pointer);
    if (status == JSTATUS_SUCCESS)
        remember(*pointer, size_bytes);
    return status;
}
static jstatus_t pretend_deallocate(jdevice_t *device, jmemory_kind_t kind, void *pointer,
                                    size_t size_bytes) {
    ENTER(false);
    ++gpu.deallocations;
    forget(pointer, size_bytes);
    return ji_host_device.ops->deallocate(device, kind, pointer, size_bytes);
}
static jstatus_t pretend_allocate_ordered(jdevice_t *device, jstream_t *stream, size_t size_bytes,
                                          void **pointer) {
    ENTER(true);
    ++gpu.ordered_allocations;
    if (capture_of(stream) != 0)
        return ji_fail(JSTATUS_CAPTURING, "%s: the stream is being captured", device->name);
    const jstatus_t status =
        ji_host_device.ops->allocate_ordered(device, stream, size_bytes, pointer);
    if (status == JSTATUS_SUCCESS)
        remember(*pointer, size_bytes);
    return status;
}
static jstatus_t pretend_deallocate_ordered(jdevice_t *device, jstream_t *stream, void *pointer,
                                            size_t size_bytes) {
    ENTER(false);
    ++gpu.ordered_deallocations;
    if (capture_of(stream) != 0)
        return ji_fail(JSTATUS_CAPTURING, "%s: the stream is being captured", device->name);
    forget(pointer, size_bytes);
    return ji_host_device.ops->deallocate_ordered(device, stream, pointer, size_bytes);
}

static jstatus_t pretend_synchronize(jdevice_t *device, jstream_t *stream) {
    ENTER(true);
    ++gpu.waits;
    if (capture_of(stream) != 0) {
        violate("waiting for a captured stream");
        return ji_fail(JSTATUS_CAPTURING, "%s: the stream is being captured", device->name);
    }
    return ji_host_device.ops->stream_synchronize(device, stream);
}

static jstatus_t pretend_get_capture(jdevice_t *device, jstream_t *stream, uint64_t *capture) {
    ENTER(true);
    ++gpu.asked;
    if (stream == NULL)
        violate("asking the NULL stream");
    *capture = capture_of(stream);
    return *capture != UINT64_MAX
               ? JSTATUS_SUCCESS
               : ji_fail(JSTATUS_CAPTURING, "%s: the capture has failed", device->name);
}

static jstatus_t pretend_keep_in_capture(jdevice_t *device, jstream_t *stream,
                                         void (*release)(void *object), void *object) {
    ENTER(true);
    if (!gpu.has_capture_ownership)
        return ji_fail(JSTATUS_NOT_IMPLEMENTED, "%s: graphs own nothing", device->name);
    const uint64_t capture = capture_of(stream);
    if (capture == 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: the stream is not being captured", device->name);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < OWNED; ++i)
        if (owned[i].release == NULL) {
            owned[i].capture = capture;
            owned[i].release = release;
            owned[i].object = object;
            break;
        }
    pthread_mutex_unlock(&lock);
    return JSTATUS_SUCCESS;
}

static jstatus_t pretend_event_create(jdevice_t *device, bool timed, jevent_t **event) {
    ENTER(true);
    return ji_host_device.ops->event_create(device, timed, event);
}
static jstatus_t pretend_event_record(jevent_t *event, jstream_t *stream) {
    ENTER(true);
    int free_place = -1, place = -1;
    const uint64_t capture = capture_of(stream);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < EVENTS; ++i) {
        if (events[i].event == event)
            place = i;
        else if (events[i].event == NULL && free_place < 0)
            free_place = i;
    }
    if (place < 0)
        place = free_place;
    events[place].event = event;
    events[place].capture = capture;
    pthread_mutex_unlock(&lock);
    return ji_host_device.ops->event_record(event, stream);
}
static uint64_t event_capture(const jevent_t *event) {
    uint64_t capture = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < EVENTS; ++i)
        if (events[i].event == event)
            capture = events[i].capture;
    pthread_mutex_unlock(&lock);
    return capture;
}
static jstatus_t pretend_event_wait(jevent_t *event, jstream_t *stream) {
    ENTER(true);
    if (event_capture(event) != capture_of(stream))
        violate("a stream waits for an event of another capture");
    return ji_host_device.ops->event_wait(event, stream);
}
static jstatus_t pretend_event_query(jevent_t *event, bool *reached) {
    ENTER(true);
    if (event_capture(event) != 0)
        violate("asking an event that was recorded in a capture");
    return ji_host_device.ops->event_query(event, reached);
}
static jstatus_t pretend_event_synchronize(jevent_t *event) {
    ENTER(true);
    return ji_host_device.ops->event_synchronize(event);
}
static jstatus_t pretend_event_destroy(jevent_t *event) {
    ENTER(false);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < EVENTS; ++i)
        if (events[i].event == event)
            events[i].event = NULL;
    pthread_mutex_unlock(&lock);
    return ji_host_device.ops->event_destroy(event);
}
static jstatus_t pretend_stream_create(jdevice_t *device, jstream_t **stream) {
    ENTER(true);
    return ji_host_device.ops->stream_create(device, stream);
}
static jstatus_t pretend_fill(jdevice_t *device, jstream_t *stream, void *destination,
                              const void *pattern, size_t pattern_bytes, size_t count) {
    ENTER(true);
    if (capture_of(stream) != 0)
        violate("a fill in a captured stream");
    return ji_host_device.ops->fill(device, stream, destination, pattern, pattern_bytes, count);
}

static jstatus_t pretend_copy(jdevice_t *device, jstream_t *stream, void *destination,
                              const void *source, size_t size_bytes) {
    ENTER(true);
    return ji_host_device.ops->copy(device, stream, destination, source, size_bytes);
}

/* ---- The script ---- */

pretend_gpu_t *pretend_gpu_make(void) {
    memset(streams, 0, sizeof streams);
    memset(events, 0, sizeof events);
    memset(blocks, 0, sizeof blocks);
    memset(owned, 0, sizeof owned);
    ops = *ji_host_device.ops;
    ops.get_properties = pretend_get_properties;
    ops.allocate = pretend_allocate;
    ops.deallocate = pretend_deallocate;
    ops.allocate_ordered = pretend_allocate_ordered;
    ops.deallocate_ordered = pretend_deallocate_ordered;
    ops.stream_create = pretend_stream_create;
    ops.stream_synchronize = pretend_synchronize;
    ops.stream_get_capture = pretend_get_capture;
    ops.stream_keep_in_capture = pretend_keep_in_capture;
    ops.event_create = pretend_event_create;
    ops.event_record = pretend_event_record;
    ops.event_wait = pretend_event_wait;
    ops.event_query = pretend_event_query;
    ops.event_synchronize = pretend_event_synchronize;
    ops.event_destroy = pretend_event_destroy;
    ops.fill = pretend_fill;
    ops.copy = pretend_copy;
    gpu = (pretend_gpu_t){.device = ji_host_device,
                          .has_stream_ordered = true,
                          .has_capture = true,
                          .has_capture_ownership = true,
                          .fail_with = JSTATUS_DEVICE_ERROR};
    gpu.device.ops = &ops;
    gpu.device.kind = JDEVICE_CUDA;
    gpu.device.granule_bytes = 256;
    snprintf(gpu.device.name, sizeof gpu.device.name, "pretended");
    return &gpu;
}

void pretend_gpu_capture(jstream_t *stream, uint64_t capture) {
    int place = -1;
    pthread_mutex_lock(&lock);
    for (int i = STREAMS; i-- > 0;)
        if (streams[i].stream == stream || (streams[i].stream == NULL && place < 0))
            place = i;
    for (int i = 0; i < STREAMS; ++i)
        if (streams[i].stream == stream)
            place = i;
    streams[place].stream = stream;
    streams[place].capture = capture;
    pthread_mutex_unlock(&lock);
}

static void *destroy_graph(void *argument) {
    const uint64_t capture = *(const uint64_t *)argument;
    releasing = true;
    for (int i = 0; i < OWNED; ++i) {
        pthread_mutex_lock(&lock);
        void (*release)(void *object) = owned[i].capture == capture ? owned[i].release : NULL;
        void *object = owned[i].object;
        if (release != NULL)
            owned[i].release = NULL;
        pthread_mutex_unlock(&lock);
        if (release != NULL)
            release(object);
    }
    return NULL;
}
void pretend_gpu_destroy_graph(uint64_t capture) {
    pthread_t thread;
    pthread_create(&thread, NULL, destroy_graph, &capture);
    pthread_join(thread, NULL);
}

size_t pretend_gpu_live_bytes(void) {
    size_t bytes = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BLOCKS; ++i)
        bytes += blocks[i].pointer != NULL ? blocks[i].size_bytes : 0;
    pthread_mutex_unlock(&lock);
    return bytes;
}

bool pretend_gpu_is_live(const void *pointer) {
    bool live = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BLOCKS; ++i)
        live = live ||
               (blocks[i].pointer != NULL && (uintptr_t)pointer >= (uintptr_t)blocks[i].pointer &&
                (uintptr_t)pointer - (uintptr_t)blocks[i].pointer < blocks[i].size_bytes);
    pthread_mutex_unlock(&lock);
    return live;
}

unsigned pretend_gpu_owned(void) {
    unsigned count = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < OWNED; ++i)
        count += owned[i].release != NULL;
    pthread_mutex_unlock(&lock);
    return count;
}
