/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_DEVICE_GPU_H
#define JALLOC_GPU_DEVICE_GPU_H

/* What the parts of a GPU module share.
 *
 *   device/     what libjalloc asks of a device
 *     module.cu   opens devices: what there is, and why not
 *     memory.cu   raw memory of all kinds, in and out of stream order
 *     stream.cu   streams, events, host functions, captures
 *     copy.cu     copies and fills
 *   blas/       what libjblas asks of it
 *     blas.cu     the table of primitives: the vendor's BLAS where it is there, jalloc's kernels
 *                 elsewhere
 *     vendor_*    cuBLAS or hipBLAS, cuSOLVER or hipSOLVER, loaded on first use
 *     level1.cu reduce.cu level2.cu level3.cu ...  kernels
 *
 * All state is in gpu_device_t, one for each device, which lives as long as the process. What holds
 * everywhere:
 *   - a call makes the device current for the calling thread and puts back what was (gpu_current):
 *     another device, a context of the program's own, or none. A thread that had none keeps device
 *     0's, which it would get by any call of the runtime;
 *   - a runtime error becomes a status and a message that names the call and the runtime's words
 *     (gpu_check), and is taken out of the runtime's sticky last error, so that the program's next
 *     look at it finds its own errors alone. What the program had left there is not looked at,
 *     fails nothing, and stays (gpu_forget_error);
 *   - calls that a capture elsewhere in the process would forbid run in relaxed capture mode
 *     (gpu_relaxed);
 *   - after a fork nothing of the runtime is called: JSTATUS_FORKED;
 *   - nor is it in a function that runs in a stream, or that a graph calls when it ends, because
 *     the runtime forbids it and may wait for ever: JSTATUS_BUSY. */

#include <atomic>

#include "core/try.h"
#include "device/module.h"
#include "gpu/device/vendor.h"

struct ji_blas_ops;

struct gpu_device_t {
    jdevice_t base; /* first: a jdevice_t is one of these */
    unsigned fork_generation;
    int ordinal; /* the runtime's number */
    bool has_context;
    gpuContext_t context;            /* what a thread works in that works on the device */
    jdevice_properties_t properties; /* all but `blas` */
    struct gpu_blas_t *blas;         /* blas.cu's own */
};

struct gpu_stream_t {
    jstream_t base;
    gpuStream_t native;
    bool wrapped; /* the caller's: not ours to destroy */
};

struct gpu_event_t {
    jevent_t base;
    gpuEvent_t native;
    std::atomic<bool> recorded;    /* ever; the runtime does not tell that from reached */
    std::atomic<uint64_t> capture; /* that it was last recorded in; 0: in none */
};

extern const ji_module_services_t *gpu_services; /* set by the first open */

static inline gpu_device_t *gpu_device(jdevice_t *device) { return (gpu_device_t *)device; }
static inline gpuStream_t gpu_native(jstream_t *stream) {
    return stream ? ((gpu_stream_t *)stream)->native : nullptr;
}

/* The status of a runtime error; success for gpuSuccess. Says "<device>: <call>: <runtime's words>"
 * and forgets the error. `what` may be the text of a call in this folder's words,
 * gpuMalloc(&pointer, bytes): the message has it in the vendor's, cudaMalloc. Out of memory is
 * JSTATUS_MEMORY_ERROR, a call that capture forbids JSTATUS_CAPTURING, the rest
 * JSTATUS_DEVICE_ERROR. */
jstatus_t gpu_check(const jdevice_t *device, gpuError_t error, const char *what);
/* As above, of the launches since the thread last asked: the first that failed. */
jstatus_t gpu_check_launch(const jdevice_t *device, const char *kernel);
void gpu_note_launch(gpuError_t error); /* for GPU_LAUNCH */
/* Takes an error that a call has just returned out of the runtime's last error. Where the runtime
 * did not put it there, what is there is the program's: CUDA's is of the module's own copy of the
 * runtime, HIP's of the whole process; an error of ours takes the program's place, and before HIP 7
 * so does any call. */
void gpu_forget_error(gpuError_t error);

#define GPU_TRY(device, call)                                                                      \
    do {                                                                                           \
        gpuError_t error_ = (call);                                                                \
        if (error_ != gpuSuccess)                                                                  \
            return gpu_check(device, error_, #call);                                               \
    } while (0)

/* For the length of a scope: the device is current. `status` says whether it could be made so;
 * forked; busy. */
class gpu_current {
  public:
    explicit gpu_current(jdevice_t *device);
    ~gpu_current();
    gpu_current(const gpu_current &) = delete;
    gpu_current &operator=(const gpu_current &) = delete;
    jstatus_t status;

  private:
    bool changed;
    gpuContext_t before; /* what is put back, if it was changed */
};
#define GPU_ENTER(device)                                                                          \
    gpu_current current_(device);                                                                  \
    if (current_.status != JSTATUS_SUCCESS)                                                        \
    return current_.status

/* For the length of a scope: what the thread does is not held against captures of other streams. */
class gpu_relaxed {
  public:
    gpu_relaxed();
    ~gpu_relaxed();
    gpu_relaxed(const gpu_relaxed &) = delete;
    gpu_relaxed &operator=(const gpu_relaxed &) = delete;

  private:
    gpuStreamCaptureMode mode; /* what the thread's was */
    bool changed;
};

/* While a function of the program runs on a thread of the runtime. */
class gpu_in_function {
  public:
    gpu_in_function();
    ~gpu_in_function();
    gpu_in_function(const gpu_in_function &) = delete;
    gpu_in_function &operator=(const gpu_in_function &) = delete;
};

/* The capture that a stream is in: its number and, where asked for, its graph; 0 where it is in
 * none. A capture that an earlier call has spoilt is an error: capturing. The device is current. */
jstatus_t gpu_capture(jdevice_t *device, jstream_t *stream, uint64_t *capture, gpuGraph_t *graph);
/* Refuses what a capture does not allow, before it spoils the capture. `what` says who refuses. */
jstatus_t gpu_require_no_capture(jdevice_t *device, jstream_t *stream, const char *what);
/* The default stream, by either of its names. */
bool gpu_is_default(jstream_t *stream);
/* Of the default stream: that no stream is being captured which it waits for, because its work
 * would spoil that capture. Success for any other stream. */
jstatus_t gpu_require_usable(jdevice_t *device, jstream_t *stream);

/* Whether the module has kernels for the current device; copy.cu. */
gpuError_t gpu_probe_kernels();

/* Operations of the table. */
jstatus_t gpu_get_properties(jdevice_t *device, jdevice_properties_t *properties);
jstatus_t gpu_get_memory_info(jdevice_t *device, size_t *free_bytes, size_t *total_bytes);
jstatus_t gpu_allocate(jdevice_t *device, jmemory_kind_t kind, size_t size_bytes, size_t alignment,
                       void **pointer);
jstatus_t gpu_deallocate(jdevice_t *device, jmemory_kind_t kind, void *pointer, size_t size_bytes);
jstatus_t gpu_allocate_ordered(jdevice_t *device, jstream_t *stream, size_t size_bytes,
                               void **pointer);
jstatus_t gpu_deallocate_ordered(jdevice_t *device, jstream_t *stream, void *pointer,
                                 size_t size_bytes);
jstatus_t gpu_copy(jdevice_t *device, jstream_t *stream, void *destination, const void *source,
                   size_t size_bytes);
jstatus_t gpu_fill(jdevice_t *device, jstream_t *stream, void *destination, const void *pattern,
                   size_t pattern_bytes, size_t count);
jstatus_t gpu_launch(jdevice_t *device, jstream_t *stream, void (*function)(void *),
                     const void *arguments, size_t argument_bytes);
jstatus_t gpu_stream_create(jdevice_t *device, jstream_t **stream);
jstatus_t gpu_stream_destroy(jstream_t *stream);
jstatus_t gpu_stream_synchronize(jdevice_t *device, jstream_t *stream);
jstatus_t gpu_stream_wrap(jdevice_t *device, void *native, jstream_t **stream);
void *gpu_stream_native(jdevice_t *device, jstream_t *stream);
jstatus_t gpu_stream_get_capture(jdevice_t *device, jstream_t *stream, uint64_t *capture);
jstatus_t gpu_stream_keep_in_capture(jdevice_t *device, jstream_t *stream,
                                     void (*release)(void *object), void *object);
jstatus_t gpu_event_create(jdevice_t *device, bool timed, jevent_t **event);
jstatus_t gpu_event_destroy(jevent_t *event);
jstatus_t gpu_event_record(jevent_t *event, jstream_t *stream);
jstatus_t gpu_event_wait(jevent_t *event, jstream_t *stream);
jstatus_t gpu_event_query(jevent_t *event, bool *reached);
jstatus_t gpu_event_synchronize(jevent_t *event);
jstatus_t gpu_event_get_elapsed_ms(jevent_t *start, jevent_t *stop, double *milliseconds);

/* Fills device->base.blas; blas.cu. */
jstatus_t gpu_blas_init(gpu_device_t *device);

/* ---- What the device tells its BLAS (gpu/blas/vendor_turn.cu) ---- */

/* A stream is about to be destroyed, or a wrapped one let go of, and the next may have its name.
 * Idle, it has been waited for: what was kept for it may go to another stream. */
void gpu_vendor_forget_stream(gpu_device_t *device, gpuStream_t stream, bool idle);
/* The same, of the vendor's LAPACK (gpu/blas/vendor_solver.cu). */
void gpu_solver_forget_stream(gpu_device_t *device, gpuStream_t stream, bool idle);

#endif
