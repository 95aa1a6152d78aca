/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_HOST_WOVEN_H
#define JALLOC_BLAS_HOST_WOVEN_H

/* Small triangles of a batch, as many as a vector has lanes at once: trsm and potrf. */

#include "blas/host/host.h"
#include "blas/kernels/batch.h"
#include "blas/primitives/batch.h"

/* Whether items like this one are woven; all have its sizes and scalars. */
bool ji_host_is_woven(ji_primitive_t primitive, const ji_matmat_t *item);

/* How many items are woven at once. */
static inline int ji_host_woven_lanes(jdatatype_t type) { return ji_kernels->batch[type]->lanes; }

/* Does the primitive with matrices a and b (of potrf a alone) of so many items, as one after the
 * other would: with the same bits. Behind them pointers go on with those of the last one up to a
 * multiple of the lanes. Gives how many were done, from the first on. Those behind are as they
 * were, and the next ones to be done one after the other: a pivot of one of them is none. */
int64_t ji_host_do_woven(ji_primitive_t primitive, const ji_matmat_t *item, int64_t count,
                         void *const *a, void *const *b);

/* What a batch's items come to by lanes, as ji_host_do_woven() does them. */
typedef struct ji_woven_way {
    ji_host_function_t each;
    int64_t (*many)(const ji_matmat_t *item, int64_t count, void *const *a, void *const *b,
                    void *const *c);
    int64_t order;
} ji_woven_way_t;

/* Does items [first, end) that way, and gives the index of the first that is left to be done one
 * after the other: of a few that are too few for a group. info becomes 0, or what `each` makes
 * it. */
JI_SHARED int64_t ji_host_weave_items(ji_items_t *items, int64_t first, int64_t end,
                                      const ji_woven_way_t *way);

/* Does items [first, end) of a batch of such primitives, likewise. */
int64_t ji_host_woven_items(ji_items_t *items, int64_t first, int64_t end);

#endif
