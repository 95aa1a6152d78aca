/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_BATCHED_LEVEL1_H
#define JALLOC_JBLAS_BATCHED_LEVEL1_H

/** @file
 * Batched forms of level 1. What holds for all of them, threads
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

/** @name Level 1, batched
 * @{ */

/** As jblas_dasum() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sasum_batched(jhandle_t *handle, int64_t n, const float *const x[],
                                         int64_t incx, float *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_sasum_strided_batched(jhandle_t *handle, int64_t n, const float *x,
                                                 int64_t incx, int64_t stride_x, float *result,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dasum_batched(jhandle_t *handle, int64_t n, const double *const x[],
                                         int64_t incx, double *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_dasum_strided_batched(jhandle_t *handle, int64_t n, const double *x,
                                                 int64_t incx, int64_t stride_x, double *result,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_scasum_batched(jhandle_t *handle, int64_t n,
                                          const jcomplex_f32_t *const x[], int64_t incx,
                                          float *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_scasum_strided_batched(jhandle_t *handle, int64_t n,
                                                  const jcomplex_f32_t *x, int64_t incx,
                                                  int64_t stride_x, float *result,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_dzasum_batched(jhandle_t *handle, int64_t n,
                                          const jcomplex_f64_t *const x[], int64_t incx,
                                          double *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_dzasum_strided_batched(jhandle_t *handle, int64_t n,
                                                  const jcomplex_f64_t *x, int64_t incx,
                                                  int64_t stride_x, double *result,
                                                  int64_t batch_count);

/** As jblas_daxpy() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_saxpy_batched(jhandle_t *handle, int64_t n, const float *alpha,
                                         const float *const x[], int64_t incx, float *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_saxpy_strided_batched(jhandle_t *handle, int64_t n, const float *alpha,
                                                 const float *x, int64_t incx, int64_t stride_x,
                                                 float *y, int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_daxpy_batched(jhandle_t *handle, int64_t n, const double *alpha,
                                         const double *const x[], int64_t incx, double *const y[],
                                         int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_daxpy_strided_batched(jhandle_t *handle, int64_t n, const double *alpha,
                                                 const double *x, int64_t incx, int64_t stride_x,
                                                 double *y, int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_caxpy_batched(jhandle_t *handle, int64_t n, const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         jcomplex_f32_t *const y[], int64_t incy,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_caxpy_strided_batched(jhandle_t *handle, int64_t n,
                                                 const jcomplex_f32_t *alpha,
                                                 const jcomplex_f32_t *x, int64_t incx,
                                                 int64_t stride_x, jcomplex_f32_t *y, int64_t incy,
                                                 int64_t stride_y, int64_t batch_count);
JALLOC_API jstatus_t jblas_zaxpy_batched(jhandle_t *handle, int64_t n, const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         jcomplex_f64_t *const y[], int64_t incy,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_zaxpy_strided_batched(jhandle_t *handle, int64_t n,
                                                 const jcomplex_f64_t *alpha,
                                                 const jcomplex_f64_t *x, int64_t incx,
                                                 int64_t stride_x, jcomplex_f64_t *y, int64_t incy,
                                                 int64_t stride_y, int64_t batch_count);

/** As jblas_daxpby() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_saxpby_batched(jhandle_t *handle, int64_t n, const float *alpha,
                                          const float *const x[], int64_t incx, const float *beta,
                                          float *const y[], int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_saxpby_strided_batched(jhandle_t *handle, int64_t n, const float *alpha,
                                                  const float *x, int64_t incx, int64_t stride_x,
                                                  const float *beta, float *y, int64_t incy,
                                                  int64_t stride_y, int64_t batch_count);
JALLOC_API jstatus_t jblas_daxpby_batched(jhandle_t *handle, int64_t n, const double *alpha,
                                          const double *const x[], int64_t incx, const double *beta,
                                          double *const y[], int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_daxpby_strided_batched(jhandle_t *handle, int64_t n, const double *alpha,
                                                  const double *x, int64_t incx, int64_t stride_x,
                                                  const double *beta, double *y, int64_t incy,
                                                  int64_t stride_y, int64_t batch_count);
JALLOC_API jstatus_t jblas_caxpby_batched(jhandle_t *handle, int64_t n, const jcomplex_f32_t *alpha,
                                          const jcomplex_f32_t *const x[], int64_t incx,
                                          const jcomplex_f32_t *beta, jcomplex_f32_t *const y[],
                                          int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_caxpby_strided_batched(jhandle_t *handle, int64_t n,
                                                  const jcomplex_f32_t *alpha,
                                                  const jcomplex_f32_t *x, int64_t incx,
                                                  int64_t stride_x, const jcomplex_f32_t *beta,
                                                  jcomplex_f32_t *y, int64_t incy, int64_t stride_y,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_zaxpby_batched(jhandle_t *handle, int64_t n, const jcomplex_f64_t *alpha,
                                          const jcomplex_f64_t *const x[], int64_t incx,
                                          const jcomplex_f64_t *beta, jcomplex_f64_t *const y[],
                                          int64_t incy, int64_t batch_count);
JALLOC_API jstatus_t jblas_zaxpby_strided_batched(jhandle_t *handle, int64_t n,
                                                  const jcomplex_f64_t *alpha,
                                                  const jcomplex_f64_t *x, int64_t incx,
                                                  int64_t stride_x, const jcomplex_f64_t *beta,
                                                  jcomplex_f64_t *y, int64_t incy, int64_t stride_y,
                                                  int64_t batch_count);

/** As jblas_dcopy() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_scopy_batched(jhandle_t *handle, int64_t n, const float *const x[],
                                         int64_t incx, float *const y[], int64_t incy,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_scopy_strided_batched(jhandle_t *handle, int64_t n, const float *x,
                                                 int64_t incx, int64_t stride_x, float *y,
                                                 int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dcopy_batched(jhandle_t *handle, int64_t n, const double *const x[],
                                         int64_t incx, double *const y[], int64_t incy,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_dcopy_strided_batched(jhandle_t *handle, int64_t n, const double *x,
                                                 int64_t incx, int64_t stride_x, double *y,
                                                 int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_ccopy_batched(jhandle_t *handle, int64_t n,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         jcomplex_f32_t *const y[], int64_t incy,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_ccopy_strided_batched(jhandle_t *handle, int64_t n,
                                                 const jcomplex_f32_t *x, int64_t incx,
                                                 int64_t stride_x, jcomplex_f32_t *y, int64_t incy,
                                                 int64_t stride_y, int64_t batch_count);
JALLOC_API jstatus_t jblas_zcopy_batched(jhandle_t *handle, int64_t n,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         jcomplex_f64_t *const y[], int64_t incy,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_zcopy_strided_batched(jhandle_t *handle, int64_t n,
                                                 const jcomplex_f64_t *x, int64_t incx,
                                                 int64_t stride_x, jcomplex_f64_t *y, int64_t incy,
                                                 int64_t stride_y, int64_t batch_count);

/** As jblas_ddot() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sdot_batched(jhandle_t *handle, int64_t n, const float *const x[],
                                        int64_t incx, const float *const y[], int64_t incy,
                                        float *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_sdot_strided_batched(jhandle_t *handle, int64_t n, const float *x,
                                                int64_t incx, int64_t stride_x, const float *y,
                                                int64_t incy, int64_t stride_y, float *result,
                                                int64_t batch_count);
JALLOC_API jstatus_t jblas_ddot_batched(jhandle_t *handle, int64_t n, const double *const x[],
                                        int64_t incx, const double *const y[], int64_t incy,
                                        double *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_ddot_strided_batched(jhandle_t *handle, int64_t n, const double *x,
                                                int64_t incx, int64_t stride_x, const double *y,
                                                int64_t incy, int64_t stride_y, double *result,
                                                int64_t batch_count);

/** As jblas_zdotu() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_cdotu_batched(jhandle_t *handle, int64_t n,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         const jcomplex_f32_t *const y[], int64_t incy,
                                         jcomplex_f32_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_cdotu_strided_batched(jhandle_t *handle, int64_t n,
                                                 const jcomplex_f32_t *x, int64_t incx,
                                                 int64_t stride_x, const jcomplex_f32_t *y,
                                                 int64_t incy, int64_t stride_y,
                                                 jcomplex_f32_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_zdotu_batched(jhandle_t *handle, int64_t n,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         const jcomplex_f64_t *const y[], int64_t incy,
                                         jcomplex_f64_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_zdotu_strided_batched(jhandle_t *handle, int64_t n,
                                                 const jcomplex_f64_t *x, int64_t incx,
                                                 int64_t stride_x, const jcomplex_f64_t *y,
                                                 int64_t incy, int64_t stride_y,
                                                 jcomplex_f64_t *result, int64_t batch_count);

/** As jblas_zdotc() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_cdotc_batched(jhandle_t *handle, int64_t n,
                                         const jcomplex_f32_t *const x[], int64_t incx,
                                         const jcomplex_f32_t *const y[], int64_t incy,
                                         jcomplex_f32_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_cdotc_strided_batched(jhandle_t *handle, int64_t n,
                                                 const jcomplex_f32_t *x, int64_t incx,
                                                 int64_t stride_x, const jcomplex_f32_t *y,
                                                 int64_t incy, int64_t stride_y,
                                                 jcomplex_f32_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_zdotc_batched(jhandle_t *handle, int64_t n,
                                         const jcomplex_f64_t *const x[], int64_t incx,
                                         const jcomplex_f64_t *const y[], int64_t incy,
                                         jcomplex_f64_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_zdotc_strided_batched(jhandle_t *handle, int64_t n,
                                                 const jcomplex_f64_t *x, int64_t incx,
                                                 int64_t stride_x, const jcomplex_f64_t *y,
                                                 int64_t incy, int64_t stride_y,
                                                 jcomplex_f64_t *result, int64_t batch_count);

/** As jblas_dsdot() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_dsdot_batched(jhandle_t *handle, int64_t n, const float *const x[],
                                         int64_t incx, const float *const y[], int64_t incy,
                                         double *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_dsdot_strided_batched(jhandle_t *handle, int64_t n, const float *x,
                                                 int64_t incx, int64_t stride_x, const float *y,
                                                 int64_t incy, int64_t stride_y, double *result,
                                                 int64_t batch_count);

/** As jblas_sdsdot() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sdsdot_batched(jhandle_t *handle, int64_t n, const float *alpha,
                                          const float *const x[], int64_t incx,
                                          const float *const y[], int64_t incy, float *result,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_sdsdot_strided_batched(jhandle_t *handle, int64_t n, const float *alpha,
                                                  const float *x, int64_t incx, int64_t stride_x,
                                                  const float *y, int64_t incy, int64_t stride_y,
                                                  float *result, int64_t batch_count);

/** As jblas_idamax() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_isamax_batched(jhandle_t *handle, int64_t n, const float *const x[],
                                          int64_t incx, int64_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_isamax_strided_batched(jhandle_t *handle, int64_t n, const float *x,
                                                  int64_t incx, int64_t stride_x, int64_t *result,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_idamax_batched(jhandle_t *handle, int64_t n, const double *const x[],
                                          int64_t incx, int64_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_idamax_strided_batched(jhandle_t *handle, int64_t n, const double *x,
                                                  int64_t incx, int64_t stride_x, int64_t *result,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_icamax_batched(jhandle_t *handle, int64_t n,
                                          const jcomplex_f32_t *const x[], int64_t incx,
                                          int64_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_icamax_strided_batched(jhandle_t *handle, int64_t n,
                                                  const jcomplex_f32_t *x, int64_t incx,
                                                  int64_t stride_x, int64_t *result,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_izamax_batched(jhandle_t *handle, int64_t n,
                                          const jcomplex_f64_t *const x[], int64_t incx,
                                          int64_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_izamax_strided_batched(jhandle_t *handle, int64_t n,
                                                  const jcomplex_f64_t *x, int64_t incx,
                                                  int64_t stride_x, int64_t *result,
                                                  int64_t batch_count);

/** As jblas_idamin() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_isamin_batched(jhandle_t *handle, int64_t n, const float *const x[],
                                          int64_t incx, int64_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_isamin_strided_batched(jhandle_t *handle, int64_t n, const float *x,
                                                  int64_t incx, int64_t stride_x, int64_t *result,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_idamin_batched(jhandle_t *handle, int64_t n, const double *const x[],
                                          int64_t incx, int64_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_idamin_strided_batched(jhandle_t *handle, int64_t n, const double *x,
                                                  int64_t incx, int64_t stride_x, int64_t *result,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_icamin_batched(jhandle_t *handle, int64_t n,
                                          const jcomplex_f32_t *const x[], int64_t incx,
                                          int64_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_icamin_strided_batched(jhandle_t *handle, int64_t n,
                                                  const jcomplex_f32_t *x, int64_t incx,
                                                  int64_t stride_x, int64_t *result,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_izamin_batched(jhandle_t *handle, int64_t n,
                                          const jcomplex_f64_t *const x[], int64_t incx,
                                          int64_t *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_izamin_strided_batched(jhandle_t *handle, int64_t n,
                                                  const jcomplex_f64_t *x, int64_t incx,
                                                  int64_t stride_x, int64_t *result,
                                                  int64_t batch_count);

/** As jblas_dnrm2() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_snrm2_batched(jhandle_t *handle, int64_t n, const float *const x[],
                                         int64_t incx, float *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_snrm2_strided_batched(jhandle_t *handle, int64_t n, const float *x,
                                                 int64_t incx, int64_t stride_x, float *result,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dnrm2_batched(jhandle_t *handle, int64_t n, const double *const x[],
                                         int64_t incx, double *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_dnrm2_strided_batched(jhandle_t *handle, int64_t n, const double *x,
                                                 int64_t incx, int64_t stride_x, double *result,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_scnrm2_batched(jhandle_t *handle, int64_t n,
                                          const jcomplex_f32_t *const x[], int64_t incx,
                                          float *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_scnrm2_strided_batched(jhandle_t *handle, int64_t n,
                                                  const jcomplex_f32_t *x, int64_t incx,
                                                  int64_t stride_x, float *result,
                                                  int64_t batch_count);
JALLOC_API jstatus_t jblas_dznrm2_batched(jhandle_t *handle, int64_t n,
                                          const jcomplex_f64_t *const x[], int64_t incx,
                                          double *result, int64_t batch_count);
JALLOC_API jstatus_t jblas_dznrm2_strided_batched(jhandle_t *handle, int64_t n,
                                                  const jcomplex_f64_t *x, int64_t incx,
                                                  int64_t stride_x, double *result,
                                                  int64_t batch_count);

/** As jblas_drot() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_srot_batched(jhandle_t *handle, int64_t n, float *const x[],
                                        int64_t incx, float *const y[], int64_t incy,
                                        const float *c, const float *s, int64_t batch_count);
JALLOC_API jstatus_t jblas_srot_strided_batched(jhandle_t *handle, int64_t n, float *x,
                                                int64_t incx, int64_t stride_x, float *y,
                                                int64_t incy, int64_t stride_y, const float *c,
                                                const float *s, int64_t batch_count);
JALLOC_API jstatus_t jblas_drot_batched(jhandle_t *handle, int64_t n, double *const x[],
                                        int64_t incx, double *const y[], int64_t incy,
                                        const double *c, const double *s, int64_t batch_count);
JALLOC_API jstatus_t jblas_drot_strided_batched(jhandle_t *handle, int64_t n, double *x,
                                                int64_t incx, int64_t stride_x, double *y,
                                                int64_t incy, int64_t stride_y, const double *c,
                                                const double *s, int64_t batch_count);
JALLOC_API jstatus_t jblas_csrot_batched(jhandle_t *handle, int64_t n, jcomplex_f32_t *const x[],
                                         int64_t incx, jcomplex_f32_t *const y[], int64_t incy,
                                         const float *c, const float *s, int64_t batch_count);
JALLOC_API jstatus_t jblas_csrot_strided_batched(jhandle_t *handle, int64_t n, jcomplex_f32_t *x,
                                                 int64_t incx, int64_t stride_x, jcomplex_f32_t *y,
                                                 int64_t incy, int64_t stride_y, const float *c,
                                                 const float *s, int64_t batch_count);
JALLOC_API jstatus_t jblas_zdrot_batched(jhandle_t *handle, int64_t n, jcomplex_f64_t *const x[],
                                         int64_t incx, jcomplex_f64_t *const y[], int64_t incy,
                                         const double *c, const double *s, int64_t batch_count);
JALLOC_API jstatus_t jblas_zdrot_strided_batched(jhandle_t *handle, int64_t n, jcomplex_f64_t *x,
                                                 int64_t incx, int64_t stride_x, jcomplex_f64_t *y,
                                                 int64_t incy, int64_t stride_y, const double *c,
                                                 const double *s, int64_t batch_count);

/** As jblas_drotm() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_srotm_batched(jhandle_t *handle, int64_t n, float *const x[],
                                         int64_t incx, float *const y[], int64_t incy,
                                         const float *param, int64_t batch_count);
JALLOC_API jstatus_t jblas_srotm_strided_batched(jhandle_t *handle, int64_t n, float *x,
                                                 int64_t incx, int64_t stride_x, float *y,
                                                 int64_t incy, int64_t stride_y, const float *param,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_drotm_batched(jhandle_t *handle, int64_t n, double *const x[],
                                         int64_t incx, double *const y[], int64_t incy,
                                         const double *param, int64_t batch_count);
JALLOC_API jstatus_t jblas_drotm_strided_batched(jhandle_t *handle, int64_t n, double *x,
                                                 int64_t incx, int64_t stride_x, double *y,
                                                 int64_t incy, int64_t stride_y,
                                                 const double *param, int64_t batch_count);

/** As jblas_drotg() for each item; invalid size, invalid pointer: also of the batch. Each item has
 * its own numbers, in the host's memory or the device's by pointer mode, and an array of pointers
 * to them is in the same memory. */
JALLOC_API jstatus_t jblas_srotg_batched(jhandle_t *handle, float *const a[], float *const b[],
                                         float *const c[], float *const s[], int64_t batch_count);
JALLOC_API jstatus_t jblas_srotg_strided_batched(jhandle_t *handle, float *a, int64_t stride_a,
                                                 float *b, int64_t stride_b, float *c,
                                                 int64_t stride_c, float *s, int64_t stride_s,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_drotg_batched(jhandle_t *handle, double *const a[], double *const b[],
                                         double *const c[], double *const s[], int64_t batch_count);
JALLOC_API jstatus_t jblas_drotg_strided_batched(jhandle_t *handle, double *a, int64_t stride_a,
                                                 double *b, int64_t stride_b, double *c,
                                                 int64_t stride_c, double *s, int64_t stride_s,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_crotg_batched(jhandle_t *handle, jcomplex_f32_t *const a[],
                                         jcomplex_f32_t *const b[], float *const c[],
                                         jcomplex_f32_t *const s[], int64_t batch_count);
JALLOC_API jstatus_t jblas_crotg_strided_batched(jhandle_t *handle, jcomplex_f32_t *a,
                                                 int64_t stride_a, jcomplex_f32_t *b,
                                                 int64_t stride_b, float *c, int64_t stride_c,
                                                 jcomplex_f32_t *s, int64_t stride_s,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_zrotg_batched(jhandle_t *handle, jcomplex_f64_t *const a[],
                                         jcomplex_f64_t *const b[], double *const c[],
                                         jcomplex_f64_t *const s[], int64_t batch_count);
JALLOC_API jstatus_t jblas_zrotg_strided_batched(jhandle_t *handle, jcomplex_f64_t *a,
                                                 int64_t stride_a, jcomplex_f64_t *b,
                                                 int64_t stride_b, double *c, int64_t stride_c,
                                                 jcomplex_f64_t *s, int64_t stride_s,
                                                 int64_t batch_count);

/** As jblas_drotmg() for each item, y1 included; invalid size, invalid pointer: also of the batch.
 * Where the numbers are: as by jblas_drotg_batched(). */
JALLOC_API jstatus_t jblas_srotmg_batched(jhandle_t *handle, float *const d1[], float *const d2[],
                                          float *const x1[], const float *const y1[],
                                          float *const param[], int64_t batch_count);
JALLOC_API jstatus_t jblas_srotmg_strided_batched(jhandle_t *handle, float *d1, int64_t stride_d1,
                                                  float *d2, int64_t stride_d2, float *x1,
                                                  int64_t stride_x1, const float *y1,
                                                  int64_t stride_y1, float *param,
                                                  int64_t stride_param, int64_t batch_count);
JALLOC_API jstatus_t jblas_drotmg_batched(jhandle_t *handle, double *const d1[], double *const d2[],
                                          double *const x1[], const double *const y1[],
                                          double *const param[], int64_t batch_count);
JALLOC_API jstatus_t jblas_drotmg_strided_batched(jhandle_t *handle, double *d1, int64_t stride_d1,
                                                  double *d2, int64_t stride_d2, double *x1,
                                                  int64_t stride_x1, const double *y1,
                                                  int64_t stride_y1, double *param,
                                                  int64_t stride_param, int64_t batch_count);

/** As jblas_dscal() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sscal_batched(jhandle_t *handle, int64_t n, const float *alpha,
                                         float *const x[], int64_t incx, int64_t batch_count);
JALLOC_API jstatus_t jblas_sscal_strided_batched(jhandle_t *handle, int64_t n, const float *alpha,
                                                 float *x, int64_t incx, int64_t stride_x,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dscal_batched(jhandle_t *handle, int64_t n, const double *alpha,
                                         double *const x[], int64_t incx, int64_t batch_count);
JALLOC_API jstatus_t jblas_dscal_strided_batched(jhandle_t *handle, int64_t n, const double *alpha,
                                                 double *x, int64_t incx, int64_t stride_x,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_cscal_batched(jhandle_t *handle, int64_t n, const jcomplex_f32_t *alpha,
                                         jcomplex_f32_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_cscal_strided_batched(jhandle_t *handle, int64_t n,
                                                 const jcomplex_f32_t *alpha, jcomplex_f32_t *x,
                                                 int64_t incx, int64_t stride_x,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_zscal_batched(jhandle_t *handle, int64_t n, const jcomplex_f64_t *alpha,
                                         jcomplex_f64_t *const x[], int64_t incx,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_zscal_strided_batched(jhandle_t *handle, int64_t n,
                                                 const jcomplex_f64_t *alpha, jcomplex_f64_t *x,
                                                 int64_t incx, int64_t stride_x,
                                                 int64_t batch_count);

/** As jblas_csscal() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_csscal_batched(jhandle_t *handle, int64_t n, const float *alpha,
                                          jcomplex_f32_t *const x[], int64_t incx,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_csscal_strided_batched(jhandle_t *handle, int64_t n, const float *alpha,
                                                  jcomplex_f32_t *x, int64_t incx, int64_t stride_x,
                                                  int64_t batch_count);

/** As jblas_zdscal() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_zdscal_batched(jhandle_t *handle, int64_t n, const double *alpha,
                                          jcomplex_f64_t *const x[], int64_t incx,
                                          int64_t batch_count);
JALLOC_API jstatus_t jblas_zdscal_strided_batched(jhandle_t *handle, int64_t n, const double *alpha,
                                                  jcomplex_f64_t *x, int64_t incx, int64_t stride_x,
                                                  int64_t batch_count);

/** As jblas_dswap() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_sswap_batched(jhandle_t *handle, int64_t n, float *const x[],
                                         int64_t incx, float *const y[], int64_t incy,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_sswap_strided_batched(jhandle_t *handle, int64_t n, float *x,
                                                 int64_t incx, int64_t stride_x, float *y,
                                                 int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dswap_batched(jhandle_t *handle, int64_t n, double *const x[],
                                         int64_t incx, double *const y[], int64_t incy,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_dswap_strided_batched(jhandle_t *handle, int64_t n, double *x,
                                                 int64_t incx, int64_t stride_x, double *y,
                                                 int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_cswap_batched(jhandle_t *handle, int64_t n, jcomplex_f32_t *const x[],
                                         int64_t incx, jcomplex_f32_t *const y[], int64_t incy,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_cswap_strided_batched(jhandle_t *handle, int64_t n, jcomplex_f32_t *x,
                                                 int64_t incx, int64_t stride_x, jcomplex_f32_t *y,
                                                 int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_zswap_batched(jhandle_t *handle, int64_t n, jcomplex_f64_t *const x[],
                                         int64_t incx, jcomplex_f64_t *const y[], int64_t incy,
                                         int64_t batch_count);
JALLOC_API jstatus_t jblas_zswap_strided_batched(jhandle_t *handle, int64_t n, jcomplex_f64_t *x,
                                                 int64_t incx, int64_t stride_x, jcomplex_f64_t *y,
                                                 int64_t incy, int64_t stride_y,
                                                 int64_t batch_count);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
