/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_ROWS_LEVEL2_H
#define JALLOC_BLAS_ROUTINE_ROWS_LEVEL2_H

/* The rows of level 2; rows.h, which includes this, says how to read them.
 * One argument to a line. */

/* clang-format off */

#define JI_FUNCTIONS_gemv(X, context) JI_SDCZ(X, context, gemv)
#define JI_ARGUMENTS_gemv(X, t) \
    X(t, ENUM, trans, ANY_OPERATION) \
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

#define JI_FUNCTIONS_skewsymv(X, context) JI_SD(X, context, skewsymv)
#define JI_ARGUMENTS_skewsymv(X, t) JI_ARGUMENTS_OF_SYMV(X, t, SKEW)

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

#define JI_FUNCTIONS_skewsyr2(X, context) JI_SD(X, context, skewsyr2)
#define JI_ARGUMENTS_skewsyr2(X, t) JI_ARGUMENTS_OF_SYR2(X, t, SKEW)

/* Symmetric matrices of complex types: rows of their own, since no GPU has them. */

#define JI_FUNCTIONS_symv_complex(X, context) \
    X(context, symv_complex, c, csymv) X(context, symv_complex, z, zsymv)
#define JI_ARGUMENTS_symv_complex(X, t) JI_ARGUMENTS_OF_SYMV(X, t, SYMMETRIC)

#define JI_FUNCTIONS_syr_complex(X, context) \
    X(context, syr_complex, c, csyr) X(context, syr_complex, z, zsyr)
#define JI_ARGUMENTS_syr_complex(X, t) JI_ARGUMENTS_OF_SYR(X, t, ELEMENT, SYMMETRIC)

#define JI_FUNCTIONS_syr2_complex(X, context) \
    X(context, syr2_complex, c, csyr2) X(context, syr2_complex, z, zsyr2)
#define JI_ARGUMENTS_syr2_complex(X, t) JI_ARGUMENTS_OF_SYR2(X, t, SYMMETRIC)

#define JI_ARGUMENTS_OF_TRMV(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, trans, ANY_OPERATION) \
    X(t, ENUM, diag, DIAGONAL) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, READ, structure, PLAIN(n, n), ALWAYS) \
    X(t, VECTOR, x, incx, WRITTEN, ELEMENTS(n), ALWAYS)

#define JI_FUNCTIONS_trmv(X, context) JI_SDCZ(X, context, trmv)
#define JI_ARGUMENTS_trmv(X, t) JI_ARGUMENTS_OF_TRMV(X, t, TRIANGULAR)

#define JI_FUNCTIONS_trsv(X, context) JI_SDCZ(X, context, trsv)
#define JI_ARGUMENTS_trsv(X, t) JI_ARGUMENTS_OF_TRMV(X, t, INVERTED)

/* Bands. */

#define JI_FUNCTIONS_gbmv(X, context) JI_SDCZ(X, context, gbmv)
#define JI_ARGUMENTS_gbmv(X, t) \
    X(t, ENUM, trans, ANY_OPERATION) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, SIZE, kl) \
    X(t, SIZE, ku) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, GENERAL, BAND(m, n, kl, ku), ALPHA) \
    X(t, VECTOR, x, incx, READ, TAKEN(trans, m, n), ALPHA) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, VECTOR, y, incy, WRITTEN, GIVEN(trans, m, n), BETA)

#define JI_ARGUMENTS_OF_SBMV(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, MATRIX, a, lda, READ, structure, TRIANGLE_BAND(n, k), ALPHA) \
    X(t, VECTOR, x, incx, READ, ELEMENTS(n), ALPHA) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, VECTOR, y, incy, WRITTEN, ELEMENTS(n), BETA)

#define JI_FUNCTIONS_sbmv(X, context) JI_SD(X, context, sbmv)
#define JI_ARGUMENTS_sbmv(X, t) JI_ARGUMENTS_OF_SBMV(X, t, SYMMETRIC)

#define JI_FUNCTIONS_hbmv(X, context) JI_CZ(X, context, hbmv)
#define JI_ARGUMENTS_hbmv(X, t) JI_ARGUMENTS_OF_SBMV(X, t, HERMITIAN)

#define JI_ARGUMENTS_OF_TBMV(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, trans, ANY_OPERATION) \
    X(t, ENUM, diag, DIAGONAL) \
    X(t, SIZE, n) \
    X(t, SIZE, k) \
    X(t, MATRIX, a, lda, READ, structure, TRIANGLE_BAND(n, k), ALWAYS) \
    X(t, VECTOR, x, incx, WRITTEN, ELEMENTS(n), ALWAYS)

#define JI_FUNCTIONS_tbmv(X, context) JI_SDCZ(X, context, tbmv)
#define JI_ARGUMENTS_tbmv(X, t) JI_ARGUMENTS_OF_TBMV(X, t, TRIANGULAR)

#define JI_FUNCTIONS_tbsv(X, context) JI_SDCZ(X, context, tbsv)
#define JI_ARGUMENTS_tbsv(X, t) JI_ARGUMENTS_OF_TBMV(X, t, INVERTED)

/* Packed triangles. */

#define JI_ARGUMENTS_OF_SPMV(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, PACKED, ap, READ, structure, n, ALPHA) \
    X(t, VECTOR, x, incx, READ, ELEMENTS(n), ALPHA) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, VECTOR, y, incy, WRITTEN, ELEMENTS(n), BETA)

#define JI_FUNCTIONS_spmv(X, context) JI_SD(X, context, spmv)
#define JI_ARGUMENTS_spmv(X, t) JI_ARGUMENTS_OF_SPMV(X, t, SYMMETRIC)

#define JI_FUNCTIONS_hpmv(X, context) JI_CZ(X, context, hpmv)
#define JI_ARGUMENTS_hpmv(X, t) JI_ARGUMENTS_OF_SPMV(X, t, HERMITIAN)

#define JI_ARGUMENTS_OF_SPR(X, t, of, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, of) \
    X(t, VECTOR, x, incx, READ, ELEMENTS(n), ALPHA) \
    X(t, PACKED, ap, WRITTEN, structure, n, ALWAYS)

#define JI_FUNCTIONS_spr(X, context) JI_SD(X, context, spr)
#define JI_ARGUMENTS_spr(X, t) JI_ARGUMENTS_OF_SPR(X, t, ELEMENT, SYMMETRIC)

#define JI_FUNCTIONS_hpr(X, context) JI_CZ(X, context, hpr)
#define JI_ARGUMENTS_hpr(X, t) JI_ARGUMENTS_OF_SPR(X, t, REAL, HERMITIAN)

#define JI_ARGUMENTS_OF_SPR2(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, SIZE, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, VECTOR, x, incx, READ, ELEMENTS(n), ALPHA) \
    X(t, VECTOR, y, incy, READ, ELEMENTS(n), ALPHA) \
    X(t, PACKED, ap, WRITTEN, structure, n, ALWAYS)

#define JI_FUNCTIONS_spr2(X, context) JI_SD(X, context, spr2)
#define JI_ARGUMENTS_spr2(X, t) JI_ARGUMENTS_OF_SPR2(X, t, SYMMETRIC)

#define JI_FUNCTIONS_hpr2(X, context) JI_CZ(X, context, hpr2)
#define JI_ARGUMENTS_hpr2(X, t) JI_ARGUMENTS_OF_SPR2(X, t, HERMITIAN)

#define JI_ARGUMENTS_OF_TPMV(X, t, structure) \
    X(t, ENUM, uplo, UPLO) \
    X(t, ENUM, trans, ANY_OPERATION) \
    X(t, ENUM, diag, DIAGONAL) \
    X(t, SIZE, n) \
    X(t, PACKED, ap, READ, structure, n, ALWAYS) \
    X(t, VECTOR, x, incx, WRITTEN, ELEMENTS(n), ALWAYS)

#define JI_FUNCTIONS_tpmv(X, context) JI_SDCZ(X, context, tpmv)
#define JI_ARGUMENTS_tpmv(X, t) JI_ARGUMENTS_OF_TPMV(X, t, TRIANGULAR)

#define JI_FUNCTIONS_tpsv(X, context) JI_SDCZ(X, context, tpsv)
#define JI_ARGUMENTS_tpsv(X, t) JI_ARGUMENTS_OF_TPMV(X, t, INVERTED)

/* clang-format on */

#endif
