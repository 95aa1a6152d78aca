/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is particular to best fit with coalescing: its rules for splitting and merging to the byte,
 * its bins, its quick lists, alignment, misuse, failures. Growth and giving back, streams, and the
 * comparison with a model have files of their own. */

#include "bfc_helper.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- Bins ---- */

/* The least size of a bin, in granules, read off the picture in bfc_bins.h. */
static size_t least_of(unsigned bin) {
    return bin < 16 ? bin : (size_t)(16 + bin % 16) << (bin / 16 - 1);
}

static void expect_right_bin(size_t granules) {
    const unsigned bin = bfc_bin_of(granules * G), from = bfc_bin_from(granules * G);
    if (bin == 0 || bin >= BFC_BIN_COUNT || least_of(bin) > granules ||
        least_of(bin + 1) <= granules)
        JFAIL("%zu granules are in bin %u", granules, bin);
    if (least_of(from) < granules || least_of(from - 1) >= granules)
        JFAIL("%zu granules are looked for from bin %u", granules, from);
    if (least_of(from + 1) - 1 > granules + granules / 8)
        JFAIL("%zu granules may get %zu", granules, least_of(from + 1) - 1);
    /* Sizes are whole granules; what is beyond does not matter. */
    if (bfc_bin_of(granules * G + G - 1) != bin)
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

/* Of free blocks of like sizes a request gets the first of its own bin, or one of the least bin
 * whose every block is large enough. */
JTEST(Bfc, TakesOneOfTheLeastBinThatIsLargeEnough) {
    enum { BLOCKS = 20 };
    for (int round = 0; round < 200 && !jtest_has_failure(); ++round) {
        script_t script = {0};
        jbfc_options_t options = JBFC_OPTIONS_INIT;
        options.region_bytes = 64 * MIB;
        jallocator_t *allocator;
        make(&script, &options, &allocator);
        void *blocks[BLOCKS], *between[BLOCKS];
        size_t granules[BLOCKS];
        for (int i = 0; i < BLOCKS; i++) {
            granules[i] = (size_t)jtest_random_between(20, 200);
            blocks[i] = take(allocator, granules[i] * G), between[i] = take(allocator, G);
        }
        for (int i = 0; i < BLOCKS; i++)
            give(allocator, blocks[i], granules[i] * G);
        (void)stats_of(allocator); /* what waits in quick lists is in the bins */

        const size_t request = (size_t)jtest_random_between(20, 180);
        const unsigned own = bfc_bin_of(request * G), from = bfc_bin_from(request * G);
        unsigned least = BFC_BIN_COUNT, taken = BFC_BIN_COUNT;
        void *const pointer = take(allocator, request * G);
        for (int i = 0; i < BLOCKS; i++) {
            const unsigned bin = bfc_bin_of(granules[i] * G);
            if (bin >= from && bin < least)
                least = bin;
            if (blocks[i] == pointer)
                taken = bin;
        }
        JEXPECT_TRUE(taken == own || taken == least);

        give(allocator, pointer, request * G);
        for (int i = 0; i < BLOCKS; i++)
            give(allocator, between[i], G);
        end(allocator);
    }
}

/* ---- Splitting and merging ---- */

/* A free block of `block_bytes` between live ones serves a request: how many bytes does it get? */
static size_t usable_from(size_t block_bytes, size_t request_bytes) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = 1024 * MIB;
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    void *before = take(allocator, G), *block = take(allocator, block_bytes),
         *after = take(allocator, G);
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
            JEXPECT_EQ(usable_from(block * G, request * G),
                       (block >= 2 * request ? request : block) * G);
            JEXPECT_EQ(usable_from(block * G, request * G - G + 1),
                       (block >= 2 * request ? request : block) * G);
        }
    const size_t request = 200 * MIB, most = 128 * MIB;
    JEXPECT_EQ(usable_from(request + most - G, request), request + most - G);
    JEXPECT_EQ(usable_from(request + most, request), request);
    JEXPECT_EQ(usable_from(request + most + G, request), request);
}

JTEST(Bfc, FreeOfNeighboursCoalescesInAnyOrder) {
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
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

/* Freed blocks of a size that comes and goes wait uncoalesced, but never when anybody looks, nor
 * when they are needed.
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
        /* The first one tells that the size is freed. */
        JEXPECT_EQ(bfc->quick_count, round == 0 ? 31 : 32);
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
    /* It is not live. */
    JEXPECT_STATUS(jallocator_deallocate(allocator, pointers[1], 2 * G, NULL), JSTATUS_NOT_FOUND);
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

/* ---- Alignment, memory that faults ---- */

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

/* A place that fits only because its beginning happens to be aligned is found before the policy
 * grows. */
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
        /* Granules 8..11, one is cut off before. */
        jallocator_allocate(allocator, 4 * G, 8 * G, NULL, &aligned));
    JEXPECT_EQ(aligned, pointers[8]);
    give(allocator, aligned, 4 * G);
    JEXPECT_STATUS(jallocator_allocate(allocator, 5 * G, 8 * G, NULL, &aligned),
                   JSTATUS_MEMORY_ERROR);
    for (int i = 0; i < 16; ++i)
        if (i < 7 || i > 11)
            give(allocator, pointers[i], G);
    end(allocator);
}

JTEST(Bfc, WorksOnMemoryThatFaultsWhenTouched) {
    void *array = mmap(NULL, 4 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
         *pointers[64] = {NULL};
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

/* ---- Misuse ---- */

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
    bfc_chunk_t seams[2] = {{.address = region->address},
                            {.address = region->address + region->size_bytes}};
    SPOILED(live->size_bytes, G);
    SPOILED(live->size_bytes, 0);
    SPOILED(live->size_bytes, 2 * G + 1);
    SPOILED(live->requested_bytes, 3 * G);
    SPOILED(live->requested_bytes, 0);
    SPOILED(live->where, 77);
    SPOILED(live->where, BFC_BORDER);
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
    SPOILED(bfc->granted.room_bytes, 1);
    SPOILED(bfc->requested.room_bytes, 1);
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

/* ---- Failures of what it stands on ---- */

/* A small history with everything in it. A request that fails because of what was made to fail
 * changes nothing, and the next one is served; giving back never fails. */
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
        JEXPECT_OK(jallocator_deallocate(allocator, pointers[k], (k % 7 + 1) * 3000,
                                         k % 5 == 4 ? stream : NULL));
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
