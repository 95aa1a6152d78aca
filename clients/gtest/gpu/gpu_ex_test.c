/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Types as arguments on a GPU: what is rounded is rounded once, as on the host, bit for bit. What
 * all routines promise is tested by the table (gpu_jblas_test.c). */

#include "gpu_device.h"

#include <math.h>
#include <string.h>

#define NUMBERS 4096

/* Numbers about which 16 bits disagree: those in the middle of two, a little to either side, too
 * large, too small, and any. */
static double draw_number(int64_t i, jdatatype_t type) {
    const int digits = type == JDATATYPE_F16 ? 11 : 8;
    const double odd = (double)(2 * jtest_random_between(1 << (digits - 1), (1 << digits) - 1) + 1);
    const double middle = ldexp(odd, (int)jtest_random_between(-40, 10));
    const double nudge = ldexp(middle, -(int)jtest_random_between(24, 52));
    switch (i % 6) {
    case 0: return middle;
    case 1: return middle + nudge;
    case 2: return nudge - middle;
    case 3: return ldexp(odd, (int)jtest_random_between(-160, -140));
    case 4: return ldexp(odd, (int)jtest_random_between(100, 130));
    default: return jtest_random_double(-1e5, 1e5);
    }
}

static jstatus_t round_numbers(jhandle_t *handle, const double *x, jdatatype_t type, void *y) {
    const double one = 1;
    return jblas_axpy_ex(handle, NUMBERS, &one, x, JDATATYPE_F64, 1, y, type, 1, JDATATYPE_F64);
}

JTEST(GpuEx, ADoubleIsRoundedTo16BitsOnce) {
    static double x[NUMBERS];
    static uint16_t want[NUMBERS], got[NUMBERS];
    jhandle_t *device = gpu_make_handle(), *host = NULL;
    JASSERT_OK(jhandle_create(NULL, &host));
    double *at = gpu_take(sizeof x);
    uint16_t *to = gpu_take(sizeof got);
    for (jdatatype_t type = JDATATYPE_F16; type <= JDATATYPE_BF16; ++type) {
        for (int64_t i = 0; i < NUMBERS; ++i)
            x[i] = draw_number(i, type);
        memset(want, 0, sizeof want);
        JEXPECT_OK(round_numbers(host, x, type, want));
        memset(got, 0, sizeof got);
        gpu_upload(at, x, sizeof x);
        gpu_upload(to, got, sizeof got);
        JEXPECT_OK(round_numbers(device, at, type, to));
        gpu_download(got, to, sizeof got);
        for (int64_t i = 0; i < NUMBERS && !jtest_has_failure(); ++i) {
            JSCOPED_TRACE("%s of %a", jdatatype_name(type), x[i]);
            JEXPECT_EQ(got[i], want[i]);
        }
    }
    gpu_give(at, sizeof x);
    gpu_give(to, sizeof got);
    JEXPECT_OK(jhandle_destroy(device));
    JEXPECT_OK(jhandle_destroy(host));
}

#define LENGTH 50000 /* a tree of two levels, where chunks are small */

/* All sums of x and y of float with double sums into results[0..4]; with `converted` the routines
 * without _ex of the same numbers in double. */
static void sum_all(jhandle_t *handle, const void *x, const void *y, bool converted,
                    double *results) {
    const jdatatype_t type = JDATATYPE_F32, sum = JDATATYPE_F64;
    if (converted) {
        JEXPECT_OK(jblas_ddot(handle, LENGTH, x, 1, y, 1, &results[0]));
        JEXPECT_OK(jblas_dnrm2(handle, LENGTH, x, 1, &results[1]));
        JEXPECT_OK(jblas_dasum(handle, LENGTH, x, 1, &results[2]));
        JEXPECT_OK(jblas_zdotc(handle, LENGTH / 2, x, 1, y, 1, (void *)&results[3]));
    } else {
        JEXPECT_OK(
            jblas_dot_ex(handle, LENGTH, x, type, 1, y, type, 1, &results[0], JDATATYPE_F64));
        JEXPECT_OK(jblas_nrm2_ex(handle, LENGTH, x, type, 1, &results[1], sum));
        JEXPECT_OK(jblas_asum_ex(handle, LENGTH, x, type, 1, &results[2], sum));
        JEXPECT_OK(jblas_dotc_ex(handle, LENGTH / 2, x, JDATATYPE_F32_C, 1, y, JDATATYPE_F32_C, 1,
                                 &results[3], JDATATYPE_F64_C));
    }
}

/* Sums have the order, and so the bits, that the routine without _ex has for converted operands,
 * in workspace and without. */
JTEST(GpuEx, SumsAreThoseOfConvertedOperands) {
    static float x[2][LENGTH];
    static double wide[2][LENGTH];
    double want[5], got[5];
    jhandle_t *handle = gpu_make_handle(), *small = gpu_make_handle();
    JEXPECT_OK(jhandle_set_budget(small, 1));
    char *narrow_at = gpu_take(sizeof x), *wide_at = gpu_take(sizeof wide);
    for (int i = 0; i < 2 * LENGTH; ++i) {
        x[i / LENGTH][i % LENGTH] = (float)jtest_random_double(-1, 1);
        wide[i / LENGTH][i % LENGTH] = x[i / LENGTH][i % LENGTH];
    }
    gpu_upload(narrow_at, x, sizeof x);
    gpu_upload(wide_at, wide, sizeof wide);
    sum_all(handle, wide_at, wide_at + sizeof wide[0], true, want);
    sum_all(handle, narrow_at, narrow_at + sizeof x[0], false, got);
    JEXPECT_EQ(memcmp(got, want, sizeof got), 0);
    double serial[5];
    const float *first = (const float *)narrow_at, *second = first + LENGTH;
    JEXPECT_STATUS(jblas_dot_ex(small, LENGTH, first, JDATATYPE_F32, 1, second, JDATATYPE_F32, 1,
                                &serial[0], JDATATYPE_F64),
                   JSTATUS_PERF_DEGRADED);
    JEXPECT_EQ(memcmp(serial, want, sizeof serial[0]), 0);
    gpu_give(narrow_at, sizeof x);
    gpu_give(wide_at, sizeof wide);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jhandle_destroy(small));
}
