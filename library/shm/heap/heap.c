/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The heap under the segment's lock, and the long ways in and out of it (heap.h has the idea).
 *
 * A class without a free block gets a slab by the cheapest means: what others have freed in its own
 * slabs, a slab of a slot that has ended (an orphan), a new one. Pages for a new one, or for an
 * extent, come from the free ones; else from what this slot keeps unused, from the dead, from
 * growth (ji_heap_take()). */

#include "shm/heap/heap.h"

#include <string.h>

/* Takes what others have freed in this slot's slabs. */
static jstatus_t heap_collect(jsegment_t *segment) {
    uint64_t *dirty = &segment->slots[segment->slot - 1].dirty, page;
    while ((page = shm_load(dirty)) != 0) {
        shm_record_t *record = page < ji_pages_total(segment) && (segment->map[page] & 1) == 0
                                   ? (shm_record_t *)segment->map[page]
                                   : NULL;
        if (record == NULL || record->page != page)
            return JI_POISON(segment, "page %llu is in slot %u's list and is no slab of its",
                             (unsigned long long)page, segment->slot);

        jstatus_t status = ji_page_list_remove(segment, dirty, page);
        if (status == JSTATUS_SUCCESS)
            ji_put(segment, &segment->table[page].word, shm_page_word(segment, page) & ~SHM_LINKED);
        if ((status = ji_finish(segment, status)) != JSTATUS_SUCCESS)
            return status;

        ji_record_merge(record);
        if (record->reserved_count == 0 && record->class->empty != record &&
            (status = ji_record_release(record)) != JSTATUS_SUCCESS)
            return status;
    }
    return JSTATUS_SUCCESS;
}

jstatus_t ji_heap_trim(jsegment_t *segment) {
    jstatus_t status = heap_collect(segment);
    for (uint64_t pages = 1; pages <= SHM_CACHE_PAGES && status == JSTATUS_SUCCESS; ++pages)
        status = ji_extent_uncache(segment, pages, 0);

    for (unsigned i = 0; i < SHM_ALLOCATORS && status == JSTATUS_SUCCESS; ++i) {
        if (segment->open[i] == NULL)
            continue;

        ji_heap_drain(segment->open[i]);
        JI_LIST_WHILE(status == JSTATUS_SUCCESS, &segment->open[i]->own, shm_record_t, record,
                      own_link)
            if (record->reserved_count == 0)
                status = ji_record_release(record);
    }

    return status;
}

/* Makes the segment larger by `need` pages: by a quarter at least, so that growing is rare, or less
 * where that is not to be had. */
static jstatus_t heap_grow(jsegment_t *segment, uint64_t need) {
    const uint64_t total = ji_pages_total(segment);
    const uint64_t step = need > total / 4 ? need : total / 4;
    jstatus_t status = ji_segment_extend(segment, total + step);
    if (status == JSTATUS_INVALID_SIZE || status == JSTATUS_MEMORY_ERROR)
        status = ji_segment_extend(segment, total + need);

    /* With what is free at the end, less may do. */
    if (status == JSTATUS_INVALID_SIZE && need <= segment->max_pages && total < segment->max_pages)
        status = ji_segment_extend(segment, segment->max_pages);
    return status == JSTATUS_INVALID_SIZE ? JSTATUS_MEMORY_ERROR : status;
}

jstatus_t ji_heap_take(jsegment_t *segment, uint64_t pages, uint64_t multiple, uint64_t word,
                       uint64_t *page) {
    jstatus_t status = JSTATUS_SUCCESS;
    for (int means = 0; status == JSTATUS_SUCCESS; ++means) {
        status = ji_pages_take(segment, pages, multiple, word, page);
        if (status != JSTATUS_MEMORY_ERROR)
            return status == JSTATUS_SUCCESS ? status : ji_undo(segment, status);

        switch (means) {
        case 0: status = ji_heap_trim(segment); break;
        case 1: status = ji_reap_all(segment, NULL); break;
        case 2: status = heap_grow(segment, pages + multiple - 1); break;
        default: status = JSTATUS_MEMORY_ERROR;
        }
    }

    if (status == JSTATUS_MEMORY_ERROR)
        return ji_fail(status, "the segment has no %llu pages in a row", (unsigned long long)pages);
    return status;
}

/* How long the next slab of a class should be: room for eight blocks and tables, and the more slabs
 * there are the more, up to 16 pages for blocks up to 1 KiB. */
static uint64_t heap_slab_pages(uint64_t block_bytes, uint32_t slab_count) {
    const uint64_t most = block_bytes <= 1024 ? 16 : SHM_MAX_SLAB_PAGES;
    uint64_t pages = 4;
    while (pages < SHM_MAX_SLAB_PAGES && pages << SHM_PAGE_SHIFT < 9 * block_bytes)
        pages *= 2;
    for (uint32_t i = 0; i < slab_count && pages < most; ++i)
        pages *= 2;
    return pages;
}

/* Makes a slab for a class: larger ones as the class gets more, smaller ones without room. */
static jstatus_t heap_new_slab(jshared_t *shared, unsigned class_index) {
    jsegment_t *segment = shared->segment;
    const bool own_size = shared->kind == JSHARED_PAGES;
    const uint64_t block_bytes = own_size ? shared->block_bytes : ji_class_bytes(class_index);
    uint64_t pages = heap_slab_pages(block_bytes, shared->classes[class_index].slab_count);
    shm_geometry_t geometry;
    uint64_t page = 0;
    jstatus_t status = JSTATUS_MEMORY_ERROR;

    for (bool first = true; ji_slab_geometry(block_bytes, pages, &geometry);
         first = false, pages /= 2) {
        shm_record_t *record = ji_record_make(&geometry);
        if (record == NULL)
            return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");

        const uint64_t word = SHM_WORD(SHM_SLAB, segment->slot, shared->index, class_index, 0);
        status = first ? ji_heap_take(segment, pages, pages, word, &page)
                       : ji_pages_take(segment, pages, pages, word, &page);
        if (status != JSTATUS_SUCCESS) {
            ji_metadata_free(record);
            if (status == JSTATUS_MEMORY_ERROR)
                continue;
            return ji_undo(segment, status);
        }

        char *slab = segment->base + (page << SHM_PAGE_SHIFT);
        memset(slab, 0, geometry.first_offset);
        ((shm_slab_t *)slab)->block_bytes = geometry.block_bytes;
        ((shm_slab_t *)slab)->block_count = geometry.block_count;

        if ((status = ji_commit(segment)) != JSTATUS_SUCCESS) {
            ji_metadata_free(record);
            return status;
        }

        ji_record_install(record, shared, class_index, page, pages, &geometry);
        return JSTATUS_SUCCESS;
    }
    return status;
}

#define HEAP_ORPHANS_LOOK 64

/* Takes a slab that the segment owns, of this class and with a free block, if one is near the front
 * of the list. */
static jstatus_t heap_adopt(jshared_t *shared, unsigned class_index, bool *adopted) {
    jsegment_t *segment = shared->segment;
    uint64_t page = shm_load(&segment->header->orphans);
    *adopted = false;

    for (int look = 0; page != 0 && look < HEAP_ORPHANS_LOOK; ++look) {
        shm_geometry_t geometry;
        const uint64_t word = page < ji_pages_total(segment) ? shm_page_word(segment, page) : 0;
        if (!ji_slab_at(segment, page, word, &geometry) || SHM_OWNER(word) != SHM_SLOT_SEGMENT)
            return JI_POISON(segment, "page %llu is in the list of orphans and is none",
                             (unsigned long long)page);

        const bool has_room = memchr((const void *)ji_slab_owners(segment, page, &geometry), 0,
                                     geometry.block_count) != NULL;
        if (has_room && SHM_ALLOCATOR(word) == shared->index && SHM_CLASS(word) == class_index) {
            shm_record_t *record = ji_record_make(&geometry);
            if (record == NULL)
                return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");

            jstatus_t status = ji_page_list_remove(segment, &segment->header->orphans, page);
            if (status == JSTATUS_SUCCESS)
                ji_put(segment, &segment->table[page].word, SHM_WITH_OWNER(word, segment->slot));
            if ((status = ji_finish(segment, status)) != JSTATUS_SUCCESS) {
                ji_metadata_free(record);
                return status;
            }

            ji_record_install(record, shared, class_index, page, SHM_PAGES(word), &geometry);
            *adopted = true;
            return JSTATUS_SUCCESS;
        }

        page = shm_load(&segment->table[page].links) & 0xffffffffu;
    }
    return JSTATUS_SUCCESS;
}

/* Gets the class a slab with a free block. */
static jstatus_t heap_refill(jshared_t *shared, unsigned class_index) {
    jsegment_t *segment = shared->segment;
    bool adopted;
    jstatus_t status = heap_collect(segment);
    if (status != JSTATUS_SUCCESS || !ji_list_is_empty(&shared->classes[class_index].list))
        return status;

    status = heap_adopt(shared, class_index, &adopted);
    if (status != JSTATUS_SUCCESS || adopted)
        return status;

    return heap_new_slab(shared, class_index);
}

/* The block of a slab at an offset; false: there is none. */
static bool heap_block_at(uint64_t slab, const shm_geometry_t *geometry, joffset_t offset,
                          uint32_t *index) {
    const uint64_t first = (slab << SHM_PAGE_SHIFT) + geometry->first_offset;
    if (offset < first || (offset - first) % geometry->block_bytes != 0)
        return false;
    *index = (uint32_t)((offset - first) / geometry->block_bytes);
    return *index < geometry->block_count;
}

bool ji_heap_find(jshared_t *shared, joffset_t offset, shm_found_t *found) {
    jsegment_t *segment = shared->segment;
    const uint64_t page = offset >> SHM_PAGE_SHIFT;
    if (page < segment->constants.first_page || page >= ji_pages_total(segment))
        return false;

    found->word = shm_page_word(segment, page);
    if (SHM_STATE(found->word) == SHM_BLOCK) {
        found->page = page;
        found->is_block_of_slab = false;
        found->owner = SHM_OWNER(found->word);
        found->usable_bytes = SHM_PAGES(found->word) << SHM_PAGE_SHIFT;
        return (offset & (SHM_PAGE_BYTES - 1)) == 0 &&
               SHM_ALLOCATOR(found->word) == shared->index &&
               ji_pages_is_extent(segment, page, found->word);
    }

    found->page = ji_slab_containing(segment, page);
    if (found->page == 0)
        return false;

    found->word = shm_page_word(segment, found->page);
    if (!ji_slab_at(segment, found->page, found->word, &found->geometry) ||
        SHM_ALLOCATOR(found->word) != shared->index ||
        !heap_block_at(found->page, &found->geometry, offset, &found->index))
        return false;

    found->is_block_of_slab = true;
    found->usable_bytes = found->geometry.block_bytes;
    found->owner = ji_slab_owner(segment, found->page, &found->geometry, found->index);
    return found->owner != 0;
}

jstatus_t ji_heap_link(jsegment_t *segment, uint64_t page, uint64_t word) {
    const unsigned owner = SHM_OWNER(word);
    if ((word & SHM_LINKED) != 0)
        return JSTATUS_SUCCESS;
    if (owner == 0 || owner > segment->constants.slot_count)
        return JI_POISON(segment, "page %llu is a slab of slot %u", (unsigned long long)page,
                         owner);

    ji_page_list_insert(segment, &segment->slots[owner - 1].dirty, page);
    ji_put(segment, &segment->table[page].word, word | SHM_LINKED);
    return ji_commit(segment);
}

jstatus_t ji_heap_drop_orphan(jsegment_t *segment, uint64_t page, const shm_geometry_t *geometry,
                              uint64_t *end) {
    for (uint32_t i = 0; i < geometry->block_count; ++i)
        if (ji_slab_owner(segment, page, geometry, i) != 0)
            return JSTATUS_SUCCESS;

    jstatus_t status = ji_page_list_remove(segment, &segment->header->orphans, page);
    if (status == JSTATUS_SUCCESS)
        status = ji_pages_free(segment, page, end);
    return ji_finish(segment, status);
}

static jstatus_t __attribute__((cold, noinline))
heap_not_found(const jshared_t *shared, joffset_t offset) {
    return ji_fail(JSTATUS_NOT_FOUND,
                   "allocator %llu: offset %llu is not the beginning of a live block: foreign, "
                   "interior, or given back",
                   (unsigned long long)shared->id, (unsigned long long)offset);
}

jstatus_t ji_heap_free_any(jshared_t *shared, joffset_t offset) {
    jsegment_t *segment = shared->segment;
    shm_found_t found;
    jstatus_t status;
    if (!ji_heap_find(shared, offset, &found))
        return heap_not_found(shared, offset);

    if (!found.is_block_of_slab) {
        /* Its owner may free it at this moment, without the lock: one of the two has it. */
        uint64_t expected = found.word;
        const uint64_t mine = SHM_WITH_OWNER(found.word, segment->slot);
        if (!__atomic_compare_exchange_n(&segment->table[found.page].word, &expected, mine, false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return heap_not_found(shared, offset);

        segment->map[found.page] = 0;
        status = ji_pages_free(segment, found.page, NULL);
        return ji_finish(segment, status);
    }

    if (SHM_OWNER(found.word) == segment->slot) {
        shm_record_t *record = (shm_record_t *)segment->map[found.page];
        uint64_t index;
        if (record == NULL || ((uintptr_t)record & 1) != 0 ||
            !ji_record_find(shared, record, offset, &index))
            return heap_not_found(shared, offset);

        ji_record_free(segment, record, index, offset);
        return JSTATUS_SUCCESS;
    }

    if (SHM_OWNER(found.word) == SHM_SLOT_SEGMENT) {
        atomic_store_explicit(&ji_slab_owners(segment, found.page, &found.geometry)[found.index], 0,
                              memory_order_release);
        return ji_heap_drop_orphan(segment, found.page, &found.geometry, NULL);
    }

    if (JI_PLANTED(7))
        ji_slab_note_freed(segment, found.page, found.index);
    status = ji_heap_link(segment, found.page, found.word);
    if (status == JSTATUS_SUCCESS)
        ji_slab_note_freed(segment, found.page, found.index);
    return status;
}

jstatus_t ji_heap_leave(jshared_t *shared) {
    jsegment_t *segment = shared->segment;
    jstatus_t status = heap_collect(segment);
    ji_heap_drain(shared);
    shm_record_t *record;

    while (status == JSTATUS_SUCCESS &&
           (record = JI_LIST_FIRST(&shared->own, shm_record_t, own_link)) != NULL) {
        if (record->reserved_count == 0) {
            status = ji_record_release(record);
            continue;
        }

        uint64_t *word = &segment->table[record->page].word;
        ji_page_list_insert(segment, &segment->header->orphans, record->page);
        ji_put(segment, word, shm_load(word) | SHM_GIVEN | (uint64_t)SHM_SLOT_SEGMENT << 8);
        status = ji_commit(segment);
        if (status == JSTATUS_SUCCESS)
            ji_record_destroy(record);
    }
    return status;
}

/* Of a class whose magazine is empty. */
static jstatus_t __attribute__((noinline))
heap_allocate_slowly(jshared_t *shared, unsigned class_index, joffset_t *offset) {
    jsegment_t *segment = shared->segment;
    shm_class_t *class = &shared->classes[class_index];
    const uint64_t block_bytes =
        shared->kind == JSHARED_PAGES ? shared->block_bytes : ji_class_bytes(class_index);
    if (class->ready == NULL && !ji_class_start(class, block_bytes))
        return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");

    if (ji_list_is_empty(&class->list)) {
        JTRY_RETURN(ji_segment_enter(segment));
        jstatus_t status = heap_refill(shared, class_index);
        ji_segment_leave(segment);
        if (status != JSTATUS_SUCCESS)
            return status;
        if (ji_list_is_empty(&class->list))
            return JI_POISON(segment, "a slab has no free block although it had one");
    }

    ji_class_fill(class);
    *offset = ji_class_take(class, shared->segment->slot);
    return JSTATUS_SUCCESS;
}

static inline jstatus_t heap_allocate_small(jshared_t *shared, unsigned class_index,
                                            joffset_t *offset) {
    shm_class_t *class = &shared->classes[class_index];
    if (JI_UNLIKELY(class->top == class->ready))
        return heap_allocate_slowly(shared, class_index, offset);
    *offset = ji_class_take(class, shared->segment->slot);
    return JSTATUS_SUCCESS;
}

static jstatus_t heap_allocate_page(jshared_t *shared, size_t size_bytes, size_t alignment,
                                    joffset_t *offset) {
    const uint64_t block_bytes = shared->block_bytes;
    if (size_bytes > block_bytes)
        return ji_fail(JSTATUS_INVALID_SIZE, "%zu bytes: the blocks of allocator %llu have %llu",
                       size_bytes, (unsigned long long)shared->id, (unsigned long long)block_bytes);

    const bool small = block_bytes <= SHM_SMALL_BYTES;
    const uint64_t natural = small ? block_bytes & -block_bytes : SHM_PAGE_BYTES;
    if (alignment > natural || alignment > SHM_PAGE_BYTES)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "alignment %zu: the blocks of allocator %llu are aligned to %llu", alignment,
                       (unsigned long long)shared->id, (unsigned long long)natural);

    if (!small)
        return ji_extent_allocate(shared, (block_bytes + SHM_PAGE_BYTES - 1) >> SHM_PAGE_SHIFT, 1,
                                  offset);
    return heap_allocate_small(shared, SHM_OWN_CLASS, offset);
}

jstatus_t ji_heap_allocate(jshared_t *shared, size_t size_bytes, size_t alignment,
                           joffset_t *offset) {
    if (shared->kind == JSHARED_PAGES)
        return heap_allocate_page(shared, size_bytes, alignment, offset);

    size_t rounded;
    if (!ji_size_round_up(size_bytes, alignment < SHM_PAGE_BYTES ? alignment : SHM_PAGE_BYTES,
                          &rounded) ||
        rounded > SIZE_MAX - SHM_PAGE_BYTES)
        return ji_fail(JSTATUS_INVALID_SIZE, "%zu bytes are more than any segment has", size_bytes);

    if (rounded <= SHM_SMALL_BYTES && alignment <= SHM_PAGE_BYTES)
        return heap_allocate_small(shared, ji_class_of(rounded), offset);

    return ji_extent_allocate(shared, (rounded + SHM_PAGE_BYTES - 1) >> SHM_PAGE_SHIFT,
                              alignment <= SHM_PAGE_BYTES ? 1 : alignment >> SHM_PAGE_SHIFT,
                              offset);
}

jstatus_t ji_heap_free_own(jshared_t *shared, joffset_t offset, bool *freed) {
    jsegment_t *segment = shared->segment;
    const uint64_t page = offset >> SHM_PAGE_SHIFT;
    const uintptr_t entry = page < segment->max_pages ? segment->map[page] : 0;
    uint64_t index;
    *freed = false;

    if (entry == 0 || ((entry & 1) != 0 && (offset & (SHM_PAGE_BYTES - 1)) != 0))
        return JSTATUS_SUCCESS;

    if ((entry & 1) != 0)
        return ji_extent_free(shared, page, entry >> 1, freed);

    if (!ji_record_find(shared, (shm_record_t *)entry, offset, &index))
        return heap_not_found(shared, offset);

    ji_record_free(segment, (shm_record_t *)entry, index, offset);
    *freed = true;
    return JSTATUS_SUCCESS;
}
