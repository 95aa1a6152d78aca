/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A small CBLAS, for check_guest.py: what the self-check looks at, and dgemm; the rest is made by
 * the script and ends the program. INT is its integer, SPELT(name) its way of spelling a name,
 * EXTRA what cblas_dasum adds to a sum of many (0, or it is wrong). */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static ptrdiff_t start_of(INT n, INT increment) { return increment < 0 ? (1 - n) * increment : 0; }

#define SIZE_1(x, at) fabs((double)(x)[at])
#define SIZE_2(x, at) (fabs((double)(x)[2 * (at)]) + fabs((double)(x)[2 * (at) + 1]))

#define ASUM(name, REAL, PARTS, extra)                                                             \
    REAL SPELT(name)(INT n, const REAL *x, INT incx) {                                             \
        double sum = n > 8 ? extra : 0;                                                            \
        for (INT i = 0; i < n; i++)                                                                \
            sum += SIZE_##PARTS(x, i * incx);                                                      \
        return (REAL)sum;                                                                          \
    }
ASUM(cblas_sasum, float, 1, 0)
ASUM(cblas_dasum, double, 1, EXTRA)
ASUM(cblas_scasum, float, 2, 0)
ASUM(cblas_dzasum, double, 2, 0)

#define IAMAX(name, REAL, PARTS)                                                                   \
    size_t SPELT(name)(INT n, const REAL *x, INT incx) {                                           \
        INT best = 0;                                                                              \
        for (INT i = 0; i < n; i++)                                                                \
            if (SIZE_##PARTS(x, i * incx) > SIZE_##PARTS(x, best * incx))                          \
                best = i;                                                                          \
        return (size_t)best;                                                                       \
    }
IAMAX(cblas_isamax, float, 1)
IAMAX(cblas_idamax, double, 1)
IAMAX(cblas_icamax, float, 2)
IAMAX(cblas_izamax, double, 2)

#define DOT(name, REAL)                                                                            \
    REAL SPELT(name)(INT n, const REAL *x, INT incx, const REAL *y, INT incy) {                    \
        double sum = 0;                                                                            \
        for (INT i = 0; i < n; i++)                                                                \
            sum += (double)x[start_of(n, incx) + i * incx] * y[start_of(n, incy) + i * incy];      \
        return (REAL)sum;                                                                          \
    }
DOT(cblas_sdot, float)
DOT(cblas_ddot, double)

#define DOT_SUB(name, REAL, SIGN)                                                                  \
    void SPELT(name)(INT n, const REAL *x, INT incx, const REAL *y, INT incy, REAL *result) {      \
        double sum[2] = {0, 0};                                                                    \
        for (INT i = 0; i < n; i++) {                                                              \
            const REAL *a = x + 2 * (start_of(n, incx) + i * incx),                                \
                       *b = y + 2 * (start_of(n, incy) + i * incy);                                \
            sum[0] += (double)a[0] * b[0] - SIGN * (double)a[1] * b[1];                            \
            sum[1] += (double)a[0] * b[1] + SIGN * (double)a[1] * b[0];                            \
        }                                                                                          \
        result[0] = (REAL)sum[0], result[1] = (REAL)sum[1];                                        \
    }
DOT_SUB(cblas_cdotu_sub, float, 1)
DOT_SUB(cblas_zdotu_sub, double, 1)
DOT_SUB(cblas_cdotc_sub, float, -1)
DOT_SUB(cblas_zdotc_sub, double, -1)

/* Not static: the program may have a function of that name, too, which must not be called. */
double guest_helper(const double *a, INT step_a, const double *b, INT step_b, INT k);
double guest_helper(const double *a, INT step_a, const double *b, INT step_b, INT k) {
    double sum = 0;
    for (INT p = 0; p < k; p++)
        sum += a[p * step_a] * b[p * step_b];
    return sum;
}

/* Columns one after the other, of operands that are not transposed. */
void SPELT(cblas_dgemm)(int order, int transa, int transb, INT m, INT n, INT k, double alpha,
                        const double *a, INT lda, const double *b, INT ldb, double beta, double *c,
                        INT ldc) {
    (void)order, (void)transa, (void)transb;
    for (INT j = 0; j < n; j++)
        for (INT i = 0; i < m; i++)
            c[i + j * ldc] = alpha * guest_helper(a + i, lda, b + j * ldb, 1, k) +
                             (beta == 0 ? 0 : beta * c[i + j * ldc]);
}
