/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_EXTENSIONS_H
#define JALLOC_JBLAS_EXTENSIONS_H

/** @file
 * BLAS on a handle, beyond BLAS: extensions. What holds for all routines
 * stands in jblas.h. */

#include <stdint.h>

#include "jalloc/datatype.h"
#include "jalloc/export.h"
#include "jalloc/handle.h"
#include "jalloc/jblas_types.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name Extensions
 * Beyond BLAS.
 * @{ */

/** C = alpha op(A) + beta op(B). C: m x n, op(A), op(B): m x n. alpha = 0: A is not read; beta = 0:
 * B is not read. C may be A (with lda = ldc) where A is not transposed, and B likewise; otherwise
 * overlap is not allowed. Workspace: none. */
JALLOC_API jstatus_t jblas_sgeam(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n, const float *alpha,
                                 const float *a, int64_t lda, const float *beta, const float *b,
                                 int64_t ldb, float *c, int64_t ldc);
JALLOC_API jstatus_t jblas_dgeam(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n,
                                 const double *alpha, const double *a, int64_t lda,
                                 const double *beta, const double *b, int64_t ldb, double *c,
                                 int64_t ldc);
JALLOC_API jstatus_t jblas_cgeam(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda,
                                 const jcomplex_f32_t *beta, const jcomplex_f32_t *b, int64_t ldb,
                                 jcomplex_f32_t *c, int64_t ldc);
JALLOC_API jstatus_t jblas_zgeam(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda,
                                 const jcomplex_f64_t *beta, const jcomplex_f64_t *b, int64_t ldb,
                                 jcomplex_f64_t *c, int64_t ldc);

/** C = diag(x) A (left) or A diag(x) (right): row i or column j of A times an element of x. A, C:
 * m x n. x: m (left) or n elements, incx apart, backwards if that is negative; 0: x is one element,
 * for all of them. C may be A (with lda = ldc). Workspace: none. */
JALLOC_API jstatus_t jblas_sdgmm(jhandle_t *handle, jblas_side_t side, int64_t m, int64_t n,
                                 const float *a, int64_t lda, const float *x, int64_t incx,
                                 float *c, int64_t ldc);
JALLOC_API jstatus_t jblas_ddgmm(jhandle_t *handle, jblas_side_t side, int64_t m, int64_t n,
                                 const double *a, int64_t lda, const double *x, int64_t incx,
                                 double *c, int64_t ldc);
JALLOC_API jstatus_t jblas_cdgmm(jhandle_t *handle, jblas_side_t side, int64_t m, int64_t n,
                                 const jcomplex_f32_t *a, int64_t lda, const jcomplex_f32_t *x,
                                 int64_t incx, jcomplex_f32_t *c, int64_t ldc);
JALLOC_API jstatus_t jblas_zdgmm(jhandle_t *handle, jblas_side_t side, int64_t m, int64_t n,
                                 const jcomplex_f64_t *a, int64_t lda, const jcomplex_f64_t *x,
                                 int64_t incx, jcomplex_f64_t *c, int64_t ldc);

/** B = alpha op(A). A: m x n; B: m x n, or n x m where op transposes; op may be JBLAS_CONJUGATE,
 * which does not. alpha = 0: B is zeros, A is not read; alpha = 1: elements are copied as they are,
 * infinities and NaN, too. A and B must not overlap; jblas_dimatcopy works in place. Workspace:
 * none. */
JALLOC_API jstatus_t jblas_somatcopy(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                     int64_t n, const float *alpha, const float *a, int64_t lda,
                                     float *b, int64_t ldb);
JALLOC_API jstatus_t jblas_domatcopy(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                     int64_t n, const double *alpha, const double *a, int64_t lda,
                                     double *b, int64_t ldb);
JALLOC_API jstatus_t jblas_comatcopy(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                     int64_t n, const jcomplex_f32_t *alpha,
                                     const jcomplex_f32_t *a, int64_t lda, jcomplex_f32_t *b,
                                     int64_t ldb);
JALLOC_API jstatus_t jblas_zomatcopy(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                     int64_t n, const jcomplex_f64_t *alpha,
                                     const jcomplex_f64_t *a, int64_t lda, jcomplex_f64_t *b,
                                     int64_t ldb);

/** A = alpha op(A) in place. A: m x n with lda; afterwards m x n, or n x m where op transposes,
 * with ldb. Places of A that the result has not keep what is in them. alpha and op as
 * jblas_domatcopy. Workspace: none without a transposition (on a GPU: with lda = ldb, too), and for
 * a square whose lda = ldb. Otherwise, with the same bits, rungs "copy", the bytes of A's elements,
 * and "in place", none: element by element, many times slower. */
JALLOC_API jstatus_t jblas_simatcopy(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                     int64_t n, const float *alpha, float *a, int64_t lda,
                                     int64_t ldb);
JALLOC_API jstatus_t jblas_dimatcopy(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                     int64_t n, const double *alpha, double *a, int64_t lda,
                                     int64_t ldb);
JALLOC_API jstatus_t jblas_cimatcopy(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                     int64_t n, const jcomplex_f32_t *alpha, jcomplex_f32_t *a,
                                     int64_t lda, int64_t ldb);
JALLOC_API jstatus_t jblas_zimatcopy(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                     int64_t n, const jcomplex_f64_t *alpha, jcomplex_f64_t *a,
                                     int64_t lda, int64_t ldb);

/** Packs a triangle: BP = that of A, column by column, of n (n + 1) / 2 elements. A: triangular of
 * order n, lda >= max(1, n); the other triangle is not read. They must not overlap. Workspace:
 * none. */
JALLOC_API jstatus_t jblas_strttp(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const float *a,
                                  int64_t lda, float *bp);
JALLOC_API jstatus_t jblas_dtrttp(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const double *a,
                                  int64_t lda, double *bp);
JALLOC_API jstatus_t jblas_ctrttp(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                  const jcomplex_f32_t *a, int64_t lda, jcomplex_f32_t *bp);
JALLOC_API jstatus_t jblas_ztrttp(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                  const jcomplex_f64_t *a, int64_t lda, jcomplex_f64_t *bp);

/** The way back: A's triangle = BP; the other one is not touched. Shapes as jblas_dtrttp.
 * Workspace: none. */
JALLOC_API jstatus_t jblas_stpttr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const float *bp,
                                  float *a, int64_t lda);
JALLOC_API jstatus_t jblas_dtpttr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const double *bp,
                                  double *a, int64_t lda);
JALLOC_API jstatus_t jblas_ctpttr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                  const jcomplex_f32_t *bp, jcomplex_f32_t *a, int64_t lda);
JALLOC_API jstatus_t jblas_ztpttr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                  const jcomplex_f64_t *bp, jcomplex_f64_t *a, int64_t lda);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
