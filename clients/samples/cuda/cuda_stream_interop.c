/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A program's own cudaStream_t and jalloc: the program copies and jblas computes in one stream, and
 * the host waits once, for what it wants to read.
 *
 *     cudaMemcpyAsync   x, y -> device
 *     jblas_daxpy       y = alpha x + y        alpha on the device (device pointer mode)
 *     jblas_dnrm2       norm = |y|             written on the device, nobody waits
 *     cudaMemcpyAsync   norm -> host
 *     cudaStreamSynchronize
 *
 * The wrapped stream stays the program's: jstream_destroy() leaves it as it is. */

#include <cuda_runtime_api.h>
#include <math.h>

#include "cuda_sample.h"
#include "jalloc/cuda.h"

enum { COUNT = 100000 };

int main(void) {
    static double x[COUNT], y[COUNT];
    double expected = 0, norm = 0;
    const double alpha = 0.5;
    jdevice_t *device;
    if (!have_cuda(&device))
        return EXIT_SUCCESS;
    for (int i = 0; i < COUNT; i++) {
        x[i] = sin(i), y[i] = cos(i);
        expected += (alpha * x[i] + y[i]) * (alpha * x[i] + y[i]);
    }
    expected = sqrt(expected);

    cudaStream_t mine;
    double *memory; /* x, y, alpha, norm */
    CUDA(cudaStreamCreate(&mine));
    CUDA(cudaMalloc((void **)&memory, (2 * COUNT + 2) * sizeof(double)));
    double *dx = memory, *dy = dx + COUNT, *dalpha = dy + COUNT, *dnorm = dalpha + 1;

    jstream_t *stream;
    TRY(jcuda_stream_wrap(device, mine, &stream));
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.device = device;
    options.stream = stream;
    options.pointer_mode = JPOINTER_MODE_DEVICE;
    jhandle_t *handle;
    TRY(jhandle_create(&options, &handle));

    CUDA(cudaMemcpyAsync(dx, x, sizeof x, cudaMemcpyHostToDevice, mine));
    CUDA(cudaMemcpyAsync(dy, y, sizeof y, cudaMemcpyHostToDevice, mine));
    CUDA(cudaMemcpyAsync(dalpha, &alpha, sizeof alpha, cudaMemcpyHostToDevice, mine));
    TRY(jblas_daxpy(handle, COUNT, dalpha, dx, 1, dy, 1));
    TRY(jblas_dnrm2(handle, COUNT, dy, 1, dnorm));
    CUDA(cudaMemcpyAsync(&norm, dnorm, sizeof norm, cudaMemcpyDeviceToHost, mine));
    CUDA(cudaStreamSynchronize(mine));
    printf("norm %.12g, computed by the host %.12g\n", norm, expected);

    TRY(jhandle_destroy(handle));
    TRY(jstream_destroy(stream)); /* the wrapper */
    CUDA(cudaStreamDestroy(mine));
    CUDA(cudaFree(memory));
    return fabs(norm - expected) <= 1e-12 * expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
