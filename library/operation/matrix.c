/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Product, triangular solve and Cholesky: one call of jblas each, or of ScaLAPACK.
 *
 * BLAS takes column-major matrices. A row-major one is the column-major matrix of its transpose, so it is read by
 * another operation and with the other triangle. Where the result is row-major the whole equation is transposed:
 *
 *     C = op(A) op(B)     becomes     C^T = op(B)^T op(A)^T
 *     op(A) X = B         becomes     X^T op(A)^T = B^T
 *
 * So each matrix is read with one bit for "transposed" and one for "conjugated". BLAS has no operation that conjugates
 * alone: such an operand, and one that lies in neither order, is packed. */

#include "operation/operation.h"

/* ---- How BLAS reads a matrix ---- */

typedef struct reading {
    jblas_operation_t operation;
    jblas_uplo_t uplo; /* of one with a structure: the triangle that BLAS sees stored */
    int64_t leading_dimension;
    bool row_major;
} reading_t;

/* Whether the matrix lies in this order and can be read in it with these bits. */
static bool can_read_in(bool row_major, const ji_matrix_t *matrix, bool transposed, bool conjugated,
                        reading_t *reading) {
    const ji_matrix_t across = ji_matrix_transposed(matrix), *seen = row_major ? &across : matrix;
    const bool turned = transposed != row_major;
    if (!ji_matrix_is_column_major(seen) || (conjugated && !turned))
        return false;
    *reading = (reading_t){conjugated ? JBLAS_CONJUGATE_TRANSPOSE
                           : turned   ? JBLAS_TRANSPOSE
                                      : JBLAS_NO_TRANSPOSE,
                           ji_structure_is_upper(seen->structure) ? JBLAS_UPPER : JBLAS_LOWER,
                           ji_matrix_leading_dimension(seen), row_major};
    return true;
}

/* In either order. */
static bool can_read(const ji_matrix_t *matrix, bool transposed, bool conjugated, reading_t *reading) {
    return can_read_in(false, matrix, transposed, conjugated, reading) ||
           can_read_in(true, matrix, transposed, conjugated, reading);
}

/* As symm and hemm read: itself or, transposed, the row-major matrix. One row or column may lie in both orders, and a copy
 * of it in more than it did, so the order is asked for: what is decided must not change with the copy. */
static bool can_read_plain(const ji_matrix_t *matrix, bool transposed, reading_t *reading) {
    return can_read_in(transposed, matrix, transposed, false, reading);
}

static bool is_conjugated(const ji_operation_t *op, int which) {
    return op->operation[which] == JBLAS_CONJUGATE_TRANSPOSE && ji_is_complex(op->type);
}
static bool is_transposed(const ji_operation_t *op, int which) { return op->operation[which] != JBLAS_NO_TRANSPOSE; }

static bool is_symmetric(jstructure_t structure) {
    return structure != JSTRUCTURE_GENERAL && !ji_structure_is_triangular(structure);
}

/* Wants a copy that can be read with these bits. */
static void pack(ji_operand_t *operand, bool transposed, bool conjugated) {
    operand->pack = true;
    operand->pack_row = conjugated && !transposed;
}

/* ---- Product ---- */

/* How jblas is called for a product. */
typedef struct product_call {
    bool flip;            /* C is row-major */
    int special;          /* the factor whose structure symm or hemm reads: 0 A, 1 B; -1: gemm */
    reading_t factors[2]; /* A, B */
    reading_t result;
} product_call_t;

/* Whether symm or hemm reads the factor as the product wants it: itself or its conjugate. */
static bool product_reads_structure(const ji_operation_t *op, const ji_matrix_t *matrix, int which, bool flip,
                                    reading_t *reading) {
    if (!is_symmetric(matrix->structure))
        return false;
    const bool complex_hermitian = ji_structure_is_hermitian(matrix->structure) && ji_is_complex(op->type);
    const bool turned = is_transposed(op, which) != flip;
    const bool wants_conjugate = is_conjugated(op, which) != (complex_hermitian && turned);
    /* A symmetric matrix in either order is itself; a Hermitian one in row-major order is its conjugate. */
    if (!complex_hermitian)
        return !wants_conjugate && (can_read(matrix, false, false, reading));
    return can_read_plain(matrix, wants_conjugate, reading);
}

/* Decides, and says what has to be packed: of matrices that were, nothing. */
static void product_decide(ji_operation_t *op, const ji_matrix_t *const matrices[JI_OPERANDS], product_call_t *call) {
    ji_operand_t *packs = op->operands;
    call->special = -1;
    call->flip = false;
    if (can_read(matrices[2], false, false, &call->result))
        call->flip = call->result.operation != JBLAS_NO_TRANSPOSE;
    else
        pack(&packs[2], false, false);
    for (int which = 0; which < 2; which++) {
        const int other = 1 - which;
        const bool transposed = is_transposed(op, other) != call->flip, conjugated = is_conjugated(op, other);
        const bool structured = matrices[other]->structure != JSTRUCTURE_GENERAL;
        if (!product_reads_structure(op, matrices[which], which, call->flip, &call->factors[which]) || conjugated)
            continue;
        if (structured) {
            packs[other].pack = packs[other].expand = true;
            packs[other].pack_row = transposed;
        } else if (!can_read_plain(matrices[other], transposed, &call->factors[other])) {
            continue;
        }
        call->special = which;
        return;
    }
    for (int which = 0; which < 2; which++) {
        const bool transposed = is_transposed(op, which) != call->flip, conjugated = is_conjugated(op, which);
        packs[which].expand = matrices[which]->structure != JSTRUCTURE_GENERAL;
        if (packs[which].expand || !can_read(matrices[which], transposed, conjugated, &call->factors[which]))
            pack(&packs[which], transposed, conjugated);
    }
}

static void product_sizes(const ji_operation_t *op, int64_t *m, int64_t *n, int64_t *k) {
    const ji_matrix_t a = ji_matrix(op->type, &op->operands[0].layout, NULL),
                      b = ji_matrix(op->type, &op->operands[1].layout, NULL);
    *m = is_transposed(op, 0) ? a.columns : a.rows;
    *k = is_transposed(op, 0) ? a.rows : a.columns;
    *n = is_transposed(op, 1) ? b.rows : b.columns;
}

static jstatus_t product_check(ji_operation_t *op) {
    ji_operand_t *a = &op->operands[0], *b = &op->operands[1], *c = &op->operands[2];
    JTRY_RETURN(ji_operation_check_operation(op, op->operation[0]));
    JTRY_RETURN(ji_operation_check_operation(op, op->operation[1]));
    JTRY_RETURN(ji_operation_check_matrix(op, 0));
    JTRY_RETURN(ji_operation_check_matrix(op, 1));
    const ji_matrix_t right = ji_matrix(op->type, &b->layout, NULL);
    int64_t m, n, k;
    product_sizes(op, &m, &n, &k);
    if ((is_transposed(op, 1) ? right.columns : right.rows) != k)
        return ji_operation_refuse_shapes(op, &a->layout, &b->layout);
    if (!ji_is_query(op->handle) && (op->scalars[0] == NULL || op->scalars[1] == NULL))
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: %s is NULL", op->name, op->scalars[0] ? "beta" : "alpha");
    const bool reads_c = op->scalars[1] == NULL || !ji_is_zero(op->type, op->scalars[1]);
    if (c->buffer == NULL) {
        if (reads_c && op->scalars[1] != NULL)
            return ji_fail(JSTATUS_INVALID_VALUE, "%s: beta is not 0, and there is no C", op->name);
        /* A matrix times a vector is a vector. */
        return jlayout_init(&c->layout, b->layout.rank == 1 && op->operation[1] == JBLAS_NO_TRANSPOSE ? 1 : 2,
                            (const int64_t[]){m, n}, JORDER_COLUMN_MAJOR);
    }
    c->access = reads_c ? JI_UPDATES : JI_WRITES;
    JTRY_RETURN(ji_operation_check_matrix(op, 2));
    const ji_matrix_t result = ji_matrix(op->type, &c->layout, NULL);
    if (result.rows != m || result.columns != n)
        return ji_operation_refuse_shapes(op, &(jlayout_t){.rank = 2, .extents = {m, n}}, &c->layout);
    if (result.structure != JSTRUCTURE_GENERAL)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: C has a structure, which a product does not keep", op->name);
    return JSTATUS_SUCCESS;
}

/* Whether op leaves a symmetric or Hermitian matrix as it is. */
static bool product_leaves(const ji_operation_t *op, int which) {
    const jstructure_t structure = op->operands[which].layout.structure;
    if (!is_symmetric(structure))
        return false;
    return !ji_is_complex(op->type) || op->operation[which] == JBLAS_NO_TRANSPOSE ||
           (op->operation[which] == JBLAS_CONJUGATE_TRANSPOSE) == ji_structure_is_hermitian(structure);
}

static jstatus_t product_prepare_distributed(ji_operation_t *op) {
    int special = -1;
    for (int which = 0; which < 2 && special < 0; which++)
        if (product_leaves(op, which) && op->operation[1 - which] == JBLAS_NO_TRANSPOSE)
            special = which;
    for (int which = 0; which < 2; which++)
        op->operands[which].expand = which != special;
    return JSTATUS_SUCCESS;
}

static jstatus_t product_prepare(ji_operation_t *op) {
    if (op->distributed)
        return product_prepare_distributed(op);
    const ji_matrix_t *matrices[JI_OPERANDS];
    for (int i = 0; i < JI_OPERANDS; i++)
        matrices[i] = &op->operands[i].stored;
    product_call_t call;
    product_decide(op, matrices, &call);
    if (call.special >= 0)
        return JSTATUS_SUCCESS; /* symm has no plan */
    ji_matmat_t block = {.head = {.type = op->type}};
    product_sizes(op, call.flip ? &block.n : &block.m, call.flip ? &block.m : &block.n, &block.k);
    op->callee_bytes = ji_gemm_bytes(op->handle, &block);
    return JSTATUS_SUCCESS;
}

static jstatus_t product_run(ji_operation_t *op) {
    const void *alpha = op->scalars[0], *beta = op->scalars[1];
    if (op->distributed)
        return op->ops->product(op->operation[0], op->operation[1], alpha, ji_operand_buffer(&op->operands[0]),
                                ji_operand_buffer(&op->operands[1]), beta, ji_operand_buffer(&op->operands[2]));
    const ji_matrix_t *matrices[JI_OPERANDS];
    for (int i = 0; i < JI_OPERANDS; i++)
        matrices[i] = &op->operands[i].matrix;
    product_call_t call;
    product_decide(op, matrices, &call);
    /* The special factor is the one that symm or hemm names A. */
    const int first = call.special >= 0 ? call.special : call.flip, second = 1 - first;
    ji_matmat_t block = {.head = {.type = op->type},
                         .alpha.pointer = alpha,
                         .a = matrices[first]->data,
                         .lda = call.factors[first].leading_dimension,
                         .b = matrices[second]->data,
                         .ldb = call.factors[second].leading_dimension,
                         .beta.pointer = beta,
                         .c = matrices[2]->data,
                         .ldc = call.result.leading_dimension};
    product_sizes(op, call.flip ? &block.n : &block.m, call.flip ? &block.m : &block.n, &block.k);
    if (call.special < 0) {
        block.transa = call.factors[first].operation;
        block.transb = call.factors[second].operation;
        return ji_call_gemm(op->handle, &block);
    }
    const bool hermitian = ji_structure_is_hermitian(matrices[first]->structure) && ji_is_complex(op->type);
    block.side = (first == 0) != call.flip ? JBLAS_LEFT : JBLAS_RIGHT;
    block.uplo = call.factors[first].uplo;
    return hermitian ? ji_call_hemm(op->handle, &block) : ji_call_symm(op->handle, &block);
}

jstatus_t jbuffer_product(jhandle_t *handle, jblas_operation_t operation_a, jblas_operation_t operation_b,
                          const void *alpha, const jbuffer_t *a, const jbuffer_t *b, const void *beta, jbuffer_t **c) {
    static const ji_operation_class_t product = {product_prepare, product_run, .by_scalapack = true};
    ji_operation_t op = {.name = __func__,
                         .handle = handle,
                         .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS},
                                      {.buffer = (jbuffer_t *)b, .access = JI_READS},
                                      {.buffer = c ? *c : NULL, .access = JI_WRITES}},
                         .count = 3,
                         .result = c,
                         .operation = {operation_a, operation_b},
                         .scalars = {alpha, beta}};
    jstatus_t status = ji_operation_check(&op);
    if (status == JSTATUS_SUCCESS)
        status = product_check(&op);
    return ji_operation_run(&op, status, &product);
}

/* ---- Triangular solve ---- */

static jstatus_t solve_check(ji_operation_t *op) {
    const ji_operand_t *a = &op->operands[0], *b = &op->operands[1];
    JTRY_RETURN(ji_operation_check_operation(op, op->operation[0]));
    if (op->side != JBLAS_LEFT && op->side != JBLAS_RIGHT)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: side = %d: " JI_MUST_BE_SIDE, op->name, (int)op->side);
    if (op->diagonal != JBLAS_NON_UNIT && op->diagonal != JBLAS_UNIT)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: diagonal = %d: " JI_MUST_BE_DIAGONAL, op->name, (int)op->diagonal);
    JTRY_RETURN(ji_operation_check_matrix(op, 1));
    if (!ji_structure_is_triangular(a->layout.structure))
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: A is not triangular: see jbuffer_with_structure()", op->name);
    if (b->layout.structure != JSTRUCTURE_GENERAL)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: B has a structure, which a solution does not keep", op->name);
    const ji_matrix_t right = ji_matrix(op->type, &b->layout, NULL);
    if (a->layout.extents[0] != (op->side == JBLAS_LEFT ? right.rows : right.columns))
        return ji_operation_refuse_shapes(op, &a->layout, &b->layout);
    if (op->scalars[0] == NULL && !ji_is_query(op->handle))
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: alpha is NULL", op->name);
    return JSTATUS_SUCCESS;
}

/* The arguments of trsm but for pointers; says what has to be packed. */
static ji_matmat_t solve_block(ji_operation_t *op, const ji_matrix_t *a, const ji_matrix_t *b) {
    reading_t result = {.operation = JBLAS_NO_TRANSPOSE, .leading_dimension = ji_max(1, b->rows)};
    if (!can_read(b, false, false, &result))
        pack(&op->operands[1], false, false);
    const bool flip = result.operation != JBLAS_NO_TRANSPOSE;
    const bool transposed = is_transposed(op, 0) != flip, conjugated = is_conjugated(op, 0);
    reading_t triangle = {.operation = JBLAS_NO_TRANSPOSE, .leading_dimension = ji_max(1, a->rows)};
    if (!can_read(a, transposed, conjugated, &triangle))
        pack(&op->operands[0], transposed, conjugated);
    return (ji_matmat_t){.head = {.type = op->type},
                         .side = (op->side == JBLAS_LEFT) != flip ? JBLAS_LEFT : JBLAS_RIGHT,
                         .uplo = triangle.uplo,
                         .transa = triangle.operation,
                         .diag = op->diagonal,
                         .m = flip ? b->columns : b->rows,
                         .n = flip ? b->rows : b->columns,
                         .lda = triangle.leading_dimension,
                         .ldb = result.leading_dimension};
}

static jstatus_t solve_prepare(ji_operation_t *op) {
    if (op->distributed)
        return JSTATUS_SUCCESS;
    ji_matmat_t block = solve_block(op, &op->operands[0].stored, &op->operands[1].stored);
    op->callee_bytes = ji_trsm_bytes(op->handle, &block);
    return JSTATUS_SUCCESS;
}

static jstatus_t solve_run(ji_operation_t *op) {
    if (op->distributed)
        return op->ops->solve_triangular(op->side, op->operation[0], op->diagonal, op->scalars[0],
                                         ji_operand_buffer(&op->operands[0]), ji_operand_buffer(&op->operands[1]));
    const ji_matrix_t *a = &op->operands[0].matrix, *b = &op->operands[1].matrix;
    ji_matmat_t block = solve_block(op, a, b);
    block.alpha.pointer = op->scalars[0];
    block.a = a->data;
    block.b = b->data;
    return ji_call_trsm(op->handle, &block);
}

jstatus_t jbuffer_solve_triangular(jhandle_t *handle, jblas_side_t side, jblas_operation_t operation,
                                   jblas_diagonal_t diagonal, const void *alpha, const jbuffer_t *a, jbuffer_t *b) {
    static const ji_operation_class_t solve = {solve_prepare, solve_run, .by_scalapack = true};
    ji_operation_t op = {
        .name = __func__,
        .handle = handle,
        .operands = {{.buffer = (jbuffer_t *)a, .access = JI_READS}, {.buffer = b, .access = JI_UPDATES}},
        .count = 2,
        .operation = {operation},
        .side = side,
        .diagonal = diagonal,
        .scalars = {alpha}};
    jstatus_t status = ji_operation_check(&op);
    if (status == JSTATUS_SUCCESS)
        status = solve_check(&op);
    return ji_operation_run(&op, status, &solve);
}

/* ---- Cholesky ---- */

static jstatus_t cholesky_check(const ji_operation_t *op, const int64_t *info) {
    const jstructure_t family = ji_structure_family(op->operands[0].layout.structure, op->type);
    if (family != (ji_is_complex(op->type) ? JSTRUCTURE_HERMITIAN_UPPER : JSTRUCTURE_SYMMETRIC_UPPER))
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: A is not %s: see jbuffer_with_structure()", op->name,
                       ji_is_complex(op->type) ? "Hermitian" : "symmetric");
    if (info == NULL && !ji_is_query(op->handle))
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: info is NULL", op->name);
    return JSTATUS_SUCCESS;
}

/* Row-major, the matrix is its conjugate, whose factor in the other triangle is the transpose of the one wanted: it
 * lies where that belongs. */
static ji_matmat_t cholesky_block(ji_operation_t *op, const ji_matrix_t *a) {
    reading_t read = {.operation = JBLAS_NO_TRANSPOSE, .uplo = JBLAS_UPPER, .leading_dimension = ji_max(1, a->rows)};
    if (!can_read(a, false, false, &read))
        pack(&op->operands[0], false, false);
    return (ji_matmat_t){.head = {.type = op->type}, .uplo = read.uplo, .n = a->rows, .lda = read.leading_dimension};
}

static jstatus_t cholesky_prepare(ji_operation_t *op) {
    ji_operand_t *a = &op->operands[0];
    if (op->distributed) {
        const jdistribution_t *d = &a->buffer->storage->distribution;
        const int64_t *starts = a->buffer->starts;
        a->align = d->blocks[0] != d->blocks[1] || starts[0] % d->blocks[0] != 0 || starts[1] % d->blocks[0] != 0;
        return JSTATUS_SUCCESS;
    }
    ji_matmat_t block = cholesky_block(op, &a->stored);
    op->callee_bytes = ji_potrf_bytes(op->handle, &block);
    return JSTATUS_SUCCESS;
}

static jstatus_t cholesky_run(ji_operation_t *op) {
    if (op->distributed)
        return op->ops->cholesky(ji_operand_buffer(&op->operands[0]), op->info);
    const ji_matrix_t *a = &op->operands[0].matrix;
    ji_matmat_t block = cholesky_block(op, a);
    block.a = a->data;
    block.info = op->info;
    return ji_call_potrf(op->handle, &block);
}

jstatus_t jbuffer_cholesky(jhandle_t *handle, jbuffer_t *a, int64_t *info) {
    static const ji_operation_class_t cholesky = {cholesky_prepare, cholesky_run, .by_scalapack = true};
    int64_t found = 0;
    ji_operation_t op = {.name = __func__,
                         .handle = handle,
                         .operands = {{.buffer = a, .access = JI_UPDATES}},
                         .count = 1,
                         .info = &found};
    jstatus_t status = ji_operation_check(&op);
    if (status == JSTATUS_SUCCESS)
        status = cholesky_check(&op, info);
    status = ji_operation_run(&op, status, &cholesky);
    if (!jstatus_is_error(status) && info != NULL && !jhandle_is_size_query(handle))
        *info = found;
    return status;
}
