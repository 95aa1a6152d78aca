/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_ALLOCATORS_STACK_BLOCK_H
#define JALLOC_MEMORY_ALLOCATORS_STACK_BLOCK_H

/* One block of the stack (stack.c) and its table.
 *
 * The table is beside the memory. From the left it holds the entries, in the order of their
 * addresses, so that a pointer is found by a binary search; from the right the shadows of entries
 * that are gone:
 *
 *     table     | a | b | (c) | d |    room    | shadow 2 | shadow 1 |
 *     memory    | a | b | (c) | d |     [shadow 2 ][  shadow 1   ]      |
 *                                  ^ top
 *
 * A shadow is memory above the top that was freed behind a fence. What goes leaves the top as a
 * shadow next above it, and what comes covers the nearest shadows first: they are a stack as well,
 * the nearest on top. Each entry that goes becomes at most one shadow, so a free never needs room
 * that is not there. Neighbouring shadows of one stream become one, with the later fence: a program
 * that stays on one stream has at most one in each block. */

#include "memory/frontier.h"
#include "memory/memory.h"

#include <string.h>

#define STACK_FIRST_RECORDS 16

/* An entry, live or freed, or a shadow. */
typedef struct stack_record {
    size_t offset, size_bytes; /* in the block */
    ji_fence_t fence;          /* freed, and shadows */
    uint64_t serial;           /* of an entry */
    jtag_t tag;                /* of an entry */
    bool live;
} stack_record_t;

typedef struct stack_block {
    uintptr_t begin;
    size_t size_bytes;
    size_t top;                          /* end of the last entry; free from here */
    struct stack_block *above, *beneath; /* in the stack, spare blocks uppermost */
    stack_record_t *records;             /* entries from the left, shadows from the right */
    size_t entry_count, shadow_count, record_capacity;
} stack_block_t;

static inline stack_record_t *stack_last_entry(const stack_block_t *block) {
    return block->entry_count != 0 ? &block->records[block->entry_count - 1] : NULL;
}

/* The shadow nearest above the top, if there is one. */
static inline stack_record_t *stack_nearest_shadow(const stack_block_t *block) {
    return &block->records[block->record_capacity - block->shadow_count];
}

static inline bool stack_make_room(stack_block_t *block) {
    if (block->entry_count + block->shadow_count < block->record_capacity)
        return true;

    /* No overflow: half of it is in memory. */
    size_t capacity =
        block->record_capacity != 0 ? 2 * block->record_capacity : STACK_FIRST_RECORDS;
    stack_record_t *records = ji_metadata_alloc(capacity * sizeof *records);
    if (records == NULL)
        return false;

    if (block->entry_count != 0)
        memcpy(records, block->records, block->entry_count * sizeof *records);
    if (block->shadow_count != 0)
        memcpy(&records[capacity - block->shadow_count], stack_nearest_shadow(block),
               block->shadow_count * sizeof *records);

    ji_metadata_free(block->records);
    block->records = records;
    block->record_capacity = capacity;
    return true;
}

/* The shadow of what is freed at the top: takes the room of its entry, which has been removed. */
static inline void stack_cast_shadow(stack_block_t *block, const stack_record_t *gone) {
    if (gone->fence.index == 0)
        return;

    stack_record_t *nearest = stack_nearest_shadow(block);
    if (block->shadow_count != 0 && nearest->fence.index == gone->fence.index) {
        nearest->size_bytes = nearest->offset + nearest->size_bytes - gone->offset;
        nearest->offset = gone->offset;
        if (nearest->fence.serial < gone->fence.serial)
            nearest->fence = gone->fence;
        return;
    }

    stack_record_t shadow = *gone;
    ++block->shadow_count;
    *stack_nearest_shadow(block) = shadow;
}

/* Whether the stream may use the memory from the top to `end`: now, or, where it waits for it, from
 * now on. */
static inline bool stack_is_clear(const stack_block_t *block, ji_frontier_t *frontier, size_t end,
                                  jstream_t *stream, bool wait) {
    const stack_record_t *shadow = stack_nearest_shadow(block);
    for (size_t i = 0; i < block->shadow_count && shadow[i].offset < end; ++i)
        if (!ji_frontier_passed(frontier, shadow[i].fence, stream) &&
            (!wait || ji_frontier_wait(frontier, shadow[i].fence, stream) != JSTATUS_SUCCESS))
            return false;
    return true;
}

/* What comes covers the shadows up to its end. */
static inline void stack_cover_shadows(stack_block_t *block, size_t end) {
    while (block->shadow_count != 0 && stack_nearest_shadow(block)->offset < end) {
        stack_record_t *nearest = stack_nearest_shadow(block);
        size_t shadow_end = nearest->offset + nearest->size_bytes;
        if (shadow_end > end) {
            nearest->offset = end;
            nearest->size_bytes = shadow_end - end;
            return;
        }
        --block->shadow_count;
    }
}

/* Where an allocation would begin above the top; false where it does not fit. */
static inline bool stack_fits(const stack_block_t *block, size_t size_bytes, size_t alignment,
                              size_t *offset) {
    size_t padding = -(block->begin + block->top) & (alignment - 1),
           rest = block->size_bytes - block->top;

    if (padding > rest || size_bytes > rest - padding)
        return false;
    *offset = block->top + padding;
    return true;
}

#endif
