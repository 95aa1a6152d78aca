/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The fake vendor's BLAS. A function enters (blas_enter: the runtime's lock, the counts, injected failures, the state of
 * the handle), checks its arguments as cuBLAS does, and submits work to the handle's stream; the work looks at its
 * operands when the stream gets there and leaves the arithmetic to the CBLAS. */

#include "gpu/blas/vendor_blas.h"

#if GPU_HAS_BLAS

#include <cblas.h>
#include <sched.h>

#include <cmath>
#include <cstring>

#include "fake_blas_control.h"
#include "runtime.h"

using namespace fake;

struct fake_blas_handle_t {
    int device;
    gpuStream_t stream;
    uint64_t stream_number;
    void *workspace; /* NULL: the library's own */
    size_t workspace_bytes;
    fakeblasPointerMode_t mode;
};

namespace {

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
blas_t &blas() {
    static blas_t *const made = new blas_t; /* never destroyed, as the runtime's state */
    return *made;
}

status_t blas_status(gpuError_t error) {
    return error == gpuSuccess            ? FAKEBLAS_STATUS_SUCCESS
           : error == gpuErrorOutOfMemory ? FAKEBLAS_STATUS_ALLOC_FAILED
                                          : FAKEBLAS_STATUS_EXECUTION_FAILED;
}

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

bool blas_is_host(const void *pointer) {
    bool wild = false;
    return find_allocation(pointer, &wild) == nullptr && !wild;
}

gpuError_t blas_look(const void *pointer, size_t bytes, size_t alignment, int device, const char *what) {
    if (bytes == 0)
        return gpuSuccess;
    if (blas_is_host(pointer))
        return fault(gpuErrorIllegalAddress, "%s, %p, is in the host's memory", what, pointer);
    if ((uintptr_t)pointer % alignment != 0)
        return fault(gpuErrorIllegalAddress, "%s, %p, is not a multiple of %zu", what, pointer, alignment);
    return check_range(pointer, bytes, device, what);
}

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
    const size_t count = n == 0 ? 0 : (size_t)(1 + (n - 1) * (increment < 0 ? -increment : increment));
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
                const gpuError_t error = blas_look(operand.data, operand.bytes, operand.alignment, device, name);
                if (error != gpuSuccess)
                    return error;
            }
            work();
            return gpuSuccess;
        };
        return blas_status(submit(stream, std::move(operation)));
    }

    status_t use_workspace() {
        if (handle->workspace == nullptr)
            return FAKEBLAS_STATUS_SUCCESS;
        gpuError_t error = blas_look(handle->workspace, handle->workspace_bytes, 256, handle->device, "the workspace");
        const uint64_t capture = stream->capture != nullptr ? stream->capture->id + 1 : 0;
        auto found = blas().workspaces.find(handle->workspace);
        if (error == gpuSuccess && found != blas().workspaces.end()) {
            const workspace_user_t &user = found->second;
            if ((user.capture != 0) != (capture != 0))
                error = fault(gpuErrorLaunchFailure, "%s: a workspace is used in a capture and outside", name);
            else if (capture == 0 && user.stream != stream && !is_reached(user.last))
                error = fault(gpuErrorLaunchFailure, "%s: two streams use a workspace", name);
            else if (capture != 0 && user.capture == capture && user.stream != stream)
                error = fault(gpuErrorLaunchFailure, "%s: two streams of a capture use a workspace", name);
        }
        blas().workspaces[handle->workspace] = workspace_user_t{point_t{stream, stream->issued + 1}, capture, stream};
        return blas_status(error);
    }
};

/* The frame of the functions that compute. */
template <typename BODY> status_t blas_compute(fakeblasHandle_t handle, const char *name, BODY body) {
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

bool good(fakeblasOperation_t o) { return o >= FAKEBLAS_OP_N && o <= FAKEBLAS_OP_C; }
bool good(fakeblasFillMode_t u) { return u == FAKEBLAS_FILL_MODE_LOWER || u == FAKEBLAS_FILL_MODE_UPPER; }
bool good(fakeblasSideMode_t s) { return s == FAKEBLAS_SIDE_LEFT || s == FAKEBLAS_SIDE_RIGHT; }
bool good(fakeblasDiagType_t d) { return d == FAKEBLAS_DIAG_NON_UNIT || d == FAKEBLAS_DIAG_UNIT; }
bool good_ld(int64_t ld, int64_t rows) { return rows >= 0 && ld >= (rows > 1 ? rows : 1); }

enum CBLAS_TRANSPOSE of(fakeblasOperation_t o) {
    return o == FAKEBLAS_OP_N ? CblasNoTrans : o == FAKEBLAS_OP_T ? CblasTrans : CblasConjTrans;
}
enum CBLAS_UPLO of(fakeblasFillMode_t u) { return u == FAKEBLAS_FILL_MODE_UPPER ? CblasUpper : CblasLower; }
enum CBLAS_SIDE of(fakeblasSideMode_t s) { return s == FAKEBLAS_SIDE_LEFT ? CblasLeft : CblasRight; }
enum CBLAS_DIAG of(fakeblasDiagType_t d) { return d == FAKEBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit; }

/* As the CBLAS takes scalars: real ones by value, complex ones by address. */
float pass(const float &value) { return value; }
double pass(const double &value) { return value; }
const void *pass(const fake_blas_c32_t &value) { return &value; }
const void *pass(const fake_blas_c64_t &value) { return &value; }

bool is_zero(float value) { return value == 0; }
bool is_zero(double value) { return value == 0; }
bool is_zero(const fake_blas_c32_t &value) { return value.x == 0 && value.y == 0; }
bool is_zero(const fake_blas_c64_t &value) { return value.x == 0 && value.y == 0; }

/* An alpha of 0 becomes what it would be among operands that are NaN. */
float hurt(float alpha) { return alpha == 0 ? NAN : alpha; }
double hurt(double alpha) { return alpha == 0 ? (double)NAN : alpha; }
fake_blas_c32_t hurt(const fake_blas_c32_t &alpha) { return is_zero(alpha) ? fake_blas_c32_t{NAN, NAN} : alpha; }
fake_blas_c64_t hurt(const fake_blas_c64_t &alpha) { return is_zero(alpha) ? fake_blas_c64_t{NAN, NAN} : alpha; }

float multiply(float a, float b) { return a * b; }
double multiply(double a, double b) { return a * b; }
template <typename C> C multiply(const C &a, const C &b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
float add(float a, float b) { return a + b; }
double add(double a, double b) { return a + b; }
template <typename C> C add(const C &a, const C &b) { return C{a.x + b.x, a.y + b.y}; }
float conjugated(float a) { return a; }
double conjugated(double a) { return a; }
template <typename C> C conjugated(const C &a) { return C{a.x, -a.y}; }

template <typename T> T element(const T *a, int64_t ld, fakeblasOperation_t operation, int64_t i, int64_t j) {
    if (operation == FAKEBLAS_OP_N)
        return a[i + j * ld];
    return operation == FAKEBLAS_OP_T ? a[j + i * ld] : conjugated(a[j + i * ld]);
}

#define LAYOUT CblasColMajor
#define UNLESS(condition)                                                                                              \
    if (!(condition))                                                                                                  \
    return FAKEBLAS_STATUS_INVALID_VALUE

} // namespace

/* ---- The library and its handles ---- */

status_t fakeblasCreate(fakeblasHandle_t *handle) {
    return blas_enter("Create", TAKES | UNSAFE, [&](guard_t &) -> status_t {
        UNLESS(handle != nullptr);
        if (in_capture()) {
            ++blas().handles_refused;
            return FAKEBLAS_STATUS_NOT_INITIALIZED;
        }
        ++blas().handles;
        *handle = new fake_blas_handle_t{current_device(), nullptr, 0, nullptr, 0, FAKEBLAS_POINTER_MODE_HOST};
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
    return blas_enter("SetMathMode", PLAIN, [](guard_t &) -> status_t { return FAKEBLAS_STATUS_SUCCESS; });
}

const char *fakeblasGetStatusString(status_t status) {
    switch (status) {
    case FAKEBLAS_STATUS_SUCCESS: return "the operation completed successfully";
    case FAKEBLAS_STATUS_NOT_INITIALIZED: return "the library was not initialized";
    case FAKEBLAS_STATUS_ALLOC_FAILED: return "the resource allocation failed";
    case FAKEBLAS_STATUS_INVALID_VALUE: return "an unsupported value or parameter was passed to the function";
    case FAKEBLAS_STATUS_ARCH_MISMATCH: return "the function requires an architectural feature absent from the device";
    case FAKEBLAS_STATUS_EXECUTION_FAILED: return "the function failed to launch on the GPU";
    case FAKEBLAS_STATUS_NOT_SUPPORTED: return "the functionality requested is not supported";
    }
    return "unknown";
}

/* ---- Level 2 ---- */

#define FAKE_BLAS_LEVEL2(L, l, T)                                                                                      \
    status_t fakeblas##L##gemv_64(fakeblasHandle_t handle, fakeblasOperation_t trans, int64_t m, int64_t n,            \
                                  const T *alpha, const T *a, int64_t lda, const T *x, int64_t incx, const T *beta,    \
                                  T *y, int64_t incy) {                                                                \
        return blas_compute(handle, #L "gemv", [&](frame_t &frame) -> status_t {                                       \
            UNLESS(good(trans) && n >= 0 && good_ld(lda, m) && incx != 0 && incy != 0);                                \
            const bool plain = trans == FAKEBLAS_OP_N;                                                                 \
            const auto first = frame.scalar(alpha), second = frame.scalar(beta);                                       \
            frame.operands.push_back(matrix(a, m, n, lda));                                                            \
            frame.operands.push_back(vector(x, plain ? n : m, incx));                                                  \
            frame.operands.push_back(vector(y, plain ? m : n, incy));                                                  \
            return frame.submit_work([=] {                                                                             \
                const T by = hurt(first.get()), keep = second.get();                                                   \
                cblas_##l##gemv(LAYOUT, of(trans), (int)m, (int)n, pass(by), a, (int)lda, x, (int)incx, pass(keep), y, \
                                (int)incy);                                                                            \
            });                                                                                                        \
        });                                                                                                            \
    }                                                                                                                  \
    status_t fakeblas##L##trmv_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo, fakeblasOperation_t trans,         \
                                  fakeblasDiagType_t diag, int64_t n, const T *a, int64_t lda, T *x, int64_t incx) {   \
        return blas_compute(handle, #L "trmv", [&](frame_t &frame) -> status_t {                                       \
            UNLESS(good(uplo) && good(trans) && good(diag) && good_ld(lda, n) && incx != 0);                           \
            frame.operands.push_back(matrix(a, n, n, lda));                                                            \
            frame.operands.push_back(vector(x, n, incx));                                                              \
            return frame.submit_work(                                                                                  \
                [=] { cblas_##l##trmv(LAYOUT, of(uplo), of(trans), of(diag), (int)n, a, (int)lda, x, (int)incx); });   \
        });                                                                                                            \
    }                                                                                                                  \
    status_t fakeblas##L##trsv_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo, fakeblasOperation_t trans,         \
                                  fakeblasDiagType_t diag, int64_t n, const T *a, int64_t lda, T *x, int64_t incx) {   \
        return blas_compute(handle, #L "trsv", [&](frame_t &frame) -> status_t {                                       \
            UNLESS(good(uplo) && good(trans) && good(diag) && good_ld(lda, n) && incx != 0);                           \
            frame.operands.push_back(matrix(a, n, n, lda));                                                            \
            frame.operands.push_back(vector(x, n, incx));                                                              \
            return frame.submit_work(                                                                                  \
                [=] { cblas_##l##trsv(LAYOUT, of(uplo), of(trans), of(diag), (int)n, a, (int)lda, x, (int)incx); });   \
        });                                                                                                            \
    }
FAKE_BLAS_LEVEL2(S, s, float)
FAKE_BLAS_LEVEL2(D, d, double)
FAKE_BLAS_LEVEL2(C, c, fake_blas_c32_t)
FAKE_BLAS_LEVEL2(Z, z, fake_blas_c64_t)

#define FAKE_BLAS_GER(L, l, ger, T)                                                                                    \
    status_t fakeblas##L##ger##_64(fakeblasHandle_t handle, int64_t m, int64_t n, const T *alpha, const T *x,          \
                                   int64_t incx, const T *y, int64_t incy, T *a, int64_t lda) {                        \
        return blas_compute(handle, #L#ger, [&](frame_t &frame) -> status_t {                                          \
            UNLESS(n >= 0 && good_ld(lda, m) && incx != 0 && incy != 0);                                               \
            const auto first = frame.scalar(alpha);                                                                    \
            frame.operands.push_back(vector(x, m, incx));                                                              \
            frame.operands.push_back(vector(y, n, incy));                                                              \
            frame.operands.push_back(matrix(a, m, n, lda));                                                            \
            return frame.submit_work([=] {                                                                             \
                const T by = hurt(first.get());                                                                        \
                cblas_##l##ger(LAYOUT, (int)m, (int)n, pass(by), x, (int)incx, y, (int)incy, a, (int)lda);             \
            });                                                                                                        \
        });                                                                                                            \
    }
FAKE_BLAS_GER(S, s, ger, float)
FAKE_BLAS_GER(D, d, ger, double)
FAKE_BLAS_GER(C, c, geru, fake_blas_c32_t)
FAKE_BLAS_GER(Z, z, geru, fake_blas_c64_t)
FAKE_BLAS_GER(C, c, gerc, fake_blas_c32_t)
FAKE_BLAS_GER(Z, z, gerc, fake_blas_c64_t)

#define FAKE_BLAS_SYR2(L, l, syr2, T)                                                                                  \
    status_t fakeblas##L##syr2##_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo, int64_t n, const T *alpha,       \
                                    const T *x, int64_t incx, const T *y, int64_t incy, T *a, int64_t lda) {           \
        return blas_compute(handle, #L#syr2, [&](frame_t &frame) -> status_t {                                         \
            UNLESS(good(uplo) && n >= 0 && good_ld(lda, n) && incx != 0 && incy != 0);                                 \
            const auto first = frame.scalar(alpha);                                                                    \
            frame.operands.push_back(vector(x, n, incx));                                                              \
            frame.operands.push_back(vector(y, n, incy));                                                              \
            frame.operands.push_back(matrix(a, n, n, lda));                                                            \
            return frame.submit_work([=] {                                                                             \
                const T by = hurt(first.get());                                                                        \
                cblas_##l##syr2(LAYOUT, of(uplo), (int)n, pass(by), x, (int)incx, y, (int)incy, a, (int)lda);          \
            });                                                                                                        \
        });                                                                                                            \
    }
FAKE_BLAS_SYR2(S, s, syr2, float)
FAKE_BLAS_SYR2(D, d, syr2, double)
FAKE_BLAS_SYR2(C, c, her2, fake_blas_c32_t)
FAKE_BLAS_SYR2(Z, z, her2, fake_blas_c64_t)

#define FAKE_BLAS_SYMMETRIC(L, l, symv, syr, T, R)                                                                     \
    status_t fakeblas##L##symv##_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo, int64_t n, const T *alpha,       \
                                    const T *a, int64_t lda, const T *x, int64_t incx, const T *beta, T *y,            \
                                    int64_t incy) {                                                                    \
        return blas_compute(handle, #L#symv, [&](frame_t &frame) -> status_t {                                         \
            UNLESS(good(uplo) && good_ld(lda, n) && incx != 0 && incy != 0);                                           \
            const auto first = frame.scalar(alpha), second = frame.scalar(beta);                                       \
            frame.operands.push_back(matrix(a, n, n, lda));                                                            \
            frame.operands.push_back(vector(x, n, incx));                                                              \
            frame.operands.push_back(vector(y, n, incy));                                                              \
            return frame.submit_work([=] {                                                                             \
                const T by = hurt(first.get()), keep = second.get();                                                   \
                cblas_##l##symv(LAYOUT, of(uplo), (int)n, pass(by), a, (int)lda, x, (int)incx, pass(keep), y,          \
                                (int)incy);                                                                            \
            });                                                                                                        \
        });                                                                                                            \
    }                                                                                                                  \
    status_t fakeblas##L##syr##_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo, int64_t n, const R *alpha,        \
                                   const T *x, int64_t incx, T *a, int64_t lda) {                                      \
        return blas_compute(handle, #L#syr, [&](frame_t &frame) -> status_t {                                          \
            UNLESS(good(uplo) && good_ld(lda, n) && incx != 0);                                                        \
            const auto first = frame.scalar(alpha);                                                                    \
            frame.operands.push_back(vector(x, n, incx));                                                              \
            frame.operands.push_back(matrix(a, n, n, lda));                                                            \
            return frame.submit_work(                                                                                  \
                [=] { cblas_##l##syr(LAYOUT, of(uplo), (int)n, hurt(first.get()), x, (int)incx, a, (int)lda); });      \
        });                                                                                                            \
    }
FAKE_BLAS_SYMMETRIC(S, s, symv, syr, float, float)
FAKE_BLAS_SYMMETRIC(D, d, symv, syr, double, double)
FAKE_BLAS_SYMMETRIC(C, c, hemv, her, fake_blas_c32_t, float)
FAKE_BLAS_SYMMETRIC(Z, z, hemv, her, fake_blas_c64_t, double)

/* ---- Level 3 ---- */

namespace {

struct shape_t {
    fakeblasOperation_t transa, transb;
    int64_t m, n, k, lda, ldb, ldc;
    bool good_shape() const {
        return good(transa) && good(transb) && m >= 0 && n >= 0 && k >= 0 &&
               good_ld(lda, transa == FAKEBLAS_OP_N ? m : k) && good_ld(ldb, transb == FAKEBLAS_OP_N ? k : n) &&
               good_ld(ldc, m);
    }
    template <typename T> operand_t a(const T *at) const {
        return transa == FAKEBLAS_OP_N ? matrix(at, m, k, lda) : matrix(at, k, m, lda);
    }
    template <typename T> operand_t b(const T *at) const {
        return transb == FAKEBLAS_OP_N ? matrix(at, k, n, ldb) : matrix(at, n, k, ldb);
    }
    template <typename T> operand_t c(const T *at) const { return matrix(at, m, n, ldc); }
};

#define FAKE_BLAS_PRODUCT(l, T)                                                                                        \
    void product(const shape_t &s, const T &alpha, const T *a, const T *b, const T &beta, T *c) {                      \
        cblas_##l##gemm(LAYOUT, of(s.transa), of(s.transb), (int)s.m, (int)s.n, (int)s.k, pass(alpha), a, (int)s.lda,  \
                        b, (int)s.ldb, pass(beta), c, (int)s.ldc);                                                     \
    }
FAKE_BLAS_PRODUCT(s, float)
FAKE_BLAS_PRODUCT(d, double)
FAKE_BLAS_PRODUCT(c, fake_blas_c32_t)
FAKE_BLAS_PRODUCT(z, fake_blas_c64_t)

template <typename T>
status_t gemm_strided(fakeblasHandle_t handle, const char *name, const shape_t &shape, const T *alpha, const T *a,
                      int64_t stride_a, const T *b, int64_t stride_b, const T *beta, T *c, int64_t stride_c,
                      int64_t count) {
    return blas_compute(handle, name, [&](frame_t &frame) -> status_t {
        UNLESS(shape.good_shape() && count >= 0);
        const auto first = frame.scalar(alpha), second = frame.scalar(beta);
        for (int64_t i = 0; i < count; ++i) {
            frame.operands.push_back(shape.a(a + i * stride_a));
            frame.operands.push_back(shape.b(b + i * stride_b));
            frame.operands.push_back(shape.c(c + i * stride_c));
        }
        return frame.submit_work([=] {
            for (int64_t i = 0; i < count; ++i)
                product(shape, hurt(first.get()), a + i * stride_a, b + i * stride_b, second.get(), c + i * stride_c);
        });
    });
}

template <typename T>
status_t gemm_batched(fakeblasHandle_t handle, const char *name, const shape_t &shape, const T *alpha,
                      const T *const *a, const T *const *b, const T *beta, T *const *c, int64_t count) {
    return blas_compute(handle, name, [&](frame_t &frame) -> status_t {
        UNLESS(shape.good_shape() && count >= 0);
        const auto first = frame.scalar(alpha), second = frame.scalar(beta);
        for (const void *table : {(const void *)a, (const void *)b, (const void *)c})
            frame.operands.push_back(operand_t{table, (size_t)count * sizeof(void *), alignof(void *)});
        const int device = handle->device;
        return frame.submit_work([=] {
            for (int64_t i = 0; i < count; ++i) {
                for (const operand_t &operand : {shape.a(a[i]), shape.b(b[i]), shape.c((const T *)c[i])})
                    if (blas_look(operand.data, operand.bytes, operand.alignment, device, name) != gpuSuccess)
                        return;
                product(shape, hurt(first.get()), a[i], b[i], second.get(), c[i]);
            }
        });
    });
}

} // namespace

#define FAKE_BLAS_LEVEL3(L, l, T)                                                                                      \
    status_t fakeblas##L##gemm_64(fakeblasHandle_t handle, fakeblasOperation_t transa, fakeblasOperation_t transb,     \
                                  int64_t m, int64_t n, int64_t k, const T *alpha, const T *a, int64_t lda,            \
                                  const T *b, int64_t ldb, const T *beta, T *c, int64_t ldc) {                         \
        return gemm_strided(handle, #L "gemm", shape_t{transa, transb, m, n, k, lda, ldb, ldc}, alpha, a, 0, b, 0,     \
                            beta, c, 0, 1);                                                                            \
    }                                                                                                                  \
    status_t fakeblas##L##gemmBatched_64(fakeblasHandle_t handle, fakeblasOperation_t transa,                          \
                                         fakeblasOperation_t transb, int64_t m, int64_t n, int64_t k, const T *alpha,  \
                                         const T *const a[], int64_t lda, const T *const b[], int64_t ldb,             \
                                         const T *beta, T *const c[], int64_t ldc, int64_t batch_count) {              \
        return gemm_batched(handle, #L "gemmBatched", shape_t{transa, transb, m, n, k, lda, ldb, ldc}, alpha, a, b,    \
                            beta, c, batch_count);                                                                     \
    }                                                                                                                  \
    status_t fakeblas##L##gemmStridedBatched_64(                                                                       \
        fakeblasHandle_t handle, fakeblasOperation_t transa, fakeblasOperation_t transb, int64_t m, int64_t n,         \
        int64_t k, const T *alpha, const T *a, int64_t lda, long long stride_a, const T *b, int64_t ldb,               \
        long long stride_b, const T *beta, T *c, int64_t ldc, long long stride_c, int64_t batch_count) {               \
        return gemm_strided(handle, #L "gemmStridedBatched", shape_t{transa, transb, m, n, k, lda, ldb, ldc}, alpha,   \
                            a, stride_a, b, stride_b, beta, c, stride_c, batch_count);                                 \
    }                                                                                                                  \
    status_t fakeblas##L##symm_64(fakeblasHandle_t handle, fakeblasSideMode_t side, fakeblasFillMode_t uplo,           \
                                  int64_t m, int64_t n, const T *alpha, const T *a, int64_t lda, const T *b,           \
                                  int64_t ldb, const T *beta, T *c, int64_t ldc) {                                     \
        return blas_compute(handle, #L "symm", [&](frame_t &frame) -> status_t {                                       \
            const int64_t order = side == FAKEBLAS_SIDE_LEFT ? m : n;                                                  \
            UNLESS(good(side) && good(uplo) && n >= 0 && good_ld(lda, order) && good_ld(ldb, m) && good_ld(ldc, m));   \
            const auto first = frame.scalar(alpha), second = frame.scalar(beta);                                       \
            frame.operands.push_back(matrix(a, order, order, lda));                                                    \
            frame.operands.push_back(matrix(b, m, n, ldb));                                                            \
            frame.operands.push_back(matrix(c, m, n, ldc));                                                            \
            return frame.submit_work([=] {                                                                             \
                const T by = hurt(first.get()), keep = second.get();                                                   \
                cblas_##l##symm(LAYOUT, of(side), of(uplo), (int)m, (int)n, pass(by), a, (int)lda, b, (int)ldb,        \
                                pass(keep), c, (int)ldc);                                                              \
            });                                                                                                        \
        });                                                                                                            \
    }                                                                                                                  \
    status_t fakeblas##L##syrk_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo, fakeblasOperation_t trans,         \
                                  int64_t n, int64_t k, const T *alpha, const T *a, int64_t lda, const T *beta, T *c,  \
                                  int64_t ldc) {                                                                       \
        return blas_compute(handle, #L "syrk", [&](frame_t &frame) -> status_t {                                       \
            const bool plain = trans == FAKEBLAS_OP_N;                                                                 \
            UNLESS(good(uplo) && (plain || trans == FAKEBLAS_OP_T) && n >= 0 && k >= 0 &&                              \
                   good_ld(lda, plain ? n : k) && good_ld(ldc, n));                                                    \
            const auto first = frame.scalar(alpha), second = frame.scalar(beta);                                       \
            frame.operands.push_back(plain ? matrix(a, n, k, lda) : matrix(a, k, n, lda));                             \
            frame.operands.push_back(matrix(c, n, n, ldc));                                                            \
            return frame.submit_work([=] {                                                                             \
                const T by = hurt(first.get()), keep = second.get();                                                   \
                cblas_##l##syrk(LAYOUT, of(uplo), of(trans), (int)n, (int)k, pass(by), a, (int)lda, pass(keep), c,     \
                                (int)ldc);                                                                             \
            });                                                                                                        \
        });                                                                                                            \
    }                                                                                                                  \
    status_t fakeblas##L##trmm_64(fakeblasHandle_t handle, fakeblasSideMode_t side, fakeblasFillMode_t uplo,           \
                                  fakeblasOperation_t trans, fakeblasDiagType_t diag, int64_t m, int64_t n,            \
                                  const T *alpha, const T *a, int64_t lda, const T *b, int64_t ldb, T *c,              \
                                  int64_t ldc) {                                                                       \
        return blas_compute(handle, #L "trmm", [&](frame_t &frame) -> status_t {                                       \
            const int64_t order = side == FAKEBLAS_SIDE_LEFT ? m : n;                                                  \
            UNLESS(good(side) && good(uplo) && good(trans) && good(diag) && n >= 0 && good_ld(lda, order) &&           \
                   good_ld(ldb, m) && good_ld(ldc, m) && (b != c || ldb == ldc));                                      \
            const auto first = frame.scalar(alpha);                                                                    \
            frame.operands.push_back(matrix(a, order, order, lda));                                                    \
            frame.operands.push_back(matrix(b, m, n, ldb));                                                            \
            frame.operands.push_back(matrix(c, m, n, ldc));                                                            \
            return frame.submit_work([=] {                                                                             \
                const T by = hurt(first.get());                                                                        \
                for (int64_t j = 0; b != c && j < n; ++j)                                                              \
                    memcpy(c + j * ldc, b + j * ldb, (size_t)m * sizeof(T));                                           \
                cblas_##l##trmm(LAYOUT, of(side), of(uplo), of(trans), of(diag), (int)m, (int)n, pass(by), a,          \
                                (int)lda, c, (int)ldc);                                                                \
            });                                                                                                        \
        });                                                                                                            \
    }                                                                                                                  \
    status_t fakeblas##L##trsm_64(fakeblasHandle_t handle, fakeblasSideMode_t side, fakeblasFillMode_t uplo,           \
                                  fakeblasOperation_t trans, fakeblasDiagType_t diag, int64_t m, int64_t n,            \
                                  const T *alpha, const T *a, int64_t lda, T *b, int64_t ldb) {                        \
        return blas_compute(handle, #L "trsm", [&](frame_t &frame) -> status_t {                                       \
            const int64_t order = side == FAKEBLAS_SIDE_LEFT ? m : n;                                                  \
            UNLESS(good(side) && good(uplo) && good(trans) && good(diag) && n >= 0 && good_ld(lda, order) &&           \
                   good_ld(ldb, m));                                                                                   \
            const auto first = frame.scalar(alpha);                                                                    \
            frame.operands.push_back(matrix(a, order, order, lda));                                                    \
            frame.operands.push_back(matrix(b, m, n, ldb));                                                            \
            return frame.submit_work([=] {                                                                             \
                const T by = hurt(first.get());                                                                        \
                cblas_##l##trsm(LAYOUT, of(side), of(uplo), of(trans), of(diag), (int)m, (int)n, pass(by), a,          \
                                (int)lda, b, (int)ldb);                                                                \
            });                                                                                                        \
        });                                                                                                            \
    }                                                                                                                  \
    status_t fakeblas##L##geam_64(fakeblasHandle_t handle, fakeblasOperation_t transa, fakeblasOperation_t transb,     \
                                  int64_t m, int64_t n, const T *alpha, const T *a, int64_t lda, const T *beta,        \
                                  const T *b, int64_t ldb, T *c, int64_t ldc) {                                        \
        return blas_compute(handle, #L "geam", [&](frame_t &frame) -> status_t {                                       \
            const bool plain_a = transa == FAKEBLAS_OP_N, plain_b = transb == FAKEBLAS_OP_N;                           \
            UNLESS(good(transa) && good(transb) && m >= 0 && n >= 0 && good_ld(lda, plain_a ? m : n) &&                \
                   good_ld(ldb, plain_b ? m : n) && good_ld(ldc, m) && (a != c || (plain_a && lda == ldc)) &&          \
                   (b != c || (plain_b && ldb == ldc)));                                                               \
            const auto first = frame.scalar(alpha), second = frame.scalar(beta);                                       \
            frame.operands.push_back(plain_a ? matrix(a, m, n, lda) : matrix(a, n, m, lda));                           \
            frame.operands.push_back(plain_b ? matrix(b, m, n, ldb) : matrix(b, n, m, ldb));                           \
            frame.operands.push_back(matrix(c, m, n, ldc));                                                            \
            return frame.submit_work([=] {                                                                             \
                const T x = first.get(), y = second.get();                                                             \
                for (int64_t j = 0; j < n; ++j)                                                                        \
                    for (int64_t i = 0; i < m; ++i) {                                                                  \
                        const T from_a = is_zero(x) ? T() : multiply(x, element(a, lda, transa, i, j));                \
                        const T from_b = is_zero(y) ? T() : multiply(y, element(b, ldb, transb, i, j));                \
                        c[i + j * ldc] = add(from_a, from_b);                                                          \
                    }                                                                                                  \
            });                                                                                                        \
        });                                                                                                            \
    }
FAKE_BLAS_LEVEL3(S, s, float)
FAKE_BLAS_LEVEL3(D, d, double)
FAKE_BLAS_LEVEL3(C, c, fake_blas_c32_t)
FAKE_BLAS_LEVEL3(Z, z, fake_blas_c64_t)

#define FAKE_BLAS_HERK(L, l, T, R)                                                                                     \
    status_t fakeblas##L##herk_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo, fakeblasOperation_t trans,         \
                                  int64_t n, int64_t k, const R *alpha, const T *a, int64_t lda, const R *beta, T *c,  \
                                  int64_t ldc) {                                                                       \
        return blas_compute(handle, #L "herk", [&](frame_t &frame) -> status_t {                                       \
            const bool plain = trans == FAKEBLAS_OP_N;                                                                 \
            UNLESS(good(uplo) && (plain || trans == FAKEBLAS_OP_C) && n >= 0 && k >= 0 &&                              \
                   good_ld(lda, plain ? n : k) && good_ld(ldc, n));                                                    \
            const auto first = frame.scalar(alpha), second = frame.scalar(beta);                                       \
            frame.operands.push_back(plain ? matrix(a, n, k, lda) : matrix(a, k, n, lda));                             \
            frame.operands.push_back(matrix(c, n, n, ldc));                                                            \
            return frame.submit_work([=] {                                                                             \
                cblas_##l##herk(LAYOUT, of(uplo), of(trans), (int)n, (int)k, hurt(first.get()), a, (int)lda,           \
                                second.get(), c, (int)ldc);                                                            \
            });                                                                                                        \
        });                                                                                                            \
    }
FAKE_BLAS_HERK(C, c, fake_blas_c32_t, float)
FAKE_BLAS_HERK(Z, z, fake_blas_c64_t, double)

#define FAKE_BLAS_SYR2K(L, l, syr2k, T, R, TURNED)                                                                     \
    status_t fakeblas##L##syr2k##_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo, fakeblasOperation_t trans,      \
                                     int64_t n, int64_t k, const T *alpha, const T *a, int64_t lda, const T *b,        \
                                     int64_t ldb, const R *beta, T *c, int64_t ldc) {                                  \
        return blas_compute(handle, #L#syr2k, [&](frame_t &frame) -> status_t {                                        \
            const bool plain = trans == FAKEBLAS_OP_N;                                                                 \
            UNLESS(good(uplo) && (plain || trans == TURNED) && n >= 0 && k >= 0 && good_ld(lda, plain ? n : k) &&      \
                   good_ld(ldb, plain ? n : k) && good_ld(ldc, n));                                                    \
            const auto first = frame.scalar(alpha);                                                                    \
            const auto second = frame.scalar(beta);                                                                    \
            frame.operands.push_back(plain ? matrix(a, n, k, lda) : matrix(a, k, n, lda));                             \
            frame.operands.push_back(plain ? matrix(b, n, k, ldb) : matrix(b, k, n, ldb));                             \
            frame.operands.push_back(matrix(c, n, n, ldc));                                                            \
            return frame.submit_work([=] {                                                                             \
                const T by = hurt(first.get());                                                                        \
                const R keep = second.get();                                                                           \
                cblas_##l##syr2k(LAYOUT, of(uplo), of(trans), (int)n, (int)k, pass(by), a, (int)lda, b, (int)ldb,      \
                                 pass(keep), c, (int)ldc);                                                             \
            });                                                                                                        \
        });                                                                                                            \
    }
FAKE_BLAS_SYR2K(S, s, syr2k, float, float, FAKEBLAS_OP_T)
FAKE_BLAS_SYR2K(D, d, syr2k, double, double, FAKEBLAS_OP_T)
FAKE_BLAS_SYR2K(C, c, syr2k, fake_blas_c32_t, fake_blas_c32_t, FAKEBLAS_OP_T)
FAKE_BLAS_SYR2K(Z, z, syr2k, fake_blas_c64_t, fake_blas_c64_t, FAKEBLAS_OP_T)
FAKE_BLAS_SYR2K(C, c, her2k, fake_blas_c32_t, float, FAKEBLAS_OP_C)
FAKE_BLAS_SYR2K(Z, z, her2k, fake_blas_c64_t, double, FAKEBLAS_OP_C)

/* ---- Narrow numbers ---- */

namespace {

float of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float from_half(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 31)
        return of_bits(sign | 0x7F800000 | (uint32_t)fraction << 13);
    const float size =
        exponent == 0 ? std::ldexp((float)fraction, -24) : std::ldexp((float)(1024 + fraction), exponent - 25);
    return sign != 0 ? -size : size;
}

/* To nearest, ties to even. */
uint16_t to_half(float value) {
    const uint16_t sign = (uint16_t)(bits_of(value) >> 16 & 0x8000);
    const float size = std::fabs(value);
    if (std::isnan(value))
        return (uint16_t)(sign | 0x7E00);
    if (size >= 65520.0f)
        return (uint16_t)(sign | 0x7C00);
    int exponent = 0;
    std::frexp(size, &exponent); /* size < 2^exponent */
    const int step = exponent - 11 < -24 ? -24 : exponent - 11;
    const int count = (int)std::nearbyint(std::ldexp(size, -step)); /* at most 2048 */
    if (step == -24)
        return (uint16_t)(sign | count); /* subnormal, or the first normal numbers, which follow on */
    return (uint16_t)(sign + ((step + 24) << 10) + count);
}

uint16_t to_bfloat(float value) {
    uint32_t bits = bits_of(value);
    if (std::isnan(value))
        return (uint16_t)(bits >> 16 | 0x40);
    bits += 0x7FFF + (bits >> 16 & 1);
    return (uint16_t)(bits >> 16);
}

float widen(const void *data, fakeblasDataType_t type, int64_t i) {
    if (type == FAKEBLAS_R_16F)
        return from_half(((const uint16_t *)data)[i]);
    if (type == FAKEBLAS_R_16BF)
        return of_bits((uint32_t)((const uint16_t *)data)[i] << 16);
    return ((const float *)data)[i];
}

std::vector<float> widened(const void *data, fakeblasDataType_t type, int64_t rows, int64_t columns, int64_t ld) {
    std::vector<float> wide((size_t)(rows * columns));
    for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < rows; ++i)
            wide[(size_t)(i + j * rows)] = widen(data, type, i + j * ld);
    return wide;
}

operand_t any_matrix(const void *data, fakeblasDataType_t type, int64_t rows, int64_t columns, int64_t ld) {
    return type == FAKEBLAS_R_32F ? matrix((const float *)data, rows, columns, ld)
                                  : matrix((const uint16_t *)data, rows, columns, ld);
}

} // namespace

status_t fakeblasGemmEx_64(fakeblasHandle_t handle, fakeblasOperation_t transa, fakeblasOperation_t transb, int64_t m,
                           int64_t n, int64_t k, const void *alpha, const void *a, fakeblasDataType_t a_type,
                           int64_t lda, const void *b, fakeblasDataType_t b_type, int64_t ldb, const void *beta,
                           void *c, fakeblasDataType_t c_type, int64_t ldc, fakeblasComputeType_t compute,
                           fakeblasGemmAlgo_t) {
    return blas_compute(handle, "GemmEx", [&](frame_t &frame) -> status_t {
        const shape_t shape{transa, transb, m, n, k, lda, ldb, ldc};
        UNLESS(shape.good_shape());
        if (a_type != b_type || (c_type != a_type && c_type != FAKEBLAS_R_32F))
            return FAKEBLAS_STATUS_NOT_SUPPORTED;
        const bool emulates = state().capability == 100 || state().capability == 103;
        if (compute == FAKEBLAS_COMPUTE_32F_EMULATED_16BFX9 && (a_type != FAKEBLAS_R_32F || !emulates))
            return FAKEBLAS_STATUS_NOT_SUPPORTED;
        const auto first = frame.scalar((const float *)alpha), second = frame.scalar((const float *)beta);
        const int64_t a_rows = transa == FAKEBLAS_OP_N ? m : k, a_columns = transa == FAKEBLAS_OP_N ? k : m;
        const int64_t b_rows = transb == FAKEBLAS_OP_N ? k : n, b_columns = transb == FAKEBLAS_OP_N ? n : k;
        frame.operands.push_back(any_matrix(a, a_type, a_rows, a_columns, lda));
        frame.operands.push_back(any_matrix(b, b_type, b_rows, b_columns, ldb));
        frame.operands.push_back(any_matrix(c, c_type, m, n, ldc));
        return frame.submit_work([=] {
            const std::vector<float> wide_a = widened(a, a_type, a_rows, a_columns, lda);
            const std::vector<float> wide_b = widened(b, b_type, b_rows, b_columns, ldb);
            std::vector<float> sums((size_t)(m * n)), wide_c((size_t)(m * n));
            const float by = first.get(), keep = second.get();
            if (keep != 0)
                wide_c = widened(c, c_type, m, n, ldc);
            const shape_t packed{transa, transb, m, n, k, a_rows, b_rows, m};
            product(packed, 1.0f, wide_a.data(), wide_b.data(), 0.0f, sums.data());
            for (int64_t j = 0; j < n; ++j)
                for (int64_t i = 0; i < m; ++i) {
                    const size_t at = (size_t)(i + j * m);
                    const float value = by * sums[at] + (keep != 0 ? keep * wide_c[at] : 0); /* 0 NaN is NaN */
                    if (c_type == FAKEBLAS_R_32F)
                        ((float *)c)[i + j * ldc] = value;
                    else
                        ((uint16_t *)c)[i + j * ldc] = c_type == FAKEBLAS_R_16F ? to_half(value) : to_bfloat(value);
                }
        });
    });
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
    static const status_t statuses[] = {FAKEBLAS_STATUS_ALLOC_FAILED, FAKEBLAS_STATUS_EXECUTION_FAILED,
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
