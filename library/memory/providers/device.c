/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A device's raw memory of one kind as an allocator: one runtime allocation for each, no cache. A handle's workspace
 * comes from here when nothing else is asked for. */

#include "core/core.h"
#include "jalloc/allocator.h"

typedef struct device_provider {
    jdevice_t *device;
    jmemory_kind_t kind;
} device_provider_t;

static jstatus_t device_provider_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream,
                                          void **pointer) {
    const device_provider_t *provider = context;
    (void)stream;
    return jdevice_allocate(provider->device, provider->kind, size_bytes, alignment, pointer);
}

static jstatus_t device_provider_deallocate(void *context, void *pointer, size_t size_bytes, jstream_t *stream) {
    const device_provider_t *provider = context;
    (void)stream;
    return jdevice_deallocate(provider->device, provider->kind, pointer, size_bytes);
}

static void device_provider_get_stats(void *context, jallocator_stats_t *stats) {
    (void)context;
    stats->reserved_bytes = stats->in_use_bytes;
    stats->peak_reserved_bytes = stats->peak_in_use_bytes;
}

jstatus_t jallocator_create_device(jdevice_t *device, jmemory_kind_t kind, jallocator_t **allocator) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops,
        .allocate = device_provider_allocate,
        .deallocate = device_provider_deallocate,
        .get_stats = device_provider_get_stats,
        .destroy = ji_metadata_free,
    };
    JREQUIRE(device != NULL && allocator != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(kind == JMEMORY_DEVICE || kind == JMEMORY_PINNED || kind == JMEMORY_MANAGED, JSTATUS_INVALID_VALUE);
    jstatus_t status = JSTATUS_SUCCESS;
    jallocator_options_t options = {sizeof options, jdevice_name(device), device};
    device_provider_t *provider;
    JTRY_ALLOC(provider = ji_metadata_alloc(sizeof *provider));
    *provider = (device_provider_t){device, kind};
    JTRY(jallocator_create(&ops, provider, &options, allocator));
    provider = NULL;
done:
    ji_metadata_free(provider);
    return status;
}
