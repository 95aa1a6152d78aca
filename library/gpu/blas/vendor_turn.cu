/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Handles of the vendor's library, workspaces, and whose turn it is.
 *
 * The vendor's handle has a stream, a workspace and a pointer mode, which its next call uses; so a
 * call of ours is a turn: settings, of which those that differ from the last turn's are said, and
 * call under one lock. What NVIDIA's manual says decides the rest ("cublasSetStream",
 * "cublasSetWorkspace", "Results reproducibility", "CUDA Graphs support"):
 *
 *   - A workspace that the library takes by itself comes and goes with cudaMalloc or, in a capture,
 *     becomes nodes of the graph that take memory. One that is given keeps it from taking any.
 *     Setting the stream puts the library's own back, so the workspace is given again after the
 *     stream.
 *   - Two streams may not share a workspace, and with a workspace and a handle for each stream the
 *     same call has the same bits whatever other streams do.
 *
 *        thread 1 -- stream A --\                    .----------.-------------.
 *                                +-- turn ---------> | handle A | workspace A |
 *        thread 2 -- stream A --/                    :----------:-------------:
 *        thread 3 -- stream B ------ turn ---------> | handle B | workspace B |
 *                                                    '----------'-------------'
 *                 -- stream B in capture 7 -------------- " ---- workspace of capture 7 and B
 *                 -- stream C in capture 8, its first call - " - workspace of capture 8 and C
 *
 *     An entry, a handle and its workspace, is found by (device, stream). It is made at the
 *     stream's first call, and handed on when the stream is destroyed.
 *   - A graph may run beside the stream it was captured from, so a capture has workspaces of its
 *     own. The graph keeps them until it and all that was made of it are gone; then the next
 *     capture gets them. Where graphs own nothing, or the library cannot be given a workspace, what
 *     is captured is done by jalloc's kernels.
 *   - Nothing is promised of making a handle during a capture, and making one then is known to fail
 *     (pytorch#99397). So none is: a stream that comes to its first call in a capture has a turn of
 *     another stream's handle, with the workspace of the capture. Where the device has no handle
 *     yet, jalloc's kernels do the work, as they do where the library cannot make one beside a
 *     capture.
 *
 * So the first BLAS call on a stream takes memory (4 to 32 MiB by architecture, and the handle's
 * own), and the first in a capture a workspace; no later one takes, frees or waits. A program that
 * cannot have that inside a call warms the stream up by any product of matrices; before a capture
 * any stream of the device will do. */

#include "gpu/blas/vendor_blas.h"

#if GPU_HAS_BLAS

#include <atomic>
#include <mutex>
#include <new>

#include "gpu/blas/vendor_entry.h"
#include "gpu/blas/vendor_turn.h"

/* ---- What is kept for a stream, and for a capture ---- */

struct vendor_settings_t {
    gpuStream_t stream;
    void *workspace;
    gpublasPointerMode_t mode;
};

struct vendor_stream_t {
    vendor_stream_t *next; /* vendor_entry.h */
    gpu_device_t *device;
    gpuStream_t stream;
    bool taken;
    std::atomic<bool> ready; /* for turns of any stream: handle and constants are there */
    /* `settings` is what the handle was told in its last turn, which was this stream's */
    std::atomic<bool> settled;
    std::mutex turn; /* of the rest */
    bool has_handle;
    gpublasHandle_t handle;
    void *workspace;       /* NULL: no call outside of captures yet */
    const char *constants; /* vendor_constants on the device */
    vendor_settings_t settings;
};

/* For as long as the process lives, too. */
struct vendor_capture_t {
    vendor_capture_t *next;
    gpu_device_t *device;
    uint64_t capture;
    gpuStream_t stream;
    std::atomic<bool> free; /* no graph keeps it; set from a thread of the runtime */
    void *workspace;
};

static std::mutex vendor_mutex; /* of the lists, not of what they hold */
static vendor_stream_t *vendor_streams;
static vendor_capture_t *vendor_captures;

static __device__ const vendor_constants_t vendor_constants = {
    {{-1, 0}, {0, 0}, {1, 0}}, {{-1, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}}};

static jstatus_t vendor_no_memory(const jdevice_t *device) {
    return gpu_services->fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping", device->name);
}

static vendor_stream_t *vendor_find_stream(gpu_device_t *device, gpuStream_t stream) {
    std::lock_guard<std::mutex> lock(vendor_mutex);
    return vendor_find_entry(&vendor_streams, device, stream);
}

/* Whose handle a stream in a capture may use: its own entry's; else another's (lent), preferably
 * one that no stream has taken. NULL: the device has none. */
static vendor_stream_t *vendor_find_ready(gpu_device_t *device, gpuStream_t stream, bool *lent) {
    std::lock_guard<std::mutex> lock(vendor_mutex);
    vendor_stream_t *found = nullptr;

    for (vendor_stream_t *entry = vendor_streams; entry != nullptr; entry = entry->next) {
        if (entry->device != device || !entry->ready.load())
            continue;
        *lent = !entry->taken || entry->stream != stream;
        if (!*lent)
            return entry;
        if (found == nullptr || !entry->taken)
            found = entry;
    }

    return found;
}

void gpu_vendor_forget_stream(gpu_device_t *device, gpuStream_t stream, bool idle) {
    std::lock_guard<std::mutex> lock(vendor_mutex);
    vendor_leave_entry(vendor_streams, device, stream, idle, [](vendor_stream_t *entry) {
        entry->settled.store(false); /* the next stream may have its name */
    });
}

static void vendor_release_capture(void *object) { ((vendor_capture_t *)object)->free.store(true); }

static jstatus_t vendor_take_workspace(gpu_device_t *device, void **workspace) {
    if (*workspace != nullptr)
        return JSTATUS_SUCCESS;
    return gpu_allocate(&device->base, JMEMORY_DEVICE,
                        GPU_BLAS_WORKSPACE_BYTES(device->properties.architecture), 256, workspace);
}

/* The workspace of a stream in a capture, which the graph keeps from then on. Not implemented:
 * graphs keep nothing. */
static jstatus_t vendor_capture_workspace(const gpu_call_t *call, uint64_t capture,
                                          void **workspace) {
    gpu_device_t *device = gpu_device(call->device);
    vendor_capture_t *entry = nullptr, *left = nullptr;

    if (!device->properties.has_capture_ownership)
        return JSTATUS_NOT_IMPLEMENTED;

    std::lock_guard<std::mutex> lock(vendor_mutex);

    for (entry = vendor_captures; entry != nullptr; entry = entry->next) {
        if (entry->device != device)
            continue;
        if (entry->free.load())
            left = entry;
        else if (entry->capture == capture && entry->stream == call->stream)
            break;
    }

    if (entry != nullptr) {
        *workspace = entry->workspace;
        return JSTATUS_SUCCESS;
    }

    if (left == nullptr) {
        left = new (std::nothrow) vendor_capture_t();
        if (left == nullptr)
            return vendor_no_memory(call->device);
        left->device = device;
        left->free.store(true);
        left->next = vendor_captures;
        vendor_captures = left;
    }

    JTRY_RETURN(vendor_take_workspace(device, &left->workspace));

    left->capture = capture;
    left->stream = call->stream;
    left->free.store(false);

    jstatus_t status =
        gpu_stream_keep_in_capture(call->device, call->jstream, vendor_release_capture, left);
    if (status != JSTATUS_SUCCESS)
        left->free.store(true);

    *workspace = left->workspace;
    return status;
}

/* ---- A turn ---- */

vendor_turn::vendor_turn(const gpu_call_t *call, gpublasPointerMode_t mode)
    : status(JSTATUS_SUCCESS), entry(nullptr), lent(false), before(gpuPeekAtLastError()) {
    if (call->stream == GPU_BLAS_STREAM_PER_THREAD) {
        /* One name for as many streams as there are threads. */
        status = JSTATUS_NOT_IMPLEMENTED;
        return;
    }

    uint64_t capture = 0;
    status = gpu_call_capture(call, &capture);
    if (status != JSTATUS_SUCCESS)
        return;

    gpu_device_t *device = gpu_device(call->device);
    entry = capture != 0 ? vendor_find_ready(device, call->stream, &lent)
                         : vendor_find_stream(device, call->stream);

    if (entry == nullptr) {
        status = capture != 0 ? JSTATUS_NOT_IMPLEMENTED : vendor_no_memory(call->device);
        return;
    }

    entry->turn.lock();
    status = set_up(call, mode, capture);
}

vendor_turn::~vendor_turn() {
    if (entry != nullptr)
        entry->turn.unlock();
}

gpublasHandle_t vendor_turn::handle() const { return entry->handle; }

const char *vendor_turn::constants() const { return entry->constants; }

jstatus_t vendor_turn::check(gpublasStatus_t code, const char *function) const {
    if (code == GPU_BLAS_ENUM_(STATUS_SUCCESS))
        return JSTATUS_SUCCESS;

    if (gpuPeekAtLastError() != before)
        (void)gpuGetLastError(); /* what failed below it */

    jstatus_t failed = JSTATUS_DEVICE_ERROR;
    if (code == GPU_BLAS_ENUM_(STATUS_NOT_SUPPORTED) ||
        code == GPU_BLAS_ENUM_(STATUS_ARCH_MISMATCH) ||
        code == GPU_BLAS_ENUM_(STATUS_NOT_INITIALIZED))
        return JSTATUS_NOT_IMPLEMENTED;

    if (code == GPU_BLAS_ENUM_(STATUS_ALLOC_FAILED))
        failed = JSTATUS_MEMORY_ERROR;
    else if (code == GPU_BLAS_ENUM_(STATUS_INVALID_VALUE))
        failed = JSTATUS_INTERNAL_ERROR;

    return gpu_services->fail(failed, "%s: %s: %s (%d)", entry->device->base.name, function,
                              GPU_BLAS_STATUS_TEXT(vendor_api, code), (int)code);
}

#define VENDOR_TRY(function, ...)                                                                  \
    do {                                                                                           \
        jstatus_t status_ =                                                                        \
            check(vendor_api.function(__VA_ARGS__), GPU_BLAS_STRING(GPU_BLAS_(function)));         \
        if (status_ != JSTATUS_SUCCESS)                                                            \
            return status_;                                                                        \
    } while (0)

jstatus_t vendor_turn::set_up(const gpu_call_t *call, gpublasPointerMode_t mode, uint64_t capture) {
    jstatus_t found = JSTATUS_SUCCESS;
    void *workspace = nullptr;

    if (capture != 0) {
        if (vendor_api.SetWorkspace == nullptr)
            return JSTATUS_NOT_IMPLEMENTED;
        found = vendor_capture_workspace(call, capture, &workspace);
    } else if (vendor_api.SetWorkspace != nullptr) {
        found = vendor_take_workspace(entry->device, &entry->workspace);
        workspace = entry->workspace;
    }

    if (found == JSTATUS_SUCCESS && !entry->ready.load())
        found = make_ready(call);

    return found == JSTATUS_SUCCESS ? settle(vendor_settings_t{call->stream, workspace, mode})
                                    : found;
}

/* What is missing is made; a failure leaves the rest to the next call. */
jstatus_t vendor_turn::make_ready(const gpu_call_t *call) {
    if (entry->constants == nullptr) {
        void *address = nullptr;
        GPU_TRY(call->device, gpuGetSymbolAddress(&address, vendor_constants));
        entry->constants = (const char *)address;
    }

    if (!entry->has_handle) {
        gpublasHandle_t made;
        VENDOR_TRY(Create, &made);
        entry->handle = made;
        entry->has_handle = true;
    }

    const jstatus_t prepared =
        check(GPU_BLAS_PREPARE(vendor_api, entry->handle), "preparing " GPU_BLAS_NAME);
    entry->ready.store(prepared == JSTATUS_SUCCESS);
    return prepared;
}

/* Says to the handle what it was not told in its last turn. */
jstatus_t vendor_turn::settle(const vendor_settings_t &wanted) {
    const bool settled = entry->settled.exchange(false); /* nor is it when one of these fails */
    const bool streams = settled && entry->settings.stream == wanted.stream;

    if (!streams)
        VENDOR_TRY(SetStream, entry->handle, wanted.stream);

    if (vendor_api.SetWorkspace != nullptr &&
        !(streams && entry->settings.workspace == wanted.workspace))
        VENDOR_TRY(SetWorkspace, entry->handle, wanted.workspace,
                   GPU_BLAS_WORKSPACE_BYTES(entry->device->properties.architecture));

    if (!(settled && entry->settings.mode == wanted.mode))
        VENDOR_TRY(SetPointerMode, entry->handle, wanted.mode);

    entry->settings = wanted;
    entry->settled.store(!lent);
    return JSTATUS_SUCCESS;
}

#endif
