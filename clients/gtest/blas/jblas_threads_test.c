/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Routines on the threads that a handle lends: an executor of the program's is asked and runs the
 * parts, also of what a created stream does; and the bits are those of one thread. */

#include "jblas_routines.h"

#include <stdatomic.h>
#include <string.h>

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

/* A product that asks for no workspace may still be worth several threads. */
JTEST(JblasThreads, ProductsInPlaceAreShared) {
    enum { N = 112 };
    static double x[N * N], y[2][N * N];
    const double one = 1, zero = 0;
    lender_t lender = {.offers = 3};
    const jexecutor_t executor = {sizeof executor, &lender, offer, run_backwards};
    jhandle_t *handle;
    if (!blas_is_own())
        JSKIP("the CBLAS computes");
    for (int i = 0; i < N * N; i++)
        x[i] = jtest_random_double(-1, 1);

    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int lent = 0; lent < 2; lent++) {
        JEXPECT_OK(jhandle_set_threads(handle, lent ? 0 : 1));
        JEXPECT_OK(jhandle_set_executor(handle, lent ? &executor : NULL));
        JEXPECT_OK(jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, N, N, N, &one, x, N,
                               x, N, &zero, y[lent], N));
        JEXPECT_EQ(atomic_load(&lender.runs) > 0, lent != 0);
    }
    JEXPECT_EQ(memcmp(y[1], y[0], sizeof y[0]), 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The smallest items hardly multiply; what they cost is shared, too. */
JTEST(JblasThreads, ManyTinyItemsAreShared) {
    enum { FEW = 1000, MANY = 40000 };
    static double x[MANY], y[2][MANY];
    const double one = 1, zero = 0;
    lender_t lender = {.offers = 3};
    const jexecutor_t executor = {sizeof executor, &lender, offer, run_backwards};
    jhandle_t *handle;
    if (!blas_is_own())
        JSKIP("the CBLAS computes");
    for (int i = 0; i < MANY; i++)
        x[i] = jtest_random_double(-1, 1);

    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int lent = 0; lent < 2; lent++) {
        JEXPECT_OK(jhandle_set_threads(handle, lent ? 0 : 1));
        JEXPECT_OK(jhandle_set_executor(handle, lent ? &executor : NULL));
        for (int count = FEW; count <= MANY; count += MANY - FEW) {
            JEXPECT_OK(jblas_dgemm_strided_batched(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE,
                                                   1, 1, 1, &one, x, 1, 1, x, 1, 1, &zero, y[lent],
                                                   1, 1, count));
            JEXPECT_EQ(atomic_load(&lender.runs) > 0, lent && count == MANY);
        }
    }
    JEXPECT_EQ(memcmp(y[1], y[0], sizeof y[0]), 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* An executor may offer any number; workspace is lent for no more than the process may use. */
JTEST(JblasThreads, WorkspaceBesideAnExecutorIsInProportion) {
    enum { N = 300 };
    lender_t lender = {.offers = 1000};
    const jexecutor_t executor = {sizeof executor, &lender, offer, run_backwards};
    double *x = jtest_guard_pages(sizeof(double[N * N])), *y[2];
    const double one = 1, zero = 0;
    size_t bytes[2];
    jhandle_t *handle;
    if (!blas_is_own())
        JSKIP("the CBLAS computes");
    for (int i = 0; i < N * N; i++)
        x[i] = jtest_random_double(-1, 1);

    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int lent = 0; lent < 2; lent++) {
        y[lent] = jtest_guard_pages(sizeof(double[N * N]));
        JEXPECT_OK(jhandle_set_executor(handle, lent ? &executor : NULL));
        for (int call = 0; call < 2; call++) {
            if (call == 0)
                JEXPECT_OK(jhandle_start_size_query(handle));
            const jstatus_t status = jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, N,
                                                 N, N, &one, x, N, x, N, &zero, y[lent], N);
            if (call == 1)
                JEXPECT_OK(status);
            else
                JEXPECT_OK(jhandle_stop_size_query(handle, &bytes[lent]));
            JEXPECT_OK(jhandle_set_workspace_size(handle, bytes[lent]));
        }
    }
    JEXPECT_EQ(bytes[1], bytes[0]);
    JEXPECT_EQ(memcmp(y[1], y[0], sizeof(double[N * N])), 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(JblasThreads, AnExecutorRunsThePartsOfACreatedStream) {
    jstream_t *stream;
    if (!blas_is_own())
        JSKIP("the CBLAS computes");
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    sum_by_executor(stream);
    JEXPECT_OK(jstream_destroy(stream));
}
