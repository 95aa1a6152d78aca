/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    enum { n = 40 };
    jhandle_t *handle, *other;
    size_t bytes = 0, host_bytes = 1, held = 1;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    SNIPPET_TRY(jhandle_create(NULL, &other));
    /* snippet */
    SNIPPET_TRY(jhandle_get_host_workspace_size(other, &held));
    EXPECT(bytes > 0 && host_bytes == 0 && held == 0);
    SNIPPET_TRY(jhandle_destroy(handle));
    SNIPPET_TRY(jhandle_destroy(other));
    return 0;
}
