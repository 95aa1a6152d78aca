/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Every conversion between kinds where one side is distributed, over random shapes, grids, blocks
 * and views. All of a process's memory is compared, so what a copy must not touch is checked with
 * what it must write. */

#include "mpi_matrix.h"

#include "buffer/buffer.h"

#include <stdlib.h>
#include <string.h>

static const jdatatype_t types[] = {JDATATYPE_F32, JDATATYPE_F64,  JDATATYPE_F32_C, JDATATYPE_F64_C,
                                    JDATATYPE_F16, JDATATYPE_BF16, JDATATYPE_I8,    JDATATYPE_I32};

typedef enum workspace_choice {
    WORKSPACE_LEAST,
    WORKSPACE_BEST,
    WORKSPACE_BETWEEN
} workspace_choice_t;

/* The copy with workspace of exactly that size, so that a sanitizer sees what is beyond. */
static jstatus_t copy_with(const jmpi_t *mpi, jbuffer_t *destination, jbuffer_t *source,
                           workspace_choice_t choice, uint64_t draw) {
    size_t best = 0, least = 0;
    JEXPECT_OK(ji_buffer_copy_bytes(destination, source, &best, &least));
    JEXPECT_LE(least, best);
    JEXPECT_LE(least, (size_t)1 << 20);
    (void)jmpi_same(mpi, __FILE__, __LINE__, "least", (long long)least);
    size_t bytes = choice == WORKSPACE_BEST ? best : least;
    if (choice == WORKSPACE_BETWEEN) {
        for (int k = 0; k <= mpi->rank; ++k)
            (void)jtest_random_next(&draw); /* each process has another size */
        bytes = least + draw % (best - least + 1);
    }
    void *workspace = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    const jstatus_t status = ji_buffer_copy(destination, source, NULL, workspace, bytes);
    free(workspace);
    return status;
}

static void one_conversion(const jmpi_t *mpi, const matrix_spec_t *to, const matrix_spec_t *from,
                           jdatatype_t type, int rank, const int64_t extents[2]) {
    const workspace_choice_t choice = (workspace_choice_t)jtest_random_between(0, 2);
    const uint64_t draw = jtest_random();
    JSCOPED_TRACE("%s[%lld,%lld] rank %d: %s grid %dx%d blocks %lldx%lld at %lld,%lld structure %d "
                  "order %d -> %s grid %dx%d blocks %lldx%lld at %lld,%lld structure %d order %d, "
                  "workspace %d",
                  jdatatype_name(type), (long long)extents[0], (long long)extents[1], rank,
                  jbuffer_kind_name(from->kind), from->grid[0], from->grid[1],
                  (long long)from->blocks[0], (long long)from->blocks[1],
                  (long long)from->before[0], (long long)from->before[1], (int)from->structure,
                  (int)from->order, jbuffer_kind_name(to->kind), to->grid[0], to->grid[1],
                  (long long)to->blocks[0], (long long)to->blocks[1], (long long)to->before[0],
                  (long long)to->before[1], (int)to->structure, (int)to->order, (int)choice);
    matrix_t source = {0}, destination = {0};
    /* Of local sources rank 0's counts: the others have something else. */
    const int64_t salt = from->kind == JBUFFER_LOCAL ? 100 + mpi->rank : 100;
    if (!matrix_make(mpi, &source, from, type, rank, extents, salt, true) ||
        !matrix_make(mpi, &destination, to, type, rank, extents, 7, false))
        return;
    const jstatus_t status = copy_with(mpi, destination.view, source.view, choice, draw);
    JEXPECT_OK(status);
    JMPI_EXPECT_SAME_STATUS(status);
    MPI_Barrier(mpi->communicator);
    source.salt = 100;
    matrix_expect_copy(&destination, &source);
    matrix_check(mpi, &destination, "the destination");
    matrix_check(mpi, &source, "the source");
    matrix_end(&source);
    matrix_end(&destination);
}

typedef struct pair {
    int ranks;
    jbuffer_kind_t from, to;
    bool shared_from, shared_to;
} pair_t;

static const pair_t pairs[] = {
    {0, JBUFFER_DISTRIBUTED, JBUFFER_DISTRIBUTED, false, false},
    {0, JBUFFER_LOCAL, JBUFFER_DISTRIBUTED, false, false},
    {0, JBUFFER_DISTRIBUTED, JBUFFER_LOCAL, false, false},
    {0, JBUFFER_REPLICATED, JBUFFER_DISTRIBUTED, false, false},
    {0, JBUFFER_DISTRIBUTED, JBUFFER_REPLICATED, false, false},
    {0, JBUFFER_REPLICATED, JBUFFER_DISTRIBUTED, true, false},
    {0, JBUFFER_DISTRIBUTED, JBUFFER_REPLICATED, false, true},
    {0, JBUFFER_LOCAL, JBUFFER_REPLICATED, false, false},
    {0, JBUFFER_LOCAL, JBUFFER_REPLICATED, false, true},
    {0, JBUFFER_REPLICATED, JBUFFER_LOCAL, true, false},
};

static void draw_extents(int64_t extents[2]) {
    for (int d = 0; d < 2; ++d)
        extents[d] = jtest_random_between(0, 9) == 0
                         ? jtest_random_between(0, 1)
                         : jtest_random_between(1, jtest_random_bool() ? 12 : 70);
}

JMPI_TEST_P(Redistribute, GivesEveryElementAndTouchesNothingElse, pair_t, pairs) {
    const int64_t count = jtest_iterations(40);
    for (int64_t n = 0; n < count; ++n) {
        matrix_spec_t from, to;
        int64_t extents[2];
        const jdatatype_t type = types[jtest_random_between(0, 7)];
        const int rank = jtest_random_between(0, 5) == 0 ? (int)jtest_random_between(0, 1) : 2;
        draw_extents(extents);
        matrix_draw(mpi, &from, param->from, extents);
        matrix_draw(mpi, &to, param->to, extents);
        from.shared_on_node = param->shared_from;
        to.shared_on_node = param->shared_to;
        one_conversion(mpi, &to, &from, type, rank, extents);
        JMPI_CHECKPOINT();
    }
}

/* Machines of two processes, or of one at the end, that share one copy each. */
JMPI_TEST_NODES(Redistribute, EveryMachineHasItsCopy, 0, 2) {
    const int64_t count = jtest_iterations(20);
    for (int64_t n = 0; n < count; ++n) {
        const pair_t *pair = &pairs[jtest_random_between(0, 9)];
        matrix_spec_t from, to;
        int64_t extents[2];
        draw_extents(extents);
        extents[1] = extents[0];
        matrix_draw(mpi, &from, pair->from, extents);
        matrix_draw(mpi, &to, pair->to, extents);
        from.shared_on_node = pair->from == JBUFFER_REPLICATED;
        to.shared_on_node = pair->to == JBUFFER_REPLICATED;
        from.structure = (jstructure_t)jtest_random_between(0, 6);
        one_conversion(mpi, &to, &from, types[jtest_random_between(0, 3)], 2, extents);
        JMPI_CHECKPOINT();
    }
}

/* All that a structured matrix can become, between all kinds. */
JMPI_TEST_P(Redistribute, StructuresAreMirroredConjugatedAndKept, pair_t, pairs) {
    const int64_t count = jtest_iterations(2);
    for (int64_t n = 0; n < count; ++n)
        for (int structures = 0; structures < 49; ++structures) {
            matrix_spec_t from, to;
            int64_t extents[2];
            const jdatatype_t type = types[jtest_random_between(0, 3)];
            draw_extents(extents);
            extents[1] = extents[0];
            matrix_draw(mpi, &from, param->from, extents);
            matrix_draw(mpi, &to, param->to, extents);
            from.shared_on_node = param->shared_from;
            to.shared_on_node = param->shared_to;
            from.structure = (jstructure_t)(structures % 7);
            to.structure = (jstructure_t)(structures / 7);
            one_conversion(mpi, &to, &from, type, 2, extents);
            JMPI_CHECKPOINT();
        }
}

/* Memory of devices on either side, or of two makers at once. */
JMPI_TEST_ONLY_WITH("JALLOC_TEST_MODULES", RedistributeDevice, EveryDeviceWithEveryOther, 0) {
    jdevice_t *devices[3] = {NULL};
    JMPI_ASSERT_OK(jdevice_get("cuda:0", &devices[1]));
    JMPI_ASSERT_OK(jdevice_get("hip:0", &devices[2]));
    JEXPECT_FALSE(jruntime_is_device_aware(JDEVICE_HIP)); /* so these copies go through the host */
    const int64_t count = jtest_iterations(150);
    for (int64_t n = 0; n < count; ++n) {
        matrix_spec_t from, to;
        int64_t extents[2];
        const pair_t *pair = &pairs[jtest_random_between(0, 4)];
        draw_extents(extents);
        extents[1] = jtest_random_bool() ? extents[0] : extents[1];
        matrix_draw(mpi, &from, pair->from, extents);
        matrix_draw(mpi, &to, pair->to, extents);
        from.device = devices[jtest_random_between(0, 2)];
        to.device = devices[jtest_random_between(0, 2)];
        if (extents[0] == extents[1]) {
            from.structure = (jstructure_t)jtest_random_between(0, 6);
            to.structure = (jstructure_t)jtest_random_between(0, 6);
        }
        one_conversion(mpi, &to, &from, types[jtest_random_between(0, 7)], 2, extents);
        JMPI_CHECKPOINT();
    }
}

/* Messages of many pieces: more than the least workspace takes. */
JMPI_TEST(Redistribute, LargeOnesGoInPieces, 0) {
    static const jbuffer_kind_t kinds[][2] = {{JBUFFER_DISTRIBUTED, JBUFFER_DISTRIBUTED},
                                              {JBUFFER_LOCAL, JBUFFER_DISTRIBUTED},
                                              {JBUFFER_DISTRIBUTED, JBUFFER_REPLICATED}};
    for (int k = 0; k < 6; ++k) {
        matrix_spec_t from, to;
        const int64_t extents[2] = {jtest_random_between(500, 900), jtest_random_between(300, 600)};
        matrix_draw(mpi, &from, kinds[k % 3][0], extents);
        matrix_draw(mpi, &to, kinds[k % 3][1], extents);
        /* Only rank 0 knows how its rows lie, and all have to know. */
        if (from.kind == JBUFFER_LOCAL)
            from.order = mpi->rank == 0 ? JORDER_ROW_MAJOR : JORDER_COLUMN_MAJOR;
        one_conversion(mpi, &to, &from, JDATATYPE_F64_C, 2, extents);
        JMPI_CHECKPOINT();
    }
}

/* What each process has already takes neither messages nor workspace. */
JMPI_TEST(Redistribute, AlikeSidesNeedNoWorkspace, 0) {
    matrix_spec_t spec;
    const int64_t extents[2] = {40, 30};
    matrix_draw(mpi, &spec, JBUFFER_DISTRIBUTED, extents);
    matrix_t source = {0}, destination = {0};
    if (!matrix_make(mpi, &source, &spec, JDATATYPE_F64, 2, extents, 1, true))
        return;
    for (int d = 0; d < 2; ++d) /* aligned, if not at the same place */
        spec.before[d] += spec.blocks[d] * spec.grid[d] * jtest_random_between(0, 2);
    if (!matrix_make(mpi, &destination, &spec, JDATATYPE_F64, 2, extents, 2, false))
        return;
    size_t best = 1, least = 1;
    JEXPECT_OK(ji_buffer_copy_bytes(destination.view, source.view, &best, &least));
    JEXPECT_EQ(best, 0);
    JEXPECT_EQ(least, 0);
    JEXPECT_OK(ji_buffer_copy(destination.view, source.view, NULL, NULL, 0));
    matrix_expect_copy(&destination, &source);
    matrix_check(mpi, &destination, "the destination");
    matrix_end(&source);
    matrix_end(&destination);
}

/* Too little workspace on one process: all hear of it, and nothing has been written. */
JMPI_TEST(Redistribute, TooLittleWorkspaceOnOneRankIsAnErrorOnAll, 4) {
    matrix_spec_t from = {.kind = JBUFFER_DISTRIBUTED, .grid = {2, 2}, .blocks = {3, 5}};
    matrix_spec_t to = {.kind = JBUFFER_DISTRIBUTED, .grid = {1, 4}, .blocks = {4, 2}};
    const int64_t extents[2] = {50, 40};
    matrix_t source = {0}, destination = {0};
    if (!matrix_make(mpi, &source, &from, JDATATYPE_F32, 2, extents, 1, true) ||
        !matrix_make(mpi, &destination, &to, JDATATYPE_F32, 2, extents, 2, false))
        return;
    size_t best, least;
    JMPI_ASSERT_OK(ji_buffer_copy_bytes(destination.view, source.view, &best, &least));
    void *workspace = aligned_alloc(64, (best + 63) & ~(size_t)63);
    for (int victim = 0; victim < mpi->size; ++victim) {
        JEXPECT_STATUS(ji_buffer_copy(destination.view, source.view, NULL, workspace,
                                      mpi->rank == victim ? 8 : best),
                       JSTATUS_MEMORY_ERROR);
        matrix_check(mpi, &destination, "the destination");
    }
    JEXPECT_OK(ji_buffer_copy(destination.view, source.view, NULL, workspace, best));
    free(workspace);
    matrix_expect_copy(&destination, &source);
    matrix_check(mpi, &destination, "the destination");
    matrix_end(&source);
    matrix_end(&destination);
}

/* Every process gets an element of any of them. */
JMPI_TEST(Redistribute, GetTellsAllProcesses, 0) {
    for (int n = 0; n < 20; ++n) {
        matrix_spec_t spec;
        const int64_t side = jtest_random_between(1, 20), extents[2] = {side, side};
        matrix_draw(mpi, &spec, JBUFFER_DISTRIBUTED, extents);
        spec.structure = (jstructure_t)jtest_random_between(0, 6);
        matrix_t matrix = {0};
        if (!matrix_make(mpi, &matrix, &spec, types[jtest_random_between(0, 7)], 2, extents, n,
                         true))
            return;
        for (int k = 0; k < 10; ++k) {
            const int64_t indices[2] = {jtest_random_between(0, side - 1),
                                        jtest_random_between(0, side - 1)};
            unsigned char value[16] = {0}, expected[16] = {0};
            matrix_element(&matrix, indices[0], indices[1], expected);
            JEXPECT_OK(jbuffer_get(matrix.view, indices, value));
            JEXPECT_TRUE(memcmp(value, expected, matrix.size) == 0);
        }
        matrix_end(&matrix);
        JMPI_CHECKPOINT();
    }
}
