/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_HOST_SYMMETRIC_H
#define JALLOC_LAPACK_HOST_SYMMETRIC_H

/* What the factorization of symmetric and Hermitian matrices and the solves with it have in common:
 * how the matrix is seen, and D.
 *
 * The lower triangle is eliminated from the first column on, the upper one from the last. Here both
 * are a lower one: of an upper triangle row and column i are those that lie at n - 1 - i, so it is
 * the same matrix seen from its other end. Parts of it are given to kernels and primitives as they
 * lie: a part's address is that of the element of it that comes first in memory. */

#include "lapack/lapack.h"
#include "lapack/number.h"

#define SYMMETRIC_BLOCK 32          /* columns of a panel at most */
#define SYMMETRIC_STRIP_BYTES 32768 /* of a panel's rows, or right sides, on the stack */
#define SYMMETRIC_VECTOR_BYTES 4096 /* of a column, on the stack */

typedef struct symmetric {
    ji_matmat_t call;
    jdatatype_t type;
    bool lower, hermitian;
    int64_t n;
} symmetric_t;

static inline symmetric_t symmetric_of(const ji_matmat_t *call, bool hermitian) {
    return (symmetric_t){.call = *call,
                         .type = call->head.type,
                         .lower = call->uplo == JBLAS_LOWER,
                         .hermitian = hermitian,
                         .n = call->n};
}

/* Where row i, or column i, lies. */
static inline int64_t symmetric_place(const symmetric_t *s, int64_t i) {
    return s->lower ? i : s->n - 1 - i;
}
/* Where rows [first, end) begin. */
static inline int64_t symmetric_begin(const symmetric_t *s, int64_t first, int64_t end) {
    return s->lower ? first : s->n - end;
}
static inline void *symmetric_at(const symmetric_t *s, int64_t i, int64_t j) {
    return ji_at(s->type, s->call.a, symmetric_place(s, i), symmetric_place(s, j), s->call.lda);
}
/* Rows [row, row_end) of columns [column, column_end). */
static inline void *symmetric_part(const symmetric_t *s, int64_t row, int64_t row_end,
                                   int64_t column, int64_t column_end) {
    return ji_at(s->type, s->call.a, symmetric_begin(s, row, row_end),
                 symmetric_begin(s, column, column_end), s->call.lda);
}

/* What transposes a factor that stands on the right. */
static inline jblas_operation_t symmetric_operation(const symmetric_t *s) {
    return s->hermitian ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_TRANSPOSE;
}

/* ---- Pivots: LAPACK's ---- */

/* A block of D begins at row k; is it of two? */
static inline bool symmetric_is_pair(const symmetric_t *s, int64_t k) {
    return s->call.ipiv[symmetric_place(s, k)] < 0;
}
/* What the block's last row was exchanged with. */
static inline int64_t symmetric_partner(const symmetric_t *s, int64_t k) {
    const int64_t pivot = s->call.ipiv[symmetric_place(s, k)];
    return symmetric_place(s, (pivot < 0 ? -pivot : pivot) - 1);
}

/* ---- Numbers of any type ---- */

static inline ji_value_t symmetric_value(jdatatype_t type, ji_number_t number) {
    ji_value_t value = {.z = {0, 0}};
    ji_number_store(type, &value, number.re, number.im);
    return value;
}

/* ---- The blocks of D ---- */

/* The inverse of a block of D. */
typedef struct symmetric_inverse {
    bool is_pair;
    bool divide;                  /* there is no such number: own[0] is what is divided by */
    ji_value_t own[2], beside[2]; /* (1, 1) and (2, 2); (2, 1) and (1, 2) */
} symmetric_inverse_t;
/* Of one, `own`, or where `other` is not NULL of two, `beside` below the diagonal. */
symmetric_inverse_t ji_symmetric_invert(jdatatype_t type, bool hermitian, const void *own,
                                        const void *beside, const void *other);

/* (x y) := (x y) inv(D) of columns x and y, or with `left` (x; y) := inv(D) (x; y) of rows, of so
 * many elements; of a block of one without y. */
void ji_symmetric_divide(jdatatype_t type, const symmetric_inverse_t *inverse, bool left,
                         int64_t count, void *x, void *y, int64_t increment);

/* A = L D L^T or L D L^H in place: uplo, n, a, lda, ipiv, info; the solves with it. */
void ji_symmetric_factor(const ji_matmat_t *call, bool hermitian);
void ji_symmetric_solve(const ji_matmat_t *call, bool hermitian);

#endif
