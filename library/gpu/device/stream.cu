/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Streams, events, host functions and captures.
 *
 * A stream of ours does not wait for the default stream nor make it wait (the non-blocking flag),
 * so a capture of it leaves the default stream alone. Ours and the program's own, wrapped, differ
 * in who destroys the runtime's stream.
 *
 * What a capture does not allow would spoil it: the runtime's answer to such a call is an error and
 * a capture that can only fail. So whatever waits asks first whether the stream is being captured,
 * and refuses; events remember the capture they were recorded in; and the default stream is not
 * used while a stream that it waits for is being captured.
 *
 * Host functions. The arguments are copied to bookkeeping memory, which is given back when the
 * function has run. In a capture the function becomes a part of the graph and runs each time the
 * graph does, or never; so the graph owns the copy. The runtime allows no calls in such a function:
 * what is tried there is refused (gpu_in_function). */

#include "gpu/device/gpu.h"

#include <string.h>

static jstatus_t stream_no_memory(const jdevice_t *device) {
    return gpu_services->fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping", device->name);
}

/* ---- Captures ---- */

jstatus_t gpu_capture(jdevice_t *device, jstream_t *stream, uint64_t *capture, gpuGraph_t *graph) {
    gpuStreamCaptureStatus state = gpuStreamCaptureStatusNone;
    unsigned long long id = 0;
    gpuGraph_t captured = nullptr;
    GPU_TRY(device, gpuStreamGetCaptureInfo(gpu_native(stream), &state, &id, &captured));
    if (state == gpuStreamCaptureStatusInvalidated)
        return gpu_services->fail(JSTATUS_CAPTURING,
                                  "%s: the stream's capture has failed by an earlier call that "
                                  "captures do not allow, and has to be ended",
                                  device->name);

    const bool active = state == gpuStreamCaptureStatusActive;
    *capture = active ? (uint64_t)id + 1 : 0; /* whatever the runtime counts from */
    if (graph != nullptr)
        *graph = active ? captured : nullptr;
    return JSTATUS_SUCCESS;
}

jstatus_t gpu_require_no_capture(jdevice_t *device, jstream_t *stream, const char *what) {
    uint64_t capture = 0;
    jstatus_t status = gpu_capture(device, stream, &capture, nullptr);
    if (status == JSTATUS_SUCCESS && capture != 0)
        status = gpu_services->fail(JSTATUS_CAPTURING, "%s: %s while the stream is being captured",
                                    device->name, what);
    return status;
}

bool gpu_is_default(jstream_t *stream) {
    const gpuStream_t native = gpu_native(stream);
    return native == nullptr || native == gpuStreamLegacy;
}

jstatus_t gpu_require_usable(jdevice_t *device, jstream_t *stream) {
    uint64_t capture;
    return gpu_is_default(stream) ? gpu_capture(device, stream, &capture, nullptr)
                                  : JSTATUS_SUCCESS;
}

jstatus_t gpu_stream_get_capture(jdevice_t *device, jstream_t *stream, uint64_t *capture) {
    GPU_ENTER(device);
    return gpu_capture(device, stream, capture, nullptr);
}

#if GPU_HAS_CAPTURE_OWNERSHIP
struct stream_kept_t {
    void (*release)(void *object); /* NULL: the graph did not take it */
    void *object;
};

/* Called by the runtime when the last graph that keeps it has ended. */
static void stream_release_kept(void *pointer) {
    stream_kept_t *kept = (stream_kept_t *)pointer;
    if (kept->release != nullptr) {
        gpu_in_function inside;
        kept->release(kept->object);
    }
    gpu_services->metadata_free(kept);
}

static jstatus_t stream_keep(jdevice_t *device, gpuGraph_t graph, void (*release)(void *object),
                             void *object) {
    stream_kept_t *kept = (stream_kept_t *)gpu_services->metadata_zalloc(sizeof *kept);
    if (kept == nullptr)
        return stream_no_memory(device);
    gpuUserObject_t user = nullptr;
    gpuError_t error =
        gpuUserObjectCreate(&user, kept, stream_release_kept, 1, gpuUserObjectNoDestructorSync);
    if (error != gpuSuccess) {
        gpu_services->metadata_free(kept);
        return gpu_check(device, error, "gpuUserObjectCreate");
    }

    kept->object = object;
    kept->release = release;
    error = gpuGraphRetainUserObject(graph, user, 1, gpuGraphUserObjectMove);
    if (error == gpuSuccess)
        return JSTATUS_SUCCESS;

    kept->release = nullptr; /* the object stays the caller's; `kept` goes with the user object */
    jstatus_t status = gpu_check(device, error, "gpuGraphRetainUserObject");
    gpu_forget_error(gpuUserObjectRelease(user, 1));
    return status;
}
#else
static jstatus_t stream_keep(jdevice_t *device, gpuGraph_t, void (*)(void *), void *) {
    return gpu_services->fail(JSTATUS_NOT_IMPLEMENTED,
                              "%s: graphs of this version of " GPU_RUNTIME_NAME " own nothing",
                              device->name);
}
#endif

jstatus_t gpu_stream_keep_in_capture(jdevice_t *device, jstream_t *stream,
                                     void (*release)(void *object), void *object) {
    GPU_ENTER(device);
    uint64_t capture = 0;
    gpuGraph_t graph = nullptr;
    JTRY_RETURN(gpu_capture(device, stream, &capture, &graph));
    if (capture == 0)
        return gpu_services->fail(JSTATUS_INVALID_VALUE, "%s: the stream is not being captured",
                                  device->name);

    return stream_keep(device, graph, release, object);
}

/* ---- Streams ---- */

static jstatus_t stream_make(jdevice_t *device, gpu_stream_t **stream) {
    *stream = (gpu_stream_t *)gpu_services->metadata_zalloc(sizeof **stream);
    if (*stream == nullptr)
        return stream_no_memory(device);

    (*stream)->base.device = device;
    (*stream)->base.fork_generation = *gpu_services->fork_generation;
    return JSTATUS_SUCCESS;
}

jstatus_t gpu_stream_create(jdevice_t *device, jstream_t **out) {
    GPU_ENTER(device);
    gpu_relaxed relaxed;
    gpu_stream_t *stream;
    JTRY_RETURN(stream_make(device, &stream));

    jstatus_t status =
        gpu_check(device, gpuStreamCreateWithFlags(&stream->native, gpuStreamNonBlocking),
                  "gpuStreamCreateWithFlags");
    if (status != JSTATUS_SUCCESS) {
        gpu_services->metadata_free(stream);
        return status;
    }

    *out = &stream->base;
    return JSTATUS_SUCCESS;
}

jstatus_t gpu_stream_wrap(jdevice_t *device, void *native, jstream_t **out) {
    GPU_ENTER(device);
    gpu_stream_t *stream;
    JTRY_RETURN(stream_make(device, &stream));

    stream->native = (gpuStream_t)native;
    stream->wrapped = true;
    *out = &stream->base;
    return JSTATUS_SUCCESS;
}

void *gpu_stream_native(jdevice_t *, jstream_t *stream) { return (void *)gpu_native(stream); }

/* A stream that is being captured is kept, unless it is the program's: then nothing of it ends
 * here. Any other ends even if the runtime refuses something, and the first refusal is told. */
jstatus_t gpu_stream_destroy(jstream_t *base) {
    gpu_stream_t *stream = (gpu_stream_t *)base;
    jstatus_t status;
    {
        gpu_current current(base->device);
        status = current.status;
        if (status == JSTATUS_BUSY)
            return status;

        if (status != JSTATUS_FORKED) {
            gpu_relaxed relaxed;
            uint64_t capture = 0;

            const jstatus_t asked = gpu_capture(base->device, base, &capture, nullptr);
            const bool captured = asked == JSTATUS_CAPTURING || capture != 0;

            if (captured && !stream->wrapped)
                return gpu_require_no_capture(base->device, base, "a stream cannot be destroyed");
            if (status == JSTATUS_SUCCESS && !captured)
                status = asked;

            if (!captured) {
                const jstatus_t waited = gpu_check(
                    base->device, gpuStreamSynchronize(stream->native), "gpuStreamSynchronize");
                if (status == JSTATUS_SUCCESS)
                    status = waited;
            }

            gpu_vendor_forget_stream(gpu_device(base->device), stream->native, !captured);
            gpu_solver_forget_stream(gpu_device(base->device), stream->native, !captured);

            if (!stream->wrapped) {
                const jstatus_t ended =
                    gpu_check(base->device, gpuStreamDestroy(stream->native), "gpuStreamDestroy");
                if (status == JSTATUS_SUCCESS)
                    status = ended;
            }
        }
    }

    gpu_services->metadata_free(stream);
    return status;
}

jstatus_t gpu_stream_synchronize(jdevice_t *device, jstream_t *stream) {
    GPU_ENTER(device);
    gpu_relaxed relaxed;
    JTRY_RETURN(gpu_require_no_capture(device, stream, "there is nothing to wait for"));

    GPU_TRY(device, gpuStreamSynchronize(gpu_native(stream)));
    return JSTATUS_SUCCESS;
}

/* ---- Host functions ---- */

struct stream_function_t {
    alignas(16) unsigned char arguments[JSTREAM_MAX_ARGUMENT_BYTES];
    void (*function)(void *arguments);
    bool kept; /* by a graph, which runs it any number of times */
};

static GPU_HOST_FUNCTION(stream_run_function, pointer) {
    stream_function_t *call = (stream_function_t *)pointer;
    /* The function may change them. */
    alignas(16) unsigned char arguments[JSTREAM_MAX_ARGUMENT_BYTES];
    memcpy(arguments, call->arguments, sizeof arguments);
    void (*const function)(void *) = call->function;

    if (!call->kept)
        gpu_services->metadata_free(call);

    gpu_in_function inside;
    function(arguments);
}

jstatus_t gpu_launch(jdevice_t *device, jstream_t *stream, void (*function)(void *),
                     const void *arguments, size_t argument_bytes) {
    GPU_ENTER(device);
    uint64_t capture = 0;
    gpuGraph_t graph = nullptr;
    JTRY_RETURN(gpu_capture(device, stream, &capture, &graph));

    stream_function_t *call = (stream_function_t *)gpu_services->metadata_zalloc(sizeof *call);
    if (call == nullptr)
        return stream_no_memory(device);
    if (argument_bytes > 0)
        memcpy(call->arguments, arguments, argument_bytes);

    call->function = function;
    call->kept = capture != 0;
    if (call->kept) {
        const jstatus_t kept = stream_keep(device, graph, gpu_services->metadata_free, call);
        if (kept != JSTATUS_SUCCESS) {
            gpu_services->metadata_free(call);
            return kept;
        }
    }

    const jstatus_t status =
        gpu_check(device, gpuLaunchHostFunc(gpu_native(stream), stream_run_function, call),
                  "gpuLaunchHostFunc");
    if (status != JSTATUS_SUCCESS && !call->kept)
        gpu_services->metadata_free(call);
    return status;
}

/* ---- Events ---- */

jstatus_t gpu_event_create(jdevice_t *device, bool timed, jevent_t **out) {
    GPU_ENTER(device);
    gpu_relaxed relaxed;
    gpu_event_t *event = (gpu_event_t *)gpu_services->metadata_zalloc(sizeof *event);
    if (event == nullptr)
        return stream_no_memory(device);

    event->base.device = device;
    event->base.fork_generation = *gpu_services->fork_generation;

    const unsigned flags = timed ? gpuEventDefault : gpuEventDisableTiming;
    jstatus_t status = gpu_check(device, gpuEventCreateWithFlags(&event->native, flags),
                                 "gpuEventCreateWithFlags");
    if (status != JSTATUS_SUCCESS) {
        gpu_services->metadata_free(event);
        return status;
    }

    *out = &event->base;
    return JSTATUS_SUCCESS;
}

jstatus_t gpu_event_destroy(jevent_t *base) {
    gpu_event_t *event = (gpu_event_t *)base;
    jstatus_t status;
    {
        gpu_current current(base->device);
        status = current.status;
        if (status == JSTATUS_BUSY)
            return status;

        if (status != JSTATUS_FORKED) {
            gpu_relaxed relaxed;
            const jstatus_t ended =
                gpu_check(base->device, gpuEventDestroy(event->native), "gpuEventDestroy");
            if (status == JSTATUS_SUCCESS)
                status = ended;
        }
    }

    gpu_services->metadata_free(event);
    return status;
}

jstatus_t gpu_event_record(jevent_t *base, jstream_t *stream) {
    gpu_event_t *event = (gpu_event_t *)base;
    GPU_ENTER(base->device);
    uint64_t capture = 0;
    JTRY_RETURN(gpu_capture(base->device, stream, &capture, nullptr));

    GPU_TRY(base->device, gpuEventRecord(event->native, gpu_native(stream)));
    event->capture = capture;
    event->recorded = true;
    return JSTATUS_SUCCESS;
}

/* A stream in no capture joins the event's; otherwise both are of the same, or of none. */
jstatus_t gpu_event_wait(jevent_t *base, jstream_t *stream) {
    gpu_event_t *event = (gpu_event_t *)base;
    jdevice_t *device = base->device;
    GPU_ENTER(device);
    if (!event->recorded) /* counts as reached */
        return JSTATUS_SUCCESS;
    uint64_t capture = 0;
    JTRY_RETURN(gpu_capture(device, stream, &capture, nullptr));

    const uint64_t recorded = event->capture;
    if (capture != 0 && capture != recorded)
        return gpu_services->fail(JSTATUS_CAPTURING,
                                  "%s: a stream that is being captured cannot wait for an event of "
                                  "another capture, or of none",
                                  device->name);
    if (recorded != 0 && gpu_is_default(stream))
        return gpu_services->fail(JSTATUS_CAPTURING,
                                  "%s: the default stream cannot wait for an event of a capture",
                                  device->name);

    GPU_TRY(device, gpuStreamWaitEvent(gpu_native(stream), event->native, 0));
    return JSTATUS_SUCCESS;
}

/* An event of a capture stands for nothing that is ever reached, and asking for it spoils the
 * capture. */
static jstatus_t event_require_no_capture(const gpu_event_t *event) {
    if (event->capture == 0)
        return JSTATUS_SUCCESS;
    return gpu_services->fail(
        JSTATUS_CAPTURING,
        "%s: the event was recorded in a capture, and is not reached outside of it",
        event->base.device->name);
}

jstatus_t gpu_event_query(jevent_t *base, bool *reached) {
    gpu_event_t *event = (gpu_event_t *)base;
    GPU_ENTER(base->device);
    gpu_relaxed relaxed;
    JTRY_RETURN(event_require_no_capture(event));

    gpuError_t error = gpuEventQuery(event->native);
    if (error == gpuErrorNotReady)
        gpu_forget_error(error); /* an answer, which some versions keep as an error */
    else if (error != gpuSuccess)
        return gpu_check(base->device, error, "gpuEventQuery");

    *reached = error == gpuSuccess;
    return JSTATUS_SUCCESS;
}

jstatus_t gpu_event_synchronize(jevent_t *base) {
    gpu_event_t *event = (gpu_event_t *)base;
    GPU_ENTER(base->device);
    gpu_relaxed relaxed;
    JTRY_RETURN(event_require_no_capture(event));

    GPU_TRY(base->device, gpuEventSynchronize(event->native));
    return JSTATUS_SUCCESS;
}

jstatus_t gpu_event_get_elapsed_ms(jevent_t *start_base, jevent_t *stop_base,
                                   double *milliseconds) {
    gpu_event_t *start = (gpu_event_t *)start_base, *stop = (gpu_event_t *)stop_base;
    jdevice_t *device = start_base->device;
    GPU_ENTER(device);
    gpu_relaxed relaxed;
    if (!start->recorded || !stop->recorded)
        return gpu_services->fail(JSTATUS_INVALID_VALUE, "%s: an event was never recorded",
                                  device->name);

    jstatus_t status = event_require_no_capture(start);
    if (status == JSTATUS_SUCCESS)
        status = event_require_no_capture(stop);
    if (status != JSTATUS_SUCCESS)
        return status;

    float elapsed = 0;
    gpuError_t error = gpuEventElapsedTime(&elapsed, start->native, stop->native);
    if (error == gpuErrorNotReady) {
        gpu_forget_error(error);
        return gpu_services->fail(JSTATUS_BUSY, "%s: an event is not reached yet", device->name);
    }

    if (error == gpuSuccess)
        *milliseconds = elapsed;
    return gpu_check(device, error, "gpuEventElapsedTime");
}
