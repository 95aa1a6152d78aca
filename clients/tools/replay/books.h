/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef REPLAY_BOOKS_H
#define REPLAY_BOOKS_H

/* The bytes that jalloc takes for its own bookkeeping, all allocators of the process together: what
 * no allocator's statistics have, since it is beside the memory that they manage. */

#include <stddef.h>

/* Before the first call of jalloc's. */
void books_watch(void);

/* Counts from what there is now. */
void books_begin(void);
size_t books_live_bytes(void);
size_t books_peak_bytes(void);

#endif
