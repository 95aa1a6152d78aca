/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_HOST_QR_H
#define JALLOC_LAPACK_HOST_QR_H

/* Blocks of reflectors, Q = I - V T V^H, of QR and of LQ: what factorizations (qr.c) and products
 * with Q (qr_q.c) share. qr.c has the idea. */

#include "blas/algorithms/product.h"
#include "lapack/host/gram.h"

#define QR_STRIP 64 /* columns of C at once, and rows where no workspace is lent */
#define QR_WORK_BYTES (2 * JI_GRAM_MOST * QR_STRIP * sizeof(jcomplex_f64_t)) /* W and X */

/* Columns of a block, but for the widest type, which has JI_GRAM_MOST. */
#define QR_BLOCK_MOST 48
#define QR_SQUARE_BYTES (QR_BLOCK_MOST * QR_BLOCK_MOST * sizeof(double))

/* What a call has beside its arguments. */
typedef struct qr {
    ji_matmat_t call;
    jdatatype_t type;
    bool by_rows;  /* LQ */
    void *room;    /* for the columns of a block; NULL: they stay where they are */
    void *strips;  /* for V2 by strips of rows, where the room is; NULL: it stays where it is */
    void *turned;  /* V^H, of `block` rows; NULL: products turn what they need of it */
    void *work;    /* W and X, of `strip` rows each */
    int64_t strip; /* rows that are done at once */
    void *wide;    /* W and X of all columns; NULL: columns are done by strips */
    void *panels;  /* of their products then */
    size_t panel_bytes;
    int64_t block; /* columns */
    void *top, *t; /* V1 and T, of that order and by columns; zeros where nothing was stored */
} qr_t;

/* Reflectors [first, first + count) of those at hand. */
typedef struct qr_block {
    const void *v; /* the first one's diagonal element */
    int64_t ld, rows, first, count;
    void *strips; /* V2 by strips of rows; NULL: it is read where it lies */
    int64_t lead;
} qr_block_t;

static inline void *qr_of_square(const qr_t *qr, const void *square, int64_t i, int64_t j) {
    return ji_at(qr->type, square, i, j, qr->block);
}
static inline void *qr_top(const qr_t *qr, const qr_block_t *block) {
    return qr_of_square(qr, qr->top, block->first, block->first);
}
static inline void *qr_t_of(const qr_t *qr, const qr_block_t *block) {
    return qr_of_square(qr, qr->t, block->first, block->first);
}
/* Element (i, j), from `a` on, of A, or of LQ's A^H. */
static inline void *qr_at(const qr_t *qr, const void *a, int64_t ld, int64_t i, int64_t j) {
    return qr->by_rows ? ji_at(qr->type, a, j, i, ld) : ji_at(qr->type, a, i, j, ld);
}
static inline void *qr_below(const qr_t *qr, const qr_block_t *block) {
    return qr_at(qr, block->v, block->ld, block->count, 0);
}

/* A factor of a product. */
typedef struct qr_factor {
    jblas_operation_t op;
    const void *data;
    int64_t ld;
} qr_factor_t;
#define QR_PLAIN(...) ((qr_factor_t){JBLAS_NO_TRANSPOSE, __VA_ARGS__})
#define QR_ADJOINT(...) ((qr_factor_t){JBLAS_CONJUGATE_TRANSPOSE, __VA_ARGS__})

/* What is applied to what. */
typedef struct qr_shape {
    bool by_rows, to_rows;                           /* LQ; to rows of C, or else to its columns */
    int64_t reflectors, length, others, room_length; /* length: of a reflector */
} qr_shape_t;

/* What a call has on the stack: V1, T, and W and X of rows where none are lent. */
typedef struct qr_stack {
    _Alignas(64) char top[QR_SQUARE_BYTES], t[QR_SQUARE_BYTES], work[QR_WORK_BYTES];
} qr_stack_t;

/* Begins a call of this shape, with what the stack and its workspace have; and what workspace is
 * best for it. */
qr_t ji_qr_begin(const ji_matmat_t *call, qr_stack_t *stack, const qr_shape_t *shape);
ji_panel_bytes_t ji_qr_bytes(const jhandle_t *handle, const ji_head_t *head,
                             const qr_shape_t *shape);

/* V1 and T, and V^H where there is room, become 0, before a block is taken. */
void ji_qr_clear_squares(const qr_t *qr);
/* V1 and T of a block whose taus are on T's diagonal. */
void ji_qr_form(const qr_t *qr, const qr_block_t *block);

/* C = alpha A B + beta C. Small ones are done in place, which is as fast. */
void ji_qr_multiply(const qr_t *qr, int64_t m, int64_t n, int64_t k, double alpha, qr_factor_t a,
                    qr_factor_t b, double beta, void *c, int64_t ldc);

/* C = (I - V op(T) V^H) C, of `count` columns. */
void ji_qr_apply_to_columns(const qr_t *qr, const qr_block_t *block, jblas_operation_t op, void *c,
                            int64_t ldc, int64_t count);
/* C = C (I - V op(T) V^H), of m rows. */
void ji_qr_apply_to_rows(const qr_t *qr, const qr_block_t *block, jblas_operation_t op, void *c,
                         int64_t ldc, int64_t m);
/* C = (I - V op(T) V^H) C, where C, `others` columns, lies as A does. */
void ji_qr_apply_beside(const qr_t *qr, const qr_block_t *block, jblas_operation_t op, void *c,
                        int64_t ldc, int64_t others);

#endif
