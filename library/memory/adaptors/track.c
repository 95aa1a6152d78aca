/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Counts what passes: the object's books, and beside them the sum of all that was ever allocated,
 * and each change. After TensorFlow's TrackingAllocator.
 *
 * A tracking allocator that its owner has let go of (retire) ends with its last allocation, in
 * whichever thread that is freed, and other threads may be on their way out of it then. The books
 * cannot say who is last: a block is taken out of them before below is called (another thread may
 * have the memory at once, and bytes must never be counted twice), and below may still refuse. So
 * blocks are counted here until their free has returned from below. The free that takes the last
 * one away, when no more can be allocated, ends the object. Any other has touched the object for
 * the last time when it lets the lock go. */

#include <time.h>

#include "jalloc/adaptor.h"
#include "memory/adaptor.h"
#include "memory/entry.h"

typedef struct track {
    ji_adaptor_t adaptor;
    jallocator_t *self;
    size_t record_capacity;

    char apart[64]; /* what follows is written by every call */
    ji_lock_t lock; /* of all below */
    bool retired;
    uint64_t inside_count; /* blocks that below has given and not taken back */
    size_t total_bytes;
    uint64_t record_count;    /* ever made; the next one's position is this modulo the capacity */
    jtrack_record_t *records; /* a ring; NULL: none are kept */
} track_t;

static void track_free(void *context) {
    track_t *track = context;
    ji_lock_fini(&track->lock);
    ji_metadata_free(track->records);
    ji_metadata_free(track);
}

static void track_record(track_t *track, int64_t bytes) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    track->records[track->record_count++ % track->record_capacity] =
        (jtrack_record_t){bytes, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, ji_tag_current};
}

static jstatus_t track_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    track_t *track = context;
    jstatus_t status =
        jallocator_allocate(track->adaptor.below, size_bytes, alignment, stream, pointer);
    if (JI_UNLIKELY(status != JSTATUS_SUCCESS))
        return status;

    ji_lock_acquire(&track->lock);
    bool retired = track->retired;
    if (JI_LIKELY(!retired)) {
        ++track->inside_count;
        track->total_bytes += size_bytes;
        if (JI_UNLIKELY(track->records != NULL))
            track_record(track, (int64_t)size_bytes);
    }
    ji_lock_release(&track->lock);

    if (JI_UNLIKELY(retired)) {
        (void)jallocator_deallocate(track->adaptor.below, *pointer, size_bytes, stream);
        status = ji_fail(JSTATUS_MEMORY_ERROR, "allocator \"%s\" is retired", track->self->name);
    }

    return status;
}

static void track_record_change(track_t *track, int64_t bytes) {
    if (JI_LIKELY(track->records == NULL))
        return;

    ji_lock_acquire(&track->lock);
    track_record(track, bytes);
    ji_lock_release(&track->lock);
}

/* True for the last block of all. */
static bool track_count_gone(track_t *track) {
    ji_lock_acquire(&track->lock);
    bool last = --track->inside_count == 0 && track->retired;
    ji_lock_release(&track->lock);
    return last;
}

static jstatus_t track_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    track_t *track = context;
    track_record_change(track, -(int64_t)size_bytes);

    jstatus_t status = jallocator_deallocate(track->adaptor.below, pointer, size_bytes, stream);
    if (JI_UNLIKELY(status != JSTATUS_SUCCESS))
        track_record_change(track, (int64_t)size_bytes);
    else if (JI_UNLIKELY(track_count_gone(track)))
        ji_allocator_dispose(track->self);

    return status;
}

JI_ENTRY(track_entry, unlocked, track_allocate, track_deallocate, true)

static jstatus_t track_create(const ji_request_t *request, jallocator_t **out) {
    const jtrack_options_t *options = request->options;

    jallocator_ops_t ops = ji_adaptor_ops;
    ops.allocate = track_allocate;
    ops.deallocate = track_deallocate;
    ops.destroy = track_free;

    ji_traits_t traits = {.name = request->name,
                          .below = request->below,
                          .threads = JALLOCATOR_THREADS_SAFE,
                          .kind = &ji_kind_track,
                          .entry = &track_entry};

    size_t record_bytes;
    if (!ji_size_mul(options->record_count, sizeof(jtrack_record_t), &record_bytes) ||
        record_bytes > PTRDIFF_MAX)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: record_count %zu is too many", request->name,
                       options->record_count);

    jstatus_t status = JSTATUS_SUCCESS;
    ji_call_traces_t *call_traces = NULL;

    track_t *track;
    JTRY_ALLOC(track = ji_metadata_zalloc(sizeof *track));
    ji_lock_init(&track->lock);
    track->adaptor.below = request->below;
    track->record_capacity = options->record_count;

    if (options->record_count != 0)
        JTRY_ALLOC(track->records = ji_metadata_alloc(record_bytes));
    if (options->stacks)
        JTRY_ALLOC(call_traces = ji_metadata_alloc(sizeof *call_traces));

    JTRY(ji_allocator_make(&ops, track, &traits, &track->self));
    /* They may be kept already, for the report at exit. */
    if (call_traces != NULL && track->self->call_traces == NULL) {
        ji_call_traces_init(call_traces);
        track->self->call_traces = call_traces;
        call_traces = NULL;
    }

    *out = track->self;
    track = NULL;

done:
    ji_metadata_free(call_traces);
    if (track != NULL)
        track_free(track);
    return status;
}

static const jtrack_options_t track_defaults = JTRACK_OPTIONS_INIT;
static const jallocator_key_t track_keys[] = {
    {"records", "COUNT", "0", "signed records kept, the latest"},
    {"stacks", "BOOL", "false", "keep the call trace of each live allocation"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t track_members[] = {
    {JI_KEY_COUNT, offsetof(jtrack_options_t, record_count), 0},
    {JI_KEY_BOOL, offsetof(jtrack_options_t, stacks), 0},
};

const ji_kind_t ji_kind_track = {
    .public = {"track", JALLOCATOR_ADAPTOR, "counts what passes: total, high watermark, live",
               track_keys},
    .members = track_members,
    .options_type = "jtrack_options_t",
    .options_bytes = sizeof(jtrack_options_t),
    .defaults = &track_defaults,
    .create = track_create,
};

jstatus_t jallocator_create_track(jallocator_t *below, const jtrack_options_t *options,
                                  jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_track, NULL, below, options, allocator);
}

jstatus_t jallocator_track_get_totals(const jallocator_t *allocator, jtrack_totals_t *totals) {
    jallocator_t *found;
    JREQUIRE(totals != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_track, __func__, &found));
    JTRY_RETURN(JI_CHECK_SIZED(jtrack_totals_t, totals, total_bytes));

    ji_lock_acquire(&found->lock);
    const ji_books_t books = found->books;
    ji_lock_release(&found->lock);

    track_t *track = found->context;
    ji_lock_acquire(&track->lock);
    const jtrack_totals_t present = {
        sizeof present,     track->total_bytes,     books.peak_in_use_bytes,
        books.in_use_bytes, books.allocation_count, books.live_count,
    };
    ji_lock_release(&track->lock);

    JI_GIVE_RESULT(totals, &present);
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_track_get_records(const jallocator_t *allocator, jtrack_record_t *records,
                                       size_t capacity, size_t *count) {
    jallocator_t *found;
    JREQUIRE(count != NULL && (records != NULL || capacity == 0), JSTATUS_INVALID_POINTER);
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_track, __func__, &found));

    track_t *track = found->context;
    ji_lock_acquire(&track->lock);
    uint64_t end = track->record_count,
             kept = end < track->record_capacity ? end : track->record_capacity;

    if (kept > capacity)
        kept = capacity;
    for (uint64_t i = 0; i < kept; ++i)
        records[i] = track->records[(end - kept + i) % track->record_capacity];
    ji_lock_release(&track->lock);

    *count = (size_t)kept;
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_track_retire(jallocator_t *allocator) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    if (allocator->kind != &ji_kind_track)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: \"%s\" is not a tracking allocator", __func__,
                       allocator->name);

    size_t users = atomic_load_explicit(&allocator->retain_count, memory_order_acquire);
    if (users != 0)
        return ji_fail(JSTATUS_BUSY, "%s: allocator \"%s\" is kept by %zu", __func__,
                       allocator->name, users);

    track_t *track = allocator->context;
    ji_lock_acquire(&track->lock);
    bool already = track->retired;
    bool nothing_inside = track->inside_count == 0;
    track->retired = true;
    ji_lock_release(&track->lock);

    if (already)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: allocator \"%s\" is retired already", __func__,
                       allocator->name);

    if (nothing_inside)
        ji_allocator_dispose(track->self);
    return JSTATUS_SUCCESS;
}
