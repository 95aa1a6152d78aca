/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_KERNELS_CONVERT_H
#define JALLOC_BLAS_KERNELS_CONVERT_H

/* Numbers of 16 bits as floats and back, side by side, by what x86-64's sets avx2 and avx512 have
 * for it (F16C). The loops of host/convert.c give the same, but for signaling NaNs, which here are
 * quiet at once and there as soon as they are computed with. */

#include <stdint.h>

#include "jalloc/datatype.h"

void ji_f32_from_f16_avx2(float *to, const jfloat16_t *from, int64_t n);
void ji_f16_from_f32_avx2(jfloat16_t *to, const float *from, int64_t n);
void ji_bf16_from_f32_avx2(jbfloat16_t *to, const float *from, int64_t n);

#endif
