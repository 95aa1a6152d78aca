/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JLAPACK_DRIVERS_H
#define JALLOC_JLAPACK_DRIVERS_H

/** @file
 * Eigenvalues, singular values and what else a LAPACK computes for jlapack, on the handle's
 * workspace. jlapack.h includes this header.
 *
 * The first call loads a LAPACK, privately: what JALLOC_LAPACK names, or the first of the usual
 * ones, OpenBLAS, MKL, liblapack.so.3. The routines are called as those of jlapack.h, whose words
 * on info, statuses and scalars hold here, and their workspace is the handle's, without lwork.
 *
 * - **Workspace.** A size query asks the LAPACK (lwork = -1) for the caller. Rung "optimal" has
 *   what it answered, "minimal" what LAPACK documents as least; where that is the same there is
 *   one. work, rwork and iwork lie in one borrow. With less than the least it is a memory error,
 *   before anything was written. gtsv, pbtrf and pbtrs need none.
 * - **Bits** are the LAPACK's: they may differ between rungs, versions and numbers of threads. With
 *   the result policy same bits "minimal" is taken alone.
 * - **Numbers that are not finite.** But for gtsv, pbtrf and pbtrs, which end with whatever they
 *   are given, a call looks before at what is read of its matrices: where argument i holds a NaN or
 *   an infinity, info becomes -i and the rest is as it was. In host pointer mode the status is
 *   invalid value, and its message names the argument.
 * - **Sizes.** Where the LAPACK's integers have 32 bits, sizes and leading dimensions beyond, and
 *   shapes whose least workspace has more elements, are invalid size, by name.
 * - **Empty calls**, where n is 0, or m, or nrhs: info becomes 0, and count and rank; the rest is
 *   as it was.
 * - **Statuses.** Success; perf degraded; invalid handle; invalid value, invalid size, invalid
 *   pointer; memory error and sealed; during a size query size increased or size unchanged; forked,
 *   busy, capturing and device error; not implemented, before anything else, on a GPU (but for
 *   syevd and gesvd, of which jlapack.h says more), without a LAPACK, and where it lacks the
 *   routine: the message says which; internal error, where the
 *   LAPACK refuses what it should not, with an info of -1000 less LAPACK's number. Stream order and
 *   pointer mode are as jlapack.h says.
 * - **Beneath.** A LAPACK has threads and memory of its own: docs/lapack.rst says what is known.
 *   Accuracy is LAPACK's, backward stable with a modest constant (LAPACK Users' Guide, chapter 4).
 */

#include <stdint.h>

#include "jalloc/datatype.h"
#include "jalloc/export.h"
#include "jalloc/handle.h"
#include "jalloc/jblas_types.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a routine makes beside values, by LAPACK's letters. */
typedef enum jlapack_job_t {
    JLAPACK_NONE = 'N',      /**< none */
    JLAPACK_VECTORS = 'V',   /**< the vectors */
    JLAPACK_ALL = 'A',       /**< of U all columns, of V^H all rows */
    JLAPACK_SOME = 'S',      /**< the first min(m, n) of them */
    JLAPACK_OVERWRITE = 'O', /**< the same over A */
} jlapack_job_t;
/** Which values, by LAPACK's letters. */
typedef enum jlapack_range_t {
    JLAPACK_RANGE_ALL = 'A',     /**< all */
    JLAPACK_RANGE_VALUES = 'V',  /**< those of an interval */
    JLAPACK_RANGE_INDICES = 'I', /**< those of these numbers, from the smallest on */
} jlapack_range_t;

/** @name Eigenvalues of symmetric and Hermitian matrices
 * @{ */

/** Eigenvalues, and with JLAPACK_VECTORS eigenvectors, of a symmetric or Hermitian A, of whose
 * triangle uplo alone is read: A V = V diag(w). A: of order n, lda >= max(1, n); it becomes V,
 * whose columns are orthonormal, or with JLAPACK_NONE its triangle is destroyed. w: n real
 * elements, ascending. info: i > 0: it did not converge, as LAPACK says it. By divide and conquer
 * (Cuppen 1981; Gu and Eisenstat 1995), which wants about 2 n^2 elements of workspace. */
JALLOC_API jstatus_t jlapack_ssyevd(jhandle_t *handle, jlapack_job_t jobz, jblas_uplo_t uplo,
                                    int64_t n, float *a, int64_t lda, float *w, int64_t *info);
JALLOC_API jstatus_t jlapack_dsyevd(jhandle_t *handle, jlapack_job_t jobz, jblas_uplo_t uplo,
                                    int64_t n, double *a, int64_t lda, double *w, int64_t *info);
JALLOC_API jstatus_t jlapack_cheevd(jhandle_t *handle, jlapack_job_t jobz, jblas_uplo_t uplo,
                                    int64_t n, jcomplex_f32_t *a, int64_t lda, float *w,
                                    int64_t *info);
JALLOC_API jstatus_t jlapack_zheevd(jhandle_t *handle, jlapack_job_t jobz, jblas_uplo_t uplo,
                                    int64_t n, jcomplex_f64_t *a, int64_t lda, double *w,
                                    int64_t *info);

/** The same by QR iterations: slower, and with a workspace of a few n elements. info: i > 0: so
 * many elements off the diagonal of a tridiagonal form did not become 0. */
JALLOC_API jstatus_t jlapack_ssyev(jhandle_t *handle, jlapack_job_t jobz, jblas_uplo_t uplo,
                                   int64_t n, float *a, int64_t lda, float *w, int64_t *info);
JALLOC_API jstatus_t jlapack_dsyev(jhandle_t *handle, jlapack_job_t jobz, jblas_uplo_t uplo,
                                   int64_t n, double *a, int64_t lda, double *w, int64_t *info);
JALLOC_API jstatus_t jlapack_cheev(jhandle_t *handle, jlapack_job_t jobz, jblas_uplo_t uplo,
                                   int64_t n, jcomplex_f32_t *a, int64_t lda, float *w,
                                   int64_t *info);
JALLOC_API jstatus_t jlapack_zheev(jhandle_t *handle, jlapack_job_t jobz, jblas_uplo_t uplo,
                                   int64_t n, jcomplex_f64_t *a, int64_t lda, double *w,
                                   int64_t *info);

/** Some or all eigenvalues of a symmetric or Hermitian A by relatively robust representations
 * (Dhillon and Parlett 2004), with a workspace of some 30 n elements. range: all; with
 * JLAPACK_RANGE_VALUES those in (above, up_to]; with JLAPACK_RANGE_INDICES those of the numbers il
 * to iu, 1 <= il <= iu <= n, from the smallest on. What the range does not want is not looked at;
 * an interval that is none is found when the call runs, as a number that is not finite is. abstol:
 * an eigenvalue's error that is good enough; 0: LAPACK's default. A: of order n, lda >= max(1, n);
 * its triangle is destroyed. count: how many were found. w: n real elements, the first *count of
 * them ascending. z: n x n, ldz >= max(1, n), its first *count columns the vectors; NULL with
 * JLAPACK_NONE, where ldz >= 1. isuppz: 2 n elements: the first and the last row that is not 0 of
 * each vector of the tridiagonal form within, or zeros where LAPACK does not say. info: i > 0: an
 * internal error of LAPACK. */
JALLOC_API jstatus_t jlapack_ssyevr(jhandle_t *handle, jlapack_job_t jobz, jlapack_range_t range,
                                    jblas_uplo_t uplo, int64_t n, float *a, int64_t lda,
                                    const float *above, const float *up_to, int64_t il, int64_t iu,
                                    const float *abstol, int64_t *count, float *w, float *z,
                                    int64_t ldz, int64_t *isuppz, int64_t *info);
JALLOC_API jstatus_t jlapack_dsyevr(jhandle_t *handle, jlapack_job_t jobz, jlapack_range_t range,
                                    jblas_uplo_t uplo, int64_t n, double *a, int64_t lda,
                                    const double *above, const double *up_to, int64_t il,
                                    int64_t iu, const double *abstol, int64_t *count, double *w,
                                    double *z, int64_t ldz, int64_t *isuppz, int64_t *info);
JALLOC_API jstatus_t jlapack_cheevr(jhandle_t *handle, jlapack_job_t jobz, jlapack_range_t range,
                                    jblas_uplo_t uplo, int64_t n, jcomplex_f32_t *a, int64_t lda,
                                    const float *above, const float *up_to, int64_t il, int64_t iu,
                                    const float *abstol, int64_t *count, float *w,
                                    jcomplex_f32_t *z, int64_t ldz, int64_t *isuppz, int64_t *info);
JALLOC_API jstatus_t jlapack_zheevr(jhandle_t *handle, jlapack_job_t jobz, jlapack_range_t range,
                                    jblas_uplo_t uplo, int64_t n, jcomplex_f64_t *a, int64_t lda,
                                    const double *above, const double *up_to, int64_t il,
                                    int64_t iu, const double *abstol, int64_t *count, double *w,
                                    jcomplex_f64_t *z, int64_t ldz, int64_t *isuppz, int64_t *info);

/** A generalized problem with a symmetric or Hermitian A and a positive definite B: itype 1, A x =
 * w B x; 2, A B x = w x; 3, B A x = w x. A becomes the vectors, with V^H B V = I for 1 and 2 and
 * V^H inv(B) V = I for 3, or is destroyed; B its Cholesky factor. Both of order n, lda and ldb >=
 * max(1, n). w: n real elements, ascending. info: 0 < i <= n: it did not converge; n + i: the
 * leading minor of order i of B is not positive. By divide and conquer. */
JALLOC_API jstatus_t jlapack_ssygvd(jhandle_t *handle, int64_t itype, jlapack_job_t jobz,
                                    jblas_uplo_t uplo, int64_t n, float *a, int64_t lda, float *b,
                                    int64_t ldb, float *w, int64_t *info);
JALLOC_API jstatus_t jlapack_dsygvd(jhandle_t *handle, int64_t itype, jlapack_job_t jobz,
                                    jblas_uplo_t uplo, int64_t n, double *a, int64_t lda, double *b,
                                    int64_t ldb, double *w, int64_t *info);
JALLOC_API jstatus_t jlapack_chegvd(jhandle_t *handle, int64_t itype, jlapack_job_t jobz,
                                    jblas_uplo_t uplo, int64_t n, jcomplex_f32_t *a, int64_t lda,
                                    jcomplex_f32_t *b, int64_t ldb, float *w, int64_t *info);
JALLOC_API jstatus_t jlapack_zhegvd(jhandle_t *handle, int64_t itype, jlapack_job_t jobz,
                                    jblas_uplo_t uplo, int64_t n, jcomplex_f64_t *a, int64_t lda,
                                    jcomplex_f64_t *b, int64_t ldb, double *w, int64_t *info);

/** @} */

/** @name Singular values
 * @{ */

/** Singular values and vectors, A = U diag(s) V^H, by divide and conquer (Gu and Eisenstat 1995).
 * A: m x n, lda >= max(1, m); it is destroyed. s: min(m, n) real elements, descending. jobz:
 * JLAPACK_NONE; JLAPACK_ALL, U m x m and V^H n x n; JLAPACK_SOME, U m x min(m, n) and V^H min(m,
 * n) x n; JLAPACK_OVERWRITE: the larger of both over A, its first min(m, n) columns or rows, and
 * the other whole: V^H n x n where m >= n, else U m x m. ldu >= max(1, m) and ldvt >= max(1, rows
 * of V^H), 1 where it is not made; then it may be NULL. info: i > 0: it did not converge. */
JALLOC_API jstatus_t jlapack_sgesdd(jhandle_t *handle, jlapack_job_t jobz, int64_t m, int64_t n,
                                    float *a, int64_t lda, float *s, float *u, int64_t ldu,
                                    float *vt, int64_t ldvt, int64_t *info);
JALLOC_API jstatus_t jlapack_dgesdd(jhandle_t *handle, jlapack_job_t jobz, int64_t m, int64_t n,
                                    double *a, int64_t lda, double *s, double *u, int64_t ldu,
                                    double *vt, int64_t ldvt, int64_t *info);
JALLOC_API jstatus_t jlapack_cgesdd(jhandle_t *handle, jlapack_job_t jobz, int64_t m, int64_t n,
                                    jcomplex_f32_t *a, int64_t lda, float *s, jcomplex_f32_t *u,
                                    int64_t ldu, jcomplex_f32_t *vt, int64_t ldvt, int64_t *info);
JALLOC_API jstatus_t jlapack_zgesdd(jhandle_t *handle, jlapack_job_t jobz, int64_t m, int64_t n,
                                    jcomplex_f64_t *a, int64_t lda, double *s, jcomplex_f64_t *u,
                                    int64_t ldu, jcomplex_f64_t *vt, int64_t ldvt, int64_t *info);

/** The same by QR iterations, with a job for each of U and V^H, not both JLAPACK_OVERWRITE, which
 * is the first min(m, n) columns or rows over A; and with a workspace of a few max(m, n) elements.
 * info: i > 0: so many superdiagonals of a bidiagonal form did not become 0. */
JALLOC_API jstatus_t jlapack_sgesvd(jhandle_t *handle, jlapack_job_t jobu, jlapack_job_t jobvt,
                                    int64_t m, int64_t n, float *a, int64_t lda, float *s, float *u,
                                    int64_t ldu, float *vt, int64_t ldvt, int64_t *info);
JALLOC_API jstatus_t jlapack_dgesvd(jhandle_t *handle, jlapack_job_t jobu, jlapack_job_t jobvt,
                                    int64_t m, int64_t n, double *a, int64_t lda, double *s,
                                    double *u, int64_t ldu, double *vt, int64_t ldvt,
                                    int64_t *info);
JALLOC_API jstatus_t jlapack_cgesvd(jhandle_t *handle, jlapack_job_t jobu, jlapack_job_t jobvt,
                                    int64_t m, int64_t n, jcomplex_f32_t *a, int64_t lda, float *s,
                                    jcomplex_f32_t *u, int64_t ldu, jcomplex_f32_t *vt,
                                    int64_t ldvt, int64_t *info);
JALLOC_API jstatus_t jlapack_zgesvd(jhandle_t *handle, jlapack_job_t jobu, jlapack_job_t jobvt,
                                    int64_t m, int64_t n, jcomplex_f64_t *a, int64_t lda, double *s,
                                    jcomplex_f64_t *u, int64_t ldu, jcomplex_f64_t *vt,
                                    int64_t ldvt, int64_t *info);

/** Least squares by singular values: the X of the least |B - A X|, column by column, and of those
 * the least, for an A of any rank. A: m x n, lda >= max(1, m); it is destroyed. B: max(m, n) x
 * nrhs, ldb >= max(1, m, n): its first m rows are B, and X comes into its first n. s: min(m, n)
 * real elements, A's singular values, descending. Those of at most rcond times the largest count
 * as 0; a negative rcond: the precision. rank: how many do not. Where m > n and A has rank n, the
 * norm of rows n + 1 to m of a column of B is that of its residual. info: i > 0: it did not
 * converge. */
JALLOC_API jstatus_t jlapack_sgelsd(jhandle_t *handle, int64_t m, int64_t n, int64_t nrhs, float *a,
                                    int64_t lda, float *b, int64_t ldb, float *s,
                                    const float *rcond, int64_t *rank, int64_t *info);
JALLOC_API jstatus_t jlapack_dgelsd(jhandle_t *handle, int64_t m, int64_t n, int64_t nrhs,
                                    double *a, int64_t lda, double *b, int64_t ldb, double *s,
                                    const double *rcond, int64_t *rank, int64_t *info);
JALLOC_API jstatus_t jlapack_cgelsd(jhandle_t *handle, int64_t m, int64_t n, int64_t nrhs,
                                    jcomplex_f32_t *a, int64_t lda, jcomplex_f32_t *b, int64_t ldb,
                                    float *s, const float *rcond, int64_t *rank, int64_t *info);
JALLOC_API jstatus_t jlapack_zgelsd(jhandle_t *handle, int64_t m, int64_t n, int64_t nrhs,
                                    jcomplex_f64_t *a, int64_t lda, jcomplex_f64_t *b, int64_t ldb,
                                    double *s, const double *rcond, int64_t *rank, int64_t *info);

/** @} */

/** @name Eigenvalues of matrices without symmetry
 * @{ */

/** Eigenvalues of A, and with JLAPACK_VECTORS the right vectors A v = w v and the left ones u^H A =
 * w u^H, of Euclidean norm 1 and with a real largest component. A: of order n, lda >= max(1, n);
 * it is destroyed. Real types: values w = wr + i wi, conjugate pairs side by side, of which the
 * one with the positive imaginary part comes first; the vectors of such a pair are columns j and
 * j + 1 as v = vr(j) + i vr(j + 1) and its conjugate. Complex types: w. vl, vr: n x n, ldvl and
 * ldvr >= max(1, n), or 1 with JLAPACK_NONE, where they may be NULL. info: i > 0: values i + 1 to n
 * alone are right, and there are no vectors. By QR iterations (Francis 1961; Braman, Byers,
 * Mathias 2002). */
JALLOC_API jstatus_t jlapack_sgeev(jhandle_t *handle, jlapack_job_t jobvl, jlapack_job_t jobvr,
                                   int64_t n, float *a, int64_t lda, float *wr, float *wi,
                                   float *vl, int64_t ldvl, float *vr, int64_t ldvr, int64_t *info);
JALLOC_API jstatus_t jlapack_dgeev(jhandle_t *handle, jlapack_job_t jobvl, jlapack_job_t jobvr,
                                   int64_t n, double *a, int64_t lda, double *wr, double *wi,
                                   double *vl, int64_t ldvl, double *vr, int64_t ldvr,
                                   int64_t *info);
JALLOC_API jstatus_t jlapack_cgeev(jhandle_t *handle, jlapack_job_t jobvl, jlapack_job_t jobvr,
                                   int64_t n, jcomplex_f32_t *a, int64_t lda, jcomplex_f32_t *w,
                                   jcomplex_f32_t *vl, int64_t ldvl, jcomplex_f32_t *vr,
                                   int64_t ldvr, int64_t *info);
JALLOC_API jstatus_t jlapack_zgeev(jhandle_t *handle, jlapack_job_t jobvl, jlapack_job_t jobvr,
                                   int64_t n, jcomplex_f64_t *a, int64_t lda, jcomplex_f64_t *w,
                                   jcomplex_f64_t *vl, int64_t ldvl, jcomplex_f64_t *vr,
                                   int64_t ldvr, int64_t *info);

/** Schur's form, A = Z T Z^H: A becomes T, upper triangular, of real types with blocks of 2 x 2 on
 * the diagonal for pairs of complex values. Values as jlapack_dgeev, in the order of the diagonal,
 * which is not chosen. vs: Z, n x n, with JLAPACK_VECTORS; ldvs as there. info: i > 0: values i +
 * 1 to n alone are right. */
JALLOC_API jstatus_t jlapack_sgees(jhandle_t *handle, jlapack_job_t jobvs, int64_t n, float *a,
                                   int64_t lda, float *wr, float *wi, float *vs, int64_t ldvs,
                                   int64_t *info);
JALLOC_API jstatus_t jlapack_dgees(jhandle_t *handle, jlapack_job_t jobvs, int64_t n, double *a,
                                   int64_t lda, double *wr, double *wi, double *vs, int64_t ldvs,
                                   int64_t *info);
JALLOC_API jstatus_t jlapack_cgees(jhandle_t *handle, jlapack_job_t jobvs, int64_t n,
                                   jcomplex_f32_t *a, int64_t lda, jcomplex_f32_t *w,
                                   jcomplex_f32_t *vs, int64_t ldvs, int64_t *info);
JALLOC_API jstatus_t jlapack_zgees(jhandle_t *handle, jlapack_job_t jobvs, int64_t n,
                                   jcomplex_f64_t *a, int64_t lda, jcomplex_f64_t *w,
                                   jcomplex_f64_t *vs, int64_t ldvs, int64_t *info);

/** Eigenvalues of a pair, A v = w B v, as quotients w = alpha / beta (alphar + i alphai of real
 * types), whose beta may be 0; vectors as jlapack_dgeev, but that the largest |Re| + |Im| of one
 * is 1. A and B: of order n, lda and ldb >= max(1, n); they are destroyed. info: 0 < i <= n:
 * values i + 1 to n alone are right; above n: as LAPACK has it. By QZ iterations (Moler and
 * Stewart 1973). */
JALLOC_API jstatus_t jlapack_sggev(jhandle_t *handle, jlapack_job_t jobvl, jlapack_job_t jobvr,
                                   int64_t n, float *a, int64_t lda, float *b, int64_t ldb,
                                   float *alphar, float *alphai, float *beta, float *vl,
                                   int64_t ldvl, float *vr, int64_t ldvr, int64_t *info);
JALLOC_API jstatus_t jlapack_dggev(jhandle_t *handle, jlapack_job_t jobvl, jlapack_job_t jobvr,
                                   int64_t n, double *a, int64_t lda, double *b, int64_t ldb,
                                   double *alphar, double *alphai, double *beta, double *vl,
                                   int64_t ldvl, double *vr, int64_t ldvr, int64_t *info);
JALLOC_API jstatus_t jlapack_cggev(jhandle_t *handle, jlapack_job_t jobvl, jlapack_job_t jobvr,
                                   int64_t n, jcomplex_f32_t *a, int64_t lda, jcomplex_f32_t *b,
                                   int64_t ldb, jcomplex_f32_t *alpha, jcomplex_f32_t *beta,
                                   jcomplex_f32_t *vl, int64_t ldvl, jcomplex_f32_t *vr,
                                   int64_t ldvr, int64_t *info);
JALLOC_API jstatus_t jlapack_zggev(jhandle_t *handle, jlapack_job_t jobvl, jlapack_job_t jobvr,
                                   int64_t n, jcomplex_f64_t *a, int64_t lda, jcomplex_f64_t *b,
                                   int64_t ldb, jcomplex_f64_t *alpha, jcomplex_f64_t *beta,
                                   jcomplex_f64_t *vl, int64_t ldvl, jcomplex_f64_t *vr,
                                   int64_t ldvr, int64_t *info);

/** @} */

/** @name Tridiagonal and banded matrices
 * @{ */

/** Solves A X = B with a tridiagonal A by elimination with row exchanges. dl, d, du: below, on and
 * above the diagonal, n - 1, n and n - 1 elements; they become the factor. B: n x nrhs, ldb >=
 * max(1, n); it becomes X. info: i > 0: U(i, i) is 0, and B holds no solution. */
JALLOC_API jstatus_t jlapack_sgtsv(jhandle_t *handle, int64_t n, int64_t nrhs, float *dl, float *d,
                                   float *du, float *b, int64_t ldb, int64_t *info);
JALLOC_API jstatus_t jlapack_dgtsv(jhandle_t *handle, int64_t n, int64_t nrhs, double *dl,
                                   double *d, double *du, double *b, int64_t ldb, int64_t *info);
JALLOC_API jstatus_t jlapack_cgtsv(jhandle_t *handle, int64_t n, int64_t nrhs, jcomplex_f32_t *dl,
                                   jcomplex_f32_t *d, jcomplex_f32_t *du, jcomplex_f32_t *b,
                                   int64_t ldb, int64_t *info);
JALLOC_API jstatus_t jlapack_zgtsv(jhandle_t *handle, int64_t n, int64_t nrhs, jcomplex_f64_t *dl,
                                   jcomplex_f64_t *d, jcomplex_f64_t *du, jcomplex_f64_t *b,
                                   int64_t ldb, int64_t *info);

/** Cholesky's factor of a positive definite band with kd diagonals beside the main one, over it: ab
 * has kd + 1 rows and n columns, ldab >= kd + 1, as jblas_dtbsv takes a triangle. info: i > 0: the
 * leading minor of order i is not positive. */
JALLOC_API jstatus_t jlapack_spbtrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t kd,
                                    float *ab, int64_t ldab, int64_t *info);
JALLOC_API jstatus_t jlapack_dpbtrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t kd,
                                    double *ab, int64_t ldab, int64_t *info);
JALLOC_API jstatus_t jlapack_cpbtrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t kd,
                                    jcomplex_f32_t *ab, int64_t ldab, int64_t *info);
JALLOC_API jstatus_t jlapack_zpbtrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t kd,
                                    jcomplex_f64_t *ab, int64_t ldab, int64_t *info);

/** Solves A X = B with that factor; X overwrites B. B: n x nrhs, ldb >= max(1, n). */
JALLOC_API jstatus_t jlapack_spbtrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t kd,
                                    int64_t nrhs, const float *ab, int64_t ldab, float *b,
                                    int64_t ldb);
JALLOC_API jstatus_t jlapack_dpbtrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t kd,
                                    int64_t nrhs, const double *ab, int64_t ldab, double *b,
                                    int64_t ldb);
JALLOC_API jstatus_t jlapack_cpbtrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t kd,
                                    int64_t nrhs, const jcomplex_f32_t *ab, int64_t ldab,
                                    jcomplex_f32_t *b, int64_t ldb);
JALLOC_API jstatus_t jlapack_zpbtrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t kd,
                                    int64_t nrhs, const jcomplex_f64_t *ab, int64_t ldab,
                                    jcomplex_f64_t *b, int64_t ldb);

/** @} */

/** The LAPACK that these routines call, such as "OpenBLAS 0.3.21 DYNAMIC_ARCH", or its file where
 * it does not say; "no LAPACK" where none is found. Static. It is loaded, as by the next function,
 * if no call has. */
JALLOC_API const char *jlapack_lapack_name(void);
/** Bits of an integer of that LAPACK: 32 or 64; 0 where none is found, and jstatus_last_message()
 * says why. */
JALLOC_API int jlapack_lapack_int_bits(void);

#ifdef __cplusplus
}
#endif
#endif
