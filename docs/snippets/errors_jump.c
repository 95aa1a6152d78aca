/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <setjmp.h>

static jmp_buf recovery;
static void compute(jhandle_t *handle) {
    JALLOC_BORROW(ws, handle, 1000);
    EXPECT(ws.ok);
    longjmp(recovery, 1);
}

static jstatus_t run(jhandle_t *handle) {
    /* snippet */
    return JSTATUS_SUCCESS;
}

int main(void) {
    jhandle_t *handle;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    EXPECT(run(handle) == JSTATUS_INTERNAL_ERROR);
    SNIPPET_TRY(jhandle_destroy(handle)); /* no borrow is live */
    return 0;
}
