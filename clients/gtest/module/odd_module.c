/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A device module that has as many devices as anybody asks for, until one is opened: that fails
 * without a word, or succeeds without a device. */

#include "device/module.h"

JALLOC_API jstatus_t jalloc_module_open(uint32_t abi_version, const ji_module_services_t *services,
                                        int index, jdevice_t **device, char *reason,
                                        size_t reason_size);

jstatus_t jalloc_module_open(uint32_t abi_version, const ji_module_services_t *services, int index,
                             jdevice_t **device, char *reason, size_t reason_size) {
    (void)abi_version, (void)services, (void)reason, (void)reason_size;
    return device != NULL && index == 0 ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS;
}
