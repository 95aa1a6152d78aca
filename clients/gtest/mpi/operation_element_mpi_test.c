/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Copy, fill, scale and norm on buffers of all kinds. */

#include "mpi_operation.h"

typedef struct grid_case {
    int ranks, grid[2], type;
} grid_case_t;
static const grid_case_t grids[] = {{1, {1, 1}, JDATATYPE_F64},   {4, {2, 2}, JDATATYPE_F32},
                                    {4, {2, 2}, JDATATYPE_F64_C}, {4, {1, 4}, JDATATYPE_F64},
                                    {4, {1, 1}, JDATATYPE_F32_C}, {6, {3, 2}, JDATATYPE_F64_C},
                                    {6, {2, 2}, JDATATYPE_F32}};

/* Every place with every structure, in turn. */
static void draw(int64_t round, place_t *place, jstructure_t *structure, int64_t *m, int64_t *n) {
    *place = (place_t)(round % PLACE_COUNT);
    *structure = operation_structures[round / PLACE_COUNT % 7];
    *m = jtest_random_between(0, 20);
    *n = *structure != JSTRUCTURE_GENERAL ? *m : jtest_random_between(-1, 20);
}

JMPI_TEST_P(OperationMpi, FillAndScale, grid_case_t, grids) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, (jdatatype_t)param->type, param->grid);
    for (int64_t round = 0; round < jtest_iterations(7 * PLACE_COUNT); round++) {
        place_t place;
        jstructure_t structure;
        int64_t m, n;
        draw(round, &place, &structure, &m, &n);
        const bool hermitian = /* real, so that the diagonal stays real */
            structure == JSTRUCTURE_HERMITIAN_UPPER || structure == JSTRUCTURE_HERMITIAN_LOWER;
        const scalar_t factor = scalar_of(world.type, 2, hermitian ? 0 : -1),
                       value = scalar_of(world.type, 0.5, hermitian ? 0 : 3);
        placed_t x;
        placed_make(&x, &world, place, true, m, n, structure, false);
        JSCOPED_TRACE("place %d, structure %d, %ld x %ld", (int)place, (int)structure, (long)m,
                      (long)n);
        wide_matrix_t expected = wide_zeros(&world.arena, m, n < 0 ? 1 : n);
        wide_add(scalar_value(world.type, &factor), operand_value(&world.arena, &x.local),
                 expected);
        JEXPECT_OK(jhandle_seal(world.handle)); /* neither takes workspace */
        JEXPECT_OK(jbuffer_scale(world.handle, &factor, x.view));
        placed_expect(&world, &x, expected, 4);
        const bool zero = jtest_random_bool();
        JEXPECT_OK(jbuffer_fill(world.handle, x.view, zero ? NULL : &value));
        for (int64_t i = 0; i < expected.rows * expected.columns; i++)
            expected.e[i] = zero ? 0 : scalar_value(world.type, &value);
        placed_expect(&world, &x, expected, 0);
        JEXPECT_OK(jhandle_unseal(world.handle));
        placed_free(&x);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}

JMPI_TEST_P(OperationMpi, Norm, grid_case_t, grids) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, (jdatatype_t)param->type, param->grid);
    for (int64_t round = 0; round < jtest_iterations(7 * PLACE_COUNT); round++) {
        place_t place;
        jstructure_t structure;
        int64_t m, n;
        draw(round, &place, &structure, &m, &n);
        placed_t x;
        placed_make(&x, &world, place, true, m, n, structure, false);
        for (int norm = 0; norm < 4; norm++) {
            JSCOPED_TRACE("norm %d, place %d, structure %d, %ld x %ld", norm, (int)place,
                          (int)structure, (long)m, (long)n);
            double wanted = -1, result = -1;
            JEXPECT_OK(jbuffer_norm(world.handle, (jnorm_t)norm, x.local.view, &wanted));
            JEXPECT_OK(jhandle_start_size_query(world.handle));
            JEXPECT_FALSE(
                jstatus_is_error(jbuffer_norm(world.handle, (jnorm_t)norm, x.view, &result)));
            JEXPECT_EQ(result, -1.0);
            mpi_give_exactly(&world);
            JEXPECT_OK(jbuffer_norm(world.handle, (jnorm_t)norm, x.view, &result));
            mpi_give_any(&world);
            JEXPECT_NEAR(result, wanted, 1e-12 * (wanted + 1));
        }
        placed_free(&x);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}

JMPI_TEST_P(OperationMpi, CopyBetweenAnyTwoPlaces, grid_case_t, grids) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, (jdatatype_t)param->type, param->grid);
    for (int64_t round = 0; round < jtest_iterations(PLACE_COUNT * PLACE_COUNT); round++) {
        const place_t from = (place_t)(round % PLACE_COUNT),
                      to = (place_t)(round / PLACE_COUNT % PLACE_COUNT);
        const jstructure_t structure = operation_structures[jtest_random_between(0, 6)];
        const int64_t m = jtest_random_between(0, 20),
                      n = structure != JSTRUCTURE_GENERAL ? m : jtest_random_between(-1, 20);
        placed_t a, b;
        placed_make(&a, &world, from, to == PLACE_LOCAL, m, n, structure, false);
        placed_make(&b, &world, to, true, m, n,
                    jtest_random_bool() ? structure : JSTRUCTURE_GENERAL, false);
        JSCOPED_TRACE("from %d to %d, structures %d -> %d, %ld x %ld", (int)from, (int)to,
                      (int)structure, (int)b.local.layout.structure, (long)m, (long)n);
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(jstatus_is_error(jbuffer_copy(world.handle, b.view, a.view)));
        mpi_give_exactly(&world);
        JEXPECT_OK(jbuffer_copy(world.handle, b.view, a.view));
        mpi_give_any(&world);
        placed_expect(&world, &b, operand_value(&world.arena, &a.local), 0);
        placed_free(&a);
        placed_free(&b);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}
