/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_ALLOCATORS_BFC_BFC_H
#define JALLOC_MEMORY_ALLOCATORS_BFC_BFC_H

/* Best fit with coalescing: blocks of all sizes from a few large regions, after TensorFlow's
 * BFCAllocator. All records are beside the memory, so it may be a device's.
 *
 * Memory comes from below in regions. A region is a run of chunks, live or free, each a multiple of
 * 256 bytes; their records are linked in the order of addresses, closed to a ring by the region's
 * border:
 *
 *     region   | live | free        | live | live | free          |
 *     records  border <-> a <-> b <-> c <-> d <-> e <-> border          b, e: also in bins
 *
 * TensorFlow searches a bin's chunks for the smallest that fits, so a call's time depends on what
 * is free. Here a bin is found in constant time, and any chunk of it serves (bfc_bins.h).
 *
 * A region has a few percent of what is reserved, or what the request needs. Before more is
 * reserved than ever before, free regions are given back: a program whose blocks change their sizes
 * does not keep what it used to need.
 *
 * Streams (frontier.h): free chunks are in the bins of the stream that they were last used on, and
 * merged with neighbours of the same stream, behind the later fence of the two. Index 0 is what all
 * may use. A stream takes from its own bins, then from index 0, where chunks of other streams are
 * moved as soon as their fences have been passed.
 *
 * Pages: where below takes back the memory of pages whose addresses stay (the host's does), free
 * chunks have two states. Those that have memory are used first; those that have none are whole
 * pages in bins of their own, as if they were behind a stream of their own (bfc_pages.c).
 *
 * Always true, and looked at by ji_bfc_check:
 *
 *     - the chunks of a region fill it without a gap, and know their neighbours
 *     - a free chunk is in the bin of its size and stream, any other in the table of slots, by its
 *       address
 *     - no two neighbours are free behind the same stream
 *     - what is reserved is free, granted or in quick lists
 *
 * To read in this order:
 *
 *     bfc_bins.h       a chunk's record, and the bins
 *     bfc.c            allocating and freeing in constant time
 *     bfc_search.c     what is done where the bins do not serve at once
 *     bfc_streams.c    the bins of each stream
 *     bfc_reserve.c    regions, taken from below and given back
 *     bfc_pages.c      pages within them, whose memory is given back
 *     bfc_regions.c    regions that touch, as one
 *     bfc_inspect.c    what there is, and whether it still fits together */

#include "core/hash.h"
#include "jalloc/policy.h"
#include "memory/allocators/bfc/bfc_bins.h"
#include "memory/frontier.h"
#include "memory/memory.h"

/* Freed chunks that were not coalesced, because chunks of that request come and go. */
typedef struct bfc_quick {
    /* Of the request, in whole granules, for which the slot is used; 0: never used. */
    size_t size_bytes;
    bfc_chunk_t *first; /* last freed, first used */
} bfc_quick_t;

#define BFC_QUICK_BITS 8
#define BFC_QUICK_SLOTS (1u << BFC_QUICK_BITS)

/* The slot of a size, in whole granules. */
static inline unsigned bfc_quick_number(size_t size_bytes) {
    return (unsigned)ji_hash_spread(size_bytes, 64 - BFC_QUICK_BITS);
}

/* What is free behind the work of one stream. */
typedef struct bfc_stream {
    uint32_t index; /* in the frontier, and of itself in bfc_t.streams; 0: usable by all */
    /* Chunks whose fence is up to here were moved to index 0; UINT64_MAX: to be looked at again.
     * Quick lists are emptied before, so what is freed later, and so all they have, is behind
     * it. */
    uint64_t absorbed;
    bfc_bins_t bins;
    bool quick_used[BFC_QUICK_SLOTS]; /* quick[i] may have chunks; so many bytes: one store each */
    bfc_quick_t quick[BFC_QUICK_SLOTS];
} bfc_stream_t;

/* From addresses to the chunks that begin there and are not in bins: a table at most a quarter
 * full. */
typedef struct bfc_slot {
    uintptr_t address; /* the key */
    bfc_chunk_t *chunk;
} bfc_slot_t;

typedef struct bfc_block bfc_block_t; /* of records */

typedef struct bfc {
    /* Used by every call. No two neighbours change in one: a compiler would write both as one
     * vector, and a narrower load soon after, or such a vector's after narrower stores, is a
     * store-forwarding stall. */
    bfc_stream_t *at_once; /* of whom a call on the NULL stream may take the short way; or NULL */
    ji_hash_t slots;       /* bfc_slot_t */
    size_t quick_count;    /* chunks in quick lists; the others of the slots are live */
    ji_level_t granted;    /* bytes of live chunks */
    ji_level_t requested;  /* of what was asked for */

    bfc_stream_t *ready; /* index 0 */
    bfc_chunk_t *spare;  /* records that are no chunk now */
    size_t spare_count;
    size_t free_bytes; /* in bins */
    bool splits_tightly;
    ji_frontier_t frontier;

    bfc_stream_t **streams; /* by index, [0] is ready; NULL: nothing was freed there yet */
    uint32_t stream_count;
    ji_list_t regions; /* their borders, the last one taken first */
    bfc_block_t *blocks;
    size_t record_count; /* in all blocks */
    jallocator_t *below;
    size_t limit_bytes;                      /* a multiple of the granule; SIZE_MAX: none */
    size_t reserved_bytes;                   /* of all regions */
    size_t peak_held_bytes, most_held_bytes; /* held: with memory; most: as peak, never cleared */
    bfc_stream_t *decommitted;               /* bins of chunks without memory; NULL: none yet */
    size_t decommitted_bytes;                /* in them */
    size_t page_bytes;                       /* of what can be decommitted; 0: nothing can */
    size_t way_bytes;                        /* may be given back yet to make way */
    size_t way_peak_bytes;                   /* the peak of what was granted, when last looked at */
    size_t countdown_bytes;                  /* to be freed before the clock is looked at */
    uint32_t now;                            /* in steps of BFC_AGE_STEP_MS, when it was last */
    size_t region_bytes;                     /* least of a region */
    size_t growth_percent; /* of what is reserved, that a further region has at least */
    bool all_at_once, keep_regions;
    bool below_is_ordered; /* what below gives is only ordered with the stream it was asked for */
    bool below_coalesces;  /* regions that touch may be used as one */
    char name[JALLOCATOR_NAME_BYTES];
} bfc_t;

static inline bool bfc_is_free(const bfc_chunk_t *chunk) { return chunk->where < BFC_BORDER; }
/* With memory, and nobody has to be waited for. */
static inline bool bfc_is_ready(const bfc_chunk_t *chunk) { return chunk->where == 0; }
static inline bool bfc_is_decommitted(const bfc_chunk_t *chunk) {
    return chunk->where == BFC_DECOMMITTED;
}
static inline bool bfc_is_live(const bfc_chunk_t *chunk) {
    return chunk->where == BFC_TAKEN && chunk->requested_bytes != 0;
}
static inline bool bfc_is_border(const bfc_chunk_t *chunk) { return chunk->where == BFC_BORDER; }

/* The slot of an address at which a chunk begins that is live or in a quick list; NULL where there
 * is none. */
static inline bfc_slot_t *bfc_slot_find(const bfc_t *bfc, const void *pointer) {
    return ji_hash_find(&bfc->slots, (uintptr_t)pointer, sizeof(bfc_slot_t));
}

/* ---- Records ---- */

/* What a call may need: a border and its first chunk, a front cut off to align, a rest. There
 * before it begins. */
#define BFC_RECORDS_PER_CALL 4

static inline bfc_chunk_t *bfc_record_take(bfc_t *bfc) {
    bfc_chunk_t *record = bfc->spare;
    bfc->spare = record->next;
    --bfc->spare_count;
    return record;
}

static inline void bfc_record_put(bfc_t *bfc, bfc_chunk_t *record) {
    record->next = bfc->spare;
    bfc->spare = record;
    ++bfc->spare_count;
}

/* More records; false without bookkeeping memory. */
bool ji_bfc_records_add(bfc_t *bfc);

/* ---- Free chunks ---- */

/* In whose bins a free chunk is. */
static inline bfc_stream_t *bfc_stream_of_chunk(const bfc_t *bfc, const bfc_chunk_t *chunk) {
    return bfc_is_decommitted(chunk) ? bfc->decommitted : bfc->streams[chunk->where];
}

/* Takes a free chunk out of its bin. Its record still says where it was. */
static inline void bfc_unbin(bfc_t *bfc, bfc_chunk_t *chunk) {
    bfc_bins_remove(&bfc_stream_of_chunk(bfc, chunk)->bins, chunk, bfc_bin_of(chunk->size_bytes));
    bfc->free_bytes -= chunk->size_bytes;
}

/* Puts a chunk that is in no bin into those of a stream, behind a fence; merges it with its
 * neighbours there. */
static inline void bfc_settle(bfc_t *bfc, bfc_stream_t *stream, bfc_chunk_t *chunk,
                              uint64_t serial) {
    bfc_chunk_t *left = chunk->left, *right = chunk->right;
    uint32_t index = stream->index;
    bfc->free_bytes += chunk->size_bytes;

    if (left->where == index) {
        unsigned bin = bfc_bin_of(left->size_bytes);
        left->size_bytes += chunk->size_bytes;
        if (left->serial < serial)
            left->serial = serial;
        bfc_record_put(bfc, chunk);

        if (right->where == index) {
            bfc_bins_remove(&stream->bins, right, bfc_bin_of(right->size_bytes));
            left->size_bytes += right->size_bytes;
            if (left->serial < right->serial)
                left->serial = right->serial;
            bfc_record_put(bfc, right);
            right = right->right;
        }

        left->right = right;
        right->left = left;
        left->age_of = bfc->now;
        bfc_bins_move(&stream->bins, left, bin);
    } else if (right->where == index) {
        unsigned bin = bfc_bin_of(right->size_bytes);
        right->address = chunk->address;
        right->size_bytes += chunk->size_bytes;
        right->left = left;
        left->right = right;
        if (right->serial < serial)
            right->serial = serial;
        bfc_record_put(bfc, chunk);
        right->age_of = bfc->now;
        bfc_bins_move(&stream->bins, right, bin);
    } else {
        chunk->where = index;
        chunk->age_of = bfc->now;
        chunk->serial = serial;
        bfc_bins_insert(&stream->bins, chunk, bfc_bin_of(chunk->size_bytes));
    }
}

/* Cuts the first `front_bytes` off a free chunk; both stay free. Returns the rest. */
bfc_chunk_t *ji_bfc_cut_front(bfc_t *bfc, bfc_chunk_t *chunk, size_t front_bytes);

/* What is in quick lists. */
static inline size_t bfc_quick_bytes(const bfc_t *bfc) {
    return bfc->reserved_bytes - bfc->free_bytes - ji_level_now(&bfc->granted);
}

/* Coalesces what is in quick lists. Afterwards no two neighbours that are free behind the same
 * stream exist. */
void ji_bfc_flush(bfc_t *bfc);

/* Finds a free chunk from which `need` bytes can be cut, where the bins gave none at once. */
jstatus_t ji_bfc_search(bfc_t *bfc, bfc_stream_t *own, jstream_t *stream, size_t need,
                        size_t alignment, bfc_chunk_t **found);

/* ---- Streams ---- */

/* The bins of an index of the frontier, made when it is first seen; NULL without bookkeeping
 * memory. */
bfc_stream_t *ji_bfc_stream_at(bfc_t *bfc, uint32_t index);
/* The bins of a stream. memory error. */
jstatus_t ji_bfc_stream_of(bfc_t *bfc, jstream_t *stream, bfc_stream_t **of);
/* The bins and the fence of a chunk that is freed on the stream now. Without bookkeeping memory for
 * the bins waits for the stream instead. As ji_frontier_mark. */
jstatus_t ji_bfc_stream_mark(bfc_t *bfc, jstream_t *stream, bfc_stream_t **of, uint64_t *serial);
/* Moves chunks whose fence has been passed to where all may use them; before, looks how far the
 * streams have come. */
void ji_bfc_absorb(bfc_t *bfc);
void ji_bfc_look_and_absorb(bfc_t *bfc);

/* ---- Pages ---- */

/* How long a chunk is free before its pages are decommitted, and how often that is looked at. */
#define BFC_AGE_MS 1000
#define BFC_AGE_STEP_MS 250
/* Shorter runs of pages are not worth a call of the system. */
#define BFC_LEAST_DECOMMITTED_BYTES ((size_t)16 << 10)

/* What is taken from below and has memory. */
static inline size_t bfc_held_bytes(const bfc_t *bfc) {
    return bfc->reserved_bytes - bfc->decommitted_bytes;
}
/* Held has changed. */
static inline void bfc_note_held(bfc_t *bfc) {
    size_t held = bfc_held_bytes(bfc);
    if (bfc->peak_held_bytes < held)
        bfc->peak_held_bytes = held;
    if (bfc->most_held_bytes < held)
        bfc->most_held_bytes = held;
}
/* Whether pages are decommitted without being asked. */
static inline bool bfc_decommits(const bfc_t *bfc) {
    return bfc->page_bytes != 0 && !bfc->keep_regions && !bfc->all_at_once;
}

/* Decommits pages that are free for all, until so many bytes are or none is left: the largest
 * chunks first, of those that are at least so many steps old. */
void ji_bfc_decommit(bfc_t *bfc, size_t bytes, uint32_t steps);
/* The first `front_bytes` of a decommitted chunk, whole pages, are ready. On failure nothing has
 * changed. As jallocator_ops_t.set_pages. */
jstatus_t ji_bfc_commit(bfc_t *bfc, bfc_chunk_t *chunk, size_t front_bytes);
/* Commits what a request needs, where one decommitted chunk has it: then it is found among the
 * chunks that are ready. Success as well where none has. */
jstatus_t ji_bfc_commit_for(bfc_t *bfc, size_t need, size_t alignment);
/* The time, in steps of BFC_AGE_STEP_MS. */
uint32_t ji_bfc_clock(void);
/* Decommits what has been free for long, if the time for that has come. */
void ji_bfc_age(bfc_t *bfc);
/* A chunk of so many bytes was freed. */
static inline void bfc_tick(bfc_t *bfc, size_t size_bytes) {
    /* A free of little counts as well. */
    if (JI_UNLIKELY(
            __builtin_sub_overflow(bfc->countdown_bytes, size_bytes + 1024, &bfc->countdown_bytes)))
        ji_bfc_age(bfc);
}

/* ---- Regions ---- */

/* Whether below had no more, or no room for so much: a way that needs less may still serve. */
static inline bool bfc_is_refusal(jstatus_t status) {
    return status == JSTATUS_MEMORY_ERROR || status == JSTATUS_INVALID_SIZE;
}

/* Takes a region that has room for the request: what it should have, or as much as is available, or
 * a tenth less than what was refused, and less again; at last the request alone. */
jstatus_t ji_bfc_grow(bfc_t *bfc, bfc_stream_t *own, jstream_t *stream, size_t need,
                      size_t alignment);
/* Gives free regions back, and the memory of free pages, as long as more would be held than ever
 * before with so many bytes more: memory that fell apart makes room for what grows in its place. */
void ji_bfc_make_way(bfc_t *bfc, size_t bytes);
/* Gives free regions back so that growth may succeed: where the limit refused it as many as it
 * takes, and none if all would not do; where below refused it all. Whether any was. */
bool ji_bfc_evict(bfc_t *bfc, size_t need);
/* Gives free regions back until at most so many bytes are free. A slot of the table of
 * functions. */
jstatus_t ji_bfc_trim(void *context, size_t keep_bytes);

/* Joins a region with its neighbours. */
void ji_bfc_region_meet(bfc_t *bfc, bfc_chunk_t *border);
/* Around what gives regions back: each as it was taken, where it can be; then those that touch as
 * one again. */
void ji_bfc_regions_part(bfc_t *bfc);
void ji_bfc_regions_join(bfc_t *bfc);

/* ---- Inspection ---- */

size_t ji_bfc_largest_free(const bfc_t *bfc);
/* Slots of the table of functions. */
jstatus_t ji_bfc_find(void *context, const void *pointer, jallocation_t *block);
void ji_bfc_visit(void *context, jallocation_visitor_t visitor, void *visitor_context);
jstatus_t ji_bfc_check(void *context);

#endif
