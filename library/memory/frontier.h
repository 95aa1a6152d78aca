/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_FRONTIER_H
#define JALLOC_MEMORY_FRONTIER_H

/* When memory freed on one stream may be used on another.
 *
 * A policy keeps a fence, twelve bytes, with every free block: on which stream it was last used,
 * and the free's sequence number on that stream. The same stream may use the block at once, since
 * its work is done in order. For another stream the free must have been passed: an event recorded
 * in the first stream at or after the free has been reached. Events are recorded only when another
 * stream asks, so programs that stay on their streams never pay for one.
 *
 *     stream 1   ... free #7 ... free #8 ... free #9 ...
 *                       issued: 9   recorded: 8 (the event stands after #8)   passed: 7
 *
 * Work done inline (the host's NULL stream) is done when the call returns: it has index 0 and is
 * always passed. A GPU's NULL stream is a stream like others: asking for it is not asking for
 * everybody.
 *
 * While a stream is captured into a graph nothing can be asked of it or told it: an event recorded
 * there belongs to the graph, and whoever waits for it is drawn into the capture. So what was freed
 * on such a stream counts as not passed, until the capture has ended; and a captured stream cannot
 * wait for another one. Both answer capturing where there is no other way. A fence says nothing of
 * a graph, which uses memory whenever it is launched: memory that a captured stream uses must not
 * be given back before the graph is destroyed. (A handle sees to that; handle/capture.c.)
 *
 * Not locked: a frontier belongs to a policy and is used under its lock. */

#include "core/core.h"
#include "device/device.h"

typedef struct ji_fence {
    uint64_t serial; /* the free's sequence number; 0 with index 0 */
    uint32_t index;  /* of the stream in the frontier's table; 0: inline, usable by all */
} ji_fence_t;

typedef struct ji_frontier_stream {
    jstream_t *stream; /* NULL: the device's NULL stream, unless gone */
    bool gone;         /* the stream was destroyed; the slot may be used again */
    jevent_t *event;   /* made when first asked for */
    uint64_t issued, recorded, passed;
} ji_frontier_stream_t;

typedef struct ji_frontier {
    jdevice_t *device;
    ji_frontier_stream_t *streams; /* [0] is the inline one */
    uint32_t count, capacity;
} ji_frontier_t;

/* Allocates nothing. */
void ji_frontier_init(ji_frontier_t *frontier, jdevice_t *device);
void ji_frontier_fini(ji_frontier_t *frontier);

/* Whether work in the stream is done when the call that orders it returns. */
static inline bool ji_stream_is_inline(const ji_frontier_t *frontier, const jstream_t *stream) {
    return stream == NULL && frontier->device->kind == JDEVICE_HOST;
}

/* success, or capturing with a message: `what` cannot be done to the stream now. */
jstatus_t ji_stream_refuse_captured(jdevice_t *device, jstream_t *stream, const char *what);

/* The stream's index, entering it if need be. success; memory error; invalid value (a stream of
 * another device). */
jstatus_t ji_frontier_index(ji_frontier_t *frontier, jstream_t *stream, uint32_t *index);
/* The fence of a block that is freed on the stream now. Where the stream cannot be entered for want
 * of memory, waits for it instead, so that a free never fails for that reason. invalid value (a
 * stream of another device); device error; capturing. */
jstatus_t ji_frontier_mark(ji_frontier_t *frontier, jstream_t *stream, ji_fence_t *fence);
/* The fence of what is about to be taken from below on the stream: none, unless below orders it
 * with that stream alone (ji_allocator_gives_in_order). As above, but for want of memory it is not
 * taken: to wait for the stream would be too early. */
static inline jstatus_t ji_frontier_mark_taken(ji_frontier_t *frontier, bool gives_in_order,
                                               jstream_t *stream, ji_fence_t *fence) {
    uint32_t index;
    *fence = (ji_fence_t){0, 0};
    if (!gives_in_order)
        return JSTATUS_SUCCESS;

    const jstatus_t status = ji_frontier_index(frontier, stream, &index);
    return status == JSTATUS_SUCCESS ? ji_frontier_mark(frontier, stream, fence) : status;
}
/* Whether a block behind the fence may be used on `stream` now. Never waits. May record an
 * event. */
bool ji_frontier_passed(ji_frontier_t *frontier, ji_fence_t fence, jstream_t *stream);
/* Whether nobody uses what is behind the fence any more, be it in the stream it was freed on: any
 * stream may have it, and below. Never waits. May record an event. */
bool ji_frontier_passed_by_all(ji_frontier_t *frontier, ji_fence_t fence);
/* A stream to give a block back in that is behind this fence, and passed by all: the one it was
 * freed on, as long as it is there. NULL does as well, but a GPU's NULL stream waits for others and
 * makes them wait. */
jstream_t *ji_frontier_stream(const ji_frontier_t *frontier, ji_fence_t fence);
/* The same for what may have been behind several fences. */
jstream_t *ji_frontier_any_stream(const ji_frontier_t *frontier);
/* Makes `stream` wait, by an event, for the fence: then it may use the block. The host waits only
 * where `stream` is inline. success; device error; memory error; capturing. */
jstatus_t ji_frontier_wait(ji_frontier_t *frontier, ji_fence_t fence, jstream_t *stream);
/* Waits on the host until the fence has been passed: before the block is given back below. success;
 * device error; capturing. */
jstatus_t ji_frontier_drain(ji_frontier_t *frontier, ji_fence_t fence);
/* The stream was destroyed after all its work. */
void ji_frontier_forget(ji_frontier_t *frontier, const jstream_t *stream);

#endif
