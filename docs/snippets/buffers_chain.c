/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc/operation.h>

typedef struct work {
    jbuffer_t *a, *noise, *l, *k, *s;
} work_t;
static const double zero = 0, one = 1, sigma = 0.5;

/* snippet function */

int main(void) {
    jhandle_t *handle;
    jruntime_t *runtime;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator;
    jbuffer_t *identity;
    jlayout_t layout;
    work_t w = {0};
    double value;
    size_t bytes;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    SNIPPET_TRY(jruntime_create(&runtime));
    SNIPPET_TRY(jbuffer_allocator_create(runtime, &options, &allocator));
    SNIPPET_TRY(jlayout_parse("[60,60]", &layout, NULL));
    SNIPPET_TRY(jbuffer_construct_identity(allocator, &layout, &w.a));
    SNIPPET_TRY(jbuffer_construct_identity(allocator, &layout, &w.noise));
    SNIPPET_TRY(jbuffer_construct_identity(allocator, &layout, &identity));
    SNIPPET_TRY(jbuffer_with_structure(identity, JSTRUCTURE_TRIANGULAR_LOWER, &w.l));
    /* snippet calls */
    SNIPPET_TRY(jbuffer_get(w.s, (const int64_t[]){59, 59}, &value));
    EXPECT(value == 1.5);
    jbuffer_t *buffers[] = {w.a, w.noise, w.l, w.k, w.s, identity};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        SNIPPET_TRY(jbuffer_release(buffers[i]));
    SNIPPET_TRY(jbuffer_allocator_release(allocator));
    SNIPPET_TRY(jruntime_release(runtime));
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
