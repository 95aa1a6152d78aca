/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <string.h>

/* snippet 1 */

int main(void) {
    jallocator_t *allocator;
    void *matrix;
    jallocation_t block = JALLOCATION_INIT;
    SNIPPET_TRY(jallocator_compose(NULL, "bfc", &allocator));
    SNIPPET_TRY(assemble(allocator, 1000, &matrix));
    SNIPPET_TRY(jallocator_find(allocator, matrix, &block));
    EXPECT(strcmp(jtag_name(block.tag), "assemble") == 0 && jtag_current() == 0);
    SNIPPET_TRY(jallocator_deallocate(allocator, matrix, 1000, NULL));
    SNIPPET_TRY(jallocator_destroy(allocator));
    return 0;
}
