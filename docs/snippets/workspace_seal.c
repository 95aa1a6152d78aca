/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

static jstatus_t iterate(jhandle_t *handle) {
    JALLOC_BORROW(ws, handle, 1000);
    return ws.status;
}

int main(void) {
    jhandle_t *handle;
    jstatus_t status;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    SNIPPET_TRY(iterate(handle));
    /* snippet */
    EXPECT(status == JSTATUS_SUCCESS && !jhandle_is_sealed(handle));
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
