/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A device module of a crowded machine: 64 devices, which can be asked for their memory and nothing
 * else. The first does not tell it. */

#include "device/module.h"

enum { DEVICES = 64 };
static jdevice_t devices[DEVICES];

static jstatus_t crowd_get_memory_info(jdevice_t *device, size_t *free_bytes, size_t *total_bytes) {
    *free_bytes = 1;
    *total_bytes = 2;
    return device->index == 0 ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS;
}

static const ji_device_ops_t crowd_ops = {.get_memory_info = crowd_get_memory_info};

JALLOC_API jstatus_t jalloc_module_open(uint32_t abi_version, const ji_module_services_t *services,
                                        int index, jdevice_t **device, char *reason,
                                        size_t reason_size);

jstatus_t jalloc_module_open(uint32_t abi_version, const ji_module_services_t *services, int index,
                             jdevice_t **device, char *reason, size_t reason_size) {
    (void)abi_version, (void)services, (void)reason, (void)reason_size;
    if (index >= DEVICES)
        return JSTATUS_NO_DEVICE;
    if (device == NULL)
        return JSTATUS_SUCCESS;
    devices[index] =
        (jdevice_t){.ops = &crowd_ops, .kind = JDEVICE_HIP, .index = index, .name = "crowd"};
    *device = &devices[index];
    return JSTATUS_SUCCESS;
}
