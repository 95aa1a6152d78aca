/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Forks: a child that uses what it has inherited has a slot of its own, the parent's blocks stay
 * the parent's, and a child that uses nothing changes nothing. */

#include "segment_model.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const backend_row_t shared_backends[] = {SHARED_BACKENDS};
#define EACH_SHARED_BACKEND(name)                                                                  \
    JTEST_P_NAMED(SegmentFork, name, backend_row_t, shared_backends, backend_label)

typedef struct family {
    jsegment_t *segment;
    jshared_t *shared;
    joffset_t parents;
    board_t *board;
} family_t;

static void use_inherited(peer_t *self, void *argument) {
    const family_t *family = argument;
    const unsigned parent_slot = (unsigned)family->board->taken[0];
    JEXPECT_EQ(shared_owner(family->shared, family->parents), parent_slot);
    const joffset_t own = shared_take(family->shared, 77),
                    large = shared_take(family->shared, 70000);
    stamp_write(shared_bytes(family->shared, large, 70000), 70000, 5);
    const unsigned slot = jsegment_slot(family->segment);
    JEXPECT_NE(slot, parent_slot);
    JEXPECT_EQ(shared_owner(family->shared, own), slot);
    JEXPECT_EQ(segment_process(family->segment, slot).pid, getpid());
    JEXPECT_TRUE(stamp_holds(shared_bytes(family->shared, family->parents, 200), 200, 1));
    /* From afar, as any other process. */
    JEXPECT_OK(jshared_deallocate(family->shared, family->parents));
    JEXPECT_STATUS(jshared_deallocate(family->shared, family->parents), JSTATUS_NOT_FOUND);
    segment_books(family->segment);
    joffset_store(&family->board->cells[0], own);
    joffset_store(&family->board->cells[1], large);
    family->board->taken[1] = slot;
    peer_tell(self);
    peer_await(self);
    /* ... and leaves without a word: as a death. */
}
EACH_SHARED_BACKEND(AForkedChildHasASlotOfItsOwn) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    family_t family = {segment, shared_make(segment, 1), 0, board_map()};
    const joffset_t keep = shared_take(family.shared, 200);
    family.parents = shared_take(family.shared, 200);
    stamp_write(shared_bytes(family.shared, keep, 200), 200, 2);
    stamp_write(shared_bytes(family.shared, family.parents, 200), 200, 1);
    family.board->taken[0] = jsegment_slot(segment);
    const jsegment_stats_t before = segment_books(segment);
    PEER(child, use_inherited, &family);
    JASSERT_TRUE(peer_await(&child));
    JEXPECT_EQ(jsegment_slot(segment), family.board->taken[0]);
    JEXPECT_EQ(shared_owner(family.shared, joffset_load(&family.board->cells[0])),
               family.board->taken[1]);
    JEXPECT_FALSE(shared_is_live(family.shared, family.parents));
    JEXPECT_TRUE(shared_is_live(family.shared, keep));
    JEXPECT_EQ(segment_books(segment).processes, 2);
    /* Both allocate at once: no block twice. */
    joffset_t many[400];
    JEXPECT_OK(jshared_allocate_many(family.shared, 77, 0, COUNT_OF(many), many));
    for (size_t i = 0; i < COUNT_OF(many); ++i)
        JASSERT_NE(many[i], joffset_load(&family.board->cells[0]));
    JEXPECT_OK(jshared_deallocate_many(family.shared, COUNT_OF(many), many));
    peer_tell(&child);
    peer_end(&child);
    unsigned count = 0;
    JEXPECT_OK(jsegment_recover(segment, &count));
    JEXPECT_EQ(count, 1);
    const jsegment_stats_t after = segment_books(segment);
    /* One block of two, as the child freed the other. */
    JEXPECT_EQ(2 * after.owned_bytes, before.owned_bytes);
    JEXPECT_TRUE(stamp_holds(shared_bytes(family.shared, keep, 200), 200, 2));
    munmap(family.board, sizeof *family.board);
    JEXPECT_OK(jsegment_destroy(segment));
}

static void detach_inherited(peer_t *self, void *argument) {
    const family_t *family = argument;
    (void)self;
    shared_take(family->shared, 500);
    JEXPECT_OK(jsegment_detach(family->segment));
}
static void detach_unused(peer_t *self, void *argument) {
    (void)self;
    JEXPECT_OK(jsegment_detach(((const family_t *)argument)->segment));
}
EACH_SHARED_BACKEND(AChildThatDetachesLeavesItsParentAttached) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    family_t family = {segment, shared_make(segment, 1), 0, NULL};
    const joffset_t mine = shared_take(family.shared, 500);
    static const peer_work_t works[] = {detach_inherited, detach_unused};
    for (int i = 0; i < 2; ++i) {
        PEER(child, works[i], &family);
        peer_end(&child);
        JEXPECT_EQ(segment_books(segment).processes, 1);
        JEXPECT_EQ(shared_owner(family.shared, mine), jsegment_slot(segment));
    }
    JEXPECT_EQ(segment_stats(segment).reaped_count, 0);
    JEXPECT_OK(jshared_deallocate(family.shared, mine));
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

static void fork_again(peer_t *self, void *argument) {
    const family_t *family = argument;
    PEER(grandchild, use_inherited, argument); /* the child itself has used nothing */
    JASSERT_TRUE(peer_await(&grandchild));
    JEXPECT_EQ(shared_owner(family->shared, joffset_load(&family->board->cells[0])),
               family->board->taken[1]);
    JEXPECT_NE(jsegment_slot(family->segment), family->board->taken[1]);
    peer_tell(self);
    peer_tell(&grandchild);
    peer_end(&grandchild);
    JEXPECT_OK(jsegment_recover(family->segment, NULL));
}
JTEST(SegmentFork, GrandchildrenToo) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    family_t family = {segment, shared_make(segment, 1), 0, board_map()};
    family.parents = shared_take(family.shared, 200);
    stamp_write(shared_bytes(family.shared, family.parents, 200), 200, 1);
    family.board->taken[0] = jsegment_slot(segment);
    PEER(child, fork_again, &family);
    JASSERT_TRUE(peer_await(&child));
    peer_end(&child);
    JEXPECT_OK(jsegment_recover(segment, NULL));
    segment_expect_empty(segment);
    JEXPECT_EQ(segment_stats(segment).processes, 1);
    munmap(family.board, sizeof *family.board);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* A child that only exists, with its parent's descriptors, must not keep its dead parent alive. */
static void just_be(peer_t *self, void *argument) {
    (void)argument;
    peer_tell(self);
    peer_stay(self);
}
typedef struct scene {
    place_t *place;
    board_t *board;
} scene_t;
static void have_a_child(peer_t *self, void *argument) {
    const scene_t *scene = argument;
    jsegment_t *segment = place_attach(scene->place);
    JASSERT_NOT_NULL(segment);
    shared_take(shared_open(segment, 1), 10000);
    PEER(child, just_be, NULL);
    JASSERT_TRUE(peer_await(&child));
    scene->board->taken[0] = (uint64_t)child.pid;
    peer_tell(self);
    peer_stay(self);
}
EACH_SHARED_BACKEND(AnIdleChildDoesNotKeepItsParentAlive) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    shared_make(segment, 1);
    scene_t scene = {&place, board_map()};
    PEER(parent, have_a_child, &scene);
    JASSERT_TRUE(peer_await(&parent));
    peer_kill(&parent);
    unsigned count = 0;
    JEXPECT_OK(jsegment_recover(segment, &count));
    JEXPECT_EQ(count, 1);
    segment_expect_empty(segment);
    kill((pid_t)scene.board->taken[0], SIGKILL);
    munmap(scene.board, sizeof *scene.board);
    JEXPECT_OK(jsegment_destroy(segment));
}

static void *work_until_told(void *argument) {
    worker_t *worker = argument;
    while (__atomic_load_n(&worker->board->go, __ATOMIC_ACQUIRE) == 0 && !jtest_has_failure()) {
        worker_t round = *worker;
        round.board = NULL;
        worker_run(&round);
        worker->random = round.random;
    }
    return NULL;
}
static void work_a_little(peer_t *self, void *argument) {
    (void)self;
    const family_t *family = argument;
    worker_t worker = {family->shared, NULL, 42, 300, 20000, 0, false};
    worker_run(&worker); /* whatever the other threads held when this process was made */
    jsegment_stats_t stats = segment_stats(family->segment);
    JEXPECT_GE(stats.processes, 2);
}
JTEST(SegmentFork, ForkingWhileOtherThreadsAreInside) {
    PLACE(place, JSEGMENT_MEMFD, 8 * MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    static board_t board;
    memset(&board, 0, sizeof board);
    family_t family = {segment, shared_make(segment, 1), 0, NULL};
    pthread_t threads[3];
    worker_t workers[3];
    for (unsigned i = 0; i < 3; ++i) {
        workers[i] = (worker_t){family.shared, &board, jtest_random(), 100, 20000, 0, false};
        JASSERT_EQ(pthread_create(&threads[i], NULL, work_until_told, &workers[i]), 0);
    }
    for (int64_t i = jtest_iterations(20); i > 0 && !jtest_has_failure(); --i) {
        PEER(child, work_a_little, &family);
        peer_end(&child);
    }
    __atomic_store_n(&board.go, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < 3; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_OK(jsegment_recover(segment, NULL));
    segment_expect_empty(segment);
    JEXPECT_EQ(segment_stats(segment).processes, 1);
    JEXPECT_OK(jsegment_destroy(segment));
}

static void change_private(peer_t *self, void *argument) {
    (void)self;
    const family_t *family = argument;
    memset(shared_bytes(family->shared, family->parents, 200), 0, 200);
    JEXPECT_OK(jshared_deallocate(family->shared, family->parents));
    shared_take(family->shared, 50000);
    segment_books(family->segment);
    JEXPECT_OK(jsegment_destroy(family->segment));
}
JTEST(SegmentFork, APrivateSegmentIsCopiedByAFork) {
    PLACE(place, JSEGMENT_PRIVATE, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    family_t family = {segment, shared_make(segment, 1), 0, NULL};
    family.parents = shared_take(family.shared, 200);
    stamp_write(shared_bytes(family.shared, family.parents, 200), 200, 1);
    PEER(child, change_private, &family);
    peer_end(&child);
    JEXPECT_TRUE(stamp_holds(shared_bytes(family.shared, family.parents, 200), 200, 1));
    JEXPECT_OK(jshared_deallocate(family.shared, family.parents));
    segment_expect_empty(segment);
    JEXPECT_EQ(segment_stats(segment).processes, 1);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* While a child has not used what it inherited, it has nothing open: its parent may destroy it, and
 * the place may be another allocator's by the time the child looks. */
static void use_what_is_gone(peer_t *self, void *argument) {
    const family_t *family = argument;
    peer_tell(self);
    peer_await(self);
    joffset_t offset = 5, moved = family->parents;
    JEXPECT_STATUS(jshared_allocate(family->shared, 100, 0, &offset), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(offset, JOFFSET_NULL);
    JEXPECT_SUBSTR(jstatus_last_message(), "was destroyed");
    JEXPECT_STATUS(jshared_allocate_many(family->shared, 100, 0, 1, &offset), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jshared_deallocate(family->shared, family->parents), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jshared_deallocate_many(family->shared, 1, &family->parents), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jshared_describe(family->shared, family->parents, NULL, NULL),
                   JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jshared_reallocate(family->shared, &moved, 5000, 0), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(moved, family->parents);
    JEXPECT_OK(jshared_close(family->shared));
    jshared_t *successor = shared_open(family->segment, 2);
    JEXPECT_TRUE(shared_is_live(successor, joffset_load(&family->board->cells[0])));
    JEXPECT_OK(jsegment_detach(family->segment));
}
JTEST(SegmentFork, AnAllocatorThatIsGoneWhenTheChildBegins) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    family_t family = {segment, shared_make(segment, 1), 0, board_map()};
    family.parents = shared_take(family.shared, 100);
    PEER(child, use_what_is_gone, &family);
    JASSERT_TRUE(peer_await(&child));
    JEXPECT_OK(jshared_destroy(family.shared));
    jshared_t *successor = shared_make(segment, 2);
    joffset_store(&family.board->cells[0], shared_take(successor, 100));
    peer_tell(&child);
    peer_end(&child);
    JEXPECT_TRUE(shared_is_live(successor, joffset_load(&family.board->cells[0])));
    JEXPECT_EQ(segment_books(segment).processes, 1);
    munmap(family.board, sizeof *family.board);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* All slots are taken: the child is told so by whatever it does, and its parent goes on. */
static void use_without_a_slot(peer_t *self, void *argument) {
    (void)self;
    const family_t *family = argument;
    joffset_t offset = 5, moved = family->parents;
    size_t usable = 77;
    JEXPECT_STATUS(jshared_allocate(family->shared, 100, 0, &offset), JSTATUS_NO_SLOT);
    JEXPECT_EQ(offset, JOFFSET_NULL);
    JEXPECT_STATUS(jshared_deallocate(family->shared, family->parents), JSTATUS_NO_SLOT);
    JEXPECT_STATUS(jshared_describe(family->shared, family->parents, &usable, NULL),
                   JSTATUS_NO_SLOT);
    JEXPECT_EQ(usable, 77);
    JEXPECT_STATUS(jshared_reallocate(family->shared, &moved, 5000, 0), JSTATUS_NO_SLOT);
    JEXPECT_EQ(moved, family->parents);
    JEXPECT_STATUS(jshared_give(family->shared, family->parents, JSEGMENT_SLOT_SEGMENT),
                   JSTATUS_NO_SLOT);
}
JTEST(SegmentFork, AChildForWhomThereIsNoSlot) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    place.options.max_processes = 1;
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    family_t family = {segment, shared_make(segment, 1), 0, NULL};
    family.parents = shared_take(family.shared, 100);
    PEER(child, use_without_a_slot, &family);
    peer_end(&child);
    JEXPECT_OK(jshared_deallocate(family.shared, family.parents));
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- What a child finds that cannot be as it was ---- */

static void read_inherited(peer_t *self, void *argument) {
    (void)self;
    jsegment_t *reader = argument;
    joffset_t offset = 0;
    JEXPECT_OK(jsegment_get_root(reader, "here", &offset));
    JEXPECT_EQ(offset, 5000);
    JEXPECT_OK(jsegment_verify(reader));
    JEXPECT_STATUS(jsegment_set_root(reader, "here", 1), JSTATUS_READ_ONLY);
    JEXPECT_EQ(jsegment_slot(reader), 0);
}
EACH_SHARED_BACKEND(AReadersChildReads) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    JEXPECT_OK(jsegment_set_root(segment, "here", 5000));
    jsegment_t *reader = place_attach_reading(&place);
    PEER(child, read_inherited, reader);
    peer_end(&child);
    JEXPECT_EQ(segment_books(segment).processes, 1);
    JEXPECT_OK(jsegment_detach(reader));
    JEXPECT_OK(jsegment_destroy(segment));
}

static void use_without_a_file(peer_t *self, void *argument) {
    (void)self;
    const family_t *family = argument;
    JEXPECT_TRUE(jtest_calls_failed());
    joffset_t offset = 9;
    JEXPECT_STATUS(jshared_allocate(family->shared, 100, 0, &offset), JSTATUS_FORKED);
    JEXPECT_EQ(offset, JOFFSET_NULL);
    JEXPECT_STATUS(jsegment_set_root(family->segment, "x", 4096), JSTATUS_FORKED);
    JEXPECT_OK(jsegment_detach(family->segment));
}
JTEST(SegmentFork, AChildThatCannotOpenTheFileAnewUsesNothing) {
    PLACE(place, JSEGMENT_POSIX, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    family_t family = {segment, shared_make(segment, 1), 0, NULL};
    jtest_fail_calls("open", 1, UINT64_MAX, EMFILE);
    PEER(child, use_without_a_file, &family);
    (void)jtest_calls_failed();
    peer_end(&child);
    JEXPECT_EQ(segment_books(segment).processes, 1);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* Destroying what is gone closes it, whoever has its place by now. */
static void destroy_what_is_gone(peer_t *self, void *argument) {
    const family_t *family = argument;
    peer_await(self);
    jshared_t *again = NULL, *own = NULL;
    JEXPECT_STATUS(jshared_open(family->segment, 1, &again), JSTATUS_NOT_FOUND);
    if (family->parents != JOFFSET_NULL) {
        /* The place is another one's: until this one is closed. */
        JEXPECT_STATUS(jshared_open(family->segment, 2, &again), JSTATUS_BUSY);
        JEXPECT_NULL(again);
    }
    JEXPECT_OK(jshared_create(family->segment, 3, NULL, &own)); /* not in its place */
    JEXPECT_OK(jshared_destroy(family->shared));
    if (family->parents != JOFFSET_NULL) {
        JEXPECT_OK(jshared_open(family->segment, 2, &again));
        JEXPECT_TRUE(shared_is_live(again, family->parents));
    }
    segment_books(family->segment);
    JEXPECT_OK(jshared_destroy(own));
}
JTEST(SegmentFork, AnAllocatorThatIsGoneIsDestroyedAsItIs) {
    for (int succeeded = 0; succeeded <= 1; ++succeeded) {
        JSCOPED_TRACE("its place is %s", succeeded ? "taken" : "free");
        PLACE(place, JSEGMENT_MEMFD, MIB, 0);
        jsegment_t *segment = place_create(&place);
        JASSERT_NOT_NULL(segment);
        family_t family = {segment, shared_make(segment, 1), JOFFSET_NULL, NULL};
        /* The next one's first block lies where this one's did, so the child can be told of it
         * before. */
        const joffset_t first = shared_take(family.shared, 100);
        family.parents = succeeded ? first : JOFFSET_NULL;
        PEER(child, destroy_what_is_gone, &family);
        JEXPECT_OK(jshared_destroy(family.shared));
        jshared_t *next = succeeded ? shared_make(segment, 2) : NULL;
        if (succeeded)
            JEXPECT_EQ(shared_take(next, 100), first);
        peer_tell(&child);
        peer_end(&child);
        JEXPECT_OK(jsegment_recover(segment, NULL));
        JEXPECT_EQ(segment_books(segment).allocators, succeeded);
        JEXPECT_OK(jsegment_destroy(segment));
    }
}
