/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* rotg and rotmg of numbers that are on the device: for each item of a batch one thread does what
 * the host would (blas/primitives/rotation.h). Those of the host do not come here. */

#include "blas/primitives/rotation.h"
#include "gpu/blas/vector.h"

#define ROTATION_THREADS 64

/* Addresses of each item's numbers, which are as many bytes apart as said. */
typedef struct rotation_numbers {
    many_t<char> of[JI_ROTATION_NUMBERS];
    int64_t count;
} rotation_numbers_t;

static __global__ void rotation_kernel(ji_rotation_t args, rotation_numbers_t numbers,
                                       bool modified) {
    const int64_t threads = (int64_t)gridDim.x * ROTATION_THREADS;
    for (int64_t item = (int64_t)blockIdx.x * ROTATION_THREADS + threadIdx.x; item < numbers.count;
         item += threads) {
        for (int i = 0; i < JI_ROTATION_NUMBERS; ++i)
            args.numbers[i] = numbers.of[i].of(item);
        if (modified)
            ji_rotmg(&args);
        else
            ji_rotg(&args);
    }
}

static jstatus_t rotation_launch(const gpu_call_t *call, const void *block, bool modified) {
    const ji_rotation_t *args = (const ji_rotation_t *)block;
    rotation_numbers_t numbers;
    numbers.count = many_count(args->head, args->batch);
    for (int i = 0; i < JI_ROTATION_NUMBERS; ++i)
        if (args->numbers[i] != nullptr)
            numbers.of[i] = many_of<char>(args->head, args->numbers[i],
                                          args->strides[i] * ji_rotation_bytes(args, i));
        else
            numbers.of[i] = many_t<char>{nullptr, nullptr, 0, 0};

    const unsigned blocks = gpu_blocks(numbers.count, ROTATION_THREADS, GPU_GRID_MOST);
    GPU_LAUNCH((rotation_kernel), blocks, ROTATION_THREADS, call->stream, *args, numbers, modified);
    return gpu_check_launch(call->device, "rotation");
}

jstatus_t gpu_rotg(const gpu_call_t *call, const void *block) {
    return rotation_launch(call, block, false);
}
jstatus_t gpu_rotmg(const gpu_call_t *call, const void *block) {
    return rotation_launch(call, block, true);
}
