/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is measured, and the file that comes of it. A pass takes one shape of each routine and type,
 * and there are passes for most of a minute. The rest is for shapes that were measured beside busy
 * neighbours: half a minute later these may be gone, and the pace takes out but a part of what they
 * cost. */

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

/* What has no entry is predicted by, vectors' calls and kernels of one's own: products of doubles,
 * copies, and what a call costs that has nothing to do but to be one. */
static void write_rates(FILE *file, jhandle_t *handle) {
    enum { N = 512, BYTES = 32 << 20, CALLS = 10000 };
    double *a = calloc(3 * N * N, sizeof *a), one = 1, zero = 0, flops = 2e10, bytes = 1e10;
    char *from = calloc(2, BYTES);
    double product = INFINITY, copy = INFINITY, call = 1e-6;
    for (int i = 0; i < 5 && a != NULL && from != NULL; i++) {
        double start = bench_now();
        (void)jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, N, N, N, &one, a, N,
                          a + N * N, N, &zero, a + 2 * N * N, N);
        product = fmin(product, bench_now() - start);
        start = bench_now();
        memcpy(from + BYTES, from, BYTES);
        bench_keep(from);
        copy = fmin(copy, bench_now() - start);
        start = bench_now();
        for (int c = 0; c < CALLS; c++)
            (void)jblas_daxpy(handle, 1, &one, a, 1, a + N, 1);
        call = fmin(call, (bench_now() - start) / CALLS);
    }
    if (isfinite(product))
        flops = 2.0 * N * N * N / product, bytes = 2.0 * BYTES / copy;
    fprintf(file, "rates\t%.4g\t%.4g\t%.4g\n", flops, bytes, call);
    free(a);
    free(from);
}

static void write_head(FILE *file, jhandle_t *handle, const pace_t *pace) {
    fprintf(file, JI_PROFILE_TITLE "\nlibrary\t%s\nprocessor\t%s\n", jalloc_version_string(),
            jprofile_processor());
    (void)jhandle_set_threads(handle, 1);
    write_rates(file, handle);
    fprintf(file, "pace\t%.4g\n", pace->fastest);
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
    for (bool is_more = names != NULL; is_more;) {
        const size_t length = strcspn(names, ",");
        bool found = false;
        for (const routine_t *routine = routines; routine->name && !found; routine++)
            found = draw_has(routine) && strlen(routine->name) == length &&
                    strncmp(routine->name, names, length) == 0;
        if (!found)
            tool_refuse("--routines: '%.*s' is no routine with rungs", (int)length, names);
        is_more = names[length] == ',';
        names += length + is_more;
    }
}

/* The rest of a minute is the fit's. */
enum { SECONDS = 55, LEAST_PASSES = 6, MOST_PASSES = 100 };
#define NEW_SHARE 0.75 /* of the time, for shapes that were not measured yet */
#define QUIET 1.1      /* times the fastest pace: what is measured then is not measured again */

/* What a routine's shapes took so far, on all rungs with all that is around. */
typedef struct cost {
    double flops, seconds;
} cost_t;

/* A shape that was drawn. */
typedef struct shape {
    const routine_t *routine;
    options_t options;
    double product; /* the slowest that its samples were measured by */
} shape_t;

/* What is measured, so far. */
typedef struct work {
    store_t store;
    pace_t pace;
    jhandle_t *handle;
    int all_threads;
    cost_t *costs; /* of each routine */
    shape_t *shapes;
    size_t count, room;
    size_t next; /* to be looked at for being measured again */
} work_t;

static void measure_drawn(work_t *work, size_t which) {
    shape_t *shape = &work->shapes[which];
    shape->product = measure_shape(&work->store, &work->pace, work->handle, work->all_threads,
                                   shape->routine, &shape->options, which);
}

/* The shape of a pass. What it may take is the same for all routines, however slow: one is not to
 * be measured at the cost of the others. One in three shapes is large, and of these one of four,
 * of each type in turn, as large as any that is asked about: what is five times as large as all
 * that was measured is predicted half as well. */
static void measure_one(work_t *work, const routine_t *routine, jdatatype_t type, int pass) {
    const bool is_large = pass % 3 == 2, is_largest = is_large && (pass / 3) % 4 == (int)type;
    cost_t *cost = &work->costs[routine - routines];
    const double seconds = is_largest ? 0.15
                           : is_large ? 0.03
                                      : 0.005,
                 most = fmin(seconds * cost->flops / cost->seconds, 2e9);
    const uint64_t which = ((uint64_t)(routine - routines) * 1000 + (uint64_t)pass) * 4 + type;
    draw_t draw = {.state = (which + 1) * UINT64_C(0x9E3779B97F4A7C15),
                   .low = 16,
                   .high = 4096,
                   .least_flops = is_large ? most / 4 : 0,
                   .most_flops = most};
    shape_t shape = {.routine = routine};
    if (!draw_call(&draw, work->handle, routine, type, &shape.options))
        return;
    if (work->count == work->room) {
        work->room = work->room == 0 ? 256 : 2 * work->room;
        work->shapes = tool_reallocate(work->shapes, work->count, work->room, sizeof *work->shapes);
    }
    work->shapes[work->count] = shape;
    const double start = bench_now();
    measure_drawn(work, work->count++);
    cost->flops += draw.flops;
    cost->seconds += bench_now() - start;
}

static void measure_pass(work_t *work, const settings_t *settings, int pass) {
    for (const routine_t *routine = routines; routine->name; routine++)
        for (const char *letter = routine->types; *letter; letter++) {
            const char *found = strchr("sdcz", *letter);
            if (found != NULL && draw_has(routine) && is_wanted(settings, routine->name))
                measure_one(work, routine, (jdatatype_t)(found - "sdcz"), pass);
        }
}

/* Measures the next shape again that was measured while the machine was slow. False: there is none
 * among all of them. */
static bool measure_slow(work_t *work) {
    for (size_t i = 0; i < work->count; i++) {
        const size_t which = work->next++ % work->count;
        if (work->shapes[which].product > QUIET * work->pace.fastest) {
            measure_drawn(work, which);
            return true;
        }
    }
    return false;
}

/* The first part of the time is for shapes; then those that were measured while the machine was
 * slow are measured again, one after the other, and there are more shapes where none is left. */
static void measure_all(work_t *work, const settings_t *settings) {
    const double start = bench_now();
    int pass = 0;
    for (;;) {
        const double share = (bench_now() - start) / SECONDS;
        if (share >= 1 && pass >= LEAST_PASSES)
            break;
        if (!settings->quiet)
            tool_progress("shapes", (uint64_t)(100 * fmin(share, 1)), 100);
        if (pass >= LEAST_PASSES && share >= NEW_SHARE && measure_slow(work))
            continue;
        if (pass == MOST_PASSES)
            break;
        measure_pass(work, settings, pass++);
    }
}

/* So many of each, and those that were slow once more. */
static void measure_some(work_t *work, const settings_t *settings) {
    for (int pass = 0; pass < settings->shapes; pass++) {
        if (!settings->quiet)
            tool_progress("shapes", (uint64_t)pass, (uint64_t)settings->shapes);
        measure_pass(work, settings, pass);
    }
    for (size_t i = 0; i < work->count && measure_slow(work); i++)
        continue;
}

bool write_shapes(FILE *file, jhandle_t *handle, int all_threads, const settings_t *settings) {
    work_t work = {.handle = handle, .all_threads = all_threads};
    if (!pace_init(&work.pace))
        tool_fail("%s", jstatus_last_message());

    size_t routine_count = 0;
    while (routines[routine_count].name)
        routine_count++;
    work.costs = tool_allocate(routine_count, sizeof *work.costs);
    for (size_t i = 0; i < routine_count; i++)
        work.costs[i] = (cost_t){.flops = 4e7, .seconds = 0.02}; /* a guess, soon outweighed */

    if (settings->shapes > 0)
        measure_some(&work, settings);
    else
        measure_all(&work, settings);
    tool_progress_end();
    free(work.costs);
    free(work.shapes);
    store_scale(&work.store, work.pace.fastest);
    write_head(file, handle, &work.pace);
    pace_fini(&work.pace);
    store_write(&work.store, file, handle);
    store_free(&work.store);
    return !ferror(file);
}

/* ---- The calls of a log ---- */

/* What a line says, of a call on the host that the handle takes. NULL: it is none, and the reason
 * says why. */
static const routine_t *take_line(const line_t *line, jhandle_t *handle, options_t *options,
                                  char reason[OPTIONS_REASON_BYTES]) {
    const routine_t *routine = log_parse(line, options, reason);
    problem_t problem;
    size_t bytes;
    if (routine == NULL)
        return NULL;
    if (strcmp(options->device, "host") != 0) {
        snprintf(reason, OPTIONS_REASON_BYTES, "a call on %.32s, and profiles are of the host",
                 options->device);
        return NULL;
    }
    problem_describe(&problem, routine, options);
    const jstatus_t status = measure_query(handle, &problem, &bytes);
    if (jstatus_is_error(status))
        snprintf(reason, OPTIONS_REASON_BYTES, "%s: %s: %.400s", options->function,
                 jstatus_text(status), jhandle_last_message(handle));
    return jstatus_is_error(status) ? NULL : routine;
}

/* The lines of which take_line() makes calls with rungs, on each of them. */
static void measure_log(store_t *store, pace_t *pace, const log_t *log, jhandle_t *handle,
                        int all_threads, const settings_t *settings) {
    char reason[OPTIONS_REASON_BYTES];
    options_t options;
    const uint64_t to_do = log->line_count * (uint64_t)settings->passes;
    for (uint64_t done = 0; done < to_do; done++) {
        const size_t line = (size_t)(done % log->line_count);
        const routine_t *routine = take_line(&log->lines[line], handle, &options, reason);
        if (!settings->quiet)
            tool_progress(routine != NULL ? routine->name : "", done, to_do);
        if (routine == NULL && done < log->line_count)
            tool_warn("%s:%llu: %s", log->path, (unsigned long long)log->lines[line].number,
                      reason);
        if (routine != NULL)
            (void)measure_shape(store, pace, handle, all_threads, routine, &options, (size_t)done);
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

    pace_t pace;
    if (!pace_init(&pace))
        tool_fail("%s", jstatus_last_message());
    measure_log(&store, &pace, &log, handle, all_threads, settings);
    if (store.count == 0)
        tool_fail("%s: no call of it has rungs that can be measured here", log.path);
    store_scale(&store, former != NULL ? pace_of_profile(path) : pace.fastest);
    bool written = true;
    if (former != NULL) {
        written = copy_former(file, former, &store);
        (void)fclose(former);
    } else {
        write_head(file, handle, &pace);
    }
    pace_fini(&pace);
    store_write_calls(&store, file);
    store_free(&store);
    log_free(&log);
    return written && !ferror(file);
}
