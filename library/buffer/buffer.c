/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Buffers as objects: references, views, what a buffer is, single elements.
 *
 * A jbuffer_t is no more than a view: a layout and where it begins. The first one of a storage is
 * the buffer, the others are made from it by slice, permute and with_structure; none is special,
 * and the memory goes with the last:
 *
 *     jbuffer_t  layout, offset ---.
 *     jbuffer_t  layout, offset ----+--> ji_storage_t  pointer, size, --> allocator --> runtime
 *     jbuffer_t  layout, offset ---'     distribution; references = 3
 *
 * Since no view knows an address, the storage may have its memory later than they: placeholders,
 * which size queries make.
 *
 * A view of a distributed buffer has no address of its own, because its elements lie on many
 * processes: it is a pair of global indices, `starts`, into the one distribution that the storage
 * has. */

#include "buffer/walk.h"

#include "device/device.h"

jstatus_t ji_buffer_make(ji_storage_t *storage, const jlayout_t *layout, jbuffer_t **out) {
    jbuffer_t *made = NULL;
    jstatus_t status = JSTATUS_SUCCESS;
    JTRY_ALLOC(made = ji_metadata_zalloc(sizeof *made));

    made->storage = storage;
    made->layout = *layout;
    if (storage->allocator->options.kind == JBUFFER_DISTRIBUTED) {
        JTRY(jlayout_init(&made->layout, layout->rank, layout->extents, JORDER_COLUMN_MAJOR));
        memcpy(made->layout.blocks, layout->blocks, sizeof made->layout.blocks);
        made->layout.structure = layout->structure;
    }

    ji_object_enter(&made->object, JI_OBJECT_BUFFER);
    *out = made;
    made = NULL;
done:
    ji_metadata_free(made);
    return status;
}

jstatus_t ji_buffer_promise(jbuffer_allocator_t *allocator, const jlayout_t *layout,
                            jbuffer_t **out) {
    ji_storage_t *storage = NULL;
    JTRY_RETURN(ji_storage_promise(allocator, layout, &storage));

    jstatus_t status = ji_buffer_make(storage, layout, out);
    if (status != JSTATUS_SUCCESS)
        (void)ji_storage_release(storage);
    return status;
}

jstatus_t ji_buffer_check_contents(const jbuffer_t *buffer, const char *caller) {
    return ji_buffer_is_placeholder(buffer) ? ji_fail(JSTATUS_INVALID_VALUE,
                                                      "%s: the buffer is a placeholder that a size "
                                                      "query made: it has no contents yet",
                                                      caller)
                                            : JSTATUS_SUCCESS;
}

void *ji_buffer_data(const jbuffer_t *buffer) {
    const ji_storage_t *storage = buffer->storage;
    for (int d = 0; d < buffer->layout.rank; ++d)
        if (buffer->layout.extents[d] == 0)
            return NULL;
    return storage->pointer == NULL
               ? NULL
               : (char *)storage->pointer +
                     (size_t)buffer->offset * jhandle_sizeof_datatype(ji_buffer_type(buffer));
}

ji_elements_t ji_buffer_elements(const jbuffer_t *buffer) {
    return (ji_elements_t){ji_buffer_device(buffer), ji_buffer_type(buffer), buffer->layout,
                           ji_buffer_data(buffer)};
}

ji_elements_t ji_buffer_part_elements(const jbuffer_t *buffer) {
    const ji_storage_t *storage = buffer->storage;
    const jdistribution_t *whole = &storage->distribution;
    ji_elements_t part = {
        ji_buffer_device(buffer), ji_buffer_type(buffer), {.rank = 2}, storage->pointer};

    for (int d = 0; d < 2; ++d)
        part.layout.extents[d] =
            jdistribution_local_count(whole, d, whole->coordinates[d], whole->extents[d]);
    part.layout.strides[0] = 1;
    part.layout.strides[1] = storage->leading_dimension;
    return part;
}

/* ---- References and views ---- */

jstatus_t jbuffer_retain(jbuffer_t *buffer) {
    return ji_object_retain(buffer, JI_OBJECT_BUFFER, JI_OWNER_PROGRAM, __func__);
}

jstatus_t jbuffer_release(jbuffer_t *buffer) {
    if (buffer == NULL)
        return JSTATUS_SUCCESS;

    bool last;
    jstatus_t status =
        ji_object_release(buffer, JI_OBJECT_BUFFER, JI_OWNER_PROGRAM, __func__, &last);
    if (status != JSTATUS_SUCCESS || !last)
        return status;

    status = ji_storage_release(buffer->storage);
    ji_metadata_free(buffer);
    return status;
}

/* Another look at the same storage. The view has `layout`; its first element lies `offset` behind
 * that of `buffer`, or in a distributed one `starts` (NULL: 0) behind. */
static jstatus_t buffer_view(jbuffer_t *buffer, const jlayout_t *layout, int64_t offset,
                             const int64_t *starts, jbuffer_t **view) {
    jbuffer_t *made = NULL;

    atomic_fetch_add_explicit(&buffer->storage->references, 1, memory_order_relaxed);
    const jstatus_t status = ji_buffer_make(buffer->storage, layout, &made);
    if (status != JSTATUS_SUCCESS) {
        (void)ji_storage_release(buffer->storage);
        return status;
    }

    made->layout = *layout;
    if (ji_buffer_kind(buffer) == JBUFFER_DISTRIBUTED) {
        for (int d = 0; d < 2; ++d)
            made->starts[d] =
                buffer->starts[d] + (starts != NULL && d < layout->rank ? starts[d] : 0);
    } else {
        made->offset = buffer->offset + offset;
    }
    *view = made;
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_slice(jbuffer_t *buffer, const int64_t *starts, const int64_t *extents,
                        const int64_t *steps, jbuffer_t **view) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));
    JREQUIRE(view != NULL, JSTATUS_INVALID_POINTER);

    if (ji_buffer_kind(buffer) == JBUFFER_DISTRIBUTED && steps != NULL)
        for (int d = 0; d < buffer->layout.rank; ++d)
            if (steps[d] != 1)
                return ji_fail(JSTATUS_INVALID_VALUE,
                               "%s: steps[%d] is %lld, must be 1: the elements of a distributed "
                               "buffer are not divided by steps",
                               __func__, d, (long long)steps[d]);

    jlayout_t layout;
    int64_t offset;
    jstatus_t status = jlayout_slice(&buffer->layout, starts, extents, steps, &layout, &offset);
    return status == JSTATUS_SUCCESS ? buffer_view(buffer, &layout, offset, starts, view) : status;
}

jstatus_t jbuffer_permute(jbuffer_t *buffer, const int *order, jbuffer_t **view) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));
    JREQUIRE(view != NULL, JSTATUS_INVALID_POINTER);
    if (ji_buffer_kind(buffer) == JBUFFER_DISTRIBUTED)
        return ji_fail(JSTATUS_NOT_IMPLEMENTED, "%s: of a distributed buffer; transpose it instead",
                       __func__);

    jlayout_t layout;
    jstatus_t status = jlayout_permute(&buffer->layout, order, &layout);
    return status == JSTATUS_SUCCESS ? buffer_view(buffer, &layout, 0, NULL, view) : status;
}

jstatus_t jbuffer_with_structure(jbuffer_t *buffer, jstructure_t structure, jbuffer_t **view) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));
    JREQUIRE(view != NULL, JSTATUS_INVALID_POINTER);

    jlayout_t layout = buffer->layout;
    jstatus_t status = jlayout_set_structure(&layout, structure);
    return status == JSTATUS_SUCCESS ? buffer_view(buffer, &layout, 0, NULL, view) : status;
}

/* ---- What a buffer is ---- */

jstatus_t jbuffer_get_layout(const jbuffer_t *buffer, jlayout_t *layout) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));
    JREQUIRE(layout != NULL, JSTATUS_INVALID_POINTER);
    *layout = buffer->layout;
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_get_kind(const jbuffer_t *buffer, jbuffer_kind_t *kind) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));
    JREQUIRE(kind != NULL, JSTATUS_INVALID_POINTER);
    *kind = ji_buffer_kind(buffer);
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_get_type(const jbuffer_t *buffer, jdatatype_t *type) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));
    JREQUIRE(type != NULL, JSTATUS_INVALID_POINTER);
    *type = ji_buffer_type(buffer);
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_get_device(const jbuffer_t *buffer, jdevice_t **device) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));
    JREQUIRE(device != NULL, JSTATUS_INVALID_POINTER);
    *device = ji_buffer_device(buffer);
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_get_allocator(const jbuffer_t *buffer, jbuffer_allocator_t **allocator) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    *allocator = ji_buffer_allocator(buffer);
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_as_pointer(jbuffer_t *buffer, jdevice_kind_t device, void **pointer) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));
    JREQUIRE(pointer != NULL, JSTATUS_INVALID_POINTER);

    if (ji_buffer_kind(buffer) == JBUFFER_DISTRIBUTED ||
        jdevice_kind(ji_buffer_device(buffer)) != device)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: the buffer is %s on %s", __func__,
                       jbuffer_kind_name(ji_buffer_kind(buffer)),
                       jdevice_name(ji_buffer_device(buffer)));

    jstatus_t status = ji_buffer_check_contents(buffer, __func__);
    if (status == JSTATUS_SUCCESS)
        *pointer = ji_buffer_data(buffer);
    return status;
}

jstatus_t jbuffer_as_part(jbuffer_t *buffer, jbuffer_part_t *part) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));
    JREQUIRE(part != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jbuffer_part_t, part, pointer));

    if (ji_buffer_kind(buffer) != JBUFFER_DISTRIBUTED)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: the buffer is %s", __func__,
                       jbuffer_kind_name(ji_buffer_kind(buffer)));
    JTRY_RETURN(ji_buffer_check_contents(buffer, __func__));

    const ji_storage_t *storage = buffer->storage;
    const jlayout_t *layout = &buffer->layout, here = ji_buffer_part_elements(buffer).layout;

    jbuffer_part_t held = {.pointer = storage->pointer,
                           .leading_dimension = storage->leading_dimension,
                           .rows = here.extents[0],
                           .columns = here.extents[1],
                           .distribution = storage->distribution};

    for (int d = 0; d < 2; ++d) {
        held.starts[d] = buffer->starts[d];
        held.extents[d] = d < layout->rank ? layout->extents[d] : 1;
    }

    JI_GIVE_RESULT(part, &held);
    return JSTATUS_SUCCESS;
}

/* ---- Single elements ---- */

/* Where an element is really stored, and what has to be made of it. */
typedef struct buffer_element {
    int64_t indices[JLAYOUT_MAX_RANK];
    ji_origin_t origin;
    bool real;
} buffer_element_t;

/* Finds the element as the structure has it; the indices are within the extents. */
static buffer_element_t buffer_find(const jlayout_t *layout, const int64_t *indices) {
    buffer_element_t element = {.origin = JI_ORIGIN_STORED};
    if (layout->rank > 0)
        memcpy(element.indices, indices, (size_t)layout->rank * sizeof *indices);

    if (layout->structure == JSTRUCTURE_GENERAL)
        return element;

    const int64_t row = element.indices[0], column = element.indices[1];
    element.origin = ji_origin_of(layout->structure, row, column);
    element.real = ji_structure_is_hermitian(layout->structure) && row == column;
    if (element.origin != JI_ORIGIN_STORED) {
        element.indices[0] = column;
        element.indices[1] = row;
    }
    return element;
}

/* Makes the stored value that of the element. */
static void buffer_mirror(const buffer_element_t *element, jdatatype_t type, void *value) {
    const size_t size = jhandle_sizeof_datatype(type);
    if (element->origin == JI_ORIGIN_ZERO)
        memset(value, 0, size);
    if (element->origin == JI_ORIGIN_CONJUGATED)
        ji_conjugate(type, value, 0, 1);
    if (element->real && ji_type_is_complex(type))
        memset((char *)value + size / 2, 0, size / 2);
}

/* One element between host memory and where the buffer lies; has been done on return. */
static jstatus_t buffer_transfer(const jbuffer_t *buffer, void *destination, const void *source) {
    jdevice_t *device = ji_buffer_device(buffer);
    jstatus_t status = jdevice_copy(device, NULL, destination, source,
                                    jhandle_sizeof_datatype(ji_buffer_type(buffer)));
    return status == JSTATUS_SUCCESS ? jstream_synchronize(device, NULL) : status;
}

/* What get and set require of their arguments; the element's offset in the memory of a local or
 * replicated buffer. */
static jstatus_t buffer_check_element(const jbuffer_t *buffer, const int64_t *indices,
                                      const void *value, const char *caller,
                                      buffer_element_t *element, int64_t *offset) {
    if (value == NULL)
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: value is NULL", caller);

    jstatus_t status = ji_buffer_check_contents(buffer, caller);
    if (status == JSTATUS_SUCCESS)
        status = jlayout_get_offset(&buffer->layout, indices, offset);
    if (status != JSTATUS_SUCCESS)
        return status;

    *element = buffer_find(&buffer->layout, indices);
    return jlayout_get_offset(&buffer->layout, element->indices, offset);
}

jstatus_t jbuffer_get(const jbuffer_t *buffer, const int64_t *indices, void *value) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));

    buffer_element_t element = {0};
    int64_t offset = 0;
    const jdatatype_t type = ji_buffer_type(buffer);
    const size_t size = jhandle_sizeof_datatype(type);
    _Alignas(16) char found[16] = {0};
    jstatus_t status = buffer_check_element(buffer, indices, value, __func__, &element, &offset);

    if (ji_buffer_kind(buffer) == JBUFFER_DISTRIBUTED) {
        const uint64_t arguments = ji_arguments_add(ji_arguments_add_buffer(0, buffer),
                                                    element.indices, 2 * sizeof *indices);
        JTRY(ji_buffer_agree_on(ji_buffer_allocator(buffer), status, arguments));
        const int64_t whole[2] = {buffer->starts[0] + element.indices[0],
                                  buffer->starts[1] + element.indices[1]};
        if (element.origin != JI_ORIGIN_ZERO)
            JTRY(ji_buffer_runtime(buffer)->ops->get(buffer, whole, found));
    } else {
        if (status == JSTATUS_SUCCESS && element.origin != JI_ORIGIN_ZERO)
            status = buffer_transfer(buffer, found,
                                     (char *)ji_buffer_data(buffer) + (size_t)offset * size);
        if (status != JSTATUS_SUCCESS)
            return status;
    }

    buffer_mirror(&element, type, found);
    memcpy(value, found, size);
done:
    return status;
}

jstatus_t jbuffer_set(jbuffer_t *buffer, const int64_t *indices, const void *value) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));

    buffer_element_t element = {0};
    int64_t offset = 0;
    JTRY_RETURN(buffer_check_element(buffer, indices, value, __func__, &element, &offset));

    if (element.origin != JI_ORIGIN_STORED)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "%s: element (%lld, %lld) is outside of the stored triangle", __func__,
                       (long long)indices[0], (long long)indices[1]);

    if (ji_buffer_kind(buffer) == JBUFFER_DISTRIBUTED) {
        const ji_storage_t *storage = buffer->storage;
        const jdistribution_t *whole = &storage->distribution;
        const int64_t row = buffer->starts[0] + element.indices[0],
                      column = buffer->starts[1] + element.indices[1];
        if (jdistribution_owner(whole, 0, row) != whole->coordinates[0] ||
            jdistribution_owner(whole, 1, column) != whole->coordinates[1])
            return JSTATUS_SUCCESS;
        offset = jdistribution_to_local(whole, 0, row) +
                 jdistribution_to_local(whole, 1, column) * storage->leading_dimension;
    } else if (!ji_buffer_writes(buffer)) {
        return JSTATUS_SUCCESS;
    }

    return buffer_transfer(buffer,
                           (char *)ji_buffer_data(buffer) +
                               (size_t)offset * jhandle_sizeof_datatype(ji_buffer_type(buffer)),
                           value);
}
