/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Processes that die, stop and become others: the rest goes on, and what the dead owned is free
 * again. */

#include "segment_model.h"
#include "segment_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const backend_row_t shared_backends[] = {SHARED_BACKENDS};
#define EACH_SHARED_BACKEND(name)                                                                  \
    JTEST_P_NAMED(SegmentProcess, name, backend_row_t, shared_backends, backend_label)

/* ---- Deaths ---- */

#define RESULTS 6
typedef struct scene {
    place_t *place;
    board_t *board;
    uint64_t random;
} scene_t;

static void own_and_stay(peer_t *self, void *argument) {
    const scene_t *scene = argument;
    jsegment_t *segment = place_attach(scene->place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_open(segment, 1);
    /* Every other one is given away. */
    static const size_t sizes[RESULTS] = {40, 40, 8000, 8000, 50000, 50000};
    joffset_t more[500];
    JEXPECT_OK(jshared_allocate_many(shared, 40, 0, COUNT_OF(more), more));
    for (int i = 0; i < RESULTS; ++i) {
        const joffset_t offset = shared_take(shared, sizes[i]);
        stamp_write(shared_bytes(shared, offset, sizes[i]), sizes[i], (uint64_t)i);
        if (i % 2 == 1)
            JEXPECT_OK(jshared_give(shared, offset, JSEGMENT_SLOT_SEGMENT));
        joffset_store(&scene->board->cells[i], offset);
    }
    /* Kept in its cache. */
    JEXPECT_OK(jshared_deallocate(shared, shared_take(shared, 20000)));
    /* Another one's block. */
    JEXPECT_OK(jshared_deallocate(shared, joffset_load(&scene->board->cells[10])));
    scene->board->go = jsegment_slot(segment);
    peer_tell(self);
    peer_stay(self);
}
EACH_SHARED_BACKEND(AKilledOneGivesBackExactlyWhatItOwned) {
    static const size_t sizes[RESULTS] = {40, 40, 8000, 8000, 50000, 50000};
    PLACE(place, param->backend, 2 * MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    board_t *board = board_map();
    scene_t scene = {&place, board, 0};
    jshared_t *shared = shared_make(segment, 1);
    const joffset_t mine[2] = {shared_take(shared, 300), shared_take(shared, 30000)};
    stamp_write(shared_bytes(shared, mine[0], 300), 300, 77);
    stamp_write(shared_bytes(shared, mine[1], 30000), 30000, 78);
    const jsegment_stats_t before = segment_books(segment);
    board->cells[10].value = shared_take(shared, 300);
    PEER(peer, own_and_stay, &scene);
    JASSERT_TRUE(peer_await(&peer));
    jsegment_stats_t stats = segment_books(segment);
    size_t given = 0;
    for (int i = 1; i < RESULTS; i += 2)
        given += shared_usable(shared, board->cells[i].value);
    JEXPECT_EQ(stats.given_bytes, given);
    JEXPECT_EQ(stats.processes, 2);
    JEXPECT_TRUE(segment_process(segment, (unsigned)board->go).alive);
    unsigned count = 9;
    JEXPECT_OK(jsegment_recover(segment, &count));
    JEXPECT_EQ(count, 0); /* it lives */
    /* What the survivor frees for the one that will be dead must not be taken twice by the
     * reaper. */
    JEXPECT_OK(jshared_deallocate(shared, board->cells[0].value));
    peer_kill(&peer);
    const jsegment_process_t dead = segment_process(segment, (unsigned)board->go);
    JEXPECT_TRUE(dead.attached && !dead.alive && dead.liveness_known);
    JEXPECT_GT(dead.owned_bytes, 500 * 40);
    JEXPECT_OK(jsegment_recover(segment, &count));
    JEXPECT_EQ(count, 1);
    JEXPECT_FALSE(segment_process(segment, (unsigned)board->go).attached);
    stats = segment_books(segment);
    JEXPECT_EQ(stats.processes, 1);
    JEXPECT_EQ(stats.reaped_count, 1);
    JEXPECT_EQ(stats.given_bytes, given);
    JEXPECT_EQ(stats.owned_bytes, before.owned_bytes);
    for (int i = 0; i < RESULTS; ++i) {
        const joffset_t offset = board->cells[i].value;
        JEXPECT_EQ(shared_is_live(shared, offset), i % 2 == 1);
        if (i % 2 == 1) {
            JEXPECT_TRUE(
                stamp_holds(shared_bytes(shared, offset, sizes[i]), sizes[i], (uint64_t)i));
            JEXPECT_OK(jshared_deallocate(shared, offset));
        }
    }
    JEXPECT_TRUE(stamp_holds(shared_bytes(shared, mine[0], 300), 300, 77));
    JEXPECT_TRUE(stamp_holds(shared_bytes(shared, mine[1], 30000), 30000, 78));
    stats = segment_books(segment);
    JEXPECT_EQ(stats.owned_bytes, before.owned_bytes);
    JEXPECT_EQ(segment_spare_bytes(&stats), segment_spare_bytes(&before));
    JEXPECT_OK(jsegment_recover(segment, &count));
    JEXPECT_EQ(count, 0);
    JEXPECT_OK(jsegment_destroy(segment));
    munmap(board, sizeof *board);
}

/* Killed wherever it happens to be, again and again; the survivor works on without being told. */
static void work_for_ever(peer_t *self, void *argument) {
    const scene_t *scene = argument;
    jsegment_t *segment = place_attach(scene->place);
    JASSERT_NOT_NULL(segment);
    worker_t worker = {shared_open(segment, 1), NULL, scene->random, 2000, 60000, 0, false};
    peer_tell(self);
    for (;;) {
        worker_run(&worker);
        jshared_t *own = NULL;
        if (jshared_create(segment, 100, NULL, &own) == JSTATUS_SUCCESS) {
            shared_take(own, 100);
            joffset_t offset = shared_take(own, 12345);
            JEXPECT_OK(jshared_reallocate(own, &offset, 23456, 0));
            JEXPECT_OK(jsegment_set_root(segment, "mine", offset));
            JEXPECT_OK(jshared_destroy(own));
        }
    }
}
EACH_SHARED_BACKEND(KilledAtAnyMomentNothingIsLost) {
    PLACE(place, param->backend, 4 * MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    const joffset_t mine = shared_take(shared, 5000);
    stamp_write(shared_bytes(shared, mine, 5000), 5000, 99);
    const jsegment_stats_t before = segment_books(segment);
    for (int64_t i = jtest_iterations(25); i > 0 && !jtest_has_failure(); --i) {
        scene_t scene = {&place, NULL, jtest_random()};
        PEER(first, work_for_ever, &scene);
        scene.random = jtest_random();
        PEER(second, work_for_ever, &scene);
        JASSERT_TRUE(peer_await(&first));
        JASSERT_TRUE(peer_await(&second));
        usleep((useconds_t)jtest_random_between(0, 5000));
        peer_kill(&first);
        worker_t worker = {shared, NULL, jtest_random(), 300, 60000, 0, false};
        worker_run(&worker); /* beside the second, over what the first left */
        peer_kill(&second);
        JEXPECT_OK(jsegment_recover(segment, NULL));
        /* An allocator of a dead process stays until somebody destroys it. */
        jshared_t *left = NULL;
        if (jshared_open(segment, 100, &left) == JSTATUS_SUCCESS)
            JEXPECT_OK(jshared_destroy(left));
        const jsegment_stats_t after = segment_books(segment);
        JEXPECT_EQ(after.processes, 1);
        JEXPECT_EQ(after.owned_bytes, before.owned_bytes);
        JEXPECT_EQ(after.given_bytes, 0);
        JEXPECT_EQ(after.allocators, 1);
        JEXPECT_TRUE(stamp_holds(shared_bytes(shared, mine, 5000), 5000, 99));
    }
    JEXPECT_OK(jshared_destroy(shared));
    shared = shared_make(segment, 2);
    const jsegment_stats_t end = segment_books(segment);
    /* Everything is one extent again. */
    const joffset_t all = shared_take(shared, segment_spare_bytes(&end));
    JEXPECT_OK(jshared_deallocate(shared, all));
    JEXPECT_OK(jsegment_destroy(segment));
}

/* A holder of the lock that died in the middle of a change: the words that it changed are put
 * back. */
static void die_in_a_change(peer_t *self, void *argument) {
    const scene_t *scene = argument;
    jsegment_t *segment = place_attach(scene->place);
    JASSERT_NOT_NULL(segment);
    hold_lock(segment);
    shm_header_t *header = header_of(segment);
    shm_log_entry_t *log = (shm_log_entry_t *)((char *)header + header->constants.log_offset);
    uint64_t *words[] = {&header->orphans, &header->growth_count, &header->bins[200],
                         &header->orphans};
    for (uint64_t i = 0; i < COUNT_OF(words); ++i) {
        log[i].offset = (uint64_t)((char *)words[i] - (char *)header);
        log[i].old_value = *words[i];
        __atomic_store_n(&header->log_count, i + 1, __ATOMIC_SEQ_CST);
        *words[i] = 0x123456 + i;
    }
    peer_tell(self);
    peer_stay(self);
}
EACH_SHARED_BACKEND(AChangeHalfDoneIsUndone) {
    PLACE(place, param->backend, MIB, 0);
    place.options.timeout_ms = 100;
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    shared_make(segment, 1);
    scene_t scene = {&place, NULL, 0};
    PEER(peer, die_in_a_change, &scene);
    JASSERT_TRUE(peer_await(&peer));
    JEXPECT_STATUS(jsegment_verify(segment), JSTATUS_BUSY);
    peer_kill(&peer);
    const jsegment_stats_t stats = segment_books(segment);
    JEXPECT_EQ(stats.growth_count, 0);
    JEXPECT_EQ(stats.rollback_count, 1);
    JEXPECT_EQ(stats.processes, 1);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Stopped ---- */

static void hold_and_stay(peer_t *self, void *argument) {
    const scene_t *scene = argument;
    jsegment_t *segment = place_attach(scene->place);
    JASSERT_NOT_NULL(segment);
    hold_lock(segment);
    peer_tell(self);
    peer_await(self);
    drop_lock(segment);
    peer_tell(self);
    peer_stay(self);
}
EACH_SHARED_BACKEND(AStoppedHolderIsBusyAndNotForEver) {
    PLACE(place, param->backend, MIB, 0);
    place.options.timeout_ms = 60;
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    shared_take(shared, 100);
    scene_t scene = {&place, NULL, 0};
    PEER(peer, hold_and_stay, &scene);
    JASSERT_TRUE(peer_await(&peer));
    kill(peer.pid, SIGSTOP);
    joffset_t offset;
    JEXPECT_STATUS(jshared_allocate(shared, 300000, 0, &offset), JSTATUS_BUSY);
    JEXPECT_EQ(offset, JOFFSET_NULL);
    joffset_t small = shared_take(shared, 100); /* what needs no lock does not wait */
    JEXPECT_OK(jshared_deallocate(shared, small));
    JEXPECT_STATUS(jsegment_recover(segment, NULL), JSTATUS_BUSY);
    kill(peer.pid, SIGCONT);
    peer_tell(&peer);
    JASSERT_TRUE(peer_await(&peer));
    JEXPECT_OK(jshared_allocate(shared, 300000, 0, &offset));
    segment_books(segment);
    kill(peer.pid, SIGSTOP); /* stopped outside: nobody waits, and it is not dead */
    unsigned count = 9;
    JEXPECT_OK(jsegment_recover(segment, &count));
    JEXPECT_EQ(count, 0);
    JEXPECT_EQ(segment_books(segment).processes, 2);
    peer_kill(&peer);
    JEXPECT_OK(jsegment_recover(segment, &count));
    JEXPECT_EQ(count, 1);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Slots ---- */

static void attach_and_stay(peer_t *self, void *argument) {
    const scene_t *scene = argument;
    jsegment_t *segment = place_attach(scene->place);
    JASSERT_NOT_NULL(segment);
    shared_take(shared_open(segment, 1), 10000);
    peer_tell(self);
    peer_stay(self);
}
EACH_SHARED_BACKEND(ADeathFreesASlot) {
    PLACE(place, param->backend, MIB, 0);
    place.options.max_processes = 3;
    jsegment_t *segment = place_create(&place), *more = NULL;
    JASSERT_NOT_NULL(segment);
    shared_make(segment, 1);
    scene_t scene = {&place, NULL, 0};
    PEER(first, attach_and_stay, &scene);
    PEER(second, attach_and_stay, &scene);
    JASSERT_TRUE(peer_await(&first));
    JASSERT_TRUE(peer_await(&second));
    JEXPECT_STATUS(jsegment_attach(&place.options, &more), JSTATUS_NO_SLOT);
    peer_kill(&first);
    more = place_attach(&place); /* by itself, without recover */
    JASSERT_NOT_NULL(more);
    JEXPECT_EQ(segment_books(more).processes, 3);
    JEXPECT_GE(segment_stats(more).reaped_count, 1);
    jsegment_t *still = NULL;
    JEXPECT_STATUS(jsegment_attach(&place.options, &still), JSTATUS_NO_SLOT);
    peer_kill(&second);
    JEXPECT_OK(jsegment_detach(more));
    JEXPECT_OK(jsegment_destroy(segment)); /* nobody who lives is attached */
}

/* The dead fill the memory; whoever runs out recovers first. */
EACH_SHARED_BACKEND(WhatTheDeadOwnIsFoundWhenMemoryRunsOut) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    const jsegment_stats_t before = segment_books(segment);
    scene_t scene = {&place, NULL, 0};
    PEER(first, attach_and_stay, &scene);
    PEER(second, attach_and_stay, &scene);
    JASSERT_TRUE(peer_await(&first));
    JASSERT_TRUE(peer_await(&second));
    peer_kill(&first);
    peer_kill(&second);
    JEXPECT_EQ(segment_stats(segment).processes, 3);
    const joffset_t all = shared_take(shared, segment_spare_bytes(&before));
    JEXPECT_EQ(segment_books(segment).processes, 1);
    JEXPECT_OK(jshared_deallocate(shared, all));
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Another program, another namespace, another process with the same pid ---- */

static void become_another(peer_t *self, void *argument) {
    const scene_t *scene = argument;
    jsegment_t *segment = place_attach(scene->place);
    JASSERT_NOT_NULL(segment);
    shared_take(shared_open(segment, 1), 10000);
    alarm(0);
    /* Survives exec, so that its end of the pipe closes when the program ends. */
    dup2(self->to, 100);
    peer_tell(self);
    execl("/bin/sleep", "sleep", "1000", (char *)NULL);
    JFAIL("no /bin/sleep");
}
static const backend_row_t with_files[] = {
    {"posix", JSEGMENT_POSIX}, {"memfd", JSEGMENT_MEMFD}, {"file", JSEGMENT_FILE}};
JTEST_P_NAMED(SegmentProcess, ExecEndsAnAttachment, backend_row_t, with_files, backend_label) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    shared_make(segment, 1);
    scene_t scene = {&place, NULL, 0};
    PEER(peer, become_another, &scene);
    JASSERT_TRUE(peer_await(&peer));
    unsigned count = 0;
    for (int i = 0; i < 1000 && count == 0; ++i) { /* until exec has happened */
        JEXPECT_OK(jsegment_recover(segment, &count));
        usleep(10000);
    }
    JEXPECT_EQ(count, 1);
    JEXPECT_EQ(kill(peer.pid, 0), 0); /* the process lives, its attachment does not */
    segment_expect_empty(segment);
    peer_kill(&peer);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* A slot whose process has gone and whose pid another process has now: the claim says another start
 * time. */
JTEST(SegmentProcess, AnotherProcessOfTheSamePidIsNotTakenForIt) {
    PLACE(place, JSEGMENT_ARRAY, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    scene_t scene = {&place, NULL, 0};
    PEER(peer, attach_and_stay, &scene);
    JASSERT_TRUE(peer_await(&peer));
    unsigned slot = jsegment_slot(segment) == 1 ? 2 : 1;
    JASSERT_TRUE(segment_process(segment, slot).attached);
    /* As if it had been a process of that pid a clock tick later. */
    slot_of(segment, slot)->claim += 1;
    JEXPECT_FALSE(segment_process(segment, slot).alive);
    unsigned count = 0;
    JEXPECT_OK(jsegment_recover(segment, &count));
    JEXPECT_EQ(count, 1);
    (void)shared;
    segment_expect_empty(segment);
    peer_kill(&peer);
    JEXPECT_OK(jsegment_destroy(segment));
}

static void attach_elsewhere(peer_t *self, void *argument) {
    (void)self;
    if (unshare(CLONE_NEWPID) != 0)
        _exit(77);
    PEER(inner, attach_and_stay, argument); /* the first process of the new namespace */
    JASSERT_TRUE(peer_await(&inner));
    peer_tell(self);
    peer_await(self);
    peer_kill(&inner);
    peer_tell(self);
    peer_await(self);
}
static void try_namespace(peer_t *self, void *argument) {
    (void)self, (void)argument;
    if (unshare(CLONE_NEWPID) != 0)
        _exit(77);
}
EACH_SHARED_BACKEND(AProcessOfAnotherPidNamespaceIsNotTakenForDead) {
    PEER(trial, try_namespace, NULL);
    if (peer_wait(&trial) != 0)
        JSKIP("a pid namespace cannot be made");
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    (void)shared;
    scene_t scene = {&place, NULL, 0};
    PEER(peer, attach_elsewhere, &scene);
    JASSERT_TRUE(peer_await(&peer));
    const unsigned slot = jsegment_slot(segment) == 1 ? 2 : 1;
    jsegment_process_t process = segment_process(segment, slot);
    JEXPECT_TRUE(process.attached && process.alive);
    JEXPECT_EQ(process.liveness_known, param->backend != JSEGMENT_ARRAY);
    JEXPECT_EQ(process.pid, 1); /* its own number there */
    unsigned count = 9;
    JEXPECT_OK(jsegment_recover(segment, &count));
    JEXPECT_EQ(count, 0);
    peer_tell(&peer);
    JASSERT_TRUE(peer_await(&peer)); /* it has been killed */
    JEXPECT_OK(jsegment_recover(segment, &count));
    /* A file's locks know; a claim from elsewhere does not. */
    JEXPECT_EQ(count, param->backend != JSEGMENT_ARRAY);
    segment_books(segment);
    peer_tell(&peer);
    peer_end(&peer);
    JEXPECT_OK(jsegment_detach(segment));
}
