/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    jhandle_t *handle;
    /* snippet */
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    jallocator_stats_t taken = JALLOCATOR_STATS_INIT;
    {
        JALLOC_BORROW(ws, handle, 1000);
        EXPECT(ws.ok);
        JALLOC_BORROW(more, handle, (size_t)65 << 20);
        EXPECT(!more.ok);
    }
    SNIPPET_TRY(jallocator_get_stats(allocator, &taken));
    EXPECT(taken.in_use_bytes >= 1000);
    SNIPPET_TRY(jhandle_destroy(handle));
    SNIPPET_TRY(jallocator_destroy(allocator));
    return 0;
}
