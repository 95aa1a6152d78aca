/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A handle on a captured stream where something fails, in other threads, and after a fork: nothing
 * is lost. */

#include "handle_capture_helper.h"

#include "jalloc/provider.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- Failures ---- */

/* All that a handle does around captures; whatever fails, nothing is lost, and it works when
 * nothing fails any more. */
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
    static const jstatus_t errors[] = {JSTATUS_DEVICE_ERROR, JSTATUS_MEMORY_ERROR,
                                       JSTATUS_CAPTURING};
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
static jstatus_t reluctant_allocate(void *context, size_t size_bytes, size_t alignment,
                                    jstream_t *stream, void **pointer) {
    (void)stream;
    return jdevice_allocate(((reluctant_t *)context)->device, JMEMORY_DEVICE, size_bytes, alignment,
                            pointer);
}
static jstatus_t reluctant_deallocate(void *context, void *pointer, size_t size_bytes,
                                      jstream_t *stream) {
    reluctant_t *self = context;
    (void)stream;
    if (self->refusals == 0)
        return jdevice_deallocate(self->device, JMEMORY_DEVICE, pointer, size_bytes);
    --self->refusals;
    return JSTATUS_BUSY;
}
static fixture_t begin_with_reluctant(reluctant_t *reluctant) {
    fixture_t f = begin();
    const jallocator_ops_t table = {.struct_size = sizeof table,
                                    .allocate = reluctant_allocate,
                                    .deallocate = reluctant_deallocate};
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    options.name = "reluctant";
    options.device = reluctant->device = f.device;
    reluctant->refusals = 0;
    JEXPECT_OK(jallocator_create(&table, reluctant, &options, &reluctant->allocator));
    f.handle = make_on(&f, reluctant->allocator, 0);
    return f;
}

/* Memory that the allocator does not take back in a growth goes into the list of what graphs have
 * owned, and from there to the allocator when it does. */
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
    JEXPECT_SUBSTR(jtest_log_text(),
                   "giving back 1024 bytes that a graph has owned: JSTATUS_DEVICE_ERROR");
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

/* In a child the stream cannot be made any more; the child's own copy of the books is kept right
 * all the same. */
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
            /* What is asked of captures, twice; the new memory; the wait for the old; the wait. */
            f.gpu->fail_in = 5;
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

/* Memory that a graph could not be made the owner of, and that the allocator does not take back at
 * once. */
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
