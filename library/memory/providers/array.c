/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Parts of the caller's array, one after the other.
 *
 *     array                                     top                    end
 *     | block 0 |pad| block 1 | (freed) | block 3 |      free           |
 *
 * The blocks are listed in a table beside the array, in the order of their addresses, which is the
 * order in which they were handed out. The array itself is never read or written, so it may be
 * memory that the host cannot reach. A block freed at the top is taken back at once, together with
 * freed ones below it and the padding between; a block freed elsewhere waits until it is at the
 * top. So what is freed in reverse order leaves nothing behind, and what is freed in any order
 * leaves nothing behind when the last one goes. The table also knows a pointer that was never
 * handed out, one that is freed twice, and a wrong size.
 *
 * Allocation and the last free are O(1), another free is a binary search. */

#include <string.h>

#include "memory/providers/provider.h"

#define ARRAY_FIRST_BLOCKS 16

typedef struct array_block {
    size_t offset;     /* from the array's beginning; grows along the table */
    size_t size_bytes; /* 0: freed */
    jtag_t tag;
} array_block_t;

typedef struct array_provider {
    uintptr_t begin;
    size_t size_bytes;
    size_t top; /* end of the last block; free from here */
    array_block_t *blocks;
    size_t block_count; /* the last one is never a freed one */
    size_t block_capacity;
} array_provider_t;

static bool array_make_room(array_provider_t *provider) {
    if (provider->block_count < provider->block_capacity)
        return true;

    size_t capacity =
               provider->block_capacity > 0 ? 2 * provider->block_capacity : ARRAY_FIRST_BLOCKS,
           bytes;
    array_block_t *blocks = NULL;
    if (ji_size_mul(capacity, sizeof *blocks, &bytes))
        blocks = ji_metadata_alloc(bytes);

    if (blocks == NULL)
        return false;

    if (provider->block_count > 0)
        memcpy(blocks, provider->blocks, provider->block_count * sizeof *blocks);
    ji_metadata_free(provider->blocks);
    provider->blocks = blocks;
    provider->block_capacity = capacity;
    return true;
}

/* The last block that begins at or before the pointer, if it is live and contains it; else NULL. */
static array_block_t *array_find_containing(array_provider_t *provider, const void *pointer) {
    size_t offset = (uintptr_t)pointer - provider->begin, low = 0, high = provider->block_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (provider->blocks[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }

    if (low == 0 ||
        offset - provider->blocks[low - 1].offset >= provider->blocks[low - 1].size_bytes)
        return NULL;
    return &provider->blocks[low - 1];
}

/* The live block that begins at the pointer, or NULL. */
static array_block_t *array_find_beginning(array_provider_t *provider, const void *pointer) {
    array_block_t *block = array_find_containing(provider, pointer);
    return block != NULL && provider->begin + block->offset == (uintptr_t)pointer ? block : NULL;
}

static jstatus_t array_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    array_provider_t *provider = context;
    (void)stream;

    size_t padding = -(provider->begin + provider->top) & (alignment - 1);
    size_t available = provider->size_bytes - provider->top;

    if (padding > available || size_bytes > available - padding)
        return ji_fail(JSTATUS_MEMORY_ERROR, "%zu of %zu bytes are free, %zu of them padding",
                       available, provider->size_bytes, padding < available ? padding : available);

    if (!array_make_room(provider))
        return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");

    size_t offset = provider->top + padding;
    provider->blocks[provider->block_count++] = (array_block_t){offset, size_bytes, ji_tag_current};
    provider->top = offset + size_bytes;
    *pointer = (void *)(provider->begin + offset);
    return JSTATUS_SUCCESS;
}

static jstatus_t array_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    array_provider_t *provider = context;
    (void)stream;

    array_block_t *block = array_find_beginning(provider, pointer);
    if (block == NULL)
        return ji_refuse_unknown("array", pointer, "already");
    if (block->size_bytes != size_bytes)
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "allocator \"array\": %p has %zu bytes and is given back with %zu", pointer,
                       block->size_bytes, size_bytes);

    block->size_bytes = 0;
    while (provider->block_count > 0 && provider->blocks[provider->block_count - 1].size_bytes == 0)
        provider->block_count--;

    const array_block_t *last =
        provider->block_count > 0 ? &provider->blocks[provider->block_count - 1] : NULL;
    provider->top = last != NULL ? last->offset + last->size_bytes : 0;
    return JSTATUS_SUCCESS;
}

static void array_describe(const array_provider_t *provider, const array_block_t *from,
                           jallocation_t *block) {
    block->pointer = (void *)(provider->begin + from->offset);
    block->size_bytes = block->usable_bytes = from->size_bytes;
    block->tag = from->tag;
    block->live = true;
}

static jstatus_t array_find(void *context, const void *pointer, jallocation_t *block) {
    array_provider_t *provider = context;

    const array_block_t *found = array_find_containing(provider, pointer);
    if (found == NULL)
        return JSTATUS_NOT_FOUND;
    array_describe(provider, found, block);
    return JSTATUS_SUCCESS;
}

static void array_visit(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    const array_provider_t *provider = context;
    jallocation_t block = JALLOCATION_INIT;

    for (size_t i = 0; i < provider->block_count; ++i) {
        array_describe(provider, &provider->blocks[i], &block);
        if (block.size_bytes != 0 && !visitor(visitor_context, &block))
            return;
    }

    size_t rest = provider->size_bytes - provider->top;
    block = (jallocation_t){.pointer = (void *)(provider->begin + provider->top),
                            .size_bytes = rest,
                            .usable_bytes = rest};
    if (rest != 0)
        (void)visitor(visitor_context, &block);
}

static void array_get_stats(void *context, jallocator_stats_t *stats) {
    const array_provider_t *provider = context;
    stats->limit_bytes = stats->reserved_bytes = stats->peak_reserved_bytes = provider->size_bytes;
    stats->free_bytes = stats->largest_free_bytes = provider->size_bytes - provider->top;
}

static bool array_coalesces(void *context) {
    (void)context;
    return true; /* it is all the caller's one array */
}

static void array_destroy(void *context) {
    array_provider_t *provider = context;
    ji_metadata_free(provider->blocks);
    ji_metadata_free(provider);
}

jstatus_t jallocator_create_array(jdevice_t *device, void *array, size_t size_bytes,
                                  jallocator_t **allocator) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops,
        .allocate = array_allocate,
        .deallocate = array_deallocate,
        .find = array_find,
        .visit = array_visit,
        .get_stats = array_get_stats,
        .destroy = array_destroy,
        .coalesces = array_coalesces,
    };

    JREQUIRE(array != NULL && allocator != NULL, JSTATUS_INVALID_POINTER);

    size_t end;
    if (size_bytes == 0 || !ji_size_add((uintptr_t)array, size_bytes, &end))
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "%s: size_bytes = %zu: must be from 1 to what fits behind %p", __func__,
                       size_bytes, array);

    jstatus_t status = JSTATUS_SUCCESS;
    ji_traits_t traits = {.name = "array", .device = device, .threads = JALLOCATOR_THREADS_LOCK};
    jallocator_t *made;

    array_provider_t *provider;
    JTRY_ALLOC(provider = ji_metadata_zalloc(sizeof *provider));
    provider->begin = (uintptr_t)array;
    provider->size_bytes = size_bytes;
    JTRY(ji_allocator_make(&ops, provider, &traits, &made));

    provider = NULL;
    JTRY(ji_record_wrap(made, allocator));

done:
    if (provider != NULL)
        array_destroy(provider);
    return status;
}
