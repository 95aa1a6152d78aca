/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DEVICE_TABLE_H
#define JALLOC_DEVICE_TABLE_H

/* The device table. A device is content plus operations; the host's stand in host_device.c, a GPU's
 * come from a module (module.h), whose C++ reads this file too. What an operation may rely on is
 * said in device.c. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/device.h"

struct ji_blas_ops;

typedef struct ji_device_ops {
    jstatus_t (*get_properties)(jdevice_t *device, jdevice_properties_t *properties);
    jstatus_t (*get_memory_info)(jdevice_t *device, size_t *free_bytes, size_t *total_bytes);
    jstatus_t (*allocate)(jdevice_t *device, jmemory_kind_t kind, size_t size_bytes,
                          size_t alignment, void **pointer);
    jstatus_t (*deallocate)(jdevice_t *device, jmemory_kind_t kind, void *pointer,
                            size_t size_bytes);
    /* Memory whose taking and giving back are work of the stream. deallocate may be asked from any
     * stream of the device. not implemented: neither exists; jdevice_properties_t says so
     * beforehand. */
    jstatus_t (*allocate_ordered)(jdevice_t *device, jstream_t *stream, size_t size_bytes,
                                  void **pointer);
    jstatus_t (*deallocate_ordered)(jdevice_t *device, jstream_t *stream, void *pointer,
                                    size_t size_bytes);
    jstatus_t (*copy)(jdevice_t *device, jstream_t *stream, void *destination, const void *source,
                      size_t size_bytes);
    /* The destination may have any alignment. */
    jstatus_t (*fill)(jdevice_t *device, jstream_t *stream, void *destination, const void *pattern,
                      size_t pattern_bytes, size_t count);
    jstatus_t (*launch)(jdevice_t *device, jstream_t *stream, void (*function)(void *),
                        const void *arguments, size_t argument_bytes);
    jstatus_t (*stream_create)(jdevice_t *device, jstream_t **stream);
    jstatus_t (*stream_destroy)(jstream_t *stream);
    jstatus_t (*stream_synchronize)(jdevice_t *device, jstream_t *stream);
    /* A stream of the device's runtime as ours; destroying ours leaves it. not implemented: it has
     * none. */
    jstatus_t (*stream_wrap)(jdevice_t *device, void *native, jstream_t **stream);
    void *(*stream_native)(jdevice_t *device, jstream_t *stream);
    /* *capture: a number of the capture that the stream is in, never used again in this process; 0:
     * in none. */
    jstatus_t (*stream_get_capture)(jdevice_t *device, jstream_t *stream, uint64_t *capture);
    /* The graph being captured keeps `object` until it and all that was instantiated from it are
     * destroyed. Then release is called, from a thread of the runtime, where no function of the
     * device may be called. On failure it is not called. not implemented: the runtime's graphs own
     * nothing. */
    jstatus_t (*stream_keep_in_capture)(jdevice_t *device, jstream_t *stream,
                                        void (*release)(void *object), void *object);
    /* Not timed: event_get_elapsed_ms is not asked of it. */
    jstatus_t (*event_create)(jdevice_t *device, bool timed, jevent_t **event);
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
    /* blas/primitives/primitive.h; NULL on the host, whose BLAS is libjblas's */
    const struct ji_blas_ops *blas;
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

#endif
