/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A sorted array. */

#include "memory/allocators/ranges.h"

#include <string.h>

#define RANGES_FIRST_CAPACITY 8

bool ji_ranges_reserve(ji_ranges_t *ranges) {
    if (ranges->count < ranges->capacity)
        return true;

    /* No overflow: half of it is in memory. */
    size_t capacity = ranges->capacity != 0 ? 2 * ranges->capacity : RANGES_FIRST_CAPACITY;
    ji_range_t *grown = ji_metadata_alloc(capacity * sizeof *grown);
    if (grown == NULL)
        return false;

    if (ranges->count != 0)
        memcpy(grown, ranges->ranges, ranges->count * sizeof *grown);

    ji_metadata_free(ranges->ranges);
    ranges->ranges = grown;
    ranges->capacity = capacity;
    return true;
}

/* How many ranges begin at or before the address. */
static size_t ranges_count_up_to(const ji_ranges_t *ranges, uintptr_t address) {
    size_t low = 0, high = ranges->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->ranges[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }

    return low;
}

void ji_ranges_insert(ji_ranges_t *ranges, const void *begin, size_t size_bytes, void *block) {
    size_t index = ranges_count_up_to(ranges, (uintptr_t)begin);
    ji_range_t *range = &ranges->ranges[index];
    memmove(range + 1, range, (ranges->count - index) * sizeof *range);
    *range = (ji_range_t){(uintptr_t)begin, size_bytes, block};
    ++ranges->count;
}

void *ji_ranges_find(const ji_ranges_t *ranges, const void *pointer) {
    size_t index = ranges_count_up_to(ranges, (uintptr_t)pointer);
    if (index == 0)
        return NULL;
    const ji_range_t *range = &ranges->ranges[index - 1];
    return (uintptr_t)pointer - range->begin < range->size_bytes ? range->block : NULL;
}

void ji_ranges_remove(ji_ranges_t *ranges, const void *pointer) {
    size_t index = ranges_count_up_to(ranges, (uintptr_t)pointer) - 1;
    ji_range_t *range = &ranges->ranges[index];
    --ranges->count;
    memmove(range, range + 1, (ranges->count - index) * sizeof *range);
}

void ji_ranges_fini(ji_ranges_t *ranges) {
    ji_metadata_free(ranges->ranges);
    memset(ranges, 0, sizeof *ranges);
}
