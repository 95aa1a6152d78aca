/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The same regression in each of a handle's workspace modes, then with too little workspace.
 *
 * The table shows what each mode costs. Default mode takes its workspace during the first call that
 * wants some, and grows; the fixed modes (preallocate, manual, user-owned) were given what the size
 * query asked for and must neither allocate during the run nor wait for anything but its two
 * results on the host. The handles are normwise, so that a GPU takes its fast ways too: what they
 * lose in small elements is far below what a covariance is known to. With too little the routines
 * take slower ways (lower rungs) and say so by perf degraded, which is no error: the forecast has
 * to be the same. That is checked here: the program fails if two modes disagree. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "co2_forecast.h"

/* Of FORECAST_AGREEMENT: rungs round differently, and the numbers are differences: the first
 * month's variance, 0.08, is what is left of a prior 4,362 (66^2 and a little), so five of double's
 * sixteen digits are gone and 1e-10 is what two ways may well differ by. */
#define MAX_REPEAT 100
/* Of a run, that the host waits for if the device is not the host: potrf's info, a dot product. */
#define RESULTS 2

/* One row of the table. */
typedef struct row_t {
    const char *name;
    jhandle_mode_t mode;
    /* Of the fixed modes: what the query asked for, half, what the last rung needs. */
    enum { ALL, HALF, LEAST } size;
    bool warm; /* a run before the one that is counted */
} row_t;

static const row_t rows[] = {
    {"default, first run", JHANDLE_MODE_DEFAULT, ALL, false},
    {"default, later runs", JHANDLE_MODE_DEFAULT, ALL, true},
    {"preallocate", JHANDLE_MODE_PREALLOCATE, ALL, false},
    {"manual", JHANDLE_MODE_MANUAL, ALL, false},
    {"user-owned", JHANDLE_MODE_USER_OWNED, ALL, false},
    {"manual, half", JHANDLE_MODE_MANUAL, HALF, false},
    {"manual, the least", JHANDLE_MODE_MANUAL, LEAST, false},
};

jstatus_t handle_make(jdevice_t *device, size_t preallocate_bytes, jhandle_t **handle) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.device = device;
    options.preallocate_bytes = preallocate_bytes;
    jstatus_t status = jhandle_create(&options, handle);
    return status == JSTATUS_SUCCESS ? jhandle_set_accuracy(*handle, JACCURACY_NORMWISE) : status;
}

/* Makes the handle of a row. `memory` is the caller's workspace, of at least size_bytes. */
static jstatus_t row_handle(const row_t *row, jdevice_t *device, size_t size_bytes, void *memory,
                            jhandle_t **handle) {
    jstatus_t status =
        handle_make(device, row->mode == JHANDLE_MODE_PREALLOCATE ? size_bytes : 0, handle);
    if (jstatus_is_error(status))
        return status;
    switch (row->mode) {
    case JHANDLE_MODE_DEFAULT:
        /* Default mode whatever the environment says. */
        return jhandle_set_workspace_size(*handle, 0);
    case JHANDLE_MODE_PREALLOCATE: return status;
    case JHANDLE_MODE_MANUAL: return jhandle_set_fixed_workspace_size(*handle, size_bytes);
    case JHANDLE_MODE_USER_OWNED: return jhandle_set_workspace(*handle, memory, size_bytes);
    }
    return JSTATUS_INTERNAL_ERROR;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The larger of `largest` and the relative differences of two arrays; NaN and infinity are
 * infinitely different. */
static double larger_difference(double largest, const double *a, const double *b, int count) {
    for (int i = 0; i < count; i++) {
        double difference = fabs(a[i] - b[i]) / fabs(b[i]);
        if (a[i] != b[i] && !(difference <= largest))
            largest = isfinite(difference) ? difference : INFINITY;
    }
    return largest;
}

double forecast_difference(const forecast_t *a, const forecast_t *b) {
    double largest =
        larger_difference(0, &a->log_marginal_likelihood, &b->log_marginal_likelihood, 1);
    largest = larger_difference(largest, a->mean, b->mean, FORECAST_MONTHS);
    largest = larger_difference(largest, a->variance, b->variance, FORECAST_MONTHS);
    largest = larger_difference(largest, a->year_mean, b->year_mean, FORECAST_YEARS);
    return larger_difference(largest, a->year_variance, b->year_variance, FORECAST_YEARS);
}

const char *status_words(jstatus_t status, char words[32]) {
    snprintf(words, 32, "%s", jstatus_name(status) + strlen("JSTATUS_"));
    for (char *c = words; *c; c++)
        *c = *c == '_' ? ' ' : (char)tolower((unsigned char)*c);
    return words;
}

/* Calls by rung, best first: "9+2" is nine on rung 0 and two on rung 1. */
static const char *rungs_text(const jhandle_stats_t *stats, char text[64]) {
    int last = JHANDLE_MAX_RUNGS - 1, length = 0;
    while (last > 0 && stats->rung_count[last] == 0)
        last--;
    for (int i = 0; i <= last && length < 48; i++)
        length += snprintf(text + length, 64 - (size_t)length, "%s%llu", i ? "+" : "",
                           (unsigned long long)stats->rung_count[i]);
    return text;
}

/* Runs one row and prints it. `first` is the forecast that all others are compared with; row 0
 * makes it. */
static bool row_run(const row_t *row, jdevice_t *device, const problem_t *problem,
                    const operands_t *operands, size_t queried_bytes, size_t least_bytes,
                    void *memory, int repeat, forecast_t *first) {
    jhandle_t *handle = NULL;
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    forecast_t forecast = {0};
    double time[MAX_REPEAT] = {0}, difference = 0;
    size_t capacity = 0, size_bytes = queried_bytes;
    char words[32], rungs[64];
    bool ok = true;

    if (row->size == HALF)
        size_bytes = queried_bytes / 2;
    if (row->size == LEAST)
        size_bytes = least_bytes;
    jstatus_t status = row_handle(row, device, size_bytes, memory, &handle);
    if (!jstatus_is_error(status) && row->warm)
        status = regression_run(handle, problem, operands, &forecast, &time[0]);
    if (!jstatus_is_error(status)) {
        jhandle_clear_stats(handle);
        status = regression_run(handle, problem, operands, &forecast, &time[0]);
        jhandle_get_stats(handle, &stats);
        jhandle_get_workspace_size(handle, &capacity);
    }
    /* A first run happens once; the others are repeated for the time only. */
    const int runs = row->mode == JHANDLE_MODE_DEFAULT && !row->warm ? 1 : repeat;
    for (int i = 1; i < runs && !jstatus_is_error(status); i++) {
        jstatus_t again = regression_run(handle, problem, operands, &forecast, &time[i]);
        status = again == JSTATUS_SUCCESS ? status : again;
    }
    qsort(time, (size_t)runs, sizeof time[0], compare_doubles);

    if (jstatus_is_error(status)) {
        printf("  %-20s %12zu  %s: %s\n", row->name, size_bytes, status_words(status, words),
               jstatus_last_message());
        ok = false;
    } else {
        if (row == rows)
            *first = forecast;
        difference = forecast_difference(&forecast, first);
        printf("  %-20s %12zu %12zu %7llu %7llu   %-9s %-14s %9.2f  %9.1e\n", row->name, capacity,
               stats.high_watermark_bytes, (unsigned long long)stats.allocation_count,
               (unsigned long long)stats.synchronization_count, rungs_text(&stats, rungs),
               status_words(status, words), time[runs / 2], difference);
        if (!(difference <= FORECAST_AGREEMENT)) {
            fprintf(stderr, "co2_forecast: mode \"%s\" does not agree with the others\n",
                    row->name);
            ok = false;
        }
        /* What the size query and the fixed modes promise. */
        if (row->mode != JHANDLE_MODE_DEFAULT &&
            (stats.allocation_count || stats.synchronization_count > RESULTS ||
             (row->size == ALL && status != JSTATUS_SUCCESS))) {
            fprintf(stderr, "co2_forecast: mode \"%s\" broke the promise of the size query\n",
                    row->name);
            ok = false;
        }
    }
    status = jhandle_destroy(handle);
    if (jstatus_is_error(status)) {
        fprintf(stderr, "co2_forecast: destroying a handle: %s\n", jstatus_last_message());
        ok = false;
    }
    return ok;
}

bool modes_run(jdevice_t *device, const problem_t *problem, int repeat, forecast_t *forecast) {
    jhandle_t *handle = NULL;
    operands_t operands = {0};
    size_t callee_bytes;
    size_t queried_bytes = 0;
    void *memory = NULL;
    double milliseconds;
    bool ok = false;

    /* The query needs no operands, so it can be made before anything is allocated. */
    jstatus_t status = handle_make(device, 0, &handle);
    if (!jstatus_is_error(status))
        status = posterior_query(handle, problem->n, &callee_bytes);
    if (!jstatus_is_error(status))
        status = regression_query(handle, problem->n, callee_bytes, &queried_bytes);
    if (!jstatus_is_error(status))
        status = operands_init(&operands, device, problem->n, callee_bytes);
    if (!jstatus_is_error(status) && queried_bytes > 0)
        status = jdevice_allocate(device, JMEMORY_DEVICE, queried_bytes, 0, &memory);
    /* Not counted: the CBLAS starts its threads in its first calls. */
    if (!jstatus_is_error(status))
        status = regression_run(handle, problem, &operands, forecast, &milliseconds);
    if (jstatus_is_error(status)) {
        fprintf(stderr, "co2_forecast: %s: %s\n", jstatus_text(status), jstatus_last_message());
        goto done;
    }

    const size_t least_bytes =
        posterior_bytes(handle, problem->n, callee_bytes, POSTERIOR_RUNGS - 1);
    printf("workspace: the size query asks for %zu bytes (%lld observations, %d months, device "
           "%s)\n\n",
           queried_bytes, (long long)problem->n, FORECAST_MONTHS, jdevice_name(device));
    printf("  %-20s %12s %12s %7s %7s   %-9s %-14s %9s  %9s\n", "mode", "workspace", "borrowed",
           "allocs", "syncs", "rungs", "status", "time", "differs");
    printf("  %-20s %12s %12s %7s %7s   %-9s %-14s %9s  %9s\n", "", "bytes", "bytes", "in run",
           "in run", "0+1+..", "", "ms", "at most");
    ok = true;
    repeat = repeat < 1 ? 1 : repeat > MAX_REPEAT ? MAX_REPEAT : repeat;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ok = row_run(&rows[i], device, problem, &operands, queried_bytes, least_bytes, memory,
                     repeat, forecast) &&
             ok;
    printf("\n");
done:
    if (memory)
        jdevice_deallocate(device, JMEMORY_DEVICE, memory, queried_bytes);
    operands_free(&operands);
    if (jstatus_is_error(jhandle_destroy(handle)))
        ok = false;
    return ok;
}
