/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What an adaptor does where it does nothing of its own: it passes everything on to what is below.
 * What is below knows its blocks; which of them went through the adaptor, the object's ledger knows
 * (memory.h). */

#include "memory/adaptor.h"

static jstatus_t adaptor_allocate(void *context, size_t size_bytes, size_t alignment,
                                  jstream_t *stream, void **pointer) {
    const ji_adaptor_t *adaptor = context;
    return jallocator_allocate(adaptor->below, size_bytes, alignment, stream, pointer);
}
static jstatus_t adaptor_deallocate(void *context, void *pointer, size_t size_bytes,
                                    jstream_t *stream) {
    const ji_adaptor_t *adaptor = context;
    return jallocator_deallocate(adaptor->below, pointer, size_bytes, stream);
}
static size_t adaptor_usable_size(void *context, const void *pointer, size_t size_bytes) {
    const ji_adaptor_t *adaptor = context;
    return jallocator_usable_size(adaptor->below, pointer, size_bytes);
}
static jstatus_t adaptor_find(void *context, const void *pointer, jallocation_t *block) {
    const ji_adaptor_t *adaptor = context;
    return jallocator_find(adaptor->below, pointer, block);
}
static void adaptor_visit(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    const ji_adaptor_t *adaptor = context;
    (void)jallocator_visit(adaptor->below, visitor, visitor_context);
}
static void adaptor_get_stats(void *context, jallocator_stats_t *stats) {
    const ji_adaptor_t *adaptor = context;
    jallocator_stats_t below = JALLOCATOR_STATS_INIT;
    (void)jallocator_get_stats(adaptor->below, &below);

    stats->limit_bytes = below.limit_bytes;
    stats->reserved_bytes = below.reserved_bytes;
    stats->peak_reserved_bytes = below.peak_reserved_bytes;
    stats->free_bytes = below.free_bytes;
    stats->largest_free_bytes = below.largest_free_bytes;
    stats->granted_bytes = below.granted_bytes;
    stats->peak_granted_bytes = below.peak_granted_bytes;
    stats->decommitted_bytes = below.decommitted_bytes;
}
static jstatus_t adaptor_trim(void *context, size_t keep_bytes) {
    const ji_adaptor_t *adaptor = context;
    return jallocator_trim(adaptor->below, keep_bytes);
}
static jstatus_t adaptor_check(void *context) {
    const ji_adaptor_t *adaptor = context;
    return jallocator_check(adaptor->below);
}
static bool adaptor_coalesces(void *context) {
    const ji_adaptor_t *adaptor = context;
    return ji_allocator_coalesces(adaptor->below);
}

const jallocator_ops_t ji_adaptor_ops = {
    .struct_size = sizeof ji_adaptor_ops,
    .allocate = adaptor_allocate,
    .deallocate = adaptor_deallocate,
    .usable_size = adaptor_usable_size,
    .find = adaptor_find,
    .visit = adaptor_visit,
    .get_stats = adaptor_get_stats,
    .trim = adaptor_trim,
    .check = adaptor_check,
    .destroy = ji_metadata_free,
    .coalesces = adaptor_coalesces,
};
