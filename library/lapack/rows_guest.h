/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_ROWS_GUEST_H
#define JALLOC_LAPACK_ROWS_GUEST_H

/* The rows of the routines that a LAPACK computes. Beside what blas/routine/rows.h and rows.h have
 * there are
 *
 *     which      VECTORS (N, V), PARTS (N, S, A, O) and RANGE (A, V, I), by LAPACK's letters
 *     of         INDEX also of results that are not info
 *     access     OUTPUT: written, not read, and NULL where its job does not want it, which `read`
 *                says: JOBZ, JOBVL, JOBVR, U and VT
 *     shape      WANTED(job, m, n): m x n, or nothing; U(routine) and VT(routine), of singular
 *                vectors; BAND_OF(kd, n): the diagonals of a triangle of order n
 *     count      PAIRS(n), two for each; BESIDE(n), the elements of a diagonal beside the main one
 *
 * The order of the arguments is LAPACK's, so a row is the call, too (guest/call.c). Where real and
 * complex types have other arguments they have rows of their own. */

#include "lapack/rows.h"

#define JI_LAPACK_GUEST_ROUTINE_LIST(X)                                                            \
    X(syev, driver)                                                                                \
    X(syevd, driver)                                                                               \
    X(syevr, driver)                                                                               \
    X(sygvd, driver)                                                                               \
    X(gesvd, driver)                                                                               \
    X(gesdd, driver)                                                                               \
    X(geev, driver)                                                                                \
    X(geev_complex, driver)                                                                        \
    X(gees, driver)                                                                                \
    X(gees_complex, driver)                                                                        \
    X(ggev, driver)                                                                                \
    X(ggev_complex, driver)                                                                        \
    X(gelsd, driver)                                                                               \
    X(gtsv, driver)                                                                                \
    X(pbtrf, driver)                                                                               \
    X(pbtrs, driver)

#define JI_ENUM_VECTORS jlapack_job_t
#define JI_ENUM_PARTS jlapack_job_t
#define JI_ENUM_RANGE jlapack_range_t
#define JI_OUTPUT(type) type

/* ---- Sizes, by the members of `args` ---- */

#define JI_COUNT_PAIRS(n) (2 * args->n)
#define JI_COUNT_BESIDE(n) (args->n > 0 ? args->n - 1 : 0)
#define JI_ROWS_WANTED(job, rows, columns) (args->job == JLAPACK_VECTORS ? args->rows : 0)
#define JI_COLUMNS_WANTED(job, rows, columns) (args->job == JLAPACK_VECTORS ? args->columns : 0)
#define JI_ROWS_U(routine) ji_svd_length(JI_JOB_U_##routine, args->m)
#define JI_COLUMNS_U(routine) ji_svd_count(JI_JOB_U_##routine, args->m, args->n)
#define JI_ROWS_VT(routine) ji_svd_count(JI_JOB_VT_##routine, args->n, args->m)
#define JI_COLUMNS_VT(routine) ji_svd_length(JI_JOB_VT_##routine, args->n)
#define JI_ROWS_BAND_OF(kd, n) ji_band_rows(args->kd, 0)
#define JI_COLUMNS_BAND_OF(kd, n) args->n

/* The jobs of singular vectors: gesdd has one for both, and overwrites A by the larger. */
#define JI_JOB_U_gesvd args->jobu
#define JI_JOB_VT_gesvd args->jobvt
#define JI_JOB_U_gesdd ji_divided_job(args->jobz, args->m < args->n)
#define JI_JOB_VT_gesdd ji_divided_job(args->jobz, args->m >= args->n)
static inline jlapack_job_t ji_divided_job(jlapack_job_t job, bool smaller) {
    return job != JLAPACK_OVERWRITE ? job : smaller ? JLAPACK_ALL : JLAPACK_NONE;
}
/* Of vectors that have a matrix of their own: their length; how many they are. */
static inline int64_t ji_svd_length(jlapack_job_t job, int64_t length) {
    return job == JLAPACK_ALL || job == JLAPACK_SOME ? length : 0;
}
static inline int64_t ji_svd_count(jlapack_job_t job, int64_t length, int64_t other) {
    return ji_svd_length(job, job == JLAPACK_ALL ? length : ji_min(length, other));
}

/* ---- Rows ---- */

/* clang-format off */

#define JI_SY_HE(X, context, routine, name) \
    X(context, routine, s, ssy##name) X(context, routine, d, dsy##name) \
    X(context, routine, c, che##name) X(context, routine, z, zhe##name)

#define JI_FUNCTIONS_syev(X, context) JI_SY_HE(X, context, syev, ev)
#define JI_ARGUMENTS_syev(X, t) \
    X(t, ENUM, jobz, VECTORS) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, HERMITIAN, PLAIN(n, n), ALWAYS) \
    X(t, REALS, w, WRITTEN, ORDER(n)) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_syevd(X, context) JI_SY_HE(X, context, syevd, evd)
#define JI_ARGUMENTS_syevd(X, t) \
    X(t, ENUM, jobz, VECTORS) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, HERMITIAN, PLAIN(n, n), ALWAYS) \
    X(t, REALS, w, WRITTEN, ORDER(n)) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_syevr(X, context) JI_SY_HE(X, context, syevr, evr)
#define JI_ARGUMENTS_syevr(X, t) \
    X(t, ENUM, jobz, VECTORS) \
    X(t, ENUM, range, RANGE) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, HERMITIAN, PLAIN(n, n), ALWAYS) \
    X(t, SCALAR, above, REAL) \
    X(t, SCALAR, up_to, REAL) \
    X(t, SIZE, il) \
    X(t, SIZE, iu) \
    X(t, SCALAR, abstol, REAL) \
    X(t, RESULT, count, INDEX) \
    X(t, REALS, w, WRITTEN, ORDER(n)) \
    X(t, MATRIX, z, ldz, OUTPUT, GENERAL, WANTED(jobz, n, n), JOBZ) \
    X(t, INDICES, isuppz, WRITTEN, PAIRS(n)) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_sygvd(X, context) JI_SY_HE(X, context, sygvd, gvd)
#define JI_ARGUMENTS_sygvd(X, t) \
    X(t, SIZE, itype) \
    X(t, ENUM, jobz, VECTORS) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, HERMITIAN, PLAIN(n, n), ALWAYS) \
    X(t, MATRIX, b, ldb, WRITTEN, DEFINITE, PLAIN(n, n), ALWAYS) \
    X(t, REALS, w, WRITTEN, ORDER(n)) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_gesvd(X, context) JI_SDCZ(X, context, gesvd)
#define JI_ARGUMENTS_gesvd(X, t) \
    X(t, ENUM, jobu, PARTS) \
    X(t, ENUM, jobvt, PARTS) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(m, n), ALWAYS) \
    X(t, REALS, s, WRITTEN, SMALLER(m, n)) \
    X(t, MATRIX, u, ldu, OUTPUT, GENERAL, U(gesvd), U(gesvd)) \
    X(t, MATRIX, vt, ldvt, OUTPUT, GENERAL, VT(gesvd), VT(gesvd)) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_gesdd(X, context) JI_SDCZ(X, context, gesdd)
#define JI_ARGUMENTS_gesdd(X, t) \
    X(t, ENUM, jobz, PARTS) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(m, n), ALWAYS) \
    X(t, REALS, s, WRITTEN, SMALLER(m, n)) \
    X(t, MATRIX, u, ldu, OUTPUT, GENERAL, U(gesdd), U(gesdd)) \
    X(t, MATRIX, vt, ldvt, OUTPUT, GENERAL, VT(gesdd), VT(gesdd)) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_geev(X, context) JI_SD(X, context, geev)
#define JI_ARGUMENTS_geev(X, t) \
    X(t, ENUM, jobvl, VECTORS) \
    X(t, ENUM, jobvr, VECTORS) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(n, n), ALWAYS) \
    X(t, REALS, wr, WRITTEN, ORDER(n)) \
    X(t, REALS, wi, WRITTEN, ORDER(n)) \
    X(t, MATRIX, vl, ldvl, OUTPUT, GENERAL, WANTED(jobvl, n, n), JOBVL) \
    X(t, MATRIX, vr, ldvr, OUTPUT, GENERAL, WANTED(jobvr, n, n), JOBVR) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_geev_complex(X, context) \
    X(context, geev_complex, c, cgeev) X(context, geev_complex, z, zgeev)
#define JI_ARGUMENTS_geev_complex(X, t) \
    X(t, ENUM, jobvl, VECTORS) \
    X(t, ENUM, jobvr, VECTORS) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(n, n), ALWAYS) \
    X(t, FACTORS, w, WRITTEN, ORDER(n)) \
    X(t, MATRIX, vl, ldvl, OUTPUT, GENERAL, WANTED(jobvl, n, n), JOBVL) \
    X(t, MATRIX, vr, ldvr, OUTPUT, GENERAL, WANTED(jobvr, n, n), JOBVR) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_gees(X, context) JI_SD(X, context, gees)
#define JI_ARGUMENTS_gees(X, t) \
    X(t, ENUM, jobvs, VECTORS) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(n, n), ALWAYS) \
    X(t, REALS, wr, WRITTEN, ORDER(n)) \
    X(t, REALS, wi, WRITTEN, ORDER(n)) \
    X(t, MATRIX, vs, ldvs, OUTPUT, GENERAL, WANTED(jobvs, n, n), JOBVS) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_gees_complex(X, context) \
    X(context, gees_complex, c, cgees) X(context, gees_complex, z, zgees)
#define JI_ARGUMENTS_gees_complex(X, t) \
    X(t, ENUM, jobvs, VECTORS) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(n, n), ALWAYS) \
    X(t, FACTORS, w, WRITTEN, ORDER(n)) \
    X(t, MATRIX, vs, ldvs, OUTPUT, GENERAL, WANTED(jobvs, n, n), JOBVS) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_ggev(X, context) JI_SD(X, context, ggev)
#define JI_ARGUMENTS_ggev(X, t) \
    X(t, ENUM, jobvl, VECTORS) \
    X(t, ENUM, jobvr, VECTORS) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(n, n), ALWAYS) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, n), ALWAYS) \
    X(t, REALS, alphar, WRITTEN, ORDER(n)) \
    X(t, REALS, alphai, WRITTEN, ORDER(n)) \
    X(t, REALS, beta, WRITTEN, ORDER(n)) \
    X(t, MATRIX, vl, ldvl, OUTPUT, GENERAL, WANTED(jobvl, n, n), JOBVL) \
    X(t, MATRIX, vr, ldvr, OUTPUT, GENERAL, WANTED(jobvr, n, n), JOBVR) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_ggev_complex(X, context) \
    X(context, ggev_complex, c, cggev) X(context, ggev_complex, z, zggev)
#define JI_ARGUMENTS_ggev_complex(X, t) \
    X(t, ENUM, jobvl, VECTORS) \
    X(t, ENUM, jobvr, VECTORS) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(n, n), ALWAYS) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, n), ALWAYS) \
    X(t, FACTORS, alpha, WRITTEN, ORDER(n)) \
    X(t, FACTORS, beta, WRITTEN, ORDER(n)) \
    X(t, MATRIX, vl, ldvl, OUTPUT, GENERAL, WANTED(jobvl, n, n), JOBVL) \
    X(t, MATRIX, vr, ldvr, OUTPUT, GENERAL, WANTED(jobvr, n, n), JOBVR) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_gelsd(X, context) JI_SDCZ(X, context, gelsd)
#define JI_ARGUMENTS_gelsd(X, t) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(m, n), ALWAYS) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, LARGER(m, n, nrhs), ALWAYS) \
    X(t, REALS, s, WRITTEN, SMALLER(m, n)) \
    X(t, SCALAR, rcond, REAL) \
    X(t, RESULT, rank, INDEX) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_gtsv(X, context) JI_SDCZ(X, context, gtsv)
#define JI_ARGUMENTS_gtsv(X, t) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, FACTORS, dl, WRITTEN, BESIDE(n)) \
    X(t, FACTORS, d, WRITTEN, ORDER(n)) \
    X(t, FACTORS, du, WRITTEN, BESIDE(n)) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_pbtrf(X, context) JI_SDCZ(X, context, pbtrf)
#define JI_ARGUMENTS_pbtrf(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SIZE, kd) \
    X(t, MATRIX, ab, ldab, WRITTEN, DEFINITE, BAND_OF(kd, n), ALWAYS) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_pbtrs(X, context) JI_SDCZ(X, context, pbtrs)
#define JI_ARGUMENTS_pbtrs(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SIZE, kd) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, ab, ldab, READ, FACTOR, BAND_OF(kd, n), ALWAYS) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS)

/* clang-format on */

#endif
