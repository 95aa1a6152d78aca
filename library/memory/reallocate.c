/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Another size for a block of any allocator.
 *
 * Blocks are known by the size they were asked for (a deallocation with another is refused), and an
 * allocator's memory need not be the host's. So the block moves: a new one, a copy in the order of
 * the stream, and the old one is given back in that stream, behind the copy; where the allocator
 * does not keep that order, behind a wait. No function of an allocator is needed for it, and it is
 * the same on every kind and device. */

#include "memory/refuse.h"

/* The live block that begins at a pointer, and its size, before anything is done. */
static jstatus_t reallocate_check(const jallocator_t *allocator, const void *pointer,
                                  size_t old_bytes) {
    jallocation_t block = JALLOCATION_INIT;
    JTRY_RETURN(jallocator_find(allocator, pointer, &block));

    if (block.pointer != pointer)
        return ji_refuse_interior(allocator, pointer, (uintptr_t)block.pointer, block.tag);

    if (block.size_bytes != old_bytes)
        return ji_refuse_size(allocator, pointer, block.tag, block.size_bytes, old_bytes);

    return JSTATUS_SUCCESS;
}

/* The old block may be given back when this returns: it is read no more, or is used again behind
 * the copy. */
static jstatus_t reallocate_copy(const jallocator_t *allocator, jstream_t *stream,
                                 void *destination, const void *source, size_t size_bytes) {
    jdevice_t *device = jallocator_device(allocator);

    JTRY_RETURN(jdevice_copy(device, stream, destination, source, size_bytes));

    if (ji_allocator_takes_in_order(allocator))
        return JSTATUS_SUCCESS;
    return jstream_synchronize(device, stream);
}

jstatus_t jallocator_reallocate(jallocator_t *allocator, size_t old_bytes, size_t new_bytes,
                                size_t alignment, jstream_t *stream, void **pointer) {
    JREQUIRE(allocator != NULL && pointer != NULL, JSTATUS_INVALID_POINTER);

    if (*pointer != NULL)
        JTRY_RETURN(reallocate_check(allocator, *pointer, old_bytes));

    void *moved;
    JTRY_RETURN(jallocator_allocate(allocator, new_bytes, alignment, stream, &moved));

    jstatus_t status = JSTATUS_SUCCESS;
    const size_t common = old_bytes < new_bytes ? old_bytes : new_bytes;
    if (*pointer != NULL && common != 0)
        JTRY(reallocate_copy(allocator, stream, moved, *pointer, common));
    JTRY(jallocator_deallocate(allocator, *pointer, old_bytes, stream));

    *pointer = moved;
    moved = NULL;

done:
    if (moved != NULL) { /* the message is that of what failed */
        ji_message_try_t attempt;
        ji_message_try_begin(&attempt);
        (void)jallocator_deallocate(allocator, moved, new_bytes, stream);
        ji_message_try_end(&attempt, true);
    }
    return status;
}
