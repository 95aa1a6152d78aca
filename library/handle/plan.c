/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Plans and size queries. A plan states every way of a call with its bytes once; the query reports
 * rung 0 of it and the borrow walks down it, so the two cannot disagree. That is the whole of the
 * promise that queried bytes suffice. */

#include <string.h>

#include "handle/handle.h"

void jplan_init_sized(jplan_t *plan, size_t struct_size, const jhandle_t *handle,
                      const char *routine, const char *shape_names, const int64_t *shape) {
    plan->struct_size = struct_size;
    if (JI_UNLIKELY(struct_size != sizeof *plan)) {
        /* Nobody else sets what is unknown. */
        if (struct_size > sizeof *plan && struct_size <= JI_SIZED_MAX_BYTES)
            memset(plan + 1, 0, struct_size - sizeof *plan);
        if (ji_plan_check(plan) != JSTATUS_SUCCESS)
            return;
    }

    plan->routine = routine;
    plan->shape_names = shape_names;
    for (int i = 0; i < 4 && shape_names && shape_names[i]; ++i)
        plan->shape[i] = shape[i];

    plan->status = JSTATUS_SUCCESS;
    plan->rung_count = 0;
    plan->same_bits = handle != NULL && handle->result_policy == JRESULT_POLICY_SAME_BITS;
}

void jplan_add(jplan_t *plan, const char *name, uint32_t bits_class, size_t callee_bytes,
               size_t buffer_count, const size_t *bytes) {
    if (ji_plan_check(plan) != JSTATUS_SUCCESS)
        return;

    if (plan->rung_count == JHANDLE_MAX_RUNGS || buffer_count > JBORROW_MAX_BUFFERS) {
        plan->status = JSTATUS_INVALID_VALUE;
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

static size_t rung_bytes(const jplan_rung_t *rung, size_t granule_bytes) {
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
    if (plan->same_bits)
        while (plan->rungs[best].bits_class != plan->rungs[plan->rung_count - 1].bits_class)
            ++best;

    return rung_bytes(&plan->rungs[best],
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

jstatus_t jhandle_start_size_query(jhandle_t *handle) {
    JTRY_RETURN(ji_handle_check_idle(handle, __func__));
    if (handle->state == JI_HANDLE_QUERYING)
        return jhandle_fail(handle, JSTATUS_SIZE_QUERY_MISMATCH,
                            "%s: a size query is under way already", __func__);

    handle->query_bytes = 0;
    handle->host.query_bytes = 0;
    handle->state = JI_HANDLE_QUERYING;
    ji_handle_refresh(handle);
    return JSTATUS_SUCCESS;
}

jstatus_t jhandle_stop_size_query(jhandle_t *handle, size_t *size_bytes) {
    JTRY_RETURN(query_check(handle, __func__));
    if (size_bytes == NULL)
        return jhandle_fail(handle, JSTATUS_INVALID_POINTER,
                            "%s: size_bytes is NULL; the query goes on", __func__);

    handle->state = JI_HANDLE_READY;
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

    size_t total = 0;
    for (size_t i = 0; i < count; ++i) {
        size_t rounded;
        if (!ji_size_round_up(size_bytes[i], handle->borrows.granule_mask + 1, &rounded) ||
            !ji_size_add(total, rounded, &total))
            return jhandle_fail(handle, JSTATUS_INVALID_SIZE, "%s: the sizes overflow", __func__);
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

    return query_answer(handle, bytes);
}
