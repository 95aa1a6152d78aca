/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Vectors of one instruction set, for the kernels: included once by each file that is compiled for
 * one, which says which: VECTOR_AVX512, VECTOR_AVX2 (with FMA), or neither: the compiler's generic
 * vectors of 16 bytes, which every processor has (SSE2, NEON). No include guard.
 *
 * Of s (float) and d (double), here t:
 *
 *   t_vector                     VECTOR_BYTES of reals; + - * / are element by element
 *   t_load(p) t_store(p, v)      at any address
 *   t_part                       "the first n": t_first(n), 0 <= n <= elements of a vector
 *   t_load_part(p, part)         the first n, zeros for the rest: nothing behind them is read
 *   t_store_part(p, v, part)     nor written
 *   t_splat(x)                   x everywhere
 *   t_fma(a, b, c)               a b + c, rounded once where the processor can
 *   t_fnma(a, b, c)              c - a b, likewise
 *
 * A kernel says where it wants one rounding and where two: files with kernels are compiled without
 * contraction, so no compiler chooses. VECTOR_REGISTERS is how many there are, VECTOR_FMA whether
 * t_fma() rounds once, KERNEL_SET(name) the name with that of the set. */

#include <stdint.h>
#include <string.h>

#if defined(VECTOR_AVX512) || defined(VECTOR_AVX2)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define VECTOR_INLINE static inline __attribute__((always_inline, unused))

#if defined(VECTOR_AVX512)

#define KERNEL_SET(name) name##_avx512
#define VECTOR_BYTES 64
#define VECTOR_REGISTERS 32
#define VECTOR_FMA 1

typedef __m512 s_vector;
typedef __m512d d_vector;
typedef __mmask16 s_part;
typedef __mmask8 d_part;

VECTOR_INLINE s_vector s_load(const float *p) { return _mm512_loadu_ps(p); }
VECTOR_INLINE d_vector d_load(const double *p) { return _mm512_loadu_pd(p); }
VECTOR_INLINE void s_store(float *p, s_vector v) { _mm512_storeu_ps(p, v); }
VECTOR_INLINE void d_store(double *p, d_vector v) { _mm512_storeu_pd(p, v); }

VECTOR_INLINE s_part s_first(int n) { return (s_part)((1U << n) - 1); }
VECTOR_INLINE d_part d_first(int n) { return (d_part)((1U << n) - 1); }
VECTOR_INLINE s_vector s_load_part(const float *p, s_part part) {
    return _mm512_maskz_loadu_ps(part, p);
}
VECTOR_INLINE d_vector d_load_part(const double *p, d_part part) {
    return _mm512_maskz_loadu_pd(part, p);
}
VECTOR_INLINE void s_store_part(float *p, s_vector v, s_part part) {
    _mm512_mask_storeu_ps(p, part, v);
}
VECTOR_INLINE void d_store_part(double *p, d_vector v, d_part part) {
    _mm512_mask_storeu_pd(p, part, v);
}

VECTOR_INLINE s_vector s_splat(float x) { return _mm512_set1_ps(x); }
VECTOR_INLINE d_vector d_splat(double x) { return _mm512_set1_pd(x); }
VECTOR_INLINE s_vector s_fma(s_vector a, s_vector b, s_vector c) {
    return _mm512_fmadd_ps(a, b, c);
}
VECTOR_INLINE d_vector d_fma(d_vector a, d_vector b, d_vector c) {
    return _mm512_fmadd_pd(a, b, c);
}
VECTOR_INLINE s_vector s_fnma(s_vector a, s_vector b, s_vector c) {
    return _mm512_fnmadd_ps(a, b, c);
}
VECTOR_INLINE d_vector d_fnma(d_vector a, d_vector b, d_vector c) {
    return _mm512_fnmadd_pd(a, b, c);
}

#elif defined(VECTOR_AVX2)

#define KERNEL_SET(name) name##_avx2
#define VECTOR_BYTES 32
#define VECTOR_REGISTERS 16
#define VECTOR_FMA 1

typedef __m256 s_vector;
typedef __m256d d_vector;
typedef __m256i s_part;
typedef __m256i d_part;

VECTOR_INLINE s_vector s_load(const float *p) { return _mm256_loadu_ps(p); }
VECTOR_INLINE d_vector d_load(const double *p) { return _mm256_loadu_pd(p); }
VECTOR_INLINE void s_store(float *p, s_vector v) { _mm256_storeu_ps(p, v); }
VECTOR_INLINE void d_store(double *p, d_vector v) { _mm256_storeu_pd(p, v); }

VECTOR_INLINE s_part s_first(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
VECTOR_INLINE d_part d_first(int n) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
VECTOR_INLINE s_vector s_load_part(const float *p, s_part part) {
    return _mm256_maskload_ps(p, part);
}
VECTOR_INLINE d_vector d_load_part(const double *p, d_part part) {
    return _mm256_maskload_pd(p, part);
}
VECTOR_INLINE void s_store_part(float *p, s_vector v, s_part part) {
    _mm256_maskstore_ps(p, part, v);
}
VECTOR_INLINE void d_store_part(double *p, d_vector v, d_part part) {
    _mm256_maskstore_pd(p, part, v);
}

VECTOR_INLINE s_vector s_splat(float x) { return _mm256_set1_ps(x); }
VECTOR_INLINE d_vector d_splat(double x) { return _mm256_set1_pd(x); }
VECTOR_INLINE s_vector s_fma(s_vector a, s_vector b, s_vector c) {
    return _mm256_fmadd_ps(a, b, c);
}
VECTOR_INLINE d_vector d_fma(d_vector a, d_vector b, d_vector c) {
    return _mm256_fmadd_pd(a, b, c);
}
VECTOR_INLINE s_vector s_fnma(s_vector a, s_vector b, s_vector c) {
    return _mm256_fnmadd_ps(a, b, c);
}
VECTOR_INLINE d_vector d_fnma(d_vector a, d_vector b, d_vector c) {
    return _mm256_fnmadd_pd(a, b, c);
}

#else

#define KERNEL_SET(name) name##_generic
#define VECTOR_BYTES 16
#define VECTOR_REGISTERS 16

typedef float s_vector __attribute__((vector_size(16)));
typedef double d_vector __attribute__((vector_size(16)));
typedef int s_part;
typedef int d_part;

VECTOR_INLINE s_vector s_load(const float *p) {
    s_vector v;
    memcpy(&v, p, sizeof v);
    return v;
}
VECTOR_INLINE d_vector d_load(const double *p) {
    d_vector v;
    memcpy(&v, p, sizeof v);
    return v;
}
VECTOR_INLINE void s_store(float *p, s_vector v) { memcpy(p, &v, sizeof v); }
VECTOR_INLINE void d_store(double *p, d_vector v) { memcpy(p, &v, sizeof v); }

VECTOR_INLINE s_part s_first(int n) { return n; }
VECTOR_INLINE d_part d_first(int n) { return n; }
VECTOR_INLINE s_vector s_load_part(const float *p, s_part part) {
    return part == 4 ? s_load(p)
                     : (s_vector){part > 0 ? p[0] : 0, part > 1 ? p[1] : 0, part > 2 ? p[2] : 0, 0};
}
VECTOR_INLINE d_vector d_load_part(const double *p, d_part part) {
    return (d_vector){part > 0 ? p[0] : 0, part > 1 ? p[1] : 0};
}
VECTOR_INLINE void s_store_part(float *p, s_vector v, s_part part) {
    for (int i = 0; i < 4; i++)
        if (i < part)
            p[i] = v[i];
}
VECTOR_INLINE void d_store_part(double *p, d_vector v, d_part part) {
    for (int i = 0; i < 2; i++)
        if (i < part)
            p[i] = v[i];
}

VECTOR_INLINE s_vector s_splat(float x) { return (s_vector){x, x, x, x}; }
VECTOR_INLINE d_vector d_splat(double x) { return (d_vector){x, x}; }

#ifdef __aarch64__
#define VECTOR_FMA 1
VECTOR_INLINE s_vector s_fma(s_vector a, s_vector b, s_vector c) { return vfmaq_f32(c, a, b); }
VECTOR_INLINE d_vector d_fma(d_vector a, d_vector b, d_vector c) { return vfmaq_f64(c, a, b); }
VECTOR_INLINE s_vector s_fnma(s_vector a, s_vector b, s_vector c) { return vfmsq_f32(c, a, b); }
VECTOR_INLINE d_vector d_fnma(d_vector a, d_vector b, d_vector c) { return vfmsq_f64(c, a, b); }
#else
#define VECTOR_FMA 0
VECTOR_INLINE s_vector s_fma(s_vector a, s_vector b, s_vector c) { return a * b + c; }
VECTOR_INLINE d_vector d_fma(d_vector a, d_vector b, d_vector c) { return a * b + c; }
VECTOR_INLINE s_vector s_fnma(s_vector a, s_vector b, s_vector c) { return c - a * b; }
VECTOR_INLINE d_vector d_fnma(d_vector a, d_vector b, d_vector c) { return c - a * b; }
#endif

#endif
