/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Calls captured into graphs, and the graphs launched: also when the handle is gone, and its memory
 * somebody else's. What stands in the results shows whether a graph's memory is its own. The
 * application's part (begin, end, launch) is played through gpu_program(); what is counted is the
 * fake runtime's; handle_capture_test.c looks at the rest of the states on a pretended device. */

#include "gpu_device.h"
#include "handle_helper.h"

#include <string.h>

enum { BYTES = 4096 };

typedef struct bench {
    const fake_gpu_control_t *program, *fake; /* the second NULL on a real GPU */
    jstream_t *stream, *other;
    unsigned char *out; /* 16 results of BYTES */
    size_t live_bytes;
    uint64_t live_objects;
} bench_t;

static bool owns(void) {
    jdevice_properties_t properties = JDEVICE_PROPERTIES_INIT;
    JEXPECT_OK(jdevice_get_properties(gpu_device(), &properties));
    return properties.has_capture && properties.has_capture_ownership;
}

static bool begin(bench_t *b) {
    memset(b, 0, sizeof *b);
    b->program = gpu_program();
    b->fake = gpu_fake();
    if (b->program == NULL)
        return false;
    if (b->fake != NULL) {
        b->live_bytes = b->fake->live_bytes();
        b->live_objects = b->fake->live_objects();
    }
    JEXPECT_OK(jstream_create(gpu_device(), &b->stream));
    JEXPECT_OK(jstream_create(gpu_device(), &b->other));
    b->out = gpu_take(16 * BYTES);
    return true;
}
#define BEGIN(b)                                                                                   \
    bench_t b;                                                                                     \
    if (!begin(&b))                                                                                \
    JSKIP(GPU_NO_PROGRAM)

/* Nothing is left, once a handle has looked after it. */
static void end(bench_t *b) {
    jhandle_t *any = NULL;
    JEXPECT_OK(jhandle_create(NULL, &any));
    JEXPECT_OK(jhandle_destroy(any));
    gpu_give(b->out, 16 * BYTES);
    JEXPECT_OK(jstream_destroy(b->stream));
    JEXPECT_OK(jstream_destroy(b->other));
    if (b->fake == NULL)
        return;
    JEXPECT_EQ(b->fake->live_bytes(), b->live_bytes);
    JEXPECT_EQ(b->fake->live_objects(), b->live_objects);
    JEXPECT_EQ(b->fake->faults(), 0);
}

static void *native(jstream_t *stream) { return jstream_native(gpu_device(), stream); }
static void begin_capture(const bench_t *b, jstream_t *stream) {
    JEXPECT_EQ(b->program->begin_capture(native(stream)), 0);
}
static void *end_capture(const bench_t *b, jstream_t *stream) {
    void *graph = b->program->end_capture(native(stream));
    JEXPECT_NOT_NULL(graph);
    return graph;
}
static void launch(const bench_t *b, void *graph, jstream_t *stream) {
    JEXPECT_EQ(b->program->launch_graph(graph, native(stream)), 0);
    JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
}

/* A call: writes the end of its workspace, and from there result number `index`. */
static jstatus_t call(const bench_t *b, jhandle_t *handle, int index, unsigned char value,
                      size_t bytes) {
    jstream_t *stream;
    JEXPECT_OK(jhandle_get_stream(handle, &stream));
    JALLOC_BORROW(ws, handle, bytes);
    if (!ws.ok)
        return ws.status;
    unsigned char *last = (unsigned char *)ws.ptr[0] + bytes - BYTES;
    jstatus_t status = jdevice_fill(gpu_device(), stream, last, &value, 1, BYTES);
    return status == JSTATUS_SUCCESS
               ? jdevice_copy(gpu_device(), stream, b->out + index * BYTES, last, BYTES)
               : status;
}

static bool result_is(const bench_t *b, int index, unsigned char value) {
    unsigned char host[BYTES];
    gpu_download(host, b->out + index * BYTES, BYTES);
    for (int i = 0; i < BYTES; ++i)
        if (host[i] != value)
            return false;
    return true;
}
static void clear(const bench_t *b) {
    const unsigned char zero = 0;
    JEXPECT_OK(jdevice_fill(gpu_device(), NULL, b->out, &zero, 1, 16 * BYTES));
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
}

/* Takes and overwrites what is free: memory that a graph has lost would be among it. */
static void overwrite_what_is_free(void) {
    enum { BLOCKS = 24 };
    void *blocks[BLOCKS];
    const unsigned char value = 0xEE;
    for (int i = 0; i < BLOCKS; ++i) {
        blocks[i] = gpu_take(4 * BYTES);
        JEXPECT_OK(jdevice_fill(gpu_device(), NULL, blocks[i], &value, 1, 4 * BYTES));
    }
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
    for (int i = 0; i < BLOCKS; ++i)
        gpu_give(blocks[i], 4 * BYTES);
}

JTEST(GpuCapture, GraphsRunWhenTheHandleIsGone) {
    if (!owns())
        JSKIP("the runtime's graphs own nothing");
    BEGIN(b);
    for (int mode = 0; mode < 3; ++mode) {
        JSCOPED_TRACE("mode %d", mode);
        jhandle_t *handle = gpu_make_handle_on(b.stream, mode == 1 ? 4 * BYTES : 0);
        if (mode == 2)
            JEXPECT_OK(jhandle_set_workspace_size(handle, 4 * BYTES));
        JEXPECT_OK(call(&b, handle, 0, 1, BYTES));
        begin_capture(&b, b.stream);
        JEXPECT_OK(call(&b, handle, 1, 11, BYTES));
        JEXPECT_OK(call(&b, handle, 2, 12, 3 * BYTES)); /* grows, in default mode */
        {
            JALLOC_BORROW(outer, handle, BYTES);
            JEXPECT_TRUE(outer.ok);
            JEXPECT_OK(call(&b, handle, 3, 13, mode == 0 ? 4 * BYTES : 2 * BYTES)); /* nested */
        }
        void *graph = end_capture(&b, b.stream);
        JEXPECT_OK(call(&b, handle, 4, 4, BYTES));
        JEXPECT_OK(jstream_synchronize(gpu_device(), b.stream));
        JEXPECT_TRUE(result_is(&b, 0, 1) && result_is(&b, 4, 4));
        for (int round = 0; round < 3; ++round) {
            clear(&b);
            launch(&b, graph, round == 1 ? b.other : b.stream);
            for (int i = 1; i <= 3; ++i)
                JEXPECT_TRUE(result_is(&b, i, (unsigned char)(10 + i)));
            if (round == 0)
                JEXPECT_OK(jhandle_destroy(handle));
            overwrite_what_is_free();
        }
        b.program->destroy_graph(graph);
    }
    end(&b);
}

/* The ordinary workspace and a graph's are two: neither disturbs the other, whenever it runs. */
JTEST(GpuCapture, AGraphDisturbsNobodysWorkspace) {
    if (!owns())
        JSKIP("the runtime's graphs own nothing");
    BEGIN(b);
    jhandle_t *handle = gpu_make_handle_on(b.stream, 0);
    void *graphs[2];
    const unsigned char mine = 77;
    for (int i = 0; i < 2; ++i) {
        JEXPECT_OK(call(&b, handle, 0, 1, 2 * BYTES));
        begin_capture(&b, b.stream);
        JEXPECT_OK(call(&b, handle, 1 + i, (unsigned char)(21 + i), BYTES));
        graphs[i] = end_capture(&b, b.stream);
    }
    {
        JALLOC_BORROW(ws, handle, BYTES);
        JASSERT_TRUE(ws.ok);
        JEXPECT_OK(jdevice_fill(gpu_device(), b.stream, ws.ptr[0], &mine, 1, BYTES));
        JEXPECT_OK(jstream_synchronize(gpu_device(), b.stream));
        for (int i = 0; i < 2; ++i)
            launch(&b, graphs[i], b.other);
        JEXPECT_OK(jdevice_copy(gpu_device(), b.stream, b.out + 5 * BYTES, ws.ptr[0], BYTES));
        JEXPECT_OK(jstream_synchronize(gpu_device(), b.stream));
    }
    JEXPECT_TRUE(result_is(&b, 5, 77) && result_is(&b, 1, 21) && result_is(&b, 2, 22));
    b.program->destroy_graph(graphs[0]); /* before the handle */
    JEXPECT_OK(jhandle_trim(handle, 0));
    overwrite_what_is_free();
    clear(&b);
    launch(&b, graphs[1], b.stream);
    JEXPECT_TRUE(result_is(&b, 2, 22));
    JEXPECT_OK(jhandle_destroy(handle));
    b.program->destroy_graph(graphs[1]); /* after it */
    end(&b);
}

/* Any mode of capture, in a stream of ours and in the program's own, with growth of this handle and
 * of another one that has nothing to do with it; and what is refused does not spoil the capture. */
JTEST(GpuCapture, CapturesAreNotSpoiled) {
    static const fake_gpu_capture_mode_t modes[] = {
        FAKE_GPU_CAPTURE_GLOBAL, FAKE_GPU_CAPTURE_THREAD_LOCAL, FAKE_GPU_CAPTURE_RELAXED};
    for (int kind = 0; kind < 3; ++kind)
        for (int m = 0; m < 3; ++m) {
            JSCOPED_TRACE("stream %d, mode %d", kind, m);
            BEGIN(b);
            /* 2: a blocking one */
            void *own = kind > 0 ? b.program->create_stream(kind == 2) : NULL;
            jstream_t *stream = b.stream, *before = b.stream;
            if (kind > 0) {
                JASSERT_OK(jstream_wrap(gpu_device(), own, &stream));
                b.stream = stream;
            }
            jhandle_t *handle = gpu_make_handle_on(b.stream, 0),
                      *fixed = gpu_make_handle_on(b.stream, 4 * BYTES);
            b.stream = b.other;
            jhandle_t *elsewhere = gpu_make_handle_on(b.stream, 0);
            b.stream = before;
            JEXPECT_OK(call(&b, handle, 0, 1, 2 * BYTES));
            JEXPECT_OK(call(&b, fixed, 0, 1, 2 * BYTES));
            JEXPECT_OK(call(&b, elsewhere, 6, 1, BYTES));
            JEXPECT_EQ(b.program->begin_capture_as(native(stream), modes[m]), 0);
            JEXPECT_OK(call(&b, handle, 1, 31, BYTES));
            JEXPECT_STATUS(jhandle_trim(handle, 0), JSTATUS_CAPTURING);
            JEXPECT_STATUS(jhandle_set_workspace_size(handle, BYTES), JSTATUS_CAPTURING);
            JEXPECT_STATUS(jhandle_set_workspace_size(fixed, 0), JSTATUS_CAPTURING);
            JEXPECT_STATUS(jhandle_destroy(fixed), JSTATUS_CAPTURING);
            JEXPECT_STATUS(jhandle_destroy(handle), JSTATUS_CAPTURING);
            JEXPECT_OK(call(&b, elsewhere, 6, 36, 3 * BYTES)); /* is not captured, and grows */
            JEXPECT_OK(call(&b, handle, 2, 32, 3 * BYTES));
            JEXPECT_OK(call(&b, fixed, 3, 33, 4 * BYTES));
            JEXPECT_STATUS(call(&b, fixed, 3, 33, 5 * BYTES), JSTATUS_MEMORY_ERROR);
            void *graph = end_capture(&b, stream);
            JEXPECT_OK(jstream_synchronize(gpu_device(), b.other));
            JEXPECT_TRUE(result_is(&b, 6, 36));
            clear(&b);
            launch(&b, graph, stream);
            for (int i = 1; i <= 3; ++i)
                JEXPECT_TRUE(result_is(&b, i, (unsigned char)(30 + i)));
            if (owns()) {
                JEXPECT_OK(jhandle_destroy(handle));
                JEXPECT_OK(jhandle_destroy(fixed));
                b.program->destroy_graph(graph);
            } else {
                b.program->destroy_graph(graph);
                JEXPECT_OK(jhandle_destroy(handle));
                JEXPECT_OK(jhandle_destroy(fixed));
            }
            JEXPECT_OK(jhandle_destroy(elsewhere));
            if (kind > 0) {
                JEXPECT_OK(jstream_destroy(stream));
                JEXPECT_EQ(b.program->destroy_stream(own), 0);
            }
            end(&b);
        }
}

JTEST(GpuCapture, FixedModesCallNothingOfTheRuntimeInACapture) {
    BEGIN(b);
    jhandle_t *handle = gpu_make_handle_on(b.stream, 4 * BYTES);
    JEXPECT_OK(call(&b, handle, 0, 1, BYTES));
    begin_capture(&b, b.stream);
    if (b.fake != NULL)
        b.fake->reset_counts();
    for (int i = 0; i < 4; ++i)
        JEXPECT_OK(call(&b, handle, i, (unsigned char)(i + 1), 4 * BYTES));
    if (b.fake != NULL) {
        JEXPECT_EQ(b.fake->count_allocations(), 0);
        JEXPECT_EQ(b.fake->count_frees(), 0);
        JEXPECT_EQ(b.fake->count_waits(), 0);
        JEXPECT_EQ(b.fake->count("GraphRetainUserObject"), owns());
    }
    void *graph = end_capture(&b, b.stream);
    launch(&b, graph, b.stream);
    for (int i = 0; i < 4; ++i)
        JEXPECT_TRUE(result_is(&b, i, (unsigned char)(i + 1)));
    b.program->destroy_graph(graph);
    JEXPECT_OK(jhandle_destroy(handle));
    end(&b);
}

/* A graph that is never launched, one that was never ended well, one that captured nothing of the
 * handle. */
JTEST(GpuCapture, AbandonedCapturesLoseNothing) {
    BEGIN(b);
    jhandle_t *handle = gpu_make_handle_on(b.stream, 0);
    jevent_t *fork;
    JASSERT_OK(jevent_create(gpu_device(), &fork));
    JEXPECT_OK(call(&b, handle, 0, 1, 2 * BYTES));
    for (int round = 0; round < 4; ++round) {
        begin_capture(&b, b.stream);
        if (round != 1)
            JEXPECT_OK(call(&b, handle, 1, 2, (size_t)(round + 1) * BYTES));
        if (round == 2) {
            /* The program spoils its capture: a stream has joined and does not come back. */
            JEXPECT_OK(jevent_record(fork, b.stream));
            JEXPECT_OK(jevent_wait(fork, b.other));
            const unsigned char value = 1;
            JEXPECT_OK(jdevice_fill(gpu_device(), b.other, b.out, &value, 1, BYTES));
        }
        void *graph = b.program->end_capture(native(b.stream));
        JEXPECT_EQ(graph == NULL, round == 2);
        JEXPECT_OK(call(&b, handle, 2, (unsigned char)(50 + round), 2 * BYTES));
        JEXPECT_OK(jstream_synchronize(gpu_device(), b.stream));
        JEXPECT_TRUE(result_is(&b, 2, (unsigned char)(50 + round)));
        if (graph != NULL)
            b.program->destroy_graph(graph);
    }
    if (owns())
        JEXPECT_EQ(stats_of(handle).captured_bytes, 0);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jevent_destroy(fork));
    end(&b);
}

/* Two streams of one capture: the handle goes from one to the other and back; and into a capture
 * that began elsewhere.
 * */
JTEST(GpuCapture, TheStreamMayChangeInACapture) {
    BEGIN(b);
    jhandle_t *handle = gpu_make_handle_on(b.stream, 0);
    jevent_t *fork, *join;
    JASSERT_OK(jevent_create(gpu_device(), &fork));
    JASSERT_OK(jevent_create(gpu_device(), &join));
    JEXPECT_OK(call(&b, handle, 0, 41, 2 * BYTES));
    begin_capture(&b, b.stream);
    JEXPECT_OK(call(&b, handle, 1, 42, BYTES));
    JEXPECT_OK(jevent_record(fork, b.stream));
    JEXPECT_OK(jevent_wait(fork, b.other));
    JEXPECT_OK(jhandle_set_stream(handle, b.other));
    JEXPECT_OK(call(&b, handle, 2, 43, BYTES));
    JEXPECT_OK(jhandle_set_stream(handle, b.stream));
    JEXPECT_OK(call(&b, handle, 3, 44, BYTES));
    JEXPECT_OK(jhandle_set_stream(handle, b.other));
    JEXPECT_OK(call(&b, handle, 4, 45, BYTES));
    JEXPECT_OK(jevent_record(join, b.other));
    JEXPECT_OK(jevent_wait(join, b.stream));
    void *graph = end_capture(&b, b.stream);
    /* In the other stream, behind the first: they use the same bytes. */
    JEXPECT_OK(call(&b, handle, 5, 46, 2 * BYTES));
    JEXPECT_OK(jstream_synchronize(gpu_device(), b.other));
    JEXPECT_OK(jstream_synchronize(gpu_device(), b.stream));
    JEXPECT_TRUE(result_is(&b, 0, 41) && result_is(&b, 5, 46));
    for (int round = 0; round < 8; ++round) {
        clear(&b);
        if (b.fake != NULL)
            b.fake->set_seed((uint64_t)round + 1); /* of the order of what a graph leaves open */
        launch(&b, graph, b.stream);
        for (int i = 1; i <= 4; ++i)
            JEXPECT_TRUE(result_is(&b, i, (unsigned char)(41 + i)));
    }
    begin_capture(&b, b.stream); /* the handle is in the other one */
    JEXPECT_OK(call(&b, handle, 6, 47, BYTES));
    JEXPECT_OK(jhandle_set_stream(handle, b.stream));
    JEXPECT_OK(call(&b, handle, 7, 48, BYTES));
    void *second = end_capture(&b, b.stream);
    JEXPECT_OK(call(&b, handle, 8, 49, BYTES));
    JEXPECT_OK(jstream_synchronize(gpu_device(), b.stream));
    JEXPECT_OK(jstream_synchronize(gpu_device(), b.other));
    JEXPECT_TRUE(result_is(&b, 6, 47) && result_is(&b, 8, 49));
    launch(&b, second, b.stream);
    JEXPECT_TRUE(result_is(&b, 7, 48));
    b.program->destroy_graph(graph);
    b.program->destroy_graph(second);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jevent_destroy(fork));
    JEXPECT_OK(jevent_destroy(join));
    end(&b);
}

/* Each call of the runtime fails once. A capture that is not spoilt by that gives the right
 * results. */
JTEST(GpuCapture, EachFailedCallOfTheRuntimeLosesNothing) {
    if (gpu_fake() == NULL)
        JSKIP("a real runtime does not fail on demand");
    for (int manual = 0; manual < 2; ++manual)
        for (int error = FAKE_GPU_OUT_OF_MEMORY; error <= FAKE_GPU_UNKNOWN_ERROR; ++error) {
            bool failed = true;
            for (uint64_t n = 1; failed && !jtest_has_failure(); ++n) {
                JSCOPED_TRACE("manual %d, call %d fails with %d", manual, (int)n, error);
                BEGIN(b);
                jhandle_t *handle = gpu_make_handle_on(b.stream, manual ? 3 * BYTES : 0);
                JEXPECT_OK(call(&b, handle, 0, 1, BYTES));
                begin_capture(&b, b.stream);
                b.fake->fail_after(n, (fake_gpu_error_t)error);
                const jstatus_t first = call(&b, handle, 1, 61, BYTES),
                                second = call(&b, handle, 2, 62, 3 * BYTES);
                failed = b.fake->has_failed();
                b.fake->fail_after(0, FAKE_GPU_UNKNOWN_ERROR);
                const jstatus_t third = call(&b, handle, 3, 63, 2 * BYTES);
                void *graph = b.program->end_capture(native(b.stream));
                JEXPECT_OK(call(&b, handle, 4, 64, 2 * BYTES));
                JEXPECT_OK(jstream_synchronize(gpu_device(), b.stream));
                JEXPECT_TRUE(result_is(&b, 4, 64));
                if (graph != NULL) {
                    clear(&b);
                    launch(&b, graph, b.stream);
                    JEXPECT_TRUE(first != JSTATUS_SUCCESS || result_is(&b, 1, 61));
                    JEXPECT_TRUE(second != JSTATUS_SUCCESS || result_is(&b, 2, 62));
                    JEXPECT_TRUE(third != JSTATUS_SUCCESS || result_is(&b, 3, 63));
                    JEXPECT_OK(third);
                    b.program->destroy_graph(graph);
                }
                JEXPECT_OK(jhandle_destroy(handle));
                end(&b);
            }
        }
}
