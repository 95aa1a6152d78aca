/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_KERNELS_PRODUCT_H
#define JALLOC_BLAS_KERNELS_PRODUCT_H

/* The kernels of products: what is packed, multiplied and added to C. All of them see one panel of
 * the depth: at most JI_PRODUCT_DEPTH real products for each sum.
 *
 *   A, packed in strips of `rows`       B, packed in strips of `columns`
 *
 *   strip 0: a(0..rows, 0), a(0..rows, 1), ...      b(0, 0..columns), b(1, 0..columns), ...
 *   strip 1: ...
 *
 * A strip that has fewer rows is filled up to a vector, one of fewer columns to a tile: with
 * zeros, or its last line once more. Of complex elements each column of A is
 * followed by itself times i, and each row of B is `columns` real parts and then the imaginary
 * ones: a product is then real, of twice the depth (product_kernel.h). */

#include "blas/kernels/kernels.h"

/* Fixed, whatever the set: where k is cut decides about the bits. In real products: of complex
 * elements half of it. */
#define JI_PRODUCT_DEPTH 256

#define JI_PRODUCT_ROWS 48           /* of the highest tile there is */
#define JI_PRODUCT_STRIP_BYTES 49152 /* of the largest strip of A in a panel */

/* Scalars as reals; an imaginary part of 0 is left out of every product. */
typedef struct ji_product_scalars {
    double alpha[2], beta[2]; /* beta 0: C is not read */
} ji_product_scalars_t;

typedef void (*ji_product_pack_t)(void *to, const void *from, int64_t line_step, int64_t step_step,
                                  int count, int64_t depth, bool conjugate, bool turned);

/* Part of a symmetric or triangular matrix: `count` lines of `depth` steps, of which step `first`
 * is that of line 0. The triangle that is stored has line >= step (lower), or line <= step. */
typedef struct ji_product_corner {
    const void *from;             /* line 0, the first of the steps */
    int64_t line_step, step_step; /* elements */
    int count, depth, first;
    bool lower, conjugate, hermitian, triangular, unit;
} ji_product_corner_t;

/* Rows x columns of C, of a strip of A and one of B; of complex elements in reals: twice as many
 * rows, and the depth and ldc as well. */
typedef struct ji_product_tile {
    int64_t depth;
    const void *a, *b;
    int rows, columns;
    const ji_product_scalars_t *scalars;
    void *c;
    int64_t ldc;
} ji_product_tile_t;

/* What of a triangular operand counts, packed: at steps first, first + 1, ..., each of so many
 * reals, the lines, of A (by_rows) or else of B, that are not before the step (lower), or not
 * behind it. */
typedef struct ji_product_wedge {
    int first, parts;
    bool by_rows, lower;
    int64_t a_step; /* reals from one of A to the next: of reals A may lie where it is */
} ji_product_wedge_t;

/* What counts of a complex element: the real part, the imaginary one, or their sum. */
typedef enum ji_part { JI_PART_REAL, JI_PART_IMAGINARY, JI_PART_SUM } ji_part_t;

typedef struct ji_product_parts {
    int64_t rows, columns;
    const void *from; /* complex */
    int64_t ld;
    ji_part_t part;
    bool conjugate;
} ji_product_parts_t;

struct ji_product_kernels {
    int rows, columns;           /* of a tile, elements */
    int vector_rows;             /* of a vector */
    int row_bytes, column_bytes; /* packed, for each step of the depth: of a strip of A, B */
    /* Packs a strip: `count` lines (rows of A, columns of B), line_step elements apart, of `depth`
     * steps, step_step apart; one of the two is 1. Of A, where not `turned`, without the columns
     * times i: as a matrix of `rows` rows, for products in place. */
    ji_product_pack_t pack_a, pack_b;
    /* Copies such a part as the matrix that it means: step after step, `count` lines each. The unit
     * is a triangle's. */
    void (*corner)(void *to, const ji_product_corner_t *corner);
    /* So many whole tiles of C, one below the other, of strips of A one behind the other; alpha and
     * beta are real. */
    void (*tiles)(int64_t count, int64_t depth, const void *a, const void *b,
                  const ji_product_scalars_t *scalars, void *c, int64_t ldc);
    /* sums = A B: a tile, stored by columns, of which rows [first, first + rows) are asked for. */
    void (*tile_sums)(int64_t depth, const void *a, const void *b, void *sums, int first, int rows);
    /* A tile, or a part of one, where one of the two is triangular. Alpha and beta are real. */
    void (*tile_wedge)(const ji_product_tile_t *tile, const ji_product_wedge_t *wedge);
    /* C += alpha sums + beta C, of a tile or a part of one. */
    void (*update)(int rows, int columns, const void *sums, const ji_product_scalars_t *scalars,
                   void *c, int64_t ldc);
    /* The same where column j is written from row diagonal + j on (lower), or up to it. */
    void (*update_triangle)(int rows, int columns, const void *sums,
                            const ji_product_scalars_t *scalars, void *c, int64_t ldc, int diagonal,
                            bool lower);
    /* Of real types alone, for complex matrices. Rows x columns of a piece that is packed next, by
     * columns; and a tile, or a part of one, whose C is complex: a part of alpha that is 0 is left
     * out, whatever the sums are. */
    void (*parts)(void *to, const ji_product_parts_t *parts);
    void (*tile_complex)(int64_t depth, const void *a, const void *b, int rows, int columns,
                         const ji_product_scalars_t *scalars, void *c, int64_t ldc);
};

extern const ji_product_kernels_t *const ji_product_avx512[4];
extern const ji_product_kernels_t *const ji_product_avx2[4];
extern const ji_product_kernels_t *const ji_product_generic[4];

#endif
