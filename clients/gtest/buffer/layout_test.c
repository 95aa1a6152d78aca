/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Layouts against lists of elements: what they measure, near 63 bits too, where nothing may
 * overflow, and what is none. Views, and the text form, have files of their own. */

#include "layout_helper.h"

#include <limits.h>
#include <string.h>

/* ---- Making and measuring ---- */

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
    /* The fourth column. */
    JEXPECT_STATUS(jlayout_set_leading_dimension(&layout, INT64_MAX / 2), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jlayout_set_leading_dimension(NULL, 4), JSTATUS_INVALID_POINTER);
    JEXPECT_TRUE(jlayout_equal(&layout, &before));
    JASSERT_OK(jlayout_set_leading_dimension(&layout, (INT64_MAX - 3) / 3));
    JASSERT_OK(jlayout_init(&layout, 1, EXTENTS(3), JORDER_COLUMN_MAJOR));
    JEXPECT_STATUS(jlayout_set_leading_dimension(&layout, 4), JSTATUS_INVALID_VALUE);
    JASSERT_OK(jlayout_init(&layout, 3, EXTENTS(2, 3, 4), JORDER_COLUMN_MAJOR));
    JASSERT_OK(jlayout_permute(&layout, (const int[]){1, 0, 2}, &layout));
    /* Neither order. */
    JEXPECT_STATUS(jlayout_set_leading_dimension(&layout, 40), JSTATUS_INVALID_VALUE);
    JASSERT_OK(jlayout_init(&layout, 3, EXTENTS(1, 5, 1), JORDER_COLUMN_MAJOR));
    /* The third stride. */
    JEXPECT_STATUS(jlayout_set_leading_dimension(&layout, INT64_MAX / 4), JSTATUS_INVALID_SIZE);
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
    /* Strides of single elements are multiplied by nothing. */
    layout.extents[0] = layout.extents[1] = 1;
    JEXPECT_OK(jlayout_get_span(&layout, &span));
    JEXPECT_EQ(span, 1);
    layout.extents[1] = 0;
    JEXPECT_OK(jlayout_get_span(&layout, &span));
    JEXPECT_EQ(span, 0);

    static const jdatatype_t types[] = {JDATATYPE_I8, JDATATYPE_F16, JDATATYPE_F32, JDATATYPE_F64,
                                        JDATATYPE_F64_C};
    for (size_t i = 0; i < COUNT_OF(types); ++i) {
        const int64_t size = (int64_t)jhandle_sizeof_datatype(types[i]);
        JASSERT_OK(jlayout_init(&layout, 1, EXTENTS(INT64_MAX / size), JORDER_COLUMN_MAJOR));
        JEXPECT_OK(jlayout_get_bytes(&layout, types[i], &bytes));
        JEXPECT_EQ(bytes, INT64_MAX / size * size);
        bytes = 7;
        if (size > 1) {
            JASSERT_OK(
                jlayout_init(&layout, 1, EXTENTS(INT64_MAX / size + 1), JORDER_COLUMN_MAJOR));
            JEXPECT_STATUS(jlayout_get_bytes(&layout, types[i], &bytes), JSTATUS_INVALID_SIZE);
            JEXPECT_EQ(bytes, 7);
        }
    }
    JEXPECT_STATUS(jlayout_get_bytes(&layout, (jdatatype_t)8, &bytes), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jlayout_get_bytes(&layout, (jdatatype_t)-1, &bytes), JSTATUS_INVALID_VALUE);
}

/* ---- What is no layout ---- */

JTEST(Layout, EachFaultIsRefusedWithItsMessage) {
    static const struct {
        jlayout_t layout;
        jstatus_t status;
        const char *message;
    } cases[] = {
        {{.rank = -1}, JSTATUS_INVALID_VALUE, "rank -1"},
        {{.rank = 9}, JSTATUS_INVALID_VALUE, "rank 9"},
        {{.rank = INT_MAX}, JSTATUS_INVALID_VALUE, "rank"},
        {{.rank = 1, .extents = {-1}, .strides = {1}},
         JSTATUS_INVALID_SIZE,
         "extent -1 of dimension 0"},
        {{.rank = 2, .extents = {1, INT64_MIN}, .strides = {1, 1}},
         JSTATUS_INVALID_SIZE,
         "of dimension 1"},
        {{.rank = 1, .extents = {3}, .strides = {0}},
         JSTATUS_INVALID_VALUE,
         "stride 0 of dimension 0"},
        {{.rank = 2, .extents = {3, 3}, .strides = {1, -3}},
         JSTATUS_INVALID_VALUE,
         "stride -3 of dimension 1"},
        {{.rank = 1, .extents = {3}, .strides = {1}, .blocks = {-2}},
         JSTATUS_INVALID_SIZE,
         "blocks of -2"},
        {{.rank = 1, .structure = (jstructure_t)1, .extents = {3}, .strides = {1}},
         JSTATUS_INVALID_VALUE,
         "rank 1"},
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
        JEXPECT_STATUS(jlayout_slice(&layout, zeros, zeros, NULL, &result, &number),
                       cases[i].status);
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
    JEXPECT_STATUS(jlayout_init(&layout, 2, EXTENTS(3, -1), JORDER_ROW_MAJOR),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jlayout_set_blocks(NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_set_blocks(&layout, EXTENTS(2, -1)), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jlayout_set_structure(NULL, JSTRUCTURE_GENERAL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_set_structure(&layout, JSTRUCTURE_SYMMETRIC_LOWER),
                   JSTATUS_INVALID_SIZE);
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
    JEXPECT_STATUS(jlayout_slice(NULL, pair, pair, NULL, &layout, &number),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_slice(&layout, NULL, EXTENTS(0, 0), NULL, &layout, &number),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_slice(&layout, EXTENTS(0, 0), NULL, NULL, &layout, &number),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_slice(&layout, EXTENTS(0, 0), EXTENTS(0, 0), NULL, NULL, &number),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jlayout_slice(&layout, EXTENTS(0, 0), EXTENTS(0, 0), NULL, &layout, NULL),
                   JSTATUS_INVALID_POINTER);
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
    JEXPECT_STATUS(jlayout_get_offset(&layout, EXTENTS(0, 0, INT64_MAX), &offset),
                   JSTATUS_INVALID_VALUE);
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
