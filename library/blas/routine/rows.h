/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_ROWS_H
#define JALLOC_BLAS_ROUTINE_ROWS_H

/* The rows: what there is to say of a routine's arguments, said once.
 *
 * JI_ARGUMENTS_<routine>(X, t) is the list of a routine's arguments in the order of BLAS, and
 * JI_FUNCTIONS_<routine>(X, context) that of its functions, X(context, routine, t, name) for
 * jblas_<name> with elements of type t: s d c z h b. Whoever needs something of every argument
 * expands the list with a macro of his own that goes on by kind; t is handed through:
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
 *     RESULT    of                        written
 *     VECTOR    increment, access, count, read
 *     MATRIX    ld, access, structure, shape, read
 *     STRIDED   ld, stride, access, structure, shape, read      batch_count matrices, so far apart
 *     POINTERS  ld, access, structure, shape, read              batch_count pointers to matrices
 *
 *     which      SIDE, UPLO, DIAGONAL, OPERATION; for products of a matrix with its own transpose
 *                SYMMETRIC_OPERATION (complex types: no conjugation) and HERMITIAN_OPERATION
 *                (complex types: no transposition without one)
 *     of         ELEMENT, REAL (of an element's parts) or SUM (16-bit elements are summed in
 *                float); of a RESULT also INDEX, an int64_t
 *     access     READ, or WRITTEN, which it is whether it was read or not
 *     count      LENGTH(n) of a LENGTH; ELEMENTS(n), whose increment must not be 0; those of a
 *                vector that op(A) with an m x n matrix A takes or gives: TAKEN(trans, m, n),
 *                GIVEN(trans, m, n)
 *     structure  GENERAL, SYMMETRIC, HERMITIAN, TRIANGULAR; INVERTED, a triangle that is divided
 *                by; FACTOR, the same as Cholesky leaves it; DEFINITE, Hermitian and positive
 *                definite
 *     shape      PLAIN(rows, columns); OPERATED(trans, m, n), which op makes m x n; SIDED(m, n),
 *                square and of the order that fits beside an m x n matrix
 *     read       when its elements are: ALWAYS, NEVER, ALPHA or BETA unless that is 0, PRODUCT
 *                unless alpha or k is. What is READ may be NULL where it is not read
 *
 * Names are those of the parameters and of the members of a block (primitive.h) both. */

#include "jalloc/jblas.h"

/* ---- Types ---- */

#define JI_TYPE_s JDATATYPE_F32
#define JI_TYPE_d JDATATYPE_F64
#define JI_TYPE_c JDATATYPE_F32_C
#define JI_TYPE_z JDATATYPE_F64_C
#define JI_TYPE_h JDATATYPE_F16
#define JI_TYPE_b JDATATYPE_BF16

#define JI_ELEMENT_s float
#define JI_ELEMENT_d double
#define JI_ELEMENT_c jcomplex_f32_t
#define JI_ELEMENT_z jcomplex_f64_t
#define JI_ELEMENT_h jfloat16_t
#define JI_ELEMENT_b jbfloat16_t

#define JI_REAL_s float
#define JI_REAL_d double
#define JI_REAL_c float
#define JI_REAL_z double

#define JI_SUM_s float
#define JI_SUM_d double
#define JI_SUM_c jcomplex_f32_t
#define JI_SUM_z jcomplex_f64_t
#define JI_SUM_h float
#define JI_SUM_b float

#define JI_INDEX_s int64_t
#define JI_INDEX_d int64_t
#define JI_INDEX_c int64_t
#define JI_INDEX_z int64_t

/* ---- Sizes of the operands, by the members of `args` ---- */

#define JI_COUNT_LENGTH(n) (args->n > 0 ? args->n : 0)
#define JI_COUNT_ELEMENTS(n) args->n
#define JI_COUNT_TAKEN(trans, m, n) (args->trans == JBLAS_NO_TRANSPOSE ? args->n : args->m)
#define JI_COUNT_GIVEN(trans, m, n) (args->trans == JBLAS_NO_TRANSPOSE ? args->m : args->n)

#define JI_ROWS_PLAIN(rows, columns) args->rows
#define JI_ROWS_OPERATED(trans, m, n) (args->trans == JBLAS_NO_TRANSPOSE ? args->m : args->n)
#define JI_ROWS_SIDED(m, n) (args->side == JBLAS_LEFT ? args->m : args->n)
#define JI_COLUMNS_PLAIN(rows, columns) args->columns
#define JI_COLUMNS_OPERATED(trans, m, n) (args->trans == JBLAS_NO_TRANSPOSE ? args->n : args->m)
#define JI_COLUMNS_SIDED(m, n) JI_ROWS_SIDED(m, n)

/* ---- The rows ---- */

/* Functions named by the type's letter and the routine. */
#define JI_SD(X, context, routine)                                                                 \
    X(context, routine, s, s##routine) X(context, routine, d, d##routine)
#define JI_CZ(X, context, routine)                                                                 \
    X(context, routine, c, c##routine) X(context, routine, z, z##routine)
#define JI_SDCZ(X, context, routine) JI_SD(X, context, routine) JI_CZ(X, context, routine)

/* X(routine, level): level 1, 2 or 3 says which block. */
#define JI_ROUTINE_LIST(X)                                                                         \
    X(asum, 1)                                                                                     \
    X(axpy, 1)                                                                                     \
    X(copy, 1)                                                                                     \
    X(dot, 1)                                                                                      \
    X(dotu, 1)                                                                                     \
    X(dotc, 1)                                                                                     \
    X(iamax, 1)                                                                                    \
    X(nrm2, 1)                                                                                     \
    X(scal, 1)                                                                                     \
    X(csscal, 1)                                                                                   \
    X(zdscal, 1)                                                                                   \
    X(swap, 1)                                                                                     \
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
    X(gemm, 3)                                                                                     \
    X(symm, 3)                                                                                     \
    X(hemm, 3)                                                                                     \
    X(syrk, 3)                                                                                     \
    X(herk, 3)                                                                                     \
    X(syr2k, 3)                                                                                    \
    X(her2k, 3)                                                                                    \
    X(gemmt, 3)                                                                                    \
    X(trmm, 3)                                                                                     \
    X(trsm, 3)                                                                                     \
    X(trtri, 3)                                                                                    \
    X(geam, 3)                                                                                     \
    X(gemm_batched, 3)                                                                             \
    X(gemm_strided_batched, 3)                                                                     \
    X(potrf, 3)                                                                                    \
    X(potrs, 3)

/* One argument to a line. */
/* clang-format off */

#define JI_FUNCTIONS_asum(X, context) \
    JI_SD(X, context, asum) X(context, asum, c, scasum) X(context, asum, z, dzasum)
#define JI_ARGUMENTS_asum(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALWAYS) \
    X(t, RESULT, result, REAL)

#define JI_FUNCTIONS_axpy(X, context) JI_SDCZ(X, context, axpy)
#define JI_ARGUMENTS_axpy(X, t) \
    X(t, LENGTH, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALPHA) \
    X(t, VECTOR, y, incy, WRITTEN, LENGTH(n), ALWAYS)

#define JI_FUNCTIONS_copy(X, context) JI_SDCZ(X, context, copy)
#define JI_ARGUMENTS_copy(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALWAYS) \
    X(t, VECTOR, y, incy, WRITTEN, LENGTH(n), NEVER)

#define JI_FUNCTIONS_dot(X, context) JI_SD(X, context, dot)
#define JI_ARGUMENTS_dot(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALWAYS) \
    X(t, VECTOR, y, incy, READ, LENGTH(n), ALWAYS) \
    X(t, RESULT, result, ELEMENT)

#define JI_FUNCTIONS_dotu(X, context) JI_CZ(X, context, dotu)
#define JI_ARGUMENTS_dotu(X, t) JI_ARGUMENTS_dot(X, t)

#define JI_FUNCTIONS_dotc(X, context) JI_CZ(X, context, dotc)
#define JI_ARGUMENTS_dotc(X, t) JI_ARGUMENTS_dot(X, t)

#define JI_FUNCTIONS_iamax(X, context) \
    X(context, iamax, s, isamax) X(context, iamax, d, idamax) \
    X(context, iamax, c, icamax) X(context, iamax, z, izamax)
#define JI_ARGUMENTS_iamax(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALWAYS) \
    X(t, RESULT, result, INDEX)

#define JI_FUNCTIONS_nrm2(X, context) \
    JI_SD(X, context, nrm2) X(context, nrm2, c, scnrm2) X(context, nrm2, z, dznrm2)
#define JI_ARGUMENTS_nrm2(X, t) JI_ARGUMENTS_asum(X, t)

#define JI_FUNCTIONS_scal(X, context) JI_SDCZ(X, context, scal)
#define JI_ARGUMENTS_scal(X, t) \
    X(t, LENGTH, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, VECTOR, x, incx, WRITTEN, LENGTH(n), ALWAYS)

#define JI_FUNCTIONS_csscal(X, context) X(context, csscal, c, csscal)
#define JI_ARGUMENTS_csscal(X, t) \
    X(t, LENGTH, n) \
    X(t, SCALAR, alpha, REAL) \
    X(t, VECTOR, x, incx, WRITTEN, LENGTH(n), ALWAYS)

#define JI_FUNCTIONS_zdscal(X, context) X(context, zdscal, z, zdscal)
#define JI_ARGUMENTS_zdscal(X, t) JI_ARGUMENTS_csscal(X, t)

#define JI_FUNCTIONS_swap(X, context) JI_SDCZ(X, context, swap)
#define JI_ARGUMENTS_swap(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, WRITTEN, LENGTH(n), ALWAYS) \
    X(t, VECTOR, y, incy, WRITTEN, LENGTH(n), ALWAYS)

#define JI_FUNCTIONS_gemv(X, context) JI_SDCZ(X, context, gemv)
#define JI_ARGUMENTS_gemv(X, t) \
    X(t, ENUM, trans, OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, GENERAL, PLAIN(m, n), ALPHA) \
    X(t, VECTOR, x, incx, READ, TAKEN(trans, m, n), ALPHA) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, VECTOR, y, incy, WRITTEN, GIVEN(trans, m, n), BETA)

#define JI_FUNCTIONS_ger(X, context) JI_SD(X, context, ger)
#define JI_ARGUMENTS_ger(X, t) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, VECTOR, x, incx, READ, ELEMENTS(m), ALPHA) \
    X(t, VECTOR, y, incy, READ, ELEMENTS(n), ALPHA) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(m, n), ALWAYS)

#define JI_FUNCTIONS_geru(X, context) JI_CZ(X, context, geru)
#define JI_ARGUMENTS_geru(X, t) JI_ARGUMENTS_ger(X, t)

#define JI_FUNCTIONS_gerc(X, context) JI_CZ(X, context, gerc)
#define JI_ARGUMENTS_gerc(X, t) JI_ARGUMENTS_ger(X, t)

#define JI_ARGUMENTS_OF_SYMV(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, structure, PLAIN(n, n), ALPHA) \
    X(t, VECTOR, x, incx, READ, ELEMENTS(n), ALPHA) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, VECTOR, y, incy, WRITTEN, ELEMENTS(n), BETA)

#define JI_FUNCTIONS_symv(X, context) JI_SD(X, context, symv)
#define JI_ARGUMENTS_symv(X, t) JI_ARGUMENTS_OF_SYMV(X, t, SYMMETRIC)

#define JI_FUNCTIONS_hemv(X, context) JI_CZ(X, context, hemv)
#define JI_ARGUMENTS_hemv(X, t) JI_ARGUMENTS_OF_SYMV(X, t, HERMITIAN)

#define JI_ARGUMENTS_OF_SYR(X, t, of, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, of) \
    X(t, VECTOR, x, incx, READ, ELEMENTS(n), ALPHA) \
    X(t, MATRIX, a, lda, WRITTEN, structure, PLAIN(n, n), ALWAYS)

#define JI_FUNCTIONS_syr(X, context) JI_SD(X, context, syr)
#define JI_ARGUMENTS_syr(X, t) JI_ARGUMENTS_OF_SYR(X, t, ELEMENT, SYMMETRIC)

#define JI_FUNCTIONS_her(X, context) JI_CZ(X, context, her)
#define JI_ARGUMENTS_her(X, t) JI_ARGUMENTS_OF_SYR(X, t, REAL, HERMITIAN)

#define JI_ARGUMENTS_OF_SYR2(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, VECTOR, x, incx, READ, ELEMENTS(n), ALPHA) \
    X(t, VECTOR, y, incy, READ, ELEMENTS(n), ALPHA) \
    X(t, MATRIX, a, lda, WRITTEN, structure, PLAIN(n, n), ALWAYS)

#define JI_FUNCTIONS_syr2(X, context) JI_SD(X, context, syr2)
#define JI_ARGUMENTS_syr2(X, t) JI_ARGUMENTS_OF_SYR2(X, t, SYMMETRIC)

#define JI_FUNCTIONS_her2(X, context) JI_CZ(X, context, her2)
#define JI_ARGUMENTS_her2(X, t) JI_ARGUMENTS_OF_SYR2(X, t, HERMITIAN)

#define JI_ARGUMENTS_OF_TRMV(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, trans, OPERATION) \
    X(t, ENUM, diag, DIAGONAL) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, READ, structure, PLAIN(n, n), ALWAYS) \
    X(t, VECTOR, x, incx, WRITTEN, ELEMENTS(n), ALWAYS)

#define JI_FUNCTIONS_trmv(X, context) JI_SDCZ(X, context, trmv)
#define JI_ARGUMENTS_trmv(X, t) JI_ARGUMENTS_OF_TRMV(X, t, TRIANGULAR)

#define JI_FUNCTIONS_trsv(X, context) JI_SDCZ(X, context, trsv)
#define JI_ARGUMENTS_trsv(X, t) JI_ARGUMENTS_OF_TRMV(X, t, INVERTED)

#define JI_HB(X, context, routine) \
    X(context, routine, h, h##routine) X(context, routine, b, b##routine)
#define JI_FUNCTIONS_gemm(X, context) JI_SDCZ(X, context, gemm) JI_HB(X, context, gemm)
#define JI_ARGUMENTS_gemm(X, t) \
    X(t, ENUM, transa, OPERATION) \
    X(t, ENUM, transb, OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, SUM) \
    X(t, MATRIX, a, lda, READ, GENERAL, OPERATED(transa, m, k), PRODUCT) \
    X(t, MATRIX, b, ldb, READ, GENERAL, OPERATED(transb, k, n), PRODUCT) \
    X(t, SCALAR, beta, SUM) \
    X(t, MATRIX, c, ldc, WRITTEN, GENERAL, PLAIN(m, n), BETA)

#define JI_ARGUMENTS_OF_SYMM(X, t, structure) \
    X(t, ENUM, side, SIDE) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, structure, SIDED(m, n), ALPHA) \
    X(t, MATRIX, b, ldb, READ, GENERAL, PLAIN(m, n), ALPHA) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, MATRIX, c, ldc, WRITTEN, GENERAL, PLAIN(m, n), BETA)

#define JI_FUNCTIONS_symm(X, context) JI_SDCZ(X, context, symm)
#define JI_ARGUMENTS_symm(X, t) JI_ARGUMENTS_OF_SYMM(X, t, SYMMETRIC)

#define JI_FUNCTIONS_hemm(X, context) JI_CZ(X, context, hemm)
#define JI_ARGUMENTS_hemm(X, t) JI_ARGUMENTS_OF_SYMM(X, t, HERMITIAN)

#define JI_ARGUMENTS_OF_SYRK(X, t, operation, of, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, trans, operation) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, of) \
    X(t, MATRIX, a, lda, READ, GENERAL, OPERATED(trans, n, k), PRODUCT) \
    X(t, SCALAR, beta, of) \
    X(t, MATRIX, c, ldc, WRITTEN, structure, PLAIN(n, n), BETA)

#define JI_FUNCTIONS_syrk(X, context) JI_SDCZ(X, context, syrk)
#define JI_ARGUMENTS_syrk(X, t) JI_ARGUMENTS_OF_SYRK(X, t, SYMMETRIC_OPERATION, ELEMENT, SYMMETRIC)

#define JI_FUNCTIONS_herk(X, context) JI_CZ(X, context, herk)
#define JI_ARGUMENTS_herk(X, t) JI_ARGUMENTS_OF_SYRK(X, t, HERMITIAN_OPERATION, REAL, HERMITIAN)

#define JI_ARGUMENTS_OF_SYR2K(X, t, operation, of, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, trans, operation) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, GENERAL, OPERATED(trans, n, k), PRODUCT) \
    X(t, MATRIX, b, ldb, READ, GENERAL, OPERATED(trans, n, k), PRODUCT) \
    X(t, SCALAR, beta, of) \
    X(t, MATRIX, c, ldc, WRITTEN, structure, PLAIN(n, n), BETA)

#define JI_FUNCTIONS_syr2k(X, context) JI_SDCZ(X, context, syr2k)
#define JI_ARGUMENTS_syr2k(X, t) \
    JI_ARGUMENTS_OF_SYR2K(X, t, SYMMETRIC_OPERATION, ELEMENT, SYMMETRIC)

#define JI_FUNCTIONS_her2k(X, context) JI_CZ(X, context, her2k)
#define JI_ARGUMENTS_her2k(X, t) JI_ARGUMENTS_OF_SYR2K(X, t, HERMITIAN_OPERATION, REAL, HERMITIAN)

#define JI_FUNCTIONS_gemmt(X, context) JI_SDCZ(X, context, gemmt)
#define JI_ARGUMENTS_gemmt(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, transa, OPERATION) \
    X(t, ENUM, transb, OPERATION) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, GENERAL, OPERATED(transa, n, k), PRODUCT) \
    X(t, MATRIX, b, ldb, READ, GENERAL, OPERATED(transb, k, n), PRODUCT) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, MATRIX, c, ldc, WRITTEN, TRIANGULAR, PLAIN(n, n), BETA)

#define JI_ARGUMENTS_OF_TRMM(X, t, structure) \
    X(t, ENUM, side, SIDE) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, trans, OPERATION) \
    X(t, ENUM, diag, DIAGONAL) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, structure, SIDED(m, n), ALPHA) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(m, n), ALPHA)

#define JI_FUNCTIONS_trmm(X, context) JI_SDCZ(X, context, trmm)
#define JI_ARGUMENTS_trmm(X, t) JI_ARGUMENTS_OF_TRMM(X, t, TRIANGULAR)

#define JI_FUNCTIONS_trsm(X, context) JI_SDCZ(X, context, trsm)
#define JI_ARGUMENTS_trsm(X, t) JI_ARGUMENTS_OF_TRMM(X, t, INVERTED)

#define JI_FUNCTIONS_trtri(X, context) JI_SDCZ(X, context, trtri)
#define JI_ARGUMENTS_trtri(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, diag, DIAGONAL) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, INVERTED, PLAIN(n, n), ALWAYS) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_geam(X, context) JI_SDCZ(X, context, geam)
#define JI_ARGUMENTS_geam(X, t) \
    X(t, ENUM, transa, OPERATION) \
    X(t, ENUM, transb, OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, GENERAL, OPERATED(transa, m, n), ALPHA) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, MATRIX, b, ldb, READ, GENERAL, OPERATED(transb, m, n), BETA) \
    X(t, MATRIX, c, ldc, WRITTEN, GENERAL, PLAIN(m, n), NEVER)

#define JI_FUNCTIONS_gemm_batched(X, context) JI_SDCZ(X, context, gemm_batched)
#define JI_ARGUMENTS_gemm_batched(X, t) \
    X(t, ENUM, transa, OPERATION) \
    X(t, ENUM, transb, OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, POINTERS, a, lda, READ, GENERAL, OPERATED(transa, m, k), PRODUCT) \
    X(t, POINTERS, b, ldb, READ, GENERAL, OPERATED(transb, k, n), PRODUCT) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, POINTERS, c, ldc, WRITTEN, GENERAL, PLAIN(m, n), BETA) \
    X(t, SIZE, batch_count)

#define JI_FUNCTIONS_gemm_strided_batched(X, context) JI_SDCZ(X, context, gemm_strided_batched)
#define JI_ARGUMENTS_gemm_strided_batched(X, t) \
    X(t, ENUM, transa, OPERATION) \
    X(t, ENUM, transb, OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, STRIDED, a, lda, stride_a, READ, GENERAL, OPERATED(transa, m, k), PRODUCT) \
    X(t, STRIDED, b, ldb, stride_b, READ, GENERAL, OPERATED(transb, k, n), PRODUCT) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, STRIDED, c, ldc, stride_c, WRITTEN, GENERAL, PLAIN(m, n), BETA) \
    X(t, SIZE, batch_count)

#define JI_FUNCTIONS_potrf(X, context) JI_SDCZ(X, context, potrf)
#define JI_ARGUMENTS_potrf(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, DEFINITE, PLAIN(n, n), ALWAYS) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_potrs(X, context) JI_SDCZ(X, context, potrs)
#define JI_ARGUMENTS_potrs(X, t) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, READ, FACTOR, PLAIN(n, n), ALWAYS) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS)

/* clang-format on */

#endif
