/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jblas-run: runs a program with the drop-in in the place of its BLAS and of its LAPACK, as far as
 * jlapack has that.
 *
 * It sets LD_PRELOAD, before what is there already, and the variables that the options stand for,
 * and becomes the program. The library is the one that was built or installed with this tool, with
 * LAPACK's names where that one is. A program that cannot be run ends with 126, or with 127 where
 * there is none, as env's and a shell's do. */

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/tool.h"
#include "jalloc/config.h"

/* Beside the folder of this program: where it was built, and where it was installed. */
#ifndef JBLAS_RUN_INSTALLED
#define JBLAS_RUN_INSTALLED "../lib/jblas"
#endif
static const char *const places[] = {"../library", JBLAS_RUN_INSTALLED};

static bool find_library(const char *name, char path[PATH_MAX]) {
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return false;
    self[length] = '\0';
    *strrchr(self, '/') = '\0';

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char place[2 * PATH_MAX];
        snprintf(place, sizeof place, "%s/%s/%s", self, places[i], name);
        if (realpath(place, path) != NULL)
            return true;
    }
    return false;
}

/* Between the libraries in LD_PRELOAD, with no way to have one in a path. */
#define LOADER_SEPARATORS " :"

static bool preload(const char *path) {
    const char *others = getenv("LD_PRELOAD");
    if (others == NULL || others[0] == '\0')
        return setenv("LD_PRELOAD", path, 1) == 0;

    char *all = malloc(strlen(path) + strlen(others) + 2);
    if (all == NULL)
        return false;
    sprintf(all, "%s:%s", path, others);
    const bool is_set = setenv("LD_PRELOAD", all, 1) == 0;
    free(all);
    return is_set;
}

static const tool_option_t options[] = {
    {"blas", NULL, 'o', "BLAS alone"},
    {"budget", "SIZE", 'b', "most workspace of all its threads together, such as 256M"},
    {"threads", "COUNT", 't', "most threads of a call; 0: the processors it may use"},
    {"report", NULL, 'r',
     "print at its end what was called, the workspace that was taken and what is needed"},
    {NULL, NULL, 0, NULL}};
static const tool_row_t statuses[] = {
    {"0", "or any other: that of the program"},
    {"1", "the drop-in is not where it was built or installed, or cannot be preloaded"},
    {"2", "wrong usage"},
    {"126", "the program cannot be run"},
    {"127", "there is no such program"},
    {NULL, NULL}};
static const tool_row_t examples[] = {
    {"jblas-run python3 fit.py", "NumPy and SciPy on jblas and jlapack"},
    {"jblas-run --budget 64M --report ./solve", "in 64 MiB of workspace, with a summary"},
    {NULL, NULL}};
static const tool_t tool = {
    .name = "jblas-run",
    .usage = "[OPTION]... PROGRAM [ARGUMENT]...",
    .summary = "runs a program with jblas in the place of its BLAS",
    .about = "And with jlapack in that of its LAPACK, as far as it has that. The program is not "
             "changed: LD_PRELOAD names the drop-in.",
    .options = options,
    .statuses = statuses,
    .examples = examples,
    .runs_program = true,
};
enum { CANNOT_RUN = 126, NO_PROGRAM = 127 };

/* Sets the variable, if its value is one that the library would understand. An empty one would be
 * none, where a bound was asked for. */
static void set_variable(jconfig_t which, const char *option, const char *value) {
    jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
    if (jconfig_get(which, &entry) != JSTATUS_SUCCESS || setenv(entry.name, value, 1) != 0 ||
        jconfig_get(which, &entry) != JSTATUS_SUCCESS)
        tool_fail("--%s cannot be set", option);
    if (!entry.valid || value[0] == '\0')
        tool_refuse("--%s: '%s' is not understood: expected %s", option, value, entry.syntax);
}

int main(int argc, char **argv) {
    bool blas_only = false;
    tool_begin(&tool);
    for (int option; (option = tool_next_option(argc, argv)) != -1;)
        switch (option) {
        case 'o': blas_only = true; break;
        case 'b': set_variable(JCONFIG_JALLOC_BUDGET, "budget", optarg); break;
        case 't': set_variable(JCONFIG_JALLOC_THREADS, "threads", optarg); break;
        case 'r': set_variable(JCONFIG_JALLOC_BLAS_REPORT, "report", "1"); break;
        }
    if (optind == argc)
        tool_refuse("no program");

    char library[PATH_MAX];
    const bool found = (!blas_only && find_library("libjlapack_lapack.so", library)) ||
                       find_library("libjblas_blas.so", library);
    if (!found)
        tool_fail("libjblas_blas.so is not where it was built or installed");
    if (strpbrk(library, LOADER_SEPARATORS) != NULL)
        tool_fail(
            "%s: the loader preloads nothing from a folder with a blank or a colon in its name",
            library);
    if (!preload(library))
        tool_fail("LD_PRELOAD cannot be set");
    execvp(argv[optind], argv + optind);
    const int error = errno;
    tool_warn("%s: %s", argv[optind], strerror(error));
    return error == ENOENT ? NO_PROGRAM : CANNOT_RUN;
}
