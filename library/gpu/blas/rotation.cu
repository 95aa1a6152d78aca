/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* rotg and rotmg of numbers that are on the device: one thread does what the host would
 * (blas/primitives/rotation.h). Those of the host do not come here. */

#include "blas/primitives/rotation.h"
#include "gpu/blas/blas.h"

static __global__ void rotation_kernel(ji_rotation_t args, bool modified) {
    if (modified)
        ji_rotmg(&args);
    else
        ji_rotg(&args);
}

static jstatus_t rotation_launch(const gpu_call_t *call, const void *block, bool modified) {
    GPU_LAUNCH((rotation_kernel), 1, 1, call->stream, *(const ji_rotation_t *)block, modified);
    return gpu_check_launch(call->device, "rotation");
}

jstatus_t gpu_rotg(const gpu_call_t *call, const void *block) {
    return rotation_launch(call, block, false);
}
jstatus_t gpu_rotmg(const gpu_call_t *call, const void *block) {
    return rotation_launch(call, block, true);
}
