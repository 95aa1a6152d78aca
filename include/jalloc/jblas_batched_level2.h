/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_BATCHED_LEVEL2_H
#define JALLOC_JBLAS_BATCHED_LEVEL2_H

/** @file
 * Batched forms of level 2. What holds for all of them, threads
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

/** @name Level 2, batched
 * @{ */

/** As jblas_dgemv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sgemv_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                         int64_t n, const float *alpha, const float *const a[],
                                         int64_t lda, const float *const x[], int64_t incx,
                                         const float *beta, float *const y[], int64_t incy,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_sgemv_strided_batched(jhandle_t *handle, jblas_operation_t trans,
                                                 int64_t m, int64_t n, const float *alpha,
                                                 const float *a, int64_t lda, int64_t stride_a,
                                                 const float *x, int64_t incx, int64_t stride_x,
                                                 const float *beta, float *y, int64_t incy,
                                                 int64_t stride_y, int64_t batch_count);
JALLOC_API jstatus_t jblas_dgemv_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                         int64_t n, const double *alpha, const double *const a[],
                                         int64_t lda, const double *const x[], int64_t incx,
                                         const double *beta, double *const y[], int64_t incy,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_dgemv_strided_batched(jhandle_t *handle, jblas_operation_t trans,
                                                 int64_t m, int64_t n, const double *alpha,
                                                 const double *a, int64_t lda, int64_t stride_a,
                                                 const double *x, int64_t incx, int64_t stride_x,
                                                 const double *beta, double *y, int64_t incy,
                                                 int64_t stride_y, int64_t batch_count);
JALLOC_API jstatus_t jblas_cgemv_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                         int64_t n, const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         const jcomplex_f32_t *beta, jcomplex_f32_t *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_cgemv_strided_batched(
    jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n, const jcomplex_f32_t *alpha,
    const jcomplex_f32_t *a, int64_t lda, int64_t stride_a, const jcomplex_f32_t *x, int64_t incx,
    int64_t stride_x, const jcomplex_f32_t *beta, jcomplex_f32_t *y, int64_t incy, int64_t stride_y,
    int64_t batch_count);
JALLOC_API jstatus_t jblas_zgemv_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                         int64_t n, const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         const jcomplex_f64_t *beta, jcomplex_f64_t *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgemv_strided_batched(
    jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n, const jcomplex_f64_t *alpha,
    const jcomplex_f64_t *a, int64_t lda, int64_t stride_a, const jcomplex_f64_t *x, int64_t incx,
    int64_t stride_x, const jcomplex_f64_t *beta, jcomplex_f64_t *y, int64_t incy, int64_t stride_y,
    int64_t batch_count);

/** As jblas_dger() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sger_batched(jhandle_t *handle, int64_t m, int64_t n, const float *alpha,
                                        const float *const x[], int64_t incx,
                                        const float *const y[], int64_t incy, float *const a[],
                                        int64_t lda, int64_t batch_count);
JALLOC_API jstatus_t jblas_sger_strided_batched(jhandle_t *handle, int64_t m, int64_t n,
                                                const float *alpha, const float *x, int64_t incx,
                                                int64_t stride_x, const float *y, int64_t incy,
                                                int64_t stride_y, float *a, int64_t lda,
                                                int64_t stride_a, int64_t batch_count);
JALLOC_API jstatus_t jblas_dger_batched(jhandle_t *handle, int64_t m, int64_t n,
                                        const double *alpha, const double *const x[], int64_t incx,
                                        const double *const y[], int64_t incy, double *const a[],
                                        int64_t lda, int64_t batch_count);
JALLOC_API jstatus_t jblas_dger_strided_batched(jhandle_t *handle, int64_t m, int64_t n,
                                                const double *alpha, const double *x, int64_t incx,
                                                int64_t stride_x, const double *y, int64_t incy,
                                                int64_t stride_y, double *a, int64_t lda,
                                                int64_t stride_a, int64_t batch_count);

/** As jblas_zgeru() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_cgeru_batched(jhandle_t *handle, int64_t m, int64_t n,
                                         const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         const jcomplex_f32_t *const y[], int64_t incy,
                                         jcomplex_f32_t *const a[], int64_t lda,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_cgeru_strided_batched(
    jhandle_t *handle, int64_t m, int64_t n, const jcomplex_f32_t *alpha, const jcomplex_f32_t *x,
    int64_t incx, int64_t stride_x, const jcomplex_f32_t *y, int64_t incy, int64_t stride_y,
    jcomplex_f32_t *a, int64_t lda, int64_t stride_a, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgeru_batched(jhandle_t *handle, int64_t m, int64_t n,
                                         const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         const jcomplex_f64_t *const y[], int64_t incy,
                                         jcomplex_f64_t *const a[], int64_t lda,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_zgeru_strided_batched(
    jhandle_t *handle, int64_t m, int64_t n, const jcomplex_f64_t *alpha, const jcomplex_f64_t *x,
    int64_t incx, int64_t stride_x, const jcomplex_f64_t *y, int64_t incy, int64_t stride_y,
    jcomplex_f64_t *a, int64_t lda, int64_t stride_a, int64_t batch_count);

/** As jblas_zgerc() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_cgerc_batched(jhandle_t *handle, int64_t m, int64_t n,
                                         const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         const jcomplex_f32_t *const y[], int64_t incy,
                                         jcomplex_f32_t *const a[], int64_t lda,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_cgerc_strided_batched(
    jhandle_t *handle, int64_t m, int64_t n, const jcomplex_f32_t *alpha, const jcomplex_f32_t *x,
    int64_t incx, int64_t stride_x, const jcomplex_f32_t *y, int64_t incy, int64_t stride_y,
    jcomplex_f32_t *a, int64_t lda, int64_t stride_a, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgerc_batched(jhandle_t *handle, int64_t m, int64_t n,
                                         const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         const jcomplex_f64_t *const y[], int64_t incy,
                                         jcomplex_f64_t *const a[], int64_t lda,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_zgerc_strided_batched(
    jhandle_t *handle, int64_t m, int64_t n, const jcomplex_f64_t *alpha, const jcomplex_f64_t *x,
    int64_t incx, int64_t stride_x, const jcomplex_f64_t *y, int64_t incy, int64_t stride_y,
    jcomplex_f64_t *a, int64_t lda, int64_t stride_a, int64_t batch_count);

/** As jblas_dsymv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_ssymv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const float *alpha, const float *const a[], int64_t lda,
                                         const float *const x[], int64_t incx, const float *beta,
                                         float *const y[], int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_ssymv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 const float *alpha, const float *a, int64_t lda,
                                                 int64_t stride_a, const float *x, int64_t incx,
                                                 int64_t stride_x, const float *beta, float *y,
                                                 int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dsymv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const double *alpha, const double *const a[], int64_t lda,
                                         const double *const x[], int64_t incx, const double *beta,
                                         double *const y[], int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_dsymv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 const double *alpha, const double *a, int64_t lda,
                                                 int64_t stride_a, const double *x, int64_t incx,
                                                 int64_t stride_x, const double *beta, double *y,
                                                 int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);

/** As jblas_zsymv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_csymv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         const jcomplex_f32_t *beta, jcomplex_f32_t *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_csymv_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const jcomplex_f32_t *alpha,
    const jcomplex_f32_t *a, int64_t lda, int64_t stride_a, const jcomplex_f32_t *x, int64_t incx,
    int64_t stride_x, const jcomplex_f32_t *beta, jcomplex_f32_t *y, int64_t incy, int64_t stride_y,
    int64_t batch_count);
JALLOC_API jstatus_t jblas_zsymv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         const jcomplex_f64_t *beta, jcomplex_f64_t *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_zsymv_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const jcomplex_f64_t *alpha,
    const jcomplex_f64_t *a, int64_t lda, int64_t stride_a, const jcomplex_f64_t *x, int64_t incx,
    int64_t stride_x, const jcomplex_f64_t *beta, jcomplex_f64_t *y, int64_t incy, int64_t stride_y,
    int64_t batch_count);

/** As jblas_zhemv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_chemv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         const jcomplex_f32_t *beta, jcomplex_f32_t *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_chemv_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const jcomplex_f32_t *alpha,
    const jcomplex_f32_t *a, int64_t lda, int64_t stride_a, const jcomplex_f32_t *x, int64_t incx,
    int64_t stride_x, const jcomplex_f32_t *beta, jcomplex_f32_t *y, int64_t incy, int64_t stride_y,
    int64_t batch_count);
JALLOC_API jstatus_t jblas_zhemv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         const jcomplex_f64_t *beta, jcomplex_f64_t *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_zhemv_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const jcomplex_f64_t *alpha,
    const jcomplex_f64_t *a, int64_t lda, int64_t stride_a, const jcomplex_f64_t *x, int64_t incx,
    int64_t stride_x, const jcomplex_f64_t *beta, jcomplex_f64_t *y, int64_t incy, int64_t stride_y,
    int64_t batch_count);

/** As jblas_dskewsymv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sskewsymv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                             const float *alpha, const float *const a[],
                                             int64_t lda, const float *const x[], int64_t incx,
                                             const float *beta, float *const y[], int64_t incy,
                                             int64_t batch_count);
JALLOC_API jstatus_t jblas_sskewsymv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                     int64_t n, const float *alpha, const float *a,
                                                     int64_t lda, int64_t stride_a, const float *x,
                                                     int64_t incx, int64_t stride_x,
                                                     const float *beta, float *y, int64_t incy,
                                                     int64_t stride_y, int64_t batch_count);
JALLOC_API jstatus_t jblas_dskewsymv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                             const double *alpha, const double *const a[],
                                             int64_t lda, const double *const x[], int64_t incx,
                                             const double *beta, double *const y[], int64_t incy,
                                             int64_t batch_count);
JALLOC_API jstatus_t jblas_dskewsymv_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const double *alpha, const double *a,
    int64_t lda, int64_t stride_a, const double *x, int64_t incx, int64_t stride_x,
    const double *beta, double *y, int64_t incy, int64_t stride_y, int64_t batch_count);

/** As jblas_dsyr() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_ssyr_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                        const float *alpha, const float *const x[], int64_t incx,
                                        float *const a[], int64_t lda, int64_t batch_count);
JALLOC_API jstatus_t jblas_ssyr_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                const float *alpha, const float *x, int64_t incx,
                                                int64_t stride_x, float *a, int64_t lda,
                                                int64_t stride_a, int64_t batch_count);
JALLOC_API jstatus_t jblas_dsyr_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                        const double *alpha, const double *const x[], int64_t incx,
                                        double *const a[], int64_t lda, int64_t batch_count);
JALLOC_API jstatus_t jblas_dsyr_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                const double *alpha, const double *x, int64_t incx,
                                                int64_t stride_x, double *a, int64_t lda,
                                                int64_t stride_a, int64_t batch_count);

/** As jblas_zsyr() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_csyr_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                        const jcomplex_f32_t *alpha,
                                        const jcomplex_f32_t *const x[], int64_t incx,
                                        jcomplex_f32_t *const a[], int64_t lda,
                                        int64_t batch_count);
JALLOC_API jstatus_t jblas_csyr_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                const jcomplex_f32_t *alpha,
                                                const jcomplex_f32_t *x, int64_t incx,
                                                int64_t stride_x, jcomplex_f32_t *a, int64_t lda,
                                                int64_t stride_a, int64_t batch_count);
JALLOC_API jstatus_t jblas_zsyr_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                        const jcomplex_f64_t *alpha,
                                        const jcomplex_f64_t *const x[], int64_t incx,
                                        jcomplex_f64_t *const a[], int64_t lda,
                                        int64_t batch_count);
JALLOC_API jstatus_t jblas_zsyr_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                const jcomplex_f64_t *alpha,
                                                const jcomplex_f64_t *x, int64_t incx,
                                                int64_t stride_x, jcomplex_f64_t *a, int64_t lda,
                                                int64_t stride_a, int64_t batch_count);

/** As jblas_zher() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_cher_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                        const float *alpha, const jcomplex_f32_t *const x[],
                                        int64_t incx, jcomplex_f32_t *const a[], int64_t lda,
                                        int64_t batch_count);
JALLOC_API jstatus_t jblas_cher_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                const float *alpha, const jcomplex_f32_t *x,
                                                int64_t incx, int64_t stride_x, jcomplex_f32_t *a,
                                                int64_t lda, int64_t stride_a, int64_t batch_count);
JALLOC_API jstatus_t jblas_zher_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                        const double *alpha, const jcomplex_f64_t *const x[],
                                        int64_t incx, jcomplex_f64_t *const a[], int64_t lda,
                                        int64_t batch_count);
JALLOC_API jstatus_t jblas_zher_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                const double *alpha, const jcomplex_f64_t *x,
                                                int64_t incx, int64_t stride_x, jcomplex_f64_t *a,
                                                int64_t lda, int64_t stride_a, int64_t batch_count);

/** As jblas_dsyr2() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_ssyr2_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const float *alpha, const float *const x[], int64_t incx,
                                         const float *const y[], int64_t incy, float *const a[],
                                         int64_t lda, int64_t batch_count);
JALLOC_API jstatus_t jblas_ssyr2_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 const float *alpha, const float *x, int64_t incx,
                                                 int64_t stride_x, const float *y, int64_t incy,
                                                 int64_t stride_y, float *a, int64_t lda,
                                                 int64_t stride_a, int64_t batch_count);
JALLOC_API jstatus_t jblas_dsyr2_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const double *alpha, const double *const x[], int64_t incx,
                                         const double *const y[], int64_t incy, double *const a[],
                                         int64_t lda, int64_t batch_count);
JALLOC_API jstatus_t jblas_dsyr2_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 const double *alpha, const double *x, int64_t incx,
                                                 int64_t stride_x, const double *y, int64_t incy,
                                                 int64_t stride_y, double *a, int64_t lda,
                                                 int64_t stride_a, int64_t batch_count);

/** As jblas_zsyr2() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_csyr2_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         const jcomplex_f32_t *const y[], int64_t incy,
                                         jcomplex_f32_t *const a[], int64_t lda,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_csyr2_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const jcomplex_f32_t *alpha,
    const jcomplex_f32_t *x, int64_t incx, int64_t stride_x, const jcomplex_f32_t *y, int64_t incy,
    int64_t stride_y, jcomplex_f32_t *a, int64_t lda, int64_t stride_a, int64_t batch_count);
JALLOC_API jstatus_t jblas_zsyr2_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         const jcomplex_f64_t *const y[], int64_t incy,
                                         jcomplex_f64_t *const a[], int64_t lda,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_zsyr2_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const jcomplex_f64_t *alpha,
    const jcomplex_f64_t *x, int64_t incx, int64_t stride_x, const jcomplex_f64_t *y, int64_t incy,
    int64_t stride_y, jcomplex_f64_t *a, int64_t lda, int64_t stride_a, int64_t batch_count);

/** As jblas_zher2() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_cher2_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         const jcomplex_f32_t *const y[], int64_t incy,
                                         jcomplex_f32_t *const a[], int64_t lda,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_cher2_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const jcomplex_f32_t *alpha,
    const jcomplex_f32_t *x, int64_t incx, int64_t stride_x, const jcomplex_f32_t *y, int64_t incy,
    int64_t stride_y, jcomplex_f32_t *a, int64_t lda, int64_t stride_a, int64_t batch_count);
JALLOC_API jstatus_t jblas_zher2_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         const jcomplex_f64_t *const y[], int64_t incy,
                                         jcomplex_f64_t *const a[], int64_t lda,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_zher2_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const jcomplex_f64_t *alpha,
    const jcomplex_f64_t *x, int64_t incx, int64_t stride_x, const jcomplex_f64_t *y, int64_t incy,
    int64_t stride_y, jcomplex_f64_t *a, int64_t lda, int64_t stride_a, int64_t batch_count);

/** As jblas_dskewsyr2() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sskewsyr2_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                             const float *alpha, const float *const x[],
                                             int64_t incx, const float *const y[], int64_t incy,
                                             float *const a[], int64_t lda, int64_t batch_count);
JALLOC_API jstatus_t jblas_sskewsyr2_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                     int64_t n, const float *alpha, const float *x,
                                                     int64_t incx, int64_t stride_x, const float *y,
                                                     int64_t incy, int64_t stride_y, float *a,
                                                     int64_t lda, int64_t stride_a,
                                                     int64_t batch_count);
JALLOC_API jstatus_t jblas_dskewsyr2_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                             const double *alpha, const double *const x[],
                                             int64_t incx, const double *const y[], int64_t incy,
                                             double *const a[], int64_t lda, int64_t batch_count);
JALLOC_API jstatus_t jblas_dskewsyr2_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const double *alpha, const double *x,
    int64_t incx, int64_t stride_x, const double *y, int64_t incy, int64_t stride_y, double *a,
    int64_t lda, int64_t stride_a, int64_t batch_count);

/** As jblas_dtrmv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_strmv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const float *const a[], int64_t lda, float *const x[],
                                         int64_t incx, int64_t batch_count);
JALLOC_API jstatus_t jblas_strmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const float *a, int64_t lda,
                                                 int64_t stride_a, float *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);
JALLOC_API jstatus_t jblas_dtrmv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const double *const a[], int64_t lda, double *const x[],
                                         int64_t incx, int64_t batch_count);
JALLOC_API jstatus_t jblas_dtrmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const double *a, int64_t lda,
                                                 int64_t stride_a, double *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);
JALLOC_API jstatus_t jblas_ctrmv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         jcomplex_f32_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ctrmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const jcomplex_f32_t *a, int64_t lda,
                                                 int64_t stride_a, jcomplex_f32_t *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);
JALLOC_API jstatus_t jblas_ztrmv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         jcomplex_f64_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ztrmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const jcomplex_f64_t *a, int64_t lda,
                                                 int64_t stride_a, jcomplex_f64_t *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);

/** As jblas_dtrsv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_strsv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const float *const a[], int64_t lda, float *const x[],
                                         int64_t incx, int64_t batch_count);
JALLOC_API jstatus_t jblas_strsv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const float *a, int64_t lda,
                                                 int64_t stride_a, float *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);
JALLOC_API jstatus_t jblas_dtrsv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const double *const a[], int64_t lda, double *const x[],
                                         int64_t incx, int64_t batch_count);
JALLOC_API jstatus_t jblas_dtrsv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const double *a, int64_t lda,
                                                 int64_t stride_a, double *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);
JALLOC_API jstatus_t jblas_ctrsv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         jcomplex_f32_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ctrsv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const jcomplex_f32_t *a, int64_t lda,
                                                 int64_t stride_a, jcomplex_f32_t *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);
JALLOC_API jstatus_t jblas_ztrsv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         jcomplex_f64_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ztrsv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const jcomplex_f64_t *a, int64_t lda,
                                                 int64_t stride_a, jcomplex_f64_t *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);

/** As jblas_dgbmv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sgbmv_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                         int64_t n, int64_t kl, int64_t ku, const float *alpha,
                                         const float *const a[], int64_t lda,
                                         const float *const x[], int64_t incx, const float *beta,
                                         float *const y[], int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_sgbmv_strided_batched(jhandle_t *handle, jblas_operation_t trans,
                                                 int64_t m, int64_t n, int64_t kl, int64_t ku,
                                                 const float *alpha, const float *a, int64_t lda,
                                                 int64_t stride_a, const float *x, int64_t incx,
                                                 int64_t stride_x, const float *beta, float *y,
                                                 int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dgbmv_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                         int64_t n, int64_t kl, int64_t ku, const double *alpha,
                                         const double *const a[], int64_t lda,
                                         const double *const x[], int64_t incx, const double *beta,
                                         double *const y[], int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_dgbmv_strided_batched(jhandle_t *handle, jblas_operation_t trans,
                                                 int64_t m, int64_t n, int64_t kl, int64_t ku,
                                                 const double *alpha, const double *a, int64_t lda,
                                                 int64_t stride_a, const double *x, int64_t incx,
                                                 int64_t stride_x, const double *beta, double *y,
                                                 int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_cgbmv_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                         int64_t n, int64_t kl, int64_t ku,
                                         const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         const jcomplex_f32_t *beta, jcomplex_f32_t *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_cgbmv_strided_batched(
    jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n, int64_t kl, int64_t ku,
    const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f32_t *x, int64_t incx, int64_t stride_x, const jcomplex_f32_t *beta,
    jcomplex_f32_t *y, int64_t incy, int64_t stride_y, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgbmv_batched(jhandle_t *handle, jblas_operation_t trans, int64_t m,
                                         int64_t n, int64_t kl, int64_t ku,
                                         const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         const jcomplex_f64_t *beta, jcomplex_f64_t *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgbmv_strided_batched(
    jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n, int64_t kl, int64_t ku,
    const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f64_t *x, int64_t incx, int64_t stride_x, const jcomplex_f64_t *beta,
    jcomplex_f64_t *y, int64_t incy, int64_t stride_y, int64_t batch_count);

/** As jblas_dsbmv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_ssbmv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t k,
                                         const float *alpha, const float *const a[], int64_t lda,
                                         const float *const x[], int64_t incx, const float *beta,
                                         float *const y[], int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_ssbmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 int64_t k, const float *alpha, const float *a,
                                                 int64_t lda, int64_t stride_a, const float *x,
                                                 int64_t incx, int64_t stride_x, const float *beta,
                                                 float *y, int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dsbmv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t k,
                                         const double *alpha, const double *const a[], int64_t lda,
                                         const double *const x[], int64_t incx, const double *beta,
                                         double *const y[], int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_dsbmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 int64_t k, const double *alpha, const double *a,
                                                 int64_t lda, int64_t stride_a, const double *x,
                                                 int64_t incx, int64_t stride_x, const double *beta,
                                                 double *y, int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);

/** As jblas_zhbmv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_chbmv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t k,
                                         const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         const jcomplex_f32_t *beta, jcomplex_f32_t *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_chbmv_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t k, const jcomplex_f32_t *alpha,
    const jcomplex_f32_t *a, int64_t lda, int64_t stride_a, const jcomplex_f32_t *x, int64_t incx,
    int64_t stride_x, const jcomplex_f32_t *beta, jcomplex_f32_t *y, int64_t incy, int64_t stride_y,
    int64_t batch_count);
JALLOC_API jstatus_t jblas_zhbmv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t k,
                                         const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         const jcomplex_f64_t *beta, jcomplex_f64_t *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_zhbmv_strided_batched(
    jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t k, const jcomplex_f64_t *alpha,
    const jcomplex_f64_t *a, int64_t lda, int64_t stride_a, const jcomplex_f64_t *x, int64_t incx,
    int64_t stride_x, const jcomplex_f64_t *beta, jcomplex_f64_t *y, int64_t incy, int64_t stride_y,
    int64_t batch_count);

/** As jblas_dtbmv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_stbmv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         int64_t k, const float *const a[], int64_t lda,
                                         float *const x[], int64_t incx, int64_t batch_count);
JALLOC_API jstatus_t jblas_stbmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, int64_t k, const float *a, int64_t lda,
                                                 int64_t stride_a, float *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);
JALLOC_API jstatus_t jblas_dtbmv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         int64_t k, const double *const a[], int64_t lda,
                                         double *const x[], int64_t incx, int64_t batch_count);
JALLOC_API jstatus_t jblas_dtbmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, int64_t k, const double *a, int64_t lda,
                                                 int64_t stride_a, double *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);
JALLOC_API jstatus_t jblas_ctbmv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         int64_t k, const jcomplex_f32_t *const a[], int64_t lda,
                                         jcomplex_f32_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ctbmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, int64_t k, const jcomplex_f32_t *a,
                                                 int64_t lda, int64_t stride_a, jcomplex_f32_t *x,
                                                 int64_t incx, int64_t stride_x,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_ztbmv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         int64_t k, const jcomplex_f64_t *const a[], int64_t lda,
                                         jcomplex_f64_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ztbmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, int64_t k, const jcomplex_f64_t *a,
                                                 int64_t lda, int64_t stride_a, jcomplex_f64_t *x,
                                                 int64_t incx, int64_t stride_x,
                                                 int64_t batch_count);

/** As jblas_dtbsv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_stbsv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         int64_t k, const float *const a[], int64_t lda,
                                         float *const x[], int64_t incx, int64_t batch_count);
JALLOC_API jstatus_t jblas_stbsv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, int64_t k, const float *a, int64_t lda,
                                                 int64_t stride_a, float *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);
JALLOC_API jstatus_t jblas_dtbsv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         int64_t k, const double *const a[], int64_t lda,
                                         double *const x[], int64_t incx, int64_t batch_count);
JALLOC_API jstatus_t jblas_dtbsv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, int64_t k, const double *a, int64_t lda,
                                                 int64_t stride_a, double *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);
JALLOC_API jstatus_t jblas_ctbsv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         int64_t k, const jcomplex_f32_t *const a[], int64_t lda,
                                         jcomplex_f32_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ctbsv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, int64_t k, const jcomplex_f32_t *a,
                                                 int64_t lda, int64_t stride_a, jcomplex_f32_t *x,
                                                 int64_t incx, int64_t stride_x,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_ztbsv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         int64_t k, const jcomplex_f64_t *const a[], int64_t lda,
                                         jcomplex_f64_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ztbsv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, int64_t k, const jcomplex_f64_t *a,
                                                 int64_t lda, int64_t stride_a, jcomplex_f64_t *x,
                                                 int64_t incx, int64_t stride_x,
                                                 int64_t batch_count);

/** As jblas_dspmv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sspmv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const float *alpha, const float *const ap[],
                                         const float *const x[], int64_t incx, const float *beta,
                                         float *const y[], int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_sspmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 const float *alpha, const float *ap,
                                                 int64_t stride_ap, const float *x, int64_t incx,
                                                 int64_t stride_x, const float *beta, float *y,
                                                 int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dspmv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const double *alpha, const double *const ap[],
                                         const double *const x[], int64_t incx, const double *beta,
                                         double *const y[], int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_dspmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 const double *alpha, const double *ap,
                                                 int64_t stride_ap, const double *x, int64_t incx,
                                                 int64_t stride_x, const double *beta, double *y,
                                                 int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);

/** As jblas_zhpmv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_chpmv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const ap[],
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         const jcomplex_f32_t *beta, jcomplex_f32_t *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_chpmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 const jcomplex_f32_t *alpha,
                                                 const jcomplex_f32_t *ap, int64_t stride_ap,
                                                 const jcomplex_f32_t *x, int64_t incx,
                                                 int64_t stride_x, const jcomplex_f32_t *beta,
                                                 jcomplex_f32_t *y, int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_zhpmv_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const ap[],
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         const jcomplex_f64_t *beta, jcomplex_f64_t *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_zhpmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 const jcomplex_f64_t *alpha,
                                                 const jcomplex_f64_t *ap, int64_t stride_ap,
                                                 const jcomplex_f64_t *x, int64_t incx,
                                                 int64_t stride_x, const jcomplex_f64_t *beta,
                                                 jcomplex_f64_t *y, int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);

/** As jblas_dspr() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sspr_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                        const float *alpha, const float *const x[], int64_t incx,
                                        float *const ap[], int64_t batch_count);
JALLOC_API jstatus_t jblas_sspr_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                const float *alpha, const float *x, int64_t incx,
                                                int64_t stride_x, float *ap, int64_t stride_ap,
                                                int64_t batch_count);
JALLOC_API jstatus_t jblas_dspr_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                        const double *alpha, const double *const x[], int64_t incx,
                                        double *const ap[], int64_t batch_count);
JALLOC_API jstatus_t jblas_dspr_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                const double *alpha, const double *x, int64_t incx,
                                                int64_t stride_x, double *ap, int64_t stride_ap,
                                                int64_t batch_count);

/** As jblas_zhpr() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_chpr_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                        const float *alpha, const jcomplex_f32_t *const x[],
                                        int64_t incx, jcomplex_f32_t *const ap[],
                                        int64_t batch_count);
JALLOC_API jstatus_t jblas_chpr_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                const float *alpha, const jcomplex_f32_t *x,
                                                int64_t incx, int64_t stride_x, jcomplex_f32_t *ap,
                                                int64_t stride_ap, int64_t batch_count);
JALLOC_API jstatus_t jblas_zhpr_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                        const double *alpha, const jcomplex_f64_t *const x[],
                                        int64_t incx, jcomplex_f64_t *const ap[],
                                        int64_t batch_count);
JALLOC_API jstatus_t jblas_zhpr_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                const double *alpha, const jcomplex_f64_t *x,
                                                int64_t incx, int64_t stride_x, jcomplex_f64_t *ap,
                                                int64_t stride_ap, int64_t batch_count);

/** As jblas_dspr2() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sspr2_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const float *alpha, const float *const x[], int64_t incx,
                                         const float *const y[], int64_t incy, float *const ap[],
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_sspr2_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 const float *alpha, const float *x, int64_t incx,
                                                 int64_t stride_x, const float *y, int64_t incy,
                                                 int64_t stride_y, float *ap, int64_t stride_ap,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dspr2_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const double *alpha, const double *const x[], int64_t incx,
                                         const double *const y[], int64_t incy, double *const ap[],
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_dspr2_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 const double *alpha, const double *x, int64_t incx,
                                                 int64_t stride_x, const double *y, int64_t incy,
                                                 int64_t stride_y, double *ap, int64_t stride_ap,
                                                 int64_t batch_count);

/** As jblas_zhpr2() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_chpr2_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         const jcomplex_f32_t *const y[], int64_t incy,
                                         jcomplex_f32_t *const ap[], int64_t batch_count);
JALLOC_API jstatus_t jblas_chpr2_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 const jcomplex_f32_t *alpha,
                                                 const jcomplex_f32_t *x, int64_t incx,
                                                 int64_t stride_x, const jcomplex_f32_t *y,
                                                 int64_t incy, int64_t stride_y, jcomplex_f32_t *ap,
                                                 int64_t stride_ap, int64_t batch_count);
JALLOC_API jstatus_t jblas_zhpr2_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                         const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         const jcomplex_f64_t *const y[], int64_t incy,
                                         jcomplex_f64_t *const ap[], int64_t batch_count);
JALLOC_API jstatus_t jblas_zhpr2_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                 const jcomplex_f64_t *alpha,
                                                 const jcomplex_f64_t *x, int64_t incx,
                                                 int64_t stride_x, const jcomplex_f64_t *y,
                                                 int64_t incy, int64_t stride_y, jcomplex_f64_t *ap,
                                                 int64_t stride_ap, int64_t batch_count);

/** As jblas_dtpmv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_stpmv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const float *const ap[], float *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_stpmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const float *ap, int64_t stride_ap,
                                                 float *x, int64_t incx, int64_t stride_x,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dtpmv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const double *const ap[], double *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_dtpmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const double *ap, int64_t stride_ap,
                                                 double *x, int64_t incx, int64_t stride_x,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_ctpmv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const jcomplex_f32_t *const ap[],
                                         jcomplex_f32_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ctpmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const jcomplex_f32_t *ap,
                                                 int64_t stride_ap, jcomplex_f32_t *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);
JALLOC_API jstatus_t jblas_ztpmv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const jcomplex_f64_t *const ap[],
                                         jcomplex_f64_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ztpmv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const jcomplex_f64_t *ap,
                                                 int64_t stride_ap, jcomplex_f64_t *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);

/** As jblas_dtpsv() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_stpsv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const float *const ap[], float *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_stpsv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const float *ap, int64_t stride_ap,
                                                 float *x, int64_t incx, int64_t stride_x,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dtpsv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const double *const ap[], double *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_dtpsv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const double *ap, int64_t stride_ap,
                                                 double *x, int64_t incx, int64_t stride_x,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_ctpsv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const jcomplex_f32_t *const ap[],
                                         jcomplex_f32_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ctpsv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const jcomplex_f32_t *ap,
                                                 int64_t stride_ap, jcomplex_f32_t *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);
JALLOC_API jstatus_t jblas_ztpsv_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                         jblas_operation_t trans, jblas_diagonal_t diag, int64_t n,
                                         const jcomplex_f64_t *const ap[],
                                         jcomplex_f64_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ztpsv_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                 jblas_operation_t trans, jblas_diagonal_t diag,
                                                 int64_t n, const jcomplex_f64_t *ap,
                                                 int64_t stride_ap, jcomplex_f64_t *x, int64_t incx,
                                                 int64_t stride_x, int64_t batch_count);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
