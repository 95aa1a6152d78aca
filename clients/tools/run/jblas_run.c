/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jblas-run: runs a program with the drop-in in the place of its BLAS and of its LAPACK, as far as
 * jlapack has that.
 *
 *     jblas-run [--blas] [--budget SIZE] [--threads COUNT] [--report] PROGRAM [ARGUMENT]...
 *
 * It sets LD_PRELOAD, before what is there already, and the variables that the options stand for,
 * and becomes the program. The library is the one that was built or installed with this tool, with
 * LAPACK's names where that one is. A wrong call ends with 2, a program that cannot be run with
 * 127, as a shell's does. */

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void print_help(FILE *file) {
    fputs("Runs a program with jblas in the place of its BLAS, and jlapack in that of its LAPACK, "
          "as\n"
          "far as it has that (LD_PRELOAD).\n\n"
          "usage: jblas-run [options] PROGRAM [ARGUMENT]...\n"
          "  --blas           BLAS alone\n"
          "  --budget SIZE    most workspace of all its threads together, such as 256M\n"
          "  --threads COUNT  most threads of a call; 0: the processors it may use\n"
          "  --report         print at its end what was called; workspace taken and needed\n"
          "  --help           this text\n",
          file);
}

/* Sets the variable, if its value is one that the library would understand. */
static bool set_variable(jconfig_t which, const char *value) {
    jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
    if (jconfig_get(which, &entry) != JSTATUS_SUCCESS || setenv(entry.name, value, 1) != 0 ||
        jconfig_get(which, &entry) != JSTATUS_SUCCESS)
        return false;
    if (!entry.valid)
        fprintf(stderr, "jblas-run: \"%s\" is not understood: expected %s\n", value, entry.syntax);
    return entry.valid;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"blas", no_argument, NULL, 'o'},          {"budget", required_argument, NULL, 'b'},
        {"threads", required_argument, NULL, 't'}, {"report", no_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    bool blas_only = false;
    for (int option; (option = getopt_long(argc, argv, "+h", options, NULL)) != -1;) {
        bool right = true;
        switch (option) {
        case 'o': blas_only = true; break;
        case 'b': right = set_variable(JCONFIG_JALLOC_BUDGET, optarg); break;
        case 't': right = set_variable(JCONFIG_JALLOC_THREADS, optarg); break;
        case 'r': right = set_variable(JCONFIG_JALLOC_BLAS_REPORT, "1"); break;
        case 'h': print_help(stdout); return 0;
        default: right = false; break;
        }
        if (!right)
            return 2;
    }
    if (optind == argc) {
        print_help(stderr);
        return 2;
    }

    char library[PATH_MAX];
    const bool found = (!blas_only && find_library("libjlapack_lapack.so", library)) ||
                       find_library("libjblas_blas.so", library);
    if (!found || !preload(library)) {
        fprintf(stderr, "jblas-run: libjblas_blas.so is not where it was built or installed\n");
        return 127;
    }
    execvp(argv[optind], argv + optind);
    fprintf(stderr, "jblas-run: %s: %s\n", argv[optind], strerror(errno));
    return 127;
}
