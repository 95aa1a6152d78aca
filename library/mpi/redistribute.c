/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "mpi/distributed.h"

jstatus_t ji_mpi_copy_bytes(const jbuffer_t *destination, const jbuffer_t *source, size_t *best, size_t *least) {
    (void)destination, (void)source;
    *best = *least = 0;
    return JSTATUS_SUCCESS;
}
jstatus_t ji_mpi_copy(jbuffer_t *destination, jbuffer_t *source, void *workspace, size_t size_bytes) {
    (void)destination, (void)source, (void)workspace, (void)size_bytes;
    return ji_fail(JSTATUS_NOT_IMPLEMENTED, "to follow");
}
jstatus_t ji_mpi_get(jbuffer_t *buffer, const int64_t indices[2], void *value) {
    (void)buffer, (void)indices, (void)value;
    return ji_fail(JSTATUS_NOT_IMPLEMENTED, "to follow");
}
