/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_GPU_KERNEL_H
#define JALLOC_CLIENTS_FAKE_GPU_KERNEL_H

/* The language of kernels, as plain C++. One thread of a block runs at a time and one kernel in the process, so what is
 * shared is static, what tells a thread who it is are globals that the executor sets, and atomics are ordinary. A
 * barrier is a call that comes back when all other threads of the block have come to it. */

#include <math.h>
#include <string.h>

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* ---- Launch ---- */

/* A kernel with its arguments; one call for each thread. */
struct fake_gpu_kernel_t {
    virtual ~fake_gpu_kernel_t() = default;
    virtual void run_thread() const = 0;
};

template <typename... P> struct fake_gpu_bound_kernel_t final : fake_gpu_kernel_t {
    void (*kernel)(P...);
    std::tuple<P...> arguments;
    template <typename... A>
    explicit fake_gpu_bound_kernel_t(void (*kernel_)(P...), A &&...a) : kernel(kernel_), arguments(P(a)...) {}
    void run_thread() const override { std::apply(kernel, arguments); }
};

#pragma GCC visibility push(hidden)

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

void fake_gpu_launch_kernel(const char *name, std::shared_ptr<const fake_gpu_kernel_t> kernel, dim3 grid, dim3 block,
                            gpuStream_t stream, const void *const *pointers, size_t pointer_count);
void fake_gpu_barrier(const char *file, int line);

#pragma GCC visibility pop

template <typename T> static inline const void *fake_gpu_pointer_of(const T &argument) {
    if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>)
        return (const void *)argument;
    else
        return nullptr;
}

template <typename... P, typename... A>
static inline void fake_gpu_launch(const char *name, void (*kernel)(P...), dim3 grid, dim3 block, gpuStream_t stream,
                                   A &&...arguments) {
    static_assert(sizeof...(P) == sizeof...(A), "a kernel is given all its arguments");
    static_assert((std::is_trivially_copyable_v<P> && ...), "arguments are copied as bytes");
    static_assert((sizeof(P) + ... + 0) <= 4096, "a kernel takes at most 4 KB of arguments");
    auto bound = std::make_shared<fake_gpu_bound_kernel_t<P...>>(kernel, std::forward<A>(arguments)...);
    std::apply(
        [&](const auto &...a) {
            const void *pointers[] = {nullptr, fake_gpu_pointer_of(a)...};
            fake_gpu_launch_kernel(name, bound, grid, block, stream, pointers, sizeof pointers / sizeof pointers[0]);
        },
        bound->arguments);
}

#define GPU_UNWRAP_(...) __VA_ARGS__
#define GPU_LAUNCH(kernel, grid, block, stream, ...)                                                                   \
    fake_gpu_launch(#kernel, GPU_UNWRAP_ kernel, dim3(grid), dim3(block), (stream), ##__VA_ARGS__)

/* ---- Within a kernel ---- */

#define __syncthreads() fake_gpu_barrier(__FILE__, __LINE__)
static inline void __threadfence(void) {}
static inline void __threadfence_block(void) {}

template <typename T> static inline T atomicAdd(T *address, T value) {
    T old = *address;
    *address = old + value;
    return old;
}
template <typename T> static inline T atomicMax(T *address, T value) {
    T old = *address;
    if (old < value)
        *address = value;
    return old;
}
template <typename T> static inline T atomicMin(T *address, T value) {
    T old = *address;
    if (value < old)
        *address = value;
    return old;
}
template <typename T> static inline T atomicExch(T *address, T value) {
    T old = *address;
    *address = value;
    return old;
}
template <typename T> static inline T atomicOr(T *address, T value) {
    T old = *address;
    *address = old | value;
    return old;
}
template <typename T> static inline T atomicCAS(T *address, T expected, T value) {
    T old = *address;
    if (old == expected)
        *address = value;
    return old;
}

static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
template <typename T> static inline T __ldg(const T *address) { return *address; }
static inline unsigned __float_as_uint(float x) {
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float __uint_as_float(unsigned bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- Vectors, as aligned as the vendors' ---- */

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
static inline float2 make_float2(float x, float y) { return float2{x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }
static inline double2 make_double2(double x, double y) { return double2{x, y}; }

/* ---- Half and bfloat16: rounded to nearest, ties to even ---- */

struct gpu_half_t {
    uint16_t bits;
};
struct gpu_bfloat16_t {
    uint16_t bits;
};

static inline float gpu_bfloat16_to_float(gpu_bfloat16_t x) { return __uint_as_float((unsigned)x.bits << 16); }
static inline gpu_bfloat16_t gpu_float_to_bfloat16(float x) {
    unsigned bits = __float_as_uint(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        return gpu_bfloat16_t{(uint16_t)(bits >> 16 | 0x40)};
    return gpu_bfloat16_t{(uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16)};
}
static inline float gpu_half_to_float(gpu_half_t x) {
    unsigned sign = (unsigned)(x.bits & 0x8000) << 16, exponent = x.bits >> 10 & 31, fraction = x.bits & 1023;
    if (exponent == 31)
        return __uint_as_float(sign | 0x7F800000u | fraction << 13);
    if (exponent != 0)
        return __uint_as_float(sign | (exponent + 112) << 23 | fraction << 13);
    float magnitude = (float)fraction * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
}
static inline gpu_half_t gpu_float_to_half(float x) {
    unsigned bits = __float_as_uint(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
        return gpu_half_t{(uint16_t)(sign | 0x7E00)};
    if (magnitude >= 0x477FF000u) /* 65520 and more round to infinity */
        return gpu_half_t{(uint16_t)(sign | 0x7C00)};
    if (magnitude < 0x38800000u) /* below 2^-14 the spacing is fixed: let an addition round */
        return gpu_half_t{(uint16_t)(sign | (__float_as_uint(__uint_as_float(magnitude) + 0.5f) - 0x3F000000u))};
    return gpu_half_t{(uint16_t)(sign | ((magnitude - 0x38000000u + 0xFFFu + (magnitude >> 13 & 1)) >> 13))};
}

#endif
