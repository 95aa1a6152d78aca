/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

static jstatus_t smooth_part(jbuffer_t *x) {
    const int64_t first[1] = {0};
    double value;
    return jbuffer_get(x, first, &value);
}

/* snippet */

int main(void) {
    jruntime_t *runtime;
    jbuffer_allocator_t *allocator;
    jbuffer_t *x;
    const double values[3] = {1, 2, 3};
    SNIPPET_TRY(jruntime_create(&runtime));
    SNIPPET_TRY(jbuffer_allocator_create(
        runtime, &(jbuffer_allocator_options_t)JBUFFER_ALLOCATOR_OPTIONS_INIT, &allocator));
    SNIPPET_TRY(jbuffer_construct_list(allocator, JBUFFER_LIST_1(values), &x));
    EXPECT(smooth(x) == JSTATUS_SUCCESS && smooth(NULL) == JSTATUS_INVALID_POINTER);
    SNIPPET_TRY(jbuffer_release(x));
    SNIPPET_TRY(jbuffer_allocator_release(allocator));
    SNIPPET_TRY(jruntime_release(runtime));
    return 0;
}
