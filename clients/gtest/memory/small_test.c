/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What small blocks promise beyond what every allocator does: classes, books beside the memory,
 * misuse, failures, damage. Some tests look inside, at the classes. Threads with their caches, and
 * streams, have files of their own. */

#include "small_helper.h"

#include "jalloc/provider.h"

#include <string.h>
#include <sys/mman.h>

/* ---- Classes ---- */

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
                JASSERT_OK(
                    jallocator_allocate(allocator, bytes - k, alignment, NULL, &pointers[k]));
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
        slab.seen.reciprocal = UINT64_MAX / bytes + 1;
        const size_t offsets[] = {0,
                                  1,
                                  bytes - 1,
                                  bytes,
                                  bytes + 1,
                                  7 * bytes - 1,
                                  7 * bytes,
                                  4095 * bytes,
                                  4095 * bytes - 1};
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

/* ---- Misuse ---- */

typedef struct misuse {
    jallocator_t *allocator;
    void *pointer;
    size_t size_bytes;
    jstatus_t status;
    char message[200];
} misuse_t;
static void *misuse_do(void *argument) {
    misuse_t *misuse = argument;
    misuse->status =
        jallocator_deallocate(misuse->allocator, misuse->pointer, misuse->size_bytes, NULL);
    strncpy(misuse->message, jstatus_last_message(), sizeof misuse->message - 1);
    return NULL;
}
static void expect_refusal(jallocator_t *allocator, void *pointer, size_t size_bytes,
                           jstatus_t status, const char *part) {
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
    /* The last goes straight below. */
    static const size_t sizes[] = {1, 100, 5000, 32 * KIB, 100 * KIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        JSCOPED_TRACE("%zu bytes", sizes[i]);
        char foreign[8];
        jallocator_t *allocator = make_default();
        const jtag_t before = jtag_set(jtag_intern("culprit"));
        char *pointer = try_take(allocator, sizes[i], NULL),
             *neighbour = try_take(allocator, sizes[i], NULL);
        jtag_set(before);
        JASSERT_NOT_NULL(pointer);
        expect_refusal(allocator, pointer, sizes[i] + 1, JSTATUS_INVALID_SIZE, "culprit");
        expect_refusal(allocator, pointer, sizes[i] + ((size_t)1 << 32), JSTATUS_INVALID_SIZE,
                       "culprit");
        if (sizes[i] > 1) {
            expect_refusal(allocator, pointer + 1, sizes[i], JSTATUS_NOT_FOUND, "culprit");
            expect_refusal(allocator, pointer + sizes[i] / 2, sizes[i], JSTATUS_NOT_FOUND,
                           "culprit");
        }
        expect_refusal(allocator, foreign, sizes[i], JSTATUS_NOT_FOUND, "small");
        JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, 0, NULL), JSTATUS_INVALID_SIZE);
        JEXPECT_OK(jallocator_deallocate(allocator, pointer, sizes[i], NULL));
        expect_refusal(allocator, pointer, sizes[i], JSTATUS_NOT_FOUND,
                       sizes[i] <= 32 * KIB ? "culprit" : "small");
        JEXPECT_OK(jallocator_deallocate(allocator, neighbour, sizes[i], NULL));
        JEXPECT_OK(jallocator_trim(allocator, 0));
        /* Its slab is gone. */
        expect_refusal(allocator, pointer, sizes[i], JSTATUS_NOT_FOUND, "small");
        JEXPECT_OK(jallocator_destroy(allocator));
    }
}

JTEST(Small, AFreeBlockOfTheCommonListsIsNotFreedAgain) {
    /* Nothing is kept in caches. */
    jallocator_t *allocator = make_small(jtest_failing_allocator(), 0, 1);
    void *pointer = try_take(allocator, 200, NULL), *other = try_take(allocator, 200, NULL);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 200, NULL));
    for (size_t size = 1; size < 300; ++size)
        JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, size, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_deallocate(allocator, other, 200, NULL));
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- Books ---- */

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

/* The library's functions, as who calls them by name has them: the others are inline. */
static jstatus_t (*volatile named_allocate)(jallocator_t *, size_t, size_t, jstream_t *,
                                            void **) = jallocator_allocate;
static jstatus_t (*volatile named_deallocate)(jallocator_t *, void *, size_t,
                                              jstream_t *) = jallocator_deallocate;

JTEST(Small, ArgumentsAreCheckedAlikeInlineAndByName) {
    jallocator_t *allocator = make_default(), *other = make_default();
    for (int warm = 0; warm < 2; ++warm) {
        void *block = NULL, *pointer = allocator;
        JEXPECT_STATUS(jallocator_allocate(allocator, 64, 0, NULL, NULL), JSTATUS_INVALID_POINTER);
        JEXPECT_STATUS(jallocator_allocate(NULL, 64, 0, NULL, &pointer), JSTATUS_INVALID_POINTER);
        JEXPECT_NULL(pointer);
        JEXPECT_OK(jallocator_allocate(allocator, 0, 0, NULL, &pointer));
        JEXPECT_NULL(pointer);
        JEXPECT_STATUS(jallocator_allocate(allocator, SIZE_MAX, 0, NULL, &pointer),
                       JSTATUS_INVALID_SIZE);
        for (size_t alignment = 1; alignment < 200; ++alignment) {
            const bool good = (alignment & (alignment - 1)) == 0;
            JEXPECT_STATUS(jallocator_allocate(allocator, 64, alignment, NULL, &pointer),
                           good ? JSTATUS_SUCCESS : JSTATUS_INVALID_VALUE);
            JEXPECT_EQ((uintptr_t)pointer % alignment, 0);
            JEXPECT_OK(jallocator_deallocate(allocator, pointer, 64, NULL));
        }
        JEXPECT_OK(named_allocate(allocator, 64, 0, NULL, &block));
        JEXPECT_STATUS(jallocator_deallocate(NULL, block, 64, NULL), JSTATUS_INVALID_POINTER);
        JEXPECT_STATUS(jallocator_deallocate(other, block, 64, NULL), JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(jallocator_deallocate(allocator, block, 65, NULL), JSTATUS_INVALID_SIZE);
        JEXPECT_STATUS(jallocator_deallocate(allocator, block, 0, NULL), JSTATUS_INVALID_SIZE);
        JEXPECT_STATUS(jallocator_deallocate(allocator, block, ((size_t)1 << 32) + 64, NULL),
                       JSTATUS_INVALID_SIZE);
        JEXPECT_STATUS(jallocator_deallocate(allocator, (char *)block + 8, 64, NULL),
                       JSTATUS_NOT_FOUND);
        JEXPECT_OK(jallocator_deallocate(allocator, block, 64, NULL));
        JEXPECT_STATUS(jallocator_deallocate(allocator, block, 0, NULL), JSTATUS_INVALID_SIZE);
        JEXPECT_STATUS(jallocator_deallocate(allocator, block, 64, NULL), JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(named_deallocate(allocator, block, 64, NULL), JSTATUS_NOT_FOUND);
        JEXPECT_OK(jallocator_deallocate(allocator, NULL, 64, NULL));
    }
    JEXPECT_EQ(stats_of(allocator).live_count, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jallocator_destroy(other));
}

static jtag_t tag_of(jallocator_t *allocator, const void *pointer) {
    jallocation_t block = JALLOCATION_INIT;
    JEXPECT_OK(jallocator_find(allocator, pointer, &block));
    return block.tag;
}

/* A size that differs by as much as a tag is another size, also where a block has that tag. */
JTEST(Small, ASizeIsNotTakenForASizeAndATag) {
    jallocator_t *allocator = make_default();
    const jtag_t tag = jtag_intern("small test");
    const size_t beyond = (size_t)tag << 32;
    for (int round = 0; round < 3; ++round) {
        void *plain = try_take(allocator, 64, NULL), *tagged;
        {
            JALLOC_TAG("small test");
            JASSERT_NOT_NULL(tagged = try_take(allocator, 64, NULL));
            JEXPECT_STATUS(jallocator_deallocate(allocator, plain, 64 - beyond, NULL),
                           JSTATUS_INVALID_SIZE);
        }
        JEXPECT_EQ(tag_of(allocator, plain), 0);
        JEXPECT_EQ(tag_of(allocator, tagged), tag);

        const size_t wrong[] = {0, beyond, 64 + beyond, 64 + ((size_t)1 << 32), 65};
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
            JEXPECT_STATUS(jallocator_deallocate(allocator, tagged, wrong[i], NULL),
                           JSTATUS_INVALID_SIZE);
            JEXPECT_STATUS(jallocator_deallocate(allocator, plain, wrong[i], NULL),
                           JSTATUS_INVALID_SIZE);
        }
        JEXPECT_OK(jallocator_deallocate(allocator, tagged, 64, NULL));
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
            JEXPECT_STATUS(jallocator_deallocate(allocator, tagged, wrong[i], NULL),
                           wrong[i] == 0 ? JSTATUS_INVALID_SIZE : JSTATUS_NOT_FOUND);

        JEXPECT_TRUE(try_take(allocator, 64, NULL) == tagged);
        JEXPECT_EQ(tag_of(allocator, tagged), 0);
        JEXPECT_OK(jallocator_deallocate(allocator, tagged, 64, NULL));
        JEXPECT_OK(jallocator_deallocate(allocator, plain, 64, NULL));
    }
    JEXPECT_EQ(stats_of(allocator).live_count, 0);
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, 0);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Small, AThreadThatChangesStreamsIsServedByTheFastPath) {
    jallocator_t *allocator = make_default();
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    for (int round = 0; round < 3; ++round) {
        jstream_t *const used[] = {NULL, stream};
        for (int i = 0; i < 2; ++i) {
            for (int times = 0; times < 2; ++times)
                JEXPECT_OK(jallocator_deallocate(allocator, try_take(allocator, 1000, used[i]),
                                                 1000, used[i]));
            JEXPECT_EQ(ji_small_thread.cache->seen.counts.at_hand_bytes, 1000);
            JEXPECT_TRUE(jthread_hint_1_.allocator ==
                         (i == 0 ? (const void *)allocator : JTHREAD_NO_ALLOCATOR_));
        }
    }
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* Between caches and what all share, of all classes. */
static unsigned count_exchanges(const small_t *small) {
    unsigned count = 0;
    for (uint32_t i = 0; i < small->class_count; ++i)
        count += small->classes[i].exchanges;
    return count;
}

/* As many of each octave from 64 B to 4 KiB: 1 MiB together. */
static size_t spread_size(size_t index) {
    enum { OF_AN_OCTAVE = 171 };
    const size_t octave_bytes = (size_t)64 << index / OF_AN_OCTAVE;
    return octave_bytes + octave_bytes * (index % OF_AN_OCTAVE) / OF_AN_OCTAVE;
}

/* Two threads that exchange blocks all the time wait for each other's locks, and write to each
 * other's cells. */
JTEST(Small, OfAThousandBlocksOfAllSizesAGeneralCacheExchangesFew) {
    enum { COUNT = 1024, ROUNDS = 3, MOST = COUNT / 100 };
    static void *blocks[COUNT];
    jallocator_t *allocator = NULL;
    JASSERT_OK(jallocator_create_general(jtest_failing_allocator(), NULL, &allocator));
    unsigned exchanges = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        const unsigned before = count_exchanges(allocator->context);
        for (size_t i = 0; i < COUNT; ++i)
            JASSERT_NOT_NULL(blocks[i] = try_take(allocator, spread_size(i), NULL));
        for (size_t i = 0; i < COUNT; ++i)
            JEXPECT_OK(jallocator_deallocate(allocator, blocks[i], spread_size(i), NULL));
        exchanges = count_exchanges(allocator->context) - before;
    }
    JEXPECT_LE(exchanges, MOST);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* Of every class, so what a large cache may keep is no measure of it. */
JTEST(Small, HalfAMebibyteOfAClassIsBetweenTheCachesAtMost) {
    enum { COUNT = 4000, BYTES = 4096 };
    static void *blocks[COUNT];
    jallocator_t *allocator = make_small(jtest_failing_allocator(), 0, 64 * MIB);
    const small_t *small = allocator->context;
    const small_class_t *class = &small->classes[small->class_of[(BYTES - 1) / SMALL_STEP_BYTES]];
    for (size_t i = 0; i < COUNT; ++i)
        JASSERT_NOT_NULL(blocks[i] = try_take(allocator, BYTES, NULL));
    size_t most_bytes = 0;
    for (size_t i = 0; i < COUNT; ++i) {
        JEXPECT_OK(jallocator_deallocate(allocator, blocks[i], BYTES, NULL));
        if (class->bundled_count * BYTES > most_bytes)
            most_bytes = class->bundled_count * BYTES;
    }
    JEXPECT_GT(most_bytes, 0);
    JEXPECT_LE(most_bytes, 512 * KIB);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* The cache line of the books in which a block has its cell. */
static uintptr_t cell_line(jallocator_t *allocator, const void *pointer) {
    size_t offset, index;
    const small_slab_t *slab = small_slab_find(allocator->context, pointer, &offset);
    JEXPECT_TRUE(slab != NULL && small_slab_index(slab, offset, &index));
    if (slab == NULL)
        return 0;
    return (uintptr_t)&slab->seen.cells[index] / SMALL_LINE_BYTES;
}

/* Else two threads that have nothing to do with each other wait for each other's writes. A thread
 * has a cache for each stream, so here it is two. */
JTEST(Small, TwoCachesWriteToNoLineOfCellsInCommon) {
    enum { BLOCKS = 24, CACHES = 2 };
    static const size_t sizes[] = {64, 192, 256, 704, 1024, 4096};
    jstream_t *streams[CACHES] = {NULL};
    JASSERT_OK(jstream_create(jdevice_host(), &streams[1]));
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        jallocator_t *allocator = make_default();
        void *blocks[CACHES][BLOCKS];
        uintptr_t lines[CACHES][BLOCKS];
        for (int b = 0; b < BLOCKS; ++b)
            for (int c = 0; c < CACHES; ++c) {
                blocks[c][b] = try_take(allocator, sizes[s], streams[c]);
                lines[c][b] = cell_line(allocator, blocks[c][b]);
            }
        for (int a = 0; a < BLOCKS; ++a)
            for (int b = 0; b < BLOCKS; ++b)
                JEXPECT_NE(lines[0][a], lines[1][b]);
        for (int b = 0; b < BLOCKS; ++b)
            for (int c = 0; c < CACHES; ++c)
                JEXPECT_OK(jallocator_deallocate(allocator, blocks[c][b], sizes[s], streams[c]));
        JEXPECT_OK(jallocator_destroy(allocator));
    }
    JEXPECT_OK(jstream_destroy(streams[1]));
}

JTEST(Small, SizesThatTheInlinePathDoesNotServeAreServedAllTheSame) {
    jallocator_t *allocator = make_small(jtest_failing_allocator(), MIB, 0);
    static const size_t sizes[] = {SMALL_INLINE_BYTES - 1, SMALL_INLINE_BYTES,
                                   SMALL_INLINE_BYTES + 1, MIB - 1, MIB};
    for (int round = 0; round < 3; ++round)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
            void *block = try_take(allocator, sizes[s], NULL);
            memset(block, round, sizes[s]);
            JEXPECT_GE(jallocator_usable_size(allocator, block, sizes[s]), sizes[s]);
            JEXPECT_STATUS(jallocator_deallocate(allocator, block, sizes[s] - 1, NULL),
                           JSTATUS_INVALID_SIZE);
            JEXPECT_OK(jallocator_deallocate(allocator, block, sizes[s], NULL));
            JEXPECT_STATUS(jallocator_deallocate(allocator, block, sizes[s], NULL),
                           JSTATUS_NOT_FOUND);
        }
    JEXPECT_LE(ji_small_thread.cache->seen.counts.at_hand_bytes, SMALL_INLINE_BYTES);
    JEXPECT_OK(jallocator_destroy(allocator));
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
            const size_t size = (size_t)1 << jtest_random_between(0, 15),
                         extra = (size_t)jtest_random_between(0, 5000);
            const size_t alignment = (size_t)1 << jtest_random_between(0, 13);
            blocks[i].size_bytes = size + extra;
            JASSERT_OK(step % 3 == 0 ? named_allocate(allocator, size + extra, alignment, stream,
                                                      &blocks[i].pointer)
                                     : jallocator_allocate(allocator, size + extra, alignment,
                                                           stream, &blocks[i].pointer));
            ++model.allocation_count;
            ++model.live_count;
            model.in_use_bytes += blocks[i].size_bytes;
            if (model.peak_in_use_bytes < model.in_use_bytes)
                model.peak_in_use_bytes = model.in_use_bytes;
            if (model.largest_request_bytes < blocks[i].size_bytes)
                model.largest_request_bytes = blocks[i].size_bytes;
        } else {
            JASSERT_OK(step % 3 == 0 ? named_deallocate(allocator, blocks[i].pointer,
                                                        blocks[i].size_bytes, stream)
                                     : jallocator_deallocate(allocator, blocks[i].pointer,
                                                             blocks[i].size_bytes, stream));
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
            JEXPECT_OK(
                jallocator_deallocate(allocator, blocks[i].pointer, blocks[i].size_bytes, NULL));
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
    char *blocks[] = {try_take(allocator, 50, NULL), try_take(allocator, 3000, NULL),
                      try_take(allocator, 70000, NULL)};
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
    /* Rounded, not asked for. */
    JEXPECT_STATUS(jallocator_find(allocator, blocks[0] + 63, &found), JSTATUS_NOT_FOUND);
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

/* ---- Failures ---- */

static const size_t failure_sizes[] = {1, 64, 500, 4096, 30000, 50000};
enum { FAILURE_SIZES = sizeof failure_sizes / sizeof *failure_sizes, FAILURE_ROUNDS = 12 };

/* Everything goes on whatever fails; returns how many requests failed. */
static unsigned use_with_failures(jallocator_t *allocator) {
    void *pointers[FAILURE_ROUNDS][FAILURE_SIZES];
    unsigned failed = 0;
    for (size_t round = 0; round < FAILURE_ROUNDS; ++round)
        for (size_t i = 0; i < FAILURE_SIZES; ++i) {
            const jstatus_t status =
                jallocator_allocate(allocator, failure_sizes[i], 0, NULL, &pointers[round][i]);
            JEXPECT_EQ(pointers[round][i] != NULL, status == JSTATUS_SUCCESS);
            if (status == JSTATUS_SUCCESS)
                continue;
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            ++failed;
            JEXPECT_OK(
                jallocator_allocate(allocator, failure_sizes[i], 0, NULL, &pointers[round][i]));
        }
    JEXPECT_EQ(stats_of(allocator).live_count, FAILURE_ROUNDS * FAILURE_SIZES);
    JEXPECT_EQ(stats_of(allocator).failure_count, failed);
    for (size_t round = 0; round < FAILURE_ROUNDS; ++round)
        for (size_t i = 0; i < FAILURE_SIZES; ++i)
            JEXPECT_OK(
                jallocator_deallocate(allocator, pointers[round][i], failure_sizes[i], NULL));
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

/* ---- General ---- */

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

/* ---- Damage ---- */

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
    small_cell_enter(newest->items[0].cell, 5, 0);
    expect_damage(small_one, "both free and live");
    small_cell_clear(newest->items[0].cell);
    uint32_t place = 0;
    while ((slab->free_bits[place / 64] >> place % 64 & 1) == 0)
        ++place;
    small_cell_enter(&slab->seen.cells[place], 5, 0);
    expect_damage(small_one, "the free blocks of the slab");
    small_cell_clear(&slab->seen.cells[place]);
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
    JEXPECT_STATUS(jallocator_deallocate(general, small_one, 100 * KIB, NULL),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_deallocate(general, large, 101 * KIB, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(stats_of(general).live_count, 2);
    JEXPECT_OK(jallocator_deallocate(general, large, 100 * KIB, NULL));
    JEXPECT_OK(jallocator_deallocate(general, small_one, 100, NULL));
    JEXPECT_STATUS(jallocator_deallocate(general, small_one + 8, 100, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(stats_of(general).live_count, 0);
    JEXPECT_OK(jallocator_check(general));
    JEXPECT_OK(jallocator_destroy(general));
}

/* A provider that refuses to take one block back; before it answers, others take the room that the
 * block's entry in the ledger had, and bookkeeping has no more. */
typedef struct refusing {
    jallocator_t *above;
    const void *refused; /* NULL: none is */
    void *others;
} refusing_t;

enum { REFUSED_BYTES = 64 << 10 };

static jstatus_t refusing_deallocate(void *context, void *pointer, size_t size_bytes,
                                     jstream_t *stream) {
    refusing_t *refusing = context;
    if (pointer != refusing->refused)
        return plain_deallocate(context, pointer, size_bytes, stream);

    refusing->refused = NULL;
    JEXPECT_OK(jallocator_allocate(refusing->above, REFUSED_BYTES, 0, NULL, &refusing->others));
    jtest_fail_metadata_after(1);
    return JSTATUS_DEVICE_ERROR;
}

JTEST(Small, ALargeBlockThatBelowDoesNotTakeStaysKnown) {
    enum { MOST = 200 };
    refusing_t refusing = {NULL, NULL, NULL};
    jallocator_ops_t ops = JALLOCATOR_OPS_INIT;
    ops.allocate = plain_allocate;
    ops.deallocate = refusing_deallocate;
    jallocator_t *below = NULL;
    JASSERT_OK(jallocator_create(&ops, &refusing, NULL, &below));
    JASSERT_OK(jallocator_create_small(below, NULL, &refusing.above));

    /* One failure is enough, since the ledger of below grows at another time. */
    void *apart, *pointers[MOST];
    JASSERT_OK(jallocator_allocate(below, REFUSED_BYTES, 0, NULL, &apart));
    /* Among them is the number of blocks that fills the ledger to where it would grow. */
    for (size_t i = 0; i < MOST; ++i) {
        JASSERT_OK(jallocator_allocate(refusing.above, REFUSED_BYTES, 0, NULL, &pointers[i]));
        refusing.refused = pointers[i];
        const jstatus_t status =
            jallocator_deallocate(refusing.above, pointers[i], REFUSED_BYTES, NULL);
        jtest_fail_metadata_after(0);
        JEXPECT_STATUS(status, JSTATUS_DEVICE_ERROR);
        JEXPECT_OK(jallocator_deallocate(refusing.above, refusing.others, REFUSED_BYTES, NULL));
        jallocation_t found = JALLOCATION_INIT;
        JEXPECT_OK(jallocator_find(refusing.above, pointers[i], &found));
    }

    for (size_t i = 0; i < MOST; ++i)
        JEXPECT_OK(jallocator_deallocate(refusing.above, pointers[i], REFUSED_BYTES, NULL));
    JEXPECT_OK(jallocator_destroy(refusing.above));
    JEXPECT_OK(jallocator_deallocate(below, apart, REFUSED_BYTES, NULL));
    JEXPECT_OK(jallocator_destroy(below));
}

JTEST(Small, ServesOneThreadWhereBelowDoes) {
    jallocator_t *allocator;
    JASSERT_OK(jallocator_compose(NULL, "malloc+stack(threads=none)+small", &allocator));
    JEXPECT_EQ(jallocator_threads(allocator), JALLOCATOR_THREADS_NONE);
    JEXPECT_OK(jallocator_destroy(allocator));
}
