/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <stdint.h>
#include <string.h>

static jallocator_t *pool;

/* snippet */

int main(void) {
    void *blocks[100];
    SNIPPET_TRY(jallocator_compose(NULL, "general+guard+track", &pool));
    for (size_t i = 0; i < 100; i++) {
        blocks[i] = pool_malloc(i);
        EXPECT(blocks[i] != NULL && (uintptr_t)blocks[i] % 16 == 0);
        memset(blocks[i], 1, i);
    }
    for (size_t i = 0; i < 100; i++)
        pool_free(blocks[i]);
    pool_free(NULL);
    EXPECT(pool_malloc(SIZE_MAX) == NULL);
    SNIPPET_TRY(jallocator_destroy(pool));
    return 0;
}
