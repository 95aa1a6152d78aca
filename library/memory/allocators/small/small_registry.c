/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Whose caches there are.
 *
 * A thread that ends empties and frees its caches. An allocator that is destroyed frees the caches
 * that all threads have of it, and clears their hint to it; all lists are under one lock of the
 * process, the registry's. The hint names the allocator, and is followed only where the caller uses
 * that very allocator, which therefore lives. So what a thread's hint leads to can never have been
 * freed, though nobody waits for the thread. In a forked child the caches of the parent's other
 * threads belong to nobody; what they hold is lost until the allocator is destroyed. */

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "memory/allocators/small/small.h"

char ji_small_gone;

_Thread_local small_thread_t ji_small_thread __attribute__((tls_model("initial-exec")));

ji_lock_t ji_small_registry_lock;
static ji_list_t small_registry = JI_LIST_EMPTY(small_registry); /* all allocators */
static pthread_key_t small_key; /* its destructor sees threads end */
static bool small_key_made;

/* What the cache's blocks are behind; under the registry's lock, so that the stream is not
 * destroyed meanwhile. */
static ji_fence_t cache_fence(small_cache_t *cache) {
    jstream_t *stream = small_load(cache->stream);
    ji_fence_t fence = {0, 0};

    /* Where this fails the device does, and nothing is behind anything any more. */
    if (stream != SMALL_GONE)
        (void)ji_small_central_mark(cache->small, stream, &fence);
    return fence;
}

/* What the thread used last; no cache: nothing. */
static void small_thread_set(small_thread_t *thread, const jallocator_t *allocator,
                             small_cache_t *cache) {
    bool is_inline = cache != NULL && small_load(cache->stream) == NULL;
    if (cache != NULL)
        thread->cache = cache;
    if (is_inline)
        thread->hint->cache = cache;
    small_store(thread->allocator, allocator);
    small_store(thread->hint->allocator, is_inline ? allocator : JTHREAD_NO_ALLOCATOR_);
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
        small_thread_set(thread, NULL, NULL);
    cache->thread = NULL;
}

static void cache_free(small_cache_t *cache) {
    for (uint32_t i = 0; i < cache->small->class_count; ++i)
        ji_small_magazine_free(&cache->magazines[i]);
    ji_metadata_free(cache);
}

/* The thread ends. While it empties a cache, which may go below and to other caches, it holds no
 * lock of the registry; whoever destroys the allocator meanwhile waits. */
static void thread_end(void *value) {
    small_thread_t *thread = value;
    thread->ended = true;

    ji_lock_acquire(&ji_small_registry_lock);
    while (thread->first != NULL) {
        small_cache_t *cache = thread->first;
        cache_leave_thread(cache);
        cache->leaving = true;
        ji_fence_t fence = cache_fence(cache);

        ji_lock_release(&ji_small_registry_lock);
        ji_small_magazines_empty(cache, fence);
        ji_lock_acquire(&ji_small_registry_lock);

        ji_lock_acquire(&cache->small->lock);
        ji_small_counts_retire(cache->small, cache);
        ji_lock_release(&cache->small->lock);
        ji_list_remove(&cache->link);
        cache_free(cache);
    }
    ji_lock_release(&ji_small_registry_lock);
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
    ji_lock_init(&ji_small_registry_lock);
    small_key_made = pthread_key_create(&small_key, thread_end) == 0;
    ji_fork_hold(JI_FORK_CACHES, &handlers);
}

void ji_small_cache_enter(small_t *small) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, registry_start);

    ji_lock_acquire(&ji_small_registry_lock);
    ji_list_push_front(&small_registry, &small->link);
    ji_lock_release(&ji_small_registry_lock);
}

/* One of the allocator's caches, taken out of all lists; NULL: there is none left. */
static small_cache_t *registry_take_cache(small_t *small, ji_fence_t *fence) {
    ji_lock_acquire(&ji_small_registry_lock);
    small_cache_t *cache;
    /* The thread of one that is leaving will have done it soon. */
    while ((cache = JI_LIST_FIRST(&small->caches, small_cache_t, link)) != NULL && cache->leaving) {
        ji_lock_release(&ji_small_registry_lock);
        sched_yield();
        ji_lock_acquire(&ji_small_registry_lock);
    }

    if (cache != NULL) {
        cache_leave_thread(cache);
        ji_list_remove(&cache->link);
        *fence = cache_fence(cache);
    }
    ji_lock_release(&ji_small_registry_lock);
    return cache;
}

void ji_small_cache_leave(small_t *small) {
    small_cache_t *cache;
    ji_fence_t fence;
    while ((cache = registry_take_cache(small, &fence)) != NULL) {
        ji_small_magazines_empty(cache, fence);
        cache_free(cache);
    }

    ji_lock_acquire(&ji_small_registry_lock);
    ji_list_remove(&small->link);
    ji_lock_release(&ji_small_registry_lock);
}

void ji_small_cache_forget(small_t *small, const jstream_t *stream) {
    ji_lock_acquire(&ji_small_registry_lock);
    JI_LIST_EACH(&small->caches, small_cache_t, cache, link)
        if (small_load(cache->stream) == stream)
            small_store(cache->stream, SMALL_GONE);
    ji_lock_release(&ji_small_registry_lock);
}

/* A new cache of the calling thread; under the registry's lock. NULL where there can be none. */
static small_cache_t *cache_make(small_t *small, jstream_t *stream) {
    if (!small_key_made ||
        (ji_small_thread.first == NULL && pthread_setspecific(small_key, &ji_small_thread) != 0))
        return NULL;

    small_cache_t *cache =
        ji_metadata_zalloc(sizeof *cache + small->class_count * sizeof cache->magazines[0]);
    if (cache == NULL)
        return NULL;

    for (size_t i = 0; i < JALLOCATOR_NEAR_UNITS_; ++i)
        cache->seen.near_slabs[i] = &ji_small_nowhere.seen;
    cache->stream = stream;
    cache->small = small;
    cache->room_bytes = small->cache_bytes;
    cache->epoch = small_load(small->epoch);

    for (uint32_t i = 0; i < small->class_count; ++i) {
        cache->magazines[i].alignment = small->classes[i].alignment;
        cache->magazines[i].block_bytes = small->classes[i].block_bytes;
        ji_small_magazine_set(&cache->magazines[i], NULL, 0, 0);
    }
    for (size_t i = 0; i < JALLOCATOR_STEPS_ && i < small->largest_bytes / SMALL_STEP_BYTES; ++i)
        cache->seen.magazines[i] = &cache->magazines[small->class_of[i]].seen;

    ji_small_thread.hint = &jthread_hint_1_;
    cache->thread = &ji_small_thread;
    cache->next_of_thread = ji_small_thread.first;
    ji_small_thread.first = cache;
    ji_list_push_front(&small->caches, &cache->link);
    return cache;
}

/* The thread's cache for the stream among all it has, or that of a stream that is gone, or a new
 * one. The counts move to it, so that a peak is that of the thread, whichever stream it works
 * for. */
static small_cache_t *cache_search(small_t *small, jstream_t *stream) {
    small_cache_t *found = NULL, *gone = NULL, *counting = NULL;

    for (small_cache_t *cache = ji_small_thread.first; cache != NULL;
         cache = cache->next_of_thread) {
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
        ji_small_counts_move(found, counting);
        counting->counting = false;
    }
    found->counting = true;
    return found;
}

small_cache_t *ji_small_cache_get(small_t *small, jstream_t *stream) {
    small_cache_t *cache = NULL;

    if (!small_cache_at_hand(small->allocator, stream, &cache) && !ji_small_thread.ended) {
        ji_lock_acquire(&ji_small_registry_lock);
        cache = cache_search(small, stream);
        if (cache != NULL)
            small_thread_set(&ji_small_thread, small->allocator, cache);
        ji_lock_release(&ji_small_registry_lock);
    }

    if (cache == NULL)
        return NULL;
    ji_fence_t fence;
    if (JI_UNLIKELY(cache->epoch != small_load(small->epoch)) &&
        ji_small_central_mark(small, stream, &fence) == JSTATUS_SUCCESS) {
        cache->epoch = small_load(small->epoch);
        ji_small_magazines_empty(cache, fence);
    }
    return cache;
}

void ji_small_cache_empty(small_t *small) {
    unsigned epoch = __atomic_add_fetch(&small->epoch, 1, __ATOMIC_RELAXED);
    ji_lock_acquire(&ji_small_registry_lock);
    for (small_cache_t *cache = ji_small_thread.first; cache != NULL;) {
        if (cache->small != small || cache->epoch == epoch) {
            cache = cache->next_of_thread;
            continue;
        }

        cache->epoch = epoch;
        ji_fence_t fence = cache_fence(cache);
        ji_lock_release(&ji_small_registry_lock); /* emptying goes below */
        ji_small_magazines_empty(cache, fence);
        ji_lock_acquire(&ji_small_registry_lock);
        cache = ji_small_thread.first; /* the list may be another one now */
    }
    ji_lock_release(&ji_small_registry_lock);
}
