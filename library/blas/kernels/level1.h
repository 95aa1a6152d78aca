/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_KERNELS_LEVEL1_H
#define JALLOC_BLAS_KERNELS_LEVEL1_H

/* The kernels of level 1: element by element, sums of one block, the search for the largest.
 *
 * x and y are the addresses of the first elements, whatever the sign of the increments; of scal,
 * the sums and the search incx is positive or 0. Vectors side by side (increments of 1) are what is
 * fast. With an increment of 0 each step sees what the one before it wrote.
 *
 * A sum is of one block, at most JI_REDUCE_BLOCK elements; the order of its additions is part of
 * the library's promises. It depends on the length alone: not on the increments, on where memory
 * lies, or on how wide a vector is. In C, for real numbers (256 bytes of them are 32 doubles or 64
 * floats):
 *
 *     real dot(int n, const real *x, const real *y) {
 *         enum { LANES = 256 / sizeof(real) };
 *         real lane[LANES] = {0};
 *         for (int i = 0; i < n; i++)
 *             lane[i % LANES] = fma(x[i], y[i], lane[i % LANES]);
 *         return fold(LANES, lane);
 *     }
 *     real fold(int lanes, real *lane) {
 *         while ((lanes /= 2) > 0)
 *             for (int i = 0; i < lanes; i++)
 *                 lane[i] += lane[i + lanes];
 *         return lane[0] + 0; // -0 becomes 0
 *     }
 *
 *   asum         lane[i % LANES] += fabs(x[i]), over the 2 n parts of a complex x
 *   complex dot  four such sums, of lanes half as many in all: 128 / sizeof(complex) for each of
 *                Re x Re y, Im x Im y, Re x Im y, Im x Re y; the result has the first less the
 *                second, and the third plus the fourth (dotc: plus, and less)
 *   dsdot        in double, 32 lanes of fma((double)x[i], (double)y[i], lane), whose products are
 *                exact: with or without fused multiply-adds the same bits
 *   nrm2         in double for float elements, too: 32 lanes of fma(x[i], x[i], lane), over the 2 n
 *                parts of a complex x. Of doubles only those above 2^-500 are added; if the sum is
 *                not from 2^-800 to 2^800, it is done again with x[i] 2^-e, of those above
 *                2^(e-500), where the largest part is from 2^(e-1) to 2^e and e at most 1000 and at
 *                least -1000; sum and e go on together
 *
 * Longer vectors are blocks of JI_REDUCE_BLOCK elements, added by a tree (host/vector.c); of norms
 * the sum of the smaller e is brought to the larger one first. What is written element by element:
 *
 *     axpy         y = fma(alpha, x, y)
 *     of complex   Re y = fma(-Im alpha, Im x, fma(Re alpha, Re x, Re y))
 *                  Im y = fma(Im alpha, Re x, fma(Re alpha, Im x, Im y))
 *     scal         x = alpha x, both parts where alpha is real
 *     of complex   Re x = fma(-Im alpha, Im x, Re alpha Re x)
 *                  Im x = fma(Im alpha, Re x, Re alpha Im x)
 *
 *     axpby        as axpy, of the y that scal makes of it by beta; where that is not given (NULL),
 *                  y is not read, and becomes what scal makes of x by alpha
 *     rotate       x = fma(h12, y, h11 x) and y = fma(h21, x, h22 y), of what both were before,
 *                  both parts of complex ones alike; h is h11, h12, h21, h22
 *
 * A set without fused multiply-adds (ji_kernel_set_t.fused) rounds each product first, and has
 * other bits. Which NaN comes out of several is not promised. */

#include <math.h>
#include <string.h>

#include "blas/kernels/kernels.h"

/* A sum of squares: sum 4^exponent. */
typedef struct ji_squares {
    double sum;
    int exponent;
} ji_squares_t;

/* 2^exponent, which is a normal number. */
static inline double ji_power_of_2(int exponent) {
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static inline double ji_root_of(const ji_squares_t *squares) {
    const double root = sqrt(squares->sum);
    return squares->exponent == 0 ? root : root * ji_power_of_2(squares->exponent);
}

/* The largest element so far. */
typedef struct ji_found {
    double size;   /* NaN: of the first of these, and what is behind it does not matter */
    int64_t place; /* from 0 on */
} ji_found_t;
/* Before the first. Where all elements are infinite, none is smaller, and it is the first. */
#define JI_NOTHING_LARGE ((ji_found_t){-1, -1})
#define JI_NOTHING_SMALL ((ji_found_t){-(double)INFINITY, 0})

struct ji_level1 {
    void (*axpy)(int64_t n, const void *alpha, const void *x, int64_t incx, void *y, int64_t incy);
    void (*copy)(int64_t n, const void *x, int64_t incx, void *y, int64_t incy);
    void (*swap)(int64_t n, void *x, int64_t incx, void *y, int64_t incy);
    void (*scal)(int64_t n, const void *alpha, void *x, int64_t incx);
    void (*rscal)(int64_t n, const void *alpha, void *x, int64_t incx); /* alpha is real */
    void (*axpby)(int64_t n, const void *alpha, const void *x, int64_t incx, const void *beta,
                  void *y, int64_t incy);
    void (*rotate)(int64_t n, void *x, int64_t incx, void *y, int64_t incy, const void *h);
    void (*dot)(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *sum);
    void (*dotc)(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *sum);
    /* Of floats alone, elsewhere NULL; the sum is a double. */
    void (*dsdot)(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *sum);
    void (*asum)(int64_t n, const void *x, int64_t incx, void *sum);
    void (*squares)(int64_t n, const void *x, int64_t incx, ji_squares_t *sum);
    void (*nrm2)(int64_t n, const void *x, int64_t incx, void *norm); /* the root of these */
    /* Elements `first` and on of some vector: replaces what was found in those before them if there
     * is a larger one, or a NaN. Of any n. */
    void (*iamax)(int64_t n, const void *x, int64_t incx, int64_t first, ji_found_t *found);
    /* The same for the smallest: sizes are negated, and before the first JI_NOTHING_SMALL. */
    void (*iamin)(int64_t n, const void *x, int64_t incx, int64_t first, ji_found_t *found);
};

/* By a cosine and a sine of the real type. */
static inline void ji_rotate(const ji_level1_t *kernels, jdatatype_t type, int64_t n, void *x,
                             int64_t incx, void *y, int64_t incy, const void *c, const void *s) {
    if (ji_real_of(type) == JDATATYPE_F32) {
        const float cosine = *(const float *)c, sine = *(const float *)s;
        kernels->rotate(n, x, incx, y, incy, (float[]){cosine, sine, -sine, cosine});
    } else {
        const double cosine = *(const double *)c, sine = *(const double *)s;
        kernels->rotate(n, x, incx, y, incy, (double[]){cosine, sine, -sine, cosine});
    }
}

extern const ji_level1_t *const ji_level1_avx512[4], *const ji_level1_avx2[4],
                                                         *const ji_level1_generic[4];

#endif
