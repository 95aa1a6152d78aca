/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

static int written;
static void print(void *context, const char *text, size_t length) {
    fwrite(text, 1, length, context);
    written++;
}

int main(void) {
    jhandle_t *handle;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    {
        JALLOC_BORROW(ws, handle, 100000);
        EXPECT(ws.ok);
        /* snippet */
    }
    EXPECT(written > 0);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
