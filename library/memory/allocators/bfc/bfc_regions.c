/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Regions that touch. Where below says that its blocks may then be used as one, they become one run
 * of chunks (after TensorFlow's AllocationRegion::extend). But each was taken by itself and is
 * given back by itself: the border of the right one is kept as a seam, which says where it began.
 *
 *     border <-> a <-> b <-> c <-> d <-> border
 *     seams:                 ^
 *                            inside c: handed out whole, cut before a part is given back
 *
 * Before regions are given back all are parted at their seams, but where a block lies across, and
 * afterwards what still touches is joined again. Both are rare, and cost the product of the numbers
 * of regions at most. */

#include "memory/allocators/bfc/bfc.h"

static bool bfc_regions_touch(const bfc_chunk_t *left, const bfc_chunk_t *right) {
    return left->address + left->size_bytes == right->address;
}

/* Makes one region of two that touch. The right one's border becomes a seam. */
static void bfc_region_join(bfc_t *bfc, bfc_chunk_t *left, bfc_chunk_t *right) {
    bfc_chunk_t *last = left->left, *first = right->right, **seam = &left->seams;

    ji_list_remove(&right->link);
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
        bfc_settle(bfc, bfc_stream_of_chunk(bfc, first), first, first->serial);
    }
}

void ji_bfc_region_meet(bfc_t *bfc, bfc_chunk_t *border) {
    for (bfc_chunk_t *other = JI_LIST_FIRST(&bfc->regions, bfc_chunk_t, link), *next; other != NULL;
         other = next) {
        next = JI_LIST_NEXT(&bfc->regions, other, bfc_chunk_t, link);
        if (bfc_regions_touch(border, other)) {
            bfc_region_join(bfc, border, other);
        } else if (bfc_regions_touch(other, border)) {
            bfc_region_join(bfc, other, border);
            border = other;
        } else {
            continue;
        }

        /* The lists have changed, and a region may touch on both sides. */
        next = JI_LIST_FIRST(&bfc->regions, bfc_chunk_t, link);
    }
}

/* Parts a region at its seams again, but for those inside what is not free. */
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
        ji_list_push_front(&bfc->regions, &seam->link);

        border = seam;
        link = &seam->seams;
    }
}

void ji_bfc_regions_part(bfc_t *bfc) {
    if (bfc->below_coalesces)
        JI_LIST_EACH(&bfc->regions, bfc_chunk_t, region, link)
            bfc_region_part(bfc, region);
}

void ji_bfc_regions_join(bfc_t *bfc) {
    const ji_list_t *regions = &bfc->regions;
    bfc_chunk_t *first = bfc->below_coalesces ? JI_LIST_FIRST(regions, bfc_chunk_t, link) : NULL;

    for (bfc_chunk_t *region = first; region != NULL;
         region = JI_LIST_NEXT(regions, region, bfc_chunk_t, link))
        for (bfc_chunk_t *other = JI_LIST_FIRST(regions, bfc_chunk_t, link), *next; other != NULL;
             other = next) {
            next = JI_LIST_NEXT(regions, other, bfc_chunk_t, link);
            if (bfc_regions_touch(region, other)) {
                bfc_region_join(bfc, region, other);
                next = JI_LIST_FIRST(regions, bfc_chunk_t, link);
            }
        }
}
