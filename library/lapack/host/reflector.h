/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_HOST_REFLECTOR_H
#define JALLOC_LAPACK_HOST_REFLECTOR_H

/* One reflector: H = I - tau v v^H, v = (1, x), of which QR's and LQ's are made. */

#include "lapack/lapack.h"
#include "lapack/number.h"

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
