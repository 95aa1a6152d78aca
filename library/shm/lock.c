/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The lock between processes, and changes that are made whole or not at all.
 *
 * The lock's word names its holder: the slot and how many times that slot has been taken. Who finds
 * it held looks whether the holder lives, and takes the lock over from a dead one by one
 * compare-and-swap, so one does. Nobody waits for a dead process longer than it takes to look,
 * because waits in the kernel are timed.
 *
 * Undo log: before a word is changed, its offset and what was there are appended, and the count
 * says so; only then the word is changed. Commit is count = 0. So at every instruction the segment
 * is as it was before the change, or as after it, once the entries counted are put back from the
 * last to the first. That is done by whoever takes the lock next, and doing it twice does no harm:
 * it may be killed as well.
 *
 *     append entry | count + 1 | change word | append | count + 1 | change | ... | count = 0
 *     nothing yet  | undone    | undone      | ...                                | lasting
 *
 * A process that is killed has done all its instructions up to one and none after it; other
 * processors see its stores at the latest when the kernel says that it is dead. So only the
 * compiler has to be kept from reordering. */

#include "shm/shm.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef JALLOC_PLANT_BUGS
unsigned ji_planted_bug;
#endif

#define LOCK_SPINS 200 /* a few microseconds: most holders are done by then */
#define LOCK_WAIT_NS 2000000

static uint32_t lock_load(const jsegment_t *segment) {
    return __atomic_load_n(&segment->header->lock, __ATOMIC_RELAXED);
}
static bool lock_swap(jsegment_t *segment, uint32_t from, uint32_t to) {
    return __atomic_compare_exchange_n(&segment->header->lock, &from, to, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static void lock_sleep(jsegment_t *segment, uint32_t word) {
    const struct timespec wait = {0, LOCK_WAIT_NS};
    if ((word & SHM_LOCK_WAITERS) != 0 || lock_swap(segment, word, word | SHM_LOCK_WAITERS))
        (void)syscall(SYS_futex, &segment->header->lock, FUTEX_WAIT, word | SHM_LOCK_WAITERS, &wait,
                      NULL, 0);
}

static int64_t lock_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whether the lock's word cannot be a living holder's: no slot, this attachment's own (it does not
 * hold it), a slot that was taken again since, or a dead one. */
static bool lock_is_abandoned(const jsegment_t *segment, uint32_t word) {
    const unsigned slot = SHM_LOCK_SLOT(word);
    if (JI_PLANTED(5))
        return false;

    if (slot == 0 || slot > segment->constants.slot_count || slot == segment->slot)
        return true;

    const uint64_t generation = shm_load(&segment->slots[slot - 1].generation);
    return (generation & 0x7fffff) != SHM_LOCK_GENERATION(word) || ji_slot_is_dead(segment, slot);
}

/* Looks at the word for a few microseconds, or until it is free. */
static uint32_t lock_spin(const jsegment_t *segment) {
    uint32_t word = lock_load(segment);
    for (unsigned i = 0; i < LOCK_SPINS && word != 0; ++i) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
        word = lock_load(segment);
    }
    return word;
}

static jstatus_t lock_acquire(jsegment_t *segment, bool *taken_over) {
    int64_t deadline = 0;
    *taken_over = false;

    for (unsigned round = 0;; ++round) {
        const uint32_t word = lock_spin(segment);
        if (word == 0) {
            /* Others may sleep: after the first wait of one's own, wake one on leaving. */
            if (lock_swap(segment, 0, segment->lock_word | (round > 0 ? SHM_LOCK_WAITERS : 0)))
                return JSTATUS_SUCCESS;
            continue;
        }

        if (lock_is_abandoned(segment, word)) {
            *taken_over = lock_swap(segment, word, segment->lock_word | SHM_LOCK_WAITERS);
            if (*taken_over)
                return JSTATUS_SUCCESS;
            continue;
        }

        const int64_t now = lock_now_ms();
        if (deadline == 0)
            deadline = now + (int64_t)segment->timeout_ms;

        if (now >= deadline)
            return ji_fail(JSTATUS_BUSY,
                           "the segment's lock has been held for %llu ms by slot %u (process %lld)",
                           (unsigned long long)segment->timeout_ms, SHM_LOCK_SLOT(word),
                           (long long)__atomic_load_n(&segment->slots[SHM_LOCK_SLOT(word) - 1].pid,
                                                      __ATOMIC_RELAXED));

        lock_sleep(segment, word);
    }
}

static void lock_release(jsegment_t *segment) {
    segment->lock_held = false;

    const uint32_t word = __atomic_exchange_n(&segment->header->lock, 0, __ATOMIC_RELEASE);
    if (JI_UNLIKELY((word & SHM_LOCK_WAITERS) != 0))
        (void)syscall(SYS_futex, &segment->header->lock, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- Changes ---- */

void ji_segment_poison(jsegment_t *segment) {
    if (!segment->read_only)
        __atomic_store_n(&segment->header->poisoned, 1, __ATOMIC_RELAXED);
}

bool ji_segment_is_poisoned(const jsegment_t *segment) {
    return __atomic_load_n(&segment->header->poisoned, __ATOMIC_RELAXED) != 0;
}

void ji_put(jsegment_t *segment, uint64_t *word, uint64_t value) {
    const uint64_t count = segment->log_count;
    if (JI_UNLIKELY(count == SHM_LOG_ENTRIES)) {
        segment->broken = true;
        return;
    }

    if (JI_PLANTED(2))
        shm_store(&segment->header->log_count, count + 1);
    shm_store(&segment->log[count].offset, (uint64_t)((char *)word - segment->base));
    shm_store(&segment->log[count].old_value, shm_load(word));
    atomic_signal_fence(memory_order_seq_cst);

    if (JI_PLANTED(3))
        shm_store(word, value);

    segment->log_count = count + 1;
    shm_store(&segment->header->log_count, count + 1);
    atomic_signal_fence(memory_order_seq_cst);
    shm_store(word, value);
}

/* Puts back what the log says. Its entries may be anything: only words of the bookkeeping behind
 * the constants, and not of the log itself, are written. */
static jstatus_t lock_put_back(jsegment_t *segment, uint64_t count) {
    const shm_constants_t *constants = &segment->constants;
    if (count > SHM_LOG_ENTRIES)
        return JI_POISON(segment, "the undo log says that it has %llu entries",
                         (unsigned long long)count);

    /* Of the table, what memory is reserved for: a growth that is undone had reserved its part. */
    const uint64_t backed = shm_backing_size(&segment->backing) >> SHM_PAGE_SHIFT;
    const uint64_t end =
        constants->table_offset +
        (backed < segment->max_pages ? backed : segment->max_pages) * sizeof(shm_page_t);

    if (JI_PLANTED(4))
        shm_store(&segment->header->log_count, 0);

    while (count > (JI_PLANTED(1) ? 1 : 0)) {
        --count;
        const uint64_t offset = shm_load(&segment->log[count].offset);
        const uint64_t old_value = shm_load(&segment->log[count].old_value);
        if (offset % 8 != 0 || offset < offsetof(shm_header_t, total_pages) || offset >= end ||
            (offset >= constants->log_offset && offset < constants->table_offset))
            return JI_POISON(segment, "the undo log names offset %llu", (unsigned long long)offset);

        shm_store((uint64_t *)(segment->base + offset), old_value);
        atomic_signal_fence(memory_order_seq_cst);
    }

    shm_store(&segment->header->log_count, 0);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_undo(jsegment_t *segment, jstatus_t status) {
    const jstatus_t undone = lock_put_back(segment, segment->log_count);
    segment->log_count = 0;
    segment->broken = false;

    return undone != JSTATUS_SUCCESS ? undone : status;
}

jstatus_t ji_commit(jsegment_t *segment) {
    /* Broken and poisoned: by what was met meanwhile, which left its message. */
    if (JI_UNLIKELY(segment->broken))
        return ji_undo(
            segment, ji_segment_is_poisoned(segment)
                         ? JSTATUS_CORRUPTED
                         : ji_fail(JSTATUS_INTERNAL_ERROR, "a change is longer than the undo log"));

    atomic_signal_fence(memory_order_seq_cst);
    shm_store(&segment->header->log_count, 0);
    segment->log_count = 0;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_finish(jsegment_t *segment, jstatus_t status) {
    return status == JSTATUS_SUCCESS ? ji_commit(segment) : ji_undo(segment, status);
}

/* ---- Enter and leave ---- */

static jstatus_t lock_enter(jsegment_t *segment, bool even_if_poisoned) {
    if (segment->read_only)
        return ji_fail(JSTATUS_READ_ONLY, "the segment is attached for reading alone");

    bool taken_over;
    JTRY_RETURN(lock_acquire(segment, &taken_over));
    jstatus_t status = JSTATUS_SUCCESS;

    segment->lock_held = true;
    segment->log_count = 0;
    segment->broken = false;

    const uint64_t left = shm_load(&segment->header->log_count);
    if (JI_UNLIKELY(left != 0)) {
        status = lock_put_back(segment, left);
        if (status == JSTATUS_SUCCESS)
            shm_count(&segment->header->rollback_count);
    }

    if (status == JSTATUS_SUCCESS && !ji_pages_refresh(segment))
        status = JI_POISON(segment, "it is said to be larger than its memory");

    if (JI_UNLIKELY(taken_over && status == JSTATUS_SUCCESS && !ji_segment_is_poisoned(segment)))
        status = ji_reap_all(segment, NULL);

    if (JI_UNLIKELY(status != JSTATUS_SUCCESS || ji_segment_is_poisoned(segment))) {
        if (even_if_poisoned)
            return JSTATUS_SUCCESS;
        lock_release(segment);
        return status != JSTATUS_SUCCESS
                   ? status
                   : ji_fail(JSTATUS_CORRUPTED, "the segment was found damaged before");
    }
    return JSTATUS_SUCCESS;
}

jstatus_t ji_segment_enter(jsegment_t *segment) { return lock_enter(segment, false); }
jstatus_t ji_segment_enter_anyway(jsegment_t *segment) { return lock_enter(segment, true); }
void ji_segment_leave(jsegment_t *segment) { lock_release(segment); }
