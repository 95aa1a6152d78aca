/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_REFINE_H
#define JALLOC_LAPACK_REFINE_H

/* Residuals and backward errors, componentwise, of op(A) X = B: host/refine.c. */

#include "lapack/estimate.h"

/* r = b - op(A) x of one right-hand side; A is Hermitian where the call has `uplo`. */
void ji_refine_residual(const ji_refine_t *call, const void *b, const void *x, void *r);
/* w = |b| + |op(A)||x|, of the real type, with absolute values |Re| + |Im|. */
void ji_refine_sizes(const ji_refine_t *call, const void *b, const void *x, void *w);
/* Both, for which a general A is read once. */
void ji_refine_residual_and_sizes(const ji_refine_t *call, const void *b, const void *x, void *r,
                                  void *w);
/* The largest |r| / w, where both are far above what underflows; NaN where one is. */
double ji_refine_backward(const ji_refine_t *call, const void *r, const void *w);

#endif
