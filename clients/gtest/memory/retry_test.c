/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Waiting for memory: who waits is woken by each free, and no free between a failed try and the
 * wait is lost. */

#include "jtest.h"

#include "jalloc/adaptor.h"
#include "jalloc/provider.h"

#include <sched.h>
#include <stdatomic.h>

/* A lost wake-up would wait as good as for ever. The part of a second carries over nearly
 * always. */
#define FOREVER_MS 999999999

/* A retry adaptor over a limit. */
static jallocator_t *make_retry(size_t limit_bytes, uint64_t timeout_ms) {
    jretry_options_t options = JRETRY_OPTIONS_INIT;
    jlimit_options_t limit_options = JLIMIT_OPTIONS_INIT;
    jallocator_t *provider, *limit, *retry = NULL;
    JEXPECT_OK(jallocator_create_malloc(&provider));
    limit_options.limit_bytes = limit_bytes;
    JEXPECT_OK(jallocator_create_limit(provider, &limit_options, &limit));
    options.timeout_ms = timeout_ms;
    JEXPECT_OK(jallocator_create_retry(limit, &options, &retry));
    JEXPECT_OK(jallocator_own_below(limit));
    JEXPECT_OK(jallocator_own_below(retry));
    return retry;
}

JTEST(Retry, OptionsAndKeys) {
    jallocator_t *retry = NULL;
    jretry_options_t options = JRETRY_OPTIONS_INIT;
    JEXPECT_STATUS(jallocator_create_retry(NULL, NULL, &retry), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_retry(jtest_failing_allocator(), NULL, NULL),
                   JSTATUS_INVALID_POINTER);
    options.struct_size = 1;
    JEXPECT_STATUS(jallocator_create_retry(jtest_failing_allocator(), &options, &retry),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jallocator_compose(NULL, "malloc+retry(timeout=1)", &retry));
    JEXPECT_STREQ(jallocator_name(retry), "retry");
    JEXPECT_OK(jallocator_destroy(retry));
}

JTEST(Retry, FailsAfterItsDeadlineAndNotBefore) {
    jallocator_t *retry = make_retry(100, 30);
    void *held, *pointer = NULL;
    JASSERT_OK(jallocator_allocate(retry, 100, 0, NULL, &held));
    const double start = jtest_now_ms();
    JEXPECT_STATUS(jallocator_allocate(retry, 1, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
    JEXPECT_GE(jtest_now_ms() - start, 29.9);
    JEXPECT_SUBSTR(jstatus_last_message(), "waited 30 ms for memory");
    JEXPECT_SUBSTR(jstatus_last_message(), "the limit is 100 bytes"); /* what below had said */
    JEXPECT_NULL(pointer);
    JEXPECT_OK(jallocator_deallocate(retry, held, 100, NULL));
    JEXPECT_OK(jallocator_destroy(retry));
}

/* An error that no free can mend is answered at once: the test would hang. */
static jstatus_t broken_allocate(void *context, size_t size_bytes, size_t alignment,
                                 jstream_t *stream, void **pointer) {
    (void)size_bytes, (void)alignment, (void)stream, (void)pointer;
    ++*(unsigned *)context;
    return JSTATUS_DEVICE_ERROR;
}
static jstatus_t broken_deallocate(void *context, void *pointer, size_t size_bytes,
                                   jstream_t *stream) {
    (void)context, (void)pointer, (void)size_bytes, (void)stream;
    return JSTATUS_SUCCESS;
}
JTEST(Retry, WaitsForMemoryAlone) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = broken_allocate, .deallocate = broken_deallocate};
    unsigned calls = 0;
    jretry_options_t options = JRETRY_OPTIONS_INIT;
    jallocator_t *below, *retry;
    void *pointer;
    options.timeout_ms = FOREVER_MS;
    JASSERT_OK(jallocator_create(&ops, &calls, NULL, &below));
    JASSERT_OK(jallocator_create_retry(below, &options, &retry));
    JEXPECT_STATUS(jallocator_allocate(retry, 1, 0, NULL, &pointer), JSTATUS_DEVICE_ERROR);
    JEXPECT_STATUS(jallocator_allocate(retry, SIZE_MAX, 0, NULL, &pointer), JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(calls, 1);
    JEXPECT_OK(jallocator_destroy(retry));
    JEXPECT_OK(jallocator_destroy(below));
}

/* ---- A free wakes ---- */

typedef struct waiter {
    jallocator_t *retry;
    size_t size_bytes;
    jtest_gate_t served;   /* opened when the memory is there */
    jtest_gate_t *release; /* it is held until this is open; NULL: not held */
} waiter_t;
static void *wait_for_memory(void *argument) {
    waiter_t *waiter = argument;
    void *pointer = NULL;
    JEXPECT_OK(jallocator_allocate(waiter->retry, waiter->size_bytes, 0, NULL, &pointer));
    jtest_gate_open(&waiter->served);
    if (waiter->release != NULL)
        jtest_gate_pass(waiter->release);
    JEXPECT_OK(jallocator_deallocate(waiter->retry, pointer, waiter->size_bytes, NULL));
    return NULL;
}

/* One free serves all who fit, not just who came first. */
JTEST(Retry, AFreeWakesAllWhoWait) {
    enum { WAITERS = 4 };
    jallocator_t *retry = make_retry(100, FOREVER_MS);
    waiter_t waiters[WAITERS];
    pthread_t threads[WAITERS];
    jtest_gate_t release = JTEST_GATE_INIT;
    void *held;
    JASSERT_OK(jallocator_allocate(retry, 100, 0, NULL, &held));
    for (int i = 0; i < WAITERS; ++i) {
        waiters[i] = (waiter_t){retry, 25, JTEST_GATE_INIT, &release};
        JASSERT_EQ(pthread_create(&threads[i], NULL, wait_for_memory, &waiters[i]), 0);
    }
    jtest_sleep_ms(20); /* most are asleep by now; it holds for those that are not, too */
    JEXPECT_OK(jallocator_deallocate(retry, held, 100, NULL));
    for (int i = 0; i < WAITERS; ++i)
        jtest_gate_pass(&waiters[i].served); /* all at once: nobody has given anything back */
    jtest_gate_open(&release);
    for (int i = 0; i < WAITERS; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_OK(jallocator_destroy(retry));
}

/* Below frees in the middle of the failing try: after it has seen that there is no memory, before
 * the adaptor waits. */
typedef struct late {
    jallocator_t *retry;
    void *held; /* freed through the adaptor during the first failing try */
    unsigned failures;
} late_t;
static jstatus_t late_allocate(void *context, size_t size_bytes, size_t alignment,
                               jstream_t *stream, void **pointer) {
    late_t *late = context;
    (void)size_bytes, (void)alignment, (void)stream;
    static _Alignas(64) char memory[64];
    if (late->held == NULL) {
        *pointer = memory;
        return JSTATUS_SUCCESS;
    }
    ++late->failures;
    void *held = late->held;
    late->held = NULL;
    JEXPECT_OK(jallocator_deallocate(late->retry, held, 1, NULL));
    return JSTATUS_MEMORY_ERROR;
}
JTEST(Retry, AFreeDuringTheFailingTryIsNotLost) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = late_allocate, .deallocate = broken_deallocate};
    late_t late = {NULL, NULL, 0};
    jretry_options_t options = JRETRY_OPTIONS_INIT;
    jallocator_t *below, *retry;
    void *held, *pointer;
    options.timeout_ms = FOREVER_MS;
    JASSERT_OK(jallocator_create(&ops, &late, NULL, &below));
    JASSERT_OK(jallocator_create_retry(below, &options, &retry));
    JASSERT_OK(jallocator_allocate(retry, 1, 0, NULL, &held));
    late.retry = retry;
    late.held = held;
    JEXPECT_OK(jallocator_allocate(retry, 1, 0, NULL, &pointer));
    JEXPECT_EQ(late.failures, 1);
    JEXPECT_OK(jallocator_deallocate(retry, pointer, 1, NULL));
    JEXPECT_OK(jallocator_destroy(retry));
    JEXPECT_OK(jallocator_destroy(below));
}

/* Below frees a little in each failing try, which never suffices: the deadline holds. */
static jstatus_t stingy_allocate(void *context, size_t size_bytes, size_t alignment,
                                 jstream_t *stream, void **pointer) {
    late_t *stingy = context;
    static _Alignas(64) char memory[64];
    (void)alignment, (void)stream;
    *pointer = memory;
    if (size_bytes == 1)
        return JSTATUS_SUCCESS;
    ++stingy->failures;
    JEXPECT_OK(jallocator_deallocate(stingy->retry, stingy->held, 1, NULL));
    JEXPECT_OK(jallocator_allocate(stingy->retry, 1, 0, NULL, &stingy->held));
    return JSTATUS_MEMORY_ERROR;
}
JTEST(Retry, FreesThatNeverSufficeEndAtTheDeadline) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = stingy_allocate, .deallocate = broken_deallocate};
    late_t stingy = {NULL, NULL, 0};
    jretry_options_t options = JRETRY_OPTIONS_INIT;
    jallocator_t *below, *retry;
    void *none;
    options.timeout_ms = 30;
    JASSERT_OK(jallocator_create(&ops, &stingy, NULL, &below));
    JASSERT_OK(jallocator_create_retry(below, &options, &retry));
    JASSERT_OK(jallocator_allocate(retry, 1, 0, NULL, &stingy.held));
    stingy.retry = retry;
    const double start = jtest_now_ms();
    JEXPECT_STATUS(jallocator_allocate(retry, 2, 0, NULL, &none), JSTATUS_MEMORY_ERROR);
    JEXPECT_GE(jtest_now_ms() - start, 29.9);
    JEXPECT_GT(stingy.failures, 1);
    JEXPECT_OK(jallocator_deallocate(retry, stingy.held, 1, NULL));
    JEXPECT_OK(jallocator_destroy(retry));
    JEXPECT_OK(jallocator_destroy(below));
}

/* More threads than fit at once, each waiting as good as for ever: a single lost wake-up and the
 * test does not end. */
typedef struct crowd {
    jallocator_t *retry;
    atomic_size_t live;
    size_t limit_bytes;
    atomic_uint finished;
    jtest_gate_t all_finished;
} crowd_t;
enum { CROWD = 8 };
static void *crowd_run(void *argument) {
    crowd_t *crowd = argument;
    uint64_t state = (uint64_t)(uintptr_t)&state;
    for (int64_t n = jtest_iterations(1500); n > 0; --n) {
        const size_t size = jtest_random_next(&state) % crowd->limit_bytes + 1;
        void *pointer = NULL;
        JEXPECT_OK(jallocator_allocate(crowd->retry, size, 0, NULL, &pointer));
        const size_t live = atomic_fetch_add(&crowd->live, size) + size;
        if (live > crowd->limit_bytes)
            JFAIL("%zu bytes are live", live);
        if (state % 4 == 0)
            sched_yield();
        atomic_fetch_sub(&crowd->live, size);
        JEXPECT_OK(jallocator_deallocate(crowd->retry, pointer, size, NULL));
    }
    if (atomic_fetch_add(&crowd->finished, 1) + 1 == CROWD)
        jtest_gate_open(&crowd->all_finished);
    return NULL;
}
JTEST(Retry, NoWakeUpIsLostInACrowd) {
    crowd_t crowd = {.retry = make_retry(1000, FOREVER_MS),
                     .limit_bytes = 1000,
                     .all_finished = JTEST_GATE_INIT};
    pthread_t threads[CROWD];
    for (int i = 0; i < CROWD; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, crowd_run, &crowd), 0);
    for (int i = 0; i < CROWD; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_EQ(atomic_load(&crowd.finished), CROWD);
    JEXPECT_OK(jallocator_destroy(crowd.retry));
}

/* Two threads hand one block back and forth: each round has a waiter and a free, close together. */
static void *ping_pong(void *argument) {
    jallocator_t *retry = argument;
    for (int64_t n = jtest_iterations(5000); n > 0; --n) {
        void *pointer = NULL;
        JEXPECT_OK(jallocator_allocate(retry, 1, 0, NULL, &pointer));
        JEXPECT_OK(jallocator_deallocate(retry, pointer, 1, NULL));
    }
    return NULL;
}
JTEST(Retry, NoWakeUpIsLostBetweenTwo) {
    jallocator_t *retry = make_retry(1, FOREVER_MS);
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, ping_pong, retry), 0);
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_OK(jallocator_destroy(retry));
}

/* ---- Trim, fork, bookkeeping ---- */

/* Below holds back what it was given back, until it is trimmed. */
static atomic_bool kept;
static jstatus_t keep_allocate(void *context, size_t size_bytes, size_t alignment,
                               jstream_t *stream, void **pointer) {
    (void)context, (void)size_bytes, (void)alignment, (void)stream;
    static _Alignas(64) char memory[64];
    *pointer = memory;
    return atomic_load(&kept) ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS;
}
static jstatus_t keep_trim(void *context, size_t keep_bytes) {
    (void)context, (void)keep_bytes;
    atomic_store(&kept, false);
    return JSTATUS_SUCCESS;
}
JTEST(Retry, ATrimWakesToo) {
    static const jallocator_ops_t ops = {.struct_size = sizeof ops,
                                         .allocate = keep_allocate,
                                         .deallocate = broken_deallocate,
                                         .trim = keep_trim};
    jretry_options_t options = JRETRY_OPTIONS_INIT;
    jallocator_t *below, *retry;
    pthread_t thread;
    atomic_store(&kept, true);
    options.timeout_ms = JALLOC_UNLIMITED; /* later than any clock goes */
    JASSERT_OK(jallocator_create(&ops, NULL, NULL, &below));
    JASSERT_OK(jallocator_create_retry(below, &options, &retry));
    waiter_t waiter = {retry, 1, JTEST_GATE_INIT, NULL};
    JASSERT_EQ(pthread_create(&thread, NULL, wait_for_memory, &waiter), 0);
    jtest_sleep_ms(10);
    JEXPECT_OK(jallocator_trim(retry, 0));
    jtest_gate_pass(&waiter.served);
    pthread_join(thread, NULL);
    JEXPECT_OK(jallocator_destroy(retry));
    JEXPECT_OK(jallocator_destroy(below));
}

/* A child inherits the count of the parent's waiters but not them. */
static void use_in_child(void *argument) {
    jallocator_t *retry = argument;
    void *pointer = NULL;
    JEXPECT_STATUS(jallocator_allocate(retry, 51, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jallocator_allocate(retry, 50, 0, NULL, &pointer));
    JEXPECT_OK(jallocator_deallocate(retry, pointer, 50, NULL));
}
JTEST(Retry, WorksOnInAForkedChildWhileOthersWait) {
    jallocator_t *retry = make_retry(100, 200);
    pthread_t thread;
    void *held;
    JASSERT_OK(jallocator_allocate(retry, 50, 0, NULL, &held));
    waiter_t waiter = {retry, 100, JTEST_GATE_INIT, NULL};
    /* Its waiter is asleep for sure while we fork. */
    jallocator_t *patient = make_retry(1, FOREVER_MS);
    void *only;
    JASSERT_OK(jallocator_allocate(patient, 1, 0, NULL, &only));
    waiter.retry = patient;
    waiter.size_bytes = 1;
    JASSERT_EQ(pthread_create(&thread, NULL, wait_for_memory, &waiter), 0);
    jtest_sleep_ms(10);
    jtest_in_child(20, use_in_child, retry);
    JEXPECT_OK(jallocator_deallocate(patient, only, 1, NULL));
    pthread_join(thread, NULL);
    JEXPECT_OK(jallocator_deallocate(retry, held, 50, NULL));
    JEXPECT_OK(jallocator_destroy(patient));
    JEXPECT_OK(jallocator_destroy(retry));
}

JTEST(Retry, EachFailedAllocationOfBookkeepingLosesNothing) {
    jallocator_t *below;
    JASSERT_OK(jallocator_create_malloc(&below));
    JFOR_EACH_FAILURE(i) {
        jallocator_t *retry = NULL;
        const jstatus_t status = jallocator_create_retry(below, NULL, &retry);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_OK(jallocator_destroy(retry));
    }
    JEXPECT_OK(jallocator_destroy(below));
}
