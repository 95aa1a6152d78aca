/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The host as a device: ordinary memory, memcpy, and the table of operations.
 *
 * The three kinds of memory are one. Work in the NULL stream is done by the caller at once; in a
 * created stream it is a function in the queue (host_stream.c), whose arguments, a fill's pattern
 * among them, are copied into the entry. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/node.h"
#include "device/host.h"

#define HOST_GRANULE_BYTES 64      /* a cache line, and the widest vector register */
#define HOST_FILL_BLOCK_BYTES 4096 /* copied on, once filled; this much stays in the first cache */

/* What may be allocated without swapping, as the kernel estimates it; -1 where it does not say. */
static int64_t host_read_available_bytes(void) {
    static const char key[] = "MemAvailable:";
    char text[1024];
    int file = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;

    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';

    const char *line = strstr(text, key);
    return line != NULL ? (int64_t)strtoull(line + sizeof key - 1, NULL, 10) * 1024 : -1;
}

static jstatus_t host_get_memory_info(jdevice_t *device, size_t *free_bytes, size_t *total_bytes) {
    long page_bytes = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES),
         free_pages = sysconf(_SC_AVPHYS_PAGES);
    if (page_bytes <= 0 || pages <= 0 || free_pages < 0)
        return ji_fail(JSTATUS_DEVICE_ERROR, "%s: the system does not say how much memory it has",
                       device->name);

    int64_t available = host_read_available_bytes();
    *total_bytes = (size_t)pages * (size_t)page_bytes;
    *free_bytes = available >= 0 ? (size_t)available : (size_t)free_pages * (size_t)page_bytes;

    if (*free_bytes > *total_bytes)
        *free_bytes = *total_bytes;
    return JSTATUS_SUCCESS;
}

static jstatus_t host_get_properties(jdevice_t *device, jdevice_properties_t *properties) {
    struct utsname system;
    if (uname(&system) != 0)
        return ji_fail(JSTATUS_DEVICE_ERROR, "%s: the system does not say what it is",
                       device->name);

    size_t free_bytes;
    jstatus_t status = host_get_memory_info(device, &free_bytes, &properties->total_bytes);
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);

    snprintf(properties->description, sizeof properties->description, "%s", device->name);
    snprintf(properties->architecture, sizeof properties->architecture, "%.31s", system.machine);
    snprintf(properties->runtime, sizeof properties->runtime, "%.20s %.40s", system.sysname,
             system.release);

    properties->multiprocessors = processors > 0 ? (int)processors : 1;
    properties->wave_size = 1;
    properties->l2_cache_bytes = (int)ji_node_second_cache_bytes();
    properties->has_managed_memory = true;
    properties->has_stream_ordered = true;
    return status;
}

static jstatus_t host_allocate(jdevice_t *device, jmemory_kind_t kind, size_t size_bytes,
                               size_t alignment, void **pointer) {
    (void)kind;
    void *memory = ji_host_take(size_bytes, alignment);
    if (memory == NULL)
        return ji_fail(JSTATUS_MEMORY_ERROR, "%s: no memory for %zu bytes aligned to %zu",
                       device->name, size_bytes, alignment);

    *pointer = memory;
    return JSTATUS_SUCCESS;
}

/* From here on a block's memory goes back to the system at once. Left to the C library it would
 * stay: with the first such block that is freed, glibc begins to keep what is smaller. */
#define HOST_RETURNED_BYTES ((size_t)256 << 10)

static void host_return_pages(void *pointer, size_t size_bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)pointer,
              first = (begin + page - 1) & -page, end = (begin + size_bytes) & -page;
    (void)madvise((void *)first, end - first, MADV_DONTNEED); /* refused: it stays, no more */
}

static jstatus_t host_deallocate(jdevice_t *device, jmemory_kind_t kind, void *pointer,
                                 size_t size_bytes) {
    (void)device;
    (void)kind;
    if (size_bytes >= HOST_RETURNED_BYTES)
        host_return_pages(pointer, size_bytes);
    ji_host_give(pointer);
    return JSTATUS_SUCCESS;
}

static jstatus_t host_allocate_ordered(jdevice_t *device, jstream_t *stream, size_t size_bytes,
                                       void **pointer) {
    (void)stream;
    return host_allocate(device, JMEMORY_DEVICE, size_bytes, device->granule_bytes, pointer);
}

static void host_run_free(void *arguments) { ji_host_give(*(void **)arguments); }

static jstatus_t host_deallocate_ordered(jdevice_t *device, jstream_t *stream, void *pointer,
                                         size_t size_bytes) {
    (void)size_bytes;
    return ji_host_launch(device, stream, host_run_free, &pointer, sizeof pointer);
}

typedef struct host_copy {
    void *destination;
    const void *source;
    size_t size_bytes;
} host_copy_t;

static void host_run_copy(void *arguments) {
    const host_copy_t *copy = arguments;
    memcpy(copy->destination, copy->source, copy->size_bytes);
}

static jstatus_t host_copy(jdevice_t *device, jstream_t *stream, void *destination,
                           const void *source, size_t size_bytes) {
    host_copy_t copy = {destination, source, size_bytes};
    return ji_host_launch(device, stream, host_run_copy, &copy, sizeof copy);
}

typedef struct host_fill {
    unsigned char *destination;
    size_t size_bytes;
    size_t pattern_bytes;
    unsigned char pattern[16];
} host_fill_t;

static void host_run_fill(void *arguments) {
    const host_fill_t *fill = arguments;
    unsigned char *destination = fill->destination;
    size_t size_bytes = fill->size_bytes;
    /* All bytes alike, such as zeros. */
    if (memcmp(fill->pattern, fill->pattern + 1, fill->pattern_bytes - 1) == 0) {
        memset(destination, fill->pattern[0], size_bytes);
        return;
    }

    size_t filled = fill->pattern_bytes;
    memcpy(destination, fill->pattern, filled);
    while (filled < size_bytes) {
        size_t block = filled < HOST_FILL_BLOCK_BYTES ? filled : HOST_FILL_BLOCK_BYTES;
        if (block > size_bytes - filled)
            block = size_bytes - filled;
        memcpy(destination + filled, destination, block);
        filled += block;
    }
}

static jstatus_t host_fill(jdevice_t *device, jstream_t *stream, void *destination,
                           const void *pattern, size_t pattern_bytes, size_t count) {
    host_fill_t fill = {.destination = destination,
                        .size_bytes = pattern_bytes * count,
                        .pattern_bytes = pattern_bytes};
    memcpy(fill.pattern, pattern, pattern_bytes);
    return ji_host_launch(device, stream, host_run_fill, &fill, sizeof fill);
}

static const ji_device_ops_t host_ops = {
    .get_properties = host_get_properties,
    .get_memory_info = host_get_memory_info,
    .allocate = host_allocate,
    .deallocate = host_deallocate,
    .allocate_ordered = host_allocate_ordered,
    .deallocate_ordered = host_deallocate_ordered,
    .copy = host_copy,
    .fill = host_fill,
    .launch = ji_host_launch,
    .stream_create = ji_host_stream_create,
    .stream_destroy = ji_host_stream_destroy,
    .stream_synchronize = ji_host_stream_synchronize,
    .stream_wrap = ji_host_stream_wrap,
    .stream_native = ji_host_stream_native,
    .stream_get_capture = ji_host_stream_get_capture,
    .stream_keep_in_capture = ji_host_stream_keep_in_capture,
    .event_create = ji_host_event_create,
    .event_destroy = ji_host_event_destroy,
    .event_record = ji_host_event_record,
    .event_wait = ji_host_event_wait,
    .event_query = ji_host_event_query,
    .event_synchronize = ji_host_event_synchronize,
    .event_get_elapsed_ms = ji_host_event_get_elapsed_ms,
};

jdevice_t ji_host_device = {
    .ops = &host_ops,
    .kind = JDEVICE_HOST,
    .index = 0,
    .granule_bytes = HOST_GRANULE_BYTES,
    .name = "host",
    .state = NULL,
};
