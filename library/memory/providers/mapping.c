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
#include <unistd.h>

size_t ji_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

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
    size_t size = mapper_round(mapper, size_bytes);
    size_t mapped =
        atomic_fetch_add_explicit(&mapper->mapped_bytes, size, memory_order_relaxed) + size;

    size_t peak = atomic_load_explicit(&mapper->peak_mapped_bytes, memory_order_relaxed);
    while (peak < mapped &&
           !atomic_compare_exchange_weak_explicit(&mapper->peak_mapped_bytes, &peak, mapped,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
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

    atomic_fetch_sub_explicit(&mapper->mapped_bytes, size, memory_order_relaxed);
    return JSTATUS_SUCCESS;
}

size_t ji_mapper_usable_size(void *context, const void *pointer, size_t size_bytes) {
    (void)pointer;
    return mapper_round(context, size_bytes);
}

static void mapper_get_stats(void *context, jallocator_stats_t *stats) {
    ji_mapper_t *mapper = context;
    stats->reserved_bytes = atomic_load_explicit(&mapper->mapped_bytes, memory_order_relaxed);
    stats->peak_reserved_bytes =
        atomic_load_explicit(&mapper->peak_mapped_bytes, memory_order_relaxed);
}

static void mapper_clear_stats(void *context) {
    ji_mapper_t *mapper = context;
    atomic_store_explicit(&mapper->peak_mapped_bytes,
                          atomic_load_explicit(&mapper->mapped_bytes, memory_order_relaxed),
                          memory_order_relaxed);
}

const jallocator_ops_t ji_mapper_ops = {
    .struct_size = sizeof ji_mapper_ops,
    .deallocate = mapper_deallocate,
    .usable_size = ji_mapper_usable_size,
    .get_stats = mapper_get_stats,
    .clear_stats = mapper_clear_stats,
    .destroy = ji_metadata_free,
};
