/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    jruntime_t *runtime;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator;
    jbuffer_t *buffer;
    double value;
    SNIPPET_TRY(jruntime_create(&runtime));
    SNIPPET_TRY(jbuffer_allocator_create(runtime, &options, &allocator));
    /* snippet */
    SNIPPET_TRY(jbuffer_get(buffer, (const int64_t[]){1, 2}, &value));
    EXPECT(value == 6);
    SNIPPET_TRY(jbuffer_release(buffer));
    SNIPPET_TRY(jbuffer_allocator_release(allocator));
    SNIPPET_TRY(jruntime_release(runtime));
    return 0;
}
