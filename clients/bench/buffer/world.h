/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef BUFFER_WORLD_H
#define BUFFER_WORLD_H

/* The processes that measure together: those of mpiexec, or this one. And how two ways of doing the
 * same are compared, which is bench.h's for several processes:
 *
 *     all      | ours x repeat | barrier | peer x repeat | barrier | ...
 *
 * in every other round the peer first.
 *
 * A sample ends when the last process has finished: processes may be more than processors, and what
 * waits for no other would seem to be quicker than it is. The longest time is every process's
 * figure, so that all decide alike how long to go on. Those that have nothing to do sleep. */

#include <stdbool.h>

#include "../bench.h"
#include "jalloc/jalloc.h"

typedef struct world {
    int rank, count; /* of processes */
    jruntime_t *runtime;
    jhandle_t *handle;
    double seconds; /* for each comparison */
    bool smoke;     /* few seconds: small sizes suffice to show that it runs */
} world_t;
extern world_t world;

void world_begin(int *argc, char ***argv);
void world_end(void);
/* Lets rank 0 do something by itself. */
void world_alone(void (*work)(void));
/* Ends all processes with what went wrong. */
_Noreturn void world_stop(const char *file, int line, const char *what, const char *why);

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if (jstatus_is_error(call))                                                                \
            world_stop(__FILE__, __LINE__, #call, jstatus_last_message());                         \
    } while (0)
#define CLAIM(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            world_stop(__FILE__, __LINE__, #condition, "not so");                                  \
    } while (0)

/* Medians of both ways, by all processes, or by one alone. */
bench_result_t world_compare(bench_function_t ours, bench_function_t peer, void *context);

#endif
