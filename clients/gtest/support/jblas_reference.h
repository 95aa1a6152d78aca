/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_JBLAS_REFERENCE_H
#define JALLOC_CLIENTS_GTEST_JBLAS_REFERENCE_H

/* Dense algebra as the textbook has it, in long double complex: what jblas's answers are held
 * against. One set of loops serves all element types, because elements are widened when they are
 * loaded.
 *
 * Every matrix carries, beside its elements, a bound for each: the sum of the absolute values that
 * went into it. An answer is right when it is within a small multiple of (depth * machine epsilon *
 * bound). */

#include <stdbool.h>
#include <stdint.h>

#include "jalloc/jblas.h"

__extension__ typedef long double _Complex wide_t;

/* Elements that jblas reads or writes beside those of jdatatype_t: int64_t results. */
#define WIDE_I64 100

/* As many diagonals as there can be. */
#define WIDE_ALL (INT64_MAX / 4)

typedef struct wide_matrix {
    int64_t rows, columns;
    wide_t *e;          /* column-major, leading dimension `rows` */
    long double *bound; /* as e */
    /* Diagonals below and above the main one that there are. The others are zero, and are never
     * multiplied: 0 * NaN would be NaN. */
    int64_t below, above;
    bool real; /* all imaginary parts are zero */
} wide_matrix_t;

/* Memory of matrices, given back all at once. */
typedef struct wide_arena {
    struct wide_chunk *chunks;
} wide_arena_t;
void wide_arena_free(wide_arena_t *arena);

/* Zeros (bounds too). */
wide_matrix_t wide_zeros(wide_arena_t *arena, int64_t rows, int64_t columns);
wide_matrix_t wide_identity(wide_arena_t *arena, int64_t order);

static inline wide_t *wide_at(wide_matrix_t a, int64_t i, int64_t j) {
    return &a.e[i + j * a.rows];
}
static inline long double *wide_bound_at(wide_matrix_t a, int64_t i, int64_t j) {
    return &a.bound[i + j * a.rows];
}

/* |re| + |im|, as BLAS measures complex numbers. */
static inline long double wide_abs(wide_t a) {
    return __builtin_fabsl(__real__ a) + __builtin_fabsl(__imag__ a);
}

/* One element of an array of a jdatatype_t or of WIDE_I64. */
wide_t wide_get(const void *array, int element, int64_t index);
void wide_put(void *array, int element, int64_t index, wide_t value);
size_t wide_sizeof(int element);
bool wide_is_complex(int element);
static inline bool wide_is_half(int element) {
    return element == JDATATYPE_F16 || element == JDATATYPE_BF16;
}
/* The type of real scalars beside an element: float or double. */
static inline int wide_real_of(int element) {
    return wide_is_half(element) ? JDATATYPE_F32 : element & 1;
}
/* The distance from 1 to the next number. */
long double wide_epsilon(int element);

/* op(A), a new matrix. */
wide_matrix_t wide_operate(wide_arena_t *arena, wide_matrix_t a, jblas_operation_t operation);

/* C += alpha A B, and C += alpha A. */
void wide_multiply_add(wide_t alpha, wide_matrix_t a, wide_matrix_t b, wide_matrix_t c);
void wide_add(wide_t alpha, wide_matrix_t a, wide_matrix_t c);

/* Overwrites B with the solution of A X = B, A triangular. The bounds become the largest element of
 * each column. */
void wide_solve(wide_matrix_t a, wide_matrix_t b);

/* The Cholesky factor L with A = L L^H; the upper triangle of A is not read, that of L is zero.
 * Gives the 1-based order of the first minor that is not positive, or 0. */
int64_t wide_cholesky(wide_matrix_t a);

#endif
