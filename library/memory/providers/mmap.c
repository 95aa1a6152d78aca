/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Private anonymous mappings, one for each allocation: zeroed, and the system has them back when
 * they are freed. */

#include "memory/providers/mapping.h"

static jstatus_t mmap_allocate(void *context, size_t size_bytes, size_t alignment,
                               jstream_t *stream, void **pointer) {
    ji_mapper_t *mapper = context;
    (void)stream;

    jstatus_t status = ji_mapper_map(mapper, size_bytes, alignment, 0, mapper->page_bytes, pointer);
    if (status == JSTATUS_SUCCESS)
        ji_mapper_count(mapper, size_bytes);
    return status;
}

static jstatus_t mmap_create(const ji_request_t *request, jallocator_t **out) {
    jallocator_ops_t ops = ji_mapper_ops;
    ops.allocate = mmap_allocate;

    jstatus_t status = JSTATUS_SUCCESS;
    ji_traits_t traits = {
        .name = request->name, .threads = JALLOCATOR_THREADS_SAFE, .kind = &ji_kind_mmap};

    ji_mapper_t *mapper;
    JTRY_ALLOC(mapper = ji_metadata_zalloc(sizeof *mapper));
    mapper->page_bytes = ji_page_bytes();

    JTRY(ji_allocator_make(&ops, mapper, &traits, out));
    mapper->self = *out;
    mapper = NULL;

done:
    ji_metadata_free(mapper);
    return status;
}

const ji_kind_t ji_kind_mmap = {
    .public = {"mmap", JALLOCATOR_PROVIDER,
               "private anonymous mappings, one per allocation, zeroed", ji_no_keys},
    .create = mmap_create,
};

jstatus_t jallocator_create_mmap(jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_mmap, NULL, NULL, NULL, allocator);
}
