/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    static char memory[1 << 20];
    /* snippet */
    jallocator_t *found;
    SNIPPET_TRY(jprocess_get_allocator(NULL, &found));
    EXPECT(found == arena);
    return 0;
}
