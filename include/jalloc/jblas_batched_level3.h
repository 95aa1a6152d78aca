/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_BATCHED_LEVEL3_H
#define JALLOC_JBLAS_BATCHED_LEVEL3_H

/** @file
 * Batched forms of level 3. What holds for all of them, threads
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

/** @name Level 3, batched
 * @{ */

/** As jblas_dgemm() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sgemm_batched(jhandle_t *handle, jblas_operation_t transa,
                                         jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                         const float *alpha, const float *const a[], int64_t lda,
                                         const float *const b[], int64_t ldb, const float *beta,
                                         float *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_sgemm_strided_batched(jhandle_t *handle, jblas_operation_t transa,
                                                 jblas_operation_t transb, int64_t m, int64_t n,
                                                 int64_t k, const float *alpha, const float *a,
                                                 int64_t lda, int64_t stride_a, const float *b,
                                                 int64_t ldb, int64_t stride_b, const float *beta,
                                                 float *c, int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dgemm_batched(jhandle_t *handle, jblas_operation_t transa,
                                         jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                         const double *alpha, const double *const a[], int64_t lda,
                                         const double *const b[], int64_t ldb, const double *beta,
                                         double *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_dgemm_strided_batched(jhandle_t *handle, jblas_operation_t transa,
                                                 jblas_operation_t transb, int64_t m, int64_t n,
                                                 int64_t k, const double *alpha, const double *a,
                                                 int64_t lda, int64_t stride_a, const double *b,
                                                 int64_t ldb, int64_t stride_b, const double *beta,
                                                 double *c, int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_cgemm_batched(jhandle_t *handle, jblas_operation_t transa,
                                         jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                         const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         const jcomplex_f32_t *const b[], int64_t ldb,
                                         const jcomplex_f32_t *beta, jcomplex_f32_t *const c[],
                                         int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_cgemm_strided_batched(
    jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m, int64_t n,
    int64_t k, const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f32_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f32_t *beta,
    jcomplex_f32_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgemm_batched(jhandle_t *handle, jblas_operation_t transa,
                                         jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                         const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         const jcomplex_f64_t *const b[], int64_t ldb,
                                         const jcomplex_f64_t *beta, jcomplex_f64_t *const c[],
                                         int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgemm_strided_batched(
    jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m, int64_t n,
    int64_t k, const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f64_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f64_t *beta,
    jcomplex_f64_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);

/** As jblas_zgemm3m() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_cgemm3m_batched(jhandle_t *handle, jblas_operation_t transa,
                                           jblas_operation_t transb, int64_t m, int64_t n,
                                           int64_t k, const jcomplex_f32_t *alpha,
                                           const jcomplex_f32_t *const a[], int64_t lda,
                                           const jcomplex_f32_t *const b[], int64_t ldb,
                                           const jcomplex_f32_t *beta, jcomplex_f32_t *const c[],
                                           int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_cgemm3m_strided_batched(
    jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m, int64_t n,
    int64_t k, const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f32_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f32_t *beta,
    jcomplex_f32_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgemm3m_batched(jhandle_t *handle, jblas_operation_t transa,
                                           jblas_operation_t transb, int64_t m, int64_t n,
                                           int64_t k, const jcomplex_f64_t *alpha,
                                           const jcomplex_f64_t *const a[], int64_t lda,
                                           const jcomplex_f64_t *const b[], int64_t ldb,
                                           const jcomplex_f64_t *beta, jcomplex_f64_t *const c[],
                                           int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgemm3m_strided_batched(
    jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m, int64_t n,
    int64_t k, const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f64_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f64_t *beta,
    jcomplex_f64_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_hgemm_batched(jhandle_t *handle, jblas_operation_t transa,
                                         jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                         const float *alpha, const jfloat16_t *const a[],
                                         int64_t lda, const jfloat16_t *const b[], int64_t ldb,
                                         const float *beta, jfloat16_t *const c[], int64_t ldc,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_hgemm_strided_batched(jhandle_t *handle, jblas_operation_t transa,
                                                 jblas_operation_t transb, int64_t m, int64_t n,
                                                 int64_t k, const float *alpha, const jfloat16_t *a,
                                                 int64_t lda, int64_t stride_a, const jfloat16_t *b,
                                                 int64_t ldb, int64_t stride_b, const float *beta,
                                                 jfloat16_t *c, int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_bgemm_batched(jhandle_t *handle, jblas_operation_t transa,
                                         jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                         const float *alpha, const jbfloat16_t *const a[],
                                         int64_t lda, const jbfloat16_t *const b[], int64_t ldb,
                                         const float *beta, jbfloat16_t *const c[], int64_t ldc,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_bgemm_strided_batched(
    jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m, int64_t n,
    int64_t k, const float *alpha, const jbfloat16_t *a, int64_t lda, int64_t stride_a,
    const jbfloat16_t *b, int64_t ldb, int64_t stride_b, const float *beta, jbfloat16_t *c,
    int64_t ldc, int64_t stride_c, int64_t batch_count);

/** As jblas_dsymm() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_ssymm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         int64_t m, int64_t n, const float *alpha,
                                         const float *const a[], int64_t lda,
                                         const float *const b[], int64_t ldb, const float *beta,
                                         float *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_ssymm_strided_batched(jhandle_t *handle, jblas_side_t side,
                                                 jblas_uplo_t uplo, int64_t m, int64_t n,
                                                 const float *alpha, const float *a, int64_t lda,
                                                 int64_t stride_a, const float *b, int64_t ldb,
                                                 int64_t stride_b, const float *beta, float *c,
                                                 int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dsymm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         int64_t m, int64_t n, const double *alpha,
                                         const double *const a[], int64_t lda,
                                         const double *const b[], int64_t ldb, const double *beta,
                                         double *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_dsymm_strided_batched(jhandle_t *handle, jblas_side_t side,
                                                 jblas_uplo_t uplo, int64_t m, int64_t n,
                                                 const double *alpha, const double *a, int64_t lda,
                                                 int64_t stride_a, const double *b, int64_t ldb,
                                                 int64_t stride_b, const double *beta, double *c,
                                                 int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_csymm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         int64_t m, int64_t n, const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         const jcomplex_f32_t *const b[], int64_t ldb,
                                         const jcomplex_f32_t *beta, jcomplex_f32_t *const c[],
                                         int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_csymm_strided_batched(
    jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo, int64_t m, int64_t n,
    const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f32_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f32_t *beta,
    jcomplex_f32_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_zsymm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         int64_t m, int64_t n, const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         const jcomplex_f64_t *const b[], int64_t ldb,
                                         const jcomplex_f64_t *beta, jcomplex_f64_t *const c[],
                                         int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zsymm_strided_batched(
    jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo, int64_t m, int64_t n,
    const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f64_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f64_t *beta,
    jcomplex_f64_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);

/** As jblas_zhemm() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_chemm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         int64_t m, int64_t n, const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         const jcomplex_f32_t *const b[], int64_t ldb,
                                         const jcomplex_f32_t *beta, jcomplex_f32_t *const c[],
                                         int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_chemm_strided_batched(
    jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo, int64_t m, int64_t n,
    const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f32_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f32_t *beta,
    jcomplex_f32_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_zhemm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         int64_t m, int64_t n, const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         const jcomplex_f64_t *const b[], int64_t ldb,
                                         const jcomplex_f64_t *beta, jcomplex_f64_t *const c[],
                                         int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zhemm_strided_batched(
    jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo, int64_t m, int64_t n,
    const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f64_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f64_t *beta,
    jcomplex_f64_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);

/** As jblas_dskewsymm() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sskewsymm_batched(jhandle_t *handle, jblas_side_t side,
                                             jblas_uplo_t uplo, int64_t m, int64_t n,
                                             const float *alpha, const float *const a[],
                                             int64_t lda, const float *const b[], int64_t ldb,
                                             const float *beta, float *const c[], int64_t ldc,
                                             int64_t batch_count);
JALLOC_API jstatus_t jblas_sskewsymm_strided_batched(jhandle_t *handle, jblas_side_t side,
                                                     jblas_uplo_t uplo, int64_t m, int64_t n,
                                                     const float *alpha, const float *a,
                                                     int64_t lda, int64_t stride_a, const float *b,
                                                     int64_t ldb, int64_t stride_b,
                                                     const float *beta, float *c, int64_t ldc,
                                                     int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_dskewsymm_batched(jhandle_t *handle, jblas_side_t side,
                                             jblas_uplo_t uplo, int64_t m, int64_t n,
                                             const double *alpha, const double *const a[],
                                             int64_t lda, const double *const b[], int64_t ldb,
                                             const double *beta, double *const c[], int64_t ldc,
                                             int64_t batch_count);
JALLOC_API jstatus_t jblas_dskewsymm_strided_batched(jhandle_t *handle, jblas_side_t side,
                                                     jblas_uplo_t uplo, int64_t m, int64_t n,
                                                     const double *alpha, const double *a,
                                                     int64_t lda, int64_t stride_a, const double *b,
                                                     int64_t ldb, int64_t stride_b,
                                                     const double *beta, double *c, int64_t ldc,
                                                     int64_t stride_c, int64_t batch_count);

/** As jblas_dsyrk() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_ssyrk_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, int64_t n, int64_t k,
                                         const float *alpha, const float *const a[], int64_t lda,
                                         const float *beta, float *const c[], int64_t ldc,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ssyrk_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, int64_t n, int64_t k,
                                                 const float *alpha, const float *a, int64_t lda,
                                                 int64_t stride_a, const float *beta, float *c,
                                                 int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dsyrk_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, int64_t n, int64_t k,
                                         const double *alpha, const double *const a[], int64_t lda,
                                         const double *beta, double *const c[], int64_t ldc,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_dsyrk_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, int64_t n, int64_t k,
                                                 const double *alpha, const double *a, int64_t lda,
                                                 int64_t stride_a, const double *beta, double *c,
                                                 int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_csyrk_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, int64_t n, int64_t k,
                                         const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         const jcomplex_f32_t *beta, jcomplex_f32_t *const c[],
                                         int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_csyrk_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, int64_t n, int64_t k,
                                                 const jcomplex_f32_t *alpha,
                                                 const jcomplex_f32_t *a, int64_t lda,
                                                 int64_t stride_a, const jcomplex_f32_t *beta,
                                                 jcomplex_f32_t *c, int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_zsyrk_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, int64_t n, int64_t k,
                                         const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         const jcomplex_f64_t *beta, jcomplex_f64_t *const c[],
                                         int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zsyrk_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, int64_t n, int64_t k,
                                                 const jcomplex_f64_t *alpha,
                                                 const jcomplex_f64_t *a, int64_t lda,
                                                 int64_t stride_a, const jcomplex_f64_t *beta,
                                                 jcomplex_f64_t *c, int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);

/** As jblas_zherk() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_cherk_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, int64_t n, int64_t k,
                                         const float *alpha, const jcomplex_f32_t *const a[],
                                         int64_t lda, const float *beta, jcomplex_f32_t *const c[],
                                         int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_cherk_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, int64_t n, int64_t k,
                                                 const float *alpha, const jcomplex_f32_t *a,
                                                 int64_t lda, int64_t stride_a, const float *beta,
                                                 jcomplex_f32_t *c, int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_zherk_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, int64_t n, int64_t k,
                                         const double *alpha, const jcomplex_f64_t *const a[],
                                         int64_t lda, const double *beta, jcomplex_f64_t *const c[],
                                         int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zherk_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, int64_t n, int64_t k,
                                                 const double *alpha, const jcomplex_f64_t *a,
                                                 int64_t lda, int64_t stride_a, const double *beta,
                                                 jcomplex_f64_t *c, int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);

/** As jblas_dsyrkx() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_ssyrkx_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t trans, int64_t n, int64_t k,
                                          const float *alpha, const float *const a[], int64_t lda,
                                          const float *const b[], int64_t ldb, const float *beta,
                                          float *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_ssyrkx_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                  jblas_operation_t trans, int64_t n, int64_t k,
                                                  const float *alpha, const float *a, int64_t lda,
                                                  int64_t stride_a, const float *b, int64_t ldb,
                                                  int64_t stride_b, const float *beta, float *c,
                                                  int64_t ldc, int64_t stride_c,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_dsyrkx_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t trans, int64_t n, int64_t k,
                                          const double *alpha, const double *const a[], int64_t lda,
                                          const double *const b[], int64_t ldb, const double *beta,
                                          double *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_dsyrkx_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                  jblas_operation_t trans, int64_t n, int64_t k,
                                                  const double *alpha, const double *a, int64_t lda,
                                                  int64_t stride_a, const double *b, int64_t ldb,
                                                  int64_t stride_b, const double *beta, double *c,
                                                  int64_t ldc, int64_t stride_c,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_csyrkx_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t trans, int64_t n, int64_t k,
                                          const jcomplex_f32_t *alpha,
                                          const jcomplex_f32_t *const a[], int64_t lda,
                                          const jcomplex_f32_t *const b[], int64_t ldb,
                                          const jcomplex_f32_t *beta, jcomplex_f32_t *const c[],
                                          int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_csyrkx_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans, int64_t n, int64_t k,
    const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f32_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f32_t *beta,
    jcomplex_f32_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_zsyrkx_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t trans, int64_t n, int64_t k,
                                          const jcomplex_f64_t *alpha,
                                          const jcomplex_f64_t *const a[], int64_t lda,
                                          const jcomplex_f64_t *const b[], int64_t ldb,
                                          const jcomplex_f64_t *beta, jcomplex_f64_t *const c[],
                                          int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zsyrkx_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans, int64_t n, int64_t k,
    const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f64_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f64_t *beta,
    jcomplex_f64_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);

/** As jblas_zherkx() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_cherkx_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t trans, int64_t n, int64_t k,
                                          const jcomplex_f32_t *alpha,
                                          const jcomplex_f32_t *const a[], int64_t lda,
                                          const jcomplex_f32_t *const b[], int64_t ldb,
                                          const float *beta, jcomplex_f32_t *const c[], int64_t ldc,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_cherkx_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans, int64_t n, int64_t k,
    const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f32_t *b, int64_t ldb, int64_t stride_b, const float *beta, jcomplex_f32_t *c,
    int64_t ldc, int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_zherkx_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t trans, int64_t n, int64_t k,
                                          const jcomplex_f64_t *alpha,
                                          const jcomplex_f64_t *const a[], int64_t lda,
                                          const jcomplex_f64_t *const b[], int64_t ldb,
                                          const double *beta, jcomplex_f64_t *const c[],
                                          int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zherkx_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans, int64_t n, int64_t k,
    const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f64_t *b, int64_t ldb, int64_t stride_b, const double *beta, jcomplex_f64_t *c,
    int64_t ldc, int64_t stride_c, int64_t batch_count);

/** As jblas_dsyr2k() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_ssyr2k_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t trans, int64_t n, int64_t k,
                                          const float *alpha, const float *const a[], int64_t lda,
                                          const float *const b[], int64_t ldb, const float *beta,
                                          float *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_ssyr2k_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                  jblas_operation_t trans, int64_t n, int64_t k,
                                                  const float *alpha, const float *a, int64_t lda,
                                                  int64_t stride_a, const float *b, int64_t ldb,
                                                  int64_t stride_b, const float *beta, float *c,
                                                  int64_t ldc, int64_t stride_c,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_dsyr2k_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t trans, int64_t n, int64_t k,
                                          const double *alpha, const double *const a[], int64_t lda,
                                          const double *const b[], int64_t ldb, const double *beta,
                                          double *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_dsyr2k_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                  jblas_operation_t trans, int64_t n, int64_t k,
                                                  const double *alpha, const double *a, int64_t lda,
                                                  int64_t stride_a, const double *b, int64_t ldb,
                                                  int64_t stride_b, const double *beta, double *c,
                                                  int64_t ldc, int64_t stride_c,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_csyr2k_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t trans, int64_t n, int64_t k,
                                          const jcomplex_f32_t *alpha,
                                          const jcomplex_f32_t *const a[], int64_t lda,
                                          const jcomplex_f32_t *const b[], int64_t ldb,
                                          const jcomplex_f32_t *beta, jcomplex_f32_t *const c[],
                                          int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_csyr2k_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans, int64_t n, int64_t k,
    const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f32_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f32_t *beta,
    jcomplex_f32_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_zsyr2k_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t trans, int64_t n, int64_t k,
                                          const jcomplex_f64_t *alpha,
                                          const jcomplex_f64_t *const a[], int64_t lda,
                                          const jcomplex_f64_t *const b[], int64_t ldb,
                                          const jcomplex_f64_t *beta, jcomplex_f64_t *const c[],
                                          int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zsyr2k_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans, int64_t n, int64_t k,
    const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f64_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f64_t *beta,
    jcomplex_f64_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);

/** As jblas_zher2k() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_cher2k_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t trans, int64_t n, int64_t k,
                                          const jcomplex_f32_t *alpha,
                                          const jcomplex_f32_t *const a[], int64_t lda,
                                          const jcomplex_f32_t *const b[], int64_t ldb,
                                          const float *beta, jcomplex_f32_t *const c[], int64_t ldc,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_cher2k_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans, int64_t n, int64_t k,
    const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f32_t *b, int64_t ldb, int64_t stride_b, const float *beta, jcomplex_f32_t *c,
    int64_t ldc, int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_zher2k_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t trans, int64_t n, int64_t k,
                                          const jcomplex_f64_t *alpha,
                                          const jcomplex_f64_t *const a[], int64_t lda,
                                          const jcomplex_f64_t *const b[], int64_t ldb,
                                          const double *beta, jcomplex_f64_t *const c[],
                                          int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zher2k_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans, int64_t n, int64_t k,
    const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f64_t *b, int64_t ldb, int64_t stride_b, const double *beta, jcomplex_f64_t *c,
    int64_t ldc, int64_t stride_c, int64_t batch_count);

/** As jblas_dskewsyr2k() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sskewsyr2k_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                              jblas_operation_t trans, int64_t n, int64_t k,
                                              const float *alpha, const float *const a[],
                                              int64_t lda, const float *const b[], int64_t ldb,
                                              const float *beta, float *const c[], int64_t ldc,
                                              int64_t batch_count);
JALLOC_API jstatus_t jblas_sskewsyr2k_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                      jblas_operation_t trans, int64_t n, int64_t k,
                                                      const float *alpha, const float *a,
                                                      int64_t lda, int64_t stride_a, const float *b,
                                                      int64_t ldb, int64_t stride_b,
                                                      const float *beta, float *c, int64_t ldc,
                                                      int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_dskewsyr2k_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                              jblas_operation_t trans, int64_t n, int64_t k,
                                              const double *alpha, const double *const a[],
                                              int64_t lda, const double *const b[], int64_t ldb,
                                              const double *beta, double *const c[], int64_t ldc,
                                              int64_t batch_count);
JALLOC_API jstatus_t jblas_dskewsyr2k_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans, int64_t n, int64_t k,
    const double *alpha, const double *a, int64_t lda, int64_t stride_a, const double *b,
    int64_t ldb, int64_t stride_b, const double *beta, double *c, int64_t ldc, int64_t stride_c,
    int64_t batch_count);

/** As jblas_dgemmt() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sgemmt_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t transa, jblas_operation_t transb,
                                          int64_t n, int64_t k, const float *alpha,
                                          const float *const a[], int64_t lda,
                                          const float *const b[], int64_t ldb, const float *beta,
                                          float *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_sgemmt_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa, jblas_operation_t transb,
    int64_t n, int64_t k, const float *alpha, const float *a, int64_t lda, int64_t stride_a,
    const float *b, int64_t ldb, int64_t stride_b, const float *beta, float *c, int64_t ldc,
    int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_dgemmt_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t transa, jblas_operation_t transb,
                                          int64_t n, int64_t k, const double *alpha,
                                          const double *const a[], int64_t lda,
                                          const double *const b[], int64_t ldb, const double *beta,
                                          double *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_dgemmt_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa, jblas_operation_t transb,
    int64_t n, int64_t k, const double *alpha, const double *a, int64_t lda, int64_t stride_a,
    const double *b, int64_t ldb, int64_t stride_b, const double *beta, double *c, int64_t ldc,
    int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_cgemmt_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t transa, jblas_operation_t transb,
                                          int64_t n, int64_t k, const jcomplex_f32_t *alpha,
                                          const jcomplex_f32_t *const a[], int64_t lda,
                                          const jcomplex_f32_t *const b[], int64_t ldb,
                                          const jcomplex_f32_t *beta, jcomplex_f32_t *const c[],
                                          int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_cgemmt_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa, jblas_operation_t transb,
    int64_t n, int64_t k, const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda,
    int64_t stride_a, const jcomplex_f32_t *b, int64_t ldb, int64_t stride_b,
    const jcomplex_f32_t *beta, jcomplex_f32_t *c, int64_t ldc, int64_t stride_c,
    int64_t batch_count);
JALLOC_API jstatus_t jblas_zgemmt_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                          jblas_operation_t transa, jblas_operation_t transb,
                                          int64_t n, int64_t k, const jcomplex_f64_t *alpha,
                                          const jcomplex_f64_t *const a[], int64_t lda,
                                          const jcomplex_f64_t *const b[], int64_t ldb,
                                          const jcomplex_f64_t *beta, jcomplex_f64_t *const c[],
                                          int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgemmt_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa, jblas_operation_t transb,
    int64_t n, int64_t k, const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda,
    int64_t stride_a, const jcomplex_f64_t *b, int64_t ldb, int64_t stride_b,
    const jcomplex_f64_t *beta, jcomplex_f64_t *c, int64_t ldc, int64_t stride_c,
    int64_t batch_count);

/** As jblas_dgemmtr() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sgemmtr_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                           jblas_operation_t transa, jblas_operation_t transb,
                                           int64_t n, int64_t k, const float *alpha,
                                           const float *const a[], int64_t lda,
                                           const float *const b[], int64_t ldb, const float *beta,
                                           float *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_sgemmtr_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa, jblas_operation_t transb,
    int64_t n, int64_t k, const float *alpha, const float *a, int64_t lda, int64_t stride_a,
    const float *b, int64_t ldb, int64_t stride_b, const float *beta, float *c, int64_t ldc,
    int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_dgemmtr_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                           jblas_operation_t transa, jblas_operation_t transb,
                                           int64_t n, int64_t k, const double *alpha,
                                           const double *const a[], int64_t lda,
                                           const double *const b[], int64_t ldb, const double *beta,
                                           double *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_dgemmtr_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa, jblas_operation_t transb,
    int64_t n, int64_t k, const double *alpha, const double *a, int64_t lda, int64_t stride_a,
    const double *b, int64_t ldb, int64_t stride_b, const double *beta, double *c, int64_t ldc,
    int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_cgemmtr_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                           jblas_operation_t transa, jblas_operation_t transb,
                                           int64_t n, int64_t k, const jcomplex_f32_t *alpha,
                                           const jcomplex_f32_t *const a[], int64_t lda,
                                           const jcomplex_f32_t *const b[], int64_t ldb,
                                           const jcomplex_f32_t *beta, jcomplex_f32_t *const c[],
                                           int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_cgemmtr_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa, jblas_operation_t transb,
    int64_t n, int64_t k, const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda,
    int64_t stride_a, const jcomplex_f32_t *b, int64_t ldb, int64_t stride_b,
    const jcomplex_f32_t *beta, jcomplex_f32_t *c, int64_t ldc, int64_t stride_c,
    int64_t batch_count);
JALLOC_API jstatus_t jblas_zgemmtr_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                           jblas_operation_t transa, jblas_operation_t transb,
                                           int64_t n, int64_t k, const jcomplex_f64_t *alpha,
                                           const jcomplex_f64_t *const a[], int64_t lda,
                                           const jcomplex_f64_t *const b[], int64_t ldb,
                                           const jcomplex_f64_t *beta, jcomplex_f64_t *const c[],
                                           int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgemmtr_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa, jblas_operation_t transb,
    int64_t n, int64_t k, const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda,
    int64_t stride_a, const jcomplex_f64_t *b, int64_t ldb, int64_t stride_b,
    const jcomplex_f64_t *beta, jcomplex_f64_t *c, int64_t ldc, int64_t stride_c,
    int64_t batch_count);

/** As jblas_dtrmm() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_strmm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                         int64_t n, const float *alpha, const float *const a[],
                                         int64_t lda, float *const b[], int64_t ldb,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_strmm_strided_batched(jhandle_t *handle, jblas_side_t side,
                                                 jblas_uplo_t uplo, jblas_operation_t trans,
                                                 jblas_diagonal_t diag, int64_t m, int64_t n,
                                                 const float *alpha, const float *a, int64_t lda,
                                                 int64_t stride_a, float *b, int64_t ldb,
                                                 int64_t stride_b, int64_t batch_count);
JALLOC_API jstatus_t jblas_dtrmm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                         int64_t n, const double *alpha, const double *const a[],
                                         int64_t lda, double *const b[], int64_t ldb,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_dtrmm_strided_batched(jhandle_t *handle, jblas_side_t side,
                                                 jblas_uplo_t uplo, jblas_operation_t trans,
                                                 jblas_diagonal_t diag, int64_t m, int64_t n,
                                                 const double *alpha, const double *a, int64_t lda,
                                                 int64_t stride_a, double *b, int64_t ldb,
                                                 int64_t stride_b, int64_t batch_count);
JALLOC_API jstatus_t jblas_ctrmm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                         int64_t n, const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         jcomplex_f32_t *const b[], int64_t ldb,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ctrmm_strided_batched(jhandle_t *handle, jblas_side_t side,
                                                 jblas_uplo_t uplo, jblas_operation_t trans,
                                                 jblas_diagonal_t diag, int64_t m, int64_t n,
                                                 const jcomplex_f32_t *alpha,
                                                 const jcomplex_f32_t *a, int64_t lda,
                                                 int64_t stride_a, jcomplex_f32_t *b, int64_t ldb,
                                                 int64_t stride_b, int64_t batch_count);
JALLOC_API jstatus_t jblas_ztrmm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                         int64_t n, const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         jcomplex_f64_t *const b[], int64_t ldb,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ztrmm_strided_batched(jhandle_t *handle, jblas_side_t side,
                                                 jblas_uplo_t uplo, jblas_operation_t trans,
                                                 jblas_diagonal_t diag, int64_t m, int64_t n,
                                                 const jcomplex_f64_t *alpha,
                                                 const jcomplex_f64_t *a, int64_t lda,
                                                 int64_t stride_a, jcomplex_f64_t *b, int64_t ldb,
                                                 int64_t stride_b, int64_t batch_count);

/** As jblas_dtrsm() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_strsm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                         int64_t n, const float *alpha, const float *const a[],
                                         int64_t lda, float *const b[], int64_t ldb,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_strsm_strided_batched(jhandle_t *handle, jblas_side_t side,
                                                 jblas_uplo_t uplo, jblas_operation_t trans,
                                                 jblas_diagonal_t diag, int64_t m, int64_t n,
                                                 const float *alpha, const float *a, int64_t lda,
                                                 int64_t stride_a, float *b, int64_t ldb,
                                                 int64_t stride_b, int64_t batch_count);
JALLOC_API jstatus_t jblas_dtrsm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                         int64_t n, const double *alpha, const double *const a[],
                                         int64_t lda, double *const b[], int64_t ldb,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_dtrsm_strided_batched(jhandle_t *handle, jblas_side_t side,
                                                 jblas_uplo_t uplo, jblas_operation_t trans,
                                                 jblas_diagonal_t diag, int64_t m, int64_t n,
                                                 const double *alpha, const double *a, int64_t lda,
                                                 int64_t stride_a, double *b, int64_t ldb,
                                                 int64_t stride_b, int64_t batch_count);
JALLOC_API jstatus_t jblas_ctrsm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                         int64_t n, const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         jcomplex_f32_t *const b[], int64_t ldb,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ctrsm_strided_batched(jhandle_t *handle, jblas_side_t side,
                                                 jblas_uplo_t uplo, jblas_operation_t trans,
                                                 jblas_diagonal_t diag, int64_t m, int64_t n,
                                                 const jcomplex_f32_t *alpha,
                                                 const jcomplex_f32_t *a, int64_t lda,
                                                 int64_t stride_a, jcomplex_f32_t *b, int64_t ldb,
                                                 int64_t stride_b, int64_t batch_count);
JALLOC_API jstatus_t jblas_ztrsm_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                         int64_t n, const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         jcomplex_f64_t *const b[], int64_t ldb,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ztrsm_strided_batched(jhandle_t *handle, jblas_side_t side,
                                                 jblas_uplo_t uplo, jblas_operation_t trans,
                                                 jblas_diagonal_t diag, int64_t m, int64_t n,
                                                 const jcomplex_f64_t *alpha,
                                                 const jcomplex_f64_t *a, int64_t lda,
                                                 int64_t stride_a, jcomplex_f64_t *b, int64_t ldb,
                                                 int64_t stride_b, int64_t batch_count);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
