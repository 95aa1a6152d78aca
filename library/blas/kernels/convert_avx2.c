/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "blas/kernels/convert.h"

#include <immintrin.h>
#include <string.h>

enum { HALVES = 8 }; /* of an instruction */

static inline void widen(float *to, const jfloat16_t *from) {
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128((const void *)from)));
}

static inline void narrow(jfloat16_t *to, const float *from) {
    _mm_storeu_si128((void *)to, _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
}

void ji_f32_from_f16_avx2(float *to, const jfloat16_t *from, int64_t n) {
    int64_t i = 0;
    for (; i + HALVES <= n; i += HALVES)
        widen(to + i, from + i);
    if (i == n)
        return;

    jfloat16_t last[HALVES] = {{0}};
    float wide[HALVES];
    memcpy(last, from + i, (size_t)(n - i) * sizeof *last);
    widen(wide, last);
    memcpy(to + i, wide, (size_t)(n - i) * sizeof *wide);
}

void ji_f16_from_f32_avx2(jfloat16_t *to, const float *from, int64_t n) {
    int64_t i = 0;
    for (; i + HALVES <= n; i += HALVES)
        narrow(to + i, from + i);
    if (i == n)
        return;

    float last[HALVES] = {0};
    jfloat16_t half[HALVES];
    memcpy(last, from + i, (size_t)(n - i) * sizeof *last);
    narrow(half, last);
    memcpy(to + i, half, (size_t)(n - i) * sizeof *half);
}

/* No instruction, but wider vectors. */
void ji_bf16_from_f32_avx2(jbfloat16_t *restrict to, const float *restrict from, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        to[i] = jalloc_bf16_from_f32(from[i]);
}
