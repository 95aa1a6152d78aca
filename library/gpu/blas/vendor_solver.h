/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_VENDOR_SOLVER_H
#define JALLOC_GPU_BLAS_VENDOR_SOLVER_H

/* The vendor's LAPACK: what it is called, and which of its functions are used. As vendor_blas.h for
 * the BLAS, this header is the only one that knows cuSOLVER from hipSOLVER:
 *
 *   nvcc          cuSOLVER 11 or newer, where cusolverDn.h is found
 *   hipcc         hipSOLVER 2.3 or newer, where hipsolver/hipsolver.h is found; its functions with
 *                 64-bit sizes are getrf, getrs and geqrf, not syevd and gesvd
 *   the tests     clients/fake_gpu/fake_solver.h, in the flavour that plays CUDA
 *   otherwise     GPU_HAS_SOLVER is 0, and each routine is not implemented, by name
 *
 * Nothing is linked: the functions are looked up when the first routine asks. One that is missing
 * takes away the routines that need it, and no other. */

#include "blas/primitives/solver.h"
#include "gpu/blas/blas.h"

#define GPU_SOLVER_STRING(text) GPU_SOLVER_STRING_(text)
#define GPU_SOLVER_STRING_(text) #text

/* ---- Names ---- */

#if defined(JALLOC_GPU_FAKE)

#if defined(FAKE_GPU_CUDA)
#define GPU_HAS_SOLVER 1
#include <fake_solver.h> /* defines everything below in terms of itself */
#else
#define GPU_HAS_SOLVER 0
#endif
#define GPU_SOLVER_NAME "a fake cuSOLVER"

#elif defined(__HIP_PLATFORM_AMD__) || defined(__HIP__) || defined(__HIPCC__)

#if __has_include(<hipsolver/hipsolver.h>)
#include <hipsolver/hipsolver.h>
#define GPU_HAS_SOLVER (hipsolverVersionMajor * 100 + hipsolverVersionMinor >= 203)
#else
#define GPU_HAS_SOLVER 0
#endif

#define GPU_SOLVER_NAME "hipSOLVER"
/* 3.0 came with a new binary interface. */
#if defined(hipsolverVersionMajor) && hipsolverVersionMajor >= 3
#define GPU_SOLVER_LIBRARY "libhipsolver.so.1"
#else
#define GPU_SOLVER_LIBRARY "libhipsolver.so.0"
#endif
#define GPU_SOLVER_(name) hipsolverDn##name
#define GPU_SOLVER_ENUM_(name) HIPSOLVER_##name
#define GPU_SOLVER_BLAS_(name) HIPSOLVER_##name
#define GPU_SOLVER_TYPE_(name) HIP_##name
#define GPU_SOLVER_STATUS_T hipsolverStatus_t
#define GPU_SOLVER_STREAM_PER_THREAD hipStreamPerThread
#define GPU_SOLVER_HAS_SPECTRAL 0

#else

#if __has_include(<cusolverDn.h>)
#include <cusolverDn.h>
#define GPU_HAS_SOLVER (CUSOLVER_VER_MAJOR >= 11)
#else
#define GPU_HAS_SOLVER 0
#endif

#define GPU_SOLVER_NAME "cuSOLVER"
#define GPU_SOLVER_LIBRARY "libcusolver.so." GPU_SOLVER_STRING(CUSOLVER_VER_MAJOR)
#define GPU_SOLVER_(name) cusolverDn##name
#define GPU_SOLVER_ENUM_(name) CUSOLVER_##name
#define GPU_SOLVER_BLAS_(name) CUBLAS_##name
#define GPU_SOLVER_TYPE_(name) CUDA_##name
#define GPU_SOLVER_STATUS_T cusolverStatus_t
#define GPU_SOLVER_STREAM_PER_THREAD cudaStreamPerThread
#define GPU_SOLVER_HAS_SPECTRAL 1

#endif

#if GPU_HAS_SOLVER

/* Along the run path of this module and where the system has its libraries. */
#if !defined(GPU_SOLVER_OPEN)
#define GPU_SOLVER_OPEN(name) dlopen(name, RTLD_NOW | RTLD_LOCAL)
#define GPU_SOLVER_FIND(library, name) dlsym(library, name)
#define GPU_SOLVER_OPEN_ERROR() dlerror()
#endif

#define gpusolverStatus_t GPU_SOLVER_STATUS_T
#define gpusolverHandle_t GPU_SOLVER_(Handle_t)
#define gpusolverParams_t GPU_SOLVER_(Params_t)

/* ---- Functions: X(routine that needs it, name) ---- */

/* Q of QR has no function with 64-bit sizes, and one of each type. */
#define GPU_SOLVER_TYPED_(X, routine, real, complex)                                               \
    X(routine, S##real##_bufferSize)                                                               \
    X(routine, S##real)                                                                            \
    X(routine, D##real##_bufferSize)                                                               \
    X(routine, D##real)                                                                            \
    X(routine, C##complex##_bufferSize)                                                            \
    X(routine, C##complex)                                                                         \
    X(routine, Z##complex##_bufferSize)                                                            \
    X(routine, Z##complex)

#if GPU_SOLVER_HAS_SPECTRAL
#define GPU_SOLVER_SPECTRAL_LIST(X)                                                                \
    X(SYEVD, Xsyevd_bufferSize)                                                                    \
    X(SYEVD, Xsyevd)                                                                               \
    X(GESVD, Xgesvd_bufferSize)                                                                    \
    X(GESVD, Xgesvd)
#else
#define GPU_SOLVER_SPECTRAL_LIST(X)
#endif

#define GPU_SOLVER_ROUTINE_LIST(X)                                                                 \
    X(GETRF, Xgetrf_bufferSize)                                                                    \
    X(GETRF, Xgetrf)                                                                               \
    X(GETRS, Xgetrs)                                                                               \
    X(GEQRF, Xgeqrf_bufferSize)                                                                    \
    X(GEQRF, Xgeqrf)                                                                               \
    GPU_SOLVER_TYPED_(X, ORGQR, orgqr, ungqr)                                                      \
    GPU_SOLVER_TYPED_(X, ORMQR, ormqr, unmqr)                                                      \
    GPU_SOLVER_SPECTRAL_LIST(X)

/* Of its handles; each routine needs them. */
#define GPU_SOLVER_HELPER_LIST(X)                                                                  \
    X(ROUTINES, Create)                                                                            \
    X(ROUTINES, SetStream)                                                                         \
    X(ROUTINES, CreateParams)

#define GPU_SOLVER_LIST(X) GPU_SOLVER_HELPER_LIST(X) GPU_SOLVER_ROUTINE_LIST(X)

#endif
#endif
