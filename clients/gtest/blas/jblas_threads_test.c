/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Routines on the threads that a handle lends: an executor of the program's is asked and runs the
 * parts, also of what a created stream does; and the bits are those of one thread. */

#include "jblas_routines.h"

#include <stdatomic.h>

typedef struct lender {
    int offers;
    atomic_int asked, runs;
} lender_t;

static int offer(void *context) {
    lender_t *lender = context;
    atomic_fetch_add(&lender->asked, 1);
    return lender->offers;
}
static void run_backwards(void *context, int count, void (*part)(void *, int), void *argument) {
    atomic_fetch_add(&((lender_t *)context)->runs, 1);
    for (int i = count - 1; i >= 0; i--)
        part(argument, i);
}

enum { LONG = 1 << 21 }; /* elements: worth several threads */

static void sum_by_executor(jstream_t *stream) {
    double *x = jtest_guard_pages(LONG * sizeof *x), alone = 0, shared = 0;
    for (int i = 0; i < LONG; i++)
        x[i] = jtest_random_double(-1, 1);

    lender_t lender = {.offers = 3};
    const jexecutor_t executor = {sizeof executor, &lender, offer, run_backwards};
    jhandle_t *handle;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_OK(jhandle_set_threads(handle, 1));
    JEXPECT_OK(jblas_ddot(handle, LONG, x, 1, x, 1, &alone));

    JEXPECT_OK(jhandle_set_threads(handle, 0));
    JEXPECT_OK(jhandle_set_executor(handle, &executor));
    JEXPECT_OK(jblas_ddot(handle, LONG, x, 1, x, 1, &shared));
    JEXPECT_EQ(shared, alone);
    JEXPECT_GE(atomic_load(&lender.asked), 1);
    JEXPECT_GE(atomic_load(&lender.runs), 1);

    lender.offers = 1;
    atomic_store(&lender.runs, 0);
    JEXPECT_OK(jblas_ddot(handle, LONG, x, 1, x, 1, &shared));
    JEXPECT_EQ(shared, alone);
    JEXPECT_EQ(atomic_load(&lender.runs), 0);

    atomic_store(&lender.asked, 0); /* nobody is asked for small work */
    JEXPECT_OK(jblas_ddot(handle, 10, x, 1, x, 1, &shared));
    JEXPECT_EQ(atomic_load(&lender.asked), 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(JblasThreads, AnExecutorRunsTheParts) {
    if (!blas_is_own())
        JSKIP("the CBLAS computes");
    sum_by_executor(NULL);
}

JTEST(JblasThreads, AnExecutorRunsThePartsOfACreatedStream) {
    jstream_t *stream;
    if (!blas_is_own())
        JSKIP("the CBLAS computes");
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    sum_by_executor(stream);
    JEXPECT_OK(jstream_destroy(stream));
}
