/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_PRIMITIVES_PRECISION_H
#define JALLOC_BLAS_PRIMITIVES_PRECISION_H

/* Products of numbers narrower than float: what sgemm by split
 * precision (gemm_split.c) is made of. */

#include "blas/primitives/primitive.h"

/* ---- Split precision ---- */

/* A line is a row of op(A), or a column of op(B). It is scaled by a power of two, 2^shift, that
 * brings its largest element near 2^exponent, and cut into parts x = x0 + x1 + ..., each as exact
 * as its type can be; x_i is stored as 2^(i gap) x_i, so that it underflows no sooner than x0. The
 * parts of a slab of the depth follow each other, those of A from the smallest on and those of B
 * from the largest:
 *
 *     a line of A   | a2 | a1 | a0 |
 *     a line of B   | b0 | b1 | b2 |
 *
 * A product is of two slices that begin at any element and run on over parts: all of both is
 * a2 b0 + a1 b1 + a0 b2; what is left without A's first part and B's last is a1 b0 + a0 b1; pieces
 * of a0 and b0 are the panels.
 *
 * So each part is stored once. Zeros where the depth ends before the slab does. */

#define JI_SPLIT_MULTIPLE 32 /* of slabs and panels: whole runs of tensor cores, and of 16 bytes */

typedef struct ji_split_form_data {
    const char *name;  /* of the rung */
    jdatatype_t type;  /* of a part */
    int parts;         /* 2 or 3 */
    int exponent, gap; /* see above */
} ji_split_form_t;

static inline const ji_split_form_t *ji_split_form(ji_split_way_t way) {
    static const ji_split_form_t forms[JI_SPLIT_WAYS] = {
        /* As far from float's largest as from its smallest. */
        {"split-bf16", JDATATYPE_BF16, 3, 0, 0},
        /* Rounding must not reach 2^16; x1 is 2^-11 x0 at most. */
        {"split-fp16", JDATATYPE_F16, 2, 14, 11}};

    return &forms[way];
}

/* JI_SPLIT_SCALE: the shifts of an operand's lines, from all of the depth; 0 for a line of zeros.
 * JI_SPLIT_PRECISION: the parts of a slab. With an alpha of 0 the operand is not read, and counts
 * as zeros. */
typedef struct ji_split_operand {
    ji_split_way_t way;
    bool is_b;
    int64_t lines, depth; /* that are there */
    const void *matrix;   /* the first line's first */
    /* Elements from line to line, and along the depth; one of them is 1. */
    int64_t line_step, at_step;
    ji_scalar_t alpha;
    int32_t *shifts; /* by line */
    /* Of JI_SPLIT_PRECISION alone: */
    int64_t slab; /* depth of a part, a multiple of JI_SPLIT_MULTIPLE */
    void *parts;
} ji_split_operand_t;

/* JI_SPLIT_RESULT: C = alpha 2^-(shifts of row and column) P + beta C, rounded once. With beta 0 C
 * is not read. */
typedef struct ji_split_result {
    int64_t m, n;
    ji_scalar_t alpha, beta;
    const float *product;
    int64_t ld; /* of the product */
    const int32_t *row_shifts, *column_shifts;
    void *c;
    int64_t ldc;
} ji_split_result_t;

static_assert(sizeof(ji_split_operand_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");
static_assert(sizeof(ji_split_result_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");

#endif
