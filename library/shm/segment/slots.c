/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* An attachment's slot: taken, left, taken anew in the child of a fork; and how a function on a
 * segment begins.
 *
 * With a file behind the segment, whoever has the lock on the slot's byte is the slot; the kernel
 * takes it away when the process dies, so nobody has to be asked whether it lives. Without a file
 * the slot's claim names the process by pid and start time. Whoever gets a slot that its last owner
 * left by dying reaps that one first, so a slot that is alive has nothing of its predecessor's.
 *
 *     take byte (or claim) | generation + 1 | lock | reap predecessor | state = taken | unlock
 *     dead here: byte is free again           dead here: the next one does the same
 *
 * A forked child's attachment has no slot until its first use, which finds it not ready
 * (ji_segment_begin()) and gets one; what the attachment held privately was the parent's and is
 * forgotten. */

#include "shm/segment/segment.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SLOT_JOIN_PASSES 4

static bool slot_take(jsegment_t *segment, unsigned slot, bool also_of_dead) {
    shm_slot_t *entry = &segment->slots[slot - 1];

    if (segment->backing.has_file)
        return (also_of_dead || shm_load(&entry->state) == SHM_SLOT_FREE) &&
               shm_life_take(&segment->backing, slot);

    uint64_t claim = shm_load(&entry->claim);
    if (claim != 0 &&
        (!also_of_dead || shm_life_of(&segment->backing, slot, claim) != SHM_DEAD_PROCESS))
        return false;

    return __atomic_compare_exchange_n(&entry->claim, &claim,
                                       shm_life_identity(&segment->backing, &segment->constants),
                                       false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void slot_give_up(jsegment_t *segment, unsigned slot) {
    if (segment->backing.has_file)
        shm_life_release(&segment->backing, slot);
    else
        shm_store(&segment->slots[slot - 1].claim, 0);
}

/* Takes a slot; 0: none is to be had. Free ones first, then those of the dead; again, since one may
 * become free behind the search and another one be taken before it. */
static unsigned slot_find(jsegment_t *segment) {
    for (int pass = 0; pass < SLOT_JOIN_PASSES; ++pass)
        for (unsigned slot = 1; slot <= segment->constants.slot_count; ++slot)
            if (slot_take(segment, slot, pass > 0))
                return slot;
    return 0;
}

/* Reaps whoever had the slot and died, makes it this attachment's, and reaps all other dead ones.
 * Under the segment's lock. */
static jstatus_t slot_settle(jsegment_t *segment, uint64_t generation) {
    shm_slot_t *entry = &segment->slots[segment->slot - 1];
    if (shm_load(&entry->state) != SHM_SLOT_FREE) {
        JTRY_RETURN(ji_reap_slot(segment, segment->slot));
        shm_count(&segment->header->reaped_count);
    }

    uint64_t opened = 0;
    for (unsigned i = 0; i < SHM_ALLOCATORS; ++i)
        if (segment->open[i] != NULL && ji_shared_is_there(segment->open[i]))
            opened |= (uint64_t)1 << i;

    shm_store(&entry->opened, opened);
    shm_store(&entry->dirty, 0);
    __atomic_store_n(&entry->pid, (int64_t)getpid(), __ATOMIC_RELAXED);
    __atomic_store_n(&entry->attached_at, (int64_t)time(NULL), __ATOMIC_RELAXED);
    shm_store(&entry->pid_namespace, segment->backing.pid_namespace);
    shm_store(&entry->joined, generation);
    shm_store(&entry->state, SHM_SLOT_TAKEN);
    return ji_reap_all(segment, NULL);
}

jstatus_t ji_slot_join(jsegment_t *segment) {
    const unsigned slot = slot_find(segment);
    if (slot == 0)
        return ji_fail(JSTATUS_NO_SLOT,
                       "%llu processes are attached, as many as the segment has room for",
                       (unsigned long long)segment->constants.slot_count);

    shm_slot_t *entry = &segment->slots[slot - 1];
    const uint64_t generation = shm_load(&entry->generation) + 1;
    shm_store(&entry->generation, generation);
    segment->slot = slot;
    segment->lock_word = SHM_LOCK_WORD(slot, generation);

    jstatus_t status = ji_segment_enter(segment);
    if (status == JSTATUS_SUCCESS) {
        status = slot_settle(segment, generation);
        if (status == JSTATUS_SUCCESS)
            ji_segment_set_ready(segment, true);
        ji_segment_leave(segment);
    }

    if (status != JSTATUS_SUCCESS) {
        slot_give_up(segment, slot);
        segment->slot = 0;
    }
    return status;
}

jstatus_t ji_slot_leave(jsegment_t *segment) {
    for (unsigned i = 0; i < SHM_ALLOCATORS; ++i)
        if (segment->open[i] != NULL && segment->open[i]->above_count > 0)
            return ji_fail(JSTATUS_BUSY, "a jallocator_t stands over allocator %llu of the segment",
                           (unsigned long long)segment->open[i]->id);

    if (segment->slot == 0)
        return JSTATUS_SUCCESS;

    JTRY_RETURN(ji_segment_enter_anyway(segment));
    /* A segment that is found damaged here is left as it is. */
    if (!ji_segment_is_poisoned(segment))
        (void)ji_reap_slot(segment, segment->slot);

    const unsigned slot = segment->slot;
    ji_segment_set_ready(segment, false);
    segment->slot = 0;
    ji_segment_leave(segment);

    slot_give_up(segment, slot);
    return JSTATUS_SUCCESS;
}

/* A child of a fork begins to use its parent's attachment. */
static jstatus_t segment_join_again(jsegment_t *segment) {
    if (segment->backing.has_file && segment->backing.descriptor < 0)
        return ji_fail(JSTATUS_FORKED, "the segment's file could not be opened anew after a fork");

    for (unsigned i = 0; i < SHM_ALLOCATORS; ++i)
        if (segment->open[i] != NULL)
            ji_heap_forget(segment->open[i]);
    for (unsigned i = 0; i <= SHM_CACHE_PAGES; ++i)
        segment->cache[i].count = 0;
    segment->cached_pages = 0;

    /* Zeros: extents of the parent's. */
    (void)madvise(segment->map, ji_segment_map_bytes(segment), MADV_DONTNEED);
    return ji_slot_join(segment);
}

/* ---- How a function begins ---- */

jstatus_t ji_segment_begin_slowly_(jsegment_t *segment) {
    jstatus_t status = segment->read_only
                           ? ji_fail(JSTATUS_READ_ONLY, "the segment is attached for reading alone")
                           : segment_join_again(segment);
    if (status != JSTATUS_SUCCESS)
        ji_segment_end(segment);
    return status;
}

jstatus_t ji_segment_begin_reading(jsegment_t *segment) {
    if (!segment->read_only)
        return ji_segment_begin(segment);

    if (segment->locks)
        ji_lock_acquire(&segment->lock);

    if (ji_pages_refresh(segment))
        return JSTATUS_SUCCESS;
    ji_segment_end(segment);
    return ji_fail(JSTATUS_CORRUPTED, "the segment says that it is larger than its memory");
}

jstatus_t ji_segment_lock(jsegment_t *segment) {
    JTRY_RETURN(ji_segment_begin(segment));
    jstatus_t status = ji_segment_enter(segment);
    if (status != JSTATUS_SUCCESS)
        ji_segment_end(segment);
    return status;
}
jstatus_t ji_segment_unlock(jsegment_t *segment, jstatus_t status) {
    ji_segment_leave(segment);
    ji_segment_end(segment);
    return status;
}
