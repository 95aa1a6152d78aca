/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_PRECISION_H
#define JALLOC_BLAS_PRECISION_H

/* Products of numbers narrower than float: the argument blocks of JI_GEMM_HALF, and of what sgemm by split precision
 * (gemm_split.c) is made of. */

#include "blas/block.h"

/* ---- 16-bit gemm ---- */

/* C = alpha op(A) op(B) + beta C with A, B, C of 16 bits (type F16 or BF16) and everything between them in float; alpha
 * and beta are float. m, n > 0. With alpha 0 or k 0 A and B are not read, with beta 0 C is not. */
typedef struct ji_half {
    ji_matmat_t product;
    /* The host's: workspace for float panels of A (m x k), B (k x n) and C (m x n), one after the other. NULL: small
     * ones on the stack. Elsewhere not looked at. */
    float *panels;
    int64_t m_panel, n_panel, k_panel;
} ji_half_t;

static_assert(sizeof(ji_half_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");

/* ---- Split precision ---- */

/* The parts of a panel of A. A line is a row of op(A), or a column of op(B); its parts stand one after the other, each
 * `panel` deep, in the order in which they are multiplied; zeros where k ends before the panel does.
 *
 *     line 0   | part | part | ... |        A tensor core then runs along the line, and has added the small products
 *     line 1   | part | part | ... |        before the large ones come. Lines begin at multiples of 16 bytes, as
 *     ...                                   `panel` is a multiple of 8.
 *
 * A part may stand there several times: A's with each of the parts of B that it is multiplied by. */

#define JI_SPLIT_MAX_PRODUCTS 9
#define JI_SPLIT_MAXIMA 256 /* largest elements that are kept of each operand, by as many blocks */

typedef struct ji_split_form_data {
    int products;
    jdatatype_t type;                           /* of a part: BF16, or F32 for TF32 */
    signed char part[2][JI_SPLIT_MAX_PRODUCTS]; /* of A and of B: 0 the largest. From small products to large ones */
} ji_split_form_t;

static inline const ji_split_form_t *ji_split_form(ji_split_way_t way) {
    static const ji_split_form_t forms[] = {
        {6, JDATATYPE_BF16, {{2, 1, 0, 1, 0, 0}, {0, 1, 2, 0, 1, 0}}},
        {9, JDATATYPE_BF16, {{2, 2, 1, 2, 1, 0, 1, 0, 0}, {2, 1, 2, 0, 1, 2, 0, 1, 0}}},
        {3, JDATATYPE_F32, {{1, 0, 0}, {0, 1, 0}}},
    };
    return &forms[way];
}

/* In workspace, between the primitives. */
typedef struct ji_split_scratch {
    uint32_t largest[2][JI_SPLIT_MAXIMA]; /* of A and B: bits of the largest |x| that is finite, by block */
    float alpha, beta, one;               /* for the products: alpha with the scales taken out again */
} ji_split_scratch_t;

/* JI_SPLIT_SCALE: finds how large A and B are, so that they can be scaled by powers of two: then the small parts do not
 * underflow where A is tiny and B huge. alpha 0: they are not read. */
typedef struct ji_split_scale {
    int64_t rows[2], columns[2], ld[2]; /* of A and B as they are stored */
    const void *matrix[2];
    ji_scalar_t alpha;
    ji_split_scratch_t *scratch;
} ji_split_scale_t;

/* JI_SPLIT_PRECISION: the parts of several panels, one panel after the other. Splitting A also writes the scratch's
 * scalars. */
typedef struct ji_split_precision {
    ji_split_way_t way;
    int operand; /* 0: A, 1: B */
    int64_t lines, depth;
    const void *matrix;         /* the first line's first */
    int64_t line_step, at_step; /* elements from line to line, and along the depth; one of them is 1 */
    int64_t panel;              /* depth of a panel, a multiple of 8 */
    void *parts;
    ji_scalar_t alpha, beta;
    ji_split_scratch_t *scratch;
} ji_split_precision_t;

static_assert(sizeof(ji_split_scale_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");
static_assert(sizeof(ji_split_precision_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");

#endif
