/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_TILE_H
#define JALLOC_GPU_BLAS_TILE_H

/* Triangular tiles in shared memory: what the kernels of triangle.cu do with 32 x 32 elements and
 * 256 threads.
 *
 * Thread t stands at column (or row) t mod 32, and holds four elements of it: at t / 32, and 8, 16
 * and 24 further. In shared memory a row is followed by one unused element, so that neither a row
 * nor a column meets a bank twice. */

#include "gpu/blas/blas.h"
#include "gpu/blas/group.h"

#include "blas/primitives/inverses.h"

#define TILE JI_INVERSE_TILE
#define TILE_EACH (TILE / GROUP_DOWN)

static_assert(TILE == GROUP_ACROSS, "a wave, or half of one, is one row");

/* A triangle as a lower one: what is upper is looked at from its other corner. */
template <typename T> struct tile_view {
    T *first;
    int64_t down, right; /* strides */
    __host__ __device__ inline T *at(int64_t i, int64_t j) const {
        return first + i * down + j * right;
    }
};
template <typename T> static tile_view<T> tile_lower(const ji_matmat_t *args) {
    T *a = (T *)const_cast<void *>(args->a);
    if (args->uplo == JBLAS_UPPER)
        return tile_view<T>{a + (args->n - 1) * (args->lda + 1), -1, -args->lda};
    return tile_view<T>{a, 1, args->lda};
}

/* Inverts the lower triangle in `tile`; what stands above its diagonal is not read. Element k is
 * row threadIdx.x / 32 + 8 k of column threadIdx.x mod 32 of the inverse, zeros above the diagonal
 * included. `row` is two rows of shared memory. To be called by all threads, with a barrier between
 * this and what wrote the tile, and between this and what writes to the tile or to `row`. */
template <typename T>
static __device__ inline void tile_invert(T (*tile)[TILE + 1], T (*row)[TILE], T *element) {
    const int column = (int)threadIdx.x % TILE, down = (int)threadIdx.x / TILE;

    GPU_UNROLL
    for (int k = 0; k < TILE_EACH; ++k)
        element[k] = make<T>(down + k * GROUP_DOWN == column ? 1 : 0);

    /* Row p of the inverse is ready once rows above it were taken out of it and it is divided. What
     * it takes out of the rows below, all do at once. Left of the diagonal alone: a NaN times a
     * zero must not come to the other side. Unrolled where an element is named, so that elements
     * stay in registers. */
    GPU_UNROLL
    for (int own = 0; own < TILE_EACH; ++own)
        for (int q = 0; q < GROUP_DOWN; ++q) {
            const int p = own * GROUP_DOWN + q;
            if (down == q) {
                if (column <= p)
                    element[own] = divide(element[own], tile[p][p]);
                row[p % 2][column] = element[own];
            }
            __syncthreads();
            if (column > p)
                continue;
            GPU_UNROLL
            for (int k = own; k < TILE_EACH; ++k)
                if (down + k * GROUP_DOWN > p)
                    element[k] = multiply_add(-tile[down + k * GROUP_DOWN][p], row[p % 2][column],
                                              element[k]);
        }
}

#endif
