/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Little memory, and much company: every routine under a limit of the address space, from just
 * above what is mapped upwards, through creation, set-up and call; each allocation, mapping and
 * thread on that way that cannot be had, and all behind it; thousands of handles, hundreds
 * of threads with one each, many processes. */

#include "jblas_routines.h"
#include "jtest_watch.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A limit of the address space ---- */

#if !JTEST_HAS_SHADOW

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

/* The last type of each routine, and of plain ones double: what a call takes besides its workspace
 * does not depend on the type, and each life is a process. Of these a share, others each time,
 * where tests are scaled down. */
static bool stands_for_others(const blas_function_t *function) {
    if (jtest_random_between(1, 1000) > jtest_iterations(1000))
        return false;
    const blas_function_t *next = function + 1;
    const bool is_last = next == blas_functions + BLAS_FUNCTION_COUNT ||
                         next->routine != function->routine,
               is_batch = strchr(function->routine->signature, 'b') != NULL;
    return is_last || (function->type == JDATATYPE_F64 && !is_batch);
}

JTEST_EACH_FUNCTION(JblasScarce, EachLimitOfTheAddressSpaceHasAnAnswer) {
    if (!stands_for_others(param))
        return;
    limited_t limited = {.function = param};
    for (limited.room = 4096; limited.room <= (size_t)64 << 20 && !jtest_has_failure();
         limited.room *= 4)
        jtest_in_child(120, call_limited, &limited);
}

/* ---- What fails, one by one ---- */

enum { MOST_THREADS = 3, PLAY_BYTES = 16384 };

/* The library's two ways to allocate, and what the C library asks the system for. */
typedef enum kind { BOOKKEEPING, ALIGNED, MAPPING, CLONE, KINDS } kind_t;
static const char *const kind_names[] = {"bookkeeping", "posix_memalign", "mmap", "clone"};

typedef struct failing {
    blas_case_t *c;
    const unsigned char *answer;
    size_t bytes; /* that the call wants */
    kind_t kind;
    uint64_t first, count;
    /* Of the child, for its parent. */
    struct {
        bool cannot, failed;
        size_t used_bytes; /* in the end, by all that has allocated */
    } * found;
} failing_t;

static void begin_to_fail(const failing_t *failing) {
    if (failing->kind == BOOKKEEPING)
        jtest_fail_metadata_after(failing->first);
    else if (failing->kind == ALIGNED)
        jtest_fail_calls("posix_memalign", failing->first, failing->count, ENOMEM);
    else
        jtest_fail_watched(failing->kind == MAPPING ? JTEST_GIVES_MEMORY : JTEST_GIVES_THREADS,
                           failing->first, failing->count);
}

static bool stop_failing(const failing_t *failing) {
    const bool of_library = jtest_calls_failed(), of_system = jtest_watched_failed(),
               of_bookkeeping = jtest_metadata_failed();
    jtest_fail_metadata_after(0);
    return failing->kind == BOOKKEEPING ? of_bookkeeping
           : failing->kind == ALIGNED   ? of_library
                                        : of_system;
}

/* The answer, or what it was. */
static void call_in_need(jhandle_t *handle, const failing_t *failing, bool must_succeed) {
    blas_restore(failing->c);
    const jstatus_t status = blas_call(handle, failing->c);
    JEXPECT_TRUE(must_succeed ? status == JSTATUS_SUCCESS : is_answer(status));
    if (jstatus_is_error(status))
        blas_unchanged(failing->c);
    else
        JEXPECT_TRUE(blas_same_as(failing->c, failing->answer));
}

/* The life of a handle: threads, growth, a workspace that was asked for, more threads. */
static void live(const failing_t *failing, bool must_succeed) {
    jhandle_t *handle = NULL;
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.threads = MOST_THREADS - 1;
    const jstatus_t created = jhandle_create(&options, &handle);
    JEXPECT_TRUE(must_succeed ? created == JSTATUS_SUCCESS : is_answer(created));
    if (created != JSTATUS_SUCCESS)
        return;

    call_in_need(handle, failing, must_succeed);
    const jstatus_t sized = jhandle_set_workspace_size(handle, failing->bytes);
    JEXPECT_TRUE(must_succeed ? sized == JSTATUS_SUCCESS : is_answer(sized));
    JEXPECT_OK(jhandle_set_threads(handle, MOST_THREADS)); /* or fewer */
    call_in_need(handle, failing, must_succeed);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* In a child: a life with the failure, and one without. */
static void live_twice(void *argument) {
    const failing_t *failing = argument;
    const size_t before = jtest_metadata_live_count();
    mallopt(M_MMAP_THRESHOLD, 64 << 10); /* and no more by what was seen before */
    if (failing->kind >= MAPPING && !jtest_watch_system()) {
        failing->found->cannot = true;
        return;
    }

    begin_to_fail(failing);
    live(failing, false);
    failing->found->failed = stop_failing(failing);
    live(failing, true);

    JEXPECT_EQ(jtest_metadata_live_count(), before);
    const struct mallinfo2 info = mallinfo2();
    failing->found->used_bytes = info.uordblks + info.hblkhd;
}

/* Fails the first, the second, ... until a life has fewer: that one, or it and all behind it. */
static void fail_each(failing_t *failing, bool alone) {
    const uint64_t never = UINT64_MAX / 2;
    failing->count = 1, failing->first = never;
    jtest_in_child(120, live_twice, failing);
    const size_t used = failing->found->used_bytes;

    failing->count = alone ? 1 : never;
    failing->found->failed = !failing->found->cannot;
    for (uint64_t n = 1; failing->found->failed && !jtest_has_failure(); n++) {
        JSCOPED_TRACE("%s, %s %d%s", blas_describe(failing->c), kind_names[failing->kind], (int)n,
                      alone ? "" : " and all behind it");
        failing->first = n;
        failing->found->failed = false;
        jtest_in_child(120, live_twice, failing);
        /* To a few blocks of the C library's, in which others may have been. Bookkeeping was
         * counted, and a workspace is larger. */
        JEXPECT_LE(failing->found->used_bytes, used + PLAY_BYTES);
    }
}

JTEST_EACH_FUNCTION(JblasScarce, EachFailureHasAnAnswer) {
    if (!stands_for_others(param))
        return;
    jhandle_t *handle = blas_make_handle(NULL);
    static const int64_t sizes[] = {0, 50000, 400, 135}; /* that threads share, and panels */
    const int64_t size = sizes[param->routine->level];
    BLAS_CASE(c, param, .low = size, .high = size + 5, .plain = true);
    JEXPECT_OK(jhandle_set_threads(handle, MOST_THREADS));
    failing_t failing = {.c = c, .bytes = blas_query(handle, c)};
    JEXPECT_OK(blas_call(handle, c));
    JEXPECT_OK(jhandle_destroy(handle));
    if (!blas_is_own())
        JSKIP("a CBLAS takes memory, and ends the process where there is none");

    unsigned char *answer = blas_snapshot(c);
    failing.answer = answer;
    failing.found = mmap(NULL, sizeof *failing.found, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    JASSERT_TRUE(failing.found != MAP_FAILED);
    for (failing.kind = BOOKKEEPING; failing.kind < KINDS; failing.kind++) {
        if (failing.kind != BOOKKEEPING) /* which fails once */
            fail_each(&failing, false);
        if (failing.kind == BOOKKEEPING || failing.bytes > 0)
            fail_each(&failing, true);
    }
    const bool cannot = failing.found->cannot;
    munmap(failing.found, sizeof *failing.found);
    free(answer);
    if (cannot)
        JSKIP("what the system is asked for cannot be watched here; the rest was looked at");
}

#else

JTEST(JblasScarce, EachFailureHasAnAnswer) {
    JSKIP("a sanitizer's runtime ends where memory does");
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
