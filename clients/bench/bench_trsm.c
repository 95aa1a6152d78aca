/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jblas_?trsm with all the workspace it asks for, beside the CBLAS's own trsm, then trtri and potrf
 * beside LAPACK's where the program finds them.
 *
 *     bench_trsm [SECONDS per comparison [LARGEST order]]
 *
 * The diagonal is 1 and the rest nearly 0, so that solving again and again with the same right-hand
 * sides neither grows them nor lets them vanish into denormal numbers, whose speed is another. */

#include <cblas.h>
#include <stdbool.h>
#include <string.h>

#include "jalloc/jalloc.h"
#include "quiet.h"

/* OpenBLAS's, or absent. */
void openblas_set_num_threads(int threads) __attribute__((weak));
char *openblas_get_corename(void) __attribute__((weak));
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t)
    __attribute__((weak));
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info,
             size_t, size_t) __attribute__((weak));

typedef struct run {
    jhandle_t *handle;
    bool is_double, left;
    int order, rhs;
    void *a, *ours, *peers; /* the right-hand sides, or for trtri and potrf the matrix to work in */
    jstatus_t status;
} run_t;

static void solve_ours(void *context) {
    run_t *r = context;
    jblas_side_t side = r->left ? JBLAS_LEFT : JBLAS_RIGHT;
    int64_t m = r->left ? r->order : r->rhs, n = r->left ? r->rhs : r->order;
    const double one = 1;
    const float one_s = 1;
    if (r->is_double)
        r->status = jblas_dtrsm(r->handle, side, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, m,
                                n, &one, r->a, r->order, r->ours, m);
    else
        r->status = jblas_strsm(r->handle, side, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, m,
                                n, &one_s, r->a, r->order, r->ours, m);
}

static void solve_peer(void *context) {
    run_t *r = context;
    int m = r->left ? r->order : r->rhs, n = r->left ? r->rhs : r->order;
    if (r->is_double)
        cblas_dtrsm(CblasColMajor, r->left ? CblasLeft : CblasRight, CblasLower, CblasNoTrans,
                    CblasNonUnit, m, n, 1, r->a, r->order, r->peers, m);
    else
        cblas_strsm(CblasColMajor, r->left ? CblasLeft : CblasRight, CblasLower, CblasNoTrans,
                    CblasNonUnit, m, n, 1, r->a, r->order, r->peers, m);
}

/* What is factored, or inverted, by either library. */
static void copy_matrix(void *context) {
    const run_t *r = context;
    memcpy(r->ours, r->a, (size_t)r->order * (size_t)r->order * sizeof(double));
}

static void potrf_ours(void *context) {
    run_t *r = context;
    int64_t info;
    r->status = jlapack_dpotrf(r->handle, JBLAS_LOWER, r->order, r->ours, r->order, &info);
}
static void potrf_peer(void *context) {
    run_t *r = context;
    int info;
    dpotrf_("L", &r->order, r->ours, &r->order, &info, 1);
}
static void trtri_ours(void *context) {
    run_t *r = context;
    int64_t info;
    r->status =
        jlapack_dtrtri(r->handle, JBLAS_LOWER, JBLAS_NON_UNIT, r->order, r->ours, r->order, &info);
}
static void trtri_peer(void *context) {
    run_t *r = context;
    int info;
    dtrtri_("L", "N", &r->order, r->ours, &r->order, &info, 1, 1);
}

/* Fills, measures, prints a line. False when our call failed. */
static bool compare(const char *name, run_t *r, size_t rhs_columns, double flops, int threads,
                    double seconds, bench_function_t ours, bench_function_t peer) {
    size_t element = r->is_double ? sizeof(double) : sizeof(float), order = (size_t)r->order;
    size_t right = order * rhs_columns;
    r->a = malloc(order * order * element), r->ours = malloc(right * element),
    r->peers = malloc(right * element);
    if (r->a == NULL || r->ours == NULL || r->peers == NULL) {
        fprintf(stderr, "bench_trsm: no memory for order %d\n", r->order);
        exit(1);
    }
    uint64_t seed = 1;
    for (size_t i = 0; i < order * order; i++) {
        double value = i % (order + 1) == 0 ? 1 : 1e-6 * bench_random(&seed);
        if (r->is_double)
            ((double *)r->a)[i] = value;
        else
            ((float *)r->a)[i] = (float)value;
    }
    for (size_t i = 0; i < right; i++) {
        double value = bench_random(&seed);
        if (r->is_double)
            ((double *)r->ours)[i] = ((double *)r->peers)[i] = value;
        else
            ((float *)r->ours)[i] = ((float *)r->peers)[i] = (float)value;
    }
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    jhandle_clear_stats(r->handle);
    bench_result_t result = bench_compare(ours, r, peer, r, seconds);
    jhandle_get_stats(r->handle, &stats);
    int rung = 0;
    while (rung < JHANDLE_MAX_RUNGS - 1 && stats.rung_count[rung] == 0)
        rung++;
    printf("%-14s %2d %6d %6d %11.4f %11.4f %7.1f %7.1f %6.2f %5d %10zu  %s\n", name, threads,
           r->order, r->rhs, result.ours * 1e3, result.peer * 1e3, flops / result.ours * 1e-9,
           flops / result.peer * 1e-9, result.ratio, rung, stats.high_watermark_bytes,
           jstatus_name(r->status));
    free(r->a), free(r->ours), free(r->peers);
    return r->status == JSTATUS_SUCCESS;
}

int main(int argc, char **argv) {
    bench_shorten_spinning(argv);
    double seconds = argc > 1 ? atof(argv[1]) : 0.3;
    int largest = argc > 2 ? atoi(argv[2]) : seconds < 0.05 ? 256 : 4096;
    jhandle_t *handle;
    if (jhandle_create(NULL, &handle) != JSTATUS_SUCCESS) {
        fprintf(stderr, "bench_trsm: %s\n", jstatus_last_message());
        return 1;
    }
    bool good = true;
    printf("CBLAS kernels: %s\n", openblas_get_corename ? openblas_get_corename() : "unknown");
    printf("%-14s %2s %6s %6s %11s %11s %7s %7s %6s %5s %10s  %s\n", "routine", "th", "order",
           "rhs", "ours ms", "cblas ms", "GF/s", "GF/s", "ratio", "rung", "bytes", "status");
    for (int threads = 1; threads <= 2; threads++) {
        bench_prepare = threads > 1 ? bench_begin_quietly : NULL;
        bench_renew = NULL;
        if (openblas_set_num_threads)
            openblas_set_num_threads(threads);
        for (int type = 0; type < 2; type++)
            for (int left = 1; left >= 0; left--)
                for (int square = 1; square >= 0; square--)
                    for (int order = 64; order <= largest; order *= 2) {
                        run_t r = {
                            .handle = handle, .is_double = type == 0, .left = left, .order = order};
                        r.rhs = square ? order : 64;
                        char name[32];
                        snprintf(name, sizeof name, "%ctrsm %s", type ? 's' : 'd',
                                 left ? "left" : "right");
                        good &= compare(name, &r, (size_t)r.rhs, (double)order * order * r.rhs,
                                        threads, seconds, solve_ours, solve_peer);
                    }
        bench_renew = copy_matrix;
        for (int order = 64; order <= largest && order <= 2048; order *= 2) {
            run_t r = {.handle = handle, .is_double = true, .order = order, .rhs = order};
            double third = (double)order * order * order / 3;
            if (dpotrf_)
                good &= compare("dpotrf/LAPACK", &r, (size_t)order, third, threads, seconds,
                                potrf_ours, potrf_peer);
            if (dtrtri_)
                good &= compare("dtrtri/LAPACK", &r, (size_t)order, third, threads, seconds,
                                trtri_ours, trtri_peer);
        }
    }
    jhandle_destroy(handle);
    return good ? 0 : 1;
}
