/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_BATCHED_EXTENSIONS_H
#define JALLOC_JBLAS_BATCHED_EXTENSIONS_H

/** @file
 * Batched forms of extensions and solvers. What holds for all of them, threads
 * included, stands in jblas_batched.h. */

#include <stdint.h>

#include "jalloc/datatype.h"
#include "jalloc/export.h"
#include "jalloc/handle.h"
#include "jalloc/jblas_types.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name Extensions and solvers, batched
 * @{ */

/** As jblas_dtrtri() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_strtri_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_diagonal_t diag, int64_t n, float *const a[],
                                          int64_t lda, int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jblas_strtri_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                  jblas_diagonal_t diag, int64_t n, float *a,
                                                  int64_t lda, int64_t stride_a, int64_t *info,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_dtrtri_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_diagonal_t diag, int64_t n, double *const a[],
                                          int64_t lda, int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jblas_dtrtri_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                  jblas_diagonal_t diag, int64_t n, double *a,
                                                  int64_t lda, int64_t stride_a, int64_t *info,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_ctrtri_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_diagonal_t diag, int64_t n,
                                          jcomplex_f32_t *const a[], int64_t lda, int64_t *info,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_ctrtri_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                  jblas_diagonal_t diag, int64_t n,
                                                  jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
                                                  int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jblas_ztrtri_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_diagonal_t diag, int64_t n,
                                          jcomplex_f64_t *const a[], int64_t lda, int64_t *info,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_ztrtri_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                  jblas_diagonal_t diag, int64_t n,
                                                  jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
                                                  int64_t *info, int64_t batch_count);

/** As jblas_dgeam() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sgeam_batched(jhandle_t *handle, jblas_operation_t transa,
                                         jblas_operation_t transb, int64_t m, int64_t n,
                                         const float *alpha, const float *const a[], int64_t lda,
                                         const float *beta, const float *const b[], int64_t ldb,
                                         float *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_sgeam_strided_batched(jhandle_t *handle, jblas_operation_t transa,
                                                 jblas_operation_t transb, int64_t m, int64_t n,
                                                 const float *alpha, const float *a, int64_t lda,
                                                 int64_t stride_a, const float *beta,
                                                 const float *b, int64_t ldb, int64_t stride_b,
                                                 float *c, int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dgeam_batched(jhandle_t *handle, jblas_operation_t transa,
                                         jblas_operation_t transb, int64_t m, int64_t n,
                                         const double *alpha, const double *const a[], int64_t lda,
                                         const double *beta, const double *const b[], int64_t ldb,
                                         double *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_dgeam_strided_batched(jhandle_t *handle, jblas_operation_t transa,
                                                 jblas_operation_t transb, int64_t m, int64_t n,
                                                 const double *alpha, const double *a, int64_t lda,
                                                 int64_t stride_a, const double *beta,
                                                 const double *b, int64_t ldb, int64_t stride_b,
                                                 double *c, int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_cgeam_batched(
    jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m, int64_t n,
    const jcomplex_f32_t *alpha, const jcomplex_f32_t *const a[], int64_t lda,
    const jcomplex_f32_t *beta, const jcomplex_f32_t *const b[], int64_t ldb,
    jcomplex_f32_t *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_cgeam_strided_batched(
    jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m, int64_t n,
    const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f32_t *beta, const jcomplex_f32_t *b, int64_t ldb, int64_t stride_b,
    jcomplex_f32_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgeam_batched(
    jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m, int64_t n,
    const jcomplex_f64_t *alpha, const jcomplex_f64_t *const a[], int64_t lda,
    const jcomplex_f64_t *beta, const jcomplex_f64_t *const b[], int64_t ldb,
    jcomplex_f64_t *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgeam_strided_batched(
    jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m, int64_t n,
    const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f64_t *beta, const jcomplex_f64_t *b, int64_t ldb, int64_t stride_b,
    jcomplex_f64_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);

/** As jblas_dpotrf() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_spotrf_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          float *const a[], int64_t lda, int64_t *info,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_spotrf_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  float *a, int64_t lda, int64_t stride_a,
                                                  int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jblas_dpotrf_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          double *const a[], int64_t lda, int64_t *info,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_dpotrf_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  double *a, int64_t lda, int64_t stride_a,
                                                  int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jblas_cpotrf_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          jcomplex_f32_t *const a[], int64_t lda, int64_t *info,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_cpotrf_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
                                                  int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jblas_zpotrf_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          jcomplex_f64_t *const a[], int64_t lda, int64_t *info,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_zpotrf_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
                                                  int64_t *info, int64_t batch_count);

/** As jblas_dpotrs() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_spotrs_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          int64_t nrhs, const float *const a[], int64_t lda,
                                          float *const b[], int64_t ldb, int64_t batch_count);
JALLOC_API jstatus_t jblas_spotrs_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  int64_t nrhs, const float *a, int64_t lda,
                                                  int64_t stride_a, float *b, int64_t ldb,
                                                  int64_t stride_b, int64_t batch_count);
JALLOC_API jstatus_t jblas_dpotrs_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          int64_t nrhs, const double *const a[], int64_t lda,
                                          double *const b[], int64_t ldb, int64_t batch_count);
JALLOC_API jstatus_t jblas_dpotrs_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  int64_t nrhs, const double *a, int64_t lda,
                                                  int64_t stride_a, double *b, int64_t ldb,
                                                  int64_t stride_b, int64_t batch_count);
JALLOC_API jstatus_t jblas_cpotrs_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          int64_t nrhs, const jcomplex_f32_t *const a[],
                                          int64_t lda, jcomplex_f32_t *const b[], int64_t ldb,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_cpotrs_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  int64_t nrhs, const jcomplex_f32_t *a,
                                                  int64_t lda, int64_t stride_a, jcomplex_f32_t *b,
                                                  int64_t ldb, int64_t stride_b,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_zpotrs_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          int64_t nrhs, const jcomplex_f64_t *const a[],
                                          int64_t lda, jcomplex_f64_t *const b[], int64_t ldb,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_zpotrs_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  int64_t nrhs, const jcomplex_f64_t *a,
                                                  int64_t lda, int64_t stride_a, jcomplex_f64_t *b,
                                                  int64_t ldb, int64_t stride_b,
                                                  int64_t batch_count);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
