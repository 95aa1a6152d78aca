/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* See cuda_runtime_api.h. There is one stream, which cublasSetStream() names. */

#include "../bench_gpu.h"

struct rehearsal_event {
    double seconds;
};
struct cublasContext {
    jhandle_t *handle;
};

/* In front of a block stands its size, which jalloc asks for when it is freed. */
#define DEVICE_BYTES_BEFORE 256

static jstream_t *the_stream; /* wraps the program's */

static jdevice_t *device(void) {
    jdevice_t *found = NULL;
    return jdevice_get("cuda:0", &found) == JSTATUS_SUCCESS ? found : NULL;
}

static cudaError_t answer(jstatus_t status) {
    return jstatus_is_error(status) ? cudaErrorUnknown : cudaSuccess;
}

static cublasStatus_t blas_answer(jstatus_t status) {
    return jstatus_is_error(status) ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

static cudaError_t wait_for_all(void) { return answer(jstream_synchronize(device(), the_stream)); }

/* ---- The runtime ---- */

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    unsigned char *block = NULL;
    const size_t whole = bytes + DEVICE_BYTES_BEFORE;
    if (jdevice_allocate(device(), JMEMORY_DEVICE, whole, 0, (void **)&block) != JSTATUS_SUCCESS)
        return cudaErrorMemoryAllocation;
    *pointer = block + DEVICE_BYTES_BEFORE;
    if (jdevice_copy(device(), the_stream, block, &whole, sizeof whole) != JSTATUS_SUCCESS)
        return cudaErrorUnknown;
    return wait_for_all();
}

cudaError_t cudaFree(void *pointer) {
    size_t whole = 0;
    if (pointer == NULL)
        return cudaSuccess;
    unsigned char *block = (unsigned char *)pointer - DEVICE_BYTES_BEFORE;
    if (jdevice_copy(device(), the_stream, &whole, block, sizeof whole) != JSTATUS_SUCCESS ||
        wait_for_all() != cudaSuccess)
        return cudaErrorUnknown;
    return answer(jdevice_deallocate(device(), JMEMORY_DEVICE, block, whole));
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
    (void)stream;
    return cudaMalloc(pointer, bytes);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
    (void)stream;
    return cudaFree(pointer);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    (void)kind, (void)stream;
    return answer(jdevice_copy(device(), the_stream, to, from, bytes));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    (void)stream;
    return wait_for_all();
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    *event = calloc(1, sizeof **event);
    return *event != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    (void)stream;
    const cudaError_t error = wait_for_all();
    event->seconds = bench_now();
    return error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    (void)event;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
    *milliseconds = (float)(1e3 * (to->seconds - from->seconds));
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    free(event);
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaSuccess ? "no error" : jstatus_last_message();
}

/* ---- cuBLAS ---- */

cublasStatus_t cublasCreate(cublasHandle_t *handle) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.device = device();
    *handle = calloc(1, sizeof **handle);
    return *handle != NULL ? blas_answer(jhandle_create(&options, &(*handle)->handle))
                           : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    const jstatus_t status = jhandle_destroy(handle->handle);
    free(handle);
    jstream_destroy(the_stream);
    the_stream = NULL;
    return blas_answer(status);
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    const jstatus_t status = jcuda_stream_wrap(device(), stream, &the_stream);
    return blas_answer(status != JSTATUS_SUCCESS ? status
                                                 : jhandle_set_stream(handle->handle, the_stream));
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
    return blas_answer(jhandle_set_pointer_mode(handle->handle, mode == CUBLAS_POINTER_MODE_HOST
                                                                    ? JPOINTER_MODE_HOST
                                                                    : JPOINTER_MODE_DEVICE));
}

const char *cublasGetStatusString(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS ? "no error" : jstatus_last_message();
}

#define GEMM(name, type, routine)                                                                  \
    REHEARSAL_GEMM(name, type) {                                                                   \
        (void)transa, (void)transb;                                                                \
        return blas_answer(routine(handle->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, m, n,   \
                                   k, (const void *)alpha, (const void *)a, lda, (const void *)b,  \
                                   ldb, (const void *)beta, (void *)c, ldc));                      \
    }
GEMM(cublasSgemm, float, jblas_sgemm)
GEMM(cublasDgemm, double, jblas_dgemm)
GEMM(cublasCgemm, cuComplex, jblas_cgemm)
GEMM(cublasZgemm, cuDoubleComplex, jblas_zgemm)

#define TRSM(name, type, routine)                                                                  \
    REHEARSAL_TRSM(name, type) {                                                                   \
        (void)uplo, (void)trans, (void)diag;                                                       \
        return blas_answer(routine(                                                                \
            handle->handle, side == CUBLAS_SIDE_LEFT ? JBLAS_LEFT : JBLAS_RIGHT, JBLAS_LOWER,      \
            JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, m, n, alpha, a, lda, b, ldb));                     \
    }
TRSM(cublasStrsm, float, jblas_strsm)
TRSM(cublasDtrsm, double, jblas_dtrsm)

cublasStatus_t cublasDdot(cublasHandle_t handle, int n, const double *x, int incx, const double *y,
                          int incy, double *result) {
    return blas_answer(jblas_ddot(handle->handle, n, x, incx, y, incy, result));
}

cublasStatus_t cublasDnrm2(cublasHandle_t handle, int n, const double *x, int incx,
                           double *result) {
    return blas_answer(jblas_dnrm2(handle->handle, n, x, incx, result));
}

cublasStatus_t cublasDasum(cublasHandle_t handle, int n, const double *x, int incx,
                           double *result) {
    return blas_answer(jblas_dasum(handle->handle, n, x, incx, result));
}

cublasStatus_t cublasIdamax(cublasHandle_t handle, int n, const double *x, int incx, int *result) {
    return blas_answer(jblas_idamax(handle->handle, n, x, incx, (int64_t *)(void *)result));
}

/* ---- cuSOLVER, which bench_gpu looks for by name ---- */

#pragma GCC visibility push(default)
int cusolverDnCreate(cublasHandle_t *handle);
int cusolverDnDestroy(cublasHandle_t handle);
int cusolverDnSetStream(cublasHandle_t handle, cudaStream_t stream);
int cusolverDnDpotrf_bufferSize(cublasHandle_t handle, cublasFillMode_t uplo, int n, double *a,
                                int lda, int *elements);
int cusolverDnSpotrf_bufferSize(cublasHandle_t handle, cublasFillMode_t uplo, int n, float *a,
                                int lda, int *elements);
int cusolverDnDpotrf(cublasHandle_t handle, cublasFillMode_t uplo, int n, double *a, int lda,
                     double *work, int elements, int *info);
int cusolverDnSpotrf(cublasHandle_t handle, cublasFillMode_t uplo, int n, float *a, int lda,
                     float *work, int elements, int *info);
#pragma GCC visibility pop

int cusolverDnCreate(cublasHandle_t *handle) {
    const cublasStatus_t status = cublasCreate(handle);
    return (int)(status != CUBLAS_STATUS_SUCCESS
                     ? status
                     : cublasSetPointerMode(*handle, CUBLAS_POINTER_MODE_DEVICE));
}

int cusolverDnDestroy(cublasHandle_t handle) {
    const jstatus_t status = jhandle_destroy(handle->handle);
    free(handle);
    return (int)blas_answer(status);
}

int cusolverDnSetStream(cublasHandle_t handle, cudaStream_t stream) {
    (void)stream;
    return (int)blas_answer(jhandle_set_stream(handle->handle, the_stream));
}

#define POTRF(name, type, routine)                                                                 \
    int name##_bufferSize(cublasHandle_t handle, cublasFillMode_t uplo, int n, type *a, int lda,   \
                          int *elements) {                                                         \
        (void)handle, (void)uplo, (void)n, (void)a, (void)lda;                                     \
        *elements = 1;                                                                             \
        return 0;                                                                                  \
    }                                                                                              \
    int name(cublasHandle_t handle, cublasFillMode_t uplo, int n, type *a, int lda, type *work,    \
             int elements, int *info) {                                                            \
        /* info has 64 bits here, for which bench_gpu leaves room */                               \
        (void)uplo, (void)work, (void)elements;                                                    \
        return (int)blas_answer(                                                                   \
            routine(handle->handle, JBLAS_LOWER, n, a, lda, (int64_t *)(void *)info));             \
    }
POTRF(cusolverDnDpotrf, double, jlapack_dpotrf)
POTRF(cusolverDnSpotrf, float, jlapack_spotrf)
