/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = x. */

#include "blas/blas.h"

static jstatus_t copy_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_INCREMENT(incx, ji_max(0, args->n));
    JI_CHECK_INCREMENT(incy, ji_max(0, args->n));
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;
    JI_CHECK_POINTER("x", args->x);
    JI_CHECK_POINTER("y", args->y);
    return ji_run(handle, JI_COPY, args);
}

#define COPY(t, T, R, TYPE)                                                                                            \
    jstatus_t jblas_##t##copy(jhandle_t *handle, int64_t n, const T *x, int64_t incx, T *y, int64_t incy) {            \
        ji_vector_t args = {.head = {TYPE, 0, &ji_row_copy}, .n = n, .x = x, .incx = incx, .y = y, .incy = incy};      \
        return ji_enter(handle, copy_call, &args);                                                                     \
    }
JI_FOR_SDCZ(COPY)
