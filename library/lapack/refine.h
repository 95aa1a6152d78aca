/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_REFINE_H
#define JALLOC_LAPACK_REFINE_H

/* Residuals and backward errors, componentwise, of op(A) X = B: host/refine.c. */

#include <float.h>
#include <math.h>

#include "lapack/estimate.h"

/* r = b - op(A) x of one right-hand side; A is Hermitian where the call has `uplo`. */
void ji_refine_residual(const ji_refine_t *call, const void *b, const void *x, void *r);
/* w = |b| + |op(A)||x|, of the real type, with absolute values |Re| + |Im|. */
void ji_refine_sizes(const ji_refine_t *call, const void *b, const void *x, void *w);
/* Both, for which a general A is read once. */
void ji_refine_residual_and_sizes(const ji_refine_t *call, const void *b, const void *x, void *r,
                                  void *w);
/* w of one row, for the residual of that row: where w alone has overflowed, the largest number,
 * which is less. What is measured by it is then more than it is, and not 0. */
static inline double ji_refine_weight(jdatatype_t real, double residual, double w) {
    return isinf(w) && isfinite(residual) ? real == JDATATYPE_F32 ? (double)FLT_MAX : DBL_MAX : w;
}
/* The largest |r| / w, where both are far above what underflows; NaN where one is. */
double ji_refine_backward(const ji_refine_t *call, const void *r, const void *w);

#endif
