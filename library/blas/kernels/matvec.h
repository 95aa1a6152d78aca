/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_KERNELS_MATVEC_H
#define JALLOC_BLAS_KERNELS_MATVEC_H

/* The kernels of level 2: products of a part of a matrix with a part of a vector, and updates of a
 * part of a matrix. host/matvec.c cuts the routines into such parts.
 *
 * Vectors are contiguous here; gather, scatter and the two that scale take them from and to any
 * increment. Matrices are given by columns; sizes and leading dimensions are counted in elements,
 * and any of them may be 0.
 *
 * What decides about the bits of a result is fixed, whatever the set: columns are added in fours, a
 * dot has the lanes of 64 bytes, diagonal blocks are of JI_MATVEC_BLOCK, and panels of
 * JI_MATVEC_PANEL(type). host/matvec.c has the loops that define them. */

#include "blas/kernels/kernels.h"
#include "blas/primitives/operation.h"

#define JI_MATVEC_BLOCK 64 /* largest n of a diagonal block */
/* Rows that a dot sums before alpha enters: a panel of the vector is at most 4 KiB. */
#define JI_MATVEC_PANEL(type) ((type) == JDATATYPE_F64_C ? 256 : 512)
/* The same beside the diagonal of a symmetric matrix, where threads divide it at such rows. */
#define JI_MATVEC_SYMMETRIC_PANEL 256

/* Which triangle of the block, and what of it. */
typedef struct ji_matvec_triangle {
    bool upper, transposed, conjugated, unit;
} ji_matvec_triangle_t;

/* Column `own` of a band or of a packed triangle: elements side by side of rows from `row` on, and
 * that of the diagonal apart. */
typedef struct ji_matvec_column {
    void *first;
    int64_t row, rows, own;
    void *diagonal;
} ji_matvec_column_t;

struct ji_matvec_kernels {
    /* to = x and y = from, where element i of x and y is at i * increment. */
    void (*gather)(int64_t n, const void *x, int64_t incx, void *to);
    void (*scatter)(int64_t n, const void *from, void *y, int64_t incy);
    /* to = alpha x, or alpha conj(x). */
    void (*scale)(int64_t n, const void *alpha, const void *x, int64_t incx, bool conjugate,
                  void *to);
    /* y = beta y; a beta of 0 writes zeros. */
    void (*scale_own)(int64_t n, const void *beta, void *y, int64_t incy);
    /* y += alpha sums. */
    void (*add)(int64_t n, const void *alpha, const void *sums, void *y, int64_t incy);

    /* y += A s, with n scalars s. */
    void (*columns)(int64_t m, int64_t n, const void *a, int64_t lda, const void *s, void *y);
    /* sums = A^T x, or A^H x. So many columns are read at once, side by side. */
    void (*dots)(int64_t m, int64_t n, bool conjugate, const void *a, int64_t lda, const void *x,
                 void *sums);
    int streams;
    /* y = alpha op(A) x + beta y of at most JI_MATVEC_BLOCK rows and columns; beta as of
     * scale_own. op is not JBLAS_CONJUGATE. */
    void (*small)(int64_t m, int64_t n, jblas_operation_t trans, const void *alpha, const void *a,
                  int64_t lda, const void *x, const void *beta, void *y);
    /* Both, of a part beside the diagonal of a symmetric matrix: A is read once. */
    void (*both)(int64_t m, int64_t n, bool conjugate, const void *a, int64_t lda, const void *s,
                 void *y, const void *x, void *sums);
    /* A += x s^T, and A += x s^T + y r^T. */
    void (*update)(int64_t m, int64_t n, const void *x, const void *s, void *a, int64_t lda);
    void (*update2)(int64_t m, int64_t n, const void *x, const void *s, const void *y,
                    const void *r, void *a, int64_t lda);

    /* One triangle of a diagonal block: A += x s^T, and with a y + y r^T. The diagonal becomes real
     * where it is Hermitian. */
    void (*update_triangle)(int64_t n, ji_symmetry_t symmetry, bool upper, const void *x,
                            const void *s, const void *y, const void *r, void *a, int64_t lda);

    /* Diagonal blocks: y = alpha A x + beta y, a beta of NULL is 1; x = op(A) x; x = op(A)^-1 x. */
    void (*symmetric)(int64_t n, ji_symmetry_t symmetry, bool upper, const void *alpha,
                      const void *a, int64_t lda, const void *x, const void *beta, void *y);
    void (*multiply)(int64_t n, const ji_matvec_triangle_t *triangle, const void *a, int64_t lda,
                     void *x);
    void (*solve)(int64_t n, const ji_matvec_triangle_t *triangle, const void *a, int64_t lda,
                  void *x);

    /* Of n columns in this order, with vectors of any increment: y += A s with its diagonal, and
     * sums = A^H x without it, of a symmetric or Hermitian matrix; x = op(A) x; x = op(A)^-1 x. */
    void (*symmetric_skew)(int64_t n, const ji_matvec_column_t *columns, const void *s,
                           const void *x, int64_t incx, void *y, int64_t incy, void *sums);
    void (*multiply_skew)(int64_t n, const ji_matvec_column_t *columns,
                          const ji_matvec_triangle_t *triangle, void *x, int64_t incx);
    void (*solve_skew)(int64_t n, const ji_matvec_column_t *columns,
                       const ji_matvec_triangle_t *triangle, void *x, int64_t incx);
};

#if defined(__x86_64__)
extern const ji_matvec_kernels_t *const ji_matvec_avx512[4], *const ji_matvec_avx2[4];
#endif
extern const ji_matvec_kernels_t *const ji_matvec_generic[4];

#endif
