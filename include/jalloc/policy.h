/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_POLICY_H
#define JALLOC_POLICY_H

/** @file
 * Policies: allocators that divide memory they take from the allocator below. All keep their state
 * out of band, so they work on memory that the host cannot read, and all know streams: what is
 * freed on one stream is used again on the same stream at once, on another only after the first has
 * passed the free (an event tells), never by waiting on the host.
 *
 * Each create function takes options (NULL: the defaults; a member that is 0 means its default;
 * JALLOC_NONE asks for a real 0 and JALLOC_UNLIMITED for no bound where the comment says so) and
 * returns success; invalid pointer; invalid value (an option; the message names it); memory error;
 * io error and invalid configuration (JALLOC_RECORD, JALLOC_LEAK_REPORT).
 *
 * `threads` is lock unless the comment says otherwise; none saves the lock where the caller sees to
 * it. Each keeps `below` until it is destroyed. */

#include "jalloc/allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Stack ---- */

/** Options of jallocator_create_stack(). */
typedef struct jstack_options_t {
    size_t struct_size;
    const char *name; /**< NULL: "stack" */
    jallocator_threads_t threads;
    /** least that is taken from below at once; 0: 1 MiB, at most PTRDIFF_MAX / 2 */
    size_t block_bytes;
    size_t limit_bytes; /**< most that is taken from below; 0: unlimited; or none */
} jstack_options_t;
#define JSTACK_OPTIONS_INIT                                                                        \
    { sizeof(jstack_options_t), NULL, JALLOCATOR_THREADS_DEFAULT, 0, 0 }

/** Monotonic: one allocation after the other; the last one freed is taken back at once, with freed
 * ones below it. Freed blocks elsewhere wait until they are on top, or until the stack is rewound:
 * nobody can use them meanwhile, so this is for memory that goes in the opposite order of its
 * coming. Where more is needed while a quarter of what the stack holds waits that way, the log
 * warns, once until statistics are cleared. */
JALLOC_API jstatus_t jallocator_create_stack(jallocator_t *below, const jstack_options_t *options,
                                             jallocator_t **allocator);

/** A height of a stack. Frozen. */
typedef struct jstack_mark_t {
    uint64_t height; /**< opaque */
} jstack_mark_t;

/** The present height. Works through adaptors above. @return success; invalid pointer; invalid
 * value (not a stack). */
JALLOC_API jstatus_t jallocator_stack_get_mark(const jallocator_t *allocator, jstack_mark_t *mark);
/** Frees everything allocated since the mark, last used on `stream`. Adaptors above do not hear of
 * it: what they have counted as live stays counted, so mark and rewind a stack that stands on top.
 * @return success; invalid pointer; invalid value (not a stack, or the stack is lower than the
 * mark, or was since: what was on top then has been taken back). */
JALLOC_API jstatus_t jallocator_stack_rewind(jallocator_t *allocator, jstack_mark_t mark,
                                             jstream_t *stream);

/* ---- Slots ---- */

/** Options of jallocator_create_slots(). */
typedef struct jslots_options_t {
    size_t struct_size;
    const char *name; /**< NULL: "slots" */
    jallocator_threads_t threads;
    /** size of a slot, rounded up to the granule; 0: 4096, at most PTRDIFF_MAX / 2 */
    size_t slot_bytes;
    size_t block_slots; /**< slots taken from below at once; 0: 64, at most 2^31 */
    size_t limit_slots; /**< most there may be; 0: unlimited; or none */
} jslots_options_t;
#define JSLOTS_OPTIONS_INIT                                                                        \
    { sizeof(jslots_options_t), NULL, JALLOCATOR_THREADS_DEFAULT, 0, 0, 0 }

/** Fixed-size slots: every allocation is one slot, in constant time; a larger request, or an
 * alignment above the slot's largest power-of-two divisor, is invalid size or value. Trim gives
 * back blocks whose slots are all free. */
JALLOC_API jstatus_t jallocator_create_slots(jallocator_t *below, const jslots_options_t *options,
                                             jallocator_t **allocator);

/* ---- Pool ---- */

/** How a pool rounds sizes, so that more requests are alike. */
typedef enum jpool_rounding_t {
    JPOOL_ROUND_POWER_OF_TWO = 0,
    JPOOL_ROUND_NONE = 1
} jpool_rounding_t;

/** Options of jallocator_create_pool(). */
typedef struct jpool_options_t {
    size_t struct_size;
    const char *name; /**< NULL: "pool" */
    jallocator_threads_t threads;
    jpool_rounding_t rounding;
    /** most freed buffers kept; 0: 64; or unlimited; or none: nothing is kept or counted, each
     * request goes below (TensorFlow's pool of size 0) */
    size_t limit_count;
    size_t limit_bytes; /**< most freed bytes kept; 0: unlimited; or none */
    /** limit_count stays as it is; else it is looked at after each 1,000 evictions that kept it:
     * if, since the counters were cleared, more than 0.2% of the frees evicted a buffer and more
     * than 0.2% of the requests went below, it becomes 100, or 10% more (TensorFlow's
     * auto_resize) */
    bool fixed;
} jpool_options_t;
#define JPOOL_OPTIONS_INIT                                                                         \
    {                                                                                              \
        sizeof(jpool_options_t), NULL, JALLOCATOR_THREADS_DEFAULT, JPOOL_ROUND_POWER_OF_TWO, 0, 0, \
            false                                                                                  \
    }

/** Keeps freed buffers of equal rounded size for the next request of that size; what does not fit
 * the limits is given back, least recently used first. After TensorFlow's PoolAllocator, with a
 * limit in bytes as well. When below is out of memory, what is kept is given back before the
 * request fails. */
JALLOC_API jstatus_t jallocator_create_pool(jallocator_t *below, const jpool_options_t *options,
                                            jallocator_t **allocator);

/** A pool's counters. */
typedef struct jpool_counters_t {
    size_t struct_size;
    uint64_t hit_count;      /**< requests served from what was kept */
    uint64_t miss_count;     /**< requests that went below */
    uint64_t eviction_count; /**< buffers given back to keep the limits */
    size_t limit_count;      /**< in force; 0: none is kept */
    uint64_t put_count;      /**< buffers given back to the pool */
} jpool_counters_t;
#define JPOOL_COUNTERS_INIT                                                                        \
    { sizeof(jpool_counters_t), 0, 0, 0, 0, 0 }
/** Works through adaptors above. @return success; invalid pointer; invalid value (not a pool,
 * struct_size). */
JALLOC_API jstatus_t jallocator_pool_get_counters(const jallocator_t *allocator,
                                                  jpool_counters_t *counters);
/** The four counts begin at 0 again; what is kept stays (jallocator_trim() gives it back). @return
 * success; invalid pointer; invalid value (not a pool). */
JALLOC_API jstatus_t jallocator_pool_clear_counters(jallocator_t *allocator);

/* ---- Best fit with coalescing ---- */

/** Options of jallocator_create_bfc(). */
typedef struct jbfc_options_t {
    size_t struct_size;
    const char *name; /**< NULL: "bfc" */
    jallocator_threads_t threads;
    /** most that is taken from below, with memory or without; 0: unlimited; or none */
    size_t limit_bytes;
    /** least that is taken from below at once; 0: 1 MiB, at most PTRDIFF_MAX / 2 */
    size_t region_bytes;
    bool all_at_once; /**< takes limit_bytes at the first allocation, and never more */
    /** whole free regions are given back, and free pages decommitted, by trim alone; else also
     * before more is held than ever before, regions also when growth is refused, and pages after a
     * second */
    bool keep_regions;
    /** each region has at least this many percent of what is reserved; 100 doubles, as TensorFlow
     * does; 0: 6, at most 1000; or none */
    size_t growth_percent;
    /** a block is split where an eighth of the request is left over: less memory, a little slower.
     * Without it, too, where pages are decommitted */
    bool split_tightly;
} jbfc_options_t;
#define JBFC_OPTIONS_INIT                                                                          \
    { sizeof(jbfc_options_t), NULL, JALLOCATOR_THREADS_DEFAULT, 0, 0, false, false, 0, false }

/** Best fit with coalescing, after TensorFlow's BFCAllocator (granule 256 bytes; a block is split
 * when it is at least twice the request or 128 MiB would be left over; both free neighbours are
 * merged on free; regions grow with what there is and back off by 10% when below refuses, down to
 * the request), with constant-time search (after Masmano et al., TLSF, 2004): a good fit. Free
 * blocks are in bins, 16 for each power of two: the first of the request's own bin serves where it
 * is large enough, else one of the least bin above that has any. Blocks of sizes that come and go
 * are kept unmerged for a while, never when statistics, visits, trim or growth look. Alignments
 * above 256 are honoured. Reserves no more than limit_bytes. Before a request fails, its stream
 * waits (by events; the host's inline stream by itself) for memory freed on other streams.
 *
 * Where below takes the memory of pages back (jallocator_ops_t.set_pages; the host's device, mmap,
 * numa and huge do), runs of free pages of 16 KiB and more are decommitted: by trim; when they have
 * been free, and were not merged, for about a second; and before more is held than before, and
 * than 3% above what was granted at most. The latter is done for no more bytes than that peak has
 * grown by and a 64th of what was not found free at once, so that who goes round in circles does
 * not go on to pay with page faults. The clock is looked at with one allocation in 1024 and after
 * each MiB that is freed and merged, in quarters of a second: who does neither keeps what he has,
 * until trim, and what was freed since the last look counts as free from that look on, so that the
 * first calls behind a pause give back what was freed before it. Pages that a stream's work is
 * ahead in keep their memory until it is done. */
JALLOC_API jstatus_t jallocator_create_bfc(jallocator_t *below, const jbfc_options_t *options,
                                           jallocator_t **allocator);

/* ---- LRU cache of layouts with reference counts ---- */

/** Options of jallocator_create_lru(). */
typedef struct jlru_options_t {
    size_t struct_size;
    const char *name; /**< NULL: "lru" */
    jallocator_threads_t threads;
    /** most different (size, alignment) kept; 0: 256; or unlimited, or none */
    size_t capacity_layouts;
    size_t capacity_bytes; /**< most bytes kept; 0: unlimited; or none */
    /** a kept block up to this many percent larger may serve a request; 0: 12; or none: exact
     * (rounded to the granule) only */
    size_t nearest_percent;
} jlru_options_t;
#define JLRU_OPTIONS_INIT                                                                          \
    { sizeof(jlru_options_t), NULL, JALLOCATOR_THREADS_DEFAULT, 0, 0, 0 }

/** Hpt's cache: freed blocks are kept by layout (size and alignment), the least recently used are
 * given back when the capacity is exceeded, and before a request fails everything kept is, but for
 * what a stream has not passed yet: for that the request's stream is made to wait. Beyond the bytes
 * goes the block kept longest, beyond the layouts all blocks of the layout used longest ago. A
 * block has a reference count, 1 when allocated; jallocator_deallocate() is
 * jallocator_lru_release() that checks the size. A free of a block that was freed before and has a
 * new owner meanwhile is refused where the sizes differ; where they do not, it cannot be told from
 * the owner's. threads: none or lock. */
JALLOC_API jstatus_t jallocator_create_lru(jallocator_t *below, const jlru_options_t *options,
                                           jallocator_t **allocator);

/** One more owner of a live block. The functions here work through adaptors above the cache that
 * keep pointers as they are, and are as safe from other threads as the cache. They pass by what
 * adaptors count: where there are any, the last owner of a block ends by jallocator_deallocate() of
 * the allocator that gave it, and all before by release.
 * @return success; invalid pointer; invalid value (no cache); not found (the message says when the
 *         block was released already, and under which tag). */
JALLOC_API jstatus_t jallocator_lru_retain(jallocator_t *allocator, void *pointer);
/** One owner less; the last one puts the block into the cache, or gives an adopted one to its own
 * function, after waiting for the streams that it was released on. `remaining` may be NULL.
 * @return as jallocator_lru_retain(); device error: a wait failed, and the block has its owner
 *         still; not found names the allocation for a double release. */
JALLOC_API jstatus_t jallocator_lru_release(jallocator_t *allocator, void *pointer,
                                            jstream_t *stream, size_t *remaining);
/** The owners of the live block that begins there; what else is known of it says jallocator_find().
 * @return as jallocator_lru_retain(). */
JALLOC_API jstatus_t jallocator_lru_get_count(const jallocator_t *allocator, const void *pointer,
                                              size_t *count);
/** Takes a foreign block into the books with one owner. At the last release `give_back` is called
 * with it, inside the cache, which it must not call; NULL: the block joins the cache and is given
 * to below in the end, so it must come from there, with this size. alignment: what the block is
 * known to be aligned to, 0: the granule.
 * @return as jallocator_lru_retain(); exists (it is in the books); invalid size (0, near SIZE_MAX);
 *         invalid value (also an alignment that is none, or that the pointer does not have); memory
 *         error. */
JALLOC_API jstatus_t jallocator_lru_adopt(
    jallocator_t *allocator, void *pointer, size_t size_bytes, size_t alignment,
    void (*give_back)(void *context, void *pointer, size_t size_bytes), void *give_back_context);
/** Gives everything kept back to below, waiting for its streams. Live blocks stay.
 * @return success; invalid pointer; invalid value; what below answers. */
JALLOC_API jstatus_t jallocator_lru_clear(jallocator_t *allocator);

/** A cache's counters. */
typedef struct jlru_counters_t {
    size_t struct_size;
    uint64_t hit_count;         /**< served by a kept block of the layout */
    uint64_t nearest_hit_count; /**< served by a kept block of a larger layout */
    uint64_t miss_count;        /**< taken from below */
    uint64_t eviction_count;    /**< given back to make room */
    size_t kept_layouts, kept_blocks, kept_bytes;
} jlru_counters_t;
#define JLRU_COUNTERS_INIT                                                                         \
    { sizeof(jlru_counters_t), 0, 0, 0, 0, 0, 0, 0 }
/** @return success; invalid pointer; invalid value (no cache, struct_size). */
JALLOC_API jstatus_t jallocator_lru_get_counters(const jallocator_t *allocator,
                                                 jlru_counters_t *counters);

/* ---- Small blocks, and the general-purpose default ---- */

/** Options of jallocator_create_small(). */
typedef struct jsmall_options_t {
    size_t struct_size;
    const char *name; /**< NULL: "small" */
    /** default: safe, with a cache per thread; the others change only what jallocator_threads()
     * says, and it is none where below is */
    jallocator_threads_t threads;
    /** larger requests go straight below; 0: 32 KiB, at most 1 MiB */
    size_t largest_bytes;
    /** most a thread keeps, for each stream it uses; 0: 1 MiB, at most 1 GiB; or none */
    size_t cache_bytes;
} jsmall_options_t;
#define JSMALL_OPTIONS_INIT                                                                        \
    { sizeof(jsmall_options_t), NULL, JALLOCATOR_THREADS_DEFAULT, 0, 0 }

/** Small blocks, segregated by size class in slabs taken from below, with a cache per thread:
 * allocating and freeing a small block takes no shared lock unless the thread's cache is empty or
 * full. A thread that ends gives its cache back. Rounding loses less than the granule (64 bytes on
 * the host), or at most an eighth of a block.
 * Statistics are exact while no thread is at work; the peak in use is exact where one thread
 * allocates, else the sum of the threads' own peaks, but at most the peak of what was reserved,
 * which is no less. Trim empties the caches of the calling thread; those of others when they next
 * need something. Two threads that give the same
 * block back at the same moment are not told that one of them is wrong; one after the other, the
 * second is. */
JALLOC_API jstatus_t jallocator_create_small(jallocator_t *below, const jsmall_options_t *options,
                                             jallocator_t **allocator);

/** Options of jallocator_create_general(). */
typedef struct jgeneral_options_t {
    size_t struct_size;
    const char *name;     /**< NULL: "general" */
    size_t limit_bytes;   /**< as in jbfc_options_t */
    size_t largest_bytes; /**< of a small block; 0: 4 KiB, at most 1 MiB */
} jgeneral_options_t;
#define JGENERAL_OPTIONS_INIT                                                                      \
    { sizeof(jgeneral_options_t), NULL, 0, 0 }

/** The general-purpose default: small blocks over best fit with coalescing,
 * "bfc(tight,region=256KiB,growth=2)+small(largest=4KiB,cache=4MiB)" as one allocator. Free pages
 * go back to the system as jallocator_create_bfc() says; threads that work with small blocks alone
 * look at the clock with one exchange in 64 between their caches and what all share. */
JALLOC_API jstatus_t jallocator_create_general(jallocator_t *below,
                                               const jgeneral_options_t *options,
                                               jallocator_t **allocator);

#ifdef __cplusplus
}
#endif
#endif
