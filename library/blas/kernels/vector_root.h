/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Square roots of vectors, for files that have included vector.h. No include guard.
 *
 *   t_root(v)   of each element, as sqrt() rounds it */

#if defined(VECTOR_AVX512)
VECTOR_INLINE s_vector s_root(s_vector v) { return _mm512_sqrt_ps(v); }
VECTOR_INLINE d_vector d_root(d_vector v) { return _mm512_sqrt_pd(v); }
#elif defined(VECTOR_AVX2)
VECTOR_INLINE s_vector s_root(s_vector v) { return _mm256_sqrt_ps(v); }
VECTOR_INLINE d_vector d_root(d_vector v) { return _mm256_sqrt_pd(v); }
#else
#include <math.h>
VECTOR_INLINE s_vector s_root(s_vector v) {
    return (s_vector){sqrtf(v[0]), sqrtf(v[1]), sqrtf(v[2]), sqrtf(v[3])};
}
VECTOR_INLINE d_vector d_root(d_vector v) { return (d_vector){sqrt(v[0]), sqrt(v[1])}; }
#endif
