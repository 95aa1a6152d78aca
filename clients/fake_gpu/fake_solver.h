/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_SOLVER_H
#define JALLOC_CLIENTS_FAKE_SOLVER_H

/* A vendor's LAPACK for the fake runtime, in the shape of cuSOLVER:
 * library/gpu/blas/vendor_solver.h includes this file in place of cusolverDn.h where the runtime
 * plays CUDA. What it computes it does by loops of its own, in double precision, as work of the
 * stream (fake_solver_math.h). As fake_blas.h has it, it chooses what hurts and calls a fault what
 * is never right:
 *
 *   - sizes, enumerators and leading dimensions are checked; m < n is none of gesvd's;
 *   - a workspace, of either kind, that has not exactly the bytes of the query is a fault;
 *   - the workspace on the device is full of NaN before anything is computed;
 *   - the host's must be the runtime's pinned memory. It is written when the call enqueues, and
 *     what was written must be there when the stream has got to the work: another call that had it
 *     in between, or its end, is a fault;
 *   - operands in the host's memory or not aligned to their size are faults;
 *   - a handle used with another device current, or set to a stream that is gone, is a fault;
 *   - no handle can be made by a thread that is capturing a stream, and none is captured. */

#include "fake_blas.h"

typedef struct fake_solver_handle_t *fakesolverDnHandle_t;
typedef struct fake_solver_params_t *fakesolverDnParams_t;

#pragma GCC visibility push(hidden)

/* Numbers as cuSOLVER's. */
typedef enum {
    FAKESOLVER_STATUS_SUCCESS = 0,
    FAKESOLVER_STATUS_NOT_INITIALIZED = 1,
    FAKESOLVER_STATUS_ALLOC_FAILED = 2,
    FAKESOLVER_STATUS_INVALID_VALUE = 3,
    FAKESOLVER_STATUS_ARCH_MISMATCH = 4,
    FAKESOLVER_STATUS_EXECUTION_FAILED = 6,
    FAKESOLVER_STATUS_INTERNAL_ERROR = 7,
    FAKESOLVER_STATUS_NOT_SUPPORTED = 9
} fakesolverStatus_t;
typedef enum {
    FAKESOLVER_EIG_MODE_NOVECTOR = 0,
    FAKESOLVER_EIG_MODE_VECTOR = 1
} fakesolverEigMode_t;
typedef enum {
    FAKESOLVER_R_32F = 0,
    FAKESOLVER_R_64F = 1,
    FAKESOLVER_C_32F = 4,
    FAKESOLVER_C_64F = 5
} fakesolverDataType_t;

fakesolverStatus_t fakesolverDnCreate(fakesolverDnHandle_t *handle);
fakesolverStatus_t fakesolverDnSetStream(fakesolverDnHandle_t handle, gpuStream_t stream);
fakesolverStatus_t fakesolverDnCreateParams(fakesolverDnParams_t *params);

fakesolverStatus_t fakesolverDnXgetrf_bufferSize(fakesolverDnHandle_t handle,
                                                 fakesolverDnParams_t params, int64_t m, int64_t n,
                                                 fakesolverDataType_t type, const void *a,
                                                 int64_t lda, fakesolverDataType_t compute,
                                                 size_t *device_bytes, size_t *host_bytes);
fakesolverStatus_t fakesolverDnXgetrf(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                      int64_t m, int64_t n, fakesolverDataType_t type, void *a,
                                      int64_t lda, int64_t *ipiv, fakesolverDataType_t compute,
                                      void *work, size_t work_bytes, void *host, size_t host_bytes,
                                      int *info);
fakesolverStatus_t fakesolverDnXgetrs(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                      fakeblasOperation_t trans, int64_t n, int64_t nrhs,
                                      fakesolverDataType_t type, const void *a, int64_t lda,
                                      const int64_t *ipiv, fakesolverDataType_t type_b, void *b,
                                      int64_t ldb, int *info);
fakesolverStatus_t fakesolverDnXgeqrf_bufferSize(fakesolverDnHandle_t handle,
                                                 fakesolverDnParams_t params, int64_t m, int64_t n,
                                                 fakesolverDataType_t type, const void *a,
                                                 int64_t lda, fakesolverDataType_t type_tau,
                                                 const void *tau, fakesolverDataType_t compute,
                                                 size_t *device_bytes, size_t *host_bytes);
fakesolverStatus_t fakesolverDnXgeqrf(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                      int64_t m, int64_t n, fakesolverDataType_t type, void *a,
                                      int64_t lda, fakesolverDataType_t type_tau, void *tau,
                                      fakesolverDataType_t compute, void *work, size_t work_bytes,
                                      void *host, size_t host_bytes, int *info);
fakesolverStatus_t fakesolverDnXsyevd_bufferSize(
    fakesolverDnHandle_t handle, fakesolverDnParams_t params, fakesolverEigMode_t job,
    fakeblasFillMode_t uplo, int64_t n, fakesolverDataType_t type, const void *a, int64_t lda,
    fakesolverDataType_t type_w, const void *w, fakesolverDataType_t compute, size_t *device_bytes,
    size_t *host_bytes);
fakesolverStatus_t fakesolverDnXsyevd(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                      fakesolverEigMode_t job, fakeblasFillMode_t uplo, int64_t n,
                                      fakesolverDataType_t type, void *a, int64_t lda,
                                      fakesolverDataType_t type_w, void *w,
                                      fakesolverDataType_t compute, void *work, size_t work_bytes,
                                      void *host, size_t host_bytes, int *info);
fakesolverStatus_t fakesolverDnXgesvd_bufferSize(
    fakesolverDnHandle_t handle, fakesolverDnParams_t params, signed char jobu, signed char jobvt,
    int64_t m, int64_t n, fakesolverDataType_t type, const void *a, int64_t lda,
    fakesolverDataType_t type_s, const void *s, fakesolverDataType_t type_u, const void *u,
    int64_t ldu, fakesolverDataType_t type_vt, const void *vt, int64_t ldvt,
    fakesolverDataType_t compute, size_t *device_bytes, size_t *host_bytes);
fakesolverStatus_t fakesolverDnXgesvd(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                      signed char jobu, signed char jobvt, int64_t m, int64_t n,
                                      fakesolverDataType_t type, void *a, int64_t lda,
                                      fakesolverDataType_t type_s, void *s,
                                      fakesolverDataType_t type_u, void *u, int64_t ldu,
                                      fakesolverDataType_t type_vt, void *vt, int64_t ldvt,
                                      fakesolverDataType_t compute, void *work, size_t work_bytes,
                                      void *host, size_t host_bytes, int *info);

#define FAKE_SOLVER_FORALL(L, orgqr, ormqr, T)                                                     \
    fakesolverStatus_t fakesolverDn##L##orgqr##_bufferSize(fakesolverDnHandle_t handle, int m,     \
                                                           int n, int k, const T *a, int lda,      \
                                                           const T *tau, int *elements);           \
    fakesolverStatus_t fakesolverDn##L##orgqr(fakesolverDnHandle_t handle, int m, int n, int k,    \
                                              T *a, int lda, const T *tau, T *work, int elements,  \
                                              int *info);                                          \
    fakesolverStatus_t fakesolverDn##L##ormqr##_bufferSize(                                        \
        fakesolverDnHandle_t handle, fakeblasSideMode_t side, fakeblasOperation_t trans, int m,    \
        int n, int k, const T *a, int lda, const T *tau, const T *c, int ldc, int *elements);      \
    fakesolverStatus_t fakesolverDn##L##ormqr(                                                     \
        fakesolverDnHandle_t handle, fakeblasSideMode_t side, fakeblasOperation_t trans, int m,    \
        int n, int k, const T *a, int lda, const T *tau, T *c, int ldc, T *work, int elements,     \
        int *info);
FAKE_SOLVER_FORALL(S, orgqr, ormqr, float)
FAKE_SOLVER_FORALL(D, orgqr, ormqr, double)
FAKE_SOLVER_FORALL(C, ungqr, unmqr, fake_blas_c32_t)
FAKE_SOLVER_FORALL(Z, ungqr, unmqr, fake_blas_c64_t)
#undef FAKE_SOLVER_FORALL

/* NULL: there is no such library, or no such function in it. */
void *fake_solver_open(const char *library);
void *fake_solver_find(const char *function);

#pragma GCC visibility pop

#define GPU_SOLVER_LIBRARY "libfakesolver.so.12"
#define GPU_SOLVER_(name) fakesolverDn##name
#define GPU_SOLVER_ENUM_(name) FAKESOLVER_##name
#define GPU_SOLVER_BLAS_(name) FAKEBLAS_##name
#define GPU_SOLVER_TYPE_(name) FAKESOLVER_##name
#define GPU_SOLVER_STATUS_T fakesolverStatus_t
#define GPU_SOLVER_STREAM_PER_THREAD gpuStreamPerThread
#define GPU_SOLVER_HAS_SPECTRAL 1
#define GPU_SOLVER_OPEN(name) fake_solver_open(name)
#define GPU_SOLVER_FIND(library, name) fake_solver_find(name)
#define GPU_SOLVER_OPEN_ERROR() "libfakesolver.so.12: cannot open shared object file"

#endif
