/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_HOST_REFLECTOR_H
#define JALLOC_LAPACK_HOST_REFLECTOR_H

/* One reflector: H = I - tau v v^H, v = (1, x), of which QR's and LQ's are made; and its numbers,
 * in double, which hold what floats need. */

#include "lapack/lapack.h"

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

/* The norm of n elements; x by a number. */
double ji_reflector_norm(const ji_head_t *head, int64_t n, const void *x, int64_t incx);
void ji_reflector_scale(jdatatype_t type, int64_t n, double re, double im, void *x, int64_t incx);

/* -sign(Re alpha) |(alpha, norm)|. */
double ji_reflector_beta(ji_number_t alpha, double norm);

/* tau, and what x is multiplied by: 1 / (alpha - beta), of which the real part is the larger one,
 * or as large as norm allows. */
typedef struct ji_reflection {
    ji_number_t tau, factor;
} ji_reflection_t;
ji_reflection_t ji_reflection_of(ji_number_t alpha, double beta);

/* H^H (alpha, x) = (beta, 0) with a real beta, whose sign is not alpha's: alpha becomes beta, and x
 * what v has behind its one. H is I, and tau 0, where x is 0 and alpha real. x are n elements, of
 * which the first is incx behind alpha; conjugated, as LQ has them, they are the conjugates of
 * what H is of. */
void ji_reflect(const ji_head_t *head, bool conjugated, int64_t n, void *alpha, int64_t incx,
                void *tau);

#endif
