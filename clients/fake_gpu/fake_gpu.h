/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_GPU_H
#define JALLOC_CLIENTS_FAKE_GPU_H

/* A GPU runtime for tests, which runs on the processor. library/gpu/device/vendor.h includes this
 * file when JALLOC_GPU_FAKE is defined, in place of cuda_runtime.h or hip_runtime.h; the sources of
 * library/gpu compiled against it are a module that libjalloc loads like any other. It is there to
 * find mistakes, so wherever the rules of CUDA and HIP leave a choice, it makes the one that hurts:
 *
 *   Work is lazy.   What is put into a stream runs when something waits for it, and then that
 *                   stream alone, with what it waits for. So a missing event shows as wrong data,
 *                   not now and then but every time. Work that nobody waits for starts after a
 *                   while (set_laziness_ms), because a real GPU would have started it.
 *   Memory          of the device can be touched by kernels and copies of the runtime, and by
 *                   nobody else: the host gets a segmentation fault. It is full of 0xFF, which is
 *                   NaN, when it is new. Each allocation ends (but for the rounding to 256 bytes,
 *                   whose bytes are looked at when it is freed) at pages that nobody can touch, and
 *                   its addresses are not used again for long: a kernel that writes past an end or
 *                   to memory that was freed is stopped, and so is one that touches another
 *                   device's.
 *   Kernels         run thread by thread, block by block, in an order that changes with
 *                   FAKE_GPU_SEED and from block to block. A barrier that not all threads of a
 *                   block reach, or that they reach at different lines, is an error of the kernel.
 *                   Pointers given to a kernel by itself must not be the host's.
 *   Host functions  run on a thread of the runtime, in which a call of the runtime is an error.
 *   Contexts        (of CUDA) are made by what needs one, and by setting the current device. A
 *                   thread begins without.
 *   Captures        are invalidated by every call that the documentation calls unsafe; a kernel's
 *                   first launch is one, since it may load the kernel. A graph's nodes run in any
 *                   order that its edges allow. A user object's destructor runs on the thread of
 *                   the host functions.
 *
 * What a program must never cause (a fault) is written to standard error, counted
 * (fake_gpu_control.h), and makes every call fail until clear_faults(), as an error of a kernel
 * does on a real device. Any call can be made to fail.
 *
 * Not modelled: warps, and so nothing that depends on threads running in step; the limits on
 * registers and shared memory; shared memory that is not zero at the start; races between two
 * threads of one block that no order of whole threads shows; concurrency of kernels; caches, and a
 * kernel that reads host memory through a pointer inside a struct; misaligned access (build with
 * -fsanitize=alignment); memory nodes in graphs; peer access; speed.
 *
 * Files: kernel.h the language of kernels; execute.cpp fiber.cpp how they run; memory.cpp copy.cpp
 * stream.cpp event.cpp capture.cpp graph.cpp device.cpp the calls; control.cpp what tests see.
 * runtime.h is what these share. The vendor's BLAS is apart: fake_blas.h. To read: runtime.h and
 * stream.cpp first. */

#include <stddef.h>
#include <stdint.h>

#if defined(FAKE_GPU_HIP)
#define GPU_KIND JDEVICE_HIP
#define GPU_KIND_NAME "hip"
#define GPU_RUNTIME_NAME "fake HIP"
#define GPU_HAS_CONTEXTS 0
#define GPU_HAS_CAPTURE_OWNERSHIP 0
#define FAKE_GPU_WARP_SIZE 64
#else
#define GPU_KIND JDEVICE_CUDA
#define GPU_KIND_NAME "cuda"
#define GPU_RUNTIME_NAME "fake CUDA"
#define GPU_HAS_CONTEXTS 1
#define GPU_HAS_CAPTURE_OWNERSHIP 1
#define FAKE_GPU_WARP_SIZE 32
#endif
#define GPU_HAS_MEMORY_POOLS 1

/* X(name, CUDA's number, text) */
#define FAKE_GPU_ERROR_LIST(X)                                                                     \
    X(Success, 0, "no error")                                                                      \
    X(ErrorInvalidValue, 1, "invalid argument")                                                    \
    X(ErrorOutOfMemory, 2, "out of memory")                                                        \
    X(ErrorInvalidConfiguration, 9, "invalid configuration argument")                              \
    X(ErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                        \
    X(ErrorInsufficientDriver, 35, "driver version is insufficient for runtime version")           \
    X(ErrorNoDevice, 100, "no GPU device is detected")                                             \
    X(ErrorInvalidDevice, 101, "invalid device ordinal")                                           \
    X(ErrorInvalidResourceHandle, 400, "invalid resource handle")                                  \
    X(ErrorIllegalState, 401, "the operation cannot be performed in the present state")            \
    X(ErrorNotReady, 600, "device not ready")                                                      \
    X(ErrorIllegalAddress, 700, "an illegal memory access was encountered")                        \
    X(ErrorLaunchFailure, 719, "unspecified launch failure")                                       \
    X(ErrorNotPermitted, 800, "operation not permitted")                                           \
    X(ErrorNotSupported, 801, "operation not supported")                                           \
    X(ErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")      \
    X(ErrorStreamCaptureInvalidated, 901,                                                          \
      "operation failed due to a previous error during capture")                                   \
    X(ErrorStreamCaptureMerge, 902,                                                                \
      "operation would result in a merge of separate capture sequences")                           \
    X(ErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began")    \
    X(ErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                       \
    X(ErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream") \
    X(ErrorStreamCaptureImplicit, 906,                                                             \
      "operation would make the legacy stream depend on a capturing blocking stream")              \
    X(ErrorCapturedEvent, 907,                                                                     \
      "operation not permitted on an event last recorded in a capturing stream")                   \
    X(ErrorStreamCaptureWrongThread, 908,                                                          \
      "attempt to terminate a thread-local capture from another thread")                           \
    X(ErrorUnknown, 999, "unknown error")

typedef enum gpuError_t {
#define X(name, number, text) gpu##name = number,
    FAKE_GPU_ERROR_LIST(X)
#undef X
} gpuError_t;

/* Opaque, and different types, as the vendors' are. */
typedef struct fake_gpu_stream *gpuStream_t;
typedef struct fake_gpu_event *gpuEvent_t;
typedef struct fake_gpu_graph *gpuGraph_t;
typedef struct fake_gpu_graph_exec *gpuGraphExec_t;
typedef struct fake_gpu_user_object *gpuUserObject_t;
#if GPU_HAS_CONTEXTS
typedef struct fake_gpu_context *gpuContext_t;
#endif
typedef void (*gpuHostFn_t)(void *user_data);

#define gpuStreamLegacy ((gpuStream_t)0x1)
#define gpuStreamPerThread ((gpuStream_t)0x2)

enum { gpuStreamDefault = 0, gpuStreamNonBlocking = 1 };
enum { gpuEventDefault = 0, gpuEventDisableTiming = 2 };
enum { gpuUserObjectNoDestructorSync = 1 };
enum { gpuGraphUserObjectMove = 1 };
enum { gpuHostAllocDefault = 0, gpuHostAllocPortable = 1, gpuHostAllocMapped = 2 };
enum { gpuMemAttachGlobal = 1 };
typedef enum gpuMemcpyKind {
    gpuMemcpyHostToHost,
    gpuMemcpyHostToDevice,
    gpuMemcpyDeviceToHost,
    gpuMemcpyDeviceToDevice,
    gpuMemcpyDefault
} gpuMemcpyKind;
typedef enum gpuStreamCaptureStatus {
    gpuStreamCaptureStatusNone,
    gpuStreamCaptureStatusActive,
    gpuStreamCaptureStatusInvalidated
} gpuStreamCaptureStatus;
typedef enum gpuStreamCaptureMode {
    gpuStreamCaptureModeGlobal,
    gpuStreamCaptureModeThreadLocal,
    gpuStreamCaptureModeRelaxed
} gpuStreamCaptureMode;

typedef struct gpuDeviceProp_t {
    char name[256];
    char gcnArchName[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int major, minor, multiProcessorCount, warpSize, l2CacheSize, maxThreadsPerBlock;
    int managedMemory, concurrentManagedAccess, memoryPoolsSupported, canMapHostMemory,
        unifiedAddressing, integrated;
    int pciBusID, pciDeviceID, pciDomainID;
} gpuDeviceProp_t;
typedef enum gpuDeviceAttr { gpuDevAttrMemoryPoolsSupported } gpuDeviceAttr;
typedef struct gpuFuncAttributes {
    size_t sharedSizeBytes;
    int maxThreadsPerBlock, numRegs;
} gpuFuncAttributes;

#if defined(FAKE_GPU_HIP)
#define GPU_VERSION_MAJOR(version) ((version) / 10000000)
#define GPU_VERSION_MINOR(version) ((version) / 100000 % 100)
#else
#define GPU_VERSION_MAJOR(version) ((version) / 1000)
#define GPU_VERSION_MINOR(version) ((version) % 1000 / 10)
#endif

/* Hidden, so that the two modules of one process never see each other's. */
#pragma GCC visibility push(hidden)

const char *gpuGetErrorName(gpuError_t error);
const char *gpuGetErrorString(gpuError_t error);
gpuError_t gpuGetLastError(void);
gpuError_t gpuPeekAtLastError(void);

gpuError_t gpuGetDeviceCount(int *count);
gpuError_t gpuGetDevice(int *device);
gpuError_t gpuSetDevice(int device);
#if GPU_HAS_CONTEXTS
gpuError_t gpuOpenContext(gpuContext_t *context, int device);
gpuError_t gpuGetContext(gpuContext_t *context);
gpuError_t gpuSetContext(gpuContext_t context);
#endif
gpuError_t gpuGetDeviceProperties(gpuDeviceProp_t *properties, int device);
gpuError_t gpuDeviceGetAttribute(int *value, gpuDeviceAttr attribute, int device);
gpuError_t gpuDriverGetVersion(int *version);
gpuError_t gpuRuntimeGetVersion(int *version);
gpuError_t gpuDeviceSynchronize(void);
gpuError_t gpuFuncGetAttributes(gpuFuncAttributes *attributes, const void *function);
gpuError_t fake_gpu_symbol_address(void **pointer, const void *symbol, size_t bytes);
template <typename T>
static inline gpuError_t gpuGetSymbolAddress(void **pointer, const T &symbol) {
    return fake_gpu_symbol_address(pointer, &symbol, sizeof symbol);
}

gpuError_t gpuMemGetInfo(size_t *free_bytes, size_t *total_bytes);
gpuError_t gpuMalloc(void **pointer, size_t bytes);
gpuError_t gpuFree(void *pointer);
gpuError_t gpuMallocManaged(void **pointer, size_t bytes, unsigned flags = gpuMemAttachGlobal);
gpuError_t gpuHostAlloc(void **pointer, size_t bytes, unsigned flags);
gpuError_t gpuFreeHost(void *pointer);
gpuError_t gpuMallocAsync(void **pointer, size_t bytes, gpuStream_t stream);
gpuError_t gpuFreeAsync(void *pointer, gpuStream_t stream);
gpuError_t gpuMemcpyAsync(void *destination, const void *source, size_t bytes, gpuMemcpyKind kind,
                          gpuStream_t stream);
gpuError_t gpuMemset(void *destination, int value, size_t bytes);
gpuError_t gpuMemsetAsync(void *destination, int value, size_t bytes, gpuStream_t stream);

gpuError_t gpuStreamCreateWithFlags(gpuStream_t *stream, unsigned flags);
gpuError_t gpuStreamDestroy(gpuStream_t stream);
gpuError_t gpuStreamSynchronize(gpuStream_t stream);
gpuError_t gpuStreamQuery(gpuStream_t stream);
gpuError_t gpuStreamWaitEvent(gpuStream_t stream, gpuEvent_t event, unsigned flags = 0);
gpuError_t gpuLaunchHostFunc(gpuStream_t stream, gpuHostFn_t function, void *user_data);

gpuError_t gpuEventCreateWithFlags(gpuEvent_t *event, unsigned flags);
gpuError_t gpuEventDestroy(gpuEvent_t event);
gpuError_t gpuEventRecord(gpuEvent_t event, gpuStream_t stream = nullptr);
gpuError_t gpuEventQuery(gpuEvent_t event);
gpuError_t gpuEventSynchronize(gpuEvent_t event);
gpuError_t gpuEventElapsedTime(float *milliseconds, gpuEvent_t start, gpuEvent_t stop);

gpuError_t gpuStreamBeginCapture(gpuStream_t stream, gpuStreamCaptureMode mode);
gpuError_t gpuStreamEndCapture(gpuStream_t stream, gpuGraph_t *graph);
gpuError_t gpuStreamIsCapturing(gpuStream_t stream, gpuStreamCaptureStatus *status);
gpuError_t gpuStreamGetCaptureInfo(gpuStream_t stream, gpuStreamCaptureStatus *status,
                                   unsigned long long *id = nullptr, gpuGraph_t *graph = nullptr);
gpuError_t gpuThreadExchangeStreamCaptureMode(gpuStreamCaptureMode *mode);
gpuError_t gpuGraphInstantiate(gpuGraphExec_t *exec, gpuGraph_t graph,
                               unsigned long long flags = 0);
gpuError_t gpuGraphLaunch(gpuGraphExec_t exec, gpuStream_t stream);
gpuError_t gpuGraphExecDestroy(gpuGraphExec_t exec);
gpuError_t gpuGraphDestroy(gpuGraph_t graph);
#if GPU_HAS_CAPTURE_OWNERSHIP
gpuError_t gpuUserObjectCreate(gpuUserObject_t *object, void *pointer, gpuHostFn_t destroy,
                               unsigned references, unsigned flags);
gpuError_t gpuUserObjectRelease(gpuUserObject_t object, unsigned count = 1);
gpuError_t gpuGraphRetainUserObject(gpuGraph_t graph, gpuUserObject_t object, unsigned count = 1,
                                    unsigned flags = 0);
#endif

#pragma GCC visibility pop

#include "kernel.h"

#endif
