/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#define VECTOR_AVX2
#include "blas/kernels/vector.h"
#include "blas/kernels/vector_transpose.h"

#include "blas/kernels/product.h"

#define KERNEL_TEXT "blas/kernels/product_kernel.h"
#include "blas/kernels/each_type.h"

#define PRODUCT_TABLE KERNEL_SET(ji_product)
const ji_product_kernels_t *const PRODUCT_TABLE[4] = {
    &KERNEL_SET(s_product), &KERNEL_SET(d_product), &KERNEL_SET(c_product), &KERNEL_SET(z_product)};
