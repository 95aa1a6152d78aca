/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The examples of the text that buffers come from, where they need several processes: an allocator
 * of distributed buffers is rebound to replicated ones, and a distributed buffer is converted by
 * copy and by move. */

#include "mpi_fixture.h"

#include <string.h>

#define EXTENTS(...) ((const int64_t[]){__VA_ARGS__})
enum { ROWS = 9, COLUMNS = 11 };

/* The example's TADist: an allocator of distributed buffers, made from the runtime view. */
static jbuffer_allocator_t *distributed_allocator(const jmpi_t *mpi) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator = NULL;
    options.kind = JBUFFER_DISTRIBUTED;
    JEXPECT_OK(jbuffer_allocator_create(mpi->runtime, &options, &allocator));
    return allocator;
}

static double expected(int64_t i, int64_t j) { return (double)(100 * i + j); }

/* Its get_values(): each process is asked for the blocks that it holds, and for no others. */
static jbuffer_filled_t values(void *context, const jbuffer_block_t *block) {
    int64_t *filled = context;
    double *data = block->data;
    for (int64_t j = 0; j < block->extents[1]; ++j)
        for (int64_t i = 0; i < block->extents[0]; ++i)
            data[i * block->strides[0] + j * block->strides[1]] =
                expected(block->starts[0] + i, block->starts[1] + j);
    *filled += block->extents[0] * block->extents[1];
    return JBUFFER_BLOCK_FILLED;
}

static jbuffer_t *distributed_values(const jmpi_t *mpi, jbuffer_allocator_t *allocator) {
    jlayout_t layout;
    jbuffer_t *buffer = NULL;
    int64_t filled = 0, all = 0;
    JEXPECT_OK(jlayout_parse("[9,11] blocks=(2,3)", &layout, NULL));
    JEXPECT_OK(jbuffer_construct_function(allocator, &layout, values, &filled, 1, &buffer));
    jbuffer_part_t part = JBUFFER_PART_INIT;
    JEXPECT_OK(jbuffer_as_part(buffer, &part));
    JEXPECT_EQ(part.rows * part.columns, filled);
    MPI_Allreduce(&filled, &all, 1, MPI_INT64_T, MPI_SUM, mpi->communicator);
    JEXPECT_EQ(all, ROWS * COLUMNS);
    return buffer;
}

/* Every process has the whole. */
static void expect_replicated(jbuffer_t *buffer) {
    jbuffer_kind_t kind = JBUFFER_LOCAL;
    JEXPECT_OK(jbuffer_get_kind(buffer, &kind));
    JEXPECT_EQ(kind, JBUFFER_REPLICATED);
    for (int64_t i = 0; i < ROWS; ++i)
        for (int64_t j = 0; j < COLUMNS; ++j) {
            double value = -1;
            JEXPECT_OK(jbuffer_get(buffer, EXTENTS(i, j), &value));
            JEXPECT_EQ(value, expected(i, j));
        }
}

/* The distributed allocator is rebound to one of replicated buffers, and back. */
JMPI_TEST(SeedMpi, RebindGivesTheReplicatedAllocatorOfTheSameBackend, 0) {
    jbuffer_allocator_t *distributed = distributed_allocator(mpi), *replicated = NULL, *back = NULL;
    JMPI_CHECKPOINT();
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT, original = options;
    JMPI_ASSERT_OK(
        jbuffer_allocator_rebind(distributed, JBUFFER_REPLICATED, JDATATYPE_F64, &replicated));
    JEXPECT_OK(jbuffer_allocator_get_options(replicated, &options));
    JEXPECT_EQ(options.kind, JBUFFER_REPLICATED);
    JEXPECT_TRUE(jbuffer_allocator_runtime(replicated) == mpi->runtime);
    JMPI_ASSERT_OK(jbuffer_allocator_rebind(replicated, JBUFFER_DISTRIBUTED, JDATATYPE_F64, &back));
    JEXPECT_OK(jbuffer_allocator_get_options(back, &options));
    JEXPECT_OK(jbuffer_allocator_get_options(distributed, &original));
    JEXPECT_TRUE(options.grid[0] == original.grid[0] && options.grid[1] == original.grid[1]);
    JEXPECT_EQ(options.grid[0] * options.grid[1], mpi->size);
    JEXPECT_OK(jbuffer_allocator_release(back));
    JEXPECT_OK(jbuffer_allocator_release(replicated));
    JEXPECT_OK(jbuffer_allocator_release(distributed));
}

/* The distributed allocator allocates, and constructs zeros: each process has its part of them. */
JMPI_TEST(SeedMpi, ADistributedBufferIsAllocatedAndZeroedInParts, 0) {
    jbuffer_allocator_t *distributed = distributed_allocator(mpi);
    jlayout_t layout;
    jbuffer_t *buffer = NULL, *zeros = NULL;
    const double zero = 0;
    JEXPECT_OK(jlayout_parse("[9,11] blocks=(2,3)", &layout, NULL));
    JMPI_ASSERT_OK(jbuffer_allocate(distributed, &layout, &buffer));
    JMPI_ASSERT_OK(jbuffer_construct_value(distributed, &layout, &zero, &zeros));
    jbuffer_part_t part = JBUFFER_PART_INIT;
    JEXPECT_OK(jbuffer_as_part(zeros, &part));
    const double *elements = part.pointer;
    for (int64_t j = 0; j < part.columns; ++j)
        for (int64_t i = 0; i < part.rows; ++i)
            JEXPECT_EQ(elements[i + j * part.leading_dimension], 0);
    JEXPECT_OK(jbuffer_release(zeros));
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(distributed));
}

/* The replicated allocator constructs from the distributed buffer: a copy, and the original stays
 * as it was. */
JMPI_TEST(SeedMpi, ADistributedBufferIsCopiedToAReplicatedOne, 0) {
    jbuffer_allocator_t *distributed = distributed_allocator(mpi), *replicated = NULL;
    JMPI_ASSERT_OK(
        jbuffer_allocator_rebind(distributed, JBUFFER_REPLICATED, JDATATYPE_F64, &replicated));
    jbuffer_t *buffer = distributed_values(mpi, distributed), *copy = NULL, *again = NULL;
    JMPI_CHECKPOINT();
    JMPI_ASSERT_OK(jbuffer_construct_copy(replicated, buffer, &copy));
    expect_replicated(copy);
    JMPI_ASSERT_OK(jbuffer_construct_copy(distributed, copy, &again)); /* and back */
    JMPI_ASSERT_OK(jbuffer_release(copy));
    JMPI_ASSERT_OK(jbuffer_construct_copy(replicated, again, &copy));
    expect_replicated(copy);
    JEXPECT_OK(jbuffer_release(copy));
    JEXPECT_OK(jbuffer_release(again));
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(replicated));
    JEXPECT_OK(jbuffer_allocator_release(distributed));
}

/* The same with the distributed buffer moved: reused as far as can be. One process holds all of it
 * already; with several each gets what it lacks, so there is nothing to use again, and that is
 * said. */
JMPI_TEST(SeedMpi, ADistributedBufferIsMovedToAReplicatedOne, 0) {
    jbuffer_allocator_t *distributed = distributed_allocator(mpi), *replicated = NULL;
    JMPI_ASSERT_OK(
        jbuffer_allocator_rebind(distributed, JBUFFER_REPLICATED, JDATATYPE_F64, &replicated));
    jbuffer_t *buffer = distributed_values(mpi, distributed), *moved = NULL;
    JMPI_CHECKPOINT();
    bool reused = mpi->size > 1;
    JMPI_ASSERT_OK(jbuffer_construct_move(replicated, &buffer, &moved, &reused));
    JEXPECT_NULL(buffer);
    JEXPECT_EQ(reused, mpi->size == 1);
    expect_replicated(moved);
    /* To another distributed buffer of the same grid and blocks everything is reused, on each
     * process. */
    jbuffer_t *parts = distributed_values(mpi, distributed), *same = NULL;
    jbuffer_part_t before = JBUFFER_PART_INIT, after = JBUFFER_PART_INIT;
    JEXPECT_OK(jbuffer_as_part(parts, &before));
    JMPI_ASSERT_OK(jbuffer_construct_move(distributed, &parts, &same, &reused));
    JEXPECT_TRUE(reused);
    JEXPECT_OK(jbuffer_as_part(same, &after));
    JEXPECT_TRUE(before.pointer == after.pointer);
    JEXPECT_OK(jbuffer_release(same));
    JEXPECT_OK(jbuffer_release(moved));
    JEXPECT_OK(jbuffer_allocator_release(replicated));
    JEXPECT_OK(jbuffer_allocator_release(distributed));
}

/* Mixed operands: the distributed one's allocator makes the result. */
JMPI_TEST(SeedMpi, MixedOperandsGiveADistributedResult, 0) {
    jbuffer_allocator_t *distributed = distributed_allocator(mpi), *replicated = NULL,
                        *result = NULL;
    JMPI_ASSERT_OK(
        jbuffer_allocator_rebind(distributed, JBUFFER_REPLICATED, JDATATYPE_F64, &replicated));
    jbuffer_t *buffer = distributed_values(mpi, distributed), *copy = NULL;
    JMPI_CHECKPOINT();
    JMPI_ASSERT_OK(jbuffer_construct_copy(replicated, buffer, &copy));
    jbuffer_t *const operands[] = {copy, buffer};
    JEXPECT_OK(jbuffer_propagate(2, operands, &result));
    JEXPECT_TRUE(result == distributed);
    JEXPECT_OK(jbuffer_allocator_release(result));
    JEXPECT_OK(jbuffer_release(copy));
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(replicated));
    JEXPECT_OK(jbuffer_allocator_release(distributed));
}
