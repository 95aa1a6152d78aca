/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The one allocator interface over an allocator in a segment. The object's own books (ledger) say
 * what this process took through it, by address and size; so it takes back what it gave out, and
 * nothing else. */

#include "memory/memory.h"
#include "shm/shm.h"

typedef struct segment_provider {
    jshared_t *shared;
    jsegment_t *segment; /* made for it; NULL: the caller's */
} segment_provider_t;

static jstatus_t provider_allocate(void *context, size_t size_bytes, size_t alignment,
                                   jstream_t *stream, void **pointer) {
    segment_provider_t *provider = context;
    (void)stream;
    joffset_t offset;
    jstatus_t status = jshared_allocate(provider->shared, size_bytes, alignment, &offset);
    if (status == JSTATUS_SUCCESS)
        *pointer = provider->shared->segment->base + offset;
    return status;
}

static jstatus_t provider_deallocate(void *context, void *pointer, size_t size_bytes,
                                     jstream_t *stream) {
    segment_provider_t *provider = context;
    (void)stream;
    const joffset_t offset = jsegment_offset(provider->shared->segment, pointer);

    if (offset == JOFFSET_NULL)
        return ji_fail(JSTATUS_NOT_FOUND, "allocator \"segment\": %p is not in the segment",
                       pointer);

    if (provider->shared->kind == JSHARED_STACK) {
        (void)ji_shared_pop(provider->shared, offset, size_bytes);
        return JSTATUS_SUCCESS;
    }
    return jshared_deallocate(provider->shared, offset);
}

static size_t provider_usable_size(void *context, const void *pointer, size_t size_bytes) {
    segment_provider_t *provider = context;
    size_t usable = size_bytes;
    if (provider->shared->kind != JSHARED_STACK)
        (void)jshared_describe(provider->shared,
                               jsegment_offset(provider->shared->segment, pointer), &usable, NULL);
    return usable > size_bytes ? usable : size_bytes;
}

static void provider_get_stats(void *context, jallocator_stats_t *stats) {
    segment_provider_t *provider = context;
    jsegment_stats_t segment = JSEGMENT_STATS_INIT;
    if (jsegment_get_stats(provider->shared->segment, &segment) != JSTATUS_SUCCESS)
        return;

    stats->limit_bytes = segment.max_bytes;
    /* It does not shrink. */
    stats->reserved_bytes = stats->peak_reserved_bytes = segment.size_bytes;
    stats->free_bytes = segment.free_bytes;
    stats->largest_free_bytes = segment.largest_free_bytes;
}

static jstatus_t provider_check(void *context) {
    segment_provider_t *provider = context;
    return jsegment_verify(provider->shared->segment);
}

static jstatus_t provider_trim(void *context, size_t keep_bytes) {
    segment_provider_t *provider = context;
    jsegment_t *segment = provider->shared->segment;
    if (keep_bytes != 0) /* what is kept is little */
        return JSTATUS_SUCCESS;

    jstatus_t status = ji_segment_lock(segment);
    return status == JSTATUS_SUCCESS ? ji_segment_unlock(segment, ji_heap_trim(segment)) : status;
}

static void provider_above(jshared_t *shared, int change) {
    if (shared->segment->locks)
        ji_lock_acquire(&shared->segment->lock);
    shared->above_count += (unsigned)change;
    ji_segment_end(shared->segment);
}

static void provider_destroy(void *context) {
    segment_provider_t *provider = context;
    provider_above(provider->shared, -1);
    if (provider->segment != NULL) {
        (void)jshared_close(provider->shared);
        (void)jsegment_destroy(provider->segment);
    }
    ji_metadata_free(provider);
}

static const jallocator_ops_t provider_ops = {
    .struct_size = sizeof provider_ops,
    .allocate = provider_allocate,
    .deallocate = provider_deallocate,
    .usable_size = provider_usable_size,
    .get_stats = provider_get_stats,
    .trim = provider_trim,
    .check = provider_check,
    .destroy = provider_destroy,
};

/* `segment`: goes with the allocator, also on failure; NULL: none. */
static jstatus_t provider_make(jshared_t *shared, jsegment_t *segment, const char *name,
                               const ji_kind_t *kind, jallocator_t **out) {
    jstatus_t status = JSTATUS_SUCCESS;
    ji_traits_t traits = {.name = name,
                          .threads = shared->segment->locks ? JALLOCATOR_THREADS_SAFE
                                                            : JALLOCATOR_THREADS_NONE,
                          .kind = kind};
    segment_provider_t *provider;

    JTRY_ALLOC(provider = ji_metadata_zalloc(sizeof *provider));
    provider->shared = shared;
    provider->segment = segment;

    JTRY(ji_allocator_make(&provider_ops, provider, &traits, out));
    provider_above(shared, +1);
    provider = NULL;

done:
    ji_metadata_free(provider);
    return status;
}

jstatus_t jallocator_create_shared(jshared_t *shared, jallocator_t **allocator) {
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    jallocator_t *made = NULL;

    jstatus_t status = provider_make(shared, NULL, "segment", NULL, &made);
    return status == JSTATUS_SUCCESS ? ji_record_wrap(made, allocator) : status;
}

/* ---- In a composition: a segment of its own ---- */

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
    JTRY(provider_make(shared, segment, request->name, &ji_kind_segment, out));
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
