/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#define VECTOR_AVX512
#include "blas/kernels/vector.h"

#include "blas/kernels/factor.h"

#define KERNEL_TEXT "blas/kernels/factor_kernel.h"
#include "blas/kernels/each_type.h"

#define FACTOR_TABLE KERNEL_SET(ji_factor)
const ji_factor_kernels_t *const FACTOR_TABLE[4] = {&KERNEL_SET(s_factor), &KERNEL_SET(d_factor),
                                                    &KERNEL_SET(c_factor), &KERNEL_SET(z_factor)};
