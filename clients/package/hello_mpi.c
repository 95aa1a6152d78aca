/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The least that a program of several processes does: a distributed matrix, and a Cholesky
 * factorization of it. Exits with 0 when the numbers are right. */

#include <jalloc/jalloc.h>
#include <jalloc/mpi.h>
#include <stdio.h>

enum { N = 100 };

/* min(i, j) + 1: positive definite, and its factor is a triangle of ones. */
static jbuffer_filled_t fill(void *context, const jbuffer_block_t *block) {
    (void)context;
    double *x = block->data;
    for (int64_t j = 0; j < block->extents[1]; j++)
        for (int64_t i = 0; i < block->extents[0]; i++) {
            const int64_t row = block->starts[0] + i, column = block->starts[1] + j;
            x[i * block->strides[0] + j * block->strides[1]] =
                (double)(row < column ? row : column) + 1;
        }
    return JBUFFER_BLOCK_FILLED;
}

static int use(jruntime_t *runtime, jhandle_t *handle) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.kind = JBUFFER_DISTRIBUTED;
    const int64_t extents[2] = {N, N}, last[2] = {N - 1, 0};
    jbuffer_allocator_t *allocator = NULL;
    jbuffer_t *matrix = NULL;
    jlayout_t layout;
    double corner = 0;
    int64_t info = -1;
    int result = 1;
    if (jlayout_init(&layout, 2, extents, JORDER_COLUMN_MAJOR) == JSTATUS_SUCCESS &&
        jlayout_set_structure(&layout, JSTRUCTURE_SYMMETRIC_LOWER) == JSTATUS_SUCCESS &&
        jbuffer_allocator_create(runtime, &options, &allocator) == JSTATUS_SUCCESS &&
        jbuffer_construct_function(allocator, &layout, fill, NULL, 1, &matrix) == JSTATUS_SUCCESS &&
        !jstatus_is_error(jbuffer_cholesky(handle, matrix, &info)) &&
        jbuffer_get(matrix, last, &corner) == JSTATUS_SUCCESS)
        result = info == 0 && corner > 1 - 1e-12 && corner < 1 + 1e-12 ? 0 : 2;
    if (result != 0)
        fprintf(stderr, "%s (info %lld, corner %g)\n", jstatus_last_message(), (long long)info,
                corner);
    (void)jbuffer_release(matrix);
    (void)jbuffer_allocator_release(allocator);
    return result;
}

int main(int argc, char **argv) {
    jruntime_t *runtime = NULL;
    jhandle_t *handle = NULL;
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    int result = 3;
    MPI_Init(&argc, &argv);
    if (jruntime_create_mpi(MPI_COMM_WORLD, &runtime) == JSTATUS_SUCCESS &&
        jruntime_get_info(runtime, &info) == JSTATUS_SUCCESS &&
        jhandle_create(NULL, &handle) == JSTATUS_SUCCESS) {
        result = use(runtime, handle);
        if (info.rank == 0)
            printf("jalloc %s: %d processes\n", jalloc_version_string(), info.processes);
    }
    (void)jhandle_destroy(handle);
    (void)jruntime_release(runtime);
    MPI_Finalize();
    return result;
}
