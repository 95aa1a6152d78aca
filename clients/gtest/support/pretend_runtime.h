/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_PRETEND_RUNTIME_H
#define JALLOC_CLIENTS_GTEST_PRETEND_RUNTIME_H

/* Runtimes of several processes without MPI.
 *
 * A pretended one is this process alone, that believes what it is told: the others agree with
 * everything, and a broadcast leaves bytes as they are. A test can make the n-th thing done
 * together fail, as if another process had failed.
 *
 * A team is real: as many forked processes as asked for, which agree and broadcast through memory
 * that they share. */

#include "jtest.h"

#include "buffer/buffer.h"

#define PRETEND_GRIDS 16

typedef struct pretend_runtime {
    jruntime_t *runtime;
    int coordinates[2];                                  /* of this process in every grid */
    unsigned agreements[3], broadcasts[3], opens, ended; /* by scope; opens: of grids */
    /* The n-th agreement, broadcast or opening fails; 0: none. */
    uint64_t fail_in;
    jstatus_t fail_with;
    /* Changes what is broadcast to all, as if this were not rank 0; NULL: nothing. */
    void (*change)(void *bytes, size_t size_bytes);
    ji_grid_t grids[PRETEND_GRIDS];
} pretend_runtime_t;

/* Makes a runtime of so many processes on one machine, of which this is the first; with grids, or
 * only replicated buffers. Ends with jruntime_release(pretend->runtime), before `pretend` does. */
jstatus_t pretend_runtime_make(pretend_runtime_t *pretend, int processes, bool has_grids);

/* Makes the runtime see these GPUs beside the host, and so much memory on the machine. */
void pretend_runtime_set_memory(jruntime_t *runtime, size_t node_available_bytes, size_t count,
                                const jruntime_device_t gpus[]);

#define TEAM_MAX 8
/* What a member of a team runs; checks in it count as the test's. */
typedef void (*team_function_t)(jruntime_t *runtime, void *argument);
/* Runs the function in `processes` forked processes, on machines of `per_node` each. The test fails
 * if a member does, or dies unless by its own team_die(). */
void team_run(int processes, int per_node, team_function_t function, void *argument);
/* In a member: ends the process at once, as if it had been killed. The others must not wait for it
 * afterwards. */
void team_die(void) __attribute__((noreturn));

#endif
