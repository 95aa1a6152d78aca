/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Sums of absolute values. Long vectors are summed in blocks, see reduce.c. */

#include "blas/blas.h"

JI_CALL asum_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_INCREMENT(incx, ji_max(0, args->n));
    const bool planned = args->n > JI_REDUCE_BLOCK && args->incx > 0;
    if (ji_is_query(handle))
        return ji_answer(handle, args, planned ? ji_asum_plan : NULL);
    JI_CHECK_POINTER("result", args->result);
    if (args->n > 0)
        JI_CHECK_POINTER("x", args->x);
    return ji_return_result(handle, planned ? ji_run_plan(handle, args, ji_asum_plan, ji_asum_run)
                                            : ji_run(handle, JI_ASUM, args));
}

#define ASUM(name, T, R, TYPE)                                                                                         \
    jstatus_t jblas_##name(jhandle_t *handle, int64_t n, const T *x, int64_t incx, R *result) {                        \
        ji_vector_t args = {.head = {TYPE, 0, &ji_row_asum}, .n = n, .x = x, .incx = incx, .result = result};          \
        return ji_enter(handle, asum_call, &args);                                                                     \
    }
ASUM(sasum, float, float, JDATATYPE_F32)
ASUM(dasum, double, double, JDATATYPE_F64)
ASUM(scasum, jcomplex_f32_t, float, JDATATYPE_F32_C)
ASUM(dzasum, jcomplex_f64_t, double, JDATATYPE_F64_C)
