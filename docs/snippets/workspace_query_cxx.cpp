/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc.hpp>

int main() {
    const int n = 200;
    jalloc::handle handle;
    /* snippet */
    EXPECT(handle.workspace_size() == bytes && bytes > 0);
    return 0;
}
