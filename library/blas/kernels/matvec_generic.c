/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The kernels of level 2 for any processor. */

#include "blas/kernels/vector.h"

#include "blas/kernels/matvec.h"

#define KERNEL_TEXT "blas/kernels/matvec_kernel.h"
#include "blas/kernels/each_type.h"

#define MATVEC_TABLE KERNEL_SET(ji_matvec)
const ji_matvec_kernels_t *const MATVEC_TABLE[4] = {&KERNEL_SET(s_matvec), &KERNEL_SET(d_matvec),
                                                    &KERNEL_SET(c_matvec), &KERNEL_SET(z_matvec)};
