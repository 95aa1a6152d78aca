/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* LAPACKE's names, from the rows: LAPACKE_dgetrf, which looks for NaN unless the program forbade
 * it, and LAPACKE_dgetrf_work, which does not, and has work and lwork where LAPACK has them. Both
 * return info, which counts the layout as the first argument.
 *
 * Row-major matrices are transposed into room of their own, and back: workspace, or else memory of
 * the C library; where there is neither info is LAPACKE's -1011. Of triangles the one is
 * copied that the call is of. */

#include <stdlib.h>
#include <string.h>

#include "dropin/lapack/lapack.h"

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102 };

/* ---- Matrices ---- */

/* Which of a matrix's elements a call is of. */
typedef struct part {
    bool upper_only, lower_only; /* neither: all */
    bool no_diagonal;
} part_t;

#define PART_GENERAL                                                                               \
    (part_t) { 0 }
#define PART_FULL                                                                                  \
    (part_t) { 0 }
#define PART_REGULAR                                                                               \
    (part_t) { 0 }
#define PART_PIVOTED                                                                               \
    (part_t) { 0 }
#define PART_FACTORED                                                                              \
    (part_t) { 0 }
#define PART_REFLECTORS                                                                            \
    (part_t) { 0 }
#define PART_DEFINITE                                                                              \
    (part_t) { args->uplo == JBLAS_UPPER, args->uplo == JBLAS_LOWER, false }
#define PART_FACTOR PART_DEFINITE
#define PART_FACTORED_TRIANGLE PART_DEFINITE
#define PART_SYMMETRIC_REGULAR PART_DEFINITE
#define PART_HERMITIAN_REGULAR PART_DEFINITE
#define PART_DIAGONALIZED PART_DEFINITE
#define PART_TRIANGULAR PART_DEFINITE
#define PART_INVERTED                                                                              \
    (part_t) { args->uplo == JBLAS_UPPER, args->uplo == JBLAS_LOWER, args->diag == JBLAS_UNIT }

/* The rows of column j: from `first` to before `end`. */
static void rows_of(part_t part, int64_t j, int64_t rows, int64_t *first, int64_t *end) {
    *first = part.lower_only ? j + part.no_diagonal : 0;
    *end = part.upper_only ? j + 1 - part.no_diagonal : rows;
    *end = *end < rows ? *end : rows;
}

/* Element i, j of the one is at to + i to_row + j to_column, of the other likewise. */
static void copy_elements(size_t bytes, part_t part, int64_t rows, int64_t columns,
                          const char *from, int64_t from_row, int64_t from_column, char *to,
                          int64_t to_row, int64_t to_column) {
    enum { BLOCK = 32 };
    for (int64_t j0 = 0; j0 < columns; j0 += BLOCK)
        for (int64_t i0 = 0; i0 < rows; i0 += BLOCK)
            for (int64_t j = j0; j < columns && j < j0 + BLOCK; j++) {
                int64_t first, end;
                rows_of(part, j, rows, &first, &end);
                first = first > i0 ? first : i0, end = end < i0 + BLOCK ? end : i0 + BLOCK;
                for (int64_t i = first; i < end; i++)
                    memcpy(to + (i * to_row + j * to_column) * (int64_t)bytes,
                           from + (i * from_row + j * from_column) * (int64_t)bytes, bytes);
            }
}

/* A row-major matrix of leading dimension `ld` into columns of max(1, rows) elements, and back. */
static void turn(jdatatype_t type, part_t part, int64_t rows, int64_t columns, const void *a,
                 int64_t ld, void *columns_of_a, bool back) {
    char *one = ji_dropin_unconst(a), *other = columns_of_a;
    if (back)
        copy_elements(ji_sizeof(type), part, rows, columns, other, 1, rows, one, ld, 1);
    else
        copy_elements(ji_sizeof(type), part, rows, columns, one, ld, 1, other, 1, rows);
}

/* Adds the bytes of one; false: there are too many. Sizes have been checked. */
static bool add_bytes(jdatatype_t type, int64_t rows, int64_t columns, size_t *sum) {
    int64_t bytes;
    return !__builtin_mul_overflow(rows, columns, &bytes) &&
           !__builtin_mul_overflow(bytes, (int64_t)ji_sizeof(type), &bytes) &&
           !__builtin_add_overflow((size_t)bytes, *sum + 63, sum) && (*sum &= ~(size_t)63, true);
}

/* ---- NaN ---- */

/* liblapacke's, where the program has it. */
extern int LAPACKE_get_nancheck(void) __attribute__((weak, visibility("default")));

static bool looks_for_nan(void) {
    if (LAPACKE_get_nancheck != NULL)
        return LAPACKE_get_nancheck() != 0;
    const char *said = getenv("LAPACKE_NANCHECK");
    return said == NULL || atoi(said) != 0;
}

static bool is_nan(jdatatype_t type, const void *a, int64_t index) {
    switch (type) {
    case JDATATYPE_F32: return isnan(((const float *)a)[index]);
    case JDATATYPE_F64: return isnan(((const double *)a)[index]);
    case JDATATYPE_F32_C:
        return isnan(((const float *)a)[2 * index]) || isnan(((const float *)a)[2 * index + 1]);
    default:
        return isnan(((const double *)a)[2 * index]) || isnan(((const double *)a)[2 * index + 1]);
    }
}

/* No more than a leading dimension that is too small leaves room for. */
static bool has_nan(jdatatype_t type, part_t part, int64_t rows, int64_t columns, const void *a,
                    int64_t ld, bool by_rows) {
    const int64_t row = by_rows ? ld : 1, column = by_rows ? 1 : ld;
    if (by_rows)
        columns = columns < ld ? columns : ld;
    else
        rows = rows < ld ? rows : ld;
    for (int64_t j = 0; a != NULL && j < columns; j++) {
        int64_t first, end;
        rows_of(part, j, rows, &first, &end);
        for (int64_t i = first; i < end; i++)
            if (is_nan(type, a, i * row + j * column))
                return true;
    }
    return false;
}

/* ---- What is wrong and LAPACK does not see ---- */

/* A program may have one of its own. */
JI_EXPORTED void JI_LAPACKE(xerbla)(const char *name, blas_int_t info);

static blas_int_t refuse(const char *name, blas_int_t info) {
    JI_LAPACKE(xerbla)(name, info);
    return info;
}

static blas_int_t behind_layout(blas_int_t info) {
    return info < 0 && info != JI_NO_WORK ? info - 1 : info;
}

/* ---- Parameters ---- */

#define PARAMETER(t, kind, ...) PARAMETER_##kind(t, __VA_ARGS__)
#define PARAMETER_ENUM(t, name, which) , char name
#define PARAMETER_SIZE(t, name) , blas_int_t name
#define PARAMETER_SCALAR(t, name, of) , JI_REAL_##t name
#define PARAMETER_RESULT(t, name, of) PARAMETER_RESULT_##of(t, name)
#define PARAMETER_RESULT_INDEX(t, name)
#define PARAMETER_RESULT_REAL(t, name) , JI_REAL_##t *name
#define PARAMETER_NUMBER(t, name, of, access, read) , JI_##access(JI_REAL_##t) * name
#define PARAMETER_MATRIX(t, name, ld, access, ...)                                                 \
    , JI_##access(JI_ELEMENT_##t) * name, blas_int_t ld
#define PARAMETER_INDICES(t, name, access, count) , JI_##access(blas_int_t) * name
#define PARAMETER_FACTORS(t, name, access, count) , JI_##access(JI_ELEMENT_##t) * name

#define STORE(t, kind, ...) STORE_##kind(t, __VA_ARGS__)
#define STORE_ENUM(t, name, which) .name = JI_LAPACK_TAKE(which, t, &name),
#define STORE_SIZE(t, name) .name = name,
#define STORE_SCALAR(t, name, of) .name = name,
#define STORE_RESULT(t, name, of) STORE_RESULT_##of(name)
#define STORE_RESULT_INDEX(name) STORE_INDEX_##name
#define STORE_INDEX_info
#define STORE_INDEX_iter .iter = iter,
#define STORE_RESULT_REAL(name) .name = name,
#define STORE_NUMBER(t, name, ...) .name = name,
#define STORE_MATRIX(t, name, ld, ...) .name = name, .ld = ld,
#define STORE_INDICES(t, name, ...) .name = name,
#define STORE_FACTORS(t, name, ...) .name = name,

/* ---- Steps of a row-major call, each for what the routine has of arguments ---- */

/* Leading dimensions hold a row, of which 0 elements may be 0 apart; `number` is that of the
 * argument, the layout's is 1. */
#define WIDTH(name_of_call, kind, ...) WIDTH_##kind(name_of_call, __VA_ARGS__)
#define WIDTH_ENUM(...) number++;
#define WIDTH_SIZE(...) number++;
#define WIDTH_SCALAR(...) number++;
#define WIDTH_RESULT(...)
#define WIDTH_NUMBER(...) number++;
#define WIDTH_INDICES(...) number++;
#define WIDTH_FACTORS(...) number++;
#define WIDTH_MATRIX(name_of_call, name, ld, access, structure, shape, read)                       \
    number += 2;                                                                                   \
    if (args->ld < JI_COLUMNS_##shape)                                                             \
        return refuse(name_of_call, -number);                                                      \
    turned.ld = ji_max(1, JI_ROWS_##shape);

#define SUM(t, kind, ...) SUM_##kind(t, __VA_ARGS__)
#define SUM_ENUM(...)
#define SUM_SIZE(...)
#define SUM_SCALAR(...)
#define SUM_RESULT(...)
#define SUM_NUMBER(...)
#define SUM_INDICES(...)
#define SUM_FACTORS(...)
#define SUM_MATRIX(t, name, ld, access, structure, shape, read)                                    \
    fits = fits && add_bytes(JI_TYPE_##t, turned.ld, ji_max(1, JI_COLUMNS_##shape), &bytes);

#define TURN(t, kind, ...) TURN_##kind(t, __VA_ARGS__)
#define TURN_ENUM(...)
#define TURN_SIZE(...)
#define TURN_SCALAR(...)
#define TURN_RESULT(...)
#define TURN_NUMBER(...)
#define TURN_INDICES(...)
#define TURN_FACTORS(...)
#define TURN_MATRIX(t, name, ld, access, structure, shape, read)                                   \
    if (args->name == NULL) {                                                                      \
        turned.name = NULL;                                                                        \
    } else {                                                                                       \
        turned.name = (void *)(room_at + bytes);                                                   \
        (void)add_bytes(JI_TYPE_##t, turned.ld, ji_max(1, JI_COLUMNS_##shape), &bytes);            \
        turn(JI_TYPE_##t, PART_##structure, JI_ROWS_##shape, JI_COLUMNS_##shape, args->name,       \
             args->ld, ji_dropin_unconst(turned.name), false);                                     \
    }

#define BACK(t, kind, ...) BACK_##kind(t, __VA_ARGS__)
#define BACK_ENUM(...)
#define BACK_SIZE(...)
#define BACK_SCALAR(...)
#define BACK_RESULT(...)
#define BACK_NUMBER(...)
#define BACK_INDICES(...)
#define BACK_FACTORS(...)
#define BACK_MATRIX(t, name, ld, access, structure, shape, read)                                   \
    if (BACK_##access && args->name != NULL)                                                       \
        turn(JI_TYPE_##t, PART_##structure, JI_ROWS_##shape, JI_COLUMNS_##shape, args->name,       \
             args->ld, ji_dropin_unconst(turned.name), true);
#define BACK_READ 0
#define BACK_WRITTEN 1

/* ---- NaN: matrices, factors and numbers that are read ---- */

#define FIND_NAN(t, kind, ...) NAN_##kind(t, __VA_ARGS__)
#define NAN_ENUM(...) number++;
#define NAN_SIZE(...) number++;
#define NAN_RESULT(...)
#define NAN_NUMBER(...) number++;
#define NAN_SCALAR(t, name, of)                                                                    \
    number++;                                                                                      \
    if (isnan(args->name))                                                                         \
        return -number;
#define NAN_INDICES(...) number++;
#define NAN_MATRIX(t, name, ld, access, structure, shape, read)                                    \
    number += 2;                                                                                   \
    if (IS_READ_##read && has_nan(JI_TYPE_##t, PART_##structure, JI_ROWS_##shape,                  \
                                  JI_COLUMNS_##shape, args->name, args->ld, layout == ROW_MAJOR))  \
        return 1 - number;
#define IS_READ_ALWAYS 1
#define IS_READ_NEVER 0
#define NAN_FACTORS(t, name, access, count)                                                        \
    number++;                                                                                      \
    if (BACK_##access == 0 && has_nan(JI_TYPE_##t, (part_t){0}, JI_COUNT_##count, 1, args->name,   \
                                      JI_COUNT_##count, false))                                    \
        return -number;

/* ---- The functions ---- */

#define FUNCTIONS(routine, prefix, lwork) JI_FUNCTIONS_##routine(FUNCTION, (lwork))
#define FUNCTION(lwork, routine, t, function) FUNCTION_OF(JI_ONLY lwork, routine, t, function)
#define FUNCTION_OF(lwork, routine, t, function) FUNCTION_(lwork, routine, t, function)

/* Row-major: everything is known to be right before there is a borrow. */
#define FUNCTION_(least, routine, t, function)                                                     \
    static blas_int_t rows_##function(const char *name, const ji_lapack_##function##_t *args) {    \
        ji_lapack_##function##_t turned = *args;                                                   \
        int number = 1;                                                                            \
        JI_ARGUMENTS_##routine(WIDTH, name)(void) number;                                          \
        blas_int_t info = ji_lapack_check_##function(&turned, INT64_MAX);                          \
        if (info != 0)                                                                             \
            return behind_layout(info);                                                            \
                                                                                                   \
        size_t bytes = 0;                                                                          \
        bool fits = true;                                                                          \
        ji_room_t room;                                                                            \
        JI_ARGUMENTS_##routine(SUM, t);                                                            \
        char *room_at = fits ? ji_room_take(&room, "transpose", bytes) : NULL;                     \
        if (room_at == NULL)                                                                       \
            return refuse(name, JI_NO_TRANSPOSE);                                                  \
                                                                                                   \
        bytes = 0;                                                                                 \
        JI_ARGUMENTS_##routine(TURN, t);                                                           \
        info = ji_lapack_run_##function(&turned, true);                                            \
        if (info >= 0) {                                                                           \
            JI_ARGUMENTS_##routine(BACK, t);                                                       \
        }                                                                                          \
        ji_room_give_back(&room);                                                                  \
        return behind_layout(info);                                                                \
    }                                                                                              \
                                                                                                   \
    static blas_int_t call_##function(int layout, const char *name,                                \
                                      const ji_lapack_##function##_t *args) {                      \
        JI_DROPIN_COUNT("LAPACKE_" #function, true)                                                \
        if (layout == ROW_MAJOR)                                                                   \
            return rows_##function(name, args);                                                    \
        if (layout == COLUMN_MAJOR)                                                                \
            return behind_layout(ji_lapack_run_##function(args, false));                           \
        return refuse(name, -1);                                                                   \
    }                                                                                              \
                                                                                                   \
    static blas_int_t nan_of_##function(int layout, const ji_lapack_##function##_t *args) {        \
        int number = 1;                                                                            \
        (void)layout;                                                                              \
        JI_ARGUMENTS_##routine(FIND_NAN, t)(void) number;                                          \
        return 0;                                                                                  \
    }                                                                                              \
                                                                                                   \
    JI_EXPORTED blas_int_t JI_LAPACKE(function)(int layout JI_ARGUMENTS_##routine(PARAMETER, t)    \
                                                    JI_IF_ITER(least, , blas_int_t *iter));        \
    JI_EXPORTED blas_int_t JI_LAPACKE(function)(int layout JI_ARGUMENTS_##routine(PARAMETER, t)    \
                                                    JI_IF_ITER(least, , blas_int_t *iter)) {       \
        const ji_lapack_##function##_t args = {JI_ARGUMENTS_##routine(STORE, t)};                  \
        const bool known = layout == ROW_MAJOR || layout == COLUMN_MAJOR;                          \
        const blas_int_t info = known && looks_for_nan() ? nan_of_##function(layout, &args) : 0;   \
        return info != 0 ? info : call_##function(layout, "LAPACKE_" #function, &args);            \
    }                                                                                              \
                                                                                                   \
    JI_EXPORTED blas_int_t JI_LAPACKE(function##_work)(                                            \
        int layout JI_ARGUMENTS_##routine(PARAMETER, t)                                            \
            JI_IF_LWORK(least, , JI_ELEMENT_##t *work, blas_int_t lwork) JI_RWORK(least, t)        \
                JI_IF_ITER(least, , blas_int_t *iter));                                            \
    JI_EXPORTED blas_int_t JI_LAPACKE(function##_work)(                                            \
        int layout JI_ARGUMENTS_##routine(PARAMETER, t)                                            \
            JI_IF_LWORK(least, , JI_ELEMENT_##t *work, blas_int_t lwork) JI_RWORK(least, t)        \
                JI_IF_ITER(least, , blas_int_t *iter)) {                                           \
        const ji_lapack_##function##_t block = {JI_ARGUMENTS_##routine(STORE, t)};                 \
        JI_IF_LWORK(least, LOOK_AT_LWORK(least, routine, t, function))                             \
        return call_##function(layout, "LAPACKE_" #function "_work", &block);                      \
    }

/* What lwork is asked for, or too small: the layout's turn comes before. A query's leading
 * dimensions are those of columns: row-major it is of the copies. */
#define LOOK_AT_LWORK(least, routine, t, function)                                                 \
    const ji_lapack_##function##_t *args = &block;                                                 \
    if (lwork < JI_LWORK(least, t) && (layout == ROW_MAJOR || layout == COLUMN_MAJOR)) {           \
        ji_lapack_##function##_t turned = block;                                                   \
        if (layout == ROW_MAJOR) {                                                                 \
            int number = 1;                                                                        \
            JI_ARGUMENTS_##routine(WIDTH, "LAPACKE_" #function "_work")(void) number;              \
        }                                                                                          \
        const blas_int_t info = ji_lapack_check_##function(&turned, lwork);                        \
        if (info == 0)                                                                             \
            ji_lapack_say_lwork(JI_TYPE_##t, work, JI_LWORK_SAID(least, t));                       \
        return behind_layout(info);                                                                \
    }                                                                                              \
    if (layout == ROW_MAJOR || layout == COLUMN_MAJOR)                                             \
        ji_lapack_say_lwork(JI_TYPE_##t, work, JI_LWORK_SAID(least, t));

JI_DROPIN_LAPACK_LIST(FUNCTIONS)
