/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A segment of its own in a composition. */

#include "shm/segment/segment.h"

typedef struct segment_kind_options {
    size_t struct_size;
    const char *name; /* of the allocator */
    jsegment_backend_t backend;
    const char *segment_name;
    size_t size_bytes, max_bytes;
} segment_kind_options_t;

/* Private, because a policy above is copied by a fork, and its two copies must not hand out the
 * same shared bytes. */
static const segment_kind_options_t kind_defaults = {
    sizeof kind_defaults, NULL, JSEGMENT_PRIVATE, NULL, (size_t)64 << 20, 0};
/* How far it may grow where that is not said: its page table has a 256th of that, which must fit
 * the first size. */
#define KIND_GROWTH 32

static const jallocator_key_t kind_keys[] = {
    {"backend", "private|posix|memfd|file", "private", "where the bytes are"},
    {"path", "TEXT", "", "posix and file: the segment's name (name= is the allocator's)"},
    {"size", "SIZE", "64M", "to begin with"},
    {"max", "SIZE|none", "",
     "it may grow to this; none: it does not grow; not given: to 32 times size"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t kind_members[] = {
    {JI_KEY_CHOICE, offsetof(segment_kind_options_t, backend), JSEGMENT_PRIVATE},
    {JI_KEY_TEXT, offsetof(segment_kind_options_t, segment_name), 0},
    {JI_KEY_SIZE, offsetof(segment_kind_options_t, size_bytes), 0},
    {JI_KEY_SIZE, offsetof(segment_kind_options_t, max_bytes), 0},
};

static jstatus_t kind_create(const ji_request_t *request, jallocator_t **out) {
    const segment_kind_options_t *options = request->options;
    jsegment_options_t made = JSEGMENT_OPTIONS_INIT;
    jsegment_t *segment = NULL;
    jshared_t *shared;
    jstatus_t status = JSTATUS_SUCCESS;

    made.backend = options->backend;
    made.name = options->segment_name;
    made.size_bytes = options->size_bytes;

    if (options->max_bytes == JALLOC_NONE || options->max_bytes > options->size_bytes)
        made.max_bytes = options->max_bytes;
    else if (options->max_bytes == JALLOC_DEFAULT &&
             options->size_bytes < ((size_t)SHM_MAX_PAGES << SHM_PAGE_SHIFT) / KIND_GROWTH)
        made.max_bytes = options->size_bytes * KIND_GROWTH;

    JTRY(jsegment_create(&made, &segment));
    JTRY(jshared_create(segment, 1, NULL, &shared));
    JTRY(ji_shared_make_allocator(shared, segment, request->name, &ji_kind_segment, out));
    segment = NULL;

done:
    if (segment != NULL)
        (void)jsegment_destroy(segment);
    return status;
}

const ji_kind_t ji_kind_segment = {
    .public = {"segment", JALLOCATOR_PROVIDER,
               "a segment of its own, which grows; shared if its backend is", kind_keys},
    .members = kind_members,
    .options_type = "segment_kind_options_t",
    .options_bytes = sizeof(segment_kind_options_t),
    .defaults = &kind_defaults,
    .create = kind_create,
};
