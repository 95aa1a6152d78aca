/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What an attachment allocates from: its own slabs, and its cache of extents.
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

#include "shm/heap/heap.h"

#include <string.h>

/* ---- Shadows ---- */

/* Takes the record out of everything private and frees it. */
static void record_destroy(shm_record_t *record) {
    jshared_t *shared = record->allocator;
    shm_class_t *class = record->class;
    if (record->summary != 0)
        ji_list_remove(&record->link);
    if (class->empty == record)
        class->empty = NULL;
    --class->slab_count;
    ji_list_remove(&record->own_link);
    for (uint32_t i = 0; i < record->pages; ++i)
        shared->segment->map[record->page + i] = 0;
    ji_metadata_free(record);
}

/* A record that is not in any list yet. */
static shm_record_t *record_make(const shm_geometry_t *geometry) {
    shm_record_t *record =
        ji_metadata_zalloc(sizeof *record + geometry->words * sizeof record->reserved[0]);
    if (record == NULL)
        return NULL;
    record->block_bytes = geometry->block_bytes;
    record->block_count = geometry->block_count;
    record->all_bytes = (uint64_t)geometry->block_count * geometry->block_bytes;
    record->word_count = geometry->words;
    record->reciprocal = (((uint64_t)1 << 32) + geometry->block_bytes - 1) / geometry->block_bytes;
    return record;
}

/* The slab at `page` is this slot's now: the record becomes what its tables say. */
static void record_install(shm_record_t *record, jshared_t *shared, unsigned class_index,
                           uint64_t page, uint64_t pages, const shm_geometry_t *geometry) {
    jsegment_t *segment = shared->segment;
    record->allocator = shared;
    record->class = &shared->classes[class_index];
    record->page = (uint32_t)page;
    record->pages = (uint32_t)pages;
    record->first = (page << SHM_PAGE_SHIFT) + geometry->first_offset;
    record->owners = ji_slab_owners(segment, page, geometry);
    record->freed = ji_slab_freed(segment, page);
    record->reserved_count = 0;
    record->summary = 0;
    for (uint32_t w = 0; w < record->word_count; ++w) {
        const uint64_t valid = ji_slab_valid(record->block_count, w);
        uint64_t reserved = 0;
        for (uint32_t i = w * 64; i < w * 64 + 64 && i < record->block_count; ++i)
            reserved |=
                (uint64_t)(atomic_load_explicit(&record->owners[i], memory_order_relaxed) != 0)
                << i % 64;
        record->reserved[w] = reserved | ~valid;
        record->reserved_count += (uint32_t)__builtin_popcountll(reserved);
        if (record->reserved[w] != ~(uint64_t)0)
            record->summary |= (uint64_t)1 << w;
    }
    shm_class_t *class = record->class;
    ++class->slab_count;
    if (record->summary != 0)
        ji_list_push_front(&record->class->list, &record->link);
    if (record->reserved_count == 0)
        class->empty = record; /* the only one: a class with an empty slab gets no other */
    ji_list_push_front(&shared->own, &record->own_link);
    for (uint64_t i = 0; i < pages; ++i)
        segment->map[page + i] = (uintptr_t)record;
}

/* Gives an empty slab of this slot's back. Under the lock. */
static jstatus_t record_release(shm_record_t *record) {
    jsegment_t *segment = record->allocator->segment;
    uint64_t *word = &segment->table[record->page].word;
    jstatus_t status = JSTATUS_SUCCESS;
    if ((shm_load(word) & SHM_LINKED) != 0)
        status =
            ji_page_list_remove(segment, &segment->slots[segment->slot - 1].dirty, record->page);
    if (status == JSTATUS_SUCCESS)
        status = ji_pages_free(segment, record->page, NULL);
    status = ji_finish(segment, status);
    if (status == JSTATUS_SUCCESS)
        record_destroy(record);
    return status;
}

/* The word has blocks again that are not reserved. */
static void record_make_available(shm_record_t *record, uint32_t w) {
    if (record->summary == 0)
        ji_list_push_front(&record->class->list, &record->link);
    record->summary |= (uint64_t)1 << w;
}

/* Takes what others have freed in a slab. Under the lock, as those who free. First the owner bytes,
 * then the bits: done half, it can be done again. */
static void record_merge(shm_record_t *record) {
    for (uint32_t w = 0; w < record->word_count; ++w) {
        const uint64_t said = atomic_load_explicit(&record->freed[w], memory_order_relaxed);
        for (uint64_t rest = said & ji_slab_valid(record->block_count, w); rest != 0;
             rest &= rest - 1) {
            const uint32_t b = (uint32_t)__builtin_ctzll(rest);
            _Atomic(uint8_t) *owner = &record->owners[w * 64 + b];
            if (atomic_load_explicit(owner, memory_order_relaxed) == 0 ||
                (record->reserved[w] >> b & 1) == 0)
                continue; /* free, perhaps in the magazine: this process has freed it as well */
            atomic_store_explicit(owner, 0, memory_order_release);
            record->reserved[w] &= ~((uint64_t)1 << b);
            --record->reserved_count;
            record_make_available(record, w);
        }
        if (said != 0)
            atomic_store_explicit(&record->freed[w], 0, memory_order_release);
    }
    shm_class_t *class = record->class;
    if (record->reserved_count == 0 && class->empty == NULL)
        class->empty = record;
}

/* ---- Magazines ---- */

static void record_emptied(shm_record_t *record);

/* A block is not reserved any more. It may be none, where somebody has scribbled over the slab's
 * tables: the private part stays right in itself whatever they say. */
static void __attribute__((noinline)) record_unreserve(shm_record_t *record, uint32_t index) {
    const uint64_t bit = (uint64_t)1 << index % 64;
    if (JI_UNLIKELY((record->reserved[index / 64] & bit) == 0))
        return;
    record->reserved[index / 64] &= ~bit;
    record_make_available(record, index / 64);
    if (--record->reserved_count == 0)
        record_emptied(record);
}

/* Empties a magazine but for the blocks that came last. */
static void __attribute__((noinline))
class_drain(jsegment_t *segment, shm_class_t *class, size_t keep) {
    const size_t held = (size_t)(class->top - class->ready);
    if (held <= keep)
        return;
    /* The blocks to be kept move down first: emptying a slab may bring others here. */
    shm_ready_t drained[SHM_READY_BLOCKS];
    const size_t count = held - keep;
    memcpy(drained, class->ready, count * sizeof drained[0]);
    memmove(class->ready, class->ready + count, keep * sizeof drained[0]);
    class->top = class->ready + keep;
    for (size_t i = 0; i < count; ++i) {
        const uintptr_t entry = segment->map[drained[i].offset >> SHM_PAGE_SHIFT];
        shm_record_t *record = (shm_record_t *)entry;
        if (JI_UNLIKELY(entry == 0 || (entry & 1) != 0))
            continue; /* somebody has scribbled: the slab was given back under its blocks */
        const uintptr_t index = (uintptr_t)drained[i].owner - (uintptr_t)record->owners;
        if (JI_LIKELY(index < record->block_count))
            record_unreserve(record, (uint32_t)index);
    }
}

/* Fills an empty magazine by half from the first slab of the list, the lowest block on top. */
static void class_fill(shm_class_t *class) {
    shm_record_t *record = JI_LIST_FIRST(&class->list, shm_record_t, link);
    const uint32_t half = (uint32_t)(class->limit - class->ready) / 2;
    uint32_t count = 0;
    while (record->summary != 0 && count < half) {
        const uint32_t w = (uint32_t)__builtin_ctzll(record->summary);
        while (record->reserved[w] != ~(uint64_t)0 && count < half) {
            const uint32_t b = (uint32_t)__builtin_ctzll(~record->reserved[w]), index = w * 64 + b;
            record->reserved[w] |= (uint64_t)1 << b;
            class->ready[count++] = (shm_ready_t){
                record->first + (uint64_t)index * record->block_bytes, &record->owners[index]};
        }
        if (record->reserved[w] == ~(uint64_t)0)
            record->summary &= record->summary - 1;
    }
    if (record->reserved_count == 0 && class->empty == record)
        class->empty = NULL;
    record->reserved_count += count;
    if (record->summary == 0)
        ji_list_remove(&record->link);
    for (uint32_t i = 0; i < count / 2; ++i) {
        const shm_ready_t low = class->ready[i];
        class->ready[i] = class->ready[count - 1 - i];
        class->ready[count - 1 - i] = low;
    }
    class->top = class->ready + count;
}

static void heap_drain(jshared_t *shared) {
    for (unsigned c = 0; c <= SHM_OWN_CLASS; ++c)
        class_drain(shared->segment, &shared->classes[c], 0);
}

void ji_heap_init(jshared_t *shared) {
    ji_list_init(&shared->own);
    for (unsigned c = 0; c <= SHM_OWN_CLASS; ++c)
        ji_list_init(&shared->classes[c].list);
}

void ji_heap_forget(jshared_t *shared) {
    for (unsigned c = 0; c <= SHM_OWN_CLASS; ++c) {
        ji_metadata_free(shared->classes[c].ready);
        shared->classes[c].ready = shared->classes[c].top = shared->classes[c].limit = NULL;
    }
    JI_LIST_EACH(&shared->own, shm_record_t, record, own_link)
        record_destroy(record);
}

/* ---- Under the segment's lock ---- */

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
        record_merge(record);
        if (record->reserved_count == 0 && record->class->empty != record &&
            (status = record_release(record)) != JSTATUS_SUCCESS)
            return status;
    }
    return JSTATUS_SUCCESS;
}

static jstatus_t heap_uncache(jsegment_t *segment, uint64_t pages, uint32_t keep) {
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

jstatus_t ji_heap_trim(jsegment_t *segment) {
    jstatus_t status = heap_collect(segment);
    for (uint64_t pages = 1; pages <= SHM_CACHE_PAGES && status == JSTATUS_SUCCESS; ++pages)
        status = heap_uncache(segment, pages, 0);
    for (unsigned i = 0; i < SHM_ALLOCATORS && status == JSTATUS_SUCCESS; ++i) {
        if (segment->open[i] == NULL)
            continue;
        heap_drain(segment->open[i]);
        JI_LIST_WHILE(status == JSTATUS_SUCCESS, &segment->open[i]->own, shm_record_t, record,
                      own_link)
            if (record->reserved_count == 0)
                status = record_release(record);
    }
    return status;
}

/* Takes pages, by all means there are: what this slot holds unused, what the dead held, growth. */
static jstatus_t heap_take(jsegment_t *segment, uint64_t pages, uint64_t multiple, uint64_t word,
                           uint64_t *page) {
    jstatus_t status = JSTATUS_SUCCESS;
    for (int means = 0; status == JSTATUS_SUCCESS; ++means) {
        status = ji_pages_take(segment, pages, multiple, word, page);
        if (status != JSTATUS_MEMORY_ERROR)
            return status == JSTATUS_SUCCESS ? status : ji_undo(segment, status);
        switch (means) {
        case 0: status = ji_heap_trim(segment); break;
        case 1: status = ji_reap_all(segment, NULL); break;
        case 2: {
            /* A quarter more at least, so that growing is rare; less where that is not to be
             * had. */
            const uint64_t total = ji_pages_total(segment), need = pages + multiple - 1;
            const uint64_t step = need > total / 4 ? need : total / 4;
            status = ji_segment_extend(segment, total + step);
            if (status == JSTATUS_INVALID_SIZE || status == JSTATUS_MEMORY_ERROR)
                status = ji_segment_extend(segment, total + need);
            /* What is free at the end may do. */
            if (status == JSTATUS_INVALID_SIZE && need <= segment->max_pages)
                status = total < segment->max_pages ? ji_segment_extend(segment, segment->max_pages)
                                                    : status;
            if (status == JSTATUS_INVALID_SIZE)
                status = JSTATUS_MEMORY_ERROR;
            break;
        }
        default: status = JSTATUS_MEMORY_ERROR;
        }
    }
    if (status == JSTATUS_MEMORY_ERROR)
        return ji_fail(status, "the segment has no %llu pages in a row", (unsigned long long)pages);
    return status;
}

/* Makes a slab for a class. Larger ones as the class gets more; smaller ones where there is no
 * room. */
static jstatus_t heap_new_slab(jshared_t *shared, unsigned class_index) {
    jsegment_t *segment = shared->segment;
    const bool own_size = shared->kind == JSHARED_PAGES;
    const uint64_t block_bytes = own_size ? shared->block_bytes : ji_class_bytes(class_index);
    const uint32_t grown = shared->classes[class_index].slab_count;
    uint64_t pages = 4;
    while (pages < SHM_MAX_SLAB_PAGES && pages << SHM_PAGE_SHIFT < 9 * block_bytes)
        pages *= 2;
    for (uint32_t i = 0; i < grown && pages < (block_bytes <= 1024 ? 16 : SHM_MAX_SLAB_PAGES); ++i)
        pages *= 2;
    shm_geometry_t geometry;
    uint64_t page = 0;
    jstatus_t status = JSTATUS_MEMORY_ERROR;
    for (bool first = true; ji_slab_geometry(block_bytes, pages, &geometry);
         first = false, pages /= 2) {
        shm_record_t *record = record_make(&geometry);
        if (record == NULL)
            return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");
        const uint64_t word = SHM_WORD(SHM_SLAB, segment->slot, shared->index, class_index, 0);
        status = first ? heap_take(segment, pages, pages, word, &page)
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
        record_install(record, shared, class_index, page, pages, &geometry);
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
            shm_record_t *record = record_make(&geometry);
            if (record == NULL)
                return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");
            jstatus_t status = ji_page_list_remove(segment, &segment->header->orphans, page);
            if (status == JSTATUS_SUCCESS)
                ji_put(segment, &segment->table[page].word, SHM_WITH_OWNER(word, segment->slot));
            if ((status = ji_finish(segment, status)) != JSTATUS_SUCCESS) {
                ji_metadata_free(record);
                return status;
            }
            record_install(record, shared, class_index, page, SHM_PAGES(word), &geometry);
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

/* The slab has a block that somebody but its owner has freed: puts it in the owner's list. */
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

/* Gives a slab of the segment's back if it is empty. */
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

static void record_free(jsegment_t *segment, shm_record_t *record, uint32_t index,
                        joffset_t offset);

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
        uint32_t index;
        if (record == NULL || ((uintptr_t)record & 1) != 0 ||
            !ji_record_find(shared, record, offset, &index))
            return heap_not_found(shared, offset);
        record_free(segment, record, index, offset);
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
    heap_drain(shared);
    shm_record_t *record;
    while (status == JSTATUS_SUCCESS &&
           (record = JI_LIST_FIRST(&shared->own, shm_record_t, own_link)) != NULL) {
        if (record->reserved_count == 0) {
            status = record_release(record);
            continue;
        }
        uint64_t *word = &segment->table[record->page].word;
        ji_page_list_insert(segment, &segment->header->orphans, record->page);
        ji_put(segment, word, shm_load(word) | SHM_GIVEN | (uint64_t)SHM_SLOT_SEGMENT << 8);
        status = ji_commit(segment);
        if (status == JSTATUS_SUCCESS)
            record_destroy(record);
    }
    return status;
}

/* ---- Fast paths ---- */

/* An empty slab: one of each class is kept. The block is free whatever happens here. */
static void __attribute__((noinline)) record_emptied(shm_record_t *record) {
    shm_class_t *class = record->class;
    jsegment_t *segment = record->allocator->segment;
    if (class->empty == NULL) {
        class->empty = record;
        return;
    }
    if (segment->lock_held) {
        (void)record_release(record);
    } else if (ji_segment_enter(segment) == JSTATUS_SUCCESS) {
        (void)record_release(record);
        ji_segment_leave(segment);
    }
}

/* The block is live, and the slab this attachment's. */
static inline void record_free(jsegment_t *segment, shm_record_t *record, uint32_t index,
                               joffset_t offset) {
    shm_class_t *class = record->class;
    _Atomic(uint8_t) *owner = &record->owners[index];
    atomic_store_explicit(owner, 0, memory_order_release);
    /* The record may go with it, where somebody has scribbled over the owner bytes. */
    if (class->top == class->limit)
        class_drain(segment, class, (size_t)(class->limit - class->ready) / 2);
    *class->top++ = (shm_ready_t){offset, owner};
}

/* The first use of a class. */
static bool class_start(shm_class_t *class, uint64_t block_bytes) {
    uint32_t limit = (uint32_t)(SHM_READY_BYTES / block_bytes);
    limit = limit > SHM_READY_BLOCKS  ? SHM_READY_BLOCKS
            : limit < SHM_READY_LEAST ? SHM_READY_LEAST
                                      : limit;
    class->ready = class->top = ji_metadata_alloc(limit * sizeof class->ready[0]);
    class->limit = class->ready != NULL ? class->ready + limit : NULL;
    return class->ready != NULL;
}

/* Of a class whose magazine is empty. */
static jstatus_t __attribute__((noinline))
heap_allocate_slowly(jshared_t *shared, unsigned class_index, joffset_t *offset) {
    jsegment_t *segment = shared->segment;
    shm_class_t *class = &shared->classes[class_index];
    const uint64_t block_bytes =
        shared->kind == JSHARED_PAGES ? shared->block_bytes : ji_class_bytes(class_index);
    if (class->ready == NULL && !class_start(class, block_bytes))
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
    class_fill(class);
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

/* Takes an extent of so many pages out of the cache, if one is there. */
static inline bool heap_take_cached(jshared_t *shared, uint64_t pages, joffset_t *offset) {
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
    segment->map[page] = pages << 1 | 1;
    *offset = page << SHM_PAGE_SHIFT;
    return true;
}

bool ji_heap_take_cached(jshared_t *shared, size_t size_bytes, size_t alignment,
                         joffset_t *offset) {
    return size_bytes > SHM_SMALL_BYTES && size_bytes <= SHM_CACHE_PAGES << SHM_PAGE_SHIFT &&
           alignment <= SHM_PAGE_BYTES && (alignment & (alignment - 1)) == 0 &&
           shared->kind == JSHARED_GENERAL &&
           heap_take_cached(shared, (size_bytes + SHM_PAGE_BYTES - 1) >> SHM_PAGE_SHIFT, offset);
}

static jstatus_t heap_allocate_extent(jshared_t *shared, uint64_t pages, uint64_t multiple,
                                      joffset_t *offset) {
    jsegment_t *segment = shared->segment;
    const uint64_t word = SHM_WORD(SHM_BLOCK, segment->slot, shared->index, 0, pages);
    uint64_t page;
    if (multiple == 1 && heap_take_cached(shared, pages, offset))
        return JSTATUS_SUCCESS;
    JTRY_RETURN(ji_segment_enter(segment));
    jstatus_t status = heap_take(segment, pages, multiple, word, &page);
    if (status == JSTATUS_SUCCESS)
        status = ji_commit(segment);
    ji_segment_leave(segment);
    if (status != JSTATUS_SUCCESS)
        return status;
    segment->map[page] = pages << 1 | 1;
    *offset = page << SHM_PAGE_SHIFT;
    return JSTATUS_SUCCESS;
}

static jstatus_t heap_bad_alignment(const jsegment_t *segment, size_t alignment) {
    return ji_fail(JSTATUS_INVALID_VALUE, "alignment %zu: a power of two up to %zu is needed here",
                   alignment, segment->backing.alignment);
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
        return heap_allocate_extent(shared, (block_bytes + SHM_PAGE_BYTES - 1) >> SHM_PAGE_SHIFT, 1,
                                    offset);
    return heap_allocate_small(shared, SHM_OWN_CLASS, offset);
}

jstatus_t ji_heap_allocate(jshared_t *shared, size_t size_bytes, size_t alignment,
                           joffset_t *offset) {
    jsegment_t *segment = shared->segment;
    if (alignment == 0)
        alignment = 16;
    if (!ji_is_power_of_two(alignment) ||
        (alignment > SHM_PAGE_BYTES && alignment > segment->backing.alignment))
        return heap_bad_alignment(segment, alignment);
    if (shared->kind == JSHARED_PAGES)
        return heap_allocate_page(shared, size_bytes, alignment, offset);
    size_t rounded;
    if (!ji_size_round_up(size_bytes, alignment < SHM_PAGE_BYTES ? alignment : SHM_PAGE_BYTES,
                          &rounded) ||
        rounded > SIZE_MAX - SHM_PAGE_BYTES)
        return ji_fail(JSTATUS_INVALID_SIZE, "%zu bytes", size_bytes);
    if (rounded <= SHM_SMALL_BYTES && alignment <= SHM_PAGE_BYTES)
        return heap_allocate_small(shared, ji_class_of(rounded), offset);
    return heap_allocate_extent(shared, (rounded + SHM_PAGE_BYTES - 1) >> SHM_PAGE_SHIFT,
                                alignment <= SHM_PAGE_BYTES ? 1 : alignment >> SHM_PAGE_SHIFT,
                                offset);
}

/* At most so many pages wait in one process's cache. */
static inline uint64_t heap_cache_limit(const jsegment_t *segment) {
    const uint64_t sixteenth = ji_pages_total(segment) / 16;
    return sixteenth < SHM_CACHE_LIMIT ? sixteenth : SHM_CACHE_LIMIT;
}

/* Puts an extent of this slot's into the cache, if it has room. */
static inline bool heap_free_cached(jshared_t *shared, uint64_t page, uint64_t pages) {
    jsegment_t *segment = shared->segment;
    uint64_t expected = SHM_WORD(SHM_BLOCK, segment->slot, shared->index, 0, pages);
    if (pages > SHM_CACHE_PAGES || segment->cached_pages + pages > heap_cache_limit(segment) ||
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
           heap_free_cached(shared, page, entry >> 1);
}

/* The same; makes room for it: half of what the cache has of its length, or, where all lengths
 * together are too much, of each. So lengths that are not asked for any more do not keep others
 * out, and the lock is taken for many at a time. */
static jstatus_t heap_free_extent(jshared_t *shared, uint64_t page, uint64_t pages, bool *freed) {
    jsegment_t *segment = shared->segment;
    *freed = heap_free_cached(shared, page, pages);
    if (*freed)
        return JSTATUS_SUCCESS;
    if (pages > SHM_CACHE_PAGES || pages > heap_cache_limit(segment) || segment->lock_held)
        return JSTATUS_SUCCESS; /* the other way */
    const bool all = segment->cached_pages + pages > heap_cache_limit(segment);
    if (!all && segment->cache[pages].count < SHM_CACHE_DEPTH)
        return JSTATUS_SUCCESS; /* another process has freed it, or has it now */
    jstatus_t status = ji_segment_enter(segment);
    if (status != JSTATUS_SUCCESS)
        return status;
    for (uint64_t length = all ? 1 : pages;
         length <= (all ? SHM_CACHE_PAGES : pages) && status == JSTATUS_SUCCESS; ++length)
        status = heap_uncache(segment, length, segment->cache[length].count / 2);
    ji_segment_leave(segment);
    *freed = status == JSTATUS_SUCCESS && heap_free_cached(shared, page, pages);
    return status;
}

jstatus_t ji_heap_free_own(jshared_t *shared, joffset_t offset, bool *freed) {
    jsegment_t *segment = shared->segment;
    const uint64_t page = offset >> SHM_PAGE_SHIFT;
    const uintptr_t entry = page < segment->max_pages ? segment->map[page] : 0;
    uint32_t index;
    *freed = false;
    if (entry == 0 || ((entry & 1) != 0 && (offset & (SHM_PAGE_BYTES - 1)) != 0))
        return JSTATUS_SUCCESS;
    if ((entry & 1) != 0)
        return heap_free_extent(shared, page, entry >> 1, freed);
    if (!ji_record_find(shared, (shm_record_t *)entry, offset, &index))
        return heap_not_found(shared, offset);
    record_free(segment, (shm_record_t *)entry, index, offset);
    *freed = true;
    return JSTATUS_SUCCESS;
}
