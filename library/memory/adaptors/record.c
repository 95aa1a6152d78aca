/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Writes each call to a trace (trace.h). The lines of one address alternate, allocate, free,
 * allocate: a free is written before below is called, since as soon as it is done another thread
 * may have the memory and write its line. So it must be known beforehand whether the free will be
 * accepted: below is asked for the block. Where it refuses all the same (a guard, a stream that
 * fails), an "allocate" is written behind, which says that the block is live after all.
 *
 * An adaptor that a caller makes counts what passes through it, as any does. One that JALLOC_RECORD
 * puts on top must not be noticed: it has the name of what it records, owns it, and gives its
 * statistics. */

#include <stdio.h>

#include "jalloc/adaptor.h"
#include "memory/adaptor.h"
#include "memory/trace/trace.h"

_Static_assert(JALLOCATOR_NAME_BYTES - 1 + sizeof "#4294967295" - 1 <= JI_TRACE_MAX_NAME,
               "a label fits into a line");

typedef struct record {
    ji_adaptor_t adaptor;
    ji_trace_t *trace;
    char label[JI_TRACE_MAX_NAME + 1]; /* name#number */
} record_t;

static void record_write(const record_t *record, ji_trace_action_t action, const void *pointer,
                         size_t size_bytes, size_t alignment, const jstream_t *stream, jtag_t tag) {
    ji_trace_event_t event = {action, pointer, size_bytes, alignment, stream, record->label, tag};
    ji_trace_write(record->trace, &event);
}

static jstatus_t record_allocate(void *context, size_t size_bytes, size_t alignment,
                                 jstream_t *stream, void **pointer) {
    const record_t *record = context;
    jstatus_t status =
        jallocator_allocate(record->adaptor.below, size_bytes, alignment, stream, pointer);

    bool served = status == JSTATUS_SUCCESS;
    record_write(record, served ? JI_TRACE_ALLOCATE : JI_TRACE_FAILURE, served ? *pointer : NULL,
                 size_bytes, alignment, stream, ji_tag_current);

    return status;
}

static jstatus_t record_deallocate(void *context, void *pointer, size_t size_bytes,
                                   jstream_t *stream) {
    const record_t *record = context;
    jallocator_t *below = record->adaptor.below;
    jallocation_t block = JALLOCATION_INIT;

    bool known = jallocator_find(below, pointer, &block) == JSTATUS_SUCCESS &&
                 block.pointer == pointer && block.size_bytes == size_bytes;
    if (known)
        record_write(record, JI_TRACE_FREE, pointer, size_bytes, 0, stream, block.tag);

    jstatus_t status = jallocator_deallocate(below, pointer, size_bytes, stream);
    /* With which alignment it was asked for is not known any more. */
    if (known && status != JSTATUS_SUCCESS)
        record_write(record, JI_TRACE_ALLOCATE, pointer, size_bytes, below->granule_bytes, stream,
                     block.tag);

    return status;
}

static void record_get_stats(void *context, jallocator_stats_t *stats) {
    const record_t *record = context;
    (void)jallocator_get_stats(record->adaptor.below, stats);
}
static void record_clear_stats(void *context) {
    const record_t *record = context;
    (void)jallocator_clear_stats(record->adaptor.below);
}

static void record_destroy(void *context) {
    record_t *record = context;
    ji_trace_close(record->trace);
    ji_metadata_free(record);
}

static jstatus_t record_make(jallocator_t *below, const char *name, const char *file,
                             bool unnoticed, jallocator_t **out) {
    static atomic_uint count;

    jallocator_ops_t ops = ji_adaptor_ops;
    ops.allocate = record_allocate;
    ops.deallocate = record_deallocate;
    ops.destroy = record_destroy;
    if (unnoticed) {
        ops.get_stats = record_get_stats;
        ops.clear_stats = record_clear_stats;
    }

    ji_traits_t traits = {
        .name = name, .below = below, .threads = JALLOCATOR_THREADS_SAFE, .kind = &ji_kind_record};

    jstatus_t status = JSTATUS_SUCCESS;
    record_t *record;
    JTRY_ALLOC(record = ji_metadata_zalloc(sizeof *record));
    record->adaptor.below = below;
    JTRY(ji_trace_open(file, &record->trace));
    snprintf(record->label, sizeof record->label, "%s#%u", unnoticed ? name : below->name,
             atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) + 1);

    JTRY(ji_allocator_make(&ops, record, &traits, out));
    record = NULL;

done:
    if (record != NULL && record->trace != NULL)
        ji_trace_close(record->trace);
    ji_metadata_free(record);
    return status;
}

jstatus_t ji_record_wrap(jallocator_t *allocator, jallocator_t **out) {
    jconfig_entry_t file = JCONFIG_ENTRY_INIT;
    (void)jconfig_get(JCONFIG_JALLOC_RECORD, &file);

    /* A tracking allocator may end by itself, so nobody can stand on top; all it does is seen below
     * it. */
    if (file.value[0] == '\0' || allocator->kind == &ji_kind_track) {
        *out = allocator;
        return JSTATUS_SUCCESS;
    }

    jallocator_t *recorded;
    jstatus_t status = record_make(allocator, allocator->name, file.value, true, &recorded);
    if (status == JSTATUS_SUCCESS) {
        recorded->owns_below = true;
        *out = recorded;
    } else {
        (void)jallocator_destroy(allocator);
    }

    return status;
}

static jstatus_t record_create(const ji_request_t *request, jallocator_t **out) {
    const jrecord_options_t *options = request->options;
    return record_make(request->below, request->name, options->file, false, out);
}

static const jrecord_options_t record_defaults = JRECORD_OPTIONS_INIT;
static const jallocator_key_t record_keys[] = {
    {"file", "TEXT", "", "trace to write; empty: standard error"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t record_members[] = {
    {JI_KEY_TEXT, offsetof(jrecord_options_t, file), 0}};

const ji_kind_t ji_kind_record = {
    .public = {"record", JALLOCATOR_ADAPTOR, "writes every call to a trace file", record_keys},
    .members = record_members,
    .options_type = "jrecord_options_t",
    .options_bytes = sizeof(jrecord_options_t),
    .defaults = &record_defaults,
    .create = record_create,
};

jstatus_t jallocator_create_record(jallocator_t *below, const jrecord_options_t *options,
                                   jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_record, NULL, below, options, allocator);
}

jstatus_t jallocator_record_flush(jallocator_t *allocator) {
    jallocator_t *found;
    jstatus_t status = ji_allocator_require_kind(allocator, &ji_kind_record, __func__, &found);
    return status == JSTATUS_SUCCESS ? ji_trace_flush(((const record_t *)found->context)->trace)
                                     : status;
}
