/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc/mpi.h>
#include <jalloc/operation.h>

typedef struct model {
    double diagonal;
} model_t;

static jbuffer_filled_t covariance(void *context, const jbuffer_block_t *block) {
    const model_t *model = context;
    double *x = block->data;
    for (int64_t j = 0; j < block->extents[1]; j++)
        for (int64_t i = 0; i < block->extents[0]; i++)
            x[i * block->strides[0] + j * block->strides[1]] =
                block->starts[0] + i == block->starts[1] + j ? model->diagonal : 0;
    return JBUFFER_FILLED;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    jruntime_t *runtime;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *distributed, *replicated;
    jlayout_t layout;
    jbuffer_t *a, *everywhere;
    jhandle_t *handle;
    model_t model = {4};
    int64_t info = -1;
    bool reused;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    /* snippet */
    double value;
    SNIPPET_TRY(jbuffer_get(everywhere, (const int64_t[]){799, 799}, &value));
    EXPECT(info == 0 && a == NULL && value == 2);
    SNIPPET_TRY(jbuffer_release(everywhere));
    SNIPPET_TRY(jbuffer_allocator_release(replicated));
    SNIPPET_TRY(jbuffer_allocator_release(distributed));
    SNIPPET_TRY(jruntime_release(runtime));
    SNIPPET_TRY(jhandle_destroy(handle));
    MPI_Finalize();
    return 0;
}
