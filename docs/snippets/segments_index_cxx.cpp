/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc.hpp>

int main() {
    const int n = 1000;
    /* snippet */
    EXPECT(x.size() == n);
    x[n - 1] = 1;
    heap.close();
    segment.destroy();
    return 0;
}
