/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_HIP_H
#define JALLOC_HIP_H

/** @file
 * Between jalloc's streams and HIP's. Needs no header of HIP: hipStream_t is declared here as HIP
 * declares it, so the two go together in any order.
 *
 * @code
 * jdevice_t *device;
 * jstream_t *stream;
 * jdevice_get("hip:0", &device);
 * jhip_stream_wrap(device, my_hip_stream, &stream);
 * jhandle_set_stream(handle, stream);
 * @endcode */

#include "jalloc/device.h"
#include "jalloc/export.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** HIP's stream, declared as HIP declares it. */
typedef struct ihipStream_t *hipStream_t;

/** Makes a hipStream_t of the device usable as a stream of jalloc. The hipStream_t stays the
 * caller's: it must not be destroyed before jstream_destroy(), which leaves it as it is. The
 * runtime's special streams (0, legacy, per-thread) can be wrapped as well. Does not synchronize.
 * @return success; invalid pointer; invalid value (device is not of HIP); memory error; forked;
 * device error. */
JALLOC_API jstatus_t jhip_stream_wrap(jdevice_t *device, hipStream_t native, jstream_t **stream);

/** The hipStream_t behind a stream of jalloc, made by jstream_create() or wrapped; of NULL: 0, the
 * legacy default stream. Whoever destroys it breaks the jstream_t. */
JALLOC_API hipStream_t jhip_stream_native(const jdevice_t *device, const jstream_t *stream);

#ifdef __cplusplus
}
#endif
#endif
