/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The public face of devices, streams and events: each argument is checked here, once and alike for
 * all devices, and the call goes to the device's table. An operation may rely on what is checked
 * here:
 *
 *   - pointers are not NULL, except a region of zero bytes, which does not reach it;
 *   - a stream is NULL or belongs to the device, and neither it nor the event comes from before a
 *     fork;
 *   - sizes do not overflow, an alignment is a power of two.
 *
 * Only destroy reaches a device with an object from before a fork, because only the device knows
 * what to release. */

#include <string.h>

#include "core/sized.h"
#include "device/device.h"
#include "jalloc/cuda.h"
#include "jalloc/hip.h"

/* Larger alignments than any page are a mistake. */
#define DEVICE_MAX_ALIGNMENT ((size_t)1 << 30)

#define DEVICE_REQUIRE_STREAM(device, stream)                                                      \
    do {                                                                                           \
        jstatus_t stream_status_ = device_check_stream(device, stream, __func__);                  \
        if (JI_UNLIKELY(stream_status_ != JSTATUS_SUCCESS))                                        \
            return stream_status_;                                                                 \
    } while (0)

#define DEVICE_REQUIRE_EVENT(event)                                                                \
    do {                                                                                           \
        JREQUIRE_POINTER(event, #event);                                                           \
        if (JI_UNLIKELY((event)->fork_generation != ji_fork_generation))                           \
            return ji_fail(JSTATUS_FORKED, "%s: the event was made before a fork", __func__);      \
    } while (0)

static jstatus_t device_check_stream(const jdevice_t *device, const jstream_t *stream,
                                     const char *function) {
    if (stream == NULL)
        return JSTATUS_SUCCESS;

    if (JI_UNLIKELY(stream->device != device))
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: the stream belongs to %s, not to %s", function,
                       jdevice_name(stream->device), device->name);

    if (JI_UNLIKELY(stream->fork_generation != ji_fork_generation))
        return ji_fail(JSTATUS_FORKED, "%s: the stream was made before a fork", function);
    return JSTATUS_SUCCESS;
}

static bool device_knows_kind(jmemory_kind_t kind) {
    return kind >= JMEMORY_DEVICE && kind <= JMEMORY_STREAM_ORDERED;
}

jdevice_t *jdevice_host(void) { return &ji_host_device; }
const char *jdevice_name(const jdevice_t *device) {
    return device != NULL ? device->name : "(null)";
}
jdevice_kind_t jdevice_kind(const jdevice_t *device) {
    return device != NULL ? device->kind : JDEVICE_HOST;
}
size_t jdevice_granule_bytes(const jdevice_t *device) {
    return device != NULL ? device->granule_bytes : 0;
}
int jdevice_index(const jdevice_t *device) { return device != NULL ? device->index : 0; }

/* No object is larger: a size beyond that is an overflow, and no memory is touched for it. */
static jstatus_t device_check_size(size_t size_bytes, const char *caller) {
    if (JI_UNLIKELY(size_bytes > PTRDIFF_MAX))
        return ji_fail(JSTATUS_INVALID_SIZE, "%s: %zu bytes are more than memory can hold", caller,
                       size_bytes);
    return JSTATUS_SUCCESS;
}

jstatus_t jdevice_get_properties(const jdevice_t *device, jdevice_properties_t *properties) {
    JREQUIRE(device != NULL && properties != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jdevice_properties_t, properties, description));

    jdevice_properties_t found = {.struct_size = sizeof found,
                                  .granule_bytes = device->granule_bytes};
    JTRY_RETURN(device->ops->get_properties((jdevice_t *)device, &found));
    JI_GIVE_RESULT(properties, &found);
    return JSTATUS_SUCCESS;
}

jstatus_t jdevice_get_memory_info(const jdevice_t *device, size_t *free_bytes,
                                  size_t *total_bytes) {
    JREQUIRE(device != NULL, JSTATUS_INVALID_POINTER);
    size_t free_now = 0, total = 0;
    JTRY_RETURN(device->ops->get_memory_info((jdevice_t *)device, &free_now, &total));

    if (free_bytes != NULL)
        *free_bytes = free_now;
    if (total_bytes != NULL)
        *total_bytes = total;
    return JSTATUS_SUCCESS;
}

jstatus_t jdevice_allocate(jdevice_t *device, jmemory_kind_t kind, size_t size_bytes,
                           size_t alignment, void **pointer) {
    JREQUIRE(device != NULL && pointer != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE_VALUE(device_knows_kind(kind), JSTATUS_INVALID_VALUE, __func__, "kind", kind,
                   "must be of jmemory_kind_t");
    if (alignment == 0)
        alignment = device->granule_bytes;

    if (!ji_is_power_of_two(alignment) || alignment > DEVICE_MAX_ALIGNMENT)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "jdevice_allocate: alignment %zu is not a power of two up to 2^30",
                       alignment);

    if (size_bytes == 0 || size_bytes > PTRDIFF_MAX - alignment)
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "%s: size_bytes = %zu: must be from 1 to what memory can hold", __func__,
                       size_bytes);

    if (kind == JMEMORY_STREAM_ORDERED) {
        if (alignment > device->granule_bytes)
            return ji_fail(JSTATUS_INVALID_VALUE,
                           "jdevice_allocate: memory in stream order is aligned to %zu, not %zu",
                           device->granule_bytes, alignment);
        return device->ops->allocate_ordered(device, NULL, size_bytes, pointer);
    }
    return device->ops->allocate(device, kind, size_bytes, alignment, pointer);
}

jstatus_t jdevice_deallocate(jdevice_t *device, jmemory_kind_t kind, void *pointer,
                             size_t size_bytes) {
    JREQUIRE(device != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE_VALUE(device_knows_kind(kind), JSTATUS_INVALID_VALUE, __func__, "kind", kind,
                   "must be of jmemory_kind_t");

    if (pointer == NULL)
        return JSTATUS_SUCCESS;

    JTRY_RETURN(device_check_size(size_bytes, __func__));
    if (kind == JMEMORY_STREAM_ORDERED)
        return device->ops->deallocate_ordered(device, NULL, pointer, size_bytes);
    return device->ops->deallocate(device, kind, pointer, size_bytes);
}

jstatus_t jdevice_allocate_ordered(jdevice_t *device, jstream_t *stream, size_t size_bytes,
                                   void **pointer) {
    JREQUIRE(device != NULL && pointer != NULL, JSTATUS_INVALID_POINTER);
    DEVICE_REQUIRE_STREAM(device, stream);

    if (size_bytes == 0 || size_bytes > PTRDIFF_MAX - device->granule_bytes)
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "%s: size_bytes = %zu: must be from 1 to what memory can hold", __func__,
                       size_bytes);
    return device->ops->allocate_ordered(device, stream, size_bytes, pointer);
}

jstatus_t jdevice_deallocate_ordered(jdevice_t *device, jstream_t *stream, void *pointer,
                                     size_t size_bytes) {
    JREQUIRE(device != NULL, JSTATUS_INVALID_POINTER);
    DEVICE_REQUIRE_STREAM(device, stream);
    if (pointer == NULL)
        return JSTATUS_SUCCESS;

    JTRY_RETURN(device_check_size(size_bytes, __func__));
    return device->ops->deallocate_ordered(device, stream, pointer, size_bytes);
}

jstatus_t jdevice_copy(jdevice_t *device, jstream_t *stream, void *destination, const void *source,
                       size_t size_bytes) {
    JREQUIRE(device != NULL, JSTATUS_INVALID_POINTER);
    DEVICE_REQUIRE_STREAM(device, stream);

    if (size_bytes == 0)
        return JSTATUS_SUCCESS;

    JREQUIRE(destination != NULL && source != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(device_check_size(size_bytes, __func__));
    return device->ops->copy(device, stream, destination, source, size_bytes);
}

jstatus_t jdevice_fill(jdevice_t *device, jstream_t *stream, void *destination, const void *pattern,
                       size_t pattern_bytes, size_t count) {
    JREQUIRE(device != NULL, JSTATUS_INVALID_POINTER);
    size_t size_bytes;
    if (!ji_is_power_of_two(pattern_bytes) || pattern_bytes > 16)
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "jdevice_fill: a pattern has 1, 2, 4, 8 or 16 bytes, not %zu",
                       pattern_bytes);
    if (!ji_size_mul(pattern_bytes, count, &size_bytes))
        return ji_fail(JSTATUS_INVALID_SIZE, "jdevice_fill: %zu patterns of %zu bytes overflow",
                       count, pattern_bytes);

    DEVICE_REQUIRE_STREAM(device, stream);
    if (size_bytes == 0)
        return JSTATUS_SUCCESS;

    JREQUIRE(destination != NULL && pattern != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(device_check_size(size_bytes, __func__));
    return device->ops->fill(device, stream, destination, pattern, pattern_bytes, count);
}

jstatus_t jstream_launch(jdevice_t *device, jstream_t *stream, void (*function)(void *arguments),
                         const void *arguments, size_t argument_bytes) {
    JREQUIRE(device != NULL && function != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(arguments != NULL || argument_bytes == 0, JSTATUS_INVALID_POINTER);

    if (JI_UNLIKELY(argument_bytes > JSTREAM_MAX_ARGUMENT_BYTES))
        return ji_fail(JSTATUS_INVALID_SIZE, "jstream_launch: %zu bytes of arguments, at most %d",
                       argument_bytes, JSTREAM_MAX_ARGUMENT_BYTES);

    DEVICE_REQUIRE_STREAM(device, stream);
    return device->ops->launch(device, stream, function, arguments, argument_bytes);
}

jstatus_t jstream_create(jdevice_t *device, jstream_t **stream) {
    JREQUIRE(device != NULL && stream != NULL, JSTATUS_INVALID_POINTER);
    ji_fork_watch();
    return device->ops->stream_create(device, stream);
}

_Atomic(ji_stream_hook_t) ji_stream_destroy_hook;

jstatus_t jstream_destroy(jstream_t *stream) {
    if (stream == NULL)
        return JSTATUS_SUCCESS;

    ji_stream_hook_t hook = atomic_load_explicit(&ji_stream_destroy_hook, memory_order_acquire);
    if (hook != NULL && jstream_synchronize(stream->device, stream) == JSTATUS_SUCCESS)
        hook(stream); /* before its address can become another stream's */

    return stream->device->ops->stream_destroy(stream);
}

jstatus_t jstream_synchronize(jdevice_t *device, jstream_t *stream) {
    JREQUIRE(device != NULL, JSTATUS_INVALID_POINTER);
    DEVICE_REQUIRE_STREAM(device, stream);
    return device->ops->stream_synchronize(device, stream);
}

jstatus_t jstream_get_capture(const jdevice_t *device, const jstream_t *stream, uint64_t *capture) {
    JREQUIRE(device != NULL && capture != NULL, JSTATUS_INVALID_POINTER);
    DEVICE_REQUIRE_STREAM(device, stream);
    return device->ops->stream_get_capture((jdevice_t *)device, (jstream_t *)stream, capture);
}

jstatus_t jstream_wrap(jdevice_t *device, void *native, jstream_t **stream) {
    JREQUIRE(device != NULL && stream != NULL, JSTATUS_INVALID_POINTER);
    ji_fork_watch();
    return device->ops->stream_wrap(device, native, stream);
}

void *jstream_native(const jdevice_t *device, const jstream_t *stream) {
    return device != NULL ? device->ops->stream_native((jdevice_t *)device, (jstream_t *)stream)
                          : NULL;
}

/* For the typed forms, which refuse a device whose streams are of another type. */
static jstatus_t device_wrap_typed(jdevice_t *device, jdevice_kind_t kind, void *native,
                                   jstream_t **stream, const char *caller) {
    if (device != NULL && device->kind != kind)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: %s has streams of another runtime", caller,
                       device->name);
    return jstream_wrap(device, native, stream);
}
jstatus_t jcuda_stream_wrap(jdevice_t *device, cudaStream_t native, jstream_t **stream) {
    return device_wrap_typed(device, JDEVICE_CUDA, native, stream, __func__);
}
cudaStream_t jcuda_stream_native(const jdevice_t *device, const jstream_t *stream) {
    return jstream_native(device, stream);
}
jstatus_t jhip_stream_wrap(jdevice_t *device, hipStream_t native, jstream_t **stream) {
    return device_wrap_typed(device, JDEVICE_HIP, native, stream, __func__);
}
hipStream_t jhip_stream_native(const jdevice_t *device, const jstream_t *stream) {
    return jstream_native(device, stream);
}

jdevice_t *jstream_device(const jstream_t *stream) {
    return stream != NULL ? stream->device : NULL;
}

jstatus_t jevent_create(jdevice_t *device, jevent_t **event) {
    JREQUIRE(device != NULL && event != NULL, JSTATUS_INVALID_POINTER);
    ji_fork_watch();
    return device->ops->event_create(device, true, event);
}

jstatus_t ji_event_create_untimed(jdevice_t *device, jevent_t **event) {
    ji_fork_watch();
    return device->ops->event_create(device, false, event);
}

jstatus_t jevent_destroy(jevent_t *event) {
    return event != NULL ? event->device->ops->event_destroy(event) : JSTATUS_SUCCESS;
}

jdevice_t *jevent_device(const jevent_t *event) { return event != NULL ? event->device : NULL; }

jstatus_t jevent_record(jevent_t *event, jstream_t *stream) {
    DEVICE_REQUIRE_EVENT(event);
    DEVICE_REQUIRE_STREAM(event->device, stream);
    return event->device->ops->event_record(event, stream);
}

jstatus_t jevent_wait(const jevent_t *event, jstream_t *stream) {
    DEVICE_REQUIRE_EVENT(event);
    DEVICE_REQUIRE_STREAM(event->device, stream);
    return event->device->ops->event_wait((jevent_t *)event, stream);
}

jstatus_t jevent_query(const jevent_t *event, bool *reached) {
    DEVICE_REQUIRE_EVENT(event);
    JREQUIRE(reached != NULL, JSTATUS_INVALID_POINTER);
    return event->device->ops->event_query((jevent_t *)event, reached);
}

jstatus_t jevent_synchronize(jevent_t *event) {
    DEVICE_REQUIRE_EVENT(event);
    return event->device->ops->event_synchronize(event);
}

jstatus_t jevent_get_elapsed_ms(const jevent_t *start, const jevent_t *stop, double *milliseconds) {
    DEVICE_REQUIRE_EVENT(start);
    DEVICE_REQUIRE_EVENT(stop);
    JREQUIRE(milliseconds != NULL, JSTATUS_INVALID_POINTER);

    if (start->device != stop->device)
        return ji_fail(JSTATUS_INVALID_VALUE, "jevent_get_elapsed_ms: events of %s and of %s",
                       start->device->name, stop->device->name);

    return start->device->ops->event_get_elapsed_ms((jevent_t *)start, (jevent_t *)stop,
                                                    milliseconds);
}
