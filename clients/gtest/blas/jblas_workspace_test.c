/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The promise of the size query, for every function: exactly the queried bytes suffice for rung 0,
 * and nothing outside of them is touched; with less the next rung runs, says so, and is right;
 * where none fits nothing has happened. */

#include "handle_helper.h"
#include "jblas_routines.h"

#include <stdlib.h>
#include <string.h>

#define GRANULE 64

/* Level 3 at a size that has something to invert or to split, else whatever is drawn. */
static blas_wish_t interesting(const blas_function_t *function, int64_t round) {
    blas_wish_t wish = {.guard_before = round % 2 != 0};
    if (round % 3 == 0) {
        static const int64_t low[] = {0, 4000, 20, 40}, high[] = {0, 12000, 120, 100};
        wish.low = low[function->routine->level];
        wish.high = high[function->routine->level];
        wish.plain = true;
    }
    return wish;
}

JTEST_EACH_FUNCTION(JblasWorkspace, QueriedBytesSuffice) {
    jhandle_t *handle = blas_make_handle(NULL);
    for (int64_t round = jtest_iterations(12); round > 0 && !jtest_has_failure(); --round) {
        const blas_wish_t wish = interesting(param, round);
        blas_case_t *c = blas_case_create(param, &wish);
        const size_t bytes = blas_query(handle, c);
        blas_unchanged(c);
        JSCOPED_TRACE("%s, %zu bytes", blas_describe(c), bytes);
        if (bytes > 0)
            JEXPECT_OK(jhandle_set_workspace(handle,
                                             wish.guard_before
                                                 ? jtest_guard_pages_before(bytes)
                                                 : blas_guard_pages(bytes, (int)param->type),
                                             bytes));
        JEXPECT_OK(jhandle_clear_stats(handle));
        JEXPECT_OK(blas_call(handle, c));
        blas_right(c);
        const jhandle_stats_t stats = stats_of(handle);
        JEXPECT_EQ(stats.degraded_count, 0);
        JEXPECT_EQ(stats.live_borrow_count, 0);
        JEXPECT_EQ(stats.allocation_count, 0);
        JEXPECT_LE(stats.high_watermark_bytes, bytes);
        JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
        blas_case_free(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Two guarded halves of what was asked, a granule too little, and hardly anything. */
JTEST_EACH_FUNCTION(JblasWorkspace, TooLittleTakesTheNextRung) {
    jhandle_t *handle = blas_make_handle(NULL);
    int64_t degraded = 0, tried = 0;
    for (int64_t round = jtest_iterations(9); round > 0 && !jtest_has_failure(); --round) {
        const blas_wish_t wish = interesting(param, round);
        blas_case_t *c = blas_case_create(param, &wish);
        const size_t bytes = blas_query(handle, c);
        const size_t less[] = {bytes - GRANULE, bytes / 2 / GRANULE * GRANULE, GRANULE};
        for (int i = 0; i < 3 && bytes > GRANULE; ++i) {
            if (less[i] == 0)
                continue;
            JSCOPED_TRACE("%s, %zu of %zu bytes", blas_describe(c), less[i], bytes);
            blas_restore(c);
            JEXPECT_OK(jhandle_set_workspace(handle, blas_guard_pages(less[i], (int)param->type),
                                             less[i]));
            JEXPECT_OK(jhandle_clear_stats(handle));
            const jstatus_t status = blas_call(handle, c);
            const jhandle_stats_t stats = stats_of(handle);
            ++tried;
            JEXPECT_EQ(stats.live_borrow_count, 0);
            JEXPECT_LE(stats.high_watermark_bytes, less[i]);
            if (status == JSTATUS_PERF_DEGRADED) {
                ++degraded;
                JEXPECT_GE(stats.degraded_count, 1);
                blas_right(c);
            } else {
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                blas_unchanged(c);
            }
        }
        JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
        blas_case_free(c);
    }
    if (tried > 0)
        JEXPECT_GT(degraded, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Default mode that may hold nothing is a workspace of zero bytes: every routine here has a rung
 * for it. */
JTEST_EACH_FUNCTION(JblasWorkspace, NoWorkspaceAtAllStillAnswers) {
    jhandle_t *handle = blas_make_handle(NULL);
    JEXPECT_OK(jhandle_set_budget(handle, 1));
    for (int64_t round = jtest_iterations(6); round > 0 && !jtest_has_failure(); --round) {
        const blas_wish_t wish = interesting(param, round);
        blas_case_t *c = blas_case_create(param, &wish);
        const size_t bytes = blas_query(handle, c);
        JSCOPED_TRACE("%s, 0 of %zu bytes", blas_describe(c), bytes);
        JEXPECT_STATUS(blas_call(handle, c), bytes > 0 ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
        blas_right(c);
        JEXPECT_EQ(stats_of(handle).allocation_count, 0);
        blas_case_free(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A call with one way that needs nothing borrows nothing, whatever the handle would lend. */
JTEST(JblasWorkspace, AWayThatNeedsNothingIsNotBorrowedFor) {
    static const int functions[] = {BLAS_INDEX_dtrsm, BLAS_INDEX_ztrsm, BLAS_INDEX_spotrf,
                                    BLAS_INDEX_ctrtri, BLAS_INDEX_dpotrs};
    jhandle_t *handle = blas_make_handle(NULL);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
        BLAS_CASE(c, &blas_functions[functions[i]], .low = 4, .high = 4);
        JSCOPED_TRACE("%s", blas_describe(c));
        JEXPECT_EQ(blas_query(handle, c), 0);
        JEXPECT_OK(blas_call(handle, c));
        JEXPECT_EQ(stats_of(handle).borrow_count, 0);
        JEXPECT_EQ(stats_of(handle).rung_count[0], 0);
        blas_right(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* One more row asks for a tenth more at most: field notes know a cliff of 30 times. Where a way
 * begins to pay, its workspace is in proportion to the operands from the start. */
JTEST_EACH_FUNCTION(JblasWorkspace, RequirementIsContinuous) {
    jhandle_t *handle = blas_make_handle(NULL);
    blas_requirement_is_continuous(handle, param, 1.1);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Where the workspace comes from changes nothing of the answer. */
JTEST_EACH_FUNCTION(JblasWorkspace, ModesGiveTheSameBits) {
    for (int64_t round = jtest_iterations(3); round > 0 && !jtest_has_failure(); --round) {
        const blas_wish_t wish = interesting(param, round);
        blas_case_t *c = blas_case_create(param, &wish);
        jhandle_t *handle = blas_make_handle(NULL);
        const size_t bytes = blas_query(handle, c), needed = bytes ? bytes : GRANULE;
        JEXPECT_OK(blas_call(handle, c));
        unsigned char *answer = blas_snapshot(c);
        JSCOPED_TRACE("%s", blas_describe(c));

        blas_restore(c);
        JEXPECT_OK(jhandle_set_workspace_size(handle, needed)); /* manual */
        JEXPECT_OK(blas_call(handle, c));
        JEXPECT_TRUE(blas_same_as(c, answer));

        blas_restore(c);
        /* user-owned */
        JEXPECT_OK(
            jhandle_set_workspace(handle, blas_guard_pages(needed, (int)param->type), needed));
        JEXPECT_OK(blas_call(handle, c));
        JEXPECT_TRUE(blas_same_as(c, answer));
        JEXPECT_OK(jhandle_destroy(handle));

        jhandle_options_t options = JHANDLE_OPTIONS_INIT;
        options.preallocate_bytes = needed;
        handle = blas_make_handle(&options);
        blas_restore(c);
        JEXPECT_OK(jhandle_clear_stats(handle));
        JEXPECT_OK(blas_call(handle, c));
        JEXPECT_TRUE(blas_same_as(c, answer));
        JEXPECT_EQ(stats_of(handle).allocation_count, 0);
        JEXPECT_OK(jhandle_destroy(handle));
        free(answer);
        blas_case_free(c);
    }
}

/* With the policy, how much workspace there is changes nothing of the answer. */
JTEST_EACH_FUNCTION(JblasWorkspace, SameBitsForAnyWorkspace) {
    for (int64_t round = jtest_iterations(3); round > 0 && !jtest_has_failure(); --round) {
        const blas_wish_t wish = interesting(param, 3 * round);
        blas_case_t *c = blas_case_create(param, &wish);
        jhandle_t *handle = blas_make_handle(NULL);
        blas_same_bits_for_any_workspace(handle, c, blas_call);
        JEXPECT_OK(jhandle_destroy(handle));
        blas_case_free(c);
    }
}

/* The provider of workspace fails at its n-th allocation: a lower rung or a memory error, and the
 * next call is as ever. */
JTEST_EACH_FUNCTION(JblasWorkspace, EachFailedAllocationIsSurvived) {
    const blas_wish_t wish = interesting(param, 3);
    blas_case_t *c = blas_case_create(param, &wish);
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.allocator = jtest_failing_allocator();
    bool failed = true;
    for (uint64_t n = 1; failed && n < 20; ++n) {
        jhandle_t *handle = blas_make_handle(&options);
        const uint64_t before = jtest_allocation_count();
        blas_restore(c);
        jtest_fail_allocation_after(n);
        const jstatus_t status = blas_call(handle, c);
        failed = jtest_allocation_count() - before >= n;
        jtest_fail_allocation_after(0);
        JSCOPED_TRACE("%s, failure %d", blas_describe(c), (int)n);
        if (!failed)
            JEXPECT_OK(status);
        if (jstatus_is_error(status)) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            blas_unchanged(c);
        } else {
            blas_right(c);
        }
        blas_restore(c);
        JEXPECT_OK(blas_call(handle, c));
        blas_right(c);
        JEXPECT_OK(jhandle_destroy(handle));
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
    blas_case_free(c);
}

/* The same for bookkeeping: making the handle, its stream and the call. */
JTEST_EACH_FUNCTION(JblasWorkspace, EachFailedBookkeepingIsSurvived) {
    const blas_wish_t wish = interesting(param, 3);
    blas_case_t *c = blas_case_create(param, &wish);
    JFOR_EACH_FAILURE(i) {
        jhandle_t *handle = NULL;
        if (jhandle_create(NULL, &handle) == JSTATUS_SUCCESS) {
            blas_restore(c);
            const jstatus_t status = blas_call(handle, c);
            if (jstatus_is_error(status)) {
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                blas_unchanged(c);
            } else {
                blas_right(c);
            }
            blas_restore(c);
            if (jtest_metadata_failed())
                JEXPECT_OK(blas_call(handle, c));
            JEXPECT_OK(jhandle_destroy(handle));
        } else {
            JEXPECT_TRUE(jtest_metadata_failed());
        }
    }
    blas_case_free(c);
}
