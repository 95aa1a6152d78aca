/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Triangular solves by inverted diagonal blocks beside cuBLAS's. The diagonal is 1 and the rest
 * nearly 0, so that solving again and again with the same right-hand sides neither grows them nor
 * lets them vanish. */

#include <math.h>

#include "bench_gpu.h"

typedef struct solve {
    gpu_bench_t *bench;
    bool is_double, left;
    int order, rhs;
    void *a, *ours, *peers;
} solve_t;

static void solve_ours(void *context) {
    solve_t *s = context;
    const double one = 1;
    const float one_s = 1;
    const int64_t m = s->left ? s->order : s->rhs, n = s->left ? s->rhs : s->order;
    const jblas_side_t side = s->left ? JBLAS_LEFT : JBLAS_RIGHT;
    jhandle_t *h = s->bench->handle;
    jstatus_t status;
    if (s->is_double)
        status = jblas_dtrsm(h, side, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, m, n, &one,
                             s->a, s->order, s->ours, m);
    else
        status = jblas_strsm(h, side, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, m, n, &one_s,
                             s->a, s->order, s->ours, m);
    gpu_expect(s->bench, status, "jblas trsm");
}

static void solve_peer(void *context) {
    solve_t *s = context;
    const double one = 1;
    const float one_s = 1;
    const int m = s->left ? s->order : s->rhs, n = s->left ? s->rhs : s->order;
    const cublasSideMode_t side = s->left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    cublasStatus_t status;
    if (s->is_double)
        status = cublasDtrsm(s->bench->cublas, side, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                             CUBLAS_DIAG_NON_UNIT, m, n, &one, s->a, s->order, s->peers, m);
    else
        status = cublasStrsm(s->bench->cublas, side, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                             CUBLAS_DIAG_NON_UNIT, m, n, &one_s, s->a, s->order, s->peers, m);
    gpu_expect_cublas(s->bench, status, "cublas trsm");
}

void bench_gpu_solves(gpu_bench_t *bench) {
    static const gpu_size_table_t orders = {{64}, {1024, 4096}, {256, 512, 1024, 2048, 4096, 8192}};
    static const gpu_size_table_t sides = {{16}, {256, 4096}, {64, 256, 1024, 4096}};
    static double ratios[2][128];
    int counts[2] = {0, 0};
    printf("\ntriangular solves; times in milliseconds\n%-14s %6s %6s %5s %10s %10s %6s\n", "",
           "order", "rhs", "rung", "ours", "cuBLAS", "ratio");
    for (int type = 0; type < 2; type++)
        for (int left = 1; left >= 0; left--)
            for (const int *order = orders[bench->sizes]; *order > 0; order++)
                for (const int *rhs = sides[bench->sizes]; *rhs > 0 && bench->good; rhs++) {
                    solve_t s = {.bench = bench,
                                 .is_double = type == 0,
                                 .left = left,
                                 .order = *order,
                                 .rhs = *rhs};
                    const size_t right = (size_t)*order * (size_t)*rhs;
                    s.a = gpu_matrix(bench, *order, s.is_double, 1, 1e-6);
                    s.ours = gpu_random(bench, right, s.is_double, 5);
                    s.peers = gpu_random(bench, right, s.is_double, 5);
                    gpu_expect(bench, jhandle_clear_stats(bench->handle), "jhandle_clear_stats");
                    if (bench->good) {
                        bench_result_t r = gpu_compare(bench, solve_ours, solve_peer, &s);
                        printf("%ctrsm %-8s %6d %6d %5d %10.4f %10.4f %6.2f\n", type ? 's' : 'd',
                               left ? "left" : "right", *order, *rhs, gpu_rung(bench), r.ours * 1e3,
                               r.peer * 1e3, r.ratio);
                        ratios[type][counts[type]++] = r.ratio;
                    }
                    gpu_release(s.a), gpu_release(s.ours), gpu_release(s.peers);
                }
    for (int type = 0; type < 2 && counts[type] > 0; type++) {
        char what[72];
        const double median = bench_median(ratios[type], (size_t)counts[type]); /* sorts */
        snprintf(what, sizeof what, "%ctrsm over cuBLAS, least of %d shapes", type ? 's' : 'd',
                 counts[type]);
        gpu_aim(what, ratios[type][0], 1.3, false);
        snprintf(what, sizeof what, "%ctrsm over cuBLAS, median", type ? 's' : 'd');
        gpu_aim(what, median, 1.3, false);
    }
}
