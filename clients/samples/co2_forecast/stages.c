/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What each stage of the regression takes, beside the same stages by the BLAS and LAPACK of
 * OpenBLAS, which is loaded at run time: by the names of Fortran, as a program would call it that
 * does not know jalloc. Both work on operands of their own, in turn, with as many threads. */

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "co2_forecast.h"

enum { M = FORECAST_MONTHS, YEARS = FORECAST_YEARS };
#define AGREEMENT 1e-9

static const char *const stage_names[STAGES] = {"factor of the covariance", "solve, likelihood",
                                                "months and their covariance", "years"};
static const char *const stage_calls[STAGES] = {"potrf", "potrs, dot", "gemv, trsm, syrk",
                                                "gemv, symm, gemm"};

/* The peer's functions, with 32-bit integers; characters' lengths come last. */
typedef const int *size_in_t;
typedef const double *real_in_t;
typedef struct peer_t {
    void (*potrf)(const char *, size_in_t, double *, size_in_t, int *, size_t);
    void (*potrs)(const char *, size_in_t, size_in_t, real_in_t, size_in_t, double *, size_in_t,
                  int *, size_t);
    double (*dot)(size_in_t, real_in_t, size_in_t, real_in_t, size_in_t);
    void (*gemv)(const char *, size_in_t, size_in_t, real_in_t, real_in_t, size_in_t, real_in_t,
                 size_in_t, real_in_t, double *, size_in_t, size_t);
    void (*trsm)(const char *, const char *, const char *, const char *, size_in_t, size_in_t,
                 real_in_t, real_in_t, size_in_t, double *, size_in_t, size_t, size_t, size_t,
                 size_t);
    void (*syrk)(const char *, const char *, size_in_t, size_in_t, real_in_t, real_in_t, size_in_t,
                 real_in_t, double *, size_in_t, size_t, size_t);
    void (*symm)(const char *, const char *, size_in_t, size_in_t, real_in_t, real_in_t, size_in_t,
                 real_in_t, size_in_t, real_in_t, double *, size_in_t, size_t, size_t);
    void (*gemm)(const char *, const char *, size_in_t, size_in_t, size_in_t, real_in_t, real_in_t,
                 size_in_t, real_in_t, size_in_t, real_in_t, double *, size_in_t, size_t, size_t);
    void (*set_threads)(int);
    char *(*core)(void);
    double *part; /* what is solved for */
} peer_t;

/* False: there is no such library. */
static bool peer_load(peer_t *peer) {
    const char *const file = getenv("JALLOC_CBLAS") ? getenv("JALLOC_CBLAS") : "libopenblas.so.0";
    void *const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    const struct {
        const char *name;
        void *place;
    } wanted[] = {{"dpotrf_", &peer->potrf},
                  {"dpotrs_", &peer->potrs},
                  {"ddot_", &peer->dot},
                  {"dgemv_", &peer->gemv},
                  {"dtrsm_", &peer->trsm},
                  {"dsyrk_", &peer->syrk},
                  {"dsymm_", &peer->symm},
                  {"dgemm_", &peer->gemm},
                  {"openblas_set_num_threads", &peer->set_threads},
                  {"openblas_get_corename", &peer->core}};

    for (size_t i = 0; library != NULL && i < sizeof wanted / sizeof wanted[0]; i++) {
        void *const function = dlsym(library, wanted[i].name);
        memcpy(wanted[i].place, &function, sizeof function);
        if (function == NULL)
            return false;
    }
    return library != NULL;
}

/* The same calls as regression_stage(). False: not positive definite. */
static bool peer_stage(const peer_t *peer, stage_t stage, int n, const operands_t *o,
                       double *quadratic) {
    const double zero = 0, one = 1, minus_one = -1;
    const int step = 1, m = M, years = YEARS;
    int info = 0;
    switch (stage) {
    case STAGE_FACTOR:
        peer->potrf("L", &n, o->covariance, &n, &info, 1);
        for (int i = 0; i < n; i++)
            o->factor_diagonal[i] = o->covariance[(size_t)i * ((size_t)n + 1)];
        break;
    case STAGE_SOLVE:
        memcpy(o->alpha, o->observation, (size_t)n * sizeof(double));
        peer->potrs("L", &n, &step, o->covariance, &n, o->alpha, &n, &info, 1);
        *quadratic = peer->dot(&n, o->observation, &step, o->alpha, &step);
        break;
    case STAGE_MONTHS:
        peer->gemv("T", &n, &m, &one, o->cross, &n, o->alpha, &step, &zero, o->mean, &step, 1);
        memcpy(peer->part, o->cross, (size_t)n * M * sizeof(double));
        peer->trsm("L", "L", "N", "N", &n, &m, &one, o->covariance, &n, peer->part, &n, 1, 1, 1, 1);
        peer->syrk("L", "T", &m, &n, &minus_one, peer->part, &n, &one, o->posterior, &m, 1, 1);
        for (int i = 0; i < M; i++)
            o->variance[i] = o->posterior[i * (M + 1)];
        break;
    default:
        peer->gemv("T", &m, &years, &one, o->weight, &m, o->mean, &step, &zero, o->year_mean, &step,
                   1);
        peer->symm("L", "L", &m, &years, &one, o->posterior, &m, o->weight, &m, &zero, o->product,
                   &m, 1, 1);
        peer->gemm("T", "N", &years, &years, &m, &one, o->weight, &m, o->product, &m, &zero,
                   o->year_posterior, &years, 1, 1);
        for (int i = 0; i < YEARS; i++)
            o->year_variance[i] = o->year_posterior[i * (YEARS + 1)];
    }
    return info == 0;
}

/* Each stage of both once, in turn; times are the shortest so far. */
static bool run_both(jhandle_t *handle, const peer_t *peer, const problem_t *problem,
                     const operands_t *ours, const operands_t *theirs, double quadratic[2],
                     double milliseconds[STAGES][2]) {
    int64_t minor = 0;
    if (jstatus_is_error(operands_fill(ours, handle, problem)) ||
        jstatus_is_error(operands_fill(theirs, handle, problem)))
        return false;
    for (stage_t stage = 0; stage < STAGES; stage++) {
        const double start = now_ms();
        if (jstatus_is_error(
                regression_stage(handle, stage, problem->n, ours, &quadratic[0], &minor)))
            return false;
        const double middle = now_ms();
        if (!peer_stage(peer, stage, (int)problem->n, theirs, &quadratic[1]))
            return false;
        milliseconds[stage][0] = fmin(milliseconds[stage][0], middle - start);
        milliseconds[stage][1] = fmin(milliseconds[stage][1], now_ms() - middle);
    }
    return true;
}

static double difference(const double *a, const double *b, int count) {
    double largest = 0, scale = 0;
    for (int i = 0; i < count; i++) {
        largest = fmax(largest, fabs(a[i] - b[i]));
        scale = fmax(scale, fabs(a[i]));
    }
    return scale > 0 ? largest / scale : largest;
}

static bool print(const operands_t *ours, const operands_t *theirs, const double quadratic[2],
                  double milliseconds[STAGES][2], int threads, const char *core) {
    double sum[2] = {0, 0};
    printf("the stages, ms, beside OpenBLAS's (its kernels for %s), %d thread%s each\n\n", core,
           threads, threads == 1 ? "" : "s");
    printf("  %-28s %-18s %9s %9s %9s\n", "stage", "calls", "jalloc", "OpenBLAS", "ratio");
    for (stage_t stage = 0; stage < STAGES; stage++) {
        const double *const ms = milliseconds[stage];
        printf("  %-28s %-18s %9.2f %9.2f %9.2f\n", stage_names[stage], stage_calls[stage], ms[0],
               ms[1], ms[1] / ms[0]);
        sum[0] += ms[0], sum[1] += ms[1];
    }
    printf("  %-28s %-18s %9.2f %9.2f %9.2f\n\n", "all", "", sum[0], sum[1], sum[1] / sum[0]);

    const double off = fmax(fmax(difference(ours->mean, theirs->mean, M),
                                 difference(ours->variance, theirs->variance, M)),
                            fmax(difference(ours->year_variance, theirs->year_variance, YEARS),
                                 difference(&quadratic[0], &quadratic[1], 1)));
    if (!(off <= AGREEMENT))
        fprintf(stderr, "co2_forecast: OpenBLAS's stages differ by %.1e\n", off);
    return off <= AGREEMENT;
}

bool stages_run(jdevice_t *device, const problem_t *problem, int repeat) {
    peer_t peer = {0};
    if (device != jdevice_host() || !peer_load(&peer)) {
        printf("the stages are not measured beside OpenBLAS: %s\n\n",
               device != jdevice_host() ? "the device is not the host" : "it cannot be loaded");
        return true;
    }

    jhandle_t *handle = NULL;
    operands_t ours = {0}, theirs = {0};
    double quadratic[2] = {0, 0}, milliseconds[STAGES][2];
    size_t callee_bytes = 0;
    int threads = 1;
    bool ok = false;
    for (stage_t stage = 0; stage < STAGES; stage++)
        milliseconds[stage][0] = milliseconds[stage][1] = INFINITY;

    peer.part = malloc((size_t)problem->n * M * sizeof(double));
    if (peer.part != NULL && !jstatus_is_error(handle_make(device, 0, &handle)) &&
        !jstatus_is_error(posterior_query(handle, problem->n, &callee_bytes)) &&
        !jstatus_is_error(operands_init(&ours, device, problem->n, callee_bytes)) &&
        !jstatus_is_error(operands_init(&theirs, device, problem->n, callee_bytes)) &&
        !jstatus_is_error(jhandle_get_threads(handle, &threads))) {
        ok = true;
        peer.set_threads(threads > 0 ? threads : 1);
        for (int i = 0; ok && i < repeat; i++)
            ok = run_both(handle, &peer, problem, &ours, &theirs, quadratic, milliseconds);
    }
    if (ok)
        ok = print(&ours, &theirs, quadratic, milliseconds, threads, peer.core());
    else
        fprintf(stderr, "co2_forecast: the stages: %s\n", jstatus_last_message());

    operands_free(&ours);
    operands_free(&theirs);
    free(peer.part);
    return (handle == NULL || !jstatus_is_error(jhandle_destroy(handle))) && ok;
}
