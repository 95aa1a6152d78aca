/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_GEMM_H
#define JALLOC_BLAS_GEMM_H

/* The checks that gemm and its batched forms have in common. */

#include "blas/blas.h"

/* Enums, sizes and leading dimensions. */
static inline jstatus_t ji_gemm_check(jhandle_t *handle, const ji_matmat_t *args) {
    const bool a_plain = args->transa == JBLAS_NO_TRANSPOSE, b_plain = args->transb == JBLAS_NO_TRANSPOSE;
    JI_CHECK_OPERATION("transa", transa);
    JI_CHECK_OPERATION("transb", transb);
    JI_CHECK_SIZE("m", m);
    JI_CHECK_SIZE("n", n);
    JI_CHECK_SIZE("k", k);
    JI_CHECK_LD(lda, a_plain ? args->m : args->k, a_plain ? args->k : args->m);
    JI_CHECK_LD(ldb, b_plain ? args->k : args->n, b_plain ? args->n : args->k);
    JI_CHECK_LD(ldc, args->m, args->n);
    return JSTATUS_SUCCESS;
}

/* Pointers; takes the scalars. */
static inline jstatus_t ji_gemm_take(jhandle_t *handle, ji_matmat_t *args) {
    JI_TAKE_ALPHA_BETA(args->head.type);
    if (args->k > 0 && !ji_scalar_is(&args->alpha, args->head.type, 0)) {
        JI_CHECK_POINTER("a", args->a);
        JI_CHECK_POINTER("b", args->b);
    }
    JI_CHECK_POINTER("c", args->c);
    return JSTATUS_SUCCESS;
}

#endif
