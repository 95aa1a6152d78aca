/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Forks. A child has its parent's memory but none of its threads, so what a thread or a device stood behind is
 * dead there, and a lock may be held for ever. An object that remembers the count at its creation can tell, by one
 * comparison and without touching a lock, that it has come through a fork. The count changes in a child before any
 * other thread can exist, so it needs no atomics.
 *
 * A lock that has to be free in a child is taken by the forking thread. pthread_atfork() takes locks in the opposite
 * order of their registration, which is the order of first use, by chance: a thread that forks within the registry
 * and one that forks outside of it could each wait for what the other holds. So the library registers once, and
 * takes its locks in the order of ji_fork_rank_t. */

#include <pthread.h>
#include <stdatomic.h>

#include "core/core.h"

unsigned ji_fork_generation;

static _Atomic(const ji_fork_handlers_t *) fork_handlers[JI_FORK_RANKS];

/* By this thread, a bit for each rank: another may register while a fork goes on. */
static _Thread_local unsigned fork_held;

static void fork_before(void) {
    for (int rank = 0; rank < JI_FORK_RANKS; rank++) {
        const ji_fork_handlers_t *handlers = atomic_load(&fork_handlers[rank]);
        if (handlers != NULL) {
            handlers->before();
            fork_held |= 1U << rank;
        }
    }
}

static void fork_after(bool child) {
    for (int rank = JI_FORK_RANKS - 1; rank >= 0; rank--)
        if ((fork_held & 1U << rank) != 0) {
            const ji_fork_handlers_t *handlers = atomic_load(&fork_handlers[rank]);
            (child ? handlers->in_child : handlers->in_parent)();
        }
    fork_held = 0;
}

static void fork_in_parent(void) { fork_after(false); }

static void fork_in_child(void) {
    ji_fork_generation++;
    fork_after(true);
}

static void fork_register(void) {
    /* Fails only for want of memory in the C library; then a child is not recognised, nothing else is lost. */
    (void)pthread_atfork(fork_before, fork_in_parent, fork_in_child);
}

void ji_fork_watch(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, fork_register);
}

void ji_fork_hold(ji_fork_rank_t rank, const ji_fork_handlers_t *handlers) {
    ji_fork_watch();
    atomic_store(&fork_handlers[rank], handlers);
}
