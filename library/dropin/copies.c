/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Names that are no part of BLAS, but of OpenBLAS and of programs that know it: omatcopy and
 * imatcopy, Fortran's and C's. The order of the elements comes first, to both as an argument. A
 * matrix by rows is the transposed one by columns, and so is what becomes of it: its rows and
 * columns change places.
 *
 * Arguments are numbered as OpenBLAS does it; a matrix without rows or columns is none that is
 * wrong. */

#include "dropin/entry.h"

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102 };

/* ---- What jblas does not know by itself ---- */

static inline char upper_case(char letter) {
    return letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
}

static inline int order_of(const char *letter) {
    const char given = upper_case(*letter);
    return given == 'R' ? ROW_MAJOR : given == 'C' ? COLUMN_MAJOR : 0;
}

/* R: conjugated, and not transposed. */
static inline int operation_of(const char *letter) {
    switch (upper_case(*letter)) {
    case 'N': return JBLAS_NO_TRANSPOSE;
    case 'T': return JBLAS_TRANSPOSE;
    case 'C': return JBLAS_CONJUGATE_TRANSPOSE;
    case 'R': return JBLAS_CONJUGATE;
    default: return 0;
    }
}

/* Puts the order, the operation and the sizes into the block; false if one is wrong, of which the
 * program was told. */
static bool copy_settings(ji_matmat_t *args, const char *name, bool from_c, int order, int trans,
                          int64_t rows, int64_t columns) {
    const bool is_operation = trans >= JBLAS_NO_TRANSPOSE && trans <= JBLAS_CONJUGATE;
    const int wrong = order != ROW_MAJOR && order != COLUMN_MAJOR ? 1
                      : !is_operation                             ? 2
                      : rows < 0                                  ? 3
                      : columns < 0                               ? 4
                                                                  : 0;
    if (wrong != 0) {
        ji_dropin_call_t call = {.name = name, .from_c = from_c, .before = !from_c};
        ji_dropin_refuse(&call, wrong - 1);
        return false;
    }

    args->trans = (jblas_operation_t)trans;
    args->m = order == ROW_MAJOR ? columns : rows;
    args->n = order == ROW_MAJOR ? rows : columns;
    return true;
}

/* ---- The functions ---- */

#define VALUE_s const float
#define VALUE_d const double
#define VALUE_c const void *
#define VALUE_z const void *
#define ARRAY_s float
#define ARRAY_d double
#define ARRAY_c void
#define ARRAY_z void
#define ADDRESS_s(alpha) &(alpha)
#define ADDRESS_d(alpha) &(alpha)
#define ADDRESS_c(alpha) (alpha)
#define ADDRESS_z(alpha) (alpha)

/* What both names do, with `args` in which the matrices are. */
#define CALL(routine, t, function, from_c, order, trans, rows, columns)                            \
    if (copy_settings(&args, #function, from_c, order, trans, rows, columns)) {                    \
        JI_DROPIN_CARRY_OUT_BEHIND(                                                                \
            !(from_c), function, from_c, (order) == ROW_MAJOR,                                     \
            jblas_##function(handle JI_ARGUMENTS_##routine(JI_DROPIN_PASS, t)))                    \
    }

#define OMATCOPY(context, routine, t, function)                                                    \
    JI_EXPORTED void JI_FORTRAN(function)(                                                         \
        const char *order, const char *trans, const blas_int_t *rows, const blas_int_t *columns,   \
        const JI_ELEMENT_##t *alpha, const JI_ELEMENT_##t *a, const blas_int_t *lda,               \
        JI_ELEMENT_##t *b, const blas_int_t *ldb);                                                 \
    void JI_FORTRAN(function)(const char *order, const char *trans, const blas_int_t *rows,        \
                              const blas_int_t *columns, const JI_ELEMENT_##t *alpha,              \
                              const JI_ELEMENT_##t *a, const blas_int_t *lda, JI_ELEMENT_##t *b,   \
                              const blas_int_t *ldb) {                                             \
        ji_matmat_t args;                                                                          \
        args.alpha.pointer = alpha;                                                                \
        args.a = a, args.lda = *lda, args.b = b, args.ldb = *ldb;                                  \
        CALL(routine, t, function, false, order_of(order), operation_of(trans), *rows, *columns)   \
    }                                                                                              \
    JI_EXPORTED void JI_CBLAS(function)(int order, int trans, blas_int_t rows, blas_int_t columns, \
                                        VALUE_##t alpha, const ARRAY_##t *a, blas_int_t lda,       \
                                        ARRAY_##t *b, blas_int_t ldb);                             \
    void JI_CBLAS(function)(int order, int trans, blas_int_t rows, blas_int_t columns,             \
                            VALUE_##t alpha, const ARRAY_##t *a, blas_int_t lda, ARRAY_##t *b,     \
                            blas_int_t ldb) {                                                      \
        ji_matmat_t args;                                                                          \
        args.alpha.pointer = ADDRESS_##t(alpha);                                                   \
        args.a = a, args.lda = lda, args.b = b, args.ldb = ldb;                                    \
        CALL(routine, t, function, true, order, trans, rows, columns)                              \
    }
JI_FUNCTIONS_omatcopy(OMATCOPY, )

#define IMATCOPY(context, routine, t, function)                                                    \
    JI_EXPORTED void JI_FORTRAN(function)(const char *order, const char *trans,                    \
                                          const blas_int_t *rows, const blas_int_t *columns,       \
                                          const JI_ELEMENT_##t *alpha, JI_ELEMENT_##t *a,          \
                                          const blas_int_t *lda, const blas_int_t *ldb);           \
    void JI_FORTRAN(function)(const char *order, const char *trans, const blas_int_t *rows,        \
                              const blas_int_t *columns, const JI_ELEMENT_##t *alpha,              \
                              JI_ELEMENT_##t *a, const blas_int_t *lda, const blas_int_t *ldb) {   \
        ji_matmat_t args;                                                                          \
        args.alpha.pointer = alpha;                                                                \
        args.a = a, args.lda = *lda, args.ldb = *ldb;                                              \
        CALL(routine, t, function, false, order_of(order), operation_of(trans), *rows, *columns)   \
    }                                                                                              \
    JI_EXPORTED void JI_CBLAS(function)(int order, int trans, blas_int_t rows, blas_int_t columns, \
                                        VALUE_##t alpha, ARRAY_##t *a, blas_int_t lda,             \
                                        blas_int_t ldb);                                           \
    void JI_CBLAS(function)(int order, int trans, blas_int_t rows, blas_int_t columns,             \
                            VALUE_##t alpha, ARRAY_##t *a, blas_int_t lda, blas_int_t ldb) {       \
        ji_matmat_t args;                                                                          \
        args.alpha.pointer = ADDRESS_##t(alpha);                                                   \
        args.a = a, args.lda = lda, args.ldb = ldb;                                                \
        CALL(routine, t, function, true, order, trans, rows, columns)                              \
    }
    JI_FUNCTIONS_imatcopy(IMATCOPY, )
