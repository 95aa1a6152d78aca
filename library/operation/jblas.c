/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The backend of local and replicated buffers: one call of jblas for each operation, or of jlapack
 * (jlapack.c).
 *
 * BLAS takes column-major matrices. A row-major one is the column-major matrix of its transpose, so
 * it is read by another operation and with the other triangle. Where the result is row-major the
 * whole equation is transposed:
 *
 *     C = op(A) op(B)     becomes     C^T = op(B)^T op(A)^T
 *     op(A) X = B         becomes     X^T op(A)^T = B^T
 *
 * So each matrix is read with one bit for "transposed" and one for "conjugated". BLAS has no
 * operation that conjugates alone: such an operand, and one that lies in neither order, is packed,
 * as is one that the result overlaps. */

#include "operation/operation.h"

#include "lapack/lapack.h"
#include "operation/jlapack.h"

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
static bool can_read(const ji_matrix_t *matrix, bool transposed, bool conjugated,
                     reading_t *reading) {
    return can_read_in(false, matrix, transposed, conjugated, reading) ||
           can_read_in(true, matrix, transposed, conjugated, reading);
}

/* As symm and hemm read: itself or, transposed, the row-major matrix. One row or column may lie in
 * both orders, and a copy of it in more than it did, so the order is asked for: what is decided
 * must not change with the copy. */
static bool can_read_plain(const ji_matrix_t *matrix, bool transposed, reading_t *reading) {
    return can_read_in(transposed, matrix, transposed, false, reading);
}

static bool is_conjugated(const ji_operation_t *op, int which) {
    return op->operation[which] == JBLAS_CONJUGATE_TRANSPOSE && ji_is_complex(op->type);
}

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
static bool product_reads_structure(const ji_operation_t *op, const ji_matrix_t *matrix, int which,
                                    bool flip, reading_t *reading) {
    if (!is_symmetric(matrix->structure))
        return false;

    const bool complex_hermitian =
        ji_structure_is_hermitian(matrix->structure) && ji_is_complex(op->type);
    const bool turned = ji_operation_transposes(op, which) != flip;
    const bool wants_conjugate = is_conjugated(op, which) != (complex_hermitian && turned);

    /* A symmetric matrix in either order is itself; a Hermitian one in row-major order is its
     * conjugate. */
    if (!complex_hermitian)
        return !wants_conjugate && (can_read(matrix, false, false, reading));
    return can_read_plain(matrix, wants_conjugate, reading);
}

/* Decides, and says what has to be packed: of matrices that were, nothing. */
static product_call_t product_decide(ji_operation_t *op) {
    ji_operand_t *operands = op->operands;
    product_call_t call = {.special = -1};

    if (can_read(&operands[2].matrix, false, false, &call.result))
        call.flip = call.result.operation != JBLAS_NO_TRANSPOSE;
    else
        pack(&operands[2], false, false);

    for (int which = 0; which < 2; which++) {
        const int other = 1 - which;
        const bool transposed = ji_operation_transposes(op, other) != call.flip,
                   conjugated = is_conjugated(op, other);
        const bool structured = operands[other].matrix.structure != JSTRUCTURE_GENERAL;
        if (!product_reads_structure(op, &operands[which].matrix, which, call.flip,
                                     &call.factors[which]) ||
            conjugated)
            continue;

        if (structured) {
            operands[other].pack = operands[other].expand = true;
            operands[other].pack_row = transposed;
        } else if (!can_read_plain(&operands[other].matrix, transposed, &call.factors[other])) {
            continue;
        }

        call.special = which;
        return call;
    }

    for (int which = 0; which < 2; which++) {
        const bool transposed = ji_operation_transposes(op, which) != call.flip,
                   conjugated = is_conjugated(op, which);
        operands[which].expand = operands[which].matrix.structure != JSTRUCTURE_GENERAL;
        if (operands[which].expand ||
            !can_read(&operands[which].matrix, transposed, conjugated, &call.factors[which]))
            pack(&operands[which], transposed, conjugated);
    }
    return call;
}

static jstatus_t product_prepare(ji_operation_t *op) {
    const product_call_t call = product_decide(op);
    if (call.special >= 0)
        return JSTATUS_SUCCESS; /* symm has no plan */

    ji_matmat_t block = {.head = {.type = op->type}};
    ji_product_sizes(op, call.flip ? &block.n : &block.m, call.flip ? &block.m : &block.n,
                     &block.k);
    op->callee_bytes = ji_gemm_bytes(op->handle, &block);
    return JSTATUS_SUCCESS;
}

static jstatus_t product_run(ji_operation_t *op) {
    const product_call_t call = product_decide(op);

    /* The special factor is the one that symm or hemm names A. */
    const int first = call.special >= 0 ? call.special : call.flip, second = 1 - first;
    const ji_matrix_t *a = &op->operands[first].matrix;

    ji_matmat_t block = {.head = {.type = op->type},
                         .alpha.pointer = op->scalars[0],
                         .a = a->data,
                         .lda = call.factors[first].leading_dimension,
                         .b = op->operands[second].matrix.data,
                         .ldb = call.factors[second].leading_dimension,
                         .beta.pointer = op->scalars[1],
                         .c = op->operands[2].matrix.data,
                         .ldc = call.result.leading_dimension};
    ji_product_sizes(op, call.flip ? &block.n : &block.m, call.flip ? &block.m : &block.n,
                     &block.k);

    if (call.special < 0) {
        block.transa = call.factors[first].operation;
        block.transb = call.factors[second].operation;
        return ji_call_gemm(op->handle, &block);
    }

    const bool hermitian = ji_structure_is_hermitian(a->structure) && ji_is_complex(op->type);
    block.side = (first == 0) != call.flip ? JBLAS_LEFT : JBLAS_RIGHT;
    block.uplo = call.factors[first].uplo;
    return hermitian ? ji_call_hemm(op->handle, &block) : ji_call_symm(op->handle, &block);
}

/* ---- Triangular solve ---- */

/* The arguments of trsm but for alpha; says what has to be packed. */
static ji_matmat_t triangular_block(ji_operation_t *op) {
    const ji_matrix_t *a = &op->operands[0].matrix, *b = &op->operands[1].matrix;

    reading_t result = {.operation = JBLAS_NO_TRANSPOSE, .leading_dimension = ji_max(1, b->rows)};
    if (!can_read(b, false, false, &result))
        pack(&op->operands[1], false, false);

    const bool flip = result.operation != JBLAS_NO_TRANSPOSE;
    const bool transposed = ji_operation_transposes(op, 0) != flip,
               conjugated = is_conjugated(op, 0);

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
                         .a = a->data,
                         .lda = triangle.leading_dimension,
                         .b = b->data,
                         .ldb = result.leading_dimension};
}

static jstatus_t triangular_prepare(ji_operation_t *op) {
    ji_matmat_t block = triangular_block(op);
    op->callee_bytes = ji_trsm_bytes(op->handle, &block);
    return JSTATUS_SUCCESS;
}

static jstatus_t triangular_run(ji_operation_t *op) {
    ji_matmat_t block = triangular_block(op);
    block.alpha.pointer = op->scalars[0];
    return ji_call_trsm(op->handle, &block);
}

/* ---- Cholesky ---- */

/* Row-major, the matrix is its conjugate, whose factor in the other triangle is the transpose of
 * the one wanted: it lies where that belongs. */
static ji_matmat_t cholesky_block(ji_operation_t *op) {
    const ji_matrix_t *a = &op->operands[0].matrix;
    reading_t read = {.operation = JBLAS_NO_TRANSPOSE,
                      .uplo = JBLAS_UPPER,
                      .leading_dimension = ji_max(1, a->rows)};
    if (!can_read(a, false, false, &read))
        pack(&op->operands[0], false, false);

    return (ji_matmat_t){.head = {.type = op->type},
                         .uplo = read.uplo,
                         .n = a->rows,
                         .a = a->data,
                         .lda = read.leading_dimension,
                         .info = &op->found.info};
}

static jstatus_t cholesky_prepare(ji_operation_t *op) {
    ji_matmat_t block = cholesky_block(op);
    op->callee_bytes = ji_potrf_bytes(op->handle, &block);
    return JSTATUS_SUCCESS;
}

static jstatus_t cholesky_run(ji_operation_t *op) {
    ji_matmat_t block = cholesky_block(op);
    return ji_call_potrf(op->handle, &block);
}

/* ---- Add and transpose ---- */

/* The sum of buffers of any rank; packed copies stand in for operands as they do for matrices. */
static jstatus_t add_slices(const ji_operation_t *op) {
    const ji_operand_t *a = &op->operands[0], *b = &op->operands[1], *c = &op->operands[2];
    const ji_layout_term_t terms[2] = {{op->scalars[0], &a->view, a->data},
                                       {op->scalars[1], &b->view, b->data}};
    return ji_layout_add(op->handle, op->type, terms, &c->view, c->data);
}

static jstatus_t add_run(ji_operation_t *op) {
    if (op->operands[2].layout.rank > 2)
        return add_slices(op);
    const ji_term_t terms[2] = {{op->scalars[0], JBLAS_NO_TRANSPOSE, op->operands[0].matrix},
                                {op->scalars[1], JBLAS_NO_TRANSPOSE, op->operands[1].matrix}};
    return ji_matrix_add(op->handle, terms, &op->operands[2].matrix);
}

static jstatus_t transpose_run(ji_operation_t *op) {
    return ji_matrix_copy(op->handle, op->operation[0], &op->operands[1].matrix,
                          &op->operands[0].matrix);
}

/* ---- Stand-ins ---- */

/* A local operand among replicated ones is rank 0's, which all need. */
static bool needs_temporary(const ji_operation_t *op, const ji_operand_t *operand) {
    /* What is shared on a node, among results that are not, is written by a copy. */
    const bool apart =
        operand->access != JI_READS && ji_buffer_is_shared(operand->buffer) && !op->by_leaders;
    return apart || (op->mixed && ji_buffer_kind(operand->buffer) == JBUFFER_LOCAL);
}

/* The order in which the matrix lies, or is nearest to lying. */
static bool is_row_major(const ji_matrix_t *matrix) {
    return !ji_matrix_is_column_major(matrix) && matrix->column_stride < matrix->row_stride;
}

/* What is packed: what BLAS cannot take, as the way says, and operands that the result overlaps,
 * unless that is computed in memory of its own. These lie in the copy as they did, so that BLAS
 * takes them the same way. */
static jstatus_t finish(ji_operation_t *op) {
    for (int i = 0; i < op->count; i++) {
        ji_operand_t *operand = &op->operands[i];
        const jbuffer_t *buffer = ji_operand_buffer(operand);
        if (operand->layout.rank <= 2)
            operand->stored =
                ji_matrix(op->type, buffer != NULL ? &buffer->layout : &operand->layout, NULL);
        operand->matrix = operand->stored;
    }

    JTRY_RETURN(ji_operation_prepare(op));

    const bool in_place = !op->operands[op->count - 1].pack;
    for (int i = 0; i < op->count; i++) {
        ji_operand_t *operand = &op->operands[i];
        /* A stand-in may be written as it is, which lies column-major. */
        const bool structured = operand->layout.structure != JSTRUCTURE_GENERAL;
        if (operand->overwrite && (operand->temporary == NULL || (operand->expand && structured)))
            operand->pack = true;

        if (operand->detach && in_place && operand->temporary == NULL && !operand->pack) {
            operand->pack = true;
            operand->pack_row = is_row_major(&operand->stored);
        }

        if (!operand->pack)
            continue;
        int64_t count = 0;
        (void)jlayout_get_count(&operand->layout, &count);
        op->bytes[JI_SLOT_PACKED + i] = jalloc_mul(count, ji_sizeof(op->type));
    }
    return JSTATUS_SUCCESS;
}

/* Where operands and packed copies lie. */
static void locate_operands(ji_operation_t *op) {
    for (int i = 0; i < op->count; i++) {
        ji_operand_t *operand = &op->operands[i];
        jbuffer_t *buffer = ji_operand_buffer(operand);
        if (buffer == NULL)
            continue;

        operand->view = buffer->layout;
        operand->data = ji_buffer_data(buffer);
        if (operand->pack) {
            (void)jlayout_init(&operand->view, operand->layout.rank, operand->layout.extents,
                               JORDER_COLUMN_MAJOR);
            operand->data = op->ws.ptr[JI_SLOT_PACKED + i];
        }

        if (operand->layout.rank > 2)
            continue;
        operand->stored = ji_matrix(op->type, &buffer->layout, ji_buffer_data(buffer));
        operand->matrix = operand->stored;

        if (!operand->pack)
            continue;
        operand->matrix.data = op->ws.ptr[JI_SLOT_PACKED + i];
        operand->matrix.row_stride = operand->pack_row ? ji_max(1, operand->stored.columns) : 1;
        operand->matrix.column_stride = operand->pack_row ? 1 : ji_max(1, operand->stored.rows);
        if (operand->expand)
            operand->matrix.structure = JSTRUCTURE_GENERAL;
    }
}

static jstatus_t pack_operand(const ji_operation_t *op, const ji_operand_t *operand) {
    if (operand->layout.rank <= 2)
        return ji_matrix_copy(op->handle, JBLAS_NO_TRANSPOSE, &operand->matrix, &operand->stored);

    const ji_layout_term_t terms[2] = {
        {&ji_one[op->type], &operand->buffer->layout, ji_buffer_data(operand->buffer)}, {0}};
    return ji_layout_add(op->handle, op->type, terms, &operand->view, operand->data);
}

static jstatus_t run(ji_operation_t *op) {
    jstatus_t status = JSTATUS_SUCCESS, ran = JSTATUS_SUCCESS;

    locate_operands(op);
    for (int i = 0; i < op->count && status == JSTATUS_SUCCESS; i++)
        if (op->operands[i].pack && op->operands[i].access != JI_WRITES)
            status = pack_operand(op, &op->operands[i]);

    if (status == JSTATUS_SUCCESS)
        status = ran = op->way->run(op);

    for (int i = 0; i < op->count && !jstatus_is_error(status); i++)
        if (op->operands[i].pack && op->operands[i].access != JI_READS) {
            status = ji_matrix_copy(op->handle, JBLAS_NO_TRANSPOSE, &op->operands[i].stored,
                                    &op->operands[i].matrix);
            status = status == JSTATUS_SUCCESS ? ran : status;
        }
    return status;
}

const ji_backend_t ji_backend_jblas = {
    .needs_temporary = needs_temporary,
    .finish = finish,
    .run = run,
    .ways = {[JI_ADD] = {.run = add_run},
             [JI_TRANSPOSE] = {.run = transpose_run},
             [JI_PRODUCT] = {product_prepare, product_run},
             [JI_SOLVE_TRIANGULAR] = {triangular_prepare, triangular_run},
             [JI_CHOLESKY] = {cholesky_prepare, cholesky_run},
             [JI_SOLVE_BY_LU] = {ji_solve_prepare, ji_solve_run},
             [JI_LU] = {ji_lu_prepare, ji_lu_run},
             [JI_LU_SOLVE] = {ji_lu_solve_prepare, ji_lu_solve_run},
             [JI_QR] = {ji_qr_prepare, ji_qr_run},
             [JI_LEAST_SQUARES] = {ji_least_squares_prepare, ji_least_squares_run},
             [JI_EIGEN_SYMMETRIC] = {ji_eigen_prepare, ji_eigen_run},
             [JI_SVD] = {ji_svd_prepare, ji_svd_run}}};
