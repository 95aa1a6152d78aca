/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The one allocator object.
 *
 * Everything that hands out memory is a table of functions and a context behind this object, jalloc's own providers as
 * well as a caller's callbacks: there is no second way to make one. The table is checked and copied when the object is
 * made, and its empty slots are filled, so that a call never asks whether a slot is there. What every allocator would
 * have to do again is done here: arguments are checked before a function sees them, what a function gives is checked
 * before a caller sees it, and requests are counted. Counting is by atomics, so that an allocator that is safe from any
 * thread stays so without a lock.
 *
 * A deallocation is counted before it is done: as soon as it is done another thread may have the same memory again, and
 * the bytes in use must never be counted twice. */

#include <stdatomic.h>
#include <string.h>

#include "core/core.h"
#include "jalloc/allocator.h"

#define ALLOCATOR_MAX_ALIGNMENT ((size_t)1 << 30)

struct jallocator {
    jallocator_ops_t ops; /* no slot is NULL */
    void *context;        /* passed to each */
    jdevice_t *device;
    char name[JALLOCATOR_MAX_NAME + 1];
    atomic_size_t retain_count;
    /* As in jallocator_stats_t. */
    atomic_size_t allocation_count;
    atomic_size_t live_count;
    atomic_size_t in_use_bytes;
    atomic_size_t peak_in_use_bytes;
    atomic_size_t largest_request_bytes;
    atomic_size_t failure_count;
};

static size_t counter_get(atomic_size_t *counter) { return atomic_load_explicit(counter, memory_order_relaxed); }

static size_t counter_add(atomic_size_t *counter, size_t amount) {
    return atomic_fetch_add_explicit(counter, amount, memory_order_relaxed) + amount;
}

static void counter_raise(atomic_size_t *counter, size_t value) {
    size_t present = counter_get(counter);
    while (present < value &&
           !atomic_compare_exchange_weak_explicit(counter, &present, value, memory_order_relaxed, memory_order_relaxed))
        ;
}

/* Takes an amount away if there is as much; a counter never falls below zero. */
static bool counter_take(atomic_size_t *counter, size_t amount) {
    size_t present = counter_get(counter);
    do {
        if (present < amount)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(counter, &present, present - amount, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

static size_t allocator_default_usable_size(void *context, const void *pointer, size_t size_bytes) {
    (void)context;
    (void)pointer;
    return size_bytes;
}

static jstatus_t allocator_default_owns(void *context, const void *pointer, bool *owned) {
    (void)context;
    (void)pointer;
    (void)owned;
    return JSTATUS_NOT_IMPLEMENTED;
}

static void allocator_default_get_stats(void *context, jallocator_stats_t *stats) {
    (void)context;
    (void)stats;
}

static void allocator_default_notify(void *context) { (void)context; }

static jstatus_t allocator_default_trim(void *context, size_t keep_bytes) {
    (void)context;
    (void)keep_bytes;
    return JSTATUS_SUCCESS;
}

static void allocator_fill_defaults(jallocator_ops_t *ops) {
    if (ops->usable_size == NULL)
        ops->usable_size = allocator_default_usable_size;
    if (ops->owns == NULL)
        ops->owns = allocator_default_owns;
    if (ops->get_stats == NULL)
        ops->get_stats = allocator_default_get_stats;
    if (ops->clear_stats == NULL)
        ops->clear_stats = allocator_default_notify;
    if (ops->trim == NULL)
        ops->trim = allocator_default_trim;
    if (ops->destroy == NULL)
        ops->destroy = allocator_default_notify;
}

jstatus_t jallocator_create(const jallocator_ops_t *ops, void *context, const jallocator_options_t *options,
                            jallocator_t **out) {
    static const jallocator_options_t default_options = JALLOCATOR_OPTIONS_INIT;
    JREQUIRE(ops != NULL && out != NULL, JSTATUS_INVALID_POINTER);
    /* A caller with an older table has fewer slots, one with a newer table has slots that are not called yet. */
    if (ops->struct_size < offsetof(jallocator_ops_t, usable_size))
        return ji_fail(JSTATUS_INVALID_VALUE, "jallocator_create: ops->struct_size is %zu, must be %zu",
                       ops->struct_size, sizeof *ops);
    JREQUIRE(ops->allocate != NULL && ops->deallocate != NULL, JSTATUS_INVALID_POINTER);
    if (options == NULL)
        options = &default_options;
    if (options->struct_size < sizeof *options)
        return ji_fail(JSTATUS_INVALID_VALUE, "jallocator_create: options->struct_size is %zu, must be %zu",
                       options->struct_size, sizeof *options);
    const char *name = options->name != NULL ? options->name : "callbacks";
    size_t name_length = strnlen(name, JALLOCATOR_MAX_NAME + 1);
    if (name_length > JALLOCATOR_MAX_NAME)
        return ji_fail(JSTATUS_INVALID_VALUE, "jallocator_create: the name \"%.40s...\" has more than %d characters",
                       name, JALLOCATOR_MAX_NAME);

    jallocator_t *allocator = ji_metadata_zalloc(sizeof *allocator);
    if (allocator == NULL)
        return ji_fail(JSTATUS_MEMORY_ERROR, "jallocator_create: no memory for bookkeeping");
    memcpy(&allocator->ops, ops, ops->struct_size < sizeof *ops ? ops->struct_size : sizeof *ops);
    allocator->ops.struct_size = sizeof *ops;
    allocator_fill_defaults(&allocator->ops);
    allocator->context = context;
    allocator->device = options->device != NULL ? options->device : jdevice_host();
    memcpy(allocator->name, name, name_length);
    *out = allocator;
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_destroy(jallocator_t *allocator) {
    if (allocator == NULL)
        return JSTATUS_SUCCESS;
    size_t live = counter_get(&allocator->live_count), users = counter_get(&allocator->retain_count);
    if (live != 0 || users != 0)
        return ji_fail(JSTATUS_BUSY,
                       "allocator \"%s\" cannot be destroyed: %zu bytes in %zu allocations are live, %zu %s "
                       "it",
                       allocator->name, counter_get(&allocator->in_use_bytes), live, users,
                       users == 1 ? "user keeps" : "users keep");
    allocator->ops.destroy(allocator->context);
    ji_metadata_free(allocator);
    return JSTATUS_SUCCESS;
}

/* What came back from the allocator's own function: a status, and with success a pointer that must be as promised. */
static jstatus_t allocator_judge(jallocator_t *allocator, jstatus_t status, void *pointer, size_t size_bytes,
                                 size_t alignment, jstream_t *stream, bool explained) {
    if (status == JSTATUS_SUCCESS) {
        if (JI_LIKELY(pointer != NULL && ((uintptr_t)pointer & (alignment - 1)) == 0))
            return status;
        status =
            ji_fail(JSTATUS_INTERNAL_ERROR, "allocator \"%s\" answered %zu bytes aligned to %zu with the pointer %p",
                    allocator->name, size_bytes, alignment, pointer);
        if (pointer != NULL)
            (void)allocator->ops.deallocate(allocator->context, pointer, size_bytes, stream);
    } else {
        ji_fail(status, "allocator \"%s\": no %zu bytes aligned to %zu: %s", allocator->name, size_bytes, alignment,
                explained ? jstatus_last_message() : jstatus_text(status));
        if (!jstatus_is_error(status)) /* nothing was allocated, so it must not look as if all went well */
            status = JSTATUS_INTERNAL_ERROR;
    }
    counter_add(&allocator->failure_count, 1);
    return status;
}

jstatus_t jallocator_allocate(jallocator_t *allocator, size_t size_bytes, size_t alignment, jstream_t *stream,
                              void **pointer) {
    JREQUIRE(pointer != NULL, JSTATUS_INVALID_POINTER);
    *pointer = NULL;
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    if (alignment == 0)
        alignment = jdevice_granule_bytes(allocator->device);
    if (JI_UNLIKELY(!ji_is_power_of_two(alignment) || alignment > ALLOCATOR_MAX_ALIGNMENT))
        return ji_fail(JSTATUS_INVALID_VALUE, "allocator \"%s\": alignment %zu is not a power of two up to 2^30",
                       allocator->name, alignment);
    if (size_bytes == 0)
        return JSTATUS_SUCCESS;
    if (JI_UNLIKELY(size_bytes > PTRDIFF_MAX - alignment)) /* no object can be larger */
        return ji_fail(JSTATUS_INVALID_SIZE, "allocator \"%s\": %zu bytes are more than this machine can address",
                       allocator->name, size_bytes);

    void *memory = NULL;
    unsigned messages = ji_message_count();
    jstatus_t status = allocator->ops.allocate(allocator->context, size_bytes, alignment, stream, &memory);
    status = allocator_judge(allocator, status, memory, size_bytes, alignment, stream, ji_message_count() != messages);
    if (JI_UNLIKELY(status != JSTATUS_SUCCESS))
        return status;
    counter_add(&allocator->allocation_count, 1);
    counter_raise(&allocator->largest_request_bytes, size_bytes);
    counter_raise(&allocator->peak_in_use_bytes, counter_add(&allocator->in_use_bytes, size_bytes));
    counter_add(&allocator->live_count, 1);
    *pointer = memory;
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_deallocate(jallocator_t *allocator, void *pointer, size_t size_bytes, jstream_t *stream) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    if (pointer == NULL)
        return JSTATUS_SUCCESS;
    JREQUIRE(size_bytes != 0, JSTATUS_INVALID_SIZE);
    if (JI_UNLIKELY(!counter_take(&allocator->live_count, 1)))
        return ji_fail(JSTATUS_NOT_FOUND, "allocator \"%s\": %p given back, but nothing is live", allocator->name,
                       pointer);
    if (JI_UNLIKELY(!counter_take(&allocator->in_use_bytes, size_bytes))) {
        counter_add(&allocator->live_count, 1);
        return ji_fail(JSTATUS_INVALID_SIZE, "allocator \"%s\": %p given back with %zu bytes, more than are live",
                       allocator->name, pointer, size_bytes);
    }
    jstatus_t status = allocator->ops.deallocate(allocator->context, pointer, size_bytes, stream);
    if (JI_UNLIKELY(status != JSTATUS_SUCCESS)) {
        counter_add(&allocator->in_use_bytes, size_bytes);
        counter_add(&allocator->live_count, 1);
    }
    return status;
}

size_t jallocator_usable_size(jallocator_t *allocator, const void *pointer, size_t size_bytes) {
    if (allocator == NULL || pointer == NULL)
        return 0;
    size_t usable = allocator->ops.usable_size(allocator->context, pointer, size_bytes);
    return usable > size_bytes ? usable : size_bytes;
}

jstatus_t jallocator_owns(jallocator_t *allocator, const void *pointer, bool *owned) {
    JREQUIRE(allocator != NULL && owned != NULL, JSTATUS_INVALID_POINTER);
    bool answer = false;
    jstatus_t status = allocator->ops.owns(allocator->context, pointer, &answer);
    if (status == JSTATUS_SUCCESS)
        *owned = answer;
    else if (status == JSTATUS_NOT_IMPLEMENTED)
        ji_fail(status, "allocator \"%s\" cannot tell what it owns", allocator->name);
    return status;
}

jstatus_t jallocator_get_stats(jallocator_t *allocator, jallocator_stats_t *stats) {
    JREQUIRE(allocator != NULL && stats != NULL, JSTATUS_INVALID_POINTER);
    if (stats->struct_size < sizeof *stats)
        return ji_fail(JSTATUS_INVALID_VALUE, "jallocator_get_stats: stats->struct_size is %zu, must be %zu",
                       stats->struct_size, sizeof *stats);
    jallocator_stats_t present = {
        .struct_size = sizeof present,
        .allocation_count = counter_get(&allocator->allocation_count),
        .live_count = counter_get(&allocator->live_count),
        .in_use_bytes = counter_get(&allocator->in_use_bytes),
        .peak_in_use_bytes = counter_get(&allocator->peak_in_use_bytes),
        .largest_request_bytes = counter_get(&allocator->largest_request_bytes),
        .failure_count = counter_get(&allocator->failure_count),
    };
    allocator->ops.get_stats(allocator->context, &present);
    present.struct_size = stats->struct_size;
    *stats = present;
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_clear_stats(jallocator_t *allocator) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    atomic_store_explicit(&allocator->peak_in_use_bytes, counter_get(&allocator->in_use_bytes), memory_order_relaxed);
    atomic_store_explicit(&allocator->largest_request_bytes, 0, memory_order_relaxed);
    allocator->ops.clear_stats(allocator->context);
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_trim(jallocator_t *allocator, size_t keep_bytes) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    return allocator->ops.trim(allocator->context, keep_bytes);
}

const char *jallocator_name(const jallocator_t *allocator) { return allocator != NULL ? allocator->name : "(null)"; }

jdevice_t *jallocator_device(const jallocator_t *allocator) { return allocator != NULL ? allocator->device : NULL; }

jstatus_t jallocator_retain(jallocator_t *allocator) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    counter_add(&allocator->retain_count, 1);
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_release(jallocator_t *allocator) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    if (!counter_take(&allocator->retain_count, 1))
        return ji_fail(JSTATUS_NOT_FOUND, "allocator \"%s\": released more often than retained", allocator->name);
    return JSTATUS_SUCCESS;
}
