/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What goes wrong on one rank of an operation is the same status on all, operands stay as they
 * were, and the next call is as ever. */

#include "mpi_operation.h"

#define RANKS 4
static const int grid[2] = {2, 2};
static const jblas_operation_t N = JBLAS_NO_TRANSPOSE;

/* A product with everything that can fail: mixed kinds, structures to expand, a result to be made
 * where `made` is given. */
typedef struct product {
    placed_t a, b, c;
    scalar_t one, zero;
} product_t;

static void product_make(product_t *p, mpi_world_t *world) {
    placed_make(&p->a, world, PLACE_GRID, false, 13, 13, JSTRUCTURE_TRIANGULAR_LOWER, false);
    placed_make(&p->b, world, PLACE_REPLICATED, false, 13, 9, JSTRUCTURE_GENERAL, false);
    placed_make(&p->c, world, PLACE_OTHER_GRID, false, 13, 9, JSTRUCTURE_GENERAL, false);
    p->one = scalar_of(world->type, 1, 0);
    p->zero = scalar_of(world->type, 0, 0);
}
static void product_free(product_t *p) {
    placed_free(&p->a);
    placed_free(&p->b);
    placed_free(&p->c);
}
static jstatus_t product_call(jhandle_t *handle, product_t *p, jbuffer_t **c) {
    return jbuffer_product(handle, N, N, &p->one, p->a.view, p->b.view, &p->zero, c);
}
static wide_matrix_t product_value(mpi_world_t *world, const product_t *p) {
    wide_matrix_t value = wide_zeros(&world->arena, 13, 9);
    wide_multiply_add(1, operand_value(&world->arena, &p->a.local),
                      operand_value(&world->arena, &p->b.local), value);
    return value;
}

JMPI_TEST(OperationMpiFailure, TooLittleWorkspaceOnOneRank, RANKS) {
    for (int bad = 0; bad < RANKS; bad++) {
        mpi_world_t world;
        product_t p;
        mpi_world_begin(&world, mpi, JDATATYPE_F64, grid);
        product_make(&p, &world);
        if (mpi->rank == bad)
            JEXPECT_OK(jhandle_set_workspace_size(world.handle, 64));
        JMPI_EXPECT_ON_ALL(product_call(world.handle, &p, &p.c.view), JSTATUS_MEMORY_ERROR);
        if (mpi->rank != bad)
            JEXPECT_SUBSTR(jstatus_last_message(), "rank");
        JEXPECT_OK(jhandle_set_workspace_size(world.handle, 0));
        placed_expect(&world, &p.c, operand_value(&world.arena, &p.c.local), 0);
        placed_expect(&world, &p.a, operand_value(&world.arena, &p.a.local), 0);
        JMPI_EXPECT_ON_ALL(product_call(world.handle, &p, &p.c.view), JSTATUS_SUCCESS);
        placed_expect(&world, &p.c, product_value(&world, &p), 100);
        product_free(&p);
        mpi_world_end(&world);
        JMPI_CHECKPOINT();
    }
}

/* Each process asks for itself: nobody else need ask. */
JMPI_TEST(OperationMpiFailure, AQueryAsksNobody, RANKS) {
    mpi_world_t world;
    product_t p;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, grid);
    product_make(&p, &world);
    if (mpi->rank == 2) {
        size_t bytes = 0;
        double norm;
        jbuffer_t *none = NULL;
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_STATUS(product_call(world.handle, &p, &p.c.view), JSTATUS_SIZE_INCREASED);
        JEXPECT_STATUS(product_call(world.handle, &p, &none), JSTATUS_SIZE_UNCHANGED);
        JEXPECT_FALSE(jstatus_is_error(jbuffer_copy(world.handle, p.b.view, p.c.view)));
        JEXPECT_FALSE(jstatus_is_error(jbuffer_norm(world.handle, JNORM_ONE, p.c.view, &norm)));
        JEXPECT_STATUS(jbuffer_transpose(world.handle, (jblas_operation_t)1, p.a.view, &none),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_OK(jhandle_stop_size_query(world.handle, &bytes));
        JEXPECT_GT(bytes, 0);
        JEXPECT_OK(jbuffer_release(none)); /* a placeholder, which is nobody else's */
    }
    JMPI_CHECKPOINT();
    product_free(&p);
    mpi_world_end(&world);
}

/* Enough for the rounds, not for the exchange, on one rank: a lower rung there is perf degraded on
 * all. */
JMPI_TEST(OperationMpiFailure, LessWorkspaceOnOneRankIsPerfDegradedOnAll, RANKS) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, grid);
    const jlayout_t layout = operation_layout(2, 1000, 1100);
    const double value = 3;
    jbuffer_t *a = NULL, *b = NULL;
    JMPI_ASSERT_OK(jbuffer_construct_value(world.allocators[PLACE_GRID], &layout, &value, &a));
    JMPI_ASSERT_OK(jbuffer_construct_value(world.allocators[PLACE_OTHER_GRID], &layout, NULL, &b));
    size_t bytes = 0;
    JEXPECT_OK(jhandle_start_size_query(world.handle));
    JEXPECT_STATUS(jbuffer_copy(world.handle, b, a), JSTATUS_SIZE_INCREASED);
    JEXPECT_OK(jhandle_stop_size_query(world.handle, &bytes));
    JEXPECT_GT(bytes, (size_t)1 << 20);
    const size_t given = mpi->rank == 2 ? bytes - 64 : bytes;
    JEXPECT_OK(jhandle_set_workspace(world.handle, jtest_guard_pages(given), given));
    JMPI_EXPECT_ON_ALL(jbuffer_copy(world.handle, b, a), JSTATUS_PERF_DEGRADED);
    double norm = -1, one = 1, minus = -1;
    JEXPECT_OK(jhandle_set_workspace_size(world.handle, 0));
    JEXPECT_OK(jbuffer_add(world.handle, &one, a, &minus, b, &a));
    JEXPECT_OK(jbuffer_norm(world.handle, JNORM_MAX, a, &norm));
    JEXPECT_EQ(norm, 0.0);
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(b));
    mpi_world_end(&world);
}

JMPI_TEST(OperationMpiFailure, AWrongArgumentOnOneRank, RANKS) {
    mpi_world_t world;
    product_t p;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, grid);
    product_make(&p, &world);
    for (int bad = 0; bad < RANKS; bad++) {
        const bool wrong = mpi->rank == bad;
        jbuffer_t *made = NULL, *gone = NULL;
        int64_t info = -1;
        double norm = -1;
        JMPI_EXPECT_ON_ALL(jbuffer_product(world.handle, wrong ? (jblas_operation_t)7 : N, N,
                                           &p.one, p.a.view, p.b.view, &p.zero, &made),
                           JSTATUS_INVALID_VALUE);
        JMPI_EXPECT_ON_ALL(jbuffer_product(world.handle, N, N, wrong ? NULL : &p.one, p.a.view,
                                           p.b.view, &p.zero, &made),
                           JSTATUS_INVALID_POINTER);
        JMPI_EXPECT_ON_ALL(product_call(wrong ? NULL : world.handle, &p, &made),
                           JSTATUS_INVALID_HANDLE);
        JMPI_EXPECT_ON_ALL(
            jbuffer_transpose(world.handle, wrong ? (jblas_operation_t)7 : N, p.a.view, &made),
            JSTATUS_INVALID_VALUE);
        JMPI_EXPECT_ON_ALL(jbuffer_scale(world.handle, wrong ? NULL : &p.one, p.c.view),
                           JSTATUS_INVALID_POINTER);
        JMPI_EXPECT_ON_ALL(
            jbuffer_norm(world.handle, wrong ? (jnorm_t)9 : JNORM_MAX, p.a.view, &norm),
            JSTATUS_INVALID_VALUE);
        JMPI_EXPECT_ON_ALL(jbuffer_solve_triangular(world.handle, JBLAS_LEFT, N,
                                                    wrong ? (jblas_diagonal_t)0 : JBLAS_UNIT,
                                                    &p.one, p.a.view, p.c.view),
                           JSTATUS_INVALID_VALUE);
        JMPI_EXPECT_ON_ALL(jbuffer_copy(world.handle, p.c.view, wrong ? p.a.view : p.b.view),
                           JSTATUS_INVALID_SIZE);
        /* On all: triangular. */
        JMPI_EXPECT_ON_ALL(jbuffer_cholesky(world.handle, p.a.view, &info), JSTATUS_INVALID_VALUE);
        /* A freed one beside live ones. */
        JEXPECT_OK(jbuffer_slice(p.b.view, (const int64_t[]){0, 0}, (const int64_t[]){13, 9}, NULL,
                                 &gone));
        if (wrong)
            JEXPECT_OK(jbuffer_release(gone));
        JMPI_EXPECT_ON_ALL(
            jbuffer_product(world.handle, N, N, &p.one, p.a.view, gone, &p.zero, &made),
            JSTATUS_NOT_FOUND);
        if (!wrong)
            JEXPECT_OK(jbuffer_release(gone));
        JEXPECT_NULL(made);
        JEXPECT_EQ(info, -1);
        JMPI_CHECKPOINT();
    }
    placed_expect(&world, &p.c, operand_value(&world.arena, &p.c.local), 0);
    product_free(&p);
    mpi_world_end(&world);
}

/* The n-th bookkeeping allocation fails on one rank. What is not given back is found when the test
 * ends. */
JMPI_TEST(OperationMpiFailure, NoBookkeepingOnOneRank, RANKS) {
    for (int bad = 0; bad < RANKS; bad++)
        for (int makes = 0; makes < 2; makes++) {
            mpi_world_t world;
            product_t p;
            mpi_world_begin(&world, mpi, JDATATYPE_F64, grid);
            product_make(&p, &world);
            JEXPECT_OK(jhandle_set_workspace_size(world.handle, 1 << 16));
            bool failed = true;
            for (uint64_t n = 1; failed && n < 100; n++) {
                jbuffer_t *made = NULL;
                jmpi_fail_metadata_on(mpi, bad, n);
                const jstatus_t status = product_call(world.handle, &p, makes ? &made : &p.c.view);
                failed = jmpi_metadata_failed_on(mpi, bad);
                JSCOPED_TRACE("failure %d on rank %d", (int)n, bad);
                /* The process's allocator of host memory does without some of its own
                 * bookkeeping. */
                JMPI_EXPECT_ON_ALL(status, failed && status != JSTATUS_SUCCESS
                                               ? JSTATUS_MEMORY_ERROR
                                               : JSTATUS_SUCCESS);
                if (status != JSTATUS_SUCCESS) {
                    JEXPECT_NULL(made);
                    if (!makes)
                        placed_expect(&world, &p.c, operand_value(&world.arena, &p.c.local), 0);
                } else {
                    JEXPECT_GT(n, makes ? 4 : 6); /* two temporaries or three, of two blocks each */
                    if (makes)
                        made_expect(&world, made, product_value(&world, &p), 100);
                    else
                        placed_expect(&world, &p.c, product_value(&world, &p), 100);
                }
                JEXPECT_OK(jbuffer_release(made));
                JMPI_CHECKPOINT();
            }
            product_free(&p);
            mpi_world_end(&world);
        }
}

/* Results that several machines have a copy of each: one process of each writes. */
JMPI_TEST_NODES(OperationMpiFailure, SharedResultsOnSeveralMachines, RANKS, 2) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, grid);
    const scalar_t one = scalar_of(world.type, 1, 0), zero = scalar_of(world.type, 0, 0);
    placed_t a, b;
    int64_t info = -1;
    placed_make(&a, &world, PLACE_SHARED, false, 20, 20, JSTRUCTURE_SYMMETRIC_LOWER, true);
    placed_make(&b, &world, PLACE_SHARED, false, 20, 6, JSTRUCTURE_GENERAL, false);
    wide_matrix_t product = wide_zeros(&world.arena, 20, 6),
                  factor = operand_value(&world.arena, &a.local);
    wide_multiply_add(1, operand_value(&world.arena, &a.local),
                      operand_value(&world.arena, &b.local), product);
    jbuffer_t *made = NULL, *triangle = NULL;
    JMPI_ASSERT_OK(jbuffer_product(world.handle, N, N, &one, a.view, b.view, &zero, &made));
    made_expect(&world, made, product, 200);
    /* made := A^-1 made = b, by the factor */
    JMPI_EXPECT_ON_ALL(jbuffer_cholesky(world.handle, a.view, &info), JSTATUS_SUCCESS);
    JEXPECT_EQ(info, 0);
    JEXPECT_EQ(wide_cholesky(factor), 0);
    placed_expect(&world, &a, factor, 10000);
    JMPI_ASSERT_OK(jbuffer_with_structure(a.view, JSTRUCTURE_TRIANGULAR_LOWER, &triangle));
    JEXPECT_OK(jbuffer_solve_triangular(world.handle, JBLAS_LEFT, N, JBLAS_NON_UNIT, &one, triangle,
                                        made));
    JEXPECT_OK(jbuffer_solve_triangular(world.handle, JBLAS_LEFT, JBLAS_TRANSPOSE, JBLAS_NON_UNIT,
                                        &one, triangle, made));
    wide_matrix_t expected = operand_value(&world.arena, &b.local);
    for (int64_t i = 0; i < 120; i++)
        expected.bound[i] = 1;
    made_expect(&world, made, expected, 10000);
    JEXPECT_OK(jbuffer_release(triangle));
    JEXPECT_OK(jbuffer_release(made));
    placed_free(&a);
    placed_free(&b);
    mpi_world_end(&world);
}

/* ScaLAPACK counts in 32 bits: what it cannot count is refused before it is called. Nothing of this
 * memory is there. */
JMPI_TEST(OperationMpiFailure, SizesBeyondScalapacksIntegers, 1) {
    mpi_world_t world;
    const int one_by_one[2] = {1, 1};
    mpi_world_begin(&world, mpi, JDATATYPE_F64, one_by_one);
    const jlayout_t huge = operation_layout(2, INT64_C(3000000000), 1),
                    small = operation_layout(2, 1, 1);
    const double one = 1, zero = 0;
    double nowhere[8] = {0};
    jbuffer_t *a = NULL, *b = NULL, *c = NULL;
    size_t bytes = 0;
    JEXPECT_OK(jbuffer_wrap(world.allocators[PLACE_GRID], &huge, nowhere, &a));
    JEXPECT_OK(jbuffer_construct_value(world.allocators[PLACE_GRID], &small, &one, &b));
    JEXPECT_STATUS(jbuffer_product(world.handle, N, N, &one, a, b, &zero, &c),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_transpose(world.handle, JBLAS_TRANSPOSE, a, &c), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_add(world.handle, &one, a, &one, a, &a), JSTATUS_INVALID_SIZE);
    JEXPECT_OK(jhandle_start_size_query(world.handle));
    JEXPECT_STATUS(jbuffer_product(world.handle, N, N, &one, a, b, &zero, &c),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_OK(jhandle_stop_size_query(world.handle, &bytes));
    JEXPECT_NULL(c);
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(b));
    mpi_world_end(&world);
}
