/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_ROWS_H
#define JALLOC_LAPACK_ROWS_H

/* The rows of jlapack; blas/routine/rows.h says how to read them. Structures of matrices are also
 * DEFINITE, Hermitian and positive definite, FACTOR, the triangle that Cholesky leaves of it,
 * REGULAR, square and not singular, SYMMETRIC_REGULAR and HERMITIAN_REGULAR, one triangle of such,
 * DIAGONALIZED, that triangle as L D L^T leaves it, PIVOTED, the whole as LU leaves it,
 * REFLECTORS, below the diagonal, as QR leaves them, or above it, as LQ does, FULL, of full rank,
 * and FACTORED, what A becomes when it is factored, or a triangle of it. A shape SIDED_BY(k) has k
 * columns, and the rows that fit beside an m x n matrix; SIDED_ACROSS(k) is its transpose;
 * LARGER(m, n, nrhs) has nrhs columns of the larger size. Of INDICES those of L D L^T may be
 * negative. */

#include "blas/routine/rows.h"
#include "jalloc/jlapack_batched.h"
#undef JI_PREFIX
#define JI_PREFIX jlapack_ /* from here on */

/* Those that every device has, those of the host that have batched forms, and its others. */
#define JI_LAPACK_DEVICE_LIST(X)                                                                   \
    X(trtri, 3)                                                                                    \
    X(potrf, 3)                                                                                    \
    X(potrs, 3)
#define JI_LAPACK_HOST_BATCHED_LIST(X)                                                             \
    X(getrf, 3)                                                                                    \
    X(getrs, 3)                                                                                    \
    X(gesv, 3)                                                                                     \
    X(getri, 3)                                                                                    \
    X(geqrf, 3)
#define JI_LAPACK_PLAIN_LIST(X)                                                                    \
    X(trtrs, 3)                                                                                    \
    X(posv, 3)                                                                                     \
    X(lauum, 3)                                                                                    \
    X(potri, 3)                                                                                    \
    X(sytrf, 3)                                                                                    \
    X(hetrf, 3)                                                                                    \
    X(sytrs, 3)                                                                                    \
    X(hetrs, 3)                                                                                    \
    X(sysv, 3)                                                                                     \
    X(hesv, 3)                                                                                     \
    X(orgqr, 3)                                                                                    \
    X(ormqr, 3)                                                                                    \
    X(gelqf, 3)                                                                                    \
    X(orglq, 3)                                                                                    \
    X(ormlq, 3)                                                                                    \
    X(gels, 3)                                                                                     \
    X(geqp3, 3)                                                                                    \
    X(gecon, 3)                                                                                    \
    X(pocon, 3)                                                                                    \
    X(trcon, 3)                                                                                    \
    X(gerfs, 4)                                                                                    \
    X(porfs, 4)                                                                                    \
    X(dsgesv, 4)                                                                                   \
    X(dsposv, 4)
#define JI_LAPACK_BATCHED_LIST(X) JI_LAPACK_DEVICE_LIST(X) JI_LAPACK_HOST_BATCHED_LIST(X)
#define JI_LAPACK_ROUTINE_LIST(X) JI_LAPACK_BATCHED_LIST(X) JI_LAPACK_PLAIN_LIST(X)

/* How many indices or factors: min(m, n), n or k. */
#define JI_COUNT_SMALLER(m, n) ji_min(args->m, args->n)
#define JI_COUNT_ORDER(n) args->n
#define JI_COUNT_REFLECTORS(k) args->k

#define JI_ROWS_SIDED_BY(k) JI_ROWS_SIDED(m, n)
#define JI_COLUMNS_SIDED_BY(k) args->k
#define JI_ROWS_SIDED_ACROSS(k) args->k
#define JI_COLUMNS_SIDED_ACROSS(k) JI_ROWS_SIDED(m, n)
#define JI_ROWS_LARGER(m, n, nrhs) ji_max(args->m, args->n)
#define JI_COLUMNS_LARGER(m, n, nrhs) args->nrhs

/* clang-format off */

#define JI_FUNCTIONS_trtri(X, context) JI_SDCZ(X, context, trtri)
#define JI_ARGUMENTS_trtri(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, diag, DIAGONAL) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, INVERTED, PLAIN(n, n), ALWAYS) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_potrf(X, context) JI_SDCZ(X, context, potrf)
#define JI_ARGUMENTS_potrf(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, DEFINITE, PLAIN(n, n), ALWAYS) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_potrs(X, context) JI_SDCZ(X, context, potrs)
#define JI_ARGUMENTS_potrs(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, READ, FACTOR, PLAIN(n, n), ALWAYS) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS)

#define JI_FUNCTIONS_getrf(X, context) JI_SDCZ(X, context, getrf)
#define JI_ARGUMENTS_getrf(X, t) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(m, n), ALWAYS) \
    X(t, INDICES, ipiv, WRITTEN, SMALLER(m, n)) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_getrs(X, context) JI_SDCZ(X, context, getrs)
#define JI_ARGUMENTS_getrs(X, t) \
    X(t, ENUM, trans, OPERATION) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, READ, PIVOTED, PLAIN(n, n), ALWAYS) \
    X(t, INDICES, ipiv, READ, ORDER(n)) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS)

#define JI_FUNCTIONS_gesv(X, context) JI_SDCZ(X, context, gesv)
#define JI_ARGUMENTS_gesv(X, t) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, WRITTEN, REGULAR, PLAIN(n, n), ALWAYS) \
    X(t, INDICES, ipiv, WRITTEN, ORDER(n)) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_getri(X, context) JI_SDCZ(X, context, getri)
#define JI_ARGUMENTS_getri(X, t) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, PIVOTED, PLAIN(n, n), ALWAYS) \
    X(t, INDICES, ipiv, READ, ORDER(n)) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_trtrs(X, context) JI_SDCZ(X, context, trtrs)
#define JI_ARGUMENTS_trtrs(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, trans, OPERATION) \
    X(t, ENUM, diag, DIAGONAL) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, READ, INVERTED, PLAIN(n, n), ALWAYS) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_posv(X, context) JI_SDCZ(X, context, posv)
#define JI_ARGUMENTS_posv(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, WRITTEN, DEFINITE, PLAIN(n, n), ALWAYS) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_lauum(X, context) JI_SDCZ(X, context, lauum)
#define JI_ARGUMENTS_lauum(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, TRIANGULAR, PLAIN(n, n), ALWAYS)

#define JI_FUNCTIONS_potri(X, context) JI_SDCZ(X, context, potri)
#define JI_ARGUMENTS_potri(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, FACTOR, PLAIN(n, n), ALWAYS) \
    X(t, RESULT, info, INDEX)

#define JI_ARGUMENTS_OF_SYTRF(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, structure, PLAIN(n, n), ALWAYS) \
    X(t, INDICES, ipiv, WRITTEN, ORDER(n)) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_sytrf(X, context) JI_SDCZ(X, context, sytrf)
#define JI_ARGUMENTS_sytrf(X, t) JI_ARGUMENTS_OF_SYTRF(X, t, SYMMETRIC_REGULAR)

#define JI_FUNCTIONS_hetrf(X, context) JI_CZ(X, context, hetrf)
#define JI_ARGUMENTS_hetrf(X, t) JI_ARGUMENTS_OF_SYTRF(X, t, HERMITIAN_REGULAR)

#define JI_FUNCTIONS_sytrs(X, context) JI_SDCZ(X, context, sytrs)
#define JI_ARGUMENTS_sytrs(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, READ, DIAGONALIZED, PLAIN(n, n), ALWAYS) \
    X(t, INDICES, ipiv, READ, ORDER(n)) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS)

#define JI_FUNCTIONS_hetrs(X, context) JI_CZ(X, context, hetrs)
#define JI_ARGUMENTS_hetrs(X, t) JI_ARGUMENTS_sytrs(X, t)

#define JI_ARGUMENTS_OF_SYSV(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, WRITTEN, structure, PLAIN(n, n), ALWAYS) \
    X(t, INDICES, ipiv, WRITTEN, ORDER(n)) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_sysv(X, context) JI_SDCZ(X, context, sysv)
#define JI_ARGUMENTS_sysv(X, t) JI_ARGUMENTS_OF_SYSV(X, t, SYMMETRIC_REGULAR)

#define JI_FUNCTIONS_hesv(X, context) JI_CZ(X, context, hesv)
#define JI_ARGUMENTS_hesv(X, t) JI_ARGUMENTS_OF_SYSV(X, t, HERMITIAN_REGULAR)

#define JI_FUNCTIONS_geqrf(X, context) JI_SDCZ(X, context, geqrf)
#define JI_ARGUMENTS_geqrf(X, t) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(m, n), ALWAYS) \
    X(t, FACTORS, tau, WRITTEN, SMALLER(m, n))

#define JI_FUNCTIONS_orgqr(X, context) \
    JI_SD(X, context, orgqr) X(context, orgqr, c, cungqr) X(context, orgqr, z, zungqr)
#define JI_ARGUMENTS_orgqr(X, t) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, MATRIX, a, lda, WRITTEN, REFLECTORS, PLAIN(m, n), ALWAYS) \
    X(t, FACTORS, tau, READ, REFLECTORS(k))

#define JI_FUNCTIONS_ormqr(X, context) \
    JI_SD(X, context, ormqr) X(context, ormqr, c, cunmqr) X(context, ormqr, z, zunmqr)
#define JI_ARGUMENTS_ormqr(X, t) \
    X(t, ENUM, side, SIDE) \
    X(t, ENUM, trans, HERMITIAN_OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, MATRIX, a, lda, READ, REFLECTORS, SIDED_BY(k), ALWAYS) \
    X(t, FACTORS, tau, READ, REFLECTORS(k)) \
    X(t, MATRIX, c, ldc, WRITTEN, GENERAL, PLAIN(m, n), ALWAYS)

#define JI_FUNCTIONS_gelqf(X, context) JI_SDCZ(X, context, gelqf)
#define JI_ARGUMENTS_gelqf(X, t) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(m, n), ALWAYS) \
    X(t, FACTORS, tau, WRITTEN, SMALLER(m, n))

#define JI_FUNCTIONS_orglq(X, context) \
    JI_SD(X, context, orglq) X(context, orglq, c, cunglq) X(context, orglq, z, zunglq)
#define JI_ARGUMENTS_orglq(X, t) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, MATRIX, a, lda, WRITTEN, REFLECTORS, PLAIN(m, n), ALWAYS) \
    X(t, FACTORS, tau, READ, REFLECTORS(k))

#define JI_FUNCTIONS_ormlq(X, context) \
    JI_SD(X, context, ormlq) X(context, ormlq, c, cunmlq) X(context, ormlq, z, zunmlq)
#define JI_ARGUMENTS_ormlq(X, t) \
    X(t, ENUM, side, SIDE) \
    X(t, ENUM, trans, HERMITIAN_OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, MATRIX, a, lda, READ, REFLECTORS, SIDED_ACROSS(k), ALWAYS) \
    X(t, FACTORS, tau, READ, REFLECTORS(k)) \
    X(t, MATRIX, c, ldc, WRITTEN, GENERAL, PLAIN(m, n), ALWAYS)

#define JI_FUNCTIONS_gels(X, context) JI_SDCZ(X, context, gels)
#define JI_ARGUMENTS_gels(X, t) \
    X(t, ENUM, trans, HERMITIAN_OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, WRITTEN, FULL, PLAIN(m, n), ALWAYS) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, LARGER(m, n, nrhs), ALWAYS) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_geqp3(X, context) JI_SDCZ(X, context, geqp3)
#define JI_ARGUMENTS_geqp3(X, t) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(m, n), ALWAYS) \
    X(t, INDICES, jpvt, UPDATED, ORDER(n)) \
    X(t, FACTORS, tau, WRITTEN, SMALLER(m, n))

#define JI_FUNCTIONS_gecon(X, context) JI_SDCZ(X, context, gecon)
#define JI_ARGUMENTS_gecon(X, t) \
    X(t, ENUM, norm, NORM) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, READ, PIVOTED, PLAIN(n, n), ALWAYS) \
    X(t, SCALAR, anorm, REAL) \
    X(t, RESULT, rcond, REAL)

#define JI_FUNCTIONS_pocon(X, context) JI_SDCZ(X, context, pocon)
#define JI_ARGUMENTS_pocon(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, READ, FACTOR, PLAIN(n, n), ALWAYS) \
    X(t, SCALAR, anorm, REAL) \
    X(t, RESULT, rcond, REAL)

#define JI_FUNCTIONS_trcon(X, context) JI_SDCZ(X, context, trcon)
#define JI_ARGUMENTS_trcon(X, t) \
    X(t, ENUM, norm, NORM) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, diag, DIAGONAL) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, READ, INVERTED, PLAIN(n, n), ALWAYS) \
    X(t, RESULT, rcond, REAL)

/* Blocks of level 4 are ji_refine_t (lapack.h). */
#define JI_FUNCTIONS_gerfs(X, context) JI_SDCZ(X, context, gerfs)
#define JI_ARGUMENTS_gerfs(X, t) \
    X(t, ENUM, trans, OPERATION) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, READ, REGULAR, PLAIN(n, n), ALWAYS) \
    X(t, MATRIX, af, ldaf, READ, FACTORED, PLAIN(n, n), ALWAYS) \
    X(t, INDICES, ipiv, READ, ORDER(n)) \
    X(t, MATRIX, b, ldb, READ, GENERAL, PLAIN(n, nrhs), ALWAYS) \
    X(t, MATRIX, x, ldx, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS) \
    X(t, NUMBER, ferr, REALS, WRITTEN, ALWAYS) \
    X(t, NUMBER, berr, REALS, WRITTEN, ALWAYS)

#define JI_FUNCTIONS_porfs(X, context) JI_SDCZ(X, context, porfs)
#define JI_ARGUMENTS_porfs(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, READ, DEFINITE, PLAIN(n, n), ALWAYS) \
    X(t, MATRIX, af, ldaf, READ, FACTORED_TRIANGLE, PLAIN(n, n), ALWAYS) \
    X(t, MATRIX, b, ldb, READ, GENERAL, PLAIN(n, nrhs), ALWAYS) \
    X(t, MATRIX, x, ldx, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS) \
    X(t, NUMBER, ferr, REALS, WRITTEN, ALWAYS) \
    X(t, NUMBER, berr, REALS, WRITTEN, ALWAYS)

#define JI_FUNCTIONS_dsgesv(X, context) X(context, dsgesv, d, dsgesv) X(context, dsgesv, z, zcgesv)
#define JI_ARGUMENTS_dsgesv(X, t) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, WRITTEN, REGULAR, PLAIN(n, n), ALWAYS) \
    X(t, INDICES, ipiv, WRITTEN, ORDER(n)) \
    X(t, MATRIX, b, ldb, READ, GENERAL, PLAIN(n, nrhs), ALWAYS) \
    X(t, MATRIX, x, ldx, WRITTEN, GENERAL, PLAIN(n, nrhs), NEVER) \
    X(t, RESULT, iter, INDEX) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_dsposv(X, context) X(context, dsposv, d, dsposv) X(context, dsposv, z, zcposv)
#define JI_ARGUMENTS_dsposv(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, WRITTEN, DEFINITE, PLAIN(n, n), ALWAYS) \
    X(t, MATRIX, b, ldb, READ, GENERAL, PLAIN(n, nrhs), ALWAYS) \
    X(t, MATRIX, x, ldx, WRITTEN, GENERAL, PLAIN(n, nrhs), NEVER) \
    X(t, RESULT, iter, INDEX) \
    X(t, RESULT, info, INDEX)

/* clang-format on */

#endif
