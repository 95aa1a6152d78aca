/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

/* snippet header */

static void compute(jbuffer_allocator_t *allocator) {
    jlayout_t layout;
    jbuffer_t *buffer;
    SNIPPET_TRY(jlayout_parse("[100,100]", &layout, NULL));
    SNIPPET_TRY(jbuffer_construct_identity(allocator, &layout, &buffer));
    SNIPPET_TRY(jbuffer_release(buffer));
}

int main(int argc, char **argv) {
    jruntime_t *runtime;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator;
    /* snippet body */
    return 0;
}
