/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A triangular solve captured into a CUDA graph, whose workspace the graph owns: it is launched
 * again and again, also after the handle that captured it is gone.
 *
 * While the stream is being captured, the handle borrows from memory that the graph keeps until it
 * is destroyed, so that neither later calls nor the end of the handle take it away from under the
 * graph. The solve is a step of a recurrence, x <- L^-1 x; after STEPS launches the host has done
 * the same. */

#include <cuda_runtime_api.h>
#include <math.h>

#include "cuda_sample.h"
#include "jalloc/cuda.h"

enum { ORDER = 200, COLUMNS = 64, STEPS = 5 };

int main(void) {
    static double l[ORDER * ORDER], x[ORDER * COLUMNS], computed[ORDER * COLUMNS];
    const double one = 1;
    jdevice_t *device;
    if (!have_cuda(&device))
        return EXIT_SUCCESS;
    for (int j = 0; j < ORDER; j++)
        for (int i = j; i < ORDER; i++)
            l[i + j * ORDER] = i == j ? 1.1 : sin(i + 3 * j) / ORDER;
    for (int i = 0; i < ORDER * COLUMNS; i++)
        x[i] = cos(i);

    cudaStream_t mine;
    double *dl, *dx;
    CUDA(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));
    CUDA(cudaMalloc((void **)&dl, sizeof l));
    CUDA(cudaMalloc((void **)&dx, sizeof x));
    CUDA(cudaMemcpyAsync(dl, l, sizeof l, cudaMemcpyHostToDevice, mine));
    CUDA(cudaMemcpyAsync(dx, x, sizeof x, cudaMemcpyHostToDevice, mine));
    CUDA(cudaStreamSynchronize(mine));

    jstream_t *stream;
    TRY(jcuda_stream_wrap(device, mine, &stream));
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.device = device;
    options.stream = stream;
    jhandle_t *handle;
    TRY(jhandle_create(&options, &handle));

    cudaGraph_t graph;
    cudaGraphExec_t step;
    CUDA(cudaStreamBeginCapture(mine, cudaStreamCaptureModeThreadLocal));
    TRY(jblas_dtrsm(handle, JBLAS_LEFT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, ORDER,
                    COLUMNS, &one, dl, ORDER, dx, ORDER));
    CUDA(cudaStreamEndCapture(mine, &graph));
    CUDA(cudaGraphInstantiate(&step, graph, 0));
    TRY(jhandle_destroy(handle)); /* its workspace stays with the graph */

    for (int i = 0; i < STEPS; i++)
        CUDA(cudaGraphLaunch(step, mine));
    CUDA(cudaMemcpyAsync(computed, dx, sizeof x, cudaMemcpyDeviceToHost, mine));
    CUDA(cudaStreamSynchronize(mine));

    jhandle_t *host;
    TRY(jhandle_create(NULL, &host));
    double apart = 0;
    for (int i = 0; i < STEPS; i++)
        TRY(jblas_dtrsm(host, JBLAS_LEFT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, ORDER,
                        COLUMNS, &one, l, ORDER, x, ORDER));
    for (int i = 0; i < ORDER * COLUMNS; i++)
        apart = fmax(apart, fabs(x[i] - computed[i]));
    printf("%d launches of the captured solve; the host's result is %.1e apart\n", STEPS, apart);

    TRY(jhandle_destroy(host));
    TRY(jstream_destroy(stream));
    CUDA(cudaGraphExecDestroy(step));
    CUDA(cudaGraphDestroy(graph)); /* now the workspace is free */
    CUDA(cudaFree(dl));
    CUDA(cudaFree(dx));
    CUDA(cudaStreamDestroy(mine));
    return apart < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
