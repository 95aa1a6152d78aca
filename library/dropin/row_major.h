/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DROPIN_ROW_MAJOR_H
#define JALLOC_DROPIN_ROW_MAJOR_H

/* Row-major calls as column-major ones. A row-major matrix A is, column by column, A^T, so
 *
 *     C = op(A) op(B)     is   C^T = op(B)^T op(A)^T: the operands change places
 *     a triangle          upper is lower
 *     A x, A^T x          change places
 *     A^H x               is conj(A^T) x: JBLAS_CONJUGATE
 *     A = A^H             is conj(A), column by column, so A x is the conjugate of A^T conj(x)
 *
 * A vector that is written is conjugated where it lies, before and after the call; of one that is
 * read a copy is. Each routine is turned by a function turn_<kind>(type, block, turned), which
 * gives false where the reference has no such row-major call. What it says of vectors is done by
 * ji_dropin_conjugate() and ji_dropin_conjugate_back() (conjugate.c). */

#include "blas/primitives/primitive.h"
#include "dropin/dropin.h"

enum {
    JI_TURN_COPY_X = 1, /* x is read: its conjugate in a copy */
    JI_TURN_COPY_Y = 2,
    JI_TURN_Y = 4 /* y is written: where it lies */
};

/* What a call is whose vectors are copied: for the way that needs no copies. */
typedef enum ji_elementwise {
    JI_ELEMENTWISE_HERMITIAN, /* y += alpha A x */
    JI_ELEMENTWISE_OUTER,     /* A += alpha x y^T */
    JI_ELEMENTWISE_RANK1,
    JI_ELEMENTWISE_RANK2
} ji_elementwise_t;

typedef enum ji_storage { JI_STORED_FULL, JI_STORED_BAND, JI_STORED_PACKED } ji_storage_t;

typedef struct ji_turned {
    ji_value_t alpha, beta; /* conjugated, if they are */
    unsigned conjugates;    /* JI_TURN_* */
    ji_elementwise_t elementwise;
    int refused; /* the operation for which there is no such call */
    int64_t count_x, count_y;
} ji_turned_t;

/* ---- Parts ---- */

#define JI_SWAP(a, b)                                                                              \
    do {                                                                                           \
        const __typeof__(a) swapped = (a);                                                         \
        (a) = (b);                                                                                 \
        (b) = swapped;                                                                             \
    } while (0)

static inline void turn_uplo(jblas_uplo_t *uplo) {
    *uplo = *uplo == JBLAS_UPPER ? JBLAS_LOWER : JBLAS_UPPER;
}

static inline void turn_scalar(jdatatype_t type, ji_scalar_t *scalar, ji_value_t *value) {
    if (type == JDATATYPE_F32_C) {
        memcpy(value->c, scalar->pointer, sizeof value->c);
        value->c[1] = -value->c[1];
    } else {
        memcpy(value->z, scalar->pointer, sizeof value->z);
        value->z[1] = -value->z[1];
    }
    scalar->pointer = value;
}

static inline void turn_operation(jdatatype_t type, jblas_operation_t *trans) {
    const bool conjugates = ji_is_complex(type) && *trans == JBLAS_CONJUGATE_TRANSPOSE;
    *trans = *trans == JBLAS_NO_TRANSPOSE ? JBLAS_TRANSPOSE
             : conjugates                 ? JBLAS_CONJUGATE
                                          : JBLAS_NO_TRANSPOSE;
}

static inline void turn_vectors(ji_matvec_t *args) {
    const void *x = args->x;
    args->x = args->y;
    args->y = (void *)(uintptr_t)x;
    JI_SWAP(args->incx, args->incy);
}

/* ---- Level 3 ---- */

static inline bool turn_product(jdatatype_t type, ji_matmat_t *args, ji_turned_t *turned) {
    (void)type, (void)turned;
    JI_SWAP(args->transa, args->transb);
    JI_SWAP(args->m, args->n);
    JI_SWAP(args->a, args->b);
    JI_SWAP(args->lda, args->ldb);
    return true;
}

static inline bool turn_sided(jdatatype_t type, ji_matmat_t *args, ji_turned_t *turned) {
    (void)type, (void)turned;
    args->side = args->side == JBLAS_LEFT ? JBLAS_RIGHT : JBLAS_LEFT;
    turn_uplo(&args->uplo);
    JI_SWAP(args->m, args->n);
    return true;
}

static inline bool turn_symmetric_update(jdatatype_t type, ji_matmat_t *args, ji_turned_t *turned) {
    turned->refused = (int)args->trans;
    turn_uplo(&args->uplo);
    turn_operation(type, &args->trans);
    return args->trans != JBLAS_CONJUGATE;
}

static inline bool turn_hermitian_update(jdatatype_t type, ji_matmat_t *args, ji_turned_t *turned) {
    (void)type;
    turned->refused = (int)args->trans;
    turn_uplo(&args->uplo);
    if (args->trans == JBLAS_TRANSPOSE)
        return false;
    args->trans =
        args->trans == JBLAS_NO_TRANSPOSE ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE;
    return true;
}

static inline bool turn_hermitian_update_of_two(jdatatype_t type, ji_matmat_t *args,
                                                ji_turned_t *turned) {
    turn_scalar(type, &args->alpha, &turned->alpha);
    return turn_hermitian_update(type, args, turned);
}

/* ---- Level 2 ---- */

static inline bool turn_general(jdatatype_t type, ji_matvec_t *args, ji_turned_t *turned) {
    (void)turned;
    JI_SWAP(args->m, args->n);
    turn_operation(type, &args->trans);
    return true;
}

static inline bool turn_general_band(jdatatype_t type, ji_matvec_t *args, ji_turned_t *turned) {
    JI_SWAP(args->kl, args->ku);
    return turn_general(type, args, turned);
}

static inline bool turn_outer(jdatatype_t type, ji_matvec_t *args, ji_turned_t *turned) {
    (void)type, (void)turned;
    JI_SWAP(args->m, args->n);
    turn_vectors(args);
    return true;
}

/* As x y^T with a conjugated x; that is geru's. */
static inline bool turn_outer_conjugated(jdatatype_t type, ji_matvec_t *args, ji_turned_t *turned) {
    (void)turn_outer(type, args, turned);
    turned->elementwise = JI_ELEMENTWISE_OUTER;
    turned->conjugates = JI_TURN_COPY_X;
    turned->count_x = args->m;
    return true;
}

static inline bool turn_symmetric(jdatatype_t type, ji_matvec_t *args, ji_turned_t *turned) {
    (void)type, (void)turned;
    turn_uplo(&args->uplo);
    return true;
}

/* y = conj(...): alpha and beta are conjugated, too. */
static inline bool turn_hermitian(jdatatype_t type, ji_matvec_t *args, ji_turned_t *turned) {
    turn_uplo(&args->uplo);
    turn_scalar(type, &args->alpha, &turned->alpha);
    turn_scalar(type, &args->beta, &turned->beta);
    turned->conjugates = JI_TURN_COPY_X | JI_TURN_Y;
    turned->elementwise = JI_ELEMENTWISE_HERMITIAN;
    turned->count_x = turned->count_y = args->n;
    return true;
}

static inline bool turn_hermitian_rank1(jdatatype_t type, ji_matvec_t *args, ji_turned_t *turned) {
    (void)type;
    turn_uplo(&args->uplo);
    turned->elementwise = JI_ELEMENTWISE_RANK1;
    turned->conjugates = JI_TURN_COPY_X;
    turned->count_x = args->n;
    return true;
}

static inline bool turn_hermitian_rank2(jdatatype_t type, ji_matvec_t *args, ji_turned_t *turned) {
    (void)type;
    turn_uplo(&args->uplo);
    turn_vectors(args);
    turned->elementwise = JI_ELEMENTWISE_RANK2;
    turned->conjugates = JI_TURN_COPY_X | JI_TURN_COPY_Y;
    turned->count_x = turned->count_y = args->n;
    return true;
}

static inline bool turn_triangular(jdatatype_t type, ji_matvec_t *args, ji_turned_t *turned) {
    (void)turned;
    turn_uplo(&args->uplo);
    turn_operation(type, &args->trans);
    return true;
}

/* ---- Conjugates: conjugate.c ---- */

enum { JI_TURN_STACK_BYTES = 4096 }; /* of a vector; a larger one is borrowed */

typedef struct ji_conjugated {
    jborrow_t borrow;
    void *allocated;   /* where there was no workspace */
    const void *alpha; /* of a call that is done element by element: no memory at all */
    _Alignas(64) char stack[2][JI_TURN_STACK_BYTES];
} ji_conjugated_t;

/* Puts conjugates in the place of args->x and args->y; or an alpha of 0 in the place of alpha, and
 * the rest is done after the call. */
void ji_dropin_conjugate(jdatatype_t type, ji_matvec_t *args, const ji_turned_t *turned,
                         ji_conjugated_t *conjugated);
/* After the call; whether it was carried out. */
void ji_dropin_conjugate_back(jdatatype_t type, const ji_matvec_t *args, const ji_turned_t *turned,
                              ji_conjugated_t *conjugated, ji_storage_t storage, bool is_done);

/* Adds what a call with this alpha does (elementwise.c). */
void ji_dropin_elementwise(jdatatype_t type, const ji_matvec_t *args, const ji_turned_t *turned,
                           const void *scalar, ji_storage_t storage);

#endif
