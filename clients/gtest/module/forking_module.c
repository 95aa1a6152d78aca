/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A device module that does what a driver may do while it is started: it forks, to run a program
 * that loads its kernel module. It has no device. */

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/module.h"

JALLOC_API jstatus_t jalloc_module_open(uint32_t abi_version, const ji_module_services_t *services,
                                        int index, jdevice_t **device, char *reason,
                                        size_t reason_size);

jstatus_t jalloc_module_open(uint32_t abi_version, const ji_module_services_t *services, int index,
                             jdevice_t **device, char *reason, size_t reason_size) {
    (void)abi_version, (void)services, (void)index, (void)device;
    int result = -1;
    const pid_t pid = fork();
    if (pid == 0)
        _exit(7);
    if (pid > 0)
        waitpid(pid, &result, 0);
    snprintf(reason, reason_size, "the child ended with %d",
             pid > 0 && WIFEXITED(result) ? WEXITSTATUS(result) : -1);
    return JSTATUS_NO_DEVICE;
}
