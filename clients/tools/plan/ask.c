/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Asking. Each line's call is made once in a size query, without operands, on a handle that is as
 * the line says, and becomes a part of a program as many times as the line came. Handles of the log
 * are at work at once, each with one of ours; with --in-order one of ours stands for all.
 *
 * What a caller had borrowed around its calls is not of the calls. It is added to what they need,
 * of each handle the most, as if it were held all the time: enough, and where the hungriest call
 * was within the largest borrow, no more than that. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/terminal.h"
#include "plan.h"

/* ---- Lines ---- */

enum { SHOWN_LINES = 10 }; /* of each kind that is left out */

/* Names a line that is left out, and counts it. */
static void leave_out(const plan_t *plan, const line_t *line, uint64_t *count, const char *why) {
    if (*count < SHOWN_LINES)
        tool_warn("%s:%llu: %s", plan->log->path, (unsigned long long)line->number, why);
    else if (*count - SHOWN_LINES < line->times)
        tool_warn("%s:%llu: and more that are not shown", plan->log->path,
                  (unsigned long long)line->number);
    *count += line->times;
}

/* The device that the plan is for: the one that was asked for, or that of the first line. False:
 * the line's is another, or is not here. */
static bool plan_is_device(plan_t *plan, const line_t *line, const options_t *options) {
    const char *wanted = plan->device != NULL            ? jdevice_name(plan->device)
                         : plan->choices->device != NULL ? plan->choices->device
                                                         : options->device;
    char why[OPTIONS_REASON_BYTES];
    if (strcmp(options->device, wanted) != 0) {
        snprintf(why, sizeof why, "a call on %s, and this plan is for %s; --device %s plans it",
                 options->device, wanted, options->device);
    } else if (plan->device == NULL && jstatus_is_error(jdevice_get(wanted, &plan->device))) {
        plan->device = NULL;
        snprintf(why, sizeof why, "a call on %s, which is not here: %.300s", wanted,
                 jstatus_last_message());
    } else {
        return true;
    }
    leave_out(plan, line, &plan->left_out.elsewhere, why);
    return false;
}

/* Our handle for a number, made where there is none. */
static int plan_handle(plan_t *plan, int64_t number) {
    number = plan->choices->in_order ? 0 : number;
    for (int i = plan->handle_count; i-- > 0;)
        if (plan->handles[i].number == number)
            return i;

    if (plan->handle_count == PLAN_MAX_HANDLES)
        tool_refuse("%s: more than %d handles; --in-order takes any number", plan->log->path,
                    PLAN_MAX_HANDLES);
    plan_handle_t *made = &plan->handles[plan->handle_count];
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.device = plan->device;
    options.preallocate_bytes = JALLOC_NONE;
    options.budget_bytes = JALLOC_UNLIMITED;
    made->number = number;
    plan_require(jhandle_create(&options, &made->handle), "a handle");
    return plan->handle_count++;
}

/* The line's call in a size query. */
static jstatus_t plan_query(const plan_t *plan, jhandle_t *handle, const line_t *line,
                            const routine_t *routine, const options_t *options) {
    problem_t problem;
    problem_describe(&problem, routine, options);
    (void)jhandle_set_pointer_mode(handle, (jpointer_mode_t)options->pointer_mode);
    (void)jhandle_set_result_policy(handle, (jresult_policy_t)options->policy);
    (void)jhandle_set_accuracy(handle, (jaccuracy_t)options->accuracy);

    plan_require(jprogram_record(plan->program, handle), "a size query");
    const jstatus_t answer = routine->call(handle, &problem);
    plan_require(jprogram_stop_repeated(plan->program, handle, line->times), "a size query");
    return answer;
}

static void plan_add(plan_t *plan, line_t *line) {
    options_t options;
    char reason[OPTIONS_REASON_BYTES];
    const routine_t *routine = log_parse(line, &options, reason);
    if (routine == NULL) {
        leave_out(plan, line, &plan->left_out.not_understood, reason);
        return;
    }
    if (!plan_is_device(plan, line, &options))
        return;

    const int index = plan_handle(plan, options.handle);
    plan_handle_t *of = &plan->handles[index];
    const jstatus_t answer = plan_query(plan, of->handle, line, routine, &options);
    if (jstatus_is_error(answer)) {
        snprintf(reason, sizeof reason, "%s: %s: %.400s", options.function, jstatus_text(answer),
                 jhandle_last_message(of->handle));
        leave_out(plan, line, &plan->left_out.refused, reason);
        return;
    }
    line->handle = index;
    plan->call_count += line->times;
    if (options.borrowed_bytes > of->held_bytes) {
        of->held_bytes = options.borrowed_bytes;
        of->held_number = line->number;
    }
}

/* Adds what callers hold to what their calls need. */
static void plan_hold(plan_t *plan) {
    for (int i = 0; i < plan->handle_count; i++) {
        const plan_handle_t *of = &plan->handles[i];
        size_t held, sum;
        if (__builtin_add_overflow(plan->held_bytes, of->held_bytes, &held) ||
            __builtin_add_overflow(plan->info.optimal_bytes, held, &sum))
            tool_refuse("%s:%llu: with the %zu bytes that its caller held the sum overflows",
                        plan->log->path, (unsigned long long)of->held_number, of->held_bytes);
        plan->held_bytes = held;
    }
    plan->info.minimal_bytes += plan->held_bytes;
    plan->info.optimal_bytes += plan->held_bytes;
}

void plan_make(plan_t *plan, log_t *log, const choices_t *choices) {
    *plan = (plan_t){.choices = choices, .log = log};
    plan->info = (jrequirement_info_t)JREQUIREMENT_INFO_INIT;
    plan_require(jprogram_create(&plan->program), "a program");
    for (size_t i = 0; i < log->line_count; i++) {
        tool_progress("asking", i, log->line_count);
        plan_add(plan, &log->lines[i]);
    }
    tool_progress_end();

    if (plan->call_count == 0)
        tool_refuse("%s: no call of it can be asked here", log->path);
    plan_require(jprogram_get_requirement(plan->program, &plan->requirement), "the requirement");
    plan_require(jrequirement_get_info(plan->requirement, &plan->info), "the requirement");
    plan_hold(plan);
}

void plan_free(plan_t *plan) {
    (void)jrequirement_destroy(plan->requirement);
    (void)jprogram_destroy(plan->program);
    for (int i = 0; i < plan->handle_count; i++)
        (void)jhandle_destroy(plan->handles[i].handle);
}

/* ---- The staircase ---- */

jrequirement_step_t plan_step(const plan_t *plan, size_t index) {
    jrequirement_step_t step = JREQUIREMENT_STEP_INIT;
    plan_require(jrequirement_get_step(plan->requirement, index, &step), "a step");
    step.size_bytes += plan->held_bytes;
    return step;
}

bool plan_find(const plan_t *plan, size_t size_bytes, jrequirement_step_t *step) {
    if (size_bytes < plan->info.minimal_bytes)
        return false;
    *step = (jrequirement_step_t)JREQUIREMENT_STEP_INIT;
    plan_require(jrequirement_get_step_at(plan->requirement, size_bytes - plan->held_bytes, step),
                 "a step");
    step->size_bytes += plan->held_bytes;
    return true;
}

jrequirement_step_t plan_best(const plan_t *plan) {
    jrequirement_step_t best = plan_step(plan, 0);
    for (size_t i = 1; i < plan->info.step_count; i++) {
        const jrequirement_step_t step = plan_step(plan, i);
        if (step.seconds < best.seconds)
            best = step;
    }
    return best;
}

double plan_gain(const plan_t *plan, size_t from_bytes, size_t more_bytes) {
    jrequirement_step_t now, then;
    size_t sum;
    if (__builtin_add_overflow(from_bytes, more_bytes, &sum))
        sum = SIZE_MAX;
    return plan_find(plan, from_bytes, &now) && plan_find(plan, sum, &then)
               ? fmax(now.seconds - then.seconds, 0)
               : 0;
}

size_t plan_thin(const plan_t *plan, size_t most, size_t *indices) {
    const size_t count = plan->info.step_count;
    const double first = plan_step(plan, 0).seconds, last = plan_best(plan).seconds;
    size_t kept = 0, level = 0;
    for (size_t i = 0; i < count; i++) {
        const double won = first > last ? (first - plan_step(plan, i).seconds) / (first - last) : 1;
        const size_t reached = (size_t)(fmax(won, 0) * (double)(most - 2));
        if (count > most && i > 0 && i + 1 < count && reached <= level)
            continue;
        level = reached > level ? reached : level;
        indices[kept++] = i;
    }
    return kept;
}

/* ---- The choice ---- */

void plan_choose(plan_t *plan, size_t budget_bytes, jprogram_info_t *info) {
    if (budget_bytes < plan->info.minimal_bytes) {
        const jrequirement_step_t first = plan_step(plan, 0);
        char held[80] = "", most[sizeof first.call + 32] = "";
        if (plan->held_bytes > 0)
            snprintf(held, sizeof held, ", %zu of it held by callers around them",
                     plan->held_bytes);
        if (first.call[0] != '\0') /* else the calls themselves need nothing */
            snprintf(most, sizeof most, ", most of %s %s", plan->held_bytes > 0 ? "the rest" : "it",
                     first.call);
        tool_fail("a budget of %zu bytes lacks %zu: the calls need %zu%s%s", budget_bytes,
                  first.size_bytes - budget_bytes, first.size_bytes, held, most);
    }
    *info = (jprogram_info_t)JPROGRAM_INFO_INIT;
    plan_require(jprogram_choose(plan->program, budget_bytes - plan->held_bytes), "the choice");
    plan_require(jprogram_get_info(plan->program, info), "the choice");
    info->budget_bytes = budget_bytes;
    info->size_bytes += plan->held_bytes;
}

static int compare_costs(const void *left, const void *right) {
    const double a = plan_cost(left), b = plan_cost(right);
    return (a < b) - (a > b);
}

jprogram_call_t *plan_degraded(const plan_t *plan, const jprogram_info_t *info, size_t *count) {
    jprogram_call_t *calls = tool_allocate(info->call_count, sizeof *calls);
    *count = 0;
    for (size_t i = 0; i < info->call_count; i++) {
        calls[*count] = (jprogram_call_t)JPROGRAM_CALL_INIT;
        plan_require(jprogram_get_call(plan->program, i, &calls[*count]), "a call");
        *count += calls[*count].degraded;
    }
    qsort(calls, *count, sizeof *calls, compare_costs);
    return calls;
}

void plan_setting(const plan_t *plan, size_t size_bytes, char setting[PLAN_SETTING_BYTES]) {
    const bool is_host = jdevice_kind(plan->device) == JDEVICE_HOST;
    snprintf(setting, PLAN_SETTING_BYTES, "%s=%s%s%s%zu",
             plan->handle_count > 1 ? "JALLOC_BUDGET" : "JALLOC_DEVICE_MEMORY_SIZE",
             is_host ? "" : "'0;", is_host ? "" : jdevice_name(plan->device), is_host ? "" : "=",
             size_bytes);
    if (!is_host)
        strncat(setting, "'", PLAN_SETTING_BYTES - strlen(setting) - 1);
}
