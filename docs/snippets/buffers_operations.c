/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    const double values[2][2] = {{1, 2}, {4, 3}}; /* the symmetric part: 1 3; 3 3 */
    const int64_t corner[2] = {0, 1};
    double element;
    jhandle_t *handle;
    jruntime_t *runtime;
    jbuffer_allocator_t *allocator;
    jbuffer_t *a, *kept, *ones;
    jlayout_t layout;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    SNIPPET_TRY(jruntime_create(&runtime));
    SNIPPET_TRY(jbuffer_allocator_create(
        runtime, &(jbuffer_allocator_options_t)JBUFFER_ALLOCATOR_OPTIONS_INIT, &allocator));
    SNIPPET_TRY(jbuffer_construct_list(allocator, JBUFFER_LIST_2(values), &a));
    SNIPPET_TRY(jbuffer_construct_copy(allocator, a, &kept));
    SNIPPET_TRY(jbuffer_get_layout(a, &layout));
    /* snippet */
    SNIPPET_TRY(jbuffer_get(kept, corner, &element));
    EXPECT(element == 30);
    SNIPPET_TRY(jbuffer_release(ones));
    SNIPPET_TRY(jbuffer_release(turned));
    SNIPPET_TRY(jbuffer_release(kept));
    SNIPPET_TRY(jbuffer_release(a));
    SNIPPET_TRY(jbuffer_allocator_release(allocator));
    SNIPPET_TRY(jruntime_release(runtime));
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
