/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Collective calls in which one rank passes something else than the others: the same status on all,
 * at once, and the next call is as ever. And an error of MPI in the middle of a copy, after which
 * nothing is left under way. */

#include "mpi_operation.h"

static const jblas_operation_t N = JBLAS_NO_TRANSPOSE;
static const int any_grid[2] = {0, 0};

/* All ranks got this. */
#define EXPECT_REFUSED(call)                                                                       \
    do {                                                                                           \
        const jstatus_t got_ = (call);                                                             \
        JEXPECT_STATUS(got_, JSTATUS_INVALID_VALUE);                                               \
        JEXPECT_SUBSTR(jstatus_last_message(), "same arguments");                                  \
        JMPI_CHECKPOINT();                                                                         \
    } while (0)

JMPI_TEST(ArgumentsMpi, OfBuffersThatAreMade, 4) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, any_grid);
    const bool odd = mpi->rank == 2;
    for (int place = PLACE_REPLICATED; place < PLACE_COUNT; place++) {
        JSCOPED_TRACE("place %d", place);
        jbuffer_allocator_t *allocator = world.allocators[place];
        jlayout_t layout = operation_layout(2, odd ? 9 : 8, 7), same = operation_layout(2, 8, 7);
        jbuffer_t *made = NULL, *local = NULL, *from = NULL;
        double list[8][7] = {{1}}, other[7][8] = {{1}};
        /* That is taken before: the sizes of the segment differ, which is a status, too. */
        if (place != PLACE_SHARED)
            EXPECT_REFUSED(jbuffer_allocate(allocator, &layout, &made));
        EXPECT_REFUSED(odd ? jbuffer_construct_list(allocator, JBUFFER_LIST_2(other), &made)
                           : jbuffer_construct_list(allocator, JBUFFER_LIST_2(list), &made));
        JMPI_ASSERT_OK(
            jbuffer_construct_value(world.allocators[PLACE_LOCAL], &layout, NULL, &local));
        EXPECT_REFUSED(jbuffer_construct_copy(allocator, local, &made));
        from = local;
        EXPECT_REFUSED(jbuffer_construct_move(allocator, &from, &made, NULL));
        JEXPECT_EQ(from, local);
        if (place >= PLACE_GRID) {
            JEXPECT_OK(jlayout_set_blocks(&same, (const int64_t[]){odd ? 2 : 3, 3}));
            EXPECT_REFUSED(jbuffer_construct_value(allocator, &same, NULL, &made));
        }
        JEXPECT_NULL(made);
        same = operation_layout(2, 8, 7);
        JMPI_ASSERT_OK(jbuffer_construct_value(allocator, &same, NULL, &made));
        JEXPECT_OK(jbuffer_release(made));
        JEXPECT_OK(jbuffer_release(local));
    }
    mpi_world_end(&world);
}

JMPI_TEST(ArgumentsMpi, OfAllocators, 4) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator = NULL;
    const bool odd = mpi->rank == 1;
    options.kind = JBUFFER_DISTRIBUTED;
    options.blocks[0] = odd ? 3 : 4;
    EXPECT_REFUSED(jbuffer_allocator_create(mpi->runtime, &options, &allocator));
    options.blocks[0] = 0;
    options.grid[0] = odd ? 1 : 2;
    options.grid[1] = 2;
    EXPECT_REFUSED(jbuffer_allocator_create(mpi->runtime, &options, &allocator));
    options.grid[0] = 2;
    options.kind = odd ? JBUFFER_REPLICATED : JBUFFER_DISTRIBUTED;
    EXPECT_REFUSED(jbuffer_allocator_create(mpi->runtime, &options, &allocator));
    JEXPECT_NULL(allocator);
}

JMPI_TEST(ArgumentsMpi, OfOperations, 4) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, any_grid);
    const bool odd = mpi->rank == 3;
    const jlayout_t layout = operation_layout(2, 12, 12);
    const double one = 1, zero = 0, alpha = odd ? 2 : 1;
    jbuffer_t *a = NULL, *b = NULL, *made = NULL, *part = NULL;
    double norm = -1, value = -1;
    JMPI_ASSERT_OK(jbuffer_construct_value(world.allocators[PLACE_GRID], &layout, &one, &a));
    JMPI_ASSERT_OK(jbuffer_construct_value(world.allocators[PLACE_GRID], &layout, &one, &b));
    JMPI_ASSERT_OK(
        jbuffer_slice(a, (const int64_t[]){odd, 0}, (const int64_t[]){5, 5}, NULL, &part));
    EXPECT_REFUSED(jbuffer_product(world.handle, N, N, &alpha, a, b, &zero, &made));
    EXPECT_REFUSED(
        jbuffer_product(world.handle, odd ? JBLAS_TRANSPOSE : N, N, &one, a, b, &zero, &made));
    EXPECT_REFUSED(jbuffer_product(world.handle, N, N, &one, part, part, &zero, &made));
    EXPECT_REFUSED(odd ? jbuffer_transpose(world.handle, N, a, &made)
                       : jbuffer_add(world.handle, &one, a, &one, b, &made));
    EXPECT_REFUSED(jbuffer_norm(world.handle, odd ? JNORM_ONE : JNORM_MAX, a, &norm));
    EXPECT_REFUSED(
        /* A result that is given. */
        jbuffer_product(world.handle, N, N, &one, a, b, &zero, odd ? &b : &made));
    EXPECT_REFUSED(jbuffer_get(a, (const int64_t[]){odd, 11}, &value));
    JEXPECT_NULL(made);
    JEXPECT_EQ(norm, -1.0);
    JEXPECT_OK(jbuffer_scale(world.handle, &alpha, b)); /* each its own part */
    JEXPECT_OK(jbuffer_product(world.handle, N, N, &one, a, a, &zero, &made));
    JEXPECT_OK(jbuffer_norm(world.handle, JNORM_MAX, made, &norm));
    JEXPECT_EQ(norm, 12.0);
    JEXPECT_OK(jbuffer_release(made));
    JEXPECT_OK(jbuffer_release(part));
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(b));
    mpi_world_end(&world);
}

/* ---- An error of MPI ---- */

/* The program's own functions of these names come before MPI's (its profiling interface). */
static bool waiting_fails;
static int receives, cancelled;

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    return waiting_fails ? MPI_ERR_OTHER : PMPI_Waitany(count, requests, index, status);
}
int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag,
              MPI_Comm communicator, MPI_Request *request) {
    receives++;
    return PMPI_Irecv(buffer, count, type, source, tag, communicator, request);
}
int MPI_Cancel(MPI_Request *request) {
    cancelled++;
    return PMPI_Cancel(request);
}

JMPI_TEST(ArgumentsMpi, AnErrorOfMpiLeavesNoReceivePosted, 4) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, any_grid);
    const jlayout_t layout = operation_layout(2, 30, 30);
    const double one = 1;
    jbuffer_t *a = NULL, *b = NULL;
    JMPI_ASSERT_OK(jbuffer_construct_value(world.allocators[PLACE_GRID], &layout, &one, &a));
    JMPI_ASSERT_OK(jbuffer_construct_value(world.allocators[PLACE_OTHER_GRID], &layout, NULL, &b));
    receives = cancelled = 0;
    waiting_fails = true;
    const jstatus_t status = jbuffer_copy(world.handle, b, a);
    waiting_fails = false;
    JEXPECT_STATUS(status, JSTATUS_DEVICE_ERROR);
    JEXPECT_GT(receives, 0);
    JEXPECT_EQ(cancelled, receives);
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(b));
    mpi_world_end(&world);
}
