/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Slabs: sizes of blocks, and where in a slab its tables and blocks are. All of it follows from two
 * numbers, the size of a block and the length of the slab, so nothing about it has to be believed
 * of what the segment says.
 *
 * Classes: multiples of 16 up to 128, then four to each doubling, so a block is at most a quarter
 * larger than asked for (above 128). A block is aligned to the largest power of two that divides
 * its size, up to a page. */

#include "shm/shm.h"

uint32_t ji_class_bytes(unsigned class_index) {
    if (class_index < SHM_LINEAR_CLASSES)
        return 16 * (class_index + 1);

    const unsigned exponent = 7 + (class_index - SHM_LINEAR_CLASSES) / 4;
    return ((class_index - SHM_LINEAR_CLASSES) % 4 + 5) << (exponent - 2);
}

/* Where the first of so many blocks begins. */
static uint64_t slab_first(uint64_t block_bytes, uint64_t count, uint64_t *owners) {
    const uint64_t natural = block_bytes & -block_bytes;
    const uint64_t alignment = natural < SHM_PAGE_BYTES ? natural : SHM_PAGE_BYTES;
    *owners = sizeof(shm_slab_t) + sizeof(uint64_t) * ((count + 63) / 64);
    return (*owners + count + alignment - 1) & ~(alignment - 1);
}

bool ji_slab_geometry(uint64_t block_bytes, uint64_t pages, shm_geometry_t *geometry) {
    const uint64_t bytes = pages << SHM_PAGE_SHIFT;

    if (block_bytes < 16 || block_bytes % 16 != 0 || block_bytes > SHM_SMALL_BYTES || pages == 0 ||
        pages > SHM_MAX_SLAB_PAGES || (pages & (pages - 1)) != 0)
        return false;

    uint64_t count = bytes / block_bytes < SHM_MAX_BLOCKS ? bytes / block_bytes : SHM_MAX_BLOCKS,
             owners, first;

    /* Fewer blocks need less of a table: goes down until both fit, a few steps. What is left beside
     * a table for so many blocks holds fewer than so many, as they did not fit. */
    while (count > 0 &&
           (first = slab_first(block_bytes, count, &owners)) + count * block_bytes > bytes)
        count = first < bytes ? (bytes - first) / block_bytes : 0;

    if (count == 0)
        return false;

    first = slab_first(block_bytes, count, &owners);
    *geometry = (shm_geometry_t){(uint32_t)block_bytes, (uint32_t)count,
                                 (uint32_t)((count + 63) / 64), (uint32_t)owners, (uint32_t)first};
    return true;
}

bool ji_slab_at(const jsegment_t *segment, uint64_t page, uint64_t word, shm_geometry_t *geometry) {
    if (SHM_STATE(word) != SHM_SLAB || !ji_pages_is_extent(segment, page, word) ||
        page < segment->constants.first_page)
        return false;

    const unsigned class = SHM_CLASS(word), allocator = SHM_ALLOCATOR(word);
    if (allocator >= SHM_ALLOCATORS)
        return false;

    uint64_t block_bytes = 0;
    if (class < SHM_CLASSES)
        block_bytes = ji_class_bytes(class);
    else if (class == SHM_OWN_CLASS)
        block_bytes = shm_load(&segment->allocators[allocator].block_bytes);

    return (page & (SHM_PAGES(word) - 1)) == 0 &&
           ji_slab_geometry(block_bytes, SHM_PAGES(word), geometry);
}

uint64_t ji_slab_containing(const jsegment_t *segment, uint64_t page) {
    for (uint64_t pages = 1; pages <= SHM_MAX_SLAB_PAGES; pages *= 2) {
        const uint64_t first = page & ~(pages - 1), word = shm_page_word(segment, first);
        if (SHM_STATE(word) == SHM_SLAB && SHM_PAGES(word) > page - first)
            return first;
    }
    return 0;
}
