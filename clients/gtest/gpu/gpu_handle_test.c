/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The handle's workspace on a GPU: growth in stream order, fixed modes that call nothing of the
 * runtime, changes of stream by event. What is written in stream order shows whether the order is
 * right. Captures: gpu_capture_test.c. */

#include "gpu_device.h"
#include "handle_helper.h"

#include "jalloc/provider.h"

#include <string.h>

enum { BYTES = 4096 };

/* Borrows, writes, and copies what was written to `to`, all in stream order; nothing waits. */
static jstatus_t write_and_copy(jhandle_t *handle, size_t bytes, unsigned char value, void *to) {
    jstream_t *stream;
    JEXPECT_OK(jhandle_get_stream(handle, &stream));
    JALLOC_BORROW(ws, handle, bytes);
    if (!ws.ok)
        return ws.status;
    JEXPECT_OK(jdevice_fill(gpu_device(), stream, ws.ptr[0], &value, 1, bytes));
    JEXPECT_OK(jdevice_copy(gpu_device(), stream, to, ws.ptr[0], bytes));
    return JSTATUS_SUCCESS;
}

static bool is_filled(const void *device, size_t bytes, unsigned char value) {
    static unsigned char host[1 << 20];
    gpu_download(host, device, bytes);
    for (size_t i = 0; i < bytes; ++i)
        if (host[i] != value)
            return false;
    return true;
}

JTEST(GpuHandle, GrowsInStreamOrderWithoutWaiting) {
    const fake_gpu_control_t *fake = gpu_fake();
    jdevice_properties_t properties = JDEVICE_PROPERTIES_INIT;
    JASSERT_OK(jdevice_get_properties(gpu_device(), &properties));
    if (!properties.has_stream_ordered)
        JSKIP("the runtime has no memory in stream order");
    enum { GROWTHS = 12 };
    for (int way = 0; way < 2; ++way) { /* a stream of ours, and the NULL stream */
        jstream_t *stream = NULL;
        if (way == 0)
            JASSERT_OK(jstream_create(gpu_device(), &stream));
        unsigned char *out = gpu_take((size_t)GROWTHS * GROWTHS * BYTES);
        jhandle_t *handle = gpu_make_handle_on(stream, 0);
        JEXPECT_EQ(jallocator_device(jhandle_allocator(handle)), gpu_device());
        if (fake != NULL)
            fake->reset_counts();
        for (int i = 0; i < GROWTHS; ++i) {
            JEXPECT_OK(write_and_copy(handle, (size_t)(i + 1) * BYTES, (unsigned char)(i + 1),
                                      out + (size_t)GROWTHS * BYTES * (size_t)i));
            if (i % 4 == 3)
                JEXPECT_OK(jhandle_trim(handle, 0));
        }
        JEXPECT_EQ(stats_of(handle).growth_count, GROWTHS);
        JEXPECT_EQ(stats_of(handle).synchronization_count, 0);
        if (fake != NULL) {
            JEXPECT_EQ(fake->count_waits(), 0);
            JEXPECT_EQ(fake->count("MallocAsync"), GROWTHS);
        }
        JEXPECT_OK(jhandle_destroy(handle));
        JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
        for (int i = 0; i < GROWTHS; ++i)
            JEXPECT_TRUE(is_filled(out + (size_t)GROWTHS * BYTES * (size_t)i,
                                   (size_t)(i + 1) * BYTES, (unsigned char)(i + 1)));
        gpu_give(out, (size_t)GROWTHS * GROWTHS * BYTES);
        JEXPECT_OK(jstream_destroy(stream));
    }
}

/* A policy keeps what is given back behind a fence: nobody waits either, and another stream does
 * not get it too early.
 * */
JTEST(GpuHandle, GrowsOverAPolicyWithoutWaiting) {
    static const char *const policies[] = {"bfc", "pool", "lru", "general",
                                           "device(kind=ordered)+bfc"};
    const fake_gpu_control_t *fake = gpu_fake();
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; ++p) {
        JSCOPED_TRACE("%s", policies[p]);
        enum { ROUNDS = 10 };
        jallocator_t *allocator = NULL;
        jstream_t *streams[2];
        jhandle_t *handles[2] = {NULL, NULL};
        unsigned char *out = gpu_take((size_t)ROUNDS * 2 * ROUNDS * BYTES);
        JASSERT_OK(jallocator_compose(gpu_device(), policies[p], &allocator));
        for (int i = 0; i < 2; ++i) {
            jhandle_options_t options = JHANDLE_OPTIONS_INIT;
            options.device = gpu_device();
            JASSERT_OK(jstream_create(gpu_device(), &streams[i]));
            options.stream = streams[i];
            options.allocator = allocator;
            JASSERT_OK(jhandle_create(&options, &handles[i]));
        }
        if (fake != NULL)
            fake->reset_counts();
        for (int round = 0; round < ROUNDS; ++round)
            for (int i = 0; i < 2; ++i) {
                JEXPECT_OK(write_and_copy(handles[i], (size_t)(round + 1) * BYTES,
                                          (unsigned char)(2 * round + i + 1),
                                          out + (size_t)(2 * round + i) * ROUNDS * BYTES));
                if (round % 3 == 2)
                    JEXPECT_OK(jhandle_trim(handles[i], 0));
            }
        for (int i = 0; i < 2; ++i)
            JEXPECT_EQ(stats_of(handles[i]).synchronization_count, 0);
        if (fake != NULL)
            JEXPECT_EQ(fake->count("StreamSynchronize"), 0);
        for (int i = 0; i < 2; ++i) {
            JEXPECT_OK(jhandle_destroy(handles[i]));
            JEXPECT_OK(jstream_synchronize(gpu_device(), streams[i]));
        }
        for (int k = 0; k < 2 * ROUNDS; ++k)
            JEXPECT_TRUE(is_filled(out + (size_t)k * ROUNDS * BYTES, (size_t)(k / 2 + 1) * BYTES,
                                   (unsigned char)(k + 1)));
        JEXPECT_OK(jallocator_destroy(allocator));
        gpu_give(out, (size_t)ROUNDS * 2 * ROUNDS * BYTES);
        for (int i = 0; i < 2; ++i)
            JEXPECT_OK(jstream_destroy(streams[i]));
    }
}

JTEST(GpuHandle, FixedModesCallNothingOfTheRuntime) {
    const fake_gpu_control_t *fake = gpu_fake();
    for (int mode = 0; mode < 3; ++mode)
        for (int promised = 0; promised < 2; ++promised) {
            JSCOPED_TRACE("mode %d, promised %d", mode, promised);
            jstream_t *stream;
            JASSERT_OK(jstream_create(gpu_device(), &stream));
            void *own = gpu_take(BYTES), *out = gpu_take(BYTES);
            jhandle_t *handle = gpu_make_handle_on(stream, mode == 0 ? BYTES : 0);
            if (mode == 1)
                JEXPECT_OK(jhandle_set_workspace_size(handle, BYTES));
            if (mode == 2)
                JEXPECT_OK(jhandle_set_workspace(handle, own, BYTES));
            JEXPECT_OK(jhandle_set_never_captured(handle, promised));
            JEXPECT_OK(jhandle_clear_stats(handle));
            if (fake != NULL)
                fake->reset_counts();
            for (int i = 0; i < 5; ++i) {
                JEXPECT_OK(write_and_copy(handle, BYTES, (unsigned char)(i + 1), out));
                JEXPECT_STATUS(write_and_copy(handle, BYTES + 1, 0, out), JSTATUS_MEMORY_ERROR);
            }
            const jhandle_stats_t stats = stats_of(handle);
            JEXPECT_EQ(
                stats.allocation_count + stats.deallocation_count + stats.synchronization_count, 0);
            if (fake != NULL) {
                JEXPECT_EQ(fake->count_allocations(), 0);
                JEXPECT_EQ(fake->count_frees(), 0);
                JEXPECT_EQ(fake->count_waits(), 0);
            }
            JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
            JEXPECT_TRUE(is_filled(out, BYTES, 5));
            if (fake != NULL) { /* a borrow by itself */
                fake->reset_counts();
                JALLOC_BORROW(ws, handle, 100);
                JEXPECT_TRUE(ws.ok);
                JEXPECT_EQ(fake->count("StreamGetCaptureInfo"), !promised);
                if (promised)
                    JEXPECT_EQ(fake->count_all(), 0);
            }
            JEXPECT_OK(jhandle_destroy(handle));
            gpu_give(own, BYTES);
            gpu_give(out, BYTES);
            JEXPECT_OK(jstream_destroy(stream));
        }
}

/* The second stream writes after the first, although nobody has waited for the first: what the
 * first wrote last would stand there. */
JTEST(GpuHandle, ANewStreamComesBehindTheOldOneByEvent) {
    const fake_gpu_control_t *fake = gpu_fake();
    for (int mode = 0; mode < 3; ++mode) {
        JSCOPED_TRACE("mode %d", mode);
        jstream_t *streams[3] = {NULL, NULL, NULL}; /* the third is the NULL stream */
        for (int i = 0; i < 2; ++i)
            JASSERT_OK(jstream_create(gpu_device(), &streams[i]));
        void *own = gpu_take(BYTES), *out = gpu_take(BYTES);
        jhandle_t *handle = gpu_make_handle_on(streams[0], mode == 0 ? BYTES : 0);
        if (mode == 2)
            JEXPECT_OK(jhandle_set_workspace(handle, own, BYTES));
        JEXPECT_OK(write_and_copy(handle, BYTES, 99, out));
        for (int i = 1; i < 7; ++i) {
            jstream_t *before = streams[(i - 1) % 3], *after = streams[i % 3];
            const unsigned char value = (unsigned char)i;
            if (fake != NULL)
                fake->reset_counts();
            JEXPECT_OK(jhandle_set_stream(handle, after));
            if (fake != NULL)
                JEXPECT_EQ(fake->count_waits(), 0);
            JALLOC_BORROW(ws, handle, BYTES);
            JASSERT_TRUE(ws.ok);
            JEXPECT_OK(jdevice_fill(gpu_device(), after, ws.ptr[0], &value, 1, BYTES));
            JEXPECT_OK(jstream_synchronize(gpu_device(), after));
            /* Were there anything left to do, it is done now. */
            JEXPECT_OK(jstream_synchronize(gpu_device(), before));
            JEXPECT_OK(jdevice_copy(gpu_device(), after, out, ws.ptr[0], BYTES));
            JEXPECT_OK(jstream_synchronize(gpu_device(), after));
            JEXPECT_TRUE(is_filled(out, BYTES, value));
            const unsigned char later = 200; /* for the next one to come behind */
            JEXPECT_OK(jdevice_fill(gpu_device(), after, ws.ptr[0], &later, 1, BYTES));
        }
        JEXPECT_EQ(stats_of(handle).synchronization_count, 0);
        JEXPECT_OK(jhandle_destroy(handle));
        JEXPECT_OK(jstream_synchronize(gpu_device(), streams[0]));
        gpu_give(own, BYTES);
        gpu_give(out, BYTES);
        for (int i = 0; i < 2; ++i)
            JEXPECT_OK(jstream_destroy(streams[i]));
    }
}

typedef struct inherited {
    jhandle_t *handle;
    size_t bookkeeping;
} inherited_t;

static void destroy_inherited(void *argument) {
    const inherited_t *inherited = argument;
    JEXPECT_STATUS(touch(inherited->handle, 0), JSTATUS_FORKED);
    JEXPECT_STATUS(jhandle_destroy(inherited->handle), JSTATUS_FORKED);
    JEXPECT_EQ(jtest_metadata_live_count(), inherited->bookkeeping);
}

/* No GPU's runtime survives a fork: the child forgets the memory, which is the parent's, and keeps
 * no books of it. */
JTEST(GpuHandle, AForkedChildForgetsIt) {
    for (int mode = 0; mode < 2; ++mode) {
        jstream_t *stream;
        void *out = gpu_take(BYTES);
        JASSERT_OK(jstream_create(gpu_device(), &stream));
        inherited_t inherited = {NULL, jtest_metadata_live_count()};
        inherited.handle = gpu_make_handle_on(stream, mode == 1 ? BYTES : 0);
        JEXPECT_OK(write_and_copy(inherited.handle, BYTES, 1, out));
        jtest_in_child(20, destroy_inherited, &inherited);
        JEXPECT_OK(write_and_copy(inherited.handle, BYTES, 2, out));
        JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
        JEXPECT_TRUE(is_filled(out, BYTES, 2));
        JEXPECT_OK(jhandle_destroy(inherited.handle));
        gpu_give(out, BYTES);
        JEXPECT_OK(jstream_destroy(stream));
    }
}

JTEST(GpuHandle, EachFailedCallOfTheRuntimeLosesNothing) {
    const fake_gpu_control_t *fake = gpu_fake();
    if (fake == NULL)
        JSKIP("needs the fake runtime");
    for (int error = FAKE_GPU_OUT_OF_MEMORY; error <= FAKE_GPU_UNKNOWN_ERROR; ++error) {
        bool failed = true;
        for (uint64_t n = 1; failed && !jtest_has_failure(); ++n) {
            JSCOPED_TRACE("call %d fails with %d", (int)n, error);
            const size_t before = fake->live_bytes();
            const uint64_t objects = fake->live_objects();
            jstream_t *streams[2];
            void *out = gpu_take(8 * BYTES);
            for (int i = 0; i < 2; ++i)
                JASSERT_OK(jstream_create(gpu_device(), &streams[i]));
            fake->fail_after(n, (fake_gpu_error_t)error);
            jhandle_options_t options = JHANDLE_OPTIONS_INIT;
            jhandle_t *handle = NULL;
            options.device = gpu_device();
            options.stream = streams[0];
            (void)jhandle_create(&options, &handle);
            if (handle != NULL) {
                (void)touch(handle, 0);
                for (int i = 0; i < 4; ++i) {
                    jborrow_t borrow;
                    if (borrow_one(&borrow, handle, (size_t)(i + 1) * BYTES) == JSTATUS_SUCCESS)
                        JEXPECT_OK(jborrow_end(&borrow));
                    (void)jhandle_set_stream(handle, streams[(i + 1) % 2]);
                }
                (void)jhandle_trim(handle, 0);
                (void)jhandle_set_workspace_size(handle, BYTES);
                (void)jhandle_set_workspace_size(handle, 2 * BYTES);
                (void)jhandle_set_workspace_size(handle, 0);
            }
            failed = fake->has_failed();
            fake->fail_after(0, FAKE_GPU_UNKNOWN_ERROR);
            if (handle == NULL)
                JEXPECT_OK(jhandle_create(&options, &handle));
            JEXPECT_OK(write_and_copy(handle, BYTES, 7, out));
            JEXPECT_OK(jhandle_destroy(handle));
            for (int i = 0; i < 2; ++i)
                JEXPECT_OK(jstream_synchronize(gpu_device(), streams[i]));
            JEXPECT_TRUE(is_filled(out, BYTES, 7));
            gpu_give(out, 8 * BYTES);
            for (int i = 0; i < 2; ++i)
                JEXPECT_OK(jstream_destroy(streams[i]));
            JEXPECT_EQ(fake->live_bytes(), before);
            JEXPECT_EQ(fake->live_objects(), objects);
            JEXPECT_EQ(fake->faults(), 0);
        }
    }
}
