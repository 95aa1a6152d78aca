/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Conformance of distributed buffers: everything of buffer.h and mpi.h for each element type and
 * grid, against formulas of global indices. Down-casts are proven by what takes them: ScaLAPACK and
 * MPI. */

#include "mpi_matrix.h"

#include "mpi/pblas.h"

#include <stdio.h>
#include <string.h>

static const jdatatype_t types[] = {JDATATYPE_F32, JDATATYPE_F64,  JDATATYPE_F32_C, JDATATYPE_F64_C,
                                    JDATATYPE_F16, JDATATYPE_BF16, JDATATYPE_I8,    JDATATYPE_I32};

typedef struct grid_case {
    int ranks;
    int grid[2];
} grid_case_t;
/* The last two leave processes without a part when there are six. */
static const grid_case_t grids[] = {{1, {1, 1}}, {4, {2, 2}}, {4, {1, 4}},
                                    {6, {3, 2}}, {6, {2, 2}}, {6, {1, 1}}};

static jbuffer_allocator_t *make_allocator(const jmpi_t *mpi, const int grid[2], jdatatype_t type,
                                           int64_t rows, int64_t columns) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator = NULL;
    options.kind = JBUFFER_DISTRIBUTED;
    options.type = type;
    options.allocator = jtest_failing_allocator();
    options.grid[0] = grid[0];
    options.grid[1] = grid[1];
    options.blocks[0] = rows;
    options.blocks[1] = columns;
    JEXPECT_OK(jbuffer_allocator_create(mpi->runtime, &options, &allocator));
    return allocator;
}

/* What an element should be. */
typedef void (*formula_t)(jdatatype_t type, int64_t i, int64_t j, void *value);

static void salted(jdatatype_t type, int64_t i, int64_t j, void *value) {
    matrix_formula(type, i, j, 3, value);
}
static void zero(jdatatype_t type, int64_t i, int64_t j, void *value) {
    (void)i, (void)j;
    memset(value, 0, jhandle_sizeof_datatype(type));
}
static void constant(jdatatype_t type, int64_t i, int64_t j, void *value) {
    (void)i, (void)j;
    matrix_formula(type, 4, 5, 6, value);
}
static void one_on_the_diagonal(jdatatype_t type, int64_t i, int64_t j, void *value) {
    zero(type, i, j, value);
    if (i != j)
        return;
    switch (type) {
    case JDATATYPE_F32:
    case JDATATYPE_F32_C: *(float *)value = 1; break;
    case JDATATYPE_F64:
    case JDATATYPE_F64_C: *(double *)value = 1; break;
    case JDATATYPE_F16: *(jfloat16_t *)value = jalloc_f16_from_f32(1); break;
    case JDATATYPE_BF16: *(jbfloat16_t *)value = jalloc_bf16_from_f32(1); break;
    case JDATATYPE_I8: *(int8_t *)value = 1; break;
    case JDATATYPE_I32: *(int32_t *)value = 1; break;
    }
}
/* Blocks of the 4 x 3 pattern of the function below: every second one is zero. */
static void every_other_block(jdatatype_t type, int64_t i, int64_t j, void *value) {
    if ((i / 4 + j / 3) % 2 == 0)
        salted(type, i, j, value);
    else
        zero(type, i, j, value);
}

static jbuffer_filled_t fill_every_other(void *context, const jbuffer_block_t *block) {
    (void)context;
    const size_t size = jhandle_sizeof_datatype(block->type);
    if ((block->starts[0] / 4 + block->starts[1] / 3) % 2 != 0)
        return JBUFFER_BLOCK_ZERO;
    for (int64_t j = 0; j < block->extents[1]; ++j)
        for (int64_t i = 0; i < block->extents[0]; ++i)
            salted(block->type, block->starts[0] + i, block->starts[1] + j,
                   (char *)block->data +
                       (size_t)(i * block->strides[0] + j * block->strides[1]) * size);
    return JBUFFER_BLOCK_FILLED;
}

/* This process's part is as large as it should be, by counting, and has these elements. Then the
 * buffer goes. */
static void check_and_release(const jmpi_t *mpi, jbuffer_t *buffer, jdatatype_t type,
                              formula_t formula, const int64_t extents[2]) {
    jbuffer_part_t part = JBUFFER_PART_INIT;
    const size_t size = jhandle_sizeof_datatype(type);
    JEXPECT_OK(jbuffer_as_part(buffer, &part));
    const jdistribution_t *whole = &part.distribution;
    const bool inside = mpi->rank < whole->grid[0] * whole->grid[1];
    JEXPECT_EQ(whole->coordinates[0], inside ? mpi->rank / whole->grid[1] : -1);
    JEXPECT_EQ(whole->coordinates[1], inside ? mpi->rank % whole->grid[1] : -1);
    int64_t count[2] = {0, 0}, wrong = 0, row, column = 0;
    for (int d = 0; d < 2; ++d)
        for (int64_t at = 0; at < extents[d]; ++at)
            count[d] += inside && at / whole->blocks[d] % whole->grid[d] == whole->coordinates[d];
    JEXPECT_EQ(part.rows, count[0]);
    JEXPECT_EQ(part.columns, count[1]);
    for (int64_t j = 0; j < extents[1]; ++j) {
        if (!inside || j / whole->blocks[1] % whole->grid[1] != whole->coordinates[1])
            continue;
        row = 0;
        for (int64_t i = 0; i < extents[0]; ++i) {
            if (i / whole->blocks[0] % whole->grid[0] != whole->coordinates[0])
                continue;
            unsigned char expected[16];
            formula(type, i, j, expected);
            wrong += memcmp(expected,
                            (char *)part.pointer +
                                (size_t)(row + column * part.leading_dimension) * size,
                            size) != 0;
            ++row;
        }
        ++column;
    }
    JEXPECT_EQ(wrong, 0);
    JEXPECT_OK(jbuffer_release(buffer));
}

JMPI_TEST_P(Distributed, ConstructsWhatItIsAskedFor, grid_case_t, grids) {
    for (size_t t = 0; t < sizeof types / sizeof types[0]; ++t) {
        const jdatatype_t type = types[t];
        JSCOPED_TRACE("%s over %d x %d", jdatatype_name(type), param->grid[0], param->grid[1]);
        const int64_t extents[2] = {jtest_random_between(1, 40), jtest_random_between(1, 40)};
        const int64_t blocks[2] = {4, 3}; /* of the function */
        jbuffer_allocator_t *allocator = make_allocator(
            mpi, param->grid, type, jtest_random_between(1, 50), jtest_random_between(1, 9));
        jbuffer_t *buffer = NULL, *other = NULL;
        jlayout_t layout, blocked;
        unsigned char value[16];
        JMPI_ASSERT_OK(jlayout_init(&layout, 2, extents, JORDER_COLUMN_MAJOR));

        size_t expected = 0;
        JMPI_ASSERT_OK(jbuffer_allocator_get_local_bytes(allocator, &layout, &expected));
        const size_t live = jtest_live_bytes();
        JMPI_ASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
        JEXPECT_EQ(jtest_live_bytes() - live, expected);
        JEXPECT_OK(jbuffer_release(buffer));

        constant(type, 0, 0, value);
        JMPI_ASSERT_OK(jbuffer_construct_value(allocator, &layout, value, &buffer));
        check_and_release(mpi, buffer, type, constant, extents);
        JMPI_ASSERT_OK(jbuffer_construct_value(allocator, &layout, NULL, &buffer));
        check_and_release(mpi, buffer, type, zero, extents);
        JMPI_ASSERT_OK(jbuffer_construct_identity(allocator, &layout, &buffer));
        check_and_release(mpi, buffer, type, one_on_the_diagonal, extents);

        blocked = layout;
        JMPI_ASSERT_OK(jlayout_set_blocks(&blocked, blocks));
        JMPI_ASSERT_OK(
            jbuffer_construct_function(allocator, &blocked, fill_every_other, NULL, 2, &buffer));
        JMPI_ASSERT_OK(jbuffer_construct_copy(allocator, buffer, &other));
        check_and_release(mpi, other, type, every_other_block, extents);
        /* The blocks are those of the source, so moving uses its memory. */
        jbuffer_part_t before = JBUFFER_PART_INIT, after = JBUFFER_PART_INIT;
        bool reused = false;
        JEXPECT_OK(jbuffer_as_part(buffer, &before));
        JMPI_ASSERT_OK(jbuffer_construct_move(allocator, &buffer, &other, &reused));
        JEXPECT_NULL(buffer);
        JEXPECT_OK(jbuffer_as_part(other, &after));
        JEXPECT_TRUE(reused);
        JEXPECT_TRUE(before.pointer == after.pointer);
        check_and_release(mpi, other, type, every_other_block, extents);

        JEXPECT_OK(jbuffer_allocator_release(allocator));
        JMPI_CHECKPOINT();
    }
}

JMPI_TEST_P(Distributed, ElementsAreReadAndWrittenWhereTheyAre, grid_case_t, grids) {
    for (size_t t = 0; t < sizeof types / sizeof types[0]; ++t) {
        const jdatatype_t type = types[t];
        const int64_t extents[2] = {23, 17}, starts[2] = {5, 3}, inner[2] = {11, 13};
        jbuffer_allocator_t *allocator = make_allocator(mpi, param->grid, type, 4, 5);
        jbuffer_t *buffer = NULL, *view = NULL;
        jlayout_t layout;
        JMPI_ASSERT_OK(jlayout_init(&layout, 2, extents, JORDER_COLUMN_MAJOR));
        JMPI_ASSERT_OK(jbuffer_construct_value(allocator, &layout, NULL, &buffer));
        JMPI_ASSERT_OK(jbuffer_slice(buffer, starts, inner, NULL, &view));
        for (int k = 0; k < 30; ++k) {
            const int64_t indices[2] = {jtest_random_between(0, 10), jtest_random_between(0, 12)};
            const int64_t whole[2] = {indices[0] + 5, indices[1] + 3};
            unsigned char value[16] = {0}, found[16] = {0};
            matrix_formula(type, indices[0], indices[1], k, value);
            JEXPECT_OK(jbuffer_set(view, indices, value));
            JEXPECT_OK(jbuffer_get(buffer, whole, found));
            JEXPECT_TRUE(memcmp(value, found, jhandle_sizeof_datatype(type)) == 0);
        }
        const int64_t outside[2] = {11, 0};
        unsigned char value[16] = {0};
        JEXPECT_STATUS(jbuffer_set(view, outside, value), JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(jbuffer_get(view, outside, value), JSTATUS_INVALID_VALUE);
        void *pointer;
        JEXPECT_STATUS(jbuffer_as_pointer(view, JDEVICE_HOST, &pointer), JSTATUS_INVALID_VALUE);
        JEXPECT_OK(jbuffer_release(view));
        JEXPECT_OK(jbuffer_release(buffer));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
        JMPI_CHECKPOINT();
    }
}

/* ---- Down-casts ---- */

static jbuffer_t *make_filled(const jmpi_t *mpi, jbuffer_allocator_t *allocator,
                              const int64_t extents[2]) {
    jbuffer_t *buffer = NULL;
    jlayout_t layout;
    const int64_t blocks[2] = {4, 3};
    JEXPECT_OK(jlayout_init(&layout, 2, extents, JORDER_COLUMN_MAJOR));
    JEXPECT_OK(jlayout_set_blocks(&layout, blocks));
    JEXPECT_OK(jbuffer_construct_function(allocator, &layout, fill_every_other, NULL, 1, &buffer));
    return jmpi_all_well(mpi) ? buffer : NULL;
}

static double every_other_number(int64_t i, int64_t j) {
    double value;
    every_other_block(JDATATYPE_F64, i, j, &value);
    return value;
}

/* A view of a product by pdgemm_() itself, every element against three loops. */
JMPI_TEST_P(Distributed, ScalapackTakesTheDescriptor, grid_case_t, grids) {
    const int64_t a_extents[2] = {30, 26}, c_extents[2] = {21, 19};
    jbuffer_allocator_t *allocator = make_allocator(mpi, param->grid, JDATATYPE_F64, 4, 3);
    jbuffer_t *a = make_filled(mpi, allocator, a_extents), *c = NULL, *a_view = NULL,
              *c_view = NULL;
    jlayout_t layout;
    JMPI_CHECKPOINT();
    JMPI_ASSERT_OK(jlayout_init(&layout, 2, c_extents, JORDER_COLUMN_MAJOR));
    JMPI_ASSERT_OK(jbuffer_construct_value(allocator, &layout, NULL, &c));
    /* C(2:2+9, 4:4+9) = A(7:16, 5:16) A(7:16, 5:16)' */
    const int64_t a_starts[2] = {7, 5}, a_part[2] = {9, 11}, c_starts[2] = {2, 4},
                  c_part[2] = {9, 9};
    JMPI_ASSERT_OK(jbuffer_slice(a, a_starts, a_part, NULL, &a_view));
    JMPI_ASSERT_OK(jbuffer_slice(c, c_starts, c_part, NULL, &c_view));
    jbuffer_scalapack_t x = JBUFFER_SCALAPACK_INIT, y = JBUFFER_SCALAPACK_INIT;
    JEXPECT_OK(jbuffer_as_scalapack(a_view, &x));
    JEXPECT_OK(jbuffer_as_scalapack(c_view, &y));
    JEXPECT_EQ(x.row, 8);
    JEXPECT_EQ(x.column, 6);
    JEXPECT_EQ(x.rows, 9);
    JEXPECT_EQ(x.columns, 11);
    JEXPECT_NOT_NULL(x.pointer);
    JEXPECT_EQ(x.descriptor[1] >= 0, mpi->rank < param->grid[0] * param->grid[1]);
    const double one = 1, none = 0;
    if (x.descriptor[1] >= 0)
        pdgemm_("N", "T", &x.rows, &x.rows, &x.columns, &one, x.pointer, &x.row, &x.column,
                x.descriptor, x.pointer, &x.row, &x.column, x.descriptor, &none, y.pointer, &y.row,
                &y.column, y.descriptor);
    for (int64_t j = 0; j < c_extents[1]; ++j)
        for (int64_t i = 0; i < c_extents[0]; ++i) {
            const int64_t indices[2] = {i, j};
            double found = -1, expected = 0;
            for (int64_t k = 0; i >= 2 && i < 11 && j >= 4 && j < 13 && k < 11; ++k)
                expected +=
                    every_other_number(7 + i - 2, 5 + k) * every_other_number(7 + j - 4, 5 + k);
            JEXPECT_OK(jbuffer_get(c, indices, &found));
            JEXPECT_NEAR(found, expected, 1e-12 * expected);
        }
    JEXPECT_OK(jbuffer_release(a_view));
    JEXPECT_OK(jbuffer_release(c_view));
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(c));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

/* Every process reads every element of the others' parts. */
JMPI_TEST_P(Distributed, MpiTakesTheWindow, grid_case_t, grids) {
    const int64_t extents[2] = {13, 11};
    jbuffer_allocator_t *allocator = make_allocator(mpi, param->grid, JDATATYPE_F64, 4, 3);
    jbuffer_t *buffer = make_filled(mpi, allocator, extents), *view = NULL;
    const int64_t starts[2] = {1, 1}, part[2] = {5, 5};
    JMPI_CHECKPOINT();
    JMPI_ASSERT_OK(jbuffer_slice(buffer, starts, part, NULL, &view));
    MPI_Win window = MPI_WIN_NULL, again = MPI_WIN_NULL;
    if (mpi->size == 1) {
        /* Open MPI 4 has no windows of one process: then it must say so, and nothing be kept */
        const jstatus_t status = jbuffer_as_window(view, &window);
        JEXPECT_TRUE(status == JSTATUS_SUCCESS || status == JSTATUS_DEVICE_ERROR);
        JEXPECT_OK(jbuffer_release(buffer));
        JEXPECT_OK(jbuffer_release(view));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
        return;
    }
    JMPI_ASSERT_OK(jbuffer_as_window(view, &window));
    JEXPECT_OK(jbuffer_as_window(buffer, &again)); /* is there by now: not collective */
    JEXPECT_TRUE(window == again);
    double found[13 * 11];
    MPI_Win_fence(0, window);
    for (int64_t j = 0; j < extents[1]; ++j)
        for (int64_t i = 0; i < extents[0]; ++i) {
            const int64_t owner[2] = {i / 4 % param->grid[0], j / 3 % param->grid[1]};
            int64_t rows = 0; /* of the part, by counting */
            for (int64_t at = 0; at < extents[0]; ++at)
                rows += at / 4 % param->grid[0] == owner[0];
            const int64_t row = i / (4 * param->grid[0]) * 4 + i % 4,
                          column = j / (3 * param->grid[1]) * 3 + j % 3;
            MPI_Get(&found[i + j * 13], 1, MPI_DOUBLE, (int)(owner[0] * param->grid[1] + owner[1]),
                    (MPI_Aint)(row + column * rows), 1, MPI_DOUBLE, window);
        }
    MPI_Win_fence(0, window);
    for (int64_t j = 0; j < extents[1]; ++j)
        for (int64_t i = 0; i < extents[0]; ++i)
            JEXPECT_EQ(found[i + j * 13], every_other_number(i, j));
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_release(view)); /* collective: the window ends with the memory */
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

JMPI_TEST(Distributed, DownCastsRefuseWhatIsNotTheirs, 0) {
    const int64_t extents[2] = {5, 4};
    const int grid[2] = {1, 1};
    jbuffer_allocator_t *allocator = make_allocator(mpi, grid, JDATATYPE_F64, 2, 2), *local = NULL;
    jbuffer_t *buffer = NULL, *other = NULL;
    jlayout_t layout;
    JMPI_ASSERT_OK(jlayout_init(&layout, 2, extents, JORDER_COLUMN_MAJOR));
    JMPI_ASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
    JMPI_ASSERT_OK(jbuffer_allocator_rebind(allocator, JBUFFER_LOCAL, JDATATYPE_F64, &local));
    JMPI_ASSERT_OK(jbuffer_allocate(local, &layout, &other));
    jbuffer_scalapack_t matrix = JBUFFER_SCALAPACK_INIT;
    MPI_Win window;
    JEXPECT_STATUS(jbuffer_as_scalapack(buffer, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_as_scalapack(NULL, &matrix), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_as_scalapack((jbuffer_t *)&matrix, &matrix), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jbuffer_as_scalapack(other, &matrix), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "local");
    matrix.struct_size = 1;
    JEXPECT_STATUS(jbuffer_as_scalapack(buffer, &matrix), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_as_window(buffer, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_as_window(NULL, &window), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_as_window(other, &window), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jbuffer_release(other));
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(local));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

/* ScaLAPACK counts in 32 bits; a matrix without columns may have more rows than that and take no
 * memory. */
JMPI_TEST(Distributed, WhatScalapackCannotCountIsInvalidSize, 0) {
    const int64_t extents[2] = {(int64_t)1 << 31, 0};
    const int grid[2] = {1, 1};
    jbuffer_allocator_t *allocator = make_allocator(mpi, grid, JDATATYPE_F64, 2, 2);
    jbuffer_t *buffer = NULL;
    jlayout_t layout;
    jbuffer_scalapack_t matrix = JBUFFER_SCALAPACK_INIT;
    JMPI_ASSERT_OK(jlayout_init(&layout, 2, extents, JORDER_COLUMN_MAJOR));
    JMPI_ASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
    JEXPECT_STATUS(jbuffer_as_scalapack(buffer, &matrix), JSTATUS_INVALID_SIZE);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

/* Ranks 0 to 2, no elements, fewer elements than processes. */
JMPI_TEST(Distributed, SmallShapesAreMatricesOfOneColumn, 0) {
    static const int64_t shapes[][3] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 1}, {1, 7, 1},
                                        {2, 0, 5}, {2, 5, 0}, {2, 1, 9}};
    for (size_t n = 0; n < sizeof shapes / sizeof shapes[0]; ++n) {
        const int rank = (int)shapes[n][0];
        int grid[2];
        matrix_draw_grid(mpi->size, grid);
        jbuffer_allocator_t *allocator = make_allocator(mpi, grid, JDATATYPE_I32, 2, 2);
        jbuffer_t *buffer = NULL;
        jlayout_t layout;
        jbuffer_scalapack_t matrix = JBUFFER_SCALAPACK_INIT;
        JMPI_ASSERT_OK(jlayout_init(&layout, rank, &shapes[n][1], JORDER_COLUMN_MAJOR));
        int32_t value;
        constant(JDATATYPE_I32, 0, 0, &value);
        JMPI_ASSERT_OK(jbuffer_construct_value(allocator, &layout, &value, &buffer));
        JEXPECT_OK(jbuffer_as_scalapack(buffer, &matrix));
        JEXPECT_EQ(matrix.rows, rank > 0 ? shapes[n][1] : 1);
        JEXPECT_EQ(matrix.columns, rank > 1 ? shapes[n][2] : 1);
        JEXPECT_NOT_NULL(matrix.pointer);
        JEXPECT_GE(matrix.descriptor[8], 1);
        const int64_t extents[2] = {matrix.rows, matrix.columns};
        check_and_release(mpi, buffer, JDATATYPE_I32, constant, extents);
        JEXPECT_OK(jbuffer_allocator_release(allocator));
        JMPI_CHECKPOINT();
    }
    const int grid[2] = {1, 1};
    const int64_t cube[3] = {2, 2, 2};
    jbuffer_allocator_t *allocator = make_allocator(mpi, grid, JDATATYPE_I32, 2, 2);
    jbuffer_t *buffer = NULL;
    jlayout_t layout;
    JMPI_ASSERT_OK(jlayout_init(&layout, 3, cube, JORDER_COLUMN_MAJOR));
    JEXPECT_STATUS(jbuffer_allocate(allocator, &layout, &buffer), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}
