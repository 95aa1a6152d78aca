/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_DEVICE_VENDOR_H
#define JALLOC_GPU_DEVICE_VENDOR_H

/* One source, three runtimes. The code of this folder writes gpuMalloc, gpuStream_t, GPU_LAUNCH;
 * this header says what that is called by the vendor whose compiler reads it:
 *
 *   nvcc                      cudaMalloc     cudaLaunchKernel
 *   hipcc                     hipMalloc      hipLaunchKernel
 *   any C++ compiler with     a runtime of the tests (clients/fake_gpu), which runs kernels on the
 *                             processor,
 *   JALLOC_GPU_FAKE           in the least convenient order that the rules of streams allow
 *
 * It is the only file that knows a vendor by name; where two differ by more than a name, a
 * GPU_HAS_... says so here and the code asks that. Kernels use no warp intrinsics, so nothing
 * depends on 32 or 64 threads running in step. */

#include <stdio.h>
#include <string.h>

#if defined(JALLOC_GPU_FAKE)

#include <fake_gpu.h> /* defines everything below in terms of itself */

#elif defined(__HIP_PLATFORM_AMD__) || defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_runtime.h> /* first: it names the platform, which 5.7's other headers ask for */

#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>

#define GPU_KIND JDEVICE_HIP
#define GPU_KIND_NAME "hip"
#define GPU_RUNTIME_NAME "HIP"
#define GPU_(name) hip##name
#define GPU_HAS_CONTEXTS 0
#define GPU_HAS_CAPTURE_OWNERSHIP (HIP_VERSION >= 50300000)
#define GPU_HAS_MEMORY_POOLS (HIP_VERSION >= 50200000)

#define gpuErrorOutOfMemory hipErrorOutOfMemory
#define gpuErrorNoDevice hipErrorNoDevice
#define gpuErrorNotReady hipErrorNotReady
#define gpuErrorStreamCaptureUnsupported hipErrorStreamCaptureUnsupported
#define gpuErrorStreamCaptureImplicit hipErrorStreamCaptureImplicit
#define gpuErrorStreamCaptureInvalidated hipErrorStreamCaptureInvalidated
#define gpuErrorStreamCaptureMerge hipErrorStreamCaptureMerge
#define gpuErrorStreamCaptureIsolation hipErrorStreamCaptureIsolation
#define gpuErrorCapturedEvent hipErrorCapturedEvent

#define gpuDeviceProp_t hipDeviceProp_t
#define gpuDevAttrMemoryPoolsSupported hipDeviceAttributeMemoryPoolsSupported
/* 5.2 declares hipLaunchHostFunc and does not have it. */
#if HIP_VERSION >= 50300000
#define gpuLaunchHostFunc hipLaunchHostFunc
#else
#define gpuLaunchHostFunc(stream, function, data) hipStreamAddCallback(stream, function, data, 0)
#define GPU_HOST_FUNCTION(name, data) void name(hipStream_t, hipError_t, void *data)
#endif
#define gpuStreamLegacy ((hipStream_t) nullptr) /* has no other name than the default stream */
#define gpuHostAlloc hipHostMalloc
#define gpuHostAllocPortable hipHostMallocPortable
#define gpuHostAllocMapped hipHostMallocMapped
#define gpuFreeHost hipHostFree
/* The default stream is never captured, and not every version may be asked of it. */
#define gpuStreamGetCaptureInfo(stream, status, id, graph)                                         \
    ((stream) == nullptr                                                                           \
         ? hipStreamIsCapturing(stream, status)                                                    \
         : hipStreamGetCaptureInfo_v2(stream, status, id, graph, nullptr, nullptr))

#define GPU_VERSION_MAJOR(version) ((version) / 10000000)
#define GPU_VERSION_MINOR(version) ((version) / 100000 % 100)

#else

#include <cuda.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define GPU_KIND JDEVICE_CUDA
#define GPU_KIND_NAME "cuda"
#define GPU_RUNTIME_NAME "CUDA"
#define GPU_(name) cuda##name
#define GPU_HAS_CONTEXTS 1
#define GPU_HAS_CAPTURE_OWNERSHIP 1
#define GPU_HAS_MEMORY_POOLS 1

#define gpuErrorOutOfMemory cudaErrorMemoryAllocation
#define gpuErrorNoDevice cudaErrorNoDevice
#define gpuErrorNotReady cudaErrorNotReady
#define gpuErrorStreamCaptureUnsupported cudaErrorStreamCaptureUnsupported
#define gpuErrorStreamCaptureImplicit cudaErrorStreamCaptureImplicit
#define gpuErrorStreamCaptureInvalidated cudaErrorStreamCaptureInvalidated
#define gpuErrorStreamCaptureMerge cudaErrorStreamCaptureMerge
#define gpuErrorStreamCaptureIsolation cudaErrorStreamCaptureIsolation
#define gpuErrorCapturedEvent cudaErrorCapturedEvent

#define gpuDeviceProp_t cudaDeviceProp
#define gpuDevAttrMemoryPoolsSupported cudaDevAttrMemoryPoolsSupported
#define gpuLaunchHostFunc cudaLaunchHostFunc
#define gpuStreamLegacy cudaStreamLegacy
#define gpuHostAlloc cudaHostAlloc
#define gpuHostAllocPortable cudaHostAllocPortable
#define gpuHostAllocMapped cudaHostAllocMapped
#define gpuFreeHost cudaFreeHost
#if CUDART_VERSION >= 13000
#define gpuStreamGetCaptureInfo(stream, status, id, graph)                                         \
    cudaStreamGetCaptureInfo(stream, status, id, graph, nullptr, nullptr, nullptr)
#else
#define gpuStreamGetCaptureInfo(stream, status, id, graph)                                         \
    cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nullptr, nullptr)
#endif

#define GPU_VERSION_MAJOR(version) ((version) / 1000)
#define GPU_VERSION_MINOR(version) ((version) % 1000 / 10)

/* What knows a thread's context is the driver. Its functions are found by the runtime, once; an
 * error of the driver has the runtime's number for it. */
typedef CUcontext gpuContext_t;
struct gpu_driver_t {
    decltype(&cuCtxGetCurrent) get;
    decltype(&cuCtxSetCurrent) set;
    decltype(&cuDeviceGet) device;
    decltype(&cuDevicePrimaryCtxRetain) retain;
};
inline gpu_driver_t &gpu_driver() {
    static gpu_driver_t functions;
    return functions;
}
template <typename F>
static inline cudaError_t gpu_driver_find(const char *name, unsigned version, F *function) {
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t error = cudaGetDriverEntryPointByVersion(name, (void **)function, version,
                                                               cudaEnableDefault, &found);
#else
    const cudaError_t error =
        cudaGetDriverEntryPoint(name, (void **)function, cudaEnableDefault, &found);
    (void)version;
#endif

    return error != cudaSuccess || found == cudaDriverEntryPointSuccess
               ? error
               : cudaErrorInsufficientDriver;
}
inline cudaError_t gpuOpenContext(gpuContext_t *context, int ordinal) {
    gpu_driver_t &driver = gpu_driver();
    CUdevice device;

    cudaError_t error = gpu_driver_find("cuCtxGetCurrent", 4000, &driver.get);
    if (error == cudaSuccess)
        error = gpu_driver_find("cuCtxSetCurrent", 4000, &driver.set);
    if (error == cudaSuccess)
        error = gpu_driver_find("cuDeviceGet", 2000, &driver.device);
    if (error == cudaSuccess)
        error = gpu_driver_find("cuDevicePrimaryCtxRetain", 7000, &driver.retain);

    if (error == cudaSuccess)
        error = (cudaError_t)driver.device(&device, ordinal);

    return error == cudaSuccess ? (cudaError_t)driver.retain(context, device) : error;
}
#define gpuGetContext(context) ((cudaError_t)gpu_driver().get(context))
#define gpuSetContext(context) ((cudaError_t)gpu_driver().set(context))

#endif

#if !defined(JALLOC_GPU_FAKE)

/* ---- Names that differ by their prefix alone: add what the code needs ---- */

#define gpuError_t GPU_(Error_t)
#define gpuSuccess GPU_(Success)
#define gpuErrorInsufficientDriver GPU_(ErrorInsufficientDriver)
#define gpuGetErrorName GPU_(GetErrorName)
#define gpuGetErrorString GPU_(GetErrorString)
#define gpuGetLastError GPU_(GetLastError)
#define gpuPeekAtLastError GPU_(PeekAtLastError)

#define gpuGetDeviceCount GPU_(GetDeviceCount)
#define gpuGetDeviceProperties GPU_(GetDeviceProperties)
#define gpuDeviceGetAttribute GPU_(DeviceGetAttribute)
#define gpuLaunchKernel GPU_(LaunchKernel)
#define gpuFuncAttributes GPU_(FuncAttributes)
#define gpuFuncGetAttributes GPU_(FuncGetAttributes)
#define gpuGetSymbolAddress GPU_(GetSymbolAddress)
#define gpuGetDevice GPU_(GetDevice)
#define gpuSetDevice GPU_(SetDevice)
#define gpuDriverGetVersion GPU_(DriverGetVersion)
#define gpuRuntimeGetVersion GPU_(RuntimeGetVersion)

#define gpuMemGetInfo GPU_(MemGetInfo)
#define gpuMalloc GPU_(Malloc)
#define gpuFree GPU_(Free)
#define gpuMallocManaged GPU_(MallocManaged)
#define gpuMemAttachGlobal GPU_(MemAttachGlobal)
#define gpuMallocAsync GPU_(MallocAsync)
#define gpuFreeAsync GPU_(FreeAsync)
#define gpuMemcpyAsync GPU_(MemcpyAsync)
#define gpuMemsetAsync GPU_(MemsetAsync)
#define gpuMemcpyDefault GPU_(MemcpyDefault)
#define gpuMemcpyDeviceToHost GPU_(MemcpyDeviceToHost)

#define gpuStream_t GPU_(Stream_t)
#define gpuStreamCreateWithFlags GPU_(StreamCreateWithFlags)
#define gpuStreamNonBlocking GPU_(StreamNonBlocking)
#define gpuStreamDestroy GPU_(StreamDestroy)
#define gpuStreamSynchronize GPU_(StreamSynchronize)
#define gpuStreamWaitEvent GPU_(StreamWaitEvent)

#define gpuEvent_t GPU_(Event_t)
#define gpuEventCreateWithFlags GPU_(EventCreateWithFlags)
#define gpuEventDefault GPU_(EventDefault)
#define gpuEventDisableTiming GPU_(EventDisableTiming)
#define gpuEventDestroy GPU_(EventDestroy)
#define gpuEventRecord GPU_(EventRecord)
#define gpuEventQuery GPU_(EventQuery)
#define gpuEventSynchronize GPU_(EventSynchronize)
#define gpuEventElapsedTime GPU_(EventElapsedTime)

#define gpuStreamCaptureStatus GPU_(StreamCaptureStatus)
#define gpuStreamCaptureStatusNone GPU_(StreamCaptureStatusNone)
#define gpuStreamCaptureStatusActive GPU_(StreamCaptureStatusActive)
#define gpuStreamCaptureStatusInvalidated GPU_(StreamCaptureStatusInvalidated)
#define gpuStreamCaptureMode GPU_(StreamCaptureMode)
#define gpuStreamCaptureModeRelaxed GPU_(StreamCaptureModeRelaxed)
#define gpuThreadExchangeStreamCaptureMode GPU_(ThreadExchangeStreamCaptureMode)
#define gpuGraph_t GPU_(Graph_t)
#if GPU_HAS_CAPTURE_OWNERSHIP
#define gpuUserObject_t GPU_(UserObject_t)
#define gpuUserObjectCreate GPU_(UserObjectCreate)
#define gpuUserObjectRelease GPU_(UserObjectRelease)
#define gpuUserObjectNoDestructorSync GPU_(UserObjectNoDestructorSync)
#define gpuGraphRetainUserObject GPU_(GraphRetainUserObject)
#define gpuGraphUserObjectMove GPU_(GraphUserObjectMove)
#endif

/* T, where it is not to be deduced: the arguments are converted to what the kernel takes. */
template <typename T> struct gpu_same_t { typedef T type; };

/* What <<<>>> does, but for its outcome: that would be known by the last error alone, which may be
 * the program's. */
template <typename... P>
static inline gpuError_t gpu_launch_kernel(void (*kernel)(P...), dim3 grid, dim3 block,
                                           gpuStream_t stream,
                                           typename gpu_same_t<P>::type... arguments) {
    void *list[] = {(void *)&arguments..., nullptr};
    return gpuLaunchKernel((const void *)kernel, grid, block, list, 0, stream);
}
#define GPU_UNWRAP_(...) __VA_ARGS__
#define GPU_LAUNCH_KERNEL(kernel, grid, block, stream, ...)                                        \
    gpu_launch_kernel(GPU_UNWRAP_ kernel, (grid), (block), (stream), ##__VA_ARGS__)

#endif

/* What a thread works in. CUDA: a context, such as the one that a device has for all runtimes of
 * the process; or none, and then the runtime's first call gives it the current device's, which it
 * may have to make. HIP: the current device.
 *   gpuOpenContext(&context, ordinal)   the device's, for as long as the process lives
 *   gpuGetContext, gpuSetContext        the calling thread's */
#if GPU_HAS_CONTEXTS
#define GPU_NO_CONTEXT nullptr
#define GPU_GET_CONTEXT_NAME "cuCtxGetCurrent"
#define GPU_SET_CONTEXT_NAME "cuCtxSetCurrent"
#else
typedef int gpuContext_t;
#define GPU_NO_CONTEXT (-1)
#define gpuOpenContext(context, ordinal) (*(context) = (ordinal), gpuSuccess)
#define gpuGetContext(context) gpuGetDevice(context)
#define gpuSetContext(context) gpuSetDevice(context)
#define GPU_GET_CONTEXT_NAME "gpuGetDevice"
#define GPU_SET_CONTEXT_NAME "gpuSetDevice"
#endif

/* A launch: GPU_LAUNCH((kernel<T, 16>), grid, block, stream, arguments...). The kernel stands in
 * parentheses where it has commas. Shared memory is static. Whether it was launched says
 * gpu_check_launch(). */
#define GPU_LAUNCH(...) gpu_note_launch(GPU_LAUNCH_KERNEL(__VA_ARGS__))

/* Before a loop that must be unrolled, so that its arrays are registers; one that must not, which
 * would take more registers than there are; and one of which a few rounds are, so that their loads
 * are on the way together. */
#if defined(JALLOC_GPU_FAKE)
#define GPU_UNROLL
#define GPU_NO_UNROLL
#define GPU_UNROLL_FEW
#else
#define GPU_UNROLL _Pragma("unroll")
#define GPU_NO_UNROLL _Pragma("unroll 1")
#define GPU_UNROLL_FEW _Pragma("unroll 4")
#endif

/* The head of a function that gpuLaunchHostFunc takes. */
#if !defined(GPU_HOST_FUNCTION)
#define GPU_HOST_FUNCTION(name, data) void name(void *data)
#endif

/* "sm_90", "gfx90a": what a kernel must be compiled for to run on the device. */
static inline void gpu_architecture(const gpuDeviceProp_t *properties, char *text,
                                    size_t text_bytes) {
#if defined(__HIP_PLATFORM_AMD__) || defined(FAKE_GPU_HIP)
    const char *name = properties->gcnArchName; /* with its features: gfx90a:sramecc+:xnack- */
    snprintf(text, text_bytes, "%.*s", (int)strcspn(name, ":"), name);
#else
    snprintf(text, text_bytes, "sm_%d%d", properties->major, properties->minor);
#endif
}

#endif
