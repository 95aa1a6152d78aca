/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Complex numbers as C++ has them, for jblas_cxx_test.c: std::complex is taken as it is. */

#include "jalloc/jblas.h"

#include <complex>
#include <type_traits>

extern "C" {
jstatus_t cxx_dot_f32(jhandle_t *handle, int64_t n, const float *x, const float *y, float *result);
jstatus_t cxx_dot_f64(jhandle_t *handle, int64_t n, const double *x, const double *y,
                      double *result);
}

static_assert(std::is_same<jcomplex_f32_t, std::complex<float>>::value,
              "C++ programs need no cast");
static_assert(std::is_same<jcomplex_f64_t, std::complex<double>>::value,
              "C++ programs need no cast");
static_assert(sizeof(jcomplex_f64_t) == 2 * sizeof(double) &&
                  alignof(jcomplex_f64_t) == alignof(double),
              "as in C");

/* What C passes as real and imaginary parts. */
template <typename T> static const std::complex<T> *numbers(const T *parts) {
    return reinterpret_cast<const std::complex<T> *>(parts);
}

jstatus_t cxx_dot_f32(jhandle_t *handle, int64_t n, const float *x, const float *y, float *result) {
    std::complex<float> sum;
    const jstatus_t status = jblas_cdotc(handle, n, numbers(x), 1, numbers(y), 1, &sum);
    result[0] = sum.real();
    result[1] = sum.imag();
    return status;
}

jstatus_t cxx_dot_f64(jhandle_t *handle, int64_t n, const double *x, const double *y,
                      double *result) {
    std::complex<double> sum;
    const jstatus_t status = jblas_zdotc(handle, n, numbers(x), 1, numbers(y), 1, &sum);
    result[0] = sum.real();
    result[1] = sum.imag();
    return status;
}
