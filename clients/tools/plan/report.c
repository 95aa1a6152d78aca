/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The answer, for people and for programs: what the calls need at least and at best and which of
 * them needs it, the staircase between, what a budget costs, and the setting that gives it. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/json.h"
#include "../common/units.h"
#include "jalloc/profile.h"
#include "plan.h"

enum { SHOWN_STEPS = 12, SHOWN_CALLS = 10 };

typedef struct text {
    char text[UNITS_BYTES];
} text_t;

static text_t text_of_bytes(size_t bytes) {
    text_t text;
    units_bytes(text.text, (double)bytes, 2);
    return text;
}

static text_t text_of_time(double seconds) {
    text_t text;
    units_time(text.text, seconds);
    return text;
}

/* How often the best time; 1 where there is none to compare with. */
static double ratio(double seconds, double best) { return best > 0 ? seconds / best : 1; }

/* What a caller would set: of a budget, what is used of it; else what the best time takes. At least
 * a byte, for 0 would be no bound. */
static size_t wanted_bytes(const plan_t *plan, const jprogram_info_t *chosen) {
    const size_t bytes = chosen != NULL ? chosen->size_bytes : plan_best(plan).size_bytes;
    return bytes > 0 ? bytes : 1;
}

/* ---- Text ---- */

static void text_left_out(const char *what, uint64_t count) {
    if (count > 0)
        printf("  %-11s %" PRIu64 " %s\n", "left out", count, what);
}

static void text_need(const char *what, size_t bytes, const char *call) {
    printf("  %-11s %s (%zu bytes)%s%s\n", what, text_of_bytes(bytes).text, bytes,
           call[0] != '\0' ? ", " : "", call);
}

static int plan_threads(const plan_t *plan) {
    int threads = 1;
    (void)jhandle_get_threads(plan->handles[0].handle, &threads);
    return threads;
}

/* A log may be of another machine, whose calls have other ways: this is the one that was asked. */
static void text_machine(const plan_t *plan) {
    const int threads = plan_threads(plan);
    if (jdevice_kind(plan->device) == JDEVICE_HOST)
        printf("  %-11s %s, %d thread%s\n", "asked on", jprofile_processor(), threads,
               threads == 1 ? "" : "s");
}

static void text_head(const plan_t *plan) {
    const jrequirement_info_t *info = &plan->info;
    printf("%s, for %s\n", plan->log->path, jdevice_name(plan->device));
    text_machine(plan);
    printf("  %-11s %" PRIu64 " of %zu kinds, by %d handle%s%s\n", "calls", plan->call_count,
           plan->log->line_count, plan->handle_count, plan->handle_count == 1 ? "" : "s",
           plan->choices->in_order   ? " for all, one after the other"
           : plan->handle_count == 1 ? ""
                                     : " at work at once");
    text_left_out("calls that are not understood", plan->left_out.not_understood);
    text_left_out("calls that are refused", plan->left_out.refused);
    text_left_out("calls on other devices", plan->left_out.elsewhere);
    text_left_out("lines of other text", plan->log->other_count);
    if (plan->held_bytes > 0)
        printf("  %-11s %s (%zu bytes) that callers held around calls, in all that follows\n",
               "borrowed", text_of_bytes(plan->held_bytes).text, plan->held_bytes);
    text_need("minimal", info->minimal_bytes, info->minimal_call);
    text_need("optimal", info->optimal_bytes, info->optimal_call);
    if (info->host_bytes > 0)
        printf("  %-11s %s (%zu bytes) of the host's memory beside\n", "host",
               text_of_bytes(info->host_bytes).text, info->host_bytes);
}

static void text_staircase(const plan_t *plan) {
    size_t indices[SHOWN_STEPS];
    const size_t shown = plan_thin(plan, SHOWN_STEPS, indices);
    const double best = plan_best(plan).seconds;

    printf("\n  %12s %12s %10s %8s %11s  %s\n", "bytes", "", "predicted", "of best", "1 MiB saves",
           "gets better here");
    for (size_t i = 0; i < shown; i++) {
        const jrequirement_step_t step = plan_step(plan, indices[i]);
        const double gain = plan_gain(plan, step.size_bytes, PLAN_MEBIBYTE);
        printf("  %12zu %12s %10s %8.3f %11s%s%s%s%s\n", step.size_bytes,
               text_of_bytes(step.size_bytes).text, text_of_time(step.seconds).text,
               ratio(step.seconds, best), gain > 0 ? text_of_time(gain).text : "-",
               step.call[0] != '\0' ? "  " : "", step.call, step.rung != NULL ? ": " : "",
               step.rung != NULL ? step.rung : "");
    }
    if (shown < plan->info.step_count)
        printf("  %zu steps between are not shown\n", plan->info.step_count - shown);
}

static void text_degraded(const plan_t *plan, const jprogram_info_t *chosen) {
    size_t count;
    jprogram_call_t *calls = plan_degraded(plan, chosen, &count);
    if (count > 0)
        printf("\n  %10s %10s %12s %12s  %s\n", "costs", "calls", "bytes", "wants", "degraded");
    for (size_t i = 0; i < count && i < SHOWN_CALLS; i++)
        printf("  %10s %10" PRIu64 " %12s %12s  %s: %s\n", text_of_time(plan_cost(&calls[i])).text,
               calls[i].times, text_of_bytes(calls[i].size_bytes).text,
               text_of_bytes(calls[i].best_size_bytes).text, calls[i].call,
               calls[i].rung != NULL ? calls[i].rung : "");
    if (count > SHOWN_CALLS)
        printf("  %zu kinds more that cost less\n", count - SHOWN_CALLS);
    free(calls);
}

/* By themselves handles take the first rung that fits, which need not be the fastest. */
static void text_unfollowed(const plan_t *plan, const jprogram_info_t *chosen) {
    jrequirement_step_t step;
    if (plan_find(plan, chosen->budget_bytes, &step) && step.seconds > 1.01 * chosen->seconds)
        printf("  %-11s %s, where handles do not follow the choice (jprogram_enter)\n", "",
               text_of_time(step.seconds).text);
}

static void text_budget(const plan_t *plan, const jprogram_info_t *chosen) {
    printf("\n  %-11s %s (%zu bytes), of which %zu are used\n", "budget",
           text_of_bytes(chosen->budget_bytes).text, chosen->budget_bytes, chosen->size_bytes);
    printf("  %-11s %s, %.3f of the best\n", "predicted", text_of_time(chosen->seconds).text,
           ratio(chosen->seconds, chosen->best_seconds));
    text_unfollowed(plan, chosen);
    printf("  %-11s %" PRIu64 " calls\n", "degraded", chosen->degraded_count);
    printf("  %-11s would save %s\n", "1 MiB more",
           text_of_time(plan_gain(plan, chosen->budget_bytes, PLAN_MEBIBYTE)).text);
    text_degraded(plan, chosen);
}

static void text_setting(const plan_t *plan, const jprogram_info_t *chosen) {
    char setting[PLAN_SETTING_BYTES];
    plan_setting(plan, wanted_bytes(plan, chosen), setting);
    printf("\n  %-11s %s\n", "setting", setting);
    if (chosen == NULL || plan->handle_count == 1)
        return;

    const size_t usual = 8;
    for (int i = 0; i < plan->handle_count && i < (int)usual; i++) {
        size_t share = 0;
        (void)jprogram_get_share(plan->program, 0, plan->handles[i].handle, &share);
        printf("  %-11s handle %" PRId64 ": %zu bytes\n", i == 0 ? "shares" : "",
               plan->handles[i].number, share + plan->handles[i].held_bytes);
    }
    if (plan->handle_count > (int)usual)
        printf("  %-11s and %d handles more\n", "", plan->handle_count - (int)usual);
}

static void text_verified(plan_t *plan, size_t budget_bytes) {
    verified_t results[PLAN_BUDGETS];
    const int count = verify(plan, budget_bytes, results);
    printf("\n  %12s %12s %10s %10s %8s\n", "bytes", "", "predicted", "measured", "ratio");
    for (int i = 0; i < count; i++)
        printf("  %12zu %12s %10s %10s %8.3f\n", results[i].size_bytes,
               text_of_bytes(results[i].size_bytes).text, text_of_time(results[i].predicted).text,
               text_of_time(results[i].measured).text,
               ratio(results[i].measured, results[i].predicted));
}

void report_text(plan_t *plan) {
    const choices_t *choices = plan->choices;
    jprogram_info_t chosen;
    if (choices->has_budget)
        plan_choose(plan, choices->budget_bytes, &chosen);

    text_head(plan);
    text_staircase(plan);
    if (choices->has_budget)
        text_budget(plan, &chosen);
    text_setting(plan, choices->has_budget ? &chosen : NULL);
    if (choices->verify)
        text_verified(plan,
                      choices->has_budget ? choices->budget_bytes : plan_best(plan).size_bytes);
}

/* ---- JSON ---- */

static void json_bytes(const char *name, size_t bytes) { json_number(name, (int64_t)bytes); }

static void json_head(const plan_t *plan) {
    json_text("log", plan->log->path);
    json_text("device", jdevice_name(plan->device));
    json_text("processor", jprofile_processor());
    json_number("threads", plan_threads(plan));
    json_number("calls", (int64_t)plan->call_count);
    json_bytes("kinds", plan->log->line_count);
    json_number("handles", plan->handle_count);
    json_bool("in_order", plan->choices->in_order);
    json_number("not_understood", (int64_t)plan->left_out.not_understood);
    json_number("refused", (int64_t)plan->left_out.refused);
    json_number("elsewhere", (int64_t)plan->left_out.elsewhere);
    json_number("other_lines", (int64_t)plan->log->other_count);
    json_bytes("borrowed_bytes", plan->held_bytes);
    json_bytes("minimal_bytes", plan->info.minimal_bytes);
    json_text("minimal_call", plan->info.minimal_call);
    json_bytes("optimal_bytes", plan->info.optimal_bytes);
    json_text("optimal_call", plan->info.optimal_call);
    json_bytes("host_bytes", plan->info.host_bytes);
}

static void json_staircase(const plan_t *plan) {
    const double best = plan_best(plan).seconds;
    json_open("steps", '[');
    for (size_t i = 0; i < plan->info.step_count; i++) {
        const jrequirement_step_t step = plan_step(plan, i);
        json_open(NULL, '{');
        json_bytes("bytes", step.size_bytes);
        json_real("seconds", step.seconds);
        json_real("ratio", ratio(step.seconds, best));
        json_real("mebibyte_saves_seconds", plan_gain(plan, step.size_bytes, PLAN_MEBIBYTE));
        json_number("degraded", (int64_t)step.degraded_count);
        json_text("call", step.call);
        json_text("rung", step.rung != NULL ? step.rung : "");
        json_close('}');
    }
    json_close(']');
}

static void json_budget(const plan_t *plan, const jprogram_info_t *chosen) {
    size_t count;
    jprogram_call_t *calls = plan_degraded(plan, chosen, &count);
    json_open("budget", '{');
    json_bytes("bytes", chosen->budget_bytes);
    json_bytes("used_bytes", chosen->size_bytes);
    json_real("seconds", chosen->seconds);
    json_real("best_seconds", chosen->best_seconds);
    json_real("mebibyte_saves_seconds", plan_gain(plan, chosen->budget_bytes, PLAN_MEBIBYTE));
    json_number("degraded", (int64_t)chosen->degraded_count);
    json_open("degraded_calls", '[');
    for (size_t i = 0; i < count; i++) {
        json_open(NULL, '{');
        json_text("call", calls[i].call);
        json_number("times", (int64_t)calls[i].times);
        json_text("rung", calls[i].rung != NULL ? calls[i].rung : "");
        json_bytes("bytes", calls[i].size_bytes);
        json_bytes("best_bytes", calls[i].best_size_bytes);
        json_real("costs_seconds", plan_cost(&calls[i]));
        json_close('}');
    }
    json_close(']');
    json_close('}');
    free(calls);
}

static void json_verified(plan_t *plan, size_t budget_bytes) {
    verified_t results[PLAN_BUDGETS];
    const int count = verify(plan, budget_bytes, results);
    json_open("verified", '[');
    for (int i = 0; i < count; i++) {
        json_open(NULL, '{');
        json_bytes("bytes", results[i].size_bytes);
        json_real("predicted_seconds", results[i].predicted);
        json_real("measured_seconds", results[i].measured);
        json_close('}');
    }
    json_close(']');
}

void report_json(plan_t *plan) {
    const choices_t *choices = plan->choices;
    char setting[PLAN_SETTING_BYTES];
    jprogram_info_t chosen;
    if (choices->has_budget)
        plan_choose(plan, choices->budget_bytes, &chosen);

    json_open(NULL, '{');
    json_head(plan);
    json_staircase(plan);
    if (choices->has_budget)
        json_budget(plan, &chosen);
    plan_setting(plan, wanted_bytes(plan, choices->has_budget ? &chosen : NULL), setting);
    json_text("setting", setting);
    if (choices->verify)
        json_verified(plan,
                      choices->has_budget ? choices->budget_bytes : plan_best(plan).size_bytes);
    json_close('}');
    json_end();
}
