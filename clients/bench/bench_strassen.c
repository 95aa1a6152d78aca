/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jblas_dgemm and jblas_sgemm by halvings (library/blas/algorithms/strassen.c) on the host, beside
 * the CBLAS's own, whatever the library thinks of where that pays: it is told to halve from the
 * order given. At most 8/7 a halving is to be had. The error is that of some rows of C, against
 * long double, in units of k u max|A| max|B|.
 *
 *     bench_strassen [SECONDS per comparison [LARGEST order]] */

#include <cblas.h>
#include <math.h>
#include <stdbool.h>

#include "blas/blas.h" /* the tuning, which only the static library shows */
#include "jalloc/jalloc.h"
#include "quiet.h"

void openblas_set_num_threads(int threads) __attribute__((weak)); /* OpenBLAS's, or absent */
char *openblas_get_corename(void) __attribute__((weak));

typedef struct run {
    jhandle_t *handle;
    bool is_double;
    int n;
    void *a, *b, *c;
    jstatus_t status;
} run_t;

static void ours(void *context) {
    run_t *r = context;
    const double one = 1, zero = 0;
    const float one_s = 1, zero_s = 0;
    const int64_t n = r->n;
    if (r->is_double)
        r->status = jblas_dgemm(r->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, n, n, n, &one,
                                r->a, n, r->b, n, &zero, r->c, n);
    else
        r->status = jblas_sgemm(r->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, n, n, n, &one_s,
                                r->a, n, r->b, n, &zero_s, r->c, n);
}

static void peers(void *context) {
    run_t *r = context;
    const int n = r->n;
    if (r->is_double)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, r->a, n, r->b, n, 0,
                    r->c, n);
    else
        cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, r->a, n, r->b, n, 0,
                    r->c, n);
}

static double element(const run_t *r, const void *matrix, int64_t i, int64_t j) {
    const int64_t at = i + j * r->n;
    return r->is_double ? ((const double *)matrix)[at] : (double)((const float *)matrix)[at];
}

static double error_of(const run_t *r) {
    double largest = 0, a = 0, b = 0;
    for (int64_t i = 0; i < (int64_t)r->n * r->n; i++)
        a = fmax(a, fabs(element(r, r->a, i, 0))), b = fmax(b, fabs(element(r, r->b, i, 0)));
    for (int64_t s = 0; s < 200; s++) {
        const int64_t i = s * 7919 % r->n, j = s * 104729 % r->n;
        long double sum = 0;
        for (int64_t l = 0; l < r->n; l++)
            sum += (long double)element(r, r->a, i, l) * element(r, r->b, l, j);
        largest = fmax(largest, (double)fabsl(sum - element(r, r->c, i, j)));
    }
    return largest / (r->n * (r->is_double ? 0x1p-53 : 0x1p-24) * a * b);
}

static void *random_matrix(bool is_double, size_t elements) {
    uint64_t seed = 1;
    void *matrix = malloc(elements * (is_double ? sizeof(double) : sizeof(float)));
    if (matrix == NULL) {
        fprintf(stderr, "bench_strassen: no memory\n");
        exit(1);
    }
    for (size_t i = 0; i < elements; i++) {
        const double value = bench_random(&seed);
        if (is_double)
            ((double *)matrix)[i] = value;
        else
            ((float *)matrix)[i] = (float)value;
    }
    return matrix;
}

int main(int argc, char **argv) {
    static const int orders[] = {512, 1024, 2048, 4096, 8192};
    bench_shorten_spinning(argv);
    const double seconds = argc > 1 ? atof(argv[1]) : 0.3;
    const int largest = argc > 2 ? atoi(argv[2]) : seconds < 0.05 ? 512 : 4096;
    jhandle_t *handle;
    if (jhandle_create(NULL, &handle) != JSTATUS_SUCCESS ||
        jhandle_set_accuracy(handle, JACCURACY_NORMWISE) != JSTATUS_SUCCESS) {
        fprintf(stderr, "bench_strassen: %s\n", jstatus_last_message());
        return 1;
    }
    bool good = true;
    printf("CBLAS kernels: %s\n", openblas_get_corename ? openblas_get_corename() : "unknown");
    printf("%-6s %2s %6s %8s %11s %11s %6s %12s %9s %9s\n", "name", "th", "order", "halvings",
           "ours ms", "cblas ms", "ratio", "bytes", "error", "cblas's");
    for (int threads = 1; threads <= 2; threads++) {
        bench_prepare = threads > 1 ? bench_begin_quietly : NULL;
        if (openblas_set_num_threads)
            openblas_set_num_threads(threads);
        for (int type = 0; type < 2; type++)
            for (size_t i = 0; i < sizeof orders / sizeof *orders && orders[i] <= largest; i++)
                for (int halvings = 1; halvings <= 2; halvings++) {
                    run_t r = {.handle = handle, .is_double = type == 0, .n = orders[i]};
                    const size_t elements = (size_t)r.n * (size_t)r.n;
                    r.a = random_matrix(r.is_double, elements);
                    r.b = random_matrix(r.is_double, elements);
                    r.c = random_matrix(r.is_double, elements);
                    ji_host_tuning.strassen_least[0] = ji_host_tuning.strassen_least[1] =
                        r.n / halvings;
                    ji_tuning_complete(&ji_host_tuning);
                    jhandle_stats_t stats = {.struct_size = sizeof stats};
                    jhandle_clear_stats(handle);
                    const bench_result_t result = bench_compare(ours, &r, peers, &r, seconds);
                    jhandle_get_stats(handle, &stats);
                    const double cblas_error = error_of(&r); /* the peer came last */
                    ours(&r);
                    printf("%-6s %2d %6d %8d %11.3f %11.3f %6.3f %12zu %9.4f %9.4f\n",
                           type ? "sgemm" : "dgemm", threads, r.n, halvings, result.ours * 1e3,
                           result.peer * 1e3, result.ratio, stats.high_watermark_bytes,
                           error_of(&r), cblas_error);
                    good &= r.status == JSTATUS_SUCCESS;
                    free(r.a), free(r.b), free(r.c);
                }
    }
    jhandle_destroy(handle);
    return good ? 0 : 1;
}
