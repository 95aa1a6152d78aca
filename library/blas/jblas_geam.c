/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = alpha op(A) + beta op(B). */

#include "blas/blas.h"

JI_CALL geam_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    const bool a_plain = args->transa == JBLAS_NO_TRANSPOSE, b_plain = args->transb == JBLAS_NO_TRANSPOSE;
    JI_CHECK_OPERATION("transa", transa);
    JI_CHECK_OPERATION("transb", transb);
    JI_CHECK_SIZE("m", m);
    JI_CHECK_SIZE("n", n);
    JI_CHECK_LD(lda, a_plain ? args->m : args->n, a_plain ? args->n : args->m);
    JI_CHECK_LD(ldb, b_plain ? args->m : args->n, b_plain ? args->n : args->m);
    JI_CHECK_LD(ldc, args->m, args->n);
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;
    JI_TAKE_ALPHA_BETA(args->head.type);
    if (!ji_scalar_is(&args->alpha, args->head.type, 0))
        JI_CHECK_POINTER("a", args->a);
    if (!ji_scalar_is(&args->beta, args->head.type, 0))
        JI_CHECK_POINTER("b", args->b);
    JI_CHECK_POINTER("c", args->c);
    return ji_run(handle, JI_GEAM, args);
}

#define GEAM(t, T, R, TYPE)                                                                                            \
    jstatus_t jblas_##t##geam(jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m,        \
                              int64_t n, const T *alpha, const T *a, int64_t lda, const T *beta, const T *b,           \
                              int64_t ldb, T *c, int64_t ldc) {                                                        \
        ji_matmat_t args = {.head = {TYPE, 0, &ji_row_geam},                                                           \
                            .transa = transa,                                                                          \
                            .transb = transb,                                                                          \
                            .m = m,                                                                                    \
                            .n = n,                                                                                    \
                            .alpha = {.pointer = alpha},                                                               \
                            .a = a,                                                                                    \
                            .lda = lda,                                                                                \
                            .b = b,                                                                                    \
                            .ldb = ldb,                                                                                \
                            .beta = {.pointer = beta},                                                                 \
                            .c = c,                                                                                    \
                            .ldc = ldc};                                                                               \
        return ji_enter(handle, geam_call, &args);                                                                     \
    }
JI_FOR_SDCZ(GEAM)
