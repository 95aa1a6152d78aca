/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Manual mode: the caller decides how much workspace there is, and the routine makes the best of
 * it.
 *
 * One triangular solve is run with exactly what it asks for, with one granule less, with next to
 * nothing, with the same bytes in memory of the caller's own (user-owned mode), and in default mode
 * again. With too little it does not fail: it takes a slower way and says so by the status "perf
 * degraded", which is not an error. The answers agree to rounding. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

enum { ORDER = 256, COLUMNS = 64 };

static double A[ORDER * ORDER], B[ORDER * COLUMNS], X[ORDER * COLUMNS];

/* A X = B; with NULL operands, for the query, as well. */
static jstatus_t solve(jhandle_t *handle, const double *a, double *x) {
    const double one = 1.0;
    return jblas_dtrsm(handle, JBLAS_LEFT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, ORDER,
                       COLUMNS, &one, a, ORDER, x, ORDER);
}

/* Solves with the workspace that the handle has now; 0 if the answer is right. */
static int run(jhandle_t *handle, const char *what, jstatus_t expected) {
    memcpy(X, B, sizeof X);
    jstatus_t status = solve(handle, A, X);
    TRY(status);

    double error = 0; /* B was made so that every element of X is 1 */
    for (int i = 0; i < ORDER * COLUMNS; i++)
        error = fmax(error, fabs(X[i] - 1));
    size_t capacity;
    TRY(jhandle_get_workspace_size(handle, &capacity));
    printf("%-28s %8zu bytes  %-24s error %.1e\n", what, capacity, jstatus_name(status), error);
    CLAIM(status == expected);
    CLAIM(error < 1e-12);
    return 0;
}

int main(void) {
    for (int j = 0; j < ORDER; j++)
        for (int i = j; i < ORDER; i++)
            A[i + j * ORDER] = i == j ? 2 : 0.7 / ORDER;
    for (int i = 0; i < ORDER * COLUMNS; i++)
        for (int j = 0; j <= i % ORDER; j++)
            B[i] += A[i % ORDER + j * ORDER];

    jhandle_t *handle;
    size_t wanted;
    TRY(jhandle_create(NULL, &handle));
    TRY(jhandle_start_size_query(handle));
    TRY(solve(handle, NULL, NULL));
    TRY(jhandle_stop_size_query(handle, &wanted));
    size_t granule = jdevice_granule_bytes(jhandle_device(handle));
    if (wanted == 0)
        puts("this processor has nothing to gain from workspace: every way is the same");
    jstatus_t with_less = wanted > granule ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS;

    /* wanted may be 0: even then nothing grows. */
    TRY(jhandle_set_fixed_workspace_size(handle, wanted));
    if (run(handle, "manual, what it asks for", JSTATUS_SUCCESS))
        return 1;
    TRY(jhandle_set_workspace_size(handle, wanted > granule ? wanted - granule : granule));
    if (run(handle, "manual, one granule less", with_less))
        return 1;
    TRY(jhandle_set_workspace_size(handle, granule));
    if (run(handle, "manual, one granule", with_less))
        return 1;

    /* A workspace must be aligned to the granule. */
    void *own = aligned_alloc(granule, wanted + granule);
    CLAIM(own != NULL);
    TRY(jhandle_set_workspace(handle, own, wanted + granule));
    if (run(handle, "user-owned", JSTATUS_SUCCESS))
        return 1;

    TRY(jhandle_set_workspace_size(handle, 0)); /* back to default mode: `own` is ours again */
    free(own);
    if (run(handle, "default", JSTATUS_SUCCESS))
        return 1;
    TRY(jhandle_destroy(handle));
    return 0;
}
