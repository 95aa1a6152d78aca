/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <math.h>

#include <jalloc/operation.h>

static jbuffer_t *q, *r, *x, *vectors, *y;
static double values[2];
static int64_t pivots[2];

static jstatus_t factor(jhandle_t *handle, jbuffer_t *a, jbuffer_t *b, jbuffer_t *k,
                        jbuffer_t *lu) {
    int64_t info;
    /* snippet */
}

int main(void) {
    jhandle_t *handle;
    jruntime_t *runtime;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator;
    jbuffer_t *a, *b, *k, *plain, *kept;
    jlayout_t layout;
    double tall[3][2] = {{1, 0}, {0, 2}, {0, 0}}, right[3] = {1, 4, 7}, /* x: 1, 2 */
        square[2][2] = {{4, 2}, {2, 3}}, other[2] = {10, 9} /* 1.5, 2 */,
           got;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    SNIPPET_TRY(jruntime_create(&runtime));
    SNIPPET_TRY(jbuffer_allocator_create(runtime, &options, &allocator));
    SNIPPET_TRY(jbuffer_construct_list(allocator, JBUFFER_LIST_2(tall), &a));
    SNIPPET_TRY(jbuffer_construct_list(allocator, JBUFFER_LIST_1(right), &b));
    SNIPPET_TRY(jbuffer_construct_list(allocator, JBUFFER_LIST_2(square), &plain));
    SNIPPET_TRY(jbuffer_construct_list(allocator, JBUFFER_LIST_2(square), &kept));
    SNIPPET_TRY(jbuffer_construct_list(allocator, JBUFFER_LIST_1(other), &y));
    SNIPPET_TRY(jbuffer_with_structure(kept, JSTRUCTURE_SYMMETRIC_LOWER, &k));
    SNIPPET_TRY(factor(handle, a, b, k, plain));
    SNIPPET_TRY(jbuffer_get(x, (const int64_t[]){1}, &got));
    EXPECT(fabs(got - 2) < 1e-14 && fabs(values[0] - 2) < 1e-14 && fabs(values[1] - 1) < 1e-14);
    SNIPPET_TRY(jbuffer_get(y, (const int64_t[]){1}, &got));
    EXPECT(fabs(got - 2) < 1e-14);
    EXPECT(pivots[0] == 1 && pivots[1] == 2);
    SNIPPET_TRY(jbuffer_get_layout(r, &layout));
    EXPECT(layout.structure == JSTRUCTURE_TRIANGULAR_UPPER);
    jbuffer_t *buffers[] = {a, b, k, plain, kept, q, r, x, vectors, y};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        SNIPPET_TRY(jbuffer_release(buffers[i]));
    SNIPPET_TRY(jbuffer_allocator_release(allocator));
    SNIPPET_TRY(jruntime_release(runtime));
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
