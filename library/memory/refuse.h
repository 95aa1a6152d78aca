/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_REFUSE_H
#define JALLOC_MEMORY_REFUSE_H

/* What is said of a pointer that cannot be taken back, by whomever: a policy of its own blocks, an
 * object by its ledger. A tag of 0 is not said. */

#include "memory/memory.h"

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
