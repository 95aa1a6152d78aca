/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A handle for each thread that calls, and the budget that all of them share.
 *
 *     first call of a thread     makes its handle, with JALLOC_DEVICE_MEMORY_SIZE and the rest of
 *                                the environment as any handle has it; JALLOC_BUDGET bounds what
 *                                the handles of all threads hold together
 *     the thread's end           destroys it. Later calls, from other destructors of the thread,
 *                                have no handle
 *     a fork                     the child makes its own: handles, and the budget, of which the
 *                                parent's other threads would keep their part for ever
 *     the process's end          nothing: destructors of static objects may still call
 *
 * The library stays where it is when it is closed (it is linked so), since threads of the team and
 * this file's destructor are in it.
 *
 * What holds of process: what is not NULL is whole, and stays until a child forgets it. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "blas/routine/setup.h"
#include "core/core.h"
#include "dropin/dropin.h"
#include "dropin/report.h"
#include "jalloc/config.h"
#include "jalloc/log.h"
#include "jalloc/provider.h"
#include "jalloc/quota.h"
#include "memory/compose/compose.h"

_Thread_local jhandle_t *ji_dropin_thread_handle;
static _Thread_local bool thread_has_ended __attribute__((tls_model("initial-exec")));

static struct {
    pthread_once_t once; /* key and fork handler */
    pthread_key_t key;   /* its destructor ends a thread's handle */
    bool has_key;

    pthread_mutex_t lock;    /* around what follows */
    jallocator_t *allocator; /* every handle's */
    jquota_t *quota;         /* of which that is a share */

    atomic_bool misconfigured; /* what the environment asks for cannot be, and that was said */
} process = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- The process ---- */

static void thread_end(void *handle) {
    ji_dropin_thread_handle = NULL;
    thread_has_ended = true;
    ji_dropin_report_ends(handle);
    (void)jhandle_destroy(handle);
}

/* The child has one thread, and another may have held the lock. */
static void process_forget(void) {
    pthread_mutex_init(&process.lock, NULL);
    process.allocator = NULL;
    ji_dropin_report_forget();
}

static void process_start(void) {
    ji_host_own_alone = true;
    process.has_key = pthread_key_create(&process.key, thread_end) == 0 &&
                      pthread_atfork(NULL, NULL, process_forget) == 0;

    jconfig_entry_t blas = JCONFIG_ENTRY_INIT;
    if (jconfig_get(JCONFIG_JALLOC_HOST_BLAS, &blas) == JSTATUS_SUCCESS &&
        strcmp(blas.value, "cblas") == 0)
        jlog_write(JLOG_WARNING, __func__,
                   "JALLOC_HOST_BLAS=cblas is not followed: this library is a CBLAS itself, and "
                   "computes with its own kernels");
}

/* What a handle would take its workspace from, and the budget above it. */
static jstatus_t process_make_allocator(void) {
    jstatus_t status = JSTATUS_SUCCESS;
    jallocator_t *below = NULL;
    jquota_t *quota = NULL;
    jdevice_t *host = jdevice_host();
    jconfig_entry_t budget;
    size_t limit_bytes;

    JTRY(ji_config_require(JCONFIG_JALLOC_BUDGET, &budget));
    JTRY(jconfig_parse_device_size(budget.value, jdevice_name(host), &limit_bytes));
    JTRY(ji_process_compose(host, NULL, NULL, &below));
    if (below == NULL)
        JTRY(jallocator_create_device(host, JMEMORY_DEVICE, &below));

    JTRY(jquota_create(limit_bytes != 0 ? limit_bytes : JALLOC_UNLIMITED, &quota));
    JTRY(jallocator_create_quota(below, quota, NULL, &process.allocator));
    process.quota = quota;
    below = NULL, quota = NULL; /* for as long as the process lives */
done:
    (void)jquota_destroy(quota);
    (void)jallocator_destroy(below);
    return status;
}

static jstatus_t process_get_allocator(jallocator_t **allocator) {
    pthread_mutex_lock(&process.lock);
    jstatus_t status = process.allocator != NULL ? JSTATUS_SUCCESS : process_make_allocator();
    *allocator = process.allocator;
    pthread_mutex_unlock(&process.lock);
    return status;
}

/* ---- Handles ---- */

/* Same bits unless the environment says otherwise: a program does not expect its numbers to depend
 * on how much memory there is. */
static jresult_policy_t policy_by_default(void) {
    jconfig_entry_t policy = JCONFIG_ENTRY_INIT;
    const bool said = jconfig_get(JCONFIG_JALLOC_RESULT_POLICY, &policy) == JSTATUS_SUCCESS &&
                      policy.from_environment;
    return said ? JRESULT_POLICY_DEFAULT : JRESULT_POLICY_SAME_BITS;
}

static jstatus_t make_handle(jhandle_t **handle) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    JTRY_RETURN(process_get_allocator(&options.allocator));
    options.budget_bytes = JALLOC_UNLIMITED; /* of its own: the process's is below it */
    options.result_policy = policy_by_default();

    jstatus_t status = jhandle_create(&options, handle);
    if (status == JSTATUS_MEMORY_ERROR) { /* the budget does not hold what is to be preallocated */
        options.preallocate_bytes = JALLOC_NONE;
        status = jhandle_create(&options, handle);
    }
    return status;
}

/* Said once; calls then compute without workspace. It may be that no log can be had. */
static void say_misconfigured(void) {
    if (!atomic_exchange(&process.misconfigured, true))
        fprintf(stderr, "jalloc: %s; BLAS computes without workspace\n", jstatus_last_message());
}

/* NULL where there is none, or it could not be ended with its thread. */
static jhandle_t *make_handle_of_thread(void) {
    if (thread_has_ended || !process.has_key ||
        atomic_load_explicit(&process.misconfigured, memory_order_relaxed))
        return NULL;

    jhandle_t *handle;
    jstatus_t status = make_handle(&handle);
    if (status != JSTATUS_SUCCESS && status != JSTATUS_MEMORY_ERROR) /* which may pass */
        say_misconfigured();
    if (status != JSTATUS_SUCCESS)
        return NULL;

    if (pthread_setspecific(process.key, handle) != 0) {
        (void)jhandle_destroy(handle);
        return NULL;
    }
    return handle;
}

jhandle_t *ji_dropin_make_handle(void) {
    (void)pthread_once(&process.once, process_start);
    jhandle_t *handle = make_handle_of_thread();
    if (handle != NULL)
        ji_dropin_report_began(handle, process.quota);
    else
        ji_dropin_report_lacked();

    ji_dropin_thread_handle = handle;
    return handle;
}

jhandle_t *ji_dropin_renew_handle(void) {
    (void)jhandle_destroy(ji_dropin_thread_handle);
    ji_dropin_thread_handle = NULL;
    (void)pthread_setspecific(process.key, NULL);
    return ji_dropin_make_handle();
}
