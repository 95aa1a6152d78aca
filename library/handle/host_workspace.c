/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The host workspace: what a GPU's routine wants of the host's memory beside its workspace. Work
 * that was enqueued may still read it, so it is the handle's, pinned, and no call's own.
 *
 *     call 1   |--- uses ---|                                     event
 *     stream                 ====== what it enqueued ==============|
 *     call 2        waits for the event, and only then |--- uses ---|
 *
 * The processor writes it when a call enqueues, not when the stream gets there: so the order of a
 * stream does not keep the next call from what the last one still needs, and that one is waited
 * for. Calls that want no bytes are not held up. */

#include "handle/handle.h"

/* Waits until nothing that was enqueued needs the block. */
static jstatus_t host_wait(jhandle_t *handle) {
    ji_host_workspace_t *host = &handle->host;
    bool reached;
    if (!host->used)
        return JSTATUS_SUCCESS;

    JTRY_RETURN(jevent_query(host->event, &reached));
    if (!reached) {
        JTRY_RETURN(jevent_synchronize(host->event));
        ++handle->synchronization_count;
    }
    host->used = false;
    return JSTATUS_SUCCESS;
}

/* Exactly so many bytes. The new ones are taken before the old ones are given back. */
static jstatus_t host_resize(jhandle_t *handle, size_t size_bytes) {
    ji_host_workspace_t *host = &handle->host;
    void *taken = NULL;
    if (size_bytes == host->size_bytes)
        return JSTATUS_SUCCESS;

    JTRY_RETURN(host_wait(handle));
    if (host->event == NULL)
        JTRY_RETURN(ji_event_create_untimed(handle->device, &host->event));
    if (size_bytes > 0)
        JTRY_RETURN(jdevice_allocate(handle->device, JMEMORY_PINNED, size_bytes, 0, &taken));

    const jstatus_t status =
        jdevice_deallocate(handle->device, JMEMORY_PINNED, host->base, host->size_bytes);
    if (status != JSTATUS_SUCCESS) {
        (void)jdevice_deallocate(handle->device, JMEMORY_PINNED, taken, size_bytes);
        return status;
    }
    host->base = taken;
    host->size_bytes = size_bytes;
    return JSTATUS_SUCCESS;
}

static jstatus_t host_refuse(jhandle_t *handle, jstatus_t status, const char *caller, size_t bytes,
                             const char *why) {
    return jhandle_fail(handle, status, "%s: %zu bytes of host workspace, where %zu are held: %s",
                        caller, bytes, handle->host.size_bytes, why);
}

/* ---- For routines ---- */

void ji_host_workspace_ask(jhandle_t *handle, size_t size_bytes) {
    if (size_bytes > handle->host.query_bytes)
        handle->host.query_bytes = size_bytes;
}

static jstatus_t host_reserve(jhandle_t *handle, const char *routine, size_t size_bytes) {
    if (size_bytes <= handle->host.size_bytes)
        return JSTATUS_SUCCESS;
    if (handle->mode != JHANDLE_MODE_DEFAULT)
        return host_refuse(handle, JSTATUS_MEMORY_ERROR, routine, size_bytes,
                           "the mode does not grow; see jhandle_set_host_workspace_size()");
    if (handle->sealed)
        return host_refuse(handle, JSTATUS_SEALED, routine, size_bytes, "the handle is sealed");

    const jstatus_t status = host_resize(handle, size_bytes);
    return status == JSTATUS_SUCCESS
               ? status
               : host_refuse(handle, status, routine, size_bytes, jstatus_last_message());
}

jstatus_t ji_host_workspace_begin(jhandle_t *handle, const char *routine, size_t size_bytes,
                                  void **pointer) {
    ji_host_workspace_t *host = &handle->host;
    *pointer = NULL;
    if (size_bytes == 0)
        return JSTATUS_SUCCESS;

    JTRY_RETURN(host_reserve(handle, routine, size_bytes));
    const jstatus_t status = host_wait(handle);
    if (status != JSTATUS_SUCCESS)
        return host_refuse(handle, status, routine, size_bytes, jstatus_last_message());

    *pointer = host->base;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_host_workspace_end(jhandle_t *handle, const void *pointer) {
    if (pointer == NULL)
        return JSTATUS_SUCCESS;

    jstatus_t status = jevent_record(handle->host.event, handle->stream);
    handle->host.used = status == JSTATUS_SUCCESS;
    if (status != JSTATUS_SUCCESS) /* then nobody can tell later */
        status = ji_handle_wait(handle, handle->stream);
    return status == JSTATUS_SUCCESS
               ? status
               : jhandle_fail(handle, status, "host workspace: %s", jstatus_last_message());
}

/* ---- For the handle ---- */

jstatus_t ji_host_workspace_take_queried(jhandle_t *handle, const char *caller) {
    const size_t wanted = handle->host.query_bytes;
    if (wanted <= handle->host.size_bytes)
        return JSTATUS_SUCCESS;

    const jstatus_t status = host_resize(handle, wanted);
    return status == JSTATUS_SUCCESS
               ? status
               : host_refuse(handle, status, caller, wanted, jstatus_last_message());
}

jstatus_t ji_host_workspace_retire(jhandle_t *handle) { return host_resize(handle, 0); }

/* ---- For programs ---- */

jstatus_t jhandle_set_host_workspace_size(jhandle_t *handle, size_t size_bytes) {
    JTRY_RETURN(ji_handle_check_idle(handle, __func__));
    const jstatus_t status = host_resize(handle, size_bytes);
    return status == JSTATUS_SUCCESS
               ? status
               : host_refuse(handle, status, __func__, size_bytes, jstatus_last_message());
}
