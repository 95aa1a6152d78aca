/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Four handles under one budget.
 *
 * Each handle solves triangular systems of its own size in default mode, so each wants workspace of
 * its own. One of them is guaranteed what it needs; the others share half a MiB, first come, first
 * served, and who gets too little takes a slower way with the same result: the budget bends,
 * nothing breaks. */

#include <math.h>
#include <stdlib.h>

#include "sample.h"

enum { HANDLES = 4, LARGEST = 512 };

static jstatus_t solve(jhandle_t *handle, int order, const double *L, double *B) {
    const double one = 1.0;
    return jblas_dtrsm(handle, JBLAS_LEFT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, order,
                       order, &one, L, order, B, order);
}

/* A system whose solution is 1 everywhere; the error is its distance from that. */
static jstatus_t solve_known(jhandle_t *handle, int order, double *L, double *B, double *error) {
    const double below = 0.5 / order;
    for (int j = 0; j < order; j++)
        for (int i = 0; i < order; i++) {
            L[i + j * order] = i == j ? 2 : i > j ? below : 0;
            B[i + j * order] = 2 + i * below;
        }
    jstatus_t status = solve(handle, order, L, B);
    *error = 0;
    for (int i = 0; i < order * order; i++)
        *error = fmax(*error, fabs(B[i] - 1));
    return status;
}

int main(void) {
    static const int orders[HANDLES] = {256, 512, 128, 384};
    double *L = malloc(sizeof(double) * LARGEST * LARGEST),
           *B = malloc(sizeof(double) * LARGEST * LARGEST);
    CLAIM(L && B);

    /* What the first one needs, it is guaranteed. */
    jhandle_t *handles[HANDLES];
    size_t guaranteed;
    TRY(jhandle_create(NULL, &handles[0]));
    TRY(jhandle_start_size_query(handles[0]));
    TRY(solve(handles[0], orders[0], NULL, NULL));
    TRY(jhandle_stop_size_query(handles[0], &guaranteed));
    TRY(jhandle_destroy(handles[0]));

    jquota_t *quota;
    jallocator_t *memory, *shares[HANDLES];
    const size_t budget = guaranteed + ((size_t)512 << 10);
    TRY(jquota_create(budget, &quota));
    TRY(jallocator_create_device(jdevice_host(), JMEMORY_DEVICE, &memory));
    for (int i = 0; i < HANDLES; i++) {
        jquota_share_options_t options = JQUOTA_SHARE_OPTIONS_INIT;
        options.guaranteed_bytes = i == 0 ? guaranteed : 0;
        TRY(jallocator_create_quota(memory, quota, &options, &shares[i]));
        jhandle_options_t with_share = JHANDLE_OPTIONS_INIT;
        with_share.allocator = shares[i];
        TRY(jhandle_create(&with_share, &handles[i]));
    }

    for (int i = HANDLES - 1; i >= 0; i--) { /* the one with the guarantee comes last */
        double error;
        size_t bytes;
        jstatus_t status = solve_known(handles[i], orders[i], L, B, &error);
        TRY(status);
        TRY(jhandle_get_workspace_size(handles[i], &bytes));
        printf("handle %d, order %3d: %8zu bytes of workspace, %s, error %.0e\n", i, orders[i],
               bytes, jstatus_name(status), error);
        CLAIM(error < 1e-12);
        CLAIM(i != 0 || status == JSTATUS_SUCCESS);
    }
    jquota_stats_t stats = JQUOTA_STATS_INIT;
    TRY(jquota_get_stats(quota, &stats));
    printf("budget %zu bytes, at most %zu used at once, %llu requests refused\n", stats.limit_bytes,
           stats.peak_in_use_bytes, (unsigned long long)stats.refusal_count);
    CLAIM(stats.peak_in_use_bytes <= stats.limit_bytes);

    /* More memory was found: who took a lower rung has the best one now. */
    double error;
    TRY(jquota_set_limit(quota, 4 * budget));
    CLAIM(solve_known(handles[1], orders[1], L, B, &error) == JSTATUS_SUCCESS && error < 1e-12);

    for (int i = 0; i < HANDLES; i++) {
        TRY(jhandle_destroy(handles[i]));
        TRY(jallocator_destroy(shares[i]));
    }
    TRY(jquota_destroy(quota));
    TRY(jallocator_destroy(memory));
    free(L);
    free(B);
    return 0;
}
