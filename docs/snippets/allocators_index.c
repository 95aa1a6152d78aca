/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    const size_t bytes = 1000;
    void *pointer;
    jstream_t *stream = NULL;
    /* snippet */
    return 0;
}
