/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The covariance of what will be observed, S = K** - K*' K^-1 K*: a routine of the program's own,
 * and what lent memory buys.
 *
 * K = L L' is factored and K* is to stay as it is, so what is solved for has to lie somewhere.
 * Lent n x 120 numbers, the routine solves for all months at once, V = L^-1 K*, and S - V'V is
 * left to compute: one solve by L, with many right-hand sides, from which a BLAS lives. Lent less
 * it takes a part of the months at a time. Of two months that are never in memory together V'V
 * cannot be formed, so each part is solved by L' too, W = K^-1 K*, and multiplied with all of K*:
 * twice the work, on right-hand sides so few that every solve waits for L to come from memory,
 * and in jblas's own lower rungs, since nothing is left to lend it. The results are the same but
 * for rounding.
 *
 * Written as jblas's routines are: the plan says what each way needs, the size query and the
 * borrow both read it. What jblas wants beside rung 0, while the borrow is held, was asked
 * before: a query cannot be asked within a query. */

#include "co2_forecast.h"

enum { M = FORECAST_MONTHS };

/* The rungs, best first. */
static const struct {
    const char *name, *meaning;
    int months; /* at a time */
} ways[POSTERIOR_RUNGS] = {{"decade", "all ten years at once", M},
                           {"year", "a year at a time", 12},
                           {"month", "a month at a time", 1}};

const char *posterior_meaning(int rung) { return ways[rung].meaning; }

/* Takes what the months from `first` on explain off S; `part` holds their columns of K*, and is
 * overwritten. */
static jstatus_t take_off(jhandle_t *h, int64_t n, int64_t first, int64_t months,
                          const double *factor, const double *cross, double *part, double *s) {
    const double one = 1, minus_one = -1;
    jstatus_t status = JSTATUS_SUCCESS;
    if (months == M) {
        CALL(jblas_dtrsm(h, JBLAS_LEFT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, n, M, &one,
                         factor, n, part, n));
        CALL(jblas_dsyrk(h, JBLAS_LOWER, JBLAS_TRANSPOSE, M, n, &minus_one, part, n, &one, s, M));
        return status;
    }
    CALL(jlapack_dpotrs(h, JBLAS_LOWER, n, months, factor, n, part, n));
    CALL(jblas_dgemm(h, JBLAS_TRANSPOSE, JBLAS_NO_TRANSPOSE, M - first, months, n, &minus_one,
                     cross + first * n, n, part, n, &one, s + first * (M + 1), M));
    return status;
}

jstatus_t posterior_query(jhandle_t *handle, int64_t n, size_t *callee_bytes) {
    jstatus_t status = jhandle_start_size_query(handle);
    if (jstatus_is_error(status))
        return status;
    status = take_off(handle, n, 0, M, NULL, NULL, NULL, NULL);
    jstatus_t stopped = jhandle_stop_size_query(handle, callee_bytes);
    return jstatus_is_error(status) ? status : stopped;
}

/* The same products on each rung, but the factor is read anew for each part. */
static jprice_t posterior_price(int64_t n, int months) {
    const double unknowns = (double)n, parts = (double)M / months;
    return (jprice_t){.flops = unknowns * unknowns * M + unknowns * M * M,
                      .moved_bytes =
                          sizeof(double) * (parts * unknowns * unknowns / 2 + 4 * unknowns * M),
                      .launches = 2 * parts};
}

/* The rungs from `best` on. Each sums in an order of its own. */
static jplan_t posterior_plan(const jhandle_t *handle, int64_t n, size_t callee_bytes, int best) {
    jplan_t plan;
    jplan_init(&plan, handle, "posterior", "mn", (int64_t[]){M, n});
    for (int rung = best; rung < POSTERIOR_RUNGS; rung++) {
        const size_t part_bytes = jalloc_matrix_bytes(JDATATYPE_F64, n, ways[rung].months);
        const jprice_t price = posterior_price(n, ways[rung].months);
        jplan_add(&plan, ways[rung].name, (uint32_t)rung, rung == 0 ? callee_bytes : 0, 1,
                  &part_bytes);
        if (jhandle_is_size_query(handle))
            jplan_price(&plan, &price);
    }
    return plan;
}

size_t posterior_bytes(const jhandle_t *handle, int64_t n, size_t callee_bytes, int rung) {
    const jplan_t plan = posterior_plan(handle, n, callee_bytes, rung);
    return jplan_bytes(&plan, handle);
}

jstatus_t posterior_covariance(jhandle_t *handle, int64_t n, size_t callee_bytes,
                               const double *factor, const double *cross, double *s) {
    const jplan_t plan = posterior_plan(handle, n, callee_bytes, 0);
    JALLOC_ANSWER_SIZE_QUERY(handle, &plan);

    JALLOC_BORROW_PLAN(ws, handle, &plan);
    if (!ws.ok)
        return ws.status;
    jstatus_t status = ws.status;
    jstream_t *stream;
    CALL(jhandle_get_stream(handle, &stream));
    const int months = ways[ws.rung].months;
    for (int64_t first = 0; first < M; first += months) {
        CALL(jdevice_copy(jhandle_device(handle), stream, ws.ptr[0], cross + first * n,
                          (size_t)(n * months) * sizeof(double)));
        CALL(take_off(handle, n, first, months, factor, cross, ws.ptr[0], s));
    }
    return status;
}
