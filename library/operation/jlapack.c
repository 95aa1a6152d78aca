/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Factorizations of local and replicated buffers, by jlapack on the host.
 *
 * But for LU, which is made in place, A is kept: the factorization is made in a copy of it, and
 * what else jlapack writes lies in the operation's own workspace, column-major as jlapack wants it.
 * Results are copied out of these at last, whatever their strides. */

#include "operation/jlapack.h"

#include "lapack/guest/guest.h"
#include "lapack/lapack.h"

/* ---- What all have in common ---- */

static jstatus_t host_alone(const ji_operation_t *op) {
    if (jdevice_kind(op->handle->device) == JDEVICE_HOST)
        return JSTATUS_SUCCESS;
    return ji_fail(JSTATUS_NOT_IMPLEMENTED, "%s is not offered on %s", op->name,
                   jdevice_name(op->handle->device));
}

/* A routine is called while the operation has borrowed: what it would like, and its last rung. One
 * after the other has the same workspace. */
static void count_callee(ji_operation_t *op, const jplan_t *plan) {
    jplan_t last = *plan;
    if (plan->rung_count > 0) {
        last.rungs[0] = plan->rungs[plan->rung_count - 1];
        last.rung_count = 1;
    }

    const size_t best = jplan_bytes(plan, op->handle), least = jplan_bytes(&last, op->handle);
    op->callee_bytes = best > op->callee_bytes ? best : op->callee_bytes;
    op->callee_least = least > op->callee_least ? least : op->callee_least;
}

/* A as it will lie: a copy that is written over. */
static jstatus_t copy_a(ji_operation_t *op) {
    ji_operand_t *a = &op->operands[0];
    a->overwrite = true;
    a->expand = true;
    return host_alone(op);
}

static ji_matmat_t factor_block(ji_operation_t *op) {
    const ji_matrix_t *a = &op->operands[0].matrix;
    return (ji_matmat_t){.head = {.type = op->type},
                         .m = a->rows,
                         .n = a->columns,
                         .a = a->data,
                         .lda = ji_max(1, a->rows),
                         .info = &op->found.info};
}

static int64_t smaller_of(const ji_operation_t *op) {
    const ji_matrix_t *a = &op->operands[0].matrix;
    return ji_min(a->rows, a->columns);
}

/* A column-major matrix in workspace. */
static ji_matrix_t packed(jdatatype_t type, int64_t rows, int64_t columns, void *data) {
    return (ji_matrix_t){type, JSTRUCTURE_GENERAL, rows, columns, 1, ji_max(1, rows), data};
}

/* The first rows and columns of a matrix; columns from there on. */
static ji_matrix_t leading(ji_matrix_t matrix, int64_t rows, int64_t columns) {
    matrix.rows = rows;
    matrix.columns = columns;
    return matrix;
}
static ji_matrix_t behind(ji_matrix_t matrix, int64_t column) {
    matrix.columns -= column;
    if (column > 0)
        matrix.data =
            (char *)matrix.data + column * matrix.column_stride * (int64_t)ji_sizeof(matrix.type);
    return matrix;
}

static jstatus_t give(const ji_operation_t *op, int operand, ji_matrix_t from) {
    return op->operands[operand].buffer == NULL
               ? JSTATUS_SUCCESS
               : ji_matrix_copy(op->handle, JBLAS_NO_TRANSPOSE, &op->operands[operand].matrix,
                                &from);
}

/* Whether there is a next step after one with this status. A lower rung of one step is the status
 * of all. */
static bool goes_on(jstatus_t *status, jstatus_t step) {
    if (step != JSTATUS_SUCCESS)
        *status = step;
    return !jstatus_is_error(step);
}

/* ---- LU ---- */

/* In place, pivots are the host's. */
static ji_matmat_t lu_block(ji_operation_t *op) {
    ji_matmat_t block = factor_block(op);
    block.lda = ji_max(1, ji_matrix_leading_dimension(&op->operands[0].matrix));
    block.ipiv = ji_operation_array(op);
    return block;
}

jstatus_t ji_lu_prepare(ji_operation_t *op) {
    JTRY_RETURN(host_alone(op));
    if (!ji_matrix_is_column_major(&op->operands[0].matrix))
        op->operands[0].pack = true;

    ji_matmat_t block = lu_block(op);
    jplan_t plan;
    JTRY_RETURN(ji_call_getrf_plan(op->handle, &block, &plan));
    count_callee(op, &plan);
    op->waits = true;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_lu_run(ji_operation_t *op) {
    ji_matmat_t block = lu_block(op);
    return ji_call_getrf(op->handle, &block);
}

/* ---- Solve by a factor ---- */

static ji_matmat_t lu_solve_block(ji_operation_t *op) {
    const ji_matrix_t *b = &op->operands[1].matrix;
    ji_matmat_t block = factor_block(op);
    block.lda = ji_max(1, ji_matrix_leading_dimension(&op->operands[0].matrix));
    block.trans = op->operation[0];
    block.nrhs = b->columns;
    block.ipiv = (int64_t *)op->pivots;           /* read */
    block.b = b->columns > 0 ? b->data : block.a; /* there, if not looked at */
    block.ldb = ji_max(1, ji_matrix_leading_dimension(b));
    return block;
}

jstatus_t ji_lu_solve_prepare(ji_operation_t *op) {
    JTRY_RETURN(host_alone(op));
    for (int i = 0; i < 2; i++)
        if (!ji_matrix_is_column_major(&op->operands[i].matrix))
            op->operands[i].pack = true;

    ji_matmat_t block = lu_solve_block(op);
    jplan_t plan;
    JTRY_RETURN(ji_call_getrs_plan(op->handle, &block, &plan));
    count_callee(op, &plan);
    op->waits = true; /* the pivots are the caller's */
    return JSTATUS_SUCCESS;
}

jstatus_t ji_lu_solve_run(ji_operation_t *op) {
    ji_matmat_t block = lu_solve_block(op);
    return ji_call_getrs(op->handle, &block);
}

/* ---- Solve by LU ---- */

static ji_matmat_t solve_block(ji_operation_t *op) {
    const ji_matrix_t *b = &op->operands[1].matrix;
    ji_matmat_t block = factor_block(op);
    block.nrhs = b->columns;
    block.ipiv = ji_operation_extra(op);
    block.b = b->columns > 0 ? b->data : block.a; /* there, if not looked at */
    block.ldb = ji_max(1, ji_matrix_leading_dimension(b));
    return block;
}

jstatus_t ji_solve_prepare(ji_operation_t *op) {
    JTRY_RETURN(copy_a(op));
    if (!ji_matrix_is_column_major(&op->operands[1].matrix))
        op->operands[1].pack = true;

    ji_matmat_t block = solve_block(op);
    jplan_t plan;
    JTRY_RETURN(ji_call_gesv_plan(op->handle, &block, &plan));
    count_callee(op, &plan);
    op->extra_bytes = jalloc_mul(block.n, sizeof *block.ipiv);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_solve_run(ji_operation_t *op) {
    ji_matmat_t block = solve_block(op);
    return ji_call_gesv(op->handle, &block);
}

/* ---- QR ---- */

/* The first columns of Q over the reflectors. */
static ji_matmat_t q_block(ji_operation_t *op) {
    ji_matmat_t block = factor_block(op);
    block.n = block.k = smaller_of(op);
    block.tau = ji_operation_extra(op);
    return block;
}

jstatus_t ji_qr_prepare(ji_operation_t *op) {
    JTRY_RETURN(copy_a(op));
    ji_matmat_t factor = factor_block(op), q = q_block(op);
    jplan_t plan;
    JTRY_RETURN(ji_call_geqrf_plan(op->handle, &factor, &plan));
    count_callee(op, &plan);
    JTRY_RETURN(ji_call_orgqr_plan(op->handle, &q, &plan));
    count_callee(op, &plan);
    op->extra_bytes = jalloc_mul(smaller_of(op), ji_sizeof(op->type));
    return JSTATUS_SUCCESS;
}

/* R as the upper triangle of the first columns, and the others. */
static jstatus_t give_r(const ji_operation_t *op, ji_matrix_t a) {
    const int64_t k = smaller_of(op);
    const ji_matrix_t *r = &op->operands[2].matrix;
    if (op->operands[2].buffer == NULL)
        return JSTATUS_SUCCESS;

    ji_matrix_t triangle = leading(a, k, k);
    const ji_matrix_t to = leading(*r, k, k), rest = behind(leading(a, k, a.columns), k),
                      to_rest = behind(*r, k);
    triangle.structure = JSTRUCTURE_TRIANGULAR_UPPER;
    JTRY_RETURN(ji_matrix_copy(op->handle, JBLAS_NO_TRANSPOSE, &to, &triangle));
    return ji_matrix_copy(op->handle, JBLAS_NO_TRANSPOSE, &to_rest, &rest);
}

jstatus_t ji_qr_run(ji_operation_t *op) {
    const ji_matrix_t *a = &op->operands[0].matrix;
    ji_matmat_t factor = factor_block(op), q = q_block(op);
    factor.tau = q.tau;

    jstatus_t status = JSTATUS_SUCCESS;
    if (goes_on(&status, ji_call_geqrf(op->handle, &factor)) && goes_on(&status, give_r(op, *a)) &&
        op->operands[1].buffer != NULL && goes_on(&status, ji_call_orgqr(op->handle, &q)))
        (void)goes_on(&status, give(op, 1, leading(*a, a->rows, smaller_of(op))));
    return status;
}

/* ---- Least squares ---- */

/* B, and after it X, whichever is larger. */
static ji_matmat_t least_squares_block(ji_operation_t *op) {
    ji_matmat_t block = factor_block(op);
    block.trans = JBLAS_NO_TRANSPOSE;
    block.nrhs = op->operands[1].matrix.columns;
    block.b = ji_operation_extra(op);
    block.ldb = ji_max(1, ji_max(block.m, block.n));
    return block;
}

jstatus_t ji_least_squares_prepare(ji_operation_t *op) {
    JTRY_RETURN(copy_a(op));
    ji_matmat_t block = least_squares_block(op);
    jplan_t plan;
    JTRY_RETURN(ji_call_gels_plan(op->handle, &block, &plan));
    count_callee(op, &plan);
    op->extra_bytes = jalloc_matrix_bytes(op->type, ji_max(block.m, block.n), block.nrhs);
    op->waits = true; /* the host looks at what it reads */
    return JSTATUS_SUCCESS;
}

jstatus_t ji_least_squares_run(ji_operation_t *op) {
    const ji_matrix_t *x = &op->operands[2].matrix;
    const ji_term_t nothing[2] = {{NULL, JBLAS_NO_TRANSPOSE, *x}, {NULL, JBLAS_NO_TRANSPOSE, *x}};
    if (op->zero)
        return ji_matrix_add(op->handle, nothing, x);

    ji_matmat_t block = least_squares_block(op);
    const ji_matrix_t room =
        packed(op->type, ji_max(block.m, block.n), block.nrhs, ji_operation_extra(op));
    const ji_matrix_t b = leading(room, block.m, block.nrhs);
    JTRY_RETURN(ji_matrix_copy(op->handle, JBLAS_NO_TRANSPOSE, &b, &op->operands[1].matrix));

    jstatus_t status = JSTATUS_SUCCESS;
    if (goes_on(&status, ji_call_gels(op->handle, &block)) && op->found.info == 0)
        (void)goes_on(&status, give(op, 2, leading(room, block.n, block.nrhs)));
    return status;
}

/* ---- Eigenvalues ---- */

static ji_driver_t eigen_block(ji_operation_t *op) {
    const ji_matrix_t *a = &op->operands[0].matrix;
    return (ji_driver_t){.head = {.type = op->type},
                         .jobz = op->operands[1].buffer != NULL ? JLAPACK_VECTORS : JLAPACK_NONE,
                         .uplo = ji_structure_is_upper(a->structure) ? JBLAS_UPPER : JBLAS_LOWER,
                         .n = a->rows,
                         .a = a->data,
                         .lda = ji_max(1, a->rows),
                         .w = ji_operation_array(op),
                         .info = &op->found.info};
}

jstatus_t ji_eigen_prepare(ji_operation_t *op) {
    JTRY_RETURN(copy_a(op));
    op->operands[0].expand = false; /* the stored triangle is enough */
    ji_driver_t block = eigen_block(op);
    jplan_t plan;
    JTRY_RETURN(ji_call_syevd_plan(op->handle, &block, &plan));
    count_callee(op, &plan);
    op->waits = true;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_eigen_run(ji_operation_t *op) {
    ji_matrix_t vectors = op->operands[0].matrix;
    ji_driver_t block = eigen_block(op);
    vectors.structure = JSTRUCTURE_GENERAL;

    jstatus_t status = JSTATUS_SUCCESS;
    if (goes_on(&status, ji_call_syevd(op->handle, &block)) &&
        goes_on(&status, give(op, 1, vectors)))
        ji_operation_widen_array(op);
    return status;
}

/* ---- Singular values ---- */

/* The larger one of U and V^H comes over A's copy, the other one, which is square, into the
 * workspace. */
static ji_driver_t svd_block(ji_operation_t *op) {
    const ji_matrix_t *a = &op->operands[0].matrix;
    const bool vectors = op->operands[1].buffer != NULL || op->operands[2].buffer != NULL,
               tall = a->rows >= a->columns;
    const int64_t ld = ji_max(1, smaller_of(op));
    ji_driver_t block = {.head = {.type = op->type},
                         .jobz = vectors ? JLAPACK_OVERWRITE : JLAPACK_NONE,
                         .m = a->rows,
                         .n = a->columns,
                         .a = a->data,
                         .lda = ji_max(1, a->rows),
                         .s = ji_operation_array(op),
                         .ldu = vectors && !tall ? ld : 1,
                         .ldvt = vectors && tall ? ld : 1,
                         .info = &op->found.info};
    if (vectors)
        *(tall ? &block.vt : &block.u) = ji_operation_extra(op);
    return block;
}

jstatus_t ji_svd_prepare(ji_operation_t *op) {
    JTRY_RETURN(copy_a(op));
    ji_driver_t block = svd_block(op);
    jplan_t plan;
    JTRY_RETURN(ji_call_gesdd_plan(op->handle, &block, &plan));
    count_callee(op, &plan);
    if (block.jobz != JLAPACK_NONE)
        op->extra_bytes = jalloc_matrix_bytes(op->type, smaller_of(op), smaller_of(op));
    op->waits = true;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_svd_run(ji_operation_t *op) {
    const ji_matrix_t *a = &op->operands[0].matrix;
    const int64_t k = smaller_of(op);
    const ji_matrix_t square = packed(op->type, k, k, ji_operation_extra(op));
    const bool tall = a->rows >= a->columns;

    ji_driver_t block = svd_block(op);
    jstatus_t status = JSTATUS_SUCCESS;
    if (goes_on(&status, ji_call_gesdd(op->handle, &block)) &&
        goes_on(&status, give(op, 1, tall ? *a : square)) &&
        goes_on(&status, give(op, 2, tall ? square : *a)))
        ji_operation_widen_array(op);
    return status;
}
