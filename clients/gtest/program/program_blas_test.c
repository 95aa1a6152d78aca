/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Requirements and programs of jblas and jlapack: each function is right, and degrades as it is
 * said, on each step of its staircase; programs of both run on what they need at least and at best,
 * in memory with a page behind it that nobody may touch. */

#include "jblas_routines.h"
#include "kernel_helper.h"

#include "jalloc/jlapack.h"
#include "jalloc/profile.h"

#include <stdlib.h>

/* ---- Each function ---- */

static jrequirement_t *requirement_of_case(jhandle_t *handle, blas_case_t *c) {
    jrequirement_t *requirement = NULL;
    JEXPECT_OK(jhandle_start_requirement_query(handle));
    JEXPECT_FALSE(jstatus_is_error(blas_call(handle, c)));
    JEXPECT_OK(jhandle_stop_requirement_query(handle, &requirement));
    return requirement;
}

JTEST_EACH_FUNCTION(JblasProgram, EachStepIsExact) {
    jhandle_t *handle = blas_make_handle(NULL);
    static const int64_t low[] = {0, 4000, 20, 40}, high[] = {0, 12000, 120, 100};
    for (int64_t round = jtest_iterations(2); round > 0 && !jtest_has_failure(); --round) {
        const int level = param->routine->level;
        const blas_wish_t wish = {.low = low[level], .high = high[level], .plain = true};
        blas_case_t *c = blas_case_create(param, &wish);
        jrequirement_t *requirement = requirement_of_case(handle, c);
        const jrequirement_info_t info = info_of(requirement);
        JEXPECT_EQ(info.optimal_bytes, blas_query(handle, c));
        JEXPECT_EQ(info.call_count, 1);
        for (size_t i = 0; i < info.step_count; ++i) {
            const jrequirement_step_t step = step_of(requirement, i);
            JSCOPED_TRACE("%s, step %zu, %zu bytes, %s", blas_describe(c), i, step.size_bytes,
                          step.rung);
            JEXPECT_SUBSTR(step.call, param->name);
            JEXPECT_GT(step.seconds, 0);
            if (i > 0)
                JEXPECT_LT(step.seconds, step_of(requirement, i - 1).seconds);
            lend_guarded(handle, step.size_bytes);
            JEXPECT_OK(jhandle_clear_stats(handle));
            blas_restore(c);
            JEXPECT_STATUS(blas_call(handle, c),
                           step.degraded_count > 0 ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
            blas_right(c);
            JEXPECT_EQ(stats_of(handle).degraded_count, step.degraded_count);
        }
        JEXPECT_OK(jrequirement_destroy(requirement));
        JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
        blas_case_free(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A call that was recorded is known when it is made. */
JTEST_EACH_FUNCTION(JblasProgram, ACallThatFollowsIsKnown) {
    jhandle_t *handle = blas_make_handle(NULL);
    static const int64_t high[] = {0, 12000, 120, 100};
    for (int64_t round = jtest_iterations(2); round > 0 && !jtest_has_failure(); --round) {
        const blas_wish_t wish = {.high = high[param->routine->level], .plain = true};
        blas_case_t *c = blas_case_create(param, &wish);
        JSCOPED_TRACE("%s", blas_describe(c));
        jprogram_t *program = NULL;
        JEXPECT_OK(jprogram_create(&program));
        JEXPECT_OK(jprogram_record(program, handle));
        JEXPECT_FALSE(jstatus_is_error(blas_call(handle, c)));
        JEXPECT_OK(jprogram_stop(program, handle));
        JEXPECT_OK(jprogram_choose(program, (size_t)1 << 30));
        JEXPECT_OK(jprogram_enter(program, 0));
        blas_restore(c);
        JEXPECT_OK(blas_call(handle, c));
        blas_right(c);
        JEXPECT_EQ(stats_of(handle).unplanned_count, 0);
        JEXPECT_OK(jprogram_destroy(program));
        blas_case_free(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Programs ---- */

enum { MOST_CASES = 6 };

JTEST(JblasProgram, RandomProgramsRunOnWhatTheyNeed) {
    jhandle_t *handle = blas_make_handle(NULL);
    for (int64_t round = jtest_iterations(25); round > 0 && !jtest_has_failure(); --round) {
        blas_case_t *cases[MOST_CASES];
        jrequirement_t *requirement = NULL;
        const size_t count = (size_t)jtest_random_between(1, MOST_CASES);
        JEXPECT_OK(jhandle_start_requirement_query(handle));
        for (size_t i = 0; i < count; ++i) {
            const blas_wish_t wish = {.high = 100, .plain = true};
            cases[i] = blas_case_create(
                &blas_functions[jtest_random_between(0, BLAS_FUNCTION_COUNT - 1)], &wish);
            JEXPECT_FALSE(jstatus_is_error(blas_call(handle, cases[i])));
        }
        JEXPECT_OK(jhandle_stop_requirement_query(handle, &requirement));

        const jrequirement_info_t info = info_of(requirement);
        for (int at_best = 0; at_best < 2; ++at_best) {
            lend_guarded(handle, at_best ? info.optimal_bytes : info.minimal_bytes);
            for (size_t i = 0; i < count; ++i) {
                JSCOPED_TRACE("%s", blas_describe(cases[i]));
                blas_restore(cases[i]);
                const jstatus_t status = blas_call(handle, cases[i]);
                JEXPECT_FALSE(jstatus_is_error(status));
                if (at_best)
                    JEXPECT_OK(status);
                blas_right(cases[i]);
            }
        }
        for (size_t i = 0; i < count; ++i)
            blas_case_free(cases[i]);
        JEXPECT_OK(jrequirement_destroy(requirement));
        JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

enum { ORDER = 150 };

/* LU, QR, solves and eigenvalues of one matrix or a part of it; statuses are counted. While
 * queried, operands are not looked at. */
static void factor(jhandle_t *handle, const double *a, uint64_t *degraded, uint64_t *failed) {
    enum { N = ORDER };
    double *x = malloc(sizeof *x * N * N), *b = malloc(sizeof *b * N * N), tau[N], w[N];
    int64_t pivots[N], info = 0;
    const bool queries = jhandle_is_size_query(handle);
    for (int which = 0; which < 6 && x && b; ++which) {
        if (!queries) {
            memcpy(x, a, sizeof *x * N * N);
            memcpy(b, a, sizeof *b * N * N);
        }
        const jstatus_t status =
            which == 0   ? jlapack_dgetrf(handle, N, N, x, N, pivots, &info)
            : which == 1 ? jlapack_dgeqrf(handle, N, N, x, N, tau)
            : which == 2 ? jlapack_dgesv(handle, N, N / 2, x, N, pivots, b, N, &info)
            : which == 3
                ? jlapack_dsyevd(handle, JLAPACK_VECTORS, JBLAS_LOWER, N / 3, x, N, w, &info)
            : which == 4
                ? jlapack_dgels(handle, JBLAS_NO_TRANSPOSE, N, N / 2, N / 3, x, N, b, N, &info)
                : jlapack_dsytrf(handle, JBLAS_LOWER, N, x, N, pivots, &info);
        *degraded += status == JSTATUS_PERF_DEGRADED;
        *failed += jstatus_is_error(status);
        JEXPECT_EQ(info, 0);
    }
    free(x);
    free(b);
}

JTEST(ProgramLapack, FactorizationsRunOnEachStep) {
    enum { N = ORDER };
    double *a = malloc(sizeof *a * N * N);
    for (int64_t i = 0; i < N * N; ++i)
        a[i] = jtest_random_double(-1, 1) + (i % (N + 1) == 0 ? 4 : 0);
    jhandle_t *handle = blas_make_handle(NULL);
    if (jlapack_dsyevd(handle, JLAPACK_NONE, JBLAS_LOWER, 0, NULL, 1, NULL, &(int64_t){0}) ==
        JSTATUS_NOT_IMPLEMENTED)
        JSKIP("there is no LAPACK");
    jrequirement_t *requirement = NULL;
    uint64_t degraded = 0, failed = 0;
    JEXPECT_OK(jhandle_start_requirement_query(handle));
    factor(handle, NULL, &degraded, &failed);
    JEXPECT_EQ(failed, 0);
    JEXPECT_OK(jhandle_stop_requirement_query(handle, &requirement));

    const jrequirement_info_t info = info_of(requirement);
    JEXPECT_EQ(info.call_count, 6);
    /* Products have panels where jblas's own kernels compute; the drivers of LAPACK always ask. */
    JEXPECT_GT(info.step_count, blas_is_own() ? 2 : 1);
    for (size_t i = 0; i < info.step_count; ++i) {
        const jrequirement_step_t step = step_of(requirement, i);
        JSCOPED_TRACE("step %zu, %zu bytes", i, step.size_bytes);
        degraded = 0;
        lend_guarded(handle, step.size_bytes);
        factor(handle, a, &degraded, &failed);
        JEXPECT_EQ(degraded, step.degraded_count);
        JEXPECT_EQ(failed, 0);
    }
    if (info.minimal_bytes > 0) {
        lend_guarded(handle, info.minimal_bytes - 64);
        factor(handle, a, &degraded, &failed);
        JEXPECT_GT(failed, 0);
    }
    JEXPECT_OK(jrequirement_destroy(requirement));

    jprogram_t *program = NULL;
    JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
    JEXPECT_OK(jprogram_create(&program));
    JEXPECT_OK(jprogram_record(program, handle));
    failed = 0;
    factor(handle, NULL, &degraded, &failed);
    JEXPECT_OK(jprogram_stop(program, handle));
    JEXPECT_OK(jprogram_choose(program, info.optimal_bytes));
    JEXPECT_OK(jprogram_enter(program, 0));
    factor(handle, a, &degraded, &failed);
    JEXPECT_EQ(failed, 0);
    JEXPECT_EQ(stats_of(handle).unplanned_count, 0);
    JEXPECT_OK(jprogram_destroy(program));
    JEXPECT_OK(jhandle_destroy(handle));
    free(a);
}

/* Seconds of the best rung, as they are predicted without a profile. */
static double seconds_of_driver(jhandle_t *handle, int which) {
    enum { N = 500 };
    jrequirement_t *requirement = NULL;
    int64_t rank, info;
    const double rcond = -1;
    JEXPECT_OK(jhandle_start_requirement_query(handle));
    const jstatus_t answer =
        which < 2   ? jlapack_dgelsd(handle, N, N, which == 0 ? 1 : 4 * N, NULL, N, NULL, N, NULL,
                                     &rcond, &rank, &info)
        : which < 4 ? jlapack_dgesdd(handle, which == 2 ? JLAPACK_NONE : JLAPACK_SOME, N, N, NULL,
                                     N, NULL, NULL, N, NULL, N, &info)
                    : jlapack_dsyevd(handle, which == 4 ? JLAPACK_NONE : JLAPACK_VECTORS,
                                     JBLAS_LOWER, N, NULL, N, NULL, &info);
    JEXPECT_FALSE(jstatus_is_error(answer));
    JEXPECT_OK(jhandle_stop_requirement_query(handle, &requirement));
    const double seconds = step_of(requirement, info_of(requirement).step_count - 1).seconds;
    JEXPECT_OK(jrequirement_destroy(requirement));
    return seconds;
}

static void solves(jhandle_t *handle, int64_t nrhs) {
    const int64_t n = 300, most = 900;
    int64_t info;
    const double one = 1;
    JEXPECT_FALSE(jstatus_is_error(jlapack_dgesv(handle, n, nrhs, NULL, n, NULL, NULL, n, &info)));
    JEXPECT_FALSE(jstatus_is_error(jblas_dtrsm(handle, nrhs == 1 ? JBLAS_LEFT : JBLAS_RIGHT,
                                               JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_UNIT, 7, n,
                                               &one, NULL, most, NULL, most)));
}

/* Sides and right-hand sides are in no call's text: each call has its own time all the same. */
JTEST(JblasProgram, CallsOfOneTextHaveTheirOwnTimes) {
    jhandle_t *handle = blas_make_handle(NULL);
    double seconds[3];
    for (int which = 1; which <= 3; ++which) { /* one, the other, both */
        jrequirement_t *requirement = NULL;
        JEXPECT_OK(jhandle_start_requirement_query(handle));
        if (which & 1)
            solves(handle, 1);
        if (which & 2)
            solves(handle, 500);
        JEXPECT_OK(jhandle_stop_requirement_query(handle, &requirement));
        seconds[which - 1] = step_of(requirement, info_of(requirement).step_count - 1).seconds;
        JEXPECT_OK(jrequirement_destroy(requirement));
    }
    JEXPECT_GT(seconds[1], 2 * seconds[0]);
    JEXPECT_NEAR(seconds[2], seconds[0] + seconds[1], 1e-12 * seconds[2]);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Right-hand sides and vectors are work that the sizes of the matrix do not say. */
JTEST(ProgramLapack, DriversCostWhatTheyAreAskedFor) {
    jhandle_t *handle = blas_make_handle(NULL);
    if (jlapack_dsyevd(handle, JLAPACK_NONE, JBLAS_LOWER, 0, NULL, 1, NULL, &(int64_t){0}) ==
        JSTATUS_NOT_IMPLEMENTED)
        JSKIP("there is no LAPACK");
    JEXPECT_OK(jprofile_load(NULL));
    for (int less = 0; less < 6; less += 2)
        JEXPECT_GT(seconds_of_driver(handle, less + 1), 2 * seconds_of_driver(handle, less));
    JEXPECT_OK(jhandle_destroy(handle));
}
