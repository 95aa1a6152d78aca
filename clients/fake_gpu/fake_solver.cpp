/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The fake vendor's LAPACK: its state, its handles and workspaces, how it is found, and what tests
 * can tell it. What computes is in fake_solver_routines.cpp. */

#include "gpu/blas/vendor_solver.h"

#if GPU_HAS_SOLVER

#include "fake_solver_call.h"
#include "fake_solver_control.h"

using namespace fake;

solver_state_t &fake::solver() {
    static solver_state_t *const made = new solver_state_t; /* never destroyed, as the runtime's */
    return *made;
}

solver_status_t fake::solver_status(gpuError_t error) {
    return error == gpuSuccess            ? FAKESOLVER_STATUS_SUCCESS
           : error == gpuErrorOutOfMemory ? FAKESOLVER_STATUS_ALLOC_FAILED
                                          : FAKESOLVER_STATUS_EXECUTION_FAILED;
}

/* ---- Workspaces and numbers ---- */

/* What it writes into the host's workspace while it enqueues. */
void fake::host_write(const workspace_t &work, uint64_t serial) {
    for (size_t i = 0; i < work.host_bytes; i++)
        ((unsigned char *)work.host)[i] = (unsigned char)(serial * 37 + i);
}
bool fake::host_is_pinned(const workspace_t &work) {
    bool wild = false;
    const allocation_t *found = find_allocation(work.host, &wild);
    return found != nullptr && found->kind == memory_kind_t::pinned &&
           (char *)work.host + work.host_bytes <= found->data + found->bytes;
}
gpuError_t fake::host_look(const workspace_t &work, uint64_t serial, const char *name) {
    if (work.host_bytes == 0)
        return gpuSuccess;
    if (!host_is_pinned(work))
        return fault(gpuErrorIllegalAddress, "%s: its host workspace is gone before it ran", name);
    for (size_t i = 0; i < work.host_bytes; i++)
        if (((unsigned char *)work.host)[i] != (unsigned char)(serial * 37 + i))
            return fault(gpuErrorIllegalAddress,
                         "%s: its host workspace was another's before it ran", name);
    return gpuSuccess;
}

value_t fake::load(data_type_t type, const void *data, int64_t i) {
    const int parts = is_complex(type) ? 2 : 1;
    const auto part = [&](int64_t at) {
        return is_single(type) ? (double)((const float *)data)[at] : ((const double *)data)[at];
    };
    return value_t(part(i * parts), is_complex(type) ? part(i * parts + 1) : 0);
}
void fake::store(data_type_t type, void *data, int64_t i, value_t value) {
    const int parts = is_complex(type) ? 2 : 1;
    for (int k = 0; k < parts; k++) {
        const double part = k == 0 ? value.real() : value.imag();
        if (is_single(type))
            ((float *)data)[i * parts + k] = (float)part;
        else
            ((double *)data)[i * parts + k] = part;
    }
}

/* ---- The library and its handles ---- */

solver_status_t fakesolverDnCreate(fakesolverDnHandle_t *handle) {
    return solver_enter("Create", TAKES | UNSAFE, [&]() -> solver_status_t {
        SOLVER_UNLESS(handle != nullptr);
        if (in_capture())
            return FAKESOLVER_STATUS_NOT_INITIALIZED;
        ++solver().handles;
        *handle = new fake_solver_handle_t{current_device(), nullptr, 0};
        return FAKESOLVER_STATUS_SUCCESS;
    });
}

solver_status_t fakesolverDnCreateParams(fakesolverDnParams_t *params) {
    return solver_enter("CreateParams", PLAIN, [&]() -> solver_status_t {
        SOLVER_UNLESS(params != nullptr);
        *params = new fake_solver_params_t{0};
        return FAKESOLVER_STATUS_SUCCESS;
    });
}

solver_status_t fakesolverDnSetStream(fakesolverDnHandle_t handle, gpuStream_t stream) {
    return solver_enter("SetStream", PLAIN, [&]() -> solver_status_t {
        const std::shared_ptr<stream_t> found = find_stream(stream);
        SOLVER_UNLESS(handle != nullptr && found != nullptr);
        handle->stream = stream;
        handle->stream_number = found->number;
        return FAKESOLVER_STATUS_SUCCESS;
    });
}

/* ---- Finding it, and the control ---- */

void *fake_solver_open(const char *) {
    static char library;
    guard_t guard(state().lock);
    return solver().present ? &library : nullptr;
}

void *fake_solver_find(const char *function) {
    static const struct {
        const char *name;
        void *address;
    } functions[] = {
#define X(routine, name) {GPU_SOLVER_STRING(GPU_SOLVER_(name)), (void *)&GPU_SOLVER_(name)},
        GPU_SOLVER_LIST(X)
#undef X
    };

    guard_t guard(state().lock);
    for (const auto &entry : functions)
        if (strcmp(entry.name, function) == 0 && solver().missing != function)
            return entry.address;
    return nullptr;
}

static void solver_control_set_present(bool present) {
    guard_t guard(state().lock);
    solver().present = present;
}
static void solver_control_set_missing(const char *function) {
    guard_t guard(state().lock);
    solver().missing = function != nullptr ? function : "";
}
static void solver_control_fail_after(uint64_t n, fake_solver_failure_t failure) {
    static const solver_status_t statuses[] = {
        FAKESOLVER_STATUS_ALLOC_FAILED, FAKESOLVER_STATUS_EXECUTION_FAILED,
        FAKESOLVER_STATUS_NOT_SUPPORTED, FAKESOLVER_STATUS_INVALID_VALUE};

    guard_t guard(state().lock);
    solver().fail_in = n;
    solver().fail_with = statuses[failure];
    solver().failed = false;
}
static bool solver_control_has_failed() {
    guard_t guard(state().lock);
    return solver().failed;
}
static void solver_control_set_info(int info) {
    guard_t guard(state().lock);
    solver().info = info;
}
static void solver_control_reset_counts() {
    guard_t guard(state().lock);
    solver().counts.clear();
    solver().computed = 0;
}
static uint64_t solver_control_count(const char *function) {
    guard_t guard(state().lock);
    if (function == nullptr)
        return solver().computed;
    auto found = solver().counts.find(function);
    return found != solver().counts.end() ? found->second : 0;
}
static uint64_t solver_control_count_handles() {
    guard_t guard(state().lock);
    return solver().handles;
}

const fake_solver_control_t fake_solver_control = {
    solver_control_set_present, solver_control_set_missing,   solver_control_fail_after,
    solver_control_has_failed,  solver_control_set_info,      solver_control_reset_counts,
    solver_control_count,       solver_control_count_handles,
};

#endif
