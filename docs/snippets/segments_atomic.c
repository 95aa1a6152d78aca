/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

typedef struct node {
    int value;
    joffset_t next;
} node_t;

typedef struct list {
    joffset_atomic_t first;
} list_t;

static void push(list_t *list, node_t *node, joffset_t offset) {
    /* snippet push */
}

static joffset_t take(list_t *list) {
    /* snippet take */
    return all;
}

int main(void) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    jsegment_t *segment;
    jshared_t *heap;
    joffset_t at;
    options.size_bytes = 1 << 20;
    SNIPPET_TRY(jsegment_create(&options, &segment));
    SNIPPET_TRY(jshared_create(segment, 1, NULL, &heap));
    SNIPPET_TRY(jshared_allocate(heap, sizeof(list_t), 0, &at));
    list_t *list = JSEGMENT_AT(segment, list_t, at, 1);
    joffset_store(&list->first, JOFFSET_NULL);
    for (int i = 1; i <= 10; i++) {
        SNIPPET_TRY(jshared_allocate(heap, sizeof(node_t), 0, &at));
        node_t *node = JSEGMENT_AT(segment, node_t, at, 1);
        node->value = i;
        push(list, node, at);
    }
    int sum = 0;
    for (at = take(list); at != JOFFSET_NULL;) {
        const node_t *node = JSEGMENT_AT(segment, node_t, at, 1);
        sum += node->value;
        at = node->next;
    }
    EXPECT(sum == 55 && take(list) == JOFFSET_NULL);
    SNIPPET_TRY(jsegment_destroy(segment));
    return 0;
}
