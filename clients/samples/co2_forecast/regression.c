/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Gaussian-process regression on one jhandle_t: Rasmussen and Williams (2006), algorithm 2.1.
 *
 *     K = L L'              potrf      covariance of the observations y (their mean taken off)
 *     alpha = K^-1 y        potrs
 *     y' alpha              dot        log marginal likelihood =
 *                                      -y' alpha / 2 - sum log L_ii - n/2 log 2 pi
 *     mean = K*' alpha      gemv       K*: observations against the months to forecast
 *     S = K** - K*' K^-1 K*            covariance of what will be observed in those months:
 *                                      posterior.c
 *     W' mean, W' S W       gemv, symm, gemm   yearly means and their covariance
 *
 * Only lower triangles of symmetric matrices are filled or read.
 *
 * The calls stand in functions by stages, regression_algebra() makes them all, and that function
 * is what both the size query and the run go through. So the query asks for just the calls that
 * will be made; with no operands, since none are looked at. A handle whose workspace has the size
 * that the query gave runs all of them the fast way.
 *
 * Operands live in memory of the handle's device: copied there before, results copied back after.
 * On the host that is a plain copy, and it is what lets potrf overwrite the covariance while the
 * problem keeps its own for the next run. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "co2_forecast.h"

enum { M = FORECAST_MONTHS, YEARS = FORECAST_YEARS };

bool problem_init(problem_t *problem, const model_t *model, const record_t *record) {
    const int64_t n = record->count;
    const int first = record->month[0], last = record->month[n - 1];
    *problem = (problem_t){.n = n};
    for (int j = 0; j < M; j++)
        problem->month[j] = last + 1 + j;

    const int64_t lag_count = last + M - first + 1;
    double *by_lag = malloc((size_t)lag_count * sizeof *by_lag);
    /* calloc, so that the triangles nobody fills are no random numbers, and checks their product
     * for overflow. */
    problem->covariance = calloc((size_t)n, (size_t)n * sizeof(double));
    problem->cross = calloc((size_t)n, M * sizeof(double));
    problem->prior = calloc(M, M * sizeof(double));
    problem->observation = calloc((size_t)n, sizeof(double));
    problem->weight = calloc(M, YEARS * sizeof(double));
    bool ok = by_lag && problem->covariance && problem->cross && problem->prior &&
              problem->observation && problem->weight;
    if (!ok) {
        fprintf(stderr, "co2_forecast: no memory for %lld observations\n", (long long)n);
        goto done;
    }

    for (int64_t i = 0; i < n; i++) {
        problem->observation[i] = model_from_value(model, record->value[i]);
        problem->observation_mean += problem->observation[i];
    }
    problem->observation_mean /= (double)n;
    for (int64_t i = 0; i < n; i++)
        problem->observation[i] -= problem->observation_mean;
    ok = isfinite(problem->observation_mean);
    if (!ok) {
        fprintf(stderr, "co2_forecast: the model takes square roots, and a value is negative\n");
        goto done;
    }

    covariance_by_lag(model, lag_count, by_lag);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            problem->covariance[i + j * n] = by_lag[record->month[i] - record->month[j]];
    for (int64_t j = 0; j < M; j++)
        for (int64_t i = 0; i < n; i++)
            problem->cross[i + j * n] = by_lag[problem->month[j] - record->month[i]];
    for (int64_t j = 0; j < M; j++)
        for (int64_t i = j; i < M; i++)
            problem->prior[i + j * M] = by_lag[i - j];
    for (int64_t i = 0; i < M; i++)
        problem->weight[i + i / 12 * M] = 1.0 / 12;
done:
    free(by_lag);
    if (!ok)
        problem_free(problem);
    return ok;
}

void problem_free(problem_t *problem) {
    free(problem->covariance);
    free(problem->cross);
    free(problem->prior);
    free(problem->observation);
    free(problem->weight);
    *problem = (problem_t){0};
}

/* One block of device memory for all operands, each at a multiple of the granule. */
jstatus_t operands_init(operands_t *operands, jdevice_t *device, int64_t n, size_t callee_bytes) {
    *operands = (operands_t){.device = device, .callee_bytes = callee_bytes};
    struct {
        double **pointer;
        int64_t count;
    } part[] = {{&operands->covariance, n * n},
                {&operands->cross, n * M},
                {&operands->posterior, M * M},
                {&operands->observation, n},
                {&operands->alpha, n},
                {&operands->mean, M},
                {&operands->weight, M * YEARS},
                {&operands->product, M * YEARS},
                {&operands->year_posterior, YEARS * YEARS},
                {&operands->year_mean, YEARS},
                {&operands->factor_diagonal, n},
                {&operands->variance, M},
                {&operands->year_variance, YEARS}};
    const size_t part_count = sizeof part / sizeof part[0], granule = jdevice_granule_bytes(device);
    size_t offset[sizeof part / sizeof part[0]];
    for (size_t i = 0; i < part_count; i++) {
        offset[i] = operands->block_bytes;
        size_t size_bytes = (size_t)part[i].count * sizeof(double);
        operands->block_bytes += (size_bytes + granule - 1) / granule * granule;
    }
    jstatus_t status =
        jdevice_allocate(device, JMEMORY_DEVICE, operands->block_bytes, 0, &operands->block);
    if (jstatus_is_error(status))
        return status;
    for (size_t i = 0; i < part_count; i++)
        *part[i].pointer = (double *)((char *)operands->block + offset[i]);
    return status;
}

void operands_free(operands_t *operands) {
    if (operands->block)
        jdevice_deallocate(operands->device, JMEMORY_DEVICE, operands->block,
                           operands->block_bytes);
    *operands = (operands_t){0};
}

/* ---- The linear algebra, by stages ---- */

static jstatus_t factor(jhandle_t *h, int64_t n, const operands_t *o, int64_t *minor) {
    jstatus_t status = JSTATUS_SUCCESS;
    CALL(jlapack_dpotrf(h, JBLAS_LOWER, n, o->covariance, n, minor));
    if (*minor != 0)
        return jhandle_fail(h, JSTATUS_INVALID_VALUE,
                            "the covariance is not positive definite (order %lld)",
                            (long long)*minor);
    /* A stride of n + 1 walks the diagonal. */
    CALL(jblas_dcopy(h, n, o->covariance, n + 1, o->factor_diagonal, 1));
    return status;
}

static jstatus_t solve(jhandle_t *h, int64_t n, const operands_t *o, double *quadratic) {
    jstatus_t status = JSTATUS_SUCCESS;
    CALL(jblas_dcopy(h, n, o->observation, 1, o->alpha, 1));
    CALL(jlapack_dpotrs(h, JBLAS_LOWER, n, 1, o->covariance, n, o->alpha, n));
    CALL(jblas_ddot(h, n, o->observation, 1, o->alpha, 1, quadratic));
    return status;
}

static jstatus_t months(jhandle_t *h, int64_t n, const operands_t *o) {
    const double zero = 0, one = 1;
    jstatus_t status = JSTATUS_SUCCESS;
    CALL(jblas_dgemv(h, JBLAS_TRANSPOSE, n, M, &one, o->cross, n, o->alpha, 1, &zero, o->mean, 1));
    CALL(posterior_covariance(h, n, o->callee_bytes, o->covariance, o->cross, o->posterior));
    CALL(jblas_dcopy(h, M, o->posterior, M + 1, o->variance, 1));
    return status;
}

static jstatus_t years(jhandle_t *h, const operands_t *o) {
    const double zero = 0, one = 1;
    jstatus_t status = JSTATUS_SUCCESS;
    CALL(jblas_dgemv(h, JBLAS_TRANSPOSE, M, YEARS, &one, o->weight, M, o->mean, 1, &zero,
                     o->year_mean, 1));
    CALL(jblas_dsymm(h, JBLAS_LEFT, JBLAS_LOWER, M, YEARS, &one, o->posterior, M, o->weight, M,
                     &zero, o->product, M));
    CALL(jblas_dgemm(h, JBLAS_TRANSPOSE, JBLAS_NO_TRANSPOSE, YEARS, YEARS, M, &one, o->weight, M,
                     o->product, M, &zero, o->year_posterior, YEARS));
    CALL(jblas_dcopy(h, YEARS, o->year_posterior, YEARS + 1, o->year_variance, 1));
    return status;
}

jstatus_t regression_stage(jhandle_t *handle, stage_t stage, int64_t n, const operands_t *operands,
                           double *quadratic, int64_t *minor) {
    switch (stage) {
    case STAGE_FACTOR: return factor(handle, n, operands, minor);
    case STAGE_SOLVE: return solve(handle, n, operands, quadratic);
    case STAGE_MONTHS: return months(handle, n, operands);
    default: return years(handle, operands);
    }
}

/* All of them, in order. */
static jstatus_t regression_algebra(jhandle_t *h, int64_t n, const operands_t *o, double *quadratic,
                                    int64_t *minor) {
    jstatus_t status = JSTATUS_SUCCESS;
    for (stage_t stage = 0; stage < STAGES; stage++)
        CALL(regression_stage(h, stage, n, o, quadratic, minor));
    return status;
}

jstatus_t regression_query(jhandle_t *handle, int64_t n, size_t callee_bytes, size_t *size_bytes) {
    const operands_t nothing = {.callee_bytes = callee_bytes};
    double quadratic;
    int64_t minor = 0;
    jstatus_t status = jhandle_start_size_query(handle);
    if (jstatus_is_error(status))
        return status;
    status = regression_algebra(handle, n, &nothing, &quadratic, &minor);
    jstatus_t stopped = jhandle_stop_size_query(handle, size_bytes);
    return jstatus_is_error(status) ? status : stopped;
}

jstatus_t regression_requirement(jhandle_t *handle, int64_t n, size_t callee_bytes,
                                 jrequirement_t **requirement) {
    const operands_t nothing = {.callee_bytes = callee_bytes};
    double quadratic;
    int64_t minor = 0;
    size_t size_bytes;
    jstatus_t status = jhandle_start_requirement_query(handle);
    if (jstatus_is_error(status))
        return status;
    status = regression_algebra(handle, n, &nothing, &quadratic, &minor);
    if (!jstatus_is_error(status))
        return jhandle_stop_requirement_query(handle, requirement);
    jhandle_stop_size_query(handle, &size_bytes);
    return status;
}

typedef struct copy_t {
    double *to;
    const double *from;
    int64_t count;
} copy_t;

/* Copies, and waits until all is there. */
static jstatus_t copy_all(jdevice_t *device, jstream_t *stream, size_t count,
                          const copy_t *copies) {
    jstatus_t status = JSTATUS_SUCCESS;
    for (size_t i = 0; !jstatus_is_error(status) && i < count; i++)
        status = jdevice_copy(device, stream, copies[i].to, copies[i].from,
                              (size_t)copies[i].count * sizeof(double));
    return jstatus_is_error(status) ? status : jstream_synchronize(device, stream);
}

jstatus_t operands_fill(const operands_t *o, jhandle_t *handle, const problem_t *problem) {
    const int64_t n = problem->n;
    const copy_t in[] = {{o->covariance, problem->covariance, n * n},
                         {o->cross, problem->cross, n * M},
                         {o->posterior, problem->prior, M * M},
                         {o->observation, problem->observation, n},
                         {o->weight, problem->weight, M * YEARS}};
    jstream_t *stream;
    jstatus_t status = jhandle_get_stream(handle, &stream);
    return jstatus_is_error(status)
               ? status
               : copy_all(jhandle_device(handle), stream, sizeof in / sizeof in[0], in);
}

double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

jstatus_t regression_run(jhandle_t *handle, const problem_t *problem, const operands_t *operands,
                         forecast_t *forecast, double *milliseconds) {
    const int64_t n = problem->n;
    const operands_t *o = operands;
    jdevice_t *device = jhandle_device(handle);
    jstream_t *stream = NULL;
    jstatus_t status = JSTATUS_SUCCESS;
    double *diagonal = malloc((size_t)n * sizeof *diagonal);
    if (!diagonal)
        return JSTATUS_MEMORY_ERROR;

    const copy_t out[] = {{diagonal, o->factor_diagonal, n},
                          {forecast->mean, o->mean, M},
                          {forecast->variance, o->variance, M},
                          {forecast->year_mean, o->year_mean, YEARS},
                          {forecast->year_variance, o->year_variance, YEARS}};

    status = jhandle_get_stream(handle, &stream);
    if (!jstatus_is_error(status))
        /* Waited for, so that the copies are not timed. */
        status = operands_fill(operands, handle, problem);

    double quadratic = 0, start = now_ms();
    int64_t minor = 0;
    if (!jstatus_is_error(status))
        status = regression_algebra(handle, n, operands, &quadratic, &minor);
    jstatus_t waited = jstream_synchronize(device, stream);
    *milliseconds = now_ms() - start;

    if (!jstatus_is_error(waited))
        waited = copy_all(device, stream, sizeof out / sizeof out[0], out);
    if (!jstatus_is_error(status) && jstatus_is_error(waited))
        status = waited;
    if (jstatus_is_error(status))
        goto done;

    const double log_two_pi = 1.8378770664093454836;
    forecast->data_fit = -quadratic / 2;
    forecast->complexity = 0; /* minus half the logarithm of K's determinant */
    for (int64_t i = 0; i < n; i++)
        forecast->complexity -= log(diagonal[i]);
    forecast->normalization = -(double)n / 2 * log_two_pi;
    forecast->log_marginal_likelihood =
        forecast->data_fit + forecast->complexity + forecast->normalization;
    for (int j = 0; j < M; j++)
        forecast->mean[j] += problem->observation_mean;
    for (int year = 0; year < YEARS; year++)
        forecast->year_mean[year] += problem->observation_mean;
done:
    free(diagonal);
    return status;
}
