/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What small blocks promise beyond what every allocator does: classes, caches of threads, books beside the memory, streams.
 * Some tests look inside: at the classes, and at locks, which they hold to show that nobody waits for them. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/policy.h"
#include "jalloc/provider.h"
#include "memory/allocators/small/small.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static jallocator_t *make_small(jallocator_t *below, size_t largest_bytes, size_t cache_bytes) {
    jsmall_options_t options = JSMALL_OPTIONS_INIT;
    options.largest_bytes = largest_bytes;
    options.cache_bytes = cache_bytes;
    jallocator_t *allocator = NULL;
    JEXPECT_OK(jallocator_create_small(below, &options, &allocator));
    return allocator;
}
static jallocator_t *make_default(void) { return make_small(jtest_failing_allocator(), 0, 0); }

static void *try_take(jallocator_t *allocator, size_t size_bytes, jstream_t *stream) {
    void *pointer = NULL;
    (void)jallocator_allocate(allocator, size_bytes, 0, stream, &pointer);
    return pointer;
}

/* ---- Classes -------------------------------------------------------------------------------------------------------- */

JTEST(Small, EverySizeHasTheLeastClassThatHoldsItAndLosesAnEighthAtMost) {
    jallocator_t *allocator = make_small(jtest_failing_allocator(), MIB, 0);
    const small_t *small = allocator->context;
    const size_t granule = jdevice_granule_bytes(jdevice_host());
    JASSERT_LE(small->class_count, SMALL_MAX_CLASSES);
    JEXPECT_EQ(small->largest_bytes, MIB);
    for (uint32_t i = 0; i < small->class_count; ++i) {
        JEXPECT_EQ(small->classes[i].block_bytes % granule, 0);
        JEXPECT_EQ(small->classes[i].block_bytes % small->classes[i].alignment, 0);
        JEXPECT_LE(small->classes[i].alignment, SMALL_UNIT_BYTES);
        JEXPECT_TRUE(i == 0 || small->classes[i].block_bytes > small->classes[i - 1].block_bytes);
    }
    bool fits = true, least = true, tight = true;
    for (size_t size = 1; size <= MIB; ++size) {
        const uint32_t index = small->class_of[(size - 1) / SMALL_STEP_BYTES];
        const size_t bytes = small->classes[index].block_bytes;
        fits &= bytes >= size;
        least &= index == 0 || small->classes[index - 1].block_bytes < size;
        tight &= bytes - size < granule || bytes - size <= size / 8;
    }
    JEXPECT_TRUE(fits);
    JEXPECT_TRUE(least);
    JEXPECT_TRUE(tight);
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Small, EveryClassGivesTheBlocksAndAlignmentsItPromises) {
    jallocator_t *allocator = make_default();
    const small_t *small = allocator->context;
    for (uint32_t i = 0; i < small->class_count; ++i) {
        const size_t bytes = small->classes[i].block_bytes;
        for (size_t alignment = 1; alignment <= 4 * SMALL_UNIT_BYTES; alignment *= 2) {
            void *pointers[5];
            for (size_t k = 0; k < 5; ++k) {
                JASSERT_OK(jallocator_allocate(allocator, bytes - k, alignment, NULL, &pointers[k]));
                JEXPECT_EQ((uintptr_t)pointers[k] % alignment, 0);
                JEXPECT_GE(jallocator_usable_size(allocator, pointers[k], bytes - k), bytes - k);
                memset(pointers[k], (int)k, bytes - k);
            }
            for (size_t k = 0; k < 5; ++k) {
                JEXPECT_EQ(((unsigned char *)pointers[k])[bytes - k - 1], k);
                JEXPECT_OK(jallocator_deallocate(allocator, pointers[k], bytes - k, NULL));
            }
        }
    }
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Small, QuotientAndRemainderByOneProductAreExact) {
    small_slab_t slab = {.block_bytes = 0};
    for (size_t bytes = 64; bytes <= MIB; bytes += 64) {
        slab.reciprocal = UINT64_MAX / bytes + 1;
        const size_t offsets[] = {
            0, 1, bytes - 1, bytes, bytes + 1, 7 * bytes - 1, 7 * bytes, 4095 * bytes, 4095 * bytes - 1};
        for (size_t i = 0; i < sizeof offsets / sizeof *offsets; ++i) {
            size_t index = 0;
            const bool begins = small_slab_index(&slab, offsets[i], &index);
            if (index != offsets[i] / bytes || begins != (offsets[i] % bytes == 0)) {
                JFAIL("%zu / %zu gives %zu", offsets[i], bytes, index);
                return;
            }
        }
    }
}

JTEST(Small, OptionsAreChecked) {
    jallocator_t *allocator = NULL, *below = jtest_failing_allocator();
    jsmall_options_t options = JSMALL_OPTIONS_INIT;
    JEXPECT_STATUS(jallocator_create_small(NULL, &options, &allocator), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_small(below, &options, NULL), JSTATUS_INVALID_POINTER);
    options.largest_bytes = MIB + 1;
    JEXPECT_STATUS(jallocator_create_small(below, &options, &allocator), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "largest_bytes");
    options.largest_bytes = 0;
    options.cache_bytes = SIZE_MAX;
    JEXPECT_STATUS(jallocator_create_small(below, &options, &allocator), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "cache_bytes");
    options.cache_bytes = 0;
    options.threads = (jallocator_threads_t)4;
    JEXPECT_STATUS(jallocator_create_small(below, &options, &allocator), JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(allocator);
    options.threads = JALLOCATOR_THREADS_NONE;
    JASSERT_OK(jallocator_create_small(below, &options, &allocator));
    JEXPECT_EQ(jallocator_threads(allocator), JALLOCATOR_THREADS_NONE);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- Locks ---------------------------------------------------------------------------------------------------------- */

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
    pthread_join(thread, NULL);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- Threads -------------------------------------------------------------------------------------------------------- */

typedef struct block_list {
    jallocator_t *allocator;
    void *pointers[200];
    size_t size_bytes;
    jstatus_t status;
    jtest_gate_t *reached, *go, *used;
    const jallocator_t *hint; /* what the thread thinks it used last */
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
        const jstatus_t status = jallocator_deallocate(list->allocator, list->pointers[i], list->size_bytes, NULL);
        if (status != JSTATUS_SUCCESS)
            list->status = status;
    }
    return NULL;
}
static void *take_and_free_all(void *argument) {
    take_all(argument);
    return free_all(argument);
}
static void run_thread(void *(*function)(void *), void *argument) {
    pthread_t thread;
    JASSERT_EQ(pthread_create(&thread, NULL, function, argument), 0);
    pthread_join(thread, NULL);
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
        exchange_t exchange = {.allocator = make_small(jtest_failing_allocator(), 4 * KIB, 64 * KIB),
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
    list->hint = atomic_load(&ji_small_thread.allocator);
    take_and_free_all(list); /* another allocator, perhaps at the same address */
    jtest_gate_open(list->used);
    return NULL;
}

JTEST(Small, AnAllocatorMayGoBeforeTheThreadsThatUsedIt) {
    for (int round = 0; round < 20; ++round) {
        jtest_gate_t reached = JTEST_GATE_INIT, go = JTEST_GATE_INIT, used = JTEST_GATE_INIT;
        block_list_t list = {
            .allocator = make_default(), .size_bytes = 128, .reached = &reached, .go = &go, .used = &used};
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
        JEXPECT_STATUS(jallocator_deallocate(allocators[other], pointers[i][0], 64, NULL), JSTATUS_NOT_FOUND);
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

/* ---- Misuse --------------------------------------------------------------------------------------------------------- */

typedef struct misuse {
    jallocator_t *allocator;
    void *pointer;
    size_t size_bytes;
    jstatus_t status;
    char message[200];
} misuse_t;
static void *misuse_do(void *argument) {
    misuse_t *misuse = argument;
    misuse->status = jallocator_deallocate(misuse->allocator, misuse->pointer, misuse->size_bytes, NULL);
    strncpy(misuse->message, jstatus_last_message(), sizeof misuse->message - 1);
    return NULL;
}
static void expect_refusal(jallocator_t *allocator, void *pointer, size_t size_bytes, jstatus_t status,
                           const char *part) {
    const jallocator_stats_t before = stats_of(allocator);
    misuse_t misuse = {.allocator = allocator, .pointer = pointer, .size_bytes = size_bytes};
    for (int other = 0; other < 2; ++other) { /* from this thread and from another one */
        if (other)
            run_thread(misuse_do, &misuse);
        else
            misuse_do(&misuse);
        JEXPECT_STATUS(misuse.status, status);
        JEXPECT_SUBSTR(misuse.message, part);
    }
    const jallocator_stats_t after = stats_of(allocator);
    JEXPECT_EQ(after.live_count, before.live_count);
    JEXPECT_EQ(after.in_use_bytes, before.in_use_bytes);
    JEXPECT_OK(jallocator_check(allocator));
}

JTEST(Small, MisuseIsRefusedWithTheTagAndChangesNothing) {
    static const size_t sizes[] = {1, 100, 5000, 32 * KIB, 100 * KIB}; /* the last goes straight below */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        JSCOPED_TRACE("%zu bytes", sizes[i]);
        char foreign[8];
        jallocator_t *allocator = make_default();
        const jtag_t before = jtag_set(jtag_intern("culprit"));
        char *pointer = try_take(allocator, sizes[i], NULL), *neighbour = try_take(allocator, sizes[i], NULL);
        jtag_set(before);
        JASSERT_NOT_NULL(pointer);
        expect_refusal(allocator, pointer, sizes[i] + 1, JSTATUS_INVALID_SIZE, "culprit");
        expect_refusal(allocator, pointer, sizes[i] + ((size_t)1 << 32), JSTATUS_INVALID_SIZE, "culprit");
        if (sizes[i] > 1) {
            expect_refusal(allocator, pointer + 1, sizes[i], JSTATUS_NOT_FOUND, "culprit");
            expect_refusal(allocator, pointer + sizes[i] / 2, sizes[i], JSTATUS_NOT_FOUND, "culprit");
        }
        expect_refusal(allocator, foreign, sizes[i], JSTATUS_NOT_FOUND, "small");
        JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, 0, NULL), JSTATUS_INVALID_SIZE);
        JEXPECT_OK(jallocator_deallocate(allocator, pointer, sizes[i], NULL));
        expect_refusal(allocator, pointer, sizes[i], JSTATUS_NOT_FOUND, sizes[i] <= 32 * KIB ? "culprit" : "small");
        JEXPECT_OK(jallocator_deallocate(allocator, neighbour, sizes[i], NULL));
        JEXPECT_OK(jallocator_trim(allocator, 0));
        expect_refusal(allocator, pointer, sizes[i], JSTATUS_NOT_FOUND, "small"); /* its slab is gone */
        JEXPECT_OK(jallocator_destroy(allocator));
    }
}

JTEST(Small, AFreeBlockOfTheCommonListsIsNotFreedAgain) {
    jallocator_t *allocator = make_small(jtest_failing_allocator(), 0, 1); /* nothing is kept in caches */
    void *pointer = try_take(allocator, 200, NULL), *other = try_take(allocator, 200, NULL);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 200, NULL));
    for (size_t size = 1; size < 300; ++size)
        JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, size, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_deallocate(allocator, other, 200, NULL));
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- Books ---------------------------------------------------------------------------------------------------------- */

typedef struct seen {
    size_t live_count, live_bytes, free_bytes, usable_bytes;
    jtag_t tag;
} seen_t;
static bool see(void *context, const jallocation_t *block) {
    seen_t *seen = context;
    if (block->live) {
        ++seen->live_count;
        seen->live_bytes += block->size_bytes;
        seen->usable_bytes += block->usable_bytes;
        seen->tag = block->tag;
    } else {
        seen->free_bytes += block->size_bytes;
    }
    return true;
}

static void expect_books(jallocator_t *allocator, const jallocator_stats_t *model) {
    const jallocator_stats_t stats = stats_of(allocator);
    JEXPECT_EQ(stats.allocation_count, model->allocation_count);
    JEXPECT_EQ(stats.live_count, model->live_count);
    JEXPECT_EQ(stats.in_use_bytes, model->in_use_bytes);
    JEXPECT_EQ(stats.peak_in_use_bytes, model->peak_in_use_bytes);
    JEXPECT_EQ(stats.largest_request_bytes, model->largest_request_bytes);
    JEXPECT_EQ(stats.reserved_bytes, jtest_live_bytes());
    seen_t seen = {0};
    JEXPECT_OK(jallocator_visit(allocator, see, &seen));
    JEXPECT_EQ(seen.live_count, stats.live_count);
    JEXPECT_EQ(seen.live_bytes, stats.in_use_bytes);
    JEXPECT_EQ(seen.free_bytes, stats.free_bytes);
    JEXPECT_EQ(seen.free_bytes + seen.usable_bytes, stats.reserved_bytes);
}

JTEST(Small, StatisticsAreExactOverRandomOperationsOfOneThread) {
    enum { BLOCKS = 300 };
    static struct {
        void *pointer;
        size_t size_bytes;
    } blocks[BLOCKS];
    jstream_t *streams[3] = {NULL};
    JASSERT_OK(jstream_create(jdevice_host(), &streams[1]));
    JASSERT_OK(jstream_create(jdevice_host(), &streams[2]));
    jallocator_t *allocator = make_small(jtest_failing_allocator(), 0, 100 * KIB);
    jallocator_stats_t model = JALLOCATOR_STATS_INIT;
    memset(blocks, 0, sizeof blocks);
    for (int64_t step = 0, steps = jtest_iterations(30000); step < steps; ++step) {
        const size_t i = (size_t)jtest_random_between(0, BLOCKS - 1);
        jstream_t *stream = streams[step % 1000 < 900 ? 0 : jtest_random_between(0, 2)];
        if (blocks[i].pointer == NULL) {
            const size_t size = (size_t)1 << jtest_random_between(0, 15), extra = (size_t)jtest_random_between(0, 5000);
            const size_t alignment = (size_t)1 << jtest_random_between(0, 13);
            blocks[i].size_bytes = size + extra;
            JASSERT_OK(jallocator_allocate(allocator, size + extra, alignment, stream, &blocks[i].pointer));
            ++model.allocation_count;
            ++model.live_count;
            model.in_use_bytes += blocks[i].size_bytes;
            if (model.peak_in_use_bytes < model.in_use_bytes)
                model.peak_in_use_bytes = model.in_use_bytes;
            if (model.largest_request_bytes < blocks[i].size_bytes)
                model.largest_request_bytes = blocks[i].size_bytes;
        } else {
            JASSERT_OK(jallocator_deallocate(allocator, blocks[i].pointer, blocks[i].size_bytes, stream));
            --model.live_count;
            model.in_use_bytes -= blocks[i].size_bytes;
            blocks[i].pointer = NULL;
        }
        if (step % 997 == 0)
            expect_books(allocator, &model);
        if (step % 5000 == 4999) {
            JEXPECT_OK(jallocator_clear_stats(allocator));
            model.peak_in_use_bytes = model.in_use_bytes;
            model.largest_request_bytes = 0;
            expect_books(allocator, &model);
        }
        if (step % 9001 == 9000)
            JEXPECT_OK(jallocator_trim(allocator, 0));
    }
    for (size_t i = 0; i < BLOCKS; ++i)
        if (blocks[i].pointer != NULL)
            JEXPECT_OK(jallocator_deallocate(allocator, blocks[i].pointer, blocks[i].size_bytes, NULL));
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(jtest_live_bytes(), 0);
    JEXPECT_OK(jstream_destroy(streams[1]));
    JEXPECT_OK(jstream_destroy(streams[2]));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Small, FindAndVisitKnowEveryBlockWithItsTag) {
    jallocator_t *allocator = make_default();
    const jtag_t tag = jtag_intern("found"), before = jtag_set(tag);
    char *blocks[] = {try_take(allocator, 50, NULL), try_take(allocator, 3000, NULL), try_take(allocator, 70000, NULL)};
    const size_t sizes[] = {50, 3000, 70000};
    jtag_set(before);
    for (size_t i = 0; i < 3; ++i) {
        jallocation_t found = JALLOCATION_INIT;
        JASSERT_OK(jallocator_find(allocator, blocks[i] + sizes[i] - 1, &found));
        JEXPECT_EQ(found.pointer, blocks[i]);
        JEXPECT_EQ(found.size_bytes, sizes[i]);
        JEXPECT_EQ(found.tag, tag);
        JEXPECT_EQ(found.allocator, allocator);
        JEXPECT_OK(jallocation_find(blocks[i], &found));
        JEXPECT_EQ(found.allocator, allocator); /* and not the slab below */
    }
    jallocation_t found = JALLOCATION_INIT;
    JEXPECT_STATUS(jallocator_find(allocator, blocks[0] + 63, &found), JSTATUS_NOT_FOUND); /* rounded, not asked for */
    seen_t seen = {0};
    JEXPECT_OK(jallocator_visit(allocator, see, &seen));
    JEXPECT_EQ(seen.live_count, 3);
    JEXPECT_EQ(seen.live_bytes, 50 + 3000 + 70000);
    JEXPECT_EQ(seen.tag, tag);
    for (size_t i = 0; i < 3; ++i)
        JEXPECT_OK(jallocator_deallocate(allocator, blocks[i], sizes[i], NULL));
    JEXPECT_STATUS(jallocator_find(allocator, blocks[1], &found), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* Memory that cannot be read or written: an access would end the program. */
JTEST(Small, NeverTouchesTheMemory) {
    enum { COUNT = 2000 };
    static void *pointers[COUNT];
    void *array = mmap(NULL, 16 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    jallocator_t *below, *allocator;
    JASSERT_NE(array, MAP_FAILED);
    JASSERT_OK(jallocator_create_array(jdevice_host(), array, 16 * MIB, &below));
    allocator = make_small(below, 0, 10 * KIB);
    for (int round = 0; round < 3; ++round) {
        for (size_t i = 0; i < COUNT; ++i)
            JASSERT_OK(jallocator_allocate(allocator, 1 + i % 3000, 0, NULL, &pointers[i]));
        for (size_t i = 0; i < COUNT; ++i)
            JEXPECT_OK(jallocator_deallocate(allocator, pointers[i], 1 + i % 3000, NULL));
    }
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jallocator_destroy(below));
    JEXPECT_EQ(munmap(array, 16 * MIB), 0);
}

/* ---- Failures ------------------------------------------------------------------------------------------------------- */

static const size_t failure_sizes[] = {1, 64, 500, 4096, 30000, 50000};
enum { FAILURE_SIZES = sizeof failure_sizes / sizeof *failure_sizes, FAILURE_ROUNDS = 12 };

/* Everything goes on whatever fails; returns how many requests failed. */
static unsigned use_with_failures(jallocator_t *allocator) {
    void *pointers[FAILURE_ROUNDS][FAILURE_SIZES];
    unsigned failed = 0;
    for (size_t round = 0; round < FAILURE_ROUNDS; ++round)
        for (size_t i = 0; i < FAILURE_SIZES; ++i) {
            const jstatus_t status = jallocator_allocate(allocator, failure_sizes[i], 0, NULL, &pointers[round][i]);
            JEXPECT_EQ(pointers[round][i] != NULL, status == JSTATUS_SUCCESS);
            if (status == JSTATUS_SUCCESS)
                continue;
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            ++failed;
            JEXPECT_OK(jallocator_allocate(allocator, failure_sizes[i], 0, NULL, &pointers[round][i]));
        }
    JEXPECT_EQ(stats_of(allocator).live_count, FAILURE_ROUNDS * FAILURE_SIZES);
    JEXPECT_EQ(stats_of(allocator).failure_count, failed);
    for (size_t round = 0; round < FAILURE_ROUNDS; ++round)
        for (size_t i = 0; i < FAILURE_SIZES; ++i)
            JEXPECT_OK(jallocator_deallocate(allocator, pointers[round][i], failure_sizes[i], NULL));
    JEXPECT_EQ(stats_of(allocator).live_count, 0);
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, 0);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, jtest_live_bytes());
    JEXPECT_OK(jallocator_check(allocator));
    return failed;
}

JTEST(Small, EachFailedAllocationOfBookkeepingLosesNothing) {
    jallocator_t *below = jtest_failing_allocator();
    JFOR_EACH_FAILURE(i) {
        jsmall_options_t options = JSMALL_OPTIONS_INIT;
        options.cache_bytes = 20 * KIB;
        jallocator_t *allocator = NULL;
        const jstatus_t status = jallocator_create_small(below, &options, &allocator);
        JEXPECT_EQ(allocator != NULL, status == JSTATUS_SUCCESS);
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            continue;
        }
        use_with_failures(allocator);
        JEXPECT_OK(jallocator_trim(allocator, 0));
        JEXPECT_OK(jallocator_destroy(allocator));
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
}

JTEST(Small, EachFailedAllocationBelowLosesNothing) {
    for (uint64_t n = 1; n < 40; ++n) {
        JSCOPED_TRACE("allocation %d", (int)n);
        jallocator_t *allocator = make_small(jtest_failing_allocator(), 0, 20 * KIB);
        jtest_fail_allocation_after(n);
        use_with_failures(allocator);
        jtest_fail_allocation_after(0);
        JEXPECT_OK(jallocator_destroy(allocator));
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
}

JTEST(Small, WhatOtherClassesKeepIsGivenBackBeforeARequestFails) {
    enum { COUNT = 56 };
    void *pointers[COUNT];
    jallocator_t *allocator;
    JASSERT_OK(jallocator_compose(NULL, "malloc+limit(limit=64KiB)+small", &allocator));
    for (size_t size = 1000; size <= 4000; size += 1000)
        for (int round = 0; round < 3; ++round) {
            for (size_t i = 0; i < COUNT * KIB / size / 2; ++i)
                JASSERT_OK(jallocator_allocate(allocator, size, 0, NULL, &pointers[i]));
            for (size_t i = 0; i < COUNT * KIB / size / 2; ++i)
                JEXPECT_OK(jallocator_deallocate(allocator, pointers[i], size, NULL));
        }
    JEXPECT_NULL(try_take(allocator, 70 * KIB, NULL));
    JEXPECT_EQ(stats_of(allocator).failure_count, 1);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- Streams -------------------------------------------------------------------------------------------------------- */

static bool is_among(void *const pointers[], size_t count, const void *pointer) {
    for (size_t i = 0; i < count; ++i)
        if (pointers[i] == pointer)
            return true;
    return false;
}

/* Blocks freed on a stream that stands at a gate, then asked for on that stream and on others. With a cache of one byte
 * they go through the lists of all threads, else they stay in the thread's cache. */
static void expect_blocks_stay_on_their_stream(size_t cache_bytes) {
    enum { COUNT = 20 };
    void *freed[COUNT], *same[COUNT], *other[COUNT], *host[COUNT];
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *busy, *idle;
    JASSERT_OK(jstream_create(jdevice_host(), &busy));
    JASSERT_OK(jstream_create(jdevice_host(), &idle));
    jallocator_t *allocator = make_small(jtest_failing_allocator(), 0, cache_bytes);
    for (size_t i = 0; i < COUNT; ++i)
        JASSERT_NOT_NULL(freed[i] = try_take(allocator, 1024, busy));
    JASSERT_OK(jtest_gate_block(&gate, jdevice_host(), busy));
    for (size_t i = 0; i < COUNT; ++i)
        JEXPECT_OK(jallocator_deallocate(allocator, freed[i], 1024, busy));
    for (size_t i = 0; i < COUNT; ++i) {
        JASSERT_NOT_NULL(other[i] = try_take(allocator, 1024, idle));
        JEXPECT_FALSE(is_among(freed, COUNT, other[i]));
        JASSERT_NOT_NULL(host[i] = try_take(allocator, 1024, NULL));
        JEXPECT_FALSE(is_among(freed, COUNT, host[i]));
    }
    for (size_t i = 0; i < COUNT; ++i) {
        JASSERT_NOT_NULL(same[i] = try_take(allocator, 1024, busy));
        JEXPECT_TRUE(is_among(freed, COUNT, same[i])); /* at once, though nothing is passed */
    }
    for (size_t i = 0; i < COUNT; ++i) {
        JEXPECT_OK(jallocator_deallocate(allocator, same[i], 1024, busy));
        JEXPECT_OK(jallocator_deallocate(allocator, other[i], 1024, idle));
        JEXPECT_OK(jallocator_deallocate(allocator, host[i], 1024, NULL));
    }
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), busy));
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
    JEXPECT_OK(jstream_destroy(busy));
    JEXPECT_OK(jstream_destroy(idle));
    JEXPECT_OK(jallocator_destroy(allocator));
}
JTEST(Small, BlocksInACacheStayOnTheirStream) { expect_blocks_stay_on_their_stream(0); }
JTEST(Small, BlocksInTheCommonListsStayOnTheirStreamUntilItHasPassed) { expect_blocks_stay_on_their_stream(1); }

JTEST(Small, ASlabTakenOnABusyStreamIsNotCarvedForAnother) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *busy;
    void *first, *second;
    JASSERT_OK(jstream_create(jdevice_host(), &busy));
    jallocator_t *allocator = make_small(jtest_failing_allocator(), 0, 1);
    JASSERT_OK(jtest_gate_block(&gate, jdevice_host(), busy));
    JASSERT_NOT_NULL(first = try_take(allocator, 64, busy)); /* the rest of the slab may still be in use there */
    const size_t reserved = stats_of(allocator).reserved_bytes;
    JASSERT_NOT_NULL(second = try_take(allocator, 64, NULL));
    JEXPECT_GT(stats_of(allocator).reserved_bytes, reserved);
    JEXPECT_OK(jallocator_deallocate(allocator, second, 64, NULL));
    JEXPECT_OK(jallocator_deallocate(allocator, first, 64, busy));
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_destroy(busy));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Small, AStreamThatIsDestroyedLeavesItsBlocksToAll) {
    jallocator_t *allocator = make_default();
    const small_t *small = allocator->context;
    for (int round = 0; round < 10; ++round) {
        jstream_t *stream;
        void *pointers[30];
        JASSERT_OK(jstream_create(jdevice_host(), &stream));
        for (size_t i = 0; i < 30; ++i)
            JASSERT_NOT_NULL(pointers[i] = try_take(allocator, 256, stream));
        for (size_t i = 0; i < 30; ++i)
            JEXPECT_OK(jallocator_deallocate(allocator, pointers[i], 256, stream));
        JEXPECT_OK(jstream_destroy(stream));
    }
    JASSERT_FALSE(ji_list_is_empty(&small->caches));
    JEXPECT_EQ(small->caches.ring.next, small->caches.ring.previous); /* one cache, used again */
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- A fork --------------------------------------------------------------------------------------------------------- */

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
    block_list_t list = {.allocator = make_default(), .size_bytes = 128, .reached = &reached, .go = &go, .used = &used};
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

/* ---- General -------------------------------------------------------------------------------------------------------- */

JTEST(General, IsOneAllocatorThatOwnsItsBestFit) {
    jallocator_t *allocator, *below = jtest_failing_allocator();
    JASSERT_OK(jallocator_create_general(below, NULL, &allocator));
    JEXPECT_STREQ(jallocator_name(allocator), "general");
    void *pointers[300];
    for (size_t i = 0; i < 300; ++i)
        JASSERT_NOT_NULL(pointers[i] = try_take(allocator, 1 + 300 * i, NULL));
    seen_t seen = {0};
    JEXPECT_OK(jallocator_visit(allocator, see, &seen));
    jallocator_stats_t stats = stats_of(allocator);
    JEXPECT_EQ(seen.live_count, 300);
    JEXPECT_EQ(seen.live_bytes, stats.in_use_bytes);
    JEXPECT_EQ(seen.free_bytes, stats.free_bytes);
    JEXPECT_EQ(stats.reserved_bytes, jtest_live_bytes());
    JEXPECT_OK(jallocator_check(allocator));
    for (size_t i = 0; i < 300; ++i)
        JEXPECT_OK(jallocator_deallocate(allocator, pointers[i], 1 + 300 * i, NULL));
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
    JEXPECT_OK(jallocator_destroy(allocator)); /* and its best fit with it */
    JEXPECT_EQ(jtest_live_bytes(), 0);
    JEXPECT_OK(jallocator_compose(NULL, "malloc+general(limit=8MiB,largest=4KiB)", &allocator));
    JEXPECT_EQ(stats_of(allocator).limit_bytes, 8 * MIB);
    JEXPECT_NULL(try_take(allocator, 9 * MIB, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* Its best fit is a part of it, which nobody else can allocate from. */
JTEST(General, StandsOnWhatItWasMadeOver) {
    jallocator_t *below, *allocator;
    JASSERT_OK(jallocator_create_malloc(&below));
    JASSERT_OK(jallocator_create_general(below, NULL, &allocator));
    JEXPECT_EQ(jallocator_below(allocator), below);
    JEXPECT_OK(jallocator_own_below(allocator));
    JEXPECT_OK(jallocator_destroy(allocator)); /* the provider too: a leak would fail the test */
}

JTEST(General, EachFailedAllocationOfBookkeepingLosesNothing) {
    jallocator_t *below = jtest_failing_allocator();
    JFOR_EACH_FAILURE(i) {
        jallocator_t *allocator = NULL;
        const jstatus_t status = jallocator_create_general(below, NULL, &allocator);
        JEXPECT_EQ(allocator != NULL, status == JSTATUS_SUCCESS);
        if (status != JSTATUS_SUCCESS)
            continue;
        use_with_failures(allocator);
        JEXPECT_OK(jallocator_destroy(allocator));
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
}

/* ---- Damage --------------------------------------------------------------------------------------------------------- */

static void expect_damage(jallocator_t *allocator, const char *message) {
    JEXPECT_STATUS(jallocator_check(allocator), JSTATUS_CORRUPTED);
    JEXPECT_SUBSTR(jstatus_last_message(), message);
}

JTEST(Small, CheckSeesFreeBlocksThatAreNotWhatTheyWere) {
    enum { COUNT = 400 };
    void *pointers[COUNT];
    jallocator_t *small_one = make_small(jtest_failing_allocator(), 0, 20 * KIB), *general;
    JASSERT_OK(jallocator_create_general(jtest_failing_allocator(), NULL, &general));
    for (int i = 0; i < COUNT; ++i)
        JASSERT_NOT_NULL(pointers[i] = try_take(small_one, 64, NULL));
    for (int i = 0; i < COUNT; ++i)
        JEXPECT_OK(jallocator_deallocate(small_one, pointers[i], 64, NULL));
    small_class_t *class = &((small_t *)small_one->context)->classes[0];
    small_slab_t *slab = JI_LIST_FIRST(&class->partial, small_slab_t, link);
    small_bundle_t *newest = JI_LIST_FIRST(&class->bundles, small_bundle_t, link);
    JASSERT_NOT_NULL(newest);
    JASSERT_NOT_NULL(slab);
    JASSERT_OK(jallocator_check(small_one));
    ++class->free_count;
    expect_damage(small_one, "counted");
    --class->free_count;
    ++class->bundled_count;
    expect_damage(small_one, "counted");
    --class->bundled_count;
    atomic_store(&newest->items[0].cell->size_bytes, 5);
    expect_damage(small_one, "both free and live");
    atomic_store(&newest->items[0].cell->size_bytes, 0);
    uint32_t place = 0;
    while ((slab->free_bits[place / 64] >> place % 64 & 1) == 0)
        ++place;
    atomic_store(&slab->cells[place].size_bytes, 5);
    expect_damage(small_one, "the free blocks of the slab");
    atomic_store(&slab->cells[place].size_bytes, 0);
    const uint32_t first = slab->first_word;
    slab->first_word = place / 64 + 1;
    expect_damage(small_one, "the free blocks of the slab");
    slab->first_word = first;
    JEXPECT_OK(jallocator_check(small_one));
    JEXPECT_OK(jallocator_destroy(small_one));

    class = &((small_t *)general->context)->classes[0]; /* seen through what it belongs to */
    ++class->bundled_count;
    expect_damage(general, "counted");
    --class->bundled_count;
    JEXPECT_OK(jallocator_check(general));
    JEXPECT_OK(jallocator_destroy(general));
}

JTEST(Small, MisuseOfLargeAndFreedBlocksIsRefused) {
    jallocator_t *general;
    JASSERT_OK(jallocator_create_general(jtest_failing_allocator(), NULL, &general));
    char *small_one = try_take(general, 100, NULL);
    void *large = try_take(general, 100 * KIB, NULL);
    JEXPECT_STATUS(jallocator_deallocate(general, small_one, 100 * KIB, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_deallocate(general, large, 101 * KIB, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(stats_of(general).live_count, 2);
    JEXPECT_OK(jallocator_deallocate(general, large, 100 * KIB, NULL));
    JEXPECT_OK(jallocator_deallocate(general, small_one, 100, NULL));
    JEXPECT_STATUS(jallocator_deallocate(general, small_one + 8, 100, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(stats_of(general).live_count, 0);
    JEXPECT_OK(jallocator_check(general));
    JEXPECT_OK(jallocator_destroy(general));
}

JTEST(Small, ServesOneThreadWhereBelowDoes) {
    jallocator_t *allocator;
    JASSERT_OK(jallocator_compose(NULL, "malloc+stack(threads=none)+small", &allocator));
    JEXPECT_EQ(jallocator_threads(allocator), JALLOCATOR_THREADS_NONE);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- Threads without a cache ---------------------------------------------------------------------------------------- */

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
    keeper_t keeper = {make_default(), JTEST_GATE_INIT, JTEST_GATE_INIT, JTEST_GATE_INIT, JTEST_GATE_INIT};
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
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, all_bytes - kept_bytes); /* the first slab is gone */
    jtest_gate_open(&keeper.seen);
    pthread_join(thread, NULL);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* A slab whose memory is behind a stream's work stays, though all of it is free. */
JTEST(Small, ASlabThatAStreamStillUsesIsNotGivenBackWithoutWaiting) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *busy;
    jallocator_t *allocator;
    JASSERT_OK(jstream_create(jdevice_host(), &busy));
    JASSERT_OK(jallocator_compose(NULL, "malloc+limit(limit=20KiB)+small(cache=1)", &allocator));
    JASSERT_OK(jtest_gate_block(&gate, jdevice_host(), busy));
    void *block = try_take(allocator, 1024, busy);
    JASSERT_NOT_NULL(block);
    JEXPECT_OK(jallocator_deallocate(allocator, block, 1024, NULL)); /* the host was done with it */
    JEXPECT_NULL(try_take(allocator, 8 * KIB, NULL));
    JEXPECT_GT(stats_of(allocator).reserved_bytes, 0);
    jtest_gate_open(&gate);
    JASSERT_OK(jstream_synchronize(jdevice_host(), busy));
    block = try_take(allocator, 8 * KIB, NULL);
    JEXPECT_NOT_NULL(block);
    JEXPECT_OK(jallocator_deallocate(allocator, block, 8 * KIB, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jstream_destroy(busy));
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
