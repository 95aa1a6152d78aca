/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_BATCHED_EXTENSIONS_H
#define JALLOC_JBLAS_BATCHED_EXTENSIONS_H

/** @file
 * Batched forms of extensions. What holds for all of them, threads
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

/** @name Extensions, batched
 * @{ */

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

/** As jblas_ddgmm() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sdgmm_batched(jhandle_t *handle, jblas_side_t side, int64_t m, int64_t n,
                                         const float *const a[], int64_t lda,
                                         const float *const x[], int64_t incx, float *const c[],
                                         int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_sdgmm_strided_batched(jhandle_t *handle, jblas_side_t side, int64_t m,
                                                 int64_t n, const float *a, int64_t lda,
                                                 int64_t stride_a, const float *x, int64_t incx,
                                                 int64_t stride_x, float *c, int64_t ldc,
                                                 int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_ddgmm_batched(jhandle_t *handle, jblas_side_t side, int64_t m, int64_t n,
                                         const double *const a[], int64_t lda,
                                         const double *const x[], int64_t incx, double *const c[],
                                         int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_ddgmm_strided_batched(jhandle_t *handle, jblas_side_t side, int64_t m,
                                                 int64_t n, const double *a, int64_t lda,
                                                 int64_t stride_a, const double *x, int64_t incx,
                                                 int64_t stride_x, double *c, int64_t ldc,
                                                 int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_cdgmm_batched(jhandle_t *handle, jblas_side_t side, int64_t m, int64_t n,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         jcomplex_f32_t *const c[], int64_t ldc,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_cdgmm_strided_batched(jhandle_t *handle, jblas_side_t side, int64_t m,
                                                 int64_t n, const jcomplex_f32_t *a, int64_t lda,
                                                 int64_t stride_a, const jcomplex_f32_t *x,
                                                 int64_t incx, int64_t stride_x, jcomplex_f32_t *c,
                                                 int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_zdgmm_batched(jhandle_t *handle, jblas_side_t side, int64_t m, int64_t n,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         jcomplex_f64_t *const c[], int64_t ldc,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_zdgmm_strided_batched(jhandle_t *handle, jblas_side_t side, int64_t m,
                                                 int64_t n, const jcomplex_f64_t *a, int64_t lda,
                                                 int64_t stride_a, const jcomplex_f64_t *x,
                                                 int64_t incx, int64_t stride_x, jcomplex_f64_t *c,
                                                 int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);

/** As jblas_domatcopy() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_somatcopy_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                             int64_t n, const float *alpha, const float *const a[],
                                             int64_t lda, float *const b[], int64_t ldb,
                                             int64_t batch_count);
JALLOC_API jstatus_t jblas_somatcopy_strided_batched(jhandle_t *handle, jblas_operation_t trans,
                                                     int64_t m, int64_t n, const float *alpha,
                                                     const float *a, int64_t lda, int64_t stride_a,
                                                     float *b, int64_t ldb, int64_t stride_b,
                                                     int64_t batch_count);
JALLOC_API jstatus_t jblas_domatcopy_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                             int64_t n, const double *alpha,
                                             const double *const a[], int64_t lda,
                                             double *const b[], int64_t ldb, int64_t batch_count);
JALLOC_API jstatus_t jblas_domatcopy_strided_batched(jhandle_t *handle, jblas_operation_t trans,
                                                     int64_t m, int64_t n, const double *alpha,
                                                     const double *a, int64_t lda, int64_t stride_a,
                                                     double *b, int64_t ldb, int64_t stride_b,
                                                     int64_t batch_count);
JALLOC_API jstatus_t jblas_comatcopy_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                             int64_t n, const jcomplex_f32_t *alpha,
                                             const jcomplex_f32_t *const a[], int64_t lda,
                                             jcomplex_f32_t *const b[], int64_t ldb,
                                             int64_t batch_count);
JALLOC_API jstatus_t jblas_comatcopy_strided_batched(
    jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n, const jcomplex_f32_t *alpha,
    const jcomplex_f32_t *a, int64_t lda, int64_t stride_a, jcomplex_f32_t *b, int64_t ldb,
    int64_t stride_b, int64_t batch_count);
JALLOC_API jstatus_t jblas_zomatcopy_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                             int64_t n, const jcomplex_f64_t *alpha,
                                             const jcomplex_f64_t *const a[], int64_t lda,
                                             jcomplex_f64_t *const b[], int64_t ldb,
                                             int64_t batch_count);
JALLOC_API jstatus_t jblas_zomatcopy_strided_batched(
    jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n, const jcomplex_f64_t *alpha,
    const jcomplex_f64_t *a, int64_t lda, int64_t stride_a, jcomplex_f64_t *b, int64_t ldb,
    int64_t stride_b, int64_t batch_count);

/** As jblas_dimatcopy() for each item; invalid size, invalid pointer: also of the batch. By strides
 * items must overlap neither before nor after the call. Where ldb is lda the square counts that
 * holds both; where it is not they must not interleave either. Workspace: room for one item for
 * each thread that has items. */
JALLOC_API jstatus_t jblas_simatcopy_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                             int64_t n, const float *alpha, float *const a[],
                                             int64_t lda, int64_t ldb, int64_t batch_count);
JALLOC_API jstatus_t jblas_simatcopy_strided_batched(jhandle_t *handle, jblas_operation_t trans,
                                                     int64_t m, int64_t n, const float *alpha,
                                                     float *a, int64_t lda, int64_t stride_a,
                                                     int64_t ldb, int64_t batch_count);
JALLOC_API jstatus_t jblas_dimatcopy_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                             int64_t n, const double *alpha, double *const a[],
                                             int64_t lda, int64_t ldb, int64_t batch_count);
JALLOC_API jstatus_t jblas_dimatcopy_strided_batched(jhandle_t *handle, jblas_operation_t trans,
                                                     int64_t m, int64_t n, const double *alpha,
                                                     double *a, int64_t lda, int64_t stride_a,
                                                     int64_t ldb, int64_t batch_count);
JALLOC_API jstatus_t jblas_cimatcopy_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                             int64_t n, const jcomplex_f32_t *alpha,
                                             jcomplex_f32_t *const a[], int64_t lda, int64_t ldb,
                                             int64_t batch_count);
JALLOC_API jstatus_t jblas_cimatcopy_strided_batched(jhandle_t *handle, jblas_operation_t trans,
                                                     int64_t m, int64_t n,
                                                     const jcomplex_f32_t *alpha, jcomplex_f32_t *a,
                                                     int64_t lda, int64_t stride_a, int64_t ldb,
                                                     int64_t batch_count);
JALLOC_API jstatus_t jblas_zimatcopy_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                             int64_t n, const jcomplex_f64_t *alpha,
                                             jcomplex_f64_t *const a[], int64_t lda, int64_t ldb,
                                             int64_t batch_count);
JALLOC_API jstatus_t jblas_zimatcopy_strided_batched(jhandle_t *handle, jblas_operation_t trans,
                                                     int64_t m, int64_t n,
                                                     const jcomplex_f64_t *alpha, jcomplex_f64_t *a,
                                                     int64_t lda, int64_t stride_a, int64_t ldb,
                                                     int64_t batch_count);

/** As jblas_dtrttp() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_strttp_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          const float *const a[], int64_t lda, float *const bp[],
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_strttp_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  const float *a, int64_t lda, int64_t stride_a,
                                                  float *bp, int64_t stride_bp,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_dtrttp_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          const double *const a[], int64_t lda, double *const bp[],
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_dtrttp_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  const double *a, int64_t lda, int64_t stride_a,
                                                  double *bp, int64_t stride_bp,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_ctrttp_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          const jcomplex_f32_t *const a[], int64_t lda,
                                          jcomplex_f32_t *const bp[], int64_t batch_count);
JALLOC_API jstatus_t jblas_ctrttp_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  const jcomplex_f32_t *a, int64_t lda,
                                                  int64_t stride_a, jcomplex_f32_t *bp,
                                                  int64_t stride_bp, int64_t batch_count);
JALLOC_API jstatus_t jblas_ztrttp_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          const jcomplex_f64_t *const a[], int64_t lda,
                                          jcomplex_f64_t *const bp[], int64_t batch_count);
JALLOC_API jstatus_t jblas_ztrttp_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  const jcomplex_f64_t *a, int64_t lda,
                                                  int64_t stride_a, jcomplex_f64_t *bp,
                                                  int64_t stride_bp, int64_t batch_count);

/** As jblas_dtpttr() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_stpttr_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          const float *const bp[], float *const a[], int64_t lda,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_stpttr_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  const float *bp, int64_t stride_bp, float *a,
                                                  int64_t lda, int64_t stride_a,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_dtpttr_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          const double *const bp[], double *const a[], int64_t lda,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_dtpttr_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  const double *bp, int64_t stride_bp, double *a,
                                                  int64_t lda, int64_t stride_a,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_ctpttr_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          const jcomplex_f32_t *const bp[],
                                          jcomplex_f32_t *const a[], int64_t lda,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_ctpttr_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  const jcomplex_f32_t *bp, int64_t stride_bp,
                                                  jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_ztpttr_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                          const jcomplex_f64_t *const bp[],
                                          jcomplex_f64_t *const a[], int64_t lda,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_ztpttr_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                  const jcomplex_f64_t *bp, int64_t stride_bp,
                                                  jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
                                                  int64_t batch_count);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
