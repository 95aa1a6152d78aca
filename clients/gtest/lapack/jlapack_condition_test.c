/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Reciprocal condition numbers, gecon, pocon and trcon, held against inverses in long double, whose
 * range is that of all products here. */

#include <math.h>

#include "jlapack_helper.h"

#define EACH_TYPE(name) JLAPACK_EACH_TYPE(JlapackCondition, name)

/* ---- Calls, with anorm and rcond as numbers ---- */

typedef struct real {
    union {
        float s;
        double d;
    };
} real_t;
static real_t real_from(int type, double value) {
    real_t real;
    if (type % 2 == JDATATYPE_F32)
        real.s = (float)value;
    else
        real.d = value;
    return real;
}
static double real_of(int type, const real_t *real) {
    return type % 2 == JDATATYPE_F32 ? (double)real->s : real->d;
}

typedef enum kind { GECON, POCON, TRCON, KINDS } kind_t;
typedef struct condition {
    kind_t kind;
    jlapack_norm_t norm;
    jblas_uplo_t uplo;
    jblas_diagonal_t diag;
} condition_t;

static condition_t draw_condition(void) {
    return (condition_t){(kind_t)jtest_random_between(0, KINDS - 1),
                         jtest_random_between(0, 1) ? JLAPACK_ONE_NORM : JLAPACK_INFINITY_NORM,
                         draw_uplo(), jtest_random_between(0, 1) ? JBLAS_UNIT : JBLAS_NON_UNIT};
}

static jstatus_t call(jhandle_t *handle, const condition_t *c, const matrix_t *a, real_t *anorm,
                      real_t *rcond) {
    void *const norm = anorm, *const result = rcond;
    switch (c->kind) {
    case GECON:
        return JLAPACK_CALL(a->type, gecon, handle, c->norm, a->rows, a->data, a->ld, norm, result);
    case POCON:
        return JLAPACK_CALL(a->type, pocon, handle, c->uplo, a->rows, a->data, a->ld, norm, result);
    default:
        return JLAPACK_CALL(a->type, trcon, handle, c->norm, c->uplo, c->diag, a->rows, a->data,
                            a->ld, result);
    }
}

/* ---- What is expected ---- */

static wide_t in_triangle(const matrix_t *a, jblas_uplo_t uplo, bool unit, int64_t i, int64_t j) {
    if (i == j && unit)
        return 1;
    return is_stored(uplo, i, j) ? before_at(a, i, j) : 0;
}

/* x = inv(T) x, or inv(T^H) x. */
static void substitute(const matrix_t *a, jblas_uplo_t uplo, bool unit, bool adjoint, wide_t *x) {
    const int64_t n = a->rows;
    const bool forward = (uplo == JBLAS_LOWER) != adjoint;
    for (int64_t turn = 0; turn < n; turn++) {
        const int64_t i = forward ? turn : n - 1 - turn;
        for (int64_t done = 0; done < turn; done++) {
            const int64_t k = forward ? done : n - 1 - done;
            x[i] -= (adjoint ? conjugate(in_triangle(a, uplo, unit, k, i))
                             : in_triangle(a, uplo, unit, i, k)) *
                    x[k];
        }
        const wide_t pivot = in_triangle(a, uplo, unit, i, i);
        x[i] /= adjoint ? conjugate(pivot) : pivot;
    }
}

/* Of the matrix that `a` is the factor of, and of a triangle. */
static long double norm_of_inverse(const condition_t *c, const matrix_t *a) {
    const int64_t n = a->rows;
    wide_t *x = calloc((size_t)n + 1, sizeof *x);
    long double *rows = calloc((size_t)n + 1, sizeof *rows), most = 0;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < n; i++)
            x[i] = i == j;
        if (c->kind == GECON) {
            substitute(a, JBLAS_LOWER, true, false, x);
            substitute(a, JBLAS_UPPER, false, false, x);
        } else {
            substitute(a, c->uplo, c->kind == TRCON && c->diag == JBLAS_UNIT,
                       c->kind == POCON && c->uplo == JBLAS_UPPER, x);
        }
        if (c->kind == POCON)
            substitute(a, c->uplo, false, c->uplo == JBLAS_LOWER, x);
        long double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += wide_abs(x[i]), rows[i] += wide_abs(x[i]);
        most = fmaxl(most, sum);
    }
    if (c->kind != POCON && c->norm == JLAPACK_INFINITY_NORM) {
        most = 0;
        for (int64_t i = 0; i < n; i++)
            most = fmaxl(most, rows[i]);
    }
    free(x), free(rows);
    return most;
}

static long double norm_of_triangle(const condition_t *c, const matrix_t *a) {
    const bool by_rows = c->norm == JLAPACK_INFINITY_NORM;
    long double most = 0;
    for (int64_t j = 0; j < a->rows; j++) {
        long double sum = 0;
        for (int64_t i = 0; i < a->rows; i++)
            sum += wide_abs(
                in_triangle(a, c->uplo, c->diag == JBLAS_UNIT, by_rows ? j : i, by_rows ? i : j));
        most = fmaxl(most, sum);
    }
    return most;
}

/* rcond, and what it would be if nothing were estimated or rounded. */
static double rcond_of(jhandle_t *handle, const condition_t *c, matrix_t *a, double anorm,
                       long double *exact) {
    real_t norm = real_from(a->type, anorm), rcond = real_from(a->type, -7);
    keep(a);
    JEXPECT_OK(call(handle, c, a, &norm, &rcond));
    JEXPECT_EQ(memcmp(a->data, a->before, a->bytes), 0);
    const long double of_a =
        c->kind == TRCON ? norm_of_triangle(c, a) : (long double)real_of(a->type, &norm);
    *exact = 1 / (of_a * norm_of_inverse(c, a));
    return real_of(a->type, &rcond);
}

/* The estimate is a lower bound of |inv(A)|, but for rounding, of which an ill conditioned inverse
 * has more; that it is no less than a tenth is no theorem, but so for any matrix met here. */
static void expect_estimate(const matrix_t *a, double rcond, long double exact) {
    const long double least = (long double)(wide_is_complex(a->type) ? 4 : 1) *
                              (long double)a->rows * wide_epsilon(a->type) / exact;
    JSCOPED_TRACE("rcond %g, exactly %Lg", rcond, exact);
    JASSERT_TRUE((long double)rcond >= exact * (1 - 1e-4L - 10 * least));
    JASSERT_TRUE((long double)rcond <= exact * 10);
}

/* What each kind takes: an LU of a random matrix, a Cholesky factor that dominates, a triangle of
 * modest condition. What is not read of these is NaN. */
static void make_factor(const condition_t *c, matrix_t *a) {
    const int64_t n = a->rows;
    if (c->kind == GECON) {
        int64_t *ipiv = calloc((size_t)n + 1, sizeof *ipiv), info = 0;
        jhandle_t *handle = make_handle(0);
        JEXPECT_OK(JLAPACK_CALL(a->type, getrf, handle, n, n, a->data, a->ld, ipiv, &info));
        JEXPECT_OK(jhandle_destroy(handle));
        free(ipiv);
        return;
    }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            const int64_t place = i + j * a->ld;
            const bool stored = is_stored(c->uplo, i, j);
            if (!stored || (i == j && c->kind == TRCON && c->diag == JBLAS_UNIT))
                wide_put(a->data, a->type, place, NAN);
            else if (i == j)
                wide_put(a->data, a->type, place, 0.5L + wide_abs(now_at(a, i, i)));
            else
                wide_put(a->data, a->type, place, now_at(a, i, j) * 2 / sqrtl((long double)n));
        }
}

/* ---- Estimates ---- */

EACH_TYPE(IsNearTheExactOne) {
    jhandle_t *handle = make_handle(0);
    long double sum = 0, count = 0;
    for (int64_t round = 60; round > 0 && !jtest_has_failure(); --round) { /* a mean wants many */
        const int64_t n = jtest_random_between(1, round % 8 == 0 ? 90 : 20);
        const condition_t c = draw_condition();
        MATRIX(a, *param, n, n);
        JSCOPED_TRACE("kind %d, norm %d, uplo %d, diag %d, n %ld", (int)c.kind, (int)c.norm,
                      (int)c.uplo, (int)c.diag, (long)n);
        make_factor(&c, &a);
        long double exact;
        const double rcond = rcond_of(handle, &c, &a, 0.25 + jtest_random_double(0, 1), &exact);
        if (exact > 100 * (long double)n * wide_epsilon(*param)) {
            expect_estimate(&a, rcond, exact);
            sum += rcond / exact, count++;
        }
    }
    JEXPECT_TRUE(sum <= 1.5L * count); /* it is the exact one mostly */
    JEXPECT_OK(jhandle_destroy(handle));
}

EACH_TYPE(IsOneOfAnEmptyMatrix) {
    jhandle_t *handle = make_handle(0);
    for (kind_t kind = GECON; kind < KINDS; kind++) {
        const condition_t c = {kind, JLAPACK_ONE_NORM, JBLAS_UPPER, JBLAS_NON_UNIT};
        const matrix_t a = {.type = *param, .ld = 1};
        real_t anorm = real_from(*param, 0), rcond = real_from(*param, -7);
        JEXPECT_OK(call(handle, &c, &a, &anorm, &rcond));
        JEXPECT_EQ(real_of(*param, &rcond), 1);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Near the ends of the range ---- */

/* Times a power of two the condition is what it was, though the inverse is near the largest number,
 * and sums of the triangle may be beyond it. */
EACH_TYPE(DoesNotDependOnScale) {
    jhandle_t *handle = make_handle(0);
    const int largest = *param % 2 == JDATATYPE_F32 ? 127 : 1023;
    for (int64_t round = jtest_iterations(24); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = jtest_random_between(1, 30);
        condition_t c = draw_condition();
        c.kind = TRCON, c.diag = JBLAS_NON_UNIT;
        MATRIX(a, *param, n, n);
        make_factor(&c, &a);
        long double exact;
        const double plain = rcond_of(handle, &c, &a, 1, &exact);
        const int by = round % 2 == 0 ? largest - 1 : 3 - largest;
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                wide_put(a.data, *param, i + j * a.ld, now_at(&a, i, j) * ldexpl(1, by));
        const double scaled = rcond_of(handle, &c, &a, 1, &exact);
        JSCOPED_TRACE("norm %d, uplo %d, n %ld, 2^%d: %g and %g, exactly %Lg", (int)c.norm,
                      (int)c.uplo, (long)n, by, plain, scaled, exact);
        JASSERT_TRUE(scaled >= plain * 0.99 && scaled <= plain * 1.01);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* inv(L) is far beyond the largest number, inv(U) inv(L) is not. */
EACH_TYPE(SolvesThroughWhatOverflows) {
    jhandle_t *handle = make_handle(0);
    const bool single = *param % 2 == JDATATYPE_F32;
    for (int64_t round = jtest_iterations(8); round > 0 && !jtest_has_failure(); --round) {
        /* By many steps, or by few that are too much for any number but a small one. */
        const bool few = round % 4 < 2;
        const int64_t n = !few ? jtest_random_between(27, 30) : single ? 5 : 7;
        const int below = few ? (single ? 40 : 200) : (single ? 5 : 40),
                  on = few ? (single ? 28 : 160) : (single ? 4 : 35);
        const condition_t c = {GECON, round % 2 == 0 ? JLAPACK_ONE_NORM : JLAPACK_INFINITY_NORM,
                               JBLAS_UPPER, JBLAS_NON_UNIT};
        MATRIX(a, *param, n, n);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                wide_put(a.data, *param, i + j * a.ld,
                         i == j       ? ldexpl(1 + wide_abs(now_at(&a, i, i)) / 8, on * (int)i)
                         : i == j + 1 ? -ldexpl(1, below)
                                      : 0);
        long double exact;
        const double rcond = rcond_of(handle, &c, &a, single ? 0x1p-20 : 0x1p-100, &exact);
        expect_estimate(&a, rcond, exact);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The exact one is far below the smallest number. */
EACH_TYPE(IsTinyOrZeroNearSingular) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(24); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = jtest_random_between(60, 90);
        condition_t c = draw_condition();
        c.diag = JBLAS_NON_UNIT;
        MATRIX(a, *param, n, n);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++) {
                const bool upper = c.kind == GECON || c.uplo == JBLAS_UPPER;
                wide_put(a.data, *param, i + j * a.ld,
                         i == j                    ? ldexpl(1, -25)
                         : (upper ? i < j : i > j) ? now_at(&a, i, j)
                                                   : 0);
            }
        long double exact;
        const double rcond = rcond_of(handle, &c, &a, 1, &exact);
        JSCOPED_TRACE("kind %d, n %ld: %g, exactly %Lg", (int)c.kind, (long)n, rcond, exact);
        JASSERT_TRUE(rcond >= 0 && rcond <= (double)(10 * exact) + 0x1p-126);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

EACH_TYPE(IsZeroOfASingularMatrix) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(24); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = jtest_random_between(1, 40), zero = jtest_random_between(0, n - 1);
        condition_t c = draw_condition();
        c.diag = JBLAS_NON_UNIT;
        MATRIX(a, *param, n, n);
        make_factor(&c, &a);
        wide_put(a.data, *param, zero * (a.ld + 1), 0);
        real_t anorm = real_from(*param, 1), rcond = real_from(*param, -7);
        JEXPECT_OK(call(handle, &c, &a, &anorm, &rcond));
        JASSERT_TRUE(real_of(*param, &rcond) == 0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Of anorm, and of what is in the factor. */
EACH_TYPE(SaysWhatNanAndInfinityAre) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(12); round > 0; --round) {
        const int64_t n = jtest_random_between(1, 40);
        condition_t c = draw_condition();
        c.diag = JBLAS_NON_UNIT;
        MATRIX(a, *param, n, n);
        make_factor(&c, &a);
        const double anorms[] = {NAN, -1, 0, INFINITY};
        for (int k = 0; k < 4 && c.kind != TRCON; k++) {
            real_t anorm = real_from(*param, anorms[k]), rcond = real_from(*param, -7);
            JEXPECT_OK(call(handle, &c, &a, &anorm, &rcond));
            const double found = real_of(*param, &rcond);
            JEXPECT_TRUE(k < 2 ? isnan(found) : found == 0);
        }
        const int64_t place = jtest_random_between(0, n - 1) * (a.ld + 1);
        real_t anorm = real_from(*param, 1), rcond = real_from(*param, -7);
        wide_put(a.data, *param, place, NAN);
        JEXPECT_OK(call(handle, &c, &a, &anorm, &rcond));
        JEXPECT_TRUE(isnan(real_of(*param, &rcond)));
        wide_put(a.data, *param, place, INFINITY);
        JEXPECT_OK(call(handle, &c, &a, &anorm, &rcond));
        const double found = real_of(*param, &rcond);
        JEXPECT_TRUE(c.kind == TRCON ? found == 0 : isnan(found)); /* whose norm is its own */
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Workspace, modes, failures ---- */

EACH_TYPE(NeedsExactlyThreeVectors) {
    enum { N = 77 };
    for (kind_t kind = GECON; kind < KINDS; kind++) {
        const condition_t c = {kind, JLAPACK_INFINITY_NORM, JBLAS_LOWER, JBLAS_NON_UNIT};
        MATRIX(a, *param, N, N);
        make_factor(&c, &a);
        real_t anorm = real_from(*param, 1), rcond = real_from(*param, -7), wanted;
        const size_t vector = (N * jdatatype_bytes((jdatatype_t)*param) + 63) / 64 * 64;
        size_t bytes = 0;
        jhandle_t *handle = make_handle(0);
        JEXPECT_OK(call(handle, &c, &a, &anorm, &wanted));
        JEXPECT_OK(jhandle_start_size_query(handle));
        JEXPECT_FALSE(jstatus_is_error(call(handle, &c, &a, NULL, NULL)));
        JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
        JEXPECT_EQ(bytes, 3 * vector);

        JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(bytes - 64), bytes - 64));
        JEXPECT_STATUS(call(handle, &c, &a, &anorm, &rcond), JSTATUS_MEMORY_ERROR);
        JEXPECT_EQ(real_of(*param, &rcond), -7);
        JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(bytes), bytes));
        for (int threads = 1; threads <= 2; threads++) {
            JEXPECT_OK(jhandle_set_threads(handle, threads));
            JEXPECT_OK(call(handle, &c, &a, &anorm, &rcond));
            JEXPECT_TRUE(real_of(*param, &rcond) == real_of(*param, &wanted));
        }
        JEXPECT_OK(jhandle_destroy(handle));

        for (uint64_t n = 1, failed = 1; failed != 0 && !jtest_has_failure(); n++) {
            handle = make_handle(0);
            rcond = real_from(*param, -7);
            const uint64_t before = jtest_allocation_count();
            jtest_fail_allocation_after(n);
            const jstatus_t status = call(handle, &c, &a, &anorm, &rcond);
            failed = jtest_allocation_count() - before >= n;
            jtest_fail_allocation_after(0);
            if (jstatus_is_error(status))
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            JEXPECT_TRUE(real_of(*param, &rcond) ==
                         (jstatus_is_error(status) ? -7 : real_of(*param, &wanted)));
            JEXPECT_OK(jhandle_destroy(handle));
        }
    }
}

/* On a created stream: anorm is read, and rcond written, when it is their turn. */
EACH_TYPE(TakesItsScalarsByPointerMode) {
    const condition_t c = {GECON, JLAPACK_ONE_NORM, JBLAS_LOWER, JBLAS_NON_UNIT};
    MATRIX(a, *param, 50, 50);
    make_factor(&c, &a);
    real_t anorm = real_from(*param, 3), rcond = real_from(*param, -7), wanted;
    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(call(handle, &c, &a, &anorm, &wanted));

    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_OK(call(handle, &c, &a, &anorm, &rcond));
    JEXPECT_TRUE(real_of(*param, &rcond) == real_of(*param, &wanted));
    rcond = real_from(*param, -7);
    JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE));
    JEXPECT_OK(call(handle, &c, &a, &anorm, &rcond));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_TRUE(real_of(*param, &rcond) == real_of(*param, &wanted));
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

/* ---- Refusals ---- */

JTEST(JlapackCondition, RefusesWhatIsWrongByName) {
    double a[4] = {4, 1, 1, 4}, anorm = 5, rcond = -7;
    jhandle_t *h = make_handle(0);
    const jlapack_norm_t one = JLAPACK_ONE_NORM, odd = (jlapack_norm_t)173;
    const jblas_uplo_t up = JBLAS_UPPER;

    JLAPACK_REFUSED(
        h, jlapack_dgecon(h, odd, 2, a, 2, &anorm, &rcond), JSTATUS_INVALID_VALUE,
        "dgecon: norm = 173: must be JLAPACK_ONE_NORM (171) or JLAPACK_INFINITY_NORM (175)");
    JLAPACK_REFUSED(h, jlapack_dgecon(h, one, -1, a, 2, &anorm, &rcond), JSTATUS_INVALID_SIZE,
                    "n = -1");
    JLAPACK_REFUSED(h, jlapack_dgecon(h, one, 2, a, 1, &anorm, &rcond), JSTATUS_INVALID_SIZE,
                    "lda = 1");
    JLAPACK_REFUSED(h, jlapack_dgecon(h, one, 2, NULL, 2, &anorm, &rcond), JSTATUS_INVALID_POINTER,
                    "a is NULL");
    JLAPACK_REFUSED(h, jlapack_dgecon(h, one, 2, a, 2, NULL, &rcond), JSTATUS_INVALID_POINTER,
                    "anorm is NULL");
    JLAPACK_REFUSED(h, jlapack_dgecon(h, one, 2, a, 2, &anorm, NULL), JSTATUS_INVALID_POINTER,
                    "rcond is NULL");
    JLAPACK_REFUSED(h, jlapack_dpocon(h, (jblas_uplo_t)7, 2, a, 2, &anorm, &rcond),
                    JSTATUS_INVALID_VALUE, "uplo = 7");
    JLAPACK_REFUSED(h, jlapack_dtrcon(h, one, up, (jblas_diagonal_t)7, 2, a, 2, &rcond),
                    JSTATUS_INVALID_VALUE, "diag = 7");
    JLAPACK_REFUSED(h, jlapack_dtrcon(h, odd, up, JBLAS_UNIT, 2, a, 2, &rcond),
                    JSTATUS_INVALID_VALUE, "norm = 173");
    JEXPECT_EQ(rcond, -7);
    JEXPECT_OK(jhandle_destroy(h));
}
