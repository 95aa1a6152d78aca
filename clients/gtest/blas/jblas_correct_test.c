/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Every function against naive loops in higher precision. The cases (jblas_case.c) hold NaN
 * wherever BLAS says that nothing is read, so a right answer here also means: C is not read when
 * beta is 0, A and B not when alpha is 0, nor the other triangle, a unit diagonal, or the imaginary
 * part of a Hermitian diagonal. */

#include "jblas_routines.h"

#include <math.h>
#include <string.h>

JTEST_EACH_FUNCTION(JblasCorrect, RandomArguments) {
    jhandle_t *handle = blas_make_handle(NULL);
    bool right = true;
    for (int64_t i = jtest_iterations(120); i > 0 && right; --i) {
        BLAS_CASE(c, param, .guard_before = i % 4 == 0);
        JEXPECT_OK(jhandle_set_pointer_mode(handle, i % 3 == 0 ? JPOINTER_MODE_DEVICE
                                                               : JPOINTER_MODE_HOST));
        right = blas_call_is_right(handle, c, blas_call);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Sizes that blocked algorithms divide into blocks, with all the work done. */
JTEST_EACH_FUNCTION(JblasCorrect, LargeSizes) {
    static const int64_t low[] = {0, 4000, 200, 90}, high[] = {0, 20000, 500, 170}; /* by level */
    const int level = param->routine->level;
    jhandle_t *handle = blas_make_handle(NULL);
    bool right = true;
    for (int64_t i = jtest_iterations(level == 3 ? 1 : 4); i > 0 && right; --i) {
        BLAS_CASE(c, param, .low = low[level], .high = high[level], .plain = true);
        right = blas_call_is_right(handle, c, blas_call);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* 0 means not read, whatever else is asked. */
JTEST_EACH_FUNCTION(JblasCorrect, ZeroScalarsReadNothing) {
    jhandle_t *handle = blas_make_handle(NULL);
    blas_zero_scalars_read_nothing(handle, param, blas_call);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The product of three real ones and the packed triangles begin at sizes of their own; a few orders
 * around powers of two. */
JTEST(JblasCorrect, LevelThreeAroundBlockBoundaries) {
    static const int functions[] = {BLAS_INDEX_zgemm,  BLAS_INDEX_cgemm,  BLAS_INDEX_dtrsm,
                                    BLAS_INDEX_ztrsm,  BLAS_INDEX_strsm,  BLAS_INDEX_dtrtri,
                                    BLAS_INDEX_ztrtri, BLAS_INDEX_dpotrf, BLAS_INDEX_cpotrf,
                                    BLAS_INDEX_dtrmm};
    static const int64_t orders[] = {1,  2,  15, 16,  17,  31,  32,  33,
                                     63, 64, 65, 127, 128, 129, 191, 257};
    jhandle_t *handle = blas_make_handle(NULL);
    bool right = true;
    for (size_t f = 0; f < sizeof functions / sizeof *functions && right; ++f)
        for (size_t i = 0; i < sizeof orders / sizeof *orders && right; ++i) {
            if (orders[i] > 140 && jtest_random_between(0, 3) > 0)
                continue;
            BLAS_CASE(c, &blas_functions[functions[f]], .low = orders[i], .high = orders[i],
                      .plain = true);
            right = blas_call_is_right(handle, c, blas_call);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Element (i, j) of op(X), of what the operand was. */
static wide_t operated_at(const blas_operand_t *o, jblas_operation_t operation, int64_t i,
                          int64_t j) {
    const bool plain = !ji_is_transposed(operation);
    const unsigned char *data = o->before + (o->data - o->region);
    wide_t value =
        wide_get(data, o->element, plain ? blas_index(o, 0, i, j) : blas_index(o, 0, j, i));
    if (ji_is_conjugated(operation))
        __imag__ value = -__imag__ value;
    return value;
}

static void product_is_right_somewhere(blas_case_t *c, int count) {
    const blas_operand_t *a = &c->operand[0], *b = &c->operand[1], *o = &c->operand[2];
    for (; count > 0; --count) {
        const int64_t i = jtest_random_between(0, c->m - 1), j = jtest_random_between(0, c->n - 1);
        wide_t sum = 0;
        long double bound = 0;
        for (int64_t l = 0; l < c->k; ++l) {
            const wide_t x = operated_at(a, c->transa, i, l), y = operated_at(b, c->transb, l, j);
            sum += x * y;
            bound += wide_abs(x) * wide_abs(y);
        }
        const wide_t old = operated_at(o, JBLAS_NO_TRANSPOSE, i, j),
                     want = c->alpha * sum + c->beta * old;
        const wide_t got = wide_get(o->data, o->element, blas_index(o, 0, i, j));
        bound = wide_abs(c->alpha) * bound + wide_abs(c->beta) * wide_abs(old);
        JASSERT_LE((double)wide_abs(got - want),
                   (double)(4 * wide_epsilon(o->element) * (long double)(c->k + 8) * bound));
    }
}

/* Three real products begin to pay where the whole reference would take long; some elements of it
 * are enough. By each rung, in workspace of exactly its bytes, beside an inaccessible page. */
JTEST(JblasCorrect, ThreeRealProducts) {
    static const int functions[] = {BLAS_INDEX_cgemm, BLAS_INDEX_zgemm};
    jhandle_t *handle = blas_make_handle(NULL);
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_NORMWISE));
    for (size_t f = 0; f < 2; ++f) {
        BLAS_CASE(c, &blas_functions[functions[f]], .low = 512, .high = f == 0 ? 560 : 512,
                  .plain = true);
        size_t bytes = 0;
        JEXPECT_OK(jhandle_start_size_query(handle));
        (void)blas_call(handle, c);
        JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
        JASSERT_GT(bytes, 64);
        for (int round = 0; round < 2; ++round) {
            const size_t given = round ? bytes - 64 : bytes;
            JSCOPED_TRACE("%s, %zu of %zu bytes", blas_describe(c), given, bytes);
            JEXPECT_OK(jhandle_set_workspace(
                handle, blas_guard_pages(given, (int)c->function->type), given));
            blas_restore(c);
            JEXPECT_STATUS(blas_call(handle, c), round ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
            product_is_right_somewhere(c, 300);
        }
        JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* C may be A or B where they are not transposed. */
JTEST(JblasCorrect, GeamInPlace) {
    enum { M = 37, N = 21, LD = 40 };
    static double a[LD * N], b[LD * N], c[LD * N], want[LD * N];
    jhandle_t *handle = blas_make_handle(NULL);
    for (int round = 0; round < 8; ++round) {
        const jblas_operation_t operation = round & 1 ? JBLAS_TRANSPOSE : JBLAS_NO_TRANSPOSE;
        const bool into_a = round & 2;
        const double alpha = round & 4 ? 0 : 2, beta = 3, *other = b;
        const int64_t other_ld = operation == JBLAS_NO_TRANSPOSE ? LD : N;
        for (int i = 0; i < LD * N; ++i)
            a[i] = jtest_random_double(-1, 1), b[i] = jtest_random_double(-1, 1);
        memcpy(c, a, sizeof c);
        memcpy(want, a, sizeof want);
        for (int j = 0; j < N; ++j)
            for (int i = 0; i < M; ++i) {
                const double second =
                    operation == JBLAS_NO_TRANSPOSE ? b[i + j * LD] : b[j + i * N];
                want[i + j * LD] = into_a ? alpha * a[i + j * LD] + beta * second
                                          : alpha * second + beta * a[i + j * LD];
            }
        if (into_a)
            JEXPECT_OK(jblas_dgeam(handle, JBLAS_NO_TRANSPOSE, operation, M, N, &alpha, c, LD,
                                   &beta, other, other_ld, c, LD));
        else
            JEXPECT_OK(jblas_dgeam(handle, operation, JBLAS_NO_TRANSPOSE, M, N, &alpha, other,
                                   other_ld, &beta, c, LD, c, LD));
        for (int i = 0; i < LD * N; ++i)
            JASSERT_NEAR(c[i], want[i], 1e-14);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- NaN and infinity ---- */

static bool is_nan(wide_t a) { return isnan(__real__ a) || isnan(__imag__ a); }
static bool is_finite(wide_t a) { return isfinite(__real__ a) && isfinite(__imag__ a); }

/* Puts a value into a random element that is read; false when the case has none. */
static bool poison(blas_case_t *c, long double value) {
    int readable[BLAS_OPERANDS], count = 0;
    for (int which = 0; which < BLAS_OPERANDS; ++which) {
        const blas_operand_t *o = &c->operand[which];
        const bool diagonal_only =
            (o->rows == 1 && o->columns == 1) || (o->is_band && o->below == 0 && o->above == 0);
        if (o->kind != BLAS_NONE && !blas_is_by_mode(o->kind) && !o->unread && o->rows > 0 &&
            o->columns > 0 && !(diagonal_only && o->part >= BLAS_STRICTLY_UPPER))
            readable[count++] = which;
    }
    if (count == 0)
        return false;
    blas_operand_t *o = &c->operand[readable[jtest_random_between(0, count - 1)]];
    int64_t i, j;
    do {
        i = jtest_random_between(0, o->rows - 1);
        j = jtest_random_between(0, o->columns - 1);
    } while (!blas_is_part(o, i, j));
    wide_put(o->data, o->element, blas_index(o, 0, i, j), value);
    memcpy(o->before, o->region, o->region_bytes);
    return true;
}

/* What the reference says is NaN is NaN, what it says is not finite is not, and the rest is finite;
 * but a CBLAS may multiply with what it has padded triangles with: trmm and trsm do, and OpenBLAS's
 * symv for Prescott. (jblas_residual_test.c has jblas's own of level 3.) */
JTEST_EACH_FUNCTION(JblasNan, ReachesWhatDependsOnIt) {
    if (strncmp(param->routine->name, "potrf", 5) == 0 ||
        strncmp(param->routine->name, "trtri", 5) == 0)
        /* Potrf: in jblas_solver_test.c; the inverse: what a NaN reaches depends on the order of
         * steps. */
        return;
    const bool spreads = (param->routine->level == 3 || !blas_is_own()) &&
                         strchr(param->routine->signature, 'U') != NULL;
    jhandle_t *handle = blas_make_handle(NULL);
    for (int64_t i = jtest_iterations(16); i > 0 && !jtest_has_failure(); --i) {
        BLAS_CASE(c, param, .low = 1, .high = param->routine->level == 1 && i > 8 ? 6000 : 40,
                  .plain = true);
        /* b / infinity is 0 or NaN, as one divides. */
        const bool nan = i % 2 || c->operand[0].dominance != BLAS_PLAIN;
        if (!poison(c, nan ? NAN : INFINITY))
            continue;
        JEXPECT_OK(blas_call(handle, c));
        c->function->routine->reference(c);
        for (int which = 0; which < BLAS_OPERANDS; ++which) {
            const blas_operand_t after = blas_after_the_call(&c->operand[which]), *o = &after;
            if (!o->written)
                continue;
            if (o->element == WIDE_I64) /* iamax finds it */
                JEXPECT_TRUE(wide_get(o->data, WIDE_I64, 0) == *o->want[0].e);
            for (int64_t column = 0; column < o->columns; ++column)
                for (int64_t row = 0; row < o->rows; ++row) {
                    if (!blas_is_part(o, row, column))
                        continue;
                    const wide_t got = wide_get(o->data, o->element, blas_index(o, 0, row, column));
                    const wide_t want = *wide_at(o->want[0], row, column);
                    if ((nan && is_nan(want) && !is_nan(got)) ||
                        (!is_finite(want) && is_finite(got)) ||
                        (is_finite(want) && !is_finite(got) && !spreads)) {
                        JFAIL("%s: element (%ld, %ld) is %Lg%+Lgi, should be %Lg%+Lgi",
                              blas_describe(c), (long)row, (long)column, __real__ got, __imag__ got,
                              __real__ want, __imag__ want);
                        row = o->rows, column = o->columns;
                    }
                }
        }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A NaN in one column of B says nothing about the others. */
JTEST(JblasNan, StaysInItsColumnOfASolve) {
    jhandle_t *handle = blas_make_handle(NULL);
    for (int64_t round = jtest_iterations(8); round > 0; --round) {
        BLAS_CASE(c, &blas_functions[BLAS_INDEX_dtrsm], .low = 20, .high = 90, .plain = true);
        blas_operand_t *b = &c->operand[1];
        const bool left = c->side == JBLAS_LEFT;
        const int64_t line = jtest_random_between(0, (left ? b->columns : b->rows) - 1);
        wide_put(b->data, b->element, left ? blas_index(b, 0, 0, line) : blas_index(b, 0, line, 0),
                 NAN);
        JEXPECT_OK(blas_call(handle, c));
        for (int64_t j = 0; j < b->columns; ++j)
            for (int64_t i = 0; i < b->rows; ++i)
                if ((left ? j : i) != line)
                    JASSERT_TRUE(is_finite(wide_get(b->data, b->element, blas_index(b, 0, i, j))));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Squares of these overflow and underflow; the norm does not, whether it is one block or many. */
JTEST(JblasNan, NormNeitherOverflowsNorUnderflows) {
    static double x[10000];
    static float y[10000];
    static const int64_t sizes[] = {1, 2, 7, 4096, 4097, 10000};
    static const double scales[] = {1e300, 1e-300, 1e-310, 1.0};
    jhandle_t *handle = blas_make_handle(NULL);
    for (size_t s = 0; s < 4; ++s)
        for (size_t i = 0; i < 6; ++i) {
            const int64_t n = sizes[i];
            const float small = s == 0 ? 1e36f : s == 1 ? 1e-36f : s == 2 ? 1e-41f : 1;
            double norm = 0;
            float norm_f32 = 0;
            for (int64_t j = 0; j < n; ++j)
                x[j] = j % 2 ? scales[s] : -scales[s], y[j] = j % 2 ? small : -small;
            JSCOPED_TRACE("n %ld, elements %g", (long)n, scales[s]);
            JEXPECT_OK(jblas_dnrm2(handle, n, x, 1, &norm));
            JEXPECT_NEAR(norm / scales[s], sqrt((double)n),
                         scales[s] < 1e-300 ? 1e-9 * sqrt((double)n) : 1e-12 * (double)n);
            JEXPECT_OK(jblas_snrm2(handle, n, y, 1, &norm_f32));
            JEXPECT_NEAR(norm_f32 / small, sqrt((double)n), 1e-3 * sqrt((double)n));
        }
    x[5000] = INFINITY;
    double norm = 0;
    JEXPECT_OK(jblas_dnrm2(handle, 10000, x, 1, &norm));
    JEXPECT_TRUE(isinf(norm));
    x[6000] = NAN;
    JEXPECT_OK(jblas_dnrm2(handle, 10000, x, 1, &norm));
    JEXPECT_TRUE(isnan(norm));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The first of several largest elements. */
JTEST(JblasNan, IamaxTakesTheFirstOfEqualElements) {
    double x[40];
    jhandle_t *handle = blas_make_handle(NULL);
    for (int64_t round = jtest_iterations(200); round > 0; --round) {
        const int64_t n = jtest_random_between(1, 40), first = jtest_random_between(1, n);
        int64_t place = -1;
        for (int64_t i = 0; i < n; ++i)
            x[i] = i + 1 < first ? jtest_random_double(-0.5, 0.5) : jtest_random_bool() ? -2 : 1;
        x[first - 1] = jtest_random_bool() ? 2 : -2;
        JEXPECT_OK(jblas_idamax(handle, n, x, 1, &place));
        JASSERT_EQ(place, first);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}
