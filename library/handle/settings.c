/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is read of a handle and set on it: modes, limits, counters.
 *
 * Whoever reads may have another thread's handle, or a parent's: nothing is changed by that, and
 * what is read is what was there. Whoever sets must have the handle. What changes more than one
 * member (the stream, the workspace) stands with what it changes. */

#include <string.h>

#include "handle/capture.h"

static jstatus_t settings_check_readable(const jhandle_t *handle, const char *caller) {
    return ji_handle_is_valid(handle) ? JSTATUS_SUCCESS : ji_handle_check(handle, caller);
}

jdevice_t *jhandle_device(const jhandle_t *handle) {
    return ji_handle_is_valid(handle) ? handle->device : NULL;
}
jallocator_t *jhandle_allocator(const jhandle_t *handle) {
    return ji_handle_is_valid(handle) ? handle->allocator : NULL;
}
const jexecutor_t *jhandle_executor(const jhandle_t *handle) {
    return ji_handle_is_valid(handle) ? handle->threads.executor : NULL;
}
unsigned jhandle_layers(const jhandle_t *handle) {
    return ji_handle_is_valid(handle) ? handle->layers : 0;
}

/* A getter: checks the handle and the out-parameter, then copies one value. The message of a
 * failure is no part of what the handle is. */
#define HANDLE_GET(handle, out, value)                                                             \
    do {                                                                                           \
        JTRY_RETURN(settings_check_readable(handle, __func__));                                    \
        if ((out) == NULL)                                                                         \
            return jhandle_fail((jhandle_t *)handle, JSTATUS_INVALID_POINTER, "%s: %s is NULL",    \
                                __func__, #out);                                                   \
        *(out) = (value);                                                                          \
        return JSTATUS_SUCCESS;                                                                    \
    } while (0)

/* A setter: checks the handle and the value, then stores it. `rule` says what is allowed. */
#define HANDLE_SET(handle, member, value, allowed, rule)                                           \
    do {                                                                                           \
        JTRY_RETURN(ji_handle_check(handle, __func__));                                            \
        if (!(allowed))                                                                            \
            return jhandle_fail(handle, JSTATUS_INVALID_VALUE, "%s: %s = %d: %s", __func__,        \
                                #value, (int)(value), rule);                                       \
        (handle)->member = (value);                                                                \
        return JSTATUS_SUCCESS;                                                                    \
    } while (0)

jstatus_t jhandle_get_mode(const jhandle_t *handle, jhandle_mode_t *mode) {
    HANDLE_GET(handle, mode, handle->mode);
}
jstatus_t jhandle_get_workspace_size(const jhandle_t *handle, size_t *size_bytes) {
    HANDLE_GET(handle, size_bytes, ji_workspace_ordinary_bytes(handle));
}
jstatus_t jhandle_get_host_workspace_size(const jhandle_t *handle, size_t *size_bytes) {
    HANDLE_GET(handle, size_bytes, handle->host.size_bytes);
}
jstatus_t jhandle_get_host_query_size(const jhandle_t *handle, size_t *size_bytes) {
    HANDLE_GET(handle, size_bytes, handle->host.query_bytes);
}
jstatus_t jhandle_get_budget(const jhandle_t *handle, size_t *budget_bytes) {
    HANDLE_GET(handle, budget_bytes, handle->budget_bytes);
}
jstatus_t jhandle_get_stream(const jhandle_t *handle, jstream_t **stream) {
    HANDLE_GET(handle, stream, handle->stream);
}
jstatus_t jhandle_get_never_captured(const jhandle_t *handle, bool *never_captured) {
    HANDLE_GET(handle, never_captured, handle->never_captured);
}
jstatus_t jhandle_get_pointer_mode(const jhandle_t *handle, jpointer_mode_t *mode) {
    HANDLE_GET(handle, mode, handle->pointer_mode);
}
jstatus_t jhandle_get_result_policy(const jhandle_t *handle, jresult_policy_t *policy) {
    HANDLE_GET(handle, policy, handle->result_policy);
}
jstatus_t jhandle_set_budget(jhandle_t *handle, size_t budget_bytes) {
    HANDLE_SET(handle, budget_bytes, budget_bytes, true, "");
}
jstatus_t jhandle_seal(jhandle_t *handle) { HANDLE_SET(handle, sealed, true, true, ""); }
jstatus_t jhandle_unseal(jhandle_t *handle) { HANDLE_SET(handle, sealed, false, true, ""); }
bool jhandle_is_sealed(const jhandle_t *handle) {
    return ji_handle_is_valid(handle) && handle->sealed;
}
jstatus_t jhandle_set_pointer_mode(jhandle_t *handle, jpointer_mode_t mode) {
    HANDLE_SET(handle, pointer_mode, mode,
               mode == JPOINTER_MODE_HOST || mode == JPOINTER_MODE_DEVICE,
               "must be JPOINTER_MODE_HOST (0) or JPOINTER_MODE_DEVICE (1)");
}
jstatus_t jhandle_set_result_policy(jhandle_t *handle, jresult_policy_t policy) {
    HANDLE_SET(handle, result_policy, policy,
               policy == JRESULT_POLICY_FAST || policy == JRESULT_POLICY_SAME_BITS,
               "must be JRESULT_POLICY_FAST (1) or JRESULT_POLICY_SAME_BITS (2)");
}
jstatus_t jhandle_get_accuracy(const jhandle_t *handle, jaccuracy_t *accuracy) {
    HANDLE_GET(handle, accuracy, handle->accuracy);
}
jstatus_t jhandle_set_accuracy(jhandle_t *handle, jaccuracy_t accuracy) {
    HANDLE_SET(handle, accuracy, accuracy,
               accuracy == JACCURACY_COMPONENTWISE || accuracy == JACCURACY_NORMWISE,
               "must be JACCURACY_COMPONENTWISE (1) or JACCURACY_NORMWISE (2)");
}
jstatus_t jhandle_get_degradation(const jhandle_t *handle, jdegradation_t *degradation) {
    HANDLE_GET(handle, degradation, handle->degradation);
}
jstatus_t jhandle_set_degradation(jhandle_t *handle, jdegradation_t degradation) {
    HANDLE_SET(handle, degradation, degradation,
               degradation == JDEGRADATION_ALLOWED || degradation == JDEGRADATION_ANNOUNCED,
               "must be JDEGRADATION_ALLOWED (0) or JDEGRADATION_ANNOUNCED (1)");
}

jstatus_t jhandle_get_threads(const jhandle_t *handle, int *count) {
    HANDLE_GET(handle, count, ji_handle_takes_offers(handle) ? 0 : handle->threads.count);
}

jstatus_t jhandle_get_stats(const jhandle_t *handle, jhandle_stats_t *stats) {
    JTRY_RETURN(settings_check_readable(handle, __func__));

    if (stats == NULL)
        return jhandle_fail((jhandle_t *)handle, JSTATUS_INVALID_POINTER, "%s: stats is NULL",
                            __func__);

    if (JI_CHECK_SIZED(jhandle_stats_t, stats, borrow_count) != JSTATUS_SUCCESS)
        return jhandle_fail((jhandle_t *)handle, JSTATUS_INVALID_VALUE, "%s: %s", __func__,
                            jstatus_last_message());

    jhandle_stats_t now = {
        .borrow_count = ji_handle_borrow_count(handle) - handle->cleared_count,
        .live_borrow_count = ji_handle_depth(handle) - (uint32_t)__builtin_popcount(handle->ended),
        .in_use_bytes = ji_handle_in_use(handle),
        .high_watermark_bytes = handle->high_watermark,
        .growth_count = handle->growth_count,
        .allocation_count = handle->allocation_count,
        .deallocation_count = handle->deallocation_count,
        .synchronization_count = handle->synchronization_count,
        .degraded_count = handle->degraded_count,
        .misuse_count = handle->misuse_count,
        .capture_count = handle->capture_count,
        .captured_bytes = ji_capture_bytes(handle),
        .unplanned_count = handle->unplanned_count,
        .unannounced_count = handle->unannounced_count,
    };

    memcpy(now.rung_count, handle->rung_count, sizeof now.rung_count);
    memcpy(now.peak_routine, handle->peak_routine, sizeof now.peak_routine);
    memcpy(now.peak_shape, handle->peak_shape, sizeof now.peak_shape);

    JI_GIVE_RESULT(stats, &now);
    return JSTATUS_SUCCESS;
}

jstatus_t jhandle_clear_stats(jhandle_t *handle) {
    JTRY_RETURN(ji_handle_check(handle, __func__));

    handle->cleared_count = ji_handle_borrow_count(handle);
    handle->growth_count = handle->allocation_count = handle->deallocation_count = 0;
    handle->synchronization_count = handle->degraded_count = handle->misuse_count =
        handle->capture_count = 0;
    handle->unplanned_count = handle->unannounced_count = 0;

    memset(handle->rung_count, 0, sizeof handle->rung_count);
    memset(handle->peak_routine, 0, sizeof handle->peak_routine);
    memset(handle->peak_shape, 0, sizeof handle->peak_shape);

    handle->high_watermark = ji_handle_in_use(handle);
    ji_handle_refresh(handle);
    return JSTATUS_SUCCESS;
}

jstatus_t jhandle_get_refused_argument(const jhandle_t *handle, const char **routine,
                                       const char **name, int *number) {
    JTRY_RETURN(settings_check_readable(handle, __func__));
    if (handle->refused_number == 0)
        return ji_fail(JSTATUS_NOT_FOUND, "%s: the handle's last error was not about an argument",
                       __func__);

    if (routine != NULL)
        *routine = handle->refused_routine;
    if (name != NULL)
        *name = handle->refused_name;
    if (number != NULL)
        *number = handle->refused_number;
    return JSTATUS_SUCCESS;
}
