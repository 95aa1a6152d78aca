/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_KERNELS_TRIANGLE_H
#define JALLOC_BLAS_KERNELS_TRIANGLE_H

/* The kernels of substitution: rows of a triangle are packed, and right-hand sides solved with
 * them, a strip at once (triangle_kernel.h).
 *
 *           known     order
 *         +---------+-----+
 *         | rectangle \   |     The rows of a lower triangle M that are packed, M(q,p): of `order`
 *         |           | \ |     unknowns, behind `known` ones that are solved already. All cases
 *         +-----------+---+     of side, uplo and trans are this one (host/trsm.c). */

#include "blas/kernels/kernels.h"

#define JI_TRIANGLE_BLOCK 8 /* rows that are packed side by side, and solved in registers */
/* Of known and order together: a strip of right-hand sides (128 bytes a row) then fills 32 KiB, the
 * first cache. */
#define JI_TRIANGLE_MAX_ORDER 256

typedef struct ji_triangle {
    bool unit, conjugate;
    /* trmm: the last `order` rows of B become alpha M times all. M's diagonal is packed as it is.
     * With `last_first` sums begin with the diagonal's element, and go on from the last one back;
     * `from_right` says which of two factors is B's (docs/bits.rst). */
    bool multiplies, last_first, from_right;
    int64_t known, order; /* known is a multiple of JI_TRIANGLE_BLOCK */
    const void *a;        /* M(0,0) of the first known unknown */
    int64_t a_q, a_p;     /* strides of M, elements */
    void *packed;         /* ji_triangle_bytes(), aligned to 64 */
    int64_t count;        /* right-hand sides */
    double alpha[2];      /* the `order` unknowns' right-hand sides are multiplied by it */
    void *b;              /* of the first known unknown and the first right-hand side */
    int64_t b_q, b_rhs;   /* strides of B, elements; one of them is 1 or -1 */
} ji_triangle_t;

/* Elements of the first so many blocks of rows, packed. */
static inline int64_t ji_triangle_elements(int64_t known, int64_t blocks) {
    return JI_TRIANGLE_BLOCK * blocks * (known + JI_TRIANGLE_BLOCK / 2 * (blocks + 1));
}
static inline int64_t ji_triangle_blocks(int64_t order) {
    return (order + JI_TRIANGLE_BLOCK - 1) / JI_TRIANGLE_BLOCK;
}
static inline size_t ji_triangle_bytes(jdatatype_t type, int64_t known, int64_t order) {
    return (size_t)ji_triangle_elements(known, ji_triangle_blocks(order)) * ji_sizeof(type);
}

/* Strips of at most so many right-hand sides. */
static inline int64_t ji_triangle_strips(int strip, int64_t count) {
    return (count + strip - 1) / strip;
}

struct ji_triangle_kernels {
    int strip; /* right-hand sides that are solved at once, at most */
    /* Packs the block of rows `block`; the blocks do not depend on each other. */
    void (*pack)(const ji_triangle_t *call, int64_t block);
    /* Solves for the right-hand sides of strip `index` of ji_triangle_strips(). */
    void (*apply)(const ji_triangle_t *call, int64_t index);
    /* The same for one right-hand side, by the triangle as it lies; nothing is known or packed. */
    void (*solve_one)(const ji_triangle_t *call, int64_t index);
};

extern const ji_triangle_kernels_t *const ji_triangle_avx512[4];
extern const ji_triangle_kernels_t *const ji_triangle_avx2[4];
extern const ji_triangle_kernels_t *const ji_triangle_generic[4];

#endif
