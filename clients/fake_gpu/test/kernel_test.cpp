/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Kernels of the fake runtime: barriers, orders, and what a kernel must not do. */

#include "fake_test.h"

#include <algorithm>
#include <set>

static __global__ void identify_kernel(int *count, int *order, int *next) {
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned index = block * blockDim.x * blockDim.y * blockDim.z + thread;
    atomicAdd(&count[index], 1);
    order[atomicAdd(next, 1)] = (int)index;
}

TEST_F(Fake, EveryThreadOfEveryBlockRunsOnceInAnOrderOfItsOwn) {
    const size_t threads = 4 * 3 * 2 * 5 * 2 * 3;
    std::set<std::vector<int>> orders;
    for (int round = 0; round < 8; ++round) {
        int *memory = take<int>(2 * threads + 1);
        OK(gpuMemsetAsync(memory, 0, (2 * threads + 1) * sizeof(int), nullptr));
        GPU_LAUNCH_KERNEL((identify_kernel), dim3(5, 2, 3), dim3(4, 3, 2), nullptr, memory,
                          memory + threads, memory + 2 * threads);
        OK(gpuGetLastError());
        OK(gpuStreamSynchronize(nullptr));

        const std::vector<int> seen = look(memory, 2 * threads);
        EXPECT_TRUE(std::all_of(seen.begin(), seen.begin() + threads,
                                [](int count) { return count == 1; }));
        orders.insert(std::vector<int>(seen.begin() + threads, seen.end()));
        OK(gpuFree(memory));
    }
    EXPECT_GT(orders.size(), 6u);
}

template <typename T, unsigned tile>
static __global__ void __launch_bounds__(256)
    product_kernel(const T *a, const T *b, T *c, unsigned n) {
    __shared__ T a_tile[tile][tile + 1], b_tile[tile][tile];
    const unsigned i = blockIdx.y * tile + threadIdx.y, j = blockIdx.x * tile + threadIdx.x;
    T sum = 0;

    for (unsigned k = 0; k < n; k += tile) {
        a_tile[threadIdx.y][threadIdx.x] = a[i * n + k + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + j];
        __syncthreads();
        for (unsigned l = 0; l < tile; ++l)
            sum += a_tile[threadIdx.y][l] * b_tile[l][threadIdx.x];
        __syncthreads();
    }

    c[i * n + j] = sum;
}

TEST_F(Fake, TiledProductIsRight) {
    const unsigned n = 64;
    std::vector<float> a(n * n), b(n * n);
    for (unsigned i = 0; i < n * n; ++i) {
        a[i] = (float)(i % 7);
        b[i] = (float)(i % 5);
    }

    float *memory = take<float>(3 * n * n);
    OK(gpuMemcpyAsync(memory, a.data(), n * n * sizeof(float), gpuMemcpyDefault, nullptr));
    OK(gpuMemcpyAsync(memory + n * n, b.data(), n * n * sizeof(float), gpuMemcpyDefault, nullptr));

    for (int round = 0; round < 5; ++round)
        GPU_LAUNCH_KERNEL((product_kernel<float, 16>), dim3(n / 16, n / 16), dim3(16, 16), nullptr,
                          memory, memory + n * n, memory + 2 * n * n, n);
    OK(gpuStreamSynchronize(nullptr));

    const std::vector<float> c = look(memory + 2 * n * n, n * n);
    for (unsigned i = 0; i < n; ++i)
        for (unsigned j = 0; j < n; ++j) {
            float sum = 0;
            for (unsigned k = 0; k < n; ++k)
                sum += a[i * n + k] * b[k * n + j];
            ASSERT_EQ(c[i * n + j], sum) << i << " " << j;
        }

    OK(gpuFree(memory));
}

/* A sum by halves; without its barrier it is a race, which orders of threads must show. */
template <bool with_barrier> static __global__ void sum_kernel(const int *x, int *result) {
    __shared__ int part[64];
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();

    for (unsigned half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        if (with_barrier)
            __syncthreads();
    }

    if (threadIdx.x == 0)
        *result = part[0];
}

TEST_F(Fake, AMissingBarrierShows) {
    std::vector<int> ones(64, 1);
    int *memory = take<int>(65), right = 0, wrong = 0;

    OK(gpuMemcpyAsync(memory, ones.data(), 64 * sizeof(int), gpuMemcpyDefault, nullptr));
    for (int round = 0; round < 20; ++round) {
        GPU_LAUNCH_KERNEL((sum_kernel<true>), 1, 64, nullptr, memory, memory + 64);
        OK(gpuStreamSynchronize(nullptr));

        right += look(memory + 64, 1)[0] == 64;
        GPU_LAUNCH_KERNEL((sum_kernel<false>), 1, 64, nullptr, memory, memory + 64);
        OK(gpuStreamSynchronize(nullptr));
        wrong += look(memory + 64, 1)[0] != 64;
    }

    EXPECT_EQ(right, 20);
    EXPECT_GT(wrong, 10);
    OK(gpuFree(memory));
}

static __global__ void returns_early_kernel(unsigned count, int *x) {
    if (threadIdx.x >= count)
        return;
    __syncthreads();
    x[threadIdx.x] = 1;
}
static __global__ void two_lines_kernel(unsigned count, int *x) {
    if (threadIdx.x >= count)
        __syncthreads();
    else
        __syncthreads();
    x[threadIdx.x] = 1;
}
static __global__ void once_more_kernel(unsigned count, int *x) {
    for (unsigned i = 0; i < 3 + (threadIdx.x < count); ++i)
        __syncthreads();
    x[threadIdx.x] = 1;
}

TEST_F(Fake, DivergentBarriersAreFaults) {
    int *x = take<int>(64);
    for (unsigned count : {64u, 63u, 1u}) {
        GPU_LAUNCH_KERNEL((returns_early_kernel), 2, 64, nullptr, count, x);
        GIVES(count < 64 ? gpuErrorLaunchFailure : gpuSuccess, gpuStreamSynchronize(nullptr));
        /* It stays. */
        GIVES(count < 64 ? gpuErrorLaunchFailure : gpuSuccess, gpuMemsetAsync(x, 0, 4, nullptr));
        if (count < 64)
            expect_fault("divergent barrier");

        GPU_LAUNCH_KERNEL((two_lines_kernel), 2, 64, nullptr, count, x);
        (void)gpuStreamSynchronize(nullptr);
        if (count < 64)
            expect_fault("divergent barrier");

        GPU_LAUNCH_KERNEL((once_more_kernel), 2, 64, nullptr, count, x);
        (void)gpuStreamSynchronize(nullptr);
        if (count < 64)
            expect_fault("divergent barrier");
    }

    GPU_LAUNCH_KERNEL((returns_early_kernel), 2, 64, nullptr, 64u, x); /* all is well after it */
    OK(gpuStreamSynchronize(nullptr));
    EXPECT_EQ(look(x, 64), std::vector<int>(64, 1));
    OK(gpuFree(x));
}

static __global__ void nothing_kernel() {}

TEST_F(Fake, ImpossibleLaunchesAreRefused) {
    const dim3 refused[][2] = {
        {{0, 1, 1}, {1, 1, 1}},     {{1, 0, 1}, {1, 1, 1}},     {{1, 1, 1}, {0, 1, 1}},
        {{1, 65536, 1}, {1, 1, 1}}, {{1, 1, 65536}, {1, 1, 1}}, {{1, 1, 1}, {1025, 1, 1}},
        {{1, 1, 1}, {33, 32, 1}},   {{1, 1, 1}, {1, 1, 65}},    {{2147483648u, 1, 1}, {1, 1, 1}}};

    for (const dim3 *shape : refused) {
        GPU_LAUNCH_KERNEL((nothing_kernel), shape[0], shape[1], nullptr);
        GIVES(gpuErrorInvalidConfiguration, gpuPeekAtLastError());
        GIVES(gpuErrorInvalidConfiguration, gpuGetLastError());
        OK(gpuGetLastError());
    }

    GPU_LAUNCH_KERNEL((nothing_kernel), dim3(1, 7, 9), dim3(4, 4, 64), nullptr);
    OK(gpuGetLastError());

    OK(gpuSetDevice(1));
    gpuStream_t stream = make_stream();
    OK(gpuSetDevice(0));
    GPU_LAUNCH_KERNEL((nothing_kernel), 1, 1, stream); /* another device is current */
    GIVES(gpuErrorInvalidResourceHandle, gpuGetLastError());
    OK(gpuStreamDestroy(stream));
}

#if defined(FAKE_GPU_HIP)
TEST_F(Fake, HipCountsThreadsOfAGridIn32Bits) {
    GPU_LAUNCH_KERNEL((nothing_kernel), 1u << 24, 256, nullptr);
    GIVES(gpuErrorInvalidConfiguration, gpuGetLastError());
}
#endif

static __device__ const int table[3] = {5, 6, 7};
static __global__ void table_kernel(int *x) { *x = table[1]; }

TEST_F(Fake, ConstantsOfTheModuleHaveAnAddressOnEachDevice) {
    void *address[3] = {nullptr, nullptr, nullptr};
    int *x = take<int>(1);

    for (int i = 0; i < 3; ++i) {
        OK(gpuSetDevice(i / 2));
        OK(gpuGetSymbolAddress(&address[i], table));
        EXPECT_EQ(look((const int *)address[i], 3), (std::vector<int>{5, 6, 7}));
    }
    EXPECT_EQ(address[0], address[1]);
    EXPECT_NE(address[1], address[2]);

    OK(gpuSetDevice(0));
    GPU_LAUNCH_KERNEL((table_kernel), 1, 1, nullptr, x);
    OK(gpuStreamSynchronize(nullptr));
    EXPECT_EQ(look(x, 1)[0], 6);
    OK(gpuFree(x));
}

static __global__ void write_kernel(char *x, long first, long step, char value) {
    x[first + step * (long)(blockIdx.x * blockDim.x + threadIdx.x)] = value;
}
static gpuError_t write_at(char *x, long first, long count = 1, char value = 1) {
    GPU_LAUNCH_KERNEL((write_kernel), (unsigned)count, 1, nullptr, x, first, 1L, value);
    return gpuStreamSynchronize(nullptr);
}

TEST_F(Fake, WritesOutsideOfMemoryAreFaults) {
    char *x = take<char>(10000), *y = take<char>(10000);
    OK(write_at(x, 0, 10000));

    /* The first past what 256 bytes leave. */
    GIVES(gpuErrorIllegalAddress, write_at(x, 10000 / 256 * 256 + 256));
    expect_fault("touched");
    GIVES(gpuErrorIllegalAddress, write_at(x, 60000));
    expect_fault("touched");
    GIVES(gpuErrorIllegalAddress, write_at(x, -8192));
    expect_fault("touched");

    OK(gpuFree(x));
    GIVES(gpuErrorIllegalAddress, write_at(x, 5));
    expect_fault("not any more");

    OK(write_at(y, 10000)); /* in what the rounding leaves: seen when it is freed */
    GIVES(gpuErrorIllegalAddress, gpuFree(y));
    expect_fault("byte 10000");

    y = take<char>(10000);
    OK(write_at(y, -1));
    GIVES(gpuErrorIllegalAddress, gpuFree(y));
    expect_fault("before");
}

TEST_F(Fake, AnotherDevicesMemoryIsAFault) {
    OK(gpuSetDevice(1));
    char *x = take<char>(100);
    OK(write_at(x, 5));
    OK(gpuSetDevice(0));

    GIVES(gpuErrorIllegalAddress, write_at(x, 5));
    expect_fault("device 1's");
    OK(gpuFree(x));
}

TEST_F(Fake, TheHostsPointersAreFaults) {
    char on_stack = 0;

    GPU_LAUNCH_KERNEL((write_kernel), 1, 1, nullptr, &on_stack, 0L, 1L, (char)1);
    GIVES(gpuErrorIllegalAddress, gpuGetLastError());
    expect_fault("points to the host's memory");
    EXPECT_EQ(on_stack, 0);

    for (bool managed : {false, true}) { /* which both sides reach */
        void *memory = nullptr;
        OK(managed ? gpuMallocManaged(&memory, 8) : gpuHostAlloc(&memory, 8, gpuHostAllocDefault));
        OK(write_at((char *)memory, 3, 1, 77));
        EXPECT_EQ(((char *)memory)[3], 77);
        OK(managed ? gpuFree(memory) : gpuFreeHost(memory));
    }
}

int main(int argc, char **argv) {
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
