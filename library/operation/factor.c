/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Factorizations and what is solved by them: what is checked. The backend has the rest. */

#include "operation/operation.h"

/* ---- Cholesky ---- */

/* Symmetric, or of complex types Hermitian. */
static jstatus_t hermitian_check(ji_operation_t *op) {
    const jstructure_t family = ji_structure_family(op->operands[0].layout.structure, op->type);
    if (family !=
        (ji_is_complex(op->type) ? JSTRUCTURE_HERMITIAN_UPPER : JSTRUCTURE_SYMMETRIC_UPPER))
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: A is not %s: see jbuffer_with_structure()",
                       op->name, ji_is_complex(op->type) ? "Hermitian" : "symmetric");
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_cholesky(jhandle_t *handle, jbuffer_t *a, int64_t *info) {
    static const ji_operation_class_t cholesky = {
        .check = hermitian_check, .computation = JI_CHOLESKY, .answer = "info"};
    ji_operation_t op = {.name = __func__,
                         .class = &cholesky,
                         .handle = handle,
                         .operands = {{.buffer = a, .access = JI_UPDATES}},
                         .count = 1,
                         .answer = info};
    return ji_operation_run(&op);
}

/* ---- Solve by LU ---- */

static jstatus_t solve_check(ji_operation_t *op) {
    const ji_operand_t *a = &op->operands[0], *b = &op->operands[1];
    JTRY_RETURN(ji_operation_check_matrix(op, 0));
    JTRY_RETURN(ji_operation_check_general(op, 1, "B", "a solution"));

    const ji_matrix_t left = ji_matrix(op->type, &a->layout, NULL),
                      right = ji_matrix(op->type, &b->layout, NULL);
    if (left.rows != left.columns || left.rows != right.rows)
        return ji_operation_refuse_shapes(op, &a->layout, &b->layout);
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_solve(jhandle_t *handle, const jbuffer_t *a, jbuffer_t *b, int64_t *info) {
    static const ji_operation_class_t solve = {
        .check = solve_check, .computation = JI_SOLVE_BY_LU, .answer = "info"};
    ji_operation_t op = {.name = __func__,
                         .class = &solve,
                         .handle = handle,
                         .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS},
                                      {.buffer = b, .access = JI_UPDATES}},
                         .count = 2,
                         .answer = info};
    return ji_operation_run(&op);
}

/* ---- LU ---- */

static int64_t smaller_of(const ji_operation_t *op) {
    const ji_matrix_t a = ji_matrix(op->type, &op->operands[0].layout, NULL);
    return ji_min(a.rows, a.columns);
}

static jstatus_t lu_check(ji_operation_t *op) {
    JTRY_RETURN(ji_operation_check_general(op, 0, "A", "its factor"));
    op->array_bytes = jalloc_mul(smaller_of(op), sizeof(int64_t));
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_lu(jhandle_t *handle, jbuffer_t *a, int64_t *pivots, int64_t *info) {
    static const ji_operation_class_t lu = {
        .check = lu_check, .computation = JI_LU, .answer = "info", .array = "pivots"};
    ji_operation_t op = {.name = __func__,
                         .class = &lu,
                         .handle = handle,
                         .operands = {{.buffer = a, .access = JI_UPDATES}},
                         .count = 1,
                         .answer = info,
                         .array = pivots};
    return ji_operation_run(&op);
}

/* ---- Solve by a factor ---- */

static jstatus_t check_pivots(const ji_operation_t *op, int64_t n) {
    if (n == 0 || ji_is_query(op->handle))
        return JSTATUS_SUCCESS;
    if (op->pivots == NULL)
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: pivots is NULL", op->name);
    for (int64_t i = 0; i < n; i++)
        if (op->pivots[i] <= i || op->pivots[i] > n)
            return ji_fail(JSTATUS_INVALID_VALUE, "%s: pivots[%lld] is %lld of %lld rows", op->name,
                           (long long)i, (long long)op->pivots[i], (long long)n);
    return JSTATUS_SUCCESS;
}

static jstatus_t lu_solve_check(ji_operation_t *op) {
    JTRY_RETURN(ji_operation_check_operation(op, op->operation[0]));
    JTRY_RETURN(solve_check(op));
    JTRY_RETURN(ji_operation_check_general(op, 0, "A", "a factor"));
    return check_pivots(op, smaller_of(op));
}

jstatus_t jbuffer_lu_solve(jhandle_t *handle, jblas_operation_t operation, const jbuffer_t *a,
                           const int64_t *pivots, jbuffer_t *b) {
    static const ji_operation_class_t lu_solve = {.check = lu_solve_check,
                                                  .computation = JI_LU_SOLVE};
    ji_operation_t op = {.name = __func__,
                         .class = &lu_solve,
                         .handle = handle,
                         .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS},
                                      {.buffer = b, .access = JI_UPDATES}},
                         .count = 2,
                         .operation = {operation},
                         .pivots = pivots};
    return ji_operation_run(&op);
}

/* ---- Results of the others ---- */

/* A result, if it is wanted: made of this shape and structure, or given of this shape, general or
 * of the structure. */
static jstatus_t result_check(ji_operation_t *op, int number, int rank, const int64_t extents[2],
                              jstructure_t structure) {
    ji_operand_t *result = &op->operands[number];
    if (result->buffer == NULL) {
        JTRY_RETURN(jlayout_init(&result->layout, rank, extents, JORDER_COLUMN_MAJOR));
        result->layout.structure = structure;
        return JSTATUS_SUCCESS;
    }

    JTRY_RETURN(ji_operation_check_matrix(op, number));
    const ji_matrix_t given = ji_matrix(op->type, &result->layout, NULL);
    if (given.rows != extents[0] || given.columns != (rank > 1 ? extents[1] : 1))
        return ji_operation_refuse_shapes(op, &op->operands[0].layout, &result->layout);
    if (given.structure != JSTRUCTURE_GENERAL && given.structure != structure)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "%s: operand %d has a structure, which the result has not", op->name,
                       number);
    return JSTATUS_SUCCESS;
}

/* ---- QR ---- */

/* A square R can be solved with as it is. */
static jstatus_t qr_check(ji_operation_t *op) {
    JTRY_RETURN(ji_operation_check_matrix(op, 0));
    if (op->operands[1].result == NULL && op->operands[2].result == NULL)
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: q and r are NULL", op->name);

    const ji_matrix_t a = ji_matrix(op->type, &op->operands[0].layout, NULL);
    const int64_t k = smaller_of(op);
    JTRY_RETURN(result_check(op, 1, 2, (const int64_t[]){a.rows, k}, JSTRUCTURE_GENERAL));
    return result_check(op, 2, 2, (const int64_t[]){k, a.columns},
                        k == a.columns ? JSTRUCTURE_TRIANGULAR_UPPER : JSTRUCTURE_GENERAL);
}

jstatus_t jbuffer_qr(jhandle_t *handle, const jbuffer_t *a, jbuffer_t **q, jbuffer_t **r) {
    static const ji_operation_class_t qr = {
        .check = qr_check, .computation = JI_QR, .reads_first = true};
    ji_operation_t op = {.name = __func__,
                         .class = &qr,
                         .handle = handle,
                         .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS},
                                      {JI_RESULT(q), .optional = true},
                                      {JI_RESULT(r), .optional = true}},
                         .count = 3};
    return ji_operation_run(&op);
}

/* ---- Least squares ---- */

/* X is a vector where B is one. */
static jstatus_t least_squares_check(ji_operation_t *op) {
    const ji_operand_t *b = &op->operands[1];
    JTRY_RETURN(ji_operation_check_matrix(op, 0));
    JTRY_RETURN(ji_operation_check_matrix(op, 1));

    const ji_matrix_t left = ji_matrix(op->type, &op->operands[0].layout, NULL),
                      right = ji_matrix(op->type, &b->layout, NULL);
    if (left.rows != right.rows)
        return ji_operation_refuse_shapes(op, &op->operands[0].layout, &b->layout);
    return result_check(op, 2, b->layout.rank > 1 ? 2 : 1,
                        (const int64_t[]){left.columns, right.columns}, JSTRUCTURE_GENERAL);
}

jstatus_t jbuffer_least_squares(jhandle_t *handle, const jbuffer_t *a, const jbuffer_t *b,
                                jbuffer_t **x, int64_t *info) {
    static const ji_operation_class_t least_squares = {.check = least_squares_check,
                                                       .computation = JI_LEAST_SQUARES,
                                                       .answer = "info",
                                                       .reads_first = true,
                                                       .finite = true};
    ji_operation_t op = {.name = __func__,
                         .class = &least_squares,
                         .handle = handle,
                         .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS},
                                      {.buffer = (jbuffer_t *)b, .access = JI_READS},
                                      {JI_RESULT(x)}},
                         .count = 3,
                         .answer = info};
    return ji_operation_run(&op);
}

/* ---- Eigenvalues ---- */

static jstatus_t eigen_check(ji_operation_t *op) {
    JTRY_RETURN(hermitian_check(op));
    const int64_t n = smaller_of(op);
    op->array_bytes = jalloc_mul(n, sizeof(double));
    return result_check(op, 1, 2, (const int64_t[]){n, n}, JSTRUCTURE_GENERAL);
}

jstatus_t jbuffer_eigen_symmetric(jhandle_t *handle, const jbuffer_t *a, double *values,
                                  jbuffer_t **vectors, int64_t *info) {
    static const ji_operation_class_t eigen = {.check = eigen_check,
                                               .computation = JI_EIGEN_SYMMETRIC,
                                               .answer = "info",
                                               .array = "values",
                                               .reads_first = true,
                                               .finite = true};
    ji_operation_t op = {.name = __func__,
                         .class = &eigen,
                         .handle = handle,
                         .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS},
                                      {JI_RESULT(vectors), .optional = true}},
                         .count = 2,
                         .answer = info,
                         .array = values};
    return ji_operation_run(&op);
}

/* ---- Singular values ---- */

static jstatus_t svd_check(ji_operation_t *op) {
    JTRY_RETURN(ji_operation_check_matrix(op, 0));
    const ji_matrix_t a = ji_matrix(op->type, &op->operands[0].layout, NULL);
    const int64_t k = smaller_of(op);
    op->array_bytes = jalloc_mul(k, sizeof(double));
    JTRY_RETURN(result_check(op, 1, 2, (const int64_t[]){a.rows, k}, JSTRUCTURE_GENERAL));
    return result_check(op, 2, 2, (const int64_t[]){k, a.columns}, JSTRUCTURE_GENERAL);
}

jstatus_t jbuffer_svd(jhandle_t *handle, const jbuffer_t *a, double *values, jbuffer_t **u,
                      jbuffer_t **vt, int64_t *info) {
    static const ji_operation_class_t svd = {.check = svd_check,
                                             .computation = JI_SVD,
                                             .answer = "info",
                                             .array = "values",
                                             .reads_first = true,
                                             .finite = true};
    ji_operation_t op = {.name = __func__,
                         .class = &svd,
                         .handle = handle,
                         .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS},
                                      {JI_RESULT(u), .optional = true},
                                      {JI_RESULT(vt), .optional = true}},
                         .count = 3,
                         .answer = info,
                         .array = values};
    return ji_operation_run(&op);
}
