/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Who orders memory by streams, in a composition of allocators.
 *
 * Two questions, from above and from below. Whoever gives memory back asks whether it must wait
 * first for the work that uses it: not where a policy keeps the block behind a fence, nor where the
 * runtime takes it back in stream order. And whoever divides memory that comes from below asks
 * whether every stream may use it at once: not where it may come out of a policy, which orders it
 * with the one stream that it was asked for on, nor where it was just written over in that stream
 * (fill). Adaptors pass both on; small blocks are ordered by
 * their policy, and large ones go straight to what is below it. Of a caller's functions nothing is
 * known, so each question is answered on the safe side. */

#include "memory/memory.h"

/* Of one of jalloc's own kinds. */
static bool order_is_policy(const jallocator_t *allocator) {
    return allocator->kind->public.role == JALLOCATOR_POLICY;
}

bool ji_allocator_takes_in_order(const jallocator_t *allocator) {
    for (; allocator->kind != NULL && allocator->below != NULL; allocator = allocator->below)
        if (order_is_policy(allocator) && allocator->kind != &ji_kind_small &&
            allocator->kind != &ji_kind_general)
            return true;
    return allocator->kind != NULL && ji_device_is_ordered(allocator);
}

bool ji_allocator_gives_in_order(const jallocator_t *allocator) {
    for (; allocator->kind != NULL && allocator->below != NULL; allocator = allocator->below)
        if (order_is_policy(allocator) || allocator->kind == &ji_kind_fill)
            return true;
    return allocator->kind == NULL || ji_device_is_ordered(allocator);
}
