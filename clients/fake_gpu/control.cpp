/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What tests see: the object that fake_gpu_control.h describes. */

#include "fake_gpu_control.h"
#include "runtime.h"

using namespace fake;

/* By graph; under the lock. */
static std::map<void *, gpuGraphExec_t> &control_execs = *new std::map<void *, gpuGraphExec_t>;

template <typename F> static auto control_locked(F body) {
    guard_t guard(state().lock);
    return body(state(), guard);
}

static void control_fail_after(uint64_t n, fake_gpu_error_t error) {
    control_locked([=](runtime_t &rt, guard_t &) {
        rt.fail_in = n;
        rt.fail_with = error == FAKE_GPU_OUT_OF_MEMORY ? gpuErrorOutOfMemory : gpuErrorUnknown;
        rt.failed = false;
    });
}

static bool control_has_failed(void) {
    return control_locked([](runtime_t &rt, guard_t &) { return rt.failed; });
}

static void control_reset_counts(void) {
    control_locked([](runtime_t &rt, guard_t &) {
        rt.counts.clear();
        rt.all = rt.allocations = rt.frees = rt.waits = 0;
    });
}

static uint64_t control_count(const char *name) {
    return control_locked([=](runtime_t &rt, guard_t &) {
        auto found = rt.counts.find(name);
        return found != rt.counts.end() ? found->second : 0;
    });
}

static uint64_t control_count_all(void) {
    return control_locked([](runtime_t &rt, guard_t &) { return rt.all; });
}
static uint64_t control_count_allocations(void) {
    return control_locked([](runtime_t &rt, guard_t &) { return rt.allocations; });
}
static uint64_t control_count_frees(void) {
    return control_locked([](runtime_t &rt, guard_t &) { return rt.frees; });
}
static uint64_t control_count_waits(void) {
    return control_locked([](runtime_t &rt, guard_t &) { return rt.waits; });
}

static void control_set_device_count(int count) {
    control_locked([=](runtime_t &rt, guard_t &) {
        rt.device_count = count < 0 ? 0 : count > FAKE_MAX_DEVICES ? FAKE_MAX_DEVICES : count;
    });
}

static void control_set_total_bytes(size_t total_bytes) {
    control_locked([=](runtime_t &rt, guard_t &) { rt.total_bytes = total_bytes; });
}

static void control_set_laziness_ms(uint64_t milliseconds) {
    control_locked([=](runtime_t &rt, guard_t &) { rt.laziness_ms = milliseconds; });
}

static size_t control_live_bytes(void) {
    return control_locked([](runtime_t &rt, guard_t &) { return rt.live_bytes; });
}

static uint64_t control_live_objects(void) {
    return control_locked([](runtime_t &rt, guard_t &guard) {
        if (!in_host_function())
            drain_callbacks(guard);
        return (uint64_t)(rt.streams.size() + rt.events.size() + rt.graphs.size() +
                          rt.execs.size() + rt.user_objects.size());
    });
}

static uint64_t control_faults(void) {
    return control_locked([](runtime_t &rt, guard_t &) { return rt.faults; });
}

static const char *control_last_fault(void) {
    static thread_local std::string text;
    control_locked([](runtime_t &rt, guard_t &) { text = rt.last_fault; });
    return text.c_str();
}

static void control_clear_faults(void) {
    control_locked([](runtime_t &rt, guard_t &) {
        rt.faults = 0;
        rt.last_fault.clear();
        rt.lost = gpuSuccess;
    });
    set_last_error(gpuSuccess);
}

static void control_set_seed(uint64_t seed) {
    control_locked([=](runtime_t &rt, guard_t &) { rt.seed = seed; });
}

static int control_last_error(void) { return gpuGetLastError(); }
static void control_leave_error(void) { set_last_error(gpuErrorInvalidValue); }

static void control_unload_kernels(void) {
    control_locked([](runtime_t &rt, guard_t &) { rt.loaded.clear(); });
}

static int control_set_device(int device) { return gpuSetDevice(device); }
static int control_context(void) { return current_context(); }
static bool control_has_context(int device) {
    return control_locked([=](runtime_t &rt, guard_t &) { return rt.contexts[device]; });
}
static void control_end_context(int device) {
    control_locked([=](runtime_t &rt, guard_t &) { rt.contexts[device] = false; });
}

static int control_begin_capture_as(void *stream, fake_gpu_capture_mode_t mode) {
    return gpuStreamBeginCapture((gpuStream_t)stream, (gpuStreamCaptureMode)mode);
}

static int control_begin_capture(void *stream) {
    return control_begin_capture_as(stream, FAKE_GPU_CAPTURE_GLOBAL);
}

/* What a graph owned is released by another thread, at some time: tests are spared the looking. */
static void control_settle() {
    control_locked([](runtime_t &, guard_t &guard) {
        if (!in_host_function())
            drain_callbacks(guard);
    });
}

static void *control_end_capture(void *stream) {
    gpuGraph_t graph = nullptr;
    const gpuError_t error = gpuStreamEndCapture((gpuStream_t)stream, &graph);
    control_settle();
    return error == gpuSuccess ? graph : nullptr;
}

static int control_launch_graph(void *graph, void *stream) {
    gpuGraphExec_t exec = nullptr;
    control_locked([&](runtime_t &, guard_t &) {
        auto found = control_execs.find(graph);
        if (found != control_execs.end())
            exec = found->second;
    });

    if (exec == nullptr) {
        gpuError_t error = gpuGraphInstantiate(&exec, (gpuGraph_t)graph);
        if (error != gpuSuccess)
            return error;
        control_locked([&](runtime_t &, guard_t &) { control_execs[graph] = exec; });
    }
    return gpuGraphLaunch(exec, (gpuStream_t)stream);
}

static void control_destroy_graph(void *graph) {
    gpuGraphExec_t exec = nullptr;
    control_locked([&](runtime_t &, guard_t &) {
        auto found = control_execs.find(graph);
        if (found != control_execs.end()) {
            exec = found->second;
            control_execs.erase(found);
        }
    });

    if (exec != nullptr)
        gpuGraphExecDestroy(exec);
    gpuGraphDestroy((gpuGraph_t)graph);
    control_settle();
}

static void *control_create_stream(bool blocking) {
    gpuStream_t stream = nullptr;
    return gpuStreamCreateWithFlags(&stream, blocking ? gpuStreamDefault : gpuStreamNonBlocking) ==
                   gpuSuccess
               ? stream
               : nullptr;
}

static int control_destroy_stream(void *stream) { return gpuStreamDestroy((gpuStream_t)stream); }

const fake_gpu_control_t fake_gpu_control = {
    control_fail_after,      control_has_failed,       control_reset_counts,
    control_count,           control_count_all,        control_count_allocations,
    control_count_frees,     control_count_waits,      control_set_device_count,
    control_set_total_bytes, control_live_bytes,       control_live_objects,
    control_begin_capture,   control_end_capture,      control_launch_graph,
    control_destroy_graph,   control_faults,           control_last_fault,
    control_clear_faults,    control_set_laziness_ms,  control_set_seed,
    control_last_error,      control_leave_error,      control_unload_kernels,
    control_set_device,      control_context,          control_has_context,
    control_end_context,     control_begin_capture_as, control_create_stream,
    control_destroy_stream,
};
