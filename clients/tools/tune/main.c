/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc-tune: measures this machine's profile, from which jalloc predicts times.
 *
 * Each routine with rungs is called with random shapes, on each of its rungs, in just the bytes of
 * that rung, with one thread and with all. A shape's operands are made once for all of these. Small
 * shapes are many and large ones few: what is asked most is asked of small ones, and large ones are
 * alike. The file takes the place of the former one when all is measured. */

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../bench/bench.h"
#include "../../bench/jblas_bench/draw.h"
#include "../../bench/jblas_bench/measure.h"
#include "../common/json.h"
#include "../common/terminal.h"
#include "../common/tool.h"
#include "fit.h"
#include "handle/handle.h"
#include "jalloc/version.h"

enum { MAX_ENTRIES = 8, MAX_SHAPES = FIT_MAX_SAMPLES, REPEATS = 4 };
#define LONG_SECONDS 4e-3

static const tool_option_t understood[] = {
    {"output", "FILE", 'o', "where to (where predictions look for it)"},
    {"shapes", "COUNT", 's', "of each routine (32)"},
    {"routines", "NAME,...", 'r', "these alone, such as gemm,potrf (all with rungs)"},
    {"quiet", NULL, 'q', "no progress and no summary"},
    TOOL_JSON,
    {NULL, NULL, 0, NULL}};
static const tool_row_t statuses[] = {{"0", "the profile is stored, and is in force"},
                                      {"1", "it could not be measured or stored"},
                                      {"2", "wrong usage"},
                                      {NULL, NULL}};
static const tool_row_t examples[] = {{"jalloc-tune", "measures all, in two or three minutes"},
                                      {"jalloc-tune --routines gemm,potrf --output node7.profile",
                                       "two routines, into a file that JALLOC_PROFILE may name"},
                                      {NULL, NULL}};
static const tool_t tool = {
    .name = "jalloc-tune",
    .usage = "[OPTION]...",
    .summary = "measures this machine's profile, by which jalloc predicts how long calls take",
    .about = "A machine that does other work meanwhile spoils it.",
    .options = understood,
    .statuses = statuses,
    .examples = examples,
};

typedef struct settings {
    const char *output, *routines;
    int shapes;
    bool quiet, json;
} settings_t;

/* A rung with a number of threads, of the routine that is measured. */
typedef struct entry {
    char rung[32];
    int threads;
    size_t count;
    sample_t samples[MAX_SHAPES];
} entry_t;

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
    return keeper.has && !jstatus_is_error(answer);
}

/* ---- Measuring ---- */

/* The shortest of a few samples, of what takes long of two; below 0 where the call fails or
 * takes another rung. */
static double time_rung(jhandle_t *handle, problem_t *problem, uint32_t rung) {
    jstatus_t status = JSTATUS_SUCCESS;
    double least = INFINITY;
    (void)jhandle_clear_stats(handle);
    for (int i = 0; i < 2 || (i < REPEATS && least < LONG_SECONDS); i++)
        least = fmin(least, measure_sample(handle, problem, &status));
    jhandle_stats_t stats = JHANDLE_STATS_INIT;
    (void)jhandle_get_stats(handle, &stats);
    const bool was_planned = stats.rung_count[0] + stats.degraded_count > 0;
    if (jstatus_is_error(status) || (was_planned && stats.rung_count[rung] == 0))
        return -1;
    return least;
}

static entry_t *entry_of(entry_t *entries, size_t *count, const char *rung, int threads) {
    for (size_t i = 0; i < *count; i++)
        if (entries[i].threads == threads && strcmp(entries[i].rung, rung) == 0)
            return &entries[i];
    if (*count == MAX_ENTRIES * 2)
        return NULL;
    entry_t *entry = &entries[(*count)++];
    snprintf(entry->rung, sizeof entry->rung, "%s", rung);
    entry->threads = threads;
    entry->count = 0;
    return entry;
}

/* One shape on every rung with one thread and with all. */
static void measure_shape(jhandle_t *handle, int all_threads, const routine_t *routine,
                          const options_t *options, entry_t *entries, size_t *count) {
    problem_t problem;
    jplan_t plan;
    jstatus_t status = JSTATUS_SUCCESS;
    if (!measure_init(&problem, handle, routine, options, &status))
        return;

    for (int threads = 1; threads <= all_threads && !jstatus_is_error(status);
         threads = threads < all_threads ? all_threads : all_threads + 1) {
        (void)jhandle_set_threads(handle, threads);
        if (!plan_of(handle, routine, options, &plan))
            break;
        for (uint32_t rung = 0; rung < plan.rung_count; rung++) {
            const size_t bytes = ji_rung_bytes(&plan.rungs[rung], 64);
            entry_t *entry = entry_of(entries, count, plan.rungs[rung].name, threads);
            if (entry == NULL || entry->count == MAX_SHAPES ||
                jstatus_is_error(measure_lend(handle, bytes)))
                continue;
            const double seconds = time_rung(handle, &problem, rung);
            if (seconds <= 0)
                continue;
            sample_t *sample = &entry->samples[entry->count++];
            sample->seconds = seconds;
            ji_profile_features(&plan, rung, sample->features);
            ji_profile_sizes(&plan, sample->point.sizes);
        }
    }
    (void)jhandle_set_workspace(handle, NULL, 0);
    problem_fini(&problem);
}

/* ---- The file ---- */

static void write_entry(FILE *file, const char *name, entry_t *entry) {
    double coefficients[JI_PROFILE_FEATURES];
    if (entry->count < 4)
        return;
    fit(entry->samples, entry->count, coefficients);
    fprintf(file, "entry\t%s\t%s\t%d\t%zu\nfit", name, entry->rung, entry->threads, entry->count);
    for (int i = 0; i < JI_PROFILE_FEATURES; i++)
        fprintf(file, "\t%.6g", coefficients[i]);
    fputc('\n', file);
    for (size_t s = 0; s < entry->count; s++) {
        const ji_profile_point_t *point = &entry->samples[s].point;
        fputs("at", file);
        for (int i = 0; i < JI_PROFILE_SIZES; i++)
            fprintf(file, "\t%.6g", (double)point->sizes[i]);
        fprintf(file, "\t%.4g\n", (double)point->correction);
    }
}

/* The name that plans have for it. */
static bool routine_name(jhandle_t *handle, const routine_t *routine, const options_t *options,
                         char name[64]) {
    jplan_t plan;
    if (!plan_of(handle, routine, options, &plan) || plan.routine == NULL)
        return false;
    snprintf(name, 64, "%s", plan.routine);
    return true;
}

/* All shapes of a routine at a type; false: the file cannot be written. */
static bool measure_routine(FILE *file, jhandle_t *handle, int all_threads,
                            const settings_t *settings, const routine_t *routine,
                            jdatatype_t type) {
    static entry_t entries[MAX_ENTRIES * 2];
    size_t count = 0;
    options_t options;
    char name[64] = "";
    draw_t draw = {.state = 88172645463325252u + type, .low = 16, .high = 4096};
    for (int shape = 0; shape < settings->shapes; shape++) {
        /* One in eight is large, and gives the rate that all larger ones have; one in four may be
         * as oblong as can be. */
        const bool is_large = shape % 8 == 7;
        draw.high = is_large || shape % 4 == 1 ? 4096 : 600;
        draw.least_flops = is_large ? 1e8 : 0;
        draw.most_flops = is_large ? 4e8 : 4e7;
        if (!draw_call(&draw, handle, routine, type, &options))
            continue;
        if (name[0] == '\0' && !routine_name(handle, routine, &options, name))
            return true;
        measure_shape(handle, all_threads, routine, &options, entries, &count);
    }
    for (size_t i = 0; i < count; i++)
        write_entry(file, name, &entries[i]);
    return !ferror(file);
}

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

/* Each name is one that is measured. */
static void check_routines(const char *names) {
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

static bool measure_all(FILE *file, jhandle_t *handle, const settings_t *settings) {
    int all_threads = 1;
    (void)jhandle_get_threads(handle, &all_threads);
    all_threads = all_threads < 1 ? 1 : all_threads;

    fprintf(file, JI_PROFILE_TITLE "\nlibrary\t%s\nprocessor\t%s\n", jalloc_version_string(),
            jprofile_processor());
    (void)jhandle_set_threads(handle, 1);
    write_rates(file, handle);
    int routines_count = 0, done = 0;
    for (const routine_t *routine = routines; routine->name; routine++)
        routines_count += draw_has(routine);
    for (const routine_t *routine = routines; routine->name; routine++) {
        if (!draw_has(routine))
            continue;
        if (!settings->quiet)
            tool_progress(routine->name, (uint64_t)done, (uint64_t)routines_count);
        done++;
        if (!is_wanted(settings, routine->name))
            continue;
        for (const char *letter = routine->types; *letter; letter++) {
            const char *found = strchr("sdcz", *letter);
            if (found != NULL && !measure_routine(file, handle, all_threads, settings, routine,
                                                  (jdatatype_t)(found - "sdcz")))
                return false;
        }
    }
    tool_progress_end();
    return true;
}

/* Makes the folders of a path. */
static void make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

static void report_profile(const settings_t *settings, const char *path, double seconds) {
    jprofile_info_t info = JPROFILE_INFO_INIT;
    (void)jprofile_get_info(&info);
    if (settings->json) {
        json_open(NULL, '{');
        json_text("path", path);
        json_text("processor", jprofile_processor());
        json_number("entries", (int64_t)info.entry_count);
        json_real("flops_per_second", info.flops_per_second);
        json_real("bytes_per_second", info.bytes_per_second);
        json_real("seconds", seconds);
        json_close('}');
        json_end();
    } else if (!settings->quiet) {
        printf("%s: %llu entries, %s, %.0f s\n", path, (unsigned long long)info.entry_count,
               jprofile_processor(), seconds);
    }
}

/* Measures into a file beside, which then takes the place. */
static void tune(const settings_t *settings, char *path) {
    char beside[4200];
    snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
    make_folders(path);
    /* A device in whose place a file were put would be lost. */
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        tool_fail("%s: is there, and is no file", path);
    FILE *file = fopen(beside, "we");
    if (file == NULL)
        tool_fail("%s: %s", beside, strerror(errno));
    jhandle_t *handle = NULL;
    if (jstatus_is_error(jhandle_create(NULL, &handle))) {
        (void)fclose(file);
        (void)unlink(beside);
        tool_fail("%s", jstatus_last_message());
    }

    const double start = bench_now();
    bool written = measure_all(file, handle, settings);
    (void)jhandle_destroy(handle);
    written = fclose(file) == 0 && written;
    if (!written || rename(beside, path) != 0) {
        const int error = errno;
        (void)unlink(beside);
        tool_fail("%s: %s", path, strerror(error));
    }
    if (jstatus_is_error(jprofile_load(path)))
        tool_fail("%s", jstatus_last_message());
    report_profile(settings, path, bench_now() - start);
}

int main(int argc, char **argv) {
    settings_t settings = {.shapes = 32};
    tool_begin(&tool);
    for (int option; (option = tool_next_option(argc, argv)) != -1;)
        switch (option) {
        case 'o': settings.output = optarg; break;
        case 's': settings.shapes = (int)tool_number("shapes", optarg, 4, MAX_SHAPES); break;
        case 'r': settings.routines = optarg; break;
        case 'q': settings.quiet = true; break;
        case 'j': settings.json = true; break;
        }
    if (optind != argc)
        tool_refuse("unexpected argument '%s'", argv[optind]);
    check_routines(settings.routines);

    char path[4096];
    if (settings.output != NULL)
        snprintf(path, sizeof path, "%s", settings.output);
    else if (jprofile_default_path(path, sizeof path) != JSTATUS_SUCCESS)
        tool_fail("%s; --output FILE says where to", jstatus_last_message());
    tune(&settings, path);
    return tool_end(TOOL_GOOD);
}
