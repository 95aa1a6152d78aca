/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Transposing in registers, for files that have included vector.h. No include guard.
 *
 *   t_narrow                     NARROW_BYTES: a vector, or half of one, in lanes of 16 bytes
 *   t_lanes(p, q)                the lanes at p and at q (of 16 bytes: the one at p)
 *   t_low(a, b) t_high(a, b)     in each lane the lower or upper halves of a and b by turns
 *   t_narrow_load t_narrow_store t_narrow_fma t_narrow_turn t_narrow_conjugate   as of vectors
 *   t_store_lanes(p, q, v)       the reverse of t_lanes()
 *   t_store_two(p, q, v, w)      the same of two, the second of which goes behind the first
 *   t_wide(a, b)                 the vector of two halves (where a narrow is a vector: a)
 *   t_half(v, k)                 half k of a vector as a narrow (where a narrow is a vector: v)
 *   t_transpose_lanes(v)         in each lane of as many narrows as it has reals: v[p] is what were
 *                                reals p of v[0], v[1], ...
 *   t_transpose(row, line)       NARROW_BYTES of as many lines as a narrow has reals: row[p] is
 *                                step p of all lines. t_transpose_complex: of half as many, of
 *                                complex numbers
 */

#if VECTOR_BYTES == 16
#define NARROW_BYTES 16
#else
#define NARROW_BYTES 32
#endif

#ifdef VECTOR_AVX512
typedef __m256 s_narrow;
typedef __m256d d_narrow;

VECTOR_INLINE s_narrow s_narrow_load(const float *p) { return _mm256_loadu_ps(p); }
VECTOR_INLINE d_narrow d_narrow_load(const double *p) { return _mm256_loadu_pd(p); }
VECTOR_INLINE void s_narrow_store(float *p, s_narrow v) { _mm256_storeu_ps(p, v); }
VECTOR_INLINE void d_narrow_store(double *p, d_narrow v) { _mm256_storeu_pd(p, v); }
VECTOR_INLINE s_vector s_wide(s_narrow a, s_narrow b) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1);
}
VECTOR_INLINE d_vector d_wide(d_narrow a, d_narrow b) {
    return _mm512_insertf64x4(_mm512_castpd256_pd512(a), b, 1);
}
VECTOR_INLINE s_narrow s_half(s_vector v, int k) {
    return k == 0 ? _mm512_castps512_ps256(v) : _mm512_extractf32x8_ps(v, 1);
}
VECTOR_INLINE d_narrow d_half(d_vector v, int k) {
    return k == 0 ? _mm512_castpd512_pd256(v) : _mm512_extractf64x4_pd(v, 1);
}
VECTOR_INLINE s_narrow s_narrow_fma(s_narrow a, s_narrow b, s_narrow c) {
    return _mm256_fmadd_ps(a, b, c);
}
VECTOR_INLINE d_narrow d_narrow_fma(d_narrow a, d_narrow b, d_narrow c) {
    return _mm256_fmadd_pd(a, b, c);
}
VECTOR_INLINE s_narrow s_narrow_turn(s_narrow v) {
    return _mm256_xor_ps(_mm256_permute_ps(v, 0xB1),
                         _mm256_castsi256_ps(_mm256_set1_epi64x(0x80000000)));
}
VECTOR_INLINE d_narrow d_narrow_turn(d_narrow v) {
    return _mm256_xor_pd(_mm256_permute_pd(v, 0x5), _mm256_setr_pd(-0.0, 0, -0.0, 0));
}
VECTOR_INLINE s_narrow s_narrow_conjugate(s_narrow v) {
    return _mm256_xor_ps(v, _mm256_castsi256_ps(_mm256_set1_epi64x(INT64_MIN)));
}
VECTOR_INLINE d_narrow d_narrow_conjugate(d_narrow v) {
    return _mm256_xor_pd(v, _mm256_setr_pd(0, -0.0, 0, -0.0));
}
#else
typedef s_vector s_narrow;
typedef d_vector d_narrow;

VECTOR_INLINE s_narrow s_narrow_load(const float *p) { return s_load(p); }
VECTOR_INLINE d_narrow d_narrow_load(const double *p) { return d_load(p); }
VECTOR_INLINE void s_narrow_store(float *p, s_narrow v) { s_store(p, v); }
VECTOR_INLINE void d_narrow_store(double *p, d_narrow v) { d_store(p, v); }
VECTOR_INLINE s_vector s_wide(s_narrow a, s_narrow b) {
    (void)b;
    return a;
}
VECTOR_INLINE d_vector d_wide(d_narrow a, d_narrow b) {
    (void)b;
    return a;
}
VECTOR_INLINE s_narrow s_half(s_vector v, int k) {
    (void)k;
    return v;
}
VECTOR_INLINE d_narrow d_half(d_vector v, int k) {
    (void)k;
    return v;
}
VECTOR_INLINE s_narrow s_narrow_fma(s_narrow a, s_narrow b, s_narrow c) { return s_fma(a, b, c); }
VECTOR_INLINE d_narrow d_narrow_fma(d_narrow a, d_narrow b, d_narrow c) { return d_fma(a, b, c); }
VECTOR_INLINE s_narrow s_narrow_turn(s_narrow v) { return s_turn(v); }
VECTOR_INLINE d_narrow d_narrow_turn(d_narrow v) { return d_turn(v); }
VECTOR_INLINE s_narrow s_narrow_conjugate(s_narrow v) { return s_conjugate(v); }
VECTOR_INLINE d_narrow d_narrow_conjugate(d_narrow v) { return d_conjugate(v); }
#endif

/* A lane is inserted as it is loaded: shuffles are what transposing waits for. */
#if defined(VECTOR_AVX512) || defined(VECTOR_AVX2)
VECTOR_INLINE s_narrow s_lanes(const float *p, const float *q) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(q), 1);
}
VECTOR_INLINE d_narrow d_lanes(const double *p, const double *q) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p)), _mm_loadu_pd(q), 1);
}
VECTOR_INLINE void s_store_lanes(float *p, float *q, s_narrow v) {
    _mm_storeu_ps(p, _mm256_castps256_ps128(v)), _mm_storeu_ps(q, _mm256_extractf128_ps(v, 1));
}
VECTOR_INLINE void d_store_lanes(double *p, double *q, d_narrow v) {
    _mm_storeu_pd(p, _mm256_castpd256_pd128(v)), _mm_storeu_pd(q, _mm256_extractf128_pd(v, 1));
}
VECTOR_INLINE void s_store_two(float *p, float *q, s_narrow v, s_narrow w) {
    _mm256_storeu_ps(p, _mm256_permute2f128_ps(v, w, 0x20));
    _mm256_storeu_ps(q, _mm256_permute2f128_ps(v, w, 0x31));
}
VECTOR_INLINE void d_store_two(double *p, double *q, d_narrow v, d_narrow w) {
    _mm256_storeu_pd(p, _mm256_permute2f128_pd(v, w, 0x20));
    _mm256_storeu_pd(q, _mm256_permute2f128_pd(v, w, 0x31));
}
VECTOR_INLINE s_narrow s_low(s_narrow a, s_narrow b) { return _mm256_unpacklo_ps(a, b); }
VECTOR_INLINE d_narrow d_low(d_narrow a, d_narrow b) { return _mm256_unpacklo_pd(a, b); }
VECTOR_INLINE s_narrow s_high(s_narrow a, s_narrow b) { return _mm256_unpackhi_ps(a, b); }
VECTOR_INLINE d_narrow d_high(d_narrow a, d_narrow b) { return _mm256_unpackhi_pd(a, b); }
#else
VECTOR_INLINE s_narrow s_lanes(const float *p, const float *q) {
    (void)q;
    return s_load(p);
}
VECTOR_INLINE d_narrow d_lanes(const double *p, const double *q) {
    (void)q;
    return d_load(p);
}
VECTOR_INLINE void s_store_lanes(float *p, float *q, s_narrow v) {
    (void)q;
    s_store(p, v);
}
VECTOR_INLINE void d_store_lanes(double *p, double *q, d_narrow v) {
    (void)q;
    d_store(p, v);
}
VECTOR_INLINE void s_store_two(float *p, float *q, s_narrow v, s_narrow w) {
    (void)q;
    s_store(p, v), s_store(p + 4, w);
}
VECTOR_INLINE void d_store_two(double *p, double *q, d_narrow v, d_narrow w) {
    (void)q;
    d_store(p, v), d_store(p + 2, w);
}
VECTOR_INLINE s_narrow s_low(s_narrow a, s_narrow b) {
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
}
VECTOR_INLINE d_narrow d_low(d_narrow a, d_narrow b) { return __builtin_shufflevector(a, b, 0, 2); }
VECTOR_INLINE s_narrow s_high(s_narrow a, s_narrow b) {
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
}
VECTOR_INLINE d_narrow d_high(d_narrow a, d_narrow b) {
    return __builtin_shufflevector(a, b, 1, 3);
}
#endif

#define NARROW_LANES (NARROW_BYTES / 16)

VECTOR_INLINE void s_transpose_lanes(s_narrow *v) {
    const d_narrow ab_low = (d_narrow)s_low(v[0], v[1]), ab_high = (d_narrow)s_high(v[0], v[1]),
                   cd_low = (d_narrow)s_low(v[2], v[3]), cd_high = (d_narrow)s_high(v[2], v[3]);
    v[0] = (s_narrow)d_low(ab_low, cd_low), v[1] = (s_narrow)d_high(ab_low, cd_low);
    v[2] = (s_narrow)d_low(ab_high, cd_high), v[3] = (s_narrow)d_high(ab_high, cd_high);
}
VECTOR_INLINE void d_transpose_lanes(d_narrow *v) {
    const d_narrow low = d_low(v[0], v[1]);
    v[1] = d_high(v[0], v[1]), v[0] = low;
}

VECTOR_INLINE void s_transpose(s_narrow *row, const float *const *line) {
    const float *const *other = line + 4 * (NARROW_LANES - 1);

    VECTOR_UNROLL
    for (int p = 0; p < 4 * NARROW_LANES; p += 4) {
        VECTOR_UNROLL
        for (int i = 0; i < 4; i++)
            row[p + i] = s_lanes(line[i] + p, other[i] + p);
        s_transpose_lanes(row + p);
    }
}

VECTOR_INLINE void d_transpose(d_narrow *row, const double *const *line) {
    const double *const *other = line + 2 * (NARROW_LANES - 1);

    VECTOR_UNROLL
    for (int p = 0; p < 2 * NARROW_LANES; p += 2) {
        VECTOR_UNROLL
        for (int i = 0; i < 2; i++)
            row[p + i] = d_lanes(line[i] + p, other[i] + p);
        d_transpose_lanes(row + p);
    }
}

/* A complex float is moved as a double is. */
VECTOR_INLINE void s_transpose_complex(s_narrow *row, const float *const *line) {
    const float *const *other = line + 2 * (NARROW_LANES - 1);

    VECTOR_UNROLL
    for (int p = 0; p < 2 * NARROW_LANES; p += 2) {
        const d_narrow a = (d_narrow)s_lanes(line[0] + 2 * p, other[0] + 2 * p),
                       b = (d_narrow)s_lanes(line[1] + 2 * p, other[1] + 2 * p);
        row[p] = (s_narrow)d_low(a, b), row[p + 1] = (s_narrow)d_high(a, b);
    }
}

VECTOR_INLINE void d_transpose_complex(d_narrow *row, const double *const *line) {
    const double *const *other = line + NARROW_LANES - 1;

    VECTOR_UNROLL
    for (int p = 0; p < NARROW_LANES; p++)
        row[p] = d_lanes(line[0] + 2 * p, other[0] + 2 * p);
}
