/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Borrowing: sizes and pointers, nesting, and every way of doing it wrong. What is said here holds
 * for the function and for the macro, which has a path of its own where nothing unusual happens; so
 * most is tried through both. */

#include "handle_helper.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>

/* borrow_cxx.cpp */
jstatus_t cxx_borrow_face(jhandle_t *handle, size_t *live_inside, void **second);
jstatus_t cxx_borrow_refused(jhandle_t *handle, bool *ok);
jstatus_t cxx_throw_through_a_borrow(jhandle_t *handle);
jstatus_t cxx_block_form(jhandle_t *handle, unsigned *rounds);
jstatus_t cxx_negative_size(jhandle_t *handle);
jstatus_t cxx_optimal_size(jhandle_t *handle);

/* ---- Sizes and pointers ---- */

JTEST(Borrow, BuffersAreRoundedAlignedAndApart) {
    jhandle_t *handle = make_handle(0);
    for (int64_t i = jtest_iterations(500); i > 0; --i) {
        size_t sizes[JBORROW_MAX_BUFFERS], total = 0;
        const size_t count = (size_t)jtest_random_between(0, JBORROW_MAX_BUFFERS);
        for (size_t k = 0; k < count; ++k) {
            sizes[k] = jtest_random_between(0, 3) ? (size_t)jtest_random_between(0, 2000) : 0;
            total += (sizes[k] + 63) / 64 * 64;
        }
        jborrow_t borrow;
        JASSERT_OK(jborrow_begin(&borrow, handle, "random", count, sizes));
        JEXPECT_TRUE(borrow.ok);
        JEXPECT_EQ(borrow.rung, 0);
        JEXPECT_TRUE(borrow.way == NULL);
        JEXPECT_EQ(stats_of(handle).in_use_bytes, total);
        uintptr_t end = 0;
        for (size_t k = 0; k < JBORROW_MAX_BUFFERS; ++k) {
            if (k >= count || sizes[k] == 0) {
                JEXPECT_NULL(borrow.ptr[k]);
                continue;
            }
            JEXPECT_EQ((uintptr_t)borrow.ptr[k] % 64, 0);
            JEXPECT_GE((uintptr_t)borrow.ptr[k], end);
            end = (uintptr_t)borrow.ptr[k] + sizes[k];
            /* The allocator sees what is written outside. */
            memset(borrow.ptr[k], (int)k, sizes[k]);
        }
        JEXPECT_OK(jborrow_end(&borrow));
        JEXPECT_EQ(stats_of(handle).in_use_bytes, 0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Borrow, ZeroSizesAreNullAndNeedNothing) {
    jhandle_t *handle = make_handle(0);
    jborrow_t borrow;
    JEXPECT_OK(jborrow_begin(&borrow, handle, "none", 0, NULL));
    JEXPECT_TRUE(borrow.ok);
    JEXPECT_OK(jborrow_end(&borrow));
    JALLOC_WITH_BORROW(ws, handle, 0, 0, 0) {
        JEXPECT_TRUE(ws.ok);
        for (int i = 0; i < 3; ++i)
            JEXPECT_NULL(ws.ptr[i]);
        JEXPECT_EQ(stats_of(handle).live_borrow_count, 1);
    }
    JALLOC_WITH_BORROW(ws, handle, 0, 1, 0, 1) {
        JEXPECT_NULL(ws.ptr[0]);
        JEXPECT_NOT_NULL(ws.ptr[1]);
        JEXPECT_NULL(ws.ptr[2]);
        JEXPECT_EQ((char *)ws.ptr[3] - (char *)ws.ptr[1], 64);
    }
    JEXPECT_EQ(jtest_allocation_count(), 1);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Borrow, EightBuffersAndNoMore) {
    jhandle_t *handle = make_handle(0);
    const size_t sizes[JBORROW_MAX_BUFFERS + 1] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    jborrow_t borrow;
    JEXPECT_OK(jborrow_begin(&borrow, handle, "eight", 8, sizes));
    JEXPECT_EQ((char *)borrow.ptr[7] - (char *)borrow.ptr[0], 7 * 64);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_STATUS(jborrow_begin(&borrow, handle, "nine", 9, sizes), JSTATUS_INVALID_VALUE);
    JEXPECT_FALSE(borrow.ok);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "nine");
    JEXPECT_STATUS(jborrow_begin(&borrow, handle, "very many", SIZE_MAX, sizes),
                   JSTATUS_INVALID_VALUE);
    JALLOC_BORROW(ws, handle, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    JEXPECT_STATUS(ws.status, JSTATUS_INVALID_VALUE);
    JEXPECT_FALSE(ws.ok);
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Sums and roundings that wrap around, alone and together, in a mode that grows and in one that
 * does not. */
JTEST(Borrow, OverflowingSizesAreInvalidSize) {
    static const size_t sizes[][3] = {
        {SIZE_MAX, 0, 0},
        {SIZE_MAX - 62, 0, 0},
        {SIZE_MAX - 63, 64, 0},
        {SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1, 0},
        {SIZE_MAX / 2, SIZE_MAX / 2, 64},
        {64, SIZE_MAX, 64},
        {SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1, 64},
        {SIZE_MAX, SIZE_MAX, SIZE_MAX},
        {64, 64, SIZE_MAX - 100},
    };
    for (int fixed = 0; fixed < 2; ++fixed) {
        jhandle_t *handle = make_handle(fixed ? 4096 : 0);
        JEXPECT_OK(touch(handle, 1000));
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
            jborrow_t borrow;
            JSCOPED_TRACE("case %zu, fixed %d", i, fixed);
            JEXPECT_STATUS(jborrow_begin(&borrow, handle, "huge", 3, sizes[i]),
                           JSTATUS_INVALID_SIZE);
            JEXPECT_FALSE(borrow.ok);
            JALLOC_BORROW(ws, handle, sizes[i][0], sizes[i][1], sizes[i][2]);
            JEXPECT_STATUS(ws.status, JSTATUS_INVALID_SIZE);
            JEXPECT_FALSE(ws.ok);
            JEXPECT_NULL(ws.ptr[0]);
            JEXPECT_NULL(ws.ptr[2]);
        }
        JEXPECT_EQ(stats_of(handle).live_borrow_count, 0);
        JEXPECT_OK(touch(handle, 1024));
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

/* Sizes that no memory has but that do not overflow: an error, and nothing changes. */
JTEST(Borrow, ImpossibleSizesAreErrors) {
    jhandle_t *handle = make_handle(0);
    for (unsigned shift = 45; shift < 64; ++shift) {
        JALLOC_BORROW(ws, handle, (size_t)1 << shift);
        JEXPECT_FALSE(ws.ok);
        JEXPECT_TRUE(ws.status == JSTATUS_MEMORY_ERROR || ws.status == JSTATUS_INVALID_SIZE);
    }
    JEXPECT_EQ(capacity_of(handle), 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Scopes ---- */

static jstatus_t routine_that_returns_early(jhandle_t *handle, int way) {
    JALLOC_BORROW(ws, handle, 100, 200);
    if (!ws.ok)
        return ws.status;
    if (way == 0)
        return JSTATUS_INVALID_VALUE;
    for (int i = 0; i < 3; ++i) {
        JALLOC_BORROW(inner, handle, 300);
        JEXPECT_EQ(stats_of(handle).live_borrow_count, 2);
        if (i == way)
            break;
        if (way == 4)
            continue;
        if (way == 5)
            goto out;
    }
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 1);
out:
    return ws.status;
}
/* An end that is computed past the last address would be a low one. */
JTEST(Borrow, AWorkspaceAtTheEndOfAllAddressesLendsWhatItHas) {
    enum { BYTES = 4032 };
    const size_t huge = (size_t)1 << 58;
    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(jhandle_set_workspace(handle, (void *)(UINTPTR_MAX - BYTES - 63), BYTES));
    for (int round = 0; round < 2; ++round) { /* below the high watermark, too */
        {
            JALLOC_BORROW(ws, handle, BYTES);
            JEXPECT_TRUE(ws.ok);
        }
        {
            JALLOC_BORROW(ws, handle, huge);
            JEXPECT_STATUS(ws.status, JSTATUS_MEMORY_ERROR);
        }
        {
            JALLOC_BORROW(ws, handle, 64, huge, huge, huge, huge, huge, huge, huge);
            JEXPECT_STATUS(ws.status, JSTATUS_MEMORY_ERROR);
        }
    }
    JEXPECT_EQ(stats_of(handle).high_watermark_bytes, BYTES);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Borrow, EndsHoweverItsScopeIsLeft) {
    jhandle_t *handle = make_handle(0);
    for (int way = 0; way < 6; ++way) {
        JEXPECT_STATUS(routine_that_returns_early(handle, way),
                       way == 0 ? JSTATUS_INVALID_VALUE : JSTATUS_SUCCESS);
        JEXPECT_EQ(stats_of(handle).live_borrow_count, 0);
        JEXPECT_EQ(stats_of(handle).in_use_bytes, 0);
    }
    JEXPECT_EQ(stats_of(handle).misuse_count, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Borrow, BlockFormRunsOnceAndEnds) {
    jhandle_t *handle = make_handle(0);
    unsigned rounds = 0;
    JALLOC_WITH_BORROW(ws, handle, 100) {
        ++rounds;
        JEXPECT_TRUE(ws.ok);
        JALLOC_WITH_BORROW(inner, handle, 100) {
            ++rounds;
            JEXPECT_EQ(stats_of(handle).live_borrow_count, 2);
        }
    }
    JEXPECT_EQ(rounds, 2);
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 0);
    JALLOC_WITH_BORROW(ws, handle, 100) {
        ++rounds;
        break;
    }
    JALLOC_WITH_BORROW(ws, handle, 100) {
        ++rounds;
        continue;
    }
    JALLOC_WITH_BORROW(ws, NULL, 100) {
        ++rounds; /* runs, so that the status can be seen */
        JEXPECT_FALSE(ws.ok);
    }
    JEXPECT_EQ(rounds, 5);
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(BorrowCxx, DestructorEndsTheBorrow) {
    jhandle_t *handle = make_handle(0);
    size_t live = 0;
    void *second = NULL;
    unsigned rounds = 0;
    bool ok = true;
    JEXPECT_OK(cxx_borrow_face(handle, &live, &second));
    JEXPECT_EQ(live, 2);
    JEXPECT_NOT_NULL(second);
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 0);
    JEXPECT_STATUS(cxx_throw_through_a_borrow(handle), JSTATUS_IO_ERROR);
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 0);
    JEXPECT_OK(cxx_block_form(handle, &rounds));
    JEXPECT_EQ(rounds, 1);
    JEXPECT_OK(jhandle_set_workspace_size(handle, 64));
    JEXPECT_STATUS(cxx_borrow_refused(handle, &ok), JSTATUS_MEMORY_ERROR);
    JEXPECT_STATUS(cxx_negative_size(handle), JSTATUS_INVALID_SIZE);
    JEXPECT_FALSE(ok);
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_STATUS(cxx_optimal_size(handle), JSTATUS_SIZE_INCREASED);
    size_t bytes = 0;
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_EQ(bytes, 128 + 64);
    JEXPECT_EQ(stats_of(handle).misuse_count, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Nesting ---- */

static void nest(jhandle_t *handle, unsigned depth, unsigned most) {
    JALLOC_BORROW(ws, handle, 64);
    if (depth > most) {
        JEXPECT_STATUS(ws.status, JSTATUS_INVALID_VALUE);
        JEXPECT_FALSE(ws.ok);
        return;
    }
    JASSERT_TRUE(ws.ok);
    *(unsigned *)ws.ptr[0] = depth;
    JEXPECT_EQ(stats_of(handle).live_borrow_count, depth);
    nest(handle, depth + 1, most);
    JEXPECT_EQ(*(unsigned *)ws.ptr[0], depth);
}
JTEST(Borrow, NestsThirtyTwoDeepAndNoDeeper) {
    for (int grows = 0; grows < 2; ++grows) {
        jhandle_t *handle = make_handle(grows ? 0 : 64 * 40);
        nest(handle, 1, JBORROW_MAX_DEPTH);
        JEXPECT_EQ(stats_of(handle).live_borrow_count, 0);
        JEXPECT_EQ(stats_of(handle).high_watermark_bytes, JBORROW_MAX_DEPTH * 64);
        /* A high watermark that the macro's short path stays below. */
        JEXPECT_OK(touch(handle, 64 * 40));
        nest(handle, 1, JBORROW_MAX_DEPTH);
        JEXPECT_EQ(stats_of(handle).misuse_count, 0);
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

JTEST(Borrow, LastInFirstOutReusesTheSameMemory) {
    jhandle_t *handle = make_handle(4096);
    jborrow_t a, b, c;
    JEXPECT_OK(borrow_one(&a, handle, 1000));
    JEXPECT_OK(borrow_one(&b, handle, 1000));
    void *place = b.ptr[0];
    JEXPECT_EQ((char *)place - (char *)a.ptr[0], 1024);
    JEXPECT_OK(jborrow_end(&b));
    JEXPECT_OK(borrow_one(&c, handle, 500));
    JEXPECT_EQ(c.ptr[0], place);
    JEXPECT_OK(jborrow_end(&c));
    JEXPECT_OK(jborrow_end(&a));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Random nests against a model: depth, bytes in use, high watermark, and contents. */
JTEST(Borrow, RandomNestsKeepTheirContents) {
    jhandle_t *handle = make_handle(0);
    jborrow_t borrows[JBORROW_MAX_DEPTH];
    size_t sizes[JBORROW_MAX_DEPTH], depth = 0, in_use = 0, peak = 0, count = 0;
    for (int64_t i = jtest_iterations(4000); i > 0 && !jtest_has_failure(); --i) {
        if (depth < JBORROW_MAX_DEPTH && jtest_random_between(0, 99) < 52) {
            sizes[depth] = (size_t)jtest_random_between(0, 1 << jtest_random_between(0, 12));
            JASSERT_OK(borrow_one(&borrows[depth], handle, sizes[depth]));
            if (borrows[depth].ptr[0])
                memset(borrows[depth].ptr[0], (int)depth, sizes[depth]);
            in_use += (sizes[depth] + 63) / 64 * 64;
            ++depth;
            ++count;
        } else if (depth > 0) {
            --depth;
            const unsigned char *bytes = borrows[depth].ptr[0];
            for (size_t k = 0; k < sizes[depth]; ++k)
                if (bytes[k] != depth) {
                    JFAIL("byte %zu of borrow %zu is %d", k, depth, bytes[k]);
                    break;
                }
            JASSERT_OK(jborrow_end(&borrows[depth]));
            in_use -= (sizes[depth] + 63) / 64 * 64;
        }
        peak = in_use > peak ? in_use : peak;
        const jhandle_stats_t stats = stats_of(handle);
        JEXPECT_EQ(stats.live_borrow_count, depth);
        JEXPECT_EQ(stats.in_use_bytes, in_use);
        JEXPECT_EQ(stats.high_watermark_bytes, peak);
        JEXPECT_EQ(stats.borrow_count, count);
    }
    while (depth > 0)
        JEXPECT_OK(jborrow_end(&borrows[--depth]));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Misuse: reported, survived ---- */

JTEST(BorrowMisuse, OutOfOrderEndIsReportedAndTheMemoryReturnsLater) {
    jhandle_t *handle = make_handle(4096);
    jborrow_t a, b, c;
    const size_t bytes = 1000;
    JEXPECT_OK(jborrow_begin(&a, handle, "outermost", 1, &bytes));
    JEXPECT_OK(jborrow_begin(&b, handle, "middle", 1, &bytes));
    JEXPECT_OK(jborrow_begin(&c, handle, "innermost", 1, &bytes));
    JEXPECT_STATUS(jborrow_end(&b), JSTATUS_OUT_OF_ORDER);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "middle");
    JEXPECT_SUBSTR(jhandle_last_message(handle), "innermost");
    JEXPECT_EQ(stats_of(handle).misuse_count, 1);
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 2);
    JEXPECT_EQ(stats_of(handle).in_use_bytes, 3072);
    JEXPECT_STATUS(touch(handle, 1025), JSTATUS_MEMORY_ERROR); /* b's place is not free yet */
    JEXPECT_OK(touch(handle, 1024));
    JEXPECT_OK(jborrow_end(&c)); /* now both are */
    JEXPECT_EQ(stats_of(handle).in_use_bytes, 1024);
    JEXPECT_OK(touch(handle, 3072));
    JEXPECT_OK(jborrow_end(&a));
    JEXPECT_EQ(stats_of(handle).in_use_bytes, 0);
    JEXPECT_OK(touch(handle, 4096));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(BorrowMisuse, OutOfOrderAcrossBlocks) {
    jhandle_t *handle = make_handle(0);
    jborrow_t a, b, c;
    JEXPECT_OK(borrow_one(&a, handle, 1000));
    JEXPECT_OK(borrow_one(&b, handle, 2000)); /* in a further block */
    JEXPECT_OK(borrow_one(&c, handle, 3000)); /* and in another */
    JEXPECT_STATUS(jborrow_end(&a), JSTATUS_OUT_OF_ORDER);
    JEXPECT_STATUS(jborrow_end(&b), JSTATUS_OUT_OF_ORDER);
    memset(c.ptr[0], 1, 3000);
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 1);
    JEXPECT_OK(jborrow_end(&c));
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 0);
    JEXPECT_EQ(stats_of(handle).in_use_bytes, 0);
    JEXPECT_OK(touch(handle, 6000));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(BorrowMisuse, SecondEndIsNothingAndOfACopyNotFound) {
    jhandle_t *handle = make_handle(0);
    jborrow_t borrow, copy;
    JEXPECT_OK(borrow_one(&borrow, handle, 100));
    copy = borrow;
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_FALSE(borrow.ok);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_EQ(stats_of(handle).misuse_count, 0);
    JEXPECT_STATUS(jborrow_end(&copy), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(stats_of(handle).misuse_count, 1);
    JEXPECT_OK(borrow_one(&borrow, handle, 100)); /* the same place in the stack, another borrow */
    copy.ok = true;
    copy.handle_ = handle;
    JEXPECT_STATUS(jborrow_end(&copy), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 1);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(BorrowMisuse, GuardOfTheMacroMayBeEndedByHand) {
    jhandle_t *handle = make_handle(0);
    {
        JALLOC_BORROW(ws, handle, 100);
        JEXPECT_OK(jborrow_end(&ws));
        JEXPECT_FALSE(ws.ok);
        JEXPECT_EQ(stats_of(handle).live_borrow_count, 0);
    }
    JEXPECT_EQ(stats_of(handle).misuse_count, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The inner guard's scope ends after the outer borrow was ended by hand: the guard takes the slow
 * way. */
JTEST(BorrowMisuse, GuardsEndOutOfOrderToo) {
    jhandle_t *handle = make_handle(4096);
    {
        JALLOC_BORROW(outer, handle, 1000);
        {
            JALLOC_BORROW(inner, handle, 1000);
            JEXPECT_STATUS(jborrow_end(&outer), JSTATUS_OUT_OF_ORDER);
            JALLOC_BORROW(third, handle, 1000); /* while one below has ended */
            JEXPECT_TRUE(third.ok);
            JEXPECT_EQ((char *)third.ptr[0] - (char *)inner.ptr[0], 1024);
        }
        JEXPECT_EQ(stats_of(handle).in_use_bytes, 0);
    }
    JEXPECT_EQ(stats_of(handle).misuse_count, 1);
    JEXPECT_OK(touch(handle, 4096));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(BorrowMisuse, ChangesAreRefusedWhileABorrowIsLive) {
    static char memory[128] __attribute__((aligned(64)));
    jhandle_t *handle = make_handle(0);
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    jborrow_t borrow;
    const size_t bytes = 100;
    JEXPECT_OK(jborrow_begin(&borrow, handle, "the_holder", 1, &bytes));
    memset(borrow.ptr[0], 7, 100);
    JEXPECT_STATUS(jhandle_destroy(handle), JSTATUS_BUSY);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "the_holder");
    JEXPECT_STATUS(jhandle_set_workspace_size(handle, 4096), JSTATUS_BUSY);
    JEXPECT_STATUS(jhandle_set_workspace_size(handle, 0), JSTATUS_BUSY);
    JEXPECT_STATUS(jhandle_set_workspace(handle, memory, 128), JSTATUS_BUSY);
    JEXPECT_STATUS(jhandle_set_workspace(handle, NULL, 0), JSTATUS_BUSY);
    JEXPECT_STATUS(jhandle_set_stream(handle, stream), JSTATUS_BUSY);
    JEXPECT_STATUS(jhandle_trim(handle, 0), JSTATUS_BUSY);
    JEXPECT_STATUS(jhandle_start_size_query(handle), JSTATUS_BUSY);
    JEXPECT_EQ(stats_of(handle).misuse_count, 8);
    JEXPECT_EQ(mode_of(handle), JHANDLE_MODE_DEFAULT);
    JEXPECT_EQ(capacity_of(handle), 128);
    JEXPECT_EQ(((char *)borrow.ptr[0])[99], 7);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

static jmp_buf escape;
static void leave_by_longjmp(jhandle_t *handle) {
    JALLOC_BORROW(ws, handle, 1000);
    JEXPECT_TRUE(ws.ok);
    longjmp(escape, 1);
}
JTEST(BorrowMisuse, AbandonEndsWhatWasLostAndNamesIt) {
    jhandle_t *handle = make_handle(4096);
    JEXPECT_OK(jhandle_abandon_borrows(handle)); /* none */
    if (setjmp(escape) == 0)
        leave_by_longjmp(handle);
    jborrow_t kept;
    JEXPECT_OK(borrow_one(&kept, handle, 500));
    JEXPECT_STATUS(jhandle_destroy(handle), JSTATUS_BUSY);
    JEXPECT_STATUS(jhandle_abandon_borrows(handle), JSTATUS_LEAKED);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "leave_by_longjmp");
    JEXPECT_SUBSTR(jhandle_last_message(handle), "one");
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 0);
    JEXPECT_EQ(stats_of(handle).in_use_bytes, 0);
    JEXPECT_STATUS(jborrow_end(&kept), JSTATUS_NOT_FOUND); /* its end comes too late */
    JEXPECT_OK(jhandle_abandon_borrows(handle));
    JEXPECT_OK(touch(handle, 4096));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A guard whose borrow was abandoned ends when another borrow has its place in the stack: that one
 * must stay. */
JTEST(BorrowMisuse, AbandonedGuardDoesNotEndItsSuccessor) {
    jhandle_t *handle = make_handle(4096);
    jborrow_t successor;
    JEXPECT_OK(touch(handle, 4096));
    {
        JALLOC_BORROW(ws, handle, 1000);
        JEXPECT_TRUE(ws.ok);
        JEXPECT_STATUS(jhandle_abandon_borrows(handle), JSTATUS_LEAKED);
        JEXPECT_OK(borrow_one(&successor, handle, 1000));
    }
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 1);
    JEXPECT_EQ(stats_of(handle).in_use_bytes, 1024);
    /* The abandonment, and the end that came too late. */
    JEXPECT_EQ(stats_of(handle).misuse_count, 2);
    JEXPECT_OK(jborrow_end(&successor));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* And when nobody borrows: there is no frame to look at. */
JTEST(BorrowMisuse, AbandonedGuardEndsNothingOnAnIdleHandle) {
    jhandle_t *handle = make_handle(4096);
    JEXPECT_OK(touch(handle, 4096));
    {
        JALLOC_BORROW(outer, handle, 1000);
        JALLOC_BORROW(inner, handle, 1000);
        JEXPECT_TRUE(outer.ok && inner.ok);
        JEXPECT_STATUS(jhandle_abandon_borrows(handle), JSTATUS_LEAKED);
    }
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 0);
    JEXPECT_EQ(stats_of(handle).misuse_count, 3);
    JEXPECT_OK(touch(handle, 4096));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Names that are too many, and one that is not there. */
JTEST(BorrowMisuse, MessagesOfBorrowsWithoutANameAndOfMany) {
    static const char name[] = "a_routine_with_a_rather_long_name";
    const size_t bytes = 64;
    jhandle_t *handle = make_handle(4096);
    jborrow_t borrow;
    JEXPECT_OK(jborrow_begin(&borrow, handle, NULL, 1, &bytes));
    JEXPECT_STREQ(stats_of(handle).peak_routine, "");
    JEXPECT_STATUS(jhandle_trim(handle, 0), JSTATUS_BUSY);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "1 borrows are live, the last of (unnamed)");
    JEXPECT_STATUS(jborrow_begin(&(jborrow_t){0}, handle, NULL, JBORROW_MAX_BUFFERS + 1, &bytes),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "(unnamed): 9 buffers");
    JEXPECT_STATUS(jborrow_begin(&(jborrow_t){0}, handle, NULL, 1, &(size_t){5000}),
                   JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "a borrow needs 5056 bytes of workspace");
    JEXPECT_OK(jborrow_end(&borrow));
    for (int i = 0; i < JBORROW_MAX_DEPTH; ++i)
        JEXPECT_OK(jborrow_begin(&borrow, handle, name, 1, &bytes));
    JEXPECT_STATUS(jhandle_abandon_borrows(handle), JSTATUS_LEAKED);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "32 borrows abandoned, 2048 bytes: a_routine");
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(BorrowMisuse, AbandonAcrossBlocks) {
    jhandle_t *handle = make_handle(0);
    jborrow_t borrows[4];
    for (size_t i = 0; i < 4; ++i)
        JEXPECT_OK(borrow_one(&borrows[i], handle, 1000 << i));
    JEXPECT_STATUS(jhandle_abandon_borrows(handle), JSTATUS_LEAKED);
    JEXPECT_EQ(stats_of(handle).in_use_bytes, 0);
    for (size_t i = 0; i < 4; ++i)
        JEXPECT_STATUS(jborrow_end(&borrows[i]), JSTATUS_NOT_FOUND);
    JEXPECT_OK(touch(handle, 15000));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Statistics ---- */

JTEST(BorrowStats, PeakNamesItsRoutine) {
    jhandle_t *handle = make_handle(0);
    jborrow_t outer, inner;
    const size_t small = 100, large = 1000;
    JEXPECT_OK(jborrow_begin(&outer, handle, "large_routine", 1, &large));
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_OK(jborrow_begin(&outer, handle, "small_routine", 1, &small));
    JEXPECT_OK(jborrow_end(&outer));
    jhandle_stats_t stats = stats_of(handle);
    JEXPECT_EQ(stats.high_watermark_bytes, 1024);
    JEXPECT_STREQ(stats.peak_routine, "large_routine");
    JEXPECT_STREQ(stats.peak_shape, "");
    JEXPECT_OK(jborrow_begin(&outer, handle, "large_routine", 1, &large));
    JEXPECT_OK(
        jborrow_begin(&inner, handle, "a_name_that_is_much_longer_than_thirty_one", 1, &small));
    stats = stats_of(handle);
    JEXPECT_EQ(stats.high_watermark_bytes, 1024 + 128);
    /* Cut to JHANDLE_ROUTINE_BYTES. */
    JEXPECT_STREQ(stats.peak_routine, "a_name_that_is_much_longer_than");
    JEXPECT_OK(jhandle_clear_stats(handle));
    stats = stats_of(handle);
    JEXPECT_EQ(stats.high_watermark_bytes, 1024 + 128); /* what is in use */
    JEXPECT_EQ(stats.borrow_count, 0);
    JEXPECT_EQ(stats.growth_count, 0);
    JEXPECT_EQ(stats.allocation_count, 0);
    JEXPECT_EQ(stats.live_borrow_count, 2);
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_OK(jhandle_clear_stats(handle));
    JEXPECT_EQ(stats_of(handle).high_watermark_bytes, 0);
    JALLOC_WITH_BORROW(ws, handle, 500) JEXPECT_TRUE(ws.ok);
    stats = stats_of(handle);
    JEXPECT_EQ(stats.high_watermark_bytes, 512);
    JEXPECT_EQ(strncmp(stats.peak_routine, __func__, JHANDLE_ROUTINE_BYTES - 1), 0);
    JEXPECT_EQ(stats.borrow_count, 1);
    JEXPECT_OK(jhandle_destroy(handle));
}
