/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A handle on a captured stream that changes its stream, or grows: what is ordered by events, and
 * what has to wait. */

#include "handle_capture_helper.h"

#include <stdatomic.h>

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
    bool by_way_of_null;
} change_t;
static const change_t changes[] = {
    {0, 0, true, true, false},  {0, 0, false, false, false}, {1, 0, true, false, false},
    {0, 1, true, false, false}, {1, 2, true, false, false},  {1, 1, true, true, false},
    {1, 1, false, true, false}, {1, 0, false, false, false}, {1, 1, true, true, true},
    {1, 1, false, true, true},
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
    if (param->by_way_of_null)
        JEXPECT_OK(jhandle_set_stream(f.handle, NULL));
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

    if (param->from != 0 && param->to == 0 && param->uses_first) {
        /* Not while the stream that was left is captured. */
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

/* The handle is in the second stream before that joins the capture; or has worked outside of it
 * meanwhile, with the block that the graph has, too. */
JTEST(HandleCapture, WhereverItHasBeenAHandleComesBackBehindTheGraphsLastUse) {
    for (int manual = 0; manual < 2; ++manual)
        for (int works = 0; works <= manual; ++works) {
            JSCOPED_TRACE("manual %d, works %d", manual, works);
            fixture_t f = begin_with_handle();
            jtest_gate_t gate = JTEST_GATE_INIT;
            atomic_int done = 0;
            jstream_t *third;
            JASSERT_OK(jstream_create(f.device, &third));
            JEXPECT_OK(jhandle_set_stream(f.handle, third));
            if (manual)
                JEXPECT_OK(jhandle_set_workspace_size(f.handle, 4096));
            pretend_gpu_capture(f.stream, 1);
            JEXPECT_OK(jhandle_set_stream(f.handle, f.stream));
            JEXPECT_OK(jtest_gate_block(&gate, f.device, f.stream));
            char *captured = place(f.handle, 1000);
            JEXPECT_OK(jhandle_set_stream(f.handle, works ? third : f.other));
            if (works) {
                JEXPECT_OK(touch(f.handle, 1000));
                JEXPECT_OK(jhandle_set_stream(f.handle, f.other));
            }
            pretend_gpu_capture(f.other, 1);
            JEXPECT_EQ(place(f.handle, 1000), captured);
            order_work(&f, f.other, &done);
            jtest_gate_await(&gate);
            jtest_sleep_ms(5);
            JEXPECT_EQ(atomic_load(&done), 0);

            jtest_gate_open(&gate);
            pretend_gpu_capture(f.stream, 0);
            pretend_gpu_capture(f.other, 0);
            JEXPECT_OK(jstream_synchronize(f.device, f.other));
            JEXPECT_EQ(atomic_load(&done), 1);
            JEXPECT_OK(jhandle_destroy(f.handle));
            f.handle = NULL;
            JEXPECT_OK(jstream_destroy(third));
            end(&f);
        }
}

/* A capture that the handle has left holds nobody up who has borrowed in captures alone, or has
 * given the workspace back that was used elsewhere. */
JTEST(HandleCapture, WhereNothingIsUsedNoCaptureIsWaitedFor) {
    static char own[4096] __attribute__((aligned(256)));
    enum { GRAPHS_OWN, TRIMMED, MANUAL, CALLERS, CASES };
    for (int kind = 0; kind < CASES; ++kind) {
        JSCOPED_TRACE("case %d", kind);
        fixture_t f = begin();
        jallocator_t *allocator = NULL;
        JASSERT_OK(jallocator_compose(f.device, "device", &allocator));
        f.handle = make_on(&f, allocator, 0);
        JEXPECT_OK(jhandle_set_stream(f.handle, f.other));
        if (kind == TRIMMED)
            JEXPECT_OK(touch(f.handle, 1000));
        if (kind == MANUAL)
            JEXPECT_OK(jhandle_set_workspace_size(f.handle, 4096));
        if (kind == CALLERS)
            JEXPECT_OK(jhandle_set_workspace(f.handle, own, sizeof own));

        pretend_gpu_capture(f.stream, 1);
        JEXPECT_OK(jhandle_set_stream(f.handle, f.stream));
        if (kind == TRIMMED)
            JEXPECT_OK(jhandle_trim(f.handle, 0));
        JEXPECT_OK(touch(f.handle, 1000));
        JEXPECT_OK(jhandle_set_stream(f.handle, NULL));
        JEXPECT_OK(touch(f.handle, 1000));
        JEXPECT_OK(jhandle_trim(f.handle, 0));

        pretend_gpu_capture(f.stream, 0);
        pretend_gpu_destroy_graph(1);
        JEXPECT_OK(jhandle_destroy(f.handle));
        f.handle = NULL;
        JEXPECT_OK(jallocator_destroy(allocator));
        end(&f);
    }
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

/* To the NULL stream in the midst of a capture: the next borrow outside comes behind the stream
 * that was left, and from then on nobody asks. */
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

/* A handle that began on the NULL stream, and comes back to it while the other stream is still
 * captured. */
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

/* Two streams of one capture that the handle has not borrowed in: there is nothing of the graph's
 * to order. */
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
            /* The host does not stop at it. */
            JEXPECT_OK(jtest_gate_block(&gate, f.device, f.stream));
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
