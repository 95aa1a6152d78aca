/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The triangle kernels for one instruction set (KERNEL_SET, KERNEL_TARGET, KERNEL_VECTOR_BYTES,
 * KERNEL_ROWS) and the four element types. No include guard: included once for each set. */

#define KERNEL_JOIN_(letter, set, name) letter##_##set##_##name
#define KERNEL_JOIN(letter, set, name) KERNEL_JOIN_(letter, set, name)

#define KERNEL_REAL float
#define KERNEL_COMPLEX 0
#define KERNEL_NAME(name) KERNEL_JOIN(s, KERNEL_SET, name)
#include "blas/host/triangle_kernel.h"
#define KERNEL_REAL double
#define KERNEL_COMPLEX 0
#define KERNEL_NAME(name) KERNEL_JOIN(d, KERNEL_SET, name)
#include "blas/host/triangle_kernel.h"
#define KERNEL_REAL float
#define KERNEL_COMPLEX 1
#define KERNEL_NAME(name) KERNEL_JOIN(c, KERNEL_SET, name)
#include "blas/host/triangle_kernel.h"
#define KERNEL_REAL double
#define KERNEL_COMPLEX 1
#define KERNEL_NAME(name) KERNEL_JOIN(z, KERNEL_SET, name)
#include "blas/host/triangle_kernel.h"

#undef KERNEL_JOIN_
#undef KERNEL_JOIN
#undef KERNEL_SET
#undef KERNEL_TARGET
#undef KERNEL_VECTOR_BYTES
#undef KERNEL_ROWS
