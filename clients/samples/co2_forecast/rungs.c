/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What lent memory buys: posterior.c on each of its rungs, by bytes and time.
 *
 * Each rung has a handle with just the bytes it needs, so that the handle itself chooses it, and
 * they run in turn, so that a machine that is busy is so for all of them. The shortest time of each
 * is shown, which other programs disturb least. With a granule too
 * little for the last rung the call fails, and leaves its result as it was. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "co2_forecast.h"

#define AGREEMENT 1e-9 /* as in modes.c */

enum { M = FORECAST_MONTHS };

/* One call in what the handle was lent; S is left in `s`. */
static jstatus_t run_once(jhandle_t *handle, const problem_t *problem, const operands_t *o,
                          double *s, double *milliseconds) {
    const size_t bytes = (size_t)M * M * sizeof(double);
    jdevice_t *device = jhandle_device(handle);
    jstatus_t status = JSTATUS_SUCCESS;
    jstream_t *stream;
    CALL(jhandle_get_stream(handle, &stream));
    CALL(jdevice_copy(device, stream, o->posterior, problem->prior, bytes));
    CALL(jstream_synchronize(device, stream));
    const double start = now_ms();
    const jstatus_t answer = posterior_covariance(handle, problem->n, o->callee_bytes,
                                                  o->covariance, o->cross, o->posterior);
    CALL(jstream_synchronize(device, stream));
    *milliseconds = now_ms() - start;
    CALL(jdevice_copy(device, stream, s, o->posterior, bytes));
    CALL(jstream_synchronize(device, stream));
    return answer == JSTATUS_SUCCESS ? status : answer;
}

/* The largest difference of two covariances, in units of the standard deviations of the first. */
static double covariance_difference(const double *a, const double *b) {
    double largest = 0;
    for (int j = 0; j < M; j++)
        for (int i = j; i < M; i++) {
            const double difference =
                fabs(a[i + j * M] - b[i + j * M]) / sqrt(a[i * (M + 1)] * a[j * (M + 1)]);
            if (!(difference <= largest))
                largest = isfinite(difference) ? difference : INFINITY;
        }
    return largest;
}

bool rungs_run(jdevice_t *device, const problem_t *problem, int repeat,
               rung_t rungs[POSTERIOR_RUNGS]) {
    jhandle_t *handle[POSTERIOR_RUNGS] = {0}, *small = NULL;
    jstatus_t answer[POSTERIOR_RUNGS], status = JSTATUS_SUCCESS;
    size_t callee_bytes;
    operands_t operands = {0};
    double *s = malloc((size_t)(POSTERIOR_RUNGS + 1) * M * M * sizeof *s), milliseconds;
    const size_t granule = jdevice_granule_bytes(device);
    int64_t minor = 0;
    bool ok = false;
    char words[32];

    if (!s)
        goto done;
    status = handle_make(device, 0, &small);
    if (!jstatus_is_error(status))
        status = posterior_query(small, problem->n, &callee_bytes);
    if (!jstatus_is_error(status))
        status = operands_init(&operands, device, problem->n, callee_bytes);
    if (!jstatus_is_error(status))
        status = operands_fill(&operands, small, problem);
    if (!jstatus_is_error(status))
        status =
            jlapack_dpotrf(small, JBLAS_LOWER, problem->n, operands.covariance, problem->n, &minor);
    for (int r = 0; !jstatus_is_error(status) && r < POSTERIOR_RUNGS; r++) {
        status = handle_make(device, 0, &handle[r]);
        rungs[r].milliseconds = INFINITY;
        rungs[r].lent_bytes = posterior_bytes(small, problem->n, callee_bytes, r);
        if (!jstatus_is_error(status))
            status = jhandle_set_fixed_workspace_size(handle[r], rungs[r].lent_bytes);
        if (!jstatus_is_error(status))
            jhandle_clear_stats(handle[r]); /* an allocation from here on would be the call's */
    }
    for (int i = 0; !jstatus_is_error(status) && i < repeat; i++)
        for (int r = 0; !jstatus_is_error(status) && r < POSTERIOR_RUNGS; r++) {
            status = answer[r] =
                run_once(handle[r], problem, &operands, s + r * M * M, &milliseconds);
            rungs[r].milliseconds = fmin(rungs[r].milliseconds, milliseconds);
        }
    if (jstatus_is_error(status) || minor != 0) {
        fprintf(stderr, "co2_forecast: the rungs: %s: %s\n", jstatus_text(status),
                jstatus_last_message());
        goto done;
    }

    ok = true;
    printf(
        "what lent memory buys: the covariance of what will be observed, by what it is lent\n\n");
    printf("  %-24s %12s   %-14s %9s %9s  %9s\n", "rung", "bytes lent", "status", "time, ms",
           "of best", "differs");
    for (int r = 0; r < POSTERIOR_RUNGS; r++) {
        jhandle_stats_t stats = {.struct_size = sizeof stats};
        jhandle_get_stats(handle[r], &stats);
        const double difference = covariance_difference(s, s + r * M * M);
        printf("  %d %-22s %12zu   %-14s %9.2f %7.1f x  %9.1e\n", r, posterior_meaning(r),
               rungs[r].lent_bytes, status_words(answer[r], words), rungs[r].milliseconds,
               rungs[r].milliseconds / rungs[0].milliseconds, difference);
        if (answer[r] != (r == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED) ||
            stats.rung_count[r] == 0 || stats.allocation_count != 0 || !(difference <= AGREEMENT)) {
            fprintf(stderr, "co2_forecast: rung %d is not what its bytes promise\n", r);
            ok = false;
        }
    }

    const size_t too_little = rungs[POSTERIOR_RUNGS - 1].lent_bytes - granule;
    status = jhandle_set_fixed_workspace_size(small, too_little);
    if (!jstatus_is_error(status))
        status = run_once(small, problem, &operands, s + POSTERIOR_RUNGS * M * M, &milliseconds);
    printf("  %-24s %12zu   %s\n\n", "none fits", too_little, status_words(status, words));
    if (status != JSTATUS_MEMORY_ERROR ||
        memcmp(s + POSTERIOR_RUNGS * M * M, problem->prior, (size_t)M * M * sizeof *s) != 0) {
        fprintf(stderr, "co2_forecast: less than the last rung needs is no memory error, or has "
                        "changed the result\n");
        ok = false;
    }
done:
    operands_free(&operands);
    free(s);
    for (int r = 0; r < POSTERIOR_RUNGS; r++)
        ok = (!handle[r] || !jstatus_is_error(jhandle_destroy(handle[r]))) && ok;
    return (!small || !jstatus_is_error(jhandle_destroy(small))) && ok;
}
