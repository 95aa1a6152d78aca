/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc.hpp>
#include <memory_resource>
#include <vector>

int main() {
    const std::size_t bytes = 1000;
    jstream_t *stream = nullptr;
    /* snippet */
    EXPECT(x.size() == 1000);
    return 0;
}
