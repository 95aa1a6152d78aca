/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Includes the text KERNEL_TEXT once for each element type; vector.h was included. No include
 * guard.
 *
 *   REAL              float or double
 *   COMPLEX           0 or 1
 *   SINGLE            0 or 1: whether REAL is float
 *   VECTOR            a vector of REAL; LANES reals
 *   PART              "the first n" of one
 *   NARROW            what is transposed at once
 *   KEEP              a choice of its elements
 *   TRUTH             what comparing it gives
 *   V(name)           a function of vector.h: V(fma)(a, b, c)
 *   NAME(name)        a name for this type and instruction set: c_scale_avx512
 *   REAL_NAME(name)   the same of REAL: s_scale_avx512 */

#define LANES ((int)(VECTOR_BYTES / sizeof(REAL)))

#define SINGLE 1
#define REAL float
#define VECTOR s_vector
#define PART s_part
#define NARROW s_narrow
#define KEEP s_keep
#define TRUTH s_truth
#define V(name) s_##name
#define REAL_NAME(name) KERNEL_SET(s_##name)
#define COMPLEX 0
#define NAME(name) KERNEL_SET(s_##name)
#include KERNEL_TEXT
#undef COMPLEX
#undef NAME
#define COMPLEX 1
#define NAME(name) KERNEL_SET(c_##name)
#include KERNEL_TEXT
#undef COMPLEX
#undef NAME
#undef REAL
#undef SINGLE
#undef VECTOR
#undef PART
#undef NARROW
#undef KEEP
#undef TRUTH
#undef V
#undef REAL_NAME

#define SINGLE 0
#define REAL double
#define VECTOR d_vector
#define PART d_part
#define NARROW d_narrow
#define KEEP d_keep
#define TRUTH d_truth
#define V(name) d_##name
#define REAL_NAME(name) KERNEL_SET(d_##name)
#define COMPLEX 0
#define NAME(name) KERNEL_SET(d_##name)
#include KERNEL_TEXT
#undef COMPLEX
#undef NAME
#define COMPLEX 1
#define NAME(name) KERNEL_SET(z_##name)
#include KERNEL_TEXT
#undef COMPLEX
#undef NAME
#undef REAL
#undef SINGLE
#undef VECTOR
#undef PART
#undef NARROW
#undef KEEP
#undef TRUTH
#undef V
#undef REAL_NAME
#undef LANES
