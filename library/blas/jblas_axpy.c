/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = alpha x + y. */

#include "blas/blas.h"

JI_CALL axpy_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_INCREMENT(incx, ji_max(0, args->n));
    JI_CHECK_INCREMENT(incy, ji_max(0, args->n));
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;
    JI_CHECK_POINTER("alpha", args->alpha.pointer);
    ji_take(handle, &args->alpha, args->head.type);
    if (!ji_scalar_is(&args->alpha, args->head.type, 0))
        JI_CHECK_POINTER("x", args->x);
    JI_CHECK_POINTER("y", args->y);
    return ji_run(handle, JI_AXPY, args);
}

#define AXPY(t, T, R, TYPE)                                                                                            \
    jstatus_t jblas_##t##axpy(jhandle_t *handle, int64_t n, const T *alpha, const T *x, int64_t incx, T *y,            \
                              int64_t incy) {                                                                          \
        ji_vector_t args = {.head = {TYPE, 0, &ji_row_axpy},                                                           \
                            .alpha = {.pointer = alpha},                                                               \
                            .n = n,                                                                                    \
                            .x = x,                                                                                    \
                            .incx = incx,                                                                              \
                            .y = y,                                                                                    \
                            .incy = incy};                                                                             \
        return ji_enter(handle, axpy_call, &args);                                                                     \
    }
JI_FOR_SDCZ(AXPY)
