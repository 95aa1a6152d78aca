/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "covariance.h"

#include <jalloc/operation.h>

int main(void) {
    jruntime_t *runtime;
    jbuffer_allocator_t *allocator;
    jlayout_t layout;
    jbuffer_t *k;
    jhandle_t *handle;
    model_t model = {4};
    int64_t info = -1;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    /* snippet */
    EXPECT(info == 0);
    SNIPPET_TRY(jbuffer_allocator_release(allocator));
    SNIPPET_TRY(jruntime_release(runtime));
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
