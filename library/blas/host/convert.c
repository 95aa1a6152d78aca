/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A loop for each pair of types. A double becomes 16 bits by way of a float that is rounded to odd:
 * toward zero, and its last bit set where that is not exact. A float has more than two bits beyond
 * those of 16 bits, of subnormals too, so what it is then rounded to is what the double would have
 * been (Boldo, Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
 * rounding to odd", 2008). */

#include "blas/host/convert.h"

#include <math.h>

#include "blas/kernels/convert.h"
#include "blas/kernels/kernels.h"

static inline float convert_to_odd(double x) {
    const float nearest = (float)x;
    if ((double)nearest == x || isnan(x))
        return nearest;

    /* One less is next to it toward zero; from an infinity, the largest float, which is odd. */
    uint32_t bits = jalloc_f32_bits_(nearest);
    if (fabs((double)nearest) > fabs(x))
        bits -= 1;
    return jalloc_f32_of_bits_(bits | 1);
}

#define CONVERT_F16_OF_F64(x) jalloc_f16_from_f32(convert_to_odd(x))
#define CONVERT_BF16_OF_F64(x) jalloc_bf16_from_f32(convert_to_odd(x))
#define CONVERT_F64_OF_F16(x) (double)jalloc_f32_from_f16(x)
#define CONVERT_F64_OF_BF16(x) (double)jalloc_f32_from_bf16(x)

/* X(to, its type, from, its type, element) */
#define CONVERT_LIST(X)                                                                            \
    X(F32, float, F16, jfloat16_t, jalloc_f32_from_f16)                                            \
    X(F32, float, BF16, jbfloat16_t, jalloc_f32_from_bf16)                                         \
    X(F32, float, I8, int8_t, (float))                                                             \
    X(F64, double, F16, jfloat16_t, CONVERT_F64_OF_F16)                                            \
    X(F64, double, BF16, jbfloat16_t, CONVERT_F64_OF_BF16)                                         \
    X(F64, double, F32, float, (double))                                                           \
    X(F64_C, jcomplex_f64_t, F32_C, jcomplex_f32_t, (jcomplex_f64_t))                              \
    X(F16, jfloat16_t, F32, float, jalloc_f16_from_f32)                                            \
    X(BF16, jbfloat16_t, F32, float, jalloc_bf16_from_f32)                                         \
    X(F16, jfloat16_t, F64, double, CONVERT_F16_OF_F64)                                            \
    X(BF16, jbfloat16_t, F64, double, CONVERT_BF16_OF_F64)                                         \
    X(F32, float, F64, double, (float))                                                            \
    X(F32_C, jcomplex_f32_t, F64_C, jcomplex_f64_t, (jcomplex_f32_t))

/* Elements side by side in a loop of their own, of which a compiler makes vectors. */
#define CONVERT_DEFINE(to_name, T, from_name, F, element)                                          \
    static void convert_##from_name##_to_##to_name(void *to, int64_t to_step, const void *from,    \
                                                   int64_t from_step, int64_t n) {                 \
        T *restrict t = to;                                                                        \
        const F *restrict f = from;                                                                \
        if (to_step == 1 && from_step == 1)                                                        \
            for (int64_t i = 0; i < n; i++)                                                        \
                t[i] = element(f[i]);                                                              \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++)                                                        \
                t[i * to_step] = element(f[i * from_step]);                                        \
    }
CONVERT_LIST(CONVERT_DEFINE)

#if defined(__x86_64__)
/* Side by side, where the kernels in use may do it. */
#define CONVERT_FAST(from_name, to_name, kernel)                                                   \
    static void fast_##from_name##_to_##to_name(void *to, int64_t to_step, const void *from,       \
                                                int64_t from_step, int64_t n) {                    \
        if (to_step == 1 && from_step == 1)                                                        \
            kernel(to, from, n);                                                                   \
        else                                                                                       \
            convert_##from_name##_to_##to_name(to, to_step, from, from_step, n);                   \
    }
CONVERT_FAST(F16, F32, ji_f32_from_f16_avx2)
CONVERT_FAST(F32, F16, ji_f16_from_f32_avx2)
CONVERT_FAST(F32, BF16, ji_bf16_from_f32_avx2)

static ji_conversion_t convert_fast(jdatatype_t to, jdatatype_t from) {
    if (ji_kernels->vector_bytes < 32) /* generic */
        return NULL;
    if (to == JDATATYPE_F32)
        return from == JDATATYPE_F16 ? fast_F16_to_F32 : NULL;
    if (from != JDATATYPE_F32)
        return NULL;
    return to == JDATATYPE_F16 ? fast_F32_to_F16 : to == JDATATYPE_BF16 ? fast_F32_to_BF16 : NULL;
}
#else
static ji_conversion_t convert_fast(jdatatype_t to, jdatatype_t from) {
    return (void)to, (void)from, NULL;
}
#endif

ji_conversion_t ji_conversion(jdatatype_t to, jdatatype_t from) {
    static const ji_conversion_t conversions[JDATATYPE_I32 + 1][JDATATYPE_I32 + 1] = {
#define CONVERT_ENTER(to_name, T, from_name, F, element)                                           \
    [JDATATYPE_##to_name][JDATATYPE_##from_name] = convert_##from_name##_to_##to_name,
        CONVERT_LIST(CONVERT_ENTER)
#undef CONVERT_ENTER
    };
    const ji_conversion_t fast = convert_fast(to, from);
    return fast != NULL ? fast : conversions[to][from];
}
