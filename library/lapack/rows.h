/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_ROWS_H
#define JALLOC_LAPACK_ROWS_H

/* The rows of jlapack; blas/routine/rows.h says how to read them. Structures of matrices are also
 * REGULAR, square and not singular, and PIVOTED, the same as LU leaves it. */

#include "blas/routine/rows.h"
#include "jalloc/jlapack.h"
#undef JI_PREFIX
#define JI_PREFIX jlapack_ /* from here on */

#define JI_LAPACK_ROUTINE_LIST(X)                                                                  \
    X(getrf, 3)                                                                                    \
    X(getrs, 3)                                                                                    \
    X(gesv, 3)

/* How many indices; min(m, n), or n. */
#define JI_COUNT_SMALLER(m, n) ji_min(args->m, args->n)
#define JI_COUNT_ORDER(n) args->n

/* clang-format off */

#define JI_FUNCTIONS_getrf(X, context) JI_SDCZ(X, context, getrf)
#define JI_ARGUMENTS_getrf(X, t) \
    X(t, SIZE, m) \
    X(t, SIZE, n) \
    X(t, MATRIX, a, lda, WRITTEN, GENERAL, PLAIN(m, n), ALWAYS) \
    X(t, INDICES, ipiv, WRITTEN, SMALLER(m, n)) \
    X(t, RESULT, info, INDEX)

#define JI_FUNCTIONS_getrs(X, context) JI_SDCZ(X, context, getrs)
#define JI_ARGUMENTS_getrs(X, t) \
    X(t, ENUM, trans, OPERATION) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, READ, PIVOTED, PLAIN(n, n), ALWAYS) \
    X(t, INDICES, ipiv, READ, ORDER(n)) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS)

#define JI_FUNCTIONS_gesv(X, context) JI_SDCZ(X, context, gesv)
#define JI_ARGUMENTS_gesv(X, t) \
    X(t, SIZE, n) \
    X(t, SIZE, nrhs) \
    X(t, MATRIX, a, lda, WRITTEN, REGULAR, PLAIN(n, n), ALWAYS) \
    X(t, INDICES, ipiv, WRITTEN, ORDER(n)) \
    X(t, MATRIX, b, ldb, WRITTEN, GENERAL, PLAIN(n, nrhs), ALWAYS) \
    X(t, RESULT, info, INDEX)

/* clang-format on */

#endif
