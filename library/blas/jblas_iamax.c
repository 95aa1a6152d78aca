/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The index of the largest element. Long vectors on a GPU are searched in blocks, see reduce.c. */

#include "blas/blas.h"
#include "blas/reduce.h"

JI_CALL iamax_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_INCREMENT(incx, ji_max(0, args->n));
    const bool planned = args->n > JI_REDUCE_BLOCK && args->incx > 0 && ji_reduce_pays(handle, JI_REDUCE_IAMAX, args);
    if (ji_is_query(handle))
        return ji_answer(handle, args, planned ? ji_iamax_plan : NULL);
    JI_CHECK_POINTER("result", args->result);
    if (args->n > 0)
        JI_CHECK_POINTER("x", args->x);
    return ji_return_result(handle, planned ? ji_run_plan(handle, args, ji_iamax_plan, ji_iamax_run)
                                            : ji_run(handle, JI_IAMAX, args));
}

#define IAMAX(name, T, R, TYPE)                                                                                        \
    jstatus_t jblas_##name(jhandle_t *handle, int64_t n, const T *x, int64_t incx, int64_t *result) {                  \
        ji_vector_t args = {.head = {TYPE, 0, &ji_row_iamax}, .n = n, .x = x, .incx = incx, .result = result};         \
        return ji_enter(handle, iamax_call, &args);                                                                    \
    }
IAMAX(isamax, float, float, JDATATYPE_F32)
IAMAX(idamax, double, double, JDATATYPE_F64)
IAMAX(icamax, jcomplex_f32_t, float, JDATATYPE_F32_C)
IAMAX(izamax, jcomplex_f64_t, double, JDATATYPE_F64_C)
