/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Giving back what a dead process owned; also what a detaching one leaves, and the memory of a
 * destroyed allocator.
 *
 * One walk over the page table, by extents. What was the dead slot's and nobody else's is free:
 * extents, cached extents, slabs without given blocks. Neighbours of that sort are freed as one
 * run, so that a process that owned a million blocks is reaped in the time of its slabs. A slab of
 * the dead with blocks that were given away loses its other blocks and becomes an orphan, the
 * segment's. In the slabs of others, blocks that had been given to the dead are freed.
 *
 *     | SLAB d | BLOCK d | BLOCK d | BLOCK a | ...
 *     | DEAD 7  (old words inside) | BLOCK a | ...    1. one store covers the run
 *     | DEAD 7    0    0    0    0 | BLOCK a | ...    2. the words inside are cleared, in any order
 *     | FREE 7                     | BLOCK a | ...    3. freed, through the undo log
 *
 * The reaper may be killed at any instruction as well. The next one finds the slot still taken and
 * begins again: each extent that is done does not belong to the dead any more, a DEAD run is
 * cleared once more, and bits that are cleared twice are clear. The slot becomes free last. */

#include "shm/heap/heap.h"

#include <string.h>

bool ji_slot_is_dead(const jsegment_t *segment, unsigned slot) {
    if (slot == segment->slot)

        return false;
    return shm_life_of(&segment->backing, slot, shm_load(&segment->slots[slot - 1].claim)) ==
           SHM_DEAD_PROCESS;
}

/* What becomes of an extent. */
typedef enum reap_verdict { REAP_KEEP, REAP_FREE, REAP_SIFT } reap_verdict_t;

/* Frees the run [page, end). Its first word is DEAD, left by a reaper that was killed: what is
 * inside may be anything. Or it is the first of extents that follow each other. */
static jstatus_t reap_run(jsegment_t *segment, uint64_t page, uint64_t end, uint64_t *after) {
    const uint64_t word = shm_page_word(segment, page);

    if (SHM_STATE(word) == SHM_DEAD) {
        memset(&segment->table[page + 1], 0,
               JI_PLANTED(10) ? 0 : (end - page - 1) * sizeof segment->table[0]);
    } else if (SHM_PAGES(word) != end - page) {
        shm_store(&segment->table[page].word, SHM_WORD(SHM_DEAD, 0, 0, 0, end - page));
        atomic_signal_fence(memory_order_seq_cst);
        for (uint64_t next = page + SHM_PAGES(word), pages; next < end; next += pages) {
            pages = SHM_PAGES(shm_page_word(segment, next));
            if (pages == 0)
                return JI_POISON(segment, "page %llu changed while it was reaped",
                                 (unsigned long long)next);
            shm_store(&segment->table[next].word, 0);
            shm_store(&segment->table[next].links, 0);
        }
    }

    jstatus_t status = ji_pages_free(segment, page, after);
    return ji_finish(segment, status);
}

/* A slab of the dead with given blocks: frees what was its own. Nothing left: *empty. */
static jstatus_t reap_sift(jsegment_t *segment, uint64_t page, uint64_t word, unsigned slot,
                           bool *empty) {
    shm_geometry_t geometry;
    if (!ji_slab_at(segment, page, word, &geometry))
        return JI_POISON(segment, "page %llu is no sound slab", (unsigned long long)page);

    _Atomic(uint8_t) *owners = ji_slab_owners(segment, page, &geometry);
    *empty = true;
    for (uint32_t i = 0; i < geometry.block_count; ++i) {
        const unsigned owner = ji_slab_owner(segment, page, &geometry, i);
        if (owner == 0 || owner == slot || JI_PLANTED(8))
            atomic_store_explicit(&owners[i], 0, memory_order_release);
        else
            *empty = false;
    }

    for (uint32_t w = 0; w < geometry.words; ++w)
        atomic_store_explicit(&ji_slab_freed(segment, page)[w], 0, memory_order_release);

    if (*empty)
        return JSTATUS_SUCCESS;

    ji_page_list_insert(segment, &segment->header->orphans, page);
    ji_put(segment, &segment->table[page].word,
           (word & ~SHM_LINKED) | (uint64_t)SHM_SLOT_SEGMENT << 8);
    return ji_commit(segment);
}

/* A slab of somebody else's, in which blocks may have been given to the dead. An orphan may become
 * free: then *end is where the free extent ends. */
static jstatus_t reap_gifts(jsegment_t *segment, uint64_t page, uint64_t word, unsigned slot,
                            uint64_t *end) {
    shm_geometry_t geometry;
    jstatus_t status = JSTATUS_SUCCESS;
    if (!ji_slab_at(segment, page, word, &geometry))
        return JI_POISON(segment, "page %llu is no sound slab", (unsigned long long)page);

    bool linked = false;
    for (uint32_t i = 0; i < geometry.block_count; ++i) {
        if (ji_slab_owner(segment, page, &geometry, i) != slot)
            continue;

        if (SHM_OWNER(word) == SHM_SLOT_SEGMENT) {
            atomic_store_explicit(&ji_slab_owners(segment, page, &geometry)[i], 0,
                                  memory_order_release);
            continue;
        }

        if (!linked && (status = ji_heap_link(segment, page, word)) != JSTATUS_SUCCESS)
            return status;
        linked = true;
        ji_slab_note_freed(segment, page, i);
    }

    if (SHM_OWNER(word) == SHM_SLOT_SEGMENT) /* also one that a killed process left empty */
        status = ji_heap_drop_orphan(segment, page, &geometry, end);
    return status;
}

/* Walks all extents. `judge` says what becomes of each; those to be freed are freed in runs. */
typedef reap_verdict_t (*reap_judge_t)(uint64_t word, unsigned which);

static jstatus_t reap_walk(jsegment_t *segment, reap_judge_t judge, unsigned which, bool gifts) {
    const uint64_t total = ji_pages_total(segment);
    uint64_t page = segment->constants.first_page;
    jstatus_t status = JSTATUS_SUCCESS;

    while (page < total && status == JSTATUS_SUCCESS) {
        uint64_t word = shm_page_word(segment, page), end = page + SHM_PAGES(word);
        if (!ji_pages_is_extent(segment, page, word))
            return JI_POISON(segment, "no extent begins at page %llu", (unsigned long long)page);

        reap_verdict_t verdict = judge(word, which);
        if (verdict == REAP_SIFT) {
            bool empty = false;
            if ((status = reap_sift(segment, page, word, which, &empty)) != JSTATUS_SUCCESS)
                return status;
            if (empty)
                verdict = REAP_FREE;
        } else if (verdict == REAP_KEEP && gifts && SHM_STATE(word) == SHM_SLAB &&
                   ((word & SHM_GIVEN) != 0 || SHM_OWNER(word) == SHM_SLOT_SEGMENT)) {
            status = reap_gifts(segment, page, word, which, &end);
        }

        if (verdict == REAP_FREE) {
            /* A DEAD one stands alone, as the words inside it are not to be believed. */
            const bool alone = SHM_STATE(word) == SHM_DEAD;
            while (!alone && end < total) {
                word = shm_page_word(segment, end);
                if (!ji_pages_is_extent(segment, end, word) || SHM_STATE(word) == SHM_DEAD ||
                    judge(word, which) != REAP_FREE)
                    break;
                end += SHM_PAGES(word);
            }
            status = reap_run(segment, page, end, &end);
        }

        page = end;
    }
    return status;
}

static reap_verdict_t judge_slot(uint64_t word, unsigned slot) {
    const shm_state_t state = SHM_STATE(word);
    if (state == SHM_DEAD)
        return REAP_FREE;
    if (SHM_OWNER(word) != slot || (state != SHM_BLOCK && state != SHM_CACHED && state != SHM_SLAB))
        return REAP_KEEP;
    return state == SHM_SLAB && (word & SHM_GIVEN) != 0 ? REAP_SIFT : REAP_FREE;
}

jstatus_t ji_reap_slot(jsegment_t *segment, unsigned slot) {
    shm_slot_t *dead = &segment->slots[slot - 1];

    /* A newcomer may have the slot by now and look alive; whoever finds this state need not ask. */
    shm_store(&dead->state, JI_PLANTED(9) ? SHM_SLOT_FREE : SHM_SLOT_REAPING);
    atomic_signal_fence(memory_order_seq_cst);

    shm_store(&dead->dirty, 0); /* the list is of slabs that are about to go */
    JTRY_RETURN(reap_walk(segment, judge_slot, slot, true));

    shm_store(&dead->opened, 0);
    __atomic_store_n(&dead->pid, 0, __ATOMIC_RELAXED);
    atomic_signal_fence(memory_order_seq_cst);
    shm_store(&dead->state, SHM_SLOT_FREE);
    return JSTATUS_SUCCESS;
}

static reap_verdict_t judge_allocator(uint64_t word, unsigned index) {
    const shm_state_t state = SHM_STATE(word);
    if (state == SHM_DEAD)
        return REAP_FREE;
    return SHM_ALLOCATOR(word) == index &&
                   (state == SHM_BLOCK || state == SHM_SLAB || state == SHM_REGION)
               ? REAP_FREE
               : REAP_KEEP;
}

/* The lists of slabs lose those of the allocator. */
static jstatus_t reap_unlist(jsegment_t *segment, uint64_t *head, unsigned index) {
    const uint64_t total = ji_pages_total(segment);
    uint64_t page = shm_load(head), steps = 0;
    while (page != 0) {
        if (page >= total || ++steps > total)
            return JI_POISON(segment, "a list of slabs does not end");

        const uint64_t next = shm_load(&segment->table[page].links) & 0xffffffffu;
        if (SHM_ALLOCATOR(shm_page_word(segment, page)) == index) {
            jstatus_t status = ji_page_list_remove(segment, head, page);
            if (status != JSTATUS_SUCCESS)
                return ji_undo(segment, status);
            ji_put(segment, &segment->table[page].word, shm_page_word(segment, page) & ~SHM_LINKED);
            if ((status = ji_commit(segment)) != JSTATUS_SUCCESS)
                return status;
        }

        page = next;
    }
    return JSTATUS_SUCCESS;
}

jstatus_t ji_reap_allocator(jsegment_t *segment, unsigned index) {
    jstatus_t status = reap_unlist(segment, &segment->header->orphans, index);
    for (unsigned i = 0; i < segment->constants.slot_count && status == JSTATUS_SUCCESS; ++i)
        status = reap_unlist(segment, &segment->slots[i].dirty, index);

    if (status == JSTATUS_SUCCESS)
        status = reap_walk(segment, judge_allocator, index, false);
    if (status == JSTATUS_SUCCESS)
        shm_store(&segment->allocators[index].state, SHM_ALLOCATOR_FREE);
    return status;
}

jstatus_t ji_reap_all(jsegment_t *segment, unsigned *count) {
    unsigned reaped = 0;
    jstatus_t status = JSTATUS_SUCCESS;
    for (unsigned slot = 1; slot <= segment->constants.slot_count && status == JSTATUS_SUCCESS;
         ++slot) {
        shm_slot_t *entry = &segment->slots[slot - 1];
        uint64_t claim = shm_load(&entry->claim);
        const uint64_t state = shm_load(&entry->state);
        if (slot == segment->slot || (state == SHM_SLOT_FREE && claim == 0))
            continue;

        const bool claimer_is_dead =
            shm_life_of(&segment->backing, slot, claim) == SHM_DEAD_PROCESS;
        if (state == SHM_SLOT_TAKEN && shm_load(&entry->joined) == shm_load(&entry->generation) &&
            !claimer_is_dead)
            continue;

        if (state != SHM_SLOT_FREE) /* else somebody died who was about to come, or had just left */
            status = ji_reap_slot(segment, slot);

        /* A claim of a newcomer's, who waits for the lock, stays. */
        if (status == JSTATUS_SUCCESS && claimer_is_dead)
            (void)__atomic_compare_exchange_n(&entry->claim, &claim, 0, false, __ATOMIC_RELEASE,
                                              __ATOMIC_RELAXED);

        if (status == JSTATUS_SUCCESS && state != SHM_SLOT_FREE) {
            shm_count(&segment->header->reaped_count);
            ++reaped;
        }
    }

    for (unsigned i = 0; i < SHM_ALLOCATORS && status == JSTATUS_SUCCESS; ++i)
        if (shm_load(&segment->allocators[i].state) == SHM_ALLOCATOR_ENDING)
            status = ji_reap_allocator(segment, i);

    if (count != NULL && status == JSTATUS_SUCCESS)
        *count = reaped;
    return status;
}
