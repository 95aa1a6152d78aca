/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_BENCH_GPU_REHEARSAL_CUDA_RUNTIME_API_H
#define JALLOC_CLIENTS_BENCH_GPU_REHEARSAL_CUDA_RUNTIME_API_H

/* As much of the CUDA runtime as bench_gpu calls, by jalloc on the device cuda:0, which is a fake
 * one then: so bench_gpu can be run where there is no GPU. Nothing is measured by it; a stream is
 * waited for at each event. */

#include <stddef.h>

typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorMemoryAllocation = 2,
    cudaErrorUnknown = 999
} cudaError_t;
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3
};
typedef struct CUstream_st *cudaStream_t;
typedef struct rehearsal_event *cudaEvent_t;

cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaEventDestroy(cudaEvent_t event);
const char *cudaGetErrorString(cudaError_t error);

#endif
