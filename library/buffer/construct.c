/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Making buffers: allocate, wrap, from a value, from lists, by copy and by move (function.c: by a function).
 *
 * All go the same way: begin (look at the arguments, take memory), fill, end (agree, and give the buffer or take the
 * memory back). Where several processes make one buffer together each goes this way to its end, whatever happened to it:
 *
 *     rank 0   begin -- fill -------------- agree: memory error -- give back
 *     rank 1   begin: memory error -------- agree: memory error
 *     rank 2   begin -- fill -------------- agree: memory error -- give back
 *
 * and where filling is itself something that they do together they agree before it, too. Whoever has agreed on an error
 * agrees on nothing more. So no process waits for one that has left.
 *
 * Sources that are no buffers, lists and the temporaries of conversions, are dressed as buffers that only this file sees
 * (construct_dress_t): memory, layout and allocator on the stack, so that there is one way to copy and it cannot fail for
 * want of bookkeeping. */

#include "buffer/buffer.h"

#include <string.h>

#include "device/device.h"
#include "jalloc/process.h"

#define CONSTRUCT_ALIGNMENT 64

/* ---- Begin and end ----------------------------------------------------------------------------------------------- */

jstatus_t ji_construct_agree(ji_construct_t *construct, jstatus_t status) {
    if (construct->over)
        return status;
    status = ji_buffer_agree(construct->party, status);
    construct->over = status != JSTATUS_SUCCESS;
    return status;
}

/* Who has to agree: the buffer that is made, or if that is everybody's own the one that it is made from. */
static const jbuffer_allocator_t *construct_party(const jbuffer_allocator_t *allocator, const jbuffer_t *source) {
    return source == NULL || ji_buffer_is_collective(allocator) ? allocator : ji_buffer_allocator(source);
}

jstatus_t ji_construct_begin(ji_construct_t *construct, jbuffer_allocator_t *allocator, const jlayout_t *layout,
                             const jbuffer_t *source, jstatus_t status) {
    *construct = (ji_construct_t){.party = construct_party(allocator, source)};
    if (status == JSTATUS_SUCCESS)
        status = jlayout_check(layout);
    if (allocator->options.kind == JBUFFER_BEST) {
        JTRY(ji_construct_agree(construct, status));
        status = jbuffer_allocator_choose(allocator, layout, 0, NULL, &construct->allocator);
        if (status == JSTATUS_SUCCESS)
            construct->party = construct_party(construct->allocator, source);
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

/* Of an allocator that is live: what every function asks of its result pointer. */
static jstatus_t construct_check_out(const void *out, const char *caller) {
    return out != NULL ? JSTATUS_SUCCESS : ji_fail(JSTATUS_INVALID_POINTER, "%s: requires buffer != NULL", caller);
}

/* ---- Allocate, wrap ---------------------------------------------------------------------------------------------- */

jstatus_t jbuffer_allocate(jbuffer_allocator_t *allocator, const jlayout_t *layout, jbuffer_t **buffer) {
    jstatus_t status = ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__);
    if (status != JSTATUS_SUCCESS)
        return status;
    ji_construct_t construct;
    status = ji_construct_begin(&construct, allocator, layout, NULL, construct_check_out(buffer, __func__));
    return ji_construct_end(&construct, status, buffer);
}

jstatus_t jbuffer_wrap(jbuffer_allocator_t *allocator, const jlayout_t *layout, void *pointer, jbuffer_t **buffer) {
    jstatus_t status = ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__);
    if (status != JSTATUS_SUCCESS)
        return status;
    if (allocator->options.kind == JBUFFER_BEST || ji_buffer_is_shared_kind(&allocator->options))
        return ji_fail(JSTATUS_NOT_IMPLEMENTED,
                       "%s: only by an allocator whose buffers are one process's, on one device", __func__);
    ji_storage_t *storage = NULL;
    size_t bytes;
    JTRY(jbuffer_allocator_local_bytes(allocator, layout, &bytes));
    JREQUIRE(buffer != NULL && (pointer != NULL || bytes == 0), JSTATUS_INVALID_POINTER);
    JTRY(ji_storage_create(allocator, layout, pointer, &storage));
    JTRY(ji_buffer_make(storage, layout, buffer));
    storage = NULL;
done:
    if (storage != NULL)
        (void)ji_storage_release(storage);
    return status;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* Every element of this process's new memory. What lies beside them there is nobody's, so it may become the same. */
static jstatus_t construct_fill(jbuffer_t *made, const void *value) {
    static const _Alignas(16) char zeros[16];
    const ji_storage_t *storage = made->storage;
    jdevice_t *device = ji_buffer_device(made);
    const size_t size = jhandle_sizeof_datatype(ji_buffer_type(made));
    const bool zero = value == NULL || memcmp(value, zeros, size) == 0;
    if (storage->pointer == NULL || !ji_buffer_writes(made) || (zero && storage->zeroed))
        return JSTATUS_SUCCESS;
    if (jdevice_kind(device) == JDEVICE_HOST) {
        const ji_place_t place =
            ji_buffer_kind(made) == JBUFFER_DISTRIBUTED ? ji_buffer_part_place(made) : ji_buffer_place(made);
        ji_place_fill_host(&place, zero ? NULL : value);
        return JSTATUS_SUCCESS;
    }
    jstatus_t status =
        jdevice_fill(device, NULL, storage->pointer, zero ? zeros : value, size, storage->size_bytes / size);
    return status == JSTATUS_SUCCESS ? jstream_synchronize(device, NULL) : status;
}

jstatus_t jbuffer_construct_value(jbuffer_allocator_t *allocator, const jlayout_t *layout, const void *value,
                                  jbuffer_t **buffer) {
    jstatus_t status = ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__);
    if (status != JSTATUS_SUCCESS)
        return status;
    ji_construct_t construct;
    status = ji_construct_begin(&construct, allocator, layout, NULL, construct_check_out(buffer, __func__));
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
    const ji_place_t number = {jdevice_host(), JDATATYPE_F64, {.rank = 0}, &real};
    const ji_place_t converted = {jdevice_host(), ji_buffer_type(made), {.rank = 0}, one};
    jstatus_t status = ji_place_copy_host(&converted, &number);

    int64_t count = INT64_MAX, step = 0;
    for (int d = 0; d < layout->rank; ++d) {
        count = layout->extents[d] < count ? layout->extents[d] : count;
        step += layout->strides[d];
    }
    for (int64_t i = 0; status == JSTATUS_SUCCESS && i < count; ++i) {
        int64_t at = i * step;
        if (distributed) {
            if (jdistribution_owner(whole, 0, i) != whole->place[0] ||
                jdistribution_owner(whole, 1, i) != whole->place[1])
                continue;
            at = jdistribution_to_local(whole, 0, i) + jdistribution_to_local(whole, 1, i) * storage->leading_dimension;
        }
        status = jdevice_fill(device, NULL, (char *)made->data + (size_t)at * size, one, size, 1);
    }
    return status == JSTATUS_SUCCESS ? jstream_synchronize(device, NULL) : status;
}

jstatus_t jbuffer_construct_identity(jbuffer_allocator_t *allocator, const jlayout_t *layout, jbuffer_t **buffer) {
    jstatus_t status = ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__);
    if (status != JSTATUS_SUCCESS)
        return status;
    status = construct_check_out(buffer, __func__);
    if (status == JSTATUS_SUCCESS && layout != NULL && layout->rank < 2)
        status = ji_fail(JSTATUS_INVALID_VALUE, "%s: rank %d has no diagonal", __func__, layout->rank);
    ji_construct_t construct;
    status = ji_construct_begin(&construct, allocator, layout, NULL, status);
    if (status == JSTATUS_SUCCESS)
        status = construct_fill(construct.made, NULL);
    if (status == JSTATUS_SUCCESS)
        status = construct_set_diagonal(construct.made);
    return ji_construct_end(&construct, status, buffer);
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

/* Memory that is no buffer, dressed as one. */
typedef struct construct_dress {
    jbuffer_allocator_t allocator;
    ji_storage_t storage;
    jbuffer_t buffer;
} construct_dress_t;

/* As a local buffer of the host, of the allocator's type. */
static void construct_dress_local(construct_dress_t *dress, const jbuffer_allocator_t *allocator,
                                  const jlayout_t *layout, const void *data) {
    memset(dress, 0, sizeof *dress);
    dress->allocator.runtime = allocator->runtime;
    dress->allocator.options.kind = JBUFFER_LOCAL;
    dress->allocator.options.type = allocator->options.type;
    dress->allocator.options.device = jdevice_host();
    dress->storage.allocator = &dress->allocator;
    dress->storage.pointer = (void *)(uintptr_t)data;
    dress->buffer.storage = &dress->storage;
    dress->buffer.layout = *layout;
    dress->buffer.data = dress->storage.pointer;
}

/* Copies into the buffer that is made. Collective where ji_buffer_copy() is; each process has come here, with its status
 * so far. */
static jstatus_t construct_copy_into(ji_construct_t *construct, jbuffer_t *source, jstatus_t status) {
    jallocator_t *scratch = NULL;
    void *workspace = NULL;
    size_t best = 0, least = 0, bytes = 0;
    const bool together = construct->party != NULL && ji_buffer_is_collective(construct->party);
    if (status == JSTATUS_SUCCESS)
        status = ji_buffer_copy_bytes(construct->made, source, &best, &least);
    if (status == JSTATUS_SUCCESS)
        status = ji_construct_scratch(construct, &scratch);
    if (status == JSTATUS_SUCCESS) {
        status = jallocator_allocate(scratch, bytes = best, CONSTRUCT_ALIGNMENT, NULL, &workspace);
        if (status != JSTATUS_SUCCESS && least < best)
            status = jallocator_allocate(scratch, bytes = least, CONSTRUCT_ALIGNMENT, NULL, &workspace);
    }
    if (together)
        status = ji_construct_agree(construct, status);
    if (status == JSTATUS_SUCCESS)
        status = ji_buffer_copy(construct->made, source, NULL, workspace, bytes);
    if (workspace != NULL)
        (void)jallocator_deallocate(scratch, workspace, bytes, NULL);
    return status;
}

jstatus_t jbuffer_construct_list(jbuffer_allocator_t *allocator, int rank, const int64_t *extents, jdatatype_t type,
                                 const void *values, jbuffer_t **buffer) {
    jstatus_t status = ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__);
    if (status != JSTATUS_SUCCESS)
        return status;
    ji_construct_t construct;
    construct_dress_t list;
    jlayout_t layout = {.rank = 0}, nested = layout;
    int64_t count = 0;
    status = construct_check_out(buffer, __func__);
    if (status == JSTATUS_SUCCESS && type != allocator->options.type)
        status = ji_fail(JSTATUS_INVALID_VALUE, "%s: the list has type %s, the allocator %s", __func__,
                         jdatatype_name(type), jdatatype_name(allocator->options.type));
    if (status == JSTATUS_SUCCESS)
        status = jlayout_init(&layout, rank, extents, JORDER_COLUMN_MAJOR);
    if (status == JSTATUS_SUCCESS)
        status = jlayout_init(&nested, rank, extents, JORDER_ROW_MAJOR);
    if (status == JSTATUS_SUCCESS)
        status = jlayout_count(&layout, &count);
    if (status == JSTATUS_SUCCESS && values == NULL && count > 0)
        status = ji_fail(JSTATUS_INVALID_POINTER, "%s: requires values != NULL", __func__);
    construct_dress_local(&list, allocator, &nested, values);
    status = ji_construct_begin(&construct, allocator, &layout, NULL, status);
    if (construct.allocator != NULL)
        status = construct_copy_into(&construct, &list.buffer, status);
    return ji_construct_end(&construct, status, buffer);
}

/* ---- Copies of other types --------------------------------------------------------------------------------------- */

/* What this process has of a source, converted in host memory. */
typedef struct construct_conversion {
    construct_dress_t dress; /* of the source's kind and distribution, of the new type */
    jallocator_t *scratch;
    void *memory;
    size_t bytes;
} construct_conversion_t;

/* Whether this process's contents of the source are looked at. */
static bool construct_reads(const jbuffer_t *made, const jbuffer_t *source) {
    const jruntime_t *runtime = ji_buffer_runtime(made);
    return ji_buffer_kind(source) != JBUFFER_LOCAL || ji_buffer_kind(made) == JBUFFER_LOCAL || runtime->info.rank == 0;
}

/*     source, on any device  -->  image on the host (of a source on another device)  -->  converted        */
static jstatus_t construct_convert(const ji_construct_t *construct, const jbuffer_t *source,
                                   construct_conversion_t *conversion) {
    const jbuffer_t *made = construct->made;
    const bool distributed = ji_buffer_kind(source) == JBUFFER_DISTRIBUTED;
    ji_place_t from = distributed ? ji_buffer_part_place(source) : ji_buffer_place(source);
    construct_dress_t *dress = &conversion->dress;
    dress->allocator = *ji_buffer_allocator(source);
    dress->allocator.options.type = ji_buffer_type(made);
    dress->allocator.options.device = jdevice_host();
    dress->allocator.options.shared_on_node = false;
    dress->storage = *source->storage;
    dress->storage.allocator = &dress->allocator;
    dress->storage.segment = NULL;
    dress->buffer = *source;
    dress->buffer.storage = &dress->storage;

    jstatus_t status = JSTATUS_SUCCESS;
    ji_place_t to = {jdevice_host(), ji_buffer_type(made), from.layout, NULL};
    int64_t count = 0;
    JTRY(jlayout_init(&to.layout, from.layout.rank, from.layout.extents, JORDER_COLUMN_MAJOR));
    to.layout.structure = from.layout.structure;
    JTRY(jlayout_count(&to.layout, &count));
    if (count > 0 && construct_reads(made, source)) {
        ji_place_t image = {jdevice_host(), from.type, to.layout, NULL};
        size_t to_bytes, image_bytes = 0;
        const bool elsewhere = jdevice_kind(from.device) != JDEVICE_HOST;
        JTRY(jlayout_bytes(&to.layout, to.type, &to_bytes));
        to_bytes = (to_bytes + CONSTRUCT_ALIGNMENT - 1) & ~(size_t)(CONSTRUCT_ALIGNMENT - 1);
        if (elsewhere) {
            JTRY(jlayout_bytes(&to.layout, from.type, &image_bytes));
            image_bytes = (image_bytes + CONSTRUCT_ALIGNMENT - 1) & ~(size_t)(CONSTRUCT_ALIGNMENT - 1);
        }
        conversion->bytes = to_bytes + image_bytes + (elsewhere ? ji_place_copy_bytes(&image, &from) : 0);
        JTRY(ji_construct_scratch(construct, &conversion->scratch));
        JTRY(jallocator_allocate(conversion->scratch, conversion->bytes, CONSTRUCT_ALIGNMENT, NULL,
                                 &conversion->memory));
        to.data = conversion->memory;
        if (elsewhere) {
            image.data = (char *)conversion->memory + to_bytes;
            JTRY(ji_place_copy(&image, &from, NULL, (char *)image.data + image_bytes));
            JTRY(jstream_synchronize(from.device, NULL));
            from = image;
        }
        JTRY(ji_place_copy_host(&to, &from));
    }
    if (distributed)
        dress->storage.leading_dimension = to.layout.strides[1];
    else
        dress->buffer.layout = to.layout;
    dress->storage.pointer = dress->buffer.data = to.data;
done:
    return status;
}

/* The layout of a copy. */
static jlayout_t construct_copy_layout(const jbuffer_allocator_t *allocator, const jbuffer_t *source) {
    jlayout_t layout = {.rank = 0};
    (void)jlayout_init(&layout, source->layout.rank, source->layout.extents, JORDER_COLUMN_MAJOR);
    layout.structure = source->layout.structure;
    if (ji_buffer_kind(source) == JBUFFER_DISTRIBUTED && ji_buffer_allocator(source) == allocator)
        for (int d = 0; d < layout.rank; ++d)
            layout.blocks[d] = source->storage->distribution.blocks[d];
    return layout;
}

/* Looks at the allocator and the source of a conversion. True: the call goes on with *status, so that all processes hear
 * of an error; false: it ends with it, after those who can be asked have agreed. */
static bool construct_check(jbuffer_allocator_t *allocator, const jbuffer_t *source, const char *caller,
                            jstatus_t *status) {
    const jstatus_t first = ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, caller);
    const jstatus_t second = ji_object_check(source, JI_OBJECT_BUFFER, caller);
    if (first == JSTATUS_SUCCESS && second == JSTATUS_SUCCESS) {
        const bool differ = ji_buffer_runtime(source) != allocator->runtime;
        if (differ && allocator->options.kind != JBUFFER_LOCAL && ji_buffer_kind(source) != JBUFFER_LOCAL)
            *status = ji_fail(JSTATUS_INVALID_VALUE, "%s: the two are of different runtimes", caller);
        return true;
    }
    *status = first != JSTATUS_SUCCESS ? first : second;
    if (first == JSTATUS_SUCCESS)
        *status = ji_buffer_agree(allocator, *status);
    else if (second == JSTATUS_SUCCESS)
        *status = ji_buffer_agree(ji_buffer_allocator(source), *status);
    return false;
}

jstatus_t jbuffer_construct_copy(jbuffer_allocator_t *allocator, jbuffer_t *source, jbuffer_t **buffer) {
    jstatus_t status = construct_check_out(buffer, __func__);
    if (!construct_check(allocator, source, __func__, &status))
        return status;
    ji_construct_t construct;
    construct_conversion_t conversion = {.memory = NULL};
    const jdatatype_t from = ji_buffer_type(source), to = allocator->options.type;
    const bool narrows =
        (from == JDATATYPE_F32_C || from == JDATATYPE_F64_C) && to != JDATATYPE_F32_C && to != JDATATYPE_F64_C;
    if (status == JSTATUS_SUCCESS && narrows)
        status = ji_fail(JSTATUS_INVALID_VALUE, "%s: from %s to %s: what of the imaginary part?", __func__,
                         jdatatype_name(from), jdatatype_name(to));
    const jlayout_t layout = construct_copy_layout(allocator, source);
    status = ji_construct_begin(&construct, allocator, &layout, source, status);
    if (construct.allocator != NULL) {
        /* On the host elements are converted where they are copied, unless they are sent. */
        const bool apart = from != to && (construct.made == NULL || ji_buffer_kind(source) == JBUFFER_DISTRIBUTED ||
                                          ji_buffer_kind(construct.made) == JBUFFER_DISTRIBUTED ||
                                          jdevice_kind(ji_buffer_device(source)) != JDEVICE_HOST ||
                                          jdevice_kind(ji_buffer_device(construct.made)) != JDEVICE_HOST);
        if (apart && status == JSTATUS_SUCCESS)
            status = construct_convert(&construct, source, &conversion);
        status = construct_copy_into(&construct, apart ? &conversion.dress.buffer : source, status);
    }
    if (conversion.memory != NULL)
        (void)jallocator_deallocate(conversion.scratch, conversion.memory, conversion.bytes, NULL);
    return ji_construct_end(&construct, status, buffer);
}

/* ---- Moves ------------------------------------------------------------------------------------------------------- */

/* Whether what the one holds on a single process is what the other would, as it lies. */
static bool move_fits(const jbuffer_allocator_t *allocator, const jbuffer_t *source) {
    const jlayout_t *layout = &source->layout;
    if (allocator->options.kind != JBUFFER_DISTRIBUTED)
        return true;
    return layout->rank <= 2 && jlayout_is_packed(layout) && jlayout_has_order(layout, JORDER_COLUMN_MAJOR) &&
           (layout->rank < 2 || layout->strides[0] <= layout->strides[1]) && source->data == source->storage->pointer;
}

static bool move_is_possible(const jbuffer_allocator_t *allocator, const jbuffer_t *source) {
    const ji_storage_t *storage = source->storage;
    const jbuffer_allocator_options_t *to = &allocator->options, *from = &storage->allocator->options;
    const bool wrapped = storage->pointer != NULL && storage->from == NULL && storage->segment == NULL;
    if (atomic_load(&source->object.references) != 1 || atomic_load(&storage->references) != 1 || wrapped ||
        allocator->runtime != storage->allocator->runtime || to->device != from->device || to->type != from->type ||
        ji_buffer_is_shared_kind(to) != ji_buffer_is_shared_kind(from))
        return false;
    if (to->kind == from->kind)
        return to->kind != JBUFFER_DISTRIBUTED ||
               (to->grid[0] == from->grid[0] && to->grid[1] == from->grid[1] && to->blocks[0] == from->blocks[0] &&
                to->blocks[1] == from->blocks[1]);
    if (storage->window != NULL)
        return false;
    if (allocator->runtime->info.processes == 1)
        return move_fits(allocator, source);
    return from->kind == JBUFFER_REPLICATED && to->kind == JBUFFER_LOCAL;
}

/* Another allocator for the same memory. */
static void move_take(jbuffer_allocator_t *allocator, jbuffer_t *source) {
    ji_storage_t *storage = source->storage;
    jbuffer_allocator_t *before = storage->allocator;
    const bool was = before->options.kind == JBUFFER_DISTRIBUTED, is = allocator->options.kind == JBUFFER_DISTRIBUTED;
    jlayout_t *layout = &source->layout;
    if (was && !is) { /* a view of a matrix that is here as a whole */
        int64_t count = 0, offset = source->starts[0] + source->starts[1] * storage->leading_dimension;
        if (layout->rank > 0)
            layout->strides[0] = 1;
        if (layout->rank > 1)
            layout->strides[1] = storage->leading_dimension;
        (void)jlayout_count(layout, &count);
        source->data = count == 0
                           ? NULL
                           : (char *)storage->pointer + (size_t)offset * jhandle_sizeof_datatype(before->options.type);
        source->starts[0] = source->starts[1] = 0;
    } else if (is && !was) {
        storage->distribution = ji_buffer_distribution(allocator, layout);
        storage->leading_dimension = layout->rank > 0 && layout->extents[0] > 1 ? layout->extents[0] : 1;
    }
    (void)jbuffer_allocator_retain(allocator);
    storage->allocator = allocator;
    (void)jbuffer_allocator_release(before);
}

jstatus_t jbuffer_construct_move(jbuffer_allocator_t *allocator, jbuffer_t **source, jbuffer_t **buffer, bool *reused) {
    JREQUIRE(source != NULL, JSTATUS_INVALID_POINTER);
    jstatus_t status = construct_check_out(buffer, __func__);
    if (!construct_check(allocator, *source, __func__, &status))
        return status;
    jbuffer_t *moved = *source, *made = NULL;
    jbuffer_allocator_t *chosen = NULL;
    bool again = false;
    if (allocator->options.kind == JBUFFER_BEST) {
        const jlayout_t layout = construct_copy_layout(allocator, moved);
        JTRY(ji_buffer_agree(allocator, status));
        JTRY(jbuffer_allocator_choose(allocator, &layout, 0, NULL, &chosen));
        allocator = chosen;
    }
    /* All or none: that one cannot is an agreement, too. */
    again = status == JSTATUS_SUCCESS && move_is_possible(allocator, moved);
    if (status == JSTATUS_SUCCESS && !again)
        status = JSTATUS_PERF_DEGRADED;
    status = ji_buffer_agree(construct_party(allocator, moved), status);
    again = status == JSTATUS_SUCCESS;
    if (again) {
        move_take(allocator, moved);
        made = moved;
    } else if (status == JSTATUS_PERF_DEGRADED) {
        JTRY(jbuffer_construct_copy(allocator, moved, &made));
        (void)jbuffer_release(moved);
    } else {
        goto done;
    }
    *source = NULL;
    *buffer = made;
    if (reused != NULL)
        *reused = again;
done:
    if (chosen != NULL)
        (void)jbuffer_allocator_release(chosen);
    return status;
}
