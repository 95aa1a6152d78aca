/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Small blocks and threads: caches, and threads without one; what ends with a thread; a fork. Some
 * tests look inside, at locks, which they hold to show that nobody waits for them. */

#include "small_helper.h"

#include <errno.h>

/* ---- Locks ---- */

typedef struct pairs_job {
    jallocator_t *allocator;
    jtest_gate_t warm, locked;
    atomic_bool done;
} pairs_job_t;

static void *do_pairs(void *argument) {
    pairs_job_t *job = argument;
    void *pointers[4];
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 4; ++i)
            pointers[i] = try_take(job->allocator, 100, NULL);
        for (int i = 0; i < 4; ++i)
            (void)jallocator_deallocate(job->allocator, pointers[i], 100, NULL);
        if (round == 0) {
            jtest_gate_open(&job->warm);
            jtest_gate_pass(&job->locked);
        }
    }
    atomic_store(&job->done, true);
    return NULL;
}

JTEST(Small, AWarmThreadTakesNoLock) {
    jallocator_t *allocator = make_default();
    small_t *small = allocator->context;
    pairs_job_t job = {.allocator = allocator, .warm = JTEST_GATE_INIT, .locked = JTEST_GATE_INIT};
    pthread_t thread;
    JASSERT_EQ(pthread_create(&thread, NULL, do_pairs, &job), 0);
    jtest_gate_pass(&job.warm);
    ji_lock_acquire(&ji_small_registry_lock);
    ji_lock_acquire(&small->lock);
    ji_lock_acquire(&allocator->lock);
    for (uint32_t i = 0; i < small->class_count; ++i)
        ji_lock_acquire(&small->classes[i].lock);
    jtest_gate_open(&job.locked);
    for (int waited = 0; !atomic_load(&job.done) && waited < 20000; ++waited)
        jtest_sleep_ms(1);
    JEXPECT_TRUE(atomic_load(&job.done)); /* while all the locks are held */
    for (uint32_t i = 0; i < small->class_count; ++i)
        ji_lock_release(&small->classes[i].lock);
    ji_lock_release(&allocator->lock);
    ji_lock_release(&small->lock);
    ji_lock_release(&ji_small_registry_lock);
    pthread_join(thread, NULL);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- What a thread keeps ---- */

static size_t kept_bytes(const small_t *small) {
    const small_cache_t *cache = JI_LIST_FIRST(&small->caches, small_cache_t, link);
    size_t bytes = 0;
    for (uint32_t i = 0; cache != NULL && i < small->class_count; ++i)
        bytes += small_magazine_count(&cache->magazines[i]) * small->classes[i].block_bytes;
    return bytes;
}

/* 1 MiB unless another is asked for, of whatever sizes. */
JTEST(Small, AThreadKeepsAtMostSoMuch) {
    enum { BLOCKS = 4000, ROUNDS = 20 };
    static void *blocks[BLOCKS];
    static size_t sizes[BLOCKS];
    static const size_t limits[] = {0, 100 * KIB, 3 * MIB};
    for (size_t limit = 0; limit < sizeof limits / sizeof *limits; ++limit) {
        jallocator_t *allocator = make_small(jtest_failing_allocator(), 0, limits[limit]);
        const size_t most = limits[limit] != 0 ? limits[limit] : MIB;
        size_t peak = 0;
        for (int round = 0; round < ROUNDS; ++round) {
            const int64_t largest = jtest_random_between(64, (int64_t)(4 * KIB));
            for (size_t i = 0; i < BLOCKS; ++i)
                blocks[i] =
                    take(allocator, sizes[i] = (size_t)jtest_random_between(largest / 2, largest));
            for (size_t i = 0; i < BLOCKS; ++i)
                give(allocator, blocks[i], sizes[i]);
            const size_t kept = kept_bytes(allocator->context);
            peak = kept > peak ? kept : peak;
        }
        JEXPECT_LE(peak, most);
        JEXPECT_GE(peak, most / 2);
        JEXPECT_OK(jallocator_destroy(allocator));
    }
}

/* ---- Statistics ---- */

static void *clear_stats(void *allocator) {
    JEXPECT_OK(jallocator_clear_stats(allocator));
    return NULL;
}

JTEST(Small, APeakThatAnotherThreadClearsIsExactFromThenOn) {
    jallocator_t *allocator = make_default();
    void *blocks[10];
    for (int i = 0; i < 10; ++i)
        blocks[i] = take(allocator, 100);
    for (int i = 6; i < 10; ++i)
        give(allocator, blocks[i], 100);

    run_thread(clear_stats, allocator);
    JEXPECT_EQ(stats_of(allocator).peak_in_use_bytes, 600);
    give(allocator, blocks[5], 100);
    give(allocator, blocks[4], 100);
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, 400);
    JEXPECT_EQ(stats_of(allocator).peak_in_use_bytes, 600);

    for (int i = 4; i < 8; ++i) {
        blocks[i] = take(allocator, 100);
        const size_t in_use_bytes = 100 * ((size_t)i + 1);
        JEXPECT_EQ(stats_of(allocator).in_use_bytes, in_use_bytes);
        JEXPECT_EQ(stats_of(allocator).peak_in_use_bytes, in_use_bytes > 600 ? in_use_bytes : 600);
    }
    for (int i = 0; i < 8; ++i)
        give(allocator, blocks[i], 100);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- Threads ---- */

typedef struct block_list {
    jallocator_t *allocator;
    void *pointers[200];
    size_t size_bytes;
    jstatus_t status;
    jtest_gate_t *reached, *go, *used;
    const jallocator_t *hint; /* what the thread thinks it used last */
    const void *inline_hint;
} block_list_t;

static void *take_all(void *argument) {
    block_list_t *list = argument;
    for (size_t i = 0; i < 200; ++i)
        list->pointers[i] = try_take(list->allocator, list->size_bytes, NULL);
    return NULL;
}
static void *free_all(void *argument) {
    block_list_t *list = argument;
    for (size_t i = 0; i < 200; ++i) {
        const jstatus_t status =
            jallocator_deallocate(list->allocator, list->pointers[i], list->size_bytes, NULL);
        if (status != JSTATUS_SUCCESS)
            list->status = status;
    }
    return NULL;
}
static void *take_and_free_all(void *argument) {
    take_all(argument);
    return free_all(argument);
}

JTEST(Small, AThreadThatEndsGivesItsCacheBack) {
    jallocator_t *allocator = make_default();
    const small_t *small = allocator->context;
    block_list_t list = {.allocator = allocator, .size_bytes = 1000};
    run_thread(take_and_free_all, &list);
    JEXPECT_TRUE(ji_list_is_empty(&small->caches));
    const jallocator_stats_t stats = stats_of(allocator);
    JEXPECT_EQ(stats.allocation_count, 200);
    JEXPECT_EQ(stats.live_count, 0);
    JEXPECT_EQ(stats.in_use_bytes, 0);
    JEXPECT_EQ(stats.peak_in_use_bytes, 200 * 1000);
    JEXPECT_EQ(stats.free_bytes, stats.reserved_bytes);
    const uint64_t first_count = jtest_allocation_count();
    JEXPECT_GE(first_count, 4);
    run_thread(take_and_free_all, &list); /* served by what the first one left */
    JEXPECT_LE(jtest_allocation_count(), first_count + 1);
    JEXPECT_EQ(stats_of(allocator).peak_in_use_bytes, 200 * 1000);
    JEXPECT_EQ(stats_of(allocator).allocation_count, 400);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
    JEXPECT_EQ(jtest_live_bytes(), 0);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Small, AnotherThreadMayFree) {
    jallocator_t *allocator = make_default();
    block_list_t list = {.allocator = allocator, .size_bytes = 64};
    take_all(&list);
    const size_t reserved = stats_of(allocator).reserved_bytes;
    for (int round = 0; round < 20; ++round) {
        run_thread(free_all, &list);
        JEXPECT_OK(list.status);
        JEXPECT_EQ(stats_of(allocator).live_count, 0);
        JEXPECT_EQ(stats_of(allocator).in_use_bytes, 0);
        take_all(&list);
        JEXPECT_EQ(stats_of(allocator).live_count, 200);
    }
    JEXPECT_LE(stats_of(allocator).reserved_bytes, 4 * reserved); /* what others freed came back */
    free_all(&list);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* Several threads exchange blocks through places; each block says what is in it. */
enum { PLACES = 64, MOST_THREADS = 8 };
typedef struct exchange {
    jallocator_t *allocator;
    _Atomic(uint64_t *) places[PLACES];
    atomic_uint wrong;
    int64_t rounds;
} exchange_t;
typedef struct exchanger {
    exchange_t *exchange;
    uint64_t random;
} exchanger_t;

static size_t exchange_size(uint64_t seed) { return sizeof(uint64_t) * (2 + seed % 700); }

static void exchange_end(exchange_t *exchange, uint64_t *block) {
    if (block == NULL)
        return;
    const uint64_t seed = block[0];
    const size_t size = exchange_size(seed), words = size / sizeof *block;
    bool whole = true;
    for (size_t i = 1; i < words; ++i)
        whole &= block[i] == seed + i;
    if (!whole || jallocator_deallocate(exchange->allocator, block, size, NULL) != JSTATUS_SUCCESS)
        atomic_fetch_add(&exchange->wrong, 1);
}

static void *exchange_work(void *argument) {
    exchanger_t *self = argument;
    exchange_t *exchange = self->exchange;
    for (int64_t round = 0; round < exchange->rounds; ++round) {
        const uint64_t seed = jtest_random_next(&self->random) >> 8;
        uint64_t *block = try_take(exchange->allocator, exchange_size(seed), NULL);
        if (block == NULL) {
            atomic_fetch_add(&exchange->wrong, 1);
            continue;
        }
        for (size_t i = 0; i < exchange_size(seed) / sizeof *block; ++i)
            block[i] = seed + i;
        exchange_end(exchange, atomic_exchange(&exchange->places[seed % PLACES], block));
    }
    return NULL;
}

JTEST(Small, ProducersAndConsumersKeepTheirContents) {
    for (int threads = 2; threads <= MOST_THREADS; threads *= 2) {
        JSCOPED_TRACE("%d threads", threads);
        exchange_t exchange = {.allocator =
                                   make_small(jtest_failing_allocator(), 4 * KIB, 64 * KIB),
                               .rounds = jtest_iterations(4000)};
        exchanger_t self[MOST_THREADS];
        pthread_t thread[MOST_THREADS];
        for (int i = 0; i < threads; ++i) {
            self[i] = (exchanger_t){&exchange, jtest_random()};
            JASSERT_EQ(pthread_create(&thread[i], NULL, exchange_work, &self[i]), 0);
        }
        for (int i = 0; i < threads; ++i)
            pthread_join(thread[i], NULL);
        for (int i = 0; i < PLACES; ++i)
            exchange_end(&exchange, atomic_load(&exchange.places[i]));
        JEXPECT_EQ(atomic_load(&exchange.wrong), 0);
        const jallocator_stats_t stats = stats_of(exchange.allocator);
        JEXPECT_EQ(stats.allocation_count, (uint64_t)(threads * exchange.rounds));
        JEXPECT_EQ(stats.live_count, 0);
        JEXPECT_EQ(stats.in_use_bytes, 0);
        JEXPECT_OK(jallocator_check(exchange.allocator));
        JEXPECT_OK(jallocator_destroy(exchange.allocator));
    }
}

static void *use_and_stay(void *argument) {
    block_list_t *list = argument;
    take_and_free_all(list);
    jtest_gate_open(list->reached);
    jtest_gate_pass(list->go);
    list->hint = small_load(ji_small_thread.allocator);
    list->inline_hint = small_load(jthread_hint_1_.allocator);
    take_and_free_all(list); /* another allocator, perhaps at the same address */
    jtest_gate_open(list->used);
    return NULL;
}

JTEST(Small, AnAllocatorMayGoBeforeTheThreadsThatUsedIt) {
    for (int round = 0; round < 20; ++round) {
        jtest_gate_t reached = JTEST_GATE_INIT, go = JTEST_GATE_INIT, used = JTEST_GATE_INIT;
        block_list_t list = {.allocator = make_default(),
                             .size_bytes = 128,
                             .reached = &reached,
                             .go = &go,
                             .used = &used};
        pthread_t thread;
        JASSERT_EQ(pthread_create(&thread, NULL, use_and_stay, &list), 0);
        jtest_gate_pass(&reached);
        JASSERT_OK(jallocator_destroy(list.allocator));
        JEXPECT_EQ(jtest_live_bytes(), 0);
        list.allocator = make_default();
        jtest_gate_open(&go);
        if (round % 2 == 0) {
            pthread_join(thread, NULL);
            JEXPECT_NULL(list.hint);
            JEXPECT_TRUE(list.inline_hint == JTHREAD_NO_ALLOCATOR_);
            JEXPECT_OK(list.status);
            JEXPECT_EQ(stats_of(list.allocator).allocation_count, 200);
            JEXPECT_OK(jallocator_destroy(list.allocator));
        } else { /* the thread empties its cache while the allocator goes */
            jtest_gate_pass(&used);
            JEXPECT_OK(jallocator_destroy(list.allocator));
            pthread_join(thread, NULL);
        }
    }
}

JTEST(Small, AThreadMayUseManyAllocatorsInTurn) {
    enum { COUNT = 5 };
    jallocator_t *allocators[COUNT];
    void *pointers[COUNT][20];
    for (int i = 0; i < COUNT; ++i)
        allocators[i] = make_default();
    for (size_t k = 0; k < 20; ++k)
        for (int i = 0; i < COUNT; ++i)
            JASSERT_NOT_NULL(pointers[i][k] = try_take(allocators[i], 64 + k, NULL));
    for (int i = 0; i < COUNT; ++i) {
        const int other = (i + 1) % COUNT;
        JEXPECT_STATUS(jallocator_deallocate(allocators[other], pointers[i][0], 64, NULL),
                       JSTATUS_NOT_FOUND);
        for (size_t k = 0; k < 20; ++k)
            JEXPECT_OK(jallocator_deallocate(allocators[i], pointers[i][k], 64 + k, NULL));
    }
    for (int i = 0; i < COUNT; ++i) {
        JEXPECT_EQ(stats_of(allocators[i]).allocation_count, 20);
        JEXPECT_OK(jallocator_trim(allocators[i], 0)); /* of this one alone */
        JEXPECT_EQ(stats_of(allocators[i]).reserved_bytes, 0);
        JEXPECT_OK(jallocator_destroy(allocators[i]));
    }
}

/* ---- A fork ---- */

static void fork_child(void *argument) {
    block_list_t *list = argument;
    take_and_free_all(list);
    JEXPECT_OK(list->status);
#ifndef __SANITIZE_THREAD__ /* it knows no threads that are made behind a fork */
    run_thread(take_and_free_all, list);
    JEXPECT_OK(list->status);
#endif
    JEXPECT_OK(jallocator_destroy(list->allocator));
}

JTEST(Small, AForkedChildGoesOnWithoutTheOtherThreads) {
    jtest_gate_t reached = JTEST_GATE_INIT, go = JTEST_GATE_INIT, used = JTEST_GATE_INIT;
    block_list_t list = {.allocator = make_default(),
                         .size_bytes = 128,
                         .reached = &reached,
                         .go = &go,
                         .used = &used};
    pthread_t thread;
    JASSERT_EQ(pthread_create(&thread, NULL, use_and_stay, &list), 0);
    jtest_gate_pass(&reached);
    block_list_t own = {.allocator = list.allocator, .size_bytes = 300};
    take_and_free_all(&own);
    jtest_in_child(60, fork_child, &own);
    jtest_gate_open(&go);
    pthread_join(thread, NULL);
    JEXPECT_OK(jallocator_destroy(list.allocator));
}

/* ---- Threads without a cache ---- */

static void *take_and_free(void *argument) {
    void *pointers[20];
    for (size_t i = 0; i < 20; ++i)
        pointers[i] = try_take(argument, 100, NULL);
    for (size_t i = 0; i < 20; ++i)
        JEXPECT_OK(jallocator_deallocate(argument, pointers[i], 100, NULL));
    return NULL;
}

JTEST(Small, AThreadThatCanHaveNoCacheIsServed) {
    jallocator_t *allocator = make_default();
    pthread_t thread;
    jtest_fail_calls("pthread_setspecific", 1, UINT64_MAX, ENOMEM);
    JASSERT_EQ(pthread_create(&thread, NULL, take_and_free, allocator), 0);
    pthread_join(thread, NULL);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_TRUE(ji_list_is_empty(&((const small_t *)allocator->context)->caches));
    JEXPECT_EQ(stats_of(allocator).live_count, 0);
    JEXPECT_EQ(stats_of(allocator).allocation_count, 20);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
}

static pthread_key_t late_key;
static void allocate_late(void *allocator) { (void)take_and_free(allocator); }
static void *end_with_a_late_use(void *allocator) {
    JEXPECT_EQ(pthread_setspecific(late_key, allocator), 0);
    return take_and_free(allocator);
}

JTEST(Small, AThreadThatEndsIsServedWithoutACache) {
    jallocator_t *allocator = make_default();
    pthread_t thread;
    JASSERT_EQ(pthread_key_create(&late_key, allocate_late),
               0); /* glibc: ended after the allocator's key, which is older */
    JASSERT_EQ(pthread_create(&thread, NULL, end_with_a_late_use, allocator), 0);
    pthread_join(thread, NULL);
    JEXPECT_TRUE(ji_list_is_empty(&((const small_t *)allocator->context)->caches));
    JEXPECT_EQ(stats_of(allocator).allocation_count, 40);
    JEXPECT_EQ(stats_of(allocator).live_count, 0);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_EQ(pthread_key_delete(late_key), 0);
}

/* What other threads keep goes back when they next need something. */
typedef struct keeper {
    jallocator_t *allocator;
    jtest_gate_t kept, trimmed, used, seen;
} keeper_t;
static void *keep_and_use(void *argument) {
    keeper_t *keeper = argument;
    (void)take_and_free(keeper->allocator);
    jtest_gate_open(&keeper->kept);
    jtest_gate_pass(&keeper->trimmed);
    void *other = try_take(keeper->allocator, 20 * KIB, NULL);
    JEXPECT_OK(jallocator_deallocate(keeper->allocator, other, 20 * KIB, NULL));
    jtest_gate_open(&keeper->used);
    jtest_gate_pass(&keeper->seen);
    return NULL;
}
JTEST(Small, ATrimReachesOtherThreadsWhenTheyNextNeedSomething) {
    keeper_t keeper = {make_default(), JTEST_GATE_INIT, JTEST_GATE_INIT, JTEST_GATE_INIT,
                       JTEST_GATE_INIT};
    jallocator_t *allocator = keeper.allocator;
    pthread_t thread;
    JASSERT_EQ(pthread_create(&thread, NULL, keep_and_use, &keeper), 0);
    jtest_gate_pass(&keeper.kept);
    const size_t kept_bytes = stats_of(allocator).reserved_bytes;
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, kept_bytes);
    jtest_gate_open(&keeper.trimmed);
    jtest_gate_pass(&keeper.used);
    const size_t all_bytes = stats_of(allocator).reserved_bytes;
    JEXPECT_OK(jallocator_trim(allocator, 0));
    /* The first slab is gone. */
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, all_bytes - kept_bytes);
    jtest_gate_open(&keeper.seen);
    pthread_join(thread, NULL);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* Two threads pass blocks on, which the sum of their counts may miss, and another one with them. */
typedef struct passing {
    jallocator_t *allocator;
    _Atomic(void *) box;
    atomic_bool stops;
} passing_t;

static void *take_and_pass(void *argument) {
    passing_t *passing = argument;
    while (!atomic_load(&passing->stops)) {
        void *block = try_take(passing->allocator, 64, NULL), *none = NULL;
        while (!atomic_compare_exchange_weak(&passing->box, &none, block)) {
            none = NULL;
            if (!atomic_load(&passing->stops))
                continue;
            JEXPECT_OK(jallocator_deallocate(passing->allocator, block, 64, NULL));
            return NULL;
        }
    }
    return NULL;
}
static void *give_what_comes(void *argument) {
    passing_t *passing = argument;
    while (!atomic_load(&passing->stops))
        JEXPECT_OK(jallocator_deallocate(passing->allocator, atomic_exchange(&passing->box, NULL),
                                         64, NULL));
    return NULL;
}

JTEST(Small, IsNotDestroyedWhileABlockIsLive) {
    passing_t passing = {.allocator = make_default()};
    pthread_t threads[2];
    void *kept = take(passing.allocator, 100);
    JASSERT_EQ(pthread_create(&threads[0], NULL, take_and_pass, &passing), 0);
    JASSERT_EQ(pthread_create(&threads[1], NULL, give_what_comes, &passing), 0);
    for (int64_t round = jtest_iterations(30000); round > 0 && !jtest_has_failure(); --round)
        JEXPECT_STATUS(jallocator_destroy(passing.allocator), JSTATUS_BUSY);
    atomic_store(&passing.stops, true);
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
    give(passing.allocator, kept, 100);
    JEXPECT_OK(jallocator_deallocate(passing.allocator, atomic_load(&passing.box), 64, NULL));
    JEXPECT_OK(jallocator_destroy(passing.allocator));
}

/* For a stream there may be no memory for a cache: the peak of one thread is exact all the same. */
JTEST(Small, APeakIsExactWhereAStreamCanHaveNoCache) {
    jallocator_t *allocator = make_default();
    jstream_t *stream;
    void *block = take(allocator, 1000);
    give(allocator, block, 1000);
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    jtest_fail_metadata_after(1);
    block = try_take(allocator, 500, stream);
    JEXPECT_TRUE(jtest_metadata_failed());
    JASSERT_NOT_NULL(block);
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, 500);
    JEXPECT_EQ(stats_of(allocator).peak_in_use_bytes, 1000);
    JEXPECT_OK(jallocator_deallocate(allocator, block, 500, stream));
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, 0);
    JEXPECT_EQ(stats_of(allocator).peak_in_use_bytes, 1000);
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- Statistics that are asked for amid calls ---- */

/* What a reader may find in a thread's counts amid a call, or when a block goes from one thread to
 * another between the reading of their counts: written there by hand. */
JTEST(Small, StatisticsAmidCallsOfOtherThreadsAreNumbersThatCanBe) {
    jallocator_t *allocator = make_default();
    void *block = take(allocator, 100);
    const small_t *small = allocator->context;
    small_counts_t *counts = &JI_LIST_FIRST(&small->caches, small_cache_t, link)->seen.counts;
    const small_counts_t before = *counts;
    JEXPECT_EQ(before.peak_bytes, 100);

    counts->room_bytes = (size_t)-64; /* in jallocator_count_(): the peak is yet to rise */
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, 100);
    JEXPECT_EQ(stats_of(allocator).peak_in_use_bytes, 100);
    counts->peak_bytes = 164; /* has risen */
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, 164);
    JEXPECT_EQ(stats_of(allocator).peak_in_use_bytes, 164);
    *counts = before;

    counts->room_bytes += 1000; /* this one has freed what another allocated after it was read */
    counts->out_count -= 10;
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, 0);
    JEXPECT_EQ(stats_of(allocator).live_count, 0);
    *counts = before;

    JEXPECT_EQ(stats_of(allocator).live_count, 1);
    give(allocator, block, 100);
    JEXPECT_OK(jallocator_destroy(allocator));
}

enum { KEPT = 100, BURST = 3000 };
typedef struct bursts {
    jallocator_t *allocator;
    atomic_bool stops;
} bursts_t;
/* More than a magazine holds, so that blocks come from the central part and go back. */
static void *take_and_give_bursts(void *argument) {
    bursts_t *bursts = argument;
    static void *blocks[BURST];
    while (!atomic_load(&bursts->stops)) {
        for (int i = 0; i < BURST; ++i)
            blocks[i] = take(bursts->allocator, 64);
        for (int i = 0; i < BURST; ++i)
            give(bursts->allocator, blocks[i], 64);
    }
    return NULL;
}

static void read_beside_bursts(jallocator_t *allocator) {
    bursts_t bursts = {.allocator = allocator};
    void *kept[KEPT];
    pthread_t thread;
    for (int i = 0; i < KEPT; ++i)
        kept[i] = take(allocator, 64);
    JASSERT_EQ(pthread_create(&thread, NULL, take_and_give_bursts, &bursts), 0);
    for (int64_t n = jtest_iterations(20000); n > 0 && !jtest_has_failure(); --n) {
        const jallocator_stats_t stats = stats_of(allocator);
        JEXPECT_GE(stats.live_count, KEPT);
        JEXPECT_GE(stats.in_use_bytes, KEPT * 64);
        JEXPECT_LE(stats.in_use_bytes, (KEPT + BURST) * 64);
        JEXPECT_LE(stats.in_use_bytes, stats.peak_in_use_bytes);
        JEXPECT_LE(stats.peak_in_use_bytes, stats.peak_reserved_bytes);
        JEXPECT_LE(stats.free_bytes, stats.reserved_bytes);
        JEXPECT_LE(stats.largest_free_bytes, stats.free_bytes);
    }
    atomic_store(&bursts.stops, true);
    pthread_join(thread, NULL);
    for (int i = 0; i < KEPT; ++i)
        give(allocator, kept[i], 64);
    JEXPECT_EQ(stats_of(allocator).live_count, 0);
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}
JTEST(Small, AReaderBesideAThreadThatWorksSeesNoLessThanIsLive) {
    read_beside_bursts(make_default());
}
JTEST(General, AReaderBesideAThreadThatWorksSeesNoLessThanIsLive) {
    jallocator_t *allocator = NULL;
    JASSERT_OK(jallocator_create_general(jtest_failing_allocator(), NULL, &allocator));
    read_beside_bursts(allocator);
}

/* Blocks go from hand to hand: each number can be, whatever the moment. */
JTEST(Small, AReaderWhileBlocksGoFromThreadToThreadSeesNumbersThatCanBe) {
    passing_t passing = {.allocator = make_default()};
    pthread_t threads[2];
    JASSERT_EQ(pthread_create(&threads[0], NULL, take_and_pass, &passing), 0);
    JASSERT_EQ(pthread_create(&threads[1], NULL, give_what_comes, &passing), 0);
    for (int64_t n = jtest_iterations(30000); n > 0 && !jtest_has_failure(); --n) {
        const jallocator_stats_t stats = stats_of(passing.allocator);
        JEXPECT_LE(stats.in_use_bytes, stats.peak_in_use_bytes);
        JEXPECT_LE(stats.peak_in_use_bytes, stats.peak_reserved_bytes);
        JEXPECT_LE(stats.peak_reserved_bytes, 10 * MIB);
        JEXPECT_LE(stats.live_count * 64, stats.peak_reserved_bytes);
    }
    atomic_store(&passing.stops, true);
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_OK(jallocator_deallocate(passing.allocator, atomic_load(&passing.box), 64, NULL));
    JEXPECT_OK(jallocator_destroy(passing.allocator));
}

static void *take_all_hundred(void *argument) {
    void **blocks = argument;
    for (int i = 0; i < 100; ++i)
        blocks[i] = take(blocks[100], 64);
    return NULL;
}
/* What one thread allocates and another frees is at the peak of the first one for good. */
JTEST(Small, ThePeakOfThreadsThatPassBlocksIsAtMostWhatWasReserved) {
    jallocator_t *allocator = make_default();
    for (int round = 0; round < 50; ++round) {
        void *blocks[101];
        blocks[100] = allocator;
        run_thread(take_all_hundred, blocks);
        for (int i = 0; i < 100; ++i)
            give(allocator, blocks[i], 64);
    }
    const jallocator_stats_t stats = stats_of(allocator);
    JEXPECT_GE(stats.peak_in_use_bytes, 6400);
    JEXPECT_LE(stats.peak_in_use_bytes, stats.peak_reserved_bytes);
    JEXPECT_LT(stats.peak_reserved_bytes, 50 * 6400);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* A process without a key for the ends of its threads has no caches; run by the test below. */
JTEST_ONLY_WITH("JALLOC_TEST_KEYLESS", Small, Keyless) {
    jtest_fail_calls("pthread_key_create", 1, UINT64_MAX, EAGAIN);
    jallocator_t *allocator = make_default();
    JEXPECT_TRUE(jtest_calls_failed());
    (void)take_and_free(allocator);
    JEXPECT_TRUE(ji_list_is_empty(&((const small_t *)allocator->context)->caches));
    JEXPECT_EQ(stats_of(allocator).allocation_count, 20);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
}
JTEST(Small, AProcessWithoutAKeyIsServedWithoutCaches) {
    char output[4096];
    const char *const environment[] = {"JALLOC_TEST_KEYLESS=1", NULL};
    if (jtest_run_self("Small.Keyless", environment, output, sizeof output) != 0)
        JFAIL("%s", output);
}
