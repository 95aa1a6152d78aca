/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is particular to best fit with coalescing: its rules for splitting, merging and growing to the byte, its bins,
 * its quick lists, its streams. The policy never touches the memory that it hands out, so most tests give it addresses
 * with nothing behind them: a scripted allocator below that grants and refuses as the test says. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/policy.h"
#include "jalloc/provider.h"
#include "memory/allocators/bfc/bfc.h"
#include "pretend_gpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define G BFC_GRANULE_BYTES
#define MIB ((size_t)1 << 20)

/* ---- The allocator below --------------------------------------------------------------------------------------------
 * */

typedef struct script {
    size_t largest_bytes; /* more is refused */
    size_t left_bytes;    /* more than is left is refused */
    size_t asked[64];     /* sizes that were asked for, the first 64 */
    size_t asked_count, granted_bytes, given_back_count;
    bool takes_nothing_back;
    uintptr_t next;
    const atomic_bool *done; /* must be true when anything is given back; NULL: does not matter */
} script_t;

static jstatus_t script_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream,
                                 void **pointer) {
    script_t *script = context;
    (void)stream;
    if (script->asked_count < 64)
        script->asked[script->asked_count] = size_bytes;
    ++script->asked_count;
    if (size_bytes > script->largest_bytes || size_bytes > script->left_bytes)
        return JSTATUS_MEMORY_ERROR;
    script->left_bytes -= size_bytes;
    script->granted_bytes += size_bytes;
    script->next = (script->next + alignment - 1) & ~(alignment - 1);
    *pointer = (void *)script->next;
    script->next += size_bytes + G; /* never adjacent */
    return JSTATUS_SUCCESS;
}
static jstatus_t script_deallocate(void *context, void *pointer, size_t size_bytes, jstream_t *stream) {
    script_t *script = context;
    (void)pointer, (void)stream;
    if (script->takes_nothing_back)
        return JSTATUS_DEVICE_ERROR;
    script->left_bytes += size_bytes;
    script->granted_bytes -= size_bytes;
    ++script->given_back_count;
    if (script->done != NULL)
        JEXPECT_TRUE(atomic_load(script->done));
    return JSTATUS_SUCCESS;
}

/* Limits are the test's own when it is made; the object below is destroyed with the policy. */
static void make(script_t *script, const jbfc_options_t *options, jallocator_t **allocator) {
    const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = script_allocate, .deallocate = script_deallocate};
    const jallocator_options_t below_options = {sizeof below_options, "script", NULL, NULL, JALLOCATOR_THREADS_NONE};
    jallocator_t *below;
    *allocator = NULL;
    script->largest_bytes = script->largest_bytes != 0 ? script->largest_bytes : SIZE_MAX;
    script->left_bytes = script->left_bytes != 0 ? script->left_bytes : SIZE_MAX / 2;
    script->next = (uintptr_t)1 << 40;
    JASSERT_OK(jallocator_create(&ops, script, &below_options, &below));
    JASSERT_OK(jallocator_create_bfc(below, options, allocator));
    JASSERT_OK(jallocator_own_below(*allocator));
}

static void *take_on(jallocator_t *allocator, size_t size_bytes, jstream_t *stream) {
    void *pointer;
    JEXPECT_OK(jallocator_allocate(allocator, size_bytes, 0, stream, &pointer));
    return pointer;
}

/* Everything given back, the policy and what is below it destroyed. */
static void end(jallocator_t *allocator) {
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_EQ(stats_of(allocator).live_count, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* Blocks as a visitor sees them, by address. */
typedef struct view {
    jallocation_t blocks[256];
    size_t count, free_count;
} view_t;
static bool view_add(void *context, const jallocation_t *block) {
    view_t *view = context;
    size_t place = view->count++;
    if (view->count > 256)
        return false;
    for (; place > 0 && view->blocks[place - 1].pointer > block->pointer; --place)
        view->blocks[place] = view->blocks[place - 1];
    view->blocks[place] = *block;
    view->free_count += !block->live;
    return true;
}
static view_t view_of(jallocator_t *allocator) {
    view_t view = {.count = 0};
    JEXPECT_OK(jallocator_visit(allocator, view_add, &view));
    return view;
}

/* ---- Bins -----------------------------------------------------------------------------------------------------------
 * */

/* The least size of a bin, in granules, read off the picture in bfc_bins.h. */
static size_t least_of(unsigned bin) { return bin < 16 ? bin : (size_t)(16 + bin % 16) << (bin / 16 - 1); }

static void expect_right_bin(size_t granules) {
    const unsigned bin = bfc_bin_of(granules * G), from = bfc_bin_from(granules * G);
    if (bin == 0 || bin >= BFC_BIN_COUNT || least_of(bin) > granules || least_of(bin + 1) <= granules)
        JFAIL("%zu granules are in bin %u", granules, bin);
    if (least_of(from) < granules || least_of(from - 1) >= granules)
        JFAIL("%zu granules are looked for from bin %u", granules, from);
    if (least_of(from + 1) - 1 > granules + granules / 8)
        JFAIL("%zu granules may get %zu", granules, least_of(from + 1) - 1);
    if (bfc_bin_of(granules * G + G - 1) != bin) /* sizes are whole granules; what is beyond does not matter */
        JFAIL("%zu granules and some bytes are in another bin", granules);
}

JTEST(Bfc, BinsPartitionTheSizesAndASearchNeverMeetsATooSmallOne) {
    unsigned last = 0;
    for (size_t granules = 1; granules <= 1 << 16; ++granules) {
        const unsigned bin = bfc_bin_of(granules * G);
        expect_right_bin(granules);
        if (bin != last && bin != last + 1) /* monotonic, and no bin is left out */
            JFAIL("%zu granules: bin %u after %u", granules, bin, last);
        last = bin;
    }
    for (unsigned bin = 1; bin < BFC_BIN_COUNT; ++bin) { /* both ends of every bin there is */
        expect_right_bin(least_of(bin));
        expect_right_bin(least_of(bin + 1) - 1);
    }
    for (int i = 0; i < 100000; ++i)
        expect_right_bin((size_t)(jtest_random() >> jtest_random_between(9, 63)) | 1);
    JEXPECT_EQ(bfc_bin_of((size_t)PTRDIFF_MAX), BFC_BIN_COUNT - 1);
    JEXPECT_EQ(bfc_bin_from((size_t)PTRDIFF_MAX & ~(G - 1)), BFC_BIN_COUNT);
}

JTEST(Bfc, NextBinIsTheNextOneThatHasAChunk) {
    enum { CHUNKS = 40 };
    static bfc_bins_t bins;
    static bfc_chunk_t chunks[CHUNKS];
    unsigned in[CHUNKS] = {0};
    bfc_bins_init(&bins);
    for (int i = 0; i < 20000; ++i) {
        const size_t k = jtest_random() % CHUNKS;
        if (in[k] != 0) {
            bfc_bins_remove(&bins, &chunks[k], in[k]);
            in[k] = 0;
        } else {
            in[k] = (unsigned)jtest_random_between(1, BFC_BIN_COUNT - 1);
            bfc_bins_insert(&bins, &chunks[k], in[k]);
        }
        const unsigned from = (unsigned)jtest_random_between(0, BFC_BIN_COUNT);
        unsigned expected = BFC_BIN_COUNT;
        for (size_t j = 0; j < CHUNKS; ++j)
            if (in[j] >= from && in[j] != 0 && in[j] < expected)
                expected = in[j];
        const unsigned next = bfc_bins_next(&bins, from);
        if (expected != (next < BFC_BIN_COUNT ? next : BFC_BIN_COUNT))
            JFAIL("from bin %u the next is %u and not %u", from, expected, next);
    }
}

/* ---- Splitting and merging ------------------------------------------------------------------------------------------
 * */

/* A free block of `block_bytes` between live ones serves a request: how many bytes does it get? */
static size_t usable_from(size_t block_bytes, size_t request_bytes) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = 1024 * MIB;
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    void *before = take(allocator, G), *block = take(allocator, block_bytes), *after = take(allocator, G);
    give(allocator, block, block_bytes);
    void *pointer = take(allocator, request_bytes);
    JEXPECT_EQ(pointer, block);
    const size_t usable = jallocator_usable_size(allocator, pointer, request_bytes);
    JEXPECT_EQ(view_of(allocator).count, usable == block_bytes ? 4 : 5);
    give(allocator, pointer, request_bytes);
    JEXPECT_EQ(view_of(allocator).count, 4); /* one block again */
    give(allocator, before, G);
    give(allocator, after, G);
    JEXPECT_EQ(view_of(allocator).count, 1);
    end(allocator);
    return usable;
}

JTEST(Bfc, SplitsFromTwiceTheRequestOrWhen128MiBWouldBeLeftOver) {
    for (size_t request = 1; request <= 12; ++request)
        for (size_t block = request; block <= 30; ++block) {
            JSCOPED_TRACE("%zu of %zu granules", request, block);
            JEXPECT_EQ(usable_from(block * G, request * G), (block >= 2 * request ? request : block) * G);
            JEXPECT_EQ(usable_from(block * G, request * G - G + 1), (block >= 2 * request ? request : block) * G);
        }
    const size_t request = 200 * MIB, most = 128 * MIB;
    JEXPECT_EQ(usable_from(request + most - G, request), request + most - G);
    JEXPECT_EQ(usable_from(request + most, request), request);
    JEXPECT_EQ(usable_from(request + most + G, request), request);
}

JTEST(Bfc, FreeOfNeighboursCoalescesInAnyOrder) {
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < 6; ++i) {
        script_t script = {0};
        jallocator_t *allocator;
        make(&script, NULL, &allocator);
        void *fence = take(allocator, G), *pointers[3];
        for (int k = 0; k < 3; ++k)
            pointers[k] = take(allocator, (size_t)(k + 2) * G);
        void *after = take(allocator, G);
        for (int k = 0; k < 3; ++k)
            give(allocator, pointers[orders[i][k]], (size_t)(orders[i][k] + 2) * G);
        view_t view = view_of(allocator);
        JEXPECT_EQ(view.count, 4);
        JEXPECT_EQ(view.free_count, 2);
        JEXPECT_EQ(view.blocks[1].pointer, pointers[0]);
        JEXPECT_EQ(view.blocks[1].size_bytes, 9 * G);
        JEXPECT_EQ(take(allocator, 9 * G), pointers[0]); /* all of it in one piece */
        give(allocator, pointers[0], 9 * G);
        give(allocator, fence, G);
        give(allocator, after, G);
        JEXPECT_EQ(stats_of(allocator).largest_free_bytes, MIB);
        end(allocator);
    }
}

/* Freed blocks of a size that comes and goes wait uncoalesced, but never when anybody looks, nor when they are needed.
 * */
JTEST(Bfc, QuickListsAreEmptiedBeforeAnybodyLooksOrTheyAreNeeded) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.limit_bytes = options.region_bytes = 64 * G;
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    const bfc_t *bfc = allocator->context;
    void *pointers[32];
    for (int round = 0; round < 4; ++round) {
        JSCOPED_TRACE("round %d", round);
        for (int i = 0; i < 32; ++i)
            pointers[i] = take(allocator, 2 * G);
        JEXPECT_EQ(stats_of(allocator).free_bytes, 0);
        for (int i = 0; i < 32; ++i)
            give(allocator, pointers[i], 2 * G);
        JEXPECT_EQ(bfc->quick_count, round == 0 ? 31 : 32); /* the first one tells that the size is freed */
        switch (round) {
        case 0: JEXPECT_EQ(stats_of(allocator).largest_free_bytes, 64 * G); break;
        case 1: JEXPECT_EQ(view_of(allocator).count, 1); break;
        case 2: JEXPECT_OK(jallocator_check(allocator)); break;
        default:
            pointers[0] = take(allocator, 64 * G); /* needs them all */
            give(allocator, pointers[0], 64 * G);
        }
        JEXPECT_EQ(bfc->quick_count, 0);
    }
    for (int i = 0; i < 3; ++i)
        pointers[i] = take(allocator, 2 * G);
    give(allocator, pointers[1], 2 * G);
    JEXPECT_EQ(bfc->quick_count, 1);
    JEXPECT_STATUS(jallocator_deallocate(allocator, pointers[1], 2 * G, NULL), JSTATUS_NOT_FOUND); /* it is not live */
    JEXPECT_EQ(take(allocator, 2 * G - 1), pointers[1]); /* last freed, first used */
    give(allocator, pointers[1], 2 * G - 1);
    give(allocator, pointers[0], 2 * G);
    give(allocator, pointers[2], 2 * G);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(script.granted_bytes, 0);
    end(allocator);
}

/* Two sizes that share a slot: the list of one is emptied before the slot is the other's. */
JTEST(Bfc, QuickListsHoldNoMoreThanAThousand) {
    enum { BLOCKS = 1100 };
    static void *blocks[BLOCKS];
    script_t script = {0};
    jallocator_t *allocator;
    make(&script, NULL, &allocator);
    for (size_t i = 0; i < BLOCKS; ++i)
        blocks[i] = take(allocator, G);
    for (size_t i = 0; i < BLOCKS; ++i)
        give(allocator, blocks[i], G);
    JEXPECT_EQ(((bfc_t *)allocator->context)->quick_count, 1024);
    for (size_t i = 0; i < BLOCKS; ++i)
        blocks[i] = take(allocator, G);
    JEXPECT_EQ(((bfc_t *)allocator->context)->quick_count, 0);
    for (size_t i = 0; i < BLOCKS; ++i)
        give(allocator, blocks[i], G);
    end(allocator);
}

JTEST(Bfc, WhatBelowDoesNotTakeBackAtTheEndIsSaid) {
    script_t script = {0};
    jallocator_t *allocator;
    make(&script, NULL, &allocator);
    give(allocator, take(allocator, G), G);
    jallocator_t *below = jallocator_below(allocator);
    script.takes_nothing_back = true;
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_SUBSTR(jtest_log_text(), "1048576 bytes were not given back");
    JEXPECT_SUBSTR(jtest_log_text(), "it stays"); /* what is below, which has a live block */
    script.takes_nothing_back = false;
    give(below, (void *)((uintptr_t)1 << 40), MIB);
    JEXPECT_OK(jallocator_destroy(below));
}

JTEST(Bfc, QuickListsOfDifferentSizesAreNeverMixed) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = 64 * MIB;
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    size_t small = 100 * G, large = small + G;
    while (bfc_quick_number(large) != bfc_quick_number(small))
        large += G;
    void *a = take(allocator, small), *after_a = take(allocator, G);
    void *b = take(allocator, large), *after_b = take(allocator, G);
    give(allocator, a, small);
    JEXPECT_EQ(take(allocator, small), a);
    give(allocator, a, small);
    JEXPECT_EQ(((bfc_t *)allocator->context)->quick_count, 1);
    give(allocator, b, large);
    JEXPECT_EQ(((bfc_t *)allocator->context)->quick_count, 0);
    JEXPECT_EQ(take(allocator, large), b);
    JEXPECT_EQ(take(allocator, small), a);
    give(allocator, a, small);
    give(allocator, after_a, G);
    give(allocator, b, large);
    give(allocator, after_b, G);
    end(allocator);
}

/* ---- Growth ---------------------------------------------------------------------------------------------------------
 * */

/* A region has a part of what there is, or what the request needs, or the least that is taken at once. */
static const struct growth {
    size_t percent, least; /* granules */
    size_t requests[6], regions[6];
} growths[] = {
    {100, 4, {4, 8, 16, 5, 70, 64}, {4, 8, 16, 28, 70, 126}},
    {10, 1, {50, 50, 5, 20, 13, 1}, {50, 50, 10, 20, 13, 14}},
    {0, 2, {100, 100, 3, 1000, 1, 90}, {100, 100, 12, 1000, 72, 90}}, /* 6% */
};
JTEST_P(Bfc, RegionsGrowWithWhatThereIs, struct growth, growths) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = param->least * G - 10; /* rounded up */
    options.growth_percent = param->percent;
    options.split_tightly = true; /* so that what is taken is what was asked for */
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    void *pointers[6];
    for (int i = 0; i < 6; ++i) {
        const size_t before = script.asked_count;
        pointers[i] = take(allocator, param->requests[i] * G);
        if (script.asked_count > before)
            JEXPECT_EQ(script.asked[before], param->regions[i] * G);
    }
    for (int i = 0; i < 6; ++i)
        give(allocator, pointers[i], param->requests[i] * G);
    end(allocator);
    JEXPECT_EQ(script.granted_bytes, 0);
    options.growth_percent = 1001;
    JEXPECT_STATUS(jallocator_create_bfc(jtest_failing_allocator(), &options, &allocator), JSTATUS_INVALID_VALUE);
}

/* Where blocks change their sizes, regions that are free go before more is reserved than ever before. */
JTEST(Bfc, FreeRegionsGoBeforeThePeakRises) {
    for (int keep = 0; keep < 2; ++keep) {
        script_t script = {0};
        jbfc_options_t options = JBFC_OPTIONS_INIT;
        options.region_bytes = G;
        options.keep_regions = keep;
        jallocator_t *allocator;
        make(&script, &options, &allocator);
        for (size_t granules = 10; granules < 20; ++granules)
            give(allocator, take(allocator, granules * G), granules * G);
        JEXPECT_EQ(stats_of(allocator).peak_reserved_bytes, keep ? 145 * G : 19 * G);
        end(allocator);
    }
}

/* An eighth of the request left over, or as much again. */
JTEST(Bfc, SplitsTightlyWhenAsked) {
    for (int tight = 0; tight < 2; ++tight)
        for (size_t rest = 0; rest <= 8; ++rest) {
            script_t script = {0};
            jbfc_options_t options = JBFC_OPTIONS_INIT;
            options.limit_bytes = options.region_bytes = (32 + rest) * G;
            options.split_tightly = tight;
            jallocator_t *allocator;
            make(&script, &options, &allocator);
            void *pointer = take(allocator, 32 * G);
            JEXPECT_EQ(jallocator_usable_size(allocator, pointer, 32 * G),
                       tight && rest >= 4 ? 32 * G : (32 + rest) * G);
            give(allocator, pointer, 32 * G);
            end(allocator);
        }
}

JTEST(Bfc, GrowthBacksOffByATenthDownToTheRequest) {
    for (size_t largest = 100; largest <= 1000; largest += 37) {
        script_t script = {.largest_bytes = largest * G};
        jbfc_options_t options = JBFC_OPTIONS_INIT;
        options.region_bytes = 1000 * G;
        jallocator_t *allocator;
        make(&script, &options, &allocator);
        void *pointer = take(allocator, 100 * G);
        size_t bytes = 1000 * G;
        for (size_t i = 0; i < script.asked_count; ++i) {
            JEXPECT_EQ(script.asked[i], bytes);
            JEXPECT_EQ(bytes <= largest * G, i + 1 == script.asked_count);
            bytes = (bytes - bytes / 10) / G * G;
            bytes = bytes < 100 * G ? 100 * G : bytes;
        }
        JEXPECT_EQ(stats_of(allocator).reserved_bytes, script.granted_bytes);
        give(allocator, pointer, 100 * G);
        end(allocator);
    }
}

JTEST(Bfc, RefusedGrowthLeavesAllAsItWas) {
    script_t script = {.largest_bytes = 16 * G};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = 16 * G;
    jallocator_t *allocator;
    void *refused;
    make(&script, &options, &allocator);
    void *pointer = take(allocator, 9 * G);
    JEXPECT_STATUS(jallocator_allocate(allocator, 17 * G, 0, NULL, &refused), JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(refused);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 16 * G);
    JEXPECT_EQ(script.given_back_count, 0);
    JEXPECT_OK(jallocator_check(allocator));
    script.largest_bytes = SIZE_MAX;
    script.asked_count = 0;
    void *other = take(allocator, 17 * G); /* grows as if nothing had been */
    JEXPECT_EQ(script.asked[0], 17 * G);
    give(allocator, other, 17 * G);
    give(allocator, pointer, 9 * G);
    end(allocator);
}

JTEST(Bfc, LimitIsExact) {
    for (size_t limit = 3 * G; limit <= 12 * G; limit += 100) {
        script_t script = {0};
        jbfc_options_t options = JBFC_OPTIONS_INIT;
        options.limit_bytes = limit;
        options.region_bytes = 2 * G;
        jallocator_t *allocator;
        make(&script, &options, &allocator);
        void *pointers[12], *refused;
        size_t count = 0;
        while (count < 12 && jallocator_allocate(allocator, G, 0, NULL, &pointers[count]) == JSTATUS_SUCCESS)
            ++count;
        JEXPECT_EQ(count, limit / G); /* every granule of it and not one more */
        JEXPECT_EQ(script.granted_bytes, limit / G * G);
        JEXPECT_EQ(stats_of(allocator).limit_bytes, limit / G * G);
        JEXPECT_EQ(stats_of(allocator).fragmentation, 0.0); /* defined when full */
        for (size_t i = 0; i < count; ++i)
            give(allocator, pointers[i], G);
        pointers[0] = take(allocator, limit / G * G); /* regions make way for one that is large enough */
        JEXPECT_EQ(script.granted_bytes, limit / G * G);
        give(allocator, pointers[0], limit / G * G);
        JEXPECT_STATUS(jallocator_allocate(allocator, limit / G * G + 1, 0, NULL, &refused), JSTATUS_MEMORY_ERROR);
        JEXPECT_LE(stats_of(allocator).peak_reserved_bytes, limit);
        end(allocator);
    }
}

JTEST(Bfc, AllAtOnceTakesTheLimitAndNeverMore) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.limit_bytes = 100 * G;
    options.all_at_once = true;
    jallocator_t *allocator;
    void *refused;
    make(&script, &options, &allocator);
    JEXPECT_EQ(script.asked_count, 0);
    void *pointer = take(allocator, 1);
    JEXPECT_EQ(script.asked[0], 100 * G);
    JEXPECT_STATUS(jallocator_allocate(allocator, 100 * G, 0, NULL, &refused), JSTATUS_MEMORY_ERROR);
    void *other = take(allocator, 99 * G);
    JEXPECT_EQ(script.asked_count, 1);
    give(allocator, other, 99 * G);
    give(allocator, pointer, 1);
    end(allocator);

    script = (script_t){.largest_bytes = 50 * G}; /* what backed off is all there will be */
    make(&script, &options, &allocator);
    pointer = take(allocator, G);
    const size_t granted = script.granted_bytes;
    JEXPECT_EQ(jallocator_allocate(allocator, 49 * G, 0, NULL, &refused), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(script.granted_bytes, granted);
    give(allocator, pointer, G);
    end(allocator);
}

JTEST(Bfc, OptionsAreChecked) {
    script_t script = {0};
    jallocator_t *allocator, *refused = NULL;
    make(&script, NULL, &allocator);
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.all_at_once = true;
    JEXPECT_STATUS(jallocator_create_bfc(allocator, &options, &refused), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "all_at_once");
    options.all_at_once = false;
    options.region_bytes = SIZE_MAX - 100;
    JEXPECT_STATUS(jallocator_create_bfc(allocator, &options, &refused), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "region_bytes");
    options.region_bytes = 0;
    options.threads = JALLOCATOR_THREADS_SAFE;
    JEXPECT_STATUS(jallocator_create_bfc(allocator, &options, &refused), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "threads");
    JEXPECT_STATUS(jallocator_create_bfc(NULL, NULL, &refused), JSTATUS_INVALID_POINTER);
    JEXPECT_NULL(refused);
    end(allocator);
    JASSERT_OK(jallocator_compose(NULL, "mmap+bfc(limit=1MiB,region=64KiB,threads=none,keep_regions)", &allocator));
    JEXPECT_EQ(jallocator_threads(allocator), JALLOCATOR_THREADS_NONE);
    JEXPECT_EQ(stats_of(allocator).limit_bytes, MIB);
    void *pointer = take(allocator, 100);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 64 * 1024);
    give(allocator, pointer, 100);
    end(allocator);
}

JTEST(Bfc, SizesThatNoMachineHasAreRefused) {
    script_t script = {.left_bytes = MIB};
    jallocator_t *allocator;
    make(&script, NULL, &allocator);
    for (size_t alignment = 1; alignment <= 2 * MIB; alignment *= 8)
        for (size_t below = 0; below < 3000; below += 77) {
            void *pointer = &script;
            const size_t sizes[] = {SIZE_MAX - below, PTRDIFF_MAX - below, PTRDIFF_MAX - 2 * MIB - below};
            for (int i = 0; i < 3; ++i) {
                const jstatus_t status = jallocator_allocate(allocator, sizes[i], alignment, NULL, &pointer);
                if (status != JSTATUS_INVALID_SIZE && status != JSTATUS_MEMORY_ERROR)
                    JFAIL("%zu bytes aligned to %zu gave %s", sizes[i], alignment, jstatus_name(status));
                JEXPECT_NULL(pointer);
            }
        }
    JEXPECT_EQ(script.granted_bytes, 0);
    end(allocator);
}

/* ---- Giving back ----------------------------------------------------------------------------------------------------
 * */

JTEST(Bfc, TrimGivesWholeFreeRegionsBackUntilLittleIsKept) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = 10 * G;
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    void *small = take(allocator, 4 * G), *middle = take(allocator, 20 * G), *large = take(allocator, 40 * G);
    JEXPECT_EQ(script.granted_bytes, 70 * G);
    give(allocator, middle, 20 * G);
    JEXPECT_OK(jallocator_trim(allocator, 20 * G)); /* free are 20, and 6 of the first */
    JEXPECT_EQ(script.granted_bytes, 50 * G);
    JEXPECT_EQ(stats_of(allocator).free_bytes, 6 * G);
    give(allocator, large, 40 * G);
    JEXPECT_OK(jallocator_trim(allocator, 46 * G));
    JEXPECT_EQ(script.granted_bytes, 50 * G);
    JEXPECT_OK(jallocator_trim(allocator, 46 * G - 1));
    JEXPECT_EQ(script.granted_bytes, 10 * G);
    JEXPECT_OK(jallocator_trim(allocator, 0)); /* the first region is in use */
    JEXPECT_EQ(script.granted_bytes, 10 * G);
    JEXPECT_EQ(stats_of(allocator).peak_reserved_bytes, 70 * G);
    JEXPECT_OK(jallocator_clear_stats(allocator));
    JEXPECT_EQ(stats_of(allocator).peak_reserved_bytes, 10 * G);
    give(allocator, small, 4 * G);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(script.granted_bytes, 0);
    end(allocator);
}

JTEST(Bfc, FreeRegionsMakeWayBeforeARequestFails) {
    for (int keep = 0; keep < 2; ++keep)
        for (int below_refuses = 0; below_refuses < 2; ++below_refuses) {
            JSCOPED_TRACE("keep_regions %d, below refuses %d", keep, below_refuses);
            script_t script = {.left_bytes = below_refuses ? 14 * G : 0};
            jbfc_options_t options = JBFC_OPTIONS_INIT;
            options.region_bytes = 4 * G;
            options.limit_bytes = below_refuses ? 0 : 14 * G;
            options.keep_regions = keep;
            jallocator_t *allocator;
            void *refused;
            make(&script, &options, &allocator);
            void *a = take(allocator, 4 * G), *b = take(allocator, 8 * G); /* regions of 4 and 8, and 2 left */
            give(allocator, b, 8 * G);
            if (keep) {
                JEXPECT_STATUS(jallocator_allocate(allocator, 10 * G, 0, NULL, &refused), JSTATUS_MEMORY_ERROR);
                JEXPECT_EQ(script.given_back_count, 0);
            } else {
                JEXPECT_OK(jallocator_allocate(allocator, 10 * G, 0, NULL, &b));
                JEXPECT_EQ(script.given_back_count, 1);
                JEXPECT_LE(script.granted_bytes, 14 * G);
                give(allocator, b, 10 * G);
            }
            if (!below_refuses) { /* it would not help: nothing is given back for nothing */
                script.given_back_count = 0;
                JEXPECT_STATUS(jallocator_allocate(allocator, 11 * G, 0, NULL, &refused), JSTATUS_MEMORY_ERROR);
                JEXPECT_EQ(script.given_back_count, 0);
            }
            give(allocator, a, 4 * G);
            end(allocator);
        }
}

/* The peak was higher, so what is free is kept at first; then below has no more, and all that is free goes back. */
JTEST(Bfc, FreeRegionsGoBackWhereBelowHasNoMore) {
    script_t script = {.left_bytes = 44 * G};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = 4 * G;
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    void *a = take(allocator, 4 * G), *b = take(allocator, 8 * G), *c = take(allocator, 4 * G);
    give(allocator, take(allocator, 28 * G), 28 * G);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    give(allocator, b, 8 * G); /* between two that are live */
    script.left_bytes = 4 * G; /* others have taken the rest */
    b = take(allocator, 12 * G);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 20 * G);
    give(allocator, a, 4 * G);
    give(allocator, b, 12 * G);
    give(allocator, c, 4 * G);
    end(allocator);
}

/* A stream that no memory could be had for is passed over when quick lists are emptied. */
JTEST(Bfc, AStreamWithoutBinsIsPassedOver) {
    jstream_t *first, *second;
    JASSERT_OK(jstream_create(jdevice_host(), &first));
    JASSERT_OK(jstream_create(jdevice_host(), &second));
    for (uint64_t n = 1; n <= 3; ++n) {
        jallocator_t *allocator;
        void *none, *block;
        JASSERT_OK(jallocator_compose(NULL, "bfc", &allocator));
        give(allocator, take(allocator, 1000), 1000);
        jtest_fail_metadata_after(n); /* the frontier's table, that of bins, the bins */
        JEXPECT_STATUS(jallocator_allocate(allocator, 1000, 0, first, &none), JSTATUS_MEMORY_ERROR);
        JEXPECT_TRUE(jtest_metadata_failed());
        for (int i = 0; i < 4; ++i) {
            block = take_on(allocator, 1000, second);
            JEXPECT_OK(jallocator_deallocate(allocator, block, 1000, second));
        }
        JEXPECT_OK(jstream_synchronize(jdevice_host(), second));
        JEXPECT_EQ(stats_of(allocator).free_bytes, stats_of(allocator).reserved_bytes);
        end(allocator);
    }
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
}

JTEST(Bfc, FailureSaysWhatThereIs) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.limit_bytes = options.region_bytes = 20 * G;
    options.name = "scratch";
    jallocator_t *allocator;
    void *refused;
    make(&script, &options, &allocator);
    void *a = take(allocator, 4 * G), *b = take(allocator, 4 * G), *c = take(allocator, 6 * G);
    give(allocator, a, 4 * G); /* free: 4 and 6 granules */
    JEXPECT_STATUS(jallocator_allocate(allocator, 7 * G - 5, 0, NULL, &refused), JSTATUS_MEMORY_ERROR);
    static const char *const parts[] = {
        "scratch",    "1787 bytes", "1792 bytes aligned to",   "2560 in use",        "5120 reserved",
        "limit 5120", "2560 free",  "largest free block 1536", "fragmentation 0.400"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
        JEXPECT_SUBSTR(jstatus_last_message(), parts[i]);
    JEXPECT_EQ(stats_of(allocator).failure_count, 1);
    give(allocator, b, 4 * G);
    give(allocator, c, 6 * G);
    end(allocator);
}

/* ---- Alignment, memory that faults ----------------------------------------------------------------------------------
 * */

JTEST(Bfc, AlignmentsAboveTheGranuleAreHonouredWithoutOverlap) {
    enum { COUNT = 48 };
    jallocator_t *below, *allocator;
    JASSERT_OK(jallocator_create_mmap(&below));
    JASSERT_OK(jallocator_create_bfc(below, NULL, &allocator));
    struct {
        unsigned char *pointer;
        size_t size;
    } held[COUNT] = {{NULL, 0}};
    for (int64_t i = 0; i < jtest_iterations(3000); ++i) {
        const size_t k = jtest_random() % COUNT;
        if (held[k].pointer != NULL) {
            JEXPECT_EQ(held[k].pointer[0], (unsigned char)k);
            JEXPECT_EQ(held[k].pointer[held[k].size - 1], (unsigned char)k);
            give(allocator, held[k].pointer, held[k].size);
            held[k].pointer = NULL;
            continue;
        }
        const size_t alignment = (size_t)1 << jtest_random_between(0, 21);
        void *pointer;
        held[k].size = (size_t)1 << jtest_random_between(0, 15);
        held[k].size += jtest_random() % held[k].size;
        JASSERT_OK(jallocator_allocate(allocator, held[k].size, alignment, NULL, &pointer));
        JEXPECT_EQ((uintptr_t)pointer % alignment, 0);
        held[k].pointer = pointer;
        memset(pointer, (int)k, held[k].size);
        if (i % 50 == 0)
            JASSERT_OK(jallocator_check(allocator));
    }
    for (size_t k = 0; k < COUNT; ++k)
        if (held[k].pointer != NULL)
            give(allocator, held[k].pointer, held[k].size);
    JEXPECT_EQ(stats_of(allocator).fragmentation > 0,
               stats_of(allocator).largest_free_bytes < stats_of(allocator).free_bytes);
    end(allocator);
    JEXPECT_OK(jallocator_destroy(below));
}

/* A place that fits only because its beginning happens to be aligned is found before the policy grows. */
JTEST(Bfc, AlignedRequestFindsTheOnlyPlaceThatFits) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.limit_bytes = options.region_bytes = 16 * G;
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    void *pointers[16], *aligned;
    for (int i = 0; i < 16; ++i)
        pointers[i] = take(allocator, G);
    for (int i = 7; i < 12; ++i)
        give(allocator, pointers[i], G);
    JEXPECT_OK(
        jallocator_allocate(allocator, 4 * G, 8 * G, NULL, &aligned)); /* granules 8..11, one is cut off before */
    JEXPECT_EQ(aligned, pointers[8]);
    give(allocator, aligned, 4 * G);
    JEXPECT_STATUS(jallocator_allocate(allocator, 5 * G, 8 * G, NULL, &aligned), JSTATUS_MEMORY_ERROR);
    for (int i = 0; i < 16; ++i)
        if (i < 7 || i > 11)
            give(allocator, pointers[i], G);
    end(allocator);
}

JTEST(Bfc, WorksOnMemoryThatFaultsWhenTouched) {
    void *array = mmap(NULL, 4 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *pointers[64] = {NULL};
    size_t sizes[64];
    jallocator_t *below, *allocator;
    JASSERT_NE(array, MAP_FAILED);
    JASSERT_OK(jallocator_create_array(jdevice_host(), array, 4 * MIB, &below));
    JASSERT_OK(jallocator_create_bfc(below, NULL, &allocator));
    for (int i = 0; i < 20000; ++i) {
        const size_t k = jtest_random() % 64;
        if (pointers[k] != NULL) {
            give(allocator, pointers[k], sizes[k]);
            pointers[k] = NULL;
        } else {
            sizes[k] = jtest_random() % 40000 + 1;
            pointers[k] = take(allocator, sizes[k]);
        }
    }
    JEXPECT_OK(jallocator_check(allocator));
    for (int k = 0; k < 64; ++k)
        if (pointers[k] != NULL)
            give(allocator, pointers[k], sizes[k]);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    end(allocator);
    JEXPECT_OK(jallocator_destroy(below));
    munmap(array, 4 * MIB);
}

/* ---- Misuse ---------------------------------------------------------------------------------------------------------
 * */

JTEST(Bfc, MisuseIsAStatusThatNamesTheBlockAndChangesNothing) {
    script_t script = {0};
    jallocator_t *allocator;
    make(&script, NULL, &allocator);
    void *a, *b = take(allocator, 2 * G);
    {
        JALLOC_TAG("assemble");
        a = take(allocator, 1000);
    }
    JEXPECT_STATUS(jallocator_deallocate(allocator, a, 999, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_SUBSTR(jstatus_last_message(), "assemble");
    JEXPECT_SUBSTR(jstatus_last_message(), "1000 bytes");
    JEXPECT_STATUS(jallocator_deallocate(allocator, (char *)a + G, 10, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "inside");
    JEXPECT_SUBSTR(jstatus_last_message(), "assemble");
    JEXPECT_STATUS(jallocator_deallocate(allocator, &script, 10, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "bfc");
    JEXPECT_EQ(jallocator_usable_size(allocator, &script, 10), 10);
    give(allocator, b, 2 * G);
    JEXPECT_STATUS(jallocator_deallocate(allocator, b, 2 * G, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(stats_of(allocator).live_count, 1);
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, 1000);
    JEXPECT_OK(jallocator_check(allocator));

    jallocation_t block = JALLOCATION_INIT;
    JEXPECT_OK(jallocator_find(allocator, (char *)a + 700, &block));
    JEXPECT_EQ(block.pointer, a);
    JEXPECT_EQ(block.size_bytes, 1000);
    JEXPECT_EQ(block.usable_bytes, 4 * G);
    JEXPECT_STREQ(jtag_name(block.tag), "assemble");
    JEXPECT_STATUS(jallocator_find(allocator, b, &block), JSTATUS_NOT_FOUND);
    give(allocator, a, 1000);
    end(allocator);
}

#define SPOILED(what, value)                                                                                           \
    do {                                                                                                               \
        __typeof__(what) kept_ = what;                                                                                 \
        what = value;                                                                                                  \
        JEXPECT_STATUS(jallocator_check(allocator), JSTATUS_CORRUPTED);                                                \
        JEXPECT_SUBSTR(jstatus_last_message(), "bfc");                                                                 \
        what = kept_;                                                                                                  \
        JEXPECT_OK(jallocator_check(allocator));                                                                       \
    } while (0)

JTEST(Bfc, CheckFindsWhatWasOverwritten) {
    script_t script = {0};
    jallocator_t *allocator;
    make(&script, NULL, &allocator);
    void *a = take(allocator, 2 * G), *b = take(allocator, 3 * G), *c = take(allocator, G);
    give(allocator, b, 3 * G);
    JEXPECT_OK(jallocator_check(allocator));
    bfc_t *bfc = allocator->context;
    bfc_chunk_t *live = bfc_slot_find(bfc, a)->chunk, *freed = live->right;
    bfc_slot_t *slot = bfc_slot_find(bfc, a);
    bfc_chunk_t *region = JI_LIST_FIRST(&bfc->regions, bfc_chunk_t, link);
    bfc_chunk_t seams[2] = {{.address = region->address}, {.address = region->address + region->size_bytes}};
    SPOILED(live->size_bytes, G);
    SPOILED(live->size_bytes, 0);
    SPOILED(live->size_bytes, 2 * G + 1);
    SPOILED(live->requested_bytes, 3 * G);
    SPOILED(live->requested_bytes, 0);
    SPOILED(live->where, 77);
    SPOILED(live->where, BFC_QUICK);
    SPOILED(live->where, 0); /* its neighbour is free as well */
    SPOILED(live->left->right, freed);
    SPOILED(live->left, freed);
    SPOILED(slot->chunk, freed);
    SPOILED(slot->address, slot->address + 1);
    SPOILED(region->size_bytes, MIB - G);
    SPOILED(region->seams, &seams[0]);
    SPOILED(region->seams, &seams[1]);
    SPOILED(live->address, live->address + G);
    SPOILED(freed->size_bytes, 40 * G);
    SPOILED(freed->right->left, live);
    SPOILED(freed->where, 1);
    SPOILED(freed->link.previous, NULL);
    SPOILED(bfc->free_bytes, 1);
    SPOILED(bfc->reserved_bytes, 1);
    SPOILED(bfc->slots.count, 1);
    SPOILED(bfc->quick_count, 1);
    SPOILED(bfc->granted_bytes, 1);
    SPOILED(bfc->ready->bins.bits[0], 0);
    SPOILED(bfc->ready->bins.words, 0);
    SPOILED(bfc->ready->bins.bits[5], 1);
    const unsigned bin = bfc_bin_of(freed->size_bytes);
    bfc_bins_remove(&bfc->ready->bins, freed, bin); /* it is in none */
    JEXPECT_STATUS(jallocator_check(allocator), JSTATUS_CORRUPTED);
    bfc_bins_insert(&bfc->ready->bins, freed, bin + 1);
    JEXPECT_STATUS(jallocator_check(allocator), JSTATUS_CORRUPTED);
    bfc_bins_remove(&bfc->ready->bins, freed, bin + 1);
    bfc_bins_insert(&bfc->ready->bins, freed, bin);
    give(allocator, a, 2 * G);
    give(allocator, c, G);
    end(allocator);
}

/* ---- Streams --------------------------------------------------------------------------------------------------------
 * */

typedef struct two_streams {
    jallocator_t *allocator, *below;
    jstream_t *first, *second;
    jtest_gate_t gate; /* closed: `first` stands at it */
} two_streams_t;

static void streams_start(two_streams_t *two, size_t limit_bytes) {
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = 16 * G;
    options.limit_bytes = limit_bytes;
    *two = (two_streams_t){.gate = JTEST_GATE_INIT};
    JASSERT_OK(jallocator_create_device(jdevice_host(), JMEMORY_DEVICE, &two->below));
    JASSERT_OK(jallocator_create_bfc(two->below, &options, &two->allocator));
    JASSERT_OK(jstream_create(jdevice_host(), &two->first));
    JASSERT_OK(jstream_create(jdevice_host(), &two->second));
    JASSERT_OK(jtest_gate_block(&two->gate, jdevice_host(), two->first));
}
static void streams_end(two_streams_t *two) {
    jtest_gate_open(&two->gate);
    JEXPECT_OK(jstream_destroy(two->first));
    JEXPECT_OK(jstream_destroy(two->second));
    end(two->allocator);
    JEXPECT_OK(jallocator_destroy(two->below));
}

JTEST(Bfc, CheckFindsWhatWasOverwrittenOfStreams) {
    two_streams_t two;
    streams_start(&two, 0);
    jallocator_t *allocator = two.allocator;
    void *a = take_on(allocator, 4 * G, two.first);
    JEXPECT_OK(jallocator_deallocate(allocator, a, 4 * G, two.first));
    JEXPECT_OK(jallocator_check(allocator));
    bfc_t *bfc = allocator->context;
    bfc_chunk_t *freed = JI_LIST_FIRST(&bfc->regions, bfc_chunk_t, link)->right;
    bfc_stream_t *of = bfc->streams[freed->where];
    JASSERT_EQ(freed->where, 1);
    SPOILED(freed->serial, 99);                   /* never issued */
    SPOILED(of->absorbed, freed->serial);         /* who is to give it to all thinks that it has */
    SPOILED(freed->where, bfc->stream_count - 1); /* a stream that was never seen */
    of->absorbed = UINT64_MAX;                    /* and will look again */
    JEXPECT_OK(jallocator_check(allocator));
    of->absorbed = 0;
    const unsigned bin = bfc_bin_of(freed->size_bytes);
    bfc_bins_remove(&of->bins, freed, bin);
    bfc_bins_insert(&bfc->ready->bins, freed, bin);
    JEXPECT_STATUS(jallocator_check(allocator), JSTATUS_CORRUPTED);
    bfc_bins_remove(&bfc->ready->bins, freed, bin);
    bfc_bins_insert(&of->bins, freed, bin);
    streams_end(&two);
}
#undef SPOILED

/* Where a free cannot be noted for want of memory it waits, and where that fails too it fails: the block stays. What
 * other streams have freed is not mixed up by the place that is missing. */
JTEST(Bfc, AFreeThatCanNeitherBeNotedNorWaitedForFails) {
    for (uint64_t n = 1; n <= 3; ++n) {
        pretend_gpu_t *gpu = pretend_gpu_make();
        jstream_t *first, *second;
        jallocator_t *allocator;
        void *block = NULL, *other = NULL;
        JASSERT_OK(jstream_create(&gpu->device, &first));
        JASSERT_OK(jstream_create(&gpu->device, &second));
        JASSERT_OK(jallocator_compose(&gpu->device, "bfc", &allocator));
        JASSERT_OK(jallocator_allocate(allocator, 1000, 0, second, &block));
        jtest_fail_metadata_after(n);
        gpu->fail_in = 1;
        gpu->failed = false;
        const jstatus_t status = jallocator_deallocate(allocator, block, 1000, first);
        JEXPECT_EQ(status, gpu->failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
        gpu->fail_in = 0;
        jtest_fail_metadata_after(0);
        for (int i = 0; i < 4; ++i) { /* through a quick list */
            JASSERT_OK(jallocator_allocate(allocator, 1000, 0, second, &other));
            JEXPECT_OK(jallocator_deallocate(allocator, other, 1000, second));
        }
        JEXPECT_OK(jallocator_check(allocator));
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_EQ(stats_of(allocator).live_count, 1);
            JEXPECT_OK(jallocator_deallocate(allocator, block, 1000, first));
        }
        end(allocator);
        JEXPECT_OK(jstream_destroy(first));
        JEXPECT_OK(jstream_destroy(second));
        JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
    }
}

JTEST(Bfc, SameStreamReusesAtOnceAnotherOnlyAfterTheEvent) {
    two_streams_t two;
    streams_start(&two, 0);
    for (size_t size = 8 * G; size <= 16 * G; size += 8 * G) { /* a part of a region, and a whole one */
        JSCOPED_TRACE("%zu bytes", size);
        void *pointer = take_on(two.allocator, size, two.first), *others[8];
        JEXPECT_OK(jallocator_deallocate(two.allocator, pointer, size, two.first));
        for (int i = 0; i < 3; ++i) {
            JEXPECT_EQ(take_on(two.allocator, size, two.first), pointer);
            JEXPECT_OK(jallocator_deallocate(two.allocator, pointer, size, two.first));
        }
        for (int i = 0; i < 8; ++i) { /* many, on another stream and inline: never that one */
            others[i] = take_on(two.allocator, size, i % 2 ? two.second : NULL);
            JEXPECT_NE(others[i], pointer);
        }
        JEXPECT_OK(jallocator_check(two.allocator));
        for (int i = 0; i < 8; ++i)
            JEXPECT_OK(jallocator_deallocate(two.allocator, others[i], size, i % 2 ? two.second : NULL));
    }
    streams_end(&two);
}

JTEST(Bfc, AnotherStreamGetsTheMemoryWhenTheEventIsReached) {
    two_streams_t two;
    streams_start(&two, 16 * G);
    void *pointer = take_on(two.allocator, 16 * G, two.first);
    JEXPECT_OK(jallocator_deallocate(two.allocator, pointer, 16 * G, two.first));
    jtest_gate_open(&two.gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), two.first));
    JEXPECT_EQ(take(two.allocator, 16 * G), pointer); /* no wait is needed; it is all there is */
    give(two.allocator, pointer, 16 * G);
    streams_end(&two);
}

typedef struct ordered {
    atomic_bool *flag;
    atomic_int *wrong;
} ordered_t;
static void set_flag(void *argument) { atomic_store(((ordered_t *)argument)->flag, true); }
static void expect_flag(void *argument) {
    if (!atomic_load(((ordered_t *)argument)->flag))
        atomic_fetch_add(((ordered_t *)argument)->wrong, 1);
}

/* Before a request fails, its stream waits for another's memory: the stream, not the caller. */
JTEST(Bfc, WhenThereIsNothingElseTheStreamWaitsAndNotTheCaller) {
    for (int pieces = 1; pieces <= 4; ++pieces) {
        JSCOPED_TRACE("%d pieces", pieces);
        two_streams_t two;
        atomic_bool flag = false;
        atomic_int wrong = 0;
        const ordered_t ordered = {&flag, &wrong};
        void *pointers[4];
        streams_start(&two, 16 * G);
        const size_t size = 16 * G / (size_t)pieces / G * G;
        for (int i = 0; i < pieces; ++i)
            pointers[i] = take_on(two.allocator, size, two.first);
        JEXPECT_OK(jstream_launch(jdevice_host(), two.first, set_flag, &ordered, sizeof ordered));
        for (int i = 0; i < pieces; ++i) /* the odd ones on the second: free behind different streams, one run */
            JEXPECT_OK(jallocator_deallocate(two.allocator, pointers[i], size, i % 2 ? two.second : two.first));
        void *all = take_on(two.allocator, 16 * G, two.second);
        JEXPECT_EQ(all, pointers[0]);
        JEXPECT_FALSE(atomic_load(&flag)); /* the gate is closed, and the call has returned */
        JEXPECT_OK(jstream_launch(jdevice_host(), two.second, expect_flag, &ordered, sizeof ordered));
        JEXPECT_OK(jallocator_deallocate(two.allocator, all, 16 * G, two.second));
        JEXPECT_OK(jallocator_check(two.allocator));
        jtest_gate_open(&two.gate);
        JEXPECT_OK(jstream_synchronize(jdevice_host(), two.second));
        JEXPECT_EQ(atomic_load(&wrong), 0);
        streams_end(&two);
    }
}

JTEST(Bfc, NeighboursBehindDifferentStreamsMergeWhenBothHavePassed) {
    two_streams_t two;
    streams_start(&two, 16 * G);
    void *a = take_on(two.allocator, 8 * G, two.first), *b = take_on(two.allocator, 8 * G, two.second);
    JEXPECT_OK(jallocator_deallocate(two.allocator, a, 8 * G, two.first));
    JEXPECT_OK(jallocator_deallocate(two.allocator, b, 8 * G, two.second));
    JEXPECT_EQ(view_of(two.allocator).free_count, 2);
    JEXPECT_EQ(stats_of(two.allocator).largest_free_bytes, 8 * G);
    jtest_gate_open(&two.gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), two.first));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), two.second));
    JEXPECT_EQ(take(two.allocator, 16 * G), a);
    give(two.allocator, a, 16 * G);
    JEXPECT_EQ(view_of(two.allocator).free_count, 1);
    streams_end(&two);
}

/* What a stream freed and what nobody used yet are one place for that stream, though not for others. */
JTEST(Bfc, AStreamUsesItsOwnAndFreshMemoryAsOne) {
    two_streams_t two;
    streams_start(&two, 0);
    void *part = take_on(two.allocator, 6 * G, two.first);
    JEXPECT_OK(jallocator_deallocate(two.allocator, part, 6 * G, two.first));
    JEXPECT_EQ(view_of(two.allocator).free_count, 2);
    JEXPECT_EQ(take_on(two.allocator, 16 * G, two.first), part);
    JEXPECT_EQ(stats_of(two.allocator).reserved_bytes, 16 * G); /* it did not grow for that */
    JEXPECT_OK(jallocator_deallocate(two.allocator, part, 16 * G, two.first));
    streams_end(&two);
}

/* Two frees of one stream with an event between them: what the event tells is true of the first alone, whether the
 * blocks were merged since, from the left or from the right, or not. */
JTEST(Bfc, AnEventTellsOfTheFreesBeforeItAlone) {
    for (int order = 0; order < 3; ++order) {
        JSCOPED_TRACE("order %d", order);
        two_streams_t two;
        jtest_gate_t later = JTEST_GATE_INIT;
        streams_start(&two, 0);
        char *left = take_on(two.allocator, 4 * G, two.first);
        void *middle = take_on(two.allocator, 4 * G, two.first);
        char *right = take_on(two.allocator, 8 * G, two.first);
        if (order > 0) { /* the middle one is merged with whom is freed first */
            JEXPECT_OK(jallocator_deallocate(two.allocator, middle, 4 * G, two.first));
            middle = NULL;
        }
        if (order == 2)
            JEXPECT_OK(jallocator_deallocate(two.allocator, right, 8 * G, two.first));
        else
            JEXPECT_OK(jallocator_deallocate(two.allocator, left, 4 * G, two.first));
        void *other = take_on(two.allocator, 32 * G, two.second); /* grows; the event is recorded */
        JEXPECT_OK(jtest_gate_block(&later, jdevice_host(), two.first));
        if (order == 2)
            JEXPECT_OK(jallocator_deallocate(two.allocator, left, 4 * G, two.first));
        else
            JEXPECT_OK(jallocator_deallocate(two.allocator, right, 8 * G, two.first));
        JEXPECT_OK(jallocator_check(two.allocator));
        jtest_gate_open(&two.gate);
        jtest_gate_await(&later);
        char *small = take_on(two.allocator, 4 * G, two.second), *large = take_on(two.allocator, 8 * G, two.second);
        JEXPECT_EQ(small == left, order == 0);
        JEXPECT_EQ(small >= left && small < left + 16 * G, order == 0);
        JEXPECT_FALSE(large >= left && large < left + 16 * G);
        JEXPECT_OK(jallocator_check(two.allocator));
        jtest_gate_open(&later);
        give(two.allocator, small, 4 * G);
        give(two.allocator, large, 8 * G);
        give(two.allocator, other, 32 * G);
        give(two.allocator, middle, 4 * G);
        streams_end(&two);
    }
}

/* Below may be a policy that orders memory with the stream it was asked for: nobody else may have the rest of a region
 * at once. Of a provider, which knows no streams, everybody may. */
JTEST(Bfc, FreshMemoryIsForAllWhereBelowIsAProvider) {
    two_streams_t two;
    streams_start(&two, 0);
    for (int ordered = 0; ordered < 2; ++ordered) {
        jbfc_options_t options = JBFC_OPTIONS_INIT;
        options.region_bytes = 4 * G;
        jallocator_t *upper = NULL, *top = two.allocator;
        if (ordered) {
            JASSERT_OK(jallocator_create_bfc(two.allocator, &options, &upper));
            top = upper;
        }
        void *a = take_on(top, 2 * G, two.first), *b = take_on(top, 2 * G, two.second);
        JEXPECT_EQ(b == (char *)a + 2 * G, !ordered);
        JEXPECT_OK(jallocator_deallocate(top, a, 2 * G, two.first));
        JEXPECT_OK(jallocator_deallocate(top, b, 2 * G, two.second));
        if (ordered)
            jtest_gate_open(&two.gate); /* destroying it waits */
        JEXPECT_OK(jallocator_destroy(upper));
    }
    streams_end(&two);
}

/* What is left of a block that a stream waited for comes after the same event for everybody. */
JTEST(Bfc, TheRestOfABlockThatWasWaitedForIsWaitedForToo) {
    two_streams_t two;
    jstream_t *third;
    atomic_bool flag = false;
    atomic_int wrong = 0;
    const ordered_t ordered = {&flag, &wrong};
    streams_start(&two, 16 * G);
    JASSERT_OK(jstream_create(jdevice_host(), &third));
    void *all = take_on(two.allocator, 16 * G, two.first);
    JEXPECT_OK(jstream_launch(jdevice_host(), two.first, set_flag, &ordered, sizeof ordered));
    JEXPECT_OK(jallocator_deallocate(two.allocator, all, 16 * G, two.first));
    void *part = take_on(two.allocator, 4 * G, two.second);
    const uint64_t fence_of_rest = bfc_slot_find(two.allocator->context, part)->chunk->right->serial;
    void *rest = take_on(two.allocator, 12 * G, third);
    JEXPECT_EQ(part, all);
    JEXPECT_NE(fence_of_rest, 0);
    JEXPECT_OK(jstream_launch(jdevice_host(), third, expect_flag, &ordered, sizeof ordered));
    jtest_gate_open(&two.gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), third));
    JEXPECT_EQ(atomic_load(&wrong), 0);
    JEXPECT_OK(jallocator_deallocate(two.allocator, part, 4 * G, two.second));
    JEXPECT_OK(jallocator_deallocate(two.allocator, rest, 12 * G, third));
    JEXPECT_OK(jstream_destroy(third));
    streams_end(&two);
}

JTEST(Bfc, MemoryOfADestroyedStreamIsFreeForAll) {
    two_streams_t two;
    streams_start(&two, 16 * G);
    void *pointer = take_on(two.allocator, 5 * G, two.second);
    JEXPECT_OK(jallocator_deallocate(two.allocator, pointer, 5 * G, two.second));
    JEXPECT_EQ(view_of(two.allocator).free_count, 2);
    JEXPECT_OK(jstream_destroy(two.second));
    JEXPECT_EQ(view_of(two.allocator).free_count, 1);
    JEXPECT_EQ(take(two.allocator, 16 * G), pointer);
    give(two.allocator, pointer, 16 * G);
    JEXPECT_OK(jstream_create(jdevice_host(), &two.second)); /* takes the place of the one that is gone */
    JEXPECT_EQ(take_on(two.allocator, 16 * G, two.second), pointer);
    JEXPECT_OK(jallocator_deallocate(two.allocator, pointer, 16 * G, two.second));
    streams_end(&two);
}

static void *open_later(void *gate) {
    jtest_sleep_ms(20);
    jtest_gate_open(gate);
    return NULL;
}

/* Memory goes back below only when the stream that used it has passed: trim waits for that. */
JTEST(Bfc, TrimWaitsForStreamsBeforeMemoryGoesBack) {
    atomic_bool flag = false;
    atomic_int wrong = 0;
    const ordered_t ordered = {&flag, &wrong};
    script_t script = {.done = &flag};
    jtest_gate_t gate = JTEST_GATE_INIT;
    jallocator_t *allocator;
    jstream_t *stream;
    pthread_t thread;
    make(&script, NULL, &allocator);
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    void *a = take_on(allocator, G, stream), *b = take_on(allocator, G, stream);
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), stream));
    JEXPECT_OK(jstream_launch(jdevice_host(), stream, set_flag, &ordered, sizeof ordered));
    JEXPECT_OK(jallocator_deallocate(allocator, a, G, stream));
    JEXPECT_OK(jallocator_trim(allocator, 0)); /* a block is live: nothing to wait for */
    JEXPECT_FALSE(atomic_load(&flag));
    JEXPECT_OK(jallocator_deallocate(allocator, b, G, stream));
    JASSERT_EQ(pthread_create(&thread, NULL, open_later, &gate), 0);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(script.given_back_count, 1);
    pthread_join(thread, NULL);
    JEXPECT_OK(jstream_destroy(stream));
    end(allocator);
}

JTEST(Bfc, StreamsMixedAtRandomKeepTheirRecordsWhole) {
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = 64 * G;
    jallocator_t *below, *allocator;
    jstream_t *streams[4] = {NULL};
    void *pointers[40] = {NULL};
    size_t sizes[40];
    JASSERT_OK(jallocator_create_device(jdevice_host(), JMEMORY_DEVICE, &below));
    JASSERT_OK(jallocator_create_bfc(below, &options, &allocator));
    for (int i = 1; i < 4; ++i)
        JASSERT_OK(jstream_create(jdevice_host(), &streams[i]));
    for (int64_t i = 0; i < jtest_iterations(20000); ++i) {
        const size_t k = jtest_random() % 40, s = jtest_random() % 4;
        if (pointers[k] != NULL) {
            JEXPECT_OK(jallocator_deallocate(allocator, pointers[k], sizes[k], streams[s]));
            pointers[k] = NULL;
        } else {
            sizes[k] = (jtest_random() % 12 + 1) * G;
            pointers[k] = take_on(allocator, sizes[k], streams[s]);
        }
        if (i % 500 == 0) {
            JEXPECT_OK(jallocator_trim(allocator, 32 * G));
            JASSERT_OK(jallocator_check(allocator));
        }
        if (i % 3000 == 2999) {
            JEXPECT_OK(jstream_destroy(streams[1 + i / 3000 % 3]));
            JASSERT_OK(jstream_create(jdevice_host(), &streams[1 + i / 3000 % 3]));
            JASSERT_OK(jallocator_check(allocator));
        }
    }
    for (int k = 0; k < 40; ++k)
        if (pointers[k] != NULL)
            give(allocator, pointers[k], sizes[k]);
    for (int i = 1; i < 4; ++i)
        JEXPECT_OK(jstream_destroy(streams[i]));
    JEXPECT_EQ(view_of(allocator).free_count, view_of(allocator).count);
    end(allocator);
    JEXPECT_OK(jallocator_destroy(below));
}

/* ---- Failures of what it stands on ----------------------------------------------------------------------------------
 * */

/* A small history with everything in it. A request that fails because of what was made to fail changes nothing, and the
 * next one is served; giving back never fails. */
static void run_history(jallocator_t *allocator, jstream_t *stream, bool (*failed)(void)) {
    void *pointers[80];
    for (size_t k = 0; k < 80; ++k) {
        const size_t size = (k % 7 + 1) * 3000, alignment = k % 10 == 9 ? 8192 : 64;
        jstream_t *on = k % 3 == 2 ? stream : NULL;
        const jallocator_stats_t before = stats_of(allocator);
        const jstatus_t status = jallocator_allocate(allocator, size, alignment, on, &pointers[k]);
        if (status == JSTATUS_SUCCESS)
            continue;
        JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
        JEXPECT_TRUE(failed());
        JEXPECT_NULL(pointers[k]);
        JEXPECT_EQ(stats_of(allocator).reserved_bytes, before.reserved_bytes);
        JEXPECT_EQ(stats_of(allocator).free_bytes, before.free_bytes);
        JEXPECT_OK(jallocator_check(allocator));
        JEXPECT_OK(jallocator_allocate(allocator, size, alignment, on, &pointers[k]));
    }
    for (size_t k = 0; k < 80; ++k)
        JEXPECT_OK(jallocator_deallocate(allocator, pointers[k], (k % 7 + 1) * 3000, k % 5 == 4 ? stream : NULL));
    JEXPECT_OK(jallocator_check(allocator));
}

JTEST(Bfc, EachFailedAllocationOfBookkeepingLosesNothing) {
    jstream_t *stream;
    jallocator_t *below = jtest_failing_allocator();
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JFOR_EACH_FAILURE(i) {
        jallocator_t *allocator = NULL;
        const jstatus_t status = jallocator_create_bfc(below, NULL, &allocator);
        JEXPECT_EQ(allocator != NULL, status == JSTATUS_SUCCESS);
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            continue;
        }
        run_history(allocator, stream, jtest_metadata_failed);
        end(allocator);
    }
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

static bool always(void) { return true; }

JTEST(Bfc, EachFailedAllocationBelowLosesNothing) {
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    for (uint64_t n = 1; n <= 8; ++n) {
        jallocator_t *allocator;
        JASSERT_OK(jallocator_create_bfc(jtest_failing_allocator(), NULL, &allocator));
        jtest_fail_allocation_after(n);
        run_history(allocator, stream, always);
        jtest_fail_allocation_after(0);
        end(allocator);
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
    JEXPECT_OK(jstream_destroy(stream));
}

/* ---- A small universe, and a large one ------------------------------------------------------------------------------
 * */

/* Which granule belongs to which block: the model that everything is compared with. */
typedef struct model {
    size_t granules;
    int owner[16]; /* 0: free */
    struct {
        void *pointer;
        size_t granules;
    } live[8];
    size_t live_count;
    uintptr_t base; /* address of the first granule; 0: not known yet */
    int next_owner;
} model_t;

static bool model_has_room(const model_t *model, size_t granules) {
    size_t run = 0;
    for (size_t i = 0; i < model->granules; ++i)
        if ((run = model->owner[i] == 0 ? run + 1 : 0) == granules)
            return true;
    return false;
}

/* Whether blocks, live and free, are what the model says, and free ones are as long as can be. */
static bool model_agrees(const model_t *model, jallocator_t *allocator) {
    const view_t view = view_of(allocator);
    size_t place = 0;
    for (size_t i = 0; i < view.count; ++i) {
        const size_t granules = view.blocks[i].usable_bytes / G;
        if ((uintptr_t)view.blocks[i].pointer != model->base + place * G)
            return false;
        for (size_t k = 0; k < granules; ++k)
            if ((model->owner[place + k] != 0) != view.blocks[i].live || model->owner[place + k] != model->owner[place])
                return false;
        place += granules;
        if (!view.blocks[i].live && place < model->granules && model->owner[place] == 0)
            return false; /* a free neighbour that was not merged */
    }
    return view.count == 0 || place == model->granules;
}

/* Runs one sequence: 0..2 take 1..3 granules, 3.. give the (code - 3)-th live block back. False where there is none to
 * give back: the sequence is no sequence. */
static bool run_sequence(const unsigned char *codes, size_t length, size_t granules, bool look_always) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.limit_bytes = granules * G;
    options.all_at_once = true;
    options.threads = JALLOCATOR_THREADS_NONE;
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    if (allocator == NULL)
        return false;
    model_t model = {.granules = granules, .next_owner = 1};
    bool valid = true;
    for (size_t i = 0; i < length && valid; ++i) {
        if (codes[i] >= 3) {
            const size_t k = codes[i] - 3u;
            if (k >= model.live_count) {
                valid = false;
                break;
            }
            give(allocator, model.live[k].pointer, model.live[k].granules * G);
            const size_t first = ((uintptr_t)model.live[k].pointer - model.base) / G;
            for (size_t place = first, owner = (size_t)model.owner[first];
                 place < granules && (size_t)model.owner[place] == owner; ++place)
                model.owner[place] = 0;
            model.live[k] = model.live[--model.live_count];
        } else {
            const size_t wanted = codes[i] + 1u;
            void *pointer;
            const jstatus_t status = jallocator_allocate(allocator, wanted * G, 0, NULL, &pointer);
            if ((status == JSTATUS_SUCCESS) != model_has_room(&model, wanted))
                JFAIL("%zu granules: %s", wanted, jstatus_name(status));
            if (status != JSTATUS_SUCCESS)
                continue;
            if (model.base == 0)
                model.base = (uintptr_t)pointer; /* all is free: the front is handed out */
            const size_t usable = jallocator_usable_size(allocator, pointer, wanted * G) / G;
            const size_t first = ((uintptr_t)pointer - model.base) / G;
            if (usable < wanted || usable >= 2 * wanted || first + usable > granules)
                JFAIL("%zu granules got %zu", wanted, usable);
            for (size_t place = first; place < first + usable; ++place) {
                if (model.owner[place] != 0)
                    JFAIL("a granule was handed out twice");
                model.owner[place] = model.next_owner;
            }
            ++model.next_owner;
            model.live[model.live_count].pointer = pointer;
            model.live[model.live_count++].granules = wanted;
        }
        if ((look_always || i + 1 == length) &&
            (!model_agrees(&model, allocator) || jallocator_check(allocator) != JSTATUS_SUCCESS)) {
            char text[16] = "";
            for (size_t k = 0; k <= i; ++k)
                text[k] = (char)('0' + codes[k]);
            JFAIL("%zu granules: after the operations %s the blocks are not what they should be", granules, text);
        }
    }
    for (size_t k = 0; k < model.live_count; ++k)
        give(allocator, model.live[k].pointer, model.live[k].granules * G);
    JEXPECT_OK(jallocator_destroy(allocator));
    return valid;
}

/* All sequences of a length: the codes are the digits of a number, and digits behind one that made no sense are
 * skipped. */
JTEST(Bfc, EverySequenceOfASmallUniverseIsRight) {
    const size_t length = jtest_iterations(1) > 1 ? 7 : 6;
    for (size_t granules = 4; granules <= 6; ++granules)
        for (int looks = 0; looks < 2; ++looks) { /* looking empties the quick lists */
            unsigned char codes[8] = {0};
            for (;;) {
                size_t live = 0, bad = length; /* at most that many are live: requests may fail */
                for (size_t i = 0; i < length && bad == length; ++i) {
                    if (codes[i] < 3)
                        ++live;
                    else if (codes[i] - 3u < live)
                        --live;
                    else
                        bad = i;
                }
                if (bad == length) {
                    run_sequence(codes, length, granules, looks);
                    bad = length - 1;
                } else {
                    for (size_t i = bad; i < length; ++i)
                        codes[i] = i == bad ? 8 : 0; /* the last digit: counts on in front of it */
                }
                if (jtest_has_failure())
                    return;
                size_t place = bad;
                while (place < length && ++codes[place] > 8) {
                    codes[place] = 0;
                    --place; /* wraps past the first: all are done */
                }
                if (place >= length)
                    break;
            }
        }
}

JTEST(Bfc, MillionsOfRandomOperationsAgreeWithAModelOfBytes) {
    enum { HELD = 200 };
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.limit_bytes = 4096 * G;
    options.region_bytes = 4096 * G;
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    static unsigned char owned[4096];
    static struct {
        void *pointer;
        size_t size, usable;
    } held[HELD];
    memset(owned, 0, sizeof owned);
    memset(held, 0, sizeof held);
    size_t in_use = 0, peak = 0;
    uintptr_t base = 0;
    for (int64_t i = 0; i < jtest_iterations(300000); ++i) {
        const size_t k = jtest_random() % HELD;
        if (held[k].pointer != NULL) {
            give(allocator, held[k].pointer, held[k].size);
            memset(owned + ((uintptr_t)held[k].pointer - base) / G, 0, held[k].usable / G);
            in_use -= held[k].size;
            held[k].pointer = NULL;
        } else {
            void *pointer;
            held[k].size = jtest_random_bool() ? (jtest_random() % 4 + 1) * 1000 : jtest_random() % (60 * G) + 1;
            if (jallocator_allocate(allocator, held[k].size, 0, NULL, &pointer) != JSTATUS_SUCCESS) {
                size_t run = 0, longest = 0;
                for (size_t g = 0; g < 4096; ++g) {
                    run = owned[g] ? 0 : run + 1;
                    longest = run > longest ? run : longest;
                }
                if (longest * G >= held[k].size)
                    JFAIL("%zu bytes were refused and %zu are free in one piece", held[k].size, longest * G);
                JEXPECT_EQ(stats_of(allocator).largest_free_bytes, longest * G);
                continue;
            }
            if (base == 0)
                base = (uintptr_t)pointer;
            held[k].pointer = pointer;
            held[k].usable = jallocator_usable_size(allocator, pointer, held[k].size);
            for (size_t g = 0; g < held[k].usable / G; ++g)
                if (owned[((uintptr_t)pointer - base) / G + g]++ != 0) {
                    JFAIL("a granule was handed out twice");
                    return;
                }
            in_use += held[k].size;
            peak = in_use > peak ? in_use : peak;
        }
        if (i % 20000 == 0) {
            JASSERT_OK(jallocator_check(allocator));
            JEXPECT_EQ(stats_of(allocator).in_use_bytes, in_use);
            JEXPECT_EQ(stats_of(allocator).peak_in_use_bytes, peak);
        }
    }
    for (size_t k = 0; k < HELD; ++k)
        if (held[k].pointer != NULL)
            give(allocator, held[k].pointer, held[k].size);
    JEXPECT_EQ(stats_of(allocator).largest_free_bytes, 4096 * G);
    end(allocator);
}
