/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the process's calls need at least and at best, what the budget cost, and the setting to use:
 * the short form of jalloc-plan. It is not made from a log, which would be a line of some hundred
 * bytes for every call: before each call of a thread's handle the same call is made in a size query
 * of another, as jalloc-plan makes it, and what that answers is counted among the answers like it.
 *
 * A thread's handle has a slot that no living handle has. So calls of a slot are in order, slots
 * are at work at once, and there are as many as there ever were handles at once, however many
 * threads came and went.
 *
 * What holds of a slot: it stays as long as the process, for a thread may compute until its very
 * end; its lock is around what is recorded, which the report reads from another thread. */

#include "dropin/plan.h"

#include <pthread.h>
#include <stdio.h>

#include "core/locale.h"
#include "program/requirement.h"

typedef struct slot {
    ji_watcher_t watcher;    /* first; of the size query */
    jhandle_t *queried;      /* whose query it is; it never ends */
    const jhandle_t *handle; /* that computes; NULL: none now */
    size_t fixed_bytes;      /* that the handle had from its beginning; of several the least */
    pthread_mutex_t lock;    /* around what follows */
    ji_calls_t calls;
    /* Most that was borrowed around a call: copies of the drop-in's own, for which there is other
     * memory where workspace has none. */
    size_t held_bytes;
    bool lost; /* there was no memory for a call */
    struct slot *next;
} slot_t;

static slot_t *slots;

/* ---- Recording ---- */

static void slot_add(slot_t *slot, const jhandle_t *queried, const jplan_t *plan) {
    ji_call_t call;
    ji_call_describe(&call, queried, plan);
    const ptrdiff_t place = ji_calls_find(&slot->calls, &call);
    if (place >= 0)
        ++slot->calls.at[place].times;
    else if (ji_call_make(&call, queried, plan)) /* which asks the profile: once */
        slot->lost |= !ji_calls_add(&slot->calls, &call);
}

static void slot_answered(ji_watcher_t *watcher, const jhandle_t *queried, const jplan_t *plan) {
    slot_t *slot = (slot_t *)watcher;
    jhandle_stats_t stats = JHANDLE_STATS_INIT;
    if (ji_handle_depth(slot->handle) > 0)
        (void)jhandle_get_stats(slot->handle, &stats);

    pthread_mutex_lock(&slot->lock);
    slot_add(slot, queried, plan);
    if (stats.in_use_bytes > slot->held_bytes)
        slot->held_bytes = stats.in_use_bytes;
    pthread_mutex_unlock(&slot->lock);
}

static slot_t *slot_make(const jhandle_t *handle) {
    slot_t *slot = ji_metadata_zalloc(sizeof *slot);
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.result_policy = handle->result_policy;
    options.allocator = handle->allocator; /* from which it takes nothing */
    options.preallocate_bytes = JALLOC_NONE;
    if (slot == NULL || jhandle_create(&options, &slot->queried) != JSTATUS_SUCCESS) {
        ji_metadata_free(slot);
        return NULL;
    }

    pthread_mutex_init(&slot->lock, NULL);
    slot->watcher.answered = slot_answered;
    (void)ji_handle_start_query(slot->queried, &slot->watcher, __func__);
    slot->fixed_bytes = JALLOC_UNLIMITED;
    slot->next = slots;
    return slots = slot;
}

bool ji_dropin_plan_began(jhandle_t *handle) {
    slot_t *slot = slots;
    while (slot != NULL && slot->handle != NULL)
        slot = slot->next;
    if (slot == NULL && (slot = slot_make(handle)) == NULL)
        return false;

    size_t bytes = JALLOC_UNLIMITED;
    if (handle->mode != JHANDLE_MODE_DEFAULT)
        (void)jhandle_get_workspace_size(handle, &bytes);
    slot->fixed_bytes = bytes < slot->fixed_bytes ? bytes : slot->fixed_bytes;
    slot->handle = handle;
    handle->asked_first = slot->queried;
    return true;
}

void ji_dropin_plan_ends(const jhandle_t *handle) {
    for (slot_t *slot = slots; slot != NULL; slot = slot->next)
        if (slot->handle == handle)
            slot->handle = NULL;
}

void ji_dropin_plan_forget(void) { slots = NULL; }

/* ---- The plan ---- */

/* What all calls need, and of what budgets. */
typedef struct need {
    jrequirement_t *requirement;
    jrequirement_info_t info;
    size_t held_bytes;    /* beside, at best */
    double fixed_seconds; /* with what each handle had from its beginning */
    bool is_fixed;        /* all had that */
    size_t slot_count;
} need_t;

/* One slot more at once. */
static jstatus_t need_add(need_t *need, slot_t *slot) {
    jrequirement_t *own = NULL, *both = NULL;
    jrequirement_step_t step = JREQUIREMENT_STEP_INIT;
    jstatus_t status = slot->lost ? JSTATUS_MEMORY_ERROR
                                  : ji_requirement_of_calls(&slot->calls, 0, __func__, &own);
    if (status == JSTATUS_SUCCESS) {
        const jrequirement_t *const parts[] = {need->requirement, own};
        status = jrequirement_create_at_once(2, parts, &both);
    }
    if (status == JSTATUS_SUCCESS) {
        (void)jrequirement_destroy(need->requirement);
        need->requirement = both;
        need->held_bytes += slot->held_bytes;
        ++need->slot_count;
        need->is_fixed = need->is_fixed && slot->fixed_bytes != JALLOC_UNLIMITED;
        /* With less than the least, calls have had memory of the C library for it. */
        if (jrequirement_get_step_at(own, slot->fixed_bytes, &step) != JSTATUS_SUCCESS)
            (void)jrequirement_get_step(own, 0, &step);
        need->fixed_seconds += step.seconds;
    }
    (void)jrequirement_destroy(own);
    return status;
}

static jstatus_t need_make(need_t *need) {
    *need = (need_t){.info = JREQUIREMENT_INFO_INIT, .is_fixed = true};
    jstatus_t status = jrequirement_create_in_order(0, NULL, &need->requirement);
    for (slot_t *slot = slots; slot != NULL && status == JSTATUS_SUCCESS; slot = slot->next) {
        pthread_mutex_lock(&slot->lock);
        status = need_add(need, slot);
        pthread_mutex_unlock(&slot->lock);
    }
    return status == JSTATUS_SUCCESS ? jrequirement_get_info(need->requirement, &need->info)
                                     : status;
}

/* What the budget in force costs beside all the bytes there could be. */
static void print_cost(const need_t *need, const jquota_t *quota) {
    jrequirement_step_t best = JREQUIREMENT_STEP_INIT, step = JREQUIREMENT_STEP_INIT;
    jquota_stats_t stats = JQUOTA_STATS_INIT;
    (void)jrequirement_get_step(need->requirement, need->info.step_count - 1, &best);
    const bool is_bound = quota != NULL && jquota_get_stats(quota, &stats) == JSTATUS_SUCCESS &&
                          stats.limit_bytes != JALLOC_UNLIMITED;
    if (is_bound && stats.limit_bytes < need->info.minimal_bytes) {
        fprintf(stderr, "jblas: plan: the budget of %zu bytes lacks %zu: %s needs most\n",
                stats.limit_bytes, need->info.minimal_bytes - stats.limit_bytes,
                need->info.minimal_call);
        return;
    }
    if (is_bound)
        (void)jrequirement_get_step_at(need->requirement, stats.limit_bytes, &step);

    const double seconds = is_bound         ? step.seconds
                           : need->is_fixed ? need->fixed_seconds
                                            : best.seconds;
    const locale_t before = ji_locale_enter();
    fprintf(stderr, "jblas: plan: predicted %.4g s at best, and %.4g s more with what there was\n",
            best.seconds, seconds > best.seconds ? seconds - best.seconds : 0);
    ji_locale_leave(before);
}

void ji_dropin_plan_print(const jquota_t *quota) {
    need_t need;
    if (slots == NULL) /* nobody called */
        return;
    const jstatus_t status = need_make(&need);
    if (status != JSTATUS_SUCCESS) {
        fprintf(stderr, "jblas: plan: none: %s\n", jstatus_text(status));
    } else if (need.info.optimal_bytes == 0) {
        fprintf(stderr, "jblas: plan: no call wants workspace\n");
    } else {
        const size_t best_bytes = need.info.optimal_bytes + need.held_bytes;
        fprintf(stderr, "jblas: plan: minimal %zu bytes%s%s, optimal %zu bytes, %s\n",
                need.info.minimal_bytes, need.info.minimal_call[0] != '\0' ? ", " : "",
                need.info.minimal_call, best_bytes, need.info.optimal_call);
        print_cost(&need, quota);
        fprintf(stderr, "jblas: plan: setting %s=%zu\n",
                need.slot_count > 1 ? "JALLOC_BUDGET" : "JALLOC_DEVICE_MEMORY_SIZE", best_bytes);
    }
    (void)jrequirement_destroy(need.requirement);
}
