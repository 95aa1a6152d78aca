/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    /* snippet */
    EXPECT(blas != NULL && isa != NULL);
    return 0;
}
