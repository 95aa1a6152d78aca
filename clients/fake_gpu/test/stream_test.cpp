/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Memory, streams and events of the fake runtime: order that a program forgot to ask for is not
 * there. */

#include "fake_test.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

static __global__ void set_kernel(int *x, int value) { *x = value; }
static __global__ void copy_kernel(int *to, const int *from) { *to = *from; }
static void set(int *x, int value, gpuStream_t stream) {
    (void)gpuGetLastError();
    GPU_LAUNCH_KERNEL((set_kernel), 1, 1, stream, x, value);
    OK(gpuGetLastError());
}

/* ---- Memory ---- */

TEST_F(Fake, FreshMemoryIsNoNumber) {
    float *x = take<float>(1000);
    for (float value : look(x, 1000))
        EXPECT_TRUE(std::isnan(value));
    OK(gpuFree(x));
}

/* Whether the process can read there. */
static bool is_readable(const int *address) {
    const pid_t child = fork();
    if (child == 0) {
        close(2); /* a sanitizer would write about it */
        (void)*(const volatile int *)address;
        _exit(0);
    }

    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(Fake, TheHostCannotTouchADevicesMemory) {
    int *x = take<int>(1);

    set(x, 5, nullptr);
    OK(gpuStreamSynchronize(nullptr));
    EXPECT_FALSE(is_readable(x));
    EXPECT_EQ(look(x, 1)[0], 5);
    OK(gpuFree(x));
}

TEST_F(Fake, PinnedAndManagedMemoryIsTheHostsUntilItIsFreed) {
    for (bool managed : {false, true}) {
        void *memory = nullptr;
        OK(managed ? gpuMallocManaged(&memory, 4) : gpuHostAlloc(&memory, 4, gpuHostAllocDefault));
        EXPECT_TRUE(is_readable((int *)memory));
        GIVES(gpuErrorInvalidValue, managed ? gpuFreeHost(memory) : gpuFree(memory));
        OK(managed ? gpuFree(memory) : gpuFreeHost(memory));
        EXPECT_FALSE(is_readable((int *)memory));
    }
}

TEST_F(Fake, MemoryIsCountedAndEnds) {
    fake_gpu_control.set_total_bytes(1 << 20);
    void *x = nullptr, *y = &x;
    size_t free_bytes = 0, total_bytes = 0;

    OK(gpuMalloc(&x, 1 << 19));
    OK(gpuMemGetInfo(&free_bytes, &total_bytes));
    EXPECT_EQ(total_bytes, 1u << 20);
    EXPECT_EQ(free_bytes, 1u << 19);

    GIVES(gpuErrorOutOfMemory, gpuMalloc(&y, (1 << 19) + 1));
    EXPECT_EQ(y, &x);
    GIVES(gpuErrorOutOfMemory, gpuMalloc(&y, SIZE_MAX));
    GIVES(gpuErrorOutOfMemory, gpuGetLastError()); /* which stays until it is asked for */
    OK(gpuGetLastError());

    EXPECT_EQ(fake_gpu_control.live_bytes(), 1u << 19);
    OK(gpuFree(x));
    GIVES(gpuErrorInvalidValue, gpuFree(x));
    GIVES(gpuErrorInvalidValue, gpuFree(&x));
    OK(gpuFree(nullptr));

    fake_gpu_control.set_total_bytes((size_t)2 << 30);
}

static size_t mappings() {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    size_t count = 0;
    while (std::getline(maps, line))
        ++count;
    return count;
}

/* The system lets a process have some 65,000 mappings; what was freed must not hold any. */
TEST_F(Fake, FreedMemoryUsesUpNoMappings) {
    const size_t before = mappings();
    for (int i = 0; i < 1000; ++i)
        OK(gpuFree(take<char>(100)));
    EXPECT_LT(mappings(), before + 20);
}

TEST_F(Fake, MemoryInStreamOrderComesAndGoesWithItsStream) {
    gpuStream_t a = make_stream(), b = make_stream();
    void *memory = nullptr;

    OK(gpuMallocAsync(&memory, 4, a));
    set((int *)memory, 3, b); /* nothing orders b after a */
    GIVES(gpuErrorIllegalAddress, gpuStreamSynchronize(b));
    expect_fault("whose stream has not come to its allocation");

    set((int *)memory, 3, a);
    OK(gpuStreamSynchronize(a));
    EXPECT_EQ(look((int *)memory, 1)[0], 3);

    OK(gpuFreeAsync(memory, a));
    GIVES(gpuErrorInvalidValue, gpuFreeAsync(memory, a));
    GIVES(gpuErrorInvalidValue, gpuFree(memory));

    EXPECT_EQ(fake_gpu_control.live_bytes(), 0u);
    set((int *)memory, 4, b); /* wrong, but nothing has happened yet in a */
    OK(gpuStreamSynchronize(b));
    OK(gpuStreamSynchronize(a));

    set((int *)memory, 4, b);
    GIVES(gpuErrorIllegalAddress, gpuStreamSynchronize(b));
    expect_fault("not any more");

    OK(gpuStreamDestroy(a));
    OK(gpuStreamDestroy(b));
}

TEST_F(Fake, MemoryFreedInAStreamServesTheSameStream) {
    fake_gpu_control.set_total_bytes(1 << 20);
    gpuStream_t a = make_stream(), b = make_stream();
    void *x = nullptr, *y = nullptr;

    OK(gpuMallocAsync(&x, 1 << 20, a));
    OK(gpuFreeAsync(x, a));

    GIVES(gpuErrorOutOfMemory, gpuMallocAsync(&y, 1 << 20, b));
    OK(gpuMallocAsync(&y, 1 << 20, a));
    OK(gpuFree(y)); /* the ordinary way waits */

    OK(gpuStreamDestroy(a));
    OK(gpuStreamDestroy(b));
    fake_gpu_control.set_total_bytes((size_t)2 << 30);
}

/* ---- Streams ---- */

TEST_F(Fake, OrderThatNobodyAskedForIsNotThere) {
    for (bool with_event : {false, true}) {
        gpuStream_t a = make_stream(), b = make_stream();
        gpuEvent_t event = make_event();
        int *x = take<int>(2);

        OK(gpuMemsetAsync(x, 0, 8, a));
        OK(gpuStreamSynchronize(a));

        set(x, 7, a);
        OK(gpuEventRecord(event, a));
        set(x, 8, a); /* after the record: not waited for */

        if (with_event)
            OK(gpuStreamWaitEvent(b, event));
        GPU_LAUNCH_KERNEL((copy_kernel), 1, 1, b, x + 1, x);
        OK(gpuStreamSynchronize(b));
        EXPECT_EQ(look(x, 2), (with_event ? std::vector<int>{7, 7} : std::vector<int>{0, 0}));

        OK(gpuStreamSynchronize(a));
        EXPECT_EQ(look(x, 1)[0], 8);

        OK(gpuFree(x));
        OK(gpuEventDestroy(event));
        OK(gpuStreamDestroy(a));
        OK(gpuStreamDestroy(b));
    }
}

TEST_F(Fake, AWaitIsForTheLatestRecordOnly) {
    gpuStream_t a = make_stream(), b = make_stream();
    gpuEvent_t event = make_event();
    int *x = take<int>(1);

    set(x, 1, a);
    OK(gpuEventRecord(event, a));
    OK(gpuStreamWaitEvent(b, event));
    set(x, 2, a);
    OK(gpuEventRecord(event, a)); /* changes nothing for b */
    OK(gpuEventDestroy(event));   /* nor does this */

    OK(gpuStreamSynchronize(b));
    EXPECT_EQ(look(x, 1)[0], 1);

    OK(gpuFree(x));
    OK(gpuStreamDestroy(a));
    OK(gpuStreamDestroy(b));
}

TEST_F(Fake, TheDefaultStreamIsOrderedWithBlockingStreamsAlone) {
    for (unsigned flags : {gpuStreamDefault, gpuStreamNonBlocking}) {
        const bool ordered = flags == gpuStreamDefault;
        gpuStream_t a = make_stream(flags);
        int *x = take<int>(1);

        OK(gpuMemset(x, 0, 4));
        OK(gpuDeviceSynchronize());

        set(x, 1, a);
        OK(gpuStreamSynchronize(nullptr));
        EXPECT_EQ(look(x, 1)[0], ordered ? 1 : 0);
        OK(gpuStreamSynchronize(a));

        set(x, 2, nullptr);
        OK(gpuStreamSynchronize(a));
        OK(gpuStreamSynchronize(a));
        EXPECT_EQ(look(x, 1)[0], ordered ? 2 : 1);

        OK(gpuFree(x));
        OK(gpuStreamDestroy(a));
    }
}

TEST_F(Fake, PageableSourcesAreReadAtTheCallAndPinnedOnesLater) {
    gpuStream_t a = make_stream();
    int *x = take<int>(2), pageable = 1;
    void *memory = nullptr;
    OK(gpuHostAlloc(&memory, 8, gpuHostAllocDefault));

    int *pinned = (int *)memory;
    pinned[0] = 1;

    OK(gpuMemcpyAsync(x, &pageable, 4, gpuMemcpyHostToDevice, a));
    OK(gpuMemcpyAsync(x + 1, &pinned[0], 4, gpuMemcpyDefault, a));
    pageable = pinned[0] = 2;

    OK(gpuMemcpyAsync(&pinned[1], x + 1, 4, gpuMemcpyDeviceToHost, a));
    EXPECT_NE(pinned[1], 2); /* not before somebody waits */

    fake_gpu_control.reset_counts();
    int got[3] = {0, 0, 0};
    OK(gpuMemcpyAsync(got, x, 8, gpuMemcpyDefault, a)); /* waits, being pageable */

    EXPECT_EQ(got[0], 1);
    EXPECT_EQ(got[1], 2);
    EXPECT_EQ(pinned[1], 2);
    EXPECT_EQ(fake_gpu_control.count_waits(), 1u);

    GIVES(gpuErrorInvalidValue, gpuMemcpyAsync(x, got, 8, gpuMemcpyDeviceToHost, a));
    GIVES(gpuErrorInvalidValue, gpuMemsetAsync(got, 0, 8, a));

    OK(gpuMemcpyAsync(x, got, 12, gpuMemcpyDefault, a)); /* too long: seen when it runs */
    GIVES(gpuErrorIllegalAddress, gpuStreamSynchronize(a));
    expect_fault("copy to");

    OK(gpuFreeHost(memory));
    OK(gpuFree(x));
    OK(gpuStreamDestroy(a));
}

struct trace_t {
    std::atomic<int> calls, order;
    std::atomic<bool> hold;
    gpuError_t inside;
    std::thread::id thread;
};
static void trace_function(void *data) {
    trace_t *trace = (trace_t *)data;
    while (trace->hold)
        std::this_thread::yield();
    trace->order = trace->order * 10 + ++trace->calls;
    trace->thread = std::this_thread::get_id();
}
static void calling_function(void *data) {
    int device;
    ((trace_t *)data)->inside = gpuGetDevice(&device);
}

TEST_F(Fake, HostFunctionsRunInOrderElsewhereAndMustNotCall) {
    trace_t trace{};
    gpuStream_t a = make_stream();

    for (int i = 0; i < 3; ++i)
        OK(gpuLaunchHostFunc(a, trace_function, &trace));
    EXPECT_EQ(trace.calls, 0);

    OK(gpuStreamSynchronize(a));
    EXPECT_EQ(trace.order, 123);
    EXPECT_NE(trace.thread, std::this_thread::get_id());

    OK(gpuLaunchHostFunc(a, calling_function, &trace));
    GIVES(gpuErrorNotPermitted, gpuStreamSynchronize(a));
    GIVES(gpuErrorNotPermitted, trace.inside);
    expect_fault("is called in a host function");
    OK(gpuStreamDestroy(a));
}

TEST_F(Fake, WhileAHostFunctionRunsTheRestGoesOn) {
    trace_t trace{};
    trace.hold = true;
    gpuStream_t a = make_stream(), b = make_stream();
    gpuEvent_t event = make_event();
    int *x = take<int>(1);

    OK(gpuLaunchHostFunc(a, trace_function, &trace));
    OK(gpuEventRecord(event, a));
    for (int i = 0; i < 10; ++i)
        GIVES(gpuErrorNotReady, gpuEventQuery(event));
    GIVES(gpuErrorNotReady, gpuStreamQuery(a));

    set(x, 1, b);
    OK(gpuStreamSynchronize(b));

    std::thread other([&] { OK(gpuEventSynchronize(event)); });
    set(x, 2, b);
    OK(gpuStreamSynchronize(b));

    trace.hold = false;
    other.join();
    OK(gpuEventQuery(event));
    OK(gpuStreamQuery(a));

    EXPECT_EQ(look(x, 1)[0], 2);
    OK(gpuFree(x));
    OK(gpuEventDestroy(event));
    OK(gpuStreamDestroy(a));
    OK(gpuStreamDestroy(b));
}

TEST_F(Fake, WorkThatNobodyWaitsForStartsAfterAWhile) {
    trace_t trace{};
    gpuStream_t a = make_stream();
    OK(gpuLaunchHostFunc(a, trace_function, &trace));

    fake_gpu_control.set_laziness_ms(5);
    for (int i = 0; i < 1000 && trace.calls == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));

    EXPECT_EQ(trace.calls, 1);
    fake_gpu_control.set_laziness_ms(1000000);
    OK(gpuStreamDestroy(a));
}

TEST_F(Fake, ADestroyedStreamsWorkStillRuns) {
    gpuStream_t a = make_stream();
    int *x = take<int>(1);

    set(x, 9, a);
    OK(gpuStreamDestroy(a));
    GIVES(gpuErrorInvalidResourceHandle, gpuStreamDestroy(a));
    GIVES(gpuErrorInvalidResourceHandle, gpuStreamSynchronize(a));

    OK(gpuDeviceSynchronize());
    EXPECT_EQ(look(x, 1)[0], 9);
    OK(gpuFree(x));
}

TEST_F(Fake, EventsTellTimeAndWhetherTheyAreReached) {
    gpuStream_t a = make_stream();
    gpuEvent_t start = make_event(), stop = make_event(), untimed = nullptr;
    float milliseconds = -1;
    OK(gpuEventCreateWithFlags(&untimed, gpuEventDisableTiming));

    OK(gpuEventQuery(start)); /* never recorded: reached */
    GIVES(gpuErrorInvalidResourceHandle, gpuEventElapsedTime(&milliseconds, start, stop));

    for (gpuEvent_t event : {start, stop, untimed})
        OK(gpuEventRecord(event, a));

    GIVES(gpuErrorNotReady, gpuEventElapsedTime(&milliseconds, start, stop));
    OK(gpuEventSynchronize(stop));
    OK(gpuEventElapsedTime(&milliseconds, start, stop));
    EXPECT_GE(milliseconds, 0);

    GIVES(gpuErrorNotReady, gpuEventQuery(untimed)); /* the stream went as far as it had to */
    GIVES(gpuErrorNotReady, gpuEventQuery(untimed));
    OK(gpuEventQuery(untimed)); /* asked often enough */
    GIVES(gpuErrorInvalidResourceHandle, gpuEventElapsedTime(&milliseconds, start, untimed));

    OK(gpuSetDevice(1));
    GIVES(gpuErrorInvalidResourceHandle, gpuEventRecord(start, nullptr)); /* another device's */
    OK(gpuSetDevice(0));

    for (gpuEvent_t event : {start, stop, untimed})
        OK(gpuEventDestroy(event));
    GIVES(gpuErrorInvalidResourceHandle, gpuEventRecord(start, a));
    OK(gpuStreamDestroy(a));
}

TEST_F(Fake, SeveralThreadsUseOneDevice) {
    int *x = take<int>(4);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([=] {
            gpuStream_t stream = make_stream();
            for (int i = 0; i < 50; ++i) {
                set(x + t, i, stream);
                int got = -1;
                OK(gpuMemcpyAsync(&got, x + t, sizeof got, gpuMemcpyDefault, stream));
                EXPECT_EQ(got, i);
            }
            OK(gpuStreamDestroy(stream));
        });
    for (std::thread &thread : threads)
        thread.join();
    OK(gpuFree(x));
}

/* ---- What tests tell the runtime ---- */

TEST_F(Fake, TheNthCallFailsOnceAndDoesNothing) {
    fake_gpu_control.reset_counts();
    fake_gpu_control.fail_after(2, FAKE_GPU_OUT_OF_MEMORY);
    int *x = take<int>(1);
    EXPECT_FALSE(fake_gpu_control.has_failed());

    GIVES(gpuErrorOutOfMemory, gpuFree(x));
    EXPECT_TRUE(fake_gpu_control.has_failed());
    OK(gpuFree(x));
    GIVES(gpuErrorOutOfMemory, gpuGetLastError());

    EXPECT_EQ(fake_gpu_control.count("Malloc"), 1u);
    EXPECT_EQ(fake_gpu_control.count("Free"), 2u);
    EXPECT_EQ(fake_gpu_control.count_allocations(), 1u);
    EXPECT_EQ(fake_gpu_control.count_frees(), 2u);
    EXPECT_EQ(fake_gpu_control.count_waits(), 2u);

    fake_gpu_control.fail_after(1, FAKE_GPU_UNKNOWN_ERROR);
    GPU_LAUNCH_KERNEL((set_kernel), 1, 1, nullptr, (int *)nullptr, 0);
    GIVES(gpuErrorUnknown, gpuGetLastError());
    EXPECT_EQ(fake_gpu_control.last_error(), 0);
}

TEST_F(Fake, WithoutDevicesThereAreNone) {
    int count = -1, device = -1;

    fake_gpu_control.set_device_count(0);
    GIVES(gpuErrorNoDevice, gpuGetDeviceCount(&count));
    GIVES(gpuErrorNoDevice, gpuGetDevice(&device));
    void *x = nullptr;
    GIVES(gpuErrorNoDevice, gpuMalloc(&x, 1));

    fake_gpu_control.set_device_count(3);
    OK(gpuGetDeviceCount(&count));
    EXPECT_EQ(count, 3);
    GIVES(gpuErrorInvalidDevice, gpuSetDevice(3));
    fake_gpu_control.set_device_count(2);
}
