/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Complex matrices to real ones and back: JI_SPLIT and JI_MERGE on the host. Both are bound by
 * memory, so they are plain loops down the columns, one text for float and double. */

#include "blas/blas.h"
#include "blas/primitives/split.h"

#define SPLIT_DEFINE(letter, real)                                                                 \
    static void split_##letter(const ji_split_t *call) {                                           \
        size_t size = (size_t)(call->m * call->n);                                                 \
        real *re = call->parts, *im = re + size, *sum = im + size;                                 \
        real sign = call->conjugate ? -1 : 1;                                                      \
        for (int64_t j = 0; j < call->n; j++, re += call->m, im += call->m, sum += call->m) {      \
            const real *restrict a = (const real *)call->a + 2 * j * call->lda;                    \
            real *restrict to_re = re, *restrict to_im = im, *restrict to_sum = sum;               \
            for (int64_t i = 0; i < call->m; i++) {                                                \
                real x = a[2 * i], y = sign * a[2 * i + 1];                                        \
                to_re[i] = x, to_im[i] = y, to_sum[i] = x + y;                                     \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void merge_##letter(const ji_merge_t *call) {                                           \
        const real *alpha = ji_scalar_data(&call->alpha), *beta = ji_scalar_data(&call->beta);     \
        real ar = alpha[0], ai = alpha[1], br = beta[0], bi = beta[1];                             \
        bool product = ar != 0 || ai != 0, read = br != 0 || bi != 0,                              \
             plain = ar == 1 && ai == 0 && br == 1 && bi == 0;                                     \
        size_t size = (size_t)(call->m * call->n);                                                 \
        for (int64_t j = 0; j < call->n; j++) {                                                    \
            const real *restrict p0 = (const real *)call->products + j * call->m;                  \
            const real *restrict p1 = p0 + size;                                                   \
            const real *restrict p2 = p1 + size;                                                   \
            real *restrict c = (real *)call->c + 2 * j * call->ldc;                                \
            if (plain)                                                                             \
                for (int64_t i = 0; i < call->m; i++) {                                            \
                    c[2 * i] += p0[i] - p1[i];                                                     \
                    c[2 * i + 1] += p2[i] - p0[i] - p1[i];                                         \
                }                                                                                  \
            else                                                                                   \
                for (int64_t i = 0; i < call->m; i++) {                                            \
                    real pr = product ? p0[i] - p1[i] : 0,                                         \
                         pi = product ? p2[i] - p0[i] - p1[i] : 0;                                 \
                    real cr = read ? c[2 * i] : 0, ci = read ? c[2 * i + 1] : 0;                   \
                    c[2 * i] = ar * pr - ai * pi + (br * cr - bi * ci);                            \
                    c[2 * i + 1] = ar * pi + ai * pr + (br * ci + bi * cr);                        \
                }                                                                                  \
        }                                                                                          \
    }
SPLIT_DEFINE(c, float)
SPLIT_DEFINE(z, double)

void ji_host_split(void *block) {
    const ji_split_t *call = block;
    (call->type == JDATATYPE_F32_C ? split_c : split_z)(call);
}

void ji_host_merge(void *block) {
    const ji_merge_t *call = block;
    (call->type == JDATATYPE_F32_C ? merge_c : merge_z)(call);
}
