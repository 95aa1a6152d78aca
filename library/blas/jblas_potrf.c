/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of potrf; how it is done stands in potrf.c. */

#include "blas/blas.h"

JI_CALL potrf_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_UPLO();
    JI_CHECK_SIZE("n", n);
    JI_CHECK_LD(lda, args->n, args->n);
    JI_CHECK_WIDTH(args->n > 0, 0, 0, 0, args->n, args->lda);
    if (ji_is_query(handle))
        return ji_answer(handle, args, args->n == 0 ? NULL : ji_potrf_plan);
    JI_CHECK_POINTER("info", args->info);
    if (args->n == 0) /* info is 0 then, too */
        return ji_return_result(handle, ji_run(handle, JI_SET_INFO, args));
    JI_CHECK_POINTER("a", args->a);
    return ji_return_result(handle, ji_run_plan(handle, args, ji_potrf_plan, ji_potrf_run));
}

#define POTRF(t, T, R, TYPE)                                                                                           \
    jstatus_t jblas_##t##potrf(jhandle_t *handle, jblas_fill_t uplo, int64_t n, T *a, int64_t lda, int64_t *info) {    \
        ji_matmat_t args = {.head = {TYPE, 0, &ji_row_potrf}, .uplo = uplo, .n = n, .a = a, .lda = lda, .info = info}; \
        return ji_enter(handle, potrf_call, &args);                                                                    \
    }
JI_FOR_SDCZ(POTRF)
