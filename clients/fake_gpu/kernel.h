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

template <typename T> static inline T atomicAdd(T *address, T value) {
    T old = *address;
    *address = old + value;
    return old;
}

#endif
