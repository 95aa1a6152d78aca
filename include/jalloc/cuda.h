/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CUDA_H
#define JALLOC_CUDA_H

/** @file
 * Between jalloc's streams and CUDA's. Needs no header of CUDA: cudaStream_t is declared here as
 * CUDA declares it, so the two go together in any order.
 *
 * @code
 * jdevice_t *device;
 * jstream_t *stream;
 * jdevice_get("cuda:0", &device);
 * jcuda_stream_wrap(device, my_cuda_stream, &stream);
 * jhandle_set_stream(handle, stream);
 * @endcode */

#include "jalloc/device.h"
#include "jalloc/export.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** CUDA's stream, declared as CUDA declares it. */
typedef struct CUstream_st *cudaStream_t;

/** Makes a cudaStream_t of the device usable as a stream of jalloc. The cudaStream_t stays the
 * caller's: it must not be destroyed before jstream_destroy(), which leaves it as it is. The
 * runtime's special streams (0, legacy, per-thread) can be wrapped as well. Does not synchronize.
 * @return success; invalid pointer; invalid value (device is not of CUDA); memory error; forked;
 * device error. */
JALLOC_API jstatus_t jcuda_stream_wrap(jdevice_t *device, cudaStream_t native, jstream_t **stream);

/** The cudaStream_t behind a stream of jalloc, made by jstream_create() or wrapped; of NULL: 0, the
 * legacy default stream. Whoever destroys it breaks the jstream_t. */
JALLOC_API cudaStream_t jcuda_stream_native(const jdevice_t *device, const jstream_t *stream);

#ifdef __cplusplus
}
#endif
#endif
