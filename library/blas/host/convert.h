/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_HOST_CONVERT_H
#define JALLOC_BLAS_HOST_CONVERT_H

/* Elements of one type as those of another: exactly to what a routine computes in, and rounded
 * once, to the nearest and ties to even, from there. */

#include "blas/host/host.h"

/* n elements, so many apart; the two do not overlap. */
typedef void (*ji_conversion_t)(void *to, int64_t to_step, const void *from, int64_t from_step,
                                int64_t n);

/* To f32: from f16, bf16, i8. To f64: from f16, bf16, f32. To f64_c: from f32_c. And back, but for
 * i8. NULL: there is none, or the types are one. */
ji_conversion_t ji_conversion(jdatatype_t to, jdatatype_t from);

#endif
