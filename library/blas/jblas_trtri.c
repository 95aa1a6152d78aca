/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of trtri; how it is done stands in trtri.c. */

#include "blas/blas.h"

JI_CALL trtri_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_UPLO();
    JI_CHECK_DIAG();
    JI_CHECK_SIZE("n", n);
    JI_CHECK_LD(lda, args->n, args->n);
    JI_CHECK_WIDTH(args->n > 0, 0, 0, 0, args->n, args->lda);
    if (ji_is_query(handle))
        return ji_answer(handle, args, args->n == 0 ? NULL : ji_trtri_plan);
    JI_CHECK_POINTER("info", args->info);
    if (args->n == 0) /* info is 0 then, too */
        return ji_return_result(handle, ji_run(handle, JI_SET_INFO, args));
    JI_CHECK_POINTER("a", args->a);
    return ji_return_result(handle, ji_run_plan(handle, args, ji_trtri_plan, ji_trtri_run));
}

#define TRTRI(t, T, R, TYPE)                                                                                           \
    jstatus_t jblas_##t##trtri(jhandle_t *handle, jblas_fill_t uplo, jblas_diagonal_t diag, int64_t n, T *a,           \
                               int64_t lda, int64_t *info) {                                                           \
        ji_matmat_t args = {                                                                                           \
            .head = {TYPE, 0, &ji_row_trtri}, .uplo = uplo, .diag = diag, .n = n, .a = a, .lda = lda, .info = info};   \
        return ji_enter(handle, trtri_call, &args);                                                                    \
    }
JI_FOR_SDCZ(TRTRI)
