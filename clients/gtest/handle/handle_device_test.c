/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A handle on a device whose runtime fails: the host device with some of its operations exchanged.
 * Whatever fails, the handle stays as it was, nothing is lost, and it works when the device does
 * again. */

#include "handle_helper.h"

#include "device/device.h"

#include <stdio.h>

static ji_device_ops_t ops;
static jdevice_t device;
static jstatus_t synchronize_status, record_status, wait_status, allocate_status;
static size_t granule_seen;

static jstatus_t flaky_synchronize(jdevice_t *self, jstream_t *stream) {
    return synchronize_status ? synchronize_status
                              : ji_host_device.ops->stream_synchronize(self, stream);
}
static jstatus_t flaky_record(jevent_t *event, jstream_t *stream) {
    return record_status ? record_status : ji_host_device.ops->event_record(event, stream);
}
static jstatus_t flaky_wait(jevent_t *event, jstream_t *stream) {
    return wait_status ? wait_status : ji_host_device.ops->event_wait(event, stream);
}
static jstatus_t flaky_allocate(jdevice_t *self, jmemory_kind_t kind, size_t size_bytes,
                                size_t alignment, void **pointer) {
    granule_seen = alignment;
    return allocate_status
               ? allocate_status
               : ji_host_device.ops->allocate(self, kind, size_bytes, alignment, pointer);
}

/* A device with a granule of its own, such as a GPU has. */
static jhandle_t *make_on_flaky_device(size_t granule_bytes, jstream_t **stream) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    ops = *ji_host_device.ops;
    ops.stream_synchronize = flaky_synchronize;
    ops.event_record = flaky_record;
    ops.event_wait = flaky_wait;
    ops.allocate = flaky_allocate;
    device = ji_host_device;
    device.ops = &ops;
    device.granule_bytes = granule_bytes;
    snprintf(device.name, sizeof device.name, "flaky");
    synchronize_status = record_status = wait_status = allocate_status = JSTATUS_SUCCESS;
    JEXPECT_OK(jstream_create(&device, stream));
    options.device = &device;
    options.stream = *stream;
    JEXPECT_OK(jhandle_create(&options, &handle));
    return handle;
}

static jallocator_stats_t workspace_stats(jhandle_t *handle) {
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(jhandle_allocator(handle), &stats));
    return stats;
}

JTEST(HandleDevice, FailedSynchronizationKeepsModeAndWorkspaceAndLosesNothing) {
    static char own[1024] __attribute__((aligned(64)));
    jstream_t *stream;
    jhandle_t *handle = make_on_flaky_device(64, &stream);
    JASSERT_NOT_NULL(handle);
    JEXPECT_OK(touch(handle, 1000));
    synchronize_status = JSTATUS_DEVICE_ERROR;
    JEXPECT_STATUS(touch(handle, 2000), JSTATUS_DEVICE_ERROR); /* growth gives the old block back */
    JEXPECT_STATUS(jhandle_trim(handle, 0), JSTATUS_DEVICE_ERROR);
    JEXPECT_STATUS(jhandle_set_workspace_size(handle, 4096), JSTATUS_DEVICE_ERROR);
    JEXPECT_STATUS(jhandle_set_workspace_size(handle, 0), JSTATUS_DEVICE_ERROR);
    JEXPECT_STATUS(jhandle_set_workspace(handle, own, sizeof own), JSTATUS_DEVICE_ERROR);
    JEXPECT_STATUS(jhandle_destroy(handle), JSTATUS_DEVICE_ERROR);
    JEXPECT_EQ(mode_of(handle), JHANDLE_MODE_DEFAULT);
    JEXPECT_EQ(capacity_of(handle), 1024);
    /* The blocks taken meanwhile were given back. */
    JEXPECT_EQ(workspace_stats(handle).in_use_bytes, 1024);
    JEXPECT_EQ(workspace_stats(handle).live_count, 1);
    JEXPECT_OK(touch(handle, 1024)); /* what needs no wait works */
    synchronize_status = JSTATUS_SUCCESS;
    JEXPECT_OK(touch(handle, 2000));
    JEXPECT_EQ(capacity_of(handle), 2048);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(HandleDevice, FailedSynchronizationInANestKeepsTheOuterBorrow) {
    jstream_t *stream;
    jhandle_t *handle = make_on_flaky_device(64, &stream);
    jborrow_t outer, inner;
    JASSERT_NOT_NULL(handle);
    JEXPECT_OK(borrow_one(&outer, handle, 1000));
    JEXPECT_OK(touch(handle, 2000)); /* a further block, which is too small for the next */
    synchronize_status = JSTATUS_DEVICE_ERROR;
    JEXPECT_STATUS(borrow_one(&inner, handle, 4000), JSTATUS_DEVICE_ERROR);
    JEXPECT_EQ(workspace_stats(handle).in_use_bytes, 1024 + 2048);
    JEXPECT_OK(borrow_one(&inner, handle, 2000));
    JEXPECT_OK(jborrow_end(&inner));
    synchronize_status = JSTATUS_SUCCESS;
    JEXPECT_OK(borrow_one(&inner, handle, 4000));
    JEXPECT_EQ(workspace_stats(handle).in_use_bytes, 1024 + 4032);
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(HandleDevice, FailedOrderingKeepsTheOldStream) {
    jstream_t *stream, *other, *now;
    jhandle_t *handle = make_on_flaky_device(64, &stream);
    JASSERT_NOT_NULL(handle);
    JASSERT_OK(jstream_create(&device, &other));
    JEXPECT_OK(touch(handle, 1000));
    for (int which = 0; which < 2; ++which) {
        (which ? &wait_status : &record_status)[0] = JSTATUS_DEVICE_ERROR;
        JEXPECT_STATUS(jhandle_set_stream(handle, other), JSTATUS_DEVICE_ERROR);
        record_status = wait_status = JSTATUS_SUCCESS;
        JEXPECT_OK(jhandle_get_stream(handle, &now));
        JEXPECT_EQ(now, stream);
    }
    JEXPECT_OK(jhandle_set_stream(handle, other));
    JEXPECT_OK(jhandle_get_stream(handle, &now));
    JEXPECT_EQ(now, other);
    JEXPECT_OK(touch(handle, 1000));
    record_status = JSTATUS_DEVICE_ERROR;
    JEXPECT_OK(jhandle_set_stream(handle, other)); /* the one that it has: nothing to order */
    record_status = JSTATUS_SUCCESS;
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jstream_destroy(other));
}

/* An error of the runtime is not a lack of memory: no lower rung is taken for it, and the status
 * says what it was. */
JTEST(HandleDevice, DeviceErrorOfTheAllocatorIsPassedOn) {
    jstream_t *stream;
    jhandle_t *handle = make_on_flaky_device(64, &stream);
    jplan_t plan;
    jborrow_t borrow;
    JASSERT_NOT_NULL(handle);
    allocate_status = JSTATUS_DEVICE_ERROR;
    JEXPECT_STATUS(touch(handle, 100), JSTATUS_DEVICE_ERROR);
    jplan_init(&plan, handle, "planned", "", NULL);
    jplan_add(&plan, "best", 0, 0, 1, (const size_t[]){1000});
    jplan_add(&plan, "nothing", 0, 0, 0, NULL);
    JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, &plan), JSTATUS_DEVICE_ERROR);
    JEXPECT_FALSE(borrow.ok);
    allocate_status = JSTATUS_SUCCESS;
    JEXPECT_OK(jborrow_begin_plan(&borrow, handle, &plan));
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(HandleDevice, SizesAreRoundedToTheDevicesGranule) {
    static char own[2048] __attribute__((aligned(256)));
    jstream_t *stream;
    jhandle_t *handle = make_on_flaky_device(256, &stream);
    size_t bytes = 0;
    JASSERT_NOT_NULL(handle);
    {
        JALLOC_BORROW(ws, handle, 1, 256, 257);
        JASSERT_TRUE(ws.ok);
        JEXPECT_EQ(granule_seen, 256);
        JEXPECT_EQ((uintptr_t)ws.ptr[0] % 256, 0);
        JEXPECT_EQ((char *)ws.ptr[1] - (char *)ws.ptr[0], 256);
        JEXPECT_EQ((char *)ws.ptr[2] - (char *)ws.ptr[1], 256);
        JEXPECT_EQ(stats_of(handle).in_use_bytes, 1024);
    }
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_STATUS(JALLOC_SET_OPTIMAL_SIZE(handle, 1, 256, 257), JSTATUS_SIZE_INCREASED);
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_EQ(bytes, 1024);
    JEXPECT_OK(jhandle_set_workspace_size(handle, 257));
    JEXPECT_EQ(capacity_of(handle), 512);
    JEXPECT_STATUS(jhandle_set_workspace(handle, own + 64, 1024), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jhandle_set_workspace(handle, own + 256, 1023));
    JEXPECT_EQ(capacity_of(handle), 768);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}
