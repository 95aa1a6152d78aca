/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the calls of all routines of jlapack have in common: a plan whose rungs are panels, and a
 * function of the host in stream order. */

#include "lapack/lapack.h"

static void lapack_plan(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args,
                        ji_panel_bytes_t bytes) {
    jplan_init(plan, handle, ji_routine_name(&args->head), "mn",
               (const int64_t[]){args->m, args->n});
    ji_panel_add_rungs(plan, args, bytes, 0);
}

jstatus_t ji_lapack_answer(jhandle_t *handle, const ji_matmat_t *args, ji_panel_bytes_t bytes) {
    if (bytes.packed == 0)
        return ji_answer(handle, args, NULL);

    jplan_t plan;
    lapack_plan(&plan, handle, args, bytes);
    return jhandle_answer_plan(handle, &plan);
}

static jstatus_t lapack_enqueue(jhandle_t *handle, ji_host_function_t function, ji_matmat_t *args) {
    if (JI_LIKELY(handle->runs_inline)) {
        function(args);
        return JSTATUS_SUCCESS;
    }

    const jstatus_t status =
        jstream_launch(handle->device, handle->stream, function, args, sizeof *args);
    if (status != JSTATUS_SUCCESS)
        return jhandle_fail(handle, status, "enqueueing work: %s", jstatus_last_message());
    return JSTATUS_SUCCESS;
}

jstatus_t ji_lapack_run(jhandle_t *handle, ji_host_function_t function, ji_matmat_t *args,
                        ji_panel_bytes_t bytes) {
    if (bytes.packed == 0)
        return lapack_enqueue(handle, function, args);

    jplan_t plan;
    lapack_plan(&plan, handle, args, bytes);
    JALLOC_BORROW_PLAN(ws, handle, &plan);
    if (!ws.ok)
        return ws.status;

    args->head.rung = (int16_t)ws.rung;
    ji_panel_take(args, bytes, &ws);
    const jstatus_t status = lapack_enqueue(handle, function, args);
    return jstatus_is_error(status) ? status : ws.status;
}
