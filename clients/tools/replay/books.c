/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Hooks that count and pass on. A block's size is asked of malloc: what it takes, not what was
 * asked for. */

#include "books.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../common/tool.h"
#include "jalloc/metadata.h"

static atomic_size_t books_now, books_peak;
static size_t books_before;

static void *books_allocate(void *context, size_t size_bytes) {
    (void)context;
    void *block = malloc(size_bytes);
    size_t more = malloc_usable_size(block);
    size_t now = atomic_fetch_add_explicit(&books_now, more, memory_order_relaxed) + more;
    size_t peak = atomic_load_explicit(&books_peak, memory_order_relaxed);
    while (now > peak && !atomic_compare_exchange_weak_explicit(
                             &books_peak, &peak, now, memory_order_relaxed, memory_order_relaxed)) {
    }
    return block;
}

static void books_deallocate(void *context, void *block) {
    (void)context;
    atomic_fetch_sub_explicit(&books_now, malloc_usable_size(block), memory_order_relaxed);
    free(block);
}

void books_watch(void) {
    static const jmetadata_hooks_t hooks = {sizeof hooks, books_allocate, books_deallocate, NULL};
    if (jstatus_is_error(jmetadata_set_hooks(&hooks)))
        tool_fail("bookkeeping cannot be watched: %s", jstatus_last_message());
}

void books_begin(void) {
    books_before = atomic_load(&books_now);
    atomic_store(&books_peak, books_before);
}

/* Something that was there before may be gone. */
static size_t books_since(size_t bytes) { return bytes > books_before ? bytes - books_before : 0; }

size_t books_live_bytes(void) { return books_since(atomic_load(&books_now)); }
size_t books_peak_bytes(void) { return books_since(atomic_load(&books_peak)); }
