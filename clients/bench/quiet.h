/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_QUIET_H
#define BENCH_QUIET_H

/* Libraries beside each other in one process, with several threads each. A library keeps its
 * helpers spinning for a while after a call, on the processors that the next one needs: so that is
 * kept short, and who is next begins when all other threads of the process sleep, with a call that
 * is not counted and wakes its own. */

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

/* Whether a thread of this process other than the caller runs or could. */
static inline bool bench_others_run(void) {
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL)
        return false;
    const long self = (long)syscall(SYS_gettid);
    bool running = false;
    for (struct dirent *entry; !running && (entry = readdir(tasks)) != NULL;) {
        long task = strtol(entry->d_name, NULL, 10);
        char path[64], text[256];
        snprintf(path, sizeof path, "/proc/self/task/%ld/stat", task);
        FILE *file = task > 0 && task != self ? fopen(path, "r") : NULL;
        if (file == NULL)
            continue;
        size_t length = fread(text, 1, sizeof text - 1, file);
        fclose(file);
        text[length] = '\0';
        const char *state = strrchr(text, ')'); /* the name before it may have any other letter */
        running = state != NULL && strncmp(state, ") R", 3) == 0;
    }
    closedir(tasks);
    return running;
}

/* Until others sleep, or for so long. */
static inline void bench_wait_for_quiet(double seconds) {
    const double deadline = bench_now() + seconds;
    while (bench_others_run() && bench_now() < deadline)
        usleep(200);
}

/* As bench_prepare. */
static inline void bench_begin_quietly(bench_function_t function, void *context) {
    bench_wait_for_quiet(0.25);
    bench_renew_(context);
    function(context);
}

/* Within a sample calls follow each other faster than this. Libraries read it while they are
 * loaded, one that we are linked to before main() begins: so the program starts itself again, once.
 * What is set already stays. */
static inline void bench_shorten_spinning(char **argv) {
    setenv("KMP_BLOCKTIME", "2", 0); /* ms; of Intel's OpenMP, which MKL uses */
    if (getenv("OPENBLAS_THREAD_TIMEOUT") != NULL)
        return;
    setenv("OPENBLAS_THREAD_TIMEOUT", "22", 0); /* 2^22 clock ticks */
    execv("/proc/self/exe", argv);              /* where this fails it is only slower */
}

#endif
