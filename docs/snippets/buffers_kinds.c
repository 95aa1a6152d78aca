/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc/mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    jruntime_t *runtime;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *distributed, *replicated;
    jlayout_t layout;
    jbuffer_t *matrix, *everywhere;
    double three = 3;
    bool reused = true;
    options.kind = JBUFFER_DISTRIBUTED;
    SNIPPET_TRY(jruntime_create_mpi(MPI_COMM_WORLD, &runtime));
    SNIPPET_TRY(jbuffer_allocator_create(runtime, &options, &distributed));
    SNIPPET_TRY(jlayout_parse("[200,100]", &layout, NULL));
    SNIPPET_TRY(jbuffer_construct_value(distributed, &layout, &three, &matrix));
    /* snippet */
    EXPECT(matrix == NULL && !reused);
    SNIPPET_TRY(jbuffer_release(everywhere));
    SNIPPET_TRY(jbuffer_allocator_release(replicated));
    SNIPPET_TRY(jbuffer_allocator_release(distributed));
    SNIPPET_TRY(jruntime_release(runtime));
    MPI_Finalize();
    return 0;
}
