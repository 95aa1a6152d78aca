/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    const size_t bytes = 1000;
    void *pointer;
    jstream_t *stream = NULL;
    /* snippet */
    EXPECT(pointer != NULL);
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle;
    options.allocator = allocator;
    SNIPPET_TRY(jhandle_create(&options, &handle));
    SNIPPET_TRY(jhandle_destroy(handle));
    SNIPPET_TRY(jallocator_destroy(allocator));
    return 0;
}
