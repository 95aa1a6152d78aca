/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is reserved: regions are taken from below and given back. One that is free as a whole goes
 * back on trim, where growth has no other way, and (but for keep_regions) before more is held than
 * ever before. */

#include "memory/allocators/bfc/bfc.h"

/* So much more than was granted at most, by 3%, is held before pages are decommitted for it. */
#define BFC_SLACK_PART 32
/* Of what was not found at once, that may be. */
#define BFC_WAY_PART 64

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

    bfc->reserved_bytes += size_bytes;
    bfc_note_held(bfc);
    if (bfc->below_coalesces)
        ji_bfc_region_meet(bfc, border);
}

/* Whether a region can be given back: all of it is free for all. Seams that are left could not be
 * parted for want of bookkeeping memory. */
static bool bfc_region_is_free(const bfc_chunk_t *border) {
    const bfc_chunk_t *chunk = border->right;
    while (bfc_is_ready(chunk) || bfc_is_decommitted(chunk))
        chunk = chunk->right;
    return chunk == border && border->seams == NULL;
}

/* Makes one chunk of a region that is free. What is decommitted is ready by name alone. */
static jstatus_t bfc_region_merge(bfc_t *bfc, const bfc_chunk_t *border) {
    for (bfc_chunk_t *chunk = border->right; chunk != border;) {
        if (!bfc_is_decommitted(chunk)) {
            chunk = chunk->right;
            continue;
        }
        JTRY_RETURN(ji_allocator_set_pages(bfc->below, (void *)chunk->address, chunk->size_bytes,
                                           JALLOCATOR_PAGES_LEAVE));
        bfc_unbin(bfc, chunk);
        bfc->decommitted_bytes -= chunk->size_bytes;
        bfc_settle(bfc, bfc->ready, chunk, 0);
        chunk = border->right; /* its record may be spare now */
    }
    return JSTATUS_SUCCESS;
}

/* Gives a region back that is free. */
static jstatus_t bfc_region_give_back(bfc_t *bfc, bfc_chunk_t *border) {
    jstatus_t status = bfc_region_merge(bfc, border);
    if (status == JSTATUS_SUCCESS)
        status = jallocator_deallocate(bfc->below, (void *)border->address, border->size_bytes,
                                       ji_frontier_any_stream(&bfc->frontier));
    if (status != JSTATUS_SUCCESS) {
        bfc_note_held(bfc);
        return status;
    }

    bfc->reserved_bytes -= border->size_bytes;
    bfc_unbin(bfc, border->right);
    bfc_record_put(bfc, border->right);
    ji_list_remove(&border->link);
    bfc_record_put(bfc, border);
    return JSTATUS_SUCCESS;
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

/* By how much more would be held than `most`. */
static size_t bfc_excess(const bfc_t *bfc, size_t bytes, size_t most) {
    size_t held = bfc_held_bytes(bfc) + bytes;
    return held > most ? held - most : 0;
}

/* What may be decommitted now to make way. What is and is soon wanted again costs a fault for each
 * page; so it is at most what the peak grows by, and a part of what was not found at once. A
 * program that goes round and round is left a little more memory instead. */
static size_t bfc_way_bytes(bfc_t *bfc) {
    size_t peak = bfc->granted.peak_bytes;
    if (peak > bfc->way_peak_bytes)
        bfc->way_bytes += peak - bfc->way_peak_bytes;
    bfc->way_peak_bytes = peak; /* less where statistics were cleared */
    return bfc->way_bytes;
}

void ji_bfc_make_way(bfc_t *bfc, size_t bytes) {
    bfc->way_bytes += bytes / BFC_WAY_PART;
    size_t most = bfc->most_held_bytes;
    if (bfc->keep_regions || bfc_excess(bfc, bytes, most) == 0)
        return;

    ji_bfc_regions_part(bfc);
    JI_LIST_WHILE(bfc_excess(bfc, bytes, most) != 0, &bfc->regions, bfc_chunk_t, region, link)
        if (bfc_region_is_free(region))
            (void)bfc_region_give_back(bfc, region); /* what is not taken back stays ours */
    ji_bfc_regions_join(bfc);

    size_t granted = bfc->granted.peak_bytes, held = bfc_held_bytes(bfc);
    if (most < granted + granted / BFC_SLACK_PART)
        most = granted + granted / BFC_SLACK_PART;
    size_t excess = bfc_excess(bfc, bytes, most);
    if (bfc_decommits(bfc) && excess <= bfc_way_bytes(bfc)) {
        ji_bfc_decommit(bfc, excess, 0);
        size_t given = held - bfc_held_bytes(bfc);
        bfc->way_bytes -= given < bfc->way_bytes ? given : bfc->way_bytes;
    }
}

jstatus_t ji_bfc_grow(bfc_t *bfc, bfc_stream_t *own, jstream_t *stream, size_t need,
                      size_t alignment) {
    if (bfc->all_at_once && !ji_list_is_empty(&bfc->regions))
        return ji_fail(JSTATUS_MEMORY_ERROR, "everything was taken at once");
    if (need > bfc_available(bfc))
        return ji_fail(JSTATUS_MEMORY_ERROR, "the limit is reached");

    size_t wanted = bfc_next_region_bytes(bfc, need);
    ji_bfc_make_way(bfc, wanted);

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

/* Waits for the fences of a region that has nothing live, so that it is free for all. */
static jstatus_t bfc_region_drain(bfc_t *bfc, const bfc_chunk_t *border) {
    for (const bfc_chunk_t *chunk = border->right; chunk != border; chunk = chunk->right)
        if (!bfc_is_free(chunk))
            return JSTATUS_SUCCESS;

    for (const bfc_chunk_t *chunk = border->right; chunk != border; chunk = chunk->right) {
        if (bfc_is_ready(chunk) || bfc_is_decommitted(chunk))
            continue;
        ji_fence_t fence = {chunk->serial, chunk->where};
        JTRY_RETURN(ji_frontier_drain(&bfc->frontier, fence));
    }
    return JSTATUS_SUCCESS;
}

/* What is free and has memory. */
static size_t bfc_unused_bytes(const bfc_t *bfc) {
    return bfc->free_bytes - bfc->decommitted_bytes;
}

static jstatus_t bfc_trim_parted(bfc_t *bfc, size_t keep_bytes) {
    JI_LIST_EACH(&bfc->regions, bfc_chunk_t, region, link) {
        /* One without memory is given back in any case: nobody misses it. */
        bool is_empty = bfc_is_decommitted(region->right) && region->right == region->left;
        if (bfc_unused_bytes(bfc) <= keep_bytes && !is_empty)
            continue;
        JTRY_RETURN(bfc_region_drain(bfc, region));
        ji_bfc_absorb(bfc);
        if (bfc_region_is_free(region))
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

    ji_bfc_look_and_absorb(bfc);
    if (bfc_unused_bytes(bfc) > keep_bytes)
        ji_bfc_decommit(bfc, bfc_unused_bytes(bfc) - keep_bytes, 0);
    return status;
}
