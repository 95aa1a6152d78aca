/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <string.h>

static jstatus_t kernel(jhandle_t *handle, size_t m, size_t n) {
    /* snippet */
    memset(x, 0, m * sizeof *x);
    memset(y, 0, n * sizeof *y);
    return ws.status;
}

int main(void) {
    jhandle_t *handle;
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    EXPECT(kernel(handle, 100, 200) == JSTATUS_SUCCESS);
    SNIPPET_TRY(jhandle_get_stats(handle, &stats));
    EXPECT(stats.borrow_count == 1 && stats.live_borrow_count == 0);
    SNIPPET_TRY(jhandle_set_fixed_workspace_size(handle, 0));
    EXPECT(kernel(handle, 100, 200) == JSTATUS_MEMORY_ERROR);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
