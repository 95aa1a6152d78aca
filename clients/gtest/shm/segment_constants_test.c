/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The constants at the front of a segment: places follow from the numbers, and any other bytes are
 * refused, each kind with its status. */

#include "segment_backing_helper.h"

JTEST(SegmentConstants, PlacesFollowEachOtherInFrontOfTheFirstPage) {
    static const unsigned slots[] = {1, 64, 250};
    static const size_t pages[] = {16, 17, 255, 256, 4097, (size_t)1 << 20, (size_t)1 << 30};
    for (size_t i = 0; i < LEN(slots); ++i)
        for (size_t j = 0; j < LEN(pages); ++j) {
            JSCOPED_TRACE("%u slots, %zu pages", slots[i], pages[j]);
            shm_constants_t c;
            JASSERT_TRUE(shm_constants_make(&c, pages[j] << 12, pages[j] << 12, slots[i], true));
            JEXPECT_OK(shm_constants_check(&c));
            JEXPECT_EQ(c.checksum, checksum_of(&c));
            JEXPECT_EQ(c.max_pages, pages[j]);
            JEXPECT_EQ(c.slot_count, slots[i]);
            JEXPECT_GE(c.slots_offset, 4096);
            JEXPECT_GE(c.allocators_offset, c.slots_offset + slots[i] * sizeof(shm_slot_t));
            JEXPECT_GE(c.roots_offset,
                       c.allocators_offset + SHM_ALLOCATORS * sizeof(shm_allocator_t));
            JEXPECT_GE(c.log_offset, c.roots_offset + SHM_ROOTS * sizeof(shm_root_t));
            JEXPECT_GE(c.table_offset, c.log_offset + SHM_LOG_ENTRIES * sizeof(shm_log_entry_t));
            JEXPECT_GE(c.first_page * 4096, c.table_offset + pages[j] * sizeof(shm_page_t));
            JEXPECT_LT((c.first_page - 1) * 4096, c.table_offset + pages[j] * sizeof(shm_page_t));
            JEXPECT_EQ((c.slots_offset | c.allocators_offset) % 128, 0);
            JEXPECT_EQ((c.roots_offset | c.log_offset | c.table_offset) % 64, 0);
            JEXPECT_EQ(c.has_file, 1);
            JEXPECT_EQ(c.creator_pid, getpid());
        }
}

JTEST(SegmentConstants, SizesThatDoNotFitAreRefused) {
    shm_constants_t c;
    const size_t min = JSEGMENT_MIN_BYTES;
    JEXPECT_TRUE(shm_constants_make(&c, min, min, 250, true));
    JEXPECT_FALSE(shm_constants_make(&c, min - 4096, min, 64, true));
    JEXPECT_FALSE(shm_constants_make(&c, min + 4096, min, 64, true));
    JEXPECT_FALSE(shm_constants_make(&c, 0, 0, 64, true));
    JEXPECT_FALSE(shm_constants_make(&c, min, min, 0, true));
    JEXPECT_FALSE(shm_constants_make(&c, min, min, 251, true));
    JEXPECT_FALSE(shm_constants_make(&c, min, ((size_t)4 << 40) + 4096, 64, true));
    JEXPECT_FALSE(
        shm_constants_make(&c, SIZE_MAX & ~(size_t)4095, SIZE_MAX & ~(size_t)4095, 64, true));
    /* The table for a large maximum leaves no page of a small beginning. */
    JEXPECT_FALSE(shm_constants_make(&c, min, (size_t)1 << 30, 64, true));
    JASSERT_TRUE(shm_constants_make(&c, (size_t)8 << 20, (size_t)1 << 30, 64, true));
    JEXPECT_FALSE(shm_constants_make(&c, c.first_page << 12, (size_t)1 << 30, 64, true));
    JEXPECT_TRUE(shm_constants_make(&c, (c.first_page + 1) << 12, (size_t)1 << 30, 64, true));
}

JTEST(SegmentConstants, TwoSegmentsAreToldApart) {
    shm_constants_t a, b;
    JASSERT_TRUE(shm_constants_make(&a, SAMPLE_BYTES, SAMPLE_BYTES, 64, true));
    JASSERT_TRUE(shm_constants_make(&b, SAMPLE_BYTES, SAMPLE_BYTES, 64, true));
    JEXPECT_NE(a.segment_id, b.segment_id);
    JEXPECT_STREQ(a.boot_id, b.boot_id);
}

JTEST(SegmentConstants, EachFlippedBitIsRefused) {
    shm_constants_t sound, c;
    JASSERT_TRUE(shm_constants_make(&sound, SAMPLE_BYTES, SAMPLE_MAX_BYTES, 64, true));
    for (size_t bit = 0; bit < sizeof c * 8; ++bit) {
        JSCOPED_TRACE("bit %zu of byte %zu", bit % 8, bit / 8);
        c = sound;
        ((unsigned char *)&c)[bit / 8] ^= (unsigned char)(1u << bit % 8);
        const size_t byte = bit / 8;
        JASSERT_STATUS(shm_constants_check(&c),
                       byte < offsetof(shm_constants_t, byte_order)  ? JSTATUS_NOT_A_SEGMENT
                       : byte < offsetof(shm_constants_t, max_pages) ? JSTATUS_INCOMPATIBLE
                                                                     : JSTATUS_CORRUPTED);
    }
    JEXPECT_OK(shm_constants_check(&sound));
}

JTEST(SegmentConstants, PlacesThatDoNotFollowFromTheNumbersAreCorrupted) {
    shm_constants_t sound;
    JASSERT_TRUE(shm_constants_make(&sound, SAMPLE_BYTES, SAMPLE_MAX_BYTES, 64, true));
    static const struct {
        size_t offset;
        uint64_t value; /* added */
    } changes[] = {
        {offsetof(shm_constants_t, slots_offset), 128},
        {offsetof(shm_constants_t, slots_offset), (uint64_t)-128},
        {offsetof(shm_constants_t, allocators_offset), 128},
        {offsetof(shm_constants_t, allocators_offset), (uint64_t)-128},
        {offsetof(shm_constants_t, roots_offset), 64},
        {offsetof(shm_constants_t, log_offset), (uint64_t)1 << 63},
        {offsetof(shm_constants_t, table_offset), 1},
        {offsetof(shm_constants_t, table_offset), (uint64_t)1 << 40},
        {offsetof(shm_constants_t, first_page), 1},
        {offsetof(shm_constants_t, first_page), (uint64_t)-1},
        {offsetof(shm_constants_t, max_pages), 4096},
        {offsetof(shm_constants_t, max_pages), (uint64_t)-4096},
        {offsetof(shm_constants_t, max_pages), (uint64_t)1 << 60},
        {offsetof(shm_constants_t, max_pages), -((uint64_t)SAMPLE_MAX_BYTES >> 12)},
        {offsetof(shm_constants_t, slot_count), (uint64_t)-64},
        {offsetof(shm_constants_t, slot_count), 251 - 64},
        {offsetof(shm_constants_t, slot_count), (uint64_t)1 << 58},
        {offsetof(shm_constants_t, has_file), 1},
    };
    for (size_t i = 0; i < LEN(changes); ++i) {
        JSCOPED_TRACE("change %zu", i);
        shm_constants_t c = sound;
        *(uint64_t *)((char *)&c + changes[i].offset) += changes[i].value;
        c.checksum = checksum_of(&c);
        JEXPECT_STATUS(shm_constants_check(&c), JSTATUS_CORRUPTED);
    }
    shm_constants_t c = sound;
    memset(c.boot_id, 'x', sizeof c.boot_id); /* has no end */
    c.checksum = checksum_of(&c);
    JEXPECT_STATUS(shm_constants_check(&c), JSTATUS_CORRUPTED);
}

JTEST(SegmentConstants, AnotherStartOfTheMachineIsStale) {
    shm_constants_t c;
    JASSERT_TRUE(shm_constants_make(&c, SAMPLE_BYTES, SAMPLE_BYTES, 64, true));
    c.boot_id[3] ^= 1;
    c.checksum = checksum_of(&c);
    JEXPECT_STATUS(shm_constants_check(&c), JSTATUS_STALE);
    memset(c.boot_id, 0, sizeof c.boot_id);
    c.checksum = checksum_of(&c);
    JEXPECT_STATUS(shm_constants_check(&c), access("/proc/sys/kernel/random/boot_id", R_OK) == 0
                                                ? JSTATUS_STALE
                                                : JSTATUS_SUCCESS);
}

JTEST(SegmentConstants, RandomBytesAreNeverASegment) {
    for (int64_t round = jtest_iterations(2000); round > 0; --round) {
        shm_constants_t c;
        JASSERT_TRUE(shm_constants_make(&c, SAMPLE_BYTES, SAMPLE_MAX_BYTES, 64, true));
        for (size_t i = (size_t)jtest_random_between(0, 23); i < sizeof c; ++i)
            ((unsigned char *)&c)[i] = (unsigned char)jtest_random();
        if (jtest_random_bool())
            c.checksum = checksum_of(&c);
        JASSERT_NE(shm_constants_check(&c), JSTATUS_SUCCESS);
    }
}
