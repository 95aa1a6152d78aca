/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_LOCK_H
#define JALLOC_CORE_LOCK_H

/* The lock of short critical sections: one atomic operation to take, a store to release. Who waits spins a little, then
 * sleeps in small steps, so a holder that lost its processor is let on. Every lock that was made is in a list, and a
 * fork holds them all: what a lock protects is whole in the child. Not recursive. */

#include <stdatomic.h>
#include <stdbool.h>

#include "core/core.h"

typedef struct ji_lock {
    atomic_bool held;
    struct ji_lock *next, *previous; /* all locks, for a fork */
} ji_lock_t;

void ji_lock_init(ji_lock_t *lock);
void ji_lock_fini(ji_lock_t *lock);
void ji_lock_wait_(ji_lock_t *lock) __attribute__((cold)); /* takes a lock that was held */

static inline bool ji_lock_try(ji_lock_t *lock) {
    bool held = false;
    return atomic_compare_exchange_strong_explicit(&lock->held, &held, true, memory_order_acquire,
                                                   memory_order_relaxed);
}
static inline void ji_lock_acquire(ji_lock_t *lock) {
    if (JI_UNLIKELY(!ji_lock_try(lock)))
        ji_lock_wait_(lock);
}
static inline void ji_lock_release(ji_lock_t *lock) {
    atomic_store_explicit(&lock->held, false, memory_order_release);
}

#endif
