/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_ALLOCATORS_POOL_BUFFERS_H
#define JALLOC_MEMORY_ALLOCATORS_POOL_BUFFERS_H

/* The buffers of a pool (pool.c): an entry in the books for each that came from below, and for a
 * kept one a record, by index, with the two lists that it is in: that of its class, to be served
 * from, and that of all by the time they were kept, to be given back from. A live one needs no
 * record, for its class follows from what was asked for: millions of them cost an entry each. */

#include "jalloc/policy.h"
#include "memory/frontier.h"
#include "memory/memory.h"

#include <string.h>

/* A class is one number, and so can be looked up like an address: the size above, the alignment's
 * logarithm below. */
#define POOL_CLASS_SHIFT 5
typedef uintptr_t pool_class_t;

typedef struct pool_buffer {
    uintptr_t address;
    pool_class_t class; /* size and alignment, as asked of below */
    ji_fence_t fence;   /* of its free */
    /* By index; 0 is none. */
    uint32_t older, newer; /* of all; [0] closes the ring */
    /* Of the class, towards older and newer ones. Record not used: `next` is another such one. */
    uint32_t next, previous;
} pool_buffer_t;

typedef struct pool {
    jallocator_t *self, *below;
    size_t granule_bytes;
    jpool_rounding_t rounding;
    bool fixed, keeps_nothing;
    size_t limit_count, limit_bytes;

    /* All buffers: size_bytes is what was asked for, 0 for a kept one; number is the alignment's
     * logarithm, of a kept one the index of its record. */
    ji_ledger_t books;
    /* Those of which a buffer is or was kept: number is the index of the latest; 0: none. */
    ji_ledger_t classes;
    pool_buffer_t *buffers;                 /* kept ones */
    uint32_t buffer_capacity, buffer_count; /* records, and how many were ever used, [0] included */
    uint32_t unused;                        /* first record that was used and is not now; 0: none */
    ji_frontier_t frontier;

    size_t kept_count, kept_bytes, reserved_bytes, peak_reserved_bytes;
    size_t peak_live_bytes; /* of what is reserved and not kept */
    uint64_t hit_count, miss_count, put_count, eviction_count;
    uint64_t crowded_count; /* evictions that kept the limit of buffers */
} pool_t;

static inline size_t pool_class_bytes(pool_class_t class) { return class >> POOL_CLASS_SHIFT; }
static inline size_t pool_class_alignment(pool_class_t class) {
    return (size_t)1 << (class & (((size_t)1 << POOL_CLASS_SHIFT) - 1));
}

/* False where the size cannot be rounded up. */
static inline bool pool_classify(const pool_t *pool, size_t size_bytes, size_t alignment,
                                 pool_class_t *class) {
    size_t most = SIZE_MAX >> POOL_CLASS_SHIFT, rounded = size_bytes;

    if (pool->rounding == JPOOL_ROUND_POWER_OF_TWO && size_bytes <= most)
        for (rounded = pool->granule_bytes; rounded < size_bytes; rounded *= 2)
            ;
    if (rounded > most)
        return false;

    /* What below gives is aligned to it, so requests differ no further. */
    if (alignment < pool->granule_bytes)
        alignment = pool->granule_bytes;
    *class = rounded << POOL_CLASS_SHIFT | (size_t)__builtin_ctzl(alignment);
    return true;
}

/* The class of a buffer in the books. What is asked for again is of the class that it was. */
static inline pool_class_t pool_class(const pool_t *pool, const ji_ledger_entry_t *entry) {
    if (entry->size_bytes == 0)
        return pool->buffers[entry->number].class;

    pool_class_t class = 0;
    (void)pool_classify(pool, entry->size_bytes, (size_t)1 << entry->number, &class);
    return class;
}

/* ---- All buffers ---- */

static inline ji_ledger_entry_t *pool_entry(const pool_t *pool, const pool_buffer_t *buffer) {
    return ji_ledger_find(&pool->books, (const void *)buffer->address);
}

/* A buffer becomes a live one, for what was asked. */
static inline void *pool_hand_out(ji_ledger_entry_t *entry, size_t size_bytes, pool_class_t class) {
    entry->size_bytes = size_bytes;
    entry->tag = ji_tag_current;
    entry->number = (uint32_t)__builtin_ctzl(pool_class_alignment(class));
    return (void *)entry->address;
}

/* Enters a buffer that came from below, not handed out yet; there is room. */
static inline ji_ledger_entry_t *pool_enter(pool_t *pool, const void *memory, pool_class_t class) {
    pool->reserved_bytes += pool_class_bytes(class);
    if (pool->peak_reserved_bytes < pool->reserved_bytes)
        pool->peak_reserved_bytes = pool->reserved_bytes;
    return ji_ledger_insert(&pool->books, memory, 0, 0);
}

/* Gives a buffer that is in no list to below, its fence passed. It stays where below refuses. */
static inline jstatus_t pool_return(pool_t *pool, ji_ledger_entry_t *entry, pool_class_t class,
                                    ji_fence_t fence) {
    const size_t bytes = pool_class_bytes(class);
    JTRY_RETURN(jallocator_deallocate(pool->below, (void *)entry->address, bytes,
                                      ji_frontier_stream(&pool->frontier, fence)));

    ji_ledger_remove(&pool->books, entry);
    pool->reserved_bytes -= bytes;
    return JSTATUS_SUCCESS;
}

/* ---- Records ---- */

/* Makes sure that one more buffer can be kept. */
static inline bool pool_make_room(pool_t *pool) {
    if (!ji_ledger_reserve(&pool->classes))
        return false;
    if (JI_LIKELY(pool->unused != 0 || pool->buffer_count < pool->buffer_capacity))
        return true;

    if (pool->buffer_capacity > UINT32_MAX / 2)
        return false;
    uint32_t capacity = 2 * pool->buffer_capacity;
    pool_buffer_t *buffers = ji_metadata_alloc(capacity * sizeof *buffers);
    if (buffers == NULL)
        return false;

    memcpy(buffers, pool->buffers, pool->buffer_count * sizeof *buffers);
    ji_metadata_free(pool->buffers);
    pool->buffers = buffers;
    pool->buffer_capacity = capacity;
    return true;
}

/* The record of a buffer that is about to be kept; room was made. */
static inline uint32_t pool_take_record(pool_t *pool) {
    const uint32_t index = pool->unused;
    if (index == 0)
        return pool->buffer_count++;
    pool->unused = pool->buffers[index].next;
    return index;
}
static inline void pool_leave_record(pool_t *pool, uint32_t index) {
    pool->buffers[index].next = pool->unused;
    pool->unused = index;
}

/* ---- Kept buffers ---- */

static inline uint32_t pool_class_first(const pool_t *pool, pool_class_t class) {
    const ji_ledger_entry_t *entry = ji_ledger_find(&pool->classes, (const void *)class);
    return entry != NULL ? entry->number : 0;
}

/* Keeps a buffer as the latest one; room for its class was reserved. */
static inline void pool_keep(pool_t *pool, uint32_t index) {
    pool_buffer_t *buffers = pool->buffers, *buffer = &buffers[index];
    buffer->newer = 0;
    buffer->older = buffers[0].older;
    buffers[buffer->older].newer = index;
    buffers[0].older = index;

    ji_ledger_entry_t *class = ji_ledger_find(&pool->classes, (const void *)buffer->class);
    if (class == NULL)
        class = ji_ledger_insert(&pool->classes, (const void *)buffer->class, 0, 0);
    buffer->previous = 0;
    buffer->next = class->number;
    if (class->number != 0)
        buffers[class->number].previous = index;
    class->number = index;

    ++pool->kept_count;
    pool->kept_bytes += pool_class_bytes(buffer->class);
}

static inline void pool_unkeep(pool_t *pool, uint32_t index) {
    pool_buffer_t *buffers = pool->buffers, *buffer = &buffers[index];
    buffers[buffer->older].newer = buffer->newer;
    buffers[buffer->newer].older = buffer->older;

    if (buffer->next != 0)
        buffers[buffer->next].previous = buffer->previous;
    if (buffer->previous != 0) {
        buffers[buffer->previous].next = buffer->next;
    } else {
        ji_ledger_entry_t *class = ji_ledger_find(&pool->classes, (const void *)buffer->class);
        class->number = buffer->next;
        /* Of powers of two there are few. */
        if (class->number == 0 && pool->rounding == JPOOL_ROUND_NONE)
            ji_ledger_remove(&pool->classes, class);
    }

    --pool->kept_count;
    pool->kept_bytes -= pool_class_bytes(buffer->class);
}

#endif
