/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The process's own allocators: one for each kind of memory, made of what the environment says. */

#include "metadata_gate.h"
#include "pretend_gpu.h"

#include "jalloc/adaptor.h"
#include "jalloc/process.h"
#include "jalloc/provider.h"
#include "memory/compose/compose.h"

#include <stdlib.h>
#include <string.h>

static bool has_kind(const char *name) {
    const jallocator_kind_t *kind;
    for (size_t i = 0; (kind = jallocator_kind_at(i)) != NULL; ++i)
        if (strcmp(kind->name, name) == 0)
            return true;
    return false;
}

static jallocator_t *get(const jmemory_request_t *request) {
    jallocator_t *allocator = NULL;
    JEXPECT_OK(jprocess_get_allocator(request, &allocator));
    return allocator;
}

JTEST(Process, OneAllocatorForEqualRequests) {
    jtest_setenv("JALLOC_ALLOCATOR", "malloc(name=mine)");
    jmemory_request_t request = JMEMORY_REQUEST_INIT;
    jallocator_t *ordinary = get(NULL);
    JASSERT_NOT_NULL(ordinary);
    JEXPECT_STREQ(jallocator_name(ordinary), "mine");
    JEXPECT_EQ(get(&request), ordinary);
    request.device = jdevice_host();
    JEXPECT_EQ(get(&request), ordinary);
    request.managed = true; /* on the host ordinary memory */
    JEXPECT_EQ(get(&request), ordinary);
    jtest_setenv("JALLOC_ALLOCATOR", "mmap");
    JEXPECT_EQ(get(NULL), ordinary); /* made already */
    JEXPECT_OK(ji_process_reset());
    JEXPECT_STREQ(jallocator_name(get(NULL)), "mmap");
    JEXPECT_OK(ji_process_reset());
    JEXPECT_OK(ji_process_reset());
}

JTEST(Process, DefaultIsGeneral) {
    if (!has_kind("general"))
        JSKIP("there is no general");
    jallocator_t *allocator = get(NULL);
    JEXPECT_STREQ(jallocator_name(allocator), "general");
    void *pointer;
    JEXPECT_OK(jallocator_allocate(allocator, 100, 0, NULL, &pointer));
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    JEXPECT_OK(ji_process_reset());
}

JTEST(Process, ArgumentsAreChecked) {
    jallocator_t *allocator = NULL;
    jmemory_request_t request = JMEMORY_REQUEST_INIT;
    JEXPECT_STATUS(jprocess_get_allocator(NULL, NULL), JSTATUS_INVALID_POINTER);
    request.struct_size = 8;
    JEXPECT_STATUS(jprocess_get_allocator(&request, &allocator), JSTATUS_INVALID_VALUE);
    request = (jmemory_request_t)JMEMORY_REQUEST_INIT;
    request.numa_node = -2;
    JEXPECT_STATUS(jprocess_get_allocator(&request, &allocator), JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(allocator);
    JEXPECT_EQ(jallocator_memory_kind(NULL), JMEMORY_DEVICE);
}

JTEST(Process, CompositionsByDevice) {
    static const struct {
        const char *value, *name; /* name NULL: refused */
    } rows[] = {
        {"malloc(name=a)", "a"},
        {"malloc(name=a);host=malloc(name=b)", "b"},
        {"malloc(name=a);cuda:0=bfc", "a"},
        {"malloc(name=a);cuda=bfc;hip:2=bfc;host=malloc(name=c)", "c"},
        {"host=malloc(name=d)", "d"},
        {";host=malloc(name=d)", "d"},
        {"malloc+limit(limit=1K,name=e)", "e"}, /* '=' inside parentheses names no device */
        {"malloc(name=a;b)", "a;b"},
        {"cuda:0=malloc;malloc(name=a)", NULL}, /* the one for all comes first */
        {"host=malloc;host=malloc", NULL},      /* twice */
        {"malloc;cuda:0=", NULL},               /* nothing */
        {"malloc;gpu=malloc", NULL},            /* no device */
        {"malloc;", NULL},                      /* a second one for all */
        {"no-such-kind", NULL},
        {"malloc+limit", NULL},
        {"malloc+limit(limit=x)", NULL},
        {"segment(size=64TiB)", NULL}, /* understood, and more than there can be */
        {"malloc+malloc", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        JSCOPED_TRACE("JALLOC_ALLOCATOR=%s", rows[i].value);
        jtest_setenv("JALLOC_ALLOCATOR", rows[i].value);
        jallocator_t *allocator = NULL;
        const jstatus_t status = jprocess_get_allocator(NULL, &allocator);
        if (rows[i].name != NULL) {
            JEXPECT_OK(status);
            JEXPECT_STREQ(jallocator_name(allocator), rows[i].name);
        } else {
            JEXPECT_STATUS(status, JSTATUS_INVALID_CONFIGURATION);
            JEXPECT_SUBSTR(jstatus_last_message(), "JALLOC_ALLOCATOR");
            JEXPECT_SUBSTR(jstatus_last_message(), rows[i].value);
            JEXPECT_NULL(allocator);
        }
        JEXPECT_OK(ji_process_reset());
    }
    char long_value[2000];
    memset(long_value, 'm', sizeof long_value - 1);
    long_value[sizeof long_value - 1] = '\0';
    jtest_setenv("JALLOC_ALLOCATOR", long_value);
    jallocator_t *allocator;
    JEXPECT_STATUS(jprocess_get_allocator(NULL, &allocator), JSTATUS_INVALID_CONFIGURATION);
}

/* Pinned memory where there is a GPU, ordinary memory where there is none. */
JTEST(Process, GpuCompatibleMemory) {
    jtest_setenv("JALLOC_ALLOCATOR", "malloc(name=plain)+limit(limit=1M,name=top)");
    jmemory_request_t request = JMEMORY_REQUEST_INIT;
    request.gpu_compatible = true;
    jallocator_t *allocator = get(&request);
    jdevice_t *gpu = NULL;
    void *pointer;
    jallocation_t block = JALLOCATION_INIT;
    JASSERT_OK(jallocator_allocate(allocator, 100, 0, NULL, &pointer));
    JEXPECT_OK(jallocation_find(pointer, &block));
    JEXPECT_EQ(get(&request), allocator);
    if (jdevice_get("cuda", &gpu) == JSTATUS_SUCCESS ||
        jdevice_get("hip", &gpu) == JSTATUS_SUCCESS) {
        JEXPECT_NE(allocator, get(NULL));
        JEXPECT_EQ(jallocator_memory_kind(block.allocator), JMEMORY_PINNED);
        JEXPECT_EQ(jallocator_device(block.allocator), gpu);
        request.numa_node = 0;
        JEXPECT_STATUS(jprocess_get_allocator(&request, &allocator), JSTATUS_INVALID_VALUE);
        allocator = block.allocator;
    } else {
        JEXPECT_EQ(allocator, get(NULL));
        JEXPECT_EQ(jallocator_memory_kind(block.allocator), JMEMORY_DEVICE);
        JEXPECT_EQ(jallocator_device(block.allocator), jdevice_host());
    }
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    JEXPECT_OK(ji_process_reset());
}

/* The node's provider takes the place of the one that the text begins with. */
JTEST(Process, NumaNodes) {
    if (!has_kind("numa"))
        JSKIP("there is no numa");
    jmemory_request_t request = JMEMORY_REQUEST_INIT;
    static const char *const texts[] = {"malloc", "malloc+limit(limit=1M)", "limit(limit=1M)",
                                        " malloc (name=x) + lock"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        JSCOPED_TRACE("JALLOC_ALLOCATOR=%s", texts[i]);
        jtest_setenv("JALLOC_ALLOCATOR", texts[i]);
        request.numa_node = 0;
        jallocator_t *on_node = get(&request), *bottom = on_node;
        JEXPECT_NE(on_node, get(NULL));
        JEXPECT_EQ(on_node, get(&request));
        while (jallocator_below(bottom) != NULL)
            bottom = jallocator_below(bottom);
        JEXPECT_STREQ(jallocator_name(bottom), "numa");
        JEXPECT_EQ(on_node == bottom, i == 0);
        void *pointer;
        JEXPECT_OK(jallocator_allocate(on_node, 100, 0, NULL, &pointer));
        JEXPECT_OK(jallocator_deallocate(on_node, pointer, 100, NULL));
        request.numa_node = 100000;
        JEXPECT_STATUS(jprocess_get_allocator(&request, &on_node), JSTATUS_NOT_FOUND);
        JEXPECT_OK(ji_process_reset());
    }
}

JTEST(Process, ResetIsRefusedWhileSomethingIsLive) {
    jtest_setenv("JALLOC_ALLOCATOR", "malloc(name=busy)");
    jallocator_t *allocator = get(NULL);
    void *pointer;
    JASSERT_OK(jallocator_allocate(allocator, 100, 0, NULL, &pointer));
    JEXPECT_STATUS(ji_process_reset(), JSTATUS_BUSY);
    JEXPECT_SUBSTR(jstatus_last_message(), "\"busy\"");
    JEXPECT_EQ(get(NULL), allocator);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    JEXPECT_OK(ji_process_reset());
}

JTEST(Process, ItsAllocatorsAreNobodyElsesToDestroy) {
    jallocator_t *allocator, *again, *above;
    JASSERT_OK(jprocess_get_allocator(NULL, &allocator));
    JEXPECT_STATUS(jallocator_destroy(allocator), JSTATUS_BUSY);
    JEXPECT_OK(jprocess_get_allocator(NULL, &again));
    JEXPECT_EQ(again, allocator);
    JASSERT_OK(jallocator_create_track(allocator, NULL, &above));
    JEXPECT_STATUS(ji_process_reset(), JSTATUS_BUSY); /* somebody else keeps it too */
    JEXPECT_STATUS(jallocator_destroy(allocator), JSTATUS_BUSY);
    /* The process's is not destroyed with what stands on it either. */
    JEXPECT_OK(jallocator_own_below(above));
    JEXPECT_OK(jallocator_destroy(above));
    JEXPECT_OK(jprocess_get_allocator(NULL, &again));
    JEXPECT_EQ(again, allocator);
    JEXPECT_OK(ji_process_reset());
}

JTEST(Process, PointersAreFound) {
    jtest_setenv("JALLOC_ALLOCATOR", "malloc");
    jallocation_t block = JALLOCATION_INIT;
    jallocator_t *allocator = get(NULL);
    char *pointer;
    JASSERT_OK(jallocator_allocate(allocator, 100, 0, NULL, (void **)&pointer));
    JEXPECT_OK(jallocation_find(pointer + 99, &block)); /* anywhere in the block */
    JEXPECT_EQ(block.allocator, allocator);
    JEXPECT_EQ(block.size_bytes, 100);
    JEXPECT_EQ(jallocator_device(block.allocator), jdevice_host());
    JEXPECT_EQ(jallocator_memory_kind(block.allocator), JMEMORY_DEVICE);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    JEXPECT_STATUS(jallocation_find(&block, &block), JSTATUS_NOT_FOUND);
    JEXPECT_OK(ji_process_reset());
    JASSERT_OK(jallocator_create_device(jdevice_host(), JMEMORY_PINNED, &allocator));
    JASSERT_OK(jallocator_allocate(allocator, 100, 0, NULL, (void **)&pointer));
    JEXPECT_OK(jallocation_find(pointer, &block));
    JEXPECT_EQ(block.allocator, allocator);
    /* On the host ordinary memory, too. */
    JEXPECT_EQ(jallocator_memory_kind(allocator), JMEMORY_DEVICE);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

typedef struct asker {
    const jmemory_request_t *request;
    jtest_gate_t *gate; /* NULL: goes straight on */
} asker_t;
static void *get_in_thread(void *argument) {
    const asker_t *asker = argument;
    if (asker->gate != NULL)
        jtest_gate_pass(asker->gate);
    return get(asker->request);
}
JTEST(Process, FirstUseByManyThreadsGivesOne) {
    enum { THREADS = 8, ROUNDS = 10 };
    jtest_setenv("JALLOC_ALLOCATOR", "malloc+limit(limit=1M)+lock");
    jmemory_request_t request = JMEMORY_REQUEST_INIT;
    request.gpu_compatible = true; /* whose GPU is looked for, too */
    for (int round = 0; round < ROUNDS; ++round) {
        jtest_gate_t gate = JTEST_GATE_INIT;
        asker_t asker = {&request, &gate};
        pthread_t threads[THREADS];
        void *got[THREADS];
        for (int i = 0; i < THREADS; ++i)
            JASSERT_EQ(pthread_create(&threads[i], NULL, get_in_thread, &asker), 0);
        jtest_gate_open(&gate);
        for (int i = 0; i < THREADS; ++i) {
            pthread_join(threads[i], &got[i]);
            JEXPECT_EQ(got[i], got[0]);
        }
        JEXPECT_EQ(got[0], get(&request));
        JEXPECT_OK(ji_process_reset());
    }
}

JTEST(Process, WhoIsOvertakenThrowsHisOwnAway) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    asker_t asker = {NULL, NULL};
    pthread_t thread;
    void *later;
    jtest_stop_metadata_after(1, &gate);
    JASSERT_EQ(pthread_create(&thread, NULL, get_in_thread, &asker), 0);
    jtest_gate_await(&gate); /* it has found none, and begins to make one */
    jallocator_t *first = get(NULL);
    jtest_gate_open(&gate);
    pthread_join(thread, &later);
    JEXPECT_EQ(later, first);
    JEXPECT_EQ(get(NULL), first);
    JEXPECT_OK(ji_process_reset()); /* nothing of the other is left */
}

/* Of a GPU its own memory and managed memory, neither of which is on a NUMA node. */
JTEST(Process, EachMemoryOfADeviceHasItsOwn) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    jmemory_request_t request = JMEMORY_REQUEST_INIT;
    request.device = &gpu->device;
    jallocator_t *own = get(&request);
    request.managed = true;
    jallocator_t *managed = get(&request);
    JASSERT_TRUE(own != NULL && managed != NULL);
    JEXPECT_NE(managed, own);
    JEXPECT_NE(own, get(NULL));
    JEXPECT_EQ(managed, get(&request));
    JEXPECT_EQ(jallocator_device(managed), &gpu->device);
    void *pointer;
    jallocation_t block = JALLOCATION_INIT;
    JASSERT_OK(jallocator_allocate(managed, 100, 0, NULL, &pointer));
    JEXPECT_OK(jallocation_find(pointer, &block));
    JEXPECT_EQ(jallocator_memory_kind(block.allocator), JMEMORY_MANAGED);
    JEXPECT_OK(jallocator_deallocate(managed, pointer, 100, NULL));
    request.managed = false;
    JEXPECT_EQ(own, get(&request));
    request.numa_node = 0;
    jallocator_t *none = NULL;
    JEXPECT_STATUS(jprocess_get_allocator(&request, &none), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "cannot be placed on NUMA node 0");
    JEXPECT_NULL(none);
    JEXPECT_OK(ji_process_reset());
    JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
}

JTEST(Process, EachFailedAllocationOfBookkeepingLosesNothing) {
    /* NULL: nothing is said */
    static const char *const texts[] = {NULL, "malloc+limit(limit=1M)+lock"};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; ++k) {
        if (texts[k] != NULL)
            jtest_setenv("JALLOC_ALLOCATOR", texts[k]);
        JFOR_EACH_FAILURE(i) {
            jallocator_t *allocator = NULL;
            const jstatus_t status = jprocess_get_allocator(NULL, &allocator);
            JEXPECT_STATUS(status,
                           jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            JEXPECT_EQ(allocator != NULL, status == JSTATUS_SUCCESS);
            if (status != JSTATUS_SUCCESS && texts[k] == NULL) /* it is no text's fault */
                JEXPECT_NULL(strstr(jstatus_last_message(), "JALLOC_ALLOCATOR"));
            JEXPECT_OK(ji_process_reset());
        }
    }
}

JTEST(Process, AProgramSetsItsOwn) {
    jallocator_t *mine, *other;
    JASSERT_OK(jallocator_create_malloc(&mine));
    JASSERT_OK(jallocator_create_mmap(&other));
    jmemory_request_t request = JMEMORY_REQUEST_INIT;
    JEXPECT_STATUS(jprocess_set_allocator(NULL, NULL), JSTATUS_INVALID_POINTER);
    request.struct_size = 1;
    JEXPECT_STATUS(jprocess_set_allocator(&request, mine), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jprocess_set_allocator(NULL, mine));
    JEXPECT_EQ(get(NULL), mine);
    JEXPECT_STATUS(jallocator_destroy(mine), JSTATUS_BUSY); /* the process keeps it */
    JEXPECT_OK(jprocess_set_allocator(NULL, mine));         /* it is */
    JEXPECT_STATUS(jprocess_set_allocator(NULL, other), JSTATUS_EXISTS);
    JEXPECT_EQ(get(NULL), mine);

    request = (jmemory_request_t)JMEMORY_REQUEST_INIT;
    request.numa_node = 0;
    JEXPECT_OK(jprocess_set_allocator(&request, other)); /* another sort of memory */
    JEXPECT_EQ(get(&request), other);
    JEXPECT_OK(ji_process_reset());
    JEXPECT_OK(jallocator_destroy(mine)); /* the program's again */
    JEXPECT_OK(jallocator_destroy(other));
}

JTEST(Process, WhatWasHandedOutIsNotExchanged) {
    jallocator_t *mine;
    JASSERT_OK(jallocator_create_malloc(&mine));
    jallocator_t *given = get(NULL);
    JEXPECT_STATUS(jprocess_set_allocator(NULL, mine), JSTATUS_EXISTS);
    JEXPECT_EQ(get(NULL), given);
    JEXPECT_OK(jallocator_destroy(mine));
    JEXPECT_OK(ji_process_reset());
}

JTEST(Process, SettingWithoutMetadataLeavesAllAsItWas) {
    jallocator_t *mine;
    JASSERT_OK(jallocator_create_malloc(&mine));
    JFOR_EACH_FAILURE(i) {
        const jstatus_t status = jprocess_set_allocator(NULL, mine);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_OK(ji_process_reset());
    }
    JEXPECT_OK(jallocator_destroy(mine));
}
