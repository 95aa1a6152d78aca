/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_PRIMITIVES_INVERSES_H
#define JALLOC_BLAS_PRIMITIVES_INVERSES_H

/* The argument block of JI_TRIANGLE_INVERSES, and how inverses are laid out in workspace. */

#include "blas/primitives/primitive.h"

#define JI_INVERSE_TILE 32

/* The diagonal blocks of a triangle on their way to their inverses. JI_TRIANGLE_INVERSES writes
 * them whole: tiles of JI_INVERSE_TILE on the diagonal inverted, what A's triangle has beside them
 * as it is, zeros in the other triangle. The k-th block begins JI_INVERSE_OFFSET() elements in,
 * with leading dimension `block`; the last one may be smaller. */
typedef struct ji_inverses {
    jdatatype_t type;
    bool upper, unit;
    int64_t order;
    const void *a;
    int64_t lda;
    /* Order of a block: JI_INVERSE_TILE times a power of two; or at least `order`: one block. */
    int64_t block;
    void *inverses;
} ji_inverses_t;

static_assert(sizeof(ji_inverses_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");

/* Columns of matrices in workspace begin 8 elements apart or a multiple: aligned for the product
 * kernels. */
static inline int64_t ji_inverse_ld(int64_t rows) {
    return rows > INT64_MAX - 7 ? rows : (rows + 7) / 8 * 8;
}

/* With a block's columns and one more element between blocks, corresponding elements of
 * neighbouring halves are everywhere the same distance apart, across blocks too: one strided batch
 * reaches all of them. */
#define JI_INVERSE_OFFSET(block, k) ((k) * (block) * ((block) + 1)) /* kernels use it, too */

#endif
