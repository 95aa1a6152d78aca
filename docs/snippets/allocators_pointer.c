/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

/* snippet */

int main(void) {
    jallocator_t *allocator;
    void *pointer;
    SNIPPET_TRY(jprocess_get_allocator(NULL, &allocator));
    SNIPPET_TRY(jallocator_allocate(allocator, 100, 0, NULL, &pointer));
    EXPECT(host_reads(pointer) && host_reads(&pointer));
    SNIPPET_TRY(jallocator_deallocate(allocator, pointer, 100, NULL));
    return 0;
}
