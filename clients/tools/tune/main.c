/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc-tune: measures this machine's profile, from which jalloc predicts times.
 *
 *     jalloc-tune [--output FILE] [--shapes COUNT] [--passes COUNT] [--routines NAME,...]
 *                 [--quiet]
 *
 * Each routine with rungs is called with random shapes, on each of its rungs, in just the bytes of
 * that rung, with one thread and with all. A shape's operands are made once for all of these. Small
 * shapes are many and large ones few: what is asked most is asked of small ones, and large ones are
 * alike. All of it is done in some passes, of which the shortest time counts: on a machine that is
 * shared the processor may be half as fast for seconds. The file takes the place of the former one
 * when all is measured. */

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
#include "handle/handle.h"
#include "jalloc/version.h"
#include "store.h"

typedef struct settings {
    const char *output, *routines;
    int shapes, passes;
    bool quiet;
} settings_t;

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

/* The shorter of two samples; below 0 where the call fails or takes another rung. */
static double time_rung(jhandle_t *handle, problem_t *problem, uint32_t rung) {
    jstatus_t status = JSTATUS_SUCCESS;
    (void)jhandle_clear_stats(handle);
    const double first = measure_sample(handle, problem, &status),
                 second = measure_sample(handle, problem, &status);
    jhandle_stats_t stats = JHANDLE_STATS_INIT;
    (void)jhandle_get_stats(handle, &stats);
    const bool was_planned = stats.rung_count[0] + stats.degraded_count > 0;
    if (jstatus_is_error(status) || (was_planned && stats.rung_count[rung] == 0))
        return -1;
    return fmin(first, second);
}

/* One shape on every rung with one thread and with all. */
static void measure_shape(jhandle_t *handle, int all_threads, const routine_t *routine,
                          const options_t *options, int shape, store_t *store) {
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
            sample_t *sample =
                store_sample(store, plan.routine, plan.rungs[rung].name, threads, shape);
            const size_t bytes = ji_rung_bytes(&plan.rungs[rung], 64);
            if (sample == NULL || jstatus_is_error(measure_lend(handle, bytes)))
                continue;
            const double seconds = time_rung(handle, &problem, rung);
            if (seconds <= 0 || (sample->seconds > 0 && sample->seconds <= seconds))
                continue;
            sample->seconds = seconds;
            ji_profile_features(&plan, rung, sample->features);
            ji_profile_sizes(&plan, sample->point.sizes);
        }
    }
    (void)jhandle_set_workspace(handle, NULL, 0);
    problem_fini(&problem);
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
            measure_shape(handle, all_threads, routine, &options, shape, store);
    }
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

/* Whether each name is one that is measured. */
static bool are_known(const char *names) {
    while (names != NULL && *names != '\0') {
        const size_t length = strcspn(names, ",");
        bool found = false;
        for (const routine_t *routine = routines; routine->name && !found; routine++)
            found = draw_has(routine) && strlen(routine->name) == length &&
                    strncmp(routine->name, names, length) == 0;
        if (!found) {
            fprintf(stderr, "jalloc-tune: \"%.*s\" is no routine with rungs\n", (int)length, names);
            return false;
        }
        names += length + (names[length] == ',');
    }
    return true;
}

/* Passes follow each other, so that what disturbs the machine for some seconds disturbs one. */
static void measure_all(store_t *store, jhandle_t *handle, const settings_t *settings) {
    int all_threads = 1;
    (void)jhandle_get_threads(handle, &all_threads);
    all_threads = all_threads < 1 ? 1 : all_threads;
    const bool shows = !settings->quiet && isatty(STDERR_FILENO);
    int to_do = 0, done = 0;
    for (const routine_t *routine = routines; routine->name; routine++)
        to_do += settings->passes * draw_has(routine);

    for (int pass = 0; pass < settings->passes; pass++)
        for (const routine_t *routine = routines; routine->name; routine++) {
            if (!draw_has(routine))
                continue;
            if (shows)
                fprintf(stderr, "\r%3d %% %-12s", 100 * done / to_do, routine->name);
            done++;
            for (const char *letter = routine->types; *letter && is_wanted(settings, routine->name);
                 letter++) {
                const char *found = strchr("sdcz", *letter);
                if (found != NULL)
                    measure_routine(store, handle, all_threads, settings, routine,
                                    (jdatatype_t)(found - "sdcz"));
            }
        }
    if (shows)
        fputs("\r100 %             \n", stderr);
}

static bool write_profile(FILE *file, jhandle_t *handle, const settings_t *settings) {
    store_t store = {.count = 0};
    fprintf(file, JI_PROFILE_TITLE "\nlibrary\t%s\nprocessor\t%s\n", jalloc_version_string(),
            jprofile_processor());
    measure_all(&store, handle, settings);
    (void)jhandle_set_threads(handle, 1);
    write_rates(file, handle);
    store_write(&store, file);
    store_free(&store);
    return !ferror(file);
}

/* Makes the folders of a path. */
static void make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

/* Measures into a file beside, which then takes the place. */
static int tune(const settings_t *settings, char *path) {
    char beside[4200];
    snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
    make_folders(path);
    FILE *file = fopen(beside, "we");
    if (file == NULL) {
        fprintf(stderr, "jalloc-tune: %s: %s\n", beside, strerror(errno));
        return 1;
    }
    jhandle_t *handle = NULL;
    jstatus_t status = jhandle_create(NULL, &handle);
    if (jstatus_is_error(status)) {
        fprintf(stderr, "jalloc-tune: %s\n", jstatus_last_message());
        (void)fclose(file);
        (void)unlink(beside);
        return 1;
    }
    const double start = bench_now();
    bool written = write_profile(file, handle, settings);
    (void)jhandle_destroy(handle);
    written = fclose(file) == 0 && written;
    if (written)
        written = rename(beside, path) == 0;
    if (!written) {
        fprintf(stderr, "jalloc-tune: %s: %s\n", path, strerror(errno));
        (void)unlink(beside);
        return 1;
    }
    status = jprofile_load(path);
    if (jstatus_is_error(status)) {
        fprintf(stderr, "jalloc-tune: %s\n", jstatus_last_message());
        return 1;
    }
    jprofile_info_t info = JPROFILE_INFO_INIT;
    (void)jprofile_get_info(&info);
    if (!settings->quiet)
        printf("%s: %llu entries, %s, %.0f s\n", path, (unsigned long long)info.entry_count,
               jprofile_processor(), bench_now() - start);
    return 0;
}

static void print_help(FILE *file) {
    fputs("Measures this machine's profile, by which jalloc predicts how long calls take.\n\n"
          "usage: jalloc-tune [options]\n"
          "  --output FILE         default: where predictions look for it\n"
          "  --shapes COUNT        of each routine; default 12\n"
          "  --passes COUNT        over all, of which the shortest time counts; default 3\n"
          "  --routines NAME,...   these alone, such as gemm,potrf; default all with rungs\n"
          "  --quiet               no progress and no summary\n"
          "  --help                this text\n",
          file);
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},
        {"shapes", required_argument, NULL, 's'},
        {"passes", required_argument, NULL, 'p'},
        {"routines", required_argument, NULL, 'r'},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    settings_t settings = {.shapes = 12, .passes = 3};
    for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        char *end = NULL;
        switch (option) {
        case 'o': settings.output = optarg; break;
        case 's':
        case 'p': {
            const int most = option == 's' ? FIT_MAX_SAMPLES : 100, least = option == 's' ? 4 : 1;
            const int number = (int)strtol(optarg, &end, 10);
            if (*end != '\0' || number < least || number > most) {
                fprintf(stderr, "jalloc-tune: --%s is a number from %d to %d\n",
                        option == 's' ? "shapes" : "passes", least, most);
                return 2;
            }
            *(option == 's' ? &settings.shapes : &settings.passes) = number;
            break;
        }
        case 'r': settings.routines = optarg; break;
        case 'q': settings.quiet = true; break;
        case 'h': print_help(stdout); return 0;
        default: return 2;
        }
    }
    if (optind != argc) {
        print_help(stderr);
        return 2;
    }
    if (!are_known(settings.routines))
        return 2;

    char path[4096];
    if (settings.output != NULL)
        snprintf(path, sizeof path, "%s", settings.output);
    else if (jprofile_default_path(path, sizeof path) != JSTATUS_SUCCESS) {
        fprintf(stderr, "jalloc-tune: %s; --output FILE says where to\n", jstatus_last_message());
        return 1;
    }
    return tune(&settings, path);
}
