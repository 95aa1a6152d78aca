/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_NARROW_H
#define JALLOC_GPU_BLAS_NARROW_H

/* Numbers of 16 bits as floats: widened where a kernel reads them, narrowed once where it writes
 * them. All others are what they are. By the processor's instructions, where there are. */

#include "gpu/blas/blas.h"

#if defined(JALLOC_GPU_FAKE)
static inline float widen(jfloat16_t x) { return jalloc_f32_from_f16(x); }
static inline void narrow(float x, jfloat16_t *to) { *to = jalloc_f16_from_f32(x); }
#else
static __device__ inline float widen(jfloat16_t x) {
    return __half2float(__ushort_as_half(x.bits));
}
static __device__ inline void narrow(float x, jfloat16_t *to) {
    to->bits = __half_as_ushort(__float2half_rn(x));
}
#endif
static __device__ inline float widen(jbfloat16_t x) { return jalloc_f32_from_bf16(x); }
static __device__ inline void narrow(float x, jbfloat16_t *to) { *to = jalloc_bf16_from_f32(x); }
template <typename T> static __device__ inline T widen(T x) { return x; }
template <typename T> static __device__ inline void narrow(T x, T *to) { *to = x; }

#endif
