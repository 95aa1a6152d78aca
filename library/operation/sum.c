/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Operations that bring elements to another address: copy, add, transpose. */

#include "operation/operation.h"

/* ---- Copy ---- */

static jstatus_t copy_check(ji_operation_t *op) {
    const jbuffer_t *source = op->operands[0].buffer, *destination = op->operands[1].buffer;
    const jdevice_t *device = op->handle->device;

    if (!jlayout_same_shape(&source->layout, &destination->layout))
        return ji_operation_refuse_shapes(op, &source->layout, &destination->layout);

    if (device != ji_buffer_device(source) && device != ji_buffer_device(destination))
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: from %s to %s, the handle on %s", op->name,
                       jdevice_name(ji_buffer_device(source)),
                       jdevice_name(ji_buffer_device(destination)), jdevice_name(device));
    return JSTATUS_SUCCESS;
}

static bool copy_needs_temporary(const ji_operation_t *op, const ji_operand_t *operand) {
    (void)op;
    return operand->detach;
}

static jstatus_t copy_finish(ji_operation_t *op) {
    const ji_operand_t *from = &op->operands[0];
    jbuffer_t *source = ji_operand_buffer(from), *destination = op->operands[1].buffer;
    if (from->is_result) /* onto itself: nothing is to be done */
        return JSTATUS_SUCCESS;

    const bool source_on_host = jdevice_kind(ji_buffer_device(source)) == JDEVICE_HOST;
    /* The stream of a device that the copy is not done by. */
    op->waits = op->waits || ji_buffer_copy_is_collective(destination, from->buffer) ||
                op->handle->device != ji_buffer_device(source_on_host ? destination : source);

    return ji_operation_count_copy(op, destination, source);
}

static jstatus_t copy_run(ji_operation_t *op) {
    const ji_operand_t *from = &op->operands[0];
    return from->is_result
               ? JSTATUS_SUCCESS
               : ji_operation_copy_between(op, op->operands[1].buffer, ji_operand_buffer(from));
}

jstatus_t jbuffer_copy(jhandle_t *handle, jbuffer_t *destination, const jbuffer_t *source) {
    /* The two stay of their kinds and devices, so no backend computes. */
    static const ji_backend_t copying = {.needs_temporary = copy_needs_temporary,
                                         .finish = copy_finish};
    static const ji_operation_class_t copy = {
        .backend = &copying, .check = copy_check, .way = {.run = copy_run}, .elementwise = true};
    ji_operation_t op = {.name = __func__,
                         .class = &copy,
                         .handle = handle,
                         .operands = {{.buffer = (jbuffer_t *)source, .access = JI_READS},
                                      {.buffer = destination, .access = JI_WRITES}},
                         .count = 2,
                         .any_type = true};
    return ji_operation_run(&op);
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

    if (c->buffer == NULL) {
        (void)jlayout_init(&c->layout, a->layout.rank, a->layout.extents, JORDER_COLUMN_MAJOR);
        c->layout.structure = family == JSTRUCTURE_GENERAL ? family : a->layout.structure;
        return JSTATUS_SUCCESS;
    }

    if (!jlayout_same_shape(&a->layout, &c->layout))
        return ji_operation_refuse_shapes(op, &a->layout, &c->layout);

    const jstructure_t structure = c->layout.structure;
    if (structure != JSTRUCTURE_GENERAL && ji_structure_family(structure, op->type) != family)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: the sum does not have the structure of C",
                       op->name);
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_add(jhandle_t *handle, const void *alpha, const jbuffer_t *a, const void *beta,
                      const jbuffer_t *b, jbuffer_t **c) {
    static const ji_operation_class_t add = {
        .check = add_check, .computation = JI_ADD, .scalars = 2, .elementwise = true};
    ji_operation_t op = {.name = __func__,
                         .class = &add,
                         .handle = handle,
                         .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS},
                                      {.buffer = (jbuffer_t *)b, .access = JI_READS},
                                      {JI_RESULT(c)}},
                         .count = 3,
                         .scalars = {alpha, beta}};
    return ji_operation_run(&op);
}

/* ---- Transpose ---- */

/* The structure of op(A). */
static jstructure_t transposed_structure(jstructure_t structure, jblas_operation_t operation) {
    return operation != JBLAS_NO_TRANSPOSE && ji_structure_is_triangular(structure)
               ? ji_structure_flipped(structure)
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
        ji_structure_family(b->layout.structure, op->type) !=
            ji_structure_family(structure, op->type))
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: op(A) does not have the structure of B",
                       op->name);
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_transpose(jhandle_t *handle, jblas_operation_t operation, const jbuffer_t *a,
                            jbuffer_t **b) {
    static const ji_operation_class_t transpose = {.check = transpose_check,
                                                   .computation = JI_TRANSPOSE};
    ji_operation_t op = {
        .name = __func__,
        .class = &transpose,
        .handle = handle,
        .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS}, {JI_RESULT(b)}},
        .count = 2,
        .operation = {operation}};
    return ji_operation_run(&op);
}
