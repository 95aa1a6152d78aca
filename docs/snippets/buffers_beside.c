/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jruntime_t *runtime;
    jbuffer_allocator_t *allocator;
    jbuffer_t *buffer;
    jlayout_t layout;
    void *pointer = NULL;
    SNIPPET_TRY(jruntime_create(&runtime));
    SNIPPET_TRY(jbuffer_allocator_create(runtime, &options, &allocator));
    SNIPPET_TRY(jlayout_init(&layout, 2, (const int64_t[]){3, 4}, JORDER_COLUMN_MAJOR));
    SNIPPET_TRY(jbuffer_allocate(allocator, &layout, &buffer));
    /* snippet */
    EXPECT(pointer != NULL);
    SNIPPET_TRY(jbuffer_release(buffer));
    SNIPPET_TRY(jbuffer_allocator_release(allocator));
    SNIPPET_TRY(jruntime_release(runtime));
    return 0;
}
