/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Blocks of the cache that have several owners, and blocks that it was given: who puts them into
 * the cache, and when. */

#include "lru_helper.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Reference counts ---- */

JTEST(Lru, LastOwnerPutsTheBlockIntoTheCache) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
    void *pointer = take(lru, 1000);
    size_t count = 0, left = 99;
    JEXPECT_OK(jallocator_lru_get_count(lru, pointer, &count));
    JEXPECT_EQ(count, 1);
    JEXPECT_OK(jallocator_lru_retain(lru, pointer));
    JEXPECT_OK(jallocator_lru_retain(lru, pointer));
    JEXPECT_OK(jallocator_lru_get_count(lru, pointer, &count));
    JEXPECT_EQ(count, 3);
    JEXPECT_OK(jallocator_lru_release(lru, pointer, NULL, &left));
    JEXPECT_EQ(left, 2);
    give(lru, pointer, 1000); /* the same as release, with the size checked */
    JEXPECT_OK(jallocator_lru_get_count(lru, pointer, &count));
    JEXPECT_EQ(count, 1);
    JEXPECT_FALSE(is_kept(lru, pointer));
    jallocator_stats_t stats = stats_of(lru);
    JEXPECT_EQ(stats.live_count, 1);
    JEXPECT_EQ(stats.in_use_bytes, 1000);
    JEXPECT_EQ(stats.peak_in_use_bytes, 1000);
    JEXPECT_OK(jallocator_lru_release(lru, pointer, NULL, &left));
    JEXPECT_EQ(left, 0);
    JEXPECT_TRUE(is_kept(lru, pointer));
    stats = stats_of(lru);
    JEXPECT_EQ(stats.live_count, 0);
    JEXPECT_EQ(stats.in_use_bytes, 0);
    JEXPECT_EQ(stats.allocation_count, 1);
    JEXPECT_STATUS(jallocator_lru_get_count(lru, pointer, &count), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_lru_retain(lru, pointer), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(take(lru, 1000), pointer); /* one owner again */
    JEXPECT_OK(jallocator_lru_get_count(lru, pointer, &count));
    JEXPECT_EQ(count, 1);
    JEXPECT_OK(jallocator_lru_release(lru, pointer, NULL, NULL));
    destroy_lru(lru);
}

JTEST(Lru, ReleaseOfTheOnlyBlockLetsTheCacheBeDestroyed) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
    void *pointer = take(lru, 64);
    JEXPECT_STATUS(jallocator_destroy(lru), JSTATUS_BUSY);
    JEXPECT_OK(jallocator_lru_release(lru, pointer, NULL, NULL));
    destroy_lru(lru);
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

/* Refused, with the message's parts, and nothing has changed. */
static void expect_refused(jallocator_t *lru, void *pointer, const char *part, const char *tag) {
    char address[32];
    const jallocator_stats_t before = stats_of(lru);
    const jlru_counters_t counters = counters_of(lru);
    snprintf(address, sizeof address, "%p", pointer);
    for (int i = 0; i < 4; ++i) {
        size_t number = 99;
        JEXPECT_STATUS(i == 0   ? jallocator_lru_release(lru, pointer, NULL, &number)
                       : i == 1 ? jallocator_deallocate(lru, pointer, 1000, NULL)
                       : i == 2 ? jallocator_lru_retain(lru, pointer)
                                : jallocator_lru_get_count(lru, pointer, &number),
                       JSTATUS_NOT_FOUND);
        JEXPECT_EQ(number, 99);
        JEXPECT_SUBSTR(jstatus_last_message(), address);
        JEXPECT_SUBSTR(jstatus_last_message(), part);
        JEXPECT_SUBSTR(jstatus_last_message(), tag);
        JEXPECT_SUBSTR(jstatus_last_message(), jallocator_name(lru));
    }
    const jallocator_stats_t after = stats_of(lru);
    JEXPECT_EQ(after.live_count, before.live_count);
    JEXPECT_EQ(after.in_use_bytes, before.in_use_bytes);
    JEXPECT_EQ(after.reserved_bytes, before.reserved_bytes);
    JEXPECT_EQ(counters_of(lru).kept_blocks, counters.kept_blocks);
    JEXPECT_OK(jallocator_check(lru));
}

JTEST(Lru, DoubleReleaseNamesTheAllocation) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
    void *live = take(lru, 2000), *pointer;
    {
        JALLOC_TAG("assemble");
        pointer = take(lru, 1000);
    }
    give(lru, pointer, 1000);
    expect_refused(lru, pointer, "1000 bytes", "assemble");
    expect_refused(lru, pointer, "is kept", "assemble");
    expect_refused(lru, (char *)pointer + 64, "no beginning", "assemble");
    JEXPECT_OK(jallocator_lru_clear(lru));
    expect_refused(lru, pointer, "1000 bytes", "assemble");
    expect_refused(lru, pointer, "given back below", "assemble");
    expect_refused(lru, &pointer, "never handed out", "");
    expect_refused(lru, (char *)live + 64, "lies inside the block", "");
    JEXPECT_STATUS(jallocator_deallocate(lru, live, 1999, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_SUBSTR(jstatus_last_message(), "2000 bytes");
    JEXPECT_OK(jallocator_lru_retain(lru, live)); /* it lives */
    JEXPECT_OK(jallocator_lru_release(lru, live, NULL, NULL));
    give(lru, live, 2000);
    destroy_lru(lru);
}

/* What a message says of a block that was given back below is true of the newest one at that
 * address, for the last 64. */
JTEST(Lru, RemembersTheLastBlocksGivenBack) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, JALLOC_NONE);
    void *pointers[70], *live = take(lru, 100000);
    for (size_t i = 0; i < 70; ++i)
        pointers[i] = take(lru, 64 * (i + 1));
    for (size_t i = 0; i < 70; ++i)
        give(lru, pointers[i], 64 * (i + 1));
    JEXPECT_OK(jallocator_lru_clear(lru));
    for (size_t i = 0; i < 70; ++i)
        expect_refused(lru, pointers[i], i < 6 ? "long ago" : "given back below", "");
    give(lru, live, 100000);
    destroy_lru(lru);
}

/* A pointer that was freed and handed out again is the next owner's: a stale free of it is refused
 * where the size tells them apart. Where it does not, nothing can: the pointer is all that a free
 * has. */
JTEST(Lru, StaleFreeOfAnotherSizeLeavesTheNextOwner) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 50);
    void *stale = keep(lru, 4096), *owner = take(lru, 3000);
    size_t count = 0;
    JASSERT_EQ(owner, stale);
    JEXPECT_STATUS(jallocator_deallocate(lru, stale, 4096, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_OK(jallocator_lru_get_count(lru, owner, &count));
    JEXPECT_EQ(count, 1);
    JEXPECT_EQ(stats_of(lru).in_use_bytes, 3000);
    give(lru, owner, 3000);
    destroy_lru(lru);
}

/* ---- Adoption ---- */

JTEST(Lru, AdoptedBlockGoesBackToItsOwnFunctionOnce) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
    static _Alignas(64) char foreign[500];
    given_t given = {NULL, 0, 0};
    size_t count = 0;
    JASSERT_OK(jallocator_lru_adopt(lru, foreign, sizeof foreign, 16, take_back, &given));
    JEXPECT_OK(jallocator_lru_get_count(lru, foreign, &count));
    JEXPECT_EQ(count, 1);
    jallocator_stats_t stats = stats_of(lru);
    JEXPECT_EQ(stats.live_count, 1);
    JEXPECT_EQ(stats.in_use_bytes, 500);
    JEXPECT_EQ(stats.reserved_bytes, 500);
    JEXPECT_EQ(jallocator_usable_size(lru, foreign, 500), 500);
    JEXPECT_STATUS(jallocator_destroy(lru), JSTATUS_BUSY);
    JEXPECT_OK(jallocator_lru_retain(lru, foreign));
    JEXPECT_OK(jallocator_lru_release(lru, foreign, NULL, NULL));
    JEXPECT_EQ(given.count, 0);
    give(lru, foreign, 500);
    JEXPECT_EQ(given.count, 1);
    JEXPECT_EQ(given.pointer, (void *)foreign);
    JEXPECT_EQ(given.size_bytes, 500);
    JEXPECT_FALSE(is_kept(lru, foreign));
    stats = stats_of(lru);
    JEXPECT_EQ(stats.live_count, 0);
    JEXPECT_EQ(stats.reserved_bytes, 0);
    JEXPECT_STATUS(jallocator_lru_release(lru, foreign, NULL, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "500 bytes");
    JEXPECT_EQ(given.count, 1);
    JEXPECT_EQ(jtest_allocation_count(), 0);
    /* Again, by release this time. */
    JEXPECT_OK(jallocator_lru_adopt(lru, foreign, 100, 0, take_back, &given));
    JEXPECT_OK(jallocator_lru_release(lru, foreign, NULL, NULL));
    JEXPECT_EQ(given.count, 2);
    JEXPECT_EQ(given.size_bytes, 100);
    destroy_lru(lru);
}

JTEST(Lru, AdoptedWithoutAFunctionJoinsTheCache) {
    jallocator_t *below = jtest_failing_allocator(), *lru = make_lru(below, 0, 0, 0);
    void *pointer = take(below, 1000);
    JASSERT_OK(jallocator_lru_adopt(lru, pointer, 1000, 0, NULL, NULL));
    JEXPECT_OK(jallocator_lru_release(lru, pointer, NULL, NULL));
    JEXPECT_TRUE(is_kept(lru, pointer));
    JEXPECT_EQ(counters_of(lru).kept_bytes, 1000);
    /* Kept is here too. */
    JEXPECT_STATUS(jallocator_lru_adopt(lru, pointer, 1000, 0, NULL, NULL), JSTATUS_EXISTS);
    /* 1000 bytes are enough for it, though it has no granule's multiple */
    JEXPECT_EQ(take(lru, 1000), pointer);
    give(lru, pointer, 1000);
    void *other = take(lru, 1001);
    JEXPECT_NE(other, pointer);
    give(lru, other, 1001);
    destroy_lru(lru); /* with 1000 bytes, or the allocator below complains */
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

JTEST(Lru, AdoptRefusesWhatItCannotTake) {
    jallocator_t *lru = make_lru(jtest_failing_allocator(), 0, 0, 0);
    static _Alignas(64) char foreign[64];
    given_t given = {NULL, 0, 0};
    void *live = take(lru, 1000);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, live, 1000, 0, take_back, &given), JSTATUS_EXISTS);
    JEXPECT_SUBSTR(jstatus_last_message(), "live");
    JEXPECT_STATUS(jallocator_lru_adopt(lru, foreign, 0, 0, take_back, &given),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, foreign, SIZE_MAX, 0, take_back, &given),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, NULL, 64, 0, take_back, &given),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_lru_adopt(NULL, foreign, 64, 0, take_back, &given),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, foreign, 64, 48, take_back, &given),
                   JSTATUS_INVALID_VALUE);
    void *most_aligned = (void *)((uintptr_t)1 << 40); /* which nobody touches */
    JEXPECT_STATUS(jallocator_lru_adopt(lru, most_aligned, 64, (size_t)1 << 31, take_back, &given),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, foreign + 8, 32, 64, take_back, &given),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_lru_adopt(lru, foreign + 8, 32, 0, take_back, &given),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(given.count, 0);
    JEXPECT_EQ(stats_of(lru).live_count, 1);
    give(lru, live, 1000);
    destroy_lru(lru);
}
