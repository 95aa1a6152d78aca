/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Copies and fills.
 *
 * The runtime finds out from the addresses where each side of a copy lies. A fill whose bytes are
 * all alike is the runtime's too. Any other is a kernel: whatever the pattern, 16 bytes hold it a
 * whole number of times, so the memory is
 *
 *     destination                                                      a chunk is 16 bytes, aligned
 *     | head | chunk | chunk | chunk | ... | tail |
 *       0-15                                 0-15
 *
 * and every chunk is the same 16 bytes, the pattern turned by the length of the head. Threads write
 * chunks side by side; the first few write the bytes of the ends as well. */

#include "gpu/device/gpu.h"

#include <string.h>

#define FILL_CHUNK_BYTES 16
#define FILL_THREADS 256
#define FILL_BLOCKS_PER_MULTIPROCESSOR 8 /* enough stores in flight; beyond that threads loop */

struct alignas(FILL_CHUNK_BYTES) fill_chunk_t {
    uint64_t word[2];
};

struct fill_t {
    unsigned char *destination;
    size_t head_bytes, chunks, tail_bytes;
};

static __device__ unsigned char fill_byte(fill_chunk_t chunk, unsigned index) {
    return (unsigned char)((index < 8 ? chunk.word[0] : chunk.word[1]) >>
                           index % 8 * 8); /* the first byte is the lowest */
}

static __global__ void __launch_bounds__(FILL_THREADS)
    fill_kernel(fill_t fill, fill_chunk_t chunk) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x,
                 threads = (size_t)gridDim.x * blockDim.x;
    fill_chunk_t *chunks = (fill_chunk_t *)(fill.destination + fill.head_bytes);

    if (thread < fill.head_bytes)
        fill.destination[thread] =
            fill_byte(chunk, (unsigned)(FILL_CHUNK_BYTES + thread - fill.head_bytes));
    if (thread < fill.tail_bytes)
        ((unsigned char *)(chunks + fill.chunks))[thread] = fill_byte(chunk, (unsigned)thread);

    for (size_t i = thread; i < fill.chunks; i += threads)
        chunks[i] = chunk;
}

gpuError_t gpu_probe_kernels() {
    gpuFuncAttributes attributes;
    return gpuFuncGetAttributes(&attributes, (const void *)fill_kernel);
}

jstatus_t gpu_copy(jdevice_t *device, jstream_t *stream, void *destination, const void *source,
                   size_t size_bytes) {
    GPU_ENTER(device);
    JTRY_RETURN(gpu_require_usable(device, stream));

    GPU_TRY(device,
            gpuMemcpyAsync(destination, source, size_bytes, gpuMemcpyDefault, gpu_native(stream)));
    return JSTATUS_SUCCESS;
}

jstatus_t gpu_fill(jdevice_t *device, jstream_t *stream, void *destination, const void *pattern,
                   size_t pattern_bytes, size_t count) {
    GPU_ENTER(device);
    gpu_relaxed relaxed; /* the kernel's first launch may load it */
    JTRY_RETURN(gpu_require_usable(device, stream));

    const size_t size_bytes = pattern_bytes * count;
    if (memcmp(pattern, (const unsigned char *)pattern + 1, pattern_bytes - 1) == 0) {
        const int value = *(const unsigned char *)pattern;
        GPU_TRY(device, gpuMemsetAsync(destination, value, size_bytes, gpu_native(stream)));
        return JSTATUS_SUCCESS;
    }

    fill_t fill;
    fill.destination = (unsigned char *)destination;
    fill.head_bytes = (size_t)(-(uintptr_t)destination % FILL_CHUNK_BYTES);
    if (fill.head_bytes > size_bytes)
        fill.head_bytes = size_bytes;
    fill.chunks = (size_bytes - fill.head_bytes) / FILL_CHUNK_BYTES;
    fill.tail_bytes = (size_bytes - fill.head_bytes) % FILL_CHUNK_BYTES;

    unsigned char bytes[FILL_CHUNK_BYTES];
    for (size_t i = 0; i < sizeof bytes; ++i)
        bytes[i] = ((const unsigned char *)pattern)[(fill.head_bytes + i) % pattern_bytes];
    fill_chunk_t chunk;
    memcpy(&chunk, bytes, sizeof chunk);

    const size_t most = (size_t)FILL_BLOCKS_PER_MULTIPROCESSOR *
                        (size_t)gpu_device(device)->properties.multiprocessors;
    size_t blocks = (fill.chunks + FILL_THREADS - 1) / FILL_THREADS;
    if (blocks > most)
        blocks = most;
    if (blocks < 1)
        blocks = 1;

    GPU_LAUNCH((fill_kernel), (unsigned)blocks, FILL_THREADS, gpu_native(stream), fill, chunk);
    return gpu_check_launch(device, "fill");
}
