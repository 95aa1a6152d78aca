/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    jhandle_t *handle;
    int count = -1;
    /* snippet */
    EXPECT(count >= 1);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
