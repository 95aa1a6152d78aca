/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Owners of a live block: one allocated it or adopted it, each retain adds one, each release or
 * deallocation takes one away, and the last one gives it back to the cache. */

#include "memory/allocators/lru/lru.h"
#include "memory/allocators/policy.h"

/* ---- Letting go ---- */

/* The fence of a block that is released on a stream and may have an older one, of an earlier
 * owner's or of the use before this, which no stream waited for: what comes of both. The host does
 * not wait; inline work is done, so the older one stays. */
static jstatus_t lru_merge_fence(lru_t *lru, ji_fence_t older, jstream_t *stream,
                                 ji_fence_t *fence) {
    if (!ji_frontier_passed(&lru->frontier, older, stream)) {
        if (ji_stream_is_inline(&lru->frontier, stream)) {
            *fence = older;
            return JSTATUS_SUCCESS;
        }

        jstatus_t status = ji_frontier_wait(&lru->frontier, older, stream);
        if (status == JSTATUS_MEMORY_ERROR) /* of an event: a free must not fail for that */
            status = ji_frontier_drain(&lru->frontier, older);
        if (status != JSTATUS_SUCCESS)
            return status;
    }

    return ji_frontier_mark(&lru->frontier, stream, fence);
}

/* The last owner of an adopted block has let go. */
static jstatus_t lru_end_adoption(lru_t *lru, uint32_t number) {
    const lru_block_t *block = &lru->blocks[number];
    lru_adoption_t *adoption = block->adoption;
    void *pointer = block->address;
    size_t size_bytes = block->size_bytes;

    JTRY_RETURN(ji_frontier_drain(&lru->frontier, block->fence));
    ji_lru_forget(lru, number);
    adoption->give_back(adoption->context, pointer, size_bytes);
    ji_metadata_free(adoption);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_lru_let_go_any(lru_t *lru, uint32_t number, jstream_t *stream, size_t *left) {
    lru_block_t *block = &lru->blocks[number];
    JTRY_RETURN(lru_merge_fence(lru, block->fence, stream, &block->fence));

    *left = block->owners - 1;
    if (*left != 0) {
        --block->owners;
        return JSTATUS_SUCCESS;
    }

    if (block->adoption != NULL)
        return lru_end_adoption(lru, number);

    lru_keep(lru, number, block->layout);
    if (lru_is_beyond_capacity(lru))
        ji_lru_evict(lru, number);
    return JSTATUS_SUCCESS;
}

/* ---- Public functions ---- */

jstatus_t jallocator_lru_retain(jallocator_t *allocator, void *pointer) {
    JREQUIRE(pointer != NULL, JSTATUS_INVALID_POINTER);
    jallocator_t *cache;
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_lru, __func__, &cache));

    jstatus_t status = JSTATUS_SUCCESS;
    ji_policy_enter(cache);
    lru_t *lru = cache->context;
    uint32_t number = lru_find_live(lru, pointer);

    if (number == 0)
        status = ji_lru_refuse(lru, pointer);
    else if (lru->blocks[number].owners == UINT32_MAX)
        status = ji_fail(JSTATUS_INVALID_VALUE, "allocator \"%s\": %p has 2^32 - 1 owners",
                         jallocator_name(lru->self), pointer);
    else
        ++lru->blocks[number].owners;
    ji_policy_leave(cache);
    return status;
}

jstatus_t jallocator_lru_release(jallocator_t *allocator, void *pointer, jstream_t *stream,
                                 size_t *remaining) {
    JREQUIRE(pointer != NULL, JSTATUS_INVALID_POINTER);
    jallocator_t *cache;
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_lru, __func__, &cache));

    jstatus_t status = JSTATUS_SUCCESS;
    ji_policy_enter(cache);
    lru_t *lru = cache->context;
    size_t left = 0;
    uint32_t number = lru_find_live(lru, pointer);

    if (number == 0) {
        status = ji_lru_refuse(lru, pointer);
    } else {
        size_t size_bytes = lru->blocks[number].size_bytes;
        status = lru_let_go(lru, number, stream, &left);
        if (status == JSTATUS_SUCCESS && left == 0)
            ji_books_deallocate(&lru->self->books, size_bytes);
    }
    ji_policy_leave(cache);

    if (status == JSTATUS_SUCCESS && remaining != NULL)
        *remaining = left;
    return status;
}

jstatus_t jallocator_lru_get_count(const jallocator_t *allocator, const void *pointer,
                                   size_t *count) {
    JREQUIRE(pointer != NULL && count != NULL, JSTATUS_INVALID_POINTER);
    jallocator_t *cache;
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_lru, __func__, &cache));

    jstatus_t status = JSTATUS_SUCCESS;
    ji_policy_enter(cache);
    const lru_t *lru = cache->context;
    uint32_t number = lru_find_live(lru, pointer);
    if (number == 0)

        status = ji_lru_refuse(lru, pointer);
    else
        *count = lru->blocks[number].owners;
    ji_policy_leave(cache);
    return status;
}

/* Enters a foreign block. `adoption` may be NULL; it is the block's if this succeeds. */
static jstatus_t lru_adopt(lru_t *lru, void *pointer, size_t size_bytes, size_t alignment,
                           lru_adoption_t *adoption) {
    if (alignment == 0)
        alignment = lru->granule_mask + 1;
    if (((uintptr_t)pointer & (alignment - 1)) != 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "jallocator_lru_adopt: %p is not aligned to %zu",
                       pointer, alignment);

    const ji_ledger_entry_t *entry = ji_ledger_find(&lru->by_address, pointer);
    if (entry != NULL) {
        const lru_block_t *block = &lru->blocks[entry->number];
        return ji_fail(JSTATUS_EXISTS,
                       "allocator \"%s\": %p is here already, %s with %zu bytes and the tag \"%s\"",
                       jallocator_name(lru->self), pointer, block->owners != 0 ? "live" : "kept",
                       block->size_bytes, jtag_name(block->tag));
    }

    JTRY_RETURN(ji_lru_reserve(lru));
    uint32_t number = ji_lru_enter(lru, pointer, size_bytes, size_bytes, alignment);
    lru->blocks[number].adoption = adoption;
    ji_books_allocate(&lru->self->books, size_bytes);
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_lru_adopt(jallocator_t *allocator, void *pointer, size_t size_bytes,
                               size_t alignment,
                               void (*give_back)(void *context, void *pointer, size_t size_bytes),
                               void *give_back_context) {
    JREQUIRE(pointer != NULL, JSTATUS_INVALID_POINTER);
    if (size_bytes == 0 || size_bytes > LRU_MAX_BYTES)
        return ji_fail(JSTATUS_INVALID_SIZE, "%s: size_bytes = %zu: must be 1 to %zu", __func__,
                       size_bytes, (size_t)LRU_MAX_BYTES);
    if (alignment != 0 && (!ji_is_power_of_two(alignment) || alignment > LRU_MAX_ALIGNMENT))
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "%s: alignment = %zu: must be 0 or a power of two up to 2^30", __func__,
                       alignment);

    lru_adoption_t *adoption = NULL;
    if (give_back != NULL) {
        adoption = ji_metadata_alloc(sizeof *adoption);
        if (adoption == NULL)
            return ji_fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping", __func__);
        *adoption = (lru_adoption_t){give_back, give_back_context};
    }

    jallocator_t *cache;
    jstatus_t status = ji_allocator_require_kind(allocator, &ji_kind_lru, __func__, &cache);
    if (status == JSTATUS_SUCCESS) {
        ji_policy_enter(cache);
        status = lru_adopt(cache->context, pointer, size_bytes, alignment, adoption);
        ji_policy_leave(cache);
    }

    if (status != JSTATUS_SUCCESS)
        ji_metadata_free(adoption);
    return status;
}
