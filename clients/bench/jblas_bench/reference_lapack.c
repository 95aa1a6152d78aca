/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the answers of LAPACK's routines should be; reference.c says how. */

#include <math.h>
#include <stdlib.h>

#include "reference.h"

/* ---- Triangles ---- */

/* Writes a dense triangular matrix where the routine stores its triangle; a unit diagonal is not
 * stored. */
static void store_triangle(problem_t *p, value_t **want, const value_t *dense, bool unit) {
    int64_t n = p->options->n;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            if (operand_has(&p->operand[0], i, j) &&
                (i == j ? !unit : (p->options->uplo == JBLAS_LOWER) == (i > j)))
                want[0][operand_index(&p->operand[0], i, j, 0)] = dense[i + j * n];
}

/* Of the order n, dense. */
static value_t *identity(int64_t n) {
    value_t *x = reference_allocate(n * n);
    for (int64_t j = 0; j < n; j++)
        x[j + j * n] = 1;
    return x;
}

/* The inverse of the triangle of operand 0, dense. */
static value_t *triangle_inverse(problem_t *p) {
    const int64_t n = p->options->n;
    view_t A = reference_view(p, 0, TRIANGULAR, JBLAS_NO_TRANSPOSE);
    value_t *a = reference_dense(&A, n, n), *x = identity(n);
    for (int64_t j = 0; j < n; j++)
        reference_substitute_vector(a, 1, n, n, p->options->uplo == JBLAS_LOWER, false, x + j * n);
    free(a);
    return x;
}

void naive_trtri(problem_t *p, value_t **want) {
    value_t *x = triangle_inverse(p);
    store_triangle(p, want, x, p->options->diag == JBLAS_UNIT);
    free(x);
}

/* U U^H or L^H L of a dense triangle, which is given back. */
static value_t *with_adjoint(const problem_t *p, value_t *t) {
    const int64_t n = p->options->n;
    const bool upper = p->options->uplo == JBLAS_UPPER;
    value_t *product = reference_allocate(n * n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t l = i > j ? i : j; l < n; l++)
                product[i + j * n] +=
                    upper ? t[i + l * n] * conjl(t[j + l * n]) : conjl(t[l + i * n]) * t[l + j * n];
    free(t);
    return product;
}
static void store_with_adjoint(problem_t *p, value_t **want, value_t *t) {
    value_t *product = with_adjoint(p, t);
    store_triangle(p, want, product, false);
    free(product);
}

void naive_lauum(problem_t *p, value_t **want) {
    view_t A = reference_view(p, 0, TRIANGULAR, JBLAS_NO_TRANSPOSE);
    store_with_adjoint(p, want, reference_dense(&A, p->options->n, p->options->n));
}
void naive_potri(problem_t *p, value_t **want) { store_with_adjoint(p, want, triangle_inverse(p)); }

/* ---- Cholesky ---- */

void reference_factor_cholesky(value_t *l, int64_t n) {
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            value_t sum = l[i + j * n];
            for (int64_t c = 0; c < j; c++)
                sum -= l[i + c * n] * conjl(l[j + c * n]);
            l[i + j * n] = i == j ? sqrtl(creall(sum)) : sum / l[j + j * n];
        }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < j; i++)
            l[i + j * n] = conjl(l[j + i * n]);
}
/* Cholesky's factor of A, dense, with its adjoint above it. */
static value_t *cholesky_of(problem_t *p) {
    view_t A = reference_view(p, 0, HERMITIAN, JBLAS_NO_TRANSPOSE);
    value_t *l = reference_dense(&A, p->options->n, p->options->n);
    reference_factor_cholesky(l, p->options->n);
    return l;
}
/* The same; A becomes what it should be. */
static value_t *cholesky_wanted(problem_t *p, value_t **want) {
    value_t *l = cholesky_of(p);
    store_triangle(p, want, l, false);
    return l;
}

void naive_potrf(problem_t *p, value_t **want) { free(cholesky_wanted(p, want)); }

/* x := inv(T) x of all columns of operand 1, n x nrhs, by a dense triangle. */
static void substitute_columns(problem_t *p, value_t **want, const value_t *t, bool forward,
                               bool unit) {
    const int64_t n = p->options->n;
    for (int64_t j = 0; j < p->options->nrhs; j++)
        reference_substitute_vector(t, 1, n, n, forward, unit,
                                    &want[1][operand_index(&p->operand[1], 0, j, 0)]);
}

void naive_posv(problem_t *p, value_t **want) {
    value_t *l = cholesky_wanted(p, want);
    substitute_columns(p, want, l, true, false);
    substitute_columns(p, want, l, false, false);
    free(l);
}

void naive_potrs(problem_t *p, value_t **want) {
    const options_t *o = p->options;
    view_t plain = reference_view(p, 0, TRIANGULAR, JBLAS_NO_TRANSPOSE),
           adjoint = reference_view(p, 0, TRIANGULAR, JBLAS_CONJUGATE_TRANSPOSE);
    bool lower = o->uplo == JBLAS_LOWER;
    reference_substitute(p, want, 1, lower ? plain : adjoint, JBLAS_LEFT, o->n, o->nrhs, 1);
    reference_substitute(p, want, 1, lower ? adjoint : plain, JBLAS_LEFT, o->n, o->nrhs, 1);
}

void naive_trtrs(problem_t *p, value_t **want) {
    const options_t *o = p->options;
    reference_substitute(p, want, 1, reference_view(p, 0, TRIANGULAR, o->transa), JBLAS_LEFT, o->n,
                         o->nrhs, 1);
}

/* A = P L U, m x n, in place, column-major; row i was exchanged with row[i]. */
static void eliminate(value_t *a, int64_t m, int64_t n, int64_t *row) {
    for (int64_t k = 0; k < m && k < n; k++) {
        row[k] = k;
        for (int64_t i = k + 1; i < m; i++)
            if (magnitude_1(a[i + k * m]) > magnitude_1(a[row[k] + k * m]))
                row[k] = i;
        for (int64_t j = 0; j < n; j++) {
            const value_t here = a[k + j * m];
            a[k + j * m] = a[row[k] + j * m], a[row[k] + j * m] = here;
        }
        for (int64_t i = k + 1; i < m; i++)
            a[i + k * m] /= a[k + k * m];
        for (int64_t j = k + 1; j < n; j++)
            for (int64_t i = k + 1; i < m; i++)
                a[i + j * m] -= a[i + k * m] * a[k + j * m];
    }
}

static void put_dense(problem_t *p, value_t **want, int which, const value_t *dense) {
    const operand_t *x = &p->operand[which];
    for (int64_t j = 0; j < x->columns; j++)
        for (int64_t i = 0; i < x->rows; i++)
            want[which][operand_index(x, i, j, 0)] = dense[i + j * x->rows];
}

static value_t *factor_of(problem_t *p) {
    const int64_t m = p->operand[0].rows, n = p->operand[0].columns;
    view_t A = reference_view(p, 0, GENERAL, JBLAS_NO_TRANSPOSE);
    value_t *lu = reference_dense(&A, m, n);
    int64_t *row = reference_zeroed((size_t)m, sizeof *row);
    eliminate(lu, m, n, row);
    free(row);
    return lu;
}
/* The factor of A, which becomes what it should be. */
static value_t *factor_wanted(problem_t *p, value_t **want) {
    value_t *lu = factor_of(p);
    put_dense(p, want, 0, lu);
    return lu;
}

void naive_getrf(problem_t *p, value_t **want) { free(factor_wanted(p, want)); }

/* op(L U) X = B by op(L U), dense; no rows are exchanged. The triangle of L has ones. */
static void solve_factored(problem_t *p, value_t **want, const value_t *lu, bool plain) {
    substitute_columns(p, want, lu, true, plain);
    substitute_columns(p, want, lu, false, !plain);
}

void naive_getrs(problem_t *p, value_t **want) {
    const int64_t n = p->options->n;
    view_t A = reference_view(p, 0, GENERAL, p->options->transa);
    value_t *lu = reference_dense(&A, n, n);
    solve_factored(p, want, lu, p->options->transa == JBLAS_NO_TRANSPOSE);
    free(lu);
}

/* The diagonal dominates, so no rows are exchanged. */
void naive_gesv(problem_t *p, value_t **want) {
    value_t *lu = factor_wanted(p, want);
    solve_factored(p, want, lu, true);
    free(lu);
}

/* No rows are exchanged: L U X = I. */
static value_t *inverse_of_factor(problem_t *p) {
    const int64_t n = p->options->n;
    view_t A = reference_view(p, 0, GENERAL, JBLAS_NO_TRANSPOSE);
    value_t *lu = reference_dense(&A, n, n), *x = identity(n);
    for (int64_t j = 0; j < n; j++) {
        reference_substitute_vector(lu, 1, n, n, true, true, x + j * n);
        reference_substitute_vector(lu, 1, n, n, false, false, x + j * n);
    }
    free(lu);
    return x;
}
void naive_getri(problem_t *p, value_t **want) {
    value_t *x = inverse_of_factor(p);
    put_dense(p, want, 0, x);
    free(x);
}

/* The diagonal dominates, so no rows are exchanged and D's blocks are of one: A = L D L^T or L D
 * L^H, dense, where an upper triangle is eliminated from its last column on; A becomes what it
 * should be. */
static value_t *diagonalize(problem_t *p, value_t **want, structure_t structure) {
    const int64_t n = p->options->n;
    const bool lower = p->options->uplo == JBLAS_LOWER;
    const view_t A = reference_view(p, 0, structure, JBLAS_NO_TRANSPOSE);
    value_t *a = reference_dense(&A, n, n);
    for (int64_t step = 0; step < n; step++) {
        const int64_t k = lower ? step : n - 1 - step, first = lower ? k + 1 : 0,
                      end = lower ? n : k;
        for (int64_t j = first; j < end; j++)
            for (int64_t i = first; i < end; i++)
                a[i + j * n] -= a[i + k * n] / a[k + k * n] * a[k + j * n];
        for (int64_t i = first; i < end; i++)
            a[i + k * n] /= a[k + k * n];
    }
    store_triangle(p, want, a, false);
    return a;
}

static void solve_diagonalized(problem_t *p, value_t **want, const value_t *a, bool hermitian) {
    const int64_t n = p->options->n;
    const bool lower = p->options->uplo == JBLAS_LOWER;
    for (int64_t c = 0; c < p->options->nrhs; c++)
        for (int64_t step = 0; step < 2 * n; step++) {
            const bool back = step >= n;
            const int64_t turn = back ? 2 * n - 1 - step : step, k = lower ? turn : n - 1 - turn,
                          first = lower ? k + 1 : 0, end = lower ? n : k;
            value_t *const x = &want[1][operand_index(&p->operand[1], 0, c, 0)];
            for (int64_t i = first; i < end; i++) {
                const value_t l = a[i + k * n];
                if (back)
                    x[k] -= (hermitian ? conjl(l) : l) * x[i];
                else
                    x[i] -= l * x[k];
            }
            if (!back)
                x[k] /= a[k + k * n];
        }
}

static void symmetric(problem_t *p, value_t **want, structure_t structure, bool factor,
                      bool solve) {
    const view_t A = reference_view(p, 0, structure, JBLAS_NO_TRANSPOSE);
    value_t *a = factor ? diagonalize(p, want, structure)
                        : reference_dense(&A, p->options->n, p->options->n);
    if (solve)
        solve_diagonalized(p, want, a, structure == HERMITIAN);
    free(a);
}
void naive_sytrf(problem_t *p, value_t **want) { symmetric(p, want, SYMMETRIC, true, false); }
void naive_hetrf(problem_t *p, value_t **want) { symmetric(p, want, HERMITIAN, true, false); }
void naive_sytrs(problem_t *p, value_t **want) { symmetric(p, want, SYMMETRIC, false, true); }
void naive_hetrs(problem_t *p, value_t **want) { symmetric(p, want, HERMITIAN, false, true); }
void naive_sysv(problem_t *p, value_t **want) { symmetric(p, want, SYMMETRIC, true, true); }
void naive_hesv(problem_t *p, value_t **want) { symmetric(p, want, HERMITIAN, true, true); }

/* Reflector l of the problem, m elements of v, and its tau; LQ's lie in rows, conjugated. */
static value_t reflector_of(const problem_t *p, bool by_rows, int64_t l, int64_t m, value_t *v) {
    const view_t A =
        reference_view(p, 0, GENERAL, by_rows ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE);
    for (int64_t i = 0; i < m; i++)
        v[i] = i < l ? 0 : i == l ? 1 : reference_at(&A, i, l);
    return value_load(p->type, reference_data(&p->operand[1]),
                      operand_index(&p->operand[1], l, 0, 0));
}

/* C = (I - tau v v^H) C, of columns [first, n); column-major, element (i, j) at i step + j next. */
static void reflect(int64_t m, int64_t first, int64_t n, const value_t *v, value_t tau, value_t *c,
                    int64_t step, int64_t next) {
    for (int64_t j = first; j < n; j++) {
        value_t sum = 0;
        for (int64_t i = 0; i < m; i++)
            sum += conjl(v[i]) * c[i * step + j * next];
        for (int64_t i = 0; i < m; i++)
            c[i * step + j * next] -= tau * sum * v[i];
    }
}

static long double squares_of(int64_t n, const value_t *x) {
    long double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += creall(x[i] * conjl(x[i]));
    return sum;
}

/* Of a, m x n, the column with the largest rest below row l comes to column l. */
static void exchange_largest(value_t *a, int64_t m, int64_t n, int64_t l) {
    int64_t largest = l;
    for (int64_t j = l + 1; j < n; j++)
        if (squares_of(m - l, a + l + j * m) > squares_of(m - l, a + l + largest * m))
            largest = j;
    for (int64_t i = 0; i < m; i++) {
        const value_t here = a[i + l * m];
        a[i + l * m] = a[i + largest * m], a[i + largest * m] = here;
    }
}

void reference_factor_qr(value_t *a, int64_t m, int64_t n, bool pivots, value_t *tau) {
    value_t *v = reference_allocate(m);
    for (int64_t l = 0; l < m && l < n; l++) {
        if (pivots)
            exchange_largest(a, m, n, l);
        value_t *column = a + l * m;
        const long double rest = squares_of(m - l - 1, column + l + 1);
        tau[l] = 0;
        if (rest > 0 || cimagl(column[l]) != 0) {
            const value_t alpha = column[l];
            const long double norm = sqrtl(rest + creall(alpha * conjl(alpha))),
                              beta = creall(alpha) < 0 ? norm : -norm;
            tau[l] = (beta - alpha) / beta;
            for (int64_t i = 0; i < m; i++)
                v[i] = i < l ? 0 : i == l ? 1 : column[i] / (alpha - beta);
            reflect(m, l + 1, n, v, conjl(tau[l]), a, 1, m);
            memcpy(column + l + 1, v + l + 1, (size_t)(m - l - 1) * sizeof *v);
            column[l] = beta;
        }
    }
    free(v);
}

/* The conjugate transpose of a, m x n, in its place. */
static value_t *turned(value_t *a, int64_t m, int64_t n) {
    value_t *t = reference_allocate(m * n);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            t[j + i * n] = conjl(a[i + j * m]);
    free(a);
    return t;
}

/* The factor of A, or of A^H, which becomes what it should be. */
static value_t *factor_qr_wanted(problem_t *p, value_t **want, bool by_rows, bool pivots,
                                 value_t *tau) {
    const int64_t m = p->operand[0].rows, n = p->operand[0].columns;
    view_t A = reference_view(p, 0, GENERAL, JBLAS_NO_TRANSPOSE);
    value_t *qr = reference_dense(&A, m, n);
    if (by_rows)
        qr = turned(qr, m, n);
    reference_factor_qr(qr, by_rows ? n : m, by_rows ? m : n, pivots, tau);

    value_t *stored = by_rows ? turned(qr, n, m) : qr;
    put_dense(p, want, 0, stored);
    return by_rows ? turned(stored, m, n) : stored;
}

static void factor_with_tau(problem_t *p, value_t **want, bool by_rows, bool pivots) {
    value_t *tau = reference_allocate(p->operand[1].rows + 1);
    free(factor_qr_wanted(p, want, by_rows, pivots, tau));
    for (int64_t l = 0; l < p->operand[1].rows; l++)
        want[1][operand_index(&p->operand[1], l, 0, 0)] = tau[l];
    free(tau);
}
void naive_geqrf(problem_t *p, value_t **want) { factor_with_tau(p, want, false, false); }
void naive_gelqf(problem_t *p, value_t **want) { factor_with_tau(p, want, true, false); }
void naive_geqp3(problem_t *p, value_t **want) { factor_with_tau(p, want, false, true); }

static void make_q(problem_t *p, value_t **want, bool by_rows) {
    const int64_t m = by_rows ? p->operand[0].columns : p->operand[0].rows,
                  n = by_rows ? p->operand[0].rows : p->operand[0].columns;
    value_t *q = reference_allocate(m * n), *v = reference_allocate(m);
    for (int64_t j = 0; j < n; j++)
        q[j + j * m] = 1;
    for (int64_t l = p->options->k - 1; l >= 0; l--) {
        const value_t tau = reflector_of(p, by_rows, l, m, v);
        reflect(m, 0, n, v, tau, q, 1, m);
    }
    if (by_rows)
        q = turned(q, m, n);
    put_dense(p, want, 0, q);
    free(q);
    free(v);
}
void naive_orgqr(problem_t *p, value_t **want) { make_q(p, want, false); }
void naive_orglq(problem_t *p, value_t **want) { make_q(p, want, true); }

/* C H is (H^H C^H)^H, and all of it is conjugated before and afterwards. LQ's Q is the adjoint. */
static void multiply_by_q(problem_t *p, value_t **want, bool by_rows) {
    const options_t *o = p->options;
    const int64_t m = o->m, n = o->n, k = o->k;
    const bool left = o->side == JBLAS_LEFT,
               plain = ji_is_transposed((jblas_operation_t)o->transa) == by_rows;
    const int64_t rows = left ? m : n;
    view_t C = reference_view(p, 2, GENERAL, JBLAS_NO_TRANSPOSE);
    value_t *c = reference_dense(&C, m, n), *v = reference_allocate(rows);
    for (int64_t e = 0; !left && e < m * n; e++)
        c[e] = conjl(c[e]);
    for (int64_t b = 0; b < k; b++) {
        const value_t tau = reflector_of(p, by_rows, left == plain ? k - 1 - b : b, rows, v);
        reflect(rows, 0, left ? n : m, v, left == plain ? tau : conjl(tau), c, left ? 1 : m,
                left ? m : 1);
    }
    for (int64_t e = 0; !left && e < m * n; e++)
        c[e] = conjl(c[e]);
    put_dense(p, want, 2, c);
    free(c);
    free(v);
}
void naive_ormqr(problem_t *p, value_t **want) { multiply_by_q(p, want, false); }
void naive_ormlq(problem_t *p, value_t **want) { multiply_by_q(p, want, true); }

/* x = inv(R) x, or inv(R^H) x. */
static void solve_with_r(const value_t *qr, int64_t rows, int64_t order, bool adjoint, value_t *x) {
    for (int64_t turn = 0; turn < order; turn++) {
        const int64_t q = adjoint ? turn : order - 1 - turn;
        for (int64_t c = adjoint ? 0 : q + 1; c < (adjoint ? q : order); c++)
            x[q] -= (adjoint ? conjl(qr[c + q * rows]) : qr[q + c * rows]) * x[c];
        x[q] /= qr[q + q * rows]; /* which is real */
    }
}

/* x = Q^H x, or Q x. */
static void multiply_by_factor(const value_t *qr, int64_t rows, int64_t order, const value_t *tau,
                               bool adjoint, value_t *x) {
    value_t *v = reference_allocate(rows);
    for (int64_t turn = 0; turn < order; turn++) {
        const int64_t l = adjoint ? turn : order - 1 - turn;
        for (int64_t i = 0; i < rows; i++)
            v[i] = i < l ? 0 : i == l ? 1 : qr[i + l * rows];
        reflect(rows, 0, 1, v, adjoint ? conjl(tau[l]) : tau[l], x, 1, rows);
    }
    free(v);
}

/* By QR of what has the more rows, A or A^H. */
void naive_gels(problem_t *p, value_t **want) {
    const int64_t m = p->options->m, n = p->options->n, nrhs = p->options->nrhs,
                  most = m < n ? n : m, least = m < n ? m : n;
    const bool squares = ji_is_transposed((jblas_operation_t)p->options->transa) == (m < n);
    view_t B = reference_view(p, 1, GENERAL, JBLAS_NO_TRANSPOSE);
    value_t *tau = reference_allocate(least + 1),
            *qr = factor_qr_wanted(p, want, m < n, false, tau),
            *b = reference_dense(&B, most, nrhs);
    for (value_t *x = b; x < b + nrhs * most; x += most) {
        if (squares)
            multiply_by_factor(qr, most, least, tau, true, x);
        solve_with_r(qr, most, least, !squares, x);
        if (squares)
            continue;
        for (int64_t i = least; i < most; i++)
            x[i] = 0;
        multiply_by_factor(qr, most, least, tau, false, x);
    }
    put_dense(p, want, 1, b);
    free(tau), free(qr), free(b);
}

/* ---- Condition ---- */

/* The 1-norm, or of rows, of a, n x n. */
static long double norm_of(const value_t *a, int64_t n, bool by_rows) {
    long double most = 0;
    for (int64_t j = 0; j < n; j++) {
        long double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += cabsl(by_rows ? a[j + i * n] : a[i + j * n]);
        most = sum > most ? sum : most;
    }
    return most;
}

/* The condition of what x, which is freed, is the inverse of. What is estimated is at most three
 * times as much. */
static void store_condition(problem_t *p, value_t **want, long double norm, value_t *x) {
    const bool by_rows = p->options->norm == JLAPACK_INFINITY_NORM;
    const long double rcond =
        p->options->n > 0 ? 1 / (norm * norm_of(x, p->options->n, by_rows)) : 1;
    *want[OPERANDS] = rcond;
    p->magnitude = 2 * rcond / (10 * reference_unit(p->type) * (long double)(p->terms + 10));
    free(x);
}

void naive_gecon(problem_t *p, value_t **want) {
    store_condition(p, want, creall(reference_alpha(p)), inverse_of_factor(p));
}
void naive_pocon(problem_t *p, value_t **want) {
    store_condition(p, want, creall(reference_alpha(p)), with_adjoint(p, triangle_inverse(p)));
}
void naive_trcon(problem_t *p, value_t **want) {
    const int64_t n = p->options->n;
    view_t A = reference_view(p, 0, TRIANGULAR, JBLAS_NO_TRANSPOSE);
    value_t *a = reference_dense(&A, n, n);
    const long double norm = norm_of(a, n, p->options->norm == JLAPACK_INFINITY_NORM);
    free(a);
    store_condition(p, want, norm, triangle_inverse(p));
}

/* ---- Refinement ---- */

void naive_factor(problem_t *p) {
    operand_t *af = &p->operand[3];
    const int64_t n = af->rows;
    const bool lu = af->fill == FILL_LU;
    value_t *factor = lu ? factor_of(p) : cholesky_of(p);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            if (lu || (p->options->uplo == JBLAS_UPPER ? i <= j : i >= j))
                value_store(af->type, af->data, operand_index(af, i, j, 0), factor[i + j * n]);
    free(factor);
}

/* X is the solution, whatever it was. */
static void store_solution(problem_t *p, value_t **want, const value_t *factor, bool lu,
                           bool plain) {
    const int64_t n = p->options->n;
    const view_t B = reference_view(p, 1, GENERAL, JBLAS_NO_TRANSPOSE);
    value_t *x = reference_allocate(n + 1);
    for (int64_t j = 0; j < p->options->nrhs; j++) {
        for (int64_t i = 0; i < n; i++)
            x[i] = reference_at(&B, i, j);
        reference_substitute_vector(factor, 1, n, n, true, lu && plain, x);
        reference_substitute_vector(factor, 1, n, n, false, lu && !plain, x);
        for (int64_t i = 0; i < n; i++)
            want[2][operand_index(&p->operand[2], i, j, 0)] = x[i];
    }
    free(x);
}

/* A stays as it was where the call that was timed took steps, or becomes the factor. */
void naive_dsgesv(problem_t *p, value_t **want) {
    value_t *lu = p->count < 0 ? factor_wanted(p, want) : factor_of(p);
    store_solution(p, want, lu, true, true);
    free(lu);
}
void naive_dsposv(problem_t *p, value_t **want) {
    value_t *l = p->count < 0 ? cholesky_wanted(p, want) : cholesky_of(p);
    store_solution(p, want, l, false, true);
    free(l);
}

/* X is the solution, whatever it was, of elements below 1; errors are a few times u n. */
static void store_refined(problem_t *p, value_t **want, const value_t *factor, bool lu,
                          bool plain) {
    store_solution(p, want, factor, lu, plain);
    for (int w = 4; w <= 5; w++) /* ferr and berr */
        for (int64_t j = 0; j < p->options->nrhs; j++)
            want[w][operand_index(&p->operand[w], j, 0, 0)] = 0;
    p->magnitude = 10;
}

void naive_gerfs(problem_t *p, value_t **want) {
    const bool plain = p->options->transa == JBLAS_NO_TRANSPOSE;
    value_t *lu = factor_of(p),
            *turned_lu = plain ? NULL : reference_allocate(p->options->n * p->options->n);
    const int64_t n = p->options->n;
    for (int64_t e = 0; !plain && e < n * n; e++) {
        const value_t own = lu[e / n + e % n * n];
        turned_lu[e] = p->options->transa == JBLAS_TRANSPOSE ? own : conjl(own);
    }
    store_refined(p, want, plain ? lu : turned_lu, true, plain);
    free(lu), free(turned_lu);
}
void naive_porfs(problem_t *p, value_t **want) {
    value_t *l = cholesky_of(p);
    store_refined(p, want, l, false, true);
    free(l);
}
