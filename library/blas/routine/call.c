/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How a call of jblas enters and leaves: what ji_enter does not do inline, refusals, plans, and
 * primitives on a created stream. Everything here is off the path of a small call on the NULL
 * stream with a plain handle. */

#include "blas/routine/entry.h"
#include "blas/routine/log.h"
#include "blas/routine/price.h"
#include "blas/routine/row_data.h"

#include <stdio.h>

/* ---- Rows ---- */

JI_ROUTINE_LIST(ROW_OF_FORMS)

/* ---- Entering ---- */

/* Vendors know no JBLAS_CONJUGATE. Where there is nothing to conjugate none is needed, and
 * JBLAS_NO_TRANSPOSE leaves the call to them. */
static void enter_gpu(void *block) {
    const ji_head_t *head = block;
    if (ji_is_complex(head->type))
        return;

    for (const ji_argument_t *argument = head->row->arguments; argument->name != NULL; ++argument) {
        jblas_operation_t *operation = (void *)((char *)block + argument->offset);
        if (argument->kind == JI_ARGUMENT_OPERATION && *operation == JBLAS_CONJUGATE)
            *operation = JBLAS_NO_TRANSPOSE;
    }
}

jstatus_t ji_enter_cold(jhandle_t *handle, ji_call_function_t call, void *block) {
    const ji_head_t *head = block;

    const char *why;
    jstatus_t status = ji_handle_judge(handle, &why);
    if (status != JSTATUS_SUCCESS)
        return jhandle_fail(handle, status, "%s: the handle %s", ji_routine_name(head), why);

    status = handle->device->kind == JDEVICE_HOST ? ji_host_set_up() : JSTATUS_SUCCESS;
    if (status != JSTATUS_SUCCESS)
        return jhandle_fail(handle, status, "%s: %s", ji_routine_name(head),
                            jstatus_last_message());

    (void)ji_take_threads(handle, block);

    /* From now on ji_enter() need not ask: what set-up has done, this thread has seen. */
    const bool is_host = handle->device->kind == JDEVICE_HOST;
    handle->calls_are_plain = is_host && handle->layers == 0 && handle->asked_first == NULL;
    if (!is_host)
        enter_gpu(block);

    /* It leaves the block as it is, and refuses what the call itself will refuse. */
    if (handle->asked_first != NULL)
        (void)call(handle->asked_first, block);

    /* A query does no work, so there is nothing to replay or to time. */
    if (handle->layers == 0 || ji_is_query(handle))
        return call(handle, block);
    return ji_log_call(handle, call, block);
}

/* The argument's number in the order of BLAS, from 1; 0: no single argument. */
static int row_number_of(const ji_row_t *row, const char *name) {
    for (const ji_argument_t *argument = row->arguments; argument->name != NULL; ++argument)
        if (strcmp(argument->name, name) == 0)
            return (int)(argument - row->arguments) + 1;
    return 0;
}

static jstatus_t refused(jhandle_t *handle, const ji_head_t *head, jstatus_t status,
                         const char *argument) {
    ji_handle_keep_refused(handle, ji_routine_name(head), argument,
                           row_number_of(head->row, argument));
    return status;
}

jstatus_t ji_refuse(jhandle_t *handle, const ji_head_t *head, jstatus_t status,
                    const char *argument, int64_t value, const char *rule, int64_t bound) {
    char text[160];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, rule, (long long)bound);
#pragma GCC diagnostic pop

    status = jhandle_fail(handle, status, "%s: %s = %lld: %s", ji_routine_name(head), argument,
                          (long long)value, text);
    return refused(handle, head, status, argument);
}

jstatus_t ji_refuse_pointer(jhandle_t *handle, const ji_head_t *head, const char *argument) {
    jstatus_t status = jhandle_fail(handle, JSTATUS_INVALID_POINTER, "%s: %s is NULL",
                                    ji_routine_name(head), argument);
    return refused(handle, head, status, argument);
}

jstatus_t ji_refuse_type(jhandle_t *handle, const ji_head_t *head, jstatus_t status,
                         const char *argument, const char *types, const char *why) {
    status = jhandle_fail(handle, status, "%s: %s of %s: %s", ji_routine_name(head), argument,
                          types, why);
    return refused(handle, head, status, argument);
}

jstatus_t ji_refuse_item(jhandle_t *handle, const ji_head_t *head, const char *argument,
                         int64_t index) {
    jstatus_t status = jhandle_fail(handle, JSTATUS_INVALID_POINTER, "%s: %s [%lld] is NULL",
                                    ji_routine_name(head), argument, (long long)index);
    return refused(handle, head, status, argument);
}

/* ---- Plans ---- */

jstatus_t ji_answer(jhandle_t *handle, const void *block, ji_plan_function_t plan_function) {
    jplan_t plan;
    if (plan_function != NULL)
        plan_function(&plan, handle, block);
    else if (handle->query_watcher == NULL)
        return jhandle_set_optimal_size(handle, 0, NULL);
    else
        ji_plain_plan(&plan, handle, block);
    return ji_answer_plan(handle, block, &plan);
}

void ji_price_for_watchers(const jhandle_t *handle, const void *block, jplan_t *plan) {
    const bool is_watched = handle->query_watcher != NULL || handle->follows != NULL;
    if (JI_UNLIKELY(is_watched) && plan->status == JSTATUS_SUCCESS)
        ji_price_plan(plan, block);
}

jstatus_t ji_answer_plan(jhandle_t *handle, const void *block, jplan_t *plan) {
    ji_price_for_watchers(handle, block, plan);
    return jhandle_answer_plan(handle, plan);
}

const jborrow_t ji_nothing_borrowed = {.ok = true};

/* Whether there is one way, and it needs nothing. */
static bool plan_is_empty(const jplan_t *plan) {
    return plan->rung_count == 1 && plan->rungs[0].buffer_count == 0;
}

jstatus_t ji_run_plan(jhandle_t *handle, void *block, ji_plan_function_t plan_function,
                      ji_run_function_t run) {
    jplan_t plan;
    plan_function(&plan, handle, block);
    if (plan_is_empty(&plan))
        return ji_run_items(handle, block, run, &ji_nothing_borrowed);

    ji_price_for_watchers(handle, block, &plan);
    JALLOC_BORROW_PLAN(ws, handle, &plan);
    if (!ws.ok)
        return ws.status;

    ((ji_head_t *)block)->rung = (int16_t)ws.rung;
    jstatus_t status = ji_run_items(handle, block, run, &ws);
    return jstatus_is_error(status) ? status : ws.status;
}

/* ---- Created streams, and devices other than the host ---- */

static jstatus_t enqueued(jhandle_t *handle, jstatus_t status) {
    if (status != JSTATUS_SUCCESS)
        return jhandle_fail(handle, status, "enqueueing work: %s", jstatus_last_message());
    return JSTATUS_SUCCESS;
}

jstatus_t ji_enqueue_host(jhandle_t *handle, ji_host_function_t function, void *block,
                          size_t block_bytes) {
    if (JI_LIKELY(handle->runs_inline)) {
        function(block);
        return JSTATUS_SUCCESS;
    }

    return enqueued(handle,
                    jstream_launch(handle->device, handle->stream, function, block, block_bytes));
}

jstatus_t ji_enqueue(jhandle_t *handle, ji_primitive_t primitive, void *block, size_t block_bytes) {
    jdevice_t *device = handle->device;
    if (device->kind == JDEVICE_HOST)
        return ji_enqueue_host(handle, ji_host_primitives[primitive], block, block_bytes);
    if (device->blas == NULL)
        return jhandle_fail(handle, JSTATUS_NOT_IMPLEMENTED, "%s has no BLAS",
                            jdevice_name(device));

    return enqueued(handle, device->blas->run(
                                device, handle->stream, primitive, block,
                                ji_host_pointers(handle) ? &handle->synchronization_count : NULL));
}

jstatus_t ji_wait_for_result(jhandle_t *handle, jstatus_t status) {
    if (handle->device->kind != JDEVICE_HOST) /* there run() has waited */
        return status;

    /* After an error, too: what was enqueued before it writes into a variable of the caller, who
     * may return. A wait that fails is tried once more. */
    jstatus_t waited = ji_handle_wait(handle, handle->stream);
    if (waited == JSTATUS_SUCCESS)
        return status;

    if (!jstatus_is_error(status))
        status = jhandle_fail(handle, waited, "waiting for a result: %s", jstatus_last_message());
    (void)ji_handle_wait(handle, handle->stream);
    return status;
}
