/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

static jsegment_t *attach_again(jsegment_t *segment) {
    jsegment_t *mine;
    /* snippet */
    return mine;
}

int main(void) {
    jsegment_options_t memory = JSEGMENT_OPTIONS_INIT;
    jsegment_t *segment;
    memory.backend = JSEGMENT_MEMFD;
    memory.size_bytes = 1 << 20;
    SNIPPET_TRY(jsegment_create(&memory, &segment));
    jsegment_t *mine = attach_again(segment);
    EXPECT(jsegment_slot(mine) != jsegment_slot(segment));
    SNIPPET_TRY(jsegment_detach(mine));
    SNIPPET_TRY(jsegment_destroy(segment));
    return 0;
}
