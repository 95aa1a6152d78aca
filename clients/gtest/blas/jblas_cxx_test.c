/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jblas called from C++ (jblas_cxx.cpp): the numbers are the same. */

#include "handle_helper.h"

jstatus_t cxx_dot_f32(jhandle_t *handle, int64_t n, const float *x, const float *y, float *result);
jstatus_t cxx_dot_f64(jhandle_t *handle, int64_t n, const double *x, const double *y,
                      double *result);

#define N 37

JTEST(JblasCxx, ComplexNumbersAreThoseOfCxx) {
    jhandle_t *handle = make_handle(0);
    float x32[2 * N], y32[2 * N], got32[2];
    double x[2 * N], y[2 * N], got[2], wanted[2] = {0, 0};
    for (int i = 0; i < 2 * N; ++i) { /* small integers: every sum is exact in both types */
        x32[i] = (float)(x[i] = (double)jtest_random_between(-100, 100));
        y32[i] = (float)(y[i] = (double)jtest_random_between(-100, 100));
    }
    for (int i = 0; i < N; ++i) {
        wanted[0] += x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1];
        wanted[1] += x[2 * i] * y[2 * i + 1] - x[2 * i + 1] * y[2 * i];
    }
    JEXPECT_OK(cxx_dot_f32(handle, N, x32, y32, got32));
    JEXPECT_OK(cxx_dot_f64(handle, N, x, y, got));
    for (int i = 0; i < 2; ++i) {
        JEXPECT_EQ(got[i], wanted[i]);
        JEXPECT_EQ((double)got32[i], wanted[i]);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}
