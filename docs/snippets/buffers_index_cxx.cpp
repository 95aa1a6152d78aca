/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc.hpp>
#include <jalloc/operation.h>

static jbuffer_filled_t covariance(void *context, const jbuffer_block_t *block) {
    double *x = static_cast<double *>(block->data);
    for (int64_t j = 0; j < block->extents[1]; j++)
        for (int64_t i = 0; i < block->extents[0]; i++)
            x[i * block->strides[0] + j * block->strides[1]] =
                block->starts[0] + i == block->starts[1] + j ? *static_cast<double *>(context) : 0;
    return JBUFFER_BLOCK_FILLED;
}

int main() {
    double model = 4;
    int64_t info = -1;
    jalloc::handle handle;
    /* snippet */
    EXPECT(info == 0);
    return 0;
}
