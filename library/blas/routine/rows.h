/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_ROWS_H
#define JALLOC_BLAS_ROUTINE_ROWS_H

/* The rows: what there is to say of a routine's arguments, said once.
 *
 * JI_ARGUMENTS_<routine>(X, t) is the list of a routine's arguments in the order of BLAS, and
 * JI_FUNCTIONS_<routine>(X, context) that of its functions, X(context, routine, t, name) for
 * jblas_<name> with elements of type t: s d c z h b, and x where types are arguments. Whoever needs
 * something of every argument expands the list with a macro of his own that goes on by kind; t is
 * handed through:
 *
 *     #define JI_PARAMETER(t, kind, ...) JI_PARAMETER_##kind(t, __VA_ARGS__)
 *     #define JI_PARAMETER_SIZE(t, name) , int64_t name
 *     jstatus_t jblas_dgemm(jhandle_t *handle JI_ARGUMENTS_gemm(JI_PARAMETER, d));
 *
 * So the entries, their checks, the log, jblas-bench and the tests come from one list. An argument
 * is X(t, kind, name, ...), where kind is one of
 *
 *     ENUM      which
 *     LENGTH                              of vectors; below 1 they are empty
 *     SIZE                                of matrices, or how many; at least 0
 *     SCALAR    of
 *     RESULT    of                        written; of a batch one for each item, side by side
 *     NUMBER    of, access, read          one number, or five: an operand as a vector is, but that
 *                                         it stands where results do, by pointer mode
 *     VECTOR    increment, access, count, read
 *     MATRIX    ld, access, structure, shape, read
 *     LEADING   matrix, shape                                   of what becomes of that matrix,
 *                                                               where it comes to lie elsewhere
 *     INDICES   access, count                                   int64_t, from 1 on, so many of them
 *     FACTORS   access, count                                   elements side by side, so many
 *     REALS     access, count                                   the same of their parts' type
 *     PACKED    access, structure, order, read                  a triangle of n (n + 1) / 2
 *                                                               elements, of the order n
 *     TYPED_VECTOR, TYPED_MATRIX          type, ...; as VECTOR and MATRIX: their elements' type is
 *                                         an argument, too, and the compute_type an ENUM
 *
 *     which      SIDE, UPLO, DIAGONAL, NORM, OPERATION, DATATYPE; ANY_OPERATION, which may be
 *                JBLAS_CONJUGATE, too; for products of a matrix with its own transpose
 *                SYMMETRIC_OPERATION (complex types: no conjugation) and HERMITIAN_OPERATION
 *                (complex types: no transposition without one)
 *     of         ELEMENT, REAL (of an element's parts) or SUM (16-bit elements are summed in
 *                float); also PARAMETERS, five real numbers, REALS, one for each right-hand
 *                side, WIDE, a double beside floats, INDEX, an int64_t, and CS, of the type that is
 *                the argument cs_type
 *     access     READ, or WRITTEN, which it is whether it was read or not; of INDICES that are
 *                read and written UPDATED
 *     count      LENGTH(n) of a LENGTH; ELEMENTS(n), whose increment must not be 0; those of a
 *                vector that op(A) with an m x n matrix A takes or gives: TAKEN(trans, m, n),
 *                GIVEN(trans, m, n); SIDED(m, n) as of shapes, with any increment
 *     structure  GENERAL, SYMMETRIC, HERMITIAN, SKEW (symmetric, one triangle without its
 *                diagonal), TRIANGULAR; INVERTED, a triangle that is divided by
 *     shape      PLAIN(rows, columns); OPERATED(trans, m, n), which op makes m x n; SIDED(m, n),
 *                square and of the order that fits beside an m x n matrix. Of a band there are its
 *                diagonals, each a row of the array: BAND(m, n, kl, ku), below and above the main
 *                one of an m x n matrix; TRIANGLE_BAND(n, k) of a matrix of order n, that and those
 *                on the side of its triangle
 *     read       when its elements are: ALWAYS, NEVER, ALPHA or BETA unless that is 0, PRODUCT
 *                unless alpha or k is. What is READ may be NULL where it is not read
 *
 * Names are those of the parameters and of the members of a block (primitive.h) both.
 *
 * A row is that of the plain form. Those of the batched forms are made from it, with three kinds
 * more, of which the plain form has none:
 *
 *     JI_ARGUMENTS_OF(form, routine, X, t), JI_NAME_OF(form, name), form one of
 *         PLAIN      jblas_<name>
 *         POINTERS   jblas_<name>_batched: an operand's access is READ_EACH or WRITTEN_EACH
 *         STRIDED    jblas_<name>_strided_batched: behind each operand
 *
 *     STRIDE    the operand's name              stride_<name>; INDICES and FACTORS have one in both
 *     NUMBER_STRIDE   the same of a NUMBER
 *     COUNT     batch_count                     the last argument of both
 */

#include <stdint.h>

#include "blas/primitives/operation.h"
#include "blas/routine/rows_ex.h"
#include "blas/routine/rows_extensions.h"
#include "blas/routine/rows_level1.h"
#include "blas/routine/rows_level2.h"
#include "blas/routine/rows_level3.h"
#include "jalloc/jblas.h"

/* ---- Types ---- */

#define JI_TYPE_s JDATATYPE_F32
#define JI_TYPE_d JDATATYPE_F64
#define JI_TYPE_c JDATATYPE_F32_C
#define JI_TYPE_z JDATATYPE_F64_C
#define JI_TYPE_h JDATATYPE_F16
#define JI_TYPE_b JDATATYPE_BF16
#define JI_TYPE_x JDATATYPE_I8 /* a place among names: nothing is computed in 8 bits */

#define JI_ELEMENT_s float
#define JI_ELEMENT_d double
#define JI_ELEMENT_c jcomplex_f32_t
#define JI_ELEMENT_z jcomplex_f64_t
#define JI_ELEMENT_h jfloat16_t
#define JI_ELEMENT_b jbfloat16_t
#define JI_ELEMENT_x void

#define JI_REAL_s float
#define JI_REAL_d double
#define JI_REAL_c float
#define JI_REAL_z double
#define JI_REAL_x void

#define JI_SUM_s float
#define JI_SUM_d double
#define JI_SUM_c jcomplex_f32_t
#define JI_SUM_z jcomplex_f64_t
#define JI_SUM_h float
#define JI_SUM_b float

#define JI_PARAMETERS_s float
#define JI_PARAMETERS_d double

#define JI_REALS_s float
#define JI_REALS_d double
#define JI_REALS_c float
#define JI_REALS_z double

#define JI_WIDE_s double

#define JI_CS_x void

#define JI_INDEX_s int64_t
#define JI_INDEX_d int64_t
#define JI_INDEX_c int64_t
#define JI_INDEX_z int64_t

/* What a parameter of that access points to. */
#define JI_READ(type) const type
#define JI_WRITTEN(type) type
#define JI_UPDATED(type) type
#define JI_READ_EACH(type) const type *const
#define JI_WRITTEN_EACH(type) type *const

/* ---- Sizes of the operands, by the members of `args` ---- */

#define JI_COUNT_LENGTH(n) (args->n > 0 ? args->n : 0)
#define JI_COUNT_ELEMENTS(n) args->n
#define JI_COUNT_TAKEN(trans, m, n) (ji_is_transposed(args->trans) ? args->m : args->n)
#define JI_COUNT_GIVEN(trans, m, n) (ji_is_transposed(args->trans) ? args->n : args->m)
#define JI_COUNT_SIDED(m, n) JI_ROWS_SIDED(m, n)

#define JI_ROWS_PLAIN(rows, columns) args->rows
#define JI_ROWS_OPERATED(trans, m, n) (ji_is_transposed(args->trans) ? args->n : args->m)
#define JI_ROWS_SIDED(m, n) (args->side == JBLAS_LEFT ? args->m : args->n)
#define JI_ROWS_BAND(m, n, kl, ku) ji_band_rows(args->kl, args->ku)
#define JI_ROWS_TRIANGLE_BAND(n, k) ji_band_rows(args->k, 0)
#define JI_COLUMNS_PLAIN(rows, columns) args->columns
#define JI_COLUMNS_OPERATED(trans, m, n) (ji_is_transposed(args->trans) ? args->m : args->n)
#define JI_COLUMNS_SIDED(m, n) JI_ROWS_SIDED(m, n)
#define JI_COLUMNS_BAND(m, n, kl, ku) args->n
#define JI_COLUMNS_TRIANGLE_BAND(n, k) args->n

/* kl + ku + 1, or what no leading dimension is enough for; 0 of widths that are refused. */
static inline int64_t ji_band_rows(int64_t kl, int64_t ku) {
    if (kl < 0 || ku < 0)
        return 0;
    return kl < INT64_MAX - 1 - ku ? kl + ku + 1 : INT64_MAX;
}

/* ---- Forms ---- */

#define JI_ARGUMENTS_OF(form, routine, X, t) JI_ARGUMENTS_OF_##form(routine, X, t)
#define JI_ARGUMENTS_OF_PLAIN(routine, X, t) JI_ARGUMENTS_##routine(X, t)
#define JI_ARGUMENTS_OF_POINTERS(routine, X, t)                                                    \
    JI_ARGUMENTS_##routine(JI_POINTERS, (X, t)) X(t, COUNT, batch_count)
#define JI_ARGUMENTS_OF_STRIDED(routine, X, t)                                                     \
    JI_ARGUMENTS_##routine(JI_STRIDED, (X, t)) X(t, COUNT, batch_count)

/* xt is (X, t). */
#define JI_FIRST(first, second) first
#define JI_SECOND(first, second) second
#define JI_POINTERS(xt, kind, ...) JI_POINTERS_##kind(JI_FIRST xt, JI_SECOND xt, __VA_ARGS__)
#define JI_POINTERS_ENUM(X, t, ...) X(t, ENUM, __VA_ARGS__)
#define JI_POINTERS_LENGTH(X, t, ...) X(t, LENGTH, __VA_ARGS__)
#define JI_POINTERS_SIZE(X, t, ...) X(t, SIZE, __VA_ARGS__)
#define JI_POINTERS_SCALAR(X, t, ...) X(t, SCALAR, __VA_ARGS__)
#define JI_POINTERS_RESULT(X, t, ...) X(t, RESULT, __VA_ARGS__)
#define JI_POINTERS_NUMBER(X, t, name, of, access, ...)                                            \
    X(t, NUMBER, name, of, access##_EACH, __VA_ARGS__)
#define JI_POINTERS_VECTOR(X, t, name, inc, access, ...)                                           \
    X(t, VECTOR, name, inc, access##_EACH, __VA_ARGS__)
#define JI_POINTERS_MATRIX(X, t, name, ld, access, ...)                                            \
    X(t, MATRIX, name, ld, access##_EACH, __VA_ARGS__)
#define JI_POINTERS_PACKED(X, t, name, access, ...) X(t, PACKED, name, access##_EACH, __VA_ARGS__)
#define JI_POINTERS_LEADING(X, t, ...) X(t, LEADING, __VA_ARGS__)
#define JI_POINTERS_INDICES(X, t, name, ...) X(t, INDICES, name, __VA_ARGS__) X(t, STRIDE, name)
#define JI_POINTERS_FACTORS(X, t, name, ...) X(t, FACTORS, name, __VA_ARGS__) X(t, STRIDE, name)
#define JI_POINTERS_TYPED_VECTOR(X, t, name, type, inc, access, ...)                               \
    X(t, TYPED_VECTOR, name, type, inc, access##_EACH, __VA_ARGS__)
#define JI_POINTERS_TYPED_MATRIX(X, t, name, type, ld, access, ...)                                \
    X(t, TYPED_MATRIX, name, type, ld, access##_EACH, __VA_ARGS__)

#define JI_STRIDED(xt, kind, ...) JI_STRIDED_##kind(JI_FIRST xt, JI_SECOND xt, __VA_ARGS__)
#define JI_STRIDED_ENUM(X, t, ...) X(t, ENUM, __VA_ARGS__)
#define JI_STRIDED_LENGTH(X, t, ...) X(t, LENGTH, __VA_ARGS__)
#define JI_STRIDED_SIZE(X, t, ...) X(t, SIZE, __VA_ARGS__)
#define JI_STRIDED_SCALAR(X, t, ...) X(t, SCALAR, __VA_ARGS__)
#define JI_STRIDED_RESULT(X, t, ...) X(t, RESULT, __VA_ARGS__)
#define JI_STRIDED_NUMBER(X, t, name, ...) X(t, NUMBER, name, __VA_ARGS__) X(t, NUMBER_STRIDE, name)
#define JI_STRIDED_VECTOR(X, t, name, ...) X(t, VECTOR, name, __VA_ARGS__) X(t, STRIDE, name)
#define JI_STRIDED_MATRIX(X, t, name, ...) X(t, MATRIX, name, __VA_ARGS__) X(t, STRIDE, name)
#define JI_STRIDED_PACKED(X, t, name, ...) X(t, PACKED, name, __VA_ARGS__) X(t, STRIDE, name)
#define JI_STRIDED_LEADING(X, t, ...) X(t, LEADING, __VA_ARGS__)
#define JI_STRIDED_INDICES(X, t, name, ...) X(t, INDICES, name, __VA_ARGS__) X(t, STRIDE, name)
#define JI_STRIDED_FACTORS(X, t, name, ...) X(t, FACTORS, name, __VA_ARGS__) X(t, STRIDE, name)
#define JI_STRIDED_TYPED_VECTOR(X, t, name, ...)                                                   \
    X(t, TYPED_VECTOR, name, __VA_ARGS__) X(t, STRIDE, name)
#define JI_STRIDED_TYPED_MATRIX(X, t, name, ...)                                                   \
    X(t, TYPED_MATRIX, name, __VA_ARGS__) X(t, STRIDE, name)

#define JI_NAME_OF(form, name) JI_NAME_OF_##form(name)
#define JI_NAME_OF_PLAIN(name) name
#define JI_NAME_OF_POINTERS(name) name##_batched
#define JI_NAME_OF_STRIDED(name) name##_strided_batched

/* The public name of a function. A library above has its own before the same word: it defines
 * JI_PREFIX anew. */
#define JI_PREFIX jblas_
#define JI_PUBLIC(form, function) JI_PUBLIC_OF(JI_SUFFIX_##form, JI_PREFIX, function)
#define JI_PUBLIC_OF(suffix, prefix, function) suffix(prefix, function)
#define JI_SUFFIX_PLAIN(prefix, function) prefix##function
#define JI_SUFFIX_POINTERS(prefix, function) prefix##function##_batched
#define JI_SUFFIX_STRIDED(prefix, function) prefix##function##_strided_batched

/* ---- The rows ---- */

/* Functions named by the type's letter and the routine. */
#define JI_SD(X, context, routine)                                                                 \
    X(context, routine, s, s##routine) X(context, routine, d, d##routine)
#define JI_CZ(X, context, routine)                                                                 \
    X(context, routine, c, c##routine) X(context, routine, z, z##routine)
#define JI_SDCZ(X, context, routine) JI_SD(X, context, routine) JI_CZ(X, context, routine)

/* X(routine, level): level 1, 2 or 3 says which block; 0 is of level 1, without vectors. */
#define JI_ROUTINE_LIST(X)                                                                         \
    X(asum, 1)                                                                                     \
    X(axpy, 1)                                                                                     \
    X(copy, 1)                                                                                     \
    X(dot, 1)                                                                                      \
    X(dotu, 1)                                                                                     \
    X(dotc, 1)                                                                                     \
    X(dsdot, 1)                                                                                    \
    X(sdsdot, 1)                                                                                   \
    X(axpby, 1)                                                                                    \
    X(rot, 1)                                                                                      \
    X(rotm, 1)                                                                                     \
    X(rotg, 0)                                                                                     \
    X(rotmg, 0)                                                                                    \
    X(iamin, 1)                                                                                    \
    X(iamax, 1)                                                                                    \
    X(nrm2, 1)                                                                                     \
    X(scal, 1)                                                                                     \
    X(csscal, 1)                                                                                   \
    X(zdscal, 1)                                                                                   \
    X(swap, 1)                                                                                     \
    X(axpy_ex, 1)                                                                                  \
    X(dot_ex, 1)                                                                                   \
    X(dotc_ex, 1)                                                                                  \
    X(nrm2_ex, 1)                                                                                  \
    X(asum_ex, 1)                                                                                  \
    X(scal_ex, 1)                                                                                  \
    X(rot_ex, 1)                                                                                   \
    X(gemv, 2)                                                                                     \
    X(ger, 2)                                                                                      \
    X(geru, 2)                                                                                     \
    X(gerc, 2)                                                                                     \
    X(symv, 2)                                                                                     \
    X(hemv, 2)                                                                                     \
    X(syr, 2)                                                                                      \
    X(her, 2)                                                                                      \
    X(syr2, 2)                                                                                     \
    X(her2, 2)                                                                                     \
    X(trmv, 2)                                                                                     \
    X(trsv, 2)                                                                                     \
    X(gbmv, 2)                                                                                     \
    X(sbmv, 2)                                                                                     \
    X(hbmv, 2)                                                                                     \
    X(spmv, 2)                                                                                     \
    X(hpmv, 2)                                                                                     \
    X(spr, 2)                                                                                      \
    X(hpr, 2)                                                                                      \
    X(spr2, 2)                                                                                     \
    X(hpr2, 2)                                                                                     \
    X(tbmv, 2)                                                                                     \
    X(tbsv, 2)                                                                                     \
    X(tpmv, 2)                                                                                     \
    X(tpsv, 2)                                                                                     \
    X(skewsyr2, 2)                                                                                 \
    X(skewsymv, 2)                                                                                 \
    X(syr2_complex, 2)                                                                             \
    X(syr_complex, 2)                                                                              \
    X(symv_complex, 2)                                                                             \
    X(gemm, 3)                                                                                     \
    X(symm, 3)                                                                                     \
    X(hemm, 3)                                                                                     \
    X(syrk, 3)                                                                                     \
    X(herk, 3)                                                                                     \
    X(syr2k, 3)                                                                                    \
    X(her2k, 3)                                                                                    \
    X(gemmt, 3)                                                                                    \
    X(gemmtr, 3)                                                                                   \
    X(syrkx, 3)                                                                                    \
    X(trmm, 3)                                                                                     \
    X(trsm, 3)                                                                                     \
    X(geam, 3)                                                                                     \
    X(dgmm, 3)                                                                                     \
    X(omatcopy, 3)                                                                                 \
    X(imatcopy, 3)                                                                                 \
    X(trttp, 3)                                                                                    \
    X(tpttr, 3)                                                                                    \
    X(gemm3m, 3)                                                                                   \
    X(herkx, 3)                                                                                    \
    X(skewsyr2k, 3)                                                                                \
    X(skewsymm, 3)                                                                                 \
    X(gemm_ex, 3)                                                                                  \
    X(trsm_ex, 3)

#endif
