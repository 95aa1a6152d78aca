/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_GPU_KERNEL_H
#define JALLOC_CLIENTS_FAKE_GPU_KERNEL_H

/* The language of kernels, as plain C++. One thread of a block runs at a time and one kernel in the
 * process, so what is shared is static, what tells a thread who it is are globals that the executor
 * sets, and atomics are ordinary. A barrier is a call that comes back when all other threads of the
 * block have come to it. */

#include <math.h>
#include <string.h>

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

/* As in the vendors' runtimes, a launch says where the arguments lie; the runtime copies them. What
 * knows their types is one small function for each list of types: with tuples and std::apply
 * compilers took three seconds for a file. */
typedef void fake_gpu_function_t(void);
typedef void fake_gpu_caller_t(fake_gpu_function_t *kernel, const void *const *arguments);

struct fake_gpu_argument_t {
    const void *value;
    size_t size_bytes;
    bool is_pointer; /* to data: it must not point to the host's */
};

#pragma GCC visibility push(hidden)

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

gpuError_t fake_gpu_launch_kernel(const char *name, fake_gpu_function_t *kernel,
                                  fake_gpu_caller_t *caller, dim3 grid, dim3 block,
                                  gpuStream_t stream, const fake_gpu_argument_t *arguments,
                                  size_t count);
void fake_gpu_barrier(const char *file, int line);

#pragma GCC visibility pop

template <typename... P> struct fake_gpu_typed_t {
    template <size_t... I>
    static void apply(void (*kernel)(P...), const void *const *arguments,
                      std::index_sequence<I...>) {
        (void)arguments; /* a kernel may take none */
        kernel(*static_cast<const P *>(arguments[I])...);
    }
    static void call(fake_gpu_function_t *kernel, const void *const *arguments) {
        apply(reinterpret_cast<void (*)(P...)>(kernel), arguments, std::index_sequence_for<P...>());
    }
};

/* T, where it is not to be deduced: the arguments are converted to what the kernel takes. */
template <typename T> struct fake_gpu_same_t { typedef T type; };

template <typename... P>
static inline gpuError_t fake_gpu_launch(const char *name, void (*kernel)(P...), dim3 grid,
                                         dim3 block, gpuStream_t stream,
                                         typename fake_gpu_same_t<P>::type... arguments) {
    static_assert((std::is_trivially_copyable_v<P> && ...), "arguments are copied as bytes");
    static_assert((sizeof(P) + ... + 0) <= 4096, "a kernel takes at most 4 KB of arguments");
    const fake_gpu_argument_t list[] = {
        {&arguments, sizeof arguments,
         std::is_pointer_v<P> && !std::is_function_v<std::remove_pointer_t<P>>}...,
        {nullptr, 0, false}};
    return fake_gpu_launch_kernel(name, reinterpret_cast<fake_gpu_function_t *>(kernel),
                                  fake_gpu_typed_t<P...>::call, grid, block, stream, list,
                                  sizeof...(P));
}

#define GPU_UNWRAP_(...) __VA_ARGS__
#define GPU_LAUNCH_KERNEL(kernel, grid, block, stream, ...)                                        \
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

static inline float gpu_bfloat16_to_float(gpu_bfloat16_t x) {
    return __uint_as_float((unsigned)x.bits << 16);
}
static inline gpu_bfloat16_t gpu_float_to_bfloat16(float x) {
    unsigned bits = __float_as_uint(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        return gpu_bfloat16_t{(uint16_t)(bits >> 16 | 0x40)};
    return gpu_bfloat16_t{(uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16)};
}
static inline float gpu_half_to_float(gpu_half_t x) {
    unsigned sign = (unsigned)(x.bits & 0x8000) << 16, exponent = x.bits >> 10 & 31,
             fraction = x.bits & 1023;
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
        return gpu_half_t{
            (uint16_t)(sign | (__float_as_uint(__uint_as_float(magnitude) + 0.5f) - 0x3F000000u))};
    return gpu_half_t{
        (uint16_t)(sign | ((magnitude - 0x38000000u + 0xFFFu + (magnitude >> 13 & 1)) >> 13))};
}

#endif
