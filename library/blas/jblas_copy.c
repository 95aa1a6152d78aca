/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = x, and the exchange of x and y. */

#include "blas/blas.h"

JI_CALL copy_any(jhandle_t *handle, ji_vector_t *args, ji_primitive_t primitive) {
    JI_CHECK_INCREMENT(incx, ji_max(0, args->n));
    JI_CHECK_INCREMENT(incy, ji_max(0, args->n));
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;
    JI_CHECK_POINTER("x", args->x);
    JI_CHECK_POINTER("y", args->y);
    return ji_run_bytes(handle, primitive, args, sizeof *args);
}

JI_CALL copy_call(jhandle_t *handle, void *block) { return copy_any(handle, block, JI_COPY); }
JI_CALL swap_call(jhandle_t *handle, void *block) { return copy_any(handle, block, JI_SWAP); }

#define COPY_NAMED(name, t, SOURCE, T, TYPE)                                                                           \
    jstatus_t jblas_##t##name(jhandle_t *handle, int64_t n, SOURCE *x, int64_t incx, T *y, int64_t incy) {             \
        ji_vector_t args = {.head = {TYPE, 0, &ji_row_##name}, .n = n, .x = x, .incx = incx, .y = y, .incy = incy};    \
        return ji_enter(handle, name##_call, &args);                                                                   \
    }
#define COPY(t, T, R, TYPE) COPY_NAMED(copy, t, const T, T, TYPE)
#define SWAP(t, T, R, TYPE) COPY_NAMED(swap, t, T, T, TYPE)
JI_FOR_SDCZ(COPY)
JI_FOR_SDCZ(SWAP)
