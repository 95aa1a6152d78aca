/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "buffer/buffer.h"

#include <string.h>

jstatus_t ji_npy_errno(const char *path, const char *what, int error) {
    return ji_fail(JSTATUS_IO_ERROR, "\"%s\": %s: %s", path, what, strerror(error));
}
jstatus_t ji_npy_format(ji_npy_t *npy, char header[JI_NPY_MAX_HEADER]) {
    (void)npy, (void)header;
    return ji_fail(JSTATUS_NOT_IMPLEMENTED, "npy");
}
jstatus_t ji_npy_read_header(const char *path, ji_npy_t *npy) {
    (void)path, (void)npy;
    return ji_fail(JSTATUS_NOT_IMPLEMENTED, "npy");
}
jstatus_t jbuffer_save(jbuffer_t *buffer, const char *path) {
    (void)buffer, (void)path;
    return ji_fail(JSTATUS_NOT_IMPLEMENTED, "npy");
}
jstatus_t jbuffer_load(jbuffer_allocator_t *allocator, const char *path, jbuffer_t **buffer) {
    (void)allocator, (void)path, (void)buffer;
    return ji_fail(JSTATUS_NOT_IMPLEMENTED, "npy");
}
