/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What jalloc/allocator.h says of all allocators, where no other test is about it: docs/testing.rst
 * has the list of what it promises, each with its tests. */

#include "allocator_helper.h"
#include "jtest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static jallocator_t *compose(const char *text) {
    jallocator_t *allocator = NULL;
    JEXPECT_OK(jallocator_compose(NULL, text, &allocator));
    return allocator;
}

/* ---- A caller's functions ---- */

typedef struct told {
    atomic_uint forgotten; /* how often, and which stream the last time */
    const jstream_t *_Atomic stream;
    atomic_bool work_was_done;
    atomic_bool *work_done;
} told_t;
static void told_forget_stream(void *context, jstream_t *stream) {
    told_t *told = context;
    atomic_fetch_add(&told->forgotten, 1);
    atomic_store(&told->stream, stream);
    atomic_store(&told->work_was_done, atomic_load(told->work_done));
}

static bool show_one(void *context, const jallocation_t *block) {
    *(jallocation_t *)context = *block;
    return true;
}

JTEST(AllocatorPromises, WhatASlotThatIsNotSetDoes) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = plain_allocate, .deallocate = plain_deallocate};
    jallocator_t *allocator;
    jstream_t *stream;
    jallocation_t shown = JALLOCATION_INIT;
    JASSERT_OK(jallocator_create(&ops, NULL, NULL, &allocator));
    JEXPECT_EQ(jallocator_threads(allocator), JALLOCATOR_THREADS_SAFE);
    JEXPECT_NULL(jallocator_below(allocator));
    void *block = take(allocator, 100);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_visit(allocator, show_one, &shown)); /* from the object's table */
    JEXPECT_EQ(shown.pointer, block);
    JEXPECT_EQ(shown.size_bytes, 100);
    JEXPECT_TRUE(shown.live);
    JEXPECT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jstream_destroy(stream)); /* nobody is told */
    const jallocator_stats_t stats = stats_of(allocator);
    JEXPECT_EQ(stats.limit_bytes, 0); /* what it cannot know */
    JEXPECT_EQ(stats.reserved_bytes, 0);
    JEXPECT_EQ(stats.free_bytes, 0);
    JEXPECT_EQ(stats.granted_bytes, 0);
    JEXPECT_EQ(stats.fragmentation, 0);
    give(allocator, block, 100);
    JEXPECT_OK(jallocator_destroy(allocator));
}

static void finish_late(void *arguments) {
    atomic_bool *work_done = *(atomic_bool **)arguments;
    jtest_sleep_ms(5);
    atomic_store(work_done, true);
}
JTEST(AllocatorPromises, AStreamIsForgottenOnceWhenItHasPassedAllItsWork) {
    static const jallocator_ops_t ops = {.struct_size = sizeof ops,
                                         .allocate = plain_allocate,
                                         .deallocate = plain_deallocate,
                                         .forget_stream = told_forget_stream};
    static told_t told;
    static atomic_bool work_done;
    atomic_bool *argument = &work_done;
    memset(&told, 0, sizeof told);
    told.work_done = &work_done;
    jallocator_t *allocator;
    jstream_t *stream;
    JASSERT_OK(jallocator_create(&ops, &told, NULL, &allocator));
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jstream_launch(jdevice_host(), stream, finish_late, &argument, sizeof argument));
    JEXPECT_EQ(atomic_load(&told.forgotten), 0);
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_EQ(atomic_load(&told.forgotten), 1);
    JEXPECT_EQ(atomic_load(&told.stream), stream);
    JEXPECT_TRUE(atomic_load(&told.work_was_done));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(AllocatorPromises, KeepsWhatIsBelowUntilItIsDestroyed) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = plain_allocate, .deallocate = plain_deallocate};
    jallocator_t *below = compose("malloc"), *above;
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    options.below = below;
    JASSERT_OK(jallocator_create(&ops, NULL, &options, &above));
    JEXPECT_EQ(jallocator_below(above), below);
    JEXPECT_EQ(jallocator_device(above), jallocator_device(below));
    JEXPECT_STATUS(jallocator_destroy(below), JSTATUS_BUSY);
    JEXPECT_SUBSTR(jstatus_last_message(), "1 user keeps it");
    JEXPECT_OK(jallocator_destroy(above)); /* which does not own it */
    JEXPECT_OK(jallocator_destroy(below));
}

/* ---- What a kind says of itself ---- */

JTEST(AllocatorPromises, ThreadsAreThoseThatAKindIsMadeFor) {
    static const struct {
        const char *composition;
        jallocator_threads_t threads;
    } rows[] = {
        {"malloc", JALLOCATOR_THREADS_SAFE},
        {"mmap", JALLOCATOR_THREADS_SAFE},
        {"stack", JALLOCATOR_THREADS_LOCK},
        {"slots", JALLOCATOR_THREADS_LOCK},
        {"pool", JALLOCATOR_THREADS_LOCK},
        {"bfc", JALLOCATOR_THREADS_LOCK},
        {"lru", JALLOCATOR_THREADS_LOCK},
        {"lock", JALLOCATOR_THREADS_LOCK},
        {"small", JALLOCATOR_THREADS_SAFE},
        {"general", JALLOCATOR_THREADS_SAFE},
        {"bfc(threads=none)", JALLOCATOR_THREADS_NONE},
        {"small(threads=lock)", JALLOCATOR_THREADS_LOCK},
        {"small(threads=none)", JALLOCATOR_THREADS_NONE},
        {"bfc(threads=none)+small", JALLOCATOR_THREADS_NONE}, /* large blocks go straight there */
        {"bfc(threads=none)+small(threads=safe)", JALLOCATOR_THREADS_NONE},
        {"bfc(threads=none)+track", JALLOCATOR_THREADS_SAFE}, /* of itself */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        JSCOPED_TRACE("%s", rows[i].composition);
        jallocator_t *allocator = compose(rows[i].composition);
        JEXPECT_EQ(jallocator_threads(allocator), rows[i].threads);
        JEXPECT_OK(jallocator_destroy(allocator));
    }
}

JTEST(AllocatorPromises, TheHostsMemoryIsOfOneKind) {
    static const char *const compositions[] = {"malloc+bfc", "general", "device(kind=pinned)+bfc",
                                               "device(kind=ordered)+pool", "segment+small"};
    for (size_t i = 0; i < sizeof compositions / sizeof compositions[0]; ++i) {
        jallocator_t *allocator = compose(compositions[i]);
        JEXPECT_EQ(jallocator_memory_kind(allocator), JMEMORY_DEVICE);
        JEXPECT_OK(jallocator_destroy(allocator));
    }
    JEXPECT_EQ(jallocator_memory_kind(NULL), JMEMORY_DEVICE);
}

JTEST(AllocatorPromises, WhatIsGrantedIsKnownByThoseWhoRoundUp) {
    static const struct {
        const char *composition;
        bool knows;
    } rows[] = {{"bfc", true},       {"pool", true},     {"slots", true},
                {"bfc+track", true}, {"stack", false},   {"lru", false},
                {"small", false},    {"general", false}, {"malloc", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        JSCOPED_TRACE("%s", rows[i].composition);
        jallocator_t *allocator = compose(rows[i].composition);
        void *block = take(allocator, 100);
        const jallocator_stats_t stats = stats_of(allocator);
        if (rows[i].knows)
            JEXPECT_GE(stats.granted_bytes, 100);
        else
            JEXPECT_EQ(stats.granted_bytes, 0);
        JEXPECT_EQ(stats.peak_granted_bytes, stats.granted_bytes);
        give(allocator, block, 100);
        JEXPECT_EQ(stats_of(allocator).granted_bytes, 0);
        JEXPECT_EQ(stats_of(allocator).peak_granted_bytes, stats.granted_bytes);
        JEXPECT_OK(jallocator_clear_stats(allocator));
        if (strchr(rows[i].composition, '+') != NULL) { /* an adaptor: the peak is below's */
            JEXPECT_EQ(stats_of(allocator).peak_granted_bytes, stats.granted_bytes);
            JEXPECT_OK(jallocator_clear_stats(jallocator_below(allocator)));
        }
        JEXPECT_EQ(stats_of(allocator).peak_granted_bytes, 0);
        JEXPECT_OK(jallocator_destroy(allocator));
    }
}

/* ---- Calls ---- */

/* Without a wait: the copy is still ahead when the call has returned. */
JTEST(AllocatorPromises, ReallocatingInStreamOrderWaitsForNothing) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    jallocator_t *allocator = compose("bfc");
    jstream_t *stream;
    unsigned char *first;
    void *pointer;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JASSERT_OK(jallocator_allocate(allocator, 1000, 0, stream, &pointer));
    first = pointer;
    memset(first, 5, 1000);
    JASSERT_OK(jtest_gate_block(&gate, jdevice_host(), stream));
    JASSERT_OK(jallocator_reallocate(allocator, 1000, 90000, 0, stream, &pointer));
    JEXPECT_NE(pointer, (void *)first);
    memset(first, 6, 1000); /* before the gate is open: this is what is copied */
    jtest_gate_open(&gate);
    JASSERT_OK(jstream_synchronize(jdevice_host(), stream));
    for (int i = 0; i < 1000; ++i)
        JEXPECT_EQ(((unsigned char *)pointer)[i], 6);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 90000, stream));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- The whole process ---- */

static void ignore_text(void *context, const char *text, size_t length) {
    (void)text;
    *(size_t *)context += length;
}
/* Composes, finds, dumps and destroys. */
static void *look_around(void *argument) {
    static const char *const texts[] = {"bfc+track", "general", "pool+guard",
                                        "malloc+limit(limit=1M)"};
    const int64_t rounds = *(const int64_t *)argument;
    for (int64_t round = 0; round < rounds && !jtest_has_failure(); ++round) {
        jallocator_t *allocator = compose(texts[round % 4]);
        void *block = take(allocator, 500);
        jallocation_t shown = JALLOCATION_INIT;
        size_t written = 0;
        JEXPECT_OK(jallocation_find((char *)block + 499, &shown));
        JEXPECT_EQ(shown.pointer, block);
        JEXPECT_EQ(shown.size_bytes, 500);
        JEXPECT_STATUS(jallocator_report_leaks(ignore_text, &written), JSTATUS_LEAKED);
        JEXPECT_GT(written, 0);
        give(allocator, block, 500);
        JEXPECT_OK(jallocator_destroy(allocator));
    }
    return NULL;
}
JTEST(AllocatorPromises, TheProcessIsLookedThroughFromAnyThread) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int64_t rounds = jtest_iterations(200);
    for (int i = 0; i < THREADS; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, look_around, &rounds), 0);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    size_t written = 0;
    JEXPECT_OK(jallocator_report_leaks(ignore_text, &written));
}
