/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

enum { n = 1000 };

int main(void) {
    jsegment_t *segment, *other;
    jshared_t *heap, *again;
    joffset_t at, found;
    /* snippet */
    for (int i = 0; i < n; i++)
        x[i] = i;
    /* As another process would. */
    SNIPPET_TRY(jsegment_attach(&options, &other));
    SNIPPET_TRY(jshared_open(other, 7, &again));
    SNIPPET_TRY(jsegment_get_root(other, "x", &found));
    const double *there = JSEGMENT_AT(other, double, found, n);
    EXPECT(found == at && there != NULL && there != x && there[n - 1] == n - 1);
    SNIPPET_TRY(jsegment_detach(segment));
    EXPECT(there[n - 1] == n - 1);
    SNIPPET_TRY(jshared_deallocate(again, found));
    SNIPPET_TRY(jsegment_destroy(other));
    return 0;
}
