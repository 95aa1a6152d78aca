/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Buffers made from other buffers, by copy and by move.
 *
 * A copy of one type is ji_buffer_copy() into new memory. Another type is converted on the way
 * where that is from host memory to host memory of this process. Where a device or other processes
 * take part, each process first converts what it has of the source, as the source is distributed,
 * and that is copied:
 *
 *     source on a device --> image on the host --> converted, described as the source --> copy
 *
 * A move takes the source's memory as it lies, by exchanging the allocator that the storage belongs
 * to, or else copies and lets go of the source. Whether it can is agreed upon: all or none. */

#include "buffer/walk.h"

#include "device/device.h"

/* ---- Copies of other types ---- */

/* What this process has of a source, converted in host memory. */
typedef struct conversion {
    /* Of the source's kind and distribution, of the new type. */
    ji_construct_descriptor_t descriptor;
    jallocator_t *scratch;
    void *memory;
    size_t bytes;
} conversion_t;

/* Whether this process's contents of the source are looked at. */
static bool convert_reads(const jbuffer_t *made, const jbuffer_t *source) {
    const jruntime_t *runtime = ji_buffer_runtime(made);
    return ji_buffer_kind(source) != JBUFFER_LOCAL || ji_buffer_kind(made) == JBUFFER_LOCAL ||
           runtime->info.rank == 0;
}

/* source on any device --> image on the host, of a source on another device --> converted */
static jstatus_t convert_source(const ji_construct_t *construct, const jbuffer_t *source,
                                conversion_t *conversion) {
    const jbuffer_t *made = construct->made;
    const bool distributed = ji_buffer_kind(source) == JBUFFER_DISTRIBUTED;
    ji_elements_t from = distributed ? ji_buffer_part_elements(source) : ji_buffer_elements(source);
    ji_construct_descriptor_t *descriptor = &conversion->descriptor;

    descriptor->allocator = *ji_buffer_allocator(source);
    descriptor->allocator.options.type = ji_buffer_type(made);
    descriptor->allocator.options.device = jdevice_host();
    descriptor->allocator.options.shared_on_node = false;

    descriptor->storage = *source->storage;
    descriptor->storage.allocator = &descriptor->allocator;
    descriptor->storage.segment = NULL;

    descriptor->buffer = *source;
    descriptor->buffer.storage = &descriptor->storage;

    jstatus_t status = JSTATUS_SUCCESS;
    ji_elements_t to = {jdevice_host(), ji_buffer_type(made), from.layout, NULL};

    int64_t count = 0;
    JTRY(jlayout_init(&to.layout, from.layout.rank, from.layout.extents, JORDER_COLUMN_MAJOR));
    to.layout.structure = from.layout.structure;
    JTRY(jlayout_get_count(&to.layout, &count));

    if (count > 0 && convert_reads(made, source)) {
        ji_elements_t image = {jdevice_host(), from.type, to.layout, NULL};
        size_t to_bytes, image_bytes = 0;
        const bool elsewhere = jdevice_kind(from.device) != JDEVICE_HOST;

        JTRY(jlayout_get_bytes(&to.layout, to.type, &to_bytes));
        to_bytes = ji_align_bytes(to_bytes);
        if (elsewhere) {
            JTRY(jlayout_get_bytes(&to.layout, from.type, &image_bytes));
            image_bytes = ji_align_bytes(image_bytes);
        }

        conversion->bytes =
            to_bytes + image_bytes + (elsewhere ? ji_elements_copy_bytes(&image, &from) : 0);
        JTRY(ji_construct_scratch(construct, &conversion->scratch));
        JTRY(jallocator_allocate(conversion->scratch, conversion->bytes, JI_ALIGNMENT, NULL,
                                 &conversion->memory));

        to.data = conversion->memory;

        if (elsewhere) {
            image.data = (char *)conversion->memory + to_bytes;
            JTRY(ji_elements_copy(&image, &from, NULL, (char *)image.data + image_bytes));
            JTRY(jstream_synchronize(from.device, NULL));
            from = image;
        }

        (void)ji_elements_copy_host(&to, &from); /* has been looked at before */
    }

    if (distributed)
        descriptor->storage.leading_dimension = to.layout.strides[1];
    else
        descriptor->buffer.layout = to.layout;
    descriptor->storage.pointer = to.data;
    descriptor->buffer.offset = 0;
done:
    return status;
}

/* The layout of a copy. */
static jlayout_t convert_layout(const jbuffer_allocator_t *allocator, const jbuffer_t *source) {
    jlayout_t layout = {.rank = 0};
    (void)jlayout_init(&layout, source->layout.rank, source->layout.extents, JORDER_COLUMN_MAJOR);

    layout.structure = source->layout.structure;
    if (ji_buffer_kind(source) == JBUFFER_DISTRIBUTED && ji_buffer_allocator(source) == allocator)
        for (int d = 0; d < layout.rank; ++d)
            layout.blocks[d] = source->storage->distribution.blocks[d];
    return layout;
}

/* Looks at the allocator and the source of a conversion. True: the call goes on with *status, so
 * that all processes hear of an error; false: it ends with it, after those who can be asked have
 * agreed. */
static bool convert_check(jbuffer_allocator_t *allocator, const jbuffer_t *source,
                          const char *caller, jstatus_t *status) {
    const jstatus_t first = ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, caller);
    const jstatus_t second = ji_object_check(source, JI_OBJECT_BUFFER, caller);
    if (first == JSTATUS_SUCCESS && second == JSTATUS_SUCCESS) {
        const bool differ = ji_buffer_runtime(source) != allocator->runtime;
        if (differ && allocator->options.kind != JBUFFER_LOCAL &&
            ji_buffer_kind(source) != JBUFFER_LOCAL)
            *status =
                ji_fail(JSTATUS_INVALID_VALUE, "%s: the two are of different runtimes", caller);
        if (*status == JSTATUS_SUCCESS)
            *status = ji_buffer_check_contents(source, caller);
        return true;
    }

    *status = first != JSTATUS_SUCCESS ? first : second;
    if (first == JSTATUS_SUCCESS)
        *status = ji_buffer_agree(allocator, *status);
    else if (second == JSTATUS_SUCCESS)
        *status = ji_buffer_agree(ji_buffer_allocator(source), *status);
    return false;
}

jstatus_t jbuffer_construct_copy(jbuffer_allocator_t *allocator, const jbuffer_t *source,
                                 jbuffer_t **buffer) {
    jstatus_t status = ji_construct_check_out(buffer, __func__);
    if (!convert_check(allocator, source, __func__, &status))
        return status;

    ji_construct_t construct;
    conversion_t conversion = {.memory = NULL};
    const jdatatype_t from = ji_buffer_type(source), to = allocator->options.type;

    const bool narrows = ji_type_is_complex(from) && !ji_type_is_complex(to);
    if (status == JSTATUS_SUCCESS && narrows)
        status = ji_fail(JSTATUS_INVALID_VALUE,
                         "%s: the source's elements of %s have an imaginary part, the allocator's "
                         "of %s have none",
                         __func__, jdatatype_name(from), jdatatype_name(to));

    const jlayout_t layout = convert_layout(allocator, source);
    status = ji_construct_begin(&construct, allocator, &layout, source, status);
    if (construct.allocator != NULL) {
        /* On the host elements are converted where they are copied, unless they are sent. */
        const bool apart =
            from != to &&
            (construct.made == NULL || ji_buffer_kind(source) == JBUFFER_DISTRIBUTED ||
             ji_buffer_kind(construct.made) == JBUFFER_DISTRIBUTED ||
             jdevice_kind(ji_buffer_device(source)) != JDEVICE_HOST ||
             jdevice_kind(ji_buffer_device(construct.made)) != JDEVICE_HOST);

        if (apart && status == JSTATUS_SUCCESS)
            status = convert_source(&construct, source, &conversion);
        status =
            ji_construct_copy(&construct, apart ? &conversion.descriptor.buffer : source, status);
    }

    if (conversion.memory != NULL)
        (void)jallocator_deallocate(conversion.scratch, conversion.memory, conversion.bytes, NULL);
    return ji_construct_end(&construct, status, buffer);
}

/* ---- Moves ---- */

/* Whether what the one holds on a single process is what the other would, as it lies. */
static bool move_fits(const jbuffer_allocator_t *allocator, const jbuffer_t *source) {
    const jlayout_t *layout = &source->layout;
    if (allocator->options.kind != JBUFFER_DISTRIBUTED)
        return true;
    return layout->rank <= 2 && jlayout_is_packed(layout) &&
           jlayout_has_order(layout, JORDER_COLUMN_MAJOR) &&
           (layout->rank < 2 || layout->strides[0] <= layout->strides[1]) &&
           ji_buffer_data(source) == source->storage->pointer;
}

static bool move_is_possible(const jbuffer_allocator_t *allocator, const jbuffer_t *source) {
    const ji_storage_t *storage = source->storage;
    const jbuffer_allocator_options_t *to = &allocator->options,
                                      *from = &storage->allocator->options;
    const bool wrapped =
        storage->pointer != NULL && storage->from == NULL && storage->segment == NULL;

    if (atomic_load(&source->object.references[JI_OWNER_PROGRAM]) != 1 ||
        atomic_load(&storage->references) != 1 || wrapped ||
        allocator->runtime != storage->allocator->runtime || to->device != from->device ||
        to->type != from->type || ji_buffer_is_shared_kind(to) != ji_buffer_is_shared_kind(from))
        return false;

    if (to->kind == from->kind)
        return to->kind != JBUFFER_DISTRIBUTED ||
               (to->grid[0] == from->grid[0] && to->grid[1] == from->grid[1] &&
                to->blocks[0] == from->blocks[0] && to->blocks[1] == from->blocks[1]);

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
    const bool was = before->options.kind == JBUFFER_DISTRIBUTED,
               is = allocator->options.kind == JBUFFER_DISTRIBUTED;
    jlayout_t *layout = &source->layout;

    if (was && !is) { /* a view of a matrix that is here as a whole */
        source->offset = source->starts[0] + source->starts[1] * storage->leading_dimension;
        if (layout->rank > 0)
            layout->strides[0] = 1;
        if (layout->rank > 1)
            layout->strides[1] = storage->leading_dimension;
        source->starts[0] = source->starts[1] = 0;
    } else if (is && !was) {
        source->offset = 0; /* as it is, but where there are no elements */
        storage->distribution = ji_buffer_distribution(allocator, layout);
        storage->leading_dimension =
            layout->rank > 0 && layout->extents[0] > 1 ? layout->extents[0] : 1;
    }

    (void)ji_buffer_allocator_hold(allocator);
    storage->allocator = allocator;
    (void)ji_buffer_allocator_drop(before);
}

/* Whether all can move, or none does: that one cannot is an agreement, too. What is exchanged is a
 * status, and "perf degraded", no error, is what one says that has to copy. */
static jstatus_t move_agree(const jbuffer_allocator_t *allocator, const jbuffer_t *source,
                            jstatus_t status, bool *moves) {
    if (status == JSTATUS_SUCCESS && !move_is_possible(allocator, source))
        status = JSTATUS_PERF_DEGRADED;

    const uint64_t arguments = ji_arguments_add_allocator(0, &allocator->options);
    status = ji_buffer_agree_on(ji_construct_participants(allocator, source), status,
                                ji_arguments_add_buffer(arguments, source));

    *moves = status == JSTATUS_SUCCESS;
    return status == JSTATUS_PERF_DEGRADED ? JSTATUS_SUCCESS : status;
}

jstatus_t jbuffer_construct_move(jbuffer_allocator_t *allocator, jbuffer_t **source,
                                 jbuffer_t **buffer, bool *reused) {
    JREQUIRE(source != NULL, JSTATUS_INVALID_POINTER);
    jstatus_t status = ji_construct_check_out(buffer, __func__);
    if (!convert_check(allocator, *source, __func__, &status))
        return status;

    jbuffer_t *moved = *source, *made = NULL;
    jbuffer_allocator_t *chosen = NULL;
    bool again = false;

    if (allocator->options.kind == JBUFFER_BEST) {
        const jlayout_t layout = convert_layout(allocator, moved);
        JTRY(ji_buffer_agree(allocator, status));
        JTRY(jbuffer_allocator_choose(allocator, &layout, 0, NULL, &chosen));
        allocator = chosen;
    }

    JTRY(move_agree(allocator, moved, status, &again));
    if (again) {
        move_take(allocator, moved);
        made = moved;
    } else {
        JTRY(jbuffer_construct_copy(allocator, moved, &made));
        (void)jbuffer_release(moved);
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
