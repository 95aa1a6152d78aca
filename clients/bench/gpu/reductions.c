/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Reductions beside the memory's speed, which a copy of the same bytes on the device shows, and
 * beside cuBLAS's. Results stay on the device, so nobody waits; ours are compared bit for bit
 * between runs. */

#include <string.h>

#include "bench_gpu.h"

typedef enum { DOT, NRM2, ASUM, IAMAX, REDUCTIONS } reduction_t;
static const char *const names[REDUCTIONS] = {"ddot", "dnrm2", "dasum", "idamax"};

typedef struct sums {
    gpu_bench_t *bench;
    reduction_t which;
    int64_t n;
    double *x, *y;
    void *result;
} sums_t;

static void sum_ours(void *context) {
    sums_t *s = context;
    jhandle_t *h = s->bench->handle;
    jstatus_t status;
    switch (s->which) {
    case DOT: status = jblas_ddot(h, s->n, s->x, 1, s->y, 1, s->result); break;
    case NRM2: status = jblas_dnrm2(h, s->n, s->x, 1, s->result); break;
    case ASUM: status = jblas_dasum(h, s->n, s->x, 1, s->result); break;
    default: status = jblas_idamax(h, s->n, s->x, 1, s->result); break;
    }
    gpu_expect(s->bench, status, names[s->which]);
}

static void sum_peer(void *context) {
    sums_t *s = context;
    cublasHandle_t h = s->bench->cublas;
    const int n = (int)s->n;
    cublasStatus_t status;
    switch (s->which) {
    case DOT: status = cublasDdot(h, n, s->x, 1, s->y, 1, s->result); break;
    case NRM2: status = cublasDnrm2(h, n, s->x, 1, s->result); break;
    case ASUM: status = cublasDasum(h, n, s->x, 1, s->result); break;
    default: status = cublasIdamax(h, n, s->x, 1, s->result); break;
    }
    gpu_expect_cublas(s->bench, status, names[s->which]);
}

/* Reads and writes 8 n bytes: as much traffic as dot, twice that of the others. */
static void copy(void *context) {
    sums_t *s = context;
    gpu_expect_cuda(
        s->bench,
        cudaMemcpyAsync(s->y, s->x, (size_t)s->n * 8, cudaMemcpyDeviceToDevice, s->bench->native),
        "cudaMemcpyAsync");
}

static bool same_bits(sums_t *s) {
    char first[8], again[8];
    for (int run = 0; run < 8; run++) {
        sum_ours(s);
        gpu_copy(s->bench, run ? again : first, s->result, 8, cudaMemcpyDeviceToHost);
        if (run > 0 && memcmp(first, again, 8) != 0)
            return false;
    }
    return true;
}

void bench_gpu_reductions(gpu_bench_t *bench) {
    static const gpu_size_table_t exponents = {{12}, {22, 26}, {20, 22, 24, 26, 28}};
    gpu_expect(bench, jhandle_set_pointer_mode(bench->handle, JPOINTER_MODE_DEVICE),
               "jhandle_set_pointer_mode");
    gpu_expect_cublas(bench, cublasSetPointerMode(bench->cublas, CUBLAS_POINTER_MODE_DEVICE),
                      "cublasSetPointerMode");
    printf(
        "\nreductions; times in microseconds, rates in GB/s\n%-8s %12s %9s %9s %8s %8s %8s  %s\n",
        "", "n", "ours", "cuBLAS", "rate", "copy's", "ratio", "same bits");
    for (int which = 0; which < REDUCTIONS; which++)
        for (const int *exponent = exponents[bench->sizes]; *exponent > 0 && bench->good;
             exponent++) {
            sums_t s = {.bench = bench, .which = (reduction_t)which, .n = INT64_C(1) << *exponent};
            s.x = gpu_random(bench, (size_t)s.n, true, 11);
            s.y = gpu_random(bench, (size_t)s.n, true, 12);
            s.result = gpu_random(bench, 1, true, 13);
            if (bench->good) {
                const double bytes = 8.0 * (double)s.n * (which == DOT ? 2 : 1);
                const bool same = same_bits(&s);
                bench_result_t r = gpu_compare(bench, sum_ours, sum_peer, &s);
                /* Last: it overwrites y. */
                bench_result_t c = gpu_compare(bench, sum_ours, copy, &s);
                const double rate = bytes / r.ours, memory = 16.0 * (double)s.n / c.peer;
                printf("%-8s %12lld %9.1f %9.1f %8.0f %8.0f %8.2f  %s\n", names[which],
                       (long long)s.n, r.ours * 1e6, r.peer * 1e6, rate * 1e-9, memory * 1e-9,
                       r.ratio, same ? "yes" : "NO");
                bench->good &= same;
                if (*exponent >= 22) {
                    char what[72];
                    snprintf(what, sizeof what, "%s of 2^%d: bandwidth over a copy's", names[which],
                             *exponent);
                    gpu_aim(what, rate / memory, 0.9, false);
                }
            }
            gpu_release(s.x), gpu_release(s.y), gpu_release(s.result);
        }
    gpu_expect(bench, jhandle_set_pointer_mode(bench->handle, JPOINTER_MODE_HOST),
               "jhandle_set_pointer_mode");
    cublasSetPointerMode(bench->cublas, CUBLAS_POINTER_MODE_HOST);
}
