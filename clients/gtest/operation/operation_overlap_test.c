/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Operands that share elements with the result: found, and read as they were. */

#include "operation_helper.h"

#include "operation/operation.h"

#include <math.h>
#include <string.h>

static const jblas_operation_t N = JBLAS_NO_TRANSPOSE, T = JBLAS_TRANSPOSE;

/* A view of a buffer of ones bytes, drawn; `marks`: 1 for each place that is an element of it. */
static jbuffer_t *draw_view(jbuffer_t *whole, unsigned char *memory, unsigned char marks[],
                            size_t count) {
    jlayout_t layout;
    int64_t starts[JLAYOUT_MAX_RANK], extents[JLAYOUT_MAX_RANK], steps[JLAYOUT_MAX_RANK];
    int order[JLAYOUT_MAX_RANK];
    jbuffer_t *slice = NULL, *view = NULL;
    JEXPECT_OK(jbuffer_get_layout(whole, &layout));
    for (int d = 0; d < layout.rank; d++) {
        starts[d] = jtest_random_between(0, layout.extents[d]);
        steps[d] = jtest_random_between(1, 3);
        const int64_t room = (layout.extents[d] - starts[d] + steps[d] - 1) / steps[d];
        extents[d] = jtest_random_between(room > 0 ? 1 : 0, room);
        order[d] = d;
    }
    for (int d = layout.rank - 1; d > 0; d--) {
        const int other = (int)jtest_random_between(0, d), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
    JEXPECT_OK(jbuffer_slice(whole, starts, extents, steps, &slice));
    JEXPECT_OK(jbuffer_permute(slice, order, &view));
    JEXPECT_OK(jbuffer_release(slice));
    memset(memory, 0, count);
    const ji_elements_t elements = ji_buffer_elements(view);
    const int8_t one = 1;
    ji_elements_fill_host(&elements, &one);
    memcpy(marks, memory, count);
    return view;
}

JTEST(OperationOverlap, IsFoundWhereElementsAreShared) {
    static const char *const layouts[] = {"[40]", "[9,11]", "[4,5,6]", "[3,4,3,4]"};
    operation_world_t world;
    operation_begin(&world, JDATATYPE_I8);
    unsigned char memory[256] = {0}, marks[2][256];
    for (int64_t round = 0; round < jtest_iterations(4000) && !jtest_has_failure(); round++) {
        jlayout_t layout;
        int64_t count = 0;
        jbuffer_t *whole = NULL, *views[2];
        JASSERT_OK(jlayout_parse(layouts[round % 4], &layout, NULL));
        JASSERT_OK(jlayout_get_count(&layout, &count));
        JASSERT_OK(jbuffer_wrap(world.allocator, &layout, memory, &whole));
        for (int i = 0; i < 2; i++)
            views[i] = draw_view(whole, memory, marks[i], (size_t)count);
        bool shared = false;
        for (int64_t i = 0; i < count; i++)
            shared = shared || (marks[0][i] && marks[1][i]);
        const ji_overlap_t found = ji_buffer_overlap(views[0], views[1]);
        JEXPECT_EQ(found != JI_OVERLAP_NONE, shared);
        JEXPECT_EQ((int)ji_buffer_overlap(views[1], views[0]), (int)found);
        JEXPECT_EQ((int)ji_buffer_overlap(views[0], views[0]),
                   (int)(memchr(marks[0], 1, (size_t)count) ? JI_OVERLAP_SAME : JI_OVERLAP_NONE));
        for (int i = 0; i < 2; i++)
            JEXPECT_OK(jbuffer_release(views[i]));
        JEXPECT_OK(jbuffer_release(whole));
    }
    operation_end(&world);
}

/* Memory that was wrapped twice is told by its addresses. */
JTEST(OperationOverlap, OfMemoryWrappedTwice) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    const double one = 1, zero = 0;
    double memory[6] = {1, 2, 3, 4, 5, 6};
    const jlayout_t layout = operation_layout(2, 2, 2);
    jbuffer_t *a = NULL, *b = NULL;
    JASSERT_OK(jbuffer_wrap(world.allocator, &layout, memory, &a));
    JASSERT_OK(jbuffer_wrap(world.allocator, &layout, memory + 2, &b));
    JEXPECT_OK(jbuffer_product(world.handle, N, N, &one, a, a, &zero, &b));
    const double squared[6] = {1, 2, 7, 10, 15, 22};
    JEXPECT_EQ(memcmp(memory, squared, sizeof memory), 0);
    JEXPECT_OK(jbuffer_copy(world.handle, b, a));
    const double copied[6] = {1, 2, 1, 2, 7, 10};
    JEXPECT_EQ(memcmp(memory, copied, sizeof memory), 0);
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(b));
    operation_end(&world);
}

JTEST_P(OperationOverlap, ResultsAreThoseOfWhatOperandsWere, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (int64_t round = 0; round < jtest_iterations(600) && !jtest_has_failure(); round++)
        overlap_expect_right(world.handle, world.allocator, world.allocator, &world.arena, true);
    operation_end(&world);
}

/* A vector that lies across a matrix is copied to one without gaps, which lies in both orders: symm
 * still reads the one triangle that is stored. */
JTEST(OperationOverlap, OfAStridedVectorAndASymmetricMatrix) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    const double one = 1, zero = 0;
    double stored[9] = {2, NAN, NAN, 3, 4, NAN, 5, 6, 7}, whole[9] = {0, 1, 0, 0, 2, 0, 0, 3, 0};
    const jlayout_t layout = operation_layout(2, 3, 3);
    jbuffer_t *general = NULL, *a = NULL, *matrix = NULL, *row = NULL, *vector = NULL;
    JASSERT_OK(jbuffer_wrap(world.allocator, &layout, stored, &general));
    JASSERT_OK(jbuffer_with_structure(general, JSTRUCTURE_SYMMETRIC_UPPER, &a));
    JASSERT_OK(jbuffer_wrap(world.allocator, &layout, whole, &matrix));
    JASSERT_OK(jbuffer_slice(matrix, (const int64_t[]){1, 0}, (const int64_t[]){1, 3}, NULL, &row));
    JASSERT_OK(jbuffer_permute(row, (const int[]){1, 0}, &vector));
    JEXPECT_OK(jbuffer_product(world.handle, N, N, &one, a, vector, &zero, &vector));
    const double expected[9] = {0, 23, 0, 0, 29, 0, 0, 38, 0};
    for (int i = 0; i < 9; i++)
        JEXPECT_EQ(whole[i], expected[i]);
    jbuffer_t *const all[] = {vector, row, matrix, a, general};
    for (int i = 0; i < 5; i++)
        JEXPECT_OK(jbuffer_release(all[i]));
    operation_end(&world);
}

/* Blocks of one matrix, as in a factorization by blocks, are no overlap: nothing is copied. */
JTEST(OperationOverlap, BlocksOfOneMatrixTakeNoWorkspace) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    const double minus = -1, one = 1;
    operand_t whole;
    jbuffer_t *a = NULL, *b = NULL, *c = NULL;
    operand_make(&whole, world.allocator, 40, 40, STORED_COLUMN_PADDED, JSTRUCTURE_GENERAL);
    JASSERT_OK(
        jbuffer_slice(whole.view, (const int64_t[]){8, 0}, (const int64_t[]){32, 8}, NULL, &a));
    JASSERT_OK(
        jbuffer_slice(whole.view, (const int64_t[]){0, 8}, (const int64_t[]){8, 32}, NULL, &b));
    JASSERT_OK(
        jbuffer_slice(whole.view, (const int64_t[]){8, 8}, (const int64_t[]){32, 32}, NULL, &c));
    JEXPECT_OK(jhandle_seal(world.handle));
    JEXPECT_OK(jbuffer_product(world.handle, N, N, &minus, a, b, &one, &c));
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(b));
    JEXPECT_OK(jbuffer_release(c));
    operand_free(&whole);
    operation_end(&world);
}

/* Of rank 3, where the sum is made of slices, and of a type that is only copied. */
JTEST(OperationOverlap, OfAnyRankAndType) {
    operation_world_t world, bytes;
    operation_begin(&world, JDATATYPE_F64);
    operation_begin(&bytes, JDATATYPE_I8);
    const double one = 1;
    double cube[3][3][3], sum[3][3][3];
    int8_t small[3][3][3];
    for (int i = 0; i < 27; i++) {
        ((double *)cube)[i] = i * i;
        ((int8_t *)small)[i] = (int8_t)i;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                sum[i][j][k] = cube[i][j][k] + cube[k][i][j];
    jbuffer_t *a = NULL, *turned = NULL;
    JASSERT_OK(jbuffer_construct_list(world.allocator, JBUFFER_LIST_3(cube), &a));
    /* turned[i][j][k] = a[k][i][j] */
    JASSERT_OK(jbuffer_permute(a, (const int[]){1, 2, 0}, &turned));
    JEXPECT_OK(jbuffer_add(world.handle, &one, a, &one, turned, &a));
    for (int64_t i = 0; i < 27; i++) {
        double value = -1;
        JEXPECT_OK(jbuffer_get(a, (const int64_t[]){i / 9, i / 3 % 3, i % 3}, &value));
        JEXPECT_EQ(value, ((double *)sum)[i]);
    }
    JEXPECT_OK(jbuffer_release(turned));
    JEXPECT_OK(jbuffer_release(a));
    JASSERT_OK(jbuffer_construct_list(bytes.allocator, JBUFFER_LIST_3(small), &a));
    JASSERT_OK(jbuffer_permute(a, (const int[]){1, 2, 0}, &turned));
    JEXPECT_OK(jbuffer_copy(bytes.handle, a, turned));
    for (int64_t i = 0; i < 27; i++) {
        int8_t value = -1;
        JEXPECT_OK(jbuffer_get(a, (const int64_t[]){i / 9, i / 3 % 3, i % 3}, &value));
        JEXPECT_EQ(value, small[i % 3][i / 9][i / 3 % 3]);
    }
    JEXPECT_OK(jbuffer_release(turned));
    JEXPECT_OK(jbuffer_release(a));
    operation_end(&bytes);
    operation_end(&world);
}

/* In the order of a created stream, which nothing waits for. */
JTEST(OperationOverlap, CopiesAreMadeInTheStream) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_workspace_size(world.handle, 1 << 12)); /* growing may wait */
    JEXPECT_OK(jhandle_set_stream(world.handle, stream));
    const double one = 1, zero = 0;
    const double values[2][2] = {{1, 2}, {3, 4}};
    jbuffer_t *a = NULL, *turned = NULL, *lower = NULL;
    JASSERT_OK(jbuffer_construct_list(world.allocator, JBUFFER_LIST_2(values), &a));
    JASSERT_OK(jbuffer_permute(a, (const int[]){1, 0}, &turned));
    JASSERT_OK(jbuffer_with_structure(a, JSTRUCTURE_SYMMETRIC_LOWER, &lower));
    jtest_gate_t gate = JTEST_GATE_INIT;
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), stream));
    JEXPECT_OK(jbuffer_product(world.handle, N, N, &one, a, a, &zero, &a)); /* 7 10; 15 22 */
    JEXPECT_OK(jbuffer_copy(world.handle, a, turned));                      /* 7 15; 10 22 */
    JEXPECT_OK(jbuffer_add(world.handle, &one, a, &one, turned, &a));       /* 14 25; 25 44 */
    JEXPECT_OK(jbuffer_transpose(world.handle, T, a, &a));
    JEXPECT_OK(jbuffer_product(world.handle, N, T, &one, lower, a, &one, &a)); /* a + a a^T */
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    const double expected[2][2] = {{14 + 821, 25 + 1450}, {25 + 1450, 44 + 2561}};
    for (int64_t i = 0; i < 4; i++) {
        double value = -1;
        JEXPECT_OK(jbuffer_get(a, (const int64_t[]){i / 2, i % 2}, &value));
        JEXPECT_EQ(value, expected[i / 2][i % 2]);
    }
    JEXPECT_OK(jhandle_set_stream(world.handle, NULL));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jbuffer_release(lower));
    JEXPECT_OK(jbuffer_release(turned));
    JEXPECT_OK(jbuffer_release(a));
    operation_end(&world);
}
