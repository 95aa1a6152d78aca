/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A shape's times. Its operands are made once for all rungs and numbers of threads. */

#include <math.h>

#include "handle/handle.h"
#include "tune.h"

/* ---- The plan of a call ---- */

/* Keeps the plan that a size query is answered with. */
typedef struct keeper {
    ji_watcher_t watcher; /* first */
    jplan_t plan;
    bool has;
} keeper_t;

static void keeper_answered(ji_watcher_t *watcher, const jhandle_t *handle, const jplan_t *plan) {
    keeper_t *keeper = (keeper_t *)watcher;
    (void)handle;
    keeper->plan = *plan;
    keeper->has = true;
}
static void keeper_forget(ji_watcher_t *watcher) { (void)watcher; }

static bool plan_of(jhandle_t *handle, const routine_t *routine, const options_t *options,
                    jplan_t *plan) {
    keeper_t keeper = {.watcher = {.answered = keeper_answered, .forget = keeper_forget}};
    problem_t problem;
    size_t bytes;
    problem_describe(&problem, routine, options);
    if (ji_handle_start_query(handle, &keeper.watcher, __func__) != JSTATUS_SUCCESS)
        return false;
    const jstatus_t answer = routine->call(handle, &problem);
    (void)jhandle_stop_size_query(handle, &bytes);
    *plan = keeper.plan;
    return keeper.has && plan->routine != NULL && !jstatus_is_error(answer);
}

/* ---- Measuring ---- */

/* Of short ones the second counts. 0 seconds where the call fails or takes another rung. */
static timing_t time_rung(pace_t *pace, jhandle_t *handle, problem_t *problem, uint32_t rung) {
    jstatus_t status = JSTATUS_SUCCESS;
    (void)jhandle_clear_stats(handle);
    timing_t timing = pace_sample(pace, handle, problem, &status);
    if (timing.seconds < MEASURE_LONG_SECONDS)
        timing = pace_sample(pace, handle, problem, &status);
    jhandle_stats_t stats = JHANDLE_STATS_INIT;
    (void)jhandle_get_stats(handle, &stats);
    const bool was_planned = stats.rung_count[0] + stats.degraded_count > 0;
    if (jstatus_is_error(status) || (was_planned && stats.rung_count[rung] == 0))
        return (timing_t){0, 0};
    return timing;
}

double measure_shape(store_t *store, pace_t *pace, jhandle_t *handle, int all_threads,
                     const routine_t *routine, const options_t *options, size_t shape) {
    double slowest = 0;
    problem_t problem;
    jplan_t plan;
    jstatus_t status = JSTATUS_SUCCESS;
    if (!measure_init(&problem, handle, routine, options, &status))
        return slowest;

    for (int threads = 1; threads <= all_threads && !jstatus_is_error(status);
         threads = threads < all_threads ? all_threads : all_threads + 1) {
        (void)jhandle_set_threads(handle, threads);
        if (!plan_of(handle, routine, options, &plan))
            break;
        for (uint32_t rung = 0; rung < plan.rung_count; rung++) {
            const size_t bytes = ji_rung_bytes(&plan.rungs[rung], 64);
            if (jstatus_is_error(measure_lend(handle, bytes)))
                continue;
            sample_t sample = {
                .shape = shape,
                .timing = time_rung(pace, handle, &problem, rung),
                .is_single = options->type == JDATATYPE_F32 || options->type == JDATATYPE_F32_C,
                .is_complex = options->type == JDATATYPE_F32_C || options->type == JDATATYPE_F64_C};
            if (sample.timing.seconds <= 0)
                continue;
            slowest = fmax(slowest, sample.timing.product);
            ji_profile_features(&plan, rung, sample.features);
            ji_profile_sizes(&plan, rung, sample.sizes);
            store_add(store, routine->name, plan.routine, plan.rungs[rung].name, threads, &sample);
        }
    }
    (void)jhandle_set_workspace(handle, NULL, 0);
    problem_fini(&problem);
    return slowest;
}
