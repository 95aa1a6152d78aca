/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Default mode's growth: idle and nested, by budgets and allocators that refuse, and that nothing
 * is lost by it. */

#include "handle_helper.h"

#include "jalloc/adaptor.h"

JTEST(HandleGrowth, GrowsToWhatWasNeededAndStays) {
    jhandle_t *handle = make_handle(0);
    static const size_t sizes[] = {1, 64, 65, 1000, 500, 1024, 1025, 100000, 7};
    size_t held = 0;
    uint64_t growths = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        const size_t rounded = (sizes[i] + 63) / 64 * 64;
        growths += rounded > held;
        held = rounded > held ? rounded : held;
        JEXPECT_OK(touch(handle, sizes[i]));
        JEXPECT_EQ(capacity_of(handle), held);
        JEXPECT_EQ(jtest_live_bytes(), held);
        JEXPECT_EQ(stats_of(handle).growth_count, growths);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleGrowth, FailedGrowthKeepsWhatIsThere) {
    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(touch(handle, 1000));
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(touch(handle, 2000), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "2048");
    JEXPECT_EQ(capacity_of(handle), 1024);
    JEXPECT_EQ(jtest_deallocation_count(), 0);
    JEXPECT_OK(touch(handle, 1024));
    JEXPECT_OK(touch(handle, 2000)); /* the next attempt */
    JEXPECT_EQ(stats_of(handle).growth_count, 2);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleGrowth, NestedGrowthKeepsTheOuterContents) {
    jhandle_t *handle = make_handle(0);
    unsigned char *outer[4];
    jborrow_t borrows[4];
    for (size_t i = 0; i < 4; ++i) {
        const size_t bytes = 1000 << i;
        JASSERT_OK(borrow_one(&borrows[i], handle, bytes));
        outer[i] = borrows[i].ptr[0];
        memset(outer[i], (int)(i + 1), bytes);
    }
    for (size_t i = 0; i < 4; ++i)
        for (size_t k = 0; k < (size_t)1000 << i; ++k)
            if (outer[i][k] != i + 1) {
                JFAIL("byte %zu of borrow %zu is %d", k, i, outer[i][k]);
                break;
            }
    JEXPECT_EQ(stats_of(handle).in_use_bytes, 1024 + 2048 + 4032 + 8000);
    for (size_t i = 4; i-- > 0;)
        JEXPECT_OK(jborrow_end(&borrows[i]));
    JEXPECT_EQ(stats_of(handle).in_use_bytes, 0);
    JEXPECT_EQ(stats_of(handle).high_watermark_bytes, 1024 + 2048 + 4032 + 8000);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleGrowth, BlocksBecomeOneWhenIdle) {
    jhandle_t *handle = make_handle(0);
    jborrow_t outer, inner;
    JEXPECT_OK(borrow_one(&outer, handle, 1024));
    JEXPECT_OK(borrow_one(&inner, handle, 2048));
    JEXPECT_EQ(capacity_of(handle), 3072);
    JEXPECT_EQ(jtest_allocation_count(), 2);
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(borrow_one(&inner, handle, 2000)); /* into the further block that is there */
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_EQ(jtest_allocation_count(), 2);
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_OK(borrow_one(&outer, handle, 64)); /* the next borrow makes one of them */
    JEXPECT_EQ(capacity_of(handle), 3072);
    JEXPECT_EQ(jtest_live_bytes(), 3072);
    JEXPECT_EQ(jtest_allocation_count(), 3);
    JEXPECT_EQ(jtest_deallocation_count(), 2);
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_OK(borrow_one(&outer, handle, 1024)); /* and the same nesting needs no more growth */
    JEXPECT_OK(borrow_one(&inner, handle, 2048));
    JEXPECT_EQ((char *)inner.ptr[0] - (char *)outer.ptr[0], 1024);
    JEXPECT_EQ(jtest_allocation_count(), 3);
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* An end that is inline says nothing to the library; the next borrow makes one block all the
 * same. */
JTEST(HandleGrowth, BlocksBecomeOneWhenTheOuterBorrowEndsInline) {
    jhandle_t *handle = make_handle(0);
    JALLOC_WITH_BORROW(outer, handle, 1024) {
        JALLOC_BORROW(inner, handle, 2048);
        JEXPECT_OK(outer.status);
        JEXPECT_OK(inner.status);
        JEXPECT_EQ(jtest_allocation_count(), 2);
    }
    JALLOC_WITH_BORROW(outer, handle, 64) {
        JEXPECT_OK(outer.status);
        JEXPECT_EQ(jtest_live_bytes(), 3072);
        JEXPECT_EQ(jtest_allocation_count(), 3);
        JEXPECT_EQ(jtest_deallocation_count(), 2);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleGrowth, FailedNestedGrowthLeavesTheOuterBorrow) {
    jhandle_t *handle = make_handle(0);
    jborrow_t outer, inner;
    JEXPECT_OK(borrow_one(&outer, handle, 1024));
    memset(outer.ptr[0], 9, 1024);
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(borrow_one(&inner, handle, 2048), JSTATUS_MEMORY_ERROR);
    JEXPECT_FALSE(inner.ok);
    JEXPECT_NULL(inner.ptr[0]);
    JEXPECT_OK(jborrow_end(&inner)); /* nothing to end */
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 1);
    JEXPECT_EQ(((unsigned char *)outer.ptr[0])[1023], 9);
    JEXPECT_OK(borrow_one(&inner, handle, 2048));
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleGrowth, FailedConsolidationStillServesWhatFits) {
    jhandle_t *handle = make_handle(0);
    jborrow_t outer, inner;
    JEXPECT_OK(borrow_one(&outer, handle, 1024));
    JEXPECT_OK(borrow_one(&inner, handle, 2048));
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&outer));
    for (size_t bytes = 1024; bytes <= 2048; bytes += 512) {
        /* The first block does, then the other alone. */
        jtest_fail_allocation_after(1);
        JEXPECT_OK(touch(handle, bytes));
        JEXPECT_EQ(capacity_of(handle), 3072);
    }
    JEXPECT_OK(touch(handle, 3072));
    JEXPECT_EQ(stats_of(handle).growth_count, 3);
    JEXPECT_EQ(jtest_live_bytes(), 3072);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Each n-th allocation of workspace fails in turn, in a nest that grows at every level. */
JTEST(HandleGrowth, EachFailedAllocationLosesNothing) {
    for (uint64_t n = 1; n <= 6; ++n) {
        JSCOPED_TRACE("allocation %llu fails", (unsigned long long)n);
        jhandle_t *handle = make_handle(0);
        jtest_fail_allocation_after(n);
        jborrow_t borrows[5];
        size_t ok = 0;
        for (size_t i = 0; i < 5; ++i) {
            borrow_one(&borrows[i], handle, 1000 * (i + 1));
            ok += borrows[i].ok;
            if (borrows[i].ok)
                memset(borrows[i].ptr[0], (int)i, 1000 * (i + 1));
        }
        JEXPECT_EQ(ok, n <= 5 ? 4 : 5);
        JEXPECT_EQ(stats_of(handle).live_borrow_count, ok);
        for (size_t i = 5; i-- > 0;) {
            if (borrows[i].ok)
                JEXPECT_EQ(((unsigned char *)borrows[i].ptr[0])[1000 * (i + 1) - 1], i);
            JEXPECT_OK(jborrow_end(&borrows[i]));
        }
        jtest_fail_allocation_after(0);
        JEXPECT_OK(touch(handle, 20000));
        JEXPECT_OK(jhandle_destroy(handle));
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
}

/* ---- What is asked for is tried; more is a wish ---- */

/* An idle handle that holds two blocks, the second of them larger. */
static void leave_two_blocks(jhandle_t *handle, size_t first_bytes, size_t second_bytes) {
    jborrow_t outer, inner;
    JEXPECT_OK(borrow_one(&outer, handle, first_bytes));
    JEXPECT_OK(borrow_one(&inner, handle, second_bytes));
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_EQ(capacity_of(handle), first_bytes + second_bytes);
}

JTEST(HandleGrowth, ABudgetBelowTheSumOfTheBlocksAllowsWhatIsAskedFor) {
    jhandle_t *handle = make_handle(0);
    leave_two_blocks(handle, 3200, 6400);
    JEXPECT_OK(jhandle_set_budget(handle, 8000));
    JEXPECT_OK(touch(handle, 6400)); /* what is held is kept, and lent */
    JEXPECT_EQ(capacity_of(handle), 9600);
    JEXPECT_OK(touch(handle, 7040)); /* more than each of them, less than both */
    JEXPECT_EQ(capacity_of(handle), 7040);
    JEXPECT_EQ(jtest_live_bytes(), 7040);
    JEXPECT_STATUS(touch(handle, 8001), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "budget");
    JEXPECT_EQ(capacity_of(handle), 7040);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* An allocator that has room for the request beside what is held, but not for the sum. */
JTEST(HandleGrowth, ASumThatCannotBeHadIsNotAskedForTwice) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jlimit_options_t limit = JLIMIT_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    limit.limit_bytes = 2048 + 2048 + 3072;
    JASSERT_OK(jallocator_create_limit(jtest_failing_allocator(), &limit, &options.allocator));
    JASSERT_OK(jhandle_create(&options, &handle));
    leave_two_blocks(handle, 2048, 2048);
    JEXPECT_OK(touch(handle, 3072));
    JEXPECT_EQ(capacity_of(handle), 3072);
    JEXPECT_EQ(jtest_live_bytes(), 3072);
    JEXPECT_STATUS(touch(handle, 8192), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(capacity_of(handle), 3072);
    JEXPECT_OK(touch(handle, 3072));
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jallocator_destroy(options.allocator));
}

JTEST(HandleGrowth, ABlockAboutToBeReplacedIsNotCountedAgainstTheBudget) {
    jhandle_t *handle = make_handle(0);
    jborrow_t outer, inner;
    JEXPECT_OK(jhandle_set_budget(handle, 10048));
    JEXPECT_OK(borrow_one(&outer, handle, 4032));
    memset(outer.ptr[0], 7, 4032);
    JEXPECT_OK(touch(handle, 3008)); /* leaves a block that is too small for the next */
    JEXPECT_OK(borrow_one(&inner, handle, 5056));
    JEXPECT_EQ(capacity_of(handle), 4032 + 5056);
    JEXPECT_EQ(jtest_live_bytes(), 4032 + 5056);
    JEXPECT_STATUS(touch(handle, 1000), JSTATUS_MEMORY_ERROR); /* beside both: over the budget */
    JEXPECT_SUBSTR(jhandle_last_message(handle), "budget");
    JEXPECT_OK(touch(handle, 960));
    JEXPECT_EQ(((unsigned char *)outer.ptr[0])[4031], 7);
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Blocks that no borrow is in stay behind those that are lent from, so they are not counted
 * either. */
JTEST(HandleGrowth, ABlockThatIsPassedOverCanStillBeReplaced) {
    jhandle_t *handle = make_handle(0);
    jborrow_t borrows[4];
    JEXPECT_OK(borrow_one(&borrows[0], handle, 1024));
    JEXPECT_OK(borrow_one(&borrows[1], handle, 2048));
    JEXPECT_OK(borrow_one(&borrows[2], handle, 4096));
    JEXPECT_OK(jborrow_end(&borrows[2]));
    JEXPECT_OK(jborrow_end(&borrows[1]));
    JEXPECT_OK(borrow_one(&borrows[1], handle, 4096)); /* the third block; the second is free */
    JEXPECT_OK(jhandle_set_budget(handle, 1024 + 4096 + 3072));
    JASSERT_OK(borrow_one(&borrows[2], handle, 3072)); /* in place of the second */
    JEXPECT_EQ(capacity_of(handle), 1024 + 4096 + 3072);
    JEXPECT_NE(borrows[1].ptr[0], borrows[2].ptr[0]);
    for (int i = 0; i < 3; ++i)
        memset(borrows[i].ptr[0], i, 1024);
    for (int i = 3; i-- > 0;)
        JEXPECT_OK(jborrow_end(&borrows[i]));
    JEXPECT_EQ(stats_of(handle).in_use_bytes, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The wish fails, the request fails, or neither does: what is held and lent is the same
 * afterwards. */
JTEST(HandleGrowth, EachFailureOfAWishLosesNothing) {
    for (uint64_t n = 1; n <= 3; ++n) {
        JSCOPED_TRACE("allocation %llu fails", (unsigned long long)n);
        jhandle_t *handle = make_handle(0);
        leave_two_blocks(handle, 1024, 2048);
        /* The wish is refused by the budget, the request asked for. */
        JEXPECT_OK(jhandle_set_budget(handle, 2560));
        jtest_fail_allocation_after(n);
        JEXPECT_STATUS(touch(handle, 2560), n == 1 ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        jtest_fail_allocation_after(0);
        JEXPECT_EQ(capacity_of(handle), n == 1 ? 3072 : 2560);
        JEXPECT_EQ(jtest_live_bytes(), capacity_of(handle));
        JEXPECT_OK(touch(handle, 2048));
        JEXPECT_OK(jhandle_destroy(handle));
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
}
