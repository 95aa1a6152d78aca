/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jblas-bench: one routine from the command line, or every line of a file. A line of a file is a
 * command line, with or without the program's name before it, so what JALLOC_LAYER=2 writes can be
 * run again as it is. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

/* Says what is wrong with a line, whose place is "" or ends with a colon; the exit status. */
static int refuse(const char *place, const char *reason) {
    fprintf(stderr, "jblas-bench: %s%s; --help shows what is understood\n", place, reason);
    return 2;
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
    if (!file) {
        perror(defaults->file);
        return 2;
    }
    char *line = NULL;
    size_t capacity = 0;
    int worst = 0;
    for (long number = 1; getline(&line, &capacity, file) >= 0; number++) {
        char place[600];
        snprintf(place, sizeof place, "%s:%ld: ", defaults->file, number);
        if (line[strspn(line, " \t\r\n")] == '\0' || line[strspn(line, " \t")] == '#')
            continue;
        options_t options = *defaults;
        options.file[0] = '\0';
        char reason[OPTIONS_REASON_BYTES];
        const int result = !options_parse_line(&options, line, reason) ? refuse(place, reason)
                           : options.file[0] != '\0' ? refuse(place, "a file within a file")
                                                     : run(&options, place);
        worst = result > worst ? result : worst;
    }
    free(line);
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
    options_t options = options_default;
    char reason[OPTIONS_REASON_BYTES];
    if (!options_parse(&options, argc, argv, reason))
        return refuse("", reason);
    if (options.help || options.list) {
        (options.help ? options_print_help : list)();
        return 0;
    }
    return options.file[0] != '\0' ? run_file(&options) : run(&options, "");
}
