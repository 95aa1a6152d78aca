/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* x = alpha x, with alpha of the type of x, or real for a complex x. */

#include "blas/blas.h"

JI_CALL scal_any(jhandle_t *handle, ji_vector_t *args, ji_primitive_t primitive, jdatatype_t alpha_type) {
    JI_CHECK_INCREMENT(incx, ji_max(0, args->n));
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;
    JI_CHECK_POINTER("alpha", args->alpha.pointer);
    JI_CHECK_POINTER("x", args->x);
    ji_take(handle, &args->alpha, alpha_type);
    return ji_run_bytes(handle, primitive, args, sizeof *args);
}

JI_CALL scal_call(jhandle_t *handle, void *block) {
    return scal_any(handle, block, JI_SCAL, ((ji_vector_t *)block)->head.type);
}

JI_CALL rscal_call(jhandle_t *handle, void *block) {
    return scal_any(handle, block, JI_RSCAL, ji_real_of(((ji_vector_t *)block)->head.type));
}

#define SCAL(t, T, R, TYPE)                                                                                            \
    jstatus_t jblas_##t##scal(jhandle_t *handle, int64_t n, const T *alpha, T *x, int64_t incx) {                      \
        ji_vector_t args = {                                                                                           \
            .head = {TYPE, 0, &ji_row_scal}, .alpha = {.pointer = alpha}, .n = n, .x = x, .incx = incx};               \
        return ji_enter(handle, scal_call, &args);                                                                     \
    }
JI_FOR_SDCZ(SCAL)
#define RSCAL(name, T, R, TYPE)                                                                                        \
    jstatus_t jblas_##name(jhandle_t *handle, int64_t n, const R *alpha, T *x, int64_t incx) {                         \
        ji_vector_t args = {                                                                                           \
            .head = {TYPE, 0, &ji_row_##name}, .alpha = {.pointer = alpha}, .n = n, .x = x, .incx = incx};             \
        return ji_enter(handle, rscal_call, &args);                                                                    \
    }
RSCAL(csscal, jcomplex_f32_t, float, JDATATYPE_F32_C)
RSCAL(zdscal, jcomplex_f64_t, double, JDATATYPE_F64_C)
