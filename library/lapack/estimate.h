/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_ESTIMATE_H
#define JALLOC_LAPACK_ESTIMATE_H

/* The 1-norm of an inverse that is known by its factors alone, from a few solves: host/estimate.c
 * says how. For condition numbers and bounds of errors. */

#include "lapack/lapack.h"

/* A solve with a triangle of the factored matrix, or with its adjoint. */
typedef struct ji_step {
    jblas_uplo_t uplo;
    jblas_diagonal_t diag;
    bool adjoint;
} ji_step_t;

/* Which inverse: of the matrix that `steps`, one after the other, solve with. */
typedef struct ji_inverse {
    ji_head_t head;
    int64_t n; /* > 0 */
    const void *a;
    int64_t lda;
    ji_step_t step[2];
    int steps;
    const int64_t *ipiv; /* rows exchanged before the first step, or NULL */
    bool adjoint;        /* its adjoint */
    const void *weights; /* rows are multiplied by such real numbers, none negative; or NULL */
    void *vectors;       /* JI_ESTIMATE_VECTORS of them, of n elements */
} ji_inverse_t;

enum { JI_ESTIMATE_VECTORS = 3 };

/* value 2^exponent */
typedef struct ji_scaled {
    double value;
    int exponent;
} ji_scaled_t;

/* At most the norm, and seldom less than a third of it. The value is INFINITY where a triangle is
 * singular, and NaN where a NaN or an infinity was met. */
ji_scaled_t ji_estimate(const ji_inverse_t *inverse);

/* Bytes of so many vectors of n elements, each rounded up. */
static inline size_t ji_vectors_bytes(jdatatype_t type, int64_t n, int64_t count) {
    return ji_whole_lines((size_t)n * ji_sizeof(type)) * (size_t)count;
}

/* The largest part of an element's; NaN if one is. */
double ji_largest_part(jdatatype_t type, int64_t n, const void *x);

#endif
