/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The down-cast to ScaLAPACK. Nothing is converted: a distributed buffer is stored the way
 * ScaLAPACK wants its matrices, so the descriptor is its distribution, in 32-bit integers. A view
 * is the whole with a position to begin at. */

#include "mpi/distributed.h"
#include "mpi/scalapack.h"

#include <limits.h>
#include <stdalign.h>

/* What a process without elements points to: ScaLAPACK does not look at it, but might not like
 * NULL. */
static alignas(64) char descriptor_dummy[64];

jstatus_t ji_mpi_describe(const jbuffer_t *buffer, jbuffer_scalapack_t *matrix) {
    if (ji_buffer_kind(buffer) != JBUFFER_DISTRIBUTED ||
        jdevice_kind(ji_buffer_device(buffer)) != JDEVICE_HOST)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "jbuffer_as_scalapack: a %s buffer on %s, not a distributed one on the host",
                       jbuffer_kind_name(ji_buffer_kind(buffer)),
                       jdevice_name(ji_buffer_device(buffer)));

    const ji_storage_t *storage = buffer->storage;
    const jdistribution_t *whole = &storage->distribution;
    int64_t extents[2];
    ji_mpi_extents(&buffer->layout, extents);
    for (int d = 0; d < 2; ++d) /* starts and extents of a view are no larger than the whole */
        if (whole->extents[d] >= INT_MAX || whole->blocks[d] > INT_MAX)
            return ji_fail(
                JSTATUS_INVALID_SIZE,
                "jbuffer_as_scalapack: extent %lld in blocks of %lld: ScaLAPACK counts in 32 bits",
                (long long)whole->extents[d], (long long)whole->blocks[d]);

    *matrix = (jbuffer_scalapack_t){
        .pointer = storage->pointer != NULL ? storage->pointer : descriptor_dummy,
        .row = (int)buffer->starts[0] + 1,
        .column = (int)buffer->starts[1] + 1,
        .rows = (int)extents[0],
        .columns = (int)extents[1],
        .descriptor = {SCALAPACK_BLOCK_CYCLIC, ji_buffer_allocator(buffer)->grid->blacs_context,
                       (int)whole->extents[0], (int)whole->extents[1], (int)whole->blocks[0],
                       (int)whole->blocks[1], 0, 0, (int)storage->leading_dimension}};
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_as_scalapack(jbuffer_t *buffer, jbuffer_scalapack_t *matrix) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));
    JREQUIRE(matrix != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jbuffer_scalapack_t, matrix, pointer));
    JTRY_RETURN(ji_buffer_check_contents(buffer, __func__));
    jbuffer_scalapack_t described;
    JTRY_RETURN(ji_mpi_describe(buffer, &described));
    JI_GIVE_RESULT(matrix, &described);
    return JSTATUS_SUCCESS;
}
