/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Products with the Q of a QR or an LQ, and Q itself: a block of reflectors after the other, whose
 * V1 and T are made anew (qr.c). */

#include "blas/routine/setup.h"
#include "lapack/host/qr.h"
#include "lapack/host/reflector.h"

/* Reflectors [j, j + count) of A, which has so many rows. */
static qr_block_t qr_take_block(const qr_t *qr, int64_t rows, int64_t j, int64_t count) {
    const ji_matmat_t *call = &qr->call;
    const qr_block_t block = {.v = ji_at(qr->type, call->a, j, j, call->lda),
                              .ld = call->lda,
                              .rows = rows - j,
                              .count = count};
    ji_qr_clear_squares(qr);
    for (int64_t i = 0; i < count; i++)
        memcpy(qr_of_square(qr, qr->t, i, i), ji_at(qr->type, call->tau, j + i, 0, 0),
               ji_sizeof(qr->type));
    ji_qr_form(qr, &block);
    return block;
}

/* The reflectors stay where they are. */
static qr_shape_t qr_shape_of_product(const ji_matmat_t *call, bool by_rows) {
    const bool left = call->side == JBLAS_LEFT;
    return (qr_shape_t){.by_rows = by_rows,
                        .to_rows = !left,
                        .reflectors = call->k,
                        .length = left ? call->m : call->n,
                        .others = left ? call->n : call->m};
}

/* By H(1) H(2) ... H(k), or its adjoint. */
static void qr_product(const ji_matmat_t *call, bool by_rows, bool plain) {
    qr_stack_t stack;
    const jdatatype_t type = call->head.type;
    const bool left = call->side == JBLAS_LEFT, last_first = left == plain;
    const qr_shape_t shape = qr_shape_of_product(call, by_rows);
    const qr_t qr = ji_qr_begin(call, &stack, &shape);
    const jblas_operation_t op = plain ? JBLAS_NO_TRANSPOSE : JBLAS_CONJUGATE_TRANSPOSE;

    const int64_t blocks = (call->k + qr.block - 1) / qr.block;
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t j = (last_first ? blocks - 1 - b : b) * qr.block;
        const qr_block_t block = qr_take_block(&qr, shape.length, j, ji_min(qr.block, call->k - j));
        void *const c = ji_at(type, call->c, left ? j : 0, left ? 0 : j, call->ldc);
        (left ? ji_qr_apply_to_columns : ji_qr_apply_to_rows)(&qr, &block, op, c, call->ldc,
                                                              shape.others);
    }
}

void ji_host_ormqr(void *matmat) {
    const ji_matmat_t *call = matmat;
    qr_product(call, false, call->trans == JBLAS_NO_TRANSPOSE);
}
/* LQ's Q is the adjoint of that product. */
void ji_host_ormlq(void *matmat) {
    const ji_matmat_t *call = matmat;
    qr_product(call, true, call->trans != JBLAS_NO_TRANSPOSE);
}

ji_panel_bytes_t ji_ormqr_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    const qr_shape_t shape = qr_shape_of_product(args, false);
    return ji_qr_bytes(handle, &args->head, &shape);
}
ji_panel_bytes_t ji_ormlq_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    const qr_shape_t shape = qr_shape_of_product(args, true);
    return ji_qr_bytes(handle, &args->head, &shape);
}

/* Rows [0, rows) of columns [first, end) become 0. */
static void qr_clear(const qr_t *qr, int64_t rows, int64_t first, int64_t end) {
    const int64_t columns = end - first;
    void *const from = qr_at(qr, qr->call.a, qr->call.lda, 0, first);
    for (int64_t j = 0; j < (qr->by_rows ? rows : columns); j++)
        memset(ji_at(qr->type, from, 0, j, qr->call.lda), 0,
               (size_t)(qr->by_rows ? columns : rows) * ji_sizeof(qr->type));
}

/* The block's own columns: I - V T V1^H. T V1^H is a triangle, so those below are a product in
 * place. */
static void qr_expand(const qr_t *qr, const qr_block_t *block) {
    _Alignas(64) char triangle[QR_SQUARE_BYTES];
    const jdatatype_t type = qr->type;
    const int64_t k = block->count, rows = block->rows - k;
    void *const own = ji_unconst(block->v), *const v1 = qr_top(qr, block);
    ji_matmat_t below = {.head = qr->call.head,
                         .side = qr->by_rows ? JBLAS_LEFT : JBLAS_RIGHT,
                         .uplo = JBLAS_UPPER,
                         .transa = qr->by_rows ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE,
                         .diag = JBLAS_NON_UNIT,
                         .m = qr->by_rows ? k : rows,
                         .n = qr->by_rows ? rows : k,
                         .alpha = ji_constant(type, -1),
                         .a = triangle,
                         .lda = qr->block,
                         .b = qr_below(qr, block),
                         .ldb = block->ld,
                         .panels = qr->call.panels,
                         .panel_bytes = qr->call.panel_bytes};

    ji_qr_multiply(qr, k, k, k, 1, QR_PLAIN(qr_t_of(qr, block), qr->block),
                   QR_ADJOINT(v1, qr->block), 0, triangle, qr->block);
    if (rows > 0)
        ji_host_primitives[JI_TRMM](&below);

    for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i < k; i++)
            ji_number_store(type, ji_at(type, own, i, j, block->ld), i == j, 0);
    if (qr->by_rows)
        ji_qr_multiply(qr, k, k, k, -1, QR_ADJOINT(triangle, qr->block), QR_ADJOINT(v1, qr->block),
                       1, own, block->ld);
    else
        ji_qr_multiply(qr, k, k, k, -1, QR_PLAIN(v1, qr->block), QR_PLAIN(triangle, qr->block), 1,
                       own, block->ld);
}

static qr_shape_t qr_shape_of_q(const ji_matmat_t *call, bool by_rows) {
    return (qr_shape_t){.by_rows = by_rows,
                        .to_rows = by_rows,
                        .reflectors = call->k,
                        .length = by_rows ? call->n : call->m,
                        .others = by_rows ? call->m : call->n};
}

static void qr_make(const ji_matmat_t *call, bool by_rows) {
    qr_stack_t stack;
    const jdatatype_t type = call->head.type;
    const qr_shape_t shape = qr_shape_of_q(call, by_rows);
    const int64_t length = shape.length, columns = shape.others;
    const qr_t qr = ji_qr_begin(call, &stack, &shape);

    qr_clear(&qr, length, call->k, columns);
    for (int64_t j = call->k; j < columns; j++)
        ji_number_store(type, ji_at(type, call->a, j, j, call->lda), 1, 0);

    for (int64_t j = (call->k - 1) / qr.block * qr.block; j >= 0 && call->k > 0; j -= qr.block) {
        const qr_block_t block = qr_take_block(&qr, length, j, ji_min(qr.block, call->k - j));
        const int64_t end = j + block.count;
        ji_qr_apply_beside(&qr, &block, JBLAS_NO_TRANSPOSE, qr_at(&qr, call->a, call->lda, j, end),
                           call->lda, columns - end);
        qr_expand(&qr, &block);
        qr_clear(&qr, j, j, end);
    }
}

void ji_host_orgqr(void *matmat) { qr_make(matmat, false); }
void ji_host_orglq(void *matmat) { qr_make(matmat, true); }

ji_panel_bytes_t ji_orgqr_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    const qr_shape_t shape = qr_shape_of_q(args, false);
    return ji_qr_bytes(handle, &args->head, &shape);
}
ji_panel_bytes_t ji_orglq_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    const qr_shape_t shape = qr_shape_of_q(args, true);
    return ji_qr_bytes(handle, &args->head, &shape);
}
