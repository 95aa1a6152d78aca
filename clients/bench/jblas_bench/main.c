/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jblas-bench: one routine from the command line, or every line of a file. A line of a file is a
 * command line, with or without the program's name before it, so what JALLOC_LAYER=2 writes can be
 * run again as it is. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../quiet.h"
#include "measure.h"

static const tool_row_t statuses[] = {{"0", "every call was made, and what was verified is right"},
                                      {"1", "a call failed, or an answer was wrong"},
                                      {"2", "wrong usage, or a line that is not understood"},
                                      {NULL, NULL}};
static const tool_row_t examples[] = {
    {"jblas-bench -f trsm -r d -m 2000 -n 500 --side L",
     "a solve of 500 right-hand sides by a triangle of order 2000"},
    {"jblas-bench -f gemm -m 300 -n 300 -k 300 --verify", "a product, compared with naive loops"},
    {"jblas-bench --file calls.log --json", "every call that JALLOC_LAYER=2 logged"},
    {NULL, NULL}};
static tool_t tool = {
    .name = "jblas-bench",
    .usage = "-f ROUTINE [-r TYPE] [-m M] [-n N] [-k K] [OPTION]...\n--file FILE [OPTION]...",
    .summary = "times a routine of jblas beside the same call made directly to the CBLAS",
    .about = "In turn; it shows the medians. A line of the log that JALLOC_LAYER=2 writes is a "
             "command line.",
    .statuses = statuses,
    .examples = examples,
};

/* Says what is wrong with a line of a file, whose place ends with a colon; the exit status. */
static int refuse(const char *place, const char *reason) {
    tool_warn("%s%s; see --help", place, reason);
    return TOOL_REFUSED;
}

/* Runs one line; the exit status. */
static int run(const options_t *options, const char *place) {
    char reason[OPTIONS_REASON_BYTES];
    const routine_t *routine = routine_of(options, reason);
    if (!routine)
        return refuse(place, reason);
    measurement_t measurement;
    if (!measure(options, routine, &measurement))
        return 1;
    report(options, routine, &measurement);
    return measurement_is_good(&measurement) ? 0 : 1;
}

/* Runs each line, whatever became of those before; the worst exit status. */
static int run_file(const options_t *defaults) {
    bool standard = strcmp(defaults->file, "-") == 0;
    FILE *file = standard ? stdin : fopen(defaults->file, "r");
    if (!file)
        tool_refuse("%s: %s", defaults->file, strerror(errno));
    char *line = NULL;
    size_t capacity = 0;
    int worst = 0;
    bool is_empty = true;
    errno = 0;
    for (long number = 1; getline(&line, &capacity, file) >= 0; number++) {
        char place[600];
        snprintf(place, sizeof place, "%s:%ld: ", defaults->file, number);
        if (line[strspn(line, " \t\r\n")] == '\0' || line[strspn(line, " \t")] == '#')
            continue;
        is_empty = false;
        options_t options = *defaults;
        options.file[0] = '\0';
        char reason[OPTIONS_REASON_BYTES];
        const int result = !options_parse_line(&options, line, reason) ? refuse(place, reason)
                           : options.file[0] != '\0' ? refuse(place, "a file within a file")
                                                     : run(&options, place);
        worst = result > worst ? result : worst;
    }
    const int error = errno;
    free(line);
    if (ferror(file)) /* a folder is opened, and not read */
        tool_refuse("%s: %s", defaults->file, strerror(error));
    if (is_empty)
        tool_refuse("%s: has no call", defaults->file);
    if (!standard)
        fclose(file);
    return worst;
}

static void list(void) {
    for (const routine_t *routine = routines; routine->name; routine++) {
        printf("%-22s types %-5s", routine->name, routine->types);
        for (const char *letter = routine->shape; *letter; letter++) {
            static const char letters[] = "SUABDNmnkeurbtJOTLRVGIpqd";
            static const char *const names[] = {"--side",
                                                "--uplo",
                                                "--transA",
                                                "--transB",
                                                "--diag",
                                                "--norm",
                                                "-m",
                                                "-n",
                                                "-k",
                                                "--kl",
                                                "--ku",
                                                "--nrhs",
                                                "--batch_count",
                                                "--cs_type",
                                                "--jobz",
                                                "--jobu",
                                                "--jobvt",
                                                "--jobvl",
                                                "--jobvr",
                                                "--jobvs",
                                                "--range",
                                                "--itype",
                                                "--il",
                                                "--iu",
                                                "--kd"};
            printf(" %s", names[strchr(letters, *letter) - letters]);
        }
        puts("");
    }
}

int main(int argc, char **argv) {
    bench_shorten_spinning(argv);
    options_t options = options_default;
    char reason[OPTIONS_REASON_BYTES];
    tool_begin(&tool);
    if (!options_parse(&options, argc, argv, reason))
        tool_refuse("%s", reason);

    int result = TOOL_GOOD;
    if (options.help) {
        tool.options = options_described();
        tool_print_help(&tool);
    } else if (options.version) {
        tool_print_version(&tool);
    } else if (options.list) {
        list();
    } else {
        result = options.file[0] != '\0' ? run_file(&options) : run(&options, "");
    }
    return tool_end(result);
}
