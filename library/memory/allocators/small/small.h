/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_ALLOCATORS_SMALL_SMALL_H
#define JALLOC_MEMORY_ALLOCATORS_SMALL_SMALL_H

/* Small blocks: segregated by size, in slabs, with a cache for each thread (after Bonwick and
 * Adams, "Magazines and Vmem", 2001, and Berger et al., "Hoard", 2000), with all state beside the
 * memory.
 *
 *     below      ...[ slab: 64 64 64 64 ...][ slab: 4096 4096 4096 ...]......[ large ]...
 *                      |                                                        |
 *     cells      [ size+tag | 0 | size+tag | 0 | ... ]  one for each block      ledger
 *
 * Requests up to largest_bytes are rounded up to a class: every multiple of the device's granule up
 * to 8, from there 8 classes for each doubling, so that less than a granule is lost, or at most an
 * eighth. Slabs begin at multiples of 16 KiB and their blocks are side by side, so a block is
 * aligned as far as its class's size is divisible by two; who needs more alignment gets a block of
 * a class that has it. What no class can give goes straight below, and is entered in a ledger.
 *
 * Each block has a cell in its slab's books, which says whether it is live, how large it was asked
 * to be and for whom. From an address, a table gives the slab, and a multiplication the cell. So a
 * pointer that is foreign, lies inside a block or was given back before, and a size that is not the
 * block's, are recognised at no extra cost. Only two threads that give the same block back at the
 * same moment are not: to see that would cost an atomic exchange for every free.
 *
 * A thread's first use of the allocator makes it a cache, from which nearly all is served without a
 * lock; caches are filled from, and emptied to, lists of all threads. Blocks in a cache were last
 * used on one stream; those that go to others go with a fence (frontier.h).
 *
 * The fast paths are compiled into programs: allocator.h has them, with the parts of the structs
 * that they know, which each begin the struct here that they are a part of (`seen`).
 *
 * Always true: a cache is written by its thread alone; a block is live, in one magazine, in one
 * bundle or free in its slab, and its cell says 0 where it is not live; a slab's description is
 * never freed before the allocator.
 *
 * Locks, in the order in which they may be taken: a class's, the registry's (all caches of the
 * process), the allocator's. What is below is called with a class's lock at most.
 *
 * To read in this order:
 *
 *     small.h             what the files share: cells, slabs, magazines, caches
 *     small_cache.c       a thread's cache, and the two fast paths
 *     small_central.c     what all threads share: slabs and bundles
 *     small_table.c       from addresses to slabs
 *     small_registry.c    which caches there are, and how they end
 *     small_counts.c      statistics, counted by thread
 *     small.c             the policy as a kind of allocator
 *     general.c           small blocks over best fit, as one allocator */

#include "jalloc/policy.h"
#include "memory/frontier.h"
#include "memory/memory.h"

/* Slabs begin at multiples of this; the table of slabs is keyed by it. */
#define SMALL_UNIT_SHIFT JALLOCATOR_UNIT_SHIFT_
#define SMALL_UNIT_BYTES ((size_t)1 << SMALL_UNIT_SHIFT)
/* The least granule of a device: class_of has one entry for each. */
#define SMALL_STEP_BYTES ((size_t)1 << JALLOCATOR_STEP_SHIFT_)
#define SMALL_MAX_LARGEST_BYTES ((size_t)1 << 20)
/* The fast paths serve no more. */
#define SMALL_INLINE_BYTES (JALLOCATOR_STEPS_ * SMALL_STEP_BYTES)
/* 8 below 9 granules, 8 for each doubling from there to the largest. */
#define SMALL_MAX_CLASSES 104
#define SMALL_NO_CLASS UINT32_MAX
#define SMALL_BUNDLE_ITEMS 64
/* A cache line: where two threads write to the same one they wait for each other. */
#define SMALL_LINE_BYTES ((uintptr_t)64)
#define SMALL_LINE_CELLS (SMALL_LINE_BYTES / sizeof(jallocator_cell_))
#define SMALL_FIRST_SLOTS 256 /* of the table of slabs */

/* Relaxed: of what one thread writes and others only look at. Builtins, for allocator.h is also
 * compiled as C++, which has no _Atomic. */
#define small_load(object) __atomic_load_n(&(object), __ATOMIC_RELAXED)
#define small_store(object, value) __atomic_store_n(&(object), (value), __ATOMIC_RELAXED)
#define small_load_acquire(object) __atomic_load_n(&(object), __ATOMIC_ACQUIRE)
#define small_store_release(object, value) __atomic_store_n(&(object), (value), __ATOMIC_RELEASE)

/* A block's page in the books. Whoever has the block has the cell, others only look. */
typedef jallocator_cell_ small_cell_t;

static inline void small_cell_enter(small_cell_t *cell, size_t size_bytes, jtag_t tag) {
    small_store(cell->size_and_tag, size_bytes | (uint64_t)tag << 32);
}
static inline size_t small_cell_size(const small_cell_t *cell) {
    return (uint32_t)small_load(cell->size_and_tag); /* 0: not live */
}
static inline jtag_t small_cell_tag(const small_cell_t *cell) {
    return (jtag_t)(small_load(cell->size_and_tag) >> 32);
}
/* It is live no more, and keeps its tag. */
static inline void small_cell_clear(small_cell_t *cell) {
    small_cell_enter(cell, 0, small_cell_tag(cell));
}

/* A free block with the address of its cell, so that handing it out needs no search. */
typedef jallocator_item_ small_item_t;

/* Blocks of one class, side by side. A slab's description outlives the slab and is used for another
 * one of the same size, until the allocator ends: so a search that passes it, without a lock, reads
 * nothing that was freed. A search reads `bytes` before `base`, and the two are written in the
 * opposite order: where they are not of one slab, the range they make is still that of a slab of
 * this description, which is not where the block that is searched for can be. */
typedef struct small_slab {
    /* Read without a lock: bytes that are size_bytes, or 0, there is no slab here now; cells that
     * begin a line. */
    jallocator_slab_ seen;
    uint32_t class_index, block_bytes;
    size_t size_bytes; /* constant */

    /* Under the class's lock. */
    void *books;    /* the memory of cells and free_bits */
    uint32_t count; /* blocks */
    uint32_t free_count;
    uint32_t first_word; /* before it no bit is set */
    uint64_t *free_bits; /* behind the cells: a bit for each block, set where it is free */
    ji_fence_t fence;    /* before this is passed its memory is the other streams' to leave alone */
    ji_link_t link;      /* among the class's partial or full ones */

    /* Under the allocator's lock. */
    struct small_slab *next_spare; /* descriptions without a slab */
    struct small_slab *next_made;  /* all descriptions */
    bool entered;                  /* is in the table */
} small_slab_t;

/* Free blocks that came from a thread's cache, behind one fence. */
typedef struct small_bundle {
    ji_link_t link; /* among the class's bundles, or its spare ones */
    ji_fence_t fence;
    uint32_t count;
    small_item_t items[SMALL_BUNDLE_ITEMS];
} small_bundle_t;

typedef struct small_class {
    ji_lock_t lock;                  /* guards everything below it */
    uint32_t block_bytes, alignment; /* constant */
    ji_list_t partial, full;         /* slabs with and without free blocks of their own */
    size_t slab_count, slab_bytes;   /* of all */
    size_t empty_count;              /* of the partial ones: nothing of them is in use */
    size_t free_count;               /* blocks free in slabs */
    size_t bundled_count;            /* blocks free in bundles */
    unsigned exchanges;              /* with caches */
    ji_list_t bundles, spare;        /* bundles, the newest first; and records of such */
    char apart[64];                  /* two classes share no cache line */
} small_class_t;

/* What one thread did: allocated minus freed by it, which is below zero where it frees others'
 * blocks, as a level (ji_level_t), and more. Blocks that left slabs and bundles, or below, minus
 * those that came back, are out: they are live or in a magazine. */
typedef jallocator_counts_ small_counts_t;

/* Free blocks of one class that a thread keeps for itself, the last freed on top. Written by the
 * thread alone; `bottom` is changed, with `top`, under the registry's lock, so that statistics see
 * how many there are. Below the bottom is an item of no block: that a magazine is empty shows in
 * what would be taken. */
typedef struct small_magazine {
    jallocator_magazine_ seen;
    small_item_t *bottom;
    uint32_t alignment, block_bytes; /* of the class */
} small_magazine_t;

static inline uint32_t small_magazine_count(const small_magazine_t *magazine) {
    return (uint32_t)(small_load_acquire(magazine->seen.top) - magazine->bottom);
}
static inline uint32_t small_magazine_capacity(const small_magazine_t *magazine) {
    return (uint32_t)(magazine->seen.end - magazine->bottom);
}
/* Gives a magazine these items, of which the first is of no block; `count` are there. Without a
 * capacity they may be NULL. */
void ji_small_magazine_set(small_magazine_t *magazine, small_item_t *items, uint32_t capacity,
                           uint32_t count);
/* Frees what it was given. */
void ji_small_magazine_free(small_magazine_t *magazine);

/* What a thread keeps of an allocator for one stream: blocks last used on it. */
typedef struct small_cache {
    /* The counts of all this thread's caches of the allocator are in the one that is in use. The
     * slabs that are near are those of its last frees; one may have gone since, or be elsewhere. */
    jallocator_cache_ seen;
    jstream_t *stream; /* SMALL_GONE when it was destroyed: the blocks are free for all */
    struct small *small;
    size_t room_bytes; /* may still be added to the magazines' capacities */
    uint32_t hand;     /* the next magazine to lose capacity to another */
    uint32_t misses;   /* of all magazines */
    unsigned epoch;    /* of the allocator, when the cache was last emptied for a trim */
    bool counting;     /* the counts are here */
    /* Of blocks between magazines and the central part. Goes up amid each: when they are out and in
     * no magazine any more, or not yet. */
    size_t transfer_count;

    /* Under the registry's lock. */
    size_t cleared_bytes;        /* by so much the peak is less, since statistics were cleared */
    bool leaving;                /* its thread is ending and is emptying it */
    struct small_thread *thread; /* NULL: it did not come through a fork */
    struct small_cache *next_of_thread;
    ji_link_t link; /* among the allocator's */
    char apart[64]; /* what other threads write shares no cache line with the magazines */
    small_magazine_t magazines[];
} small_cache_t;

/* Where a class's magazine is in a cache. */
static inline size_t small_magazine_offset(uint32_t class_index) {
    return offsetof(small_cache_t, magazines) + class_index * sizeof(small_magazine_t);
}

/* A stream that no caller can have. */
extern char ji_small_gone;
#define SMALL_GONE ((jstream_t *)&ji_small_gone)

/* The calling thread's caches. `allocator` is another thread's to clear, when it destroys the
 * allocator: a match proves that the allocator lives and that `cache` does, and without a match
 * nothing is followed. */
typedef struct small_thread {
    const jallocator_t *allocator; /* the last one used; NULL: none */
    small_cache_t *cache;          /* what was last used of it */
    jthread_hint_ *hint;           /* the same for the inline path, on the NULL stream */
    small_cache_t *first;          /* all its caches; under the registry's lock */
    bool ended;                    /* gets none any more */
} small_thread_t;
extern _Thread_local small_thread_t ji_small_thread __attribute__((tls_model("initial-exec")));

/* From addresses to slabs: open addressing with linear probing. It is read without a lock, so
 * entries do not move, as those of core/hash.h do. A slab is entered once for each unit it touches.
 * A table that has become too small stays until the allocator ends, for those who are reading
 * it. */
typedef struct small_table {
    size_t mask; /* slots - 1 */
    size_t used; /* slots that are or were taken; at most an eighth */
    struct small_table *older;
    /* &ji_small_nowhere: never taken; &ji_small_removed: not any more. */
    small_slab_t *slabs[];
} small_table_t;
extern small_slab_t ji_small_nowhere, ji_small_removed;

typedef struct small {
    /* Written once. */
    jallocator_t *allocator, *below;
    ji_entry_t straight; /* the object's own entry: for what the fast paths do not do */
    size_t largest_bytes, cache_bytes;
    uint32_t class_count;
    bool owns_all;     /* "general": what is below belongs to it and is shown as its own */
    uint8_t *class_of; /* [(size - 1) / SMALL_STEP_BYTES] */
    small_table_t *table;
    unsigned epoch;   /* of trims */
    ji_link_t link;   /* among all of the process; under the registry's lock */
    ji_list_t caches; /* under the registry's lock */
    char apart[64];

    ji_lock_t lock; /* guards everything below but the classes */
    ji_frontier_t frontier;
    ji_ledger_t ledger; /* of what went straight below */
    size_t reserved_bytes, peak_reserved_bytes;
    size_t peak_before_bytes; /* what the peak was said to be when a thread ended */
    small_counts_t counts;    /* of threads that have ended, or have no cache */
    small_slab_t *made, *spare;
    small_class_t classes[];
} small_t;

/* ---- Slabs ---- */

/* Where a search begins. Slabs are side by side more often than not, and so are their slots;
 * folding the address parts those that are a large power of two apart. */
static inline size_t small_table_slot(uintptr_t address, size_t mask) {
    return (address >> SMALL_UNIT_SHIFT ^ address >> (SMALL_UNIT_SHIFT + 9)) & mask;
}

/* Whether the address is in the slab; and how far behind its beginning. */
static inline bool small_slab_contains(const small_slab_t *slab, const void *pointer,
                                       size_t *offset) {
    size_t bytes = small_load_acquire(slab->seen.bytes);
    *offset = (uintptr_t)pointer - small_load(slab->seen.base);
    return *offset < bytes;
}

/* The slab around an address, NULL where there is none. */
static inline small_slab_t *small_slab_find(small_t *small, const void *pointer, size_t *offset) {
    small_table_t *table = small_load_acquire(small->table);
    for (size_t slot = small_table_slot((uintptr_t)pointer, table->mask);;
         slot = (slot + 1) & table->mask) {
        small_slab_t *slab = small_load_acquire(table->slabs[slot]);
        if (small_slab_contains(slab, pointer, offset))
            return slab;
        if (slab == &ji_small_nowhere)
            return NULL;
    }
}

/* The index of the block that begins `offset` bytes behind the slab's beginning; false where none
 * does. One product is quotient and remainder (Lemire, Kaser, Kurz, "Faster remainder by direct
 * computation", 2019): the reciprocal is ceil(2^64 / block_bytes), and both are less than 2^32. */
static inline bool small_slab_index(const small_slab_t *slab, size_t offset, size_t *index) {
    __extension__ typedef unsigned __int128 wide_t;
    wide_t product = (wide_t)slab->seen.reciprocal * offset;
    *index = (size_t)(product >> 64);
    return (uint64_t)product < slab->seen.reciprocal;
}

/* How many slots of the table a slab has. */
static inline size_t small_slab_units(const small_slab_t *slab) {
    return (slab->size_bytes + SMALL_UNIT_BYTES - 1) >> SMALL_UNIT_SHIFT;
}

/* The table, under the allocator's lock. */
small_table_t *ji_small_table_make(size_t slots);
/* Makes sure of room for so many units more; false without bookkeeping memory. */
bool ji_small_table_make_room(small_t *small, size_t units);
void ji_small_table_insert(small_table_t *table, small_slab_t *slab);
void ji_small_table_remove(small_table_t *table, small_slab_t *slab);

/* Bytes taken from below and given back; under the allocator's lock. */
static inline void small_reserve(small_t *small, size_t bytes) {
    small->reserved_bytes += bytes;
    if (small->reserved_bytes > small->peak_reserved_bytes)
        small->peak_reserved_bytes = small->reserved_bytes;
}
static inline void small_unreserve(small_t *small, size_t bytes) { small->reserved_bytes -= bytes; }

/* Makes one, of kind "small" or "general". owns_all: what is below belongs to it and is shown as
 * its own. */
jstatus_t ji_small_make(const ji_request_t *request, const ji_kind_t *kind,
                        const jsmall_options_t *options, bool owns_all, jallocator_t **out);

/* ---- Central ---- */

/* Makes and ends what the central part needs. */
jstatus_t ji_small_central_init(small_t *small);
void ji_small_central_fini(small_t *small);
/* Takes up to `wanted` blocks that may be used on the stream; at least one, or a status. */
jstatus_t ji_small_central_take(small_t *small, uint32_t class_index, jstream_t *stream,
                                small_item_t *items, uint32_t wanted, uint32_t *taken);
/* Takes blocks back, behind a fence. Cannot fail. They are soon wanted again, unless they
 * `settle`. */
void ji_small_central_give(small_t *small, uint32_t class_index, const small_item_t *items,
                           uint32_t count, ji_fence_t fence, bool settle);
/* Gives slabs that are empty back below until at most keep_bytes are free. `waits`: for streams
 * that memory is behind. */
jstatus_t ji_small_central_trim(small_t *small, size_t keep_bytes, bool waits);
/* What a free on the stream now is behind. As ji_frontier_mark. */
jstatus_t ji_small_central_mark(small_t *small, jstream_t *stream, ji_fence_t *fence);
/* Whether all lists are whole. */
jstatus_t ji_small_central_check(small_t *small);

/* ---- Caches ---- */

/* Whether the cache that the calling thread used last is of this allocator and stream. */
static inline bool small_cache_at_hand(const jallocator_t *allocator, const jstream_t *stream,
                                       small_cache_t **cache) {
    if (JI_UNLIKELY(small_load(ji_small_thread.allocator) != allocator))
        return false;

    *cache = ji_small_thread.cache;
    return JI_LIKELY(small_load((*cache)->stream) == stream);
}

/* The fast paths, put into the object as its entry. */
jstatus_t ji_small_cache_allocate(jallocator_t *allocator, size_t size_bytes, size_t alignment,
                                  jstream_t *stream, void **pointer);
jstatus_t ji_small_cache_deallocate(jallocator_t *allocator, void *pointer, size_t size_bytes,
                                    jstream_t *stream);

/* The calling thread's cache for the stream; NULL where there can be none: for want of memory, or
 * in a thread that ends. */
small_cache_t *ji_small_cache_get(small_t *small, jstream_t *stream);
/* A block of the class, from the cache, which may be NULL, or from the central part. */
jstatus_t ji_small_cache_pop(small_t *small, small_cache_t *cache, uint32_t class_index,
                             jstream_t *stream, small_item_t *item);
/* Takes a live block that is freed on the stream, and clears its cell. On failure nothing has
 * changed. */
jstatus_t ji_small_cache_push(small_t *small, small_cache_t *cache, uint32_t class_index,
                              jstream_t *stream, small_item_t item);
/* Empties the calling thread's caches of the allocator. */
void ji_small_cache_empty(small_t *small);

/* The allocator begins and ends; all caches of it end with it. */
void ji_small_cache_enter(small_t *small);
void ji_small_cache_leave(small_t *small);
/* The stream is about to be destroyed. */
void ji_small_cache_forget(small_t *small, const jstream_t *stream);

/* Of all lists of caches. */
extern ji_lock_t ji_small_registry_lock;
/* Gives all that a cache has to the central part, behind a fence. */
void ji_small_magazines_empty(small_cache_t *cache, ji_fence_t fence);

/* ---- Counts ---- */

/* What is in use, as a thread counts it. */
static inline size_t small_counts_in_use(const small_counts_t *counts) {
    return small_load(counts->peak_bytes) - small_load(counts->room_bytes);
}
static inline void small_count_out(small_counts_t *counts, size_t size_bytes) {
    jallocator_add_(&counts->room_bytes, size_bytes);
}

/* Counts; cache NULL: under the allocator's lock. */
void ji_small_count_allocate(small_t *small, small_cache_t *cache, size_t size_bytes);
void ji_small_count_deallocate(small_t *small, small_cache_t *cache, size_t size_bytes);
/* Left slabs and bundles. */
void ji_small_count_blocks(small_t *small, small_cache_t *cache, size_t more);
void ji_small_count_failure(small_t *small, small_cache_t *cache);
/* Adds other counts. A peak of the sum is at most the sum of the peaks. */
void ji_small_counts_add(small_counts_t *sum, const small_counts_t *counts);
/* All counts of one cache go to another, of the same thread; under the registry's lock. */
void ji_small_counts_move(small_cache_t *to, small_cache_t *from);
/* A thread's counts become the allocator's, when the thread ends; under the registry's lock and the
 * allocator's. Its peak was part of a peak of all, which is remembered, and is no part of later
 * ones. */
void ji_small_counts_retire(small_t *small, const small_cache_t *cache);
/* The sums over all threads, and the blocks of each class in their caches. */
void ji_small_count_report(small_t *small, jallocator_stats_t *stats, size_t cached[]);
void ji_small_count_clear(small_t *small);

#endif
