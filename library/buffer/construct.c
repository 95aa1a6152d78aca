/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Making buffers: allocate, wrap, from a value, from lists (function.c: by a function; convert.c:
 * by copy and by move).
 *
 * All go the same way: begin (look at the arguments, take memory), fill, end (agree, and give the
 * buffer or take the memory back). Where several processes make one buffer together each goes this
 * way to its end, whatever happened to it:
 *
 *     rank 0   begin -- fill -------------- agree: memory error -- give back
 *     rank 1   begin: memory error -------- agree: memory error
 *     rank 2   begin -- fill -------------- agree: memory error -- give back
 *
 * and where filling is itself something that they do together they agree before it, too. Whoever
 * has agreed on an error agrees on nothing more. So no process waits for one that has left.
 *
 * Sources that are no buffers, lists and the temporaries of conversions, get a buffer's descriptor
 * that nobody else sees (ji_construct_descriptor_t): memory, layout and allocator as local
 * variables, so that there is one way to copy and it cannot fail for want of bookkeeping. */

#include "buffer/buffer.h"

#include <string.h>

#include "device/device.h"
#include "jalloc/process.h"

#define CONSTRUCT_ALIGNMENT 64

/* ---- Begin and end ---- */

jstatus_t ji_construct_agree(ji_construct_t *construct, jstatus_t status) {
    if (construct->over)
        return status;

    status = ji_buffer_agree_on(construct->participants, status, construct->arguments);
    construct->over = status != JSTATUS_SUCCESS;
    return status;
}

const jbuffer_allocator_t *ji_construct_participants(const jbuffer_allocator_t *allocator,
                                                     const jbuffer_t *source) {
    return source == NULL || ji_buffer_is_collective(allocator) ? allocator
                                                                : ji_buffer_allocator(source);
}

jstatus_t ji_construct_begin(ji_construct_t *construct, jbuffer_allocator_t *allocator,
                             const jlayout_t *layout, const jbuffer_t *source, jstatus_t status) {
    *construct = (ji_construct_t){.participants = ji_construct_participants(allocator, source)};
    construct->arguments = ji_arguments_add_allocator(0, &allocator->options);
    construct->arguments = ji_arguments_add_buffer(construct->arguments, source);

    if (status == JSTATUS_SUCCESS)
        status = jlayout_check(layout);
    if (status == JSTATUS_SUCCESS)
        construct->arguments = ji_arguments_add_layout(construct->arguments, layout, true);

    if (allocator->options.kind == JBUFFER_BEST) {
        JTRY(ji_construct_agree(construct, status));
        status = jbuffer_allocator_choose(allocator, layout, 0, NULL, &construct->allocator);
        if (status == JSTATUS_SUCCESS)
            construct->participants = ji_construct_participants(construct->allocator, source);
    } else if (jbuffer_allocator_retain(allocator) == JSTATUS_SUCCESS) {
        construct->allocator = allocator;
    }

    if (construct->allocator != NULL && ji_buffer_is_shared_kind(&construct->allocator->options))
        status = ji_construct_agree(construct, status);
    JTRY(status);

    JTRY(ji_storage_create(construct->allocator, layout, NULL, &construct->storage));
    JTRY(ji_buffer_make(construct->storage, layout, &construct->made));
    construct->storage = NULL;
done:
    return status;
}

jstatus_t ji_construct_end(ji_construct_t *construct, jstatus_t status, jbuffer_t **buffer) {
    status = ji_construct_agree(construct, status);

    if (status == JSTATUS_SUCCESS)
        *buffer = construct->made;
    else if (construct->made != NULL)
        (void)jbuffer_release(construct->made);
    else if (construct->storage != NULL)
        (void)ji_storage_release(construct->storage);
    (void)jbuffer_allocator_release(construct->allocator);
    return status;
}

jstatus_t ji_construct_scratch(const ji_construct_t *construct, jallocator_t **allocator) {
    const jbuffer_allocator_t *own = construct->allocator;
    if (own->bytes == NULL || jdevice_kind(jallocator_device(own->bytes)) != JDEVICE_HOST)
        return jprocess_get_allocator(NULL, allocator);
    *allocator = own->bytes;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_construct_check_out(const void *out, const char *caller) {
    return out != NULL ? JSTATUS_SUCCESS
                       : ji_fail(JSTATUS_INVALID_POINTER, "%s: requires buffer != NULL", caller);
}

/* ---- Allocate, wrap ---- */

jstatus_t jbuffer_allocate(jbuffer_allocator_t *allocator, const jlayout_t *layout,
                           jbuffer_t **buffer) {
    JTRY_RETURN(ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__));

    ji_construct_t construct;
    jstatus_t status = ji_construct_begin(&construct, allocator, layout, NULL,
                                          ji_construct_check_out(buffer, __func__));
    return ji_construct_end(&construct, status, buffer);
}

jstatus_t jbuffer_wrap(jbuffer_allocator_t *allocator, const jlayout_t *layout, void *pointer,
                       jbuffer_t **buffer) {
    JTRY_RETURN(ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__));
    jstatus_t status = JSTATUS_SUCCESS;

    if (allocator->options.kind == JBUFFER_BEST || ji_buffer_is_shared_kind(&allocator->options))
        return ji_fail(JSTATUS_NOT_IMPLEMENTED,
                       "%s: only by an allocator whose buffers are one process's, on one device",
                       __func__);

    ji_storage_t *storage = NULL;
    size_t bytes;
    JTRY(jbuffer_allocator_get_local_bytes(allocator, layout, &bytes));
    JREQUIRE(buffer != NULL && (pointer != NULL || bytes == 0), JSTATUS_INVALID_POINTER);

    JTRY(ji_storage_create(allocator, layout, pointer, &storage));
    JTRY(ji_buffer_make(storage, layout, buffer));
    storage = NULL;
done:
    if (storage != NULL)
        (void)ji_storage_release(storage);
    return status;
}

/* ---- Values ---- */

/* Every element of this process's new memory. What lies beside them there is nobody's, so it may
 * become the same. */
static jstatus_t construct_fill(jbuffer_t *made, const void *value) {
    static const _Alignas(16) char zeros[16];
    const ji_storage_t *storage = made->storage;
    jdevice_t *device = ji_buffer_device(made);
    const size_t size = jhandle_sizeof_datatype(ji_buffer_type(made)),
                 count = storage->size_bytes / size;
    const bool zero = value == NULL || memcmp(value, zeros, size) == 0;

    if (storage->pointer == NULL || !ji_buffer_writes(made) || (zero && storage->zeroed))
        return JSTATUS_SUCCESS;

    if (jdevice_kind(device) == JDEVICE_HOST) {
        const ji_elements_t elements = ji_buffer_kind(made) == JBUFFER_DISTRIBUTED
                                           ? ji_buffer_part_elements(made)
                                           : ji_buffer_elements(made);
        ji_elements_fill_host(&elements, zero ? NULL : value);
        return JSTATUS_SUCCESS;
    }

    jstatus_t status =
        jdevice_fill(device, NULL, storage->pointer, zero ? zeros : value, size, count);
    return status == JSTATUS_SUCCESS ? jstream_synchronize(device, NULL) : status;
}

jstatus_t jbuffer_construct_value(jbuffer_allocator_t *allocator, const jlayout_t *layout,
                                  const void *value, jbuffer_t **buffer) {
    JTRY_RETURN(ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__));

    ji_construct_t construct;
    jstatus_t status = ji_construct_begin(&construct, allocator, layout, NULL,
                                          ji_construct_check_out(buffer, __func__));
    if (status == JSTATUS_SUCCESS)
        status = construct_fill(construct.made, value);
    return ji_construct_end(&construct, status, buffer);
}

/* Ones on the diagonal of a buffer of zeros, as far as they are this process's. */
static jstatus_t construct_set_diagonal(jbuffer_t *made) {
    const jlayout_t *layout = &made->layout;
    const ji_storage_t *storage = made->storage;
    const jdistribution_t *whole = &storage->distribution;
    jdevice_t *device = ji_buffer_device(made);
    const bool distributed = ji_buffer_kind(made) == JBUFFER_DISTRIBUTED;
    const size_t size = jhandle_sizeof_datatype(ji_buffer_type(made));

    if (storage->pointer == NULL || !ji_buffer_writes(made))
        return JSTATUS_SUCCESS;

    double real = 1.0;
    _Alignas(16) char one[16];
    const ji_elements_t number = {jdevice_host(), JDATATYPE_F64, {.rank = 0}, &real};
    const ji_elements_t converted = {jdevice_host(), ji_buffer_type(made), {.rank = 0}, one};
    jstatus_t status = ji_elements_copy_host(&converted, &number);

    int64_t count = INT64_MAX, step = 0;
    for (int d = 0; d < layout->rank; ++d) {
        count = layout->extents[d] < count ? layout->extents[d] : count;
        if (layout->extents[d] > 1) /* of fewer the stride may be anything */
            step += layout->strides[d];
    }

    for (int64_t i = 0; status == JSTATUS_SUCCESS && i < count; ++i) {
        int64_t at = i * step;
        if (distributed) {
            if (jdistribution_owner(whole, 0, i) != whole->coordinates[0] ||
                jdistribution_owner(whole, 1, i) != whole->coordinates[1])
                continue;
            at = jdistribution_to_local(whole, 0, i) +
                 jdistribution_to_local(whole, 1, i) * storage->leading_dimension;
        }
        status =
            jdevice_fill(device, NULL, (char *)storage->pointer + (size_t)at * size, one, size, 1);
    }

    return status == JSTATUS_SUCCESS ? jstream_synchronize(device, NULL) : status;
}

jstatus_t jbuffer_construct_identity(jbuffer_allocator_t *allocator, const jlayout_t *layout,
                                     jbuffer_t **buffer) {
    JTRY_RETURN(ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__));

    jstatus_t status = ji_construct_check_out(buffer, __func__);
    if (status == JSTATUS_SUCCESS && layout != NULL && layout->rank < 2)
        status =
            ji_fail(JSTATUS_INVALID_VALUE, "%s: rank %d has no diagonal", __func__, layout->rank);

    ji_construct_t construct;
    status = ji_construct_begin(&construct, allocator, layout, NULL, status);

    if (status == JSTATUS_SUCCESS)
        status = construct_fill(construct.made, NULL);
    if (status == JSTATUS_SUCCESS)
        status = construct_set_diagonal(construct.made);
    return ji_construct_end(&construct, status, buffer);
}

/* ---- Copies ---- */

/* Describes a local buffer of the host, of the allocator's type. */
static void construct_describe_local(ji_construct_descriptor_t *descriptor,
                                     const jbuffer_allocator_t *allocator, const jlayout_t *layout,
                                     const void *data) {
    memset(descriptor, 0, sizeof *descriptor);

    descriptor->allocator.runtime = allocator->runtime;
    descriptor->allocator.options.kind = JBUFFER_LOCAL;
    descriptor->allocator.options.type = allocator->options.type;
    descriptor->allocator.options.device = jdevice_host();

    descriptor->storage.allocator = &descriptor->allocator;
    descriptor->storage.pointer = (void *)(uintptr_t)data;
    descriptor->buffer.storage = &descriptor->storage;
    descriptor->buffer.layout = *layout;
}

jstatus_t ji_construct_copy(ji_construct_t *construct, const jbuffer_t *source, jstatus_t status) {
    jallocator_t *scratch = NULL;
    void *workspace = NULL;
    size_t best = 0, least = 0, bytes = 0;
    const bool together = ji_buffer_is_collective(construct->participants);

    if (status == JSTATUS_SUCCESS)
        status = ji_buffer_copy_bytes(construct->made, source, &best, &least);
    if (status == JSTATUS_SUCCESS)
        status = ji_construct_scratch(construct, &scratch);
    if (status == JSTATUS_SUCCESS) {
        status = jallocator_allocate(scratch, bytes = best, CONSTRUCT_ALIGNMENT, NULL, &workspace);
        if (status != JSTATUS_SUCCESS && least < best)
            status =
                jallocator_allocate(scratch, bytes = least, CONSTRUCT_ALIGNMENT, NULL, &workspace);
    }

    if (together)
        status = ji_construct_agree(construct, status);
    if (status == JSTATUS_SUCCESS)
        status = ji_buffer_copy(construct->made, source, NULL, workspace, bytes);

    if (workspace != NULL)
        (void)jallocator_deallocate(scratch, workspace, bytes, NULL);
    return status;
}

jstatus_t jbuffer_construct_list(jbuffer_allocator_t *allocator, int rank, const int64_t *extents,
                                 jdatatype_t type, const void *values, jbuffer_t **buffer) {
    JTRY_RETURN(ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__));

    ji_construct_t construct;
    ji_construct_descriptor_t list;
    jlayout_t layout = {.rank = 0}, nested = layout;
    int64_t count = 0;

    jstatus_t status = ji_construct_check_out(buffer, __func__);
    if (status == JSTATUS_SUCCESS && type != allocator->options.type)
        status = ji_fail(JSTATUS_INVALID_VALUE, "%s: the list has type %s, the allocator %s",
                         __func__, jdatatype_name(type), jdatatype_name(allocator->options.type));
    if (status == JSTATUS_SUCCESS)
        status = jlayout_init(&layout, rank, extents, JORDER_COLUMN_MAJOR);
    if (status == JSTATUS_SUCCESS)
        status = jlayout_init(&nested, rank, extents, JORDER_ROW_MAJOR);
    if (status == JSTATUS_SUCCESS)
        status = jlayout_get_count(&layout, &count);
    if (status == JSTATUS_SUCCESS && values == NULL && count > 0)
        status = ji_fail(JSTATUS_INVALID_POINTER, "%s: requires values != NULL", __func__);

    construct_describe_local(&list, allocator, &nested, values);
    status = ji_construct_begin(&construct, allocator, &layout, NULL, status);
    if (construct.allocator != NULL)
        status = ji_construct_copy(&construct, &list.buffer, status);
    return ji_construct_end(&construct, status, buffer);
}
