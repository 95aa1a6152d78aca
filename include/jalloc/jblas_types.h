/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_TYPES_H
#define JALLOC_JBLAS_TYPES_H

/** @file
 * BLAS on a handle: what a routine is told beside sizes and operands. */

/** What is done to a matrix before it is used; CBLAS's numbers. */
typedef enum jblas_operation_t {
    JBLAS_NO_TRANSPOSE = 111,        /**< op(A) = A, "N" */
    JBLAS_TRANSPOSE = 112,           /**< op(A) = A^T, "T" */
    JBLAS_CONJUGATE_TRANSPOSE = 113, /**< op(A) = A^H, "C"; the same as "T" for real types */
    /** op(A) = conj(A), "R", as OpenBLAS and BLIS have it; the same as "N" for real types. For
     * gemv, gbmv, gemm and its batched forms, gemmt, trmv, tbmv, tpmv, trsv, tbsv, tpsv, trmm, trsm
     * and geam; on GPUs of complex types by jalloc's kernels, the vendors having none. */
    JBLAS_CONJUGATE = 114
} jblas_operation_t;

/** Which triangle is read or written; the other is not touched. */
typedef enum jblas_uplo_t { JBLAS_UPPER = 121, JBLAS_LOWER = 122 } jblas_uplo_t;
/** Whether the diagonal is read or taken to be all ones. */
typedef enum jblas_diagonal_t { JBLAS_NON_UNIT = 131, JBLAS_UNIT = 132 } jblas_diagonal_t;
/** On which side of the product the special matrix stands. */
typedef enum jblas_side_t { JBLAS_LEFT = 141, JBLAS_RIGHT = 142 } jblas_side_t;

#endif
