/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_HOST_PLAIN_H
#define JALLOC_BLAS_HOST_PLAIN_H

/* Level 1 by plain loops: what a primitive does where the CBLAS is not to be trusted. Any n and any
 * increment, one element after the other: with an increment of 0 each step sees what the one before
 * it wrote, as in reference BLAS. The blocks are those of the primitives. Float sums are formed in
 * double. */

#include "blas/primitives/primitive.h"

void ji_plain_axpy(const ji_vector_t *v);
void ji_plain_copy(const ji_vector_t *v);
void ji_plain_swap(const ji_vector_t *v);
void ji_plain_scal(const ji_vector_t *v, bool complex_alpha);
void ji_plain_asum(const ji_vector_t *v);
void ji_plain_dot(const ji_vector_t *v, bool conjugate);
void ji_plain_iamax(const ji_vector_t *v); /* the first NaN, if there is one */

#endif
