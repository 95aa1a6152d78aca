/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Forks. A child has its parent's memory but none of its threads, so what a thread or a device
 * stood behind is dead there, and a lock may be held for ever. An object that remembers the count
 * at its creation can tell, by one comparison and without touching a lock, that it has come through
 * a fork. The count changes in a child before any other thread can exist, so it needs no atomics.
 *
 * A lock that has to be free in a child is taken by the forking thread. pthread_atfork() takes
 * locks in the opposite order of their registration, which is the order of first use, by chance: a
 * thread that forks within the registry and one that forks outside of it could each wait for what
 * the other holds. So the library takes its locks in the order of ji_fork_rank_t. It registers here
 * alone, also for what is only put right in the child, where the order matters as much.
 *
 * It does so twice, for the inner ranks first. What is held of the outer ones may come to call
 * functions of the program's (bookkeeping memory, an allocator), whose own locks have to be taken
 * after: whatever the program registered before it first used such a lock is. The log and the
 * profile are used earlier than that, and call none under their lock but the log's sink. */

#include <pthread.h>
#include <stdatomic.h>

#include "core/core.h"

#define FORK_INNER JI_FORK_PROFILE /* the first of the inner ranks */

unsigned ji_fork_generation;

static _Atomic(const ji_fork_handlers_t *) fork_handlers[JI_FORK_RANKS];

/* By this thread, a bit for each rank: another may register while a fork goes on. */
static _Thread_local unsigned fork_held;

static void fork_before(int first, int end) {
    for (int rank = first; rank < end; rank++) {
        const ji_fork_handlers_t *handlers = atomic_load(&fork_handlers[rank]);
        if (handlers != NULL) {
            if (handlers->before != NULL)
                handlers->before();
            fork_held |= 1U << rank;
        }
    }
}

static void fork_after(int first, int end, bool child) {
    for (int rank = end - 1; rank >= first; rank--)
        if ((fork_held & 1U << rank) != 0) {
            const ji_fork_handlers_t *handlers = atomic_load(&fork_handlers[rank]);
            void (*after)(void) = child ? handlers->in_child : handlers->in_parent;
            if (after != NULL)
                after();
            fork_held &= ~(1U << rank);
        }
}

static void fork_before_inner(void) { fork_before(FORK_INNER, JI_FORK_RANKS); }
static void fork_in_parent_inner(void) { fork_after(FORK_INNER, JI_FORK_RANKS, false); }
static void fork_in_child_inner(void) {
    ji_fork_generation++;
    fork_after(FORK_INNER, JI_FORK_RANKS, true);
}

static void fork_before_outer(void) { fork_before(0, FORK_INNER); }
static void fork_in_parent_outer(void) { fork_after(0, FORK_INNER, false); }
static void fork_in_child_outer(void) { fork_after(0, FORK_INNER, true); }

/* Registering fails only for want of memory in the C library; then a child is not recognised,
 * nothing else is lost. */
static void fork_register_inner(void) {
    (void)pthread_atfork(fork_before_inner, fork_in_parent_inner, fork_in_child_inner);
}
static void fork_register_outer(void) {
    (void)pthread_atfork(fork_before_outer, fork_in_parent_outer, fork_in_child_outer);
}

void ji_fork_watch(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, fork_register_inner);
}

void ji_fork_hold(ji_fork_rank_t rank, const ji_fork_handlers_t *handlers) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    ji_fork_watch();
    if (rank < FORK_INNER)
        (void)pthread_once(&once, fork_register_outer);
    atomic_store(&fork_handlers[rank], handlers);
}
