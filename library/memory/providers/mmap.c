/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Private anonymous mappings, one for each allocation: zeroed, and the system has them back when they are freed.
 *
 * Sizes are rounded up to pages. An alignment above the page's is had by mapping more and giving the ends back:
 *
 *     |<- head ->|<------ size ------>|<- tail ->|      size + alignment - page bytes are mapped,
 *                ^ aligned                               head and tail are unmapped at once
 *
 * so that an allocation is always exactly its own pages and its size alone is enough to free it. */

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jalloc/provider.h"
#include "memory/memory.h"

typedef struct mmap_provider {
    size_t page_bytes;
    atomic_size_t mapped_bytes;
    atomic_size_t peak_mapped_bytes;
} mmap_provider_t;

static void mmap_count(mmap_provider_t *provider, size_t size_bytes) {
    size_t mapped = atomic_fetch_add_explicit(&provider->mapped_bytes, size_bytes, memory_order_relaxed) + size_bytes;
    size_t peak = atomic_load_explicit(&provider->peak_mapped_bytes, memory_order_relaxed);
    while (peak < mapped && !atomic_compare_exchange_weak_explicit(&provider->peak_mapped_bytes, &peak, mapped,
                                                                   memory_order_relaxed, memory_order_relaxed))
        ;
}

static jstatus_t mmap_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream, void **pointer) {
    mmap_provider_t *provider = context;
    (void)stream;
    size_t size, extra = alignment > provider->page_bytes ? alignment - provider->page_bytes : 0, whole;
    if (!ji_size_round_up(size_bytes, provider->page_bytes, &size) || !ji_size_add(size, extra, &whole))
        return ji_fail(JSTATUS_INVALID_SIZE, "%zu bytes and the alignment overflow", size_bytes);
    char *mapping = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return ji_fail(JSTATUS_MEMORY_ERROR, "mmap: %m");
    size_t head = -(uintptr_t)mapping & (alignment - 1); /* at most extra, since a mapping begins with a page */
    /* Unmapping an end can fail only where a mapping would be split; then the end stays, untouched, and costs no
     * memory. */
    if (head > 0)
        (void)munmap(mapping, head);
    if (extra > head)
        (void)munmap(mapping + head + size, extra - head);
    mmap_count(provider, size);
    *pointer = mapping + head;
    return JSTATUS_SUCCESS;
}

static jstatus_t mmap_deallocate(void *context, void *pointer, size_t size_bytes, jstream_t *stream) {
    mmap_provider_t *provider = context;
    (void)stream;
    size_t size;
    if (((uintptr_t)pointer & (provider->page_bytes - 1)) != 0)
        return ji_fail(JSTATUS_NOT_FOUND, "allocator \"mmap\": %p is not the beginning of a mapping", pointer);
    if (!ji_size_round_up(size_bytes, provider->page_bytes, &size))
        return ji_fail(JSTATUS_INVALID_SIZE, "allocator \"mmap\": %p given back with %zu bytes", pointer, size_bytes);
    if (munmap(pointer, size) != 0)
        return ji_fail(JSTATUS_DEVICE_ERROR, "allocator \"mmap\": munmap of %zu bytes at %p: %m", size, pointer);
    atomic_fetch_sub_explicit(&provider->mapped_bytes, size, memory_order_relaxed);
    return JSTATUS_SUCCESS;
}

static size_t mmap_usable_size(void *context, const void *pointer, size_t size_bytes) {
    const mmap_provider_t *provider = context;
    (void)pointer;
    size_t usable = size_bytes;
    (void)ji_size_round_up(size_bytes, provider->page_bytes, &usable);
    return usable;
}

static void mmap_get_stats(void *context, jallocator_stats_t *stats) {
    mmap_provider_t *provider = context;
    stats->reserved_bytes = atomic_load_explicit(&provider->mapped_bytes, memory_order_relaxed);
    stats->peak_reserved_bytes = atomic_load_explicit(&provider->peak_mapped_bytes, memory_order_relaxed);
}

static void mmap_clear_stats(void *context) {
    mmap_provider_t *provider = context;
    atomic_store_explicit(&provider->peak_mapped_bytes,
                          atomic_load_explicit(&provider->mapped_bytes, memory_order_relaxed), memory_order_relaxed);
}

static jstatus_t mmap_create(const ji_request_t *request, jallocator_t **out) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops,
        .allocate = mmap_allocate,
        .deallocate = mmap_deallocate,
        .usable_size = mmap_usable_size,
        .get_stats = mmap_get_stats,
        .clear_stats = mmap_clear_stats,
        .destroy = ji_metadata_free,
    };
    jstatus_t status = JSTATUS_SUCCESS;
    ji_traits_t traits = {.name = request->name, .threads = JALLOCATOR_THREADS_SAFE, .kind = &ji_kind_mmap};
    mmap_provider_t *provider;
    JTRY_ALLOC(provider = ji_metadata_zalloc(sizeof *provider));
    provider->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    JTRY(ji_allocator_make(&ops, provider, &traits, out));
    provider = NULL;
done:
    ji_metadata_free(provider);
    return status;
}

const ji_kind_t ji_kind_mmap = {
    .public = {"mmap", JALLOCATOR_PROVIDER, "private anonymous mappings, one per allocation, zeroed", NULL},
    .create = mmap_create,
};

jstatus_t jallocator_create_mmap(jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_mmap, NULL, NULL, NULL, allocator);
}
