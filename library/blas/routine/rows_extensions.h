/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_ROWS_EXTENSIONS_H
#define JALLOC_BLAS_ROUTINE_ROWS_EXTENSIONS_H

/* The rows of extensions; rows.h, which includes this, says how to read them.
 * One argument to a line. */

/* clang-format off */

#define JI_FUNCTIONS_geam(X, context) JI_SDCZ(X, context, geam)
#define JI_ARGUMENTS_geam(X, t) \
    X(t, ENUM, transa, ANY_OPERATION) \
    X(t, ENUM, transb, ANY_OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, GENERAL, OPERATED(transa, m, n), ALPHA) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, MATRIX, b, ldb, READ, GENERAL, OPERATED(transb, m, n), BETA) \
    X(t, MATRIX, c, ldc, WRITTEN, GENERAL, PLAIN(m, n), NEVER)

#define JI_FUNCTIONS_dgmm(X, context) JI_SDCZ(X, context, dgmm)
#define JI_ARGUMENTS_dgmm(X, t) \
    X(t, ENUM, side, SIDE) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, READ, GENERAL, PLAIN(m, n), ALWAYS) \
    X(t, VECTOR, x, incx, READ, SIDED(m, n), ALWAYS) \
    X(t, MATRIX, c, ldc, WRITTEN, GENERAL, PLAIN(m, n), NEVER)

#define JI_FUNCTIONS_omatcopy(X, context) JI_SDCZ(X, context, omatcopy)
#define JI_ARGUMENTS_omatcopy(X, t) \
    X(t, ENUM, trans, ANY_OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, GENERAL, PLAIN(m, n), ALPHA) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, OPERATED(trans, m, n), NEVER)

#define JI_FUNCTIONS_imatcopy(X, context) JI_SDCZ(X, context, imatcopy)
#define JI_ARGUMENTS_imatcopy(X, t) \
    X(t, ENUM, trans, ANY_OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(m, n), ALPHA) \
    X(t, LEADING, ldb, a, OPERATED(trans, m, n))

#define JI_FUNCTIONS_trttp(X, context) JI_SDCZ(X, context, trttp)
#define JI_ARGUMENTS_trttp(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, READ, TRIANGULAR, PLAIN(n, n), ALWAYS) \
    X(t, PACKED, bp, WRITTEN, TRIANGULAR, n, NEVER)

#define JI_FUNCTIONS_tpttr(X, context) JI_SDCZ(X, context, tpttr)
#define JI_ARGUMENTS_tpttr(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, PACKED, bp, READ, TRIANGULAR, n, ALWAYS) \
    X(t, MATRIX, a, lda, WRITTEN, TRIANGULAR, PLAIN(n, n), NEVER)

/* clang-format on */

#endif
