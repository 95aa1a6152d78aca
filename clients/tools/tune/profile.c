/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is measured, and the file that comes of it. A pass takes one shape of each routine and type,
 * and there are passes for a minute: shapes that differ say more than one that is measured again,
 * for what disturbs one measurement the fit evens out. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../bench/bench.h"
#include "../../bench/jblas_bench/draw.h"
#include "../../bench/jblas_bench/log.h"
#include "../common/terminal.h"
#include "../common/tool.h"
#include "jalloc/version.h"
#include "tune.h"

/* ---- What all have ---- */

/* What kernels of one's own are predicted by: products of doubles, copies, and a call. */
static void write_rates(FILE *file, jhandle_t *handle) {
    enum { N = 512, BYTES = 32 << 20 };
    double *a = calloc(3 * N * N, sizeof *a), one = 1, zero = 0, flops = 2e10, bytes = 1e10;
    char *from = calloc(2, BYTES);
    double product = INFINITY, copy = INFINITY;
    for (int i = 0; i < 5 && a != NULL && from != NULL; i++) {
        double start = bench_now();
        (void)jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, N, N, N, &one, a, N,
                          a + N * N, N, &zero, a + 2 * N * N, N);
        product = fmin(product, bench_now() - start);
        start = bench_now();
        memcpy(from + BYTES, from, BYTES);
        bench_keep(from);
        copy = fmin(copy, bench_now() - start);
    }
    if (isfinite(product))
        flops = 2.0 * N * N * N / product, bytes = 2.0 * BYTES / copy;
    fprintf(file, "rates\t%.4g\t%.4g\t1e-6\n", flops, bytes);
    free(a);
    free(from);
}

static void write_head(FILE *file, jhandle_t *handle) {
    fprintf(file, JI_PROFILE_TITLE "\nlibrary\t%s\nprocessor\t%s\n", jalloc_version_string(),
            jprofile_processor());
    (void)jhandle_set_threads(handle, 1);
    write_rates(file, handle);
}

/* ---- Random shapes ---- */

static bool is_wanted(const settings_t *settings, const char *name) {
    if (settings->routines == NULL)
        return true;
    const size_t length = strlen(name);
    for (const char *at = settings->routines; at != NULL && *at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == '\0' || at[length] == ','))
            return true;
    }
    return false;
}

void check_routines(const char *names) {
    while (names != NULL && *names != '\0') {
        const size_t length = strcspn(names, ",");
        bool found = false;
        for (const routine_t *routine = routines; routine->name && !found; routine++)
            found = draw_has(routine) && strlen(routine->name) == length &&
                    strncmp(routine->name, names, length) == 0;
        if (!found)
            tool_refuse("--routines: '%.*s' is no routine with rungs", (int)length, names);
        names += length + (names[length] == ',');
    }
}

/* The shape of a pass. One in six is large, and gives the rate that all larger ones have. */
static void measure_one(store_t *store, pace_t *pace, jhandle_t *handle, int all_threads,
                        const routine_t *routine, jdatatype_t type, int pass) {
    const bool is_large = pass % 6 == 5;
    const uint64_t which = ((uint64_t)(routine - routines) * 1000 + (uint64_t)pass) * 4 + type;
    draw_t draw = {.state = (which + 1) * UINT64_C(0x9E3779B97F4A7C15),
                   .low = 16,
                   .high = 4096,
                   .least_flops = is_large ? 5e7 : 0,
                   .most_flops = is_large ? 2e8 : 4e7};
    options_t options;
    if (draw_call(&draw, handle, routine, type, &options))
        measure_shape(store, pace, handle, all_threads, routine, &options);
}

static void measure_pass(store_t *store, pace_t *pace, jhandle_t *handle, int all_threads,
                         const settings_t *settings, int pass) {
    for (const routine_t *routine = routines; routine->name; routine++)
        for (const char *letter = routine->types; *letter; letter++) {
            const char *found = strchr("sdcz", *letter);
            if (found != NULL && draw_has(routine) && is_wanted(settings, routine->name))
                measure_one(store, pace, handle, all_threads, routine,
                            (jdatatype_t)(found - "sdcz"), pass);
        }
}

bool write_shapes(FILE *file, jhandle_t *handle, int all_threads, const settings_t *settings) {
    enum { SECONDS = 55, LEAST_PASSES = 6, MOST_PASSES = 100 };
    store_t store = {.count = 0};
    pace_t pace;
    if (!pace_init(&pace))
        tool_fail("%s", jstatus_last_message());

    const double start = bench_now();
    for (int pass = 0; pass < (settings->shapes > 0 ? settings->shapes : MOST_PASSES); pass++) {
        const double share = (bench_now() - start) / SECONDS;
        if (settings->shapes == 0 && pass >= LEAST_PASSES && share >= 1)
            break;
        if (!settings->quiet)
            tool_progress("shapes", settings->shapes > 0 ? (uint64_t)pass : (uint64_t)(100 * share),
                          settings->shapes > 0 ? (uint64_t)settings->shapes : 100);
        measure_pass(&store, &pace, handle, all_threads, settings, pass);
    }
    tool_progress_end();
    store_scale(&store, pace.fastest);
    pace_fini(&pace);
    write_head(file, handle);
    store_write(&store, file);
    store_free(&store);
    return !ferror(file);
}

/* ---- The calls of a log ---- */

/* The lines that the handle takes and that have rungs, on each of them. */
static void measure_log(store_t *store, const log_t *log, jhandle_t *handle, int all_threads,
                        const settings_t *settings) {
    pace_t pace;
    if (!pace_init(&pace))
        tool_fail("%s", jstatus_last_message());
    char reason[OPTIONS_REASON_BYTES];
    options_t options;
    const uint64_t to_do = log->line_count * (uint64_t)settings->passes;
    for (uint64_t done = 0; done < to_do; done++) {
        const size_t line = (size_t)(done % log->line_count);
        const routine_t *routine = log_parse(&log->lines[line], &options, reason);
        if (!settings->quiet)
            tool_progress(routine != NULL ? routine->name : "", done, to_do);
        if (routine == NULL && done < log->line_count)
            tool_warn("%s:%llu: %s", log->path, (unsigned long long)log->lines[line].number,
                      reason);
        if (routine != NULL && strcmp(options.device, "host") == 0)
            measure_shape(store, &pace, handle, all_threads, routine, &options);
    }
    tool_progress_end();
    store_scale(store, pace.fastest);
    pace_fini(&pace);
}

/* Everything but what was measured anew. */
static bool copy_former(FILE *file, FILE *former, const store_t *store) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, former) > 0)
        if (!store_has_call(store, line))
            fputs(line, file);
    free(line);
    return !ferror(former);
}

bool write_calls(FILE *file, const char *path, jhandle_t *handle, int all_threads,
                 const settings_t *settings) {
    store_t store = {.count = 0};
    log_t log;
    log_read(&log, settings->calls);
    FILE *former = fopen(path, "re");
    if (former == NULL && errno != ENOENT)
        tool_fail("%s: %s", path, strerror(errno));
    if (former != NULL && jstatus_is_error(jprofile_load(path)))
        tool_fail("%s; jalloc-tune without --calls measures it anew", jstatus_last_message());

    measure_log(&store, &log, handle, all_threads, settings);
    bool written = true;
    if (former != NULL) {
        written = copy_former(file, former, &store);
        (void)fclose(former);
    } else {
        write_head(file, handle);
    }
    store_write_calls(&store, file);
    store_free(&store);
    log_free(&log);
    return written && !ferror(file);
}
