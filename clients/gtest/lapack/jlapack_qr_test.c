/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* QR on the host: geqrf, orgqr, ormqr and their complex names, held against the definition in long
 * double. */

#include "blas/kernels/kernels.h"
#include "core/team.h"
#include "jlapack_helper.h"

#include <pthread.h>
#include <stdatomic.h>

#define EACH_TYPE(name) JLAPACK_EACH_TYPE(JlapackQr, name)

/* ---- What holds of a factor ---- */

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
        const int64_t m = draw_size(round, 150), n = draw_size(round, 150);
        MATRIX(a, *param, m, n);
        MATRIX(tau, *param, smaller(m, n), 1);
        JSCOPED_TRACE("%ld x %ld, ld %ld", (long)m, (long)n, (long)a.ld);
        JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, m, n, a.data, a.ld, tau.data));
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
        JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, m, n, a.data, a.ld, tau.data));
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
        JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, m, 1, a.data, a.ld, tau.data));
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
        JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, n, n, a.data, a.ld, tau.data));
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
        const int64_t m = draw_size(round, 150), n = jtest_random_between(m / 2, m),
                      k = jtest_random_between(n / 2, n);
        MATRIX(a, *param, m, n);
        MATRIX(tau, *param, n, 1);
        JSCOPED_TRACE("%ld x %ld of %ld", (long)m, (long)n, (long)k);
        JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, m, n, a.data, a.ld, tau.data));
        wide_t *q = explicit_q(&a, &tau, k);
        JEXPECT_OK(JLAPACK_CALL_Q(*param, orgqr, ungqr, handle, m, n, k, a.data, a.ld, tau.data));
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++)
                JASSERT_TRUE(wide_abs(now_at(&a, i, j) - q[i + j * m]) <= bound_of(*param, k));
        expect_padding(&a);
        free(q);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

EACH_TYPE(MultipliesByQ) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(48); round > 0 && !jtest_has_failure(); --round) {
        const bool left = round % 2 == 0, plain = round / 2 % 2 == 0;
        const int64_t m = draw_size(round / 4, 150), n = draw_size(round / 4, 150),
                      order = left ? m : n, k = jtest_random_between(0, order);
        const jblas_operation_t trans = plain ? JBLAS_NO_TRANSPOSE : adjoint_of(*param, round / 4);
        MATRIX(a, *param, order, k);
        MATRIX(tau, *param, k, 1);
        MATRIX(c, *param, m, n);
        JSCOPED_TRACE("%ld x %ld of %ld, left %d, op %d", (long)m, (long)n, (long)k, left, trans);
        JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, order, k, a.data, a.ld, tau.data));
        wide_t *q = explicit_q(&a, &tau, k);
        keep(&a);
        JEXPECT_OK(JLAPACK_CALL_Q(*param, ormqr, unmqr, handle, left ? JBLAS_LEFT : JBLAS_RIGHT,
                                  trans, m, n, k, a.data, a.ld, tau.data, c.data, c.ld));
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
    JEXPECT_OK(JLAPACK_CALL_Q(type, ormqr, unmqr, handle, JBLAS_LEFT, JBLAS_NO_TRANSPOSE, m, SOME,
                              n, a->data, a->ld, tau->data, c.data, c.ld));
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
    JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, 830, 790, a.data, a.ld, tau.data));
    expect_large_factor(handle, &a, &tau);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Factored by another handle, a has the same bits. */
static void expect_same_without(jhandle_t *without, const matrix_t *a, const matrix_t *tau) {
    void *const again = malloc(a->bytes), *const taus = malloc(tau->bytes);
    memcpy(again, a->before, a->bytes), memcpy(taus, tau->data, tau->bytes);
    JEXPECT_FALSE(jstatus_is_error(
        JLAPACK_CALL(a->type, geqrf, without, a->rows, a->columns, again, a->ld, taus)));
    JEXPECT_EQ(memcmp(again, a->data, a->bytes), 0);
    JEXPECT_EQ(memcmp(taus, tau->data, tau->bytes), 0);
    free(taus), free(again);
}

/* Blocks of short columns, of which each reflector finds what the next one needs: random ones; of
 * sizes whose products are lost, or overflow; columns that are orthogonal, 0, short at first, or
 * copies of others. The same bits without workspace, and with two threads. */
EACH_TYPE(FactorsShortColumnsOfAnyKind) {
    jhandle_t *handle = make_handle(0), *without = make_handle(0);
    JEXPECT_OK(jhandle_set_threads(without, 2));
    JEXPECT_OK(jhandle_set_fixed_workspace_size(without, 0));
    const int far = wide_real_of(*param) == JDATATYPE_F32 ? 100 : 900;
    for (int64_t round = jtest_iterations(28); round > 0 && !jtest_has_failure(); --round) {
        const int kind = (int)(round % 7);
        const int64_t m = jtest_random_between(9, 70), n = jtest_random_between(8, 40),
                      own = jtest_random_between(0, 7);
        MATRIX(a, *param, m, n);
        MATRIX(tau, *param, smaller(m, n), 1);
        JSCOPED_TRACE("kind %d, %ld x %ld", kind, (long)m, (long)n);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++) {
                const bool special = j % 8 == own;
                wide_t value = now_at(&a, i, j);
                if (kind == 1)
                    value *= ldexpl(1, special ? -far : j % 3 == 0 ? -far / 2 : 0);
                else if (kind == 2)
                    value *= ldexpl(1, special ? far : 0);
                else if (kind == 3)
                    value *= i % 8 == j % 8;
                else if (kind == 4)
                    value *= !special;
                else if (kind == 5)
                    value *= j > own || i <= j + 1;
                else if (kind == 6 && special && j > 0)
                    value = now_at(&a, i, j / 2);
                wide_put(a.data, *param, i + j * a.ld, value);
            }
        keep(&a);
        JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, m, n, a.data, a.ld, tau.data));
        expect_factor(&a, &tau);
        expect_padding(&a);

        expect_same_without(without, &a, &tau);
    }
    JEXPECT_OK(jhandle_destroy(without));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* With AVX2 what it is with AVX-512: all sets of kernels that round a product and a sum once. */
EACH_TYPE(AnyFusedKernelsGiveTheSameBits) {
    jhandle_t *handle = make_handle(0);
    const ji_kernel_set_t *before = ji_kernels;
    for (int64_t round = jtest_iterations(12); round > 0 && !jtest_has_failure(); --round) {
        const int64_t m = jtest_random_between(1, 150), n = jtest_random_between(1, 60);
        MATRIX(a, *param, m, n);
        MATRIX(tau, *param, smaller(m, n), 1);
        JSCOPED_TRACE("%ld x %ld", (long)m, (long)n);
        void *const factor = malloc(a.bytes), *const taus = malloc(tau.bytes);
        for (size_t i = 0, fused = 0; ji_kernel_set_at(i) != NULL; i++) {
            if (!ji_kernel_set_is_here(ji_kernel_set_at(i)) || !ji_kernel_set_at(i)->fused)
                continue;
            ji_kernel_set_use(ji_kernel_set_at(i));
            memcpy(a.data, a.before, a.bytes);
            JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, m, n, a.data, a.ld, tau.data));
            if (fused++ == 0)
                memcpy(factor, a.data, a.bytes), memcpy(taus, tau.data, tau.bytes);
            JEXPECT_EQ(memcmp(factor, a.data, a.bytes), 0);
            JEXPECT_EQ(memcmp(taus, tau.data, tau.bytes), 0);
        }
        free(taus), free(factor);
    }
    ji_kernel_set_use(before);
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
        JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, M, N, a.data, a.ld, tau.data));
        for (int64_t l = 0; l < N; l++) /* what is 0 is not reflected, and has no tau */
            if (kind == 4 && l % 4 == 1)
                JEXPECT_TRUE(now_at(&a, l, l) == 0 && now_at(&tau, l, 0) == 0);
        if (kind != 4)
            expect_large_factor(handle, &a, &tau);
        expect_padding(&a);

        expect_same_without(without, &a, &tau);
    }
    JEXPECT_OK(jhandle_destroy(without));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Long columns by what their products say, and where these say too little: random ones, all
 * positive ones, powers of a number, some that are nearly combinations of those before them, or
 * whose first elements are nearly all of them. Any number of columns, in one block and in several;
 * the same bits without workspace, and with two threads. */
EACH_TYPE(FactorsLongColumnsOfAnyKind) {
    enum { M = 17000 };
    jhandle_t *handle = make_handle(0), *without = make_handle(0);
    JEXPECT_OK(jhandle_set_threads(without, 2));
    JEXPECT_OK(jhandle_set_fixed_workspace_size(without, 0));
    for (int64_t round = jtest_iterations(12); round > 0 && !jtest_has_failure(); --round) {
        const int kind = (int)(round % 6);
        const int64_t n = jtest_random_between(1, kind == 0 ? 70 : 36);
        MATRIX(a, *param, M, n);
        MATRIX(tau, *param, n, 1);
        JSCOPED_TRACE("kind %d, %ld columns", kind, (long)n);
        const int64_t step = jtest_random_between(2, 12);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < M; i++) {
                const long double place = (long double)(i + 1) / M;
                wide_t value = now_at(&a, i, j);
                if (kind == 1)
                    value = fabsl(__real__ value) * ldexpl(1, (int)(j % 5 * 4));
                else if (kind == 2)
                    value = j == 0 ? 1 : now_at(&a, i, j - 1) * place;
                else if (kind == 3 && j % step == step - 1)
                    value = now_at(&a, i, j - 1) - now_at(&a, i, j / 2) + value * 0x1p-12L;
                else if (kind == 4 && j % step == step - 1)
                    value *= i <= j ? 1 : 0x1p-10L;
                else if (kind == 5 && j % step == step - 1)
                    value = now_at(&a, i, j - 1);
                wide_put(a.data, *param, i + j * a.ld, value);
            }
        keep(&a);
        JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, M, n, a.data, a.ld, tau.data));
        expect_large_factor(handle, &a, &tau);
        for (int64_t j = 0; j < n; j++)
            JEXPECT_TRUE(__imag__ now_at(&a, j, j) == 0);
        expect_padding(&a);

        expect_same_without(without, &a, &tau);
    }
    JEXPECT_OK(jhandle_destroy(without));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* What has nothing below its diagonal stays as it is, however long it is. */
EACH_TYPE(LeavesWhatIsTriangularAndLong) {
    enum { M = 17000, N = 12 };
    jhandle_t *handle = make_handle(0);
    MATRIX(a, *param, M, N);
    MATRIX(tau, *param, N, 1);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = j; i < M; i++)
            wide_put(a.data, *param, i + j * a.ld, i == j ? 3 : 0);
    keep(&a);
    JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, M, N, a.data, a.ld, tau.data));
    for (int64_t j = 0; j < N; j++) {
        for (int64_t i = 0; i < M; i++)
            JASSERT_TRUE(now_at(&a, i, j) == before_at(&a, i, j));
        JEXPECT_TRUE(now_at(&tau, j, 0) == 0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* R's signs are LAPACK's: those that the heads of the columns had not when their turn came. */
EACH_TYPE(LongColumnsHaveTheSignsOfShortOnes) {
    enum { M = 17000, N = 32, SHORT = 900 };
    jhandle_t *handle = make_handle(0);
    MATRIX(a, *param, M, N);
    MATRIX(b, *param, SHORT, N);
    MATRIX(tau, *param, N, 1);
    for (int64_t j = 0; j < N; j++) /* with zeros behind what is short */
        for (int64_t i = 0; i < M; i++)
            wide_put(a.data, *param, i + j * a.ld, i < SHORT ? now_at(&b, i, j) : 0);
    JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, M, N, a.data, a.ld, tau.data));
    JEXPECT_OK(JLAPACK_CALL(*param, geqrf, handle, SHORT, N, b.data, b.ld, tau.data));
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < SHORT; i++)
            JASSERT_TRUE(wide_abs(now_at(&a, i, j) - now_at(&b, i, j)) <=
                         bound_of(*param, N) * (i > j ? 1 : 40));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Workspace, threads, streams ---- */

static jstatus_t do_geqrf(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const tau = x->operand[1];
    return JLAPACK_CALL(a->type, geqrf, handle, a->rows, a->columns, a->data, a->ld, tau->data);
}
static jstatus_t do_orgqr(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const tau = x->operand[1];
    return JLAPACK_CALL_Q(a->type, orgqr, ungqr, handle, a->rows, a->columns, a->columns, a->data,
                          a->ld, tau->data);
}
static jstatus_t do_ormqr(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const tau = x->operand[1], *const c = x->operand[2];
    return JLAPACK_CALL_Q(a->type, ormqr, unmqr, handle, JBLAS_RIGHT, JBLAS_NO_TRANSPOSE, c->rows,
                          a->rows, a->columns, a->data, a->ld, tau->data, c->data, c->ld);
}

static void expect_of_each(int type, void (*expect)(jlapack_case_t *)) {
    MATRIX(a, type, 300, 230);
    MATRIX(tau, type, 230, 1);
    MATRIX(c, type, 90, 300);
    jlapack_case_t cases[] = {JLAPACK_CASE(geqrf, &a, &tau), JLAPACK_CASE(orgqr, &a, &tau),
                              JLAPACK_CASE(ormqr, &a, &tau, &c)};
    expect(&cases[0]);
    keep(&a), keep(&tau); /* which are a factor now */
    expect(&cases[1]);
    expect(&cases[2]);
}

EACH_TYPE(AnyWorkspaceAndThreadsGiveTheSameBits) { expect_of_each(*param, expect_same_bits); }
/* Of more columns than caches hold, which are done at once where workspace has room for that. */
static jstatus_t do_ormqr_left(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const tau = x->operand[1], *const c = x->operand[2];
    return JLAPACK_CALL_Q(a->type, ormqr, unmqr, handle, JBLAS_LEFT, JBLAS_NO_TRANSPOSE, c->rows,
                          c->columns, tau->rows, a->data, a->ld, tau->data, c->data, c->ld);
}
static void expect_of_many_columns(int type, void (*expect)(jlapack_case_t *)) {
    enum { M = 150 };
    const int64_t n = 2300000 / (int64_t)ji_sizeof((jdatatype_t)type) / M;
    MATRIX(a, type, M, n);
    MATRIX(c, type, M, n);
    MATRIX(tau, type, M, 1);
    jlapack_case_t cases[] = {JLAPACK_CASE(geqrf, &a, &tau),
                              JLAPACK_CASE(ormqr_left, &a, &tau, &c)};
    expect(&cases[0]);
    keep(&a), keep(&tau);
    expect(&cases[1]);
}
EACH_TYPE(ManyColumnsHaveTheSameBits) { expect_of_many_columns(*param, expect_same_bits); }

/* Of columns that are pages apart, whose V lies by strips of rows where workspace has a room. */
static void expect_of_far_columns(int type, void (*expect)(jlapack_case_t *)) {
    enum { N = 90 };
    const int64_t m = 4300 / (int64_t)ji_sizeof((jdatatype_t)type);
    MATRIX(a, type, m, N);
    MATRIX(c, type, m, N);
    MATRIX(tau, type, N, 1);
    jlapack_case_t cases[] = {JLAPACK_CASE(geqrf, &a, &tau), JLAPACK_CASE(orgqr, &a, &tau),
                              JLAPACK_CASE(ormqr_left, &a, &tau, &c)};
    expect(&cases[0]);
    keep(&a), keep(&tau);
    expect(&cases[1]);
    expect(&cases[2]);
}
EACH_TYPE(AnyWorkspaceHasTheBitsOfFarColumns) { expect_of_far_columns(*param, expect_same_bits); }

EACH_TYPE(EachAllocationMayFail) { expect_of_each(*param, expect_each_allocation_may_fail); }

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

#define REFUSED(...) JLAPACK_REFUSED(h, __VA_ARGS__)
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
    /* Of several the first, in LAPACK's order. */
    REFUSED(jlapack_dorgqr(h, -1, 1, 2, a, 0, t), JSTATUS_INVALID_SIZE, "m = -1");
    REFUSED(jlapack_dorgqr(h, 1, 2, -1, a, 0, t), JSTATUS_INVALID_SIZE, "n = 2");
    REFUSED(jlapack_dorgqr(h, 2, -1, 2, a, 0, t), JSTATUS_INVALID_SIZE, "n = -1");
    REFUSED(jlapack_dorgqr(h, 2, 1, 2, a, 0, t), JSTATUS_INVALID_SIZE, "k = 2");
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
    REFUSED(jlapack_dormqr(h, left, plain, 1, 2, 2, a, 0, t, c, 0), JSTATUS_INVALID_SIZE, "k = 2");
    REFUSED(jlapack_dormqr(h, left, plain, -1, 2, 2, a, 0, t, c, 0), JSTATUS_INVALID_SIZE,
            "m = -1");
    REFUSED(jlapack_dormqr(h, left, odd, 1, 2, 2, a, 0, t, c, 0), JSTATUS_INVALID_VALUE, "trans");
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

/* ---- Threads ---- */

/* The fewest threads that a call of four has beside another, until it is told to stop. */
typedef struct beside {
    atomic_int fewest;
    atomic_bool stop;
} beside_t;

static void *lease_beside(void *argument) {
    beside_t *beside = argument;
    const ji_threads_t four = {.count = 4};
    while (!atomic_load(&beside->stop)) {
        ji_team_lease_t lease;
        ji_team_begin(&lease, &four, 4);
        ji_team_end(&lease);
        if (lease.count < atomic_load(&beside->fewest))
            atomic_store(&beside->fewest, lease.count);
    }
    return NULL;
}

/* The products of a step are those of a thread that is counted already. */
JTEST(JlapackQr, WhoWorksAloneIsOneBusyThread) {
    enum { N = 500 };
    const int processors = atomic_load(&ji_team_processors);
    beside_t beside = {.fewest = 4};
    pthread_t thread;
    MATRIX(a, JDATATYPE_F64, N, N);
    MATRIX(tau, JDATATYPE_F64, N, 1);
    jhandle_t *h = make_handle(0);
    JEXPECT_OK(jhandle_set_threads(h, 1));
    ji_team_make(4);
    atomic_store(&ji_team_processors, 4);

    JASSERT_EQ(pthread_create(&thread, NULL, lease_beside, &beside), 0);
    for (int round = 0; round < 5; round++)
        JEXPECT_OK(jlapack_dgeqrf(h, N, N, a.data, a.ld, tau.data));
    atomic_store(&beside.stop, true);
    pthread_join(thread, NULL);
    atomic_store(&ji_team_processors, processors);

    JEXPECT_GE(atomic_load(&beside.fewest), 3);
    JEXPECT_OK(jhandle_destroy(h));
}

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
