/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Copies. */

#include "buffer/buffer.h"

size_t ji_place_copy_bytes(const ji_place_t *destination, const ji_place_t *source) {
    (void)destination;
    (void)source;
    return 0;
}
jstatus_t ji_place_copy(const ji_place_t *destination, const ji_place_t *source, jstream_t *stream, void *staging) {
    (void)stream;
    (void)staging;
    return ji_place_copy_host(destination, source);
}
bool ji_buffer_copy_is_collective(const jbuffer_t *destination, const jbuffer_t *source) {
    (void)destination;
    (void)source;
    return false;
}
jstatus_t ji_buffer_copy_bytes(const jbuffer_t *destination, const jbuffer_t *source, size_t *best, size_t *least) {
    (void)destination;
    (void)source;
    *best = *least = 0;
    return JSTATUS_SUCCESS;
}
jstatus_t ji_buffer_copy(jbuffer_t *destination, jbuffer_t *source, jstream_t *stream, void *workspace,
                         size_t size_bytes) {
    (void)workspace;
    (void)size_bytes;
    ji_place_t to = ji_buffer_place(destination), from = ji_buffer_place(source);
    return ji_place_copy(&to, &from, stream, NULL);
}
