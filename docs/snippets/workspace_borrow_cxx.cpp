/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc.hpp>

int main() {
    const int n = 30;
    jalloc::handle handle;
    /* snippet */
    EXPECT(inverses.size() == 900 && solution.size() == 30);
    solution[29] = inverses[899] = 1;
    return 0;
}
