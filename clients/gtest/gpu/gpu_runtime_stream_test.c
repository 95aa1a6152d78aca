/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Streams, events and host functions of a GPU module. */

#include "gpu_runtime_helper.h"

#include "jalloc/borrow.h"

/* ---- Streams and events ---- */

JTEST(GpuRuntime, WorkOfAStreamIsOrderedByEventsAlone) {
    enum { COUNT = 5000 };
    jstream_t *first = make_stream(), *second = make_stream();
    jevent_t *event = make_event();
    uint32_t *a = gpu_take(COUNT * 4), *b = gpu_take(COUNT * 4), got[COUNT];
    for (uint32_t round = 1; round <= 5; ++round) {
        const uint32_t pattern = round * 0x01020304;
        JEXPECT_OK(jdevice_fill(gpu_device(), first, a, &pattern, 4, COUNT));
        JEXPECT_OK(jevent_record(event, first));
        JEXPECT_OK(jevent_wait(event, second));
        JEXPECT_OK(jdevice_copy(gpu_device(), second, b, a, COUNT * 4));
        JEXPECT_OK(jdevice_copy(gpu_device(), second, got, b, COUNT * 4));
        JEXPECT_OK(jstream_synchronize(gpu_device(), second));
        JEXPECT_EQ(got[0], pattern);
        JEXPECT_EQ(got[COUNT - 1], pattern);
        JEXPECT_OK(jevent_record(event, second)); /* before it is filled again */
        JEXPECT_OK(jevent_wait(event, first));
    }
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
    gpu_give(a, COUNT * 4);
    gpu_give(b, COUNT * 4);
}

JTEST(GpuRuntime, AnEventTellsNeverRecordedNotReachedAndReachedApart) {
    jstream_t *stream = make_stream();
    jevent_t *start = make_event(), *stop = make_event();
    jtest_gate_t gate = JTEST_GATE_INIT;
    bool reached = false;
    double ms = -1;
    JEXPECT_OK(jevent_query(start, &reached));
    JEXPECT_TRUE(reached);
    JEXPECT_OK(jevent_synchronize(start));
    JEXPECT_OK(jevent_wait(start, stream));
    JEXPECT_STATUS(jevent_get_elapsed_ms(start, stop, &ms), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jevent_record(start, stream));
    JEXPECT_STATUS(jevent_get_elapsed_ms(start, stop, &ms), JSTATUS_INVALID_VALUE);

    JEXPECT_OK(jtest_gate_block(&gate, gpu_device(), stream));
    JEXPECT_OK(jevent_record(stop, stream));
    JEXPECT_OK(jevent_query(stop, &reached));
    JEXPECT_FALSE(reached);
    JEXPECT_STATUS(jevent_get_elapsed_ms(start, stop, &ms), JSTATUS_BUSY);
    JEXPECT_EQ(ms, -1);
    if (gpu_fake() != NULL)
        JEXPECT_EQ(gpu_fake()->last_error(), 0); /* not ready is an answer */
    jtest_gate_open(&gate);
    JEXPECT_OK(jevent_synchronize(stop));
    JEXPECT_OK(jevent_query(stop, &reached));
    JEXPECT_TRUE(reached);
    JEXPECT_OK(jevent_get_elapsed_ms(start, stop, &ms));
    JEXPECT_GE(ms, 0);
    JEXPECT_OK(jevent_destroy(start));
    JEXPECT_OK(jevent_destroy(stop));
    JEXPECT_OK(jstream_destroy(stream));
}

/* Taking the time costs, and of the library's own events nobody asks for it. */
JTEST(GpuRuntime, OnlyEventsOfTheProgramTakeTheTime) {
    REQUIRE_FAKE(fake);
    jstream_t *first = make_stream(), *second = make_stream();
    jhandle_t *handle = gpu_make_handle();
    jallocator_t *pool = NULL;
    void *pointer = NULL;
    JASSERT_OK(jallocator_compose(gpu_device(), "device+fill", &pool));
    fake->reset_counts();
    JEXPECT_OK(jhandle_set_stream(handle, first));
    {
        JALLOC_BORROW(ws, handle, 4096);
        JEXPECT_TRUE(ws.ok);
    }
    JEXPECT_OK(jhandle_set_stream(handle, second)); /* behind the workspace's last use */
    JEXPECT_EQ(fake->count("EventCreate"), 1);
    JEXPECT_OK(jallocator_allocate(pool, 4096, 0, first, &pointer)); /* filled, in the stream */
    JEXPECT_OK(jallocator_deallocate(pool, pointer, 4096, second));
    JEXPECT_GT(fake->count("EventCreate"), 1);
    JEXPECT_EQ(fake->count("EventCreate, timed"), 0);
    jevent_t *event = make_event();
    JEXPECT_EQ(fake->count("EventCreate, timed"), 1);
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jallocator_destroy(pool));
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
}

JTEST(GpuRuntime, AWrappedStreamIsTheProgramsAndStays) {
    REQUIRE_PROGRAM(program);
    const fake_gpu_control_t *const fake = gpu_fake();
    void *own = program->create_stream(true);
    const uint64_t objects = fake != NULL ? fake->live_objects() : 0;
    jstream_t *wrapped = NULL;
    uint16_t pattern = 0x1234, *memory = gpu_take(2000), got = 0;
    JASSERT_OK(jstream_wrap(gpu_device(), own, &wrapped));
    JEXPECT_EQ(native(wrapped), own);
    JEXPECT_EQ(jstream_device(wrapped), gpu_device());
    JEXPECT_OK(jdevice_fill(gpu_device(), wrapped, memory, &pattern, 2, 1000));
    JEXPECT_OK(jdevice_copy(gpu_device(), wrapped, &got, memory + 999, 2));
    JEXPECT_OK(jstream_destroy(wrapped)); /* waits */
    JEXPECT_EQ(got, pattern);
    if (fake != NULL)
        JEXPECT_EQ(fake->live_objects(), objects);
    JASSERT_OK(jstream_wrap(gpu_device(), own, &wrapped)); /* again */
    JEXPECT_OK(jstream_synchronize(gpu_device(), wrapped));
    JEXPECT_OK(jstream_destroy(wrapped));
    JEXPECT_EQ(program->destroy_stream(own), 0);
    JASSERT_OK(jstream_wrap(gpu_device(), NULL, &wrapped)); /* the default stream */
    JEXPECT_NULL(native(wrapped));
    JEXPECT_NULL(native(NULL));
    JEXPECT_OK(jstream_destroy(wrapped));
    gpu_give(memory, 2000);
}

/* Whose work is on another device than the current one: that one is current again afterwards. */
JTEST(GpuRuntime, TheProgramsCurrentDeviceStaysCurrent) {
    REQUIRE_FAKE(fake);
    jdevice_t *second = second_device(fake);
    void *pointer = NULL;
    const uint32_t pattern = 77;
    uint32_t got = 0;
    const char *const set = is_hip() ? "SetDevice" : "CtxSetCurrent";
    JEXPECT_EQ(fake->set_device(0), 0);
    fake->reset_counts();
    JASSERT_OK(jdevice_allocate(second, JMEMORY_DEVICE, 4096, 0, &pointer));
    JEXPECT_EQ(fake->count(set), 2); /* there and back */
    JEXPECT_OK(jdevice_fill(second, NULL, pointer, &pattern, 4, 1024));
    JEXPECT_OK(jdevice_copy(second, NULL, &got, pointer, 4));
    JEXPECT_OK(jstream_synchronize(second, NULL));
    JEXPECT_EQ(got, pattern);
    JEXPECT_OK(jdevice_deallocate(second, JMEMORY_DEVICE, pointer, 4096));
    fake->reset_counts();
    JASSERT_OK(jdevice_allocate(gpu_device(), JMEMORY_DEVICE, 4096, 0, &pointer));
    JEXPECT_EQ(fake->count(set), 0);
    JEXPECT_OK(jdevice_deallocate(gpu_device(), JMEMORY_DEVICE, pointer, 4096));
}

static void *use_without_a_context(void *argument) {
    const fake_gpu_control_t *fake = gpu_fake();
    jdevice_t *second = argument;
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    const double one = 1;
    double sum = 0, *x = NULL;
    options.device = second;
    JEXPECT_EQ(fake->context(), -1);
    JEXPECT_OK(jdevice_allocate(second, JMEMORY_DEVICE, 80, 0, (void **)&x));
    JEXPECT_OK(jhandle_create(&options, &handle));
    JEXPECT_OK(jdevice_fill(second, NULL, x, &one, sizeof one, 10));
    JEXPECT_OK(jblas_dasum(handle, 10, x, 1, &sum));
    JEXPECT_EQ(sum, 10);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jdevice_deallocate(second, JMEMORY_DEVICE, x, 80));
    JEXPECT_EQ(fake->context(), -1);
    JEXPECT_FALSE(fake->has_context(0));
    JEXPECT_EQ(fake->count("SetDevice") != 0, is_hip());
    return NULL;
}

/* A thread that has no context has none afterwards, and device 0 none because of it. */
JTEST(GpuRuntime, WorkOnAnotherDeviceMakesNoContextOnTheFirst) {
    REQUIRE_FAKE(fake);
    pthread_t thread;
    jdevice_t *second = second_device(fake);
    fake->end_context(0);
    fake->reset_counts();
    JASSERT_EQ(pthread_create(&thread, NULL, use_without_a_context, second), 0);
    pthread_join(thread, NULL);
}

/* ---- Host functions ---- */

JTEST(GpuRuntime, HostFunctionsRunInOrderWithArgumentsOfTheirOwn) {
    jstream_t *stream = make_stream(), *streams[] = {stream, NULL};
    for (int s = 0; s < 2; ++s) {
        const size_t live = jtest_metadata_live_count();
        int order[20];
        atomic_int next = 0;
        noted_t noted = {.next = &next, .order = order};
        noted.rest[sizeof noted.rest - 1] = 'e';
        JEXPECT_EQ(sizeof noted, JSTREAM_MAX_ARGUMENT_BYTES);
        for (int i = 0; i < 20; ++i) {
            noted.number = i;
            JEXPECT_OK(jstream_launch(gpu_device(), streams[s], note, &noted, sizeof noted));
        }
        memset(&noted, 0xEE, sizeof noted); /* were copied */
        JEXPECT_OK(jstream_synchronize(gpu_device(), streams[s]));
        JEXPECT_EQ(next, 20);
        for (int i = 0; i < 20; ++i)
            JEXPECT_EQ(order[i], i);
        JEXPECT_EQ(jtest_metadata_live_count(), live);
    }
    JEXPECT_OK(jstream_destroy(stream));
}

typedef struct forbidden {
    jstream_t *stream;
    jevent_t *event;
    void *memory;
    atomic_int *refused, *asked;
} forbidden_t;

static void call_what_is_forbidden(void *arguments) {
    const forbidden_t *f = arguments;
    const uint32_t pattern = 1;
    void *pointer = NULL;
    jstream_t *stream = NULL;
    jevent_t *event = NULL;
    bool reached;
    uint64_t capture;
    size_t bytes;
    const jstatus_t got[] = {
        jstream_synchronize(gpu_device(), f->stream),
        jstream_synchronize(gpu_device(), NULL),
        jstream_destroy(f->stream),
        jstream_get_capture(gpu_device(), f->stream, &capture),
        jstream_create(gpu_device(), &stream),
        jevent_create(gpu_device(), &event),
        jevent_record(f->event, f->stream),
        jevent_wait(f->event, f->stream),
        jevent_query(f->event, &reached),
        jevent_synchronize(f->event),
        jevent_destroy(f->event),
        jdevice_fill(gpu_device(), f->stream, f->memory, &pattern, 4, 16),
        jdevice_copy(gpu_device(), f->stream, f->memory, f->memory, 1),
        jdevice_allocate(gpu_device(), JMEMORY_DEVICE, 1, 0, &pointer),
        jdevice_deallocate(gpu_device(), JMEMORY_DEVICE, f->memory, 64),
        jdevice_get_memory_info(gpu_device(), &bytes, NULL),
    };
    *f->asked = (int)(sizeof got / sizeof *got);
    for (size_t i = 0; i < sizeof got / sizeof *got; ++i)
        *f->refused += got[i] == JSTATUS_BUSY;
}

JTEST(GpuRuntime, InAHostFunctionEveryCallIsRefusedAndNoneReachesTheRuntime) {
    const fake_gpu_control_t *fake = gpu_fake();
    atomic_int refused = 0, asked = 0;
    forbidden_t f = {make_stream(), make_event(), gpu_take(64), &refused, &asked};
    JEXPECT_OK(jstream_launch(gpu_device(), f.stream, call_what_is_forbidden, &f, sizeof f));
    JEXPECT_OK(jstream_synchronize(gpu_device(), f.stream));
    JEXPECT_GT(asked, 0);
    JEXPECT_EQ(refused, asked);
    if (fake != NULL)
        JEXPECT_EQ(fake->faults(), 0);
    JEXPECT_OK(jevent_destroy(f.event)); /* everything is still there */
    JEXPECT_OK(jstream_destroy(f.stream));
    gpu_give(f.memory, 64);
}
