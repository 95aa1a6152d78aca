/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    const int64_t n = 200;
    jhandle_t *handle;
    size_t bytes, held = 0;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    /* snippet */
    SNIPPET_TRY(jhandle_get_workspace_size(handle, &held));
    EXPECT(held == bytes && bytes > 0);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
