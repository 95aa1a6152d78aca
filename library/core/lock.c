/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Revoking the bias of locks, waiting, and all locks across a fork.
 *
 * A fork copies one thread. A lock that another thread held would stay held in the child for ever,
 * and what it protects would be half changed. So the forking thread first takes every lock there
 * is. It only tries: where one is held it lets all go and begins again, so it can stand in no
 * circle of waiting threads, whatever order they take locks in. */

#include "core/lock.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOCK_SPINS 100 /* about a microsecond */
#define LOCK_YIELDS 20
#define LOCK_SLEEP_NS 50000

static pthread_mutex_t lock_list_mutex = PTHREAD_MUTEX_INITIALIZER;
static ji_list_t lock_list = JI_LIST_EMPTY(lock_list); /* under the mutex */
static bool lock_may_bias;

static inline void lock_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Makes every thread of the process pass a full barrier. */
static bool lock_barrier_everywhere(void) {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
        return true;

    /* A child of a fork may have to register again. */
    (void)syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static bool lock_try_held(ji_lock_t *lock) {
    return !atomic_load_explicit(&lock->held, memory_order_relaxed) &&
           !atomic_exchange_explicit(&lock->held, true, memory_order_acquire);
}

/* Holding `held`: makes sure that the lock is revoked and nobody is inside by its bias. False: the
 * first thread is still inside. It cannot come in again. */
static bool lock_revoke(ji_lock_t *lock) {
    if (atomic_load_explicit(&lock->biased_to, memory_order_relaxed) != JI_LOCK_REVOKED) {
        atomic_store_explicit(&lock->biased_to, JI_LOCK_REVOKED, memory_order_seq_cst);
        /* It worked when the lock was allowed a bias; it has no other way to fail. */
        (void)lock_barrier_everywhere();
    }
    return !atomic_load_explicit(&lock->inside, memory_order_acquire);
}

/* A lock that nobody took yet may become biased to whoever comes first. */
static bool lock_bias_to_self(ji_lock_t *lock) {
    uintptr_t nobody = 0;
    if (atomic_load_explicit(&lock->biased_to, memory_order_relaxed) != JI_LOCK_NEW ||
        !atomic_compare_exchange_strong(&lock->first, &nobody, ji_thread_self()))
        return false;

    uintptr_t biased_to = JI_LOCK_NEW; /* or somebody revokes it meanwhile */
    return atomic_compare_exchange_strong(&lock->biased_to, &biased_to, ji_thread_self()) &&
           ji_lock_enter_biased_(lock);
}

bool ji_lock_try(ji_lock_t *lock) {
    if (atomic_load_explicit(&lock->biased_to, memory_order_relaxed) != JI_LOCK_REVOKED &&
        (ji_lock_enter_biased_(lock) || lock_bias_to_self(lock)))
        return true;

    if (!lock_try_held(lock))
        return false;

    if (lock_revoke(lock))
        return true;
    atomic_store_explicit(&lock->held, false, memory_order_release);
    return false;
}

void ji_lock_acquire_slowly_(ji_lock_t *lock) {
    for (unsigned round = 0;; ++round) {
        for (unsigned i = 0; i < LOCK_SPINS; ++i) {
            if (ji_lock_try(lock))
                return;
            lock_pause();
        }

        if (round < LOCK_YIELDS) {
            sched_yield();
        } else {
            const struct timespec step = {0, LOCK_SLEEP_NS};
            nanosleep(&step, NULL);
        }
    }
}

static void lock_before_fork(void) {
    for (;;) {
        pthread_mutex_lock(&lock_list_mutex);
        ji_lock_t *refused = JI_LIST_FIRST(&lock_list, ji_lock_t, link);
        while (refused != NULL && ji_lock_try(refused))
            refused = JI_LIST_NEXT(&lock_list, refused, ji_lock_t, link);
        if (refused == NULL)
            return;

        for (ji_lock_t *lock = JI_LIST_FIRST(&lock_list, ji_lock_t, link); lock != refused;
             lock = JI_LIST_NEXT(&lock_list, lock, ji_lock_t, link))
            ji_lock_release(lock);

        pthread_mutex_unlock(&lock_list_mutex);
        sched_yield();
    }
}
static void lock_after_fork(void) {
    JI_LIST_EACH(&lock_list, ji_lock_t, lock, link)
        ji_lock_release(lock);
    pthread_mutex_unlock(&lock_list_mutex);
}

/* The forking thread has every lock. Whatever mark of another thread is on one (inside, or held,
 * for the moment that it takes to see that it may not be) is of a thread that the child does not
 * have, and would not be taken back. */
static void lock_in_child(void) {
    JI_LIST_EACH(&lock_list, ji_lock_t, lock, link) {
        atomic_store_explicit(&lock->inside, false, memory_order_relaxed);
        atomic_store_explicit(&lock->held, false, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock_list_mutex);
}

static void lock_start(void) {
    static const ji_fork_handlers_t handlers = {lock_before_fork, lock_after_fork, lock_in_child};
    ji_fork_hold(JI_FORK_LOCKS, &handlers);
    lock_may_bias = lock_barrier_everywhere();
}

void ji_lock_init(ji_lock_t *lock) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, lock_start);

    atomic_init(&lock->biased_to, lock_may_bias ? JI_LOCK_NEW : JI_LOCK_REVOKED);
    atomic_init(&lock->first, 0);
    atomic_init(&lock->inside, false);
    atomic_init(&lock->held, false);

    pthread_mutex_lock(&lock_list_mutex);
    ji_list_push_front(&lock_list, &lock->link);
    pthread_mutex_unlock(&lock_list_mutex);
}

void ji_lock_fini(ji_lock_t *lock) {
    pthread_mutex_lock(&lock_list_mutex);
    ji_list_remove(&lock->link);
    pthread_mutex_unlock(&lock_list_mutex);
}
