/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Layouts against lists of elements. A layout that was built by slicing and permuting must say of each element what a
 * plain list of places, made by naive enumeration, says; near 63 bits nothing may overflow; and the text form must give
 * back the same layout, or refuse with the text and the place. */

#include "jtest.h"

#include "jalloc/layout.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096 /* elements of a random layout */
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])
#define EXTENTS(...) ((const int64_t[]){__VA_ARGS__})

/* ---- Random layouts ---------------------------------------------------------------------------------------------- */

static void random_extents(int rank, int64_t *extents, int64_t most) {
    for (int d = 0; d < rank; ++d)
        extents[d] = jtest_random_between(0, 12) == 0 ? 0 : 1;
    for (int k = 0; k < 3 * rank; ++k) { /* some grow, as far as the product lets them */
        const int d = (int)jtest_random_between(0, rank - 1);
        int64_t product = 1;
        for (int e = 0; e < rank; ++e)
            product *= extents[e] > 0 && e != d ? extents[e] : 1;
        if (extents[d] != 0 && most / product > 1)
            extents[d] = jtest_random_between(1, most / product > 9 ? 9 : most / product);
    }
}

static void random_order(int rank, int *order) {
    for (int d = 0; d < rank; ++d)
        order[d] = d;
    for (int d = rank - 1; d > 0; --d) {
        const int other = (int)jtest_random_between(0, d), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
}

/* Any rank, packed or with gaps, the dimensions in any order; perhaps blocks, perhaps a structure. */
static jlayout_t random_layout(void) {
    jlayout_t layout = {.rank = (int)jtest_random_between(0, JLAYOUT_MAX_RANK)};
    const bool square = layout.rank == 2 && jtest_random_bool();
    int order[JLAYOUT_MAX_RANK];
    int64_t stride = 1;
    random_extents(layout.rank, layout.extents, MOST);
    if (square)
        layout.extents[1] = layout.extents[0];
    random_order(layout.rank, order);
    const int style = (int)jtest_random_between(0, 4); /* column, row, and three with gaps */
    for (int k = 0; k < layout.rank; ++k) {
        const int d = style == 0 ? k : style == 1 ? layout.rank - 1 - k : order[k];
        if (style >= 2 && (style != 2 || k == 1))
            stride += jtest_random_between(0, 3);
        layout.strides[d] = stride;
        stride *= layout.extents[d] > 1 ? layout.extents[d] : 1;
    }
    if (jtest_random_bool())
        for (int d = 0; d < layout.rank; ++d)
            layout.blocks[d] = jtest_random_between(0, 5);
    if (square)
        layout.structure = (jstructure_t)jtest_random_between(0, 6);
    return layout;
}

static int64_t naive_count(const jlayout_t *layout) {
    int64_t count = 1;
    for (int d = 0; d < layout->rank; ++d)
        count *= layout->extents[d];
    return count;
}

/* The indices of the number-th element, the first index fastest. */
static void naive_indices(const jlayout_t *layout, int64_t number, int64_t *indices) {
    for (int d = 0; d < layout->rank; ++d) {
        indices[d] = number % layout->extents[d];
        number /= layout->extents[d];
    }
}

/* ---- Making and measuring ---------------------------------------------------------------------------------------- */

JTEST(Layout, InitGivesNeighboursInTheOrderAsked) {
    for (int64_t round = jtest_iterations(300); round > 0; --round) {
        int64_t extents[JLAYOUT_MAX_RANK];
        const int rank = (int)jtest_random_between(0, JLAYOUT_MAX_RANK);
        const jorder_t order = jtest_random_bool() ? JORDER_ROW_MAJOR : JORDER_COLUMN_MAJOR;
        jlayout_t layout;
        int64_t count, span;
        random_extents(rank, extents, MOST);
        memset(&layout, 0xa5, sizeof layout);
        JASSERT_OK(jlayout_init(&layout, rank, extents, order));
        JASSERT_OK(jlayout_check(&layout));
        JEXPECT_EQ(layout.structure, JSTRUCTURE_GENERAL);
        JASSERT_OK(jlayout_get_count(&layout, &count));
        JASSERT_OK(jlayout_get_span(&layout, &span));
        JASSERT_EQ(count, naive_count(&layout));
        JEXPECT_EQ(span, count);
        JEXPECT_TRUE(jlayout_is_packed(&layout));
        JEXPECT_TRUE(jlayout_has_order(&layout, order));
        /* Counting with the fastest index of that order passes one place after the other. */
        for (int64_t number = 0; number < count; ++number) {
            int64_t indices[JLAYOUT_MAX_RANK], rest = number, offset;
            for (int k = 0; k < rank; ++k) {
                const int d = order == JORDER_ROW_MAJOR ? rank - 1 - k : k;
                indices[d] = rest % extents[d];
                rest /= extents[d];
            }
            JASSERT_OK(jlayout_get_offset(&layout, indices, &offset));
            JASSERT_EQ(offset, number);
        }
        for (int d = rank; d < JLAYOUT_MAX_RANK; ++d)
            JEXPECT_TRUE(layout.extents[d] == 0 && layout.strides[d] == 0 && layout.blocks[d] == 0);
    }
}

JTEST(Layout, OneNumberHasOneElement) {
    jlayout_t layout;
    int64_t count, span, offset = 9, blocks;
    JASSERT_OK(jlayout_init(&layout, 0, NULL, JORDER_ROW_MAJOR));
    JEXPECT_OK(jlayout_get_count(&layout, &count));
    JEXPECT_OK(jlayout_get_span(&layout, &span));
    JEXPECT_OK(jlayout_get_offset(&layout, NULL, &offset));
    JEXPECT_OK(jlayout_get_block_count(&layout, &blocks));
    JEXPECT_TRUE(count == 1 && span == 1 && offset == 0 && blocks == 1);
    JEXPECT_OK(jlayout_get_block(&layout, 0, NULL, NULL));
    JEXPECT_OK(jlayout_slice(&layout, NULL, NULL, NULL, &layout, &offset));
    JEXPECT_OK(jlayout_permute(&layout, NULL, &layout));
    JEXPECT_EQ(layout.rank, 0);
}

JTEST(Layout, MeasuresAgreeWithEnumeration) {
    for (int64_t round = jtest_iterations(400); round > 0; --round) {
        const jlayout_t layout = random_layout();
        const int64_t count = naive_count(&layout);
        int64_t answer, largest = -1, indices[JLAYOUT_MAX_RANK];
        size_t bytes;
        JASSERT_OK(jlayout_get_count(&layout, &answer));
        JEXPECT_EQ(answer, count);
        for (int64_t number = 0; number < count; ++number) {
            int64_t place = 0, offset;
            naive_indices(&layout, number, indices);
            for (int d = 0; d < layout.rank; ++d)
                place += indices[d] * layout.strides[d];
            JASSERT_OK(jlayout_get_offset(&layout, indices, &offset));
            JASSERT_EQ(offset, place);
            largest = place > largest ? place : largest;
        }
        JASSERT_OK(jlayout_get_span(&layout, &answer));
        JEXPECT_EQ(answer, largest + 1);
        JASSERT_OK(jlayout_get_bytes(&layout, JDATATYPE_F64_C, &bytes));
        JEXPECT_EQ(bytes, 16 * (largest + 1));
        /* Without a hole, and one after the other in one of the two orders. */
        bool column = true, row = true;
        for (int64_t number = 0; number < count; ++number) {
            int64_t by_row = 0, place = 0;
            naive_indices(&layout, number, indices);
            for (int d = 0; d < layout.rank; ++d) {
                by_row = by_row * layout.extents[d] + indices[d];
                place += indices[d] * layout.strides[d];
            }
            column &= place == number;
            row &= place == by_row;
        }
        JEXPECT_EQ(jlayout_is_packed(&layout), column || row);
    }
}

JTEST(Layout, OrderIsThatOfStridesThatMatter) {
    static const struct {
        int rank;
        int64_t extents[3], strides[3];
        bool column, row;
    } cases[] = {
        {1, {5}, {1}, true, true},
        {1, {5}, {7}, true, true},
        {2, {3, 4}, {1, 3}, true, false},
        {2, {3, 4}, {1, 9}, true, false},
        {2, {3, 4}, {2, 9}, true, false},
        {2, {3, 4}, {4, 1}, false, true},
        {2, {3, 4}, {1, 1}, false, false}, /* they share places */
        {2, {1, 4}, {9, 1}, true, true},
        {2, {3, 1}, {1, 1}, true, true},
        {2, {0, 4}, {1, 1}, true, true},
        {3, {2, 3, 4}, {1, 2, 6}, true, false},
        {3, {2, 3, 4}, {12, 4, 1}, false, true},
        {3, {2, 3, 4}, {4, 8, 1}, false, false},
        {3, {2, 1, 4}, {1, 1, 2}, true, false},
        {3, {2, 1, 4}, {4, 99, 1}, false, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        jlayout_t layout = {.rank = cases[i].rank};
        JSCOPED_TRACE("case %zu", i);
        memcpy(layout.extents, cases[i].extents, sizeof cases[i].extents);
        memcpy(layout.strides, cases[i].strides, sizeof cases[i].strides);
        JEXPECT_OK(jlayout_check(&layout));
        JEXPECT_EQ(jlayout_has_order(&layout, JORDER_COLUMN_MAJOR), cases[i].column);
        JEXPECT_EQ(jlayout_has_order(&layout, JORDER_ROW_MAJOR), cases[i].row);
        JEXPECT_FALSE(jlayout_has_order(&layout, (jorder_t)2));
    }
    JEXPECT_FALSE(jlayout_has_order(NULL, JORDER_COLUMN_MAJOR));
    JEXPECT_FALSE(jlayout_is_packed(NULL));
    /* What is no layout has no order: a rank of none, more elements than there can be. */
    const jlayout_t ranks[] = {{.rank = -1}, {.rank = JLAYOUT_MAX_RANK + 1}};
    for (int i = 0; i < 2; ++i) {
        JEXPECT_FALSE(jlayout_has_order(&ranks[i], JORDER_COLUMN_MAJOR));
        JEXPECT_FALSE(jlayout_is_packed(&ranks[i]));
        JEXPECT_FALSE(jlayout_same_shape(&ranks[i], &ranks[i]));
    }
    const int64_t many = (int64_t)1 << 62;
    const jlayout_t huge = {.rank = 2, .extents = {many, 4}, .strides = {1, many}};
    JEXPECT_FALSE(jlayout_is_packed(&huge));
}

JTEST(Layout, LeadingDimensionSpreadsTheSlowerDimensions) {
    static const struct {
        int rank;
        int64_t extents[3];
        jorder_t order;
        int64_t lead, strides[3];
    } cases[] = {
        {2, {3, 4}, JORDER_COLUMN_MAJOR, 5, {1, 5}},
        {2, {3, 4}, JORDER_COLUMN_MAJOR, 3, {1, 3}},
        {2, {3, 4}, JORDER_ROW_MAJOR, 6, {6, 1}},
        {2, {1, 4}, JORDER_ROW_MAJOR, 8, {8, 1}},
        {2, {3, 1}, JORDER_COLUMN_MAJOR, 8, {1, 8}},
        {2, {0, 4}, JORDER_COLUMN_MAJOR, 1, {1, 1}},
        {3, {3, 4, 5}, JORDER_COLUMN_MAJOR, 10, {1, 10, 40}},
        {3, {3, 4, 5}, JORDER_ROW_MAJOR, 7, {28, 7, 1}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        jlayout_t layout;
        JSCOPED_TRACE("case %zu", i);
        JASSERT_OK(jlayout_init(&layout, cases[i].rank, cases[i].extents, cases[i].order));
        JEXPECT_OK(jlayout_set_leading_dimension(&layout, cases[i].lead));
        for (int d = 0; d < cases[i].rank; ++d)
            JEXPECT_EQ(layout.strides[d], cases[i].strides[d]);
    }
    jlayout_t layout, before;
    JASSERT_OK(jlayout_init(&layout, 2, EXTENTS(3, 4), JORDER_COLUMN_MAJOR));
    before = layout;
    JEXPECT_STATUS(jlayout_set_leading_dimension(&layout, 2), JSTATUS_INVALID_SIZE);
    JEXPECT_SUBSTR(jstatus_last_message(), "leading dimension 2");
    JEXPECT_STATUS(jlayout_set_leading_dimension(&layout, -5), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jlayout_set_leading_dimension(&layout, INT64_MAX / 2), JSTATUS_INVALID_SIZE); /* the fourth column */
    JEXPECT_STATUS(jlayout_set_leading_dimension(NULL, 4), JSTATUS_INVALID_POINTER);
    JEXPECT_TRUE(jlayout_equal(&layout, &before));
    JASSERT_OK(jlayout_set_leading_dimension(&layout, (INT64_MAX - 3) / 3));
    JASSERT_OK(jlayout_init(&layout, 1, EXTENTS(3), JORDER_COLUMN_MAJOR));
    JEXPECT_STATUS(jlayout_set_leading_dimension(&layout, 4), JSTATUS_INVALID_VALUE);
    JASSERT_OK(jlayout_init(&layout, 3, EXTENTS(2, 3, 4), JORDER_COLUMN_MAJOR));
    JASSERT_OK(jlayout_permute(&layout, (const int[]){1, 0, 2}, &layout));
    JEXPECT_STATUS(jlayout_set_leading_dimension(&layout, 40), JSTATUS_INVALID_VALUE); /* neither order */
    JASSERT_OK(jlayout_init(&layout, 3, EXTENTS(1, 5, 1), JORDER_COLUMN_MAJOR));
    JEXPECT_STATUS(jlayout_set_leading_dimension(&layout, INT64_MAX / 4), JSTATUS_INVALID_SIZE); /* the third stride */
    JEXPECT_SUBSTR(jstatus_last_message(), "behind a leading dimension");
}

JTEST(Layout, ArithmeticIsCheckedUpTo63Bits) {
    const int64_t half = (int64_t)1 << 31, most = INT64_MAX;
    const struct {
        int rank;
        int64_t extents[4];
        bool fits;
    } cases[] = {
        {1, {most}, true},
        {2, {most, 1}, true},
        {2, {1, most}, true},
        {2, {most, 2}, false},
        {2, {most, most}, false},
        {2, {half, half}, true},      /* 2^62 */
        {2, {half, 2 * half}, false}, /* 2^63 */
        {2, {2 * half, half}, false},
        {3, {half, half, 2}, false},
        {3, {1 << 21, 1 << 21, 1 << 20}, true},
        {3, {1 << 21, 1 << 21, 1 << 21}, false},
        {3, {3037000499, 3037000499, 1}, true}, /* the largest square */
        {2, {3037000500, 3037000500}, false},
        {4, {7, 7, 26889, 7}, true},
        {2, {0, most}, true},
        {2, {most, 0}, true},
        {3, {0, most, 2}, false}, /* an empty dimension saves nothing, wherever it is */
        {3, {most, 0, 2}, false},
        {3, {most, 2, 0}, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); ++i)
        for (jorder_t order = JORDER_COLUMN_MAJOR; order <= JORDER_ROW_MAJOR; ++order) {
            jlayout_t layout;
            int64_t count;
            JSCOPED_TRACE("case %zu, order %d", i, (int)order);
            memset(&layout, 0x3c, sizeof layout);
            const jlayout_t before = layout;
            const jstatus_t status = jlayout_init(&layout, cases[i].rank, cases[i].extents, order);
            if (cases[i].fits) {
                JEXPECT_OK(status);
                JEXPECT_OK(jlayout_get_count(&layout, &count));
                JEXPECT_EQ(count, naive_count(&layout));
            } else {
                JEXPECT_STATUS(status, JSTATUS_INVALID_SIZE);
                JEXPECT_EQ(memcmp(&layout, &before, sizeof layout), 0);
            }
        }
}

JTEST(Layout, TheLastElementAndTheBytesAreWithin63Bits) {
    jlayout_t layout = {.rank = 2, .extents = {2, 2}, .strides = {1, INT64_MAX - 2}};
    int64_t span = 7;
    size_t bytes = 7;
    JEXPECT_OK(jlayout_get_span(&layout, &span));
    JEXPECT_EQ(span, INT64_MAX);
    layout.strides[1] = INT64_MAX - 1;
    span = 7;
    JEXPECT_STATUS(jlayout_get_span(&layout, &span), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jlayout_check(&layout), JSTATUS_INVALID_SIZE);
    layout.strides[0] = layout.strides[1] = INT64_MAX;
    JEXPECT_STATUS(jlayout_get_span(&layout, &span), JSTATUS_INVALID_SIZE);
    layout.extents[0] = 3;
    JEXPECT_STATUS(jlayout_get_span(&layout, &span), JSTATUS_INVALID_SIZE);
    layout.extents[0] = layout.extents[1] = 1; /* strides of single elements are multiplied by nothing */
    JEXPECT_OK(jlayout_get_span(&layout, &span));
    JEXPECT_EQ(span, 1);
    layout.extents[1] = 0;
    JEXPECT_OK(jlayout_get_span(&layout, &span));
    JEXPECT_EQ(span, 0);

    static const jdatatype_t types[] = {JDATATYPE_I8, JDATATYPE_F16, JDATATYPE_F32, JDATATYPE_F64, JDATATYPE_F64_C};
    for (size_t i = 0; i < COUNT_OF(types); ++i) {
        const int64_t size = (int64_t)jhandle_sizeof_datatype(types[i]);
        JASSERT_OK(jlayout_init(&layout, 1, EXTENTS(INT64_MAX / size), JORDER_COLUMN_MAJOR));
        JEXPECT_OK(jlayout_get_bytes(&layout, types[i], &bytes));
        JEXPECT_EQ(bytes, INT64_MAX / size * size);
        bytes = 7;
        if (size > 1) {
            JASSERT_OK(jlayout_init(&layout, 1, EXTENTS(INT64_MAX / size + 1), JORDER_COLUMN_MAJOR));
            JEXPECT_STATUS(jlayout_get_bytes(&layout, types[i], &bytes), JSTATUS_INVALID_SIZE);
            JEXPECT_EQ(bytes, 7);
        }
    }
    JEXPECT_STATUS(jlayout_get_bytes(&layout, (jdatatype_t)8, &bytes), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jlayout_get_bytes(&layout, (jdatatype_t)-1, &bytes), JSTATUS_INVALID_VALUE);
}

/* ---- What is no layout ------------------------------------------------------------------------------------------- */

JTEST(Layout, EachFaultIsRefusedWithItsMessage) {
    static const struct {
        jlayout_t layout;
        jstatus_t status;
        const char *message;
    } cases[] = {
        {{.rank = -1}, JSTATUS_INVALID_VALUE, "rank -1"},
        {{.rank = 9}, JSTATUS_INVALID_VALUE, "rank 9"},
        {{.rank = INT_MAX}, JSTATUS_INVALID_VALUE, "rank"},
        {{.rank = 1, .extents = {-1}, .strides = {1}}, JSTATUS_INVALID_SIZE, "extent -1 of dimension 0"},
        {{.rank = 2, .extents = {1, INT64_MIN}, .strides = {1, 1}}, JSTATUS_INVALID_SIZE, "of dimension 1"},
        {{.rank = 1, .extents = {3}, .strides = {0}}, JSTATUS_INVALID_VALUE, "stride 0 of dimension 0"},
        {{.rank = 2, .extents = {3, 3}, .strides = {1, -3}}, JSTATUS_INVALID_VALUE, "stride -3 of dimension 1"},
        {{.rank = 1, .extents = {3}, .strides = {1}, .blocks = {-2}}, JSTATUS_INVALID_SIZE, "blocks of -2"},
        {{.rank = 1, .structure = (jstructure_t)1, .extents = {3}, .strides = {1}}, JSTATUS_INVALID_VALUE, "rank 1"},
        {{.rank = 2, .structure = (jstructure_t)5, .extents = {3, 4}, .strides = {1, 3}},
         JSTATUS_INVALID_SIZE,
         "3 x 4"},
        {{.rank = 2, .structure = (jstructure_t)7, .extents = {3, 3}, .strides = {1, 3}},
         JSTATUS_INVALID_VALUE,
         "number 7"},
        {{.rank = 2, .structure = (jstructure_t)-1, .extents = {3, 3}, .strides = {1, 3}},
         JSTATUS_INVALID_VALUE,
         "number -1"},
    };
    const int64_t zeros[JLAYOUT_MAX_RANK] = {0};
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        jlayout_t layout = cases[i].layout, result;
        int64_t number = 7, starts[JLAYOUT_MAX_RANK] = {7}, extents[JLAYOUT_MAX_RANK] = {7};
        size_t bytes = 7;
        char text[JLAYOUT_TEXT_BYTES] = "untouched";
        JSCOPED_TRACE("case %zu", i);
        memset(&result, 0x5a, sizeof result);
        const jlayout_t before = result;
        JEXPECT_STATUS(jlayout_check(&layout), cases[i].status);
        JEXPECT_SUBSTR(jstatus_last_message(), cases[i].message);
        /* Every function that takes one looks at it. */
        JEXPECT_STATUS(jlayout_get_count(&layout, &number), cases[i].status);
        JEXPECT_STATUS(jlayout_get_span(&layout, &number), cases[i].status);
        JEXPECT_STATUS(jlayout_get_bytes(&layout, JDATATYPE_F64, &bytes), cases[i].status);
        JEXPECT_STATUS(jlayout_get_offset(&layout, zeros, &number), cases[i].status);
        JEXPECT_STATUS(jlayout_slice(&layout, zeros, zeros, NULL, &result, &number), cases[i].status);
        JEXPECT_STATUS(jlayout_permute(&layout, (const int[]){0, 1}, &result), cases[i].status);
        JEXPECT_STATUS(jlayout_get_block_count(&layout, &number), cases[i].status);
        JEXPECT_STATUS(jlayout_get_block(&layout, 0, starts, extents), cases[i].status);
        JEXPECT_STATUS(jlayout_format(&layout, NULL, text, sizeof text), cases[i].status);
        JEXPECT_STATUS(jlayout_set_leading_dimension(&layout, 9), cases[i].status);
        JEXPECT_STATUS(jlayout_set_blocks(&layout, zeros), cases[i].status);
        JEXPECT_STATUS(jlayout_set_structure(&layout, JSTRUCTURE_GENERAL), cases[i].status);
        JEXPECT_TRUE(number == 7 && bytes == 7 && starts[0] == 7 && extents[0] == 7);
        JEXPECT_STREQ(text, "untouched");
        JEXPECT_EQ(memcmp(&result, &before, sizeof result), 0);
        JEXPECT_EQ(memcmp(&layout, &cases[i].layout, sizeof layout), 0);
    }
}

JTEST(Layout, MissingPointersAreRefused) {
    jlayout_t layout;
    int64_t number, pair[2];
    size_t bytes;
    char text[64];
    jdatatype_t type;
    JASSERT_OK(jlayout_init(&layout, 2, EXTENTS(3, 4), JORDER_COLUMN_MAJOR));
    const jlayout_t before = layout;
    JEXPECT_STATUS(jlayout_init(NULL, 0, NULL, JORDER_COLUMN_MAJOR), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_init(&layout, 1, NULL, JORDER_COLUMN_MAJOR), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_init(&layout, -1, pair, JORDER_COLUMN_MAJOR), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jlayout_init(&layout, 9, pair, JORDER_COLUMN_MAJOR), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jlayout_init(&layout, 1, EXTENTS(3), (jorder_t)2), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jlayout_init(&layout, 2, EXTENTS(3, -1), JORDER_ROW_MAJOR), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jlayout_set_blocks(NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_set_blocks(&layout, EXTENTS(2, -1)), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jlayout_set_structure(NULL, JSTRUCTURE_GENERAL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_set_structure(&layout, JSTRUCTURE_SYMMETRIC_LOWER), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jlayout_set_structure(&layout, (jstructure_t)99), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jlayout_check(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_count(NULL, &number), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_count(&layout, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_span(NULL, &number), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_span(&layout, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_bytes(NULL, JDATATYPE_F64, &bytes), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_bytes(&layout, JDATATYPE_F64, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_offset(NULL, pair, &number), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_offset(&layout, NULL, &number), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_offset(&layout, EXTENTS(0, 0), NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_slice(NULL, pair, pair, NULL, &layout, &number), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_slice(&layout, NULL, EXTENTS(0, 0), NULL, &layout, &number), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_slice(&layout, EXTENTS(0, 0), NULL, NULL, &layout, &number), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_slice(&layout, EXTENTS(0, 0), EXTENTS(0, 0), NULL, NULL, &number), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_slice(&layout, EXTENTS(0, 0), EXTENTS(0, 0), NULL, &layout, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_permute(NULL, (const int[]){0, 1}, &layout), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_permute(&layout, NULL, &layout), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_permute(&layout, (const int[]){0, 1}, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_block_count(NULL, &number), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_block_count(&layout, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_block(NULL, 0, pair, pair), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_block(&layout, 0, NULL, pair), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_get_block(&layout, 0, pair, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_format(NULL, NULL, text, sizeof text), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_format(&layout, NULL, NULL, 64), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_parse(NULL, &layout, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_parse("[3]", NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdatatype_parse(NULL, &type), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdatatype_parse("f64", NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_TRUE(jlayout_equal(&layout, &before));
}

JTEST(Layout, IndicesOutsideNameTheirDimension) {
    jlayout_t layout;
    int64_t offset = 7;
    JASSERT_OK(jlayout_init(&layout, 3, EXTENTS(2, 3, 4), JORDER_ROW_MAJOR));
    JEXPECT_STATUS(jlayout_get_offset(&layout, EXTENTS(2, 0, 0), &offset), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "dimension 0");
    JEXPECT_STATUS(jlayout_get_offset(&layout, EXTENTS(0, -1, 0), &offset), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "index -1 of dimension 1");
    JEXPECT_STATUS(jlayout_get_offset(&layout, EXTENTS(0, 0, INT64_MAX), &offset), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "dimension 2 is outside of its extent 4");
    JEXPECT_EQ(offset, 7);
}

JTEST(Layout, EqualMeansEverything) {
    jlayout_t a, b;
    JASSERT_OK(jlayout_init(&a, 2, EXTENTS(3, 3), JORDER_COLUMN_MAJOR));
    b = a;
    b.extents[5] = b.strides[5] = b.blocks[5] = 99; /* behind the rank nothing counts */
    JEXPECT_TRUE(jlayout_equal(&a, &b));
    JEXPECT_TRUE(jlayout_same_shape(&a, &b));
    JASSERT_OK(jlayout_set_leading_dimension(&b, 4));
    JEXPECT_FALSE(jlayout_equal(&a, &b));
    JEXPECT_TRUE(jlayout_same_shape(&a, &b));
    b = a;
    JASSERT_OK(jlayout_set_blocks(&b, EXTENTS(0, 2)));
    JEXPECT_FALSE(jlayout_equal(&a, &b));
    JASSERT_OK(jlayout_set_blocks(&b, NULL));
    JEXPECT_TRUE(jlayout_equal(&a, &b));
    JASSERT_OK(jlayout_set_structure(&b, JSTRUCTURE_TRIANGULAR_LOWER));
    JEXPECT_FALSE(jlayout_equal(&a, &b));
    JEXPECT_TRUE(jlayout_same_shape(&a, &b));
    JASSERT_OK(jlayout_init(&b, 1, EXTENTS(3), JORDER_COLUMN_MAJOR));
    JEXPECT_FALSE(jlayout_same_shape(&a, &b));
    JASSERT_OK(jlayout_init(&b, 2, EXTENTS(3, 2), JORDER_COLUMN_MAJOR));
    JEXPECT_FALSE(jlayout_same_shape(&a, &b));
    JEXPECT_FALSE(jlayout_same_shape(&a, NULL));
    JEXPECT_FALSE(jlayout_same_shape(NULL, &a));
    JEXPECT_FALSE(jlayout_equal(NULL, NULL));
}

/* ---- Slices and permutations ------------------------------------------------------------------------------------- */

/* Which elements of a root layout a view shows: for each of its dimensions that of the root, and a list of indices. */
typedef struct view {
    jlayout_t layout;
    int64_t first; /* where it begins in the root */
    int dimension[JLAYOUT_MAX_RANK];
    int64_t indices[JLAYOUT_MAX_RANK][16];
} view_t;

static void check_view(const jlayout_t *root, const view_t *view) {
    const int64_t count = naive_count(&view->layout);
    for (int64_t number = 0; number < count; ++number) {
        int64_t here[JLAYOUT_MAX_RANK], there[JLAYOUT_MAX_RANK], offset, expected;
        naive_indices(&view->layout, number, here);
        for (int d = 0; d < view->layout.rank; ++d)
            there[view->dimension[d]] = view->indices[d][here[d]];
        JASSERT_OK(jlayout_get_offset(&view->layout, here, &offset));
        JASSERT_OK(jlayout_get_offset(root, there, &expected));
        JASSERT_EQ(view->first + offset, expected);
    }
}

static void slice_view(view_t *view) {
    int64_t starts[JLAYOUT_MAX_RANK], extents[JLAYOUT_MAX_RANK], steps[JLAYOUT_MAX_RANK], offset;
    const bool with_steps = jtest_random_bool();
    for (int d = 0; d < view->layout.rank; ++d) {
        const int64_t whole = view->layout.extents[d];
        starts[d] = jtest_random_between(0, whole);
        steps[d] = with_steps ? jtest_random_between(1, 3) : 1;
        const int64_t most = starts[d] == whole ? 0 : (whole - 1 - starts[d]) / steps[d] + 1;
        extents[d] = jtest_random_between(most > 0 ? 1 : 0, most);
        for (int64_t i = 0; i < extents[d]; ++i)
            view->indices[d][i] = view->indices[d][starts[d] + i * steps[d]];
    }
    jlayout_t *const layout = &view->layout; /* in place, as it may be */
    JASSERT_OK(jlayout_slice(layout, starts, extents, with_steps ? steps : NULL, layout, &offset));
    for (int d = 0; d < view->layout.rank; ++d)
        JASSERT_EQ(layout->extents[d], extents[d]);
    view->first += offset;
}

static void permute_view(view_t *view) {
    const view_t before = *view;
    int order[JLAYOUT_MAX_RANK];
    random_order(view->layout.rank, order);
    JASSERT_OK(jlayout_permute(&view->layout, order, &view->layout));
    for (int d = 0; d < view->layout.rank; ++d) {
        view->dimension[d] = before.dimension[order[d]];
        memcpy(view->indices[d], before.indices[order[d]], sizeof view->indices[d]);
        JEXPECT_EQ(view->layout.blocks[d], before.layout.blocks[order[d]]);
    }
}

JTEST(Layout, SlicesOfSlicesShowTheElementsOfTheWhole) {
    for (int64_t round = jtest_iterations(400); round > 0; --round) {
        jlayout_t root = random_layout();
        root.structure = JSTRUCTURE_GENERAL;
        view_t view = {.layout = root};
        for (int d = 0; d < root.rank; ++d) {
            view.dimension[d] = d;
            for (int64_t i = 0; i < root.extents[d]; ++i)
                view.indices[d][i] = i;
        }
        for (int step = 0; step < 4 && !jtest_has_failure(); ++step) {
            if (jtest_random_bool())
                slice_view(&view);
            else
                permute_view(&view);
            check_view(&root, &view);
        }
        if (jtest_has_failure())
            return;
    }
}

JTEST(Layout, SlicesOutsideAreRefused) {
    static const struct {
        int64_t starts[2], extents[2], steps[2];
        const char *message;
    } cases[] = {
        {{-1, 0}, {1, 1}, {1, 1}, "dimension 0"},
        {{0, -1}, {1, 1}, {1, 1}, "dimension 1"},
        {{0, 0}, {6, 1}, {1, 1}, "6 elements from 0 on"},
        {{5, 0}, {1, 1}, {1, 1}, "dimension 0"},
        {{6, 0}, {0, 1}, {1, 1}, "dimension 0"},
        {{0, 7}, {1, 1}, {1, 1}, "dimension 1"},
        {{0, 0}, {-1, 1}, {1, 1}, "-1 elements"},
        {{0, 0}, {3, 4}, {3, 1}, "steps of 3"},
        {{1, 0}, {2, 4}, {2, 3}, "dimension 1"},
        {{0, 0}, {1, 1}, {0, 1}, "step 0 of dimension 0"},
        {{0, 0}, {1, 1}, {1, -1}, "step -1 of dimension 1"},
        {{0, 0}, {INT64_MAX, 1}, {1, 1}, "dimension 0"},
        {{INT64_MAX, 0}, {1, 1}, {1, 1}, "dimension 0"},
        {{4, 0}, {INT64_MAX, 1}, {INT64_MAX, 1}, "dimension 0"},
        {{0, 0}, {2, 1}, {INT64_MAX, 1}, "dimension 0"},
    };
    jlayout_t layout, slice;
    int64_t offset = 7;
    JASSERT_OK(jlayout_init(&layout, 2, EXTENTS(5, 7), JORDER_COLUMN_MAJOR));
    memset(&slice, 0x5a, sizeof slice);
    const jlayout_t before = slice;
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        JSCOPED_TRACE("case %zu", i);
        JEXPECT_STATUS(jlayout_slice(&layout, cases[i].starts, cases[i].extents, cases[i].steps, &slice, &offset),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_SUBSTR(jstatus_last_message(), cases[i].message);
    }
    JEXPECT_TRUE(offset == 7 && memcmp(&slice, &before, sizeof slice) == 0);
    /* The step of a single element goes nowhere; nothing at the end is something; and what is empty begins at 0. */
    JEXPECT_OK(jlayout_slice(&layout, EXTENTS(4, 6), EXTENTS(1, 1), EXTENTS(INT64_MAX, INT64_MAX), &slice, &offset));
    JEXPECT_EQ(offset, 34);
    JEXPECT_OK(jlayout_check(&slice));
    JEXPECT_OK(jlayout_slice(&layout, EXTENTS(5, 7), EXTENTS(0, 0), NULL, &slice, &offset));
    JEXPECT_EQ(offset, 0);
    JEXPECT_OK(jlayout_slice(&layout, EXTENTS(4, 7), EXTENTS(1, 0), NULL, &slice, &offset));
    JEXPECT_EQ(offset, 0);
    /* Without elements strides may be anything, and are left alone. */
    jlayout_t wide = {.rank = 2, .extents = {0, INT64_MAX}, .strides = {1, INT64_MAX}};
    JEXPECT_OK(jlayout_slice(&wide, EXTENTS(0, 5), EXTENTS(0, 2), EXTENTS(1, (int64_t)1 << 60), &slice, &offset));
    JEXPECT_OK(jlayout_check(&slice));
    JEXPECT_EQ(offset, 0);
}

JTEST(Layout, StructureStaysWithSquaresOnTheDiagonal) {
    for (int s = JSTRUCTURE_SYMMETRIC_UPPER; s <= JSTRUCTURE_TRIANGULAR_LOWER; ++s) {
        const jstructure_t structure = (jstructure_t)s;
        jlayout_t layout, slice;
        int64_t offset;
        JASSERT_OK(jlayout_init(&layout, 2, EXTENTS(6, 6), JORDER_ROW_MAJOR));
        JASSERT_OK(jlayout_set_structure(&layout, structure));
        JASSERT_OK(jlayout_set_blocks(&layout, EXTENTS(2, 2)));
        JASSERT_OK(jlayout_slice(&layout, EXTENTS(1, 1), EXTENTS(4, 4), NULL, &slice, &offset));
        JEXPECT_EQ(slice.structure, structure);
        JEXPECT_TRUE(slice.blocks[0] == 0 && slice.blocks[1] == 0);
        JASSERT_OK(jlayout_slice(&layout, EXTENTS(1, 1), EXTENTS(3, 3), EXTENTS(2, 2), &slice, &offset));
        JEXPECT_EQ(slice.structure, structure);
        JASSERT_OK(jlayout_slice(&layout, EXTENTS(1, 1), EXTENTS(2, 2), EXTENTS(2, 1), &slice, &offset));
        JEXPECT_EQ(slice.structure, JSTRUCTURE_GENERAL);
        JASSERT_OK(jlayout_slice(&layout, EXTENTS(1, 2), EXTENTS(3, 3), NULL, &slice, &offset));
        JEXPECT_EQ(slice.structure, JSTRUCTURE_GENERAL);
        JASSERT_OK(jlayout_slice(&layout, EXTENTS(1, 1), EXTENTS(3, 4), NULL, &slice, &offset));
        JEXPECT_EQ(slice.structure, JSTRUCTURE_GENERAL);
    }
}

JTEST(Layout, TransposingExchangesTheTriangles) {
    static const struct {
        jstructure_t before, after;
    } pairs[] = {
        {JSTRUCTURE_GENERAL, JSTRUCTURE_GENERAL},
        {JSTRUCTURE_SYMMETRIC_UPPER, JSTRUCTURE_SYMMETRIC_LOWER},
        {JSTRUCTURE_SYMMETRIC_LOWER, JSTRUCTURE_SYMMETRIC_UPPER},
        {JSTRUCTURE_TRIANGULAR_UPPER, JSTRUCTURE_TRIANGULAR_LOWER},
        {JSTRUCTURE_TRIANGULAR_LOWER, JSTRUCTURE_TRIANGULAR_UPPER},
    };
    jlayout_t layout, permuted;
    JASSERT_OK(jlayout_init(&layout, 2, EXTENTS(4, 4), JORDER_COLUMN_MAJOR));
    for (size_t i = 0; i < COUNT_OF(pairs); ++i) {
        JASSERT_OK(jlayout_set_structure(&layout, pairs[i].before));
        JASSERT_OK(jlayout_permute(&layout, (const int[]){1, 0}, &permuted));
        JEXPECT_EQ(permuted.structure, pairs[i].after);
        JASSERT_OK(jlayout_permute(&layout, (const int[]){0, 1}, &permuted));
        JEXPECT_TRUE(jlayout_equal(&layout, &permuted));
    }
    for (int s = JSTRUCTURE_HERMITIAN_UPPER; s <= JSTRUCTURE_HERMITIAN_LOWER; ++s) {
        JASSERT_OK(jlayout_set_structure(&layout, (jstructure_t)s));
        JEXPECT_STATUS(jlayout_permute(&layout, (const int[]){1, 0}, &permuted), JSTATUS_INVALID_VALUE);
        JASSERT_OK(jlayout_permute(&layout, (const int[]){0, 1}, &permuted));
        JEXPECT_TRUE(jlayout_equal(&layout, &permuted));
    }
    static const int wrong[][2] = {{0, 0}, {1, 1}, {0, 2}, {-1, 0}, {1, INT_MAX}};
    const jlayout_t before = permuted;
    for (size_t i = 0; i < COUNT_OF(wrong); ++i)
        JEXPECT_STATUS(jlayout_permute(&layout, wrong[i], &permuted), JSTATUS_INVALID_VALUE);
    JEXPECT_TRUE(jlayout_equal(&before, &permuted));
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

JTEST(Layout, BlocksCoverEveryElementOnce) {
    static unsigned char covered[MOST];
    for (int64_t round = jtest_iterations(400); round > 0; --round) {
        const jlayout_t layout = random_layout();
        const int64_t elements = naive_count(&layout);
        int64_t blocks, starts[JLAYOUT_MAX_RANK], extents[JLAYOUT_MAX_RANK], before[JLAYOUT_MAX_RANK] = {0};
        JASSERT_LE(elements, MOST);
        memset(covered, 0, sizeof covered);
        JASSERT_OK(jlayout_get_block_count(&layout, &blocks));
        JEXPECT_EQ(blocks == 0, elements == 0);
        for (int64_t number = 0; number < blocks; ++number) {
            jlayout_t block = {.rank = layout.rank};
            JASSERT_OK(jlayout_get_block(&layout, number, starts, extents));
            memcpy(block.extents, extents, sizeof extents);
            for (int d = 0; d < layout.rank; ++d) {
                JASSERT_TRUE(starts[d] >= 0 && extents[d] >= 1 && starts[d] + extents[d] <= layout.extents[d]);
                JASSERT_TRUE(layout.blocks[d] != 0 ? starts[d] % layout.blocks[d] == 0 : starts[d] == 0);
            }
            /* Numbered column-major: seen from the slowest dimension, starts grow from one block to the next. */
            int d = layout.rank - 1;
            while (number > 0 && d > 0 && starts[d] == before[d])
                --d;
            JASSERT_TRUE(number == 0 || starts[d] > before[d]);
            memcpy(before, starts, sizeof starts);
            for (int64_t i = naive_count(&block) - 1; i >= 0; --i) {
                int64_t inside[JLAYOUT_MAX_RANK], place = 0;
                naive_indices(&block, i, inside);
                for (int e = layout.rank - 1; e >= 0; --e)
                    place = place * layout.extents[e] + starts[e] + inside[e];
                JASSERT_EQ(covered[place], 0);
                covered[place] = 1;
            }
        }
        for (int64_t i = 0; i < elements; ++i)
            JASSERT_EQ(covered[i], 1);
        JEXPECT_STATUS(jlayout_get_block(&layout, blocks, starts, extents), JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(jlayout_get_block(&layout, -1, starts, extents), JSTATUS_INVALID_VALUE);
    }
}

JTEST(Layout, HugeBlocksAreCountedWithoutOverflow) {
    jlayout_t layout;
    int64_t count, start, extent;
    JASSERT_OK(jlayout_init(&layout, 1, EXTENTS(INT64_MAX), JORDER_COLUMN_MAJOR));
    JASSERT_OK(jlayout_set_blocks(&layout, EXTENTS(INT64_MAX - 1)));
    JASSERT_OK(jlayout_get_block_count(&layout, &count));
    JEXPECT_EQ(count, 2);
    JASSERT_OK(jlayout_get_block(&layout, 1, &start, &extent));
    JEXPECT_TRUE(start == INT64_MAX - 1 && extent == 1);
    JASSERT_OK(jlayout_set_blocks(&layout, EXTENTS(1)));
    JASSERT_OK(jlayout_get_block_count(&layout, &count));
    JEXPECT_EQ(count, INT64_MAX);
    JASSERT_OK(jlayout_get_block(&layout, INT64_MAX - 1, &start, &extent));
    JEXPECT_TRUE(start == INT64_MAX - 1 && extent == 1);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

JTEST(LayoutText, EachFormIsTheShortest) {
    static const char *const texts[] = {
        "f64[]",
        "i8[0]",
        "bf16[7]",
        "f32[3,4]",
        "f32[3,4] row",
        "f16[3,4] ld=8",
        "f64[3,4] row ld=9",
        "f64_c[2,3,4] ld=5",
        "f64_c[2,3,4] row ld=5",
        "i32[2,3,4] strides=(4,8,1)",
        "f32_c[5] strides=(2)",
        "f64[3,1] ld=7",
        "f64[3,1] row ld=7",
        "f64[1,3] row",
        "f64[4,4] symmetric-upper",
        "f64[4,4] symmetric-lower",
        "f64[4,4] hermitian-upper",
        "f64[4,4] hermitian-lower",
        "f64[4,4] triangular-upper",
        "f64[4,4] triangular-lower",
        "f64[800,800] ld=832 blocks=(64,64) symmetric-lower",
        "f64[800,700] row ld=832 blocks=(0,64)",
        "f64[1,2,3,4,5,6,7,8] strides=(9,8,7,6,5,4,3,2) blocks=(1,0,0,0,0,0,0,9223372036854775807)",
        "i8[9223372036854775807]",
    };
    for (size_t i = 0; i < COUNT_OF(texts); ++i) {
        jlayout_t layout;
        jdatatype_t type;
        char text[JLAYOUT_TEXT_BYTES];
        JSCOPED_TRACE("\"%s\"", texts[i]);
        JASSERT_OK(jlayout_parse(texts[i], &layout, &type));
        JASSERT_OK(jlayout_format(&layout, &type, text, sizeof text));
        JEXPECT_STREQ(text, texts[i]);
        /* And without the type. */
        JASSERT_OK(jlayout_parse(strchr(texts[i], '['), &layout, NULL));
        JASSERT_OK(jlayout_format(&layout, NULL, text, sizeof text));
        JEXPECT_STREQ(text, strchr(texts[i], '['));
    }
}

JTEST(LayoutText, WhatIsReadIsWhatIsSaid) {
    jlayout_t layout;
    jdatatype_t type;
    JASSERT_OK(jlayout_parse("f32_c[3,4] row ld=6 blocks=(2,0)", &layout, &type));
    JEXPECT_EQ(type, JDATATYPE_F32_C);
    JEXPECT_TRUE(layout.rank == 2 && layout.structure == JSTRUCTURE_GENERAL);
    JEXPECT_TRUE(layout.extents[0] == 3 && layout.extents[1] == 4);
    JEXPECT_TRUE(layout.strides[0] == 6 && layout.strides[1] == 1);
    JEXPECT_TRUE(layout.blocks[0] == 2 && layout.blocks[1] == 0);
    /* Attributes come in any order. */
    jlayout_t other;
    JASSERT_OK(jlayout_parse("f32_c[3,4] blocks=(2,0) ld=6 row", &other, &type));
    JEXPECT_TRUE(jlayout_equal(&layout, &other));
    JASSERT_OK(jlayout_parse("[4,4] triangular-lower strides=(16,2)", &layout, NULL));
    JEXPECT_TRUE(layout.structure == JSTRUCTURE_TRIANGULAR_LOWER && layout.strides[0] == 16 && layout.strides[1] == 2);
}

JTEST(LayoutText, RoundTripsAnyLayout) {
    for (int64_t round = jtest_iterations(2000); round > 0; --round) {
        const jlayout_t layout = random_layout();
        const jdatatype_t type = (jdatatype_t)jtest_random_between(0, 7);
        char text[JLAYOUT_TEXT_BYTES];
        jlayout_t back;
        jdatatype_t back_type;
        JASSERT_OK(jlayout_format(&layout, &type, text, sizeof text));
        JSCOPED_TRACE("\"%s\"", text);
        JASSERT_OK(jlayout_parse(text, &back, &back_type));
        JASSERT_TRUE(jlayout_equal(&layout, &back));
        JASSERT_EQ(back_type, type);
    }
}

/* Packed in no order, so the text has its strides; read again, it is the same. */
static void text_has_strides(const jlayout_t *layout, const char *expected) {
    jlayout_t back;
    char text[JLAYOUT_TEXT_BYTES];
    JASSERT_OK(jlayout_format(layout, NULL, text, sizeof text));
    JEXPECT_STREQ(text, expected);
    JASSERT_OK(jlayout_parse(text, &back, NULL));
    JEXPECT_TRUE(jlayout_equal(layout, &back));
}

JTEST(LayoutText, StridesThatShareAPlaceAreNoLeadingDimension) {
    const jlayout_t layout = {.rank = 2, .extents = {5, 3}, .strides = {1, 2}};
    text_has_strides(&layout, "[5,3] strides=(1,2)");
}

/* All elements are within 63 bits; the stride behind a leading dimension of that many would not be. */
JTEST(LayoutText, AStrideThatIsNoLeadingDimensionIsWrittenAsItIs) {
    const jlayout_t layout = {.rank = 3, .extents = {1, 5, 1}, .strides = {1, INT64_MAX / 4, 7}};
    text_has_strides(&layout, "[1,5,1] strides=(1,2305843009213693951,7)");
}

JTEST(LayoutText, TheLongestFits) {
    jlayout_t layout = {.rank = 8};
    for (int d = 0; d < 8; ++d) { /* an empty layout may have any strides */
        layout.extents[d] = d == 7 ? 0 : 1;
        layout.strides[d] = INT64_MAX - d;
        layout.blocks[d] = INT64_MAX;
    }
    layout.extents[0] = INT64_MAX;
    char text[JLAYOUT_TEXT_BYTES], exact[JLAYOUT_TEXT_BYTES];
    const jdatatype_t type = JDATATYPE_F64_C;
    jlayout_t back;
    jdatatype_t back_type;
    JASSERT_OK(jlayout_format(&layout, &type, text, sizeof text));
    JASSERT_OK(jlayout_parse(text, &back, &back_type));
    JEXPECT_TRUE(jlayout_equal(&layout, &back));
    /* The space asked for is the space used, and too little leaves everything as it was. */
    JEXPECT_OK(jlayout_format(&layout, &type, exact, strlen(text) + 1));
    JEXPECT_STREQ(exact, text);
    memset(exact, '#', sizeof exact);
    JEXPECT_STATUS(jlayout_format(&layout, &type, exact, strlen(text)), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jlayout_format(&layout, &type, exact, 0), JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(exact[0], '#');
    const jdatatype_t none = (jdatatype_t)8;
    JEXPECT_STATUS(jlayout_format(&layout, &none, text, sizeof text), JSTATUS_INVALID_VALUE);
}

static const struct refusal {
    const char *text;
    bool typed;
    jstatus_t status;
    const char *message;
} refusals[] = {
    {"", false, JSTATUS_INVALID_VALUE, "at character 1 \"[\" was expected"},
    {"", true, JSTATUS_INVALID_VALUE, "at character 1 an element type was expected"},
    {"[3]", true, JSTATUS_INVALID_VALUE, "an element type"},
    {"f64[3]", false, JSTATUS_INVALID_VALUE, "at character 1 \"[\""},
    {"f63[3]", true, JSTATUS_INVALID_VALUE, "an element type"},
    {"F64[3]", true, JSTATUS_INVALID_VALUE, "an element type"},
    {"f64", true, JSTATUS_INVALID_VALUE, "at character 4 \"[\""},
    {"f64 [3]", true, JSTATUS_INVALID_VALUE, "an element type"},
    {"averylongnameofatype[3]", true, JSTATUS_INVALID_VALUE, "an element type"},
    {"[", false, JSTATUS_INVALID_VALUE, "at character 2 a number"},
    {"[3", false, JSTATUS_INVALID_VALUE, "at character 3 \",\" or \"]\""},
    {"[3,", false, JSTATUS_INVALID_VALUE, "at character 4 a number"},
    {"[3,]", false, JSTATUS_INVALID_VALUE, "at character 4 a number"},
    {"[,3]", false, JSTATUS_INVALID_VALUE, "at character 2 a number"},
    {"[-3]", false, JSTATUS_INVALID_VALUE, "at character 2 a number"},
    {"[+3]", false, JSTATUS_INVALID_VALUE, "at character 2 a number"},
    {"[ 3]", false, JSTATUS_INVALID_VALUE, "at character 2 a number"},
    {"[3 ]", false, JSTATUS_INVALID_VALUE, "at character 3"},
    {"[3.0]", false, JSTATUS_INVALID_VALUE, "at character 3"},
    {"[0x3]", false, JSTATUS_INVALID_VALUE, "at character 3"},
    {"[1,2,3,4,5,6,7,8,9]", false, JSTATUS_INVALID_VALUE, "no more than 8 dimensions"},
    {"[3]x", false, JSTATUS_INVALID_VALUE, "at character 4 a space or the end"},
    {"[3] ", false, JSTATUS_INVALID_VALUE, "at character 5"},
    {"[3]  row", false, JSTATUS_INVALID_VALUE, "at character 5"},
    {"[3]\trow", false, JSTATUS_INVALID_VALUE, "at character 4"},
    {"[3] row\n", false, JSTATUS_INVALID_VALUE, "at character 8"},
    {"[3] column", false, JSTATUS_INVALID_VALUE, "at character 5"},
    {"[3] Row", false, JSTATUS_INVALID_VALUE, "at character 5"},
    {"[3] rowld=4", false, JSTATUS_INVALID_VALUE, "a space or the end"},
    {"[3] row row", false, JSTATUS_INVALID_VALUE, "at character 9 no attribute a second time"},
    {"[3,3] ld=4 ld=4", false, JSTATUS_INVALID_VALUE, "no attribute a second time"},
    {"[3] strides=(1) strides=(1)", false, JSTATUS_INVALID_VALUE, "no attribute a second time"},
    {"[3] blocks=(1) blocks=(1)", false, JSTATUS_INVALID_VALUE, "no attribute a second time"},
    {"[3,3] symmetric-upper symmetric-lower", false, JSTATUS_INVALID_VALUE, "at character 23 no attribute a second"},
    {"[3,3] row strides=(1,3)", false, JSTATUS_INVALID_VALUE, "not both"},
    {"[3,3] strides=(1,3) row", false, JSTATUS_INVALID_VALUE, "at character 21 strides, or row and ld, not both"},
    {"[3,3] strides=(1,3) ld=4", false, JSTATUS_INVALID_VALUE, "not both"},
    {"[3,3] ld=4 strides=(1,3)", false, JSTATUS_INVALID_VALUE, "not both"},
    {"[3,3] ld=", false, JSTATUS_INVALID_VALUE, "at character 10 a number"},
    {"[3,3] ld=-4", false, JSTATUS_INVALID_VALUE, "at character 10 a number"},
    {"[3,3] strides=(1)", false, JSTATUS_INVALID_VALUE, "at character 16 one number for each dimension"},
    {"[3,3] strides=(1,2,3)", false, JSTATUS_INVALID_VALUE, "one number for each dimension"},
    {"[3,3] strides=(1,2", false, JSTATUS_INVALID_VALUE, "\",\" or \")\""},
    {"[3,3] strides=(1,2]", false, JSTATUS_INVALID_VALUE, "\",\" or \")\""},
    {"[3,3] strides=(1,1,1,1,1,1,1,1,1)", false, JSTATUS_INVALID_VALUE, "no more than 8"},
    {"[] blocks=()", false, JSTATUS_INVALID_VALUE, "a number"},
    {"[] blocks=(1)", false, JSTATUS_INVALID_VALUE, "one number for each dimension"},
    {"[3,3] blocks=(2)", false, JSTATUS_INVALID_VALUE, "one number for each dimension"},
    {"[3,3] blocks=(-2,2)", false, JSTATUS_INVALID_VALUE, "a number"},
    {"[3,3] symmetric", false, JSTATUS_INVALID_VALUE, "at character 7"},
    {"[3,3] symmetric-upperx", false, JSTATUS_INVALID_VALUE, "a space or the end"},
    {"[3] ld=4", false, JSTATUS_INVALID_VALUE, "rank 1"},
    {"[3] symmetric-upper", false, JSTATUS_INVALID_VALUE, "rank 1"},
    {"[3,3] strides=(0,3)", false, JSTATUS_INVALID_VALUE, "stride 0"},
    {"[3,4] hermitian-lower", false, JSTATUS_INVALID_SIZE, "3 x 4"},
    {"[3,3] ld=2", false, JSTATUS_INVALID_SIZE, "leading dimension 2"},
    {"[3,3] ld=0", false, JSTATUS_INVALID_SIZE, "leading dimension 0"},
    {"[3,4] row ld=3", false, JSTATUS_INVALID_SIZE, "leading dimension 3"},
    {"[9223372036854775808]", false, JSTATUS_INVALID_SIZE, "at character 2 a number of 63 bits"},
    {"[99999999999999999999999999999999]", false, JSTATUS_INVALID_SIZE, "63 bits"},
    {"[3,3] ld=9223372036854775808", false, JSTATUS_INVALID_SIZE, "at character 10"},
    {"[3,3] ld=9223372036854775807", false, JSTATUS_INVALID_SIZE, "63 bits"},
    {"[3,3] strides=(1,9223372036854775807)", false, JSTATUS_INVALID_SIZE, "63 bits"},
    {"[4294967296,4294967296]", false, JSTATUS_INVALID_SIZE, "63 bits"},
};
JTEST(LayoutText, RefusalsQuoteTheTextAndThePlace) {
    for (size_t i = 0; i < COUNT_OF(refusals); ++i) {
        const struct refusal *refusal = &refusals[i];
        char quoted[128];
        jlayout_t layout;
        jdatatype_t type = (jdatatype_t)99;
        JSCOPED_TRACE("\"%s\"", refusal->text);
        memset(&layout, 0x5a, sizeof layout);
        const jlayout_t before = layout;
        JEXPECT_STATUS(jlayout_parse(refusal->text, &layout, refusal->typed ? &type : NULL), refusal->status);
        JEXPECT_SUBSTR(jstatus_last_message(), refusal->message);
        snprintf(quoted, sizeof quoted, "\"%s\"", refusal->text);
        JEXPECT_SUBSTR(jstatus_last_message(), quoted);
        JEXPECT_EQ(memcmp(&layout, &before, sizeof layout), 0);
        JEXPECT_EQ(type, 99);
    }
}

/* Either a text is refused, or what it gives is a layout whose own text gives it again. */
static void check_any_text(const char *text) {
    char back[JLAYOUT_TEXT_BYTES];
    for (int typed = 0; typed < 2; ++typed) {
        jlayout_t layout, again;
        jdatatype_t type, again_type;
        const jstatus_t status = jlayout_parse(text, &layout, typed ? &type : NULL);
        if (status == JSTATUS_SUCCESS) {
            JASSERT_OK(jlayout_check(&layout));
            JASSERT_OK(jlayout_format(&layout, typed ? &type : NULL, back, sizeof back));
            JASSERT_OK(jlayout_parse(back, &again, typed ? &again_type : NULL));
            JASSERT_TRUE(jlayout_equal(&layout, &again));
        } else {
            JASSERT_TRUE(status == JSTATUS_INVALID_VALUE || status == JSTATUS_INVALID_SIZE);
        }
    }
}

JTEST(LayoutText, AnyBytesAreReadOrRefused) {
    static const char *const words[] = {"f64",      "f32_c",
                                        "[",        "]",
                                        "3",        ",",
                                        "(",        ")",
                                        " ",        "row",
                                        "ld=",      "strides=(",
                                        "blocks=(", "symmetric-upper",
                                        "12",       "0",
                                        "-",        "99999999999999999999",
                                        "[4,4]",    " ld=4",
                                        " row",     "\xff"};
    for (int64_t round = jtest_iterations(5000); round > 0; --round) {
        char text[400] = "";
        if (jtest_random_bool()) { /* words of the grammar */
            for (int64_t count = jtest_random_between(1, 12); count > 0; --count)
                strncat(text, words[jtest_random_between(0, COUNT_OF(words) - 1)], sizeof text - strlen(text) - 1);
        } else if (jtest_random_bool()) { /* a good text with a wrong byte */
            const jlayout_t layout = random_layout();
            JASSERT_OK(jlayout_format(&layout, NULL, text, sizeof text));
            text[jtest_random_between(0, (int64_t)strlen(text) - 1)] = (char)jtest_random_between(0, 255);
        } else {
            for (int64_t i = jtest_random_between(0, 60); i > 0; --i)
                text[i] = (char)jtest_random_between(1, 255);
        }
        JSCOPED_TRACE("\"%s\"", text);
        check_any_text(text);
        if (jtest_has_failure())
            return;
    }
}

JTEST(LayoutText, TypesAreFoundByTheirNames) {
    for (int t = 0; t <= JDATATYPE_I32; ++t) {
        jdatatype_t type = (jdatatype_t)99;
        JEXPECT_OK(jdatatype_parse(jdatatype_name((jdatatype_t)t), &type));
        JEXPECT_EQ(type, t);
    }
    static const char *const wrong[] = {"", "f6", "f640", "F64", "double", "unknown", " f64", "f64 ", "f64_C"};
    for (size_t i = 0; i < COUNT_OF(wrong); ++i) {
        jdatatype_t type = (jdatatype_t)99;
        JEXPECT_STATUS(jdatatype_parse(wrong[i], &type), JSTATUS_INVALID_VALUE);
        JEXPECT_SUBSTR(jstatus_last_message(), "is no element type");
        JEXPECT_EQ(type, 99);
    }
}
