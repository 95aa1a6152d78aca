/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <math.h>

#include <jalloc/operation.h>

static jbuffer_t *l;

static jstatus_t solve(jhandle_t *handle, jbuffer_t *k, jbuffer_t *x) {
    const double one = 1;
    int64_t info;
    /* snippet */
}

int main(void) {
    jhandle_t *handle;
    jruntime_t *runtime;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator;
    jbuffer_t *k, *x;
    double values[2][2] = {{4, 2}, {2, 3}}, right[2][1] = {{8}, {8}}, got; /* x: 1, 2 */
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    SNIPPET_TRY(jruntime_create(&runtime));
    SNIPPET_TRY(jbuffer_allocator_create(runtime, &options, &allocator));
    SNIPPET_TRY(jbuffer_construct_list(allocator, JBUFFER_LIST_2(right), &x));
    for (int definite = 1; definite >= 0; definite--) {
        jbuffer_t *plain;
        values[1][1] = definite ? 3 : 0.5;
        SNIPPET_TRY(jbuffer_construct_list(allocator, JBUFFER_LIST_2(values), &plain));
        SNIPPET_TRY(jbuffer_with_structure(plain, JSTRUCTURE_SYMMETRIC_LOWER, &k));
        EXPECT(solve(handle, k, x) == (definite ? JSTATUS_SUCCESS : JSTATUS_INVALID_VALUE));
        SNIPPET_TRY(jbuffer_release(k));
        SNIPPET_TRY(jbuffer_release(plain));
    }
    SNIPPET_TRY(jbuffer_get(x, (const int64_t[]){1, 0}, &got));
    EXPECT(fabs(got - 2) < 1e-14);
    SNIPPET_TRY(jbuffer_release(l));
    SNIPPET_TRY(jbuffer_release(x));
    SNIPPET_TRY(jbuffer_allocator_release(allocator));
    SNIPPET_TRY(jruntime_release(runtime));
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
