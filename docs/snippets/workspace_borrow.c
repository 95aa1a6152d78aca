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
    EXPECT(routine(handle, 1000, 2000) == JSTATUS_SUCCESS);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
