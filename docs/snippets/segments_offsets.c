/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

/* snippet node */

static double sum_of(jsegment_t *segment, joffset_t first) {
    double sum = 0;
    /* snippet walk */
    return sum;
}

int main(void) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    jsegment_t *segment;
    jshared_t *heap;
    joffset_t first = JOFFSET_NULL;
    options.size_bytes = 1 << 20;
    SNIPPET_TRY(jsegment_create(&options, &segment));
    SNIPPET_TRY(jshared_create(segment, 1, NULL, &heap));
    for (int i = 1; i <= 10; i++) {
        joffset_t at;
        SNIPPET_TRY(jshared_allocate(heap, sizeof(node_t), 0, &at));
        *JSEGMENT_AT(segment, node_t, at, 1) = (node_t){i, first};
        first = at;
    }
    EXPECT(sum_of(segment, first) == 55);
    JSEGMENT_AT(segment, node_t, first, 1)->next = (joffset_t)1 << 40; /* wrong, and no crash */
    EXPECT(sum_of(segment, first) == 10);
    SNIPPET_TRY(jsegment_destroy(segment));
    return 0;
}
