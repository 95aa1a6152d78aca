/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_LAYOUT_HELPER_H
#define JALLOC_CLIENTS_GTEST_LAYOUT_HELPER_H

/* What the tests of layouts share: random ones, and lists of their elements by naive
 * enumeration. */

#include "jtest.h"

#include "jalloc/layout.h"

#define MOST 4096 /* elements of a random layout */
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])
#define EXTENTS(...) ((const int64_t[]){__VA_ARGS__})

static inline void random_extents(int rank, int64_t *extents, int64_t most) {
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

static inline void random_order(int rank, int *order) {
    for (int d = 0; d < rank; ++d)
        order[d] = d;
    for (int d = rank - 1; d > 0; --d) {
        const int other = (int)jtest_random_between(0, d), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
}

/* Any rank, packed or with gaps, the dimensions in any order; perhaps blocks, perhaps a
 * structure. */
static inline jlayout_t random_layout(void) {
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

static inline int64_t naive_count(const jlayout_t *layout) {
    int64_t count = 1;
    for (int d = 0; d < layout->rank; ++d)
        count *= layout->extents[d];
    return count;
}

/* The indices of the number-th element, the first index fastest. */
static inline void naive_indices(const jlayout_t *layout, int64_t number, int64_t *indices) {
    for (int d = 0; d < layout->rank; ++d) {
        indices[d] = number % layout->extents[d];
        number /= layout->extents[d];
    }
}

#endif
