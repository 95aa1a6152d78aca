/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_LEVEL1_H
#define JALLOC_JBLAS_LEVEL1_H

/** @file
 * BLAS on a handle, level 1: vectors. What holds for all routines stands in jblas.h. */

#include <stdint.h>

#include "jalloc/datatype.h"
#include "jalloc/export.h"
#include "jalloc/handle.h"
#include "jalloc/jblas_types.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name Level 1: vectors
 * Without a plan, but for dot, dsdot, sdsdot, nrm2, asum, iamax and iamin on a GPU. n <= 0 is a
 * vector without elements, as in BLAS: results are 0. With an increment of 0 each step sees what
 * the one before it wrote.
 * @{ */

/** result = sum of |x_i|; for complex x of |Re x_i| + |Im x_i|. incx <= 0: 0, as reference BLAS.
 * Workspace: on the host none; on a GPU for more than 4096 elements rung 0 "partial-sums" one sum
 * for each 4096, rung 1 "serial" none (slow: one thread block). The order of the additions depends
 * on n alone, so both rungs, any increments and any number of threads give the same bits (but by
 * the CBLAS, JALLOC_HOST_BLAS=cblas, those that it gives). */
JALLOC_API jstatus_t jblas_sasum(jhandle_t *handle, int64_t n, const float *x, int64_t incx,
                                 float *result);
JALLOC_API jstatus_t jblas_dasum(jhandle_t *handle, int64_t n, const double *x, int64_t incx,
                                 double *result);
JALLOC_API jstatus_t jblas_scasum(jhandle_t *handle, int64_t n, const jcomplex_f32_t *x,
                                  int64_t incx, float *result);
JALLOC_API jstatus_t jblas_dzasum(jhandle_t *handle, int64_t n, const jcomplex_f64_t *x,
                                  int64_t incx, double *result);

/** y = alpha x + y. alpha = 0: a no-op. */
JALLOC_API jstatus_t jblas_saxpy(jhandle_t *handle, int64_t n, const float *alpha, const float *x,
                                 int64_t incx, float *y, int64_t incy);
JALLOC_API jstatus_t jblas_daxpy(jhandle_t *handle, int64_t n, const double *alpha, const double *x,
                                 int64_t incx, double *y, int64_t incy);
JALLOC_API jstatus_t jblas_caxpy(jhandle_t *handle, int64_t n, const jcomplex_f32_t *alpha,
                                 const jcomplex_f32_t *x, int64_t incx, jcomplex_f32_t *y,
                                 int64_t incy);
JALLOC_API jstatus_t jblas_zaxpy(jhandle_t *handle, int64_t n, const jcomplex_f64_t *alpha,
                                 const jcomplex_f64_t *x, int64_t incx, jcomplex_f64_t *y,
                                 int64_t incy);

/** y = alpha x + beta y. With an alpha of 0 x is not read, with a beta of 0 y is not: then it is
 * alpha x, whatever was in it. */
JALLOC_API jstatus_t jblas_saxpby(jhandle_t *handle, int64_t n, const float *alpha, const float *x,
                                  int64_t incx, const float *beta, float *y, int64_t incy);
JALLOC_API jstatus_t jblas_daxpby(jhandle_t *handle, int64_t n, const double *alpha,
                                  const double *x, int64_t incx, const double *beta, double *y,
                                  int64_t incy);
JALLOC_API jstatus_t jblas_caxpby(jhandle_t *handle, int64_t n, const jcomplex_f32_t *alpha,
                                  const jcomplex_f32_t *x, int64_t incx, const jcomplex_f32_t *beta,
                                  jcomplex_f32_t *y, int64_t incy);
JALLOC_API jstatus_t jblas_zaxpby(jhandle_t *handle, int64_t n, const jcomplex_f64_t *alpha,
                                  const jcomplex_f64_t *x, int64_t incx, const jcomplex_f64_t *beta,
                                  jcomplex_f64_t *y, int64_t incy);

/** y = x. */
JALLOC_API jstatus_t jblas_scopy(jhandle_t *handle, int64_t n, const float *x, int64_t incx,
                                 float *y, int64_t incy);
JALLOC_API jstatus_t jblas_dcopy(jhandle_t *handle, int64_t n, const double *x, int64_t incx,
                                 double *y, int64_t incy);
JALLOC_API jstatus_t jblas_ccopy(jhandle_t *handle, int64_t n, const jcomplex_f32_t *x,
                                 int64_t incx, jcomplex_f32_t *y, int64_t incy);
JALLOC_API jstatus_t jblas_zcopy(jhandle_t *handle, int64_t n, const jcomplex_f64_t *x,
                                 int64_t incx, jcomplex_f64_t *y, int64_t incy);

/** result = x^T y.
 * Workspace: on the host none; on a GPU for more than 4096 elements rung 0 "partial-sums" one sum
 * for each 4096, rung 1 "serial" none (slow: one thread block). The order of the additions depends
 * on n alone, so both rungs, any increments and any number of threads give the same bits (but by
 * the CBLAS, JALLOC_HOST_BLAS=cblas, those that it gives). */
JALLOC_API jstatus_t jblas_sdot(jhandle_t *handle, int64_t n, const float *x, int64_t incx,
                                const float *y, int64_t incy, float *result);
JALLOC_API jstatus_t jblas_ddot(jhandle_t *handle, int64_t n, const double *x, int64_t incx,
                                const double *y, int64_t incy, double *result);

/** result = x^T y of floats, multiplied and added in double. Workspace as jblas_ddot. */
JALLOC_API jstatus_t jblas_dsdot(jhandle_t *handle, int64_t n, const float *x, int64_t incx,
                                 const float *y, int64_t incy, double *result);

/** result = alpha + x^T y, computed in double as jblas_dsdot and rounded once at the end. n <= 0:
 * alpha. Workspace as jblas_ddot. */
JALLOC_API jstatus_t jblas_sdsdot(jhandle_t *handle, int64_t n, const float *alpha, const float *x,
                                  int64_t incx, const float *y, int64_t incy, float *result);

/** result = x^T y, without conjugation. Workspace as jblas_ddot. */
JALLOC_API jstatus_t jblas_cdotu(jhandle_t *handle, int64_t n, const jcomplex_f32_t *x,
                                 int64_t incx, const jcomplex_f32_t *y, int64_t incy,
                                 jcomplex_f32_t *result);
JALLOC_API jstatus_t jblas_zdotu(jhandle_t *handle, int64_t n, const jcomplex_f64_t *x,
                                 int64_t incx, const jcomplex_f64_t *y, int64_t incy,
                                 jcomplex_f64_t *result);

/** result = x^H y. Workspace as jblas_ddot. */
JALLOC_API jstatus_t jblas_cdotc(jhandle_t *handle, int64_t n, const jcomplex_f32_t *x,
                                 int64_t incx, const jcomplex_f32_t *y, int64_t incy,
                                 jcomplex_f32_t *result);
JALLOC_API jstatus_t jblas_zdotc(jhandle_t *handle, int64_t n, const jcomplex_f64_t *x,
                                 int64_t incx, const jcomplex_f64_t *y, int64_t incy,
                                 jcomplex_f64_t *result);

/** result = the 1-based index of the first element with the largest |x_i|, for complex x |Re x_i| +
 * |Im x_i|; 0 for n <= 0 or incx <= 0. A NaN counts as larger than everything: the first one is
 * found. Workspace: on a GPU for more than 4096 elements rung 0 "partial-sums" one maximum and its
 * index for each 4096, rung 1 "serial" none; otherwise, and on the host, none. */
JALLOC_API jstatus_t jblas_isamax(jhandle_t *handle, int64_t n, const float *x, int64_t incx,
                                  int64_t *result);
JALLOC_API jstatus_t jblas_idamax(jhandle_t *handle, int64_t n, const double *x, int64_t incx,
                                  int64_t *result);
JALLOC_API jstatus_t jblas_icamax(jhandle_t *handle, int64_t n, const jcomplex_f32_t *x,
                                  int64_t incx, int64_t *result);
JALLOC_API jstatus_t jblas_izamax(jhandle_t *handle, int64_t n, const jcomplex_f64_t *x,
                                  int64_t incx, int64_t *result);

/** result = the 1-based index of the first element with the smallest |x_i|, for complex x
 * |Re x_i| + |Im x_i|; 0 for n <= 0 or incx <= 0. A NaN is not hidden: if there is one, the first
 * is found.
 * An extension, which the reference BLAS does not have. Workspace as jblas_idamax. */
JALLOC_API jstatus_t jblas_isamin(jhandle_t *handle, int64_t n, const float *x, int64_t incx,
                                  int64_t *result);
JALLOC_API jstatus_t jblas_idamin(jhandle_t *handle, int64_t n, const double *x, int64_t incx,
                                  int64_t *result);
JALLOC_API jstatus_t jblas_icamin(jhandle_t *handle, int64_t n, const jcomplex_f32_t *x,
                                  int64_t incx, int64_t *result);
JALLOC_API jstatus_t jblas_izamin(jhandle_t *handle, int64_t n, const jcomplex_f64_t *x,
                                  int64_t incx, int64_t *result);

/** result = the Euclidean norm of x, scaled where squares would overflow or underflow. A NaN gives
 * NaN, otherwise an infinity infinity. incx < 0 is the same vector from the other end, incx = 0 n
 * times the same element. Workspace as jblas_ddot, two numbers for each 4096 elements. */
JALLOC_API jstatus_t jblas_snrm2(jhandle_t *handle, int64_t n, const float *x, int64_t incx,
                                 float *result);
JALLOC_API jstatus_t jblas_dnrm2(jhandle_t *handle, int64_t n, const double *x, int64_t incx,
                                 double *result);
JALLOC_API jstatus_t jblas_scnrm2(jhandle_t *handle, int64_t n, const jcomplex_f32_t *x,
                                  int64_t incx, float *result);
JALLOC_API jstatus_t jblas_dznrm2(jhandle_t *handle, int64_t n, const jcomplex_f64_t *x,
                                  int64_t incx, double *result);

/** Rotates each pair of elements: x_i = c x_i + s y_i and y_i = c y_i - s x_i, of what both were
 * before. c and s are real, for complex x and y, too. */
JALLOC_API jstatus_t jblas_srot(jhandle_t *handle, int64_t n, float *x, int64_t incx, float *y,
                                int64_t incy, const float *c, const float *s);
JALLOC_API jstatus_t jblas_drot(jhandle_t *handle, int64_t n, double *x, int64_t incx, double *y,
                                int64_t incy, const double *c, const double *s);
JALLOC_API jstatus_t jblas_csrot(jhandle_t *handle, int64_t n, jcomplex_f32_t *x, int64_t incx,
                                 jcomplex_f32_t *y, int64_t incy, const float *c, const float *s);
JALLOC_API jstatus_t jblas_zdrot(jhandle_t *handle, int64_t n, jcomplex_f64_t *x, int64_t incx,
                                 jcomplex_f64_t *y, int64_t incy, const double *c, const double *s);

/** Applies a modified Givens transformation H to each pair of elements: (x_i, y_i) = H (x_i, y_i).
 * The five numbers of param are a flag, h11, h21, h12 and h22. What the flag implies of H is not
 * read:
 *
 *     flag -1: h11 h12    flag 0:  1  h12    flag 1:  h11  1     flag -2: 1 0
 *              h21 h22            h21  1              -1  h22              0 1
 *
 * Source: Lawson, Hanson, Kincaid and Krogh, Basic Linear Algebra Subprograms for Fortran usage,
 * ACM TOMS 5 (1979). */
JALLOC_API jstatus_t jblas_srotm(jhandle_t *handle, int64_t n, float *x, int64_t incx, float *y,
                                 int64_t incy, const float *param);
JALLOC_API jstatus_t jblas_drotm(jhandle_t *handle, int64_t n, double *x, int64_t incx, double *y,
                                 int64_t incy, const double *param);

/** Gives the rotation that takes b to 0: c a + s b = r and c b - conj(s) a = 0, with a real c and
 * c^2 + |s|^2 = 1. r replaces a. The sign of a real r is that of the larger of a and b (of b where
 * both are as large), and b becomes z, from which both can be had: s if |a| > |b|, otherwise 1 / c,
 * or 1 if c is 0. A complex r points where a did, or is positive if a was 0; b stays as it was.
 * a and b are read and written as results are, by pointer mode; in host mode the host computes, for
 * a GPU's handle, too. c, s and r are right to a few units in the last place (of complex ones
 * relative to their size) for numbers of any size, c and s also where r overflows. Where a or b is
 * not finite, r is not.
 *
 * Source: Anderson, Algorithm 978: Safe Scaling in the Level 1 BLAS, ACM TOMS 44 (2017). */
JALLOC_API jstatus_t jblas_srotg(jhandle_t *handle, float *a, float *b, float *c, float *s);
JALLOC_API jstatus_t jblas_drotg(jhandle_t *handle, double *a, double *b, double *c, double *s);
JALLOC_API jstatus_t jblas_crotg(jhandle_t *handle, jcomplex_f32_t *a, jcomplex_f32_t *b, float *c,
                                 jcomplex_f32_t *s);
JALLOC_API jstatus_t jblas_zrotg(jhandle_t *handle, jcomplex_f64_t *a, jcomplex_f64_t *b, double *c,
                                 jcomplex_f64_t *s);

/** Gives the H of jblas_drotm that takes the second of (sqrt(d1) x1, sqrt(d2) y1) to 0, in factored
 * form: d1, d2 and x1 become those of the rotated pair, and param gets the flag and what that does
 * not imply; the other numbers stay as they were. d1 and d2 are brought to between 2^-24 and 2^24
 * by powers of 2^24. A negative d1, or what would make it one, gives zeros with a flag of -1; with
 * d2 y1 = 0 the flag is -2 and the rest stays. d1, d2, x1 and param are read and written as results
 * are, by pointer mode, as by jblas_drotg.
 *
 * Source: as jblas_drotm. */
JALLOC_API jstatus_t jblas_srotmg(jhandle_t *handle, float *d1, float *d2, float *x1,
                                  const float *y1, float *param);
JALLOC_API jstatus_t jblas_drotmg(jhandle_t *handle, double *d1, double *d2, double *x1,
                                  const double *y1, double *param);

/** x = alpha x. incx <= 0: a no-op, as reference BLAS. alpha = 0 multiplies too: NaN stays NaN. */
JALLOC_API jstatus_t jblas_sscal(jhandle_t *handle, int64_t n, const float *alpha, float *x,
                                 int64_t incx);
JALLOC_API jstatus_t jblas_dscal(jhandle_t *handle, int64_t n, const double *alpha, double *x,
                                 int64_t incx);
JALLOC_API jstatus_t jblas_cscal(jhandle_t *handle, int64_t n, const jcomplex_f32_t *alpha,
                                 jcomplex_f32_t *x, int64_t incx);
JALLOC_API jstatus_t jblas_zscal(jhandle_t *handle, int64_t n, const jcomplex_f64_t *alpha,
                                 jcomplex_f64_t *x, int64_t incx);

/** x = alpha x with a real alpha; otherwise as jblas_zscal. */
JALLOC_API jstatus_t jblas_csscal(jhandle_t *handle, int64_t n, const float *alpha,
                                  jcomplex_f32_t *x, int64_t incx);
JALLOC_API jstatus_t jblas_zdscal(jhandle_t *handle, int64_t n, const double *alpha,
                                  jcomplex_f64_t *x, int64_t incx);

/** Exchanges x and y. */
JALLOC_API jstatus_t jblas_sswap(jhandle_t *handle, int64_t n, float *x, int64_t incx, float *y,
                                 int64_t incy);
JALLOC_API jstatus_t jblas_dswap(jhandle_t *handle, int64_t n, double *x, int64_t incx, double *y,
                                 int64_t incy);
JALLOC_API jstatus_t jblas_cswap(jhandle_t *handle, int64_t n, jcomplex_f32_t *x, int64_t incx,
                                 jcomplex_f32_t *y, int64_t incy);
JALLOC_API jstatus_t jblas_zswap(jhandle_t *handle, int64_t n, jcomplex_f64_t *x, int64_t incx,
                                 jcomplex_f64_t *y, int64_t incy);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
