/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    const int node_of_the_card = -1;
    const bool must_not_page = false;
    jallocator_t *near, *huge, *none;
    void *pointer;
    /* snippet */
    EXPECT(jallocator_allocate(none, 1, 0, NULL, &pointer) == JSTATUS_MEMORY_ERROR);
    SNIPPET_TRY(jallocator_allocate(near, 10000, 0, NULL, &pointer));
    SNIPPET_TRY(jallocator_deallocate(near, pointer, 10000, NULL));
    SNIPPET_TRY(jallocator_destroy(near));
    SNIPPET_TRY(jallocator_destroy(huge));
    SNIPPET_TRY(jallocator_destroy(none));
    return 0;
}
