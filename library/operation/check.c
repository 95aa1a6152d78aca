/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The first step of every operation: is this call one that can be carried out, who takes part in
 * it, and which backend computes.
 *
 * The order of the checks decides which of several errors is reported: the handle, each operand by
 * itself, the operands together, what the operation's own class checks, and at last the scalars and
 * the answer, which a size query does not need. An error does not end the look at the operands: a
 * process that finds one has to know whom to tell. */

#include "operation/operation.h"

#include <stdio.h>

/* ---- Checks that classes use ---- */

static void shape_text(const jlayout_t *layout, char text[128]) {
    size_t length = (size_t)snprintf(text, 128, "[");
    /* Their product is within 63 bits, so there is room for all. */
    for (int d = 0; d < layout->rank; d++)
        length += (size_t)snprintf(text + length, 128 - length, d ? ",%lld" : "%lld",
                                   (long long)layout->extents[d]);
    snprintf(text + length, 128 - length, "]");
}

jstatus_t ji_operation_refuse_shapes(const ji_operation_t *op, const jlayout_t *a,
                                     const jlayout_t *b) {
    char texts[2][128];
    shape_text(a, texts[0]);
    shape_text(b, texts[1]);
    return ji_fail(JSTATUS_INVALID_SIZE, "%s: the shapes %s and %s do not fit", op->name, texts[0],
                   texts[1]);
}

jstatus_t ji_operation_check_operation(const ji_operation_t *op, jblas_operation_t operation) {
    if ((unsigned)operation - JBLAS_NO_TRANSPOSE > JBLAS_CONJUGATE_TRANSPOSE - JBLAS_NO_TRANSPOSE)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: operation = %d: " JI_MUST_BE_OPERATION, op->name,
                       (int)operation);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_operation_check_matrix(const ji_operation_t *op, int operand) {
    const int rank = op->operands[operand].layout.rank;
    return rank <= 2 ? JSTATUS_SUCCESS
                     : ji_fail(JSTATUS_INVALID_VALUE, "%s: an operand of rank %d is no matrix",
                               op->name, rank);
}

jstatus_t ji_operation_check_general(const ji_operation_t *op, int operand, const char *name,
                                     const char *result) {
    JTRY_RETURN(ji_operation_check_matrix(op, operand));
    if (op->operands[operand].layout.structure == JSTRUCTURE_GENERAL)
        return JSTATUS_SUCCESS;
    return ji_fail(JSTATUS_INVALID_VALUE, "%s: %s has a structure, which %s does not keep",
                   op->name, name, result);
}

/* ---- The check of an operation ---- */

jstatus_t ji_operation_check_handle(const ji_operation_t *op) {
    const char *why;
    jstatus_t status = ji_handle_judge(op->handle, &why);
    return status == JSTATUS_SUCCESS ? JSTATUS_SUCCESS
                                     : ji_fail(status, "%s: the handle %s", op->name, why);
}

/* What the live operands say, so that even an operation that fails here can be agreed upon. Those
 * who take part are the processes that the operand of the highest kind has in common; of one kind,
 * of the first. */
static void look_at_operands(ji_operation_t *op, const bool live[JI_OPERANDS]) {
    bool kinds[3] = {false, false, false}, together = false;
    const jbuffer_t *highest = NULL;
    bool makes = false, takes = false;
    for (int i = 0; i < op->count; i++) {
        const jbuffer_t *buffer = op->operands[i].buffer;
        makes = makes || ji_operand_is_made(&op->operands[i]);
        if (!live[i])
            continue;

        if (highest == NULL)
            op->type = ji_buffer_type(buffer);
        if (highest == NULL || ji_buffer_kind(buffer) > ji_buffer_kind(highest))
            highest = buffer;
        kinds[ji_buffer_kind(buffer)] = true;
        together = together || ji_buffer_is_shared(buffer);
        takes = takes || (op->operands[i].access != JI_READS && ji_buffer_is_placeholder(buffer) &&
                          ji_buffer_kind(buffer) != JBUFFER_LOCAL);
    }
    if (highest == NULL)
        return;

    op->runtime = ji_buffer_runtime(highest);
    const bool several = op->runtime->info.processes > 1, distributed = kinds[JBUFFER_DISTRIBUTED];
    op->mixed = several && !distributed && kinds[JBUFFER_LOCAL] && kinds[JBUFFER_REPLICATED];

    /* A result that is made is of the highest kind, and making it is collective where that is. */
    takes = takes || (makes && kinds[JBUFFER_REPLICATED]);
    op->collective = several && (together || takes || distributed || op->mixed);

    op->backend = op->class->backend != NULL ? op->class->backend
                  : distributed              ? op->runtime->ops->backend
                                             : &ji_backend_jblas;
    if (op->backend != NULL)
        op->way = op->class->way.run != NULL ? &op->class->way
                                             : &op->backend->ways[op->class->computation];

    for (int i = 0; i < 2; i++)
        if (op->scalars[i] != NULL) {
            memcpy(&op->values[i], op->scalars[i], jhandle_sizeof_datatype(op->type));
            op->scalars[i] = &op->values[i];
        }
}

static jstatus_t check_operand(const ji_operation_t *op, const jbuffer_t *buffer) {
    jhandle_t *handle = op->handle;
    if (ji_buffer_runtime(buffer) != op->runtime)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: the operands are of several runtimes", op->name);
    if (ji_buffer_type(buffer) != op->type)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: operands of types %s and %s", op->name,
                       jdatatype_name(op->type), jdatatype_name(ji_buffer_type(buffer)));

    if (!op->any_type && op->type > JDATATYPE_F64_C)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: not of type %s", op->name,
                       jdatatype_name(op->type));

    /* A class with a backend of its own checks the devices itself. */
    if (op->class->backend != NULL)
        return JSTATUS_SUCCESS;
    if ((op->backend == NULL || op->backend->distributed) &&
        jdevice_kind(ji_buffer_device(buffer)) != JDEVICE_HOST)
        return ji_fail(
            JSTATUS_NOT_IMPLEMENTED,
            "%s: distributed computation with an operand on %s: copy it to the host first",
            op->name, jdevice_name(ji_buffer_device(buffer)));
    if (ji_buffer_device(buffer) != handle->device)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: an operand on %s, the handle on %s", op->name,
                       jdevice_name(ji_buffer_device(buffer)), jdevice_name(handle->device));

    if (op->backend == NULL)
        return ji_fail(JSTATUS_NOT_IMPLEMENTED, "%s: this runtime computes on nothing distributed",
                       op->name);
    return JSTATUS_SUCCESS;
}

/* A query needs none of them. */
static jstatus_t check_pointers(const ji_operation_t *op) {
    if (ji_is_query(op->handle))
        return JSTATUS_SUCCESS;

    for (int i = 0; i < op->class->scalars; i++)
        if (op->scalars[i] == NULL)
            return ji_fail(JSTATUS_INVALID_POINTER, "%s: %s is NULL", op->name,
                           i == 0 ? "alpha" : "beta");
    if (op->class->answer != NULL && op->answer == NULL)
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: %s is NULL", op->name, op->class->answer);
    if (op->array_bytes > 0 && op->array == NULL)
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: %s is NULL", op->name, op->class->array);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_operation_check(ji_operation_t *op) {
    bool live[JI_OPERANDS] = {false};
    jstatus_t status = ji_operation_check_handle(op);

    for (int i = 0; i < op->count; i++) {
        ji_operand_t *operand = &op->operands[i];
        const bool given = ji_operand_is_wanted(operand) && !ji_operand_is_made(operand);
        const jstatus_t found =
            given ? ji_buffer_check(operand->buffer, op->name) : JSTATUS_SUCCESS;
        live[i] = given && found == JSTATUS_SUCCESS;
        if (live[i])
            operand->layout = operand->buffer->layout;
        if (status == JSTATUS_SUCCESS)
            status = found;
    }

    look_at_operands(op, live);
    for (int i = 0; i < op->count && status == JSTATUS_SUCCESS; i++)
        if (live[i])
            status = check_operand(op, op->operands[i].buffer);

    if (status == JSTATUS_SUCCESS && op->class->check != NULL)
        status = op->class->check(op);
    return status == JSTATUS_SUCCESS ? check_pointers(op) : status;
}
