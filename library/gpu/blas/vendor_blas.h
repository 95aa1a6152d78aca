/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_VENDOR_BLAS_H
#define JALLOC_GPU_BLAS_VENDOR_BLAS_H

/* The vendor's BLAS: what it is called, which of its functions are used, and the product of narrow
 * numbers that only it does on matrix units. As gpu/device/vendor.h for the runtime, this header is
 * the only one that knows cuBLAS from hipBLAS:
 *
 *   nvcc          cuBLAS 12 or newer, where cublas_v2.h is found
 *   hipcc         hipBLAS 2.2 or newer, where hipblas/hipblas.h is found
 *   the tests     clients/fake_gpu/fake_blas.h, in the flavour that plays CUDA
 *   otherwise     GPU_HAS_BLAS is 0, and jalloc's kernels do everything
 *
 * Older versions have no functions with 64-bit sizes and count as missing. Nothing is linked: the
 * functions of the list below are looked up in the library when the first primitive runs, so a
 * machine without it needs nothing.
 *
 *   vendor_blas.cu                      loads the library; which primitives are given to it
 *   vendor_call.h                       what may be given to it, and the call by type
 *   vendor_level2.cu vendor_level3.cu   the primitives
 *   vendor_turn.cu                      handles and workspaces by stream, and in captures */

#include <stdlib.h>

#include "gpu/blas/blas.h"

/* ---- A product of narrow numbers, summed in float ---- */

/* What A and B hold, and how they are multiplied. */
typedef enum gpu_narrow_t {
    GPU_NARROW_BF16,  /* bfloat16 */
    GPU_NARROW_F16,   /* IEEE half */
    GPU_NARROW_BF16X9 /* floats, which the vendor cuts into three bfloat16: all nine products */
} gpu_narrow_t;

/* Enqueues C = alpha op(A) op(B) + beta C with alpha and beta of type float, whatever args->head
 * says; C has the type of A and B (narrow_result) or float. Inside a primitive, so the device is
 * current. Sizes are > 0. With beta 0 C is not read. An alpha of 0 does not keep A and B from being
 * read: who promises that must look first.
 *   - not implemented, and no message: no vendor's library, or nothing in it that this call can
 *     take (an alpha on the host other than -1, 0, 1 beside a beta on the device, or the other way
 *     round; a capture that cannot own memory; floats that are not aligned; an emulation that the
 *     library has not or declines). Nothing was enqueued.
 *   - memory error, device error, capturing: said. */
jstatus_t gpu_vendor_gemm_ex(const gpu_call_t *call, const ji_matmat_t *args, gpu_narrow_t narrow,
                             bool narrow_result);

/* Whether the library knows GPU_NARROW_BF16X9, which it may still decline. Loads it. */
bool gpu_vendor_has_bf16x9(gpu_device_t *device);

/* ---- Names ---- */

#if defined(JALLOC_GPU_FAKE)

#if defined(FAKE_GPU_CUDA)
#define GPU_HAS_BLAS 1
#include <fake_blas.h> /* defines everything below in terms of itself */
#else
#define GPU_HAS_BLAS 0
#endif

#elif defined(__HIP_PLATFORM_AMD__) || defined(__HIP__) || defined(__HIPCC__)

#if __has_include(<hipblas/hipblas.h>)
/* Compute types of their own, complex numbers of HIP; the default from 3.0 on. */
#define HIPBLAS_V2 1
#include <hipblas/hipblas.h>
#define GPU_HAS_BLAS (hipblasVersionMajor * 100 + hipblasVersionMinor >= 202)
#else
#define GPU_HAS_BLAS 0
#endif

#define GPU_BLAS_NAME "hipBLAS"
#define GPU_BLAS_LIBRARY "libhipblas.so." GPU_BLAS_STRING(hipblasVersionMajor)
#define GPU_BLAS_(name) hipblas##name
#define GPU_BLAS_ENUM_(name) HIPBLAS_##name
#define GPU_BLAS_TYPE_(name) HIP_##name
#define GPU_BLAS_DEFAULT_ALGORITHM HIPBLAS_GEMM_DEFAULT
#define GPU_BLAS_STREAM_PER_THREAD hipStreamPerThread
#define GPU_BLAS_EXTRA_LIST(X) X(SetAtomicsMode) X(StatusToString)
#define GPU_BLAS_STATUS_TEXT(api, status) (api).StatusToString(status)
#define GPU_BLAS_GET_VERSION(api, major, minor)                                                    \
    (*(major) = hipblasVersionMajor, *(minor) = hipblasVersionMinor)
/* rocBLAS adds with atomics unless it is told not to: then bits differ from run to run. */
#define GPU_BLAS_PREPARE(api, handle) (api).SetAtomicsMode(handle, HIPBLAS_ATOMICS_NOT_ALLOWED)
/* rocBLAS's own default, where it is told at all: see vendor_stream_t. */
#define GPU_BLAS_WORKSPACE_BYTES(architecture) ((size_t)32 << 20)

#else

#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#define GPU_HAS_BLAS (CUBLAS_VER_MAJOR >= 12)
#else
#define GPU_HAS_BLAS 0
#endif

#define GPU_BLAS_NAME "cuBLAS"
#define GPU_BLAS_LIBRARY "libcublas.so." GPU_BLAS_STRING(CUBLAS_VER_MAJOR)
#define GPU_BLAS_(name) cublas##name
#define GPU_BLAS_ENUM_(name) CUBLAS_##name
#define GPU_BLAS_TYPE_(name) CUDA_##name
#define GPU_BLAS_DEFAULT_ALGORITHM CUBLAS_GEMM_DEFAULT
#if defined(CUBLAS_VERSION) && CUBLAS_VERSION >= 120900
/* major * 100 + minor of the library that is loaded; not defined: the header lacks it. */
#define GPU_BLAS_BF16X9_SINCE 1209
#endif
#define GPU_BLAS_STREAM_PER_THREAD cudaStreamPerThread
#define GPU_BLAS_EXTRA_LIST(X) X(SetMathMode) X(GetProperty) X(GetStatusString)
#define GPU_BLAS_STATUS_TEXT(api, status) (api).GetStatusString(status)
#define GPU_BLAS_GET_VERSION(api, major, minor)                                                    \
    ((api).GetProperty(MAJOR_VERSION, major), (api).GetProperty(MINOR_VERSION, minor))
/* The default mode multiplies floats as floats. The flag is about narrow results: partial
 * sums stay floats until the end. */
#define GPU_BLAS_PREPARE(api, handle)                                                              \
    (api).SetMathMode(handle, (cublasMath_t)(CUBLAS_DEFAULT_MATH |                                 \
                                             CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION))
/* What its manual recommends by architecture ("sm_90"). Less slows some products down, less than 16
 * KiB fails some. */
#define GPU_BLAS_WORKSPACE_BYTES(architecture)                                                     \
    ((size_t)(atoi((architecture) + 3) >= 120 ? 12 : atoi((architecture) + 3) >= 90 ? 32 : 4) << 20)

#endif

#if GPU_HAS_BLAS

/* By the name alone: along the run path of this module and where the system has its libraries. */
#if !defined(GPU_BLAS_OPEN)
#define GPU_BLAS_OPEN(name) dlopen(name, RTLD_NOW | RTLD_LOCAL)
#define GPU_BLAS_FIND(library, name) dlsym(library, name)
#define GPU_BLAS_CLOSE(library) dlclose(library)
#endif

#define GPU_BLAS_STRING(text) GPU_BLAS_STRING_(text)
#define GPU_BLAS_STRING_(text) #text
/* The vendors' headers rename functions by macros (cublasSgemm_64 is cublasSgemm_v2_64), so a name
 * is expanded before it is looked up. */
#define GPU_BLAS_64(name) GPU_BLAS_(name##_64)

#define gpublasHandle_t GPU_BLAS_(Handle_t)
#define gpublasStatus_t GPU_BLAS_(Status_t)
#define gpublasOperation_t GPU_BLAS_(Operation_t)
#define gpublasFillMode_t GPU_BLAS_(FillMode_t)
#define gpublasSideMode_t GPU_BLAS_(SideMode_t)
#define gpublasDiagType_t GPU_BLAS_(DiagType_t)
#define gpublasPointerMode_t GPU_BLAS_(PointerMode_t)

/* ---- Functions: whatever is missing, the library counts as missing ---- */

#define GPU_BLAS_REAL_(X, name) X(S##name) X(D##name)
#define GPU_BLAS_COMPLEX_(X, name) X(C##name) X(Z##name)
#define GPU_BLAS_ALL_(X, name) GPU_BLAS_REAL_(X, name) GPU_BLAS_COMPLEX_(X, name)

/* About the library and its handles. SetWorkspace is looked up apart: hipBLAS has it from 3.0 on
 * only. */
#define GPU_BLAS_HELPER_LIST(X) X(Create) X(SetStream) X(SetPointerMode) GPU_BLAS_EXTRA_LIST(X)

/* Those that compute, with 64-bit sizes. Level 1 is not among them: its kernels are limited by
 * memory, and jalloc's sums have an order. Nor are bands and packed triangles, whose kernels are
 * those of level 2. hemm is not: nothing is promised of imaginary parts on the diagonal. */
#define GPU_BLAS_COMPUTE_LIST(X)                                                                   \
    GPU_BLAS_ALL_(X, gemv)                                                                         \
    GPU_BLAS_REAL_(X, ger)                                                                         \
    GPU_BLAS_COMPLEX_(X, geru)                                                                     \
    GPU_BLAS_COMPLEX_(X, gerc)                                                                     \
    GPU_BLAS_REAL_(X, symv)                                                                        \
    GPU_BLAS_COMPLEX_(X, hemv)                                                                     \
    GPU_BLAS_REAL_(X, syr)                                                                         \
    GPU_BLAS_REAL_(X, syr2)                                                                        \
    GPU_BLAS_COMPLEX_(X, her2)                                                                     \
    GPU_BLAS_COMPLEX_(X, her)                                                                      \
    GPU_BLAS_ALL_(X, trmv)                                                                         \
    GPU_BLAS_ALL_(X, trsv)                                                                         \
    GPU_BLAS_ALL_(X, gemm)                                                                         \
    GPU_BLAS_ALL_(X, gemmBatched)                                                                  \
    GPU_BLAS_ALL_(X, gemmStridedBatched)                                                           \
    GPU_BLAS_ALL_(X, symm)                                                                         \
    GPU_BLAS_ALL_(X, syrk)                                                                         \
    GPU_BLAS_ALL_(X, syr2k)                                                                        \
    GPU_BLAS_COMPLEX_(X, her2k)                                                                    \
    GPU_BLAS_COMPLEX_(X, herk)                                                                     \
    GPU_BLAS_ALL_(X, trmm)                                                                         \
    GPU_BLAS_ALL_(X, trsm)                                                                         \
    GPU_BLAS_ALL_(X, geam)                                                                         \
    X(GemmEx)

#endif
#endif
