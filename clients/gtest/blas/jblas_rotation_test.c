/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* rotg and rotmg against their definitions in long double, over all exponents that a type has; what
 * they do with zeros, infinities, NaN, and what has no rotation. The loops over all routines
 * (jblas_correct_test.c and others) have them too, with numbers near 1. */

#include "jblas_routines.h"

#include <float.h>
#include <math.h>

static bool exponents_are_short(void) {
    const volatile long double huge = 0x1p1000; /* volatile: Valgrind's have no more, either */
    return isinf(huge * huge);
}

static const int real_types[] = {JDATATYPE_F32, JDATATYPE_F64};
static const int complex_types[] = {JDATATYPE_F32_C, JDATATYPE_F64_C};

/* Of the parts of a type. */
static long double least(int type) {
    return wide_real_of(type) == JDATATYPE_F32 ? FLT_TRUE_MIN : DBL_TRUE_MIN;
}
static long double largest(int type) {
    return wide_real_of(type) == JDATATYPE_F32 ? FLT_MAX : DBL_MAX;
}

/* A number of any size, perhaps subnormal, as the type has it. */
static long double draw_real(int type, long double near) {
    const int far = wide_real_of(type) == JDATATYPE_F32 ? 126 : 1022;
    const int exponent = (int)jtest_random_between(-far - 20, far);
    const long double size = near != 0 && jtest_random_bool() ? near : ldexpl(1, exponent);
    double room;
    wide_put(&room, wide_real_of(type), 0, size * jtest_random_double(-1, 1));
    return __real__ wide_get(&room, wide_real_of(type), 0);
}

/* a, b, c, s before and after the call. */
typedef struct rotg {
    wide_t a, b, c, s;
} rotg_t;

static rotg_t call_rotg(jhandle_t *handle, int type, wide_t a, wide_t b) {
    _Alignas(16) unsigned char room[4][16];
    const int real = wide_real_of(type);
    wide_put(room[0], type, 0, a), wide_put(room[1], type, 0, b);
    void *const p[] = {room[0], room[1], room[2], room[3]};
    switch (type) {
    case JDATATYPE_F32: JEXPECT_OK(jblas_srotg(handle, p[0], p[1], p[2], p[3])); break;
    case JDATATYPE_F64: JEXPECT_OK(jblas_drotg(handle, p[0], p[1], p[2], p[3])); break;
    case JDATATYPE_F32_C: JEXPECT_OK(jblas_crotg(handle, p[0], p[1], p[2], p[3])); break;
    default: JEXPECT_OK(jblas_zrotg(handle, p[0], p[1], p[2], p[3])); break;
    }
    return (rotg_t){wide_get(room[0], type, 0), wide_get(room[1], type, 0),
                    wide_get(room[2], real, 0), wide_get(room[3], type, 0)};
}

/* Within a few units in the last place of what has this size. */
static bool is_near(int type, wide_t got, wide_t want, long double size) {
    return wide_abs(got - want) <= 6 * wide_epsilon(type) * size + 2 * least(type);
}

JTEST_P(JblasRotation, RealOnesAreRightAtEverySize, int, real_types) {
    if (exponents_are_short())
        JSKIP("long double has no more exponents than double");
    jhandle_t *handle = blas_make_handle(NULL);
    for (int64_t i = jtest_iterations(4000); i > 0 && !jtest_has_failure(); --i) {
        const long double a = draw_real(*param, 0), b = draw_real(*param, a);
        if (a == 0 || b == 0)
            continue;
        const bool leads = fabsl(a) > fabsl(b);
        const long double r = copysignl(sqrtl(a * a + b * b), leads ? a : b);
        const rotg_t got = call_rotg(handle, *param, a, b);
        const long double z = __real__ got.b, c = __real__ got.c, s = __real__ got.s;

        JSCOPED_TRACE("a %La, b %La: r %La, z %La, c %La, s %La", a, b, __real__ got.a, z, c, s);
        JEXPECT_TRUE(is_near(*param, got.a, r, fabsl(r)) ||
                     (fabsl(r) > largest(*param) && isinf(__real__ got.a)));
        JEXPECT_TRUE(is_near(*param, c, a / r, fabsl(a / r)));
        JEXPECT_TRUE(is_near(*param, s, b / r, fabsl(b / r)));
        if (leads)
            JEXPECT_TRUE(z == s);
        else if (c == 0)
            JEXPECT_TRUE(z == 1);
        else
            JEXPECT_TRUE(is_near(*param, z, 1 / c, fabsl(1 / c)) ||
                         (fabsl(1 / c) > largest(*param) && isinf(z)));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST_P(JblasRotation, ComplexOnesAreRightAtEverySize, int, complex_types) {
    if (exponents_are_short())
        JSKIP("long double has no more exponents than double");
    jhandle_t *handle = blas_make_handle(NULL);
    for (int64_t i = jtest_iterations(4000); i > 0 && !jtest_has_failure(); --i) {
        wide_t a = draw_real(*param, 0), b = draw_real(*param, __real__ a);
        __imag__ a = i % 3 ? draw_real(*param, __real__ a) : 0;
        __imag__ b = i % 5 ? draw_real(*param, __real__ b) : 0;
        if (a == 0 || b == 0)
            continue;
        const long double size_a = hypotl(__real__ a, __imag__ a);
        const long double size_b = hypotl(__real__ b, __imag__ b), h = hypotl(size_a, size_b);
        const rotg_t got = call_rotg(handle, *param, a, b);

        wide_t conjugate = b;
        __imag__ conjugate = -__imag__ b;
        JSCOPED_TRACE("a %La%+Lai, b %La%+Lai: c %La", __real__ a, __imag__ a, __real__ b,
                      __imag__ b, __real__ got.c);
        JEXPECT_TRUE(is_near(*param, got.c, size_a / h, size_a / h));
        JEXPECT_TRUE(is_near(*param, got.s, a / size_a * (conjugate / h), size_b / h));
        JEXPECT_TRUE(got.b == b);
        JEXPECT_TRUE(is_near(*param, got.a, a / size_a * h, h) || h > largest(*param));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(JblasRotation, ZerosAreRotatedExactly) {
    jhandle_t *handle = blas_make_handle(NULL);
    for (int type = JDATATYPE_F32; type <= JDATATYPE_F64_C; ++type) {
        JSCOPED_TRACE("type %d", type);
        const bool complex = wide_is_complex(type);
        rotg_t got = call_rotg(handle, type, 0, 0);
        JEXPECT_TRUE(got.c == 1 && got.s == 0 && got.a == 0 && got.b == 0);
        got = call_rotg(handle, type, -3, 0);
        JEXPECT_TRUE(got.c == 1 && got.s == 0 && got.a == -3 && got.b == 0);
        got = call_rotg(handle, type, 0, -3);
        if (complex)
            JEXPECT_TRUE(got.c == 0 && got.s == -1 && got.a == 3 && got.b == -3);
        else
            JEXPECT_TRUE(got.c == 0 && got.s == 1 && got.a == -3 && got.b == 1);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(JblasRotation, WhatIsNotFiniteStays) {
    static const double odd[] = {INFINITY, -INFINITY, NAN};
    jhandle_t *handle = blas_make_handle(NULL);
    for (int type = JDATATYPE_F32; type <= JDATATYPE_F64_C; ++type)
        for (int i = 0; i < 18; ++i) {
            static const double others[] = {0, 2, 1e-30};
            const wide_t special = odd[i % 3], other = others[i / 3 % 3];
            const rotg_t got = i < 9 ? call_rotg(handle, type, special, other)
                                     : call_rotg(handle, type, other, special);
            JSCOPED_TRACE("type %d, case %d", type, i);
            JEXPECT_FALSE(isfinite(__real__ got.a) && isfinite(__imag__ got.a));
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Modified ones ---- */

typedef struct rotmg {
    long double d1, d2, x1, flag, h11, h21, h12, h22; /* of H all, with what the flag implies */
} rotmg_t;

#define UNTOUCHED 77

static rotmg_t call_rotmg(jhandle_t *handle, int type, const long double *in) {
    _Alignas(16) unsigned char room[5][40];
    for (int i = 0; i < 4; ++i)
        wide_put(room[i], type, 0, in[i]);
    for (int i = 0; i < 5; ++i)
        wide_put(room[4], type, i, UNTOUCHED);
    void *const p[] = {room[0], room[1], room[2], room[3], room[4]};
    if (type == JDATATYPE_F32)
        JEXPECT_OK(jblas_srotmg(handle, p[0], p[1], p[2], p[3], p[4]));
    else
        JEXPECT_OK(jblas_drotmg(handle, p[0], p[1], p[2], p[3], p[4]));

    long double n[5];
    for (int i = 0; i < 5; ++i)
        n[i] = __real__ wide_get(room[4], type, i);
    const long double flag = n[0];
    for (int i = 1; i < 5; ++i) { /* what is implied is not stored */
        const bool diagonal = i == 1 || i == 4;
        JEXPECT_EQ(n[i] == UNTOUCHED,
                   flag == -2 || (flag == 0 && diagonal) || (flag == 1 && !diagonal));
    }
    if (flag == 0 || flag == -2)
        n[1] = n[4] = 1;
    if (flag == -2)
        n[2] = n[3] = 0;
    if (flag == 1)
        n[2] = -1, n[3] = 1;
    return (rotmg_t){__real__ wide_get(room[0], type, 0),
                     __real__ wide_get(room[1], type, 0),
                     __real__ wide_get(room[2], type, 0),
                     flag,
                     n[1],
                     n[2],
                     n[3],
                     n[4]};
}

/* |a + b - want|, a and b having been rounded. */
static bool adds_up(int type, long double a, long double b, long double want) {
    const long double size = fabsl(a) + fabsl(b) + fabsl(want);
    return fabsl(a + b - want) <= 16 * wide_epsilon(type) * size;
}

/* H takes y1 to 0, and H^T D' H = D: the weighted length stays. */
JTEST_P(JblasRotation, ModifiedOnesKeepTheWeightedLength, int, real_types) {
    if (exponents_are_short())
        JSKIP("long double has no more exponents than double");
    jhandle_t *handle = blas_make_handle(NULL);
    const int far = *param == JDATATYPE_F32 ? 30 : 150;
    int flags[3] = {0, 0, 0};
    for (int64_t i = jtest_iterations(4000); i > 0 && !jtest_has_failure(); --i) {
        double rounded[4];
        long double in[4];
        for (int k = 0; k < 4; ++k) {
            const int exponent = i % 2 ? 0 : (int)jtest_random_between(-far, far);
            const double size = ldexp(jtest_random_double(0.5, 1), exponent);
            wide_put(rounded, *param, k, k > 1 && jtest_random_bool() ? -size : size);
            in[k] = __real__ wide_get(rounded, *param, k);
        }
        const long double x1 = in[2], y1 = in[3];
        const rotmg_t m = call_rotmg(handle, *param, in);
        JSCOPED_TRACE("d1 %La, d2 %La, x1 %La, y1 %La: flag %Lg", in[0], in[1], x1, y1, m.flag);
        JASSERT_TRUE(m.flag == -1 || m.flag == 0 || m.flag == 1);
        ++flags[(int)m.flag + 1];
        JEXPECT_TRUE(m.d1 > 0x1p-24L && m.d1 < 0x1p24L && m.d2 > 0x1p-24L && m.d2 < 0x1p24L);
        /* Not what underflows in H. */
        const long double small =
            fminl(fminl(fabsl(m.h11), fabsl(m.h21)), fminl(fabsl(m.h12), fabsl(m.h22)));
        if (small < (*param == JDATATYPE_F32 ? FLT_MIN : DBL_MIN) || !isfinite(m.h11 + m.h22) ||
            !isfinite(m.h12 + m.h21))
            continue;
        JEXPECT_TRUE(adds_up(*param, m.h11 * x1, m.h12 * y1, m.x1));
        JEXPECT_TRUE(adds_up(*param, m.h21 * x1, m.h22 * y1, 0));
        JEXPECT_TRUE(adds_up(*param, m.d1 * m.h11 * m.h11, m.d2 * m.h21 * m.h21, in[0]));
        JEXPECT_TRUE(adds_up(*param, m.d1 * m.h12 * m.h12, m.d2 * m.h22 * m.h22, in[1]));
        JEXPECT_TRUE(adds_up(*param, m.d1 * m.h11 * m.h12, m.d2 * m.h21 * m.h22, 0));
    }
    JEXPECT_GT(flags[0], 0);
    JEXPECT_GT(flags[1], 0);
    JEXPECT_GT(flags[2], 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* By the cases of the definition; infinities end, too. */
JTEST_P(JblasRotation, ModifiedOnesOfSpecialNumbers, int, real_types) {
    jhandle_t *handle = blas_make_handle(NULL);
    rotmg_t m = call_rotmg(handle, *param, (long double[]){-1, 2, 3, 4});
    JEXPECT_TRUE(m.flag == -1 && m.d1 == 0 && m.d2 == 0 && m.x1 == 0);
    JEXPECT_TRUE(m.h11 == 0 && m.h21 == 0 && m.h12 == 0 && m.h22 == 0);
    m = call_rotmg(handle, *param, (long double[]){1, -2, 1, 4}); /* d1 would be negative */
    JEXPECT_TRUE(m.flag == -1 && m.d1 == 0 && m.d2 == 0 && m.x1 == 0 && m.h12 == 0);
    m = call_rotmg(handle, *param, (long double[]){1, 2, 3, 0});
    JEXPECT_TRUE(m.flag == -2 && m.d1 == 1 && m.d2 == 2 && m.x1 == 3);
    m = call_rotmg(handle, *param, (long double[]){1, 0, 3, 4});
    JEXPECT_TRUE(m.flag == -2 && m.d1 == 1 && m.d2 == 0 && m.x1 == 3);
    m = call_rotmg(handle, *param, (long double[]){0, 2, 3, 4});
    JEXPECT_TRUE(m.flag == 1 && m.d1 == 2 && m.d2 == 0 && m.x1 == 4 && m.h11 == 0);
    m = call_rotmg(handle, *param, (long double[]){4, -1, 3, 2}); /* 1 - 1/9 */
    JEXPECT_TRUE(m.flag == 0 && m.d2 < 0 && m.d1 > 4);

    static const double odd[] = {INFINITY, -INFINITY, NAN, 0, 1};
    for (int i = 0; i < 5 * 5 * 5 * 5; ++i)
        (void)call_rotmg(
            handle, *param,
            (long double[]){odd[i % 5], odd[i / 5 % 5], odd[i / 25 % 5], odd[i / 125]});
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Mixed dots ---- */

/* One rounding to float, at the end: what cancels in it is right. */
JTEST(JblasRotation, MixedDotsRoundOnce) {
    const float x[] = {1 + FLT_EPSILON, 0x1p-24F, 1}, y[] = {1 - FLT_EPSILON, 1, -1}, alpha = 1;
    double wide = 0;
    float narrow = 0;
    jhandle_t *handle = blas_make_handle(NULL);
    JEXPECT_OK(jblas_dsdot(handle, 3, x, 1, y, 1, &wide));
    JEXPECT_TRUE(wide == 0x1p-24 - 0x1p-46);
    JEXPECT_OK(jblas_sdsdot(handle, 3, &alpha, x, -1, y, -1, &narrow));
    JEXPECT_TRUE(narrow == 1);
    JEXPECT_OK(jblas_sdsdot(handle, 0, &alpha, x, 1, y, 1, &narrow));
    JEXPECT_TRUE(narrow == alpha);
    JEXPECT_OK(jblas_dsdot(handle, -1, x, 1, y, 1, &wide));
    JEXPECT_TRUE(wide == 0);
    JEXPECT_OK(jhandle_destroy(handle));
}
