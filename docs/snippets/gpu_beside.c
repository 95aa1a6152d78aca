/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

static int current_device = -1;
static int cudaSetDevice(int device) { return current_device = device; }

static void iterate(jhandle_t *handle) {
    JALLOC_BORROW(ws, handle, 1000);
    EXPECT(ws.ok);
}

int main(void) {
    jhandle_t *handle;
    bool never_captured = true;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    /* snippet */
    SNIPPET_TRY(jhandle_get_never_captured(handle, &never_captured));
    EXPECT(current_device == 0 && !never_captured);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
