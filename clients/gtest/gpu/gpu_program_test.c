/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Requirements and programs on a GPU: each step of a call's staircase is exact, lower rungs are
 * predicted to take longer, and a handle follows what was chosen. */

#include "gpu_device.h"

#include <math.h>

#include "jalloc/program.h"

static const int functions[] = {BLAS_INDEX_dtrsm,  BLAS_INDEX_ctrsm,  BLAS_INDEX_strtri,
                                BLAS_INDEX_zpotrf, BLAS_INDEX_dpotrs, BLAS_INDEX_ddot};

/* Runs the call in just the bytes of a step. */
static void check_step(jhandle_t *handle, blas_case_t *c, const jrequirement_step_t *step) {
    JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, step->size_bytes));
    JEXPECT_OK(jhandle_clear_stats(handle));
    blas_restore(c);
    JEXPECT_STATUS(gpu_blas_call(handle, c),
                   step->degraded_count > 0 ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    JEXPECT_OK(jhandle_get_stats(handle, &stats));
    JEXPECT_EQ(stats.degraded_count, step->degraded_count);
    JEXPECT_LE(stats.high_watermark_bytes, step->size_bytes);
}

/* The same by a program with so large a budget. */
static void check_program(jhandle_t *handle, blas_case_t *c, size_t budget_bytes) {
    jprogram_t *program = NULL;
    jprogram_call_t call = JPROGRAM_CALL_INIT;
    JEXPECT_OK(jprogram_create(&program));
    JEXPECT_OK(jprogram_record(program, handle));
    JEXPECT_FALSE(jstatus_is_error(blas_call(handle, c)));
    JEXPECT_OK(jprogram_stop(program, handle));
    JEXPECT_OK(jprogram_choose(program, budget_bytes));
    JEXPECT_OK(jprogram_get_call(program, 0, &call));
    JEXPECT_OK(jprogram_enter(program, 0));
    blas_restore(c);
    JEXPECT_OK(jhandle_set_degradation(handle, JDEGRADATION_ANNOUNCED));
    JEXPECT_STATUS(gpu_blas_call(handle, c),
                   call.degraded ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
    JEXPECT_OK(jhandle_set_degradation(handle, JDEGRADATION_ALLOWED));
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    JEXPECT_OK(jhandle_get_stats(handle, &stats));
    JEXPECT_EQ(stats.unplanned_count, 0);
    JEXPECT_OK(jprogram_destroy(program));
}

JTEST_P(GpuProgram, EachStepIsExactAndIsFollowed, int, functions) {
    jhandle_t *handle = gpu_make_normwise_handle();
    size_t steps = 0;
    for (int64_t round = jtest_iterations(3); round > 0 && !jtest_has_failure(); --round) {
        const blas_function_t *function = &blas_functions[*param];
        const int64_t low = function->routine->level == 3 ? 130 : 20000;
        const blas_wish_t wish = {.low = low, .high = low + 20, .plain = true};
        blas_case_t *c = blas_case_create(function, &wish);
        jrequirement_t *requirement = NULL;
        jrequirement_info_t info = JREQUIREMENT_INFO_INIT;
        JEXPECT_OK(jhandle_start_requirement_query(handle));
        JEXPECT_FALSE(jstatus_is_error(blas_call(handle, c)));
        JEXPECT_OK(jhandle_stop_requirement_query(handle, &requirement));
        JEXPECT_OK(jrequirement_get_info(requirement, &info));
        steps += info.step_count;

        double below = INFINITY;
        for (size_t i = 0; i < info.step_count; ++i) {
            jrequirement_step_t step = JREQUIREMENT_STEP_INIT;
            JEXPECT_OK(jrequirement_get_step(requirement, i, &step));
            JSCOPED_TRACE("%s, %zu bytes, %s", blas_describe(c), step.size_bytes, step.rung);
            JEXPECT_SUBSTR(step.call, function->name);
            JEXPECT_LT(step.seconds, below);
            below = step.seconds;
            check_step(handle, c, &step);
            JEXPECT_OK(jhandle_set_workspace_size(handle, 0));
            check_program(handle, c, step.size_bytes);
        }
        JEXPECT_OK(jrequirement_destroy(requirement));
        blas_case_free(c);
    }
    JEXPECT_GT(steps, 1);
    JEXPECT_OK(jhandle_destroy(handle));
}
