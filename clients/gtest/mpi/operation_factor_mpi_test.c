/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* LU, QR, least squares, eigenvalues and singular values of buffers of several processes: on every
 * grid, with operands and results of all kinds, on a handle that has exactly what its query
 * said. */

#include "mpi_operation.h"
#include "operation_factor.h"

#include <math.h>

typedef struct grid_case {
    int ranks, grid[2], type;
} grid_case_t;

/* In the last ones some processes are in no grid. */
static const grid_case_t grids[] = {
    {1, {1, 1}, JDATATYPE_F32},   {1, {1, 1}, JDATATYPE_F64_C}, {2, {2, 1}, JDATATYPE_F64},
    {2, {1, 2}, JDATATYPE_F32_C}, {4, {2, 2}, JDATATYPE_F64},   {4, {2, 2}, JDATATYPE_F64_C},
    {4, {1, 4}, JDATATYPE_F32},   {4, {4, 1}, JDATATYPE_F64_C}, {6, {3, 2}, JDATATYPE_F64},
    {6, {2, 3}, JDATATYPE_F32_C}, {4, {1, 1}, JDATATYPE_F64},   {6, {2, 2}, JDATATYPE_F32},
    {6, {2, 2}, JDATATYPE_F64_C}};

/* ---- Results ---- */

typedef enum { RESULT_NEW, RESULT_GIVEN, RESULT_UNWANTED, RESULT_WAYS } result_way_t;

typedef struct result {
    result_way_t way;
    placed_t given;
    jbuffer_t *buffer;
} result_t;

/* At least one of Q and R, and X. */
static void draw_ways(factor_t which, result_t results[2]) {
    for (int i = 0; i < factor_results(which); i++) {
        const bool needed = which == FACTOR_LEAST_SQUARES ||
                            (which == FACTOR_QR && i == 1 && results[0].way == RESULT_UNWANTED);
        results[i].way = (result_way_t)jtest_random_between(0, needed ? 1 : RESULT_WAYS - 1);
    }
}

static void result_make(result_t *result, mpi_world_t *world, factor_call_t *call, int which,
                        place_t place, int64_t rows, int64_t columns, jstructure_t structure) {
    if (result->way == RESULT_UNWANTED)
        return;
    call->results[which] = &result->buffer;
    if (result->way == RESULT_NEW)
        return;
    placed_make(&result->given, world, place, false, rows, columns, structure, false);
    result->buffer = result->given.view;
}

/* Collective. The value of a buffer, on every rank. */
static wide_matrix_t value_of(mpi_world_t *world, jbuffer_t *buffer) {
    jbuffer_t *local = NULL;
    JEXPECT_OK(jbuffer_construct_copy(world->allocators[PLACE_LOCAL], buffer, &local));
    wide_matrix_t value = buffer_value(&world->arena, local);
    JEXPECT_OK(jbuffer_release(local));
    for (int64_t i = 0; i < value.rows * value.columns; i++)
        value.bound[i] = 1;
    return value;
}

/* Collective. Each rank has its own copy of what is local, which rank 0's counts of. */
static wide_matrix_t result_value(mpi_world_t *world, result_t *result) {
    const wide_matrix_t value = value_of(world, result->buffer);
    if (result->way == RESULT_GIVEN)
        placed_expect(world, &result->given, value, 1);
    return value;
}

static void result_free(result_t *result) {
    if (result->way == RESULT_NEW)
        JEXPECT_OK(jbuffer_release(result->buffer));
    else if (result->way == RESULT_GIVEN)
        placed_free(&result->given);
}

/* ---- All of them ---- */

/* Large elements make it well conditioned, and rows are exchanged. */
static void make_regular(mpi_world_t *world, placed_t *a, int64_t m, int64_t n) {
    const bool general = a->local.layout.structure == JSTRUCTURE_GENERAL;
    for (int64_t i = 0; i < m && i < n; i++) {
        const int64_t row = general ? (i + 1) % m : i;
        const double value = (double)(2 * (m + n) + i % 3);
        const scalar_t number = scalar_of(world->type, value, 0);
        wide_put(operand_at(&a->local, row, i), world->type, 0, value);
        JEXPECT_OK(jbuffer_set(a->view, (const int64_t[]){row, i}, &number));
    }
    MPI_Barrier(world->mpi->communicator);
}

/* A structure for A that the call takes. */
static jstructure_t draw_structure(factor_t which, jdatatype_t type, bool *square) {
    if (which == FACTOR_EIGEN) {
        *square = true;
        const bool upper = jtest_random_bool();
        if (!wide_is_complex(type) && jtest_random_bool())
            return upper ? JSTRUCTURE_SYMMETRIC_UPPER : JSTRUCTURE_SYMMETRIC_LOWER;
        return upper ? JSTRUCTURE_HERMITIAN_UPPER : JSTRUCTURE_HERMITIAN_LOWER;
    }
    const bool structured = which != FACTOR_LU && jtest_random_between(0, 3) == 0;
    *square = structured || jtest_random_bool();
    return structured ? (jstructure_t)jtest_random_between(JSTRUCTURE_SYMMETRIC_UPPER,
                                                           JSTRUCTURE_TRIANGULAR_LOWER)
                      : JSTRUCTURE_GENERAL;
}

/* Whether each rank computes for itself: then what is local counts on each. */
static bool are_local(factor_t which, const place_t places[4], const result_t results[2]) {
    bool all = places[0] == PLACE_LOCAL;
    for (int i = 0; i < factor_results(which); i++)
        all = all && (results[i].way != RESULT_GIVEN || places[1 + i] == PLACE_LOCAL);
    return all && (which != FACTOR_LEAST_SQUARES || places[3] == PLACE_LOCAL);
}

static void factor_is_right(mpi_world_t *world, factor_t which, int64_t round) {
    bool square;
    const jstructure_t structure = draw_structure(which, world->type, &square);
    const int64_t most = round % 4 == 3   ? 2
                         : round % 8 == 6 ? 70
                                          : 24,
                  m = jtest_random_between(0, most), n = square ? m : jtest_random_between(0, most),
                  columns = jtest_random_between(0, 9);
    place_t places[4];
    for (int i = 0; i < 4; i++)
        places[i] = round % 3 ? PLACE_GRID : (place_t)jtest_random_between(0, PLACE_COUNT - 1);
    JSCOPED_TRACE("%s, %ld x %ld, %ld columns, structure %d, places %d %d %d %d",
                  factor_name(which), (long)m, (long)n, (long)columns, (int)structure,
                  (int)places[0], (int)places[1], (int)places[2], (int)places[3]);

    factor_call_t call;
    placed_t a, b;
    result_t results[2] = {{.way = RESULT_UNWANTED}, {.way = RESULT_UNWANTED}};
    factor_begin(&call, which);
    draw_ways(which, results);
    const bool alone = are_local(which, places, results);
    placed_make(&a, world, places[0], alone, m, n, structure, false);
    if (which == FACTOR_LEAST_SQUARES)
        make_regular(world, &a, m, n);
    placed_make(&b, world, places[3], alone, m, columns, JSTRUCTURE_GENERAL, false);
    call.a = a.view;
    call.b = b.view;
    for (int i = 0; i < factor_results(which); i++) {
        int64_t shape[2];
        factor_shape(which, i, m, n, columns, shape);
        const bool triangle = which == FACTOR_QR && i == 1 && m >= n && jtest_random_bool();
        result_make(&results[i], world, &call, i, places[1 + i], shape[0], shape[1],
                    triangle ? JSTRUCTURE_TRIANGULAR_UPPER : JSTRUCTURE_GENERAL);
    }

    JEXPECT_OK(jhandle_start_size_query(world->handle));
    JEXPECT_FALSE(jstatus_is_error(factor_do(world->handle, &call)));
    factor_expect_nothing(&call);
    mpi_give_exactly(world);
    const jstatus_t status = factor_do(world->handle, &call);
    JEXPECT_STATUS(status, JSTATUS_SUCCESS);
    mpi_give_any(world);

    wide_matrix_t values[2];
    const wide_matrix_t *wanted[2] = {NULL, NULL};
    for (int i = 0; i < 2 && status == JSTATUS_SUCCESS; i++)
        if (results[i].way != RESULT_UNWANTED) {
            values[i] = result_value(world, &results[i]);
            wanted[i] = &values[i];
        }
    const wide_matrix_t a_value = operand_value(&world->arena, &a.local),
                        b_value = operand_value(&world->arena, &b.local);
    if (which == FACTOR_LU) {
        values[0] = value_of(world, a.view);
        wanted[0] = &values[0];
        placed_expect(world, &a, values[0], 1);
    } else if (alone || places[0] != PLACE_LOCAL || world->mpi->rank == 0) {
        placed_expect(world, &a, a_value, 0);
    }
    if (status == JSTATUS_SUCCESS)
        factor_expect(&world->arena, world->type, &call, a_value, b_value, wanted);

    for (int i = 0; i < 2; i++)
        result_free(&results[i]);
    placed_free(&a);
    placed_free(&b);
}

static void factors_are_right(const jmpi_t *mpi, const grid_case_t *param, factor_t which) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, (jdatatype_t)param->type, param->grid);
    for (int64_t round = 0; round < jtest_iterations(24); round++) {
        factor_is_right(&world, which, round);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}

JMPI_TEST_P(OperationFactorMpi, LuIsRight, grid_case_t, grids) {
    factors_are_right(mpi, param, FACTOR_LU);
}
JMPI_TEST_P(OperationFactorMpi, QrIsRight, grid_case_t, grids) {
    factors_are_right(mpi, param, FACTOR_QR);
}
JMPI_TEST_P(OperationFactorMpi, LeastSquaresAreRight, grid_case_t, grids) {
    factors_are_right(mpi, param, FACTOR_LEAST_SQUARES);
}
JMPI_TEST_P(OperationFactorMpi, EigenvaluesAreRight, grid_case_t, grids) {
    factors_are_right(mpi, param, FACTOR_EIGEN);
}
JMPI_TEST_P(OperationFactorMpi, SingularValuesAreRight, grid_case_t, grids) {
    factors_are_right(mpi, param, FACTOR_SVD);
}

/* ---- What goes wrong ---- */

static const int two_by_two[2] = {2, 2};

/* A call of distributed operands with new results, all wanted. */
typedef struct whole_call {
    factor_call_t call;
    placed_t a, b;
    jbuffer_t *made[2];
} whole_call_t;

static void whole_make(whole_call_t *whole, mpi_world_t *world, factor_t which, place_t place,
                       int64_t m, int64_t n) {
    *whole = (whole_call_t){.made = {NULL, NULL}};
    factor_begin(&whole->call, which);
    placed_make(&whole->a, world, place, false, m, n,
                which == FACTOR_EIGEN ? JSTRUCTURE_HERMITIAN_UPPER : JSTRUCTURE_GENERAL, false);
    make_regular(world, &whole->a, m, n);
    placed_make(&whole->b, world, place, false, m, 3, JSTRUCTURE_GENERAL, false);
    whole->call.a = whole->a.view;
    whole->call.b = whole->b.view;
    for (int i = 0; i < factor_results(which); i++)
        whole->call.results[i] = &whole->made[i];
}

static void whole_expect_nothing(whole_call_t *whole, mpi_world_t *world) {
    factor_expect_nothing(&whole->call);
    JEXPECT_TRUE(whole->made[0] == NULL && whole->made[1] == NULL);
    placed_expect(world, &whole->a, operand_value(&world->arena, &whole->a.local), 0);
}

static void whole_expect(whole_call_t *whole, mpi_world_t *world) {
    wide_matrix_t values[2];
    const wide_matrix_t *wanted[2] = {NULL, NULL};
    for (int i = 0; i < factor_results(whole->call.which); i++) {
        values[i] = value_of(world, whole->made[i]);
        wanted[i] = &values[i];
    }
    if (whole->call.which == FACTOR_LU) {
        values[0] = value_of(world, whole->a.view);
        wanted[0] = &values[0];
    }
    factor_expect(&world->arena, world->type, &whole->call,
                  operand_value(&world->arena, &whole->a.local),
                  operand_value(&world->arena, &whole->b.local), wanted);
}

static void whole_free(whole_call_t *whole) {
    JEXPECT_OK(jbuffer_release(whole->made[0]));
    JEXPECT_OK(jbuffer_release(whole->made[1]));
    placed_free(&whole->a);
    placed_free(&whole->b);
}

static void put(mpi_world_t *world, placed_t *a, int64_t i, int64_t j, double value) {
    const scalar_t number = scalar_of(world->type, value, 0);
    wide_put(operand_at(&a->local, i, j), world->type, 0, value);
    JEXPECT_OK(jbuffer_set(a->view, (const int64_t[]){i, j}, &number));
}

JMPI_TEST(OperationFactorMpi, AZeroColumnIsSaidInInfo, 4) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, two_by_two);
    for (int64_t round = 0; round < 12; round++) {
        const int64_t m = round % 3 == 0 ? 1 : jtest_random_between(1, 20),
                      n = jtest_random_between(1, m), bad = jtest_random_between(0, n - 1);
        for (int i = 0; i < 2; i++) {
            const factor_t which = i == 0 ? FACTOR_LU : FACTOR_LEAST_SQUARES;
            whole_call_t whole;
            JSCOPED_TRACE("%s, %ld x %ld", factor_name(which), (long)m, (long)n);
            whole_make(&whole, &world, which, PLACE_GRID, m, n);
            for (int64_t row = 0; row < m; row++)
                put(&world, &whole.a, row, bad, 0);
            MPI_Barrier(mpi->communicator);
            JMPI_EXPECT_ON_ALL(factor_do(world.handle, &whole.call), JSTATUS_SUCCESS);
            JEXPECT_EQ(whole.call.info, i == 1 && n == 1 ? 0 : bad + 1); /* all of A: X is 0 */
            if (i == 0)
                whole_expect(&whole, &world);
            else if (n == 1)
                JEXPECT_TRUE(wide_norm(value_of(&world, whole.made[0])) == 0);
            whole_free(&whole);
            JMPI_CHECKPOINT();
        }
    }
    mpi_world_end(&world);
}

/* Also an infinity that ScaLAPACK would scale by for ever. */
JMPI_TEST(OperationFactorMpi, NumbersThatAreNotFiniteAreRefusedOnAll, 4) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F32_C, two_by_two);
    for (factor_t which = FACTOR_LEAST_SQUARES; which < FACTOR_COUNT; which++)
        for (int i = 0; i < 2; i++) {
            whole_call_t whole;
            JSCOPED_TRACE("%s, %d", factor_name(which), i);
            whole_make(&whole, &world, which, i ? PLACE_GRID : PLACE_REPLICATED, 8, 8);
            put(&world, &whole.a, 2, 5, i ? INFINITY : NAN);
            MPI_Barrier(mpi->communicator);
            JMPI_EXPECT_ON_ALL(factor_do(world.handle, &whole.call), JSTATUS_INVALID_VALUE);
            JEXPECT_SUBSTR(jhandle_last_message(world.handle), "holds a NaN or an infinity");
            factor_expect_nothing(&whole.call);
            JEXPECT_TRUE(whole.made[0] == NULL && whole.made[1] == NULL);
            whole_free(&whole);
            JMPI_CHECKPOINT();
        }
    mpi_world_end(&world);
}

/* LU has a NaN for a pivot like any other number. */
JMPI_TEST(OperationFactorMpi, LuOfNanEnds, 4) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, two_by_two);
    for (int64_t at = 0; at < 4; at++) {
        whole_call_t whole;
        whole_make(&whole, &world, FACTOR_LU, PLACE_GRID, 11, 11);
        for (int64_t i = 0; i < 11; i++)
            put(&world, &whole.a, at == 3 ? i : 3 * at, at == 3 ? 0 : i, NAN);
        MPI_Barrier(mpi->communicator);
        JMPI_EXPECT_ON_ALL(factor_do(world.handle, &whole.call), JSTATUS_SUCCESS);
        for (int64_t i = 0; i < 11; i++)
            JEXPECT_TRUE(whole.call.pivots[i] > i && whole.call.pivots[i] <= 11);
        whole_free(&whole);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}

JMPI_TEST(OperationFactorMpi, WhatIsWrongOnOneRankIsRefusedOnAll, 4) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, two_by_two);
    whole_call_t lu, svd;
    whole_make(&lu, &world, FACTOR_LU, PLACE_GRID, 9, 7);
    whole_make(&svd, &world, FACTOR_SVD, PLACE_GRID, 9, 7);
    for (int bad = 0; bad < 4; bad++) {
        const bool wrong = mpi->rank == bad;
        JMPI_EXPECT_ON_ALL(
            jbuffer_lu(world.handle, lu.call.a, wrong ? NULL : lu.call.pivots, &lu.call.info),
            JSTATUS_INVALID_POINTER);
        JMPI_EXPECT_ON_ALL(
            jbuffer_lu(world.handle, lu.call.a, lu.call.pivots, wrong ? NULL : &lu.call.info),
            JSTATUS_INVALID_POINTER);
        /* What is wanted is an argument of all. */
        JMPI_EXPECT_ON_ALL(jbuffer_svd(world.handle, svd.call.a, svd.call.values,
                                       wrong ? NULL : &svd.made[0], &svd.made[1], &svd.call.info),
                           JSTATUS_INVALID_VALUE);
        JMPI_EXPECT_ON_ALL(jbuffer_qr(world.handle, svd.call.a, wrong ? NULL : &svd.made[0], NULL),
                           JSTATUS_INVALID_POINTER);
        if (wrong)
            JEXPECT_OK(jhandle_set_workspace_size(world.handle, 64));
        JMPI_EXPECT_ON_ALL(factor_do(world.handle, &svd.call), JSTATUS_MEMORY_ERROR);
        JEXPECT_OK(jhandle_set_workspace_size(world.handle, 0));
        whole_expect_nothing(&lu, &world);
        whole_expect_nothing(&svd, &world);
        JMPI_CHECKPOINT();
    }
    JMPI_EXPECT_ON_ALL(factor_do(world.handle, &svd.call), JSTATUS_SUCCESS);
    whole_expect(&svd, &world);
    whole_free(&lu);
    whole_free(&svd);
    mpi_world_end(&world);
}

JMPI_TEST(OperationFactorMpi, NoBookkeepingOnOneRank, 4) {
    for (factor_t which = 0; which < FACTOR_COUNT; which++) {
        const int bad = (int)which % 4;
        mpi_world_t world;
        mpi_world_begin(&world, mpi, JDATATYPE_F64, two_by_two);
        JEXPECT_OK(jhandle_set_workspace_size(world.handle, 1 << 18));
        bool failed = true;
        for (uint64_t n = 1; failed && n < 100; n++) {
            whole_call_t whole;
            whole_make(&whole, &world, which, PLACE_GRID, 9, which == FACTOR_EIGEN ? 9 : 7);
            JSCOPED_TRACE("%s, failure %d on rank %d", factor_name(which), (int)n, bad);
            jmpi_fail_metadata_on(mpi, bad, n);
            const jstatus_t status = factor_do(world.handle, &whole.call);
            failed = jmpi_metadata_failed_on(mpi, bad);
            /* The process's allocator of host memory does without some of its own. */
            JMPI_EXPECT_ON_ALL(status, failed && status != JSTATUS_SUCCESS ? JSTATUS_MEMORY_ERROR
                                                                           : JSTATUS_SUCCESS);
            JEXPECT_TRUE(failed || n > 2 || which == FACTOR_LU); /* A's stand-in */
            if (status != JSTATUS_SUCCESS)
                whole_expect_nothing(&whole, &world);
            else
                whole_expect(&whole, &world);
            whole_free(&whole);
            JMPI_CHECKPOINT();
        }
        mpi_world_end(&world);
    }
}

/* Results that several machines have a copy of each, beside such that each process has. */
JMPI_TEST_NODES(OperationFactorMpi, SharedResultsOnSeveralMachines, 4, 2) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, two_by_two);
    for (int round = 0; round < 20; round++) {
        const factor_t which = (factor_t)(round % FACTOR_COUNT);
        whole_call_t whole;
        placed_t given[2];
        int64_t shape[2];
        JSCOPED_TRACE("%s, round %d", factor_name(which), round);
        whole_make(&whole, &world, which, round % 2 ? PLACE_SHARED : PLACE_REPLICATED, 9,
                   which == FACTOR_EIGEN ? 9 : 6);
        for (int i = 0; i < factor_results(which); i++) {
            factor_shape(which, i, 9, which == FACTOR_EIGEN ? 9 : 6, 3, shape);
            placed_make(&given[i], &world, i == round / 5 % 2 ? PLACE_SHARED : PLACE_REPLICATED,
                        false, shape[0], shape[1], JSTRUCTURE_GENERAL, false);
            whole.made[i] = given[i].view;
            JEXPECT_OK(jbuffer_retain(given[i].view));
        }
        JMPI_EXPECT_ON_ALL(factor_do(world.handle, &whole.call), JSTATUS_SUCCESS);
        whole_expect(&whole, &world);
        for (int i = 0; i < factor_results(which); i++)
            placed_free(&given[i]);
        whole_free(&whole);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}

/* ScaLAPACK counts its workspace in 32 bits, too. Nothing of this memory is there. */
JMPI_TEST(OperationFactorMpi, WorkBeyondScalapacksIntegers, 1) {
    mpi_world_t world;
    const int one_by_one[2] = {1, 1};
    mpi_world_begin(&world, mpi, JDATATYPE_F64, one_by_one);
    const jlayout_t huge = operation_layout(2, 60000, 60000);
    double nowhere[8] = {0};
    jbuffer_t *a = NULL, *symmetric = NULL, *u = NULL;
    double *values = NULL;
    int64_t info = -1;
    size_t bytes = 0;
    JEXPECT_OK(jbuffer_wrap(world.allocators[PLACE_GRID], &huge, nowhere, &a));
    JEXPECT_OK(jbuffer_with_structure(a, JSTRUCTURE_SYMMETRIC_LOWER, &symmetric));
    JEXPECT_OK(jhandle_start_size_query(world.handle));
    JEXPECT_STATUS(jbuffer_svd(world.handle, a, values, &u, NULL, &info), JSTATUS_INVALID_SIZE);
    JEXPECT_SUBSTR(jhandle_last_message(world.handle), "ScaLAPACK counts in 32 bits");
    JEXPECT_STATUS(jbuffer_eigen_symmetric(world.handle, symmetric, values, NULL, &info),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_svd(world.handle, a, values, NULL, NULL, &info), JSTATUS_SIZE_INCREASED);
    JEXPECT_OK(jhandle_stop_size_query(world.handle, &bytes));
    JEXPECT_TRUE(u == NULL && info == -1);
    JEXPECT_OK(jbuffer_release(symmetric));
    JEXPECT_OK(jbuffer_release(a));
    mpi_world_end(&world);
}

/* ScaLAPACK's routines leave other ones, not on all processes the same, and the PBLAS then wait. */
void pb_topget_(const int *context, const char *operation, const char *scope, char *topology);
JMPI_TEST(OperationFactorMpi, TopologiesAreAsTheyWere, 4) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, two_by_two);
    for (factor_t which = 0; which < FACTOR_COUNT; which++) {
        whole_call_t whole;
        jbuffer_scalapack_t matrix = JBUFFER_SCALAPACK_INIT;
        char before = 0, after = 0;
        JSCOPED_TRACE("%s", factor_name(which));
        whole_make(&whole, &world, which, PLACE_GRID, 30, 30);
        JEXPECT_OK(jbuffer_as_scalapack(whole.a.view, &matrix));
        pb_topget_(&matrix.descriptor[1], "Broadcast", "Rowwise", &before);
        JMPI_EXPECT_ON_ALL(factor_do(world.handle, &whole.call), JSTATUS_SUCCESS);
        pb_topget_(&matrix.descriptor[1], "Broadcast", "Rowwise", &after);
        JEXPECT_EQ(before, after);
        whole_free(&whole);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}
