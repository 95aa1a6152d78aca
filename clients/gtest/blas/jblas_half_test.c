/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* 16-bit numbers: their conversions, and what is special of their gemm. That gemm is right for all
 * arguments, keeps to its workspace and refuses what it must is tested with all other functions,
 * whose table it is in. */

#include "jblas_routines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jalloc/jalloc.h"

/* The value of a 16-bit pattern, by what its fields mean. */
static double value_of(uint16_t bits, int fraction_bits) {
    const int exponent_bits = 15 - fraction_bits, bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1),
              fraction = bits & ((1 << fraction_bits) - 1);
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1 + ldexp(fraction, -fraction_bits), exponent - bias)
                            : ldexp(fraction, 1 - bias - fraction_bits));
}

static float narrowed_and_back(float x, bool f16) {
    return f16 ? jalloc_f32_from_f16(jalloc_f16_from_f32(x))
               : jalloc_f32_from_bf16(jalloc_bf16_from_f32(x));
}

JTEST(JallocHalf, EachPatternHasItsValueAndComesBack) {
    for (int f16 = 0; f16 < 2; ++f16)
        for (unsigned bits = 0; bits < 65536; ++bits) {
            const jfloat16_t h = {(uint16_t)bits};
            const jbfloat16_t b = {(uint16_t)bits};
            const float value = f16 ? jalloc_f32_from_f16(h) : jalloc_f32_from_bf16(b);
            const double want = value_of((uint16_t)bits, f16 ? 10 : 7);
            const unsigned back =
                f16 ? jalloc_f16_from_f32(value).bits : jalloc_bf16_from_f32(value).bits;
            if (isnan(want)) {
                JASSERT_TRUE(isnan(value) && (signbit(value) != 0) == (bits >> 15));
                JASSERT_EQ(back, bits | (f16 ? 0x200u : 0x40u)); /* the payload stays, quiet */
            } else {
                JASSERT_TRUE((double)value == want && (signbit(value) != 0) == (bits >> 15));
                JASSERT_EQ(back, bits);
            }
        }
}

/* Between each two neighbours: just below the middle, the middle, just above it. */
JTEST(JallocHalf, RoundsToTheNearestTiesToEven) {
    for (int f16 = 0; f16 < 2; ++f16) {
        const unsigned end = f16 ? 0x7bffu : 0x7f7fu; /* the largest finite one */
        for (unsigned bits = 0; bits < end; ++bits) {
            const float low = (float)value_of((uint16_t)bits, f16 ? 10 : 7);
            const float high = (float)value_of((uint16_t)(bits + 1), f16 ? 10 : 7);
            const float middle = (float)(((double)low + high) / 2), even = bits & 1 ? high : low;
            const float below = nextafterf(middle, 0), above = nextafterf(middle, INFINITY);
            JASSERT_TRUE(narrowed_and_back(below, f16) == low);
            JASSERT_TRUE(narrowed_and_back(middle, f16) == even);
            JASSERT_TRUE(narrowed_and_back(above, f16) == high);
            JASSERT_TRUE(narrowed_and_back(-middle, f16) == -even);
        }
    }
    JEXPECT_EQ(jalloc_f16_from_f32(65519.996f).bits, 0x7bff);
    JEXPECT_EQ(jalloc_f16_from_f32(65520.0f).bits, 0x7c00); /* as far as the next one would be */
    JEXPECT_EQ(jalloc_f16_from_f32(-1e30f).bits, 0xfc00);
    JEXPECT_EQ(jalloc_bf16_from_f32(3.4e38f).bits, 0x7f80);
    JEXPECT_EQ(jalloc_f16_from_f32(-1e-30f).bits, 0x8000);
}

/* Sums that need more than 16 bits on the way: 1 + 2048 small ones. */
JTEST(JblasHalf, IsSummedInFloat) {
    enum { K = 2049 };
    static jfloat16_t a[K], b[K];
    static jbfloat16_t x[K], y[K];
    const float one = 1, zero = 0;
    jfloat16_t c = {0};
    jbfloat16_t z = {0};
    jhandle_t *handle = NULL;
    for (int i = 0; i < K; ++i) {
        a[i] = jalloc_f16_from_f32(1), b[i] = jalloc_f16_from_f32(i == 0 ? 1.0f : 0x1p-11f);
        x[i] = jalloc_bf16_from_f32(1), y[i] = jalloc_bf16_from_f32(i == 0 ? 1.0f : 0x1p-11f);
    }
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jblas_hgemm(handle, JBLAS_TRANSPOSE, JBLAS_NO_TRANSPOSE, 1, 1, K, &one, a, K, b, K,
                           &zero, &c, 1));
    JEXPECT_EQ(jalloc_f32_from_f16(c), 2);
    JEXPECT_OK(jblas_bgemm(handle, JBLAS_TRANSPOSE, JBLAS_NO_TRANSPOSE, 1, 1, K, &one, x, K, y, K,
                           &zero, &z, 1));
    JEXPECT_EQ(jalloc_f32_from_bf16(z), 2);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* alpha, beta and the sum meet in float: what would overflow or round on the way does not. */
JTEST(JblasHalf, IsRoundedOnce) {
    const float alpha = 0x1p-10f, beta = -1;
    jfloat16_t a = jalloc_f16_from_f32(60000), b = jalloc_f16_from_f32(60000),
               c = jalloc_f16_from_f32(1);
    /* 3.6e9 would be infinite */
    const float product = 60000.0f * jalloc_f32_from_f16(b) * 0x1p-10f;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jblas_hgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, 1, 1, 1, &alpha, &a, 1,
                           &b, 1, &beta, &c, 1));
    JEXPECT_EQ(c.bits, jalloc_f16_from_f32(product - 1).bits);
    /* 2048 + 1 + 1: a sum of halves would stay at 2048 */
    const float one = 1;
    const jfloat16_t pair[2] = {jalloc_f16_from_f32(1), jalloc_f16_from_f32(1)};
    c = jalloc_f16_from_f32(2048);
    JEXPECT_OK(jblas_hgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, 1, 1, 2, &one, pair, 1,
                           pair, 2, &one, &c, 1));
    JEXPECT_EQ(jalloc_f32_from_f16(c), 2050);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Blocks of sums end at 512 x 1024, panels at a depth of 256; some elements around those ends, by
 * each rung in exactly its bytes: with the same bits. */
JTEST(JblasHalf, SizesBeyondOnePanel) {
    static const int functions[] = {BLAS_INDEX_hgemm, BLAS_INDEX_bgemm};
    static const int64_t shapes[][3] = {
        {520, 40, 140}, {40, 1030, 70}, {70, 70, 1100}, {513, 514, 515}};
    jhandle_t *handle = NULL;
    if (!blas_is_own())
        JSKIP("the CBLAS computes");
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (size_t f = 0; f < 2; ++f)
        for (size_t s = 0; s < 4; ++s) {
            const blas_function_t *function = &blas_functions[functions[f]];
            const jblas_operation_t transa =
                jtest_random_bool() ? JBLAS_TRANSPOSE : JBLAS_NO_TRANSPOSE;
            const int64_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
            const int64_t lda = (transa == JBLAS_TRANSPOSE ? k : m) + 1, ldb = k + 3, ldc = m + 2;
            const int64_t a_count = lda * (transa == JBLAS_TRANSPOSE ? m : k), b_count = ldb * n,
                          c_count = ldc * n;
            uint16_t *a = jtest_guard_pages((size_t)a_count * 2),
                     *b = jtest_guard_pages((size_t)b_count * 2);
            uint16_t *c = jtest_guard_pages((size_t)c_count * 2);
            const int type = (int)function->type;
            const float alpha = 0.75f, beta = 0;
            for (int64_t i = 0; i < a_count; ++i)
                wide_put(a, type, i, jtest_random_double(-1, 1));
            for (int64_t i = 0; i < b_count; ++i)
                wide_put(b, type, i, jtest_random_double(-1, 1));
            uint16_t *first = malloc((size_t)c_count * 2);
            for (int round = 0; round < 3; ++round) { /* packed, packed-small, in place */
                size_t bytes = 0;
                memset(c, 0xff, (size_t)c_count * 2);
#define CALL()                                                                                     \
    (type == JDATATYPE_F16 ? jblas_hgemm(handle, transa, JBLAS_NO_TRANSPOSE, m, n, k, &alpha,      \
                                         (void *)a, lda, (void *)b, ldb, &beta, (void *)c, ldc)    \
                           : jblas_bgemm(handle, transa, JBLAS_NO_TRANSPOSE, m, n, k, &alpha,      \
                                         (void *)a, lda, (void *)b, ldb, &beta, (void *)c, ldc))
                JEXPECT_OK(jhandle_start_size_query(handle));
                (void)CALL();
                JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
                JASSERT_GT(bytes, 0);
                const size_t given = round == 0 ? bytes : round == 1 ? bytes - 64 : 64;
                JEXPECT_OK(
                    jhandle_set_workspace(handle, blas_guard_pages(given, JDATATYPE_F32), given));
                JEXPECT_STATUS(CALL(), round ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
                JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
                for (int probe = 0; probe < 400; ++probe) {
                    const int64_t i = probe == 0 ? m - 1 : jtest_random_between(0, m - 1);
                    const int64_t j = probe == 0 ? n - 1 : jtest_random_between(0, n - 1);
                    long double sum = 0, bound = 0;
                    for (int64_t l = 0; l < k; ++l) {
                        const long double x = __real__ wide_get(
                            a, type, transa == JBLAS_TRANSPOSE ? l + i * lda : i + l * lda);
                        const long double y = __real__ wide_get(b, type, l + j * ldb);
                        sum += x * y, bound += fabsl(x * y);
                    }
                    const long double want = alpha * sum,
                                      got = __real__ wide_get(c, type, i + j * ldc);
                    JASSERT_LE((double)fabsl(got - want),
                               (double)(0.501L * wide_epsilon(type) * fabsl(want) + 0x1p-25L +
                                        0x1p-22L * (long double)(k + 8) * bound));
                }
                JEXPECT_EQ(c[m], 0xffff); /* between the columns */
                if (round == 0)
                    memcpy(first, c, (size_t)c_count * 2);
                JEXPECT_EQ(memcmp(first, c, (size_t)c_count * 2), 0);
            }
            free(first);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}
