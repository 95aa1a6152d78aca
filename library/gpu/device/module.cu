/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Opening devices, and what every operation rests on: the current device, errors, forks.
 *
 * A device that cannot be opened is an answer, not a fault: no driver, a driver too old for this
 * module, no device, no such number, a device that the module has no kernels for. Each is
 * JSTATUS_NO_DEVICE with a reason in the runtime's own words, and asking again after the cause is
 * gone succeeds.
 *
 * The runtime of a vendor does not survive a fork. A device remembers in which process it was
 * opened, and the module in which it first called the runtime, so a child is refused before it
 * calls anything. */

#include "gpu/device/gpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "blas/primitives/primitive.h"

#define GPU_DEVICES 64 /* as many as libjalloc asks for */
/* What every runtime's memory is aligned to, and what wide loads and copies like. */
#define GPU_GRANULE_BYTES 256

const ji_module_services_t *gpu_services;

/* Of the process, not of a heap: devices are never closed. */
static gpu_device_t gpu_devices[GPU_DEVICES];
static bool gpu_runtime_called;
static unsigned gpu_runtime_generation; /* of forks, when it was */

static thread_local int gpu_functions;           /* that this thread is in */
static thread_local gpuError_t gpu_launch_error; /* the first since gpu_check_launch() */

/* ---- Errors ---- */

/* A call in this folder's words, gpuMalloc(&pointer, bytes), in the vendor's: cudaMalloc. Anything
 * else as it is. */
static void module_name_call(const char *what, char *text, size_t text_bytes) {
    if (strncmp(what, "gpu", 3) == 0 && what[3] >= 'A' && what[3] <= 'Z')
        snprintf(text, text_bytes, GPU_KIND_NAME "%.*s", (int)strcspn(what + 3, "("), what + 3);
    else
        snprintf(text, text_bytes, "%s", what);
}

void gpu_forget_error(gpuError_t error) {
    if (error != gpuSuccess && gpuPeekAtLastError() == error)
        (void)gpuGetLastError();
}

jstatus_t gpu_check(const jdevice_t *device, gpuError_t error, const char *what) {
    if (error == gpuSuccess)
        return JSTATUS_SUCCESS;
    gpu_forget_error(error);

    jstatus_t status = JSTATUS_DEVICE_ERROR;
    if (error == gpuErrorOutOfMemory)
        status = JSTATUS_MEMORY_ERROR;
    else if (error == gpuErrorStreamCaptureUnsupported ||
             error == gpuErrorStreamCaptureInvalidated || error == gpuErrorStreamCaptureMerge ||
             error == gpuErrorStreamCaptureIsolation || error == gpuErrorStreamCaptureImplicit ||
             error == gpuErrorCapturedEvent)
        status = JSTATUS_CAPTURING;

    char call[96];
    module_name_call(what, call, sizeof call);
    return gpu_services->fail(status, "%s: %s: %s (%s)", device->name, call,
                              gpuGetErrorString(error), gpuGetErrorName(error));
}

void gpu_note_launch(gpuError_t error) {
    if (gpu_launch_error == gpuSuccess)
        gpu_launch_error = error;
}

jstatus_t gpu_check_launch(const jdevice_t *device, const char *kernel) {
    const gpuError_t error = gpu_launch_error;
    gpu_launch_error = gpuSuccess;
    return gpu_check(device, error, kernel);
}

/* ---- Scopes ---- */

gpu_current::gpu_current(jdevice_t *base)
    : status(JSTATUS_SUCCESS), changed(false), before(GPU_NO_CONTEXT) {
    const gpu_device_t *device = gpu_device(base);
    if (device->fork_generation != *gpu_services->fork_generation) {
        status = gpu_services->fail(
            JSTATUS_FORKED, "%s: opened before a fork; " GPU_RUNTIME_NAME " does not survive one",
            base->name);
        return;
    }
    if (gpu_functions > 0) {
        status = gpu_services->fail(JSTATUS_BUSY,
                                    "%s: called by a function in a stream, where " GPU_RUNTIME_NAME
                                    " allows no calls",
                                    base->name);
        return;
    }

    gpuError_t error = gpuGetContext(&before);
    if (error != gpuSuccess) {
        status = gpu_check(base, error, GPU_GET_CONTEXT_NAME);
        return;
    }

    if (before == device->context)
        return;

    error = gpuSetContext(device->context);
    if (error != gpuSuccess)
        status = gpu_check(base, error, GPU_SET_CONTEXT_NAME);
    /* Also if it failed: halfway, perhaps. */
    changed = before != GPU_NO_CONTEXT || device->ordinal != 0;
}

gpu_current::~gpu_current() {
    if (changed)
        /* The program will learn of it by its own next call. */
        gpu_forget_error(gpuSetContext(before));
}

gpu_relaxed::gpu_relaxed() : mode(gpuStreamCaptureModeRelaxed), changed(false) {
    const gpuError_t error = gpuThreadExchangeStreamCaptureMode(&mode);
    changed = error == gpuSuccess;
    gpu_forget_error(error); /* then a capture elsewhere may forbid what follows, which says so */
}

gpu_relaxed::~gpu_relaxed() {
    if (changed)
        gpu_forget_error(gpuThreadExchangeStreamCaptureMode(&mode));
}

gpu_in_function::gpu_in_function() { ++gpu_functions; }
gpu_in_function::~gpu_in_function() { --gpu_functions; }

/* ---- Opening ---- */

static jstatus_t module_refuse(char *reason, size_t reason_size, const char *format, ...)
    JALLOC_PRINTF(3, 4);
static jstatus_t module_refuse(char *reason, size_t reason_size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, reason_size, format, arguments);
    va_end(arguments);
    return JSTATUS_NO_DEVICE;
}

static jstatus_t module_refuse_error(char *reason, size_t reason_size, const char *call,
                                     gpuError_t error) {
    gpu_forget_error(error);
    return module_refuse(reason, reason_size, GPU_KIND_NAME "%s: %s (%s)", call,
                         gpuGetErrorString(error), gpuGetErrorName(error));
}

/* Versions of the runtime, which is part of the module, and of the driver, which is the machine's;
 * 0: there is none. */
static void module_get_versions(int *runtime, int *driver) {
    *runtime = *driver = 0;
    gpu_forget_error(gpuRuntimeGetVersion(runtime));
    gpu_forget_error(gpuDriverGetVersion(driver));
}

/* Why the runtime has no devices. It calls a driver that is not there and one that is too old by
 * the same name. */
static jstatus_t module_refuse_count(char *reason, size_t reason_size, gpuError_t error) {
    gpu_forget_error(error);
    int runtime, driver;
    char versions[96] = "";

    if (error == gpuErrorInsufficientDriver) {
        module_get_versions(&runtime, &driver);
        if (driver == 0)
            snprintf(versions, sizeof versions, "; no driver is installed");
        else
            snprintf(versions, sizeof versions,
                     "; the driver supports %d.%d, and this module needs %d.%d",
                     GPU_VERSION_MAJOR(driver), GPU_VERSION_MINOR(driver),
                     GPU_VERSION_MAJOR(runtime), GPU_VERSION_MINOR(runtime));
    }

    return module_refuse(reason, reason_size, "%s (%s)%s", gpuGetErrorString(error),
                         gpuGetErrorName(error), versions);
}

static jstatus_t module_describe(gpu_device_t *device, char *reason, size_t reason_size) {
    gpuDeviceProp_t found;
    int pools = 0, runtime, driver;
    gpuError_t error = gpuGetDeviceProperties(&found, device->ordinal);
    if (error != gpuSuccess)
        return module_refuse_error(reason, reason_size, "GetDeviceProperties", error);
    error = gpuDeviceGetAttribute(&pools, gpuDevAttrMemoryPoolsSupported, device->ordinal);
    if (error != gpuSuccess) {
        gpu_forget_error(error); /* a driver that does not know of them has none */
        pools = 0;
    }

    module_get_versions(&runtime, &driver);
    jdevice_properties_t *properties = &device->properties;
    snprintf(properties->description, sizeof properties->description, "%.127s", found.name);
    gpu_architecture(&found, properties->architecture, sizeof properties->architecture);
    snprintf(properties->runtime, sizeof properties->runtime,
             GPU_RUNTIME_NAME " %d.%d, driver %d.%d", GPU_VERSION_MAJOR(runtime),
             GPU_VERSION_MINOR(runtime), GPU_VERSION_MAJOR(driver), GPU_VERSION_MINOR(driver));

    properties->total_bytes = found.totalGlobalMem;
    properties->granule_bytes = GPU_GRANULE_BYTES;
    properties->multiprocessors = found.multiProcessorCount;
    properties->wave_size = found.warpSize;
    properties->l2_cache_bytes = found.l2CacheSize;
    properties->has_managed_memory = found.managedMemory != 0;
    properties->has_stream_ordered = GPU_HAS_MEMORY_POOLS && pools != 0;
    properties->has_capture = true;
    properties->has_capture_ownership = GPU_HAS_CAPTURE_OWNERSHIP;

    return JSTATUS_SUCCESS;
}

/* What the table of primitives knows, once a primitive has run: a program that asks for the size of
 * the cache must not load the vendor's BLAS. */
jstatus_t gpu_get_properties(jdevice_t *device, jdevice_properties_t *properties) {
    GPU_ENTER(device);
    *properties = gpu_device(device)->properties;
    snprintf(properties->blas, sizeof properties->blas, "%.63s",
             __atomic_load_n(&device->blas->name, __ATOMIC_ACQUIRE));
    return JSTATUS_SUCCESS;
}

static ji_device_ops_t module_make_ops() {
    ji_device_ops_t ops = {};
    ops.get_properties = gpu_get_properties;
    ops.get_memory_info = gpu_get_memory_info;
    ops.allocate = gpu_allocate;
    ops.deallocate = gpu_deallocate;
    ops.allocate_ordered = gpu_allocate_ordered;
    ops.deallocate_ordered = gpu_deallocate_ordered;
    ops.copy = gpu_copy;
    ops.fill = gpu_fill;
    ops.launch = gpu_launch;
    ops.stream_create = gpu_stream_create;
    ops.stream_destroy = gpu_stream_destroy;
    ops.stream_synchronize = gpu_stream_synchronize;
    ops.stream_wrap = gpu_stream_wrap;
    ops.stream_native = gpu_stream_native;
    ops.stream_get_capture = gpu_stream_get_capture;
    ops.stream_keep_in_capture = gpu_stream_keep_in_capture;
    ops.event_create = gpu_event_create;
    ops.event_destroy = gpu_event_destroy;
    ops.event_record = gpu_event_record;
    ops.event_wait = gpu_event_wait;
    ops.event_query = gpu_event_query;
    ops.event_synchronize = gpu_event_synchronize;
    ops.event_get_elapsed_ms = gpu_event_get_elapsed_ms;
    return ops;
}

/* Makes the device current, which starts it, and sees whether it can run this module's kernels. */
static jstatus_t module_start(gpu_device_t *device, char *reason, size_t reason_size) {
    gpu_relaxed relaxed;
    gpuError_t error =
        device->has_context ? gpuSuccess : gpuOpenContext(&device->context, device->ordinal);
    if (error != gpuSuccess)
        return module_refuse_error(reason, reason_size, ": the device's context", error);
    device->has_context = true;

    gpu_current current(&device->base);
    if (current.status != JSTATUS_SUCCESS)
        return module_refuse(reason, reason_size, "the device cannot be made current");

    error = gpu_probe_kernels();
    if (error != gpuSuccess) {
        gpu_forget_error(error);
        return module_refuse(reason, reason_size, "%s cannot run this module's kernels: %s (%s)",
                             device->properties.architecture, gpuGetErrorString(error),
                             gpuGetErrorName(error));
    }

    /* Asked for again. */
    jstatus_t status = device->blas == nullptr ? gpu_blas_init(device) : JSTATUS_SUCCESS;
    if (status != JSTATUS_SUCCESS)
        snprintf(reason, reason_size, "no memory for bookkeeping");
    return status;
}

extern "C" JALLOC_API jstatus_t jalloc_module_open(uint32_t abi_version,
                                                   const ji_module_services_t *services, int index,
                                                   jdevice_t **out, char *reason,
                                                   size_t reason_size) {
    if (abi_version != JI_MODULE_ABI) {
        (void)module_refuse(
            reason, reason_size,
            "the module is for another version of libjalloc (its interface %u, not %u)",
            JI_MODULE_ABI, abi_version);
        return JSTATUS_NO_DEVICE;
    }

    static const ji_device_ops_t ops = module_make_ops();
    gpu_services = services;

    if (gpu_runtime_called && gpu_runtime_generation != *services->fork_generation) {
        (void)module_refuse(
            reason, reason_size,
            GPU_RUNTIME_NAME
            " was used before a fork, and does not survive one; use it in one process");
        return JSTATUS_FORKED;
    }
    gpu_runtime_called = true;
    gpu_runtime_generation = *services->fork_generation;

    int count = 0;
    gpuError_t error = gpuGetDeviceCount(&count);
    if (error != gpuSuccess)
        return module_refuse_count(reason, reason_size, error);
    if (count <= 0)
        return module_refuse_count(reason, reason_size, gpuErrorNoDevice);
    if (index < 0 || index >= count || index >= GPU_DEVICES)
        return module_refuse(reason, reason_size,
                             "no such number, there %s %d " GPU_RUNTIME_NAME " device%s",
                             count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
    if (out == nullptr)
        return JSTATUS_SUCCESS;

    gpu_device_t *device = &gpu_devices[index];
    device->ordinal = index;
    device->fork_generation = *services->fork_generation;
    device->base.ops = &ops;
    device->base.kind = GPU_KIND;
    device->base.index = index;
    device->base.granule_bytes = GPU_GRANULE_BYTES;
    snprintf(device->base.name, sizeof device->base.name, GPU_KIND_NAME ":%d", index);

    jstatus_t status = module_describe(device, reason, reason_size);
    if (status == JSTATUS_SUCCESS)
        status = module_start(device, reason, reason_size);
    if (status == JSTATUS_SUCCESS)
        *out = &device->base;
    return status;
}
