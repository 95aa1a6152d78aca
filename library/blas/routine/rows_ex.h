/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_ROWS_EX_H
#define JALLOC_BLAS_ROUTINE_ROWS_EX_H

/* The rows of routines whose types are arguments; rows.h, which includes this, says how to read
 * them. Their scalars are of the compute type. One argument to a line. */

/* clang-format off */

#define JI_FUNCTIONS_gemm_ex(X, context) X(context, gemm_ex, x, gemm_ex)
#define JI_ARGUMENTS_gemm_ex(X, t) \
    X(t, ENUM, transa, OPERATION) \
    X(t, ENUM, transb, OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, TYPED_MATRIX, a, a_type, lda, READ, GENERAL, OPERATED(transa, m, k), PRODUCT) \
    X(t, TYPED_MATRIX, b, b_type, ldb, READ, GENERAL, OPERATED(transb, k, n), PRODUCT) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, TYPED_MATRIX, c, c_type, ldc, WRITTEN, GENERAL, PLAIN(m, n), BETA) \
    X(t, ENUM, compute_type, DATATYPE)

/* clang-format on */

#endif
