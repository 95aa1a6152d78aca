/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Query, then preallocate: how much workspace will these calls need, and can a handle have it from
 * the start?
 *
 * The program solves A X = B for a symmetric positive definite A by Cholesky factors, and measures
 * the residual with a product of matrices. Before any of the matrices exists it asks what the calls
 * would like: operands may be NULL while querying. A handle made with exactly that many bytes runs
 * each of the queried calls the best way, and never again allocates, frees or waits. The calls are
 * written once, in solve(), so what is asked is what is run. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

enum { ORDER = 300, COLUMNS = 40 };

/* The calls of the program. A and B are overwritten by the factor and the solution; R becomes A0
 * X - R. */
static jstatus_t solve(jhandle_t *handle, double *A, double *B, const double *A0, double *R,
                       int64_t *info) {
    const double one = 1.0, minus_one = -1.0;
    jstatus_t status = jlapack_dpotrf(handle, JBLAS_LOWER, ORDER, A, ORDER, info);
    if (!jstatus_is_error(status))
        status = jlapack_dpotrs(handle, JBLAS_LOWER, ORDER, COLUMNS, A, ORDER, B, ORDER);
    if (!jstatus_is_error(status))
        status = jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, ORDER, COLUMNS, ORDER,
                             &one, A0, ORDER, B, ORDER, &minus_one, R, ORDER);
    return status;
}

int main(void) {
    jhandle_t *handle;
    size_t bytes;

    TRY(jhandle_create(NULL, &handle));
    TRY(jhandle_start_size_query(handle));
    TRY(solve(handle, NULL, NULL, NULL, NULL, NULL));
    TRY(jhandle_stop_size_query(handle, &bytes));
    TRY(jhandle_destroy(handle));
    printf("potrf, potrs and gemm of order %d with %d columns want %zu bytes of workspace\n", ORDER,
           COLUMNS, bytes);

    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    /* The same as JALLOC_DEVICE_MEMORY_SIZE in the environment. */
    options.preallocate_bytes = bytes;
    TRY(jhandle_create(&options, &handle));
    jhandle_mode_t mode;
    TRY(jhandle_get_mode(handle, &mode));
    CLAIM(mode == JHANDLE_MODE_PREALLOCATE || bytes == 0);
    TRY(jhandle_clear_stats(handle)); /* from here on: what the calls do */

    /* A = I + 1 / (1 + |i - j|) is positive definite; B is anything. */
    size_t a_bytes = sizeof(double) * ORDER * ORDER, b_bytes = sizeof(double) * ORDER * COLUMNS;
    double *A = malloc(a_bytes), *A0 = malloc(a_bytes), *B = malloc(b_bytes), *R = malloc(b_bytes);
    CLAIM(A && A0 && B && R);
    for (int j = 0; j < ORDER; j++)
        for (int i = 0; i < ORDER; i++)
            A0[i + j * ORDER] = (i == j) + 1.0 / (1 + abs(i - j));
    for (int i = 0; i < ORDER * COLUMNS; i++)
        B[i] = sin(i);
    memcpy(A, A0, a_bytes);
    memcpy(R, B, b_bytes);

    int64_t info;
    jstatus_t status = solve(handle, A, B, A0, R, &info);
    TRY(status);
    CLAIM(info == 0);

    double residual = 0;
    for (int i = 0; i < ORDER * COLUMNS; i++)
        residual = fmax(residual, fabs(R[i]));
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    TRY(jhandle_get_stats(handle, &stats));
    printf("solved with %s: largest residual %.1e, %llu allocations and %llu slower ways during "
           "the calls, peak %zu bytes\n",
           jstatus_name(status), residual, (unsigned long long)stats.allocation_count,
           (unsigned long long)stats.degraded_count, stats.high_watermark_bytes);
    CLAIM(residual < 1e-12);
    CLAIM(stats.allocation_count == 0 && stats.degraded_count == 0 &&
          stats.high_watermark_bytes <= bytes);

    TRY(jhandle_destroy(handle));
    free(A);
    free(A0);
    free(B);
    free(R);
    return 0;
}
