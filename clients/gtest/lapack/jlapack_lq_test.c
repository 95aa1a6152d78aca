/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* LQ on the host, gelqf, orglq, ormlq and their complex names, and gels, held against QR of the
 * conjugate transpose and against the definition in long double. */

#include "jlapack_helper.h"

#define EACH_TYPE(name) JLAPACK_EACH_TYPE(JlapackLq, name)
#define EACH_TYPE_OF_GELS(name) JLAPACK_EACH_TYPE(JlapackGels, name)

/* ---- LQ ---- */

/* Q = H(k)^H ... H(1)^H of the reflectors that lie in rows of a, n x n by columns. */
static wide_t *explicit_q(const matrix_t *a, const matrix_t *tau, int64_t k) {
    const int64_t n = a->columns;
    wide_t *q = calloc((size_t)(n * n + 1), sizeof *q);
    for (int64_t j = 0; j < n; j++)
        q[j + j * n] = 1;
    for (int64_t l = 0; l < k; l++) /* Q = H(l)^H Q */
        for (int64_t j = 0; j < n; j++) {
            wide_t sum = q[l + j * n];
            for (int64_t i = l + 1; i < n; i++)
                sum += now_at(a, l, i) * q[i + j * n];
            sum *= conjugate(now_at(tau, l, 0));
            q[l + j * n] -= sum;
            for (int64_t i = l + 1; i < n; i++)
                q[i + j * n] -= conjugate(now_at(a, l, i)) * sum;
        }
    return q;
}

static void expect_orthogonal(int type, const wide_t *q, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            wide_t sum = i == j ? -1 : 0;
            for (int64_t l = 0; l < n; l++)
                sum += q[i + l * n] * conjugate(q[j + l * n]);
            JASSERT_TRUE(wide_abs(sum) <= bound_of(type, n));
        }
}

/* A = L Q by rows, Q is unitary, and the diagonal of L is real, its first of the other sign. */
static void expect_factor(const matrix_t *a, const matrix_t *tau) {
    const int64_t m = a->rows, n = a->columns, k = smaller(m, n);
    wide_t *q = explicit_q(a, tau, k);
    expect_orthogonal(a->type, q, n);
    for (int64_t i = 0; i < m && !jtest_has_failure(); i++) {
        long double norm = 0;
        for (int64_t j = 0; j < n; j++)
            norm += square_of(before_at(a, i, j));
        for (int64_t j = 0; j < n; j++) {
            wide_t sum = -before_at(a, i, j);
            for (int64_t l = 0; l <= i && l < n; l++)
                sum += now_at(a, i, l) * q[l + j * n];
            JASSERT_TRUE(wide_abs(sum) <= bound_of(a->type, k) * sqrtl(norm) + 1e-43L);
        }
        if (i < k)
            JASSERT_TRUE(__imag__ now_at(a, i, i) == 0);
    }
    if (k > 0 && (n > 1 || __imag__ before_at(a, 0, 0) != 0))
        JEXPECT_TRUE(__real__ now_at(a, 0, 0) * __real__ before_at(a, 0, 0) <= 0);
    free(q);
}

EACH_TYPE(FactorsAnyShape) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(32); round > 0 && !jtest_has_failure(); --round) {
        const int64_t m = draw_size(round, 120), n = draw_size(round, 120);
        MATRIX(a, *param, m, n);
        MATRIX(tau, *param, smaller(m, n), 1);
        JSCOPED_TRACE("%ld x %ld, ld %ld", (long)m, (long)n, (long)a.ld);
        JEXPECT_OK(JLAPACK_CALL(*param, gelqf, handle, m, n, a.data, a.ld, tau.data));
        expect_factor(&a, &tau);
        expect_padding(&a);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The factor of A is that of A^H by QR, conjugated and transposed, with the same tau; so large that
 * blocks are at their widest, too. */
EACH_TYPE(IsQrOfTheAdjoint) {
    jhandle_t *handle = make_handle(0);
    static const int64_t shapes[][2] = {{50, 90}, {90, 50}, {400, 790}, {1, 30}, {30, 1}};
    for (size_t r = 0; r < sizeof shapes / sizeof shapes[0]; r++) {
        const int64_t m = shapes[r][0], n = shapes[r][1];
        MATRIX(a, *param, m, n);
        MATRIX(h, *param, n, m);
        MATRIX(tau, *param, smaller(m, n), 1);
        MATRIX(tau_h, *param, smaller(m, n), 1);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++)
                wide_put(h.data, *param, j + i * h.ld, conjugate(now_at(&a, i, j)));
        JEXPECT_OK(JLAPACK_CALL(*param, gelqf, handle, m, n, a.data, a.ld, tau.data));
        JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, n, m, h.data, h.ld, tau_h.data));
        const long double bound = 1000 * bound_of(*param, m + n); /* conditions are what they are */
        for (int64_t i = 0; i < m && !jtest_has_failure(); i++) {
            JSCOPED_TRACE("%ld x %ld, row %ld", (long)m, (long)n, (long)i);
            for (int64_t j = 0; j < n; j++)
                JASSERT_TRUE(wide_abs(now_at(&a, i, j) - conjugate(now_at(&h, j, i))) <= bound);
            if (i < tau.rows)
                JASSERT_TRUE(wide_abs(now_at(&tau, i, 0) - now_at(&tau_h, i, 0)) <= bound);
        }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

EACH_TYPE(MakesQ) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(24); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = draw_size(round, 120), m = jtest_random_between(n / 2, n),
                      k = jtest_random_between(m / 2, m);
        MATRIX(a, *param, m, n);
        MATRIX(tau, *param, m, 1);
        JSCOPED_TRACE("%ld x %ld of %ld", (long)m, (long)n, (long)k);
        JEXPECT_OK(JLAPACK_CALL(*param, gelqf, handle, m, n, a.data, a.ld, tau.data));
        wide_t *q = explicit_q(&a, &tau, k);
        JEXPECT_OK(JLAPACK_CALL_Q(*param, orglq, unglq, handle, m, n, k, a.data, a.ld, tau.data));
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++)
                JASSERT_TRUE(wide_abs(now_at(&a, i, j) - q[i + j * n]) <= bound_of(*param, k));
        expect_padding(&a);
        free(q);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

EACH_TYPE(MultipliesByQ) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(32); round > 0 && !jtest_has_failure(); --round) {
        const bool left = round % 2 == 0, plain = round / 2 % 2 == 0;
        const int64_t m = draw_size(round / 4, 120), n = draw_size(round / 4, 120),
                      order = left ? m : n, k = jtest_random_between(0, order);
        const jblas_operation_t trans = plain ? JBLAS_NO_TRANSPOSE : adjoint_of(*param, round / 4);
        MATRIX(a, *param, k, order);
        MATRIX(tau, *param, k, 1);
        MATRIX(c, *param, m, n);
        JSCOPED_TRACE("%ld x %ld of %ld, left %d, op %d", (long)m, (long)n, (long)k, left, trans);
        JEXPECT_OK(JLAPACK_CALL(*param, gelqf, handle, k, order, a.data, a.ld, tau.data));
        wide_t *q = explicit_q(&a, &tau, k);
        keep(&a);
        JEXPECT_OK(JLAPACK_CALL_Q(*param, ormlq, unmlq, handle, left ? JBLAS_LEFT : JBLAS_RIGHT,
                                  trans, m, n, k, a.data, a.ld, tau.data, c.data, c.ld));
        expect_product(&c, q, left, plain, k);
        expect_padding(&c);
        JEXPECT_EQ(memcmp(a.data, a.before, a.bytes), 0);
        free(q);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- gels ---- */

/* Element (i, j) of op(A) as it was. */
static wide_t given_at(const matrix_t *a, bool plain, int64_t i, int64_t j) {
    return plain ? before_at(a, i, j) : conjugate(before_at(a, j, i));
}

static long double norm_of(const matrix_t *a, wide_t (*at)(const matrix_t *, int64_t, int64_t),
                           int64_t rows, int64_t first, int64_t columns) {
    long double sum = 0;
    for (int64_t j = first; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            sum += square_of(at(a, i, j));
    return sqrtl(sum);
}

/* Least squares: op(A)^H (B - op(A) X) is 0, and what is behind X has the residual's norm. */
static void expect_squares(const matrix_t *a, const matrix_t *b, bool plain) {
    const int64_t m = larger(a->rows, a->columns), n = smaller(a->rows, a->columns);
    const long double norm = norm_of(a, before_at, a->rows, 0, a->columns);
    wide_t *rest = calloc((size_t)m + 1, sizeof *rest);
    for (int64_t j = 0; j < b->columns && !jtest_has_failure(); j++) {
        long double square = 0, behind = 0, x = 0, given = 0;
        for (int64_t i = 0; i < n; i++)
            x += square_of(now_at(b, i, j));
        for (int64_t i = 0; i < m; i++) {
            rest[i] = before_at(b, i, j);
            given += square_of(rest[i]);
            for (int64_t l = 0; l < n; l++)
                rest[i] -= given_at(a, plain, i, l) * now_at(b, l, j);
            square += square_of(rest[i]);
        }
        for (int64_t i = n; i < m; i++)
            behind += square_of(now_at(b, i, j));
        const long double bound = 4 * bound_of(a->type, m) * (norm * sqrtl(x) + sqrtl(given));
        JASSERT_TRUE(fabsl(sqrtl(square) - sqrtl(behind)) <= bound);
        for (int64_t l = 0; l < n; l++) {
            wide_t sum = 0;
            for (int64_t i = 0; i < m; i++)
                sum += conjugate(given_at(a, plain, i, l)) * rest[i];
            JASSERT_TRUE(wide_abs(sum) <= bound * norm);
        }
    }
    free(rest);
}

/* Least solution: op(A) X = B, and X is op(A)^H Y: nothing is left of it by least squares. */
static void expect_least(jhandle_t *handle, const matrix_t *a, const matrix_t *b, bool plain) {
    const int type = a->type;
    const int64_t m = smaller(a->rows, a->columns), n = larger(a->rows, a->columns);
    const long double norm = norm_of(a, before_at, a->rows, 0, a->columns);
    MATRIX(again, type, a->rows, a->columns);
    MATRIX(x, type, n, b->columns);
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < a->rows; i++)
            wide_put(again.data, type, i + j * again.ld, before_at(a, i, j));
    for (int64_t j = 0; j < b->columns && !jtest_has_failure(); j++) {
        const long double size = norm_of(b, now_at, n, j, j + 1);
        for (int64_t i = 0; i < n; i++)
            wide_put(x.data, type, i + j * x.ld, now_at(b, i, j));
        for (int64_t i = 0; i < m; i++) {
            wide_t sum = -before_at(b, i, j);
            for (int64_t l = 0; l < n; l++)
                sum += given_at(a, plain, i, l) * now_at(b, l, j);
            JASSERT_TRUE(wide_abs(sum) <= 4 * bound_of(type, n) * norm * size);
        }
    }

    int64_t info = -1;
    keep(&x), keep(&again);
    JEXPECT_OK(JLAPACK_CALL(type, gels, handle,
                            plain ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE, a->rows,
                            a->columns, b->columns, again.data, again.ld, x.data, x.ld, &info));
    JEXPECT_EQ(info, 0);
    for (int64_t j = 0; j < b->columns && !jtest_has_failure(); j++) {
        long double behind = 0, y = 0;
        for (int64_t i = 0; i < n; i++)
            *(i < m ? &y : &behind) += square_of(now_at(&x, i, j));
        JASSERT_TRUE(sqrtl(behind) <=
                     4 * bound_of(type, n) * (norm_of(b, now_at, n, j, j + 1) + norm * sqrtl(y)));
    }
}

EACH_TYPE_OF_GELS(SolvesAnyShape) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(40); round > 0 && !jtest_has_failure(); --round) {
        const int64_t m = draw_size(round / 4, 120), n = draw_size(round / 4, 120),
                      nrhs = jtest_random_between(0, 5);
        const bool plain = round % 2 == 0;
        const jblas_operation_t trans = plain ? JBLAS_NO_TRANSPOSE : adjoint_of(*param, round / 2);
        MATRIX(a, *param, m, n);
        MATRIX(b, *param, larger(m, n), nrhs);
        int64_t info = -1;
        JSCOPED_TRACE("%ld x %ld, %ld, op %d", (long)m, (long)n, (long)nrhs, trans);
        JEXPECT_OK(JLAPACK_CALL(*param, gels, handle, trans, m, n, nrhs, a.data, a.ld, b.data, b.ld,
                                &info));
        JEXPECT_EQ(info, 0);
        expect_padding(&a), expect_padding(&b);
        if (smaller(m, n) == 0)
            JEXPECT_TRUE(norm_of(&b, now_at, larger(m, n), 0, nrhs) == 0);
        else if (plain == (m >= n))
            expect_squares(&a, &b, plain);
        else
            expect_least(handle, &a, &b, plain);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A and B of any size: X is that of the same problem, times a power of two. */
EACH_TYPE_OF_GELS(ScalesWhatIsTinyOrHuge) {
    jhandle_t *handle = make_handle(0);
    const bool single = wide_real_of(*param) == JDATATYPE_F32;
    const int far = single ? 115 : 1000;
    static const int exponents[][2] = {{1, 1}, {-1, -1}, {-1, 0}, {1, 0}, {0, 1}, {0, -1}};
    for (size_t r = 0; r < 24; r++) {
        const int of_a = exponents[r / 4][0] * far, of_b = exponents[r / 4][1] * far;
        const bool plain = r % 2 == 0;
        const int64_t m = r % 4 < 2 ? 17 : 9, n = r % 4 < 2 ? 9 : 17;
        const jblas_operation_t trans = plain ? JBLAS_NO_TRANSPOSE : JBLAS_CONJUGATE_TRANSPOSE;
        MATRIX(a, *param, m, n);
        MATRIX(b, *param, 17, 2);
        MATRIX(far_a, *param, m, n);
        MATRIX(far_b, *param, 17, 2);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++)
                wide_put(far_a.data, *param, i + j * far_a.ld, now_at(&a, i, j) * ldexpl(1, of_a));
        for (int64_t j = 0; j < 2; j++)
            for (int64_t i = 0; i < 17; i++)
                wide_put(far_b.data, *param, i + j * far_b.ld, now_at(&b, i, j) * ldexpl(1, of_b));
        int64_t info = -1;
        JSCOPED_TRACE("2^%d, 2^%d, op %d", of_a, of_b, trans);
        JEXPECT_OK(
            JLAPACK_CALL(*param, gels, handle, trans, m, n, 2, a.data, a.ld, b.data, b.ld, &info));
        JEXPECT_OK(JLAPACK_CALL(*param, gels, handle, trans, m, n, 2, far_a.data, far_a.ld,
                                far_b.data, far_b.ld, &info));
        JEXPECT_EQ(info, 0);
        const int64_t found = plain ? n : m;
        for (int64_t j = 0; j < 2 && !jtest_has_failure(); j++)
            for (int64_t i = 0; i < 17; i++) {
                const long double scale = ldexpl(1, i < found ? of_b - of_a : of_b);
                JASSERT_TRUE(wide_abs(now_at(&far_b, i, j) - now_at(&b, i, j) * scale) <=
                             200 * bound_of(*param, 17) * scale *
                                 (1 + norm_of(&b, now_at, 17, j, j + 1)));
            }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

EACH_TYPE_OF_GELS(NamesTheFirstZeroOfTheTriangle) {
    jhandle_t *handle = make_handle(0);
    for (int wide = 0; wide < 2; wide++) {
        MATRIX(a, *param, wide ? 20 : 30, wide ? 30 : 20);
        MATRIX(b, *param, 30, 2);
        for (int64_t l = 0; l < 30; l++)
            for (int64_t hole = 6; hole < 20; hole += 7)
                wide_put(a.data, *param, wide ? hole + l * a.ld : l + hole * a.ld, 0);
        int64_t info = -1;
        JEXPECT_OK(JLAPACK_CALL(*param, gels, handle, JBLAS_NO_TRANSPOSE, a.rows, a.columns, 2,
                                a.data, a.ld, b.data, b.ld, &info));
        JEXPECT_EQ(info, 7);

        memset(a.data, 0, a.bytes);
        JEXPECT_OK(JLAPACK_CALL(*param, gels, handle, JBLAS_NO_TRANSPOSE, a.rows, a.columns, 2,
                                a.data, a.ld, b.data, b.ld, &info));
        JEXPECT_EQ(info, 0);
        JEXPECT_TRUE(norm_of(&b, now_at, 30, 0, 2) == 0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* They come to an end, and what depends on them is not a number that looks right. */
EACH_TYPE_OF_GELS(EndsWithNanAndInfinity) {
    jhandle_t *handle = make_handle(0);
    for (int round = 0; round < 8; round++) {
        const bool wide = round % 2 == 0, in_b = round / 2 % 2 == 0;
        const long double bad = round / 4 == 0 ? NAN : INFINITY;
        MATRIX(a, *param, wide ? 20 : 30, wide ? 30 : 20);
        MATRIX(b, *param, 30, 1);
        wide_put(in_b ? b.data : a.data, *param, 3, bad);
        int64_t info = -1;
        JEXPECT_OK(JLAPACK_CALL(*param, gels, handle, JBLAS_NO_TRANSPOSE, a.rows, a.columns, 1,
                                a.data, a.ld, b.data, b.ld, &info));
        JEXPECT_TRUE(info >= 0);
        JEXPECT_FALSE(isfinite(norm_of(&b, now_at, 20, 0, 1)));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Workspace, threads, streams ---- */

static jstatus_t do_gelqf(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const tau = x->operand[1];
    return JLAPACK_CALL(a->type, gelqf, handle, a->rows, a->columns, a->data, a->ld, tau->data);
}
static jstatus_t do_orglq(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const tau = x->operand[1];
    return JLAPACK_CALL_Q(a->type, orglq, unglq, handle, a->rows, a->columns, a->rows, a->data,
                          a->ld, tau->data);
}
static jstatus_t do_ormlq(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const tau = x->operand[1], *const c = x->operand[2];
    return JLAPACK_CALL_Q(a->type, ormlq, unmlq, handle, JBLAS_RIGHT, JBLAS_NO_TRANSPOSE, c->rows,
                          a->columns, a->rows, a->data, a->ld, tau->data, c->data, c->ld);
}
static jstatus_t do_gels(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const b = x->operand[1];
    return JLAPACK_CALL(a->type, gels, handle, JBLAS_NO_TRANSPOSE, a->rows, a->columns, b->columns,
                        a->data, a->ld, b->data, b->ld, &x->info);
}

static void expect_of_each(int type, void (*expect)(jlapack_case_t *)) {
    MATRIX(a, type, 230, 300);
    MATRIX(tau, type, 230, 1);
    MATRIX(c, type, 90, 300);
    jlapack_case_t cases[] = {JLAPACK_CASE(gelqf, &a, &tau), JLAPACK_CASE(orglq, &a, &tau),
                              JLAPACK_CASE(ormlq, &a, &tau, &c)};
    expect(&cases[0]);
    keep(&a), keep(&tau); /* which are a factor now */
    expect(&cases[1]);
    expect(&cases[2]);
}
/* Which wants tau at least. */
static void expect_of_gels(int type, void (*expect)(jlapack_case_t *)) {
    static const int64_t shapes[][2] = {{260, 210}, {210, 260}};
    for (int s = 0; s < 2; s++) {
        MATRIX(a, type, shapes[s][0], shapes[s][1]);
        MATRIX(b, type, 260, 40);
        jlapack_case_t gels = JLAPACK_CASE(gels, &a, &b);
        gels.least = 210 * jdatatype_bytes((jdatatype_t)type) / 64 * 64 + 64;
        expect(&gels);
    }
}

EACH_TYPE(AnyWorkspaceAndThreadsGiveTheSameBits) { expect_of_each(*param, expect_same_bits); }
EACH_TYPE(EachAllocationMayFail) { expect_of_each(*param, expect_each_allocation_may_fail); }
EACH_TYPE_OF_GELS(AnyWorkspaceAndThreadsGiveTheSameBits) {
    expect_of_gels(*param, expect_same_bits);
}
EACH_TYPE_OF_GELS(EachAllocationMayFail) {
    expect_of_gels(*param, expect_each_allocation_may_fail);
}

JTEST(JlapackGels, FollowsTheStreamAndThePointerMode) {
    jhandle_t *handle = make_handle(0);
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE));
    MATRIX(a, JDATATYPE_F64, 90, 60);
    MATRIX(b, JDATATYPE_F64, 90, 2);
    int64_t info = -1;
    JEXPECT_OK(
        jlapack_dgels(handle, JBLAS_NO_TRANSPOSE, 90, 60, 2, a.data, a.ld, b.data, b.ld, &info));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_EQ(info, 0);
    expect_squares(&a, &b, true);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

/* ---- Refusals ---- */

#define REFUSED(...) JLAPACK_REFUSED(h, __VA_ARGS__)
JTEST(JlapackLq, RefusesWhatIsWrongByName) {
    double a[4] = {1, 2, 3, 4}, t[2] = {1, 2}, c[4] = {1, 2, 3, 4};
    jcomplex_f64_t z[4] = {1, 2, 3, 4};
    jhandle_t *h = make_handle(0);
    const jblas_operation_t plain = JBLAS_NO_TRANSPOSE;
    REFUSED(jlapack_dgelqf(h, -1, 2, a, 2, t), JSTATUS_INVALID_SIZE, "dgelqf: m = -1");
    REFUSED(jlapack_dgelqf(h, 2, 2, a, 1, t), JSTATUS_INVALID_SIZE, "lda = 1");
    REFUSED(jlapack_dgelqf(h, 2, 2, a, 2, NULL), JSTATUS_INVALID_POINTER, "tau is NULL");
    REFUSED(jlapack_dorglq(h, 3, 2, 2, a, 3, t), JSTATUS_INVALID_SIZE, "dorglq: n = 2");
    REFUSED(jlapack_dorglq(h, 1, 2, 2, a, 2, t), JSTATUS_INVALID_SIZE, "k = 2");
    REFUSED(jlapack_dorglq(h, 3, 2, -1, a, 0, t), JSTATUS_INVALID_SIZE, "n = 2");
    REFUSED(jlapack_dorglq(h, -1, -1, 2, a, 0, t), JSTATUS_INVALID_SIZE, "m = -1");
    REFUSED(jlapack_dorglq(h, 1, 2, 2, a, 0, t), JSTATUS_INVALID_SIZE, "k = 2");
    REFUSED(jlapack_zunmlq(h, JBLAS_LEFT, JBLAS_TRANSPOSE, 2, 2, 1, z, 2, z, z, 2),
            JSTATUS_INVALID_VALUE, "zunmlq: trans");
    REFUSED(jlapack_dormlq(h, JBLAS_LEFT, plain, 1, 2, 2, a, 2, t, c, 2), JSTATUS_INVALID_SIZE,
            "k = 2");
    REFUSED(jlapack_dormlq(h, JBLAS_LEFT, plain, 2, 2, 2, a, 1, t, c, 2), JSTATUS_INVALID_SIZE,
            "lda = 1");
    JEXPECT_EQ(a[0], 1);
    JEXPECT_OK(jlapack_dormlq(h, JBLAS_LEFT, plain, 2, 1, 1, a, 1, t, c, 2)); /* k rows */
    JEXPECT_OK(jlapack_dgelqf(h, 0, 2, NULL, 1, NULL));
    JEXPECT_OK(jlapack_dorglq(h, 0, 2, 0, NULL, 1, NULL));
    JEXPECT_OK(jhandle_destroy(h));
}

JTEST(JlapackGels, RefusesWhatIsWrongByName) {
    double a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 2, 3, 4, 5, 6};
    jcomplex_f64_t z[4] = {1, 2, 3, 4};
    int64_t info = 9;
    jhandle_t *h = make_handle(0);
    const jblas_operation_t plain = JBLAS_NO_TRANSPOSE;
    REFUSED(jlapack_dgels(h, JBLAS_CONJUGATE, 2, 2, 1, a, 2, b, 2, &info), JSTATUS_INVALID_VALUE,
            "dgels: trans");
    REFUSED(jlapack_zgels(h, JBLAS_TRANSPOSE, 2, 2, 1, z, 2, z, 2, &info), JSTATUS_INVALID_VALUE,
            "zgels: trans");
    REFUSED(jlapack_dgels(h, plain, -1, 2, 1, a, 2, b, 2, &info), JSTATUS_INVALID_SIZE, "m = -1");
    REFUSED(jlapack_dgels(h, plain, 2, -1, 1, a, 2, b, 2, &info), JSTATUS_INVALID_SIZE, "n = -1");
    REFUSED(jlapack_dgels(h, plain, 2, 2, -1, a, 2, b, 2, &info), JSTATUS_INVALID_SIZE,
            "nrhs = -1");
    REFUSED(jlapack_dgels(h, plain, 2, 3, 1, a, 2, b, 2, &info), JSTATUS_INVALID_SIZE, "ldb = 2");
    REFUSED(jlapack_dgels(h, plain, 2, 2, 1, a, 1, b, 2, &info), JSTATUS_INVALID_SIZE, "lda = 1");
    REFUSED(jlapack_dgels(h, plain, 2, 2, 1, a, 2, NULL, 2, &info), JSTATUS_INVALID_POINTER,
            "b is NULL");
    REFUSED(jlapack_dgels(h, plain, 2, 2, 1, a, 2, b, 2, NULL), JSTATUS_INVALID_POINTER,
            "info is NULL");
    JEXPECT_EQ(info, 9);
    JEXPECT_EQ(b[0], 1);
    JEXPECT_OK(jlapack_dgels(h, plain, 2, 2, 0, NULL, 2, NULL, 2, &info));
    JEXPECT_EQ(info, 0);
    JEXPECT_OK(jhandle_destroy(h));
}
#undef REFUSED
