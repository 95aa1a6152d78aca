/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* After set-up nothing allocates: every routine and type runs in each fixed mode, with one thread
 * and with two, in a process that may not ask the system for memory or threads any more. Set-up is
 * what the manual says it is: a handle with its threads, a size query, a workspace. That it was
 * queried is all that a routine was called before.
 *
 * The process is a child of its own, in which no other test has run (sealed_helper.h). The end of
 * the program is one of the calls, and leaves the team's threads as they are. What is compared
 * is compared in memory that was there before: that all ways give the same bits. That the bits are
 * right other tests say.
 *
 * In default mode a call may take a larger block, once for the largest: what the system is asked
 * for is counted, and it is that block and nothing else. */

#include "handle_helper.h"
#include "jblas_routines.h"
#include "sealed_helper.h"

#if JTEST_HAS_SEAL

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* ---- The calls ---- */

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

static void call_sealed(jhandle_t *handle, sealed_case_t *sealed, bool is_first) {
    blas_case_t *c = sealed->c;
    jtest_sealed_work = c->function->name;
    blas_restore(c);
    if (blas_call(handle, c) != JSTATUS_SUCCESS)
        jtest_sealed_fail(" failed");

    unsigned char *answer = sealed->answer;
    for (int which = 0; which < BLAS_OPERANDS; answer += c->operand[which++].region_bytes)
        if (c->operand[which].kind && is_first)
            memcpy(answer, c->operand[which].region, c->operand[which].region_bytes);
    if (!is_first && !blas_same_as(c, sealed->answer))
        jtest_sealed_fail(" gave other bits");
}

JTEST_ONLY_WITH("JALLOC_TEST_KEEP", JblasSealedChild, CallsEverything) {
    jhandle_t *handles[JTEST_SEALED_HANDLES];
    add_cases();
    jtest_sealed_handles(handles, queried_bytes);
    if (jtest_has_failure())
        return;

    jtest_seal();
    for (int i = 0; i < JTEST_SEALED_HANDLES; i++)
        for (int k = 0; k < case_count; k++)
            call_sealed(handles[i], &cases[k], i == 0);
    jtest_sealed_end();
}

/* That the seal holds, and says who broke it. */
JTEST_ONLY_WITH("JALLOC_TEST_KEEP", JblasSealedChild, MapsMemory) {
    jtest_seal();
    jtest_sealed_work = "the test";
    syscall(SYS_mmap, NULL, 4096, 0, 0x22, -1, 0);
    _exit(0);
}

/* ---- Stack ---- */

/* What docs/threads.rst promises of stack. */
enum { MOST_STACK_BYTES = 192 << 10 };

/* Gives who failed. */
static void *call_each(void *handle) {
    for (int i = 0; i < case_count; i++) {
        blas_restore(cases[i].c);
        if (jstatus_is_error(blas_call(handle, cases[i].c)))
            return (void *)cases[i].c->function->name;
    }
    return NULL;
}

static void expect_little_stack(void) {
    jhandle_t *handle = blas_make_handle(NULL);
    JEXPECT_OK(jhandle_set_threads(handle, 1));
    JEXPECT_LE(jtest_stack_bytes(call_each, handle), MOST_STACK_BYTES);
    JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, 64)); /* strips on the stack */
    JEXPECT_LE(jtest_stack_bytes(call_each, handle), MOST_STACK_BYTES);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Default mode ---- */

/* A block of the C library's is one mapping; the pages of the one that it replaces are given back,
 * and then its mapping. */
enum { MOST_PER_GROWTH = 3 };

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
    expect_little_stack();
    mallopt(M_MMAP_THRESHOLD, 64 << 10); /* blocks are mapped, however many were freed before */
    if (!jtest_watch_system())
        JSKIP("sealed: not possible here");

    for (int threads = 1; threads <= JTEST_SEALED_THREADS; threads++) {
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

JTEST(JblasSealed, EveryRoutineInEachFixedModeAsksTheSystemForNothing) {
    static char output[16384];
    const int result = jtest_run_sealed("JblasSealedChild.MapsMemory", output, sizeof output);
    if (strstr(output, "not possible here"))
        JSKIP("the system has no seccomp filters");
    JEXPECT_EQ(result, 1);
    JEXPECT_SUBSTR(output, "sealed: the test called mmap");

    jtest_expect_sealed("JblasSealedChild.CallsEverything");
}

JTEST(JblasSealed, InDefaultModeOnlyALargerBlockIsAskedForAndLittleStack) {
    static char output[16384];
    const int result =
        jtest_run_sealed("JblasSealedChild.GrowsInDefaultMode", output, sizeof output);
    JEXPECT_EQ(result, 0);
    if (strstr(output, "not possible here"))
        JSKIP("the system has no filters that ask");
    JEXPECT_SUBSTR(output, "1 test");
    if (jtest_has_failure())
        fputs(output, stderr);
}

#else

JTEST(JblasSealed, EveryRoutineInEachFixedModeAsksTheSystemForNothing) {
    JSKIP("needs x86-64 without sanitizers");
}
JTEST(JblasSealed, InDefaultModeOnlyALargerBlockIsAskedForAndLittleStack) {
    JSKIP("needs x86-64 without sanitizers");
}

#endif
