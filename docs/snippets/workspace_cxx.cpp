/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <new>

static double routine(jhandle_t *handle, int64_t count) {
    /* snippet */
    solution[count - 1] = 5;
    return solution[count - 1];
}

int main() {
    jhandle_t *handle;
    bool thrown = false;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    EXPECT(routine(handle, 100) == 5);
    SNIPPET_TRY(jhandle_set_fixed_workspace_size(handle, 64));
    try {
        routine(handle, 100);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    EXPECT(thrown);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
