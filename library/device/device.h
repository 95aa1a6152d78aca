/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DEVICE_DEVICE_H
#define JALLOC_DEVICE_DEVICE_H

/* What the library itself needs of devices; what a device is stands in table.h. The public
 * functions in device.c check their arguments once, so operations need not. */

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
