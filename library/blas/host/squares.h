/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_HOST_SQUARES_H
#define JALLOC_BLAS_HOST_SQUARES_H

/* Sums of squares of a vector's blocks (kernels/level1.h) as one. */

#include "blas/kernels/level1.h"

/* Sums that were scaled are added at the larger of their scales. */
static inline void ji_join_squares(ji_squares_t *sum, const ji_squares_t *more) {
    if (more->sum == 0)
        return;
    if (sum->sum == 0) {
        *sum = *more;
        return;
    }

    const int exponent = sum->exponent > more->exponent ? sum->exponent : more->exponent;
    sum->sum = ldexp(sum->sum, 2 * (sum->exponent - exponent)) +
               ldexp(more->sum, 2 * (more->exponent - exponent));
    sum->exponent = exponent;
}

#endif
