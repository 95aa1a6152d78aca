/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Size queries and plans: every row of the state table, the choice of a rung, and the promise that
 * the bytes of a query suffice. The routines queried here are small ones of the test's own, written
 * as a user would write his. */

#include "handle_helper.h"

#include <stdio.h>

/* ---- Routines ---- */

/* Asks for three buffers; complains about a negative n, looks at no operand while queried. */
static jstatus_t simple_routine(jhandle_t *handle, int64_t n, const double *x) {
    if (n < 0)
        return jhandle_fail(handle, JSTATUS_INVALID_SIZE, "simple_routine: n is %lld",
                            (long long)n);
    if (jhandle_is_size_query(handle))
        return JALLOC_SET_OPTIMAL_SIZE(handle, (size_t)n, 2 * (size_t)n, (size_t)n / 2);
    JALLOC_BORROW(ws, handle, (size_t)n, 2 * (size_t)n, (size_t)n / 2);
    if (!ws.ok)
        return ws.status;
    if (n > 0 && x)
        memcpy(ws.ptr[0], x, (size_t)n);
    memset(ws.ptr[1] ? ws.ptr[1] : &ws.rung, 2, ws.ptr[1] ? 2 * (size_t)n : 0);
    memset(ws.ptr[2] ? ws.ptr[2] : &ws.rung, 3, ws.ptr[2] ? (size_t)n / 2 : 0);
    return ws.status;
}

static jstatus_t routine_without_workspace(jhandle_t *handle) {
    JALLOC_RETURN_ZERO_SIZE_IF_QUERIED(handle);
    return JSTATUS_SUCCESS;
}

/* The inner routine: three rungs. The outer one calls it while it holds a borrow of its own. */
static int inner_rung, outer_rung;
static jplan_t inner_plan(const jhandle_t *handle, int64_t n) {
    const int64_t shape[] = {n};
    jplan_t plan;
    jplan_init(&plan, handle, "inner_routine", "n", shape);
    jplan_add(&plan, "two buffers", 1, 0, 2, (const size_t[]){jalloc_mul(n, 24), jalloc_mul(n, 8)});
    jplan_add(&plan, "one buffer", 2, 0, 1, (const size_t[]){jalloc_mul(n, 8)});
    jplan_add(&plan, "nothing", 2, 0, 0, NULL);
    return plan;
}
static jstatus_t inner_routine(jhandle_t *handle, int64_t n) {
    jplan_t plan = inner_plan(handle, n);
    JALLOC_ANSWER_SIZE_QUERY(handle, &plan);
    JALLOC_BORROW_PLAN(ws, handle, &plan);
    if (!ws.ok)
        return ws.status;
    inner_rung = ws.rung;
    if (ws.rung == 0 && n > 0) {
        memset(ws.ptr[0], 1, (size_t)n * 24);
        memset(ws.ptr[1], 2, (size_t)n * 8);
    }
    if (ws.rung == 1 && n > 0)
        memset(ws.ptr[0], 3, (size_t)n * 8);
    return ws.status;
}
static jplan_t outer_plan(const jhandle_t *handle, int64_t m, int64_t n) {
    const int64_t shape[] = {m, n};
    const jplan_t first = inner_plan(handle, n), second = inner_plan(handle, m);
    const size_t a = jplan_bytes(&first, handle), b = jplan_bytes(&second, handle);
    jplan_t plan;
    jplan_init(&plan, handle, "outer_routine", "mn", shape);
    jplan_add(&plan, "copy", 7, a > b ? a : b, 2,
              (const size_t[]){jalloc_mul(m, n), jalloc_mul(m, 8)});
    jplan_add(&plan, "in place", 7, 0, 1, (const size_t[]){jalloc_mul(m, 8)});
    return plan;
}
static jstatus_t outer_routine(jhandle_t *handle, int64_t m, int64_t n) {
    jplan_t plan = outer_plan(handle, m, n);
    JALLOC_ANSWER_SIZE_QUERY(handle, &plan);
    JALLOC_BORROW_PLAN(ws, handle, &plan);
    if (!ws.ok)
        return ws.status;
    outer_rung = ws.rung;
    if (ws.rung == 0) {
        if (ws.ptr[0])
            memset(ws.ptr[0], 1, (size_t)(m * n));
        jstatus_t status = inner_routine(handle, n);
        if (status == JSTATUS_SUCCESS)
            status = inner_routine(handle, m);
        return status == JSTATUS_SUCCESS ? ws.status : status;
    }
    return ws.status;
}

/* ---- The state table ---- */

JTEST(SizeQuery, EveryRowOfTheStateTable) {
    jhandle_t *handle = make_handle(0);
    size_t bytes = 77;
    /* not querying */
    JEXPECT_FALSE(jhandle_is_size_query(handle));
    JEXPECT_STATUS(jhandle_stop_size_query(handle, &bytes), JSTATUS_SIZE_QUERY_MISMATCH);
    JEXPECT_STATUS(jhandle_stop_size_query(handle, NULL), JSTATUS_SIZE_QUERY_MISMATCH);
    JEXPECT_EQ(bytes, 77);
    JEXPECT_STATUS(JALLOC_SET_OPTIMAL_SIZE(handle, 100), JSTATUS_SIZE_QUERY_MISMATCH);
    const jplan_t plan = inner_plan(handle, 10);
    JEXPECT_STATUS(jhandle_answer_plan(handle, &plan), JSTATUS_SIZE_QUERY_MISMATCH);
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_TRUE(jhandle_is_size_query(handle));
    /* querying */
    JEXPECT_STATUS(simple_routine(handle, 1000, NULL), JSTATUS_SIZE_INCREASED);
    JEXPECT_STATUS(simple_routine(handle, 1000, NULL), JSTATUS_SIZE_UNCHANGED);
    JEXPECT_STATUS(simple_routine(handle, 10, NULL), JSTATUS_SIZE_UNCHANGED);
    JEXPECT_STATUS(simple_routine(handle, 0, NULL), JSTATUS_SIZE_UNCHANGED);
    JEXPECT_STATUS(routine_without_workspace(handle), JSTATUS_SIZE_UNCHANGED);
    /* And the maximum is kept. */
    JEXPECT_STATUS(jhandle_start_size_query(handle), JSTATUS_SIZE_QUERY_MISMATCH);
    /* And the query goes on. */
    JEXPECT_STATUS(simple_routine(handle, -1, NULL), JSTATUS_INVALID_SIZE);
    /* Still querying. */
    JEXPECT_STATUS(jhandle_stop_size_query(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_TRUE(jhandle_is_size_query(handle));
    /* Rounds to the same granules. */
    JEXPECT_STATUS(simple_routine(handle, 1001, NULL), JSTATUS_SIZE_UNCHANGED);
    JEXPECT_STATUS(simple_routine(handle, 1025, NULL), JSTATUS_SIZE_INCREASED);
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_EQ(bytes, 1088 + 2112 + 512);
    JEXPECT_FALSE(jhandle_is_size_query(handle));
    JEXPECT_STATUS(jhandle_stop_size_query(handle, &bytes), JSTATUS_SIZE_QUERY_MISMATCH);
    /* a new query begins at 0 */
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_EQ(bytes, 0);
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_STATUS(simple_routine(handle, 1, NULL), JSTATUS_SIZE_INCREASED);
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_EQ(bytes, 128);
    JEXPECT_EQ(jtest_allocation_count(), 0); /* a query takes nothing */
    JEXPECT_EQ(stats_of(handle).borrow_count, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(SizeQuery, ExpectedSizesAreRoundedEachThenSummed) {
    jhandle_t *handle = make_handle(0);
    for (int64_t i = jtest_iterations(300); i > 0; --i) {
        size_t sizes[12], expected = 0, bytes = 0;
        /* A query knows no limit on buffers. */
        const size_t count = (size_t)jtest_random_between(0, 12);
        for (size_t k = 0; k < count; ++k) {
            sizes[k] = (size_t)jtest_random_between(0, 300);
            expected += (sizes[k] + 63) / 64 * 64;
        }
        JEXPECT_OK(jhandle_start_size_query(handle));
        JEXPECT_STATUS(jhandle_set_optimal_size(handle, count, sizes),
                       expected ? JSTATUS_SIZE_INCREASED : JSTATUS_SIZE_UNCHANGED);
        JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
        JEXPECT_EQ(bytes, expected);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(SizeQuery, ErrorsLeaveTheMaximum) {
    static const size_t overflowing[][2] = {{SIZE_MAX, 0},
                                            {SIZE_MAX - 62, 0},
                                            {SIZE_MAX - 63, 64},
                                            {SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1},
                                            {1, SIZE_MAX - 63}};
    jhandle_t *handle = make_handle(0);
    size_t bytes = 0;
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_STATUS(JALLOC_SET_OPTIMAL_SIZE(handle, 100), JSTATUS_SIZE_INCREASED);
    for (size_t i = 0; i < sizeof overflowing / sizeof overflowing[0]; ++i)
        JEXPECT_STATUS(jhandle_set_optimal_size(handle, 2, overflowing[i]), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jhandle_set_optimal_size(handle, 1, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jhandle_answer_plan(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_EQ(bytes, 128);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(SizeQuery, BorrowingMeanwhileIsAMismatch) {
    for (int fixed = 0; fixed < 2; ++fixed) {
        jhandle_t *handle = make_handle(fixed ? 4096 : 0);
        const jplan_t plan = inner_plan(handle, 10);
        size_t bytes;
        JEXPECT_OK(touch(handle, 1000));
        JEXPECT_OK(jhandle_start_size_query(handle));
        JEXPECT_STATUS(touch(handle, 100), JSTATUS_SIZE_QUERY_MISMATCH);
        {
            JALLOC_BORROW(ws, handle, 100);
            JEXPECT_STATUS(ws.status, JSTATUS_SIZE_QUERY_MISMATCH);
            JEXPECT_FALSE(ws.ok);
            JALLOC_BORROW(nothing, handle, 0);
            JEXPECT_STATUS(nothing.status, JSTATUS_SIZE_QUERY_MISMATCH);
            JALLOC_BORROW_PLAN(planned, handle, &plan);
            JEXPECT_STATUS(planned.status, JSTATUS_SIZE_QUERY_MISMATCH);
        }
        JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
        JEXPECT_OK(touch(handle, 100));
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

/* An empty handle and a borrow of nothing: the case where all numbers of the short path are 0. */
JTEST(SizeQuery, BorrowingNothingFromAnEmptyHandleIsAMismatchToo) {
    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(jhandle_start_size_query(handle));
    {
        JALLOC_BORROW(ws, handle, 0);
        JEXPECT_STATUS(ws.status, JSTATUS_SIZE_QUERY_MISMATCH);
        JEXPECT_FALSE(ws.ok);
    }
    JEXPECT_OK(jhandle_stop_size_query(handle, &(size_t){0}));
    {
        JALLOC_BORROW(ws, handle, 0);
        JEXPECT_TRUE(ws.ok);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(SizeQuery, HandleMayBeDestroyedMeanwhile) {
    jhandle_t *handle = make_handle(4096);
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- The promise: exactly the queried bytes, a page that traps behind or before them ---- */

static size_t query_all(jhandle_t *handle, const int64_t (*sizes)[2], size_t count) {
    size_t bytes = 0;
    JEXPECT_OK(jhandle_start_size_query(handle));
    for (size_t i = 0; i < count; ++i) {
        JEXPECT_FALSE(jstatus_is_error(outer_routine(handle, sizes[i][0], sizes[i][1])));
        JEXPECT_FALSE(jstatus_is_error(inner_routine(handle, sizes[i][1])));
        JEXPECT_FALSE(jstatus_is_error(simple_routine(handle, sizes[i][0], NULL)));
    }
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    return bytes;
}
static void run_all(jhandle_t *handle, const int64_t (*sizes)[2], size_t count) {
    for (size_t i = 0; i < count; ++i) {
        inner_rung = outer_rung = -1;
        JEXPECT_OK(outer_routine(handle, sizes[i][0], sizes[i][1]));
        JEXPECT_EQ(outer_rung, 0);
        JEXPECT_EQ(inner_rung, 0);
        JEXPECT_OK(inner_routine(handle, sizes[i][1]));
        JEXPECT_OK(simple_routine(handle, sizes[i][0], NULL));
    }
}

JTEST(Promise, QueriedBytesSufficeForEachQueriedCall) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(40); round > 0 && !jtest_has_failure(); --round) {
        int64_t sizes[3][2];
        for (size_t i = 0; i < 3; ++i)
            for (size_t k = 0; k < 2; ++k)
                sizes[i][k] = jtest_random_between(0, 1) ? jtest_random_between(0, 10)
                                                         : jtest_random_between(0, 300);
        JSCOPED_TRACE("%lld,%lld %lld,%lld %lld,%lld", (long long)sizes[0][0],
                      (long long)sizes[0][1], (long long)sizes[1][0], (long long)sizes[1][1],
                      (long long)sizes[2][0], (long long)sizes[2][1]);
        JASSERT_OK(jhandle_set_workspace(handle, NULL, 0));
        const size_t bytes = query_all(handle, sizes, 3);
        JEXPECT_EQ(bytes % 64, 0);
        if (bytes == 0)
            continue;
        JASSERT_OK(jhandle_set_workspace(handle, jtest_guard_pages(bytes), bytes));
        run_all(handle, sizes, 3);
        JASSERT_OK(jhandle_set_workspace(handle, jtest_guard_pages_before(bytes), bytes));
        run_all(handle, sizes, 3);
        JASSERT_OK(jhandle_set_workspace_size(handle, bytes));
        run_all(handle, sizes, 3);
        JEXPECT_EQ(stats_of(handle).high_watermark_bytes % 64, 0);
    }
    JEXPECT_EQ(stats_of(handle).degraded_count, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Promise, OneGranuleLessDoesNotSuffice) {
    jhandle_t *handle = make_handle(0);
    const int64_t sizes[1][2] = {{100, 77}};
    const jplan_t plan = outer_plan(handle, 100, 77);
    const size_t bytes = jplan_bytes(&plan, handle);
    JEXPECT_OK(jhandle_set_workspace_size(handle, bytes));
    outer_rung = -1;
    JEXPECT_OK(outer_routine(handle, sizes[0][0], sizes[0][1]));
    JEXPECT_EQ(outer_rung, 0);
    JEXPECT_OK(jhandle_set_workspace_size(handle, bytes - 64));
    JEXPECT_STATUS(outer_routine(handle, sizes[0][0], sizes[0][1]), JSTATUS_PERF_DEGRADED);
    JEXPECT_EQ(outer_rung, 1);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- The choice of a rung ---- */

JTEST(Plan, RungByCapacityToTheGranule) {
    jhandle_t *handle = make_handle(0);
    const int64_t shape[] = {3, 4};
    const size_t sizes[3][2] = {{1000, 500}, {600, 0}, {100, 0}}; /* 1536, 640, 128 */
    static const struct {
        size_t capacity;
        jstatus_t status;
        int rung;
    } rows[] = {
        {1536, JSTATUS_SUCCESS, 0},
        {1600, JSTATUS_SUCCESS, 0},
        {1536 - 64, JSTATUS_PERF_DEGRADED, 1},
        {640, JSTATUS_PERF_DEGRADED, 1},
        {640 - 64, JSTATUS_PERF_DEGRADED, 2},
        {128, JSTATUS_PERF_DEGRADED, 2},
        {64, JSTATUS_MEMORY_ERROR, -1},
    };
    uint64_t counts[3] = {0}, degraded = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        JSCOPED_TRACE("capacity %zu", rows[i].capacity);
        jplan_t plan;
        jborrow_t borrow;
        jplan_init(&plan, handle, "planned", "mn", shape);
        jplan_add(&plan, "best", 0, 0, 2, sizes[0]);
        jplan_add(&plan, "middle", 1, 0, 1, sizes[1]);
        jplan_add(&plan, "least", 2, 0, 1, sizes[2]);
        JEXPECT_EQ(jplan_bytes(&plan, handle), 1536);
        JEXPECT_OK(jhandle_set_workspace_size(handle, rows[i].capacity));
        JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, &plan), rows[i].status);
        JEXPECT_STATUS(borrow.status, rows[i].status);
        JEXPECT_EQ(borrow.rung, rows[i].rung);
        JEXPECT_EQ(borrow.ok, rows[i].rung >= 0);
        JEXPECT_TRUE(borrow.way == (rows[i].rung >= 0 ? plan.rungs[rows[i].rung].name : NULL));
        JEXPECT_EQ(borrow.ptr[0] != NULL, rows[i].rung >= 0);
        JEXPECT_EQ(borrow.ptr[1] != NULL, rows[i].rung == 0);
        if (rows[i].rung >= 0)
            ++counts[rows[i].rung];
        degraded += rows[i].rung > 0;
        JEXPECT_OK(jborrow_end(&borrow));
    }
    const jhandle_stats_t stats = stats_of(handle);
    for (size_t i = 0; i < 3; ++i)
        JEXPECT_EQ(stats.rung_count[i], counts[i]);
    JEXPECT_EQ(stats.degraded_count, degraded);
    JEXPECT_EQ(stats.misuse_count, 0);
    JEXPECT_EQ(stats.high_watermark_bytes, 1536);
    JEXPECT_STREQ(stats.peak_routine, "planned");
    JEXPECT_STREQ(stats.peak_shape, "m=3 n=4");
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Plan, DefaultModeGrowsForTheBestRungAndTheBudgetTakesALowerOne) {
    jhandle_t *handle = make_handle(0);
    inner_rung = -1;
    JEXPECT_OK(inner_routine(handle, 100)); /* 2432 + 832 */
    JEXPECT_EQ(inner_rung, 0);
    JEXPECT_EQ(capacity_of(handle), 2432 + 832);
    JEXPECT_OK(jhandle_trim(handle, 0));
    JEXPECT_OK(jhandle_set_budget(handle, 2432));
    JEXPECT_STATUS(inner_routine(handle, 100), JSTATUS_PERF_DEGRADED);
    JEXPECT_EQ(inner_rung, 1);
    JEXPECT_EQ(capacity_of(handle), 832);
    JEXPECT_OK(jhandle_set_budget(handle, JALLOC_UNLIMITED));
    jdevice_t *none;
    JEXPECT_STATUS(jdevice_get("elsewhere", &none), JSTATUS_INVALID_VALUE);
    jtest_fail_allocation_after(1); /* no memory for the best: a lower one does */
    JEXPECT_STATUS(inner_routine(handle, 100), JSTATUS_PERF_DEGRADED);
    JEXPECT_EQ(inner_rung, 1);
    JEXPECT_SUBSTR(jstatus_last_message(), "elsewhere"); /* what is done is no error */
    JEXPECT_OK(inner_routine(handle, 100));
    JEXPECT_EQ(inner_rung, 0);
    JEXPECT_OK(jhandle_seal(handle));
    JEXPECT_STATUS(inner_routine(handle, 1000), JSTATUS_SEALED);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "inner_routine");
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Plan, LowestRungMayNeedNothing) {
    jhandle_t *handle = make_handle(64);
    inner_rung = -1;
    JEXPECT_STATUS(inner_routine(handle, 100), JSTATUS_PERF_DEGRADED);
    JEXPECT_EQ(inner_rung, 2);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Rungs of the classes 0 1 0 1: only those of the last one's may be used, and the query counts the
 * first of those. */
JTEST(Plan, SameBitsUsesOnlyTheLastRungsClass) {
    jhandle_t *handle = make_handle(0);
    static const struct {
        size_t capacity;
        jstatus_t fast, same;
        int fast_rung, same_rung;
    } rows[] = {
        {4096, JSTATUS_SUCCESS, JSTATUS_SUCCESS, 0, 1},
        {3072, JSTATUS_PERF_DEGRADED, JSTATUS_SUCCESS, 1, 1},
        {2048, JSTATUS_PERF_DEGRADED, JSTATUS_PERF_DEGRADED, 2, 3},
        {1024, JSTATUS_PERF_DEGRADED, JSTATUS_PERF_DEGRADED, 3, 3},
        {64, JSTATUS_MEMORY_ERROR, JSTATUS_MEMORY_ERROR, -1, -1},
    };
    for (int policy = JRESULT_POLICY_FAST; policy <= JRESULT_POLICY_SAME_BITS; ++policy) {
        const bool same = policy == JRESULT_POLICY_SAME_BITS;
        JEXPECT_OK(jhandle_set_result_policy(handle, (jresult_policy_t)policy));
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
            JSCOPED_TRACE("policy %d, capacity %zu", policy, rows[i].capacity);
            jplan_t plan;
            jborrow_t borrow;
            size_t bytes;
            jplan_init(&plan, handle, "planned", "", NULL);
            for (uint32_t k = 0; k < 4; ++k)
                jplan_add(&plan, "rung", k % 2, 0, 1, (const size_t[]){4096 - 1024 * k});
            JEXPECT_EQ(plan.same_bits, policy == JRESULT_POLICY_SAME_BITS);
            JEXPECT_EQ(jplan_bytes(&plan, handle), same ? 3072 : 4096);
            JEXPECT_OK(jhandle_set_workspace_size(handle, rows[i].capacity));
            JEXPECT_OK(jhandle_start_size_query(handle));
            JEXPECT_STATUS(jhandle_answer_plan(handle, &plan), JSTATUS_SIZE_INCREASED);
            JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
            JEXPECT_EQ(bytes, same ? 3072 : 4096);
            JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, &plan),
                           same ? rows[i].same : rows[i].fast);
            JEXPECT_EQ(borrow.rung, same ? rows[i].same_rung : rows[i].fast_rung);
            JEXPECT_OK(jborrow_end(&borrow));
        }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Plan, CalleesBytesAreKeptFreeBesideTheBuffers) {
    jhandle_t *handle = make_handle(0);
    jplan_t plan;
    jborrow_t borrow, inner;
    jplan_init(&plan, handle, "caller", "", NULL);
    jplan_add(&plan, "with callee", 0, 1024, 1, (const size_t[]){512});
    jplan_add(&plan, "alone", 0, 0, 1, (const size_t[]){512});
    JEXPECT_EQ(jplan_bytes(&plan, handle), 1536);
    JEXPECT_OK(jhandle_set_workspace_size(handle, 1536));
    JEXPECT_OK(jborrow_begin_plan(&borrow, handle, &plan));
    JEXPECT_EQ(borrow.rung, 0);
    JEXPECT_EQ(stats_of(handle).in_use_bytes, 512); /* reserved, not borrowed */
    JEXPECT_OK(borrow_one(&inner, handle, 1024));
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_OK(jhandle_set_workspace_size(handle, 1472));
    JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, &plan), JSTATUS_PERF_DEGRADED);
    JEXPECT_EQ(borrow.rung, 1);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_OK(jhandle_set_workspace_size(handle, 0)); /* default mode grows once for both */
    const uint64_t growths = stats_of(handle).growth_count;
    JEXPECT_OK(jborrow_begin_plan(&borrow, handle, &plan));
    JEXPECT_OK(borrow_one(&inner, handle, 1024));
    JEXPECT_EQ(stats_of(handle).growth_count, growths + 1);
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Plan, MistakesInAPlanAreAnsweredWhereItIsUsed) {
    jhandle_t *handle = make_handle(4096);
    static const size_t many[JBORROW_MAX_BUFFERS + 1];
    jborrow_t borrow;
    for (int mistake = 0; mistake < 3; ++mistake) {
        JSCOPED_TRACE("mistake %d", mistake);
        jplan_t plan;
        jplan_init(&plan, handle, "mistaken", "", NULL);
        if (mistake == 0) /* too many rungs */
            for (int i = 0; i <= JHANDLE_MAX_RUNGS; ++i)
                jplan_add(&plan, "rung", 0, 0, 0, NULL);
        if (mistake == 1) /* too many buffers */
            jplan_add(&plan, "rung", 0, 0, JBORROW_MAX_BUFFERS + 1, many);
        memset(&borrow, 0xEE, sizeof borrow); /* mistake 2: no rung at all */
        JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, &plan), JSTATUS_INVALID_VALUE);
        JEXPECT_FALSE(borrow.ok);
        JEXPECT_EQ(borrow.rung, -1);
        JEXPECT_SUBSTR(jhandle_last_message(handle), "mistaken");
        JEXPECT_OK(jhandle_start_size_query(handle));
        JEXPECT_STATUS(jhandle_answer_plan(handle, &plan), JSTATUS_INVALID_VALUE);
        JEXPECT_OK(jhandle_stop_size_query(handle, &(size_t){0}));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* What a plan needs without a handle: nothing is rounded. A plan that is not sound needs more than
 * there is. */
JTEST(Plan, BytesOfPlansThatNoHandleHasSeen) {
    jplan_t plan;
    jplan_init(&plan, NULL, "alone", "", NULL);
    JEXPECT_EQ(jplan_bytes(&plan, NULL), 0);
    jplan_add(&plan, "only", 0, 5, 2, (const size_t[]){100, 3});
    JEXPECT_EQ(jplan_bytes(&plan, NULL), 108);
    jplan_add(&plan, "mistaken", 0, 0, JBORROW_MAX_BUFFERS + 1, NULL);
    JEXPECT_EQ(jplan_bytes(&plan, NULL), JALLOC_SIZE_OVERFLOW);
}

/* Nobody hears of an error of these functions but by what comes after. */
JTEST(Plan, NullIsAnsweredAndTheFirstMistakeStays) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    const int64_t shape[] = {3, 4};
    const size_t bytes[] = {64};
    const jprice_t price = {1, 1, 1};
    jplan_init_sized(NULL, sizeof(jplan_t), handle, "routine", "mn", shape);
    JEXPECT_SUBSTR(jstatus_last_message(), "the plan is NULL");
    (void)jhandle_fail(handle, JSTATUS_IO_ERROR, "another");
    jplan_add(NULL, "rung", 0, 0, 1, bytes);
    JEXPECT_SUBSTR(jstatus_last_message(), "the plan is NULL");
    (void)jhandle_fail(handle, JSTATUS_IO_ERROR, "another");
    jplan_price(NULL, &price);
    JEXPECT_SUBSTR(jstatus_last_message(), "the plan is NULL");
    JEXPECT_EQ(jplan_bytes(NULL, handle), JALLOC_SIZE_OVERFLOW);

    for (int mistake = 0; mistake < 3; ++mistake) {
        jplan_t plan;
        jborrow_t borrow;
        JSCOPED_TRACE("mistake %d", mistake);
        jplan_init(&plan, handle, "routine", "mn", mistake == 0 ? NULL : shape);
        jplan_add(&plan, "rung", 0, 0, 1, mistake == 1 ? NULL : bytes);
        jplan_price(&plan, mistake == 2 ? NULL : &price);
        jplan_add(&plan, "too much", 0, 0, JBORROW_MAX_BUFFERS + 1, bytes);
        JEXPECT_STATUS(plan.status, JSTATUS_INVALID_POINTER);
        JEXPECT_EQ(jplan_bytes(&plan, handle),
                   mistake == 1 ? 0 : JALLOC_SIZE_OVERFLOW); /* no rung was added */
        JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, &plan), JSTATUS_INVALID_POINTER);
        JEXPECT_FALSE(borrow.ok);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Plan, EightRungsAreAllowed) {
    jhandle_t *handle = make_handle(64);
    jplan_t plan;
    jborrow_t borrow;
    jplan_init(&plan, handle, "eight", "", NULL);
    for (size_t i = 0; i < JHANDLE_MAX_RUNGS; ++i)
        jplan_add(&plan, "rung", 0, 0, 1, (const size_t[]){64 * (JHANDLE_MAX_RUNGS - i)});
    JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, &plan), JSTATUS_PERF_DEGRADED);
    JEXPECT_EQ(borrow.rung, JHANDLE_MAX_RUNGS - 1);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_EQ(stats_of(handle).rung_count[JHANDLE_MAX_RUNGS - 1], 1);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Plan, OverflowingSizesAreInvalidSizeInQueryAndBorrow) {
    static const struct {
        size_t bytes[2], callee;
    } rows[] = {
        {{JALLOC_SIZE_OVERFLOW, 0}, 0},   {{64, JALLOC_SIZE_OVERFLOW}, 0},
        {{SIZE_MAX - 63, 64}, 0},         {{SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1}, 0},
        {{64, 64}, JALLOC_SIZE_OVERFLOW}, {{64, 64}, SIZE_MAX - 127},
    };
    jhandle_t *handle = make_handle(4096);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        JSCOPED_TRACE("row %zu", i);
        jplan_t plan;
        jborrow_t borrow;
        size_t bytes = 0;
        jplan_init(&plan, handle, "huge", "", NULL);
        jplan_add(&plan, "huge", 0, rows[i].callee, 2, rows[i].bytes);
        JEXPECT_EQ(jplan_bytes(&plan, handle), JALLOC_SIZE_OVERFLOW);
        JEXPECT_OK(jhandle_start_size_query(handle));
        JEXPECT_STATUS(jhandle_answer_plan(handle, &plan), JSTATUS_INVALID_SIZE);
        JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
        JEXPECT_EQ(bytes, 0);
        JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, &plan), JSTATUS_INVALID_SIZE);
        JEXPECT_FALSE(borrow.ok);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Plan, LongShapesAreCut) {
    jhandle_t *handle = make_handle(0);
    const int64_t shape[] = {INT64_MIN, INT64_MAX, -1, INT64_MAX};
    jplan_t plan;
    jborrow_t borrow;
    jplan_init(&plan, handle, "a_name_that_is_much_longer_than_thirty_one", "mnkb", shape);
    jplan_add(&plan, "only", 0, 0, 1, (const size_t[]){100});
    JEXPECT_OK(jborrow_begin_plan(&borrow, handle, &plan));
    JEXPECT_OK(jborrow_end(&borrow));
    const jhandle_stats_t stats = stats_of(handle);
    JEXPECT_LT(strlen(stats.peak_shape), JHANDLE_SHAPE_BYTES);
    JEXPECT_SUBSTR(stats.peak_shape, "m=-9223372036854775808 n=9223372036854775807");
    JEXPECT_EQ(strlen(stats.peak_routine), JHANDLE_ROUTINE_BYTES - 1);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Plan, ShapesHaveUpToFourNumbersOrNone) {
    static const char *const names[] = {NULL, "", "mnkb", "mnkbz"}, *const shown[] = {
                                                                        "", "", "m=1 n=2 k=3 b=4",
                                                                        NULL};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        jhandle_t *handle = make_handle(0);
        jplan_t plan;
        jborrow_t borrow;
        jplan_init(&plan, handle, "shaped", names[i], (const int64_t[]){1, 2, 3, 4, 5});
        jplan_add(&plan, "only", 0, 0, 1, (const size_t[]){100});
        JEXPECT_OK(jborrow_begin_plan(&borrow, handle, &plan));
        JEXPECT_OK(jborrow_end(&borrow));
        JEXPECT_STREQ(stats_of(handle).peak_shape, shown[i] != NULL ? shown[i] : shown[i - 1]);
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

/* A rung that does not fit while a lower one does is no failure: nobody is told anything. Where
 * none fits, the message is of the last that was tried. */
JTEST(Plan, ARefusedRungSaysNothingWhileALowerOneFits) {
    static unsigned char small[64] __attribute__((aligned(64)));
    static const char *const modes[] = {"manual", "user-owned", "budget", "allocator"};
    for (int mode = 0; mode < 4; ++mode) {
        JSCOPED_TRACE("%s", modes[mode]);
        jallocator_t *limited = NULL;
        JASSERT_OK(jallocator_compose(NULL, "malloc+limit(limit=64)", &limited));
        jhandle_options_t options = JHANDLE_OPTIONS_INIT;
        options.allocator = mode == 3 ? limited : NULL;
        jhandle_t *handle = NULL;
        JASSERT_OK(jhandle_create(&options, &handle));
        if (mode == 0)
            JEXPECT_OK(jhandle_set_workspace_size(handle, 64));
        if (mode == 1)
            JEXPECT_OK(jhandle_set_workspace(handle, small, 64));
        if (mode == 2)
            JEXPECT_OK(jhandle_set_budget(handle, 64));
        JEXPECT_STATUS(jhandle_fail(handle, JSTATUS_NOT_FOUND, "what was said before"),
                       JSTATUS_NOT_FOUND);

        jplan_t plan;
        jborrow_t borrow;
        jplan_init(&plan, handle, "frugal", "", NULL);
        jplan_add(&plan, "no size", 0, 0, 1, (const size_t[]){JALLOC_SIZE_OVERFLOW});
        jplan_add(&plan, "much", 0, 0, 1, (const size_t[]){4096});
        jplan_add(&plan, "little", 0, 0, 1, (const size_t[]){64});
        JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, &plan), JSTATUS_PERF_DEGRADED);
        JEXPECT_EQ(borrow.rung, 2);
        JEXPECT_STREQ(jhandle_last_message(handle), "what was said before");
        JEXPECT_OK(jborrow_end(&borrow));

        plan.rung_count = 2;
        JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, &plan), JSTATUS_MEMORY_ERROR);
        JEXPECT_SUBSTR(jhandle_last_message(handle), "frugal needs 4096 bytes of workspace");
        plan.rung_count = 1;
        JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, &plan), JSTATUS_INVALID_SIZE);
        JEXPECT_SUBSTR(jhandle_last_message(handle), "frugal: the sizes of a borrow overflow");
        JEXPECT_OK(jhandle_destroy(handle));
        JEXPECT_OK(jallocator_destroy(limited));
    }
}
