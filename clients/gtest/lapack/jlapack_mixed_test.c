/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Solves by a factorization in floats and refinement, dsgesv and dsposv and their complex twins:
 * the backward error element by element, and that what does not converge is solved in full, with
 * the bits of gesv and posv. */

#include <float.h>
#include <math.h>

#include "blas/blas.h"
#include "jlapack_helper.h"

static const int mixed_types[] = {JDATATYPE_F64, JDATATYPE_F64_C};
#define EACH_TYPE(name) JTEST_P_NAMED(JlapackMixed, name, int, mixed_types, jlapack_type_name)

/* ---- Calls ---- */

typedef struct mixed {
    bool definite;
    jblas_uplo_t uplo;
    int64_t n, nrhs;
    matrix_t *a, *b, *x;
    int64_t *ipiv, iter, info;
} mixed_t;

static jstatus_t solve(jhandle_t *handle, mixed_t *m) {
    const bool is_complex = wide_is_complex(m->a->type);
    m->iter = m->info = -777;
    if (m->definite)
        return (is_complex
                    ? jlapack_zcposv(handle, m->uplo, m->n, m->nrhs, m->a->data, m->a->ld,
                                     m->b->data, m->b->ld, m->x->data, m->x->ld, &m->iter, &m->info)
                    : jlapack_dsposv(handle, m->uplo, m->n, m->nrhs, m->a->data, m->a->ld,
                                     m->b->data, m->b->ld, m->x->data, m->x->ld, &m->iter,
                                     &m->info));
    return (is_complex
                ? jlapack_zcgesv(handle, m->n, m->nrhs, m->a->data, m->a->ld, m->ipiv, m->b->data,
                                 m->b->ld, m->x->data, m->x->ld, &m->iter, &m->info)
                : jlapack_dsgesv(handle, m->n, m->nrhs, m->a->data, m->a->ld, m->ipiv, m->b->data,
                                 m->b->ld, m->x->data, m->x->ld, &m->iter, &m->info));
}

/* gesv or posv over other memory: what A and X are to be. */
static void solve_in_full(const mixed_t *m, matrix_t *a, matrix_t *x, int64_t *ipiv,
                          int64_t *info) {
    jhandle_t *handle = make_handle(0);
    memcpy(a->data, m->a->before, a->bytes);
    for (int64_t j = 0; j < m->nrhs; j++)
        for (int64_t i = 0; i < m->n; i++)
            wide_put(x->data, x->type, i + j * x->ld, before_at(m->b, i, j));
    if (m->definite)
        JEXPECT_OK(JLAPACK_CALL(a->type, posv, handle, m->uplo, m->n, m->nrhs, a->data, a->ld,
                                x->data, x->ld, info));
    else
        JEXPECT_OK(JLAPACK_CALL(a->type, gesv, handle, m->n, m->nrhs, a->data, a->ld, ipiv, x->data,
                                x->ld, info));
    JEXPECT_OK(jhandle_destroy(handle));
}
static void expect_in_full(const mixed_t *m) {
    MATRIX(a, m->a->type, m->n, m->n);
    MATRIX(x, m->a->type, m->n, m->nrhs);
    a.ld = m->a->ld, x.ld = m->x->ld; /* the same places */
    a.data = jtest_guard_pages(m->a->bytes), x.data = jtest_guard_pages(m->x->bytes);
    a.bytes = m->a->bytes, x.bytes = m->x->bytes;
    int64_t *ipiv = jtest_guard_pages((size_t)m->n * sizeof *ipiv), info = -1;
    solve_in_full(m, &a, &x, ipiv, &info);
    JEXPECT_EQ(m->info, info);
    for (int64_t j = 0; j < m->n; j++)
        for (int64_t i = 0; i < m->n; i++)
            JASSERT_TRUE(memcmp((char *)a.data + (i + j * a.ld) * (int64_t)(8 << (a.type / 2)),
                                (char *)m->a->data + (i + j * a.ld) * (int64_t)(8 << (a.type / 2)),
                                (size_t)8 << (a.type / 2)) == 0);
    for (int64_t j = 0; j < m->nrhs && info == 0; j++)
        for (int64_t i = 0; i < m->n; i++)
            JASSERT_TRUE(now_at(&x, i, j) == now_at(m->x, i, j));
    if (!m->definite)
        JEXPECT_EQ(memcmp(ipiv, m->ipiv, (size_t)m->n * sizeof *ipiv), 0);
}

/* ---- Problems ---- */

static mixed_t draw_mixed(int64_t most) {
    return (mixed_t){.definite = jtest_random_between(0, 1),
                     .uplo = draw_uplo(),
                     .n = jtest_random_between(1, most),
                     .nrhs = jtest_random_between(1, 12)};
}
#define MIXED(m, type)                                                                             \
    MATRIX(a_of_m, type, m.n, m.n);                                                                \
    MATRIX(b_of_m, type, m.n, m.nrhs);                                                             \
    MATRIX(x_of_m, type, m.n, m.nrhs);                                                             \
    m.a = &a_of_m, m.b = &b_of_m, m.x = &x_of_m;                                                   \
    m.ipiv = jtest_guard_pages((size_t)m.n * sizeof *m.ipiv)

/* Well conditioned but for its rows, which have any size; what is not read is NaN. */
static void make_mixed(const mixed_t *m, int type) {
    if (m->definite)
        make_definite(m->a);
    for (int64_t j = 0; j < m->n; j++)
        for (int64_t i = 0; i < m->n; i++) {
            wide_t value = now_at(m->a, i, j);
            if (!m->definite)
                value = (value + (i == (j + 1) % m->n ? (long double)m->n : 0)) *
                        ldexpl(1, (int)(i * 7 % 23) - 11);
            else if (!is_stored(m->uplo, i, j))
                value = NAN;
            wide_put(m->a->data, type, i + j * m->a->ld, value);
        }
    keep(m->a);
}

static wide_t a_at(const mixed_t *m, int64_t i, int64_t j) {
    if (!m->definite)
        return before_at(m->a, i, j);
    const wide_t value =
        is_stored(m->uplo, i, j) ? before_at(m->a, i, j) : conjugate(before_at(m->a, j, i));
    return i == j ? (wide_t) __real__ value : value;
}
static long double size_1(wide_t value) { return fabsl(__real__ value) + fabsl(__imag__ value); }

/* What the header promises, and what the residual in doubles adds to what is measured. */
static void expect_backward(const mixed_t *m) {
    const long double n = (long double)m->n,
                      bound = (sqrtl(n) + 3 + (n + 2) * (wide_is_complex(m->a->type) ? 2 : 1)) *
                              wide_epsilon(m->a->type);
    long double worst = 0;
    for (int64_t j = 0; j < m->nrhs; j++)
        for (int64_t i = 0; i < m->n; i++) {
            wide_t r = before_at(m->b, i, j);
            long double size = size_1(r);
            for (int64_t k = 0; k < m->n; k++) {
                r -= a_at(m, i, k) * now_at(m->x, k, j);
                size += size_1(a_at(m, i, k)) * size_1(now_at(m->x, k, j));
            }
            worst = fmaxl(worst, size == 0 ? size_1(r) : size_1(r) / size);
        }
    JSCOPED_TRACE("backward error %Lg, at most %Lg", worst, bound);
    JASSERT_TRUE(worst <= bound);
}

/* ---- Tests ---- */

/* Until it is put back floats are tried whatever the sizes. */
static ji_tuning_t always_mixed(void) {
    const ji_tuning_t saved = ji_host_tuning;
    ji_host_tuning.mixed_least[0] = ji_host_tuning.mixed_least[1] = 0;
    return saved;
}

EACH_TYPE(SolvesToFullBackwardError) {
    const ji_tuning_t saved = always_mixed();
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(32); round > 0 && !jtest_has_failure(); --round) {
        mixed_t m = draw_mixed(round % 4 == 0 ? 90 : 20);
        JSCOPED_TRACE("definite %d, uplo %d, n %ld, nrhs %ld", m.definite, (int)m.uplo, (long)m.n,
                      (long)m.nrhs);
        MIXED(m, *param);
        make_mixed(&m, *param);
        for (int64_t i = 0; i < m.n; i++) { /* columns of any size, and of zeros */
            wide_put(m.b->data, *param, i, now_at(m.b, i, 0) * ldexpl(1, -990));
            if (m.nrhs > 1)
                wide_put(m.b->data, *param, i + m.b->ld, now_at(m.b, i, 1) * ldexpl(1, 900));
            if (m.nrhs > 2)
                wide_put(m.b->data, *param, i + 2 * m.b->ld, 0);
        }
        keep(m.b);
        JEXPECT_OK(solve(handle, &m));
        JEXPECT_EQ(m.info, 0);
        JASSERT_TRUE(m.iter >= 0 && m.iter <= 30);
        expect_backward(&m);
        JEXPECT_EQ(memcmp(m.a->data, m.a->before, m.a->bytes), 0);
        JEXPECT_EQ(memcmp(m.b->data, m.b->before, m.b->bytes), 0);
        expect_padding(m.x);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    ji_host_tuning = saved;
}

/* |A||x| is below the largest number, and |b| + |A||x| may be above. */
EACH_TYPE(SumsThatOverflowHideNoError) {
    const ji_tuning_t saved = always_mixed();
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(32); round > 0 && !jtest_has_failure(); --round) {
        mixed_t m = draw_mixed(60);
        JSCOPED_TRACE("definite %d, uplo %d, n %ld, nrhs %ld", m.definite, (int)m.uplo, (long)m.n,
                      (long)m.nrhs);
        MIXED(m, *param);
        make_mixed(&m, *param);
        long double most = 1; /* that of X */
        for (int64_t i = 0; i < m.n; i++) {
            long double size = 0;
            for (int64_t k = 0; k < m.n; k++)
                size += size_1(a_at(&m, i, k));
            most = fmaxl(most, size);
        }
        for (int64_t i = 0; i < m.n; i++) { /* of an X whose elements are all the same */
            wide_t sum = 0;
            for (int64_t k = 0; k < m.n; k++)
                sum += a_at(&m, i, k);
            for (int64_t j = 0; j < m.nrhs; j++)
                wide_put(m.b->data, *param, i + j * m.b->ld, sum * (0.9L * DBL_MAX / most));
        }
        keep(m.b);
        JEXPECT_OK(solve(handle, &m));
        JASSERT_TRUE(m.info == 0 && m.iter >= 0);
        expect_backward(&m);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    ji_host_tuning = saved;
}

/* What floats cannot do: an element that is none, a matrix that they take for singular, one whose
 * refinement is too slow, and NaN. */
EACH_TYPE(SolvesTheRestInFull) {
    const ji_tuning_t saved = always_mixed();
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(32); round > 0 && !jtest_has_failure(); --round) {
        mixed_t m = draw_mixed(40);
        m.n += 3;
        m.definite = m.definite && round % 4 != 2;
        MIXED(m, *param);
        make_mixed(&m, *param);
        const int kind = (int)(round % 4);
        JSCOPED_TRACE("kind %d, definite %d, uplo %d, n %ld", kind, m.definite, (int)m.uplo,
                      (long)m.n);
        if (kind == 0) /* beyond floats */
            wide_put(m.a->data, *param, 0, 1e40L);
        if (kind == 1) /* singular in both */
            for (int64_t i = 0; i < m.n; i++)
                for (int64_t j = 0; j < m.n; j++)
                    if (!m.definite ? j == 1 : is_stored(m.uplo, i, j) && (i == 1 || j == 1))
                        wide_put(m.a->data, *param, i + j * m.a->ld, 0);
        for (int64_t j = 0; j < m.n && kind == 2; j++) /* two rows differ by what no float sees */
            wide_put(m.a->data, *param, 1 + j * m.a->ld,
                     now_at(m.a, 0, j) * (1 + 1e-11L * (j % 5)));
        keep(m.a);
        if (kind == 3)
            wide_put(m.b->data, *param, 0, INFINITY);
        keep(m.b);
        JEXPECT_OK(solve(handle, &m));
        if (kind == 0)
            JEXPECT_EQ(m.iter, -2);
        if (kind == 1)
            JEXPECT_EQ(m.iter, -3);
        if (kind == 2)
            JEXPECT_TRUE(m.iter == -3 || m.iter == -31);
        if (kind == 3)
            JEXPECT_EQ(m.iter, -31);
        JEXPECT_EQ(m.info != 0, kind == 1);
        if (kind != 3)
            expect_in_full(&m);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    ji_host_tuning = saved;
}

/* Less than the best rung wants, or the policy of same bits: as gesv, and iter says -1. With the
 * bytes of the query, and any number of threads, the same bits. */
EACH_TYPE(TakesWhatWorkspaceThereIs) {
    const ji_tuning_t saved = always_mixed();
    for (int definite = 0; definite < 2; definite++) {
        mixed_t m = {.definite = definite, .uplo = JBLAS_LOWER, .n = 150, .nrhs = 9};
        MIXED(m, *param);
        make_mixed(&m, *param);
        jhandle_t *handle = make_handle(0);
        JEXPECT_OK(jhandle_set_threads(handle, 1));
        JEXPECT_OK(solve(handle, &m));
        char *const wanted = malloc(m.x->bytes);
        memcpy(wanted, m.x->data, m.x->bytes);

        size_t bytes = 0;
        JEXPECT_OK(jhandle_start_size_query(handle));
        JEXPECT_FALSE(jstatus_is_error(solve(handle, &m)));
        JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
        const size_t sizes[] = {bytes, bytes - 64, bytes / 8 / 64 * 64, 0};
        for (size_t k = 0; k < 4; k++) {
            JSCOPED_TRACE("%zu of %zu bytes", sizes[k], bytes);
            if (sizes[k] > 0)
                JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(sizes[k]), sizes[k]));
            else
                JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, 0));
            memcpy(m.a->data, m.a->before, m.a->bytes);
            memcpy(m.x->data, m.x->before, m.x->bytes);
            JEXPECT_STATUS(solve(handle, &m), k == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
            if (k == 0) {
                JEXPECT_TRUE(m.iter >= 0);
                JEXPECT_EQ(memcmp(m.x->data, wanted, m.x->bytes), 0);
            } else {
                JEXPECT_EQ(m.iter, -1);
                expect_in_full(&m);
            }
        }
        JEXPECT_OK(jhandle_destroy(handle));

        jstream_t *stream = NULL;
        JASSERT_OK(jstream_create(jdevice_host(), &stream));
        for (int k = 0; k < 3; k++) {
            handle = make_handle(0);
            JEXPECT_OK(jhandle_set_threads(handle, 2));
            if (k == 1)
                JEXPECT_OK(jhandle_set_stream(handle, stream));
            if (k == 2)
                JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_SAME_BITS));
            memcpy(m.a->data, m.a->before, m.a->bytes);
            memcpy(m.x->data, m.x->before, m.x->bytes);
            JEXPECT_FALSE(jstatus_is_error(solve(handle, &m)));
            JEXPECT_EQ(m.info, 0);
            JEXPECT_EQ(m.iter == -1, k == 2);
            if (k < 2)
                JEXPECT_EQ(memcmp(m.x->data, wanted, m.x->bytes), 0);
            else
                expect_in_full(&m);
            JEXPECT_OK(jhandle_destroy(handle));
        }
        JEXPECT_OK(jstream_destroy(stream));

        for (uint64_t n = 1, failed = 1; failed != 0 && !jtest_has_failure(); n++) {
            handle = make_handle(0);
            memcpy(m.a->data, m.a->before, m.a->bytes);
            memcpy(m.x->data, m.x->before, m.x->bytes);
            const uint64_t before = jtest_allocation_count();
            jtest_fail_allocation_after(n);
            const jstatus_t status = solve(handle, &m);
            failed = jtest_allocation_count() - before >= n;
            jtest_fail_allocation_after(0);
            if (jstatus_is_error(status)) {
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                JEXPECT_EQ(memcmp(m.x->data, m.x->before, m.x->bytes), 0);
                JEXPECT_EQ(memcmp(m.a->data, m.a->before, m.a->bytes), 0);
                JEXPECT_EQ(m.iter, -777);
            } else if (m.iter < 0) {
                expect_in_full(&m);
            } else {
                JEXPECT_EQ(memcmp(m.x->data, wanted, m.x->bytes), 0);
            }
            JEXPECT_OK(jhandle_destroy(handle));
        }
        free(wanted);
    }
    ji_host_tuning = saved;
}

/* What is small, or has many right-hand sides, would be slower than gesv or posv: it is the same.
 */
EACH_TYPE(SolvesSmallOnesInFull) {
    for (int k = 0; k < 4; k++) {
        mixed_t m = {.definite = k % 2 == 1, .uplo = JBLAS_LOWER, .n = 150, .nrhs = 1};
        if (k == 2) /* large enough, but for the right-hand sides */
            m.n = 400, m.nrhs = 7;
        if (k == 3)
            m.definite = false, m.n = 400, m.nrhs = 6;
        MIXED(m, *param);
        make_mixed(&m, *param);
        jhandle_t *handle = make_handle(0);
        JEXPECT_OK(solve(handle, &m));
        JEXPECT_EQ(m.info, 0);
        JEXPECT_EQ(m.iter >= 0, k == 3);
        if (k < 3)
            expect_in_full(&m);
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

JTEST(JlapackMixed, RefusesWhatIsWrongByName) {
    double a[4] = {4, 1, 1, 4}, b[2] = {1, 2}, x[2] = {-7, -7};
    int64_t ipiv[2] = {1, 2}, iter = -7, info = -7;
    jhandle_t *h = make_handle(0);
    const jblas_uplo_t up = JBLAS_UPPER;

    JLAPACK_REFUSED(h, jlapack_dsgesv(h, -1, 1, a, 2, ipiv, b, 2, x, 2, &iter, &info),
                    JSTATUS_INVALID_SIZE, "dsgesv: n = -1");
    JLAPACK_REFUSED(h, jlapack_dsgesv(h, 2, 1, a, 2, ipiv, b, 2, x, 1, &iter, &info),
                    JSTATUS_INVALID_SIZE, "ldx = 1");
    JLAPACK_REFUSED(h, jlapack_dsgesv(h, 2, 1, a, 2, ipiv, b, 2, x, 2, NULL, &info),
                    JSTATUS_INVALID_POINTER, "iter is NULL");
    JLAPACK_REFUSED(h, jlapack_dsgesv(h, 2, 1, a, 2, NULL, b, 2, x, 2, &iter, &info),
                    JSTATUS_INVALID_POINTER, "ipiv is NULL");
    JLAPACK_REFUSED(h, jlapack_dsposv(h, (jblas_uplo_t)7, 2, 1, a, 2, b, 2, x, 2, &iter, &info),
                    JSTATUS_INVALID_VALUE, "dsposv: uplo = 7");
    JLAPACK_REFUSED(h, jlapack_dsposv(h, up, 2, 1, a, 2, NULL, 2, x, 2, &iter, &info),
                    JSTATUS_INVALID_POINTER, "b is NULL");
    JEXPECT_TRUE(iter == -7 && info == -7 && x[0] == -7);

    JEXPECT_OK(jlapack_dsgesv(h, 0, 1, NULL, 1, NULL, NULL, 1, NULL, 1, &iter, &info));
    JEXPECT_TRUE(iter == 0 && info == 0);
    iter = info = -7;
    JEXPECT_OK(jlapack_dsposv(h, up, 2, 0, a, 2, b, 2, x, 2, &iter, &info));
    JEXPECT_TRUE(iter == -1 && info == 0);
    JEXPECT_OK(jhandle_destroy(h));
}
