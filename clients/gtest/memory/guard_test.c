/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Guard words, fills, and the books of exact sizes: what each sees, and that it sees nothing where
 * nothing is. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/adaptor.h"
#include "jalloc/provider.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *take_on(jallocator_t *allocator, size_t size_bytes, size_t alignment,
                     jstream_t *stream) {
    void *pointer = NULL;
    JEXPECT_OK(jallocator_allocate(allocator, size_bytes, alignment, stream, &pointer));
    return pointer;
}

/* ---- Guard ---- */

static jallocator_t *make_guard(size_t guard_bytes) {
    jallocator_t *guard = NULL;
    jguard_options_t options = JGUARD_OPTIONS_INIT;
    options.guard_bytes = guard_bytes;
    JEXPECT_OK(jallocator_create_guard(jtest_failing_allocator(), &options, &guard));
    return guard;
}

/* Spoils one byte at an offset from the block, and looks whether every way of checking says so, and
 * where. */
static void expect_seen(jallocator_t *guard, unsigned char *block, size_t size_bytes,
                        ptrdiff_t offset) {
    char where[32];
    snprintf(where, sizeof where, "byte %td,", offset);
    block[offset] ^= 0x5a;
    JEXPECT_STATUS(jallocator_check(guard), JSTATUS_CORRUPTED);
    JEXPECT_SUBSTR(jstatus_last_message(), where);
    JEXPECT_STATUS(jallocator_trim(guard, 0), JSTATUS_CORRUPTED);
    JEXPECT_STATUS(jallocator_deallocate(guard, block, size_bytes, NULL), JSTATUS_CORRUPTED);
    JEXPECT_SUBSTR(jstatus_last_message(), where);
    JEXPECT_SUBSTR(jstatus_last_message(), "culprit");
    JEXPECT_EQ(stats_of(guard).live_count, 1); /* it stays, and goes the second time */
    JEXPECT_OK(jallocator_deallocate(guard, block, size_bytes, NULL));
    JEXPECT_EQ(stats_of(guard).live_count, 0);
}

JTEST(Guard, OneByteTooManyIsSeenOnEitherSide) {
    static const size_t sizes[] = {1, 2, 7, 15, 16, 17, 63, 64, 100, 4095, 4096, 65537};
    JALLOC_TAG("culprit");
    for (size_t guard_bytes = 16; guard_bytes <= 528; guard_bytes += 256) {
        jallocator_t *guard = make_guard(guard_bytes);
        const ptrdiff_t width = (ptrdiff_t)guard_bytes;
        for (size_t alignment = 1; alignment <= 4096; alignment *= 4)
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
                const size_t size = sizes[i];
                const ptrdiff_t wrong[] = {-1, -width, (ptrdiff_t)size,
                                           (ptrdiff_t)size + width - 1};
                for (size_t k = 0; k < 4; ++k) {
                    JSCOPED_TRACE("guard %zu, size %zu, alignment %zu, byte %td", guard_bytes, size,
                                  alignment, wrong[k]);
                    unsigned char *block = take_on(guard, size, alignment, NULL);
                    JASSERT_NOT_NULL(block);
                    JASSERT_EQ((uintptr_t)block % alignment, 0);
                    memset(block, 0xff, size); /* all of one's own */
                    JEXPECT_OK(jallocator_check(guard));
                    JEXPECT_OK(jallocator_trim(guard, 0));
                    expect_seen(guard, block, size, wrong[k]);
                    if (jtest_has_failure())
                        return;
                }
            }
        jtest_log_clear();
        JEXPECT_OK(jallocator_destroy(guard));
        /* It says at the end that there was something. */
        JEXPECT_SUBSTR(jtest_log_text(), "written around");
    }
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

JTEST(Guard, UsableSizeIsWhatWasAskedForAndBlocksAreFound) {
    jallocator_t *guard = make_guard(0);
    unsigned char *block = take_on(guard, 100, 256, NULL);
    jallocation_t found = JALLOCATION_INIT;
    JEXPECT_EQ(jallocator_usable_size(guard, block, 100), 100);
    JEXPECT_OK(jallocator_find(guard, block + 99, &found));
    JEXPECT_EQ(found.pointer, block);
    JEXPECT_EQ(found.size_bytes, 100);
    JEXPECT_EQ(found.usable_bytes, 100);
    JEXPECT_EQ(found.allocator, guard);
    JEXPECT_STATUS(jallocator_find(guard, block + 100, &found), JSTATUS_NOT_FOUND);
    JEXPECT_FALSE(owns(guard, block - 256));
    JEXPECT_STATUS(jallocator_deallocate(guard, block + 1, 100, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(guard, block, 99, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_OK(jallocator_deallocate(guard, block, 100, NULL));
    JEXPECT_STATUS(jallocator_deallocate(guard, block, 100, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_destroy(guard));
}

JTEST(Guard, OfSeveralDamagedBlocksEachIsLogged) {
    jallocator_t *guard = make_guard(0);
    unsigned char *blocks[5];
    static const char *const tags[] = {"alpha", "beta", "gamma", "delta", "epsilon"};
    for (size_t i = 0; i < 5; ++i) {
        JALLOC_TAG(tags[i]);
        blocks[i] = take_on(guard, 40, 0, NULL);
    }
    blocks[1][40] ^= 1;
    blocks[3][-3] ^= 1;
    jtest_log_clear();
    JEXPECT_STATUS(jallocator_check(guard), JSTATUS_CORRUPTED);
    JEXPECT_SUBSTR(jtest_log_text(), "beta");
    JEXPECT_SUBSTR(jtest_log_text(), "delta");
    JEXPECT_EQ(jtest_log_count(), 2);
    blocks[1][40] ^= 1; /* mended */
    blocks[3][-3] ^= 1;
    JEXPECT_OK(jallocator_check(guard));
    for (size_t i = 0; i < 5; ++i)
        JEXPECT_OK(jallocator_deallocate(guard, blocks[i], 40, NULL));
    JEXPECT_OK(jallocator_destroy(guard));
}

JTEST(Guard, WordsDifferFromBlockToBlock) {
    jallocator_t *guard = make_guard(0);
    unsigned char *a = take_on(guard, 64, 0, NULL), *b = take_on(guard, 64, 0, NULL);
    JEXPECT_NE(memcmp(a + 64, b + 64, 16), 0);
    JEXPECT_NE(memcmp(a - 16, a + 64, 16), 0);
    JEXPECT_OK(jallocator_deallocate(guard, a, 64, NULL));
    JEXPECT_OK(jallocator_deallocate(guard, b, 64, NULL));
    JEXPECT_OK(jallocator_destroy(guard));
}

JTEST(Guard, WordsAreWrittenInStreamOrder) {
    jallocator_t *guard = make_guard(0);
    jdevice_t *host = jdevice_host();
    jstream_t *stream, *other;
    JASSERT_OK(jstream_create(host, &stream));
    JASSERT_OK(jstream_create(host, &other));
    jtest_gate_t gate = JTEST_GATE_INIT;
    JASSERT_OK(jtest_gate_block(&gate, host, stream));
    /* Returns, though its words are behind the gate. */
    unsigned char *block = take_on(guard, 100, 0, stream);
    JASSERT_NOT_NULL(block);
    JEXPECT_OK(jallocator_check(guard)); /* not used yet, so nothing can be wrong */
    jtest_gate_open(&gate);
    JEXPECT_OK(jdevice_fill(host, stream, block, "x", 1, 100));
    JEXPECT_OK(jallocator_deallocate(guard, block, 100, stream)); /* waits */
    JEXPECT_EQ(jtest_live_bytes(), 0);

    block = take_on(guard, 100, 0, stream);
    JEXPECT_OK(jdevice_fill(host, stream, block, "x", 1, 101)); /* one too many, in the stream */
    JEXPECT_STATUS(jallocator_deallocate(guard, block, 100, stream), JSTATUS_CORRUPTED);
    JEXPECT_SUBSTR(jstatus_last_message(), "byte 100,");
    JEXPECT_OK(jallocator_deallocate(guard, block, 100, stream));

    /* Allocated on one stream, and freed at once on another that knows nothing of it. */
    for (int64_t i = jtest_iterations(200); i > 0; --i) {
        block = take_on(guard, 4096, 0, stream);
        JEXPECT_OK(jallocator_deallocate(guard, block, 4096, i % 2 != 0 ? other : NULL));
    }
    block = take_on(guard, 8, 0, stream);
    JEXPECT_OK(jstream_destroy(stream)); /* before the block is freed */
    JEXPECT_OK(jallocator_check(guard));
    JEXPECT_OK(jallocator_deallocate(guard, block, 8, NULL));
    JEXPECT_OK(jallocator_destroy(guard));
    JEXPECT_OK(jstream_destroy(other));
}

typedef struct guard_threads {
    jallocator_t *guard;
    jstream_t *stream;
    uint64_t seed;
} guard_threads_t;

static void *guard_thread(void *argument) {
    guard_threads_t *mine = argument;
    for (int64_t i = jtest_iterations(300); i > 0; --i) {
        const size_t size = 1 + jtest_random_next(&mine->seed) % 300;
        jstream_t *stream = jtest_random_next(&mine->seed) % 2 != 0 ? mine->stream : NULL;
        unsigned char *block = take_on(mine->guard, size, 0, stream);
        JEXPECT_OK(jdevice_fill(jdevice_host(), stream, block, "y", 1, size));
        if (i % 16 == 0)
            JEXPECT_OK(jallocator_check(mine->guard));
        JEXPECT_OK(jallocator_deallocate(mine->guard, block, size, stream));
    }
    return NULL;
}

JTEST(Guard, ThreadsCheckWhileOthersFree) {
    jallocator_t *guard = make_guard(0);
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    pthread_t threads[4];
    guard_threads_t each[4];
    for (size_t i = 0; i < 4; ++i) {
        each[i] = (guard_threads_t){guard, stream, i};
        JASSERT_EQ(pthread_create(&threads[i], NULL, guard_thread, &each[i]), 0);
    }
    for (size_t i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_EQ(stats_of(guard).live_count, 0);
    JEXPECT_OK(jallocator_destroy(guard));
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(Guard, OptionsAndSizesAreChecked) {
    jallocator_t *guard;
    jguard_options_t options = JGUARD_OPTIONS_INIT;
    options.guard_bytes = 24;
    JEXPECT_STATUS(jallocator_create_guard(jtest_failing_allocator(), &options, &guard),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_create_guard(NULL, NULL, &guard), JSTATUS_INVALID_POINTER);
    static const size_t too_much[] = {SIZE_MAX / 16 * 16, SIZE_MAX - 4095, SIZE_MAX / 2 + 1};
    for (size_t k = 0; k < 3; ++k) {
        options.guard_bytes = too_much[k];
        JEXPECT_STATUS(jallocator_create_guard(jtest_failing_allocator(), &options, &guard),
                       JSTATUS_INVALID_VALUE);
    }

    /* The largest, twice and a block between them, are too much together. */
    options.guard_bytes = PTRDIFF_MAX / 2 / 16 * 16;
    JASSERT_OK(jallocator_create_guard(jtest_failing_allocator(), &options, &guard));
    static const size_t sizes[] = {8192, PTRDIFF_MAX - 64};
    for (size_t k = 0; k < 2; ++k) {
        void *pointer = &guard;
        JEXPECT_STATUS(jallocator_allocate(guard, sizes[k], 64, NULL, &pointer),
                       JSTATUS_INVALID_SIZE);
        JEXPECT_NULL(pointer);
    }
    JEXPECT_OK(jallocator_destroy(guard));
    JEXPECT_EQ(jtest_allocation_count(), 0);
}

/* ---- Fill ---- */

/* Below: one block that stays readable when it is freed. */
typedef struct keeper {
    _Alignas(64) unsigned char bytes[4096];
    size_t size_bytes;
    jstatus_t refuses;
    bool ordered; /* all bytes had the value expected when it came back */
    unsigned char expected;
} keeper_t;

static jstatus_t keeper_allocate(void *context, size_t size_bytes, size_t alignment,
                                 jstream_t *stream, void **pointer) {
    keeper_t *keeper = context;
    (void)alignment, (void)stream;
    keeper->size_bytes = size_bytes;
    *pointer = keeper->bytes;
    return JSTATUS_SUCCESS;
}
static jstatus_t keeper_deallocate(void *context, void *pointer, size_t size_bytes,
                                   jstream_t *stream) {
    keeper_t *keeper = context;
    (void)pointer, (void)stream;
    keeper->ordered = true;
    for (size_t i = 0; i < size_bytes; ++i)
        keeper->ordered = keeper->ordered && keeper->bytes[i] == keeper->expected;
    return keeper->refuses;
}
static jallocator_t *make_keeper(keeper_t *keeper) {
    const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = keeper_allocate, .deallocate = keeper_deallocate};
    jallocator_t *allocator = NULL;
    JEXPECT_OK(jallocator_create(&ops, keeper, NULL, &allocator));
    return allocator;
}

static bool all_are(const unsigned char *bytes, size_t count, unsigned char value) {
    for (size_t i = 0; i < count; ++i)
        if (bytes[i] != value)
            return false;
    return true;
}

JTEST(Fill, ComesAndGoesAsNaNOfEveryType) {
    static keeper_t keeper;
    keeper = (keeper_t){.expected = 0xff};
    jallocator_t *below = make_keeper(&keeper), *fill;
    JASSERT_OK(jallocator_create_fill(below, NULL, &fill));
    double *doubles = take_on(fill, 800, 0, NULL);
    float *floats = (float *)doubles;
    const uint16_t *halves = (const uint16_t *)doubles;
    for (size_t i = 0; i < 100; ++i)
        JEXPECT_TRUE(doubles[i] != doubles[i]);
    for (size_t i = 0; i < 200; ++i)
        JEXPECT_TRUE(floats[i] != floats[i]);
    for (size_t i = 0; i < 400; ++i) {
        JEXPECT_TRUE((halves[i] & 0x7c00) == 0x7c00 && (halves[i] & 0x03ff) != 0); /* half */
        JEXPECT_TRUE((halves[i] & 0x7f80) == 0x7f80 && (halves[i] & 0x007f) != 0); /* bfloat16 */
    }
    JEXPECT_EQ(keeper.bytes[800], 0); /* and not a byte more */
    memset(doubles, 7, 800);
    JEXPECT_OK(jallocator_deallocate(fill, doubles, 800, NULL));
    JEXPECT_TRUE(keeper.ordered);
    JEXPECT_OK(jallocator_destroy(fill));
    JEXPECT_OK(jallocator_destroy(below));
}

JTEST(Fill, WritesWhatWasChosen) {
    static const struct {
        jfill_value_t value;
        unsigned char byte;
    } values[] = {{JFILL_NAN, 0xff}, {JFILL_ZERO, 0}, {JFILL_PATTERN, 0x2a}, {JFILL_NONE, 0x11}};
    static keeper_t keeper;
    jallocator_t *below = make_keeper(&keeper), *fill;
    for (size_t a = 0; a < 4; ++a)
        for (size_t d = 0; d < 4; ++d) {
            jfill_options_t options = JFILL_OPTIONS_INIT;
            options.on_allocate = values[a].value;
            options.on_deallocate = values[d].value;
            options.pattern = 0x2a;
            keeper.expected = values[d].byte;
            memset(keeper.bytes, 0x11, sizeof keeper.bytes);
            JASSERT_OK(jallocator_create_fill(below, &options, &fill));
            unsigned char *block = take_on(fill, 77, 0, NULL);
            JEXPECT_TRUE(all_are(block, 77, values[a].byte));
            memset(block, 0x11, 77);
            JEXPECT_OK(jallocator_deallocate(fill, block, 77, NULL));
            JEXPECT_TRUE(keeper.ordered);
            JEXPECT_TRUE(all_are(keeper.bytes + 77, 100, 0x11));
            JEXPECT_OK(jallocator_destroy(fill));
        }
    jfill_options_t options = JFILL_OPTIONS_INIT;
    options.on_allocate = (jfill_value_t)4;
    JEXPECT_STATUS(jallocator_create_fill(below, &options, &fill), JSTATUS_INVALID_VALUE);
    options.on_allocate = JFILL_NAN;
    options.on_deallocate = (jfill_value_t)4;
    JEXPECT_STATUS(jallocator_create_fill(below, &options, &fill), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jallocator_destroy(below));
}

JTEST(Fill, KeepsToStreamOrder) {
    static keeper_t keeper;
    keeper = (keeper_t){.expected = 0xff};
    jallocator_t *below = make_keeper(&keeper), *fill;
    JASSERT_OK(jallocator_create_fill(below, NULL, &fill));
    jdevice_t *host = jdevice_host();
    jstream_t *streams[2];
    JASSERT_OK(jstream_create(host, &streams[0]));
    JASSERT_OK(jstream_create(host, &streams[1]));
    for (int64_t i = jtest_iterations(100); i > 0; --i) {
        jtest_gate_t gate = JTEST_GATE_INIT;
        JASSERT_OK(jtest_gate_block(&gate, host, streams[0]));
        unsigned char *block = take_on(fill, 4000, 0, streams[0]);
        /* Use, after what fill wrote. */
        JEXPECT_OK(jdevice_fill(host, streams[0], block, "z", 1, 4000));
        jtest_gate_open(&gate);
        /* Freed on the same stream, on another, and inline; below sees the memory filled and nobody
         * writing. */
        JEXPECT_OK(i % 3 == 0 ? JSTATUS_SUCCESS : jstream_synchronize(host, streams[0]));
        JEXPECT_OK(jallocator_deallocate(fill, block, 4000,
                                         i % 3 == 0   ? streams[0]
                                         : i % 3 == 1 ? streams[1]
                                                      : NULL));
        JEXPECT_TRUE(keeper.ordered);
        memset(keeper.bytes, 1, sizeof keeper.bytes); /* below has it for itself */
    }
    JEXPECT_OK(jallocator_destroy(fill));
    JEXPECT_OK(jallocator_destroy(below));
    JEXPECT_OK(jstream_destroy(streams[0]));
    JEXPECT_OK(jstream_destroy(streams[1]));
}

JTEST(Fill, WhatIsNotLiveIsNotWrittenTo) {
    static keeper_t keeper;
    keeper = (keeper_t){.expected = 0xff};
    jallocator_t *below = make_keeper(&keeper), *fill;
    JASSERT_OK(jallocator_create_fill(below, NULL, &fill));
    unsigned char *block = take_on(fill, 64, 0, NULL), mine[64] = {0};
    memset(block, 3, 64);
    JEXPECT_STATUS(jallocator_deallocate(fill, mine, 64, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(fill, block, 63, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_TRUE(all_are(mine, 64, 0));
    JEXPECT_TRUE(all_are(block, 64, 3));
    keeper.refuses = JSTATUS_BUSY; /* below refuses: it stays live */
    JEXPECT_STATUS(jallocator_deallocate(fill, block, 64, NULL), JSTATUS_BUSY);
    JEXPECT_EQ(stats_of(fill).live_count, 1);
    keeper.refuses = JSTATUS_SUCCESS;
    JEXPECT_OK(jallocator_deallocate(fill, block, 64, NULL));
    JEXPECT_STATUS(jallocator_deallocate(fill, block, 64, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_destroy(fill));
    JEXPECT_OK(jallocator_destroy(below));
}

/* ---- Exact ---- */

JTEST(Exact, RemembersSizesByItself) {
    jallocator_t *exact;
    JASSERT_OK(jallocator_create_exact(jtest_failing_allocator(), &exact));
    JALLOC_TAG("whose");
    unsigned char *block = take_on(exact, 333, 0, NULL);
    JEXPECT_EQ(jallocator_usable_size(exact, block, 333), 333);
    JEXPECT_OK(jallocator_check(exact));
    JEXPECT_STATUS(jallocator_deallocate(exact, block, 334, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_deallocate(exact, block, 100, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_SUBSTR(jstatus_last_message(), "whose");
    JEXPECT_STATUS(jallocator_deallocate(exact, block + 8, 333, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(exact, &exact, 8, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(jtest_deallocation_count(), 0);
    JEXPECT_OK(jallocator_deallocate(exact, block, 333, NULL));
    JEXPECT_STATUS(jallocator_deallocate(exact, block, 333, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_destroy(exact));
}

/* An allocator that lies about its blocks, as it is told to. */
typedef struct liar {
    unsigned char bytes[256];
    jstatus_t finds;
    size_t shift, size_bytes, usable_bytes;
    int deallocations;
} liar_t;
static jstatus_t liar_allocate(void *context, size_t size_bytes, size_t alignment,
                               jstream_t *stream, void **pointer) {
    (void)size_bytes, (void)stream;
    *pointer =
        (void *)(((uintptr_t)((liar_t *)context)->bytes + alignment - 1) / alignment * alignment);
    return JSTATUS_SUCCESS;
}
static jstatus_t liar_deallocate(void *context, void *pointer, size_t size_bytes,
                                 jstream_t *stream) {
    (void)pointer, (void)size_bytes, (void)stream;
    ++((liar_t *)context)->deallocations;
    return JSTATUS_SUCCESS;
}
static jstatus_t liar_find(void *context, const void *pointer, jallocation_t *block) {
    const liar_t *liar = context;
    block->pointer = (char *)(uintptr_t)pointer - liar->shift;
    block->size_bytes = liar->size_bytes;
    block->usable_bytes = liar->usable_bytes;
    return liar->finds;
}

JTEST(Exact, DisagreementWithBelowIsCorruption) {
    static liar_t liar;
    liar = (liar_t){.size_bytes = 32, .usable_bytes = 32};
    const jallocator_ops_t ops = {.struct_size = sizeof ops,
                                  .allocate = liar_allocate,
                                  .deallocate = liar_deallocate,
                                  .find = liar_find};
    jallocator_t *below, *exact;
    JASSERT_OK(jallocator_create(&ops, &liar, NULL, &below));
    JASSERT_OK(jallocator_create_exact(below, &exact));
    void *block = take_on(exact, 32, 0, NULL), *again;
    const liar_t truth = liar;
    for (int lie = 0; lie < 5; ++lie) {
        JSCOPED_TRACE("lie %d", lie);
        liar = truth;
        switch (lie) {
        case 0: liar.finds = JSTATUS_NOT_FOUND; break;
        case 1: liar.shift = 8; break;
        case 2: liar.size_bytes = 33; break;
        case 3: liar.usable_bytes = 31; break;
        case 4: liar.usable_bytes = 33; break; /* not what usable_size says */
        }
        JEXPECT_STATUS(jallocator_check(exact), JSTATUS_CORRUPTED);
        JEXPECT_STATUS(jallocator_deallocate(exact, block, 32, NULL), JSTATUS_CORRUPTED);
        JEXPECT_EQ(liar.deallocations, 0);
        JEXPECT_EQ(stats_of(exact).live_count, 1);
    }
    liar = truth;
    /* The same one twice. */
    JEXPECT_STATUS(jallocator_allocate(exact, 32, 0, NULL, &again), JSTATUS_CORRUPTED);
    JEXPECT_EQ(liar.deallocations, 0);
    JEXPECT_OK(jallocator_check(exact));
    JEXPECT_OK(jallocator_deallocate(exact, block, 32, NULL));
    liar.size_bytes = 5; /* a lie from the beginning: given back at once */
    JEXPECT_STATUS(jallocator_allocate(exact, 32, 0, NULL, &again), JSTATUS_CORRUPTED);
    JEXPECT_EQ(liar.deallocations, 2);
    JEXPECT_OK(jallocator_destroy(exact));
    /* Below has counted what it gave out twice. */
    JEXPECT_OK(jallocator_deallocate(below, block, 32, NULL));
    JEXPECT_OK(jallocator_destroy(below));
}

/* ---- All of them ---- */

static const char *const adaptors[] = {"guard", "guard(bytes=64)", "fill",
                                       "fill(allocate=zero,free=none)", "exact"};
static void adaptor_label(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", *(const char *const *)parameter);
    for (; *name != '\0'; ++name)
        if (!((*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9')))
            *name = '_';
}
#define EACH_ADAPTOR(name)                                                                         \
    JTEST_P_NAMED(CheckingAdaptor, name, char *const, adaptors, adaptor_label)

static jstatus_t make_over(jallocator_t *below, const char *composition, jallocator_t **allocator) {
    jguard_options_t wide = JGUARD_OPTIONS_INIT;
    jfill_options_t zero = JFILL_OPTIONS_INIT;
    wide.guard_bytes = 64;
    zero.on_allocate = JFILL_ZERO;
    zero.on_deallocate = JFILL_NONE;
    if (composition[0] == 'g')
        return jallocator_create_guard(below, composition[5] != '\0' ? &wide : NULL, allocator);
    if (composition[0] == 'f')
        return jallocator_create_fill(below, composition[4] != '\0' ? &zero : NULL, allocator);
    return jallocator_create_exact(below, allocator);
}

EACH_ADAPTOR(NothingIsLostWithoutMemoryForBooks) {
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    jallocator_t *below = jtest_failing_allocator();
    JFOR_EACH_FAILURE(i) {
        jallocator_t *allocator;
        if (make_over(below, *param, &allocator) != JSTATUS_SUCCESS)
            continue;
        void *blocks[80]; /* so many that every table grows */
        size_t count = 0;
        jstatus_t status = JSTATUS_SUCCESS;
        for (; count < 80; ++count) {
            status = jallocator_allocate(allocator, 50, 0, count % 8 == 0 ? stream : NULL,
                                         &blocks[count]);
            if (status != JSTATUS_SUCCESS)
                break;
        }
        JEXPECT_EQ(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(stats_of(allocator).live_count, count);
        JEXPECT_OK(jallocator_check(allocator));
        while (count > 0)
            JEXPECT_OK(jallocator_deallocate(allocator, blocks[--count], 50, NULL));
        JEXPECT_OK(jallocator_destroy(allocator));
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
    JEXPECT_OK(jstream_destroy(stream));
}

EACH_ADAPTOR(NothingIsLostWhenBelowFails) {
    jallocator_t *allocator;
    JASSERT_OK(make_over(jtest_failing_allocator(), *param, &allocator));
    void *first = take_on(allocator, 100, 0, NULL), *pointer = &first;
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(jallocator_allocate(allocator, 100, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(pointer);
    JEXPECT_EQ(stats_of(allocator).live_count, 1);
    JEXPECT_STATUS(jallocator_destroy(allocator), JSTATUS_BUSY);
    JEXPECT_OK(jallocator_deallocate(allocator, first, 100, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

typedef struct forked {
    jallocator_t *allocator;
    jstream_t *stream;
    void *block;
} forked_t;

static void in_forked_child(void *argument) {
    forked_t *forked = argument;
    jallocator_t *allocator = forked->allocator;
    void *pointer = NULL;
    /* The parent's stream is dead here. A block that was allocated on it can be freed inline. */
    jstatus_t status = jallocator_allocate(allocator, 64, 0, forked->stream, &pointer);
    if (status == JSTATUS_SUCCESS)
        JEXPECT_OK(jallocator_deallocate(allocator, pointer, 64, NULL));
    else
        JEXPECT_STATUS(status, JSTATUS_FORKED);
    JEXPECT_EQ(stats_of(allocator).live_count, 1);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_deallocate(allocator, forked->block, 64, NULL));
    JEXPECT_EQ(stats_of(allocator).live_count, 0);
}

EACH_ADAPTOR(AForkedStreamTakesNothingWithIt) {
    forked_t forked;
    JASSERT_OK(make_over(jtest_failing_allocator(), *param, &forked.allocator));
    JASSERT_OK(jstream_create(jdevice_host(), &forked.stream));
    forked.block = take_on(forked.allocator, 64, 0, forked.stream);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), forked.stream));
    jtest_in_child(30, in_forked_child, &forked);
    JEXPECT_OK(jallocator_deallocate(forked.allocator, forked.block, 64, forked.stream));
    JEXPECT_OK(jstream_destroy(forked.stream));
    JEXPECT_OK(jallocator_destroy(forked.allocator));
}
