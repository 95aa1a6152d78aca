/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What each thread keeps of the small blocks for itself, and the two fast paths.
 *
 *     thread            cache (one for each allocator and stream it uses)
 *     allocator ---+    stream, counts                  items of class 3, the last freed on top
 *     cache -------+--> magazines [0][1][2][3] ... --> | block, cell | block, cell | free ...
 *
 * Allocating takes the top item of the class's magazine and writes size and tag into its cell;
 * freeing looks up the slab, compares size and cell, clears the cell and puts the item on top.
 * Neither takes a lock or does an atomic read-modify-write: a cache is written by its thread alone.
 * What others read of it meanwhile (counts) is atomic, and relaxed.
 *
 * An empty magazine is filled half, a full one is emptied half, under the class's lock. Each such
 * miss also doubles its capacity, up to 1024 blocks and what cache_bytes allows; where that is used
 * up, now and then another magazine gives up half of its own. */

#include <string.h>

#include "core/tag.h"
#include "memory/allocators/small/small.h"

/* Half of it, which is what a cache is filled with, has its cells in a line of its own. */
#define SMALL_FIRST_ITEMS (2 * SMALL_LINE_CELLS)
/* A first magazine holds no more, but one block in any case. */
#define SMALL_FIRST_BYTES ((size_t)64 << 10)
#define SMALL_MOST_ITEMS 1024
#define SMALL_MISSES_PER_THEFT 16

/* ---- Fast paths ---- */

/* What the fast paths pass on has few arguments, so that they need save no registers. Large blocks
 * of an allocator that has what is below for itself go there with no more than counting. */
static __attribute__((noinline)) jstatus_t
cache_allocate_slowly(size_t size_bytes, size_t alignment, void **pointer, small_cache_t *cache) {
    small_t *small = cache->small;
    jstream_t *stream = small_load(cache->stream);
    if (size_bytes > small->largest_bytes && small->owns_all &&
        small->below->entry.allocate(small->below, size_bytes, alignment, stream, pointer) ==
            JSTATUS_SUCCESS) {
        jallocator_add_(&cache->seen.counts.out_count, 1);
        ji_small_count_allocate(small, cache, size_bytes);
        return JSTATUS_SUCCESS;
    }

    return small->straight.allocate(small->allocator, size_bytes, alignment, stream, pointer);
}

static __attribute__((noinline)) jstatus_t cache_deallocate_slowly(void *pointer, size_t size_bytes,
                                                                   small_cache_t *cache) {
    small_t *small = cache->small;
    jstream_t *stream = small_load(cache->stream);
    size_t offset;
    const small_slab_t *slab = small_slab_find(small, pointer, &offset);
    if (slab == NULL && size_bytes > small->largest_bytes && small->owns_all) {
        jstatus_t status =
            small->below->entry.deallocate(small->below, pointer, size_bytes, stream);
        if (JI_LIKELY(status == JSTATUS_SUCCESS)) {
            jallocator_add_(&cache->seen.counts.out_count, (size_t)-1);
            small_count_out(&cache->seen.counts, size_bytes);
        }
        return status;
    }

    if (slab != NULL) {
        size_t unit = (uintptr_t)pointer >> SMALL_UNIT_SHIFT;
        cache->seen.near_slabs[unit % JALLOCATOR_NEAR_UNITS_] = &slab->seen;
        if (jallocator_give_(&cache->seen, pointer, size_bytes))
            return JSTATUS_SUCCESS;
    }
    return small->straight.deallocate(small->allocator, pointer, size_bytes, stream);
}

/* Whether the class that serves the size has blocks of this alignment. */
static bool cache_aligns(const small_cache_t *cache, size_t size_bytes, size_t alignment) {
    if (JI_LIKELY(alignment <= SMALL_STEP_BYTES))
        return true;
    if (size_bytes > small_load(cache->seen.counts.at_hand_bytes))
        return false;

    size_t class_index = cache->small->class_of[(size_bytes - 1) / SMALL_STEP_BYTES];
    return alignment <= cache->magazines[class_index].alignment;
}

jstatus_t ji_small_cache_allocate(jallocator_t *allocator, size_t size_bytes, size_t alignment,
                                  jstream_t *stream, void **pointer) {
    small_cache_t *cache;
    if (JI_UNLIKELY(!small_cache_at_hand(allocator, stream, &cache)))
        return ((const small_t *)allocator->context)
            ->straight.allocate(allocator, size_bytes, alignment, stream, pointer);

    void *block = cache_aligns(cache, size_bytes, alignment)
                      ? jallocator_take_(&cache->seen, size_bytes, jthread_hint_1_.shifted_tag)
                      : NULL;
    if (JI_UNLIKELY(block == NULL))
        return cache_allocate_slowly(size_bytes, alignment, pointer, cache);

    *pointer = block;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_small_cache_deallocate(jallocator_t *allocator, void *pointer, size_t size_bytes,
                                    jstream_t *stream) {
    small_cache_t *cache;
    if (JI_UNLIKELY(!small_cache_at_hand(allocator, stream, &cache)))
        return ((const small_t *)allocator->context)
            ->straight.deallocate(allocator, pointer, size_bytes, stream);

    return JI_LIKELY(jallocator_give_(&cache->seen, pointer, size_bytes))
               ? JSTATUS_SUCCESS
               : cache_deallocate_slowly(pointer, size_bytes, cache);
}

/* ---- Magazines ---- */

static small_item_t small_no_items[1]; /* of a magazine without capacity */

void ji_small_magazine_set(small_magazine_t *magazine, small_item_t *items, uint32_t capacity,
                           uint32_t count) {
    magazine->bottom = (items != NULL ? items : small_no_items) + 1;
    magazine->seen.end = magazine->bottom + capacity;
    small_store(magazine->seen.top, magazine->bottom + count);
}

void ji_small_magazine_free(small_magazine_t *magazine) {
    small_item_t *items = magazine->bottom - 1;
    if (items != small_no_items)
        ji_metadata_free(items);
}

/* Between the two halves of a transfer, for cache_read_live(): who sees this sees the first half,
 * and who sees the second, which is written with release too, sees this. */
static void cache_mark_transfer(small_cache_t *cache) {
    small_store_release(cache->transfer_count, cache->transfer_count + 1);
}

/* Gives the lowest items, the longest unused ones, to the central part. */
static void magazine_give(small_cache_t *cache, uint32_t class_index, uint32_t excess,
                          ji_fence_t fence, bool settle) {
    small_magazine_t *magazine = &cache->magazines[class_index];
    uint32_t rest = small_magazine_count(magazine) - excess;
    if (excess == 0)
        return;

    ji_small_central_give(cache->small, class_index, magazine->bottom, excess, fence, settle);
    memmove(magazine->bottom, magazine->bottom + excess, rest * sizeof *magazine->bottom);
    small_store(magazine->seen.top, magazine->bottom + rest);
    cache_mark_transfer(cache);
    small_store_release(cache->seen.counts.out_count,
                        small_load(cache->seen.counts.out_count) - excess);
}

void ji_small_magazines_empty(small_cache_t *cache, ji_fence_t fence) {
    for (uint32_t i = 0; i < cache->small->class_count; ++i)
        magazine_give(cache, i, small_magazine_count(&cache->magazines[i]), fence, true);
}

/* Another magazine gives up half of its capacity. */
static void cache_steal(small_cache_t *cache, uint32_t for_class, jstream_t *stream) {
    small_t *small = cache->small;
    ji_fence_t fence;
    if (cache->misses % SMALL_MISSES_PER_THEFT != 0 ||
        ji_small_central_mark(small, stream, &fence) != JSTATUS_SUCCESS)
        return;

    for (uint32_t tried = 0; tried < small->class_count; ++tried) {
        uint32_t victim = cache->hand++ % small->class_count;
        small_magazine_t *magazine = &cache->magazines[victim];
        uint32_t count = small_magazine_count(magazine),
                 capacity = small_magazine_capacity(magazine);
        if (victim == for_class || capacity == 0)
            continue;

        magazine_give(cache, victim, count > capacity / 2 ? count - capacity / 2 : 0, fence, true);
        magazine->seen.end = magazine->bottom + capacity / 2;
        cache->room_bytes += (size_t)(capacity - capacity / 2) * magazine->block_bytes;
        return;
    }
}

/* How many items more a magazine gets after a miss: as many as it has, or as many as there is room
 * for. */
static size_t magazine_want(small_cache_t *cache, uint32_t class_index, jstream_t *stream) {
    const small_magazine_t *magazine = &cache->magazines[class_index];
    size_t block_bytes = magazine->block_bytes, capacity = small_magazine_capacity(magazine),
           more = capacity;

    if (more == 0)
        more = SMALL_FIRST_BYTES / block_bytes;
    if (more > SMALL_FIRST_ITEMS && capacity == 0)
        more = SMALL_FIRST_ITEMS;
    if (more == 0)
        more = 1;
    if (more > SMALL_MOST_ITEMS - capacity)
        more = SMALL_MOST_ITEMS - capacity;

    if (more * block_bytes > cache->room_bytes)
        cache_steal(cache, class_index, stream);
    return more * block_bytes > cache->room_bytes ? cache->room_bytes / block_bytes : more;
}

/* After a miss. Where bookkeeping memory fails the magazine stays as it is. */
static void magazine_grow(small_cache_t *cache, uint32_t class_index, jstream_t *stream) {
    small_magazine_t *magazine = &cache->magazines[class_index];
    ++cache->misses;

    size_t more = magazine_want(cache, class_index, stream);
    size_t capacity = small_magazine_capacity(magazine) + more,
           count = small_magazine_count(magazine);
    small_item_t *items = more > 0 ? ji_metadata_alloc((capacity + 1) * sizeof *items) : NULL;
    if (items == NULL)
        return;

    small_magazine_t old = *magazine;
    memcpy(items, old.bottom - 1, (count + 1) * sizeof *items);
    ji_lock_acquire(&ji_small_registry_lock);
    ji_small_magazine_set(magazine, items, (uint32_t)capacity, (uint32_t)count);
    ji_lock_release(&ji_small_registry_lock);

    ji_small_magazine_free(&old);
    cache->room_bytes -= more * magazine->block_bytes;
}

jstatus_t ji_small_cache_pop(small_t *small, small_cache_t *cache, uint32_t class_index,
                             jstream_t *stream, small_item_t *item) {
    small_magazine_t *magazine = cache != NULL ? &cache->magazines[class_index] : NULL;
    if (magazine != NULL && small_magazine_count(magazine) == 0)
        magazine_grow(cache, class_index, stream);

    bool keeps = magazine != NULL && small_magazine_capacity(magazine) > 0;
    uint32_t count = keeps ? small_magazine_count(magazine) : 0;
    small_item_t *items = keeps ? magazine->bottom : item;

    if (count == 0) {
        uint32_t wanted = keeps ? (small_magazine_capacity(magazine) + 1) / 2 : 1;
        JTRY_RETURN(ji_small_central_take(small, class_index, stream, items, wanted, &count));
        ji_small_count_blocks(small, cache, count);
        if (keeps)
            cache_mark_transfer(cache);
    }

    if (keeps) {
        *item = items[--count];
        small_store_release(magazine->seen.top, items + count);
    }
    return JSTATUS_SUCCESS;
}

jstatus_t ji_small_cache_push(small_t *small, small_cache_t *cache, uint32_t class_index,
                              jstream_t *stream, small_item_t item) {
    small_magazine_t *magazine = cache != NULL ? &cache->magazines[class_index] : NULL;
    if (magazine != NULL && small_load(magazine->seen.top) == magazine->seen.end)
        magazine_grow(cache, class_index, stream);

    bool keeps = magazine != NULL && small_magazine_capacity(magazine) > 0;
    ji_fence_t fence;
    if (!keeps || small_load(magazine->seen.top) == magazine->seen.end) {
        JTRY_RETURN(ji_small_central_mark(small, stream, &fence));
        if (keeps)
            magazine_give(cache, class_index, (small_magazine_capacity(magazine) + 1) / 2, fence,
                          false);
    }

    small_cell_clear(item.cell);
    if (keeps) {
        small_item_t *top = small_load(magazine->seen.top);
        *top = item;
        small_store(magazine->seen.top, top + 1);
    } else {
        ji_small_central_give(small, class_index, &item, 1, fence, false);
        ji_small_count_blocks(small, cache, (size_t)-1);
    }
    return JSTATUS_SUCCESS;
}
