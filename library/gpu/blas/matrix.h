/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_MATRIX_H
#define JALLOC_GPU_BLAS_MATRIX_H

/* Matrices of which each element is read or written once: matrix.cu, move.cu. All are bound by
 * memory.
 *
 * A block of 32 x 8 threads takes tiles of 32 x 32 elements until there are none; neighbouring
 * threads have neighbouring rows. */

#include "gpu/blas/blas.h"
#include "gpu/blas/group.h"

static __host__ __device__ inline int64_t matrix_tiles(int64_t size) {
    return (size + GROUP_ACROSS - 1) / GROUP_ACROSS;
}
static inline unsigned matrix_blocks(int64_t m, int64_t n) {
    return gpu_blocks(matrix_tiles(m) * matrix_tiles(n), 1, GPU_GRID_MOST);
}

/* ---- One element after the other ---- */

/* DO has start(), which reads the scalars and says whether there is anything to do, and at(i,
 * j). */
template <typename DO>
static __global__ void __launch_bounds__(GROUP_THREADS)
    matrix_each_kernel(DO action, int64_t m, int64_t n) {
    if (!action.start())
        return;

    const int across = (int)threadIdx.x % GROUP_ACROSS, down = (int)threadIdx.x / GROUP_ACROSS;
    const int64_t high = matrix_tiles(m), wide = matrix_tiles(n);

    for (int64_t tile = blockIdx.x; tile < high * wide; tile += gridDim.x) {
        const int64_t i = tile % high * GROUP_ACROSS + across, left = tile / high * GROUP_ACROSS;
        const int64_t right = left + GROUP_ACROSS < n ? left + GROUP_ACROSS : n;
        if (i < m)
            for (int64_t j = left + down; j < right; j += GROUP_DOWN)
                action.at(i, j);
    }
}

template <typename DO>
static jstatus_t matrix_each(const gpu_call_t *call, const DO &action, int64_t m, int64_t n,
                             const char *name) {
    if (m <= 0 || n <= 0)
        return JSTATUS_SUCCESS;

    GPU_LAUNCH((matrix_each_kernel<DO>), matrix_blocks(m, n), GROUP_THREADS, call->stream, action,
               m, n);
    return gpu_check_launch(call->device, name);
}

#endif
