/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Four handles under one budget, planned.
 *
 * budget_four_handles.c lets handles take what is there, first come, first served. Here the calls
 * of all four are recorded before, as a program: three handles are at work at once, the fourth
 * after them. For a budget the program chooses a rung for each call, so that the predicted time of
 * all is least; what the first phase used, the second has again. Then the handles follow it, what
 * was announced comes true, and a call that nobody planned is refused where it would have to be
 * slower than it could be. */

#include <math.h>
#include <stdlib.h>

#include "sample.h"

enum { HANDLES = 4, LARGEST = 640 };
static const int orders[HANDLES] = {512, 640, 320, 576};

/* Two calls: C = A A, and the Cholesky factor of A. While recorded, operands may be NULL. */
static jstatus_t work(jhandle_t *handle, int n, double *A, double *C) {
    const double one = 1, zero = 0;
    int64_t info;
    jstatus_t status = jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, n, n, n, &one, A,
                                   n, A, n, &zero, C, n);
    const jstatus_t factored =
        jstatus_is_error(status) ? status : jlapack_dpotrf(handle, JBLAS_LOWER, n, A, n, &info);
    return factored == JSTATUS_SUCCESS ? status : factored;
}

/* A = I + u u' with u of ones: A A = I + (n + 2) u u', and the factor begins with sqrt(2). */
static jstatus_t work_known(jhandle_t *handle, int n, double *A, double *C, double *error) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            A[i + j * n] = i == j ? 2 : 1;
    const jstatus_t status = work(handle, n, A, C);
    *error = fmax(fabs(C[0] - (n + 3)), fabs(C[1] - (n + 2)));
    *error = fmax(*error, fabs(A[0] - sqrt(2)));
    return status;
}

int main(void) {
    double *A = malloc(sizeof(double) * LARGEST * LARGEST),
           *C = malloc(sizeof(double) * LARGEST * LARGEST);
    CLAIM(A && C);

    jprogram_t *program;
    jhandle_t *handles[HANDLES];
    TRY(jprogram_create(&program));
    for (int i = 0; i < HANDLES; i++) {
        TRY(jhandle_create(NULL, &handles[i]));
        if (i == HANDLES - 1)
            TRY(jprogram_begin_phase(program)); /* after the others */
        TRY(jprogram_record(program, handles[i]));
        TRY(work(handles[i], orders[i], NULL, NULL));
        TRY(jprogram_stop(program, handles[i]));
    }

    jrequirement_t *requirement;
    jrequirement_info_t needs = JREQUIREMENT_INFO_INIT;
    TRY(jprogram_get_requirement(program, &requirement));
    TRY(jrequirement_get_info(requirement, &needs));
    TRY(jrequirement_destroy(requirement));
    printf("at least %zu bytes, at best %zu, in %zu steps\n", needs.minimal_bytes,
           needs.optimal_bytes, needs.step_count);

    for (int quarters = 4; quarters > 0; quarters--) {
        const size_t budget =
            needs.minimal_bytes + (needs.optimal_bytes - needs.minimal_bytes) / 4 * quarters;
        jprogram_info_t chosen = JPROGRAM_INFO_INIT;
        TRY(jprogram_choose(program, budget));
        TRY(jprogram_get_info(program, &chosen));
        printf("with %8zu bytes: %7.3f ms predicted, %.2f of the best, %llu calls degraded\n",
               budget, chosen.seconds * 1e3, chosen.seconds / chosen.best_seconds,
               (unsigned long long)chosen.degraded_count);
        CLAIM(chosen.size_bytes <= budget);
        for (size_t i = 0; i < chosen.call_count; i++) {
            jprogram_call_t call = JPROGRAM_CALL_INIT;
            size_t share;
            TRY(jprogram_get_call(program, i, &call));
            TRY(jprogram_get_share(program, call.phase, call.handle, &share));
            if (call.degraded)
                printf("    %s takes \"%s\" in a share of %zu bytes: %.2f of its best time\n",
                       call.call, call.rung, share, call.seconds / call.best_seconds);
            CLAIM(call.size_bytes <= share);
        }

        for (int i = 0; i < HANDLES; i++) {
            double error;
            size_t held = 0, bytes;
            if (i == 0 || i == HANDLES - 1)
                TRY(jprogram_enter(program, i == 0 ? 0 : 1));
            TRY(jhandle_set_degradation(handles[i], JDEGRADATION_ANNOUNCED));
            TRY(work_known(handles[i], orders[i], A, C, &error));
            CLAIM(error < 1e-9);
            for (int j = 0; j < HANDLES; j++) {
                TRY(jhandle_get_workspace_size(handles[j], &bytes));
                held += bytes;
            }
            CLAIM(held <= budget); /* never more than the budget, all together */
        }
    }

    /* Nobody planned a larger one, and the share of the budget is too little for its best rung. */
    const double one = 1, zero = 0;
    const jstatus_t status =
        jblas_dgemm(handles[3], JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, LARGEST, LARGEST, LARGEST,
                    &one, A, LARGEST, A, LARGEST, &zero, C, LARGEST);
    printf("unannounced: %s\n", jhandle_last_message(handles[3]));
    CLAIM(status == JSTATUS_MEMORY_ERROR);

    TRY(jprogram_destroy(program)); /* the handles choose by themselves again */
    for (int i = 0; i < HANDLES; i++)
        TRY(jhandle_destroy(handles[i]));
    free(A);
    free(C);
    return 0;
}
