/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The inverses of a triangle's diagonal blocks, by products.
 *
 *     [A  0]^-1   [     A^-1      0  ]
 *     [C  B]    = [-B^-1 C A^-1  B^-1]        and the same for an upper triangle, with C above
 *
 * So two inverses of one order become one of twice the order by two products, C A^-1 into workspace
 * and -B^-1 times that over C. Pairs are independent of each other: each doubling is two
 * batches over the whole triangle.
 *
 *     tiles of 32           32 -> 64            64 -> 128
 *     +--+                  +-----+             +----------+
 *     |\ |                  |\    |             |\         |
 *     +--+--+               |  \  |             |   \      |      Tiles are inverted by one
 *        |\ |               +-----+--+          |      \   |      primitive. The last ones may be
 *        +--+--+                  |\ |          +----------+      smaller.
 *           |\ |                  +--+
 *           +--+
 *
 * The products take the triangles as full matrices, zeros and all: twice the work of what is
 * needed, at several times the speed. Five primitives invert all blocks of 128, whatever the order
 * of the triangle. Two products with inverses bound no residual element by element, so this is for
 * the accuracy normwise.
 *
 * Without memory for the products each pair is joined by a product and a solve: C A^-1 over C, and
 * a solve of that with B itself, which is still in A's triangle. As tiles are inverted by
 * substitution, |A X - I| <= gamma_n |A||X| of a lower triangle and |X A - I| <= gamma_n |X||A| of
 * an upper one (Du Croz and Higham 1992). */

#include "blas/algorithms/triangle.h"

/* Pairs of halves of this order, and what is left of the last second half: more than 0 for a pair
 * that is not whole. */
static int64_t inverses_pairs(int64_t order, int64_t half, int64_t *rest) {
    *rest = order % (2 * half) - half;
    return order / (2 * half);
}

size_t ji_inverse_products_bytes(jdatatype_t type, int64_t order, int64_t block) {
    size_t most = 0;

    for (int64_t half = JI_INVERSE_TILE; half < order && half < block; half *= 2) {
        int64_t rest, pairs = inverses_pairs(order, half, &rest);
        size_t bytes = jalloc_matrix_bytes(type, pairs * half, half);
        most = bytes > most ? bytes : most;

        if (rest > 0) {
            bytes = jalloc_matrix_bytes(type, half, ji_inverse_ld(rest));
            most = bytes > most ? bytes : most;
        }
    }

    return most;
}

/* Joins `count` pairs from `pair` on: a half, and a second half of order `second`. */
static jstatus_t inverses_double(jhandle_t *handle, const ji_inverses_t *block, void *products,
                                 int64_t pair, int64_t half, int64_t second, int64_t count) {
    jdatatype_t type = block->type;
    const int64_t ld = block->block, stride = 2 * half * (ld + 1);
    void *first_inverse = ji_at(type, block->inverses, pair * stride, 0, 1);
    void *second_inverse = ji_at(type, first_inverse, half, half, ld);
    void *corner = block->upper ? ji_at(type, first_inverse, 0, half, ld)
                                : ji_at(type, first_inverse, half, 0, ld);

    ji_matmat_t product = {
        .head = {.type = type, .threads = handle->threads},
        .transa = JBLAS_NO_TRANSPOSE,
        .transb = JBLAS_NO_TRANSPOSE,
        .m = block->upper ? half : second,
        .n = block->upper ? second : half,
        .k = block->upper ? second : half,
        .alpha = ji_constant(type, 1),
        .a = corner,
        .lda = ld,
        .b = block->upper ? second_inverse : first_inverse,
        .ldb = ld,
        .beta = ji_constant(type, 0),
        .c = products,
        .ldc = ji_inverse_ld(block->upper ? half : second),
        .batch = {.count = count, .stride_a = stride, .stride_b = stride, .stride_c = half * half}};

    JTRY_RETURN(ji_run(handle, JI_GEMM_STRIDED, &product));

    product.k = product.m;
    product.alpha = ji_constant(type, -1);
    product.a = block->upper ? first_inverse : second_inverse;
    product.b = products;
    product.ldb = product.ldc;
    product.batch.stride_b = product.batch.stride_c;
    product.c = corner;
    product.ldc = ld;
    product.batch.stride_c = stride;
    return ji_run(handle, JI_GEMM_STRIDED, &product);
}

/* Joins one pair by a product with the first half's inverse and a solve with the second half. */
static jstatus_t inverses_solve(jhandle_t *handle, const ji_inverses_t *block, int64_t pair,
                                int64_t half, int64_t second) {
    jdatatype_t type = block->type;
    const int64_t ld = block->block, first = pair * 2 * half;
    void *inverse = ji_at(type, block->inverses, first * (ld + 1), 0, 1);

    ji_matmat_t step = {.head = {.type = type, .threads = handle->threads},
                        .side = block->upper ? JBLAS_LEFT : JBLAS_RIGHT,
                        .uplo = block->upper ? JBLAS_UPPER : JBLAS_LOWER,
                        .transa = JBLAS_NO_TRANSPOSE,
                        .diag = JBLAS_NON_UNIT,
                        .m = block->upper ? half : second,
                        .n = block->upper ? second : half,
                        .alpha = ji_constant(type, -1),
                        .a = inverse,
                        .lda = ld,
                        .b = block->upper ? ji_at(type, inverse, 0, half, ld)
                                          : ji_at(type, inverse, half, 0, ld),
                        .ldb = ld};

    JTRY_RETURN(ji_run(handle, JI_TRMM, &step));

    step.side = block->upper ? JBLAS_RIGHT : JBLAS_LEFT;
    step.diag = block->unit ? JBLAS_UNIT : JBLAS_NON_UNIT;
    step.alpha = ji_constant(type, 1);
    step.a = ji_at(type, block->a, first + half, first + half, block->lda);
    step.lda = block->lda;
    return ji_run(handle, JI_TRSM, &step);
}

jstatus_t ji_triangle_inverses(jhandle_t *handle, const ji_inverses_t *block, void *products) {
    ji_inverses_t tiles = *block;
    JTRY_RETURN(ji_run(handle, JI_TRIANGLE_INVERSES, &tiles));

    for (int64_t half = JI_INVERSE_TILE; half < block->order && half < block->block; half *= 2) {
        int64_t rest, pairs = inverses_pairs(block->order, half, &rest);

        if (products == NULL) {
            for (int64_t pair = 0; pair < pairs; pair++)
                JTRY_RETURN(inverses_solve(handle, block, pair, half, half));
            if (rest > 0)
                JTRY_RETURN(inverses_solve(handle, block, pairs, half, rest));
            continue;
        }

        if (pairs > 0)
            JTRY_RETURN(inverses_double(handle, block, products, 0, half, half, pairs));
        if (rest > 0)
            JTRY_RETURN(inverses_double(handle, block, products, pairs, half, rest, 1));
    }

    return JSTATUS_SUCCESS;
}
