/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is measured, and the file that comes of it. All is done in some passes, of which the
 * shortest time counts: on a machine that is shared the processor may be half as fast for seconds,
 * and that disturbs one pass. */

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

/* All shapes of a routine at a type. They are the same in each pass. */
static void measure_routine(store_t *store, jhandle_t *handle, int all_threads,
                            const settings_t *settings, const routine_t *routine,
                            jdatatype_t type) {
    options_t options;
    draw_t draw = {.state = 88172645463325252u + type, .low = 16, .high = 4096};
    for (int shape = 0; shape < settings->shapes; shape++) {
        /* One in six is large, and gives the rate that all larger ones have; one in four may be
         * as oblong as can be. */
        const bool is_large = shape % 6 == 5;
        draw.high = is_large || shape % 4 == 1 ? 4096 : 600;
        draw.least_flops = is_large ? 5e7 : 0;
        draw.most_flops = is_large ? 2e8 : 4e7;
        if (draw_call(&draw, handle, routine, type, &options))
            measure_shape(store, handle, all_threads, routine, &options, shape);
    }
}

bool write_shapes(FILE *file, jhandle_t *handle, int all_threads, const settings_t *settings) {
    store_t store = {.count = 0};
    int to_do = 0, done = 0;
    for (const routine_t *routine = routines; routine->name; routine++)
        to_do += settings->passes * draw_has(routine);

    for (int pass = 0; pass < settings->passes; pass++)
        for (const routine_t *routine = routines; routine->name; routine++) {
            if (!draw_has(routine))
                continue;
            if (!settings->quiet)
                tool_progress(routine->name, (uint64_t)done, (uint64_t)to_do);
            done++;
            for (const char *letter = routine->types; *letter && is_wanted(settings, routine->name);
                 letter++) {
                const char *found = strchr("sdcz", *letter);
                if (found != NULL)
                    measure_routine(&store, handle, all_threads, settings, routine,
                                    (jdatatype_t)(found - "sdcz"));
            }
        }
    tool_progress_end();
    write_head(file, handle);
    store_write(&store, file);
    store_free(&store);
    return !ferror(file);
}

/* ---- The calls of a log ---- */

/* The lines that the handle takes and that have rungs, on each of them. */
static void measure_log(store_t *store, const log_t *log, jhandle_t *handle, int all_threads,
                        const settings_t *settings) {
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
            measure_shape(store, handle, all_threads, routine, &options, (int)line);
    }
    tool_progress_end();
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
