/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#define VECTOR_AVX2
#include "blas/kernels/vector.h"

#include "blas/kernels/level1.h"

#define KERNEL_TEXT "blas/kernels/level1_kernel.h"
#include "blas/kernels/each_type.h"

#define LEVEL1_TABLE KERNEL_SET(ji_level1)
const ji_level1_t *const LEVEL1_TABLE[4] = {&KERNEL_SET(s_level1), &KERNEL_SET(d_level1),
                                            &KERNEL_SET(c_level1), &KERNEL_SET(z_level1)};
