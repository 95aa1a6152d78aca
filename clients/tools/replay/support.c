/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Memory of the program's own. */

#include <stdlib.h>
#include <string.h>

#include "replay.h"

void *replay_allocate(size_t count, size_t element_bytes) {
    void *memory = calloc(count ? count : 1, element_bytes);
    if (!memory)
        tool_fail("no memory for %zu times %zu bytes", count, element_bytes);
    return memory;
}

void *replay_reallocate(void *memory, size_t old_count, size_t count, size_t element_bytes) {
    size_t bytes;
    void *larger =
        __builtin_mul_overflow(count, element_bytes, &bytes) ? NULL : realloc(memory, bytes);
    if (!larger)
        tool_fail("no memory for %zu times %zu bytes", count, element_bytes);
    memset((char *)larger + old_count * element_bytes, 0, (count - old_count) * element_bytes);
    return larger;
}
