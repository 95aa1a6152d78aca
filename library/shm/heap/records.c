/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Records: what this attachment knows of each slab of its own, and the magazines filled from them
 * (heap.h has the idea).
 *
 * A record is private memory. Of the slab it repeats what the fast paths need (where the blocks
 * are, how large they are) and adds what nobody else has to know: which blocks are reserved, that
 * is allocated or in the magazine. So
 *
 *     reserved_count  is the number of set bits of `reserved` that are blocks;
 *     summary         has the bits of the words of `reserved` with a clear bit, and where it is not
 *                     0 the record is in its class's list;
 *     class->empty    is a record of the class without reserved blocks, if there is one. One is
 *                     kept, so that a program which allocates and frees one block does not take and
 *                     give back a slab each time; a second one is given back at once.
 *
 * The slab's own tables may have been written over by any process. What is computed here stays
 * within the record whatever they say. */

#include "shm/heap/heap.h"

#include <string.h>

/* For the magazine; NULL: there is none. */
static shm_note_t *record_main_note(const shm_record_t *record, uint64_t index) {
    return record->main_notes != NULL ? &record->main_notes[index] : NULL;
}

/* Tells the blocks of a slab that are in the magazine where their notes are. */
static void record_tell_notes(const shm_record_t *record) {
    const shm_class_t *class = record->class;
    for (shm_ready_t *ready = class->ready; ready != class->top; ++ready) {
        const uintptr_t index = (uintptr_t)ready->owner - (uintptr_t)record->owners;
        if (index < record->block_count)
            ready->note = record_main_note(record, index);
    }
}

shm_notes_t *ji_record_note(shm_record_t *record, shm_keeper_t *keeper) {
    shm_notes_t *notes =
        ji_metadata_zalloc(sizeof *notes + record->block_count * sizeof notes->notes[0]);
    if (notes == NULL)
        return NULL;

    notes->keeper = keeper;
    notes->record = record;
    notes->first = record->first;
    notes->block_bytes = record->block_bytes;
    notes->block_count = record->block_count;
    notes->next = record->notes;
    record->notes = notes;
    notes->slot = record->allocator->segment->slot;
    ji_list_push_front(&keeper->notes, &notes->link);

    if (keeper == record->allocator->main_keeper) {
        record->main_notes = notes->notes;
        record_tell_notes(record);
    }
    return notes;
}

/* Takes notes out of a record's. */
static void record_drop_notes(shm_record_t *record, shm_notes_t *notes) {
    shm_notes_t **at = &record->notes;
    while (*at != notes)
        at = &(*at)->next;
    *at = notes->next;
    notes->next = NULL;
    notes->record = NULL;

    if (record->main_notes == notes->notes) {
        record->main_notes = NULL;
        record_tell_notes(record);
    }
}

void ji_notes_destroy(shm_notes_t *notes) {
    if (notes->record != NULL)
        record_drop_notes(notes->record, notes);
    ji_list_remove(&notes->link);
    ji_metadata_free(notes);
}

shm_note_t *ji_record_forget(shm_record_t *record, uint64_t index) {
    for (shm_notes_t *notes = record->notes; notes != NULL; notes = notes->next)
        if (notes->notes[index] != 0) {
            shm_keeper_count_gone(notes->keeper, SHM_NOTE_BYTES(notes->notes[index]));
            notes->notes[index] = 0;
        }
    return record_main_note(record, index);
}

/* What the notes say of live blocks stays with their keeper. */
static void record_leave_notes(shm_record_t *record) {
    shm_notes_t *notes;
    while ((notes = record->notes) != NULL) {
        uint32_t i = 0;
        while (i < notes->block_count && notes->notes[i] == 0)
            ++i;

        record_drop_notes(record, notes);
        if (i == notes->block_count)
            ji_notes_destroy(notes);
    }
}

void ji_record_destroy(shm_record_t *record) {
    record_leave_notes(record);
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

shm_record_t *ji_record_make(const shm_geometry_t *geometry) {
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

void ji_record_install(shm_record_t *record, jshared_t *shared, unsigned class_index, uint64_t page,
                       uint64_t pages, const shm_geometry_t *geometry) {
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

jstatus_t ji_record_release(shm_record_t *record) {
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
        ji_record_destroy(record);
    return status;
}

/* The word has blocks again that are not reserved. */
static void record_make_available(shm_record_t *record, uint32_t w) {
    if (record->summary == 0)
        ji_list_push_front(&record->class->list, &record->link);
    record->summary |= (uint64_t)1 << w;
}

/* First the owner bytes, then the bits: done half, it can be done again. */
void ji_record_merge(shm_record_t *record) {
    for (uint32_t w = 0; w < record->word_count; ++w) {

        const uint64_t said = atomic_load_explicit(&record->freed[w], memory_order_relaxed);
        for (uint64_t rest = said & ji_slab_valid(record->block_count, w); rest != 0;
             rest &= rest - 1) {
            const uint32_t b = (uint32_t)__builtin_ctzll(rest);
            _Atomic(uint8_t) *owner = &record->owners[w * 64 + b];
            if (atomic_load_explicit(owner, memory_order_relaxed) == 0 ||
                (record->reserved[w] >> b & 1) == 0)
                continue; /* free, perhaps in the magazine: this process has freed it as well */

            ji_record_forget(record, w * 64 + b);
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

/* An empty slab: one of each class is kept. The block is free whatever happens here. */
static void __attribute__((noinline)) record_emptied(shm_record_t *record) {
    shm_class_t *class = record->class;
    jsegment_t *segment = record->allocator->segment;

    if (class->empty == NULL) {
        class->empty = record;
        return;
    }

    if (segment->lock_held) {
        (void)ji_record_release(record);
    } else if (ji_segment_enter(segment) == JSTATUS_SUCCESS) {
        (void)ji_record_release(record);
        ji_segment_leave(segment);
    }
}

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

void ji_class_fill(shm_class_t *class) {
    shm_record_t *record = JI_LIST_FIRST(&class->list, shm_record_t, link);
    const uint32_t half = (uint32_t)(class->limit - class->ready) / 2;
    uint32_t count = 0;

    while (record->summary != 0 && count < half) {
        const uint32_t w = (uint32_t)__builtin_ctzll(record->summary);
        while (record->reserved[w] != ~(uint64_t)0 && count < half) {
            const uint32_t b = (uint32_t)__builtin_ctzll(~record->reserved[w]), index = w * 64 + b;
            record->reserved[w] |= (uint64_t)1 << b;
            class->ready[count++] =
                (shm_ready_t){record->first + (uint64_t)index * record->block_bytes,
                              &record->owners[index], record_main_note(record, index)};
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

void ji_heap_drain(jshared_t *shared) {
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
        ji_record_destroy(record);
}

void ji_record_free(jsegment_t *segment, shm_record_t *record, uint64_t index, joffset_t offset) {
    shm_class_t *class = record->class;
    _Atomic(uint8_t) *owner = &record->owners[index];
    shm_note_t *note = ji_record_forget(record, index);
    atomic_store_explicit(owner, 0, memory_order_release);

    /* Record and notes may go with it, where somebody has scribbled over the owner bytes. */
    if (class->top == class->limit) {
        class_drain(segment, class, (size_t)(class->limit - class->ready) / 2);
        note = NULL;
    }
    *class->top++ = (shm_ready_t){offset, owner, note};
}

bool ji_class_start(shm_class_t *class, uint64_t block_bytes) {
    uint32_t limit = (uint32_t)(SHM_READY_BYTES / block_bytes);
    limit = limit > SHM_READY_BLOCKS  ? SHM_READY_BLOCKS
            : limit < SHM_READY_LEAST ? SHM_READY_LEAST
                                      : limit;

    class->ready = class->top = ji_metadata_alloc(limit * sizeof class->ready[0]);
    class->limit = class->ready != NULL ? class->ready + limit : NULL;
    return class->ready != NULL;
}
