/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The arithmetic of block-cyclic distributions against blocks that are distributed one by one. */

#include "jtest.h"

#include "jalloc/layout.h"

JTEST(Distribution, IsTheDealingOfBlocksInTurn) {
    for (int64_t round = jtest_iterations(300); round > 0; --round) {
        const int dimension = jtest_random_bool();
        jdistribution_t d = {{1, 1}, {1, 1}, {1, 1}, {0, 0}};
        d.extents[dimension] = jtest_random_between(0, 200);
        d.blocks[dimension] = jtest_random_between(1, 20);
        d.grid[dimension] = (int)jtest_random_between(1, 7);
        int64_t held[8] = {0};
        int dealer = 0;
        for (int64_t begin = 0; begin < d.extents[dimension]; begin += d.blocks[dimension]) {
            for (int64_t i = begin; i < begin + d.blocks[dimension] && i < d.extents[dimension];
                 ++i) {
                JASSERT_EQ(jdistribution_owner(&d, dimension, i), dealer);
                JASSERT_EQ(jdistribution_to_local(&d, dimension, i), held[dealer]);
                JASSERT_EQ(jdistribution_to_global(&d, dimension, dealer, held[dealer]), i);
                held[dealer]++;
                for (int coordinate = 0; coordinate < d.grid[dimension]; ++coordinate)
                    JASSERT_EQ(jdistribution_local_count(&d, dimension, coordinate, i + 1),
                               held[coordinate]);
            }
            dealer = (dealer + 1) % d.grid[dimension];
        }
        for (int coordinate = 0; coordinate < d.grid[dimension]; ++coordinate) {
            JEXPECT_EQ(jdistribution_local_count(&d, dimension, coordinate, d.extents[dimension]),
                       held[coordinate]);
            JEXPECT_EQ(jdistribution_local_count(&d, dimension, coordinate, 0), 0);
        }
        JEXPECT_EQ(jdistribution_local_count(&d, dimension, -1, d.extents[dimension]), 0);
    }
}

JTEST(Distribution, TheDrawingOfTheHeaderIsTrue) {
    const jdistribution_t d = {{5, 9}, {2, 2}, {2, 2}, {0, 0}};
    static const char *const drawing[] = {
        "00 00 01 01 00 00 01 01 00", "00 00 01 01 00 00 01 01 00", "10 10 11 11 10 10 11 11 10",
        "10 10 11 11 10 10 11 11 10", "00 00 01 01 00 00 01 01 00"};
    for (int64_t i = 0; i < 5; ++i)
        for (int64_t j = 0; j < 9; ++j) {
            JEXPECT_EQ(jdistribution_owner(&d, 0, i), drawing[i][3 * j] - '0');
            JEXPECT_EQ(jdistribution_owner(&d, 1, j), drawing[i][3 * j + 1] - '0');
        }
    JEXPECT_EQ(jdistribution_local_count(&d, 0, 0, 5), 3);
    JEXPECT_EQ(jdistribution_local_count(&d, 1, 0, 9), 5);
    JEXPECT_EQ(jdistribution_local_count(&d, 1, 1, 9), 4);
}
