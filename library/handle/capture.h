/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_HANDLE_CAPTURE_H
#define JALLOC_HANDLE_CAPTURE_H

/* A handle whose stream is captured into graphs; capture.c says how. */

#include "handle/handle.h"

/* Whether borrows come from memory of the graph being captured, not the ordinary workspace. */
static inline bool ji_capture_lends(const jhandle_t *handle) {
    return handle->capture != 0 && handle->mode == JHANDLE_MODE_DEFAULT;
}

/* Whether what is borrowed now is used when the graph is launched, and in memory that is there as
 * long as the graph: its own, a block that it owns beside the handle, or the caller's. */
static inline bool ji_capture_answers(const jhandle_t *handle) {
    return handle->capture != 0 && (handle->graphs_can_own || ji_capture_lends(handle) ||
                                    handle->mode == JHANDLE_MODE_USER_OWNED);
}

/* Whether an outermost borrow has to ask the stream. None asks the host or a GPU's NULL stream. */
static inline bool ji_capture_asks(const jhandle_t *handle) {
    return handle->can_be_captured && !handle->never_captured &&
           (handle->stream != NULL || handle->used_stream != NULL || handle->capture != 0);
}

/* The capture that a stream is in, for a handle that asks; 0: none. A capture that has failed and
 * is not ended yet is some number as well. success; device error. */
jstatus_t ji_capture_of(const jhandle_t *handle, jstream_t *stream, uint64_t *capture);
/* success, or capturing with a message: `caller` cannot do what it should. */
jstatus_t ji_capture_refuse(jhandle_t *handle, jstream_t *stream, const char *caller);

/* Before an outermost borrow of a handle that asks: brings the handle to where its stream is,
 * inside of a capture or outside. success; capturing; memory error; device error: then nothing has
 * changed. */
jstatus_t ji_capture_follow(jhandle_t *handle, const char *routine);
/* Puts a stream, which is in this capture (0: none), behind the last use of workspace in it. */
jstatus_t ji_capture_order(jhandle_t *handle, uint64_t capture, jstream_t *stream);
/* Back to the ordinary workspace; idle handles only. */
void ji_capture_leave(jhandle_t *handle);

/* Takes memory that the graph being captured owns from the beginning. */
jstatus_t ji_capture_take(jhandle_t *handle, size_t size_bytes, void **pointer);

/* Makes a fixed block one that graphs may own too. *shared is NULL where they cannot. */
jstatus_t ji_capture_share(jhandle_t *handle, ji_block_t block, ji_shared_block_t **shared);
/* Undoes that, before the handle has it. NULL: nothing. */
void ji_capture_discard(ji_shared_block_t *shared);
/* Whether some graph does. */
bool ji_capture_is_shared(const jhandle_t *handle);
/* The handle lets go of it. True: it was the last owner and gives the memory back; false: a graph's
 * end will. */
bool ji_capture_unshare(jhandle_t *handle);

/* Gives back what ended graphs have owned: of the handle, and of handles that are gone. */
void ji_capture_collect(jhandle_t *handle);
/* For a block that could not be given back now: it is tried again with those. False: it is lost. */
bool ji_capture_give_later(jhandle_t *handle, ji_block_t block, jstream_t *stream);
/* Bytes that graphs own now. */
size_t ji_capture_bytes(const jhandle_t *handle);
/* Whether the handle may end now. success; capturing: it keeps memory of a capture under way. */
jstatus_t ji_capture_may_end(jhandle_t *handle);
/* In a forked child there are no graphs: the handle owns everything. */
void ji_capture_forget_graphs(jhandle_t *handle);
/* The handle ends; the allocator goes with it, or with the last block that a graph owns. */
void ji_capture_end(jhandle_t *handle);

#endif
