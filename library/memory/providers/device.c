/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A device's raw memory of one kind as an allocator: one runtime allocation for each, no cache. A
 * handle's workspace comes from here when nothing else is asked for.
 *
 * The stream matters to one kind alone: memory in stream order is taken and given back as work of
 * the stream. A runtime aligns it to the granule and cannot be asked for more: for that, more is
 * taken, and a ledger beside the memory knows where what was taken begins.
 *
 * After a fork a runtime's memory is the parent's: the child forgets it. */

#include "memory/providers/provider.h"

typedef struct device_provider {
    jdevice_t *device;
    jmemory_kind_t kind;
    ji_held_t held;
    ji_lock_t lock;
    /* Of blocks in stream order that begin behind what was taken, `number` bytes behind. Under the
     * lock. */
    ji_ledger_t shifted;
} device_provider_t;

/* ---- In stream order ---- */

static jstatus_t device_allocate_shifted(device_provider_t *provider, size_t size_bytes,
                                         size_t alignment, jstream_t *stream, void **pointer) {
    /* No request has more than PTRDIFF_MAX bytes. */
    size_t bytes = size_bytes + alignment - jdevice_granule_bytes(provider->device);
    void *taken;
    JTRY_RETURN(jdevice_allocate_ordered(provider->device, stream, bytes, &taken));

    size_t shift = -(uintptr_t)taken & (alignment - 1); /* at most 2^30 */
    void *shifted = (char *)taken + shift;

    ji_lock_acquire(&provider->lock);
    bool known = ji_ledger_reserve(&provider->shifted);
    if (known)
        ji_ledger_insert(&provider->shifted, shifted, bytes, 0)->number = (uint32_t)shift;
    ji_lock_release(&provider->lock);

    if (!known) {
        (void)jdevice_deallocate_ordered(provider->device, stream, taken, bytes);
        return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");
    }

    *pointer = shifted;
    return JSTATUS_SUCCESS;
}

/* Forgotten before it is given back, since the address may be another's the moment it is; known
 * again if it stays. */
static jstatus_t device_deallocate_ordered(device_provider_t *provider, void *pointer,
                                           size_t size_bytes, jstream_t *stream) {
    ji_lock_acquire(&provider->lock);
    ji_ledger_entry_t *entry = ji_ledger_find(&provider->shifted, pointer);
    ji_ledger_entry_t known = {0, size_bytes, 0, 0};
    if (entry != NULL) {
        known = *entry;
        ji_ledger_remove(&provider->shifted, entry);
    }
    ji_lock_release(&provider->lock);

    void *taken = (char *)pointer - known.number;
    jstatus_t status =
        jdevice_deallocate_ordered(provider->device, stream, taken, known.size_bytes);
    if (status == JSTATUS_FORKED) /* perhaps the stream alone is the parent's, as on the host */
        status = jdevice_deallocate_ordered(provider->device, NULL, taken, known.size_bytes);
    if (status != JSTATUS_SUCCESS && status != JSTATUS_FORKED && known.address != 0) {
        ji_lock_acquire(&provider->lock);
        entry = ji_ledger_restore(&provider->shifted, pointer, known.size_bytes, 0);
        if (entry != NULL)
            entry->number = known.number;
        ji_lock_release(&provider->lock);
    }

    return status;
}

/* ---- The slots ---- */

static jstatus_t device_take(device_provider_t *provider, size_t size_bytes, size_t alignment,
                             jstream_t *stream, void **pointer) {
    if (provider->kind != JMEMORY_STREAM_ORDERED)
        return jdevice_allocate(provider->device, provider->kind, size_bytes, alignment, pointer);
    if (alignment > jdevice_granule_bytes(provider->device))
        return device_allocate_shifted(provider, size_bytes, alignment, stream, pointer);
    return jdevice_allocate_ordered(provider->device, stream, size_bytes, pointer);
}

static jstatus_t device_provider_allocate(void *context, size_t size_bytes, size_t alignment,
                                          jstream_t *stream, void **pointer) {
    device_provider_t *provider = context;
    JTRY_RETURN(device_take(provider, size_bytes, alignment, stream, pointer));
    ji_held_rise(&provider->held, size_bytes);
    return JSTATUS_SUCCESS;
}

static jstatus_t device_provider_deallocate(void *context, void *pointer, size_t size_bytes,
                                            jstream_t *stream) {
    device_provider_t *provider = context;
    jstatus_t status =
        provider->kind == JMEMORY_STREAM_ORDERED
            ? device_deallocate_ordered(provider, pointer, size_bytes, stream)
            : jdevice_deallocate(provider->device, provider->kind, pointer, size_bytes);

    if (status == JSTATUS_SUCCESS || status == JSTATUS_FORKED)
        ji_held_fall(&provider->held, size_bytes);
    return status == JSTATUS_FORKED ? JSTATUS_SUCCESS : status;
}

static void device_provider_get_stats(void *context, jallocator_stats_t *stats) {
    device_provider_t *provider = context;
    ji_held_report(&provider->held, stats);
}
static void device_provider_clear_stats(void *context) {
    device_provider_t *provider = context;
    ji_held_clear(&provider->held);
}

/* The host's memory is the C library's. A GPU's runtime has no such thing, and of pinned memory, or
 * such as is given back in the order of a stream, nothing may go behind its back. */
static size_t device_provider_page_bytes(void *context) {
    const device_provider_t *provider = context;
    return jdevice_kind(provider->device) == JDEVICE_HOST && provider->kind == JMEMORY_DEVICE
               ? ji_page_bytes()
               : 0;
}
static jstatus_t device_provider_set_pages(void *context, void *pointer, size_t size_bytes,
                                           jallocator_pages_t to) {
    device_provider_t *provider = context;
    return ji_held_set_pages(&provider->held, pointer, size_bytes, to);
}

static void device_free(device_provider_t *provider) {
    if (provider == NULL)
        return;
    ji_lock_fini(&provider->lock);
    ji_ledger_fini(&provider->shifted);
    ji_metadata_free(provider);
}

static void device_provider_destroy(void *context) { device_free(context); }

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
        .clear_stats = device_provider_clear_stats,
        .page_bytes = device_provider_page_bytes,
        .set_pages = device_provider_set_pages,
        .destroy = device_provider_destroy,
    };

    const device_options_t *options = request->options;
    JREQUIRE_VALUE(options->kind >= JMEMORY_DEVICE && options->kind <= JMEMORY_STREAM_ORDERED,
                   JSTATUS_INVALID_VALUE, "jallocator_create_device", "kind", options->kind,
                   "must be of jmemory_kind_t");

    jstatus_t status = JSTATUS_SUCCESS;
    const char *name = options->name != NULL ? options->name : jdevice_name(request->device);
    ji_traits_t traits = {.name = name,
                          .device = request->device,
                          .threads = JALLOCATOR_THREADS_SAFE,
                          .kind = &ji_kind_device};

    device_provider_t *provider;
    JTRY_ALLOC(provider = ji_metadata_zalloc(sizeof *provider));
    provider->device = request->device;
    provider->kind = options->kind;
    ji_lock_init(&provider->lock);

    JTRY(ji_allocator_make(&ops, provider, &traits, out));
    provider = NULL;

done:
    device_free(provider);
    return status;
}

static const device_options_t device_defaults = {sizeof device_defaults, NULL, JMEMORY_DEVICE};
static const jallocator_key_t device_keys[] = {
    {"kind", "device|pinned|managed|ordered", "device",
     "which of the device's memories; ordered: in stream order"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t device_members[] = {
    {JI_KEY_CHOICE, offsetof(device_options_t, kind), JMEMORY_DEVICE}};

const ji_kind_t ji_kind_device = {
    .public = {"device", JALLOCATOR_PROVIDER,
               "the device's raw memory, one runtime allocation each", device_keys},
    .members = device_members,
    .options_type = "device_options_t",
    .options_bytes = sizeof(device_options_t),
    .defaults = &device_defaults,
    .create = device_create,
};

bool ji_device_is_ordered(const jallocator_t *allocator) {
    return allocator->kind == &ji_kind_device &&
           ((const device_provider_t *)allocator->context)->kind == JMEMORY_STREAM_ORDERED;
}

jmemory_kind_t jallocator_memory_kind(const jallocator_t *allocator) {
    while (allocator != NULL && allocator->below != NULL)
        allocator = allocator->below;

    if (allocator == NULL || allocator->kind != &ji_kind_device ||
        jdevice_kind(allocator->device) == JDEVICE_HOST)
        return JMEMORY_DEVICE;
    return ((const device_provider_t *)allocator->context)->kind;
}

jstatus_t jallocator_create_device(jdevice_t *device, jmemory_kind_t kind,
                                   jallocator_t **allocator) {
    JREQUIRE(device != NULL, JSTATUS_INVALID_POINTER);
    const device_options_t options = {sizeof options, NULL, kind};
    return ji_kind_make(&ji_kind_device, device, NULL, &options, allocator);
}
