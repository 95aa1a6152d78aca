/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The library is loaded, not linked, so that the tests run where it is not. Functions of the driver are told apart by
 * their names, which have been stable since its first versions, unlike the numbers that CUPTI gives them. */

#include "gpu_profiler.h"

#ifdef JALLOC_CUPTI_LIBRARY

#include <cupti.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static struct {
    CUptiResult (*subscribe)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *);
    CUptiResult (*enable_domain)(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain);
    CUptiResult (*unsubscribe)(CUpti_SubscriberHandle);
} cupti;

static CUpti_SubscriberHandle subscriber;
static atomic_uint_fast64_t calls, allocations, frees, waits;
static char first[64];

static void note(atomic_uint_fast64_t *counter, const char *name) {
    if (atomic_load(&allocations) + atomic_load(&frees) + atomic_load(&waits) == 0)
        snprintf(first, sizeof first, "%s", name);
    atomic_fetch_add(counter, 1);
}

static void CUPTIAPI on_call(void *context, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data) {
    (void)context, (void)domain, (void)id;
    const CUpti_CallbackData *call = data;
    if (call->callbackSite != CUPTI_API_ENTER)
        return;
    const char *name = call->functionName;
    atomic_fetch_add(&calls, 1);
    if (strstr(name, "MemAlloc") != NULL || strstr(name, "MemHostAlloc") != NULL || strstr(name, "MemCreate") != NULL)
        note(&allocations, name);
    else if (strstr(name, "MemFree") != NULL)
        note(&frees, name);
    else if (strstr(name, "Synchronize") != NULL || (strstr(name, "Memcpy") != NULL && strstr(name, "Async") == NULL))
        note(&waits, name);
}

bool gpu_profiler_start(void) {
    static bool looked;
    if (!looked) {
        void *library = dlopen(JALLOC_CUPTI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        looked = true;
        if (library != NULL) {
            *(void **)&cupti.subscribe = dlsym(library, "cuptiSubscribe");
            *(void **)&cupti.enable_domain = dlsym(library, "cuptiEnableDomain");
            *(void **)&cupti.unsubscribe = dlsym(library, "cuptiUnsubscribe");
        }
    }
    calls = allocations = frees = waits = 0;
    first[0] = '\0';
    if (cupti.subscribe == NULL || cupti.enable_domain == NULL || cupti.unsubscribe == NULL ||
        cupti.subscribe(&subscriber, on_call, NULL) != CUPTI_SUCCESS)
        return false;
    if (cupti.enable_domain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) == CUPTI_SUCCESS)
        return true;
    cupti.unsubscribe(subscriber);
    return false;
}

void gpu_profiler_stop(gpu_profile_t *profile) {
    cupti.unsubscribe(subscriber);
    *profile = (gpu_profile_t){calls, allocations, frees, waits, ""};
    memcpy(profile->first, first, sizeof first);
}

#else

bool gpu_profiler_start(void) { return false; }
void gpu_profiler_stop(gpu_profile_t *profile) { *profile = (gpu_profile_t){0}; }

#endif
