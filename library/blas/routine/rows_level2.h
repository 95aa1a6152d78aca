/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_ROWS_LEVEL2_H
#define JALLOC_BLAS_ROUTINE_ROWS_LEVEL2_H

/* The rows of level 2; rows.h, which includes this, says how to read them.
 * One argument to a line. */

/* clang-format off */

#define JI_FUNCTIONS_gemv(X, context) JI_SDCZ(X, context, gemv)
#define JI_ARGUMENTS_gemv(X, t) \
    X(t, ENUM, trans, OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, GENERAL, PLAIN(m, n), ALPHA) \
    X(t, VECTOR, x, incx, READ, TAKEN(trans, m, n), ALPHA) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, VECTOR, y, incy, WRITTEN, GIVEN(trans, m, n), BETA)

#define JI_FUNCTIONS_ger(X, context) JI_SD(X, context, ger)
#define JI_ARGUMENTS_ger(X, t) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, VECTOR, x, incx, READ, ELEMENTS(m), ALPHA) \
    X(t, VECTOR, y, incy, READ, ELEMENTS(n), ALPHA) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(m, n), ALWAYS)

#define JI_FUNCTIONS_geru(X, context) JI_CZ(X, context, geru)
#define JI_ARGUMENTS_geru(X, t) JI_ARGUMENTS_ger(X, t)

#define JI_FUNCTIONS_gerc(X, context) JI_CZ(X, context, gerc)
#define JI_ARGUMENTS_gerc(X, t) JI_ARGUMENTS_ger(X, t)

#define JI_ARGUMENTS_OF_SYMV(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, structure, PLAIN(n, n), ALPHA) \
    X(t, VECTOR, x, incx, READ, ELEMENTS(n), ALPHA) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, VECTOR, y, incy, WRITTEN, ELEMENTS(n), BETA)

#define JI_FUNCTIONS_symv(X, context) JI_SD(X, context, symv)
#define JI_ARGUMENTS_symv(X, t) JI_ARGUMENTS_OF_SYMV(X, t, SYMMETRIC)

#define JI_FUNCTIONS_hemv(X, context) JI_CZ(X, context, hemv)
#define JI_ARGUMENTS_hemv(X, t) JI_ARGUMENTS_OF_SYMV(X, t, HERMITIAN)

#define JI_ARGUMENTS_OF_SYR(X, t, of, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, of) \
    X(t, VECTOR, x, incx, READ, ELEMENTS(n), ALPHA) \
    X(t, MATRIX, a, lda, WRITTEN, structure, PLAIN(n, n), ALWAYS)

#define JI_FUNCTIONS_syr(X, context) JI_SD(X, context, syr)
#define JI_ARGUMENTS_syr(X, t) JI_ARGUMENTS_OF_SYR(X, t, ELEMENT, SYMMETRIC)

#define JI_FUNCTIONS_her(X, context) JI_CZ(X, context, her)
#define JI_ARGUMENTS_her(X, t) JI_ARGUMENTS_OF_SYR(X, t, REAL, HERMITIAN)

#define JI_ARGUMENTS_OF_SYR2(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, VECTOR, x, incx, READ, ELEMENTS(n), ALPHA) \
    X(t, VECTOR, y, incy, READ, ELEMENTS(n), ALPHA) \
    X(t, MATRIX, a, lda, WRITTEN, structure, PLAIN(n, n), ALWAYS)

#define JI_FUNCTIONS_syr2(X, context) JI_SD(X, context, syr2)
#define JI_ARGUMENTS_syr2(X, t) JI_ARGUMENTS_OF_SYR2(X, t, SYMMETRIC)

#define JI_FUNCTIONS_her2(X, context) JI_CZ(X, context, her2)
#define JI_ARGUMENTS_her2(X, t) JI_ARGUMENTS_OF_SYR2(X, t, HERMITIAN)

#define JI_ARGUMENTS_OF_TRMV(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, trans, OPERATION) \
    X(t, ENUM, diag, DIAGONAL) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, READ, structure, PLAIN(n, n), ALWAYS) \
    X(t, VECTOR, x, incx, WRITTEN, ELEMENTS(n), ALWAYS)

#define JI_FUNCTIONS_trmv(X, context) JI_SDCZ(X, context, trmv)
#define JI_ARGUMENTS_trmv(X, t) JI_ARGUMENTS_OF_TRMV(X, t, TRIANGULAR)

#define JI_FUNCTIONS_trsv(X, context) JI_SDCZ(X, context, trsv)
#define JI_ARGUMENTS_trsv(X, t) JI_ARGUMENTS_OF_TRMV(X, t, INVERTED)

/* clang-format on */

#endif
