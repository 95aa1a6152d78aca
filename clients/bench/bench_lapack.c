/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jlapack beside a LAPACK, Debian's OpenBLAS or the library that BENCH_LAPACK names, in turn, with
 * one thread and with two: the peer's time over ours. OPENBLAS_CORETYPE chooses its kernels.
 *
 *     bench_lapack [SECONDS per comparison [TYPES [ORDER...]]]      such as 0.3 d 64 128 256
 *
 * Each call factors a fresh copy of the same random matrix; copying is in both times. */

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "bench.h"
#include "jalloc/jalloc.h"

/* The peer's functions, by type. */
typedef void (*factor_t)(const int *m, const int *n, void *a, const int *lda, int *ipiv, int *info);
typedef void (*solve_t)(const int *n, const int *nrhs, void *a, const int *lda, int *ipiv, void *b,
                        const int *ldb, int *info);
typedef struct peer {
    factor_t factor;
    solve_t solve;
    void (*set_threads)(int threads);
    char *(*core_name)(void);
    void *library;
} peer_t;

static bool load(peer_t *peer) {
    const char *const file = getenv("BENCH_LAPACK") ? getenv("BENCH_LAPACK") : "libopenblas.so.0";
    peer->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (peer->library == NULL)
        return false;
    peer->set_threads = (void (*)(int))dlsym(peer->library, "openblas_set_num_threads");
    peer->core_name = (char *(*)(void))dlsym(peer->library, "openblas_get_corename");
    return dlsym(peer->library, "dgesv_") != NULL;
}

static void choose(peer_t *peer, char type) {
    const char factor[] = {type, 'g', 'e', 't', 'r', 'f', '_', 0},
               solve[] = {type, 'g', 'e', 's', 'v', '_', 0};
    peer->factor = (factor_t)dlsym(peer->library, factor);
    peer->solve = (solve_t)dlsym(peer->library, solve);
}

typedef struct run {
    const peer_t *peer;
    jhandle_t *handle;
    char type;
    bool solves; /* gesv; getrf */
    int n, nrhs;
    size_t bytes, right_bytes;
    void *a, *b, *factor, *solution;
    int64_t *ipiv;
    int *peer_ipiv;
    jstatus_t status;
} run_t;

static void restore(const run_t *r) {
    memcpy(r->factor, r->a, r->bytes);
    memcpy(r->solution, r->b, r->right_bytes);
}

#define BY_TYPE(type, CALL)                                                                        \
    switch (type) {                                                                                \
    case 's': CALL(s); break;                                                                      \
    case 'd': CALL(d); break;                                                                      \
    case 'c': CALL(c); break;                                                                      \
    default: CALL(z);                                                                              \
    }

#define FACTOR_OURS(t)                                                                             \
    r->status = jlapack_##t##getrf(r->handle, r->n, r->n, r->factor, r->n, r->ipiv, &info)
#define SOLVE_OURS(t)                                                                              \
    r->status = jlapack_##t##gesv(r->handle, r->n, r->nrhs, r->factor, r->n, r->ipiv, r->solution, \
                                  r->n, &info)

static void run_ours(void *context) {
    run_t *r = context;
    int64_t info;
    restore(r);
    if (r->solves) {
        BY_TYPE(r->type, SOLVE_OURS)
    } else {
        BY_TYPE(r->type, FACTOR_OURS)
    }
}

static void run_peer(void *context) {
    run_t *r = context;
    int info;
    restore(r);
    if (r->solves)
        r->peer->solve(&r->n, &r->nrhs, r->factor, &r->n, r->peer_ipiv, r->solution, &r->n, &info);
    else
        r->peer->factor(&r->n, &r->n, r->factor, &r->n, r->peer_ipiv, &info);
}

/* So many random numbers of the type. */
static void *make(char type, size_t bytes) {
    void *numbers = malloc(bytes);
    if (numbers == NULL) {
        fprintf(stderr, "bench_lapack: no memory\n");
        exit(1);
    }
    uint64_t seed = 1;
    const bool single = type == 's' || type == 'c';
    for (size_t i = 0; i < bytes / (single ? sizeof(float) : sizeof(double)); i++) {
        const double value = bench_random(&seed) - 0.5;
        if (single)
            ((float *)numbers)[i] = (float)value;
        else
            ((double *)numbers)[i] = value;
    }
    return numbers;
}

static bool compare(run_t *r, bool solves, int threads, double flops, double seconds) {
    r->solves = solves;
    const bench_result_t result = bench_compare(run_ours, r, run_peer, r, seconds);
    printf("%c%-6s %7d %5d %11.4f %11.4f %8.1f %6.2f  %s\n", r->type, solves ? "gesv" : "getrf",
           threads, r->n, result.ours * 1e3, result.peer * 1e3, flops / result.ours * 1e-9,
           result.ratio, jstatus_name(r->status));
    return r->status == JSTATUS_SUCCESS;
}

static bool measure(jhandle_t *handle, const peer_t *peer, char type, int n, int threads,
                    double seconds) {
    const bool is_complex = type == 'c' || type == 'z';
    const size_t element =
        (type == 's' || type == 'c' ? sizeof(float) : sizeof(double)) * (is_complex ? 2 : 1);
    run_t r = {.peer = peer, .handle = handle, .type = type, .n = n, .nrhs = 8};
    r.bytes = (size_t)n * (size_t)n * element;
    r.right_bytes = (size_t)n * (size_t)r.nrhs * element;
    r.a = make(type, r.bytes), r.factor = make(type, r.bytes);
    r.b = make(type, r.right_bytes), r.solution = make(type, r.right_bytes);
    r.ipiv = make('d', (size_t)n * sizeof *r.ipiv);
    r.peer_ipiv = make('d', (size_t)n * sizeof(double));

    const double cube = (double)n * n * n * (is_complex ? 8 : 2) / 3,
                 solve = (double)n * n * r.nrhs * (is_complex ? 8 : 2);
    bool good = compare(&r, false, threads, cube, seconds);
    good &= compare(&r, true, threads, cube + solve, seconds);

    free(r.a), free(r.b), free(r.factor), free(r.solution), free(r.ipiv), free(r.peer_ipiv);
    return good;
}

int main(int argc, char **argv) {
    static const int usual[] = {32, 64, 128, 256, 512, 1024, 2048};
    const double seconds = argc > 1 ? atof(argv[1]) : 0.3;
    const char *types = argc > 2 ? argv[2] : "dscz";
    const int largest = seconds < 0.05 ? 128 : INT_MAX; /* a look that it runs */
    jhandle_t *handle;
    peer_t peer = {.library = NULL};
    if (!load(&peer)) {
        printf("bench_lapack: no LAPACK to compare with\n");
        return 0;
    }
    if (jhandle_create(NULL, &handle) != JSTATUS_SUCCESS) {
        fprintf(stderr, "bench_lapack: %s\n", jstatus_last_message());
        return 1;
    }

    bool good = true;
    printf("the peer's kernels: %s\n", peer.core_name ? peer.core_name() : "unknown");
    printf("routine threads order     ours ms     peer ms     GF/s  ratio  status\n");
    for (int threads = 1; threads <= 2; threads++) {
        if (peer.set_threads)
            peer.set_threads(threads);
        (void)jhandle_set_threads(handle, threads);
        for (const char *type = types; *type; type++) {
            choose(&peer, *type);
            for (int i = 3; i < argc; i++)
                good &= measure(handle, &peer, *type, atoi(argv[i]), threads, seconds);
            for (size_t i = 0; argc <= 3 && i < sizeof usual / sizeof usual[0]; i++)
                if (usual[i] <= largest)
                    good &= measure(handle, &peer, *type, usual[i], threads, seconds);
        }
    }
    jhandle_destroy(handle);
    return good ? 0 : 1;
}
