/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_REDUCE_H
#define JALLOC_BLAS_REDUCE_H

/* Sums in a fixed order: the argument block of JI_REDUCE_BLOCKS and JI_REDUCE_COMBINE. */

#include "blas/block.h"

typedef enum ji_reduction { JI_REDUCE_DOT, JI_REDUCE_DOTC, JI_REDUCE_NRM2, JI_REDUCE_ASUM } ji_reduction_t;

typedef struct ji_reduce {
    ji_vector_t vector;
    ji_reduction_t reduction;
    int64_t blocks; /* of JI_REDUCE_BLOCK elements, the last may be shorter */
    void *partials; /* one sum a block, in workspace; NULL: computed when they are needed */
} ji_reduce_t;

static_assert(sizeof(ji_reduce_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");

/* The type of the sums: that of the elements for dot, the real one otherwise. */
static inline jdatatype_t ji_reduce_type(ji_reduction_t reduction, jdatatype_t type) {
    return reduction <= JI_REDUCE_DOTC ? type : ji_real_of(type);
}

/* Whether partial sums in workspace pay: only where several threads will compute them. */
bool ji_reduce_pays(ji_reduction_t reduction, const ji_vector_t *vector);

#endif
