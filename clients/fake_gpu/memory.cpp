/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Memory of all kinds: one range of addresses, taken from the front to the back and from the front
 * again when the back is reached, so that what was freed stays inaccessible for long.
 *
 *   | fence | slack | data ............ | tail | fence |
 *     none                                 < 256   none
 *
 * The data end with the pages, but for what the alignment of 256 bytes leaves, and slack and tail
 * are looked at when the memory is freed. Memory of a device is accessible only while a copy or a
 * kernel needs it: copies say which, kernels by the signal of their first access (execute.cpp).
 * Pages are closed again before the program goes on. Pinned and managed memory is always
 * accessible. */

#include "runtime.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

#define MEMORY_PAGE ((size_t)4096)
/* Before and after each allocation; addresses cost nothing. */
#define MEMORY_FENCE ((size_t)64 << 10)
#define MEMORY_ALIGNMENT ((size_t)256)
/* Addresses alone; a quarter of it where there is no room for that. */
#define MEMORY_RANGE_BYTES ((size_t)1 << 38)
#define MEMORY_FRESH 0xFF
/* Longer allocations are filled at both ends alone: tests that take all there is need no such
 * machine. */
#define MEMORY_FILL_BYTES ((size_t)64 << 20)
#define MEMORY_FILL_END_BYTES ((size_t)1 << 20)

namespace fake {

static char *memory_begin, *memory_end, *memory_next;
/* What close_memory closes. Room is made beforehand, for the handler of signals. */
static std::vector<allocation_t *> &memory_open = *new std::vector<allocation_t *>;

static bool memory_reserve() {
    size_t bytes = MEMORY_RANGE_BYTES;

    for (; memory_begin == nullptr && bytes >= ((size_t)1 << 30); bytes /= 4) {
        void *range =
            mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED)
            continue;
        memory_begin = memory_next = (char *)range;
        memory_end = memory_begin + bytes;
    }
    return memory_begin != nullptr;
}

/* So many bytes of addresses that nothing live uses, NULL: there are none. */
static char *memory_find_addresses(size_t bytes) {
    if (!memory_reserve() || bytes > (size_t)(memory_end - memory_begin) / 2)
        return nullptr;

    for (int round = 0; round < 2; ++round) {
        while (bytes <= (size_t)(memory_end - memory_next)) {
            const std::map<uintptr_t, allocation_t> &memory = state().memory;
            auto after = memory.lower_bound((uintptr_t)memory_next);
            if (after == memory.end() ||
                (uintptr_t)memory_next + bytes <= after->first - MEMORY_FENCE) {
                char *addresses = memory_next;
                memory_next += bytes;
                return addresses;
            }
            memory_next = after->second.pages + after->second.pages_bytes + MEMORY_FENCE;
        }
        memory_next = memory_begin;
    }
    return nullptr;
}

/* Makes the pages and fills them. False: the machine has no memory. */
static bool memory_enliven(allocation_t *allocation) {
    if (mprotect(allocation->pages, allocation->pages_bytes, PROT_READ | PROT_WRITE) != 0)
        return false;

    if (allocation->pages_bytes <= MEMORY_FILL_BYTES) {
        memset(allocation->pages, MEMORY_FRESH, allocation->pages_bytes);
    } else {
        memset(allocation->pages, MEMORY_FRESH, MEMORY_FILL_END_BYTES);
        memset(allocation->pages + allocation->pages_bytes - MEMORY_FILL_END_BYTES, MEMORY_FRESH,
               MEMORY_FILL_END_BYTES);
    }

    allocation->live = true;
    if (allocation->kind == memory_kind_t::device)
        mprotect(allocation->pages, allocation->pages_bytes, PROT_NONE);
    return true;
}

static gpuError_t memory_take(void **pointer, size_t bytes, memory_kind_t kind, bool ordered,
                              allocation_t **made) {
    runtime_t &rt = state();
    if (pointer == nullptr)
        return gpuErrorInvalidValue;

    const int device = current_device();
    const bool counted = kind == memory_kind_t::device;
    if (counted && (bytes > rt.total_bytes || rt.held_bytes[device] > rt.total_bytes - bytes))
        return gpuErrorOutOfMemory;
    if (bytes > (size_t)(MEMORY_RANGE_BYTES / 2))
        return gpuErrorOutOfMemory;

    const size_t rounded = (bytes + MEMORY_ALIGNMENT - 1) & ~(MEMORY_ALIGNMENT - 1);
    const size_t pages_bytes = (rounded + MEMORY_PAGE - 1) & ~(MEMORY_PAGE - 1);
    char *addresses = memory_find_addresses(pages_bytes + 2 * MEMORY_FENCE);
    if (addresses == nullptr)
        return gpuErrorOutOfMemory;

    allocation_t allocation{};
    allocation.pages = addresses + MEMORY_FENCE;
    allocation.pages_bytes = pages_bytes;
    allocation.data = allocation.pages + pages_bytes - rounded;
    allocation.bytes = bytes;
    allocation.device = device;
    allocation.kind = kind;
    allocation.ordered = ordered;

    if (!ordered && !memory_enliven(&allocation))
        return gpuErrorOutOfMemory;

    allocation_t *kept = &(rt.memory[(uintptr_t)allocation.pages] = allocation);
    memory_open.reserve(rt.memory.size());

    if (counted)
        rt.held_bytes[device] += bytes;
    rt.live_bytes += bytes;

    *pointer = allocation.data;
    if (made != nullptr)
        *made = kept;
    return gpuSuccess;
}

/* Whether slack and tail are as they were. */
static gpuError_t memory_check_rims(allocation_t *allocation) {
    const unsigned char *first = (unsigned char *)allocation->pages,
                        *data = (unsigned char *)allocation->data;
    const unsigned char *after = data + allocation->bytes, *last = first + allocation->pages_bytes;

    for (const unsigned char *p = first; p < data; ++p)
        if (*p != MEMORY_FRESH)
            return fault(gpuErrorIllegalAddress,
                         "%zu bytes before an allocation of %zu bytes were written to",
                         (size_t)(data - p), allocation->bytes);

    for (const unsigned char *p = after; p < last; ++p)
        if (*p != MEMORY_FRESH)
            return fault(gpuErrorIllegalAddress,
                         "byte %zu of an allocation of %zu bytes was written to",
                         (size_t)(p - data), allocation->bytes);
    return gpuSuccess;
}

/* Gives the pages back. The address stays out of use until the range has been gone through. */
static gpuError_t memory_give(allocation_t *allocation) {
    runtime_t &rt = state();
    gpuError_t error = gpuSuccess;
    if (allocation->live) {
        open_allocation(allocation);
        error = memory_check_rims(allocation);
        close_memory();
    }

    if (mmap(allocation->pages, allocation->pages_bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        mprotect(allocation->pages, allocation->pages_bytes, PROT_NONE);

    if (allocation->kind == memory_kind_t::device)
        rt.held_bytes[allocation->device] -= allocation->bytes;
    if (!allocation->leaving)
        rt.live_bytes -= allocation->bytes;
    rt.memory.erase((uintptr_t)allocation->pages);
    return error;
}

allocation_t *find_allocation(const void *pointer, bool *wild) {
    const char *address = (const char *)pointer;
    if (wild != nullptr)
        *wild = memory_begin != nullptr && address >= memory_begin && address < memory_end;

    std::map<uintptr_t, allocation_t> &memory = state().memory;
    auto after = memory.upper_bound((uintptr_t)address);
    if (after == memory.begin())
        return nullptr;

    allocation_t *allocation = &std::prev(after)->second;
    return address < allocation->pages + allocation->pages_bytes ? allocation : nullptr;
}

void open_allocation(allocation_t *allocation) {
    if (allocation->kind != memory_kind_t::device || allocation->open || !allocation->live)
        return;

    mprotect(allocation->pages, allocation->pages_bytes, PROT_READ | PROT_WRITE);
    allocation->open = true;
    memory_open.push_back(allocation);
}

void close_memory() {
    for (allocation_t *allocation : memory_open) {
        mprotect(allocation->pages, allocation->pages_bytes, PROT_NONE);
        allocation->open = false;
    }
    memory_open.clear();
}

bool admit(void *address, int device) {
    allocation_t *allocation = find_allocation(address, nullptr);
    if (allocation == nullptr || !allocation->live || allocation->kind != memory_kind_t::device ||
        allocation->open || allocation->device != device)
        return false;
    open_allocation(allocation);
    return true;
}

void describe(const void *pointer, char *text, size_t text_bytes) {
    bool wild = false;
    allocation_t *allocation = find_allocation(pointer, &wild);
    const char *address = (const char *)pointer;
    if (allocation != nullptr && !allocation->live) {
        snprintf(text, text_bytes, "%p, in memory whose stream has not come to its allocation",
                 pointer);
    } else if (allocation != nullptr) {
        snprintf(text, text_bytes, "%p, byte %td of %zu of device %d's", pointer,
                 address - allocation->data, allocation->bytes, allocation->device);
    } else if (wild) {
        allocation_t *before = find_allocation(address - MEMORY_FENCE, nullptr);
        allocation_t *after = find_allocation(address + MEMORY_FENCE, nullptr);
        if (before != nullptr)
            snprintf(text, text_bytes, "%p, byte %td of %zu", pointer, address - before->data,
                     before->bytes);
        else if (after != nullptr)
            snprintf(text, text_bytes, "%p, %td bytes before %zu", pointer, after->data - address,
                     after->bytes);
        else
            snprintf(text, text_bytes, "%p, where nothing is, or not any more", pointer);
    } else {
        snprintf(text, text_bytes, "%p, which is no memory of a device", pointer);
    }
}

gpuError_t check_range(const void *pointer, size_t bytes, int device, const char *what) {
    bool wild = false;
    allocation_t *allocation = find_allocation(pointer, &wild);
    char where[160];

    if (allocation == nullptr && !wild)
        return gpuSuccess;

    (void)device; /* copies reach every device */
    if (allocation == nullptr || !allocation->live || (const char *)pointer < allocation->data ||
        bytes > allocation->bytes - (size_t)((const char *)pointer - allocation->data)) {
        describe(pointer, where, sizeof where);
        return fault(gpuErrorIllegalAddress, "%s of %zu bytes at %s", what, bytes, where);
    }

    open_allocation(allocation);
    return gpuSuccess;
}

static gpuError_t memory_free(const char *name, void *pointer, bool device) {
    return call(name, GIVES | WAITS | UNSAFE, [=](guard_t &guard) -> gpuError_t {
        if (pointer == nullptr)
            return gpuSuccess;

        allocation_t *allocation = find_allocation(pointer, nullptr);
        if (allocation == nullptr || allocation->data != pointer || allocation->leaving ||
            (allocation->kind == memory_kind_t::pinned) == device)
            return gpuErrorInvalidValue;

        reach_device(guard, allocation->device);
        allocation = find_allocation(pointer, nullptr); /* other threads ran meanwhile */
        return allocation != nullptr ? memory_give(allocation) : gpuErrorInvalidValue;
    });
}

static gpuError_t memory_allocate(const char *name, void **pointer, size_t bytes,
                                  memory_kind_t kind) {
    return call(name, TAKES | UNSAFE, [=](guard_t &) -> gpuError_t {
        if (pointer == nullptr)
            return gpuErrorInvalidValue;
        if (bytes == 0) {
            *pointer = nullptr;
            return kind == memory_kind_t::managed ? gpuErrorInvalidValue : gpuSuccess;
        }

        return memory_take(pointer, bytes, kind, false, nullptr);
    });
}

} // namespace fake

using namespace fake;

gpuError_t gpuMalloc(void **pointer, size_t bytes) {
    return memory_allocate("Malloc", pointer, bytes, memory_kind_t::device);
}

gpuError_t gpuMallocManaged(void **pointer, size_t bytes, unsigned flags) {
    (void)flags;
    return memory_allocate("MallocManaged", pointer, bytes, memory_kind_t::managed);
}

gpuError_t gpuHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    (void)flags;
    return memory_allocate("HostAlloc", pointer, bytes, memory_kind_t::pinned);
}

gpuError_t gpuFree(void *pointer) { return memory_free("Free", pointer, true); }
gpuError_t gpuFreeHost(void *pointer) { return memory_free("FreeHost", pointer, false); }

/* Memory in stream order. The address is known at once; the pages come and go when the stream gets
 * there. */

gpuError_t gpuMallocAsync(void **pointer, size_t bytes, gpuStream_t handle) {
    return call("MallocAsync", TAKES, [=](guard_t &guard) -> gpuError_t {
        std::shared_ptr<stream_t> stream = find_stream(handle);
        if (stream == nullptr || stream->device != current_device())
            return gpuErrorInvalidResourceHandle;
        if (pointer == nullptr || bytes == 0)
            return gpuErrorInvalidValue;

        if (stream->capture != nullptr)
            return gpuErrorNotSupported;

        allocation_t *made = nullptr;
        gpuError_t error = memory_take(pointer, bytes, memory_kind_t::device, true, &made);
        if (error == gpuErrorOutOfMemory && !stream->busy) {
            /* What was freed before on this stream may serve. */
            reach(guard, point_t{stream, stream->issued}, false);
            error = memory_take(pointer, bytes, memory_kind_t::device, true, &made);
        }

        if (error != gpuSuccess)
            return error;

        const void *data = made->data;
        operation_t operation;
        operation.always = true;
        operation.action = [data]() -> gpuError_t {
            allocation_t *allocation = find_allocation(data, nullptr);
            if (allocation == nullptr || memory_enliven(allocation))
                return gpuSuccess;
            return fault(gpuErrorOutOfMemory,
                         "this machine has no memory for %zu bytes of the device's",
                         allocation->bytes);
        };

        return submit(stream, std::move(operation));
    });
}

gpuError_t gpuFreeAsync(void *pointer, gpuStream_t handle) {
    return call("FreeAsync", GIVES, [=](guard_t &) -> gpuError_t {
        std::shared_ptr<stream_t> stream = find_stream(handle);
        if (stream == nullptr)
            return gpuErrorInvalidResourceHandle;
        if (pointer == nullptr)
            return gpuSuccess;

        allocation_t *allocation = find_allocation(pointer, nullptr);
        if (allocation == nullptr || allocation->data != pointer || !allocation->ordered ||
            allocation->leaving)
            return gpuErrorInvalidValue;
        if (stream->capture != nullptr)
            return gpuErrorNotSupported;

        operation_t operation;
        operation.always = true;
        operation.action = [pointer]() -> gpuError_t {
            allocation_t *leaving = find_allocation(pointer, nullptr);
            if (!leaving->live)
                return fault(gpuErrorIllegalAddress,
                             "FreeAsync before the stream of the allocation has come to it");
            return memory_give(leaving);
        };

        gpuError_t error = submit(stream, std::move(operation));
        if (error == gpuSuccess) {
            allocation->leaving = true;
            state().live_bytes -= allocation->bytes;
        }

        return error;
    });
}

/* A __device__ variable is an ordinary one for kernels. What copies and the vendor's BLAS get is a
 * copy of it in each device's memory, which is enough for constants. */
gpuError_t fake_gpu_symbol_address(void **pointer, const void *symbol, size_t bytes) {
    return call("GetSymbolAddress", PLAIN, [=](guard_t &) -> gpuError_t {
        static std::map<std::pair<const void *, int>, void *> &copies =
            *new std::map<std::pair<const void *, int>, void *>;
        void *&copy = copies[{symbol, current_device()}];

        if (copy == nullptr) {
            allocation_t *made = nullptr;
            gpuError_t error = memory_take(&copy, bytes, memory_kind_t::device, false, &made);
            if (error != gpuSuccess)
                return error;
            state().live_bytes -= bytes; /* the module's image, not the program's */
            state().held_bytes[current_device()] -= bytes;
            open_allocation(made);
            memcpy(copy, symbol, bytes);
        }

        *pointer = copy;
        return gpuSuccess;
    });
}

gpuError_t gpuMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    return call("MemGetInfo", PLAIN, [=](guard_t &) -> gpuError_t {
        if (free_bytes == nullptr || total_bytes == nullptr)
            return gpuErrorInvalidValue;

        runtime_t &rt = state();
        const size_t held = rt.held_bytes[current_device()];
        *free_bytes = held < rt.total_bytes ? rt.total_bytes - held : 0;
        *total_bytes = rt.total_bytes;
        return gpuSuccess;
    });
}
