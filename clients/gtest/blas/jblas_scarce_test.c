/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Little memory, and much company: every routine under a limit of the address space, from just
 * above what is mapped upwards, through creation, set-up and call; thousands of handles, hundreds
 * of threads with one each, many processes. */

#include "jblas_routines.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SHADOW 1 /* a sanitizer maps more than any limit allows */
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SHADOW 1
#endif

/* ---- A limit of the address space ---- */

#ifndef HAS_SHADOW

static size_t mapped_bytes(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static bool is_answer(jstatus_t status) {
    return status == JSTATUS_SUCCESS || status == JSTATUS_PERF_DEGRADED ||
           status == JSTATUS_MEMORY_ERROR;
}

typedef struct limited {
    const blas_function_t *function;
    size_t room;
} limited_t;

/* In a child. What the cases take is mapped before. */
static void call_limited(void *argument) {
    const limited_t *limited = argument;
    BLAS_CASE(c, limited->function, .low = 150, .high = 150, .plain = true);
    const size_t limit = mapped_bytes() + limited->room;
    const struct rlimit bound = {limit, limit};
    JASSERT_EQ(setrlimit(RLIMIT_AS, &bound), 0);

    jhandle_t *handle = NULL;
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.threads = 2;
    const jstatus_t created = jhandle_create(&options, &handle);
    JASSERT_TRUE(is_answer(created));
    if (created != JSTATUS_SUCCESS)
        return;

    size_t bytes = 0;
    JEXPECT_OK(jhandle_start_size_query(handle));
    (void)blas_call(handle, c);
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    const jstatus_t sized = jhandle_set_workspace_size(handle, bytes);
    JEXPECT_TRUE(is_answer(sized));

    const jstatus_t called = blas_call(handle, c);
    JEXPECT_TRUE(is_answer(called));
    if (sized == JSTATUS_SUCCESS)
        JEXPECT_OK(called);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST_EACH_FUNCTION(JblasScarce, EachLimitOfTheAddressSpaceHasAnAnswer) {
    limited_t limited = {.function = param};
    for (limited.room = 4096; limited.room <= (size_t)64 << 20 && !jtest_has_failure();
         limited.room *= 4)
        jtest_in_child(120, call_limited, &limited);
}

#endif

/* ---- Company ---- */

enum { ORDER = 48 }; /* a symmetric product that wants panels */

static double factors[2][ORDER * ORDER], expected[ORDER * ORDER];

static jstatus_t multiply(jhandle_t *handle, int order, double *c) {
    const double one = 1, zero = 0;
    return jblas_dsymm(handle, JBLAS_LEFT, JBLAS_UPPER, order, order, &one, factors[0], ORDER,
                       factors[1], ORDER, &zero, c, ORDER);
}

static void expect_product(void) {
    for (int i = 0; i < ORDER * ORDER; i++)
        factors[0][i] = jtest_random_double(-1, 1), factors[1][i] = jtest_random_double(-1, 1);

    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jhandle_set_threads(handle, 1));
    JEXPECT_OK(multiply(handle, ORDER, expected));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Creates a handle, multiplies, and destroys it. Whether all was well, without a check: for threads
 * and children. */
static bool multiply_alone(void) {
    jhandle_t *handle = NULL;
    double *c = malloc(sizeof expected);
    bool well = c != NULL && jhandle_create(NULL, &handle) == JSTATUS_SUCCESS;

    for (int call = 0; call < 3 && well; call++)
        well = multiply(handle, ORDER, c) == JSTATUS_SUCCESS &&
               memcmp(c, expected, sizeof expected) == 0;
    if (handle != NULL)
        well = jhandle_destroy(handle) == JSTATUS_SUCCESS && well;
    free(c);
    return well;
}

JTEST(JblasScarce, ThousandsOfHandlesLive) {
    enum { HANDLES = 4096, SMALL = 20 };
    static jhandle_t *handles[HANDLES];
    static double c[2][ORDER * ORDER];
    expect_product();

    for (int i = 0; i < HANDLES; i++) {
        JASSERT_OK(jhandle_create(NULL, &handles[i]));
        JEXPECT_OK(multiply(handles[i], SMALL, c[i > 0]));
        if (i > 0 && memcmp(c[0], c[1], sizeof c[0]) != 0)
            JFAIL("handle %d gives other bits", i);
    }
    for (int i = 0; i < HANDLES; i++)
        JEXPECT_OK(jhandle_destroy(handles[i]));
}

static void *multiply_in_thread(void *well) {
    *(bool *)well = multiply_alone();
    return NULL;
}

JTEST(JblasScarce, HundredsOfThreadsMultiply) {
    enum { THREADS = 256 };
    static pthread_t threads[THREADS];
    static bool well[THREADS];
    expect_product();

    for (int i = 0; i < THREADS; i++)
        JASSERT_EQ(pthread_create(&threads[i], NULL, multiply_in_thread, &well[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        JEXPECT_EQ(pthread_join(threads[i], NULL), 0);
        JEXPECT_TRUE(well[i]);
    }
}

JTEST(JblasScarce, ManyProcessesMultiply) {
    enum { PROCESSES = 64 };
    pid_t children[PROCESSES];
    expect_product();

    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        JASSERT_GE(children[i], 0);
        if (children[i] == 0)
            _exit(multiply_alone() ? 0 : 1);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        JEXPECT_EQ(waitpid(children[i], &status, 0), children[i]);
        JEXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}
