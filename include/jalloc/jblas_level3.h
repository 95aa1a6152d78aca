/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_LEVEL3_H
#define JALLOC_JBLAS_LEVEL3_H

/** @file
 * BLAS on a handle, level 3: matrix and matrix. What holds for all routines stands in jblas.h. */

#include <stdint.h>

#include "jalloc/datatype.h"
#include "jalloc/export.h"
#include "jalloc/handle.h"
#include "jalloc/jblas_types.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name Level 3: matrix and matrix
 * Sizes as in BLAS; workspace with each routine. "Panels" are what the products of the host are
 * packed into, all in the handle's memory, with the same bits whatever is lent:
 * - "packed": for the caches and for each of the handle's threads, at most 12 MiB and 1 MiB a
 *   thread; less where the matrices are smaller.
 * - "packed-small": at most 256 KiB a thread; a tenth slower or so.
 * - "in place": none. gemm up to order 128 (complex: 80), and others up to order 64 (complex: 32;
 *   of 16 bits: 23), have this way alone, and are fast so; larger ones lose a part, those with a
 *   symmetric or triangular matrix much.
 *
 * On GPUs, and by a CBLAS, these routines need no workspace of the handle's.
 * @{ */

/** C = alpha op(A) op(B) + beta C. op(A): m x k, op(B): k x n, C: m x n; lda >= max(1, rows of A),
 * as it is stored, ldb alike, ldc >= max(1, m). k = 0 or alpha = 0: C = beta C.
 *
 * Accuracy componentwise: the device's own product, |C - C'| <= gamma_k |alpha||A||B| + gamma_2
 * |beta||C| element by element, for complex types in each part (|Re A||Im B| + |Im A||Re B| for the
 * imaginary one, gamma_2k).
 *
 * Accuracy normwise: from a size of the device's on, rungs that turn workspace and digits into
 * speed, those of them that the type has and the device makes pay; smaller products are as above.
 * Small elements beside large ones lose digits, sums of elements may overflow, an infinity may
 * become NaN. Workspace: componentwise panels. Normwise, with m, n, k the sizes, e the bytes of an
 * element, u 2^-24 or 2^-53, and alpha 1, beta 0 in the bounds:
 * - "3m" (complex; host from 512): three real products in place of four, at most 4/3 as fast.
 *   Bytes: on the host panels, at most as many as componentwise; elsewhere, and by a CBLAS,
 *   3 (m kc + kc nc + m nc) e / 2 and what the real products want, where kc and nc are panels of
 *   the device's (CBLAS: 1024, 512; GPU: all of k, 4096). |Re error| <= g |A||B| and |Im error| <=
 *   3 g |A||B| by the moduli of the elements, where g = (k + k / kc + 8) u, on the host (k + 8) u.
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
 * multiplication via the 3m and 4m methods", 2017. Ootomo, Yokota, "Recovering single precision
 * accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance", 2022; Fasi,
 * Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021. Huss-Lederman,
 * Jacobson, Johnson, Tsao, Turnbull, "Implementation of Strassen's algorithm for matrix
 * multiplication", 1996; Boyer, Dumas, Pernet, Zhou, "Memory efficient scheduling of
 * Strassen-Winograd's matrix multiplication algorithm", 2009; Higham, "Accuracy and stability of
 * numerical algorithms", 2002, 23.2.2. */
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

/** As jblas_cgemm() by three real products instead of four, whatever the size and the handle's
 * accuracy, which for it is normwise: imaginary parts err in proportion to all of |A||B|, and an
 * infinity may become NaN. The name of cuBLAS, OpenBLAS and MKL; jblas_cgemm() chooses this way for
 * itself where accuracy is normwise. Workspace: on the host panels. On a GPU "3m" the parts of A
 * and of at most 4096 columns of B and C, as jblas_cgemm; "plain" none: then it is jblas_cgemm's
 * product, and errs as that. */
JALLOC_API jstatus_t jblas_cgemm3m(jhandle_t *handle, jblas_operation_t transa,
                                   jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                   const jcomplex_f32_t *alpha, const jcomplex_f32_t *a,
                                   int64_t lda, const jcomplex_f32_t *b, int64_t ldb,
                                   const jcomplex_f32_t *beta, jcomplex_f32_t *c, int64_t ldc);
JALLOC_API jstatus_t jblas_zgemm3m(jhandle_t *handle, jblas_operation_t transa,
                                   jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                   const jcomplex_f64_t *alpha, const jcomplex_f64_t *a,
                                   int64_t lda, const jcomplex_f64_t *b, int64_t ldb,
                                   const jcomplex_f64_t *beta, jcomplex_f64_t *c, int64_t ldc);

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

/** As jblas_dsymm with A skew-symmetric, A^T = -A: one triangle is read without its diagonal, which
 * stands for zeros (an infinity of B in its row, or column, is NaN). Workspace: panels. */
JALLOC_API jstatus_t jblas_sskewsymm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                     int64_t m, int64_t n, const float *alpha, const float *a,
                                     int64_t lda, const float *b, int64_t ldb, const float *beta,
                                     float *c, int64_t ldc);
JALLOC_API jstatus_t jblas_dskewsymm(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                     int64_t m, int64_t n, const double *alpha, const double *a,
                                     int64_t lda, const double *b, int64_t ldb, const double *beta,
                                     double *c, int64_t ldc);

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

/** C = -alpha A B^T + alpha B A^T + beta C (trans N: A and B are n x k) or -alpha A^T B + alpha B^T
 * A + beta C (T or C: they are k x n). C: skew-symmetric of order n, one triangle updated without
 * its diagonal, which is not touched. Workspace: panels. */
JALLOC_API jstatus_t jblas_sskewsyr2k(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                      int64_t n, int64_t k, const float *alpha, const float *a,
                                      int64_t lda, const float *b, int64_t ldb, const float *beta,
                                      float *c, int64_t ldc);
JALLOC_API jstatus_t jblas_dskewsyr2k(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                      int64_t n, int64_t k, const double *alpha, const double *a,
                                      int64_t lda, const double *b, int64_t ldb, const double *beta,
                                      double *c, int64_t ldc);

/** One triangle of C = alpha op(A) op(B) + beta C, for products that are known to be symmetric or
 * of which half is wanted. op(A): n x k, op(B): k x n, C: n x n; the other triangle is not touched.
 * Half of gemm's work; on the host by jblas's own kernels, whoever computes the rest. MKL's name;
 * jblas_sgemmtr() is the same. Workspace: panels. */
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

/** As jblas_sgemmt(), by the name that reference BLAS has had for it since 3.13. Workspace: panels.
 */
JALLOC_API jstatus_t jblas_sgemmtr(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa,
                                   jblas_operation_t transb, int64_t n, int64_t k,
                                   const float *alpha, const float *a, int64_t lda, const float *b,
                                   int64_t ldb, const float *beta, float *c, int64_t ldc);
JALLOC_API jstatus_t jblas_dgemmtr(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa,
                                   jblas_operation_t transb, int64_t n, int64_t k,
                                   const double *alpha, const double *a, int64_t lda,
                                   const double *b, int64_t ldb, const double *beta, double *c,
                                   int64_t ldc);
JALLOC_API jstatus_t jblas_cgemmtr(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa,
                                   jblas_operation_t transb, int64_t n, int64_t k,
                                   const jcomplex_f32_t *alpha, const jcomplex_f32_t *a,
                                   int64_t lda, const jcomplex_f32_t *b, int64_t ldb,
                                   const jcomplex_f32_t *beta, jcomplex_f32_t *c, int64_t ldc);
JALLOC_API jstatus_t jblas_zgemmtr(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t transa,
                                   jblas_operation_t transb, int64_t n, int64_t k,
                                   const jcomplex_f64_t *alpha, const jcomplex_f64_t *a,
                                   int64_t lda, const jcomplex_f64_t *b, int64_t ldb,
                                   const jcomplex_f64_t *beta, jcomplex_f64_t *c, int64_t ldc);

/** C = alpha A B^T + beta C (trans N: A and B are n x k) or alpha A^T B + beta C (T: they are k x
 * n), for a product that is known to be symmetric: one triangle of C, of order n, is updated. The
 * conjugate transpose is an invalid value for complex types. The name of cuBLAS and rocBLAS.
 * Workspace: panels. */
JALLOC_API jstatus_t jblas_ssyrkx(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                  int64_t n, int64_t k, const float *alpha, const float *a,
                                  int64_t lda, const float *b, int64_t ldb, const float *beta,
                                  float *c, int64_t ldc);
JALLOC_API jstatus_t jblas_dsyrkx(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                  int64_t n, int64_t k, const double *alpha, const double *a,
                                  int64_t lda, const double *b, int64_t ldb, const double *beta,
                                  double *c, int64_t ldc);
JALLOC_API jstatus_t jblas_csyrkx(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                  int64_t n, int64_t k, const jcomplex_f32_t *alpha,
                                  const jcomplex_f32_t *a, int64_t lda, const jcomplex_f32_t *b,
                                  int64_t ldb, const jcomplex_f32_t *beta, jcomplex_f32_t *c,
                                  int64_t ldc);
JALLOC_API jstatus_t jblas_zsyrkx(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                  int64_t n, int64_t k, const jcomplex_f64_t *alpha,
                                  const jcomplex_f64_t *a, int64_t lda, const jcomplex_f64_t *b,
                                  int64_t ldb, const jcomplex_f64_t *beta, jcomplex_f64_t *c,
                                  int64_t ldc);

/** C = alpha A B^H + beta C (trans N: A and B are n x k) or alpha A^H B + beta C (C: they are k x
 * n), beta real, for a product that is known to be Hermitian: one triangle of C, of order n, is
 * updated, and imaginary parts of the diagonal are set to 0 (beta = 1 and alpha or k is 0: a no-op,
 * as herk). The plain transpose is an invalid value. Workspace: panels. */
JALLOC_API jstatus_t jblas_cherkx(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                  int64_t n, int64_t k, const jcomplex_f32_t *alpha,
                                  const jcomplex_f32_t *a, int64_t lda, const jcomplex_f32_t *b,
                                  int64_t ldb, const float *beta, jcomplex_f32_t *c, int64_t ldc);
JALLOC_API jstatus_t jblas_zherkx(jhandle_t *handle, jblas_uplo_t uplo, jblas_operation_t trans,
                                  int64_t n, int64_t k, const jcomplex_f64_t *alpha,
                                  const jcomplex_f64_t *a, int64_t lda, const jcomplex_f64_t *b,
                                  int64_t ldb, const double *beta, jcomplex_f64_t *c, int64_t ldc);

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

/** @} */

#ifdef __cplusplus
}
#endif
#endif
