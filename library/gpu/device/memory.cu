/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Raw memory of a GPU.
 *
 *   device           the runtime's own
 *   pinned           host memory that the device reads and writes by the same address, seen by all
 *                    devices
 *   managed          no more than is free now: a device that has to page can hang
 *   stream-ordered   from the runtime's default pool of the device; its settings are the program's
 *                    and stay as they are
 *
 * Taking and giving back in an ordinary way make the runtime wait for the device, and a capture in
 * global mode forbids them to every thread; so they are done in relaxed mode. Memory taken so while
 * a stream is captured is not part of the graph: whoever captures sees to it that it outlives the
 * graph. Taking it in stream order would make it part of the graph, which frees it behind our back
 * when it runs: refused.
 *
 * Alignment. The runtimes promise 256 bytes, and give more for large blocks. More is asked for
 * rarely: then the block is taken larger, and a table of ours remembers where it began, because
 * nothing can be written in front of it. */

#include "gpu/device/gpu.h"

#include <mutex>

/* ---- Blocks that begin before their pointer ---- */

#define MEMORY_CHAINS 64

struct memory_shifted_t {
    void *given; /* what the caller has */
    void *taken; /* what the runtime gave */
    memory_shifted_t *next;
};

/* Of all devices: no two have the same address. */
static std::mutex memory_mutex;
static memory_shifted_t *memory_chains[MEMORY_CHAINS];
static std::atomic<size_t> memory_shifted_count; /* 0: nothing to look up */

static memory_shifted_t **memory_chain(const void *given) {
    return &memory_chains[((uintptr_t)given >> 9) % MEMORY_CHAINS];
}

static void memory_remember(memory_shifted_t *block) {
    std::lock_guard<std::mutex> lock(memory_mutex);
    memory_shifted_t **chain = memory_chain(block->given);
    block->next = *chain;
    *chain = block;
    ++memory_shifted_count;
}

/* Takes the entry of a pointer out of the table; NULL: it begins where its block does. */
static memory_shifted_t *memory_forget(const void *given) {
    if (memory_shifted_count.load() == 0)
        return nullptr;
    std::lock_guard<std::mutex> lock(memory_mutex);

    memory_shifted_t **link = memory_chain(given);
    while (*link != nullptr && (*link)->given != given)
        link = &(*link)->next;

    memory_shifted_t *block = *link;
    if (block != nullptr) {
        *link = block->next;
        --memory_shifted_count;
    }
    return block;
}

/* ---- The runtime's ---- */

static const char *memory_call(jmemory_kind_t kind, bool take) {
    switch (kind) {
    case JMEMORY_PINNED: return take ? "gpuHostAlloc" : "gpuFreeHost";
    case JMEMORY_MANAGED: return take ? "gpuMallocManaged" : "gpuFree";
    case JMEMORY_STREAM_ORDERED: return take ? "gpuMallocAsync" : "gpuFreeAsync";
    default: return take ? "gpuMalloc" : "gpuFree";
    }
}

/* Out of memory says how much there was. */
static jstatus_t memory_fail(jdevice_t *device, gpuError_t error, jmemory_kind_t kind,
                             size_t size_bytes) {
    jstatus_t status = gpu_check(device, error, memory_call(kind, true));
    if (status != JSTATUS_MEMORY_ERROR)
        return status;

    size_t free_bytes = 0, total_bytes = 0;
    if (kind == JMEMORY_PINNED)
        return gpu_services->fail(status, "%s: no pinned memory for %zu bytes: %s (%s)",
                                  device->name, size_bytes, gpuGetErrorString(error),
                                  gpuGetErrorName(error));

    const gpuError_t unknown = gpuMemGetInfo(&free_bytes, &total_bytes);
    if (unknown != gpuSuccess) {
        gpu_forget_error(unknown);
        return gpu_services->fail(status, "%s: no memory for %zu bytes: %s (%s)", device->name,
                                  size_bytes, gpuGetErrorString(error), gpuGetErrorName(error));
    }

    return gpu_services->fail(
        status, "%s: no memory for %zu bytes, %zu of %zu bytes are free: %s (%s)", device->name,
        size_bytes, free_bytes, total_bytes, gpuGetErrorString(error), gpuGetErrorName(error));
}

static jstatus_t memory_take(jdevice_t *device, jmemory_kind_t kind, size_t size_bytes,
                             void **memory) {
    gpuError_t error;
    if (kind == JMEMORY_PINNED)
        error = gpuHostAlloc(memory, size_bytes, gpuHostAllocPortable | gpuHostAllocMapped);
    else if (kind == JMEMORY_MANAGED)
        error = gpuMallocManaged(memory, size_bytes, gpuMemAttachGlobal);
    else
        error = gpuMalloc(memory, size_bytes);

    return error == gpuSuccess ? JSTATUS_SUCCESS : memory_fail(device, error, kind, size_bytes);
}

static jstatus_t memory_give(jdevice_t *device, jmemory_kind_t kind, void *memory) {
    return gpu_check(device, kind == JMEMORY_PINNED ? gpuFreeHost(memory) : gpuFree(memory),
                     memory_call(kind, false));
}

static jstatus_t memory_allow_managed(jdevice_t *device, size_t size_bytes) {
    if (!gpu_device(device)->properties.has_managed_memory)
        return gpu_services->fail(JSTATUS_NOT_IMPLEMENTED, "%s has no managed memory",
                                  device->name);

    size_t free_bytes = 0, total_bytes = 0;
    GPU_TRY(device, gpuMemGetInfo(&free_bytes, &total_bytes));
    if (size_bytes > free_bytes)
        return gpu_services->fail(JSTATUS_MEMORY_ERROR,
                                  "%s: %zu bytes of managed memory, and only %zu of %zu bytes are "
                                  "free: a device that has to page can hang",
                                  device->name, size_bytes, free_bytes, total_bytes);

    return JSTATUS_SUCCESS;
}

/* A larger block, and a pointer in it that is aligned. */
static jstatus_t memory_take_shifted(jdevice_t *device, jmemory_kind_t kind, size_t size_bytes,
                                     size_t alignment, void **pointer) {
    memory_shifted_t *block = (memory_shifted_t *)gpu_services->metadata_zalloc(sizeof *block);
    if (block == nullptr)
        return gpu_services->fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping",
                                  device->name);

    jstatus_t status = memory_take(device, kind, size_bytes + alignment, &block->taken);
    if (status != JSTATUS_SUCCESS) {
        gpu_services->metadata_free(block);
        return status;
    }

    block->given =
        (void *)(((uintptr_t)block->taken + alignment - 1) & ~((uintptr_t)alignment - 1));
    *pointer = block->given;
    memory_remember(block);
    return JSTATUS_SUCCESS;
}

/* ---- Operations ---- */

jstatus_t gpu_get_memory_info(jdevice_t *device, size_t *free_bytes, size_t *total_bytes) {
    GPU_ENTER(device);
    gpu_relaxed relaxed;
    GPU_TRY(device, gpuMemGetInfo(free_bytes, total_bytes));
    return JSTATUS_SUCCESS;
}

jstatus_t gpu_allocate(jdevice_t *device, jmemory_kind_t kind, size_t size_bytes, size_t alignment,
                       void **pointer) {
    GPU_ENTER(device);
    gpu_relaxed relaxed;

    jstatus_t status = JSTATUS_SUCCESS;
    if (kind == JMEMORY_MANAGED)
        status = memory_allow_managed(device, size_bytes);

    void *memory = nullptr;
    if (status == JSTATUS_SUCCESS)
        status = memory_take(device, kind, size_bytes, &memory);

    if (status == JSTATUS_SUCCESS && (uintptr_t)memory % alignment != 0) {
        status = memory_give(device, kind, memory);
        if (status == JSTATUS_SUCCESS)
            status = memory_take_shifted(device, kind, size_bytes, alignment, &memory);
    }

    if (status == JSTATUS_SUCCESS)
        *pointer = memory;
    return status;
}

jstatus_t gpu_deallocate(jdevice_t *device, jmemory_kind_t kind, void *pointer, size_t) {
    GPU_ENTER(device);
    gpu_relaxed relaxed;

    /* Before the runtime can hand the address to another thread. */
    memory_shifted_t *block = memory_forget(pointer);
    jstatus_t status = memory_give(device, kind, block != nullptr ? block->taken : pointer);

    if (status != JSTATUS_SUCCESS && block != nullptr) {
        memory_remember(block); /* it is still the caller's */
        return status;
    }
    gpu_services->metadata_free(block);
    return status;
}

static jstatus_t memory_allow_ordered(jdevice_t *device, jstream_t *stream) {
    if (!gpu_device(device)->properties.has_stream_ordered)
        return gpu_services->fail(JSTATUS_NOT_IMPLEMENTED, "%s has no memory in stream order",
                                  device->name);
    return gpu_require_no_capture(device, stream,
                                  "memory cannot be taken or given back in stream order");
}

jstatus_t gpu_allocate_ordered(jdevice_t *device, jstream_t *stream, size_t size_bytes,
                               void **pointer) {
    GPU_ENTER(device);
    gpu_relaxed relaxed;
    JTRY_RETURN(memory_allow_ordered(device, stream));

#if GPU_HAS_MEMORY_POOLS
    void *memory = nullptr;
    gpuError_t error = gpuMallocAsync(&memory, size_bytes, gpu_native(stream));
    if (error != gpuSuccess)
        return memory_fail(device, error, JMEMORY_STREAM_ORDERED, size_bytes);
    *pointer = memory;
#else
    (void)size_bytes, (void)pointer;
#endif

    return JSTATUS_SUCCESS;
}

jstatus_t gpu_deallocate_ordered(jdevice_t *device, jstream_t *stream, void *pointer, size_t) {
    GPU_ENTER(device);
    gpu_relaxed relaxed;
    JTRY_RETURN(memory_allow_ordered(device, stream));

#if GPU_HAS_MEMORY_POOLS
    GPU_TRY(device, gpuFreeAsync(pointer, gpu_native(stream)));
#else
    (void)pointer;
#endif

    return JSTATUS_SUCCESS;
}
