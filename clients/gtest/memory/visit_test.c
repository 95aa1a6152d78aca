/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Adaptors that watch or mend without a limit of their own: visitors, statistics of parts, failure
 * callbacks, alignment, and the lock. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/adaptor.h"
#include "jalloc/provider.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jallocator_t *make_malloc(void) {
    jallocator_t *allocator = NULL;
    JEXPECT_OK(jallocator_create_malloc(&allocator));
    return allocator;
}
/* A stack from text; destroying it destroys all. */
static jallocator_t *compose(const char *text) {
    jallocator_t *allocator = NULL;
    JEXPECT_OK(jallocator_compose(NULL, text, &allocator));
    return allocator;
}

/* ---- Visitors ---- */

/* What visitors were told, as text: "+a" came to a, "-b" went from b. */
static char story[512];
static void tell(char sign, void *context) {
    const size_t length = strlen(story);
    snprintf(story + length, sizeof story - length, "%c%s ", sign, (const char *)context);
}
static void on_grow(void *context, void *pointer, size_t size_bytes) {
    (void)pointer, (void)size_bytes;
    tell('+', context);
}
static void on_shrink(void *context, void *pointer, size_t size_bytes) {
    (void)pointer, (void)size_bytes;
    tell('-', context);
}
static const jvisitor_t visitor_a = {on_grow, on_shrink, "a"},
                        visitor_b = {on_grow, on_shrink, "b"},
                        visitor_c = {on_grow, on_shrink, "c"};

JTEST(Visit, ArgumentsAreChecked) {
    jallocator_t *visit = NULL, *plain = make_malloc();
    JEXPECT_STATUS(jallocator_create_visit(NULL, &visit), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_visit(plain, NULL), JSTATUS_INVALID_POINTER);
    JASSERT_OK(jallocator_create_visit(plain, &visit));
    JEXPECT_STATUS(jallocator_visit_add(NULL, &visitor_a), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_visit_add(visit, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_visit_remove(visit, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_visit_add(plain, &visitor_a), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_visit_remove(visit, &visitor_a), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_visit_add(visit, &visitor_a));
    JEXPECT_STATUS(jallocator_visit_add(visit, &visitor_a), JSTATUS_EXISTS);
    JEXPECT_STATUS(jallocator_visit_remove(visit, &visitor_b), JSTATUS_NOT_FOUND);
    const jvisitor_t grows_alike = {on_grow, NULL, "a"};
    JEXPECT_STATUS(jallocator_visit_remove(visit, &grows_alike), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_visit_remove(visit, &visitor_a));
    JEXPECT_STATUS(jallocator_visit_remove(visit, &visitor_a), JSTATUS_NOT_FOUND);
    int many[33];
    for (int i = 0; i < 33; ++i) {
        const jvisitor_t silent = {NULL, NULL, &many[i]};
        JEXPECT_STATUS(jallocator_visit_add(visit, &silent),
                       i < 32 ? JSTATUS_SUCCESS : JSTATUS_MEMORY_ERROR);
    }
    give(visit, take(visit, 10), 10);
    JEXPECT_OK(jallocator_destroy(visit));
    JEXPECT_OK(jallocator_destroy(plain));
}

JTEST(Visit, TellsInOrderAndInReverse) {
    jallocator_t *visit = compose("malloc+visit");
    story[0] = '\0';
    JASSERT_OK(jallocator_visit_add(visit, &visitor_a));
    JASSERT_OK(jallocator_visit_add(visit, &visitor_b));
    JASSERT_OK(jallocator_visit_add(visit, &visitor_c));
    void *pointer = take(visit, 100);
    JEXPECT_STREQ(story, "+a +b +c ");
    give(visit, pointer, 100);
    JEXPECT_STREQ(story, "+a +b +c -c -b -a ");
    JASSERT_OK(jallocator_visit_remove(visit, &visitor_a));
    JASSERT_OK(jallocator_visit_add(visit, &visitor_a)); /* now the last, whatever place it has */
    story[0] = '\0';
    give(visit, take(visit, 100), 100);
    JEXPECT_STREQ(story, "+b +c +a -a -c -b ");
    JEXPECT_OK(jallocator_destroy(visit));
}

JTEST(Visit, AddingAndRemovingTellOfWhatIsLive) {
    enum { BLOCKS = 100 };
    void *pointers[BLOCKS];
    jallocator_t *visit = compose("malloc+visit");
    for (int i = 0; i < BLOCKS; ++i)
        pointers[i] = take(visit, (size_t)i + 1);
    story[0] = '\0';
    for (int i = 3; i < BLOCKS; ++i)
        give(visit, pointers[i], (size_t)i + 1);
    JASSERT_OK(jallocator_visit_add(visit, &visitor_a));
    JEXPECT_STREQ(story, "+a +a +a ");
    JASSERT_OK(jallocator_visit_add(visit, &visitor_b));
    JEXPECT_STREQ(story, "+a +a +a +b +b +b ");
    story[0] = '\0';
    give(visit, pointers[0], 1);
    JASSERT_OK(jallocator_visit_remove(visit, &visitor_a));
    JEXPECT_STREQ(story, "-b -a -a -a ");
    give(visit, pointers[1], 2);
    JEXPECT_STREQ(story, "-b -a -a -a -b ");
    give(visit, pointers[2], 3);
    JEXPECT_OK(jallocator_destroy(visit));
}

/* A mistake of the caller is not shown to visitors. */
JTEST(Visit, MisuseIsRefusedBeforeAnybodyIsTold) {
    jallocator_t *visit = compose("malloc+visit");
    JASSERT_OK(jallocator_visit_add(visit, &visitor_a));
    char *pointer = take(visit, 100);
    story[0] = '\0';
    JEXPECT_STATUS(jallocator_deallocate(visit, pointer, 99, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_deallocate(visit, pointer + 1, 99, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(visit, &visit, 8, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STREQ(story, "");
    give(visit, pointer, 100);
    JEXPECT_STATUS(jallocator_deallocate(visit, pointer, 100, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STREQ(story, "-a ");
    JEXPECT_OK(jallocator_destroy(visit));
}

/* Between a policy and its provider it tells of the regions that the policy takes. */
JTEST(Visit, TellsOfRegionsUnderAPolicy) {
    jallocator_t *top = NULL;
    if (jallocator_compose(NULL, "malloc+visit+bfc", &top) != JSTATUS_SUCCESS)
        JSKIP("there is no bfc");
    JASSERT_OK(jallocator_visit_add(top, &visitor_a)); /* found through what is above */
    story[0] = '\0';
    void *first = take(top, 100), *second = take(top, 100);
    JEXPECT_STREQ(story, "+a "); /* one region for both */
    give(top, first, 100);
    give(top, second, 100);
    JEXPECT_OK(jallocator_trim(top, 0));
    JEXPECT_STREQ(story, "+a -a ");
    JEXPECT_OK(jallocator_destroy(top));
}

/* Visitors that call back: allocate, free, add and remove visitors, and try what is refused. */
static struct reentrant {
    jallocator_t *visit;
    void *inner;
} reentrant;
static void reentrant_grow(void *context, void *pointer, size_t size_bytes) {
    JEXPECT_EQ(context, &reentrant);
    tell('+', "r");
    if (size_bytes == 100) {
        reentrant.inner = take(reentrant.visit, 7); /* told of as well */
        JEXPECT_STATUS(jallocator_deallocate(reentrant.visit, pointer, size_bytes, NULL),
                       JSTATUS_BUSY);
        /* Comes in at once for both blocks. */
        JEXPECT_OK(jallocator_visit_add(reentrant.visit, &visitor_b));
    }
}
static void reentrant_shrink(void *context, void *pointer, size_t size_bytes) {
    (void)pointer, (void)size_bytes;
    JEXPECT_EQ(context, &reentrant);
    tell('-', "r");
    if (reentrant.inner != NULL) {
        void *inner = reentrant.inner;
        reentrant.inner = NULL;
        give(reentrant.visit, inner, 7);
        const jvisitor_t self = {reentrant_grow, reentrant_shrink, &reentrant};
        JEXPECT_OK(jallocator_visit_remove(reentrant.visit, &self));
    }
}
JTEST(Visit, VisitorsMayCallBack) {
    const jvisitor_t self = {reentrant_grow, reentrant_shrink, &reentrant};
    reentrant = (struct reentrant){compose("malloc+visit"), NULL};
    void *other = take(reentrant.visit, 200);
    JASSERT_OK(jallocator_visit_add(reentrant.visit, &self));
    story[0] = '\0';
    void *pointer = take(reentrant.visit, 100);
    JEXPECT_STREQ(story, "+r +r +b +b +b ");
    story[0] = '\0';
    /* b first, then r, which frees the inner one, that goes the same way, and says good-bye to the
     * other. */
    give(reentrant.visit, pointer, 100);
    JEXPECT_STREQ(story, "-b -r -b -r -r ");
    give(reentrant.visit, other, 200);
    JEXPECT_STATUS(jallocator_visit_remove(reentrant.visit, &self), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(stats_of(reentrant.visit).live_count, 0);
    JEXPECT_OK(jallocator_destroy(reentrant.visit));
}

/* A visitor that goes by itself while it is told, and has another one come: nobody gets its place
 * before it is out. */
static jallocator_t *leaver_visit;
static void leaver_leave(void *context, void *pointer, size_t size_bytes);
static void leaver_grow(void *context, void *pointer, size_t size_bytes) {
    tell('+', "l");
    if (size_bytes == 100)
        leaver_leave(context, pointer, size_bytes);
}
static void leaver_shrink(void *context, void *pointer, size_t size_bytes) {
    tell('-', "l");
    if (size_bytes == 200)
        leaver_leave(context, pointer, size_bytes);
}
static const jvisitor_t leaver = {leaver_grow, leaver_shrink, NULL};
static void leaver_leave(void *context, void *pointer, size_t size_bytes) {
    (void)context, (void)pointer, (void)size_bytes;
    JEXPECT_OK(jallocator_visit_remove(leaver_visit, &leaver));
    JEXPECT_OK(jallocator_visit_add(leaver_visit, &visitor_b));
}
JTEST(Visit, AVisitorMayLeaveWhileItIsTold) {
    for (size_t size = 100; size <= 200; size += 100) { /* when the block comes, when it goes */
        leaver_visit = compose("malloc+visit");
        JASSERT_OK(jallocator_visit_add(leaver_visit, &leaver));
        story[0] = '\0';
        give(leaver_visit, take(leaver_visit, size), size);
        JEXPECT_STREQ(story, size == 100 ? "+l -l +b -b " : "+l -l ");
        story[0] = '\0';
        give(leaver_visit, take(leaver_visit, 1), 1);
        JEXPECT_STREQ(story, "+b -b ");
        JEXPECT_OK(jallocator_destroy(leaver_visit));
    }
}

/* Threads allocate and free, others add and remove visitors: each visitor must be told of each
 * block once when it comes and once when it goes, in this order, and never after it was removed. */
enum { STORM_THREADS = 4, STORM_SLOTS = 16, STORM_KEY_COUNT = 1024 };
/* Cells of one array, so that an address is a number; the one freed last is handed out first. */
static _Alignas(64) char cells_memory[STORM_KEY_COUNT * 64];
static pthread_mutex_t cells_lock = PTHREAD_MUTEX_INITIALIZER;
static void *cells_free[STORM_KEY_COUNT];
static size_t cells_free_count, cells_used;
static jstatus_t cell_allocate(void *context, size_t size_bytes, size_t alignment,
                               jstream_t *stream, void **pointer) {
    (void)context, (void)size_bytes, (void)alignment, (void)stream;
    pthread_mutex_lock(&cells_lock);
    *pointer =
        cells_free_count > 0 ? cells_free[--cells_free_count] : &cells_memory[64 * cells_used++];
    pthread_mutex_unlock(&cells_lock);
    return JSTATUS_SUCCESS;
}
static jstatus_t cell_deallocate(void *context, void *pointer, size_t size_bytes,
                                 jstream_t *stream) {
    (void)context, (void)size_bytes, (void)stream;
    pthread_mutex_lock(&cells_lock);
    cells_free[cells_free_count++] = pointer;
    pthread_mutex_unlock(&cells_lock);
    return JSTATUS_SUCCESS;
}

typedef struct ear {
    atomic_uchar knows[STORM_KEY_COUNT]; /* by address */
    atomic_int live;
    atomic_bool removed;
} ear_t;
static atomic_uchar *ear_place(ear_t *ear, const void *pointer) {
    return &ear->knows[((const char *)pointer - cells_memory) / 64];
}
static void ear_grow(void *context, void *pointer, size_t size_bytes) {
    ear_t *ear = context;
    (void)size_bytes;
    if (atomic_load(&ear->removed))
        JFAIL("told of %p after it was removed", pointer);
    if (atomic_fetch_add(ear_place(ear, pointer), 1) != 0)
        JFAIL("told twice that %p came", pointer);
    atomic_fetch_add(&ear->live, 1);
}
static void ear_shrink(void *context, void *pointer, size_t size_bytes) {
    ear_t *ear = context;
    (void)size_bytes;
    if (atomic_load(&ear->removed))
        JFAIL("told of %p after it was removed", pointer);
    if (atomic_fetch_sub(ear_place(ear, pointer), 1) != 1)
        JFAIL("told that %p goes, but not that it came", pointer);
    atomic_fetch_sub(&ear->live, 1);
}
typedef struct visit_storm {
    jallocator_t *visit;
    uint64_t seed;
} visit_storm_t;
static void *visit_storm_blocks(void *argument) {
    const visit_storm_t *storm = argument;
    uint64_t state = storm->seed;
    void *held[STORM_SLOTS] = {NULL};
    for (int64_t n = jtest_iterations(1500); n > 0; --n) {
        const size_t i = jtest_random_next(&state) % STORM_SLOTS;
        if (held[i] != NULL)
            give(storm->visit, held[i], 64);
        held[i] = held[i] == NULL ? take(storm->visit, 64) : NULL;
    }
    for (size_t i = 0; i < STORM_SLOTS; ++i)
        if (held[i] != NULL)
            give(storm->visit, held[i], 64);
    return NULL;
}
static void *visit_storm_visitors(void *argument) {
    const visit_storm_t *storm = argument;
    for (int64_t n = jtest_iterations(60); n > 0; --n) {
        ear_t *ear = calloc(1, sizeof *ear);
        const jvisitor_t visitor = {ear_grow, ear_shrink, ear};
        JEXPECT_OK(jallocator_visit_add(storm->visit, &visitor));
        sched_yield();
        JEXPECT_OK(jallocator_visit_remove(storm->visit, &visitor));
        JEXPECT_EQ(atomic_load(&ear->live), 0);
        atomic_store(&ear->removed, true);
        free(ear); /* nobody may look at it any more */
    }
    return NULL;
}
JTEST(Visit, EachVisitorSeesEachBlockOnceInEachDirection) {
    pthread_t threads[2 * STORM_THREADS];
    visit_storm_t storms[2 * STORM_THREADS];
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = cell_allocate, .deallocate = cell_deallocate};
    jallocator_t *cells, *visit;
    JASSERT_OK(jallocator_create(&ops, NULL, NULL, &cells));
    JASSERT_OK(jallocator_create_visit(cells, &visit));
    for (int i = 0; i < 2 * STORM_THREADS; ++i) {
        storms[i] = (visit_storm_t){visit, jtest_random()};
        JASSERT_EQ(pthread_create(&threads[i], NULL,
                                  i % 2 ? visit_storm_visitors : visit_storm_blocks, &storms[i]),
                   0);
    }
    for (int i = 0; i < 2 * STORM_THREADS; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_OK(jallocator_destroy(visit));
    JEXPECT_OK(jallocator_destroy(cells));
}

/* After a visitor was removed nobody is in its functions: its owner may be gone. */
typedef struct slow {
    jallocator_t *visit;
    void *pointer;
    jtest_gate_t inside; /* its shrink stands here */
    atomic_bool left;
} slow_t;
static void slow_shrink(void *context, void *pointer, size_t size_bytes) {
    slow_t *slow = context;
    (void)pointer, (void)size_bytes;
    jtest_gate_pass(&slow->inside);
    jtest_sleep_ms(20);
    atomic_store(&slow->left, true);
}
static void *slow_give(void *argument) {
    slow_t *slow = argument;
    give(slow->visit, slow->pointer, 100);
    return NULL;
}
static void *slow_remove(void *argument) {
    slow_t *slow = argument;
    const jvisitor_t visitor = {NULL, slow_shrink, slow};
    JEXPECT_OK(jallocator_visit_remove(slow->visit, &visitor));
    JEXPECT_TRUE(atomic_load(&slow->left));
    return NULL;
}
JTEST(Visit, RemovingWaitsForWhoIsInside) {
    slow_t slow = {.visit = compose("malloc+visit"), .inside = JTEST_GATE_INIT};
    const jvisitor_t visitor = {NULL, slow_shrink, &slow};
    pthread_t giving, removing;
    JASSERT_OK(jallocator_visit_add(slow.visit, &visitor));
    slow.pointer = take(slow.visit, 100);
    JASSERT_EQ(pthread_create(&giving, NULL, slow_give, &slow), 0);
    jtest_gate_await(&slow.inside);
    JASSERT_EQ(pthread_create(&removing, NULL, slow_remove, &slow), 0);
    jtest_sleep_ms(5);
    jtest_gate_open(&slow.inside);
    pthread_join(giving, NULL);
    pthread_join(removing, NULL);
    JEXPECT_OK(jallocator_destroy(slow.visit));
}

/* Threads that stand in a visitor's functions, each at the gate of its block's size. */
static jtest_gate_t stand_gates[2];
static void stand(void *context, void *pointer, size_t size_bytes) {
    (void)context, (void)pointer;
    if (size_bytes <= 2)
        jtest_gate_pass(&stand_gates[size_bytes - 1]);
}
typedef struct standing {
    jallocator_t *visit;
    size_t size_bytes;
    void *pointer;
    atomic_bool done;
} standing_t;
static void *stand_take(void *argument) {
    standing_t *standing = argument;
    standing->pointer = take(standing->visit, standing->size_bytes);
    return NULL;
}
static void *stand_give(void *argument) {
    standing_t *standing = argument;
    give(standing->visit, standing->pointer, standing->size_bytes);
    atomic_store(&standing->done, true);
    return NULL;
}
static void *stand_add(void *argument) {
    standing_t *standing = argument;
    JEXPECT_OK(jallocator_visit_add(standing->visit, &visitor_a));
    atomic_store(&standing->done, true);
    return NULL;
}
static jallocator_t *stand_start(standing_t standings[2]) {
    static const jvisitor_t stands = {stand, NULL, NULL};
    jallocator_t *visit = compose("malloc+visit");
    JEXPECT_OK(jallocator_visit_add(visit, &stands));
    for (size_t i = 0; i < 2; ++i) {
        stand_gates[i] = (jtest_gate_t)JTEST_GATE_INIT;
        standings[i] = (standing_t){.visit = visit, .size_bytes = i + 1};
    }
    return visit;
}

JTEST(Visit, WhoIsInsideFirstMayLeaveFirst) {
    standing_t standings[2];
    jallocator_t *visit = stand_start(standings);
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) {
        JASSERT_EQ(pthread_create(&threads[i], NULL, stand_take, &standings[i]), 0);
        jtest_gate_await(&stand_gates[i]);
    }
    for (int i = 0; i < 2; ++i) {
        jtest_gate_open(&stand_gates[i]);
        pthread_join(threads[i], NULL);
        give(visit, standings[i].pointer, standings[i].size_bytes);
    }
    JEXPECT_OK(jallocator_destroy(visit));
}

/* Who adds a visitor waits until the block that another thread is telling of has been told to it,
 * too. */
JTEST(Visit, AddingWaitsForWhoIsInside) {
    standing_t standings[2];
    jallocator_t *visit = stand_start(standings);
    pthread_t taking, adding;
    JASSERT_EQ(pthread_create(&taking, NULL, stand_take, &standings[0]), 0);
    jtest_gate_await(&stand_gates[0]);
    story[0] = '\0';
    JASSERT_EQ(pthread_create(&adding, NULL, stand_add, &standings[1]), 0);
    jtest_sleep_ms(20); /* time for one that does not wait to show it */
    JEXPECT_FALSE(atomic_load(&standings[1].done));
    jtest_gate_open(&stand_gates[0]);
    pthread_join(taking, NULL);
    pthread_join(adding, NULL);
    JEXPECT_STREQ(story, "+a ");
    give(visit, standings[0].pointer, 1);
    JEXPECT_OK(jallocator_destroy(visit));
}

/* A block that another thread is telling of is freed when that is done. */
static void stand_and_say(void *context, void *pointer, size_t size_bytes) {
    stand(context, pointer, size_bytes);
    tell('+', "s");
}
static void say_going(void *context, void *pointer, size_t size_bytes) {
    (void)context, (void)pointer, (void)size_bytes;
    tell('-', "s");
}
static void *stand_add_saying(void *visit) {
    static const jvisitor_t says = {stand_and_say, say_going, NULL};
    JEXPECT_OK(jallocator_visit_add(visit, &says));
    return NULL;
}
JTEST(Visit, FreeingWaitsForWhoIsInside) {
    standing_t giver = {.visit = compose("malloc+visit"), .size_bytes = 1};
    pthread_t adding, giving;
    stand_gates[0] = (jtest_gate_t)JTEST_GATE_INIT;
    giver.pointer = take(giver.visit, 1);
    story[0] = '\0';
    JASSERT_EQ(pthread_create(&adding, NULL, stand_add_saying, giver.visit), 0);
    jtest_gate_await(&stand_gates[0]);
    JASSERT_EQ(pthread_create(&giving, NULL, stand_give, &giver), 0);
    jtest_sleep_ms(20);
    JEXPECT_FALSE(atomic_load(&giver.done));
    jtest_gate_open(&stand_gates[0]);
    pthread_join(adding, NULL);
    pthread_join(giving, NULL);
    JEXPECT_STREQ(story, "+s -s ");
    JEXPECT_OK(jallocator_destroy(giver.visit));
}

/* A child is told, too, though a thread that it does not have was in the middle of telling. */
static jtest_gate_t visit_fork_gate = JTEST_GATE_INIT;
static void stop_at_gate(void *context, void *pointer, size_t size_bytes) {
    (void)context, (void)pointer;
    if (size_bytes == 1000)
        jtest_gate_pass(&visit_fork_gate);
}
static void *take_in_thread(void *visit) { return take(visit, 1000); }
static void visit_in_child(void *argument) {
    jallocator_t *visit = argument;
    story[0] = '\0';
    JEXPECT_OK(jallocator_visit_add(visit, &visitor_a)); /* waits for nobody */
    give(visit, take(visit, 10), 10);
    JEXPECT_SUBSTR(story, "+a -a ");
}
JTEST(Visit, WorksOnInAForkedChild) {
    jallocator_t *visit = compose("malloc+visit");
    const jvisitor_t stops = {stop_at_gate, NULL, NULL};
    pthread_t thread;
    void *pointer;
    JASSERT_OK(jallocator_visit_add(visit, &stops));
    JASSERT_EQ(pthread_create(&thread, NULL, take_in_thread, visit), 0);
    jtest_gate_await(&visit_fork_gate);
    void *meanwhile = take(visit, 20); /* nobody holds a lock while a visitor is called */
    jtest_in_child(20, visit_in_child, visit);
    jtest_gate_open(&visit_fork_gate);
    pthread_join(thread, &pointer);
    give(visit, pointer, 1000);
    give(visit, meanwhile, 20);
    JEXPECT_OK(jallocator_destroy(visit));
}

/* A child that is forked in a visitor's function is still in it. */
static void fork_in_child(void *argument) {
    void **told = argument;
    JEXPECT_STATUS(jallocator_deallocate(told[0], told[1], 30, NULL), JSTATUS_BUSY);
    give(told[0], take(told[0], 10), 10);
}
static void fork_inside(void *context, void *pointer, size_t size_bytes) {
    void *told[] = {context, pointer};
    if (size_bytes == 30)
        jtest_in_child(20, fork_in_child, told);
}
JTEST(Visit, AForkInAVisitorLeavesTheChildInside) {
    jallocator_t *visit = compose("malloc+visit");
    const jvisitor_t forks = {fork_inside, NULL, visit};
    JASSERT_OK(jallocator_visit_add(visit, &forks));
    give(visit, take(visit, 30), 30);
    JEXPECT_OK(jallocator_destroy(visit));
}

/* ---- Statistics of parts ---- */

static jallocator_stats_t pop(jallocator_t *allocator) {
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_statistics_pop(allocator, &stats));
    return stats;
}

JTEST(Statistics, ArgumentsAreChecked) {
    jallocator_t *statistics = compose("malloc+statistics"), *plain = make_malloc();
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_STATUS(jallocator_statistics_push(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_statistics_push(plain), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_statistics_pop(plain, &stats), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_statistics_pop(statistics, &stats), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_statistics_push(statistics));
    JEXPECT_STATUS(jallocator_statistics_pop(statistics, NULL), JSTATUS_INVALID_POINTER);
    stats.struct_size = 8;
    JEXPECT_STATUS(jallocator_statistics_pop(statistics, &stats), JSTATUS_INVALID_VALUE);
    (void)pop(statistics); /* what was refused has ended nothing */
    JEXPECT_OK(jallocator_statistics_push(statistics));
    JEXPECT_OK(jallocator_destroy(statistics)); /* a part under way is no hindrance */
    JEXPECT_OK(jallocator_destroy(plain));
}

JTEST(Statistics, PartsNest) {
    jallocator_t *statistics, *below = jtest_failing_allocator();
    JASSERT_OK(jallocator_create_statistics(below, &statistics));
    void *before = take(statistics, 1000);
    JEXPECT_OK(jallocator_statistics_push(statistics));
    void *outer = take(statistics, 100), *again = take(statistics, 50);
    give(statistics, again, 50);
    JEXPECT_OK(jallocator_statistics_push(statistics));
    void *inner = take(statistics, 30), *large = take(statistics, 300);
    give(statistics, large, 300);
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(jallocator_allocate(statistics, 5000, 0, NULL, &large), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jallocator_clear_stats(statistics)); /* the parts are apart from it */

    jallocator_stats_t stats = pop(statistics);
    JEXPECT_EQ(stats.allocation_count, 2);
    JEXPECT_EQ(stats.live_count, 1);
    JEXPECT_EQ(stats.in_use_bytes, 30);
    JEXPECT_EQ(stats.peak_in_use_bytes, 330);
    JEXPECT_EQ(stats.largest_request_bytes, 300);
    JEXPECT_EQ(stats.failure_count, 1);
    give(statistics, before, 1000);
    stats = pop(statistics); /* has counted the inner part too */
    JEXPECT_EQ(stats.allocation_count, 4);
    JEXPECT_EQ(stats.live_count, 1);   /* two more, one less */
    JEXPECT_EQ(stats.in_use_bytes, 0); /* less than at its beginning */
    JEXPECT_EQ(stats.peak_in_use_bytes, 430);
    JEXPECT_EQ(stats.largest_request_bytes, 300);
    JEXPECT_EQ(stats.failure_count, 1);
    give(statistics, outer, 100);
    give(statistics, inner, 30);
    JEXPECT_OK(jallocator_destroy(statistics));
}

JTEST(Statistics, PeakOfTheOuterPartIsKeptWhileInnerOnesCome) {
    jallocator_t *statistics = compose("malloc+statistics");
    JEXPECT_OK(jallocator_statistics_push(statistics));
    give(statistics, take(statistics, 500), 500); /* the peak lies before the inner part */
    JEXPECT_OK(jallocator_statistics_push(statistics));
    give(statistics, take(statistics, 20), 20);
    JEXPECT_EQ(pop(statistics).peak_in_use_bytes, 20);
    const jallocator_stats_t stats = pop(statistics);
    JEXPECT_EQ(stats.peak_in_use_bytes, 500);
    JEXPECT_EQ(stats.largest_request_bytes, 500);
    JEXPECT_OK(jallocator_destroy(statistics));
}

static void *statistics_run(void *argument) {
    for (int i = 0; i < 500; ++i)
        give(argument, take(argument, 64), 64);
    return take(argument, 10);
}
JTEST(Statistics, AreExactWithManyThreads) {
    enum { THREADS = 8 };
    jallocator_t *statistics = compose("malloc+statistics");
    pthread_t threads[THREADS];
    void *left[THREADS];
    JEXPECT_OK(jallocator_statistics_push(statistics));
    for (int i = 0; i < THREADS; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, statistics_run, statistics), 0);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(threads[i], &left[i]);
    const jallocator_stats_t stats = pop(statistics);
    JEXPECT_EQ(stats.allocation_count, THREADS * 501);
    JEXPECT_EQ(stats.live_count, THREADS);
    JEXPECT_EQ(stats.in_use_bytes, THREADS * 10);
    JEXPECT_GE(stats.peak_in_use_bytes, 64);
    JEXPECT_LE(stats.peak_in_use_bytes, THREADS * 64);
    for (int i = 0; i < THREADS; ++i)
        give(statistics, left[i], 10);
    JEXPECT_OK(jallocator_destroy(statistics));
}

/* ---- Failure callback ---- */

typedef struct rescue {
    jallocator_t *failure; /* who is to be named */
    unsigned calls, give_up_at;
    void *reserve; /* freed at the first call; NULL: nothing */
    size_t reserve_bytes;
} rescue_t;
static bool rescue(void *context, jallocator_t *allocator, size_t size_bytes, jstatus_t status) {
    rescue_t *mine = context;
    JEXPECT_EQ(allocator, mine->failure);
    JEXPECT_EQ(size_bytes, 80);
    JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
    if (++mine->calls == mine->give_up_at)
        return false;
    if (mine->reserve != NULL)
        give(allocator, mine->reserve, mine->reserve_bytes); /* no lock is held */
    mine->reserve = NULL;
    return true;
}

JTEST(Failure, CallbackMayFreeAndTryAgain) {
    jallocator_t *limit = compose("malloc+limit(limit=100)"), *failure = NULL;
    rescue_t mine = {NULL, 0, 0, NULL, 60};
    JEXPECT_STATUS(jallocator_create_failure(limit, NULL, &mine, &failure),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_failure(NULL, rescue, &mine, &failure),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_failure(limit, rescue, &mine, NULL), JSTATUS_INVALID_POINTER);
    JASSERT_OK(jallocator_create_failure(limit, rescue, &mine, &failure));
    void *foreign = NULL;
    JASSERT_OK(jallocator_allocate(limit, 10, 0, NULL, &foreign));
    JEXPECT_STATUS(jallocator_deallocate(failure, foreign, 10, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_deallocate(limit, foreign, 10, NULL));
    JEXPECT_STREQ(jallocator_name(failure), "failure");
    mine.failure = failure;
    mine.reserve = take(failure, 60);
    void *pointer = take(failure, 80);
    JEXPECT_EQ(mine.calls, 1);
    void *more;
    mine.give_up_at = 4;
    JEXPECT_STATUS(jallocator_allocate(failure, 80, 0, NULL, &more), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(mine.calls, 4);
    mine.calls = 0;
    mine.give_up_at = 0; /* always says yes */
    JEXPECT_STATUS(jallocator_allocate(failure, 80, 0, NULL, &more), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(mine.calls, 100);
    JEXPECT_SUBSTR(jstatus_last_message(), "the limit is 100 bytes");
    give(failure, pointer, 80);
    JEXPECT_OK(jallocator_destroy(failure));
    JEXPECT_OK(jallocator_destroy(limit));
}

/* ---- Alignment ---- */

JTEST(Align, OptionsAreChecked) {
    jallocator_t *align = NULL;
    jalign_options_t options = JALIGN_OPTIONS_INIT;
    options.alignment_bytes = 48;
    JEXPECT_STATUS(jallocator_create_align(jtest_failing_allocator(), &options, &align),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "48");
    options.alignment_bytes = (size_t)1 << 31;
    JEXPECT_STATUS(jallocator_create_align(jtest_failing_allocator(), &options, &align),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_create_align(NULL, NULL, &align), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jallocator_create_align(jtest_failing_allocator(), NULL, &align));
    void *pointer = take(align, 1);
    JEXPECT_EQ((uintptr_t)pointer % 4096, 0); /* the default */
    give(align, pointer, 1);
    JEXPECT_OK(jallocator_destroy(align));
}

/* A below that aligns to 16 and refuses more, with a status or by giving what is not aligned; never
 * by luck. */
static jstatus_t stubborn_allocate(void *context, size_t size_bytes, size_t alignment,
                                   jstream_t *stream, void **pointer) {
    const jstatus_t *refusal = context;
    (void)stream;
    if (alignment > 16 && *refusal != JSTATUS_SUCCESS)
        return *refusal;
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, size_bytes + 16) != 0)
        return JSTATUS_MEMORY_ERROR;
    *pointer = (char *)memory + 16;
    return JSTATUS_SUCCESS;
}
static jstatus_t stubborn_deallocate(void *context, void *pointer, size_t size_bytes,
                                     jstream_t *stream) {
    (void)context, (void)size_bytes, (void)stream;
    free((char *)pointer - 16);
    return JSTATUS_SUCCESS;
}
static const jallocator_ops_t stubborn_ops = {.struct_size = sizeof stubborn_ops,
                                              .allocate = stubborn_allocate,
                                              .deallocate = stubborn_deallocate};

JTEST(Align, WhateverBelowCanDo) {
    static jstatus_t refusals[] = {JSTATUS_INVALID_VALUE, JSTATUS_NOT_IMPLEMENTED, JSTATUS_SUCCESS};
    for (size_t k = 0; k < sizeof refusals / sizeof refusals[0]; ++k) {
        JSCOPED_TRACE("below refuses with %s", jstatus_name(refusals[k]));
        jallocator_t *below, *align;
        jalign_options_t options = JALIGN_OPTIONS_INIT;
        options.alignment_bytes = 256;
        JASSERT_OK(jallocator_create(&stubborn_ops, &refusals[k], NULL, &below));
        JASSERT_OK(jallocator_create_align(below, &options, &align));
        for (size_t alignment = 1; alignment <= 65536; alignment *= 4) {
            char *pointers[20];
            for (size_t i = 0; i < 20; ++i) {
                void *pointer = NULL;
                JASSERT_OK(jallocator_allocate(align, 100 + i, alignment, NULL, &pointer));
                JEXPECT_EQ((uintptr_t)pointer % (alignment > 256 ? alignment : 256), 0);
                pointers[i] = memset(pointer, 1, jallocator_usable_size(align, pointer, 100 + i));
            }
            jallocation_t block = JALLOCATION_INIT;
            JEXPECT_OK(jallocator_find(align, pointers[3] + 50, &block));
            JEXPECT_EQ(block.pointer, pointers[3]);
            JEXPECT_EQ(block.size_bytes, 103);
            JEXPECT_STATUS(jallocator_deallocate(align, pointers[3], 100, NULL),
                           JSTATUS_INVALID_SIZE);
            JEXPECT_STATUS(jallocator_deallocate(align, pointers[3] + 1, 103, NULL),
                           JSTATUS_NOT_FOUND);
            for (size_t i = 0; i < 20; ++i)
                give(align, pointers[i], 100 + i);
            JEXPECT_STATUS(jallocator_deallocate(align, pointers[3], 103, NULL), JSTATUS_NOT_FOUND);
        }
        JEXPECT_EQ(stats_of(align).in_use_bytes, 0);
        JEXPECT_OK(jallocator_destroy(align));
        JEXPECT_OK(jallocator_destroy(below));
    }
}

static jstatus_t stubborn_refuse(void *context, void *pointer, size_t size_bytes,
                                 jstream_t *stream) {
    return *(const jstatus_t *)context == JSTATUS_INVALID_VALUE
               ? JSTATUS_DEVICE_ERROR
               : stubborn_deallocate(context, pointer, size_bytes, stream);
}
JTEST(Align, WhatBelowDoesNotTakeBackStaysWhereItIs) {
    static jstatus_t refusal = JSTATUS_INVALID_VALUE;
    const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = stubborn_allocate, .deallocate = stubborn_refuse};
    jallocator_t *below, *align;
    JASSERT_OK(jallocator_create(&ops, &refusal, NULL, &below));
    JASSERT_OK(jallocator_create_align(below, NULL, &align));
    void *pointer = take(align, 100), *other = NULL;
    const size_t usable = jallocator_usable_size(align, pointer, 100);
    JEXPECT_STATUS(jallocator_deallocate(align, pointer, 100, NULL), JSTATUS_DEVICE_ERROR);
    JEXPECT_EQ(stats_of(align).live_count, 1);
    JEXPECT_EQ(jallocator_usable_size(align, pointer, 100), usable);
    JEXPECT_STATUS(jallocator_allocate(align, PTRDIFF_MAX - 64, 0, NULL, &other),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_NULL(other);
    JEXPECT_STATUS(jallocator_allocate(align, SIZE_MAX / 4, 0, NULL, &other), JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(other);
    refusal = JSTATUS_NOT_IMPLEMENTED;
    give(align, pointer, 100);
    JEXPECT_OK(jallocator_destroy(align));
    JEXPECT_OK(jallocator_destroy(below));
}

/* Where below is out of memory, no more bytes are asked for. */
JTEST(Align, MemoryErrorIsPassedOn) {
    jallocator_t *align;
    void *pointer;
    JASSERT_OK(jallocator_create_align(jtest_failing_allocator(), NULL, &align));
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(jallocator_allocate(align, 10, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(jtest_allocation_count(), 1);
    JEXPECT_OK(jallocator_destroy(align));
}

/* ---- The lock ---- */

/* A below that notices when two threads are inside. */
static atomic_int inside;
static jstatus_t lonely_allocate(void *context, size_t size_bytes, size_t alignment,
                                 jstream_t *stream, void **pointer) {
    if (atomic_fetch_add(&inside, 1) != 0)
        JFAIL("two threads are inside");
    jstatus_t status = plain_allocate(context, size_bytes, alignment, stream, pointer);
    sched_yield();
    atomic_fetch_sub(&inside, 1);
    return status;
}
static jstatus_t lonely_deallocate(void *context, void *pointer, size_t size_bytes,
                                   jstream_t *stream) {
    if (atomic_fetch_add(&inside, 1) != 0)
        JFAIL("two threads are inside");
    jstatus_t status = plain_deallocate(context, pointer, size_bytes, stream);
    sched_yield();
    atomic_fetch_sub(&inside, 1);
    return status;
}
static void *lock_run(void *argument) {
    for (int i = 0; i < 100; ++i) {
        void *pointer = take(argument, 64);
        JEXPECT_TRUE(owns(argument, pointer));
        give(argument, pointer, 64);
    }
    return NULL;
}
JTEST(Lock, LetsOneThreadInAtATime) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = lonely_allocate, .deallocate = lonely_deallocate};
    enum { THREADS = 4 };
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    jallocator_t *below, *lock;
    pthread_t threads[THREADS];
    options.threads = JALLOCATOR_THREADS_NONE;
    JASSERT_OK(jallocator_create(&ops, NULL, &options, &below));
    JEXPECT_STATUS(jallocator_create_lock(NULL, &lock), JSTATUS_INVALID_POINTER);
    JASSERT_OK(jallocator_create_lock(below, &lock));
    JEXPECT_STREQ(jallocator_name(lock), "lock");
    JEXPECT_EQ(jallocator_threads(lock), JALLOCATOR_THREADS_LOCK);
    for (int i = 0; i < THREADS; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, lock_run, lock), 0);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_EQ(stats_of(lock).allocation_count, 400);
    JEXPECT_EQ(stats_of(below).live_count, 0);
    JEXPECT_OK(jallocator_destroy(lock));
    JEXPECT_OK(jallocator_destroy(below));
}

/* ---- All of them ---- */

static bool never(void *context, jallocator_t *allocator, size_t size_bytes, jstatus_t status) {
    (void)context, (void)allocator, (void)size_bytes, (void)status;
    return false;
}
JTEST(AdaptorsThatWatch, EachFailedAllocationOfBookkeepingLosesNothing) {
    static jstatus_t refusal = JSTATUS_INVALID_VALUE; /* so that align keeps books of its own */
    jallocator_t *below;
    JASSERT_OK(jallocator_create(&stubborn_ops, &refusal, NULL, &below));
    void *first[101]; /* so that below has the books it needs */
    for (int k = 0; k < 101; ++k)
        JASSERT_OK(jallocator_allocate(below, 1, 16, NULL, &first[k]));
    for (int k = 0; k < 101; ++k)
        give(below, first[k], 1);
    JFOR_EACH_FAILURE(i) {
        jallocator_t *stack[6] = {below};
        jstatus_t status = jallocator_create_align(stack[0], NULL, &stack[1]);
        if (status == JSTATUS_SUCCESS)
            status = jallocator_create_visit(stack[1], &stack[2]);
        if (status == JSTATUS_SUCCESS)
            status = jallocator_create_statistics(stack[2], &stack[3]);
        if (status == JSTATUS_SUCCESS)
            status = jallocator_create_failure(stack[3], never, NULL, &stack[4]);
        if (status == JSTATUS_SUCCESS)
            status = jallocator_create_lock(stack[4], &stack[5]);
        if (status == JSTATUS_SUCCESS) {
            const jstatus_t pushed = jallocator_statistics_push(stack[5]);
            JEXPECT_OK(jallocator_visit_add(stack[5], &visitor_a));
            void *pointers[100];
            for (int k = 0; k < 100; ++k) {
                story[0] = '\0';
                const jstatus_t answer = jallocator_allocate(stack[5], 100, 0, NULL, &pointers[k]);
                /* Where an adaptor above had no room in its ledger, the block came and went. */
                if (answer == JSTATUS_SUCCESS || story[0] != '\0')
                    JEXPECT_STREQ(story, answer == JSTATUS_SUCCESS ? "+a " : "+a -a ");
                if (answer != JSTATUS_SUCCESS) {
                    JEXPECT_STATUS(answer, JSTATUS_MEMORY_ERROR);
                    JEXPECT_TRUE(jtest_metadata_failed());
                }
            }
            for (int k = 0; k < 100; ++k)
                give(stack[5], pointers[k], 100);
            if (pushed == JSTATUS_SUCCESS)
                JEXPECT_EQ(pop(stack[5]).in_use_bytes, 0);
        }
        for (int k = 5; k > 0; --k)
            JEXPECT_OK(jallocator_destroy(stack[k]));
        JEXPECT_EQ(stats_of(below).live_count, 0);
    }
    JEXPECT_OK(jallocator_destroy(below));
}
