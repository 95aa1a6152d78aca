/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How many threads a handle's calls may use, and whose: by option, environment and setter. How they
 * work is core_team_test.c's. */

#include "core/node.h"
#include "core/team.h"
#include "handle/handle.h"
#include "handle_helper.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>

static int threads_of(const jhandle_t *handle) {
    int count = -1;
    JEXPECT_OK(jhandle_get_threads(handle, &count));
    return count;
}

static int offer_two(void *context) {
    (void)context;
    return 2;
}
static void run_in_order(void *context, int count, void (*part)(void *, int), void *argument) {
    (void)context;
    for (int i = 0; i < count; i++)
        part(argument, i);
}
static const jexecutor_t in_order = {sizeof in_order, NULL, offer_two, run_in_order};

static int usual_threads(void) {
    const int processors = ji_node_processors(), quota = ji_node_quota("");
    return processors < quota ? processors : quota;
}

JTEST(HandleThreads, DefaultIsWhatTheProcessMayUse) {
    jhandle_t *handle = make_handle(0);
    JEXPECT_EQ(threads_of(handle), usual_threads());
    JEXPECT_NULL(jhandle_executor(handle));
    JEXPECT_EQ(handle->threads.count, usual_threads());
    JEXPECT_GE(ji_team_size(), usual_threads() - 1);
    JEXPECT_GE(atomic_load(&ji_team_processors), usual_threads());
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A thread that is bound to one processor makes handles that use one. */
static void bind_and_make(void *unused) {
    (void)unused;
    cpu_set_t allowed, one;
    JASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &allowed))
        ++cpu;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    JASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    jhandle_t *handle = make_handle(0);
    JEXPECT_EQ(threads_of(handle), 1);
    JEXPECT_EQ(ji_team_size(), 0);
    JEXPECT_OK(jhandle_destroy(handle));
}
JTEST(HandleThreads, DefaultFollowsTheAffinity) { jtest_in_child(30, bind_and_make, NULL); }

JTEST(HandleThreads, SettersOptionsAndEnvironment) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle;
    jtest_setenv("JALLOC_THREADS", "3");
    handle = make_handle(0);
    JEXPECT_EQ(threads_of(handle), 3);
    JEXPECT_GE(ji_team_size(), 2);
    jtest_setenv("JALLOC_THREADS", "4"); /* read when the handle was made */
    JEXPECT_OK(jhandle_set_threads(handle, 5));
    JEXPECT_EQ(threads_of(handle), 5);
    JEXPECT_GE(ji_team_size(), 4);
    JEXPECT_OK(jhandle_set_threads(handle, 0));
    JEXPECT_EQ(threads_of(handle), 3);

    JEXPECT_STATUS(jhandle_set_threads(handle, -1), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "count = -1: must be at least 0");
    JEXPECT_EQ(threads_of(handle), 3);
    JEXPECT_OK(jhandle_destroy(handle));

    options.threads = 2; /* the option wins */
    JASSERT_OK(jhandle_create(&options, &handle));
    JEXPECT_EQ(threads_of(handle), 2);
    JEXPECT_OK(jhandle_set_threads(handle, 0));
    JEXPECT_EQ(threads_of(handle), 4);
    JEXPECT_OK(jhandle_destroy(handle));

    options.threads = -1;
    JEXPECT_STATUS(jhandle_create(&options, &handle), JSTATUS_INVALID_VALUE);
    jtest_setenv("JALLOC_THREADS", "");
    handle = make_handle(0);
    JEXPECT_EQ(threads_of(handle), usual_threads());
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Executors ---- */

JTEST(HandleThreads, AnExecutorSaysHowManyUnlessTheProgramDoes) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = make_handle(0);
    const int usual = usual_threads();
    JEXPECT_OK(jhandle_set_executor(handle, &in_order));
    JEXPECT_TRUE(jhandle_executor(handle) == &in_order);
    JEXPECT_EQ(threads_of(handle), 0);
    JEXPECT_EQ(handle->threads.count, INT_MAX);
    JEXPECT_OK(jhandle_set_threads(handle, 7));
    JEXPECT_EQ(threads_of(handle), 7);
    JEXPECT_OK(jhandle_set_threads(handle, 0));
    JEXPECT_EQ(threads_of(handle), 0);
    JEXPECT_OK(jhandle_set_executor(handle, NULL));
    JEXPECT_NULL(jhandle_executor(handle));
    JEXPECT_EQ(threads_of(handle), usual);
    JEXPECT_OK(jhandle_destroy(handle));

    options.executor = &in_order;
    jtest_setenv("JALLOC_THREADS", "6");
    JASSERT_OK(jhandle_create(&options, &handle));
    JEXPECT_TRUE(jhandle_executor(handle) == &in_order);
    JEXPECT_EQ(threads_of(handle), 6);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The largest count is a count like any other, and not all that an executor offers. */
JTEST(HandleThreads, TheLargestCountIsACount) {
    jtest_fail_calls("pthread_create", 1, INT_MAX, EAGAIN);
    jhandle_t *handle = make_handle(0);
    for (int lent = 0; lent < 2; lent++) {
        JEXPECT_OK(jhandle_set_executor(handle, lent ? &in_order : NULL));
        JEXPECT_OK(jhandle_set_threads(handle, INT_MAX));
        JEXPECT_EQ(threads_of(handle), INT_MAX);
        JEXPECT_EQ(handle->threads.planned, JI_TEAM_MAX_THREADS); /* and workspace in proportion */
        JEXPECT_OK(jhandle_set_threads(handle, 0));
        JEXPECT_EQ(threads_of(handle), lent ? 0 : usual_threads());
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleThreads, AnExecutorThatCannotWorkIsRefused) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = make_handle(0), *const mark = (jhandle_t *)&mark, *made = mark;
    jexecutor_t executor = JEXECUTOR_INIT;
    JEXPECT_OK(jhandle_set_executor(handle, &in_order));

    for (int round = 0; round < 4; round++) {
        const jstatus_t expected = round < 2 ? JSTATUS_INVALID_POINTER : JSTATUS_INVALID_VALUE;
        JSCOPED_TRACE("round %d", round);
        executor = in_order;
        if (round == 0)
            executor.available = NULL;
        if (round == 1)
            executor.run = NULL;
        if (round == 2)
            executor.struct_size = 0;
        if (round == 3)
            executor.struct_size = sizeof executor - 1;
        options.executor = &executor;
        JEXPECT_STATUS(jhandle_set_executor(handle, &executor), expected);
        JEXPECT_SUBSTR(jhandle_last_message(handle), "jhandle_set_executor: ");
        JEXPECT_TRUE(jhandle_executor(handle) == &in_order);
        JEXPECT_STATUS(jhandle_create(&options, &made), expected);
        JEXPECT_EQ(made, mark);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A newer program's executor is taken if what is not known here is zero. */
JTEST(HandleThreads, AnExecutorOfANewerProgram) {
    struct {
        jexecutor_t known;
        void *newer;
    } executor = {in_order, NULL};
    executor.known.struct_size = sizeof executor;
    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(jhandle_set_executor(handle, &executor.known));
    executor.newer = &executor;
    JEXPECT_STATUS(jhandle_set_executor(handle, &executor.known), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Set-up without threads ---- */

static void make_without_workers(void *unused) {
    (void)unused;
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle;
    options.executor = &in_order;
    JASSERT_OK(jhandle_create(&options, &handle));
    JEXPECT_EQ(ji_team_size(), 0);
    JEXPECT_OK(jhandle_destroy(handle));
    options.executor = NULL;
    options.threads = 1;
    JASSERT_OK(jhandle_create(&options, &handle));
    JEXPECT_EQ(ji_team_size(), 0);

    jtest_fail_calls("pthread_create", 1, 100, EAGAIN);
    JEXPECT_OK(jhandle_set_threads(handle, 4));
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_EQ(threads_of(handle), 4);
    JEXPECT_EQ(ji_team_size(), 0);
    JEXPECT_OK(jhandle_set_threads(handle, 4));
    JEXPECT_EQ(ji_team_size(), 3);
    JEXPECT_OK(jhandle_destroy(handle));
}
JTEST(HandleThreads, NoThreadIsMadeForAHandleThatNeedsNone) {
    jtest_in_child(30, make_without_workers, NULL);
}
