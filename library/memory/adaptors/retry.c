/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Waiting for memory.
 *
 * A number is one larger after each free. Who wants memory reads it, tries, and when there was none
 * sleeps only as long as the number is what it read: a free between the failed try and the sleep
 * has changed it, so no wake-up is lost. Who frees looks whether anybody sleeps, and wakes them
 * all, because a small request may fit where the one that came first does not:
 *
 *     waiter                          freer
 *     read the number                 give the block to below
 *     try: no memory                  raise the number
 *     say that one waits              nobody waits? done. Else wake
 *     sleep unless it has changed
 *
 * Both sides write before they read what the other writes, in one order for all (seq_cst): either
 * the freer sees the waiter, or the waiter sees the new number.
 *
 * The number is the word of a futex, which compares and sleeps in one step. So there is no mutex
 * and no condition variable that a fork could copy while another thread holds it: in a child, the
 * count of waiters may be too large, which costs a call. */

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jalloc/adaptor.h"
#include "memory/adaptor.h"

#define RETRY_TIMEOUT_MS 10000

typedef struct retry_adaptor {
    ji_adaptor_t adaptor;
    uint64_t timeout_ms;
    _Atomic uint32_t free_count; /* what waiters sleep on */
    atomic_uint waiter_count;
} retry_adaptor_t;

static struct timespec retry_deadline(uint64_t timeout_ms) {
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += (time_t)(timeout_ms / 1000);
    deadline.tv_nsec += (long)(timeout_ms % 1000) * 1000000;

    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_nsec -= 1000000000;
        ++deadline.tv_sec;
    }
    return deadline;
}

static bool retry_is_past(const struct timespec *deadline) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec != deadline->tv_sec ? now.tv_sec > deadline->tv_sec
                                          : now.tv_nsec >= deadline->tv_nsec;
}

/* Sleeps until something is freed that `seen` does not count; false at the deadline. */
static bool retry_wait(retry_adaptor_t *retry, uint32_t seen, const struct timespec *deadline) {
    bool in_time = true;

    atomic_fetch_add(&retry->waiter_count, 1);

    while (atomic_load(&retry->free_count) == seen && (in_time = !retry_is_past(deadline)))
        /* Comes back for a wake-up, another number, a signal or the deadline: it is looked at
         * again. */
        (void)syscall(SYS_futex, &retry->free_count, FUTEX_WAIT_BITSET_PRIVATE, seen, deadline,
                      NULL, FUTEX_BITSET_MATCH_ANY);

    atomic_fetch_sub(&retry->waiter_count, 1);
    return in_time;
}

static void retry_wake(retry_adaptor_t *retry) {
    atomic_fetch_add(&retry->free_count, 1);
    if (atomic_load(&retry->waiter_count) != 0)
        (void)syscall(SYS_futex, &retry->free_count, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static jstatus_t retry_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    retry_adaptor_t *retry = context;
    struct timespec deadline = {0, 0};

    for (bool first = true;; first = false) {
        uint32_t seen = atomic_load(&retry->free_count);
        jstatus_t status =
            jallocator_allocate(retry->adaptor.below, size_bytes, alignment, stream, pointer);
        if (JI_LIKELY(status != JSTATUS_MEMORY_ERROR))
            return status;

        if (first)
            deadline = retry_deadline(retry->timeout_ms);
        /* Frees of others that never suffice must not carry a request past its deadline. */
        if (retry_is_past(&deadline) || !retry_wait(retry, seen, &deadline))
            return ji_fail(status, "waited %llu ms for memory: %s",
                           (unsigned long long)retry->timeout_ms, jstatus_last_message());
    }
}

static jstatus_t retry_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    retry_adaptor_t *retry = context;
    jstatus_t status = jallocator_deallocate(retry->adaptor.below, pointer, size_bytes, stream);
    if (JI_LIKELY(status == JSTATUS_SUCCESS))
        retry_wake(retry);
    return status;
}

/* What a policy below held unused may serve another one's request now. */
static jstatus_t retry_trim(void *context, size_t keep_bytes) {
    retry_adaptor_t *retry = context;
    jstatus_t status = jallocator_trim(retry->adaptor.below, keep_bytes);
    retry_wake(retry);
    return status;
}

static jstatus_t retry_create(const ji_request_t *request, jallocator_t **out) {
    const jretry_options_t *options = request->options;

    jallocator_ops_t ops = ji_adaptor_ops;
    ops.allocate = retry_allocate;
    ops.deallocate = retry_deallocate;
    ops.trim = retry_trim;

    ji_traits_t traits = {.name = request->name,
                          .below = request->below,
                          .threads = JALLOCATOR_THREADS_SAFE,
                          .kind = &ji_kind_retry};

    jstatus_t status = JSTATUS_SUCCESS;
    retry_adaptor_t *retry;
    JTRY_ALLOC(retry = ji_metadata_zalloc(sizeof *retry));
    retry->adaptor.below = request->below;
    retry->timeout_ms = ji_option(options->timeout_ms, RETRY_TIMEOUT_MS);
    if (retry->timeout_ms > JI_LONGEST_MS)
        retry->timeout_ms = JI_LONGEST_MS;

    JTRY(ji_allocator_make(&ops, retry, &traits, out));
    retry = NULL;

done:
    ji_metadata_free(retry);
    return status;
}

static const jretry_options_t retry_defaults = JRETRY_OPTIONS_INIT;
static const jallocator_key_t retry_keys[] = {
    {"timeout", "MILLISECONDS|none|unlimited", "10000",
     "longest that an allocation waits for memory"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t retry_members[] = {
    {JI_KEY_UINT64, offsetof(jretry_options_t, timeout_ms), 0}};

const ji_kind_t ji_kind_retry = {
    .public = {"retry", JALLOCATOR_ADAPTOR,
               "waits for a free where memory is short, until a deadline", retry_keys},
    .members = retry_members,
    .options_type = "jretry_options_t",
    .options_bytes = sizeof(jretry_options_t),
    .defaults = &retry_defaults,
    .create = retry_create,
};

jstatus_t jallocator_create_retry(jallocator_t *below, const jretry_options_t *options,
                                  jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_retry, NULL, below, options, allocator);
}
