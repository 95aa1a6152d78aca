/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_NUMBER_H
#define JALLOC_LAPACK_NUMBER_H

/* An element of any type as a complex number of doubles, which hold what floats need: for steps
 * that are few. */

#include "blas/primitives/element.h"

typedef struct ji_number {
    double re, im;
} ji_number_t;

static inline ji_number_t ji_number_load(jdatatype_t type, const void *x) {
    return (ji_number_t){ji_real_at(type, x, 0), ji_is_complex(type) ? ji_real_at(type, x, 1) : 0};
}

static inline void ji_number_store(jdatatype_t type, void *x, double re, double im) {
    switch (type) {
    case JDATATYPE_F32: *(float *)x = (float)re; break;
    case JDATATYPE_F64: *(double *)x = re; break;
    case JDATATYPE_F32_C: ((float *)x)[0] = (float)re, ((float *)x)[1] = (float)im; break;
    default: ((double *)x)[0] = re, ((double *)x)[1] = im;
    }
}

#endif
