/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "host_failures.h"

#include "core/core.h"
#include "device/device.h"

static const ji_device_ops_t *real;
static ji_device_ops_t failing;
static uint64_t left; /* until the failure */

static jstatus_t fails(void) {
    return left > 0 && --left == 0 ? ji_fail(JSTATUS_DEVICE_ERROR, "a test made it fail")
                                   : JSTATUS_SUCCESS;
}

static jstatus_t failing_launch(jdevice_t *device, jstream_t *stream, void (*function)(void *),
                                const void *arguments, size_t argument_bytes) {
    const jstatus_t status = fails();
    return status != JSTATUS_SUCCESS
               ? status
               : real->launch(device, stream, function, arguments, argument_bytes);
}

static jstatus_t failing_copy(jdevice_t *device, jstream_t *stream, void *destination,
                              const void *source, size_t size_bytes) {
    const jstatus_t status = fails();
    return status != JSTATUS_SUCCESS ? status
                                     : real->copy(device, stream, destination, source, size_bytes);
}

static jstatus_t failing_fill(jdevice_t *device, jstream_t *stream, void *destination,
                              const void *pattern, size_t pattern_bytes, size_t count) {
    const jstatus_t status = fails();
    return status != JSTATUS_SUCCESS
               ? status
               : real->fill(device, stream, destination, pattern, pattern_bytes, count);
}

static jstatus_t failing_synchronize(jdevice_t *device, jstream_t *stream) {
    const jstatus_t status = fails();
    return status != JSTATUS_SUCCESS ? status : real->stream_synchronize(device, stream);
}

void host_fail_after(uint64_t n) {
    jdevice_t *host = jdevice_host();
    real = host->ops;
    failing = *real;
    failing.launch = failing_launch;
    failing.copy = failing_copy;
    failing.fill = failing_fill;
    failing.stream_synchronize = failing_synchronize;
    left = n;
    host->ops = &failing;
}

bool host_fail_no_more(void) {
    jdevice_host()->ops = real;
    return left == 0;
}
