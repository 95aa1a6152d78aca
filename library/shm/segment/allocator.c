/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The one allocator interface over an allocator in a segment. It takes back what it gave out, and
 * nothing else: not what others allocate in the segment, be it this process or another one.
 *
 * The heap knows already where its blocks begin and which are live. What it does not know is whose
 * they are here, how many bytes were asked for, and for whom: that is noted beside the heap's own
 * private records, where the way to a block leads past anyhow, in the same hold of the same lock.
 *
 *     segment.map[page] --> record --> notes[index of the block]      of a slab
 *     extents[page]                                                   of blocks above 8 KiB
 *
 * A free block in a magazine leads to its note as well, of one keeper: the first allocator over
 * the segment's, as long as it is there. Others have no short way to small blocks.
 *
 * A block that another process has freed is noted as long as nobody comes upon it here: who gives
 * it back is told that it is gone, and from then on the books are without it; so they are when this
 * attachment has a block of a slab back, or hands out the memory of an extent again, through whom
 * it may be (shm_keeper_t). An extent whose memory is another slot's by now, or a slab's, is not
 * the one that was noted: the slot in the note says so. One that was given away (jshared_give())
 * has left; of the segment's it may still be freed here.
 *
 * A stack does not know its blocks: there the object's ledger does. */

#include "memory/entry.h"
#include "memory/refuse.h"
#include "shm/segment/segment.h"

#include <sys/mman.h>

/* Counts, so that an allocation changes three words and a free two: what is live and in use is told
 * by differences. What frees change is the keeper's. */
typedef struct provider_books {
    uint64_t allocation_count, failure_count;
    size_t largest_request_bytes;
} provider_books_t;

typedef struct segment_provider {
    jshared_t *shared;
    jsegment_t *segment; /* made for it; NULL: the caller's */
    jallocator_t *self;
    /* Not of a stack; under the attachment's lock. */
    jsegment_t *attachment; /* of `shared` */
    provider_books_t books;
    shm_keeper_t keeper;
} segment_provider_t;

/* A block that the provider has noted. */
typedef struct provider_block {
    joffset_t begin;
    size_t size_bytes;
    jtag_t tag;
    unsigned slot;      /* whose it was when it was noted */
    shm_notes_t *notes; /* of its slab; NULL: it is an extent */
    shm_note_t *note;   /* in them */
} provider_block_t;

static void provider_lock(const segment_provider_t *provider) {
    if (provider->attachment->locks)
        ji_lock_acquire(&provider->attachment->lock);
}
static void provider_unlock(const segment_provider_t *provider) {
    ji_segment_end(provider->attachment);
}

/* ---- Books, under the attachment's lock ---- */

static inline void books_allocate(segment_provider_t *provider, size_t size_bytes) {
    provider_books_t *books = &provider->books;
    ++books->allocation_count;
    ji_level_rise(&provider->keeper.in_use, size_bytes);
    if (JI_UNLIKELY(size_bytes > books->largest_request_bytes))
        books->largest_request_bytes = size_bytes;
}
static void books_clear(segment_provider_t *provider) {
    ji_level_clear(&provider->keeper.in_use);
    provider->books.largest_request_bytes = 0;
}
static void books_report(const segment_provider_t *provider, jallocator_stats_t *stats) {
    const provider_books_t *books = &provider->books;
    const shm_keeper_t *keeper = &provider->keeper;
    stats->allocation_count = books->allocation_count;
    stats->live_count = books->allocation_count - keeper->deallocation_count;
    stats->failure_count += books->failure_count; /* to those before the entry */
    stats->in_use_bytes = ji_level_now(&keeper->in_use);
    stats->peak_in_use_bytes = keeper->in_use.peak_bytes;
    stats->largest_request_bytes = books->largest_request_bytes;
}

/* ---- Notes, under the attachment's lock ---- */

static size_t provider_extents_bytes(const segment_provider_t *provider) {
    return (size_t)provider->attachment->max_pages * sizeof(shm_extent_note_t);
}

/* The record of a slab of this attachment's; NULL: there is none. */
static inline shm_record_t *provider_record(const segment_provider_t *provider, joffset_t offset) {
    const jsegment_t *segment = provider->attachment;
    if (JI_UNLIKELY(offset >> SHM_PAGE_SHIFT >= segment->max_pages))
        return NULL;

    const uintptr_t entry = segment->map[offset >> SHM_PAGE_SHIFT];
    return JI_LIKELY((entry & 1) == 0) ? (shm_record_t *)entry : NULL;
}

/* The provider's notes of a slab; NULL: it has none yet. */
static shm_notes_t *provider_notes(const segment_provider_t *provider, const shm_record_t *record) {
    shm_notes_t *notes = record->notes;
    while (notes != NULL && notes->keeper != &provider->keeper)
        notes = notes->next;
    return notes;
}

/* Takes a block off the notes. */
static void provider_forget(segment_provider_t *provider, const provider_block_t *block) {
    if (block->note != NULL) {
        *block->note = 0;
    } else {
        provider->keeper.extents[block->begin >> SHM_PAGE_SHIFT] = (shm_extent_note_t){0, 0, 0};
        --provider->keeper.extent_count;
    }
    shm_keeper_count_gone(&provider->keeper, block->size_bytes);
}

static bool provider_is_in_notes(shm_notes_t *notes, joffset_t offset, provider_block_t *block) {
    const uint64_t distance = offset - notes->first; /* far too large before the first */
    if (distance / notes->block_bytes >= notes->block_count)
        return false;

    shm_note_t *note = &notes->notes[distance / notes->block_bytes];
    *block = (provider_block_t){offset - distance % notes->block_bytes,
                                SHM_NOTE_BYTES(*note),
                                SHM_NOTE_TAG(*note),
                                notes->slot,
                                notes,
                                note};
    return distance % notes->block_bytes < block->size_bytes;
}

static bool provider_is_extent(const segment_provider_t *provider, uint64_t page, joffset_t offset,
                               provider_block_t *block) {
    const shm_extent_note_t *extent = &provider->keeper.extents[page];
    *block = (provider_block_t){
        page << SHM_PAGE_SHIFT, extent->size_bytes, extent->tag, extent->slot, NULL, NULL};
    return offset - block->begin < extent->size_bytes;
}

/* The block around an offset, if it is near: of a slab that this attachment has, or an extent that
 * begins at this page. */
static bool provider_find_near(const segment_provider_t *provider, joffset_t offset,
                               provider_block_t *block) {
    if (offset >> SHM_PAGE_SHIFT >= provider->attachment->max_pages)
        return false;

    const shm_record_t *record = provider_record(provider, offset);
    shm_notes_t *notes = record != NULL ? provider_notes(provider, record) : NULL;
    return (notes != NULL && provider_is_in_notes(notes, offset, block)) ||
           provider_is_extent(provider, offset >> SHM_PAGE_SHIFT, offset, block);
}

/* The block around an offset, wherever. */
static bool provider_find_block(const segment_provider_t *provider, joffset_t offset,
                                provider_block_t *block) {
    if (provider_find_near(provider, offset, block))
        return true;
    if (offset >> SHM_PAGE_SHIFT >= provider->attachment->max_pages)
        return false;

    JI_LIST_EACH(&provider->keeper.notes, shm_notes_t, notes, link)
        if (notes->record == NULL && provider_is_in_notes(notes, offset, block))
            return true;

    for (uint64_t page = offset >> SHM_PAGE_SHIFT;
         page-- > 0 && provider->keeper.extent_count != 0;)
        if (provider->keeper.extents[page].size_bytes != 0)
            return provider_is_extent(provider, page, offset, block);
    return false;
}

/* Notes an extent; nothing is noted at its page. */
static inline void provider_note_extent(segment_provider_t *provider, joffset_t offset,
                                        size_t size_bytes) {
    provider->keeper.extents[offset >> SHM_PAGE_SHIFT] =
        (shm_extent_note_t){size_bytes, ji_tag_current, provider->attachment->slot};
    ++provider->keeper.extent_count;
    books_allocate(provider, size_bytes);
}

/* Notes a block that the heap has handed out. False: no memory. */
static bool provider_note(segment_provider_t *provider, joffset_t offset, size_t size_bytes) {
    provider_block_t before;
    shm_record_t *record = provider_record(provider, offset);
    if (record != NULL && provider_notes(provider, record) == NULL &&
        ji_record_note(record, &provider->keeper) == NULL)
        return false;

    if (provider_find_near(provider, offset, &before)) /* others have freed it meanwhile */
        provider_forget(provider, &before);

    if (record != NULL) {
        shm_notes_t *notes = provider_notes(provider, record);
        notes->notes[(offset - notes->first) / notes->block_bytes] =
            SHM_NOTE(size_bytes, ji_tag_current);
        books_allocate(provider, size_bytes);
    } else {
        provider_note_extent(provider, offset, size_bytes);
    }
    return true;
}

/* ---- Allocate, free ---- */

static bool provider_is_main(const segment_provider_t *provider) {
    return provider->shared->main_keeper == &provider->keeper;
}

/* Allocates a small block where one is ready and its slab has notes; else nothing has been done.
 * The class is that of heap.c: a block is aligned to what divides its size. Of the main keeper. */
static inline bool provider_take_ready(segment_provider_t *provider, const jsegment_t *segment,
                                       size_t size_bytes, size_t alignment, void **pointer) {
    const size_t rounded = (size_bytes + alignment - 1) & ~(alignment - 1);
    if (JI_UNLIKELY(rounded > SHM_SMALL_BYTES || alignment > SHM_PAGE_BYTES))
        return false;

    shm_class_t *class = &provider->shared->classes[ji_class_of(rounded)];
    if (JI_UNLIKELY(class->top == class->ready))
        return false;

    shm_note_t *note = class->top[-1].note;
    if (JI_UNLIKELY(note == NULL || *note != 0))
        return false;

    *note = SHM_NOTE(size_bytes, ji_tag_current);
    *pointer = segment->base + ji_class_take(class, segment->slot);
    books_allocate(provider, size_bytes);
    return true;
}

/* Frees a live small block of the provider's where there is room for it; else nothing has been
 * done. Of the main keeper. */
static inline bool provider_free_ready(segment_provider_t *provider, joffset_t offset,
                                       size_t size_bytes) {
    const shm_record_t *record = provider_record(provider, offset);
    uint64_t index;
    if (JI_UNLIKELY(record == NULL || !ji_record_index(record, offset, &index) ||
                    record->main_notes == NULL))
        return false;

    shm_note_t *note = &record->main_notes[index];
    if (JI_UNLIKELY(SHM_NOTE_BYTES(*note) != size_bytes || !ji_record_is_live(record, index)))
        return false;

    shm_class_t *class = record->class;
    if (JI_UNLIKELY(class->top == class->limit))
        return false;

    *note = 0;
    ji_class_give(class, record, index, offset, note);
    shm_keeper_count_gone(&provider->keeper, size_bytes);
    return true;
}

/* The same for extents, of which the heap has taken what was noted at the page when it hands one
 * out. */
static inline bool provider_take_cached(segment_provider_t *provider, size_t size_bytes,
                                        size_t alignment, void **pointer) {
    joffset_t offset;
    if (JI_UNLIKELY(!ji_heap_take_cached(provider->shared, size_bytes, alignment, &offset)))
        return false;

    provider_note_extent(provider, offset, size_bytes);
    *pointer = provider->attachment->base + offset;
    return true;
}
static inline bool provider_free_cached(segment_provider_t *provider, joffset_t offset,
                                        size_t size_bytes) {
    const uint64_t page = offset >> SHM_PAGE_SHIFT;
    if (JI_UNLIKELY(page >= provider->attachment->max_pages ||
                    (offset & (SHM_PAGE_BYTES - 1)) != 0))
        return false;

    shm_extent_note_t *note = &provider->keeper.extents[page];
    if (JI_UNLIKELY(note->size_bytes == 0 || note->size_bytes != size_bytes ||
                    !ji_heap_free_cached(provider->shared, offset)))
        return false;

    *note = (shm_extent_note_t){0, 0, 0};
    --provider->keeper.extent_count;
    shm_keeper_count_gone(&provider->keeper, size_bytes);
    return true;
}

static jstatus_t provider_allocate_any(segment_provider_t *provider, size_t size_bytes,
                                       size_t alignment, void **pointer) {
    joffset_t offset;
    if ((provider_is_main(provider) &&
         provider_take_ready(provider, provider->attachment, size_bytes, alignment, pointer)) ||
        provider_take_cached(provider, size_bytes, alignment, pointer))
        return JSTATUS_SUCCESS;

    JTRY_RETURN(ji_shared_allocate(provider->shared, size_bytes, alignment, &offset));
    if (provider_note(provider, offset, size_bytes)) {
        *pointer = provider->attachment->base + offset;
        return JSTATUS_SUCCESS;
    }

    (void)ji_shared_deallocate(provider->shared, offset);
    return ji_refuse_bookkeeping();
}

static jstatus_t provider_allocate(void *context, size_t size_bytes, size_t alignment,
                                   jstream_t *stream, void **pointer) {
    segment_provider_t *provider = context;
    (void)stream;

    jstatus_t status = ji_segment_begin(provider->attachment);
    if (status != JSTATUS_SUCCESS)
        provider_lock(provider);
    else
        status = provider_allocate_any(provider, size_bytes, alignment, pointer);

    provider->books.failure_count += status != JSTATUS_SUCCESS;
    provider_unlock(provider);
    return status;
}

/* Of a pointer at which no block of the provider's begins. */
static jstatus_t __attribute__((cold))
provider_refuse(const segment_provider_t *provider, const void *pointer, joffset_t offset) {
    provider_block_t block;
    return provider_find_block(provider, offset, &block)
               ? ji_refuse_interior(provider->self, pointer,
                                    (uintptr_t)provider->attachment->base + block.begin, block.tag)
               : ji_refuse_foreign(provider->self, pointer);
}

/* Whether a noted block is live in the segment still, and no later one at the same address. */
static bool provider_is_live(const segment_provider_t *provider, const provider_block_t *block,
                             shm_found_t *found) {
    if (!ji_heap_find(provider->shared, block->begin, found) ||
        found->is_block_of_slab != (block->notes != NULL))
        return false;
    return (block->notes != NULL && block->notes->record != NULL) || found->owner == block->slot ||
           found->owner == SHM_SLOT_SEGMENT;
}

static jstatus_t provider_deallocate_any(segment_provider_t *provider, void *pointer,
                                         size_t size_bytes) {
    const joffset_t offset = (uintptr_t)pointer - (uintptr_t)provider->attachment->base;
    provider_block_t block;
    if ((provider_is_main(provider) && provider_free_ready(provider, offset, size_bytes)) ||
        provider_free_cached(provider, offset, size_bytes))
        return JSTATUS_SUCCESS;

    if (!provider_find_block(provider, offset, &block) || block.begin != offset)
        return provider_refuse(provider, pointer, offset);
    if (block.size_bytes != size_bytes)
        return ji_refuse_size(provider->self, pointer, block.tag, block.size_bytes, size_bytes);

    /* Where the slab is this attachment's the heap takes a block off the notes, which may go with
     * it; so they are looked for again. */
    const bool by_heap = block.notes != NULL && block.notes->record != NULL;
    shm_found_t found;
    jstatus_t status = provider_is_live(provider, &block, &found)
                           ? ji_shared_deallocate(provider->shared, offset)
                           : JSTATUS_NOT_FOUND; /* others have freed it */
    const bool is_gone = status == JSTATUS_SUCCESS || status == JSTATUS_NOT_FOUND;
    const jtag_t tag = block.tag;
    if (is_gone && (!by_heap || (provider_find_near(provider, offset, &block) &&
                                 block.begin == offset && block.notes != NULL)))
        provider_forget(provider, &block);
    return status == JSTATUS_NOT_FOUND ? ji_refuse_freed(provider->self, pointer, tag) : status;
}

static jstatus_t __attribute__((noinline))
provider_deallocate(void *context, void *pointer, size_t size_bytes, jstream_t *stream) {
    segment_provider_t *provider = context;
    (void)stream;
    JTRY_RETURN(ji_segment_begin(provider->attachment));
    jstatus_t status = provider_deallocate_any(provider, pointer, size_bytes);
    provider_unlock(provider);
    return status;
}

JI_ENTRY(provider_any, straight, provider_allocate, provider_deallocate, false)

/* ---- The same, the fast way: of a main keeper, where no call traces are kept ---- */

/* Begun the fast way, and no small block was ready. */
static jstatus_t __attribute__((noinline))
provider_allocate_cached(segment_provider_t *provider, size_t size_bytes, size_t alignment,
                         void **pointer) {
    const bool taken = provider_take_cached(provider, size_bytes, alignment, pointer);
    ji_segment_end_fast(provider->attachment);
    return JI_LIKELY(taken)
               ? JSTATUS_SUCCESS
               : provider_any_allocate(provider->self, size_bytes, alignment, NULL, pointer);
}

/* Whatever else there is to do is called last, so that a block that is ready costs no saving of
 * registers. */
static jstatus_t provider_enter_allocate(jallocator_t *allocator, size_t size_bytes,
                                         size_t alignment, jstream_t *stream, void **pointer) {
    segment_provider_t *provider = allocator->context;
    jsegment_t *segment = provider->attachment;
    (void)stream; /* a segment knows none */

    if (JI_UNLIKELY(!ji_segment_begin_fast(segment)))
        return provider_any_allocate(provider->self, size_bytes, alignment, NULL, pointer);

    if (JI_UNLIKELY(!provider_take_ready(provider, segment, size_bytes, alignment, pointer)))
        return provider_allocate_cached(provider, size_bytes, alignment, pointer);

    ji_segment_end_fast(segment);
    return JSTATUS_SUCCESS;
}

/* Begun the fast way, and it was no small block that is live. */
static jstatus_t __attribute__((noinline))
provider_deallocate_cached(segment_provider_t *provider, void *pointer, size_t size_bytes) {
    jsegment_t *segment = provider->attachment;
    const bool freed =
        provider_free_cached(provider, (uintptr_t)pointer - (uintptr_t)segment->base, size_bytes);
    ji_segment_end_fast(segment);
    return JI_LIKELY(freed) ? JSTATUS_SUCCESS
                            : provider_any_deallocate(provider->self, pointer, size_bytes, NULL);
}

static jstatus_t provider_enter_deallocate(jallocator_t *allocator, void *pointer,
                                           size_t size_bytes, jstream_t *stream) {
    segment_provider_t *provider = allocator->context;
    jsegment_t *segment = provider->attachment;

    if (JI_UNLIKELY(!ji_segment_begin_fast(segment)))
        return provider_any_deallocate(allocator, pointer, size_bytes, stream);

    if (JI_UNLIKELY(!provider_free_ready(provider, (uintptr_t)pointer - (uintptr_t)segment->base,
                                         size_bytes)))
        return provider_deallocate_cached(provider, pointer, size_bytes);

    ji_segment_end_fast(segment);
    return JSTATUS_SUCCESS;
}

static const ji_entry_t provider_main = {provider_enter_allocate, provider_enter_deallocate};

/* ---- What is asked of them ---- */

/* Whether a noted block is live; then `shown` is told of it. */
static bool provider_describe(const segment_provider_t *provider, const provider_block_t *block,
                              jallocation_t *shown) {
    shm_found_t found;
    if (!provider_is_live(provider, block, &found))
        return false;

    shown->pointer = provider->attachment->base + block->begin;
    shown->size_bytes = block->size_bytes;
    shown->usable_bytes = found.usable_bytes;
    shown->tag = block->tag;
    return true;
}

static jstatus_t provider_find(void *context, const void *pointer, jallocation_t *shown) {
    const segment_provider_t *provider = context;
    provider_block_t block;
    provider_lock(provider);
    const bool is_found =
        provider_find_block(provider, (uintptr_t)pointer - (uintptr_t)provider->attachment->base,
                            &block) &&
        provider_describe(provider, &block, shown);
    provider_unlock(provider);
    return is_found ? JSTATUS_SUCCESS : JSTATUS_NOT_FOUND;
}

static bool provider_show(const segment_provider_t *provider, const provider_block_t *block,
                          jallocation_visitor_t visitor, void *context) {
    jallocation_t shown = {.struct_size = sizeof shown, .live = true};
    return !provider_describe(provider, block, &shown) || visitor(context, &shown);
}

static void provider_visit(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    const segment_provider_t *provider = context;
    provider_block_t block;
    bool goes_on = true;
    provider_lock(provider);

    JI_LIST_WHILE(goes_on, &provider->keeper.notes, shm_notes_t, notes, link)
        for (uint32_t i = 0; i < notes->block_count && goes_on; ++i)
            if (provider_is_in_notes(notes, notes->first + (uint64_t)i * notes->block_bytes,
                                     &block))
                goes_on = provider_show(provider, &block, visitor, visitor_context);

    const uint64_t pages = provider->attachment->max_pages;
    size_t rest = provider->keeper.extent_count;
    for (uint64_t page = 0; page < pages && rest != 0 && goes_on; ++page)
        if (provider_is_extent(provider, page, page << SHM_PAGE_SHIFT, &block)) {
            goes_on = provider_show(provider, &block, visitor, visitor_context);
            --rest;
        }
    provider_unlock(provider);
}

/* ---- Over a stack ---- */

static jstatus_t stack_provider_allocate(void *context, size_t size_bytes, size_t alignment,
                                         jstream_t *stream, void **pointer) {
    segment_provider_t *provider = context;
    (void)stream;
    joffset_t offset;
    jstatus_t status = jshared_allocate(provider->shared, size_bytes, alignment, &offset);
    if (status == JSTATUS_SUCCESS)
        *pointer = provider->attachment->base + offset;
    return status;
}

static jstatus_t stack_provider_deallocate(void *context, void *pointer, size_t size_bytes,
                                           jstream_t *stream) {
    segment_provider_t *provider = context;
    (void)stream;
    (void)ji_shared_pop(provider->shared, jsegment_offset(provider->attachment, pointer),
                        size_bytes);
    return JSTATUS_SUCCESS;
}

/* ---- Over either ---- */

static size_t provider_usable_size(void *context, const void *pointer, size_t size_bytes) {
    segment_provider_t *provider = context;
    size_t usable = size_bytes;
    if (provider->shared->kind != JSHARED_STACK)
        (void)jshared_describe(provider->shared, jsegment_offset(provider->attachment, pointer),
                               &usable, NULL);
    return usable > size_bytes ? usable : size_bytes;
}

static void provider_get_stats(void *context, jallocator_stats_t *stats) {
    segment_provider_t *provider = context;
    jsegment_stats_t segment = JSEGMENT_STATS_INIT;

    if (provider->shared->kind != JSHARED_STACK) {
        provider_lock(provider);
        books_report(provider, stats);
        provider_unlock(provider);
    }

    if (jsegment_get_stats(provider->attachment, &segment) != JSTATUS_SUCCESS)
        return;

    stats->limit_bytes = segment.max_bytes;
    /* It does not shrink. */
    stats->reserved_bytes = stats->peak_reserved_bytes = segment.size_bytes;
    stats->free_bytes = segment.free_bytes;
    stats->largest_free_bytes = segment.largest_free_bytes;
}

static void provider_clear_stats(void *context) {
    segment_provider_t *provider = context;
    provider_lock(provider);
    books_clear(provider);
    provider_unlock(provider);
}

static jstatus_t provider_check(void *context) {
    segment_provider_t *provider = context;
    return jsegment_verify(provider->attachment);
}

static jstatus_t provider_trim(void *context, size_t keep_bytes) {
    segment_provider_t *provider = context;
    jsegment_t *segment = provider->attachment;
    if (keep_bytes != 0) /* what is kept is little */
        return JSTATUS_SUCCESS;

    jstatus_t status = ji_segment_lock(segment);
    return status == JSTATUS_SUCCESS ? ji_segment_unlock(segment, ji_heap_trim(segment)) : status;
}

static void provider_above(jshared_t *shared, int change) {
    if (shared->segment->locks)
        ji_lock_acquire(&shared->segment->lock);
    shared->above_count += (unsigned)change;
    ji_segment_end(shared->segment);
}

/* Ends what the object does not know of. */
static void provider_free(segment_provider_t *provider) {
    if (provider == NULL)
        return;

    provider_lock(provider);
    JI_LIST_EACH(&provider->keeper.notes, shm_notes_t, notes, link)
        ji_notes_destroy(notes);
    if (provider->keeper.extents != NULL)
        ji_list_remove(&provider->keeper.link);
    if (provider_is_main(provider))
        provider->shared->main_keeper = NULL;
    provider_unlock(provider);
    if (provider->keeper.extents != NULL)
        (void)munmap(provider->keeper.extents, provider_extents_bytes(provider));
    ji_metadata_free(provider);
}

static void provider_destroy(void *context) {
    segment_provider_t *provider = context;
    jshared_t *shared = provider->shared;
    jsegment_t *segment = provider->segment;
    provider_free(provider);
    provider_above(shared, -1);
    if (segment != NULL) {
        (void)jshared_close(shared);
        (void)jsegment_destroy(segment);
    }
}

static const jallocator_ops_t heap_ops = {
    .struct_size = sizeof heap_ops,
    .allocate = provider_allocate,
    .deallocate = provider_deallocate,
    .usable_size = provider_usable_size,
    .find = provider_find,
    .visit = provider_visit,
    .get_stats = provider_get_stats,
    .clear_stats = provider_clear_stats,
    .trim = provider_trim,
    .check = provider_check,
    .destroy = provider_destroy,
};

static const jallocator_ops_t stack_ops = {
    .struct_size = sizeof stack_ops,
    .allocate = stack_provider_allocate,
    .deallocate = stack_provider_deallocate,
    .usable_size = provider_usable_size,
    .get_stats = provider_get_stats,
    .trim = provider_trim,
    .check = provider_check,
    .destroy = provider_destroy,
};

static jstatus_t provider_make_extents(segment_provider_t *provider) {
    void *extents = mmap(NULL, provider_extents_bytes(provider), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (extents == MAP_FAILED)
        return ji_refuse_bookkeeping();

    provider_lock(provider);
    provider->keeper.extents = extents;
    ji_list_push_front(&provider->attachment->keepers, &provider->keeper.link);
    provider_unlock(provider);
    return JSTATUS_SUCCESS;
}

/* Whether it has become the main keeper: there was none. */
static bool provider_becomes_main(segment_provider_t *provider) {
    provider_lock(provider);
    const bool becomes = provider->shared->main_keeper == NULL;
    if (becomes)
        provider->shared->main_keeper = &provider->keeper;
    provider_unlock(provider);
    return becomes;
}

jstatus_t ji_shared_make_allocator(jshared_t *shared, jsegment_t *segment, const char *name,
                                   const ji_kind_t *kind, jallocator_t **out) {
    jstatus_t status = JSTATUS_SUCCESS;
    const bool knows_blocks = shared->kind != JSHARED_STACK;
    ji_traits_t traits = {.name = name,
                          .threads = shared->segment->locks ? JALLOCATOR_THREADS_SAFE
                                                            : JALLOCATOR_THREADS_NONE,
                          .kind = kind,
                          .entry = knows_blocks ? &provider_any : NULL};
    segment_provider_t *provider;

    JTRY_ALLOC(provider = ji_metadata_zalloc(sizeof *provider));
    provider->shared = shared;
    provider->attachment = shared->segment;
    provider->segment = segment;
    ji_list_init(&provider->keeper.notes);
    if (knows_blocks)
        JTRY(provider_make_extents(provider));

    JTRY(ji_allocator_make(knows_blocks ? &heap_ops : &stack_ops, provider, &traits, out));
    provider->self = *out;
    if (knows_blocks && provider_becomes_main(provider) && (*out)->call_traces == NULL)
        (*out)->entry = provider_main;
    provider_above(shared, +1);
    provider = NULL;

done:
    provider_free(provider);
    return status;
}

jstatus_t jallocator_create_shared(jshared_t *shared, jallocator_t **allocator) {
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    jallocator_t *made = NULL;

    jstatus_t status = ji_shared_make_allocator(shared, NULL, "segment", NULL, &made);
    return status == JSTATUS_SUCCESS ? ji_record_wrap(made, allocator) : status;
}
