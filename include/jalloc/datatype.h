/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DATATYPE_H
#define JALLOC_DATATYPE_H

/** @file
 * Element types. Without state: any thread may call these. */

#include <stddef.h>
#include <stdint.h>

#include "jalloc/export.h"
#include "jalloc/status.h"

#ifdef __cplusplus
#include <complex>

extern "C" {
#endif

/** Element types that jalloc knows. The four that BLAS computes with come first, in the order s d c
 * z. */
typedef enum jdatatype_t {
    JDATATYPE_F32 = 0,   /**< IEEE binary32, "s" */
    JDATATYPE_F64 = 1,   /**< IEEE binary64, "d" */
    JDATATYPE_F32_C = 2, /**< two binary32: real part, imaginary part, "c" */
    JDATATYPE_F64_C = 3, /**< two binary64: real part, imaginary part, "z" */
    JDATATYPE_F16 = 4,   /**< IEEE binary16 */
    JDATATYPE_BF16 = 5,  /**< bfloat16: the upper half of a binary32 */
    JDATATYPE_I8 = 6,    /**< signed 8-bit integer */
    JDATATYPE_I32 = 7    /**< signed 32-bit integer */
} jdatatype_t;

/** Complex numbers: C's _Complex in C, std::complex in C++, both with the layout of Fortran's
 * COMPLEX. */
#ifdef __cplusplus
typedef std::complex<float> jcomplex_f32_t;
typedef std::complex<double> jcomplex_f64_t;
#else
__extension__ typedef float _Complex jcomplex_f32_t;
__extension__ typedef double _Complex jcomplex_f64_t;
#endif

/** A number of 16 bits, as it is stored: IEEE binary16. A struct, so that it is not taken for an
 * integer. Frozen. */
typedef struct jfloat16_t {
    uint16_t bits; /**< sign, 5 bits of exponent (bias 15), 10 of fraction */
} jfloat16_t;
/** bfloat16: the upper half of a binary32. Frozen. */
typedef struct jbfloat16_t {
    uint16_t bits; /**< sign, 8 bits of exponent (bias 127), 7 of fraction */
} jbfloat16_t;

/** @name Between 16 bits and float
 * Inline, without tables or branches that data decides, so that a compiler makes vectors of a loop;
 * in GPU code too. To float is exact, subnormals included. From float rounds to the nearest, ties
 * to the even one, whatever the rounding mode: too large becomes infinity (from 65520 on for
 * binary16), too small a subnormal or a zero of the same sign. A NaN stays a NaN with its sign and
 * the upper bits of its payload, and becomes quiet.
 * @{ */
#if defined(__CUDACC__) || defined(__HIPCC__)
#define JALLOC_HOST_DEVICE_ __host__ __device__
#else
#define JALLOC_HOST_DEVICE_
#endif

/** The bits of a float. */
static inline JALLOC_HOST_DEVICE_ uint32_t jalloc_f32_bits_(float value) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}
/** The float of these bits. */
static inline JALLOC_HOST_DEVICE_ float jalloc_f32_of_bits_(uint32_t bits) {
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

/** binary16 to float. */
JALLOC_INLINE JALLOC_HOST_DEVICE_ float jalloc_f32_from_f16(jfloat16_t value) {
    uint32_t sign = (uint32_t)(value.bits & 0x8000u) << 16, rest = value.bits & 0x7fffu;
    /* Exponents: + 112, + 224. */
    uint32_t normal = (rest << 13) + (rest >= 0x7c00u ? 0x70000000u : 0x38000000u);
    /* 2^-14 + fraction 2^-24, less 2^-14: exact, and no subnormal float is ever looked at. */
    float subnormal = jalloc_f32_of_bits_(0x38800000u + (rest << 13)) - 6.103515625e-05f;
    return jalloc_f32_of_bits_(sign | (rest < 0x0400u ? jalloc_f32_bits_(subnormal) : normal));
}
/** Float to binary16. */
JALLOC_INLINE JALLOC_HOST_DEVICE_ jfloat16_t jalloc_f16_from_f32(float value) {
    uint32_t bits = jalloc_f32_bits_(value), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    uint32_t normal =
        /* A carry grows the exponent, as it should. */
        (rest - 0x38000000u + 0x0fffu + (rest >> 13 & 1u)) >> 13;
    /* Below 2^-14: the significand, moved down to multiples of 2^-24. */
    uint32_t exponent = rest >> 23, at = exponent < 102u || exponent > 112u ? 25u : 126u - exponent;
    uint32_t significand = (rest & 0x007fffffu) | 0x00800000u;
    uint32_t kept = significand >> at, lost = significand & ((1u << at) - 1u),
             half = 1u << (at - 1u);
    uint32_t small =
        exponent < 102u ? 0u : kept + (lost > half || (lost == half && (kept & 1u)) ? 1u : 0u);
    uint32_t result = rest < 0x38800000u ? small : rest < 0x477ff000u ? normal : 0x7c00u;
    jfloat16_t half_value = {
        (uint16_t)(sign | (rest > 0x7f800000u ? 0x7e00u | (rest >> 13 & 0x03ffu) : result))};
    return half_value;
}
/** bfloat16 to float. */
JALLOC_INLINE JALLOC_HOST_DEVICE_ float jalloc_f32_from_bf16(jbfloat16_t value) {
    return jalloc_f32_of_bits_((uint32_t)value.bits << 16);
}
/** Float to bfloat16. */
JALLOC_INLINE JALLOC_HOST_DEVICE_ jbfloat16_t jalloc_bf16_from_f32(float value) {
    uint32_t bits = jalloc_f32_bits_(value);
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, quiet = bits >> 16 | 0x0040u;
    jbfloat16_t result = {(uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded)};
    return result;
}
/** @} */

/** Bytes of one element; 0 for a value that is no element type. */
JALLOC_API size_t jdatatype_bytes(jdatatype_t type);
/** The same, by the name that it has beside a handle. */
JALLOC_API size_t jhandle_sizeof_datatype(jdatatype_t type);

/** The type's short name: "f32", "f64", "f32_c", ...; "unknown" for a value that is none.
 * Static. */
JALLOC_API const char *jdatatype_name(jdatatype_t type);

/** The type of that name ("f64"); the inverse of jdatatype_name(). @return success; invalid
 * pointer; invalid value. */
JALLOC_API jstatus_t jdatatype_parse(const char *name, jdatatype_t *type);

#ifdef __cplusplus
}
#endif
#endif
