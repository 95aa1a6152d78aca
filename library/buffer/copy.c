/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Copies: between elements on any devices, and between buffers of any kinds.
 *
 * A device's memory is copied to and from it in runs, because a runtime moves contiguous bytes
 * only. Where the two sides do not lie alike, elements are rearranged on the host, in the image of
 * what is on the device: the same elements in the same order without the holes.
 *
 *     device   |aaaa..|bbbb..|cccc..|         elements in memory: runs of 4, and holes that are
 *                                             somebody else's
 *                 \      \      \             each run a copy in stream order
 *     image    |aaaabbbbcccc|                 staging on the host
 *                     |                       elements.c: other strides, a structure
 *     host     |abcabcabcabc|
 *
 * Holes and the triangle that is not stored are neither read nor written: a slice may be beside one
 * that another thread is filling.
 *
 * Between kinds, this file knows what needs no more than the root's bytes for all: rank 0's local
 * buffer becomes a replicated one in place on rank 0 and is broadcast from there, as it lies where
 * that has no holes, otherwise in pieces that are packed into workspace. Where machines share one
 * copy only their first processes take part. Whatever is distributed is the transport's. */

#include "buffer/walk.h"

#include "device/device.h"

#define COPY_PIECE_BYTES ((size_t)1 << 20) /* of a replicated buffer that is not packed */

static bool elements_is_host(const ji_elements_t *elements) {
    return jdevice_kind(elements->device) == JDEVICE_HOST;
}

static int64_t elements_count(const ji_elements_t *elements) {
    int64_t count = 0;
    (void)jlayout_get_count(&elements->layout, &count);
    return count;
}

/* ---- Elements on devices ---- */

/* The same elements in the same order without holes. */
static jlayout_t elements_pack(const jlayout_t *layout) {
    jlayout_t packed = *layout;
    int order[JLAYOUT_MAX_RANK];
    int64_t stride = 1;

    ji_layout_sort(layout, order);
    for (int k = 0; k < layout->rank; ++k) {
        packed.strides[order[k]] = stride;
        stride *= layout->extents[order[k]] > 1 ? layout->extents[order[k]] : 1;
    }
    return packed;
}

static size_t elements_image_bytes(const ji_elements_t *elements) {
    return elements_is_host(elements) ? 0
                                      : ji_align_bytes((size_t)elements_count(elements) *
                                                       jhandle_sizeof_datatype(elements->type));
}

/* Whether the two are contiguous bytes with the elements in the same order, which the runtime of a
 * device can copy. */
static bool elements_is_alike(const ji_elements_t *a, const ji_elements_t *b) {
    const jlayout_t *to = &a->layout, *from = &b->layout;
    if (to->structure != JSTRUCTURE_GENERAL || from->structure != JSTRUCTURE_GENERAL ||
        !jlayout_is_packed(to) || !jlayout_is_packed(from))
        return false;

    for (int d = 0; d < to->rank; ++d)
        if (to->extents[d] > 1 && to->strides[d] != from->strides[d])
            return false;

    return elements_is_host(a) || elements_is_host(b) ||
           jdevice_kind(a->device) == jdevice_kind(b->device);
}

size_t ji_elements_copy_bytes(const ji_elements_t *destination, const ji_elements_t *source) {
    return elements_is_alike(destination, source)
               ? 0
               : elements_image_bytes(destination) + elements_image_bytes(source);
}

/* Copies the runs of elements between their device and their image, in stream order. Lines with
 * holes are copied element by element. */
static jstatus_t elements_copy_runs(const ji_elements_t *elements, const ji_elements_t *image,
                                    bool to_image, jstream_t *stream) {
    const size_t size = jhandle_sizeof_datatype(elements->type);
    ji_walk_t walk;
    ji_walk_layouts(&walk, 2, (const jlayout_t *const[]){&elements->layout, &image->layout});

    for (ji_walk_begin(&walk, 1); ji_walk_next(&walk);) {
        const int64_t *strides = walk.dimensions[0].strides;
        const bool is_run = strides[0] == 1 && strides[1] == 1;
        const int64_t step = is_run ? walk.count : 1;

        for (int64_t i = 0; i < walk.count; i += step) {
            char *on_device = (char *)elements->data + (size_t)(walk.at[0] + i * strides[0]) * size;
            char *in_image = (char *)image->data + (size_t)(walk.at[1] + i * strides[1]) * size;
            JTRY_RETURN(jdevice_copy(elements->device, stream, to_image ? in_image : on_device,
                                     to_image ? on_device : in_image, (size_t)step * size));
        }
    }

    return jstream_synchronize(elements->device, stream);
}

/* A copy on the host as work of a stream. */
typedef struct elements_work {
    ji_elements_t destination, source;
} elements_work_t;

static void elements_do_work(void *arguments) {
    elements_work_t *work = *(elements_work_t **)arguments;
    (void)ji_elements_copy_host(&work->destination, &work->source); /* has been looked at before */
    ji_metadata_free(work);
}

static jstatus_t elements_launch(const ji_elements_t *destination, const ji_elements_t *source,
                                 jstream_t *stream) {
    jstatus_t status = JSTATUS_SUCCESS;
    elements_work_t *work;
    JTRY_ALLOC(work = ji_metadata_alloc(sizeof *work));

    *work = (elements_work_t){*destination, *source};
    JTRY(jstream_launch(destination->device, stream, elements_do_work, &work, sizeof work));

    work = NULL;
done:
    ji_metadata_free(work);
    return status;
}

/* The stream, if it is the device's. */
static jstream_t *elements_stream(const ji_elements_t *elements, jstream_t *stream) {
    return jstream_device(stream) == elements->device ? stream : NULL;
}

jstatus_t ji_elements_copy(const ji_elements_t *destination, const ji_elements_t *source,
                           jstream_t *stream, void *staging) {
    JREQUIRE(jlayout_same_shape(&destination->layout, &source->layout), JSTATUS_INVALID_SIZE);

    const bool host = elements_is_host(destination) && elements_is_host(source);
    if (host && stream == NULL)
        return ji_elements_copy_host(destination, source);

    JREQUIRE(destination->type == source->type, JSTATUS_INVALID_VALUE);
    const size_t bytes = (size_t)elements_count(source) * jhandle_sizeof_datatype(source->type);
    if (bytes == 0)
        return JSTATUS_SUCCESS;

    if (host)
        return elements_launch(destination, source, stream);

    if (elements_is_alike(destination, source)) {
        const ji_elements_t *device = elements_is_host(destination) ? source : destination;
        return jdevice_copy(device->device, elements_stream(device, stream), destination->data,
                            source->data, bytes);
    }

    ji_elements_t to = *destination, from = *source;
    jstatus_t status = JSTATUS_SUCCESS;

    if (!elements_is_host(source)) {
        from =
            (ji_elements_t){jdevice_host(), source->type, elements_pack(&source->layout), staging};
        JTRY(elements_copy_runs(source, &from, true, elements_stream(source, stream)));
        staging = (char *)staging + elements_image_bytes(source);
    } else {
        JTRY(jstream_synchronize(destination->device, elements_stream(destination, stream)));
    }

    if (!elements_is_host(destination))
        to = (ji_elements_t){jdevice_host(), destination->type, elements_pack(&destination->layout),
                             staging};
    (void)ji_elements_copy_host(&to, &from); /* has been looked at above */
    if (!elements_is_host(destination))
        JTRY(elements_copy_runs(destination, &to, false, elements_stream(destination, stream)));
done:
    return status;
}

/* ---- Pieces ---- */

jlayout_t ji_layout_divide(const jlayout_t *layout, int64_t elements) {
    jlayout_t divided = *layout;
    int order[JLAYOUT_MAX_RANK];
    int64_t whole = 1;

    ji_layout_sort(layout, order);
    elements = elements > 0 ? elements : 1;

    for (int k = 0; k < layout->rank; ++k) {
        const int64_t extent = layout->extents[order[k]], room = elements / whole;
        divided.blocks[order[k]] = extent <= room ? 0 : room > 0 ? room : 1;
        whole = extent <= room ? whole * (extent > 1 ? extent : 1) : elements;
    }
    return divided;
}

ji_elements_t ji_elements_slice(const ji_elements_t *elements, const int64_t *starts,
                                const int64_t *extents) {
    ji_elements_t piece = *elements;
    int64_t offset = 0;

    for (int d = 0; d < elements->layout.rank; ++d) {
        piece.layout.extents[d] = extents[d];
        offset += starts[d] * elements->layout.strides[d];
    }

    piece.layout.structure = JSTRUCTURE_GENERAL;
    piece.data = (char *)elements->data + (size_t)offset * jhandle_sizeof_datatype(elements->type);
    return piece;
}

/* ---- Between buffers ---- */

/* Whose processes take part in a copy: those of the side that they have in common. A local side may
 * be of any runtime, so whoever needs to know is told this one. */
static jruntime_t *copy_runtime(const jbuffer_t *destination, const jbuffer_t *source) {
    return ji_buffer_runtime(ji_buffer_kind(destination) != JBUFFER_LOCAL ? destination : source);
}

static bool copy_is_distributed(const jbuffer_t *destination, const jbuffer_t *source) {
    return ji_buffer_kind(destination) == JBUFFER_DISTRIBUTED ||
           ji_buffer_kind(source) == JBUFFER_DISTRIBUTED;
}

/* Whether rank 0's contents have to be told to the others. */
static bool copy_replicates(const jbuffer_t *destination, const jbuffer_t *source) {
    return ji_buffer_kind(destination) == JBUFFER_REPLICATED &&
           ji_buffer_kind(source) == JBUFFER_LOCAL &&
           ji_buffer_runtime(destination)->info.processes > 1;
}

bool ji_buffer_copy_is_collective(const jbuffer_t *destination, const jbuffer_t *source) {
    return copy_is_distributed(destination, source) || ji_buffer_is_shared(destination) ||
           ji_buffer_is_shared(source) ||
           (ji_buffer_kind(destination) != ji_buffer_kind(source) &&
            copy_runtime(destination, source)->info.processes > 1);
}

/* Whether each process picks its part of what it has, in its own memory: nothing can fail, and
 * nobody need wait. */
static bool copy_is_everyones_own(const jbuffer_t *destination, const jbuffer_t *source) {
    return ji_buffer_kind(destination) == JBUFFER_DISTRIBUTED &&
           ji_buffer_kind(source) == JBUFFER_REPLICATED && !ji_buffer_is_shared(source) &&
           jdevice_kind(ji_buffer_device(destination)) == JDEVICE_HOST &&
           jdevice_kind(ji_buffer_device(source)) == JDEVICE_HOST;
}

/* Bytes of a piece of a replicated buffer that cannot be broadcast as it lies; 0 where it can. */
static size_t copy_piece_bytes(const ji_elements_t *whole) {
    if (jlayout_is_packed(&whole->layout))
        return 0;

    const size_t bytes = (size_t)elements_count(whole) * jhandle_sizeof_datatype(whole->type);
    return ji_align_bytes(bytes < COPY_PIECE_BYTES ? bytes : COPY_PIECE_BYTES);
}

jstatus_t ji_buffer_copy_bytes(const jbuffer_t *destination, const jbuffer_t *source, size_t *best,
                               size_t *least) {
    jruntime_t *runtime = copy_runtime(destination, source);
    if (copy_is_distributed(destination, source))
        return runtime->ops->copy_bytes(runtime, destination, source, best, least);

    const ji_elements_t to = ji_buffer_elements(destination), from = ji_buffer_elements(source);
    size_t bytes = ji_elements_copy_bytes(&to, &from);

    if (copy_replicates(destination, source)) {
        /* A piece, and of a device its image; not at the same time as the copy on rank 0. */
        const size_t piece = copy_piece_bytes(&to),
                     with_image = elements_is_host(&to) ? piece : 2 * piece;
        bytes = with_image > bytes ? with_image : bytes;
    }

    *best = *least = bytes;
    return JSTATUS_SUCCESS;
}

/* Where both lie alike the copy is in flight when it returns. */
static jstatus_t copy_and_wait(const ji_elements_t *destination, const ji_elements_t *source,
                               void *staging) {
    jstatus_t status = ji_elements_copy(destination, source, NULL, staging);
    const ji_elements_t *device = elements_is_host(destination) ? source : destination;
    return status == JSTATUS_SUCCESS ? jstream_synchronize(device->device, NULL) : status;
}

/* Rank 0's contents of a replicated buffer for all. */
static jstatus_t copy_broadcast(jbuffer_t *buffer, char *workspace) {
    jruntime_t *runtime = ji_buffer_runtime(buffer);
    const ji_elements_t whole = ji_buffer_elements(buffer);
    const ji_scope_t scope = ji_buffer_is_shared(buffer) ? JI_SCOPE_LEADERS : JI_SCOPE_ALL;
    const size_t size = jhandle_sizeof_datatype(whole.type), piece_bytes = copy_piece_bytes(&whole);

    if (elements_count(&whole) == 0 || !ji_buffer_writes(buffer))
        return JSTATUS_SUCCESS;

    if (piece_bytes == 0)
        return runtime->ops->broadcast(runtime, scope, 0,
                                       elements_is_host(&whole) ? NULL : whole.device, whole.data,
                                       (size_t)elements_count(&whole) * size);

    jlayout_t pieces = ji_layout_divide(&whole.layout, (int64_t)(piece_bytes / size));
    pieces.structure = JSTRUCTURE_GENERAL;

    int64_t count = 0, starts[JLAYOUT_MAX_RANK], extents[JLAYOUT_MAX_RANK];
    jstatus_t failed = jlayout_get_block_count(&pieces, &count);
    for (int64_t n = 0; n < count; ++n) {
        /* What fails here must not keep the others waiting. */
        (void)jlayout_get_block(&pieces, n, starts, extents);
        const ji_elements_t piece = ji_elements_slice(&whole, starts, extents);
        const ji_elements_t packed = {jdevice_host(), whole.type, elements_pack(&piece.layout),
                                      workspace};

        jstatus_t status = JSTATUS_SUCCESS;
        if (runtime->info.rank == 0)
            status = copy_and_wait(&packed, &piece, workspace + piece_bytes);
        if (failed == JSTATUS_SUCCESS)
            failed = status;

        status = runtime->ops->broadcast(runtime, scope, 0, NULL, workspace,
                                         (size_t)elements_count(&piece) * size);
        if (status == JSTATUS_SUCCESS && runtime->info.rank != 0)
            status = copy_and_wait(&piece, &packed, workspace + piece_bytes);
        if (failed == JSTATUS_SUCCESS)
            failed = status;
    }
    return failed;
}

/* What a process does by itself; waited for unless there is a stream. */
static jstatus_t copy_here(jbuffer_t *destination, const jbuffer_t *source, jstream_t *stream,
                           void *workspace) {
    const ji_elements_t to = ji_buffer_elements(destination), from = ji_buffer_elements(source);
    return stream != NULL ? ji_elements_copy(&to, &from, stream, workspace)
                          : copy_and_wait(&to, &from, workspace);
}

jstatus_t ji_buffer_copy(jbuffer_t *destination, const jbuffer_t *source, jstream_t *stream,
                         void *workspace, size_t size_bytes) {
    jruntime_t *runtime = copy_runtime(destination, source);
    const bool collective = ji_buffer_copy_is_collective(destination, source);
    jstatus_t status = JSTATUS_SUCCESS;

    if (destination == source) {
        /* It has what it should have. */
    } else if (copy_is_distributed(destination, source)) {
        status = runtime->ops->copy(runtime, destination, source, workspace, size_bytes);
    } else {
        const bool replicates = copy_replicates(destination, source);
        if (replicates ? runtime->info.rank == 0 : ji_buffer_writes(destination))
            status = copy_here(destination, source, collective ? NULL : stream, workspace);
        if (replicates) {
            jstatus_t told = copy_broadcast(destination, workspace);
            status = status != JSTATUS_SUCCESS ? status : told;
        }
    }
    return collective && !copy_is_everyones_own(destination, source)
               ? jruntime_agree(runtime, status)
               : status;
}
