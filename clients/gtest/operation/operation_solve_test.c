/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Triangular solves, solves by LU and Cholesky factorizations of local buffers. */

#include "operation_helper.h"

static const jblas_operation_t operations[3] = {JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE,
                                                JBLAS_CONJUGATE_TRANSPOSE};

/* ---- Triangular solve ---- */

/* The whole triangle, with its diagonal as the call takes it. */
static wide_matrix_t triangle_value(wide_arena_t *arena, const operand_t *a,
                                    jblas_diagonal_t diagonal) {
    wide_matrix_t value = operand_value(arena, a);
    *(a->layout.structure == JSTRUCTURE_TRIANGULAR_UPPER ? &value.below : &value.above) = 0;
    for (int64_t i = 0; i < value.rows && diagonal == JBLAS_UNIT; i++)
        *wide_at(value, i, i) = 1;
    return value;
}

static void solve_is_right(operation_world_t *world, jblas_side_t side, jblas_operation_t operation,
                           jblas_diagonal_t diagonal, jstructure_t structure, int64_t most) {
    const int64_t m = jtest_random_between(0, most), n = jtest_random_between(0, most),
                  order = side == JBLAS_LEFT ? m : n;
    operand_t a, b;
    operand_make(&a, world->allocator, order, order, random_storage(), structure);
    operand_make(&b, world->allocator, m, side == JBLAS_LEFT && n == 1 ? -1 : n, random_storage(),
                 JSTRUCTURE_GENERAL);
    const scalar_t alpha = scalar_random(a.type);
    JSCOPED_TRACE("%s, operation %d, %s, structure %d, %ld x %ld",
                  side == JBLAS_LEFT ? "left" : "right", (int)operation,
                  diagonal == JBLAS_UNIT ? "unit" : "non-unit", (int)structure, (long)m, (long)n);
    wide_matrix_t right = wide_zeros(&world->arena, m, n);
    right.real = !wide_is_complex(a.type);
    wide_add(scalar_value(a.type, &alpha), operand_value(&world->arena, &b), right);
    const wide_matrix_t triangle =
        wide_operate(&world->arena, triangle_value(&world->arena, &a, diagonal), operation);
    if (side == JBLAS_LEFT) {
        wide_solve(triangle, right);
    } else { /* X op(A) = B as op(A)^T X^T = B^T */
        right = wide_operate(&world->arena, right, JBLAS_TRANSPOSE);
        wide_solve(wide_operate(&world->arena, triangle, JBLAS_TRANSPOSE), right);
        right = wide_operate(&world->arena, right, JBLAS_TRANSPOSE);
    }
    JEXPECT_OK(jhandle_start_size_query(world->handle));
    JEXPECT_FALSE(jstatus_is_error(jbuffer_solve_triangular(world->handle, side, operation,
                                                            diagonal, &alpha, a.view, b.view)));
    operand_expect_unchanged(&b);
    operation_give_exactly(world->handle, true);
    JEXPECT_OK(
        jbuffer_solve_triangular(world->handle, side, operation, diagonal, &alpha, a.view, b.view));
    operation_give_any(world->handle);
    operand_expect(&b, right, 32 * (long double)(order + 4));
    operand_expect_unchanged(&a);
    operand_free(&a);
    operand_free(&b);
}

JTEST_P(OperationSolve, EveryWay, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (int64_t round = jtest_iterations(10); round > 0; round--)
        for (int way = 0; way < 24 && !jtest_has_failure(); way++)
            solve_is_right(&world, way % 2 ? JBLAS_LEFT : JBLAS_RIGHT, operations[way / 2 % 3],
                           way / 6 % 2 ? JBLAS_UNIT : JBLAS_NON_UNIT,
                           way / 12 ? JSTRUCTURE_TRIANGULAR_UPPER : JSTRUCTURE_TRIANGULAR_LOWER,
                           round == 1 ? 150 : 8);
    operation_end(&world);
}

/* ---- Solve by LU ---- */

/* Large elements make A well conditioned; of a general one they stand where rows are exchanged. */
static void make_regular(operand_t *a) {
    const int64_t n = a->layout.extents[0];
    for (int64_t i = 0; i < n; i++)
        wide_put(operand_at(a, a->layout.structure == JSTRUCTURE_GENERAL ? (i + 1) % n : i, i),
                 a->type, 0, (long double)(2 * n + i % 3));
    operand_keep(a);
}

/* B becomes A X, where it lies; X is what it was. */
static wide_matrix_t make_right_sides(operation_world_t *world, wide_matrix_t a, operand_t *b) {
    wide_matrix_t solution = operand_value(&world->arena, b),
                  right = wide_zeros(&world->arena, solution.rows, solution.columns);
    right.real = solution.real;
    wide_multiply_add(1, a, solution, right);
    for (int64_t j = 0; j < right.columns; j++)
        for (int64_t i = 0; i < right.rows; i++)
            wide_put(operand_at(b, i, j), b->type, 0, *wide_at(right, i, j));
    operand_keep(b);
    for (int64_t i = 0; i < right.rows * right.columns; i++)
        solution.bound[i] = 1;
    return solution;
}

JTEST_P(OperationSolve, ByLuWhateverTheStructure, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (int64_t round = jtest_iterations(60); round > 0 && !jtest_has_failure(); round--) {
        const int64_t n =
            round % 20 == 0 ? jtest_random_between(60, 150) : jtest_random_between(0, 12);
        const int64_t columns = jtest_random_between(-1, 6);
        const jstructure_t structure =
            (jstructure_t)jtest_random_between(JSTRUCTURE_GENERAL, JSTRUCTURE_TRIANGULAR_LOWER);
        operand_t a, b;
        operand_make(&a, world.allocator, n, n, random_storage(), structure);
        make_regular(&a);
        operand_make(&b, world.allocator, n, columns, random_storage(), JSTRUCTURE_GENERAL);
        JSCOPED_TRACE("order %ld, %ld columns, structure %d", (long)n, (long)columns,
                      (int)structure);
        const wide_matrix_t solution =
            make_right_sides(&world, operand_value(&world.arena, &a), &b);
        int64_t info = -1;
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(jstatus_is_error(jbuffer_solve(world.handle, a.view, b.view, &info)));
        JEXPECT_EQ(info, -1);
        operand_expect_unchanged(&b);
        operation_give_exactly(world.handle, true);
        JEXPECT_OK(jbuffer_solve(world.handle, a.view, b.view, &info));
        JEXPECT_EQ(info, 0);
        operation_give_any(world.handle);
        operand_expect(&b, solution, 64 * (long double)(n + 4));
        operand_expect_unchanged(&a);
        operand_free(&a);
        operand_free(&b);
    }
    operation_end(&world);
}

JTEST_P(OperationSolve, SaysWhereAIsSingular, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (int64_t round = jtest_iterations(20); round > 0 && !jtest_has_failure(); round--) {
        const int64_t n = jtest_random_between(1, 40), bad = jtest_random_between(0, n - 1);
        operand_t a, b;
        operand_make(&a, world.allocator, n, n, random_storage(), JSTRUCTURE_TRIANGULAR_UPPER);
        make_regular(&a);
        wide_put(operand_at(&a, bad, bad), a.type, 0, 0);
        operand_keep(&a);
        operand_make(&b, world.allocator, n, 3, random_storage(), JSTRUCTURE_GENERAL);
        int64_t info = -1;
        JEXPECT_OK(jbuffer_solve(world.handle, a.view, b.view, &info));
        JEXPECT_EQ(info, bad + 1);
        operand_expect_unchanged(&a);
        operand_expect_unchanged(&b);
        operand_free(&a);
        operand_free(&b);
    }
    operation_end(&world);
}

/* A's factor and its pivots solve with op(A), as often as they are asked. */
JTEST_P(OperationSolve, ByAFactor, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (int64_t round = jtest_iterations(60); round > 0 && !jtest_has_failure(); round--) {
        const int64_t n =
            round % 20 == 0 ? jtest_random_between(60, 150) : jtest_random_between(0, 12);
        const jblas_operation_t operation = operations[round % 3];
        operand_t a, b;
        operand_make(&a, world.allocator, n, n, random_storage(), JSTRUCTURE_GENERAL);
        make_regular(&a);
        operand_make(&b, world.allocator, n, jtest_random_between(-1, 6), random_storage(),
                     JSTRUCTURE_GENERAL);
        JSCOPED_TRACE("order %ld, operation %d", (long)n, (int)operation);
        const wide_matrix_t turned =
            wide_operate(&world.arena, operand_value(&world.arena, &a), operation);
        const wide_matrix_t solution = make_right_sides(&world, turned, &b);

        int64_t info = -1, pivots[150];
        JEXPECT_OK(jbuffer_lu(world.handle, a.view, pivots, &info));
        JEXPECT_EQ(info, 0);
        operand_keep(&a);
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(
            jstatus_is_error(jbuffer_lu_solve(world.handle, operation, a.view, NULL, b.view)));
        operand_expect_unchanged(&b);
        operation_give_exactly(world.handle, true);
        JEXPECT_OK(jbuffer_lu_solve(world.handle, operation, a.view, pivots, b.view));
        operation_give_any(world.handle);
        operand_expect(&b, solution, 64 * (long double)(n + 4));
        operand_expect_unchanged(&a);
        operand_free(&a);
        operand_free(&b);
    }
    operation_end(&world);
}

JTEST(OperationSolve, LooksAtFactorAndPivots) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    jhandle_t *h = world.handle;
    operand_t a, b, wide, triangle;
    operand_make(&a, world.allocator, 3, 3, STORED_COLUMN, JSTRUCTURE_GENERAL);
    operand_make(&b, world.allocator, 3, 2, STORED_COLUMN, JSTRUCTURE_GENERAL);
    operand_make(&wide, world.allocator, 3, 4, STORED_COLUMN, JSTRUCTURE_GENERAL);
    operand_make(&triangle, world.allocator, 3, 3, STORED_COLUMN, JSTRUCTURE_TRIANGULAR_UPPER);
    const struct {
        jblas_operation_t operation;
        const operand_t *a, *b;
        int64_t pivots[3];
        jstatus_t status;
        const char *message;
    } calls[] = {
        {JBLAS_NO_TRANSPOSE, &a, &b, {1, 1, 3}, JSTATUS_INVALID_VALUE, "pivots[1] is 1 of 3 rows"},
        {JBLAS_NO_TRANSPOSE, &a, &b, {4, 2, 3}, JSTATUS_INVALID_VALUE, "pivots[0] is 4 of 3 rows"},
        {JBLAS_NO_TRANSPOSE, &a, &b, {0, 2, 3}, JSTATUS_INVALID_VALUE, "pivots[0] is 0 of 3 rows"},
        {(jblas_operation_t)7, &a, &b, {1, 2, 3}, JSTATUS_INVALID_VALUE, "operation = 7"},
        {JBLAS_TRANSPOSE, &wide, &b, {1, 2, 3}, JSTATUS_INVALID_SIZE, "do not fit"},
        {JBLAS_TRANSPOSE, &triangle, &b, {1, 2, 3}, JSTATUS_INVALID_VALUE, "A has a structure"},
        {JBLAS_TRANSPOSE, &a, &triangle, {1, 2, 3}, JSTATUS_INVALID_VALUE, "B has a structure"},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        JEXPECT_STATUS(jbuffer_lu_solve(h, calls[i].operation, calls[i].a->view, calls[i].pivots,
                                        calls[i].b->view),
                       calls[i].status);
        JEXPECT_SUBSTR(jhandle_last_message(h), calls[i].message);
    }
    JEXPECT_STATUS(jbuffer_lu_solve(h, JBLAS_NO_TRANSPOSE, a.view, NULL, b.view),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_SUBSTR(jhandle_last_message(h), "pivots is NULL");
    operand_expect_unchanged(&a);
    operand_expect_unchanged(&b);
    operand_free(&a);
    operand_free(&b);
    operand_free(&wide);
    operand_free(&triangle);
    operation_end(&world);
}

/* B may be a part of A, or lie across it: A is what it was before the call. */
JTEST_P(OperationSolve, BMayBeAPartOfA, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    operand_t a, b;
    const int64_t n = 9, columns = 4;
    operand_make(&a, world.allocator, n, n, STORED_COLUMN, JSTRUCTURE_GENERAL);
    make_regular(&a);
    operand_make(&b, world.allocator, n, columns, STORED_COLUMN, JSTRUCTURE_GENERAL);
    jbuffer_t *part = NULL;
    JASSERT_OK(
        jbuffer_slice(a.view, (const int64_t[]){0, 3}, (const int64_t[]){n, columns}, NULL, &part));
    JEXPECT_OK(jbuffer_copy(world.handle, b.view, part));
    int64_t info = -1;
    JEXPECT_OK(jbuffer_solve(world.handle, a.view, part, &info));
    JEXPECT_EQ(info, 0);
    JEXPECT_OK(jbuffer_copy(world.handle, b.view, part)); /* columns of the unit matrix */
    wide_matrix_t expected = wide_zeros(&world.arena, n, columns);
    for (int64_t i = 0; i < n * columns; i++)
        expected.e[i] = i % n == i / n + 3, expected.bound[i] = 1;
    operand_expect(&b, expected, 1000);
    JEXPECT_OK(jbuffer_release(part));
    operand_free(&a);
    operand_free(&b);
    operation_end(&world);
}

/* A row-major matrix whose rows are B's columns: its copy is column-major, as that of any A is. */
JTEST(OperationSolve, BMayLieAcrossA) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    double memory[9] = {2, 1, 0, 0, 4, 2, 1, 0, 8};
    jlayout_t layout;
    jbuffer_t *a = NULL, *turned = NULL, *b = NULL;
    JASSERT_OK(jlayout_parse("[3,3] row", &layout, NULL));
    JASSERT_OK(jbuffer_wrap(world.allocator, &layout, memory, &a));
    JASSERT_OK(jbuffer_permute(a, (const int[]){1, 0}, &turned));
    JASSERT_OK(jbuffer_slice(turned, (const int64_t[]){0, 1}, (const int64_t[]){3, 1}, NULL, &b));
    int64_t info = -1;
    JEXPECT_OK(jbuffer_solve(world.handle, a, b, &info));
    JEXPECT_EQ(info, 0);
    /* A x = (0, 4, 2), which was its second row. */
    const double x[3] = {-14. / 33, 28. / 33, 10. / 33};
    for (int i = 0; i < 3; i++)
        JEXPECT_NEAR(memory[3 + i], x[i], 1e-14);
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(turned));
    JEXPECT_OK(jbuffer_release(b));
    operation_end(&world);
}

/* ---- Cholesky ---- */

static void cholesky_reference(wide_arena_t *arena, wide_matrix_t *value, jstructure_t structure) {
    JEXPECT_EQ(wide_cholesky(*value), 0);
    if (structure % 2 == 1) /* upper: U = L^H */
        *value = wide_operate(arena, *value, JBLAS_CONJUGATE_TRANSPOSE);
}

static jstructure_t cholesky_structure(jdatatype_t type) {
    const bool upper = jtest_random_bool();
    if (!wide_is_complex(type) && jtest_random_bool())
        return upper ? JSTRUCTURE_SYMMETRIC_UPPER : JSTRUCTURE_SYMMETRIC_LOWER;
    return upper ? JSTRUCTURE_HERMITIAN_UPPER : JSTRUCTURE_HERMITIAN_LOWER;
}

JTEST_P(OperationCholesky, FactorsInPlace, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (int64_t round = jtest_iterations(60); round > 0 && !jtest_has_failure(); round--) {
        const int64_t n =
            round % 20 == 0 ? jtest_random_between(60, 150) : jtest_random_between(0, 12);
        const jstructure_t structure = cholesky_structure((jdatatype_t)*param);
        const storage_t storage = random_storage();
        JSCOPED_TRACE("order %ld, structure %d, %s", (long)n, (int)structure,
                      storage_name(storage));
        operand_t a;
        operand_make(&a, world.allocator, n, n, storage, structure);
        operand_make_definite(&a, &world.arena);
        wide_matrix_t factor = operand_value(&world.arena, &a);
        cholesky_reference(&world.arena, &factor, structure);
        int64_t info = -1;
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(jstatus_is_error(jbuffer_cholesky(world.handle, a.view, &info)));
        JEXPECT_EQ(info, -1);
        operand_expect_unchanged(&a);
        operation_give_exactly(world.handle, true);
        JEXPECT_OK(jbuffer_cholesky(world.handle, a.view, &info));
        JEXPECT_EQ(info, 0);
        operation_give_any(world.handle);
        operand_expect(&a, factor, 64 * (long double)(n + 4) * (n + 4));
        operand_free(&a);
    }
    operation_end(&world);
}

JTEST_P(OperationCholesky, SaysWhereItIsNotDefinite, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (int64_t round = jtest_iterations(20); round > 0 && !jtest_has_failure(); round--) {
        const int64_t n = jtest_random_between(1, 40), bad = jtest_random_between(0, n - 1);
        operand_t a;
        operand_make(&a, world.allocator, n, n, random_storage(),
                     cholesky_structure((jdatatype_t)*param));
        operand_make_definite(&a, &world.arena);
        wide_put(operand_at(&a, bad, bad), a.type, 0, -1);
        int64_t info = -1;
        JEXPECT_OK(jbuffer_cholesky(world.handle, a.view, &info));
        JEXPECT_EQ(info, bad + 1);
        operand_free(&a);
    }
    operation_end(&world);
}

/* The factor, seen as triangular, solves. */
JTEST_P(OperationCholesky, ItsFactorSolves, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    operand_t a, x;
    const int64_t n = 17;
    const scalar_t one = scalar_of((jdatatype_t)*param, 1, 0);
    operand_make(&a, world.allocator, n, n, STORED_ROW_PADDED, JSTRUCTURE_HERMITIAN_LOWER);
    operand_make_definite(&a, &world.arena);
    operand_make(&x, world.allocator, n, 3, STORED_STEPPED, JSTRUCTURE_GENERAL);
    const wide_matrix_t solution = operand_value(&world.arena, &x);
    wide_matrix_t right = wide_zeros(&world.arena, n, 3);
    wide_multiply_add(1, operand_value(&world.arena, &a), solution, right);
    for (int64_t j = 0; j < 3; j++)
        for (int64_t i = 0; i < n; i++)
            wide_put(operand_at(&x, i, j), x.type, 0, *wide_at(right, i, j));
    int64_t info = -1;
    jbuffer_t *factor = NULL;
    JEXPECT_OK(jbuffer_cholesky(world.handle, a.view, &info));
    JEXPECT_EQ(info, 0);
    JASSERT_OK(jbuffer_with_structure(a.view, JSTRUCTURE_TRIANGULAR_LOWER, &factor));
    JEXPECT_OK(jbuffer_solve_triangular(world.handle, JBLAS_LEFT, JBLAS_NO_TRANSPOSE,
                                        JBLAS_NON_UNIT, &one, factor, x.view));
    JEXPECT_OK(jbuffer_solve_triangular(world.handle, JBLAS_LEFT, JBLAS_CONJUGATE_TRANSPOSE,
                                        JBLAS_NON_UNIT, &one, factor, x.view));
    wide_matrix_t expected = solution;
    for (int64_t i = 0; i < 3 * n; i++)
        expected.bound[i] = 1;
    operand_expect(&x, expected, 2000);
    JEXPECT_OK(jbuffer_release(factor));
    operand_free(&a);
    operand_free(&x);
    operation_end(&world);
}
