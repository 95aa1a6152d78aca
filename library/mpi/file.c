/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "mpi/distributed.h"

jstatus_t ji_mpi_save(jbuffer_t *buffer, const char *path) {
    (void)buffer, (void)path;
    return ji_fail(JSTATUS_NOT_IMPLEMENTED, "to follow");
}
jstatus_t ji_mpi_load(jbuffer_t *buffer, const char *path, int64_t data_offset, jorder_t order) {
    (void)buffer, (void)path, (void)data_offset, (void)order;
    return ji_fail(JSTATUS_NOT_IMPLEMENTED, "to follow");
}
