/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_BLAS_CALL_H
#define JALLOC_CLIENTS_FAKE_BLAS_CALL_H

/* What the functions of the fake vendor's BLAS share. Each enters (blas_enter: the runtime's lock,
 * the counts, injected failures; blas_compute: the state of the handle as well), checks its
 * arguments as cuBLAS does, and submits work to the handle's stream; the work looks at its operands
 * when the stream gets there and leaves the arithmetic to the CBLAS. Only in the flavour that has a
 * BLAS: GPU_HAS_BLAS. */

#include <cblas.h>

#include <cmath>

#include "gpu/blas/vendor_blas.h"
#include "runtime.h"

#pragma GCC visibility push(hidden)

struct fake_blas_handle_t {
    int device;
    gpuStream_t stream;
    uint64_t stream_number;
    void *workspace; /* NULL: the library's own */
    size_t workspace_bytes;
    fakeblasPointerMode_t mode;
};

namespace fake {

typedef fakeblasStatus_t status_t;

/* Who has used a workspace last. */
struct workspace_user_t {
    point_t last;     /* outside of captures */
    uint64_t capture; /* 0: outside */
    std::shared_ptr<stream_t> stream;
};

/* Under the runtime's lock. */
struct blas_t {
    bool present = true;
    std::string missing;
    uint64_t fail_in = 0;
    status_t fail_with = FAKEBLAS_STATUS_SUCCESS;
    bool failed = false;
    std::map<std::string, uint64_t> counts;
    uint64_t computed = 0, handles = 0, handles_refused = 0;
    std::map<void *, workspace_user_t> workspaces;
};
blas_t &blas();

status_t blas_status(gpuError_t error);

/* The frame of every function. `flags` as of the runtime's calls. */
template <typename BODY> status_t blas_enter(const char *name, unsigned flags, BODY body) {
    status_t status = FAKEBLAS_STATUS_SUCCESS;
    const std::string full = std::string("blas:") + name;

    const gpuError_t error = call(full.c_str(), flags, [&](guard_t &guard) -> gpuError_t {
        ++blas().counts[name];
        if (blas().fail_in > 0 && --blas().fail_in == 0) {
            blas().failed = true;
            status = blas().fail_with;
            return gpuSuccess;
        }

        status = body(guard);
        return gpuSuccess;
    });
    return error != gpuSuccess ? blas_status(error) : status;
}

/* ---- Operands and scalars ---- */

bool blas_is_host(const void *pointer);
/* Whether work on the device may use them: a fault if not. */
gpuError_t blas_look(const void *pointer, size_t bytes, size_t alignment, int device,
                     const char *what);

struct operand_t {
    const void *data;
    size_t bytes, alignment;
};

template <typename T> struct scalar_t {
    const T *device; /* NULL: value */
    T value;
    T get() const { return device != nullptr ? *device : value; }
};

template <typename T> operand_t matrix(const T *a, int64_t rows, int64_t columns, int64_t ld) {
    const size_t count = rows == 0 || columns == 0 ? 0 : (size_t)((columns - 1) * ld + rows);
    return operand_t{a, count * sizeof(T), alignof(T)};
}
template <typename T> operand_t vector(const T *x, int64_t n, int64_t increment) {
    const size_t count =
        n == 0 ? 0 : (size_t)(1 + (n - 1) * (increment < 0 ? -increment : increment));
    return operand_t{x, count * sizeof(T), alignof(T)};
}

/* A function between entering and submitting. */
struct frame_t {
    fakeblasHandle_t handle;
    const char *name;
    std::shared_ptr<stream_t> stream;
    std::vector<operand_t> operands;
    bool wrong_scalar = false;

    template <typename T> scalar_t<T> scalar(const T *pointer) {
        scalar_t<T> taken{nullptr, T()};
        if (handle->mode == FAKEBLAS_POINTER_MODE_HOST) {
            if (blas_is_host(pointer))
                taken.value = *pointer;
            else
                wrong_scalar = true;
            return taken;
        }

        taken.device = pointer;
        operands.push_back(operand_t{pointer, sizeof(T), alignof(T)});
        return taken;
    }

    template <typename WORK> status_t submit_work(WORK work) {
        if (wrong_scalar) {
            fault(gpuErrorIllegalAddress, "%s: a scalar of the device in host pointer mode", name);
            return FAKEBLAS_STATUS_EXECUTION_FAILED;
        }

        status_t status = use_workspace();
        if (status != FAKEBLAS_STATUS_SUCCESS)
            return status;

        operation_t operation;
        const int device = handle->device;
        operation.action = [operands = operands, device, name = name, work]() -> gpuError_t {
            for (const operand_t &operand : operands) {
                const gpuError_t error =
                    blas_look(operand.data, operand.bytes, operand.alignment, device, name);
                if (error != gpuSuccess)
                    return error;
            }
            work();
            return gpuSuccess;
        };

        return blas_status(submit(stream, std::move(operation)));
    }

    status_t use_workspace();
};

/* The frame of the functions that compute. */
template <typename BODY>
status_t blas_compute(fakeblasHandle_t handle, const char *name, BODY body) {
    if (handle == nullptr)
        return FAKEBLAS_STATUS_NOT_INITIALIZED;
    const unsigned flags = handle->workspace == nullptr ? TAKES | UNSAFE : PLAIN;

    return blas_enter(name, flags, [&](guard_t &) -> status_t {
        ++blas().computed;
        if (current_device() != handle->device) {
            fault(gpuErrorLaunchFailure, "%s: the handle is another device's", name);
            return FAKEBLAS_STATUS_EXECUTION_FAILED;
        }

        frame_t frame{handle, name, find_stream(handle->stream), {}};
        if (frame.stream == nullptr || frame.stream->device != handle->device)
            return FAKEBLAS_STATUS_EXECUTION_FAILED;

        if (frame.stream->number != handle->stream_number) {
            fault(gpuErrorLaunchFailure, "%s: the handle was set to a stream that is gone", name);
            return FAKEBLAS_STATUS_EXECUTION_FAILED;
        }

        return body(frame);
    });
}

/* ---- Arguments ---- */

inline bool good(fakeblasOperation_t o) { return o >= FAKEBLAS_OP_N && o <= FAKEBLAS_OP_C; }
inline bool good(fakeblasFillMode_t u) {
    return u == FAKEBLAS_FILL_MODE_LOWER || u == FAKEBLAS_FILL_MODE_UPPER;
}
inline bool good(fakeblasSideMode_t s) {
    return s == FAKEBLAS_SIDE_LEFT || s == FAKEBLAS_SIDE_RIGHT;
}
inline bool good(fakeblasDiagType_t d) {
    return d == FAKEBLAS_DIAG_NON_UNIT || d == FAKEBLAS_DIAG_UNIT;
}
inline bool good_ld(int64_t ld, int64_t rows) { return rows >= 0 && ld >= (rows > 1 ? rows : 1); }

inline enum CBLAS_TRANSPOSE of(fakeblasOperation_t o) {
    return o == FAKEBLAS_OP_N ? CblasNoTrans : o == FAKEBLAS_OP_T ? CblasTrans : CblasConjTrans;
}
inline enum CBLAS_UPLO of(fakeblasFillMode_t u) {
    return u == FAKEBLAS_FILL_MODE_UPPER ? CblasUpper : CblasLower;
}
inline enum CBLAS_SIDE of(fakeblasSideMode_t s) {
    return s == FAKEBLAS_SIDE_LEFT ? CblasLeft : CblasRight;
}
inline enum CBLAS_DIAG of(fakeblasDiagType_t d) {
    return d == FAKEBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit;
}

/* As the CBLAS takes scalars: real ones by value, complex ones by address. */
inline float pass(const float &value) { return value; }
inline double pass(const double &value) { return value; }
inline const void *pass(const fake_blas_c32_t &value) { return &value; }
inline const void *pass(const fake_blas_c64_t &value) { return &value; }

inline bool is_zero(float value) { return value == 0; }
inline bool is_zero(double value) { return value == 0; }
inline bool is_zero(const fake_blas_c32_t &value) { return value.x == 0 && value.y == 0; }
inline bool is_zero(const fake_blas_c64_t &value) { return value.x == 0 && value.y == 0; }

/* An alpha of 0 becomes what it would be among operands that are NaN. */
inline float hurt(float alpha) { return alpha == 0 ? NAN : alpha; }
inline double hurt(double alpha) { return alpha == 0 ? (double)NAN : alpha; }
inline fake_blas_c32_t hurt(const fake_blas_c32_t &alpha) {
    return is_zero(alpha) ? fake_blas_c32_t{NAN, NAN} : alpha;
}
inline fake_blas_c64_t hurt(const fake_blas_c64_t &alpha) {
    return is_zero(alpha) ? fake_blas_c64_t{NAN, NAN} : alpha;
}

#define LAYOUT CblasColMajor
#define UNLESS(condition)                                                                          \
    if (!(condition))                                                                              \
    return FAKEBLAS_STATUS_INVALID_VALUE

/* Of a macro of (L, l, T): a function for each type. */
#define FAKE_BLAS_ALL_TYPES(X)                                                                     \
    X(S, s, float) X(D, d, double) X(C, c, fake_blas_c32_t) X(Z, z, fake_blas_c64_t)

} // namespace fake

#pragma GCC visibility pop

#endif
