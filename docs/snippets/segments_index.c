/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

enum { n = 1000 };

int main(void) {
    jsegment_t *segment;
    jshared_t *heap;
    /* snippet */
    EXPECT(x != NULL);
    x[n - 1] = 1;
    SNIPPET_TRY(jsegment_destroy(segment));
    return 0;
}
