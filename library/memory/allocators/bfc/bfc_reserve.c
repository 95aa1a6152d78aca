/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is reserved: regions are taken from below and given back. One that is free as a whole goes
 * back on trim, where growth has no other way, and (but for keep_regions) before more is reserved
 * than ever before. */

#include "memory/allocators/bfc/bfc.h"

static void bfc_set_reserved(bfc_t *bfc, size_t reserved_bytes) {
    bfc->reserved_bytes = reserved_bytes;
    if (bfc->peak_reserved_bytes < reserved_bytes)
        bfc->peak_reserved_bytes = reserved_bytes;
    if (bfc->most_reserved_bytes < reserved_bytes)
        bfc->most_reserved_bytes = reserved_bytes;
}

/* The whole memory of a region, freshly taken, becomes one free chunk. */
static void bfc_region_add(bfc_t *bfc, uintptr_t address, size_t size_bytes, bfc_stream_t *stream,
                           uint64_t serial) {
    bfc_chunk_t *border = bfc_record_take(bfc), *chunk = bfc_record_take(bfc);

    *border = (bfc_chunk_t){.address = address,
                            .size_bytes = size_bytes,
                            .left = chunk,
                            .right = chunk,
                            .where = BFC_BORDER};
    ji_list_push_front(&bfc->regions, &border->link);

    *chunk = (bfc_chunk_t){
        .address = address, .size_bytes = size_bytes, .left = border, .right = border};
    bfc_settle(bfc, stream, chunk, serial);

    bfc_set_reserved(bfc, bfc->reserved_bytes + size_bytes);
    if (bfc->below_coalesces)
        ji_bfc_region_meet(bfc, border);
}

/* Gives a region back that is one free chunk whose fence has been passed, and has no seams. */
static jstatus_t bfc_region_give_back(bfc_t *bfc, bfc_chunk_t *border) {
    JTRY_RETURN(jallocator_deallocate(bfc->below, (void *)border->address, border->size_bytes,
                                      ji_frontier_any_stream(&bfc->frontier)));

    bfc_set_reserved(bfc, bfc->reserved_bytes - border->size_bytes);
    bfc_unbin(bfc, border->right);
    bfc_record_put(bfc, border->right);
    ji_list_remove(&border->link);
    bfc_record_put(bfc, border);
    return JSTATUS_SUCCESS;
}

/* Whether it can be given back. Seams that are left could not be parted for want of bookkeeping
 * memory. */
static bool bfc_region_is_free(const bfc_chunk_t *border) {
    return border->right == border->left && border->right->where == 0 && border->seams == NULL;
}

/* What may still be taken from below. */
static size_t bfc_available(const bfc_t *bfc) { return bfc->limit_bytes - bfc->reserved_bytes; }

/* What the next region should have: a part of what there is, so that there are never many regions,
 * nor much more than was asked for. */
static size_t bfc_next_region_bytes(const bfc_t *bfc, size_t need) {
    size_t reserved = bfc->reserved_bytes, percent = bfc->growth_percent; /* at most 1000 */
    size_t wanted =
        (reserved / 100 * percent + reserved % 100 * percent / 100) & ~(BFC_GRANULE_BYTES - 1);

    if (wanted < bfc->region_bytes)
        wanted = bfc->region_bytes;
    return wanted < need ? need : wanted;
}

/* Gives free regions back as long as more would be reserved than ever before: memory that fell
 * apart makes room for what grows in its place. */
static void bfc_make_way(bfc_t *bfc, size_t bytes) {
    if (bfc->reserved_bytes + bytes <= bfc->most_reserved_bytes)
        return;

    ji_bfc_regions_part(bfc);
    JI_LIST_WHILE(bfc->reserved_bytes + bytes > bfc->most_reserved_bytes, &bfc->regions,
                  bfc_chunk_t, region, link)
        if (bfc_region_is_free(region))
            (void)bfc_region_give_back(bfc, region); /* what is not taken back stays ours */
    ji_bfc_regions_join(bfc);
}

jstatus_t ji_bfc_grow(bfc_t *bfc, bfc_stream_t *own, jstream_t *stream, size_t need,
                      size_t alignment) {
    if (bfc->all_at_once && !ji_list_is_empty(&bfc->regions))
        return ji_fail(JSTATUS_MEMORY_ERROR, "everything was taken at once");
    if (need > bfc_available(bfc))
        return ji_fail(JSTATUS_MEMORY_ERROR, "the limit is reached");

    size_t wanted = bfc_next_region_bytes(bfc, need);
    if (!bfc->keep_regions)
        bfc_make_way(bfc, wanted);

    size_t available = bfc_available(bfc);
    size_t bytes = bfc->all_at_once || wanted > available ? available : wanted;

    ji_fence_t fence;
    JTRY_RETURN(ji_frontier_mark_taken(&bfc->frontier, bfc->below_is_ordered, stream, &fence));
    jstatus_t status = JSTATUS_SUCCESS;

    if (alignment < BFC_GRANULE_BYTES)
        alignment = BFC_GRANULE_BYTES;
    void *memory;
    while (bfc_is_refusal(status =
                              jallocator_allocate(bfc->below, bytes, alignment, stream, &memory)) &&
           bytes > need) {
        bytes = (bytes - bytes / 10) & ~(BFC_GRANULE_BYTES - 1);
        if (bytes < need)
            bytes = need;
    }
    if (status != JSTATUS_SUCCESS)
        return status;

    bfc_region_add(bfc, (uintptr_t)memory, bytes, fence.index != 0 ? own : bfc->ready,
                   fence.serial);
    return JSTATUS_SUCCESS;
}

bool ji_bfc_evict(bfc_t *bfc, size_t need) {
    bool limited = need > bfc_available(bfc);
    size_t evictable = 0, reserved = bfc->reserved_bytes;

    ji_bfc_regions_part(bfc);
    JI_LIST_EACH(&bfc->regions, bfc_chunk_t, region, link)
        evictable += bfc_region_is_free(region) ? region->size_bytes : 0;

    bool suffices = evictable != 0 && need <= bfc_available(bfc) + evictable;
    JI_LIST_WHILE(suffices && (!limited || need > bfc_available(bfc)), &bfc->regions, bfc_chunk_t,
                  region, link)
        if (bfc_region_is_free(region))
            (void)bfc_region_give_back(bfc, region); /* what is not taken back stays ours */

    ji_bfc_regions_join(bfc);
    return bfc->reserved_bytes < reserved;
}

/* Waits for the fences of a region that has nothing live, so that it can be one chunk for all. */
static jstatus_t bfc_region_drain(bfc_t *bfc, const bfc_chunk_t *border) {
    for (const bfc_chunk_t *chunk = border->right; chunk != border; chunk = chunk->right)
        if (!bfc_is_free(chunk))
            return JSTATUS_SUCCESS;

    for (const bfc_chunk_t *chunk = border->right; chunk != border; chunk = chunk->right) {
        ji_fence_t fence = {chunk->where != 0 ? chunk->serial : 0, chunk->where};
        JTRY_RETURN(ji_frontier_drain(&bfc->frontier, fence));
    }
    return JSTATUS_SUCCESS;
}

static jstatus_t bfc_trim_parted(bfc_t *bfc, size_t keep_bytes) {
    JI_LIST_WHILE(bfc->free_bytes > keep_bytes, &bfc->regions, bfc_chunk_t, region, link) {
        JTRY_RETURN(bfc_region_drain(bfc, region));
        ji_bfc_absorb(bfc);
        if (!bfc_region_is_free(region))
            continue;
        JTRY_RETURN(bfc_region_give_back(bfc, region));
    }
    return JSTATUS_SUCCESS;
}

jstatus_t ji_bfc_trim(void *context, size_t keep_bytes) {
    bfc_t *bfc = context;
    ji_bfc_flush(bfc);
    ji_bfc_regions_part(bfc);
    jstatus_t status = bfc_trim_parted(bfc, keep_bytes);
    ji_bfc_regions_join(bfc);
    return status;
}
