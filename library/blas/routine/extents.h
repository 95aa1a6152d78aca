/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_EXTENTS_H
#define JALLOC_BLAS_ROUTINE_EXTENTS_H

/* What the operands of a batch take, by the rows: EXTENTS(routine, level) defines the function that
 * a batched row refers to. For the file of each library that has batched rows. */

#include "blas/routine/entry.h"

#define EXTENT(context, kind, ...) EXTENT_##kind(__VA_ARGS__)
#define EXTENT_ENUM(name, which)
#define EXTENT_LENGTH(name)
#define EXTENT_SIZE(name)
#define EXTENT_SCALAR(name, of)
#define EXTENT_RESULT(name, of) extents.result_bytes = RESULT_##of(args->head.type);
#define EXTENT_NUMBER(name, of, access, read)                                                      \
    extents.operands[extents.count++] = (ji_extent_t){.stride = "stride_" #name,                   \
                                                      .place = PLACE_NONE,                         \
                                                      .type = args->head.type,                     \
                                                      .offset = offsetof(ji_rotation_t, name),     \
                                                      .step = args->stride_##name,                 \
                                                      .rows = NUMBERS_##of,                        \
                                                      .columns = 1,                                \
                                                      .ld = NUMBERS_##of,                          \
                                                      .written = IS_##access};
#define EXTENT_VECTOR(name, inc, access, count, read)                                              \
    EXTENT_TYPED_VECTOR(name, head.type, inc, access, count, read)
#define EXTENT_MATRIX(name, ld, access, structure, shape, read)                                    \
    EXTENT_TYPED_MATRIX(name, head.type, ld, access, structure, shape, read)
#define EXTENT_PACKED(name, access, structure, order, read)                                        \
    EXTENT_ADD(name, head.type, IS_##access, ji_extent_packed(args->order), 1,                     \
               ji_extent_packed(args->order))
/* One vector of an item, by a stride in either form. An index is as wide as an f64. */
#define EXTENT_INDICES(name, access, so_many)                                                      \
    EXTENT_ADD_OF(name, JDATATYPE_F64, IS_##access, JI_COUNT_##so_many, 1, JI_COUNT_##so_many)     \
    extents.operands[extents.count - 1].by_stride = true;
#define EXTENT_FACTORS(name, access, so_many)                                                      \
    EXTENT_ADD(name, head.type, IS_##access, JI_COUNT_##so_many, 1, JI_COUNT_##so_many)            \
    extents.operands[extents.count - 1].by_stride = true;
#define EXTENT_LEADING(leading, name, shape)                                                       \
    ji_extent_add_place(&extents.operands[extents.count - 1], JI_ROWS_##shape, JI_COLUMNS_##shape, \
                        args->leading);
#define EXTENT_TYPED_VECTOR(name, type, inc, access, count, read)                                  \
    EXTENT_ADD(name, type, IS_##access, 1, JI_COUNT_##count, ji_abs(args->inc))
#define EXTENT_TYPED_MATRIX(name, type, ld, access, structure, shape, read)                        \
    EXTENT_ADD(name, type, IS_##access, JI_ROWS_##shape, JI_COLUMNS_##shape, args->ld)
#define EXTENT_ADD(name, type_, is_written, rows_, columns_, ld_)                                  \
    EXTENT_ADD_OF(name, args->type_, is_written, rows_, columns_, ld_)
#define EXTENT_ADD_OF(name, type_, is_written, rows_, columns_, ld_)                               \
    extents.operands[extents.count++] =                                                            \
        (ji_extent_t){.stride = "stride_" #name,                                                   \
                      .place = PLACE(stride_##name),                                               \
                      .type = type_,                                                               \
                      .offset = (size_t)((const char *)&args->name - (const char *)args),          \
                      .step = args->batch.stride_##name,                                           \
                      .rows = rows_,                                                               \
                      .columns = columns_,                                                         \
                      .ld = ld_,                                                                   \
                      .written = is_written};
#define PLACE(stride)                                                                              \
    (int)((offsetof(ji_batch_t, stride) - offsetof(ji_batch_t, stride_a)) / sizeof(int64_t))
#define PLACE_NONE (-1) /* ji_rotation_bytes() knows */
#define NUMBERS_ELEMENT 1
#define NUMBERS_REAL 1
#define NUMBERS_PARAMETERS 5
#define IS_READ false
#define IS_WRITTEN true
#define RESULT_ELEMENT(type) ji_sizeof(type)
#define RESULT_REAL(type) ji_sizeof(ji_real_of(type))
#define RESULT_INDEX(type) sizeof(int64_t)
#define RESULT_WIDE(type) sizeof(double)
#define BLOCK_0 ji_rotation_t
#define BLOCK_1 ji_vector_t
#define BLOCK_2 ji_matvec_t
#define BLOCK_3 ji_matmat_t

/* Elements of a packed triangle, which can be addressed. */
static inline int64_t ji_extent_packed(int64_t order) {
    return order % 2 == 0 ? order / 2 * (order + 1) : (order + 1) / 2 * order;
}

/* Elements from the first to the last of one item. */
static inline uint64_t ji_extent_last(const ji_extent_t *operand) {
    return (uint64_t)operand->ld * (uint64_t)(operand->columns - 1) + (uint64_t)operand->rows - 1;
}

/* What else an operand takes, as it lies after the call. With other distances between its columns
 * that is all from the first element to the last. */
static inline void ji_extent_add_place(ji_extent_t *operand, int64_t rows, int64_t columns,
                                       int64_t ld) {
    ji_extent_t later = *operand;
    later.rows = rows, later.columns = columns, later.ld = ld;
    if (rows == 0 || columns == 0)
        return;

    if (ld == operand->ld) {
        operand->rows = ji_max(rows, operand->rows);
        operand->columns = ji_max(columns, operand->columns);
        return;
    }

    const uint64_t last = ji_extent_last(operand), last_later = ji_extent_last(&later);
    operand->rows = operand->ld = (int64_t)(last > last_later ? last : last_later) + 1;
    operand->columns = 1;
}

#define EXTENTS(routine, level)                                                                    \
    ji_extents_t ji_extents_##routine(const void *block) {                                         \
        const BLOCK_##level *args = block;                                                         \
        ji_extents_t extents = {.count = 0};                                                       \
        JI_ARGUMENTS_##routine(EXTENT, ) return extents;                                           \
    }

#endif
