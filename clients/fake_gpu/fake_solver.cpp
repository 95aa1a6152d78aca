/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The fake vendor's LAPACK: its functions, how it is found, and what tests can tell it. */

#include "gpu/blas/vendor_solver.h"

#if GPU_HAS_SOLVER

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>

#include "fake_blas_call.h"
#include "fake_solver_control.h"
#include "fake_solver_math.h"

using namespace fake;

typedef fakesolverStatus_t solver_status_t;
typedef fakesolverDataType_t data_type_t;

struct fake_solver_handle_t {
    int device;
    gpuStream_t stream;
    uint64_t stream_number;
};
struct fake_solver_params_t {
    int unused;
};

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
static solver_state_t &solver() {
    static solver_state_t *const made = new solver_state_t; /* never destroyed, as the runtime's */
    return *made;
}

static solver_status_t solver_status(gpuError_t error) {
    return error == gpuSuccess            ? FAKESOLVER_STATUS_SUCCESS
           : error == gpuErrorOutOfMemory ? FAKESOLVER_STATUS_ALLOC_FAILED
                                          : FAKESOLVER_STATUS_EXECUTION_FAILED;
}

#define SOLVER_UNLESS(condition)                                                                   \
    if (!(condition))                                                                              \
    return FAKESOLVER_STATUS_INVALID_VALUE

/* The frame of every function. */
template <typename BODY>
static solver_status_t solver_enter(const char *name, unsigned flags, BODY body) {
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

static bool is_single(data_type_t type) {
    return type == FAKESOLVER_R_32F || type == FAKESOLVER_C_32F;
}
static bool is_complex(data_type_t type) {
    return type == FAKESOLVER_C_32F || type == FAKESOLVER_C_64F;
}
static size_t size_of(data_type_t type) { return (is_single(type) ? 4 : 8) << is_complex(type); }
static data_type_t real_of(data_type_t type) {
    return is_single(type) ? FAKESOLVER_R_32F : FAKESOLVER_R_64F;
}

static value_t load(data_type_t type, const void *data, int64_t i) {
    const int parts = is_complex(type) ? 2 : 1;
    const auto part = [&](int64_t at) {
        return is_single(type) ? (double)((const float *)data)[at] : ((const double *)data)[at];
    };
    return value_t(part(i * parts), is_complex(type) ? part(i * parts + 1) : 0);
}
static void store(data_type_t type, void *data, int64_t i, value_t value) {
    const int parts = is_complex(type) ? 2 : 1;
    for (int k = 0; k < parts; k++) {
        const double part = k == 0 ? value.real() : value.imag();
        if (is_single(type))
            ((float *)data)[i * parts + k] = (float)part;
        else
            ((double *)data)[i * parts + k] = part;
    }
}

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
static stored_t stored(data_type_t type, const void *data, int64_t m, int64_t n, int64_t ld) {
    return stored_t{type, const_cast<void *>(data), m, n, ld};
}
static stored_t column(data_type_t type, const void *data, int64_t n) {
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

/* What it writes into the host's workspace while it enqueues. */
static void host_write(const workspace_t &work, uint64_t serial) {
    for (size_t i = 0; i < work.host_bytes; i++)
        ((unsigned char *)work.host)[i] = (unsigned char)(serial * 37 + i);
}
static bool host_is_pinned(const workspace_t &work) {
    bool wild = false;
    const allocation_t *found = find_allocation(work.host, &wild);
    return found != nullptr && found->kind == memory_kind_t::pinned &&
           (char *)work.host + work.host_bytes <= found->data + found->bytes;
}
static gpuError_t host_look(const workspace_t &work, uint64_t serial, const char *name) {
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

/* Enqueues what body(info) does with the operands; a body gives LAPACK's info. */
template <typename BODY>
static solver_status_t solver_compute(fakesolverDnHandle_t handle, const char *name,
                                      const bytes_t &wanted, const workspace_t &work,
                                      std::vector<operand_t> operands, int *info, BODY body) {
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
static solver_status_t solver_query(fakesolverDnHandle_t handle, const char *name, bool right,
                                    BODY body) {
    if (handle == nullptr)
        return FAKESOLVER_STATUS_NOT_INITIALIZED;
    return solver_enter(name, PLAIN, [&]() -> solver_status_t {
        SOLVER_UNLESS(right);
        body();
        return FAKESOLVER_STATUS_SUCCESS;
    });
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

/* ---- LU ---- */

static bytes_t getrf_bytes(data_type_t type, int64_t m, int64_t n) {
    return bytes_t{(size_t)(m * std::min<int64_t>(n, 8) + 3) * size_of(type), (size_t)n * 8 + 40};
}

solver_status_t fakesolverDnXgetrf_bufferSize(fakesolverDnHandle_t handle,
                                              fakesolverDnParams_t params, int64_t m, int64_t n,
                                              data_type_t type, const void *, int64_t lda,
                                              data_type_t compute, size_t *device_bytes,
                                              size_t *host_bytes) {
    const bool right = params != nullptr && good_ld(lda, m) && n >= 0 && compute == type;
    return solver_query(handle, "Xgetrf_bufferSize", right, [&] {
        const bytes_t bytes = getrf_bytes(type, m, n);
        *device_bytes = bytes.device, *host_bytes = bytes.host;
    });
}

solver_status_t fakesolverDnXgetrf(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                   int64_t m, int64_t n, data_type_t type, void *a, int64_t lda,
                                   int64_t *ipiv, data_type_t compute, void *work,
                                   size_t work_bytes, void *host, size_t host_bytes, int *info) {
    SOLVER_UNLESS(params != nullptr && good_ld(lda, m) && n >= 0 && compute == type);
    const stored_t matrix = stored(type, a, m, n, lda);
    const operand_t pivots = {ipiv, (size_t)std::min(m, n) * sizeof *ipiv, sizeof *ipiv};
    return solver_compute(handle, "Xgetrf", getrf_bytes(type, m, n),
                          workspace_t{work, work_bytes, host, host_bytes},
                          {matrix.operand(), pivots}, info, [=] {
                              dense_t lu = matrix.get();
                              const int found = dense_lu(&lu, ipiv);
                              matrix.put(lu);
                              return found;
                          });
}

solver_status_t fakesolverDnXgetrs(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                   fakeblasOperation_t trans, int64_t n, int64_t nrhs,
                                   data_type_t type, const void *a, int64_t lda,
                                   const int64_t *ipiv, data_type_t type_b, void *b, int64_t ldb,
                                   int *info) {
    SOLVER_UNLESS(params != nullptr && good(trans) && good_ld(lda, n) && good_ld(ldb, n) &&
                  nrhs >= 0 && type_b == type);
    const stored_t matrix = stored(type, a, n, n, lda), rhs = stored(type, b, n, nrhs, ldb);
    const operand_t pivots = {ipiv, (size_t)n * sizeof *ipiv, sizeof *ipiv};
    return solver_compute(handle, "Xgetrs", bytes_t{0, 0}, workspace_t{nullptr, 0, nullptr, 0},
                          {matrix.operand(), rhs.operand(), pivots}, info, [=] {
                              dense_t x = rhs.get();
                              dense_lu_solve(matrix.get(), ipiv, "NTC"[trans], &x);
                              rhs.put(x);
                              return 0;
                          });
}

/* ---- QR ---- */

static bytes_t geqrf_bytes(data_type_t type, int64_t m, int64_t n) {
    return bytes_t{(size_t)(m + 5 * n) * size_of(type), 0};
}

solver_status_t fakesolverDnXgeqrf_bufferSize(fakesolverDnHandle_t handle,
                                              fakesolverDnParams_t params, int64_t m, int64_t n,
                                              data_type_t type, const void *, int64_t lda,
                                              data_type_t type_tau, const void *,
                                              data_type_t compute, size_t *device_bytes,
                                              size_t *host_bytes) {
    const bool right =
        params != nullptr && good_ld(lda, m) && n >= 0 && type_tau == type && compute == type;
    return solver_query(handle, "Xgeqrf_bufferSize", right, [&] {
        const bytes_t bytes = geqrf_bytes(type, m, n);
        *device_bytes = bytes.device, *host_bytes = bytes.host;
    });
}

solver_status_t fakesolverDnXgeqrf(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                   int64_t m, int64_t n, data_type_t type, void *a, int64_t lda,
                                   data_type_t type_tau, void *tau, data_type_t compute, void *work,
                                   size_t work_bytes, void *host, size_t host_bytes, int *info) {
    SOLVER_UNLESS(params != nullptr && good_ld(lda, m) && n >= 0 && type_tau == type &&
                  compute == type);
    const stored_t matrix = stored(type, a, m, n, lda), factors = column(type, tau, std::min(m, n));
    return solver_compute(handle, "Xgeqrf", geqrf_bytes(type, m, n),
                          workspace_t{work, work_bytes, host, host_bytes},
                          {matrix.operand(), factors.operand()}, info, [=] {
                              dense_t qr = matrix.get();
                              std::vector<value_t> taus;
                              dense_qr(&qr, &taus);
                              matrix.put(qr);
                              for (size_t i = 0; i < taus.size(); i++)
                                  store(type, tau, (int64_t)i, taus[i]);
                              return 0;
                          });
}

static std::vector<value_t> taus_of(const stored_t &factors) { return factors.get().values; }

static solver_status_t orgqr(fakesolverDnHandle_t handle, const char *name, data_type_t type, int m,
                             int n, int k, void *a, int lda, const void *tau, void *work,
                             int elements, int *info) {
    SOLVER_UNLESS(m >= n && n >= k && k >= 0 && good_ld(lda, m));
    const stored_t matrix = stored(type, a, m, n, lda), factors = column(type, tau, k);
    const bytes_t wanted = {(size_t)(2 * n + 7) * size_of(type), 0};
    return solver_compute(handle, name, wanted,
                          workspace_t{work, (size_t)elements * size_of(type), nullptr, 0},
                          {matrix.operand(), factors.operand()}, info, [=] {
                              dense_t q(m, n);
                              for (int i = 0; i < n; i++)
                                  q.at(i, i) = 1;
                              dense_qr_multiply(matrix.get(), taus_of(factors), k, true, false, &q);
                              matrix.put(q);
                              return 0;
                          });
}

static solver_status_t ormqr(fakesolverDnHandle_t handle, const char *name, data_type_t type,
                             fakeblasSideMode_t side, fakeblasOperation_t trans, int m, int n,
                             int k, const void *a, int lda, const void *tau, void *c, int ldc,
                             void *work, int elements, int *info) {
    const bool left = side == FAKEBLAS_SIDE_LEFT;
    const int rows = left ? m : n;
    SOLVER_UNLESS(
        good(side) && k >= 0 && k <= rows && good_ld(lda, rows) && good_ld(ldc, m) &&
        (trans == FAKEBLAS_OP_N || trans == (is_complex(type) ? FAKEBLAS_OP_C : FAKEBLAS_OP_T)));
    const stored_t matrix = stored(type, a, rows, k, lda), factors = column(type, tau, k),
                   product = stored(type, c, m, n, ldc);
    const bytes_t wanted = {(size_t)(3 * (left ? n : m) + 1) * size_of(type), 0};
    return solver_compute(
        handle, name, wanted, workspace_t{work, (size_t)elements * size_of(type), nullptr, 0},
        {matrix.operand(), factors.operand(), product.operand()}, info, [=] {
            dense_t x = product.get();
            dense_qr_multiply(matrix.get(), taus_of(factors), k, left, trans != FAKEBLAS_OP_N, &x);
            product.put(x);
            return 0;
        });
}

#define FAKE_SOLVER_TYPED(L, orgqr_, ormqr_, T, type)                                              \
    solver_status_t fakesolverDn##L##orgqr_##_bufferSize(fakesolverDnHandle_t handle, int m,       \
                                                         int n, int k, const T *, int lda,         \
                                                         const T *, int *elements) {               \
        return solver_query(handle, #L#orgqr_ "_bufferSize",                                       \
                            m >= n && n >= k && k >= 0 && good_ld(lda, m),                         \
                            [&] { *elements = 2 * n + 7; });                                       \
    }                                                                                              \
    solver_status_t fakesolverDn##L##orgqr_(fakesolverDnHandle_t handle, int m, int n, int k,      \
                                            T *a, int lda, const T *tau, T *work, int elements,    \
                                            int *info) {                                           \
        return orgqr(handle, #L#orgqr_, type, m, n, k, a, lda, tau, work, elements, info);         \
    }                                                                                              \
    solver_status_t fakesolverDn##L##ormqr_##_bufferSize(                                          \
        fakesolverDnHandle_t handle, fakeblasSideMode_t side, fakeblasOperation_t trans, int m,    \
        int n, int k, const T *, int lda, const T *, const T *, int ldc, int *elements) {          \
        const bool left = side == FAKEBLAS_SIDE_LEFT;                                              \
        return solver_query(handle, #L#ormqr_ "_bufferSize",                                       \
                            good(side) && good(trans) && k >= 0 && k <= (left ? m : n) &&          \
                                good_ld(lda, left ? m : n) && good_ld(ldc, m),                     \
                            [&] { *elements = 3 * (left ? n : m) + 1; });                          \
    }                                                                                              \
    solver_status_t fakesolverDn##L##ormqr_(fakesolverDnHandle_t handle, fakeblasSideMode_t side,  \
                                            fakeblasOperation_t trans, int m, int n, int k,        \
                                            const T *a, int lda, const T *tau, T *c, int ldc,      \
                                            T *work, int elements, int *info) {                    \
        return ormqr(handle, #L#ormqr_, type, side, trans, m, n, k, a, lda, tau, c, ldc, work,     \
                     elements, info);                                                              \
    }
FAKE_SOLVER_TYPED(S, orgqr, ormqr, float, FAKESOLVER_R_32F)
FAKE_SOLVER_TYPED(D, orgqr, ormqr, double, FAKESOLVER_R_64F)
FAKE_SOLVER_TYPED(C, ungqr, unmqr, fake_blas_c32_t, FAKESOLVER_C_32F)
FAKE_SOLVER_TYPED(Z, ungqr, unmqr, fake_blas_c64_t, FAKESOLVER_C_64F)

/* ---- Eigenvalues and singular values ---- */

static bytes_t syevd_bytes(data_type_t type, int64_t n) {
    return bytes_t{(size_t)(n * n + 2 * n) * size_of(type), (size_t)n * 24 + 8};
}

static bool good(fakesolverEigMode_t job) {
    return job == FAKESOLVER_EIG_MODE_NOVECTOR || job == FAKESOLVER_EIG_MODE_VECTOR;
}

solver_status_t fakesolverDnXsyevd_bufferSize(fakesolverDnHandle_t handle,
                                              fakesolverDnParams_t params, fakesolverEigMode_t job,
                                              fakeblasFillMode_t uplo, int64_t n, data_type_t type,
                                              const void *, int64_t lda, data_type_t type_w,
                                              const void *, data_type_t compute,
                                              size_t *device_bytes, size_t *host_bytes) {
    const bool right = params != nullptr && good(job) && good(uplo) && good_ld(lda, n) &&
                       type_w == real_of(type) && compute == type;
    return solver_query(handle, "Xsyevd_bufferSize", right, [&] {
        const bytes_t bytes = syevd_bytes(type, n);
        *device_bytes = bytes.device, *host_bytes = bytes.host;
    });
}

solver_status_t fakesolverDnXsyevd(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                   fakesolverEigMode_t job, fakeblasFillMode_t uplo, int64_t n,
                                   data_type_t type, void *a, int64_t lda, data_type_t type_w,
                                   void *w, data_type_t compute, void *work, size_t work_bytes,
                                   void *host, size_t host_bytes, int *info) {
    SOLVER_UNLESS(params != nullptr && good(job) && good(uplo) && good_ld(lda, n) &&
                  type_w == real_of(type) && compute == type);
    const stored_t matrix = stored(type, a, n, n, lda), values = column(type_w, w, n);
    return solver_compute(
        handle, "Xsyevd", syevd_bytes(type, n), workspace_t{work, work_bytes, host, host_bytes},
        {matrix.operand(), values.operand()}, info, [=] {
            const dense_t given = matrix.get();
            dense_t whole(n, n);
            for (int64_t j = 0; j < n; j++)
                for (int64_t i = 0; i < n; i++)
                    whole.at(i, j) = i == j ? given.at(i, i).real()
                                     : (i < j) == (uplo == FAKEBLAS_FILL_MODE_UPPER)
                                         ? given.at(i, j)
                                         : std::conj(given.at(j, i));
            std::vector<double> found;
            dense_eigen(&whole, &found);
            if (job == FAKESOLVER_EIG_MODE_VECTOR)
                matrix.put(whole);
            for (int64_t i = 0; i < n; i++)
                store(type_w, w, i, found[(size_t)i]);
            return 0;
        });
}

static bytes_t gesvd_bytes(data_type_t type, int64_t m, int64_t n) {
    return bytes_t{(size_t)(3 * n + m + 9) * size_of(type), (size_t)m * 16 + 24};
}

/* Of 'A', 'S', 'O' or 'N'. */
static bool good_job(signed char job) {
    return job == 'A' || job == 'S' || job == 'O' || job == 'N';
}
static bool good_gesvd(signed char jobu, signed char jobvt, int64_t m, int64_t n, int64_t lda,
                       int64_t ldu, int64_t ldvt) {
    return good_job(jobu) && good_job(jobvt) && !(jobu == 'O' && jobvt == 'O') && m >= n &&
           n >= 0 && good_ld(lda, m) && ldu >= 1 && ldvt >= 1 &&
           (jobu == 'N' || jobu == 'O' || ldu >= m) && (jobvt == 'N' || jobvt == 'O' || ldvt >= n);
}

solver_status_t fakesolverDnXgesvd_bufferSize(
    fakesolverDnHandle_t handle, fakesolverDnParams_t params, signed char jobu, signed char jobvt,
    int64_t m, int64_t n, data_type_t type, const void *, int64_t lda, data_type_t type_s,
    const void *, data_type_t type_u, const void *, int64_t ldu, data_type_t type_vt, const void *,
    int64_t ldvt, data_type_t compute, size_t *device_bytes, size_t *host_bytes) {
    const bool right = params != nullptr && good_gesvd(jobu, jobvt, m, n, lda, ldu, ldvt) &&
                       type_s == real_of(type) && type_u == type && type_vt == type &&
                       compute == type;
    return solver_query(handle, "Xgesvd_bufferSize", right, [&] {
        const bytes_t bytes = gesvd_bytes(type, m, n);
        *device_bytes = bytes.device, *host_bytes = bytes.host;
    });
}

solver_status_t fakesolverDnXgesvd(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                   signed char jobu, signed char jobvt, int64_t m, int64_t n,
                                   data_type_t type, void *a, int64_t lda, data_type_t type_s,
                                   void *s, data_type_t type_u, void *u, int64_t ldu,
                                   data_type_t type_vt, void *vt, int64_t ldvt, data_type_t compute,
                                   void *work, size_t work_bytes, void *host, size_t host_bytes,
                                   int *info) {
    SOLVER_UNLESS(params != nullptr && good_gesvd(jobu, jobvt, m, n, lda, ldu, ldvt) &&
                  type_s == real_of(type) && type_u == type && type_vt == type && compute == type);
    const auto made = [](signed char job, int64_t all, int64_t some) {
        return job == 'A' ? all : job == 'S' ? some : 0;
    };
    const stored_t matrix = stored(type, a, m, n, lda), values = column(type_s, s, n),
                   left = stored(type, u, m, made(jobu, m, n), ldu),
                   right = stored(type, vt, made(jobvt, n, n), n, ldvt);
    return solver_compute(
        handle, "Xgesvd", gesvd_bytes(type, m, n), workspace_t{work, work_bytes, host, host_bytes},
        {matrix.operand(), values.operand(), left.operand(), right.operand()}, info, [=] {
            dense_t full_u(m, m), v(n, n), vt_of(n, n), over(m, n);
            std::vector<double> found;
            dense_singular(matrix.get(), &full_u, &found, &v);
            for (int64_t j = 0; j < n; j++) {
                store(type_s, s, j, found[(size_t)j]);
                for (int64_t i = 0; i < n; i++)
                    vt_of.at(j, i) = std::conj(v.at(i, j));
            }
            left.put(full_u);
            right.put(vt_of);
            for (value_t &lost : over.values)
                lost = NAN;
            for (int64_t j = 0; j < n; j++)
                for (int64_t i = 0; i < m; i++)
                    if (jobu == 'O')
                        over.at(i, j) = full_u.at(i, j);
                    else if (jobvt == 'O' && i < n)
                        over.at(i, j) = vt_of.at(i, j);
            matrix.put(over);
            return 0;
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
