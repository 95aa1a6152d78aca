/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Files of distributed buffers: the same bytes as the local file of the same elements, read by any
 * grid, and never half of one. */

#include "mpi_matrix.h"

#include "mpi/distributed.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const jdatatype_t types[] = {JDATATYPE_F32, JDATATYPE_F64, JDATATYPE_F32_C, JDATATYPE_F64_C,
                                    JDATATYPE_F16, JDATATYPE_I8,  JDATATYPE_I32};

/* ---- A folder of the test ---- */

typedef struct folder {
    const jmpi_t *mpi;
    char path[64];
    char file[96], other[96];
    int64_t panel_bytes; /* as they were */
} folder_t;

static int folder_count(const folder_t *folder) {
    DIR *directory = opendir(folder->path);
    int count = -2; /* . and .. */
    while (directory != NULL && readdir(directory) != NULL)
        ++count;
    if (directory != NULL)
        closedir(directory);
    return count;
}

static void folder_end(folder_t *folder) {
    ji_mpi_panel_bytes = folder->panel_bytes;
    MPI_Barrier(folder->mpi->communicator);
    if (folder->mpi->rank == 0) {
        unlink(folder->file);
        unlink(folder->other);
        JEXPECT_EQ(folder_count(folder), 0);
        JEXPECT_EQ(rmdir(folder->path), 0);
    }
}

static void folder_begin(const jmpi_t *mpi, folder_t *folder) {
    folder->mpi = mpi;
    folder->panel_bytes = ji_mpi_panel_bytes;
    strcpy(folder->path, "/tmp/jalloc-mpi-XXXXXX");
    if (mpi->rank == 0)
        JEXPECT_NOT_NULL(mkdtemp(folder->path));
    MPI_Bcast(folder->path, sizeof folder->path, MPI_CHAR, 0, mpi->communicator);
    snprintf(folder->file, sizeof folder->file, "%s/a.npy", folder->path);
    snprintf(folder->other, sizeof folder->other, "%s/b.npy", folder->path);
}
#define FOLDER(name)                                                                               \
    __attribute__((cleanup(folder_end))) folder_t name;                                            \
    folder_begin(mpi, &name)

static bool same_files(const char *a, const char *b) {
    FILE *files[2] = {fopen(a, "rb"), fopen(b, "rb")};
    bool same = files[0] != NULL && files[1] != NULL;
    while (same) {
        const int x = fgetc(files[0]), y = fgetc(files[1]);
        same = x == y;
        if (x == EOF)
            break;
    }
    for (int k = 0; k < 2; ++k)
        if (files[k] != NULL)
            fclose(files[k]);
    return same;
}

/* ---- Loaded buffers ---- */

/* Every element that this process has of a loaded matrix, and how many it has, against the
 * formula. */
static void check_loaded(const matrix_t *saved, jbuffer_t *loaded) {
    jbuffer_part_t part = JBUFFER_PART_INIT;
    jlayout_t layout;
    JEXPECT_OK(jbuffer_as_part(loaded, &part));
    JEXPECT_OK(jbuffer_get_layout(loaded, &layout));
    JEXPECT_EQ(layout.rank, saved->rank);
    JEXPECT_EQ(part.extents[0], saved->extents[0]);
    JEXPECT_EQ(part.extents[1], saved->extents[1]);
    int64_t wrong = 0;
    for (int64_t column = 0; column < part.columns; ++column)
        for (int64_t row = 0; row < part.rows; ++row) {
            const jdistribution_t *whole = &part.distribution;
            const int64_t i = jdistribution_to_global(whole, 0, whole->coordinates[0], row);
            const int64_t j = jdistribution_to_global(whole, 1, whole->coordinates[1], column);
            unsigned char expected[16];
            matrix_element(saved, i, j, expected);
            wrong += memcmp(expected,
                            (char *)part.pointer +
                                (size_t)(row + column * part.leading_dimension) * saved->size,
                            saved->size) != 0;
        }
    JEXPECT_EQ(wrong, 0);
}

static jbuffer_allocator_t *draw_allocator(const jmpi_t *mpi, jdatatype_t type) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator = NULL;
    options.kind = JBUFFER_DISTRIBUTED;
    options.type = type;
    options.allocator = jtest_failing_allocator();
    matrix_draw_grid(mpi->size, options.grid);
    options.blocks[0] = jtest_random_between(1, 20);
    options.blocks[1] = jtest_random_between(1, 20);
    JEXPECT_OK(jbuffer_allocator_create(mpi->runtime, &options, &allocator));
    return allocator;
}

/* ---- Tests ---- */

JMPI_TEST(MpiFile, IsTheLocalFileByteForByteAndLoadsIntoAnyGrid, 0) {
    const int64_t count = jtest_iterations(30);
    FOLDER(folder);
    for (int64_t n = 0; n < count; ++n) {
        matrix_spec_t spec, local = {.kind = JBUFFER_LOCAL};
        int64_t extents[2] = {jtest_random_between(0, 60), jtest_random_between(0, 60)};
        const int rank = jtest_random_between(0, 4) == 0 ? (int)jtest_random_between(0, 1) : 2;
        const jdatatype_t type = types[jtest_random_between(0, 6)];
        if (rank == 2 && jtest_random_between(0, 2) == 0)
            local.structure = (jstructure_t)jtest_random_between(1, 6), extents[1] = extents[0];
        matrix_draw(mpi, &spec, JBUFFER_DISTRIBUTED, extents);
        spec.structure = local.structure;
        matrix_t saved = {0}, reference = {0};
        if (!matrix_make(mpi, &saved, &spec, type, rank, extents, n, true) ||
            !matrix_make(mpi, &reference, &local, type, rank, extents, n, true))
            return;
        /* Of some columns, of one, of pieces of one. */
        ji_mpi_panel_bytes =
            jtest_random_bool() ? folder.panel_bytes : jtest_random_between(16, 3000);
        JMPI_ASSERT_OK(jbuffer_save(saved.view, folder.file));
        if (mpi->rank == 0) {
            JEXPECT_OK(jbuffer_save(reference.view, folder.other));
            JEXPECT_TRUE(same_files(folder.file, folder.other));
            JEXPECT_EQ(folder_count(&folder), 2);
        }
        matrix_check(mpi, &saved, "what was saved");
        jbuffer_allocator_t *allocator = draw_allocator(mpi, type);
        jbuffer_t *loaded = NULL;
        ji_mpi_panel_bytes =
            jtest_random_bool() ? folder.panel_bytes : jtest_random_between(16, 3000);
        JMPI_ASSERT_OK(jbuffer_load(allocator, folder.file, &loaded));
        check_loaded(&saved, loaded);
        JEXPECT_OK(jbuffer_release(loaded));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
        matrix_end(&saved);
        matrix_end(&reference);
        JMPI_CHECKPOINT();
    }
}

/* What numpy.save writes of a C array: the last index fastest. */
JMPI_TEST(MpiFile, RowMajorFilesAreLoaded, 0) {
    FOLDER(folder);
    for (int n = 0; n < 12; ++n) {
        matrix_spec_t row_major = {.kind = JBUFFER_LOCAL, .order = JORDER_ROW_MAJOR};
        const int64_t extents[2] = {jtest_random_between(1, 50), jtest_random_between(1, 50)};
        const jdatatype_t type = types[jtest_random_between(0, 6)];
        matrix_t saved = {0};
        if (!matrix_make(mpi, &saved, &row_major, type, 2, extents, n, true))
            return;
        if (mpi->rank == 0)
            JEXPECT_OK(jbuffer_save(saved.view, folder.file));
        jbuffer_allocator_t *allocator = draw_allocator(mpi, type);
        jbuffer_t *loaded = NULL;
        ji_mpi_panel_bytes =
            jtest_random_bool() ? folder.panel_bytes : jtest_random_between(16, 3000);
        JMPI_ASSERT_OK(jbuffer_load(allocator, folder.file, &loaded));
        check_loaded(&saved, loaded);
        JEXPECT_OK(jbuffer_release(loaded));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
        matrix_end(&saved);
        JMPI_CHECKPOINT();
    }
}

static bool make_saved(const jmpi_t *mpi, matrix_t *matrix, int64_t salt) {
    const matrix_spec_t spec = {.kind = JBUFFER_DISTRIBUTED,
                                .grid = {1, mpi->size},
                                .blocks = {7, 3},
                                .structure =
                                    salt % 2 ? JSTRUCTURE_SYMMETRIC_LOWER : JSTRUCTURE_GENERAL};
    const int64_t extents[2] = {40, 40};
    *matrix = (matrix_t){0};
    return matrix_make(mpi, matrix, &spec, JDATATYPE_F64, 2, extents, salt, true);
}

/* Each allocation of bookkeeping fails in turn, on each rank in turn: the old file stays, and no
 * other. */
JMPI_TEST(MpiFile, AFailureOnOneRankLeavesTheOldFile, 0) {
    FOLDER(folder);
    matrix_t old, new;
    if (!make_saved(mpi, &old, 10))
        return;
    JMPI_ASSERT_OK(jbuffer_save(old.view, folder.file));
    JMPI_ASSERT_OK(jbuffer_save(old.view, folder.other));
    for (int64_t salt = 12; salt < 14; ++salt) {
        if (!make_saved(mpi, &new, salt))
            return;
        for (int victim = 0; victim < mpi->size; ++victim) {
            bool failed = true;
            for (uint64_t i = 1; failed; ++i) {
                const size_t live = jtest_metadata_live_count();
                jmpi_fail_metadata_on(mpi, victim, i);
                const jstatus_t status = jbuffer_save(new.view, folder.file);
                failed = jmpi_metadata_failed_on(mpi, victim);
                JEXPECT_STATUS(status, failed ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
                JEXPECT_EQ(jtest_metadata_live_count(), live);
                if (failed && mpi->rank == 0) {
                    JEXPECT_TRUE(same_files(folder.file, folder.other));
                    JEXPECT_EQ(folder_count(&folder), 2);
                }
                JMPI_CHECKPOINT();
            }
            JEXPECT_OK(jbuffer_save(old.view, folder.file));
        }
        matrix_end(&new);
    }
    matrix_end(&old);
}

JMPI_TEST(MpiFile, LoadingFailsOnAllRanksOrNone, 0) {
    FOLDER(folder);
    matrix_t saved;
    if (!make_saved(mpi, &saved, 20))
        return;
    JMPI_ASSERT_OK(jbuffer_save(saved.view, folder.file));
    for (int victim = 0; victim < mpi->size; ++victim) {
        bool failed = true;
        for (uint64_t i = 1; failed; ++i) {
            const size_t live = jtest_metadata_live_count();
            jbuffer_t *loaded = NULL;
            jmpi_fail_metadata_on(mpi, victim, i);
            const jstatus_t status = jbuffer_load(saved.allocator, folder.file, &loaded);
            failed = jmpi_metadata_failed_on(mpi, victim);
            JEXPECT_STATUS(status, failed ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            if (failed)
                JEXPECT_NULL(loaded);
            else
                check_loaded(&saved, loaded);
            JEXPECT_OK(jbuffer_release(loaded));
            JEXPECT_EQ(jtest_metadata_live_count(), live);
            JMPI_CHECKPOINT();
        }
    }
    matrix_end(&saved);
}

/* A limit on the size of files, on each rank in turn: whoever writes meets it. */
JMPI_TEST(MpiFile, NoRoomForTheFileLeavesNone, 0) {
    FOLDER(folder);
    matrix_t saved;
    if (!make_saved(mpi, &saved, 30))
        return;
    struct rlimit before, small = {4096, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small); /* on all: which of them writes is MPI's affair */
    const jstatus_t status = jbuffer_save(saved.view, folder.file);
    setrlimit(RLIMIT_FSIZE, &before);
    JEXPECT_STATUS(status, JSTATUS_IO_ERROR);
    JMPI_EXPECT_SAME_STATUS(status);
    JEXPECT_EQ(folder_count(&folder), 0);
    JMPI_CHECKPOINT();
    JEXPECT_OK(jbuffer_save(saved.view, folder.file));
    matrix_end(&saved);
}

JMPI_TEST(MpiFile, WhatCannotBeSavedOrLoadedIsTheSameStatusOnAll, 0) {
    FOLDER(folder);
    matrix_t saved;
    if (!make_saved(mpi, &saved, 40))
        return;
    char path[160];
    snprintf(path, sizeof path, "%s/none/a.npy", folder.path);
    JEXPECT_STATUS(jbuffer_save(saved.view, path), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "none");
    /* A folder has the name. */
    JEXPECT_STATUS(jbuffer_save(saved.view, folder.path), JSTATUS_IO_ERROR);
    jbuffer_t *loaded = NULL;
    JEXPECT_STATUS(jbuffer_load(saved.allocator, folder.file, &loaded), JSTATUS_NOT_FOUND);
    for (int victim = 0; victim < mpi->size; ++victim) { /* NULL on one of them */
        JEXPECT_STATUS(jbuffer_save(saved.view, mpi->rank == victim ? NULL : folder.file),
                       JSTATUS_INVALID_POINTER);
        JEXPECT_STATUS(
            jbuffer_load(saved.allocator, mpi->rank == victim ? NULL : folder.file, &loaded),
            victim == 0 || mpi->size == 1 ? JSTATUS_INVALID_POINTER : JSTATUS_NOT_FOUND);
    }
    JMPI_ASSERT_OK(jbuffer_save(saved.view, folder.file));
    if (mpi->rank == 0) /* the last element is gone */
        JEXPECT_EQ(truncate(folder.file, 128 + 40 * 40 * 8 - 8), 0);
    MPI_Barrier(mpi->communicator);
    JEXPECT_STATUS(jbuffer_load(saved.allocator, folder.file, &loaded), JSTATUS_TRUNCATED);
    JEXPECT_NULL(loaded);
    matrix_end(&saved);

    const matrix_spec_t spec = {.kind = JBUFFER_DISTRIBUTED, .grid = {1, 1}, .blocks = {4, 4}};
    const int64_t extents[2] = {5, 5};
    matrix_t unnamed = {0};
    if (!matrix_make(mpi, &unnamed, &spec, JDATATYPE_BF16, 2, extents, 1, true))
        return;
    JEXPECT_STATUS(jbuffer_save(unnamed.view, folder.other), JSTATUS_NOT_IMPLEMENTED);
    matrix_end(&unnamed);
}
