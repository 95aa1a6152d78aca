/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = alpha op(A) x + beta y. */

#include "blas/blas.h"

JI_CALL gemv_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    const bool plain = args->trans == JBLAS_NO_TRANSPOSE;
    JI_CHECK_OPERATION("trans", trans);
    JI_CHECK_SIZE("m", m);
    JI_CHECK_SIZE("n", n);
    JI_CHECK_LD(lda, args->m, args->n);
    JI_CHECK_INCREMENT_NOT_0(incx, plain ? args->n : args->m);
    JI_CHECK_INCREMENT_NOT_0(incy, plain ? args->m : args->n);
    JI_CHECK_WIDTH(args->m > 0 && args->n > 0, args->m, args->n, args->lda, ji_abs(args->incx), ji_abs(args->incy));
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;
    JI_TAKE_ALPHA_BETA(args->head.type);
    if (!ji_scalar_is(&args->alpha, args->head.type, 0)) {
        JI_CHECK_POINTER("a", args->a);
        JI_CHECK_POINTER("x", args->x);
    }
    JI_CHECK_POINTER("y", args->y);
    return ji_run(handle, JI_GEMV, args);
}

#define GEMV(t, T, R, TYPE)                                                                                            \
    jstatus_t jblas_##t##gemv(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n, const T *alpha,        \
                              const T *a, int64_t lda, const T *x, int64_t incx, const T *beta, T *y, int64_t incy) {  \
        ji_matvec_t args = {.head = {TYPE, 0, &ji_row_gemv},                                                           \
                            .trans = trans,                                                                            \
                            .m = m,                                                                                    \
                            .n = n,                                                                                    \
                            .alpha = {.pointer = alpha},                                                               \
                            .a = a,                                                                                    \
                            .lda = lda,                                                                                \
                            .x = x,                                                                                    \
                            .incx = incx,                                                                              \
                            .beta = {.pointer = beta},                                                                 \
                            .y = y,                                                                                    \
                            .incy = incy};                                                                             \
        return ji_enter(handle, gemv_call, &args);                                                                     \
    }
JI_FOR_SDCZ(GEMV)
