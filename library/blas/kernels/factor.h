/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_KERNELS_FACTOR_H
#define JALLOC_BLAS_KERNELS_FACTOR_H

/* The kernels of trtri and potrf, triangles that are small enough not to be divided, in place; and
 * of LU, a column of a narrow panel. */

#include "blas/kernels/kernels.h"

#define JI_FACTOR_ORDER 32 /* at most; of the widest type 16 KiB, in the first cache */

struct ji_factor_kernels {
    /* The 1-based index of the first zero on the diagonal, or 0. */
    int64_t (*find_zero)(int64_t n, const void *a, int64_t lda);
    /* Inverts a triangle that has none. */
    void (*invert)(bool upper, bool unit, int64_t n, void *a, int64_t lda);
    /* 0, or the 1-based column whose pivot is not positive; columns before it are done. */
    int64_t (*cholesky)(bool upper, int64_t n, void *a, int64_t lda);
    /* Column j of a panel of m rows, of which the columns before it are factored, loses what they
     * take from it: its first j elements are U's then. Gives the row, from 0 on and j or more, of
     * the largest of the others, the first of equals, or of a NaN. */
    int64_t (*lu_column)(int64_t m, int64_t j, void *panel, int64_t lda);
};

extern const ji_factor_kernels_t *const ji_factor_avx512[4];
extern const ji_factor_kernels_t *const ji_factor_avx2[4];
extern const ji_factor_kernels_t *const ji_factor_generic[4];

#endif
