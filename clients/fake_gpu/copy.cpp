/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Copies and fills. Where each side lies is found from its address.
 *
 *   from pageable memory to a device     the source is read before the call returns (staged)
 *   to pageable memory                   the call returns when the copy is done, so it waits for
 *                                        the stream
 *   all others                           both sides are used when the stream gets there
 *
 * In a capture nothing is staged or waited for: the graph holds the addresses. */

#include "runtime.h"

#include <cstring>

namespace fake {

static bool copy_is_device(const void *pointer) {
    bool wild = false;
    allocation_t *allocation = find_allocation(pointer, &wild);
    return allocation != nullptr ? allocation->kind != memory_kind_t::pinned : wild;
}

static bool copy_is_pageable(const void *pointer) {
    bool wild = false;
    return find_allocation(pointer, &wild) == nullptr && !wild;
}

static gpuError_t copy_check_kind(void *destination, const void *source, gpuMemcpyKind kind) {
    const bool to = copy_is_device(destination), from = copy_is_device(source);
    switch (kind) {
    case gpuMemcpyHostToHost: return !to && !from ? gpuSuccess : gpuErrorInvalidValue;
    case gpuMemcpyHostToDevice: return to && !from ? gpuSuccess : gpuErrorInvalidValue;
    case gpuMemcpyDeviceToHost: return !to && from ? gpuSuccess : gpuErrorInvalidValue;
    case gpuMemcpyDeviceToDevice: return to && from ? gpuSuccess : gpuErrorInvalidValue;
    case gpuMemcpyDefault: return gpuSuccess;
    }
    return gpuErrorInvalidMemcpyDirection;
}

static gpuError_t copy_submit(guard_t &guard, const std::shared_ptr<stream_t> &stream,
                              void *destination, const void *source, size_t bytes,
                              gpuMemcpyKind kind) {
    if (stream == nullptr)
        return gpuErrorInvalidResourceHandle;
    if (bytes == 0)
        return gpuSuccess;
    if (destination == nullptr || source == nullptr)
        return gpuErrorInvalidValue;

    gpuError_t error = copy_check_kind(destination, source, kind);
    if (error != gpuSuccess)
        return error;

    const bool captured = stream->capture != nullptr, pageable = copy_is_pageable(destination);
    std::shared_ptr<std::vector<char>> staged;
    if (!captured && !pageable && copy_is_pageable(source))
        staged =
            std::make_shared<std::vector<char>>((const char *)source, (const char *)source + bytes);

    operation_t operation;
    const int device = stream->device;
    operation.action = [=]() -> gpuError_t {
        gpuError_t failed = check_range(destination, bytes, device, "copy to");
        if (failed == gpuSuccess && staged == nullptr)
            failed = check_range(source, bytes, device, "copy from");
        if (failed == gpuSuccess)
            memmove(destination, staged != nullptr ? staged->data() : source, bytes);
        return failed;
    };

    error = submit(stream, std::move(operation));

    if (error == gpuSuccess && !captured && pageable) {
        note_wait();
        reach(guard, point_t{stream, stream->issued});
    }
    return error;
}

static gpuError_t copy_fill(const std::shared_ptr<stream_t> &stream, void *destination, int value,
                            size_t bytes) {
    if (stream == nullptr)
        return gpuErrorInvalidResourceHandle;
    if (bytes == 0)
        return gpuSuccess;
    if (copy_is_pageable(destination))
        return gpuErrorInvalidValue;

    operation_t operation;
    const int device = stream->device;
    operation.action = [=]() -> gpuError_t {
        gpuError_t failed = check_range(destination, bytes, device, "fill");
        if (failed == gpuSuccess)
            memset(destination, value, bytes);
        return failed;
    };

    return submit(stream, std::move(operation));
}

} // namespace fake

using namespace fake;

gpuError_t gpuMemcpyAsync(void *destination, const void *source, size_t bytes, gpuMemcpyKind kind,
                          gpuStream_t stream) {
    return call("MemcpyAsync", PLAIN, [=](guard_t &guard) {
        return copy_submit(guard, find_stream(stream), destination, source, bytes, kind);
    });
}

gpuError_t gpuMemsetAsync(void *destination, int value, size_t bytes, gpuStream_t stream) {
    return call("MemsetAsync", PLAIN, [=](guard_t &) {
        return copy_fill(find_stream(stream), destination, value, bytes);
    });
}

gpuError_t gpuMemset(void *destination, int value, size_t bytes) {
    return call("Memset", UNSAFE, [=](guard_t &) {
        return copy_fill(find_stream(nullptr), destination, value, bytes);
    });
}
