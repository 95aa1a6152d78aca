/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The two fast paths, and the policy as a kind of allocator; bfc.h has the idea.
 *
 * In front of the bins are quick lists. A freed chunk whose request's size was freed before goes to
 * the list of that size as it is, and the next request of that size takes it: a program that
 * allocates and frees the same sizes again and again never splits or merges. They hold at most a
 * thousand chunks, and are emptied into the bins before a chunk is cut that is much larger than the
 * request, and before anything is looked at as a whole: growth, statistics, visits, trim, check.
 *
 * Where they do not serve, a request takes a chunk from the bins. What is left over stays in the
 * bins as a chunk of its own where the chunk is at least twice the request, or 128 MiB would be
 * left over (or an eighth of the request: split_tightly). The front is handed out, so the free
 * chunk keeps its record and most often its bin, and nothing is relinked. A freed chunk is merged
 * with both neighbours; again the free neighbour keeps its record. So allocating and freeing touch
 * the records of a chunk and its neighbours, and no loop depends on how many there are. */

#include "memory/allocators/bfc/bfc.h"
#include "memory/allocators/policy.h"
#include "memory/entry.h"

#include <string.h>

#define BFC_GROWTH_PERCENT 6
#define BFC_FIRST_REGION_BYTES ((size_t)1 << 20)
#define BFC_MOST_LEFT_OVER_BYTES ((size_t)128 << 20) /* more is not handed out unasked */
/* Chunks so many times the request are not cut while what quick lists have could serve when
 * merged. */
#define BFC_QUICK_SPARES 8
/* Of a request, that must be left over where chunks are split tightly. */
#define BFC_TIGHT_FRACTION 8
#define BFC_QUICK_MOST_CHUNKS 1024 /* so that emptying them is never long */
#define BFC_CLOCK_CALLS 1024
#define BFC_FIRST_SLOTS_BITS 6
#define BFC_FIRST_RECORDS 63 /* with the block's head 4 KiB */
#define BFC_MOST_RECORDS 4095

struct bfc_block {
    bfc_block_t *next;
};

/* ---- Records and slots ---- */

/* More records: as many as there are, within bounds. They have cache lines of their own, and stay
 * where they are. */
bool ji_bfc_records_add(bfc_t *bfc) {
    size_t count = bfc->record_count < BFC_FIRST_RECORDS  ? BFC_FIRST_RECORDS
                   : bfc->record_count < BFC_MOST_RECORDS ? bfc->record_count
                                                          : BFC_MOST_RECORDS;
    bfc_block_t *block = ji_metadata_alloc(sizeof(bfc_block_t) + (count + 1) * sizeof(bfc_chunk_t));
    if (block == NULL)
        return false;

    block->next = bfc->blocks;
    bfc->blocks = block;
    bfc->record_count += count;

    uintptr_t first = (uintptr_t)(block + 1);
    bfc_chunk_t *records = (bfc_chunk_t *)(first + (-first & (sizeof(bfc_chunk_t) - 1)));
    for (size_t i = count; i-- > 0;) /* so that they are taken in the order of addresses */
        bfc_record_put(bfc, &records[i]);

    return true;
}

static void bfc_slot_enter(bfc_t *bfc, bfc_chunk_t *chunk) {
    bfc_slot_t *slot = ji_hash_insert(&bfc->slots, chunk->address, sizeof *slot);
    slot->chunk = chunk;
}
static void bfc_slot_leave(bfc_t *bfc, bfc_slot_t *slot) {
    ji_hash_remove(&bfc->slots, slot, sizeof *slot);
}

/* Whatever a call may need of records and slots is there before it changes anything. */
static inline bool bfc_has_room(const bfc_t *bfc) {
    return bfc->spare_count >= BFC_RECORDS_PER_CALL && bfc->slots.count <= bfc->slots.mask / 4;
}
static __attribute__((noinline)) bool bfc_make_room(bfc_t *bfc) {
    return (bfc->spare_count >= BFC_RECORDS_PER_CALL || ji_bfc_records_add(bfc)) &&
           (bfc->slots.count <= bfc->slots.mask / 4 ||
            ji_hash_resize(&bfc->slots, ji_hash_bits(&bfc->slots) + 1, sizeof(bfc_slot_t)));
}

/* ---- Free chunks ---- */

/* A chunk of the bins that has so many bytes, and its bin; NULL where none is found at once. Of the
 * request's own bin, where chunks may be too small, the first is looked at: a size that was freed
 * and merged with nothing is found again. */
static inline bfc_chunk_t *bfc_find_fit(const bfc_stream_t *stream, size_t size_bytes,
                                        unsigned *bin) {
    unsigned own = bfc_bin_of(size_bytes), from = bfc_bin_from(size_bytes);
    if (from != own) {
        bfc_chunk_t *chunk = bfc_bins_first(&stream->bins, own);
        if (chunk != NULL && chunk->size_bytes >= size_bytes) {
            *bin = own;
            return chunk;
        }
    }

    *bin = bfc_bins_next(&stream->bins, from);
    return *bin < BFC_BIN_COUNT
               ? JI_LIST_OBJECT(stream->bins.chunks[*bin].ring.next, bfc_chunk_t, link)
               : NULL;
}

bfc_chunk_t *ji_bfc_cut_front(bfc_t *bfc, bfc_chunk_t *chunk, size_t front_bytes) {
    bfc_bins_t *bins = &bfc_stream_of_chunk(bfc, chunk)->bins;
    unsigned bin = bfc_bin_of(chunk->size_bytes);
    bfc_chunk_t *rest = bfc_record_take(bfc);

    *rest = *chunk;
    rest->address += front_bytes;
    rest->size_bytes -= front_bytes;
    rest->left = chunk;
    rest->right->left = rest;
    chunk->size_bytes = front_bytes;
    chunk->right = rest;

    bfc_bins_move(bins, chunk, bin);
    bfc_bins_insert(bins, rest, bfc_bin_of(rest->size_bytes));
    return rest;
}

/* Makes a chunk to be handed out of a free one of `bin`, or of its front. */
static inline bfc_chunk_t *bfc_carve(bfc_t *bfc, bfc_stream_t *stream, bfc_chunk_t *chunk,
                                     unsigned bin, size_t need) {
    size_t rest = chunk->size_bytes - need;
    if (rest >= BFC_GRANULE_BYTES && (rest >= need || rest >= BFC_MOST_LEFT_OVER_BYTES ||
                                      (bfc->splits_tightly && rest >= need / BFC_TIGHT_FRACTION))) {
        bfc_chunk_t *front = bfc_record_take(bfc), *left = chunk->left;
        front->address = chunk->address;
        front->size_bytes = need;
        front->left = left;
        front->right = chunk;
        left->right = front;
        chunk->left = front;

        chunk->address += need;
        chunk->size_bytes = rest;
        bfc->free_bytes -= need;
        bfc_bins_move(&stream->bins, chunk, bin);
        chunk = front;
    } else {
        bfc->free_bytes -= chunk->size_bytes;
        bfc_bins_remove(&stream->bins, chunk, bin);
    }

    chunk->where = BFC_TAKEN;
    bfc_slot_enter(bfc, chunk);
    return chunk;
}

/* ---- Quick lists ---- */

static __attribute__((noinline)) void bfc_quick_empty(bfc_t *bfc, bfc_stream_t *stream,
                                                      bfc_quick_t *quick) {
    for (bfc_chunk_t *chunk = quick->first, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        --bfc->quick_count;
        bfc_slot_leave(bfc, bfc_slot_find(bfc, (void *)chunk->address));
        bfc_settle(bfc, stream, chunk, stream->index != 0 ? chunk->quick_serial : 0);
    }
    quick->first = NULL;
}

static void bfc_flush_stream(bfc_t *bfc, bfc_stream_t *stream) {
    bool *used = stream->quick_used, *end = used + BFC_QUICK_SLOTS;
    while ((used = memchr(used, true, (size_t)(end - used))) != NULL) {
        bfc_quick_empty(bfc, stream, &stream->quick[used - stream->quick_used]);
        *used++ = false;
    }
}

void ji_bfc_flush(bfc_t *bfc) {
    for (uint32_t s = 0; bfc->quick_count != 0 && s < bfc->stream_count; ++s)
        if (bfc->streams[s] != NULL)
            bfc_flush_stream(bfc, bfc->streams[s]);
}

/* ---- Allocating ---- */

/* A chunk that is taken goes to the caller. */
static inline void *bfc_hand_out(bfc_t *bfc, bfc_chunk_t *chunk, size_t size_bytes) {
    ji_level_rise(&bfc->granted, chunk->size_bytes);
    ji_level_rise(&bfc->requested, size_bytes);
    chunk->requested_bytes = size_bytes;
    chunk->tag = ji_tag_current;
    return (void *)chunk->address;
}

static inline size_t bfc_round(size_t size_bytes) {
    return (size_bytes + BFC_GRANULE_BYTES - 1) & ~(BFC_GRANULE_BYTES - 1);
}

/* A chunk that the bins give at once, of the stream's own or of those for all. */
static inline bfc_chunk_t *bfc_find_at_once(const bfc_t *bfc, const bfc_stream_t *own,
                                            size_t size_bytes, unsigned *bin) {
    bfc_chunk_t *chunk = bfc_find_fit(own, size_bytes, bin);
    return JI_LIKELY(chunk != NULL) || own == bfc->ready
               ? chunk
               : bfc_find_fit(bfc->ready, size_bytes, bin);
}

static __attribute__((noinline)) jstatus_t bfc_allocate_binned(bfc_t *bfc, bfc_stream_t *own,
                                                               size_t size_bytes, size_t alignment,
                                                               jstream_t *stream, void **pointer) {
    if (JI_UNLIKELY(!bfc_has_room(bfc)) && !bfc_make_room(bfc))
        return ji_refuse_bookkeeping();

    size_t need = bfc_round(size_bytes);
    /* So much serves wherever it begins. */
    size_t room = alignment > BFC_GRANULE_BYTES ? need + alignment - BFC_GRANULE_BYTES : need;

    unsigned bin;
    bfc_chunk_t *chunk = bfc_find_at_once(bfc, own, room, &bin);

    if (chunk != NULL && chunk->size_bytes / BFC_QUICK_SPARES >= room &&
        bfc_quick_bytes(bfc) >= room) {
        ji_bfc_flush(bfc);
        chunk = bfc_find_at_once(bfc, own, room, &bin);
    }

    if (JI_UNLIKELY(chunk == NULL)) {
        JTRY_RETURN(ji_bfc_search(bfc, own, stream, need, alignment, &chunk));
        bin = bfc_bin_of(chunk->size_bytes);
    }

    size_t front = -chunk->address & (alignment - 1);
    if (JI_UNLIKELY(front != 0)) {
        chunk = ji_bfc_cut_front(bfc, chunk, front);
        bin = bfc_bin_of(chunk->size_bytes);
    }

    *pointer =
        bfc_hand_out(bfc, bfc_carve(bfc, bfc->streams[chunk->where], chunk, bin, need), size_bytes);
    return JSTATUS_SUCCESS;
}

/* The short way: from a quick list. False: it has none that serves. */
static inline bool bfc_allocate_quick(bfc_t *bfc, bfc_stream_t *own, size_t size_bytes,
                                      size_t alignment, void **pointer) {
    size_t need = bfc_round(size_bytes);
    bfc_quick_t *quick = &own->quick[bfc_quick_number(need)];
    bfc_chunk_t *chunk = quick->first;
    if (chunk == NULL || quick->size_bytes != need || (chunk->address & (alignment - 1)) != 0)
        return false;

    quick->first = chunk->next;
    --bfc->quick_count;
    *pointer = bfc_hand_out(bfc, chunk, size_bytes);
    return true;
}

static inline jstatus_t bfc_allocate_for(bfc_t *bfc, bfc_stream_t *own, size_t size_bytes,
                                         size_t alignment, jstream_t *stream, void **pointer) {
    return bfc_allocate_quick(bfc, own, size_bytes, alignment, pointer)
               ? JSTATUS_SUCCESS
               : bfc_allocate_binned(bfc, own, size_bytes, alignment, stream, pointer);
}

static __attribute__((noinline)) jstatus_t bfc_allocate_on(bfc_t *bfc, size_t size_bytes,
                                                           size_t alignment, jstream_t *stream,
                                                           void **pointer) {
    bfc_stream_t *own = NULL;
    jstatus_t status = ji_bfc_stream_of(bfc, stream, &own);
    return status == JSTATUS_SUCCESS
               ? bfc_allocate_for(bfc, own, size_bytes, alignment, stream, pointer)
               : status;
}

static jstatus_t bfc_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream,
                              void **pointer) {
    bfc_t *bfc = context;
    return ji_stream_is_inline(&bfc->frontier, stream)
               ? bfc_allocate_for(bfc, bfc->ready, size_bytes, alignment, stream, pointer)
               : bfc_allocate_on(bfc, size_bytes, alignment, stream, pointer);
}

/* ---- Freeing ---- */

static __attribute__((noinline)) jstatus_t bfc_refuse(const bfc_t *bfc, const void *pointer,
                                                      size_t size_bytes, const bfc_slot_t *slot) {
    if (slot != NULL && bfc_is_live(slot->chunk))
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "allocator \"%s\": %p, tagged \"%s\", has %zu bytes and is given back with "
                       "%zu",
                       bfc->name, pointer, jtag_name(slot->chunk->tag),
                       slot->chunk->requested_bytes, size_bytes);

    jallocation_t around;
    if (ji_bfc_find((void *)(uintptr_t)bfc, pointer, &around) == JSTATUS_SUCCESS)
        return ji_fail(JSTATUS_NOT_FOUND,
                       "allocator \"%s\": %p lies inside the block at %p, tagged \"%s\", and is no "
                       "beginning of one",
                       bfc->name, pointer, around.pointer, jtag_name(around.tag));

    return ji_refuse_unknown(bfc->name, pointer, "already");
}

static __attribute__((noinline)) void bfc_deallocate_binned(bfc_t *bfc, bfc_stream_t *own,
                                                            bfc_slot_t *slot, uint64_t serial) {
    bfc_chunk_t *chunk = slot->chunk;
    size_t size = bfc_round(chunk->requested_bytes), freed_bytes = chunk->size_bytes;
    bfc_quick_t *quick = &own->quick[bfc_quick_number(size)];

    ji_level_fall(&bfc->granted, chunk->size_bytes);
    ji_level_fall(&bfc->requested, chunk->requested_bytes);
    bfc_slot_leave(bfc, slot);

    if (quick->size_bytes != size) { /* the slot is for the size that was freed last */
        if (JI_UNLIKELY(quick->first != NULL))
            bfc_quick_empty(bfc, own, quick);
        quick->size_bytes = size;
    }

    bfc_settle(bfc, own, chunk, serial);
    bfc_tick(bfc, freed_bytes);
}

/* The short way: into a quick list. False: it is not for that size, or there are enough. */
static inline bool bfc_deallocate_quick(bfc_t *bfc, bfc_stream_t *own, bfc_chunk_t *chunk) {
    size_t size = bfc_round(chunk->requested_bytes);
    unsigned number = bfc_quick_number(size);
    bfc_quick_t *quick = &own->quick[number];
    if (quick->size_bytes != size || bfc->quick_count >= BFC_QUICK_MOST_CHUNKS)
        return false;

    ji_level_fall(&bfc->granted, chunk->size_bytes);
    ji_level_fall(&bfc->requested, chunk->requested_bytes);
    chunk->requested_bytes = 0;
    chunk->next = quick->first;
    quick->first = chunk;
    own->quick_used[number] = true;
    ++bfc->quick_count;
    return true;
}

static void bfc_deallocate_for(bfc_t *bfc, bfc_stream_t *own, bfc_slot_t *slot, uint64_t serial) {
    bfc_chunk_t *chunk = slot->chunk;
    if (bfc_deallocate_quick(bfc, own, chunk))
        chunk->quick_serial = serial;
    else
        bfc_deallocate_binned(bfc, own, slot, serial);
}

static jstatus_t bfc_deallocate_on(bfc_t *bfc, bfc_slot_t *slot, jstream_t *stream) {
    bfc_stream_t *own;
    uint64_t serial;
    jstatus_t status = ji_bfc_stream_mark(bfc, stream, &own, &serial);
    if (status == JSTATUS_SUCCESS)
        bfc_deallocate_for(bfc, own, slot, serial);
    return status;
}

/* The slot of a live block of that size; NULL where there is none. No block has 0 bytes. */
static inline bfc_slot_t *bfc_slot_of_live(const bfc_t *bfc, const void *pointer,
                                           size_t size_bytes) {
    bfc_slot_t *slot = bfc_slot_find(bfc, pointer);
    return JI_LIKELY(slot != NULL && slot->chunk->requested_bytes == size_bytes) ? slot : NULL;
}

static jstatus_t bfc_deallocate(void *context, void *pointer, size_t size_bytes,
                                jstream_t *stream) {
    bfc_t *bfc = context;
    bfc_slot_t *slot = bfc_slot_of_live(bfc, pointer, size_bytes);
    if (slot == NULL)
        return bfc_refuse(bfc, pointer, size_bytes, bfc_slot_find(bfc, pointer));

    if (!ji_stream_is_inline(&bfc->frontier, stream))
        return bfc_deallocate_on(bfc, slot, stream);
    bfc_deallocate_for(bfc, bfc->ready, slot, 0);
    return JSTATUS_SUCCESS;
}

/* ---- Entries ---- */

/* Into the object's books what the policy does not count by itself. */
static inline void bfc_count(jallocator_t *self, size_t size_bytes) {
    ++self->books.allocation_count;
    if (JI_UNLIKELY(size_bytes > self->books.largest_request_bytes))
        self->books.largest_request_bytes = size_bytes;
}

/* Whether the clock is to be looked at with this allocation, which goes the long way then. */
static inline bool bfc_looks_at_clock(const jallocator_t *self) {
    return (self->books.allocation_count & (BFC_CLOCK_CALLS - 1)) == 0;
}

/* The short way of a call on the NULL stream stands alone: what it counts is counted here, and
 * whatever is rarer is a call in its last place, so that it has no frame. What is live, and how
 * much, the policy counts by itself (bfc_get_stats). */
static inline bool bfc_allocate_at_once(jallocator_t *self, size_t size_bytes, size_t alignment,
                                        const jstream_t *stream, void **pointer) {
    bfc_t *bfc = self->context;
    bfc_stream_t *own = bfc->at_once;
    if (JI_UNLIKELY(stream != NULL || own == NULL || bfc_looks_at_clock(self)) ||
        !bfc_allocate_quick(bfc, own, size_bytes, alignment, pointer))
        return false;

    bfc_count(self, size_bytes);
    return true;
}

/* The slot of a block that the short way may take back; NULL where it may not. */
static inline bfc_slot_t *bfc_slot_at_once(const jallocator_t *self, const void *pointer,
                                           size_t size_bytes, const jstream_t *stream) {
    const bfc_t *bfc = self->context;
    return JI_UNLIKELY(stream != NULL || bfc->at_once == NULL)
               ? NULL
               : bfc_slot_of_live(bfc, pointer, size_bytes);
}

static __attribute__((noinline)) jstatus_t
bfc_single_allocate_any(jallocator_t *self, size_t size_bytes, size_t alignment, jstream_t *stream,
                        void **pointer) {
    bool looks = bfc_looks_at_clock(self);
    jstatus_t status = entry_take(self, size_bytes, alignment, stream, pointer, bfc_allocate);
    if (status == JSTATUS_SUCCESS)
        bfc_count(self, size_bytes);
    if (looks)
        ji_bfc_age(self->context);
    if (status != JSTATUS_SUCCESS)
        ++self->books.failure_count;
    return status;
}

static jstatus_t bfc_single_allocate(jallocator_t *self, size_t size_bytes, size_t alignment,
                                     jstream_t *stream, void **pointer) {
    return bfc_allocate_at_once(self, size_bytes, alignment, stream, pointer)
               ? JSTATUS_SUCCESS
               : bfc_single_allocate_any(self, size_bytes, alignment, stream, pointer);
}

static jstatus_t bfc_single_deallocate(jallocator_t *self, void *pointer, size_t size_bytes,
                                       jstream_t *stream) {
    bfc_t *bfc = self->context;
    bfc_slot_t *slot = bfc_slot_at_once(self, pointer, size_bytes, stream);
    if (JI_UNLIKELY(slot == NULL))
        return bfc_deallocate(bfc, pointer, size_bytes, stream);

    if (!bfc_deallocate_quick(bfc, bfc->at_once, slot->chunk))
        bfc_deallocate_binned(bfc, bfc->at_once, slot, 0);
    return JSTATUS_SUCCESS;
}

/* The lock is this thread's by its bias, or anybody's; either way it is let go at the end. */
static __attribute__((noinline)) jstatus_t
bfc_locked_allocate_any(jallocator_t *self, size_t size_bytes, size_t alignment, jstream_t *stream,
                        void **pointer) {
    jstatus_t status = bfc_single_allocate_any(self, size_bytes, alignment, stream, pointer);
    ji_lock_release(&self->lock);
    return status;
}
static __attribute__((noinline)) jstatus_t
bfc_locked_deallocate_any(jallocator_t *self, void *pointer, size_t size_bytes, jstream_t *stream) {
    jstatus_t status = bfc_deallocate(self->context, pointer, size_bytes, stream);
    ji_lock_release(&self->lock);
    return status;
}

static __attribute__((noinline)) jstatus_t bfc_locked_deallocate_binned(jallocator_t *self,
                                                                        bfc_slot_t *slot) {
    bfc_t *bfc = self->context;
    bfc_deallocate_binned(bfc, bfc->at_once, slot, 0);
    ji_lock_release(&self->lock);
    return JSTATUS_SUCCESS;
}

static __attribute__((noinline)) jstatus_t bfc_shared_allocate(jallocator_t *self,
                                                               size_t size_bytes, size_t alignment,
                                                               jstream_t *stream, void **pointer) {
    ji_lock_acquire_slowly_(&self->lock);
    jstatus_t status = bfc_single_allocate(self, size_bytes, alignment, stream, pointer);
    ji_lock_release(&self->lock);
    return status;
}
static __attribute__((noinline)) jstatus_t
bfc_shared_deallocate(jallocator_t *self, void *pointer, size_t size_bytes, jstream_t *stream) {
    ji_lock_acquire_slowly_(&self->lock);
    jstatus_t status = bfc_single_deallocate(self, pointer, size_bytes, stream);
    ji_lock_release(&self->lock);
    return status;
}

static jstatus_t bfc_locked_allocate(jallocator_t *self, size_t size_bytes, size_t alignment,
                                     jstream_t *stream, void **pointer) {
    if (JI_UNLIKELY(!ji_lock_enter_biased_(&self->lock)))
        return bfc_shared_allocate(self, size_bytes, alignment, stream, pointer);
    if (!bfc_allocate_at_once(self, size_bytes, alignment, stream, pointer))
        return bfc_locked_allocate_any(self, size_bytes, alignment, stream, pointer);

    ji_lock_release_biased_(&self->lock);
    return JSTATUS_SUCCESS;
}

static jstatus_t bfc_locked_deallocate(jallocator_t *self, void *pointer, size_t size_bytes,
                                       jstream_t *stream) {
    if (JI_UNLIKELY(!ji_lock_enter_biased_(&self->lock)))
        return bfc_shared_deallocate(self, pointer, size_bytes, stream);

    bfc_t *bfc = self->context;
    bfc_slot_t *slot = bfc_slot_at_once(self, pointer, size_bytes, stream);
    if (JI_UNLIKELY(slot == NULL))
        return bfc_locked_deallocate_any(self, pointer, size_bytes, stream);
    if (!bfc_deallocate_quick(bfc, bfc->at_once, slot->chunk))
        return bfc_locked_deallocate_binned(self, slot);

    ji_lock_release_biased_(&self->lock);
    return JSTATUS_SUCCESS;
}

static const ji_entry_t bfc_single = {bfc_single_allocate, bfc_single_deallocate};
static const ji_entry_t bfc_locked = {bfc_locked_allocate, bfc_locked_deallocate};

void ji_bfc_pass_time(jallocator_t *allocator) {
    ji_policy_enter(allocator);
    ji_bfc_age(allocator->context);
    ji_policy_leave(allocator);
}

/* ---- Statistics and life ---- */

static size_t bfc_usable_size(void *context, const void *pointer, size_t size_bytes) {
    const bfc_slot_t *slot = bfc_slot_find(context, pointer);
    return slot != NULL ? slot->chunk->size_bytes : size_bytes;
}

static void bfc_get_stats(void *context, jallocator_stats_t *stats) {
    bfc_t *bfc = context;
    ji_bfc_flush(bfc);

    stats->limit_bytes = bfc->limit_bytes != SIZE_MAX ? bfc->limit_bytes : 0;
    stats->reserved_bytes = bfc_held_bytes(bfc);
    stats->peak_reserved_bytes = bfc->peak_held_bytes;
    stats->decommitted_bytes = bfc->decommitted_bytes;
    stats->free_bytes = bfc->free_bytes;
    stats->live_count = bfc->slots.count;
    stats->in_use_bytes = ji_level_now(&bfc->requested);
    stats->peak_in_use_bytes = bfc->requested.peak_bytes;
    stats->granted_bytes = ji_level_now(&bfc->granted);
    stats->peak_granted_bytes = bfc->granted.peak_bytes;
    stats->largest_free_bytes = ji_bfc_largest_free(bfc);
}

static void bfc_clear_stats(void *context) {
    bfc_t *bfc = context;
    bfc->peak_held_bytes = bfc_held_bytes(bfc);
    ji_level_clear(&bfc->granted);
    ji_level_clear(&bfc->requested);
}

static void bfc_forget_stream(void *context, jstream_t *stream) {
    bfc_t *bfc = context;
    ji_bfc_flush(bfc);
    ji_frontier_forget(&bfc->frontier, stream);
    ji_bfc_absorb(bfc);
}

static void bfc_fini(bfc_t *bfc) {
    ji_frontier_fini(&bfc->frontier);
    for (uint32_t i = 0; i < bfc->stream_count; ++i)
        ji_metadata_free(bfc->streams[i]);
    ji_metadata_free(bfc->streams);
    ji_metadata_free(bfc->decommitted);

    for (bfc_block_t *block = bfc->blocks, *next; block != NULL; block = next) {
        next = block->next;
        ji_metadata_free(block);
    }

    ji_hash_fini(&bfc->slots);
    ji_metadata_free(bfc);
}

static void bfc_destroy(void *context) {
    bfc_t *bfc = context;
    if (ji_bfc_trim(bfc, 0) != JSTATUS_SUCCESS)
        jlog_write(JLOG_WARNING, __func__, "allocator \"%s\": %zu bytes were not given back: %s",
                   bfc->name, bfc->reserved_bytes, jstatus_last_message());

    bfc_fini(bfc);
}

/* ---- Creation ---- */

static jstatus_t bfc_check_options(const ji_request_t *request, const jbfc_options_t *options) {
    if (options->threads > JALLOCATOR_THREADS_LOCK)
        return ji_fail(JSTATUS_INVALID_VALUE, "bfc \"%s\": threads is %d, must be none or lock",
                       request->name, (int)options->threads);
    JTRY_RETURN(ji_option_check_bytes(request, "region_bytes", options->region_bytes));
    if (ji_option(options->growth_percent, BFC_GROWTH_PERCENT) > 1000)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "bfc \"%s\": growth_percent is %zu, must be at most 1000", request->name,
                       options->growth_percent);
    if (options->all_at_once &&
        (options->limit_bytes == JALLOC_DEFAULT || options->limit_bytes >= JALLOC_NONE))
        return ji_fail(JSTATUS_INVALID_VALUE, "bfc \"%s\": all_at_once needs limit_bytes",
                       request->name);

    return JSTATUS_SUCCESS;
}

/* What was asked for, defaults filled in. */
static void bfc_configure(bfc_t *bfc, const ji_request_t *request, const jbfc_options_t *options) {
    bfc->below = request->below;
    bfc->below_is_ordered = ji_allocator_gives_in_order(request->below);
    bfc->below_coalesces = ji_allocator_coalesces(request->below);
    /* Pages are of one block of below: chunks that lie in two would have to be told apart. */
    bfc->page_bytes = bfc->below_coalesces ? 0 : ji_allocator_page_bytes(request->below);
    bfc->now = ji_bfc_clock();

    bfc->limit_bytes = ji_option(options->limit_bytes, JALLOC_UNLIMITED);
    if (bfc->limit_bytes != JALLOC_UNLIMITED)
        bfc->limit_bytes &= ~(BFC_GRANULE_BYTES - 1);
    bfc->region_bytes =
        options->region_bytes != 0
            ? (options->region_bytes + BFC_GRANULE_BYTES - 1) & ~(BFC_GRANULE_BYTES - 1)
            : BFC_FIRST_REGION_BYTES;

    bfc->growth_percent = ji_option(options->growth_percent, BFC_GROWTH_PERCENT);
    bfc->all_at_once = options->all_at_once;
    bfc->keep_regions = options->keep_regions;
    bfc->splits_tightly = options->split_tightly || bfc_decommits(bfc);

    strncpy(bfc->name, request->name, JALLOCATOR_NAME_BYTES - 1);
}

static jstatus_t bfc_create(const ji_request_t *request, jallocator_t **out) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops,
        .allocate = bfc_allocate,
        .deallocate = bfc_deallocate,
        .usable_size = bfc_usable_size,
        .find = ji_bfc_find,
        .visit = ji_bfc_visit,
        .get_stats = bfc_get_stats,
        .clear_stats = bfc_clear_stats,
        .trim = ji_bfc_trim,
        .check = ji_bfc_check,
        .forget_stream = bfc_forget_stream,
        .destroy = bfc_destroy,
    };

    const jbfc_options_t *options = request->options;
    bfc_t *bfc = NULL;
    jstatus_t status;

    JTRY(bfc_check_options(request, options));
    JTRY_ALLOC(bfc = ji_metadata_zalloc(sizeof *bfc));

    ji_list_init(&bfc->regions);
    ji_frontier_init(&bfc->frontier, request->device);
    JTRY_ALLOC(bfc->streams = ji_metadata_zalloc(sizeof(bfc->streams[0])));
    bfc->stream_count = 1;
    JTRY_ALLOC(bfc->ready = ji_bfc_stream_at(bfc, 0));

    if (!ji_hash_resize(&bfc->slots, BFC_FIRST_SLOTS_BITS, sizeof(bfc_slot_t))) {
        status =
            ji_fail(JSTATUS_MEMORY_ERROR, "bfc \"%s\": no memory for bookkeeping", request->name);
        goto done;
    }

    bfc_configure(bfc, request, options);

    ji_traits_t traits = {.name = request->name,
                          .below = request->below,
                          .threads = options->threads != JALLOCATOR_THREADS_DEFAULT
                                         ? options->threads
                                         : JALLOCATOR_THREADS_LOCK,
                          .kind = &ji_kind_bfc};
    traits.entry = traits.threads == JALLOCATOR_THREADS_LOCK ? &bfc_locked : &bfc_single;

    JTRY(ji_allocator_make(&ops, bfc, &traits, out));
    /* Who keeps call traces is told of every block. */
    if (ji_stream_is_inline(&bfc->frontier, NULL) && (*out)->call_traces == NULL)
        bfc->at_once = bfc->ready;
    bfc = NULL;
done:
    if (bfc != NULL)
        bfc_fini(bfc);
    return status;
}

static const jallocator_key_t bfc_keys[] = {
    JI_THREADS_KEY,
    {"limit", "SIZE|none|unlimited", "unlimited", "most that is taken from below"},
    {"region", "SIZE", "1MiB", "least that is taken from below at once"},
    {"growth", "COUNT|none", "6",
     "each region has at least this many percent of what is reserved; 100 doubles"},
    {"tight", "BOOL", "false",
     "splits where an eighth of the request is left over, not only as much again"},
    {"all_at_once", "BOOL", "false", "takes the limit at the first allocation, and never more"},
    {"keep_regions", "BOOL", "false",
     "whole free regions and free pages are given back by trim alone"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t bfc_members[] = {
    {JI_KEY_CHOICE, offsetof(jbfc_options_t, threads), JALLOCATOR_THREADS_NONE},
    {JI_KEY_SIZE, offsetof(jbfc_options_t, limit_bytes), 0},
    {JI_KEY_SIZE, offsetof(jbfc_options_t, region_bytes), 0},
    {JI_KEY_COUNT, offsetof(jbfc_options_t, growth_percent), 0},
    {JI_KEY_BOOL, offsetof(jbfc_options_t, split_tightly), 0},
    {JI_KEY_BOOL, offsetof(jbfc_options_t, all_at_once), 0},
    {JI_KEY_BOOL, offsetof(jbfc_options_t, keep_regions), 0},
};
static const jbfc_options_t bfc_defaults = JBFC_OPTIONS_INIT;

const ji_kind_t ji_kind_bfc = {
    .public = {"bfc", JALLOCATOR_POLICY,
               "best fit with coalescing, after TensorFlow's; constant-time search", bfc_keys},
    .members = bfc_members,
    .options_type = "jbfc_options_t",
    .options_bytes = sizeof bfc_defaults,
    .defaults = &bfc_defaults,
    .create = bfc_create,
};

jstatus_t jallocator_create_bfc(jallocator_t *below, const jbfc_options_t *options,
                                jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_bfc, NULL, below, options, allocator);
}
