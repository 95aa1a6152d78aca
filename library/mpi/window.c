/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The down-cast to a window of MPI. It belongs to the memory, not to a buffer or a view of it, and
 * ends when that does: while the memory is still there, and on all processes together, as
 * MPI_Win_free() wants it. */

#include "mpi/distributed.h"

static void window_end(void *memory) {
    MPI_Win *window = memory;
    if (ji_mpi_check_alive() == JSTATUS_SUCCESS)
        MPI_Win_free(window);
    ji_metadata_free(window);
}

/* Every process makes the window or none keeps it. */
static jstatus_t window_create(ji_storage_t *storage) {
    jruntime_t *runtime = storage->allocator->runtime;
    const int element = (int)jhandle_sizeof_datatype(storage->allocator->options.type);
    JTRY_RETURN(ji_mpi_check_alive());
    jstatus_t status = JSTATUS_SUCCESS;

    MPI_Win *window = ji_metadata_alloc(sizeof *window);
    if (window == NULL)
        status = ji_fail(JSTATUS_MEMORY_ERROR, "jbuffer_as_window: no memory for bookkeeping");
    JTRY(ji_mpi_agree(runtime, JI_SCOPE_ALL, status));

    *window = MPI_WIN_NULL;
    status = JI_MPI(MPI_Win_create(storage->pointer, (MPI_Aint)storage->size_bytes, element,
                                   MPI_INFO_NULL, ji_mpi_of(runtime)->all, window));
    JTRY(ji_mpi_agree(runtime, JI_SCOPE_ALL, status));
    JTRY(JI_MPI(MPI_Win_set_errhandler(*window, MPI_ERRORS_RETURN)));

    storage->window = window;
    storage->end_window = window_end;
    window = NULL;
done:
    ji_metadata_free(window);
    return status;
}

jstatus_t jbuffer_as_window(jbuffer_t *buffer, MPI_Win *window) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));
    JREQUIRE(window != NULL, JSTATUS_INVALID_POINTER);
    if (ji_buffer_kind(buffer) != JBUFFER_DISTRIBUTED ||
        jdevice_kind(ji_buffer_device(buffer)) != JDEVICE_HOST)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "jbuffer_as_window: a %s buffer on %s, not a distributed one on the host",
                       jbuffer_kind_name(ji_buffer_kind(buffer)),
                       jdevice_name(ji_buffer_device(buffer)));

    jstatus_t status = ji_buffer_check_contents(buffer, __func__);
    if (status == JSTATUS_SUCCESS && buffer->storage->window == NULL)
        status = window_create(buffer->storage);
    if (status == JSTATUS_SUCCESS)
        *window = *(MPI_Win *)buffer->storage->window;
    return status;
}
