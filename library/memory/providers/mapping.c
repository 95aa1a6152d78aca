/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Sizes are rounded up to pages. An alignment above what the kernel gives is had by mapping more
 * and giving the ends back:
 *
 *     |<- head ->|<------ size ------>|<- tail ->|
 *     mapped     aligned                          size + alignment - natural alignment bytes
 *
 * Head and tail are unmapped at once, so an allocation is always exactly its own pages, and its
 * size alone is enough to free it. */

#include "memory/providers/mapping.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* What cannot be rounded up stays as it is; jallocator_allocate() has refused such a size. */
static size_t mapper_round(const ji_mapper_t *mapper, size_t size_bytes) {
    size_t rounded = size_bytes;
    (void)ji_size_round_up(size_bytes, mapper->page_bytes, &rounded);
    return rounded;
}

jstatus_t ji_mapper_map(const ji_mapper_t *mapper, size_t size_bytes, size_t alignment, int flags,
                        size_t natural, void **pointer) {
    size_t size = mapper_round(mapper, size_bytes),
           extra = alignment > natural ? alignment - natural : 0;

    char *mapping = mmap(NULL, size + extra, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (mapping == MAP_FAILED)
        return ji_fail(JSTATUS_MEMORY_ERROR, "mmap: %s", strerror(errno));

    /* At most extra, for a mapping is naturally aligned. */
    size_t head = -(uintptr_t)mapping & (alignment - 1);

    /* Unmapping an end can fail only where a mapping would be split; then the end stays, untouched,
     * and costs no memory. */
    if (head > 0)
        (void)munmap(mapping, head);
    if (extra > head)
        (void)munmap(mapping + head + size, extra - head);

    *pointer = mapping + head;
    return JSTATUS_SUCCESS;
}

void ji_mapper_unmap(const ji_mapper_t *mapper, void *pointer, size_t size_bytes) {
    (void)munmap(pointer, mapper_round(mapper, size_bytes));
}

void ji_mapper_count(ji_mapper_t *mapper, size_t size_bytes) {
    ji_held_rise(&mapper->held, mapper_round(mapper, size_bytes));
}

/* The object's ledger has it: it is one of ours, of this size. */
static jstatus_t mapper_deallocate(void *context, void *pointer, size_t size_bytes,
                                   jstream_t *stream) {
    ji_mapper_t *mapper = context;
    (void)stream;

    size_t size = mapper_round(mapper, size_bytes);
    if (munmap(pointer, size) != 0)
        return ji_fail(JSTATUS_DEVICE_ERROR, "allocator \"%s\": munmap of %zu bytes at %p: %s",
                       jallocator_name(mapper->self), size, pointer, strerror(errno));

    ji_held_fall(&mapper->held, size);
    return JSTATUS_SUCCESS;
}

size_t ji_mapper_usable_size(void *context, const void *pointer, size_t size_bytes) {
    (void)pointer;
    return mapper_round(context, size_bytes);
}

static void mapper_get_stats(void *context, jallocator_stats_t *stats) {
    ji_mapper_t *mapper = context;
    ji_held_report(&mapper->held, stats);
}

static void mapper_clear_stats(void *context) {
    ji_mapper_t *mapper = context;
    ji_held_clear(&mapper->held);
}

static size_t mapper_page_bytes(void *context) {
    return ((const ji_mapper_t *)context)->page_bytes;
}

static jstatus_t mapper_set_pages(void *context, void *pointer, size_t size_bytes,
                                  jallocator_pages_t to) {
    ji_mapper_t *mapper = context;
    return ji_held_set_pages(&mapper->held, pointer, size_bytes, to);
}

const jallocator_ops_t ji_mapper_ops = {
    .struct_size = sizeof ji_mapper_ops,
    .deallocate = mapper_deallocate,
    .usable_size = ji_mapper_usable_size,
    .get_stats = mapper_get_stats,
    .clear_stats = mapper_clear_stats,
    .destroy = ji_metadata_free,
    .page_bytes = mapper_page_bytes,
    .set_pages = mapper_set_pages,
};
