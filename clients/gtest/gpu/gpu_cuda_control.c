/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The application's part on a real NVIDIA GPU: graphs and streams that jalloc did not make, by
 * CUDA's runtime, of which this program has a copy of its own, as an application would. Both copies
 * share the driver's context, so a stream or an event of one is the other's too. Compiled where the
 * toolkit is; not yet run on a GPU. */

#include "gpu_device.h"

#ifdef JALLOC_TEST_CUDA

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SETTLE_MS 20000

/* A graph with what was instantiated from it. */
typedef struct control_graph {
    cudaGraph_t graph;
    cudaGraphExec_t exec; /* NULL: not launched yet */
} control_graph_t;

static int control_begin_capture_as(void *stream, fake_gpu_capture_mode_t mode) {
    static const enum cudaStreamCaptureMode modes[] = {
        [FAKE_GPU_CAPTURE_GLOBAL] = cudaStreamCaptureModeGlobal,
        [FAKE_GPU_CAPTURE_THREAD_LOCAL] = cudaStreamCaptureModeThreadLocal,
        [FAKE_GPU_CAPTURE_RELAXED] = cudaStreamCaptureModeRelaxed,
    };
    return (int)cudaStreamBeginCapture(stream, modes[mode]);
}

static int control_begin_capture(void *stream) {
    return control_begin_capture_as(stream, FAKE_GPU_CAPTURE_GLOBAL);
}

static void CUDART_CB control_note(void *noted) { atomic_store((atomic_bool *)noted, true); }

/* What graphs owned is released by a thread of the runtime, at some time. What has been let go of
 * here, last, is released behind it, as far as can be seen: nothing is promised. */
static void control_settle(void) {
    static atomic_bool noted; /* static: the thread may come late */
    cudaUserObject_t object = NULL;
    atomic_store(&noted, false);
    if (cudaUserObjectCreate(&object, &noted, control_note, 1, cudaUserObjectNoDestructorSync) !=
            cudaSuccess ||
        cudaUserObjectRelease(object, 1) != cudaSuccess)
        return;
    for (int waited = 0; waited < SETTLE_MS && !atomic_load(&noted); ++waited)
        jtest_sleep_ms(1);
}

static void *control_end_capture(void *stream) {
    cudaGraph_t graph = NULL;
    const cudaError_t error = cudaStreamEndCapture(stream, &graph);
    control_graph_t *control = error == cudaSuccess ? calloc(1, sizeof *control) : NULL;
    if (control != NULL)
        control->graph = graph;
    else
        control_settle();
    return control;
}

static int control_launch_graph(void *graph, void *stream) {
    control_graph_t *control = graph;
    if (control->exec == NULL) {
        const cudaError_t error = cudaGraphInstantiateWithFlags(&control->exec, control->graph, 0);
        if (error != cudaSuccess)
            return (int)error;
    }
    return (int)cudaGraphLaunch(control->exec, stream);
}

static void control_destroy_graph(void *graph) {
    control_graph_t *control = graph;
    if (control->exec != NULL)
        (void)cudaGraphExecDestroy(control->exec);
    (void)cudaGraphDestroy(control->graph);
    free(control);
    control_settle();
}

static void *control_create_stream(bool blocking) {
    cudaStream_t stream = NULL;
    return cudaStreamCreateWithFlags(&stream, blocking ? cudaStreamDefault
                                                       : cudaStreamNonBlocking) == cudaSuccess
               ? stream
               : NULL;
}

static int control_destroy_stream(void *stream) { return (int)cudaStreamDestroy(stream); }

static const fake_gpu_control_t cuda_control = {
    .begin_capture = control_begin_capture,
    .end_capture = control_end_capture,
    .launch_graph = control_launch_graph,
    .destroy_graph = control_destroy_graph,
    .begin_capture_as = control_begin_capture_as,
    .create_stream = control_create_stream,
    .destroy_stream = control_destroy_stream,
};

/* Makes the device current, in the context that the module uses. */
static const fake_gpu_control_t *cuda_program(void) {
    if (jdevice_kind(gpu_device()) != JDEVICE_CUDA ||
        cudaSetDevice(jdevice_index(gpu_device())) != cudaSuccess)
        return NULL;
    return &cuda_control;
}

#else
static const fake_gpu_control_t *cuda_program(void) { return NULL; }
#endif

const fake_gpu_control_t *gpu_program(void) {
    return gpu_fake() != NULL ? gpu_fake() : cuda_program();
}
