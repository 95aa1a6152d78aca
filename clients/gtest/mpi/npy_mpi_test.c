/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Files of replicated buffers over several processes: rank 0 alone reads and writes, all have the
 * same, and what goes wrong on rank 0 goes wrong everywhere. */

#include "mpi_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXTENTS(...) ((const int64_t[]){__VA_ARGS__})

/* A folder that all processes know; rank 0 makes and removes it. */
typedef struct folder {
    char name[32], path[64];
} folder_t;

static folder_t folder_begin(const jmpi_t *mpi) {
    folder_t folder;
    memset(&folder, 0, sizeof folder);
    strcpy(folder.name, "/tmp/jalloc-npy-XXXXXX");
    if (mpi->rank == 0)
        JEXPECT_NOT_NULL(mkdtemp(folder.name));
    MPI_Bcast(folder.name, sizeof folder.name, MPI_CHAR, 0, mpi->communicator);
    snprintf(folder.path, sizeof folder.path, "%s/a.npy", folder.name);
    return folder;
}

static void folder_end(const jmpi_t *mpi, const folder_t *folder) {
    MPI_Barrier(mpi->communicator);
    if (mpi->rank == 0) {
        (void)unlink(folder->path);
        JEXPECT_EQ(rmdir(folder->name), 0); /* nothing else is there */
    }
}

static jbuffer_allocator_t *make_allocator(const jmpi_t *mpi, jbuffer_kind_t kind,
                                           bool shared_on_node) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator = NULL;
    options.kind = kind;
    options.shared_on_node = shared_on_node;
    JEXPECT_OK(jbuffer_allocator_create(mpi->runtime, &options, &allocator));
    return allocator;
}

static jbuffer_filled_t fill(void *context, const jbuffer_block_t *block) {
    (void)context;
    double *data = block->data;
    for (int64_t j = 0; j < block->extents[1]; ++j)
        for (int64_t i = 0; i < block->extents[0]; ++i)
            data[i * block->strides[0] + j * block->strides[1]] =
                (double)(1000 * (block->starts[0] + i) + block->starts[1] + j);
    return JBUFFER_BLOCK_FILLED;
}

static void expect_filled(jbuffer_t *buffer, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
            double value = -1;
            JEXPECT_OK(jbuffer_get(buffer, EXTENTS(i, j), &value));
            JEXPECT_EQ(value, 1000 * i + j);
        }
}

static void saves_and_loads(const jmpi_t *mpi, bool shared_on_node) {
    static const char *const texts[] = {"[7,5] blocks=(2,2)", "[7,5] row", "[7,5] ld=9"};
    const folder_t folder = folder_begin(mpi);
    jbuffer_allocator_t *allocator = make_allocator(mpi, JBUFFER_REPLICATED, shared_on_node);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        JSCOPED_TRACE("%s", texts[i]);
        jlayout_t layout;
        jbuffer_t *buffer = NULL, *loaded = NULL;
        JEXPECT_OK(jlayout_parse(texts[i], &layout, NULL));
        JMPI_ASSERT_OK(jbuffer_construct_function(allocator, &layout, fill, NULL, 1, &buffer));
        JMPI_ASSERT_OK(jbuffer_save(buffer, folder.path));
        JMPI_ASSERT_OK(jbuffer_load(allocator, folder.path, &loaded));
        jbuffer_kind_t kind = JBUFFER_LOCAL;
        JEXPECT_OK(jbuffer_get_kind(loaded, &kind));
        JEXPECT_EQ(kind, JBUFFER_REPLICATED);
        JEXPECT_OK(jbuffer_get_layout(loaded, &layout));
        JEXPECT_TRUE(jlayout_is_packed(&layout));
        expect_filled(loaded, 7, 5);
        JMPI_ASSERT_OK(jbuffer_release(loaded));
        JMPI_ASSERT_OK(jbuffer_release(buffer));
    }
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    folder_end(mpi, &folder);
}
JMPI_TEST(NpyMpi, ReplicatedBuffersAreSavedAndLoaded, 0) { saves_and_loads(mpi, false); }
JMPI_TEST_NODES(NpyMpi, BuffersSharedOnNodesAreSavedAndLoaded, 0, 2) { saves_and_loads(mpi, true); }

JMPI_TEST(NpyMpi, LocalBuffersAreEachProcesssOwn, 0) {
    const folder_t folder = folder_begin(mpi);
    jbuffer_allocator_t *allocator = make_allocator(mpi, JBUFFER_LOCAL, false);
    char path[96];
    const double own[1] = {(double)mpi->rank};
    jbuffer_t *buffer = NULL, *loaded = NULL;
    double value = -1;
    snprintf(path, sizeof path, "%s/%d.npy", folder.name, mpi->rank);
    JEXPECT_OK(jbuffer_construct_list(allocator, JBUFFER_LIST_1(own), &buffer));
    JEXPECT_OK(jbuffer_save(buffer, path));
    JEXPECT_OK(jbuffer_load(allocator, path, &loaded));
    JEXPECT_OK(jbuffer_get(loaded, EXTENTS(0), &value));
    JEXPECT_EQ(value, mpi->rank);
    JEXPECT_EQ(unlink(path), 0);
    JEXPECT_OK(jbuffer_release(loaded));
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    folder_end(mpi, &folder);
}

/* Each process in a folder of its own, and a path without one: only rank 0's has the file. */
JMPI_TEST(NpyMpi, RankZeroAloneTouchesReplicatedFiles, 0) {
    const folder_t folder = folder_begin(mpi);
    jbuffer_allocator_t *allocator = make_allocator(mpi, JBUFFER_REPLICATED, false);
    jlayout_t layout;
    jbuffer_t *buffer = NULL, *loaded = NULL;
    char own[64], *before = getcwd(NULL, 0);
    snprintf(own, sizeof own, "%s/%d", folder.name, mpi->rank);
    JEXPECT_OK(jlayout_parse("[7,5]", &layout, NULL));
    JMPI_ASSERT_TRUE(before != NULL && mkdir(own, 0700) == 0 && chdir(own) == 0);
    JEXPECT_OK(jbuffer_construct_function(allocator, &layout, fill, NULL, 1, &buffer));
    JEXPECT_OK(jbuffer_save(buffer, "a.npy"));
    JEXPECT_EQ(access("a.npy", F_OK) == 0, mpi->rank == 0);
    JEXPECT_OK(jbuffer_load(allocator, "a.npy", &loaded));
    if (loaded != NULL)
        expect_filled(loaded, 7, 5);
    (void)unlink("a.npy");
    JEXPECT_EQ(chdir(before), 0);
    JEXPECT_EQ(rmdir(own), 0);
    free(before);
    JEXPECT_OK(jbuffer_release(loaded));
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    folder_end(mpi, &folder);
}

/* The best allocator is asked by all, whatever it chooses. */
JMPI_TEST(NpyMpi, TheBestAllocatorLoadsAsItChooses, 0) {
    static const char *const wishes[] = {"local", "replicated", "distributed"};
    const folder_t folder = folder_begin(mpi);
    jbuffer_allocator_t *replicated = make_allocator(mpi, JBUFFER_REPLICATED, false);
    jbuffer_allocator_t *best = make_allocator(mpi, JBUFFER_BEST, false);
    jlayout_t layout;
    jbuffer_t *buffer = NULL;
    JEXPECT_OK(jlayout_parse("[7,5]", &layout, NULL));
    JMPI_ASSERT_OK(jbuffer_construct_function(replicated, &layout, fill, NULL, 1, &buffer));
    JMPI_ASSERT_OK(jbuffer_save(buffer, folder.path));
    for (int wish = 0; wish < 3; ++wish) {
        jbuffer_t *loaded = NULL;
        jbuffer_kind_t kind = JBUFFER_BEST;
        JSCOPED_TRACE("%s", wishes[wish]);
        jtest_setenv("JALLOC_BUFFER", wishes[wish]);
        JMPI_ASSERT_OK(jbuffer_load(best, folder.path, &loaded));
        JEXPECT_OK(jbuffer_get_kind(loaded, &kind));
        JEXPECT_EQ(kind, (jbuffer_kind_t)wish);
        expect_filled(loaded, 7, 5);
        JMPI_ASSERT_OK(jbuffer_release(loaded));
    }
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jbuffer_allocator_release(replicated));
    folder_end(mpi, &folder);
}

/* What only rank 0 can see, what one rank alone gets wrong, and what one rank alone has no memory
 * for. */
JMPI_TEST(NpyMpi, AnErrorOnOneRankIsThatOfAll, 0) {
    const folder_t folder = folder_begin(mpi);
    jbuffer_allocator_t *allocator = make_allocator(mpi, JBUFFER_REPLICATED, false);
    jlayout_t layout;
    jbuffer_t *buffer = NULL, *loaded = NULL;
    JEXPECT_OK(jlayout_parse("[7,5] ld=8", &layout, NULL));
    JMPI_ASSERT_OK(jbuffer_construct_function(allocator, &layout, fill, NULL, 1, &buffer));
    char nowhere[96];
    snprintf(nowhere, sizeof nowhere, "%s/none/a.npy", folder.name);
    JEXPECT_STATUS(jbuffer_save(buffer, nowhere), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jbuffer_load(allocator, folder.path, &loaded), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "No such file");
    for (int rank = 0; rank < mpi->size; ++rank) {
        JSCOPED_TRACE("rank %d", rank);
        JEXPECT_STATUS(jbuffer_save(buffer, mpi->rank == rank ? NULL : folder.path),
                       JSTATUS_INVALID_POINTER);
        if (rank != 0 && mpi->rank == 0)
            (void)unlink(folder.path);
        JMPI_CHECKPOINT();
        JEXPECT_STATUS(jbuffer_load(allocator, mpi->rank == rank ? NULL : folder.path, &loaded),
                       /* The lowest rank's. */
                       rank == 0 ? JSTATUS_INVALID_POINTER : JSTATUS_NOT_FOUND);
    }
    JMPI_ASSERT_OK(jbuffer_save(buffer, folder.path));
    JMPI_ASSERT_OK(jbuffer_load(allocator, folder.path, &loaded));
    JMPI_ASSERT_OK(jbuffer_release(loaded));
    for (int rank = 0; rank < mpi->size; ++rank) {
        bool failed = true;
        for (uint64_t n = 1; failed && n < 100; ++n) {
            /* Its n-th allocation, until there are no more. */
            JSCOPED_TRACE("allocation %d of rank %d", (int)n, rank);
            loaded = NULL;
            jmpi_fail_metadata_on(mpi, rank, n);
            const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
            failed = jmpi_metadata_failed_on(mpi, rank);
            JMPI_EXPECT_SAME_STATUS(status);
            JEXPECT_EQ(loaded != NULL, status == JSTATUS_SUCCESS);
            JEXPECT_OK(jbuffer_release(loaded));
            JMPI_CHECKPOINT();
        }
        JEXPECT_FALSE(failed);
    }
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    folder_end(mpi, &folder);
}
