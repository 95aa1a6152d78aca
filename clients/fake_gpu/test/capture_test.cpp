/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Captures and graphs of the fake runtime. */

#include "fake_test.h"

#include <atomic>
#include <functional>
#include <thread>

static __global__ void add_kernel(int *x, int value) { *x += value; }
static __global__ void shift_kernel(int *x, int value) { *x = *x * 10 + value; }
static void add(int *x, int value, gpuStream_t stream) {
    (void)gpuGetLastError();
    GPU_LAUNCH_KERNEL((add_kernel), 1, 1, stream, x, value);
    OK(gpuGetLastError());
}
static gpuStreamCaptureStatus status_of(gpuStream_t stream) {
    gpuStreamCaptureStatus status = gpuStreamCaptureStatusNone;
    OK(gpuStreamIsCapturing(stream, &status));
    return status;
}

class FakeCapture : public Fake {
  protected:
    void SetUp() override {
        Fake::SetUp();
        a = make_stream();
        b = make_stream();
        event = make_event();
        x = take<int>(1);
        OK(gpuMemsetAsync(x, 0, sizeof *x, a));
        OK(gpuStreamSynchronize(a));
        gpuFuncAttributes attributes; /* and what asks for them is loaded */
        OK(gpuFuncGetAttributes(&attributes, (const void *)add_kernel));
        OK(gpuFuncGetAttributes(&attributes, (const void *)shift_kernel));
    }
    void TearDown() override {
        OK(gpuStreamDestroy(a));
        OK(gpuStreamDestroy(b));
        OK(gpuEventDestroy(event));
        OK(gpuFree(x));
        Fake::TearDown();
    }
    /* The capture of a is over and gave nothing. */
    void expect_spoiled(gpuError_t error = gpuErrorStreamCaptureInvalidated) {
        gpuGraph_t graph = (gpuGraph_t)x;
        GIVES(error, gpuStreamEndCapture(a, &graph));
        EXPECT_EQ(graph, nullptr);
        EXPECT_EQ(status_of(a), gpuStreamCaptureStatusNone);
        EXPECT_EQ(status_of(b), gpuStreamCaptureStatusNone);
    }
    gpuStream_t a, b;
    gpuEvent_t event;
    int *x;
};

TEST_F(FakeCapture, AGraphRunsAsOftenAsItIsLaunched) {
    gpuGraph_t graph = nullptr, during = nullptr;
    gpuGraphExec_t exec = nullptr;
    unsigned long long first = 0, second = 0;
    gpuStreamCaptureStatus status;

    OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeGlobal));
    GIVES(gpuErrorIllegalState, gpuStreamBeginCapture(a, gpuStreamCaptureModeGlobal));
    OK(gpuStreamGetCaptureInfo(a, &status, &first, &during));
    EXPECT_EQ(status, gpuStreamCaptureStatusActive);
    add(x, 3, a);

    OK(gpuStreamEndCapture(a, &graph));
    EXPECT_EQ(during, graph);
    GIVES(gpuErrorIllegalState, gpuStreamEndCapture(a, &during));

    OK(gpuGraphInstantiate(&exec, graph));
    OK(gpuGraphDestroy(graph));
    OK(gpuDeviceSynchronize());
    EXPECT_EQ(look(x, 1)[0], 0);

    for (int i = 0; i < 4; ++i)
        OK(gpuGraphLaunch(exec, i % 2 ? a : b));

    /* Launches of one instance follow each other, whatever their streams. */
    OK(gpuStreamSynchronize(a));
    EXPECT_EQ(look(x, 1)[0], 12);
    OK(gpuStreamSynchronize(b));

    OK(gpuGraphExecDestroy(exec));
    OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeRelaxed));
    OK(gpuStreamGetCaptureInfo(a, &status, &second));
    EXPECT_NE(first, second);
    OK(gpuStreamEndCapture(a, &graph));
    OK(gpuGraphDestroy(graph));
}

TEST_F(FakeCapture, ForkedStreamsJoinByEventsAndOrderIsWhatTheySay) {
    std::vector<int> seen;
    for (bool joined_in_order : {true, false}) {
        gpuGraph_t graph = nullptr;

        OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeGlobal));
        OK(gpuEventRecord(event, a));
        if (joined_in_order)
            GPU_LAUNCH_KERNEL((shift_kernel), 1, 1, a, x, 1);
        if (joined_in_order)
            OK(gpuEventRecord(event, a));

        OK(gpuStreamWaitEvent(b, event));
        EXPECT_EQ(status_of(b), gpuStreamCaptureStatusActive);

        GPU_LAUNCH_KERNEL((shift_kernel), 1, 1, b, x, 2);
        if (!joined_in_order)
            GPU_LAUNCH_KERNEL((shift_kernel), 1, 1, a, x, 1);

        OK(gpuEventRecord(event, b));
        OK(gpuStreamWaitEvent(a, event));
        OK(gpuStreamEndCapture(a, &graph));
        EXPECT_EQ(status_of(b), gpuStreamCaptureStatusNone);

        int ascending = 0;
        for (int i = 0; i < 20; ++i) {
            OK(gpuMemsetAsync(x, 0, sizeof *x, a));
            EXPECT_EQ(fake_gpu_control.launch_graph(graph, a), 0);
            OK(gpuStreamSynchronize(a));
            ascending += look(x, 1)[0] == 12;
        }

        if (joined_in_order)
            EXPECT_EQ(ascending, 20);
        else
            EXPECT_TRUE(0 < ascending && ascending < 20) << ascending;

        fake_gpu_control.destroy_graph(graph);
    }
}

TEST_F(FakeCapture, WorkThatDoesNotComeBackIsAnError) {
    OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeGlobal));
    OK(gpuEventRecord(event, a));
    OK(gpuStreamWaitEvent(b, event));

    add(x, 1, b);
    expect_spoiled(gpuErrorStreamCaptureUnjoined);
}

TEST_F(FakeCapture, UnsafeCallsSpoilACapture) {
    gpuStream_t *const c = &b;
    const std::function<gpuError_t()> unsafe[] = {
        [] {
            void *memory;
            return gpuMalloc(&memory, 1);
        },
        [this] { return gpuFree(x); },
        [this] { return gpuStreamSynchronize(a); },
        [c] { return gpuStreamSynchronize(*c); },
        [] { return gpuDeviceSynchronize(); },
        [this] { return gpuEventQuery(event); },
        [this] { return gpuEventSynchronize(event); },
        [] {
            void *memory;
            return gpuHostAlloc(&memory, 1, gpuHostAllocDefault);
        },
    };
    for (const std::function<gpuError_t()> &call : unsafe) {
        OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeGlobal));
        GIVES(gpuErrorStreamCaptureUnsupported, call());
        EXPECT_EQ(status_of(a), gpuStreamCaptureStatusInvalidated);

        GPU_LAUNCH_KERNEL((add_kernel), 1, 1, a, x, 1);
        GIVES(gpuErrorStreamCaptureInvalidated, gpuGetLastError());
        expect_spoiled();
    }
}

TEST_F(FakeCapture, AKernelThatIsLoadedDuringACaptureSpoilsIt) {
    gpuGraph_t graph = nullptr;

    for (gpuStream_t stream : {a, b}) {
        fake_gpu_control.unload_kernels();
        OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeGlobal));
        GIVES(gpuErrorStreamCaptureUnsupported,
              GPU_LAUNCH_KERNEL((add_kernel), 1, 1, stream, x, 1));
        expect_spoiled();

        OK(GPU_LAUNCH_KERNEL((add_kernel), 1, 1, stream, x, 1)); /* loads it */
        OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeGlobal));
        OK(GPU_LAUNCH_KERNEL((add_kernel), 1, 1, stream, x, 1));
        OK(gpuStreamEndCapture(a, &graph));
        OK(gpuGraphDestroy(graph));
    }
}

/* Rows: the mode of the capture; who calls; the caller's mode; whether Malloc may be called. */
TEST_F(FakeCapture, ModesSayWhoseCallsAreUnsafe) {
    const gpuStreamCaptureMode modes[] = {
        gpuStreamCaptureModeGlobal, gpuStreamCaptureModeThreadLocal, gpuStreamCaptureModeRelaxed};
    for (gpuStreamCaptureMode capture : modes)
        for (gpuStreamCaptureMode caller : modes)
            for (bool other : {false, true}) {
                const bool allowed = caller == gpuStreamCaptureModeRelaxed ||
                                     (other ? capture != gpuStreamCaptureModeGlobal ||
                                                  caller != gpuStreamCaptureModeGlobal
                                            : capture == gpuStreamCaptureModeRelaxed);
                gpuError_t got = gpuErrorUnknown;

                auto body = [&] {
                    gpuStreamCaptureMode mode = caller;
                    void *memory = nullptr;
                    OK(gpuThreadExchangeStreamCaptureMode(&mode));
                    got = gpuMalloc(&memory, 1);
                    if (got == gpuSuccess)
                        OK(gpuFree(memory));
                    OK(gpuThreadExchangeStreamCaptureMode(&mode));
                    EXPECT_EQ(mode, caller);
                };

                OK(gpuStreamBeginCapture(a, capture));
                if (other)
                    std::thread(body).join();
                else
                    body();

                GIVES(allowed ? gpuSuccess : gpuErrorStreamCaptureUnsupported, got);

                if (allowed) {
                    gpuGraph_t graph;
                    OK(gpuStreamEndCapture(a, &graph));
                    OK(gpuGraphDestroy(graph));
                } else {
                    expect_spoiled();
                }
            }
}

TEST_F(FakeCapture, RelaxedModeDoesNotMakeNonsenseOfACapturedStream) {
    OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeRelaxed));
    GIVES(gpuErrorStreamCaptureUnsupported, gpuStreamSynchronize(a));
    expect_spoiled();

    OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeRelaxed));
    OK(gpuEventRecord(event, a));
    GIVES(gpuErrorCapturedEvent, gpuEventQuery(event));
    expect_spoiled();

    GIVES(gpuErrorCapturedEvent, gpuEventSynchronize(event)); /* still */
    GIVES(gpuErrorCapturedEvent, gpuStreamWaitEvent(b, event));

    OK(gpuEventRecord(event, a));
    OK(gpuEventSynchronize(event));
}

TEST_F(FakeCapture, TheDefaultStreamSpoilsTheCaptureOfABlockingOne) {
    gpuStream_t blocking = make_stream(gpuStreamDefault);
    gpuGraph_t graph = nullptr;
    gpuStreamCaptureStatus status;
    GIVES(gpuErrorStreamCaptureUnsupported,
          gpuStreamBeginCapture(nullptr, gpuStreamCaptureModeRelaxed));

    OK(gpuStreamBeginCapture(blocking, gpuStreamCaptureModeRelaxed));
    /* Asking does no harm. */
    GIVES(gpuErrorStreamCaptureImplicit, gpuStreamIsCapturing(nullptr, &status));
    EXPECT_EQ(status_of(blocking), gpuStreamCaptureStatusActive);

    GIVES(gpuErrorStreamCaptureImplicit, gpuMemsetAsync(x, 0, 4, nullptr));
    EXPECT_EQ(status_of(blocking), gpuStreamCaptureStatusInvalidated);
    GIVES(gpuErrorStreamCaptureInvalidated, gpuStreamEndCapture(blocking, &graph));

    /* One that does not block: no harm. */
    OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeRelaxed));
    OK(gpuMemsetAsync(x, 0, 4, nullptr));
    OK(gpuStreamEndCapture(a, &graph));
    OK(gpuGraphDestroy(graph));
    OK(gpuStreamDestroy(blocking));
}

TEST_F(FakeCapture, EventsDoNotLeadInFromOutside) {
    add(x, 1, b);
    OK(gpuEventRecord(event, b));
    OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeRelaxed));
    GIVES(gpuErrorStreamCaptureIsolation, gpuStreamWaitEvent(a, event));
    expect_spoiled();

    OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeRelaxed));
    OK(gpuStreamBeginCapture(b, gpuStreamCaptureModeRelaxed));
    OK(gpuEventRecord(event, b));
    GIVES(gpuErrorStreamCaptureMerge, gpuStreamWaitEvent(a, event));
    gpuGraph_t graph;
    GIVES(gpuErrorStreamCaptureInvalidated, gpuStreamEndCapture(b, &graph));
    expect_spoiled();
}

TEST_F(FakeCapture, ACaptureEndsWhereItBegan) {
    gpuGraph_t graph = nullptr;
    OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeThreadLocal));
    std::thread([&] {
        GIVES(gpuErrorStreamCaptureWrongThread, gpuStreamEndCapture(a, &graph));
    }).join();

    OK(gpuEventRecord(event, a));
    OK(gpuStreamWaitEvent(b, event));
    GIVES(gpuErrorStreamCaptureUnmatched, gpuStreamEndCapture(b, &graph));
    expect_spoiled();
}

#if GPU_HAS_CAPTURE_OWNERSHIP

struct owned_t {
    std::atomic<int> released;
    std::thread::id thread;
    gpuError_t inside;
};
static void release(void *pointer) {
    owned_t *owned = (owned_t *)pointer;
    owned->thread = std::this_thread::get_id();
    ++owned->released;
}
static void release_calling(void *pointer) {
    int device;
    ((owned_t *)pointer)->inside = gpuGetDevice(&device);
}

TEST_F(FakeCapture, AUserObjectLivesAsLongAsGraphAndInstances) {
    owned_t owned{};
    gpuGraph_t graph = nullptr, during = nullptr;
    gpuGraphExec_t exec = nullptr;
    gpuUserObject_t object = nullptr;
    gpuStreamCaptureStatus status;

    OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeGlobal));
    OK(gpuStreamGetCaptureInfo(a, &status, nullptr, &during));
    OK(gpuUserObjectCreate(&object, &owned, release, 1, gpuUserObjectNoDestructorSync));
    OK(gpuGraphRetainUserObject(during, object, 1, gpuGraphUserObjectMove));

    add(x, 1, a);
    OK(gpuStreamEndCapture(a, &graph));

    OK(gpuGraphInstantiate(&exec, graph));
    OK(gpuGraphDestroy(graph));
    EXPECT_EQ(fake_gpu_control.live_objects(), 5u); /* a, b, event, exec, object */

    OK(gpuGraphLaunch(exec, a));
    OK(gpuGraphExecDestroy(exec)); /* what was launched still runs */
    EXPECT_EQ(fake_gpu_control.live_objects(), 4u);
    EXPECT_EQ(owned.released, 0);

    OK(gpuStreamSynchronize(a));
    EXPECT_EQ(fake_gpu_control.live_objects(), 3u);
    EXPECT_EQ(owned.released, 1);
    EXPECT_NE(owned.thread, std::this_thread::get_id());
    EXPECT_EQ(look(x, 1)[0], 1);
}

TEST_F(FakeCapture, ASpoiledCaptureLetsItsUserObjectsGo) {
    owned_t owned{};
    gpuGraph_t during = nullptr;
    gpuUserObject_t object = nullptr;
    gpuStreamCaptureStatus status;

    OK(gpuStreamBeginCapture(a, gpuStreamCaptureModeGlobal));
    OK(gpuStreamGetCaptureInfo(a, &status, nullptr, &during));
    OK(gpuUserObjectCreate(&object, &owned, release, 1, gpuUserObjectNoDestructorSync));
    OK(gpuGraphRetainUserObject(during, object)); /* a reference of its own beside ours */

    (void)gpuDeviceSynchronize();
    expect_spoiled();
    EXPECT_EQ(fake_gpu_control.live_objects(), 4u);
    EXPECT_EQ(owned.released, 0);

    OK(gpuUserObjectRelease(object));
    EXPECT_EQ(fake_gpu_control.live_objects(), 3u);
    EXPECT_EQ(owned.released, 1);

    OK(gpuUserObjectCreate(&object, &owned, release_calling, 1, gpuUserObjectNoDestructorSync));
    OK(gpuUserObjectRelease(object));
    EXPECT_EQ(fake_gpu_control.live_objects(), 3u);
    GIVES(gpuErrorNotPermitted, owned.inside);
    expect_fault("is called in a host function");
}

#endif
