/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_OPERATION_FACTOR_H
#define JALLOC_CLIENTS_GTEST_OPERATION_FACTOR_H

/* Factorizations of buffers, all called and judged alike: by residuals, by orthogonality, and by
 * what the factors have to have in common with A where one of them is not wanted. */

#include "operation_helper.h"

typedef enum {
    FACTOR_LU,
    FACTOR_QR,
    FACTOR_LEAST_SQUARES,
    FACTOR_EIGEN,
    FACTOR_SVD,
    FACTOR_COUNT
} factor_t;

#define FACTOR_MOST 200 /* of the smaller size */

typedef struct factor_call {
    factor_t which;
    jbuffer_t *a, *b;       /* b: of least squares */
    jbuffer_t **results[2]; /* Q R, X, V, U V^H; NULL: not wanted */
    double values[FACTOR_MOST];
    int64_t pivots[FACTOR_MOST];
    int64_t info;
} factor_call_t;

const char *factor_name(factor_t which);
/* How many results there are, and the shape of one. */
int factor_results(factor_t which);
void factor_shape(factor_t which, int result, int64_t m, int64_t n, int64_t columns,
                  int64_t shape[2]);
/* Numbers that no call gives are put down first. */
void factor_begin(factor_call_t *call, factor_t which);
jstatus_t factor_do(jhandle_t *handle, factor_call_t *call);
/* Nothing has been put down, as after a query or a failure. */
void factor_expect_nothing(const factor_call_t *call);

/* A, B: as they were; results: what is wanted, of LU what A became. */
void factor_expect(wide_arena_t *arena, int type, const factor_call_t *call, wide_matrix_t a,
                   wide_matrix_t b, const wide_matrix_t *results[2]);

/* The Frobenius norm. */
long double wide_norm(wide_matrix_t a);

#endif
