/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Types as arguments. That these routines are right for random types and arguments, keep to their
 * workspace and refuse what others do is tested with all other functions. Here is what is theirs
 * alone: which types go together, one rounding at the end, exact integers, the bits of the routines
 * without _ex, and sizes beyond one panel. */

#include "blas/kernels/kernels.h"
#include "jblas_routines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which types go together ---- */

static bool is_one_of(jdatatype_t type, const char *names) {
    const char *at = strstr(names, jdatatype_name(type));
    return at != NULL && strchr(" ", at[strlen(jdatatype_name(type))]) != NULL;
}

/* What an operand's type in a compute type comes to, as the table of jblas_ex.h has it. */
static jstatus_t table_of(jdatatype_t type, jdatatype_t computed, bool written) {
    static const char *const fits[] = {"f16 bf16 f32", "f16 bf16 f32 f64", "f32_c", "f32_c f64_c"};
    static const char *const never[] = {"f64 f32_c f64_c", "f32_c f64_c", "f64 f64_c", ""};
    if (computed == JDATATYPE_I32)
        return type == (written ? JDATATYPE_I32 : JDATATYPE_I8) ? JSTATUS_SUCCESS
               : type == JDATATYPE_I8 || type == JDATATYPE_I32  ? JSTATUS_NOT_IMPLEMENTED
                                                                : JSTATUS_INVALID_VALUE;
    if (computed > JDATATYPE_F64_C)
        return JSTATUS_NOT_IMPLEMENTED;
    return is_one_of(type, fits[computed])    ? JSTATUS_SUCCESS
           : is_one_of(type, never[computed]) ? JSTATUS_INVALID_VALUE
                                              : JSTATUS_NOT_IMPLEMENTED;
}

static jstatus_t worse(jstatus_t a, jstatus_t b) {
    return a == JSTATUS_INVALID_VALUE || b == JSTATUS_SUCCESS ? a : b;
}

JTEST(JblasEx, EachCombinationOfTypesIsAsTheTableSays) {
    _Alignas(16) unsigned char one[16] = {0}, a[16] = {0}, b[16] = {0}, c[16] = {0};
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int all = 0; all < 8 * 8 * 8 * 8; ++all) {
        const jdatatype_t a_type = (jdatatype_t)(all & 7), b_type = (jdatatype_t)(all >> 3 & 7),
                          c_type = (jdatatype_t)(all >> 6 & 7),
                          computed = (jdatatype_t)(all >> 9 & 7);
        const jstatus_t want =
            worse(worse(table_of(a_type, computed, false), table_of(b_type, computed, false)),
                  table_of(c_type, computed, true));
        const jstatus_t got =
            jblas_gemm_ex(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, 1, 1, 1, one, a, a_type,
                          1, b, b_type, 1, one, c, c_type, 1, computed);
        JSCOPED_TRACE("%s %s %s in %s", jdatatype_name(a_type), jdatatype_name(b_type),
                      jdatatype_name(c_type), jdatatype_name(computed));
        JASSERT_STATUS(got, want);
        if (want == JSTATUS_SUCCESS)
            continue;
        JASSERT_SUBSTR(jhandle_last_message(handle), "jblas_gemm_ex: ");
        JASSERT_SUBSTR(jhandle_last_message(handle), jdatatype_name(a_type));
        JASSERT_SUBSTR(jhandle_last_message(handle), jdatatype_name(c_type));
        JASSERT_SUBSTR(jhandle_last_message(handle), jdatatype_name(computed));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- One rounding ---- */

static jstatus_t multiply_1(jhandle_t *handle, double a, double b, void *c, jdatatype_t c_type) {
    const double one = 1, zero = 0;
    return jblas_gemm_ex(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, 1, 1, 1, &one, &a,
                         JDATATYPE_F64, 1, &b, JDATATYPE_F64, 1, &zero, c, c_type, 1,
                         JDATATYPE_F64);
}

/* The 16-bit number nearest to x, by search among all; ties to the even one. */
static unsigned nearest_of(double x, bool f16) {
    const double inside = fabs(x);
    unsigned best = 0;
    double least = INFINITY;
    /* What follows the largest counts as infinity does. */
    for (unsigned bits = 0; bits <= (f16 ? 0x7c00u : 0x7f80u); ++bits) {
        const jfloat16_t h = {(uint16_t)bits};
        const jbfloat16_t b = {(uint16_t)bits};
        double value = f16 ? (double)jalloc_f32_from_f16(h) : (double)jalloc_f32_from_bf16(b);
        if (isinf(value))
            value = f16 ? 65536.0 : 0x1p128;
        const double apart = fabs(inside - value);
        if (apart < least || (apart == least && (bits & 1) == 0))
            least = apart, best = bits;
    }
    return best | (signbit(x) ? 0x8000u : 0);
}

/* Doubles beside the middle of two neighbours, nearer to it than any float is: by way of a float
 * they would be rounded twice. */
JTEST(JblasEx, DoublesAreRoundedOnceTo16Bits) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t round = 0; round < 300; ++round)
        for (int f16 = 0; f16 < 2; ++f16) {
            const unsigned low = (unsigned)jtest_random_between(0, f16 ? 0x7bff : 0x7f7f);
            const jfloat16_t h[2] = {{(uint16_t)low}, {(uint16_t)(low + 1)}};
            const jbfloat16_t b[2] = {{(uint16_t)low}, {(uint16_t)(low + 1)}};
            const double x = f16 ? (double)jalloc_f32_from_f16(h[0])
                                 : (double)jalloc_f32_from_bf16(b[0]),
                         next = low == (f16 ? 0x7bffu : 0x7f7fu) ? (f16 ? 65536 : 0x1p128)
                                : f16                            ? (double)jalloc_f32_from_f16(h[1])
                                      : (double)jalloc_f32_from_bf16(b[1]);
            const double middle = (x + next) / 2;
            const double cases[] = {middle, nextafter(middle, 0), nextafter(middle, INFINITY),
                                    nextafter(x, INFINITY), -nextafter(middle, 0)};
            for (int i = 0; i < 5; ++i) {
                uint16_t c = 0xffff;
                JASSERT_OK(
                    multiply_1(handle, cases[i], 1, &c, f16 ? JDATATYPE_F16 : JDATATYPE_BF16));
                JASSERT_EQ(c, nearest_of(cases[i], f16));
            }
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(JblasEx, WhatIsTooLargeBecomesInfinityAndNanStays) {
    uint16_t c = 0;
    float s = 0;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(multiply_1(handle, 65519.999999999, 1, &c, JDATATYPE_F16));
    JEXPECT_EQ(c, 0x7bff);
    JEXPECT_OK(multiply_1(handle, 65520, -1, &c, JDATATYPE_F16));
    JEXPECT_EQ(c, 0xfc00);
    JEXPECT_OK(multiply_1(handle, 1e300, 1e300, &c, JDATATYPE_BF16));
    JEXPECT_EQ(c, 0x7f80);
    JEXPECT_OK(multiply_1(handle, 1e300, 1, &c, JDATATYPE_BF16));
    JEXPECT_EQ(c, 0x7f80);
    JEXPECT_OK(multiply_1(handle, 1e200, 1, &s, JDATATYPE_F32));
    JEXPECT_TRUE(isinf(s));
    JEXPECT_OK(multiply_1(handle, INFINITY, 0, &s, JDATATYPE_F32));
    JEXPECT_TRUE(isnan(s));
    JEXPECT_OK(multiply_1(handle, NAN, 1, &c, JDATATYPE_F16));
    JEXPECT_EQ(c & 0x7fff, 0x7e00);
    JEXPECT_OK(multiply_1(handle, 0x1p-24, 0.50000001, &c, JDATATYPE_F16));
    JEXPECT_EQ(c, 1); /* the smallest there is */
    JEXPECT_OK(multiply_1(handle, 0x1p-24, 0.5, &c, JDATATYPE_F16));
    JEXPECT_EQ(c, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Integers ---- */

/* The extremes over a depth at which a float has long ceased to count, and scalars beyond 2^32. */
JTEST(JblasEx, IntegersAreExactModulo2To32) {
    enum { M = 37, N = 29, K = 4100 };
    static int8_t a[K * M], b[K * N];
    static int32_t c[M * N], before[M * N];
    static const int32_t scalars[] = {0, 1, -1, 3, INT32_MIN, INT32_MAX};
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t round = 0; round < 24; ++round) {
        const bool extreme = round % 2 == 0, scarce = round % 3 == 0;
        const int64_t k = round % 4 == 0 ? K : jtest_random_between(0, K);
        const int32_t alpha = scalars[jtest_random_between(0, 5)],
                      beta = scalars[jtest_random_between(0, 5)];
        for (int i = 0; i < K * M; ++i)
            a[i] = (int8_t)(extreme ? INT8_MIN : jtest_random_between(INT8_MIN, INT8_MAX));
        for (int i = 0; i < K * N; ++i)
            b[i] = (int8_t)(extreme ? INT8_MIN : jtest_random_between(INT8_MIN, INT8_MAX));
        for (int i = 0; i < M * N; ++i)
            before[i] = c[i] = (int32_t)jtest_random_between(INT32_MIN, INT32_MAX);
        JEXPECT_OK(jhandle_set_budget(handle, scarce ? 64 : JALLOC_UNLIMITED));
        const jstatus_t status = jblas_gemm_ex(handle, JBLAS_TRANSPOSE, JBLAS_NO_TRANSPOSE, M, N, k,
                                               &alpha, a, JDATATYPE_I8, K, b, JDATATYPE_I8, K,
                                               &beta, c, JDATATYPE_I32, M, JDATATYPE_I32);
        JEXPECT_FALSE(jstatus_is_error(status));
        for (int j = 0; j < N; ++j)
            for (int i = 0; i < M; ++i) {
                int64_t sum = 0;
                for (int64_t l = 0; l < k; ++l)
                    sum += a[l + i * K] * b[l + j * K];
                const uint32_t want =
                    (uint32_t)alpha * (uint32_t)sum + (uint32_t)beta * (uint32_t)before[i + j * M];
                JASSERT_EQ((uint32_t)c[i + j * M], want);
            }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Bits ---- */

/* C = alpha op(A) op(B) + beta C of some types, with other sizes than are multiples of anything. */
typedef struct product {
    jdatatype_t a_type, b_type, c_type, computed;
    int64_t m, n, k, lda, ldb, ldc;
    jblas_operation_t transa, transb;
    void *a, *b, *c, *before;
    _Alignas(16) unsigned char alpha[16], beta[16];
} product_t;

static size_t bytes_of(jdatatype_t type, int64_t elements) {
    return (size_t)elements * jdatatype_bytes(type);
}

static void *random_operand(jdatatype_t type, int64_t elements) {
    void *data = jtest_guard_pages(bytes_of(type, elements));
    for (int64_t i = 0; i < elements; ++i) {
        const bool integer = type == JDATATYPE_I8 || type == JDATATYPE_I32;
        wide_t value = integer ? (long double)jtest_random_between(-128, 127)
                               : (long double)jtest_random_double(-1, 1);
        if (wide_is_complex((int)type))
            __imag__ value = jtest_random_double(-1, 1);
        wide_put(data, (int)type, i, value);
    }
    return data;
}

static product_t random_product(jdatatype_t a, jdatatype_t b, jdatatype_t c, jdatatype_t computed,
                                int64_t m, int64_t n, int64_t k) {
    product_t p = {
        .a_type = a, .b_type = b, .c_type = c, .computed = computed, .m = m, .n = n, .k = k};
    p.transa = jtest_random_bool() ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE;
    p.transb = jtest_random_bool() ? JBLAS_TRANSPOSE : JBLAS_NO_TRANSPOSE;
    const bool flat_a = p.transa == JBLAS_NO_TRANSPOSE, flat_b = p.transb == JBLAS_NO_TRANSPOSE;
    p.lda = (flat_a ? m : k) + 1, p.ldb = (flat_b ? k : n) + 3, p.ldc = m + 2;
    p.a = random_operand(a, p.lda * (flat_a ? k : m));
    p.b = random_operand(b, p.ldb * (flat_b ? n : k));
    p.c = random_operand(c, p.ldc * n);
    p.before = random_operand(c, p.ldc * n);
    memcpy(p.before, p.c, bytes_of(c, p.ldc * n));
    wide_put(p.alpha, (int)computed, 0, computed == JDATATYPE_I32 ? -7 : 0.75L);
    wide_put(p.beta, (int)computed, 0, computed == JDATATYPE_I32 ? 3 : -1.25L);
    return p;
}

static jstatus_t call(jhandle_t *handle, product_t *p) {
    memcpy(p->c, p->before, bytes_of(p->c_type, p->ldc * p->n));
    return jblas_gemm_ex(handle, p->transa, p->transb, p->m, p->n, p->k, p->alpha, p->a, p->a_type,
                         p->lda, p->b, p->b_type, p->ldb, p->beta, p->c, p->c_type, p->ldc,
                         p->computed);
}

static jstatus_t call_plain(jhandle_t *handle, product_t *p) {
    memcpy(p->c, p->before, bytes_of(p->c_type, p->ldc * p->n));
#define PLAIN(name)                                                                                \
    jblas_##name##gemm(handle, p->transa, p->transb, p->m, p->n, p->k, (const void *)p->alpha,     \
                       p->a, p->lda, p->b, p->ldb, (const void *)p->beta, p->c, p->ldc)
    switch (p->c_type) {
    case JDATATYPE_F32: return PLAIN(s);
    case JDATATYPE_F64: return PLAIN(d);
    case JDATATYPE_F32_C: return PLAIN(c);
    case JDATATYPE_F64_C: return PLAIN(z);
    case JDATATYPE_F16: return PLAIN(h);
    default: return PLAIN(b);
    }
#undef PLAIN
}

JTEST(JblasEx, OneTypeHasTheBitsAndTheWorkspaceOfItsGemm) {
    static const int64_t shapes[][3] = {{3, 5, 7}, {33, 40, 25}, {150, 140, 300}};
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (jdatatype_t type = JDATATYPE_F32; type <= JDATATYPE_BF16; ++type)
        for (int shape = 0; shape < 3; ++shape) {
            const int64_t *size = shapes[shape];
            const jdatatype_t computed = wide_is_half((int)type) ? JDATATYPE_F32 : type;
            product_t p = random_product(type, type, type, computed, size[0], size[1], size[2]);
            size_t bytes = 0, plain_bytes = 0;
            JEXPECT_OK(jhandle_start_size_query(handle));
            (void)call(handle, &p);
            JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
            JEXPECT_OK(jhandle_start_size_query(handle));
            (void)call_plain(handle, &p);
            JEXPECT_OK(jhandle_stop_size_query(handle, &plain_bytes));
            JEXPECT_EQ(bytes, plain_bytes);

            JEXPECT_OK(call_plain(handle, &p));
            const size_t all = bytes_of(type, p.ldc * p.n);
            void *plain = malloc(all);
            memcpy(plain, p.c, all);
            JEXPECT_OK(call(handle, &p));
            JEXPECT_EQ(memcmp(plain, p.c, all), 0);
            free(plain);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Some elements, against sums in long double; an integer's modulo 2^32. */
static void expect_right(const product_t *p) {
    for (int probe = 0; probe < 200; ++probe) {
        const int64_t i = probe == 0 ? p->m - 1 : jtest_random_between(0, p->m - 1),
                      j = probe == 0 ? p->n - 1 : jtest_random_between(0, p->n - 1);
        wide_t sum = 0;
        for (int64_t l = 0; l < p->k; ++l) {
            wide_t x = wide_get(p->a, (int)p->a_type,
                                p->transa == JBLAS_NO_TRANSPOSE ? i + l * p->lda : l + i * p->lda);
            if (p->transa == JBLAS_CONJUGATE_TRANSPOSE)
                __imag__ x = -__imag__ x;
            sum += x * wide_get(p->b, (int)p->b_type,
                                p->transb == JBLAS_NO_TRANSPOSE ? l + j * p->ldb : j + l * p->ldb);
        }
        const wide_t want = wide_get(p->alpha, (int)p->computed, 0) * sum +
                            wide_get(p->beta, (int)p->computed, 0) *
                                wide_get(p->before, (int)p->c_type, i + j * p->ldc),
                     got = wide_get(p->c, (int)p->c_type, i + j * p->ldc);
        const bool exact = p->computed == JDATATYPE_I32;
        const long double bound =
            exact ? 0
                  : 8 * wide_epsilon((int)p->computed) * (long double)(p->k + 8) +
                        (p->c_type == p->computed ? 0 : wide_epsilon((int)p->c_type)) *
                            (wide_abs(want) + 1);
        JASSERT_LE((double)wide_abs(got - want), (double)bound);
    }
}

/* Blocks of sums end at 512 x 1024 floats, panels at a depth of 256, exact ones of integers at
 * 1024: by each rung in exactly its bytes, with one thread and two, with the same bits. */
JTEST(JblasEx, SizesBeyondOnePanelByEachRungAndThreads) {
    static const struct {
        jdatatype_t a, b, c, computed;
        int64_t m, n, k;
    } cases[] = {{JDATATYPE_BF16, JDATATYPE_F32, JDATATYPE_F32, JDATATYPE_F32, 130, 70, 300},
                 {JDATATYPE_F32, JDATATYPE_F16, JDATATYPE_BF16, JDATATYPE_F32, 40, 1030, 70},
                 {JDATATYPE_F16, JDATATYPE_F32, JDATATYPE_F64, JDATATYPE_F64, 70, 50, 290},
                 {JDATATYPE_F32, JDATATYPE_F64, JDATATYPE_F32, JDATATYPE_F64, 515, 30, 260},
                 {JDATATYPE_F32_C, JDATATYPE_F64_C, JDATATYPE_F64_C, JDATATYPE_F64_C, 60, 70, 150},
                 {JDATATYPE_F64_C, JDATATYPE_F32_C, JDATATYPE_F32_C, JDATATYPE_F64_C, 270, 40, 90},
                 {JDATATYPE_I8, JDATATYPE_I8, JDATATYPE_I32, JDATATYPE_I32, 100, 60, 2100}};
    for (size_t which = 0; which < sizeof cases / sizeof *cases; ++which) {
        product_t p =
            random_product(cases[which].a, cases[which].b, cases[which].c, cases[which].computed,
                           cases[which].m, cases[which].n, cases[which].k);
        const size_t all = bytes_of(p.c_type, p.ldc * p.n);
        void *first = malloc(all);
        for (int round = 0; round < 6; ++round) { /* packed, packed-small, in place */
            jhandle_options_t options = JHANDLE_OPTIONS_INIT;
            options.threads = 1 + round / 3;
            jhandle_t *handle = blas_make_handle(&options);
            size_t bytes = 0;
            JEXPECT_OK(jhandle_start_size_query(handle));
            (void)call(handle, &p);
            JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
            JASSERT_GT(bytes, 0);
            const size_t given = round % 3 == 0 ? bytes : round % 3 == 1 ? bytes - 64 : 64;
            JEXPECT_OK(
                jhandle_set_workspace(handle, blas_guard_pages(given, JDATATYPE_F32), given));
            JEXPECT_STATUS(call(handle, &p), round % 3 ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
            JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
            JEXPECT_OK(jhandle_destroy(handle));
            if (round == 0)
                memcpy(first, p.c, all);
            JEXPECT_EQ(memcmp(first, p.c, all), 0);
        }
        expect_right(&p);
        JEXPECT_EQ(memcmp((char *)p.c + bytes_of(p.c_type, p.m),
                          (char *)p.before + bytes_of(p.c_type, p.m), bytes_of(p.c_type, 2)),
                   0); /* between the columns */
        free(first);
    }
}

/* ---- Vectors ---- */

/* Whether the call is answered as wanted, and says of which types it is not. */
static bool answers(jhandle_t *handle, const char *name, jstatus_t got, jstatus_t want,
                    jdatatype_t type, jdatatype_t computed) {
    JEXPECT_STATUS(got, want);
    if (got == want && want != JSTATUS_SUCCESS) {
        JEXPECT_SUBSTR(jhandle_last_message(handle), name);
        JEXPECT_SUBSTR(jhandle_last_message(handle), jdatatype_name(type));
        JEXPECT_SUBSTR(jhandle_last_message(handle), jdatatype_name(computed));
    }
    return got == JSTATUS_SUCCESS;
}
#define ANSWERS(routine, ...)                                                                      \
    answers(handle, #routine ": ", routine(handle, 1, __VA_ARGS__, computed), want, x_type,        \
            computed)

static jstatus_t vectors_of(jdatatype_t type, jdatatype_t computed) {
    return computed == JDATATYPE_I32 ? JSTATUS_NOT_IMPLEMENTED : table_of(type, computed, true);
}

/* And computes: numbers that each type holds. */
JTEST(JblasEx, EachCombinationOfTwoVectorsIsAsTheTableSays) {
    _Alignas(16) unsigned char alpha[16] = {0}, x[16] = {0}, y[16] = {0}, result[16];
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int all = 0; all < 8 * 8 * 8; ++all) {
        const jdatatype_t x_type = (jdatatype_t)(all & 7), y_type = (jdatatype_t)(all >> 3 & 7),
                          computed = (jdatatype_t)(all >> 6 & 7);
        const jstatus_t want = worse(vectors_of(x_type, computed), vectors_of(y_type, computed));
        JSCOPED_TRACE("%s %s in %s", jdatatype_name(x_type), jdatatype_name(y_type),
                      jdatatype_name(computed));
        wide_put(alpha, (int)computed, 0, 2);
        wide_put(x, (int)x_type, 0, 3);
        wide_put(y, (int)y_type, 0, 0.5L);

        if (ANSWERS(jblas_axpy_ex, alpha, x, x_type, 1, y, y_type, 1))
            JEXPECT_TRUE(wide_get(y, (int)y_type, 0) == 6.5L);
        if (ANSWERS(jblas_dot_ex, x, x_type, 1, y, y_type, 1, result))
            JEXPECT_TRUE(wide_get(result, (int)computed, 0) == 19.5L);
        if (ANSWERS(jblas_dotc_ex, x, x_type, 1, y, y_type, 1, result))
            JEXPECT_TRUE(wide_get(result, (int)computed, 0) == 19.5L);
        JASSERT_FALSE(jtest_has_failure());
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(JblasEx, EachCombinationOfOneVectorIsAsTheTableSays) {
    _Alignas(16) unsigned char alpha[16] = {0}, x[16] = {0}, result[16];
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int all = 0; all < 8 * 8; ++all) {
        const jdatatype_t x_type = (jdatatype_t)(all & 7), computed = (jdatatype_t)(all >> 3);
        const jstatus_t want = vectors_of(x_type, computed);
        JSCOPED_TRACE("%s in %s", jdatatype_name(x_type), jdatatype_name(computed));
        wide_put(alpha, (int)computed, 0, 2);
        wide_put(x, (int)x_type, 0, -3);

        if (ANSWERS(jblas_nrm2_ex, x, x_type, 1, result))
            JEXPECT_TRUE(wide_get(result, wide_real_of((int)computed), 0) == 3);
        if (ANSWERS(jblas_asum_ex, x, x_type, 1, result))
            JEXPECT_TRUE(wide_get(result, wide_real_of((int)computed), 0) == 3);
        if (ANSWERS(jblas_scal_ex, alpha, x, x_type, 1))
            JEXPECT_TRUE(wide_get(x, (int)x_type, 0) == -6);
        JASSERT_FALSE(jtest_has_failure());
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The cosine and the sine: what the compute type, or its parts, could be made of. */
static jstatus_t sine_of(jdatatype_t type, jdatatype_t computed) {
    const jdatatype_t parts = (jdatatype_t)wide_real_of((int)computed);
    const bool real = computed <= JDATATYPE_F64_C && !wide_is_complex((int)type);
    return vectors_of(type, real ? parts : computed);
}

JTEST(JblasEx, EachCombinationOfARotationIsAsTheTableSays) {
    _Alignas(16) unsigned char x[16] = {0}, y[16] = {0}, c[16] = {0}, s[16] = {0};
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int all = 0; all < 8 * 8 * 8 * 8; ++all) {
        const jdatatype_t x_type = (jdatatype_t)(all & 7), y_type = (jdatatype_t)(all >> 3 & 7),
                          cs_type = (jdatatype_t)(all >> 6 & 7), computed = (jdatatype_t)(all >> 9);
        const jstatus_t want =
            worse(worse(vectors_of(x_type, computed), vectors_of(y_type, computed)),
                  sine_of(cs_type, computed));
        JSCOPED_TRACE("%s %s by %s in %s", jdatatype_name(x_type), jdatatype_name(y_type),
                      jdatatype_name(cs_type), jdatatype_name(computed));
        wide_t sine = 2;
        if (wide_is_complex((int)cs_type))
            __imag__ sine = 1;
        wide_put(x, (int)x_type, 0, 3);
        wide_put(y, (int)y_type, 0, 0.5L);
        wide_put(c, (int)cs_type, 0, 4 + 5 * (sine - 2)); /* its imaginary part is not read */
        wide_put(s, (int)cs_type, 0, sine);

        if (ANSWERS(jblas_rot_ex, x, x_type, 1, y, y_type, 1, c, s, cs_type)) {
            JEXPECT_TRUE(wide_get(x, (int)x_type, 0) == 12 + 0.5L * sine);
            __imag__ sine = -__imag__ sine;
            JEXPECT_TRUE(wide_get(y, (int)y_type, 0) == 2 - 3 * sine);
        }
        JASSERT_FALSE(jtest_has_failure());
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Sums beyond a block, and what is written, are those of vectors that were converted before. */
JTEST(JblasEx, RealVectorsHaveTheBitsOfConvertedOnes) {
    enum { MOST = 30000 };
    static jfloat16_t x[MOST];
    static jbfloat16_t y[MOST];
    static float s[MOST], t[MOST];
    static double d[MOST];
    jhandle_t *handle = NULL;
    if (!blas_is_own())
        JSKIP("the CBLAS computes");
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t round = 0; round < 12; ++round) {
        const int64_t n = jtest_random_between(0, round < 4 ? 600 : MOST);
        const float alpha = (float)jtest_random_double(-2, 2);
        for (int64_t i = 0; i < n; ++i) {
            x[i] = jalloc_f16_from_f32((float)jtest_random_double(-1, 1));
            y[i] = jalloc_bf16_from_f32((float)jtest_random_double(-1, 1));
            s[i] = jalloc_f32_from_f16(x[i]), t[i] = jalloc_f32_from_bf16(y[i]);
            d[i] = (double)s[i];
        }
        float got = -1, want = -2;
        double got_d = -1, want_d = -2;
        JEXPECT_OK(jblas_dot_ex(handle, n, x, JDATATYPE_F16, 1, y, JDATATYPE_BF16, 1, &got,
                                JDATATYPE_F32));
        JEXPECT_OK(jblas_sdot(handle, n, s, 1, t, 1, &want));
        JASSERT_EQ(memcmp(&got, &want, sizeof got), 0);
        JEXPECT_OK(jblas_dotc_ex(handle, n, x, JDATATYPE_F16, 1, s, JDATATYPE_F32, 1, &got_d,
                                 JDATATYPE_F64));
        JEXPECT_OK(jblas_ddot(handle, n, d, 1, d, 1, &want_d));
        JASSERT_EQ(memcmp(&got_d, &want_d, sizeof got_d), 0);
        JEXPECT_OK(jblas_nrm2_ex(handle, n, x, JDATATYPE_F16, -1, &got, JDATATYPE_F32));
        JEXPECT_OK(jblas_snrm2(handle, n, s, 1, &want));
        JASSERT_EQ(memcmp(&got, &want, sizeof got), 0);
        float u[2][1000], v[2][1000];
        const int64_t some = n < 1000 ? n : 1000;
        memcpy(u[0], s, sizeof u[0]), memcpy(u[1], s, sizeof u[1]);
        memcpy(v[1], t, sizeof v[1]);
        jbfloat16_t w[1000];
        memcpy(w, y, sizeof w);
        JEXPECT_OK(jblas_rot_ex(handle, some, u[0], JDATATYPE_F32, 1, w, JDATATYPE_BF16, 1, &alpha,
                                &got, JDATATYPE_F32, JDATATYPE_F32));
        JEXPECT_OK(jblas_srot(handle, some, u[1], 1, v[1], 1, &alpha, &got));
        for (int64_t i = 0; i < some; ++i) {
            JASSERT_EQ(memcmp(&u[0][i], &u[1][i], sizeof(float)), 0);
            JASSERT_EQ(w[i].bits, jalloc_bf16_from_f32(v[1][i]).bits);
        }
        JEXPECT_OK(jblas_asum_ex(handle, n, x, JDATATYPE_F16, 1, &got_d, JDATATYPE_F64));
        JEXPECT_OK(jblas_dasum(handle, n, d, 1, &want_d));
        JASSERT_EQ(memcmp(&got_d, &want_d, sizeof got_d), 0);

        JEXPECT_OK(jblas_axpy_ex(handle, n, &alpha, x, JDATATYPE_F16, 1, y, JDATATYPE_BF16, 1,
                                 JDATATYPE_F32));
        JEXPECT_OK(jblas_saxpy(handle, n, &alpha, s, 1, t, 1));
        JEXPECT_OK(jblas_scal_ex(handle, n, &alpha, x, JDATATYPE_F16, 1, JDATATYPE_F32));
        JEXPECT_OK(jblas_sscal(handle, n, &alpha, s, 1));
        for (int64_t i = 0; i < n; ++i) {
            JASSERT_EQ(y[i].bits, jalloc_bf16_from_f32(t[i]).bits);
            JASSERT_EQ(x[i].bits, jalloc_f16_from_f32(s[i]).bits);
        }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Triangles ---- */

JTEST(JblasEx, TriangularSolvesAreOfOneType) {
    _Alignas(16) unsigned char alpha[16] = {0}, a[16] = {0}, b[16] = {0};
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int all = 0; all < 8 * 8 * 8; ++all) {
        const jdatatype_t a_type = (jdatatype_t)(all & 7), b_type = (jdatatype_t)(all >> 3 & 7),
                          computed = (jdatatype_t)(all >> 6);
        jstatus_t want = worse(vectors_of(a_type, computed), vectors_of(b_type, computed));
        if (want == JSTATUS_SUCCESS && (a_type != computed || b_type != computed))
            want = JSTATUS_NOT_IMPLEMENTED;
        const jdatatype_t x_type = a_type;
        JSCOPED_TRACE("%s %s in %s", jdatatype_name(a_type), jdatatype_name(b_type),
                      jdatatype_name(computed));
        wide_put(alpha, (int)computed, 0, 3);
        wide_put(a, (int)a_type, 0, 2);
        wide_put(b, (int)b_type, 0, 5);
        if (answers(handle, "jblas_trsm_ex: ",
                    jblas_trsm_ex(handle, JBLAS_LEFT, JBLAS_UPPER, JBLAS_CONJUGATE, JBLAS_NON_UNIT,
                                  1, 1, alpha, a, a_type, 1, b, b_type, 1, computed),
                    want, x_type, computed))
            JEXPECT_TRUE(wide_get(b, (int)b_type, 0) == 7.5L);
        JASSERT_FALSE(jtest_has_failure());
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* In all, the rungs too. */
JTEST(JblasEx, ATriangularSolveIsTheOneOfItsType) {
    enum { M = 190, N = 150 };
    static double a[M * M], b[M * N], plain[M * N];
    const double alpha = 0.75;
    for (int i = 0; i < M * M; ++i)
        a[i] = i % (M + 1) == 0 ? 2 : jtest_random_double(-1, 1) / M;
    for (int scarce = 0; scarce < 2; ++scarce) {
        size_t bytes[2] = {0, 0};
        jhandle_t *handle = NULL;
        JASSERT_OK(jhandle_create(NULL, &handle));
        for (int i = 0; i < M * N; ++i)
            b[i] = plain[i] = jtest_random_double(-1, 1);
#define SOLVE_EX()                                                                                 \
    jblas_trsm_ex(handle, JBLAS_LEFT, JBLAS_LOWER, JBLAS_TRANSPOSE, JBLAS_NON_UNIT, M, N, &alpha,  \
                  a, JDATATYPE_F64, M, b, JDATATYPE_F64, M, JDATATYPE_F64)
#define SOLVE()                                                                                    \
    jblas_dtrsm(handle, JBLAS_LEFT, JBLAS_LOWER, JBLAS_TRANSPOSE, JBLAS_NON_UNIT, M, N, &alpha, a, \
                M, plain, M)
        JEXPECT_OK(jhandle_start_size_query(handle));
        (void)SOLVE_EX();
        JEXPECT_OK(jhandle_stop_size_query(handle, &bytes[0]));
        JEXPECT_OK(jhandle_start_size_query(handle));
        (void)SOLVE();
        JEXPECT_OK(jhandle_stop_size_query(handle, &bytes[1]));
        JEXPECT_EQ(bytes[0], bytes[1]);

        JEXPECT_OK(jhandle_set_budget(handle, scarce ? 64 : JALLOC_UNLIMITED));
        const jstatus_t status = SOLVE_EX();
        JEXPECT_STATUS(SOLVE(), status);
        JEXPECT_EQ(memcmp(b, plain, sizeof b), 0);
        JEXPECT_OK(jhandle_destroy(handle));
    }
#undef SOLVE
#undef SOLVE_EX
}

/* ---- Rounding at each step ---- */

/* ---- Kernels for 16 bits ---- */

/* Every f16, and what lies in the middle of two neighbours and beside it, as the loops have it that
 * datatype.h has for one number. */
JTEST(JblasEx, SixteenBitsAreTheSameNumbersByEachKernelSet) {
    enum { ALL = 0x10000, COUNT = 3 * ALL - 5 };
    static float x[3 * ALL];
    static jfloat16_t half[3 * ALL];
    static jbfloat16_t brief[3 * ALL];
    const float one = 1;
    for (int i = 0; i < ALL; ++i) {
        const jfloat16_t low = {(uint16_t)i}, high = {(uint16_t)(i + 1)};
        x[3 * i] = (jalloc_f32_from_f16(low) + jalloc_f32_from_f16(high)) / 2;
        x[3 * i + 1] = nextafterf(x[3 * i], INFINITY);
        x[3 * i + 2] = nextafterf(x[3 * i], -INFINITY);
    }

    const ji_kernel_set_t *const before = ji_kernels;
    for (size_t set = 0; ji_kernel_set_at(set) != NULL; ++set) {
        if (!ji_kernel_set_is_here(ji_kernel_set_at(set)))
            continue;
        jhandle_t *handle = NULL;
        JASSERT_OK(jhandle_create(NULL, &handle));
        for (int i = 0; i < 3 * ALL; ++i)
            half[i].bits = brief[i].bits = 0x8000; /* -0 + -0 is -0 */
        JEXPECT_OK(jblas_axpy_ex(handle, 0, &one, x, JDATATYPE_F32, 1, half, JDATATYPE_F16, 1,
                                 JDATATYPE_F32)); /* from here on set-up leaves the set alone */
        ji_kernel_set_use(ji_kernel_set_at(set));
        JSCOPED_TRACE("%s", ji_kernels->name);
        JEXPECT_OK(jblas_axpy_ex(handle, COUNT, &one, x, JDATATYPE_F32, 1, half, JDATATYPE_F16, 1,
                                 JDATATYPE_F32));
        JEXPECT_OK(jblas_axpy_ex(handle, COUNT, &one, x, JDATATYPE_F32, 1, brief, JDATATYPE_BF16, 1,
                                 JDATATYPE_F32));
        int wrong = 0;
        for (int i = 0; i < COUNT; ++i)
            wrong += isnan(x[i]) ? !isnan(jalloc_f32_from_f16(half[i])) ||
                                       !isnan(jalloc_f32_from_bf16(brief[i]))
                                 : half[i].bits != jalloc_f16_from_f32(x[i]).bits ||
                                       brief[i].bits != jalloc_bf16_from_f32(x[i]).bits;
        JEXPECT_EQ(wrong, 0);

        for (int i = 0; i < ALL; ++i)
            half[i].bits = (uint16_t)i;
        JEXPECT_OK(jblas_scal_ex(handle, ALL - 3, &one, half, JDATATYPE_F16, 1, JDATATYPE_F32));
        for (int i = 0; i < ALL; ++i) /* a NaN may have become quiet */
            wrong += half[i].bits != i && ((i & 0x7fff) <= 0x7c00 || half[i].bits != (i | 0x200));
        JEXPECT_EQ(wrong, 0);
        ji_kernel_set_use(before);
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

/* Each step of an increment of 0 is rounded: 2048 and 1 are 2048 in 16 bits, 2048 and 1.5 2050. */
JTEST(JblasEx, AnIncrementOf0SeesWhatWasRounded) {
    const float one = 1;
    const float x[4] = {1, 1, 1, 1.5f};
    jfloat16_t y = jalloc_f16_from_f32(2048);
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(
        jblas_axpy_ex(handle, 3, &one, x, JDATATYPE_F32, 1, &y, JDATATYPE_F16, 0, JDATATYPE_F32));
    JEXPECT_EQ(jalloc_f32_from_f16(y), 2048);
    JEXPECT_OK(
        jblas_axpy_ex(handle, 4, &one, x, JDATATYPE_F32, 1, &y, JDATATYPE_F16, 0, JDATATYPE_F32));
    JEXPECT_EQ(jalloc_f32_from_f16(y), 2050);
    JEXPECT_OK(jhandle_destroy(handle));
}
