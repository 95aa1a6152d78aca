/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_BUFFER_REFERENCE_H
#define JALLOC_CLIENTS_GTEST_BUFFER_REFERENCE_H

/* Elements of all types as long double, one by one: what buffers and the element engine are
 * compared with. Slow, and without anything of the library's but the layout as a struct. */

#include "jtest.h"

#include "jalloc/datatype.h"
#include "jalloc/layout.h"

#define REFERENCE_TYPES 8 /* element types are 0 to 7 */

typedef struct reference_number {
    long double re, im;
} reference_number_t;

bool reference_is_complex(jdatatype_t type);
size_t reference_size(jdatatype_t type);

/* An element in memory as a number, and a number as an element: rounded to the nearest, ties to
 * even; integers clamped, NaN is 0 there. A real type forgets the imaginary part. */
reference_number_t reference_decode(jdatatype_t type, const void *element);
void reference_encode(jdatatype_t type, reference_number_t number, void *element);

/* Whether two elements are the same bits, or both NaN in the same parts. */
bool reference_same(jdatatype_t type, const void *a, const void *b);

/* Where an element lies, in elements; its number among count ones as indices, the first index
 * fastest. */
int64_t reference_offset(const jlayout_t *layout, const int64_t *indices);
int64_t reference_count(const jlayout_t *layout);
int64_t reference_span(const jlayout_t *layout);
void reference_indices(const jlayout_t *layout, int64_t number, int64_t *indices);

/* Whether the layout's structure stores the element. */
bool reference_is_stored(const jlayout_t *layout, const int64_t *indices);
/* The element of the whole matrix, as the structure has it. */
reference_number_t reference_get(const jlayout_t *layout, jdatatype_t type, const void *data,
                                 const int64_t *indices);

/* destination = source, the stored elements; shapes are the same. */
void reference_copy(const jlayout_t *to, jdatatype_t to_type, void *destination,
                    const jlayout_t *from, jdatatype_t from_type, const void *source);

/* Random extents with at most so many elements in all, 0 among them now and then. */
void reference_random_extents(int rank, int64_t most, int64_t *extents);
/* A random layout of that shape: packed or with holes, dimensions in any order. */
jlayout_t reference_random_layout(int rank, const int64_t *extents);
/* Memory full of random elements: many of ordinary size, some halves, some special (infinities,
 * NaN, limits). */
void reference_random_fill(jdatatype_t type, void *data, int64_t count);

/* Compares spans byte for byte (NaNs as such); a difference is a failure that names the place. */
void reference_expect_span(jdatatype_t type, const void *actual, const void *expected, int64_t span,
                           const char *file, int line);
#define REFERENCE_EXPECT_SPAN(type, actual, expected, span)                                        \
    reference_expect_span(type, actual, expected, span, __FILE__, __LINE__)

#endif
