/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Streams: queues, and what makes them run.
 *
 * reach() is the heart. To run operation n of a stream it runs those before it; before an operation
 * with points it runs the streams of those points up to them, and nothing more. Two threads of the
 * runtime's own help: one runs host functions and destructors, one after the other; one looks now
 * and then for work that has waited for too long, and runs it, because somebody may be looking at
 * memory for its effect. */

#include "runtime.h"

#include <cstring>
#include <ctime>
#include <thread>

#define STREAM_POLLS 3 /* so many queries find a stream not ready before its work runs */

namespace fake {

double now_ms() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* ---- The thread of host functions ---- */

struct callback_t {
    host_function_t host;
    std::shared_ptr<stream_t> stream; /* NULL: a destructor */
};

static struct callbacks_t {
    std::deque<callback_t> queue;
    std::condition_variable arrived;
    bool started = false, destructing = false; /* a destructor runs */
} &callbacks = *new callbacks_t;               /* never destroyed: see state() */

static thread_local bool callback_thread;

bool in_host_function() { return callback_thread; }

static void callbacks_run() {
    runtime_t &rt = state();
    callback_thread = true;
    guard_t guard(rt.lock);
    for (;;) {
        callbacks.arrived.wait(guard, [] { return !callbacks.queue.empty(); });
        callback_t next = callbacks.queue.front();
        callbacks.queue.pop_front();
        callbacks.destructing = next.stream == nullptr;

        guard.unlock();
        next.host.function(next.host.data);
        guard.lock();

        callbacks.destructing = false;
        if (next.stream != nullptr) {
            next.stream->queue.pop_front();
            ++next.stream->done;
            next.stream->busy = false;
            if (next.stream->queue.empty())
                rt.pending.erase(next.stream);
        }

        rt.changed.notify_all();
    }
}

void call_back(const host_function_t &host, const std::shared_ptr<stream_t> &stream) {
    callbacks.queue.push_back(callback_t{host, stream});
    if (!callbacks.started) {
        callbacks.started = true;
        std::thread(callbacks_run).detach();
    }
    callbacks.arrived.notify_one();
}

void drain_callbacks(guard_t &guard) {
    state().changed.wait(guard, [] {
        bool busy = callbacks.destructing;
        for (const callback_t &callback : callbacks.queue)
            busy |= callback.stream == nullptr;
        return !busy;
    });
}

/* ---- The thread that hurries ---- */

static struct hurry_t {
    std::condition_variable work;
    bool started = false, asleep = false;
} &hurry = *new hurry_t;

static void hurry_run() {
    runtime_t &rt = state();
    guard_t guard(rt.lock);
    for (;;) {
        hurry.asleep = true;
        hurry.work.wait(guard, [&rt] { return !rt.pending.empty(); });
        hurry.asleep = false;

        const timespec pause = {0, 10 * 1000000};
        guard.unlock();
        nanosleep(&pause, nullptr);
        guard.lock();

        const uint64_t now = (uint64_t)now_ms();
        std::vector<std::shared_ptr<stream_t>> late;
        for (const std::shared_ptr<stream_t> &stream : rt.pending)
            if (now - stream->since >= rt.laziness_ms)
                late.push_back(stream);

        for (const std::shared_ptr<stream_t> &stream : late)
            reach(guard, point_t{stream, stream->issued}, false);
        close_memory();
    }
}

/* ---- Queues ---- */

/* Legacy streams wait for all blocking ones of their device, and these for it. */
static void stream_add_implicit(const std::shared_ptr<stream_t> &stream,
                                std::vector<point_t> *waits) {
    runtime_t &rt = state();
    if (stream->legacy) {
        for (const std::shared_ptr<stream_t> &other : rt.pending)
            if (other != stream && other->blocking && other->device == stream->device)
                waits->push_back(point_t{other, other->issued});
    } else if (stream->blocking) {
        const std::shared_ptr<stream_t> &legacy = rt.legacy[stream->device];
        if (legacy->done < legacy->issued)
            waits->push_back(point_t{legacy, legacy->issued});
    }
}

point_t enqueue(const std::shared_ptr<stream_t> &stream, operation_t operation) {
    runtime_t &rt = state();

    stream_add_implicit(stream, &operation.waits);
    if (stream->queue.empty()) {
        stream->since = (uint64_t)now_ms();
        stream->polls = 0;
        rt.pending.insert(stream);
        if (!hurry.started) {
            hurry.started = true;
            std::thread(hurry_run).detach();
        } else if (hurry.asleep) {
            hurry.work.notify_one();
        }
    }

    stream->queue.push_back(std::move(operation));
    return point_t{stream, ++stream->issued};
}

bool reach(guard_t &guard, const point_t &goal, bool may_wait) {
    runtime_t &rt = state();
    std::vector<point_t> goals{goal};
    while (!goals.empty()) {
        const std::shared_ptr<stream_t> stream = goals.back().stream;
        if (is_reached(goals.back())) {
            goals.pop_back();
            continue;
        }

        if (stream->busy) {
            if (!may_wait)
                return false;
            close_memory();
            rt.changed.wait(guard);
            continue;
        }

        operation_t &first = stream->queue.front();
        const point_t *missing = nullptr;
        for (const point_t &wait : first.waits)
            if (!is_reached(wait))
                missing = &wait;

        if (missing != nullptr) {
            goals.push_back(*missing);
            continue;
        }

        if (first.host.function != nullptr) {
            stream->busy = true;
            call_back(first.host, stream);
            continue;
        }

        if (first.action && (rt.lost == gpuSuccess || first.always)) {
            const gpuError_t error = first.action();
            if (rt.lost == gpuSuccess)
                rt.lost = error;
        }

        stream->queue.pop_front();
        ++stream->done;
        if (stream->queue.empty())
            rt.pending.erase(stream);
    }
    return true;
}

void reach_stream(guard_t &guard, const std::shared_ptr<stream_t> &stream) {
    std::vector<point_t> goals;

    stream_add_implicit(stream, &goals);
    goals.push_back(point_t{stream, stream->issued});

    for (const point_t &goal : goals)
        reach(guard, goal);
}

void reach_device(guard_t &guard, int device) {
    std::vector<point_t> goals;
    for (const std::shared_ptr<stream_t> &stream : state().pending)
        if (stream->device == device)
            goals.push_back(point_t{stream, stream->issued});

    for (size_t i = goals.size(); i > 1; --i)
        std::swap(goals[i - 1], goals[random_number() % i]);

    for (const point_t &goal : goals)
        reach(guard, goal);
}

/* ---- Handles ---- */

std::shared_ptr<stream_t> find_stream(gpuStream_t handle) {
    runtime_t &rt = state();

    if (handle == nullptr || handle == gpuStreamLegacy)
        return rt.legacy[current_device()];
    if (handle == gpuStreamPerThread) {
        static thread_local std::shared_ptr<stream_t> own[FAKE_MAX_DEVICES];
        std::shared_ptr<stream_t> &stream = own[current_device()];
        if (stream == nullptr) {
            stream = std::make_shared<stream_t>();
            stream->device = current_device();
        }
        return stream;
    }

    auto found = rt.streams.find(handle);
    return found != rt.streams.end() ? found->second : nullptr;
}

gpuError_t check_implicit(const stream_t &stream) {
    gpuError_t error = gpuSuccess;
    if (stream.legacy) {
        const std::set<std::shared_ptr<capture_t>> captures = state().captures;
        for (const std::shared_ptr<capture_t> &capture : captures)
            for (const std::shared_ptr<stream_t> &other : capture->streams)
                if (other->blocking && other->device == stream.device) {
                    invalidate(capture);
                    error = gpuErrorStreamCaptureImplicit;
                }
    }

    return error;
}

gpuError_t submit(const std::shared_ptr<stream_t> &stream, operation_t operation) {
    gpuError_t error = check_implicit(*stream);
    if (error != gpuSuccess)
        return error;

    if (stream->capture != nullptr)
        return capture_operation(stream, std::move(operation));
    enqueue(stream, std::move(operation));
    return gpuSuccess;
}

/* Work that cannot be waited for: the stream is being captured. */
static gpuError_t stream_check_wait(const std::shared_ptr<stream_t> &stream) {
    if (stream == nullptr)
        return gpuErrorInvalidResourceHandle;
    gpuError_t error = check_implicit(*stream);
    if (error == gpuSuccess && stream->capture != nullptr) {
        invalidate(stream->capture);
        error = gpuErrorStreamCaptureUnsupported;
    }

    return error;
}

} // namespace fake

using namespace fake;

gpuError_t gpuStreamCreateWithFlags(gpuStream_t *handle, unsigned flags) {
    return call("StreamCreate", PLAIN, [=](guard_t &) -> gpuError_t {
        if (handle == nullptr || flags > gpuStreamNonBlocking)
            return gpuErrorInvalidValue;

        std::shared_ptr<stream_t> stream = std::make_shared<stream_t>();
        stream->device = current_device();
        stream->number = ++state().stream_count;
        stream->blocking = flags == gpuStreamDefault;
        stream->created = true;

        std::vector<void *> &left = state().left_handles;
        /* The last one's: who still has it is found out. */
        void *name = left.empty() ? new char : left.back();
        if (!left.empty())
            left.pop_back();

        state().streams[name] = stream;
        *handle = (gpuStream_t)name;
        return gpuSuccess;
    });
}

/* What is in the queue still runs. */
gpuError_t gpuStreamDestroy(gpuStream_t handle) {
    return call("StreamDestroy", PLAIN, [=](guard_t &) -> gpuError_t {
        std::shared_ptr<stream_t> stream = find_stream(handle);
        if (stream == nullptr || !stream->created)
            return gpuErrorInvalidResourceHandle;

        if (stream->capture != nullptr)
            invalidate(stream->capture);

        state().streams.erase(handle);
        state().left_handles.push_back(handle);
        return gpuSuccess;
    });
}

gpuError_t gpuStreamSynchronize(gpuStream_t handle) {
    return call("StreamSynchronize", WAITS | UNSAFE, [=](guard_t &guard) -> gpuError_t {
        std::shared_ptr<stream_t> stream = find_stream(handle);
        gpuError_t error = stream_check_wait(stream);
        if (error == gpuSuccess)
            reach_stream(guard, stream);
        return error;
    });
}

gpuError_t gpuStreamQuery(gpuStream_t handle) {
    return call("StreamQuery", UNSAFE, [=](guard_t &guard) -> gpuError_t {
        std::shared_ptr<stream_t> stream = find_stream(handle);
        gpuError_t error = stream_check_wait(stream);

        if (error != gpuSuccess || stream->queue.empty())
            return error;
        if (++stream->polls < STREAM_POLLS)
            return gpuErrorNotReady;
        return reach(guard, point_t{stream, stream->issued}, false) ? gpuSuccess : gpuErrorNotReady;
    });
}

gpuError_t gpuDeviceSynchronize(void) {
    return call("DeviceSynchronize", WAITS | UNSAFE, [=](guard_t &guard) -> gpuError_t {
        reach_device(guard, current_device());
        return gpuSuccess;
    });
}

gpuError_t gpuLaunchHostFunc(gpuStream_t handle, gpuHostFn_t function, void *data) {
    return call("LaunchHostFunc", PLAIN, [=](guard_t &) -> gpuError_t {
        std::shared_ptr<stream_t> stream = find_stream(handle);
        if (stream == nullptr)
            return gpuErrorInvalidResourceHandle;
        if (function == nullptr)
            return gpuErrorInvalidValue;

        operation_t operation;
        operation.host = host_function_t{function, data};
        return submit(stream, std::move(operation));
    });
}
