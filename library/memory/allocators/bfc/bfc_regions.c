/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Regions that touch. Where below says that its blocks may then be used as one, they become one run of chunks (after
 * TensorFlow's AllocationRegion::extend). But each was taken by itself and is given back by itself: the border of the
 * right one is kept as a seam, which says where it began.
 *
 *     border <-> a <-> b <-> c <-> d <-> border
 *     seams:                 ^      in the midst of c: handed out whole, cut before a part is given back
 *
 * Before regions are given back all are parted at their seams, but where a block lies across, and afterwards what still
 * touches is joined again. Both are rare, and cost the product of the numbers of regions at most. */

#include "memory/allocators/bfc/bfc.h"

void ji_bfc_region_list(bfc_t *bfc, bfc_chunk_t *border) {
    border->previous_region = NULL;
    border->next_region = bfc->regions;
    if (bfc->regions != NULL)
        bfc->regions->previous_region = border;
    bfc->regions = border;
}

void ji_bfc_region_unlist(bfc_t *bfc, const bfc_chunk_t *border) {
    if (border->next_region != NULL)
        border->next_region->previous_region = border->previous_region;
    if (border->previous_region != NULL)
        border->previous_region->next_region = border->next_region;
    else
        bfc->regions = border->next_region;
}

static bool bfc_regions_touch(const bfc_chunk_t *left, const bfc_chunk_t *right) {
    return left->address + left->size_bytes == right->address;
}

/* Makes one region of two that touch. The right one's border becomes a seam. */
static void bfc_region_join(bfc_t *bfc, bfc_chunk_t *left, bfc_chunk_t *right) {
    bfc_chunk_t *last = left->left, *first = right->right, **seam = &left->seams;
    ji_bfc_region_unlist(bfc, right);
    left->size_bytes += right->size_bytes;
    left->left = right->left;
    left->left->right = left;
    last->right = first;
    first->left = last;
    while (*seam != NULL)
        seam = &(*seam)->seams;
    *seam = right;
    if (bfc_is_free(first) && first->where == last->where) {
        bfc_unbin(bfc, first);
        bfc_settle(bfc, bfc->streams[first->where], first, first->serial);
    }
}

void ji_bfc_region_meet(bfc_t *bfc, bfc_chunk_t *border) {
    for (bfc_chunk_t *other = bfc->regions, *next; other != NULL; other = next) {
        next = other->next_region;
        if (bfc_regions_touch(border, other)) {
            bfc_region_join(bfc, border, other);
        } else if (bfc_regions_touch(other, border)) {
            bfc_region_join(bfc, other, border);
            border = other;
        } else {
            continue;
        }
        next = bfc->regions; /* the lists have changed, and a region may touch on both sides */
    }
}

/* Parts a region at its seams again, but for those in the midst of what is not free. */
static void bfc_region_part(bfc_t *bfc, bfc_chunk_t *border) {
    bfc_chunk_t *chunk = border->right;
    for (bfc_chunk_t **link = &border->seams, *seam; (seam = *link) != NULL;) {
        while (chunk->address + chunk->size_bytes <= seam->address)
            chunk = chunk->right;
        if (chunk->address != seam->address) {
            bool has_record = bfc->spare_count > BFC_RECORDS_PER_CALL || ji_bfc_records_add(bfc);
            if (!bfc_is_free(chunk) || !has_record) {
                link = &seam->seams;
                continue;
            }
            chunk = ji_bfc_cut_front(bfc, chunk, seam->address - chunk->address);
        }
        *link = NULL;
        seam->size_bytes = border->address + border->size_bytes - seam->address;
        seam->left = border->left;
        seam->right = chunk;
        border->size_bytes -= seam->size_bytes;
        border->left = chunk->left;
        border->left->right = border;
        chunk->left = seam->left->right = seam;
        ji_bfc_region_list(bfc, seam);
        border = seam;
        link = &seam->seams;
    }
}

void ji_bfc_regions_part(bfc_t *bfc) {
    for (bfc_chunk_t *region = bfc->regions, *next; bfc->below_coalesces && region != NULL; region = next) {
        next = region->next_region; /* new ones come in front */
        bfc_region_part(bfc, region);
    }
}

void ji_bfc_regions_join(bfc_t *bfc) {
    for (bfc_chunk_t *region = bfc->regions; bfc->below_coalesces && region != NULL; region = region->next_region)
        for (bfc_chunk_t *other = bfc->regions, *next; other != NULL; other = next) {
            next = other->next_region;
            if (bfc_regions_touch(region, other)) {
                bfc_region_join(bfc, region, other);
                next = bfc->regions;
            }
        }
}
