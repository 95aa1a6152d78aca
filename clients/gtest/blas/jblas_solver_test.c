/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the solvers say of matrices that cannot be solved with: info, as LAPACK has it. */

#include "jblas_routines.h"

#include <math.h>
#include <string.h>

static const int triangular_inverses[] = {BLAS_INDEX_strtri, BLAS_INDEX_dtrtri, BLAS_INDEX_ctrtri,
                                          BLAS_INDEX_ztrtri};
static const int factorizations[] = {BLAS_INDEX_spotrf, BLAS_INDEX_dpotrf, BLAS_INDEX_cpotrf,
                                     BLAS_INDEX_zpotrf};

static int64_t info_of(const blas_case_t *c) {
    return (int64_t) __real__ wide_get(c->operand[1].data, WIDE_I64, 0);
}

static void set_diagonal(blas_case_t *c, int64_t i, wide_t value) {
    blas_operand_t *a = &c->operand[0];
    wide_put(a->data, a->element, blas_index(a, 0, i, i), value);
    memcpy(a->before, a->region, a->region_bytes);
}

/* A zero on the diagonal: nothing is computed, its 1-based place is told, the status is success. */
JTEST_P(JblasSolver, TrtriTellsTheFirstZeroOnTheDiagonal, int, triangular_inverses) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t round = jtest_iterations(20); round > 0 && !jtest_has_failure(); --round) {
        BLAS_CASE(c, &blas_functions[*param], .low = 1, .high = round % 4 == 0 ? 150 : 20);
        const int64_t zero = jtest_random_between(1, c->n),
                      other = jtest_random_between(zero, c->n);
        if (c->diag == JBLAS_UNIT)
            continue; /* its diagonal is not looked at; JblasCorrect holds NaN there */
        set_diagonal(c, zero - 1, 0);
        set_diagonal(c, other - 1, 0);
        JSCOPED_TRACE("%s, zero at %ld", blas_describe(c), (long)zero);
        JEXPECT_OK(blas_call(handle, c));
        JEXPECT_EQ(info_of(c), zero);
        memset(c->operand[1].data, 0xff, sizeof(int64_t));
        blas_unchanged(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The order of the first leading minor that is not positive, whether by a negative number or a NaN;
 * the factor of the minor before it is there; everything outside of the triangle stays as it
 * was. */
JTEST_P(JblasSolver, PotrfTellsTheFirstMinorThatIsNotPositive, int, factorizations) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t round = jtest_iterations(20); round > 0 && !jtest_has_failure(); --round) {
        BLAS_CASE(c, &blas_functions[*param], .low = 1, .high = round % 4 == 0 ? 200 : 20);
        const int64_t bad = jtest_random_between(1, c->n), other = jtest_random_between(bad, c->n);
        /* Of the whole matrix: up to `bad` it is the same factor. */
        c->function->routine->reference(c);
        set_diagonal(c, other - 1, -3);
        set_diagonal(c, bad - 1, round % 3 == 0 ? (wide_t)NAN : round % 3 == 1 ? 0 : -1);
        JSCOPED_TRACE("%s, bad at %ld", blas_describe(c), (long)bad);
        JEXPECT_OK(blas_call(handle, c));
        JEXPECT_EQ(info_of(c), bad);
        blas_operand_t *a = &c->operand[0];
        for (int64_t j = 0; j < c->n; ++j)
            for (int64_t i = 0; i < c->n; ++i)
                if (!blas_is_part(a, i, j))
                    JASSERT_TRUE(isnan(
                        (double)__real__ wide_get(a->data, a->element, blas_index(a, 0, i, j))));
                else if (i < bad - 1 && j < bad - 1)
                    JASSERT_NEAR(
                        (double)wide_abs(wide_get(a->data, a->element, blas_index(a, 0, i, j)) -
                                         *wide_at(a->want[0], i, j)),
                        0, (double)(64 * wide_epsilon(a->element) * (long double)c->n));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* In stream order and device pointer mode info comes with the work. */
JTEST(JblasSolver, InfoFollowsThePointerMode) {
    jhandle_t *handle = NULL;
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    for (int mode = JPOINTER_MODE_HOST; mode <= JPOINTER_MODE_DEVICE; ++mode)
        for (int bad = 0; bad <= 40; bad += 20) {
            BLAS_CASE(c, &blas_functions[BLAS_INDEX_dpotrf], .low = 60, .high = 60);
            JEXPECT_OK(jhandle_set_pointer_mode(handle, (jpointer_mode_t)mode));
            if (bad)
                set_diagonal(c, bad - 1, -1);
            JEXPECT_OK(blas_call(handle, c));
            if (mode == JPOINTER_MODE_DEVICE)
                JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
            JEXPECT_EQ(info_of(c), bad);
        }
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

/* potrf, then potrs, on either triangle: the residual of the whole system. */
JTEST(JblasSolver, FactorThenSolve) {
    enum { N = 150, RIGHT_SIDES = 5 };
    static double a[N * N], l[N * N], x[N * RIGHT_SIDES], b[N * RIGHT_SIDES];
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int uplo = JBLAS_UPPER; uplo <= JBLAS_LOWER; ++uplo) {
        int64_t info = -1;
        for (int j = 0; j < N; ++j)
            for (int i = 0; i <= j; ++i)
                a[i + j * N] = a[j + i * N] = i == j ? 3 : jtest_random_double(-1, 1) / N;
        for (int i = 0; i < N * RIGHT_SIDES; ++i)
            x[i] = b[i] = jtest_random_double(-1, 1);
        memcpy(l, a, sizeof a);
        JEXPECT_OK(jlapack_dpotrf(handle, (jblas_uplo_t)uplo, N, l, N, &info));
        JEXPECT_EQ(info, 0);
        JEXPECT_OK(jlapack_dpotrs(handle, (jblas_uplo_t)uplo, N, RIGHT_SIDES, l, N, x, N));
        for (int j = 0; j < RIGHT_SIDES; ++j)
            for (int i = 0; i < N; ++i) {
                double sum = 0;
                for (int k = 0; k < N; ++k)
                    sum += a[i + k * N] * x[k + j * N];
                JASSERT_NEAR(sum, b[i + j * N], 1e-13);
            }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}
