/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_VECTOR_H
#define JALLOC_GPU_BLAS_VECTOR_H

/* How kernels see vectors.
 *
 * BLAS gives the lowest address; where the increment is negative element 0 is at the other end.
 * Kernels are given the address of element 0, so that element i is at x[i * inc] for either sign.
 *
 * Memory is fastest in packs: 16 bytes by one instruction, several of them asked for before the
 * first is used. A vector can be read in packs where its increment is 1 and it begins at a multiple
 * of 16, which nobody promises. */

#include "gpu/blas/number.h"

#define GPU_VECTOR_THREADS 256
#define GPU_PACK_BYTES 16
#define GPU_PACK_LOADS 4 /* on the way for each operand of a thread */

template <typename T> struct alignas(GPU_PACK_BYTES) pack {
    static const int width = GPU_PACK_BYTES / (int)sizeof(T);
    T e[GPU_PACK_BYTES / sizeof(T)];
};

/* Element 0 of n; NULL for a vector that is not there, because nobody will read it. */
template <typename T>
static __host__ __device__ inline T *vector_start(const void *x, int64_t n, int64_t inc) {
    T *start = (T *)const_cast<void *>(x);
    return inc < 0 && n > 0 && x != nullptr ? start - (n - 1) * inc : start;
}

static __host__ __device__ inline bool vector_is_packed(const void *x, int64_t inc) {
    return inc == 1 && (uintptr_t)x % GPU_PACK_BYTES == 0;
}

#endif
