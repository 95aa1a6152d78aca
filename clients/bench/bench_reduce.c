/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* dot, nrm2 and asum in a fixed order, beside the CBLAS's own: what the fixed order costs, or
 * gains.
 *
 *     bench_reduce [SECONDS per comparison [LARGEST length]] */

#include <cblas.h>
#include <stdbool.h>

#include "jalloc/jalloc.h"
#include "quiet.h"

void openblas_set_num_threads(int threads) __attribute__((weak)); /* OpenBLAS's, or absent */
char *openblas_get_corename(void) __attribute__((weak));

typedef struct run {
    jhandle_t *handle;
    int n;
    double *x, *y, result;
    float *xs, result_s;
    jstatus_t status;
} run_t;

#define RUN(name, ours, peers)                                                                     \
    static void name##_ours(void *context) {                                                       \
        run_t *r = context;                                                                        \
        r->status = ours;                                                                          \
    }                                                                                              \
    static void name##_peer(void *context) {                                                       \
        run_t *r = context;                                                                        \
        peers;                                                                                     \
        bench_keep(&r->result);                                                                    \
    }
RUN(ddot, jblas_ddot(r->handle, r->n, r->x, 1, r->y, 1, &r->result),
    r->result = cblas_ddot(r->n, r->x, 1, r->y, 1))
RUN(dnrm2, jblas_dnrm2(r->handle, r->n, r->x, 1, &r->result),
    r->result = cblas_dnrm2(r->n, r->x, 1))
RUN(dasum, jblas_dasum(r->handle, r->n, r->x, 1, &r->result),
    r->result = cblas_dasum(r->n, r->x, 1))
RUN(sdot, jblas_sdot(r->handle, r->n, r->xs, 1, r->xs, 1, &r->result_s),
    r->result_s = cblas_sdot(r->n, r->xs, 1, r->xs, 1))
RUN(snrm2, jblas_snrm2(r->handle, r->n, r->xs, 1, &r->result_s),
    r->result_s = cblas_snrm2(r->n, r->xs, 1))

static const struct {
    const char *name;
    bench_function_t ours, peer;
} routines[] = {{"ddot", ddot_ours, ddot_peer},
                {"dnrm2", dnrm2_ours, dnrm2_peer},
                {"dasum", dasum_ours, dasum_peer},
                {"sdot", sdot_ours, sdot_peer},
                {"snrm2", snrm2_ours, snrm2_peer}};

int main(int argc, char **argv) {
    bench_shorten_spinning(argv);
    double seconds = argc > 1 ? atof(argv[1]) : 0.2;
    int largest = argc > 2 ? atoi(argv[2]) : seconds < 0.05 ? 65536 : 1 << 24;
    run_t r = {.x = malloc(sizeof(double) * (size_t)largest),
               .y = malloc(sizeof(double) * (size_t)largest)};
    r.xs = malloc(sizeof(float) * (size_t)largest);
    if (r.x == NULL || r.y == NULL || r.xs == NULL ||
        jhandle_create(NULL, &r.handle) != JSTATUS_SUCCESS) {
        fprintf(stderr, "bench_reduce: no memory, or %s\n", jstatus_last_message());
        return 1;
    }
    uint64_t seed = 1;
    for (int i = 0; i < largest; i++)
        r.x[i] = bench_random(&seed), r.y[i] = bench_random(&seed), r.xs[i] = (float)r.x[i];
    bool good = true;
    printf("CBLAS kernels: %s\n", openblas_get_corename ? openblas_get_corename() : "unknown");
    printf("%-6s %2s %10s %12s %12s %9s %6s  %s\n", "name", "th", "n", "ours us", "cblas us",
           "GB/s", "ratio", "status");
    for (int threads = 1; threads <= 2; threads++) {
        bench_prepare = threads > 1 ? bench_begin_quietly : NULL;
        if (openblas_set_num_threads)
            openblas_set_num_threads(threads);
        for (size_t i = 0; i < sizeof routines / sizeof *routines; i++)
            for (r.n = 4; r.n <= largest; r.n *= 16) {
                bench_result_t result =
                    bench_compare(routines[i].ours, &r, routines[i].peer, &r, seconds);
                double bytes = (double)r.n *
                               (routines[i].name[0] == 's' ? sizeof(float) : sizeof(double)) *
                               (i == 0 ? 2 : 1);
                printf("%-6s %2d %10d %12.4f %12.4f %9.2f %6.2f  %s\n", routines[i].name, threads,
                       r.n, result.ours * 1e6, result.peer * 1e6, bytes / result.ours * 1e-9,
                       result.ratio, jstatus_name(r.status));
                good &= r.status == JSTATUS_SUCCESS;
            }
    }
    jhandle_destroy(r.handle);
    free(r.x), free(r.y), free(r.xs);
    return good ? 0 : 1;
}
