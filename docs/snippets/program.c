/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The program that shell snippets call `program`: a handle whose workspace grows and a few
 * allocations of its own. */

#include "snippet.h"

int main(void) {
    jallocator_t *allocator;
    jhandle_t *handle;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    for (size_t bytes = 1000; bytes < 1000000; bytes *= 4) {
        JALLOC_BORROW(ws, handle, bytes);
        EXPECT(ws.ok);
    }
    SNIPPET_TRY(jprocess_get_allocator(NULL, &allocator));
    void *pointer;
    SNIPPET_TRY(jallocator_allocate(allocator, 5000, 0, NULL, &pointer));
    SNIPPET_TRY(jallocator_deallocate(allocator, pointer, 5000, NULL));
    SNIPPET_TRY(jhandle_destroy(handle));
    free(malloc(3000));
    return 0;
}
