/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "blas/kernels/vector.h"
#include "blas/kernels/vector_root.h"
#include "blas/kernels/vector_transpose.h"

#include "blas/kernels/batch.h"

#define KERNEL_TEXT "blas/kernels/batch_kernel.h"
#include "blas/kernels/each_type.h"

#define BATCH_TABLE KERNEL_SET(ji_batch)
const ji_batch_kernels_t *const BATCH_TABLE[4] = {&KERNEL_SET(s_batch), &KERNEL_SET(d_batch),
                                                  &KERNEL_SET(c_batch), &KERNEL_SET(z_batch)};
