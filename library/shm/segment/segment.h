/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SHM_SEGMENT_SEGMENT_H
#define JALLOC_SHM_SEGMENT_SEGMENT_H

/* A process's part in a segment, as a whole: what is not about blocks.
 *
 *     segment.c    attachments: made, ended, taken through a fork; growth; offsets and addresses;
 *                  read this first
 *     slots.c      the slot that an attachment has, and how a function on a segment begins
 *     reap.c       giving back what a dead process owned
 *     roots.c      names for offsets
 *     inspect.c    looking at a segment, and whether everything holds together
 *     allocator.c  the one allocator interface over an allocator in a segment
 *     kind.c       a segment of its own in a composition
 *
 * A process attaches through a backing (backing.h), which says where the bytes are, and becomes a
 * slot of the segment, by which it owns blocks. Three things may end that: it detaches, it is
 * killed, it forks. For the segment the first two are the same: what the slot owned is reaped, by
 * the process itself or by whoever comes next. After a fork the parent goes on, and the child
 * begins anew with a slot of its own.
 *
 * What always holds: an attachment that is ready (jsegment.ready) has a slot that is alive and is
 * in the list of the process's attachments, by which the fork handler finds it. What others see of
 * a new segment is complete. */

#include "memory/memory.h"
#include "shm/heap/heap.h"

/* An allocator over one in a segment (allocator.c). `segment`: goes with the allocator, also on
 * failure; NULL: none. */
jstatus_t ji_shared_make_allocator(jshared_t *shared, jsegment_t *segment, const char *name,
                                   const ji_kind_t *kind, jallocator_t **out);

/* Gets this attachment a slot; reaps whoever had it and died, and all other dead ones. Holds the
 * attachment's lock, or nobody else knows the attachment. success; no slot; what ji_segment_enter()
 * gives. */
jstatus_t ji_slot_join(jsegment_t *segment);
/* Leaves the slot: what it owns is free. Holds the attachment's lock. success; busy: allocators
 * stand over it. */
jstatus_t ji_slot_leave(jsegment_t *segment);

/* Bytes of the attachment's map from pages to what they are. */
static inline size_t ji_segment_map_bytes(const jsegment_t *segment) {
    return (size_t)segment->constants.max_pages * sizeof(uintptr_t);
}

#endif
