/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

static bool is_zero(void *context, const int64_t *starts) {
    return context != NULL && starts[0] < starts[1];
}
static double element(int64_t i, int64_t j) { return (double)i + 100 * (double)j; }

/* snippet */

int main(void) {
    jruntime_t *runtime;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator;
    jlayout_t layout;
    jbuffer_t *buffer;
    double value;
    SNIPPET_TRY(jruntime_create(&runtime));
    SNIPPET_TRY(jbuffer_allocator_create(runtime, &options, &allocator));
    SNIPPET_TRY(jlayout_parse("[100,50] blocks=(10,10)", &layout, NULL));
    SNIPPET_TRY(jbuffer_construct_function(allocator, &layout, fill, &layout, 0, &buffer));
    SNIPPET_TRY(jbuffer_get(buffer, (const int64_t[]){99, 49}, &value));
    EXPECT(value == 99 + 4900);
    SNIPPET_TRY(jbuffer_get(buffer, (const int64_t[]){0, 49}, &value));
    EXPECT(value == 0);
    SNIPPET_TRY(jbuffer_release(buffer));
    SNIPPET_TRY(jbuffer_allocator_release(allocator));
    SNIPPET_TRY(jruntime_release(runtime));
    return 0;
}
