/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "operation_factor.h"

#include <math.h>
#include <string.h>

#define UNTOUCHED 12345

const char *factor_name(factor_t which) {
    static const char *const names[FACTOR_COUNT] = {"lu", "qr", "least_squares", "eigen", "svd"};
    return names[which];
}

int factor_results(factor_t which) {
    static const int results[FACTOR_COUNT] = {0, 2, 1, 1, 2};
    return results[which];
}

void factor_shape(factor_t which, int result, int64_t m, int64_t n, int64_t columns,
                  int64_t shape[2]) {
    const int64_t k = m < n ? m : n;
    shape[0] = result == 0 ? m : k;
    shape[1] = result == 0 ? k : n;
    if (which == FACTOR_LEAST_SQUARES) {
        shape[0] = n;
        shape[1] = columns;
    }
}

void factor_begin(factor_call_t *call, factor_t which) {
    memset(call, 0, sizeof *call);
    call->which = which;
    call->info = -UNTOUCHED;
    for (int i = 0; i < FACTOR_MOST; i++) {
        call->values[i] = -UNTOUCHED;
        call->pivots[i] = -UNTOUCHED;
    }
}

void factor_expect_nothing(const factor_call_t *call) {
    JEXPECT_TRUE(call->which == FACTOR_QR || call->info == -UNTOUCHED);
    for (int i = 0; i < FACTOR_MOST; i++)
        JEXPECT_TRUE(call->values[i] == -UNTOUCHED && call->pivots[i] == -UNTOUCHED);
}

jstatus_t factor_do(jhandle_t *handle, factor_call_t *call) {
    switch (call->which) {
    case FACTOR_LU: return jbuffer_lu(handle, call->a, call->pivots, &call->info);
    case FACTOR_QR: return jbuffer_qr(handle, call->a, call->results[0], call->results[1]);
    case FACTOR_LEAST_SQUARES:
        return jbuffer_least_squares(handle, call->a, call->b, call->results[0], &call->info);
    case FACTOR_EIGEN:
        return jbuffer_eigen_symmetric(handle, call->a, call->values, call->results[0],
                                       &call->info);
    default:
        return jbuffer_svd(handle, call->a, call->values, call->results[0], call->results[1],
                           &call->info);
    }
}

/* ---- Judgement ---- */

long double wide_norm(wide_matrix_t a) {
    long double sum = 0;
    for (int64_t i = 0; i < a.rows * a.columns; i++)
        sum += __real__ a.e[i] * __real__ a.e[i] + __imag__ a.e[i] * __imag__ a.e[i];
    return sqrtl(sum);
}

typedef struct judge {
    wide_arena_t *arena;
    int type;
    long double epsilons; /* that a norm may be off */
} judge_t;

static wide_matrix_t zeros(const judge_t *judge, int64_t rows, int64_t columns) {
    wide_matrix_t matrix = wide_zeros(judge->arena, rows, columns);
    matrix.real = !wide_is_complex(judge->type);
    return matrix;
}

static void expect_near(const judge_t *judge, const char *what, wide_matrix_t got,
                        wide_matrix_t expected, long double scale) {
    wide_matrix_t difference = zeros(judge, got.rows, got.columns);
    JASSERT_EQ(got.rows, expected.rows);
    JASSERT_EQ(got.columns, expected.columns);
    wide_add(1, got, difference);
    wide_add(-1, expected, difference);

    const long double off = wide_norm(difference),
                      most = judge->epsilons * wide_epsilon(judge->type) * scale;
    if (!(off <= most))
        JFAIL("%s is off by %.3Lg, more than %.3Lg", what, off, most);
}

static wide_matrix_t product(const judge_t *judge, wide_matrix_t a, wide_matrix_t b) {
    wide_matrix_t c = zeros(judge, a.rows, b.columns);
    wide_multiply_add(1, a, b, c);
    return c;
}
static wide_matrix_t adjoint(const judge_t *judge, wide_matrix_t a) {
    return wide_operate(judge->arena, a, JBLAS_CONJUGATE_TRANSPOSE);
}
static void expect_orthonormal(const judge_t *judge, const char *what, wide_matrix_t columns) {
    expect_near(judge, what, product(judge, adjoint(judge, columns), columns),
                wide_identity(judge->arena, columns.columns), 1);
}

static wide_matrix_t diagonal(const judge_t *judge, int64_t n, const double *values, int power) {
    wide_matrix_t d = zeros(judge, n, n);
    for (int64_t i = 0; i < n; i++)
        *wide_at(d, i, i) = power == 2 ? (wide_t)values[i] * values[i] : (wide_t)values[i];
    return d;
}

static void expect_lu(const judge_t *judge, const factor_call_t *call, wide_matrix_t a,
                      wide_matrix_t lu) {
    const int64_t k = a.rows < a.columns ? a.rows : a.columns;
    wide_matrix_t lower = zeros(judge, a.rows, k), upper = zeros(judge, k, a.columns),
                  exchanged = zeros(judge, a.rows, a.columns);
    for (int64_t j = 0; j < a.columns; j++)
        for (int64_t i = 0; i < a.rows; i++) {
            if (i > j && j < k)
                *wide_at(lower, i, j) = *wide_at(lu, i, j);
            else if (i <= j)
                *wide_at(upper, i, j) = *wide_at(lu, i, j);
        }
    int64_t singular = 0;
    for (int64_t i = 0; i < k; i++) {
        *wide_at(lower, i, i) = 1;
        if (singular == 0 && *wide_at(lu, i, i) == 0)
            singular = i + 1;
    }
    JEXPECT_EQ(call->info, singular);

    wide_add(1, a, exchanged);
    for (int64_t i = 0; i < k; i++) {
        const int64_t with = call->pivots[i] - 1;
        JASSERT_TRUE(with >= i && with < a.rows);
        for (int64_t j = 0; j < a.columns; j++) {
            const wide_t kept = *wide_at(exchanged, i, j);
            *wide_at(exchanged, i, j) = *wide_at(exchanged, with, j);
            *wide_at(exchanged, with, j) = kept;
        }
    }
    for (int64_t i = 0; i < a.rows * k; i++) /* pivots are the largest of their columns */
        JEXPECT_LE((double)wide_abs(lower.e[i]), 2.01);
    expect_near(judge, "P L U", product(judge, lower, upper), exchanged,
                wide_norm(lower) * wide_norm(upper));
}

static void expect_qr(const judge_t *judge, wide_matrix_t a, const wide_matrix_t *q,
                      const wide_matrix_t *r) {
    for (int64_t j = 0; r != NULL && j < r->columns; j++) {
        for (int64_t i = j + 1; i < r->rows; i++)
            JEXPECT_TRUE(*wide_at(*r, i, j) == 0);
        JEXPECT_TRUE(j >= r->rows || __imag__ * wide_at(*r, j, j) == 0);
    }
    if (q != NULL)
        expect_orthonormal(judge, "Q^H Q", *q);

    const wide_matrix_t gram = product(judge, adjoint(judge, a), a);
    if (q != NULL && r != NULL)
        expect_near(judge, "Q R", product(judge, *q, *r), a, wide_norm(a));
    else if (q != NULL) /* A is in their span */
        expect_near(judge, "Q Q^H A", product(judge, *q, product(judge, adjoint(judge, *q), a)), a,
                    wide_norm(a));
    else
        expect_near(judge, "R^H R", product(judge, adjoint(judge, *r), *r), gram, wide_norm(gram));
}

/* By the normal equations, whose loss is nothing beside the type's epsilon. */
static void expect_least_squares(const judge_t *judge, const factor_call_t *call, wide_matrix_t a,
                                 wide_matrix_t b, wide_matrix_t x) {
    const bool tall = a.rows >= a.columns;
    const wide_matrix_t across = adjoint(judge, a);
    wide_matrix_t gram = tall ? product(judge, across, a) : product(judge, a, across),
                  right = tall ? product(judge, across, b) : zeros(judge, b.rows, b.columns);
    JEXPECT_EQ(call->info, 0);
    if (!tall)
        wide_add(1, b, right);
    JASSERT_EQ(wide_cholesky(gram), 0);
    gram.above = 0;
    wide_solve(gram, right);
    wide_solve(adjoint(judge, gram), right);
    if (!tall)
        right = product(judge, across, right);
    expect_near(judge, "X", x, right, 16 * wide_norm(right) + wide_norm(b));
}

static void expect_values(const judge_t *judge, const factor_call_t *call, wide_matrix_t a) {
    const int64_t k = a.rows < a.columns ? a.rows : a.columns;
    const bool rise = call->which == FACTOR_EIGEN;
    wide_matrix_t squares = zeros(judge, 1, 1), norm = zeros(judge, 1, 1), sum = zeros(judge, 1, 1),
                  trace = zeros(judge, 1, 1);
    JEXPECT_EQ(call->info, 0);
    for (int64_t i = 0; i < k; i++) {
        squares.e[0] += (wide_t)call->values[i] * call->values[i];
        sum.e[0] += call->values[i];
        trace.e[0] += *wide_at(a, i, i);
        JEXPECT_TRUE(rise || call->values[i] >= 0);
        JEXPECT_TRUE(i == 0 || (rise ? call->values[i] >= call->values[i - 1]
                                     : call->values[i] <= call->values[i - 1]));
    }
    JEXPECT_TRUE(call->values[k] == -UNTOUCHED);
    norm.e[0] = wide_norm(a) * wide_norm(a);
    expect_near(judge, "the sum of squares of values", squares, norm, wide_norm(norm));
    if (rise)
        expect_near(judge, "the sum of values", sum, trace, wide_norm(a));
}

static void expect_eigen(const judge_t *judge, const factor_call_t *call, wide_matrix_t a,
                         const wide_matrix_t *vectors) {
    expect_values(judge, call, a);
    if (vectors == NULL)
        return;
    expect_orthonormal(judge, "V^H V", *vectors);
    expect_near(judge, "A V", product(judge, a, *vectors),
                product(judge, *vectors, diagonal(judge, a.rows, call->values, 1)), wide_norm(a));
}

static void expect_svd(const judge_t *judge, const factor_call_t *call, wide_matrix_t a,
                       const wide_matrix_t *u, const wide_matrix_t *vt) {
    const int64_t k = a.rows < a.columns ? a.rows : a.columns;
    const wide_matrix_t values = diagonal(judge, k, call->values, 1),
                        squares = diagonal(judge, k, call->values, 2);
    expect_values(judge, call, a);
    if (u != NULL)
        expect_orthonormal(judge, "U^H U", *u);
    if (vt != NULL)
        expect_orthonormal(judge, "V^H V", adjoint(judge, *vt));

    if (u != NULL && vt != NULL) {
        expect_near(judge, "U S V^H", product(judge, *u, product(judge, values, *vt)), a,
                    wide_norm(a));
    } else if (u != NULL || vt != NULL) { /* what is turned by them has values for lengths */
        const wide_matrix_t turned = u != NULL ? product(judge, adjoint(judge, *u), a)
                                               : product(judge, *vt, adjoint(judge, a));
        expect_near(judge, "S^2", product(judge, turned, adjoint(judge, turned)), squares,
                    wide_norm(a) * wide_norm(a));
    }
}

void factor_expect(wide_arena_t *arena, int type, const factor_call_t *call, wide_matrix_t a,
                   wide_matrix_t b, const wide_matrix_t *results[2]) {
    const judge_t judge = {arena, type, 8 * (long double)(a.rows + a.columns + 4)};
    switch (call->which) {
    case FACTOR_LU: expect_lu(&judge, call, a, *results[0]); break;
    case FACTOR_QR: expect_qr(&judge, a, results[0], results[1]); break;
    case FACTOR_LEAST_SQUARES: expect_least_squares(&judge, call, a, b, *results[0]); break;
    case FACTOR_EIGEN: expect_eigen(&judge, call, a, results[0]); break;
    default: expect_svd(&judge, call, a, results[0], results[1]); break;
    }
}
