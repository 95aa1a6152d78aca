/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_ROWS_EX_H
#define JALLOC_BLAS_ROUTINE_ROWS_EX_H

/* The rows of routines whose types are arguments; rows.h, which includes this, says how to read
 * them. Their scalars are of the compute type, but rot_ex's. One argument to a line. */

/* clang-format off */

#define JI_FUNCTIONS_axpy_ex(X, context) X(context, axpy_ex, x, axpy_ex)
#define JI_ARGUMENTS_axpy_ex(X, t) \
    X(t, LENGTH, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, TYPED_VECTOR, x, x_type, incx, READ, LENGTH(n), ALPHA) \
    X(t, TYPED_VECTOR, y, y_type, incy, WRITTEN, LENGTH(n), ALWAYS) \
    X(t, ENUM, compute_type, DATATYPE)

#define JI_ARGUMENTS_OF_DOT_EX(X, t) \
    X(t, LENGTH, n) \
    X(t, TYPED_VECTOR, x, x_type, incx, READ, LENGTH(n), ALWAYS) \
    X(t, TYPED_VECTOR, y, y_type, incy, READ, LENGTH(n), ALWAYS) \
    X(t, RESULT, result, ELEMENT) \
    X(t, ENUM, compute_type, DATATYPE)

#define JI_FUNCTIONS_dot_ex(X, context) X(context, dot_ex, x, dot_ex)
#define JI_ARGUMENTS_dot_ex(X, t) JI_ARGUMENTS_OF_DOT_EX(X, t)

#define JI_FUNCTIONS_dotc_ex(X, context) X(context, dotc_ex, x, dotc_ex)
#define JI_ARGUMENTS_dotc_ex(X, t) JI_ARGUMENTS_OF_DOT_EX(X, t)

#define JI_ARGUMENTS_OF_NRM2_EX(X, t) \
    X(t, LENGTH, n) \
    X(t, TYPED_VECTOR, x, x_type, incx, READ, LENGTH(n), ALWAYS) \
    X(t, RESULT, result, REAL) \
    X(t, ENUM, compute_type, DATATYPE)

#define JI_FUNCTIONS_nrm2_ex(X, context) X(context, nrm2_ex, x, nrm2_ex)
#define JI_ARGUMENTS_nrm2_ex(X, t) JI_ARGUMENTS_OF_NRM2_EX(X, t)

#define JI_FUNCTIONS_asum_ex(X, context) X(context, asum_ex, x, asum_ex)
#define JI_ARGUMENTS_asum_ex(X, t) JI_ARGUMENTS_OF_NRM2_EX(X, t)

#define JI_FUNCTIONS_scal_ex(X, context) X(context, scal_ex, x, scal_ex)
#define JI_ARGUMENTS_scal_ex(X, t) \
    X(t, LENGTH, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, TYPED_VECTOR, x, x_type, incx, WRITTEN, LENGTH(n), ALWAYS) \
    X(t, ENUM, compute_type, DATATYPE)

#define JI_FUNCTIONS_rot_ex(X, context) X(context, rot_ex, x, rot_ex)
#define JI_ARGUMENTS_rot_ex(X, t) \
    X(t, LENGTH, n) \
    X(t, TYPED_VECTOR, x, x_type, incx, WRITTEN, LENGTH(n), ALWAYS) \
    X(t, TYPED_VECTOR, y, y_type, incy, WRITTEN, LENGTH(n), ALWAYS) \
    X(t, SCALAR, c, CS) \
    X(t, SCALAR, s, CS) \
    X(t, ENUM, cs_type, DATATYPE) \
    X(t, ENUM, compute_type, DATATYPE)

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

#define JI_FUNCTIONS_trsm_ex(X, context) X(context, trsm_ex, x, trsm_ex)
#define JI_ARGUMENTS_trsm_ex(X, t) \
    X(t, ENUM, side, SIDE) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, trans, ANY_OPERATION) \
    X(t, ENUM, diag, DIAGONAL) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, TYPED_MATRIX, a, a_type, lda, READ, INVERTED, SIDED(m, n), ALPHA) \
    X(t, TYPED_MATRIX, b, b_type, ldb, WRITTEN, GENERAL, PLAIN(m, n), ALPHA) \
    X(t, ENUM, compute_type, DATATYPE)

/* clang-format on */

#endif
