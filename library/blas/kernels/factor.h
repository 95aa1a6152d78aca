/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_KERNELS_FACTOR_H
#define JALLOC_BLAS_KERNELS_FACTOR_H

/* The kernels of trtri and potrf, triangles that are small enough not to be divided, in place; of
 * LU, a column of a narrow panel; and of QR, a few columns. */

#include "blas/kernels/kernels.h"

#define JI_FACTOR_ORDER 32 /* at most; of the widest type 16 KiB, in the first cache */
#define JI_LU_COLUMNS 8    /* at which host/lu.c of libjlapack halves, and woven ones with it */
#define JI_REFLECT_COLUMNS 8

struct ji_factor_kernels {
    /* The 1-based index of the first zero on the diagonal, or 0. */
    int64_t (*find_zero)(int64_t n, const void *a, int64_t lda);
    /* Inverts a triangle that has none. */
    void (*invert)(bool upper, bool unit, int64_t n, void *a, int64_t lda);
    /* 0, or the 1-based column whose pivot is not positive; columns before it are done. */
    int64_t (*cholesky)(bool upper, int64_t n, void *a, int64_t lda);
    /* Column j of a panel of JI_LU_COLUMNS at most and of m rows, of which the columns before it
     * are factored, loses what they take from it: its first j elements are U's then. Gives the
     * row, from 0 on and j or more, of the largest of the others, the first of equals, or of a
     * NaN. */
    int64_t (*lu_column)(int64_t m, int64_t j, void *panel, int64_t lda);
    /* JI_REFLECT_COLUMNS columns of m rows, as many or more, become R and reflectors with their
     * taus, one after the other; gives how many, before one that is 0 below its diagonal, or whose
     * numbers are so small or large that squares lose them. Of those that became reflectors, their
     * square with its zeros and ones goes to `square`, and what V^H V has above its diagonal to
     * `products`, both with the leading dimension ld. */
    int64_t (*reflect)(int64_t m, void *panel, int64_t lda, void *taus, void *square,
                       void *products, int64_t ld);
};

extern const ji_factor_kernels_t *const ji_factor_avx512[4];
extern const ji_factor_kernels_t *const ji_factor_avx2[4];
extern const ji_factor_kernels_t *const ji_factor_generic[4];

#endif
