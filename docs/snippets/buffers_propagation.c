/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc/mpi.h>
#include <jalloc/operation.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    jhandle_t *handle;
    jruntime_t *runtime;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *spread, *whole;
    jbuffer_t *distributed, *replicated;
    jbuffer_kind_t kind = JBUFFER_LOCAL;
    jlayout_t layout;
    const double zero = 0, one = 1;
    options.kind = JBUFFER_DISTRIBUTED;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    SNIPPET_TRY(jruntime_create_mpi(MPI_COMM_WORLD, &runtime));
    SNIPPET_TRY(jbuffer_allocator_create(runtime, &options, &spread));
    SNIPPET_TRY(jbuffer_allocator_rebind(spread, JBUFFER_REPLICATED, JDATATYPE_F64, &whole));
    SNIPPET_TRY(jlayout_parse("[90,90]", &layout, NULL));
    SNIPPET_TRY(jbuffer_construct_identity(spread, &layout, &distributed));
    SNIPPET_TRY(jbuffer_construct_value(whole, &layout, &one, &replicated));
    /* snippet */
    EXPECT(kind == JBUFFER_DISTRIBUTED);
    SNIPPET_TRY(jbuffer_release(product));
    SNIPPET_TRY(jbuffer_release(replicated));
    SNIPPET_TRY(jbuffer_release(distributed));
    SNIPPET_TRY(jbuffer_allocator_release(whole));
    SNIPPET_TRY(jbuffer_allocator_release(spread));
    SNIPPET_TRY(jruntime_release(runtime));
    SNIPPET_TRY(jhandle_destroy(handle));
    MPI_Finalize();
    return 0;
}
