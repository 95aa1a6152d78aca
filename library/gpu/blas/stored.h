/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_STORED_H
#define JALLOC_GPU_BLAS_STORED_H

/* How kernels of level 2 see matrices: one formula for all that BLAS knows to lay out.
 *
 *     element (i, j) is at a[origin + i row + j column + bend j (j - 1) / 2]
 *
 *     whole     row 1, column lda, bend 0
 *     a band    the same of lda - 1, since from one column to the next the array has a row of the
 *               matrix one place higher; the origin is the main diagonal's first element
 *     packed    columns that become longer by one (upper: column 1, bend 1) or shorter (lower:
 *               column n - 1, bend -1)
 *
 * Rectangles of such a matrix have the same form, and so has the matrix read from its last element
 * backwards (row -1), so that a kernel need not know what it is given. What is outside of the band
 * has no place: has() is to be asked first. */

#include "gpu/blas/vector.h"

template <typename T> struct stored_t {
    T *a;
    int64_t row, column, bend;
    /* Diagonals that there are beside the main one; of a rectangle they may be negative. */
    int64_t below, above;
    int64_t origin;

    __host__ __device__ int64_t place(int64_t i, int64_t j) const {
        return origin + i * row + j * column + bend * (j * (j - 1) / 2);
    }
    __device__ T *at(int64_t i, int64_t j) const { return a + place(i, j); }
    __device__ bool has(int64_t i, int64_t j) const { return i - j <= below && j - i <= above; }

    /* The rectangle whose first element is (i, j). */
    stored_t from(int64_t i, int64_t j) const {
        return stored_t{a, row, column + bend * j, bend, below - i + j, above + i - j, place(i, j)};
    }
    /* Of a square: element (i, j) is (n - 1 - i, n - 1 - j). */
    stored_t backwards(int64_t n) const {
        return stored_t{a, -row, -column - bend * (n - 2), bend, above, below, place(n - 1, n - 1)};
    }
};

template <typename T> static inline stored_t<T> stored_whole(const ji_matvec_t *args) {
    const int64_t all = args->m > args->n ? args->m : args->n;
    return stored_t<T>{(T *)const_cast<void *>(args->a), 1, args->lda, 0, all, all, 0};
}

template <typename T>
static inline stored_t<T> stored_band(const ji_matvec_t *args, int64_t below, int64_t above) {
    return stored_t<T>{(T *)const_cast<void *>(args->a), 1, args->lda - 1, 0, below, above, above};
}
template <typename T> static inline stored_t<T> stored_triangle_band(const ji_matvec_t *args) {
    const bool lower = args->uplo == JBLAS_LOWER;
    return stored_band<T>(args, lower ? args->k : 0, lower ? 0 : args->k);
}

template <typename T>
static inline stored_t<T> stored_packed(const void *ap, jblas_uplo_t uplo, int64_t n) {
    const bool lower = uplo == JBLAS_LOWER;
    return stored_t<T>{(T *)const_cast<void *>(ap), 1, lower ? n - 1 : 1, lower ? -1 : 1, n, n, 0};
}
template <typename T> static inline stored_t<T> stored_packed(const ji_matvec_t *args) {
    return stored_packed<T>(args->ap, args->uplo, args->n);
}

/* What one item of a kernel's is: pointers to elements 0. */
template <typename T> struct matvec_t {
    int64_t m, n;
    stored_t<T> a;
    const T *x;
    int64_t incx;
    T *y;
    int64_t incy;
    ji_scalar_t alpha, beta;
};

/* What a kernel is given. */
template <typename T> struct matvecs_t {
    matvec_t<T> each; /* but for the pointers */
    many_t<T> a;
    many_t<const T> x;
    many_t<T> y;
    int64_t count;

    __device__ matvec_t<T> of(int64_t item) const {
        matvec_t<T> v = each;
        v.a.a = a.of(item), v.x = x.of(item), v.y = y.of(item);
        return v;
    }
};

/* y = alpha op(A) x + beta y; level2.cu. */
template <typename T>
jstatus_t gpu_gemv_stored(const gpu_call_t *call, const matvecs_t<T> &v,
                          jblas_operation_t operation);

#endif
