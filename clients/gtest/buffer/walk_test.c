/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Walks through random layouts: each element that the first one stores is met once, at the offsets
 * that it has on every side, in lines or tiles; what joins is one line. */

#include "buffer_reference.h"

#include "buffer/walk.h"

#include <stdlib.h>

#define WALK_MOST 400 /* elements of a layout */

/* How often the element at each offset of the first side was met, and where it was on the
 * others. */
typedef struct met {
    int sides;
    int64_t *times, *others;
} met_t;

static met_t met_make(const jlayout_t *first, int sides) {
    const size_t span = (size_t)reference_span(first) + 1;
    return (met_t){sides, calloc(span, sizeof(int64_t)),
                   calloc(span * JI_WALK_SIDES, sizeof(int64_t))};
}

static void met_end(met_t *met) {
    free(met->times);
    free(met->others);
}

static void met_tile(met_t *met, const ji_walk_t *walk, int inner) {
    const ji_walk_dimension_t *d0 = &walk->dimensions[0], *d1 = &walk->dimensions[1];
    for (int64_t j = 0; j < (inner == 2 ? d1->extent : 1); ++j)
        for (int64_t i = 0; i < walk->count; ++i) {
            const int64_t at =
                walk->at[0] + i * d0->strides[0] + (inner == 2 ? j * d1->strides[0] : 0);
            ++met->times[at];
            for (int s = 1; s < met->sides; ++s)
                met->others[at * JI_WALK_SIDES + s] =
                    walk->at[s] + i * d0->strides[s] + (inner == 2 ? j * d1->strides[s] : 0);
        }
}

static void check_met(const met_t *met, const jlayout_t *const layouts[]) {
    int64_t stored = 0, times = 0;
    for (int64_t n = 0; n < reference_count(layouts[0]); ++n) {
        int64_t indices[JLAYOUT_MAX_RANK];
        reference_indices(layouts[0], n, indices);
        if (!reference_is_stored(layouts[0], indices))
            continue;
        const int64_t at = reference_offset(layouts[0], indices);
        ++stored;
        JASSERT_EQ(met->times[at], 1);
        for (int s = 1; s < met->sides; ++s)
            JASSERT_EQ(met->others[at * JI_WALK_SIDES + s], reference_offset(layouts[s], indices));
    }
    for (int64_t at = 0; at < reference_span(layouts[0]); ++at)
        times += met->times[at];
    JEXPECT_EQ(times, stored);
}

JTEST(Walk, EveryStoredElementIsMetOnceOnEverySide) {
    for (int64_t n = 0; n < jtest_iterations(2000); ++n) {
        const bool structured = jtest_random_between(0, 1) == 1;
        const int sides = (int)jtest_random_between(1, JI_WALK_SIDES);
        const int rank = structured ? 2 : (int)jtest_random_between(0, JLAYOUT_MAX_RANK);
        const int inner = structured ? 1 : (int)jtest_random_between(1, 2);
        int64_t extents[JLAYOUT_MAX_RANK];
        reference_random_extents(rank, WALK_MOST, extents);
        if (structured)
            extents[0] = extents[1] = jtest_random_between(0, 20);
        jlayout_t made[JI_WALK_SIDES];
        const jlayout_t *layouts[JI_WALK_SIDES];
        for (int s = 0; s < sides; ++s) {
            made[s] = reference_random_layout(rank, extents);
            layouts[s] = &made[s];
        }
        if (structured)
            made[0].structure = (jstructure_t)jtest_random_between(0, JSTRUCTURE_TRIANGULAR_LOWER);
        met_t met = met_make(layouts[0], sides);
        ji_walk_t walk;
        ji_walk_layouts(&walk, sides, layouts);
        for (ji_walk_begin(&walk, inner); ji_walk_next(&walk);)
            met_tile(&met, &walk, inner);
        check_met(&met, layouts);
        met_end(&met);
    }
}

JTEST(Walk, ColumnsSayWhichRowsTheyAre) {
    for (int64_t n = 0; n < jtest_iterations(1000); ++n) {
        int64_t extents[JLAYOUT_MAX_RANK], column = -1;
        const int rank = (int)jtest_random_between(0, 2);
        const bool structured = rank == 2 && jtest_random_between(0, 1) == 1;
        reference_random_extents(rank, WALK_MOST, extents);
        if (structured)
            extents[0] = extents[1];
        jlayout_t layout = reference_random_layout(rank, extents);
        const jlayout_t *layouts[] = {&layout};
        if (structured)
            layout.structure = (jstructure_t)jtest_random_between(0, JSTRUCTURE_TRIANGULAR_LOWER);
        met_t met = met_make(&layout, 1);
        ji_walk_t walk;
        ji_walk_columns(&walk, &layout);
        for (ji_walk_begin(&walk, 1); ji_walk_next(&walk);) {
            const int64_t indices[JLAYOUT_MAX_RANK] = {walk.first, walk.index[1]};
            JEXPECT_EQ(walk.index[1], ++column);
            JEXPECT_EQ(walk.at[0], reference_offset(&layout, indices));
            met_tile(&met, &walk, 1);
        }
        check_met(&met, layouts);
        met_end(&met);
    }
}

JTEST(Walk, WhatLiesWithoutAGapIsOneLine) {
    const int64_t extents[3] = {3, 2, 4};
    jlayout_t to, from;
    ji_walk_t walk;
    JASSERT_OK(jlayout_init(&to, 3, extents, JORDER_COLUMN_MAJOR));
    from = to;
    to.strides[2] = 8;
    for (int d = 0; d < 3; ++d)
        from.strides[d] *= 2;
    ji_walk_layouts(&walk, 2, (const jlayout_t *const[]){&to, &from});
    JEXPECT_EQ(walk.rank, 2);
    JEXPECT_EQ(walk.dimensions[0].extent, 6);
    JEXPECT_EQ(walk.dimensions[0].strides[1], 2);
    JEXPECT_EQ(walk.dimensions[1].strides[0], 8);
    JEXPECT_EQ(walk.dimensions[1].strides[1], 12);
}
