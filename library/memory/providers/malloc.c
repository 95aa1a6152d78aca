/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The C library's malloc with an alignment, named "jpu". It has no state: the C library has it all. */

#include <malloc.h>
#include <stdlib.h>

#include "jalloc/provider.h"
#include "memory/memory.h"

static jstatus_t malloc_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream,
                                 void **pointer) {
    (void)context;
    (void)stream;
    if (alignment < sizeof(void *)) /* posix_memalign takes nothing smaller */
        alignment = sizeof(void *);
    return posix_memalign(pointer, alignment, size_bytes) == 0 ? JSTATUS_SUCCESS : JSTATUS_MEMORY_ERROR;
}

static jstatus_t malloc_deallocate(void *context, void *pointer, size_t size_bytes, jstream_t *stream) {
    (void)context;
    (void)size_bytes;
    (void)stream;
    free(pointer);
    return JSTATUS_SUCCESS;
}

static size_t malloc_get_usable_size(void *context, const void *pointer, size_t size_bytes) {
    (void)context;
    (void)size_bytes;
    return malloc_usable_size((void *)(uintptr_t)pointer);
}

/* Nothing is held back: what is reserved is what is in use. */
static void malloc_get_stats(void *context, jallocator_stats_t *stats) {
    (void)context;
    stats->reserved_bytes = stats->in_use_bytes;
    stats->peak_reserved_bytes = stats->peak_in_use_bytes;
}

static jstatus_t malloc_create(const ji_request_t *request, jallocator_t **out) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops,
        .allocate = malloc_allocate,
        .deallocate = malloc_deallocate,
        .usable_size = malloc_get_usable_size,
        .get_stats = malloc_get_stats,
    };
    ji_traits_t traits = {.name = request->name, .threads = JALLOCATOR_THREADS_SAFE, .kind = &ji_kind_malloc};
    return ji_allocator_make(&ops, NULL, &traits, out);
}

const ji_kind_t ji_kind_malloc = {
    .public = {"malloc", JALLOCATOR_PROVIDER, "aligned malloc of the C library; its object is named \"jpu\"", NULL},
    .create = malloc_create,
};

jstatus_t jallocator_create_malloc(jallocator_t **allocator) {
    static const ji_common_options_t options = {sizeof options, "jpu"};
    return ji_kind_make(&ji_kind_malloc, NULL, NULL, &options, allocator);
}
