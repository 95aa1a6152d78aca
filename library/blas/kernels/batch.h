/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_KERNELS_BATCH_H
#define JALLOC_BLAS_KERNELS_BATCH_H

/* The kernels of what is small, one item or a batch of them: products in place. */

#include "blas/kernels/product.h"

/* The matrices of an operand: one each `stride` bytes, or a pointer to one. */
typedef struct ji_batch_operand {
    char *at;
    int64_t stride;
} ji_batch_operand_t;

/* C = alpha A B + beta C in place, of one item or many: A by columns, B with one stride of 1; one
 * panel of the depth. */
typedef struct ji_product_direct {
    int64_t m, n, depth;
    int64_t a_step;                    /* to the next column, elements */
    int64_t b_row_step, b_column_step; /* elements */
    int64_t ldc;
    int64_t count;
    int64_t chunk;              /* items that tiles go over, one tile after the other; 0: all */
    ji_batch_operand_t a, b, c; /* a and b are read */
    bool by_pointers;           /* all three */
    bool is_far;                /* items are more than the second cache holds */
    bool conjugate_b;
    ji_product_scalars_t scalars;
} ji_product_direct_t;

/* Between columns of a matrix each of which is on a page of its own: processors do not foresee the
 * next one. */
#define JI_PAGE_BYTES 4096

/* Triangles up to this order are woven, on the stack: of the widest type 66 KiB, and 16 KiB of
 * right-hand sides. */
#define JI_WOVEN_ORDER 32
/* Smaller Cholesky factors are done so many vectors of items at once. */
#define JI_WOVEN_GROUPS 2

/* Substitution, of many items: M(q,p) X(p) = alpha B(q), where M is A or its transpose, and where
 * it is upper with its rows and columns reversed (host/trsm.c). */
typedef struct ji_woven_solve {
    bool upper, unit, conjugate; /* A */
    bool left, transposed, reversed;
    int64_t order, sides;
    double alpha[2];
    const void *const *a;
    int64_t lda;
    void *const *b;
    int64_t ldb;
    int64_t count;
} ji_woven_solve_t;

/* LU of rows by columns up to this order is woven, on the stack: of the widest type 32 KiB. */
#define JI_WOVEN_LU_ORDER 16

/* What a step of it does with columns other than its own: its row and the pivots' change places,
 * and what is below loses the column's share; or it is one of substitution. */
typedef enum ji_lu_step { JI_LU_EXCHANGE, JI_LU_LOSE, JI_LU_BOTH, JI_LU_SOLVE } ji_lu_step_t;

/* LU with partial pivoting, of many items: ipiv as jlapack_dgetrf has it. */
typedef struct ji_woven_lu {
    int64_t m, n;
    void *const *a;
    int64_t lda;
    void *const *ipiv;
    int64_t count;
} ji_woven_lu_t;

struct ji_batch_kernels {
    int lanes;
    bool masks; /* stores of less than a vector are masked: loads beside them wait for them */
    void (*product)(const ji_product_direct_t *call);
    /* Of so many items, whose pointers go on with the last one's up to a multiple of `lanes`. They
     * give how many they did, from the first on: before one with a pivot that is not positive, or
     * whose reciprocal is no normal number, and before a NaN that LU meets, they stop. What is not
     * done is as it was. */
    int64_t (*cholesky)(bool upper, int64_t n, int64_t count, void *const *a, int64_t lda);
    int64_t (*solve)(const ji_woven_solve_t *call);
    int64_t (*lu)(const ji_woven_lu_t *call);
};

extern const ji_batch_kernels_t *const ji_batch_avx512[4];
extern const ji_batch_kernels_t *const ji_batch_avx2[4];
extern const ji_batch_kernels_t *const ji_batch_generic[4];

#endif
