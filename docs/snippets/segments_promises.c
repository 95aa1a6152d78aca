/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

typedef struct item {
    int value;
} item_t;
typedef struct queue {
    joffset_atomic_t last;
} queue_t;

static void fill(item_t *item) { item->value = 5; }

int main(void) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    jsegment_t *segment;
    jshared_t *heap;
    joffset_t at, of_queue;
    options.size_bytes = 1 << 20;
    SNIPPET_TRY(jsegment_create(&options, &segment));
    SNIPPET_TRY(jshared_create(segment, 1, NULL, &heap));
    SNIPPET_TRY(jshared_allocate(heap, sizeof(queue_t), 0, &of_queue));
    queue_t *queue = JSEGMENT_AT(segment, queue_t, of_queue, 1);
    /* snippet */
    EXPECT(JSEGMENT_AT(segment, item_t, joffset_load(&queue->last), 1)->value == 5);
    SNIPPET_TRY(jsegment_destroy(segment));
    return 0;
}
