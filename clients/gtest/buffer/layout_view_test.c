/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Slices, permutations and blocks of layouts. A layout that was built by slicing and permuting must
 * say of each element what a plain list of places, made by naive enumeration, says. */

#include "layout_helper.h"

#include <limits.h>
#include <string.h>

/* ---- Slices and permutations ---- */

/* Which elements of a root layout a view shows: for each of its dimensions that of the root, and a
 * list of indices. */
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
        JEXPECT_STATUS(jlayout_slice(&layout, cases[i].starts, cases[i].extents, cases[i].steps,
                                     &slice, &offset),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_SUBSTR(jstatus_last_message(), cases[i].message);
    }
    JEXPECT_TRUE(offset == 7 && memcmp(&slice, &before, sizeof slice) == 0);
    /* The step of a single element goes nowhere; nothing at the end is something; and what is empty
     * begins at 0. */
    JEXPECT_OK(jlayout_slice(&layout, EXTENTS(4, 6), EXTENTS(1, 1), EXTENTS(INT64_MAX, INT64_MAX),
                             &slice, &offset));
    JEXPECT_EQ(offset, 34);
    JEXPECT_OK(jlayout_check(&slice));
    JEXPECT_OK(jlayout_slice(&layout, EXTENTS(5, 7), EXTENTS(0, 0), NULL, &slice, &offset));
    JEXPECT_EQ(offset, 0);
    JEXPECT_OK(jlayout_slice(&layout, EXTENTS(4, 7), EXTENTS(1, 0), NULL, &slice, &offset));
    JEXPECT_EQ(offset, 0);
    /* Without elements strides may be anything, and are left alone. */
    jlayout_t wide = {.rank = 2, .extents = {0, INT64_MAX}, .strides = {1, INT64_MAX}};
    JEXPECT_OK(jlayout_slice(&wide, EXTENTS(0, 5), EXTENTS(0, 2), EXTENTS(1, (int64_t)1 << 60),
                             &slice, &offset));
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
        JASSERT_OK(
            jlayout_slice(&layout, EXTENTS(1, 1), EXTENTS(3, 3), EXTENTS(2, 2), &slice, &offset));
        JEXPECT_EQ(slice.structure, structure);
        JASSERT_OK(
            jlayout_slice(&layout, EXTENTS(1, 1), EXTENTS(2, 2), EXTENTS(2, 1), &slice, &offset));
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
        JEXPECT_STATUS(jlayout_permute(&layout, (const int[]){1, 0}, &permuted),
                       JSTATUS_INVALID_VALUE);
        JASSERT_OK(jlayout_permute(&layout, (const int[]){0, 1}, &permuted));
        JEXPECT_TRUE(jlayout_equal(&layout, &permuted));
    }
    static const int wrong[][2] = {{0, 0}, {1, 1}, {0, 2}, {-1, 0}, {1, INT_MAX}};
    const jlayout_t before = permuted;
    for (size_t i = 0; i < COUNT_OF(wrong); ++i)
        JEXPECT_STATUS(jlayout_permute(&layout, wrong[i], &permuted), JSTATUS_INVALID_VALUE);
    JEXPECT_TRUE(jlayout_equal(&before, &permuted));
}

/* ---- Blocks ---- */

JTEST(Layout, BlocksCoverEveryElementOnce) {
    static unsigned char covered[MOST];
    for (int64_t round = jtest_iterations(400); round > 0; --round) {
        const jlayout_t layout = random_layout();
        const int64_t elements = naive_count(&layout);
        int64_t blocks, starts[JLAYOUT_MAX_RANK], extents[JLAYOUT_MAX_RANK],
            before[JLAYOUT_MAX_RANK] = {0};
        JASSERT_LE(elements, MOST);
        memset(covered, 0, sizeof covered);
        JASSERT_OK(jlayout_get_block_count(&layout, &blocks));
        JEXPECT_EQ(blocks == 0, elements == 0);
        for (int64_t number = 0; number < blocks; ++number) {
            jlayout_t block = {.rank = layout.rank};
            JASSERT_OK(jlayout_get_block(&layout, number, starts, extents));
            memcpy(block.extents, extents, sizeof extents);
            for (int d = 0; d < layout.rank; ++d) {
                JASSERT_TRUE(starts[d] >= 0 && extents[d] >= 1 &&
                             starts[d] + extents[d] <= layout.extents[d]);
                JASSERT_TRUE(layout.blocks[d] != 0 ? starts[d] % layout.blocks[d] == 0
                                                   : starts[d] == 0);
            }
            /* Numbered column-major: seen from the slowest dimension, starts grow from one block to
             * the next. */
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
