/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc.hpp>

int main() {
    const int m = 2, n = 1, k = 3;
    const double a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 1, 1};
    double c[2];
    jalloc::handle handle;
    /* snippet */
    EXPECT(c[0] == 9 && c[1] == 12);
    return 0;
}
