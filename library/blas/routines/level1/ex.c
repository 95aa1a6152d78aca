/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Vectors whose types are arguments: axpy_ex, scal_ex, rot_ex, dot_ex, dotc_ex, nrm2_ex, asum_ex.
 * If all types are one, it is what the routine without _ex runs; otherwise a primitive that
 * converts as it reads. On a GPU long vectors are summed in blocks, either way (reduce.c). */

#include "blas/routine/entry.h"

static ji_primitive_t primitive_of(const ji_vector_t *args, ji_primitive_t plain,
                                   ji_primitive_t ex) {
    const jdatatype_t type = args->head.type;
    return args->x_type == type && args->y_type == type ? plain : ex;
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
    return ji_run(handle, primitive_of(args, JI_AXPY, JI_AXPY_EX), args);
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
    return ji_run(handle, primitive_of(args, JI_SCAL, JI_SCAL_EX), args);
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
    return ji_run(handle, primitive_of(args, is_rot ? JI_ROT : JI_ROT_EX, JI_ROT_EX), args);
}

/* ---- Sums ---- */

/* A sum's primitives, and its plan where it has one. */
typedef struct ex_sum {
    ji_primitive_t plain, ex;
    ji_plan_function_t plan;
    ji_run_function_t run, run_ex;
} ex_sum_t;

static const ex_sum_t ex_dot = {JI_DOT, JI_DOT_EX, ji_dot_plan, ji_dot_run, ji_dot_ex_run},
                      ex_dotc = {JI_DOTC, JI_DOTC_EX, ji_dotc_plan, ji_dotc_run, ji_dotc_ex_run},
                      ex_nrm2 = {JI_NRM2, JI_NRM2_EX, ji_nrm2_plan, ji_nrm2_run, ji_nrm2_ex_run},
                      ex_asum = {JI_ASUM, JI_ASUM_EX, ji_asum_plan, ji_asum_run, ji_asum_ex_run};

/* As asum, asum_ex knows its result where the increment is below 1. */
static bool ex_is_planned(const jhandle_t *handle, const ji_vector_t *args, const ex_sum_t *sum) {
    return (sum != &ex_asum || args->incx > 0) && ji_reduces_in_blocks(handle, args->n);
}

static jstatus_t ex_answer_sum(jhandle_t *handle, const ji_vector_t *args, const ex_sum_t *sum) {
    return ji_answer(handle, args, ex_is_planned(handle, args, sum) ? sum->plan : NULL);
}

static jstatus_t ex_run_sum(jhandle_t *handle, ji_vector_t *args, const ex_sum_t *sum) {
    const ji_primitive_t primitive = primitive_of(args, sum->plain, sum->ex);
    return ji_return_result(
        handle,
        ex_is_planned(handle, args, sum)
            ? ji_run_plan(handle, args, sum->plan, primitive == sum->plain ? sum->run : sum->run_ex)
            : ji_run(handle, primitive, args));
}

JI_CALL dot_ex_any(jhandle_t *handle, ji_vector_t *args, const ex_sum_t *sum) {
    JI_CHECK_TYPES(JI_TYPES_FLOAT)
    JI_CHECK_SIZES(dot_ex)
    if (ji_is_query(handle))
        return ex_answer_sum(handle, args, sum);

    JI_TAKE_SCALARS(dot_ex)
    if (args->n > 0) {
        JI_CHECK_OPERANDS(dot_ex)
    }
    return ex_run_sum(handle, args, sum);
}

JI_CALL dot_ex_call(jhandle_t *handle, void *block) { return dot_ex_any(handle, block, &ex_dot); }
JI_CALL dotc_ex_call(jhandle_t *handle, void *block) {
    const bool conjugates = ji_is_complex(((const ji_vector_t *)block)->head.type);
    return dot_ex_any(handle, block, conjugates ? &ex_dotc : &ex_dot);
}

JI_CALL norm_ex_any(jhandle_t *handle, ji_vector_t *args, const ex_sum_t *sum) {
    JI_CHECK_TYPES(JI_TYPES_FLOAT)
    JI_CHECK_SIZES(nrm2_ex)
    if (sum == &ex_nrm2)
        args->incx = ji_abs(args->incx); /* the same elements from the other end */
    if (ji_is_query(handle))
        return ex_answer_sum(handle, args, sum);

    JI_TAKE_SCALARS(nrm2_ex)
    if (args->n > 0) {
        JI_CHECK_OPERANDS(nrm2_ex)
    }
    args->y_type = args->x_type;
    return ex_run_sum(handle, args, sum);
}

JI_CALL nrm2_ex_call(jhandle_t *handle, void *block) {
    return norm_ex_any(handle, block, &ex_nrm2);
}
JI_CALL asum_ex_call(jhandle_t *handle, void *block) {
    return norm_ex_any(handle, block, &ex_asum);
}

JI_ENTRIES_OF_TYPES(axpy_ex, vector)
JI_ENTRIES_OF_TYPES(scal_ex, vector)
JI_ENTRIES_OF_TYPES(rot_ex, vector)
JI_ENTRIES_OF_TYPES(dot_ex, vector)
JI_ENTRIES_OF_TYPES(dotc_ex, vector)
JI_ENTRIES_OF_TYPES(nrm2_ex, vector)
JI_ENTRIES_OF_TYPES(asum_ex, vector)
