/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MPI_DISTRIBUTED_H
#define JALLOC_MPI_DISTRIBUTED_H

/* libjalloc_mpi: buffers over the processes of an MPI communicator. It fills the two tables by
 * which libjbuffer knows of other processes, ji_runtime_ops_t (buffer/buffer.h) and ji_backend_t
 * (operation/operation.h); nothing in libjbuffer calls MPI.
 *
 *     runtime.c        who is where, how processes agree, broadcasts: read it first
 *     grid.c           grids of processes, as BLACS contexts
 *     redistribute.c   copies of which a side is distributed; who shares which elements: pattern.h
 *     file.c           .npy files that all processes write or read at once
 *     operations.c     the backend: PBLAS; factor.c, ScaLAPACK
 *     descriptor.c, window.c   the down-casts to what ScaLAPACK and MPI take
 *
 * What always holds: a process that has failed goes on to the next agreement, for the others wait
 * there. Each file begins its work with ji_mpi_check_alive(), since a program may well finalize MPI
 * before it gives its last buffer back, and turns MPI's errors into statuses with
 * ji_mpi_status(). */

#include <mpi.h>

#include "buffer/buffer.h"
#include "jalloc/mpi.h"

#define JI_MPI_MAX_BYTES ((size_t)1 << 30) /* of one message: counts of MPI are int */

/* The state of a runtime over MPI. */
typedef struct ji_mpi {
    MPI_Comm all;     /* the duplicate of the caller's */
    MPI_Comm node;    /* the processes of this machine */
    MPI_Comm leaders; /* the first process of each machine; MPI_COMM_NULL on others */
    ji_grid_t *grids; /* that were opened, in a list */
    int leader_of[];  /* of each process: the rank of the first process of its machine */
} ji_mpi_t;

static inline ji_mpi_t *ji_mpi_of(const jruntime_t *runtime) { return runtime->state; }

/* jruntime_create_mpi() where node_processes is 0; else, for tests, machines of that many processes
 * are pretended, so that what is done between machines can be seen on one. */
jstatus_t ji_runtime_create_mpi(MPI_Comm communicator, int node_processes, jruntime_t **runtime);

/* Device error with MPI's text for what failed; success for MPI_SUCCESS. */
jstatus_t ji_mpi_status(int error, const char *what);
#define JI_MPI(call) ji_mpi_status(call, #call)
/* Device error before MPI_Init() and after MPI_Finalize(). */
jstatus_t ji_mpi_check_alive(void);

/* Rows and columns of a buffer or view: a vector is one column, a number a matrix of one
 * element. */
static inline void ji_mpi_extents(const jlayout_t *layout, int64_t extents[2]) {
    extents[0] = layout->rank > 0 ? layout->extents[0] : 1;
    extents[1] = layout->rank > 1 ? layout->extents[1] : 1;
}

/* The table's functions, as buffer.h says. */
jstatus_t ji_mpi_agree(jruntime_t *runtime, ji_scope_t scope, jstatus_t status);
jstatus_t ji_mpi_open_grid(jruntime_t *runtime, const int shape[2], ji_grid_t **out);
void ji_mpi_close_grids(jruntime_t *runtime); /* all that were opened */
jstatus_t ji_mpi_copy_bytes(jruntime_t *runtime, const jbuffer_t *destination,
                            const jbuffer_t *source, size_t *best, size_t *least);
jstatus_t ji_mpi_copy(jruntime_t *runtime, jbuffer_t *destination, const jbuffer_t *source,
                      void *workspace, size_t size_bytes);
/* The same, and with rows for columns where the two are general matrices, both distributed, and
 * `transposed`. */
jstatus_t ji_mpi_move_bytes(jruntime_t *runtime, const jbuffer_t *destination,
                            const jbuffer_t *source, bool transposed, size_t *best, size_t *least);
jstatus_t ji_mpi_move(jruntime_t *runtime, jbuffer_t *destination, const jbuffer_t *source,
                      bool transposed, void *workspace, size_t size_bytes);
/* As jbuffer_as_scalapack(), of placeholders, too. */
jstatus_t ji_mpi_describe(const jbuffer_t *buffer, jbuffer_scalapack_t *matrix);
jstatus_t ji_mpi_get(const jbuffer_t *buffer, const int64_t indices[2], void *value);
jstatus_t ji_mpi_save(const jbuffer_t *buffer, const char *path);
jstatus_t ji_mpi_load(jbuffer_t *buffer, const char *path, int64_t data_offset, jorder_t order);

/* Bytes of a file that a process moves at once, at least an element's; tests make it small. */
extern int64_t ji_mpi_panel_bytes;

/* What computes operations on distributed buffers (operations.c). */
extern const struct ji_backend ji_mpi_backend;

#endif
