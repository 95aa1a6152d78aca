/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Has no memory. So it has no blocks either: what is given back to it is not its own, which the
 * object says already. */

#include "memory/providers/provider.h"

static jstatus_t null_allocate(void *context, size_t size_bytes, size_t alignment,
                               jstream_t *stream, void **pointer) {
    (void)context, (void)size_bytes, (void)alignment, (void)stream, (void)pointer;
    return ji_fail(JSTATUS_MEMORY_ERROR, "this allocator never has memory");
}

static jstatus_t null_deallocate(void *context, void *pointer, size_t size_bytes,
                                 jstream_t *stream) {
    (void)context, (void)size_bytes, (void)stream;
    return ji_fail(JSTATUS_NOT_FOUND, "%p was not handed out by an allocator that never has memory",
                   pointer);
}

static jstatus_t null_create(const ji_request_t *request, jallocator_t **out) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = null_allocate, .deallocate = null_deallocate};
    ji_traits_t traits = {.name = request->name,
                          .device = request->device,
                          .threads = JALLOCATOR_THREADS_SAFE,
                          .kind = &ji_kind_null};
    return ji_allocator_make(&ops, NULL, &traits, out);
}

const ji_kind_t ji_kind_null = {
    .public = {"null", JALLOCATOR_PROVIDER, "always answers that there is no memory", ji_no_keys},
    .create = null_create,
};

jstatus_t jallocator_create_null(jdevice_t *device, jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_null, device, NULL, NULL, allocator);
}
