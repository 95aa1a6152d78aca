/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_GROUP_H
#define JALLOC_GPU_BLAS_GROUP_H

/* What the threads of one block do together: 256 of them, seen as 8 rows of 32 where they work on a
 * matrix.
 *
 * To join is to make one value of many, in an order that is always the same: a tree whose levels
 * fold the threads over. JOIN is a type with a static join(left, right). */

#include "gpu/blas/number.h"

#define GROUP_THREADS 256
#define GROUP_ACROSS 32 /* thread t stands at t % 32, along the columns of a matrix in memory, */
#define GROUP_DOWN 8    /* and at t / 32 */

static_assert(GROUP_ACROSS * GROUP_DOWN == GROUP_THREADS, "one shape");

/* Joins what each SPAN neighbouring threads have, until LEFT of them have it all: shared[t] of the
 * first LEFT threads. Afterwards each thread may read and write its own element of `shared`, which
 * has one for each: nobody else does before the next barrier. To be called by all threads, when
 * what stood in `shared` has been read. */
template <typename JOIN, int SPAN = GROUP_THREADS, int LEFT = 1, typename V>
static __device__ inline void group_join(V *shared, V mine) {
    const int t = (int)threadIdx.x;
    shared[t] = mine;
    __syncthreads();
    for (int apart = SPAN / 2; apart >= LEFT; apart /= 2) {
        if (t % SPAN < apart)
            shared[t] = JOIN::join(shared[t], shared[t + apart]);
        __syncthreads();
    }
}

/* Joins what all threads have, for all of them. `shared` may be written at once. */
template <typename JOIN, typename V> static __device__ inline V group_join_all(V *shared, V mine) {
    group_join<JOIN>(shared, mine);
    const V whole = shared[0];
    __syncthreads();
    return whole;
}

struct group_sum_t {
    template <typename V> static __device__ inline V join(V a, V b) { return a + b; }
};
struct group_least_t {
    template <typename V> static __device__ inline V join(V a, V b) { return a < b ? a : b; }
};

/* The 1-based position of the first element of a diagonal of which `is` says yes, or 0, for all
 * threads. */
template <typename T, typename IS>
static __device__ inline int64_t group_find_on_diagonal(const T *a, int64_t lda, int64_t n,
                                                        int64_t *shared, IS is) {
    int64_t mine = n;

    for (int64_t i = threadIdx.x; i < n && mine == n; i += GROUP_THREADS)
        if (is(a[i * (lda + 1)]))
            mine = i;

    const int64_t first = group_join_all<group_least_t>(shared, mine);
    return first < n ? first + 1 : 0;
}

#endif
