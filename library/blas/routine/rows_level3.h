/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_ROWS_LEVEL3_H
#define JALLOC_BLAS_ROUTINE_ROWS_LEVEL3_H

/* The rows of level 3; rows.h, which includes this, says how to read them.
 * One argument to a line. */

/* clang-format off */

#define JI_HB(X, context, routine) \
    X(context, routine, h, h##routine) X(context, routine, b, b##routine)
#define JI_FUNCTIONS_gemm(X, context) JI_SDCZ(X, context, gemm) JI_HB(X, context, gemm)
#define JI_ARGUMENTS_gemm(X, t) \
    X(t, ENUM, transa, ANY_OPERATION) \
    X(t, ENUM, transb, ANY_OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, SUM) \
    X(t, MATRIX, a, lda, READ, GENERAL, OPERATED(transa, m, k), PRODUCT) \
    X(t, MATRIX, b, ldb, READ, GENERAL, OPERATED(transb, k, n), PRODUCT) \
    X(t, SCALAR, beta, SUM) \
    X(t, MATRIX, c, ldc, WRITTEN, GENERAL, PLAIN(m, n), BETA)

#define JI_FUNCTIONS_gemm3m(X, context) JI_CZ(X, context, gemm3m)
#define JI_ARGUMENTS_gemm3m(X, t) JI_ARGUMENTS_gemm(X, t)

#define JI_ARGUMENTS_OF_SYMM(X, t, structure) \
    X(t, ENUM, side, SIDE) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, structure, SIDED(m, n), ALPHA) \
    X(t, MATRIX, b, ldb, READ, GENERAL, PLAIN(m, n), ALPHA) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, MATRIX, c, ldc, WRITTEN, GENERAL, PLAIN(m, n), BETA)

#define JI_FUNCTIONS_symm(X, context) JI_SDCZ(X, context, symm)
#define JI_ARGUMENTS_symm(X, t) JI_ARGUMENTS_OF_SYMM(X, t, SYMMETRIC)

#define JI_FUNCTIONS_hemm(X, context) JI_CZ(X, context, hemm)
#define JI_ARGUMENTS_hemm(X, t) JI_ARGUMENTS_OF_SYMM(X, t, HERMITIAN)

#define JI_FUNCTIONS_skewsymm(X, context) JI_SD(X, context, skewsymm)
#define JI_ARGUMENTS_skewsymm(X, t) JI_ARGUMENTS_OF_SYMM(X, t, SKEW)

#define JI_ARGUMENTS_OF_SYRK(X, t, operation, of, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, trans, operation) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, of) \
    X(t, MATRIX, a, lda, READ, GENERAL, OPERATED(trans, n, k), PRODUCT) \
    X(t, SCALAR, beta, of) \
    X(t, MATRIX, c, ldc, WRITTEN, structure, PLAIN(n, n), BETA)

#define JI_FUNCTIONS_syrk(X, context) JI_SDCZ(X, context, syrk)
#define JI_ARGUMENTS_syrk(X, t) JI_ARGUMENTS_OF_SYRK(X, t, SYMMETRIC_OPERATION, ELEMENT, SYMMETRIC)

#define JI_FUNCTIONS_herk(X, context) JI_CZ(X, context, herk)
#define JI_ARGUMENTS_herk(X, t) JI_ARGUMENTS_OF_SYRK(X, t, HERMITIAN_OPERATION, REAL, HERMITIAN)

#define JI_ARGUMENTS_OF_SYR2K(X, t, operation, of, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, trans, operation) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, GENERAL, OPERATED(trans, n, k), PRODUCT) \
    X(t, MATRIX, b, ldb, READ, GENERAL, OPERATED(trans, n, k), PRODUCT) \
    X(t, SCALAR, beta, of) \
    X(t, MATRIX, c, ldc, WRITTEN, structure, PLAIN(n, n), BETA)

#define JI_FUNCTIONS_syr2k(X, context) JI_SDCZ(X, context, syr2k)
#define JI_ARGUMENTS_syr2k(X, t) \
    JI_ARGUMENTS_OF_SYR2K(X, t, SYMMETRIC_OPERATION, ELEMENT, SYMMETRIC)

#define JI_FUNCTIONS_her2k(X, context) JI_CZ(X, context, her2k)
#define JI_ARGUMENTS_her2k(X, t) JI_ARGUMENTS_OF_SYR2K(X, t, HERMITIAN_OPERATION, REAL, HERMITIAN)

#define JI_FUNCTIONS_skewsyr2k(X, context) JI_SD(X, context, skewsyr2k)
#define JI_ARGUMENTS_skewsyr2k(X, t) JI_ARGUMENTS_OF_SYR2K(X, t, OPERATION, ELEMENT, SKEW)

#define JI_FUNCTIONS_gemmt(X, context) JI_SDCZ(X, context, gemmt)
#define JI_ARGUMENTS_gemmt(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, transa, ANY_OPERATION) \
    X(t, ENUM, transb, ANY_OPERATION) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, GENERAL, OPERATED(transa, n, k), PRODUCT) \
    X(t, MATRIX, b, ldb, READ, GENERAL, OPERATED(transb, k, n), PRODUCT) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, MATRIX, c, ldc, WRITTEN, TRIANGULAR, PLAIN(n, n), BETA)

#define JI_FUNCTIONS_gemmtr(X, context) JI_SDCZ(X, context, gemmtr)
#define JI_ARGUMENTS_gemmtr(X, t) JI_ARGUMENTS_gemmt(X, t)

#define JI_FUNCTIONS_syrkx(X, context) JI_SDCZ(X, context, syrkx)
#define JI_ARGUMENTS_syrkx(X, t) \
    JI_ARGUMENTS_OF_SYR2K(X, t, SYMMETRIC_OPERATION, ELEMENT, SYMMETRIC)

#define JI_FUNCTIONS_herkx(X, context) JI_CZ(X, context, herkx)
#define JI_ARGUMENTS_herkx(X, t) JI_ARGUMENTS_OF_SYR2K(X, t, HERMITIAN_OPERATION, REAL, HERMITIAN)

#define JI_ARGUMENTS_OF_TRMM(X, t, structure) \
    X(t, ENUM, side, SIDE) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, trans, ANY_OPERATION) \
    X(t, ENUM, diag, DIAGONAL) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, structure, SIDED(m, n), ALPHA) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(m, n), ALPHA)

#define JI_FUNCTIONS_trmm(X, context) JI_SDCZ(X, context, trmm)
#define JI_ARGUMENTS_trmm(X, t) JI_ARGUMENTS_OF_TRMM(X, t, TRIANGULAR)

#define JI_FUNCTIONS_trsm(X, context) JI_SDCZ(X, context, trsm)
#define JI_ARGUMENTS_trsm(X, t) JI_ARGUMENTS_OF_TRMM(X, t, INVERTED)

/* clang-format on */

#endif
