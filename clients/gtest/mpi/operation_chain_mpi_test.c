/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Chains of operations with new intermediate results, of every kind: a query on all processes, on
 * one, on none. */

#include "mpi_operation.h"

#include <string.h>

#define ORDER 21
static const jblas_operation_t N = JBLAS_NO_TRANSPOSE, T = JBLAS_TRANSPOSE;
static const double one = 1, two = 2, zero = 0;

typedef struct ranks {
    int ranks, grid[2];
} ranks_t;
static const ranks_t teams[3] = {{1, {1, 1}}, {2, {2, 1}}, {4, {2, 2}}};

typedef struct chain {
    placed_t a, definite, lower;
    jbuffer_t *p, *t, *s, *h;
    int64_t info;
} chain_t;

static void chain_make(chain_t *chain, mpi_world_t *world, place_t place) {
    *chain = (chain_t){.info = -1};
    placed_make(&chain->a, world, place, true, ORDER, ORDER, JSTRUCTURE_GENERAL, false);
    placed_make(&chain->definite, world, place, true, ORDER, ORDER, JSTRUCTURE_SYMMETRIC_LOWER,
                true);
    placed_make(&chain->lower, world, place, true, ORDER, ORDER, JSTRUCTURE_TRIANGULAR_LOWER,
                false);
}

static void chain_release(chain_t *chain) {
    JEXPECT_OK(jbuffer_release(chain->p));
    JEXPECT_OK(jbuffer_release(chain->t));
    JEXPECT_OK(jbuffer_release(chain->s));
    JEXPECT_OK(jbuffer_release(chain->h));
    chain->p = chain->t = chain->s = chain->h = NULL;
}

static void chain_free(chain_t *chain) {
    chain_release(chain);
    placed_free(&chain->a);
    placed_free(&chain->definite);
    placed_free(&chain->lower);
}

/* P = A A, T = P^T, S = L^-1 (P + 2 T), H = 2 K = R R^T. */
static void chain_run(mpi_world_t *world, chain_t *chain) {
    jhandle_t *h = world->handle;
    const jblas_side_t left = JBLAS_LEFT;
    JEXPECT_FALSE(jstatus_is_error(
        jbuffer_product(h, N, N, &one, chain->a.view, chain->a.view, &zero, &chain->p)));
    JEXPECT_FALSE(jstatus_is_error(jbuffer_transpose(h, T, chain->p, &chain->t)));
    JEXPECT_FALSE(jstatus_is_error(jbuffer_add(h, &one, chain->p, &two, chain->t, &chain->s)));
    JEXPECT_FALSE(jstatus_is_error(
        jbuffer_solve_triangular(h, left, N, JBLAS_NON_UNIT, &one, chain->lower.view, chain->s)));
    JEXPECT_FALSE(jstatus_is_error(
        jbuffer_add(h, &one, chain->definite.view, &one, chain->definite.view, &chain->h)));
    JEXPECT_FALSE(jstatus_is_error(jbuffer_cholesky(h, chain->h, &chain->info)));
}

static void chain_expect(mpi_world_t *world, chain_t *chain) {
    const wide_matrix_t a = operand_value(&world->arena, &chain->a.local);
    wide_matrix_t p = wide_zeros(&world->arena, ORDER, ORDER),
                  h = wide_zeros(&world->arena, ORDER, ORDER),
                  s = wide_zeros(&world->arena, ORDER, ORDER);
    wide_multiply_add(1, a, a, p);
    made_expect(world, chain->p, p, 100);
    const wide_matrix_t t = wide_operate(&world->arena, p, T);
    made_expect(world, chain->t, t, 100);
    wide_add(1, p, s);
    wide_add(2, t, s);
    wide_solve(operand_value(&world->arena, &chain->lower.local), s);
    made_expect(world, chain->s, s, 64 * (ORDER + 4) * (ORDER + 4));
    wide_add(2, operand_value(&world->arena, &chain->definite.local), h);
    JEXPECT_EQ(wide_cholesky(h), 0);
    jbuffer_t *factor = NULL;
    JEXPECT_OK(jbuffer_with_structure(chain->h, JSTRUCTURE_TRIANGULAR_LOWER, &factor));
    made_expect(world, factor, h, 64 * (ORDER + 4) * (ORDER + 4));
    JEXPECT_OK(jbuffer_release(factor));
    JEXPECT_EQ(chain->info, 0);
}

/* In exactly the bytes that all have asked for. Then by one that has asked, and others that have
 * not: a query asks nobody, so nobody else need know of what it made. */
JMPI_TEST_P(OperationMpiChain, OneQueryIsEnoughForTheWholeChain, ranks_t, teams) {
    for (int place = PLACE_LOCAL; place < PLACE_COUNT; place++) {
        mpi_world_t world;
        chain_t chain;
        JSCOPED_TRACE("place %d", place);
        mpi_world_begin(&world, mpi, JDATATYPE_F64, param->grid);
        chain_make(&chain, &world, (place_t)place);
        for (int asks = 0; asks < 2; asks++) { /* all; the last rank */
            if (asks == 0 || mpi->rank == mpi->size - 1) {
                JEXPECT_OK(jhandle_start_size_query(world.handle));
                chain_run(&world, &chain);
                JEXPECT_TRUE(is_placed(&world, chain.s, (place_t)place));
                mpi_give_exactly(&world);
            }
            JEXPECT_OK(jhandle_clear_stats(world.handle));
            for (int round = 0; round < 2; round++) {
                chain_run(&world, &chain);
                chain_expect(&world, &chain);
            }
            jhandle_stats_t stats = {.struct_size = sizeof stats};
            JEXPECT_OK(jhandle_get_stats(world.handle, &stats));
            JEXPECT_EQ(stats.degraded_count, 0);
            mpi_give_any(&world);
            chain_release(&chain);
            JMPI_CHECKPOINT();
        }
        chain_free(&chain);
        mpi_world_end(&world);
        JMPI_CHECKPOINT();
    }
}

/* Memory that one rank cannot have leaves placeholders on all; one is no operand, on any. */
JMPI_TEST_P(OperationMpiChain, APlaceholderIsTheSameOnAll, ranks_t, teams) {
    for (int distributed = 0; distributed < 2; distributed++) {
        mpi_world_t world;
        placed_t a;
        jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
        jbuffer_allocator_t *failing = NULL;
        jbuffer_t *b = NULL, *c = NULL, *none = NULL, *fresh = NULL;
        const int64_t origin[2] = {0, 0};
        double value = -1;
        options.kind = distributed ? JBUFFER_DISTRIBUTED : JBUFFER_REPLICATED;
        options.allocator = jtest_failing_allocator();
        memcpy(options.grid, param->grid, sizeof options.grid);
        mpi_world_begin(&world, mpi, JDATATYPE_F64, param->grid);
        if (!distributed)
            options.grid[0] = options.grid[1] = 0;
        options.blocks[0] = options.blocks[1] = 2;
        placed_make(&a, &world, PLACE_LOCAL, true, ORDER, ORDER, JSTRUCTURE_GENERAL, false);
        JMPI_ASSERT_OK(jbuffer_allocator_create(mpi->runtime, &options, &failing));
        JMPI_ASSERT_OK(jbuffer_construct_copy(failing, a.view, &b));
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(jstatus_is_error(jbuffer_transpose(world.handle, T, b, &c)));
        mpi_give_exactly(&world);
        jbuffer_t *const made = c;
        for (int bad = 0; bad < mpi->size; bad++)
            for (int way = 0; way < 3;
                 way++) { /* a placeholder; a new result; a placeholder that is written all over */
                if (way == 2 && distributed)
                    continue; /* collective already */
                if (mpi->rank == bad)
                    jtest_fail_allocation_after(1);
                const jstatus_t status =
                    way == 2 ? jbuffer_fill(world.handle, c, &two)
                             : jbuffer_transpose(world.handle, T, b, way == 0 ? &c : &fresh);
                jtest_fail_allocation_after(0);
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                JEXPECT_TRUE(c == made);
                JEXPECT_NULL(fresh);
                void *pointer = NULL;
                if (!distributed) /* none has taken its memory alone */
                    JEXPECT_STATUS(jbuffer_as_pointer(c, JDEVICE_HOST, &pointer),
                                   JSTATUS_INVALID_VALUE);
                JMPI_CHECKPOINT();
            }
#define EXPECT_REFUSED(call)                                                                       \
    do {                                                                                           \
        JEXPECT_STATUS(call, JSTATUS_INVALID_VALUE);                                               \
        JEXPECT_SUBSTR(jstatus_last_message(), "placeholder that a size query made");              \
    } while (0)
        jbuffer_part_t part = JBUFFER_PART_INIT;
        jbuffer_scalapack_t scalapack = JBUFFER_SCALAPACK_INIT;
        MPI_Win window;
        jbuffer_t *moved = c;
        EXPECT_REFUSED(jbuffer_get(c, origin, &value));
        EXPECT_REFUSED(jbuffer_set(c, origin, &value));
        EXPECT_REFUSED(jbuffer_save(c, "placeholder.npy"));
        EXPECT_REFUSED(jbuffer_construct_copy(failing, c, &none));
        EXPECT_REFUSED(jbuffer_construct_move(failing, &moved, &none, NULL));
        EXPECT_REFUSED(jbuffer_transpose(world.handle, T, c, &none));
        EXPECT_REFUSED(jbuffer_scale(world.handle, &two, c));
        if (distributed) {
            EXPECT_REFUSED(jbuffer_as_part(c, &part));
            EXPECT_REFUSED(jbuffer_as_scalapack(c, &scalapack));
            EXPECT_REFUSED(jbuffer_as_window(c, &window));
        }
        JMPI_CHECKPOINT();
        JMPI_ASSERT_OK(jbuffer_transpose(world.handle, T, b, &c));
        made_expect(&world, c, wide_operate(&world.arena, operand_value(&world.arena, &a.local), T),
                    0);
        mpi_give_any(&world);
        JEXPECT_OK(jbuffer_release(b));
        JEXPECT_OK(jbuffer_release(c));
        JEXPECT_OK(jbuffer_allocator_release(failing));
        JEXPECT_EQ(jtest_live_bytes(), 0);
        placed_free(&a);
        mpi_world_end(&world);
        JMPI_CHECKPOINT();
    }
}
