/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc.hpp>

int main() {
    const int n = 512;
    double *const none = nullptr;
    jalloc::handle handle;
    /* snippet */
    EXPECT(needs.optimal_bytes > 0 && needs.call_count == 2);
    return 0;
}
