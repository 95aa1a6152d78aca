/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_KERNEL_HELPER_H
#define JALLOC_CLIENTS_GTEST_KERNEL_HELPER_H

/* Routines as a user would write them, with random ladders: each rung has buffers and a price, and
 * a call writes to all that it has borrowed. */

#include "handle_helper.h"

#include "jalloc/profile.h"
#include "jalloc/program.h"
#include "jalloc/requirement.h"

#define KERNEL_MAX_RUNGS 4

typedef struct kernel {
    int64_t n; /* its shape, by which it is told from others */
    uint32_t rung_count;
    size_t bytes[KERNEL_MAX_RUNGS][2];
    double flops[KERNEL_MAX_RUNGS]; /* 0: no price */
} kernel_t;

static const char *const kernel_rungs[KERNEL_MAX_RUNGS] = {"best", "second", "third", "fourth"};

/* Rungs need less and less, and take longer and longer; but sometimes not. */
static inline kernel_t kernel_random(int64_t n) {
    kernel_t kernel = {.n = n, .rung_count = (uint32_t)jtest_random_between(1, KERNEL_MAX_RUNGS)};
    size_t bytes = (size_t)jtest_random_between(0, 4000);
    double flops = jtest_random_double(1e5, 1e6);
    for (uint32_t i = 0; i < kernel.rung_count; ++i) {
        kernel.bytes[i][0] = bytes;
        kernel.bytes[i][1] = (size_t)jtest_random_between(0, 200);
        kernel.flops[i] = flops;
        bytes = jtest_random_between(0, 7) == 0 ? bytes + 64 : bytes * 2 / 3;
        flops *= jtest_random_double(jtest_random_between(0, 7) == 0 ? 0.8 : 1.01, 2);
    }
    return kernel;
}

static inline jplan_t kernel_plan(const jhandle_t *handle, const kernel_t *kernel) {
    jplan_t plan;
    jplan_init(&plan, handle, "kernel", "n", &kernel->n);
    for (uint32_t i = 0; i < kernel->rung_count; ++i) {
        jplan_add(&plan, kernel_rungs[i], i, 0, 2, kernel->bytes[i]);
        const jprice_t price = {.flops = kernel->flops[i]};
        if (kernel->flops[i] != 0)
            jplan_price(&plan, &price);
    }
    return plan;
}

/* *rung, where it is not NULL: the one that was taken. */
static inline jstatus_t kernel_call(jhandle_t *handle, const kernel_t *kernel, int *rung) {
    const jplan_t plan = kernel_plan(handle, kernel);
    JALLOC_ANSWER_SIZE_QUERY(handle, &plan);
    JALLOC_BORROW_PLAN(ws, handle, &plan);
    if (!ws.ok)
        return ws.status;
    for (int i = 0; i < 2; ++i)
        if (ws.ptr[i] != NULL)
            memset(ws.ptr[i], 1, kernel->bytes[ws.rung][i]);
    if (rung != NULL)
        *rung = ws.rung;
    return ws.status;
}

static inline size_t kernel_bytes(const kernel_t *kernel, uint32_t rung) {
    return (kernel->bytes[rung][0] + 63) / 64 * 64 + (kernel->bytes[rung][1] + 63) / 64 * 64;
}

/* As the library predicts it. */
static inline double kernel_seconds(const jhandle_t *handle, const kernel_t *kernel,
                                    uint32_t rung) {
    const jplan_t plan = kernel_plan(handle, kernel);
    int threads = 1;
    JEXPECT_OK(jhandle_get_threads(handle, &threads));
    return jprofile_predict(&plan, rung, threads);
}

/* The rung that a handle takes by itself; -1: none fits. */
static inline int kernel_rung_within(const kernel_t *kernel, size_t bytes) {
    for (uint32_t i = 0; i < kernel->rung_count; ++i)
        if (kernel_bytes(kernel, i) <= bytes)
            return (int)i;
    return -1;
}

static inline jrequirement_info_t info_of(const jrequirement_t *requirement) {
    jrequirement_info_t info = JREQUIREMENT_INFO_INIT;
    JEXPECT_OK(jrequirement_get_info(requirement, &info));
    return info;
}

static inline jrequirement_step_t step_of(const jrequirement_t *requirement, size_t index) {
    jrequirement_step_t step = JREQUIREMENT_STEP_INIT;
    JEXPECT_OK(jrequirement_get_step(requirement, index, &step));
    return step;
}

/* Memory of so many bytes with an inaccessible page behind it, lent to the handle; none where it is
 * 0. */
static inline void lend_guarded(jhandle_t *handle, size_t bytes) {
    if (bytes > 0)
        JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(bytes), bytes));
    else
        JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, 0));
}

#endif
