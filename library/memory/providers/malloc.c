/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The C library's malloc with an alignment, named "jpu", which warns like TensorFlow's CPUAllocator
 * of allocations that a machine will hardly bear: one of more than 10% of the available memory, all
 * together more than 50%.
 *
 * Available is what the system has free and what this allocator has already. Asking the system
 * takes a thousand times as long as allocating, so the last answer is kept as two thresholds; it is
 * asked again when one of them is passed, and the warning is due where the new answer says so too.
 * A warning once given sets its threshold out of reach.
 */

#include <malloc.h>
#include <stdatomic.h>

#include "device/host.h"
#include "memory/providers/provider.h"

#define MALLOC_LARGE_PART 10 /* 10% is one in so many */
#define MALLOC_TOTAL_PART 2  /* 50% */

atomic_size_t ji_malloc_available_bytes;

typedef struct malloc_provider {
    const jallocator_t *self;
    atomic_size_t total_bytes; /* live, as asked for */
    /* What is above is looked at; SIZE_MAX: warned already. */
    atomic_size_t large_threshold, total_threshold;
} malloc_provider_t;

/* Bytes available, and so the thresholds; SIZE_MAX where the system does not say. */
static size_t malloc_get_available(malloc_provider_t *provider) {
    size_t available = atomic_load_explicit(&ji_malloc_available_bytes, memory_order_relaxed),
           free_bytes, whole_bytes;
    if (available != 0)
        return available;

    if (jdevice_get_memory_info(jdevice_host(), &free_bytes, &whole_bytes) != JSTATUS_SUCCESS)
        return SIZE_MAX;
    return free_bytes + atomic_load_explicit(&provider->total_bytes, memory_order_relaxed);
}

static void malloc_set_thresholds(malloc_provider_t *provider) {
    size_t available = malloc_get_available(provider);
    atomic_store_explicit(&provider->large_threshold, available / MALLOC_LARGE_PART,
                          memory_order_relaxed);
    atomic_store_explicit(&provider->total_threshold, available / MALLOC_TOTAL_PART,
                          memory_order_relaxed);
}

/* Whether to warn of bytes above the threshold: they are more than their part of what is available
 * now, and nobody has warned yet. Else the threshold is what it should be now. */
static bool malloc_must_warn(size_t bytes, atomic_size_t *threshold, size_t available,
                             size_t part) {
    size_t known = atomic_load_explicit(threshold, memory_order_relaxed);
    if (bytes <= known)
        return false;

    bool warn = bytes > available / part;
    /* Where another thread was first, it warned or looked just now. */
    return atomic_compare_exchange_strong_explicit(threshold, &known,
                                                   warn ? SIZE_MAX : available / part,
                                                   memory_order_relaxed, memory_order_relaxed) &&
           warn;
}

static __attribute__((cold, noinline)) void
malloc_consider_warning(malloc_provider_t *provider, size_t size_bytes, size_t total_bytes) {
    size_t available = malloc_get_available(provider);
    if (malloc_must_warn(size_bytes, &provider->large_threshold, available, MALLOC_LARGE_PART))
        jlog_write(JLOG_WARNING, NULL,
                   "allocator \"%s\": one allocation of %zu bytes exceeds %d%% of %zu available",
                   jallocator_name(provider->self), size_bytes, 100 / MALLOC_LARGE_PART, available);

    if (malloc_must_warn(total_bytes, &provider->total_threshold, available, MALLOC_TOTAL_PART))
        jlog_write(
            JLOG_WARNING, NULL, "allocator \"%s\": %zu bytes in use exceed %d%% of %zu available",
            jallocator_name(provider->self), total_bytes, 100 / MALLOC_TOTAL_PART, available);
}

static jstatus_t malloc_allocate(void *context, size_t size_bytes, size_t alignment,
                                 jstream_t *stream, void **pointer) {
    malloc_provider_t *provider = context;
    (void)stream;

    if ((*pointer = ji_host_take(size_bytes, alignment)) == NULL)
        return JSTATUS_MEMORY_ERROR;

    size_t total =
        atomic_fetch_add_explicit(&provider->total_bytes, size_bytes, memory_order_relaxed) +
        size_bytes;
    if (JI_UNLIKELY(size_bytes >
                        atomic_load_explicit(&provider->large_threshold, memory_order_relaxed) ||
                    total > atomic_load_explicit(&provider->total_threshold, memory_order_relaxed)))
        malloc_consider_warning(provider, size_bytes, total);

    return JSTATUS_SUCCESS;
}

static jstatus_t malloc_deallocate(void *context, void *pointer, size_t size_bytes,
                                   jstream_t *stream) {
    malloc_provider_t *provider = context;
    (void)stream;
    atomic_fetch_sub_explicit(&provider->total_bytes, size_bytes, memory_order_relaxed);
    ji_host_give(pointer);
    return JSTATUS_SUCCESS;
}

static size_t malloc_get_usable_size(void *context, const void *pointer, size_t size_bytes) {
    (void)context;
    (void)size_bytes;
    void *taken = *ji_host_taken(pointer);
    return malloc_usable_size(taken) - (size_t)((const char *)pointer - (const char *)taken);
}

/* Nothing is held back: what is reserved is what is in use. */
static void malloc_get_stats(void *context, jallocator_stats_t *stats) {
    (void)context;
    stats->reserved_bytes = stats->in_use_bytes;
    stats->peak_reserved_bytes = stats->peak_in_use_bytes;
}

/* From now on it may warn again. */
static void malloc_clear_stats(void *context) { malloc_set_thresholds(context); }

static jstatus_t malloc_create(const ji_request_t *request, jallocator_t **out) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops,
        .allocate = malloc_allocate,
        .deallocate = malloc_deallocate,
        .usable_size = malloc_get_usable_size,
        .get_stats = malloc_get_stats,
        .clear_stats = malloc_clear_stats,
        .destroy = ji_metadata_free,
    };

    jstatus_t status = JSTATUS_SUCCESS;
    ji_traits_t traits = {
        .name = request->name, .threads = JALLOCATOR_THREADS_SAFE, .kind = &ji_kind_malloc};

    malloc_provider_t *provider;
    JTRY_ALLOC(provider = ji_metadata_zalloc(sizeof *provider));
    malloc_set_thresholds(provider);

    JTRY(ji_allocator_make(&ops, provider, &traits, out));
    provider->self = *out;
    provider = NULL;

done:
    ji_metadata_free(provider);
    return status;
}

const ji_kind_t ji_kind_malloc = {
    .public = {"malloc", JALLOCATOR_PROVIDER,
               "aligned malloc of the C library; its object is named \"jpu\"", ji_no_keys},
    .create = malloc_create,
};

jstatus_t jallocator_create_malloc(jallocator_t **allocator) {
    static const ji_common_options_t options = {sizeof options, "jpu"};
    return ji_kind_make(&ji_kind_malloc, NULL, NULL, &options, allocator);
}
