/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef TOOL_PLAN_H
#define TOOL_PLAN_H

/* What the files of jalloc-plan have in common: a log's calls, what they were asked, and how that
 * is written. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../bench/jblas_bench/log.h"
#include "../../bench/jblas_bench/measure.h"
#include "../common/tool.h"
#include "jalloc/program.h"

typedef struct choices {
    const char *log;
    const char *device; /* NULL: that of the first call */
    const char *svg;
    size_t budget_bytes; /* meaningful with has_budget */
    bool has_budget, in_order, strict, verify, json;
} choices_t;

/* Exits where the status is an error; `what` was being done. */
void plan_require(jstatus_t status, const char *what);

/* ---- ask.c ---- */

enum { PLAN_MAX_HANDLES = 1024 };

typedef struct plan_handle {
    int64_t number; /* as the log has it; 0: it says none */
    jhandle_t *handle;
    size_t held_bytes;    /* most that its callers had borrowed around a call */
    uint64_t held_number; /* that call's line */
} plan_handle_t;

/* Lines that are not in the plan. */
typedef struct plan_left_out {
    uint64_t not_understood; /* or of a routine that is unknown */
    uint64_t refused;        /* the call's size query was, as the call would be */
    uint64_t elsewhere;      /* of another device */
} plan_left_out_t;

typedef struct plan {
    const choices_t *choices;
    const log_t *log;
    jdevice_t *device;
    jprogram_t *program;
    jrequirement_t *requirement;
    jrequirement_info_t info;
    plan_handle_t handles[PLAN_MAX_HANDLES];
    int handle_count;
    size_t held_bytes; /* of all: on top of what the requirement says */
    uint64_t call_count;
    plan_left_out_t left_out;
} plan_t;

/* Asks each line of the log. */
void plan_make(plan_t *plan, log_t *log, const choices_t *choices);
void plan_free(plan_t *plan);

/* The index-th step, and the one that so many bytes are on; bytes with those that are held. False:
 * fewer than the least. */
jrequirement_step_t plan_step(const plan_t *plan, size_t index);
bool plan_find(const plan_t *plan, size_t size_bytes, jrequirement_step_t *step);
/* The least time of any step, and the least bytes that have it. */
jrequirement_step_t plan_best(const plan_t *plan);
/* What so many bytes more would save from there on, in seconds. */
double plan_gain(const plan_t *plan, size_t from_bytes, size_t more_bytes);
/* Steps that matter, at most `most`, of which the first and the last are the plan's: between them
 * the first step of each part of the time that is won. Gives their number. */
size_t plan_thin(const plan_t *plan, size_t most, size_t *indices);

/* Chooses for so many bytes. Exits with a message that names the call and the bytes missing. */
void plan_choose(plan_t *plan, size_t budget_bytes, jprogram_info_t *info);
/* The calls that were chosen to be degraded, most costly first, to be freed. */
jprogram_call_t *plan_degraded(const plan_t *plan, const jprogram_info_t *info, size_t *count);
static inline double plan_cost(const jprogram_call_t *call) {
    return (call->seconds - call->best_seconds) * (double)call->times;
}
/* "JALLOC_DEVICE_MEMORY_SIZE=4096": what gives a program so many bytes. */
enum { PLAN_SETTING_BYTES = 96 };
void plan_setting(const plan_t *plan, size_t size_bytes, char setting[PLAN_SETTING_BYTES]);

/* ---- report.c ---- */

#define PLAN_MEBIBYTE ((size_t)1 << 20)
void report_text(plan_t *plan);
void report_json(plan_t *plan);

/* ---- picture.c ---- */

void picture_write(const plan_t *plan, const char *path);

/* ---- verify.c ---- */

/* One budget's calls. */
typedef struct verified {
    size_t size_bytes;
    double predicted, measured; /* seconds */
} verified_t;
enum { PLAN_BUDGETS = 3 };
/* Measures at the budget and at the steps below and above it, as far as there are such; gives how
 * many. Exits where a call fails. */
int verify(plan_t *plan, size_t budget_bytes, verified_t results[PLAN_BUDGETS]);

#endif
