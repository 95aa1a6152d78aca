/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The fake vendor's BLAS: its state, its handles, how it is found, and what tests can tell it. What
 * computes is in fake_blas_level2.cpp, fake_blas_level3.cpp and fake_blas_gemm.cpp. */

#include "gpu/blas/vendor_blas.h"

#if GPU_HAS_BLAS

#include <sched.h>

#include <cstring>

#include "fake_blas_call.h"
#include "fake_blas_control.h"

using namespace fake;

blas_t &fake::blas() {
    static blas_t *const made = new blas_t; /* never destroyed, as the runtime's state */
    return *made;
}

status_t fake::blas_status(gpuError_t error) {
    return error == gpuSuccess            ? FAKEBLAS_STATUS_SUCCESS
           : error == gpuErrorOutOfMemory ? FAKEBLAS_STATUS_ALLOC_FAILED
                                          : FAKEBLAS_STATUS_EXECUTION_FAILED;
}

bool fake::blas_is_host(const void *pointer) {
    bool wild = false;
    return find_allocation(pointer, &wild) == nullptr && !wild;
}

gpuError_t fake::blas_look(const void *pointer, size_t bytes, size_t alignment, int device,
                           const char *what) {
    if (bytes == 0)
        return gpuSuccess;
    if (blas_is_host(pointer))
        return fault(gpuErrorIllegalAddress, "%s, %p, is in the host's memory", what, pointer);
    if ((uintptr_t)pointer % alignment != 0)
        return fault(gpuErrorIllegalAddress, "%s, %p, is not a multiple of %zu", what, pointer,
                     alignment);
    return check_range(pointer, bytes, device, what);
}

status_t frame_t::use_workspace() {
    if (handle->workspace == nullptr)
        return FAKEBLAS_STATUS_SUCCESS;

    gpuError_t error =
        blas_look(handle->workspace, handle->workspace_bytes, 256, handle->device, "the workspace");
    const uint64_t capture = stream->capture != nullptr ? stream->capture->id + 1 : 0;
    auto found = blas().workspaces.find(handle->workspace);
    if (error == gpuSuccess && found != blas().workspaces.end()) {
        const workspace_user_t &user = found->second;
        if ((user.capture != 0) != (capture != 0))
            error = fault(gpuErrorLaunchFailure, "%s: a workspace is used in a capture and outside",
                          name);
        else if (capture == 0 && user.stream != stream && !is_reached(user.last))
            error = fault(gpuErrorLaunchFailure, "%s: two streams use a workspace", name);
        else if (capture != 0 && user.capture == capture && user.stream != stream)
            error =
                fault(gpuErrorLaunchFailure, "%s: two streams of a capture use a workspace", name);
    }

    blas().workspaces[handle->workspace] =
        workspace_user_t{point_t{stream, stream->issued + 1}, capture, stream};
    return blas_status(error);
}

/* ---- The library and its handles ---- */

status_t fakeblasCreate(fakeblasHandle_t *handle) {
    return blas_enter("Create", TAKES | UNSAFE, [&](guard_t &) -> status_t {
        UNLESS(handle != nullptr);

        if (in_capture()) {
            ++blas().handles_refused;
            return FAKEBLAS_STATUS_NOT_INITIALIZED;
        }

        ++blas().handles;
        *handle = new fake_blas_handle_t{current_device(), nullptr, 0,
                                         nullptr,          0,       FAKEBLAS_POINTER_MODE_HOST};
        return FAKEBLAS_STATUS_SUCCESS;
    });
}

status_t fakeblasSetStream(fakeblasHandle_t handle, gpuStream_t stream) {
    return blas_enter("SetStream", PLAIN, [&](guard_t &) -> status_t {
        const std::shared_ptr<stream_t> found = find_stream(stream);
        UNLESS(found != nullptr);

        handle->stream = stream;
        handle->stream_number = found->number;
        handle->workspace = nullptr; /* as cuBLAS does: back to its own */
        return FAKEBLAS_STATUS_SUCCESS;
    });
}

status_t fakeblasSetWorkspace(fakeblasHandle_t handle, void *workspace, size_t bytes) {
    return blas_enter("SetWorkspace", PLAIN, [&](guard_t &) -> status_t {
        UNLESS((uintptr_t)workspace % 256 == 0 && bytes >= 16384); /* less fails some calls */

        handle->workspace = workspace;
        handle->workspace_bytes = bytes;
        return FAKEBLAS_STATUS_SUCCESS;
    });
}

/* Another thread that may use the handle now does. */
status_t fakeblasSetPointerMode(fakeblasHandle_t handle, fakeblasPointerMode_t mode) {
    const status_t status = blas_enter("SetPointerMode", PLAIN, [&](guard_t &) -> status_t {
        UNLESS(mode == FAKEBLAS_POINTER_MODE_HOST || mode == FAKEBLAS_POINTER_MODE_DEVICE);
        handle->mode = mode;
        return FAKEBLAS_STATUS_SUCCESS;
    });
    sched_yield();
    return status;
}

status_t fakeblasSetMathMode(fakeblasHandle_t, int) {
    return blas_enter("SetMathMode", PLAIN,
                      [](guard_t &) -> status_t { return FAKEBLAS_STATUS_SUCCESS; });
}

const char *fakeblasGetStatusString(status_t status) {
    switch (status) {
    case FAKEBLAS_STATUS_SUCCESS: return "the operation completed successfully";
    case FAKEBLAS_STATUS_NOT_INITIALIZED: return "the library was not initialized";
    case FAKEBLAS_STATUS_ALLOC_FAILED: return "the resource allocation failed";
    case FAKEBLAS_STATUS_INVALID_VALUE:
        return "an unsupported value or parameter was passed to the function";
    case FAKEBLAS_STATUS_ARCH_MISMATCH:
        return "the function requires an architectural feature absent from the device";
    case FAKEBLAS_STATUS_EXECUTION_FAILED: return "the function failed to launch on the GPU";
    case FAKEBLAS_STATUS_NOT_SUPPORTED: return "the functionality requested is not supported";
    }
    return "unknown";
}

/* ---- Finding it, and the control ---- */

void *fake_blas_open(const char *) {
    static char library;
    guard_t guard(state().lock);
    return blas().present ? &library : nullptr;
}

void *fake_blas_find(const char *function) {
    static const struct {
        const char *name;
        void *address;
    } functions[] = {
#define X(name) {GPU_BLAS_STRING(GPU_BLAS_(name)), (void *)&GPU_BLAS_(name)},
        GPU_BLAS_HELPER_LIST(X) X(SetWorkspace)
#undef X
#define X(name) {GPU_BLAS_STRING(GPU_BLAS_64(name)), (void *)&GPU_BLAS_64(name)},
            GPU_BLAS_COMPUTE_LIST(X)
#undef X
    };

    guard_t guard(state().lock);
    for (const auto &entry : functions)
        if (strcmp(entry.name, function) == 0 && blas().missing != function)
            return entry.address;
    return nullptr;
}

static void control_set_present(bool present) {
    guard_t guard(state().lock);
    blas().present = present;
}
static void control_set_missing(const char *function) {
    guard_t guard(state().lock);
    blas().missing = function != nullptr ? function : "";
}
static void control_fail_after(uint64_t n, fake_blas_failure_t failure) {
    static const status_t statuses[] = {FAKEBLAS_STATUS_ALLOC_FAILED,
                                        FAKEBLAS_STATUS_EXECUTION_FAILED,
                                        FAKEBLAS_STATUS_NOT_SUPPORTED};

    guard_t guard(state().lock);
    blas().fail_in = n;
    blas().fail_with = statuses[failure];
    blas().failed = false;
}
static bool control_has_failed() {
    guard_t guard(state().lock);
    return blas().failed;
}
static void control_reset_counts() {
    guard_t guard(state().lock);
    blas().counts.clear();
    blas().computed = 0;
}
static uint64_t control_count(const char *function) {
    guard_t guard(state().lock);
    if (function == nullptr)
        return blas().computed;
    auto found = blas().counts.find(function);
    return found != blas().counts.end() ? found->second : 0;
}
static uint64_t control_count_handles() {
    guard_t guard(state().lock);
    return blas().handles;
}

static uint64_t control_count_handles_refused() {
    guard_t guard(state().lock);
    return blas().handles_refused;
}

const fake_blas_control_t fake_blas_control = {
    control_set_present,  control_set_missing, control_fail_after,    control_has_failed,
    control_reset_counts, control_count,       control_count_handles, control_count_handles_refused,
};

#endif
