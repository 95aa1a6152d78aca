/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <string.h>

static void work(double *copy, void *workspace, size_t bytes) {
    memset(copy, 0, bytes);
    memcpy(workspace, copy, bytes);
}

static jstatus_t routine(jhandle_t *handle, size_t bytes) {
    /* snippet */
}

int main(void) {
    jhandle_t *handle;
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    EXPECT(routine(handle, 1000) == JSTATUS_SUCCESS);
    SNIPPET_TRY(jhandle_set_fixed_workspace_size(handle, 0));
    EXPECT(routine(handle, 1000) == JSTATUS_MEMORY_ERROR);
    SNIPPET_TRY(jhandle_get_stats(handle, &stats));
    EXPECT(stats.live_borrow_count == 0 && stats.misuse_count == 0);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
