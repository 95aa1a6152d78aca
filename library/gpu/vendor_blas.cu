/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The vendor's BLAS behind the primitives. None yet: kernels of ours serve. */

#include "gpu/vendor_blas.h"

gpu_primitive_t gpu_vendor_primitive(gpu_device_t *, ji_primitive_t) { return nullptr; }

const char *gpu_vendor_blas_name(gpu_device_t *) { return nullptr; }

jstatus_t gpu_vendor_gemm_ex(const gpu_call_t *, const gpu_narrow_gemm_t *) { return JSTATUS_NOT_IMPLEMENTED; }

void gpu_vendor_forget_stream(gpu_device_t *, gpuStream_t) {}
