/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Where a handle's workspace comes from: any allocator that is given, or what the environment
 * composes; and many handles under one budget, each of which bends when it is refused. */

#include "handle_helper.h"

#include "jalloc/adaptor.h"
#include "jalloc/policy.h"
#include "jalloc/provider.h"
#include "jalloc/quota.h"
#include "jalloc/tag.h"

#include <stdio.h>

static jhandle_t *make_on(jallocator_t *allocator) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    options.allocator = allocator;
    JEXPECT_OK(jhandle_create(&options, &handle));
    return handle;
}
static jallocator_stats_t allocator_stats_of(jallocator_t *allocator) {
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(allocator, &stats));
    return stats;
}

/* ---- The environment ---- */

JTEST(HandleAllocator, EnvironmentSaysWhatItIsMadeOf) {
    jtest_setenv("JALLOC_ALLOCATOR", "malloc+limit(limit=64K,name=mine)");
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    jallocator_t *allocator = jhandle_allocator(handle);
    JEXPECT_STREQ(jallocator_name(allocator), "mine");
    JEXPECT_OK(touch(handle, 65536));
    JEXPECT_EQ(allocator_stats_of(allocator).in_use_bytes, 65536);
    JEXPECT_STATUS(touch(handle, 65537), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "the limit is 65536 bytes");
    JEXPECT_EQ(capacity_of(handle), 65536); /* what was there is there */
    JEXPECT_OK(jhandle_trim(handle, 0));
    JEXPECT_EQ(allocator_stats_of(allocator).in_use_bytes, 0);
    JEXPECT_OK(touch(handle, 100));
    JEXPECT_OK(jhandle_destroy(handle)); /* the composition goes with it: the fixture counts */
}

static void *borrow_too_much(void *handle) {
    JEXPECT_STATUS(touch(handle, 65537), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "the limit is 65536 bytes");
    return NULL;
}

/* A thread's message has its place only once there is one. */
JTEST(HandleAllocator, FirstRefusalOfAThreadSaysWhy) {
    jtest_setenv("JALLOC_ALLOCATOR", "malloc+limit(limit=64K,name=mine)");
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    pthread_t thread;
    JASSERT_EQ(pthread_create(&thread, NULL, borrow_too_much, handle), 0);
    pthread_join(thread, NULL);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleAllocator, DevicesClauseAndNothing) {
    jhandle_t *handle = NULL;
    jtest_setenv("JALLOC_ALLOCATOR", "malloc(name=any);host=malloc(name=host's)");
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_STREQ(jallocator_name(jhandle_allocator(handle)), "host's");
    JEXPECT_OK(jhandle_destroy(handle));
    jtest_setenv("JALLOC_ALLOCATOR", "cuda:0=malloc");
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_STREQ(jallocator_name(jhandle_allocator(handle)), "host"); /* the device's own */
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleAllocator, OptionIsStrongerThanTheEnvironment) {
    jtest_setenv("JALLOC_ALLOCATOR", "malloc+limit(limit=1)");
    jhandle_t *handle = make_handle(0);
    JEXPECT_EQ(jhandle_allocator(handle), jtest_failing_allocator());
    JEXPECT_OK(touch(handle, 1000));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleAllocator, BadValuesAreQuotedAndNoHandleIsMade) {
    static const char *const values[] = {"nonsense", "malloc+limit", "malloc;gpu=malloc",
                                         "malloc+bad(x=y)", "malloc+quota(limit=1K)"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        jtest_setenv("JALLOC_ALLOCATOR", values[i]);
        jhandle_t *handle = NULL;
        JEXPECT_STATUS(jhandle_create(NULL, &handle), JSTATUS_INVALID_CONFIGURATION);
        JEXPECT_SUBSTR(jstatus_last_message(), "JALLOC_ALLOCATOR");
        JEXPECT_SUBSTR(jstatus_last_message(), values[i]);
        JEXPECT_NULL(handle);
    }
}

JTEST(HandleAllocator, PreallocationGoesThroughItAndMayFail) {
    jtest_setenv("JALLOC_ALLOCATOR", "malloc+limit(limit=4K)");
    jtest_setenv("JALLOC_DEVICE_MEMORY_SIZE", "4K");
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_EQ(capacity_of(handle), 4096);
    JEXPECT_OK(jhandle_destroy(handle));
    jtest_setenv("JALLOC_DEVICE_MEMORY_SIZE", "5K");
    handle = NULL;
    JEXPECT_STATUS(jhandle_create(NULL, &handle), JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(handle);
}

JTEST(HandleAllocator, EachFailedAllocationOfBookkeepingLosesNothing) {
    jtest_setenv("JALLOC_ALLOCATOR", "malloc+quota(budget=each,limit=1M)+lock");
    JFOR_EACH_FAILURE(i) {
        jhandle_t *handle = NULL;
        const jstatus_t status = jhandle_create(NULL, &handle);
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            JEXPECT_TRUE(jtest_metadata_failed());
            JEXPECT_NULL(handle);
            continue;
        }
        const jstatus_t grown = touch(handle, 10000);
        JEXPECT_STATUS(grown, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_OK(touch(handle, 10000));
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

/* ---- Tags ---- */

static jtag_t tag_of_workspace(jhandle_t *handle) {
    jallocation_t block = JALLOCATION_INIT;
    jborrow_t borrow;
    JEXPECT_OK(borrow_one(&borrow, handle, 64));
    JEXPECT_OK(jallocation_find(borrow.ptr[0], &block));
    JEXPECT_OK(jborrow_end(&borrow));
    return block.tag;
}
JTEST(HandleAllocator, WorkspaceIsTaggedWithTheRoutineThatGrewIt) {
    jallocator_t *provider;
    JASSERT_OK(jallocator_create_malloc(&provider));
    jhandle_t *handle = make_on(provider);
    JEXPECT_OK(touch(handle, 1000)); /* its routine is called "one" */
    JEXPECT_STREQ(jtag_name(tag_of_workspace(handle)), "one");
    JEXPECT_EQ(jtag_current(), 0);
    {
        JALLOC_TAG("assemble");
        JEXPECT_OK(touch(handle, 2000));
        JEXPECT_STREQ(jtag_name(jtag_current()), "assemble");
    }
    JEXPECT_STREQ(jtag_name(tag_of_workspace(handle)), "assemble");
    JEXPECT_OK(jhandle_set_workspace_size(handle, 4096)); /* for no routine */
    JEXPECT_EQ(tag_of_workspace(handle), 0);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jallocator_destroy(provider));
}

/* ---- Any kind of allocator ---- */

static const struct composition {
    const char *text;
} compositions[] = {
    {"malloc"},
    {"mmap"},
    {"device"},
    {"malloc+stack"},
    {"malloc+slots(slot=1M)"},
    {"malloc+pool"},
    {"malloc+bfc"},
    {"malloc+lru"},
    {"malloc+small"},
    {"malloc+general"},
    {"malloc+track"},
    {"malloc+exact"},
    {"malloc+guard"},
    {"malloc+fill"},
    {"malloc+limit(limit=1M)"},
    {"malloc+retry"},
    {"malloc+align(alignment=64K)"},
    {"malloc+lock"},
    {"malloc+visit"},
    {"malloc+statistics"},
    {"malloc+quota(budget=any,limit=1M)"},
    {"mmap+bfc+guard+quota(budget=any,limit=1M)+track"},
};
static void composition_label(const void *parameter, char *name) {
    const char *text = ((const struct composition *)parameter)->text;
    size_t length = 0;
    for (; *text != '\0' && length < JTEST_MAX_NAME; ++text)
        name[length++] =
            *text == '+' || *text == '(' || *text == '=' || *text == ',' || *text == ')' ? '_'
                                                                                         : *text;
    name[length] = '\0';
}
/* Borrows and writes, as the host may once the stream has passed what an allocator did in it (a
 * fill). */
static void borrow_and_write(jborrow_t *borrow, jhandle_t *handle, size_t bytes,
                             unsigned char value) {
    jstream_t *stream = NULL;
    JEXPECT_OK(borrow_one(borrow, handle, bytes));
    JEXPECT_OK(jhandle_get_stream(handle, &stream));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    if (borrow->ok)
        memset(borrow->ptr[0], value, bytes);
}
JTEST_P_NAMED(HandleAllocator, CarriesAWorkspace, struct composition, compositions,
              composition_label) {
    jallocator_t *allocator = NULL;
    if (jallocator_compose(NULL, param->text, &allocator) != JSTATUS_SUCCESS)
        JSKIP(jstatus_last_message());
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    jhandle_t *handle = make_on(allocator);
    for (int round = 0; round < 3; ++round) {
        JEXPECT_OK(jhandle_set_stream(handle, round == 1 ? stream : NULL));
        jborrow_t outer, inner;
        for (size_t bytes = 1; bytes <= 200000;
             bytes = bytes * 7 + 3) { /* grows: the new before the old is given back */
            borrow_and_write(&outer, handle, bytes, 6);
            JEXPECT_OK(jborrow_end(&outer));
        }
        borrow_and_write(&outer, handle, 100, 7);
        borrow_and_write(&inner, handle, 300000, 8); /* a further block */
        JASSERT_TRUE(outer.ok);
        JEXPECT_EQ(((unsigned char *)outer.ptr[0])[99], 7);
        JEXPECT_OK(jborrow_end(&inner));
        JEXPECT_OK(jborrow_end(&outer));
        JEXPECT_EQ(allocator_stats_of(allocator).in_use_bytes, capacity_of(handle));
        JEXPECT_OK(jhandle_trim(handle, 0));
        JEXPECT_EQ(allocator_stats_of(allocator).in_use_bytes, 0);
        JEXPECT_OK(jallocator_check(allocator));
    }
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- Four handles, one budget ---- */

/* A routine in three ways: with 30000 bytes, with 10000, with none. */
static jstatus_t routine(jhandle_t *handle, int *rung) {
    jplan_t plan;
    const size_t best = 30000, middle = 10000;
    jplan_init(&plan, handle, "routine", NULL, NULL);
    jplan_add(&plan, "best", 0, 0, 1, &best);
    jplan_add(&plan, "middle", 0, 0, 1, &middle);
    jplan_add(&plan, "none", 0, 0, 0, NULL);
    JALLOC_BORROW_PLAN(ws, handle, &plan);
    if (!ws.ok)
        return ws.status;
    if (ws.ptr[0] != NULL && ws.rung < 2)
        memset(ws.ptr[0], 1, ws.rung == 0 ? best : middle);
    *rung = ws.rung;
    return ws.status;
}

/* The environment alone makes all handles of the process share one budget; who is refused takes a
 * lower rung. */
JTEST(HandleBudgetOfAll, WhoIsRefusedTakesALowerRung) {
    jtest_setenv("JALLOC_ALLOCATOR", "quota(budget=all,limit=75K)");
    static const int expected[4] = {0, 0, 1, 2}; /* 30000, 30000, 10000: 6800 of 76800 are left */
    jhandle_t *handles[4];
    for (int i = 0; i < 4; ++i) {
        int rung = -1;
        JASSERT_OK(jhandle_create(NULL, &handles[i]));
        JEXPECT_STATUS(routine(handles[i], &rung),
                       expected[i] == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
        JEXPECT_EQ(rung, expected[i]);
        JEXPECT_EQ(stats_of(handles[i]).degraded_count, expected[i] != 0);
    }
    int rung = -1;
    JEXPECT_OK(jhandle_trim(handles[0], 0)); /* one gives up its part: another has it */
    JEXPECT_OK(routine(handles[3], &rung));
    JEXPECT_EQ(rung, 0);
    JEXPECT_STATUS(routine(handles[0], &rung), JSTATUS_PERF_DEGRADED);
    for (int i = 0; i < 4; ++i)
        JEXPECT_OK(jhandle_destroy(handles[i]));
}

typedef struct worker {
    jhandle_t *handle;
    jquota_t *quota;
    uint64_t seed;
    size_t guaranteed;
    uint64_t rungs[3];
} worker_t;
enum { BUDGET = 100000 };
static void *work(void *argument) {
    worker_t *worker = argument;
    uint64_t state = worker->seed;
    for (int64_t n = jtest_iterations(2000); n > 0; --n) {
        int rung = -1;
        if (jtest_random_next(&state) % 4 == 0) {
            JEXPECT_OK(jhandle_trim(worker->handle, 0));
        } else {
            const jstatus_t status = routine(worker->handle, &rung);
            JEXPECT_STATUS(status, rung == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
            ++worker->rungs[rung < 0 ? 2 : rung];
            if (rung == 2 && worker->guaranteed != 0)
                JFAIL("a handle with a guarantee of %zu bytes got none", worker->guaranteed);
        }
        jquota_stats_t stats = JQUOTA_STATS_INIT;
        JEXPECT_OK(jquota_get_stats(worker->quota, &stats));
        if (stats.in_use_bytes > BUDGET || stats.peak_in_use_bytes > BUDGET)
            JFAIL("%zu bytes of %d", stats.in_use_bytes, BUDGET);
    }
    return NULL;
}

/* Four handles on four threads: the sum never exceeds the limit, and each has its guarantee
 * whatever the others do. */
JTEST(HandleBudgetOfAll, FourHandlesOnFourThreads) {
    jquota_t *quota;
    jallocator_t *provider, *shares[4];
    worker_t workers[4];
    pthread_t threads[4];
    JASSERT_OK(jquota_create(BUDGET, &quota));
    JASSERT_OK(jallocator_create_malloc(&provider));
    for (int i = 0; i < 4; ++i) {
        jquota_share_options_t options = JQUOTA_SHARE_OPTIONS_INIT;
        /* The middle rung, rounded up to the granule. */
        options.guaranteed_bytes = i < 2 ? 10048 : 0;
        JASSERT_OK(jallocator_create_quota(provider, quota, &options, &shares[i]));
        workers[i] = (worker_t){
            make_on(shares[i]), quota, jtest_random(), options.guaranteed_bytes, {0, 0, 0}};
    }
    for (int i = 0; i < 4; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; ++i) {
        JEXPECT_OK(jhandle_destroy(workers[i].handle));
        JEXPECT_EQ(allocator_stats_of(shares[i]).in_use_bytes, 0);
        JEXPECT_OK(jallocator_destroy(shares[i]));
    }
    JEXPECT_OK(jallocator_destroy(provider));
    JEXPECT_OK(jquota_destroy(quota));
}
