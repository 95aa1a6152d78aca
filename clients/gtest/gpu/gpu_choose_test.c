/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The runtime view of a GPU, and buffers that go to it by themselves. */

#include "gpu_device.h"

#include "buffer/buffer.h"

#include <string.h>

#define MIB ((size_t)1 << 20)

/* What a runtime says of the device; not found where it does not show it. */
static jstatus_t describe(jruntime_t *runtime, jdevice_t *device, jruntime_device_t *described) {
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    *described = (jruntime_device_t)JRUNTIME_DEVICE_INIT;
    JEXPECT_OK(jruntime_get_info(runtime, &info));
    for (int i = 0; i < info.devices; ++i) {
        JEXPECT_OK(jruntime_get_device(runtime, i, described));
        if (described->device == device)
            return JSTATUS_SUCCESS;
    }
    return JSTATUS_NOT_FOUND;
}

static jbuffer_allocator_t *make_best(jruntime_t *runtime, jdevice_t *wished) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.kind = JBUFFER_BEST;
    options.device = wished;
    jbuffer_allocator_t *best = NULL;
    JEXPECT_OK(jbuffer_allocator_create(runtime, &options, &best));
    return best;
}

/* The device of a new buffer of so many bytes. */
static jdevice_t *device_of_buffer(jbuffer_allocator_t *best, size_t bytes) {
    jlayout_t layout;
    jbuffer_t *buffer = NULL;
    JEXPECT_OK(jlayout_init(&layout, 1, (const int64_t[]){(int64_t)(bytes / sizeof(double))},
                            JORDER_COLUMN_MAJOR));
    JEXPECT_OK(jbuffer_allocate(best, &layout, &buffer));
    jdevice_t *device = buffer != NULL ? ji_buffer_device(buffer) : NULL;
    JEXPECT_OK(jbuffer_release(buffer));
    return device;
}

JTEST(GpuView, ShowsTheDeviceAndItsMemory) {
    jruntime_t *runtime;
    jruntime_device_t described;
    size_t available, total;
    JASSERT_OK(jdevice_get_memory_info(gpu_device(), &available, &total));
    JASSERT_OK(jruntime_create(&runtime));
    JASSERT_OK(describe(runtime, gpu_device(), &described));
    JEXPECT_EQ(described.total_bytes, total);
    JEXPECT_LE(described.available_bytes, total);

    /* What is taken is seen by the next refresh. */
    const size_t before = described.available_bytes;
    void *taken = gpu_take(64 * MIB);
    JEXPECT_OK(describe(runtime, gpu_device(), &described));
    JEXPECT_EQ(described.available_bytes, before);
    JEXPECT_OK(jruntime_refresh(runtime));
    JEXPECT_OK(describe(runtime, gpu_device(), &described));
    JEXPECT_LE(described.available_bytes, total - 64 * MIB);
    gpu_give(taken, 64 * MIB);
    JEXPECT_OK(jruntime_release(runtime));
}

/* Each call of the GPU's runtime fails in turn. A view is made all the same, and says that there is
 * no memory to be had rather than a wrong number; a refresh says that it failed. */
JTEST(GpuView, AGpuThatDoesNotAnswerIsShownWithoutMemory) {
    const fake_gpu_control_t *const fake = gpu_fake();
    if (fake == NULL)
        JSKIP("needs the fake runtime");
    int silent = 0;
    for (uint64_t n = 1;; ++n) {
        jruntime_t *runtime = NULL;
        jruntime_device_t described;
        fake->fail_after(n, FAKE_GPU_UNKNOWN_ERROR);
        JASSERT_OK(jruntime_create(&runtime));
        const bool failed = fake->has_failed();
        fake->fail_after(0, FAKE_GPU_UNKNOWN_ERROR);
        JEXPECT_OK(describe(runtime, jdevice_host(), &described));
        JEXPECT_GT(described.available_bytes, 0);
        if (describe(runtime, gpu_device(), &described) == JSTATUS_SUCCESS &&
            described.total_bytes == 0) {
            ++silent;
            JEXPECT_EQ(described.available_bytes, 0);
            JEXPECT_SUBSTR(jtest_log_text(), "does not tell its memory");
            jbuffer_allocator_t *best = make_best(runtime, gpu_device());
            JEXPECT_EQ(device_of_buffer(best, 16 * MIB), jdevice_host());
            JEXPECT_OK(jbuffer_allocator_release(best));
            JEXPECT_OK(jruntime_refresh(runtime));
            JEXPECT_OK(describe(runtime, gpu_device(), &described));
            JEXPECT_GT(described.available_bytes, 0);

            fake->fail_after(n, FAKE_GPU_UNKNOWN_ERROR);
            JEXPECT_STATUS(jruntime_refresh(runtime), JSTATUS_DEVICE_ERROR);
            fake->fail_after(0, FAKE_GPU_UNKNOWN_ERROR);
            JEXPECT_OK(describe(runtime, jdevice_host(), &described));
            JEXPECT_GT(described.available_bytes, 0);
        }
        JEXPECT_OK(jruntime_release(runtime));
        if (!failed)
            break;
    }
    JEXPECT_GT(silent, 0);
}

JTEST(GpuChoose, TheGpuWishedForWhereItHasRoom) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *best = make_best(runtime, gpu_device());
    JEXPECT_EQ(device_of_buffer(best, 8), gpu_device());
    JEXPECT_EQ(device_of_buffer(best, 16 * MIB), gpu_device());
    for (int i = 0; i < runtime->info.devices; ++i) /* as if it were nearly full */
        if (runtime->devices[i].device == gpu_device())
            runtime->devices[i].available_bytes = 3 * 16 * MIB - 1;
    JEXPECT_EQ(device_of_buffer(best, 16 * MIB), jdevice_host());
    JEXPECT_EQ(device_of_buffer(best, 16 * MIB - 8), gpu_device());
    jtest_setenv("JALLOC_BUFFER", "local@host");
    JEXPECT_EQ(device_of_buffer(best, 8), jdevice_host());
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(GpuChoose, AGpuThatIsFoundFromEightMebibytes) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *best = make_best(runtime, NULL);
    JEXPECT_EQ(device_of_buffer(best, 8 * MIB - 8), jdevice_host());
    JEXPECT_NE(jdevice_kind(device_of_buffer(best, 8 * MIB)), JDEVICE_HOST);
    for (int i = 0; i < runtime->info.devices; ++i) /* it has most room */
        if (runtime->devices[i].device == gpu_device())
            runtime->devices[i].available_bytes = runtime->devices[i].total_bytes + 1;
        else if (i > 0)
            runtime->devices[i].available_bytes = runtime->devices[i].total_bytes / 2;
    JEXPECT_EQ(device_of_buffer(best, 8 * MIB), gpu_device());
    jtest_setenv("JALLOC_BUFFER", "@host");
    JEXPECT_EQ(device_of_buffer(best, 8 * MIB), jdevice_host());
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(runtime));
}

/* The environment's device, found by its name. */
JTEST(GpuChoose, TheEnvironmentNamesTheGpu) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *best = make_best(runtime, NULL);
    char text[64] = "@";
    strncat(text, gpu_device_name(), sizeof text - 2);
    jtest_setenv("JALLOC_BUFFER", text);
    JEXPECT_EQ(device_of_buffer(best, 8), gpu_device());
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(runtime));
}
