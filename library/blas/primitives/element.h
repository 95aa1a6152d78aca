/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_PRIMITIVES_ELEMENT_H
#define JALLOC_BLAS_PRIMITIVES_ELEMENT_H

/* Element types, the first four of jdatatype_t, in the order s d c z. What the host's kernels know
 * of jblas is this and operations: which routines there are is nothing to them, and does not have
 * them compiled again. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/datatype.h"

static inline bool ji_is_complex(jdatatype_t type) {
    return ((int)type | 1) == (int)JDATATYPE_F64_C;
}
static inline bool ji_is_half(jdatatype_t type) {
    return type == JDATATYPE_F16 || type == JDATATYPE_BF16;
}

/* s for s and c, d for d and z. */
static inline jdatatype_t ji_real_of(jdatatype_t type) { return (jdatatype_t)((int)type & 1); }
static inline size_t ji_sizeof(jdatatype_t type) {
    return (size_t)4 << (((int)type & 1) + ((int)type >> 1));
}

/* Element (i, j) of a column-major matrix; ji_at(type, x, 0, i, 1) is element i of a vector. */
static inline void *ji_at(jdatatype_t type, const void *a, int64_t i, int64_t j, int64_t lda) {
    return (char *)(uintptr_t)a + (i + j * lda) * (int64_t)ji_sizeof(type);
}

/* Element (i, j) of a packed triangle of order n is i elements behind this one. */
static inline int64_t ji_packed_start(bool upper, int64_t n, int64_t j) {
    return upper ? j * (j + 1) / 2 : j * (2 * n - j - 1) / 2;
}

/* Number i of some of the type's reals. */
static inline double ji_real_at(jdatatype_t type, const void *reals, int i) {
    return ji_real_of(type) == JDATATYPE_F32 ? (double)((const float *)reals)[i]
                                             : ((const double *)reals)[i];
}

#endif
