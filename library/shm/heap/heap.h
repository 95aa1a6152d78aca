/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SHM_HEAP_HEAP_H
#define JALLOC_SHM_HEAP_HEAP_H

/* The heap: what an attachment allocates from. Its own slabs, and its cache of extents.
 *
 *     heap.h     the fast paths, and what the files of this room do for each other; read this first
 *     records.c  what an attachment knows of its own slabs: records and magazines
 *     extents.c  blocks above 8 KiB, and the cache of those that are free
 *     heap.c     getting slabs and pages, freeing what may be anybody's: under the segment's lock
 *     slab.c     sizes of blocks, and where in a slab its tables are
 *     pages.c    extents as the page table has them: taken, joined, resized
 *     shared.c   jshared_t: made, opened, closed, destroyed
 *     blocks.c   the public functions on blocks; the stack
 *
 * Small blocks. Of each class an attachment has slabs of its own, whose free blocks nobody else
 * hands out. A few of them are reserved in the class's magazine, a stack of blocks that are ready,
 * so that allocating and freeing do not wait for a search. What is allocated, the segment learns by
 * one store of the block's owner byte: that is the moment at which the block changes hands. A
 * process killed before it has not allocated; one killed after it owns a block that the reaper
 * finds. Magazine and reservations are private and mean nothing to anybody else.
 *
 *     magazine   | b7 | b2 | b9 |             next: b9
 *     reserved   0 0 1 0 0 0 0 1 0 1 ...      allocated or in the magazine: private
 *     owner      0 0 0 0 0 5 0 0 0 0 ...      allocated by slot 5: in the slab
 *
 * An empty magazine is filled from the first slab of the class's list with the lowest blocks that
 * are not reserved, so slabs stay dense and can be given back; a full one is emptied by half.
 *
 * Extents (above 8 KiB). One that is freed stays with the attachment as CACHED, in a list by its
 * length; both ways are one store to its word. From BLOCK to CACHED it is a compare-and-swap,
 * because another process may free it as well.
 *
 * All else happens under the segment's lock: taking and releasing slabs and extents, frees of what
 * another slot owns, gifts. A block of another slot's slab is freed by its bit in `freed`, and the
 * slab is put in its owner's dirty list, which the owner collects before it takes a new slab. Slabs
 * of the segment (orphans: their owner has died or left, some of their blocks had been given away)
 * are adopted by who needs one of their class. */

#include "shm/shm.h"

/* ---- Fast paths: no lock but the attachment's, no search, one store to the segment ---- */

/* Takes the block that is on top of a magazine. */
static inline joffset_t ji_class_take(shm_class_t *class, unsigned slot) {
    const shm_ready_t *ready = --class->top;
    atomic_store_explicit(ready->owner, (uint8_t)slot, memory_order_release);
    return ready->offset;
}

/* Frees a block into a magazine that has room for it. */
static inline void ji_class_give(shm_class_t *class, const shm_record_t *record, uint64_t index,
                                 joffset_t offset, shm_note_t *note) {
    _Atomic(uint8_t) *owner = &record->owners[index];
    atomic_store_explicit(owner, 0, memory_order_release);
    *class->top++ = (shm_ready_t){offset, owner, note};
}

/* Allocates where a block is ready; else nothing has been done, and the long way knows why. */
static inline bool ji_heap_take_ready(jshared_t *shared, unsigned slot, size_t size_bytes,
                                      size_t alignment, joffset_t *offset) {
    if (JI_UNLIKELY(size_bytes - 1 >= SHM_SMALL_BYTES))
        return false;

    if (JI_UNLIKELY((alignment & ~(size_t)16) != 0) &&
        (alignment > 16 || !ji_is_power_of_two(alignment)))
        return false;

    shm_class_t *class = &shared->classes[ji_class_of(size_bytes)];
    if (JI_UNLIKELY(class->top == class->ready))
        return false;

    *offset = ji_class_take(class, slot);
    return true;
}

/* The block of a slab that begins at an offset: its index, or false.
 *
 * With the reciprocal r = (2^32 + e) / b, e < b, a distance of k b + x from the first block, x < b,
 * gives the product k 2^32 + k e + x r. As e < b <= k e + b < 2^18 < r, the last two are below
 * 2^32, so k is what is above it; and they are less than r if and only if x is 0. */
_Static_assert(SHM_MAX_SLAB_PAGES << SHM_PAGE_SHIFT <= 1 << 18 &&
                   ((uint64_t)1 << 32) / SHM_SMALL_BYTES >= 1 << 18,
               "see above");
static inline bool ji_record_index(const shm_record_t *record, joffset_t offset, uint64_t *index) {
    const uint64_t distance = offset - record->first; /* far too large before the first */
    if (JI_UNLIKELY(distance >= record->all_bytes))
        return false;

    const uint64_t product = distance * record->reciprocal;
    *index = product >> 32;
    return JI_LIKELY((uint32_t)product < record->reciprocal);
}

/* Whether a block is live: the second is one that another process has freed already. */
static inline bool ji_record_is_live(const shm_record_t *record, uint64_t index) {
    return JI_LIKELY(
        atomic_load_explicit(&record->owners[index], memory_order_relaxed) != 0 &&
        (atomic_load_explicit(&record->freed[index / 64], memory_order_relaxed) >> index % 64 &
         1) == 0);
}

/* The live block of an own slab at an offset: its index, or false. */
static inline bool ji_record_find(const jshared_t *shared, const shm_record_t *record,
                                  joffset_t offset, uint64_t *index) {
    return JI_LIKELY(record->allocator == shared) && ji_record_index(record, offset, index) &&
           ji_record_is_live(record, *index);
}

/* A block is given back by another way than through who keeps notes of it: takes it off all notes.
 * Gives the one for the magazine, which may be NULL. records.c */
shm_note_t *ji_record_forget(shm_record_t *record, uint64_t index);

/* Frees a live block of this slot's slabs where its magazine has room; else does nothing. */
static inline bool ji_heap_free_ready(jshared_t *shared, joffset_t offset) {
    jsegment_t *segment = shared->segment;
    uint64_t index;
    if (JI_UNLIKELY(offset >> SHM_PAGE_SHIFT >= segment->max_pages))
        return false;

    const uintptr_t entry = segment->map[offset >> SHM_PAGE_SHIFT];
    shm_record_t *record = (shm_record_t *)entry;
    if (JI_UNLIKELY(entry == 0 || (entry & 1) != 0 ||
                    !ji_record_find(shared, record, offset, &index)))
        return false;

    shm_class_t *class = record->class;
    if (JI_UNLIKELY(class->top == class->limit))
        return false;

    shm_note_t *note = NULL;
    if (JI_UNLIKELY(record->notes != NULL))
        note = ji_record_forget(record, index);
    ji_class_give(class, record, index, offset, note);
    return true;
}

/* The same for extents: out of the cache, and into it. extents.c */
bool ji_heap_take_cached(jshared_t *shared, size_t size_bytes, size_t alignment, joffset_t *offset);
bool ji_heap_free_cached(jshared_t *shared, joffset_t offset);

/* ---- The long ways ---- */

/* Allocates for this slot, not under the segment's lock: takes it where it must. Not of size 0; the
 * alignment is one that the segment has. */
jstatus_t ji_heap_allocate(jshared_t *shared, size_t size_bytes, size_t alignment,
                           joffset_t *offset);

/* Frees a block of this slot's own slabs and extents, without the segment's lock where that can be.
 * Success without `freed`: it is none, or has to go the long way: ji_heap_free_any() knows.
 * success; not found; corrupted; busy. */
jstatus_t ji_heap_free_own(jshared_t *shared, joffset_t offset, bool *freed);

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

/* Puts a slab into the list of those in which others have freed, of its owner's. Commits. */
jstatus_t ji_heap_link(jsegment_t *segment, uint64_t page, uint64_t word);
/* Gives a slab of the segment's back if it is empty; then `end` (may be NULL) is where the free
 * extent ends that it has become part of. Commits. */
jstatus_t ji_heap_drop_orphan(jsegment_t *segment, uint64_t page, const shm_geometry_t *geometry,
                              uint64_t *end);
/* Takes pages, by all means there are: what this slot holds unused, what the dead held, growth.
 * Does not commit. */
jstatus_t ji_heap_take(jsegment_t *segment, uint64_t pages, uint64_t multiple, uint64_t word,
                       uint64_t *page);

/* ---- records.c ---- */

/* A record that is not in any list yet; NULL: no memory. Until it is installed, ji_metadata_free()
 * ends it. */
shm_record_t *ji_record_make(const shm_geometry_t *geometry);
/* The slab at `page` is this slot's now: the record becomes what its tables say. */
void ji_record_install(shm_record_t *record, jshared_t *shared, unsigned class_index, uint64_t page,
                       uint64_t pages, const shm_geometry_t *geometry);
/* Takes the record out of everything private and frees it. */
void ji_record_destroy(shm_record_t *record);
/* Begins to keep notes of a slab's blocks, all empty; NULL: no memory. */
shm_notes_t *ji_record_note(shm_record_t *record, shm_keeper_t *keeper);
void ji_notes_destroy(shm_notes_t *notes);
/* Gives an empty slab of this slot's back. Under the segment's lock. */
jstatus_t ji_record_release(shm_record_t *record);
/* Takes what others have freed in a slab. Under the segment's lock, as those who free. */
void ji_record_merge(shm_record_t *record);
/* Frees a live block of this attachment's slab. */
void ji_record_free(jsegment_t *segment, shm_record_t *record, uint64_t index, joffset_t offset);

/* Makes the magazine at the first use of a class; false: no memory. */
bool ji_class_start(shm_class_t *class, uint64_t block_bytes);
/* Fills an empty magazine by half from the first slab of the list, the lowest block on top. */
void ji_class_fill(shm_class_t *class);
/* Empties all magazines of an allocator. */
void ji_heap_drain(jshared_t *shared);

/* ---- extents.c ---- */

/* Allocates an extent, out of the cache if one is there and any multiple of a page will do. */
jstatus_t ji_extent_allocate(jshared_t *shared, uint64_t pages, uint64_t multiple,
                             joffset_t *offset);
/* Frees an extent of this slot's into the cache, which makes room for it. Success without `freed`:
 * not that way. */
jstatus_t ji_extent_free(jshared_t *shared, uint64_t page, uint64_t pages, bool *freed);
/* Gives cached extents of a length back, but for `keep`. Under the segment's lock. */
jstatus_t ji_extent_uncache(jsegment_t *segment, uint64_t pages, uint32_t keep);

#endif
