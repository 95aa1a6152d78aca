/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Events. A record leaves a mark: a point of its stream, and the time when it was reached. Who
 * waits for the event waits for the mark that it has at that moment; a later record does not change
 * that. */

#include "runtime.h"

#define EVENT_POLLS 3 /* so many queries find an event not ready before its stream runs */

namespace fake {

static std::shared_ptr<event_t> event_find(gpuEvent_t handle) {
    auto found = state().events.find(handle);
    return found != state().events.end() ? found->second : nullptr;
}

/* Events recorded into a capture stand for nothing that runs. */
static gpuError_t event_check(const std::shared_ptr<event_t> &event) {
    if (event == nullptr)
        return gpuErrorInvalidResourceHandle;
    if (event->capture == nullptr)
        return gpuSuccess;

    if (state().captures.count(event->capture) != 0)
        invalidate(event->capture);
    return gpuErrorCapturedEvent;
}

static gpuError_t event_record_captured(const std::shared_ptr<event_t> &event,
                                        const std::shared_ptr<stream_t> &stream) {
    if (stream->capture->invalidated)
        return gpuErrorStreamCaptureInvalidated;

    event->capture = stream->capture;
    event->frontier = stream->frontier;
    event->mark = nullptr;
    return gpuSuccess;
}

/* The stream joins the capture, or is in it already. */
static gpuError_t event_wait_captured(const std::shared_ptr<event_t> &event,
                                      const std::shared_ptr<stream_t> &stream) {
    const std::shared_ptr<capture_t> capture = event->capture;
    if (state().captures.count(capture) == 0)
        return gpuErrorCapturedEvent; /* of a capture that has ended */

    if (capture->invalidated)
        return gpuErrorStreamCaptureInvalidated;

    if (stream->legacy) {
        invalidate(capture);
        return gpuErrorStreamCaptureImplicit;
    }

    if (stream->capture != nullptr && stream->capture != capture) {
        invalidate(capture);
        invalidate(stream->capture);
        return gpuErrorStreamCaptureMerge;
    }

    if (stream->capture == nullptr) {
        stream->capture = capture;
        stream->frontier.clear();
        capture->streams.insert(stream);
    }

    stream->frontier.insert(event->frontier.begin(), event->frontier.end());
    return gpuSuccess;
}

} // namespace fake

using namespace fake;

gpuError_t gpuEventCreateWithFlags(gpuEvent_t *handle, unsigned flags) {
    return call("EventCreate", PLAIN, [=](guard_t &) -> gpuError_t {
        if (handle == nullptr)
            return gpuErrorInvalidValue;

        std::shared_ptr<event_t> event = std::make_shared<event_t>();
        event->device = current_device();
        event->timing = (flags & gpuEventDisableTiming) == 0;
        state().counts["EventCreate, timed"] += event->timing;

        *handle = (gpuEvent_t)event.get();
        state().events[event.get()] = event;
        return gpuSuccess;
    });
}

gpuError_t gpuEventDestroy(gpuEvent_t handle) {
    return call("EventDestroy", PLAIN, [=](guard_t &) -> gpuError_t {
        return state().events.erase(handle) != 0 ? gpuSuccess : gpuErrorInvalidResourceHandle;
    });
}

gpuError_t gpuEventRecord(gpuEvent_t handle, gpuStream_t stream_handle) {
    return call("EventRecord", PLAIN, [=](guard_t &) -> gpuError_t {
        std::shared_ptr<event_t> event = event_find(handle);
        std::shared_ptr<stream_t> stream = find_stream(stream_handle);
        if (event == nullptr || stream == nullptr || event->device != stream->device)
            return gpuErrorInvalidResourceHandle;

        gpuError_t error = check_implicit(*stream);
        if (error != gpuSuccess)
            return error;

        if (stream->capture != nullptr)
            return event_record_captured(event, stream);

        std::shared_ptr<event_t::mark_t> mark = std::make_shared<event_t::mark_t>();
        operation_t operation;
        operation.action = [mark] {
            mark->milliseconds = now_ms();
            return gpuSuccess;
        };

        mark->point = enqueue(stream, std::move(operation));
        event->mark = mark;
        event->capture = nullptr;
        return gpuSuccess;
    });
}

gpuError_t gpuStreamWaitEvent(gpuStream_t stream_handle, gpuEvent_t handle, unsigned) {
    return call("StreamWaitEvent", PLAIN, [=](guard_t &) -> gpuError_t {
        std::shared_ptr<event_t> event = event_find(handle);
        std::shared_ptr<stream_t> stream = find_stream(stream_handle);
        if (event == nullptr || stream == nullptr)
            return gpuErrorInvalidResourceHandle;

        if (event->capture != nullptr)
            return event_wait_captured(event, stream);

        gpuError_t error = check_implicit(*stream);
        if (error != gpuSuccess || event->mark == nullptr)
            return error;

        if (stream->capture != nullptr) {
            if (stream->capture->invalidated)
                return gpuErrorStreamCaptureInvalidated;
            invalidate(stream->capture);
            return gpuErrorStreamCaptureIsolation;
        }

        if (is_reached(event->mark->point))
            return gpuSuccess;

        operation_t operation;
        operation.waits.push_back(event->mark->point);
        enqueue(stream, std::move(operation));
        return gpuSuccess;
    });
}

gpuError_t gpuEventQuery(gpuEvent_t handle) {
    return call("EventQuery", UNSAFE, [=](guard_t &guard) -> gpuError_t {
        std::shared_ptr<event_t> event = event_find(handle);
        gpuError_t error = event_check(event);
        if (error != gpuSuccess || event->mark == nullptr || is_reached(event->mark->point))
            return error;

        const point_t point = event->mark->point;
        if (++point.stream->polls < EVENT_POLLS)
            return gpuErrorNotReady;
        return reach(guard, point, false) ? gpuSuccess : gpuErrorNotReady;
    });
}

gpuError_t gpuEventSynchronize(gpuEvent_t handle) {
    return call("EventSynchronize", WAITS | UNSAFE, [=](guard_t &guard) -> gpuError_t {
        std::shared_ptr<event_t> event = event_find(handle);
        gpuError_t error = event_check(event);
        if (error == gpuSuccess && event->mark != nullptr)
            reach(guard, point_t(event->mark->point));
        return error;
    });
}

gpuError_t gpuEventElapsedTime(float *milliseconds, gpuEvent_t start_handle,
                               gpuEvent_t stop_handle) {
    return call("EventElapsedTime", PLAIN, [=](guard_t &) -> gpuError_t {
        std::shared_ptr<event_t> start = event_find(start_handle), stop = event_find(stop_handle);
        if (milliseconds == nullptr)
            return gpuErrorInvalidValue;

        for (const std::shared_ptr<event_t> &event : {start, stop}) {
            gpuError_t error = event_check(event);
            if (error != gpuSuccess)
                return error;
            if (event->mark == nullptr || !event->timing || event->device != start->device)
                return gpuErrorInvalidResourceHandle;
        }

        if (!is_reached(start->mark->point) || !is_reached(stop->mark->point))
            return gpuErrorNotReady;

        *milliseconds = (float)(stop->mark->milliseconds - start->mark->milliseconds);
        return gpuSuccess;
    });
}
