/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_KERNELS_MOVE_H
#define JALLOC_BLAS_KERNELS_MOVE_H

/* The kernels of what moves matrices: columns that are scaled on their way, or multiplied element
 * by element, and transposition.
 *
 * A scalar of NULL is 1: elements are moved as they are, be they infinite or NaN. Otherwise an
 * element is alpha x, or alpha conj(x), as scal computes it (level1.h). */

#include "blas/kernels/kernels.h"

struct ji_move_kernels {
    /* y = alpha x; y may be x. */
    void (*scale)(int64_t n, const void *alpha, bool conjugate, const void *x, void *y);
    /* y = x d, element by element; y may be x. */
    void (*multiply)(int64_t n, const void *d, const void *x, void *y);
    /* B = alpha A^T, A m x n. They must not overlap. */
    void (*transpose)(int64_t m, int64_t n, const void *alpha, bool conjugate, const void *a,
                      int64_t lda, void *b, int64_t ldb);
    /* The same of two matrices that change places: A, m x n, becomes alpha B^T and B alpha A^T.
     * They must not overlap, or be the same square. */
    void (*exchange)(int64_t m, int64_t n, const void *alpha, bool conjugate, void *a, void *b,
                     int64_t ld);
};

extern const ji_move_kernels_t *const ji_move_avx512[4], *const ji_move_avx2[4],
                                                             *const ji_move_generic[4];

#endif
