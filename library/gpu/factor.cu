/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Cholesky's base, and its info.
 *
 * potrf_base    one block of threads factors a small matrix in shared memory, where only the lower triangle is kept, by
 *               packed columns. An upper triangle is read as the conjugate transpose: U^H is L.
 *
 *                   column 0      column 1   ...        for each column j: all columns behind it lose
 *                   [ . . . . . ][ . . . . ][ ...         column j * conj(l(k,j)) / pivot(j)
 *                                                       and only in the end all are divided by sqrt(pivot)
 *
 *               So one barrier a column is enough. A pivot that is not positive ends it; it stays as it is on the
 *               diagonal, and the columns before it are right.
 * pivot_info    looks for it: the first diagonal element of the whole that is not positive. */

#include "gpu/blas.h"
#include "gpu/group.h"

#define FACTOR_ORDER 64 /* ji_tuning_t.factor_base of GPUs; packed complex<double> take 33 KB */
#define FACTOR_DOWN (GROUP_THREADS / FACTOR_ORDER)

/* Element (i, j) of a packed triangle of order n, i >= j. */
static __device__ inline int factor_at(int n, int i, int j) { return j * n - j * (j - 1) / 2 + i - j; }

/* a / b, of which nothing overflows that need not: a product with 1 / b would. */
template <typename T> static __device__ inline T factor_over(T a, real_of<T> b) {
    if constexpr (number<T>::is_complex)
        return T{a.re / b, a.im / b};
    else
        return a / b;
}
static __device__ inline float factor_sqrt(float x) { return sqrtf(x); }
static __device__ inline double factor_sqrt(double x) { return sqrt(x); }

template <typename T>
static __global__ void __launch_bounds__(GROUP_THREADS) potrf_base_kernel(T *a, int64_t lda, int n, bool upper) {
    typedef real_of<T> R;
    __shared__ T l[FACTOR_ORDER * (FACTOR_ORDER + 1) / 2];
    const int across = (int)threadIdx.x % FACTOR_ORDER, down = (int)threadIdx.x / FACTOR_ORDER;
    for (int j = down; j < n; j += FACTOR_DOWN) { /* across along A's columns */
        const int row = upper ? j : across, column = upper ? across : j;
        if (across < n && row >= column) {
            const T value = conjugate_if(upper, a[across + j * lda]);
            l[factor_at(n, row, column)] = row == column ? make<T>(real_part(value)) : value;
        }
    }
    __syncthreads();
    int done = 0; /* the same for all threads */
    for (; done < n; ++done) {
        const R pivot = real_part(l[factor_at(n, done, done)]);
        if (!(pivot > 0)) /* also NaN */
            break;
        if (across > done && across < n) {
            const T factor = -factor_over(l[factor_at(n, across, done)], pivot);
            for (int k = done + 1 + down; k <= across; k += FACTOR_DOWN) {
                T *element = &l[factor_at(n, across, k)];
                *element = multiply_add(factor, conjugate(l[factor_at(n, k, done)]), *element);
            }
        }
        __syncthreads();
    }
    for (int j = down; j < n; j += FACTOR_DOWN) {
        const int row = upper ? j : across, column = upper ? across : j;
        if (across < n && row >= column) {
            T value = l[factor_at(n, row, column)];
            if (column < done) {
                const R root = factor_sqrt(real_part(l[factor_at(n, column, column)]));
                value = row == column ? make<T>(root) : factor_over(value, root);
            }
            if (row == column)
                value = make<T>(real_part(value));
            a[across + j * lda] = conjugate_if(upper, value);
        }
    }
}

template <typename T> static jstatus_t factor_run_base(const gpu_call_t *call, const ji_matmat_t *args) {
    if (args->n > FACTOR_ORDER)
        return gpu_services->fail(JSTATUS_INTERNAL_ERROR, "%s: a base of order %lld", call->device->name,
                                  (long long)args->n);
    GPU_LAUNCH((potrf_base_kernel<T>), 1, GROUP_THREADS, call->stream, (T *)const_cast<void *>(args->a), args->lda,
               (int)args->n, args->uplo == JBLAS_UPPER);
    return gpu_check_launch(call->device, "potrf_base");
}

jstatus_t gpu_potrf_base(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    GPU_BY_TYPE(args->head.type, return factor_run_base<T>(call, args));
}

template <typename T>
static __global__ void __launch_bounds__(GROUP_THREADS)
    pivot_info_kernel(const T *a, int64_t lda, int64_t n, int64_t *info) {
    __shared__ int64_t places[GROUP_THREADS];
    const int64_t place = group_find_on_diagonal(a, lda, n, places, [](T pivot) { return !(real_part(pivot) > 0); });
    if (threadIdx.x == 0)
        *info = place;
}

template <typename T> static jstatus_t factor_run_info(const gpu_call_t *call, const ji_matmat_t *args) {
    GPU_LAUNCH((pivot_info_kernel<T>), 1, GROUP_THREADS, call->stream, (const T *)args->a, args->lda, args->n,
               args->info);
    return gpu_check_launch(call->device, "pivot_info");
}

jstatus_t gpu_pivot_info(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    GPU_BY_TYPE(args->head.type, return factor_run_info<T>(call, args));
}
