/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What a handle costs a small call: routines of order 4 against the CBLAS called directly, and what
 * it costs a call that a rung above the one it takes was refused.
 *
 * At order 4 the arithmetic takes some ten nanoseconds, so what is seen is the entry point: the
 * checks, the plan or its absence, the dispatch. Both sides run interleaved on the same operands.
 * Order 64 stands below for scale. The refused rung is jblas_dtrsm of order 16 in 64 bytes of
 * workspace, against the same call under same bits, where the rung that does not fit is not even
 * tried; both are substitution.
 *
 * Aim: ddot and dgemm of order 4 at most 10 ns more than the direct call. */

#include <cblas.h>

#include "bench.h"
#include "jalloc/jblas.h"

/* CALLS per measured call, so that the measuring loop does not count */
enum { CALLS = 32, MAX_ORDER = 64 };

typedef struct job {
    jhandle_t *handle, *same_bits; /* the latter tries one rung alone */
    int n;
    double A[MAX_ORDER * MAX_ORDER], B[MAX_ORDER * MAX_ORDER], C[MAX_ORDER * MAX_ORDER], result;
    int64_t index;
    jstatus_t status; /* the first error */
} job_t;

static const double one = 1, zero = 0;

static inline void note(job_t *job, jstatus_t status) {
    if (__builtin_expect(jstatus_is_error(status), 0))
        job->status = status;
}

#define OURS(name, ...)                                                                            \
    static void ours_##name(void *context) {                                                       \
        job_t *j = context;                                                                        \
        for (int i = 0; i < CALLS; i++)                                                            \
            note(j, jblas_##name(j->handle, __VA_ARGS__));                                         \
    }
#define DIRECT(name, statement)                                                                    \
    static void direct_##name(void *context) {                                                     \
        job_t *j = context;                                                                        \
        for (int i = 0; i < CALLS; i++)                                                            \
            statement;                                                                             \
    }

OURS(ddot, j->n, j->A, 1, j->B, 1, &j->result)
DIRECT(ddot, j->result = cblas_ddot(j->n, j->A, 1, j->B, 1))
OURS(dnrm2, j->n, j->A, 1, &j->result)
DIRECT(dnrm2, j->result = cblas_dnrm2(j->n, j->A, 1))
OURS(idamax, j->n, j->A, 1, &j->index)
DIRECT(idamax, j->index = (int64_t)cblas_idamax(j->n, j->A, 1))
OURS(dgemv, JBLAS_NO_TRANSPOSE, j->n, j->n, &one, j->A, j->n, j->B, 1, &zero, j->C, 1)
DIRECT(dgemv,
       cblas_dgemv(CblasColMajor, CblasNoTrans, j->n, j->n, 1, j->A, j->n, j->B, 1, 0, j->C, 1))
OURS(dgemm, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, j->n, j->n, j->n, &one, j->A, j->n, j->B, j->n,
     &zero, j->C, j->n)
DIRECT(dgemm, cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, j->n, j->n, j->n, 1, j->A,
                          j->n, j->B, j->n, 0, j->C, j->n))
/* A has ones on its diagonal that are not read, and little beside it: C stays as it is, about. */
OURS(dtrsm, JBLAS_LEFT, JBLAS_UPPER, JBLAS_NO_TRANSPOSE, JBLAS_UNIT, j->n, j->n, &one, j->A, j->n,
     j->C, j->n)
DIRECT(dtrsm, cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasUnit, j->n, j->n,
                          1, j->A, j->n, j->C, j->n))

/* The lower rung of a plan, after the refusal of the one above it and without. */
static void ours_refused(void *context) { ours_dtrsm(context); }
static void direct_refused(void *context) {
    job_t *j = context;
    jhandle_t *handle = j->handle;
    j->handle = j->same_bits;
    ours_dtrsm(context);
    j->handle = handle;
}

static void fill(job_t *job) {
    uint64_t state = 1;
    for (int i = 0; i < MAX_ORDER * MAX_ORDER; i++) {
        job->A[i] = bench_random(&state) * 1e-3;
        job->B[i] = bench_random(&state);
        job->C[i] = bench_random(&state);
    }
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 0.3; /* of each comparison */
    if (seconds <= 0) {
        fprintf(stderr, "usage: bench_overhead [SECONDS]: of each comparison, 0.3 unless given\n");
        return 2;
    }
    static _Alignas(64) unsigned char granule[64];
    static job_t job, refused;
    fill(&job);
    fill(&refused);
    jstatus_t status = jhandle_create(NULL, &job.handle);
    if (!jstatus_is_error(status))
        status = jhandle_create(NULL, &refused.handle);
    if (!jstatus_is_error(status))
        status = jhandle_set_workspace(refused.handle, granule, sizeof granule);
    if (!jstatus_is_error(status))
        status = jhandle_create(NULL, &refused.same_bits);
    if (!jstatus_is_error(status))
        status = jhandle_set_result_policy(refused.same_bits, JRESULT_POLICY_SAME_BITS);
    if (jstatus_is_error(status)) {
        fprintf(stderr, "bench_overhead: %s: %s\n", jstatus_text(status), jstatus_last_message());
        return 1;
    }

#define ROW(name, n, job)                                                                          \
    { #name, n, job, ours_##name, direct_##name }
    const struct {
        const char *name;
        int n;
        job_t *job;
        bench_function_t ours, direct;
    } rows[] = {
        ROW(ddot, 4, &job),         ROW(dnrm2, 4, &job),        ROW(idamax, 4, &job),
        ROW(dgemv, 4, &job),        ROW(dgemm, 4, &job),        ROW(dtrsm, 4, &job),
        ROW(refused, 16, &refused), ROW(ddot, MAX_ORDER, &job), ROW(dgemm, MAX_ORDER, &job)};
    printf("CBLAS: %s\n%-8s %4s %10s %10s %13s %7s   (aim for ddot and dgemm, n = 4: at most 10 ns "
           "more)\n",
           jblas_cblas_name(), "routine", "n", "jblas ns", "direct ns", "difference ns", "ratio");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rows[i].job->n = rows[i].n;
        bench_result_t r =
            bench_compare(rows[i].ours, rows[i].job, rows[i].direct, rows[i].job, seconds);
        printf("%-8s %4d %10.1f %10.1f %13.1f %7.2f\n", rows[i].name, rows[i].n,
               r.ours / CALLS * 1e9, r.peer / CALLS * 1e9, (r.ours - r.peer) / CALLS * 1e9,
               r.ours / r.peer);
        if (jstatus_is_error(rows[i].job->status)) {
            fprintf(stderr, "bench_overhead: %s: %s: %s\n", rows[i].name,
                    jstatus_text(rows[i].job->status), jhandle_last_message(rows[i].job->handle));
            return 1;
        }
    }
    status = jhandle_destroy(refused.same_bits);
    if (!jstatus_is_error(status))
        status = jhandle_destroy(refused.handle);
    if (!jstatus_is_error(status))
        status = jhandle_destroy(job.handle);
    return jstatus_is_error(status);
}
