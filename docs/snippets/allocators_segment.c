/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    jallocator_t *allocator;
    void *pointer;
    /* snippet */
    SNIPPET_TRY(jallocator_allocate(allocator, 1000, 0, NULL, &pointer));
    SNIPPET_TRY(jallocator_deallocate(allocator, pointer, 1000, NULL));
    SNIPPET_TRY(jallocator_destroy(allocator));
    return 0;
}
