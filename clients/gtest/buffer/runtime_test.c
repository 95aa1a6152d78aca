/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Runtime views: what they say of the world against other sources, references, misuse,
 * agreement. */

#include "core/node.h"
#include "pretend_gpu.h"
#include "pretend_runtime.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static jruntime_t *make_runtime(void) {
    jruntime_t *runtime = NULL;
    JEXPECT_OK(jruntime_create(&runtime));
    return runtime;
}

JTEST(Runtime, AProcessByItselfIsOneOfOne) {
    jruntime_t *runtime = make_runtime();
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    JASSERT_OK(jruntime_get_info(runtime, &info));
    JEXPECT_EQ(info.struct_size, sizeof info);
    JEXPECT_STREQ(info.transport, "none");
    JEXPECT_EQ(info.processes, 1);
    JEXPECT_EQ(info.rank, 0);
    JEXPECT_EQ(info.nodes, 1);
    JEXPECT_EQ(info.node, 0);
    JEXPECT_EQ(info.node_processes, 1);
    JEXPECT_EQ(info.node_rank, 0);
    JEXPECT_GE(info.devices, 1);
    JEXPECT_GT(info.node_available_bytes, 0);
    JEXPECT_LE(info.node_available_bytes, info.node_total_bytes);
    JEXPECT_LE(info.node_total_bytes,
               (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE));
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Runtime, TheHostIsDeviceNumberZeroWithTheNodesMemory) {
    jruntime_t *runtime = make_runtime();
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    jruntime_device_t device = JRUNTIME_DEVICE_INIT;
    JASSERT_OK(jruntime_get_info(runtime, &info));
    JASSERT_OK(jruntime_get_device(runtime, 0, &device));
    JEXPECT_EQ(device.struct_size, sizeof device);
    JEXPECT_EQ(device.device, jdevice_host());
    JEXPECT_EQ(device.total_bytes, info.node_total_bytes);
    JEXPECT_EQ(device.available_bytes, info.node_available_bytes);
    JEXPECT_OK(jruntime_release(runtime));
}

/* Every device there is, in order of kind and number. */
JTEST(Runtime, ListsTheGpusBehindTheHost) {
    jruntime_t *runtime = make_runtime();
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    JASSERT_OK(jruntime_get_info(runtime, &info));
    int next = 1;
    for (int kind = JDEVICE_CUDA; kind <= JDEVICE_HIP; ++kind) {
        int count = 0;
        if (jdevice_get_count((jdevice_kind_t)kind, &count) != JSTATUS_SUCCESS)
            count = 0;
        for (int i = 0; i < count; ++i, ++next) {
            jruntime_device_t device = JRUNTIME_DEVICE_INIT;
            JASSERT_OK(jruntime_get_device(runtime, next, &device));
            JEXPECT_EQ(jdevice_kind(device.device), kind);
            JEXPECT_EQ(jdevice_index(device.device), i);
            JEXPECT_LE(device.available_bytes, device.total_bytes);
        }
    }
    JEXPECT_EQ(info.devices, next);
    JEXPECT_OK(jruntime_release(runtime));
}

static void count_threads(void *argument) {
    (void)argument;
    cpu_set_t allowed, one;
    JASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    jruntime_t *runtime = make_runtime();
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    JASSERT_OK(jruntime_get_info(runtime, &info));
    const int quota = ji_node_quota(""), threads = CPU_COUNT(&allowed);
    JEXPECT_EQ(info.threads, threads < quota ? threads : quota);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &allowed))
        ++cpu;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    JASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    JEXPECT_OK(jruntime_get_info(runtime, &info));
    JEXPECT_EQ(info.threads, threads < quota ? threads : quota); /* as of the last refresh */
    JEXPECT_OK(jruntime_refresh(runtime));
    JEXPECT_OK(jruntime_get_info(runtime, &info));
    JEXPECT_EQ(info.threads, 1);
    JEXPECT_OK(jruntime_release(runtime));
}
JTEST(Runtime, ThreadsAreTheProcessorsThatItMayRunOn) { jtest_in_child(30, count_threads, NULL); }

/* All that are online, where that cannot be asked, and one at least. */
JTEST(Runtime, ThereIsAThreadWhateverTheSystemSays) {
    jruntime_t *runtime = make_runtime();
    jtest_fail_calls("sched_getaffinity", 1, 1, EINVAL);
    JEXPECT_OK(jruntime_refresh(runtime));
    JEXPECT_TRUE(jtest_calls_failed());
    const int quota = ji_node_quota(""), online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    JEXPECT_EQ(runtime->info.threads, online < quota ? online : quota);
    jtest_fail_calls("sched_getaffinity", 1, 1, 0); /* succeeds with no processor */
    JEXPECT_OK(jruntime_refresh(runtime));
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_EQ(runtime->info.threads, 1);
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Runtime, RefreshLooksAtMemoryAndDevicesAgain) {
    jruntime_t *runtime = make_runtime();
    const int devices = runtime->info.devices;
    const size_t total = runtime->info.node_total_bytes;
    const jruntime_device_t nothing = JRUNTIME_DEVICE_INIT;
    pretend_runtime_set_memory(runtime, 1, 1, &nothing);
    runtime->info.node_total_bytes = 2;
    JEXPECT_OK(jruntime_refresh(runtime));
    JEXPECT_EQ(runtime->info.devices, devices);
    JEXPECT_EQ(runtime->info.node_total_bytes, total);
    JEXPECT_GT(runtime->info.node_available_bytes, 1);
    JEXPECT_EQ(runtime->info.processes, 1);
    JEXPECT_OK(jruntime_release(runtime));
}

/* ---- References and misuse ---- */

JTEST(Runtime, EndsWithItsLastReference) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 3, true));
    JEXPECT_OK(jruntime_retain(pretend.runtime));
    JEXPECT_OK(jruntime_release(pretend.runtime));
    JEXPECT_EQ(pretend.ended, 0);
    JEXPECT_OK(jruntime_release(pretend.runtime));
    JEXPECT_EQ(pretend.ended, 1);
    JEXPECT_STATUS(jruntime_release(pretend.runtime), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(pretend.ended, 1);
    JEXPECT_OK(jruntime_release(NULL));
}

static void expect_no_runtime(jruntime_t *runtime, jstatus_t status) {
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    jruntime_device_t device = JRUNTIME_DEVICE_INIT;
    JEXPECT_STATUS(jruntime_refresh(runtime), status);
    JEXPECT_STATUS(jruntime_get_info(runtime, &info), status);
    JEXPECT_STATUS(jruntime_get_device(runtime, 0, &device), status);
    JEXPECT_STATUS(jruntime_retain(runtime), status);
    JEXPECT_STATUS(jruntime_agree(runtime, JSTATUS_SUCCESS), status);
    JEXPECT_NULL(info.transport);
    JEXPECT_NULL(device.device);
    if (runtime != NULL)
        JEXPECT_STATUS(jruntime_release(runtime), status);
}

JTEST(Runtime, WhatIsNoRuntimeIsAStatus) {
    jruntime_t *runtime = make_runtime();
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
    char foreign[sizeof(jruntime_t)];
    memset(foreign, 0x5a, sizeof foreign);
    expect_no_runtime(NULL, JSTATUS_INVALID_POINTER);
    expect_no_runtime((jruntime_t *)(void *)foreign, JSTATUS_NOT_FOUND);
    expect_no_runtime((jruntime_t *)1, JSTATUS_NOT_FOUND);
    /* Live, but another kind of object. */
    expect_no_runtime((jruntime_t *)allocator, JSTATUS_NOT_FOUND);
    expect_no_runtime((jruntime_t *)((char *)runtime + 8), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "runtime");
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
    expect_no_runtime(runtime, JSTATUS_NOT_FOUND);
}

JTEST(Runtime, ArgumentsAreChecked) {
    jruntime_t *runtime = make_runtime();
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    jruntime_device_t device = JRUNTIME_DEVICE_INIT;
    JEXPECT_STATUS(jruntime_create(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jruntime_get_info(runtime, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jruntime_get_device(runtime, 0, NULL), JSTATUS_INVALID_POINTER);
    info.struct_size = sizeof(size_t);
    device.struct_size = sizeof(size_t);
    JEXPECT_STATUS(jruntime_get_info(runtime, &info), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jruntime_get_device(runtime, 0, &device), JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(info.transport);
    JEXPECT_NULL(device.device);
    device.struct_size = sizeof device;
    JEXPECT_STATUS(jruntime_get_device(runtime, -1, &device), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jruntime_get_device(runtime, runtime->info.devices, &device),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "there is no device");
    JEXPECT_NULL(device.device);
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Runtime, AgreesByItselfWithWhateverItIs) {
    jruntime_t *runtime = make_runtime();
    const jstatus_t statuses[] = {JSTATUS_SUCCESS, JSTATUS_PERF_DEGRADED, JSTATUS_MEMORY_ERROR,
                                  JSTATUS_NOT_FOUND};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; ++i)
        JEXPECT_STATUS(jruntime_agree(runtime, statuses[i]), statuses[i]);
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Runtime, AgreementOfAllGoesThroughItsTable) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 2, false));
    JEXPECT_OK(jruntime_agree(pretend.runtime, JSTATUS_SUCCESS));
    JEXPECT_EQ(pretend.agreements[JI_SCOPE_ALL], 1);
    pretend.fail_in = 1;
    pretend.fail_with = JSTATUS_IO_ERROR;
    JEXPECT_STATUS(jruntime_agree(pretend.runtime, JSTATUS_SUCCESS), JSTATUS_IO_ERROR);
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(Runtime, NothingIsLostWhenBookkeepingFails) {
    JFOR_EACH_FAILURE(i) {
        jruntime_t *runtime = NULL;
        const jstatus_t status = jruntime_create(&runtime);
        if (jtest_metadata_failed()) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            JEXPECT_NULL(runtime);
        } else {
            JEXPECT_OK(status);
            JEXPECT_OK(jruntime_release(runtime));
        }
    }
}

/* ---- Threads ---- */

#define THREADS 4

static void *use_runtime(void *argument) {
    jruntime_t *runtime = argument;
    for (int64_t i = 0; i < jtest_iterations(300); ++i) {
        jruntime_info_t info = JRUNTIME_INFO_INIT;
        jruntime_device_t device = JRUNTIME_DEVICE_INIT;
        JEXPECT_OK(jruntime_retain(runtime));
        if (i % 50 == 0)
            JEXPECT_OK(jruntime_refresh(runtime));
        JEXPECT_OK(jruntime_get_info(runtime, &info));
        JEXPECT_LE(info.node_available_bytes, info.node_total_bytes);
        JEXPECT_OK(jruntime_get_device(runtime, info.devices - 1, &device));
        JEXPECT_OK(jruntime_release(runtime));
    }
    JEXPECT_OK(jruntime_release(runtime));
    return NULL;
}

JTEST(Runtime, ThreadsAskRefreshAndCountReferences) {
    jruntime_t *runtime = make_runtime();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        JASSERT_OK(jruntime_retain(runtime));
        JASSERT_EQ(pthread_create(&threads[i], NULL, use_runtime, runtime), 0);
    }
    JEXPECT_OK(jruntime_release(runtime));
    for (int i = 0; i < THREADS; ++i)
        JEXPECT_EQ(pthread_join(threads[i], NULL), 0);
    JEXPECT_STATUS(jruntime_retain(runtime), JSTATUS_NOT_FOUND);
}

/* Objects come and go in all threads at once while others ask for what is not there. */
static void *make_runtimes(void *argument) {
    (void)argument;
    for (int64_t i = 0; i < jtest_iterations(100); ++i) {
        jruntime_t *runtimes[3];
        for (int k = 0; k < 3; ++k)
            JEXPECT_OK(jruntime_create(&runtimes[k]));
        JEXPECT_STATUS(jruntime_retain((jruntime_t *)(runtimes[1] + 1)), JSTATUS_NOT_FOUND);
        for (int k = 0; k < 3; ++k)
            JEXPECT_OK(jruntime_release(runtimes[(k + i) % 3]));
    }
    return NULL;
}

JTEST(Runtime, ThreadsMakeTheirOwn) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, make_runtimes, NULL), 0);
    for (int i = 0; i < THREADS; ++i)
        JEXPECT_EQ(pthread_join(threads[i], NULL), 0);
}

/* More objects than the table has chains: each is found, and each is gone after its end, in any
 * order. */
JTEST(Runtime, ManyAtOnceAreToldApart) {
    enum { COUNT = 3000 };
    static jruntime_t *runtimes[COUNT];
    for (int i = 0; i < COUNT; ++i)
        JASSERT_OK(jruntime_create(&runtimes[i]));
    for (int i = COUNT - 1; i > 0; --i) { /* shuffled */
        const int64_t other = jtest_random_between(0, i);
        jruntime_t *runtime = runtimes[i];
        runtimes[i] = runtimes[other];
        runtimes[other] = runtime;
    }
    for (int i = 0; i < COUNT; ++i) {
        JASSERT_OK(jruntime_release(runtimes[i]));
        JASSERT_STATUS(jruntime_retain(runtimes[i]), JSTATUS_NOT_FOUND);
        if (i + 1 < COUNT)
            JASSERT_OK(jruntime_agree(runtimes[COUNT - 1], JSTATUS_SUCCESS));
    }
}
