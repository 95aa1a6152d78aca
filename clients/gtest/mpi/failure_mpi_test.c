/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* One process fails, at every place where it can, and all hear of it: for each collective function
 * each allocation of bookkeeping and of memory fails on each rank in turn, and each argument is
 * wrong on each rank in turn. The status is the same everywhere, nothing is left behind, and the
 * next call works. */

#include "mpi_matrix.h"

#include "buffer/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the functions under test work with. */
typedef struct scene {
    const jmpi_t *mpi;
    jbuffer_allocator_t *distributed, *replicated, *local;
    jbuffer_t *matrix, *other; /* distributed in two ways */
    jbuffer_t *whole;          /* local */
    jlayout_t layout;
    char path[64];
} scene_t;

static jbuffer_allocator_t *scene_allocator(const jmpi_t *mpi, jbuffer_kind_t kind) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator = NULL;
    options.kind = kind;
    options.allocator = jtest_failing_allocator();
    options.blocks[0] = options.blocks[1] = 4;
    JEXPECT_OK(jbuffer_allocator_create(mpi->runtime, &options, &allocator));
    return allocator;
}

static bool scene_begin(const jmpi_t *mpi, scene_t *scene) {
    const int64_t extents[2] = {20, 20}, blocks[2] = {3, 7};
    *scene = (scene_t){.mpi = mpi};
    scene->distributed = scene_allocator(mpi, JBUFFER_DISTRIBUTED);
    scene->replicated = scene_allocator(mpi, JBUFFER_REPLICATED);
    scene->local = scene_allocator(mpi, JBUFFER_LOCAL);
    JEXPECT_OK(jlayout_init(&scene->layout, 2, extents, JORDER_COLUMN_MAJOR));
    if (!jmpi_all_well(mpi))
        return false;
    jlayout_t blocked = scene->layout;
    JEXPECT_OK(jlayout_set_blocks(&blocked, blocks));
    JEXPECT_OK(jbuffer_construct_value(scene->distributed, &scene->layout, NULL, &scene->matrix));
    JEXPECT_OK(jbuffer_construct_value(scene->distributed, &blocked, NULL, &scene->other));
    JEXPECT_OK(jbuffer_construct_value(scene->local, &scene->layout, NULL, &scene->whole));
    strcpy(scene->path, "/tmp/jalloc-mpi-XXXXXX");
    if (mpi->rank == 0)
        close(mkstemp(scene->path));
    MPI_Bcast(scene->path, sizeof scene->path, MPI_CHAR, 0, mpi->communicator);
    JEXPECT_OK(jbuffer_save(scene->matrix, scene->path));
    return jmpi_all_well(mpi);
}

static void scene_end(scene_t *scene) {
    JEXPECT_OK(jbuffer_release(scene->matrix));
    JEXPECT_OK(jbuffer_release(scene->other));
    JEXPECT_OK(jbuffer_release(scene->whole));
    JEXPECT_OK(jbuffer_allocator_release(scene->distributed));
    JEXPECT_OK(jbuffer_allocator_release(scene->replicated));
    JEXPECT_OK(jbuffer_allocator_release(scene->local));
    MPI_Barrier(scene->mpi->communicator);
    if (scene->mpi->rank == 0)
        unlink(scene->path);
}

static jbuffer_filled_t fill_nothing(void *context, const jbuffer_block_t *block) {
    (void)context, (void)block;
    return JBUFFER_BLOCK_ZERO;
}

/* ---- Collective functions, each giving a buffer (or nothing) ---- */

static jstatus_t call_create_distributed(scene_t *scene, jbuffer_t **buffer) {
    (void)buffer;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator = NULL;
    options.kind = JBUFFER_DISTRIBUTED;
    options.allocator = jtest_failing_allocator();
    const jstatus_t status = jbuffer_allocator_create(scene->mpi->runtime, &options, &allocator);
    JEXPECT_EQ(allocator != NULL, status == JSTATUS_SUCCESS);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    return status;
}
static jstatus_t call_rebind(scene_t *scene, jbuffer_t **buffer) {
    (void)buffer;
    jbuffer_allocator_t *allocator = NULL;
    const jstatus_t status =
        jbuffer_allocator_rebind(scene->replicated, JBUFFER_DISTRIBUTED, JDATATYPE_F32, &allocator);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    return status;
}
static jstatus_t call_allocate(scene_t *scene, jbuffer_t **buffer) {
    return jbuffer_allocate(scene->distributed, &scene->layout, buffer);
}
static jstatus_t call_allocate_replicated(scene_t *scene, jbuffer_t **buffer) {
    return jbuffer_allocate(scene->replicated, &scene->layout, buffer);
}
static jstatus_t call_value(scene_t *scene, jbuffer_t **buffer) {
    return jbuffer_construct_value(scene->distributed, &scene->layout, NULL, buffer);
}
static jstatus_t call_identity(scene_t *scene, jbuffer_t **buffer) {
    return jbuffer_construct_identity(scene->distributed, &scene->layout, buffer);
}
static jstatus_t call_list(scene_t *scene, jbuffer_t **buffer) {
    double values[2][3] = {{1, 2, 3}, {4, 5, 6}};
    return jbuffer_construct_list(scene->distributed, JBUFFER_LIST_2(values), buffer);
}
static jstatus_t call_function(scene_t *scene, jbuffer_t **buffer) {
    return jbuffer_construct_function(scene->distributed, &scene->layout, fill_nothing, NULL, 1,
                                      buffer);
}
static jstatus_t call_copy(scene_t *scene, jbuffer_t **buffer) {
    return jbuffer_construct_copy(scene->distributed, scene->other, buffer);
}
static jstatus_t call_copy_of_local(scene_t *scene, jbuffer_t **buffer) {
    return jbuffer_construct_copy(scene->distributed, scene->whole, buffer);
}
static jstatus_t call_copy_to_replicated(scene_t *scene, jbuffer_t **buffer) {
    return jbuffer_construct_copy(scene->replicated, scene->matrix, buffer);
}
static jstatus_t call_copy_to_local(scene_t *scene, jbuffer_t **buffer) {
    return jbuffer_construct_copy(scene->local, scene->matrix, buffer);
}
static jstatus_t call_move_to_replicated(scene_t *scene, jbuffer_t **buffer) {
    jbuffer_t *source = scene->matrix;
    JEXPECT_OK(jbuffer_retain(source));
    const jstatus_t status = jbuffer_construct_move(scene->replicated, &source, buffer, NULL);
    JEXPECT_EQ(source != NULL, status != JSTATUS_SUCCESS);
    JEXPECT_OK(jbuffer_release(source));
    return status;
}
static jstatus_t call_load(scene_t *scene, jbuffer_t **buffer) {
    return jbuffer_load(scene->distributed, scene->path, buffer);
}
static jstatus_t call_save(scene_t *scene, jbuffer_t **buffer) {
    (void)buffer;
    return jbuffer_save(scene->other, scene->path);
}
static jstatus_t call_window(scene_t *scene, jbuffer_t **buffer) {
    MPI_Win window;
    *buffer = NULL;
    jstatus_t status = jbuffer_construct_value(scene->distributed, &scene->layout, NULL, buffer);
    /* Not every MPI has windows of one process. */
    if (status == JSTATUS_SUCCESS && scene->mpi->size > 1)
        status = jbuffer_as_window(*buffer, &window);
    if (status != JSTATUS_SUCCESS) {
        JEXPECT_OK(jbuffer_release(*buffer));
        *buffer = NULL;
    }
    return status;
}

typedef struct call {
    int ranks;
    const char *name;
    jstatus_t (*function)(scene_t *scene, jbuffer_t **buffer);
} call_t;
static const call_t calls[] = {
    {0, "create", call_create_distributed},
    {0, "rebind", call_rebind},
    {0, "allocate", call_allocate},
    {0, "allocate a replicated one", call_allocate_replicated},
    {0, "construct_value", call_value},
    {0, "construct_identity", call_identity},
    {0, "construct_list", call_list},
    {0, "construct_function", call_function},
    {0, "construct_copy", call_copy},
    {0, "construct_copy of a local one", call_copy_of_local},
    {0, "construct_copy to a replicated one", call_copy_to_replicated},
    {0, "construct_copy to a local one", call_copy_to_local},
    {0, "construct_move to a replicated one", call_move_to_replicated},
    {0, "load", call_load},
    {0, "save", call_save},
    {0, "as_window", call_window},
};

/* One call with something failing on the victim. Gives whether it has failed, to all. */
static bool call_with_failure(scene_t *scene, const call_t *call, int victim, uint64_t n,
                              bool bookkeeping) {
    const jmpi_t *mpi = scene->mpi;
    const size_t live = jtest_metadata_live_count(), bytes = jtest_live_bytes();
    const uint64_t before = jtest_allocation_count();
    const bool mine = mpi->rank == victim;
    jbuffer_t *buffer = NULL;
    if (bookkeeping)
        jtest_fail_metadata_after(mine ? n : 0);
    else
        jtest_fail_allocation_after(mine ? n : 0);
    const jstatus_t status = call->function(scene, &buffer);
    int failed = bookkeeping ? jtest_metadata_failed() : jtest_allocation_count() - before >= n;
    jtest_fail_metadata_after(0);
    jtest_fail_allocation_after(0);
    MPI_Bcast(&failed, 1, MPI_INT, victim, mpi->communicator);
    JSCOPED_TRACE("%s: rank %d, %s %llu", call->name, victim,
                  bookkeeping ? "bookkeeping" : "memory", (unsigned long long)n);
    JEXPECT_STATUS(status, failed ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
    JMPI_EXPECT_SAME_STATUS(status);
    if (failed) {
        char rank[24];
        snprintf(rank, sizeof rank, "rank %d: ", victim);
        if (mpi->size > 1)
            JEXPECT_SUBSTR(jstatus_last_message(), rank);
        JEXPECT_NULL(buffer);
    }
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_EQ(jtest_metadata_live_count(), live);
    JEXPECT_EQ(jtest_live_bytes(), bytes);
    return failed;
}

JMPI_TEST_P(MpiFailure, NoMemoryOnOneRankIsAnErrorOnAll, call_t, calls) {
    scene_t scene;
    if (!scene_begin(mpi, &scene))
        return;
    for (int victim = 0; victim < mpi->size; ++victim)
        for (int bookkeeping = 0; bookkeeping < 2; ++bookkeeping)
            for (uint64_t n = 1; call_with_failure(&scene, param, victim, n, bookkeeping); ++n)
                JMPI_CHECKPOINT();
    scene_end(&scene);
}

/* The workspace that serves a large copy best cannot be had by one rank: with the least it takes
 * longer. */
JMPI_TEST(MpiFailure, WithoutTheBestWorkspaceACopyTakesTheLeast, 2) {
    const int64_t extents[2] = {600, 600}, blocks[2] = {3, 7};
    jbuffer_allocator_t *allocator = scene_allocator(mpi, JBUFFER_DISTRIBUTED),
                        *other = scene_allocator(mpi, JBUFFER_DISTRIBUTED);
    jlayout_t layout;
    jbuffer_t *source = NULL;
    const double one = 1;
    JEXPECT_OK(jlayout_init(&layout, 2, extents, JORDER_COLUMN_MAJOR));
    /* Which a copy by another allocator does not keep. */
    JEXPECT_OK(jlayout_set_blocks(&layout, blocks));
    JMPI_ASSERT_OK(jbuffer_construct_value(allocator, &layout, &one, &source));
    for (int victim = 0; victim < mpi->size; ++victim) {
        const uint64_t before = jtest_allocation_count();
        jbuffer_t *copy = NULL;
        double value = 0;
        jtest_fail_allocation_after(mpi->rank == victim ? 2 : 0); /* behind the buffer's own */
        const jstatus_t status = jbuffer_construct_copy(other, source, &copy);
        jtest_fail_allocation_after(0);
        JMPI_ASSERT_OK(status);
        JEXPECT_EQ(jtest_allocation_count() - before, mpi->rank == victim ? 3u : 2u);
        JEXPECT_OK(jbuffer_get(copy, (const int64_t[]){599, 598}, &value));
        JEXPECT_EQ(value, 1.0);
        JEXPECT_OK(jbuffer_release(copy));
    }
    JEXPECT_OK(jbuffer_release(source));
    JEXPECT_OK(jbuffer_allocator_release(other));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

/* ---- Wrong arguments ---- */

/* Each is wrong on `wrong` alone. */
static jstatus_t wrong_layout(scene_t *scene, bool wrong, jbuffer_t **buffer) {
    jlayout_t layout = scene->layout;
    if (wrong)
        layout.rank = 99;
    return jbuffer_allocate(scene->distributed, &layout, buffer);
}
static jstatus_t wrong_null_layout(scene_t *scene, bool wrong, jbuffer_t **buffer) {
    return jbuffer_construct_value(scene->distributed, wrong ? NULL : &scene->layout, NULL, buffer);
}
static jstatus_t wrong_null_buffer(scene_t *scene, bool wrong, jbuffer_t **buffer) {
    return jbuffer_construct_identity(scene->distributed, &scene->layout, wrong ? NULL : buffer);
}
static jstatus_t wrong_type(scene_t *scene, bool wrong, jbuffer_t **buffer) {
    float values[2] = {1, 2};
    const int64_t extents[1] = {2};
    return jbuffer_construct_list(scene->distributed, 1, extents,
                                  wrong ? JDATATYPE_F32 : JDATATYPE_F64,
                                  (double[]){values[0], values[1]}, buffer);
}
static jstatus_t wrong_function(scene_t *scene, bool wrong, jbuffer_t **buffer) {
    return jbuffer_construct_function(scene->distributed, &scene->layout,
                                      wrong ? NULL : fill_nothing, NULL, 1, buffer);
}
static jbuffer_filled_t fill_or_fail(void *context, const jbuffer_block_t *block) {
    memset(block->data, 0, jhandle_sizeof_datatype(block->type));
    return *(bool *)context ? JBUFFER_BLOCK_FAILED : JBUFFER_BLOCK_ZERO;
}
static jstatus_t wrong_block(scene_t *scene, bool wrong, jbuffer_t **buffer) {
    return jbuffer_construct_function(scene->distributed, &scene->layout, fill_or_fail, &wrong, 1,
                                      buffer);
}
static jstatus_t wrong_source(scene_t *scene, bool wrong, jbuffer_t **buffer) {
    return jbuffer_construct_copy(scene->distributed, wrong ? NULL : scene->other, buffer);
}
static jstatus_t wrong_freed_source(scene_t *scene, bool wrong, jbuffer_t **buffer) {
    return jbuffer_construct_copy(scene->distributed, wrong ? (jbuffer_t *)scene : scene->other,
                                  buffer);
}
static jstatus_t wrong_grid(scene_t *scene, bool wrong, jbuffer_t **buffer) {
    (void)buffer;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator = NULL;
    options.kind = JBUFFER_DISTRIBUTED;
    options.allocator = jtest_failing_allocator();
    options.grid[0] = options.grid[1] = wrong ? 100 : 1;
    const jstatus_t status = jbuffer_allocator_create(scene->mpi->runtime, &options, &allocator);
    JEXPECT_NULL(allocator);
    return status;
}

typedef struct wrong {
    int ranks;
    const char *name;
    jstatus_t (*function)(scene_t *scene, bool wrong, jbuffer_t **buffer);
    jstatus_t status;
    bool inside; /* noticed by processes that have a part alone */
} wrong_t;
static const wrong_t wrongs[] = {
    {0, "a layout of rank 99", wrong_layout, JSTATUS_INVALID_VALUE, false},
    {0, "no layout", wrong_null_layout, JSTATUS_INVALID_POINTER, false},
    {0, "no pointer for the buffer", wrong_null_buffer, JSTATUS_INVALID_POINTER, false},
    {0, "a list of another type", wrong_type, JSTATUS_INVALID_VALUE, false},
    {0, "no function", wrong_function, JSTATUS_INVALID_POINTER, false},
    {0, "a block that fails", wrong_block, JSTATUS_INVALID_VALUE, true},
    {0, "no source", wrong_source, JSTATUS_INVALID_POINTER, false},
    {0, "a source that is none", wrong_freed_source, JSTATUS_NOT_FOUND, false},
    {0, "a grid that is too large", wrong_grid, JSTATUS_INVALID_VALUE, false},
};

JMPI_TEST_P(MpiFailure, AWrongArgumentOnOneRankIsAnErrorOnAll, wrong_t, wrongs) {
    scene_t scene;
    if (!scene_begin(mpi, &scene))
        return;
    jbuffer_part_t part = JBUFFER_PART_INIT;
    JEXPECT_OK(jbuffer_as_part(scene.matrix, &part));
    for (int victim = 0; victim < mpi->size; ++victim) {
        JSCOPED_TRACE("%s on rank %d", param->name, victim);
        if (param->inside && victim >= part.distribution.grid[0] * part.distribution.grid[1])
            continue;
        const size_t live = jtest_metadata_live_count(), bytes = jtest_live_bytes();
        jbuffer_t *buffer = NULL;
        const jstatus_t status = param->function(&scene, mpi->rank == victim, &buffer);
        char rank[24];
        snprintf(rank, sizeof rank, "rank %d: ", victim);
        JEXPECT_STATUS(status, param->status);
        if (mpi->size > 1)
            JEXPECT_SUBSTR(jstatus_last_message(), rank);
        JEXPECT_NULL(buffer);
        JEXPECT_EQ(jtest_metadata_live_count(), live);
        JEXPECT_EQ(jtest_live_bytes(), bytes);
        JMPI_CHECKPOINT();
    }
    scene_end(&scene);
}
