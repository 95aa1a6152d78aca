/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_TRIANGLE_H
#define JALLOC_BLAS_TRIANGLE_H

/* Triangles made ready in workspace: what trsm, trtri and potrf stand on.
 *
 * All cases of side, uplo and trans are one case: unknowns q = 0, 1, ... that are found in this order from
 *
 *     sum_{p <= q} M(q,p) x(p) = alpha b(q)
 *
 * where M is op(A) or its transpose, with rows and columns reversed where that is needed to make it lower. So M and B
 * are views: a first element and two strides, which may be negative.
 *
 * JI_TRIANGLE_INVERT writes M into workspace in the order in which the solve will read it, its diagonal blocks
 * inverted; JI_TRIANGLE_APPLY solves with that, in place. A device is free in what it keeps there, within
 * ji_triangle_bytes(). */

#include "blas/blas.h"

#define JI_TRIANGLE_BLOCK 8 /* order of the inverted diagonal blocks */
#define JI_TRIANGLE_MAX_ORDER                                                                                          \
    256 /* a strip of right-hand sides (128 bytes a row) then fills 32 KiB, the first cache  \
                                   */

typedef struct ji_triangle {
    jdatatype_t type;
    bool unit, conjugate;
    int64_t order;    /* at most JI_TRIANGLE_MAX_ORDER */
    const void *a;    /* M(0,0) */
    int64_t a_q, a_p; /* strides of M, elements */
    void *packed;     /* ji_triangle_bytes(type, order) bytes of workspace, aligned to 64 */
    int64_t count;    /* right-hand sides */
    ji_scalar_t alpha;
    void *b;            /* x(0) of the first right-hand side */
    int64_t b_q, b_rhs; /* strides of B, elements; one of them is 1 or -1 */
} ji_triangle_t;

static_assert(sizeof(ji_triangle_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");

/* Bytes for one triangle: the blocks on and below the diagonal, each 8 x 8. Grows by one block row at a time. */
static inline size_t ji_triangle_bytes(jdatatype_t type, int64_t order) {
    size_t blocks = ((size_t)order + JI_TRIANGLE_BLOCK - 1) / JI_TRIANGLE_BLOCK;
    return blocks * (blocks + 1) / 2 * JI_TRIANGLE_BLOCK * JI_TRIANGLE_BLOCK * ji_sizeof(type);
}

/* Solves by ready-made triangles of at most `leaf` unknowns, and products between them. Argument block and meaning are
 * trsm's. `packed` has ji_triangle_bytes(type, min(order, leaf)) bytes. With handle NULL everything is done inline by
 * the caller: for primitives that need a solve inside. */
jstatus_t ji_triangle_solve(jhandle_t *handle, const ji_matmat_t *args, int64_t leaf, void *packed);

/* Whether this pays against substitution, by the shape alone. */
bool ji_triangle_pays(const ji_matmat_t *args);
/* The best order of leaves now, at most `largest`, for which there is workspace. */
int64_t ji_triangle_leaf(int64_t largest);
/* The order of the leaves on the lower rung. */
#define JI_TRIANGLE_SMALL_LEAF 64

/* The rungs of a routine whose largest triangle has this order: "inverse" and "inverse-64" where it pays,
 * "substitution". */
void ji_triangle_add_rungs(jplan_t *plan, jdatatype_t type, int64_t order, bool pays);
/* The order of the leaves on the rung that was borrowed. */
int64_t ji_triangle_rung_leaf(const jborrow_t *ws);

/* trtri and potrf halve the matrix down to this order, which is done in place by columns: 8 KiB of doubles, the first
 * cache. The first half is the larger one, and a multiple of the inverted blocks. */
#define JI_FACTOR_BASE 32
static inline int64_t ji_factor_half(int64_t n) {
    return ((n + 1) / 2 + JI_TRIANGLE_BLOCK - 1) / JI_TRIANGLE_BLOCK * JI_TRIANGLE_BLOCK;
}
/* The plan of both: leaves for the solves inside ("inverse", "inverse-64"), or none. */
void ji_factor_plan(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args);
jstatus_t ji_factor_run(jhandle_t *handle, ji_primitive_t primitive, const ji_matmat_t *args, const jborrow_t *ws);

#endif
