/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The table of addresses, and the frontier between streams: what all books and policies stand
 * on. */

#include "jtest.h"
#include "memory/frontier.h"
#include "memory/ledger.h"
#include "pretend_gpu.h"

#include <stdatomic.h>
#include <string.h>

/* A table of a few hundred addresses that come and go, close together and far apart, against a
 * plain array. */
JTEST(Ledger, AgreesWithAPlainArray) {
    enum { PLACES = 600 };
    static size_t sizes[PLACES]; /* 0: not entered */
    memset(sizes, 0, sizeof sizes);
    ji_ledger_t ledger = {{NULL, 0, 0, 0}};
    size_t count = 0;
    const uintptr_t base = (uintptr_t)jtest_random() << 8 | 0x100;
    for (int64_t i = jtest_iterations(60000); i > 0 && !jtest_has_failure(); --i) {
        const size_t place = (size_t)jtest_random_between(0, PLACES - 1);
        const void *address = (const void *)(base + place * (place % 3 == 0 ? 64 : 4096 * 64));
        ji_ledger_entry_t *entry = ji_ledger_find(&ledger, address);
        JEXPECT_EQ(entry != NULL, sizes[place] != 0);
        if (entry != NULL) {
            JEXPECT_EQ(entry->size_bytes, sizes[place]);
            JEXPECT_EQ(entry->number, place);
            ji_ledger_remove(&ledger, entry);
            sizes[place] = 0;
            --count;
        } else {
            JASSERT_TRUE(ji_ledger_reserve(&ledger));
            sizes[place] = (size_t)jtest_random_between(1, 60);
            ji_ledger_insert(&ledger, address, sizes[place], 0)->number = (uint32_t)place;
            ++count;
        }
        JEXPECT_EQ(ledger.table.count, count);
        if (i % 1000 == 0) {
            size_t seen = 0;
            for (ji_ledger_entry_t *next = NULL; (next = ji_ledger_next(&ledger, next)) != NULL;) {
                JEXPECT_EQ(next->size_bytes, sizes[next->number]);
                JEXPECT_EQ(ji_ledger_find_containing(&ledger,
                                                     (char *)next->address + next->size_bytes - 1),
                           next);
                ++seen;
            }
            JEXPECT_EQ(seen, count);
        }
    }
    JEXPECT_NULL(ji_ledger_find(&ledger, NULL));
    ji_ledger_fini(&ledger);
    JEXPECT_NULL(ji_ledger_find(&ledger, (void *)base));
    JEXPECT_NULL(ji_ledger_next(&ledger, NULL));
}

/* Blocks that are neighbours begin their searches in neighbouring slots; and are found, however
 * close together or far apart they are. */
JTEST(Ledger, NeighboursAreNeighboursThereToo) {
    enum { BLOCKS = 3000 };
    for (size_t stride = 1; stride <= 1 << 16; stride *= 2) {
        ji_ledger_t ledger = {{NULL, 0, 0, 0}};
        const char *base = (const char *)((uintptr_t)(jtest_random() | 1) << 9);
        for (size_t i = 0; i < BLOCKS; ++i) {
            JASSERT_TRUE(ji_ledger_reserve(&ledger));
            ji_ledger_insert(&ledger, base + i * stride, stride, 0)->number = (uint32_t)i;
        }

        const size_t home = ji_hash_home_(&ledger.table, (uintptr_t)base);
        for (size_t offset = 0; offset < 512; offset += 16)
            JEXPECT_EQ(ji_hash_home_(&ledger.table, (uintptr_t)base + offset) / 4, home / 4);

        for (size_t i = 0; i < BLOCKS; i += 2)
            ji_ledger_remove(&ledger, ji_ledger_find(&ledger, base + i * stride));
        for (size_t i = 0; i < BLOCKS; ++i) {
            const ji_ledger_entry_t *entry = ji_ledger_find(&ledger, base + i * stride);
            JASSERT_EQ(entry != NULL, i % 2 == 1);
            if (entry != NULL)
                JEXPECT_EQ(entry->number, i);
        }
        ji_ledger_fini(&ledger);
    }
}

JTEST(Ledger, GrowsOrStaysAsItWas) {
    JFOR_EACH_FAILURE(n) {
        ji_ledger_t ledger = {{NULL, 0, 0, 0}};
        size_t entered = 0;
        for (size_t i = 1; i <= 300; ++i)
            if (ji_ledger_reserve(&ledger)) {
                ji_ledger_insert(&ledger, (void *)(i * 4096), i, 0);
                ++entered;
            } else {
                JEXPECT_TRUE(jtest_metadata_failed());
            }
        JEXPECT_EQ(ledger.table.count, entered);
        for (ji_ledger_entry_t *next = NULL; (next = ji_ledger_next(&ledger, next)) != NULL;)
            JEXPECT_EQ(next->address, next->size_bytes * 4096);
        ji_ledger_fini(&ledger);
    }
}

/* What was there until just now comes back without memory too, as long as one place stays empty. */
JTEST(Ledger, TakesBackWithoutMemoryWhatWasThere) {
    ji_ledger_t ledger = {{NULL, 0, 0, 0}};
    JASSERT_TRUE(ji_ledger_reserve(&ledger));
    const size_t most = ledger.table.mask;
    for (size_t i = 1; i < most; ++i)
        ji_ledger_insert(&ledger, (void *)(i * 4096), i, 0);
    jtest_fail_metadata_after(1);
    const ji_ledger_entry_t *last = ji_ledger_restore(&ledger, (void *)(most * 4096), most, 0);
    JEXPECT_TRUE(jtest_metadata_failed());
    JASSERT_NOT_NULL(last);
    JEXPECT_EQ(last->size_bytes, most);
    jtest_fail_metadata_after(1);
    JEXPECT_NULL(ji_ledger_restore(&ledger, (void *)((most + 1) * 4096), 1, 0));
    JEXPECT_TRUE(jtest_metadata_failed());
    JEXPECT_EQ(ledger.table.count, most);
    for (size_t i = 1; i <= most; ++i)
        JEXPECT_NOT_NULL(ji_ledger_find(&ledger, (void *)(i * 4096)));
    JEXPECT_NULL(ji_ledger_find(&ledger, (void *)((most + 1) * 4096))); /* the search ends */
    ji_ledger_fini(&ledger);
}

/* ---- Frontier ---- */

JTEST(Frontier, InlineWorkIsPassedAtOnce) {
    ji_frontier_t frontier;
    ji_fence_t fence = {9, 9};
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    ji_frontier_init(&frontier, jdevice_host());
    JEXPECT_OK(ji_frontier_mark(&frontier, NULL, &fence));
    JEXPECT_EQ(fence.index, 0);
    JEXPECT_TRUE(ji_frontier_passed(&frontier, fence, stream));
    JEXPECT_TRUE(ji_frontier_passed(&frontier, fence, NULL));
    ji_frontier_fini(&frontier);
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(Frontier, SameStreamAtOnceAnotherAfterTheEvent) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    ji_frontier_t frontier;
    ji_fence_t fence, later;
    jstream_t *busy, *other;
    JASSERT_OK(jstream_create(jdevice_host(), &busy));
    JASSERT_OK(jstream_create(jdevice_host(), &other));
    ji_frontier_init(&frontier, jdevice_host());
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), busy));
    JEXPECT_OK(ji_frontier_mark(&frontier, busy, &fence));
    JEXPECT_TRUE(ji_frontier_passed(&frontier, fence, busy));
    JEXPECT_FALSE(ji_frontier_passed(&frontier, fence, other));
    JEXPECT_FALSE(ji_frontier_passed(&frontier, fence, NULL));
    JEXPECT_OK(ji_frontier_mark(&frontier, busy, &later)); /* after the event that now stands */
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), busy));
    JEXPECT_TRUE(ji_frontier_passed(&frontier, fence, other));
    (void)ji_frontier_passed(&frontier, later,
                             /* The question has an event recorded; it comes with the stream. */
                             other);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), busy));
    JEXPECT_TRUE(ji_frontier_passed(&frontier, later, other));
    ji_frontier_fini(&frontier);
    JEXPECT_OK(jstream_destroy(other));
    JEXPECT_OK(jstream_destroy(busy));
}

static void note(void *argument) { atomic_store(*(atomic_int **)argument, 1); }

/* The other stream is made to wait; the host goes on. */
JTEST(Frontier, WaitOrdersTheStreamsAndNotTheHost) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    ji_frontier_t frontier;
    ji_fence_t fence;
    atomic_int done = 0, *pointer = &done;
    jstream_t *busy, *other;
    JASSERT_OK(jstream_create(jdevice_host(), &busy));
    JASSERT_OK(jstream_create(jdevice_host(), &other));
    ji_frontier_init(&frontier, jdevice_host());
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), busy));
    JEXPECT_OK(ji_frontier_mark(&frontier, busy, &fence));
    JEXPECT_OK(ji_frontier_wait(&frontier, fence, other));
    JEXPECT_OK(jstream_launch(jdevice_host(), other, note, &pointer, sizeof pointer));
    jtest_gate_await(&gate);
    jtest_sleep_ms(20);
    JEXPECT_EQ(atomic_load(&done), 0);
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), other));
    JEXPECT_EQ(atomic_load(&done), 1);
    JEXPECT_OK(ji_frontier_drain(&frontier, fence));
    JEXPECT_TRUE(ji_frontier_passed(&frontier, fence, NULL));
    ji_frontier_fini(&frontier);
    JEXPECT_OK(jstream_destroy(other));
    JEXPECT_OK(jstream_destroy(busy));
}

JTEST(Frontier, AStreamThatIsGoneLeavesItsPlace) {
    ji_frontier_t frontier;
    ji_fence_t old, fresh;
    jstream_t *stream;
    ji_frontier_init(&frontier, jdevice_host());
    uint32_t places = 0;
    for (int i = 0; i < 20; ++i) {
        JASSERT_OK(jstream_create(jdevice_host(), &stream));
        JEXPECT_OK(ji_frontier_mark(&frontier, stream, &old));
        ji_frontier_forget(&frontier, stream);
        JEXPECT_TRUE(ji_frontier_passed(&frontier, old, NULL));
        JEXPECT_OK(ji_frontier_mark(&frontier, stream, &fresh)); /* as if another had its address */
        JEXPECT_EQ(fresh.index, old.index);
        JEXPECT_GT(fresh.serial, old.serial);
        JEXPECT_TRUE(ji_frontier_passed(&frontier, old, NULL));
        ji_frontier_forget(&frontier, stream);
        JEXPECT_OK(jstream_destroy(stream));
        places = frontier.count;
    }
    JEXPECT_EQ(places, 2);
    ji_frontier_fini(&frontier);
}

/* Without memory for one more stream the free still happens: it waits instead. */
JTEST(Frontier, MarksWithoutBookkeepingMemory) {
    jstream_t *streams[6];
    for (int i = 0; i < 6; ++i)
        JASSERT_OK(jstream_create(jdevice_host(), &streams[i]));
    JFOR_EACH_FAILURE(n) {
        ji_frontier_t frontier;
        ji_frontier_init(&frontier, jdevice_host());
        for (int i = 0; i < 6; ++i) {
            ji_fence_t fence;
            JEXPECT_OK(ji_frontier_mark(&frontier, streams[i], &fence));
            (void)ji_frontier_passed(&frontier, fence, NULL);
        }
        ji_frontier_fini(&frontier);
        for (int i = 0; i < 6; ++i) /* an event that is on its way is released when it arrives */
            JEXPECT_OK(jstream_synchronize(jdevice_host(), streams[i]));
    }
    for (int i = 0; i < 6; ++i)
        JEXPECT_OK(jstream_destroy(streams[i]));
}

JTEST(Frontier, KnowsStreamsOfItsDeviceAloneAndTheNullStreamIsNeverGone) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    ji_frontier_t frontier;
    ji_fence_t fence = {7, 7};
    jstream_t *foreign;
    uint32_t index = 9;
    JASSERT_OK(jstream_create(jdevice_host(), &foreign));
    ji_frontier_init(&frontier, &gpu->device);
    JEXPECT_STATUS(ji_frontier_index(&frontier, foreign, &index), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "pretended");
    JEXPECT_EQ(index, 9);
    JEXPECT_STATUS(ji_frontier_mark(&frontier, foreign, &fence), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(fence.index, 7);
    JEXPECT_OK(ji_frontier_mark(&frontier, NULL, &fence)); /* a GPU's is a stream like others */
    JEXPECT_EQ(fence.index, 1);
    ji_frontier_forget(&frontier, NULL);
    JEXPECT_OK(ji_frontier_mark(&frontier, NULL, &fence));
    JEXPECT_EQ(fence.index, 1);
    JEXPECT_EQ(fence.serial, 2);
    JEXPECT_FALSE(frontier.streams[1].gone);
    ji_frontier_fini(&frontier);
    JEXPECT_OK(jstream_destroy(foreign));
}

typedef struct forked {
    ji_frontier_t frontier;
    ji_fence_t fence;
    jstream_t *stream;
} forked_t;
static void drain_in_a_child(void *argument) {
    forked_t *forked = argument;
    /* Whoever would wait for it is the parent's. */
    JEXPECT_OK(ji_frontier_drain(&forked->frontier, forked->fence));
    JEXPECT_TRUE(ji_frontier_passed(&forked->frontier, forked->fence, NULL));
}
JTEST(Frontier, WhatIsTheParentsHasPassedInAForkedChild) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    forked_t forked;
    JASSERT_OK(jstream_create(jdevice_host(), &forked.stream));
    JASSERT_OK(jtest_gate_block(&gate, jdevice_host(), forked.stream));
    ji_frontier_init(&forked.frontier, jdevice_host());
    JEXPECT_OK(ji_frontier_mark(&forked.frontier, forked.stream, &forked.fence));
    jtest_in_child(20, drain_in_a_child, &forked);
    JEXPECT_FALSE(ji_frontier_passed(&forked.frontier, forked.fence, NULL));
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), forked.stream));
    ji_frontier_fini(&forked.frontier);
    JEXPECT_OK(jstream_destroy(forked.stream));
}
