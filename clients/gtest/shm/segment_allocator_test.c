/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A segment behind the one interface of allocators: over one of its allocators, named in a
 * composition, below policies and adaptors, and as the place of a handle's workspace. */

#include "allocator_model.h"
#include "segment_tables.h"

#include "jalloc/borrow.h"
#include "jalloc/handle.h"
#include "jalloc/process.h"
#include "memory/compose/compose.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static jallocator_stats_t stats_of_allocator(jallocator_t *allocator) {
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(allocator, &stats));
    return stats;
}

/* ---- Over an allocator of a segment ---- */

JTEST(SegmentAllocator, KeepsBooksOfItsOwnAndTakesBackWhatItGaveOut) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 4 * MIB);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    jallocator_t *allocator = NULL;
    JEXPECT_STATUS(jallocator_create_shared(NULL, &allocator), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_shared(shared, NULL), JSTATUS_INVALID_POINTER);
    JASSERT_OK(jallocator_create_shared(shared, &allocator));
    JEXPECT_STREQ(jallocator_name(allocator), "segment");
    JEXPECT_EQ(jallocator_device(allocator), jdevice_host());
    JEXPECT_EQ(jallocator_threads(allocator), JALLOCATOR_THREADS_SAFE);
    void *pointer = NULL, *aligned = NULL;
    JASSERT_OK(jallocator_allocate(allocator, 1000, 0, NULL, &pointer));
    JEXPECT_EQ((uintptr_t)pointer % 64, 0);
    JASSERT_OK(jallocator_allocate(allocator, 1000, 1 << 16, NULL, &aligned));
    JEXPECT_EQ((uintptr_t)aligned % (1 << 16), 0);
    const joffset_t offset = jsegment_offset(segment, pointer);
    JEXPECT_EQ(shared_owner(shared, offset), jsegment_slot(segment)); /* a block like any other */
    const joffset_t direct = shared_take(shared, 1000);
    JEXPECT_STATUS(
        jallocator_deallocate(allocator, jsegment_pointer(segment, direct, 1000), 1000, NULL),
        JSTATUS_NOT_FOUND); /* not from here */
    JEXPECT_TRUE(shared_is_live(shared, direct));
    JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, 999, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_deallocate(allocator, (char *)pointer + 16, 984, NULL),
                   JSTATUS_NOT_FOUND);
    const jallocator_stats_t stats = stats_of_allocator(allocator);
    JEXPECT_EQ(stats.live_count, 2);
    JEXPECT_EQ(stats.in_use_bytes, 2000);
    JEXPECT_EQ(stats.reserved_bytes, segment_stats(segment).size_bytes);
    JEXPECT_EQ(stats.limit_bytes, 4 * MIB);
    JEXPECT_STATUS(jallocator_destroy(allocator), JSTATUS_BUSY);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 1000, NULL));
    JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, 1000, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_deallocate(allocator, aligned, 1000, NULL));
    JEXPECT_OK(jallocator_check(allocator));
    /* Nobody pulls the segment away from under it. */
    JEXPECT_STATUS(jshared_close(shared), JSTATUS_BUSY);
    JEXPECT_STATUS(jshared_destroy(shared), JSTATUS_BUSY);
    JEXPECT_STATUS(jsegment_detach(segment), JSTATUS_BUSY);
    JEXPECT_STATUS(jsegment_destroy(segment), JSTATUS_BUSY);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jshared_deallocate(shared, direct));
    segment_expect_empty(segment);
    JEXPECT_OK(jshared_close(shared));
    JEXPECT_OK(jsegment_destroy(segment));
}

static bool count_block(void *context, const jallocation_t *block) {
    *(size_t *)context += block->live ? block->size_bytes : 0;
    return true;
}

/* A segment that is attached twice, and an allocator of it with two objects over it in the first
 * attachment. */
typedef struct neighbours {
    jsegment_t *segment, *second;
    jshared_t *shared, *again; /* of the first attachment, of the second */
    jallocator_t *allocator, *beside;
} neighbours_t;

/* False: a failure has been noted. */
static bool neighbours_make(neighbours_t *n, place_t *place) {
    *n = (neighbours_t){.segment = place_create(place)};
    n->second = place_attach(place);
    if (n->segment == NULL || n->second == NULL)
        return false;

    n->shared = shared_make(n->segment, 1);
    JEXPECT_OK(jshared_open(n->second, 1, &n->again));
    JEXPECT_OK(jallocator_create_shared(n->shared, &n->allocator));
    JEXPECT_OK(jallocator_create_shared(n->shared, &n->beside));
    return n->again != NULL && n->allocator != NULL && n->beside != NULL;
}

static void neighbours_unmake(const neighbours_t *n) {
    JEXPECT_OK(jallocator_destroy(n->beside));
    JEXPECT_OK(jallocator_destroy(n->allocator));
    JEXPECT_OK(jsegment_detach(n->second));
    JEXPECT_OK(jsegment_destroy(n->segment));
}

/* A small block and an extent; of another process's attachment, and freed by another. */
static const size_t shared_sizes[] = {100, 50000};
JTEST(SegmentAllocator, BlocksOfOthersAreForeignAndWhatOthersFreedIsGone) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    neighbours_t n;
    JASSERT_TRUE(neighbours_make(&n, &place));
    for (size_t i = 0; i < COUNT_OF(shared_sizes); ++i) {
        const size_t bytes = shared_sizes[i];
        JSCOPED_TRACE("%zu", bytes);
        char *pointer = NULL;
        jallocation_t block = JALLOCATION_INIT;

        const joffset_t foreign = shared_take(n.again, bytes);
        JEXPECT_STATUS(jallocator_deallocate(n.allocator, jsegment_pointer(n.segment, foreign, 1),
                                             bytes, NULL),
                       JSTATUS_NOT_FOUND);
        JEXPECT_TRUE(shared_is_live(n.again, foreign));
        JEXPECT_OK(jshared_deallocate(n.again, foreign));

        JASSERT_OK(jallocator_allocate(n.allocator, bytes, 0, NULL, (void **)&pointer));
        JEXPECT_STATUS(jallocator_deallocate(n.beside, pointer, bytes, NULL), JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(jallocator_deallocate(n.allocator, pointer, bytes + 1, NULL),
                       JSTATUS_INVALID_SIZE);
        JEXPECT_OK(jallocator_find(n.allocator, pointer + bytes - 1, &block));
        JEXPECT_EQ(block.pointer, (void *)pointer);
        JEXPECT_EQ(block.size_bytes, bytes);
        JEXPECT_GE(block.usable_bytes, bytes);
        JEXPECT_STATUS(jallocator_find(n.beside, pointer, &block), JSTATUS_NOT_FOUND);
        size_t shown = 0;
        JEXPECT_OK(jallocator_visit(n.allocator, count_block, &shown));
        JEXPECT_EQ(shown, bytes);

        JEXPECT_OK(jshared_deallocate(n.again, jsegment_offset(n.segment, pointer)));
        JEXPECT_STATUS(jallocator_find(n.allocator, pointer, &block), JSTATUS_NOT_FOUND);
        JEXPECT_EQ(stats_of_allocator(n.allocator).live_count, 1); /* nobody has come upon it */
        JEXPECT_STATUS(jallocator_deallocate(n.allocator, pointer, bytes, NULL), JSTATUS_NOT_FOUND);
        JEXPECT_EQ(stats_of_allocator(n.allocator).live_count, 0);
        JEXPECT_EQ(stats_of_allocator(n.allocator).in_use_bytes, 0);
        JEXPECT_EQ(stats_of_allocator(n.allocator).peak_in_use_bytes, bytes);
    }
    neighbours_unmake(&n);
}

/* The heap hands out again what another attachment has freed: the books take it for one block. */
JTEST(SegmentAllocator, WhatOthersFreedIsHandedOutAgain) {
    enum { MOST = 4000 };
    static void *taken[MOST];
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    neighbours_t n;
    JASSERT_TRUE(neighbours_make(&n, &place));
    for (size_t i = 0; i < COUNT_OF(shared_sizes); ++i) {
        void *freed = NULL;
        size_t count = 0;
        bool came_again = false;
        JASSERT_OK(jallocator_allocate(n.allocator, shared_sizes[i], 0, NULL, &freed));
        JASSERT_OK(jshared_deallocate(n.again, jsegment_offset(n.segment, freed)));
        while (!came_again && count < MOST &&
               jallocator_allocate(n.allocator, shared_sizes[i], 0, NULL, &taken[count]) ==
                   JSTATUS_SUCCESS)
            came_again = taken[count++] == freed;
        JEXPECT_TRUE(came_again);
        JEXPECT_EQ(stats_of_allocator(n.allocator).live_count, count);
        JEXPECT_EQ(stats_of_allocator(n.allocator).in_use_bytes, count * shared_sizes[i]);
        while (count > 0)
            JEXPECT_OK(jallocator_deallocate(n.allocator, taken[--count], shared_sizes[i], NULL));
        JEXPECT_EQ(stats_of_allocator(n.allocator).in_use_bytes, 0);
    }
    JEXPECT_OK(jsegment_verify(n.segment));
    neighbours_unmake(&n);
}

/* Whoever frees a block behind the allocator's back, and whoever is given its memory next: */
static const struct {
    const char *label;
    bool others_free, others_take, beside_takes; /* "others": another attachment */
} successions[] = {
    {"both by the attachment itself", false, false, false},
    {"freed by another attachment", true, false, false},
    {"freed and taken by another attachment", true, true, false},
    {"taken by an allocator beside", false, false, true},
};

/* ... a second free does not take it from its new owner, who is not shown as the allocator's. */
JTEST(SegmentAllocator, AStaleBlockIsNotTheNextOwners) {
    enum { MOST = 4000 };
    static joffset_t taken[MOST];
    for (size_t s = 0; s < COUNT_OF(successions); ++s)
        for (size_t i = 0; i < COUNT_OF(shared_sizes); ++i) {
            JSCOPED_TRACE("%s, %zu bytes", successions[s].label, shared_sizes[i]);
            const size_t bytes = shared_sizes[i];
            PLACE(place, JSEGMENT_MEMFD, MIB, 0);
            neighbours_t n;
            JASSERT_TRUE(neighbours_make(&n, &place));
            void *pointer = NULL;
            JASSERT_OK(jallocator_allocate(n.allocator, bytes, 0, NULL, &pointer));
            const joffset_t offset = jsegment_offset(n.segment, pointer);
            JEXPECT_OK(jshared_deallocate(successions[s].others_free ? n.again : n.shared, offset));

            size_t count = 0;
            bool came_again = false;
            jshared_t *taker = successions[s].others_take ? n.again : n.shared;
            while (!came_again && count < MOST) {
                void *block = NULL;
                if (successions[s].beside_takes
                        ? jallocator_allocate(n.beside, bytes, 0, NULL, &block) != JSTATUS_SUCCESS
                        : jshared_allocate(taker, bytes, 64, &taken[count]) != JSTATUS_SUCCESS)
                    break;
                if (block != NULL)
                    taken[count] = jsegment_offset(n.segment, block);
                came_again = taken[count++] == offset;
            }
            /* A slab stays its owner's, and its blocks too. */
            JEXPECT_EQ(came_again, !(successions[s].others_take && i == 0));
            jallocation_t shown = JALLOCATION_INIT;
            JEXPECT_STATUS(jallocator_find(n.allocator, pointer, &shown), JSTATUS_NOT_FOUND);
            JEXPECT_STATUS(jallocator_deallocate(n.allocator, pointer, bytes, NULL),
                           JSTATUS_NOT_FOUND);
            JEXPECT_EQ(shared_is_live(taker, offset), came_again);
            JEXPECT_EQ(stats_of_allocator(n.allocator).live_count, 0);
            JEXPECT_EQ(stats_of_allocator(n.allocator).in_use_bytes, 0);
            while (count-- > 0)
                if (successions[s].beside_takes)
                    JEXPECT_OK(jallocator_deallocate(
                        n.beside, jsegment_pointer(n.segment, taken[count], 1), bytes, NULL));
                else
                    JEXPECT_OK(jshared_deallocate(taker, taken[count]));
            JEXPECT_OK(jsegment_verify(n.segment));
            neighbours_unmake(&n);
        }
}

/* Several objects over one allocator, of which the first has the shortest way to its blocks: they
 * come and go, and others free behind their backs. */
enum { OVER = 3, DIRECTLY = OVER, CROWD_BLOCKS = 600 };
typedef struct crowd_block {
    char *pointer;
    size_t bytes;
    int of; /* an allocator, or DIRECTLY */
} crowd_block_t;
typedef struct crowd {
    jsegment_t *segment;
    jshared_t *shared, *again; /* of the segment, of another attachment */
    jallocator_t *over[OVER];
    size_t counts[OVER + 1], bytes[OVER + 1];
    crowd_block_t blocks[CROWD_BLOCKS];
    size_t count;
} crowd_t;

static void crowd_take(crowd_t *crowd) {
    crowd_block_t *block = &crowd->blocks[crowd->count];
    *block =
        (crowd_block_t){NULL, (size_t)jtest_random_between(1, 1 << jtest_random_between(3, 15)),
                        (int)jtest_random_between(0, DIRECTLY)};
    if (block->of == DIRECTLY) {
        block->pointer =
            jsegment_pointer(crowd->segment, shared_take(crowd->shared, block->bytes), 1);
    } else {
        if (crowd->over[block->of] == NULL)
            JEXPECT_OK(jallocator_create_shared(crowd->shared, &crowd->over[block->of]));
        JEXPECT_OK(jallocator_allocate(crowd->over[block->of], block->bytes, 0, NULL,
                                       (void **)&block->pointer));
    }
    memset(block->pointer, block->of, block->bytes);
    ++crowd->counts[block->of];
    crowd->bytes[block->of] += block->bytes;
    ++crowd->count;
}

static void crowd_give(crowd_t *crowd, size_t index) {
    const crowd_block_t block = crowd->blocks[index];
    const joffset_t offset = jsegment_offset(crowd->segment, block.pointer);
    JEXPECT_EQ(block.pointer[0], block.of);
    JEXPECT_EQ(block.pointer[block.bytes - 1], block.of);
    for (int i = 0; i < OVER; ++i)
        if (i != block.of && crowd->over[i] != NULL)
            JEXPECT_STATUS(jallocator_deallocate(crowd->over[i], block.pointer, block.bytes, NULL),
                           JSTATUS_NOT_FOUND);

    const bool behind = block.of == DIRECTLY || jtest_random_between(0, 3) == 0;
    if (behind)
        JEXPECT_OK(jshared_deallocate(jtest_random_bool() ? crowd->shared : crowd->again, offset));
    if (block.of != DIRECTLY)
        JEXPECT_STATUS(
            jallocator_deallocate(crowd->over[block.of], block.pointer, block.bytes, NULL),
            behind ? JSTATUS_NOT_FOUND : JSTATUS_SUCCESS);

    --crowd->counts[block.of];
    crowd->bytes[block.of] -= block.bytes;
    crowd->blocks[index] = crowd->blocks[--crowd->count];
}

static void crowd_check(crowd_t *crowd) {
    for (int i = 0; i < OVER; ++i)
        if (crowd->over[i] != NULL) {
            const jallocator_stats_t stats = stats_of_allocator(crowd->over[i]);
            JEXPECT_EQ(stats.live_count, crowd->counts[i]);
            JEXPECT_EQ(stats.in_use_bytes, crowd->bytes[i]);
        }
}

/* One that has no blocks, or is busy. */
static void crowd_end(crowd_t *crowd, int i) {
    if (crowd->over[i] == NULL)
        return;
    JEXPECT_STATUS(jallocator_destroy(crowd->over[i]),
                   crowd->counts[i] != 0 ? JSTATUS_BUSY : JSTATUS_SUCCESS);
    if (crowd->counts[i] == 0)
        crowd->over[i] = NULL;
}

JTEST(SegmentAllocator, SeveralOverOneComeAndGo) {
    PLACE(place, JSEGMENT_MEMFD, 4 * MIB, 0);
    static crowd_t crowd;
    crowd = (crowd_t){.segment = place_create(&place)};
    jsegment_t *second = place_attach(&place);
    JASSERT_TRUE(crowd.segment != NULL && second != NULL);
    crowd.shared = shared_make(crowd.segment, 1);
    JASSERT_OK(jshared_open(second, 1, &crowd.again));

    for (int64_t i = jtest_iterations(200); i > 0 && !jtest_has_failure(); --i) {
        const size_t most = (size_t)jtest_random_between(1, CROWD_BLOCKS);
        while (crowd.count < most)
            crowd_take(&crowd);
        crowd_check(&crowd);
        /* Nearly always all blocks of some: who has none left goes. */
        const int of = (int)jtest_random_between(0, OVER);
        for (size_t k = crowd.count; k-- > 0;)
            if (k < crowd.count && (crowd.blocks[k].of == of || jtest_random_bool()))
                crowd_give(&crowd, k);
        crowd_check(&crowd);
        crowd_end(&crowd, (int)jtest_random_between(0, OVER - 1));
        JEXPECT_OK(jsegment_verify(crowd.segment));
    }

    while (crowd.count > 0)
        crowd_give(&crowd, crowd.count - 1);
    for (int i = 0; i < OVER; ++i)
        crowd_end(&crowd, i);
    JEXPECT_OK(jsegment_detach(second));
    segment_expect_empty(crowd.segment);
    JEXPECT_OK(jsegment_destroy(crowd.segment));
}

static const backend_row_t backends[] = {ALL_BACKENDS};
JTEST_P_NAMED(SegmentAllocator, RandomOperationsKeepTheModelsBooks, backend_row_t, backends,
              backend_label) {
    PLACE(place, param->backend, 8 * MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jallocator_t *allocator = NULL;
    JASSERT_OK(jallocator_create_shared(shared_make(segment, 1), &allocator));
    static model_t model;
    model_init(&model, allocator);
    for (int64_t i = jtest_iterations(4000); i > 0 && !jtest_has_failure(); --i) {
        model_step(&model);
        if (i % 101 == 0) {
            model_compare(&model);
            segment_books(segment);
        }
    }
    model_finish(&model);
    JEXPECT_OK(jallocator_destroy(allocator));
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentAllocator, RunsOutWhereTheSegmentDoes) {
    PLACE(place, JSEGMENT_POSIX, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jallocator_t *allocator = NULL;
    JASSERT_OK(jallocator_create_shared(shared_make(segment, 1), &allocator));
    void *pointer = &place;
    JEXPECT_STATUS(jallocator_allocate(allocator, 2 * MIB, 0, NULL, &pointer),
                   JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(pointer);
    JEXPECT_STATUS(jallocator_allocate(allocator, SIZE_MAX - 100, 0, NULL, &pointer),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(stats_of_allocator(allocator).live_count, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentAllocator, AStackTakesTheLastBlockBackAtOnce) {
    PLACE(place, JSEGMENT_PRIVATE, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *stack = shared_make_kind(segment, 1, JSHARED_STACK, 100000);
    jallocator_t *allocator = NULL;
    JASSERT_OK(jallocator_create_shared(stack, &allocator));
    void *first, *second;
    uint64_t begin, between, end;
    JEXPECT_OK(jshared_get_mark(stack, &begin));
    JASSERT_OK(jallocator_allocate(allocator, 1000, 0, NULL, &first));
    JEXPECT_OK(jshared_get_mark(stack, &between));
    JASSERT_OK(jallocator_allocate(allocator, 2000, 0, NULL, &second));
    JEXPECT_OK(jallocator_deallocate(allocator, second, 2000, NULL));
    JEXPECT_OK(jshared_get_mark(stack, &end));
    JEXPECT_TRUE(end >= between && end < between + 64);
    JASSERT_OK(jallocator_allocate(allocator, 2000, 0, NULL, &second));
    /* Below another one: only the books change. */
    JEXPECT_OK(jallocator_deallocate(allocator, first, 1000, NULL));
    JEXPECT_OK(jshared_get_mark(stack, &end));
    JEXPECT_GE(end, between + 2000);
    JEXPECT_OK(jallocator_deallocate(allocator, second, 2000, NULL));
    JEXPECT_EQ(stats_of_allocator(allocator).live_count, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jshared_rewind(stack, begin));
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentAllocator, EachFailedAllocationOfBookkeepingLosesNothing) {
    PLACE(place, JSEGMENT_PRIVATE, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    JFOR_EACH_FAILURE(i) {
        jallocator_t *allocator = NULL;
        const jstatus_t status = jallocator_create_shared(shared, &allocator);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(allocator != NULL, status == JSTATUS_SUCCESS);
        if (allocator != NULL)
            JEXPECT_OK(jallocator_destroy(allocator));
    }
    jallocator_t *allocator = NULL;
    JASSERT_OK(jallocator_create_shared(shared, &allocator));
    for (uint64_t n = 1; n < 8; ++n) {
        /* What the first allocation needs is kept afterwards: one at a time. */
        void *pointer = NULL;
        jtest_fail_metadata_after(n);
        const jstatus_t status = jallocator_allocate(allocator, 500 * (size_t)n, 0, NULL, &pointer);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        jtest_fail_metadata_after(0);
        if (pointer != NULL)
            JEXPECT_OK(jallocator_deallocate(allocator, pointer, 500 * (size_t)n, NULL));
        segment_expect_empty(segment);
    }
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jshared_close(shared)); /* nothing stands over it: each failed one had let go */
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- In a composition ---- */

JTEST(SegmentAllocator, CompositionsOverASegmentOfTheirOwn) {
    static const char *const compositions[] = {
        "segment(size=4M)",
        "segment(size=1M,max=16M)",
        "segment(size=4M,backend=private)+bfc",
        "segment(size=4M,max=32M)+general",
        "segment(size=16M)+pool+track",
        "segment(size=4M,max=16M)+guard",
        "segment(size=8M)+limit(limit=1M)+statistics+lock",
    };
    for (size_t i = 0; i < COUNT_OF(compositions); ++i) {
        JSCOPED_TRACE("%s", compositions[i]);
        jallocator_t *allocator = NULL;
        JASSERT_OK(jallocator_compose(NULL, compositions[i], &allocator));
        static model_t model;
        model_init(&model, allocator);
        model.largest_bytes = 8192;
        for (int64_t k = jtest_iterations(500); k > 0 && !jtest_has_failure(); --k)
            model_step(&model);
        model_finish(&model);
        JEXPECT_OK(jallocator_destroy(allocator));
    }
}

JTEST(SegmentAllocator, KeysAreChecked) {
    static const char *const compositions[] = {"segment(size=x)",       "segment(backend=array)",
                                               "segment(backend=heap)", "segment(colour=red)",
                                               "malloc+segment",        "segment(size=1M"};
    jallocator_t *allocator = NULL;
    for (size_t i = 0; i < COUNT_OF(compositions); ++i) {
        JSCOPED_TRACE("%s", compositions[i]);
        JEXPECT_STATUS(jallocator_compose(NULL, compositions[i], &allocator),
                       JSTATUS_INVALID_CONFIGURATION);
        JEXPECT_NULL(allocator);
    }
    JEXPECT_STATUS(jallocator_compose(NULL, "segment(size=1K)", &allocator), JSTATUS_INVALID_SIZE);
    JEXPECT_NULL(allocator);
}

static const backend_row_t named_backends[] = {{"posix", JSEGMENT_POSIX}, {"file", JSEGMENT_FILE}};
JTEST_P_NAMED(SegmentAllocator, ANamedOneIsSeenByOthersAndGoesWithItsAllocator, backend_row_t,
              named_backends, backend_label) {
    PLACE(place, param->backend, 2 * MIB, 0);
    char composition[256];
    snprintf(composition, sizeof composition, "segment(size=2M,max=2M,backend=%s,path=%s)+track",
             param->label, place.name);
    jallocator_t *allocator = NULL, *again = NULL;
    JASSERT_OK(jallocator_compose(NULL, composition, &allocator));
    JEXPECT_STATUS(jallocator_compose(NULL, composition, &again), JSTATUS_EXISTS);
    char *pointer = NULL;
    JASSERT_OK(jallocator_allocate(allocator, 100, 0, NULL, (void **)&pointer));
    strcpy(pointer, "in the segment");
    jsegment_t *other = place_attach(&place);
    JASSERT_NOT_NULL(other);
    const jsegment_stats_t stats = segment_books(other);
    JEXPECT_EQ(stats.size_bytes, 2 * MIB);
    JEXPECT_EQ(stats.allocators, 1);
    JEXPECT_GE(stats.owned_bytes, 100);
    JEXPECT_OK(jsegment_detach(other));
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
    struct stat file;
    JEXPECT_NE(stat(place.path, &file), 0);
}

JTEST(SegmentAllocator, EachFailedAllocationOfAComposition) {
    JFOR_EACH_FAILURE(i) {
        jallocator_t *allocator = NULL;
        const jstatus_t status =
            jallocator_compose(NULL, "segment(size=1M,max=2M)+bfc", &allocator);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(allocator != NULL, status == JSTATUS_SUCCESS);
        if (allocator != NULL)
            JEXPECT_OK(jallocator_destroy(allocator));
    }
}

/* ---- Where it is used ---- */

JTEST(SegmentAllocator, TheProcesssOwnByTheEnvironment) {
    jtest_setenv("JALLOC_ALLOCATOR", "segment(size=1M,max=8M)+track");
    jallocator_t *allocator = NULL;
    void *pointer = NULL;
    JASSERT_OK(jprocess_get_allocator(NULL, &allocator));
    JASSERT_OK(jallocator_allocate(allocator, 2 * MIB, 0, NULL, &pointer));
    memset(pointer, 1, 2 * MIB);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 2 * MIB, NULL));
    JEXPECT_OK(ji_process_reset());
}

JTEST(SegmentAllocator, AHandlesWorkspaceIsInTheSegment) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 8 * MIB);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    jallocator_t *allocator = NULL;
    JASSERT_OK(jallocator_create_shared(shared, &allocator));
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    options.allocator = allocator;
    JASSERT_OK(jhandle_create(&options, &handle));
    for (size_t bytes = 1000; bytes <= 2 * MIB; bytes *= 5) {
        jborrow_t borrow;
        JASSERT_OK(jborrow_begin(&borrow, handle, "test", 1, &bytes));
        JEXPECT_NE(jsegment_offset(segment, borrow.ptr[0]), JOFFSET_NULL);
        JEXPECT_NE(jsegment_offset(segment, (char *)borrow.ptr[0] + bytes - 1), JOFFSET_NULL);
        memset(borrow.ptr[0], 1, bytes);
        JEXPECT_GE(segment_stats(segment).owned_bytes, bytes);
        JEXPECT_OK(jborrow_end(&borrow));
        segment_books(segment);
    }
    JEXPECT_STATUS(jallocator_destroy(allocator), JSTATUS_BUSY);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jallocator_destroy(allocator));
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Over one that is held, or a stack, or for one thread ---- */

JTEST(SegmentAllocator, WhatTheSegmentCannotSayNowIsLeftOut) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    place.options.threads = JALLOCATOR_THREADS_NONE;
    place.options.timeout_ms = 20;
    jsegment_t *segment = place_create(&place), *second = place_attach(&place);
    JASSERT_TRUE(segment != NULL && second != NULL);
    jallocator_t *allocator = NULL, *over_stack = NULL;
    jshared_t *found = NULL, *shared = shared_make(segment, 1);
    JASSERT_OK(jallocator_create_shared(shared, &allocator));
    JASSERT_OK(
        jallocator_create_shared(shared_make_kind(segment, 2, JSHARED_STACK, 50000), &over_stack));
    JEXPECT_EQ(jallocator_threads(allocator), JALLOCATOR_THREADS_NONE);
    JEXPECT_OK(jshared_find(1, &found));
    JEXPECT_EQ(found, shared);
    void *pointer = NULL, *top = NULL;
    JASSERT_OK(jallocator_allocate(allocator, 1000, 0, NULL, &pointer));
    JASSERT_OK(jallocator_allocate(over_stack, 1000, 0, NULL, &top));
    JEXPECT_GE(jallocator_usable_size(allocator, pointer, 1000), 1000);
    JEXPECT_EQ(jallocator_usable_size(over_stack, top, 1000), 1000);

    JEXPECT_OK(jallocator_trim(allocator, 1)); /* a segment keeps little: all of it */
    hold_lock(second);
    JEXPECT_STATUS(jallocator_trim(allocator, 0), JSTATUS_BUSY);
    const jallocator_stats_t stats = stats_of_allocator(allocator);
    JEXPECT_EQ(stats.in_use_bytes, 1000);
    JEXPECT_EQ(stats.reserved_bytes, 0);
    drop_lock(second);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(stats_of_allocator(allocator).reserved_bytes, MIB);

    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 1000, NULL));
    JEXPECT_OK(jallocator_deallocate(over_stack, top, 1000, NULL));
    JEXPECT_OK(jallocator_destroy(over_stack));
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jsegment_detach(second));
    JEXPECT_OK(jsegment_destroy(segment));
}
