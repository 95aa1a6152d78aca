/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Product and triangular solve: what is checked. The backend has the rest. */

#include "operation/operation.h"

/* ---- Product ---- */

void ji_product_sizes(const ji_operation_t *op, int64_t *m, int64_t *n, int64_t *k) {
    const ji_matrix_t a = ji_matrix(op->type, &op->operands[0].layout, NULL),
                      b = ji_matrix(op->type, &op->operands[1].layout, NULL);
    *m = ji_operation_transposes(op, 0) ? a.columns : a.rows;
    *k = ji_operation_transposes(op, 0) ? a.rows : a.columns;
    *n = ji_operation_transposes(op, 1) ? b.rows : b.columns;
}

static jstatus_t product_check(ji_operation_t *op) {
    ji_operand_t *a = &op->operands[0], *b = &op->operands[1], *c = &op->operands[2];
    JTRY_RETURN(ji_operation_check_operation(op, op->operation[0]));
    JTRY_RETURN(ji_operation_check_operation(op, op->operation[1]));
    JTRY_RETURN(ji_operation_check_matrix(op, 0));
    JTRY_RETURN(ji_operation_check_matrix(op, 1));

    const ji_matrix_t right = ji_matrix(op->type, &b->layout, NULL);
    int64_t m, n, k;
    ji_product_sizes(op, &m, &n, &k);
    if ((ji_operation_transposes(op, 1) ? right.columns : right.rows) != k)
        return ji_operation_refuse_shapes(op, &a->layout, &b->layout);

    const bool reads_c = op->scalars[1] == NULL || !ji_is_zero(op->type, op->scalars[1]);

    if (c->buffer == NULL) {
        if (reads_c && op->scalars[1] != NULL)
            return ji_fail(JSTATUS_INVALID_VALUE, "%s: beta is not 0, and there is no C", op->name);
        /* A matrix times a vector is a vector. */
        return jlayout_init(&c->layout,
                            b->layout.rank == 1 && op->operation[1] == JBLAS_NO_TRANSPOSE ? 1 : 2,
                            (const int64_t[]){m, n}, JORDER_COLUMN_MAJOR);
    }

    c->access = reads_c ? JI_UPDATES : JI_WRITES;
    JTRY_RETURN(ji_operation_check_matrix(op, 2));

    const ji_matrix_t result = ji_matrix(op->type, &c->layout, NULL);
    if (result.rows != m || result.columns != n)
        return ji_operation_refuse_shapes(op, &(jlayout_t){.rank = 2, .extents = {m, n}},
                                          &c->layout);
    return ji_operation_check_general(op, 2, "C", "a product");
}

jstatus_t jbuffer_product(jhandle_t *handle, jblas_operation_t operation_a,
                          jblas_operation_t operation_b, const void *alpha, const jbuffer_t *a,
                          const jbuffer_t *b, const void *beta, jbuffer_t **c) {
    static const ji_operation_class_t product = {
        .check = product_check, .computation = JI_PRODUCT, .scalars = 2};
    ji_operation_t op = {.name = __func__,
                         .class = &product,
                         .handle = handle,
                         .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS},
                                      {.buffer = (jbuffer_t *)b, .access = JI_READS},
                                      {JI_RESULT(c)}},
                         .count = 3,
                         .operation = {operation_a, operation_b},
                         .scalars = {alpha, beta}};
    return ji_operation_run(&op);
}

/* ---- Triangular solve ---- */

static jstatus_t triangular_check(ji_operation_t *op) {
    const ji_operand_t *a = &op->operands[0], *b = &op->operands[1];
    JTRY_RETURN(ji_operation_check_operation(op, op->operation[0]));

    if (op->side != JBLAS_LEFT && op->side != JBLAS_RIGHT)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: side = %d: " JI_MUST_BE_SIDE, op->name,
                       (int)op->side);
    if (op->diagonal != JBLAS_NON_UNIT && op->diagonal != JBLAS_UNIT)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: diagonal = %d: " JI_MUST_BE_DIAGONAL, op->name,
                       (int)op->diagonal);

    JTRY_RETURN(ji_operation_check_general(op, 1, "B", "a solution"));
    if (!ji_structure_is_triangular(a->layout.structure))
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "%s: A is not triangular: see jbuffer_with_structure()", op->name);

    const ji_matrix_t right = ji_matrix(op->type, &b->layout, NULL);
    if (a->layout.extents[0] != (op->side == JBLAS_LEFT ? right.rows : right.columns))
        return ji_operation_refuse_shapes(op, &a->layout, &b->layout);
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_solve_triangular(jhandle_t *handle, jblas_side_t side,
                                   jblas_operation_t operation, jblas_diagonal_t diagonal,
                                   const void *alpha, const jbuffer_t *a, jbuffer_t *b) {
    static const ji_operation_class_t solve = {
        .check = triangular_check, .computation = JI_SOLVE_TRIANGULAR, .scalars = 1};
    ji_operation_t op = {.name = __func__,
                         .class = &solve,
                         .handle = handle,
                         .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS},
                                      {.buffer = b, .access = JI_UPDATES}},
                         .count = 2,
                         .operation = {operation},
                         .side = side,
                         .diagonal = diagonal,
                         .scalars = {alpha}};
    return ji_operation_run(&op);
}
