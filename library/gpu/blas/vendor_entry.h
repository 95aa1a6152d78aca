/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_VENDOR_ENTRY_H
#define JALLOC_GPU_BLAS_VENDOR_ENTRY_H

/* What is kept of a vendor's library for a stream: an entry of a list, found by (device, stream).
 * It is made at the stream's first call, handed on when the stream is destroyed, and lives as long
 * as the process, as the devices do. ENTRY has the members
 *
 *     ENTRY *next;
 *     gpu_device_t *device;
 *     gpuStream_t stream;
 *     bool taken;             by this stream; else by none
 *
 * and whoever calls these holds the lock of the list. */

#include <new>

#include "gpu/blas/blas.h"

/* The stream's entry; one that another has left, or a new one, if it has none. NULL: no memory. */
template <typename ENTRY>
static ENTRY *vendor_find_entry(ENTRY **list, gpu_device_t *device, gpuStream_t stream) {
    ENTRY *left = nullptr;
    for (ENTRY *entry = *list; entry != nullptr; entry = entry->next) {
        if (entry->device != device)
            continue;
        if (entry->taken && entry->stream == stream)
            return entry;
        if (!entry->taken)
            left = entry;
    }

    if (left == nullptr) {
        left = new (std::nothrow) ENTRY();
        if (left == nullptr)
            return nullptr;
        left->device = device;
        left->next = *list;
        *list = left;
    }

    left->stream = stream;
    left->taken = true;
    return left;
}

/* The stream is about to be gone: forget(entry); idle: its entry may be another's. */
template <typename ENTRY, typename FORGET>
static void vendor_leave_entry(ENTRY *list, gpu_device_t *device, gpuStream_t stream, bool idle,
                               FORGET forget) {
    for (ENTRY *entry = list; entry != nullptr; entry = entry->next)
        if (entry->device == device && entry->taken && entry->stream == stream) {
            forget(entry);
            entry->taken = !idle;
        }
}

#endif
