/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Extents: blocks above 8 KiB, and this attachment's cache of those that it has freed (heap.h has
 * the idea).
 *
 * Pages of a cached extent count as used for everybody else, so the cache is bounded three times:
 * lengths up to SHM_CACHE_PAGES alone, SHM_CACHE_DEPTH of each length, and in all SHM_CACHE_LIMIT
 * pages or a sixteenth of the segment. What is in it is given back when this process finds no room
 * elsewhere (ji_heap_trim()), and when it dies. */

#include "shm/heap/heap.h"

jstatus_t ji_extent_uncache(jsegment_t *segment, uint64_t pages, uint32_t keep) {
    while (segment->cache[pages].count > keep) {
        const uint64_t page = segment->cache[pages].pages[--segment->cache[pages].count];
        segment->cached_pages -= pages;

        if (shm_page_word(segment, page) !=
            SHM_WORD(SHM_CACHED, segment->slot, SHM_NO_ALLOCATOR, 0, pages))
            return JI_POISON(segment, "page %llu is no cached extent of slot %u",
                             (unsigned long long)page, segment->slot);
        JTRY_RETURN(ji_finish(segment, ji_pages_free(segment, page, NULL)));
    }
    return JSTATUS_SUCCESS;
}

/* An extent is this slot's now. What was noted of one that began here is of the past. */
static inline void extent_hand_out(jsegment_t *segment, uint64_t page, uint64_t pages) {
    JI_LIST_EACH(&segment->keepers, shm_keeper_t, keeper, link) {
        shm_extent_note_t *note = &keeper->extents[page];
        if (JI_UNLIKELY(note->size_bytes != 0)) {
            shm_keeper_count_gone(keeper, note->size_bytes);
            *note = (shm_extent_note_t){0, 0, 0};
            --keeper->extent_count;
        }
    }
    segment->map[page] = pages << 1 | 1;
}

/* Takes an extent of so many pages out of the cache, if one is there. */
static inline bool extent_take_cached(jshared_t *shared, uint64_t pages, joffset_t *offset) {
    jsegment_t *segment = shared->segment;
    if (pages > SHM_CACHE_PAGES || segment->cache[pages].count == 0)
        return false;

    const uint64_t page = segment->cache[pages].pages[segment->cache[pages].count - 1];
    if (JI_UNLIKELY(shm_page_word(segment, page) !=
                    SHM_WORD(SHM_CACHED, segment->slot, SHM_NO_ALLOCATOR, 0, pages)))
        return false; /* somebody has written over the table: whoever empties the cache says so */

    --segment->cache[pages].count;
    segment->cached_pages -= pages;
    shm_store(&segment->table[page].word,
              SHM_WORD(SHM_BLOCK, segment->slot, shared->index, 0, pages));
    extent_hand_out(segment, page, pages);
    *offset = page << SHM_PAGE_SHIFT;
    return true;
}

bool ji_heap_take_cached(jshared_t *shared, size_t size_bytes, size_t alignment,
                         joffset_t *offset) {
    return size_bytes > SHM_SMALL_BYTES && size_bytes <= SHM_CACHE_PAGES << SHM_PAGE_SHIFT &&
           alignment <= SHM_PAGE_BYTES && (alignment & (alignment - 1)) == 0 &&
           shared->kind == JSHARED_GENERAL &&
           extent_take_cached(shared, (size_bytes + SHM_PAGE_BYTES - 1) >> SHM_PAGE_SHIFT, offset);
}

jstatus_t ji_extent_allocate(jshared_t *shared, uint64_t pages, uint64_t multiple,
                             joffset_t *offset) {
    jsegment_t *segment = shared->segment;
    const uint64_t word = SHM_WORD(SHM_BLOCK, segment->slot, shared->index, 0, pages);
    uint64_t page;

    if (multiple == 1 && extent_take_cached(shared, pages, offset))
        return JSTATUS_SUCCESS;

    JTRY_RETURN(ji_segment_enter(segment));
    jstatus_t status = ji_heap_take(segment, pages, multiple, word, &page);
    if (status == JSTATUS_SUCCESS)
        status = ji_commit(segment);
    ji_segment_leave(segment);
    if (status != JSTATUS_SUCCESS)
        return status;

    extent_hand_out(segment, page, pages);
    *offset = page << SHM_PAGE_SHIFT;
    return JSTATUS_SUCCESS;
}

/* At most so many pages wait in one process's cache. */
static inline uint64_t extent_cache_limit(const jsegment_t *segment) {
    const uint64_t sixteenth = ji_pages_total(segment) / 16;
    return sixteenth < SHM_CACHE_LIMIT ? sixteenth : SHM_CACHE_LIMIT;
}

/* Puts an extent of this slot's into the cache, if it has room. */
static inline bool extent_free_cached(jshared_t *shared, uint64_t page, uint64_t pages) {
    jsegment_t *segment = shared->segment;
    uint64_t expected = SHM_WORD(SHM_BLOCK, segment->slot, shared->index, 0, pages);
    if (pages > SHM_CACHE_PAGES || segment->cached_pages + pages > extent_cache_limit(segment) ||
        segment->cache[pages].count == SHM_CACHE_DEPTH ||
        !__atomic_compare_exchange_n(
            &segment->table[page].word, &expected,
            SHM_WORD(SHM_CACHED, segment->slot, SHM_NO_ALLOCATOR, 0, pages), false,
            __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return false;

    segment->map[page] = 0;
    segment->cache[pages].pages[segment->cache[pages].count++] = (uint32_t)page;
    segment->cached_pages += pages;
    return true;
}

bool ji_heap_free_cached(jshared_t *shared, joffset_t offset) {
    const uint64_t page = offset >> SHM_PAGE_SHIFT;
    const uintptr_t entry = page < shared->segment->max_pages ? shared->segment->map[page] : 0;
    return (entry & 1) != 0 && (offset & (SHM_PAGE_BYTES - 1)) == 0 &&
           extent_free_cached(shared, page, entry >> 1);
}

/* Room is made by half of what the cache has of its length, or, where all lengths together are too
 * much, of each. So lengths that are not asked for any more do not keep others out, and the lock is
 * taken for many at a time. */
jstatus_t ji_extent_free(jshared_t *shared, uint64_t page, uint64_t pages, bool *freed) {
    jsegment_t *segment = shared->segment;
    *freed = extent_free_cached(shared, page, pages);
    if (*freed)
        return JSTATUS_SUCCESS;

    if (pages > SHM_CACHE_PAGES || pages > extent_cache_limit(segment) || segment->lock_held)
        return JSTATUS_SUCCESS; /* the other way */
    const bool all = segment->cached_pages + pages > extent_cache_limit(segment);
    if (!all && segment->cache[pages].count < SHM_CACHE_DEPTH)
        return JSTATUS_SUCCESS; /* another process has freed it, or has it now */

    JTRY_RETURN(ji_segment_enter(segment));
    jstatus_t status = JSTATUS_SUCCESS;

    for (uint64_t length = all ? 1 : pages;
         length <= (all ? SHM_CACHE_PAGES : pages) && status == JSTATUS_SUCCESS; ++length)
        status = ji_extent_uncache(segment, length, segment->cache[length].count / 2);
    ji_segment_leave(segment);

    *freed = status == JSTATUS_SUCCESS && extent_free_cached(shared, page, pages);
    return status;
}
