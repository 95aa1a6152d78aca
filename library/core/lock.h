/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_LOCK_H
#define JALLOC_CORE_LOCK_H

/* The lock of short critical sections, cheapest where it is not needed: it is biased to the thread
 * that took it first.
 *
 *     biased      that thread enters by a plain store and a load, about a nanosecond
 *     revoked     another thread has come: from then on it is an ordinary lock of one atomic
 *                 exchange, for good
 *
 * Why the plain store is enough: the thread says "inside", then looks whether the lock is still
 * biased to it. Whoever revokes the bias says so, then makes every thread of the process pass a
 * memory barrier (the system call membarrier), then looks whether the first is inside. One of the
 * two sees the other, as in Dekker's algorithm with the fence of the frequent side moved to the
 * rare one (Dice, Huang, Yang, "Asymmetric Dekker Synchronization", 2001). Where the kernel has no
 * such call, locks are revoked from the beginning.
 *
 * Who waits spins a little, then sleeps in small steps, so a holder that lost its processor is let
 * on. Every lock that was made is in a list, and a fork holds them all: what a lock protects is
 * whole in the child. Not recursive. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/core.h"
#include "core/list.h"

typedef struct ji_lock {
    _Atomic(uintptr_t) biased_to; /* a thread; JI_LOCK_NEW or JI_LOCK_REVOKED */
    /* The thread it was biased to, kept when it is revoked; 0: none yet. */
    _Atomic(uintptr_t) first;
    atomic_bool inside; /* that thread is inside, or is about to see that it may not be */
    atomic_bool held;   /* revoked: somebody is inside, or is revoking it */
    ji_link_t link;     /* in the list of all locks, for a fork */
} ji_lock_t;

#define JI_LOCK_NEW ((uintptr_t)0)
#define JI_LOCK_REVOKED ((uintptr_t)1)

/* A thread's name, the same in every library: the address that the ABI keeps for it, at %fs:0 of
 * x86-64 and in a register of aarch64, where one instruction has it. */
static inline uintptr_t ji_thread_self(void) {
#if defined(__x86_64__) && defined(__LP64__) && defined(__linux__)
    uintptr_t self;
    __asm__("mov %%fs:0, %0" : "=r"(self));
    return self;
#elif defined(__aarch64__)
    return (uintptr_t)__builtin_thread_pointer();
#else
    return (uintptr_t)pthread_self();
#endif
}

JI_SHARED void ji_lock_init(ji_lock_t *lock);
JI_SHARED void ji_lock_fini(ji_lock_t *lock);
JI_SHARED void ji_lock_acquire_slowly_(ji_lock_t *lock);
bool ji_lock_try(ji_lock_t *lock); /* never waits long */

/* Enters where the lock is biased to this thread. */
static inline bool ji_lock_enter_biased_(ji_lock_t *lock) {
    const uintptr_t self = ji_thread_self();
    if (JI_UNLIKELY(atomic_load_explicit(&lock->biased_to, memory_order_relaxed) != self))
        return false;

    /* An ended thread may have had the same name: what that one did is seen by this load. */
    (void)atomic_load_explicit(&lock->inside, memory_order_acquire);
    atomic_store_explicit(&lock->inside, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* the processor's part is done by the other side */
    if (JI_LIKELY(atomic_load_explicit(&lock->biased_to, memory_order_acquire) == self))
        return true;

    atomic_store_explicit(&lock->inside, false, memory_order_release);
    return false;
}

static inline void ji_lock_acquire(ji_lock_t *lock) {
    if (!ji_lock_enter_biased_(lock))
        ji_lock_acquire_slowly_(lock);
}

/* For whoever came in by ji_lock_enter_biased_(). */
static inline void ji_lock_release_biased_(ji_lock_t *lock) {
    atomic_store_explicit(&lock->inside, false, memory_order_release);
}

static inline void ji_lock_release(ji_lock_t *lock) {
    /* `inside` is this thread's if it is the first one: it has taken it back before it takes the
     * lock revoked. */
    if (JI_LIKELY(atomic_load_explicit(&lock->first, memory_order_relaxed) == ji_thread_self()) &&
        atomic_load_explicit(&lock->inside, memory_order_relaxed))
        atomic_store_explicit(&lock->inside, false, memory_order_release);
    else
        atomic_store_explicit(&lock->held, false, memory_order_release);
}

#endif
