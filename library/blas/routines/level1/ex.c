/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Vectors whose types are arguments: axpy_ex, scal_ex, rot_ex, dot_ex, dotc_ex, nrm2_ex, asum_ex.
 * If all types are one, it is what the routine without _ex runs; otherwise a primitive of the
 * host's that converts a piece after the other. */

#include "blas/routine/entry.h"

static ji_primitive_t primitive_of(const jhandle_t *handle, const ji_vector_t *args,
                                   ji_primitive_t plain, ji_primitive_t ex) {
    const jdatatype_t type = args->head.type;
    return handle->device->kind == JDEVICE_HOST && args->x_type == type && args->y_type == type
               ? plain
               : ex;
}

/* ---- Element by element ---- */

JI_CALL axpy_ex_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_TYPES(JI_TYPES_FLOAT)
    JI_CHECK_SIZES(axpy_ex)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(axpy_ex)
    JI_CHECK_OPERANDS(axpy_ex)
    return ji_run(handle, primitive_of(handle, args, JI_AXPY, JI_AXPY_EX), args);
}

JI_CALL scal_ex_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_TYPES(JI_TYPES_FLOAT)
    JI_CHECK_SIZES(scal_ex)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(scal_ex)
    JI_CHECK_OPERANDS(scal_ex)
    args->y_type = args->x_type;
    return ji_run(handle, primitive_of(handle, args, JI_SCAL, JI_SCAL_EX), args);
}

JI_CALL rot_ex_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_TYPES(JI_TYPES_FLOAT)
    JI_CHECK_SIZES(rot_ex)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(rot_ex)
    JI_CHECK_OPERANDS(rot_ex)
    const bool is_rot = args->cs_type == ji_real_of(args->head.type);
    return ji_run(handle, primitive_of(handle, args, is_rot ? JI_ROT : JI_ROT_EX, JI_ROT_EX), args);
}

/* ---- Sums ---- */

JI_CALL dot_ex_any(jhandle_t *handle, ji_vector_t *args, ji_primitive_t plain, ji_primitive_t ex) {
    JI_CHECK_TYPES(JI_TYPES_FLOAT)
    JI_CHECK_SIZES(dot_ex)
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);

    JI_TAKE_SCALARS(dot_ex)
    if (args->n > 0) {
        JI_CHECK_OPERANDS(dot_ex)
    }
    return ji_return_result(handle, ji_run(handle, primitive_of(handle, args, plain, ex), args));
}

JI_CALL dot_ex_call(jhandle_t *handle, void *block) {
    return dot_ex_any(handle, block, JI_DOT, JI_DOT_EX);
}
JI_CALL dotc_ex_call(jhandle_t *handle, void *block) {
    const bool conjugates = ji_is_complex(((const ji_vector_t *)block)->head.type);
    return dot_ex_any(handle, block, conjugates ? JI_DOTC : JI_DOT,
                      conjugates ? JI_DOTC_EX : JI_DOT_EX);
}

JI_CALL norm_ex_any(jhandle_t *handle, ji_vector_t *args, ji_primitive_t plain, ji_primitive_t ex) {
    JI_CHECK_TYPES(JI_TYPES_FLOAT)
    JI_CHECK_SIZES(nrm2_ex)
    if (plain == JI_NRM2)
        args->incx = ji_abs(args->incx); /* the same elements from the other end */
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);

    JI_TAKE_SCALARS(nrm2_ex)
    if (args->n > 0) {
        JI_CHECK_OPERANDS(nrm2_ex)
    }
    args->y_type = args->x_type;
    return ji_return_result(handle, ji_run(handle, primitive_of(handle, args, plain, ex), args));
}

JI_CALL nrm2_ex_call(jhandle_t *handle, void *block) {
    return norm_ex_any(handle, block, JI_NRM2, JI_NRM2_EX);
}
JI_CALL asum_ex_call(jhandle_t *handle, void *block) {
    return norm_ex_any(handle, block, JI_ASUM, JI_ASUM_EX);
}

JI_ENTRIES_OF_TYPES(axpy_ex, vector)
JI_ENTRIES_OF_TYPES(scal_ex, vector)
JI_ENTRIES_OF_TYPES(rot_ex, vector)
JI_ENTRIES_OF_TYPES(dot_ex, vector)
JI_ENTRIES_OF_TYPES(dotc_ex, vector)
JI_ENTRIES_OF_TYPES(nrm2_ex, vector)
JI_ENTRIES_OF_TYPES(asum_ex, vector)
