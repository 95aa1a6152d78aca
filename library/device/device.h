/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DEVICE_DEVICE_H
#define JALLOC_DEVICE_DEVICE_H

/* The device table. A device is content plus operations; the host's stand in host_device.c, a GPU's come from a module
 * that the registry loads. The public functions in device.c check their arguments once, so operations need not. */

#include <stdatomic.h>

#include "core/core.h"
#include "jalloc/device.h"

typedef struct ji_device_ops {
    jstatus_t (*get_memory_info)(jdevice_t *device, size_t *free_bytes, size_t *total_bytes);
    jstatus_t (*allocate)(jdevice_t *device, jmemory_kind_t kind, size_t size_bytes, size_t alignment, void **pointer);
    jstatus_t (*deallocate)(jdevice_t *device, jmemory_kind_t kind, void *pointer, size_t size_bytes);
    jstatus_t (*copy)(jdevice_t *device, jstream_t *stream, void *destination, const void *source, size_t size_bytes);
    jstatus_t (*fill)(jdevice_t *device, jstream_t *stream, void *destination, const void *pattern,
                      size_t pattern_bytes, size_t count);
    jstatus_t (*launch)(jdevice_t *device, jstream_t *stream, void (*function)(void *), const void *arguments,
                        size_t argument_bytes);
    jstatus_t (*stream_create)(jdevice_t *device, jstream_t **stream);
    jstatus_t (*stream_destroy)(jstream_t *stream);
    jstatus_t (*stream_synchronize)(jdevice_t *device, jstream_t *stream);
    jstatus_t (*stream_is_capturing)(jdevice_t *device, jstream_t *stream, bool *capturing);
    jstatus_t (*event_create)(jdevice_t *device, jevent_t **event);
    jstatus_t (*event_destroy)(jevent_t *event);
    jstatus_t (*event_record)(jevent_t *event, jstream_t *stream);
    jstatus_t (*event_wait)(jevent_t *event, jstream_t *stream);
    jstatus_t (*event_query)(jevent_t *event, bool *reached);
    jstatus_t (*event_synchronize)(jevent_t *event);
    jstatus_t (*event_get_elapsed_ms)(jevent_t *start, jevent_t *stop, double *milliseconds);
} ji_device_ops_t;

struct jdevice {
    const ji_device_ops_t *ops;
    jdevice_kind_t kind;
    int index;            /* among those of its kind */
    size_t granule_bytes; /* a power of two */
    char name[16];
    void *state; /* the operations' own */
};

/* First member of every stream and event. */
struct jstream {
    jdevice_t *device;
    unsigned fork_generation;
};
struct jevent {
    jdevice_t *device;
    unsigned fork_generation;
};

extern jdevice_t ji_host_device;

/* Told of a stream that is about to be destroyed, after all its work: memory last used there is free. NULL: nobody. */
typedef void (*ji_stream_hook_t)(jstream_t *stream);
extern _Atomic(ji_stream_hook_t) ji_stream_destroy_hook;

/* True when the stream is NULL or belongs to the device. */
static inline bool ji_stream_is_of(const jstream_t *stream, const jdevice_t *device) {
    return stream == NULL || stream->device == device;
}

#endif
