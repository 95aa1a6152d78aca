/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ALGORITHMS_TRIANGLE_H
#define JALLOC_BLAS_ALGORITHMS_TRIANGLE_H

/* Triangles made ready in workspace: what trsm, trtri and potrf are built on.
 *
 * All cases of side, uplo and trans are one case: unknowns q = 0, 1, ... that are found in this
 * order from
 *
 *     sum_{p <= q} M(q,p) x(p) = alpha b(q)
 *
 * where M is op(A) or its transpose, with rows and columns reversed where that is needed to make it
 * lower.
 *
 * What a leaf of the walk (trsm.c) is done with is the device's choice
 * (ji_tuning_t.triangle_products):
 *
 *   otherwise    JI_TRIANGLE_PACK writes M into workspace in the order in which the solve will read
 *                it, pivots as their reciprocals; JI_TRIANGLE_APPLY solves with that by
 *                substitution, in place. M and B are views: a first element and two strides, which
 *                may be negative. A device is free in what it keeps, within ji_triangle_bytes().
 *   by products  the diagonal blocks of A are inverted whole (inverses.c), before the walk and all
 *                at once where there is room for that; a leaf is the product of an inverse and rows
 *                of B. */

#include "blas/algorithms/algorithm.h"
#include "blas/primitives/inverses.h"

#define JI_TRIANGLE_BLOCK 8 /* order of the diagonal blocks inside of a leaf */
/* A strip of right-hand sides (128 bytes a row) then fills 32 KiB, the first cache. */
#define JI_TRIANGLE_MAX_ORDER 256

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

/* Bytes for one triangle: the blocks on and below the diagonal, each 8 x 8. Grows by one block row
 * at a time. */
static inline size_t ji_triangle_bytes(jdatatype_t type, int64_t order) {
    size_t blocks = ((size_t)order + JI_TRIANGLE_BLOCK - 1) / JI_TRIANGLE_BLOCK;

    return blocks * (blocks + 1) / 2 * JI_TRIANGLE_BLOCK * JI_TRIANGLE_BLOCK * ji_sizeof(type);
}

/* Bytes for the inverses of the diagonal blocks of that order (inverses.h). */
static inline size_t ji_inverses_bytes(jdatatype_t type, int64_t order, int64_t block) {
    return jalloc_matrix_bytes(type, order, block + 1);
}

/* Bytes of `products` below. */
size_t ji_inverse_products_bytes(jdatatype_t type, int64_t order, int64_t block);

/* Inverts the diagonal blocks; with products NULL, of one block, so that a residual is bounded
 * element by element. */
jstatus_t ji_triangle_inverses(jhandle_t *handle, const ji_inverses_t *block, void *products);

/* The rungs of solves and factors that have workspace. */
#define JI_INVERSE "inverse"
#define JI_INVERSE_STRIPS "inverse-strips"
#define JI_INVERSE_SMALL "inverse-64"
#define JI_TRIANGLE_PACKED "packed"
#define JI_TRIANGLE_PACKED_SMALL "packed-64"

/* The workspace of solves, as a rung gives it. */
typedef struct ji_triangle_space {
    int64_t leaf; /* order of the leaves */
    /* A packed triangle, or inverses; NULL: none, substitution is left. */
    void *triangles;
    /* By products, with the same shape as B or as a strip of it. */
    void *solution;
    /* By products: room for all, not for one leaf's and a strip of its part. */
    bool all_inverses, whole_solution;
} ji_triangle_space_t;

/* By products its shape decides on the leaves. */
ji_triangle_space_t ji_triangle_space(const jhandle_t *handle, const ji_matmat_t *solve,
                                      const jborrow_t *ws);

/* Solves by ready-made triangles of at most `leaf` unknowns, and products between them. Argument
 * block and meaning are trsm's. With handle NULL everything is done inline by the caller, on the
 * host: for primitives that need a solve inside. */
jstatus_t ji_triangle_solve(jhandle_t *handle, const ji_matmat_t *args,
                            const ji_triangle_space_t *space);
/* A primitive of the handle's device, or with handle NULL the host's, inline. */
static inline jstatus_t ji_triangle_run(jhandle_t *handle, ji_primitive_t primitive, void *block,
                                        size_t block_bytes) {
    if (handle != NULL)
        return ji_run_bytes(handle, primitive, block, block_bytes);

    ji_host_primitives[primitive](block);
    return JSTATUS_SUCCESS;
}

static inline const ji_tuning_t *ji_triangle_tuning(const jhandle_t *handle) {
    return handle != NULL ? ji_tuning(handle) : &ji_host_tuning;
}

/* Whether this pays against substitution, by the shape alone. */
bool ji_triangle_pays(const jhandle_t *handle, const ji_matmat_t *args);

/* On the host; and there the best order of leaves now, at most `largest`, for which there is
 * workspace. */
bool ji_host_triangle_pays(const ji_matmat_t *args);
int64_t ji_host_triangle_leaf(int64_t largest);
/* The order of the host's leaves on the lower rung. */
#define JI_TRIANGLE_SMALL_LEAF 64

/* The rungs of a routine whose largest solve is this one: "packed..." (host) or "inverse..." (GPU)
 * where it pays and the accuracy allows it, "substitution". */
void ji_triangle_add_rungs(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *solve,
                           bool pays);

/* On the host the plan of trtri and potrf: that of the largest solve inside. */
void ji_factor_plan(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args);
/* Where trtri and potrf are many primitives, info comes last: whether it can come at all is asked
 * first. capturing. */
jstatus_t ji_factor_begin(jhandle_t *handle, const ji_matmat_t *args);

/* There they halve the matrix down to factor_base. The first half is the larger one. */
static inline int64_t ji_factor_half(const ji_tuning_t *tuning, int64_t n) {
    return ((n + 1) / 2 + tuning->factor_multiple - 1) / tuning->factor_multiple *
           tuning->factor_multiple;
}

#endif
