/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Captures. A stream in a capture has a frontier: the nodes that its next one comes after. A record
 * of an event copies the frontier, a wait for that event adds it to another stream's, which is how
 * a stream joins a capture and comes back.
 *
 * A capture that met what is not allowed is invalidated: everything in its streams fails from then
 * on, and ending it gives no graph. Which calls are not allowed to whom says
 * cudaThreadExchangeStreamCaptureMode() (prohibit_unsafe). */

#include "runtime.h"

#include <atomic>

namespace fake {

/* Of the calling thread: never used again, as pthread_t may be. */
static unsigned long capture_thread() {
    static std::atomic<unsigned long> threads;
    static thread_local unsigned long own;
    if (own == 0)
        own = ++threads;
    return own;
}

static thread_local gpuStreamCaptureMode capture_mode = gpuStreamCaptureModeGlobal;

void invalidate(const std::shared_ptr<capture_t> &capture) { capture->invalidated = true; }

gpuError_t prohibit_unsafe() {
    if (capture_mode == gpuStreamCaptureModeRelaxed)
        return gpuSuccess;

    gpuError_t error = gpuSuccess;
    for (const std::shared_ptr<capture_t> &capture : state().captures) {
        const bool own = capture->thread == capture_thread();
        const bool endangered = own ? capture->mode != gpuStreamCaptureModeRelaxed
                                    : capture_mode == gpuStreamCaptureModeGlobal &&
                                          capture->mode == gpuStreamCaptureModeGlobal;
        if (endangered) {
            invalidate(capture);
            error = gpuErrorStreamCaptureUnsupported;
        }
    }
    return error;
}

bool in_capture() {
    for (const std::shared_ptr<capture_t> &capture : state().captures)
        if (capture->thread == capture_thread())
            return true;
    return false;
}

gpuError_t capture_operation(const std::shared_ptr<stream_t> &stream, operation_t operation) {
    if (stream->capture->invalidated)
        return gpuErrorStreamCaptureInvalidated;

    std::unique_ptr<node_t> node = std::make_unique<node_t>();
    node->operation = std::move(operation);
    node->after = std::move(stream->frontier);
    stream->frontier = {node.get()};
    stream->capture->graph->nodes.push_back(std::move(node));
    return gpuSuccess;
}

/* Whether all that other streams added comes before the origin's frontier. */
static bool capture_is_joined(const capture_t &capture) {
    std::vector<node_t *> todo(capture.origin->frontier.begin(), capture.origin->frontier.end());
    std::set<node_t *> before(todo.begin(), todo.end());
    while (!todo.empty()) {
        node_t *node = todo.back();
        todo.pop_back();
        for (node_t *earlier : node->after)
            if (before.insert(earlier).second)
                todo.push_back(earlier);
    }

    return before.size() == capture.graph->nodes.size();
}

static void capture_status(const stream_t &stream, gpuStreamCaptureStatus *status) {
    *status = stream.capture == nullptr     ? gpuStreamCaptureStatusNone
              : stream.capture->invalidated ? gpuStreamCaptureStatusInvalidated
                                            : gpuStreamCaptureStatusActive;
}

/* Asking the legacy stream while a blocking stream is captured is an error, which harms no
 * capture. */
static bool capture_is_implicit(const stream_t &stream) {
    if (stream.legacy)
        for (const std::shared_ptr<capture_t> &capture : state().captures)
            for (const std::shared_ptr<stream_t> &other : capture->streams)
                if (other->blocking && other->device == stream.device)
                    return true;
    return false;
}

} // namespace fake

using namespace fake;

gpuError_t gpuStreamBeginCapture(gpuStream_t handle, gpuStreamCaptureMode mode) {
    return call("StreamBeginCapture", PLAIN, [=](guard_t &) -> gpuError_t {
        std::shared_ptr<stream_t> stream = find_stream(handle);
        if (stream == nullptr)
            return gpuErrorInvalidResourceHandle;
        if (stream->legacy)
            return gpuErrorStreamCaptureUnsupported;
        if (stream->capture != nullptr)
            return gpuErrorIllegalState;

        std::shared_ptr<capture_t> capture = std::make_shared<capture_t>();
        capture->id = ++state().capture_count;
        capture->mode = mode;
        capture->thread = capture_thread();
        capture->origin = stream;
        capture->streams.insert(stream);
        capture->graph = std::make_unique<graph_t>();

        stream->capture = capture;
        stream->frontier.clear();

        state().captures.insert(capture);
        return gpuSuccess;
    });
}

gpuError_t gpuStreamEndCapture(gpuStream_t handle, gpuGraph_t *graph) {
    return call("StreamEndCapture", PLAIN, [=](guard_t &) -> gpuError_t {
        std::shared_ptr<stream_t> stream = find_stream(handle);
        if (stream == nullptr || graph == nullptr)
            return gpuErrorInvalidResourceHandle;

        const std::shared_ptr<capture_t> capture = stream->capture;
        if (capture == nullptr)
            return gpuErrorIllegalState;
        if (capture->mode != gpuStreamCaptureModeRelaxed && capture->thread != capture_thread())
            return gpuErrorStreamCaptureWrongThread;

        gpuError_t error = gpuSuccess;
        if (capture->origin != stream) {
            invalidate(capture);
            return gpuErrorStreamCaptureUnmatched;
        }

        if (capture->invalidated)
            error = gpuErrorStreamCaptureInvalidated;
        else if (!capture_is_joined(*capture))
            error = gpuErrorStreamCaptureUnjoined;

        for (const std::shared_ptr<stream_t> &member : capture->streams) {
            member->capture = nullptr;
            member->frontier.clear();
        }
        capture->streams.clear();
        capture->origin = nullptr;
        state().captures.erase(capture);

        *graph = nullptr;
        if (error == gpuSuccess) {
            *graph = (gpuGraph_t)capture->graph.get();
            state().graphs[*graph] = std::move(capture->graph);
        } else {
            capture->graph = nullptr;
        }

        return error;
    });
}

gpuError_t gpuStreamGetCaptureInfo(gpuStream_t handle, gpuStreamCaptureStatus *status,
                                   unsigned long long *id, gpuGraph_t *graph) {
    return call("StreamGetCaptureInfo", PLAIN, [=](guard_t &) -> gpuError_t {
        std::shared_ptr<stream_t> stream = find_stream(handle);
        if (stream == nullptr)
            return gpuErrorInvalidResourceHandle;
        if (status == nullptr)
            return gpuErrorInvalidValue;
        if (capture_is_implicit(*stream))
            return gpuErrorStreamCaptureImplicit;

        capture_status(*stream, status);
        if (*status == gpuStreamCaptureStatusActive) { /* otherwise these are as they were */
            if (id != nullptr)
                *id = stream->capture->id;
            if (graph != nullptr)
                *graph = (gpuGraph_t)stream->capture->graph.get();
        }
        return gpuSuccess;
    });
}

gpuError_t gpuStreamIsCapturing(gpuStream_t handle, gpuStreamCaptureStatus *status) {
    return gpuStreamGetCaptureInfo(handle, status);
}

gpuError_t gpuThreadExchangeStreamCaptureMode(gpuStreamCaptureMode *mode) {
    return call("ThreadExchangeStreamCaptureMode", ALWAYS, [=](guard_t &) -> gpuError_t {
        if (mode == nullptr || *mode > gpuStreamCaptureModeRelaxed)
            return gpuErrorInvalidValue;

        std::swap(*mode, capture_mode);
        return gpuSuccess;
    });
}
