/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* An error of MPI, or of the system beneath a file, in each call that the library makes: a status
 * that says which, nothing left behind, and the next call works. The library's calls come through
 * here (--wrap, CMakeLists.txt), BLACS's do not. By one process, because an error of MPI on one of
 * several leaves the others waiting. */

#include "mpi_fixture.h"

#include "buffer/buffer.h"
#include "jalloc/process.h"
#include "memory/compose/compose.h"
#include "mpi/distributed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- MPI's functions ---- */

static struct {
    const char *function; /* NULL: none is to fail */
    uint64_t left;        /* calls until it does */
    int error;
    bool failed;
    bool without_words; /* errors have no text */
} plan;

/* The n-th call of the function from now on fails with this error of MPI, once. */
static void fail_mpi(const char *function, uint64_t n, int error) {
    plan.left = n;
    plan.error = error;
    plan.failed = false;
    plan.function = function;
}
static bool mpi_failed(void) {
    plan.function = NULL;
    return plan.failed;
}
static bool call_fails(const char *function) {
    if (plan.function == NULL || strcmp(plan.function, function) != 0 || --plan.left != 0)
        return false;
    plan.failed = true;
    return true;
}

#pragma GCC visibility push(                                                                       \
    default) /* which the linker wants of names that BLACS's library has, too */

#define WRAP(name, parameters, arguments)                                                          \
    int __real_##name parameters;                                                                  \
    int __wrap_##name parameters;                                                                  \
    int __wrap_##name parameters {                                                                 \
        return call_fails(#name) ? plan.error : __real_##name arguments;                           \
    }

WRAP(MPI_Allgather,
     (const void *mine, int count, MPI_Datatype type, void *all, int each, MPI_Datatype all_type,
      MPI_Comm communicator),
     (mine, count, type, all, each, all_type, communicator))
WRAP(MPI_Allreduce,
     (const void *mine, void *all, int count, MPI_Datatype type, MPI_Op operation,
      MPI_Comm communicator),
     (mine, all, count, type, operation, communicator))
WRAP(MPI_Bcast, (void *bytes, int count, MPI_Datatype type, int root, MPI_Comm communicator),
     (bytes, count, type, root, communicator))
WRAP(MPI_Comm_dup, (MPI_Comm communicator, MPI_Comm *made), (communicator, made))
WRAP(MPI_Comm_set_errhandler, (MPI_Comm communicator, MPI_Errhandler handler),
     (communicator, handler))
WRAP(MPI_Comm_split, (MPI_Comm communicator, int color, int key, MPI_Comm *made),
     (communicator, color, key, made))
WRAP(MPI_Comm_split_type, (MPI_Comm communicator, int type, int key, MPI_Info info, MPI_Comm *made),
     (communicator, type, key, info, made))
WRAP(MPI_File_open,
     (MPI_Comm communicator, const char *name, int mode, MPI_Info info, MPI_File *file),
     (communicator, name, mode, info, file))
WRAP(MPI_File_read_at,
     (MPI_File file, MPI_Offset at, void *bytes, int count, MPI_Datatype type, MPI_Status *status),
     (file, at, bytes, count, type, status))
WRAP(MPI_File_sync, (MPI_File file), (file))
WRAP(MPI_File_write_at,
     (MPI_File file, MPI_Offset at, const void *bytes, int count, MPI_Datatype type,
      MPI_Status *status),
     (file, at, bytes, count, type, status))

/* Closes all the same: the file is MPI's. */
int __real_MPI_File_close(MPI_File *file);
int __wrap_MPI_File_close(MPI_File *file);
int __wrap_MPI_File_close(MPI_File *file) {
    const int closed = __real_MPI_File_close(file);
    return call_fails("MPI_File_close") ? plan.error : closed;
}

/* Without an error: another file than rank 0 has seen. */
int __real_MPI_File_get_size(MPI_File file, MPI_Offset *size);
int __wrap_MPI_File_get_size(MPI_File file, MPI_Offset *size);
int __wrap_MPI_File_get_size(MPI_File file, MPI_Offset *size) {
    if (!call_fails("MPI_File_get_size"))
        return __real_MPI_File_get_size(file, size);
    *size = 0;
    return plan.error;
}

/* Less was moved than there should have been. */
int __real_MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count);
int __wrap_MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count);
int __wrap_MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count) {
    if (!call_fails("MPI_Get_count"))
        return __real_MPI_Get_count(status, type, count);
    *count = 0;
    return MPI_SUCCESS;
}

int __real_MPI_Error_string(int error, char *text, int *length);
int __wrap_MPI_Error_string(int error, char *text, int *length);
int __wrap_MPI_Error_string(int error, char *text, int *length) {
    return plan.without_words ? MPI_ERR_OTHER : __real_MPI_Error_string(error, text, length);
}

#pragma GCC visibility pop

/* ---- Runtimes and grids ---- */

typedef struct function {
    int ranks;
    const char *name;
} function_t;
static const function_t making[] = {{1, "MPI_Comm_dup"},   {1, "MPI_Comm_set_errhandler"},
                                    {1, "MPI_Comm_split"}, {1, "MPI_Comm_split_type"},
                                    {1, "MPI_Bcast"},      {1, "MPI_Allgather"},
                                    {1, "MPI_Allreduce"}};

JMPI_TEST_P(MpiErrors, OfMakingARuntime, function_t, making) {
    int failures = 0;
    for (int node_processes = 0; node_processes < 2; ++node_processes)
        for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
            JSCOPED_TRACE("%s number %d, machines of %d", param->name, (int)n, node_processes);
            const size_t live = jtest_metadata_live_count();
            jruntime_t *runtime = NULL;
            fail_mpi(param->name, n, MPI_ERR_OTHER);
            const jstatus_t status =
                ji_runtime_create_mpi(mpi->communicator, node_processes, &runtime);
            failed = mpi_failed();
            failures += failed != 0;
            JEXPECT_STATUS(status, failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
            JEXPECT_EQ(runtime == NULL, failed != 0);
            if (failed)
                JEXPECT_SUBSTR(jstatus_last_message(), param->name);
            JEXPECT_OK(jruntime_release(runtime));
            JEXPECT_EQ(jtest_metadata_live_count(), live);
        }
    JEXPECT_GT(failures, 0);
}

JMPI_TEST(MpiErrors, OfAgreeing, 1) {
    fail_mpi("MPI_Allreduce", 1, MPI_ERR_OTHER);
    JEXPECT_STATUS(jruntime_agree(mpi->runtime, JSTATUS_SUCCESS), JSTATUS_DEVICE_ERROR);
    JEXPECT_TRUE(mpi_failed());
    fail_mpi("MPI_Bcast", 1, MPI_ERR_OTHER); /* of whose error it was */
    JEXPECT_STATUS(jruntime_agree(mpi->runtime, JSTATUS_MEMORY_ERROR), JSTATUS_DEVICE_ERROR);
    JEXPECT_TRUE(mpi_failed());
    plan.without_words = true;
    fail_mpi("MPI_Allreduce", 1, MPI_ERR_OTHER);
    JEXPECT_STATUS(jruntime_agree(mpi->runtime, JSTATUS_SUCCESS), JSTATUS_DEVICE_ERROR);
    JEXPECT_TRUE(mpi_failed());
    plan.without_words = false;
    JEXPECT_SUBSTR(jstatus_last_message(), "MPI_Allreduce");
    JEXPECT_STATUS(jruntime_agree(mpi->runtime, JSTATUS_MEMORY_ERROR), JSTATUS_MEMORY_ERROR);
}

static jbuffer_allocator_t *distributed_of(const jmpi_t *mpi) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator = NULL;
    options.kind = JBUFFER_DISTRIBUTED;
    options.allocator = jtest_failing_allocator();
    JEXPECT_OK(jbuffer_allocator_create(mpi->runtime, &options, &allocator));
    return allocator;
}

JMPI_TEST(MpiErrors, OfOpeningAGrid, 1) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator = NULL;
    options.kind = JBUFFER_DISTRIBUTED;
    const size_t live = jtest_metadata_live_count();
    fail_mpi("MPI_Allreduce", 1, MPI_ERR_OTHER);
    JEXPECT_STATUS(jbuffer_allocator_create(mpi->runtime, &options, &allocator),
                   JSTATUS_DEVICE_ERROR);
    JEXPECT_TRUE(mpi_failed());
    JEXPECT_NULL(allocator);
    JEXPECT_OK(ji_process_reset());
    JEXPECT_EQ(jtest_metadata_live_count(), live);
    allocator = distributed_of(mpi);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

/* ---- Elements and files ---- */

static jbuffer_filled_t fill_numbers(void *context, const jbuffer_block_t *block) {
    (void)context;
    for (int64_t j = 0; j < block->extents[1]; ++j)
        for (int64_t i = 0; i < block->extents[0]; ++i)
            ((double *)block->data)[i * block->strides[0] + j * block->strides[1]] =
                (double)(100 * (block->starts[0] + i) + block->starts[1] + j);
    return JBUFFER_BLOCK_FILLED;
}

static double element(jbuffer_t *buffer, int64_t i, int64_t j) {
    double value = -1;
    JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){i, j}, &value));
    return value;
}

/* A distributed matrix, and a folder with a file of it. */
typedef struct scene {
    jbuffer_allocator_t *allocator;
    jbuffer_t *matrix;
    char folder[32], path[48];
} scene_t;

static void scene_begin(const jmpi_t *mpi, scene_t *scene) {
    jlayout_t layout;
    *scene = (scene_t){.allocator = distributed_of(mpi), .folder = "/tmp/jalloc-mpi-XXXXXX"};
    JEXPECT_OK(jlayout_init(&layout, 2, (const int64_t[]){7, 5}, JORDER_COLUMN_MAJOR));
    JEXPECT_OK(jbuffer_construct_function(scene->allocator, &layout, fill_numbers, NULL, 1,
                                          &scene->matrix));
    JASSERT_NOT_NULL(mkdtemp(scene->folder));
    snprintf(scene->path, sizeof scene->path, "%s/a.npy", scene->folder);
    JEXPECT_OK(jbuffer_save(scene->matrix, scene->path));
}
static void scene_end(scene_t *scene) {
    JEXPECT_OK(jbuffer_release(scene->matrix));
    JEXPECT_OK(jbuffer_allocator_release(scene->allocator));
    JEXPECT_EQ(unlink(scene->path), 0);
    JEXPECT_EQ(rmdir(scene->folder), 0); /* no temporary file was left in it */
}

/* Loads the file, or saves over it. What was there must still be, and nothing else. */
static jstatus_t scene_move(scene_t *scene, bool saves) {
    const size_t live = jtest_metadata_live_count(), bytes = jtest_live_bytes();
    jbuffer_t *loaded = NULL;
    const jstatus_t status = saves ? jbuffer_save(scene->matrix, scene->path)
                                   : jbuffer_load(scene->allocator, scene->path, &loaded);
    JEXPECT_EQ(loaded != NULL, !saves && status == JSTATUS_SUCCESS);
    if (loaded != NULL) {
        (void)mpi_failed();
        JEXPECT_EQ(element(loaded, 6, 4), 604.0);
    }
    JEXPECT_OK(jbuffer_release(loaded));
    JEXPECT_EQ(jtest_metadata_live_count(), live);
    JEXPECT_EQ(jtest_live_bytes(), bytes);
    return status;
}

JMPI_TEST(MpiErrors, OfGettingAnElement, 1) {
    scene_t scene;
    scene_begin(mpi, &scene);
    double value = 3;
    fail_mpi("MPI_Bcast", 1, MPI_ERR_OTHER);
    JEXPECT_STATUS(jbuffer_get(scene.matrix, (const int64_t[]){6, 4}, &value),
                   JSTATUS_DEVICE_ERROR);
    JEXPECT_TRUE(mpi_failed());
    JEXPECT_EQ(value, 3.0);
    JEXPECT_EQ(element(scene.matrix, 6, 4), 604.0);
    scene_end(&scene);
}

JMPI_TEST(MpiErrors, OfFiles, 1) {
    static const struct {
        bool saves;
        const char *function;
        int error;
        jstatus_t status;
    } cases[] = {{true, "MPI_File_open", MPI_ERR_ACCESS, JSTATUS_PERMISSION},
                 {true, "MPI_File_open", MPI_ERR_READ_ONLY, JSTATUS_PERMISSION},
                 {false, "MPI_File_open", MPI_ERR_NO_SUCH_FILE, JSTATUS_NOT_FOUND},
                 {false, "MPI_File_open", MPI_ERR_NO_MEM, JSTATUS_MEMORY_ERROR},
                 {false, "MPI_File_open", MPI_ERR_IO, JSTATUS_IO_ERROR},
                 {false, "MPI_File_get_size", MPI_ERR_IO, JSTATUS_IO_ERROR},
                 {false, "MPI_File_get_size", MPI_SUCCESS, JSTATUS_TRUNCATED},
                 {false, "MPI_File_read_at", MPI_ERR_IO, JSTATUS_IO_ERROR},
                 {false, "MPI_Get_count", MPI_SUCCESS, JSTATUS_IO_ERROR},
                 {false, "MPI_File_close", MPI_ERR_IO, JSTATUS_IO_ERROR},
                 {true, "MPI_File_write_at", MPI_ERR_IO, JSTATUS_IO_ERROR},
                 {true, "MPI_Get_count", MPI_SUCCESS, JSTATUS_IO_ERROR},
                 {true, "MPI_File_sync", MPI_ERR_IO, JSTATUS_IO_ERROR},
                 {true, "MPI_File_close", MPI_ERR_IO, JSTATUS_IO_ERROR},
                 {true, "MPI_Bcast", MPI_ERR_OTHER, JSTATUS_DEVICE_ERROR},
                 {true, "MPI_Allreduce", MPI_ERR_OTHER, JSTATUS_DEVICE_ERROR},
                 {false, "MPI_Allreduce", MPI_ERR_OTHER, JSTATUS_DEVICE_ERROR}};
    scene_t scene;
    scene_begin(mpi, &scene);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        int failures = 0;
        for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
            JSCOPED_TRACE("%s: %s number %d", cases[i].saves ? "save" : "load", cases[i].function,
                          (int)n);
            fail_mpi(cases[i].function, n, cases[i].error);
            const jstatus_t status = scene_move(&scene, cases[i].saves);
            failed = mpi_failed();
            failures += failed != 0;
            JEXPECT_STATUS(status, failed ? cases[i].status : JSTATUS_SUCCESS);
        }
        JEXPECT_GT(failures, 0);
    }
    scene_end(&scene);
}

/* Of what rank 0 does by itself. */
JMPI_TEST(MpiErrors, OfTheSystemBeneathAFile, 1) {
    static const struct {
        const char *function;
        int error;
        jstatus_t status;
    } cases[] = {{"open", EACCES, JSTATUS_PERMISSION},
                 {"write", EIO, JSTATUS_IO_ERROR},
                 /* Fewer bytes. */
                 {"write", EINTR, JSTATUS_SUCCESS},
                 {"write", -5, JSTATUS_IO_ERROR},
                 {"fchmod", EIO, JSTATUS_IO_ERROR},
                 {"close", EIO, JSTATUS_IO_ERROR},
                 {"rename", EIO, JSTATUS_IO_ERROR}};
    scene_t scene;
    scene_begin(mpi, &scene);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        JSCOPED_TRACE("%s: %d", cases[i].function, cases[i].error);
        jtest_fail_calls(cases[i].function, 1, 1, cases[i].error);
        const jstatus_t status = scene_move(&scene, true);
        JEXPECT_TRUE(jtest_calls_failed());
        JEXPECT_STATUS(status, cases[i].status);
        JEXPECT_OK(scene_move(&scene, false)); /* the old file */
    }
    scene_end(&scene);
}
