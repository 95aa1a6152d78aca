/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A handle whose stream is captured into graphs, on a pretended GPU (pretend_gpu.h): whose memory is lent when, who
 * gives it back, what is refused, and that nothing is done to a captured stream that a runtime would not forgive. */

#include "handle_helper.h"
#include "pretend_gpu.h"

#include "handle/handle.h"
#include "jalloc/adaptor.h"
#include "jalloc/provider.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct fixture {
    pretend_gpu_t *gpu;
    jdevice_t *device;
    jstream_t *stream, *other;
    jhandle_t *handle;
} fixture_t;

static jhandle_t *make_on(const fixture_t *f, jallocator_t *allocator, size_t preallocate_bytes) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    options.device = f->device;
    options.stream = f->stream;
    options.allocator = allocator;
    options.preallocate_bytes = preallocate_bytes;
    JEXPECT_OK(jhandle_create(&options, &handle));
    return handle;
}

static fixture_t begin(void) {
    fixture_t f = {.gpu = pretend_gpu_make()};
    f.device = &f.gpu->device;
    JEXPECT_OK(jstream_create(f.device, &f.stream));
    JEXPECT_OK(jstream_create(f.device, &f.other));
    return f;
}
static fixture_t begin_with_handle(void) {
    fixture_t f = begin();
    f.handle = make_on(&f, NULL, 0);
    return f;
}

/* The captures are ended and the graphs destroyed; then nothing is left, and nothing was done that must not be. */
static void end(fixture_t *f) {
    pretend_gpu_capture(f->stream, 0);
    pretend_gpu_capture(f->other, 0);
    for (uint64_t capture = 1; capture < 20; ++capture)
        pretend_gpu_destroy_graph(capture);
    if (f->handle != NULL)
        JEXPECT_OK(jhandle_destroy(f->handle));
    f->handle = NULL;
    JEXPECT_OK(jhandle_create(NULL, &f->handle)); /* any handle looks after what is left */
    JEXPECT_OK(jhandle_destroy(f->handle));
    JEXPECT_EQ(pretend_gpu_owned(), 0);
    JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
    JEXPECT_OK(jstream_destroy(f->stream));
    JEXPECT_OK(jstream_destroy(f->other));
    if (f->gpu->violations != 0)
        JFAIL("%u violations, the last: %s", f->gpu->violations, f->gpu->violation);
}

/* Where a borrow of so many bytes lies, which ends at once. NULL: there is none. */
static char *place(jhandle_t *handle, size_t bytes) {
    jborrow_t borrow;
    JEXPECT_OK(borrow_one(&borrow, handle, bytes));
    char *pointer = borrow.ptr[0];
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_TRUE(pointer == NULL || (pretend_gpu_is_live(pointer) && pretend_gpu_is_live(pointer + bytes - 1)));
    return pointer;
}

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
    JEXPECT_OK(jhandle_set_never_captured(f.handle, true)); /* back to the ordinary workspace, without a borrow */
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
    JEXPECT_TRUE(pretend_gpu_is_live(small) && pretend_gpu_is_live(large) && pretend_gpu_is_live(outer.ptr[0]));
    JEXPECT_NE(small, large);
    JEXPECT_EQ(stats_of(f.handle).deallocation_count, 0);
    JEXPECT_OK(jborrow_end(&outer));
    end(&f);
}

JTEST(HandleCapture, EachCaptureHasMemoryOfItsOwn) {
    fixture_t f = begin_with_handle();
    char *places[6];
    for (uint64_t capture = 1; capture <= 5; ++capture) { /* straight from one into the next, or not */
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

/* What a borrow has is the same whether it is the first of a capture, or the workspace is empty, or none is wanted. */
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

/* The caller's allocator: its books tell, it is kept as long as the graph, and may be destroyed then. */
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
    JEXPECT_STATUS(jhandle_destroy(f.handle), JSTATUS_CAPTURING); /* its memory would go under the capture */
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

/* A block that a graph owns as well was used in the handle's stream: whoever gives it back cannot know when. */
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
            JEXPECT_SUBSTR(jhandle_last_message(f.handle), "before the capture begins or after it has ended");
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

/* ---- Changes of stream ---- */

typedef struct job {
    atomic_int *done;
} job_t;
static void finish(void *argument) { atomic_fetch_add(((const job_t *)argument)->done, 1); }
static void order_work(const fixture_t *f, jstream_t *stream, atomic_int *done) {
    const job_t job = {done};
    JEXPECT_OK(jstream_launch(f->device, stream, finish, &job, sizeof job));
}

/* The stream of the handle, and what it has behind a gate before the change. */
typedef struct change {
    uint64_t from, to;  /* captures of the two streams while the handle changes */
    bool uses_first;    /* the ordinary workspace, in the first stream, outside of captures */
    bool waits_at_once; /* the second stream stands behind the first right after the change */
} change_t;
static const change_t changes[] = {
    {0, 0, true, true},  {0, 0, false, false}, {1, 0, true, false}, {0, 1, true, false},
    {1, 2, true, false}, {1, 1, true, true},   {1, 1, false, true}, {1, 0, false, false},
};

JTEST_P(HandleCapture, ChangesOfStreamKeepTheOrder, change_t, changes) {
    fixture_t f = begin_with_handle();
    jtest_gate_t gate = JTEST_GATE_INIT;
    atomic_int done = 0;
    char *ordinary = NULL;
    if (param->uses_first)
        ordinary = place(f.handle, 1000);
    JEXPECT_OK(jtest_gate_block(&gate, f.device, f.stream));
    pretend_gpu_capture(f.stream, param->from);
    if (param->from != 0)
        JEXPECT_OK(touch(f.handle, 1000));
    pretend_gpu_capture(f.other, param->to);
    JEXPECT_OK(jhandle_set_stream(f.handle, f.other));
    order_work(&f, f.other, &done);
    jtest_gate_await(&gate);
    for (int i = 0; i < 4000 && (i == 0 || (!param->waits_at_once && atomic_load(&done) == 0)); ++i)
        jtest_sleep_ms(5); /* what does not wait comes as soon as its thread gets a processor */
    JEXPECT_EQ(atomic_load(&done), !param->waits_at_once);
    if (param->to != 0)
        JEXPECT_OK(touch(f.handle, 1000)); /* captured on */
    JEXPECT_EQ(f.gpu->violations, 0);
    f.gpu->waits = 0;

    if (param->from != 0 && param->to == 0 && param->uses_first) { /* not while the stream that was left is captured */
        JEXPECT_STATUS(touch(f.handle, 1000), JSTATUS_CAPTURING);
        JEXPECT_STATUS(jhandle_trim(f.handle, 0), JSTATUS_CAPTURING);
    }
    pretend_gpu_capture(f.stream, 0);
    pretend_gpu_capture(f.other, 0);
    const int before = atomic_load(&done);
    char *again = place(f.handle, 1000);
    JEXPECT_EQ(f.handle->used_stream, f.other);
    if (param->uses_first) { /* the ordinary workspace, and behind its last use */
        JEXPECT_EQ(again, ordinary);
        order_work(&f, f.other, &done);
        jtest_sleep_ms(5);
        JEXPECT_EQ(atomic_load(&done), before);
    }
    JEXPECT_EQ(f.gpu->waits, 0);
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(f.device, f.other));
    JEXPECT_EQ(atomic_load(&done), 1 + param->uses_first);
    end(&f);
}

JTEST(HandleCapture, ThereAndBackInACaptureNeedsNothing) {
    fixture_t f = begin_with_handle();
    char *ordinary = place(f.handle, 1000);
    pretend_gpu_capture(f.stream, 1);
    pretend_gpu_capture(f.other, 1); /* has joined */
    char *captured = place(f.handle, 1000);
    for (int i = 0; i < 3; ++i) {
        JEXPECT_OK(jhandle_set_stream(f.handle, f.other));
        JEXPECT_EQ(place(f.handle, 1000), captured);
        JEXPECT_OK(jhandle_set_stream(f.handle, f.stream));
        JEXPECT_EQ(place(f.handle, 1000), captured);
    }
    pretend_gpu_capture(f.other, 0);
    pretend_gpu_capture(f.stream, 0);
    JEXPECT_EQ(place(f.handle, 1000), ordinary);
    JEXPECT_EQ(stats_of(f.handle).capture_count, 1);
    end(&f);
}

/* To the NULL stream in the midst of a capture: the next borrow outside comes behind the stream that was left, and from
 * then on nobody asks. */
JTEST(HandleCapture, ToTheNullStreamAndTheInlinePathOpensWhenOrderIsThere) {
    fixture_t f = begin_with_handle();
    JEXPECT_OK(touch(f.handle, 1000));
    pretend_gpu_capture(f.stream, 1);
    JEXPECT_OK(touch(f.handle, 1000));
    JEXPECT_OK(jhandle_set_stream(f.handle, NULL));
    JEXPECT_EQ(f.handle->borrows.fast_end, 0);
    {
        JALLOC_BORROW(ws, f.handle, 1000);
        JEXPECT_STATUS(ws.status, JSTATUS_CAPTURING);
    }
    pretend_gpu_capture(f.stream, 0);
    {
        JALLOC_BORROW(ws, f.handle, 1000);
        JEXPECT_TRUE(ws.ok);
    }
    JEXPECT_GT(f.handle->borrows.fast_end, 0);
    end(&f);
}

/* A handle that began on the NULL stream, and comes back to it while the other stream is still captured. */
JTEST(HandleCapture, FromTheNullStreamIntoACaptureAndBack) {
    fixture_t f = begin_with_handle();
    JEXPECT_OK(jhandle_set_stream(f.handle, NULL));
    const char *ordinary = place(f.handle, 1000);
    pretend_gpu_capture(f.stream, 1);
    JEXPECT_OK(jhandle_set_stream(f.handle, f.stream));
    const char *captured = place(f.handle, 1000);
    JEXPECT_NE(captured, ordinary);
    JEXPECT_OK(jhandle_set_stream(f.handle, NULL));
    JEXPECT_EQ(place(f.handle, 1000), ordinary); /* the graph's memory is the graph's */
    JEXPECT_TRUE(pretend_gpu_is_live(captured));
    end(&f);
}

/* Two streams of one capture that the handle has not borrowed in: there is nothing of the graph's to order. */
JTEST(HandleCapture, AChangeWithinACaptureThatNothingWasBorrowedIn) {
    fixture_t f = begin_with_handle();
    const char *ordinary = place(f.handle, 1000);
    pretend_gpu_capture(f.stream, 1);
    pretend_gpu_capture(f.other, 1);
    JEXPECT_OK(jhandle_set_stream(f.handle, f.other));
    const char *captured = place(f.handle, 1000);
    JEXPECT_NE(captured, ordinary);
    pretend_gpu_capture(f.stream, 0);
    pretend_gpu_capture(f.other, 0);
    JEXPECT_EQ(place(f.handle, 1000), ordinary);
    end(&f);
}

/* ---- Growth without waiting ---- */

JTEST(HandleCapture, GrowthWaitsOnlyWhereTheAllocatorCannotOrder) {
    static const struct {
        const char *composition; /* NULL: the handle's own */
        bool waits;
    } cases[] = {
        {NULL, false},
        {"device", true},
        {"device(kind=ordered)", false},
        {"bfc", false},
        {"pool", false},
        {"lru", false},
        {"general", false},
        {"small", true}, /* large blocks go straight to the provider */
        {"device(kind=ordered)+small", false},
        {"bfc+small", false},
        {"bfc+track+limit(limit=1G)", false},
        {"track", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        JSCOPED_TRACE("%s", cases[i].composition ? cases[i].composition : "own");
        fixture_t f = begin();
        jallocator_t *allocator = NULL;
        if (cases[i].composition)
            JASSERT_OK(jallocator_compose(f.device, cases[i].composition, &allocator));
        f.handle = make_on(&f, allocator, 0);
        jtest_gate_t gate = JTEST_GATE_INIT;
        JEXPECT_OK(touch(f.handle, 40000));
        if (!cases[i].waits)
            JEXPECT_OK(jtest_gate_block(&gate, f.device, f.stream)); /* the host does not stop at it */
        f.gpu->waits = 0;
        JEXPECT_OK(touch(f.handle, 80000));
        jborrow_t outer;
        JEXPECT_OK(borrow_one(&outer, f.handle, 100));
        JEXPECT_OK(touch(f.handle, 90000));
        JEXPECT_OK(touch(f.handle, 100000)); /* in place of a further block */
        JEXPECT_OK(jborrow_end(&outer));
        JEXPECT_OK(jhandle_trim(f.handle, 0));
        JEXPECT_EQ(stats_of(f.handle).synchronization_count, cases[i].waits ? 3 : 0);
        JEXPECT_EQ(f.gpu->waits, cases[i].waits ? 3 : 0);
        jtest_gate_open(&gate);
        JEXPECT_OK(jhandle_destroy(f.handle));
        f.handle = NULL;
        JEXPECT_OK(jallocator_destroy(allocator));
        end(&f);
    }
}

/* Memory that came in the order of one stream is not ready for another one before that. */
JTEST(HandleCapture, UnusedMemoryInStreamOrderIsOrderedAtAChange) {
    fixture_t f = begin_with_handle();
    jtest_gate_t gate = JTEST_GATE_INIT;
    atomic_int done = 0;
    JEXPECT_OK(jtest_gate_block(&gate, f.device, f.stream));
    JEXPECT_OK(jhandle_set_workspace_size(f.handle, 4096));
    JEXPECT_OK(jhandle_set_stream(f.handle, f.other));
    order_work(&f, f.other, &done);
    jtest_gate_await(&gate);
    jtest_sleep_ms(5);
    JEXPECT_EQ(atomic_load(&done), 0);
    jtest_gate_open(&gate);
    end(&f);
}

/* ---- Policies and adaptors beside a capture ---- */

JTEST(HandleCapture, PoliciesAskNothingOfACapturedStream) {
    static const char *const policies[] = {"bfc", "pool", "lru", "slots(slot=64K)", "stack", "general", "small"};
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
        JEXPECT_STATUS(jallocator_allocate(allocator, 4096, 0, f.stream, &inside), JSTATUS_CAPTURING);
        JEXPECT_NULL(inside);
        JEXPECT_STATUS(jallocator_deallocate(allocator, before, 4096, f.stream), JSTATUS_CAPTURING);
        JEXPECT_OK(jallocator_find(allocator, before, &(jallocation_t)JALLOCATION_INIT));
        JEXPECT_OK(jallocator_check(allocator));
        pretend_gpu_capture(f.stream, 0);
        JEXPECT_OK(jallocator_deallocate(allocator, before, 4096, f.stream));
        JEXPECT_OK(jallocator_destroy(allocator));
        f.gpu->violations = i == 0 ? 0 : f.gpu->violations; /* guard waits for the stream, which refuses */
        end(&f);
    }
}

/* ---- Failures ---- */

/* All that a handle does around captures; whatever fails, nothing is lost, and it works when nothing fails any more. */
static void use_everything(fixture_t *f, bool manual) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.device = f->device;
    options.stream = f->stream;
    if (jhandle_create(&options, &f->handle) != JSTATUS_SUCCESS) {
        f->handle = NULL;
        return;
    }
    if (manual)
        (void)jhandle_set_workspace_size(f->handle, 8192);
    for (uint64_t capture = 1; capture <= 2; ++capture) {
        (void)touch(f->handle, 1000);
        pretend_gpu_capture(f->stream, capture);
        pretend_gpu_capture(f->other, capture);
        (void)touch(f->handle, 1000);
        (void)touch(f->handle, 3000);
        (void)jhandle_set_stream(f->handle, f->other);
        (void)touch(f->handle, 2000);
        pretend_gpu_capture(f->stream, 0);
        pretend_gpu_capture(f->other, 0);
        (void)touch(f->handle, 1500);
        (void)jhandle_set_stream(f->handle, f->stream);
        pretend_gpu_destroy_graph(1);
    }
    (void)jhandle_trim(f->handle, 0);
    (void)jhandle_set_workspace_size(f->handle, 4096);
}

JTEST(HandleCapture, EachFailedCallOfTheRuntimeLosesNothing) {
    static const jstatus_t errors[] = {JSTATUS_DEVICE_ERROR, JSTATUS_MEMORY_ERROR, JSTATUS_CAPTURING};
    for (int round = 0; round < 6; ++round) {
        bool failed = true;
        uint64_t calls = 0;
        for (uint64_t n = 1; failed; ++n) {
            JSCOPED_TRACE("round %d, call %d fails", round, (int)n);
            fixture_t f = begin();
            f.gpu->fail_in = n;
            f.gpu->fail_with = errors[round % 3];
            use_everything(&f, round >= 3);
            failed = f.gpu->failed;
            f.gpu->fail_in = 0;
            if (f.handle != NULL) {
                JEXPECT_OK(touch(f.handle, 1000));
                pretend_gpu_capture(f.handle->stream, 9);
                JEXPECT_OK(touch(f.handle, 1000));
                pretend_gpu_capture(f.handle->stream, 0);
            }
            end(&f);
            calls = n;
            if (jtest_has_failure())
                return;
        }
        JEXPECT_GT(calls, 20);
    }
}

JTEST(HandleCapture, EachFailedAllocationOfBookkeepingLosesNothing) {
    for (int manual = 0; manual < 2; ++manual)
        JFOR_EACH_FAILURE(i) {
            fixture_t f = {.gpu = pretend_gpu_make()};
            f.device = &f.gpu->device;
            if (jstream_create(f.device, &f.stream) != JSTATUS_SUCCESS)
                continue;
            if (jstream_create(f.device, &f.other) != JSTATUS_SUCCESS) {
                JEXPECT_OK(jstream_destroy(f.stream));
                continue;
            }
            use_everything(&f, manual);
            jtest_fail_metadata_after(0); /* the end is to come in any case */
            end(&f);
        }
}

/* An allocator that refuses some times to take memory back. */
typedef struct reluctant {
    jdevice_t *device;
    unsigned refusals; /* still to come */
    jallocator_t *allocator;
} reluctant_t;
static jstatus_t reluctant_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream,
                                    void **pointer) {
    (void)stream;
    return jdevice_allocate(((reluctant_t *)context)->device, JMEMORY_DEVICE, size_bytes, alignment, pointer);
}
static jstatus_t reluctant_deallocate(void *context, void *pointer, size_t size_bytes, jstream_t *stream) {
    reluctant_t *self = context;
    (void)stream;
    if (self->refusals == 0)
        return jdevice_deallocate(self->device, JMEMORY_DEVICE, pointer, size_bytes);
    --self->refusals;
    return JSTATUS_BUSY;
}
static fixture_t begin_with_reluctant(reluctant_t *reluctant) {
    fixture_t f = begin();
    const jallocator_ops_t table = {
        .struct_size = sizeof table, .allocate = reluctant_allocate, .deallocate = reluctant_deallocate};
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    options.name = "reluctant";
    options.device = reluctant->device = f.device;
    reluctant->refusals = 0;
    JEXPECT_OK(jallocator_create(&table, reluctant, &options, &reluctant->allocator));
    f.handle = make_on(&f, reluctant->allocator, 0);
    return f;
}

/* Memory that the allocator does not take back in a growth goes into the list of what graphs have owned, and from there
 * to the allocator when it does. */
JTEST(HandleCapture, MemoryThatIsNotTakenBackIsGivenBackLater) {
    reluctant_t reluctant;
    fixture_t f = begin_with_reluctant(&reluctant);
    const char *first = place(f.handle, 1000);
    reluctant.refusals = 1;
    const char *second = place(f.handle, 3000);
    JEXPECT_EQ(reluctant.refusals, 0);
    JEXPECT_TRUE(pretend_gpu_is_live(first) && pretend_gpu_is_live(second));
    JEXPECT_EQ(stats_of(f.handle).deallocation_count, 0);

    f.gpu->fail_in = 1; /* no stream to give it back on: not now */
    JEXPECT_OK(jhandle_trim(f.handle, SIZE_MAX));
    JEXPECT_TRUE(f.gpu->failed && pretend_gpu_is_live(first));
    JEXPECT_SUBSTR(jtest_log_text(), "giving back 1024 bytes that a graph has owned: JSTATUS_DEVICE_ERROR");
    reluctant.refusals = 1; /* nor now */
    JEXPECT_OK(jhandle_trim(f.handle, SIZE_MAX));
    JEXPECT_TRUE(reluctant.refusals == 0 && pretend_gpu_is_live(first));
    JEXPECT_OK(jhandle_trim(f.handle, SIZE_MAX));
    JEXPECT_FALSE(pretend_gpu_is_live(first));
    JEXPECT_EQ(stats_of(f.handle).deallocation_count, 1);
    JEXPECT_TRUE(pretend_gpu_is_live(second));
    end(&f);
    JEXPECT_OK(jallocator_destroy(reluctant.allocator));
}

/* In a child the stream cannot be made any more; the child's own copy of the books is kept right all the same. */
JTEST(HandleCapture, WithoutAStreamAfterAForkMemoryIsGivenBack) {
    reluctant_t reluctant;
    fixture_t f = begin_with_reluctant(&reluctant);
    const char *first = place(f.handle, 1000);
    reluctant.refusals = 1;
    JEXPECT_OK(touch(f.handle, 3000));
    f.gpu->fail_in = 1;
    f.gpu->fail_with = JSTATUS_FORKED;
    JEXPECT_OK(jhandle_trim(f.handle, SIZE_MAX));
    JEXPECT_TRUE(f.gpu->failed);
    JEXPECT_FALSE(pretend_gpu_is_live(first));
    end(&f);
    JEXPECT_OK(jallocator_destroy(reluctant.allocator));
}

/* Where it cannot even be remembered, the log says so, and it stays in the allocator's books. */
JTEST(HandleCapture, MemoryThatCanNeitherBeGivenBackNorRememberedIsToldOf) {
    for (uint64_t n = 0; n <= 2; ++n) { /* the wait fails; the source; the block's record */
        JSCOPED_TRACE("failure %d", (int)n);
        reluctant_t reluctant;
        fixture_t f = begin_with_reluctant(&reluctant);
        void *first = place(f.handle, 1000);
        JEXPECT_OK(jstream_synchronize(f.device, f.stream));
        jtest_log_clear();
        reluctant.refusals = 1;
        if (n == 0)
            f.gpu->fail_in = 5; /* what is asked of captures, twice; the new memory; the wait for the old; the wait */
        else
            jtest_fail_metadata_after(n);
        JEXPECT_OK(touch(f.handle, 3000));
        JEXPECT_TRUE(n == 0 ? f.gpu->failed : jtest_metadata_failed());
        jtest_fail_metadata_after(0);
        JEXPECT_SUBSTR(jtest_log_text(), "giving back 1024 bytes of workspace");
        JEXPECT_TRUE(pretend_gpu_is_live(first));
        JEXPECT_OK(jallocator_deallocate(reluctant.allocator, first, 1024, NULL));
        end(&f);
        JEXPECT_OK(jallocator_destroy(reluctant.allocator));
    }
}

/* Memory that a graph could not be made the owner of, and that the allocator does not take back at once. */
JTEST(HandleCapture, MemoryThatTheGraphDoesNotTakeIsGivenBackLater) {
    reluctant_t reluctant;
    fixture_t f = begin_with_reluctant(&reluctant);
    pretend_gpu_capture(f.stream, 1);
    reluctant.refusals = 1;
    f.gpu->fail_in = 5; /* the capture's number, a stream, memory, the wait, the graph */
    JEXPECT_STATUS(touch(f.handle, 1000), JSTATUS_DEVICE_ERROR);
    JEXPECT_TRUE(f.gpu->failed);
    JEXPECT_EQ(reluctant.refusals, 0);
    JEXPECT_EQ(pretend_gpu_owned(), 0);
    JEXPECT_EQ(pretend_gpu_live_bytes(), 1024);
    pretend_gpu_capture(f.stream, 0);
    JEXPECT_OK(jhandle_trim(f.handle, 0));
    JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
    end(&f);
    JEXPECT_OK(jallocator_destroy(reluctant.allocator));
}

JTEST(HandleCapture, ABorrowWithoutANameIsToldOfTheCaptureToo) {
    fixture_t f = begin_with_handle();
    jborrow_t borrow;
    pretend_gpu_capture(f.stream, UINT64_MAX);
    JEXPECT_STATUS(jborrow_begin(&borrow, f.handle, NULL, 1, &(size_t){100}), JSTATUS_CAPTURING);
    JEXPECT_SUBSTR(jhandle_last_message(f.handle), "a borrow: ");
    end(&f);
}

/* ---- Threads and forks ---- */

static void *destroy_graphs(void *argument) {
    atomic_uint_fast64_t *next = argument;
    for (uint64_t capture = 1; capture <= 400;)
        if (capture < atomic_load(next)) {
            pretend_gpu_destroy_graph(capture++);
        } else {
            jtest_sleep_ms(0);
        }
    return NULL;
}

/* Graphs end in another thread while the handle goes on, and gives back what they owned. */
JTEST(HandleCapture, GraphsEndInAnotherThread) {
    for (int manual = 0; manual < 2; ++manual) {
        fixture_t f = begin_with_handle();
        atomic_uint_fast64_t next = 1;
        pthread_t thread;
        if (manual)
            JEXPECT_OK(jhandle_set_workspace_size(f.handle, 4096));
        pthread_create(&thread, NULL, destroy_graphs, &next);
        for (uint64_t capture = 1; capture <= 400; ++capture) {
            pretend_gpu_capture(f.stream, capture);
            JEXPECT_OK(touch(f.handle, 1000));
            pretend_gpu_capture(f.stream, 0);
            JEXPECT_OK(touch(f.handle, 1000));
            atomic_store(&next, capture + 1);
            if (manual && capture % 8 == 0)
                JEXPECT_OK(jhandle_set_workspace_size(f.handle, 4096));
            if (!manual)
                JEXPECT_OK(jhandle_trim(f.handle, capture % 3 == 0 ? 0 : 8192));
        }
        pthread_join(thread, NULL);
        end(&f);
    }
}

static void destroy_inherited(void *argument) {
    fixture_t *f = argument;
    jborrow_t borrow;
    JEXPECT_STATUS(borrow_one(&borrow, f->handle, 100), JSTATUS_FORKED);
    JEXPECT_STATUS(jhandle_set_never_captured(f->handle, true), JSTATUS_FORKED);
    JEXPECT_STATUS(jhandle_destroy(f->handle), JSTATUS_FORKED);
    JEXPECT_EQ(pretend_gpu_live_bytes(), 0); /* the child's copy of the books */
}

JTEST(HandleCapture, AForkedChildOwnsWhatGraphsOwn) {
    for (int manual = 0; manual < 2; ++manual) {
        fixture_t f = begin_with_handle();
        if (manual)
            JEXPECT_OK(jhandle_set_workspace_size(f.handle, 4096));
        JEXPECT_OK(touch(f.handle, 1000));
        pretend_gpu_capture(f.stream, 1);
        char *captured = place(f.handle, 1000);
        jtest_in_child(20, destroy_inherited, &f); /* in the midst of a capture */
        pretend_gpu_capture(f.stream, 0);
        JEXPECT_OK(touch(f.handle, 1000));
        jtest_in_child(20, destroy_inherited, &f);
        JEXPECT_TRUE(pretend_gpu_is_live(captured));
        end(&f);
    }
}
