/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is the same for every operation and whoever carries it out: the order of the handle's
 * stream, scalars, results among operands, who takes part. One process is a case of its own, since
 * nothing has to be agreed upon there. */

#include "mpi_operation.h"

#include <time.h>

static const jblas_operation_t N = JBLAS_NO_TRANSPOSE, T = JBLAS_TRANSPOSE;
static const int any_grid[2] = {0, 0};

/* ---- The stream ---- */

#define ORDER 6

/* Work of a stream that takes its time: all that this process has of a matrix becomes a number. */
typedef struct late_fill {
    double *data;
    int64_t count;
    double value;
} late_fill_t;

static void late_fill(void *arguments) {
    const late_fill_t *fill = arguments;
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    for (int64_t i = 0; i < fill->count; i++)
        fill->data[i] = fill->value;
}

static void fill_late(jstream_t *stream, jbuffer_t *buffer, double value) {
    jbuffer_kind_t kind = JBUFFER_LOCAL;
    jbuffer_part_t part = JBUFFER_PART_INIT;
    void *pointer = NULL;
    late_fill_t fill = {.count = (int64_t)ORDER * ORDER, .value = value};
    JEXPECT_OK(jbuffer_get_kind(buffer, &kind));
    if (kind == JBUFFER_DISTRIBUTED) {
        JEXPECT_OK(jbuffer_as_part(buffer, &part));
        pointer = part.pointer;
        fill.count = part.rows * part.columns;
    } else {
        JEXPECT_OK(jbuffer_as_pointer(buffer, JDEVICE_HOST, &pointer));
    }
    fill.data = pointer;
    JEXPECT_OK(jstream_launch(jdevice_host(), stream, late_fill, &fill, sizeof fill));
}

/* Element (1, 1) once the stream has passed. */
static double element(jstream_t *stream, jbuffer_t *buffer) {
    double value = -1;
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){1, 1}, &value));
    return value;
}

JMPI_TEST(OperationMpiFrame, EveryOperationIsOrderedByTheStream, 0) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, any_grid);
    jstream_t *stream = NULL;
    JMPI_ASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(world.handle, stream));
    const jlayout_t layout = operation_layout(2, ORDER, ORDER);
    const double zero = 0, one = 1, two = 2, minus = -1;
    for (int place = 0; place < PLACE_COUNT; place++) {
        if (place == PLACE_SHARED && mpi->size > 1)
            continue; /* each process would fill it */
        JSCOPED_TRACE("place %d", place);
        jbuffer_t *a = NULL, *identity = NULL, *lower = NULL, *symmetric = NULL, *x = NULL;
        double norm = -1;
        int64_t info = -1;
        JMPI_ASSERT_OK(jbuffer_construct_value(world.allocators[place], &layout, &zero, &a));
        JMPI_ASSERT_OK(jbuffer_construct_value(world.allocators[place], &layout, &zero, &x));
        JMPI_ASSERT_OK(jbuffer_construct_identity(world.allocators[place], &layout, &identity));
        JMPI_ASSERT_OK(jbuffer_with_structure(identity, JSTRUCTURE_TRIANGULAR_LOWER, &lower));
        JMPI_ASSERT_OK(jbuffer_with_structure(x, JSTRUCTURE_SYMMETRIC_LOWER, &symmetric));
        fill_late(stream, a, 2);
        JEXPECT_OK(jbuffer_product(world.handle, N, N, &one, a, identity, &zero, &x));
        JEXPECT_EQ(element(stream, x), 2.0);
        fill_late(stream, a, 3);
        JEXPECT_OK(jbuffer_add(world.handle, &two, a, &one, identity, &x));
        JEXPECT_EQ(element(stream, x), 7.0);
        fill_late(stream, a, 4);
        JEXPECT_OK(jbuffer_add(world.handle, &one, a, &two, a, &a)); /* scaled by their sum */
        JEXPECT_EQ(element(stream, a), 12.0);
        fill_late(stream, a, 5);
        JEXPECT_OK(jbuffer_transpose(world.handle, T, a, &x));
        JEXPECT_EQ(element(stream, x), 5.0);
        fill_late(stream, a, 6);
        JEXPECT_OK(jbuffer_solve_triangular(world.handle, JBLAS_LEFT, N, JBLAS_NON_UNIT, &minus,
                                            lower, a));
        JEXPECT_EQ(element(stream, a), -6.0);
        fill_late(stream, a, 7);
        JEXPECT_OK(jbuffer_copy(world.handle, x, a));
        JEXPECT_EQ(element(stream, x), 7.0);
        fill_late(stream, a, 8);
        JEXPECT_OK(jbuffer_scale(world.handle, &two, a));
        JEXPECT_EQ(element(stream, a), 16.0);
        fill_late(stream, a, 9);
        JEXPECT_OK(jbuffer_fill(world.handle, a, &two));
        JEXPECT_EQ(element(stream, a), 2.0);
        fill_late(stream, a, 10);
        JEXPECT_OK(jbuffer_norm(world.handle, JNORM_MAX, a, &norm));
        JEXPECT_EQ(norm, 10.0);
        JEXPECT_OK(jbuffer_copy(world.handle, x, identity));
        fill_late(stream, x, 1);
        JEXPECT_OK(jbuffer_cholesky(world.handle, symmetric, &info));
        JEXPECT_EQ(info, 2); /* all ones */
        JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
        jbuffer_t *const all[] = {a, identity, lower, symmetric, x};
        for (int i = 0; i < 5; i++)
            JEXPECT_OK(jbuffer_release(all[i]));
        JMPI_CHECKPOINT();
    }
    JEXPECT_OK(jhandle_set_stream(world.handle, NULL));
    JEXPECT_OK(jstream_destroy(stream));
    mpi_world_end(&world);
}

/* ---- Scalars ---- */

static void wait_a_little(void *unused) {
    (void)unused;
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

JMPI_TEST(OperationMpiFrame, ScalarsAreTheHostsAndReadByTheCall, 0) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, any_grid);
    jstream_t *stream = NULL;
    JMPI_ASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(world.handle, stream));
    JEXPECT_OK(jhandle_set_pointer_mode(world.handle, JPOINTER_MODE_DEVICE));
    const jlayout_t layout = operation_layout(2, ORDER, ORDER);
    const double two = 2;
    for (int place = 0; place < PLACE_COUNT; place++) {
        JSCOPED_TRACE("place %d", place);
        jbuffer_t *a = NULL, *b = NULL;
        int nothing = 0;
        double alpha = 1, beta = 2;
        JMPI_ASSERT_OK(jbuffer_construct_value(world.allocators[place], &layout, &two, &a));
        JMPI_ASSERT_OK(jbuffer_construct_identity(world.allocators[place], &layout, &b));
        JEXPECT_OK(jstream_launch(jdevice_host(), stream, wait_a_little, &nothing, sizeof nothing));
        JEXPECT_OK(jbuffer_add(world.handle, &alpha, a, &beta, a, &a));
        alpha = beta = 1e9;
        JEXPECT_EQ(element(stream, a), 6.0);
        alpha = 3;
        JEXPECT_OK(jstream_launch(jdevice_host(), stream, wait_a_little, &nothing, sizeof nothing));
        JEXPECT_OK(jbuffer_scale(world.handle, &alpha, a));
        alpha = 1e9;
        JEXPECT_EQ(element(stream, a), 18.0);
        alpha = 2;
        beta = 0;
        jbuffer_t *c = NULL;
        JEXPECT_OK(jstream_launch(jdevice_host(), stream, wait_a_little, &nothing, sizeof nothing));
        JEXPECT_OK(jbuffer_product(world.handle, N, N, &alpha, a, b, &beta, &c));
        alpha = beta = 1e9;
        JEXPECT_EQ(element(stream, c), 36.0);
        jpointer_mode_t mode = JPOINTER_MODE_HOST;
        JEXPECT_OK(jhandle_get_pointer_mode(world.handle, &mode));
        JEXPECT_EQ((int)mode, (int)JPOINTER_MODE_DEVICE);
        JEXPECT_OK(jbuffer_release(a));
        JEXPECT_OK(jbuffer_release(b));
        JEXPECT_OK(jbuffer_release(c));
        JMPI_CHECKPOINT();
    }
    JEXPECT_OK(jhandle_set_stream(world.handle, NULL));
    JEXPECT_OK(jstream_destroy(stream));
    mpi_world_end(&world);
}

/* ---- Overlap ---- */

typedef struct overlap_case {
    int ranks, type;
} overlap_case_t;
static const overlap_case_t overlap_cases[] = {
    {1, JDATATYPE_F64}, {4, JDATATYPE_F64}, {4, JDATATYPE_F32_C}};

JMPI_TEST_P(OperationMpiFrame, ResultsMayOverlapOperands, overlap_case_t, overlap_cases) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, (jdatatype_t)param->type, any_grid);
    for (int64_t round = 0; round < jtest_iterations(60 * PLACE_COUNT); round++) {
        const place_t place = (place_t)(round % PLACE_COUNT);
        JSCOPED_TRACE("place %d", (int)place);
        overlap_expect_right(world.handle, world.allocators[place], world.allocators[PLACE_LOCAL],
                             &world.arena, place < PLACE_GRID);
        JMPI_CHECKPOINT();
    }
    mpi_world_end(&world);
}

/* The part of a distributed buffer that was wrapped again is not there for the others to see. */
JMPI_TEST(OperationMpiFrame, MemoryOfAPartWrappedTwiceIsRefused, 0) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, any_grid);
    const jlayout_t layout = operation_layout(2, ORDER, ORDER);
    const double one = 1;
    static double memory[2 * ORDER * ORDER];
    jbuffer_t *a = NULL, *b = NULL;
    JMPI_ASSERT_OK(jbuffer_wrap(world.allocators[PLACE_GRID], &layout, memory, &a));
    JMPI_ASSERT_OK(jbuffer_wrap(world.allocators[PLACE_GRID], &layout,
                                memory + (mpi->rank == 0 ? 1 : ORDER * ORDER), &b));
    const jstatus_t copied = jbuffer_copy(world.handle, b, a),
                    added = jbuffer_add(world.handle, &one, a, &one, a, &b);
    JEXPECT_STATUS(copied, JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(added, JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(b));
    mpi_world_end(&world);
}

/* ---- Who takes part ---- */

/* The local side may be of a runtime that knows this process alone. */
JMPI_TEST(OperationMpiFrame, TheLocalSideOfAConversionMayBeOfAnotherRuntime, 0) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, any_grid);
    jruntime_t *alone = NULL;
    jbuffer_allocator_t *local = NULL;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    JMPI_ASSERT_OK(jruntime_create(&alone));
    JMPI_ASSERT_OK(jbuffer_allocator_create(alone, &options, &local));
    const jlayout_t layout = operation_layout(2, 20, 20);
    for (int place = PLACE_REPLICATED; place < PLACE_COUNT; place++) {
        JSCOPED_TRACE("place %d", place);
        const double mine = 1 + mpi->rank, five = 5;
        jbuffer_t *x = NULL, *y = NULL, *z = NULL;
        JMPI_ASSERT_OK(jbuffer_construct_value(local, &layout, &mine, &x));
        JMPI_ASSERT_OK(jbuffer_construct_copy(world.allocators[place], x, &y));
        for (int64_t i = 0; i < 20; i++) {
            double value = -1;
            JEXPECT_OK(jbuffer_get(y, (const int64_t[]){i, 19 - i}, &value));
            JEXPECT_EQ(value, 1.0); /* rank 0's */
        }
        JMPI_ASSERT_OK(jbuffer_fill(world.handle, y, &five));
        JMPI_ASSERT_OK(jbuffer_construct_copy(local, y, &z));
        for (int64_t i = 0; i < 20; i++) {
            double value = -1;
            JEXPECT_OK(jbuffer_get(z, (const int64_t[]){i, 19 - i}, &value));
            JEXPECT_EQ(value, 5.0);
        }
        JEXPECT_OK(jbuffer_release(x));
        JEXPECT_OK(jbuffer_release(y));
        JEXPECT_OK(jbuffer_release(z));
        JMPI_CHECKPOINT();
    }
    JEXPECT_OK(jbuffer_allocator_release(local));
    JEXPECT_OK(jruntime_release(alone));
    mpi_world_end(&world);
}

/* An operand of another runtime on one rank: that one knows from the others who they are. */
JMPI_TEST(OperationMpiFrame, AnOperandOfAnotherRuntimeOnOneRankIsRefusedOnAll, 0) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, any_grid);
    jruntime_t *alone = NULL;
    jbuffer_allocator_t *elsewhere = NULL;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    JMPI_ASSERT_OK(jruntime_create(&alone));
    JMPI_ASSERT_OK(jbuffer_allocator_create(alone, &options, &elsewhere));
    const jlayout_t layout = operation_layout(2, ORDER, ORDER);
    const double one = 1;
    jbuffer_t *a = NULL, *b = NULL;
    const bool other = mpi->rank == mpi->size - 1;
    JMPI_ASSERT_OK(jbuffer_construct_value(other ? elsewhere : world.allocators[PLACE_LOCAL],
                                           &layout, &one, &a));
    JMPI_ASSERT_OK(jbuffer_construct_value(world.allocators[PLACE_GRID], &layout, &one, &b));
    const jstatus_t status = jbuffer_add(world.handle, &one, a, &one, b, &b);
    JEXPECT_STATUS(status, JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(b));
    JEXPECT_OK(jbuffer_allocator_release(elsewhere));
    JEXPECT_OK(jruntime_release(alone));
    mpi_world_end(&world);
}

/* Local operands among replicated ones: copies of them are made, for which nobody is asked before
 * all agree. */
JMPI_TEST(OperationMpiFrame, MixedOperandsAgreeOnce, 4) {
    mpi_world_t world;
    mpi_world_begin(&world, mpi, JDATATYPE_F64, any_grid);
    const jlayout_t layout = operation_layout(2, ORDER, ORDER);
    const double one = 1;
    jbuffer_t *a = NULL, *b = NULL;
    JMPI_ASSERT_OK(jbuffer_construct_value(world.allocators[PLACE_LOCAL], &layout, &one, &a));
    JMPI_ASSERT_OK(jbuffer_construct_value(world.allocators[PLACE_REPLICATED], &layout, &one, &b));
    if (mpi->rank == 2) { /* a query asks nobody */
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(jstatus_is_error(jbuffer_add(world.handle, &one, a, &one, b, &b)));
        size_t bytes = 0;
        JEXPECT_OK(jhandle_stop_size_query(world.handle, &bytes));
    }
    const double *beta = mpi->rank == 1 ? NULL : &one; /* what one finds wrong */
    const jstatus_t status = jbuffer_add(world.handle, &one, a, beta, b, &b);
    JEXPECT_STATUS(status, JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jbuffer_add(world.handle, &one, a, &one, b, &b));
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(b));
    mpi_world_end(&world);
}
