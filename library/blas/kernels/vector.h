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
 *   t_load_piece t_store_piece   the same, for what is stored and soon loaded again: where a half
 *                                or a quarter is asked for by a vector of that width: a masked
 *                                load waits until a masked store has left the store buffer
 *   t_is_piece(n)                whether n elements are such a half or quarter
 *   t_splat(x)                   x everywhere
 *   t_pick(p, at)                p[0][at], p[1][at], ...
 *   t_fma(a, b, c)               a b + c, rounded once where the processor can
 *   t_fnma(a, b, c)              c - a b, likewise
 *   t_gain(sum, a, b)            *sum = t_fma(a, b, *sum), in the sum's own register: GCC moves
 *                                sums about where registers are scarce, by way of memory too
 *   t_fma_one(a, b, c)           a b + c of single reals, as t_fma() does it
 *   t_abs(v) t_max(a, b)         magnitudes; the larger ones (of a NaN and a number: b)
 *   t_flip(v, signs)             v, each bit flipped that `signs` has: negated where it is -0
 *   t_swap(v)                    neighbours exchanged: 1 0 3 2 ...
 *   t_fold(v)                    the sum of all, by halves: the upper half is added to the lower
 *                                one until one is left
 *   t_fold_pairs(v, p)           the same until two are left: p[0] of even places, p[1] of odd ones
 *   t_fold_four(v, p)            t_fold() of four vectors: p[0] to p[3]
 *   t_largest(v)                 the largest, of v without NaN
 *   t_truth                      of comparisons, one for each element
 *   t_exceeds(a, b)              not a <= b: also where there is a NaN
 *   t_equals(a, b) t_either(p, q) t_any(p)
 *   t_where(p, v)                v where it is true, 0 elsewhere
 *   t_choose(p, a, b)            a where it is true, b elsewhere
 *   t_place(p)                   of the first element where it is true; there is one
 *   t_widen(p)                   as doubles: as many as a d_vector holds
 *   t_widen_first(p, n)          the first n of them, zeros for the rest
 *   t_turn(v) t_conjugate(v)     of complex numbers: i v, (x, y) becomes (-y, x); (x, -y)
 *   t_splat_pair(p)              p[0] at even places, p[1] at odd ones
 *   t_even(v) t_odd(v)           the even ones twice: 0 0 2 2 ...; the odd ones: 1 1 3 3 ...
 *   s_of_four(v, k)              with VECTOR_BYTES > 16: element k of each four, four times
 *   t_load_twice(p)              half a vector of reals, each twice: p[0] p[0] p[1] p[1] ...
 *   t_keep                       a choice of elements: t_keep_from(n), all but the first n;
 *                                t_keep_before(n), the first n; t_keep_between(m, n), of these all
 *                                but the first m; m and n may be any number
 *   t_load_between(p, m, n)      those elements of a vector, zeros for the rest; no others are read
 *   t_joined(a, b, from)         the vector behind the first n elements of a and b side by side,
 *                                where `from` is t_join_from(n); with VECTOR_JOINS, which says
 *                                that loads of parts of two cache lines cost more than this
 *   t_fma_where(keep, a, b, c)   t_fma() where it is kept, c elsewhere
 *
 * A kernel says where it wants one rounding and where two: files with kernels are compiled without
 * contraction, so no compiler chooses. VECTOR_REGISTERS is how many there are, VECTOR_FMA whether
 * t_fma() rounds once, VECTOR_MASKS whether parts of a vector are stored by masks, KERNEL_SET(name)
 * the name with that of the set. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(VECTOR_AVX512) || defined(VECTOR_AVX2)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Of loops whose counts compilers know, all steps, so that arrays of vectors are registers; GCC
 * unrolls as many as it is told to. */
#ifdef __clang__
#define VECTOR_UNROLL _Pragma("unroll")
#else
#define VECTOR_UNROLL _Pragma("GCC unroll 32")
#endif
#define VECTOR_MOST_UNROLLED 32
/* Of a loop over the steps of a tile, some at once (Zen 3, one by one over four: dgemm 1.01 to
 * 1.035, zgemm and ztrmm 1.02 to 1.04, strmm of 64 1.07). */
#if defined(VECTOR_AVX2) && defined(__clang__)
#define VECTOR_UNROLL_STEPS _Pragma("unroll 4")
#elif defined(VECTOR_AVX2)
#define VECTOR_UNROLL_STEPS _Pragma("GCC unroll 4")
#else
#define VECTOR_UNROLL_STEPS
#endif
/* v stays in its register, where compilers would load it again for each use. */
#if defined(VECTOR_AVX512)
#define VECTOR_HOLD(v) __asm__("" : "+v"(v))
#elif defined(__x86_64__)
#define VECTOR_HOLD(v) __asm__("" : "+x"(v))
#elif defined(__aarch64__)
#define VECTOR_HOLD(v) __asm__("" : "+w"(v))
#else
#define VECTOR_HOLD(v) (void)(v)
#endif
/* v is needed up to here: a sum of products with it, which may not take its register then, stays in
 * its own, where GCC would move sums about, by way of memory too. */
#if defined(VECTOR_AVX512)
#define VECTOR_NEEDED(v) __asm__ volatile("" : : "v"(v))
#elif defined(VECTOR_AVX2)
#define VECTOR_NEEDED(v) __asm__ volatile("" : : "x"(v))
#else
#define VECTOR_NEEDED(v) (void)(v)
#endif
/* An address or a distance as it is, whatever it was computed from: compilers that know the latter
 * keep more of it in registers than there are. */
#define VECTOR_PLAIN(x) __asm__("" : "+r"(x))
/* What is loaded behind it was not loaded before it. */
#define VECTOR_FENCE __asm__ volatile("" ::: "memory")
/* An object that is loaded from its place behind a fence, and in no register meanwhile. */
#define VECTOR_IN_MEMORY(object) __asm__ volatile("" : : "r"(&(object)) : "memory")
#define VECTOR_INLINE static inline __attribute__((always_inline, unused))

#if defined(VECTOR_AVX512)

#define KERNEL_SET(name) name##_avx512
#define VECTOR_BYTES 64
#define VECTOR_REGISTERS 32
#define VECTOR_MASKS true
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

VECTOR_INLINE s_vector s_load_piece(const float *p, s_part part) {
    return part == 0xf     ? _mm512_zextps128_ps512(_mm_loadu_ps(p))
           : part == 0xff  ? _mm512_zextps256_ps512(_mm256_loadu_ps(p))
           : part == 0xfff ? _mm512_insertf32x4(_mm512_zextps256_ps512(_mm256_loadu_ps(p)),
                                                _mm_loadu_ps(p + 8), 2)
                           : s_load_part(p, part);
}
VECTOR_INLINE d_vector d_load_piece(const double *p, d_part part) {
    return part == 0xf ? _mm512_zextpd256_pd512(_mm256_loadu_pd(p)) : d_load_part(p, part);
}
VECTOR_INLINE void s_store_piece(float *p, s_vector v, s_part part) {
    if (part == 0xf)
        _mm_storeu_ps(p, _mm512_castps512_ps128(v));
    else if (part == 0xff)
        _mm256_storeu_ps(p, _mm512_castps512_ps256(v));
    else if (part == 0xfff)
        _mm256_storeu_ps(p, _mm512_castps512_ps256(v)),
            _mm_storeu_ps(p + 8, _mm512_extractf32x4_ps(v, 2));
    else
        s_store_part(p, v, part);
}
VECTOR_INLINE void d_store_piece(double *p, d_vector v, d_part part) {
    if (part == 0xf)
        _mm256_storeu_pd(p, _mm512_castpd512_pd256(v));
    else
        d_store_part(p, v, part);
}

VECTOR_INLINE bool s_is_piece(int64_t n) { return n == 4 || n == 8 || n == 12; }
VECTOR_INLINE bool d_is_piece(int64_t n) { return n == 4; }

VECTOR_INLINE s_vector s_splat(float x) { return _mm512_set1_ps(x); }
VECTOR_INLINE d_vector d_splat(double x) { return _mm512_set1_pd(x); }
VECTOR_INLINE s_vector s_pick(const float *const *p, ptrdiff_t at) {
    return _mm512_setr_ps(p[0][at], p[1][at], p[2][at], p[3][at], p[4][at], p[5][at], p[6][at],
                          p[7][at], p[8][at], p[9][at], p[10][at], p[11][at], p[12][at], p[13][at],
                          p[14][at], p[15][at]);
}
VECTOR_INLINE d_vector d_pick(const double *const *p, ptrdiff_t at) {
    return _mm512_setr_pd(p[0][at], p[1][at], p[2][at], p[3][at], p[4][at], p[5][at], p[6][at],
                          p[7][at]);
}
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

VECTOR_INLINE float s_fma_one(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
VECTOR_INLINE double d_fma_one(double a, double b, double c) { return __builtin_fma(a, b, c); }

VECTOR_INLINE s_vector s_abs(s_vector v) { return _mm512_abs_ps(v); }
VECTOR_INLINE d_vector d_abs(d_vector v) { return _mm512_abs_pd(v); }
VECTOR_INLINE s_vector s_max(s_vector a, s_vector b) { return _mm512_max_ps(a, b); }
VECTOR_INLINE d_vector d_max(d_vector a, d_vector b) { return _mm512_max_pd(a, b); }
VECTOR_INLINE s_vector s_flip(s_vector v, s_vector signs) { return _mm512_xor_ps(v, signs); }
VECTOR_INLINE d_vector d_flip(d_vector v, d_vector signs) { return _mm512_xor_pd(v, signs); }
VECTOR_INLINE s_vector s_swap(s_vector v) { return _mm512_permute_ps(v, 0xB1); }
VECTOR_INLINE d_vector d_swap(d_vector v) { return _mm512_permute_pd(v, 0x55); }
VECTOR_INLINE s_vector s_turn(s_vector v) {
    return _mm512_xor_ps(s_swap(v), _mm512_castsi512_ps(_mm512_set1_epi64(0x80000000)));
}
VECTOR_INLINE d_vector d_turn(d_vector v) {
    return _mm512_xor_pd(d_swap(v), _mm512_setr_pd(-0.0, 0, -0.0, 0, -0.0, 0, -0.0, 0));
}
VECTOR_INLINE s_vector s_conjugate(s_vector v) {
    return _mm512_xor_ps(v, _mm512_castsi512_ps(_mm512_set1_epi64(INT64_MIN)));
}
VECTOR_INLINE d_vector d_conjugate(d_vector v) {
    return _mm512_xor_pd(v, _mm512_setr_pd(0, -0.0, 0, -0.0, 0, -0.0, 0, -0.0));
}
VECTOR_INLINE s_vector s_splat_pair(const float *p) {
    double pair;
    memcpy(&pair, p, sizeof pair);
    return _mm512_castpd_ps(_mm512_set1_pd(pair));
}
VECTOR_INLINE d_vector d_splat_pair(const double *p) {
    return _mm512_broadcast_f64x2(_mm_loadu_pd(p));
}
VECTOR_INLINE s_vector s_even(s_vector v) { return _mm512_moveldup_ps(v); }
VECTOR_INLINE d_vector d_even(d_vector v) { return _mm512_movedup_pd(v); }
VECTOR_INLINE s_vector s_odd(s_vector v) { return _mm512_movehdup_ps(v); }
VECTOR_INLINE d_vector d_odd(d_vector v) { return _mm512_permute_pd(v, 0xFF); }

VECTOR_INLINE s_vector s_of_four(s_vector v, int k) {
    return k == 0   ? _mm512_permute_ps(v, 0x00)
           : k == 1 ? _mm512_permute_ps(v, 0x55)
           : k == 2 ? _mm512_permute_ps(v, 0xAA)
                    : _mm512_permute_ps(v, 0xFF);
}

VECTOR_INLINE s_vector s_load_twice(const float *p) {
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7),
                                 _mm512_castps256_ps512(_mm256_loadu_ps(p)));
}
VECTOR_INLINE d_vector d_load_twice(const double *p) {
    return _mm512_permutexvar_pd(_mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3),
                                 _mm512_castpd256_pd512(_mm256_loadu_pd(p)));
}

typedef __mmask16 s_keep;
typedef __mmask8 d_keep;
VECTOR_INLINE s_keep s_keep_from(int n) {
    return (s_keep)(n <= 0 ? 0xffff : n >= 16 ? 0 : 0xffffU << n);
}
VECTOR_INLINE d_keep d_keep_from(int n) {
    return (d_keep)(n <= 0 ? 0xff : n >= 8 ? 0 : 0xffU << n);
}
VECTOR_INLINE s_keep s_keep_before(int n) { return (s_keep)~s_keep_from(n); }
VECTOR_INLINE d_keep d_keep_before(int n) { return (d_keep)~d_keep_from(n); }
VECTOR_INLINE s_keep s_keep_between(int m, int n) {
    return (s_keep)(s_keep_from(m) & s_keep_before(n));
}
VECTOR_INLINE d_keep d_keep_between(int m, int n) {
    return (d_keep)(d_keep_from(m) & d_keep_before(n));
}
VECTOR_INLINE s_vector s_load_between(const float *p, int m, int n) {
    return _mm512_maskz_loadu_ps(s_keep_between(m, n), p);
}
VECTOR_INLINE d_vector d_load_between(const double *p, int m, int n) {
    return _mm512_maskz_loadu_pd(d_keep_between(m, n), p);
}
#define VECTOR_JOINS 1
VECTOR_INLINE __m512i s_join_from(int n) {
    return _mm512_add_epi32(_mm512_set1_epi32(n), _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
                                                                    10, 11, 12, 13, 14, 15));
}
VECTOR_INLINE __m512i d_join_from(int n) {
    return _mm512_add_epi64(_mm512_set1_epi64(n), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
}
VECTOR_INLINE s_vector s_joined(s_vector a, s_vector b, __m512i from) {
    return _mm512_permutex2var_ps(a, from, b);
}
VECTOR_INLINE d_vector d_joined(d_vector a, d_vector b, __m512i from) {
    return _mm512_permutex2var_pd(a, from, b);
}
VECTOR_INLINE s_vector s_fma_where(s_keep keep, s_vector a, s_vector b, s_vector c) {
    return _mm512_mask3_fmadd_ps(a, b, c, keep);
}
VECTOR_INLINE d_vector d_fma_where(d_keep keep, d_vector a, d_vector b, d_vector c) {
    return _mm512_mask3_fmadd_pd(a, b, c, keep);
}

VECTOR_INLINE __m256 s_halves(s_vector v) {
    return _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
}
VECTOR_INLINE __m256d d_halves(d_vector v) {
    return _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
}
VECTOR_INLINE __m256 s_larger_half(s_vector v) {
    return _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
}
VECTOR_INLINE __m256d d_larger_half(d_vector v) {
    return _mm256_max_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
}

typedef __mmask16 s_truth;
typedef __mmask8 d_truth;
VECTOR_INLINE s_truth s_exceeds(s_vector a, s_vector b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_NLE_UQ);
}
VECTOR_INLINE d_truth d_exceeds(d_vector a, d_vector b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_NLE_UQ);
}
VECTOR_INLINE s_truth s_equals(s_vector a, s_vector b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
VECTOR_INLINE d_truth d_equals(d_vector a, d_vector b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
}
VECTOR_INLINE s_truth s_either(s_truth p, s_truth q) { return (s_truth)(p | q); }
VECTOR_INLINE d_truth d_either(d_truth p, d_truth q) { return (d_truth)(p | q); }
VECTOR_INLINE s_vector s_where(s_truth p, s_vector v) { return _mm512_maskz_mov_ps(p, v); }
VECTOR_INLINE d_vector d_where(d_truth p, d_vector v) { return _mm512_maskz_mov_pd(p, v); }
VECTOR_INLINE s_vector s_choose(s_truth p, s_vector a, s_vector b) {
    return _mm512_mask_blend_ps(p, b, a);
}
VECTOR_INLINE d_vector d_choose(d_truth p, d_vector a, d_vector b) {
    return _mm512_mask_blend_pd(p, b, a);
}
VECTOR_INLINE bool s_any(s_truth p) { return p != 0; }
VECTOR_INLINE bool d_any(d_truth p) { return p != 0; }
VECTOR_INLINE int s_place(s_truth p) { return __builtin_ctz(p); }
VECTOR_INLINE int d_place(d_truth p) { return __builtin_ctz(p); }

VECTOR_INLINE d_vector s_widen(const float *p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
VECTOR_INLINE d_vector s_widen_first(const float *p, int n) {
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(d_first(n), p));
}

VECTOR_INLINE void s_fold_four(const s_vector *v, float *p) {
    const __m512 ab = _mm512_add_ps(_mm512_shuffle_f32x4(v[0], v[1], 0x44),
                                    _mm512_shuffle_f32x4(v[0], v[1], 0xEE)),
                 cd = _mm512_add_ps(_mm512_shuffle_f32x4(v[2], v[3], 0x44),
                                    _mm512_shuffle_f32x4(v[2], v[3], 0xEE));
    __m512 all =
        _mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xDD));
    all = _mm512_add_ps(all, _mm512_permute_ps(all, 0x4E));
    all = _mm512_add_ps(all, _mm512_permute_ps(all, 0xB1));
    const __m512i firsts = _mm512_castsi128_si512(_mm_setr_epi32(0, 4, 8, 12));
    _mm_storeu_ps(p, _mm512_castps512_ps128(_mm512_permutexvar_ps(firsts, all)));
}
VECTOR_INLINE void d_fold_four(const d_vector *v, double *p) {
    const __m512d ab = _mm512_add_pd(_mm512_shuffle_f64x2(v[0], v[1], 0x44),
                                     _mm512_shuffle_f64x2(v[0], v[1], 0xEE)),
                  cd = _mm512_add_pd(_mm512_shuffle_f64x2(v[2], v[3], 0x44),
                                     _mm512_shuffle_f64x2(v[2], v[3], 0xEE)),
                  all = _mm512_add_pd(_mm512_shuffle_f64x2(ab, cd, 0x88),
                                      _mm512_shuffle_f64x2(ab, cd, 0xDD));
    const __m256d acbd =
        _mm256_hadd_pd(_mm512_castpd512_pd256(all), _mm512_extractf64x4_pd(all, 1));
    _mm256_storeu_pd(p, _mm256_permute4x64_pd(acbd, 0xD8));
}

#elif defined(VECTOR_AVX2)

#define KERNEL_SET(name) name##_avx2
#define VECTOR_BYTES 32
#define VECTOR_REGISTERS 16
#define VECTOR_MASKS false
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
/* By halves: a masked store takes AMD's processors a dozen cycles, of a whole vector too. */
VECTOR_INLINE void s_store_part(float *p, s_vector v, s_part part) {
    int bits = _mm256_movemask_ps(_mm256_castsi256_ps(part));
    __m128 rest = _mm256_castps256_ps128(v);
    if ((bits & 0x80) != 0) {
        s_store(p, v);
        return;
    }
    if ((bits & 0x8) != 0)
        _mm_storeu_ps(p, rest), p += 4, bits >>= 4, rest = _mm256_extractf128_ps(v, 1);
    if ((bits & 0x2) != 0)
        _mm_storel_pi((__m64 *)p, rest), p += 2, bits >>= 2, rest = _mm_movehl_ps(rest, rest);
    if ((bits & 0x1) != 0)
        _mm_store_ss(p, rest);
}
VECTOR_INLINE void d_store_part(double *p, d_vector v, d_part part) {
    int bits = _mm256_movemask_pd(_mm256_castsi256_pd(part));
    __m128d rest = _mm256_castpd256_pd128(v);
    if ((bits & 0x8) != 0) {
        d_store(p, v);
        return;
    }
    if ((bits & 0x2) != 0)
        _mm_storeu_pd(p, rest), p += 2, bits >>= 2, rest = _mm256_extractf128_pd(v, 1);
    if ((bits & 0x1) != 0)
        _mm_store_sd(p, rest);
}

VECTOR_INLINE s_vector s_splat(float x) { return _mm256_set1_ps(x); }
VECTOR_INLINE d_vector d_splat(double x) { return _mm256_set1_pd(x); }
VECTOR_INLINE s_vector s_pick(const float *const *p, ptrdiff_t at) {
    return _mm256_setr_ps(p[0][at], p[1][at], p[2][at], p[3][at], p[4][at], p[5][at], p[6][at],
                          p[7][at]);
}
VECTOR_INLINE d_vector d_pick(const double *const *p, ptrdiff_t at) {
    return _mm256_setr_pd(p[0][at], p[1][at], p[2][at], p[3][at]);
}
VECTOR_INLINE s_vector s_fma(s_vector a, s_vector b, s_vector c) {
    return _mm256_fmadd_ps(a, b, c);
}
VECTOR_INLINE d_vector d_fma(d_vector a, d_vector b, d_vector c) {
    return _mm256_fmadd_pd(a, b, c);
}
#define VECTOR_GAINS
VECTOR_INLINE void s_gain(s_vector *sum, s_vector a, s_vector b) {
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(*sum) : "x"(a), "x"(b));
}
VECTOR_INLINE void d_gain(d_vector *sum, d_vector a, d_vector b) {
    __asm__("vfmadd231pd %2, %1, %0" : "+x"(*sum) : "x"(a), "x"(b));
}
VECTOR_INLINE s_vector s_fnma(s_vector a, s_vector b, s_vector c) {
    return _mm256_fnmadd_ps(a, b, c);
}
VECTOR_INLINE d_vector d_fnma(d_vector a, d_vector b, d_vector c) {
    return _mm256_fnmadd_pd(a, b, c);
}

VECTOR_INLINE float s_fma_one(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
VECTOR_INLINE double d_fma_one(double a, double b, double c) { return __builtin_fma(a, b, c); }

VECTOR_INLINE s_vector s_abs(s_vector v) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), v); }
VECTOR_INLINE d_vector d_abs(d_vector v) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), v); }
VECTOR_INLINE s_vector s_max(s_vector a, s_vector b) { return _mm256_max_ps(a, b); }
VECTOR_INLINE d_vector d_max(d_vector a, d_vector b) { return _mm256_max_pd(a, b); }
VECTOR_INLINE s_vector s_flip(s_vector v, s_vector signs) { return _mm256_xor_ps(v, signs); }
VECTOR_INLINE d_vector d_flip(d_vector v, d_vector signs) { return _mm256_xor_pd(v, signs); }
VECTOR_INLINE s_vector s_swap(s_vector v) { return _mm256_permute_ps(v, 0xB1); }
VECTOR_INLINE d_vector d_swap(d_vector v) { return _mm256_permute_pd(v, 0x5); }
VECTOR_INLINE s_vector s_turn(s_vector v) {
    return _mm256_xor_ps(s_swap(v), _mm256_castsi256_ps(_mm256_set1_epi64x(0x80000000)));
}
VECTOR_INLINE d_vector d_turn(d_vector v) {
    return _mm256_xor_pd(d_swap(v), _mm256_setr_pd(-0.0, 0, -0.0, 0));
}
VECTOR_INLINE s_vector s_conjugate(s_vector v) {
    return _mm256_xor_ps(v, _mm256_castsi256_ps(_mm256_set1_epi64x(INT64_MIN)));
}
VECTOR_INLINE d_vector d_conjugate(d_vector v) {
    return _mm256_xor_pd(v, _mm256_setr_pd(0, -0.0, 0, -0.0));
}
VECTOR_INLINE s_vector s_splat_pair(const float *p) {
    double pair;
    memcpy(&pair, p, sizeof pair);
    return _mm256_castpd_ps(_mm256_set1_pd(pair));
}
VECTOR_INLINE d_vector d_splat_pair(const double *p) {
    return _mm256_broadcast_pd((const __m128d *)p);
}
VECTOR_INLINE s_vector s_even(s_vector v) { return _mm256_moveldup_ps(v); }
VECTOR_INLINE d_vector d_even(d_vector v) { return _mm256_movedup_pd(v); }
VECTOR_INLINE s_vector s_odd(s_vector v) { return _mm256_movehdup_ps(v); }
VECTOR_INLINE d_vector d_odd(d_vector v) { return _mm256_permute_pd(v, 0xF); }

VECTOR_INLINE s_vector s_of_four(s_vector v, int k) {
    return k == 0   ? _mm256_permute_ps(v, 0x00)
           : k == 1 ? _mm256_permute_ps(v, 0x55)
           : k == 2 ? _mm256_permute_ps(v, 0xAA)
                    : _mm256_permute_ps(v, 0xFF);
}

VECTOR_INLINE s_vector s_load_twice(const float *p) {
    return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)),
                                    _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
}
VECTOR_INLINE d_vector d_load_twice(const double *p) {
    return _mm256_permute4x64_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p)), 0x50);
}

typedef __m256 s_keep;
typedef __m256d d_keep;
VECTOR_INLINE s_keep s_keep_before(int n) {
    const __m256i place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(n), place));
}
VECTOR_INLINE d_keep d_keep_before(int n) {
    const __m256i place = _mm256_setr_epi64x(0, 1, 2, 3);
    return _mm256_castsi256_pd(_mm256_cmpgt_epi64(_mm256_set1_epi64x(n), place));
}
VECTOR_INLINE s_keep s_keep_from(int n) {
    const __m256i place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(place, _mm256_set1_epi32(n - 1)));
}
VECTOR_INLINE d_keep d_keep_from(int n) {
    const __m256i place = _mm256_setr_epi64x(0, 1, 2, 3);
    return _mm256_castsi256_pd(_mm256_cmpgt_epi64(place, _mm256_set1_epi64x(n - 1)));
}
VECTOR_INLINE s_keep s_keep_between(int m, int n) {
    return _mm256_and_ps(s_keep_from(m), s_keep_before(n));
}
VECTOR_INLINE d_keep d_keep_between(int m, int n) {
    return _mm256_and_pd(d_keep_from(m), d_keep_before(n));
}
VECTOR_INLINE s_vector s_load_between(const float *p, int m, int n) {
    return _mm256_maskload_ps(p, _mm256_castps_si256(s_keep_between(m, n)));
}
VECTOR_INLINE d_vector d_load_between(const double *p, int m, int n) {
    return _mm256_maskload_pd(p, _mm256_castpd_si256(d_keep_between(m, n)));
}
VECTOR_INLINE s_vector s_fma_where(s_keep keep, s_vector a, s_vector b, s_vector c) {
    return _mm256_blendv_ps(c, s_fma(a, b, c), keep);
}
VECTOR_INLINE d_vector d_fma_where(d_keep keep, d_vector a, d_vector b, d_vector c) {
    return _mm256_blendv_pd(c, d_fma(a, b, c), keep);
}

VECTOR_INLINE __m256 s_halves(s_vector v) { return v; }
VECTOR_INLINE __m256d d_halves(d_vector v) { return v; }
VECTOR_INLINE __m256 s_larger_half(s_vector v) { return v; }
VECTOR_INLINE __m256d d_larger_half(d_vector v) { return v; }

typedef __m256 s_truth;
typedef __m256d d_truth;
VECTOR_INLINE s_truth s_exceeds(s_vector a, s_vector b) { return _mm256_cmp_ps(a, b, _CMP_NLE_UQ); }
VECTOR_INLINE d_truth d_exceeds(d_vector a, d_vector b) { return _mm256_cmp_pd(a, b, _CMP_NLE_UQ); }
VECTOR_INLINE s_truth s_equals(s_vector a, s_vector b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
VECTOR_INLINE d_truth d_equals(d_vector a, d_vector b) { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); }
VECTOR_INLINE s_truth s_either(s_truth p, s_truth q) { return _mm256_or_ps(p, q); }
VECTOR_INLINE d_truth d_either(d_truth p, d_truth q) { return _mm256_or_pd(p, q); }
VECTOR_INLINE s_vector s_where(s_truth p, s_vector v) { return _mm256_and_ps(p, v); }
VECTOR_INLINE d_vector d_where(d_truth p, d_vector v) { return _mm256_and_pd(p, v); }
VECTOR_INLINE s_vector s_choose(s_truth p, s_vector a, s_vector b) {
    return _mm256_blendv_ps(b, a, p);
}
VECTOR_INLINE d_vector d_choose(d_truth p, d_vector a, d_vector b) {
    return _mm256_blendv_pd(b, a, p);
}
VECTOR_INLINE bool s_any(s_truth p) { return _mm256_movemask_ps(p) != 0; }
VECTOR_INLINE bool d_any(d_truth p) { return _mm256_movemask_pd(p) != 0; }
VECTOR_INLINE int s_place(s_truth p) { return __builtin_ctz((unsigned)_mm256_movemask_ps(p)); }
VECTOR_INLINE int d_place(d_truth p) { return __builtin_ctz((unsigned)_mm256_movemask_pd(p)); }

VECTOR_INLINE d_vector s_widen(const float *p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
VECTOR_INLINE d_vector s_widen_first(const float *p, int n) {
    return _mm256_cvtps_pd(
        _mm_maskload_ps(p, _mm_cmpgt_epi32(_mm_set1_epi32(n), _mm_setr_epi32(0, 1, 2, 3))));
}

VECTOR_INLINE void s_fold_four(const s_vector *v, float *p) {
    const __m256 ab = _mm256_add_ps(_mm256_permute2f128_ps(v[0], v[1], 0x20),
                                    _mm256_permute2f128_ps(v[0], v[1], 0x31)),
                 cd = _mm256_add_ps(_mm256_permute2f128_ps(v[2], v[3], 0x20),
                                    _mm256_permute2f128_ps(v[2], v[3], 0x31)),
                 all = _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44),
                                     _mm256_shuffle_ps(ab, cd, 0xEE)),
                 acbd = _mm256_hadd_ps(all, all);
    _mm_storeu_ps(p, _mm_unpacklo_ps(_mm256_castps256_ps128(acbd), _mm256_extractf128_ps(acbd, 1)));
}
VECTOR_INLINE void d_fold_four(const d_vector *v, double *p) {
    const __m256d ab = _mm256_add_pd(_mm256_permute2f128_pd(v[0], v[1], 0x20),
                                     _mm256_permute2f128_pd(v[0], v[1], 0x31)),
                  cd = _mm256_add_pd(_mm256_permute2f128_pd(v[2], v[3], 0x20),
                                     _mm256_permute2f128_pd(v[2], v[3], 0x31));
    _mm256_storeu_pd(p, _mm256_permute4x64_pd(_mm256_hadd_pd(ab, cd), 0xD8));
}

#else

#define KERNEL_SET(name) name##_generic
#define VECTOR_BYTES 16
#define VECTOR_MASKS false
#ifdef __aarch64__
#define VECTOR_REGISTERS 32
#else
#define VECTOR_REGISTERS 16
#endif

typedef float s_vector __attribute__((vector_size(16)));
typedef double d_vector __attribute__((vector_size(16)));
typedef int s_part;
typedef int d_part;
typedef int32_t s_truth __attribute__((vector_size(16)));
typedef int64_t d_truth __attribute__((vector_size(16)));

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
    return part == 2 ? d_load(p) : (d_vector){part > 0 ? p[0] : 0, part > 1 ? p[1] : 0};
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
VECTOR_INLINE s_vector s_pick(const float *const *p, ptrdiff_t at) {
    return (s_vector){p[0][at], p[1][at], p[2][at], p[3][at]};
}
VECTOR_INLINE d_vector d_pick(const double *const *p, ptrdiff_t at) {
    return (d_vector){p[0][at], p[1][at]};
}

VECTOR_INLINE s_vector s_turn(s_vector v) { return (s_vector){-v[1], v[0], -v[3], v[2]}; }
VECTOR_INLINE d_vector d_turn(d_vector v) { return (d_vector){-v[1], v[0]}; }
VECTOR_INLINE s_vector s_conjugate(s_vector v) { return (s_vector){v[0], -v[1], v[2], -v[3]}; }
VECTOR_INLINE d_vector d_conjugate(d_vector v) { return (d_vector){v[0], -v[1]}; }
VECTOR_INLINE s_vector s_splat_pair(const float *p) { return (s_vector){p[0], p[1], p[0], p[1]}; }
VECTOR_INLINE d_vector d_splat_pair(const double *p) { return d_load(p); }
VECTOR_INLINE s_vector s_even(s_vector v) { return (s_vector){v[0], v[0], v[2], v[2]}; }
VECTOR_INLINE d_vector d_even(d_vector v) { return (d_vector){v[0], v[0]}; }
VECTOR_INLINE s_vector s_odd(s_vector v) { return (s_vector){v[1], v[1], v[3], v[3]}; }
VECTOR_INLINE d_vector d_odd(d_vector v) { return (d_vector){v[1], v[1]}; }

VECTOR_INLINE s_vector s_load_twice(const float *p) { return (s_vector){p[0], p[0], p[1], p[1]}; }
VECTOR_INLINE d_vector d_load_twice(const double *p) { return (d_vector){p[0], p[0]}; }

typedef int s_keep __attribute__((vector_size(16)));
typedef int64_t d_keep __attribute__((vector_size(16)));
VECTOR_INLINE s_keep s_keep_from(int n) { return (s_keep){0, 1, 2, 3} >= n; }
VECTOR_INLINE d_keep d_keep_from(int n) { return (d_keep){0, 1} >= n; }
VECTOR_INLINE s_keep s_keep_before(int n) { return (s_keep){0, 1, 2, 3} < n; }
VECTOR_INLINE d_keep d_keep_before(int n) { return (d_keep){0, 1} < n; }
VECTOR_INLINE s_keep s_keep_between(int m, int n) { return s_keep_from(m) & s_keep_before(n); }
VECTOR_INLINE d_keep d_keep_between(int m, int n) { return d_keep_from(m) & d_keep_before(n); }
VECTOR_INLINE s_vector s_load_between(const float *p, int m, int n) {
    return m <= 0 ? s_load_part(p, n < 4 ? n : 4)
                  : (s_vector){0, m < 2 && n > 1 ? p[1] : 0, m < 3 && n > 2 ? p[2] : 0,
                               m < 4 && n > 3 ? p[3] : 0};
}
VECTOR_INLINE d_vector d_load_between(const double *p, int m, int n) {
    return m <= 0 ? d_load_part(p, n < 2 ? n : 2) : (d_vector){0, m < 2 && n > 1 ? p[1] : 0};
}

#ifdef __aarch64__
#define VECTOR_FMA 1
VECTOR_INLINE s_vector s_fma(s_vector a, s_vector b, s_vector c) { return vfmaq_f32(c, a, b); }
VECTOR_INLINE d_vector d_fma(d_vector a, d_vector b, d_vector c) { return vfmaq_f64(c, a, b); }
VECTOR_INLINE s_vector s_fnma(s_vector a, s_vector b, s_vector c) { return vfmsq_f32(c, a, b); }
VECTOR_INLINE d_vector d_fnma(d_vector a, d_vector b, d_vector c) { return vfmsq_f64(c, a, b); }
VECTOR_INLINE float s_fma_one(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
VECTOR_INLINE double d_fma_one(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
#define VECTOR_FMA 0
VECTOR_INLINE s_vector s_fma(s_vector a, s_vector b, s_vector c) { return a * b + c; }
VECTOR_INLINE d_vector d_fma(d_vector a, d_vector b, d_vector c) { return a * b + c; }
VECTOR_INLINE s_vector s_fnma(s_vector a, s_vector b, s_vector c) { return c - a * b; }
VECTOR_INLINE d_vector d_fnma(d_vector a, d_vector b, d_vector c) { return c - a * b; }
VECTOR_INLINE float s_fma_one(float a, float b, float c) { return a * b + c; }
VECTOR_INLINE double d_fma_one(double a, double b, double c) { return a * b + c; }
#endif

VECTOR_INLINE s_vector s_abs(s_vector v) {
    return (s_vector)((s_truth)v & (s_truth){INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX});
}
VECTOR_INLINE d_vector d_abs(d_vector v) {
    return (d_vector)((d_truth)v & (d_truth){INT64_MAX, INT64_MAX});
}
VECTOR_INLINE s_vector s_max(s_vector a, s_vector b) {
    const s_truth larger = a > b;
    return (s_vector)((larger & (s_truth)a) | (~larger & (s_truth)b));
}
VECTOR_INLINE d_vector d_max(d_vector a, d_vector b) {
    const d_truth larger = a > b;
    return (d_vector)((larger & (d_truth)a) | (~larger & (d_truth)b));
}
VECTOR_INLINE s_vector s_flip(s_vector v, s_vector signs) {
    return (s_vector)((s_truth)v ^ (s_truth)signs);
}
VECTOR_INLINE d_vector d_flip(d_vector v, d_vector signs) {
    return (d_vector)((d_truth)v ^ (d_truth)signs);
}
VECTOR_INLINE s_vector s_swap(s_vector v) { return (s_vector){v[1], v[0], v[3], v[2]}; }
VECTOR_INLINE d_vector d_swap(d_vector v) { return (d_vector){v[1], v[0]}; }

VECTOR_INLINE float s_fold(s_vector v) { return (v[0] + v[2]) + (v[1] + v[3]); }
VECTOR_INLINE double d_fold(d_vector v) { return v[0] + v[1]; }
VECTOR_INLINE void s_fold_four(const s_vector *v, float *p) {
    for (int k = 0; k < 4; k++)
        p[k] = s_fold(v[k]);
}
VECTOR_INLINE void d_fold_four(const d_vector *v, double *p) {
    for (int k = 0; k < 4; k++)
        p[k] = d_fold(v[k]);
}
VECTOR_INLINE void s_fold_pairs(s_vector v, float *p) { p[0] = v[0] + v[2], p[1] = v[1] + v[3]; }
VECTOR_INLINE void d_fold_pairs(d_vector v, double *p) { d_store(p, v); }
VECTOR_INLINE double d_largest(d_vector v) { return v[0] > v[1] ? v[0] : v[1]; }
VECTOR_INLINE float s_largest(s_vector v) {
    const float even = v[0] > v[2] ? v[0] : v[2], odd = v[1] > v[3] ? v[1] : v[3];
    return even > odd ? even : odd;
}

VECTOR_INLINE s_truth s_exceeds(s_vector a, s_vector b) { return ~(a <= b); }
VECTOR_INLINE d_truth d_exceeds(d_vector a, d_vector b) { return ~(a <= b); }
VECTOR_INLINE s_truth s_equals(s_vector a, s_vector b) { return a == b; }
VECTOR_INLINE d_truth d_equals(d_vector a, d_vector b) { return a == b; }
VECTOR_INLINE s_truth s_either(s_truth p, s_truth q) { return p | q; }
VECTOR_INLINE d_truth d_either(d_truth p, d_truth q) { return p | q; }
VECTOR_INLINE s_vector s_where(s_truth p, s_vector v) { return (s_vector)(p & (s_truth)v); }
VECTOR_INLINE d_vector d_where(d_truth p, d_vector v) { return (d_vector)(p & (d_truth)v); }
VECTOR_INLINE s_vector s_choose(s_truth p, s_vector a, s_vector b) {
    return (s_vector)((p & (s_truth)a) | (~p & (s_truth)b));
}
VECTOR_INLINE d_vector d_choose(d_truth p, d_vector a, d_vector b) {
    return (d_vector)((p & (d_truth)a) | (~p & (d_truth)b));
}
VECTOR_INLINE bool d_any(d_truth p) { return (p[0] | p[1]) != 0; }
VECTOR_INLINE bool s_any(s_truth p) { return d_any((d_truth)p); }
VECTOR_INLINE int s_place(s_truth p) { return p[0] ? 0 : p[1] ? 1 : p[2] ? 2 : 3; }
VECTOR_INLINE int d_place(d_truth p) { return p[0] ? 0 : 1; }

VECTOR_INLINE d_vector s_widen(const float *p) { return (d_vector){p[0], p[1]}; }
VECTOR_INLINE d_vector s_widen_first(const float *p, int n) {
    return (d_vector){n > 0 ? p[0] : 0, n > 1 ? p[1] : 0};
}

VECTOR_INLINE s_vector s_fma_where(s_keep keep, s_vector a, s_vector b, s_vector c) {
    return (s_vector)(((s_keep)s_fma(a, b, c) & keep) | ((s_keep)c & ~keep));
}
VECTOR_INLINE d_vector d_fma_where(d_keep keep, d_vector a, d_vector b, d_vector c) {
    return (d_vector)(((d_keep)d_fma(a, b, c) & keep) | ((d_keep)c & ~keep));
}

#endif

/* ---- What follows from these ---- */

#ifndef VECTOR_AVX512
VECTOR_INLINE s_vector s_load_piece(const float *p, s_part part) { return s_load_part(p, part); }
VECTOR_INLINE d_vector d_load_piece(const double *p, d_part part) { return d_load_part(p, part); }
VECTOR_INLINE void s_store_piece(float *p, s_vector v, s_part part) { s_store_part(p, v, part); }
VECTOR_INLINE void d_store_piece(double *p, d_vector v, d_part part) { d_store_part(p, v, part); }
VECTOR_INLINE bool s_is_piece(int64_t n) { return n < 0; }
VECTOR_INLINE bool d_is_piece(int64_t n) { return n < 0; }
#endif

#if defined(VECTOR_AVX512) || defined(VECTOR_AVX2)
VECTOR_INLINE __m128 s_quarters(s_vector v) {
    const __m256 half = s_halves(v);
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}
VECTOR_INLINE __m128 s_pair(s_vector v) {
    const __m128 four = s_quarters(v);
    return _mm_add_ps(four, _mm_movehl_ps(four, four));
}
VECTOR_INLINE __m128d d_pair(d_vector v) {
    const __m256d half = d_halves(v);
    return _mm_add_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd(half, 1));
}

VECTOR_INLINE float s_fold(s_vector v) {
    const __m128 pair = s_pair(v);
    return _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)));
}
VECTOR_INLINE double d_fold(d_vector v) {
    const __m128d pair = d_pair(v);
    return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
}
VECTOR_INLINE void s_fold_pairs(s_vector v, float *p) { _mm_storel_pi((__m64 *)p, s_pair(v)); }
VECTOR_INLINE void d_fold_pairs(d_vector v, double *p) { _mm_storeu_pd(p, d_pair(v)); }

VECTOR_INLINE float s_largest(s_vector v) {
    const __m256 half = s_larger_half(v);
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
    const __m128 pair = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(pair, _mm_movehdup_ps(pair)));
}
VECTOR_INLINE double d_largest(d_vector v) {
    const __m256d half = d_larger_half(v);
    const __m128d pair = _mm_max_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd(half, 1));
    return _mm_cvtsd_f64(_mm_max_sd(pair, _mm_unpackhi_pd(pair, pair)));
}

#endif

#ifndef VECTOR_GAINS
VECTOR_INLINE void s_gain(s_vector *sum, s_vector a, s_vector b) { *sum = s_fma(a, b, *sum); }
VECTOR_INLINE void d_gain(d_vector *sum, d_vector a, d_vector b) { *sum = d_fma(a, b, *sum); }
#endif

VECTOR_INLINE d_vector d_widen(const double *p) { return d_load(p); }
VECTOR_INLINE d_vector d_widen_first(const double *p, int n) { return d_load_part(p, d_first(n)); }
