/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The library is loaded, not linked, and neither is its header needed: the tests may be built where
 * CUPTI is not, and run where it lies elsewhere. Of its interface as little is used as can be,
 * which has been the same since CUDA 4. Functions of the driver are told apart by their names,
 * which are as old, unlike the numbers that CUPTI gives them. */

#include "gpu_profiler.h"
#include "gpu_device.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* As in cupti_callbacks.h. */
typedef struct CUpti_Subscriber_st *subscriber_t;
typedef struct callback_data {
    int site; /* 0: on the way in */
    const char *function;
} callback_data_t; /* and more */
#define DOMAIN_DRIVER_API 1u

static struct {
    int (*subscribe)(subscriber_t *, void (*)(void *, int, uint32_t, const void *), void *);
    int (*enable_domain)(uint32_t, subscriber_t, int);
    int (*unsubscribe)(subscriber_t);
} cupti;

/* By its binary interface, then where toolkits have it. */
static const char *const libraries[] = {
    "libcupti.so.13",
    "libcupti.so.12",
    "/usr/local/cuda/lib64/libcupti.so",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
    "libcupti.so",
};

static subscriber_t subscriber;
static atomic_uint_fast64_t calls, allocations, frees, waits;
static char first[64], reason[256];

static void note(atomic_uint_fast64_t *counter, const char *name) {
    if (atomic_load(&allocations) + atomic_load(&frees) + atomic_load(&waits) == 0)
        snprintf(first, sizeof first, "%s", name);
    atomic_fetch_add(counter, 1);
}

static void on_call(void *context, int domain, uint32_t id, const void *data) {
    (void)context, (void)domain, (void)id;
    const callback_data_t *call = data;
    if (call->site != 0)
        return;
    const char *name = call->function;
    atomic_fetch_add(&calls, 1);
    if (strstr(name, "MemAlloc") != NULL || strstr(name, "MemHostAlloc") != NULL ||
        strstr(name, "MemCreate") != NULL)
        note(&allocations, name);
    else if (strstr(name, "MemFree") != NULL)
        note(&frees, name);
    else if (strstr(name, "Synchronize") != NULL ||
             (strstr(name, "Memcpy") != NULL && strstr(name, "Async") == NULL))
        note(&waits, name);
}

/* One that this driver can be asked with. */
static bool find_library(void) {
    snprintf(reason, sizeof reason,
             "no CUPTI (libcupti.so.13, libcupti.so.12, nor below /usr/local/cuda)");
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; ++i) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            continue;
        *(void **)&cupti.subscribe = dlsym(library, "cuptiSubscribe");
        *(void **)&cupti.enable_domain = dlsym(library, "cuptiEnableDomain");
        *(void **)&cupti.unsubscribe = dlsym(library, "cuptiUnsubscribe");
        if (cupti.subscribe != NULL && cupti.enable_domain != NULL && cupti.unsubscribe != NULL) {
            const int error = cupti.subscribe(&subscriber, on_call, NULL);
            if (error == 0) {
                cupti.unsubscribe(subscriber);
                return true;
            }
            snprintf(reason, sizeof reason, "%s: cuptiSubscribe: error %d", libraries[i], error);
        }
    }
    return false;
}

bool gpu_profiler_start(void) {
    static bool looked, found;
    if (!looked) {
        if (gpu_fake() != NULL)
            snprintf(reason, sizeof reason, "the fake runtime counts for itself");
        else if (jdevice_kind(gpu_device()) != JDEVICE_CUDA)
            snprintf(reason, sizeof reason, "there is no profiler for this runtime");
        else
            found = find_library();
        looked = true;
    }
    if (!found)
        return false;
    calls = allocations = frees = waits = 0;
    first[0] = '\0';
    int error = cupti.subscribe(&subscriber, on_call, NULL);
    if (error == 0 && (error = cupti.enable_domain(1, subscriber, DOMAIN_DRIVER_API)) != 0)
        cupti.unsubscribe(subscriber);
    if (error != 0)
        snprintf(reason, sizeof reason, "CUPTI: error %d", error);
    return error == 0;
}

void gpu_profiler_stop(gpu_profile_t *profile) {
    cupti.unsubscribe(subscriber);
    *profile = (gpu_profile_t){calls, allocations, frees, waits, ""};
    memcpy(profile->first, first, sizeof first);
}

const char *gpu_profiler_reason(void) { return reason; }
