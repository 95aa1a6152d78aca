/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_ROWS_EXTENSIONS_H
#define JALLOC_BLAS_ROUTINE_ROWS_EXTENSIONS_H

/* The rows of extensions and solvers; rows.h, which includes this, says how to read them.
 * One argument to a line. */

/* clang-format off */

#define JI_FUNCTIONS_trtri(X, context) JI_SDCZ(X, context, trtri)
#define JI_ARGUMENTS_trtri(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, diag, DIAGONAL) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, INVERTED, PLAIN(n, n), ALWAYS) \
    X(t, RESULT, info, INDEX)

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

#define JI_FUNCTIONS_gemm_batched(X, context) JI_SDCZ(X, context, gemm_batched)
#define JI_ARGUMENTS_gemm_batched(X, t) \
    X(t, ENUM, transa, ANY_OPERATION) \
    X(t, ENUM, transb, ANY_OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, POINTERS, a, lda, READ, GENERAL, OPERATED(transa, m, k), PRODUCT) \
    X(t, POINTERS, b, ldb, READ, GENERAL, OPERATED(transb, k, n), PRODUCT) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, POINTERS, c, ldc, WRITTEN, GENERAL, PLAIN(m, n), BETA) \
    X(t, SIZE, batch_count)

#define JI_FUNCTIONS_gemm_strided_batched(X, context) JI_SDCZ(X, context, gemm_strided_batched)
#define JI_ARGUMENTS_gemm_strided_batched(X, t) \
    X(t, ENUM, transa, ANY_OPERATION) \
    X(t, ENUM, transb, ANY_OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, STRIDED, a, lda, stride_a, READ, GENERAL, OPERATED(transa, m, k), PRODUCT) \
    X(t, STRIDED, b, ldb, stride_b, READ, GENERAL, OPERATED(transb, k, n), PRODUCT) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, STRIDED, c, ldc, stride_c, WRITTEN, GENERAL, PLAIN(m, n), BETA) \
    X(t, SIZE, batch_count)

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

/* clang-format on */

#endif
