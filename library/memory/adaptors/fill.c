/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Writes over memory when it comes and before it goes, in stream order, through the device's fill.
 * Bytes 0xff are NaN in every floating type at once: a sign, an exponent all ones, and a fraction
 * that is not zero. After TensorFlow's GPUNanResetAllocator.
 *
 *     allocate   below gives   fill on the stream                   event behind it (*)
 *     free       taken out     the stream waits for the event (*)   fill   below takes it back
 *
 *     (*) unless the stream is inline
 *
 * A provider may hand the memory to somebody else, or to the system, at once: where below does not
 * take it back in stream order, a free waits until the fill is done.
 *
 * In a stream that is being captured both are refused with capturing: what is written there is
 * written when the graph is launched, each time, and not when the memory comes or goes. */

#include "jalloc/adaptor.h"
#include "memory/adaptors/live.h"
#include "memory/frontier.h"

typedef struct fill_bytes {
    bool writes;
    unsigned char byte;
} fill_bytes_t;

typedef struct fill {
    ji_live_t live;
    fill_bytes_t on_allocate, on_deallocate;
    bool below_takes_in_order;
} fill_t;

static jstatus_t fill_write(const fill_t *fill, const fill_bytes_t *bytes,
                            const ji_live_block_t *block, jstream_t *stream) {
    if (!bytes->writes)
        return JSTATUS_SUCCESS;

    return jdevice_fill(fill->live.below->device, stream, block->pointer, &bytes->byte, 1,
                        block->size_bytes);
}

static jstatus_t fill_allocate(void *context, size_t size_bytes, size_t alignment,
                               jstream_t *stream, void **pointer) {
    fill_t *fill = context;
    ji_live_block_t block = {.size_bytes = size_bytes};
    JTRY_RETURN(
        jallocator_allocate(fill->live.below, size_bytes, alignment, stream, &block.pointer));
    jstatus_t status = JSTATUS_SUCCESS;

    if (fill->on_allocate.writes)
        JTRY(ji_live_begin_writing(&fill->live, stream, &block));
    JTRY(fill_write(fill, &fill->on_allocate, &block, stream));
    JTRY(ji_live_end_writing(stream, &block));
    JTRY(ji_live_add(&fill->live, &block));

    *pointer = block.pointer;

done:
    if (status != JSTATUS_SUCCESS)
        ji_live_abandon(&fill->live, stream, &block, block.pointer, size_bytes);
    return status;
}

/* The stream goes on when what was written at allocation is there. */
static jstatus_t fill_order(const ji_live_block_t *block, jstream_t *stream) {
    bool reached = true;
    jstatus_t status =
        block->written != NULL ? jevent_query(block->written, &reached) : JSTATUS_SUCCESS;
    if (status == JSTATUS_FORKED) /* nobody is left who could write */
        return JSTATUS_SUCCESS;

    return status == JSTATUS_SUCCESS && !reached ? jevent_wait(block->written, stream) : status;
}

static jstatus_t fill_deallocate(void *context, void *pointer, size_t size_bytes,
                                 jstream_t *stream) {
    fill_t *fill = context;
    ji_live_block_t block;
    bool written = false;

    JTRY_RETURN(ji_live_take(&fill->live, pointer, size_bytes, &block));
    jstatus_t status = JSTATUS_SUCCESS;

    JTRY(ji_stream_refuse_captured(fill->live.below->device, stream,
                                   "filling memory that is given back"));
    JTRY(fill_order(&block, stream));
    written = true;

    JTRY(fill_write(fill, &fill->on_deallocate, &block, stream));
    if (!fill->below_takes_in_order)
        JTRY(jstream_synchronize(fill->live.below->device, stream));

    JTRY(jallocator_deallocate(fill->live.below, pointer, size_bytes, stream));
    ji_live_drop(&fill->live, &block);

done:
    if (status != JSTATUS_SUCCESS && written) /* the next to free it may be another stream */
        ji_live_settle(&fill->live, stream);
    if (status != JSTATUS_SUCCESS)
        ji_live_put_back(&fill->live, &block);
    return status;
}

static bool fill_choose(jfill_value_t value, unsigned char pattern, fill_bytes_t *bytes) {
    switch (value) {
    case JFILL_NAN: *bytes = (fill_bytes_t){true, 0xff}; return true;
    case JFILL_ZERO: *bytes = (fill_bytes_t){true, 0}; return true;
    case JFILL_PATTERN: *bytes = (fill_bytes_t){true, pattern}; return true;
    case JFILL_NONE: *bytes = (fill_bytes_t){false, 0}; return true;
    }
    return false;
}

static jstatus_t fill_create(const ji_request_t *request, jallocator_t **out) {
    static const jallocator_ops_t own = {.allocate = fill_allocate, .deallocate = fill_deallocate};
    const jfill_options_t *options = request->options;

    fill_bytes_t on_allocate, on_deallocate;
    JREQUIRE_VALUE(fill_choose(options->on_allocate, options->pattern, &on_allocate),
                   JSTATUS_INVALID_VALUE, "fill", "on_allocate", options->on_allocate,
                   "must be of jfill_value_t");
    JREQUIRE_VALUE(fill_choose(options->on_deallocate, options->pattern, &on_deallocate),
                   JSTATUS_INVALID_VALUE, "fill", "on_deallocate", options->on_deallocate,
                   "must be of jfill_value_t");

    ji_traits_t traits = {.name = request->name, .below = request->below, .kind = &ji_kind_fill};

    fill_t *fill = ji_metadata_zalloc(sizeof *fill);
    if (fill != NULL) {
        fill->on_allocate = on_allocate;
        fill->on_deallocate = on_deallocate;
        fill->below_takes_in_order = ji_allocator_takes_in_order(request->below);
    }

    return ji_live_make(fill, &own, &traits, out);
}

#define FILL_CHOICES "nan|zero|pattern|none"
static const jfill_options_t fill_defaults = JFILL_OPTIONS_INIT;
static const jallocator_key_t fill_keys[] = {
    {"allocate", FILL_CHOICES, "nan", "what is written over memory that comes"},
    {"free", FILL_CHOICES, "nan", "what is written over memory that goes"},
    {"pattern", "0..255", "0", "the byte of \"pattern\""},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t fill_members[] = {
    {JI_KEY_CHOICE, offsetof(jfill_options_t, on_allocate), JFILL_NAN},
    {JI_KEY_CHOICE, offsetof(jfill_options_t, on_deallocate), JFILL_NAN},
    {JI_KEY_BYTE, offsetof(jfill_options_t, pattern), 0},
};

const ji_kind_t ji_kind_fill = {
    .public = {"fill", JALLOCATOR_ADAPTOR,
               "writes NaN, or another byte, over memory that comes and goes", fill_keys},
    .members = fill_members,
    .options_type = "jfill_options_t",
    .options_bytes = sizeof(jfill_options_t),
    .defaults = &fill_defaults,
    .create = fill_create,
};

jstatus_t jallocator_create_fill(jallocator_t *below, const jfill_options_t *options,
                                 jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_fill, NULL, below, options, allocator);
}
