/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#define VECTOR_AVX512
#include "blas/kernels/vector.h"

#include "blas/kernels/triangle.h"

#define KERNEL_TEXT "blas/kernels/triangle_kernel.h"
#include "blas/kernels/each_type.h"

#define TRIANGLE_TABLE KERNEL_SET(ji_triangle)
const ji_triangle_kernels_t *const TRIANGLE_TABLE[4] = {
    &KERNEL_SET(s_triangle), &KERNEL_SET(d_triangle), &KERNEL_SET(c_triangle),
    &KERNEL_SET(z_triangle)};
