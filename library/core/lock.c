/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Waiting for a lock, and all locks across a fork.
 *
 * A fork copies one thread. A lock that another thread held would stay held in the child for ever, and what it protects
 * would be half changed. So the forking thread first takes every lock there is. It only tries: where one is held it lets
 * all go and begins again, so it can stand in no circle of waiting threads, whatever order they take locks in. */

#include "core/lock.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define LOCK_SPINS 100  /* about a microsecond */
#define LOCK_YIELDS 20
#define LOCK_SLEEP_NS 50000

static pthread_mutex_t lock_list_mutex = PTHREAD_MUTEX_INITIALIZER;
static ji_lock_t *lock_list; /* under the mutex */

static inline void lock_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void ji_lock_wait_(ji_lock_t *lock) {
    for (unsigned round = 0;; ++round) {
        for (unsigned i = 0; i < LOCK_SPINS; ++i) {
            if (!atomic_load_explicit(&lock->held, memory_order_relaxed) && ji_lock_try(lock))
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
        ji_lock_t *refused = lock_list;
        while (refused != NULL && ji_lock_try(refused))
            refused = refused->next;
        if (refused == NULL)
            return;
        for (ji_lock_t *lock = lock_list; lock != refused; lock = lock->next)
            ji_lock_release(lock);
        pthread_mutex_unlock(&lock_list_mutex);
        sched_yield();
    }
}
static void lock_after_fork(void) {
    for (ji_lock_t *lock = lock_list; lock != NULL; lock = lock->next)
        ji_lock_release(lock);
    pthread_mutex_unlock(&lock_list_mutex);
}
static void lock_watch_forks(void) { (void)pthread_atfork(lock_before_fork, lock_after_fork, lock_after_fork); }

void ji_lock_init(ji_lock_t *lock) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, lock_watch_forks);
    atomic_init(&lock->held, false);
    lock->previous = NULL;
    pthread_mutex_lock(&lock_list_mutex);
    lock->next = lock_list;
    if (lock_list != NULL)
        lock_list->previous = lock;
    lock_list = lock;
    pthread_mutex_unlock(&lock_list_mutex);
}

void ji_lock_fini(ji_lock_t *lock) {
    pthread_mutex_lock(&lock_list_mutex);
    if (lock->previous != NULL)
        lock->previous->next = lock->next;
    else
        lock_list = lock->next;
    if (lock->next != NULL)
        lock->next->previous = lock->previous;
    pthread_mutex_unlock(&lock_list_mutex);
}
