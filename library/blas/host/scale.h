/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_HOST_SCALE_H
#define JALLOC_BLAS_HOST_SCALE_H

/* What is left of a product that reads none of its operands: y = beta y, C = beta C.
 *
 * BLAS says that A and B are not read where alpha or k is 0, and jblas takes NULL for them. Not
 * every CBLAS keeps to that: BLIS 0.9 ends the process at a NULL, MKL's symm multiplies a NaN by
 * zero. So where nothing is read no CBLAS is asked, and jblas scales by itself. A scalar of 0
 * writes zeros whatever was there, 1 touches nothing. */

#include "blas/host/host.h"

/* n elements that are |increment| apart, from the lowest address. scalar_type is head's, or its
 * real type. */
void ji_host_scale_vector(const ji_head_t *head, jdatatype_t scalar_type, const ji_scalar_t *scalar,
                          int64_t n, void *x, int64_t increment);
/* One triangle of order n, with its diagonal. */
void ji_host_scale_triangle(const ji_head_t *head, jdatatype_t scalar_type,
                            const ji_scalar_t *scalar, jblas_uplo_t uplo, int64_t n, void *a,
                            int64_t lda);
/* A whole matrix: the primitive ji_host_scale_matrix() of blas.h. */

/* Products of which nothing is left where they read none of their operands: then C or B is scaled,
 * and the answer is true. gemm; symm and hemm; syrk, syr2k and gemmt; trmm and trsm. */
bool ji_host_symm_is_scaling(const ji_matmat_t *args);
bool ji_host_syrk_is_scaling(const ji_matmat_t *args);
bool ji_host_trmm_is_scaling(const ji_matmat_t *args);
/* herk and her2k, whose alpha is of this type. If there is a product left to do, the imaginary
 * parts of C's diagonal, which BLAS does not read, are 0 now. */
bool ji_host_herk_is_scaling(const ji_matmat_t *args, jdatatype_t alpha_type);
void ji_host_clear_diagonal(const ji_matmat_t *args);
/* C = beta C, m x n. */
void ji_host_scale_result(const ji_matmat_t *args);

/* Of the smallest products the question costs as much as the answer. */
static inline bool ji_host_gemm_is_scaling(const ji_matmat_t *args) {
    if (args->k != 0 && !host_is_zero(args->head.type, &args->alpha))
        return false;

    ji_host_scale_result(args);
    return true;
}

#endif
