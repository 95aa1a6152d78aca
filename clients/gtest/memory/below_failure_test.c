/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is below an allocator fails: each call of a device (memory, events, waits, fills, copies) by
 * turns, each time that memory is given back, and each allocation of bookkeeping memory. Whatever
 * the answer is, nothing is lost: the allocator is sound, what was live is live, and everything can
 * be given back when the failure is over. On a pretended GPU with two streams, so that policies
 * need events. */

#include "jtest.h"
#include "pretend_gpu.h"

#include "jalloc/allocator.h"
#include "jalloc/provider.h"

#include <stdio.h>
#include <string.h>

typedef const char *text_t;
static const char *const failing[] = {
    "device",
    "device(kind=ordered)",
    "stack",
    "stack(block=8K)",
    "slots(slot=16K,block=3)",
    "pool",
    "pool(rounding=none,count=4,bytes=64K)",
    "pool(count=2,fixed)",
    "bfc",
    "bfc(region=4K)",
    "bfc(limit=128K,region=4K)",
    "device(kind=ordered)+bfc(region=4K)",
    "lru",
    "lru(layouts=3,bytes=48K)",
    "small",
    "bfc+small",
    "general",
    "guard",
    "bfc+guard",
    "fill",
    "bfc+fill",
    "exact",
    "align(alignment=4K)",
    "device(kind=ordered)+align(alignment=4K)",
    "limit(limit=256K)",
    "statistics",
    "visit",
    "track(records=4,stacks)",
    "record(file=/dev/null)",
    "quota(budget=below,limit=256K)",
    "retry(timeout=1)",
};

enum { FAILING_BLOCKS = 24, FAILING_LARGEST = 40000 };

enum { BELOW_MOST_LIVE = 512 };

/* Passes on to the device's memory, and the n-th time that something is given back fails. */
typedef struct below {
    jallocator_t *device;
    uint64_t fail_in;
    bool failed;
    bool refuses; /* whatever is given back */
    size_t refused;
    struct {
        void *pointer; /* NULL: none */
        size_t size_bytes;
    } live[BELOW_MOST_LIVE];
} below_t;

static jstatus_t below_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    below_t *below = context;
    const jstatus_t status =
        jallocator_allocate(below->device, size_bytes, alignment, stream, pointer);
    for (size_t i = 0; i < BELOW_MOST_LIVE && status == JSTATUS_SUCCESS; ++i)
        if (below->live[i].pointer == NULL) {
            below->live[i].pointer = *pointer;
            below->live[i].size_bytes = size_bytes;
            break;
        }
    return status;
}
static jstatus_t below_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    below_t *below = context;
    if (below->refuses) {
        ++below->refused;
        return JSTATUS_DEVICE_ERROR;
    }
    if (below->fail_in != 0 && --below->fail_in == 0) {
        below->failed = true;
        return JSTATUS_DEVICE_ERROR;
    }
    for (size_t i = 0; i < BELOW_MOST_LIVE; ++i)
        if (below->live[i].pointer == pointer)
            below->live[i].pointer = NULL;
    return jallocator_deallocate(below->device, pointer, size_bytes, stream);
}
static jallocator_t *below_make(below_t *below, jdevice_t *device) {
    const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = below_allocate, .deallocate = below_deallocate};
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    jallocator_t *base = NULL;
    options.device = device;
    JEXPECT_OK(jallocator_create_device(device, JMEMORY_DEVICE, &below->device));
    JEXPECT_OK(jallocator_create(&ops, below, &options, &base));
    return base;
}
static void below_end(below_t *below, jallocator_t *base) {
    JEXPECT_OK(jallocator_destroy(base));
    JEXPECT_OK(jallocator_destroy(below->device));
}

typedef struct script {
    jallocator_t *allocator;
    jstream_t *streams[3];
    void *pointers[FAILING_BLOCKS];
    size_t sizes[FAILING_BLOCKS];
    bool always_frees; /* a free must succeed */
} script_t;

static void script_allocate(script_t *script, int place, size_t size_bytes, size_t alignment,
                            int stream) {
    if (script->pointers[place] != NULL)
        return;
    script->sizes[place] = size_bytes;
    if (jallocator_allocate(script->allocator, size_bytes, alignment, script->streams[stream],
                            &script->pointers[place]) != JSTATUS_SUCCESS)
        JEXPECT_NULL(script->pointers[place]);
}

/* What is refused stays live. */
static void script_free(script_t *script, int place, int stream) {
    if (script->pointers[place] == NULL)
        return;
    const jstatus_t status = jallocator_deallocate(script->allocator, script->pointers[place],
                                                   script->sizes[place], script->streams[stream]);
    if (script->always_frees)
        JEXPECT_OK(status);
    if (status == JSTATUS_SUCCESS)
        script->pointers[place] = NULL;
}

static void script_run(script_t *script, bool aligns) {
    static const size_t sizes[] = {256, 3000, 16000, 100, FAILING_LARGEST, 512, 7000, 9000};
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 8; ++i)
            script_allocate(script, i, sizes[i], 0, 1);
        for (int i = 0; i < 8; i += 2)
            script_free(script, i, 1 + i / 2 % 2);
        for (int i = 8; i < 14; ++i) /* another stream wants what the first has freed */
            script_allocate(script, i, sizes[i % 8], aligns && i % 3 == 0 ? 4096 : 0, 2);
        script_allocate(script, 15, 30000 + 5000 * (size_t)round, 0, 0);
        for (int i = 14; i-- > 0;)
            script_free(script, i, i % 3);
        (void)jallocator_trim(script->allocator, round == 0 ? 20000 : 0);
        script_free(script, 15, 2);
    }
}

/* The failure is over. */
static void script_end(script_t *script) {
    for (int i = 0; i < FAILING_BLOCKS; ++i)
        script_free(script, i, 0);
    for (int i = 0; i < FAILING_BLOCKS; ++i)
        JEXPECT_NULL(script->pointers[i]);
    JEXPECT_OK(jallocator_check(script->allocator));
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(script->allocator, &stats));
    JEXPECT_EQ(stats.live_count, 0);
    JEXPECT_OK(jallocator_destroy(script->allocator));
}

static bool script_aligns(const char *text) {
    return strstr(text, "slots") == NULL && strstr(text, "small") == NULL;
}

static void script_streams(script_t *script, pretend_gpu_t *gpu) {
    for (int i = 1; i < 3; ++i)
        JASSERT_OK(jstream_create(&gpu->device, &script->streams[i]));
}
static void script_end_streams(script_t *script) {
    for (int i = 1; i < 3; ++i)
        JEXPECT_OK(jstream_destroy(script->streams[i]));
}

static void fail_device(const char *text, jstatus_t with) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    script_t script = {0};
    script_streams(&script, gpu);
    gpu->fail_with = with;
    gpu->failed = true;
    for (uint64_t n = 1; gpu->failed; ++n) {
        JSCOPED_TRACE("call %llu", (unsigned long long)n);
        JASSERT_OK(jallocator_compose(&gpu->device, text, &script.allocator));
        gpu->failed = false;
        gpu->fail_in = n;
        script_run(&script, script_aligns(text));
        gpu->fail_in = 0;
        script_end(&script);
        JASSERT_EQ(pretend_gpu_live_bytes(), 0);
    }
    JEXPECT_EQ(gpu->violations, 0);
    script_end_streams(&script);
}

JTEST_P(BelowFails, EachCallOfTheDeviceIsSurvived, text_t, failing) {
    fail_device(*param, JSTATUS_DEVICE_ERROR);
}
JTEST_P(BelowFails, EachLackOfTheDeviceIsSurvived, text_t, failing) {
    fail_device(*param, JSTATUS_MEMORY_ERROR);
}

JTEST_P(BelowFails, WhatIsNotTakenBackIsGivenBackLater, text_t, failing) {
    if (strncmp(*param, "device", 6) == 0)
        JSKIP("nothing is below a provider");
    pretend_gpu_t *gpu = pretend_gpu_make();
    below_t below = {.failed = true};
    script_t script = {0};
    script_streams(&script, gpu);
    jallocator_t *base = below_make(&below, &gpu->device);
    for (uint64_t n = 1; below.failed; ++n) {
        JSCOPED_TRACE("free %llu", (unsigned long long)n);
        JASSERT_OK(jallocator_compose_over(base, *param, &script.allocator));
        below.failed = false;
        below.fail_in = n;
        script_run(&script, script_aligns(*param));
        below.fail_in = 0;
        script_end(&script);
        JASSERT_EQ(pretend_gpu_live_bytes(), 0);
    }
    below_end(&below, base);
    script_end_streams(&script);
}

static const char *const policies[] = {
    "stack", "slots(slot=16K,block=3)", "pool", "bfc", "lru", "small", "general", "bfc+small",
};

/* Its memory stays below, but no bookkeeping does (the fixture looks), and nothing is given back
 * twice. */
JTEST_P(BelowFails, WhatIsNeverTakenBackLeavesNoBooks, text_t, policies) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    below_t below = {.failed = false};
    script_t script = {0};
    script_streams(&script, gpu);
    jallocator_t *base = below_make(&below, &gpu->device);
    JASSERT_OK(jallocator_compose_over(base, *param, &script.allocator));
    for (int i = 0; i < 8; ++i)
        script_allocate(&script, i, 300 + 1000 * (size_t)i, 0, 1);
    for (int i = 8; i-- > 0;)
        script_free(&script, i, 1);
    below.refuses = true;
    script_end(&script);
    JEXPECT_GT(below.refused, 0);
    below.refuses = false;
    for (size_t i = 0; i < BELOW_MOST_LIVE; ++i)
        if (below.live[i].pointer != NULL)
            JEXPECT_OK(
                jallocator_deallocate(base, below.live[i].pointer, below.live[i].size_bytes, NULL));
    JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
    below_end(&below, base);
    script_end_streams(&script);
}

/* ---- Bookkeeping fails, and the device with it ---- */

/* For want of bookkeeping alone no free fails. */
static void fail_metadata(const char *text, bool device_too) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    script_t script = {.always_frees = !device_too};
    script_streams(&script, gpu);
    JFOR_EACH_FAILURE(i) {
        gpu->fail_behind_metadata = device_too;
        const jstatus_t status = jallocator_compose(&gpu->device, text, &script.allocator);
        if (status == JSTATUS_SUCCESS) {
            script_run(&script, script_aligns(text));
            gpu->fail_behind_metadata = false;
            script_end(&script);
        } else {
            JEXPECT_TRUE(jtest_metadata_failed());
        }
        JASSERT_EQ(pretend_gpu_live_bytes(), 0);
    }
    JEXPECT_EQ(gpu->violations, 0);
    script_end_streams(&script);
}

JTEST_P(BookkeepingFails, EachTimeIsSurvived, text_t, failing) { fail_metadata(*param, false); }
JTEST_P(BookkeepingFails, AndThenTheDevice, text_t, failing) { fail_metadata(*param, true); }

/* ---- What is refused, and what stops ---- */

JTEST_P(Policies, AStreamOfAnotherDeviceIsRefused, text_t, policies) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    script_t script = {0};
    jstream_t *foreign;
    script_streams(&script, gpu);
    JASSERT_OK(jstream_create(jdevice_host(), &foreign));
    JASSERT_OK(jallocator_compose(&gpu->device, *param, &script.allocator));
    for (size_t size_bytes = 300; size_bytes < 20000; size_bytes += 15000) {
        void *none = NULL, *block = NULL;
        JEXPECT_STATUS(jallocator_allocate(script.allocator, size_bytes, 0, foreign, &none),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_NULL(none);
        JEXPECT_SUBSTR(jstatus_last_message(), "stream is not of pretended");
        JASSERT_OK(jallocator_allocate(script.allocator, size_bytes, 0, script.streams[1], &block));
        JEXPECT_STATUS(jallocator_deallocate(script.allocator, block, size_bytes, foreign),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_SUBSTR(jstatus_last_message(), "stream is not of pretended");
        /* Was live. */
        JEXPECT_OK(jallocator_deallocate(script.allocator, block, size_bytes, script.streams[1]));
    }
    script_end(&script);
    JEXPECT_OK(jstream_destroy(foreign));
    script_end_streams(&script);
}

/* A fence needs room in a table; where there is none the stream is waited for, and where that fails
 * as well the block stays live. */
static const char *const fencing[] = {
    "stack",          "slots(slot=16K,block=3)", "pool", "bfc", "lru",
    "small(cache=1)", "bfc+small(cache=1)",
};
enum { FULL_TABLE = 3 /* streams, and the next one makes it grow */ };

JTEST_P(Policies, AFreeThatCannotBeFencedIsRefused, text_t, fencing) {
    int refused = 0;
    for (uint64_t n = 1; n < 5; ++n) { /* which of what it needs is the table */
        pretend_gpu_t *gpu = pretend_gpu_make();
        jallocator_t *allocator;
        jstream_t *streams[FULL_TABLE + 1];
        void *block;
        JASSERT_OK(jallocator_compose(&gpu->device, *param, &allocator));
        for (int i = 0; i <= FULL_TABLE; ++i)
            JASSERT_OK(jstream_create(&gpu->device, &streams[i]));
        for (int i = 0; i < FULL_TABLE; ++i) {
            JASSERT_OK(jallocator_allocate(allocator, 300, 0, streams[i], &block));
            JASSERT_OK(jallocator_deallocate(allocator, block, 300, streams[i]));
        }
        JASSERT_OK(jallocator_allocate(allocator, 300, 0, streams[0], &block));
        gpu->fail_behind_metadata = true;
        jtest_fail_metadata_after(n);
        const jstatus_t status = jallocator_deallocate(allocator, block, 300, streams[FULL_TABLE]);
        jtest_fail_metadata_after(0);
        gpu->fail_behind_metadata = false;
        jallocation_t found = JALLOCATION_INIT;
        JEXPECT_EQ(jallocator_find(allocator, block, &found) == JSTATUS_SUCCESS,
                   status != JSTATUS_SUCCESS);
        if (status != JSTATUS_SUCCESS) {
            ++refused;
            JEXPECT_STATUS(status, JSTATUS_DEVICE_ERROR);
            JEXPECT_OK(jallocator_deallocate(allocator, block, 300, streams[FULL_TABLE]));
        }
        JEXPECT_OK(jallocator_check(allocator));
        JEXPECT_OK(jallocator_destroy(allocator));
        for (int i = 0; i <= FULL_TABLE; ++i)
            JEXPECT_OK(jstream_destroy(streams[i]));
        JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
    }
    JEXPECT_GT(refused, 0);
}

/* The same of what a trim gives to a policy below. */
JTEST(Policies, ATrimThatCannotBeFencedBelowIsSaid) {
    static const char *const texts[] = {"general", "bfc+small"};
    for (int which = 0; which < 2; ++which) {
        int refused = 0;
        for (uint64_t n = 1; n < 5; ++n) {
            pretend_gpu_t *gpu = pretend_gpu_make();
            jallocator_t *allocator;
            jstream_t *streams[FULL_TABLE];
            void *block;
            JASSERT_OK(jallocator_compose(&gpu->device, texts[which], &allocator));
            for (int i = 0; i < FULL_TABLE; ++i) {
                JASSERT_OK(jstream_create(&gpu->device, &streams[i]));
                /* Goes straight below. */
                JASSERT_OK(jallocator_allocate(allocator, 50000, 0, streams[i], &block));
                JASSERT_OK(jallocator_deallocate(allocator, block, 50000, streams[i]));
            }
            JASSERT_OK(jallocator_allocate(allocator, 300, 0, streams[0], &block));
            JASSERT_OK(jallocator_deallocate(allocator, block, 300, streams[0]));
            gpu->fail_behind_metadata = true;
            jtest_fail_metadata_after(n);
            /* On the NULL stream, which is one more. */
            const jstatus_t status = jallocator_trim(allocator, 0);
            jtest_fail_metadata_after(0);
            gpu->fail_behind_metadata = false;
            if (status != JSTATUS_SUCCESS) {
                ++refused;
                JEXPECT_STATUS(status, JSTATUS_DEVICE_ERROR);
                JEXPECT_OK(jallocator_trim(allocator, 0));
            }
            JEXPECT_OK(jallocator_check(allocator));
            JEXPECT_OK(jallocator_destroy(allocator));
            for (int i = 0; i < FULL_TABLE; ++i)
                JEXPECT_OK(jstream_destroy(streams[i]));
            JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
        }
        JEXPECT_GT(refused, 0);
    }
}

/* Where there is no more a stream waits for what another one has freed. One that is captured cannot
 * wait, and is told that there is no memory; what is free stays free. */
static const char *const bounded[] = {
    "stack(block=4K,limit=4K)", "slots(slot=4K,block=1,limit=1)", "limit(limit=4K)+pool",
    "limit(limit=4K)+lru",      "bfc(region=4K,limit=4K)",
};

JTEST_P(Policies, AStreamThatCannotWaitIsRefused, text_t, bounded) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    script_t script = {0};
    void *block = NULL, *none = NULL;
    script_streams(&script, gpu);
    JASSERT_OK(jallocator_compose(&gpu->device, *param, &script.allocator));
    JASSERT_OK(jallocator_allocate(script.allocator, 4096, 0, script.streams[1], &block));
    for (uint64_t i = 1; i < 3; ++i)
        pretend_gpu_capture(script.streams[i], i);
    JASSERT_OK(jallocator_deallocate(script.allocator, block, 4096, script.streams[1]));
    JEXPECT_NE(jallocator_allocate(script.allocator, 4096, 0, script.streams[2], &none),
               JSTATUS_SUCCESS);
    JEXPECT_NULL(none);
    JEXPECT_OK(jallocator_check(script.allocator));
    for (int i = 1; i < 3; ++i)
        pretend_gpu_capture(script.streams[i], 0);
    JASSERT_OK(jallocator_allocate(script.allocator, 4096, 0, script.streams[2], &block));
    JEXPECT_OK(jallocator_deallocate(script.allocator, block, 4096, script.streams[2]));
    script_end(&script);
    script_end_streams(&script);
}

/* The same when memory is taken from below in a stream's order. */
JTEST_P(Policies, BookkeepingFailsOverMemoryInOrder, text_t, policies) {
    char text[64];
    snprintf(text, sizeof text, "device(kind=ordered)+%s", *param);
    fail_metadata(text, true);
}

/* In a forked child nobody is left who could write what the parent's streams had to: it is waited
 * for no more. */
static const char *const writing[] = {"malloc+fill", "malloc+guard"};
typedef struct inherited {
    jallocator_t *allocator;
    void *block;
} inherited_t;
static void give_back_in_child(void *argument) {
    const inherited_t *inherited = argument;
    JEXPECT_OK(jallocator_check(inherited->allocator));
    JEXPECT_OK(jallocator_deallocate(inherited->allocator, inherited->block, 300, NULL));
    JEXPECT_OK(jallocator_destroy(inherited->allocator));
}

JTEST_P(Forked, WhatTheParentsStreamsWriteIsNotWaitedFor, text_t, writing) {
    inherited_t inherited;
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JASSERT_OK(jallocator_compose(NULL, *param, &inherited.allocator));
    JASSERT_OK(jallocator_allocate(inherited.allocator, 300, 0, stream, &inherited.block));
    JASSERT_OK(jstream_synchronize(jdevice_host(), stream));
    jtest_in_child(20, give_back_in_child, &inherited);
    JEXPECT_OK(jallocator_deallocate(inherited.allocator, inherited.block, 300, stream));
    JEXPECT_OK(jallocator_destroy(inherited.allocator));
    JEXPECT_OK(jstream_destroy(stream));
}

typedef struct stop {
    size_t calls, most;
} stop_t;

static bool stop_later(void *context, const jallocation_t *block) {
    stop_t *stop = context;
    (void)block;
    return ++stop->calls < stop->most;
}

JTEST_P(Visiting, MayStopAtEachBlock, text_t, failing) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    script_t script = {0};
    script_streams(&script, gpu);
    JASSERT_OK(jallocator_compose(&gpu->device, *param, &script.allocator));
    for (int i = 0; i < 20; ++i)
        script_allocate(&script, i, i < 2 ? FAILING_LARGEST + (size_t)i : 600 * (size_t)i, 0, 1);
    for (int i = 1; i < 20; i += 3)
        script_free(&script, i, 1);
    stop_t all = {0, SIZE_MAX};
    const jstatus_t can = jallocator_visit(script.allocator, stop_later, &all);
    if (can == JSTATUS_SUCCESS)
        JEXPECT_GT(all.calls, 0);
    for (size_t n = 1; n <= all.calls && can == JSTATUS_SUCCESS; ++n) {
        stop_t stop = {0, n};
        JEXPECT_OK(jallocator_visit(script.allocator, stop_later, &stop));
        JASSERT_EQ(stop.calls, n);
    }
    script_end(&script);
    script_end_streams(&script);
}
