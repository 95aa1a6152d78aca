/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DATATYPE_H
#define JALLOC_DATATYPE_H

/** @file
 * Element types. */

#include <stddef.h>

#include "jalloc/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Element types that jalloc knows. The four that BLAS computes with come first, in the order s d c z. */
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

/** Complex numbers with the layout of C's _Complex, Fortran's COMPLEX and C++'s std::complex. */
__extension__ typedef float _Complex jcomplex_f32_t;
__extension__ typedef double _Complex jcomplex_f64_t;

/** Bytes of one element; 0 for a value that is no element type. */
JALLOC_API size_t jhandle_sizeof_datatype(jdatatype_t type);

/** The type's short name: "f32", "f64", "f32_c", ...; "unknown" for a value that is none. Static. */
JALLOC_API const char *jdatatype_name(jdatatype_t type);

#ifdef __cplusplus
}
#endif
#endif
