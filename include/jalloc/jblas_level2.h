/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_LEVEL2_H
#define JALLOC_JBLAS_LEVEL2_H

/** @file
 * BLAS on a handle, level 2: matrix and vector. What holds for all routines stands in jblas.h. */

#include <stdint.h>

#include "jalloc/datatype.h"
#include "jalloc/export.h"
#include "jalloc/handle.h"
#include "jalloc/jblas_types.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name Level 2: matrix and vector
 * Without a plan: they need no workspace.
 * @{ */

/** y = alpha op(A) x + beta y. A: m x n, lda >= max(1, m). x has n elements and y m, or the other
 * way round where op transposes. m = 0 or n = 0: a no-op, as reference BLAS. */
JALLOC_API jstatus_t jblas_sgemv(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                 const float *alpha, const float *a, int64_t lda, const float *x,
                                 int64_t incx, const float *beta, float *y, int64_t incy);
JALLOC_API jstatus_t jblas_dgemv(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                 const double *alpha, const double *a, int64_t lda, const double *x,
                                 int64_t incx, const double *beta, double *y, int64_t incy);
JALLOC_API jstatus_t jblas_cgemv(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda,
                                 const jcomplex_f32_t *x, int64_t incx, const jcomplex_f32_t *beta,
                                 jcomplex_f32_t *y, int64_t incy);
JALLOC_API jstatus_t jblas_zgemv(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda,
                                 const jcomplex_f64_t *x, int64_t incx, const jcomplex_f64_t *beta,
                                 jcomplex_f64_t *y, int64_t incy);

/** A = alpha x y^T + A. A: m x n, lda >= max(1, m). */
JALLOC_API jstatus_t jblas_sger(jhandle_t *handle, int64_t m, int64_t n, const float *alpha,
                                const float *x, int64_t incx, const float *y, int64_t incy,
                                float *a, int64_t lda);
JALLOC_API jstatus_t jblas_dger(jhandle_t *handle, int64_t m, int64_t n, const double *alpha,
                                const double *x, int64_t incx, const double *y, int64_t incy,
                                double *a, int64_t lda);

/** A = alpha x y^T + A. A: m x n, lda >= max(1, m). */
JALLOC_API jstatus_t jblas_cgeru(jhandle_t *handle, int64_t m, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *x, int64_t incx,
                                 const jcomplex_f32_t *y, int64_t incy, jcomplex_f32_t *a,
                                 int64_t lda);
JALLOC_API jstatus_t jblas_zgeru(jhandle_t *handle, int64_t m, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *x, int64_t incx,
                                 const jcomplex_f64_t *y, int64_t incy, jcomplex_f64_t *a,
                                 int64_t lda);

/** A = alpha x y^H + A. A: m x n, lda >= max(1, m). */
JALLOC_API jstatus_t jblas_cgerc(jhandle_t *handle, int64_t m, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *x, int64_t incx,
                                 const jcomplex_f32_t *y, int64_t incy, jcomplex_f32_t *a,
                                 int64_t lda);
JALLOC_API jstatus_t jblas_zgerc(jhandle_t *handle, int64_t m, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *x, int64_t incx,
                                 const jcomplex_f64_t *y, int64_t incy, jcomplex_f64_t *a,
                                 int64_t lda);

/** y = alpha A x + beta y. A: symmetric of order n, one triangle read, lda >= max(1, n). */
JALLOC_API jstatus_t jblas_ssymv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const float *alpha, const float *a, int64_t lda, const float *x,
                                 int64_t incx, const float *beta, float *y, int64_t incy);
JALLOC_API jstatus_t jblas_dsymv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const double *alpha, const double *a, int64_t lda, const double *x,
                                 int64_t incx, const double *beta, double *y, int64_t incy);

/** y = alpha A x + beta y. A: Hermitian of order n, one triangle read, imaginary parts of the
 * diagonal taken as 0, lda >= max(1, n). */
JALLOC_API jstatus_t jblas_chemv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda,
                                 const jcomplex_f32_t *x, int64_t incx, const jcomplex_f32_t *beta,
                                 jcomplex_f32_t *y, int64_t incy);
JALLOC_API jstatus_t jblas_zhemv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda,
                                 const jcomplex_f64_t *x, int64_t incx, const jcomplex_f64_t *beta,
                                 jcomplex_f64_t *y, int64_t incy);

/** A = alpha x x^T + A. A: symmetric of order n, one triangle updated, lda >= max(1, n). */
JALLOC_API jstatus_t jblas_ssyr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const float *alpha,
                                const float *x, int64_t incx, float *a, int64_t lda);
JALLOC_API jstatus_t jblas_dsyr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                const double *alpha, const double *x, int64_t incx, double *a,
                                int64_t lda);

/** A = alpha x x^H + A with a real alpha. A: Hermitian of order n, one triangle updated, imaginary
 * parts of the diagonal set to 0 (alpha = 0: a no-op), lda >= max(1, n). */
JALLOC_API jstatus_t jblas_cher(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const float *alpha,
                                const jcomplex_f32_t *x, int64_t incx, jcomplex_f32_t *a,
                                int64_t lda);
JALLOC_API jstatus_t jblas_zher(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                const double *alpha, const jcomplex_f64_t *x, int64_t incx,
                                jcomplex_f64_t *a, int64_t lda);

/** A = alpha x y^T + alpha y x^T + A. A: symmetric of order n, one triangle updated, lda >= max(1,
 * n). */
JALLOC_API jstatus_t jblas_ssyr2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const float *alpha, const float *x, int64_t incx, const float *y,
                                 int64_t incy, float *a, int64_t lda);
JALLOC_API jstatus_t jblas_dsyr2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const double *alpha, const double *x, int64_t incx,
                                 const double *y, int64_t incy, double *a, int64_t lda);

/** A = alpha x y^H + conj(alpha) y x^H + A. A: Hermitian of order n, one triangle updated,
 * imaginary parts of the diagonal set to 0 (alpha = 0: a no-op), lda >= max(1, n). */
JALLOC_API jstatus_t jblas_cher2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *x, int64_t incx,
                                 const jcomplex_f32_t *y, int64_t incy, jcomplex_f32_t *a,
                                 int64_t lda);
JALLOC_API jstatus_t jblas_zher2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *x, int64_t incx,
                                 const jcomplex_f64_t *y, int64_t incy, jcomplex_f64_t *a,
                                 int64_t lda);

/** x = op(A) x. A: triangular of order n, lda >= max(1, n). */
JALLOC_API jstatus_t jblas_strmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const float *a, int64_t lda,
                                 float *x, int64_t incx);
JALLOC_API jstatus_t jblas_dtrmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const double *a, int64_t lda,
                                 double *x, int64_t incx);
JALLOC_API jstatus_t jblas_ctrmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const jcomplex_f32_t *a,
                                 int64_t lda, jcomplex_f32_t *x, int64_t incx);
JALLOC_API jstatus_t jblas_ztrmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const jcomplex_f64_t *a,
                                 int64_t lda, jcomplex_f64_t *x, int64_t incx);

/** Solves op(A) x = b; x holds b and is overwritten. A: triangular of order n, lda >= max(1, n).
 * Whether A is singular is not tested. */
JALLOC_API jstatus_t jblas_strsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const float *a, int64_t lda,
                                 float *x, int64_t incx);
JALLOC_API jstatus_t jblas_dtrsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const double *a, int64_t lda,
                                 double *x, int64_t incx);
JALLOC_API jstatus_t jblas_ctrsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const jcomplex_f32_t *a,
                                 int64_t lda, jcomplex_f32_t *x, int64_t incx);
JALLOC_API jstatus_t jblas_ztrsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const jcomplex_f64_t *a,
                                 int64_t lda, jcomplex_f64_t *x, int64_t incx);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
