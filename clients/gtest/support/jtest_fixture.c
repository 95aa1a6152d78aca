/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The fixture: the library's bookkeeping memory, counted, marked and made to fail.
 *
 * Every block carries a header in a list and the number of the test that took it. After a test,
 * when the process's own allocators are ended, none of its blocks may be left; what is left is
 * named by size and order of allocation, and written off, so the next test is not blamed. New
 * memory is filled with a pattern and freed memory with another, so what was never written or
 * already given back looks wrong. */

#include "metadata_gate.h"

#include "jalloc/metadata.h"
#include "jalloc/process.h"
#include "memory/compose/compose.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct block {
    struct block *previous, *next;
    size_t size_bytes;
    uint64_t serial; /* its number among the test's allocations */
    uint64_t test;   /* which test took it */
    alignas(max_align_t) unsigned char bytes[];
} block_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block_t blocks = {.previous = &blocks, .next = &blocks};
/* fail_at: value of allocation_count that fails; 0: none */
static uint64_t test_number, allocation_count, fail_at;
/* The same of the one that stops at the gate. */
static uint64_t stop_at;
static jtest_gate_t *stop_gate;
static size_t live_count; /* blocks of this test */
static bool failed;
static size_t live_at_round; /* JFOR_EACH_FAILURE: live_count when the round began */

static void *metadata_allocate(void *context, size_t size_bytes) {
    (void)context;
    block_t *block = NULL;
    pthread_mutex_lock(&lock);
    jtest_gate_t *gate = ++allocation_count == stop_at ? stop_gate : NULL;
    if (allocation_count == fail_at) {
        failed = true;
    } else if (size_bytes <= SIZE_MAX - sizeof *block &&
               (block = malloc(sizeof *block + size_bytes)) != NULL) {
        memset(block->bytes, 0xCD, size_bytes);
        *block = (block_t){blocks.previous, &blocks, size_bytes, allocation_count, test_number};
        blocks.previous->next = block;
        blocks.previous = block;
        ++live_count;
    }
    pthread_mutex_unlock(&lock);
    if (gate != NULL)
        jtest_gate_pass(gate);
    return block ? block->bytes : NULL;
}

static void metadata_deallocate(void *context, void *pointer) {
    (void)context;
    block_t *block = (block_t *)((char *)pointer - offsetof(block_t, bytes));
    pthread_mutex_lock(&lock);
    block->previous->next = block->next;
    block->next->previous = block->previous;
    if (block->test == test_number)
        --live_count;
    pthread_mutex_unlock(&lock);
    memset(block->bytes, 0xDD, block->size_bytes);
    free(block);
}

jstatus_t jtest_metadata_install(void) {
    const jmetadata_hooks_t hooks = {sizeof hooks, metadata_allocate, metadata_deallocate, NULL};
    return jmetadata_set_hooks(&hooks);
}

void jtest_fail_metadata_after(uint64_t n) {
    pthread_mutex_lock(&lock);
    fail_at = n ? allocation_count + n : 0;
    failed = failed && n == 0; /* what has happened can still be asked for */
    pthread_mutex_unlock(&lock);
}

void jtest_stop_metadata_after(uint64_t n, jtest_gate_t *gate) {
    pthread_mutex_lock(&lock);
    stop_at = allocation_count + n;
    stop_gate = gate;
    pthread_mutex_unlock(&lock);
}

bool jtest_metadata_failed(void) {
    pthread_mutex_lock(&lock);
    const bool result = failed;
    pthread_mutex_unlock(&lock);
    return result;
}

uint64_t jtest_metadata_allocation_count(void) {
    pthread_mutex_lock(&lock);
    const uint64_t result = allocation_count;
    pthread_mutex_unlock(&lock);
    return result;
}

size_t jtest_metadata_live_count(void) {
    pthread_mutex_lock(&lock);
    const size_t result = live_count;
    pthread_mutex_unlock(&lock);
    return result;
}

uint64_t jtest_failure_first(void) {
    (void)ji_process_reset();
    live_at_round = jtest_metadata_live_count();
    jtest_fail_metadata_after(1);
    return 1;
}

uint64_t jtest_failure_next(const char *file, int line, uint64_t i) {
    const bool happened = jtest_metadata_failed();
    jtest_fail_metadata_after(0);
    (void)ji_process_reset();
    const size_t live = jtest_metadata_live_count();
    if (live != live_at_round) {
        jtest_fail(file, line,
                   "round %llu began with %zu live blocks of bookkeeping and ended with %zu",
                   (unsigned long long)i, live_at_round, live);
        return 0;
    }
    if (!happened && i == 1)
        jtest_fail(file, line, "the body allocates no bookkeeping, so no failure of it was tried");
    if (!happened || jtest_has_failure())
        return 0;
    jtest_fail_metadata_after(i + 1);
    return i + 1;
}

/* A child must not inherit a lock that another thread of the parent held. */
static void lock_for_fork(void) { pthread_mutex_lock(&lock); }
static void unlock_after_fork(void) { pthread_mutex_unlock(&lock); }

bool jtest_fixture_start(void) {
    /* Before the library is used: what it takes for a fork it then takes first. */
    pthread_atfork(lock_for_fork, unlock_after_fork, unlock_after_fork);
    jtest_support_start();
    const jstatus_t status = jtest_metadata_install();
    if (status != JSTATUS_SUCCESS)
        fprintf(stderr, "jtest: bookkeeping memory cannot be watched: %s\n",
                jstatus_last_message());
    return status == JSTATUS_SUCCESS;
}

void jtest_fixture_set_up(const char *name) {
    pthread_mutex_lock(&lock);
    ++test_number;
    allocation_count = fail_at = stop_at = 0;
    live_count = 0;
    failed = false;
    pthread_mutex_unlock(&lock);
    jtest_support_set_up(name);
}

void jtest_fixture_tear_down(void) {
    jtest_fail_metadata_after(0);
    jtest_support_tear_down();
    (void)ji_process_reset(); /* what is live in one keeps it, and is found below */
    char text[512] = "";
    size_t length = 0;
    pthread_mutex_lock(&lock);
    for (const block_t *block = blocks.next; block != &blocks && length < sizeof text - 64;
         block = block->next)
        if (block->test == test_number)
            length += (size_t)snprintf(text + length, sizeof text - length,
                                       "\n  %zu bytes, allocation %llu", block->size_bytes,
                                       (unsigned long long)block->serial);
    const size_t left = live_count;
    pthread_mutex_unlock(&lock);
    if (left > 0)
        jtest_fail(__FILE__, __LINE__, "%s left %zu block(s) of bookkeeping:%s", jtest_name(), left,
                   text);
}
