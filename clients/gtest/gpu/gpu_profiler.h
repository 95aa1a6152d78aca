/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_GPU_GPU_PROFILER_H
#define JALLOC_CLIENTS_GTEST_GPU_GPU_PROFILER_H

/* What the driver was asked for, by the vendor's own profiler interface (CUPTI), looked for on the
 * machine that the tests run on. jalloc's counters say what jalloc means to do; this says what was
 * done, by cuBLAS as well. */

#include <stdbool.h>
#include <stdint.h>

typedef struct gpu_profile {
    uint64_t calls;                     /* of the driver, all */
    uint64_t allocations, frees, waits; /* that take memory, give it back, make the host wait */
    char first[64];                     /* the first of these three kinds */
} gpu_profile_t;

/* False: there is no profiler here, and gpu_profiler_reason() says why. */
bool gpu_profiler_start(void);
void gpu_profiler_stop(gpu_profile_t *profile);
const char *gpu_profiler_reason(void);

#endif
