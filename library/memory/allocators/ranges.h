/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_ALLOCATORS_RANGES_H
#define JALLOC_MEMORY_ALLOCATORS_RANGES_H

/* The blocks that a policy has from below, in the order of their addresses: which one a pointer
 * lies in is a binary search. Entering and removing one moves those behind it, which is little
 * beside asking below for a block. Not locked. Zero-initialised is empty. */

#include "core/core.h"

typedef struct ji_range {
    uintptr_t begin;
    size_t size_bytes;
    void *block; /* the user's own */
} ji_range_t;

typedef struct ji_ranges {
    ji_range_t *ranges; /* in order; none overlap */
    size_t count, capacity;
} ji_ranges_t;

/* Makes sure that one more has room: false without bookkeeping memory, and nothing has changed. */
bool ji_ranges_reserve(ji_ranges_t *ranges);
/* Enters a range that overlaps none; room was reserved. */
void ji_ranges_insert(ji_ranges_t *ranges, const void *begin, size_t size_bytes, void *block);
/* The block of the range that contains the pointer; NULL where there is none. */
void *ji_ranges_find(const ji_ranges_t *ranges, const void *pointer);
/* Removes the range that contains the pointer; there is one. */
void ji_ranges_remove(ji_ranges_t *ranges, const void *pointer);
void ji_ranges_fini(ji_ranges_t *ranges);

#endif
