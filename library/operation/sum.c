/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Operations that bring elements to another address: copy, add, transpose. */

#include "operation/operation.h"

/* ---- Copy ---- */

/* A buffer onto itself: nothing is to be done. */
static bool copies_itself(const ji_operation_t *op) {
    return ji_buffer_overlap(op->operands[0].buffer, op->operands[1].buffer) == JI_OVERLAP_SAME;
}

static jstatus_t copy_prepare(ji_operation_t *op) {
    jbuffer_t *source = ji_operand_buffer(&op->operands[0]), *destination = op->operands[1].buffer;
    if (copies_itself(op))
        return JSTATUS_SUCCESS;
    const bool source_on_host = jdevice_kind(ji_buffer_device(source)) == JDEVICE_HOST;
    /* The stream of a device that the copy is not done by. */
    op->waits = op->waits || op->handle->device != ji_buffer_device(source_on_host ? destination : source);
    return ji_operation_count_copy(op, destination, source);
}

static jstatus_t copy_run(ji_operation_t *op) {
    return copies_itself(op)
               ? JSTATUS_SUCCESS
               : ji_operation_copy_between(op, op->operands[1].buffer, ji_operand_buffer(&op->operands[0]));
}

jstatus_t jbuffer_copy(jhandle_t *handle, jbuffer_t *destination, const jbuffer_t *source) {
    static const ji_operation_class_t copy = {copy_prepare, copy_run, .elementwise = true};
    ji_operation_t op = {
        .name = __func__,
        .handle = handle,
        .operands = {{.buffer = (jbuffer_t *)source, .access = JI_READS}, {.buffer = destination, .access = JI_WRITES}},
        .count = 2,
        .any_type = true,
        .copies = true};
    jstatus_t status = ji_operation_check(&op);
    if (status == JSTATUS_SUCCESS) {
        op.collective = op.takes || ji_buffer_copy_is_collective(destination, source);
        if (!jlayout_same_shape(&source->layout, &destination->layout))
            status = ji_operation_refuse_shapes(&op, &source->layout, &destination->layout);
        else if (handle->device != ji_buffer_device(source) && handle->device != ji_buffer_device(destination))
            status = ji_fail(JSTATUS_INVALID_VALUE, "%s: from %s to %s, the handle on %s", __func__,
                             jdevice_name(ji_buffer_device(source)), jdevice_name(ji_buffer_device(destination)),
                             jdevice_name(handle->device));
    }
    return ji_operation_run(&op, status, &copy);
}

/* ---- Add ---- */

static bool is_real(jdatatype_t type, const void *scalar) {
    ji_value_t value;
    if (scalar == NULL || !ji_is_complex(type))
        return true;
    memcpy(&value, scalar, ji_sizeof(type));
    return type == JDATATYPE_F32_C ? value.c[1] == 0 : value.z[1] == 0;
}

/* What the sum is known to be: a structure's family. */
static jstructure_t add_family(const ji_operation_t *op) {
    const jstructure_t a = ji_structure_family(op->operands[0].layout.structure, op->type),
                       b = ji_structure_family(op->operands[1].layout.structure, op->type);
    const bool real = is_real(op->type, op->scalars[0]) && is_real(op->type, op->scalars[1]);
    return a != b || (a == JSTRUCTURE_HERMITIAN_UPPER && !real) ? JSTRUCTURE_GENERAL : a;
}

static jstatus_t add_check(ji_operation_t *op) {
    ji_operand_t *a = &op->operands[0], *b = &op->operands[1], *c = &op->operands[2];
    const jstructure_t family = add_family(op);
    if (!jlayout_same_shape(&a->layout, &b->layout))
        return ji_operation_refuse_shapes(op, &a->layout, &b->layout);
    if (!ji_is_query(op->handle) && (op->scalars[0] == NULL || op->scalars[1] == NULL))
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: %s is NULL", op->name, op->scalars[0] ? "beta" : "alpha");
    if (c->buffer == NULL) {
        (void)jlayout_init(&c->layout, a->layout.rank, a->layout.extents, JORDER_COLUMN_MAJOR);
        c->layout.structure = family == JSTRUCTURE_GENERAL ? family : a->layout.structure;
        return JSTATUS_SUCCESS;
    }
    if (!jlayout_same_shape(&a->layout, &c->layout))
        return ji_operation_refuse_shapes(op, &a->layout, &c->layout);
    const jstructure_t structure = c->layout.structure;
    if (structure != JSTRUCTURE_GENERAL && ji_structure_family(structure, op->type) != family)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: the sum does not have the structure of C", op->name);
    return JSTATUS_SUCCESS;
}

static jstatus_t add_prepare(ji_operation_t *op) {
    const jstructure_t structure = op->operands[2].layout.structure;
    for (int i = 0; i < 2 && op->distributed; i++)
        op->operands[i].expand = op->operands[i].layout.structure != structure;
    return JSTATUS_SUCCESS;
}

/* The sum of buffers of any rank; packed copies stand in for operands as they do for matrices. */
static jstatus_t add_slices(const ji_operation_t *op) {
    const ji_operand_t *a = &op->operands[0], *b = &op->operands[1], *c = &op->operands[2];
    const ji_layout_term_t terms[2] = {{op->scalars[0], &a->view, a->data}, {op->scalars[1], &b->view, b->data}};
    return ji_layout_add(op->handle, op->type, terms, &c->view, c->data);
}

static ji_value_t sum_of(jdatatype_t type, const void *alpha, const void *beta) {
    ji_value_t a, b;
    memcpy(&a, alpha, ji_sizeof(type));
    memcpy(&b, beta, ji_sizeof(type));
    switch (type) {
    case JDATATYPE_F32: return (ji_value_t){.s = a.s + b.s};
    case JDATATYPE_F64: return (ji_value_t){.d = a.d + b.d};
    case JDATATYPE_F32_C: return (ji_value_t){.c = {a.c[0] + b.c[0], a.c[1] + b.c[1]}};
    default: return (ji_value_t){.z = {a.z[0] + b.z[0], a.z[1] + b.z[1]}};
    }
}

static bool is_result(const jbuffer_t *term, const jbuffer_t *c) {
    return ji_buffer_overlap(term, c) == JI_OVERLAP_SAME;
}

/* C may be in the place of a term: that is scaled, and the other one added. */
static jstatus_t add_distributed(ji_operation_t *op) {
    jbuffer_t *a = ji_operand_buffer(&op->operands[0]), *b = ji_operand_buffer(&op->operands[1]),
              *c = ji_operand_buffer(&op->operands[2]);
    const void *alpha = op->scalars[0], *beta = op->scalars[1];
    static const ji_value_t zero;
    if (is_result(a, c) && is_result(b, c)) {
        const ji_value_t sum = sum_of(op->type, alpha, beta);
        return ji_scale_lines(op->handle, &sum, c);
    }
    if (is_result(a, c))
        return op->ops->add(JBLAS_NO_TRANSPOSE, beta, b, alpha, c);
    if (!is_result(b, c)) {
        JTRY_RETURN(op->ops->add(JBLAS_NO_TRANSPOSE, beta, b, &zero, c));
        beta = &ji_one[op->type];
    }
    return op->ops->add(JBLAS_NO_TRANSPOSE, alpha, a, beta, c);
}

static jstatus_t add_run(ji_operation_t *op) {
    if (op->distributed)
        return add_distributed(op);
    if (op->operands[2].layout.rank > 2)
        return add_slices(op);
    const ji_term_t terms[2] = {{op->scalars[0], JBLAS_NO_TRANSPOSE, op->operands[0].matrix},
                                {op->scalars[1], JBLAS_NO_TRANSPOSE, op->operands[1].matrix}};
    return ji_matrix_add(op->handle, terms, &op->operands[2].matrix);
}

jstatus_t jbuffer_add(jhandle_t *handle, const void *alpha, const jbuffer_t *a, const void *beta, const jbuffer_t *b,
                      jbuffer_t **c) {
    static const ji_operation_class_t add = {add_prepare, add_run, .by_scalapack = true, .elementwise = true};
    ji_operation_t op = {.name = __func__,
                         .handle = handle,
                         .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS},
                                      {.buffer = (jbuffer_t *)b, .access = JI_READS},
                                      {.buffer = c ? *c : NULL, .access = JI_WRITES}},
                         .count = 3,
                         .result = c,
                         .scalars = {alpha, beta}};
    jstatus_t status = ji_operation_check(&op);
    if (status == JSTATUS_SUCCESS)
        status = add_check(&op);
    return ji_operation_run(&op, status, &add);
}

/* ---- Transpose ---- */

/* The structure of op(A). */
static jstructure_t transposed_structure(jstructure_t structure, jblas_operation_t operation) {
    return operation != JBLAS_NO_TRANSPOSE && ji_structure_is_triangular(structure) ? ji_structure_flipped(structure)
                                                                                    : structure;
}

static jstatus_t transpose_check(ji_operation_t *op) {
    ji_operand_t *a = &op->operands[0], *b = &op->operands[1];
    const jblas_operation_t operation = op->operation[0];
    JTRY_RETURN(ji_operation_check_operation(op, operation));
    JTRY_RETURN(ji_operation_check_matrix(op, 0));
    const ji_matrix_t matrix = ji_matrix(op->type, &a->layout, NULL);
    const jstructure_t structure = transposed_structure(a->layout.structure, operation);
    if (b->buffer == NULL) {
        const int64_t extents[2] = {matrix.columns, matrix.rows};
        if (operation == JBLAS_NO_TRANSPOSE)
            (void)jlayout_init(&b->layout, a->layout.rank, a->layout.extents, JORDER_COLUMN_MAJOR);
        else
            (void)jlayout_init(&b->layout, 2, extents, JORDER_COLUMN_MAJOR);
        b->layout.structure = structure;
        return JSTATUS_SUCCESS;
    }
    JTRY_RETURN(ji_operation_check_matrix(op, 1));
    const ji_matrix_t result = ji_matrix(op->type, &b->layout, NULL);
    const bool plain = operation == JBLAS_NO_TRANSPOSE;
    if (result.rows != (plain ? matrix.rows : matrix.columns) ||
        result.columns != (plain ? matrix.columns : matrix.rows))
        return ji_operation_refuse_shapes(op, &a->layout, &b->layout);
    if (b->layout.structure != JSTRUCTURE_GENERAL &&
        ji_structure_family(b->layout.structure, op->type) != ji_structure_family(structure, op->type))
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: op(A) does not have the structure of B", op->name);
    return JSTATUS_SUCCESS;
}

static jstatus_t transpose_prepare(ji_operation_t *op) {
    ji_operand_t *a = &op->operands[0];
    const jstructure_t wanted = op->operands[1].layout.structure;
    /* The triangle that B wants has to be stored where op moves it from. */
    a->expand = op->distributed &&
                (op->operation[0] == JBLAS_NO_TRANSPOSE ? a->layout.structure
                                                        : ji_structure_flipped(a->layout.structure)) != wanted;
    return JSTATUS_SUCCESS;
}

static jstatus_t transpose_run(ji_operation_t *op) {
    static const ji_value_t zero;
    if (op->distributed)
        return op->ops->add(op->operation[0], &ji_one[op->type], ji_operand_buffer(&op->operands[0]), &zero,
                            ji_operand_buffer(&op->operands[1]));
    const ji_matrix_t *a = &op->operands[0].matrix;
    const ji_term_t terms[2] = {{&ji_one[op->type], op->operation[0], *a}, {NULL, JBLAS_NO_TRANSPOSE, *a}};
    return ji_matrix_add(op->handle, terms, &op->operands[1].matrix);
}

jstatus_t jbuffer_transpose(jhandle_t *handle, jblas_operation_t operation, const jbuffer_t *a, jbuffer_t **b) {
    static const ji_operation_class_t transpose = {transpose_prepare, transpose_run, .by_scalapack = true};
    ji_operation_t op = {
        .name = __func__,
        .handle = handle,
        .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS}, {.buffer = b ? *b : NULL, .access = JI_WRITES}},
        .count = 2,
        .result = b,
        .operation = {operation}};
    jstatus_t status = ji_operation_check(&op);
    if (status == JSTATUS_SUCCESS)
        status = transpose_check(&op);
    return ji_operation_run(&op, status, &transpose);
}
