/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* QR with column pivoting on the host, held against the definition in long double. */

#include "jlapack_helper.h"

#define EACH_TYPE(name) JLAPACK_EACH_TYPE(JlapackGeqp3, name)

/* What so many steps may lose in the last place of the smallest numbers. */
static long double smallest_of(int type, int64_t steps) {
    return (long double)(4 * steps + 8) *
           ldexpl(1, wide_real_of(type) == JDATATYPE_F32 ? -149 : -1074);
}

/* ---- What holds of a factor ---- */

/* The order is a permutation; columns that were `fixed` come first, in their order. */
static void expect_order(int64_t n, const int64_t *jpvt, const int64_t *fixed) {
    bool *seen = calloc((size_t)n + 1, sizeof *seen);
    int64_t count = 0, next = 0;
    for (int64_t j = 0; j < n; j++) {
        const bool good = jpvt[j] >= 1 && jpvt[j] <= n && !seen[jpvt[j] - 1];
        JEXPECT_TRUE(good);
        if (!good)
            break;
        seen[jpvt[j] - 1] = true;
        count += fixed[j] != 0;
    }
    for (int64_t j = 0; j < n && !jtest_has_failure(); j++)
        if (fixed[j] != 0)
            JEXPECT_EQ(jpvt[next++], j + 1);
    JEXPECT_EQ(next, count);
    free(seen);
}

/* H(k) ... H(1) of x, from the definition, each with the adjoint where it is to be undone. */
static void reflect_column(const matrix_t *a, const matrix_t *tau, int64_t k, bool undo,
                           wide_t *x) {
    for (int64_t turn = 0; turn < k; turn++) {
        const int64_t l = undo ? turn : k - 1 - turn;
        wide_t sum = x[l], by = now_at(tau, l, 0);
        for (int64_t i = l + 1; i < a->rows; i++)
            sum += conjugate(now_at(a, i, l)) * x[i];
        sum *= undo ? conjugate(by) : by;
        x[l] -= sum;
        for (int64_t i = l + 1; i < a->rows; i++)
            x[i] -= now_at(a, i, l) * sum;
    }
}

static long double norm_of(const matrix_t *a, int64_t j) {
    long double sum = 0;
    for (int64_t i = 0; i < a->rows; i++)
        sum += square_of(before_at(a, i, j));
    return sqrtl(sum);
}

/* The norm of R(first ..., j). */
static long double rest_of(const matrix_t *a, int64_t first, int64_t j) {
    long double sum = 0;
    for (int64_t i = first; i <= j && i < a->rows; i++)
        sum += square_of(now_at(a, i, j));
    return sqrtl(sum);
}

/* A P = Q R by columns; Q, each reflector of which is unitary, is; the diagonal is real. Of what
 * was not fixed no column's rest is larger than the pivot but by rounding, and so is no R(j, j). */
static void expect_factor(const matrix_t *a, const int64_t *jpvt, const matrix_t *tau,
                          int64_t fixed) {
    const int type = a->type;
    const int64_t m = a->rows, n = a->columns, k = smaller(m, n);
    wide_t *x = calloc((size_t)m + 1, sizeof *x);
    long double largest = 0;

    for (int64_t l = 0; l < k; l++) {
        long double square = 1;
        for (int64_t i = l + 1; i < m; i++)
            square += square_of(now_at(a, i, l));
        const wide_t by = now_at(tau, l, 0);
        JEXPECT_TRUE(fabsl(square_of(by) * square - 2 * __real__ by) <= bound_of(type, m));
        JEXPECT_TRUE(__imag__ now_at(a, l, l) == 0);
    }
    for (int64_t j = 0; j < n && !jtest_has_failure(); j++) {
        const long double norm = norm_of(a, jpvt[j] - 1),
                          bound = bound_of(type, k) * norm + smallest_of(type, k);
        largest = fmaxl(largest, norm);
        for (int64_t i = 0; i < m; i++)
            x[i] = i <= j ? now_at(a, i, j) : 0;
        reflect_column(a, tau, k, false, x);
        for (int64_t i = 0; i < m; i++)
            JEXPECT_TRUE(wide_abs(x[i] - before_at(a, i, jpvt[j] - 1)) <= bound);
    }
    /* What a norm may have lost: a root of the type's precision of itself, and rounding. */
    const long double slack = 1 + 4 * sqrtl(wide_epsilon(type)),
                      floor = bound_of(type, k) * largest + smallest_of(type, k);
    for (int64_t l = fixed; l < k && !jtest_has_failure(); l++)
        for (int64_t j = l + 1; j < n; j++)
            JEXPECT_TRUE(rest_of(a, l, j) <= fabsl(__real__ now_at(a, l, l)) * slack + floor);
    free(x);
}

/* Runs it, and looks at all of it. */
static void expect_pivoted(jhandle_t *handle, matrix_t *a, const int64_t *fixed) {
    const int64_t m = a->rows, n = a->columns;
    MATRIX(tau, a->type, smaller(m, n), 1);
    int64_t *jpvt = malloc(((size_t)n + 1) * sizeof *jpvt), count = 0;
    memcpy(jpvt, fixed, (size_t)n * sizeof *jpvt);
    for (int64_t j = 0; j < n; j++)
        count += fixed[j] != 0;

    JEXPECT_OK(JLAPACK_CALL(a->type, geqp3, handle, m, n, a->data, a->ld, jpvt, tau.data));
    expect_order(n, jpvt, fixed);
    if (m > 0 && n > 0 && !jtest_has_failure())
        expect_factor(a, jpvt, &tau, count);
    expect_padding(a);
    free(jpvt);
}

/* Any shape, with some columns fixed, or none, or all. */
EACH_TYPE(FactorsAnyShape) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(40); round > 0 && !jtest_has_failure(); --round) {
        const int64_t m = draw_size(round, 180), n = draw_size(round, 180);
        MATRIX(a, *param, m, n);
        int64_t *fixed = calloc((size_t)n + 1, sizeof *fixed);
        const int64_t kind = jtest_random_between(0, 3); /* of which 0: none */
        for (int64_t j = 0; j < n; j++) {
            const int64_t number = jtest_random_bool() ? -7 : INT64_MAX;
            fixed[j] = kind == 3 || (kind > 0 && jtest_random_between(0, 5) == 0) ? number : 0;
        }
        JSCOPED_TRACE("%ld x %ld, ld %ld, fixed %d", (long)m, (long)n, (long)a.ld, (int)kind);
        expect_pivoted(handle, &a, fixed);
        free(fixed);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Norms that are lost by a row, so that they are computed again: of rank 20, and of columns that
 * are nearly so; graded; with columns that are 0, or all alike. */
EACH_TYPE(FactorsWhatIsNotOfFullRank) {
    jhandle_t *handle = make_handle(0);
    const bool single = wide_real_of(*param) == JDATATYPE_F32;
    for (int64_t round = jtest_iterations(18); round > 0 && !jtest_has_failure(); --round) {
        const int64_t m = jtest_random_between(80, 150), n = jtest_random_between(70, 150);
        const int kind = (int)(round % 6);
        MATRIX(a, *param, m, n);
        MATRIX(b, *param, m, 20);
        MATRIX(c, *param, 20, n);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++) {
                const long double rough = kind == 1 ? ldexpl(1, single ? -15 : -30) : 0;
                wide_t value = now_at(&a, i, j);
                if (kind < 2) {
                    value *= rough;
                    for (int64_t l = 0; l < 20; l++)
                        value += now_at(&b, i, l) * now_at(&c, l, j);
                } else if (kind == 2) {
                    value *= ldexpl(1, (int)(-j * (single ? 60 : 500) / n));
                } else if (kind == 3) {
                    value *= ldexpl(1, (int)(-i * (single ? 60 : 500) / m));
                } else if (kind == 4) {
                    value *= j % 3 != 0;
                } else {
                    value = now_at(&b, i, 0);
                }
                wide_put(a.data, *param, i + j * a.ld, value);
            }
        keep(&a);
        int64_t fixed[150] = {0};
        JSCOPED_TRACE("%ld x %ld, kind %d", (long)m, (long)n, kind);
        expect_pivoted(handle, &a, fixed);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Norms whose squares overflow or underflow. */
EACH_TYPE(FactorsTinyAndHugeMatrices) {
    jhandle_t *handle = make_handle(0);
    const bool single = wide_real_of(*param) == JDATATYPE_F32;
    const int exponents[] = {single ? -145 : -1070, single ? -110 : -975, single ? 110 : 1005};
    for (int64_t round = jtest_iterations(12); round > 0 && !jtest_has_failure(); --round) {
        const int exponent = exponents[round % 3];
        const int64_t m = jtest_random_between(1, 90), n = jtest_random_between(1, 90);
        MATRIX(a, *param, m, n);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++) {
                wide_t value = jtest_random_between(-100, 100) * ldexpl(1, exponent);
                if (wide_is_complex(*param))
                    __imag__ value = jtest_random_between(-100, 100) * ldexpl(1, exponent);
                wide_put(a.data, *param, i + j * a.ld, value);
            }
        keep(&a);
        int64_t fixed[90] = {0};
        JSCOPED_TRACE("%ld x %ld, 2^%d", (long)m, (long)n, exponent);
        expect_pivoted(handle, &a, fixed);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* They end, and the order is a permutation all the same. */
EACH_TYPE(EndsWithNanAndInfinity) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(16); round > 0 && !jtest_has_failure(); --round) {
        const int64_t m = jtest_random_between(1, 100), n = jtest_random_between(1, 100);
        MATRIX(a, *param, m, n);
        MATRIX(tau, *param, smaller(m, n), 1);
        for (int64_t count = round % 4 == 3 ? 50 : 1; count > 0; --count)
            wide_put(a.data, *param,
                     jtest_random_between(0, m - 1) + jtest_random_between(0, n - 1) * a.ld,
                     round % 2 == 0 ? NAN : INFINITY);
        int64_t jpvt[100] = {0}, fixed[100] = {0};
        jpvt[n / 2] = fixed[n / 2] = round % 3 == 0;
        JEXPECT_OK(JLAPACK_CALL(*param, geqp3, handle, m, n, a.data, a.ld, jpvt, tau.data));
        expect_order(n, jpvt, fixed);
        const long double last = __real__ now_at(&a, tau.rows - 1, tau.rows - 1);
        if (m >= n && n > 1)
            JEXPECT_FALSE(isfinite(last));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Workspace, threads, streams ---- */

/* The order is an operand of int64_t, as wide as doubles. */
static jstatus_t do_geqp3(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const order = x->operand[1],
                          *const tau = x->operand[2];
    return JLAPACK_CALL(a->type, geqp3, handle, a->rows, a->columns, a->data, a->ld, order->data,
                        tau->data);
}

/* What it has of its own, by the header. */
static size_t own_bytes(const matrix_t *a) {
    const size_t n = (size_t)a->columns, element = jdatatype_bytes((jdatatype_t)a->type);
    const bool small = smaller(a->rows, a->columns) <= 64;
    return 3 * ((n * sizeof(double) + 63) / 64 * 64) + (n * element + 63) / 64 * 64 +
           ((small ? 0 : 32 * n * element) + 63) / 64 * 64;
}

/* With some columns fixed, and none; in blocks, and one by one. */
static void expect_of_each(int type, void (*expect)(jlapack_case_t *)) {
    const int64_t shapes[][3] = {{430, 410, 50}, {300, 60, 0}};
    for (int shape = 0; shape < 2; shape++) {
        const int64_t m = shapes[shape][0], n = shapes[shape][1];
        MATRIX(a, type, m, n);
        MATRIX(order, JDATATYPE_F64, n, 1);
        MATRIX(tau, type, n, 1);
        for (int64_t j = 0; j < n; j++)
            ((int64_t *)order.data)[j] = j >= 7 && j < 7 + shapes[shape][2];
        keep(&order);
        jlapack_case_t x = JLAPACK_CASE(geqp3, &a, &order, &tau);
        x.least = own_bytes(&a);
        expect(&x);
    }
}

EACH_TYPE(AnyWorkspaceAndThreadsGiveTheSameBits) { expect_of_each(*param, expect_same_bits); }
EACH_TYPE(EachAllocationMayFail) { expect_of_each(*param, expect_each_allocation_may_fail); }

JTEST(JlapackGeqp3, FollowsTheStream) {
    jhandle_t *handle = make_handle(0);
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    MATRIX(a, JDATATYPE_F64, 90, 80);
    MATRIX(tau, JDATATYPE_F64, 80, 1);
    int64_t jpvt[80] = {0};
    JEXPECT_OK(jlapack_dgeqp3(handle, 90, 80, a.data, a.ld, jpvt, tau.data));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    expect_factor(&a, jpvt, &tau, 0);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

/* ---- Refusals ---- */

JTEST(JlapackGeqp3, RefusesWhatIsWrongByName) {
    double a[4] = {1, 2, 3, 4}, t[2] = {1, 2};
    int64_t jpvt[2] = {0, 5};
    size_t bytes;
    jhandle_t *h = make_handle(0);
    JLAPACK_REFUSED(h, jlapack_dgeqp3(h, -1, 2, a, 2, jpvt, t), JSTATUS_INVALID_SIZE,
                    "dgeqp3: m = -1");
    JLAPACK_REFUSED(h, jlapack_dgeqp3(h, 2, -1, a, 2, jpvt, t), JSTATUS_INVALID_SIZE, "n = -1");
    JLAPACK_REFUSED(h, jlapack_dgeqp3(h, 2, 2, a, 1, jpvt, t), JSTATUS_INVALID_SIZE, "lda = 1");
    JLAPACK_REFUSED(h, jlapack_dgeqp3(h, 2, 2, NULL, 2, jpvt, t), JSTATUS_INVALID_POINTER,
                    "a is NULL");
    JLAPACK_REFUSED(h, jlapack_dgeqp3(h, 2, 2, a, 2, NULL, t), JSTATUS_INVALID_POINTER,
                    "jpvt is NULL");
    JLAPACK_REFUSED(h, jlapack_dgeqp3(h, 2, 2, a, 2, jpvt, NULL), JSTATUS_INVALID_POINTER,
                    "tau is NULL");
    JEXPECT_OK(jhandle_start_size_query(h));
    JLAPACK_REFUSED(h, jlapack_dgeqp3(h, 1, INT64_MAX / 1024 + 1, NULL, 1, NULL, NULL),
                    JSTATUS_INVALID_SIZE, "n = 9007199254740992: must be at most");
    JEXPECT_OK(jhandle_stop_size_query(h, &bytes));
    JEXPECT_TRUE(a[0] == 1 && jpvt[0] == 0 && jpvt[1] == 5);
    JLAPACK_REFUSED(h, jlapack_dgeqp3(h, 0, 2, NULL, 1, NULL, NULL), JSTATUS_INVALID_POINTER,
                    "jpvt is NULL");
    JEXPECT_OK(jlapack_dgeqp3(h, 0, 2, NULL, 1, jpvt, NULL));
    JEXPECT_TRUE(jpvt[0] == 2 && jpvt[1] == 1); /* without rows those that are fixed come first */
    JEXPECT_OK(jlapack_dgeqp3(h, 2, 0, NULL, 2, NULL, NULL));
    JEXPECT_OK(jhandle_destroy(h));
    JEXPECT_STATUS(jlapack_dgeqp3(NULL, 2, 2, a, 2, jpvt, t), JSTATUS_INVALID_HANDLE);
}

JTEST(JlapackGeqp3, ADeviceThatLacksItSaysSo) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    options.device = &pretend_gpu_make()->device;
    JASSERT_OK(jhandle_create(&options, &handle));
    double a[4] = {1, 2, 3, 4}, tau[2];
    int64_t jpvt[2] = {0, 0};
    JEXPECT_STATUS(jlapack_dgeqp3(handle, 2, 2, a, 2, jpvt, tau), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "jlapack_dgeqp3 is not offered on");
    JEXPECT_OK(jhandle_destroy(handle));
}
