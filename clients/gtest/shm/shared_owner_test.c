/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Whose a block is, who may give it away, what is refused to be freed; stacks; and bookkeeping
 * memory that gives out. */

#include "segment_helper.h"

#include <string.h>

static jsegment_t *private_segment(size_t size_bytes) {
    PLACE(place, JSEGMENT_PRIVATE, size_bytes, 0);
    return place_create(&place);
}

/* ---- Misuse ---- */

JTEST(Shared, WhatIsNoLiveBlockIsNotFound) {
    PLACE(place, JSEGMENT_MEMFD, 2 * MIB, 0);
    jsegment_t *segment = place_create(&place), *second = place_attach(&place);
    JASSERT_TRUE(segment != NULL && second != NULL);
    jshared_t *shared = shared_make(segment, 1), *others = shared_open(second, 1),
              *alien = shared_make(segment, 2);
    static const size_t sizes[] = {16, 48, 500, 8192, 8193, 100000};
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        JSCOPED_TRACE("%zu bytes", sizes[i]);
        const joffset_t keep = shared_take(shared, sizes[i]), own = shared_take(shared, sizes[i]);
        const joffset_t foreign = shared_take(others, sizes[i]),
                        given = shared_take(shared, sizes[i]);
        JEXPECT_OK(jshared_give(shared, given, JSEGMENT_SLOT_SEGMENT));
        const joffset_t wrong[] = {own + 1,
                                   own + 8,
                                   own + 16,
                                   own + sizes[i] / 2 + 1,
                                   foreign + 1,
                                   foreign + 16,
                                   given + 16,
                                   given - 1,
                                   8,
                                   4096,
                                   2 * MIB - 16,
                                   2 * MIB,
                                   2 * MIB + 4096,
                                   (joffset_t)1 << 40,
                                   UINT64_MAX,
                                   UINT64_MAX - 15,
                                   UINT64_MAX << 12};
        for (size_t k = 0; k < COUNT_OF(wrong); ++k) {
            if (wrong[k] == keep || wrong[k] == own || wrong[k] == foreign || wrong[k] == given)
                continue; /* the neighbour of a block of 16 */
            JSCOPED_TRACE("offset %zu of blocks at %zu %zu %zu", (size_t)wrong[k], (size_t)own,
                          (size_t)foreign, (size_t)given);
            JEXPECT_STATUS(jshared_deallocate(shared, wrong[k]), JSTATUS_NOT_FOUND);
            JEXPECT_GT(strlen(jstatus_last_message()), 10);
            JEXPECT_STATUS(jshared_deallocate(others, wrong[k]), JSTATUS_NOT_FOUND);
            JEXPECT_STATUS(jshared_describe(shared, wrong[k], NULL, NULL), JSTATUS_NOT_FOUND);
            JEXPECT_STATUS(jshared_give(shared, wrong[k], JSEGMENT_SLOT_SEGMENT),
                           JSTATUS_NOT_FOUND);
            JEXPECT_STATUS(jshared_deallocate_many(shared, 1, &wrong[k]), JSTATUS_NOT_FOUND);
            joffset_t moved = wrong[k];
            JEXPECT_STATUS(jshared_reallocate(shared, &moved, 64, 0), JSTATUS_NOT_FOUND);
        }
        JEXPECT_STATUS(jshared_deallocate(alien, own), JSTATUS_NOT_FOUND);
        JEXPECT_OK(jshared_deallocate(shared, own));
        JEXPECT_STATUS(jshared_deallocate(shared, own), JSTATUS_NOT_FOUND); /* twice */
        JEXPECT_STATUS(jshared_deallocate(others, own), JSTATUS_NOT_FOUND);
        JEXPECT_OK(jshared_deallocate(shared, foreign)); /* from afar */
        JEXPECT_STATUS(jshared_deallocate(shared, foreign), JSTATUS_NOT_FOUND);
        /* Its owner comes late. */
        JEXPECT_STATUS(jshared_deallocate(others, foreign), JSTATUS_NOT_FOUND);
        JEXPECT_OK(jshared_deallocate(others, given));
        JEXPECT_STATUS(jshared_deallocate(shared, given), JSTATUS_NOT_FOUND);
        JEXPECT_TRUE(shared_is_live(shared, keep));
        segment_books(segment);
        JEXPECT_OK(jshared_deallocate(shared, keep));
        segment_expect_empty(segment);
    }
    JEXPECT_OK(jsegment_detach(second));
    JEXPECT_OK(jsegment_destroy(segment));
}

/* Each offset of a page of blocks is either the beginning of a live one or refused: none crashes,
 * none is taken. */
JTEST(Shared, EveryOffsetThatIsNoBlockIsRefused) {
    jsegment_t *segment = private_segment(256 * KIB);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    joffset_t small[50], large = shared_take(shared, 10000);
    JEXPECT_OK(jshared_allocate_many(shared, 112, 0, COUNT_OF(small), small));
    const jsegment_stats_t before = segment_books(segment);
    for (joffset_t offset = 1; offset < 256 * KIB + 100; ++offset) {
        bool live = offset == large;
        for (size_t i = 0; i < COUNT_OF(small); ++i)
            live |= offset == small[i];
        if (!live)
            JASSERT_STATUS(jshared_deallocate(shared, offset), JSTATUS_NOT_FOUND);
        JASSERT_EQ(shared_is_live(shared, offset), live);
    }
    const jsegment_stats_t after = segment_books(segment);
    JEXPECT_EQ(before.owned_bytes, after.owned_bytes);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Giving ---- */

JTEST(Shared, ABlockIsGivenByItsOwnerOrTheSegments) {
    PLACE(place, JSEGMENT_MEMFD, 2 * MIB, 0);
    jsegment_t *segment = place_create(&place), *second = place_attach(&place),
               *third = place_attach(&place);
    JASSERT_TRUE(segment != NULL && second != NULL && third != NULL);
    jshared_t *shared = shared_make(segment, 1), *others = shared_open(second, 1),
              *thirds = shared_open(third, 1);
    const unsigned me = jsegment_slot(segment), you = jsegment_slot(second),
                   it = jsegment_slot(third);
    static const size_t sizes[] = {16, 1000, 8192, 20000};
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        JSCOPED_TRACE("%zu bytes", sizes[i]);
        const joffset_t offset = shared_take(shared, sizes[i]),
                        rest = shared_take(shared, sizes[i]);
        memset(shared_bytes(shared, offset, sizes[i]), 0x2F, sizes[i]);
        JEXPECT_EQ(shared_owner(shared, offset), me);
        JEXPECT_STATUS(jshared_give(others, offset, you), JSTATUS_PERMISSION);
        JEXPECT_STATUS(jshared_give(others, offset, JSEGMENT_SLOT_SEGMENT), JSTATUS_PERMISSION);
        JEXPECT_STATUS(jshared_give(shared, offset, 0), JSTATUS_INVALID_VALUE);
        /* A slot that nobody has. */
        JEXPECT_STATUS(jshared_give(shared, offset, 60), JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(jshared_give(shared, offset, 65), JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(jshared_give(shared, offset, 254), JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(jshared_give(shared, offset, 256 + me), JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(jshared_give(shared, JOFFSET_NULL, you), JSTATUS_NOT_FOUND);
        JEXPECT_OK(jshared_give(shared, offset, me)); /* to itself */
        JEXPECT_EQ(shared_owner(others, offset), me);
        JEXPECT_OK(jshared_give(shared, offset, you));
        JEXPECT_EQ(shared_owner(shared, offset), you);
        JEXPECT_EQ(shared_owner(thirds, offset), you);
        JEXPECT_EQ(shared_owner(shared, rest), me);
        /* Is no more its own. */
        JEXPECT_STATUS(jshared_give(shared, offset, me), JSTATUS_PERMISSION);
        segment_books(segment);
        JEXPECT_OK(jshared_give(others, offset, it));
        JEXPECT_OK(jshared_give(thirds, offset, JSEGMENT_SLOT_SEGMENT));
        JEXPECT_EQ(shared_owner(shared, offset), JSEGMENT_SLOT_SEGMENT);
        JEXPECT_EQ(segment_books(segment).given_bytes, shared_usable(shared, offset));
        JEXPECT_OK(jshared_give(others, offset, you)); /* anybody takes it from the segment */
        JEXPECT_EQ(shared_owner(shared, offset), you);
        JEXPECT_OK(jshared_give(others, offset, me)); /* and back to where it was born */
        JEXPECT_EQ(shared_owner(others, offset), me);
        JEXPECT_EQ(segment_process(segment, me).owned_bytes, 2 * shared_usable(shared, offset));
        JEXPECT_EQ(shared_bytes(thirds, offset, sizes[i])[sizes[i] - 1], 0x2F);
        JEXPECT_OK(jshared_deallocate(i % 2 ? shared : thirds, offset));
        JEXPECT_OK(jshared_deallocate(shared, rest));
        segment_expect_empty(segment);
    }
    JEXPECT_OK(jsegment_detach(third));
    JEXPECT_OK(jsegment_detach(second));
    JEXPECT_OK(jsegment_destroy(segment));
}

/* Blocks of one slab that have different owners die with each of them. */
JTEST(Shared, AGivenBlockDiesWithItsNewOwner) {
    PLACE(place, JSEGMENT_POSIX, 2 * MIB, 0);
    jsegment_t *maker = place_create(&place), *keeper = place_attach(&place);
    JASSERT_TRUE(maker != NULL && keeper != NULL);
    jshared_t *shared = shared_make(maker, 1), *kept = shared_open(keeper, 1);
    static const size_t sizes[] = {64, 30000};
    joffset_t mine[2], yours[2], theirs[2];
    for (int i = 0; i < 2; ++i) {
        mine[i] = shared_take(shared, sizes[i]);
        yours[i] = shared_take(shared, sizes[i]);
        theirs[i] = shared_take(shared, sizes[i]);
        JEXPECT_OK(jshared_give(shared, yours[i], jsegment_slot(keeper)));
        JEXPECT_OK(jshared_give(shared, theirs[i], JSEGMENT_SLOT_SEGMENT));
    }
    JEXPECT_OK(jsegment_detach(maker));
    for (int i = 0; i < 2; ++i) {
        JEXPECT_FALSE(shared_is_live(kept, mine[i]));
        JEXPECT_EQ(shared_owner(kept, yours[i]), jsegment_slot(keeper));
        JEXPECT_EQ(shared_owner(kept, theirs[i]), JSEGMENT_SLOT_SEGMENT);
    }
    segment_books(keeper);
    maker = place_attach(&place); /* perhaps in the slot that it had */
    JASSERT_NOT_NULL(maker);
    shared = shared_open(maker, 1);
    joffset_t more[300];
    JEXPECT_OK(jshared_allocate_many(shared, 64, 0, COUNT_OF(more), more));
    for (size_t i = 0; i < COUNT_OF(more); ++i)
        JASSERT_TRUE(more[i] != yours[0] && more[i] != theirs[0]);
    JEXPECT_OK(jsegment_detach(keeper));
    for (int i = 0; i < 2; ++i) {
        JEXPECT_FALSE(shared_is_live(shared, yours[i]));
        JEXPECT_EQ(shared_owner(shared, theirs[i]), JSEGMENT_SLOT_SEGMENT);
        JEXPECT_OK(jshared_deallocate(shared, theirs[i]));
    }
    JEXPECT_OK(jshared_deallocate_many(shared, COUNT_OF(more), more));
    segment_expect_empty(maker);
    JEXPECT_OK(jsegment_destroy(maker));
}

/* ---- Slabs without an owner ---- */

/* Leaves blocks in slabs that are nobody's but the segment's. */
static void leave_blocks(jsegment_t *segment, size_t size_bytes, size_t count,
                         joffset_t offsets[]) {
    jshared_t *shared = shared_open(segment, 1);
    JEXPECT_OK(jshared_allocate_many(shared, size_bytes, 0, count, offsets));
    JEXPECT_OK(jshared_close(shared));
}

JTEST(SharedOrphans, AnAdoptedSlabsBlocksStayWhole) {
    enum { LEFT = 100 };
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    jsegment_t *segment = place_create(&place), *second = place_attach(&place);
    JASSERT_TRUE(segment != NULL && second != NULL);
    jshared_t *shared = shared_make(segment, 1);
    joffset_t left[LEFT], own[LEFT];
    leave_blocks(second, 48, LEFT, left);
    const jsegment_stats_t before = segment_books(segment);
    joffset_t offset = 5;
    for (uint64_t n = 1; n <= 2; ++n) { /* of the magazine, of what is known of a slab */
        jtest_fail_metadata_after(n);
        JEXPECT_STATUS(jshared_allocate(shared, 48, 0, &offset), JSTATUS_MEMORY_ERROR);
        JEXPECT_EQ(offset, JOFFSET_NULL);
        JEXPECT_TRUE(jtest_metadata_failed());
        segment_books(segment);
    }
    jtest_fail_metadata_after(0);
    JEXPECT_OK(jshared_allocate_many(shared, 48, 0, LEFT, own));
    for (size_t i = 0; i < LEFT; ++i) {
        JEXPECT_EQ(shared_owner(shared, left[i]), jsegment_slot(second));
        for (size_t k = 0; k < LEFT; ++k)
            JASSERT_NE(own[i], left[k]);
    }
    const jsegment_stats_t after = segment_books(segment);
    JEXPECT_EQ(after.free_bytes, before.free_bytes); /* the slab that was there was used */
    JEXPECT_OK(jshared_deallocate_many(shared, LEFT, own));
    JEXPECT_OK(jshared_deallocate_many(shared, LEFT, left));
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_detach(second));
    JEXPECT_OK(jsegment_destroy(segment));
}

/* Looking for one to adopt ends after some, so a long list of others does not make each allocation
 * slow. */
JTEST(SharedOrphans, AreLookedAtNearTheFrontOfTheList) {
    enum { SLABS = 70, PER_SLAB = 15 };
    static joffset_t far[10], many[SLABS * PER_SLAB];
    PLACE(place, JSEGMENT_MEMFD, 16 * MIB, 0);
    jsegment_t *segment = place_create(&place), *second = place_attach(&place);
    JASSERT_TRUE(segment != NULL && second != NULL);
    jshared_t *shared = shared_make(segment, 1);
    leave_blocks(second, 48, COUNT_OF(far), far);
    leave_blocks(second, 8192, COUNT_OF(many), many);
    const jsegment_stats_t before = segment_books(segment);
    const joffset_t own = shared_take(shared, 48);
    const jsegment_stats_t after = segment_books(segment);
    JEXPECT_LT(after.free_bytes, before.free_bytes); /* a new slab */
    JEXPECT_OK(jshared_deallocate_many(shared, COUNT_OF(many), many));
    JEXPECT_OK(jshared_deallocate_many(shared, COUNT_OF(far), far));
    JEXPECT_OK(jshared_deallocate(shared, own));
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_detach(second));
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Stacks ---- */

JTEST(SharedStack, OneAfterTheOtherAndBackToAMark) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    jsegment_t *segment = place_create(&place), *second = place_attach(&place);
    JASSERT_TRUE(segment != NULL && second != NULL);
    jshared_t *stack = shared_make_kind(segment, 1, JSHARED_STACK, 100000),
              *others = shared_open(second, 1);
    uint64_t empty = 9, mark = 0, top = 0;
    JEXPECT_OK(jshared_get_mark(stack, &empty));
    JEXPECT_EQ(empty, 0);
    joffset_t last = 0;
    for (size_t size = 1; size < 500; size += 7) {
        const size_t alignment = (size_t)1 << size % 9;
        joffset_t offset;
        JASSERT_OK(
            jshared_allocate(size % 2 ? stack : others, size, size % 3 ? alignment : 0, &offset));
        JEXPECT_EQ((uintptr_t)shared_bytes(stack, offset, size) % (size % 3 ? alignment : 16), 0);
        JEXPECT_GE(offset, last);
        last = offset + size;
        memset(shared_bytes(stack, offset, size), 1, size);
        if (size == 148)
            JEXPECT_OK(jshared_get_mark(stack, &mark));
    }
    JEXPECT_OK(jshared_get_mark(others, &top));
    JEXPECT_TRUE(mark > 0 && mark < top && top <= 100000);
    segment_books(segment);
    JEXPECT_STATUS(jshared_rewind(stack, top + 1), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jshared_rewind(stack, UINT64_MAX), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jshared_rewind(others, mark)); /* of all */
    JEXPECT_OK(jshared_get_mark(stack, &top));
    JEXPECT_EQ(top, mark);
    JEXPECT_STATUS(jshared_rewind(stack, mark + 16), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jshared_deallocate(stack, last), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_OK(jshared_rewind(stack, 0));
    joffset_t whole = 0, more = 5;
    JEXPECT_OK(jshared_allocate(stack, 100000, 0, &whole));
    memset(shared_bytes(stack, whole, 100000), 2, 100000);
    joffset_t rest; /* what the rounding of the region left, but not more */
    JEXPECT_STATUS(jshared_allocate(stack, 4096, 0, &more), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(more, JOFFSET_NULL);
    JEXPECT_STATUS(jshared_allocate(stack, SIZE_MAX, 0, &rest), JSTATUS_INVALID_SIZE);
    JEXPECT_OK(jshared_rewind(stack, 0));
    JEXPECT_OK(jshared_get_mark(stack, &top));
    JEXPECT_EQ(top, 0);
    JEXPECT_STATUS(jshared_get_mark(stack, NULL), JSTATUS_INVALID_POINTER);
    jshared_t *general = shared_make(segment, 2);
    JEXPECT_STATUS(jshared_get_mark(general, &top), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_STATUS(jshared_rewind(general, 0), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_OK(jsegment_detach(second)); /* a stack's blocks are the segment's */
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SharedStack, AlignmentsAreChecked) {
    PLACE(place, JSEGMENT_ARRAY, MIB, 0);
    place.options.array = (char *)place.array + 4096; /* no more than a page */
    place.options.size_bytes -= 4096;
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *stack = shared_make_kind(segment, 1, JSHARED_STACK, 100000);
    joffset_t offset = 5;
    static const size_t refused[] = {24, 48, 4096 + 16, 8192, SIZE_MAX};
    for (size_t i = 0; i < COUNT_OF(refused); ++i) {
        JEXPECT_STATUS(jshared_allocate(stack, 10, refused[i], &offset), JSTATUS_INVALID_VALUE);
        JEXPECT_EQ(offset, JOFFSET_NULL);
    }
    uint64_t mark = 9;
    JEXPECT_OK(jshared_get_mark(stack, &mark));
    JEXPECT_EQ(mark, 0);
    JEXPECT_OK(jshared_allocate(stack, 10, 4096, &offset));
    JEXPECT_EQ((uintptr_t)shared_bytes(stack, offset, 10) % 4096, 0);
    JEXPECT_OK(jsegment_destroy(segment));
}
JTEST(SharedStack, AlignmentsAboveAPageHold) {
    jsegment_t *segment = private_segment(MIB);
    JASSERT_NOT_NULL(segment);
    jshared_t *stack = shared_make_kind(segment, 1, JSHARED_STACK, 200000);
    shared_take(stack, 10);
    joffset_t offset;
    JEXPECT_OK(jshared_allocate(stack, 10, 65536, &offset));
    JEXPECT_EQ((uintptr_t)shared_bytes(stack, offset, 10) % 65536, 0);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SharedStack, ABlockOutlivesItsProcess) {
    PLACE(place, JSEGMENT_POSIX, MIB, 0);
    jsegment_t *segment = place_create(&place), *second = place_attach(&place);
    JASSERT_TRUE(segment != NULL && second != NULL);
    jshared_t *stack = shared_make_kind(segment, 1, JSHARED_STACK, 50000),
              *others = shared_open(second, 1);
    const joffset_t offset = shared_take(others, 1000);
    memset(shared_bytes(others, offset, 1000), 0x66, 1000);
    JEXPECT_OK(jsegment_detach(second));
    JEXPECT_EQ(shared_bytes(stack, offset, 1000)[999], 0x66);
    const joffset_t next = shared_take(stack, 100);
    JEXPECT_GE(next, offset + 1000);
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Bookkeeping memory ---- */

static const backend_row_t backends[] = {ALL_BACKENDS};

JTEST_P_NAMED(SharedFailure, CreatingASegment, backend_row_t, backends, backend_label) {
    PLACE(place, param->backend, MIB, 2 * MIB);
    JFOR_EACH_FAILURE(i) {
        jsegment_t *segment = NULL;
        const jstatus_t status = jsegment_create(&place.options, &segment);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(segment != NULL, status == JSTATUS_SUCCESS);
        if (segment != NULL)
            /* Its name is free for the next round, or create would say exists. */
            JEXPECT_OK(jsegment_destroy(segment));
    }
}

static const backend_row_t shared_backends[] = {SHARED_BACKENDS};
JTEST_P_NAMED(SharedFailure, Attaching, backend_row_t, shared_backends, backend_label) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *first = place_create(&place);
    JASSERT_NOT_NULL(first);
    for (int reading = 0; reading < 2; ++reading)
        JFOR_EACH_FAILURE(i) {
            jsegment_options_t options = place.options;
            jsegment_t *segment = NULL;
            options.read_only = reading;
            const jstatus_t status = jsegment_attach(&options, &segment);
            JEXPECT_STATUS(status,
                           jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            JEXPECT_EQ(segment != NULL, status == JSTATUS_SUCCESS);
            JEXPECT_OK(jsegment_detach(segment));
            JEXPECT_EQ(segment_stats(first).processes, 1); /* no slot was lost */
        }
    segment_books(first);
    JEXPECT_OK(jsegment_destroy(first));
}

JTEST(SharedFailure, CreatingAndOpeningAllocators) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    jsegment_t *segment = place_create(&place), *second = place_attach(&place);
    JASSERT_TRUE(segment != NULL && second != NULL);
    const jsegment_stats_t before = segment_books(segment);
    for (int kind = JSHARED_GENERAL; kind <= JSHARED_STACK; ++kind) {
        JFOR_EACH_FAILURE(i) {
            jshared_options_t options = JSHARED_OPTIONS_INIT;
            options.kind = (jshared_kind_t)kind;
            options.header_bytes = 100;
            options.page_bytes = options.region_bytes = 10000;
            jshared_t *shared = NULL;
            const jstatus_t status = jshared_create(segment, 5, &options, &shared);
            JEXPECT_STATUS(status,
                           jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            JEXPECT_EQ(shared != NULL, status == JSTATUS_SUCCESS);
            if (shared != NULL)
                JEXPECT_OK(jshared_destroy(shared));
            const jsegment_stats_t after = segment_books(segment);
            JEXPECT_EQ(after.allocators, 0);
            JEXPECT_EQ(after.metadata_bytes, before.metadata_bytes);
        }
    }
    jshared_t *shared = shared_make(segment, 6);
    JFOR_EACH_FAILURE(i) {
        jshared_t *opened = NULL;
        const jstatus_t status = jshared_open(second, 6, &opened);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_OK(jshared_close(opened));
    }
    JEXPECT_OK(jshared_destroy(shared)); /* nobody else has it open */
    JEXPECT_OK(jsegment_detach(second));
    JEXPECT_OK(jsegment_destroy(segment));
}

/* What an attachment knows of its slabs is private memory; without it no block can be had, and
 * nothing is lost. */
JTEST(SharedFailure, AllocatingEachSizeFromAFreshAttachment) {
    static const size_t sizes[] = {16, 100, 1000, 8192, 8193, 100000};
    PLACE(place, JSEGMENT_MEMFD, 2 * MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    shared_make(segment, 1);
    JFOR_EACH_FAILURE(i) {
        jsegment_t *fresh = NULL;
        if (jsegment_attach(&place.options, &fresh) != JSTATUS_SUCCESS)
            continue;
        jshared_t *shared = NULL;
        if (jshared_open(fresh, 1, &shared) == JSTATUS_SUCCESS) {
            joffset_t offsets[COUNT_OF(sizes)] = {0}, many[40] = {0};
            for (size_t k = 0; k < COUNT_OF(sizes); ++k) {
                const jstatus_t status = jshared_allocate(shared, sizes[k], 0, &offsets[k]);
                JEXPECT_TRUE(status == JSTATUS_SUCCESS ||
                             (status == JSTATUS_MEMORY_ERROR && jtest_metadata_failed()));
                JEXPECT_EQ(offsets[k] != JOFFSET_NULL, status == JSTATUS_SUCCESS);
            }
            const jstatus_t batch = jshared_allocate_many(shared, 2000, 0, COUNT_OF(many), many);
            JEXPECT_TRUE(batch == JSTATUS_SUCCESS ||
                         (batch == JSTATUS_MEMORY_ERROR && jtest_metadata_failed()));
            JEXPECT_EQ(many[0] != JOFFSET_NULL, batch == JSTATUS_SUCCESS);
            joffset_t moved = JOFFSET_NULL;
            for (size_t k = 0; k < COUNT_OF(sizes); ++k) {
                const joffset_t was = moved;
                const jstatus_t status = jshared_reallocate(shared, &moved, sizes[k] * 3 / 2, 0);
                JEXPECT_TRUE(status == JSTATUS_SUCCESS ||
                             (status == JSTATUS_MEMORY_ERROR && jtest_metadata_failed()));
                if (status != JSTATUS_SUCCESS)
                    JEXPECT_EQ(moved, was);
            }
            JEXPECT_OK(jshared_deallocate(shared, moved));
            /* Nulls, where it failed. */
            JEXPECT_OK(jshared_deallocate_many(shared, COUNT_OF(many), many));
            JEXPECT_OK(jshared_deallocate_many(shared, COUNT_OF(sizes), offsets));
            segment_expect_empty(segment);
        }
        JEXPECT_OK(jsegment_detach(fresh));
    }
    segment_expect_empty(segment);
    JEXPECT_EQ(segment_stats(segment).processes, 1);
    JEXPECT_OK(jsegment_destroy(segment));
}
