/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Inner products. Long vectors are summed in blocks, see reduce.c. */

#include "blas/blas.h"

/* Both products have this shape; the primitive and the plan differ. */
JI_CALL dot_any(jhandle_t *handle, ji_vector_t *args, ji_primitive_t primitive, ji_plan_function_t plan,
                ji_run_function_t run) {
    JI_CHECK_INCREMENT(incx, ji_max(0, args->n));
    JI_CHECK_INCREMENT(incy, ji_max(0, args->n));
    const bool planned = args->n > JI_REDUCE_BLOCK;
    if (ji_is_query(handle))
        return ji_answer(handle, args, planned ? plan : NULL);
    JI_CHECK_POINTER("result", args->result);
    if (args->n > 0) {
        JI_CHECK_POINTER("x", args->x);
        JI_CHECK_POINTER("y", args->y);
    }
    return ji_return_result(handle, planned ? ji_run_plan(handle, args, plan, run)
                                            : ji_run_bytes(handle, primitive, args, sizeof *args));
}

JI_CALL dot_call(jhandle_t *handle, void *block) { return dot_any(handle, block, JI_DOT, ji_dot_plan, ji_dot_run); }

JI_CALL dotc_call(jhandle_t *handle, void *block) { return dot_any(handle, block, JI_DOTC, ji_dotc_plan, ji_dotc_run); }

#define DOT_NAMED(name, call, t, T, TYPE)                                                                              \
    jstatus_t jblas_##t##name(jhandle_t *handle, int64_t n, const T *x, int64_t incx, const T *y, int64_t incy,        \
                              T *result) {                                                                             \
        ji_vector_t args = {.head = {TYPE, 0, &ji_row_##name},                                                         \
                            .n = n,                                                                                    \
                            .x = x,                                                                                    \
                            .incx = incx,                                                                              \
                            .y = ji_unconst(y),                                                                        \
                            .incy = incy,                                                                              \
                            .result = result};                                                                         \
        return ji_enter(handle, call, &args);                                                                          \
    }
#define DOT(t, T, R, TYPE) DOT_NAMED(dot, dot_call, t, T, TYPE)
#define DOTU(t, T, R, TYPE) DOT_NAMED(dotu, dot_call, t, T, TYPE)
#define DOTC(t, T, R, TYPE) DOT_NAMED(dotc, dotc_call, t, T, TYPE)
JI_FOR_SD(DOT)
JI_FOR_CZ(DOTU)
JI_FOR_CZ(DOTC)
