/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_BENCH_REFERENCE_H
#define JALLOC_CLIENTS_BENCH_REFERENCE_H

/* What the references of BLAS and of LAPACK have in common. */

#include "blas/primitives/operation.h"
#include "problem.h"

typedef enum structure { GENERAL, SYMMETRIC, HERMITIAN, SKEW, TRIANGULAR } structure_t;

typedef struct view {
    const problem_t *problem;
    const operand_t *operand;
    structure_t structure;
    int trans; /* as in the BLAS */
} view_t;

/* What the operand was before the call. */
const void *reference_data(const operand_t *operand);
view_t reference_view(const problem_t *p, int which, structure_t structure, int trans);
value_t reference_at(const view_t *view, int64_t i, int64_t j);
/* A view as a plain column-major array. */
value_t *reference_dense(const view_t *view, int64_t rows, int64_t columns);

/* Zeros; the program ends where there is no memory for them. */
void *reference_zeroed(size_t count, size_t element_bytes);
value_t *reference_allocate(int64_t count);

/* Half of the distance from 1 to the next number. */
long double reference_unit(jdatatype_t type);
value_t reference_alpha(const problem_t *p);
static inline long double magnitude_1(value_t x) { return fabsl(creall(x)) + fabsl(cimagl(x)); }

/* x := inv(T) x with a triangle, `unit` with a diagonal of ones; a lower one is solved forward. T's
 * element (i, l) is at t[i row + l column]. */
void reference_substitute_vector(const value_t *t, int64_t row, int64_t column, int64_t n,
                                 bool forward, bool unit, value_t *x);
/* op(A) X = X's right-hand sides, in place in operand `which`; or X op(A) on the right. A is
 * triangular. */
void reference_substitute(problem_t *p, value_t **want, int which, view_t A, int side, int64_t m,
                          int64_t n, value_t alpha);

/* QR of a, m x n, in place, column-major, perhaps with column exchanges; tau: min(m, n). */
void reference_factor_qr(value_t *a, int64_t m, int64_t n, bool pivots, value_t *tau);
/* What the problem's residual is. */
long double reference_residual(const problem_t *p);
/* Cholesky's factor of a, n x n, column-major, in its lower triangle; its adjoint above. */
void reference_factor_cholesky(value_t *a, int64_t n);

#endif
