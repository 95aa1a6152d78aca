/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_PRIMITIVES_OPERATION_H
#define JALLOC_BLAS_PRIMITIVES_OPERATION_H

/* What an operation does to a matrix: it exchanges rows and columns, or not, and it conjugates, or
 * not. Whoever compares with one enumerator asks for less than that. */

#include <stdbool.h>

#include "jalloc/jblas_types.h"

static inline bool ji_is_transposed(jblas_operation_t operation) {
    return operation == JBLAS_TRANSPOSE || operation == JBLAS_CONJUGATE_TRANSPOSE;
}

/* Real numbers are their own conjugates, whatever this says. */
static inline bool ji_is_conjugated(jblas_operation_t operation) {
    return operation == JBLAS_CONJUGATE_TRANSPOSE || operation == JBLAS_CONJUGATE;
}

#endif
