/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    jhandle_t *handle;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    /* snippet */
    EXPECT(stats.borrow_count == 0);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
