/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Making buffers. */

#include "buffer/buffer.h"

jstatus_t jbuffer_allocate(jbuffer_allocator_t *allocator, const jlayout_t *layout, jbuffer_t **buffer) {
    (void)allocator, (void)layout, (void)buffer;
    return JSTATUS_NOT_IMPLEMENTED;
}
jstatus_t jbuffer_wrap(jbuffer_allocator_t *allocator, const jlayout_t *layout, void *pointer, jbuffer_t **buffer) {
    (void)allocator, (void)layout, (void)pointer, (void)buffer;
    return JSTATUS_NOT_IMPLEMENTED;
}
jstatus_t jbuffer_construct_value(jbuffer_allocator_t *allocator, const jlayout_t *layout, const void *value,
                                  jbuffer_t **buffer) {
    (void)allocator, (void)layout, (void)value, (void)buffer;
    return JSTATUS_NOT_IMPLEMENTED;
}
jstatus_t jbuffer_construct_identity(jbuffer_allocator_t *allocator, const jlayout_t *layout, jbuffer_t **buffer) {
    (void)allocator, (void)layout, (void)buffer;
    return JSTATUS_NOT_IMPLEMENTED;
}
jstatus_t jbuffer_construct_list(jbuffer_allocator_t *allocator, int rank, const int64_t *extents, jdatatype_t type,
                                 const void *values, jbuffer_t **buffer) {
    (void)allocator, (void)rank, (void)extents, (void)type, (void)values, (void)buffer;
    return JSTATUS_NOT_IMPLEMENTED;
}
jstatus_t jbuffer_construct_function(jbuffer_allocator_t *allocator, const jlayout_t *layout,
                                     jbuffer_function_t function, void *context, int max_threads, jbuffer_t **buffer) {
    (void)allocator, (void)layout, (void)function, (void)context, (void)max_threads, (void)buffer;
    return JSTATUS_NOT_IMPLEMENTED;
}
jstatus_t jbuffer_construct_copy(jbuffer_allocator_t *allocator, jbuffer_t *source, jbuffer_t **buffer) {
    (void)allocator, (void)source, (void)buffer;
    return JSTATUS_NOT_IMPLEMENTED;
}
jstatus_t jbuffer_construct_move(jbuffer_allocator_t *allocator, jbuffer_t **source, jbuffer_t **buffer, bool *reused) {
    (void)allocator, (void)source, (void)buffer, (void)reused;
    return JSTATUS_NOT_IMPLEMENTED;
}
