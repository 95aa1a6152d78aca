/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Programs: the choice is the best of all there are, handles follow it, and what was not announced
 * is told or refused. */

#include "kernel_helper.h"

#include <math.h>
#include <stdio.h>

enum { HANDLES = 3, MOST_CALLS = 8 };

typedef struct random_program {
    jhandle_t *handles[HANDLES];
    jprogram_t *program;
    size_t calls;
    kernel_t kernels[MOST_CALLS];
    int handle_of[MOST_CALLS], phase_of[MOST_CALLS];
} random_program_t;

static void make_handles(random_program_t *p) {
    *p = (random_program_t){.calls = 0};
    for (int i = 0; i < HANDLES; ++i)
        p->handles[i] = make_handle(0);
    JEXPECT_OK(jprogram_create(&p->program));
}

static void record(random_program_t *p, int handle, size_t call) {
    JEXPECT_OK(jprogram_record(p->program, p->handles[handle]));
    JEXPECT_FALSE(jstatus_is_error(kernel_call(p->handles[handle], &p->kernels[call], NULL)));
    JEXPECT_OK(jprogram_stop(p->program, p->handles[handle]));
}

/* Up to MOST_CALLS calls in two phases. */
static void draw_program(random_program_t *p) {
    make_handles(p);
    p->calls = (size_t)jtest_random_between(1, MOST_CALLS);
    const size_t of_first = (size_t)jtest_random_between(0, (int64_t)p->calls);
    int phase = 0;
    for (size_t i = 0; i < p->calls; ++i) {
        if (i == of_first && i > 0) {
            JEXPECT_OK(jprogram_begin_phase(p->program));
            JEXPECT_OK(jprogram_begin_phase(p->program)); /* without calls: none */
            phase = 1;
        }
        p->kernels[i] = kernel_random((int64_t)i);
        p->handle_of[i] = (int)jtest_random_between(0, HANDLES - 1);
        p->phase_of[i] = phase;
        record(p, p->handle_of[i], i);
    }
}

static void end_program(random_program_t *p) {
    JEXPECT_OK(jprogram_destroy(p->program));
    for (int i = 0; i < HANDLES; ++i)
        JEXPECT_OK(jhandle_destroy(p->handles[i]));
}

static jprogram_info_t program_info(const jprogram_t *program) {
    jprogram_info_t info = JPROGRAM_INFO_INIT;
    JEXPECT_OK(jprogram_get_info(program, &info));
    return info;
}

/* The least time of every choice of rungs that fits; infinite: none does. */
static double exhaustive(const random_program_t *p, size_t budget_bytes) {
    uint32_t rung[MOST_CALLS] = {0};
    double seconds[MOST_CALLS][KERNEL_MAX_RUNGS], best = INFINITY;
    for (size_t i = 0; i < p->calls; ++i)
        for (uint32_t r = 0; r < p->kernels[i].rung_count; ++r)
            seconds[i][r] = kernel_seconds(p->handles[0], &p->kernels[i], r);
    for (;;) {
        size_t share[2][HANDLES] = {{0}}, most = 0;
        double sum = 0;
        for (size_t i = 0; i < p->calls; ++i) {
            size_t *of = &share[p->phase_of[i]][p->handle_of[i]];
            const size_t bytes = kernel_bytes(&p->kernels[i], rung[i]);
            *of = bytes > *of ? bytes : *of;
            sum += seconds[i][rung[i]];
        }
        for (int phase = 0; phase < 2; ++phase) {
            size_t together = 0;
            for (int h = 0; h < HANDLES; ++h)
                together += share[phase][h];
            most = together > most ? together : most;
        }
        if (most <= budget_bytes)
            best = fmin(best, sum);
        size_t next = 0;
        while (next < p->calls && ++rung[next] == p->kernels[next].rung_count)
            rung[next++] = 0;
        if (next == p->calls)
            return best;
    }
}

/* Runs what was recorded, phase by phase: each call takes the rung that was chosen, and what was
 * said of it is true. */
static void follow(random_program_t *p, size_t budget_bytes) {
    size_t place = 0;
    double sum = 0;
    for (size_t phase = 0; phase < program_info(p->program).phase_count; ++phase) {
        JEXPECT_OK(jprogram_enter(p->program, phase));
        for (;; ++place) {
            jprogram_call_t call = JPROGRAM_CALL_INIT;
            if (jprogram_get_call(p->program, place, &call) != JSTATUS_SUCCESS ||
                call.phase != phase)
                break;
            size_t which = 0;
            char name[JREQUIREMENT_CALL_BYTES];
            do
                snprintf(name, sizeof name, "kernel n=%zu", which);
            while (strcmp(name, call.call) != 0 && ++which < p->calls);
            JASSERT_LT(which, p->calls);
            JEXPECT_EQ(call.handle, p->handles[p->handle_of[which]]);

            int rung = -1;
            const jstatus_t status =
                kernel_call(p->handles[p->handle_of[which]], &p->kernels[which], &rung);
            JEXPECT_STATUS(status, call.degraded ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
            JEXPECT_STREQ(kernel_rungs[rung], call.rung);
            JEXPECT_EQ(call.size_bytes, kernel_bytes(&p->kernels[which], (uint32_t)rung));
            sum += call.seconds;
            size_t share = 0;
            JEXPECT_OK(jprogram_get_share(p->program, phase, call.handle, &share));
            JEXPECT_LE(call.size_bytes, share);
        }
        size_t held = 0;
        for (int h = 0; h < HANDLES; ++h)
            held += capacity_of(p->handles[h]);
        JEXPECT_LE(held, budget_bytes);
    }
    JEXPECT_NEAR(sum, program_info(p->program).seconds, 1e-12 * sum);
    JEXPECT_OK(jprogram_leave(p->program));
    for (int h = 0; h < HANDLES; ++h) {
        size_t budget;
        JEXPECT_OK(jhandle_get_budget(p->handles[h], &budget));
        JEXPECT_EQ(budget, JALLOC_UNLIMITED);
        JEXPECT_EQ(stats_of(p->handles[h]).unplanned_count, 0);
        JEXPECT_EQ(stats_of(p->handles[h]).unannounced_count, 0);
    }
}

JTEST(Program, TheChoiceIsTheBestThereIsAndIsFollowed) {
    for (int64_t round = jtest_iterations(50); round > 0 && !jtest_has_failure(); --round) {
        random_program_t p;
        draw_program(&p);
        jrequirement_t *requirement = NULL;
        JEXPECT_OK(jprogram_get_requirement(p.program, &requirement));
        const jrequirement_info_t needs = info_of(requirement);
        JEXPECT_OK(jrequirement_destroy(requirement));
        JEXPECT_EQ(needs.call_count, p.calls);

        const size_t budgets[] = {needs.minimal_bytes, needs.optimal_bytes / 4,
                                  needs.optimal_bytes / 2, needs.optimal_bytes / 4 * 3,
                                  needs.optimal_bytes};
        for (size_t i = 0; i < sizeof budgets / sizeof *budgets; ++i) {
            JSCOPED_TRACE("%zu calls, %zu of %zu to %zu bytes", p.calls, budgets[i],
                          needs.minimal_bytes, needs.optimal_bytes);
            const double best = exhaustive(&p, budgets[i]);
            const jstatus_t status = jprogram_choose(p.program, budgets[i]);
            JEXPECT_STATUS(status, budgets[i] < needs.minimal_bytes ? JSTATUS_MEMORY_ERROR
                                                                    : JSTATUS_SUCCESS);
            JEXPECT_EQ(isinf(best), status != JSTATUS_SUCCESS);
            if (status != JSTATUS_SUCCESS) {
                JEXPECT_SUBSTR(jstatus_last_message(), "kernel n=");
                continue;
            }
            const jprogram_info_t info = program_info(p.program);
            JEXPECT_NEAR(info.seconds, best, 1e-12 * best);
            JEXPECT_LE(info.size_bytes, budgets[i]);
            JEXPECT_LE(info.best_seconds, info.seconds * (1 + 1e-12));
            JEXPECT_EQ(info.budget_bytes, budgets[i]);
            follow(&p, budgets[i]);
        }
        end_program(&p);
    }
}

static kernel_t two_rungs(double flops, double lower_flops) {
    return (kernel_t){.rung_count = 2, .bytes = {{6400}, {640}}, .flops = {flops, lower_flops}};
}

/* A handle of one kernel with two rungs, of which the lower was chosen. */
static void choose_lower(random_program_t *p) {
    make_handles(p);
    p->kernels[0] = two_rungs(1e6, 2e6);
    record(p, 0, 0);
    JEXPECT_OK(jprogram_choose(p->program, 1000));
    JEXPECT_OK(jprogram_enter(p->program, 0));
}

/* What is recorded would come to a choice that does not know it. */
JTEST(Program, NothingIsChosenWhileAHandleIsRecorded) {
    random_program_t p;
    make_handles(&p);
    p.kernels[0] = two_rungs(1e6, 2e6);
    p.kernels[1] = (kernel_t){.n = 1, .rung_count = 1, .bytes = {{6400}}};
    record(&p, 0, 0);
    JEXPECT_OK(jprogram_record(p.program, p.handles[1]));
    (void)kernel_call(p.handles[1], &p.kernels[1], NULL);
    JEXPECT_STATUS(jprogram_choose(p.program, 1 << 20), JSTATUS_BUSY);
    JEXPECT_STATUS(jprogram_enter(p.program, 0), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jprogram_stop(p.program, p.handles[1]));
    JEXPECT_EQ(program_info(p.program).call_count, 2);
    JEXPECT_EQ(program_info(p.program).seconds, 0);
    JEXPECT_OK(jprogram_choose(p.program, 1 << 20));
    JEXPECT_EQ(program_info(p.program).size_bytes, 6400 + kernel_bytes(&p.kernels[0], 0));
    end_program(&p);
}

JTEST(Program, AnUnknownCallTakesWhatFitsAndIsCounted) {
    random_program_t p;
    choose_lower(&p);
    const kernel_t other = {.n = 1, .rung_count = 3, .bytes = {{700}, {600}, {0}}};
    int rung = -1;
    JEXPECT_STATUS(kernel_call(p.handles[0], &other, &rung), JSTATUS_PERF_DEGRADED);
    JEXPECT_EQ(rung, 1); /* within the share */
    JEXPECT_STATUS(kernel_call(p.handles[0], &other, &rung), JSTATUS_PERF_DEGRADED);
    JEXPECT_EQ(stats_of(p.handles[0]).unplanned_count, 2);
    JEXPECT_EQ(stats_of(p.handles[0]).unannounced_count, 2);
    JEXPECT_SUBSTR(jtest_log_text(), "kernel is not in the program");
    JEXPECT_EQ(jtest_log_count(), 1);

    JEXPECT_STATUS(kernel_call(p.handles[0], &p.kernels[0], &rung), JSTATUS_PERF_DEGRADED);
    JEXPECT_EQ(stats_of(p.handles[0]).unplanned_count, 2);
    JEXPECT_OK(jhandle_clear_stats(p.handles[0]));
    JEXPECT_EQ(stats_of(p.handles[0]).unplanned_count, 0);
    end_program(&p);
}

JTEST(Program, WhatWasNotAnnouncedIsAnErrorWhereThatIsAsked) {
    random_program_t p;
    choose_lower(&p);
    jhandle_t *handle = p.handles[0];
    JEXPECT_STATUS(jhandle_set_degradation(handle, (jdegradation_t)2), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jhandle_set_degradation(handle, JDEGRADATION_ANNOUNCED));
    jdegradation_t degradation = JDEGRADATION_ALLOWED;
    JEXPECT_OK(jhandle_get_degradation(handle, &degradation));
    JEXPECT_EQ(degradation, JDEGRADATION_ANNOUNCED);

    JEXPECT_STATUS(kernel_call(handle, &p.kernels[0], NULL), JSTATUS_PERF_DEGRADED);
    const kernel_t other = {.n = 1, .rung_count = 3, .bytes = {{700}, {600}, {0}}};
    JEXPECT_STATUS(kernel_call(handle, &other, NULL), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "kernel");
    JEXPECT_SUBSTR(jhandle_last_message(handle), "n=1");
    JEXPECT_SUBSTR(jhandle_last_message(handle), "704 bytes");
    JEXPECT_SUBSTR(jhandle_last_message(handle), "not announced");

    /* Without a program nothing is announced. */
    JEXPECT_OK(jprogram_leave(p.program));
    JEXPECT_OK(jhandle_set_budget(handle, 640));
    JEXPECT_STATUS(kernel_call(handle, &p.kernels[0], NULL), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(stats_of(handle).unannounced_count, 2);
    JEXPECT_OK(jhandle_set_budget(handle, 6400));
    JEXPECT_OK(kernel_call(handle, &p.kernels[0], NULL));
    JEXPECT_OK(jhandle_set_degradation(handle, JDEGRADATION_ALLOWED));
    JEXPECT_OK(jhandle_trim(handle, 0));
    JEXPECT_OK(jhandle_set_budget(handle, 640));
    JEXPECT_STATUS(kernel_call(handle, &p.kernels[0], NULL), JSTATUS_PERF_DEGRADED);
    end_program(&p);
}

/* What a planned routine borrows by plans of its own is no call of the program's. */
JTEST(Program, ARoutineWithinARoutineIsNotLookedFor) {
    random_program_t p;
    choose_lower(&p);
    const kernel_t inner = {.n = 9, .rung_count = 2, .bytes = {{640000}, {0}}};
    JEXPECT_OK(jhandle_set_degradation(p.handles[0], JDEGRADATION_ANNOUNCED));
    const jplan_t plan = kernel_plan(p.handles[0], &p.kernels[0]);
    for (int round = 0; round < 2; ++round) {
        JALLOC_BORROW_PLAN(ws, p.handles[0], &plan);
        JEXPECT_TRUE(ws.ok);
        JEXPECT_STATUS(kernel_call(p.handles[0], &inner, NULL), JSTATUS_PERF_DEGRADED);
    }
    JEXPECT_EQ(stats_of(p.handles[0]).unplanned_count, 0);
    JEXPECT_EQ(jtest_log_count(), 0);
    /* And after it has ended, it is one. */
    JEXPECT_STATUS(kernel_call(p.handles[0], &inner, NULL), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(stats_of(p.handles[0]).unplanned_count, 1);
    end_program(&p);
}

/* A borrow around a call of the program's: it is looked for, at whatever depth. */
JTEST(Program, ACallWithinABorrowIsTheProgramsOwn) {
    random_program_t p;
    choose_lower(&p);
    JEXPECT_OK(jprogram_leave(p.program));
    JEXPECT_OK(jprogram_enter(p.program, 0));
    JEXPECT_OK(jhandle_set_budget(p.handles[0], JALLOC_UNLIMITED));
    JALLOC_WITH_BORROW(mine, p.handles[0], 100) {
        int rung = -1;
        JEXPECT_STATUS(kernel_call(p.handles[0], &p.kernels[0], &rung), JSTATUS_PERF_DEGRADED);
        JEXPECT_EQ(rung, 1);
    }
    JEXPECT_EQ(stats_of(p.handles[0]).unplanned_count, 0);
    end_program(&p);
}

JTEST(Program, FixedModesKeepTheirWorkspace) {
    random_program_t p;
    make_handles(&p);
    p.kernels[0] = two_rungs(1e6, 2e6);
    JEXPECT_OK(jhandle_set_workspace_size(p.handles[0], 10000));
    record(&p, 0, 0);
    JEXPECT_OK(jprogram_choose(p.program, 1000));
    JEXPECT_OK(jprogram_enter(p.program, 0));
    int rung = -1;
    JEXPECT_STATUS(kernel_call(p.handles[0], &p.kernels[0], &rung), JSTATUS_PERF_DEGRADED);
    JEXPECT_EQ(rung, 1); /* though there is more */
    JEXPECT_EQ(capacity_of(p.handles[0]), 10048);
    JEXPECT_OK(jhandle_set_workspace_size(p.handles[0], 64)); /* less than its share */
    JEXPECT_STATUS(kernel_call(p.handles[0], &p.kernels[0], &rung), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(stats_of(p.handles[0]).unannounced_count, 1);
    end_program(&p);
}

/* With prices the other way round the lower rung is the faster, and no degradation. */
JTEST(Program, TheFastestRungIsNotAlwaysTheFirst) {
    random_program_t p;
    make_handles(&p);
    p.kernels[0] = two_rungs(2e6, 1e6);
    record(&p, 0, 0);
    JEXPECT_OK(jprogram_choose(p.program, 1 << 20));
    JEXPECT_EQ(program_info(p.program).size_bytes, 640);
    JEXPECT_EQ(program_info(p.program).degraded_count, 0);
    JEXPECT_OK(jprogram_enter(p.program, 0));
    int rung = -1;
    JEXPECT_OK(kernel_call(p.handles[0], &p.kernels[0], &rung));
    JEXPECT_EQ(rung, 1);
    end_program(&p);
}

/* As of a solve with more right-hand sides, which its shape and bytes do not say. */
JTEST(Program, CallsOfOtherPricesAreOthers) {
    random_program_t p;
    make_handles(&p);
    p.kernels[0] = two_rungs(1e6, 2e6);
    p.kernels[1] = two_rungs(4e6, 3e6); /* the lower one is the faster */
    for (size_t i = 0; i < 4; ++i)
        record(&p, 0, i / 2);
    JEXPECT_EQ(program_info(p.program).call_count, 2);
    JEXPECT_OK(jprogram_choose(p.program, 1 << 20));
    const double seconds = 2 * kernel_seconds(p.handles[0], &p.kernels[0], 0) +
                           2 * kernel_seconds(p.handles[0], &p.kernels[1], 1);
    JEXPECT_NEAR(program_info(p.program).seconds, seconds, 1e-12 * seconds);
    JEXPECT_OK(jprogram_enter(p.program, 0));
    for (int i = 0; i < 2; ++i) {
        int rung = -1;
        JEXPECT_OK(kernel_call(p.handles[0], &p.kernels[i], &rung));
        JEXPECT_EQ(rung, i);
    }
    JEXPECT_EQ(stats_of(p.handles[0]).unplanned_count, 0);
    end_program(&p);
}

JTEST(Program, HandlesAndProgramsEndInAnyOrder) {
    for (int order = 0; order < 4; ++order) {
        random_program_t p;
        make_handles(&p);
        p.kernels[0] = kernel_random(0);
        for (int h = 0; h < HANDLES; ++h)
            record(&p, h, 0);
        JEXPECT_OK(jprogram_choose(p.program, 1 << 20));
        if (order & 1)
            JEXPECT_OK(jprogram_enter(p.program, 0));
        if (order & 2) {
            for (int h = 0; h < HANDLES; ++h)
                JEXPECT_OK(jhandle_destroy(p.handles[h]));
            jprogram_call_t call = JPROGRAM_CALL_INIT;
            JEXPECT_OK(jprogram_get_call(p.program, 0, &call));
            JEXPECT_NULL(call.handle);
            JEXPECT_OK(jprogram_enter(p.program, 0));
            JEXPECT_OK(jprogram_destroy(p.program));
        } else
            end_program(&p);
    }
    /* While one is recorded. */
    random_program_t p;
    make_handles(&p);
    JEXPECT_OK(jprogram_record(p.program, p.handles[0]));
    JEXPECT_OK(jprogram_record(p.program, p.handles[1]));
    JEXPECT_OK(jhandle_destroy(p.handles[1]));
    p.handles[1] = make_handle(0);
    JEXPECT_OK(jprogram_destroy(p.program));
    JEXPECT_FALSE(jhandle_is_size_query(p.handles[0]));
    p.program = NULL;
    end_program(&p);
}

JTEST(Program, MisuseIsRefused) {
    random_program_t p;
    make_handles(&p);
    size_t bytes = 0;
    jprogram_call_t call = JPROGRAM_CALL_INIT;
    jprogram_info_t info = {0};
    jrequirement_t *requirement = NULL;
    JEXPECT_STATUS(jprogram_create(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jprogram_destroy(NULL));
    JEXPECT_STATUS(jprogram_begin_phase(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jprogram_record(NULL, p.handles[0]), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jprogram_record(p.program, NULL), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jprogram_stop(p.program, p.handles[0]), JSTATUS_SIZE_QUERY_MISMATCH);
    JEXPECT_STATUS(jprogram_stop(NULL, p.handles[0]), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jprogram_stop(p.program, NULL), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jprogram_get_requirement(p.program, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jprogram_get_requirement(NULL, &requirement), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jprogram_get_info(p.program, &info), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jprogram_get_info(NULL, &info), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jprogram_get_call(p.program, 0, &call), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jprogram_get_call(p.program, 0, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jprogram_choose(NULL, 0), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jprogram_enter(NULL, 0), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jprogram_leave(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jprogram_enter(p.program, 0), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jprogram_get_share(p.program, 0, p.handles[0], &bytes), JSTATUS_INVALID_VALUE);

    /* An empty program. */
    JEXPECT_OK(jprogram_choose(p.program, 0));
    JEXPECT_STATUS(jprogram_enter(p.program, 0), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jprogram_leave(p.program));
    JEXPECT_OK(jprogram_get_requirement(p.program, &requirement));
    JEXPECT_EQ(info_of(requirement).optimal_bytes, 0);
    JEXPECT_OK(jrequirement_destroy(requirement));

    p.kernels[0] = (kernel_t){.n = 0, .rung_count = 1, .bytes = {{640}}};
    record(&p, 0, 0);
    JEXPECT_STATUS(jprogram_enter(p.program, 0), JSTATUS_NOT_FOUND); /* a new call: no choice */
    JEXPECT_STATUS(jprogram_get_share(p.program, 0, p.handles[0], &bytes), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jprogram_choose(p.program, 639), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "phase 0 needs 640 bytes of workspace, 1 more");
    JEXPECT_SUBSTR(jstatus_last_message(), "kernel n=0");
    JEXPECT_OK(jprogram_choose(p.program, 640));
    JEXPECT_STATUS(jprogram_choose(p.program, 1), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(program_info(p.program).budget_bytes, 640); /* as it was */
    JEXPECT_STATUS(jprogram_get_share(p.program, 0, p.handles[1], &bytes), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jprogram_get_share(p.program, 1, p.handles[0], &bytes), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jprogram_enter(p.program, 1), JSTATUS_INVALID_VALUE);

    JEXPECT_OK(jprogram_record(p.program, p.handles[1]));
    JEXPECT_STATUS(jprogram_record(p.program, p.handles[1]), JSTATUS_SIZE_QUERY_MISMATCH);
    JEXPECT_STATUS(jprogram_begin_phase(p.program), JSTATUS_BUSY);
    JEXPECT_STATUS(jprogram_choose(p.program, 640), JSTATUS_BUSY);
    JEXPECT_OK(jprogram_stop(p.program, p.handles[1]));
    JEXPECT_STATUS(jprogram_stop(p.program, p.handles[1]), JSTATUS_SIZE_QUERY_MISMATCH);
    JEXPECT_EQ(program_info(p.program).call_count, 1); /* nothing was recorded */
    /* A query that was ended as another one. */
    JEXPECT_OK(jprogram_record(p.program, p.handles[1]));
    JEXPECT_OK(jhandle_stop_size_query(p.handles[1], &bytes));
    JEXPECT_STATUS(jprogram_stop(p.program, p.handles[1]), JSTATUS_SIZE_QUERY_MISMATCH);
    /* And the caller's own query, which came after it. */
    JEXPECT_OK(jprogram_record(p.program, p.handles[1]));
    JEXPECT_OK(jhandle_stop_size_query(p.handles[1], &bytes));
    JEXPECT_OK(jprogram_begin_phase(p.program));
    JEXPECT_OK(jhandle_start_requirement_query(p.handles[1]));
    JEXPECT_STATUS(jprogram_stop(p.program, p.handles[1]), JSTATUS_SIZE_QUERY_MISMATCH);
    JEXPECT_TRUE(jhandle_is_size_query(p.handles[1]));
    JEXPECT_OK(jhandle_stop_requirement_query(p.handles[1], &requirement));
    JEXPECT_OK(jrequirement_destroy(requirement));

    /* Two programs, one handle. */
    jprogram_t *second = NULL;
    JEXPECT_OK(jprogram_create(&second));
    JEXPECT_OK(jprogram_record(second, p.handles[0]));
    (void)kernel_call(p.handles[0], &p.kernels[0], NULL);
    JEXPECT_OK(jprogram_stop(second, p.handles[0]));
    JEXPECT_OK(jprogram_choose(p.program, 640));
    JEXPECT_OK(jprogram_choose(second, 640));
    JEXPECT_OK(jprogram_enter(p.program, 0));
    JEXPECT_STATUS(jprogram_enter(second, 0), JSTATUS_BUSY);
    JEXPECT_OK(jprogram_destroy(second));

    /* A live borrow of a handle that follows. */
    {
        JALLOC_BORROW(mine, p.handles[0], 64);
        JEXPECT_TRUE(mine.ok);
        JEXPECT_STATUS(jprogram_leave(p.program), JSTATUS_BUSY);
        JEXPECT_STATUS(jprogram_enter(p.program, 0), JSTATUS_BUSY);
        JEXPECT_STATUS(jprogram_choose(p.program, 640), JSTATUS_BUSY);
        JEXPECT_STATUS(jprogram_begin_phase(p.program), JSTATUS_BUSY);
        JEXPECT_STATUS(jprogram_record(p.program, p.handles[1]), JSTATUS_BUSY);
        JEXPECT_STATUS(jprogram_destroy(p.program), JSTATUS_BUSY);
    }
    (void)kernel_call(p.handles[0], &(kernel_t){.n = 9, .rung_count = 1, .bytes = {{64}}}, NULL);
    JEXPECT_EQ(stats_of(p.handles[0]).unplanned_count, 1); /* it follows still */
    end_program(&p);
}

static void in_child(void *argument) {
    random_program_t *p = argument;
    JEXPECT_STATUS(kernel_call(p->handles[0], &p->kernels[0], NULL), JSTATUS_FORKED);
    JEXPECT_OK(jprogram_destroy(p->program));
}

JTEST(Program, AChildMayDestroyIt) {
    random_program_t p;
    choose_lower(&p);
    jtest_in_child(30, in_child, &p);
    end_program(&p);
}

JTEST(Program, NoMemoryIsSaidAndNothingIsLost) {
    kernel_t kernels[2] = {kernel_random(0), kernel_random(1)};
    jhandle_t *handles[2] = {make_handle(0), make_handle(0)};
    JFOR_EACH_FAILURE(i) {
        jprogram_t *program = NULL;
        jrequirement_t *requirement = NULL;
        jstatus_t status = jprogram_create(&program);
        for (int h = 0; h < 2 && status == JSTATUS_SUCCESS; ++h) {
            status = jprogram_record(program, handles[h]);
            if (status != JSTATUS_SUCCESS)
                break;
            (void)kernel_call(handles[h], &kernels[h], NULL);
            status = jprogram_stop(program, handles[h]);
            JEXPECT_FALSE(jhandle_is_size_query(handles[h]));
        }
        if (status == JSTATUS_SUCCESS)
            status = jprogram_get_requirement(program, &requirement);
        if (status == JSTATUS_SUCCESS)
            status = jprogram_choose(program, 1 << 20);
        if (status == JSTATUS_SUCCESS)
            status = jprogram_enter(program, 0);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_OK(jrequirement_destroy(requirement));
        JEXPECT_OK(jprogram_destroy(program));
        for (int h = 0; h < 2; ++h)
            JEXPECT_OK(jhandle_trim(handles[h], 0));
    }
    for (int h = 0; h < 2; ++h)
        JEXPECT_OK(jhandle_destroy(handles[h]));
}

static void record_many(jprogram_t *program, jhandle_t *handle, int64_t first, int64_t end) {
    JEXPECT_OK(jprogram_record(program, handle));
    for (int64_t n = first; n < end; ++n) {
        const kernel_t kernel = kernel_random(n);
        (void)kernel_call(handle, &kernel, NULL);
    }
}

/* More calls than a list has room for: the last is not kept, and so is none before it. */
JTEST(Program, ARecordingIsKeptWholeOrNotAtAll) {
    jhandle_t *handle = make_handle(0);
    JFOR_EACH_FAILURE(i) {
        jtest_fail_metadata_after(0);
        jprogram_t *program = NULL;
        JASSERT_OK(jprogram_create(&program));
        record_many(program, handle, 0, 3);
        JEXPECT_OK(jprogram_stop(program, handle));
        JEXPECT_OK(jprogram_begin_phase(program));
        record_many(program, handle, 3, 103);
        jtest_fail_metadata_after(i);
        const jstatus_t status = jprogram_stop(program, handle);
        const bool failed = jtest_metadata_failed();
        JEXPECT_STATUS(status, failed ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(program_info(program).call_count, failed ? 3 : 103);
        JEXPECT_EQ(program_info(program).phase_count, failed ? 1 : 2);
        JEXPECT_OK(jprogram_destroy(program));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}
