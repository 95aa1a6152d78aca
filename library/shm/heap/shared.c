/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Allocators in a segment: the table of them; made, opened, closed, destroyed.
 *
 * An entry of the table is made and taken away under the segment's lock. Its state is written last
 * when it is made, first when it is destroyed; one that is being destroyed is finished by whoever
 * finds it so. */

#include "shm/heap/heap.h"

#include <string.h>

/* ---- The table ---- */

bool ji_shared_is_there(jshared_t *shared) {
    const shm_allocator_t *entry = &shared->segment->allocators[shared->index];
    if (shm_load(&entry->state) != SHM_ALLOCATOR_READY || shm_load(&entry->id) != shared->id)
        shared->gone = true;
    return !shared->gone;
}

/* What an entry says, each word once and judged. */
static jstatus_t shared_read(jsegment_t *segment, unsigned index, jshared_t *shared) {
    const shm_allocator_t *entry = &segment->allocators[index];
    const uint64_t total = ji_pages_total(segment), kind = shm_load(&entry->kind);
    const uint64_t block_bytes = shm_load(&entry->block_bytes);
    const uint64_t header_page = shm_load(&entry->header_page),
                   header_bytes = shm_load(&entry->header_bytes);
    const uint64_t region_page = shm_load(&entry->region_page),
                   region_bytes = shm_load(&entry->region_bytes);

    if (kind > JSHARED_STACK || block_bytes % 16 != 0 ||
        (kind == JSHARED_PAGES) != (block_bytes != 0) || block_bytes > UINT32_MAX ||
        header_page >= total || header_bytes > (total - header_page) << SHM_PAGE_SHIFT ||
        region_page >= total || region_bytes > (total - region_page) << SHM_PAGE_SHIFT ||
        (kind == JSHARED_STACK && region_page < segment->constants.first_page) ||
        (header_bytes != 0 && header_page < segment->constants.first_page))
        return JI_POISON(segment, "the entry of allocator %u is not one", index);

    shared->segment = segment;
    shared->index = index;
    shared->id = shm_load(&entry->id);
    shared->kind = (jshared_kind_t)kind;
    shared->block_bytes = (uint32_t)block_bytes;
    shared->header = header_bytes != 0 ? segment->base + (header_page << SHM_PAGE_SHIFT) : NULL;
    shared->header_bytes = header_bytes;
    shared->region = region_page << SHM_PAGE_SHIFT;
    shared->region_bytes = region_bytes;
    return JSTATUS_SUCCESS;
}

/* The entry of an id; SHM_ALLOCATORS: none. */
static unsigned shared_index(const jsegment_t *segment, uint64_t id) {
    unsigned i = 0;
    while (i < SHM_ALLOCATORS && (shm_load(&segment->allocators[i].state) != SHM_ALLOCATOR_READY ||
                                  shm_load(&segment->allocators[i].id) != id))
        ++i;
    return i;
}

/* Under the segment's lock, but for a reader, who has no slot to say it in. `made` is used up where
 * it is needed. */
static jstatus_t shared_open_entry(jsegment_t *segment, unsigned index, jshared_t **made,
                                   jshared_t **out) {
    jshared_t *shared = segment->open[index];

    if (shared == NULL) {
        JTRY_RETURN(shared_read(segment, index, *made));
        shared = *made;
        *made = NULL;
        segment->open[index] = shared;
        if (!segment->read_only) {
            uint64_t *opened = &segment->slots[segment->slot - 1].opened;
            shm_store(opened, shm_load(opened) | (uint64_t)1 << index);
        }
    }

    ++shared->open_count;
    *out = shared;
    return JSTATUS_SUCCESS;
}

static jstatus_t shared_take_region(jsegment_t *segment, unsigned index, uint64_t bytes,
                                    uint64_t *page_word, uint64_t *bytes_word) {
    const uint64_t pages = (bytes + SHM_PAGE_BYTES - 1) >> SHM_PAGE_SHIFT;
    uint64_t page;

    if (pages == 0)
        return JSTATUS_SUCCESS;

    jstatus_t status = ji_pages_take(
        segment, pages, 1, SHM_WORD(SHM_REGION, SHM_SLOT_SEGMENT, index, 0, pages), &page);
    if (status == JSTATUS_SUCCESS) {
        ji_put(segment, page_word, page);
        ji_put(segment, bytes_word, bytes);
    }
    return status;
}

/* Under the segment's lock: makes the entry, whole or not at all. */
static jstatus_t shared_make_entry(jsegment_t *segment, uint64_t id,
                                   const jshared_options_t *options, unsigned index) {
    shm_allocator_t *entry = &segment->allocators[index];
    if (JI_PLANTED(11))
        shm_store(&entry->state, SHM_ALLOCATOR_READY);

    ji_put(segment, &entry->id, id);
    ji_put(segment, &entry->kind, (uint64_t)options->kind);
    ji_put(segment, &entry->block_bytes,
           options->kind == JSHARED_PAGES ? (options->page_bytes + 15) & ~(uint64_t)15 : 0);
    ji_put(segment, &entry->header_page, 0);
    ji_put(segment, &entry->header_bytes, 0);
    ji_put(segment, &entry->region_page, 0);
    ji_put(segment, &entry->region_bytes, 0);
    ji_put(segment, &entry->top, 0);

    jstatus_t status = shared_take_region(segment, index, options->header_bytes,
                                          &entry->header_page, &entry->header_bytes);
    if (status == JSTATUS_SUCCESS && options->header_bytes != 0)
        memset(segment->base + (shm_load(&entry->header_page) << SHM_PAGE_SHIFT), 0,
               options->header_bytes);

    if (status == JSTATUS_SUCCESS && options->kind == JSHARED_STACK)
        status = shared_take_region(segment, index, options->region_bytes, &entry->region_page,
                                    &entry->region_bytes);

    if (status != JSTATUS_SUCCESS)
        return ji_undo(segment, status);

    ji_put(segment, &entry->state, SHM_ALLOCATOR_READY);
    return ji_commit(segment);
}

static jstatus_t shared_check_options(const jshared_options_t *options) {
    JREQUIRE_VALUE((unsigned)options->kind <= JSHARED_STACK, JSTATUS_INVALID_VALUE,
                   "jshared_create", "kind", options->kind, "must be of jshared_kind_t");

    const size_t largest = (size_t)SHM_MAX_PAGES << SHM_PAGE_SHIFT;

    if (options->header_bytes > largest ||
        (options->kind == JSHARED_PAGES &&
         (options->page_bytes == 0 || options->page_bytes > UINT32_MAX - 16)) ||
        (options->kind == JSHARED_STACK &&
         (options->region_bytes == 0 || options->region_bytes > largest)))
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "jshared_create: header of %zu, blocks of %zu, region of %zu bytes",
                       options->header_bytes, options->page_bytes, options->region_bytes);
    return JSTATUS_SUCCESS;
}

/* A free entry of the table; SHM_ALLOCATORS: none. */
static unsigned shared_free_entry(const jsegment_t *segment) {
    unsigned i = 0;
    while (i < SHM_ALLOCATORS && (shm_load(&segment->allocators[i].state) != SHM_ALLOCATOR_FREE ||
                                  segment->open[i] != NULL))
        ++i;
    return i;
}

/* Room for header and region, as ji_heap_take() gets it, by all means there are in turn; the last
 * may not be had for ever. */
static jstatus_t shared_make_room(jsegment_t *segment, const jshared_options_t *options,
                                  int means) {
    switch (means) {
    case 0: return ji_heap_trim(segment);
    case 1: return ji_reap_all(segment, NULL);
    default:
        return ji_segment_extend(segment, ji_pages_total(segment) + 2 +
                                              (options->header_bytes >> SHM_PAGE_SHIFT) +
                                              (options->region_bytes >> SHM_PAGE_SHIFT));
    }
}

static jstatus_t shared_create(jsegment_t *segment, uint64_t id, const jshared_options_t *options,
                               jshared_t **made, jshared_t **out) {
    if (shared_index(segment, id) < SHM_ALLOCATORS)
        return ji_fail(JSTATUS_EXISTS, "the segment has an allocator %llu", (unsigned long long)id);

    jstatus_t status;
    for (int means = 0;; ++means) {
        const unsigned index = shared_free_entry(segment);
        if (index == SHM_ALLOCATORS)
            return ji_fail(JSTATUS_MEMORY_ERROR, "the segment has %d allocators already",
                           SHM_ALLOCATORS);

        status = shared_make_entry(segment, id, options, index);
        if (status == JSTATUS_SUCCESS)
            return shared_open_entry(segment, index, made, out);
        if (status != JSTATUS_MEMORY_ERROR)
            return status;

        status = shared_make_room(segment, options, means);
        if (status != JSTATUS_SUCCESS)
            break;
    }

    return status == JSTATUS_INVALID_SIZE || status == JSTATUS_MEMORY_ERROR
               ? ji_fail(JSTATUS_MEMORY_ERROR,
                         "the segment has no room for a header of %zu and a region of %zu bytes",
                         options->header_bytes, options->region_bytes)
               : status;
}

/* Both lockings, memory for the object, `work`. `reads`: a reader may do it too, without the
 * segment's lock. */
typedef jstatus_t (*shared_work_t)(jsegment_t *segment, uint64_t id,
                                   const jshared_options_t *options, jshared_t **made,
                                   jshared_t **out);
static jstatus_t shared_with_memory(jsegment_t *segment, uint64_t id,
                                    const jshared_options_t *options, shared_work_t work,
                                    bool reads, jshared_t **out) {

    jshared_t *made = NULL, *shared = NULL;
    JTRY_RETURN(reads ? ji_segment_begin_reading(segment) : ji_segment_begin(segment));
    jstatus_t status = JSTATUS_SUCCESS;

    bool inside = false;
    JTRY_ALLOC(made = ji_metadata_zalloc(sizeof *made));
    ji_heap_init(made);
    if (!segment->read_only) {
        JTRY(ji_segment_enter(segment));
        inside = true;
    }

    JTRY(work(segment, id, options, &made, &shared));
    *out = shared;

done:
    if (inside)
        ji_segment_leave(segment);
    ji_segment_end(segment);
    ji_metadata_free(made);
    return status;
}

jstatus_t jshared_create(jsegment_t *segment, uint64_t id, const jshared_options_t *given,
                         jshared_t **shared) {
    JREQUIRE(segment != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE_VALUE(id != 0, JSTATUS_INVALID_VALUE, __func__, "id", id, "must not be 0");

    jshared_options_t options = JSHARED_OPTIONS_INIT;
    JTRY_RETURN(JI_TAKE_OPTIONS(jshared_options_t, &options, given, kind));

    JTRY_RETURN(shared_check_options(&options));
    return shared_with_memory(segment, id, &options, shared_create, false, shared);
}

static jstatus_t shared_open(jsegment_t *segment, uint64_t id, const jshared_options_t *options,
                             jshared_t **made, jshared_t **out) {
    (void)options;
    const unsigned index = shared_index(segment, id);

    if (index == SHM_ALLOCATORS)
        return ji_fail(JSTATUS_NOT_FOUND, "the segment has no allocator %llu",
                       (unsigned long long)id);

    if (segment->open[index] != NULL && segment->open[index]->gone)
        return ji_fail(JSTATUS_BUSY,
                       "an allocator that was destroyed has the slot of %llu until it is closed",
                       (unsigned long long)id);
    return shared_open_entry(segment, index, made, out);
}

jstatus_t jshared_open(jsegment_t *segment, uint64_t id, jshared_t **shared) {
    JREQUIRE(segment != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);
    return shared_with_memory(segment, id, NULL, shared_open, true, shared);
}

jstatus_t jshared_find(uint64_t id, jshared_t **shared) {
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);
    jshared_t *found = NULL;

    const ji_list_t *segments = ji_segment_list_acquire();

    JI_LIST_WHILE(found == NULL, segments, jsegment_t, segment, link) {
        if (segment->locks)
            ji_lock_acquire(&segment->lock);
        for (unsigned i = 0; i < SHM_ALLOCATORS && found == NULL; ++i)
            if (segment->open[i] != NULL && segment->open[i]->id == id)
                found = segment->open[i];
        ji_segment_end(segment);
    }
    ji_segment_list_release();

    if (found == NULL)
        return ji_fail(JSTATUS_NOT_FOUND, "no allocator %llu is open in this process",
                       (unsigned long long)id);

    *shared = found;
    return JSTATUS_SUCCESS;
}

/* The last open ends: the segment has its slabs. Under the segment's lock. */
static jstatus_t shared_close(jshared_t *shared) {
    jsegment_t *segment = shared->segment;

    JTRY_RETURN(shared->gone ? JSTATUS_SUCCESS : ji_heap_leave(shared));
    jstatus_t status = JSTATUS_SUCCESS;

    uint64_t *opened = &segment->slots[segment->slot - 1].opened;
    shm_store(opened, shm_load(opened) & ~((uint64_t)1 << shared->index));
    return status;
}

static void shared_free(jshared_t *shared) {
    shared->segment->open[shared->index] = NULL;
    ji_heap_forget(shared);
    ji_metadata_free(shared);
}

jstatus_t jshared_close(jshared_t *shared) {
    if (shared == NULL)
        return JSTATUS_SUCCESS;
    jsegment_t *segment = shared->segment;

    JTRY_RETURN(ji_segment_begin_reading(segment));
    jstatus_t status = JSTATUS_SUCCESS;

    if (shared->open_count > 1) {
        --shared->open_count;
    } else if (shared->above_count > 0) {
        status = ji_fail(JSTATUS_BUSY, "a jallocator_t stands over allocator %llu",
                         (unsigned long long)shared->id);
    } else if (segment->read_only) {
        shared_free(shared);
    } else {
        status = ji_segment_enter(segment);
        if (status == JSTATUS_SUCCESS) {
            status = shared_close(shared);
            ji_segment_leave(segment);
        }
        if (status == JSTATUS_SUCCESS)
            shared_free(shared);
    }

    ji_segment_end(segment);
    return status;
}

static jstatus_t shared_destroy(jshared_t *shared) {
    jsegment_t *segment = shared->segment;
    const uint64_t bit = (uint64_t)1 << shared->index;
    jstatus_t status = ji_reap_all(segment, NULL);
    /* What is gone nobody has open: the slots' bits are those of another allocator in its place. */

    const bool there = status == JSTATUS_SUCCESS && ji_shared_is_there(shared);

    for (unsigned i = 1; i <= segment->constants.slot_count && there && status == JSTATUS_SUCCESS;
         ++i)
        if (i != segment->slot && (shm_load(&segment->slots[i - 1].opened) & bit) != 0)
            status = ji_fail(JSTATUS_BUSY, "slot %u has allocator %llu open", i,
                             (unsigned long long)shared->id);

    if (status == JSTATUS_SUCCESS && there) {
        /* From here on it is the segment's business: whoever takes the lock next finishes it if
         * this one dies. */
        shm_store(&segment->allocators[shared->index].state, SHM_ALLOCATOR_ENDING);
        ji_heap_forget(shared);
        status = ji_reap_allocator(segment, shared->index);
    }

    if (status == JSTATUS_SUCCESS) {
        uint64_t *opened = &segment->slots[segment->slot - 1].opened;
        shm_store(opened, shm_load(opened) & ~bit);
    }
    return status;
}

jstatus_t jshared_destroy(jshared_t *shared) {
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);
    jsegment_t *segment = shared->segment;
    JTRY_RETURN(ji_segment_begin(segment));
    jstatus_t status = JSTATUS_SUCCESS;

    if (shared->above_count > 0)
        status = ji_fail(JSTATUS_BUSY, "a jallocator_t stands over allocator %llu",
                         (unsigned long long)shared->id);
    if (status == JSTATUS_SUCCESS)
        status = ji_segment_enter(segment);

    if (status == JSTATUS_SUCCESS) {
        status = shared_destroy(shared);
        ji_segment_leave(segment);
        if (status == JSTATUS_SUCCESS)
            shared_free(shared);
    }

    ji_segment_end(segment);
    return status;
}

void *jshared_header(jshared_t *shared, size_t *size_bytes) {
    if (size_bytes != NULL)
        *size_bytes = shared != NULL ? shared->header_bytes : 0;
    return shared != NULL ? shared->header : NULL;
}
uint64_t jshared_id(const jshared_t *shared) { return shared != NULL ? shared->id : 0; }
jshared_kind_t jshared_kind(const jshared_t *shared) {
    return shared != NULL ? shared->kind : JSHARED_GENERAL;
}
jsegment_t *jshared_segment(const jshared_t *shared) {
    return shared != NULL ? shared->segment : NULL;
}

void *jshared_pointer_resolve(jshared_pointer_t pointer, size_t size_bytes) {
    jshared_t *shared;
    if (pointer.offset == JOFFSET_NULL ||
        jshared_find(pointer.allocator_id, &shared) != JSTATUS_SUCCESS)
        return NULL;
    return jsegment_pointer(shared->segment, pointer.offset, size_bytes);
}
