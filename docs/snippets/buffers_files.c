/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    jruntime_t *runtime;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator;
    jbuffer_t *matrix, *again;
    double a[2][3] = {{1, 2, 3}, {4, 5, 6}}, value;
    SNIPPET_TRY(jruntime_create(&runtime));
    SNIPPET_TRY(jbuffer_allocator_create(runtime, &options, &allocator));
    SNIPPET_TRY(jbuffer_construct_list(allocator, JBUFFER_LIST_2(a), &matrix));
    /* snippet */
    SNIPPET_TRY(jbuffer_get(again, (const int64_t[]){1, 0}, &value));
    EXPECT(value == 4);
    SNIPPET_TRY(jbuffer_release(again));
    SNIPPET_TRY(jbuffer_release(matrix));
    SNIPPET_TRY(jbuffer_allocator_release(allocator));
    SNIPPET_TRY(jruntime_release(runtime));
    return 0;
}
