/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A handle whose stream is captured into graphs, on a pretended GPU (pretend_gpu.h): whose memory
 * is lent when, who gives it back, what is refused, and that nothing is done to a captured stream
 * that a runtime would not forgive. */

#include "handle_capture_helper.h"

/* ---- Who asks ---- */

JTEST(HandleCapture, OnlyOutermostBorrowsOfAStreamAsk) {
    fixture_t f = begin_with_handle();
    jborrow_t outer, inner;
    JEXPECT_OK(touch(f.handle, 1000));
    f.gpu->asked = 0;
    for (int i = 0; i < 3; ++i) {
        JALLOC_BORROW(ws, f.handle, 1000);
        JALLOC_BORROW(nested, f.handle, 0);
        JEXPECT_TRUE(ws.ok && nested.ok);
        JEXPECT_EQ(f.gpu->asked, i + 1);
    }
    JEXPECT_OK(borrow_one(&outer, f.handle, 100));
    JEXPECT_OK(borrow_one(&inner, f.handle, 100));
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_EQ(f.gpu->asked, 4);
    JEXPECT_OK(jhandle_set_stream(f.handle, NULL)); /* which cannot be captured */
    f.gpu->asked = 0;
    for (int i = 0; i < 3; ++i) {
        JALLOC_BORROW(ws, f.handle, 1000);
        JEXPECT_TRUE(ws.ok);
    }
    JEXPECT_EQ(f.gpu->asked, 0);
    JEXPECT_GT(f.handle->borrows.fast_end, 0); /* the inline path is open */
    JEXPECT_OK(jhandle_set_stream(f.handle, f.stream));
    JEXPECT_EQ(f.handle->borrows.fast_end, 0);
    JEXPECT_OK(jhandle_set_never_captured(f.handle, true)); /* promised */
    f.gpu->asked = 0;
    JEXPECT_OK(touch(f.handle, 1000));
    JEXPECT_EQ(f.gpu->asked, 0);
    JEXPECT_GT(f.handle->borrows.fast_end, 0);
    bool promised = false;
    JEXPECT_OK(jhandle_get_never_captured(f.handle, &promised));
    JEXPECT_TRUE(promised);
    JEXPECT_OK(jhandle_set_never_captured(f.handle, false));
    JEXPECT_OK(touch(f.handle, 1000));
    JEXPECT_EQ(f.gpu->asked, 1);
    end(&f);
}

JTEST(HandleCapture, PromisesArePartOfTheOptionsAndCannotBeMadeInACapture) {
    fixture_t f = begin();
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.device = f.device;
    options.stream = f.stream;
    options.never_captured = true;
    JASSERT_OK(jhandle_create(&options, &f.handle));
    JEXPECT_OK(touch(f.handle, 1000));
    JEXPECT_EQ(f.gpu->asked, 0);
    JEXPECT_OK(jhandle_set_never_captured(f.handle, false));
    char *ordinary = place(f.handle, 1000);
    pretend_gpu_capture(f.stream, 1);
    JEXPECT_STATUS(jhandle_set_never_captured(f.handle, true), JSTATUS_CAPTURING);
    JEXPECT_NE(place(f.handle, 1000), ordinary);
    jborrow_t borrow;
    JEXPECT_OK(borrow_one(&borrow, f.handle, 10));
    JEXPECT_STATUS(jhandle_set_never_captured(f.handle, true), JSTATUS_BUSY);
    JEXPECT_OK(jborrow_end(&borrow));
    pretend_gpu_capture(f.stream, 0);
    /* Back to the ordinary workspace, without a borrow. */
    JEXPECT_OK(jhandle_set_never_captured(f.handle, true));
    JEXPECT_EQ(place(f.handle, 1000), ordinary);
    end(&f);
}

JTEST(HandleCapture, RuntimesWithoutCapturesAreNotAsked) {
    fixture_t f = begin();
    f.gpu->has_capture = f.gpu->has_capture_ownership = false;
    f.handle = make_on(&f, NULL, 0);
    JEXPECT_OK(touch(f.handle, 1000));
    JEXPECT_OK(jhandle_set_stream(f.handle, f.other));
    JEXPECT_OK(touch(f.handle, 2000));
    JEXPECT_EQ(f.gpu->asked, 0);
    JEXPECT_GT(f.handle->borrows.fast_end, 0);
    end(&f);
}

/* ---- Default mode ---- */

JTEST(HandleCapture, BorrowsComeFromTheGraphAndTheOrdinaryWorkspaceIsBackAfterIt) {
    fixture_t f = begin_with_handle();
    char *ordinary = place(f.handle, 1000);
    pretend_gpu_capture(f.stream, 1);
    char *captured = place(f.handle, 1000);
    JEXPECT_NE(captured, ordinary);
    JEXPECT_EQ(place(f.handle, 1000), captured);
    JEXPECT_EQ(capacity_of(f.handle), 1024); /* the ordinary one's */
    JEXPECT_EQ(pretend_gpu_owned(), 1);
    jhandle_stats_t stats = stats_of(f.handle);
    JEXPECT_EQ(stats.capture_count, 1);
    JEXPECT_EQ(stats.captured_bytes, 1024);
    JEXPECT_EQ(stats.allocation_count, 2);
    pretend_gpu_capture(f.stream, 0);
    JEXPECT_EQ(place(f.handle, 1000), ordinary);
    JEXPECT_EQ(stats_of(f.handle).captured_bytes, 1024); /* until the graph ends */
    JEXPECT_TRUE(pretend_gpu_is_live(captured));
    pretend_gpu_destroy_graph(1);
    JEXPECT_EQ(stats_of(f.handle).captured_bytes, 0);
    JEXPECT_EQ(place(f.handle, 1000), ordinary);
    JEXPECT_OK(jhandle_trim(f.handle, 1024)); /* keeps the ordinary one */
    JEXPECT_FALSE(pretend_gpu_is_live(captured));
    JEXPECT_EQ(pretend_gpu_live_bytes(), 1024);
    JEXPECT_EQ(stats_of(f.handle).deallocation_count, 1);
    end(&f);
}

JTEST(HandleCapture, GrowthInACaptureFreesNothing) {
    fixture_t f = begin_with_handle();
    JEXPECT_OK(touch(f.handle, 512));
    pretend_gpu_capture(f.stream, 1);
    enum { GROWTHS = 40 };
    char *places[GROWTHS];
    size_t bytes = 1000, largest = 0;
    for (int i = 0; i < GROWTHS; ++i, bytes += 1000) {
        places[i] = place(f.handle, bytes);
        largest = bytes;
    }
    for (int i = 0; i < GROWTHS; ++i)
        JEXPECT_TRUE(pretend_gpu_is_live(places[i]));
    JEXPECT_LE(stats_of(f.handle).captured_bytes, 5 * largest); /* and not their sum */
    jborrow_t nest[4];
    for (size_t i = 0; i < 4; ++i) /* nested ones get further blocks */
        JEXPECT_OK(borrow_one(&nest[i], f.handle, largest * (i + 1)));
    JEXPECT_EQ(stats_of(f.handle).in_use_bytes, 4 * 256 * ((10 * largest / 4 + 255) / 256));
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < i; ++k)
            JEXPECT_NE(nest[i].ptr[0], nest[k].ptr[0]);
    for (int i = 4; i-- > 0;)
        JEXPECT_OK(jborrow_end(&nest[i]));
    const uint64_t taken = stats_of(f.handle).allocation_count;
    for (int round = 0; round < 3; ++round) { /* which serve again */
        for (size_t i = 0; i < 4; ++i)
            JEXPECT_OK(borrow_one(&nest[i], f.handle, largest * (i + 1)));
        for (int i = 4; i-- > 0;)
            JEXPECT_OK(jborrow_end(&nest[i]));
    }
    JEXPECT_EQ(stats_of(f.handle).allocation_count, taken);
    JEXPECT_EQ(stats_of(f.handle).deallocation_count, 0);
    pretend_gpu_capture(f.stream, 0);
    JEXPECT_OK(touch(f.handle, 512));
    JEXPECT_EQ(stats_of(f.handle).allocation_count, taken);
    end(&f);
}

/* A further block that is too small for the next nested borrow stays as well. */
JTEST(HandleCapture, GrowthInANestFreesNothing) {
    fixture_t f = begin_with_handle();
    jborrow_t outer;
    pretend_gpu_capture(f.stream, 1);
    JEXPECT_OK(borrow_one(&outer, f.handle, 1000));
    char *small = place(f.handle, 2000), *large = place(f.handle, 5000);
    JEXPECT_TRUE(pretend_gpu_is_live(small) && pretend_gpu_is_live(large) &&
                 pretend_gpu_is_live(outer.ptr[0]));
    JEXPECT_NE(small, large);
    JEXPECT_EQ(stats_of(f.handle).deallocation_count, 0);
    JEXPECT_OK(jborrow_end(&outer));
    end(&f);
}

JTEST(HandleCapture, EachCaptureHasMemoryOfItsOwn) {
    fixture_t f = begin_with_handle();
    char *places[6];
    for (uint64_t capture = 1; capture <= 5; ++capture) {
        /* Straight from one into the next, or not. */
        pretend_gpu_capture(f.stream, capture);
        places[capture] = place(f.handle, 1000);
        for (uint64_t before = 1; before < capture; ++before)
            JEXPECT_NE(places[capture], places[before]);
        if (capture % 2 == 0) {
            pretend_gpu_capture(f.stream, 0);
            JEXPECT_OK(touch(f.handle, 700));
        }
    }
    JEXPECT_EQ(stats_of(f.handle).capture_count, 5);
    JEXPECT_EQ(stats_of(f.handle).captured_bytes, 5 * 1024);
    pretend_gpu_capture(f.stream, 0);
    pretend_gpu_destroy_graph(3);
    JEXPECT_OK(jhandle_trim(f.handle, 0));
    for (uint64_t capture = 1; capture <= 5; ++capture)
        JEXPECT_EQ(pretend_gpu_is_live(places[capture]), capture != 3);
    JEXPECT_OK(jhandle_clear_stats(f.handle));
    JEXPECT_EQ(stats_of(f.handle).capture_count, 0);
    JEXPECT_EQ(stats_of(f.handle).captured_bytes, 4 * 1024);
    end(&f);
}

/* What a borrow has is the same whether it is the first of a capture, or the workspace is empty, or
 * none is wanted. */
JTEST(HandleCapture, NothingBorrowedIsNothingTaken) {
    fixture_t f = begin_with_handle();
    pretend_gpu_capture(f.stream, 1);
    JEXPECT_NULL(place(f.handle, 0));
    JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
    JEXPECT_EQ(pretend_gpu_owned(), 0);
    JEXPECT_OK(jhandle_destroy(f.handle)); /* nothing to wait for, in a capture or not */
    f.handle = NULL;
    end(&f);
}

JTEST(HandleCapture, BudgetAndSealHoldInACapture) {
    fixture_t f = begin_with_handle();
    JEXPECT_OK(touch(f.handle, 4096));
    JEXPECT_OK(jhandle_set_budget(f.handle, 4096));
    pretend_gpu_capture(f.stream, 1);
    JEXPECT_STATUS(touch(f.handle, 5000), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(touch(f.handle, 3000));
    JEXPECT_OK(touch(f.handle, 4096)); /* exactly, although half as much again would be more */
    JEXPECT_STATUS(touch(f.handle, 4097), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jhandle_seal(f.handle));
    JEXPECT_OK(touch(f.handle, 4096));
    pretend_gpu_capture(f.stream, 2);
    JEXPECT_STATUS(touch(f.handle, 100), JSTATUS_SEALED);
    JEXPECT_OK(jhandle_unseal(f.handle));
    JEXPECT_OK(touch(f.handle, 100));
    pretend_gpu_capture(f.stream, 0);
    JEXPECT_OK(touch(f.handle, 4096));
    end(&f);
}

/* The graph keeps the small block all the same, but what borrows come from is within the budget. */
JTEST(HandleCapture, ABlockAboutToBeReplacedIsNotCountedAgainstTheBudget) {
    fixture_t f = begin_with_handle();
    jborrow_t outer, inner;
    JEXPECT_OK(jhandle_set_budget(f.handle, 10240));
    pretend_gpu_capture(f.stream, 1);
    JEXPECT_OK(borrow_one(&outer, f.handle, 4096));
    char *small = place(f.handle, 3072);
    JEXPECT_OK(borrow_one(&inner, f.handle, 5120));
    JEXPECT_TRUE(pretend_gpu_is_live(small));
    JEXPECT_NE(inner.ptr[0], small);
    JEXPECT_STATUS(touch(f.handle, 2048), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&outer));
    const uint64_t taken = stats_of(f.handle).allocation_count;
    JEXPECT_EQ(taken, 3);
    JEXPECT_OK(touch(f.handle, 5120)); /* idle in the same capture: a block that is there does */
    JEXPECT_EQ(stats_of(f.handle).allocation_count, taken);
    end(&f);
}

JTEST(HandleCapture, PlansTakeALowerRungWhereThereIsNoMemory) {
    fixture_t f = begin_with_handle();
    jplan_t plan;
    jborrow_t borrow;
    JEXPECT_OK(jhandle_set_budget(f.handle, 4096));
    pretend_gpu_capture(f.stream, 1);
    jplan_init(&plan, f.handle, "planned", "", NULL);
    jplan_add(&plan, "best", 0, 0, 1, (const size_t[]){10000});
    jplan_add(&plan, "less", 0, 0, 1, (const size_t[]){1000});
    JEXPECT_STATUS(jborrow_begin_plan(&borrow, f.handle, &plan), JSTATUS_PERF_DEGRADED);
    JEXPECT_EQ(borrow.rung, 1);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_EQ(stats_of(f.handle).captured_bytes, 1024);
    end(&f);
}

JTEST(HandleCapture, GraphsOutliveTheHandle) {
    fixture_t f = begin_with_handle();
    JEXPECT_OK(touch(f.handle, 5000));
    pretend_gpu_capture(f.stream, 1);
    char *captured = place(f.handle, 1000);
    pretend_gpu_capture(f.stream, 2);
    char *second = place(f.handle, 1000);
    pretend_gpu_capture(f.stream, 0);
    JEXPECT_OK(jhandle_destroy(f.handle));
    f.handle = NULL;
    JEXPECT_TRUE(pretend_gpu_is_live(captured));
    JEXPECT_EQ(pretend_gpu_live_bytes(), 2048);
    jhandle_t *another = make_on(&f, NULL, 0);
    JEXPECT_TRUE(pretend_gpu_is_live(captured));
    pretend_gpu_destroy_graph(1);
    JEXPECT_OK(jhandle_trim(another, 0)); /* any handle does */
    JEXPECT_FALSE(pretend_gpu_is_live(captured));
    JEXPECT_TRUE(pretend_gpu_is_live(second));
    pretend_gpu_destroy_graph(2);
    JEXPECT_OK(jhandle_destroy(another));
    JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
    end(&f);
}

/* The caller's allocator: its books tell, it is kept as long as the graph, and may be destroyed
 * then. */
JTEST(HandleCapture, MemoryComesFromTheHandlesAllocator) {
    static const char *const compositions[] = {"device",
                                               "device(kind=ordered)",
                                               "bfc",
                                               "general",
                                               "lru",
                                               "pool",
                                               "guard",
                                               "fill",
                                               "bfc+guard+track",
                                               "device(kind=ordered)+bfc",
                                               "small+quota(budget=captures,limit=1M)"};
    for (size_t i = 0; i < sizeof compositions / sizeof compositions[0]; ++i) {
        JSCOPED_TRACE("%s", compositions[i]);
        fixture_t f = begin();
        jallocator_t *allocator = NULL;
        jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
        JASSERT_OK(jallocator_compose(f.device, compositions[i], &allocator));
        f.handle = make_on(&f, allocator, 0);
        char *ordinary = place(f.handle, 40000);
        pretend_gpu_capture(f.stream, 1);
        char *captured = place(f.handle, 30000);
        JEXPECT_NE(ordinary, captured);
        JEXPECT_NE(place(f.handle, 50000), captured);
        JEXPECT_OK(jallocator_get_stats(allocator, &stats));
        JEXPECT_EQ(stats.live_count, 3);
        pretend_gpu_capture(f.stream, 0);
        JEXPECT_EQ(place(f.handle, 40000), ordinary);
        JEXPECT_OK(jhandle_destroy(f.handle));
        JEXPECT_OK(jallocator_get_stats(allocator, &stats));
        JEXPECT_EQ(stats.live_count, 2);
        JEXPECT_STATUS(jallocator_destroy(allocator), JSTATUS_BUSY);
        pretend_gpu_destroy_graph(1);
        JEXPECT_OK(jhandle_create(NULL, &f.handle));
        JEXPECT_OK(jallocator_get_stats(allocator, &stats));
        JEXPECT_EQ(stats.live_count, 0);
        JEXPECT_OK(jallocator_check(allocator));
        JEXPECT_OK(jallocator_destroy(allocator));
        end(&f);
    }
}

JTEST(HandleCapture, RuntimesWhoseGraphsOwnNothingLeaveItToTheHandle) {
    fixture_t f = begin();
    f.gpu->has_capture_ownership = false;
    f.handle = make_on(&f, NULL, 0);
    JEXPECT_OK(touch(f.handle, 1000));
    pretend_gpu_capture(f.stream, 1);
    char *captured = place(f.handle, 1000), *larger = place(f.handle, 2000);
    JEXPECT_EQ(stats_of(f.handle).captured_bytes, 3072);
    pretend_gpu_capture(f.stream, 0);
    JEXPECT_OK(jhandle_trim(f.handle, 0));
    JEXPECT_TRUE(pretend_gpu_is_live(captured) && pretend_gpu_is_live(larger));
    JEXPECT_OK(jhandle_set_workspace_size(f.handle, 4096));
    JEXPECT_TRUE(pretend_gpu_is_live(captured) && pretend_gpu_is_live(larger));
    pretend_gpu_capture(f.stream, 2);
    JEXPECT_OK(touch(f.handle, 1000)); /* the fixed block is nobody's but the handle's */
    JEXPECT_STATUS(jhandle_destroy(f.handle), JSTATUS_CAPTURING);
    pretend_gpu_capture(f.stream, 0);
    JEXPECT_OK(jhandle_set_workspace_size(f.handle, 0));
    pretend_gpu_capture(f.stream, 3);
    JEXPECT_OK(touch(f.handle, 100));
    /* Its memory would go under the capture. */
    JEXPECT_STATUS(jhandle_destroy(f.handle), JSTATUS_CAPTURING);
    pretend_gpu_capture(f.stream, 0);
    JEXPECT_OK(jhandle_destroy(f.handle));
    f.handle = NULL;
    JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
    end(&f);
}

/* ---- The fixed modes ---- */

JTEST(HandleCapture, FixedModesShareTheirBlockWithEachGraph) {
    for (int manual = 0; manual < 2; ++manual)
        for (int order = 0; order < 4; ++order) {
            JSCOPED_TRACE("manual %d, order %d", manual, order);
            fixture_t f = begin();
            f.handle = make_on(&f, NULL, manual ? 0 : 4096);
            if (manual)
                JEXPECT_OK(jhandle_set_workspace_size(f.handle, 4096));
            char *block = place(f.handle, 4096);
            f.gpu->allocations = f.gpu->ordered_allocations = f.gpu->waits = 0;
            for (uint64_t capture = 1; capture <= 3; ++capture) {
                pretend_gpu_capture(f.stream, capture);
                JEXPECT_EQ(place(f.handle, 4096), block);
                JEXPECT_EQ(place(f.handle, 100), block);
                JEXPECT_EQ(pretend_gpu_owned(), capture); /* once for each */
                JEXPECT_STATUS(touch(f.handle, 4097), JSTATUS_MEMORY_ERROR);
            }
            pretend_gpu_capture(f.stream, 0);
            JEXPECT_EQ(place(f.handle, 4096), block);
            JEXPECT_EQ(f.gpu->allocations + f.gpu->ordered_allocations + f.gpu->waits, 0);
            JEXPECT_EQ(stats_of(f.handle).captured_bytes, 4096); /* of one block */
            JEXPECT_EQ(stats_of(f.handle).capture_count, 3);
            for (int step = 0; step < 4; ++step) { /* the handle lets go first, second, ... last */
                JEXPECT_TRUE(pretend_gpu_is_live(block));
                if (step == order) {
                    if (manual)
                        JEXPECT_OK(jhandle_set_workspace_size(f.handle, 0));
                    else
                        JEXPECT_OK(jhandle_destroy(f.handle));
                    if (!manual)
                        f.handle = NULL;
                } else {
                    pretend_gpu_destroy_graph((uint64_t)(step > order ? step : step + 1));
                }
                if (f.handle != NULL)
                    JEXPECT_OK(jhandle_trim(f.handle, 0));
            }
            jhandle_t *any = NULL;
            JEXPECT_OK(jhandle_create(NULL, &any));
            JEXPECT_FALSE(pretend_gpu_is_live(block));
            JEXPECT_OK(jhandle_destroy(any));
            end(&f);
        }
}

JTEST(HandleCapture, UserOwnedMemoryIsTheCallers) {
    static char own[4096] __attribute__((aligned(256)));
    fixture_t f = begin_with_handle();
    jborrow_t borrow;
    JEXPECT_OK(jhandle_set_workspace(f.handle, own, sizeof own));
    pretend_gpu_capture(f.stream, 1);
    JEXPECT_OK(borrow_one(&borrow, f.handle, 1000));
    JEXPECT_EQ(borrow.ptr[0], own);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_EQ(pretend_gpu_owned(), 0);
    JEXPECT_EQ(stats_of(f.handle).captured_bytes, 0);
    JEXPECT_EQ(stats_of(f.handle).capture_count, 1);
    JEXPECT_OK(jhandle_set_workspace(f.handle, NULL, 0)); /* nothing to wait for */
    JEXPECT_OK(jhandle_set_workspace(f.handle, own, sizeof own));
    end(&f);
}

/* A block that a graph owns as well was used in the handle's stream: whoever gives it back cannot
 * know when. */
JTEST(HandleCapture, LettingGoOfASharedBlockWaitsForTheStream) {
    fixture_t f = begin_with_handle();
    JEXPECT_OK(jhandle_set_workspace_size(f.handle, 4096));
    JEXPECT_OK(touch(f.handle, 1000));
    f.gpu->waits = 0;
    JEXPECT_OK(jhandle_set_workspace_size(f.handle, 8192));
    JEXPECT_EQ(f.gpu->waits, 0); /* in stream order */
    pretend_gpu_capture(f.stream, 1);
    JEXPECT_OK(touch(f.handle, 1000));
    pretend_gpu_capture(f.stream, 0);
    JEXPECT_OK(touch(f.handle, 1000));
    JEXPECT_OK(jhandle_set_workspace_size(f.handle, 4096));
    JEXPECT_EQ(f.gpu->waits, 1);
    JEXPECT_EQ(stats_of(f.handle).captured_bytes, 8192);
    end(&f);
}

/* ---- What a capture does not allow ---- */

JTEST(HandleCapture, WhatWouldWaitForACapturedStreamIsRefused) {
    static char own[4096] __attribute__((aligned(256)));
    static const char *const compositions[] = {NULL, "device", "bfc"};
    for (int kind = 0; kind < 3; ++kind)
        for (int manual = 0; manual < 2; ++manual) {
            JSCOPED_TRACE("%s, manual %d", compositions[kind] ? compositions[kind] : "own", manual);
            fixture_t f = begin();
            jallocator_t *allocator = NULL;
            if (compositions[kind])
                JASSERT_OK(jallocator_compose(f.device, compositions[kind], &allocator));
            f.handle = make_on(&f, allocator, 0);
            if (manual)
                JEXPECT_OK(jhandle_set_workspace_size(f.handle, 4096));
            char *ordinary = place(f.handle, 4096);
            pretend_gpu_capture(f.stream, 1);
            char *captured = place(f.handle, 4000);
            f.gpu->waits = 0;
            JEXPECT_STATUS(jhandle_trim(f.handle, 0), manual ? JSTATUS_SUCCESS : JSTATUS_CAPTURING);
            JEXPECT_STATUS(jhandle_set_workspace_size(f.handle, 8192), JSTATUS_CAPTURING);
            JEXPECT_SUBSTR(jhandle_last_message(f.handle),
                           "before the capture begins or after it has ended");
            JEXPECT_STATUS(jhandle_set_workspace_size(f.handle, 0), JSTATUS_CAPTURING);
            JEXPECT_STATUS(jhandle_set_workspace(f.handle, own, sizeof own), JSTATUS_CAPTURING);
            JEXPECT_STATUS(jhandle_destroy(f.handle), JSTATUS_CAPTURING);
            JEXPECT_EQ(f.gpu->waits, 0);
            JEXPECT_EQ(place(f.handle, 4000), captured); /* all as it was */
            JEXPECT_EQ(mode_of(f.handle), manual ? JHANDLE_MODE_MANUAL : JHANDLE_MODE_DEFAULT);
            pretend_gpu_capture(f.stream, 0);
            JEXPECT_EQ(place(f.handle, 4096), ordinary);
            JEXPECT_OK(jhandle_set_workspace_size(f.handle, 8192));
            pretend_gpu_destroy_graph(1);
            JEXPECT_OK(jhandle_destroy(f.handle));
            f.handle = NULL;
            JEXPECT_OK(jallocator_destroy(allocator));
            end(&f);
        }
}

JTEST(HandleCapture, NothingIsPreallocatedInACapture) {
    fixture_t f = begin();
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.device = f.device;
    options.stream = f.stream;
    options.preallocate_bytes = 4096;
    pretend_gpu_capture(f.stream, 1);
    JEXPECT_STATUS(jhandle_create(&options, &f.handle), JSTATUS_CAPTURING);
    JEXPECT_NULL(f.handle);
    options.preallocate_bytes = 0;
    JEXPECT_OK(jhandle_create(&options, &f.handle)); /* made in the midst of it */
    JEXPECT_STATUS(jhandle_set_workspace_size(f.handle, 100), JSTATUS_CAPTURING);
    JEXPECT_OK(touch(f.handle, 1000));
    JEXPECT_EQ(stats_of(f.handle).captured_bytes, 1024);
    end(&f);
}

JTEST(HandleCapture, AFailedCaptureLendsNothingUntilItIsEnded) {
    fixture_t f = begin_with_handle();
    char *ordinary = place(f.handle, 1000);
    pretend_gpu_capture(f.stream, 1);
    char *captured = place(f.handle, 1000);
    pretend_gpu_capture(f.stream, UINT64_MAX);
    JEXPECT_STATUS(touch(f.handle, 100), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jhandle_trim(f.handle, 0), JSTATUS_CAPTURING);
    pretend_gpu_destroy_graph(1); /* as the runtime does at its end */
    pretend_gpu_capture(f.stream, 0);
    JEXPECT_EQ(place(f.handle, 1000), ordinary);
    JEXPECT_OK(jhandle_trim(f.handle, 2000));
    JEXPECT_FALSE(pretend_gpu_is_live(captured));
    end(&f);
}

/* ---- Policies and adaptors beside a capture ---- */

JTEST(HandleCapture, PoliciesAskNothingOfACapturedStream) {
    static const char *const policies[] = {"bfc",   "pool",    "lru",  "slots(slot=64K)",
                                           "stack", "general", "small"};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; ++i) {
        JSCOPED_TRACE("%s", policies[i]);
        fixture_t f = begin();
        jallocator_t *allocator = NULL;
        void *first, *second;
        JASSERT_OK(jallocator_compose(f.device, policies[i], &allocator));
        JASSERT_OK(jallocator_allocate(allocator, 4096, 0, f.stream, &first));
        JASSERT_OK(jallocator_deallocate(allocator, first, 4096, f.stream));
        pretend_gpu_capture(f.stream, 1);
        JASSERT_OK(jallocator_allocate(allocator, 4096, 0, f.other, &second));
        JEXPECT_OK(jallocator_deallocate(allocator, second, 4096, f.other));
        JASSERT_OK(jallocator_allocate(allocator, 4096, 0, NULL, &second));
        JEXPECT_OK(jallocator_deallocate(allocator, second, 4096, NULL));
        pretend_gpu_capture(f.stream, 0);
        JEXPECT_OK(jallocator_trim(allocator, 0));
        JEXPECT_OK(jallocator_destroy(allocator));
        end(&f);
    }
}

JTEST(HandleCapture, AdaptorsThatWriteRefuseACapturedStream) {
    static const char *const adaptors[] = {"guard", "fill"};
    for (size_t i = 0; i < 2; ++i) {
        JSCOPED_TRACE("%s", adaptors[i]);
        fixture_t f = begin();
        jallocator_t *allocator = NULL;
        void *before, *inside;
        JASSERT_OK(jallocator_compose(f.device, adaptors[i], &allocator));
        JASSERT_OK(jallocator_allocate(allocator, 4096, 0, f.stream, &before));
        pretend_gpu_capture(f.stream, 1);
        JEXPECT_STATUS(jallocator_allocate(allocator, 4096, 0, f.stream, &inside),
                       JSTATUS_CAPTURING);
        JEXPECT_NULL(inside);
        JEXPECT_STATUS(jallocator_deallocate(allocator, before, 4096, f.stream), JSTATUS_CAPTURING);
        JEXPECT_OK(jallocator_find(allocator, before, &(jallocation_t)JALLOCATION_INIT));
        JEXPECT_OK(jallocator_check(allocator));
        pretend_gpu_capture(f.stream, 0);
        JEXPECT_OK(jallocator_deallocate(allocator, before, 4096, f.stream));
        JEXPECT_OK(jallocator_destroy(allocator));
        /* Guard waits for the stream, which refuses. */
        f.gpu->violations = i == 0 ? 0 : f.gpu->violations;
        end(&f);
    }
}
