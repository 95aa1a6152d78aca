/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The handle with streams of its own, and after a fork. A gate in the stream shows what waits for
 * the workspace's last use and what does not. */

#include "handle_helper.h"

#include "device/device.h"

#include <stdatomic.h>

typedef struct write_job {
    unsigned char *target;
    size_t bytes;
    atomic_int *done;
} write_job_t;
static void write_in_stream(void *arguments) {
    const write_job_t *job = arguments;
    memset(job->target, 0x77, job->bytes);
    atomic_fetch_add(job->done, 1);
}
static void slow_write_in_stream(void *arguments) {
    jtest_sleep_ms(30);
    write_in_stream(arguments);
}

/* Borrows, and enqueues work that writes to what was borrowed; the borrow ends before the work is
 * done. */
static void enqueue_use(jhandle_t *handle, size_t bytes, atomic_int *done, bool slow) {
    jstream_t *stream;
    JALLOC_BORROW(ws, handle, bytes);
    JASSERT_TRUE(ws.ok);
    const write_job_t job = {ws.ptr[0], bytes, done};
    JEXPECT_OK(jhandle_get_stream(handle, &stream));
    JEXPECT_OK(jstream_launch(jdevice_host(), stream, slow ? slow_write_in_stream : write_in_stream,
                              &job, sizeof job));
}

JTEST(HandleStream, NewStreamWaitsForTheWorkspacesLastUseAndTheHostDoesNot) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    atomic_int first_done = 0, second_done = 0;
    jstream_t *first, *second, *now = NULL;
    jhandle_t *handle = make_handle(4096);
    JASSERT_OK(jstream_create(jdevice_host(), &first));
    JASSERT_OK(jstream_create(jdevice_host(), &second));
    JEXPECT_OK(jhandle_set_stream(handle, first));
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), first));
    enqueue_use(handle, 1000, &first_done, false);
    JEXPECT_OK(jhandle_set_stream(handle, second)); /* returns although the gate is closed */
    JEXPECT_OK(jhandle_get_stream(handle, &now));
    JEXPECT_EQ(now, second);
    enqueue_use(handle, 1000, &second_done, false);
    jtest_gate_await(&gate);
    jtest_sleep_ms(20); /* time for a mistake to show */
    JEXPECT_EQ(atomic_load(&first_done), 0);
    JEXPECT_EQ(atomic_load(&second_done), 0);
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), second));
    /* The second stream's end comes behind the first one's. */
    JEXPECT_EQ(atomic_load(&first_done), 1);
    JEXPECT_EQ(atomic_load(&second_done), 1);
    JEXPECT_EQ(stats_of(handle).synchronization_count, 0);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
}

JTEST(HandleStream, UnusedWorkspaceOrdersNothing) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    atomic_int done = 0;
    jstream_t *first, *second;
    jhandle_t *handle = make_handle(4096);
    JASSERT_OK(jstream_create(jdevice_host(), &first));
    JASSERT_OK(jstream_create(jdevice_host(), &second));
    JEXPECT_OK(jhandle_set_stream(handle, first));
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), first));
    JEXPECT_OK(jhandle_set_stream(handle, second)); /* nothing was borrowed: nothing to wait for */
    enqueue_use(handle, 1000, &done, false);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), second));
    JEXPECT_EQ(atomic_load(&done), 1);
    jtest_gate_open(&gate);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
}

JTEST(HandleStream, BackToTheNullStreamWaits) {
    atomic_int done = 0;
    jstream_t *stream;
    jhandle_t *handle = make_handle(4096);
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    enqueue_use(handle, 1000, &done, true);
    JEXPECT_OK(jhandle_set_stream(handle, NULL)); /* the calling thread is that stream */
    JEXPECT_EQ(atomic_load(&done), 1);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(HandleStream, RepeatedChangesKeepOneOrder) {
    enum { STREAMS = 3, ROUNDS = 200 };
    jstream_t *streams[STREAMS];
    atomic_int done = 0;
    jhandle_t *handle = make_handle(4096);
    for (int i = 0; i < STREAMS; ++i)
        JASSERT_OK(jstream_create(jdevice_host(), &streams[i]));
    for (int i = 0; i < ROUNDS; ++i) {
        /* A race on the workspace's bytes, for a race detector, if the order broke. */
        JEXPECT_OK(jhandle_set_stream(handle, streams[i % STREAMS]));
        enqueue_use(handle, 4096, &done, false);
    }
    JEXPECT_OK(jhandle_destroy(handle)); /* waits for the stream */
    JEXPECT_EQ(atomic_load(&done), ROUNDS);
    for (int i = 0; i < STREAMS; ++i)
        JEXPECT_OK(jstream_destroy(streams[i]));
}

/* Whatever gives workspace back waits until the stream has passed its last use. */
JTEST(HandleStream, WorkspaceIsGivenBackAfterItsLastUse) {
    static unsigned char own[4096] __attribute__((aligned(64)));
    for (int way = 0; way < 6; ++way) {
        JSCOPED_TRACE("way %d", way);
        atomic_int done = 0;
        jstream_t *stream;
        jhandle_t *handle = make_handle(0);
        JASSERT_OK(jstream_create(jdevice_host(), &stream));
        JEXPECT_OK(jhandle_set_stream(handle, stream));
        if (way == 4)
            JEXPECT_OK(jhandle_set_workspace_size(handle, 2048));
        enqueue_use(handle, 1024, &done, true);
        switch (way) {
        case 0: JEXPECT_OK(touch(handle, 5000)); break; /* growth */
        case 1: JEXPECT_OK(jhandle_trim(handle, 0)); break;
        case 2: JEXPECT_OK(jhandle_set_workspace_size(handle, 8192)); break;
        case 3: JEXPECT_OK(jhandle_set_workspace(handle, own, sizeof own)); break;
        case 4: JEXPECT_OK(jhandle_set_workspace_size(handle, 0)); break;
        default:
            JEXPECT_OK(jhandle_destroy(handle));
            handle = NULL;
            break;
        }
        JEXPECT_EQ(atomic_load(&done), 1);
        if (handle) {
            JEXPECT_EQ(stats_of(handle).synchronization_count, 1);
            JEXPECT_OK(jhandle_destroy(handle));
        }
        JEXPECT_OK(jstream_destroy(stream));
    }
}

/* The caller's memory stays the caller's, so leaving user-owned mode waits for nothing. */
JTEST(HandleStream, LeavingUserOwnedModeDoesNotWait) {
    static unsigned char own[4096] __attribute__((aligned(64)));
    jtest_gate_t gate = JTEST_GATE_INIT;
    atomic_int done = 0;
    jstream_t *stream;
    jhandle_t *handle = make_handle(0);
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_OK(jhandle_set_workspace(handle, own, sizeof own));
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), stream));
    enqueue_use(handle, 1024, &done, false);
    JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
    JEXPECT_EQ(atomic_load(&done), 0);
    JEXPECT_EQ(stats_of(handle).synchronization_count, 0);
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(HandleStream, ForeignStreamIsRefusedAndTheOldOneKept) {
    jdevice_t other = ji_host_device;
    jstream_t *foreign, *stream, *now = NULL;
    jhandle_t *handle = make_handle(0);
    JASSERT_OK(jstream_create(&other, &foreign));
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_STATUS(jhandle_set_stream(handle, foreign), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jhandle_get_stream(handle, &now));
    JEXPECT_EQ(now, stream);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(foreign));
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(HandleStream, EachFailedAllocationOfAChangeKeepsTheOldStream) {
    jstream_t *first, *second;
    JASSERT_OK(jstream_create(jdevice_host(), &first));
    JASSERT_OK(jstream_create(jdevice_host(), &second));
    jhandle_t *handle = make_handle(0);
    for (uint64_t n = 1; n <= 2; ++n) { /* one event is made, at the first change after a use */
        jstream_t *now = NULL;
        JEXPECT_OK(jhandle_set_stream(handle, first));
        JEXPECT_OK(touch(handle, 100));
        jtest_fail_metadata_after(n);
        const jstatus_t status = jhandle_set_stream(handle, second);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(jtest_metadata_failed(), n == 1);
        jtest_fail_metadata_after(0);
        JEXPECT_OK(jhandle_get_stream(handle, &now));
        JEXPECT_EQ(now, status == JSTATUS_SUCCESS ? second : first);
        JEXPECT_OK(touch(handle, 100));
    }
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
}

/* The host's NULL stream is the calling thread: to change to it is to wait, and that is counted. */
JTEST(HandleStream, AChangeToTheCallingThreadWaitsAndSaysSo) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    atomic_int done = 0;
    jstream_t *first, *second;
    jhandle_t *handle = make_handle(4096);
    JASSERT_OK(jstream_create(jdevice_host(), &first));
    JASSERT_OK(jstream_create(jdevice_host(), &second));
    JEXPECT_OK(jhandle_set_stream(handle, first));
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), first));
    enqueue_use(handle, 1000, &done, false);
    JEXPECT_OK(jhandle_set_stream(handle, second)); /* by an event */
    JEXPECT_EQ(stats_of(handle).synchronization_count, 0);
    JEXPECT_EQ(atomic_load(&done), 0);
    jtest_gate_open(&gate);
    JEXPECT_OK(jhandle_set_stream(handle, NULL));
    JEXPECT_EQ(stats_of(handle).synchronization_count, 1);
    JEXPECT_EQ(atomic_load(&done), 1);
    JEXPECT_OK(jhandle_set_stream(handle, first)); /* nothing is under way in the calling thread */
    JEXPECT_EQ(stats_of(handle).synchronization_count, 1);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
}

/* ---- After a fork ---- */

typedef struct inherited {
    jhandle_t *handle;
    jborrow_t *borrow;  /* live in the parent; or NULL */
    size_t bookkeeping; /* blocks that are not the handle's */
} inherited_t;

static void use_inherited(void *argument) {
    const inherited_t *inherited = argument;
    jhandle_t *handle = inherited->handle;
    jborrow_t borrow;
    const jplan_t plan = {.struct_size = sizeof plan, .routine = "planned", .rung_count = 1};
    JEXPECT_STATUS(borrow_one(&borrow, handle, 64), JSTATUS_FORKED);
    JEXPECT_FALSE(borrow.ok);
    JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, &plan), JSTATUS_FORKED);
    {
        JALLOC_BORROW(ws, handle, 64); /* the inline path is closed too */
        JEXPECT_STATUS(ws.status, JSTATUS_FORKED);
        JALLOC_BORROW(nothing, handle, 0);
        JEXPECT_STATUS(nothing.status, JSTATUS_FORKED);
    }
    JEXPECT_STATUS(jhandle_set_workspace_size(handle, 64), JSTATUS_FORKED);
    JEXPECT_STATUS(jhandle_set_workspace(handle, NULL, 0), JSTATUS_FORKED);
    JEXPECT_STATUS(jhandle_set_budget(handle, 64), JSTATUS_FORKED);
    JEXPECT_STATUS(jhandle_trim(handle, 0), JSTATUS_FORKED);
    JEXPECT_STATUS(jhandle_seal(handle), JSTATUS_FORKED);
    JEXPECT_STATUS(jhandle_unseal(handle), JSTATUS_FORKED);
    JEXPECT_STATUS(jhandle_start_size_query(handle), JSTATUS_FORKED);
    JEXPECT_STATUS(jhandle_set_threads(handle, 2), JSTATUS_FORKED);
    JEXPECT_STATUS(jhandle_set_executor(handle, NULL), JSTATUS_FORKED);
    JEXPECT_STATUS(jhandle_set_stream(handle, NULL), JSTATUS_FORKED);
    if (inherited->borrow) {
        JEXPECT_STATUS(jhandle_destroy(handle), JSTATUS_BUSY);
        /* The guard of a scope that both processes leave. */
        JEXPECT_OK(jborrow_end(inherited->borrow));
        JALLOC_BORROW(ws, handle, 64);
        JEXPECT_STATUS(ws.status, JSTATUS_FORKED);
    }
    JEXPECT_STATUS(jhandle_abandon_borrows(handle), JSTATUS_FORKED); /* none is live */
    JEXPECT_STATUS(jhandle_destroy(handle), JSTATUS_FORKED);
    JEXPECT_EQ(jtest_metadata_live_count(), inherited->bookkeeping);
    jhandle_t *fresh = NULL; /* a new one works */
    JASSERT_OK(jhandle_create(NULL, &fresh));
    JEXPECT_OK(touch(fresh, 1000));
    JEXPECT_OK(jhandle_destroy(fresh));
}

JTEST(HandleFork, HandleOfTheParentIsForkedInTheChild) {
    for (int mode = 0; mode < 3; ++mode) {
        jallocator_t *allocator = jtest_failing_allocator();
        JASSERT_NOT_NULL(allocator);
        inherited_t inherited = {NULL, NULL, jtest_metadata_live_count()};
        inherited.handle = make_handle(mode == 1 ? 4096 : 0);
        if (mode < 2) /* else it is empty */
            JEXPECT_OK(touch(inherited.handle, 1000));
        jtest_in_child(20, use_inherited, &inherited);
        JEXPECT_OK(touch(inherited.handle, 1000)); /* the parent's works as ever */
        JEXPECT_OK(jhandle_destroy(inherited.handle));
    }
}

JTEST(HandleFork, WithALiveBorrow) {
    jallocator_t *allocator = jtest_failing_allocator();
    JASSERT_NOT_NULL(allocator);
    jborrow_t borrow;
    inherited_t inherited = {NULL, &borrow, jtest_metadata_live_count()};
    inherited.handle = make_handle(0);
    JEXPECT_OK(borrow_one(&borrow, inherited.handle, 1000));
    jtest_in_child(20, use_inherited, &inherited);
    JEXPECT_TRUE(borrow.ok);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_OK(jhandle_destroy(inherited.handle));
}

/* The fork comes under the macro's guard, which ends in both processes; the child would destroy the
 * handle before. */
static void destroy_under_a_guard(void *argument) {
    jhandle_t *handle = argument;
    JALLOC_BORROW(ws, handle, 100);
    JEXPECT_STATUS(ws.status, JSTATUS_FORKED);
    JEXPECT_STATUS(jhandle_destroy(handle), JSTATUS_BUSY);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "live");
}
static void destroy_what_was_lost(void *argument) {
    jhandle_t *handle = argument;
    JEXPECT_STATUS(jhandle_destroy(handle), JSTATUS_BUSY);
    JEXPECT_STATUS(jhandle_abandon_borrows(handle), JSTATUS_LEAKED);
    JEXPECT_STATUS(jhandle_destroy(handle), JSTATUS_FORKED);
}
JTEST(HandleFork, UnderAGuard) {
    jallocator_t *allocator = jtest_failing_allocator();
    JASSERT_NOT_NULL(allocator);
    jhandle_t *handle = make_handle(0);
    {
        JALLOC_BORROW(ws, handle, 1000);
        JEXPECT_TRUE(ws.ok);
        jtest_in_child(20, destroy_under_a_guard, handle);
        jtest_in_child(20, destroy_what_was_lost, handle);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Borrows of threads that the child does not have do not keep the handle there. */
typedef struct holder {
    jhandle_t *handle;
    jtest_gate_t gate;
} holder_t;
static void *hold_during_a_fork(void *argument) {
    holder_t *holder = argument;
    jborrow_t outer, inner;
    JEXPECT_OK(borrow_one(&outer, holder->handle, 1000));
    JEXPECT_OK(borrow_one(&inner, holder->handle, 3000)); /* in a further block */
    jtest_gate_pass(&holder->gate);
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&outer));
    return NULL;
}
static void destroy_in_child(void *argument) {
    JEXPECT_EQ(stats_of(argument).live_borrow_count, 0);
    JEXPECT_STATUS(jhandle_destroy(argument), JSTATUS_FORKED);
}
JTEST(HandleFork, BorrowsOfThreadsThatAreNotThereHaveEnded) {
    jallocator_t *allocator = jtest_failing_allocator();
    JASSERT_NOT_NULL(allocator);
    holder_t holder = {make_handle(0), JTEST_GATE_INIT};
    pthread_t thread;
    JASSERT_EQ(pthread_create(&thread, NULL, hold_during_a_fork, &holder), 0);
    jtest_gate_await(&holder.gate);
    jtest_in_child(20, destroy_in_child, holder.handle);
    jtest_gate_open(&holder.gate);
    pthread_join(thread, NULL);
    JEXPECT_OK(jhandle_destroy(holder.handle));
}

/* The stream's thread is not there in the child, and work is under way in the parent: the child
 * must not wait for it. */
JTEST(HandleFork, WithABusyStream) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    atomic_int done = 0;
    jstream_t *stream;
    jallocator_t *allocator = jtest_failing_allocator();
    JASSERT_NOT_NULL(allocator);
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    inherited_t inherited = {NULL, NULL, jtest_metadata_live_count()};
    inherited.handle = make_handle(4096);
    JEXPECT_OK(jhandle_set_stream(inherited.handle, stream));
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), stream));
    enqueue_use(inherited.handle, 1000, &done, false);
    jtest_gate_await(&gate);
    jtest_in_child(20, use_inherited, &inherited);
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_EQ(atomic_load(&done), 1);
    JEXPECT_OK(jhandle_destroy(inherited.handle));
    JEXPECT_OK(jstream_destroy(stream));
}
