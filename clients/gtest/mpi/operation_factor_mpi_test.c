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
