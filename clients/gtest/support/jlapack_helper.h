/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_JLAPACK_HELPER_H
#define JALLOC_CLIENTS_GTEST_JLAPACK_HELPER_H

/* What the tests of jlapack share: tests of each element type, and matrices whose elements are
 * looked at in long double. */

#include <stdlib.h>

#include "handle_helper.h"
#include "jblas_reference.h"
#include "pretend_gpu.h"

#include "jalloc/jlapack.h"

static const int jlapack_types[] = {JDATATYPE_F32, JDATATYPE_F64, JDATATYPE_F32_C, JDATATYPE_F64_C};
static inline void jlapack_type_name(const void *type, char *name) {
    name[0] = "sdcz"[*(const int *)type], name[1] = 0;
}
/* JLAPACK_EACH_TYPE(JlapackLu, FactorsAnyShape) { ... *param ... } */
#define JLAPACK_EACH_TYPE(suite, name)                                                             \
    JTEST_P_NAMED(suite, name, int, jlapack_types, jlapack_type_name)

/* A column-major matrix that ends at a page that nobody may touch, and what it was. */
typedef struct matrix {
    int type;
    int64_t rows, columns, ld;
    size_t bytes;
    void *data, *before;
} matrix_t;

static inline wide_t element(const matrix_t *a, const void *data, int64_t i, int64_t j) {
    return wide_get(data, a->type, i + j * a->ld);
}
static inline wide_t now_at(const matrix_t *a, int64_t i, int64_t j) {
    return element(a, a->data, i, j);
}
static inline wide_t before_at(const matrix_t *a, int64_t i, int64_t j) {
    return element(a, a->before, i, j);
}

static inline void keep(matrix_t *a) { memcpy(a->before, a->data, a->bytes); }

static inline matrix_t make_matrix(int type, int64_t rows, int64_t columns) {
    matrix_t a = {.type = type, .rows = rows, .columns = columns};
    const int64_t padding = jtest_random_between(0, 3);
    a.ld = (rows > 0 ? rows : 1) + padding;
    const int64_t count = columns > 0 ? a.ld * columns - padding : 0;
    a.bytes = (size_t)count * jdatatype_bytes((jdatatype_t)type);
    a.data = jtest_guard_pages(a.bytes);
    a.before = malloc(a.bytes + 1);
    for (int64_t k = 0; k < count; k++) {
        wide_t value = jtest_random_double(-1, 1);
        if (wide_is_complex(type))
            __imag__ value = jtest_random_double(-1, 1);
        wide_put(a.data, type, k, value);
    }
    keep(&a);
    return a;
}

static inline void free_matrix(matrix_t *a) { free(a->before); }
#define MATRIX(name, ...)                                                                          \
    __attribute__((cleanup(free_matrix))) matrix_t name = make_matrix(__VA_ARGS__)

/* What stands between the columns is as it was. */
static inline void expect_padding(const matrix_t *a) {
    for (int64_t j = 0; j + 1 < a->columns; j++)
        for (int64_t i = a->rows; i < a->ld; i++)
            JASSERT_TRUE(now_at(a, i, j) == before_at(a, i, j));
}

#endif
