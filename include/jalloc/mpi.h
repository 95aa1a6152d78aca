/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MPI_H
#define JALLOC_MPI_H

/** @file
 * Between jalloc and MPI: libjalloc_mpi, built where MPI and ScaLAPACK are found. The one public
 * header that includes another project's, because MPI_Comm is not the same type in all MPIs;
 * jalloc.h does not include it.
 *
 * A program initializes MPI, makes a runtime of a communicator, and from then on everything in
 * buffer.h and operation.h works for several processes. Release buffers, allocators and the runtime
 * before MPI_Finalize(). One thread at a time calls collective functions; MPI_THREAD_FUNNELED
 * suffices. */

#include <mpi.h>

#include "jalloc/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The runtime view of the processes of a communicator, which is duplicated and stays the caller's.
 * Collective over it. Errors of MPI are returned, not fatal: the duplicate has the handler
 * MPI_ERRORS_RETURN.
 * @return success; invalid pointer; invalid value (MPI is not initialized, is finalized, or an
 * intercommunicator); memory error; device error (MPI's message). */
JALLOC_API jstatus_t jruntime_create_mpi(MPI_Comm communicator, jruntime_t **runtime);

/** The runtime's own communicator, valid as long as the runtime; for communication that does not
 * meet jalloc's.
 * @return success; invalid pointer; not found; invalid value (a runtime without MPI). */
JALLOC_API jstatus_t jruntime_get_communicator(const jruntime_t *runtime, MPI_Comm *communicator);

/** Whether MPI takes pointers to the memory of such a device. True for the host. Where it is false
 * copies go through host memory. */
JALLOC_API bool jruntime_is_device_aware(jdevice_kind_t device);

/** A distributed buffer as ScaLAPACK takes it: P?GEMM(..., pointer, row, column, descriptor,
 * ...). */
typedef struct jbuffer_scalapack_t {
    size_t struct_size; /**< sizeof(jbuffer_scalapack_t) */
    /** this process's part of the whole matrix; not NULL (a dummy where there is none) */
    void *pointer;
    int row, column;   /**< 1-based: where the view begins */
    int rows, columns; /**< of the view */
    int descriptor
        /** of the whole: type, BLACS context, m, n, mb, nb, rsrc, csrc, lld. On a process outside
         * of the grid the context is -1: it must not call ScaLAPACK */
        [9];
} jbuffer_scalapack_t;
#define JBUFFER_SCALAPACK_INIT                                                                     \
    {                                                                                              \
        sizeof(jbuffer_scalapack_t), NULL, 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0, 0, 0, 0 }               \
    }

/** Down-cast to ScaLAPACK. The BLACS context belongs to the buffer's allocator. Not collective.
 * @return success; invalid pointer; invalid value (struct_size; not distributed, or not on the
 * host; a placeholder); invalid size (beyond 32-bit integers); not found. */
JALLOC_API jstatus_t jbuffer_as_scalapack(jbuffer_t *buffer, jbuffer_scalapack_t *matrix);

/** Down-cast to a window of MPI over each process's part (distributed: jbuffer_as_part()),
 * displacement unit one element. Made at the first call for a buffer and its views, which is
 * collective; it ends with the memory: then release is collective, too. @return success; invalid
 * pointer; invalid value (not distributed, or not on the host; a placeholder); not found; memory
 * error; device error (MPI's message: Open MPI 4 cannot make one for a single process). */
JALLOC_API jstatus_t jbuffer_as_window(jbuffer_t *buffer, MPI_Win *window);

#ifdef __cplusplus
}
#endif
#endif
