/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_EX_H
#define JALLOC_JBLAS_EX_H

/** @file
 * BLAS on a handle: routines whose operands have types that are arguments, jdatatype_t each, behind
 * the operand, and a compute type, which is the last. What holds for all routines stands in
 * jblas.h.
 *
 * An operand's elements become the compute type's, exactly; sums and everything between are of that
 * type; and an element of the result is rounded once to its own type, to the nearest, ties to even:
 * what is too large for it becomes infinity. Scalars (alpha, beta) and results (of dot_ex, say) are
 * of the compute type, too. These go together, each operand by itself:
 *
 *     compute type       what is read               what is written
 *     JDATATYPE_F32      f16, bf16, f32             f16, bf16, f32
 *     JDATATYPE_F64      f16, bf16, f32, f64        f16, bf16, f32, f64
 *     JDATATYPE_F32_C    f32_c                      f32_c
 *     JDATATYPE_F64_C    f32_c, f64_c               f32_c, f64_c
 *     JDATATYPE_I32      i8                         i32                    gemm_ex alone
 *
 * rot_ex's cosine and sine have a type of their own; all types of trsm_ex are one. If all types are
 * one, the call is that of the routine without _ex, with its bits, ways and workspace; of f16 or
 * bf16 summed in f32, gemm_ex has the bits of hgemm or bgemm. Integers are added and multiplied
 * modulo 2^32, whatever the order, so a sum that fits is exact.
 *
 * Statuses beside the common ones, by a message that names the types:
 * - invalid value: a number that is no type; an operand that the compute type cannot hold, such as
 *   f64 in f32, a complex one in a real type, a fraction in an integer.
 * - not implemented: what else is not in the table, such as sums in f16, integers in f32, a real
 *   operand of a complex product, or trsm_ex of two types. */

#include <stdint.h>

#include "jalloc/datatype.h"
#include "jalloc/export.h"
#include "jalloc/handle.h"
#include "jalloc/jblas_types.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name Types as arguments
 * @{ */

/** y = alpha x + y. With an increment of 0 for y, y is rounded at each step. */
JALLOC_API jstatus_t jblas_axpy_ex(jhandle_t *handle, int64_t n, const void *alpha, const void *x,
                                   jdatatype_t x_type, int64_t incx, void *y, jdatatype_t y_type,
                                   int64_t incy, jdatatype_t compute_type);

/** x = alpha x; as jblas_sscal x is left alone with an increment below 1. */
JALLOC_API jstatus_t jblas_scal_ex(jhandle_t *handle, int64_t n, const void *alpha, void *x,
                                   jdatatype_t x_type, int64_t incx, jdatatype_t compute_type);

/** x = c x + s y, y = c y - conj(s) x, with c and s of the cs_type: real ones, which a complex
 * compute type takes, too (whatever its parts can hold; as jblas_csrot), or complex ones, of which
 * c's imaginary part is not looked at. With an increment of 0 what is there is rounded at each
 * step. The vendors' name (cublasRotEx, rocblas_rot_ex). */
JALLOC_API jstatus_t jblas_rot_ex(jhandle_t *handle, int64_t n, void *x, jdatatype_t x_type,
                                  int64_t incx, void *y, jdatatype_t y_type, int64_t incy,
                                  const void *c, const void *s, jdatatype_t cs_type,
                                  jdatatype_t compute_type);

/** *result = x^T y, in a fixed order, on the host by one thread where the types are several. The
 * result is of the compute type. Workspace of this and the next three: as jblas_sdot. */
JALLOC_API jstatus_t jblas_dot_ex(jhandle_t *handle, int64_t n, const void *x, jdatatype_t x_type,
                                  int64_t incx, const void *y, jdatatype_t y_type, int64_t incy,
                                  void *result, jdatatype_t compute_type);
/** *result = x^H y; of real types x^T y. */
JALLOC_API jstatus_t jblas_dotc_ex(jhandle_t *handle, int64_t n, const void *x, jdatatype_t x_type,
                                   int64_t incx, const void *y, jdatatype_t y_type, int64_t incy,
                                   void *result, jdatatype_t compute_type);

/** *result = the Euclidean norm of x, f32 or f64 as the parts of the compute type; as jblas_snrm2
 * without overflow or underflow on the way. */
JALLOC_API jstatus_t jblas_nrm2_ex(jhandle_t *handle, int64_t n, const void *x, jdatatype_t x_type,
                                   int64_t incx, void *result, jdatatype_t compute_type);
/** *result = the sum of |Re x| + |Im x|, of such a type; 0 with an increment below 1. */
JALLOC_API jstatus_t jblas_asum_ex(jhandle_t *handle, int64_t n, const void *x, jdatatype_t x_type,
                                   int64_t incx, void *result, jdatatype_t compute_type);

/** C = alpha op(A) op(B) + beta C; shapes and leading dimensions as jblas_sgemm, counted in
 * elements of each matrix. For real types "C" is "T". The vendors' name (cublasGemmEx,
 * rocblas_gemm_ex, whose D this has not). Operands are converted while they are packed, so that
 * costs little; 8-bit integers take as long as floats. Workspace on the host: panels of the compute
 * type (of i32 those of f32), for more shapes than jblas_sgemm; where C has another type, also the
 * sums of a part of C, at most 2 MiB. */
JALLOC_API jstatus_t jblas_gemm_ex(jhandle_t *handle, jblas_operation_t transa,
                                   jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                   const void *alpha, const void *a, jdatatype_t a_type,
                                   int64_t lda, const void *b, jdatatype_t b_type, int64_t ldb,
                                   const void *beta, void *c, jdatatype_t c_type, int64_t ldc,
                                   jdatatype_t compute_type);

/** Solves op(A) X = alpha B or X op(A) = alpha B, in all as jblas_strsm, workspace too, for A, B
 * and alpha of one type: f32, f64, f32_c or f64_c. rocBLAS's name (rocblas_trsm_ex, whose inverses
 * of diagonal blocks are here a rung's own). */
JALLOC_API jstatus_t jblas_trsm_ex(jhandle_t *handle, jblas_side_t side, jblas_uplo_t uplo,
                                   jblas_operation_t trans, jblas_diagonal_t diag, int64_t m,
                                   int64_t n, const void *alpha, const void *a, jdatatype_t a_type,
                                   int64_t lda, void *b, jdatatype_t b_type, int64_t ldb,
                                   jdatatype_t compute_type);
/** @} */

#ifdef __cplusplus
}
#endif
#endif
