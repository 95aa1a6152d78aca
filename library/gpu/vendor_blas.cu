/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The vendor's BLAS behind the primitives. None yet: kernels of ours serve. */

#include "gpu/blas.h"

gpu_primitive_t gpu_vendor_primitive(gpu_device_t *, ji_primitive_t) { return nullptr; }

const char *gpu_vendor_blas_name(gpu_device_t *) { return nullptr; }
