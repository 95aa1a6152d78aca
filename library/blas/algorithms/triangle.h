/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ALGORITHMS_TRIANGLE_H
#define JALLOC_BLAS_ALGORITHMS_TRIANGLE_H

/* What trsm, trtri and potrf have in common.
 *
 * Where a device solves by itself (ji_tuning_t.triangle_products is false: the host), each is one
 * primitive, and its rungs are the panels of the products inside (product.h): "packed",
 * "packed-small", "in place". By products, on a GPU, they are built of inverses of a triangle's
 * diagonal blocks (trsm.c, inverses.c, potrf.c). */

#include "blas/algorithms/algorithm.h"
#include "blas/primitives/inverses.h"

/* Bytes for the inverses of the diagonal blocks of that order (inverses.h). */
static inline size_t ji_inverses_bytes(jdatatype_t type, int64_t order, int64_t block) {
    return jalloc_matrix_bytes(type, order, block + 1);
}

/* Bytes of `products` below. */
size_t ji_inverse_products_bytes(jdatatype_t type, int64_t order, int64_t block);

/* Inverts the diagonal blocks; with products NULL, of one block, so that a residual is bounded
 * element by element. */
jstatus_t ji_triangle_inverses(jhandle_t *handle, const ji_inverses_t *block, void *products);

/* The rungs of solves and factors that have workspace for inverses. */
#define JI_INVERSE "inverse"
#define JI_INVERSE_STRIPS "inverse-strips"
#define JI_INVERSE_SMALL "inverse-64"

/* Whether a solve is faster with workspace, by the shape alone. */
bool ji_triangle_pays(const jhandle_t *handle, const ji_matmat_t *args);

/* trtri and potrf where they are one primitive. */
void ji_factor_plan(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args);
jstatus_t ji_factor_run(jhandle_t *handle, ji_primitive_t primitive, const ji_matmat_t *args,
                        const jborrow_t *ws);
/* Where they are many primitives, info comes last: whether it can come at all is asked first.
 * capturing. */
jstatus_t ji_factor_begin(jhandle_t *handle, const ji_matmat_t *args);

/* As one primitive they halve the matrix down to factor_base. The first half is the larger one. */
static inline int64_t ji_factor_half(const ji_tuning_t *tuning, int64_t n) {
    return ((n + 1) / 2 + tuning->factor_multiple - 1) / tuning->factor_multiple *
           tuning->factor_multiple;
}

#endif
