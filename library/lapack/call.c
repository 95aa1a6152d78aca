/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the plans and runs of all routines of jlapack have in common: rungs that are panels, and a
 * function of the host in stream order. */

#include "lapack/lapack.h"

void ji_matmat_plan(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args,
                    ji_panel_bytes_t bytes) {
    const bool has_m = args->m > 0; /* of routines without it the block's is 0 */
    jplan_init(plan, handle, ji_routine_name(&args->head), has_m ? "mn" : "n",
               has_m ? (const int64_t[]){args->m, args->n} : &args->n);
    ji_panel_add_rungs(plan, args, bytes, 0);
}

jstatus_t ji_matmat_run(jhandle_t *handle, const ji_items_way_t *way, const ji_matmat_t *args,
                        ji_panel_bytes_t bytes, const jborrow_t *ws) {
    ji_matmat_t call = *args;
    ji_panel_take(&call, bytes, ws);
    if (!ji_is_batch(&args->head))
        return ji_enqueue_host(handle, way->each, &call, sizeof call);

    call.batch.primitive = JI_PRIMITIVE_COUNT;
    call.items = way;
    return ji_enqueue_host(handle, ji_host_batch, &call, sizeof call);
}

void ji_refine_plan(jplan_t *plan, const jhandle_t *handle, const ji_refine_t *args,
                    ji_panel_bytes_t bytes) {
    const ji_matmat_t shape = {.head = args->head, .n = args->n};
    ji_matmat_plan(plan, handle, &shape, bytes);
}

jstatus_t ji_refine_run(jhandle_t *handle, const ji_items_way_t *way, const ji_refine_t *args,
                        ji_panel_bytes_t bytes, const jborrow_t *ws) {
    ji_refine_t call = *args;
    ji_matmat_t lent = {.head = args->head};
    ji_panel_take(&lent, bytes, ws);
    call.panels = lent.panels, call.panel_bytes = lent.panel_bytes;
    return ji_enqueue_host(handle, way->each, &call, sizeof call);
}
