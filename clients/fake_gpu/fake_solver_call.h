/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_SOLVER_CALL_H
#define JALLOC_CLIENTS_FAKE_SOLVER_CALL_H

/* What the functions of the fake vendor's LAPACK share, as fake_blas_call.h for the BLAS: the frame
 * of each, with the counts and the injected failures, its workspaces, and matrices of the device,
 * which the work of a stream reads and writes. */

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fake_blas_call.h"
#include "fake_solver_math.h"
#include "gpu/blas/vendor_solver.h"

#pragma GCC visibility push(hidden)

struct fake_solver_handle_t {
    int device;
    gpuStream_t stream;
    uint64_t stream_number;
};
struct fake_solver_params_t {
    int unused;
};

namespace fake {

typedef fakesolverStatus_t solver_status_t;
typedef fakesolverDataType_t data_type_t;

/* Under the runtime's lock. */
struct solver_state_t {
    bool present = true;
    std::string missing;
    uint64_t fail_in = 0;
    solver_status_t fail_with = FAKESOLVER_STATUS_SUCCESS;
    bool failed = false;
    int info = 0; /* told by set_info */
    std::map<std::string, uint64_t> counts;
    uint64_t computed = 0, handles = 0, serial = 0;
};
solver_state_t &solver();
solver_status_t solver_status(gpuError_t error);

#define SOLVER_UNLESS(condition)                                                                   \
    if (!(condition))                                                                              \
    return FAKESOLVER_STATUS_INVALID_VALUE

/* The frame of every function. */
template <typename BODY> solver_status_t solver_enter(const char *name, unsigned flags, BODY body) {
    solver_status_t status = FAKESOLVER_STATUS_SUCCESS;
    const std::string full = std::string("solver:") + name;

    const gpuError_t error = call(full.c_str(), flags, [&](guard_t &) -> gpuError_t {
        ++solver().counts[name];
        if (solver().fail_in > 0 && --solver().fail_in == 0) {
            solver().failed = true;
            status = solver().fail_with;
            return gpuSuccess;
        }
        status = body();
        return gpuSuccess;
    });
    return error != gpuSuccess ? solver_status(error) : status;
}

/* ---- Matrices of the device, in the work of a stream ---- */

inline bool is_single(data_type_t type) {
    return type == FAKESOLVER_R_32F || type == FAKESOLVER_C_32F;
}
inline bool is_complex(data_type_t type) {
    return type == FAKESOLVER_C_32F || type == FAKESOLVER_C_64F;
}
inline size_t size_of(data_type_t type) { return (is_single(type) ? 4 : 8) << is_complex(type); }
inline data_type_t real_of(data_type_t type) {
    return is_single(type) ? FAKESOLVER_R_32F : FAKESOLVER_R_64F;
}

value_t load(data_type_t type, const void *data, int64_t i);
void store(data_type_t type, void *data, int64_t i, value_t value);

struct stored_t {
    data_type_t type;
    void *data;
    int64_t m, n, ld;
    operand_t operand() const {
        const size_t count = m == 0 || n == 0 ? 0 : (size_t)((n - 1) * ld + m);
        return operand_t{data, count * size_of(type), size_of(type)};
    }
    dense_t get() const {
        dense_t made(m, n);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++)
                made.at(i, j) = load(type, data, i + j * ld);
        return made;
    }
    void put(const dense_t &from) const {
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++)
                store(type, data, i + j * ld, from.at(i, j));
    }
};
inline stored_t stored(data_type_t type, const void *data, int64_t m, int64_t n, int64_t ld) {
    return stored_t{type, const_cast<void *>(data), m, n, ld};
}
inline stored_t column(data_type_t type, const void *data, int64_t n) {
    return stored(type, data, n, 1, n);
}

/* ---- A function that computes ---- */

struct bytes_t {
    size_t device, host;
};

struct workspace_t {
    void *device;
    size_t device_bytes;
    void *host;
    size_t host_bytes;
};

/* What it writes into the host's workspace while it enqueues, and whether that is there still: a
 * fault if not. */
void host_write(const workspace_t &work, uint64_t serial);
bool host_is_pinned(const workspace_t &work);
gpuError_t host_look(const workspace_t &work, uint64_t serial, const char *name);

/* Enqueues what body(info) does with the operands; a body gives LAPACK's info. */
template <typename BODY>
solver_status_t solver_compute(fakesolverDnHandle_t handle, const char *name, const bytes_t &wanted,
                               const workspace_t &work, std::vector<operand_t> operands, int *info,
                               BODY body) {
    if (handle == nullptr)
        return FAKESOLVER_STATUS_NOT_INITIALIZED;

    return solver_enter(name, PLAIN | UNSAFE, [&]() -> solver_status_t {
        ++solver().computed;
        const std::shared_ptr<stream_t> stream = find_stream(handle->stream);
        if (current_device() != handle->device) {
            fault(gpuErrorLaunchFailure, "%s: the handle is another device's", name);
            return FAKESOLVER_STATUS_EXECUTION_FAILED;
        }
        if (stream == nullptr || stream->number != handle->stream_number) {
            fault(gpuErrorLaunchFailure, "%s: the handle was set to a stream that is gone", name);
            return FAKESOLVER_STATUS_EXECUTION_FAILED;
        }
        if (work.device_bytes != wanted.device || work.host_bytes != wanted.host) {
            fault(gpuErrorInvalidValue, "%s: %zu and %zu bytes, where it asked for %zu and %zu",
                  name, work.device_bytes, work.host_bytes, wanted.device, wanted.host);
            return FAKESOLVER_STATUS_INVALID_VALUE;
        }
        if (work.host_bytes > 0 && !host_is_pinned(work)) {
            fault(gpuErrorIllegalAddress, "%s: the host workspace is not pinned memory", name);
            return FAKESOLVER_STATUS_INVALID_VALUE;
        }

        const uint64_t serial = ++solver().serial;
        const int device = handle->device, said = solver().info;
        host_write(work, serial);
        operands.push_back(operand_t{info, sizeof *info, sizeof *info});
        operands.push_back(operand_t{work.device, work.device_bytes, 16});

        operation_t operation;
        operation.action = [=]() -> gpuError_t {
            for (const operand_t &operand : operands) {
                const gpuError_t error =
                    blas_look(operand.data, operand.bytes, operand.alignment, device, name);
                if (error != gpuSuccess)
                    return error;
            }
            const gpuError_t error = host_look(work, serial, name);
            if (error != gpuSuccess)
                return error;
            if (work.device_bytes > 0)
                memset(work.device, 0xFF, work.device_bytes);
            const int found = body();
            *info = said != 0 ? said : found;
            return gpuSuccess;
        };
        return solver_status(submit(stream, std::move(operation)));
    });
}

template <typename BODY>
solver_status_t solver_query(fakesolverDnHandle_t handle, const char *name, bool right, BODY body) {
    if (handle == nullptr)
        return FAKESOLVER_STATUS_NOT_INITIALIZED;
    return solver_enter(name, PLAIN, [&]() -> solver_status_t {
        SOLVER_UNLESS(right);
        body();
        return FAKESOLVER_STATUS_SUCCESS;
    });
}

} // namespace fake

#pragma GCC visibility pop

#endif
