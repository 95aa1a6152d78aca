/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SHM_HEAP_H
#define JALLOC_SHM_HEAP_H

#include "shm/shm.h"

/* Allocates for this slot. Not under the segment's lock: takes it where it must. The size is not 0. */
jstatus_t ji_heap_allocate(jshared_t *shared, size_t size_bytes, size_t alignment, joffset_t *offset);

/* Frees a block of this slot's own slabs and extents, without the segment's lock where that can be. "Size increased": it
 * is none, or has to go the long way: ji_heap_free_any() knows. success; not found; corrupted; busy. */
jstatus_t ji_heap_free_own(jshared_t *shared, joffset_t offset);

/* A live block, whoever owns it. Under the segment's lock. */
typedef struct shm_found {
    uint64_t page, word; /* of the extent or slab, as seen */
    bool is_block_of_slab;
    shm_geometry_t geometry; /* of a slab */
    uint32_t index;          /* in it */
    unsigned owner;
    size_t usable_bytes;
} shm_found_t;
bool ji_heap_find(jshared_t *shared, joffset_t offset, shm_found_t *found);

/* A slab of this slot's has given blocks from now on. */
void ji_heap_note_given(jsegment_t *segment, uint64_t page);

/* Puts a slab into the list of those in which others have freed, of its owner's. Commits. */
jstatus_t ji_heap_link(jsegment_t *segment, uint64_t page, uint64_t word);
/* Gives a slab of the segment's back if it is empty; then `end` (may be NULL) is where the free extent ends that it has
 * become part of. Commits. */
jstatus_t ji_heap_drop_orphan(jsegment_t *segment, uint64_t page, const shm_geometry_t *geometry, uint64_t *end);

#endif
