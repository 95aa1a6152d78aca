/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Requirements: ladders with names, and how they are taken from a size query. */

#include "program/requirement.h"

#include <string.h>

/* A requirement of a ladder, which is taken over, also on failure. `made`: whether there is one. */
static jstatus_t requirement_make(bool made, ji_ladder_t ladder, size_t host_bytes,
                                  uint64_t call_count, const char *caller,
                                  jrequirement_t **requirement) {
    jrequirement_t *fresh = made ? ji_metadata_zalloc(sizeof *fresh) : NULL;
    if (fresh == NULL) {
        ji_ladder_fini(&ladder);
        return ji_no_bookkeeping(caller);
    }
    *fresh = (jrequirement_t){ladder, host_bytes, call_count};
    *requirement = fresh;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_requirement_of_calls(const ji_calls_t *calls, size_t host_bytes, const char *caller,
                                  jrequirement_t **requirement) {
    ji_ladder_t ladder;
    const bool made = ji_ladder_of_calls(&ladder, calls, JI_TAKING_FIRST);
    return requirement_make(made, ladder, host_bytes, ji_calls_total(calls), caller, requirement);
}

jstatus_t jrequirement_destroy(jrequirement_t *requirement) {
    if (requirement != NULL)
        ji_ladder_fini(&requirement->ladder);
    ji_metadata_free(requirement);
    return JSTATUS_SUCCESS;
}

/* ---- Of one call, of a borrow ---- */

static jstatus_t requirement_check(const jhandle_t *handle, const void *requirement,
                                   const char *caller) {
    if (!ji_handle_is_valid(handle))
        return ji_handle_check(handle, caller);
    return requirement != NULL
               ? JSTATUS_SUCCESS
               : ji_fail(JSTATUS_INVALID_POINTER, "%s: requirement is NULL", caller);
}

jstatus_t jrequirement_create_call(const jhandle_t *handle, const jplan_t *plan,
                                   jrequirement_t **requirement) {
    JTRY_RETURN(requirement_check(handle, requirement, __func__));
    JREQUIRE(plan != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(ji_plan_check(plan));
    if (plan->status != JSTATUS_SUCCESS || plan->rung_count == 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: the plan is not sound (%u rungs, %s)", __func__,
                       plan->rung_count, jstatus_name(plan->status));

    ji_call_t call;
    if (!ji_call_make(&call, handle, plan))
        return ji_fail(JSTATUS_INVALID_SIZE, "%s: the sizes of every rung overflow", __func__);
    ji_ladder_t ladder;
    const bool made = ji_ladder_of_call(&ladder, &call, JI_TAKING_FIRST);
    return requirement_make(made, ladder, 0, 1, __func__, requirement);
}

jstatus_t jrequirement_create_borrow(const jhandle_t *handle, const char *routine, size_t count,
                                     const size_t *size_bytes, const jrequirement_t *meanwhile,
                                     jrequirement_t **requirement) {
    JTRY_RETURN(requirement_check(handle, requirement, __func__));
    JREQUIRE(count == 0 || size_bytes != NULL, JSTATUS_INVALID_POINTER);
    if (count > JBORROW_MAX_BUFFERS)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: %zu buffers, at most %d", __func__, count,
                       JBORROW_MAX_BUFFERS);

    ji_ladder_t ladder;
    const bool made = meanwhile != NULL ? ji_ladder_copy(&ladder, &meanwhile->ladder)
                                        : ji_ladder_of_nothing(&ladder);
    jrequirement_t *fresh = NULL;
    JTRY_RETURN(requirement_make(made, ladder, meanwhile ? meanwhile->host_bytes : 0,
                                 meanwhile ? meanwhile->call_count : 0, __func__, &fresh));

    jplan_t plan;
    jplan_init(&plan, handle, routine, "", NULL);
    jplan_add(&plan, "only", 0, 0, count, size_bytes);
    const size_t held = jplan_bytes(&plan, handle);
    jrequirement_step_t *steps = fresh->ladder.steps;
    bool fits = held != JALLOC_SIZE_OVERFLOW;
    for (size_t i = 0; i < fresh->ladder.count; ++i)
        fits = fits && ji_size_add(steps[i].size_bytes, held, &steps[i].size_bytes);
    if (!fits) {
        (void)jrequirement_destroy(fresh);
        return ji_fail(JSTATUS_INVALID_SIZE, "%s: the sizes overflow", __func__);
    }
    if (steps[0].call[0] == '\0' && held > 0) { /* nothing else needs anything */
        const ji_call_t call = {.routine = routine};
        ji_call_text(&call, steps[0].call);
    }
    *requirement = fresh;
    return JSTATUS_SUCCESS;
}

/* ---- Of parts ---- */

/* How many calls parts have that each count so many times. */
static jstatus_t parts_count_calls(size_t count, const jrequirement_t *const *parts, uint64_t times,
                                   const char *caller, uint64_t *calls) {
    *calls = 0;
    for (size_t i = 0; i < count; ++i) {
        uint64_t more;
        if (__builtin_mul_overflow(parts[i]->call_count, times, &more) ||
            __builtin_add_overflow(*calls, more, calls))
            return ji_fail(JSTATUS_INVALID_SIZE, "%s: more calls than 64 bits count", caller);
    }
    return JSTATUS_SUCCESS;
}

static jstatus_t parts_check(size_t count, const jrequirement_t *const *parts,
                             jrequirement_t **requirement, const char *caller) {
    if (requirement == NULL || (count != 0 && parts == NULL))
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: %s is NULL", caller,
                       requirement == NULL ? "requirement" : "parts");
    if (!ji_is_array(count, sizeof *parts))
        return ji_fail(JSTATUS_INVALID_SIZE, "%s: count = %zu: more parts than memory can hold",
                       caller, count);

    for (size_t i = 0; i < count; ++i)
        if (parts[i] == NULL)
            return ji_fail(JSTATUS_INVALID_POINTER, "%s: parts[%zu] is NULL", caller, i);
    return JSTATUS_SUCCESS;
}

jstatus_t jrequirement_create_in_order(size_t count, const jrequirement_t *const *parts,
                                       jrequirement_t **requirement) {
    JTRY_RETURN(parts_check(count, parts, requirement, __func__));

    size_t bytes, host_bytes = 0;
    uint64_t calls;
    JTRY_RETURN(parts_count_calls(count, parts, 1, __func__, &calls));

    ji_ladder_t *ladders = NULL, ladder = {0};
    if (count > 0 && ji_size_mul(count, sizeof *ladders, &bytes))
        ladders = ji_metadata_zalloc(bytes);
    if (count > 0 && ladders == NULL)
        return ji_no_bookkeeping(__func__);

    for (size_t i = 0; i < count; ++i) {
        ladders[i] = parts[i]->ladder;
        host_bytes = parts[i]->host_bytes > host_bytes ? parts[i]->host_bytes : host_bytes;
    }
    const bool made = ji_ladder_in_order(&ladder, count, ladders);
    ji_metadata_free(ladders);
    return requirement_make(made, ladder, host_bytes, calls, __func__, requirement);
}

/* *sum becomes that of itself and a part, at once. */
static jstatus_t ladder_add(ji_ladder_t *sum, const ji_ladder_t *part, const char *caller) {
    size_t most;
    if (!ji_size_add(sum->steps[sum->count - 1].size_bytes, part->steps[part->count - 1].size_bytes,
                     &most))
        return ji_fail(JSTATUS_INVALID_SIZE, "%s: the sum overflows", caller);

    ji_divisions_t divisions;
    ji_ladder_t next = {0};
    const bool made = ji_ladder_divide(&divisions, sum, part) &&
                      ji_ladder_of_divisions(&next, &divisions, sum, part);
    ji_divisions_fini(&divisions);
    if (!made)
        return ji_no_bookkeeping(caller);
    ji_ladder_fini(sum);
    *sum = next;
    return JSTATUS_SUCCESS;
}

jstatus_t jrequirement_create_at_once(size_t count, const jrequirement_t *const *parts,
                                      jrequirement_t **requirement) {
    JTRY_RETURN(parts_check(count, parts, requirement, __func__));

    size_t host_bytes = 0;
    uint64_t calls;
    JTRY_RETURN(parts_count_calls(count, parts, 1, __func__, &calls));

    ji_ladder_t sum;
    jstatus_t status = JSTATUS_SUCCESS;
    const bool made =
        count > 0 ? ji_ladder_copy(&sum, &parts[0]->ladder) : ji_ladder_of_nothing(&sum);
    for (size_t i = 0; i < count && made && status == JSTATUS_SUCCESS; ++i) {
        if (!ji_size_add(host_bytes, parts[i]->host_bytes, &host_bytes))
            status = ji_fail(JSTATUS_INVALID_SIZE, "%s: the sum overflows", __func__);
        else if (i > 0)
            status = ladder_add(&sum, &parts[i]->ladder, __func__);
    }
    if (status != JSTATUS_SUCCESS) {
        ji_ladder_fini(&sum);
        return status;
    }
    return requirement_make(made, sum, host_bytes, calls, __func__, requirement);
}

jstatus_t jrequirement_create_repeated(const jrequirement_t *part, uint64_t times,
                                       jrequirement_t **requirement) {
    JREQUIRE(part != NULL && requirement != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE_VALUE(times > 0, JSTATUS_INVALID_VALUE, __func__, "times", times,
                   "must be at least 1");
    uint64_t calls;
    JTRY_RETURN(parts_count_calls(1, &part, times, __func__, &calls));

    ji_ladder_t ladder;
    const bool made = ji_ladder_copy(&ladder, &part->ladder);
    for (size_t i = 0; made && i < ladder.count; ++i) {
        ladder.steps[i].seconds *= (double)times;
        ladder.steps[i].degraded_count *= times;
    }
    return requirement_make(made, ladder, part->host_bytes, calls, __func__, requirement);
}

/* ---- Reading ---- */

jstatus_t jrequirement_get_info(const jrequirement_t *requirement, jrequirement_info_t *info) {
    JREQUIRE(requirement != NULL && info != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jrequirement_info_t, info, optimal_bytes));

    const ji_ladder_t *ladder = &requirement->ladder;
    const jrequirement_step_t *first = &ladder->steps[0], *last = &ladder->steps[ladder->count - 1];
    jrequirement_info_t now = {.minimal_bytes = first->size_bytes,
                               .optimal_bytes = last->size_bytes,
                               .host_bytes = requirement->host_bytes,
                               .call_count = requirement->call_count,
                               .step_count = ladder->count};
    memcpy(now.minimal_call, first->call, sizeof now.minimal_call);
    memcpy(now.optimal_call, last->call, sizeof now.optimal_call);
    JI_GIVE_RESULT(info, &now);
    return JSTATUS_SUCCESS;
}

jstatus_t jrequirement_get_step(const jrequirement_t *requirement, size_t index,
                                jrequirement_step_t *step) {
    JREQUIRE(requirement != NULL && step != NULL, JSTATUS_INVALID_POINTER);
    if (index >= requirement->ladder.count)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: there is no step %zu: the requirement has %zu",
                       __func__, index, requirement->ladder.count);
    JTRY_RETURN(JI_CHECK_SIZED(jrequirement_step_t, step, seconds));
    JI_GIVE_RESULT(step, &requirement->ladder.steps[index]);
    return JSTATUS_SUCCESS;
}

jstatus_t jrequirement_get_step_at(const jrequirement_t *requirement, size_t size_bytes,
                                   jrequirement_step_t *step) {
    JREQUIRE(requirement != NULL && step != NULL, JSTATUS_INVALID_POINTER);
    const ji_ladder_t *ladder = &requirement->ladder;
    const size_t index = ji_ladder_find(ladder, size_bytes);
    if (index == ladder->count)
        return ji_fail(JSTATUS_MEMORY_ERROR, "%s needs %zu bytes of workspace, %zu more than %zu",
                       ladder->steps[0].call, ladder->steps[0].size_bytes,
                       ladder->steps[0].size_bytes - size_bytes, size_bytes);
    return jrequirement_get_step(requirement, index, step);
}

/* ---- From a size query ---- */

static void recording_answered(ji_watcher_t *watcher, const jhandle_t *handle,
                               const jplan_t *plan) {
    ji_recording_t *recording = (ji_recording_t *)watcher;
    ji_call_t call;
    /* A plan that was answered has a rung of a size that memory has. */
    if (!recording->lost && ji_call_make(&call, handle, plan))
        recording->lost = !ji_calls_add(&recording->calls, &call);
}

void ji_recording_destroy(ji_recording_t *recording) {
    ji_calls_fini(&recording->calls);
    ji_metadata_free(recording);
}

static void recording_forget(ji_watcher_t *watcher) {
    ji_recording_destroy((ji_recording_t *)watcher);
}

jstatus_t ji_recording_start(jhandle_t *handle, const void *recorder, const char *caller) {
    ji_recording_t *recording = ji_metadata_zalloc(sizeof *recording);
    if (recording == NULL) {
        JTRY_RETURN(ji_handle_check_idle(handle, caller));
        return jhandle_fail(handle, JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping", caller);
    }

    recording->recorder = recorder;
    recording->watcher.answered = recording_answered;
    recording->watcher.forget = recording_forget;
    const jstatus_t status = ji_handle_start_query(handle, &recording->watcher, caller);
    if (status != JSTATUS_SUCCESS)
        ji_recording_destroy(recording);
    return status;
}

bool ji_recording_is_of(const jhandle_t *handle, const void *recorder) {
    const ji_recording_t *recording = (const ji_recording_t *)handle->query_watcher;
    return handle->state == JI_HANDLE_QUERYING && recording != NULL &&
           recording->recorder == recorder;
}

jstatus_t ji_recording_stop(jhandle_t *handle, const char *caller, ji_recording_t **out) {
    JTRY_RETURN(ji_handle_check(handle, caller));
    ji_watcher_t *watcher = handle->query_watcher;
    if (watcher == NULL || handle->state != JI_HANDLE_QUERYING)
        return jhandle_fail(handle, JSTATUS_SIZE_QUERY_MISMATCH,
                            "%s: no query of a requirement is under way", caller);

    size_t bytes;
    handle->query_watcher = NULL;
    (void)jhandle_stop_size_query(handle, &bytes);
    ji_recording_t *recording = (ji_recording_t *)watcher;
    if (!recording->lost) {
        *out = recording;
        return JSTATUS_SUCCESS;
    }
    ji_recording_destroy(recording);
    return jhandle_fail(handle, JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping of a call",
                        caller);
}

jstatus_t jhandle_start_requirement_query(jhandle_t *handle) {
    return ji_recording_start(handle, NULL, __func__);
}

jstatus_t jhandle_stop_requirement_query(jhandle_t *handle, jrequirement_t **requirement) {
    JTRY_RETURN(ji_handle_check(handle, __func__));
    if (requirement == NULL)
        return jhandle_fail(handle, JSTATUS_INVALID_POINTER,
                            "%s: requirement is NULL; the query goes on", __func__);

    ji_recording_t *recording = NULL;
    JTRY_RETURN(ji_recording_stop(handle, __func__, &recording));
    const jstatus_t status =
        ji_requirement_of_calls(&recording->calls, handle->host.query_bytes, __func__, requirement);
    ji_recording_destroy(recording);
    return status;
}
