/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc-tune: measures this machine's profile, from which jalloc predicts times.
 *
 * Each routine with rungs is called with random shapes, on each of its rungs, in just the bytes of
 * that rung, with one thread and with all. Small shapes are many and large ones few: what is asked
 * most is asked of small ones, and large ones are alike. Or the calls of a program's log are, which
 * are then predicted as they were measured. The file takes the place of the former one when all is
 * done. Seconds are those of the machine when nothing else takes its cores (pace.c). */

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../bench/bench.h"
#include "../common/json.h"
#include "../common/tool.h"
#include "jalloc/config.h"
#include "tune.h"

static const tool_option_t understood[] = {
    {"output", "FILE", 'o', "where to (where predictions look for it without JALLOC_PROFILE)"},
    {"calls", "LOG", 'c',
     "measures the calls of a program's log (JALLOC_LAYER=2) and adds them to the profile"},
    {"shapes", "COUNT", 's', "of each routine and type (as many as take a minute)"},
    {"passes", "COUNT", 'p', "over the calls of the log, of which the median counts (3)"},
    {"routines", "NAME,...", 'r', "these alone, such as gemm,potrf (all with rungs)"},
    {"quiet", NULL, 'q', "no progress and no summary"},
    TOOL_JSON,
    {NULL, NULL, 0, NULL}};
static const tool_row_t statuses[] = {{"0", "the profile is stored, and is in force"},
                                      {"1", "it could not be measured or stored"},
                                      {"2", "wrong usage"},
                                      {NULL, NULL}};
static const tool_row_t examples[] = {
    {"jalloc-tune", "measures all, in a minute"},
    {"jalloc-tune --calls app.log", "then this program's calls, to the percent"},
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
        json_number("calls", (int64_t)info.call_count);
        json_real("flops_per_second", info.flops_per_second);
        json_real("bytes_per_second", info.bytes_per_second);
        json_real("seconds", seconds);
        json_close('}');
        json_end();
    } else if (!settings->quiet) {
        printf("%s: %llu entries, %llu calls, %s, %.0f s\n", path,
               (unsigned long long)info.entry_count, (unsigned long long)info.call_count,
               jprofile_processor(), seconds);
    }
}

/* What is stored where programs with this environment do not look is of no use to them. */
static void warn_of_another(const char *path) {
    jconfig_entry_t named = JCONFIG_ENTRY_INIT;
    (void)jconfig_get(JCONFIG_JALLOC_PROFILE, &named);
    if (named.value[0] != '\0' && strcmp(named.value, path) != 0)
        tool_warn("with JALLOC_PROFILE=%s, as it is set, programs do not use %s", named.value,
                  path);
}

/* What is measured into; whatever ends the program before it is whole takes it along, but kill -9.
 */
static char beside[4200];
static void remove_beside(void) { (void)unlink(beside); }

/* The signal's own end comes when this returns. */
static void end_by_signal(int which) {
    remove_beside();
    (void)raise(which);
}

static void remove_beside_at_end(void) {
    static const int ending[] = {SIGHUP, SIGINT, SIGTERM};
    const struct sigaction end = {.sa_handler = end_by_signal, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;
    (void)atexit(remove_beside);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(ending[i], &end, NULL);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of writing */
}

/* Measures into a file beside, which then takes the place. */
static void tune(const settings_t *settings, char *path) {
    snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
    make_folders(path);
    /* A device in whose place a file were put would be lost. */
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        tool_fail("%s: is there, and is no file", path);
    FILE *file = fopen(beside, "we");
    if (file == NULL)
        tool_fail("%s: %s", beside, strerror(errno));
    remove_beside_at_end();
    jhandle_t *handle = NULL;
    if (jstatus_is_error(jhandle_create(NULL, &handle)))
        tool_fail("%s", jstatus_last_message());

    const double start = bench_now();
    int all_threads = 1;
    (void)jhandle_get_threads(handle, &all_threads);
    all_threads = all_threads < 1 ? 1 : all_threads;
    bool written = settings->calls != NULL ? write_calls(file, path, handle, all_threads, settings)
                                           : write_shapes(file, handle, all_threads, settings);
    (void)jhandle_destroy(handle);
    written = fclose(file) == 0 && written;
    if (!written || rename(beside, path) != 0)
        tool_fail("%s: %s", path, strerror(errno));
    if (jstatus_is_error(jprofile_load(path)))
        tool_fail("%s", jstatus_last_message());
    report_profile(settings, path, bench_now() - start);
    warn_of_another(path);
}

int main(int argc, char **argv) {
    settings_t settings = {.passes = 3};
    tool_begin(&tool);
    for (int option; (option = tool_next_option(argc, argv)) != -1;)
        switch (option) {
        case 'o': settings.output = optarg; break;
        case 's': settings.shapes = (int)tool_number("shapes", optarg, 4, 1000); break;
        case 'p': settings.passes = (int)tool_number("passes", optarg, 1, 1000); break;
        case 'c': settings.calls = optarg; break;
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
