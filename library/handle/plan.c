/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Plans and size queries. A plan states every way of a call with its bytes once; the query reports
 * rung 0 of it and the borrow walks down it, so the two cannot disagree. That is the whole of the
 * promise that queried bytes suffice. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "handle/handle.h"

/* Whether the caller's version has prices. */
static bool plan_has_prices(const jplan_t *plan) {
    return plan->struct_size >= JI_SIZE_THROUGH(jplan_t, prices);
}

void jplan_init_sized(jplan_t *plan, size_t struct_size, const jhandle_t *handle,
                      const char *routine, const char *shape_names, const int64_t *shape) {
    if (JI_UNLIKELY(plan == NULL)) {
        (void)ji_fail(JSTATUS_INVALID_POINTER, "jplan_init: the plan is NULL");
        return;
    }

    plan->struct_size = struct_size;
    if (JI_UNLIKELY(struct_size != sizeof *plan)) {
        /* Nobody else sets what is unknown. */
        if (struct_size > sizeof *plan && struct_size <= JI_SIZED_MAX_BYTES)
            memset(plan + 1, 0, struct_size - sizeof *plan);
        if (ji_plan_check(plan) != JSTATUS_SUCCESS)
            return;
    }

    plan->status = JSTATUS_SUCCESS;
    if (JI_UNLIKELY(shape == NULL) && shape_names != NULL && shape_names[0] != '\0') {
        plan->status = ji_fail(JSTATUS_INVALID_POINTER, "jplan_init: shape is NULL");
        shape_names = NULL;
    }

    plan->routine = routine;
    plan->shape_names = shape_names;
    for (int i = 0; i < 4 && shape_names && shape_names[i]; ++i)
        plan->shape[i] = shape[i];

    plan->rung_count = 0;
    if (plan_has_prices(plan))
        plan->priced = 0;
    plan->same_bits = handle != NULL && handle->result_policy == JRESULT_POLICY_SAME_BITS;
}

/* The first error stays. */
static void plan_refuse(jplan_t *plan, jstatus_t status) {
    if (plan->status == JSTATUS_SUCCESS)
        plan->status = status;
}

void jplan_add(jplan_t *plan, const char *name, uint32_t bits_class, size_t callee_bytes,
               size_t buffer_count, const size_t *bytes) {
    if (ji_plan_check(plan) != JSTATUS_SUCCESS)
        return;

    if (plan->rung_count == JHANDLE_MAX_RUNGS || buffer_count > JBORROW_MAX_BUFFERS) {
        plan_refuse(plan, JSTATUS_INVALID_VALUE);
        return;
    }
    if (JI_UNLIKELY(bytes == NULL) && buffer_count != 0) {
        plan_refuse(plan, JSTATUS_INVALID_POINTER);
        return;
    }

    jplan_rung_t *rung = &plan->rungs[plan->rung_count++];
    rung->name = name;
    rung->bits_class = bits_class;
    rung->callee_bytes = callee_bytes;
    rung->buffer_count = (uint32_t)buffer_count;

    for (size_t i = 0; i < buffer_count; ++i)
        rung->bytes[i] = bytes[i];
}

void jplan_price(jplan_t *plan, const jprice_t *price) {
    if (ji_plan_check(plan) != JSTATUS_SUCCESS || !plan_has_prices(plan))
        return;

    if (price == NULL) {
        plan_refuse(plan, JSTATUS_INVALID_POINTER);
        return;
    }

    const double counts[] = {price->flops, price->moved_bytes, price->launches};
    bool sound = plan->rung_count > 0;
    for (int i = 0; i < 3; ++i)
        sound = sound && isfinite(counts[i]) && counts[i] >= 0;
    if (!sound) {
        plan_refuse(plan, JSTATUS_INVALID_VALUE);
        return;
    }
    plan->prices[plan->rung_count - 1] = *price;
    plan->priced |= UINT32_C(1) << (plan->rung_count - 1);
}

const jprice_t *ji_plan_price(const jplan_t *plan, uint32_t rung) {
    return plan_has_prices(plan) && (plan->priced >> rung & 1) != 0 ? &plan->prices[rung] : NULL;
}

void ji_plan_shape(const jplan_t *plan, char *text, size_t text_bytes) {
    size_t length = 0;
    for (int i = 0; plan->shape_names && i < 4 && plan->shape_names[i] && length < text_bytes; ++i)
        length += (size_t)snprintf(text + length, text_bytes - length, "%s%c=%" PRId64,
                                   i ? " " : "", plan->shape_names[i], plan->shape[i]);
}

size_t ji_rung_bytes(const jplan_rung_t *rung, size_t granule_bytes) {
    size_t total = rung->callee_bytes;
    for (uint32_t i = 0; i < rung->buffer_count; ++i) {
        size_t rounded;
        if (!ji_size_round_up(rung->bytes[i], granule_bytes, &rounded) ||
            !ji_size_add(total, rounded, &total))
            return JALLOC_SIZE_OVERFLOW;
    }
    return total;
}

size_t jplan_bytes(const jplan_t *plan, const jhandle_t *handle) {
    if (ji_plan_check(plan) != JSTATUS_SUCCESS)
        return JALLOC_SIZE_OVERFLOW;

    if (plan->rung_count == 0 || plan->status != JSTATUS_SUCCESS)
        return plan->rung_count == 0 ? 0 : JALLOC_SIZE_OVERFLOW;

    uint32_t best = 0;
    while (!ji_rung_is_allowed(plan, best))
        ++best;

    return ji_rung_bytes(&plan->rungs[best],
                         ji_handle_is_valid(handle) ? handle->borrows.granule_mask + 1 : 1);
}

/* Raises the maximum of the query under way. */
static jstatus_t query_answer(jhandle_t *handle, size_t bytes) {
    if (bytes <= handle->query_bytes)
        return JSTATUS_SIZE_UNCHANGED;
    handle->query_bytes = bytes;
    return JSTATUS_SIZE_INCREASED;
}

static jstatus_t query_check(jhandle_t *handle, const char *caller) {
    jstatus_t status = ji_handle_check(handle, caller);
    if (status == JSTATUS_SUCCESS && handle->state != JI_HANDLE_QUERYING)
        status = jhandle_fail(handle, JSTATUS_SIZE_QUERY_MISMATCH, "%s: no size query is under way",
                              caller);
    return status;
}

jstatus_t ji_handle_start_query(jhandle_t *handle, ji_watcher_t *watcher, const char *caller) {
    JTRY_RETURN(ji_handle_check_idle(handle, caller));
    if (handle->state == JI_HANDLE_QUERYING)
        return jhandle_fail(handle, JSTATUS_SIZE_QUERY_MISMATCH,
                            "%s: a size query is under way already", caller);

    handle->query_bytes = 0;
    handle->host.query_bytes = 0;
    handle->query_watcher = watcher;
    handle->state = JI_HANDLE_QUERYING;
    ji_handle_refresh(handle);
    return JSTATUS_SUCCESS;
}

jstatus_t jhandle_start_size_query(jhandle_t *handle) {
    return ji_handle_start_query(handle, NULL, __func__);
}

jstatus_t jhandle_stop_size_query(jhandle_t *handle, size_t *size_bytes) {
    JTRY_RETURN(query_check(handle, __func__));
    if (size_bytes == NULL)
        return jhandle_fail(handle, JSTATUS_INVALID_POINTER,
                            "%s: size_bytes is NULL; the query goes on", __func__);

    handle->state = JI_HANDLE_READY;
    if (handle->query_watcher != NULL)
        handle->query_watcher->forget(handle->query_watcher);
    handle->query_watcher = NULL;
    ji_handle_refresh(handle);
    *size_bytes = handle->query_bytes;
    return JSTATUS_SUCCESS;
}

bool jhandle_is_size_query(const jhandle_t *handle) {
    return handle != NULL && handle->state == JI_HANDLE_QUERYING;
}

jstatus_t jhandle_set_optimal_size(jhandle_t *handle, size_t count, const size_t *size_bytes) {
    JTRY_RETURN(query_check(handle, __func__));
    if (count != 0 && size_bytes == NULL)
        return jhandle_fail(handle, JSTATUS_INVALID_POINTER, "%s: size_bytes is NULL", __func__);

    if (!ji_is_array(count, sizeof *size_bytes))
        return jhandle_fail(handle, JSTATUS_INVALID_SIZE,
                            "%s: count = %zu: more sizes than memory can hold", __func__, count);

    size_t total = 0;
    for (size_t i = 0; i < count; ++i) {
        size_t rounded;
        if (!ji_size_round_up(size_bytes[i], handle->borrows.granule_mask + 1, &rounded) ||
            !ji_size_add(total, rounded, &total))
            return jhandle_fail(handle, JSTATUS_INVALID_SIZE, "%s: the sizes overflow", __func__);
    }
    if (handle->query_watcher != NULL) {
        jplan_t plan;
        jplan_init(&plan, handle, NULL, "", NULL);
        jplan_add(&plan, "only", 0, total, 0, NULL);
        handle->query_watcher->answered(handle->query_watcher, handle, &plan);
    }
    return query_answer(handle, total);
}

jstatus_t jhandle_answer_plan(jhandle_t *handle, const jplan_t *plan) {
    JTRY_RETURN(query_check(handle, __func__));

    if (plan == NULL)
        return jhandle_fail(handle, JSTATUS_INVALID_POINTER, "%s: plan is NULL", __func__);
    if (ji_plan_check(plan) != JSTATUS_SUCCESS)
        return jhandle_fail(handle, JSTATUS_INVALID_VALUE, "%s: %s", __func__,
                            jstatus_last_message());
    if (plan->status != JSTATUS_SUCCESS || plan->rung_count == 0)
        return jhandle_fail(handle, plan->status ? plan->status : JSTATUS_INVALID_VALUE,
                            "%s: the plan is not sound (%u rungs, %s)", plan->routine,
                            plan->rung_count, jstatus_name(plan->status));

    size_t bytes = jplan_bytes(plan, handle);
    if (bytes == JALLOC_SIZE_OVERFLOW)
        return jhandle_fail(handle, JSTATUS_INVALID_SIZE, "%s: the workspace's size overflows",
                            plan->routine);

    if (handle->query_watcher != NULL)
        handle->query_watcher->answered(handle->query_watcher, handle, plan);
    return query_answer(handle, bytes);
}
