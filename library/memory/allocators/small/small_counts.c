/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Counting by thread: each thread counts in its own cache, and who asks adds all up. Each sum is
 * exact when no thread is at work, and the peak is exact where one thread allocates; with several
 * it is the sum of the threads' own peaks, which is no less (small_get_stats() has an upper bound).
 *
 * Who asks reads what others write at that moment. What two numbers of one thread say together is
 * read from one moment; what two threads say is not, so a block that goes from one to the other
 * meanwhile may be in both sums or in neither. No sum falls below zero by that. */

#include <string.h>

#include "memory/allocators/small/small.h"

/* The cache that has the calling thread's counts; NULL: none. */
static small_cache_t *cache_counting(const small_t *small) {
    ji_lock_acquire(&ji_small_registry_lock);
    small_cache_t *cache = ji_small_thread.first;
    while (cache != NULL && (cache->small != small || !cache->counting))
        cache = cache->next_of_thread;
    ji_lock_release(&ji_small_registry_lock);
    return cache;
}

/* Where there is no memory for a cache of one more stream the thread goes on counting where it did:
 * its peak is one. Threads without any cache share the allocator's counts. */
static small_counts_t *counts_acquire(small_t *small, small_cache_t **cache) {
    if (JI_UNLIKELY(*cache == NULL))
        *cache = cache_counting(small);
    if (JI_LIKELY(*cache != NULL))
        return &(*cache)->seen.counts;

    ji_lock_acquire(&small->lock);
    return &small->counts;
}

static void counts_release(small_t *small, small_cache_t *cache) {
    if (cache == NULL)
        ji_lock_release(&small->lock);
}

/* The fast paths serve no more than the largest request, which needs no counting then. */
static void counts_set_at_hand(const small_t *small, small_counts_t *counts) {
    size_t bytes = small_load(counts->largest_request_bytes);
    if (bytes > small->largest_bytes)
        bytes = small->largest_bytes;
    if (bytes > SMALL_INLINE_BYTES)
        bytes = SMALL_INLINE_BYTES;
    small_store(counts->at_hand_bytes, bytes);
}

/* What the peak is less since statistics were cleared. Another thread cleared them, which cannot
 * change what this one writes; and this one may have been about to allocate. */
static size_t cache_cleared_bytes(const small_cache_t *cache, size_t room_bytes) {
    return cache->cleared_bytes < room_bytes ? cache->cleared_bytes : room_bytes;
}

/* By the cache's thread, under the registry's lock. Until it allocates a peak that was cleared is
 * what it was, and its first allocation is larger than none. */
static void cache_settle_cleared(small_cache_t *cache) {
    small_counts_t *counts = &cache->seen.counts;
    size_t cleared_bytes = cache_cleared_bytes(cache, small_load(counts->room_bytes));
    small_store(counts->peak_bytes, small_load(counts->peak_bytes) - cleared_bytes);
    small_store(counts->room_bytes, small_load(counts->room_bytes) - cleared_bytes);
    cache->cleared_bytes = 0;
}

static __attribute__((cold)) void count_largest(small_t *small, small_cache_t *cache,
                                                small_counts_t *counts, size_t size_bytes) {
    if (cache != NULL) {
        ji_lock_acquire(&ji_small_registry_lock);
        cache_settle_cleared(cache);
        ji_lock_release(&ji_small_registry_lock);
    }
    small_store(counts->largest_request_bytes, size_bytes);
    counts_set_at_hand(small, counts);
}

void ji_small_count_allocate(small_t *small, small_cache_t *cache, size_t size_bytes) {
    small_counts_t *counts = counts_acquire(small, &cache);
    if (JI_UNLIKELY(size_bytes > small_load(counts->largest_request_bytes)))
        count_largest(small, cache, counts, size_bytes);
    jallocator_count_(counts, size_bytes);
    counts_release(small, cache);
}

void ji_small_count_deallocate(small_t *small, small_cache_t *cache, size_t size_bytes) {
    small_count_out(counts_acquire(small, &cache), size_bytes);
    counts_release(small, cache);
}

void ji_small_count_blocks(small_t *small, small_cache_t *cache, size_t more) {
    jallocator_add_(&counts_acquire(small, &cache)->out_count, more);
    counts_release(small, cache);
}

void ji_small_count_failure(small_t *small, small_cache_t *cache) {
    jallocator_add_(&counts_acquire(small, &cache)->failure_count, 1);
    counts_release(small, cache);
}

void ji_small_counts_add(small_counts_t *sum, const small_counts_t *counts) {
    small_store(sum->allocation_count,
                small_load(sum->allocation_count) + small_load(counts->allocation_count));
    small_store(sum->out_count, small_load(sum->out_count) + small_load(counts->out_count));
    small_store(sum->failure_count,
                small_load(sum->failure_count) + small_load(counts->failure_count));
    small_store(sum->room_bytes, small_load(sum->room_bytes) + small_load(counts->room_bytes));
    small_store(sum->peak_bytes, small_load(sum->peak_bytes) + small_load(counts->peak_bytes));

    if (small_load(sum->largest_request_bytes) < small_load(counts->largest_request_bytes))
        small_store(sum->largest_request_bytes, small_load(counts->largest_request_bytes));
}

void ji_small_counts_move(small_cache_t *to, small_cache_t *from) {
    cache_settle_cleared(from);
    ji_small_counts_add(&to->seen.counts, &from->seen.counts);
    memset(&from->seen.counts, 0, sizeof from->seen.counts);
    counts_set_at_hand(to->small, &to->seen.counts);
}

/* The peak is what is said; what is in use stays. */
static void counts_set_peak(small_counts_t *counts, size_t peak_bytes) {
    size_t in_use_bytes = small_counts_in_use(counts);
    small_store(counts->peak_bytes, peak_bytes);
    small_store(counts->room_bytes, peak_bytes - in_use_bytes);
}

/* How often a peak that rises meanwhile is read again: while it only rises there is no room, and
 * what was read last is right. */
#define COUNTS_READS 8

/* What a thread counts, its peak and the room below it from one moment. Amid jallocator_count_()
 * the room is below zero: the block that is about to be given is counted or not yet. */
static void cache_read_counts(const small_cache_t *cache, small_counts_t *counts) {
    const small_counts_t *seen = &cache->seen.counts;
    size_t peak_bytes = small_load_acquire(seen->peak_bytes), before_bytes, room_bytes;
    int reads = 0;
    do {
        before_bytes = peak_bytes;
        room_bytes = small_load_acquire(seen->room_bytes);
        peak_bytes = small_load_acquire(seen->peak_bytes);
    } while (peak_bytes != before_bytes && ++reads < COUNTS_READS);

    if ((ptrdiff_t)room_bytes < 0)
        room_bytes = 0;
    size_t cleared_bytes = cache_cleared_bytes(cache, room_bytes);

    memset(counts, 0, sizeof *counts);
    ji_small_counts_add(counts, seen);
    small_store(counts->peak_bytes, peak_bytes - cleared_bytes);
    small_store(counts->room_bytes, room_bytes - cleared_bytes);
}

/* How many blocks are out, those in the cache's magazines aside, and how many of each class are in
 * these: from one moment, so that blocks that come from the central part, or go there, are not
 * taken for freed. */
static int64_t cache_read_live(const small_cache_t *cache, size_t cached[]) {
    size_t counts[SMALL_MAX_CLASSES], out_count, sum, transfers;
    do {
        transfers = small_load_acquire(cache->transfer_count);
        out_count = small_load_acquire(cache->seen.counts.out_count);
        sum = 0;
        for (uint32_t i = 0; i < cache->small->class_count; ++i)
            sum += counts[i] = small_magazine_count(&cache->magazines[i]);
    } while (small_load(cache->transfer_count) != transfers);

    for (uint32_t i = 0; i < cache->small->class_count; ++i)
        cached[i] += counts[i];
    return (int64_t)(out_count - sum);
}

/* The sum over all; under both locks. */
static void counts_sum(small_t *small, small_counts_t *sum) {
    memset(sum, 0, sizeof *sum);
    ji_small_counts_add(sum, &small->counts);
    JI_LIST_EACH(&small->caches, const small_cache_t, cache, link) {
        small_counts_t counts;
        cache_read_counts(cache, &counts);
        ji_small_counts_add(sum, &counts);
    }

    if ((ptrdiff_t)sum->peak_bytes < (ptrdiff_t)small->peak_before_bytes)
        counts_set_peak(sum, small->peak_before_bytes);
}

void ji_small_counts_retire(small_t *small, const small_cache_t *cache) {
    small_counts_t sum;
    counts_sum(small, &sum);
    small->peak_before_bytes = sum.peak_bytes;
    ji_small_counts_add(&small->counts, &cache->seen.counts);
    counts_set_peak(&small->counts, small_counts_in_use(&small->counts));
}

void ji_small_count_report(small_t *small, jallocator_stats_t *stats, size_t cached[]) {
    small_counts_t sum;

    ji_lock_acquire(&ji_small_registry_lock);
    ji_lock_acquire(&small->lock);
    counts_sum(small, &sum);
    int64_t live_count = (int64_t)small_load(small->counts.out_count);
    stats->reserved_bytes = small->reserved_bytes;
    stats->peak_reserved_bytes = small->peak_reserved_bytes;
    ji_lock_release(&small->lock);

    for (uint32_t i = 0; i < small->class_count; ++i)
        cached[i] = 0;
    JI_LIST_EACH(&small->caches, const small_cache_t, cache, link)
        live_count += cache_read_live(cache, cached);
    ji_lock_release(&ji_small_registry_lock);

    /* Below zero where others free, meanwhile, what was allocated after their counts were read. */
    ptrdiff_t in_use_bytes = (ptrdiff_t)small_counts_in_use(&sum),
              peak_bytes = (ptrdiff_t)small_load(sum.peak_bytes);
    in_use_bytes = in_use_bytes > 0 ? in_use_bytes : 0;

    stats->allocation_count = small_load(sum.allocation_count);
    stats->live_count = live_count > 0 ? (uint64_t)live_count : 0;
    stats->failure_count += small_load(sum.failure_count); /* to those that the object refused */
    stats->in_use_bytes = (size_t)in_use_bytes;
    stats->peak_in_use_bytes = (size_t)(peak_bytes > in_use_bytes ? peak_bytes : in_use_bytes);
    stats->largest_request_bytes = small_load(sum.largest_request_bytes);
}

static void counts_clear_largest(small_counts_t *counts) {
    small_store(counts->at_hand_bytes, 0);
    small_store(counts->largest_request_bytes, 0);
}

void ji_small_count_clear(small_t *small) {
    ji_lock_acquire(&ji_small_registry_lock);
    ji_lock_acquire(&small->lock);
    small->peak_before_bytes = 0;
    small->peak_reserved_bytes = small->reserved_bytes;
    counts_set_peak(&small->counts, small_counts_in_use(&small->counts));
    counts_clear_largest(&small->counts);
    ji_lock_release(&small->lock);

    JI_LIST_EACH(&small->caches, small_cache_t, cache, link) {
        counts_clear_largest(&cache->seen.counts);
        cache->cleared_bytes = small_load(cache->seen.counts.room_bytes);
    }
    ji_lock_release(&ji_small_registry_lock);
}
