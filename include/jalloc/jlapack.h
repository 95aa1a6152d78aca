/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JLAPACK_H
#define JALLOC_JLAPACK_H

/** @file
 * LAPACK on a handle: libjlapack, above libjblas.
 *
 * A routine has the name of LAPACK behind "jlapack_", a handle first, and the arguments of LAPACK
 * in their order without work and lwork, which are the handle's workspace; its size query gives the
 * bytes. Sizes, pivots and info are int64_t; TRANS and its like are jblas's enumerators. Scalars
 * and results, streams and threads, the order of checks, size queries and overlap are as jblas.h
 * says.
 *
 * - **info** is a result, which follows the pointer mode: 0, or i > 0 (1-based) as said; the status
 *   is success then, too. A wrong argument is a status, not a negative info.
 * - **Statuses.** Success; perf degraded; invalid handle; invalid value, invalid size, invalid
 *   pointer; memory error and sealed; during a size query size increased or size unchanged; forked,
 *   busy, capturing and device error; not implemented (before anything else, on a device that lacks
 *   the routine: GPUs lack them so far). */

#include <stdint.h>

#include "jalloc/datatype.h"
#include "jalloc/export.h"
#include "jalloc/handle.h"
#include "jalloc/jblas_types.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name LU
 * @{ */

/** LU factorization with partial pivoting, A = P L U in place: below the diagonal L, whose diagonal
 * of ones is not stored, on it and above U. A: m x n, lda >= max(1, m). ipiv: min(m, n) elements;
 * row i was exchanged with row ipiv[i - 1] >= i, from 1 on, in that order. info: i > 0: U(i, i) is
 * 0, the first such; the factorization is complete, a solve with it would divide by 0. Pivots are
 * the largest |Re| + |Im| of their columns, the first of equals; a NaN is larger than all.
 * Accuracy: |P^T A - L U| <= gamma_k |L||U| element by element, k = min(m, n) + 8 (complex: 4 k).
 * Workspace: as the largest solve and product inside, rungs "packed" (and 128 columns of A),
 * "packed-small", "in place" with the same bits. Algorithm: recursive by halves of the columns
 * (Toledo 1997). */
JALLOC_API jstatus_t jlapack_sgetrf(jhandle_t *handle, int64_t m, int64_t n, float *a, int64_t lda,
                                    int64_t *ipiv, int64_t *info);
JALLOC_API jstatus_t jlapack_dgetrf(jhandle_t *handle, int64_t m, int64_t n, double *a, int64_t lda,
                                    int64_t *ipiv, int64_t *info);
JALLOC_API jstatus_t jlapack_cgetrf(jhandle_t *handle, int64_t m, int64_t n, jcomplex_f32_t *a,
                                    int64_t lda, int64_t *ipiv, int64_t *info);
JALLOC_API jstatus_t jlapack_zgetrf(jhandle_t *handle, int64_t m, int64_t n, jcomplex_f64_t *a,
                                    int64_t lda, int64_t *ipiv, int64_t *info);

/** Solves op(A) X = B with the factor and the pivots that jlapack_dgetrf left; X overwrites B.
 * A: of order n, lda >= max(1, n). ipiv: n elements, each from 1 to n, which is not checked. B: n x
 * nrhs, ldb >= max(1, n). Accuracy and workspace: as jblas_dtrsm with triangles of order n and the
 * same B. */
JALLOC_API jstatus_t jlapack_sgetrs(jhandle_t *handle, jblas_operation_t trans, int64_t n,
                                    int64_t nrhs, const float *a, int64_t lda, const int64_t *ipiv,
                                    float *b, int64_t ldb);
JALLOC_API jstatus_t jlapack_dgetrs(jhandle_t *handle, jblas_operation_t trans, int64_t n,
                                    int64_t nrhs, const double *a, int64_t lda, const int64_t *ipiv,
                                    double *b, int64_t ldb);
JALLOC_API jstatus_t jlapack_cgetrs(jhandle_t *handle, jblas_operation_t trans, int64_t n,
                                    int64_t nrhs, const jcomplex_f32_t *a, int64_t lda,
                                    const int64_t *ipiv, jcomplex_f32_t *b, int64_t ldb);
JALLOC_API jstatus_t jlapack_zgetrs(jhandle_t *handle, jblas_operation_t trans, int64_t n,
                                    int64_t nrhs, const jcomplex_f64_t *a, int64_t lda,
                                    const int64_t *ipiv, jcomplex_f64_t *b, int64_t ldb);

/** Solves A X = B: jlapack_dgetrf, and where info is 0 jlapack_dgetrs. A becomes the factor, B the
 * solution; where info is not 0 B is unchanged. A: of order n; ipiv: n elements; B: n x nrhs.
 * Workspace: the larger of both. */
JALLOC_API jstatus_t jlapack_sgesv(jhandle_t *handle, int64_t n, int64_t nrhs, float *a,
                                   int64_t lda, int64_t *ipiv, float *b, int64_t ldb,
                                   int64_t *info);
JALLOC_API jstatus_t jlapack_dgesv(jhandle_t *handle, int64_t n, int64_t nrhs, double *a,
                                   int64_t lda, int64_t *ipiv, double *b, int64_t ldb,
                                   int64_t *info);
JALLOC_API jstatus_t jlapack_cgesv(jhandle_t *handle, int64_t n, int64_t nrhs, jcomplex_f32_t *a,
                                   int64_t lda, int64_t *ipiv, jcomplex_f32_t *b, int64_t ldb,
                                   int64_t *info);
JALLOC_API jstatus_t jlapack_zgesv(jhandle_t *handle, int64_t n, int64_t nrhs, jcomplex_f64_t *a,
                                   int64_t lda, int64_t *ipiv, jcomplex_f64_t *b, int64_t ldb,
                                   int64_t *info);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
