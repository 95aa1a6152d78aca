/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "covariance.h"

#include <jalloc/mpi.h>
#include <jalloc/operation.h>

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
