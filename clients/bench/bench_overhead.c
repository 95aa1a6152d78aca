/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What a handle costs a small call: jblas_ddot and jblas_dgemm of order 4 against the CBLAS called directly.
 *
 * At order 4 the arithmetic takes some ten nanoseconds, so what is seen is the entry point: the checks, the plan or its
 * absence, the dispatch. Both sides run interleaved on the same operands. Order 64 stands below for scale.
 *
 * Aim: at most 15 ns more than the direct call. */

#include <cblas.h>

#include "bench.h"
#include "jalloc/jblas.h"

enum { CALLS = 32, MAX_ORDER = 64 }; /* CALLS per measured call, so that the measuring loop does not count */

typedef struct job {
    jhandle_t *handle;
    int n;
    double A[MAX_ORDER * MAX_ORDER], B[MAX_ORDER * MAX_ORDER], C[MAX_ORDER * MAX_ORDER], result;
    jstatus_t status; /* the first error */
} job_t;

static inline void note(job_t *job, jstatus_t status) {
    if (__builtin_expect(jstatus_is_error(status), 0))
        job->status = status;
}

static void dot_jblas(void *context) {
    job_t *job = context;
    for (int i = 0; i < CALLS; i++)
        note(job, jblas_ddot(job->handle, job->n, job->A, 1, job->B, 1, &job->result));
}

static void dot_direct(void *context) {
    job_t *job = context;
    for (int i = 0; i < CALLS; i++)
        job->result = cblas_ddot(job->n, job->A, 1, job->B, 1);
}

static void gemm_jblas(void *context) {
    job_t *job = context;
    const double one = 1, zero = 0;
    for (int i = 0; i < CALLS; i++)
        note(job, jblas_dgemm(job->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, job->n, job->n, job->n, &one, job->A,
                              job->n, job->B, job->n, &zero, job->C, job->n));
}

static void gemm_direct(void *context) {
    job_t *job = context;
    for (int i = 0; i < CALLS; i++)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, job->n, job->n, job->n, 1, job->A, job->n, job->B,
                    job->n, 0, job->C, job->n);
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 0.3; /* of each comparison */
    if (seconds <= 0) {
        fprintf(stderr, "usage: bench_overhead [SECONDS]: of each comparison, 0.3 unless given\n");
        return 2;
    }
    static job_t job;
    uint64_t state = 1;
    for (int i = 0; i < MAX_ORDER * MAX_ORDER; i++) {
        job.A[i] = bench_random(&state);
        job.B[i] = bench_random(&state);
    }
    jstatus_t status = jhandle_create(NULL, &job.handle);
    if (jstatus_is_error(status)) {
        fprintf(stderr, "bench_overhead: %s: %s\n", jstatus_text(status), jstatus_last_message());
        return 1;
    }

    const struct {
        const char *name;
        int n;
        bench_function_t ours, direct;
    } rows[] = {{"ddot", 4, dot_jblas, dot_direct},
                {"dgemm", 4, gemm_jblas, gemm_direct},
                {"ddot", MAX_ORDER, dot_jblas, dot_direct},
                {"dgemm", MAX_ORDER, gemm_jblas, gemm_direct}};
    printf("CBLAS: %s\n%-8s %4s %10s %10s %13s   (aim for n = 4: at most 15 ns more)\n", jblas_cblas_name(), "routine",
           "n", "jblas ns", "direct ns", "difference ns");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        job.n = rows[i].n;
        bench_result_t r = bench_compare(rows[i].ours, &job, rows[i].direct, &job, seconds);
        printf("%-8s %4d %10.1f %10.1f %13.1f\n", rows[i].name, rows[i].n, r.ours / CALLS * 1e9, r.peer / CALLS * 1e9,
               (r.ours - r.peer) / CALLS * 1e9);
    }
    if (jstatus_is_error(job.status)) {
        fprintf(stderr, "bench_overhead: %s: %s\n", jstatus_text(job.status), jhandle_last_message(job.handle));
        return 1;
    }
    return jstatus_is_error(jhandle_destroy(job.handle));
}
