/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Operations and the handle: workspace, rungs, streams, pointer modes, failures, and what is
 * refused. */

#include "handle_helper.h"
#include "host_failures.h"
#include "operation_helper.h"

#include "lapack/lapack.h"
#include "operation/operation.h"

#include <stdlib.h>
#include <string.h>

static const jblas_operation_t N = JBLAS_NO_TRANSPOSE;

/* ---- What jblas wants, beside what is packed ---- */

static wide_matrix_t plain_product(wide_arena_t *arena, const operand_t *a, const operand_t *b) {
    wide_matrix_t product = wide_zeros(arena, a->layout.extents[0], b->layout.extents[1]);
    product.real = !wide_is_complex(a->type);
    wide_multiply_add(1, operand_value(arena, a), operand_value(arena, b), product);
    return product;
}

/* With the bytes of a query the product runs as jblas would with all it wants; with fewer on a
 * lower rung; with none for what has to be packed not at all. */
JTEST_P(OperationHandle, ProductsHaveTheRungsOfGemm, int, operation_types) {
    enum { ORDER = 100 }; /* real products of it ask for panels */
    const jdatatype_t type = (jdatatype_t)*param;
    const ji_tuning_t saved = ji_host_tuning;
    ji_host_tuning.strassen_least[0] = ji_host_tuning.strassen_least[1] =
        ji_host_tuning.gemm3m_least = 8;
    ji_tuning_complete(&ji_host_tuning);
    operation_world_t world;
    operation_begin(&world, type);
    JEXPECT_OK(jhandle_set_accuracy(world.handle, JACCURACY_NORMWISE));
    const scalar_t one = scalar_of(type, 1, 0), zero = scalar_of(type, 0, 0);
    for (int packs = 0; packs < 2; packs++) {
        operand_t a, b, c;
        operand_make(&a, world.allocator, ORDER, ORDER, packs ? STORED_STEPPED : STORED_ROW,
                     JSTRUCTURE_GENERAL);
        operand_make(&b, world.allocator, ORDER, ORDER, STORED_COLUMN, JSTRUCTURE_GENERAL);
        operand_make(&c, world.allocator, ORDER, ORDER, STORED_ROW_PADDED, JSTRUCTURE_GENERAL);
        const wide_matrix_t expected = plain_product(&world.arena, &a, &b);
        size_t bytes = 0, direct = 0;
        /* What jblas itself answers for the same product. */
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        (void)(type == JDATATYPE_F32   ? jblas_sgemm(world.handle, N, N, ORDER, ORDER, ORDER, NULL,
                                                     NULL, ORDER, NULL, ORDER, NULL, NULL, ORDER)
               : type == JDATATYPE_F64 ? jblas_dgemm(world.handle, N, N, ORDER, ORDER, ORDER, NULL,
                                                     NULL, ORDER, NULL, ORDER, NULL, NULL, ORDER)
               : type == JDATATYPE_F32_C
                   ? jblas_cgemm(world.handle, N, N, ORDER, ORDER, ORDER, NULL, NULL, ORDER, NULL,
                                 ORDER, NULL, NULL, ORDER)
                   : jblas_zgemm(world.handle, N, N, ORDER, ORDER, ORDER, NULL, NULL, ORDER, NULL,
                                 ORDER, NULL, NULL, ORDER));
        JEXPECT_OK(jhandle_stop_size_query(world.handle, &direct));
        JEXPECT_GT(direct, 0);
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_STATUS(jbuffer_product(world.handle, N, N, &one, a.view, b.view, &zero, &c.view),
                       JSTATUS_SIZE_INCREASED);
        JEXPECT_STATUS(jbuffer_product(world.handle, N, N, &one, a.view, b.view, &zero, &c.view),
                       JSTATUS_SIZE_UNCHANGED);
        JEXPECT_OK(jhandle_stop_size_query(world.handle, &bytes));
        const size_t packed = packs ? ORDER * ORDER * jhandle_sizeof_datatype(type) : 0;
        JEXPECT_EQ(bytes, direct + packed);

        JEXPECT_OK(jhandle_set_workspace(world.handle, jtest_guard_pages(bytes), bytes));
        JEXPECT_OK(jhandle_clear_stats(world.handle));
        JEXPECT_OK(jbuffer_product(world.handle, N, N, &one, a.view, b.view, &zero, &c.view));
        JEXPECT_EQ(stats_of(world.handle).degraded_count, 0);
        operand_expect(&c, expected, 100000);

        operand_keep(&c);
        JEXPECT_OK(jhandle_set_workspace(world.handle, jtest_guard_pages(bytes - 64), bytes - 64));
        JEXPECT_STATUS(jbuffer_product(world.handle, N, N, &one, a.view, b.view, &zero, &c.view),
                       JSTATUS_PERF_DEGRADED);
        operand_expect(&c, expected, 100000);

        operand_keep(&c);
        JEXPECT_OK(jhandle_set_workspace(world.handle, jtest_guard_pages(64), 64));
        const jstatus_t status =
            jbuffer_product(world.handle, N, N, &one, a.view, b.view, &zero, &c.view);
        JEXPECT_STATUS(status, packs ? JSTATUS_MEMORY_ERROR : JSTATUS_PERF_DEGRADED);
        if (packs)
            operand_expect_unchanged(&c);
        else
            operand_expect(&c, expected, 100000);
        JEXPECT_OK(jhandle_set_workspace_size(world.handle, 0));
        JEXPECT_EQ(stats_of(world.handle).live_borrow_count, 0);
        operand_free(&a);
        operand_free(&b);
        operand_free(&c);
    }
    operation_end(&world);
    ji_host_tuning = saved;
}

/* Solves and factorizations. */
JTEST_P(OperationHandle, SolvesHaveTheRungsOfTrsm, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    const scalar_t one = scalar_of((jdatatype_t)*param, 1, 0);
    const int64_t n = 400;
    for (int factors = 0; factors < 2; factors++) {
        operand_t a, b;
        int64_t info = -1;
        size_t bytes = 0;
        operand_make(&a, world.allocator, n, n, STORED_ROW_PADDED,
                     factors ? JSTRUCTURE_HERMITIAN_UPPER : JSTRUCTURE_TRIANGULAR_LOWER);
        operand_make(&b, world.allocator, n, n, STORED_ROW, JSTRUCTURE_GENERAL);
        /* Definite, since the diagonal outweighs the rest. */
        for (int64_t i = 0; i < n && factors; i++)
            wide_put(operand_at(&a, i, i), a.type, 0, 2 * n);
        operand_keep(&a);
        /* What jblas itself answers: row-major matrices are its transposes. */
        ji_matmat_t factor = {
            .head = {.type = (jdatatype_t)*param}, .uplo = JBLAS_LOWER, .n = n, .lda = n};
        ji_matmat_t solve = factor;
        solve.side = JBLAS_LEFT;
        solve.uplo = JBLAS_UPPER;
        solve.transa = N;
        solve.diag = JBLAS_NON_UNIT;
        solve.m = solve.ldb = n;
        size_t direct = 0;
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        (void)(factors ? ji_call_potrf(world.handle, &factor) : ji_call_trsm(world.handle, &solve));
        JEXPECT_OK(jhandle_stop_size_query(world.handle, &direct));
        for (int round = 0; round < 3; round++) {
            if (round == 0)
                JEXPECT_OK(jhandle_start_size_query(world.handle));
            const jstatus_t status =
                factors ? jbuffer_cholesky(world.handle, a.view, &info)
                        : jbuffer_solve_triangular(world.handle, JBLAS_RIGHT, JBLAS_TRANSPOSE,
                                                   JBLAS_NON_UNIT, &one, a.view, b.view);
            if (round == 0) {
                JEXPECT_OK(jhandle_stop_size_query(world.handle, &bytes));
                JEXPECT_EQ(bytes, direct);
                /* A CBLAS in place of jblas's own products wants none. */
                JEXPECT_EQ(bytes > 0, ji_host_primitives[JI_TRSM] == ji_host_trsm);
                JEXPECT_STATUS(status, bytes > 0 ? JSTATUS_SIZE_INCREASED : JSTATUS_SIZE_UNCHANGED);
                if (bytes == 0)
                    break;
                JEXPECT_OK(jhandle_set_workspace(world.handle, jtest_guard_pages(bytes), bytes));
            } else {
                JEXPECT_STATUS(status, round == 1 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
                JEXPECT_OK(jhandle_set_workspace(world.handle, jtest_guard_pages(64), 64));
                memcpy(a.memory, a.before, a.size_bytes);
            }
        }
        JEXPECT_OK(jhandle_set_workspace_size(world.handle, 0));
        JEXPECT_EQ(info, factors && bytes > 0 ? 0 : -1);
        operand_free(&a);
        operand_free(&b);
    }
    operation_end(&world);
}

/* ---- Modes of the handle ---- */

/* Scalars are the host's in every pointer mode, and the mode stays. */
JTEST(OperationHandle, PointerModeIsTheCallers) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    const double alpha = 2, beta = 0;
    operand_t a, b;
    int64_t info = -1;
    operand_make(&a, world.allocator, 5, 5, STORED_COLUMN, JSTRUCTURE_SYMMETRIC_LOWER);
    operand_make_definite(&a, &world.arena);
    operand_make(&b, world.allocator, 5, 5, STORED_ROW, JSTRUCTURE_GENERAL);
    jbuffer_t *c = NULL;
    JEXPECT_OK(jhandle_set_pointer_mode(world.handle, JPOINTER_MODE_DEVICE));
    JEXPECT_OK(jbuffer_product(world.handle, N, N, &alpha, a.view, b.view, &beta, &c));
    JEXPECT_OK(jbuffer_scale(world.handle, &alpha, c));
    JEXPECT_OK(jbuffer_cholesky(world.handle, a.view, &info));
    JEXPECT_EQ(info, 0);
    jpointer_mode_t mode = JPOINTER_MODE_HOST;
    JEXPECT_OK(jhandle_get_pointer_mode(world.handle, &mode));
    JEXPECT_EQ((int)mode, (int)JPOINTER_MODE_DEVICE);
    JEXPECT_OK(jbuffer_release(c));
    operand_free(&a);
    operand_free(&b);
    operation_end(&world);
}

/* Scalars have been read when a call returns, whatever the mode. */
JTEST(OperationHandle, ScalarsAreReadByTheCall) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(world.handle, stream));
    JEXPECT_OK(jhandle_set_pointer_mode(world.handle, JPOINTER_MODE_DEVICE));
    double one = 1, two = 2, three = 3, norm = -1;
    const jlayout_t layout = operation_layout(2, 4, 4);
    jbuffer_t *x = NULL, *y = NULL;
    JASSERT_OK(jbuffer_construct_value(world.allocator, &layout, &one, &x));
    JASSERT_OK(jbuffer_construct_value(world.allocator, &layout, &one, &y));
    jtest_gate_t gate = JTEST_GATE_INIT;
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), stream));
    JEXPECT_OK(jbuffer_scale(world.handle, &two, x));
    JEXPECT_OK(jbuffer_add(world.handle, &one, x, &three, y, &y));
    JEXPECT_OK(jbuffer_product(world.handle, N, N, &one, x, x, &two, &y));
    JEXPECT_OK(jbuffer_fill(world.handle, x, &three));
    one = two = three = 100;
    jtest_gate_open(&gate);
    JEXPECT_OK(jbuffer_norm(world.handle, JNORM_MAX, y, &norm));
    JEXPECT_EQ(norm, 26.0); /* 4 * 2 * 2 + 2 (2 + 3) */
    JEXPECT_OK(jbuffer_norm(world.handle, JNORM_MAX, x, &norm));
    JEXPECT_EQ(norm, 3.0);
    JEXPECT_OK(jhandle_set_stream(world.handle, NULL));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jbuffer_release(x));
    JEXPECT_OK(jbuffer_release(y));
    operation_end(&world);
}

/* A scalar may be an element of what the call changes. */
JTEST(OperationHandle, ScalarsMayLieInBuffers) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    double memory[3][3] = {{2, 2, 9}, {2, 2, 9}, {2, 2, 9}}, norm = -1;
    const jlayout_t layout = {.rank = 2, .extents = {2, 3}, .strides = {1, 3}}; /* three lines */
    jbuffer_t *x = NULL;
    JASSERT_OK(jbuffer_wrap(world.allocator, &layout, memory, &x));
    JEXPECT_OK(jbuffer_scale(world.handle, &memory[0][0], x));
    JEXPECT_OK(jbuffer_norm(world.handle, JNORM_MAX, x, &norm));
    JEXPECT_EQ(norm, 4.0);
    JEXPECT_EQ(memory[2][2], 9.0);
    JEXPECT_OK(jbuffer_release(x));
    operation_end(&world);
}

/* In a created stream nothing waits, packed operands included, and the order is that of the
 * calls. */
JTEST_P(OperationHandle, CreatedStreamsKeepTheOrder, int, operation_types) {
    const jdatatype_t type = (jdatatype_t)*param;
    operation_world_t world;
    operation_begin(&world, type);
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_workspace_size(world.handle, 1 << 16)); /* growing may wait */
    JEXPECT_OK(jhandle_set_stream(world.handle, stream));
    const scalar_t one = scalar_of(type, 1, 0), two = scalar_of(type, 2, 0),
                   zero = scalar_of(type, 0, 0);
    operand_t a, b, c, d;
    operand_make(&a, world.allocator, 9, 9, STORED_STEPPED, JSTRUCTURE_HERMITIAN_UPPER);
    operand_make(&b, world.allocator, 9, 9, STORED_STEPPED, JSTRUCTURE_GENERAL);
    operand_make(&c, world.allocator, 9, 9, STORED_STEPPED, JSTRUCTURE_GENERAL);
    operand_make(&d, world.allocator, 9, 9, STORED_ROW, JSTRUCTURE_GENERAL);
    /* d = (2 a) b + c, by way of c */
    wide_matrix_t expected = wide_zeros(&world.arena, 9, 9);
    wide_multiply_add(2, operand_value(&world.arena, &a), operand_value(&world.arena, &b),
                      expected);
    wide_add(1, operand_value(&world.arena, &c), expected);
    jtest_gate_t gate = JTEST_GATE_INIT;
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), stream));
    JEXPECT_OK(jbuffer_scale(world.handle, &two, a.view));
    JEXPECT_OK(jbuffer_product(world.handle, N, N, &one, a.view, b.view, &one, &c.view));
    JEXPECT_OK(jbuffer_fill(world.handle, b.view, &zero));
    JEXPECT_OK(jbuffer_add(world.handle, &one, b.view, &one, c.view, &d.view));
    operand_expect_unchanged(&c); /* nothing has been done yet */
    operand_expect_unchanged(&d);
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    operand_expect(&d, expected, 200);
    /* Results in host memory are waited for. */
    double norm = -1;
    JEXPECT_OK(jbuffer_fill(world.handle, d.view, &two));
    JEXPECT_OK(jbuffer_norm(world.handle, JNORM_MAX, d.view, &norm));
    JEXPECT_EQ(norm, 2.0);
    JEXPECT_OK(jbuffer_copy(world.handle, c.view, d.view));
    JEXPECT_OK(jbuffer_norm(world.handle, JNORM_MAX, c.view, &norm));
    JEXPECT_EQ(norm, 2.0);
    JEXPECT_OK(jhandle_set_stream(world.handle, NULL));
    JEXPECT_OK(jstream_destroy(stream));
    operand_free(&a);
    operand_free(&b);
    operand_free(&c);
    operand_free(&d);
    operation_end(&world);
}

/* ---- Failures ---- */

typedef struct calls {
    operand_t a, b, c, triangle, definite;
    scalar_t one, zero;
} calls_t;

static void calls_make(calls_t *calls, operation_world_t *world) {
    const jdatatype_t type = JDATATYPE_F64_C;
    operand_make(&calls->a, world->allocator, 7, 7, STORED_STEPPED, JSTRUCTURE_HERMITIAN_UPPER);
    operand_make(&calls->b, world->allocator, 7, 7, STORED_ROW, JSTRUCTURE_SYMMETRIC_LOWER);
    operand_make(&calls->c, world->allocator, 7, 7, STORED_STEPPED, JSTRUCTURE_GENERAL);
    operand_make(&calls->triangle, world->allocator, 7, 7, STORED_STEPPED,
                 JSTRUCTURE_TRIANGULAR_LOWER);
    operand_make(&calls->definite, world->allocator, 7, 7, STORED_STEPPED,
                 JSTRUCTURE_HERMITIAN_LOWER);
    operand_make_definite(&calls->definite, &world->arena);
    calls->one = scalar_of(type, 1, 0);
    calls->zero = scalar_of(type, 0, 0);
}
static void calls_free(calls_t *calls) {
    operand_free(&calls->a);
    operand_free(&calls->b);
    operand_free(&calls->c);
    operand_free(&calls->triangle);
    operand_free(&calls->definite);
}

#define CALLS 8
/* One of the operations that take workspace or make a result; or, behind them, one that does
 * neither. */
static jstatus_t call(jhandle_t *handle, calls_t *calls, int which, jbuffer_t **made) {
    int64_t info;
    double norm;
    switch (which) {
    case 0:
        return jbuffer_product(handle, N, N, &calls->one, calls->a.view, calls->b.view,
                               &calls->zero, made);
    case 1:
        return jbuffer_product(handle, N, N, &calls->one, calls->a.view, calls->b.view, &calls->one,
                               &calls->c.view);
    case 2:
        return jbuffer_solve_triangular(handle, JBLAS_LEFT, N, JBLAS_NON_UNIT, &calls->one,
                                        calls->triangle.view, calls->c.view);
    case 3: return jbuffer_cholesky(handle, calls->definite.view, &info);
    case 4:
        return jbuffer_add(handle, &calls->one, calls->a.view, &calls->one, calls->b.view, made);
    case 5: return jbuffer_transpose(handle, JBLAS_TRANSPOSE, calls->a.view, made);
    case 6: return jbuffer_norm(handle, JNORM_ONE, calls->a.view, &norm);
    case 7: return jbuffer_solve(handle, calls->definite.view, calls->c.view, &info);
    default:
        return jbuffer_add(handle, &calls->one, calls->a.view, &calls->one, calls->c.view,
                           &calls->c.view);
    }
}

static void calls_unchanged(calls_t *calls) {
    operand_expect_unchanged(&calls->a);
    operand_expect_unchanged(&calls->b);
    operand_expect_unchanged(&calls->c);
    operand_expect_unchanged(&calls->triangle);
    operand_expect_unchanged(&calls->definite);
}

static void calls_restore(calls_t *calls) {
    memcpy(calls->c.memory, calls->c.before, calls->c.size_bytes);
    memcpy(calls->definite.memory, calls->definite.before, calls->definite.size_bytes);
}

JTEST(OperationHandle, EachFailedBookkeepingIsSurvived) {
    operation_world_t world;
    calls_t calls;
    operation_begin(&world, JDATATYPE_F64_C);
    calls_make(&calls, &world);
    JEXPECT_OK(jhandle_set_workspace_size(world.handle, 1 << 16));
    const int made_by[] = {0, 4, 5}; /* the others need no bookkeeping */
    for (int i = 0; i < 3; i++)
        JFOR_EACH_FAILURE(n) {
            jbuffer_t *made = NULL;
            const jstatus_t status = call(world.handle, &calls, made_by[i], &made);
            JEXPECT_STATUS(status,
                           jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            JEXPECT_EQ(made == NULL, jtest_metadata_failed());
            calls_unchanged(&calls);
            JEXPECT_EQ(stats_of(world.handle).live_borrow_count, 0);
            JEXPECT_OK(jbuffer_release(made));
        }
    calls_free(&calls);
    operation_end(&world);
}

/* Whatever fails while an operation enqueues its work, or waits for it, is its status. */
JTEST(OperationHandle, EachFailureOfTheDeviceIsReported) {
    operation_world_t world;
    calls_t calls;
    jstream_t *stream;
    operation_begin(&world, JDATATYPE_F64_C);
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(world.handle, stream));
    calls_make(&calls, &world);
    JEXPECT_OK(jhandle_set_workspace_size(world.handle, 1 << 16));
    for (int which = 0; which <= CALLS; which++) {
        bool failed = true;
        uint64_t n = 1;
        for (; failed && n < 1000 && !jtest_has_failure(); n++) {
            jbuffer_t *made = NULL;
            JSCOPED_TRACE("operation %d, failure %d", which, (int)n);
            host_fail_after(n);
            const jstatus_t status = call(world.handle, &calls, which, &made);
            failed = host_fail_no_more();
            JEXPECT_STATUS(status, failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
            JEXPECT_TRUE(!failed || made == NULL);
            JEXPECT_EQ(stats_of(world.handle).live_borrow_count, 0);
            JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
            JEXPECT_OK(jbuffer_release(made));
            calls_restore(&calls);
        }
        JEXPECT_GT(n, 2); /* something failed */
    }
    JEXPECT_OK(jhandle_set_stream(world.handle, NULL));
    JEXPECT_OK(jstream_destroy(stream));
    calls_free(&calls);
    operation_end(&world);
}

/* Of the handle's workspace, and of the buffers' own memory. */
JTEST(OperationHandle, EachFailedAllocationIsSurvived) {
    operation_world_t world, other;
    calls_t calls;
    operation_begin(&world, JDATATYPE_F64_C);
    operation_begin(&other, JDATATYPE_F64_C);
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.type = JDATATYPE_F64_C;
    options.allocator = jtest_failing_allocator();
    JEXPECT_OK(jbuffer_allocator_release(world.allocator));
    JASSERT_OK(jbuffer_allocator_create(world.runtime, &options, &world.allocator));
    calls_make(&calls, &world);
    jhandle_options_t handle_options = JHANDLE_OPTIONS_INIT;
    handle_options.allocator = jtest_failing_allocator();
    for (int which = 0; which < CALLS; which++) {
        bool failed = true;
        for (uint64_t n = 1; failed && n < 10; n++) {
            jhandle_t *handle = NULL;
            jbuffer_t *made = NULL;
            JASSERT_OK(jhandle_create(&handle_options, &handle));
            const uint64_t before = jtest_allocation_count();
            jtest_fail_allocation_after(n);
            const jstatus_t status = call(handle, &calls, which, &made);
            failed = jtest_allocation_count() - before >= n;
            jtest_fail_allocation_after(0);
            JSCOPED_TRACE("call %d, failure %d", which, (int)n);
            JEXPECT_STATUS(status, failed ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            if (failed)
                calls_unchanged(&calls);
            if (failed)
                JEXPECT_NULL(made);
            calls_restore(&calls);
            JEXPECT_OK(jbuffer_release(made));
            JEXPECT_OK(jhandle_destroy(handle));
            JEXPECT_TRUE(failed || n > 1); /* something could fail */
        }
    }
    calls_free(&calls);
    operation_end(&world);
    operation_end(&other);
}

/* A factor of a complex matrix is of a Hermitian one. */
JTEST(OperationHandle, ASymmetricComplexMatrixHasNoCholeskyFactor) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F32_C);
    operand_t a;
    int64_t info = -1;
    operand_make(&a, world.allocator, 3, 3, STORED_COLUMN, JSTRUCTURE_SYMMETRIC_LOWER);
    JEXPECT_STATUS(jbuffer_cholesky(world.handle, a.view, &info), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jhandle_last_message(world.handle), "A is not Hermitian");
    JEXPECT_EQ(info, -1);
    operand_expect_unchanged(&a);
    operand_free(&a);
    operation_end(&world);
}

/* What jblas refuses is refused, and a result that was made for it is gone. */
JTEST(OperationHandle, SizesBeyondTheCblasAreRefused) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    const int64_t most = ji_blas_int_max;
    const double one = 1, zero = 0;
    operand_t a, b;
    jbuffer_t *made = NULL;
    int64_t info = -1;
    operand_make(&a, world.allocator, 9, 9, STORED_COLUMN, JSTRUCTURE_SYMMETRIC_LOWER);
    operand_make(&b, world.allocator, 9, 9, STORED_COLUMN, JSTRUCTURE_GENERAL);
    ji_blas_int_max = 7;
    JEXPECT_STATUS(jbuffer_product(world.handle, N, N, &one, a.view, b.view, &zero, &made),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_cholesky(world.handle, a.view, &info), JSTATUS_INVALID_SIZE);
    ji_blas_int_max = most;
    JEXPECT_NULL(made);
    JEXPECT_EQ(info, -1);
    operand_expect_unchanged(&a);
    operand_free(&a);
    operand_free(&b);
    operation_end(&world);
}

/* ---- What is refused ---- */

JTEST(OperationHandle, MisuseIsAStatus) {
    operation_world_t world, other;
    operation_begin(&world, JDATATYPE_F64);
    operation_begin(&other, JDATATYPE_F64);
    jhandle_t *const h = world.handle;
    const double one = 1, zero = 0;
    double norm = -1;
    int64_t info = -1;
    operand_t a, b, triangle, symmetric, elsewhere;
    operand_make(&a, world.allocator, 3, 4, STORED_COLUMN, JSTRUCTURE_GENERAL);
    operand_make(&b, world.allocator, 4, 3, STORED_COLUMN, JSTRUCTURE_GENERAL);
    operand_make(&triangle, world.allocator, 3, 3, STORED_COLUMN, JSTRUCTURE_TRIANGULAR_LOWER);
    operand_make(&symmetric, world.allocator, 3, 3, STORED_COLUMN, JSTRUCTURE_SYMMETRIC_LOWER);
    operand_make(&elsewhere, other.allocator, 3, 4, STORED_COLUMN, JSTRUCTURE_GENERAL);
    jbuffer_allocator_t *narrow_allocator = NULL, *integer_allocator = NULL;
    jbuffer_t *narrow = NULL, *integers = NULL, *cube = NULL, *none = NULL;
    const jlayout_t layout = operation_layout(2, 3, 4);
    jlayout_t layout3;
    JASSERT_OK(jlayout_init(&layout3, 3, (const int64_t[]){3, 4, 2}, JORDER_COLUMN_MAJOR));
    JASSERT_OK(
        jbuffer_allocator_rebind(world.allocator, JBUFFER_LOCAL, JDATATYPE_F32, &narrow_allocator));
    JASSERT_OK(jbuffer_allocator_rebind(world.allocator, JBUFFER_LOCAL, JDATATYPE_I32,
                                        &integer_allocator));
    JASSERT_OK(jbuffer_construct_value(narrow_allocator, &layout, NULL, &narrow));
    JASSERT_OK(jbuffer_construct_value(integer_allocator, &layout, NULL, &integers));
    JASSERT_OK(jbuffer_construct_value(world.allocator, &layout3, NULL, &cube));

    /* Handles. */
    JEXPECT_STATUS(jbuffer_fill(NULL, a.view, &one), JSTATUS_INVALID_HANDLE);
    static uint64_t zeros[1024];
    JEXPECT_STATUS(jbuffer_fill((jhandle_t *)(void *)zeros, a.view, &one), JSTATUS_INVALID_HANDLE);
    JEXPECT_SUBSTR(jstatus_last_message(), "jbuffer_fill: the handle is destroyed or not a handle");
    JEXPECT_STATUS(jbuffer_norm(NULL, JNORM_MAX, a.view, &norm), JSTATUS_INVALID_HANDLE);
    /* Pointers. */
    JEXPECT_STATUS(jbuffer_fill(h, NULL, &one), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_scale(h, NULL, a.view), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_copy(h, NULL, a.view), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_add(h, NULL, a.view, &one, a.view, &none), JSTATUS_INVALID_POINTER);
    JEXPECT_SUBSTR(jhandle_last_message(h), "alpha is NULL");
    JEXPECT_STATUS(jbuffer_add(h, &one, a.view, NULL, a.view, &none), JSTATUS_INVALID_POINTER);
    JEXPECT_SUBSTR(jhandle_last_message(h), "beta is NULL");
    JEXPECT_STATUS(jbuffer_add(h, &one, a.view, &one, a.view, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_norm(h, JNORM_MAX, a.view, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_transpose(h, N, a.view, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_product(h, N, N, &one, a.view, b.view, NULL, &none),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_SUBSTR(jhandle_last_message(h), "beta is NULL");
    JEXPECT_STATUS(jbuffer_product(h, N, N, NULL, a.view, b.view, &zero, &none),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_SUBSTR(jhandle_last_message(h), "alpha is NULL");
    JEXPECT_STATUS(jbuffer_product(h, N, N, &one, a.view, b.view, &zero, NULL),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_product(h, N, N, &one, NULL, b.view, &zero, &none),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(
        jbuffer_solve_triangular(h, JBLAS_LEFT, N, JBLAS_UNIT, NULL, triangle.view, a.view),
        JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_cholesky(h, symmetric.view, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_solve(h, symmetric.view, a.view, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_SUBSTR(jhandle_last_message(h), "info is NULL");
    JEXPECT_STATUS(jbuffer_solve(h, NULL, a.view, &info), JSTATUS_INVALID_POINTER);
    /* Enums. */
    JEXPECT_STATUS(jbuffer_norm(h, (jnorm_t)4, a.view, &norm), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jhandle_last_message(h), "norm = 4: must be JNORM_MAX (0), ");
    JEXPECT_STATUS(jbuffer_transpose(h, (jblas_operation_t)114, a.view, &none),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jhandle_last_message(h), "operation = 114: must be JBLAS_NO_TRANSPOSE (111), ");
    JEXPECT_STATUS(jbuffer_product(h, (jblas_operation_t)0, N, &one, a.view, b.view, &zero, &none),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(
        jbuffer_product(h, N, (jblas_operation_t)110, &one, a.view, b.view, &zero, &none),
        JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(
        jbuffer_solve_triangular(h, (jblas_side_t)1, N, JBLAS_UNIT, &one, triangle.view, a.view),
        JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_solve_triangular(h, JBLAS_LEFT, N, (jblas_diagonal_t)1, &one,
                                            triangle.view, a.view),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_solve_triangular(h, JBLAS_LEFT, (jblas_operation_t)1, JBLAS_UNIT, &one,
                                            triangle.view, a.view),
                   JSTATUS_INVALID_VALUE);
    /* Shapes; the message has both. */
    JEXPECT_STATUS(jbuffer_copy(h, b.view, a.view), JSTATUS_INVALID_SIZE);
    JEXPECT_SUBSTR(jhandle_last_message(h), "[3,4]");
    JEXPECT_SUBSTR(jhandle_last_message(h), "[4,3]");
    JEXPECT_STATUS(jbuffer_add(h, &one, a.view, &one, b.view, &none), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_add(h, &one, a.view, &one, a.view, &b.view), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_transpose(h, N, a.view, &b.view), JSTATUS_INVALID_SIZE);
    /* Of as many rows. */
    JEXPECT_STATUS(jbuffer_transpose(h, N, a.view, &triangle.view), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_product(h, N, N, &one, a.view, a.view, &zero, &none),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_product(h, N, N, &one, a.view, b.view, &zero, &a.view),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_product(h, N, N, &one, a.view, b.view, &zero, &b.view),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(
        jbuffer_solve_triangular(h, JBLAS_RIGHT, N, JBLAS_UNIT, &one, triangle.view, a.view),
        JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_solve(h, a.view, a.view, &info), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_solve(h, symmetric.view, b.view, &info), JSTATUS_INVALID_SIZE);
    /* Structures, ranks and types. */
    JEXPECT_STATUS(jbuffer_solve(h, symmetric.view, triangle.view, &info), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_solve(h, cube, a.view, &info), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_solve(h, symmetric.view, cube, &info), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(
        jbuffer_solve_triangular(h, JBLAS_LEFT, N, JBLAS_UNIT, &one, symmetric.view, a.view),
        JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(
        jbuffer_solve_triangular(h, JBLAS_LEFT, N, JBLAS_UNIT, &one, triangle.view, symmetric.view),
        JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_cholesky(h, triangle.view, &info), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_cholesky(h, a.view, &info), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(
        jbuffer_product(h, N, N, &one, triangle.view, triangle.view, &zero, &symmetric.view),
        JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_add(h, &one, triangle.view, &one, triangle.view, &symmetric.view),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_transpose(h, N, triangle.view, &symmetric.view), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_transpose(h, N, cube, &none), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_transpose(h, N, a.view, &cube), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_product(h, N, N, &one, cube, b.view, &zero, &none),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_product(h, N, N, &one, a.view, cube, &zero, &none),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_product(h, N, N, &one, a.view, b.view, &zero, &cube),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(
        jbuffer_solve_triangular(h, JBLAS_LEFT, N, JBLAS_UNIT, &one, triangle.view, cube),
        JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_norm(h, JNORM_ONE, cube, &norm), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_add(h, &one, a.view, &one, narrow, &none), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_copy(h, narrow, a.view), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_scale(h, &one, integers), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_norm(h, JNORM_MAX, integers, &norm), JSTATUS_INVALID_VALUE);
    /* runtimes */
    JEXPECT_STATUS(jbuffer_add(h, &one, a.view, &one, elsewhere.view, &none),
                   JSTATUS_INVALID_VALUE);
    /* While querying, operands are looked at, scalars and results are not. */
    size_t bytes = 1;
    JEXPECT_OK(jhandle_start_size_query(h));
    jbuffer_t *asked[2] = {NULL, NULL}; /* placeholders: operation_chain_test.c */
    JEXPECT_STATUS(jbuffer_product(h, N, N, NULL, a.view, b.view, NULL, &asked[0]),
                   JSTATUS_SIZE_UNCHANGED);
    JEXPECT_STATUS(jbuffer_add(h, NULL, a.view, NULL, a.view, &asked[1]), JSTATUS_SIZE_UNCHANGED);
    JEXPECT_STATUS(jbuffer_norm(h, JNORM_ONE, a.view, NULL), JSTATUS_SIZE_INCREASED);
    JEXPECT_STATUS(jbuffer_scale(h, NULL, a.view), JSTATUS_SIZE_UNCHANGED);
    JEXPECT_STATUS(
        jbuffer_solve_triangular(h, JBLAS_LEFT, N, JBLAS_UNIT, NULL, triangle.view, a.view),
        JSTATUS_SIZE_UNCHANGED);
    JEXPECT_STATUS(jbuffer_cholesky(h, symmetric.view, NULL), JSTATUS_SIZE_UNCHANGED);
    JEXPECT_STATUS(jbuffer_copy(h, b.view, a.view), JSTATUS_INVALID_SIZE);
    JEXPECT_OK(jhandle_stop_size_query(h, &bytes));
    JEXPECT_EQ(bytes, 64);
    JEXPECT_OK(jbuffer_release(asked[0]));
    JEXPECT_OK(jbuffer_release(asked[1]));

    JEXPECT_NULL(none);
    JEXPECT_EQ(norm, -1.0);
    JEXPECT_EQ(info, -1);
    operand_expect_unchanged(&a);
    operand_expect_unchanged(&b);
    operand_expect_unchanged(&triangle);
    operand_expect_unchanged(&symmetric);
    JEXPECT_OK(jbuffer_release(narrow));
    JEXPECT_OK(jbuffer_release(integers));
    JEXPECT_OK(jbuffer_release(cube));
    JEXPECT_OK(jbuffer_allocator_release(narrow_allocator));
    JEXPECT_OK(jbuffer_allocator_release(integer_allocator));
    operand_free(&a);
    operand_free(&b);
    operand_free(&triangle);
    operand_free(&symmetric);
    operand_free(&elsewhere);
    operation_end(&world);
    operation_end(&other);
}

/* A vector may be taken as a row. */
JTEST(OperationHandle, AColumnTimesARowIsAMatrix) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    const double two = 2, three = 3, one = 1, zero = 0;
    const jlayout_t column = operation_layout(2, 4, 1), line = operation_layout(1, 3, 0);
    jbuffer_t *a = NULL, *b = NULL, *made = NULL;
    jlayout_t layout;
    double norm = -1;
    JASSERT_OK(jbuffer_construct_value(world.allocator, &column, &two, &a));
    JASSERT_OK(jbuffer_construct_value(world.allocator, &line, &three, &b));
    JASSERT_OK(jbuffer_product(world.handle, N, JBLAS_TRANSPOSE, &one, a, b, &zero, &made));
    JEXPECT_OK(jbuffer_get_layout(made, &layout));
    JEXPECT_EQ(layout.rank, 2);
    JEXPECT_EQ(layout.extents[0], 4);
    JEXPECT_EQ(layout.extents[1], 3);
    JEXPECT_OK(jbuffer_norm(world.handle, JNORM_ONE, made, &norm));
    JEXPECT_EQ(norm, 24.0);
    JEXPECT_OK(jbuffer_release(made));
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(b));
    operation_end(&world);
}

/* A result that would be beyond every memory: of operands that have a dimension of 0 and so no
 * elements. */
JTEST(OperationHandle, ResultsTooLargeToBeMadeAreRefused) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    const double one = 1, zero = 0;
    const int64_t large = (int64_t)1 << 40;
    const jlayout_t tall = operation_layout(2, large, 0), flat = operation_layout(2, 0, large);
    jbuffer_t *a = NULL, *b = NULL, *made = NULL;
    JASSERT_OK(jbuffer_construct_value(world.allocator, &tall, NULL, &a));
    JASSERT_OK(jbuffer_construct_value(world.allocator, &flat, NULL, &b));
    JEXPECT_STATUS(jbuffer_product(world.handle, N, N, &one, a, b, &zero, &made),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_NULL(made);
    JEXPECT_OK(jbuffer_product(world.handle, N, N, &one, b, a, &zero, &made)); /* 0 x 0 */
    JEXPECT_OK(jbuffer_release(made));
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(b));
    operation_end(&world);
}

static void call_inherited(void *argument) {
    operation_world_t *world = argument;
    const jlayout_t layout = operation_layout(2, 2, 2);
    const double one = 1;
    double norm = -1;
    jbuffer_t *x = NULL;
    JASSERT_OK(jbuffer_construct_value(world->allocator, &layout, &one, &x));
    JEXPECT_STATUS(jbuffer_norm(world->handle, JNORM_ONE, x, &norm), JSTATUS_FORKED);
    JEXPECT_SUBSTR(jstatus_last_message(), "jbuffer_norm: the handle was made before a fork");
    JEXPECT_EQ(norm, -1.0);
    JEXPECT_OK(jbuffer_release(x));
}

JTEST(OperationHandle, AParentsHandleIsRefusedInAChild) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    jtest_in_child(20, call_inherited, &world);
    operation_end(&world);
}

JTEST(OperationHandle, FreedBuffersAndForeignPointersAreNotFound) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    const double one = 1, zero = 0;
    operand_t a;
    double norm, foreign[64] = {0};
    int64_t info;
    operand_make(&a, world.allocator, 3, 3, STORED_COLUMN, JSTRUCTURE_GENERAL);
    jbuffer_t *gone = NULL, *none = NULL, *view = NULL;
    JASSERT_OK(
        jbuffer_slice(a.view, (const int64_t[]){0, 0}, (const int64_t[]){3, 3}, NULL, &gone));
    JEXPECT_OK(jbuffer_release(gone));
    jbuffer_t *const wrong[2] = {gone, (jbuffer_t *)(void *)foreign};
    for (int i = 0; i < 2; i++) {
        view = wrong[i];
        JEXPECT_STATUS(jbuffer_copy(world.handle, a.view, view), JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(jbuffer_copy(world.handle, view, a.view), JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(jbuffer_fill(world.handle, view, &one), JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(jbuffer_scale(world.handle, &one, view), JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(jbuffer_add(world.handle, &one, view, &one, a.view, &none),
                       JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(jbuffer_add(world.handle, &one, a.view, &one, a.view, &view),
                       JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(jbuffer_norm(world.handle, JNORM_MAX, view, &norm), JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(jbuffer_transpose(world.handle, N, view, &none), JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(jbuffer_product(world.handle, N, N, &one, a.view, view, &zero, &none),
                       JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(jbuffer_product(world.handle, N, N, &one, a.view, a.view, &zero, &view),
                       JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(
            jbuffer_solve_triangular(world.handle, JBLAS_LEFT, N, JBLAS_UNIT, &one, view, a.view),
            JSTATUS_NOT_FOUND);
        JEXPECT_STATUS(jbuffer_cholesky(world.handle, view, &info), JSTATUS_NOT_FOUND);
    }
    JEXPECT_NULL(none);
    operand_expect_unchanged(&a);
    operand_free(&a);
    operation_end(&world);
}
