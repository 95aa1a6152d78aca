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
 * If all types are one, the call is that of the routine without _ex, with its bits, ways and
 * workspace; of f16 or bf16 summed in f32, gemm_ex has the bits of hgemm or bgemm. Integers are
 * added and multiplied modulo 2^32, whatever the order, so a sum that fits is exact.
 *
 * Statuses beside the common ones, by a message that names the types:
 * - invalid value: a number that is no type; an operand that the compute type cannot hold, such as
 *   f64 in f32, a complex one in a real type, a fraction in an integer.
 * - not implemented: what else is not in the table, such as sums in f16, integers in f32, or a real
 *   operand of a complex product; and all of these routines on a GPU. */

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
/** @} */

#ifdef __cplusplus
}
#endif
#endif
