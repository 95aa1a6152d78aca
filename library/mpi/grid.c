/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Grids of processes: a BLACS context over the first rows * columns processes of a runtime, in
 * row-major order. Allocators with the same grid share it, and it ends with the runtime, because
 * BLACS can make a limited number of them and ending one is collective, which the end of an
 * allocator is not. */

#include "mpi/distributed.h"
#include "mpi/scalapack.h"

jstatus_t ji_mpi_open_grid(jruntime_t *runtime, const int shape[2], ji_grid_t **out) {
    ji_mpi_t *mpi = ji_mpi_of(runtime);
    for (ji_grid_t *grid = mpi->grids; grid != NULL; grid = grid->next)
        if (grid->shape[0] == shape[0] && grid->shape[1] == shape[1]) {
            *out = grid;
            return JSTATUS_SUCCESS;
        }

    JTRY_RETURN(ji_mpi_check_alive());
    jstatus_t status = JSTATUS_SUCCESS;

    /* BLACS ends the program where it is asked for what it cannot do: nobody calls it before all
     * can. */
    ji_grid_t *grid = ji_metadata_zalloc(sizeof *grid);
    if (grid == NULL)
        status = ji_fail(JSTATUS_MEMORY_ERROR, "a grid of %d x %d: no memory for bookkeeping",
                         shape[0], shape[1]);
    JTRY(ji_mpi_agree(runtime, JI_SCOPE_ALL, status));

    *grid = (ji_grid_t){{shape[0], shape[1]}, {-1, -1}, -1, mpi->grids};
    const int system = Csys2blacs_handle(mpi->all);
    grid->blacs_context = system;
    Cblacs_gridinit(&grid->blacs_context, "Row", shape[0], shape[1]);
    Cfree_blacs_system_handle(system);

    if (grid->blacs_context >= 0) {
        int rows, columns;
        Cblacs_gridinfo(grid->blacs_context, &rows, &columns, &grid->coordinates[0],
                        &grid->coordinates[1]);
    }

    mpi->grids = grid;
    *out = grid;
    grid = NULL;
done:
    ji_metadata_free(grid);
    return status;
}

void ji_mpi_close_grids(jruntime_t *runtime) {
    ji_mpi_t *mpi = ji_mpi_of(runtime);
    const bool alive = ji_mpi_check_alive() == JSTATUS_SUCCESS;
    while (mpi->grids != NULL) {
        ji_grid_t *grid = mpi->grids;
        mpi->grids = grid->next;
        if (alive && grid->blacs_context >= 0)
            Cblacs_gridexit(grid->blacs_context);
        ji_metadata_free(grid);
    }
}
