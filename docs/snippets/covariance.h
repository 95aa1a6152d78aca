/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SNIPPET_COVARIANCE_H
#define JALLOC_SNIPPET_COVARIANCE_H

/* The function that frames fill a buffer by: a multiple of the identity. */

#include "snippet.h"

typedef struct model {
    double diagonal;
} model_t;

static inline jbuffer_filled_t covariance(void *context, const jbuffer_block_t *block) {
    const model_t *model = context;
    double *x = block->data;
    for (int64_t j = 0; j < block->extents[1]; j++)
        for (int64_t i = 0; i < block->extents[0]; i++)
            x[i * block->strides[0] + j * block->strides[1]] =
                block->starts[0] + i == block->starts[1] + j ? model->diagonal : 0;
    return JBUFFER_BLOCK_FILLED;
}

#endif
