/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "blas/kernels/vector.h"
#include "blas/kernels/vector_transpose.h"

#include "blas/kernels/move.h"

#define KERNEL_TEXT "blas/kernels/move_kernel.h"
#include "blas/kernels/each_type.h"

#define MOVE_TABLE KERNEL_SET(ji_move)
const ji_move_kernels_t *const MOVE_TABLE[4] = {&KERNEL_SET(s_move), &KERNEL_SET(d_move),
                                                &KERNEL_SET(c_move), &KERNEL_SET(z_move)};
