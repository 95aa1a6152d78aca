/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_PRIMITIVES_SPLIT_H
#define JALLOC_BLAS_PRIMITIVES_SPLIT_H

/* Between complex matrices and real ones: the argument blocks of JI_SPLIT and JI_MERGE. */

#include "blas/primitives/primitive.h"

/* Parts = three real m x n matrices, one after the other, without gaps: Re A, Im A, Re A + Im A. */
typedef struct ji_split {
    jdatatype_t type; /* of A, complex */
    bool conjugate;   /* of A */
    int64_t m, n;
    const void *a;
    int64_t lda;
    void *parts;
} ji_split_t;

/* C = alpha P + beta C, where P comes from its three products, one after the other:
 * Re P = p0 - p1, Im P = p2 - p0 - p1. alpha 0: P counts as 0; beta 0: C is not read. */
typedef struct ji_merge {
    jdatatype_t type; /* of C, complex */
    int64_t m, n;
    ji_scalar_t alpha, beta;
    const void *products;
    void *c;
    int64_t ldc;
} ji_merge_t;

static_assert(sizeof(ji_split_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");
static_assert(sizeof(ji_merge_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");

#endif
