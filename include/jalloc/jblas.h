/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_H
#define JALLOC_JBLAS_H

/** @file
 * BLAS on a handle: libjblas.
 *
 * A routine has the name of BLAS behind "jblas_", a handle first, and the arguments of BLAS in
 * their order; matrices are column-major. Sizes, increments and leading dimensions are int64_t and
 * count elements. A leading dimension must be at least max(1, rows as stored). Increments may be
 * negative, as in BLAS: the vector then starts at its last address. 0 is refused at level 2; at
 * level 1 it is what reference BLAS makes of it: all n elements are one, taken in turn (axpy adds
 * them up in y, copy leaves the last), and a vector without elements for asum, iamax and scal.
 *
 * What holds for all routines:
 * - **Scalars and results.** Scalars come by pointer. In host pointer mode they are read before the
 *   call returns and results are there on return, for which the call waits for the handle's stream
 *   (NULL on the host: no wait). In device mode both are accessed in stream order and nothing
 *   waits.
 * - **Stream.** Runs in the handle's stream and does not wait for it, but for results in host
 *   pointer mode and growth
 * of the workspace in default mode. Operands must stay valid until the stream has passed.
 * - **Order of checks.** Handle; enums; sizes, leading dimensions, increments; the size query is
 *   answered; a call without work returns; pointers; the workspace is borrowed; it runs. Operands
 *   that BLAS does not read (A and B where alpha is a known 0 or k is 0) may be NULL, and are not
 *   handed to the CBLAS. On any error but a device error operands are unchanged.
 * - **Statuses.** Success; perf degraded (routines with a plan, done on a lower rung); invalid
 *   handle; invalid value, invalid size, invalid pointer (jhandle_last_message() names the argument
 *   and its value); memory error and sealed (routines with a plan); during a size query: size
 *   increased or size unchanged; forked, busy, capturing and device error (as jborrow_begin()); not
 *   implemented (the device has no BLAS). Below only what is special is said.
 * - **Size query.** A routine without a plan answers size unchanged. Operands are not looked at.
 * - **Zeros, NaN, infinity.** beta = 0: the output is not read. alpha = 0: A, B, x are not read;
 *   with alpha in device memory their contents do not matter. Other products are formed as they
 *   stand, so 0 * NaN is NaN; scal multiplies by a zero alpha too, as reference BLAS does.
 * - **Overlap.** An output must not overlap an input, unless said otherwise.
 * - **Sizes beyond the CBLAS.** Where a CBLAS computes that takes 32-bit integers, level 1, gemm
 *   and gemm batched split what is larger into several calls; other routines refuse a size,
 *   increment or leading dimension above 2^31 - 1 with invalid size, unless there is no work. The
 *   host's own kernels take any.
 * - **The first call** of a process on the host reads JALLOC_HOST_BLAS, JALLOC_HOST_ISA and
 *   JALLOC_CBLAS, and loads the CBLAS where it is wanted. It is invalid configuration where the
 *   processor lacks the kernels, not found where there is no CBLAS, and so is the next call until
 *   that is mended. The CBLAS's settings (threads) are left as they are. */

#include <stddef.h>
#include <stdint.h>

#include "jalloc/datatype.h"
#include "jalloc/export.h"
#include "jalloc/handle.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is done to a matrix before it is used; CBLAS's numbers. */
typedef enum jblas_operation_t {
    JBLAS_NO_TRANSPOSE = 111,       /**< op(A) = A, "N" */
    JBLAS_TRANSPOSE = 112,          /**< op(A) = A^T, "T" */
    JBLAS_CONJUGATE_TRANSPOSE = 113 /**< op(A) = A^H, "C"; the same as "T" for real types */
} jblas_operation_t;

/** Which triangle is read or written; the other is not touched. */
typedef enum jblas_uplo_t { JBLAS_UPPER = 121, JBLAS_LOWER = 122 } jblas_uplo_t;
/** Whether the diagonal is read or taken to be all ones. */
typedef enum jblas_diagonal_t { JBLAS_NON_UNIT = 131, JBLAS_UNIT = 132 } jblas_diagonal_t;
/** On which side of the product the special matrix stands. */
typedef enum jblas_side_t { JBLAS_LEFT = 141, JBLAS_RIGHT = 142 } jblas_side_t;

/** What computes on the host, as JALLOC_HOST_BLAS says: "own", jblas's own kernels, or "cblas". The
 * first call on the host decides it for the process and makes what it needs; so does this, if no
 * call has.
 * @param name static
 * @return success; invalid pointer; invalid configuration; not found (the CBLAS is not to be
 * had). */
JALLOC_API jstatus_t jblas_get_host_blas(const char **name);
/** The kernels of jblas's own that run on the host, "avx512", "avx2" or "generic": the best that
 * the processor has, or those that JALLOC_HOST_ISA names. Everything else as
 * jblas_get_host_blas(). */
JALLOC_API jstatus_t jblas_get_host_isa(const char **name);

/** The CBLAS that is there for JALLOC_HOST_BLAS=cblas, such as "OpenBLAS 0.3.21 DYNAMIC_ARCH", or
 * its file where it does not say; "no CBLAS" where none is found. Static. It is loaded, as by the
 * next two functions, if no call has. */
JALLOC_API const char *jblas_cblas_name(void);
/** Bits of an integer of that CBLAS: 32 or 64; 0 where none is found. */
JALLOC_API int jblas_cblas_int_bits(void);

/** A kernel of the CBLAS that was compared with its definition. Frozen. */
typedef struct jblas_cblas_kernel_t {
    const char *name; /**< such as "cblas_scasum" */
    /** 0: it is right; otherwise the first of the lengths tried at which it is wrong */
    int64_t wrong_length;
    /** what jblas takes instead of a wrong one, in words; NULL for one that is right */
    const char *instead;
} jblas_cblas_kernel_t;

/** What the self-check found. Some kernels of some versions are wrong on some processors, without a
 * sign of it; so before the CBLAS computes those that are known to be weak are compared with plain
 * sums of small integers, once, in microseconds. One that is wrong is not called again, which is
 * logged as a warning. Makes the check if no call has.
 * @return the kernel of that index, static; NULL beyond the last, and for all where no CBLAS is
 * found. */
JALLOC_API const jblas_cblas_kernel_t *jblas_cblas_kernel_at(size_t index);

/** @name Level 1: vectors
 * Without a plan, but for dot, nrm2, asum and iamax on a GPU. n <= 0 is a vector without elements,
 * as in BLAS: results are 0. With an increment of 0 each step sees what the one before it wrote.
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

/** @} @name Level 2: matrix and vector
 * Without a plan: they need no workspace.
 * @{ */

/** y = alpha op(A) x + beta y. A: m x n, lda >= max(1, m). x has n elements and y m, or the other
 * way round where op transposes. m = 0 or n = 0: a no-op, as reference BLAS. */
JALLOC_API jstatus_t jblas_sgemv(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                 const float *alpha, const float *a, int64_t lda, const float *x,
                                 int64_t incx, const float *beta, float *y, int64_t incy);
JALLOC_API jstatus_t jblas_dgemv(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                 const double *alpha, const double *a, int64_t lda, const double *x,
                                 int64_t incx, const double *beta, double *y, int64_t incy);
JALLOC_API jstatus_t jblas_cgemv(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda,
                                 const jcomplex_f32_t *x, int64_t incx, const jcomplex_f32_t *beta,
                                 jcomplex_f32_t *y, int64_t incy);
JALLOC_API jstatus_t jblas_zgemv(jhandle_t *handle, jblas_operation_t trans, int64_t m, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda,
                                 const jcomplex_f64_t *x, int64_t incx, const jcomplex_f64_t *beta,
                                 jcomplex_f64_t *y, int64_t incy);

/** A = alpha x y^T + A. A: m x n, lda >= max(1, m). */
JALLOC_API jstatus_t jblas_sger(jhandle_t *handle, int64_t m, int64_t n, const float *alpha,
                                const float *x, int64_t incx, const float *y, int64_t incy,
                                float *a, int64_t lda);
JALLOC_API jstatus_t jblas_dger(jhandle_t *handle, int64_t m, int64_t n, const double *alpha,
                                const double *x, int64_t incx, const double *y, int64_t incy,
                                double *a, int64_t lda);

/** A = alpha x y^T + A. A: m x n, lda >= max(1, m). */
JALLOC_API jstatus_t jblas_cgeru(jhandle_t *handle, int64_t m, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *x, int64_t incx,
                                 const jcomplex_f32_t *y, int64_t incy, jcomplex_f32_t *a,
                                 int64_t lda);
JALLOC_API jstatus_t jblas_zgeru(jhandle_t *handle, int64_t m, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *x, int64_t incx,
                                 const jcomplex_f64_t *y, int64_t incy, jcomplex_f64_t *a,
                                 int64_t lda);

/** A = alpha x y^H + A. A: m x n, lda >= max(1, m). */
JALLOC_API jstatus_t jblas_cgerc(jhandle_t *handle, int64_t m, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *x, int64_t incx,
                                 const jcomplex_f32_t *y, int64_t incy, jcomplex_f32_t *a,
                                 int64_t lda);
JALLOC_API jstatus_t jblas_zgerc(jhandle_t *handle, int64_t m, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *x, int64_t incx,
                                 const jcomplex_f64_t *y, int64_t incy, jcomplex_f64_t *a,
                                 int64_t lda);

/** y = alpha A x + beta y. A: symmetric of order n, one triangle read, lda >= max(1, n). */
JALLOC_API jstatus_t jblas_ssymv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const float *alpha, const float *a, int64_t lda, const float *x,
                                 int64_t incx, const float *beta, float *y, int64_t incy);
JALLOC_API jstatus_t jblas_dsymv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const double *alpha, const double *a, int64_t lda, const double *x,
                                 int64_t incx, const double *beta, double *y, int64_t incy);

/** y = alpha A x + beta y. A: Hermitian of order n, one triangle read, imaginary parts of the
 * diagonal taken as 0, lda >= max(1, n). */
JALLOC_API jstatus_t jblas_chemv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda,
                                 const jcomplex_f32_t *x, int64_t incx, const jcomplex_f32_t *beta,
                                 jcomplex_f32_t *y, int64_t incy);
JALLOC_API jstatus_t jblas_zhemv(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda,
                                 const jcomplex_f64_t *x, int64_t incx, const jcomplex_f64_t *beta,
                                 jcomplex_f64_t *y, int64_t incy);

/** A = alpha x x^T + A. A: symmetric of order n, one triangle updated, lda >= max(1, n). */
JALLOC_API jstatus_t jblas_ssyr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const float *alpha,
                                const float *x, int64_t incx, float *a, int64_t lda);
JALLOC_API jstatus_t jblas_dsyr(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                const double *alpha, const double *x, int64_t incx, double *a,
                                int64_t lda);

/** A = alpha x x^H + A with a real alpha. A: Hermitian of order n, one triangle updated, imaginary
 * parts of the diagonal set to 0 (alpha = 0: a no-op), lda >= max(1, n). */
JALLOC_API jstatus_t jblas_cher(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, const float *alpha,
                                const jcomplex_f32_t *x, int64_t incx, jcomplex_f32_t *a,
                                int64_t lda);
JALLOC_API jstatus_t jblas_zher(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                const double *alpha, const jcomplex_f64_t *x, int64_t incx,
                                jcomplex_f64_t *a, int64_t lda);

/** A = alpha x y^T + alpha y x^T + A. A: symmetric of order n, one triangle updated, lda >= max(1,
 * n). */
JALLOC_API jstatus_t jblas_ssyr2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const float *alpha, const float *x, int64_t incx, const float *y,
                                 int64_t incy, float *a, int64_t lda);
JALLOC_API jstatus_t jblas_dsyr2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const double *alpha, const double *x, int64_t incx,
                                 const double *y, int64_t incy, double *a, int64_t lda);

/** A = alpha x y^H + conj(alpha) y x^H + A. A: Hermitian of order n, one triangle updated,
 * imaginary parts of the diagonal set to 0 (alpha = 0: a no-op), lda >= max(1, n). */
JALLOC_API jstatus_t jblas_cher2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *x, int64_t incx,
                                 const jcomplex_f32_t *y, int64_t incy, jcomplex_f32_t *a,
                                 int64_t lda);
JALLOC_API jstatus_t jblas_zher2(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *x, int64_t incx,
                                 const jcomplex_f64_t *y, int64_t incy, jcomplex_f64_t *a,
                                 int64_t lda);

/** x = op(A) x. A: triangular of order n, lda >= max(1, n). */
JALLOC_API jstatus_t jblas_strmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const float *a, int64_t lda,
                                 float *x, int64_t incx);
JALLOC_API jstatus_t jblas_dtrmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const double *a, int64_t lda,
                                 double *x, int64_t incx);
JALLOC_API jstatus_t jblas_ctrmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const jcomplex_f32_t *a,
                                 int64_t lda, jcomplex_f32_t *x, int64_t incx);
JALLOC_API jstatus_t jblas_ztrmv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const jcomplex_f64_t *a,
                                 int64_t lda, jcomplex_f64_t *x, int64_t incx);

/** Solves op(A) x = b; x holds b and is overwritten. A: triangular of order n, lda >= max(1, n).
 * Whether A is singular is not tested. */
JALLOC_API jstatus_t jblas_strsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const float *a, int64_t lda,
                                 float *x, int64_t incx);
JALLOC_API jstatus_t jblas_dtrsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const double *a, int64_t lda,
                                 double *x, int64_t incx);
JALLOC_API jstatus_t jblas_ctrsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const jcomplex_f32_t *a,
                                 int64_t lda, jcomplex_f32_t *x, int64_t incx);
JALLOC_API jstatus_t jblas_ztrsv(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 jblas_diagonal_t diag, int64_t n, const jcomplex_f64_t *a,
                                 int64_t lda, jcomplex_f64_t *x, int64_t incx);

/** @} @name Level 3: matrix and matrix
 * Sizes as in BLAS; workspace with each routine. "Panels" are what the products of the host are
 * packed into, all in the handle's memory, with the same bits whatever is lent:
 * - "packed": for the caches and for each of the handle's threads, at most 12 MiB and 1 MiB a
 *   thread; less where the matrices are smaller.
 * - "packed-small": at most 256 KiB a thread; a tenth slower or so.
 * - "in place": none. gemm up to order 128 (complex: 80), and others up to order 23, have this way
 *   alone, and are fast so; larger ones lose a part, those with a symmetric or triangular
 *   matrix much.
 *
 * On GPUs, and by a CBLAS, these routines need no workspace of the handle's.
 * @{ */

/** C = alpha op(A) op(B) + beta C. op(A): m x k, op(B): k x n, C: m x n; lda >= max(1, rows of A as
 * stored), ldb alike, ldc >= max(1, m). k = 0 or alpha = 0: C = beta C. Accuracy componentwise: the
 * device's own product, |C - C'| <= gamma_k |alpha||A||B| + gamma_2 |beta||C| element by element,
 * for complex types in each part (|Re A||Im B| + |Im A||Re B| for the imaginary one, gamma_2k).
 * Accuracy normwise: from a size of the device's on, rungs that turn workspace and digits into
 * speed, those of them that the type has and the device makes pay; smaller products are as above.
 * Small elements beside large ones lose digits, sums of elements may overflow, an infinity may
 * become NaN. Workspace: componentwise panels. Normwise, with m, n, k the sizes, e the bytes of an
 * element, u 2^-24 or 2^-53, and alpha 1, beta 0 in the bounds:
 * - "3m" (complex; host from 512): three real products in place of four, at most 4/3 as fast.
 *   Bytes: on the host panels, at most as many as componentwise; elsewhere, and by a CBLAS, 3 (m kc
 *   + kc nc + m nc) e / 2 and what the real products want, where kc and nc are panels of the
 *   device's (CBLAS: 1024, 512; GPU: all of k, 4096). |Re error| <= g |A||B| and |Im error| <= 3 g
 *   |A||B| by the moduli of the elements, where g = (k + k / kc + 8) u, on the host (k + 8) u.
 * - "emulated-bf16x9" (float; GPUs of compute capability 10.0 and 10.3 with cuBLAS 12.9 or newer,
 *   in host pointer mode): cuBLAS's own emulation, all nine products of three bfloat16, in place of
 *   the ways below; where it declines, its product of floats. Bytes: none beside what cuBLAS has
 *   for each stream. Its error is NVIDIA's to state, which calls it that of float or less; no more
 *   is promised here.
 * - "split-bf16" (float; GPUs with fast bfloat16 units): each number is cut into three of 8 bits,
 *   of which the six products that reach the 24th bit are formed and added small to large; panels
 *   of k of 256 to 1024 are added in float. Bytes: 6 kc (m + n) + 4 m n + 4 (m + n) with kc = k, at
 *   most about 4096, and m rounded up to 32 in the second term. Designed for an error at most twice
 *   that of plain float on the same data; |C - C'| <= (2.1 d + kc / 30 + k / d + 2 k / kc + 16) u
 *   |A||B| + k 2^-100 r c holds even where additions truncate, with panels of depth d and r, c the
 *   largest moduli of the row of op(A) and the column of op(B).
 * - "split-fp16" (alike): rows of op(A) and columns of op(B) are scaled by powers of two, then each
 *   number is cut into two of 11 bits, of which three products are formed. Bytes: 4 in place of 6.
 *   Faster, and up to seven times as far off as plain float where all terms are of one sign; |C -
 *   C'| <= (2.1 d + kc / 240 + k / d + k / kc + 16) u |A||B| + k 2^-46 r c: elements below 2^-27 of
 *   the largest in their row or column lose digits. Both make NaN of what depends on an infinity.
 * - "strassen-2", "strassen-1" (real; GPUs): Winograd's form of Strassen's algorithm, two halvings
 *   or one; an eighth of the work is saved by each. Bytes: (m k + k n + m n) e / 4 for one, 5/16 in
 *   place of 1/4 for two. Each halving makes the error larger: |C - C'| <= (18^l (k'^2 + 6 k') - 6
 *   k) u max|A| max|B|, where k' = k / 2^l after l halvings; in practice about 3 times a halving.
 * - as componentwise: the panels, on a GPU "plain". The only ones with the policy same bits.
 *
 * The statistics (rung_count), the profile (JALLOC_LAYER 4) and perf degraded say which rung ran.
 * Sources: Higham, "Stability of a method for multiplying complex matrices with three real matrix
 * multiplications", 1992; Van Zee, Smith, "Implementing high-performance complex matrix
 * multiplication via the 3m and 4m methods",
 * 2017. Ootomo, Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing
 *       the FP32 theoretical
 * peak performance", 2022; Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor
 * cores", 2021. Huss-Lederman, Jacobson, Johnson, Tsao, Turnbull, "Implementation of Strassen's
 * algorithm for matrix multiplication", 1996; Boyer, Dumas, Pernet, Zhou, "Memory efficient
 * scheduling of Strassen-Winograd's matrix multiplication algorithm", 2009; Higham, "Accuracy and
 * stability of numerical algorithms", 2002, 23.2.2. */
JALLOC_API jstatus_t jblas_sgemm(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                 const float *alpha, const float *a, int64_t lda, const float *b,
                                 int64_t ldb, const float *beta, float *c, int64_t ldc);
JALLOC_API jstatus_t jblas_dgemm(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                 const double *alpha, const double *a, int64_t lda, const double *b,
                                 int64_t ldb, const double *beta, double *c, int64_t ldc);
JALLOC_API jstatus_t jblas_cgemm(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda,
                                 const jcomplex_f32_t *b, int64_t ldb, const jcomplex_f32_t *beta,
                                 jcomplex_f32_t *c, int64_t ldc);
JALLOC_API jstatus_t jblas_zgemm(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda,
                                 const jcomplex_f64_t *b, int64_t ldb, const jcomplex_f64_t *beta,
                                 jcomplex_f64_t *c, int64_t ldc);

/** gemm of 16-bit numbers, summed in float: C = alpha op(A) op(B) + beta C, where A, B, C are IEEE
 * half (hgemm) or bfloat16 (bgemm), and alpha, beta and everything between are float. An element of
 * C is rounded once, to the nearest, ties to even; what is too large becomes infinity. Shapes and
 * the rest as jblas_sgemm; "C" is "T".
 *
 * hgemm is the vendors' name (cublasHgemm, rocblas_hgemm; theirs add in half), bgemm that of
 * OpenBLAS for a product that is bfloat16 throughout (its sbgemm gives float). Workspace on the
 * host: panels, and the sums of at most 512 x 1024 elements of C. On a GPU none. */
JALLOC_API jstatus_t jblas_hgemm(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                 const float *alpha, const jfloat16_t *a, int64_t lda,
                                 const jfloat16_t *b, int64_t ldb, const float *beta, jfloat16_t *c,
                                 int64_t ldc);
JALLOC_API jstatus_t jblas_bgemm(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                 const float *alpha, const jbfloat16_t *a, int64_t lda,
                                 const jbfloat16_t *b, int64_t ldb, const float *beta,
                                 jbfloat16_t *c, int64_t ldc);

/** C = alpha A B + beta C (left) or alpha B A + beta C (right). A: symmetric of order m (left) or n
 * (right), one triangle read; B, C: m x n. Workspace: panels. */
JALLOC_API jstatus_t jblas_ssymm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo, int64_t m,
                                 int64_t n, const float *alpha, const float *a, int64_t lda,
                                 const float *b, int64_t ldb, const float *beta, float *c,
                                 int64_t ldc);
JALLOC_API jstatus_t jblas_dsymm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo, int64_t m,
                                 int64_t n, const double *alpha, const double *a, int64_t lda,
                                 const double *b, int64_t ldb, const double *beta, double *c,
                                 int64_t ldc);
JALLOC_API jstatus_t jblas_csymm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo, int64_t m,
                                 int64_t n, const jcomplex_f32_t *alpha, const jcomplex_f32_t *a,
                                 int64_t lda, const jcomplex_f32_t *b, int64_t ldb,
                                 const jcomplex_f32_t *beta, jcomplex_f32_t *c, int64_t ldc);
JALLOC_API jstatus_t jblas_zsymm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo, int64_t m,
                                 int64_t n, const jcomplex_f64_t *alpha, const jcomplex_f64_t *a,
                                 int64_t lda, const jcomplex_f64_t *b, int64_t ldb,
                                 const jcomplex_f64_t *beta, jcomplex_f64_t *c, int64_t ldc);

/** As jblas_zsymm with A Hermitian; imaginary parts of its diagonal are taken as 0. Workspace:
 * panels. */
JALLOC_API jstatus_t jblas_chemm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo, int64_t m,
                                 int64_t n, const jcomplex_f32_t *alpha, const jcomplex_f32_t *a,
                                 int64_t lda, const jcomplex_f32_t *b, int64_t ldb,
                                 const jcomplex_f32_t *beta, jcomplex_f32_t *c, int64_t ldc);
JALLOC_API jstatus_t jblas_zhemm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo, int64_t m,
                                 int64_t n, const jcomplex_f64_t *alpha, const jcomplex_f64_t *a,
                                 int64_t lda, const jcomplex_f64_t *b, int64_t ldb,
                                 const jcomplex_f64_t *beta, jcomplex_f64_t *c, int64_t ldc);

/** C = alpha A A^T + beta C (trans N: A is n x k) or alpha A^T A + beta C (T: A is k x n). C:
 * symmetric of order n, one triangle updated. The conjugate transpose is an invalid value for
 * complex types. Workspace: panels. */
JALLOC_API jstatus_t jblas_ssyrk(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 int64_t n, int64_t k, const float *alpha, const float *a,
                                 int64_t lda, const float *beta, float *c, int64_t ldc);
JALLOC_API jstatus_t jblas_dsyrk(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 int64_t n, int64_t k, const double *alpha, const double *a,
                                 int64_t lda, const double *beta, double *c, int64_t ldc);
JALLOC_API jstatus_t jblas_csyrk(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 int64_t n, int64_t k, const jcomplex_f32_t *alpha,
                                 const jcomplex_f32_t *a, int64_t lda, const jcomplex_f32_t *beta,
                                 jcomplex_f32_t *c, int64_t ldc);
JALLOC_API jstatus_t jblas_zsyrk(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 int64_t n, int64_t k, const jcomplex_f64_t *alpha,
                                 const jcomplex_f64_t *a, int64_t lda, const jcomplex_f64_t *beta,
                                 jcomplex_f64_t *c, int64_t ldc);

/** C = alpha A A^H + beta C (trans N: A is n x k) or alpha A^H A + beta C (C: A is k x n), alpha
 * and beta real. C: Hermitian of order n, one triangle updated, imaginary parts of the diagonal set
 * to 0 (beta = 1 and alpha or k is 0: a no-op, as in reference BLAS). The plain transpose is an
 * invalid value. Workspace: panels. */
JALLOC_API jstatus_t jblas_cherk(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 int64_t n, int64_t k, const float *alpha, const jcomplex_f32_t *a,
                                 int64_t lda, const float *beta, jcomplex_f32_t *c, int64_t ldc);
JALLOC_API jstatus_t jblas_zherk(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                 int64_t n, int64_t k, const double *alpha, const jcomplex_f64_t *a,
                                 int64_t lda, const double *beta, jcomplex_f64_t *c, int64_t ldc);

/** C = alpha A B^T + alpha B A^T + beta C (trans N: A and B are n x k) or alpha A^T B + alpha B^T
 * A + beta C (T: they are k x n). C: symmetric of order n, one triangle updated. The conjugate
 * transpose is an invalid value for complex types. Workspace: panels. */
JALLOC_API jstatus_t jblas_ssyr2k(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                  int64_t n, int64_t k, const float *alpha, const float *a,
                                  int64_t lda, const float *b, int64_t ldb, const float *beta,
                                  float *c, int64_t ldc);
JALLOC_API jstatus_t jblas_dsyr2k(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                  int64_t n, int64_t k, const double *alpha, const double *a,
                                  int64_t lda, const double *b, int64_t ldb, const double *beta,
                                  double *c, int64_t ldc);
JALLOC_API jstatus_t jblas_csyr2k(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                  int64_t n, int64_t k, const jcomplex_f32_t *alpha,
                                  const jcomplex_f32_t *a, int64_t lda, const jcomplex_f32_t *b,
                                  int64_t ldb, const jcomplex_f32_t *beta, jcomplex_f32_t *c,
                                  int64_t ldc);
JALLOC_API jstatus_t jblas_zsyr2k(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                  int64_t n, int64_t k, const jcomplex_f64_t *alpha,
                                  const jcomplex_f64_t *a, int64_t lda, const jcomplex_f64_t *b,
                                  int64_t ldb, const jcomplex_f64_t *beta, jcomplex_f64_t *c,
                                  int64_t ldc);

/** C = alpha A B^H + conj(alpha) B A^H + beta C (trans N: A and B are n x k) or alpha A^H B +
 * conj(alpha) B^H A + beta C (C: they are k x n), beta real. C: Hermitian of order n, one triangle
 * updated, imaginary parts of the diagonal set to 0 (beta = 1 and alpha or k is 0: a no-op, as in
 * reference BLAS). The plain transpose is an invalid value. Workspace: panels. */
JALLOC_API jstatus_t jblas_cher2k(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                  int64_t n, int64_t k, const jcomplex_f32_t *alpha,
                                  const jcomplex_f32_t *a, int64_t lda, const jcomplex_f32_t *b,
                                  int64_t ldb, const float *beta, jcomplex_f32_t *c, int64_t ldc);
JALLOC_API jstatus_t jblas_zher2k(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                  int64_t n, int64_t k, const jcomplex_f64_t *alpha,
                                  const jcomplex_f64_t *a, int64_t lda, const jcomplex_f64_t *b,
                                  int64_t ldb, const double *beta, jcomplex_f64_t *c, int64_t ldc);

/** One triangle of C = alpha op(A) op(B) + beta C, for products that are known to be symmetric or
 * of which half is wanted. op(A): n x k, op(B): k x n, C: n x n; the other triangle is not touched.
 * MKL's name; gemmtr of reference BLAS 3.13. On the host made of products of the CBLAS's by halves,
 * half of gemm's work. Workspace: panels. */
JALLOC_API jstatus_t jblas_sgemmt(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa,
                                  jblas_operation_t transb, int64_t n, int64_t k,
                                  const float *alpha, const float *a, int64_t lda, const float *b,
                                  int64_t ldb, const float *beta, float *c, int64_t ldc);
JALLOC_API jstatus_t jblas_dgemmt(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa,
                                  jblas_operation_t transb, int64_t n, int64_t k,
                                  const double *alpha, const double *a, int64_t lda,
                                  const double *b, int64_t ldb, const double *beta, double *c,
                                  int64_t ldc);
JALLOC_API jstatus_t jblas_cgemmt(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa,
                                  jblas_operation_t transb, int64_t n, int64_t k,
                                  const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda,
                                  const jcomplex_f32_t *b, int64_t ldb, const jcomplex_f32_t *beta,
                                  jcomplex_f32_t *c, int64_t ldc);
JALLOC_API jstatus_t jblas_zgemmt(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa,
                                  jblas_operation_t transb, int64_t n, int64_t k,
                                  const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda,
                                  const jcomplex_f64_t *b, int64_t ldb, const jcomplex_f64_t *beta,
                                  jcomplex_f64_t *c, int64_t ldc);

/** B = alpha op(A) B (left) or alpha B op(A) (right), in place. A: triangular of order m (left) or
 * n (right); B: m x n. alpha = 0: B = 0. Workspace: panels. */
JALLOC_API jstatus_t jblas_strmm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                 jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                 int64_t n, const float *alpha, const float *a, int64_t lda,
                                 float *b, int64_t ldb);
JALLOC_API jstatus_t jblas_dtrmm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                 jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                 int64_t n, const double *alpha, const double *a, int64_t lda,
                                 double *b, int64_t ldb);
JALLOC_API jstatus_t jblas_ctrmm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                 jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                 int64_t n, const jcomplex_f32_t *alpha, const jcomplex_f32_t *a,
                                 int64_t lda, jcomplex_f32_t *b, int64_t ldb);
JALLOC_API jstatus_t jblas_ztrmm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                 jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                 int64_t n, const jcomplex_f64_t *alpha, const jcomplex_f64_t *a,
                                 int64_t lda, jcomplex_f64_t *b, int64_t ldb);

/** Solves op(A) X = alpha B (left) or X op(A) = alpha B (right); X overwrites B. A: triangular of
 * order m (left) or n (right), lda >= max(1, order); B: m x n, ldb >= max(1, m). alpha = 0: B = 0.
 * Whether A is singular is not tested. Accuracy componentwise: on every rung the residual of
 * substitution, |alpha B - op(A) X| <= gamma_k |op(A)||X| element by element with k = order + 8
 * (complex: 4 k), whatever the condition of A. On the host pivots may be as small or large as
 * numbers are, and what is not finite is what depends on a zero pivot, a NaN or an infinity. On a
 * GPU "substitution" is the device's own trsm, such as cuBLAS's, as it is. Accuracy normwise: the
 * same on the host; on a GPU also products with the inverses D^-1 of A's diagonal blocks D,
 * with |alpha B - op(A) X| <= gamma_k |op(A)||D^-1||op(A)||X|. D has order 128, or 256 or 512 where
 * A has four of them. A NaN or an infinity in B then makes other unknowns of its right-hand side in
 * the same block NaN. Workspace: on the host rungs "packed", "packed-small" the panels of products
 * as gemm's, and in the same bytes at most 256 unknowns of the triangle at once; "in place" none;
 * all with the same bits. On a GPU, normwise, "inverse", "inverse-strips", "inverse-64" the
 * inverted diagonal blocks and the solution beside B or strips of it; last rung "substitution"
 * none. Shapes that would not gain have the last rung alone. Memory error: B unchanged. Source:
 * Higham, "Accuracy and stability of numerical algorithms", 2002, 8.1; for inverses Du Croz and
 * Higham, "Stability of methods for matrix inversion", 1992. */
JALLOC_API jstatus_t jblas_strsm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                 jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                 int64_t n, const float *alpha, const float *a, int64_t lda,
                                 float *b, int64_t ldb);
JALLOC_API jstatus_t jblas_dtrsm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                 jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                 int64_t n, const double *alpha, const double *a, int64_t lda,
                                 double *b, int64_t ldb);
JALLOC_API jstatus_t jblas_ctrsm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                 jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                 int64_t n, const jcomplex_f32_t *alpha, const jcomplex_f32_t *a,
                                 int64_t lda, jcomplex_f32_t *b, int64_t ldb);
JALLOC_API jstatus_t jblas_ztrsm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                 jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                 int64_t n, const jcomplex_f64_t *alpha, const jcomplex_f64_t *a,
                                 int64_t lda, jcomplex_f64_t *b, int64_t ldb);

/** @} @name Extensions
 * Beyond BLAS.
 * @{ */

/** A = A^-1 in place, one triangle; the other is not touched. A: triangular of order n, lda >=
 * max(1, n). info: 0, or i > 0 (1-based): diagonal element i is zero, A is unchanged; the status is
 * success all the same. info is a result, it follows the pointer mode. Accuracy componentwise: for
 * X = A^-1 a residual |X A - I| <= gamma_k |X||A| element by element, k = n + 8 (complex: 4 k); of
 * a lower triangle on a GPU |A X - I| <= gamma_k |A||X|. Normwise: the same on the host; on a GPU
 * products of inverses, |A X - I| <= gamma_k |A||X||A||X|. Workspace: on the host as the solves
 * inside, rungs "packed", "packed-small", "in place" with the same bits. On a GPU the inverse:
 * componentwise "halves", normwise "inverse" and a quarter more; last rung "substitution" none,
 * slow. */
JALLOC_API jstatus_t jblas_strtri(jhandle_t *handle, jblas_uplo_t uplo, jblas_diagonal_t diag,
                                  int64_t n, float *a, int64_t lda, int64_t *info);
JALLOC_API jstatus_t jblas_dtrtri(jhandle_t *handle, jblas_uplo_t uplo, jblas_diagonal_t diag,
                                  int64_t n, double *a, int64_t lda, int64_t *info);
JALLOC_API jstatus_t jblas_ctrtri(jhandle_t *handle, jblas_uplo_t uplo, jblas_diagonal_t diag,
                                  int64_t n, jcomplex_f32_t *a, int64_t lda, int64_t *info);
JALLOC_API jstatus_t jblas_ztrtri(jhandle_t *handle, jblas_uplo_t uplo, jblas_diagonal_t diag,
                                  int64_t n, jcomplex_f64_t *a, int64_t lda, int64_t *info);

/** C = alpha op(A) + beta op(B). C: m x n, op(A), op(B): m x n. alpha = 0: A is not read; beta = 0:
 * B is not read. C may be A (with lda = ldc) where A is not transposed, and B likewise; otherwise
 * overlap is not allowed. Workspace: none. */
JALLOC_API jstatus_t jblas_sgeam(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n, const float *alpha,
                                 const float *a, int64_t lda, const float *beta, const float *b,
                                 int64_t ldb, float *c, int64_t ldc);
JALLOC_API jstatus_t jblas_dgeam(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n,
                                 const double *alpha, const double *a, int64_t lda,
                                 const double *beta, const double *b, int64_t ldb, double *c,
                                 int64_t ldc);
JALLOC_API jstatus_t jblas_cgeam(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n,
                                 const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda,
                                 const jcomplex_f32_t *beta, const jcomplex_f32_t *b, int64_t ldb,
                                 jcomplex_f32_t *c, int64_t ldc);
JALLOC_API jstatus_t jblas_zgeam(jhandle_t *handle, jblas_operation_t transa,
                                 jblas_operation_t transb, int64_t m, int64_t n,
                                 const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda,
                                 const jcomplex_f64_t *beta, const jcomplex_f64_t *b, int64_t ldb,
                                 jcomplex_f64_t *c, int64_t ldc);

/** batch_count products of one shape: C[i] = alpha op(A[i]) op(B[i]) + beta C[i]. a, b and c are
 * arrays of pointers, read in stream order: they must stay valid until the stream has passed, as
 * the matrices do. The C[i] must not overlap each other; pointers in the arrays are not checked.
 * Workspace: none. */
JALLOC_API jstatus_t jblas_sgemm_batched(jhandle_t *handle, jblas_operation_t transa,
                                         jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                         const float *alpha, const float *const a[], int64_t lda,
                                         const float *const b[], int64_t ldb, const float *beta,
                                         float *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_dgemm_batched(jhandle_t *handle, jblas_operation_t transa,
                                         jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                         const double *alpha, const double *const a[], int64_t lda,
                                         const double *const b[], int64_t ldb, const double *beta,
                                         double *const c[], int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_cgemm_batched(jhandle_t *handle, jblas_operation_t transa,
                                         jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                         const jcomplex_f32_t *alpha,
                                         const jcomplex_f32_t *const a[], int64_t lda,
                                         const jcomplex_f32_t *const b[], int64_t ldb,
                                         const jcomplex_f32_t *beta, jcomplex_f32_t *const c[],
                                         int64_t ldc, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgemm_batched(jhandle_t *handle, jblas_operation_t transa,
                                         jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                         const jcomplex_f64_t *alpha,
                                         const jcomplex_f64_t *const a[], int64_t lda,
                                         const jcomplex_f64_t *const b[], int64_t ldb,
                                         const jcomplex_f64_t *beta, jcomplex_f64_t *const c[],
                                         int64_t ldc, int64_t batch_count);

/** As jblas_dgemm_batched with matrix i at a + i * stride_a, b + i * stride_b, c + i * stride_c
 * (elements). Strides may be 0 or negative for a and b (0: one matrix for all), and negative for c.
 * Matrices C may interleave (m = 2, ldc = 6, stride_c = 2: rows 0 1, 2 3 and 4 5 of one matrix) but
 * not share an element, which is an invalid size. Workspace: none. */
JALLOC_API jstatus_t jblas_sgemm_strided_batched(jhandle_t *handle, jblas_operation_t transa,
                                                 jblas_operation_t transb, int64_t m, int64_t n,
                                                 int64_t k, const float *alpha, const float *a,
                                                 int64_t lda, int64_t stride_a, const float *b,
                                                 int64_t ldb, int64_t stride_b, const float *beta,
                                                 float *c, int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_dgemm_strided_batched(jhandle_t *handle, jblas_operation_t transa,
                                                 jblas_operation_t transb, int64_t m, int64_t n,
                                                 int64_t k, const double *alpha, const double *a,
                                                 int64_t lda, int64_t stride_a, const double *b,
                                                 int64_t ldb, int64_t stride_b, const double *beta,
                                                 double *c, int64_t ldc, int64_t stride_c,
                                                 int64_t batch_count);
JALLOC_API jstatus_t jblas_cgemm_strided_batched(
    jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m, int64_t n,
    int64_t k, const jcomplex_f32_t *alpha, const jcomplex_f32_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f32_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f32_t *beta,
    jcomplex_f32_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);
JALLOC_API jstatus_t jblas_zgemm_strided_batched(
    jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m, int64_t n,
    int64_t k, const jcomplex_f64_t *alpha, const jcomplex_f64_t *a, int64_t lda, int64_t stride_a,
    const jcomplex_f64_t *b, int64_t ldb, int64_t stride_b, const jcomplex_f64_t *beta,
    jcomplex_f64_t *c, int64_t ldc, int64_t stride_c, int64_t batch_count);

/** @} @name Solvers
 * From LAPACK.
 * @{ */

/** Cholesky factorization A = U^H U (upper) or L L^H (lower) in place, one triangle; the other is
 * not touched. A: symmetric or Hermitian positive definite of order n, lda >= max(1, n). info: 0,
 * or i > 0 (1-based): the leading minor of order i is not positive definite. Then the leading
 * triangle of order i - 1 holds its factor, and what stands in the rest of the triangle is not
 * said; the status is success all the same. info is a result, it follows the pointer mode. On a GPU
 * the steps behind a failure are done all the same, so that no call waits; on the host they are
 * not. Accuracy componentwise: |A - L L^H| <= gamma_k |L||L^H| element by element, k = n + 8
 * (complex: 4 k). Normwise: the same on the host; on a GPU as jblas_dtrsm for the solves inside, by
 * diagonal blocks of order 128. Workspace: on the host as the largest solve and product inside,
 * rungs "packed", "packed-small", "in place" with the same bits. On a GPU, normwise and above order
 * 128, "inverse" the inverse of one diagonal block and n x 128 elements, "inverse-strips"
 * 1024 x 128 in place of these; last rung "substitution" none. */
JALLOC_API jstatus_t jblas_spotrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, float *a,
                                  int64_t lda, int64_t *info);
JALLOC_API jstatus_t jblas_dpotrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, double *a,
                                  int64_t lda, int64_t *info);
JALLOC_API jstatus_t jblas_cpotrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                  jcomplex_f32_t *a, int64_t lda, int64_t *info);
JALLOC_API jstatus_t jblas_zpotrf(jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                  jcomplex_f64_t *a, int64_t lda, int64_t *info);

/** Solves A X = B with the factor that jblas_dpotrf left in A; X overwrites B. B: n x nrhs, ldb >=
 * max(1, n). Accuracy and workspace: as jblas_dtrsm with the same A and B. */
JALLOC_API jstatus_t jblas_spotrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                  const float *a, int64_t lda, float *b, int64_t ldb);
JALLOC_API jstatus_t jblas_dpotrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                  const double *a, int64_t lda, double *b, int64_t ldb);
JALLOC_API jstatus_t jblas_cpotrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                  const jcomplex_f32_t *a, int64_t lda, jcomplex_f32_t *b,
                                  int64_t ldb);
JALLOC_API jstatus_t jblas_zpotrs(jhandle_t *handle, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                                  const jcomplex_f64_t *a, int64_t lda, jcomplex_f64_t *b,
                                  int64_t ldb);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
