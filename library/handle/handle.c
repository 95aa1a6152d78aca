/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The handle's life and messages: what each call asks of a handle, how one is made, goes through a
 * fork, changes its stream and ends.
 *
 * A handle takes over what its options leave open from the environment, once, when it is made. What
 * it does not own it retains, so that it may outlive its caller's use of it. */

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handle/capture.h"
#include "memory/compose/compose.h"

static jstatus_t handle_check_thread(const jhandle_t *handle, const char *caller) {
    if (ji_handle_is_foreign(handle))
        return ji_fail(JSTATUS_BUSY,
                       "%s: the handle is in use by another thread, which holds %u borrows", caller,
                       ji_handle_depth(handle));
    return JSTATUS_SUCCESS;
}

jstatus_t ji_handle_check(const jhandle_t *handle, const char *caller) {
    const char *why;
    jstatus_t status = ji_handle_judge(handle, &why);
    return status == JSTATUS_SUCCESS ? handle_check_thread(handle, caller)
                                     : ji_fail(status, "%s: the handle %s", caller, why);
}

static jstatus_t handle_check_no_borrow(jhandle_t *handle, const char *caller) {
    if (ji_handle_depth(handle) == 0 || ji_handle_is_foreign(handle))
        return handle_check_thread(handle, caller);

    ++handle->misuse_count;
    const char *holder = handle->borrows.frame[-1].routine;
    return jhandle_fail(handle, JSTATUS_BUSY, "%s: %u borrows are live, the last of %s", caller,
                        ji_handle_depth(handle), holder ? holder : "(unnamed)");
}

jstatus_t ji_handle_check_idle(jhandle_t *handle, const char *caller) {
    jstatus_t status = ji_handle_check(handle, caller);
    return status == JSTATUS_SUCCESS ? handle_check_no_borrow(handle, caller) : status;
}

/* What the environment asks for, each variable checked even where an option overrides it. */
typedef struct handle_environment {
    size_t preallocate_bytes;
    size_t budget_bytes;
    jresult_policy_t result_policy;
    jaccuracy_t accuracy;
    unsigned layers;
    int threads;
} handle_environment_t;

/* Every variable is looked at, also those that are others' to read: a value that is not understood
 * is told here, where there is a status to tell it by, and not where it would have been needed. */
static jstatus_t handle_read_environment(const char *device_name,
                                         handle_environment_t *environment) {
    jconfig_entry_t entries[JI_CONFIG_COUNT];
    jstatus_t status;
    for (int which = 0; which < JI_CONFIG_COUNT; which++)
        JTRY(ji_config_require((jconfig_t)which, &entries[which]));

    JTRY(jconfig_parse_device_size(entries[JCONFIG_JALLOC_DEVICE_MEMORY_SIZE].value, device_name,
                                   &environment->preallocate_bytes));
    JTRY(jconfig_parse_device_size(entries[JCONFIG_JALLOC_BUDGET].value, device_name,
                                   &environment->budget_bytes));
    if (environment->budget_bytes == 0) /* as text */
        environment->budget_bytes = JALLOC_UNLIMITED;

    bool same_bits = strcmp(entries[JCONFIG_JALLOC_RESULT_POLICY].value, "same_bits") == 0;
    environment->result_policy = same_bits ? JRESULT_POLICY_SAME_BITS : JRESULT_POLICY_FAST;
    bool normwise = strcmp(entries[JCONFIG_JALLOC_ACCURACY].value, "normwise") == 0;
    environment->accuracy = normwise ? JACCURACY_NORMWISE : JACCURACY_COMPONENTWISE;

    environment->threads = (int)strtol(entries[JCONFIG_JALLOC_THREADS].value, NULL, 10);
    /* Valid: one digit. */
    environment->layers = (unsigned)(entries[JCONFIG_JALLOC_LAYER].value[0] - '0');
done:
    return status;
}

static jstatus_t handle_check_options(const jhandle_options_t *options, const jdevice_t *device) {
    const char *const caller = "jhandle_create";
    JREQUIRE_VALUE(options->pointer_mode == JPOINTER_MODE_HOST ||
                       options->pointer_mode == JPOINTER_MODE_DEVICE,
                   JSTATUS_INVALID_VALUE, caller, "pointer_mode", options->pointer_mode,
                   "must be JPOINTER_MODE_HOST (0) or JPOINTER_MODE_DEVICE (1)");
    JREQUIRE_VALUE((unsigned)options->result_policy <= JRESULT_POLICY_SAME_BITS,
                   JSTATUS_INVALID_VALUE, caller, "result_policy", options->result_policy,
                   "must be of jresult_policy_t");
    JREQUIRE_VALUE((unsigned)options->accuracy <= JACCURACY_NORMWISE, JSTATUS_INVALID_VALUE, caller,
                   "accuracy", options->accuracy, "must be of jaccuracy_t");
    JREQUIRE_VALUE(options->threads >= 0, JSTATUS_INVALID_VALUE, caller, "threads",
                   options->threads, "must be at least 0");
    JTRY_RETURN(ji_executor_check(options->executor));
    if (!ji_stream_is_of(options->stream, device))
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: the stream is not of %s", caller,
                       jdevice_name(device));
    if (options->allocator != NULL && jallocator_device(options->allocator) != device)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: the allocator is of %s, the handle of %s",
                       caller, jdevice_name(jallocator_device(options->allocator)),
                       jdevice_name(device));
    return JSTATUS_SUCCESS;
}

/* All handles of the process: a child marks those that it inherits, so that no call has to ask
 * whether there was a fork. The lock is held across the fork, so the list is whole in the child. Of
 * the threads only the one that forked is there: its borrows stay live, for their guards will end
 * them; those of the others have ended with their threads. */
static pthread_mutex_t handle_list_lock = PTHREAD_MUTEX_INITIALIZER;
static ji_list_t handle_list = JI_LIST_EMPTY(handle_list);
static uint64_t handle_last_number;

static void handle_list_before_fork(void) { pthread_mutex_lock(&handle_list_lock); }
static void handle_list_in_parent(void) { pthread_mutex_unlock(&handle_list_lock); }
static void handle_list_in_child(void) {
    JI_LIST_EACH(&handle_list, jhandle_t, handle, link) {
        handle->state = JI_HANDLE_FORKED;
        handle->borrows.fast_end = 0;
        if (ji_handle_is_foreign(handle))
            ji_handle_end_borrows(handle);
    }
    pthread_mutex_unlock(&handle_list_lock);
}
static void handle_list_watch_forks(void) {
    static const ji_fork_handlers_t handlers = {handle_list_before_fork, handle_list_in_parent,
                                                handle_list_in_child};
    ji_fork_hold(JI_FORK_HANDLES, &handlers);
}

static void handle_list_add(jhandle_t *handle) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, handle_list_watch_forks);
    pthread_mutex_lock(&handle_list_lock);
    ji_list_push_front(&handle_list, &handle->link);
    handle->number = ++handle_last_number;
    pthread_mutex_unlock(&handle_list_lock);
}

static void handle_list_remove(jhandle_t *handle) {
    pthread_mutex_lock(&handle_list_lock);
    ji_list_remove(&handle->link);
    pthread_mutex_unlock(&handle_list_lock);
}

/* Frees a handle, perhaps half built, that holds no workspace. */
static void handle_free(jhandle_t *handle) {
    if (handle == NULL)
        return;

    handle_list_remove(handle);
    if (handle->source != NULL)
        ji_capture_end(handle);
    else if (handle->owns_allocator)
        (void)jallocator_destroy(handle->allocator);
    else if (handle->allocator != NULL)
        (void)jallocator_release(handle->allocator);
    for (ji_watcher_t *watcher = handle->watchers, *next; watcher != NULL; watcher = next) {
        next = watcher->next;
        watcher->forget(watcher);
    }
    if (handle->query_watcher != NULL)
        handle->query_watcher->forget(handle->query_watcher);
    (void)jevent_destroy(handle->event);
    (void)jevent_destroy(handle->host.event);

    handle->state = JI_HANDLE_DESTROYED;
    handle->borrows.user = NULL;
    ji_metadata_free(handle);
}

static void handle_take_stream(jhandle_t *handle, jstream_t *stream) {
    handle->stream = stream;
    handle->runs_inline = stream == NULL && handle->device->kind == JDEVICE_HOST;
}

/* A GPU's memory in stream order, where its runtime has that, so that growing does not wait. */
static jstatus_t handle_make_allocator(jhandle_t *handle, bool has_stream_ordered) {
    jstatus_t status = ji_process_compose(handle->device, NULL, NULL, &handle->allocator);
    if (status == JSTATUS_SUCCESS && handle->allocator == NULL)
        status = jallocator_create_device(
            handle->device, has_stream_ordered ? JMEMORY_STREAM_ORDERED : JMEMORY_DEVICE,
            &handle->allocator);
    handle->owns_allocator = status == JSTATUS_SUCCESS;
    return status;
}

/* The device is set, and the rest of `borrows` is zero. */
static void handle_set_up_borrows(jhandle_t *handle) {
    handle->borrows.granule_mask = jdevice_granule_bytes(handle->device) - 1;
    handle->borrows.frame = handle->borrows.frames;
    for (uint32_t i = 0; i < JBORROW_FRAMES_; ++i)
        handle->borrows.frames[i].serial = i;
}

/* What the options say, or else the environment. The device is set. */
static void handle_set_up(jhandle_t *handle, const jhandle_options_t *options,
                          const handle_environment_t *environment,
                          const jdevice_properties_t *properties) {
    handle->state = JI_HANDLE_READY;
    handle_take_stream(handle, options->stream);
    handle->used_stream = options->stream;
    handle->can_be_captured = properties->has_capture;
    handle->graphs_can_own = properties->has_capture && properties->has_capture_ownership;
    handle->never_captured = options->never_captured;

    handle->pointer_mode = options->pointer_mode;
    handle->result_policy = options->result_policy != JRESULT_POLICY_DEFAULT
                                ? options->result_policy
                                : environment->result_policy;
    handle->accuracy =
        options->accuracy != JACCURACY_DEFAULT ? options->accuracy : environment->accuracy;
    handle->layers = environment->layers;
    handle->environment_threads = environment->threads;
    ji_handle_use_threads(handle, options->threads, options->executor);

    handle->budget_bytes = ji_option(options->budget_bytes, environment->budget_bytes);
    handle_set_up_borrows(handle);
    handle->block_count = 1;
}

void ji_handle_make_bare(jhandle_t *handle) {
    memset(handle, 0, sizeof *handle);
    ji_link_init(&handle->link);
    handle->device = jdevice_host();
    handle->state = JI_HANDLE_READY;
    handle_take_stream(handle, NULL);

    handle->result_policy = JRESULT_POLICY_SAME_BITS;
    handle->accuracy = JACCURACY_COMPONENTWISE;
    ji_handle_use_threads(handle, 1, NULL);

    handle_set_up_borrows(handle);
    handle->block_count = 1;
    handle->mode = JHANDLE_MODE_MANUAL;
}

static jstatus_t handle_preallocate(jhandle_t *handle, size_t size_bytes, const char *caller) {
    if (!ji_size_round_up(size_bytes, handle->borrows.granule_mask + 1, &size_bytes))
        return ji_fail(JSTATUS_INVALID_SIZE, "%s: the size to preallocate is too large", caller);

    ji_block_t block;
    ji_shared_block_t *shared;
    JTRY_RETURN(ji_workspace_take_fixed(handle, size_bytes, &block, &shared, caller));
    ji_workspace_adopt(handle, block, JHANDLE_MODE_PREALLOCATE);
    handle->shared = shared;
    return JSTATUS_SUCCESS;
}

jstatus_t jhandle_create(const jhandle_options_t *given, jhandle_t **out) {
    JREQUIRE(out != NULL, JSTATUS_INVALID_POINTER);
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    JTRY_RETURN(JI_TAKE_OPTIONS(jhandle_options_t, &options, given, device));
    jdevice_t *device = options.device != NULL ? options.device : jdevice_host();
    JTRY_RETURN(handle_check_options(&options, device));

    handle_environment_t environment;
    JTRY_RETURN(handle_read_environment(jdevice_name(device), &environment));
    jstatus_t status = JSTATUS_SUCCESS;

    jdevice_properties_t properties = JDEVICE_PROPERTIES_INIT;
    if (device->kind != JDEVICE_HOST) {
        JTRY_RETURN(jdevice_get_properties(device, &properties));
    }
    ji_capture_collect(NULL);

    jhandle_t *handle;
    JTRY_ALLOC(handle = ji_metadata_zalloc(sizeof *handle));
    ji_link_init(&handle->link);
    handle->device = device;
    handle_set_up(handle, &options, &environment, &properties);

    if (options.allocator != NULL) {
        (void)jallocator_retain(options.allocator);
        handle->allocator = options.allocator;
    } else {
        JTRY(handle_make_allocator(handle, properties.has_stream_ordered));
    }
    handle->takes_in_order = ji_allocator_takes_in_order(handle->allocator);

    size_t preallocate = ji_option(options.preallocate_bytes, environment.preallocate_bytes);
    if (preallocate != 0)
        JTRY(handle_preallocate(handle, preallocate, __func__));

    handle_list_add(handle);
    *out = handle;
    handle = NULL;
done:
    handle_free(handle);
    return status;
}

jstatus_t jhandle_destroy(jhandle_t *handle) {
    if (handle == NULL)
        return JSTATUS_SUCCESS;

    bool forked = ji_handle_is_valid(handle) && handle->state == JI_HANDLE_FORKED;
    JTRY_RETURN(forked ? handle_check_no_borrow(handle, __func__)
                       : ji_handle_check_idle(handle, __func__));

    if (forked) { /* the stream's thread is the parent's: there is nothing to wait for here */
        handle->waited_count = ji_handle_use_count(handle);
        ji_capture_forget_graphs(handle);
    }

    jstatus_t retired = forked ? JSTATUS_SUCCESS : ji_capture_may_end(handle);
    if (retired == JSTATUS_SUCCESS)
        retired = ji_workspace_retire(handle, __func__);
    if (retired == JSTATUS_SUCCESS && !forked) /* the runtime of the parent's has it */
        retired = ji_host_workspace_retire(handle);
    if (retired != JSTATUS_SUCCESS)
        return jhandle_fail(handle, retired, "%s: the workspace: %s", __func__,
                            jstatus_last_message());

    handle_free(handle);
    ji_capture_collect(NULL);
    return forked ? ji_fail(JSTATUS_FORKED, "%s: a handle of the parent's; released here alone",
                            __func__)
                  : JSTATUS_SUCCESS;
}

jstatus_t ji_handle_order(jhandle_t *handle, jstream_t *from, jstream_t *to) {
    jstatus_t status = JSTATUS_SUCCESS;
    /* The calling thread: to be behind is to wait. */
    if (to == NULL && handle->device->kind == JDEVICE_HOST)
        return ji_handle_wait(handle, from);

    if (handle->event == NULL)
        status = ji_event_create_untimed(handle->device, &handle->event);
    if (status == JSTATUS_SUCCESS)
        status = jevent_record(handle->event, from);
    if (status == JSTATUS_SUCCESS)
        status = jevent_wait(handle->event, to);
    return status;
}

/* Orders the workspace's last use and what comes in `stream`. Between a stream that is captured and
 * one that is not, or not into the same graph, no event can: then used_stream stays, and the first
 * borrow outside of captures comes to it. */
static jstatus_t handle_order_change(jhandle_t *handle, jstream_t *stream,
                                     jstream_t **used_stream) {
    uint64_t used = 0, next = 0;
    *used_stream = stream;
    jstatus_t status = ji_capture_of(handle, stream, &next);
    if (status == JSTATUS_SUCCESS)
        status = ji_capture_order(handle, next, stream);
    if (status != JSTATUS_SUCCESS || handle->used_stream == stream ||
        ji_handle_use_count(handle) == handle->waited_count)
        return status;

    JTRY_RETURN(ji_capture_of(handle, handle->used_stream, &used));
    if (used == 0 && next == 0)
        return ji_handle_order(handle, handle->used_stream, stream);
    *used_stream = handle->used_stream;
    return JSTATUS_SUCCESS;
}

jstatus_t jhandle_set_stream(jhandle_t *handle, jstream_t *stream) {
    JTRY_RETURN(ji_handle_check_idle(handle, __func__));

    if (!ji_stream_is_of(stream, handle->device))
        return jhandle_fail(handle, JSTATUS_INVALID_VALUE, "%s: the stream is not of %s", __func__,
                            jdevice_name(handle->device));
    if (stream == handle->stream)
        return JSTATUS_SUCCESS;

    ji_capture_collect(handle);
    jstream_t *used_stream;
    jstatus_t status = handle_order_change(handle, stream, &used_stream);
    if (status != JSTATUS_SUCCESS)
        return jhandle_fail(handle, status, "%s: ordering the streams: %s", __func__,
                            jstatus_last_message());

    handle->used_stream = used_stream;
    handle_take_stream(handle, stream);
    ji_handle_refresh(handle);
    return JSTATUS_SUCCESS;
}

jstatus_t jhandle_set_never_captured(jhandle_t *handle, bool never_captured) {
    jstatus_t status = ji_handle_check_idle(handle, __func__);
    if (status == JSTATUS_SUCCESS && never_captured && ji_capture_asks(handle)) {
        status = ji_capture_refuse(handle, handle->stream, __func__);
        if (status != JSTATUS_SUCCESS)
            return jhandle_fail(handle, status, "%s", jstatus_last_message());
        status = ji_capture_follow(handle, __func__);
    }

    if (status != JSTATUS_SUCCESS)
        return status;

    handle->never_captured = never_captured;
    ji_handle_refresh(handle);
    return JSTATUS_SUCCESS;
}

const char *jhandle_last_message(const jhandle_t *handle) {
    return ji_handle_is_valid(handle) ? handle->message : "";
}

jstatus_t jhandle_fail(jhandle_t *handle, jstatus_t status, const char *format, ...) {
    char message[sizeof handle->message];
    va_list arguments;

    va_start(arguments, format);
    /* Apart: the old message may be among the arguments. */
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);

    if (ji_handle_is_valid(handle) && !ji_handle_is_foreign(handle)) {
        memcpy(handle->message, message, sizeof message);
        handle->refused_number = 0;
    }

    jlog_write(JLOG_INFO, format, "%s: %s", jstatus_name(status), message);
    return ji_fail(status, "%s", message);
}
