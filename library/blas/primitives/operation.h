/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_PRIMITIVES_OPERATION_H
#define JALLOC_BLAS_PRIMITIVES_OPERATION_H

/* What an operation does to a matrix: it exchanges rows and columns, or not, and it conjugates, or
 * not. Whoever compares with one enumerator asks for less than that. And what a matrix is of which
 * one triangle is stored. */

#include <stdbool.h>
#include <stdint.h>

#include "jalloc/jblas_types.h"

/* A function of the host's that kernels of a GPU call, too. */
#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__HIP__)
#define JI_KERNEL_INLINE static __host__ __device__ inline
#else
#define JI_KERNEL_INLINE static inline
#endif

static inline bool ji_is_transposed(jblas_operation_t operation) {
    return operation == JBLAS_TRANSPOSE || operation == JBLAS_CONJUGATE_TRANSPOSE;
}

/* Real numbers are their own conjugates, whatever this says. */
static inline bool ji_is_conjugated(jblas_operation_t operation) {
    return operation == JBLAS_CONJUGATE_TRANSPOSE || operation == JBLAS_CONJUGATE;
}

/* What the triangle that is not stored holds: the same elements, their conjugates, or their
 * negatives; of the last the diagonal is 0, and neither read nor written. Real types have the first
 * and the last, and take the second for the first; complex ones have the first two. */
typedef enum ji_symmetry { JI_SYMMETRIC, JI_HERMITIAN, JI_SKEW_SYMMETRIC } ji_symmetry_t;

#endif
