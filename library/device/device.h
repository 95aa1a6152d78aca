/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DEVICE_DEVICE_H
#define JALLOC_DEVICE_DEVICE_H

/* What the library itself needs of devices. What a device is stands in table.h, which is to be read
 * first: content and a table of operations, the same for all.
 *
 *     device.c    the public functions: each checks its arguments once, so operations need not
 *     registry.c  from a name to a device: loads the module of its kind (module.h)
 *     host_*.c    the host as a device, with streams and events of threads (host.h)
 *
 * Nothing here knows a GPU's runtime: that is in the modules (library/gpu). */

#include <stdatomic.h>

#include "core/core.h"
#include "device/table.h"

extern jdevice_t ji_host_device;

/* Told of a stream that is about to be destroyed, after all its work: memory last used there is
 * free. NULL: nobody. */
typedef void (*ji_stream_hook_t)(jstream_t *stream);
extern _Atomic(ji_stream_hook_t) ji_stream_destroy_hook;

/* An event that only orders. Those of jevent_create() take the time at each recording, since any
 * may be asked for it. */
jstatus_t ji_event_create_untimed(jdevice_t *device, jevent_t **event);

/* True when the stream is NULL or belongs to the device. */
static inline bool ji_stream_is_of(const jstream_t *stream, const jdevice_t *device) {
    return stream == NULL || stream->device == device;
}

#endif
