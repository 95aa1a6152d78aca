/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_BATCHED_EX_H
#define JALLOC_JBLAS_BATCHED_EX_H

/** @file
 * Batched forms of routines whose operands have types that are arguments (jblas_ex.h). What holds
 * for all of them, threads included, stands in jblas_batched.h. Strides are in elements of the
 * operand's own type. */

#include <stdint.h>

#include "jalloc/datatype.h"
#include "jalloc/export.h"
#include "jalloc/handle.h"
#include "jalloc/jblas_types.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name Types as arguments, batched
 * @{ */

/** As jblas_axpy_ex() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_axpy_ex_batched(jhandle_t *handle, int64_t n, const void *alpha,
                                           const void *const x[], jdatatype_t x_type, int64_t incx,
                                           void *const y[], jdatatype_t y_type, int64_t incy,
                                           jdatatype_t compute_type, int64_t batch_count);
JALLOC_API jstatus_t jblas_axpy_ex_strided_batched(jhandle_t *handle, int64_t n, const void *alpha,
                                                   const void *x, jdatatype_t x_type, int64_t incx,
                                                   int64_t stride_x, void *y, jdatatype_t y_type,
                                                   int64_t incy, int64_t stride_y,
                                                   jdatatype_t compute_type, int64_t batch_count);

/** As jblas_scal_ex() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_scal_ex_batched(jhandle_t *handle, int64_t n, const void *alpha,
                                           void *const x[], jdatatype_t x_type, int64_t incx,
                                           jdatatype_t compute_type, int64_t batch_count);
JALLOC_API jstatus_t jblas_scal_ex_strided_batched(jhandle_t *handle, int64_t n, const void *alpha,
                                                   void *x, jdatatype_t x_type, int64_t incx,
                                                   int64_t stride_x, jdatatype_t compute_type,
                                                   int64_t batch_count);

/** As jblas_rot_ex() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_rot_ex_batched(jhandle_t *handle, int64_t n, void *const x[],
                                          jdatatype_t x_type, int64_t incx, void *const y[],
                                          jdatatype_t y_type, int64_t incy, const void *c,
                                          const void *s, jdatatype_t cs_type,
                                          jdatatype_t compute_type, int64_t batch_count);
JALLOC_API jstatus_t jblas_rot_ex_strided_batched(jhandle_t *handle, int64_t n, void *x,
                                                  jdatatype_t x_type, int64_t incx,
                                                  int64_t stride_x, void *y, jdatatype_t y_type,
                                                  int64_t incy, int64_t stride_y, const void *c,
                                                  const void *s, jdatatype_t cs_type,
                                                  jdatatype_t compute_type, int64_t batch_count);

/** As jblas_dot_ex() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_dot_ex_batched(jhandle_t *handle, int64_t n, const void *const x[],
                                          jdatatype_t x_type, int64_t incx, const void *const y[],
                                          jdatatype_t y_type, int64_t incy, void *result,
                                          jdatatype_t compute_type, int64_t batch_count);
JALLOC_API jstatus_t jblas_dot_ex_strided_batched(jhandle_t *handle, int64_t n, const void *x,
                                                  jdatatype_t x_type, int64_t incx,
                                                  int64_t stride_x, const void *y,
                                                  jdatatype_t y_type, int64_t incy,
                                                  int64_t stride_y, void *result,
                                                  jdatatype_t compute_type, int64_t batch_count);

/** As jblas_dotc_ex() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_dotc_ex_batched(jhandle_t *handle, int64_t n, const void *const x[],
                                           jdatatype_t x_type, int64_t incx, const void *const y[],
                                           jdatatype_t y_type, int64_t incy, void *result,
                                           jdatatype_t compute_type, int64_t batch_count);
JALLOC_API jstatus_t jblas_dotc_ex_strided_batched(jhandle_t *handle, int64_t n, const void *x,
                                                   jdatatype_t x_type, int64_t incx,
                                                   int64_t stride_x, const void *y,
                                                   jdatatype_t y_type, int64_t incy,
                                                   int64_t stride_y, void *result,
                                                   jdatatype_t compute_type, int64_t batch_count);

/** As jblas_nrm2_ex() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_nrm2_ex_batched(jhandle_t *handle, int64_t n, const void *const x[],
                                           jdatatype_t x_type, int64_t incx, void *result,
                                           jdatatype_t compute_type, int64_t batch_count);
JALLOC_API jstatus_t jblas_nrm2_ex_strided_batched(jhandle_t *handle, int64_t n, const void *x,
                                                   jdatatype_t x_type, int64_t incx,
                                                   int64_t stride_x, void *result,
                                                   jdatatype_t compute_type, int64_t batch_count);

/** As jblas_asum_ex() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_asum_ex_batched(jhandle_t *handle, int64_t n, const void *const x[],
                                           jdatatype_t x_type, int64_t incx, void *result,
                                           jdatatype_t compute_type, int64_t batch_count);
JALLOC_API jstatus_t jblas_asum_ex_strided_batched(jhandle_t *handle, int64_t n, const void *x,
                                                   jdatatype_t x_type, int64_t incx,
                                                   int64_t stride_x, void *result,
                                                   jdatatype_t compute_type, int64_t batch_count);

/** As jblas_gemm_ex() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_gemm_ex_batched(jhandle_t *handle, jblas_operation_t transa,
                                           jblas_operation_t transb, int64_t m, int64_t n,
                                           int64_t k, const void *alpha, const void *const a[],
                                           jdatatype_t a_type, int64_t lda, const void *const b[],
                                           jdatatype_t b_type, int64_t ldb, const void *beta,
                                           void *const c[], jdatatype_t c_type, int64_t ldc,
                                           jdatatype_t compute_type, int64_t batch_count);
JALLOC_API jstatus_t jblas_gemm_ex_strided_batched(
    jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m, int64_t n,
    int64_t k, const void *alpha, const void *a, jdatatype_t a_type, int64_t lda, int64_t stride_a,
    const void *b, jdatatype_t b_type, int64_t ldb, int64_t stride_b, const void *beta, void *c,
    jdatatype_t c_type, int64_t ldc, int64_t stride_c, jdatatype_t compute_type,
    int64_t batch_count);

/** As jblas_trsm_ex() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jblas_trsm_ex_batched(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                           jblas_operation_t trans, jblas_diagonal_t diag,
                                           int64_t m, int64_t n, const void *alpha,
                                           const void *const a[], jdatatype_t a_type, int64_t lda,
                                           void *const b[], jdatatype_t b_type, int64_t ldb,
                                           jdatatype_t compute_type, int64_t batch_count);
JALLOC_API jstatus_t jblas_trsm_ex_strided_batched(
    jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo, jblas_operation_t trans,
    jblas_diagonal_t diag, int64_t m, int64_t n, const void *alpha, const void *a,
    jdatatype_t a_type, int64_t lda, int64_t stride_a, void *b, jdatatype_t b_type, int64_t ldb,
    int64_t stride_b, jdatatype_t compute_type, int64_t batch_count);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
