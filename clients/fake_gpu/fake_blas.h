/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_BLAS_H
#define JALLOC_CLIENTS_FAKE_BLAS_H

/* A vendor's BLAS for the fake runtime, in the shape of cuBLAS: library/gpu/blas/vendor_blas.h
 * includes this file in place of cublas_v2.h where the runtime plays CUDA. What it computes it
 * leaves to the CBLAS, as work of the stream. As the runtime does, it chooses what hurts wherever
 * cuBLAS's manual leaves a choice, and calls a fault what is never right:
 *
 *   - sizes, enumerators, increments and leading dimensions are checked as cuBLAS checks them;
 *   - an alpha of 0 is multiplied as if A and B held NaN; by what they hold in GemmEx, not at all
 *     in geam;
 *   - SetStream takes the workspace away, and a computation without one counts as taking memory;
 *   - a workspace that two streams use, while the first may still need it, is a fault; so is one
 *     that was used in a capture and then outside of it, or in another capture;
 *   - a handle used with another device current than it was made with is a fault, and setting one
 *     up lets other threads go first;
 *   - so is one that was set to a stream which is gone, although another one has its name;
 *   - no handle can be made by a thread that is capturing a stream;
 *   - scalars on the wrong side and operands in the host's memory are faults; complex operands that
 *     are not aligned to their size as well;
 *   - GemmEx sums in float; it emulates float (16BFX9) on the architectures that cuBLAS does it
 *     on. */

#include "fake_gpu.h"

typedef struct fake_blas_handle_t *fakeblasHandle_t;

#pragma GCC visibility push(hidden)

struct alignas(8) fake_blas_c32_t {
    float x, y;
};
struct alignas(16) fake_blas_c64_t {
    double x, y;
};

typedef enum {
    FAKEBLAS_STATUS_SUCCESS = 0,
    FAKEBLAS_STATUS_NOT_INITIALIZED = 1,
    FAKEBLAS_STATUS_ALLOC_FAILED = 3,
    FAKEBLAS_STATUS_INVALID_VALUE = 7,
    FAKEBLAS_STATUS_ARCH_MISMATCH = 8,
    FAKEBLAS_STATUS_EXECUTION_FAILED = 13,
    FAKEBLAS_STATUS_NOT_SUPPORTED = 15
} fakeblasStatus_t;
/* Numbers as cuBLAS's: not CBLAS's, so that passing those on shows. */
typedef enum { FAKEBLAS_OP_N = 0, FAKEBLAS_OP_T = 1, FAKEBLAS_OP_C = 2 } fakeblasOperation_t;
typedef enum { FAKEBLAS_FILL_MODE_LOWER = 0, FAKEBLAS_FILL_MODE_UPPER = 1 } fakeblasFillMode_t;
typedef enum { FAKEBLAS_SIDE_LEFT = 0, FAKEBLAS_SIDE_RIGHT = 1 } fakeblasSideMode_t;
typedef enum { FAKEBLAS_DIAG_NON_UNIT = 0, FAKEBLAS_DIAG_UNIT = 1 } fakeblasDiagType_t;
typedef enum {
    FAKEBLAS_POINTER_MODE_HOST = 0,
    FAKEBLAS_POINTER_MODE_DEVICE = 1
} fakeblasPointerMode_t;
typedef enum { FAKEBLAS_R_32F = 0, FAKEBLAS_R_16F = 2, FAKEBLAS_R_16BF = 14 } fakeblasDataType_t;
typedef enum {
    FAKEBLAS_COMPUTE_32F = 68,
    FAKEBLAS_COMPUTE_32F_EMULATED_16BFX9 = 78
} fakeblasComputeType_t;
typedef enum { FAKEBLAS_GEMM_DEFAULT = -1 } fakeblasGemmAlgo_t;

fakeblasStatus_t fakeblasCreate(fakeblasHandle_t *handle);
fakeblasStatus_t fakeblasSetStream(fakeblasHandle_t handle, gpuStream_t stream);
fakeblasStatus_t fakeblasSetWorkspace(fakeblasHandle_t handle, void *workspace, size_t bytes);
fakeblasStatus_t fakeblasSetPointerMode(fakeblasHandle_t handle, fakeblasPointerMode_t mode);
fakeblasStatus_t fakeblasSetMathMode(fakeblasHandle_t handle, int mode);
const char *fakeblasGetStatusString(fakeblasStatus_t status);

#define FAKE_BLAS_FORALL(L, T)                                                                     \
    fakeblasStatus_t fakeblas##L##gemv_64(                                                         \
        fakeblasHandle_t handle, fakeblasOperation_t trans, int64_t m, int64_t n, const T *alpha,  \
        const T *a, int64_t lda, const T *x, int64_t incx, const T *beta, T *y, int64_t incy);     \
    fakeblasStatus_t fakeblas##L##trmv_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo,        \
                                          fakeblasOperation_t trans, fakeblasDiagType_t diag,      \
                                          int64_t n, const T *a, int64_t lda, T *x, int64_t incx); \
    fakeblasStatus_t fakeblas##L##trsv_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo,        \
                                          fakeblasOperation_t trans, fakeblasDiagType_t diag,      \
                                          int64_t n, const T *a, int64_t lda, T *x, int64_t incx); \
    fakeblasStatus_t fakeblas##L##gemm_64(                                                         \
        fakeblasHandle_t handle, fakeblasOperation_t transa, fakeblasOperation_t transb,           \
        int64_t m, int64_t n, int64_t k, const T *alpha, const T *a, int64_t lda, const T *b,      \
        int64_t ldb, const T *beta, T *c, int64_t ldc);                                            \
    fakeblasStatus_t fakeblas##L##gemmBatched_64(                                                  \
        fakeblasHandle_t handle, fakeblasOperation_t transa, fakeblasOperation_t transb,           \
        int64_t m, int64_t n, int64_t k, const T *alpha, const T *const a[], int64_t lda,          \
        const T *const b[], int64_t ldb, const T *beta, T *const c[], int64_t ldc,                 \
        int64_t batch_count);                                                                      \
    fakeblasStatus_t fakeblas##L##gemmStridedBatched_64(                                           \
        fakeblasHandle_t handle, fakeblasOperation_t transa, fakeblasOperation_t transb,           \
        int64_t m, int64_t n, int64_t k, const T *alpha, const T *a, int64_t lda,                  \
        long long stride_a, const T *b, int64_t ldb, long long stride_b, const T *beta, T *c,      \
        int64_t ldc, long long stride_c, int64_t batch_count);                                     \
    fakeblasStatus_t fakeblas##L##symm_64(fakeblasHandle_t handle, fakeblasSideMode_t side,        \
                                          fakeblasFillMode_t uplo, int64_t m, int64_t n,           \
                                          const T *alpha, const T *a, int64_t lda, const T *b,     \
                                          int64_t ldb, const T *beta, T *c, int64_t ldc);          \
    fakeblasStatus_t fakeblas##L##syrk_64(                                                         \
        fakeblasHandle_t handle, fakeblasFillMode_t uplo, fakeblasOperation_t trans, int64_t n,    \
        int64_t k, const T *alpha, const T *a, int64_t lda, const T *beta, T *c, int64_t ldc);     \
    fakeblasStatus_t fakeblas##L##trmm_64(                                                         \
        fakeblasHandle_t handle, fakeblasSideMode_t side, fakeblasFillMode_t uplo,                 \
        fakeblasOperation_t trans, fakeblasDiagType_t diag, int64_t m, int64_t n, const T *alpha,  \
        const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc);                      \
    fakeblasStatus_t fakeblas##L##trsm_64(                                                         \
        fakeblasHandle_t handle, fakeblasSideMode_t side, fakeblasFillMode_t uplo,                 \
        fakeblasOperation_t trans, fakeblasDiagType_t diag, int64_t m, int64_t n, const T *alpha,  \
        const T *a, int64_t lda, T *b, int64_t ldb);                                               \
    fakeblasStatus_t fakeblas##L##geam_64(fakeblasHandle_t handle, fakeblasOperation_t transa,     \
                                          fakeblasOperation_t transb, int64_t m, int64_t n,        \
                                          const T *alpha, const T *a, int64_t lda, const T *beta,  \
                                          const T *b, int64_t ldb, T *c, int64_t ldc);
FAKE_BLAS_FORALL(S, float)
FAKE_BLAS_FORALL(D, double)
FAKE_BLAS_FORALL(C, fake_blas_c32_t)
FAKE_BLAS_FORALL(Z, fake_blas_c64_t)
#undef FAKE_BLAS_FORALL

/* ger and geru, gerc; symv and hemv; syr and her, whose alpha is real. */
#define FAKE_BLAS_FORALL(L, ger, T)                                                                \
    fakeblasStatus_t fakeblas##L##ger##_64(fakeblasHandle_t handle, int64_t m, int64_t n,          \
                                           const T *alpha, const T *x, int64_t incx, const T *y,   \
                                           int64_t incy, T *a, int64_t lda);
FAKE_BLAS_FORALL(S, ger, float)
FAKE_BLAS_FORALL(D, ger, double)
FAKE_BLAS_FORALL(C, geru, fake_blas_c32_t)
FAKE_BLAS_FORALL(Z, geru, fake_blas_c64_t)
FAKE_BLAS_FORALL(C, gerc, fake_blas_c32_t)
FAKE_BLAS_FORALL(Z, gerc, fake_blas_c64_t)
#undef FAKE_BLAS_FORALL
#define FAKE_BLAS_FORALL(L, symv, syr, T, R)                                                       \
    fakeblasStatus_t fakeblas##L##symv##_64(                                                       \
        fakeblasHandle_t handle, fakeblasFillMode_t uplo, int64_t n, const T *alpha, const T *a,   \
        int64_t lda, const T *x, int64_t incx, const T *beta, T *y, int64_t incy);                 \
    fakeblasStatus_t fakeblas##L##syr##_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo,       \
                                           int64_t n, const R *alpha, const T *x, int64_t incx,    \
                                           T *a, int64_t lda);
FAKE_BLAS_FORALL(S, symv, syr, float, float)
FAKE_BLAS_FORALL(D, symv, syr, double, double)
FAKE_BLAS_FORALL(C, hemv, her, fake_blas_c32_t, float)
FAKE_BLAS_FORALL(Z, hemv, her, fake_blas_c64_t, double)
#undef FAKE_BLAS_FORALL
#define FAKE_BLAS_FORALL(L, syr2, T)                                                               \
    fakeblasStatus_t fakeblas##L##syr2##_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo,      \
                                            int64_t n, const T *alpha, const T *x, int64_t incx,   \
                                            const T *y, int64_t incy, T *a, int64_t lda);
FAKE_BLAS_FORALL(S, syr2, float)
FAKE_BLAS_FORALL(D, syr2, double)
FAKE_BLAS_FORALL(C, her2, fake_blas_c32_t)
FAKE_BLAS_FORALL(Z, her2, fake_blas_c64_t)
#undef FAKE_BLAS_FORALL
#define FAKE_BLAS_FORALL(L, syr2k, T, R)                                                           \
    fakeblasStatus_t fakeblas##L##syr2k##_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo,     \
                                             fakeblasOperation_t trans, int64_t n, int64_t k,      \
                                             const T *alpha, const T *a, int64_t lda, const T *b,  \
                                             int64_t ldb, const R *beta, T *c, int64_t ldc);
FAKE_BLAS_FORALL(S, syr2k, float, float)
FAKE_BLAS_FORALL(D, syr2k, double, double)
FAKE_BLAS_FORALL(C, syr2k, fake_blas_c32_t, fake_blas_c32_t)
FAKE_BLAS_FORALL(Z, syr2k, fake_blas_c64_t, fake_blas_c64_t)
FAKE_BLAS_FORALL(C, her2k, fake_blas_c32_t, float)
FAKE_BLAS_FORALL(Z, her2k, fake_blas_c64_t, double)
#undef FAKE_BLAS_FORALL
#define FAKE_BLAS_FORALL(L, T, R)                                                                  \
    fakeblasStatus_t fakeblas##L##herk_64(                                                         \
        fakeblasHandle_t handle, fakeblasFillMode_t uplo, fakeblasOperation_t trans, int64_t n,    \
        int64_t k, const R *alpha, const T *a, int64_t lda, const R *beta, T *c, int64_t ldc);
FAKE_BLAS_FORALL(C, fake_blas_c32_t, float)
FAKE_BLAS_FORALL(Z, fake_blas_c64_t, double)
#undef FAKE_BLAS_FORALL

fakeblasStatus_t fakeblasGemmEx_64(fakeblasHandle_t handle, fakeblasOperation_t transa,
                                   fakeblasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                   const void *alpha, const void *a, fakeblasDataType_t a_type,
                                   int64_t lda, const void *b, fakeblasDataType_t b_type,
                                   int64_t ldb, const void *beta, void *c,
                                   fakeblasDataType_t c_type, int64_t ldc,
                                   fakeblasComputeType_t compute, fakeblasGemmAlgo_t algorithm);

/* What finding the library and its functions is here; fake_blas_control.h says what a test can make
 * of it. */
void *fake_blas_open(const char *name);
void *fake_blas_find(const char *function);

#pragma GCC visibility pop

/* ---- For library/gpu/blas/vendor_blas.h ---- */

#define GPU_BLAS_NAME "fake cuBLAS"
#define GPU_BLAS_LIBRARY "fake"
#define GPU_BLAS_OPEN(name) fake_blas_open(name)
#define GPU_BLAS_FIND(library, name) ((void)(library), fake_blas_find(name))
#define GPU_BLAS_CLOSE(library) ((void)(library))
#define GPU_BLAS_(name) fakeblas##name
#define GPU_BLAS_ENUM_(name) FAKEBLAS_##name
#define GPU_BLAS_TYPE_(name) FAKEBLAS_##name
#define GPU_BLAS_DEFAULT_ALGORITHM FAKEBLAS_GEMM_DEFAULT
#define GPU_BLAS_BF16X9_SINCE 100
#define GPU_BLAS_STREAM_PER_THREAD gpuStreamPerThread
#define GPU_BLAS_EXTRA_LIST(X) X(SetMathMode) X(GetStatusString)
#define GPU_BLAS_STATUS_TEXT(api, status) (api).GetStatusString(status)
#define GPU_BLAS_GET_VERSION(api, major, minor) (*(major) = 1, *(minor) = 0)
#define GPU_BLAS_PREPARE(api, handle) (api).SetMathMode(handle, 0)
#define GPU_BLAS_WORKSPACE_BYTES(architecture) ((void)(architecture), (size_t)65536)

#endif
