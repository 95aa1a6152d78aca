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

/** The same of complex types, without conjugation. */
JALLOC_API jstatus_t jblas_csymv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda,
                                 const jcomplex_f32_t *x, int64_t incx, const jcomplex_f32_t *beta,
                                 jcomplex_f32_t *y, int64_t incy);
JALLOC_API jstatus_t jblas_zsymv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda,
                                 const jcomplex_f64_t *x, int64_t incx, const jcomplex_f64_t *beta,
                                 jcomplex_f64_t *y, int64_t incy);

/** y = alpha A x + beta y. A: skew-symmetric of order n, A^T = -A, one triangle read without its
 * diagonal, which adds nothing, not even of a NaN or an infinity of x; lda >= max(1, n). */
JALLOC_API jstatus_t jblas_sskewsymv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                     const float *alpha, const float *a, int64_t lda,
                                     const float *x, int64_t incx, const float *beta, float *y,
                                     int64_t incy);
JALLOC_API jstatus_t jblas_dskewsymv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                     const double *alpha, const double *a, int64_t lda,
                                     const double *x, int64_t incx, const double *beta, double *y,
                                     int64_t incy);

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

/** The same of complex types, without conjugation: alpha is complex. */
JALLOC_API jstatus_t jblas_csyr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                const jcomplex_f32_t *alpha, const jcomplex_f32_t *x, int64_t incx,
                                jcomplex_f32_t *a, int64_t lda);
JALLOC_API jstatus_t jblas_zsyr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                const jcomplex_f64_t *alpha, const jcomplex_f64_t *x, int64_t incx,
                                jcomplex_f64_t *a, int64_t lda);

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

/** The same of complex types, without conjugation. */
JALLOC_API jstatus_t jblas_csyr2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *x, int64_t incx,
                                 const jcomplex_f32_t *y, int64_t incy, jcomplex_f32_t *a,
                                 int64_t lda);
JALLOC_API jstatus_t jblas_zsyr2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *x, int64_t incx,
                                 const jcomplex_f64_t *y, int64_t incy, jcomplex_f64_t *a,
                                 int64_t lda);

/** A = -alpha x y^T + alpha y x^T + A. A: skew-symmetric of order n, one triangle updated without
 * its diagonal, which is not touched; lda >= max(1, n). */
JALLOC_API jstatus_t jblas_sskewsyr2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                     const float *alpha, const float *x, int64_t incx,
                                     const float *y, int64_t incy, float *a, int64_t lda);
JALLOC_API jstatus_t jblas_dskewsyr2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
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

/** @name Level 2: bands and packed triangles
 * Without a plan: they need no workspace. On the host one thread computes; on GPUs jalloc's kernels
 * do.
 *
 * A band is a matrix of which some diagonals are kept, kl below the main one and ku above it: as
 * rows of an array of kl + ku + 1 rows and the matrix's columns, with leading dimension lda.
 * Element (i, j), counted from 0, is a[ku + i - j + j * lda] where j - ku <= i <= j + kl and i is a
 * row of the matrix. What else the array has (corners, rows below) is not read. Of a
 * symmetric, Hermitian or triangular band of order n the main diagonal and k on the side of uplo
 * are kept: upper as with kl = 0, ku = k, lower as with kl = k, ku = 0. kl, ku and k may be larger
 * than the matrix.
 *
 * A packed triangle of order n is an array of n (n + 1) / 2 elements, column behind column without
 * gaps: element (i, j) is ap[i + j * (j + 1) / 2] where uplo is upper, and
 * ap[i + j * (2 * n - j - 1) / 2] where it is lower.
 * @{ */

/** y = alpha op(A) x + beta y. A: an m x n band of kl diagonals below the main one and ku above it,
 * lda >= kl + ku + 1. x has n elements and y m, or the other way round where op transposes. m = 0
 * or n = 0: a no-op, as reference BLAS. */
JALLOC_API jstatus_t jblas_sgbmv(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                 int64_t kl, int64_t ku, const float *alpha, const float *a,
                                 int64_t lda, const float *x, int64_t incx, const float *beta,
                                 float *y, int64_t incy);
JALLOC_API jstatus_t jblas_dgbmv(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                 int64_t kl, int64_t ku, const double *alpha, const double *a,
                                 int64_t lda, const double *x, int64_t incx, const double *beta,
                                 double *y, int64_t incy);
JALLOC_API jstatus_t jblas_cgbmv(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                 int64_t kl, int64_t ku, const jcomplex_f32_t *alpha,
                                 const jcomplex_f32_t *a, int64_t lda, const jcomplex_f32_t *x,
                                 int64_t incx, const jcomplex_f32_t *beta, jcomplex_f32_t *y,
                                 int64_t incy);
JALLOC_API jstatus_t jblas_zgbmv(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                 int64_t kl, int64_t ku, const jcomplex_f64_t *alpha,
                                 const jcomplex_f64_t *a, int64_t lda, const jcomplex_f64_t *x,
                                 int64_t incx, const jcomplex_f64_t *beta, jcomplex_f64_t *y,
                                 int64_t incy);

/** y = alpha A x + beta y. A: a symmetric band of order n with k diagonals beside the main one, one
 * triangle of it, lda >= k + 1. */
JALLOC_API jstatus_t jblas_ssbmv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t k,
                                 const float *alpha, const float *a, int64_t lda, const float *x,
                                 int64_t incx, const float *beta, float *y, int64_t incy);
JALLOC_API jstatus_t jblas_dsbmv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t k,
                                 const double *alpha, const double *a, int64_t lda, const double *x,
                                 int64_t incx, const double *beta, double *y, int64_t incy);

/** y = alpha A x + beta y. A: a Hermitian band of order n with k diagonals beside the main one, one
 * triangle of it, lda >= k + 1. Imaginary parts of the diagonal are not read. */
JALLOC_API jstatus_t jblas_chbmv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t k,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda,
                                 const jcomplex_f32_t *x, int64_t incx, const jcomplex_f32_t *beta,
                                 jcomplex_f32_t *y, int64_t incy);
JALLOC_API jstatus_t jblas_zhbmv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t k,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda,
                                 const jcomplex_f64_t *x, int64_t incx, const jcomplex_f64_t *beta,
                                 jcomplex_f64_t *y, int64_t incy);

/** y = alpha A x + beta y. A: symmetric of order n, one packed triangle. */
JALLOC_API jstatus_t jblas_sspmv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const float *alpha, const float *ap, const float *x, int64_t incx,
                                 const float *beta, float *y, int64_t incy);
JALLOC_API jstatus_t jblas_dspmv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const double *alpha, const double *ap, const double *x,
                                 int64_t incx, const double *beta, double *y, int64_t incy);

/** y = alpha A x + beta y. A: Hermitian of order n, one packed triangle. Imaginary parts of the
 * diagonal are not read. */
JALLOC_API jstatus_t jblas_chpmv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *ap,
                                 const jcomplex_f32_t *x, int64_t incx, const jcomplex_f32_t *beta,
                                 jcomplex_f32_t *y, int64_t incy);
JALLOC_API jstatus_t jblas_zhpmv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *ap,
                                 const jcomplex_f64_t *x, int64_t incx, const jcomplex_f64_t *beta,
                                 jcomplex_f64_t *y, int64_t incy);

/** A = alpha x x^T + A. A: symmetric of order n, one packed triangle. */
JALLOC_API jstatus_t jblas_sspr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const float *alpha,
                                const float *x, int64_t incx, float *ap);
JALLOC_API jstatus_t jblas_dspr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                const double *alpha, const double *x, int64_t incx, double *ap);

/** A = alpha x x^H + A with a real alpha. A: Hermitian of order n, one packed triangle; imaginary
 * parts of the diagonal set to 0 (alpha = 0: a no-op). */
JALLOC_API jstatus_t jblas_chpr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const float *alpha,
                                const jcomplex_f32_t *x, int64_t incx, jcomplex_f32_t *ap);
JALLOC_API jstatus_t jblas_zhpr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                const double *alpha, const jcomplex_f64_t *x, int64_t incx,
                                jcomplex_f64_t *ap);

/** A = alpha x y^T + alpha y x^T + A. A: symmetric of order n, one packed triangle. */
JALLOC_API jstatus_t jblas_sspr2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const float *alpha, const float *x, int64_t incx, const float *y,
                                 int64_t incy, float *ap);
JALLOC_API jstatus_t jblas_dspr2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const double *alpha, const double *x, int64_t incx,
                                 const double *y, int64_t incy, double *ap);

/** A = alpha x y^H + conj(alpha) y x^H + A. A: Hermitian of order n, one packed triangle; imaginary
 * parts of the diagonal set to 0 (alpha = 0: a no-op). */
JALLOC_API jstatus_t jblas_chpr2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *x, int64_t incx,
                                 const jcomplex_f32_t *y, int64_t incy, jcomplex_f32_t *ap);
JALLOC_API jstatus_t jblas_zhpr2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *x, int64_t incx,
                                 const jcomplex_f64_t *y, int64_t incy, jcomplex_f64_t *ap);

/** x = op(A) x. A: a triangular band of order n with k diagonals beside the main one, lda >= k + 1.
 * */
JALLOC_API jstatus_t jblas_stbmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, int64_t k, const float *a,
                                 int64_t lda, float *x, int64_t incx);
JALLOC_API jstatus_t jblas_dtbmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, int64_t k, const double *a,
                                 int64_t lda, double *x, int64_t incx);
JALLOC_API jstatus_t jblas_ctbmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, int64_t k,
                                 const jcomplex_f32_t *a, int64_t lda, jcomplex_f32_t *x,
                                 int64_t incx);
JALLOC_API jstatus_t jblas_ztbmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, int64_t k,
                                 const jcomplex_f64_t *a, int64_t lda, jcomplex_f64_t *x,
                                 int64_t incx);

/** Solves op(A) x = b; x holds b and is overwritten. A: a triangular band of order n with k
 * diagonals beside the main one, lda >= k + 1. Whether A is singular is not tested. */
JALLOC_API jstatus_t jblas_stbsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, int64_t k, const float *a,
                                 int64_t lda, float *x, int64_t incx);
JALLOC_API jstatus_t jblas_dtbsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, int64_t k, const double *a,
                                 int64_t lda, double *x, int64_t incx);
JALLOC_API jstatus_t jblas_ctbsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, int64_t k,
                                 const jcomplex_f32_t *a, int64_t lda, jcomplex_f32_t *x,
                                 int64_t incx);
JALLOC_API jstatus_t jblas_ztbsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, int64_t k,
                                 const jcomplex_f64_t *a, int64_t lda, jcomplex_f64_t *x,
                                 int64_t incx);

/** x = op(A) x. A: triangular of order n, packed. */
JALLOC_API jstatus_t jblas_stpmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const float *ap, float *x,
                                 int64_t incx);
JALLOC_API jstatus_t jblas_dtpmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const double *ap, double *x,
                                 int64_t incx);
JALLOC_API jstatus_t jblas_ctpmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const jcomplex_f32_t *ap,
                                 jcomplex_f32_t *x, int64_t incx);
JALLOC_API jstatus_t jblas_ztpmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const jcomplex_f64_t *ap,
                                 jcomplex_f64_t *x, int64_t incx);

/** Solves op(A) x = b; x holds b and is overwritten. A: triangular of order n, packed. Whether A is
 * singular is not tested. */
JALLOC_API jstatus_t jblas_stpsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const float *ap, float *x,
                                 int64_t incx);
JALLOC_API jstatus_t jblas_dtpsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const double *ap, double *x,
                                 int64_t incx);
JALLOC_API jstatus_t jblas_ctpsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const jcomplex_f32_t *ap,
                                 jcomplex_f32_t *x, int64_t incx);
JALLOC_API jstatus_t jblas_ztpsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const jcomplex_f64_t *ap,
                                 jcomplex_f64_t *x, int64_t incx);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
