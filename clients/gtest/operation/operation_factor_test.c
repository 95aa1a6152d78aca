/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* LU, QR, least squares, eigenvalues and singular values of local buffers. */

#include "operation_factor.h"

#include <math.h>
#include <string.h>

/* ---- Operands ---- */

/* How a result is asked for. */
typedef enum { RESULT_NEW, RESULT_GIVEN, RESULT_UNWANTED, RESULT_WAYS } result_way_t;

typedef struct result {
    result_way_t way;
    operand_t given;
    jbuffer_t *buffer;
} result_t;

static void result_make(result_t *result, operation_world_t *world, factor_call_t *call, int which,
                        int64_t rows, int64_t columns, jstructure_t structure) {
    memset(result, 0, sizeof *result);
    const bool needed = call->which == FACTOR_LEAST_SQUARES ||
                        (call->which == FACTOR_QR && which == 1 && call->results[0] == NULL);
    result->way = (result_way_t)jtest_random_between(0, needed ? 1 : RESULT_WAYS - 1);
    if (result->way == RESULT_UNWANTED)
        return;
    call->results[which] = &result->buffer;
    if (result->way == RESULT_NEW)
        return;
    operand_make(&result->given, world->allocator, rows, columns, random_storage(), structure);
    result->buffer = result->given.view;
}

/* What it is now; beside it nothing has changed. */
static wide_matrix_t result_value(result_t *result, operation_world_t *world) {
    wide_matrix_t value = buffer_value(&world->arena, result->buffer);
    for (int64_t i = 0; i < value.rows * value.columns; i++)
        value.bound[i] = 1;
    if (result->way == RESULT_GIVEN)
        operand_expect(&result->given, value, 1);
    return value;
}

static void result_free(result_t *result) {
    if (result->way == RESULT_NEW)
        JEXPECT_OK(jbuffer_release(result->buffer));
    else if (result->way == RESULT_GIVEN)
        operand_free(&result->given);
}

/* Large elements make it well conditioned, and rows are exchanged. */
static void make_regular(operand_t *a) {
    const int64_t m = a->layout.extents[0], n = a->layout.rank > 1 ? a->layout.extents[1] : 1;
    const bool general = a->layout.structure == JSTRUCTURE_GENERAL;
    for (int64_t i = 0; i < m && i < n; i++)
        wide_put(operand_at(a, general ? (i + 1) % m : i, i), a->type, 0,
                 (long double)(2 * (m + n) + i % 3));
    operand_keep(a);
}

static jstructure_t hermitian_structure(jdatatype_t type) {
    const bool upper = jtest_random_bool();
    if (!wide_is_complex(type) && jtest_random_bool())
        return upper ? JSTRUCTURE_SYMMETRIC_UPPER : JSTRUCTURE_SYMMETRIC_LOWER;
    return upper ? JSTRUCTURE_HERMITIAN_UPPER : JSTRUCTURE_HERMITIAN_LOWER;
}

/* ---- All of them ---- */

static void factor_is_right(operation_world_t *world, jdatatype_t type, factor_t which,
                            int64_t most) {
    const bool structured = which != FACTOR_LU && jtest_random_between(0, 3) == 0,
               square = which == FACTOR_EIGEN || structured || jtest_random_bool();
    const int64_t m = jtest_random_between(0, most),
                  n = square ? m : jtest_random_between(which == FACTOR_EIGEN ? 0 : -1, most),
                  columns = jtest_random_between(-1, 6), width = n < 0 ? 1 : n;
    const jstructure_t structure =
        which == FACTOR_EIGEN ? hermitian_structure(type)
        : structured          ? (jstructure_t)jtest_random_between(JSTRUCTURE_SYMMETRIC_UPPER,
                                                                   JSTRUCTURE_TRIANGULAR_LOWER)
                              : JSTRUCTURE_GENERAL;
    JSCOPED_TRACE("%s, %ld x %ld, %ld columns, structure %d", factor_name(which), (long)m, (long)n,
                  (long)columns, (int)structure);

    factor_call_t call;
    operand_t a, b;
    result_t results[2] = {{.way = RESULT_UNWANTED}, {.way = RESULT_UNWANTED}};
    factor_begin(&call, which);
    operand_make(&a, world->allocator, m, n, random_storage(), structure);
    if (which == FACTOR_LEAST_SQUARES)
        make_regular(&a);
    operand_make(&b, world->allocator, m, columns, random_storage(), JSTRUCTURE_GENERAL);
    call.a = a.view;
    call.b = b.view;
    for (int i = 0; i < factor_results(which); i++) {
        int64_t shape[2];
        factor_shape(which, i, m, width, columns, shape);
        const bool triangle = which == FACTOR_QR && i == 1 && m >= width && jtest_random_bool();
        result_make(&results[i], world, &call, i, shape[0], shape[1],
                    triangle ? JSTRUCTURE_TRIANGULAR_UPPER : JSTRUCTURE_GENERAL);
    }
    const wide_matrix_t a_value = operand_value(&world->arena, &a),
                        b_value = operand_value(&world->arena, &b);

    JEXPECT_OK(jhandle_start_size_query(world->handle));
    JEXPECT_FALSE(jstatus_is_error(factor_do(world->handle, &call)));
    factor_expect_nothing(&call);
    operation_give_exactly(world->handle, true);
    JEXPECT_STATUS(factor_do(world->handle, &call), JSTATUS_SUCCESS);
    operation_give_any(world->handle);

    wide_matrix_t values[2];
    const wide_matrix_t *wanted[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        if (results[i].way != RESULT_UNWANTED && !jtest_has_failure()) {
            values[i] = result_value(&results[i], world);
            wanted[i] = &values[i];
        }
    if (which == FACTOR_LU) {
        values[0] = operand_value(&world->arena, &a);
        wanted[0] = &values[0];
    } else {
        operand_expect_unchanged(&a);
    }
    operand_expect_unchanged(&b);
    if (!jtest_has_failure())
        factor_expect(&world->arena, type, &call, a_value, b_value, wanted);

    for (int i = 0; i < 2; i++)
        result_free(&results[i]);
    operand_free(&a);
    operand_free(&b);
}

static void factors_are_right(jdatatype_t type, factor_t which) {
    operation_world_t world;
    operation_begin(&world, type);
    for (int64_t round = jtest_iterations(80); round > 0 && !jtest_has_failure(); round--)
        factor_is_right(&world, type, which, round % 20 == 0 ? 90 : round % 3 == 0 ? 2 : 9);
    operation_end(&world);
}

JTEST_P(OperationFactor, LuIsRight, int, operation_types) {
    factors_are_right((jdatatype_t)*param, FACTOR_LU);
}
JTEST_P(OperationFactor, QrIsRight, int, operation_types) {
    factors_are_right((jdatatype_t)*param, FACTOR_QR);
}
JTEST_P(OperationFactor, LeastSquaresAreRight, int, operation_types) {
    factors_are_right((jdatatype_t)*param, FACTOR_LEAST_SQUARES);
}
JTEST_P(OperationFactor, EigenvaluesAreRight, int, operation_types) {
    factors_are_right((jdatatype_t)*param, FACTOR_EIGEN);
}
JTEST_P(OperationFactor, SingularValuesAreRight, int, operation_types) {
    factors_are_right((jdatatype_t)*param, FACTOR_SVD);
}
