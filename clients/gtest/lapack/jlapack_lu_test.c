/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* LU on the host: getrf, getrs, gesv, held against the definition in long double. */

#include "jlapack_helper.h"
#include "lapack/host/lu.h"

#define EACH_TYPE(name) JLAPACK_EACH_TYPE(JlapackLu, name)

static int64_t *make_pivots(int64_t count) {
    return jtest_guard_pages((size_t)count * sizeof(int64_t));
}

/* gamma_k of the element type: depth additions. */
static long double gamma_of(int type, int64_t depth) {
    const long double k = (long double)(depth + 8) * (wide_is_complex(type) ? 4 : 1);
    return k * wide_epsilon(type);
}

/* |P^T A - L U| <= gamma |L||U|, and no element of L is larger than its pivot. */
static void expect_factor(const matrix_t *a, const int64_t *ipiv) {
    const int64_t count = a->rows < a->columns ? a->rows : a->columns;
    const long double gamma = gamma_of(a->type, count);
    int64_t row[300];
    for (int64_t i = 0; i < a->rows; i++)
        row[i] = i;
    for (int64_t i = 0; i < count; i++) {
        JASSERT_GE(ipiv[i], i + 1);
        JASSERT_LE(ipiv[i], a->rows);
        const int64_t other = ipiv[i] - 1, here = row[i];
        row[i] = row[other], row[other] = here;
    }

    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < a->rows; i++) {
            wide_t sum = 0;
            long double bound = 0;
            for (int64_t k = 0; k <= i && k <= j && k < count; k++) {
                const wide_t l = k == i ? 1 : now_at(a, i, k), u = now_at(a, k, j);
                sum += l * u;
                bound += wide_abs(l) * wide_abs(u);
            }
            const long double off = wide_abs(sum - before_at(a, row[i], j));
            JASSERT_TRUE(off <= gamma * bound);
            if (i > j && j < count)
                JASSERT_TRUE(wide_abs(now_at(a, i, j)) <= 2.0001L);
        }
}

/* ---- getrf ---- */

EACH_TYPE(FactorsAnyShape) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(48); round > 0 && !jtest_has_failure(); --round) {
        const int64_t m = draw_size(round, 160), n = draw_size(round, 160);
        MATRIX(a, *param, m, n);
        int64_t *ipiv = make_pivots(smaller(m, n)), info = -1;
        JSCOPED_TRACE("%ld x %ld, ld %ld", (long)m, (long)n, (long)a.ld);
        JEXPECT_OK(JLAPACK_CALL(*param, getrf, handle, m, n, a.data, a.ld, ipiv, &info));
        JEXPECT_EQ(info, 0);
        expect_factor(&a, ipiv);
        expect_padding(&a);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The first largest of a column is its pivot; in |re| + |im|, as BLAS measures. */
EACH_TYPE(TakesTheLargestPivot) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(20); round > 0; --round) {
        MATRIX(a, *param, jtest_random_between(1, 50), 1);
        const int64_t first = jtest_random_between(0, a.rows - 1),
                      second = jtest_random_between(first, a.rows - 1);
        wide_put(a.data, *param, first, -3);
        wide_put(a.data, *param, second, second == first ? -3 : 3);
        int64_t pivot = 0, info = -1;
        JEXPECT_OK(JLAPACK_CALL(*param, getrf, handle, a.rows, 1, a.data, a.ld, &pivot, &info));
        JEXPECT_EQ(pivot, first + 1);
        JEXPECT_TRUE(now_at(&a, 0, 0) == -3);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Columns that are zero: info has the first pivot that is exactly 0, and what is behind it is
 * factored. */
EACH_TYPE(TellsTheFirstPivotThatIsZero) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(20); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = jtest_random_between(1, round % 4 == 0 ? 150 : 30),
                      zero = jtest_random_between(0, n - 1),
                      other = jtest_random_between(zero, n - 1);
        MATRIX(a, *param, n, n);
        for (int64_t i = 0; i < n; i++) {
            wide_put(a.data, *param, i + zero * a.ld, 0);
            wide_put(a.data, *param, i + other * a.ld, 0);
        }
        keep(&a);
        int64_t *ipiv = make_pivots(n), info = -1;
        JEXPECT_OK(JLAPACK_CALL(*param, getrf, handle, n, n, a.data, a.ld, ipiv, &info));
        JEXPECT_EQ(info, zero + 1);
        expect_factor(&a, ipiv);

        MATRIX(b, *param, n, 2);
        JEXPECT_OK(
            JLAPACK_CALL(*param, gesv, handle, n, 2, a.before, a.ld, ipiv, b.data, b.ld, &info));
        JEXPECT_EQ(info, zero + 1);
        JEXPECT_EQ(memcmp(b.data, b.before, b.bytes), 0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Elements whose reciprocals overflow, and others near the largest. */
EACH_TYPE(FactorsTinyAndHugeMatrices) {
    jhandle_t *handle = make_handle(0);
    const bool single = wide_real_of(*param) == JDATATYPE_F32;
    for (int64_t round = jtest_iterations(12); round > 0 && !jtest_has_failure(); --round) {
        const int64_t m = jtest_random_between(1, 30), n = jtest_random_between(1, 30);
        const int exponent = round % 2 == 0 ? (single ? -141 : -1058) : (single ? 120 : 1015);
        MATRIX(a, *param, m, n);
        MATRIX(plain, *param, m, n);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++) {
                /* Integers: so that what is scaled by a power of 2 stays exact. */
                const wide_t value = jtest_random_between(-100, 100);
                wide_put(a.data, *param, i + j * a.ld, value * ldexpl(1, exponent));
                wide_put(plain.data, *param, i + j * plain.ld, value);
            }
        int64_t *ipiv = make_pivots(smaller(m, n)), *pivots = make_pivots(smaller(m, n));
        int64_t info = -1, plain_info = -1;
        JEXPECT_OK(JLAPACK_CALL(*param, getrf, handle, m, 1, a.data, a.ld, ipiv, &info));
        JEXPECT_OK(
            JLAPACK_CALL(*param, getrf, handle, m, 1, plain.data, plain.ld, pivots, &plain_info));
        JEXPECT_EQ(info, plain_info);
        JEXPECT_EQ(ipiv[0], pivots[0]);
        for (int64_t i = 1; i < m; i++)
            JASSERT_TRUE(wide_abs(now_at(&a, i, 0) - now_at(&plain, i, 0)) <=
                         8 * wide_epsilon(*param));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* NaN and infinity, wherever they stand, end nowhere but in the result. */
EACH_TYPE(EndsWithNanAndInfinity) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(200); round > 0 && !jtest_has_failure(); --round) {
        const int64_t m = jtest_random_between(1, round % 8 == 0 ? 100 : 20),
                      n = jtest_random_between(1, round % 8 == 0 ? 100 : 20);
        MATRIX(a, *param, m, n);
        for (int64_t odd = jtest_random_between(1, 3); odd > 0; odd--)
            wide_put(a.data, *param,
                     jtest_random_between(0, m - 1) + a.ld * jtest_random_between(0, n - 1),
                     round % 2 == 0 ? NAN : INFINITY);
        const int64_t count = smaller(m, n);
        int64_t *ipiv = make_pivots(count), info = -1;
        JEXPECT_OK(JLAPACK_CALL(*param, getrf, handle, m, n, a.data, a.ld, ipiv, &info));
        for (int64_t i = 0; i < count; i++)
            JASSERT_TRUE(ipiv[i] > i && ipiv[i] <= m);
        expect_padding(&a);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Solves ---- */

/* |op(A) X - B| element by element, with the growth that LU may have: that of the norm. */
static void expect_solution(const matrix_t *a, jblas_operation_t trans, const matrix_t *x) {
    const int64_t n = a->rows;
    const long double gamma = 3 * gamma_of(a->type, n) * (long double)n;
    for (int64_t j = 0; j < x->columns; j++) {
        long double largest = 0;
        for (int64_t i = 0; i < n; i++)
            largest = fmaxl(largest, wide_abs(now_at(x, i, j)));
        for (int64_t i = 0; i < n; i++) {
            wide_t sum = 0;
            for (int64_t k = 0; k < n; k++) {
                wide_t e = trans == JBLAS_NO_TRANSPOSE ? before_at(a, i, k) : before_at(a, k, i);
                if (trans == JBLAS_CONJUGATE_TRANSPOSE)
                    __imag__ e = -__imag__ e;
                sum += e * now_at(x, k, j);
            }
            JASSERT_TRUE(wide_abs(sum - before_at(x, i, j)) <= gamma * largest * (long double)n);
        }
    }
}

EACH_TYPE(SolvesWithEachOperation) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(24); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = draw_size(round, 160), nrhs = jtest_random_between(0, 9);
        const jblas_operation_t trans =
            (jblas_operation_t)jtest_random_between(JBLAS_NO_TRANSPOSE, JBLAS_CONJUGATE_TRANSPOSE);
        MATRIX(a, *param, n, n);
        MATRIX(b, *param, n, nrhs);
        int64_t *ipiv = make_pivots(n), info = -1;
        JSCOPED_TRACE("n %ld, nrhs %ld, op %d", (long)n, (long)nrhs, (int)trans);
        if (trans == JBLAS_NO_TRANSPOSE && round % 2 == 0) {
            JEXPECT_OK(JLAPACK_CALL(*param, gesv, handle, n, nrhs, a.data, a.ld, ipiv, b.data, b.ld,
                                    &info));
        } else {
            JEXPECT_OK(JLAPACK_CALL(*param, getrf, handle, n, n, a.data, a.ld, ipiv, &info));
            JEXPECT_OK(JLAPACK_CALL(*param, getrs, handle, trans, n, nrhs, a.data, a.ld, ipiv,
                                    b.data, b.ld));
        }
        JEXPECT_EQ(info, 0);
        expect_solution(&a, trans, &b);
        expect_padding(&b);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Workspace, threads, streams ---- */

static jstatus_t do_gesv(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const b = x->operand[1];
    return JLAPACK_CALL(a->type, gesv, handle, a->rows, b->columns, a->data, a->ld, x->ipiv,
                        b->data, b->ld, &x->info);
}

EACH_TYPE(AnyWorkspaceAndThreadsGiveTheSameBits) {
    MATRIX(a, *param, 300, 300);
    MATRIX(b, *param, 300, 40);
    jlapack_case_t gesv = JLAPACK_CASE(gesv, &a, &b);
    gesv.ipiv = make_pivots(300);
    expect_same_bits(&gesv);
}

static jstatus_t do_getrf(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0];
    return JLAPACK_CALL(a->type, getrf, handle, a->rows, a->columns, a->data, a->ld, x->ipiv,
                        &x->info);
}

/* The same of larger ones, by a vector: |P^T A x - L U x| <= gamma |L||U||x|. */
static void expect_factor_by_vector(const matrix_t *a, const int64_t *ipiv) {
    enum { MOST = 520 };
    const int64_t m = a->rows, n = a->columns, count = smaller(m, n);
    long double x[MOST], middle_bound[MOST];
    wide_t product[MOST], middle[MOST];
    JASSERT_LE(larger(m, n), MOST);

    for (int64_t j = 0; j < n; j++)
        x[j] = jtest_random_between(1, 9);
    for (int64_t i = 0; i < m; i++) {
        product[i] = 0;
        for (int64_t j = 0; j < n; j++)
            product[i] += before_at(a, i, j) * x[j];
    }
    for (int64_t i = 0; i < count; i++) {
        JASSERT_TRUE(ipiv[i] > i && ipiv[i] <= m);
        const wide_t here = product[i];
        product[i] = product[ipiv[i] - 1], product[ipiv[i] - 1] = here;

        middle[i] = 0, middle_bound[i] = 0;
        for (int64_t j = i; j < n; j++) {
            middle[i] += now_at(a, i, j) * x[j];
            middle_bound[i] += wide_abs(now_at(a, i, j)) * x[j];
        }
    }

    for (int64_t i = 0; i < m; i++) {
        wide_t sum = i < count ? middle[i] : 0;
        long double bound = i < count ? middle_bound[i] : 0;
        for (int64_t k = 0; k < i && k < count; k++) {
            sum += now_at(a, i, k) * middle[k];
            bound += wide_abs(now_at(a, i, k)) * middle_bound[k];
        }
        JASSERT_TRUE(wide_abs(sum - product[i]) <= gamma_of(a->type, count) * bound);
    }
}

/* So large that threads take the next panel and chunks of what is behind it; wide, tall, and in
 * halves that are in panels. */
EACH_TYPE(SharedColumnsHaveTheSameBits) {
    static const struct {
        int64_t m, n, most_in_panels;
    } shapes[] = {{300, 500, 2048}, {520, 490, 2048}, {510, 490, 256}};
    const int64_t most_in_panels = ji_lu_panels;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        MATRIX(a, *param, shapes[i].m, shapes[i].n);
        jlapack_case_t getrf = JLAPACK_CASE(getrf, &a);
        getrf.ipiv = make_pivots(smaller(shapes[i].m, shapes[i].n));
        ji_lu_panels = shapes[i].most_in_panels;
        expect_same_bits(&getrf);
        expect_factor_by_vector(&a, getrf.ipiv);
    }
    ji_lu_panels = most_in_panels;
}

EACH_TYPE(EachAllocationMayFail) {
    MATRIX(a, *param, 200, 200);
    MATRIX(b, *param, 200, 3);
    jlapack_case_t gesv = JLAPACK_CASE(gesv, &a, &b);
    gesv.ipiv = make_pivots(200);
    expect_each_allocation_may_fail(&gesv);
}

/* On a created stream, in device pointer mode, nothing waits: info comes with the work. */
JTEST(JlapackLu, InfoFollowsThePointerMode) {
    enum { N = 60 };
    jhandle_t *handle = make_handle(0);
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    for (int mode = JPOINTER_MODE_HOST; mode <= JPOINTER_MODE_DEVICE; ++mode) {
        MATRIX(a, JDATATYPE_F64, N, N);
        MATRIX(b, JDATATYPE_F64, N, 3);
        int64_t ipiv[N], info = -1;
        JEXPECT_OK(jhandle_set_pointer_mode(handle, (jpointer_mode_t)mode));
        JEXPECT_OK(jlapack_dgesv(handle, N, 3, a.data, a.ld, ipiv, b.data, b.ld, &info));
        if (mode == JPOINTER_MODE_DEVICE)
            JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
        JEXPECT_EQ(info, 0);
        expect_solution(&a, JBLAS_NO_TRANSPOSE, &b);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

/* ---- Refusals ---- */

JTEST(JlapackLu, RefusesWhatIsWrongByName) {
    double a[4] = {1, 2, 3, 4}, b[2] = {1, 2};
    int64_t ipiv[2] = {1, 2}, info = -7;
    jhandle_t *h = make_handle(0);
    const jblas_operation_t plain = JBLAS_NO_TRANSPOSE, odd = JBLAS_CONJUGATE;

#define REFUSED(...) JLAPACK_REFUSED(h, __VA_ARGS__)
    REFUSED(jlapack_dgetrf(h, -1, 2, a, 2, ipiv, &info), JSTATUS_INVALID_SIZE, "dgetrf: m = -1");
    REFUSED(jlapack_dgetrf(h, 2, -1, a, 2, ipiv, &info), JSTATUS_INVALID_SIZE, "n = -1");
    REFUSED(jlapack_dgetrf(h, 2, 2, a, 1, ipiv, &info), JSTATUS_INVALID_SIZE, "lda = 1");
    REFUSED(jlapack_dgetrf(h, 2, 2, NULL, 2, ipiv, &info), JSTATUS_INVALID_POINTER, "a is NULL");
    REFUSED(jlapack_dgetrf(h, 2, 2, a, 2, NULL, &info), JSTATUS_INVALID_POINTER, "ipiv is NULL");
    REFUSED(jlapack_dgetrf(h, 2, 2, a, 2, ipiv, NULL), JSTATUS_INVALID_POINTER, "info is NULL");
    REFUSED(jlapack_dgetrs(h, odd, 2, 1, a, 2, ipiv, b, 2), JSTATUS_INVALID_VALUE, "trans = 114");
    REFUSED(jlapack_dgetrs(h, plain, 2, -1, a, 2, ipiv, b, 2), JSTATUS_INVALID_SIZE, "nrhs = -1");
    REFUSED(jlapack_dgetrs(h, plain, 2, 1, a, 2, ipiv, b, 1), JSTATUS_INVALID_SIZE, "ldb = 1");
    REFUSED(jlapack_dgetrs(h, plain, 2, 1, a, 2, NULL, b, 2), JSTATUS_INVALID_POINTER, "ipiv");
    REFUSED(jlapack_dgesv(h, 2, 1, a, 2, ipiv, NULL, 2, &info), JSTATUS_INVALID_POINTER, "b is");
    REFUSED(jlapack_dgesv(h, 2, 1, a, 2, ipiv, b, 2, NULL), JSTATUS_INVALID_POINTER, "info is");
#undef REFUSED
    JEXPECT_EQ(info, -7);
    JEXPECT_EQ(a[0], 1);

    JEXPECT_OK(jlapack_dgetrf(h, 0, 2, NULL, 1, NULL, &info));
    JEXPECT_EQ(info, 0);
    JEXPECT_OK(jlapack_dgetrs(h, plain, 0, 1, NULL, 1, NULL, NULL, 1));
    JEXPECT_OK(jhandle_destroy(h));
    JEXPECT_STATUS(jlapack_dgetrf(NULL, 2, 2, a, 2, ipiv, &info), JSTATUS_INVALID_HANDLE);
}

JTEST(JlapackLu, ADeviceThatLacksItSaysSo) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    options.device = &pretend_gpu_make()->device;
    JASSERT_OK(jhandle_create(&options, &handle));
    double a[4] = {1, 2, 3, 4};
    int64_t ipiv[2], info = -7;
    JEXPECT_STATUS(jlapack_dgetrf(handle, 2, 2, a, 2, ipiv, &info), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "jlapack_dgetrf is not offered on");
    JEXPECT_EQ(info, -7);
    JEXPECT_OK(jhandle_destroy(handle));
}
