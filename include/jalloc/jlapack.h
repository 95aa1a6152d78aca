/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JLAPACK_H
#define JALLOC_JLAPACK_H

/** @file
 * LAPACK on a handle: libjlapack, above libjblas.
 *
 * A routine has the name of LAPACK behind "jlapack_", a handle first, and the arguments of LAPACK
 * in their order without work and lwork, which are the handle's workspace; its size query gives the
 * bytes. Where LAPACK's info tells but of wrong arguments there is none. Sizes, pivots and info are
 * int64_t; TRANS and its like are jblas's enumerators. Scalars and results, streams and threads,
 * the order of checks, size queries and overlap are as jblas.h says.
 *
 * - **info** is a result, which follows the pointer mode: 0, or i > 0 (1-based) as said; the status
 *   is success then, too. A wrong argument is a status, not a negative info.
 * - **Statuses.** Success; perf degraded; invalid handle; invalid value, invalid size, invalid
 *   pointer; memory error and sealed; during a size query size increased or size unchanged; forked,
 *   busy, capturing and device error; not implemented (before anything else, on a device that lacks
 *   the routine).
 * - **On a GPU** trtri, potrf and potrs are jalloc's own. getrf, getrs, gesv, geqrf, orgqr, ormqr,
 *   gels, and of jlapack_drivers.h syevd and gesvd, are computed by the vendor's LAPACK: cuSOLVER,
 *   or hipSOLVER, which lacks the last two. It is loaded when the first of them asks, by a call or
 *   a size query; without it, and with JALLOC_VENDOR_BLAS=0, they are not implemented, and the
 *   message says what was looked for. They have one rung, "vendor", of the bytes that the vendor
 *   asks for, and may want host workspace (handle.h). Bits and accuracy are the vendor's. gesv
 *   solves for a copy of B; gels and gesvd of more columns than rows work on a copy of A^H. gels
 *   does not scale, and finds an A of zeros without full rank, info 1. Numbers that are not finite
 *   are not looked for. Also not implemented: complex operands whose address is not a multiple of
 *   their size; orgqr, ormqr and gels with a size above 2^31 - 1; CUDA's per-thread stream.
 *   Capturing: any of them in a captured stream. Internal error: the vendor refused an argument
 *   (info below 0, which in device pointer mode is all there is to see), or a call. */

#include <stdint.h>

#include "jalloc/datatype.h"
#include "jalloc/export.h"
#include "jalloc/handle.h"
#include "jalloc/jblas_types.h"
#include "jalloc/jlapack_drivers.h"
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

/** The inverse of A over the factor that jlapack_dgetrf left in A, with its pivots. A: of order n,
 * lda >= max(1, n). ipiv: n elements, each from 1 to n, which is not checked. info: i > 0: U(i, i)
 * is 0, the first such, and A is as it was. Accuracy: |A X - I| <= c n u |A||X| by norms, with a c
 * that grows with the condition of L, which partial pivoting keeps small in practice. Workspace: as
 * the largest solve and product inside, rungs "packed", "packed-small", "in place" with the same
 * bits; A itself is not copied. Algorithm: both triangles are inverted where they are, and
 * multiplied where they are, by halves (method D of Higham, Accuracy and Stability of Numerical
 * Algorithms, 14.3.4). */
JALLOC_API jstatus_t jlapack_sgetri(jhandle_t *handle, int64_t n, float *a, int64_t lda,
                                    const int64_t *ipiv, int64_t *info);
JALLOC_API jstatus_t jlapack_dgetri(jhandle_t *handle, int64_t n, double *a, int64_t lda,
                                    const int64_t *ipiv, int64_t *info);
JALLOC_API jstatus_t jlapack_cgetri(jhandle_t *handle, int64_t n, jcomplex_f32_t *a, int64_t lda,
                                    const int64_t *ipiv, int64_t *info);
JALLOC_API jstatus_t jlapack_zgetri(jhandle_t *handle, int64_t n, jcomplex_f64_t *a, int64_t lda,
                                    const int64_t *ipiv, int64_t *info);

/** @} */

/** @name Triangles and Cholesky
 * trtri, potrf and potrs are jalloc's own on GPUs, too.
 * @{ */

/** A = A^-1 in place, one triangle; the other is not touched. A: triangular of order n, lda >=
 * max(1, n). info: 0, or i > 0 (1-based): diagonal element i is zero, A is unchanged; the status is
 * success all the same. info is a result, it follows the pointer mode. Accuracy componentwise: for
 * X = A^-1 a residual |X A - I| <= gamma_k |X||A| element by element, k = n + 8 (complex: 4 k); of
 * a lower triangle on a GPU |A X - I| <= gamma_k |A||X|. Normwise: the same on the host; on a GPU
 * products of inverses, |A X - I| <= gamma_k |A||X||A||X|. Workspace: on the host as the solves
 * inside, rungs "packed", "packed-small", "in place" with the same bits. On a GPU the inverse:
 * componentwise "halves", normwise "inverse" and a quarter more; last rung "substitution" none,
 * slow. */
JALLOC_API jstatus_t jlapack_strtri(jhandle_t *handle, jblas_uplo_t uplo, jblas_diagonal_t diag,
                                    int64_t n, float *a, int64_t lda, int64_t *info);
JALLOC_API jstatus_t jlapack_dtrtri(jhandle_t *handle, jblas_uplo_t uplo, jblas_diagonal_t diag,
                                    int64_t n, double *a, int64_t lda, int64_t *info);
JALLOC_API jstatus_t jlapack_ctrtri(jhandle_t *handle, jblas_uplo_t uplo, jblas_diagonal_t diag,
                                    int64_t n, jcomplex_f32_t *a, int64_t lda, int64_t *info);
JALLOC_API jstatus_t jlapack_ztrtri(jhandle_t *handle, jblas_uplo_t uplo, jblas_diagonal_t diag,
                                    int64_t n, jcomplex_f64_t *a, int64_t lda, int64_t *info);

/** Solves op(A) X = B with a triangle; X overwrites B. A: of order n, lda >= max(1, n); the other
 * triangle, and with JBLAS_UNIT the diagonal, are not read. B: n x nrhs, ldb >= max(1, n). info:
 * i > 0: A(i, i) is 0, the first such, and B is as it was. Accuracy, workspace: as jblas_dtrsm. */
JALLOC_API jstatus_t jlapack_strtrs(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                    jblas_diagonal_t diag, int64_t n, int64_t nrhs, const float *a,
                                    int64_t lda, float *b, int64_t ldb, int64_t *info);
JALLOC_API jstatus_t jlapack_dtrtrs(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                    jblas_diagonal_t diag, int64_t n, int64_t nrhs, const double *a,
                                    int64_t lda, double *b, int64_t ldb, int64_t *info);
JALLOC_API jstatus_t jlapack_ctrtrs(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                    jblas_diagonal_t diag, int64_t n, int64_t nrhs,
                                    const jcomplex_f32_t *a, int64_t lda, jcomplex_f32_t *b,
                                    int64_t ldb, int64_t *info);
JALLOC_API jstatus_t jlapack_ztrtrs(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                    jblas_diagonal_t diag, int64_t n, int64_t nrhs,
                                    const jcomplex_f64_t *a, int64_t lda, jcomplex_f64_t *b,
                                    int64_t ldb, int64_t *info);

/** Cholesky factorization A = U^H U (upper) or L L^H (lower) in place, one triangle; the other is
 * not touched. A: symmetric or Hermitian positive definite of order n, lda >= max(1, n). info: 0,
 * or i > 0 (1-based): the leading minor of order i is not positive definite. Then the leading
 * triangle of order i - 1 holds its factor, and what stands in the rest of the triangle is not
 * said; the status is success all the same. info is a result, it follows the pointer mode. On a GPU
 * the steps behind a failure are done all the same, so that no call waits; on the host they are
 * not. Accuracy componentwise: |A - L L^H| <= gamma_k |L||L^H| element by element, k = n + 8
 * (complex: 4 k). Normwise: the same on the host; on a GPU as jblas_dtrsm for the solves inside, by
 * diagonal blocks of order 128. Workspace: on the host as the largest solve and product inside,
 * rungs "packed", "packed-small", "in place" with the same bits. On a GPU, normwise and above order
 * 128, "inverse" the inverse of one diagonal block and n x 128 elements, "inverse-strips"
 * 1024 x 128 in place of these; last rung "substitution" none. */
JALLOC_API jstatus_t jlapack_spotrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, float *a,
                                    int64_t lda, int64_t *info);
JALLOC_API jstatus_t jlapack_dpotrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, double *a,
                                    int64_t lda, int64_t *info);
JALLOC_API jstatus_t jlapack_cpotrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                    jcomplex_f32_t *a, int64_t lda, int64_t *info);
JALLOC_API jstatus_t jlapack_zpotrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                    jcomplex_f64_t *a, int64_t lda, int64_t *info);

/** Solves A X = B with the factor that jlapack_dpotrf left in A; X overwrites B. B: n x nrhs, ldb
 * >= max(1, n). Accuracy and workspace: as jblas_dtrsm with the same A and B. */
JALLOC_API jstatus_t jlapack_spotrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const float *a, int64_t lda, float *b, int64_t ldb);
JALLOC_API jstatus_t jlapack_dpotrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const double *a, int64_t lda, double *b, int64_t ldb);
JALLOC_API jstatus_t jlapack_cpotrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const jcomplex_f32_t *a, int64_t lda, jcomplex_f32_t *b,
                                    int64_t ldb);
JALLOC_API jstatus_t jlapack_zpotrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const jcomplex_f64_t *a, int64_t lda, jcomplex_f64_t *b,
                                    int64_t ldb);

/** Solves A X = B with a symmetric or Hermitian, positive definite A: jlapack_dpotrf, and where
 * info is 0 jlapack_dpotrs. The triangle of A becomes the factor, B the solution. A: of order n,
 * lda >= max(1, n). B: n x nrhs, ldb >= max(1, n). info: i > 0: the leading minor of order i is not
 * positive, and B is as it was. Workspace: the larger of both, as one plan. */
JALLOC_API jstatus_t jlapack_sposv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                   float *a, int64_t lda, float *b, int64_t ldb, int64_t *info);
JALLOC_API jstatus_t jlapack_dposv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                   double *a, int64_t lda, double *b, int64_t ldb, int64_t *info);
JALLOC_API jstatus_t jlapack_cposv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                   jcomplex_f32_t *a, int64_t lda, jcomplex_f32_t *b, int64_t ldb,
                                   int64_t *info);
JALLOC_API jstatus_t jlapack_zposv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                   jcomplex_f64_t *a, int64_t lda, jcomplex_f64_t *b, int64_t ldb,
                                   int64_t *info);

/** U U^H over the upper triangle U, or L^H L over the lower one L; its diagonal becomes real. A: of
 * order n, lda >= max(1, n). Workspace and bits: as jlapack_dgetri. Algorithm: by halves. */
JALLOC_API jstatus_t jlapack_slauum(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, float *a,
                                    int64_t lda);
JALLOC_API jstatus_t jlapack_dlauum(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, double *a,
                                    int64_t lda);
JALLOC_API jstatus_t jlapack_clauum(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                    jcomplex_f32_t *a, int64_t lda);
JALLOC_API jstatus_t jlapack_zlauum(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                    jcomplex_f64_t *a, int64_t lda);

/** The triangle of the inverse of A over Cholesky's factor, which jlapack_dpotrf left there. A: of
 * order n, lda >= max(1, n). info: i > 0: element (i, i) of the factor is 0, the first such, and A
 * is as it was. Accuracy: |A X - I| <= c n u |A||X| by norms. Workspace, bits: as jlapack_dgetri.
 * Algorithm: the factor is inverted (jlapack_dtrtri), then jlapack_dlauum. */
JALLOC_API jstatus_t jlapack_spotri(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, float *a,
                                    int64_t lda, int64_t *info);
JALLOC_API jstatus_t jlapack_dpotri(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, double *a,
                                    int64_t lda, int64_t *info);
JALLOC_API jstatus_t jlapack_cpotri(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                    jcomplex_f32_t *a, int64_t lda, int64_t *info);
JALLOC_API jstatus_t jlapack_zpotri(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                    jcomplex_f64_t *a, int64_t lda, int64_t *info);

/** @} */

/** @name Symmetric and Hermitian, indefinite
 * @{ */

/** The factorization A = L D L^T (JBLAS_LOWER) or U D U^T (JBLAS_UPPER) of a symmetric matrix, and
 * by jlapack_zhetrf A = L D L^H or U D U^H of a Hermitian one, in place: D has blocks of order 1
 * and 2, L and U are products of interchanges and triangles with ones on their diagonals, as LAPACK
 * has them. A: of order n, lda >= max(1, n); the other triangle is neither read nor written. Of a
 * Hermitian A imaginary parts on the diagonal are not read, and become 0. ipiv: n elements, from 1
 * on. ipiv[k - 1] > 0: D(k, k) is a block of order 1, and rows and columns k and ipiv[k - 1] were
 * exchanged; ipiv[k - 1] = ipiv[k] = -p: one of order 2 begins at D(k, k), and rows and columns p
 * and k + 1 (lower) or k (upper) were exchanged. info: i > 0: D(i, i) is a block, and 0, the first
 * that was met: from the first column on (lower) or from the last (upper). The factorization is
 * complete, a solve with it would divide by 0. Accuracy: |A - P L D L^T P^T| <= c n u g max|A|,
 * where g is how much what was left of A has grown on the way; L itself has no bound. Workspace: as
 * the largest product inside, rungs "packed" (and 32 columns of A), "packed-small", "in place" with
 * the same bits; the first two have two columns of A more where one takes more than 4 KiB.
 * Algorithm: partial pivoting (Bunch and Kaufman 1977), by panels of 32 columns. */
JALLOC_API jstatus_t jlapack_ssytrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, float *a,
                                    int64_t lda, int64_t *ipiv, int64_t *info);
JALLOC_API jstatus_t jlapack_dsytrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, double *a,
                                    int64_t lda, int64_t *ipiv, int64_t *info);
JALLOC_API jstatus_t jlapack_csytrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                    jcomplex_f32_t *a, int64_t lda, int64_t *ipiv, int64_t *info);
JALLOC_API jstatus_t jlapack_zsytrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                    jcomplex_f64_t *a, int64_t lda, int64_t *ipiv, int64_t *info);
JALLOC_API jstatus_t jlapack_chetrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                    jcomplex_f32_t *a, int64_t lda, int64_t *ipiv, int64_t *info);
JALLOC_API jstatus_t jlapack_zhetrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                    jcomplex_f64_t *a, int64_t lda, int64_t *ipiv, int64_t *info);

/** Solves A X = B with the factor and the pivots that jlapack_dsytrf left, by jlapack_zhetrs those
 * of jlapack_zhetrf; X overwrites B. A: of order n, lda >= max(1, n). ipiv: n elements, which are
 * not checked. B: n x nrhs, ldb >= max(1, n). Accuracy: X is the solution of a problem with A + E,
 * |E| <= c n u |L||D||L|^T element by element, whose norm is at most 36 n g |A| (Higham 1997).
 * Workspace: as the largest product inside, rungs "packed", "packed-small", "in place" with the
 * same bits. */
JALLOC_API jstatus_t jlapack_ssytrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const float *a, int64_t lda, const int64_t *ipiv, float *b,
                                    int64_t ldb);
JALLOC_API jstatus_t jlapack_dsytrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const double *a, int64_t lda, const int64_t *ipiv, double *b,
                                    int64_t ldb);
JALLOC_API jstatus_t jlapack_csytrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const jcomplex_f32_t *a, int64_t lda, const int64_t *ipiv,
                                    jcomplex_f32_t *b, int64_t ldb);
JALLOC_API jstatus_t jlapack_zsytrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const jcomplex_f64_t *a, int64_t lda, const int64_t *ipiv,
                                    jcomplex_f64_t *b, int64_t ldb);
JALLOC_API jstatus_t jlapack_chetrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const jcomplex_f32_t *a, int64_t lda, const int64_t *ipiv,
                                    jcomplex_f32_t *b, int64_t ldb);
JALLOC_API jstatus_t jlapack_zhetrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const jcomplex_f64_t *a, int64_t lda, const int64_t *ipiv,
                                    jcomplex_f64_t *b, int64_t ldb);

/** Solves A X = B with a symmetric or Hermitian A: jlapack_dsytrf or jlapack_zhetrf, and where info
 * is 0 the solve. A becomes the factor, B the solution; where info is not 0 B is unchanged. A: of
 * order n; ipiv: n elements; B: n x nrhs. Workspace: the larger of both. */
JALLOC_API jstatus_t jlapack_ssysv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                   float *a, int64_t lda, int64_t *ipiv, float *b, int64_t ldb,
                                   int64_t *info);
JALLOC_API jstatus_t jlapack_dsysv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                   double *a, int64_t lda, int64_t *ipiv, double *b, int64_t ldb,
                                   int64_t *info);
JALLOC_API jstatus_t jlapack_csysv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                   jcomplex_f32_t *a, int64_t lda, int64_t *ipiv, jcomplex_f32_t *b,
                                   int64_t ldb, int64_t *info);
JALLOC_API jstatus_t jlapack_zsysv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                   jcomplex_f64_t *a, int64_t lda, int64_t *ipiv, jcomplex_f64_t *b,
                                   int64_t ldb, int64_t *info);
JALLOC_API jstatus_t jlapack_chesv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                   jcomplex_f32_t *a, int64_t lda, int64_t *ipiv, jcomplex_f32_t *b,
                                   int64_t ldb, int64_t *info);
JALLOC_API jstatus_t jlapack_zhesv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                   jcomplex_f64_t *a, int64_t lda, int64_t *ipiv, jcomplex_f64_t *b,
                                   int64_t ldb, int64_t *info);

/** @} */

/** @name Condition
 * @{ */

/** Of which norm a condition number is; the BLAS standard's numbers. */
typedef enum jlapack_norm_t {
    JLAPACK_ONE_NORM = 171,     /**< the largest sum of a column's absolute values, "1" */
    JLAPACK_INFINITY_NORM = 175 /**< the largest sum of a row's, "I" */
} jlapack_norm_t;

/** rcond = 1 / (|A| |inv(A)|) in that norm, by the factor that jlapack_dgetrf left: near 1 where A
 * is well conditioned, near the rounding unit where a solve has no digit left. |inv(A)| is
 * estimated: a lower bound, but for rounding, and seldom less than a third of what it is. A: of
 * order n, lda >= max(1, n). anorm: |A| in that norm, of the matrix that was factored; a scalar, as
 * alpha is. rcond: a real result: 1 where n is 0; 0 where anorm is 0 or infinite, or where the
 * diagonal has a zero; tiny or 0 where A is nearly singular: steps that would overflow are scaled.
 * A NaN, an anorm below 0 and a diagonal that is not finite give NaN; an anorm of 0 or
 * infinity decides whatever A holds. Workspace: 3 n elements, without which it is a memory error;
 * one rung, "in place". Algorithm: Hager 1984; Higham 1988, ACM TOMS 14. */
JALLOC_API jstatus_t jlapack_sgecon(jhandle_t *handle, jlapack_norm_t norm, int64_t n,
                                    const float *a, int64_t lda, const float *anorm, float *rcond);
JALLOC_API jstatus_t jlapack_dgecon(jhandle_t *handle, jlapack_norm_t norm, int64_t n,
                                    const double *a, int64_t lda, const double *anorm,
                                    double *rcond);
JALLOC_API jstatus_t jlapack_cgecon(jhandle_t *handle, jlapack_norm_t norm, int64_t n,
                                    const jcomplex_f32_t *a, int64_t lda, const float *anorm,
                                    float *rcond);
JALLOC_API jstatus_t jlapack_zgecon(jhandle_t *handle, jlapack_norm_t norm, int64_t n,
                                    const jcomplex_f64_t *a, int64_t lda, const double *anorm,
                                    double *rcond);

/** The same of a Hermitian, positive definite A, by the factor in that triangle that jlapack_dpotrf
 * left; both norms are one. */
JALLOC_API jstatus_t jlapack_spocon(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const float *a,
                                    int64_t lda, const float *anorm, float *rcond);
JALLOC_API jstatus_t jlapack_dpocon(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                    const double *a, int64_t lda, const double *anorm,
                                    double *rcond);
JALLOC_API jstatus_t jlapack_cpocon(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                    const jcomplex_f32_t *a, int64_t lda, const float *anorm,
                                    float *rcond);
JALLOC_API jstatus_t jlapack_zpocon(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                    const jcomplex_f64_t *a, int64_t lda, const double *anorm,
                                    double *rcond);

/** The same of a triangle, whose own norm is computed, too: the other triangle, and with JBLAS_UNIT
 * the diagonal, are not read. rcond is 0 where the diagonal has a zero, and where one of the
 * elements that are read is infinite. */
JALLOC_API jstatus_t jlapack_strcon(jhandle_t *handle, jlapack_norm_t norm, jblas_uplo_t uplo,
                                    jblas_diagonal_t diag, int64_t n, const float *a, int64_t lda,
                                    float *rcond);
JALLOC_API jstatus_t jlapack_dtrcon(jhandle_t *handle, jlapack_norm_t norm, jblas_uplo_t uplo,
                                    jblas_diagonal_t diag, int64_t n, const double *a, int64_t lda,
                                    double *rcond);
JALLOC_API jstatus_t jlapack_ctrcon(jhandle_t *handle, jlapack_norm_t norm, jblas_uplo_t uplo,
                                    jblas_diagonal_t diag, int64_t n, const jcomplex_f32_t *a,
                                    int64_t lda, float *rcond);
JALLOC_API jstatus_t jlapack_ztrcon(jhandle_t *handle, jlapack_norm_t norm, jblas_uplo_t uplo,
                                    jblas_diagonal_t diag, int64_t n, const jcomplex_f64_t *a,
                                    int64_t lda, double *rcond);

/** @} */

/** @name Iterative refinement
 * @{ */

/** Refines the X of op(A) X = B, and bounds its error. A: of order n, lda >= max(1, n), as it was
 * before jlapack_dgetrf made AF of it, ldaf >= max(1, n), and ipiv, n elements. B: n x nrhs, ldb >=
 * max(1, n). X: n x nrhs, ldx >= max(1, n): a solution, such as jlapack_dgetrs's, and a better one.
 * ferr, berr: real results, one for each column x of X, whose error and backward error they are:
 * |x - x*| <= ferr |x| by the largest elements, where ferr is an estimate that is seldom
 * too small; and x solves (op(A) + E) x = b + f with |E| <= berr |A| and |f| <= berr |b|
 * element by element. Absolute values of complex elements are |Re| + |Im|. Both are 0 where n is
 * 0, and NaN where a NaN is met. A step follows while it halves berr and that is above the rounding
 * unit, five at most. Of a singular AF ferr is infinite or NaN. Workspace: 4 n elements and n real
 * numbers, without which it is a memory error; one rung, "in place". Algorithm: Skeel 1980; Arioli,
 * Demmel and Duff 1989. */
JALLOC_API jstatus_t jlapack_sgerfs(jhandle_t *handle, jblas_operation_t trans, int64_t n,
                                    int64_t nrhs, const float *a, int64_t lda, const float *af,
                                    int64_t ldaf, const int64_t *ipiv, const float *b, int64_t ldb,
                                    float *x, int64_t ldx, float *ferr, float *berr);
JALLOC_API jstatus_t jlapack_dgerfs(jhandle_t *handle, jblas_operation_t trans, int64_t n,
                                    int64_t nrhs, const double *a, int64_t lda, const double *af,
                                    int64_t ldaf, const int64_t *ipiv, const double *b, int64_t ldb,
                                    double *x, int64_t ldx, double *ferr, double *berr);
JALLOC_API jstatus_t jlapack_cgerfs(jhandle_t *handle, jblas_operation_t trans, int64_t n,
                                    int64_t nrhs, const jcomplex_f32_t *a, int64_t lda,
                                    const jcomplex_f32_t *af, int64_t ldaf, const int64_t *ipiv,
                                    const jcomplex_f32_t *b, int64_t ldb, jcomplex_f32_t *x,
                                    int64_t ldx, float *ferr, float *berr);
JALLOC_API jstatus_t jlapack_zgerfs(jhandle_t *handle, jblas_operation_t trans, int64_t n,
                                    int64_t nrhs, const jcomplex_f64_t *a, int64_t lda,
                                    const jcomplex_f64_t *af, int64_t ldaf, const int64_t *ipiv,
                                    const jcomplex_f64_t *b, int64_t ldb, jcomplex_f64_t *x,
                                    int64_t ldx, double *ferr, double *berr);

/** The same of a symmetric or Hermitian, positive definite A, of which that triangle is read, by
 * the factor in the same triangle of AF that jlapack_dpotrf left. */
JALLOC_API jstatus_t jlapack_sporfs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const float *a, int64_t lda, const float *af, int64_t ldaf,
                                    const float *b, int64_t ldb, float *x, int64_t ldx, float *ferr,
                                    float *berr);
JALLOC_API jstatus_t jlapack_dporfs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const double *a, int64_t lda, const double *af, int64_t ldaf,
                                    const double *b, int64_t ldb, double *x, int64_t ldx,
                                    double *ferr, double *berr);
JALLOC_API jstatus_t jlapack_cporfs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const jcomplex_f32_t *a, int64_t lda, const jcomplex_f32_t *af,
                                    int64_t ldaf, const jcomplex_f32_t *b, int64_t ldb,
                                    jcomplex_f32_t *x, int64_t ldx, float *ferr, float *berr);
JALLOC_API jstatus_t jlapack_zporfs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    const jcomplex_f64_t *a, int64_t lda, const jcomplex_f64_t *af,
                                    int64_t ldaf, const jcomplex_f64_t *b, int64_t ldb,
                                    jcomplex_f64_t *x, int64_t ldx, double *ferr, double *berr);

/** @} */

/** @name Solves in mixed precision
 * @{ */

/** Solves A X = B by a factorization in floats, which takes half the time, and refinement: jalloc's
 * jlapack_dgesv with a rung that memory buys. That is taken where it pays: from 1 MiB of A on, 8
 * MiB of jlapack_dsposv's, and for up to n / 64 right-hand sides, or n / 128, since each step of
 * refinement multiplies by A once for each of them. A: of order n, lda >= max(1, n). ipiv: n
 * elements. B: n x nrhs, ldb >= max(1, n). X: n x nrhs, ldx >= max(1, n), which must not overlap
 * B. iter: a result: how many steps of refinement it took; A is then as it was, ipiv the floats'.
 * Below 0 it was solved as by jlapack_dgesv, A is the factor, ipiv its pivots, and info is as
 * there; iter says why: -1 sizes, the workspace or the result policy, -2 an element of A that no
 * float is, -3 a factor in floats that is singular, -31 steps that no longer halved the residual,
 * or more than 30. Accuracy: with iter >= 0 (A + E) X = B + F with |E| <= c u |A| and |F| <= c u
 * |B|, c = sqrt(n) + 3, column by column and element by element, where LAPACK's routines of these
 * names ask for the same of norms. Bits are others than jlapack_dgesv's, so
 * JRESULT_POLICY_SAME_BITS goes without; they are the same for any number of threads. Workspace:
 * rung "mixed": n^2 / 2 + n (2.5 nrhs + 1) elements of A's type, about, and panels; below it those
 * of jlapack_dgesv, with perf degraded. Algorithm: Langou and others 2006. */
JALLOC_API jstatus_t jlapack_dsgesv(jhandle_t *handle, int64_t n, int64_t nrhs, double *a,
                                    int64_t lda, int64_t *ipiv, const double *b, int64_t ldb,
                                    double *x, int64_t ldx, int64_t *iter, int64_t *info);
JALLOC_API jstatus_t jlapack_zcgesv(jhandle_t *handle, int64_t n, int64_t nrhs, jcomplex_f64_t *a,
                                    int64_t lda, int64_t *ipiv, const jcomplex_f64_t *b,
                                    int64_t ldb, jcomplex_f64_t *x, int64_t ldx, int64_t *iter,
                                    int64_t *info);

/** The same of a symmetric or Hermitian, positive definite A, of which that triangle is read: by
 * Cholesky in floats, or else as by jlapack_dposv. An iter of -3: A, in floats, is not positive
 * definite. */
JALLOC_API jstatus_t jlapack_dsposv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    double *a, int64_t lda, const double *b, int64_t ldb, double *x,
                                    int64_t ldx, int64_t *iter, int64_t *info);
JALLOC_API jstatus_t jlapack_zcposv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                    jcomplex_f64_t *a, int64_t lda, const jcomplex_f64_t *b,
                                    int64_t ldb, jcomplex_f64_t *x, int64_t ldx, int64_t *iter,
                                    int64_t *info);

/** @} */

/** @name QR
 * @{ */

/** QR factorization, A = Q R in place: on and above the diagonal R, below it what Q is made of.
 * A: m x n, lda >= max(1, m). tau: min(m, n) elements. Q = H(1) H(2) ... H(k), k = min(m, n), and
 * H(i) = I - tau v v^H with tau[i - 1] and a v of i - 1 zeros, a 1, and A(i + 1 ... m, i). Where
 * A(i, i) is real and 0 all below it, tau is 0; elsewhere R(i, i), which is real, has the sign that
 * Re A(i, i) had not when its turn came, as LAPACK has it. Accuracy: |A - Q R| <= c u |A| by the
 * norms of columns, and |Q^H Q - I| <= c u, where c grows as m k at most, and is a few in practice.
 * Workspace: rung "packed", up to 48 columns of A apart and, of reals, as much for what is made
 * of them, 1 MiB each at most (what is larger stays where it is); "in place", with the same bits.
 * Algorithm: blocks of 16 to 48 reflectors, factored by halves (Elmroth and Gustavson 2000), and
 * applied to 64 columns at once, which threads share. Of columns of 64 KiB or more up to 32
 * reflectors are made at once from the products of the columns with each other (Ballard, Demmel,
 * Grigori, Jacquelin, Knight and Nguyen 2014), in two passes, as many as these tell without loss;
 * of others what a reflector needs is found while the one before it is applied.
 */
JALLOC_API jstatus_t jlapack_sgeqrf(jhandle_t *handle, int64_t m, int64_t n, float *a, int64_t lda,
                                    float *tau);
JALLOC_API jstatus_t jlapack_dgeqrf(jhandle_t *handle, int64_t m, int64_t n, double *a, int64_t lda,
                                    double *tau);
JALLOC_API jstatus_t jlapack_cgeqrf(jhandle_t *handle, int64_t m, int64_t n, jcomplex_f32_t *a,
                                    int64_t lda, jcomplex_f32_t *tau);
JALLOC_API jstatus_t jlapack_zgeqrf(jhandle_t *handle, int64_t m, int64_t n, jcomplex_f64_t *a,
                                    int64_t lda, jcomplex_f64_t *tau);

/** The first n columns of Q = H(1) H(2) ... H(k) over the reflectors that jlapack_dgeqrf left in
 * the first k columns of A. A: m x n, m >= n >= k, lda >= max(1, m). tau: k elements. Workspace: as
 * jlapack_dgeqrf, without the columns of A; of complex types none. */
JALLOC_API jstatus_t jlapack_sorgqr(jhandle_t *handle, int64_t m, int64_t n, int64_t k, float *a,
                                    int64_t lda, const float *tau);
JALLOC_API jstatus_t jlapack_dorgqr(jhandle_t *handle, int64_t m, int64_t n, int64_t k, double *a,
                                    int64_t lda, const double *tau);
JALLOC_API jstatus_t jlapack_cungqr(jhandle_t *handle, int64_t m, int64_t n, int64_t k,
                                    jcomplex_f32_t *a, int64_t lda, const jcomplex_f32_t *tau);
JALLOC_API jstatus_t jlapack_zungqr(jhandle_t *handle, int64_t m, int64_t n, int64_t k,
                                    jcomplex_f64_t *a, int64_t lda, const jcomplex_f64_t *tau);

/** C = op(Q) C (left) or C op(Q) (right) with the Q of the k reflectors that jlapack_dgeqrf left in
 * A and tau; trans: complex types have no JBLAS_TRANSPOSE. C: m x n, ldc >= max(1, m). A: k columns
 * of r elements, r = m (left) or n (right), k <= r, lda >= max(1, r); it is not written, not even
 * for a time. Workspace: left, as jlapack_dorgqr; right, as jlapack_dorglq. */
JALLOC_API jstatus_t jlapack_sormqr(jhandle_t *handle, jblas_side_t side, jblas_operation_t trans,
                                    int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
                                    const float *tau, float *c, int64_t ldc);
JALLOC_API jstatus_t jlapack_dormqr(jhandle_t *handle, jblas_side_t side, jblas_operation_t trans,
                                    int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                                    const double *tau, double *c, int64_t ldc);
JALLOC_API jstatus_t jlapack_cunmqr(jhandle_t *handle, jblas_side_t side, jblas_operation_t trans,
                                    int64_t m, int64_t n, int64_t k, const jcomplex_f32_t *a,
                                    int64_t lda, const jcomplex_f32_t *tau, jcomplex_f32_t *c,
                                    int64_t ldc);
JALLOC_API jstatus_t jlapack_zunmqr(jhandle_t *handle, jblas_side_t side, jblas_operation_t trans,
                                    int64_t m, int64_t n, int64_t k, const jcomplex_f64_t *a,
                                    int64_t lda, const jcomplex_f64_t *tau, jcomplex_f64_t *c,
                                    int64_t ldc);

/** QR factorization with column pivoting, A P = Q R in place: R on and above the diagonal, below it
 * and in tau what Q is made of, as jlapack_dgeqrf has them. A: m x n, lda >= max(1, m). tau:
 * min(m, n) elements. jpvt: n; before the call a number that is not 0 fixes a column: those are
 * moved to the front, in their order, and stay there. After it jpvt[j] is the number, from 1 on, of
 * the column of A that is column j + 1 of A P: a permutation, whatever A holds. Each column that is
 * not fixed is, when its turn comes, the one of the largest norm below the rows that are done, so
 * that no R(j, j) among them is larger than the one before it but by rounding. Where m is 0 those
 * that are fixed still come first, as LAPACK has it. n: at most (2^63 - 1) / 1024. Accuracy:
 * as jlapack_dgeqrf, of A P. Workspace: as there, and as the largest product inside; and
 * per column three doubles, 33 elements (1 where min(m, n) is at most 64), which "in place" has,
 * too: with less it is a memory error. Same bits with all rungs. Algorithm: blocks of 32 reflectors
 * (Quintana-Orti, Sun and Bischof 1998), and the last 64 one by one; norms follow from R's rows and
 * are computed again where that would lose them (Drmac and Bujanovic 2008). */
JALLOC_API jstatus_t jlapack_sgeqp3(jhandle_t *handle, int64_t m, int64_t n, float *a, int64_t lda,
                                    int64_t *jpvt, float *tau);
JALLOC_API jstatus_t jlapack_dgeqp3(jhandle_t *handle, int64_t m, int64_t n, double *a, int64_t lda,
                                    int64_t *jpvt, double *tau);
JALLOC_API jstatus_t jlapack_cgeqp3(jhandle_t *handle, int64_t m, int64_t n, jcomplex_f32_t *a,
                                    int64_t lda, int64_t *jpvt, jcomplex_f32_t *tau);
JALLOC_API jstatus_t jlapack_zgeqp3(jhandle_t *handle, int64_t m, int64_t n, jcomplex_f64_t *a,
                                    int64_t lda, int64_t *jpvt, jcomplex_f64_t *tau);

/** @} */

/** @name LQ and least squares
 * @{ */

/** LQ factorization, A = L Q in place: on and below the diagonal L, above it what Q is made of.
 * A: m x n, lda >= max(1, m). tau: min(m, n) elements. It is QR of A^H: Q^H = H(1) H(2) ... H(k),
 * k = min(m, n), and H(i) = I - tau v v^H with tau[i - 1] and a v of i - 1 zeros, a 1, and the
 * conjugates of A(i, i + 1 ... n), as LAPACK has it. L(i, i) is real, with signs as jlapack_dgeqrf
 * has them; accuracy, by the norms of rows, and algorithm: as there. Workspace: as the largest
 * product inside, rungs "packed" (with room for 48 rows of A and 96 columns of m elements at most)
 * and "packed-small", "in place", with the same bits. */
JALLOC_API jstatus_t jlapack_sgelqf(jhandle_t *handle, int64_t m, int64_t n, float *a, int64_t lda,
                                    float *tau);
JALLOC_API jstatus_t jlapack_dgelqf(jhandle_t *handle, int64_t m, int64_t n, double *a, int64_t lda,
                                    double *tau);
JALLOC_API jstatus_t jlapack_cgelqf(jhandle_t *handle, int64_t m, int64_t n, jcomplex_f32_t *a,
                                    int64_t lda, jcomplex_f32_t *tau);
JALLOC_API jstatus_t jlapack_zgelqf(jhandle_t *handle, int64_t m, int64_t n, jcomplex_f64_t *a,
                                    int64_t lda, jcomplex_f64_t *tau);

/** The first m rows of Q = H(k)^H ... H(2)^H H(1)^H over the reflectors that jlapack_dgelqf left in
 * the first k rows of A. A: m x n, n >= m >= k, lda >= max(1, m). tau: k elements. Workspace: as
 * jlapack_dgelqf, without the rows of A. */
JALLOC_API jstatus_t jlapack_sorglq(jhandle_t *handle, int64_t m, int64_t n, int64_t k, float *a,
                                    int64_t lda, const float *tau);
JALLOC_API jstatus_t jlapack_dorglq(jhandle_t *handle, int64_t m, int64_t n, int64_t k, double *a,
                                    int64_t lda, const double *tau);
JALLOC_API jstatus_t jlapack_cunglq(jhandle_t *handle, int64_t m, int64_t n, int64_t k,
                                    jcomplex_f32_t *a, int64_t lda, const jcomplex_f32_t *tau);
JALLOC_API jstatus_t jlapack_zunglq(jhandle_t *handle, int64_t m, int64_t n, int64_t k,
                                    jcomplex_f64_t *a, int64_t lda, const jcomplex_f64_t *tau);

/** C = op(Q) C (left) or C op(Q) (right) with the Q of the k reflectors that jlapack_dgelqf left in
 * A and tau; trans: complex types have no JBLAS_TRANSPOSE. C: m x n, ldc >= max(1, m). A: k rows of
 * r elements, r = m (left) or n (right), k <= r, lda >= max(1, k); it is not written, not even for
 * a time. Workspace: right, as jlapack_dorglq; left, none. */
JALLOC_API jstatus_t jlapack_sormlq(jhandle_t *handle, jblas_side_t side, jblas_operation_t trans,
                                    int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
                                    const float *tau, float *c, int64_t ldc);
JALLOC_API jstatus_t jlapack_dormlq(jhandle_t *handle, jblas_side_t side, jblas_operation_t trans,
                                    int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                                    const double *tau, double *c, int64_t ldc);
JALLOC_API jstatus_t jlapack_cunmlq(jhandle_t *handle, jblas_side_t side, jblas_operation_t trans,
                                    int64_t m, int64_t n, int64_t k, const jcomplex_f32_t *a,
                                    int64_t lda, const jcomplex_f32_t *tau, jcomplex_f32_t *c,
                                    int64_t ldc);
JALLOC_API jstatus_t jlapack_zunmlq(jhandle_t *handle, jblas_side_t side, jblas_operation_t trans,
                                    int64_t m, int64_t n, int64_t k, const jcomplex_f64_t *a,
                                    int64_t lda, const jcomplex_f64_t *tau, jcomplex_f64_t *c,
                                    int64_t ldc);

/** The X of the least |B - op(A) X|, column by column, where op(A) has more rows than columns or as
 * many; the least X with op(A) X = B elsewhere. A: m x n, of full rank, lda >= max(1, m); trans:
 * complex types have no JBLAS_TRANSPOSE. B: max(m, n) x nrhs, ldb >= max(1, m, n): in its first
 * rows B before the call and X after it; where op(A) has more rows, the norm of what is behind X in
 * a column is that of the residual. A becomes its factorization, jlapack_dgeqrf's (m >= n) or
 * jlapack_dgelqf's, without tau, of A times a power of two where its largest element is tiny or
 * huge. info: i > 0: R(i, i), or L(i, i), is 0, the first such: A has not full rank, and B holds no
 * solution. A is not looked at for small ones that are not 0. If all of A is 0, or m or n is, B
 * becomes 0 and info 0, as LAPACK has it.
 * Accuracy: as of QR, X is the solution of a problem with A + E, |E| <= c u |A| by norm, and c a
 * few in practice. Workspace: the larger of the factorization and of what follows, and min(m, n)
 * elements, which "in place" has, too: with less it is a memory error. */
JALLOC_API jstatus_t jlapack_sgels(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                   int64_t nrhs, float *a, int64_t lda, float *b, int64_t ldb,
                                   int64_t *info);
JALLOC_API jstatus_t jlapack_dgels(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                   int64_t nrhs, double *a, int64_t lda, double *b, int64_t ldb,
                                   int64_t *info);
JALLOC_API jstatus_t jlapack_cgels(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                   int64_t nrhs, jcomplex_f32_t *a, int64_t lda, jcomplex_f32_t *b,
                                   int64_t ldb, int64_t *info);
JALLOC_API jstatus_t jlapack_zgels(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                   int64_t nrhs, jcomplex_f64_t *a, int64_t lda, jcomplex_f64_t *b,
                                   int64_t ldb, int64_t *info);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
