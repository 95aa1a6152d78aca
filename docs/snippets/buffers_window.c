/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc/mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    jruntime_t *runtime;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator;
    jlayout_t layout;
    jbuffer_t *buffer;
    options.kind = JBUFFER_DISTRIBUTED;
    SNIPPET_TRY(jruntime_create_mpi(MPI_COMM_WORLD, &runtime));
    SNIPPET_TRY(jbuffer_allocator_create(runtime, &options, &allocator));
    SNIPPET_TRY(jlayout_parse("[100,100]", &layout, NULL));
    SNIPPET_TRY(jbuffer_construct_identity(allocator, &layout, &buffer));
    /* snippet */
    EXPECT(corner == 1);
    SNIPPET_TRY(jbuffer_release(buffer));
    SNIPPET_TRY(jbuffer_allocator_release(allocator));
    SNIPPET_TRY(jruntime_release(runtime));
    MPI_Finalize();
    return 0;
}
