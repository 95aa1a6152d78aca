/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Devices, errors, and the frame of every call. */

#include "runtime.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <pthread.h>

namespace fake {

/* A child may ask what was called, and the lock may be that of a thread which it does not have.
 * Taking it before a fork would put it before the locks of those who call the runtime, so the child
 * gets a new one instead: what stands behind it may be half changed, and nothing but the counts is
 * for a child to look at. */
static void fork_in_child() { new (&state().lock) std::mutex; }

runtime_t::runtime_t() {
    const char *text = getenv("FAKE_GPU_SEED");
    seed = text != nullptr ? strtoull(text, nullptr, 0) : 1;
    text = getenv("FAKE_GPU_CAPABILITY");
    capability = FAKE_GPU_WARP_SIZE != 32 ? 0 : text != nullptr ? atoi(text) : 90;

    for (int device = 0; device < FAKE_MAX_DEVICES; ++device) {
        legacy[device] = std::make_shared<stream_t>();
        legacy[device]->device = device;
        legacy[device]->legacy = true;
    }
    pthread_atfork(nullptr, nullptr, fork_in_child);
}

runtime_t &state() {
    static runtime_t &only = *new runtime_t;
    return only;
}

uint64_t random_number() {
    uint64_t z = state().seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static thread_local int device_current; /* by the runtime's own books */
/* Of the thread's context, which comes first; -1: it has none. */
static thread_local int device_context = -1;
static thread_local gpuError_t device_last_error;

static void device_make_context(int device) {
    if (GPU_HAS_CONTEXTS) {
        state().contexts[device] = true;
        device_context = device;
    }
}

int current_device() {
    if (device_context < 0)
        device_make_context(device_current);
    return device_context >= 0 ? device_context : device_current;
}
int current_context() { return device_context; }
void set_last_error(gpuError_t error) { device_last_error = error; }
void note_wait() { ++state().waits; }

gpuError_t fault(gpuError_t error, const char *format, ...) {
    runtime_t &rt = state();
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    ++rt.faults;
    rt.last_fault = text;
    fprintf(stderr, "%s: %s\n", GPU_RUNTIME_NAME, text);
    if (rt.lost == gpuSuccess)
        rt.lost = error;
    return error;
}

static gpuError_t call_begin(const char *name, unsigned flags) {
    runtime_t &rt = state();
    ++rt.counts[name];
    ++rt.all;
    rt.allocations += (flags & TAKES) != 0;
    rt.frees += (flags & GIVES) != 0;
    rt.waits += (flags & WAITS) != 0;

    if (in_host_function())
        return fault(gpuErrorNotPermitted, "%s is called in a host function", name);
    if (rt.fail_in > 0 && --rt.fail_in == 0) {
        rt.failed = true;
        return rt.fail_with;
    }

    if ((flags & ALWAYS) == 0 && rt.device_count == 0)
        return gpuErrorNoDevice;
    if ((flags & ALWAYS) == 0 && rt.lost != gpuSuccess)
        return rt.lost;
    return (flags & UNSAFE) != 0 ? prohibit_unsafe() : gpuSuccess;
}

gpuError_t call(const char *name, unsigned flags,
                const std::function<gpuError_t(guard_t &)> &body) {
    runtime_t &rt = state();
    guard_t guard(rt.lock);
    gpuError_t error = call_begin(name, flags);

    if (error == gpuSuccess)
        error = body(guard);
    if (error == gpuSuccess && (flags & ALWAYS) == 0)
        error = rt.lost;

    close_memory();
    if (error != gpuSuccess)
        device_last_error = error;
    return error;
}

static void device_describe(gpuDeviceProp_t *p, int device) {
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s device on the processor", GPU_RUNTIME_NAME);
    snprintf(p->gcnArchName, sizeof p->gcnArchName, "gfx90a:sramecc+:xnack-");

    p->totalGlobalMem = state().total_bytes;
    p->sharedMemPerBlock = 48 << 10;
    p->major = state().capability / 10;
    p->minor = state().capability % 10;
    p->multiProcessorCount = 4; /* few, so that grids loop and blocks are many */
    p->warpSize = FAKE_GPU_WARP_SIZE;
    p->l2CacheSize = 4 << 20;
    p->maxThreadsPerBlock = 1024;
    p->managedMemory = p->concurrentManagedAccess = p->memoryPoolsSupported = 1;
    p->canMapHostMemory = p->unifiedAddressing = 1;
    p->pciBusID = device;
}

} // namespace fake

using namespace fake;

const char *gpuGetErrorName(gpuError_t error) {
    switch (error) {
#define X(name, number, text)                                                                      \
    case gpu##name: return GPU_KIND_NAME #name;
        FAKE_GPU_ERROR_LIST(X)
#undef X
    }
    return "unrecognized error code";
}

const char *gpuGetErrorString(gpuError_t error) {
    switch (error) {
#define X(name, number, text)                                                                      \
    case gpu##name: return text;
        FAKE_GPU_ERROR_LIST(X)
#undef X
    }
    return "unrecognized error code";
}

gpuError_t gpuGetLastError(void) {
    gpuError_t error = device_last_error;
    device_last_error = gpuSuccess;
    return error;
}

gpuError_t gpuPeekAtLastError(void) { return device_last_error; }

gpuError_t gpuGetDeviceCount(int *count) {
    return call("GetDeviceCount", ALWAYS, [=](guard_t &) -> gpuError_t {
        if (count == nullptr)
            return gpuErrorInvalidValue;
        *count = state().device_count;
        return *count > 0 ? gpuSuccess : gpuErrorNoDevice;
    });
}

gpuError_t gpuGetDevice(int *device) {
    return call("GetDevice", PLAIN, [=](guard_t &) -> gpuError_t {
        if (device == nullptr)
            return gpuErrorInvalidValue;
        *device = device_context >= 0 ? device_context : device_current;
        return gpuSuccess;
    });
}

gpuError_t gpuSetDevice(int device) {
    return call("SetDevice", PLAIN, [=](guard_t &) -> gpuError_t {
        if (device < 0 || device >= state().device_count)
            return gpuErrorInvalidDevice;

        device_current = device;
        device_make_context(device);
        return gpuSuccess;
    });
}

#if GPU_HAS_CONTEXTS
/* A context is the number of its device, from 1. */
gpuError_t gpuOpenContext(gpuContext_t *context, int device) {
    return call("DevicePrimaryCtxRetain", PLAIN, [=](guard_t &) -> gpuError_t {
        if (device < 0 || device >= state().device_count)
            return gpuErrorInvalidDevice;
        state().contexts[device] = true;
        *context = (gpuContext_t)(uintptr_t)(device + 1);
        return gpuSuccess;
    });
}

gpuError_t gpuGetContext(gpuContext_t *context) {
    return call("CtxGetCurrent", PLAIN, [=](guard_t &) -> gpuError_t {
        *context = (gpuContext_t)(uintptr_t)(device_context + 1);
        return gpuSuccess;
    });
}

gpuError_t gpuSetContext(gpuContext_t context) {
    return call("CtxSetCurrent", PLAIN, [=](guard_t &) -> gpuError_t {
        device_context = (int)(uintptr_t)context - 1;
        return gpuSuccess;
    });
}
#endif

gpuError_t gpuGetDeviceProperties(gpuDeviceProp_t *properties, int device) {
    return call("GetDeviceProperties", PLAIN, [=](guard_t &) -> gpuError_t {
        if (properties == nullptr)
            return gpuErrorInvalidValue;
        if (device < 0 || device >= state().device_count)
            return gpuErrorInvalidDevice;

        device_describe(properties, device);
        return gpuSuccess;
    });
}

gpuError_t gpuDeviceGetAttribute(int *value, gpuDeviceAttr attribute, int device) {
    return call("DeviceGetAttribute", PLAIN, [=](guard_t &) -> gpuError_t {
        if (value == nullptr)
            return gpuErrorInvalidValue;
        if (device < 0 || device >= state().device_count)
            return gpuErrorInvalidDevice;

        if (attribute != gpuDevAttrMemoryPoolsSupported)
            return gpuErrorInvalidValue;

        gpuDeviceProp_t p;
        device_describe(&p, device);
        *value = p.memoryPoolsSupported;
        return gpuSuccess;
    });
}

#if defined(FAKE_GPU_HIP)
#define DEVICE_VERSION 60000000
#else
#define DEVICE_VERSION 13000
#endif

static gpuError_t device_version(const char *name, int *version) {
    return call(name, ALWAYS, [=](guard_t &) -> gpuError_t {
        if (version == nullptr)
            return gpuErrorInvalidValue;

        *version = DEVICE_VERSION;
        return gpuSuccess;
    });
}

gpuError_t gpuDriverGetVersion(int *version) { return device_version("DriverGetVersion", version); }
gpuError_t gpuRuntimeGetVersion(int *version) {
    return device_version("RuntimeGetVersion", version);
}

gpuError_t gpuFuncGetAttributes(gpuFuncAttributes *attributes, const void *function) {
    return call("FuncGetAttributes", PLAIN, [=](guard_t &) -> gpuError_t {
        if (attributes == nullptr || function == nullptr)
            return gpuErrorInvalidValue;

        *attributes = gpuFuncAttributes{0, 1024, 32};
        return load_kernel(function);
    });
}
