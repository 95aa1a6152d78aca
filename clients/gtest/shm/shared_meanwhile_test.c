/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What other processes do while a call is on its way: they hold the segment's lock, free or
 * scribble while the contents of a block move, allocate from the same stack. */

#include "segment_tables.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A segment, by two attachments of this process, and an allocator, by each. */
typedef struct pair {
    place_t place;
    jsegment_t *segment, *second;
    jshared_t *shared, *others;
} pair_t;
static void pair_begin(pair_t *pair) {
    memset(pair, 0, sizeof *pair);
    place_begin(&pair->place, JSEGMENT_MEMFD, 16 * MIB, 0);
    pair->place.options.timeout_ms = 5;
    pair->segment = place_create(&pair->place);
    pair->second = place_attach(&pair->place);
    pair->shared = shared_make(pair->segment, 1);
    pair->others = shared_open(pair->second, 1);
}
static void pair_end(pair_t *pair) {
    segment_books(pair->segment);
    JEXPECT_OK(jsegment_detach(pair->second));
    JEXPECT_OK(jsegment_detach(pair->segment));
    place_end(&pair->place);
}
#define PAIR(pair)                                                                                 \
    __attribute__((cleanup(pair_end))) pair_t pair;                                                \
    pair_begin(&pair)

/* ---- The lock is another's ---- */

JTEST(SharedBusy, WhatNeedsTheLockChangesNothing) {
    PAIR(pair);
    const unsigned you = jsegment_slot(pair.second);
    const joffset_t own[] = {shared_take(pair.shared, 48), shared_take(pair.shared, 48)};
    const joffset_t foreign = shared_take(pair.others, 48), far = shared_take(pair.others, 20000);
    const joffset_t batch[] = {own[0], JOFFSET_NULL, foreign, own[1]};
    hold_lock(pair.second);
    joffset_t offset = 5, moved = own[1];
    /* A first slab of its class. */
    JEXPECT_STATUS(jshared_allocate(pair.shared, 4000, 0, &offset), JSTATUS_BUSY);
    JEXPECT_EQ(offset, JOFFSET_NULL);
    JEXPECT_STATUS(jshared_allocate(pair.shared, 50000, 0, &offset), JSTATUS_BUSY);
    JEXPECT_STATUS(jshared_deallocate(pair.shared, foreign), JSTATUS_BUSY);
    JEXPECT_STATUS(jshared_deallocate(pair.shared, far), JSTATUS_BUSY);
    JEXPECT_STATUS(jshared_give(pair.shared, own[1], you), JSTATUS_BUSY);
    JEXPECT_STATUS(jshared_describe(pair.shared, own[1], NULL, NULL), JSTATUS_BUSY);
    JEXPECT_STATUS(jshared_reallocate(pair.shared, &moved, 100, 0), JSTATUS_BUSY);
    JEXPECT_EQ(moved, own[1]);
    /* From the third on. */
    JEXPECT_STATUS(jshared_deallocate_many(pair.shared, COUNT_OF(batch), batch), JSTATUS_BUSY);
    drop_lock(pair.second);
    JEXPECT_FALSE(shared_is_live(pair.shared, own[0]));
    JEXPECT_TRUE(shared_is_live(pair.shared, own[1]) && shared_is_live(pair.shared, foreign));
    JEXPECT_TRUE(shared_is_live(pair.shared, far));
    JEXPECT_OK(jshared_deallocate_many(pair.shared, 2, &batch[2]));
    JEXPECT_OK(jshared_deallocate(pair.shared, far));
    segment_expect_empty(pair.segment);
}

/* Extents go to the cache without a lock until it is full. */
JTEST(SharedBusy, AnExtentThatHasNoRoomInTheCacheStays) {
    PAIR(pair);
    joffset_t offsets[100];
    JEXPECT_OK(jshared_allocate_many(pair.shared, 12000, 0, COUNT_OF(offsets), offsets));
    hold_lock(pair.second);
    size_t freed = 0;
    jstatus_t status = JSTATUS_SUCCESS;
    while (freed < COUNT_OF(offsets) &&
           (status = jshared_deallocate(pair.shared, offsets[freed])) == JSTATUS_SUCCESS)
        ++freed;
    JEXPECT_STATUS(status, JSTATUS_BUSY);
    JEXPECT_TRUE(freed > 10 && freed < COUNT_OF(offsets));
    drop_lock(pair.second);
    JEXPECT_TRUE(shared_is_live(pair.shared, offsets[freed]));
    JEXPECT_OK(jshared_deallocate_many(pair.shared, COUNT_OF(offsets) - freed, &offsets[freed]));
    segment_expect_empty(pair.segment);
}

/* ---- While a block's contents move ---- */

/* A block in the middle of which this process must not read: its copying stops there, `meanwhile`
 * is done, and it goes on. */
static struct stop {
    char *begin;
    size_t bytes;
    void (*meanwhile)(pair_t *pair, joffset_t offset);
    pair_t *pair;
    joffset_t offset;
    unsigned count;
} stop;
static void go_on(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    const char *at = info->si_addr;
    if (at < stop.begin || at >= stop.begin + stop.bytes)
        _exit(1); /* another fault than the one that is waited for */
    ++stop.count;
    mprotect(stop.begin, stop.bytes, PROT_READ | PROT_WRITE);
    stop.meanwhile(stop.pair, stop.offset);
}

/* A whole page of any system in it; both go through the cache. */
enum { MOVED = 128 << 10, MOVED_TO = 192 << 10 };
/* Makes the block larger where it cannot stay, and does this meanwhile. */
static jstatus_t move_and_meanwhile(pair_t *pair, joffset_t *offset,
                                    void (*meanwhile)(pair_t *pair, joffset_t offset)) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const struct sigaction action = {.sa_sigaction = go_on, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    char *bytes = (char *)shared_bytes(pair->shared, *offset, MOVED);
    stop = (struct stop){bytes + -(uintptr_t)bytes % page, page, meanwhile, pair, *offset, 0};
    JEXPECT_EQ(sigaction(SIGSEGV, &action, &before), 0);
    JEXPECT_EQ(mprotect(stop.begin, stop.bytes, PROT_NONE), 0);
    const jstatus_t status = jshared_reallocate(pair->shared, offset, MOVED_TO, 0);
    sigaction(SIGSEGV, &before, NULL);
    JEXPECT_EQ(stop.count, 1);
    return status;
}

static void do_nothing(pair_t *pair, joffset_t offset) { (void)pair, (void)offset; }
static void take_lock(pair_t *pair, joffset_t offset) {
    (void)offset;
    hold_lock(pair->second);
}
static void free_it(pair_t *pair, joffset_t offset) {
    JEXPECT_OK(jshared_deallocate(pair->others, offset));
}
static void let_its_owner_go(pair_t *pair, joffset_t offset) {
    (void)offset;
    slot_of(pair->segment, jsegment_slot(pair->second))->state = SHM_SLOT_FREE;
}

typedef struct meanwhile_row {
    const char *label;
    void (*meanwhile)(pair_t *pair, joffset_t offset);
    bool foreign; /* the block is the other attachment's */
    jstatus_t status;
    bool live; /* the block, where it was */
} meanwhile_row_t;
static const meanwhile_row_t meanwhile_rows[] = {
    {"nothing", do_nothing, false, JSTATUS_SUCCESS, false},
    {"the_lock_is_taken", take_lock, false, JSTATUS_BUSY, true},
    {"the_block_is_freed", free_it, false, JSTATUS_NOT_FOUND, false},
    {"the_blocks_owner_leaves", let_its_owner_go, true, JSTATUS_INVALID_VALUE, true},
};
static void meanwhile_label(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const meanwhile_row_t *)parameter)->label);
}
JTEST_P_NAMED(SharedMeanwhile, AMoveThatCannotBeMadeLosesNothing, meanwhile_row_t, meanwhile_rows,
              meanwhile_label) {
    PAIR(pair);
    joffset_t offset = shared_take(param->foreign ? pair.others : pair.shared, MOVED);
    const joffset_t was = offset, behind = shared_take(pair.shared, MOVED);
    memset(shared_bytes(pair.shared, offset, MOVED), 0x3C, MOVED);
    const jsegment_stats_t before = segment_books(pair.segment);
    JEXPECT_STATUS(move_and_meanwhile(&pair, &offset, param->meanwhile), param->status);
    drop_lock(pair.second);
    slot_of(pair.segment, jsegment_slot(pair.second))->state = SHM_SLOT_TAKEN;
    const jsegment_stats_t after = segment_books(pair.segment);
    JEXPECT_EQ(shared_is_live(pair.shared, was), param->live);
    JEXPECT_EQ(offset == was, param->status != JSTATUS_SUCCESS);
    if (param->status == JSTATUS_SUCCESS) {
        JEXPECT_EQ(after.owned_bytes, before.owned_bytes + MOVED_TO - MOVED);
        JEXPECT_EQ(shared_bytes(pair.shared, offset, MOVED)[MOVED - 1], 0x3C);
    } else {
        /* The new place is free again. */
        JEXPECT_EQ(after.owned_bytes, before.owned_bytes - (param->live ? 0 : MOVED));
    }
    if (param->live)
        JEXPECT_EQ(shared_bytes(pair.shared, was, MOVED)[MOVED - 1], 0x3C);
    JEXPECT_TRUE(shared_is_live(pair.shared, behind));
}

/* ---- One stack ---- */

enum { EACH = 200000, STACK_BLOCK = 16 };
typedef struct stacker {
    jshared_t *stack;
    pthread_barrier_t *start;
    joffset_t offsets[EACH];
} stacker_t;
static void *stack_up(void *argument) {
    stacker_t *stacker = argument;
    pthread_barrier_wait(stacker->start); /* so that they are there at once */
    for (size_t i = 0; i < EACH; ++i)
        if (jshared_allocate(stacker->stack, STACK_BLOCK, 0, &stacker->offsets[i]) !=
            JSTATUS_SUCCESS)
            return NULL;
    return stacker;
}
JTEST(SharedMeanwhile, TwoOnOneStackGetNoByteTwice) {
    PAIR(pair);
    static stacker_t stackers[2];
    const size_t all = 2 * (size_t)EACH * STACK_BLOCK;
    stackers[0].stack = shared_make_kind(pair.segment, 2, JSHARED_STACK, all);
    stackers[1].stack = shared_open(pair.second, 2);
    pthread_t threads[2];
    pthread_barrier_t start;
    JASSERT_EQ(pthread_barrier_init(&start, NULL, 2), 0);
    stackers[0].start = stackers[1].start = &start;
    for (int i = 0; i < 2; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, stack_up, &stackers[i]), 0);
    for (int i = 0; i < 2; ++i) {
        void *done = NULL;
        pthread_join(threads[i], &done);
        JEXPECT_NOT_NULL(done);
    }
    pthread_barrier_destroy(&start);
    /* Each one's go up, and together they are all there is: so none overlap. */
    uint64_t mark = 0;
    JEXPECT_OK(jshared_get_mark(stackers[0].stack, &mark));
    JEXPECT_EQ(mark, all);
    size_t next[2] = {0, 0};
    joffset_t at = stackers[0].offsets[0] < stackers[1].offsets[0] ? stackers[0].offsets[0]
                                                                   : stackers[1].offsets[0];
    for (size_t i = 0; i < 2 * (size_t)EACH; ++i, at += STACK_BLOCK) {
        const int whose = next[0] < EACH && stackers[0].offsets[next[0]] == at ? 0 : 1;
        JASSERT_LT(next[whose], EACH);
        JASSERT_EQ(stackers[whose].offsets[next[whose]++], at);
    }
}
