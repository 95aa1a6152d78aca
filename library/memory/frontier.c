/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A table of the streams that memory was freed on, searched from the front: a program has few. A
 * stream that is destroyed has done all its work, so its fences are passed; its slot in the table
 * is given to the next stream, whose serials go on from there, so old fences stay passed. */

#include "memory/frontier.h"

#include <string.h>

#define FRONTIER_FIRST_CAPACITY 4

void ji_frontier_init(ji_frontier_t *frontier, jdevice_t *device) {
    memset(frontier, 0, sizeof *frontier);
    frontier->device = device;
    frontier->count = 1; /* the inline one needs no entry */
}

void ji_frontier_fini(ji_frontier_t *frontier) {
    for (uint32_t i = 1; i < frontier->count; ++i)
        (void)jevent_destroy(frontier->streams[i].event);
    ji_metadata_free(frontier->streams);
}

static bool frontier_make_room(ji_frontier_t *frontier) {
    if (frontier->count < frontier->capacity)
        return true;

    uint32_t capacity = frontier->capacity != 0 ? 2 * frontier->capacity : FRONTIER_FIRST_CAPACITY;
    ji_frontier_stream_t *streams = ji_metadata_zalloc(capacity * sizeof *streams);
    if (streams == NULL)
        return false;

    if (frontier->streams != NULL)
        memcpy(streams, frontier->streams, frontier->count * sizeof *streams);
    ji_metadata_free(frontier->streams);
    frontier->streams = streams;
    frontier->capacity = capacity;
    return true;
}

jstatus_t ji_frontier_index(ji_frontier_t *frontier, jstream_t *stream, uint32_t *index) {
    if (ji_stream_is_inline(frontier, stream)) {
        *index = 0;
        return JSTATUS_SUCCESS;
    }

    uint32_t gone = 0;
    for (uint32_t i = 1; i < frontier->count; ++i) {
        if (frontier->streams[i].gone) {
            gone = i;
        } else if (frontier->streams[i].stream == stream) {
            *index = i;
            return JSTATUS_SUCCESS;
        }
    }

    if (!ji_stream_is_of(stream, frontier->device))
        return ji_fail(JSTATUS_INVALID_VALUE, "the stream is not of %s",
                       jdevice_name(frontier->device));

    if (gone == 0) {
        if (!frontier_make_room(frontier))
            return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");
        gone = frontier->count++;
        memset(&frontier->streams[gone], 0, sizeof frontier->streams[gone]);
    }

    frontier->streams[gone].stream = stream;
    frontier->streams[gone].gone = false;
    *index = gone;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_frontier_mark(ji_frontier_t *frontier, jstream_t *stream, ji_fence_t *fence) {
    uint32_t index = 0;
    jstatus_t status = ji_frontier_index(frontier, stream, &index);
    if (status == JSTATUS_MEMORY_ERROR) {
        status = jstream_synchronize(frontier->device, stream);
        index = 0;
    }

    if (status != JSTATUS_SUCCESS)
        return status;

    *fence = (ji_fence_t){index != 0 ? ++frontier->streams[index].issued : 0, index};
    return JSTATUS_SUCCESS;
}

jstatus_t ji_stream_refuse_captured(jdevice_t *device, jstream_t *stream, const char *what) {
    uint64_t capture = 0;

    if (stream == NULL || device->kind == JDEVICE_HOST) /* neither can be captured */
        return JSTATUS_SUCCESS;

    jstatus_t status = jstream_get_capture(device, stream, &capture);
    if (status == JSTATUS_FORKED) /* nor can what is the parent's */
        return JSTATUS_SUCCESS;

    if (status == JSTATUS_SUCCESS && capture != 0)
        status = ji_fail(JSTATUS_CAPTURING, "%s: the stream is being captured", what);
    return status;
}

/* Sees to it that an event stands at or after the fence. */
static jstatus_t frontier_record(ji_frontier_stream_t *from, jdevice_t *device, ji_fence_t fence) {
    if (from->recorded >= fence.serial)
        return JSTATUS_SUCCESS;

    jstatus_t status =
        ji_stream_refuse_captured(device, from->stream, "asking whether memory is still in use");
    if (status == JSTATUS_SUCCESS && from->event == NULL)
        status = ji_event_create_untimed(device, &from->event);

    if (status == JSTATUS_SUCCESS)
        status = jevent_record(from->event, from->stream);
    if (status == JSTATUS_SUCCESS)
        from->recorded = from->issued;
    return status;
}

bool ji_frontier_passed_by_all(ji_frontier_t *frontier, ji_fence_t fence) {
    if (fence.index == 0)
        return true;

    ji_frontier_stream_t *from = &frontier->streams[fence.index];
    bool reached = false;

    /* An older event may have been reached since it was last looked at, before a newer one takes
     * its place. */
    if (fence.serial > from->passed && from->recorded > from->passed &&
        jevent_query(from->event, &reached) == JSTATUS_SUCCESS && reached)
        from->passed = from->recorded;

    if (fence.serial <= from->passed)
        return true;
    /* The event that stands is still ahead; recording again would move it away. */
    if (from->recorded > from->passed)
        return false;

    if (frontier_record(from, frontier->device, fence) == JSTATUS_SUCCESS &&
        jevent_query(from->event, &reached) == JSTATUS_SUCCESS && reached)
        from->passed = from->recorded;

    return fence.serial <= from->passed;
}

bool ji_frontier_passed(ji_frontier_t *frontier, ji_fence_t fence, jstream_t *stream) {
    if (fence.index == 0)
        return true;

    const ji_frontier_stream_t *from = &frontier->streams[fence.index];
    return (from->stream == stream && !from->gone) || ji_frontier_passed_by_all(frontier, fence);
}

jstatus_t ji_frontier_wait(ji_frontier_t *frontier, ji_fence_t fence, jstream_t *stream) {
    if (ji_frontier_passed(frontier, fence, stream))
        return JSTATUS_SUCCESS;

    ji_frontier_stream_t *from = &frontier->streams[fence.index];
    jstatus_t status = ji_stream_refuse_captured(frontier->device, stream,
                                                 "waiting for memory that is still in use");
    if (status == JSTATUS_SUCCESS)
        status = frontier_record(from, frontier->device, fence);

    return status == JSTATUS_SUCCESS ? jevent_wait(from->event, stream) : status;
}

jstatus_t ji_frontier_drain(ji_frontier_t *frontier, ji_fence_t fence) {
    if (fence.index == 0 || fence.serial <= frontier->streams[fence.index].passed)
        return JSTATUS_SUCCESS;

    ji_frontier_stream_t *from = &frontier->streams[fence.index];
    jstatus_t status = jstream_synchronize(frontier->device, from->stream);
    if (status == JSTATUS_SUCCESS || status == JSTATUS_FORKED) {
        /* A forked stream's thread is the parent's. */
        from->passed = from->recorded = from->issued;
        status = JSTATUS_SUCCESS;
    }

    return status;
}

jstream_t *ji_frontier_stream(const ji_frontier_t *frontier, ji_fence_t fence) {
    return fence.index != 0 ? frontier->streams[fence.index].stream : NULL;
}

jstream_t *ji_frontier_any_stream(const ji_frontier_t *frontier) {
    for (uint32_t i = 1; i < frontier->count; ++i)
        if (frontier->streams[i].stream != NULL)
            return frontier->streams[i].stream;
    return NULL;
}

void ji_frontier_forget(ji_frontier_t *frontier, const jstream_t *stream) {
    for (uint32_t i = 1; i < frontier->count; ++i) {
        ji_frontier_stream_t *known = &frontier->streams[i];
        if (!known->gone && known->stream == stream && stream != NULL) {
            known->passed = known->recorded = known->issued;
            known->stream = NULL;
            known->gone = true;
        }
    }
}
