/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_GPU_TEST_H
#define JALLOC_CLIENTS_FAKE_GPU_TEST_H

/* Tests of the fake runtime itself: what it is for, which is to turn red. They use it as
 * library/gpu does. Nothing starts by itself here, and every test leaves no fault that it did not
 * ask for, no memory and no objects. */

#include <vector>

#include <gtest/gtest.h>

#include "fake_gpu.h"
#include "fake_gpu_control.h"

#define OK(call) GIVES(gpuSuccess, call)
#define GIVES(error, call) expect_error(__FILE__, __LINE__, #call, (error), (call))

static inline void expect_error(const char *file, int line, const char *text, gpuError_t expected,
                                gpuError_t got) {
    if (got != expected)
        ADD_FAILURE_AT(file, line)
            << text << " gives " << gpuGetErrorName(got) << ", not " << gpuGetErrorName(expected);
}

class Fake : public testing::Test {
  protected:
    void SetUp() override {
        fake_gpu_control.set_laziness_ms(1000000);
        fake_gpu_control.set_seed(testing::UnitTest::GetInstance()->random_seed() + 1);
        (void)gpuGetLastError();
    }
    void TearDown() override {
        EXPECT_EQ(fake_gpu_control.faults(), 0u) << fake_gpu_control.last_fault();
        fake_gpu_control.clear_faults();
        fake_gpu_control.fail_after(0, FAKE_GPU_UNKNOWN_ERROR);
        OK(gpuSetDevice(1));
        OK(gpuDeviceSynchronize());
        OK(gpuSetDevice(0));
        OK(gpuDeviceSynchronize());
        EXPECT_EQ(fake_gpu_control.live_bytes(), 0u);
        EXPECT_EQ(fake_gpu_control.live_objects(), 0u);
    }
};

/* There was one fault at least, with these words in it. Then all is well again. */
static inline void expect_fault(const char *words) {
    EXPECT_GT(fake_gpu_control.faults(), 0u);
    EXPECT_NE(strstr(fake_gpu_control.last_fault(), words), nullptr)
        << fake_gpu_control.last_fault();
    fake_gpu_control.clear_faults();
}

template <typename T> static inline T *take(size_t count) {
    void *pointer = nullptr;
    OK(gpuMalloc(&pointer, count * sizeof(T)));
    return (T *)pointer;
}
static inline gpuStream_t make_stream(unsigned flags = gpuStreamNonBlocking) {
    gpuStream_t stream = nullptr;
    OK(gpuStreamCreateWithFlags(&stream, flags));
    return stream;
}
static inline gpuEvent_t make_event() {
    gpuEvent_t event = nullptr;
    OK(gpuEventCreateWithFlags(&event, gpuEventDefault));
    return event;
}
/* Reads without waiting for any other stream. */
template <typename T> static inline std::vector<T> look(const T *pointer, size_t count) {
    std::vector<T> values(count);
    gpuStream_t stream = make_stream();
    OK(gpuMemcpyAsync(values.data(), pointer, count * sizeof(T), gpuMemcpyDefault, stream));
    OK(gpuStreamDestroy(stream));
    return values;
}

#endif
