/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_NUMBER_H
#define JALLOC_GPU_BLAS_NUMBER_H

/* Numbers in kernels: float, double and complex<> of them behind one set of functions, so that a
 * kernel is written once for s d c z. complex<> is ours because it must be usable in shared memory
 * by three compilers: no constructor, and the layout of C's _Complex. */

#include "blas/primitives/primitive.h"
#include "gpu/device/vendor.h"

template <typename R> struct complex { R re, im; };

template <typename T> struct number {
    typedef T real;
    static const bool is_complex = false;
};
template <typename R> struct number<complex<R>> {
    typedef R real;
    static const bool is_complex = true;
};
template <typename T> using real_of = typename number<T>::real;

template <typename R>
static __host__ __device__ inline complex<R> operator+(complex<R> a, complex<R> b) {
    return complex<R>{a.re + b.re, a.im + b.im};
}
template <typename R>
static __host__ __device__ inline complex<R> operator-(complex<R> a, complex<R> b) {
    return complex<R>{a.re - b.re, a.im - b.im};
}
template <typename R> static __host__ __device__ inline complex<R> operator-(complex<R> a) {
    return complex<R>{-a.re, -a.im};
}
template <typename R>
static __host__ __device__ inline complex<R> operator*(complex<R> a, complex<R> b) {
    return complex<R>{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <typename R> static __host__ __device__ inline complex<R> operator*(R a, complex<R> b) {
    return complex<R>{a * b.re, a * b.im};
}
template <typename R>
static __host__ __device__ inline bool operator==(complex<R> a, complex<R> b) {
    return a.re == b.re && a.im == b.im;
}

/* From a real number. */
template <typename T> static __host__ __device__ inline T make(real_of<T> value) {
    if constexpr (number<T>::is_complex)
        return T{value, 0};
    else
        return value;
}
template <typename T> static __host__ __device__ inline real_of<T> real_part(T a) {
    if constexpr (number<T>::is_complex)
        return a.re;
    else
        return a;
}
template <typename T> static __host__ __device__ inline T conjugate(T a) {
    if constexpr (number<T>::is_complex)
        return T{a.re, -a.im};
    else
        return a;
}
template <typename T> static __host__ __device__ inline T conjugate_if(bool yes, T a) {
    return yes ? conjugate(a) : a;
}
template <typename T> static __host__ __device__ inline bool is_zero(T a) {
    return a == make<T>(0);
}
/* sum + a b, with fused multiply-add where the machine has it. */
template <typename T> static __host__ __device__ inline T multiply_add(T a, T b, T sum) {
    if constexpr (number<T>::is_complex)
        return T{sum.re + a.re * b.re - a.im * b.im, sum.im + a.re * b.im + a.im * b.re};
    else
        return sum + a * b;
}
/* a / b; complex by Smith's way (1962), which does not overflow where the quotient does not. */
template <typename T> static __host__ __device__ inline T divide(T a, T b) {
    if constexpr (number<T>::is_complex) {
        typedef real_of<T> R;
        R c = b.re < 0 ? -b.re : b.re, d = b.im < 0 ? -b.im : b.im;
        if (c >= d) {
            R ratio = b.im / b.re, scale = b.re + b.im * ratio;
            return T{(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
        }

        R ratio = b.re / b.im, scale = b.re * ratio + b.im;
        return T{(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
    } else {
        return a / b;
    }
}

/* The value of a scalar, in a kernel. */
template <typename T> static __device__ inline T gpu_scalar(const ji_scalar_t &scalar) {
    if (scalar.pointer != nullptr)
        return *(const T *)scalar.pointer;

    T value;
    memcpy(&value, &scalar.value, sizeof value);
    return value;
}

/* Calls with the C++ type of a jdatatype_t: GPU_BY_TYPE(type, f<T>(...)), where T is float, double,
 * complex<...>. */
#define GPU_BY_TYPE(type, ...)                                                                     \
    switch (type) {                                                                                \
    case JDATATYPE_F32: {                                                                          \
        typedef float T;                                                                           \
        __VA_ARGS__;                                                                               \
        break;                                                                                     \
    }                                                                                              \
    case JDATATYPE_F64: {                                                                          \
        typedef double T;                                                                          \
        __VA_ARGS__;                                                                               \
        break;                                                                                     \
    }                                                                                              \
    case JDATATYPE_F32_C: {                                                                        \
        typedef complex<float> T;                                                                  \
        __VA_ARGS__;                                                                               \
        break;                                                                                     \
    }                                                                                              \
    default: {                                                                                     \
        typedef complex<double> T;                                                                 \
        __VA_ARGS__;                                                                               \
        break;                                                                                     \
    }                                                                                              \
    }

#endif
