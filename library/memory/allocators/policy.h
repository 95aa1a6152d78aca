/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_ALLOCATORS_POLICY_H
#define JALLOC_MEMORY_ALLOCATORS_POLICY_H

/* What policies have in common: from which threads they may be called, and what they say of a
 * pointer that they cannot take back (refuse.h). */

#include "memory/frontier.h"
#include "memory/memory.h"
#include "memory/refuse.h"

/* ---- Threads ---- */

/* The class of a policy whose functions know no threads: a lock, or none where the caller sees to
 * it. */
static inline jstatus_t ji_policy_threads(const char *name, jallocator_threads_t asked,
                                          jallocator_threads_t *threads) {
    if (asked != JALLOCATOR_THREADS_DEFAULT && asked != JALLOCATOR_THREADS_NONE &&
        asked != JALLOCATOR_THREADS_LOCK)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: threads is %d, must be default, none or lock",
                       name, (int)asked);
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

/* ---- Time ---- */

/* Best fit (bfc/) looks at the clock: for a policy above that seldom calls it. */
void ji_bfc_pass_time(jallocator_t *allocator);

/* ---- Streams ---- */

/* Whether memory for the stream can be asked for at all. */
static inline jstatus_t ji_policy_check_stream(const ji_frontier_t *frontier,
                                               const jstream_t *stream) {
    if (JI_UNLIKELY(!ji_stream_is_of(stream, frontier->device)))
        return ji_fail(JSTATUS_INVALID_VALUE, "the stream is not of %s",
                       jdevice_name(frontier->device));
    return JSTATUS_SUCCESS;
}

#endif
