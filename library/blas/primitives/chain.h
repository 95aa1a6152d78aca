/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_PRIMITIVES_CHAIN_H
#define JALLOC_BLAS_PRIMITIVES_CHAIN_H

/* Where elements go that are moved in place, for the host and, in the same words, for kernels.
 *
 * Each takes the place of the next one:
 *
 *     (0, 1) -> (1, 0) -> ...      ends where an element goes to a place that held none (padding of
 *                                  the old leading dimension), or in a circle where it began
 *
 * A chain with an end is followed from its beginning, a place that no element goes to. A circle is
 * followed from the lowest of its places, which is found to be that by following it once before:
 * no memory, but several steps for each element. Chains share no place.
 *
 * Places are counted in elements from the first. */

#include "blas/primitives/operation.h"

/* An m x n matrix A, and what becomes of it. */
typedef struct ji_chains {
    int64_t m, n, lda, ldb;
    bool transposed;
} ji_chains_t;

/* Rows and columns of the result. */
JI_KERNEL_INLINE int64_t ji_chains_rows(const ji_chains_t *chains) {
    return chains->transposed ? chains->n : chains->m;
}
JI_KERNEL_INLINE int64_t ji_chains_columns(const ji_chains_t *chains) {
    return chains->transposed ? chains->m : chains->n;
}

/* Whether an element of A is here; whether one of the result is. */
JI_KERNEL_INLINE bool ji_chain_leaves(const ji_chains_t *chains, int64_t place) {
    return place % chains->lda < chains->m && place / chains->lda < chains->n;
}
JI_KERNEL_INLINE bool ji_chain_arrives(const ji_chains_t *chains, int64_t place) {
    return place % chains->ldb < ji_chains_rows(chains) &&
           place / chains->ldb < ji_chains_columns(chains);
}

/* Where the element of A that is here goes. */
JI_KERNEL_INLINE int64_t ji_chain_next(const ji_chains_t *chains, int64_t place) {
    const int64_t i = place % chains->lda, j = place / chains->lda;
    return chains->transposed ? j + i * chains->ldb : i + j * chains->ldb;
}

/* Whether a chain is to be followed from here: with an end it begins here, or it is a circle, and
 * this is the lowest of its places. */
JI_KERNEL_INLINE bool ji_chain_begins(const ji_chains_t *chains, int64_t place) {
    if (!ji_chain_arrives(chains, place))
        return true;

    int64_t next = ji_chain_next(chains, place);
    while (next > place && ji_chain_leaves(chains, next))
        next = ji_chain_next(chains, next);
    return next == place;
}

#endif
