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

#include "gpu/blas/blas.h"
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

/* ---- Batches ---- */

/* An operand of all items of a batch: arrays or vectors a stride apart, or an array of pointers,
 * which the kernel reads. A plain call is a batch of one. */
template <typename T> struct many_t {
    T *first;        /* NULL: it is not there, or by the array */
    T *const *array; /* NULL: by the stride */
    int64_t stride;
    int64_t offset; /* of element 0 from the address that is given */

    __host__ __device__ inline T *of(int64_t item) const {
        if (array != nullptr)
            return array[item] + offset;
        return first != nullptr ? first + (offset + item * stride) : nullptr;
    }
    __host__ __device__ inline many_t from(int64_t further) const {
        return many_t{first, array, stride, offset + further};
    }
};

template <typename T>
static __host__ __device__ inline many_t<T> many_of(const ji_head_t &head, const void *operand,
                                                    int64_t stride) {
    if (head.form == JI_FORM_POINTERS)
        return many_t<T>{nullptr, (T *const *)operand, 0, 0};
    return many_t<T>{(T *)const_cast<void *>(operand), nullptr,
                     head.form == JI_FORM_PLAIN ? 0 : stride, 0};
}
/* The same of vectors: from their elements 0 on. */
template <typename T>
static __host__ __device__ inline many_t<T> many_vectors(const ji_head_t &head, const void *x,
                                                         int64_t n, int64_t inc, int64_t stride) {
    return many_of<T>(head, x, stride).from(inc < 0 && n > 0 ? (1 - n) * inc : 0);
}
static __host__ __device__ inline int64_t many_count(const ji_head_t &head,
                                                     const ji_batch_t &batch) {
    return head.form == JI_FORM_PLAIN ? 1 : batch.count;
}
/* The grid's y, of which kernels go on from item to item. */
static inline unsigned many_blocks(int64_t count) {
    return gpu_blocks(count, 1, GPU_GRID_MOST < 65535 ? GPU_GRID_MOST : 65535);
}

static __host__ __device__ inline bool vector_is_packed(const void *x, int64_t inc) {
    return inc == 1 && (uintptr_t)x % GPU_PACK_BYTES == 0;
}

#endif
