/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_TYPED_H
#define JALLOC_GPU_BLAS_TYPED_H

/* Elements whose type a kernel learns when it runs: read as T, what is computed with, and rounded
 * once when they are written. All threads ask for the same type, and memory takes longer than the
 * question; a kernel for each of thirty combinations would be thirty times the code.
 *
 * Where an element may be either, a kernel says stored_at<STORED>::pointer in place of STORED *,
 * and typed<T> is what is stored. */

#include <type_traits>

#include "gpu/blas/narrow.h"
#include "gpu/blas/number.h"

/* Integers modulo 2^32: signed ones must not overflow. */
typedef uint32_t gpu_integer_t;

/* ---- One element ---- */

/* A double as the float that rounding to 16 bits makes the same of: toward zero, and its last bit
 * set where that is not exact (host/convert.c). */
static __device__ inline float to_odd(double x) {
    const float nearest = (float)x;
    if ((double)nearest == x || x != x)
        return nearest;

    const double size = nearest < 0 ? -(double)nearest : (double)nearest, of_x = x < 0 ? -x : x;
    const uint32_t bits = jalloc_f32_bits_(nearest);
    return jalloc_f32_of_bits_((size > of_x ? bits - 1 : bits) | 1);
}

/* Number i, of the type, as a T. */
template <typename T>
static __device__ inline T typed_load(const void *data, jdatatype_t type, int64_t i) {
    if constexpr (std::is_same_v<T, gpu_integer_t>) {
        return type == JDATATYPE_I8 ? (T)(int32_t)((const int8_t *)data)[i] : ((const T *)data)[i];
    } else if constexpr (number<T>::is_complex) {
        typedef real_of<T> R;
        if (type == JDATATYPE_F64_C)
            return T{(R)((const double *)data)[2 * i], (R)((const double *)data)[2 * i + 1]};
        return T{(R)((const float *)data)[2 * i], (R)((const float *)data)[2 * i + 1]};
    } else {
        switch (type) {
        case JDATATYPE_F16: return (T)widen(((const jfloat16_t *)data)[i]);
        case JDATATYPE_BF16: return (T)widen(((const jbfloat16_t *)data)[i]);
        case JDATATYPE_F32: return (T)((const float *)data)[i];
        default: return (T)((const double *)data)[i];
        }
    }
}

/* Of a scalar that the host knows; T is real where the type is. */
template <typename T> static inline T typed_known(const ji_value_t &value, jdatatype_t type) {
    if constexpr (number<T>::is_complex) {
        typedef real_of<T> R;
        return type == JDATATYPE_F64_C ? T{(R)value.z[0], (R)value.z[1]}
                                       : T{(R)value.c[0], (R)value.c[1]};
    } else {
        jfloat16_t f16;
        jbfloat16_t bf16;
        memcpy(&f16, &value, sizeof f16);
        memcpy(&bf16, &value, sizeof bf16);
        switch (type) {
        case JDATATYPE_F16: return (T)jalloc_f32_from_f16(f16);
        case JDATATYPE_BF16: return (T)jalloc_f32_from_bf16(bf16);
        case JDATATYPE_F32: return (T)value.s;
        default: return (T)value.d;
        }
    }
}

static __device__ inline float typed_narrow(float x) { return x; }
static __device__ inline float typed_narrow(double x) { return to_odd(x); }

template <typename T>
static __device__ inline void typed_store(T value, void *data, jdatatype_t type, int64_t i) {
    if constexpr (std::is_same_v<T, gpu_integer_t>) {
        ((T *)data)[i] = value; /* of 32 bits: nothing else is written */
    } else if constexpr (number<T>::is_complex) {
        if (type == JDATATYPE_F64_C) {
            ((double *)data)[2 * i] = value.re;
            ((double *)data)[2 * i + 1] = value.im;
        } else {
            ((float *)data)[2 * i] = (float)value.re;
            ((float *)data)[2 * i + 1] = (float)value.im;
        }
    } else {
        switch (type) {
        case JDATATYPE_F16: narrow(typed_narrow(value), (jfloat16_t *)data + i); break;
        case JDATATYPE_BF16: narrow(typed_narrow(value), (jbfloat16_t *)data + i); break;
        case JDATATYPE_F32: ((float *)data)[i] = (float)value; break;
        default: ((double *)data)[i] = (double)value; break;
        }
    }
}

/* ---- Pointers to them ---- */

static __host__ __device__ inline int typed_bytes(jdatatype_t type) {
    switch (type) {
    case JDATATYPE_I8: return 1;
    case JDATATYPE_F16:
    case JDATATYPE_BF16: return 2;
    case JDATATYPE_F64:
    case JDATATYPE_F32_C: return 8;
    case JDATATYPE_F64_C: return 16;
    default: return 4;
    }
}

/* Is used as a T * is, but that what is written goes by narrow(). */
template <typename T> struct typed_pointer {
    char *data;
    jdatatype_t type;
    int bytes;

    __host__ __device__ inline typed_pointer operator+(int64_t count) const {
        return typed_pointer{data + count * bytes, type, bytes};
    }
    __device__ inline typed_pointer &operator+=(int64_t count) {
        data += count * bytes;
        return *this;
    }
    __device__ inline T operator[](int64_t i) const { return typed_load<T>(data, type, i); }
    __device__ inline T operator*() const { return typed_load<T>(data, type, 0); }
};
template <typename T> static __device__ inline void narrow(T value, typed_pointer<T> to) {
    typed_store(value, to.data, to.type, 0);
}

/* Of the array itself, or of element 0 of a vector. */
template <typename T>
static __host__ __device__ inline typed_pointer<T> typed_at(const void *data, jdatatype_t type) {
    return typed_pointer<T>{(char *)const_cast<void *>(data), type, typed_bytes(type)};
}
template <typename T>
static __host__ __device__ inline typed_pointer<T> typed_start(const void *x, jdatatype_t type,
                                                               int64_t n, int64_t inc) {
    const typed_pointer<T> lowest = typed_at<T>(x, type);
    return inc < 0 && n > 0 && x != nullptr ? lowest + (1 - n) * inc : lowest;
}

template <typename T> struct typed {};
template <typename STORED> struct stored_at { typedef STORED *pointer; };
template <typename T> struct stored_at<typed<T>> { typedef typed_pointer<T> pointer; };
template <typename T> struct stored_at<const typed<T>> { typedef typed_pointer<T> pointer; };

#endif
