/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Handles that follow a program. The handle asks its watcher at each plan; the answer is looked up
 * among the calls of the part that was entered, by all that a plan says: its routine, its shape,
 * and the bytes and prices of its rungs. */

#include "program/program.h"

static int follower_planned(const ji_watcher_t *watcher, const jplan_t *plan, bool *announced) {
    const ji_follower_t *follower = (const ji_follower_t *)watcher;
    if (follower->part == NULL)
        return -1;

    ji_call_t call;
    ji_call_describe(&call, follower->handle, plan);
    const ptrdiff_t place = ji_calls_find(&follower->part->calls, &call);
    if (place < 0)
        return -1;

    const ji_call_t *known = &follower->part->calls.at[place];
    const ji_way_t *way = ji_part_way(follower->part, known);
    *announced = way != ji_call_fastest(known);
    return (int)way->rung;
}

static void follower_forget(ji_watcher_t *watcher) {
    ji_follower_t *follower = (ji_follower_t *)watcher;
    follower->handle = NULL;
    follower->part = NULL;
    follower->entered = false;
}

ji_follower_t *ji_follower_of(jprogram_t *program, jhandle_t *handle) {
    ji_follower_t **end = &program->followers;
    for (; *end != NULL; end = &(*end)->next)
        if ((*end)->handle == handle)
            return *end;

    ji_follower_t *follower = ji_metadata_zalloc(sizeof *follower);
    if (follower == NULL)
        return NULL;
    follower->watcher.planned = follower_planned;
    follower->watcher.forget = follower_forget;
    follower->handle = handle;
    follower->watcher.next = handle->watchers;
    handle->watchers = &follower->watcher;
    return *end = follower;
}

void ji_follower_destroy(ji_follower_t *follower) {
    if (follower->handle != NULL)
        for (ji_watcher_t **at = &follower->handle->watchers; *at != NULL; at = &(*at)->next)
            if (*at == &follower->watcher) {
                *at = follower->watcher.next;
                break;
            }
    ji_metadata_free(follower);
}

/* Whether every handle may be given other settings. */
static jstatus_t followers_check(const jprogram_t *program, const char *caller) {
    for (const ji_follower_t *at = program->followers; at != NULL; at = at->next)
        /* In a child nothing of the handle is used any more. */
        if (at->entered && at->handle->state != JI_HANDLE_FORKED)
            JTRY_RETURN(ji_handle_check_idle(at->handle, caller));
    return JSTATUS_SUCCESS;
}

static void follower_leave(ji_follower_t *follower) {
    if (!follower->entered)
        return;
    follower->entered = false;
    follower->part = NULL;
    follower->handle->follows = NULL;
    (void)jhandle_set_budget(follower->handle, follower->budget_before);
}

jstatus_t jprogram_leave(jprogram_t *program) {
    JREQUIRE(program != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(followers_check(program, __func__));
    for (ji_follower_t *at = program->followers; at != NULL; at = at->next)
        follower_leave(at);
    program->entered = false;
    return JSTATUS_SUCCESS;
}

/* The part of a follower in a phase; NULL: none. */
static const ji_part_t *part_of(const jprogram_t *program, const ji_follower_t *follower,
                                size_t phase) {
    for (size_t i = 0; i < program->part_count; ++i)
        if (program->parts[i].follower == follower && program->parts[i].phase == phase)
            return &program->parts[i];
    return NULL;
}

static jstatus_t follower_enter(ji_follower_t *follower, const ji_part_t *part) {
    jhandle_t *handle = follower->handle;
    const size_t share_bytes = part != NULL ? part->share_bytes : 0;
    if (handle->follows != NULL)
        return jhandle_fail(handle, JSTATUS_BUSY,
                            "jprogram_enter: the handle follows another program");
    JTRY_RETURN(jhandle_trim(handle, share_bytes));

    follower->budget_before = handle->budget_bytes;
    JTRY_RETURN(jhandle_set_budget(handle, share_bytes));
    follower->part = part;
    follower->entered = true;
    handle->follows = &follower->watcher;
    return JSTATUS_SUCCESS;
}

jstatus_t jprogram_enter(jprogram_t *program, size_t phase) {
    JREQUIRE(program != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(jprogram_leave(program));
    if (!program->chosen)
        return ji_fail(JSTATUS_NOT_FOUND, "%s: nothing was chosen yet", __func__);
    if (program->part_count == 0 || phase > program->parts[program->part_count - 1].phase)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: there is no phase %zu", __func__, phase);

    jstatus_t status = JSTATUS_SUCCESS;
    for (ji_follower_t *at = program->followers; at != NULL && status == JSTATUS_SUCCESS;
         at = at->next)
        if (at->handle != NULL)
            status = follower_enter(at, part_of(program, at, phase));
    if (status != JSTATUS_SUCCESS)
        (void)jprogram_leave(program);
    return status;
}
