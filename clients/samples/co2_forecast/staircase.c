/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What each byte buys, for the regression as a whole.
 *
 * rungs.c shows one routine of the program's own; here all calls are asked, jblas's and jlapack's
 * among them, for all of their ways. The answer is a staircase: so many bytes, so much time as the
 * machine's profile predicts it, and who gets better there. Then the regression runs on three
 * points of it, in a workspace of just those bytes, and what was announced has to be true: how many
 * calls degrade, and that a granule less than the least is too little. */

#include <math.h>
#include <stdio.h>

#include "co2_forecast.h"

enum { SHOWN_STEPS = 12, POINTS = 3 };

static const char *profile_words(void) {
    jprofile_info_t info = JPROFILE_INFO_INIT;
    return jprofile_get_info(&info) == JSTATUS_SUCCESS && info.measured
               ? "by this machine's profile"
               : "by the library's own profile; jalloc-tune measures this machine's";
}

/* The first and the last steps, where there are many. */
static jstatus_t print_steps(const jrequirement_t *requirement, size_t count) {
    jrequirement_step_t step = JREQUIREMENT_STEP_INIT;
    printf("what each byte buys: the regression as a whole, predicted\n  (%s)\n\n",
           profile_words());
    printf("  %12s %9s %9s   %s\n", "bytes", "time, ms", "degraded", "better there");
    for (size_t i = 0; i < count; i++) {
        if (i >= SHOWN_STEPS / 2 && i + SHOWN_STEPS / 2 < count) {
            if (i == SHOWN_STEPS / 2)
                printf("  %12s\n", "...");
            continue;
        }
        jstatus_t status = jrequirement_get_step(requirement, i, &step);
        if (jstatus_is_error(status))
            return status;
        printf("  %12zu %9.2f %9llu   %s, %s\n", step.size_bytes, step.seconds * 1e3,
               (unsigned long long)step.degraded_count, step.call, step.rung);
    }
    printf("\n");
    return JSTATUS_SUCCESS;
}

/* Runs with just the bytes of a step. False after a message when it is not what the step says. */
static bool point_run(jhandle_t *handle, const problem_t *problem, const operands_t *operands,
                      const jrequirement_step_t *step, int repeat, const forecast_t *want) {
    forecast_t forecast = {0};
    double milliseconds = 0, shortest = INFINITY;
    char words[32];
    jstatus_t status = jhandle_set_fixed_workspace_size(handle, step->size_bytes);
    for (int i = 0; i < repeat && !jstatus_is_error(status); i++) {
        status = regression_run(handle, problem, operands, &forecast, &milliseconds);
        shortest = fmin(shortest, milliseconds);
    }
    if (jstatus_is_error(status)) {
        fprintf(stderr, "co2_forecast: with %zu bytes: %s\n", step->size_bytes,
                jstatus_last_message());
        return false;
    }

    printf("  %12zu %9.2f %9.2f   %s\n", step->size_bytes, step->seconds * 1e3, shortest,
           status_words(status, words));
    const jstatus_t announced = step->degraded_count > 0 ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS;
    if (status == announced && forecast_difference(&forecast, want) <= FORECAST_AGREEMENT)
        return true;
    fprintf(stderr, "co2_forecast: with %zu bytes it is not what was announced\n",
            step->size_bytes);
    return false;
}

/* With a granule less than the least a call fails. */
static bool too_little_fails(jhandle_t *handle, const problem_t *problem,
                             const operands_t *operands, size_t minimal_bytes) {
    forecast_t forecast = {0};
    double milliseconds;
    const size_t granule = jdevice_granule_bytes(jhandle_device(handle));
    if (minimal_bytes == 0)
        return true;
    jstatus_t status = jhandle_set_fixed_workspace_size(handle, minimal_bytes - granule);
    if (!jstatus_is_error(status))
        status = regression_run(handle, problem, operands, &forecast, &milliseconds);
    if (status != JSTATUS_MEMORY_ERROR)
        fprintf(stderr, "co2_forecast: less than the least is enough\n");
    return status == JSTATUS_MEMORY_ERROR;
}

bool staircase_run(jdevice_t *device, const problem_t *problem, int repeat,
                   const forecast_t *forecast) {
    jhandle_t *handle = NULL;
    jrequirement_t *requirement = NULL;
    jrequirement_info_t info = JREQUIREMENT_INFO_INIT;
    operands_t operands = {0};
    size_t callee_bytes = 0;
    bool ok = false;

    jstatus_t status = handle_make(device, 0, &handle);
    if (!jstatus_is_error(status))
        status = posterior_query(handle, problem->n, &callee_bytes);
    if (!jstatus_is_error(status))
        status = regression_requirement(handle, problem->n, callee_bytes, &requirement);
    if (!jstatus_is_error(status))
        status = jrequirement_get_info(requirement, &info);
    if (!jstatus_is_error(status))
        status = print_steps(requirement, info.step_count);
    if (!jstatus_is_error(status))
        status = operands_init(&operands, device, problem->n, callee_bytes);
    if (jstatus_is_error(status)) {
        fprintf(stderr, "co2_forecast: the staircase: %s: %s\n", jstatus_text(status),
                jstatus_last_message());
        goto done;
    }

    printf("  %12s %9s %9s   %s\n", "bytes lent", "predicted", "measured", "status");
    ok = true;
    for (size_t i = 0; i < POINTS; i++) {
        jrequirement_step_t step = JREQUIREMENT_STEP_INIT;
        jrequirement_get_step(requirement, i * (info.step_count - 1) / (POINTS - 1), &step);
        ok = point_run(handle, problem, &operands, &step, repeat, forecast) && ok;
    }
    ok = too_little_fails(handle, problem, &operands, info.minimal_bytes) && ok;
    printf("\n");
done:
    operands_free(&operands);
    jrequirement_destroy(requirement);
    return (!handle || !jstatus_is_error(jhandle_destroy(handle))) && ok;
}
