/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A = alpha x x^T + A on one triangle; for complex types x x^H with a real alpha. */

#include "blas/blas.h"

JI_CALL syr_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    const jdatatype_t alpha_type = ji_real_of(args->head.type);
    JI_CHECK_UPLO();
    JI_CHECK_SIZE("n", n);
    JI_CHECK_INCREMENT_NOT_0(incx, args->n);
    JI_CHECK_LD(lda, args->n, args->n);
    JI_CHECK_WIDTH(args->n > 0, 0, 0, args->n, args->lda, ji_abs(args->incx));
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;
    JI_CHECK_POINTER("alpha", args->alpha.pointer);
    ji_take(handle, &args->alpha, alpha_type);
    if (!ji_scalar_is(&args->alpha, alpha_type, 0))
        JI_CHECK_POINTER("x", args->x);
    JI_CHECK_POINTER("a", args->a);
    return ji_run(handle, JI_SYR, args);
}

#define SYR(t, T, R, TYPE)                                                                                             \
    jstatus_t jblas_##t##syr(jhandle_t *handle, jblas_fill_t uplo, int64_t n, const T *alpha, const T *x,              \
                             int64_t incx, T *a, int64_t lda) {                                                        \
        ji_matvec_t args = {.head = {TYPE, 0, &ji_row_syr},                                                            \
                            .uplo = uplo,                                                                              \
                            .n = n,                                                                                    \
                            .alpha = {.pointer = alpha},                                                               \
                            .x = x,                                                                                    \
                            .incx = incx,                                                                              \
                            .a = a,                                                                                    \
                            .lda = lda};                                                                               \
        return ji_enter(handle, syr_call, &args);                                                                      \
    }
JI_FOR_SD(SYR)
#define HER(t, T, R, TYPE)                                                                                             \
    jstatus_t jblas_##t##her(jhandle_t *handle, jblas_fill_t uplo, int64_t n, const R *alpha, const T *x,              \
                             int64_t incx, T *a, int64_t lda) {                                                        \
        ji_matvec_t args = {.head = {TYPE, 0, &ji_row_her},                                                            \
                            .uplo = uplo,                                                                              \
                            .n = n,                                                                                    \
                            .alpha = {.pointer = alpha},                                                               \
                            .x = x,                                                                                    \
                            .incx = incx,                                                                              \
                            .a = a,                                                                                    \
                            .lda = lda};                                                                               \
        return ji_enter(handle, syr_call, &args);                                                                      \
    }
JI_FOR_CZ(HER)
