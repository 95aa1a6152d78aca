/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What a LAPACK computes for jlapack, held against the definitions in long double: residuals and
 * orthogonality by norms, as LAPACK's own testers measure them, the order of values, and how
 * vectors are scaled. */

#include "jlapack_guest_helper.h"

/* ---- Dense matrices ---- */

static wide_matrix_t dense(wide_arena_t *arena, const matrix_t *a, const void *data) {
    wide_matrix_t d = wide_zeros(arena, a->rows, a->columns);
    d.real = false;
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < a->rows; i++)
            *wide_at(d, i, j) = element(a, data, i, j);
    return d;
}

/* As it was before the call, from its triangle. */
static wide_matrix_t hermitian(wide_arena_t *arena, const matrix_t *a, jblas_uplo_t uplo) {
    wide_matrix_t d = wide_zeros(arena, a->rows, a->columns);
    d.real = false;
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < a->rows; i++)
            *wide_at(d, i, j) =
                is_stored(uplo, i, j) ? before_at(a, i, j) : conjugate(before_at(a, j, i));
    return d;
}

static wide_matrix_t zeros(wide_arena_t *arena, int64_t rows, int64_t columns) {
    wide_matrix_t d = wide_zeros(arena, rows, columns);
    d.real = false;
    return d;
}

static wide_matrix_t product(wide_arena_t *arena, wide_matrix_t a, wide_matrix_t b) {
    wide_matrix_t c = zeros(arena, a.rows, b.columns);
    wide_multiply_add(1, a, b, c);
    return c;
}

static wide_matrix_t adjoint(wide_arena_t *arena, wide_matrix_t a) {
    wide_matrix_t b = zeros(arena, a.columns, a.rows);
    for (int64_t j = 0; j < a.columns; j++)
        for (int64_t i = 0; i < a.rows; i++)
            *wide_at(b, j, i) = conjugate(*wide_at(a, i, j));
    return b;
}

/* Its first rows and columns. */
static wide_matrix_t part(wide_arena_t *arena, wide_matrix_t a, int64_t rows, int64_t columns) {
    wide_matrix_t b = zeros(arena, rows, columns);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            *wide_at(b, i, j) = *wide_at(a, i, j);
    return b;
}

static wide_matrix_t scaled(wide_arena_t *arena, wide_matrix_t a, const wide_t *by) {
    wide_matrix_t b = part(arena, a, a.rows, a.columns);
    for (int64_t j = 0; j < a.columns; j++)
        for (int64_t i = 0; i < a.rows; i++)
            *wide_at(b, i, j) *= by[j];
    return b;
}

static long double norm(wide_matrix_t a) {
    long double sum = 0;
    for (int64_t k = 0; k < a.rows * a.columns; k++)
        sum += square_of(a.e[k]);
    return sqrtl(sum);
}

/* |A - B|, by norm; NaN is too much. */
#define EXPECT_NEAR(a, b, bound)                                                                   \
    do {                                                                                           \
        const wide_matrix_t difference_ = a;                                                       \
        wide_add(-1, b, difference_);                                                              \
        JEXPECT_TRUE(norm(difference_) <= (bound));                                                \
    } while (0)

static void expect_orthonormal(wide_arena_t *arena, wide_matrix_t q, long double bound) {
    wide_matrix_t one = wide_identity(arena, q.columns);
    one.real = false;
    EXPECT_NEAR(product(arena, adjoint(arena, q), q), one, bound);
}

/* LAPACK's testers let 30 n u pass, relative to norms; here twice that, and complex. */
static long double bound_for(const problem_t *p) {
    return 120 * (long double)(larger(p->m, p->n) + 1) * wide_epsilon(p->type);
}

/* ---- Symmetric ---- */

static void check_symmetric(wide_arena_t *arena, const problem_t *p) {
    const int64_t count = p->routine == SYEVR ? p->count : p->n;
    const wide_matrix_t a = hermitian(arena, &p->a, p->uplo);
    const long double size = norm(a), bound = bound_for(p) * size;
    wide_t *w = calloc((size_t)count + 1, sizeof *w), sum = 0;
    long double squares = 0;
    for (int64_t j = 0; j < count; j++) {
        w[j] = now_at(&p->w, j, 0), sum += w[j], squares += square_of(w[j]);
        if (j > 0)
            JEXPECT_TRUE(__real__ w[j - 1] <= __real__ w[j]);
    }

    if (count == p->n) { /* trace and norm are those of A */
        for (int64_t j = 0; j < p->n; j++)
            sum -= *wide_at(a, j, j);
        JEXPECT_TRUE(wide_abs(sum) <= bound * sqrtl((long double)p->n));
        JEXPECT_TRUE(fabsl(sqrtl(squares) - size) <= bound);
    }
    if (p->job == JLAPACK_VECTORS) {
        const matrix_t *const of = p->routine == SYEVR ? &p->u : &p->a;
        const wide_matrix_t v = part(arena, dense(arena, of, of->data), p->n, count);
        EXPECT_NEAR(product(arena, a, v), scaled(arena, v, w), bound);
        expect_orthonormal(arena, v, bound_for(p));
    }
    free(w);
}

static void check_generalized(wide_arena_t *arena, const problem_t *p) {
    const wide_matrix_t a = hermitian(arena, &p->a, p->uplo), b = hermitian(arena, &p->b, p->uplo);
    wide_t *w = calloc((size_t)p->n + 1, sizeof *w);
    for (int64_t j = 0; j < p->n; j++) {
        w[j] = now_at(&p->w, j, 0);
        if (j > 0)
            JEXPECT_TRUE(__real__ w[j - 1] <= __real__ w[j]);
    }
    if (p->job == JLAPACK_VECTORS) {
        const wide_matrix_t v = dense(arena, &p->a, p->a.data), vh = adjoint(arena, v),
                            av = product(arena, a, v), bv = product(arena, b, v),
                            vw = scaled(arena, v, w);
        const long double bound = 4 * bound_for(p) * norm(a) * norm(b) * (norm(v) + 1);
        wide_matrix_t one = wide_identity(arena, p->n);
        one.real = false;
        if (p->itype == 1)
            EXPECT_NEAR(av, product(arena, b, vw), bound);
        else
            EXPECT_NEAR(product(arena, p->itype == 2 ? a : b, p->itype == 2 ? bv : av), vw, bound);
        if (p->itype == 3) /* V^H inv(B) V = I, times w */
            EXPECT_NEAR(product(arena, vh, av), scaled(arena, one, w), bound * (norm(v) + 1));
        else
            EXPECT_NEAR(product(arena, vh, bv), one, 4 * bound_for(p) * (long double)(p->n + 1));
    }
    free(w);
}

/* ---- Singular values ---- */

static void check_svd(wide_arena_t *arena, const problem_t *p) {
    const int64_t least = smaller(p->m, p->n);
    if (least == 0) /* nothing is written */
        return;
    const wide_matrix_t a = dense(arena, &p->a, p->a.before);
    const long double size = norm(a), bound = bound_for(p) * size;
    long double squares = 0;
    wide_t *s = calloc((size_t)least + 1, sizeof *s);
    for (int64_t j = 0; j < least; j++) {
        s[j] = now_at(&p->w, j, 0), squares += square_of(s[j]);
        JEXPECT_TRUE(__real__ s[j] >= 0 && (j == 0 || __real__ s[j - 1] >= __real__ s[j]));
    }
    JEXPECT_TRUE(fabsl(sqrtl(squares) - size) <= bound);

    const bool dd = p->routine == GESDD, tall = p->m >= p->n;
    const wide_matrix_t over = dense(arena, &p->a, p->a.data);
    wide_matrix_t u = dense(arena, &p->u, p->u.data), vt = dense(arena, &p->vt, p->vt.data);
    if (p->job == JLAPACK_OVERWRITE && (!dd || tall))
        u = part(arena, over, p->m, least);
    if ((!dd && p->job2 == JLAPACK_OVERWRITE) || (dd && p->job == JLAPACK_OVERWRITE && !tall))
        vt = part(arena, over, least, p->n);
    if (u.columns > 0)
        expect_orthonormal(arena, u, bound_for(p));
    if (vt.rows > 0)
        expect_orthonormal(arena, adjoint(arena, vt), bound_for(p));
    if (u.columns > 0 && vt.rows > 0) {
        EXPECT_NEAR(product(arena, scaled(arena, part(arena, u, p->m, least), s),
                            part(arena, vt, least, p->n)),
                    a, bound);
    } else if (u.columns > 0 || vt.rows > 0) { /* A^H U, or A V, has columns of those lengths */
        const wide_matrix_t q = u.columns > 0 ? u : adjoint(arena, vt),
                            image = product(arena, u.columns > 0 ? adjoint(arena, a) : a, q);
        for (int64_t j = 0; j < least; j++) {
            long double length = 0;
            for (int64_t i = 0; i < image.rows; i++)
                length += square_of(*wide_at(image, i, j));
            JEXPECT_TRUE(fabsl(sqrtl(length) - __real__ s[j]) <= bound);
        }
    }
    free(s);
}

/* ---- Without symmetry ---- */

static wide_t value_of(const problem_t *p, int64_t j) {
    wide_t value = now_at(&p->w, j, 0);
    if (!wide_is_complex(p->type))
        __imag__ value = __real__ now_at(&p->wi, j, 0);
    return value;
}

/* Vectors of pairs are two columns of real types. */
static wide_matrix_t vectors_of(wide_arena_t *arena, const problem_t *p, const matrix_t *of) {
    wide_matrix_t v = dense(arena, of, of->data);
    for (int64_t j = 0; j < v.columns; j++)
        if (!wide_is_complex(p->type) && __imag__ value_of(p, j) != 0 && j + 1 < v.columns) {
            for (int64_t i = 0; i < v.rows; i++) {
                wide_t first = *wide_at(v, i, j);
                __imag__ first = __real__ * wide_at(v, i, j + 1);
                *wide_at(v, i, j) = first, *wide_at(v, i, j + 1) = conjugate(first);
            }
            j++;
        }
    return v;
}

static void expect_pairs(const problem_t *p) {
    for (int64_t j = 0; j < p->n && !wide_is_complex(p->type); j++)
        if (__imag__ value_of(p, j) != 0) {
            JASSERT_TRUE(j + 1 < p->n && __imag__ value_of(p, j) > 0);
            if (p->routine != GGEV) /* whose pairs share no beta */
                JEXPECT_TRUE(value_of(p, j + 1) == conjugate(value_of(p, j)));
            j++;
        }
}

/* Of length 1, and with a real largest component; of ggev by |Re| + |Im|. */
static void expect_scaled(const problem_t *p, wide_matrix_t v) {
    for (int64_t j = 0; j < v.columns; j++) {
        long double square = 0, largest = 0, largest_abs = 0;
        bool real = false;
        for (int64_t i = 0; i < v.rows; i++) {
            const wide_t x = *wide_at(v, i, j);
            square += square_of(x), largest_abs = fmaxl(largest_abs, wide_abs(x));
            largest = fmaxl(largest, square_of(x));
        }
        for (int64_t i = 0; i < v.rows; i++)
            real |= square_of(*wide_at(v, i, j)) >= largest * (1 - 8 * wide_epsilon(p->type)) &&
                    fabsl(__imag__ * wide_at(v, i, j)) <= 8 * wide_epsilon(p->type);
        if (p->routine == GGEV) {
            JEXPECT_TRUE(fabsl(largest_abs - 1) <= bound_for(p));
        } else {
            JEXPECT_TRUE(fabsl(sqrtl(square) - 1) <= bound_for(p));
            JEXPECT_TRUE(real);
        }
    }
}

static void check_eigen(wide_arena_t *arena, const problem_t *p) {
    const bool pair = p->routine == GGEV;
    wide_matrix_t a = dense(arena, &p->a, p->a.before), b = wide_identity(arena, p->n);
    wide_t *w = calloc((size_t)p->n + 1, sizeof *w), *beta = calloc((size_t)p->n + 1, sizeof *w);
    wide_t *w_left = calloc((size_t)p->n + 1, sizeof *w), sum = 0;
    long double largest = 0;
    b.real = false;
    if (pair)
        b = dense(arena, &p->b, p->b.before);
    expect_pairs(p);
    for (int64_t j = 0; j < p->n; j++) {
        w[j] = value_of(p, j), beta[j] = pair ? now_at(&p->beta, j, 0) : 1, sum += w[j];
        largest = fmaxl(largest, wide_abs(w[j]) + wide_abs(beta[j]));
        w_left[j] = conjugate(w[j]), sum -= pair ? w[j] : *wide_at(a, j, j);
    }
    const long double size = norm(a) + (pair ? norm(b) : 0),
                      bound = bound_for(p) * (size + 1) * (pair ? largest + 1 : 1);
    JEXPECT_TRUE(wide_abs(sum) <= bound * 4);

    if (p->job2 == JLAPACK_VECTORS) {
        const wide_matrix_t v = vectors_of(arena, p, &p->vt);
        expect_scaled(p, v);
        EXPECT_NEAR(product(arena, a, scaled(arena, v, beta)),
                    product(arena, b, scaled(arena, v, w)), bound * sqrtl((long double)p->n + 1));
    }
    if (p->job == JLAPACK_VECTORS) { /* A^H u = conj(w) B^H u */
        const wide_matrix_t u = vectors_of(arena, p, &p->u);
        for (int64_t j = 0; j < p->n; j++)
            beta[j] = conjugate(beta[j]);
        expect_scaled(p, u);
        EXPECT_NEAR(product(arena, adjoint(arena, a), scaled(arena, u, beta)),
                    product(arena, adjoint(arena, b), scaled(arena, u, w_left)),
                    bound * sqrtl((long double)p->n + 1));
    }
    free(w), free(beta), free(w_left);
}

static void check_schur(wide_arena_t *arena, const problem_t *p) {
    const wide_matrix_t a = dense(arena, &p->a, p->a.before), t = dense(arena, &p->a, p->a.data);
    const long double bound = bound_for(p) * norm(a);
    expect_pairs(p);
    wide_t sum = 0;
    for (int64_t j = 0; j < p->n; j++)
        sum += value_of(p, j) - *wide_at(a, j, j);
    JEXPECT_TRUE(wide_abs(sum) <= bound * 4 + wide_epsilon(p->type));
    if (p->job != JLAPACK_VECTORS)
        return;

    for (int64_t j = 0; j < p->n; j++) {
        const bool first = !wide_is_complex(p->type) && __imag__ value_of(p, j) > 0;
        for (int64_t i = j + 1; i < p->n; i++)
            if (!first || i > j + 1)
                JASSERT_TRUE(*wide_at(t, i, j) == 0);
        if (__imag__ value_of(p, j) == 0 || wide_is_complex(p->type))
            JEXPECT_TRUE(*wide_at(t, j, j) == value_of(p, j));
    }
    const wide_matrix_t z = dense(arena, &p->u, p->u.data);
    expect_orthonormal(arena, z, bound_for(p));
    EXPECT_NEAR(product(arena, a, z), product(arena, z, t), bound);
}

/* ---- Solves ---- */

static void check_least_squares(wide_arena_t *arena, const problem_t *p) {
    if (p->m == 0 || p->n == 0 || p->nrhs == 0) { /* nothing is written but the rank */
        JEXPECT_EQ(p->count, 0);
        JEXPECT_EQ(memcmp(p->b.data, p->b.before, p->b.bytes), 0);
        return;
    }
    const wide_matrix_t a = dense(arena, &p->a, p->a.before),
                        b = part(arena, dense(arena, &p->b, p->b.before), p->m, p->nrhs),
                        x = part(arena, dense(arena, &p->b, p->b.data), p->n, p->nrhs);
    long double squares = 0;
    for (int64_t j = 0; j < p->w.rows; j++) {
        const long double s = __real__ now_at(&p->w, j, 0);
        squares += s * s;
        JEXPECT_TRUE(s >= 0 && (j == 0 || __real__ now_at(&p->w, j - 1, 0) >= s));
    }
    JEXPECT_TRUE(fabsl(sqrtl(squares) - norm(a)) <= bound_for(p) * norm(a));
    wide_matrix_t rest = product(arena, a, x);
    wide_add(-1, b, rest);
    const wide_matrix_t gradient = product(arena, adjoint(arena, a), rest);
    JEXPECT_TRUE(norm(gradient) <= bound_for(p) * norm(a) * (norm(a) * norm(x) + norm(b)));
}

/* The matrix of which the bands were given. */
static wide_matrix_t banded(wide_arena_t *arena, const problem_t *p) {
    wide_matrix_t a = zeros(arena, p->n, p->n);
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->n; i++) {
            if (p->routine == GTSV) {
                if (i - j >= -1 && i - j <= 1)
                    *wide_at(a, i, j) = i > j   ? before_at(&p->a, j, 0)
                                        : i < j ? before_at(&p->wi, i, 0)
                                                : before_at(&p->w, i, 0);
            } else if (is_stored(p->uplo, i, j) && i - j <= p->kd && j - i <= p->kd) {
                const wide_t e = before_at(&p->a, (p->uplo == JBLAS_UPPER ? p->kd : 0) + i - j, j);
                *wide_at(a, i, j) = e, *wide_at(a, j, i) = i == j ? __real__ e : conjugate(e);
            }
        }
    return a;
}

static void check_solve(wide_arena_t *arena, const problem_t *p, const matrix_t *b) {
    const wide_matrix_t a = banded(arena, p), x = dense(arena, b, b->data);
    EXPECT_NEAR(product(arena, a, x), dense(arena, b, b->before),
                bound_for(p) * norm(a) * (norm(x) + 1));
}

/* pbtrf leaves a factor, by which pbtrs solves. */
static void check_factor(wide_arena_t *arena, jhandle_t *handle, problem_t *p) {
    MATRIX(b, p->type, p->n, 3);
    JEXPECT_OK(JLAPACK_CALL(p->type, pbtrs, handle, p->uplo, p->n, p->kd, 3, p->a.data, p->a.ld,
                            b.data, b.ld));
    check_solve(arena, p, &b);
}

/* ---- All of them ---- */

static void check(jhandle_t *handle, problem_t *p) {
    wide_arena_t arena = {NULL};
    switch (p->routine) {
    case SYEV:
    case SYEVD:
    case SYEVR: check_symmetric(&arena, p); break;
    case SYGVD: check_generalized(&arena, p); break;
    case GESVD:
    case GESDD: check_svd(&arena, p); break;
    case GEEV:
    case GGEV: check_eigen(&arena, p); break;
    case GEES: check_schur(&arena, p); break;
    case GELSD: check_least_squares(&arena, p); break;
    case GTSV: check_solve(&arena, p, &p->b); break;
    case PBTRF: check_factor(&arena, handle, p); break;
    default: break;
    }
    matrix_t *const all[] = {&p->a, &p->b, &p->u, &p->vt};
    for (int i = is_symmetric(p->routine) ? 2 : 0; i < 4;
         i++) /* its padding is a NaN's neighbour */
        expect_padding(all[i]);
    wide_arena_free(&arena);
}

JLAPACK_EACH_ROUTINE(JlapackGuest, ComputesAnyShape) {
    if (ji_lapack_guest_load() != JSTATUS_SUCCESS)
        JSKIP("there is no LAPACK");
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(48); round > 0 && !jtest_has_failure(); --round) {
        problem_t p __attribute__((cleanup(problem_free))) =
            problem_draw(param->routine, param->type, round, 70);
        JSCOPED_TRACE("%ld x %ld, %ld, jobs %c %c, uplo %d, itype %ld", (long)p.m, (long)p.n,
                      (long)p.nrhs, (char)p.job, (char)p.job2, p.uplo, (long)p.itype);
        if (param->routine == PBTRS)
            continue; /* with pbtrf's factor */
        JEXPECT_OK(problem_call(handle, &p));
        JEXPECT_EQ(p.info, 0);
        if (p.info == 0)
            check(handle, &p);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- What is asked for ---- */

/* Numbers and intervals of all values, as syevd has them. */
JLAPACK_EACH_TYPE(JlapackGuest, FindsThoseOfARange) {
    if (ji_lapack_guest_load() != JSTATUS_SUCCESS)
        JSKIP("there is no LAPACK");
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(16); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = jtest_random_between(1, 40), il = jtest_random_between(1, n),
                      iu = jtest_random_between(il, n);
        PROBLEM(p, SYEVR, *param, n, n, 0, vector_jobs[round / 2 % 2], JLAPACK_NONE);
        PROBLEM(all, SYEVD, *param, n, n, 0, JLAPACK_NONE, JLAPACK_NONE);
        JSCOPED_TRACE("%ld to %ld of %ld", (long)il, (long)iu, (long)n);
        all.uplo = p.uplo;
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                wide_put(all.a.data, *param, i + j * all.a.ld, now_at(&p.a, i, j));
        JEXPECT_OK(problem_call(handle, &all));

        p.il = il, p.iu = iu;
        p.range = round % 2 == 0 ? JLAPACK_RANGE_INDICES : JLAPACK_RANGE_VALUES;
        const long double gap = 1e-4L; /* the ends lie between values, or they are too near */
        const long double low = __real__ now_at(&all.w, il - 1, 0) - gap,
                          high = __real__ now_at(&all.w, iu - 1, 0) + gap;
        p.above = (double)low, p.above_s = (float)low;
        p.up_to = (double)high, p.up_to_s = (float)high;
        int64_t expected = 0;
        for (int64_t j = 0; j < n; j++)
            expected +=
                __real__ now_at(&all.w, j, 0) > low && __real__ now_at(&all.w, j, 0) <= high;
        JEXPECT_OK(problem_call(handle, &p));
        JEXPECT_EQ(p.info, 0);
        JEXPECT_EQ(p.count, p.range == JLAPACK_RANGE_INDICES ? iu - il + 1 : expected);
        for (int64_t j = 0; j < p.count && p.range == JLAPACK_RANGE_INDICES; j++)
            JEXPECT_TRUE(wide_abs(now_at(&p.w, j, 0) - now_at(&all.w, il - 1 + j, 0)) <=
                         bound_for(&p) * (long double)n);
        wide_arena_t arena = {NULL};
        check_symmetric(&arena, &p);
        wide_arena_free(&arena);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Rows from 1 on, in 64 bits whatever the LAPACK's integers; zeros where it does not say. */
JLAPACK_EACH_TYPE(JlapackGuest, SaysWhereVectorsAreNotZero) {
    if (ji_lapack_guest_load() != JSTATUS_SUCCESS)
        JSKIP("there is no LAPACK");
    jhandle_t *handle = make_handle(0);
    for (int of_some = 0; of_some < 2; of_some++) {
        PROBLEM(p, SYEVR, *param, 30, 30, 0, JLAPACK_VECTORS, JLAPACK_NONE);
        p.il = 4, p.iu = 8;
        p.range = of_some ? JLAPACK_RANGE_INDICES : JLAPACK_RANGE_ALL;
        for (int64_t i = 0; i < 60; i++)
            p.isuppz[i] = -1;
        JEXPECT_OK(problem_call(handle, &p));
        JEXPECT_EQ(p.isuppz[0] > 0, !of_some);
        for (int64_t j = 0; j < 30; j++) {
            const int64_t first = p.isuppz[2 * j], last = p.isuppz[2 * j + 1];
            JEXPECT_TRUE((first == 0 && last == 0) || (1 <= first && first <= last && last <= 30));
        }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A = P Q of rank r: X is the least, so it lies in the space of the rows. */
JLAPACK_EACH_TYPE(JlapackGuest, FindsTheRankAndTheLeastSolution) {
    if (ji_lapack_guest_load() != JSTATUS_SUCCESS)
        JSKIP("there is no LAPACK");
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(8); round > 0 && !jtest_has_failure(); --round) {
        const int64_t m = jtest_random_between(12, 50), n = jtest_random_between(12, 50),
                      rank = jtest_random_between(1, 5);
        PROBLEM(p, GELSD, *param, m, n, 2, JLAPACK_NONE, JLAPACK_NONE);
        MATRIX(tall, *param, m, rank);
        MATRIX(wide, *param, rank, n);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++) {
                wide_t sum = 0;
                for (int64_t l = 0; l < rank; l++)
                    sum += now_at(&tall, i, l) * now_at(&wide, l, j);
                wide_put(p.a.data, *param, i + j * p.a.ld, sum);
            }
        keep(&p.a);
        p.rcond = p.rcond_s = 1e-4F;
        JSCOPED_TRACE("%ld x %ld of rank %ld", (long)m, (long)n, (long)rank);
        JEXPECT_OK(problem_call(handle, &p));
        JEXPECT_EQ(p.info, 0);
        JEXPECT_EQ(p.count, rank);

        /* X = Q^H Y, with (Q Q^H) Y = Q X by Cholesky in long double. */
        wide_arena_t arena = {NULL};
        const wide_matrix_t q = dense(&arena, &wide, wide.data), qh = adjoint(&arena, q),
                            x = part(&arena, dense(&arena, &p.b, p.b.data), n, 2);
        wide_matrix_t factor = product(&arena, q, qh), y = product(&arena, q, x);
        JEXPECT_EQ(wide_cholesky(factor), 0);
        wide_matrix_t upper = adjoint(&arena, factor);
        factor.above = 0, upper.below = 0;
        wide_solve(factor, y), wide_solve(upper, y);
        EXPECT_NEAR(product(&arena, qh, y), x, 20 * bound_for(&p) * (norm(x) + 1));
        wide_arena_free(&arena);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* info as LAPACK has it: where it is not 0 the call has come to an end all the same. */
JLAPACK_EACH_TYPE(JlapackGuest, InfoNamesWhatWasFound) {
    if (ji_lapack_guest_load() != JSTATUS_SUCCESS)
        JSKIP("there is no LAPACK");
    jhandle_t *handle = make_handle(0);
    PROBLEM(pair, SYGVD, *param, 9, 9, 0, JLAPACK_NONE, JLAPACK_NONE);
    wide_put(pair.b.data, *param, 3 + 3 * pair.b.ld, -1);
    JEXPECT_OK(problem_call(handle, &pair));
    JEXPECT_EQ(pair.info, 9 + 4);

    PROBLEM(band, PBTRF, *param, 9, 9, 0, JLAPACK_NONE, JLAPACK_NONE);
    wide_put(band.a.data, *param, (band.uplo == JBLAS_UPPER ? band.kd : 0) + 5 * band.a.ld, -1);
    JEXPECT_OK(problem_call(handle, &band));
    JEXPECT_EQ(band.info, 6);

    PROBLEM(three, GTSV, *param, 9, 9, 2, JLAPACK_NONE, JLAPACK_NONE);
    wide_put(three.a.data, *param, 8 - 1, 0), wide_put(three.w.data, *param, 8, 0);
    JEXPECT_OK(problem_call(handle, &three));
    JEXPECT_EQ(three.info, 9);
    JEXPECT_OK(jhandle_destroy(handle));
}
