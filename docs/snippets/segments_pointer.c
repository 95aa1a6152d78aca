/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    const size_t n = 100;
    jsegment_t *segment;
    jshared_t *heap;
    joffset_t offset;
    options.size_bytes = 1 << 20;
    SNIPPET_TRY(jsegment_create(&options, &segment));
    SNIPPET_TRY(jshared_create(segment, 1, NULL, &heap));
    SNIPPET_TRY(jshared_allocate(heap, n * sizeof(double), 0, &offset));
    /* snippet */
    EXPECT(x != NULL && x == same);
    SNIPPET_TRY(jsegment_destroy(segment));
    return 0;
}
