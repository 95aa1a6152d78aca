/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

static jstatus_t routine(jhandle_t *handle, size_t bytes_for_inverses, size_t bytes_for_solution) {
    /* snippet */
    inverses[0] = solution[0] = 1;
    return ws.status;
}

int main(void) {
    jhandle_t *handle;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    size_t bytes;
    SNIPPET_TRY(jhandle_start_size_query(handle));
    EXPECT(routine(handle, 1000, 2000) == JSTATUS_SIZE_INCREASED);
    SNIPPET_TRY(jhandle_stop_size_query(handle, &bytes));
    EXPECT(bytes == 1024 + 2048);
    EXPECT(routine(handle, 1000, 2000) == JSTATUS_SUCCESS);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
