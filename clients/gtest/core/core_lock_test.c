/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The lock that is biased to its first thread: never two inside, whoever comes when; and whole
 * after a fork. */

#include "core/lock.h"
#include "jtest.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

typedef struct shared {
    ji_lock_t lock;
    uint64_t count, copy; /* equal whenever nobody is inside */
    atomic_uint errors;
    atomic_bool stop;
} shared_t;

static void step(shared_t *shared) {
    ji_lock_acquire(&shared->lock);
    if (shared->count != shared->copy)
        atomic_fetch_add(&shared->errors, 1);
    ++shared->count;
    __asm__ volatile("" ::: "memory");
    ++shared->copy;
    ji_lock_release(&shared->lock);
}

typedef struct runner {
    shared_t *shared;
    int64_t steps;
} runner_t;
static void *run(void *argument) {
    const runner_t *runner = argument;
    for (int64_t i = 0; i < runner->steps; ++i)
        step(runner->shared);
    return NULL;
}

JTEST(Lock, IsBiasedToTheFirstThreadUntilAnotherComes) {
    shared_t shared = {.count = 0};
    ji_lock_init(&shared.lock);
    /* The kernel may not allow it. */
    const bool biased = atomic_load(&shared.lock.biased_to) == JI_LOCK_NEW;
    run(&(runner_t){&shared, 10});
    if (biased)
        JEXPECT_EQ(atomic_load(&shared.lock.biased_to), ji_thread_self());
    ji_lock_acquire(&shared.lock);
    JEXPECT_EQ(atomic_load(&shared.lock.inside), biased);
    JEXPECT_FALSE(atomic_load(&shared.lock.held) && biased);
    ji_lock_release(&shared.lock);
    pthread_t thread;
    runner_t runner = {&shared, 10};
    pthread_create(&thread, NULL, run, &runner);
    pthread_join(thread, NULL);
    JEXPECT_EQ(atomic_load(&shared.lock.biased_to), JI_LOCK_REVOKED);
    run(&runner); /* the first thread too, from now on */
    JEXPECT_EQ(shared.count, 30);
    JEXPECT_FALSE(atomic_load(&shared.lock.held));
    JEXPECT_FALSE(atomic_load(&shared.lock.inside));
    ji_lock_fini(&shared.lock);
}

/* Many fresh locks, so that the moment at which the second thread comes falls everywhere. */
JTEST(Lock, NeverTwoInside) {
    for (int64_t round = jtest_iterations(400); round > 0; --round) {
        shared_t shared = {.count = 0};
        ji_lock_init(&shared.lock);
        pthread_t threads[3];
        runner_t runner = {&shared, jtest_random_between(1, 300)};
        for (int i = 0; i < 3; ++i)
            pthread_create(&threads[i], NULL, run, &runner);
        run(&runner);
        for (int i = 0; i < 3; ++i)
            pthread_join(threads[i], NULL);
        JASSERT_EQ(shared.count, 4 * runner.steps);
        JASSERT_EQ(shared.copy, shared.count);
        JASSERT_EQ(atomic_load(&shared.errors), 0);
        ji_lock_fini(&shared.lock);
    }
}

static void *try_once(void *argument) { return ji_lock_try(argument) ? argument : NULL; }

JTEST(Lock, TryIsRefusedWhileSomebodyIsInside) {
    ji_lock_t lock;
    ji_lock_init(&lock);
    JEXPECT_TRUE(ji_lock_try(&lock));
    for (int round = 0; round < 2; ++round) { /* biased, then revoked */
        void *got = NULL;
        pthread_t thread;
        pthread_create(&thread, NULL, try_once, &lock);
        pthread_join(thread, &got);
        JEXPECT_NULL(got);
        ji_lock_release(&lock);
        ji_lock_acquire(&lock);
    }
    ji_lock_release(&lock);
    JEXPECT_FALSE(atomic_load(&lock.held));
    ji_lock_fini(&lock);
}

/* The kernel may refuse the barrier to a process that has not registered for it, and then do so for
 * good: the bias is revoked all the same. */
static void *take_once(void *argument) {
    ji_lock_acquire(argument);
    ji_lock_release(argument);
    return NULL;
}
JTEST(Lock, IsRevokedThoughTheBarrierIsRefused) {
    for (uint64_t refused = 1; refused <= 2; ++refused) {
        ji_lock_t lock;
        ji_lock_init(&lock);
        const bool biased = atomic_load(&lock.biased_to) == JI_LOCK_NEW;
        pthread_t thread;
        pthread_create(&thread, NULL, take_once, &lock); /* it is biased to that one */
        pthread_join(thread, NULL);
        jtest_fail_calls("syscall", 1, refused, EPERM);
        ji_lock_acquire(&lock);
        JEXPECT_EQ(jtest_calls_failed(), biased);
        JEXPECT_EQ(atomic_load(&lock.biased_to), JI_LOCK_REVOKED);
        JEXPECT_TRUE(atomic_load(&lock.held));
        ji_lock_release(&lock);
        ji_lock_fini(&lock);
    }
}

/* Two come at once to a lock that nobody took: the lock is biased to neither. */
JTEST(Lock, IsNotBiasedToTheSecondOfTwoThatComeAtOnce) {
    ji_lock_t lock;
    ji_lock_init(&lock);
    atomic_store(&lock.first, (uintptr_t)&lock); /* another is about to */
    JEXPECT_TRUE(ji_lock_try(&lock));
    JEXPECT_TRUE(atomic_load(&lock.held));
    JEXPECT_FALSE(atomic_load(&lock.inside));
    JEXPECT_EQ(atomic_load(&lock.biased_to), JI_LOCK_REVOKED);
    ji_lock_release(&lock);
    ji_lock_fini(&lock);
}

typedef struct holder {
    ji_lock_t held, other; /* the later one is tried first */
    jtest_gate_t inside;
} holder_t;
static void *hold_for_a_while(void *argument) {
    holder_t *holder = argument;
    ji_lock_acquire(&holder->held);
    jtest_gate_open(&holder->inside);
    jtest_sleep_ms(100); /* a fork begins meanwhile */
    ji_lock_release(&holder->held);
    return NULL;
}
static void take_both(void *argument) {
    holder_t *holder = argument;
    JEXPECT_TRUE(ji_lock_try(&holder->held));
    JEXPECT_TRUE(ji_lock_try(&holder->other));
}

/* A fork that finds a lock held lets go of those that it has, and waits. */
JTEST(Lock, AForkWaitsForWhoeverIsInside) {
    holder_t holder = {.inside = JTEST_GATE_INIT};
    pthread_t thread;
    ji_lock_init(&holder.held);
    ji_lock_init(&holder.other);
    pthread_create(&thread, NULL, hold_for_a_while, &holder);
    jtest_gate_pass(&holder.inside);
    jtest_in_child(20, take_both, &holder);
    pthread_join(thread, NULL);
    take_both(&holder); /* in the parent both are free again */
    ji_lock_release(&holder.held);
    ji_lock_release(&holder.other);
    ji_lock_fini(&holder.other);
    ji_lock_fini(&holder.held);
}

static void *run_until_stopped(void *argument) {
    shared_t *shared = argument;
    while (!atomic_load(&shared->stop)) {
        step(shared);
        sched_yield(); /* where threads take turns, the others must have theirs */
    }
    return NULL;
}
static void step_in_child(void *argument) {
    shared_t *shared = argument;
    for (int i = 0; i < 100; ++i)
        step(shared);
    JEXPECT_EQ(shared->count, shared->copy);
    JEXPECT_EQ(atomic_load(&shared->errors), 0);
}

/* Whichever thread is inside when the process forks: the child gets in, and finds what is protected
 * whole. */
JTEST(Lock, IsFreeAndWholeInAForkedChild) {
    shared_t shared = {.count = 0};
    ji_lock_init(&shared.lock);
    pthread_t thread;
    pthread_create(&thread, NULL, run_until_stopped, &shared);
    for (int i = 0; i < 20; ++i) {
        jtest_in_child(20, step_in_child, &shared);
        if (i == 10)
            /* Until then the lock is biased to the other thread, or is revoked by the fork. */
            step(&shared);
    }
    atomic_store(&shared.stop, true);
    pthread_join(thread, NULL);
    JEXPECT_EQ(atomic_load(&shared.errors), 0);
    ji_lock_fini(&shared.lock);
}
