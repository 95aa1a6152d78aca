/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_BUFFER_HELPER_H
#define JALLOC_CLIENTS_GTEST_BUFFER_HELPER_H

/* What tests of buffers share: allocators by a few words, and elements whose value tells their
 * place. */

#include "buffer_reference.h"

#include "jalloc/buffer.h"

#include <string.h>

/* An allocator; a failure and NULL where it cannot be had. */
static inline jbuffer_allocator_t *buffer_allocator_of(jruntime_t *runtime, jbuffer_kind_t kind,
                                                       jdatatype_t type, jdevice_t *device,
                                                       jallocator_t *bytes, bool shared) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator = NULL;
    options.kind = kind;
    options.type = type;
    options.device = device;
    options.allocator = bytes;
    options.shared_on_node = shared;
    JEXPECT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
    return allocator;
}

/* The same with a runtime of its own. */
static inline jbuffer_allocator_t *buffer_allocator_alone(jbuffer_kind_t kind, jdatatype_t type,
                                                          jdevice_t *device, jallocator_t *bytes) {
    jruntime_t *runtime = NULL;
    JEXPECT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *allocator = buffer_allocator_of(runtime, kind, type, device, bytes, false);
    JEXPECT_OK(jruntime_release(runtime)); /* the allocator keeps it */
    return allocator;
}

static inline jlayout_t buffer_layout_of(const char *text) {
    jlayout_t layout = {.rank = 0};
    JEXPECT_OK(jlayout_parse(text, &layout, NULL));
    return layout;
}

/* The element at a place: small integers, which every type holds, and no two neighbours alike. Real
 * on the diagonal. */
static inline reference_number_t buffer_number_at(int rank, const int64_t *indices) {
    int64_t sum = 1;
    bool diagonal = rank == 2 && indices[0] == indices[1];
    for (int d = 0; d < rank; ++d)
        sum += (2 * d + 1) * (d % 2 ? 5 : 1) * indices[d];
    return (reference_number_t){(long double)(sum % 101),
                                diagonal ? 0 : (long double)(sum % 17 - 8)};
}
static inline void buffer_element_at(jdatatype_t type, int rank, const int64_t *indices,
                                     void *element) {
    reference_encode(type, buffer_number_at(rank, indices), element);
}

/* A jbuffer_function_t: fills a block with these. context: NULL. */
static inline jbuffer_filled_t buffer_fill_places(void *context, const jbuffer_block_t *block) {
    (void)context;
    jlayout_t layout = {.rank = block->rank};
    memcpy(layout.extents, block->extents, (size_t)block->rank * sizeof(int64_t));
    memcpy(layout.strides, block->strides, (size_t)block->rank * sizeof(int64_t));
    int64_t indices[JLAYOUT_MAX_RANK] = {0}, whole[JLAYOUT_MAX_RANK] = {0};
    for (int64_t n = 0; n < reference_count(&layout); ++n) {
        reference_indices(&layout, n, indices);
        for (int d = 0; d < block->rank; ++d)
            whole[d] = block->starts[d] + indices[d];
        buffer_element_at(block->type, block->rank, whole,
                          (char *)block->data + (size_t)reference_offset(&layout, indices) *
                                                    reference_size(block->type));
    }
    return JBUFFER_BLOCK_FILLED;
}

/* Every element of a buffer against what `expected` says of it: as the structure of `layout` has
 * it. */
static inline void buffer_expect_places_at(const char *file, int line, jbuffer_t *buffer,
                                           const jlayout_t *structured) {
    jlayout_t layout = {.rank = 0};
    jdatatype_t type = JDATATYPE_F64;
    JEXPECT_OK(jbuffer_get_layout(buffer, &layout));
    JEXPECT_OK(jbuffer_get_type(buffer, &type));
    if (layout.rank != structured->rank ||
        memcmp(layout.extents, structured->extents, (size_t)layout.rank * sizeof(int64_t)) != 0) {
        jtest_fail(file, line, "the buffer has another shape");
        return;
    }
    int64_t indices[JLAYOUT_MAX_RANK] = {0};
    for (int64_t n = 0; n < reference_count(&layout); ++n) {
        char actual[16] = {0}, expected[16] = {0};
        reference_indices(&layout, n, indices);
        reference_number_t number = buffer_number_at(layout.rank, indices);
        if (!reference_is_stored(structured, indices)) {
            const jstructure_t s = structured->structure;
            const int64_t mirrored[2] = {indices[1], indices[0]};
            number = buffer_number_at(2, mirrored);
            if (s == JSTRUCTURE_TRIANGULAR_UPPER || s == JSTRUCTURE_TRIANGULAR_LOWER)
                number = (reference_number_t){0, 0};
            else if (s == JSTRUCTURE_HERMITIAN_UPPER || s == JSTRUCTURE_HERMITIAN_LOWER)
                number.im = -number.im;
        }
        reference_encode(type, number, expected);
        const jstatus_t status = jbuffer_get(buffer, indices, actual);
        if (status != JSTATUS_SUCCESS || !reference_same(type, actual, expected)) {
            jtest_fail(file, line, "element %lld: %s, %Lg%+Lgi, should be %Lg%+Lgi", (long long)n,
                       jstatus_name(status), reference_decode(type, actual).re,
                       reference_decode(type, actual).im, reference_decode(type, expected).re,
                       reference_decode(type, expected).im);
            return;
        }
    }
}
#define BUFFER_EXPECT_PLACES(buffer, structured)                                                   \
    buffer_expect_places_at(__FILE__, __LINE__, buffer, structured)

/* Every element is that value; outside of a triangular structure 0. */
static inline void buffer_expect_value_at(const char *file, int line, jbuffer_t *buffer,
                                          long double value, bool on_diagonal_alone) {
    jlayout_t layout = {.rank = 0};
    jdatatype_t type = JDATATYPE_F64;
    JEXPECT_OK(jbuffer_get_layout(buffer, &layout));
    JEXPECT_OK(jbuffer_get_type(buffer, &type));
    int64_t indices[JLAYOUT_MAX_RANK] = {0};
    for (int64_t n = 0; n < reference_count(&layout); ++n) {
        char actual[16] = {0};
        reference_indices(&layout, n, indices);
        bool diagonal = true;
        for (int d = 1; d < layout.rank; ++d)
            diagonal = diagonal && indices[d] == indices[0];
        const bool zero =
            (on_diagonal_alone && !diagonal) || (layout.structure >= JSTRUCTURE_TRIANGULAR_UPPER &&
                                                 !reference_is_stored(&layout, indices));
        const jstatus_t status = jbuffer_get(buffer, indices, actual);
        const reference_number_t number = reference_decode(type, actual);
        if (status != JSTATUS_SUCCESS || number.re != (zero ? 0 : value) || number.im != 0) {
            jtest_fail(file, line, "element %lld: %s, %Lg%+Lgi, should be %Lg", (long long)n,
                       jstatus_name(status), number.re, number.im, zero ? 0 : value);
            return;
        }
    }
}
#define BUFFER_EXPECT_VALUE(buffer, value)                                                         \
    buffer_expect_value_at(__FILE__, __LINE__, buffer, value, false)
#define BUFFER_EXPECT_IDENTITY(buffer) buffer_expect_value_at(__FILE__, __LINE__, buffer, 1, true)

#endif
