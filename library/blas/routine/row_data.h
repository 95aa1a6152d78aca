/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_ROW_DATA_H
#define JALLOC_BLAS_ROUTINE_ROW_DATA_H

/* Rows as data (ji_row_t), made from the lists of rows.h: ROW_OF_FORMS(routine, level) defines a
 * routine's three, ROW_OF_PLAIN that of one without batches. For the file of each library that has
 * its rows in it. */

#include "blas/routine/extents.h"

#define ARGUMENT(block_t, kind, ...) ARGUMENT_##kind(block_t, __VA_ARGS__)
#define ARGUMENT_ENUM(block_t, name, which) {#name, ENUM_##which, offsetof(block_t, name)},
#define ARGUMENT_LENGTH(block_t, name) {#name, JI_ARGUMENT_SIZE, offsetof(block_t, name)},
#define ARGUMENT_SIZE(block_t, name) {#name, JI_ARGUMENT_SIZE, offsetof(block_t, name)},
#define ARGUMENT_SCALAR(block_t, name, of) {#name, SCALAR_##of, offsetof(block_t, name)},
#define ARGUMENT_RESULT(block_t, name, of) POINTER(block_t, name)
#define ARGUMENT_NUMBER(block_t, name, ...) POINTER(block_t, name)
#define ARGUMENT_VECTOR(block_t, name, inc, ...) POINTER(block_t, name) STRIDE(block_t, inc)
#define ARGUMENT_MATRIX(block_t, name, ld, ...) POINTER(block_t, name) STRIDE(block_t, ld)
#define ARGUMENT_PACKED(block_t, name, ...) POINTER(block_t, name)
#define ARGUMENT_LEADING(block_t, ld, ...) STRIDE(block_t, ld)
#define ARGUMENT_INDICES(block_t, name, ...) POINTER(block_t, name)
#define ARGUMENT_FACTORS(block_t, name, ...) POINTER(block_t, name)
#define ARGUMENT_REALS(block_t, name, ...) POINTER(block_t, name)
#define ARGUMENT_TYPED_VECTOR(block_t, name, type, inc, ...)                                       \
    POINTER(block_t, name) ARGUMENT_ENUM(block_t, type, DATATYPE) STRIDE(block_t, inc)
#define ARGUMENT_TYPED_MATRIX(block_t, name, type, ld, ...)                                        \
    POINTER(block_t, name) ARGUMENT_ENUM(block_t, type, DATATYPE) STRIDE(block_t, ld)
#define ARGUMENT_STRIDE(block_t, name)                                                             \
    {"stride_" #name, JI_ARGUMENT_STRIDE, offsetof(block_t, batch.stride_##name)},
#define ARGUMENT_NUMBER_STRIDE(block_t, name) STRIDE(block_t, stride_##name)
#define ARGUMENT_COUNT(block_t, name) {#name, JI_ARGUMENT_SIZE, offsetof(block_t, batch.count)},
#define POINTER(block_t, name) {#name, JI_ARGUMENT_POINTER, offsetof(block_t, name)},
#define STRIDE(block_t, name) {#name, JI_ARGUMENT_STRIDE, offsetof(block_t, name)},
#define ENUM_DATATYPE JI_ARGUMENT_DATATYPE
#define ENUM_SIDE JI_ARGUMENT_SIDE
#define ENUM_NORM JI_ARGUMENT_NORM
#define ENUM_UPLO JI_ARGUMENT_UPLO
#define ENUM_DIAGONAL JI_ARGUMENT_DIAGONAL
#define ENUM_OPERATION JI_ARGUMENT_OPERATION
#define ENUM_ANY_OPERATION JI_ARGUMENT_OPERATION
#define ENUM_SYMMETRIC_OPERATION JI_ARGUMENT_OPERATION
#define ENUM_HERMITIAN_OPERATION JI_ARGUMENT_OPERATION
#define SCALAR_ELEMENT JI_ARGUMENT_SCALAR
#define SCALAR_REAL JI_ARGUMENT_REAL_SCALAR
#define SCALAR_SUM JI_ARGUMENT_SUM_SCALAR
#define SCALAR_CS JI_ARGUMENT_CS_SCALAR
#define SCALAR_PARAMETERS JI_ARGUMENT_PARAMETERS
#define NAME(form, routine, t, function) [JI_TYPE_##t] = TEXT(JI_PUBLIC(form, function)),
#define TEXT(name) TEXT_OF(name)
#define TEXT_OF(name) #name

#define ROW_OF_FORMS(routine, level)                                                               \
    ROW_OF(PLAIN, routine, level, ji_extents_##routine)                                            \
    ROW_OF(POINTERS, routine, level, ji_extents_##routine)                                         \
    ROW_OF(STRIDED, routine, level, ji_extents_##routine)
#define ROW_OF_PLAIN(routine, level) ROW_OF(PLAIN, routine, level, NULL)
#define ROW_OF(form, routine, level, extents_)                                                     \
    static const ji_argument_t JI_NAME_OF(form, arguments_##routine)[] = {                         \
        JI_ARGUMENTS_OF(form, routine, ARGUMENT, BLOCK_##level){0}};                               \
    const ji_row_t JI_NAME_OF(form, ji_row_##routine) = {                                          \
        TEXT(JI_NAME_OF(form, routine)),                                                           \
        {JI_FUNCTIONS_##routine(NAME, form)},                                                      \
        JI_NAME_OF(form, arguments_##routine),                                                     \
        extents_,                                                                                  \
    };

#endif
