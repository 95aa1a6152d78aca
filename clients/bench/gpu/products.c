/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Products that workspace makes faster, beside cuBLAS's: float by split precision, double by
 * Strassen, complex by three real products; float once more in a workspace that only the second
 * rung fits. Errors of float products are against a double product of the same numbers, ours over
 * cuBLAS's. */

#include <math.h>

#include "bench_gpu.h"

typedef struct product {
    gpu_bench_t *bench;
    char type;   /* s d c z */
    int n, rung; /* that the workspace fits */
    void *a, *b, *ours, *peers;
} product_t;

static void product_expect(product_t *p, jstatus_t status, const char *what) {
    gpu_expect(p->bench, status == JSTATUS_PERF_DEGRADED && p->rung > 0 ? JSTATUS_SUCCESS : status,
               what);
}

static void product_ours(void *context) {
    product_t *p = context;
    const int64_t n = p->n;
    const float one_s = 1, zero_s = 0;
    const double one_d = 1, zero_d = 0;
    const jcomplex_f32_t one_c = 1, zero_c = 0;
    const jcomplex_f64_t one_z = 1, zero_z = 0;
    jhandle_t *h = p->bench->handle;
    const jblas_operation_t N = JBLAS_NO_TRANSPOSE;
    switch (p->type) {
    case 's':
        product_expect(p,
                       jblas_sgemm(h, N, N, n, n, n, &one_s, p->a, n, p->b, n, &zero_s, p->ours, n),
                       "sgemm");
        break;
    case 'd':
        product_expect(p,
                       jblas_dgemm(h, N, N, n, n, n, &one_d, p->a, n, p->b, n, &zero_d, p->ours, n),
                       "dgemm");
        break;
    case 'c':
        product_expect(p,
                       jblas_cgemm(h, N, N, n, n, n, &one_c, p->a, n, p->b, n, &zero_c, p->ours, n),
                       "cgemm");
        break;
    default:
        product_expect(p,
                       jblas_zgemm(h, N, N, n, n, n, &one_z, p->a, n, p->b, n, &zero_z, p->ours, n),
                       "zgemm");
        break;
    }
}

static void product_peer(void *context) {
    product_t *p = context;
    const int n = p->n;
    const float one_s = 1, zero_s = 0;
    const double one_d = 1, zero_d = 0;
    const cuComplex one_c = {1, 0}, zero_c = {0, 0};
    const cuDoubleComplex one_z = {1, 0}, zero_z = {0, 0};
    cublasHandle_t h = p->bench->cublas;
    const cublasOperation_t N = CUBLAS_OP_N;
    cublasStatus_t status;
    switch (p->type) {
    case 's':
        status = cublasSgemm(h, N, N, n, n, n, &one_s, p->a, n, p->b, n, &zero_s, p->peers, n);
        break;
    case 'd':
        status = cublasDgemm(h, N, N, n, n, n, &one_d, p->a, n, p->b, n, &zero_d, p->peers, n);
        break;
    case 'c':
        status = cublasCgemm(h, N, N, n, n, n, &one_c, p->a, n, p->b, n, &zero_c, p->peers, n);
        break;
    default:
        status = cublasZgemm(h, N, N, n, n, n, &one_z, p->a, n, p->b, n, &zero_z, p->peers, n);
        break;
    }
    gpu_expect_cublas(p->bench, status, "cublas gemm");
}

/* The errors of ours and of the peer's float product, against double. */
static void float_errors(product_t *p, double *ours, double *peers) {
    const size_t n = (size_t)p->n, count = n * n;
    gpu_bench_t *bench = p->bench;
    void *device[3] = {NULL, NULL, NULL};
    double *wide = malloc(count * sizeof *wide);
    float *narrow = malloc(count * sizeof *narrow);
    const double one = 1, zero = 0;
    *ours = *peers = NAN;
    bool room = wide != NULL && narrow != NULL;
    for (int i = 0; i < 3 && room; i++)
        room = cudaMalloc(&device[i], count * sizeof(double)) == cudaSuccess;
    if (room) {
        const void *operands[2] = {p->a, p->b};
        for (int i = 0; i < 2; i++) {
            gpu_copy(bench, narrow, operands[i], count * 4, cudaMemcpyDeviceToHost);
            for (size_t j = 0; j < count; j++)
                wide[j] = narrow[j];
            gpu_copy(bench, device[i], wide, count * 8, cudaMemcpyHostToDevice);
        }
        gpu_expect_cublas(bench,
                          cublasDgemm(bench->cublas, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->n, p->n,
                                      &one, device[0], p->n, device[1], p->n, &zero, device[2],
                                      p->n),
                          "cublasDgemm");
        gpu_copy(bench, wide, device[2], count * 8, cudaMemcpyDeviceToHost);
        const void *results[2] = {p->ours, p->peers};
        double *errors[2] = {ours, peers};
        for (int i = 0; i < 2; i++) {
            gpu_copy(bench, narrow, results[i], count * 4, cudaMemcpyDeviceToHost);
            double sum = 0;
            for (size_t j = 0; j < count; j++)
                sum += ((double)narrow[j] - wide[j]) * ((double)narrow[j] - wide[j]);
            *errors[i] = sqrt(sum / (double)count);
        }
    }
    for (int i = 0; i < 3; i++)
        cudaFree(device[i]);
    free(wide);
    free(narrow);
}

/* Leaves the handle a workspace that float's best rung does not fit. False: it has no other that
 * needs any. */
static bool lower_rung(product_t *p) {
    jhandle_t *h = p->bench->handle;
    const int64_t n = p->n;
    size_t bytes = 0;
    gpu_expect(p->bench, jhandle_start_size_query(h), "jhandle_start_size_query");
    (void)jblas_sgemm(h, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, n, n, n, NULL, NULL, n, NULL, n,
                      NULL, NULL, n);
    gpu_expect(p->bench, jhandle_stop_size_query(h, &bytes), "jhandle_stop_size_query");
    if (bytes == 0)
        return false;
    gpu_expect(p->bench, jhandle_set_workspace_size(h, bytes - 256), "jhandle_set_workspace_size");
    return p->bench->good;
}

static void compare(gpu_bench_t *bench, char type, int n, int rung) {
    const bool is_double = type == 'd' || type == 'z', is_complex = type == 'c' || type == 'z';
    const size_t reals = (size_t)n * (size_t)n * (is_complex ? 2 : 1);
    product_t p = {.bench = bench, .type = type, .n = n, .rung = rung};
    if (rung > 0 && !lower_rung(&p))
        return;
    p.a = gpu_random(bench, reals, is_double, 1);
    p.b = gpu_random(bench, reals, is_double, 2);
    p.ours = gpu_random(bench, reals, is_double, 3);
    p.peers = gpu_random(bench, reals, is_double, 4);
    gpu_expect(bench, jhandle_clear_stats(bench->handle), "jhandle_clear_stats");
    bench_result_t r = {0};
    if (bench->good)
        r = gpu_compare(bench, product_ours, product_peer, &p);
    if (bench->good) {
        const double flops = 2.0 * n * n * n * (is_complex ? 4 : 1);
        double error, of, largest;
        if (type == 's') {
            float_errors(&p, &error, &of);
        } else {
            error = gpu_difference(bench, p.ours, p.peers, reals, is_double, &largest);
            of = largest;
        }
        printf("%cgemm %6d %5d %10.3f %10.3f %8.1f %8.1f %6.2f  %s %.2e of %.2e\n", type, n,
               gpu_rung(bench), r.ours * 1e3, r.peer * 1e3, flops / r.ours * 1e-12,
               flops / r.peer * 1e-12, r.ratio, type == 's' ? "rms error, cuBLAS's" : "difference",
               error, of);
        char what[72];
        snprintf(what, sizeof what, "%cgemm at %d over cuBLAS%s", type, n,
                 rung > 0 ? ", second rung" : "");
        if (type == 's' && n >= 4096) {
            gpu_aim(what, r.ratio, rung > 0 ? 2.5 : 2.0, false);
            snprintf(what, sizeof what, "sgemm at %d%s: error over cublasSgemm's", n,
                     rung > 0 ? ", second rung" : "");
            gpu_aim(what, error / of, 2.0, true);
        } else if (type == 'd' && n >= 16384) {
            gpu_aim(what, r.ratio, 1.1, false);
        } else if (is_complex && n >= 4096) {
            gpu_aim(what, r.ratio, 1.0, false);
        }
        if (!(error <= (type == 's' ? 10 * of : (is_double ? 1e-10 : 1e-2) * largest))) {
            fprintf(stderr, "bench_gpu: %cgemm of %d is wrong\n", type, n);
            bench->good = false;
        }
    }
    gpu_release(p.a), gpu_release(p.b), gpu_release(p.ours), gpu_release(p.peers);
    gpu_expect(bench, jhandle_set_workspace_size(bench->handle, 0), "jhandle_set_workspace_size");
    gpu_expect(bench, jhandle_trim(bench->handle, 0), "jhandle_trim");
}

void bench_gpu_products(gpu_bench_t *bench) {
    static const struct {
        char type;
        gpu_size_table_t sizes;
    } types[] = {{'s', {{256}, {4096, 8192}, {1024, 2048, 4096, 8192, 16384}}},
                 {'d', {{256}, {8192, 16384}, {4096, 8192, 16384}}},
                 {'c', {{128}, {4096, 8192}, {1024, 2048, 4096, 8192}}},
                 {'z', {{128}, {4096, 8192}, {1024, 2048, 4096, 8192}}}};
    printf(
        "\nproducts; times in milliseconds, rates in TFLOP/s\n%5s %6s %5s %10s %10s %8s %8s %6s\n",
        "", "n", "rung", "ours", "cuBLAS", "ours", "cuBLAS", "ratio");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (const int *n = types[i].sizes[bench->sizes]; *n > 0 && bench->good; n++)
            for (int rung = 0; rung < (types[i].type == 's' ? 2 : 1); rung++)
                compare(bench, types[i].type, *n, rung);
}
