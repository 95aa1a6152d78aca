/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    const int64_t m = 2, n = 1, k = 3;
    const double one = 1, zero = 0, a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 1, 1};
    double c[2];
    jhandle_t *handle;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    /* snippet */
    EXPECT(c[0] == 9 && c[1] == 12);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
