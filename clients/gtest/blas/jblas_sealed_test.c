/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* After set-up nothing allocates: every routine and type runs in each fixed mode, with one thread
 * and with two, in a process that may not ask the system for memory or threads any more. Set-up is
 * what the manual says it is: a handle with its threads, a size query, a workspace. That it was
 * queried is all that a routine was called before.
 *
 * The process is a child of its own, in which no other test has run. A filter stops it at the first
 * call of the system that is not allowed, and its handler says which routine that was; the end of
 * the program is one of them, and leaves the team's threads as they are. What is
 * compared is compared in memory that was there before: that all ways give the same bits. That the
 * bits are right other tests say.
 *
 * In default mode a call may take a larger block, once for the largest: what the system is asked
 * for is counted, and it is that block and nothing else. */

#include "handle_helper.h"
#include "jblas_routines.h"
#include "jtest_watch.h"

#if defined(__linux__) && defined(__x86_64__) && !JTEST_HAS_SHADOW

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- The seal ---- */

static const struct {
    int number;
    const char *name;
} forbidden[] = {
    {SYS_mmap, "mmap"},         {SYS_munmap, "munmap"},   {SYS_mremap, "mremap"}, {SYS_brk, "brk"},
    {SYS_mprotect, "mprotect"}, {SYS_madvise, "madvise"}, {SYS_clone, "clone"},
#ifdef SYS_clone3
    {SYS_clone3, "clone3"},
#endif
};
enum { FORBIDDEN = sizeof forbidden / sizeof forbidden[0] };

static const char *volatile at_work = "nothing";

static void say(const char *text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

/* Nothing of the C library's ending: it may allocate. */
static void leave(int result) { syscall(SYS_exit_group, result); }

static void stopped(int signal_number, siginfo_t *info, void *context) {
    (void)signal_number, (void)context;
    const char *name = "?";
    for (int i = 0; i < FORBIDDEN; i++)
        if (forbidden[i].number == info->si_syscall)
            name = forbidden[i].name;
    say("sealed: "), say(at_work), say(" called "), say(name), say("\n");
    leave(1);
}

/* For all threads that there are. False where the system has no such filters. */
static bool seal(void) {
    struct sock_filter filter[FORBIDDEN + 3];
    int at = 0;
    filter[at++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < FORBIDDEN; i++, at++)
        filter[at] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)forbidden[i].number, (uint8_t)(FORBIDDEN - i), 0);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);

    const struct sock_fprog program = {(unsigned short)at, filter};
    struct sigaction action = {.sa_sigaction = stopped, .sa_flags = SA_SIGINFO};
    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

/* ---- Cases ---- */

typedef struct sealed_case {
    blas_case_t *c;
    unsigned char *answer;
} sealed_case_t;

enum { CASES = 3 * BLAS_FUNCTION_COUNT };
static sealed_case_t cases[CASES];
static int case_count;

static void add_case(const blas_function_t *function, const blas_wish_t *wish) {
    blas_case_t *c = blas_case_create(function, wish);
    cases[case_count++] = (sealed_case_t){c, blas_snapshot(c)};
}

/* Of each function a small one, and one that wants panels or threads. */
static void add_cases(void) {
    for (int f = 0; f < BLAS_FUNCTION_COUNT; f++) {
        const blas_function_t *function = &blas_functions[f];
        const int level = function->routine->level;
        const int64_t large = level == 1 ? 20000 : level == 2 ? 400 : 200;
        add_case(function, &(blas_wish_t){.low = 1, .high = 20});
        add_case(function, &(blas_wish_t){.low = large, .high = large, .plain = true});
        if (level == 1 && function->type == JDATATYPE_F64)
            add_case(function, &(blas_wish_t){.low = 600000, .high = 600000, .tight = true});
    }
}

/* ---- Handles ---- */

enum { MODES = 3, MOST_THREADS = 2 };

static size_t queried_bytes(int threads) {
    jhandle_t *handle = blas_make_handle(NULL);
    size_t most = 0;
    JEXPECT_OK(jhandle_set_threads(handle, threads));
    for (int i = 0; i < case_count; i++) {
        const size_t bytes = blas_query(handle, cases[i].c);
        most = bytes > most ? bytes : most;
    }
    JEXPECT_OK(jhandle_destroy(handle));
    return most;
}

static jhandle_t *sealed_handle(int mode, int threads, size_t bytes) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.threads = threads;
    options.preallocate_bytes = mode == 0 ? bytes : 0;
    jhandle_t *handle = blas_make_handle(&options);
    if (mode == 1)
        JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, bytes));
    if (mode == 2)
        JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(bytes), bytes));
    return handle;
}

/* ---- The calls ---- */

static void fail_sealed(const char *what) {
    say("sealed: "), say(at_work), say(what), say("\n");
    leave(1);
}

static void call_sealed(jhandle_t *handle, sealed_case_t *sealed, bool is_first) {
    blas_case_t *c = sealed->c;
    at_work = c->function->name;
    blas_restore(c);
    if (blas_call(handle, c) != JSTATUS_SUCCESS)
        fail_sealed(" failed");

    unsigned char *answer = sealed->answer;
    for (int which = 0; which < BLAS_OPERANDS; answer += c->operand[which++].region_bytes)
        if (c->operand[which].kind && is_first)
            memcpy(answer, c->operand[which].region, c->operand[which].region_bytes);
    if (!is_first && !blas_same_as(c, sealed->answer))
        fail_sealed(" gave other bits");
}

JTEST_ONLY_WITH("JALLOC_TEST_KEEP", JblasSealedChild, CallsEverything) {
    jhandle_t *handles[MODES * MOST_THREADS];
    add_cases();
    for (int i = 0; i < MODES * MOST_THREADS; i++) {
        const int threads = i % MOST_THREADS + 1;
        handles[i] = sealed_handle(i / MOST_THREADS, threads, queried_bytes(threads));
    }
    if (jtest_has_failure())
        return;

    if (!seal()) {
        say("sealed: not possible here\n");
        leave(0);
    }
    for (int i = 0; i < MODES * MOST_THREADS; i++)
        for (int k = 0; k < case_count; k++)
            call_sealed(handles[i], &cases[k], i == 0);
    say("sealed: all calls\n");

    at_work = "the end of the program";
    exit(0);
}

/* That the seal holds, and says who broke it. */
JTEST_ONLY_WITH("JALLOC_TEST_KEEP", JblasSealedChild, MapsMemory) {
    if (!seal()) {
        say("sealed: not possible here\n");
        leave(0);
    }
    at_work = "the test";
    syscall(SYS_mmap, NULL, 4096, 0, 0x22, -1, 0);
    leave(0);
}

/* ---- Default mode ---- */

/* A block of the C library's is one mapping, and the one that it replaces is given back. */
enum { MOST_PER_GROWTH = 2 };

static uint64_t call_watched(jhandle_t *handle, const sealed_case_t *sealed) {
    const uint64_t calls = jtest_watched_count(), growths = stats_of(handle).growth_count;
    blas_restore(sealed->c);
    JEXPECT_OK(blas_call(handle, sealed->c));

    const uint64_t grown = stats_of(handle).growth_count - growths;
    if (grown > 1 || jtest_watched_count() - calls > grown * MOST_PER_GROWTH)
        JFAIL("%s grew %d times and called the system %d times", blas_describe(sealed->c),
              (int)grown, (int)(jtest_watched_count() - calls));
    return grown;
}

JTEST_ONLY_WITH("JALLOC_TEST_KEEP", JblasSealedChild, GrowsInDefaultMode) {
    add_cases();
    mallopt(M_MMAP_THRESHOLD, 64 << 10); /* blocks are mapped, however many were freed before */
    if (!jtest_watch_system())
        JSKIP("sealed: not possible here");

    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        uint64_t growths = 0;
        jhandle_t *handle = blas_make_handle(NULL);
        JEXPECT_OK(jhandle_set_threads(handle, threads));
        for (int i = 0; i < case_count; i++)
            growths += call_watched(handle, &cases[i]);
        JEXPECT_GT(growths, 0);

        for (int i = 0; i < case_count; i++) /* the largest has been there */
            JEXPECT_EQ(call_watched(handle, &cases[i]), 0);
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

/* ---- The tests ---- */

static int run_child(const char *filter, char *output, size_t output_bytes) {
    /* An OpenBLAS that is there has no threads of its own, which map memory as they begin. */
    const char *const environment[] = {"JALLOC_TEST_KEEP=1", "OPENBLAS_NUM_THREADS=1", NULL};
    return jtest_run_self(filter, environment, output, output_bytes);
}

JTEST(JblasSealed, EveryRoutineInEachFixedModeAsksTheSystemForNothing) {
    static char output[16384];
    const int result = run_child("JblasSealedChild.MapsMemory", output, sizeof output);
    if (strstr(output, "not possible here"))
        JSKIP("the system has no seccomp filters");
    JEXPECT_EQ(result, 1);
    JEXPECT_SUBSTR(output, "sealed: the test called mmap");

    JEXPECT_EQ(run_child("JblasSealedChild.CallsEverything", output, sizeof output), 0);
    JEXPECT_SUBSTR(output, "sealed: all calls");
}

JTEST(JblasSealed, InDefaultModeOnlyALargerBlockIsAskedFor) {
    static char output[16384];
    const int result = run_child("JblasSealedChild.GrowsInDefaultMode", output, sizeof output);
    if (strstr(output, "not possible here"))
        JSKIP("the system has no filters that ask");
    JEXPECT_EQ(result, 0);
    JEXPECT_SUBSTR(output, "1 test");
    if (jtest_has_failure())
        fputs(output, stderr);
}

#else

JTEST(JblasSealed, EveryRoutineInEachFixedModeAsksTheSystemForNothing) {
    JSKIP("needs x86-64 without sanitizers");
}
JTEST(JblasSealed, InDefaultModeOnlyALargerBlockIsAskedFor) {
    JSKIP("needs x86-64 without sanitizers");
}

#endif
