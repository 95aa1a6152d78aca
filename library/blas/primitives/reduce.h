/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_PRIMITIVES_REDUCE_H
#define JALLOC_BLAS_PRIMITIVES_REDUCE_H

/* Reductions in a fixed order on a GPU: the argument block of JI_REDUCE_BLOCKS and
 * JI_REDUCE_COMBINE. On the host each is one primitive of any length. */

#include "blas/primitives/primitive.h"

typedef enum ji_reduction {
    JI_REDUCE_DOT,
    JI_REDUCE_DOTC,
    JI_REDUCE_DSDOT,
    JI_REDUCE_SDSDOT,
    JI_REDUCE_NRM2,
    JI_REDUCE_ASUM,
    JI_REDUCE_IAMAX,
    JI_REDUCE_IAMIN
} ji_reduction_t;

typedef struct ji_reduce {
    ji_vector_t vector;
    ji_reduction_t reduction;
    bool typed;     /* the vectors are of x_type and y_type */
    int64_t blocks; /* of JI_REDUCE_BLOCK elements, the last may be shorter */
    /* One partial result a block, in workspace, overwritten; NULL: computed when needed. */
    void *partials;
} ji_reduce_t;

static_assert(sizeof(ji_reduce_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");

static inline size_t ji_reduce_result_bytes(ji_reduction_t reduction, jdatatype_t type) {
    switch (reduction) {
    case JI_REDUCE_DOT:
    case JI_REDUCE_DOTC:
    case JI_REDUCE_SDSDOT: return ji_sizeof(type);
    case JI_REDUCE_DSDOT: return sizeof(double);
    case JI_REDUCE_IAMAX:
    case JI_REDUCE_IAMIN: return sizeof(int64_t);
    default: return ji_sizeof(ji_real_of(type));
    }
}

/* Of one partial result. Two numbers are room for a norm's sum of squares with its scale, and for
 * the element of iamax and iamin with its index. */
static inline size_t ji_reduce_partial_bytes(ji_reduction_t reduction, jdatatype_t type) {
    if (reduction == JI_REDUCE_SDSDOT)
        return sizeof(double);
    return reduction == JI_REDUCE_NRM2 || reduction >= JI_REDUCE_IAMAX
               ? 2 * sizeof(int64_t)
               : ji_reduce_result_bytes(reduction, type);
}

#endif
