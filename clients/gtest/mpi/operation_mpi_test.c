/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Operations on buffers of several processes: each on every grid, with blocks that do not divide,
 * views as operands, and operands of all kinds mixed; against the textbook's loops, on a handle
 * that has exactly what its query said. */

#include "mpi_operation.h"

#include <stdio.h>

typedef struct grid_case {
    int ranks, grid[2], type;
} grid_case_t;

/* Each type on each shape or its neighbour; in the last four cases some processes are in no
 * grid. */
static const grid_case_t grids[] = {
    {1, {1, 1}, JDATATYPE_F32},   {1, {1, 1}, JDATATYPE_F64},   {1, {1, 1}, JDATATYPE_F32_C},
    {1, {1, 1}, JDATATYPE_F64_C}, {4, {2, 2}, JDATATYPE_F64},   {4, {2, 2}, JDATATYPE_F64_C},
    {4, {1, 4}, JDATATYPE_F32},   {4, {1, 4}, JDATATYPE_F64_C}, {6, {3, 2}, JDATATYPE_F64},
    {6, {3, 2}, JDATATYPE_F32_C}, {4, {1, 1}, JDATATYPE_F64},   {4, {1, 1}, JDATATYPE_F32_C},
    {6, {2, 2}, JDATATYPE_F32},   {6, {2, 2}, JDATATYPE_F64_C}};

static const jblas_operation_t operations[3] = {JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE,
                                                JBLAS_CONJUGATE_TRANSPOSE};
static jblas_operation_t any_operation(void) { return operations[jtest_random_between(0, 2)]; }
static jstructure_t any_structure(void) {
    return jtest_random_bool() ? JSTRUCTURE_GENERAL
                               : operation_structures[jtest_random_between(0, 6)];
}
static place_t any_place(void) { return (place_t)jtest_random_between(0, PLACE_COUNT - 1); }

/* Half of the rounds on the grid alone, the rest mixed; then at least one operand is not local. */
static void draw_places(int64_t round, size_t count, place_t *places) {
    for (size_t i = 0; i < count; i++)
        places[i] = round % 2 ? PLACE_GRID : any_place();
    if (round % 2 == 0)
        places[jtest_random_between(0, (int64_t)count - 1)] =
            (place_t)jtest_random_between(1, PLACE_COUNT - 1);
}

/* ---- Product ---- */

JMPI_TEST_P(OperationMpi, Product, grid_case_t, grids) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, (jdatatype_t)param->type, param->grid);
    for (int64_t round = 0; round < jtest_iterations(14); round++) {
        const jstructure_t structures[2] = {any_structure(), any_structure()};
        const jblas_operation_t op[2] = {any_operation(), any_operation()};
        int64_t m = jtest_random_between(0, 20), n = jtest_random_between(0, 20),
                k = jtest_random_between(0, 20);
        place_t places[3];
        draw_places(round, 3, places);
        m = structures[0] != JSTRUCTURE_GENERAL ? k : m;
        n = structures[1] != JSTRUCTURE_GENERAL ? k : n;
        const bool turn_a = op[0] != JBLAS_NO_TRANSPOSE, turn_b = op[1] != JBLAS_NO_TRANSPOSE;
        placed_t a, b, c;
        placed_make(&a, &world, places[0], false, turn_a ? k : m, turn_a ? m : k, structures[0],
                    false);
        placed_make(&b, &world, places[1], false, turn_b ? n : k, turn_b ? k : n, structures[1],
                    false);
        placed_make(&c, &world, places[2], false, m, n, JSTRUCTURE_GENERAL, false);
        const scalar_t alpha = scalar_random(world.type), beta = scalar_random(world.type),
                       zero = scalar_of(world.type, 0, 0);
        const wide_t wide_beta = scalar_value(world.type, &beta);
        JSCOPED_TRACE("%ld x %ld x %ld, operations %d %d, structures %d %d, places %d %d %d",
                      (long)m, (long)n, (long)k, (int)op[0], (int)op[1], (int)structures[0],
                      (int)structures[1], (int)places[0], (int)places[1], (int)places[2]);
        wide_matrix_t expected = wide_zeros(&world.arena, m, n),
                      product = wide_zeros(&world.arena, m, n);
        wide_multiply_add(scalar_value(world.type, &alpha),
                          wide_operate(&world.arena, operand_value(&world.arena, &a.local), op[0]),
                          wide_operate(&world.arena, operand_value(&world.arena, &b.local), op[1]),
                          product);
        if (wide_beta != 0)
            wide_add(wide_beta, operand_value(&world.arena, &c.local), expected);
        wide_multiply_add(scalar_value(world.type, &alpha),
                          wide_operate(&world.arena, operand_value(&world.arena, &a.local), op[0]),
                          wide_operate(&world.arena, operand_value(&world.arena, &b.local), op[1]),
                          expected);
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(jstatus_is_error(
            jbuffer_product(world.handle, op[0], op[1], &alpha, a.view, b.view, &beta, &c.view)));
        mpi_give_exactly(&world);
        JEXPECT_OK(
            jbuffer_product(world.handle, op[0], op[1], &alpha, a.view, b.view, &beta, &c.view));
        mpi_give_any(&world);
        placed_expect(&world, &c, expected, 8 * (long double)(k + 4));

        /* Into a new one, where the table says. Local ones among themselves have no others to
         * ask. */
        jbuffer_t *made = NULL;
        if (places[0] != PLACE_LOCAL || places[1] != PLACE_LOCAL) {
            JEXPECT_OK(
                jbuffer_product(world.handle, op[0], op[1], &alpha, a.view, b.view, &zero, &made));
            JMPI_ASSERT_TRUE(made != NULL);
            const int64_t sizes[2] = {m * k, k * n};
            JEXPECT_TRUE(is_placed(&world, made, highest(2, places, sizes)));
            made_expect(&world, made, product, 8 * (long double)(k + 4));
        }
        JEXPECT_OK(jbuffer_release(made));
        placed_free(&a);
        placed_free(&b);
        placed_free(&c);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}

/* ---- Triangular solve ---- */

JMPI_TEST_P(OperationMpi, SolveTriangular, grid_case_t, grids) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, (jdatatype_t)param->type, param->grid);
    for (int64_t round = 0; round < jtest_iterations(14); round++) {
        const jblas_operation_t operation = any_operation();
        const jblas_side_t side = jtest_random_bool() ? JBLAS_LEFT : JBLAS_RIGHT;
        const jblas_diagonal_t diagonal = jtest_random_bool() ? JBLAS_UNIT : JBLAS_NON_UNIT;
        const jstructure_t structure =
            jtest_random_bool() ? JSTRUCTURE_TRIANGULAR_UPPER : JSTRUCTURE_TRIANGULAR_LOWER;
        const int64_t m = jtest_random_between(0, 24), n = jtest_random_between(0, 24),
                      order = side == JBLAS_LEFT ? m : n;
        const scalar_t alpha = scalar_random(world.type);
        place_t places[2];
        draw_places(round, 2, places);
        placed_t a, b;
        placed_make(&a, &world, places[0], false, order, order, structure, false);
        placed_make(&b, &world, places[1], false, m, n, JSTRUCTURE_GENERAL, false);
        JSCOPED_TRACE("%ld x %ld, side %d, operation %d, structure %d, places %d %d", (long)m,
                      (long)n, (int)side, (int)operation, (int)structure, (int)places[0],
                      (int)places[1]);
        wide_matrix_t triangle = operand_value(&world.arena, &a.local),
                      right = wide_zeros(&world.arena, m, n);
        *(structure == JSTRUCTURE_TRIANGULAR_UPPER ? &triangle.below : &triangle.above) = 0;
        for (int64_t i = 0; i < order && diagonal == JBLAS_UNIT; i++)
            *wide_at(triangle, i, i) = 1;
        triangle = wide_operate(&world.arena, triangle, operation);
        wide_add(scalar_value(world.type, &alpha), operand_value(&world.arena, &b.local), right);
        if (side == JBLAS_LEFT) {
            wide_solve(triangle, right);
        } else {
            right = wide_operate(&world.arena, right, JBLAS_TRANSPOSE);
            wide_solve(wide_operate(&world.arena, triangle, JBLAS_TRANSPOSE), right);
            right = wide_operate(&world.arena, right, JBLAS_TRANSPOSE);
        }
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(jstatus_is_error(jbuffer_solve_triangular(world.handle, side, operation,
                                                                diagonal, &alpha, a.view, b.view)));
        mpi_give_exactly(&world);
        JEXPECT_OK(jbuffer_solve_triangular(world.handle, side, operation, diagonal, &alpha, a.view,
                                            b.view));
        mpi_give_any(&world);
        placed_expect(&world, &b, right, 64 * (long double)(order + 4));
        placed_free(&a);
        placed_free(&b);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}

/* ---- Solve by LU ---- */

/* Element (i, j) of a placed operand becomes a number, here and there. */
static void placed_set(mpi_world_t *world, placed_t *a, int64_t i, int64_t j, double value) {
    const scalar_t number = scalar_of(world->type, value, 0);
    wide_put(operand_at(&a->local, i, j), world->type, 0, value);
    JEXPECT_OK(jbuffer_set(a->view, (const int64_t[]){i, j}, &number));
}

/* B is A X, rounded, by the library; X comes back. A's large elements stand where rows are
 * exchanged. */
JMPI_TEST_P(OperationMpi, Solve, grid_case_t, grids) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, (jdatatype_t)param->type, param->grid);
    const scalar_t one = scalar_of(world.type, 1, 0), zero = scalar_of(world.type, 0, 0);
    for (int64_t round = 0; round < jtest_iterations(14); round++) {
        const int64_t n = jtest_random_between(0, 24), columns = jtest_random_between(0, 9);
        const bool fails = n > 0 && round % 4 == 3;
        place_t places[2];
        draw_places(round, 2, places);
        placed_t a, b, x;
        placed_make(&a, &world, places[0], false, n, n,
                    fails ? JSTRUCTURE_TRIANGULAR_UPPER : JSTRUCTURE_GENERAL, false);
        placed_make(&b, &world, places[1], false, n, columns, JSTRUCTURE_GENERAL, false);
        placed_make(&x, &world, places[1], false, n, columns, JSTRUCTURE_GENERAL, false);
        JSCOPED_TRACE("order %ld, %ld columns, places %d %d%s", (long)n, (long)columns,
                      (int)places[0], (int)places[1], fails ? ", singular" : "");
        const int64_t bad = fails ? jtest_random_between(0, n - 1) : 0;
        for (int64_t i = 0; i < n; i++)
            placed_set(&world, &a, fails ? i : (i + 1) % n, i,
                       fails && i == bad ? 0 : (double)(2 * n + 1));
        MPI_Barrier(mpi->communicator);
        wide_matrix_t solution = operand_value(&world.arena, &x.local);
        for (int64_t i = 0; i < n * columns; i++)
            solution.bound[i] = 1;
        JEXPECT_OK(jbuffer_product(world.handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, &one,
                                   a.view, x.view, &zero, &b.view));
        JEXPECT_OK(jbuffer_copy(world.handle, x.view, b.view));
        int64_t info = -1;
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(jstatus_is_error(jbuffer_solve(world.handle, a.view, b.view, &info)));
        JEXPECT_EQ(info, -1);
        mpi_give_exactly(&world);
        JEXPECT_OK(jbuffer_solve(world.handle, a.view, b.view, &info));
        mpi_give_any(&world);
        JEXPECT_EQ(info, fails ? bad + 1 : 0);
        if (!fails) {
            placed_expect(&world, &b, solution, 64 * (long double)(n + 4));
            if (places[0] != PLACE_LOCAL || mpi->rank == 0) /* whose it is */
                placed_expect(&world, &a, operand_value(&world.arena, &a.local), 0);
        } else { /* as it was */
            double norm = -1;
            const scalar_t minus = scalar_of(world.type, -1, 0);
            JEXPECT_OK(jbuffer_add(world.handle, &one, b.view, &minus, x.view, &x.view));
            JEXPECT_OK(jbuffer_norm(world.handle, JNORM_MAX, x.view, &norm));
            if (places[1] != PLACE_LOCAL || mpi->rank == 0)
                JEXPECT_EQ(norm, 0.0);
        }
        placed_free(&a);
        placed_free(&b);
        placed_free(&x);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}

/* A's factor lies where A lay; B, and what is asked of it, differ. */
JMPI_TEST_P(OperationMpi, SolveByAFactor, grid_case_t, grids) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, (jdatatype_t)param->type, param->grid);
    const scalar_t one = scalar_of(world.type, 1, 0), zero = scalar_of(world.type, 0, 0);
    for (int64_t round = 0; round < jtest_iterations(14); round++) {
        const int64_t n = jtest_random_between(0, 24), columns = jtest_random_between(0, 9);
        const jblas_operation_t operation = operations[round % 3];
        place_t places[2];
        draw_places(round, 2, places);
        placed_t a, b, x;
        placed_make(&a, &world, places[0], false, n, n, JSTRUCTURE_GENERAL, false);
        placed_make(&b, &world, places[1], false, n, columns, JSTRUCTURE_GENERAL, false);
        placed_make(&x, &world, places[1], false, n, columns, JSTRUCTURE_GENERAL, false);
        JSCOPED_TRACE("order %ld, %ld columns, places %d %d, operation %d", (long)n, (long)columns,
                      (int)places[0], (int)places[1], (int)operation);
        for (int64_t i = 0; i < n; i++)
            placed_set(&world, &a, (i + 1) % n, i, (double)(2 * n + 1));
        MPI_Barrier(mpi->communicator);
        wide_matrix_t solution = operand_value(&world.arena, &x.local);
        for (int64_t i = 0; i < n * columns; i++)
            solution.bound[i] = 1;
        JEXPECT_OK(jbuffer_product(world.handle, operation, JBLAS_NO_TRANSPOSE, &one, a.view,
                                   x.view, &zero, &b.view));

        int64_t info = -1, pivots[24];
        JEXPECT_OK(jbuffer_lu(world.handle, a.view, pivots, &info));
        JEXPECT_EQ(info, 0);
        if (places[0] == PLACE_LOCAL) /* those of rank 0, whose factor counts */
            MPI_Bcast(pivots, (int)n, MPI_INT64_T, 0, mpi->communicator);
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(
            jstatus_is_error(jbuffer_lu_solve(world.handle, operation, a.view, NULL, b.view)));
        mpi_give_exactly(&world);
        JEXPECT_OK(jbuffer_lu_solve(world.handle, operation, a.view, pivots, b.view));
        mpi_give_any(&world);
        placed_expect(&world, &b, solution, 64 * (long double)(n + 4));
        placed_free(&a);
        placed_free(&b);
        placed_free(&x);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}

/* ---- Cholesky ---- */

JMPI_TEST_P(OperationMpi, Cholesky, grid_case_t, grids) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, (jdatatype_t)param->type, param->grid);
    for (int64_t round = 0; round < jtest_iterations(10); round++) {
        const int64_t n = jtest_random_between(0, 30);
        const bool upper = jtest_random_bool(), fails = n > 0 && round % 4 == 3;
        const jstructure_t structure =
            upper ? JSTRUCTURE_HERMITIAN_UPPER : JSTRUCTURE_HERMITIAN_LOWER;
        const place_t place =
            round % 2 ? PLACE_GRID : (place_t)jtest_random_between(1, PLACE_COUNT - 1);
        JSCOPED_TRACE("order %ld, structure %d, place %d%s", (long)n, (int)structure, (int)place,
                      fails ? ", not definite" : "");
        placed_t a;
        placed_make(&a, &world, place, false, n, n, structure, true);
        const int64_t bad = fails ? jtest_random_between(0, n - 1) : 0;
        if (fails) {
            const scalar_t negative = scalar_of(world.type, -1, 0);
            JEXPECT_OK(jbuffer_set(a.view, (const int64_t[]){bad, bad}, &negative));
            MPI_Barrier(mpi->communicator);
        }
        wide_matrix_t factor = operand_value(&world.arena, &a.local);
        JEXPECT_EQ(wide_cholesky(factor), 0);
        if (upper)
            factor = wide_operate(&world.arena, factor, JBLAS_CONJUGATE_TRANSPOSE);
        int64_t info = -1;
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(jstatus_is_error(jbuffer_cholesky(world.handle, a.view, &info)));
        JEXPECT_EQ(info, -1);
        mpi_give_exactly(&world);
        JEXPECT_OK(jbuffer_cholesky(world.handle, a.view, &info));
        mpi_give_any(&world);
        JEXPECT_EQ(info, fails ? bad + 1 : 0);
        if (!fails)
            placed_expect(&world, &a, factor, 64 * (long double)(n + 4) * (n + 4));
        placed_free(&a);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}

/* ---- Add and transpose ---- */

static jstructure_t other_triangle(jstructure_t structure) {
    return (jstructure_t)(structure % 2 ? (int)structure + 1 : (int)structure - 1);
}
static bool is_triangular(jstructure_t structure) {
    return structure == JSTRUCTURE_TRIANGULAR_UPPER || structure == JSTRUCTURE_TRIANGULAR_LOWER;
}
/* A structure that a matrix with this one has, too. */
static jstructure_t alike(jstructure_t structure) {
    if (jtest_random_bool())
        return JSTRUCTURE_GENERAL;
    if (structure == JSTRUCTURE_GENERAL || is_triangular(structure) || jtest_random_bool())
        return structure;
    return other_triangle(structure);
}

JMPI_TEST_P(OperationMpi, Add, grid_case_t, grids) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, (jdatatype_t)param->type, param->grid);
    for (int64_t round = 0; round < jtest_iterations(16); round++) {
        const jstructure_t first = any_structure(),
                           second = jtest_random_bool() ? first : any_structure();
        const bool square = first != JSTRUCTURE_GENERAL || second != JSTRUCTURE_GENERAL;
        const int64_t m = jtest_random_between(0, 20),
                      n = square ? m : jtest_random_between(-1, 20), width = n < 0 ? 1 : n;
        const scalar_t alpha = scalar_of(world.type, jtest_random_double(-2, 2), 0),
                       beta = scalar_of(world.type, (double)jtest_random_between(0, 2), 0);
        place_t places[3];
        draw_places(round, 3, places);
        placed_t a, b, c;
        placed_make(&a, &world, places[0], false, m, n, first, false);
        placed_make(&b, &world, places[1], false, m, n, second, false);
        placed_make(&c, &world, places[2], false, m, n,
                    first == second ? alike(first) : JSTRUCTURE_GENERAL, false);
        JSCOPED_TRACE("%ld x %ld, structures %d %d %d, places %d %d %d", (long)m, (long)n,
                      (int)first, (int)second, (int)c.local.layout.structure, (int)places[0],
                      (int)places[1], (int)places[2]);
        wide_matrix_t expected = wide_zeros(&world.arena, m, width);
        wide_add(scalar_value(world.type, &alpha), operand_value(&world.arena, &a.local), expected);
        wide_add(scalar_value(world.type, &beta), operand_value(&world.arena, &b.local), expected);
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(
            jstatus_is_error(jbuffer_add(world.handle, &alpha, a.view, &beta, b.view, &c.view)));
        mpi_give_exactly(&world);
        JEXPECT_OK(jbuffer_add(world.handle, &alpha, a.view, &beta, b.view, &c.view));
        mpi_give_any(&world);
        placed_expect(&world, &c, expected, 8);
        if (places[0] != PLACE_LOCAL || places[1] != PLACE_LOCAL) {
            placed_t *place = first == second && jtest_random_bool() ? &a
                              : second == JSTRUCTURE_GENERAL         ? &b
                                                                     : NULL;
            if (first == JSTRUCTURE_GENERAL && place == NULL)
                place = &a;
            jbuffer_t *result = place != NULL ? place->view : NULL;
            JEXPECT_OK(jbuffer_add(world.handle, &alpha, a.view, &beta, b.view, &result));
            JMPI_ASSERT_TRUE(result != NULL);
            made_expect(&world, result, expected, 8);
            if (place != NULL)
                placed_expect(&world, place, expected, 8);
            else
                JEXPECT_OK(jbuffer_release(result));
        }
        placed_free(&a);
        placed_free(&b);
        placed_free(&c);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}

/* x = alpha x + beta x. */
JMPI_TEST_P(OperationMpi, AddOfABufferToItself, grid_case_t, grids) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, (jdatatype_t)param->type, param->grid);
    for (int i = 0; i < 2; i++) {
        const scalar_t alpha = scalar_of(world.type, 3, 0),
                       beta = scalar_of(world.type, i ? -3 : 2, 0);
        placed_t x;
        placed_make(&x, &world, PLACE_GRID, false, 11, 11, operation_structures[i * 3], false);
        wide_matrix_t expected = wide_zeros(&world.arena, 11, 11);
        wide_add(i ? 0 : 5, operand_value(&world.arena, &x.local), expected);
        JEXPECT_OK(jbuffer_add(world.handle, &alpha, x.view, &beta, x.view, &x.view));
        placed_expect(&world, &x, expected, 8);
        placed_free(&x);
    }
    mpi_world_end(&world);
}

JMPI_TEST_P(OperationMpi, Transpose, grid_case_t, grids) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, (jdatatype_t)param->type, param->grid);
    for (int64_t round = 0; round < jtest_iterations(16); round++) {
        const jstructure_t structure = any_structure();
        const jblas_operation_t operation = any_operation();
        const bool turned = operation != JBLAS_NO_TRANSPOSE;
        const jstructure_t after =
            turned && is_triangular(structure) ? other_triangle(structure) : structure;
        const int64_t m = jtest_random_between(0, 20),
                      n = structure != JSTRUCTURE_GENERAL ? m : jtest_random_between(0, 20);
        place_t places[2];
        draw_places(round, 2, places);
        placed_t a, b;
        placed_make(&a, &world, places[0], false, m, n, structure, false);
        placed_make(&b, &world, places[1], false, turned ? n : m, turned ? m : n, alike(after),
                    false);
        JSCOPED_TRACE("%ld x %ld, operation %d, structures %d -> %d, places %d %d", (long)m,
                      (long)n, (int)operation, (int)structure, (int)b.local.layout.structure,
                      (int)places[0], (int)places[1]);
        const wide_matrix_t expected =
            wide_operate(&world.arena, operand_value(&world.arena, &a.local), operation);
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(
            jstatus_is_error(jbuffer_transpose(world.handle, operation, a.view, &b.view)));
        mpi_give_exactly(&world);
        JEXPECT_OK(jbuffer_transpose(world.handle, operation, a.view, &b.view));
        mpi_give_any(&world);
        placed_expect(&world, &b, expected, 1);
        if (places[0] != PLACE_LOCAL) {
            jbuffer_t *made = NULL;
            JEXPECT_OK(jbuffer_transpose(world.handle, operation, a.view, &made));
            JMPI_ASSERT_TRUE(made != NULL);
            JEXPECT_TRUE(is_placed(&world, made, places[0]));
            made_expect(&world, made, expected, 1);
            JEXPECT_OK(jbuffer_release(made));
        }
        placed_free(&a);
        placed_free(&b);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}
