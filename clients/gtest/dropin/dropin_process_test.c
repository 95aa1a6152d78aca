/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The drop-in in a process of somebody else's: its threads come and end, it forks, calls from its
 * last destructors, has error handlers of its own, loads other libraries before and after. What the
 * program does is in program/dropin_program.c. */

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jtest.h"

/* Everything is right, and there is nothing to say. */
static void expect_right(const char *what, const char *path, const char *const environment[]) {
    const char *const command[] = {JALLOC_DROPIN_PROGRAM, what, path, NULL};
    char output[2000] = "";
    const int status = jtest_run_program(command, environment, output, sizeof output);
    JSCOPED_TRACE("%s %s: %s", what, environment != NULL ? environment[0] : "", output);
    JEXPECT_EQ(status, 0);
    JEXPECT_STREQ(output, "");
}

/* In each of the ways in which a handle can be had, or not. */
static void expect_right_everywhere(const char *what, const char *path) {
    static const char *const preallocates[] = {"JALLOC_DEVICE_MEMORY_SIZE=1M", NULL};
    static const char *const little[] = {"JALLOC_BUDGET=64", "JALLOC_DEVICE_MEMORY_SIZE=1M", NULL};
    static const char *const alone[] = {"JALLOC_THREADS=1", "JALLOC_BUDGET=300K", NULL};
    expect_right(what, path, NULL);
    expect_right(what, path, preallocates);
    expect_right(what, path, little);
    expect_right(what, path, alone);
}

JTEST(Dropin, ThreadsHaveHandlesUntilTheyEnd) { expect_right_everywhere("threads", NULL); }

JTEST(Dropin, ChildrenCompute) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    JSKIP("sanitizers hold no locks across a fork, and know no threads behind it");
#endif
    expect_right_everywhere("fork", NULL);
}

JTEST(Dropin, TheLastDestructorsCompute) { expect_right_everywhere("late", NULL); }

JTEST(Dropin, TheProgramsErrorHandlersAreCalled) { expect_right("wrong", NULL, NULL); }

/* What is told, on standard error. */
static void expect_printed(void (*tells)(void *library), void *library, const char *expected) {
    char printed[200] = "";
    int ends[2];
    JASSERT_EQ(pipe(ends), 0);
    const int kept = dup(STDERR_FILENO);
    JASSERT_EQ(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    tells(library);
    JASSERT_EQ(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    (void)close(kept), (void)close(ends[1]);
    JEXPECT_GT(read(ends[0], printed, sizeof printed - 1), 0);
    (void)close(ends[0]);
    JEXPECT_STREQ(printed, expected);
}

static void tell_short(void *library) {
    void (*xerbla)(const char *, const int32_t *, size_t) = NULL;
    *(void **)&xerbla = dlsym(library, "xerbla_");
    xerbla("DSYRK ", &(int32_t){3}, 6);
}

static void tell_array(void *library, const char *name, int32_t length) {
    void (*xerbla)(const char *, const int32_t *, const int32_t *) = NULL;
    *(void **)&xerbla = dlsym(library, "xerbla_array_");
    xerbla(name, &length, &(int32_t){5});
}

static void tell_long(void *library) { tell_array(library, "DSYTRF_AASEN", 12); }
static void tell_longest(void *library) {
    tell_array(library, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 36);
}

/* A row-major lda. */
static void tell_of_call(void *library) {
    void (*gemm)(int, int, int, int32_t, int32_t, int32_t, double, const double *, int32_t,
                 const double *, int32_t, double, double *, int32_t) = NULL;
    *(void **)&gemm = dlsym(library, "cblas_dgemm");
    double c[4] = {0};
    gemm(101, 111, 111, 2, 2, 2, 1, c, 1, c, 2, 0, c, 2);
}

/* Where the program has none of its own. */
JTEST(Dropin, TheErrorHandlersPrintTheWholeName) {
    void *library = dlopen(JALLOC_DROPIN, RTLD_NOW | RTLD_LOCAL);
    JASSERT_NE(library, NULL);
    expect_printed(tell_short, library, "Parameter 3 to routine DSYRK was incorrect\n");
    expect_printed(tell_long, library, "Parameter 5 to routine DSYTRF_AASEN was incorrect\n");
    expect_printed(tell_longest, library,
                   "Parameter 5 to routine ABCDEFGHIJKLMNOPQRSTUVWXYZ012345 was incorrect\n");
    expect_printed(tell_of_call, library, "Parameter 9 to routine cblas_dgemm was incorrect\n");
    dlclose(library);
}

JTEST(Dropin, IsClosedAndLoadedAgain) { expect_right("close", JALLOC_DROPIN, NULL); }

JTEST(Dropin, ConjugatesNeedNoWorkspace) { expect_right_everywhere("conjugates", NULL); }

/* The same with LAPACK's names, preloaded. */
JTEST(Dropin, SolvesInAProcess) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    JSKIP("sanitizers are to be loaded first");
#endif
#define SOLVES "PROGRAM_SOLVES=1", "LD_PRELOAD=" JALLOC_DROPIN_LAPACK
    static const char *const all[] = {SOLVES, NULL};
    static const char *const little[] = {SOLVES, "JALLOC_DEVICE_MEMORY_SIZE=64", NULL};
    static const char *const budget[] = {SOLVES, "JALLOC_BUDGET=64", "JALLOC_DEVICE_MEMORY_SIZE=1M",
                                         NULL};
    static const char *const *const environments[] = {all, little, budget};
    for (size_t i = 0; i < sizeof environments / sizeof *environments; i++) {
        expect_right("threads", NULL, environments[i]);
        expect_right("fork", NULL, environments[i]);
        expect_right("late", NULL, environments[i]);
        expect_right("wrong", NULL, environments[i]);
        expect_right("solve-wrong", NULL, environments[i]);
        expect_right("solve-little", NULL, environments[i]);
        expect_right("close", JALLOC_DROPIN, environments[i]);
    }
}

/* Solves by floats have other bits than those in full, and wait until that is allowed. */
JTEST(Dropin, SolvesByFloatsWhereBitsMayDiffer) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    JSKIP("sanitizers are to be loaded first");
#endif
    static const char *const default_bits[] = {SOLVES, NULL};
    static const char *const any_bits[] = {SOLVES, "JALLOC_RESULT_POLICY=fast", NULL};
    expect_right("solve-floats", NULL, default_bits);
    expect_right("solve-floats", NULL, any_bits);
}

/* For large pivots and row-major matrices that is not enough. */
JTEST(Dropin, SaysThatItHasNoMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    JSKIP("sanitizers are to be loaded first");
#endif
    static const char *const environment[] = {SOLVES, "JALLOC_BUDGET=64", NULL};
    expect_right("solve-memory", NULL, environment);
}

/* Whichever allocation fails, the numbers are right, and the report has the plan of all calls or
 * says that it has not. */
JTEST(Dropin, ReportsWhatItKnowsWithoutMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
    JSKIP("the program's malloc is not its own");
#endif
    enum { FAILURES = 40 }; /* more than there are */
    static const char plan[] = "plan: minimal 0 bytes, optimal ", none[] = "plan: none: memory",
                      missed[] = "jblas: missed: ";
    static const char *const command[] = {JALLOC_DROPIN_PROGRAM, "products", NULL};
    char best[32] = "";
    int missing = 0, planless = 0;
    for (int n = 0; n <= FAILURES; n++) {
        char fails[32], output[2000] = "";
        snprintf(fails, sizeof fails, "PROGRAM_FAILS=%d", n);
        const char *const environment[] = {"JALLOC_BLAS_REPORT=1", fails, NULL};
        JSCOPED_TRACE("%s", fails);
        JASSERT_EQ(jtest_run_program(command, environment, output, sizeof output), 0);
        JEXPECT_SUBSTR(output, ": 2 calls of BLAS, 1 handles\n");

        const char *found = strstr(output, plan);
        if (n == 0) {
            JASSERT_TRUE(found != NULL && strstr(output, missed) == NULL);
            snprintf(best, sizeof best, "%.*s", (int)strcspn(found + sizeof plan - 1, " "),
                     found + sizeof plan - 1);
        }
        const bool is_missing = strstr(output, missed) != NULL,
                   is_planless = strstr(output, none) != NULL,
                   is_whole =
                       found != NULL && strncmp(found + sizeof plan - 1, best, strlen(best)) == 0;
        JEXPECT_EQ(is_missing + is_planless + is_whole, 1);
        missing += is_missing;
        planless += is_planless;
        JEXPECT_FALSE(n == FAILURES && !is_whole);
    }
    JEXPECT_GT(missing, 1);
    JEXPECT_GT(planless, 1);
}

/* What is not understood or cannot be had is said once, and all calls compute, whoever reads the
 * variable. */
JTEST(Dropin, ComputesWhereTheEnvironmentIsNotUnderstood) {
    static const char *const command[] = {JALLOC_DROPIN_PROGRAM, "threads", NULL};
    static const char *const wrong[] = {
        "JALLOC_BUDGET=plenty",    "JALLOC_THREADS=plenty",   "JALLOC_HOST_ISA=plenty",
        "JALLOC_HOST_BLAS=plenty", "JALLOC_ALLOCATOR=plenty", "JALLOC_RECORD=/dev/null/plenty"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *const environment[] = {wrong[i], NULL};
        char output[2000] = "";
        JSCOPED_TRACE("%s", wrong[i]);
        JEXPECT_EQ(jtest_run_program(command, environment, output, sizeof output), 0);
        JEXPECT_SUBSTR(output, "plenty");
        JEXPECT_EQ(strchr(output, '\n'), output + strlen(output) - 1);
    }
}

/* Kernels that the processor has not are said once, too; the best that it has compute. */
JTEST(Dropin, ComputesWhereTheProcessorLacksTheKernels) {
    static const char *const command[] = {JALLOC_DROPIN_PROGRAM, "threads", NULL};
    static const char *const environment[] = {"JALLOC_HOST_ISA=avx512", NULL};
    char output[2000] = "";
    JEXPECT_EQ(jtest_run_program(command, environment, output, sizeof output), 0);
    if (output[0] == '\0')
        JSKIP("this processor has them");
    JEXPECT_SUBSTR(output, "JALLOC_HOST_ISA=\"avx512\": this processor cannot run these kernels");
    JEXPECT_EQ(strchr(output, '\n'), output + strlen(output) - 1);
}

/* ---- With others ---- */

static bool is_installed(const char *library) {
    void *found = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (found != NULL)
        dlclose(found);
    return found != NULL;
}

/* jblas of the program's own, by itself and with a guest, which by name is the drop-in. */
JTEST(Dropin, DoesNotMeetTheProgramsJblas) {
    static const char *const guest[] = {"JALLOC_HOST_BLAS=cblas", "JALLOC_CBLAS=libblas.so.3",
                                        "JALLOC_LOG_LEVEL=off", NULL};
    expect_right("jblas", JALLOC_SHARED_JBLAS, NULL);
    expect_right("jblas", JALLOC_SHARED_JBLAS, guest);
}

/* A LAPACK that jlapack has loaded calls its own BLAS, neither the program's nor the drop-in's. */
JTEST(Dropin, DoesNotMeetTheLapackOfJlapack) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    JSKIP("sanitizers are to be loaded first, and forbid deep binding");
#endif
    if (!is_installed("libopenblas.so.0"))
        JSKIP("OpenBLAS is not installed");
    static const char *const preloaded[] = {SOLVES, "JALLOC_LAPACK=libopenblas.so.0", NULL};
    expect_right("jlapack", JALLOC_SHARED_JLAPACK, preloaded + 2);
    expect_right("jlapack", JALLOC_SHARED_JLAPACK, preloaded);
}

JTEST(Dropin, DoesNotMeetAnotherBlas) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    JSKIP("sanitizers are to be loaded first, and see what other libraries leave behind");
#endif
    static const char *const others[] = {"libopenblas.so.0", "libblis.so.4"};
    bool any = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!is_installed(others[i]))
            continue;
        any = true;
        char guest_name[64] = "JALLOC_CBLAS=";
        char preload[256] = "LD_PRELOAD=" JALLOC_DROPIN ":";
        strcat(guest_name, others[i]), strcat(preload, others[i]);
        const char *const guest[] = {"JALLOC_HOST_BLAS=cblas", guest_name, "JALLOC_LOG_LEVEL=off",
                                     NULL};
        const char *const before[] = {preload, NULL};
        expect_right("jblas", JALLOC_SHARED_JBLAS, guest);
        expect_right("close", others[i], NULL);
        expect_right("threads", NULL, before);
    }
    if (!any)
        JSKIP("no other BLAS is installed");
}
