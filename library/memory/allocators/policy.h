/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_ALLOCATORS_POLICY_H
#define JALLOC_MEMORY_ALLOCATORS_POLICY_H

/* What policies have in common: from which threads they may be called, and what they say of a
 * pointer that they cannot take back. */

#include "memory/frontier.h"
#include "memory/memory.h"

/* ---- Threads ---- */

/* The class of a policy whose functions know no threads: a lock, or none where the caller sees to
 * it. */
static inline jstatus_t ji_policy_threads(const char *name, jallocator_threads_t asked,
                                          jallocator_threads_t *threads) {
    if (asked != JALLOCATOR_THREADS_DEFAULT && asked != JALLOCATOR_THREADS_NONE &&
        asked != JALLOCATOR_THREADS_LOCK)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "%s: options->threads is %d, must be default, none or lock", name,
                       (int)asked);
    *threads = asked == JALLOCATOR_THREADS_NONE ? asked : JALLOCATOR_THREADS_LOCK;
    return JSTATUS_SUCCESS;
}

/* Around a public function that reaches a policy's content past the object's own calls. */
static inline void ji_policy_enter(jallocator_t *policy) {
    if (policy->threads == JALLOCATOR_THREADS_LOCK)
        ji_lock_acquire(&policy->lock);
}
static inline void ji_policy_leave(jallocator_t *policy) {
    if (policy->threads == JALLOCATOR_THREADS_LOCK)
        ji_lock_release(&policy->lock);
}

/* ---- Streams ---- */

/* Whether memory for the stream can be asked for at all. */
static inline jstatus_t ji_policy_check_stream(const ji_frontier_t *frontier,
                                               const jstream_t *stream) {
    if (JI_UNLIKELY(!ji_stream_is_of(stream, frontier->device)))
        return ji_fail(JSTATUS_INVALID_VALUE, "the stream is not of %s",
                       jdevice_name(frontier->device));
    return JSTATUS_SUCCESS;
}

/* ---- Refusals ---- */

#define JI_TAG_OPENS(tag) ((tag) != 0 ? " (" : "")
#define JI_TAG_CLOSES(tag) ((tag) != 0 ? ")" : "")

static inline jstatus_t ji_refuse_foreign(const jallocator_t *allocator, const void *pointer) {
    return ji_refuse_unknown(jallocator_name(allocator), pointer, "already");
}
static inline jstatus_t ji_refuse_freed(const jallocator_t *allocator, const void *pointer,
                                        jtag_t tag) {
    return ji_fail(JSTATUS_NOT_FOUND, "allocator \"%s\": %p%s%s%s was given back already",
                   jallocator_name(allocator), pointer, JI_TAG_OPENS(tag), jtag_name(tag),
                   JI_TAG_CLOSES(tag));
}
static inline jstatus_t ji_refuse_interior(const jallocator_t *allocator, const void *pointer,
                                           uintptr_t begin, jtag_t tag) {
    return ji_fail(
        JSTATUS_NOT_FOUND,
        "allocator \"%s\": %p lies inside the block at %p%s%s%s and is no beginning of one",
        jallocator_name(allocator), pointer, (void *)begin, JI_TAG_OPENS(tag), jtag_name(tag),
        JI_TAG_CLOSES(tag));
}
static inline jstatus_t ji_refuse_size(const jallocator_t *allocator, const void *pointer,
                                       jtag_t tag, size_t size_bytes, size_t given_bytes) {
    return ji_fail(JSTATUS_INVALID_SIZE,
                   "allocator \"%s\": %p%s%s%s has %zu bytes and is given back with %zu",
                   jallocator_name(allocator), pointer, JI_TAG_OPENS(tag), jtag_name(tag),
                   JI_TAG_CLOSES(tag), size_bytes, given_bytes);
}
static inline jstatus_t ji_refuse_bookkeeping(void) {
    return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");
}

#endif
