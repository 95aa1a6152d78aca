/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* QR on the host: geqrf, orgqr, ormqr and their complex names, held against the definition in long
 * double. */

#include <math.h>

#include "jlapack_helper.h"

#define EACH_TYPE(name) JLAPACK_EACH_TYPE(JlapackQr, name)

/* ---- Calls by a type that is a value ---- */

static jstatus_t call_geqrf(jhandle_t *handle, int type, int64_t m, int64_t n, void *a, int64_t lda,
                            void *tau) {
    switch (type) {
    case JDATATYPE_F32: return jlapack_sgeqrf(handle, m, n, a, lda, tau);
    case JDATATYPE_F64: return jlapack_dgeqrf(handle, m, n, a, lda, tau);
    case JDATATYPE_F32_C: return jlapack_cgeqrf(handle, m, n, a, lda, tau);
    default: return jlapack_zgeqrf(handle, m, n, a, lda, tau);
    }
}

static jstatus_t call_orgqr(jhandle_t *handle, int type, int64_t m, int64_t n, int64_t k, void *a,
                            int64_t lda, const void *tau) {
    switch (type) {
    case JDATATYPE_F32: return jlapack_sorgqr(handle, m, n, k, a, lda, tau);
    case JDATATYPE_F64: return jlapack_dorgqr(handle, m, n, k, a, lda, tau);
    case JDATATYPE_F32_C: return jlapack_cungqr(handle, m, n, k, a, lda, tau);
    default: return jlapack_zungqr(handle, m, n, k, a, lda, tau);
    }
}

static jstatus_t call_ormqr(jhandle_t *handle, int type, jblas_side_t side, jblas_operation_t trans,
                            int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                            const void *tau, void *c, int64_t ldc) {
    switch (type) {
    case JDATATYPE_F32: return jlapack_sormqr(handle, side, trans, m, n, k, a, lda, tau, c, ldc);
    case JDATATYPE_F64: return jlapack_dormqr(handle, side, trans, m, n, k, a, lda, tau, c, ldc);
    case JDATATYPE_F32_C: return jlapack_cunmqr(handle, side, trans, m, n, k, a, lda, tau, c, ldc);
    default: return jlapack_zunmqr(handle, side, trans, m, n, k, a, lda, tau, c, ldc);
    }
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t draw_size(int64_t round) {
    return jtest_random_between(0, round % 4 == 0 ? 150 : round % 2 == 0 ? 40 : 9);
}

/* ---- What holds of a factor ---- */

/* Of sums of `depth` terms, relative to norms. */
static long double bound_of(int type, int64_t depth) {
    return 4 * (sqrtl((long double)depth) + 8) * (wide_is_complex(type) ? 2 : 1) *
           wide_epsilon(type);
}

/* Q of the reflectors that lie in a, rows x rows by columns, from the definition. */
static wide_t *explicit_q(const matrix_t *a, const matrix_t *tau, int64_t k) {
    const int64_t m = a->rows;
    wide_t *q = calloc((size_t)(m * m + 1), sizeof *q);
    for (int64_t j = 0; j < m; j++)
        q[j + j * m] = 1;
    for (int64_t l = k - 1; l >= 0; l--)
        for (int64_t j = l; j < m; j++) {
            wide_t sum = q[l + j * m];
            for (int64_t i = l + 1; i < m; i++) {
                wide_t v = now_at(a, i, l);
                __imag__ v = -__imag__ v;
                sum += v * q[i + j * m];
            }
            sum *= now_at(tau, l, 0);
            q[l + j * m] -= sum;
            for (int64_t i = l + 1; i < m; i++)
                q[i + j * m] -= now_at(a, i, l) * sum;
        }
    return q;
}

/* |Q^H Q - I|, of the first `columns`. */
static void expect_orthogonal(int type, const wide_t *q, int64_t m, int64_t columns) {
    for (int64_t i = 0; i < columns; i++)
        for (int64_t j = 0; j <= i; j++) {
            wide_t sum = i == j ? -1 : 0;
            for (int64_t l = 0; l < m; l++) {
                wide_t e = q[l + i * m];
                __imag__ e = -__imag__ e;
                sum += e * q[l + j * m];
            }
            JASSERT_TRUE(wide_abs(sum) <= bound_of(type, columns));
        }
}

/* What the last place of R may be worth. */
static long double smallest_of(int type) {
    return ldexpl(1, wide_real_of(type) == JDATATYPE_F32 ? -149 : -1074);
}

static long double square_of(wide_t x) { return __real__ x * __real__ x + __imag__ x * __imag__ x; }

static long double column_norm(const matrix_t *a, int64_t j) {
    long double sum = 0;
    for (int64_t i = 0; i < a->rows; i++)
        sum += square_of(before_at(a, i, j));
    return sqrtl(sum);
}

/* A = Q R by columns, Q is unitary, and the diagonal of R is real, its first of the other sign. */
static void expect_factor(const matrix_t *a, const matrix_t *tau) {
    const int64_t m = a->rows, k = smaller(m, a->columns);
    wide_t *q = explicit_q(a, tau, k);
    expect_orthogonal(a->type, q, m, m);
    for (int64_t j = 0; j < a->columns && !jtest_has_failure(); j++) {
        const long double bound =
            bound_of(a->type, k) * column_norm(a, j) + 4 * smallest_of(a->type);
        for (int64_t i = 0; i < m; i++) {
            wide_t sum = -before_at(a, i, j);
            for (int64_t l = 0; l <= j && l < m; l++)
                sum += q[i + l * m] * now_at(a, l, j);
            JASSERT_TRUE(wide_abs(sum) <= bound);
        }
        if (j < k)
            JASSERT_TRUE(__imag__ now_at(a, j, j) == 0);
    }
    if (k > 0 && (m > 1 || __imag__ before_at(a, 0, 0) != 0))
        JEXPECT_TRUE(__real__ now_at(a, 0, 0) * __real__ before_at(a, 0, 0) <= 0);
    free(q);
}

/* ---- geqrf ---- */

EACH_TYPE(FactorsAnyShape) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(40); round > 0 && !jtest_has_failure(); --round) {
        const int64_t m = draw_size(round), n = draw_size(round);
        MATRIX(a, *param, m, n);
        MATRIX(tau, *param, smaller(m, n), 1);
        JSCOPED_TRACE("%ld x %ld, ld %ld", (long)m, (long)n, (long)a.ld);
        JEXPECT_OK(call_geqrf(handle, *param, m, n, a.data, a.ld, tau.data));
        expect_factor(&a, &tau);
        expect_padding(&a);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* What is zero below a real diagonal is not reflected: tau is 0, and R keeps the sign. */
EACH_TYPE(LeavesWhatIsTriangular) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(8); round > 0 && !jtest_has_failure(); --round) {
        const int64_t m = jtest_random_between(1, 80), n = jtest_random_between(1, 80);
        MATRIX(a, *param, m, n);
        MATRIX(tau, *param, smaller(m, n), 1);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = j; i < m; i++)
                wide_put(a.data, *param, i + j * a.ld, i == j && round % 2 == 0 ? 3 : 0);
        keep(&a);
        JEXPECT_OK(call_geqrf(handle, *param, m, n, a.data, a.ld, tau.data));
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++)
                JASSERT_TRUE(now_at(&a, i, j) == before_at(&a, i, j));
        for (int64_t i = 0; i < tau.rows; i++)
            JASSERT_TRUE(now_at(&tau, i, 0) == 0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Norms whose squares overflow or underflow, and reciprocals that would. */
EACH_TYPE(FactorsTinyAndHugeMatrices) {
    jhandle_t *handle = make_handle(0);
    const bool single = wide_real_of(*param) == JDATATYPE_F32;
    const int exponents[] = {single ? -145 : -1070, single ? -110 : -975, single ? 110 : 1005};
    for (int64_t round = jtest_iterations(24); round > 0 && !jtest_has_failure(); --round) {
        const int exponent = exponents[round % 3];
        const int64_t m = jtest_random_between(1, 50);
        MATRIX(a, *param, m, 1);
        MATRIX(tau, *param, 1, 1);
        for (int64_t i = 0; i < m; i++) {
            wide_t value = jtest_random_between(-100, 100) * ldexpl(1, exponent);
            if (wide_is_complex(*param))
                __imag__ value = jtest_random_between(-100, 100) * ldexpl(1, exponent);
            wide_put(a.data, *param, i, value);
        }
        keep(&a);
        JSCOPED_TRACE("m %ld, 2^%d", (long)m, exponent);
        JEXPECT_OK(call_geqrf(handle, *param, m, 1, a.data, a.ld, tau.data));
        expect_factor(&a, &tau);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

EACH_TYPE(EndsWithNanAndInfinity) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(12); round > 0; --round) {
        const int64_t n = jtest_random_between(1, 100);
        MATRIX(a, *param, n, n);
        MATRIX(tau, *param, n, 1);
        wide_put(a.data, *param, jtest_random_between(0, n - 1) * (a.ld + 1),
                 round % 2 == 0 ? NAN : INFINITY);
        JEXPECT_OK(call_geqrf(handle, *param, n, n, a.data, a.ld, tau.data));
        JEXPECT_TRUE(isnan((double)__real__ now_at(&a, n - 1, n - 1)) ||
                     isinf((double)__real__ now_at(&a, n - 1, n - 1)));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Products ---- */

/* Any k reflectors of a factor, and columns beyond them. */
EACH_TYPE(MakesQ) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(32); round > 0 && !jtest_has_failure(); --round) {
        const int64_t m = draw_size(round), n = jtest_random_between(m / 2, m),
                      k = jtest_random_between(n / 2, n);
        MATRIX(a, *param, m, n);
        MATRIX(tau, *param, n, 1);
        JSCOPED_TRACE("%ld x %ld of %ld", (long)m, (long)n, (long)k);
        JEXPECT_OK(call_geqrf(handle, *param, m, n, a.data, a.ld, tau.data));
        wide_t *q = explicit_q(&a, &tau, k);
        JEXPECT_OK(call_orgqr(handle, *param, m, n, k, a.data, a.ld, tau.data));
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++)
                JASSERT_TRUE(wide_abs(now_at(&a, i, j) - q[i + j * m]) <= bound_of(*param, k));
        expect_padding(&a);
        free(q);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* |C - op(Q) C| or |C - C op(Q)|, against the columns or rows. */
static void expect_product(const matrix_t *c, const wide_t *q, bool left, bool plain, int64_t k) {
    const int64_t order = left ? c->rows : c->columns;
    const long double bound =
        bound_of(c->type, k) * 2 * sqrtl((long double)(order + 1)); /* elements of C are below 2 */
    for (int64_t j = 0; j < c->columns; j++)
        for (int64_t i = 0; i < c->rows; i++) {
            const int64_t own = left ? i : j;
            wide_t sum = -now_at(c, i, j);
            for (int64_t l = 0; l < order; l++) {
                wide_t e = left == plain ? q[own + l * order] : q[l + own * order];
                if (!plain)
                    __imag__ e = -__imag__ e;
                sum += e * (left ? before_at(c, l, j) : before_at(c, i, l));
            }
            JASSERT_TRUE(wide_abs(sum) <= bound);
        }
}

EACH_TYPE(MultipliesByQ) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(48); round > 0 && !jtest_has_failure(); --round) {
        const bool left = round % 2 == 0, plain = round / 2 % 2 == 0;
        const int64_t m = draw_size(round / 4), n = draw_size(round / 4), order = left ? m : n,
                      k = jtest_random_between(0, order);
        const jblas_operation_t trans = plain ? JBLAS_NO_TRANSPOSE
                                        : wide_is_complex(*param) || round % 8 < 4
                                            ? JBLAS_CONJUGATE_TRANSPOSE
                                            : JBLAS_TRANSPOSE;
        MATRIX(a, *param, order, k);
        MATRIX(tau, *param, k, 1);
        MATRIX(c, *param, m, n);
        JSCOPED_TRACE("%ld x %ld of %ld, left %d, op %d", (long)m, (long)n, (long)k, left, trans);
        JEXPECT_OK(call_geqrf(handle, *param, order, k, a.data, a.ld, tau.data));
        wide_t *q = explicit_q(&a, &tau, k);
        keep(&a);
        JEXPECT_OK(call_ormqr(handle, *param, left ? JBLAS_LEFT : JBLAS_RIGHT, trans, m, n, k,
                              a.data, a.ld, tau.data, c.data, c.ld));
        expect_product(&c, q, left, plain, k);
        expect_padding(&c);
        JEXPECT_EQ(memcmp(a.data, a.before, a.bytes), 0);
        free(q);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Every reflector is unitary, and some columns of R, times Q, are those of A. */
static void expect_large_factor(jhandle_t *handle, const matrix_t *a, const matrix_t *tau) {
    enum { SOME = 5 };
    const int type = a->type;
    const int64_t m = a->rows, n = a->columns;
    MATRIX(c, type, m, SOME);
    for (int64_t l = 0; l < n; l++) {
        long double square = 1;
        for (int64_t i = l + 1; i < m; i++)
            square += square_of(now_at(a, i, l));
        JASSERT_TRUE(fabsl(square_of(now_at(tau, l, 0)) * square -
                           2 * __real__ now_at(tau, l, 0)) <= bound_of(type, m));
    }

    int64_t column[SOME];
    for (int j = 0; j < SOME; j++) {
        column[j] = jtest_random_between(0, n - 1);
        for (int64_t i = 0; i < m; i++)
            wide_put(c.data, type, i + j * c.ld, i <= column[j] ? now_at(a, i, column[j]) : 0);
    }
    JEXPECT_OK(call_ormqr(handle, type, JBLAS_LEFT, JBLAS_NO_TRANSPOSE, m, SOME, n, a->data, a->ld,
                          tau->data, c.data, c.ld));
    for (int j = 0; j < SOME; j++) {
        const long double bound = bound_of(type, n) * column_norm(a, column[j]);
        for (int64_t i = 0; i < m; i++)
            JASSERT_TRUE(wide_abs(now_at(&c, i, j) - before_at(a, i, column[j])) <= bound);
    }
}

/* So large that blocks are at their widest. */
EACH_TYPE(FactorsLargeMatrices) {
    jhandle_t *handle = make_handle(0);
    MATRIX(a, *param, 830, 790);
    MATRIX(tau, *param, 790, 1);
    JEXPECT_OK(call_geqrf(handle, *param, 830, 790, a.data, a.ld, tau.data));
    expect_large_factor(handle, &a, &tau);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* So long that columns are read once for each reflector: random ones; of sizes whose products are
 * lost below the smallest numbers, or overflow; with columns that are orthogonal, or 0. The same
 * bits without workspace, and with two threads. */
EACH_TYPE(FactorsLongColumns) {
    enum { M = 17000, N = 10 };
    jhandle_t *handle = make_handle(0), *without = make_handle(0);
    JEXPECT_OK(jhandle_set_threads(handle, 1));
    JEXPECT_OK(jhandle_set_threads(without, 2));
    JEXPECT_OK(jhandle_set_fixed_workspace_size(without, 0));
    const int far = wide_real_of(*param) == JDATATYPE_F32 ? 100 : 900;
    for (int kind = 0; kind < 5; kind++) {
        JSCOPED_TRACE("kind %d", kind);
        MATRIX(a, *param, M, N);
        MATRIX(tau, *param, N, 1);
        for (int64_t j = 0; j < N; j++)
            for (int64_t i = 0; i < M; i++) {
                wide_t value = now_at(&a, i, j);
                if (kind == 1)
                    value *= ldexpl(1, j % 3 == 0 ? -far : j % 3 == 1 ? -far / 2 : 0);
                else if (kind == 2) /* whose sums are infinite, not NaN */
                    value = fabsl(__real__ value) * ldexpl(1, j % 2 == 0 ? far : -far);
                else if ((kind == 3 && i % N != j) || (kind == 4 && j % 4 == 1))
                    value = 0;
                wide_put(a.data, *param, i + j * a.ld, value);
            }
        keep(&a);
        JEXPECT_OK(call_geqrf(handle, *param, M, N, a.data, a.ld, tau.data));
        for (int64_t l = 0; l < N; l++) /* what is 0 is not reflected, and has no tau */
            if (kind == 4 && l % 4 == 1)
                JEXPECT_TRUE(now_at(&a, l, l) == 0 && now_at(&tau, l, 0) == 0);
        if (kind != 4)
            expect_large_factor(handle, &a, &tau);
        expect_padding(&a);

        MATRIX(again, *param, N, 1);
        void *const factor = malloc(a.bytes);
        memcpy(factor, a.data, a.bytes), memcpy(a.data, a.before, a.bytes);
        JEXPECT_FALSE(
            jstatus_is_error(call_geqrf(without, *param, M, N, a.data, a.ld, again.data)));
        JEXPECT_EQ(memcmp(a.data, factor, a.bytes), 0);
        JEXPECT_EQ(memcmp(again.data, tau.data, tau.bytes), 0);
        free(factor);
    }
    JEXPECT_OK(jhandle_destroy(without));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Workspace, threads, streams ---- */

typedef struct calls {
    matrix_t a, tau, q, c;
} calls_t;

/* A factor, its Q, and a product with that, one after the other. */
static jstatus_t run_all(jhandle_t *handle, calls_t *x) {
    const int type = x->a.type;
    const int64_t m = x->a.rows, n = x->a.columns;
    memcpy(x->a.data, x->a.before, x->a.bytes);
    memcpy(x->c.data, x->c.before, x->c.bytes);
    jstatus_t worst = call_geqrf(handle, type, m, n, x->a.data, x->a.ld, x->tau.data);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            wide_put(x->q.data, type, i + j * x->q.ld, now_at(&x->a, i, j));
    const jstatus_t q = call_orgqr(handle, type, m, n, n, x->q.data, x->q.ld, x->tau.data);
    worst = q != JSTATUS_SUCCESS ? q : worst;
    const jstatus_t c = call_ormqr(handle, type, JBLAS_RIGHT, JBLAS_NO_TRANSPOSE, x->c.rows, m, n,
                                   x->a.data, x->a.ld, x->tau.data, x->c.data, x->c.ld);
    return c != JSTATUS_SUCCESS ? c : worst;
}

static size_t query_all(jhandle_t *handle, const calls_t *x) {
    const int64_t m = x->a.rows, n = x->a.columns;
    size_t bytes = 0;
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_FALSE(jstatus_is_error(call_geqrf(handle, x->a.type, m, n, NULL, x->a.ld, NULL)));
    JEXPECT_FALSE(jstatus_is_error(call_orgqr(handle, x->a.type, m, n, n, NULL, x->q.ld, NULL)));
    JEXPECT_FALSE(
        jstatus_is_error(call_ormqr(handle, x->a.type, JBLAS_RIGHT, JBLAS_NO_TRANSPOSE, x->c.rows,
                                    m, n, NULL, x->a.ld, NULL, NULL, x->c.ld)));
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    return bytes;
}

/* What a query asks for is what rung 0 takes; less, and nothing, give the same bits. */
EACH_TYPE(AnyWorkspaceAndThreadsGiveTheSameBits) {
    jhandle_t *handle = make_handle(0);
    calls_t x = {make_matrix(*param, 300, 230), make_matrix(*param, 230, 1),
                 make_matrix(*param, 300, 230), make_matrix(*param, 90, 300)};
    JEXPECT_OK(jhandle_set_threads(handle, 1));
    const size_t bytes = query_all(handle, &x);
    JASSERT_GT(bytes, 0);

    const matrix_t *const results[] = {&x.a, &x.tau, &x.q, &x.c};
    void *first[4];
    for (int r = 0; r < 4; r++)
        first[r] = malloc(results[r]->bytes);
    const size_t sizes[] = {bytes, bytes - 64, bytes / 2, bytes / 8, 64, 0};
    for (size_t k = 0; k < 2 * sizeof sizes / sizeof sizes[0]; k++) {
        const size_t size = sizes[k / 2] / 64 * 64;
        JSCOPED_TRACE("%zu of %zu bytes, %d threads", size, bytes, (int)(k % 2 + 1));
        JEXPECT_OK(jhandle_set_threads(handle, (int)(k % 2 + 1)));
        void *workspace = jtest_guard_pages(size);
        if (size > 0)
            JEXPECT_OK(jhandle_set_workspace(handle, workspace, size));
        else
            JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, 0));
        const jstatus_t status = run_all(handle, &x);
        JEXPECT_FALSE(jstatus_is_error(status));
        if (k % 2 == 0) /* more threads want more */
            JEXPECT_STATUS(status, k == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
        for (int r = 0; r < 4; r++) {
            if (k == 0)
                memcpy(first[r], results[r]->data, results[r]->bytes);
            JEXPECT_EQ(memcmp(results[r]->data, first[r], results[r]->bytes), 0);
        }
    }
    for (int r = 0; r < 4; r++)
        free(first[r]);
    free_matrix(&x.a), free_matrix(&x.tau), free_matrix(&x.q), free_matrix(&x.c);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(JlapackQr, FollowsTheStream) {
    jhandle_t *handle = make_handle(0);
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    MATRIX(a, JDATATYPE_F64, 90, 60);
    MATRIX(tau, JDATATYPE_F64, 60, 1);
    JEXPECT_OK(jlapack_dgeqrf(handle, 90, 60, a.data, a.ld, tau.data));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    expect_factor(&a, &tau);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

/* ---- Refusals ---- */

#define REFUSED(call, status, words)                                                               \
    JEXPECT_STATUS(call, status);                                                                  \
    JEXPECT_SUBSTR(jhandle_last_message(h), words)

JTEST(JlapackQr, RefusesWhatIsWrongByName) {
    double a[4] = {1, 2, 3, 4}, t[2] = {1, 2};
    jhandle_t *h = make_handle(0);
    REFUSED(jlapack_dgeqrf(h, -1, 2, a, 2, t), JSTATUS_INVALID_SIZE, "dgeqrf: m = -1");
    REFUSED(jlapack_dgeqrf(h, 2, -1, a, 2, t), JSTATUS_INVALID_SIZE, "n = -1");
    REFUSED(jlapack_dgeqrf(h, 2, 2, a, 1, t), JSTATUS_INVALID_SIZE, "lda = 1");
    REFUSED(jlapack_dgeqrf(h, 2, 2, NULL, 2, t), JSTATUS_INVALID_POINTER, "a is NULL");
    REFUSED(jlapack_dgeqrf(h, 2, 2, a, 2, NULL), JSTATUS_INVALID_POINTER, "tau is NULL");
    REFUSED(jlapack_dorgqr(h, 2, 3, 2, a, 2, t), JSTATUS_INVALID_SIZE, "dorgqr: n = 3");
    REFUSED(jlapack_dorgqr(h, 2, 1, 2, a, 2, t), JSTATUS_INVALID_SIZE, "k = 2");
    REFUSED(jlapack_dorgqr(h, 2, 2, 2, a, 1, t), JSTATUS_INVALID_SIZE, "lda = 1");
    REFUSED(jlapack_dorgqr(h, 2, 2, 2, a, 2, NULL), JSTATUS_INVALID_POINTER, "tau is NULL");
    JEXPECT_EQ(a[0], 1);
    JEXPECT_OK(jlapack_dgeqrf(h, 0, 2, NULL, 1, NULL));
    JEXPECT_OK(jlapack_dorgqr(h, 2, 0, 0, NULL, 2, NULL));
    JEXPECT_OK(jhandle_destroy(h));
    JEXPECT_STATUS(jlapack_dgeqrf(NULL, 2, 2, a, 2, t), JSTATUS_INVALID_HANDLE);
}

JTEST(JlapackQr, RefusesWrongProductsByName) {
    double a[4] = {1, 2, 3, 4}, t[2] = {1, 2}, c[4] = {1, 2, 3, 4};
    jcomplex_f64_t z[4] = {1, 2, 3, 4};
    jhandle_t *h = make_handle(0);
    const jblas_side_t left = JBLAS_LEFT, right = JBLAS_RIGHT;
    const jblas_operation_t plain = JBLAS_NO_TRANSPOSE, odd = JBLAS_CONJUGATE;
    REFUSED(jlapack_dormqr(h, (jblas_side_t)7, plain, 2, 2, 1, a, 2, t, c, 2),
            JSTATUS_INVALID_VALUE, "dormqr: side = 7");
    REFUSED(jlapack_dormqr(h, left, odd, 2, 2, 1, a, 2, t, c, 2), JSTATUS_INVALID_VALUE, "trans");
    REFUSED(jlapack_zunmqr(h, left, JBLAS_TRANSPOSE, 2, 2, 1, z, 2, z, z, 2), JSTATUS_INVALID_VALUE,
            "zunmqr: trans");
    REFUSED(jlapack_dormqr(h, left, plain, 1, 2, 2, a, 2, t, c, 2), JSTATUS_INVALID_SIZE, "k = 2");
    REFUSED(jlapack_dormqr(h, right, plain, 2, 1, 2, a, 2, t, c, 2), JSTATUS_INVALID_SIZE, "k = 2");
    REFUSED(jlapack_dormqr(h, left, plain, 2, 1, 1, a, 1, t, c, 2), JSTATUS_INVALID_SIZE,
            "lda = 1");
    REFUSED(jlapack_dormqr(h, left, plain, 2, 1, 1, a, 2, t, c, 1), JSTATUS_INVALID_SIZE,
            "ldc = 1");
    REFUSED(jlapack_dormqr(h, left, plain, 2, 1, 1, a, 2, t, NULL, 2), JSTATUS_INVALID_POINTER,
            "c is NULL");
    REFUSED(jlapack_dormqr(h, left, plain, 2, 1, 1, a, 2, NULL, c, 2), JSTATUS_INVALID_POINTER,
            "tau is NULL");
    JEXPECT_EQ(c[0], 1);
    JEXPECT_OK(jlapack_dormqr(h, left, plain, 2, 1, 0, NULL, 2, NULL, NULL, 2));
    JEXPECT_OK(jhandle_destroy(h));
}
#undef REFUSED

JTEST(JlapackQr, ADeviceThatLacksItSaysSo) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    options.device = &pretend_gpu_make()->device;
    JASSERT_OK(jhandle_create(&options, &handle));
    double a[4] = {1, 2, 3, 4}, tau[2];
    JEXPECT_STATUS(jlapack_dgeqrf(handle, 2, 2, a, 2, tau), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "jlapack_dgeqrf is not offered on");
    JEXPECT_OK(jhandle_destroy(handle));
}
