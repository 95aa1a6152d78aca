/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_BENCH_GPU_REHEARSAL_CUBLAS_V2_H
#define JALLOC_CLIENTS_BENCH_GPU_REHEARSAL_CUBLAS_V2_H

/* As much of cuBLAS as bench_gpu calls, by jblas on a handle of its own: see cuda_runtime_api.h. */

#include "cuda_runtime_api.h"

typedef enum cublasStatus {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_EXECUTION_FAILED = 13
} cublasStatus_t;
typedef enum cublasOperation { CUBLAS_OP_N } cublasOperation_t;
typedef enum cublasFillMode { CUBLAS_FILL_MODE_LOWER } cublasFillMode_t;
typedef enum cublasSideMode { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum cublasDiagType { CUBLAS_DIAG_NON_UNIT } cublasDiagType_t;
typedef enum cublasPointerMode {
    CUBLAS_POINTER_MODE_HOST,
    CUBLAS_POINTER_MODE_DEVICE
} cublasPointerMode_t;
typedef struct cublasContext *cublasHandle_t;
typedef struct {
    float x, y;
} cuComplex;
typedef struct {
    double x, y;
} cuDoubleComplex;

cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
const char *cublasGetStatusString(cublasStatus_t status);

#define REHEARSAL_GEMM(name, type)                                                                 \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, \
                        int m, int n, int k, const type *alpha, const type *a, int lda,            \
                        const type *b, int ldb, const type *beta, type *c, int ldc)
REHEARSAL_GEMM(cublasSgemm, float);
REHEARSAL_GEMM(cublasDgemm, double);
REHEARSAL_GEMM(cublasCgemm, cuComplex);
REHEARSAL_GEMM(cublasZgemm, cuDoubleComplex);

#define REHEARSAL_TRSM(name, type)                                                                 \
    cublasStatus_t name(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,       \
                        cublasOperation_t trans, cublasDiagType_t diag, int m, int n,              \
                        const type *alpha, const type *a, int lda, type *b, int ldb)
REHEARSAL_TRSM(cublasStrsm, float);
REHEARSAL_TRSM(cublasDtrsm, double);

cublasStatus_t cublasDdot(cublasHandle_t handle, int n, const double *x, int incx, const double *y,
                          int incy, double *result);
cublasStatus_t cublasDnrm2(cublasHandle_t handle, int n, const double *x, int incx, double *result);
cublasStatus_t cublasDasum(cublasHandle_t handle, int n, const double *x, int incx, double *result);
cublasStatus_t cublasIdamax(cublasHandle_t handle, int n, const double *x, int incx, int *result);

#endif
