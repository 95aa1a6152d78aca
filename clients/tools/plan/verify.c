/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Predicted beside measured: the calls of the plan are made with the bytes that the choice gives
 * their handle, each kind once, as jblas-bench measures a line, and its time counts as often as it
 * was called. What wants no workspace is the same for all budgets: of a program over NumPy that is
 * nearly every kind. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/terminal.h"
#include "plan.h"

enum { VERIFY_SAMPLES = 5, VERIFY_WARMUPS = 1 };

/* Seconds of a kind of call, all its times, with so many bytes; *wants_some: they are others with
 * more or fewer. */
static double measure_line(const plan_t *plan, const line_t *line, size_t share_bytes,
                           bool *wants_some) {
    options_t options;
    measurement_t measurement;
    char reason[OPTIONS_REASON_BYTES];
    const routine_t *routine = log_parse(line, &options, reason);
    *wants_some = true;
    if (routine == NULL)
        return 0;

    options.iterations = VERIFY_SAMPLES, options.warmups = VERIFY_WARMUPS;
    options.mode = JHANDLE_MODE_MANUAL;
    options.workspace = WORKSPACE_SIZE, options.workspace_bytes = share_bytes;
    options.borrowed_bytes = 0;
    if (!measure(&options, routine, &measurement))
        tool_fail("%s:%llu: cannot be measured", plan->log->path, (unsigned long long)line->number);
    if (jstatus_is_error(measurement.status))
        tool_fail("%s:%llu: with %zu bytes: %s", plan->log->path, (unsigned long long)line->number,
                  share_bytes, measurement.message);
    *wants_some = measurement.asked_bytes > 0;
    return measurement.seconds * (double)line->times;
}

/* Of each line `known` has what it takes for any budget; below 0: that is not known. */
static verified_t verify_budget(plan_t *plan, size_t budget_bytes, double *known) {
    jprogram_info_t chosen;
    plan_choose(plan, budget_bytes, &chosen);
    verified_t result = {.size_bytes = budget_bytes, .predicted = chosen.seconds};
    for (size_t i = 0; i < plan->log->line_count; i++) {
        const line_t *line = &plan->log->lines[i];
        size_t share = 0;
        tool_progress("measuring", i, plan->log->line_count);
        if (line->handle < 0)
            continue;
        /* A handle of which no call wants workspace has no share. */
        (void)jprogram_get_share(plan->program, 0, plan->handles[line->handle].handle, &share);
        bool wants_some = false;
        const double seconds =
            known[i] >= 0 ? known[i] : measure_line(plan, line, share, &wants_some);
        known[i] = wants_some ? -1 : seconds;
        result.measured += seconds;
    }
    tool_progress_end();
    return result;
}

int verify(plan_t *plan, size_t budget_bytes, verified_t results[PLAN_BUDGETS]) {
    size_t budgets[PLAN_BUDGETS];
    int count = 0;
    size_t at = 0; /* the step that the budget is on */
    while (at + 1 < plan->info.step_count && plan_step(plan, at + 1).size_bytes <= budget_bytes)
        at++;
    if (at > 0)
        budgets[count++] = plan_step(plan, at - 1).size_bytes;
    budgets[count++] = budget_bytes;
    if (at + 1 < plan->info.step_count)
        budgets[count++] = plan_step(plan, at + 1).size_bytes;
    double *known = tool_allocate(plan->log->line_count, sizeof *known);
    for (size_t i = 0; i < plan->log->line_count; i++)
        known[i] = -1;
    for (int i = 0; i < count; i++)
        results[i] = verify_budget(plan, budgets[i], known);
    free(known);
    return count;
}
