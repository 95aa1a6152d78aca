/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* LU, QR, least squares, eigenvalues and singular values of local buffers. */

#include "buffer_helper.h"
#include "host_failures.h"
#include "operation_factor.h"
#include "pretend_gpu.h"

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

/* ---- A of each, and what goes wrong ---- */

/* A call with new results of which all are wanted. */
typedef struct whole_call {
    factor_call_t call;
    operand_t a, b;
    jbuffer_t *made[2];
} whole_call_t;

static void whole_make(whole_call_t *whole, operation_world_t *world, factor_t which, int64_t m,
                       int64_t n) {
    memset(whole, 0, sizeof *whole);
    factor_begin(&whole->call, which);
    operand_make(&whole->a, world->allocator, m, n, STORED_STEPPED,
                 which == FACTOR_EIGEN ? JSTRUCTURE_HERMITIAN_LOWER : JSTRUCTURE_GENERAL);
    operand_make(&whole->b, world->allocator, m, 3, STORED_ROW, JSTRUCTURE_GENERAL);
    make_regular(&whole->a);
    whole->call.a = whole->a.view;
    whole->call.b = whole->b.view;
    for (int i = 0; i < factor_results(which); i++)
        whole->call.results[i] = &whole->made[i];
}

static void whole_expect_nothing(whole_call_t *whole) {
    factor_expect_nothing(&whole->call);
    JEXPECT_TRUE(whole->made[0] == NULL && whole->made[1] == NULL);
    operand_expect_unchanged(&whole->a);
    operand_expect_unchanged(&whole->b);
}

static void whole_expect(whole_call_t *whole, operation_world_t *world, wide_matrix_t a) {
    wide_matrix_t values[2];
    const wide_matrix_t *wanted[2] = {NULL, NULL};
    for (int i = 0; i < factor_results(whole->call.which); i++) {
        JASSERT_TRUE(whole->made[i] != NULL);
        values[i] = buffer_value(&world->arena, whole->made[i]);
        wanted[i] = &values[i];
    }
    if (whole->call.which == FACTOR_LU) {
        values[0] = operand_value(&world->arena, &whole->a);
        wanted[0] = &values[0];
    }
    factor_expect(&world->arena, whole->a.type, &whole->call, a,
                  operand_value(&world->arena, &whole->b), wanted);
}

static void whole_free(whole_call_t *whole) {
    JEXPECT_OK(jbuffer_release(whole->made[0]));
    JEXPECT_OK(jbuffer_release(whole->made[1]));
    operand_free(&whole->a);
    operand_free(&whole->b);
}

static void put_column(operand_t *a, int64_t j, long double value) {
    for (int64_t i = 0; i < a->layout.extents[0]; i++)
        wide_put(operand_at(a, i, j), a->type, 0, value);
    operand_keep(a);
}

JTEST_P(OperationFactor, AZeroColumnIsSaidInInfo, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (int64_t round = jtest_iterations(20); round > 0 && !jtest_has_failure(); round--) {
        const int64_t m = jtest_random_between(1, 30), n = jtest_random_between(1, m),
                      bad = jtest_random_between(0, n - 1);
        whole_call_t lu, least;
        whole_make(&lu, &world, FACTOR_LU, m, n);
        put_column(&lu.a, bad, 0);
        const wide_matrix_t a = operand_value(&world.arena, &lu.a);
        JEXPECT_OK(factor_do(world.handle, &lu.call));
        JEXPECT_EQ(lu.call.info, bad + 1);
        whole_expect(&lu, &world, a);
        whole_free(&lu);

        whole_make(&least, &world, FACTOR_LEAST_SQUARES, m, n);
        put_column(&least.a, bad, 0);
        JEXPECT_OK(factor_do(world.handle, &least.call));
        JEXPECT_EQ(least.call.info, n == 1 ? 0 : bad + 1); /* all of A: X is 0 */
        operand_expect_unchanged(&least.a);
        operand_expect_unchanged(&least.b);
        if (n == 1)
            JEXPECT_TRUE(wide_norm(buffer_value(&world.arena, least.made[0])) == 0);
        whole_free(&least);
    }
    operation_end(&world);
}

JTEST_P(OperationFactor, NumbersThatAreNotFiniteAreRefused, int, operation_types) {
    static const factor_t looking[] = {FACTOR_LEAST_SQUARES, FACTOR_EIGEN, FACTOR_SVD};
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (int i = 0; i < 12; i++) {
        whole_call_t whole;
        whole_make(&whole, &world, looking[i % 3], 6, 6);
        JSCOPED_TRACE("%s, %d", factor_name(looking[i % 3]), i / 3);
        wide_t bad = 0;
        *((long double *)&bad + (i / 3 % 2 && wide_is_complex(*param))) = i < 6 ? NAN : -INFINITY;
        wide_put(operand_at(&whole.a, 5, 2), whole.a.type, 0, bad);
        operand_keep(&whole.a);
        JEXPECT_STATUS(factor_do(world.handle, &whole.call), JSTATUS_INVALID_VALUE);
        JEXPECT_SUBSTR(jhandle_last_message(world.handle), "operand 0 holds a NaN or an infinity");
        whole_expect_nothing(&whole);
        whole_free(&whole);
    }
    operation_end(&world);
}

/* With less and less workspace the answer is right, or there is none. */
JTEST_P(OperationFactor, LessWorkspaceIsALowerRungOrAMemoryError, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (factor_t which = 0; which < FACTOR_COUNT; which++) {
        bool had_error = false;
        size_t bytes = 0;
        whole_call_t whole;
        whole_make(&whole, &world, which, 40, which == FACTOR_EIGEN ? 40 : 33);
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(jstatus_is_error(factor_do(world.handle, &whole.call)));
        JEXPECT_OK(jhandle_stop_size_query(world.handle, &bytes));
        whole_free(&whole);

        for (size_t given = bytes; !had_error && !jtest_has_failure();) {
            whole_make(&whole, &world, which, 40, which == FACTOR_EIGEN ? 40 : 33);
            const wide_matrix_t value = operand_value(&world.arena, &whole.a);
            JSCOPED_TRACE("%s, %zu of %zu bytes", factor_name(which), given, bytes);
            if (given > 0)
                JEXPECT_OK(jhandle_set_workspace(world.handle, jtest_guard_pages(given), given));
            else
                JEXPECT_OK(jhandle_seal(world.handle));
            const jstatus_t status = factor_do(world.handle, &whole.call);
            had_error = jstatus_is_error(status);
            if (had_error) {
                JEXPECT_TRUE(status == JSTATUS_MEMORY_ERROR || status == JSTATUS_SEALED);
                whole_expect_nothing(&whole);
            } else {
                JEXPECT_STATUS(status, given == bytes ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
                whole_expect(&whole, &world, value);
            }
            operation_give_any(world.handle);
            whole_free(&whole);
            given = given > bytes / 16 ? (given - bytes / 16) / 64 * 64 : 0;
        }
        JEXPECT_TRUE(had_error);
    }
    operation_end(&world);
}

JTEST(OperationFactor, EachFailedBookkeepingIsSurvived) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64_C);
    JEXPECT_OK(jhandle_set_workspace_size(world.handle, 1 << 18));
    for (factor_t which = 0; which < FACTOR_COUNT; which++) {
        whole_call_t whole;
        whole_make(&whole, &world, which, 7, which == FACTOR_EIGEN ? 7 : 5);
        JEXPECT_OK(factor_do(world.handle, &whole.call)); /* a LAPACK is loaded */
        whole_free(&whole);
        bool failed = true;
        for (uint64_t n = 1; failed && n < 100; n++) {
            whole_make(&whole, &world, which, 7, which == FACTOR_EIGEN ? 7 : 5);
            JSCOPED_TRACE("%s, failure %d", factor_name(which), (int)n);
            jtest_fail_metadata_after(n);
            const jstatus_t status = factor_do(world.handle, &whole.call);
            failed = jtest_metadata_failed();
            jtest_fail_metadata_after(0);
            JEXPECT_STATUS(status, failed ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            if (failed)
                whole_expect_nothing(&whole);
            else
                JEXPECT_TRUE(n > (uint64_t)factor_results(which));
            whole_free(&whole);
        }
    }
    operation_end(&world);
}

JTEST(OperationFactor, EachFailedAllocationOfAResultIsSurvived) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.type = JDATATYPE_F64;
    options.allocator = jtest_failing_allocator();
    JEXPECT_OK(jbuffer_allocator_release(world.allocator));
    JASSERT_OK(jbuffer_allocator_create(world.runtime, &options, &world.allocator));
    for (factor_t which = 0; which < FACTOR_COUNT; which++)
        for (int n = 1; n <= factor_results(which); n++) {
            whole_call_t whole;
            whole_make(&whole, &world, which, 7, which == FACTOR_EIGEN ? 7 : 5);
            JSCOPED_TRACE("%s, failure %d", factor_name(which), n);
            jtest_fail_allocation_after((uint64_t)n);
            JEXPECT_STATUS(factor_do(world.handle, &whole.call), JSTATUS_MEMORY_ERROR);
            jtest_fail_allocation_after(0);
            whole_expect_nothing(&whole);
            JEXPECT_OK(factor_do(world.handle, &whole.call));
            whole_free(&whole);
        }
    operation_end(&world);
}

JTEST(OperationFactor, EachFailureOfTheDeviceIsReported) {
    operation_world_t world;
    jstream_t *stream = NULL;
    operation_begin(&world, JDATATYPE_F64);
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(world.handle, stream));
    JEXPECT_OK(jhandle_set_workspace_size(world.handle, 1 << 18));
    for (factor_t which = 0; which < FACTOR_COUNT; which++) {
        bool failed = true;
        uint64_t n = 1;
        for (; failed && n < 1000 && !jtest_has_failure(); n++) {
            whole_call_t whole;
            whole_make(&whole, &world, which, 7, which == FACTOR_EIGEN ? 7 : 5);
            JSCOPED_TRACE("%s, failure %d", factor_name(which), (int)n);
            host_fail_after(n);
            const jstatus_t status = factor_do(world.handle, &whole.call);
            failed = host_fail_no_more();
            JEXPECT_STATUS(status, failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
            JEXPECT_TRUE(!failed || (whole.made[0] == NULL && whole.made[1] == NULL));
            JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
            whole_free(&whole);
        }
        JEXPECT_GT(n, 2);
    }
    JEXPECT_OK(jhandle_set_stream(world.handle, NULL));
    JEXPECT_OK(jstream_destroy(stream));
    operation_end(&world);
}

/* Results may be a part of A, and of B; of each other they may not. */
JTEST_P(OperationFactor, ResultsMayShareElementsWithOperands, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (factor_t which = FACTOR_QR; which < FACTOR_COUNT; which++) {
        whole_call_t whole;
        JSCOPED_TRACE("%s", factor_name(which));
        whole_make(&whole, &world, which, 6, 6);
        const wide_matrix_t a = operand_value(&world.arena, &whole.a),
                            b = operand_value(&world.arena, &whole.b);
        jbuffer_t *over = NULL,
                  *plain = which == FACTOR_LEAST_SQUARES ? whole.b.view : whole.a.view;
        JASSERT_OK(jbuffer_with_structure(plain, JSTRUCTURE_GENERAL, &over));
        whole.call.results[0] = &over;
        if (factor_results(which) == 2) {
            jbuffer_t *same = over;
            whole.call.results[1] = &same;
            JEXPECT_STATUS(factor_do(world.handle, &whole.call), JSTATUS_INVALID_VALUE);
            JEXPECT_SUBSTR(jhandle_last_message(world.handle), "share elements");
            factor_expect_nothing(&whole.call);
            operand_expect_unchanged(&whole.a);
            whole.call.results[1] = &whole.made[1];
        }
        JEXPECT_OK(factor_do(world.handle, &whole.call));
        wide_matrix_t values[2] = {buffer_value(&world.arena, over)};
        const wide_matrix_t *wanted[2] = {&values[0], NULL};
        if (factor_results(which) == 2) {
            values[1] = buffer_value(&world.arena, whole.made[1]);
            wanted[1] = &values[1];
        }
        factor_expect(&world.arena, *param, &whole.call, a, b, wanted);
        JEXPECT_OK(jbuffer_release(over));
        whole_free(&whole);
    }
    operation_end(&world);
}

JTEST(OperationFactor, WrongArgumentsAreRefused) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    jhandle_t *h = world.handle;
    operand_t a, b, square, symmetric, triangle;
    jbuffer_t *none = NULL, *second = NULL, *cube = NULL;
    jlayout_t layout;
    int64_t info = -1, pivots[5];
    double values[5];
    operand_make(&a, world.allocator, 5, 3, STORED_COLUMN, JSTRUCTURE_GENERAL);
    operand_make(&b, world.allocator, 5, 2, STORED_COLUMN, JSTRUCTURE_GENERAL);
    operand_make(&square, world.allocator, 3, 3, STORED_COLUMN, JSTRUCTURE_GENERAL);
    operand_make(&symmetric, world.allocator, 3, 3, STORED_COLUMN, JSTRUCTURE_SYMMETRIC_UPPER);
    operand_make(&triangle, world.allocator, 3, 3, STORED_COLUMN, JSTRUCTURE_TRIANGULAR_LOWER);
    JEXPECT_OK(jlayout_init(&layout, 3, (const int64_t[]){2, 2, 2}, JORDER_COLUMN_MAJOR));
    JEXPECT_OK(jbuffer_allocate(world.allocator, &layout, &cube));

    JEXPECT_STATUS(jbuffer_lu(h, NULL, pivots, &info), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_lu(h, a.view, NULL, &info), JSTATUS_INVALID_POINTER);
    JEXPECT_SUBSTR(jhandle_last_message(h), "pivots is NULL");
    JEXPECT_STATUS(jbuffer_lu(h, a.view, pivots, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_lu(h, symmetric.view, pivots, &info), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jhandle_last_message(h), "A has a structure, which its factor does not keep");
    JEXPECT_STATUS(jbuffer_lu(h, cube, pivots, &info), JSTATUS_INVALID_VALUE);

    JEXPECT_STATUS(jbuffer_qr(h, a.view, NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_SUBSTR(jhandle_last_message(h), "q and r are NULL");
    JEXPECT_STATUS(jbuffer_qr(h, NULL, &none, &second), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_qr(h, cube, &none, &second), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_qr(h, a.view, &b.view, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_qr(h, a.view, &none, &symmetric.view), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_qr(h, a.view, &none, &triangle.view), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_qr(h, square.view, &triangle.view, NULL), JSTATUS_INVALID_VALUE);

    JEXPECT_STATUS(jbuffer_least_squares(h, a.view, b.view, NULL, &info), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_least_squares(h, a.view, b.view, &none, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_least_squares(h, square.view, b.view, &none, &info),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_least_squares(h, a.view, b.view, &square.view, &info),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_least_squares(h, a.view, cube, &none, &info), JSTATUS_INVALID_VALUE);

    JEXPECT_STATUS(jbuffer_eigen_symmetric(h, symmetric.view, NULL, &none, &info),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_SUBSTR(jhandle_last_message(h), "values is NULL");
    JEXPECT_STATUS(jbuffer_eigen_symmetric(h, square.view, values, &none, &info),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_eigen_symmetric(h, symmetric.view, values, &a.view, &info),
                   JSTATUS_INVALID_SIZE);

    JEXPECT_STATUS(jbuffer_svd(h, a.view, NULL, &none, NULL, &info), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_svd(h, a.view, values, NULL, NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_svd(h, a.view, values, &square.view, &none, &info),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_svd(h, cube, values, NULL, NULL, &info), JSTATUS_INVALID_VALUE);

    /* While querying, operands are looked at, where numbers go is not. */
    size_t bytes = 0;
    JEXPECT_OK(jhandle_start_size_query(h));
    JEXPECT_STATUS(jbuffer_lu(h, a.view, NULL, NULL), JSTATUS_SIZE_INCREASED);
    JEXPECT_FALSE(jstatus_is_error(jbuffer_svd(h, a.view, NULL, NULL, NULL, NULL)));
    JEXPECT_STATUS(jbuffer_qr(h, a.view, NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jhandle_stop_size_query(h, &bytes));

    JEXPECT_TRUE(none == NULL && second == NULL && info == -1);
    operand_expect_unchanged(&a);
    operand_expect_unchanged(&b);
    operand_expect_unchanged(&square);
    operand_expect_unchanged(&symmetric);
    operand_expect_unchanged(&triangle);
    JEXPECT_OK(jbuffer_release(cube));
    operand_free(&a);
    operand_free(&b);
    operand_free(&square);
    operand_free(&symmetric);
    operand_free(&triangle);
    operation_end(&world);
}

/* They are the host's. */
JTEST(OperationFactor, AGpuHasNone) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    operation_world_t world;
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    jbuffer_t *a = NULL, *symmetric = NULL, *none = NULL;
    const jlayout_t layout = operation_layout(2, 3, 3);
    const double one = 1;
    double values[3];
    int64_t info = -1, pivots[3];
    operation_begin(&world, JDATATYPE_F64);
    options.device = &gpu->device;
    JASSERT_OK(jhandle_create(&options, &handle));
    jbuffer_allocator_t *allocator =
        buffer_allocator_of(world.runtime, JBUFFER_LOCAL, JDATATYPE_F64, &gpu->device, NULL, false);
    JASSERT_OK(jbuffer_construct_value(allocator, &layout, &one, &a));
    JASSERT_OK(jbuffer_with_structure(a, JSTRUCTURE_SYMMETRIC_UPPER, &symmetric));
    JEXPECT_STATUS(jbuffer_lu(handle, a, pivots, &info), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "jbuffer_lu is not offered on ");
    JEXPECT_STATUS(jbuffer_lu_solve(handle, JBLAS_NO_TRANSPOSE, a, (const int64_t[]){1, 2, 3}, a),
                   JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_STATUS(jbuffer_qr(handle, a, &none, NULL), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_STATUS(jbuffer_least_squares(handle, a, a, &none, &info), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_STATUS(jbuffer_eigen_symmetric(handle, symmetric, values, NULL, &info),
                   JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_STATUS(jbuffer_svd(handle, a, values, NULL, NULL, &info), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_TRUE(none == NULL && info == -1);
    JEXPECT_OK(jbuffer_release(symmetric));
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jhandle_destroy(handle));
    operation_end(&world);
}
