/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Euclidean norms. Long vectors are summed in blocks, see reduce.c. */

#include "blas/blas.h"

JI_CALL nrm2_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_INCREMENT(incx, ji_max(0, args->n));
    args->incx = ji_abs(args->incx); /* the same elements from the other end */
    const bool planned = args->n > JI_REDUCE_BLOCK;
    if (ji_is_query(handle))
        return ji_answer(handle, args, planned ? ji_nrm2_plan : NULL);
    JI_CHECK_POINTER("result", args->result);
    if (args->n > 0)
        JI_CHECK_POINTER("x", args->x);
    return ji_return_result(handle, planned ? ji_run_plan(handle, args, ji_nrm2_plan, ji_nrm2_run)
                                            : ji_run(handle, JI_NRM2, args));
}

#define NRM2(name, T, R, TYPE)                                                                                         \
    jstatus_t jblas_##name(jhandle_t *handle, int64_t n, const T *x, int64_t incx, R *result) {                        \
        ji_vector_t args = {.head = {TYPE, 0, &ji_row_nrm2}, .n = n, .x = x, .incx = incx, .result = result};          \
        return ji_enter(handle, nrm2_call, &args);                                                                     \
    }
NRM2(snrm2, float, float, JDATATYPE_F32)
NRM2(dnrm2, double, double, JDATATYPE_F64)
NRM2(scnrm2, jcomplex_f32_t, float, JDATATYPE_F32_C)
NRM2(dznrm2, jcomplex_f64_t, double, JDATATYPE_F64_C)
