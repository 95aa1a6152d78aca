/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The lock that leans towards its first thread: never two inside, whoever comes when; and whole after a fork. */

#include "core/lock.h"
#include "jtest.h"

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

JTEST(Lock, LeansToTheFirstThreadUntilAnotherComes) {
    shared_t shared = {.count = 0};
    ji_lock_init(&shared.lock);
    const bool leans = atomic_load(&shared.lock.leans_to) == JI_LOCK_NEW; /* the kernel may not allow it */
    run(&(runner_t){&shared, 10});
    if (leans)
        JEXPECT_EQ(atomic_load(&shared.lock.leans_to), ji_lock_self_());
    ji_lock_acquire(&shared.lock);
    JEXPECT_EQ(atomic_load(&shared.lock.inside), leans);
    JEXPECT_FALSE(atomic_load(&shared.lock.held) && leans);
    ji_lock_release(&shared.lock);
    pthread_t thread;
    runner_t runner = {&shared, 10};
    pthread_create(&thread, NULL, run, &runner);
    pthread_join(thread, NULL);
    JEXPECT_EQ(atomic_load(&shared.lock.leans_to), JI_LOCK_UPRIGHT);
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
    for (int round = 0; round < 2; ++round) { /* leaning, then upright */
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

/* Whichever thread is inside when the process forks: the child gets in, and finds what is protected whole. */
JTEST(Lock, IsFreeAndWholeInAForkedChild) {
    shared_t shared = {.count = 0};
    ji_lock_init(&shared.lock);
    pthread_t thread;
    pthread_create(&thread, NULL, run_until_stopped, &shared);
    for (int i = 0; i < 20; ++i) {
        jtest_in_child(20, step_in_child, &shared);
        if (i == 10)
            step(&shared); /* until then the lock leans to the other thread, or is set upright by the fork */
    }
    atomic_store(&shared.stop, true);
    pthread_join(thread, NULL);
    JEXPECT_EQ(atomic_load(&shared.errors), 0);
    ji_lock_fini(&shared.lock);
}
