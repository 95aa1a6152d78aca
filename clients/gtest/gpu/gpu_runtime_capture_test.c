/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What a GPU module does to streams that are captured into graphs, and what it does not. */

#include "gpu_runtime_helper.h"

/* The capture was not spoilt: it gives a graph, which runs. */
static void end_capture_well(const fake_gpu_control_t *program, jstream_t *stream) {
    const fake_gpu_control_t *fake = gpu_fake();
    void *graph = program->end_capture(native(stream));
    JASSERT_NOT_NULL(graph);
    JEXPECT_EQ(program->launch_graph(graph, native(stream)), 0);
    JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
    program->destroy_graph(graph);
    if (fake != NULL) {
        JEXPECT_EQ(fake->last_error(), 0);
        JEXPECT_EQ(fake->faults(), 0);
    }
}

JTEST(GpuRuntime, EachCaptureHasItsNumber) {
    REQUIRE_PROGRAM(program);
    jstream_t *stream = make_stream(), *other = make_stream();
    uint64_t seen[3] = {0, 0, 0};
    uint64_t none = 1;
    JEXPECT_OK(jstream_get_capture(gpu_device(), stream, &none));
    JEXPECT_EQ(none, 0);
    for (int i = 0; i < 3; ++i) {
        JASSERT_EQ(program->begin_capture(native(stream)), 0);
        JEXPECT_OK(jstream_get_capture(gpu_device(), stream, &seen[i]));
        JEXPECT_NE(seen[i], 0);
        uint64_t others = 1;
        JEXPECT_OK(jstream_get_capture(gpu_device(), other, &others));
        JEXPECT_EQ(others, 0);
        JEXPECT_OK(jstream_get_capture(gpu_device(), NULL, &others));
        JEXPECT_EQ(others, 0);
        end_capture_well(program, stream);
    }
    JEXPECT_TRUE(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2]);
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jstream_destroy(other));
}

JTEST(GpuRuntime, WhatACaptureDoesNotAllowIsRefusedAndTheCaptureGoesOn) {
    REQUIRE_PROGRAM(program);
    jstream_t *stream = make_stream(), *other = make_stream();
    jevent_t *captured = make_event(), *outside = make_event();
    void *pointer = NULL, *memory = gpu_take(4096);
    bool reached;
    double ms;
    const uint32_t pattern = 5;
    JEXPECT_OK(jevent_record(outside, other));
    JASSERT_EQ(program->begin_capture(native(stream)), 0);
    JEXPECT_OK(jdevice_fill(gpu_device(), stream, memory, &pattern, 4, 1024));
    JEXPECT_OK(jevent_record(captured, stream));

    JEXPECT_STATUS(jstream_synchronize(gpu_device(), stream), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jstream_destroy(stream), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jevent_query(captured, &reached), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jevent_synchronize(captured), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jevent_get_elapsed_ms(outside, captured, &ms), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jevent_wait(outside, stream), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jevent_wait(captured, NULL), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jdevice_allocate_ordered(gpu_device(), stream, 4096, &pointer),
                   JSTATUS_CAPTURING);
    JEXPECT_STATUS(jdevice_deallocate_ordered(gpu_device(), stream, memory, 4096),
                   JSTATUS_CAPTURING);
    JEXPECT_SUBSTR(jstatus_last_message(), "while the stream is being captured");
    JEXPECT_NULL(pointer);

    end_capture_well(program, stream);
    /* Until it is recorded again. */
    JEXPECT_STATUS(jevent_synchronize(captured), JSTATUS_CAPTURING);
    JEXPECT_OK(jevent_record(captured, stream));
    JEXPECT_OK(jevent_synchronize(captured));
    JEXPECT_OK(jevent_destroy(captured));
    JEXPECT_OK(jevent_destroy(outside));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jstream_destroy(other));
    gpu_give(memory, 4096);
}

/* A capture in global mode forbids them to every thread of the process that does not ask for more
 * freedom. */
JTEST(GpuRuntime, UnsafeCallsOfAnyThreadLeaveACaptureAlone) {
    REQUIRE_PROGRAM(program);
    const fake_gpu_control_t *const fake = gpu_fake();
    jstream_t *stream = make_stream(), *other = make_stream();
    jevent_t *event = make_event(), *start = make_event();
    JEXPECT_OK(jevent_record(start, other));
    JASSERT_EQ(program->begin_capture(native(stream)), 0);
    size_t bytes = 0;
    bool reached;
    double ms;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        void *pointer = NULL;
        JSCOPED_TRACE("kind %d", (int)kinds[k]);
        JEXPECT_OK(jdevice_allocate(gpu_device(), kinds[k], 4096,
                                    kinds[k] == JMEMORY_STREAM_ORDERED ? 0 : 65536, &pointer));
        JEXPECT_OK(jdevice_deallocate(gpu_device(), kinds[k], pointer, 4096));
    }
    jstream_t *made = make_stream();
    JEXPECT_OK(jdevice_get_memory_info(gpu_device(), &bytes, NULL));
    JEXPECT_OK(jevent_record(event, other));
    JEXPECT_OK(jevent_query(event, &reached));
    JEXPECT_OK(jevent_synchronize(event));
    JEXPECT_OK(jevent_get_elapsed_ms(start, event, &ms));
    JEXPECT_OK(jstream_synchronize(gpu_device(), other));
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
    JEXPECT_OK(jstream_destroy(made));
    if (fake != NULL)
        JEXPECT_OK(jdevice_get_memory_info(second_device(fake), &bytes, NULL));
    end_capture_well(program, stream);
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jevent_destroy(start));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jstream_destroy(other));
}

JTEST(GpuRuntime, TheDefaultStreamIsNotUsedBesideACaptureThatItWouldSpoil) {
    REQUIRE_PROGRAM(program);
    void *own = program->create_stream(true), *memory = gpu_take(4096);
    jstream_t *stream = NULL;
    jevent_t *event = make_event();
    uint64_t capture;
    const uint32_t pattern = 5;
    const unsigned char zero = 0;
    JASSERT_OK(jstream_wrap(gpu_device(), own, &stream));
    JASSERT_EQ(program->begin_capture(own), 0);
    JEXPECT_STATUS(jdevice_fill(gpu_device(), NULL, memory, &pattern, 4, 1024), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jdevice_fill(gpu_device(), NULL, memory, &zero, 1, 4096), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jdevice_copy(gpu_device(), NULL, &capture, memory, 8), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jstream_launch(gpu_device(), NULL, do_nothing, NULL, 0), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jstream_synchronize(gpu_device(), NULL), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jevent_record(event, NULL), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jstream_get_capture(gpu_device(), NULL, &capture), JSTATUS_CAPTURING);
    end_capture_well(program, stream);
    JEXPECT_OK(jdevice_fill(gpu_device(), NULL, memory, &pattern, 4, 1024));
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_EQ(program->destroy_stream(own), 0);
    gpu_give(memory, 4096);
}

JTEST(GpuRuntime, AWrappedStreamMayBeLetGoOfWhileItIsCaptured) {
    REQUIRE_PROGRAM(program);
    void *own = program->create_stream(false);
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_wrap(gpu_device(), own, &stream));
    JASSERT_EQ(program->begin_capture(own), 0);
    JEXPECT_OK(jstream_destroy(stream));
    void *graph = program->end_capture(own);
    JASSERT_NOT_NULL(graph);
    program->destroy_graph(graph);
    JEXPECT_EQ(program->destroy_stream(own), 0);
}

JTEST(GpuRuntime, AnEventTakesAnotherStreamIntoTheCaptureAndBack) {
    REQUIRE_PROGRAM(program);
    jstream_t *stream = make_stream(), *branch = make_stream();
    jevent_t *fork_event = make_event(), *join_event = make_event();
    uint64_t mine = 0, branchs = 0;
    uint32_t *memory = gpu_take(4096), got[2] = {0, 0};
    const uint32_t first = 11, second = 22;
    JASSERT_EQ(program->begin_capture(native(stream)), 0);
    JEXPECT_OK(jevent_record(fork_event, stream));
    JEXPECT_OK(jevent_wait(fork_event, branch));
    JEXPECT_OK(jstream_get_capture(gpu_device(), stream, &mine));
    JEXPECT_OK(jstream_get_capture(gpu_device(), branch, &branchs));
    JEXPECT_EQ(mine, branchs);
    JEXPECT_OK(jdevice_fill(gpu_device(), stream, memory, &first, 4, 512));
    JEXPECT_OK(jdevice_fill(gpu_device(), branch, memory + 512, &second, 4, 512));
    JEXPECT_OK(jevent_record(join_event, branch));
    JEXPECT_OK(jevent_wait(join_event, stream));
    end_capture_well(program, stream);
    gpu_download(&got[0], memory + 511, 4);
    gpu_download(&got[1], memory + 512, 4);
    JEXPECT_EQ(got[0], first);
    JEXPECT_EQ(got[1], second);
    JEXPECT_OK(jevent_destroy(fork_event));
    JEXPECT_OK(jevent_destroy(join_event));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jstream_destroy(branch));
    gpu_give(memory, 4096);
}

JTEST(GpuRuntime, AGraphKeepsWhatItWasGivenUntilItIsDestroyed) {
    REQUIRE_PROGRAM(program);
    const fake_gpu_control_t *const fake = gpu_fake();
    const uint64_t objects = fake != NULL ? fake->live_objects() : 0;
    jstream_t *stream = make_stream();
    atomic_int released = 0;
    JEXPECT_STATUS(keep(stream, &released), JSTATUS_INVALID_VALUE); /* in no capture */
    JASSERT_EQ(program->begin_capture(native(stream)), 0);
    if (!graphs_own()) {
        JEXPECT_STATUS(keep(stream, &released), JSTATUS_NOT_IMPLEMENTED);
        end_capture_well(program, stream);
        JEXPECT_EQ(released, 0);
        JEXPECT_OK(jstream_destroy(stream));
        return;
    }
    JEXPECT_OK(keep(stream, &released));
    JEXPECT_OK(keep(stream, &released));
    void *graph = program->end_capture(native(stream));
    JASSERT_NOT_NULL(graph);
    for (int i = 0; i < 3; ++i)
        JEXPECT_EQ(program->launch_graph(graph, native(stream)), 0);
    JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_EQ(released, 0);
    program->destroy_graph(graph);
    if (fake != NULL)
        JEXPECT_EQ(fake->live_objects(), objects); /* waits for destructors */
    JEXPECT_EQ(released, 2);
}

JTEST(GpuRuntime, AHostFunctionOfAGraphRunsEachTimeWithTheSameArguments) {
    REQUIRE_PROGRAM(program);
    jstream_t *stream = make_stream();
    const size_t live = jtest_metadata_live_count();
    int order[8];
    atomic_int next = 0;
    noted_t noted = {.next = &next, .order = order, .number = 42};
    noted.rest[sizeof noted.rest - 1] = 'e';
    JASSERT_EQ(program->begin_capture(native(stream)), 0);
    const jstatus_t status = jstream_launch(gpu_device(), stream, note, &noted, sizeof noted);
    JEXPECT_STATUS(status, graphs_own() ? JSTATUS_SUCCESS : JSTATUS_NOT_IMPLEMENTED);
    memset(&noted, 0, sizeof noted);
    void *graph = program->end_capture(native(stream));
    JASSERT_NOT_NULL(graph);
    JEXPECT_EQ(next, 0);
    for (int i = 0; i < 3; ++i)
        JEXPECT_EQ(program->launch_graph(graph, native(stream)), 0);
    JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
    program->destroy_graph(graph);
    JEXPECT_EQ(next, graphs_own() ? 3 : 0);
    for (int i = 0; i < next; ++i)
        JEXPECT_EQ(order[i], 42);
    JEXPECT_EQ(jtest_metadata_live_count(), live);
    JEXPECT_OK(jstream_destroy(stream));
}

/* A kernel's first launch may load it, which captures forbid to those who do not ask for more
 * freedom. */
JTEST(GpuRuntime, KernelsAreLoadedInACaptureAndBesideIt) {
    REQUIRE_PROGRAM(program);
    const fake_gpu_control_t *const fake = gpu_fake();
    enum { COUNT = 64 };
    jstream_t *stream = make_stream(), *other = make_stream();
    const double one = 1, two = 2;
    double *x = gpu_take(2 * COUNT * sizeof *x), sum = 0;
    jhandle_t *handle = gpu_make_handle();
    for (int inside = 0; inside < 2; ++inside) {
        JSCOPED_TRACE(inside ? "in the capture" : "beside it");
        JEXPECT_OK(jhandle_set_stream(handle, inside ? stream : other));
        if (fake != NULL)
            fake->unload_kernels();
        JASSERT_EQ(program->begin_capture(native(stream)), 0);
        JEXPECT_OK(jdevice_fill(gpu_device(), inside ? stream : other, x, &one, sizeof one, COUNT));
        JEXPECT_OK(jblas_dscal(handle, COUNT, &two, x, 1));
        end_capture_well(program, stream);
        JEXPECT_OK(jblas_dasum(handle, COUNT, x, 1, &sum));
        JEXPECT_EQ(sum, 2 * COUNT);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jstream_destroy(other));
    gpu_give(x, 2 * COUNT * sizeof *x);
}

/* One question of the runtime's a call at most, and none where nothing depends on the answer. */
JTEST(GpuRuntime, ACallAsksAboutCapturesOnce) {
    REQUIRE_FAKE(fake);
    enum { COUNT = 64 };
    const double one = 1, two = 2;
    double *x = gpu_take(COUNT * sizeof *x), sum = 0;
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.device = gpu_device();
    options.never_captured = true; /* else handles ask as well */
    JEXPECT_OK(jdevice_fill(gpu_device(), NULL, x, &one, sizeof one, COUNT));
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
    for (int created = 0; created < 2; ++created) {
        jhandle_t *handle = NULL;
        options.stream = created ? make_stream() : NULL;
        JASSERT_OK(jhandle_create(&options, &handle));
        JEXPECT_OK(jblas_dasum(handle, COUNT, x, 1, &sum)); /* has its workspace now */
        fake->reset_counts();
        JEXPECT_OK(jblas_dscal(handle, COUNT, &two, x, 1));
        JEXPECT_EQ(fake->count("StreamGetCaptureInfo"), !created);
        fake->reset_counts();
        JEXPECT_OK(jblas_dasum(handle, COUNT, x, 1, &sum));
        JEXPECT_EQ(sum, (created ? 4 : 2) * COUNT);
        /* Before the result comes to the host. */
        JEXPECT_EQ(fake->count("StreamGetCaptureInfo"), 1);
        JEXPECT_OK(jhandle_destroy(handle));
        JEXPECT_OK(jstream_destroy(options.stream));
    }
    gpu_give(x, COUNT * sizeof *x);
}
