/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Parts of the caller's array, one after the other.
 *
 *     array                                     top                    end
 *     | block 0 |pad| block 1 | (freed) | block 3 |      free           |
 *
 * The blocks are listed in a table beside the array, in the order of their addresses, which is the order in which they
 * were handed out. The array itself is never read or written, so it may be memory that the host cannot reach. A block
 * freed at the top is taken back at once, together with freed ones below it and the padding between; a block freed
 * elsewhere waits until it is at the top. So what is freed in reverse order leaves nothing behind, and what is freed in
 * any order leaves nothing behind when the last one goes. The table also knows a pointer that was never handed out, one
 * that is freed twice, and a wrong size.
 *
 * Allocation and the last free are O(1), another free is a binary search. */

#include <pthread.h>
#include <string.h>

#include "core/core.h"
#include "jalloc/allocator.h"

#define ARRAY_FIRST_BLOCKS 16

typedef struct array_block {
    size_t offset;     /* from the array's beginning; grows along the table */
    size_t size_bytes; /* 0: freed */
} array_block_t;

typedef struct array_provider {
    uintptr_t begin;
    size_t size_bytes;
    pthread_mutex_t mutex;
    /* Under the mutex: */
    size_t top; /* end of the last block; free from here */
    array_block_t *blocks;
    size_t block_count; /* the last one is never a freed one */
    size_t block_capacity;
} array_provider_t;

static bool array_make_room(array_provider_t *provider) {
    if (provider->block_count < provider->block_capacity)
        return true;
    size_t capacity = provider->block_capacity > 0 ? 2 * provider->block_capacity : ARRAY_FIRST_BLOCKS, bytes;
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

/* The live block that begins at the pointer, or NULL. */
static array_block_t *array_find(array_provider_t *provider, const void *pointer) {
    size_t offset = (uintptr_t)pointer - provider->begin, low = 0, high = provider->block_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (provider->blocks[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == provider->block_count || provider->blocks[low].offset != offset || provider->blocks[low].size_bytes == 0)
        return NULL;
    return &provider->blocks[low];
}

static jstatus_t array_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream, void **pointer) {
    array_provider_t *provider = context;
    (void)stream;
    jstatus_t status = JSTATUS_SUCCESS;
    pthread_mutex_lock(&provider->mutex);
    size_t padding = -(provider->begin + provider->top) & (alignment - 1);
    size_t available = provider->size_bytes - provider->top;
    if (padding > available || size_bytes > available - padding)
        JTRY(ji_fail(JSTATUS_MEMORY_ERROR, "%zu of %zu bytes are free, %zu of them padding", available,
                     provider->size_bytes, padding < available ? padding : available));
    if (!array_make_room(provider))
        JTRY(ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping"));
    size_t offset = provider->top + padding;
    provider->blocks[provider->block_count++] = (array_block_t){offset, size_bytes};
    provider->top = offset + size_bytes;
    *pointer = (void *)(provider->begin + offset);
done:
    pthread_mutex_unlock(&provider->mutex);
    return status;
}

static jstatus_t array_deallocate(void *context, void *pointer, size_t size_bytes, jstream_t *stream) {
    array_provider_t *provider = context;
    (void)stream;
    jstatus_t status = JSTATUS_SUCCESS;
    pthread_mutex_lock(&provider->mutex);
    array_block_t *block = array_find(provider, pointer);
    if (block == NULL)
        JTRY(ji_fail(JSTATUS_NOT_FOUND, "allocator \"array\": %p is not live: never handed out, or given back already",
                     pointer));
    if (block->size_bytes != size_bytes)
        JTRY(ji_fail(JSTATUS_INVALID_SIZE, "allocator \"array\": %p has %zu bytes and is given back with %zu", pointer,
                     block->size_bytes, size_bytes));
    block->size_bytes = 0;
    while (provider->block_count > 0 && provider->blocks[provider->block_count - 1].size_bytes == 0)
        provider->block_count--;
    const array_block_t *last = provider->block_count > 0 ? &provider->blocks[provider->block_count - 1] : NULL;
    provider->top = last != NULL ? last->offset + last->size_bytes : 0;
done:
    pthread_mutex_unlock(&provider->mutex);
    return status;
}

static jstatus_t array_owns(void *context, const void *pointer, bool *owned) {
    array_provider_t *provider = context;
    pthread_mutex_lock(&provider->mutex);
    *owned = array_find(provider, pointer) != NULL;
    pthread_mutex_unlock(&provider->mutex);
    return JSTATUS_SUCCESS;
}

static void array_get_stats(void *context, jallocator_stats_t *stats) {
    array_provider_t *provider = context;
    stats->limit_bytes = stats->reserved_bytes = stats->peak_reserved_bytes = provider->size_bytes;
    pthread_mutex_lock(&provider->mutex);
    stats->largest_free_bytes = provider->size_bytes - provider->top;
    pthread_mutex_unlock(&provider->mutex);
}

static void array_destroy(void *context) {
    array_provider_t *provider = context;
    pthread_mutex_destroy(&provider->mutex);
    ji_metadata_free(provider->blocks);
    ji_metadata_free(provider);
}

jstatus_t jallocator_create_array(jdevice_t *device, void *array, size_t size_bytes, jallocator_t **allocator) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops,
        .allocate = array_allocate,
        .deallocate = array_deallocate,
        .owns = array_owns,
        .get_stats = array_get_stats,
        .destroy = array_destroy,
    };
    JREQUIRE(device != NULL && array != NULL && allocator != NULL, JSTATUS_INVALID_POINTER);
    size_t end;
    if (size_bytes == 0 || !ji_size_add((uintptr_t)array, size_bytes, &end))
        return ji_fail(JSTATUS_INVALID_SIZE, "jallocator_create_array: %zu bytes at %p", size_bytes, array);
    jstatus_t status = JSTATUS_SUCCESS;
    jallocator_options_t options = {sizeof options, "array", device};
    array_provider_t *provider;
    JTRY_ALLOC(provider = ji_metadata_zalloc(sizeof *provider));
    provider->begin = (uintptr_t)array;
    provider->size_bytes = size_bytes;
    pthread_mutex_init(&provider->mutex, NULL);
    JTRY(jallocator_create(&ops, provider, &options, allocator));
    provider = NULL;
done:
    if (provider != NULL)
        array_destroy(provider);
    return status;
}
