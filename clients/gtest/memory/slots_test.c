/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What only fixed-size slots promise. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/device.h"
#include "jalloc/policy.h"
#include "jalloc/provider.h"
#include "memory/allocators/ranges.h"

static jallocator_t *make(size_t slot_bytes, size_t block_slots, size_t limit_slots) {
    jslots_options_t options = JSLOTS_OPTIONS_INIT;
    jallocator_t *slots = NULL;
    options.slot_bytes = slot_bytes;
    options.block_slots = block_slots;
    options.limit_slots = limit_slots;
    JEXPECT_OK(jallocator_create_slots(jtest_failing_allocator(), &options, &slots));
    return slots;
}

JTEST(AllocSlots, EveryAllocationIsOneSlotOfABlock) {
    jallocator_t *slots = make(100, 4, 0); /* rounded up to 128 */
    char *pointers[9];
    for (size_t i = 0; i < 9; ++i) {
        pointers[i] = take(slots, 1 + i * 15);
        JEXPECT_EQ(jallocator_usable_size(slots, pointers[i], 1 + i * 15), 128);
        JEXPECT_EQ((uintptr_t)pointers[i] % 128, 0);
        JEXPECT_EQ(jtest_allocation_count(), i / 4 + 1);
        if (i % 4 != 0)
            JEXPECT_EQ(pointers[i], pointers[i - 1] + 128);
    }
    JEXPECT_EQ(jtest_live_bytes(), 3 * 4 * 128);
    JEXPECT_EQ(stats_of(slots).reserved_bytes, 3 * 4 * 128);
    JEXPECT_EQ(stats_of(slots).free_bytes, 3 * 128);
    JEXPECT_EQ(stats_of(slots).largest_free_bytes, 128);
    for (size_t i = 0; i < 9; ++i)
        give(slots, pointers[i], 1 + i * 15);
    JEXPECT_EQ(stats_of(slots).free_bytes, 3 * 4 * 128);
    JEXPECT_EQ(jtest_deallocation_count(), 0);
    JEXPECT_OK(jallocator_destroy(slots));
}

JTEST(AllocSlots, TheLatestSlotIsUsedFirst) {
    jallocator_t *slots = make(64, 8, 0);
    void *a = take(slots, 64), *b = take(slots, 64);
    give(slots, a, 64);
    give(slots, b, 64);
    JEXPECT_EQ(take(slots, 1), b);
    JEXPECT_EQ(take(slots, 1), a);
    give(slots, a, 1);
    give(slots, b, 1);
    JEXPECT_OK(jallocator_destroy(slots));
}

JTEST(AllocSlots, WhatDoesNotFitASlotIsRefused) {
    static const size_t cases[][2] = {
        {4096, 4096}, {192, 64}, {320, 64}, {3 * 4096, 4096}, {1 << 20, 1 << 20}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const size_t size = cases[i][0], alignment = cases[i][1];
        jallocator_t *slots = make(size, 3, 0);
        void *pointers[7], *none;
        JEXPECT_STATUS(jallocator_allocate(slots, size + 1, 0, NULL, &none), JSTATUS_INVALID_SIZE);
        JEXPECT_STATUS(jallocator_allocate(slots, SIZE_MAX, 0, NULL, &none), JSTATUS_INVALID_SIZE);
        JEXPECT_STATUS(jallocator_allocate(slots, 1, 2 * alignment, NULL, &none),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_EQ(jtest_allocation_count(), i * 3);
        for (size_t k = 0; k < 7; ++k) {
            JASSERT_OK(jallocator_allocate(slots, size, alignment, NULL, &pointers[k]));
            JEXPECT_EQ((uintptr_t)pointers[k] % alignment, 0);
        }
        for (size_t k = 0; k < 7; ++k)
            give(slots, pointers[k], size);
        JEXPECT_OK(jallocator_destroy(slots));
    }
}

JTEST(AllocSlots, LimitIsExact) {
    jallocator_t *slots = make(64, 4, 6);
    void *pointers[6], *none = &none;
    for (size_t i = 0; i < 6; ++i)
        pointers[i] = take(slots, 64);
    JEXPECT_EQ(jtest_live_bytes(), 6 * 64); /* the second block has only two slots */
    JEXPECT_EQ(stats_of(slots).limit_bytes, 6 * 64);
    JEXPECT_STATUS(jallocator_allocate(slots, 64, 0, NULL, &none), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "limit");
    JEXPECT_NULL(none);
    give(slots, pointers[2], 64);
    JEXPECT_EQ(take(slots, 64), pointers[2]);
    for (size_t i = 0; i < 6; ++i)
        give(slots, pointers[i], 64);
    JEXPECT_OK(jallocator_destroy(slots));
}

JTEST(AllocSlots, TrimGivesBackBlocksWhoseSlotsAreAllFree) {
    jallocator_t *slots = make(64, 2, 0);
    void *pointers[8];
    for (size_t i = 0; i < 8; ++i)
        pointers[i] = take(slots, 64);
    for (size_t i = 0; i < 8; ++i)
        if (i != 3)
            give(slots, pointers[i], 64);
    JEXPECT_OK(jallocator_trim(slots, 5 * 64)); /* 7 are free: one block goes */
    JEXPECT_EQ(jtest_deallocation_count(), 1);
    JEXPECT_EQ(stats_of(slots).free_bytes, 5 * 64);
    JEXPECT_OK(jallocator_trim(slots, 0)); /* the block of the live one stays, with a free slot */
    JEXPECT_EQ(jtest_live_bytes(), 2 * 64);
    JEXPECT_EQ(stats_of(slots).free_bytes, 64);
    JEXPECT_EQ(stats_of(slots).peak_reserved_bytes, 8 * 64);
    JEXPECT_OK(jallocator_clear_stats(slots));
    JEXPECT_EQ(stats_of(slots).peak_reserved_bytes, 2 * 64);
    JEXPECT_EQ(take(slots, 64), pointers[2]);
    give(slots, pointers[2], 64);
    give(slots, pointers[3], 64);
    JEXPECT_OK(jallocator_destroy(slots));
}

JTEST(AllocSlots, KnowsForeignInteriorAndFreedPointersAndWrongSizes) {
    jallocator_t *slots = make(256, 4, 0);
    char *a, *other = take(slots, 256), stranger[8];
    {
        JALLOC_TAG("mesh");
        a = take(slots, 200);
    }
    jallocation_t block = JALLOCATION_INIT;
    JEXPECT_OK(jallocator_find(slots, a + 199, &block));
    JEXPECT_EQ(block.pointer, a);
    JEXPECT_EQ(block.size_bytes, 200);
    JEXPECT_EQ(block.usable_bytes, 256);
    JEXPECT_STREQ(jtag_name(block.tag), "mesh");
    JEXPECT_STATUS(jallocator_find(slots, a + 200, &block), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(slots, a + 64, 200, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "mesh");
    JEXPECT_STATUS(jallocator_deallocate(slots, stranger, 8, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(slots, a, 201, NULL), JSTATUS_INVALID_SIZE);
    give(slots, a, 200);
    JEXPECT_STATUS(jallocator_deallocate(slots, a, 200, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "mesh");
    /* Never handed out. */
    JEXPECT_STATUS(jallocator_deallocate(slots, other + 512, 200, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(stats_of(slots).in_use_bytes, 256);
    give(slots, other, 256);
    JEXPECT_OK(jallocator_destroy(slots));
}

JTEST(Ranges, FindExactlyWhatIsInside) {
    static char bytes[1000], *const begin = bytes + 100;
    ji_ranges_t ranges = {0};
    static const size_t order[] = {3, 0, 5, 1, 4, 2};
    for (size_t i = 0; i < 6; ++i) { /* with gaps but between 2 and 3 */
        JASSERT_TRUE(ji_ranges_reserve(&ranges));
        ji_ranges_insert(&ranges, begin + 100 * order[i], order[i] == 2 ? 100 : 60,
                         begin + 100 * order[i]);
    }
    for (size_t round = 0; round < 2; ++round) {
        for (size_t offset = 0; offset < sizeof bytes; ++offset) {
            const size_t place = (offset - 100) / 100, inside = (offset - 100) % 100;
            const bool expected = offset >= 100 && place < 6 && inside < (place == 2 ? 100 : 60) &&
                                  (round == 0 || place % 2 == 0);
            JEXPECT_EQ(ji_ranges_find(&ranges, bytes + offset),
                       expected ? begin + 100 * place : NULL);
        }
        for (size_t place = 1; place < 6 && round == 0; place += 2)
            ji_ranges_remove(&ranges, begin + 100 * place + 30);
    }
    JEXPECT_EQ(ranges.count, 3);
    ji_ranges_fini(&ranges);
}

/* Many blocks, freed in any order: each pointer finds its own. */
JTEST(AllocSlots, FindsTheBlockAmongMany) {
    enum { COUNT = 1000 };
    jallocator_t *slots = make(64, 3, 0);
    static void *pointers[COUNT];
    for (int round = 0; round < 3; ++round) {
        for (size_t i = 0; i < COUNT; ++i)
            pointers[i] = take(slots, 1 + i % 64);
        for (size_t i = 0; i < COUNT; ++i) {
            jallocation_t block = JALLOCATION_INIT;
            JEXPECT_OK(jallocator_find(slots, pointers[i], &block));
            JEXPECT_EQ(block.size_bytes, 1 + i % 64);
        }
        for (size_t k = 0; k < COUNT; ++k) {
            const size_t i = k * 367 % COUNT; /* each once */
            give(slots, pointers[i], 1 + i % 64);
            if (k % 100 == 99)
                JEXPECT_OK(jallocator_trim(slots, 0));
        }
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
    JEXPECT_OK(jallocator_destroy(slots));
}

JTEST(AllocSlots, RefusesOptionsThatItDoesNotKnow) {
    jallocator_t *slots = NULL, *below = jtest_failing_allocator();
    jslots_options_t options = JSLOTS_OPTIONS_INIT;
    JEXPECT_STATUS(jallocator_create_slots(NULL, NULL, &slots), JSTATUS_INVALID_POINTER);
    options.slot_bytes = SIZE_MAX;
    JEXPECT_STATUS(jallocator_create_slots(below, &options, &slots), JSTATUS_INVALID_VALUE);
    options.slot_bytes = SIZE_MAX / 4;
    options.limit_slots = 5;
    JEXPECT_STATUS(jallocator_create_slots(below, &options, &slots), JSTATUS_INVALID_VALUE);
    options = (jslots_options_t)JSLOTS_OPTIONS_INIT;
    options.block_slots = SIZE_MAX;
    JEXPECT_STATUS(jallocator_create_slots(below, &options, &slots), JSTATUS_INVALID_VALUE);
    options.block_slots = 1;
    options.threads = (jallocator_threads_t)7;
    JEXPECT_STATUS(jallocator_create_slots(below, &options, &slots), JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(slots);

    /* A block that overflows is refused when it is asked for. */
    options = (jslots_options_t)JSLOTS_OPTIONS_INIT;
    options.slot_bytes = SIZE_MAX / 4;
    void *pointer;
    JASSERT_OK(jallocator_create_slots(below, &options, &slots));
    JEXPECT_STATUS(jallocator_allocate(slots, 1, 0, NULL, &pointer), JSTATUS_INVALID_SIZE);
    JEXPECT_OK(jallocator_destroy(slots));
}

JTEST(AllocSlots, FailuresBelowAndOfBookkeepingLeaveAllAsItWas) {
    jallocator_t *below = jtest_failing_allocator();
    jslots_options_t options = JSLOTS_OPTIONS_INIT;
    options.slot_bytes = 64;
    options.block_slots = 2;
    JFOR_EACH_FAILURE(i) {
        enum { COUNT = 40 };
        void *pointers[COUNT];
        jallocator_t *slots = NULL;
        size_t live = 0;
        jstatus_t status = jallocator_create_slots(below, &options, &slots);
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            continue;
        }
        for (size_t k = 0; k < COUNT; ++k) {
            if (k % 8 == 5)
                jtest_fail_allocation_after(1); /* is met by a request that needs a block */
            pointers[k] = NULL;
            status = jallocator_allocate(slots, 64, 0, NULL, &pointers[k]);
            live += status == JSTATUS_SUCCESS;
            if (status != JSTATUS_SUCCESS)
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
        }
        JEXPECT_EQ(stats_of(slots).live_count, live);
        JEXPECT_EQ(stats_of(slots).failure_count, COUNT - live);
        JEXPECT_EQ(stats_of(slots).reserved_bytes, jtest_live_bytes());
        for (size_t k = 0; k < COUNT; ++k)
            if (pointers[k] != NULL)
                give(slots, pointers[k], 64);
        JEXPECT_OK(jallocator_destroy(slots));
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
}

JTEST(AllocSlots, ASlotGoesToAnotherStreamOnlyAfterItsEvent) {
    jdevice_t *host = jdevice_host();
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *first, *second;
    jallocator_t *slots = make(64, 2, 0);
    void *a, *b, *c, *d;
    JASSERT_OK(jstream_create(host, &first));
    JASSERT_OK(jstream_create(host, &second));
    JASSERT_OK(jallocator_allocate(slots, 64, 0, first, &a));
    JASSERT_OK(jallocator_allocate(slots, 64, 0, first, &b));
    JASSERT_OK(jtest_gate_block(&gate, host, first));
    JASSERT_OK(jallocator_deallocate(slots, a, 64, first));
    JASSERT_OK(jallocator_deallocate(slots, b, 64, first));
    JASSERT_OK(jallocator_allocate(slots, 64, 0, first, &c)); /* the same stream: at once */
    JEXPECT_EQ(c, b);
    JASSERT_OK(jallocator_deallocate(slots, c, 64, first));
    /* Inline: the new block is ready for all. */
    JASSERT_OK(jallocator_allocate(slots, 64, 0, NULL, &d));
    JASSERT_OK(jallocator_allocate(slots, 64, 0, second, &c));
    JEXPECT_TRUE(c != a && c != b && d != a && d != b);
    JEXPECT_EQ(jtest_allocation_count(), 2);
    jtest_gate_open(&gate);
    JASSERT_OK(jstream_synchronize(host, first));
    void *e;
    JASSERT_OK(jallocator_allocate(slots, 64, 0, second, &e));
    JEXPECT_TRUE(e == a || e == b);
    JEXPECT_OK(jallocator_deallocate(slots, c, 64, second));
    JEXPECT_OK(jallocator_deallocate(slots, e, 64, second));
    give(slots, d, 64);
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
    JEXPECT_OK(jallocator_destroy(slots));
}

JTEST(AllocSlots, ComposesFromText) {
    jallocator_t *slots;
    JASSERT_OK(
        jallocator_compose(NULL, "malloc+slots(slot=1K,block=3,limit=5,threads=none)", &slots));
    JEXPECT_EQ(stats_of(slots).limit_bytes, 5 * 1024);
    give(slots, take(slots, 77), 77);
    JEXPECT_EQ(stats_of(slots).reserved_bytes, 3 * 1024);
    JEXPECT_OK(jallocator_destroy(slots));
}
