/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A distributed buffer becomes a replicated one, by copy and by move.
 *
 *     distributed --rebind--> replicated   an allocator of the same backend for another kind
 *     construct_copy(replicated, matrix)   both are there
 *     construct_move(replicated, &matrix)  the matrix is given up; its memory is used again where
 *                                          it can be
 *
 * Between several processes nothing of a part can be used again for the whole, and the answer says
 * so; from a replicated buffer to a local one everything can: the pointer stays the same. Run with
 * any number of processes. */

#include "../sample.h"
#include "jalloc/mpi.h"

enum { ROWS = 301, COLUMNS = 203 }; /* no multiples of the blocks, 64 x 64 */

static double value_at(int64_t i, int64_t j) { return (double)i + 1000.0 * (double)j; }

static jbuffer_filled_t fill_block(void *context, const jbuffer_block_t *block) {
    (void)context;
    for (int64_t j = 0; j < block->extents[1]; j++)
        for (int64_t i = 0; i < block->extents[0]; i++)
            ((double *)block->data)[i * block->strides[0] + j * block->strides[1]] =
                value_at(block->starts[0] + i, block->starts[1] + j);
    return JBUFFER_BLOCK_FILLED;
}

/* Whether this process has the whole matrix. */
static int check(jbuffer_t *buffer, jbuffer_kind_t expected, double **first) {
    jbuffer_kind_t kind;
    jlayout_t layout;
    void *pointer;
    TRY(jbuffer_get_kind(buffer, &kind));
    TRY(jbuffer_get_layout(buffer, &layout));
    TRY(jbuffer_as_pointer(buffer, JDEVICE_HOST, &pointer));
    CLAIM(kind == expected && layout.rank == 2 && layout.extents[0] == ROWS &&
          layout.extents[1] == COLUMNS);
    *first = pointer;
    for (int64_t j = 0; j < COLUMNS; j++)
        for (int64_t i = 0; i < ROWS; i++)
            CLAIM((*first)[i * layout.strides[0] + j * layout.strides[1]] == value_at(i, j));
    return 0;
}

static int convert(jruntime_t *runtime, const jruntime_info_t *info) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.kind = JBUFFER_DISTRIBUTED;
    options.blocks[0] = options.blocks[1] = 64;
    const int64_t extents[2] = {ROWS, COLUMNS};
    jlayout_t layout;
    jbuffer_allocator_t *distributed, *replicated, *local;
    TRY(jlayout_init(&layout, 2, extents, JORDER_COLUMN_MAJOR));
    TRY(jbuffer_allocator_create(runtime, &options, &distributed));
    TRY(jbuffer_allocator_rebind(distributed, JBUFFER_REPLICATED, JDATATYPE_F64, &replicated));
    TRY(jbuffer_allocator_rebind(distributed, JBUFFER_LOCAL, JDATATYPE_F64, &local));

    jbuffer_t *matrix, *copy, *moved, *mine;
    TRY(jbuffer_construct_function(distributed, &layout, fill_block, NULL, 0, &matrix));
    jbuffer_part_t part = JBUFFER_PART_INIT;
    TRY(jbuffer_as_part(matrix, &part));

    /* By copy: the matrix stays. */
    double *of_copy, *of_moved, *of_mine;
    TRY(jbuffer_construct_copy(replicated, matrix, &copy));
    if (check(copy, JBUFFER_REPLICATED, &of_copy) != 0)
        return 1;

    /* By move: the matrix is gone. One process has the whole of it in its part already, and keeps
     * it. */
    bool reused;
    TRY(jbuffer_construct_move(replicated, &matrix, &moved, &reused));
    CLAIM(matrix == NULL && reused == (info->processes == 1));
    if (check(moved, JBUFFER_REPLICATED, &of_moved) != 0)
        return 1;
    if (info->rank == 0)
        printf("%d processes: from %lld x %lld of %d x %d to all of it; the memory was %s\n",
               info->processes, (long long)part.rows, (long long)part.columns, ROWS, COLUMNS,
               reused ? "used again" : "new");

    /* From replicated to local nothing has to go anywhere. */
    TRY(jbuffer_construct_move(local, &moved, &mine, &reused));
    CLAIM(moved == NULL && reused);
    if (check(mine, JBUFFER_LOCAL, &of_mine) != 0)
        return 1;
    CLAIM(of_mine == of_moved && of_mine != of_copy);

    TRY(jbuffer_release(mine));
    TRY(jbuffer_release(copy));
    TRY(jbuffer_allocator_release(local));
    TRY(jbuffer_allocator_release(replicated));
    TRY(jbuffer_allocator_release(distributed));
    return 0;
}

static int run(void) {
    jruntime_t *runtime;
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    TRY(jruntime_create_mpi(MPI_COMM_WORLD, &runtime));
    TRY(jruntime_get_info(runtime, &info));
    if (convert(runtime, &info) != 0)
        return 1;
    TRY(jruntime_release(runtime));
    return 0;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (run() != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
