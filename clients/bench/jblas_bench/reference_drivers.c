/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How far what a LAPACK computed is from what defines it: residuals and orthogonality by
 * Frobenius's norm, and values beside those that one-sided Jacobi rotations find in long double.
 * Vectors are determined but for factors, so nothing is compared element by element. */

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "reference.h"

#define O (p->options)

/* ---- Matrices ---- */

/* Columns one behind the other. */
typedef struct dense {
    int64_t rows, columns;
    value_t *e;
} dense_t;

/* Freed together. */
struct scratch {
    value_t *blocks[64];
    int count;
};

static value_t *at(dense_t a, int64_t i, int64_t j) { return &a.e[i + j * a.rows]; }

static dense_t zeros(scratch_t *s, int64_t rows, int64_t columns) {
    if (s->count == (int)(sizeof s->blocks / sizeof s->blocks[0]))
        abort();
    return (dense_t){rows, columns, s->blocks[s->count++] = reference_allocate(rows * columns)};
}

long double reference_residual(const problem_t *p) {
    scratch_t s = {.count = 0};
    const long double residual = p->routine->residual(p, &s);
    while (s.count > 0)
        free(s.blocks[--s.count]);
    return residual;
}

/* An operand before the call. */
static dense_t before(scratch_t *s, const problem_t *p, int which, structure_t structure) {
    const operand_t *x = &p->operand[which];
    const view_t view = reference_view(p, which, structure, JBLAS_NO_TRANSPOSE);
    const dense_t a = zeros(s, x->rows, x->columns);
    for (int64_t j = 0; j < a.columns; j++)
        for (int64_t i = 0; i < a.rows; i++)
            *at(a, i, j) = reference_at(&view, i, j);
    return a;
}

/* Its first rows and columns after it. */
static dense_t after(scratch_t *s, const problem_t *p, int which, int64_t rows, int64_t columns) {
    const operand_t *x = &p->operand[which];
    const dense_t a = zeros(s, rows, columns);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            *at(a, i, j) = value_load(x->type, x->data, operand_index(x, i, j, 0));
    return a;
}

static dense_t part(scratch_t *s, dense_t a, int64_t rows, int64_t columns) {
    const dense_t b = zeros(s, rows, columns);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            *at(b, i, j) = *at(a, i, j);
    return b;
}

static dense_t adjoint(scratch_t *s, dense_t a) {
    const dense_t b = zeros(s, a.columns, a.rows);
    for (int64_t j = 0; j < a.columns; j++)
        for (int64_t i = 0; i < a.rows; i++)
            *at(b, j, i) = conjl(*at(a, i, j));
    return b;
}

static dense_t product(scratch_t *s, dense_t a, dense_t b) {
    const dense_t c = zeros(s, a.rows, b.columns);
    for (int64_t j = 0; j < b.columns; j++)
        for (int64_t l = 0; l < a.columns; l++)
            for (int64_t i = 0; i < a.rows; i++)
                *at(c, i, j) += *at(a, i, l) * *at(b, l, j);
    return c;
}

/* a + factor b. */
static dense_t sum(scratch_t *s, dense_t a, value_t factor, dense_t b) {
    const dense_t c = part(s, a, a.rows, a.columns);
    for (int64_t e = 0; e < a.rows * a.columns; e++)
        c.e[e] += factor * b.e[e];
    return c;
}

/* Columns times the elements of w. */
static dense_t scaled(scratch_t *s, dense_t a, const value_t *w) {
    const dense_t b = part(s, a, a.rows, a.columns);
    for (int64_t j = 0; j < a.columns; j++)
        for (int64_t i = 0; i < a.rows; i++)
            *at(b, i, j) *= w[j];
    return b;
}

static long double norm(dense_t a) {
    long double squares = 0;
    for (int64_t e = 0; e < a.rows * a.columns; e++)
        squares += creall(a.e[e] * conjl(a.e[e]));
    return sqrtl(squares);
}
static long double norm_of_column(dense_t a, int64_t j) {
    return norm((dense_t){a.rows, 1, at(a, 0, j)});
}

static value_t trace(dense_t a) {
    value_t t = 0;
    for (int64_t j = 0; j < a.columns; j++)
        t += *at(a, j, j);
    return t;
}

/* The larger; what is no number is too much. */
static long double worse(long double a, long double b) {
    return isnan(a) || isnan(b) ? INFINITY : fmaxl(a, b);
}
static long double relative(long double error, long double scale) {
    return error == 0 ? 0 : error / scale;
}
static long double distance(scratch_t *s, dense_t a, dense_t b) { return norm(sum(s, a, -1, b)); }

static long double from_orthonormal(scratch_t *s, dense_t q) {
    const dense_t squares = product(s, adjoint(s, q), q);
    for (int64_t j = 0; j < squares.columns; j++)
        *at(squares, j, j) -= 1;
    return norm(squares);
}

/* ---- Values, independently ---- */

/* Columns p < q of a become orthogonal; v has the same rotations. False: they were. */
static bool rotate(dense_t a, dense_t v, int64_t first, int64_t second, long double negligible) {
    value_t inner = 0;
    for (int64_t i = 0; i < a.rows; i++)
        inner += conjl(*at(a, i, first)) * *at(a, i, second);
    const long double x = norm_of_column(a, first), y = norm_of_column(a, second),
                      size = cabsl(inner);
    if (!(size > (long double)a.rows * LDBL_EPSILON * x * y) || size <= negligible)
        return false;

    const long double zeta = (y * y - x * x) / (2 * size),
                      t = (zeta < 0 ? -1 : 1) / (fabsl(zeta) + sqrtl(1 + zeta * zeta)),
                      cosine = 1 / sqrtl(1 + t * t);
    const value_t phase = conjl(inner) / size;
    const dense_t both[] = {a, v};
    for (int m = 0; m < 2; m++)
        for (int64_t i = 0; i < both[m].rows; i++) {
            const value_t one = *at(both[m], i, first), other = phase * *at(both[m], i, second);
            *at(both[m], i, first) = cosine * (one - t * other);
            *at(both[m], i, second) = cosine * (t * one + other);
        }
    return true;
}

/* a, which has at least as many rows as columns, becomes U diag(values), of a V = U diag(values);
 * values descend (Hestenes 1958). */
static dense_t decompose(scratch_t *s, dense_t a, long double *values) {
    enum { MOST_SWEEPS = 60 };
    const dense_t v = zeros(s, a.columns, a.columns);
    const long double size = norm(a), negligible = LDBL_EPSILON * LDBL_EPSILON * size * size;
    for (int64_t j = 0; j < a.columns; j++)
        *at(v, j, j) = 1;
    bool rotated = true;
    for (int sweep = 0; rotated && sweep < MOST_SWEEPS; sweep++) {
        rotated = false;
        for (int64_t first = 0; first < a.columns; first++)
            for (int64_t second = first + 1; second < a.columns; second++)
                rotated |= rotate(a, v, first, second, negligible);
    }

    for (int64_t j = 0; j < a.columns; j++) {
        int64_t largest = j;
        for (int64_t k = j + 1; k < a.columns; k++)
            if (norm_of_column(a, k) > norm_of_column(a, largest))
                largest = k;
        const dense_t both[] = {a, v};
        for (int m = 0; m < 2; m++)
            for (int64_t i = 0; i < both[m].rows; i++) {
                const value_t here = *at(both[m], i, j);
                *at(both[m], i, j) = *at(both[m], i, largest), *at(both[m], i, largest) = here;
            }
        values[j] = norm_of_column(a, j);
    }
    return v;
}

static long double *values_of(scratch_t *s, int64_t count) {
    return (long double *)zeros(s, count, 1).e;
}

/* Of a Hermitian a, ascending: those of a + |a| I are its singular values. */
static long double *eigenvalues(scratch_t *s, dense_t a) {
    const long double shift = norm(a);
    const dense_t shifted = part(s, a, a.rows, a.columns);
    long double *down = values_of(s, a.rows), *up = values_of(s, a.rows);
    for (int64_t j = 0; j < a.rows; j++)
        *at(shifted, j, j) += shift;
    (void)decompose(s, shifted, down);
    for (int64_t j = 0; j < a.rows; j++)
        up[j] = down[a.rows - 1 - j] - shift;
    return up;
}

/* Values that the call gave, or a vector of them. */
static value_t value_of(const problem_t *p, int which, int64_t j) {
    const operand_t *x = &p->operand[which];
    return value_load(x->type, x->data, operand_index(x, j, 0, 0));
}
static long double from_values(const problem_t *p, int which, const long double *wanted,
                               int64_t count) {
    long double worst = 0;
    for (int64_t j = 0; j < count; j++)
        worst = worse(worst, cabsl(value_of(p, which, j) - wanted[j]));
    return worst;
}

/* ---- Symmetric and Hermitian matrices ---- */

static long double real_scalar(const problem_t *p, const scalar_t *scalar) {
    return creall(value_load(problem_scalar_type(p, true), scalar, 0));
}

long double residual_symmetric(const problem_t *p, scratch_t *s) {
    const bool chooses = strchr(p->routine->shape, 'G') != NULL;
    const int vectors = chooses ? 5 : 0;
    const dense_t a = before(s, p, 0, HERMITIAN);
    const long double size = norm(a), *values = eigenvalues(s, a);
    int64_t first = 0, end = O->n;
    if (chooses && O->range == JLAPACK_RANGE_INDICES)
        first = O->il - 1, end = O->iu;
    if (chooses && O->range == JLAPACK_RANGE_VALUES)
        for (int64_t j = 0; j < O->n; j++) {
            first += values[j] <= real_scalar(p, &p->above);
            end -= values[j] > real_scalar(p, &p->up_to);
        }
    const int64_t count = O->n == 0 ? 0 : end - first;
    if (chooses && p->count != count)
        return INFINITY;

    long double worst = relative(from_values(p, 2, values + first, count), size);
    if (O->jobz != JLAPACK_VECTORS)
        return worst;
    /* By relatively robust representations, as syevr has it, vectors are what LAPACK's testers let
     * pass: ten times further off than by QR. */
    const long double robust = chooses ? 0.1L : 1;
    const dense_t v = after(s, p, vectors, O->n, count), w = after(s, p, 2, count, 1);
    const long double rest = relative(distance(s, product(s, a, v), scaled(s, v, w.e)), size);
    return worse(worst, robust * worse(rest, from_orthonormal(s, v)));
}

/* The lower triangle. */
static dense_t cholesky(scratch_t *s, dense_t b) {
    const dense_t l = part(s, b, b.rows, b.columns);
    reference_factor_cholesky(l.e, b.rows);
    for (int64_t j = 0; j < b.columns; j++)
        for (int64_t i = 0; i < j; i++)
            *at(l, i, j) = 0;
    return l;
}
/* inv(L) X. */
static dense_t solved(scratch_t *s, dense_t l, dense_t x) {
    const dense_t y = part(s, x, x.rows, x.columns);
    for (int64_t j = 0; j < x.columns; j++)
        reference_substitute_vector(l.e, 1, l.rows, l.rows, true, false, at(y, 0, j));
    return y;
}

long double residual_definite_pair(const problem_t *p, scratch_t *s) {
    const int64_t n = O->n;
    const dense_t a = before(s, p, 0, HERMITIAN), b = before(s, p, 1, HERMITIAN),
                  l = cholesky(s, b), l_adjoint = adjoint(s, l), made = after(s, p, 1, n, n);
    const dense_t standard = O->itype == 1 ? solved(s, l, adjoint(s, solved(s, l, a)))
                                           : product(s, l_adjoint, product(s, a, l));
    long double worst = relative(from_values(p, 2, eigenvalues(s, standard), n), norm(standard));

    const bool upper = O->uplo == JBLAS_UPPER;
    long double squares = 0; /* of what is wrong in the factor */
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            const value_t got = upper ? conjl(*at(made, j, i)) : *at(made, i, j);
            const long double error = cabsl(got - *at(l, i, j));
            squares += error * error;
        }
    worst = worse(worst, relative(sqrtl(squares), norm(l)));
    if (O->jobz != JLAPACK_VECTORS)
        return worst;

    const dense_t v = after(s, p, 0, n, n), w = after(s, p, 2, n, 1), vw = scaled(s, v, w.e);
    const dense_t left = O->itype == 1   ? product(s, a, v)
                         : O->itype == 2 ? product(s, a, product(s, b, v))
                                         : product(s, b, product(s, a, v)),
                  right = O->itype == 1 ? product(s, b, vw) : vw,
                  unit = O->itype == 3 ? solved(s, l, v) : product(s, l_adjoint, v);
    const long double size = norm(a) * norm(v) * (O->itype == 1 ? 1 : norm(b));
    worst = worse(worst, relative(distance(s, left, right), size));
    return worse(worst, from_orthonormal(s, unit));
}

/* ---- Singular values ---- */

/* Those of a, of either shape; *left is U diag(values), and *right V. */
static long double *singular_values(scratch_t *s, dense_t a, dense_t *left, dense_t *right) {
    const bool wide = a.rows < a.columns;
    const dense_t tall = wide ? adjoint(s, a) : part(s, a, a.rows, a.columns);
    long double *values = values_of(s, tall.columns);
    const dense_t v = decompose(s, tall, values);
    *left = tall, *right = v; /* of a's adjoint, where that is tall */
    return values;
}

long double residual_singular(const problem_t *p, scratch_t *s) {
    const int64_t m = O->m, n = O->n, least = m < n ? m : n;
    const bool divides = strchr(p->routine->shape, 'J') != NULL,
               u_over = O->jobu == JLAPACK_OVERWRITE && (!divides || m >= n),
               vt_over =
                   divides ? O->jobz == JLAPACK_OVERWRITE && m < n : O->jobvt == JLAPACK_OVERWRITE;
    const operand_t *of_u = &p->operand[5], *of_vt = &p->operand[6];
    const bool has_u = u_over || of_u->columns > 0, has_vt = vt_over || of_vt->rows > 0;
    dense_t left, right;
    if (least == 0) /* then nothing is written */
        return 0;
    const dense_t a = before(s, p, 0, GENERAL);
    const long double size = norm(a), *values = singular_values(s, a, &left, &right);
    long double worst = relative(from_values(p, 3, values, least), size);

    const dense_t given = after(s, p, 3, least, 1),
                  u = after(s, p, u_over ? 0 : 5, m, u_over ? least : of_u->columns),
                  vt = after(s, p, vt_over ? 0 : 6, vt_over ? least : of_vt->rows, n);
    if (has_u)
        worst = worse(worst, from_orthonormal(s, u));
    if (has_vt)
        worst = worse(worst, from_orthonormal(s, adjoint(s, vt)));
    const dense_t u_least = part(s, u, m, has_u ? least : 0),
                  v_least = part(s, adjoint(s, vt), n, has_vt ? least : 0);
    if (has_u && has_vt) {
        const dense_t whole = product(s, scaled(s, u_least, given.e), adjoint(s, v_least));
        return worse(worst, relative(distance(s, whole, a), size));
    }
    if (!has_u && !has_vt)
        return worst;

    /* Of one alone: U^H A, or (A V)^H, has rows that are orthogonal and as long as the values. */
    const dense_t rows = has_u ? product(s, adjoint(s, u_least), a)
                               : adjoint(s, product(s, a, v_least)),
                  squares = product(s, rows, adjoint(s, rows));
    for (int64_t j = 0; j < least; j++)
        *at(squares, j, j) -= given.e[j] * given.e[j];
    return worse(worst, relative(norm(squares), size * size));
}

/* The X of the least norm among those of the least |B - A X|, by the singular values above rcond
 * times the largest. Its error may be what a backward stable method's is: the condition times the
 * data's, and its square times the residual's (Wedin 1973). */
long double residual_least_squares(const problem_t *p, scratch_t *s) {
    const int64_t m = O->m, n = O->n, nrhs = O->nrhs, least = m < n ? m : n;
    const bool empty = least == 0 || nrhs == 0;
    dense_t left, right;
    const dense_t a = before(s, p, 0, GENERAL), b = part(s, before(s, p, 1, GENERAL), m, nrhs);
    const long double *values = singular_values(s, a, &left, &right),
                      given = real_scalar(p, &p->rcond),
                      rcond = given < 0 ? reference_unit(p->type) : given;
    int64_t rank = 0;
    while (!empty && rank < least && values[rank] > rcond * values[0])
        rank++;
    if (p->count != rank)
        return INFINITY;
    if (empty)
        return 0;

    /* A = U S V^H: X is the sum of v_k (u_k s_k)^H B / s_k^2, or with both exchanged. */
    const dense_t us = m < n ? right : left, vs = m < n ? left : right, x = zeros(s, n, nrhs);
    for (int64_t k = 0; k < rank; k++)
        for (int64_t j = 0; j < nrhs; j++) {
            value_t inner = 0;
            for (int64_t i = 0; i < m; i++)
                inner += conjl(*at(us, i, k)) * *at(b, i, j);
            for (int64_t i = 0; i < n; i++)
                *at(x, i, j) += *at(vs, i, k) * inner / (values[k] * values[k]);
        }
    const dense_t rest = sum(s, b, -1, product(s, a, x)), got = after(s, p, 1, n, nrhs);
    const long double condition = rank > 0 ? values[0] / values[rank - 1] : 1,
                      size = condition * (norm(x) + condition * norm(rest) / values[0]);
    long double worst = relative(from_values(p, 3, values, least), values[0]);
    worst = worse(worst, relative(distance(s, got, x), size));
    if (m <= n || rank < n)
        return worst;

    const dense_t all = after(s, p, 1, m, nrhs); /* whose last rows have the residuals' norms */
    for (int64_t j = 0; j < nrhs; j++) {
        const long double norm_given = norm((dense_t){m - n, 1, at(all, n, j)});
        worst = worse(worst, relative(fabsl(norm_given - norm_of_column(rest, j)), norm(b)));
    }
    return worst;
}

/* ---- Matrices without symmetry ---- */

/* Of real types, two vectors of reals; of complex ones, one. */
static dense_t complex_values(scratch_t *s, const problem_t *p) {
    const dense_t w = after(s, p, 2, O->n, 1);
    for (int64_t j = 0; j < O->n && !type_is_complex(p->type); j++)
        *at(w, j, 0) += I * value_of(p, 3, j);
    return w;
}

/* Of real types a conjugate pair's are two columns, the real and the imaginary part of one. */
static dense_t complex_vectors(scratch_t *s, const problem_t *p, int which, dense_t w) {
    const dense_t v = after(s, p, which, O->n, O->n);
    for (int64_t j = 0; j + 1 < O->n && !type_is_complex(p->type); j++)
        if (cimagl(w.e[j]) > 0)
            for (int64_t i = 0; i < O->n; i++) {
                const value_t pair = *at(v, i, j) + I * *at(v, i, j + 1);
                *at(v, i, j) = pair, *at(v, i, j + 1) = conjl(pair);
            }
    return v;
}

/* How far the values w are from having the sums of a's and of its square's. */
static long double from_sums(scratch_t *s, dense_t a, dense_t w) {
    value_t first = trace(a), second = trace(product(s, a, a));
    for (int64_t j = 0; j < a.columns; j++)
        first -= w.e[j], second -= w.e[j] * w.e[j];
    const long double size = norm(a);
    return worse(relative(cabsl(first), size), relative(cabsl(second), size * size));
}

/* How far beta a - alpha b is from a matrix without an inverse: the last pivot of QR with column
 * exchanges. */
static long double from_singular(scratch_t *s, dense_t a, dense_t b, value_t alpha, value_t beta) {
    const int before_it = s->count;
    const int64_t n = a.rows;
    const dense_t pencil = zeros(s, n, n), tau = zeros(s, n, 1);
    for (int64_t e = 0; e < n * n; e++)
        pencil.e[e] = beta * a.e[e] - alpha * b.e[e];
    reference_factor_qr(pencil.e, n, n, true, tau.e);
    const long double last = cabsl(*at(pencil, n - 1, n - 1));
    while (s->count > before_it)
        free(s->blocks[--s->count]);
    return relative(last, cabsl(beta) * norm(a) + cabsl(alpha) * norm(b));
}

/* The worst column of beta A v - alpha B v, or of the adjoints', and how far columns are from what
 * they are scaled to. */
static long double from_vectors(scratch_t *s, dense_t a, dense_t b, dense_t alpha, dense_t beta,
                                dense_t v, bool by_sums) {
    const dense_t av = scaled(s, product(s, a, v), beta.e),
                  bv = scaled(s, product(s, b, v), alpha.e), rest = sum(s, av, -1, bv);
    long double worst = 0;
    for (int64_t j = 0; j < v.columns; j++) {
        const long double size = cabsl(beta.e[j]) * norm(a) + cabsl(alpha.e[j]) * norm(b);
        long double length = 0;
        for (int64_t i = 0; i < v.rows; i++)
            length = fmaxl(length, magnitude_1(*at(v, i, j)));
        worst = worse(worst, relative(norm_of_column(rest, j), size * norm_of_column(v, j)));
        worst = worse(worst, fabsl((by_sums ? length : norm_of_column(v, j)) - 1));
    }
    return worst;
}

static dense_t conjugated(scratch_t *s, dense_t w) {
    const dense_t c = part(s, w, w.rows, w.columns);
    for (int64_t e = 0; e < w.rows * w.columns; e++)
        c.e[e] = conjl(c.e[e]);
    return c;
}

static long double from_pair(const problem_t *p, scratch_t *s, dense_t a, dense_t b, dense_t alpha,
                             dense_t beta, bool by_sums) {
    long double worst = 0;
    if (O->jobvr == JLAPACK_VECTORS)
        worst = from_vectors(s, a, b, alpha, beta, complex_vectors(s, p, 6, alpha), by_sums);
    if (O->jobvl == JLAPACK_VECTORS)
        worst = worse(worst,
                      from_vectors(s, adjoint(s, a), adjoint(s, b), conjugated(s, alpha),
                                   conjugated(s, beta), complex_vectors(s, p, 5, alpha), by_sums));
    if (O->jobvl == JLAPACK_VECTORS || O->jobvr == JLAPACK_VECTORS)
        return worst;
    for (int64_t j = 0; j < O->n; j++)
        worst = worse(worst, from_singular(s, a, b, alpha.e[j], beta.e[j]));
    return worst;
}

long double residual_general(const problem_t *p, scratch_t *s) {
    const dense_t a = before(s, p, 0, GENERAL), w = complex_values(s, p),
                  unit = zeros(s, O->n, O->n), ones = zeros(s, O->n, 1);
    for (int64_t j = 0; j < O->n; j++)
        *at(unit, j, j) = ones.e[j] = 1;
    return worse(from_sums(s, a, w), from_pair(p, s, a, unit, w, ones, false));
}

long double residual_pair(const problem_t *p, scratch_t *s) {
    return from_pair(p, s, before(s, p, 0, GENERAL), before(s, p, 1, GENERAL), complex_values(s, p),
                     after(s, p, 4, O->n, 1), true);
}

/* T is triangular but for blocks of pairs, and its diagonal has the values. */
static long double from_triangle(const problem_t *p, dense_t t, dense_t w) {
    long double worst = 0;
    for (int64_t j = 0; j < t.columns; j++) {
        const bool pair = !type_is_complex(p->type) && cimagl(w.e[j]) > 0 && j + 1 < t.columns,
                   second = !type_is_complex(p->type) && cimagl(w.e[j]) < 0;
        for (int64_t i = j + 1; i < t.rows; i++)
            if (*at(t, i, j) != 0 && !(pair && i == j + 1))
                return INFINITY;
        if (pair) {
            const value_t *d = at(t, j, j), *e = at(t, j, j + 1);
            worst = worse(worst, cabsl(d[0] + e[1] - w.e[j] - w.e[j + 1]));
            worst = worse(worst, sqrtl(cabsl(d[0] * e[1] - d[1] * e[0] - w.e[j] * w.e[j + 1])) *
                                     sqrtl(reference_unit(p->type)));
        } else if (!second) {
            worst = worse(worst, cabsl(*at(t, j, j) - w.e[j]));
        }
    }
    return relative(worst, norm(t));
}

long double residual_schur(const problem_t *p, scratch_t *s) {
    const dense_t a = before(s, p, 0, GENERAL), t = after(s, p, 0, O->n, O->n),
                  w = complex_values(s, p);
    const long double size = norm(a);
    long double worst = worse(from_sums(s, a, w), from_triangle(p, t, w));
    worst = worse(worst, relative(fabsl(norm(t) - size), size));
    if (O->jobvs != JLAPACK_VECTORS)
        return worst;
    const dense_t z = after(s, p, 5, O->n, O->n);
    worst = worse(worst, relative(distance(s, product(s, a, z), product(s, z, t)), size));
    return worse(worst, from_orthonormal(s, z));
}

/* ---- Tridiagonal matrices ---- */

long double residual_tridiagonal(const problem_t *p, scratch_t *s) {
    const dense_t below = before(s, p, 0, GENERAL), diagonal = before(s, p, 2, GENERAL),
                  above = before(s, p, 3, GENERAL), b = before(s, p, 1, GENERAL),
                  x = after(s, p, 1, O->n, O->nrhs), a = zeros(s, O->n, O->n);
    for (int64_t j = 0; j < O->n; j++) {
        *at(a, j, j) = diagonal.e[j];
        if (j + 1 < O->n)
            *at(a, j + 1, j) = below.e[j], *at(a, j, j + 1) = above.e[j];
    }
    return relative(distance(s, product(s, a, x), b), norm(a) * norm(x) + norm(b));
}
