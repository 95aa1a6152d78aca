/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The threads of a handle: how many its calls may use, and whose.
 *
 * What the program asks for and what is in force are apart, since 0 asks for the default, and that
 * depends on whether an executor is there. The workers that a count needs are made here, at set-up,
 * so that no call has to make one; a handle that has an executor needs none, nor does one of a
 * GPU. */

#include <limits.h>

#include "core/team.h"
#include "handle/handle.h"

/* What was asked; else what the environment says; 0: the default. */
static int threads_wanted(const jhandle_t *handle) {
    return handle->asked_threads != 0 ? handle->asked_threads : handle->environment_threads;
}

bool ji_handle_takes_offers(const jhandle_t *handle) {
    return handle->threads.executor != NULL && threads_wanted(handle) == 0;
}

/* The default is all that an executor offers, or all that the process may use. */
void ji_handle_use_threads(jhandle_t *handle, int asked, const jexecutor_t *executor) {
    ji_threads_t *const threads = &handle->threads;
    handle->asked_threads = asked;
    threads->executor = executor;

    const int wanted = threads_wanted(handle),
              count = wanted != 0 ? wanted : ji_team_default_count();
    threads->count = ji_handle_takes_offers(handle) ? INT_MAX : count;
    threads->planned = count < JI_TEAM_MAX_THREADS ? count : JI_TEAM_MAX_THREADS;
    if (executor == NULL && handle->device->kind == JDEVICE_HOST)
        ji_team_make(count);
}

jstatus_t ji_executor_check(const jexecutor_t *executor) {
    if (executor == NULL)
        return JSTATUS_SUCCESS;

    jexecutor_t known = JEXECUTOR_INIT;
    JTRY_RETURN(JI_TAKE_OPTIONS(jexecutor_t, &known, executor, run));
    JREQUIRE(executor->available != NULL && executor->run != NULL, JSTATUS_INVALID_POINTER);
    return JSTATUS_SUCCESS;
}

jstatus_t jhandle_set_threads(jhandle_t *handle, int count) {
    JTRY_RETURN(ji_handle_check(handle, __func__));
    if (count < 0)
        return jhandle_fail(handle, JSTATUS_INVALID_VALUE, "%s: count = %d: must be at least 0",
                            __func__, count);
    ji_handle_use_threads(handle, count, handle->threads.executor);
    return JSTATUS_SUCCESS;
}

jstatus_t jhandle_set_executor(jhandle_t *handle, const jexecutor_t *executor) {
    JTRY_RETURN(ji_handle_check(handle, __func__));
    jstatus_t status = ji_executor_check(executor);
    if (status != JSTATUS_SUCCESS)
        return jhandle_fail(handle, status, "%s: %s", __func__, jstatus_last_message());
    ji_handle_use_threads(handle, handle->asked_threads, executor);
    return JSTATUS_SUCCESS;
}
