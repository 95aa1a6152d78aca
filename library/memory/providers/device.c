/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A device's raw memory of one kind as an allocator: one runtime allocation for each, no cache. A handle's workspace
 * comes from here when nothing else is asked for.
 *
 * The stream matters to one kind alone: memory in stream order is taken and given back as work of the stream. It is
 * aligned to the granule; a larger alignment is refused, as the runtime has no way to ask for it.
 *
 * After a fork a runtime's memory is the parent's: the child forgets it. */

#include "jalloc/provider.h"
#include "memory/memory.h"

typedef struct device_provider {
    jdevice_t *device;
    jmemory_kind_t kind;
} device_provider_t;

static jstatus_t device_provider_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream,
                                          void **pointer) {
    const device_provider_t *provider = context;
    if (provider->kind != JMEMORY_STREAM_ORDERED)
        return jdevice_allocate(provider->device, provider->kind, size_bytes, alignment, pointer);
    size_t granule_bytes = jdevice_granule_bytes(provider->device);
    if (alignment > granule_bytes)
        return ji_fail(JSTATUS_INVALID_VALUE, "memory in stream order is aligned to %zu bytes, not to %zu",
                       granule_bytes, alignment);
    return jdevice_allocate_ordered(provider->device, stream, size_bytes, pointer);
}

static jstatus_t device_provider_deallocate(void *context, void *pointer, size_t size_bytes, jstream_t *stream) {
    const device_provider_t *provider = context;
    jstatus_t status = provider->kind == JMEMORY_STREAM_ORDERED
                           ? jdevice_deallocate_ordered(provider->device, stream, pointer, size_bytes)
                           : jdevice_deallocate(provider->device, provider->kind, pointer, size_bytes);
    if (status == JSTATUS_FORKED && stream != NULL) /* perhaps the stream alone is the parent's, as on the host */
        status = jdevice_deallocate(provider->device, provider->kind, pointer, size_bytes);
    return status == JSTATUS_FORKED ? JSTATUS_SUCCESS : status;
}

static void device_provider_get_stats(void *context, jallocator_stats_t *stats) {
    (void)context;
    stats->reserved_bytes = stats->in_use_bytes;
    stats->peak_reserved_bytes = stats->peak_in_use_bytes;
}

/* The options of a composition; the public function takes them as arguments. */
typedef struct device_options {
    size_t struct_size;
    const char *name; /* NULL: the device's */
    jmemory_kind_t kind;
} device_options_t;

static jstatus_t device_create(const ji_request_t *request, jallocator_t **out) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops,
        .allocate = device_provider_allocate,
        .deallocate = device_provider_deallocate,
        .get_stats = device_provider_get_stats,
        .destroy = ji_metadata_free,
    };
    const device_options_t *options = request->options;
    JREQUIRE(options->kind >= JMEMORY_DEVICE && options->kind <= JMEMORY_STREAM_ORDERED, JSTATUS_INVALID_VALUE);
    jstatus_t status = JSTATUS_SUCCESS;
    ji_traits_t traits = {.name = options->name != NULL ? options->name : jdevice_name(request->device),
                          .device = request->device,
                          .threads = JALLOCATOR_THREADS_SAFE,
                          .kind = &ji_kind_device};
    device_provider_t *provider;
    JTRY_ALLOC(provider = ji_metadata_alloc(sizeof *provider));
    *provider = (device_provider_t){request->device, options->kind};
    JTRY(ji_allocator_make(&ops, provider, &traits, out));
    provider = NULL;
done:
    ji_metadata_free(provider);
    return status;
}

static const device_options_t device_defaults = {sizeof device_defaults, NULL, JMEMORY_DEVICE};
static const jallocator_key_t device_keys[] = {
    {"kind", "device|pinned|managed|ordered", "device", "which of the device's memories; ordered: in stream order"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_place_t device_places[] = {{JI_KEY_CHOICE, offsetof(device_options_t, kind), JMEMORY_DEVICE}};

const ji_kind_t ji_kind_device = {
    .public = {"device", JALLOCATOR_PROVIDER, "the device's raw memory, one runtime allocation each", device_keys},
    .places = device_places,
    .options_bytes = sizeof(device_options_t),
    .defaults = &device_defaults,
    .create = device_create,
};

bool ji_device_is_ordered(const jallocator_t *allocator) {
    return allocator->kind == &ji_kind_device &&
           ((const device_provider_t *)allocator->context)->kind == JMEMORY_STREAM_ORDERED;
}

jmemory_kind_t ji_device_memory_kind(const jallocator_t *allocator) {
    while (allocator->below != NULL)
        allocator = allocator->below;
    if (allocator->kind != &ji_kind_device || jdevice_kind(allocator->device) == JDEVICE_HOST)
        return JMEMORY_DEVICE;
    return ((const device_provider_t *)allocator->context)->kind;
}

jstatus_t jallocator_create_device(jdevice_t *device, jmemory_kind_t kind, jallocator_t **allocator) {
    JREQUIRE(device != NULL, JSTATUS_INVALID_POINTER);
    const device_options_t options = {sizeof options, NULL, kind};
    return ji_kind_make(&ji_kind_device, device, NULL, &options, allocator);
}
