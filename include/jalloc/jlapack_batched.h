/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JLAPACK_BATCHED_H
#define JALLOC_JLAPACK_BATCHED_H

/** @file
 * LAPACK on a handle, batches: a routine for many matrices of one shape, by one call.
 *
 * The two forms of jblas_batched.h, with what it says of items, overlap, arrays of pointers,
 * checks, threads and workspace, and with what jlapack.h says of the plain form. **Pivots and
 * factors of reflectors** are one array in both forms, with a stride of their own, in elements;
 * those of items that are written must not overlap. Each item has the bits of the plain call. */

#include "jalloc/jlapack.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name LU and QR, batched
 * @{ */

/** As jlapack_dgetrf() for each item: info has batch_count values, ipiv those of each item at
 * ipiv + i * stride_ipiv, both in either form. Invalid size, invalid pointer: also of the
 * batch. */
JALLOC_API jstatus_t jlapack_sgetrf_batched(jhandle_t *handle, int64_t m, int64_t n,
                                            float *const a[], int64_t lda, int64_t *ipiv,
                                            int64_t stride_ipiv, int64_t *info,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_sgetrf_strided_batched(jhandle_t *handle, int64_t m, int64_t n,
                                                    float *a, int64_t lda, int64_t stride_a,
                                                    int64_t *ipiv, int64_t stride_ipiv,
                                                    int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_dgetrf_batched(jhandle_t *handle, int64_t m, int64_t n,
                                            double *const a[], int64_t lda, int64_t *ipiv,
                                            int64_t stride_ipiv, int64_t *info,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_dgetrf_strided_batched(jhandle_t *handle, int64_t m, int64_t n,
                                                    double *a, int64_t lda, int64_t stride_a,
                                                    int64_t *ipiv, int64_t stride_ipiv,
                                                    int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_cgetrf_batched(jhandle_t *handle, int64_t m, int64_t n,
                                            jcomplex_f32_t *const a[], int64_t lda, int64_t *ipiv,
                                            int64_t stride_ipiv, int64_t *info,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_cgetrf_strided_batched(jhandle_t *handle, int64_t m, int64_t n,
                                                    jcomplex_f32_t *a, int64_t lda,
                                                    int64_t stride_a, int64_t *ipiv,
                                                    int64_t stride_ipiv, int64_t *info,
                                                    int64_t batch_count);
JALLOC_API jstatus_t jlapack_zgetrf_batched(jhandle_t *handle, int64_t m, int64_t n,
                                            jcomplex_f64_t *const a[], int64_t lda, int64_t *ipiv,
                                            int64_t stride_ipiv, int64_t *info,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_zgetrf_strided_batched(jhandle_t *handle, int64_t m, int64_t n,
                                                    jcomplex_f64_t *a, int64_t lda,
                                                    int64_t stride_a, int64_t *ipiv,
                                                    int64_t stride_ipiv, int64_t *info,
                                                    int64_t batch_count);

/** As jlapack_dgetrs() for each item. Invalid size, invalid pointer: also of the
 * batch. */
JALLOC_API jstatus_t jlapack_sgetrs_batched(jhandle_t *handle, jblas_operation_t trans, int64_t n,
                                            int64_t nrhs, const float *const a[], int64_t lda,
                                            const int64_t *ipiv, int64_t stride_ipiv,
                                            float *const b[], int64_t ldb, int64_t batch_count);
JALLOC_API jstatus_t jlapack_sgetrs_strided_batched(jhandle_t *handle, jblas_operation_t trans,
                                                    int64_t n, int64_t nrhs, const float *a,
                                                    int64_t lda, int64_t stride_a,
                                                    const int64_t *ipiv, int64_t stride_ipiv,
                                                    float *b, int64_t ldb, int64_t stride_b,
                                                    int64_t batch_count);
JALLOC_API jstatus_t jlapack_dgetrs_batched(jhandle_t *handle, jblas_operation_t trans, int64_t n,
                                            int64_t nrhs, const double *const a[], int64_t lda,
                                            const int64_t *ipiv, int64_t stride_ipiv,
                                            double *const b[], int64_t ldb, int64_t batch_count);
JALLOC_API jstatus_t jlapack_dgetrs_strided_batched(jhandle_t *handle, jblas_operation_t trans,
                                                    int64_t n, int64_t nrhs, const double *a,
                                                    int64_t lda, int64_t stride_a,
                                                    const int64_t *ipiv, int64_t stride_ipiv,
                                                    double *b, int64_t ldb, int64_t stride_b,
                                                    int64_t batch_count);
JALLOC_API jstatus_t jlapack_cgetrs_batched(jhandle_t *handle, jblas_operation_t trans, int64_t n,
                                            int64_t nrhs, const jcomplex_f32_t *const a[],
                                            int64_t lda, const int64_t *ipiv, int64_t stride_ipiv,
                                            jcomplex_f32_t *const b[], int64_t ldb,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_cgetrs_strided_batched(
    jhandle_t *handle, jblas_operation_t trans, int64_t n, int64_t nrhs, const jcomplex_f32_t *a,
    int64_t lda, int64_t stride_a, const int64_t *ipiv, int64_t stride_ipiv, jcomplex_f32_t *b,
    int64_t ldb, int64_t stride_b, int64_t batch_count);
JALLOC_API jstatus_t jlapack_zgetrs_batched(jhandle_t *handle, jblas_operation_t trans, int64_t n,
                                            int64_t nrhs, const jcomplex_f64_t *const a[],
                                            int64_t lda, const int64_t *ipiv, int64_t stride_ipiv,
                                            jcomplex_f64_t *const b[], int64_t ldb,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_zgetrs_strided_batched(
    jhandle_t *handle, jblas_operation_t trans, int64_t n, int64_t nrhs, const jcomplex_f64_t *a,
    int64_t lda, int64_t stride_a, const int64_t *ipiv, int64_t stride_ipiv, jcomplex_f64_t *b,
    int64_t ldb, int64_t stride_b, int64_t batch_count);

/** As jlapack_dgesv() for each item: one whose info is not 0 keeps its B. Invalid size, invalid
 * pointer: also of the batch. */
JALLOC_API jstatus_t jlapack_sgesv_batched(jhandle_t *handle, int64_t n, int64_t nrhs,
                                           float *const a[], int64_t lda, int64_t *ipiv,
                                           int64_t stride_ipiv, float *const b[], int64_t ldb,
                                           int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_sgesv_strided_batched(jhandle_t *handle, int64_t n, int64_t nrhs,
                                                   float *a, int64_t lda, int64_t stride_a,
                                                   int64_t *ipiv, int64_t stride_ipiv, float *b,
                                                   int64_t ldb, int64_t stride_b, int64_t *info,
                                                   int64_t batch_count);
JALLOC_API jstatus_t jlapack_dgesv_batched(jhandle_t *handle, int64_t n, int64_t nrhs,
                                           double *const a[], int64_t lda, int64_t *ipiv,
                                           int64_t stride_ipiv, double *const b[], int64_t ldb,
                                           int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_dgesv_strided_batched(jhandle_t *handle, int64_t n, int64_t nrhs,
                                                   double *a, int64_t lda, int64_t stride_a,
                                                   int64_t *ipiv, int64_t stride_ipiv, double *b,
                                                   int64_t ldb, int64_t stride_b, int64_t *info,
                                                   int64_t batch_count);
JALLOC_API jstatus_t jlapack_cgesv_batched(jhandle_t *handle, int64_t n, int64_t nrhs,
                                           jcomplex_f32_t *const a[], int64_t lda, int64_t *ipiv,
                                           int64_t stride_ipiv, jcomplex_f32_t *const b[],
                                           int64_t ldb, int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_cgesv_strided_batched(jhandle_t *handle, int64_t n, int64_t nrhs,
                                                   jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
                                                   int64_t *ipiv, int64_t stride_ipiv,
                                                   jcomplex_f32_t *b, int64_t ldb, int64_t stride_b,
                                                   int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_zgesv_batched(jhandle_t *handle, int64_t n, int64_t nrhs,
                                           jcomplex_f64_t *const a[], int64_t lda, int64_t *ipiv,
                                           int64_t stride_ipiv, jcomplex_f64_t *const b[],
                                           int64_t ldb, int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_zgesv_strided_batched(jhandle_t *handle, int64_t n, int64_t nrhs,
                                                   jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
                                                   int64_t *ipiv, int64_t stride_ipiv,
                                                   jcomplex_f64_t *b, int64_t ldb, int64_t stride_b,
                                                   int64_t *info, int64_t batch_count);

/** As jlapack_dgetri() for each item. Invalid size, invalid pointer: also of the
 * batch. */
JALLOC_API jstatus_t jlapack_sgetri_batched(jhandle_t *handle, int64_t n, float *const a[],
                                            int64_t lda, const int64_t *ipiv, int64_t stride_ipiv,
                                            int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_sgetri_strided_batched(jhandle_t *handle, int64_t n, float *a,
                                                    int64_t lda, int64_t stride_a,
                                                    const int64_t *ipiv, int64_t stride_ipiv,
                                                    int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_dgetri_batched(jhandle_t *handle, int64_t n, double *const a[],
                                            int64_t lda, const int64_t *ipiv, int64_t stride_ipiv,
                                            int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_dgetri_strided_batched(jhandle_t *handle, int64_t n, double *a,
                                                    int64_t lda, int64_t stride_a,
                                                    const int64_t *ipiv, int64_t stride_ipiv,
                                                    int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_cgetri_batched(jhandle_t *handle, int64_t n, jcomplex_f32_t *const a[],
                                            int64_t lda, const int64_t *ipiv, int64_t stride_ipiv,
                                            int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_cgetri_strided_batched(jhandle_t *handle, int64_t n, jcomplex_f32_t *a,
                                                    int64_t lda, int64_t stride_a,
                                                    const int64_t *ipiv, int64_t stride_ipiv,
                                                    int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_zgetri_batched(jhandle_t *handle, int64_t n, jcomplex_f64_t *const a[],
                                            int64_t lda, const int64_t *ipiv, int64_t stride_ipiv,
                                            int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_zgetri_strided_batched(jhandle_t *handle, int64_t n, jcomplex_f64_t *a,
                                                    int64_t lda, int64_t stride_a,
                                                    const int64_t *ipiv, int64_t stride_ipiv,
                                                    int64_t *info, int64_t batch_count);

/** As jlapack_dgeqrf() for each item: tau has those of each at tau + i * stride_tau. Invalid size,
 * invalid pointer: also of the batch. */
JALLOC_API jstatus_t jlapack_sgeqrf_batched(jhandle_t *handle, int64_t m, int64_t n,
                                            float *const a[], int64_t lda, float *tau,
                                            int64_t stride_tau, int64_t batch_count);
JALLOC_API jstatus_t jlapack_sgeqrf_strided_batched(jhandle_t *handle, int64_t m, int64_t n,
                                                    float *a, int64_t lda, int64_t stride_a,
                                                    float *tau, int64_t stride_tau,
                                                    int64_t batch_count);
JALLOC_API jstatus_t jlapack_dgeqrf_batched(jhandle_t *handle, int64_t m, int64_t n,
                                            double *const a[], int64_t lda, double *tau,
                                            int64_t stride_tau, int64_t batch_count);
JALLOC_API jstatus_t jlapack_dgeqrf_strided_batched(jhandle_t *handle, int64_t m, int64_t n,
                                                    double *a, int64_t lda, int64_t stride_a,
                                                    double *tau, int64_t stride_tau,
                                                    int64_t batch_count);
JALLOC_API jstatus_t jlapack_cgeqrf_batched(jhandle_t *handle, int64_t m, int64_t n,
                                            jcomplex_f32_t *const a[], int64_t lda,
                                            jcomplex_f32_t *tau, int64_t stride_tau,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_cgeqrf_strided_batched(jhandle_t *handle, int64_t m, int64_t n,
                                                    jcomplex_f32_t *a, int64_t lda,
                                                    int64_t stride_a, jcomplex_f32_t *tau,
                                                    int64_t stride_tau, int64_t batch_count);
JALLOC_API jstatus_t jlapack_zgeqrf_batched(jhandle_t *handle, int64_t m, int64_t n,
                                            jcomplex_f64_t *const a[], int64_t lda,
                                            jcomplex_f64_t *tau, int64_t stride_tau,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_zgeqrf_strided_batched(jhandle_t *handle, int64_t m, int64_t n,
                                                    jcomplex_f64_t *a, int64_t lda,
                                                    int64_t stride_a, jcomplex_f64_t *tau,
                                                    int64_t stride_tau, int64_t batch_count);

/** @} @name Triangles and Cholesky, batched
 * @{ */

/** As jlapack_dtrtri() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jlapack_strtri_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                            jblas_diagonal_t diag, int64_t n, float *const a[],
                                            int64_t lda, int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_strtri_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                    jblas_diagonal_t diag, int64_t n, float *a,
                                                    int64_t lda, int64_t stride_a, int64_t *info,
                                                    int64_t batch_count);
JALLOC_API jstatus_t jlapack_dtrtri_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                            jblas_diagonal_t diag, int64_t n, double *const a[],
                                            int64_t lda, int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_dtrtri_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                    jblas_diagonal_t diag, int64_t n, double *a,
                                                    int64_t lda, int64_t stride_a, int64_t *info,
                                                    int64_t batch_count);
JALLOC_API jstatus_t jlapack_ctrtri_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                            jblas_diagonal_t diag, int64_t n,
                                            jcomplex_f32_t *const a[], int64_t lda, int64_t *info,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_ctrtri_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                    jblas_diagonal_t diag, int64_t n,
                                                    jcomplex_f32_t *a, int64_t lda,
                                                    int64_t stride_a, int64_t *info,
                                                    int64_t batch_count);
JALLOC_API jstatus_t jlapack_ztrtri_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                            jblas_diagonal_t diag, int64_t n,
                                            jcomplex_f64_t *const a[], int64_t lda, int64_t *info,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_ztrtri_strided_batched(jhandle_t *handle, jblas_uplo_t uplo,
                                                    jblas_diagonal_t diag, int64_t n,
                                                    jcomplex_f64_t *a, int64_t lda,
                                                    int64_t stride_a, int64_t *info,
                                                    int64_t batch_count);

/** As jlapack_dpotrf() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jlapack_spotrf_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                            float *const a[], int64_t lda, int64_t *info,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_spotrf_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                    float *a, int64_t lda, int64_t stride_a,
                                                    int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_dpotrf_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                            double *const a[], int64_t lda, int64_t *info,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_dpotrf_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                    double *a, int64_t lda, int64_t stride_a,
                                                    int64_t *info, int64_t batch_count);
JALLOC_API jstatus_t jlapack_cpotrf_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                            jcomplex_f32_t *const a[], int64_t lda, int64_t *info,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_cpotrf_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                    jcomplex_f32_t *a, int64_t lda,
                                                    int64_t stride_a, int64_t *info,
                                                    int64_t batch_count);
JALLOC_API jstatus_t jlapack_zpotrf_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                            jcomplex_f64_t *const a[], int64_t lda, int64_t *info,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_zpotrf_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                    jcomplex_f64_t *a, int64_t lda,
                                                    int64_t stride_a, int64_t *info,
                                                    int64_t batch_count);

/** As jlapack_dpotrs() for each item; invalid size, invalid pointer: also of the batch. */
JALLOC_API jstatus_t jlapack_spotrs_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                            int64_t nrhs, const float *const a[], int64_t lda,
                                            float *const b[], int64_t ldb, int64_t batch_count);
JALLOC_API jstatus_t jlapack_spotrs_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                    int64_t nrhs, const float *a, int64_t lda,
                                                    int64_t stride_a, float *b, int64_t ldb,
                                                    int64_t stride_b, int64_t batch_count);
JALLOC_API jstatus_t jlapack_dpotrs_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                            int64_t nrhs, const double *const a[], int64_t lda,
                                            double *const b[], int64_t ldb, int64_t batch_count);
JALLOC_API jstatus_t jlapack_dpotrs_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                    int64_t nrhs, const double *a, int64_t lda,
                                                    int64_t stride_a, double *b, int64_t ldb,
                                                    int64_t stride_b, int64_t batch_count);
JALLOC_API jstatus_t jlapack_cpotrs_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                            int64_t nrhs, const jcomplex_f32_t *const a[],
                                            int64_t lda, jcomplex_f32_t *const b[], int64_t ldb,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_cpotrs_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                    int64_t nrhs, const jcomplex_f32_t *a,
                                                    int64_t lda, int64_t stride_a,
                                                    jcomplex_f32_t *b, int64_t ldb,
                                                    int64_t stride_b, int64_t batch_count);
JALLOC_API jstatus_t jlapack_zpotrs_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                            int64_t nrhs, const jcomplex_f64_t *const a[],
                                            int64_t lda, jcomplex_f64_t *const b[], int64_t ldb,
                                            int64_t batch_count);
JALLOC_API jstatus_t jlapack_zpotrs_strided_batched(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                                    int64_t nrhs, const jcomplex_f64_t *a,
                                                    int64_t lda, int64_t stride_a,
                                                    jcomplex_f64_t *b, int64_t ldb,
                                                    int64_t stride_b, int64_t batch_count);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
