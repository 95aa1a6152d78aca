/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jblas_zgemm and jblas_cgemm by three real products, beside the CBLAS's own. At most 4/3 is to be
 * had.
 *
 *     bench_gemm3m [SECONDS per comparison [LARGEST order]] */

#include <cblas.h>
#include <stdbool.h>

#include "jalloc/jalloc.h"
#include "quiet.h"

void openblas_set_num_threads(int threads) __attribute__((weak)); /* OpenBLAS's, or absent */
char *openblas_get_corename(void) __attribute__((weak));

typedef struct run {
    jhandle_t *handle;
    bool is_double;
    int m, n, k;
    void *a, *b, *c;
    jstatus_t status;
} run_t;

static void ours(void *context) {
    run_t *r = context;
    const jcomplex_f64_t one = 1, zero = 0;
    const jcomplex_f32_t one_c = 1, zero_c = 0;
    if (r->is_double)
        r->status = jblas_zgemm(r->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, r->m, r->n, r->k,
                                &one, r->a, r->m, r->b, r->k, &zero, r->c, r->m);
    else
        r->status = jblas_cgemm(r->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, r->m, r->n, r->k,
                                &one_c, r->a, r->m, r->b, r->k, &zero_c, r->c, r->m);
}

static void peers(void *context) {
    run_t *r = context;
    const double one[2] = {1, 0}, zero[2] = {0, 0};
    const float one_c[2] = {1, 0}, zero_c[2] = {0, 0};
    if (r->is_double)
        cblas_zgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, r->m, r->n, r->k, one, r->a, r->m,
                    r->b, r->k, zero, r->c, r->m);
    else
        cblas_cgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, r->m, r->n, r->k, one_c, r->a, r->m,
                    r->b, r->k, zero_c, r->c, r->m);
}

static void *random_matrix(bool is_double, size_t elements) {
    uint64_t seed = 1;
    void *matrix = malloc(elements * 2 * (is_double ? sizeof(double) : sizeof(float)));
    if (matrix == NULL) {
        fprintf(stderr, "bench_gemm3m: no memory\n");
        exit(1);
    }
    for (size_t i = 0; i < 2 * elements; i++) {
        double value = bench_random(&seed);
        if (is_double)
            ((double *)matrix)[i] = value;
        else
            ((float *)matrix)[i] = (float)value;
    }
    return matrix;
}

int main(int argc, char **argv) {
    static const int shapes[][3] = {{128, 128, 128},  {256, 256, 256},    {512, 512, 512},
                                    {768, 768, 768},  {1024, 1024, 1024}, {2048, 512, 512},
                                    {512, 512, 2048}, {2048, 2048, 2048}};
    bench_shorten_spinning(argv);
    double seconds = argc > 1 ? atof(argv[1]) : 0.3;
    int largest = argc > 2 ? atoi(argv[2]) : seconds < 0.05 ? 512 : 2048;
    jhandle_t *handle;
    if (jhandle_create(NULL, &handle) != JSTATUS_SUCCESS ||
        jhandle_set_accuracy(handle, JACCURACY_NORMWISE) != JSTATUS_SUCCESS) {
        fprintf(stderr, "bench_gemm3m: %s\n", jstatus_last_message());
        return 1;
    }
    bool good = true;
    printf("CBLAS kernels: %s\n", openblas_get_corename ? openblas_get_corename() : "unknown");
    printf("%-6s %2s %6s %6s %6s %11s %11s %6s %12s  %s\n", "name", "th", "m", "n", "k", "ours ms",
           "cblas ms", "ratio", "bytes", "status");
    for (int threads = 1; threads <= 2; threads++) {
        bench_prepare = threads > 1 ? bench_begin_quietly : NULL;
        if (openblas_set_num_threads)
            openblas_set_num_threads(threads);
        for (int type = 0; type < 2; type++)
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
                run_t r = {.handle = handle,
                           .is_double = type == 0,
                           .m = shapes[i][0],
                           .n = shapes[i][1],
                           .k = shapes[i][2]};
                if (r.m > largest || r.n > largest || r.k > largest)
                    continue;
                r.a = random_matrix(r.is_double, (size_t)r.m * (size_t)r.k);
                r.b = random_matrix(r.is_double, (size_t)r.k * (size_t)r.n);
                r.c = random_matrix(r.is_double, (size_t)r.m * (size_t)r.n);
                jhandle_stats_t stats = {.struct_size = sizeof stats};
                jhandle_clear_stats(handle);
                bench_result_t result = bench_compare(ours, &r, peers, &r, seconds);
                jhandle_get_stats(handle, &stats);
                printf("%-6s %2d %6d %6d %6d %11.4f %11.4f %6.2f %12zu  %s\n",
                       type ? "cgemm" : "zgemm", threads, r.m, r.n, r.k, result.ours * 1e3,
                       result.peer * 1e3, result.ratio, stats.high_watermark_bytes,
                       jstatus_name(r.status));
                good &= r.status == JSTATUS_SUCCESS;
                free(r.a), free(r.b), free(r.c);
            }
    }
    jhandle_destroy(handle);
    return good ? 0 : 1;
}
