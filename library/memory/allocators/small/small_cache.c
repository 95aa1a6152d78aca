/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What each thread keeps of the small blocks for itself, and the two fast paths.
 *
 *     thread            cache (one for each allocator and stream it uses)
 *     allocator ---+    stream, counts                   items of class 3, the last freed on top
 *     cache -------+--> magazines [0][1][2][3]... ---->  | block, cell | block, cell | block, cell |  free ...
 *
 * Allocating takes the top item of the class's magazine and writes size and tag into its cell; freeing looks up the
 * slab, compares size and cell, clears the cell and puts the item on top. Neither takes a lock or does an atomic
 * read-modify-write: a cache is written by its thread alone. What others read of it meanwhile (counts) is atomic, and
 * relaxed.
 *
 * An empty magazine is filled half, a full one is emptied half, under the class's lock. Each such miss also doubles its
 * capacity, up to 256 blocks and what cache_bytes allows; where that is used up, now and then another magazine gives up
 * half of its own.
 *
 * Whose cache lives how long: a thread that ends empties and frees its caches. An allocator that is destroyed frees the
 * caches that all threads have of it, and clears their hint to it; all lists are under one lock of the process, the
 * registry's. The hint names the allocator, and is followed only where the caller uses that very allocator, which
 * therefore lives. So what a thread's hint leads to can never have been freed, though nobody waits for the thread. In a
 * forked child the caches of the parent's other threads belong to nobody; what they hold is lost until the allocator is
 * destroyed. */

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "core/tag.h"
#include "memory/allocators/small/small.h"

#define SMALL_FIRST_ITEMS 8
#define SMALL_FIRST_BYTES ((size_t)16 << 10) /* a first magazine holds no more, but one block in any case */
#define SMALL_MOST_ITEMS 256
#define SMALL_MISSES_PER_THEFT 16

char ji_small_gone;

_Thread_local small_thread_t ji_small_thread __attribute__((tls_model("initial-exec")));

static ji_lock_t small_registry_lock;
static ji_list_t small_registry = JI_LIST_EMPTY(small_registry); /* all allocators */
static pthread_key_t small_key;                                  /* its destructor sees threads end */
static bool small_key_made;

/* ---- Counts ---- */

#define small_load(object) atomic_load_explicit(&(object), memory_order_relaxed)
#define small_store(object, value) atomic_store_explicit(&(object), (value), memory_order_relaxed)

/* Changes a number that the calling thread alone writes: one instruction where the compiler would make three. */
static inline void small_add(atomic_size_t *number, size_t more) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    __asm__("addq %1, %0" : "+m"(*(volatile size_t *)number) : "er"(more) : "cc");
#else
    small_store(*number, small_load(*number) + more);
#endif
}
static inline void small_subtract(atomic_size_t *number, size_t less) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    __asm__("subq %1, %0" : "+m"(*(volatile size_t *)number) : "er"(less) : "cc");
#else
    small_store(*number, small_load(*number) - less);
#endif
}

/* Bytes and requests; blocks are counted where they enter and leave. */
static inline void small_count_in(small_counts_t *counts, size_t size_bytes) {
    size_t in_use = small_load(counts->in_use_bytes) + size_bytes;
    small_add(&counts->allocation_count, 1);
    small_store(counts->in_use_bytes, in_use);
    if (JI_UNLIKELY((ptrdiff_t)in_use > (ptrdiff_t)small_load(counts->peak_bytes)))
        small_store(counts->peak_bytes, in_use);
}
static inline void small_count_out(small_counts_t *counts, size_t size_bytes) {
    small_subtract(&counts->in_use_bytes, size_bytes);
}

/* Threads without a cache share the allocator's counts. */
static small_counts_t *counts_acquire(small_t *small, small_cache_t *cache) {
    if (cache != NULL)
        return &cache->counts;
    ji_lock_acquire(&small->lock);
    return &small->counts;
}
static void counts_release(small_t *small, small_cache_t *cache) {
    if (cache == NULL)
        ji_lock_release(&small->lock);
}

static inline void counts_note_largest(const small_t *small, small_counts_t *counts, size_t size_bytes) {
    if (JI_LIKELY(size_bytes <= small_load(counts->largest_request_bytes)))
        return;
    small_store(counts->largest_request_bytes, size_bytes);
    small_store(counts->at_hand_bytes, size_bytes < small->largest_bytes ? size_bytes : small->largest_bytes);
}

void ji_small_count_allocate(small_t *small, small_cache_t *cache, size_t size_bytes) {
    small_counts_t *counts = counts_acquire(small, cache);
    small_count_in(counts, size_bytes);
    counts_note_largest(small, counts, size_bytes);
    counts_release(small, cache);
}
void ji_small_count_deallocate(small_t *small, small_cache_t *cache, size_t size_bytes) {
    small_count_out(counts_acquire(small, cache), size_bytes);
    counts_release(small, cache);
}
void ji_small_count_blocks(small_t *small, small_cache_t *cache, size_t more) {
    small_add(&counts_acquire(small, cache)->out_count, more);
    counts_release(small, cache);
}
void ji_small_count_failure(small_t *small, small_cache_t *cache) {
    small_add(&counts_acquire(small, cache)->failure_count, 1);
    counts_release(small, cache);
}

/* Adds other counts. A peak of the sum is at most the sum of the peaks. */
static void counts_add(small_counts_t *sum, const small_counts_t *counts) {
    small_store(sum->allocation_count, small_load(sum->allocation_count) + small_load(counts->allocation_count));
    small_store(sum->out_count, small_load(sum->out_count) + small_load(counts->out_count));
    small_store(sum->failure_count, small_load(sum->failure_count) + small_load(counts->failure_count));
    small_store(sum->in_use_bytes, small_load(sum->in_use_bytes) + small_load(counts->in_use_bytes));
    small_store(sum->peak_bytes, small_load(sum->peak_bytes) + small_load(counts->peak_bytes));
    if (small_load(sum->largest_request_bytes) < small_load(counts->largest_request_bytes))
        small_store(sum->largest_request_bytes, small_load(counts->largest_request_bytes));
}

/* The sum over all; under both locks. */
static void counts_sum(small_t *small, small_counts_t *sum) {
    memset(sum, 0, sizeof *sum);
    counts_add(sum, &small->counts);
    JI_LIST_EACH(&small->caches, const small_cache_t, cache, link)
        counts_add(sum, &cache->counts);
    if ((ptrdiff_t)small_load(sum->peak_bytes) < (ptrdiff_t)small->peak_before_bytes)
        small_store(sum->peak_bytes, small->peak_before_bytes);
}

/* A thread's counts become the allocator's, when the thread ends; under both locks. Its peak was part of a peak of all,
 * which is remembered, and is no part of later ones. */
static void counts_retire(small_t *small, const small_cache_t *cache) {
    small_counts_t sum;
    counts_sum(small, &sum);
    small->peak_before_bytes = small_load(sum.peak_bytes);
    counts_add(&small->counts, &cache->counts);
    small_store(small->counts.peak_bytes, small_load(small->counts.in_use_bytes));
}

void ji_small_count_report(small_t *small, jallocator_stats_t *stats, size_t cached[]) {
    small_counts_t sum;
    ji_lock_acquire(&small_registry_lock);
    ji_lock_acquire(&small->lock);
    counts_sum(small, &sum);
    stats->reserved_bytes = small->reserved_bytes;
    stats->peak_reserved_bytes = small->peak_reserved_bytes;
    ji_lock_release(&small->lock);
    for (uint32_t i = 0; i < small->class_count; ++i)
        cached[i] = 0;
    JI_LIST_EACH(&small->caches, const small_cache_t, cache, link)
        for (uint32_t i = 0; i < small->class_count; ++i)
            cached[i] += small_magazine_count(&cache->magazines[i]);
    ji_lock_release(&small_registry_lock);
    stats->allocation_count = small_load(sum.allocation_count);
    int64_t live_count = (int64_t)small_load(sum.out_count);
    for (uint32_t i = 0; i < small->class_count; ++i)
        live_count -= (int64_t)cached[i];
    stats->live_count =
        live_count > 0 ? (uint64_t)live_count : 0;         /* below zero for a moment, while others are at work */
    stats->failure_count += small_load(sum.failure_count); /* to those that the object refused */
    stats->in_use_bytes = small_load(sum.in_use_bytes);
    stats->peak_in_use_bytes = small_load(sum.peak_bytes);
    stats->largest_request_bytes = small_load(sum.largest_request_bytes);
}

static void counts_clear(small_counts_t *counts) {
    small_store(counts->peak_bytes, small_load(counts->in_use_bytes));
    small_store(counts->at_hand_bytes, 0);
    small_store(counts->largest_request_bytes, 0);
}

void ji_small_count_clear(small_t *small) {
    ji_lock_acquire(&small_registry_lock);
    ji_lock_acquire(&small->lock);
    small->peak_before_bytes = 0;
    small->peak_reserved_bytes = small->reserved_bytes;
    counts_clear(&small->counts);
    ji_lock_release(&small->lock);
    JI_LIST_EACH(&small->caches, small_cache_t, cache, link)
        counts_clear(&cache->counts);
    ji_lock_release(&small_registry_lock);
}

/* ---- Fast paths ---- */

/* Whether the cache that the calling thread used last is of this allocator and stream. */
static inline bool cache_at_hand(const jallocator_t *allocator, const jstream_t *stream, small_cache_t **cache) {
    if (JI_UNLIKELY(small_load(ji_small_thread.allocator) != allocator))
        return false;
    *cache = ji_small_thread.cache;
    return JI_LIKELY(small_load((*cache)->stream) == stream);
}

/* What the fast paths pass on has few arguments, so that they need save no registers. Large blocks of an allocator that
 * has what is below for itself go there with no more than counting. */
static __attribute__((noinline)) jstatus_t cache_allocate_slowly(size_t size_bytes, size_t alignment, void **pointer,
                                                                 small_cache_t *cache) {
    small_t *small = cache->small;
    jstream_t *stream = small_load(cache->stream);
    if (size_bytes > small->largest_bytes && small->owns_all &&
        small->below->entry.allocate(small->below, size_bytes, alignment, stream, pointer) == JSTATUS_SUCCESS) {
        small_add(&cache->counts.out_count, 1);
        small_count_in(&cache->counts, size_bytes);
        counts_note_largest(small, &cache->counts, size_bytes);
        return JSTATUS_SUCCESS;
    }
    return small->straight.allocate(small->allocator, size_bytes, alignment, stream, pointer);
}
static __attribute__((noinline)) jstatus_t cache_deallocate_slowly(void *pointer, size_t size_bytes,
                                                                   small_cache_t *cache) {
    small_t *small = cache->small;
    jstream_t *stream = small_load(cache->stream);
    size_t offset;
    if (size_bytes > small->largest_bytes && small->owns_all && small_slab_find(small, pointer, &offset) == NULL) {
        jstatus_t status = small->below->entry.deallocate(small->below, pointer, size_bytes, stream);
        if (JI_LIKELY(status == JSTATUS_SUCCESS)) {
            small_add(&cache->counts.out_count, (size_t)-1);
            small_count_out(&cache->counts, size_bytes);
        }
        return status;
    }
    return small->straight.deallocate(small->allocator, pointer, size_bytes, stream);
}

jstatus_t ji_small_cache_allocate(jallocator_t *allocator, size_t size_bytes, size_t alignment, jstream_t *stream,
                                  void **pointer) {
    small_cache_t *cache;
    if (JI_UNLIKELY(!cache_at_hand(allocator, stream, &cache)))
        return ((const small_t *)allocator->context)
            ->straight.allocate(allocator, size_bytes, alignment, stream, pointer);
    if (JI_UNLIKELY(size_bytes > small_load(cache->counts.at_hand_bytes)))
        return cache_allocate_slowly(size_bytes, alignment, pointer, cache);
    size_t class_index = cache->class_of[(size_bytes - 1) / SMALL_STEP_BYTES];
    small_magazine_t *magazine = &cache->magazines[class_index];
    small_item_t *item = small_load(magazine->top);
    if (JI_UNLIKELY(item == magazine->bottom || alignment > magazine->alignment))
        return cache_allocate_slowly(size_bytes, alignment, pointer, cache);
    small_store(magazine->top, --item);
    *pointer = item->pointer;
    small_cell_enter(item->cell, size_bytes, ji_tag_current);
    small_count_in(&cache->counts, size_bytes);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_small_cache_deallocate(jallocator_t *allocator, void *pointer, size_t size_bytes, jstream_t *stream) {
    small_cache_t *cache;
    if (JI_UNLIKELY(!cache_at_hand(allocator, stream, &cache)))
        return ((const small_t *)allocator->context)->straight.deallocate(allocator, pointer, size_bytes, stream);
    size_t offset, index, slot = small_table_slot((uintptr_t)pointer, cache->table_mask);
    const small_slab_t *slab = atomic_load_explicit(&cache->table->slabs[slot], memory_order_acquire);
    if (JI_UNLIKELY(!small_slab_contains(slab, pointer, &offset) || !small_slab_index(slab, offset, &index)))
        return cache_deallocate_slowly(pointer, size_bytes, cache);
    small_cell_t *cell = &slab->cells[index];
    small_magazine_t *magazine = (small_magazine_t *)((char *)cache + slab->magazine_offset);
    small_item_t *item = small_load(magazine->top);
    if (JI_UNLIKELY(small_load(cell->size_bytes) != size_bytes || item == magazine->end))
        return cache_deallocate_slowly(pointer, size_bytes, cache);
    small_store(cell->size_bytes, 0);
    *item = (small_item_t){pointer, cell};
    small_store(magazine->top, item + 1);
    small_count_out(&cache->counts, size_bytes);
    return JSTATUS_SUCCESS;
}

/* ---- Magazines ---- */

/* Gives the lowest items, the longest unused ones, to the central part. */
static void magazine_give(small_cache_t *cache, uint32_t class_index, uint32_t excess, ji_fence_t fence, bool settle) {
    small_magazine_t *magazine = &cache->magazines[class_index];
    uint32_t rest = small_magazine_count(magazine) - excess;
    if (excess == 0)
        return;
    ji_small_central_give(cache->small, class_index, magazine->bottom, excess, fence, settle);
    ji_small_count_blocks(cache->small, cache, -(size_t)excess);
    memmove(magazine->bottom, magazine->bottom + excess, rest * sizeof *magazine->bottom);
    small_store(magazine->top, magazine->bottom + rest);
}

static void cache_empty(small_cache_t *cache, ji_fence_t fence) {
    for (uint32_t i = 0; i < cache->small->class_count; ++i)
        magazine_give(cache, i, small_magazine_count(&cache->magazines[i]), fence, true);
}

/* Another magazine gives up half of its capacity. */
static void cache_steal(small_cache_t *cache, uint32_t for_class, jstream_t *stream) {
    small_t *small = cache->small;
    ji_fence_t fence;
    if (cache->misses % SMALL_MISSES_PER_THEFT != 0 || ji_small_central_mark(small, stream, &fence) != JSTATUS_SUCCESS)
        return;
    for (uint32_t tried = 0; tried < small->class_count; ++tried) {
        uint32_t victim = cache->hand++ % small->class_count;
        small_magazine_t *magazine = &cache->magazines[victim];
        uint32_t count = small_magazine_count(magazine), capacity = small_magazine_capacity(magazine);
        if (victim == for_class || capacity == 0)
            continue;
        magazine_give(cache, victim, count > capacity / 2 ? count - capacity / 2 : 0, fence, true);
        magazine->end = magazine->bottom + capacity / 2;
        cache->room_bytes += (size_t)(capacity - capacity / 2) * magazine->block_bytes;
        return;
    }
}

/* How many items more a magazine gets after a miss: as many as it has, or as many as there is room for. */
static size_t magazine_want(small_cache_t *cache, uint32_t class_index, jstream_t *stream) {
    const small_magazine_t *magazine = &cache->magazines[class_index];
    size_t block_bytes = magazine->block_bytes, capacity = small_magazine_capacity(magazine), more = capacity;
    if (more == 0)
        more = SMALL_FIRST_BYTES / block_bytes;
    if (more > SMALL_FIRST_ITEMS && capacity == 0)
        more = SMALL_FIRST_ITEMS;
    if (more == 0)
        more = 1;
    if (more > SMALL_MOST_ITEMS - capacity)
        more = SMALL_MOST_ITEMS - capacity;
    if (more * block_bytes > cache->room_bytes)
        cache_steal(cache, class_index, stream);
    return more * block_bytes > cache->room_bytes ? cache->room_bytes / block_bytes : more;
}

/* After a miss. Where bookkeeping memory fails the magazine stays as it is. */
static void magazine_grow(small_cache_t *cache, uint32_t class_index, jstream_t *stream) {
    small_magazine_t *magazine = &cache->magazines[class_index];
    ++cache->misses;
    size_t more = magazine_want(cache, class_index, stream);
    size_t capacity = small_magazine_capacity(magazine) + more, count = small_magazine_count(magazine);
    small_item_t *old = magazine->bottom, *items = more > 0 ? ji_metadata_alloc(capacity * sizeof *items) : NULL;
    if (items == NULL)
        return;
    if (count > 0)
        memcpy(items, old, count * sizeof *items);
    ji_lock_acquire(&small_registry_lock);
    magazine->bottom = items;
    magazine->end = items + capacity;
    small_store(magazine->top, items + count);
    ji_lock_release(&small_registry_lock);
    ji_metadata_free(old);
    cache->room_bytes -= more * magazine->block_bytes;
}

jstatus_t ji_small_cache_pop(small_t *small, small_cache_t *cache, uint32_t class_index, jstream_t *stream,
                             small_item_t *item) {
    small_magazine_t *magazine = cache != NULL ? &cache->magazines[class_index] : NULL;
    if (magazine != NULL && small_magazine_count(magazine) == 0)
        magazine_grow(cache, class_index, stream);
    bool keeps = magazine != NULL && small_magazine_capacity(magazine) > 0;
    uint32_t count = keeps ? small_magazine_count(magazine) : 0;
    small_item_t *items = keeps ? magazine->bottom : item;
    if (count == 0) {
        uint32_t wanted = keeps ? (small_magazine_capacity(magazine) + 1) / 2 : 1;
        JTRY_RETURN(ji_small_central_take(small, class_index, stream, items, wanted, &count));
        ji_small_count_blocks(small, cache, count);
    }
    if (keeps) {
        *item = items[--count];
        small_store(magazine->top, items + count);
    }
    return JSTATUS_SUCCESS;
}

jstatus_t ji_small_cache_push(small_t *small, small_cache_t *cache, uint32_t class_index, jstream_t *stream,
                              small_item_t item) {
    small_magazine_t *magazine = cache != NULL ? &cache->magazines[class_index] : NULL;
    if (magazine != NULL && small_load(magazine->top) == magazine->end)
        magazine_grow(cache, class_index, stream);
    bool keeps = magazine != NULL && small_magazine_capacity(magazine) > 0;
    ji_fence_t fence;
    if (!keeps || small_load(magazine->top) == magazine->end) {
        JTRY_RETURN(ji_small_central_mark(small, stream, &fence));
        if (keeps)
            magazine_give(cache, class_index, (small_magazine_capacity(magazine) + 1) / 2, fence, false);
    }
    small_store(item.cell->size_bytes, 0);
    if (keeps) {
        small_item_t *top = small_load(magazine->top);
        *top = item;
        small_store(magazine->top, top + 1);
    } else {
        ji_small_central_give(small, class_index, &item, 1, fence, false);
        ji_small_count_blocks(small, cache, (size_t)-1);
    }
    return JSTATUS_SUCCESS;
}

/* ---- Whose caches there are ---- */

/* What the cache's blocks are behind; under the registry's lock, so that the stream is not destroyed meanwhile. */
static ji_fence_t cache_fence(small_cache_t *cache) {
    jstream_t *stream = small_load(cache->stream);
    ji_fence_t fence = {0, 0};
    if (stream != SMALL_GONE) /* where this fails the device does, and nothing is behind anything any more */
        (void)ji_small_central_mark(cache->small, stream, &fence);
    return fence;
}

/* Takes the cache out of its thread's list and hint. */
static void cache_leave_thread(small_cache_t *cache) {
    small_thread_t *thread = cache->thread;
    if (thread == NULL)
        return;
    small_cache_t **link = &thread->first;
    while (*link != cache)
        link = &(*link)->next_of_thread;
    *link = cache->next_of_thread;
    if (small_load(thread->allocator) == cache->small->allocator)
        small_store(thread->allocator, NULL);
    cache->thread = NULL;
}

static void cache_free(small_cache_t *cache) {
    for (uint32_t i = 0; i < cache->small->class_count; ++i)
        ji_metadata_free(cache->magazines[i].bottom);
    ji_metadata_free(cache);
}

/* The thread ends. While it empties a cache, which may go below and to other caches, it holds no lock of the registry;
 * whoever destroys the allocator meanwhile waits. */
static void thread_end(void *value) {
    small_thread_t *thread = value;
    thread->ended = true;
    ji_lock_acquire(&small_registry_lock);
    while (thread->first != NULL) {
        small_cache_t *cache = thread->first;
        cache_leave_thread(cache);
        cache->leaving = true;
        ji_fence_t fence = cache_fence(cache);
        ji_lock_release(&small_registry_lock);
        cache_empty(cache, fence);
        ji_lock_acquire(&small_registry_lock);
        ji_lock_acquire(&cache->small->lock);
        counts_retire(cache->small, cache);
        ji_lock_release(&cache->small->lock);
        ji_list_remove(&cache->link);
        cache_free(cache);
    }
    ji_lock_release(&small_registry_lock);
}

/* The parent's other threads are not here, and where their hints were may be another's memory. */
static void registry_after_fork(void) {
    JI_LIST_EACH(&small_registry, small_t, small, link)
        JI_LIST_EACH(&small->caches, small_cache_t, cache, link)
            if (cache->thread != &ji_small_thread) {
                cache->thread = NULL;
                cache->leaving = false;
            }
}

static void registry_start(void) {
    static const ji_fork_handlers_t handlers = {NULL, NULL, registry_after_fork};
    ji_lock_init(&small_registry_lock);
    small_key_made = pthread_key_create(&small_key, thread_end) == 0;
    ji_fork_hold(JI_FORK_CACHES, &handlers);
}

void ji_small_cache_enter(small_t *small) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, registry_start);
    ji_lock_acquire(&small_registry_lock);
    ji_list_push_front(&small_registry, &small->link);
    ji_lock_release(&small_registry_lock);
}

/* One of the allocator's caches, taken out of all lists; NULL: there is none left. */
static small_cache_t *registry_take_cache(small_t *small, ji_fence_t *fence) {
    ji_lock_acquire(&small_registry_lock);
    small_cache_t *cache;
    /* The thread of one that is leaving will have done it soon. */
    while ((cache = JI_LIST_FIRST(&small->caches, small_cache_t, link)) != NULL && cache->leaving) {
        ji_lock_release(&small_registry_lock);
        sched_yield();
        ji_lock_acquire(&small_registry_lock);
    }
    if (cache != NULL) {
        cache_leave_thread(cache);
        ji_list_remove(&cache->link);
        *fence = cache_fence(cache);
    }
    ji_lock_release(&small_registry_lock);
    return cache;
}

void ji_small_cache_leave(small_t *small) {
    small_cache_t *cache;
    ji_fence_t fence;
    while ((cache = registry_take_cache(small, &fence)) != NULL) {
        cache_empty(cache, fence);
        cache_free(cache);
    }
    ji_lock_acquire(&small_registry_lock);
    ji_list_remove(&small->link);
    ji_lock_release(&small_registry_lock);
}

void ji_small_cache_forget(small_t *small, const jstream_t *stream) {
    ji_lock_acquire(&small_registry_lock);
    JI_LIST_EACH(&small->caches, small_cache_t, cache, link)
        if (small_load(cache->stream) == stream)
            small_store(cache->stream, SMALL_GONE);
    ji_lock_release(&small_registry_lock);
}

/* A new cache of the calling thread; under the registry's lock. NULL where there can be none. */
static small_cache_t *cache_make(small_t *small, jstream_t *stream) {
    if (!small_key_made || (ji_small_thread.first == NULL && pthread_setspecific(small_key, &ji_small_thread) != 0))
        return NULL;
    small_cache_t *cache = ji_metadata_zalloc(sizeof *cache + small->class_count * sizeof cache->magazines[0]);
    if (cache == NULL)
        return NULL;
    atomic_init(&cache->stream, stream);
    cache->class_of = small->class_of;
    cache->small = small;
    cache->room_bytes = small->cache_bytes;
    cache->epoch = small_load(small->epoch);
    for (uint32_t i = 0; i < small->class_count; ++i) {
        cache->magazines[i].alignment = small->classes[i].alignment;
        cache->magazines[i].block_bytes = small->classes[i].block_bytes;
    }
    cache->thread = &ji_small_thread;
    cache->next_of_thread = ji_small_thread.first;
    ji_small_thread.first = cache;
    ji_list_push_front(&small->caches, &cache->link);
    return cache;
}

/* The thread's cache for the stream among all it has, or that of a stream that is gone, or a new one. The counts move
 * to it, so that a peak is that of the thread, whichever stream it works for. */
static small_cache_t *cache_search(small_t *small, jstream_t *stream) {
    small_cache_t *found = NULL, *gone = NULL, *counting = NULL;
    for (small_cache_t *cache = ji_small_thread.first; cache != NULL; cache = cache->next_of_thread) {
        if (cache->small != small)
            continue;
        if (cache->counting)
            counting = cache;
        if (small_load(cache->stream) == stream)
            found = cache;
        else if (small_load(cache->stream) == SMALL_GONE)
            gone = cache;
    }
    if (found == NULL && gone != NULL) {
        found = gone;
        small_store(found->stream, stream);
    }
    if (found == NULL && (found = cache_make(small, stream)) == NULL)
        return NULL;
    if (counting != NULL && counting != found) {
        counts_add(&found->counts, &counting->counts);
        memset(&counting->counts, 0, sizeof counting->counts);
        counting->counting = false;
    }
    found->counting = true;
    return found;
}

small_cache_t *ji_small_cache_get(small_t *small, jstream_t *stream) {
    small_cache_t *cache = NULL;
    if (!cache_at_hand(small->allocator, stream, &cache) && !ji_small_thread.ended) {
        ji_lock_acquire(&small_registry_lock);
        cache = cache_search(small, stream);
        if (cache != NULL) {
            ji_small_thread.cache = cache;
            small_store(ji_small_thread.allocator, small->allocator);
        }
        ji_lock_release(&small_registry_lock);
    }
    if (cache == NULL)
        return NULL;
    cache->table = atomic_load_explicit(&small->table, memory_order_acquire);
    cache->table_mask = cache->table->mask;
    ji_fence_t fence;
    if (JI_UNLIKELY(cache->epoch != small_load(small->epoch)) &&
        ji_small_central_mark(small, stream, &fence) == JSTATUS_SUCCESS) {
        cache->epoch = small_load(small->epoch);
        cache_empty(cache, fence);
    }
    return cache;
}

void ji_small_cache_empty(small_t *small) {
    unsigned epoch = atomic_fetch_add_explicit(&small->epoch, 1, memory_order_relaxed) + 1;
    ji_lock_acquire(&small_registry_lock);
    for (small_cache_t *cache = ji_small_thread.first; cache != NULL;) {
        if (cache->small != small || cache->epoch == epoch) {
            cache = cache->next_of_thread;
            continue;
        }
        cache->epoch = epoch;
        ji_fence_t fence = cache_fence(cache);
        ji_lock_release(&small_registry_lock); /* emptying goes below */
        cache_empty(cache, fence);
        ji_lock_acquire(&small_registry_lock);
        cache = ji_small_thread.first; /* the list may be another one now */
    }
    ji_lock_release(&small_registry_lock);
}
