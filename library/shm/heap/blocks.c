/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is done with an allocator in a segment: allocate, free, give, reallocate, and the stack.
 *
 * Allocating and freeing try the short way first, which is inline (heap.h) and needs no more than
 * that the attachment's lock is biased to this thread. Whatever it declines goes the long way,
 * which knows every case and every message.
 *
 * A stack is one word, `top`: allocating and rewinding change it by compare-and-swap, so there is
 * nothing in between. Its blocks are nobody's but the stack's. */

#include "shm/heap/heap.h"

#include <string.h>

/* ---- Stack ---- */

static uint64_t *stack_top(const jshared_t *shared) {
    return &shared->segment->allocators[shared->index].top;
}

static bool stack_swap(const jshared_t *shared, uint64_t *from, uint64_t to) {
    return __atomic_compare_exchange_n(stack_top(shared), from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

static jstatus_t stack_allocate(jshared_t *shared, size_t size_bytes, size_t alignment,
                                joffset_t *offset) {
    if (alignment < 16)
        alignment = 16;
    if (size_bytes > SIZE_MAX - SHM_PAGE_BYTES)
        return ji_fail(JSTATUS_INVALID_SIZE, "%zu bytes are more than any segment has", size_bytes);

    uint64_t top = shm_load(stack_top(shared)), begin;
    do {
        begin = (shared->region + top + alignment - 1) & ~((uint64_t)alignment - 1);
        if (top > shared->region_bytes || begin - shared->region > shared->region_bytes ||
            size_bytes > shared->region_bytes - (begin - shared->region))
            return ji_fail(JSTATUS_MEMORY_ERROR, "the stack has %llu of %zu bytes in use",
                           (unsigned long long)top, shared->region_bytes);
    } while (!stack_swap(shared, &top, begin - shared->region + size_bytes));

    *offset = begin;
    return JSTATUS_SUCCESS;
}

static jstatus_t stack_require(const jshared_t *shared, const char *caller) {
    return shared->kind == JSHARED_STACK
               ? JSTATUS_SUCCESS
               : ji_fail(JSTATUS_NOT_IMPLEMENTED, "%s: allocator %llu is no stack", caller,
                         (unsigned long long)shared->id);
}

jstatus_t jshared_get_mark(const jshared_t *shared, uint64_t *mark) {
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(mark != NULL, JSTATUS_INVALID_POINTER);

    jstatus_t status = stack_require(shared, __func__);
    if (status == JSTATUS_SUCCESS)
        *mark = shm_load(stack_top(shared));
    return status;
}

jstatus_t jshared_rewind(jshared_t *shared, uint64_t mark) {
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);

    jstatus_t status = stack_require(shared, __func__);
    if (status == JSTATUS_SUCCESS)
        status = ji_segment_begin(shared->segment);
    if (status != JSTATUS_SUCCESS)
        return status;

    uint64_t top = shm_load(stack_top(shared));
    do
        if (mark > top)
            status = ji_fail(JSTATUS_INVALID_VALUE, "the stack stands at %llu, below the mark %llu",
                             (unsigned long long)top, (unsigned long long)mark);
    while (status == JSTATUS_SUCCESS && !stack_swap(shared, &top, mark));

    ji_segment_end(shared->segment);
    return status;
}

bool ji_shared_pop(jshared_t *shared, joffset_t offset, size_t size_bytes) {
    uint64_t top = offset - shared->region + size_bytes;
    return stack_swap(shared, &top, offset - shared->region);
}

/* ---- Allocate, free ---- */

static jstatus_t shared_gone(const jshared_t *shared) {
    return ji_fail(JSTATUS_NOT_FOUND, "allocator %llu was destroyed",
                   (unsigned long long)shared->id);
}

/* An offset has an alignment above a page's in this process only where its mapping has it. */
static jstatus_t shared_check_alignment(const jshared_t *shared, size_t alignment) {
    const size_t most = shared->segment->backing.alignment;
    return ji_is_power_of_two(alignment) && (alignment <= SHM_PAGE_BYTES || alignment <= most)
               ? JSTATUS_SUCCESS
               : ji_fail(JSTATUS_INVALID_VALUE,
                         "alignment %zu: a power of two up to %zu is needed here", alignment, most);
}

jstatus_t ji_shared_allocate(jshared_t *shared, size_t size_bytes, size_t alignment,
                             joffset_t *offset) {
    if (size_bytes == 0)
        return JSTATUS_SUCCESS;
    if (shared->gone)
        return shared_gone(shared);
    if (alignment == 0)
        alignment = 16;
    JTRY_RETURN(shared_check_alignment(shared, alignment));

    return shared->kind == JSHARED_STACK ? stack_allocate(shared, size_bytes, alignment, offset)
                                         : ji_heap_allocate(shared, size_bytes, alignment, offset);
}

static jstatus_t __attribute__((noinline))
shared_allocate_slowly(jshared_t *shared, size_t size_bytes, size_t alignment, joffset_t *offset) {
    *offset = JOFFSET_NULL;

    JTRY_RETURN(ji_segment_begin(shared->segment));
    jstatus_t status = ji_shared_allocate(shared, size_bytes, alignment, offset);
    ji_segment_end(shared->segment);

    return status;
}

/* Begun the fast way, and no small block was ready. */
static jstatus_t __attribute__((noinline))
shared_allocate_cached(jshared_t *shared, size_t size_bytes, size_t alignment, joffset_t *offset) {
    const bool taken = ji_heap_take_cached(shared, size_bytes, alignment, offset);
    ji_segment_end_fast(shared->segment);
    return JI_LIKELY(taken) ? JSTATUS_SUCCESS
                            : shared_allocate_slowly(shared, size_bytes, alignment, offset);
}

/* Whatever else there is to do is called last, so that a block that is ready costs no saving of
 * registers. */
jstatus_t jshared_allocate(jshared_t *shared, size_t size_bytes, size_t alignment,
                           joffset_t *offset) {
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(offset != NULL, JSTATUS_INVALID_POINTER);
    jsegment_t *segment = shared->segment;

    if (JI_UNLIKELY(!ji_segment_begin_fast(segment)))
        return shared_allocate_slowly(shared, size_bytes, alignment, offset);
    if (JI_UNLIKELY(!ji_heap_take_ready(shared, segment->slot, size_bytes, alignment, offset)))
        return shared_allocate_cached(shared, size_bytes, alignment, offset);

    ji_segment_end_fast(segment);
    return JSTATUS_SUCCESS;
}

/* Under the attachment's lock, not the segment's. */
static jstatus_t shared_free_any(jshared_t *shared, joffset_t offset) {
    JTRY_RETURN(ji_segment_enter(shared->segment));
    jstatus_t status = ji_heap_free_any(shared, offset);
    ji_segment_leave(shared->segment);
    return status;
}

static jstatus_t shared_check_free(const jshared_t *shared) {
    if (shared->gone)
        return shared_gone(shared);
    if (shared->kind == JSHARED_STACK)
        return ji_fail(JSTATUS_NOT_IMPLEMENTED, "a stack's blocks are freed by jshared_rewind()");
    return JSTATUS_SUCCESS;
}

jstatus_t ji_shared_deallocate(jshared_t *shared, joffset_t offset) {
    jstatus_t status = shared_check_free(shared);
    bool freed = status == JSTATUS_SUCCESS && ji_heap_free_ready(shared, offset);
    if (status == JSTATUS_SUCCESS && !freed)
        status = ji_heap_free_own(shared, offset, &freed);
    if (status == JSTATUS_SUCCESS && !freed)
        status = shared_free_any(shared, offset);
    return status;
}

static jstatus_t __attribute__((noinline))
shared_deallocate_slowly(jshared_t *shared, joffset_t offset) {
    if (offset == JOFFSET_NULL)
        return JSTATUS_SUCCESS;

    JTRY_RETURN(ji_segment_begin(shared->segment));
    jstatus_t status = ji_shared_deallocate(shared, offset);
    ji_segment_end(shared->segment);
    return status;
}

/* Begun the fast way, and it was no small block of this slot's. */
static jstatus_t __attribute__((noinline))
shared_deallocate_cached(jshared_t *shared, joffset_t offset) {
    const bool freed = ji_heap_free_cached(shared, offset);
    ji_segment_end_fast(shared->segment);
    return JI_LIKELY(freed) ? JSTATUS_SUCCESS : shared_deallocate_slowly(shared, offset);
}

jstatus_t jshared_deallocate(jshared_t *shared, joffset_t offset) {
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);
    jsegment_t *segment = shared->segment;

    if (JI_UNLIKELY(!ji_segment_begin_fast(segment)))
        return shared_deallocate_slowly(shared, offset);
    if (JI_UNLIKELY(!ji_heap_free_ready(shared, offset)))
        return shared_deallocate_cached(shared, offset);

    ji_segment_end_fast(segment);
    return JSTATUS_SUCCESS;
}

/* Frees what it can of so many; those that need the segment's lock under one. */
static jstatus_t shared_free_many(jshared_t *shared, size_t count, const joffset_t offsets[]) {
    jstatus_t status = shared_check_free(shared), first = JSTATUS_SUCCESS;
    bool inside = false;

    for (size_t i = 0; i < count && status == JSTATUS_SUCCESS; ++i) {
        if (offsets[i] == JOFFSET_NULL)
            continue;

        bool freed = ji_heap_free_ready(shared, offsets[i]);
        jstatus_t answer = freed ? JSTATUS_SUCCESS : ji_heap_free_own(shared, offsets[i], &freed);
        if (answer == JSTATUS_SUCCESS && !freed) {
            if (!inside && (status = ji_segment_enter(shared->segment)) != JSTATUS_SUCCESS)
                break;
            inside = true;
            answer = ji_heap_free_any(shared, offsets[i]);
        }

        if (answer == JSTATUS_NOT_FOUND)
            first = answer;
        else
            status = answer;
    }

    if (inside)
        ji_segment_leave(shared->segment);
    return status != JSTATUS_SUCCESS ? status : first;
}

/* An array that no memory has cannot be there: none of it is read or written. */
static jstatus_t shared_check_count(size_t count, const char *caller) {
    if (!ji_is_array(count, sizeof(joffset_t)))
        return ji_fail(JSTATUS_INVALID_SIZE, "%s: count = %zu: more offsets than memory can hold",
                       caller, count);
    return JSTATUS_SUCCESS;
}

jstatus_t jshared_deallocate_many(jshared_t *shared, size_t count, const joffset_t offsets[]) {
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(offsets != NULL || count == 0, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(shared_check_count(count, __func__));
    JTRY_RETURN(ji_segment_begin(shared->segment));

    jstatus_t status = shared_free_many(shared, count, offsets);
    ji_segment_end(shared->segment);
    return status;
}

jstatus_t jshared_allocate_many(jshared_t *shared, size_t size_bytes, size_t alignment,
                                size_t count, joffset_t offsets[]) {
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(offsets != NULL || count == 0, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(shared_check_count(count, __func__));

    if (count != 0)
        memset(offsets, 0, count * sizeof *offsets);
    if (size_bytes == 0 || count == 0)
        return JSTATUS_SUCCESS;

    JTRY_RETURN(ji_segment_begin(shared->segment));
    jstatus_t status = JSTATUS_SUCCESS;

    const uint64_t mark = shared->kind == JSHARED_STACK ? shm_load(stack_top(shared)) : 0;
    size_t done = 0;
    while (done < count && (status = ji_shared_allocate(shared, size_bytes, alignment,
                                                        &offsets[done])) == JSTATUS_SUCCESS)
        ++done;

    if (status != JSTATUS_SUCCESS) {
        if (shared->kind != JSHARED_STACK) {
            (void)shared_free_many(shared, done, offsets);
        } else if (done != 0) {
            /* Unless others have allocated since. */
            uint64_t top = offsets[done - 1] - shared->region + size_bytes;
            (void)stack_swap(shared, &top, mark);
        }
        memset(offsets, 0, count * sizeof *offsets);
    }

    ji_segment_end(shared->segment);
    return status;
}

/* ---- Describe, give, reallocate ---- */

static jstatus_t shared_find(jshared_t *shared, joffset_t offset, shm_found_t *found) {
    jstatus_t status = shared_check_free(shared);
    if (status == JSTATUS_SUCCESS && !ji_heap_find(shared, offset, found))
        status = ji_fail(JSTATUS_NOT_FOUND,
                         "allocator %llu: offset %llu is not the beginning of a live block",
                         (unsigned long long)shared->id, (unsigned long long)offset);
    return status;
}

jstatus_t jshared_describe(const jshared_t *shared, joffset_t offset, size_t *usable_bytes,
                           unsigned *owner) {
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);
    shm_found_t found = {0};
    const bool reads = shared->segment->read_only;
    JTRY_RETURN(ji_segment_begin_reading(shared->segment));
    jstatus_t status = JSTATUS_SUCCESS;

    if (!reads)
        status = ji_segment_enter(shared->segment);
    if (status == JSTATUS_SUCCESS) {
        status = shared_find((jshared_t *)shared, offset, &found);
        if (!reads)
            ji_segment_leave(shared->segment);
    }
    ji_segment_end(shared->segment);

    if (status == JSTATUS_SUCCESS && usable_bytes != NULL)
        *usable_bytes = found.usable_bytes;
    if (status == JSTATUS_SUCCESS && owner != NULL)
        *owner = found.owner;
    return status;
}

/* Under the segment's lock. */
static jstatus_t shared_give(jshared_t *shared, joffset_t offset, unsigned slot) {
    jsegment_t *segment = shared->segment;
    shm_found_t found;
    JTRY_RETURN(shared_find(shared, offset, &found));

    if (slot != SHM_SLOT_SEGMENT && (slot == 0 || slot > segment->constants.slot_count ||
                                     shm_load(&segment->slots[slot - 1].state) != SHM_SLOT_TAKEN))
        return ji_fail(JSTATUS_INVALID_VALUE, "slot %u is not in use", slot);
    if (found.owner != segment->slot && found.owner != SHM_SLOT_SEGMENT)
        return ji_fail(JSTATUS_PERMISSION, "offset %llu belongs to slot %u",
                       (unsigned long long)offset, found.owner);

    uint64_t *word = &segment->table[found.page].word;
    if (!found.is_block_of_slab) {
        uint64_t expected = found.word;
        if (!__atomic_compare_exchange_n(word, &expected, SHM_WITH_OWNER(found.word, slot), false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return ji_fail(JSTATUS_NOT_FOUND, "offset %llu was freed meanwhile",
                           (unsigned long long)offset);
        segment->map[found.page] =
            slot == segment->slot ? (uintptr_t)(SHM_PAGES(found.word) << 1 | 1) : 0;
        return JSTATUS_SUCCESS;
    }

    if ((found.word & SHM_GIVEN) == 0) {
        ji_put(segment, word, found.word | SHM_GIVEN);
        (void)ji_commit(segment); /* one word: the log has room for it */
    }

    atomic_store_explicit(&ji_slab_owners(segment, found.page, &found.geometry)[found.index],
                          (uint8_t)slot, memory_order_release);
    return JSTATUS_SUCCESS;
}

jstatus_t jshared_give(jshared_t *shared, joffset_t offset, unsigned slot) {
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);

    jstatus_t status = ji_segment_lock(shared->segment);
    return status == JSTATUS_SUCCESS
               ? ji_segment_unlock(shared->segment, shared_give(shared, offset, slot))
               : status;
}

/* Whether a block may stay where it is: it fits and wastes no more than half (of one size none is
 * longer, and all waste alike), and lies right. */
static bool shared_may_stay(const jshared_t *shared, const shm_found_t *found, joffset_t offset,
                            size_t size_bytes, size_t alignment) {
    return (shared->kind == JSHARED_PAGES
                ? size_bytes <= shared->block_bytes
                : size_bytes <= found->usable_bytes && size_bytes > found->usable_bytes / 2) &&
           (alignment == 0 || (offset & (alignment - 1)) == 0);
}

/* An extent in place: shorter, or longer by what is free behind it. Under the segment's lock. */
static jstatus_t shared_resize(jshared_t *shared, const shm_found_t *found, size_t size_bytes) {
    jsegment_t *segment = shared->segment;
    const uint64_t pages = (size_bytes + SHM_PAGE_BYTES - 1) >> SHM_PAGE_SHIFT;
    jstatus_t status = ji_pages_resize(segment, found->page, pages);
    status = ji_finish(segment, status);
    if (status == JSTATUS_SUCCESS && segment->map[found->page] != 0)
        segment->map[found->page] = pages << 1 | 1;
    return status;
}

/* Copies a block to a new one, which gets its owner, and frees it. Begun already; not under the
 * segment's lock. */
static jstatus_t shared_move(jshared_t *shared, const shm_found_t *found, joffset_t *offset,
                             size_t size_bytes, size_t alignment) {
    jsegment_t *segment = shared->segment;
    joffset_t moved = JOFFSET_NULL;
    JTRY_RETURN(ji_shared_allocate(shared, size_bytes, alignment, &moved));

    memcpy(segment->base + moved, segment->base + *offset,
           size_bytes < found->usable_bytes ? size_bytes : found->usable_bytes);

    jstatus_t status = ji_segment_enter(segment);
    if (status == JSTATUS_SUCCESS) {
        if (found->owner != segment->slot && !JI_PLANTED(12))
            status = shared_give(shared, moved, found->owner);
        if (status == JSTATUS_SUCCESS)
            status = ji_heap_free_any(shared, *offset);
        if (status != JSTATUS_SUCCESS)
            (void)ji_heap_free_any(shared, moved);
        ji_segment_leave(segment);
    } else { /* one that is too long for the cache stays until the slot is left */
        bool freed;
        (void)ji_heap_free_own(shared, moved, &freed);
    }

    if (status == JSTATUS_SUCCESS)
        *offset = moved;
    return status;
}

static jstatus_t shared_reallocate(jshared_t *shared, joffset_t *offset, size_t size_bytes,
                                   size_t alignment) {
    jsegment_t *segment = shared->segment;
    shm_found_t found;
    if (alignment != 0)
        JTRY_RETURN(shared_check_alignment(shared, alignment));

    JTRY_RETURN(ji_segment_enter(segment));
    jstatus_t status = shared_find(shared, *offset, &found);
    bool done = status != JSTATUS_SUCCESS ||
                shared_may_stay(shared, &found, *offset, size_bytes, alignment);
    if (!done && !found.is_block_of_slab && shared->kind == JSHARED_GENERAL &&
        size_bytes > SHM_SMALL_BYTES && size_bytes < SIZE_MAX - SHM_PAGE_BYTES &&
        (alignment == 0 || (*offset & (alignment - 1)) == 0)) {
        status = shared_resize(shared, &found, size_bytes);
        done = status != JSTATUS_MEMORY_ERROR;
    }
    ji_segment_leave(segment);

    return done ? status : shared_move(shared, &found, offset, size_bytes, alignment);
}

jstatus_t jshared_reallocate(jshared_t *shared, joffset_t *offset, size_t size_bytes,
                             size_t alignment) {
    JREQUIRE(shared != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(offset != NULL, JSTATUS_INVALID_POINTER);

    if (*offset == JOFFSET_NULL)
        return jshared_allocate(shared, size_bytes, alignment, offset);
    if (size_bytes == 0) {
        jstatus_t status = jshared_deallocate(shared, *offset);
        if (status == JSTATUS_SUCCESS)
            *offset = JOFFSET_NULL;
        return status;
    }

    JTRY_RETURN(ji_segment_begin(shared->segment));
    jstatus_t status = shared_reallocate(shared, offset, size_bytes, alignment);
    ji_segment_end(shared->segment);
    return status;
}
