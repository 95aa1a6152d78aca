/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Runtime views.
 *
 * Processes and nodes are told by whoever makes the view and never change; memory, threads and
 * devices are looked up when it is made and at each refresh. What is looked up changes under the
 * view's lock, member by member, so that the members that never change are read without it. */

#include <stdio.h>

#include "buffer/buffer.h"
#include "core/node.h"

/* ---- What there is ---- */

static int runtime_count_threads(void) {
    const int processors = ji_node_processors(), quota = ji_node_quota("");
    return processors < quota ? processors : quota;
}

/* A device's memory. One that does not answer is shown without any, so that nothing is put there by
 * itself. */
static jstatus_t runtime_describe(jdevice_t *device, jruntime_device_t *described) {
    *described = (jruntime_device_t)JRUNTIME_DEVICE_INIT;
    described->device = device;

    size_t available = 0, total = 0;
    jstatus_t status = jdevice_get_memory_info(device, &available, &total);
    if (status != JSTATUS_SUCCESS) {
        jlog_write(JLOG_WARNING, described, "runtime: %s does not tell its memory: %s",
                   jdevice_name(device), jstatus_last_message());
        return status;
    }

    if (jdevice_kind(device) == JDEVICE_HOST)
        ji_node_confine("", &total, &available);
    described->total_bytes = total;
    described->available_bytes = available;
    return JSTATUS_SUCCESS;
}

/* The host and every GPU. Gives the first error; the others are described all the same. */
static jstatus_t runtime_find_devices(jruntime_device_t devices[], int *found) {
    jstatus_t first = runtime_describe(jdevice_host(), &devices[0]);
    *found = 1;

    for (int kind = JDEVICE_CUDA; kind <= JDEVICE_HIP; ++kind) {
        int count = 0;
        if (jdevice_get_count((jdevice_kind_t)kind, &count) != JSTATUS_SUCCESS)
            continue; /* there are none, and the message says why */

        for (int index = 0; index < count && *found < JI_RUNTIME_MAX_DEVICES; ++index) {
            char name[32];
            jdevice_t *device;
            snprintf(name, sizeof name, "%s:%d", kind == JDEVICE_CUDA ? "cuda" : "hip", index);

            if (jdevice_get(name, &device) != JSTATUS_SUCCESS)
                break;

            jstatus_t status = runtime_describe(device, &devices[(*found)++]);
            if (first == JSTATUS_SUCCESS)
                first = status;
        }
    }
    return first;
}

static jstatus_t runtime_look(jruntime_t *runtime) {
    jruntime_device_t devices[JI_RUNTIME_MAX_DEVICES];
    int found = 0;
    jstatus_t status = runtime_find_devices(devices, &found);
    const int threads = runtime_count_threads();

    ji_lock_acquire(&runtime->lock);
    runtime->info.threads = threads;
    runtime->info.devices = found;
    runtime->info.node_total_bytes = devices[0].total_bytes;
    runtime->info.node_available_bytes = devices[0].available_bytes;
    for (int i = 0; i < found; ++i)
        runtime->devices[i] = devices[i];
    ji_lock_release(&runtime->lock);
    return status;
}

/* ---- The table of a process by itself ---- */

static void none_destroy(jruntime_t *runtime) { (void)runtime; }

static jstatus_t none_agree(jruntime_t *runtime, ji_scope_t scope, jstatus_t status) {
    (void)runtime;
    (void)scope;
    return status;
}

static jstatus_t none_broadcast(jruntime_t *runtime, ji_scope_t scope, int root, jdevice_t *device,
                                void *bytes, size_t size_bytes) {
    (void)runtime;
    (void)scope;
    (void)root;
    (void)device;
    (void)bytes;
    (void)size_bytes;
    return JSTATUS_SUCCESS;
}

static const ji_runtime_ops_t none_ops = {
    .transport = "none", .destroy = none_destroy, .agree = none_agree, .broadcast = none_broadcast};

/* ---- Life ---- */

jstatus_t ji_runtime_make(const ji_runtime_ops_t *ops, void *state, const jruntime_info_t *info,
                          jruntime_t **out) {
    jstatus_t status = JSTATUS_SUCCESS;
    jruntime_t *runtime;
    JTRY_ALLOC(runtime = ji_metadata_zalloc(sizeof *runtime));

    runtime->ops = ops;
    runtime->state = state;
    runtime->info = *info;
    runtime->info.transport = ops->transport;
    ji_lock_init(&runtime->lock);

    /* A device that does not answer has been told of, and is no reason to do without. */
    (void)runtime_look(runtime);

    ji_object_enter(&runtime->object, JI_OBJECT_RUNTIME);
    *out = runtime;
done:
    return status;
}

jstatus_t jruntime_create(jruntime_t **runtime) {
    JREQUIRE(runtime != NULL, JSTATUS_INVALID_POINTER);

    jruntime_info_t info = JRUNTIME_INFO_INIT;
    info.processes = 1;
    info.nodes = 1;
    info.node_processes = 1;
    return ji_runtime_make(&none_ops, NULL, &info, runtime);
}

static jstatus_t runtime_release(jruntime_t *runtime, ji_owner_t owner, const char *caller) {
    bool last;
    jstatus_t status = ji_object_release(runtime, JI_OBJECT_RUNTIME, owner, caller, &last);
    if (last) {
        runtime->ops->destroy(runtime);
        ji_lock_fini(&runtime->lock);
        ji_metadata_free(runtime);
    }
    return status;
}

jstatus_t jruntime_retain(jruntime_t *runtime) {
    return ji_object_retain(runtime, JI_OBJECT_RUNTIME, JI_OWNER_PROGRAM, __func__);
}

jstatus_t jruntime_release(jruntime_t *runtime) {
    return runtime == NULL ? JSTATUS_SUCCESS : runtime_release(runtime, JI_OWNER_PROGRAM, __func__);
}

jstatus_t ji_runtime_hold(jruntime_t *runtime) {
    return ji_object_retain(runtime, JI_OBJECT_RUNTIME, JI_OWNER_LIBRARY, __func__);
}

jstatus_t ji_runtime_drop(jruntime_t *runtime) {
    return runtime_release(runtime, JI_OWNER_LIBRARY, __func__);
}

/* ---- Questions ---- */

jstatus_t jruntime_refresh(jruntime_t *runtime) {
    jstatus_t status = ji_object_check(runtime, JI_OBJECT_RUNTIME, __func__);
    return status == JSTATUS_SUCCESS ? runtime_look(runtime) : status;
}

jstatus_t jruntime_get_info(const jruntime_t *runtime, jruntime_info_t *info) {
    JREQUIRE(info != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jruntime_info_t, info, transport));
    JTRY_RETURN(ji_object_check(runtime, JI_OBJECT_RUNTIME, __func__));

    ji_lock_t *lock = (ji_lock_t *)&runtime->lock; /* no part of what is seen */
    ji_lock_acquire(lock);
    JI_GIVE_RESULT(info, &runtime->info);
    ji_lock_release(lock);
    return JSTATUS_SUCCESS;
}

jstatus_t jruntime_get_device(const jruntime_t *runtime, int index, jruntime_device_t *device) {
    JREQUIRE(device != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jruntime_device_t, device, device));
    JTRY_RETURN(ji_object_check(runtime, JI_OBJECT_RUNTIME, __func__));

    ji_lock_t *lock = (ji_lock_t *)&runtime->lock; /* no part of what is seen */
    ji_lock_acquire(lock);

    const int count = runtime->info.devices;
    const bool is_one = index >= 0 && index < count;
    if (is_one)
        JI_GIVE_RESULT(device, &runtime->devices[index]);

    ji_lock_release(lock);
    if (!is_one)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: there is no device %d: the runtime has %d",
                       __func__, index, count);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_runtime_agree_on(jruntime_t *runtime, jstatus_t status, uint64_t arguments) {
    return runtime->ops->agree_on != NULL ? runtime->ops->agree_on(runtime, status, arguments)
                                          : runtime->ops->agree(runtime, JI_SCOPE_ALL, status);
}

jstatus_t jruntime_agree(jruntime_t *runtime, jstatus_t status) {
    jstatus_t found = ji_object_check(runtime, JI_OBJECT_RUNTIME, __func__);
    return found == JSTATUS_SUCCESS ? runtime->ops->agree(runtime, JI_SCOPE_ALL, status) : found;
}
